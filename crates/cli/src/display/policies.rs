//! What policies said: of a resource as its messages, of each pack at the end.

use super::changes::compare;
use super::note::few;
use super::text::{Line, Tone, printable};
use super::values::Secrets;
use drystone_engine::{EnforcementLevel, PolicyName, PropertyMap, Severity, Violation};
use std::collections::BTreeMap;

/// What every pack said so far.
#[derive(Debug, Default)]
pub(super) struct Policies {
    packs: BTreeMap<String, Pack>,
}

#[derive(Debug, Default)]
struct Pack {
    mandatory: usize,
    advisory: usize,
    /// How many resources each policy changed.
    changed: BTreeMap<String, usize>,
}

impl Policies {
    /// Takes a violation: what is said of it, and how much it matters.
    pub(super) fn violated(&mut self, violation: &Violation) -> (Severity, String) {
        let name = &violation.name;
        let pack = self.packs.entry(pack_name(&name.pack, &name.version)).or_default();
        let severity = match violation.level {
            EnforcementLevel::Mandatory | EnforcementLevel::Remediate => {
                pack.mandatory += 1;
                Severity::Error
            }
            EnforcementLevel::Advisory | EnforcementLevel::Disabled => {
                pack.advisory += 1;
                Severity::Warning
            }
        };
        let how_bad = match violation.severity.as_str() {
            "" => String::new(),
            word => format!(" ({word})"),
        };
        (severity, format!("{}{how_bad}: {}", policy_name(name), words(violation)))
    }

    /// Takes what a policy changed: what is said of it, unless it changed nothing.
    pub(super) fn remediated(
        &mut self,
        name: &PolicyName,
        before: &PropertyMap,
        after: &PropertyMap,
        secrets: Secrets,
    ) -> Option<String> {
        let changes = compare(&secrets.ready(before), &secrets.ready(after));
        if changes.is_empty() {
            return None;
        }
        let pack = self.packs.entry(pack_name(&name.pack, &name.version)).or_default();
        *pack.changed.entry(name.policy.clone()).or_default() += 1;
        Some(format!("{} changed {}", policy_name(name), few(&changes)))
    }

    /// What each pack that ran has to say; `ran` has their versions by `name|local|folder`.
    pub(super) fn lines(&self, ran: &BTreeMap<String, String>) -> Vec<Line> {
        if ran.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![Line::toned(Tone::Strong, "Policies:")];
        for (name, version) in ran {
            let mut parts = name.splitn(3, '|');
            let (name, folder) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
            let shown = pack_name(name, version);
            let nothing = Pack::default();
            let pack = self.packs.get(&shown).unwrap_or(&nothing);
            let (sign, tone) = match (pack.mandatory, pack.advisory) {
                (0, 0) => ("", Tone::Plain),
                (0, _) => ("~", Tone::Warning),
                _ => ("!", Tone::Error),
            };
            let mut line = Line::toned(tone, format!("{sign:<4}"));
            line.push(Tone::Plain, printable(&shown));
            if !folder.is_empty() {
                line.push(Tone::Faint, format!("  ({})", printable(folder)));
            }
            line.push(tone, format!("  {}", pack.words()));
            lines.push(line);
        }
        lines
    }
}

impl Pack {
    fn words(&self) -> String {
        let count = |number: usize, kind: &str| {
            let plural = if number == 1 { "" } else { "s" };
            (number > 0).then(|| format!("{number} {kind} violation{plural}"))
        };
        let counted = [count(self.mandatory, "mandatory"), count(self.advisory, "advisory")];
        let mut words: Vec<String> = counted.into_iter().flatten().collect();
        if words.is_empty() {
            words.push("no violations".to_owned());
        }
        words.extend(self.changed.iter().map(|(policy, &number)| {
            let plural = if number == 1 { "" } else { "s" };
            format!("{} changed {number} resource{plural}", printable(policy))
        }));
        words.join(", ")
    }
}

/// What is wrong, then what the policy is about: SDKs put that before their message.
fn words(violation: &Violation) -> String {
    let about = violation.description.trim();
    let message = violation.message.trim_end();
    match message.strip_prefix(about).map(str::trim_start).filter(|rest| !rest.is_empty()) {
        Some(rest) if !about.is_empty() => format!("{rest}\n{about}"),
        _ => message.to_owned(),
    }
}

/// A pack with its version.
fn pack_name(name: &str, version: &str) -> String {
    if version.is_empty() { name.to_owned() } else { format!("{name}@v{version}") }
}

/// A policy with its pack.
fn policy_name(name: &PolicyName) -> String {
    format!("policy {} of {}", name.policy, pack_name(&name.pack, &name.version))
}
