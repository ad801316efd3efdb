//! How generated names are formed: the `pulumi:autonaming` setting.
//!
//! The engine forms a name from the setting's pattern and proposes it to the provider when it checks a resource. A name
//! without anything random in it cannot be had by two resources side by side, so it makes replacements delete first.

use crate::deployment::{Deployment, Stopped};
use crate::{Autonaming, ConfigValue};
use drystone_model::Urn;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A naming rule for one resource.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    pub(crate) autonaming: Option<Autonaming>,
    /// Whether the name has nothing random in it, so that two resources cannot have it side by side.
    pub(crate) fixed: bool,
    /// Whether the user is told when the provider cannot be told.
    pub(crate) insisted: bool,
}

/// The setting, with everything resolved that does not depend on the resource.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    root: Rule,
    /// The rule of each package, and those of its types.
    packages: BTreeMap<String, (Rule, BTreeMap<String, Rule>)>,
}

#[derive(Debug, Clone, Default)]
enum Rule {
    /// The provider makes up names as it likes.
    #[default]
    Default,
    /// The resource's own name.
    Verbatim,
    /// None: the program has to give names.
    Disabled,
    Pattern {
        pattern: String,
        enforce: bool,
    },
}

#[derive(Deserialize)]
struct RuleSetting {
    mode: Option<String>,
    pattern: Option<String>,
    enforce: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RootSetting {
    mode: Option<String>,
    pattern: Option<String>,
    enforce: Option<bool>,
    #[serde(default)]
    providers: BTreeMap<String, ProviderSetting>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderSetting {
    mode: Option<String>,
    pattern: Option<String>,
    enforce: Option<bool>,
    #[serde(default)]
    resources: BTreeMap<String, RuleSetting>,
}

impl Deployment {
    /// Reads the setting, before anything begins.
    pub(crate) fn read_naming(&self) -> Result<(), Stopped> {
        let Some(setting) = &self.options.autonaming else { return Ok(()) };
        match self.naming_rules(setting) {
            Ok(rules) => {
                // Only this function sets it, once.
                let _ = self.naming.set(rules);
                Ok(())
            }
            Err(message) => Err(self.fail(&Urn::default(), message)),
        }
    }

    fn naming_rules(&self, setting: &serde_json::Value) -> Result<Rules, String> {
        let setting = RootSetting::deserialize(setting).map_err(|error| {
            format!("failed to parse autonaming config: invalid autonaming config structure: {error}")
        })?;
        let RootSetting { mode, pattern, enforce, providers } = setting;
        let root = self.rule(RuleSetting { mode, pattern, enforce });
        let root = root.map_err(|error| format!("failed to resolve root naming config: {error}"))?;
        let root = root.unwrap_or_default();
        let mut packages = BTreeMap::new();
        for (package, ProviderSetting { mode, pattern, enforce, resources }) in providers {
            let own = self.rule(RuleSetting { mode, pattern, enforce }).map_err(|error| {
                format!("failed to resolve naming config for provider {package:?}: {error}")
            })?;
            let mut types = BTreeMap::new();
            for (token, setting) in resources {
                let rule = self.rule(setting).map_err(|error| {
                    format!("failed to resolve naming config for resource {token:?}: {error}")
                })?;
                let rule =
                    rule.ok_or_else(|| format!("mode or pattern must be specified for resource {token:?}"))?;
                types.insert(token, rule);
            }
            packages.insert(package, (own.unwrap_or_else(|| root.clone()), types));
        }
        Ok(Rules { root, packages })
    }

    /// A rule of the setting; nothing where it does not say.
    fn rule(&self, setting: RuleSetting) -> Result<Option<Rule>, String> {
        let RuleSetting { mode, pattern, enforce } = setting;
        match (mode.as_deref(), pattern, enforce) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                Err("cannot specify both mode and pattern/enforce".to_owned())
            }
            (None, Some(pattern), enforce) => {
                let pattern = self.resolve_pattern(&pattern)?;
                Ok(Some(Rule::Pattern { pattern, enforce: enforce.unwrap_or_default() }))
            }
            (None, None, Some(_)) => Err("pattern must be specified when enforce is true".to_owned()),
            (None, None, None) => Ok(None),
            (Some("default"), ..) => Ok(Some(Rule::Default)),
            (Some("verbatim"), ..) => Ok(Some(Rule::Verbatim)),
            (Some("disabled"), ..) => Ok(Some(Rule::Disabled)),
            (Some(other), ..) => Err(format!("invalid naming mode: {other}")),
        }
    }

    /// Fills in what a pattern says of the stack.
    fn resolve_pattern(&self, pattern: &str) -> Result<String, String> {
        let mut rest = pattern
            .replace("${organization}", &self.organization)
            .replace("${project}", &self.project)
            .replace("${stack}", &self.stack);
        let mut resolved = String::new();
        while let Some((before, after)) = rest.split_once("${config.") {
            let Some((key, after)) = after.split_once('}') else { break };
            resolved.push_str(before);
            resolved.push_str(&self.configured(key)?);
            rest = after.to_owned();
        }
        Ok(resolved + &rest)
    }

