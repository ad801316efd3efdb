//! Secrets in JSON text as it is stored.
//!
//! Works on the texts of properties, or on a whole document, without reading them into values: only the secrets change,
//! and every other byte stays as it is (S9, S10). A text comes back as `None` when there was nothing to change. When
//! anything fails, nothing is returned.

mod scan;

use crate::crypter::{decrypt_all, encrypt_all};
use crate::{CodecStep, Crypter, Error, Nop, Plaintext};
use scan::{Form, Found};

/// Whether a text holds a secret in either form.
pub fn holds_secrets(text: &str) -> Result<bool, Error> {
    Ok(!scan::secrets(text)?.is_empty())
}

/// Opens every secret with one crypter and seals it with another, all texts in one batch. A secret that stands in clear
/// is sealed too (S17).
pub fn reseal(texts: &[&str], from: &dyn Crypter, to: &dyn Crypter) -> Result<Vec<Option<String>>, Error> {
    let found = scan_all(texts)?;
    let plaintexts = plaintexts(&found, from)?;
    sealed(texts, &found, &plaintexts, to)
}

/// Seals every secret that stands in clear. Those that are sealed stay as they are.
pub fn conceal(texts: &[&str], crypter: &dyn Crypter) -> Result<Vec<Option<String>>, Error> {
    let mut found = scan_all(texts)?;
    for secrets in &mut found {
        secrets.retain(|secret| secret.form == Form::Plaintext);
    }
    let plaintexts = plaintexts(&found, &Nop)?;
    sealed(texts, &found, &plaintexts, crypter)
}

/// Opens every sealed secret and writes it in clear, the secrets inside it too. For who asked to see them (S17).
pub fn reveal(texts: &[&str], crypter: &dyn Crypter) -> Result<Vec<Option<String>>, Error> {
    let mut found = scan_all(texts)?;
    for secrets in &mut found {
        secrets.retain(|secret| secret.form == Form::Ciphertext);
    }
    let mut revealed = Vec::new();
    for (secret, plaintext) in found.iter().flatten().zip(plaintexts(&found, crypter)?) {
        let text = plaintext.as_text().map_err(|error| error.at(&secret.place))?;
        let inside = reveal(&[text], &Nop).map_err(|error| error.at(&secret.place))?.pop().flatten();
        revealed.push(inside.unwrap_or_else(|| text.to_owned()));
    }
    rewritten(texts, &found, Form::Plaintext, &revealed)
}

fn scan_all(texts: &[&str]) -> Result<Vec<Vec<Found>>, Error> {
    texts.iter().map(|text| scan::secrets(text)).collect()
}

/// The plaintexts of all secrets, in order; the sealed ones are opened in one batch.
fn plaintexts(found: &[Vec<Found>], from: &dyn Crypter) -> Result<Vec<Plaintext>, Error> {
    let sealed: Vec<_> = found.iter().flatten().filter(|secret| secret.form == Form::Ciphertext).collect();
    let ciphertexts: Vec<_> = sealed.iter().map(|secret| secret.content.as_str()).collect();
    let opened = decrypt_all(from, &ciphertexts)
        .map_err(|error| error.placed(|index| sealed.get(index).map(|secret| secret.place.as_str())))?;
    let mut opened = opened.into_iter();
    let plaintext = |secret: &Found| match secret.form {
        Form::Ciphertext => Ok(opened.next().unwrap_or_default()),
        Form::Plaintext => concealed_inside(secret).map_err(|error| error.at(&secret.place)),
    };
    found.iter().flatten().map(plaintext).collect()
}

/// The plaintext of a secret that stands in clear, in the form in which it is sealed: the secrets inside it are marked
/// as sealed with it.
fn concealed_inside(secret: &Found) -> Result<Plaintext, Error> {
    let text = secret.content.as_str();
    serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|_| Error::Codec(CodecStep::Read))?;
    let inside = conceal(&[text], &Nop)?.pop().flatten();
    Ok(inside.map_or_else(|| text.into(), Plaintext::from))
}

fn sealed(
    texts: &[&str],
    found: &[Vec<Found>],
    plaintexts: &[Plaintext],
    to: &dyn Crypter,
) -> Result<Vec<Option<String>>, Error> {
    let places: Vec<_> = found.iter().flatten().map(|secret| secret.place.as_str()).collect();
    let ciphertexts = encrypt_all(to, &plaintexts.iter().collect::<Vec<_>>())
        .map_err(|error| error.placed(|index| places.get(index).copied()))?;
    rewritten(texts, found, Form::Ciphertext, &ciphertexts)
}

/// The texts with each secret found put into `form` with its new content.
fn rewritten(
    texts: &[&str],
    found: &[Vec<Found>],
    form: Form,
    contents: &[String],
) -> Result<Vec<Option<String>>, Error> {
    let mut contents = contents.iter();
    let mut rewrite = |(text, secrets): (&&str, &Vec<Found>)| {
        if secrets.is_empty() {
            return Ok(None);
        }
        let mut out = String::with_capacity(text.len() + 64 * secrets.len());
        let mut done = 0;
        for (secret, content) in secrets.iter().zip(contents.by_ref()) {
            let quoted = serde_json::to_string(content).map_err(|_| Error::NotText)?;
            out.push_str(&text[done..secret.name.start]);
            out.extend(["\"", form.name(), "\""]);
            out.push_str(&text[secret.name.end..secret.value.start]);
            out.push_str(&quoted);
            done = secret.value.end;
        }
        out.push_str(&text[done..]);
        Ok(Some(out))
    };
    texts.iter().zip(found).map(&mut rewrite).collect()
}
