//! What a provider could not be told and therefore does not say back: which values are secret, and what assets hold.

use crate::wire::Properties;
use drystone_model::{Archive, ArchiveSource, Asset, AssetSource, Secret, Value};
use std::collections::HashMap;

/// Marks values secret whose namesakes were. Objects are compared member by member; of anything else with a secret
/// inside, the whole is secret, because elements may have moved.
pub(super) fn restore_secrets(answered: &mut Properties, sent: &Properties) {
    for (key, sent) in sent {
        let Some(value) = answered.get_mut(key) else { continue };
        match (&mut *value, sent) {
            (Value::Object(answered), Value::Object(sent)) => restore_secrets(answered, sent),
            (value, sent) if !value.is_secret() && sent.contains_secrets() => {
                *value = Value::secret(std::mem::take(value));
            }
            _ => {}
        }
    }
}

/// Marks everything secret.
pub(super) fn hide_all(answered: &mut Properties) {
    for value in answered.values_mut().filter(|value| !value.is_secret()) {
        *value = Value::secret(std::mem::take(value));
    }
}

/// Gives assets and archives their content back that only travelled as hashes.
pub(super) fn restore_contents(answered: &mut Properties, sent: &Properties) {
    let mut contents = Contents::default();
    sent.values().for_each(|value| contents.collect(value));
    if !contents.assets.is_empty() || !contents.archives.is_empty() {
        answered.values_mut().for_each(|value| contents.restore(value));
    }
}

/// Contents by their hashes.
#[derive(Default)]
struct Contents<'a> {
    assets: HashMap<&'a str, &'a Asset>,
    archives: HashMap<&'a str, &'a Archive>,
}

impl<'a> Contents<'a> {
    fn collect(&mut self, value: &'a Value) {
        match value {
            Value::Asset(asset) => {
                self.assets.insert(&asset.hash, asset);
            }
            Value::Archive(archive) => {
                self.archives.insert(&archive.hash, archive);
            }
            Value::Array(elements) => elements.iter().for_each(|element| self.collect(element)),
            Value::Object(members) => members.values().for_each(|member| self.collect(member)),
            Value::Secret(Secret::Open(inner)) => self.collect(inner),
            _ => {}
        }
    }

    fn restore(&self, value: &mut Value) {
        match value {
            Value::Asset(asset) if asset.source == AssetSource::default() => {
                if let Some(original) = self.assets.get(asset.hash.as_str()) {
                    asset.source = original.source.clone();
                }
            }
            Value::Archive(archive) if archive.source == ArchiveSource::default() => {
                if let Some(original) = self.archives.get(archive.hash.as_str()) {
                    archive.source = original.source.clone();
                }
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| self.restore(element)),
            Value::Object(members) => members.values_mut().for_each(|member| self.restore(member)),
            Value::Secret(Secret::Open(inner)) => self.restore(inner),
            _ => {}
        }
    }
}