    /// A setting of the project, or a member of one.
    fn configured(&self, key: &str) -> Result<String, String> {
        let missing = || format!("no value found for key {key:?}");
        let get = |name: &str| self.config.get(&format!("{}:{name}", self.project));
        if let Some(ConfigValue { text, .. }) = get(key) {
            return Ok(text.clone());
        }
        let (name, path) = key.split_once('.').ok_or_else(missing)?;
        let value = get(name).filter(|value| value.object).ok_or_else(missing)?;
        let value: serde_json::Value = serde_json::from_str(&value.text).map_err(|_| missing())?;
        let found =
            path.split('.').try_fold(&value, |value, member| value.get(member)).ok_or_else(missing)?;
        Ok(found.as_str().map_or_else(|| found.to_string(), ToOwned::to_owned))
    }

    /// The naming rule for a resource.
    pub(crate) fn naming(&self, urn: &Urn, seed: &[u8]) -> Naming {
        let Some(rules) = self.naming.get() else { return Naming::default() };
        let token = urn.type_token();
        let package = token.split(':').next().unwrap_or_default();
        let (rule, own) = match rules.packages.get(package) {
            Some((rule, types)) => (types.get(token).unwrap_or(rule), true),
            None => (&rules.root, false),
        };
        match rule {
            Rule::Default => Naming::default(),
            Rule::Verbatim => Naming {
                autonaming: Some(Autonaming::Enforce(urn.name().to_owned())),
                fixed: true,
                insisted: own,
            },
            Rule::Disabled => Naming { autonaming: Some(Autonaming::Disable), fixed: true, insisted: own },
            Rule::Pattern { pattern, enforce } => {
                let (name, random) = expand(pattern, urn.name(), seed);
                let autonaming = if *enforce { Autonaming::Enforce(name) } else { Autonaming::Propose(name) };
                Naming { autonaming: Some(autonaming), fixed: !random, insisted: own || *enforce }
            }
        }
    }
}

/// Fills in the resource's name and what is random in a pattern. Says whether anything was.
fn expand(pattern: &str, name: &str, seed: &[u8]) -> (String, bool) {
    let fixed = pattern.replace("${name}", name);
    let mut random = Random::new(seed);
    let mut text = replace_calls(&fixed, "hex", |length| random.pick(b"0123456789abcdef", length));
    text = replace_calls(&text, "alphanum", |length| {
        random.pick(b"abcdefghijklmnopqrstuvwxyz0123456789", length)
    });
    text = replace_calls(&text, "string", |length| random.pick(b"abcdefghijklmnopqrstuvwxyz", length));
    text = replace_calls(&text, "num", |length| random.pick(b"0123456789", length));
    if text.contains("${uuid}") {
        let bytes = std::array::from_fn(|_| random.byte());
        text = text.replace("${uuid}", &uuid::Uuid::from_bytes(bytes).to_string());
    }
    let changed = text != fixed;
    (text, changed)
}

/// Replaces every `${function(length)}`.
fn replace_calls(text: &str, function: &str, mut make: impl FnMut(usize) -> String) -> String {
    let opening = format!("${{{function}(");
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&opening) {
        made.push_str(before);
        let call = after.split_once(")}").and_then(|(digits, after)| Some((digits.parse().ok()?, after)));
        match call {
            Some((length, after)) => {
                made.push_str(&make(length));
                rest = after;
            }
            None => {
                made.push_str(&opening);
                rest = after;
            }
        }
    }
    made + rest
}

/// Bytes that follow from a seed: the hashes of it and a counter.
struct Random<'a> {
    seed: &'a [u8],
    counter: u64,
    block: Vec<u8>,
}

impl<'a> Random<'a> {
    fn new(seed: &'a [u8]) -> Self {
        Self { seed, counter: 0, block: Vec::new() }
    }

    fn byte(&mut self) -> u8 {
        loop {
            if let Some(byte) = self.block.pop() {
                return byte;
            }
            let mut hash = Sha256::new();
            hash.update(self.seed);
            hash.update(self.counter.to_be_bytes());
            self.block = hash.finalize().to_vec();
            self.counter += 1;
        }
    }

    /// A text of letters that are all equally likely.
    fn pick(&mut self, letters: &[u8], length: usize) -> String {
        let even = 256 - 256 % letters.len();
        let mut letter = || loop {
            let byte = usize::from(self.byte());
            if byte < even {
                return char::from(letters[byte % letters.len()]);
            }
        };
        (0..length).map(|_| letter()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_filled_in_and_the_same_seed_gives_the_same_name() {
        let pattern = "${name}-${hex(4)}-${alphanum(5)}-${string(6)}-${num(7)}-${uuid}";
        let (name, random) = expand(pattern, "bucket", &[1; 32]);
        let parts: Vec<&str> = name.splitn(6, '-').collect();
        assert!(random);
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [6, 4, 5, 6, 7, 36]);
        assert!(parts[1].chars().all(|c| c.is_ascii_hexdigit()));
        assert!(parts[4].chars().all(|c| c.is_ascii_digit()));
        assert_eq!(expand(pattern, "bucket", &[1; 32]).0, name);
        assert_ne!(expand(pattern, "bucket", &[2; 32]).0, name);
    }

    #[test]
    fn what_is_no_call_stays_as_it_is() {
        assert_eq!(expand("a-${hex(x)}-${hex(2)", "n", &[0; 32]), ("a-${hex(x)}-${hex(2)".to_owned(), false));
        assert_eq!(expand("fixed-${name}", "n", &[0; 32]), ("fixed-n".to_owned(), false));
    }
}
