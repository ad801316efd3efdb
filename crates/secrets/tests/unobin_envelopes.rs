//! Envelopes: unobin's opened and made, ours bound to their place.
#![allow(clippy::unwrap_used)]

use drystone_dialects::unobin::{Envelope, Ref, Snapshot};
use drystone_secrets::envelope::{
    Encrypter, EncrypterError, Encrypters, EnvKey, Error, Form, Noop, PayloadType, Place, open, seal,
};
use drystone_standins::{Server, google::Google};
use std::ffi::OsString;
use std::sync::Arc;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dialects/tests/fixtures/unobin");
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{FIXTURES}/{name}")).unwrap()
}

fn variables(name: &str) -> Option<OsString> {
    match name {
        "UB_STATE_KEY" => Some(KEY.into()),
        "SHORT_KEY" => Some("AAEC".into()),
        "BAD_KEY" => Some("AA_C".into()),
        "EMPTY_KEY" => Some(OsString::new()),
        _ => None,
    }
}

fn encrypters() -> Encrypters {
    Encrypters::new(Box::new(variables))
}

fn key() -> Arc<dyn Encrypter> {
    Arc::new(EnvKey::new("UB_STATE_KEY", &variables).unwrap())
}

fn noop() -> Arc<dyn Encrypter> {
    Arc::new(Noop)
}

fn place(stack: &str, revision: &str) -> Place {
    Place { stack: stack.to_owned(), revision: revision.to_owned(), payload_type: PayloadType::State }
}

#[test]
fn what_unobin_sealed_is_opened() {
    let body = fixture("snapshot.encoded.json");
    for (name, encrypter) in [
        ("envelope.env-key.no-ref.json", key()),
        ("envelope.env-key.with-ref.json", key()),
        ("envelope.noop.alias-ref.json", noop()),
    ] {
        let opened = open(&fixture(name), None, |_| Ok(encrypter)).unwrap();
        assert_eq!(opened.body.as_bytes(), body, "{name}");
        assert!(!opened.bound);
    }
    for name in ["create", "noop", "update", "destroy"] {
        let sealed = fixture(&format!("plan-{name}.json"));
        let opened = open(&sealed, None, |reference| encrypters().resolve_named(reference)).unwrap();
        assert_eq!(opened.body.as_bytes(), fixture(&format!("decoded/plan-{name}.body.json")), "{name}");
    }
}

#[test]
fn what_is_sealed_opens_again_and_differs_each_time() {
    let reference = key().describe();
    let seal = |reference: Option<Ref>| seal(b"hello", Form::Shared(reference), &*key()).unwrap();
    let sealed = seal(Some(reference.clone()));
    assert_ne!(sealed, seal(Some(reference.clone())), "a nonce was used twice");
    let envelope = Envelope::decode(&sealed).unwrap();
    assert_eq!((envelope.version, envelope.encrypter), (1, Some(reference)));
    assert_eq!(envelope.ciphertext.len(), 12 + 5 + 16);
    let opened = open(&sealed, None, |reference| encrypters().resolve_named(reference)).unwrap();
    assert_eq!(opened.body.as_bytes(), b"hello");
    assert_eq!(Envelope::decode(&seal(None)).unwrap().encrypter, None);
}

#[test]
fn noop_leaves_the_document_as_it_is() {
    let body = fixture("snapshot.encoded.json");
    let aliased = Envelope::decode(&fixture("envelope.noop.alias-ref.json")).unwrap();
    let sealed = seal(&body, Form::Shared(aliased.encrypter), &Noop).unwrap();
    assert_eq!(sealed, fixture("envelope.noop.alias-ref.json"));
    assert!(Snapshot::decode(open(&sealed, None, |_| Ok(noop())).unwrap().body.as_bytes()).is_ok());
}

#[test]
fn a_changed_envelope_or_another_key_opens_nothing() {
    let sealed = fixture("envelope.env-key.no-ref.json");
    let told = |sealed: &[u8], encrypter: Arc<dyn Encrypter>| {
        open(sealed, None, |_| Ok(encrypter)).unwrap_err().to_string()
    };
    let other: Arc<dyn Encrypter> =
        Arc::new(EnvKey::new("K", &|_| Some("//////////////////////////////////////////8=".into())).unwrap());
    let unauthentic = "open: decrypt: cipher: message authentication failed";
    assert_eq!(told(&sealed, other), unauthentic);
    let whole = Envelope::decode(&sealed).unwrap();
    for at in [0, 11, 12, whole.ciphertext.len() - 1] {
        let mut changed = whole.clone();
        changed.ciphertext[at] ^= 1;
        assert_eq!(told(&changed.encode(), key()), unauthentic, "byte {at}");
    }
    let short = Envelope { ciphertext: vec![0; 11], ..whole };
    assert_eq!(
        told(&short.encode(), key()),
        "open: decrypt: env-key encrypter: ciphertext shorter than nonce"
    );
}

