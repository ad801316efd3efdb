//! A stand-in of HashiCorp Vault's transit engine.
//!
//! It is not Vault. Vault is a Go program of 2,600 packages whose published module (1.21.4) builds with none of the
//! published modules of its own SDK, and whose core alone takes more than six minutes of processor time until that shows.
//! This server answers as its documents say: keys made on first use, versions, rotation, the oldest version that may
//! still be opened, tokens, namespaces, mounts. The words of refusals are those that the real engine of 1.21.4, which
//! does build by itself, was heard to say. It keeps nothing but keys in memory.

use crate::server::{Answer, Asked, Server};
use crate::{SealingKey, server};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The server, with what it knows.
#[derive(Debug)]
pub struct Vault {
    server: Server,
    world: Arc<Mutex<World>>,
}

#[derive(Debug)]
struct World {
    /// What each token may do: the ends of the paths that it may ask for. Empty is everything.
    tokens: HashMap<String, Vec<String>>,
    /// Where transit engines are, as `namespace/mount`.
    mounts: Vec<String>,
    /// By mount and name.
    keys: HashMap<(String, String), Versions>,
    sealed: bool,
}

#[derive(Debug, Default)]
struct Versions {
    keys: Vec<SealingKey>,
    oldest: usize,
}

/// The token that may do everything.
pub const ROOT: &str = "root-token";

impl Vault {
    /// Starts it, with an engine at `transit/` and the token [`ROOT`].
    #[must_use]
    pub fn start() -> Self {
        let world = World {
            tokens: HashMap::from([(ROOT.to_owned(), Vec::new())]),
            mounts: vec!["transit".to_owned()],
            keys: HashMap::new(),
            sealed: false,
        };
        let world = Arc::new(Mutex::new(world));
        let inside = Arc::clone(&world);
        let server =
            Server::start(move |asked| inside.lock().unwrap_or_else(PoisonError::into_inner).answer(asked));
        Self { server, world }
    }

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &server::Server {
        &self.server
    }

    fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.world.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Puts another engine somewhere: `mount`, or `namespace/mount`.
    pub fn mount(&self, place: &str) {
        self.change(|world| world.mounts.push(place.to_owned()));
    }

    /// Lets a token ask for paths that end so, and for nothing else.
    pub fn grant(&self, token: &str, ends: &[&str]) {
        let ends = ends.iter().map(|&end| end.to_owned()).collect();
        self.change(|world| drop(world.tokens.insert(token.to_owned(), ends)));
    }

    /// Takes a token back.
    pub fn revoke(&self, token: &str) {
        self.change(|world| drop(world.tokens.remove(token)));
    }

    /// Gives a key a new version.
    pub fn rotate(&self, name: &str) {
        self.change(|world| world.key("transit", name).keys.push(SealingKey::fresh()));
    }

    /// Refuses to open what versions before this one have sealed.
    pub fn set_oldest(&self, name: &str, version: usize) {
        self.change(|world| world.key("transit", name).oldest = version);
    }

    /// Deletes a key.
    pub fn delete(&self, name: &str) {
        self.change(|world| drop(world.keys.remove(&("transit".to_owned(), name.to_owned()))));
    }

    /// Seals or unseals the whole of it.
    pub fn set_sealed(&self, sealed: bool) {
        self.change(|world| world.sealed = sealed);
    }
}

fn refused(status: u16, error: &str) -> Answer {
    Answer::json(status, &json!({ "errors": [error] }))
}

fn told(data: &Value) -> Answer {
    let envelope = json!({
        "request_id": "7b8c6b0e-5f2b-1c1d-0d34-2f0f3b8c1a11", "lease_id": "", "renewable": false, "lease_duration": 0,
        "data": data, "wrap_info": null, "warnings": null, "auth": null, "mount_type": "transit",
    });
    Answer::json(200, &envelope)
}

impl World {
    fn key(&mut self, mount: &str, name: &str) -> &mut Versions {
        self.keys.entry((mount.to_owned(), name.to_owned())).or_default()
    }

    fn answer(&mut self, asked: &Asked) -> Answer {
        if self.sealed {
            return refused(503, "Vault is sealed");
        }
        let path = asked.path.strip_prefix("/v1/").unwrap_or_default();
        let Some(ends) = self.tokens.get(asked.header("x-vault-token")) else {
            return refused(403, "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n");
        };
        if !ends.is_empty() && !ends.iter().any(|end| path.ends_with(end.as_str())) {
            return refused(403, "1 error occurred:\n\t* permission denied\n\n");
        }
        let namespace = asked.header("x-vault-namespace").trim_matches('/');
        let place = if namespace.is_empty() { path.to_owned() } else { format!("{namespace}/{path}") };
        let mount = self.mounts.iter().find(|mount| place.starts_with(&format!("{mount}/"))).cloned();
        let Some(mount) = mount else {
            return refused(404, &format!("no handler for route \"{path}\". route entry not found."));
        };
        let parts: Vec<&str> = place[mount.len() + 1..].split('/').collect();
        let question = asked.json().unwrap_or_default();
        match (asked.method.as_str(), &parts[..]) {
            ("PUT" | "POST", ["encrypt", name]) => self.encrypt(&mount, name, &question),
            ("PUT" | "POST", ["decrypt", name]) => self.decrypt(&mount, name, &question),
            _ => refused(404, &format!("no handler for route \"{path}\". route entry not found.")),
        }
    }

    fn encrypt(&mut self, mount: &str, name: &str, question: &Value) -> Answer {
        let plaintext = question["plaintext"].as_str().and_then(|text| STANDARD.decode(text).ok());
        let Some(plaintext) = plaintext else {
            return refused(400, "illegal base64 data at input byte 0");
        };
        let versions = self.key(mount, name);
        if versions.keys.is_empty() {
            versions.keys.push(SealingKey::fresh());
        }
        let version = versions.keys.len();
        let sealed = versions.keys[version - 1].seal(&plaintext, &[]);
        let ciphertext = format!("vault:v{version}:{}", STANDARD.encode(sealed));
        told(&json!({ "ciphertext": ciphertext, "key_version": version }))
    }

    fn decrypt(&mut self, mount: &str, name: &str, question: &Value) -> Answer {
        let Some(versions) = self.keys.get(&(mount.to_owned(), name.to_owned())) else {
            return refused(400, "encryption key not found");
        };
        let Some(text) = question["ciphertext"].as_str().and_then(|text| text.strip_prefix("vault:v")) else {
            return refused(400, "invalid ciphertext: no prefix");
        };
        let Some((version, body)) = text.split_once(':') else {
            return refused(400, "invalid ciphertext: wrong number of fields");
        };
        let Ok(version) = version.parse::<usize>() else {
            return refused(400, "invalid ciphertext: version number could not be decoded");
        };
        if version < versions.oldest {
            return refused(400, "ciphertext or signature version is disallowed by policy (too old)");
        }
        let Some(key) = version.checked_sub(1).and_then(|index| versions.keys.get(index)) else {
            return refused(400, "invalid ciphertext: version is too new");
        };
        let Ok(sealed) = STANDARD.decode(body) else {
            return refused(400, "invalid ciphertext: could not decode base64");
        };
        match key.open(&sealed, &[]) {
            Some(plaintext) => told(&json!({ "plaintext": STANDARD.encode(plaintext) })),
            None => refused(400, "cipher: message authentication failed"),
        }
    }
}