#[test]
fn a_key_that_is_missing_or_none_is_an_error_and_never_no_encryption() {
    let told = |variable: &str| {
        let reference = Ref::built_in("env-key", [("env-var", variable.to_owned())]);
        encrypters().resolve(&reference).unwrap_err().to_string()
    };
    assert_eq!(told("UNSET"), "env-key encrypter: UNSET is not set");
    assert_eq!(told("EMPTY_KEY"), "env-key encrypter: EMPTY_KEY is not set");
    assert_eq!(told("SHORT_KEY"), "env-key encrypter: SHORT_KEY decodes to 3 bytes, want 32");
    assert_eq!(
        told("BAD_KEY"),
        "env-key encrypter: BAD_KEY is not valid base64: illegal base64 data at input byte 2"
    );
    assert_eq!(told(""), "env-key encrypter: env-var is required");
    assert_eq!(encrypters().resolve_named(None).unwrap_err(), EncrypterError::NotNamed);
}

#[test]
fn an_encrypter_that_does_not_say_enough_or_too_much_is_refused_by_name() {
    let told = |name: &str, body: &[(&'static str, &str)]| {
        let body = body.iter().map(|(name, value)| (*name, (*value).to_owned()));
        encrypters().resolve(&Ref::built_in(name, body)).unwrap_err().to_string()
    };
    assert_eq!(told("rot13", &[]), "the encrypter 'rot13' is not known");
    assert_eq!(told("kms", &[]), "kms encrypter: key-id is required");
    assert_eq!(told("gcp-kms", &[("key-id", "")]), "gcp-kms encrypter: key-id is required");
    assert_eq!(
        told("kms", &[("key-id", "alias/state"), ("color", "red")]),
        "kms encrypter: its configuration has `color`, which is not known"
    );
    let nowhere = told("kms", &[("key-id", "alias/state")]);
    assert!(nowhere.starts_with("kms encrypter: its region is not known"), "{nowhere}");
    let unnamed = told("gcp-kms", &[("key-id", "stacks")]);
    assert!(unnamed.starts_with("gcp-kms encrypter: a key is `gcpkms://projects/"), "{unnamed}");
    let added = encrypters().with("rot13", Box::new(|_, _| Ok(Arc::new(Noop))));
    assert!(added.resolve(&Ref::built_in("rot13", [])).is_ok());
}

/// The name of a key of Google.
const RING: &str = "projects/acme/locations/eu/keyRings/ci/cryptoKeys";

/// Google's keys `state` and `other`, and the encrypters of a fresh process that reaches them.
fn google() -> (Google, Server, impl Fn() -> Encrypters) {
    let google = Google::default();
    google.make(&format!("{RING}/state"));
    google.make(&format!("{RING}/other"));
    let inside = google.clone();
    let server = Server::start(move |asked| inside.answer(asked));
    let (address, token) = (server.address(), google.token());
    let process = move || {
        let (address, token) = (address.clone(), token.clone());
        Encrypters::new(Box::new(move |name: &str| match name {
            "CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDKMS" => Some(OsString::from(&address)),
            "GOOGLE_OAUTH_ACCESS_TOKEN" => Some(OsString::from(&token)),
            _ => None,
        }))
    };
    (google, server, process)
}

fn google_key(name: &str) -> Ref {
    Ref::built_in("gcp-kms", [("key-id", format!("{RING}/{name}"))])
}

#[test]
fn s18_a_key_of_a_service_seals_many_documents_and_is_asked_once_a_process() {
    let (_google, server, process) = google();
    let encrypter = process().resolve(&google_key("state")).unwrap();
    assert!(server.asked().is_empty(), "nothing is asked before it is needed");
    let seal = |body: &[u8]| seal(body, Form::Shared(Some(encrypter.describe())), &*encrypter).unwrap();
    let sealed: Vec<Vec<u8>> = (0..5_u8).map(|number| seal(&[number; 3])).collect();
    assert_eq!(server.count(":encrypt"), 1);
    let envelope = Envelope::decode(&sealed[0]).unwrap();
    assert_eq!(envelope.encrypter, Some(google_key("state")));
    let blob = String::from_utf8(envelope.ciphertext).unwrap();
    assert!(blob.starts_with(r#"{"version":1,"encrypted-key":""#), "{blob}");
    let later = process().resolve_named(Some(&google_key("state"))).unwrap();
    for (number, sealed) in (0..5_u8).zip(&sealed) {
        let opened = open(sealed, None, |_| Ok(Arc::clone(&later))).unwrap();
        assert_eq!(opened.body.as_bytes(), [number; 3]);
    }
    assert_eq!(server.count(":decrypt"), 1);
    assert!(!format!("{later:?} {encrypter:?}").contains("encrypted-key"));
}

#[test]
fn s19_what_a_service_guards_is_bound_to_its_place_too() {
    let (_google, _server, process) = google();
    let encrypter = process().resolve(&google_key("state")).unwrap();
    let here = place("shop/dev", "1");
    let sealed = seal(b"top", Form::Bound(&here), &*encrypter).unwrap();
    assert!(open(&sealed, Some(&here), |_| Ok(Arc::clone(&encrypter))).unwrap().bound);
    let mut moved = Envelope::decode(&sealed).unwrap();
    moved.revision = "2".to_owned();
    let moved = open(&moved.encode(), Some(&place("shop/dev", "2")), |_| Ok(encrypter)).unwrap_err();
    assert_eq!(moved.to_string(), "open: decrypt: cipher: message authentication failed");
}

#[test]
fn a_wrong_a_missing_and_a_refused_key_and_a_changed_envelope_are_told_apart() {
    let (google, _server, process) = google();
    let encrypter = process().resolve(&google_key("state")).unwrap();
    let sealed = seal(b"top", Form::Shared(None), &*encrypter).unwrap();
    let told = |sealed: &[u8], key: &str| {
        let encrypter = process().resolve(&google_key(key)).unwrap();
        open(sealed, None, |_| Ok(encrypter)).unwrap_err().to_string()
    };
    let cannot =
        |key: &str| format!("open: decrypt: gcp-kms encrypter: cannot open the data key with {RING}/{key}: ");
    let wrong = told(&sealed, "other");
    assert!(
        wrong.starts_with(&format!("{}the data key was not sealed with this key", cannot("other"))),
        "{wrong}"
    );
    let missing = told(&sealed, "nothing");
    assert!(missing.starts_with(&format!("{}no such key", cannot("nothing"))), "{missing}");

    let changed = |change: &dyn Fn(&str) -> String| {
        let mut envelope = Envelope::decode(&sealed).unwrap();
        envelope.ciphertext = change(&String::from_utf8(envelope.ciphertext.clone()).unwrap()).into_bytes();
        told(&envelope.encode(), "state")
    };
    assert_eq!(
        changed(&|blob| blob.replace(r#""payload":""#, r#""payload":"AAAA"#)),
        "open: decrypt: cipher: message authentication failed"
    );
    assert_eq!(
        changed(&|blob| blob[..blob.len() / 2].to_owned()),
        "open: decrypt: gcp-kms encrypter: malformed ciphertext: it is not a data key and a payload in JSON"
    );
    assert_eq!(
        changed(&|blob| blob.replace(r#""version":1"#, r#""version":2"#)),
        "open: decrypt: gcp-kms encrypter: malformed ciphertext: it is of a version that is not known"
    );
    google.forbid("decrypt");
    let refused = told(&sealed, "state");
    assert!(refused.starts_with(&format!("{}access denied", cannot("state"))), "{refused}");
    google.forbid("encrypt");
    let fresh = process().resolve(&google_key("state")).unwrap();
    let unsealed = seal(b"top", Form::Shared(None), &*fresh).unwrap_err().to_string();
    assert!(unsealed.starts_with("seal: encrypt: gcp-kms encrypter: cannot seal"), "{unsealed}");
}

#[test]
fn s19_a_bound_envelope_opens_in_its_place_only() {
    let here = place("demo/dev", "2026-11-15T18:17:19Z");
    let sealed = seal(b"state", Form::Bound(&here), &*key()).unwrap();
    let opened = open(&sealed, Some(&here), |_| Ok(key())).unwrap();
    assert_eq!(opened.body.as_bytes(), b"state");
    assert!(opened.bound);

    for elsewhere in [
        place("demo/other", "2026-11-15T18:17:19Z"),
        place("demo/dev", "2026-11-15T18:17:20Z"),
        Place { payload_type: PayloadType::Plan, ..here.clone() },
    ] {
        assert!(open(&sealed, Some(&elsewhere), |_| Ok(key())).is_err(), "{elsewhere}");
        // What the envelope says does not decide it.
        let lying = Envelope {
            stack: elsewhere.stack.clone(),
            revision: elsewhere.revision.clone(),
            payload_type: elsewhere.payload_type.as_str().to_owned(),
            ..Envelope::decode(&sealed).unwrap()
        };
        let told = open(&lying.encode(), Some(&elsewhere), |_| Ok(key())).unwrap_err();
        assert!(matches!(told, Error::Open { reason: EncrypterError::Unauthentic, .. }), "{told}");
    }
    let downgraded = Envelope { version: 1, ..Envelope::decode(&sealed).unwrap() };
    assert!(open(&downgraded.encode(), Some(&here), |_| Ok(key())).is_err());
    assert_eq!(
        open(&sealed, None, |_| Ok(key())).unwrap_err().to_string(),
        "envelope: unsupported envelope-version 2 (this build expects 1)"
    );
}

#[test]
fn s19_nothing_is_bound_without_a_key() {
    let told = seal(b"state", Form::Bound(&place("demo/dev", "r")), &Noop).unwrap_err();
    assert!(matches!(told, Error::Seal(EncrypterError::CannotBind)), "{told}");
}

#[test]
fn a_plan_is_not_taken_for_a_state() {
    let told = open(&fixture("plan-create.json"), Some(&place("demo/dev", "r")), |_| Ok(key())).unwrap_err();
    assert_eq!(told.to_string(), "envelope: payload-type plan, expected state");
}

#[test]
fn s17_no_key_is_ever_shown() {
    assert_eq!(format!("{:?}", key()), "EnvKey(UB_STATE_KEY)");
}
