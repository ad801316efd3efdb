//! The policy packs of an operation, and how often they were broken.

use crate::{
    Analyzed, AnalyzedResource, Analyzer, EnforcementLevel, Event, EventSink, Failed, PolicyEvent,
    PolicyPack, PolicyQuestion, PolicySummary, Violation,
};
use drystone_model::Urn;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Mutex, MutexGuard};

/// The longest folder that is told in full.
const LONGEST_FOLDER: usize = 75;

/// The policy packs of an operation.
#[derive(Debug)]
pub(crate) struct Policies {
    packs: Vec<Asked>,
    mandatory_violations: AtomicUsize,
}

/// A pack that is asked one thing at a time.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) analyzer: Arc<dyn Analyzer>,
    turn: Mutex<()>,
}

impl Asked {
    /// Waits until the pack has answered whoever asked before.
    pub(crate) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    pub(crate) async fn analyze(&self, resource: &AnalyzedResource) -> Result<Analyzed, Failed> {
        let _turn = self.turn().await;
        self.analyzer.analyze(resource).await
    }
}

impl Policies {
    pub(crate) fn new(analyzers: Vec<Arc<dyn Analyzer>>) -> Self {
        let asked = |analyzer| Asked { analyzer, turn: Mutex::default() };
        Self { packs: analyzers.into_iter().map(asked).collect(), mandatory_violations: AtomicUsize::new(0) }
    }

    pub(crate) fn packs(&self) -> &[Asked] {
        &self.packs
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packs.is_empty()
    }

    pub(crate) fn mandatory_violations(&self) -> usize {
        self.mandatory_violations.load(Ordering::SeqCst)
    }

    /// Tells what a pack found wrong, and says whether that is a reason to fail. A policy that should have changed the
    /// resource and is still broken is mandatory.
    pub(crate) fn tell(
        &self,
        events: &dyn EventSink,
        (question, pack): (PolicyQuestion, &PolicyPack),
        answer: Analyzed,
        asked_about: &Urn,
        urn: impl Fn(&Violation) -> Urn,
    ) -> bool {
        let failed = answer.violations.iter().map(|violation| violation.name.policy.as_str());
        let summary = PolicySummary::of(question, pack, asked_about, failed, &answer.not_applicable);
        let mut broken = false;
        for mut violation in answer.violations {
            match violation.level {
                EnforcementLevel::Advisory => {}
                EnforcementLevel::Mandatory | EnforcementLevel::Remediate => {
                    violation.level = EnforcementLevel::Mandatory;
                    self.mandatory_violations.fetch_add(1, Ordering::SeqCst);
                    broken = true;
                }
                EnforcementLevel::Disabled => continue,
            }
            violation.urn = urn(&violation);
            events.send(Event::Policy(PolicyEvent::Violation(violation)));
        }
        events.send(Event::Policy(PolicyEvent::Summary(summary)));
        broken
    }

    pub(crate) async fn cancel(&self) {
        futures::future::join_all(self.packs.iter().map(|asked| asked.analyzer.cancel())).await;
    }

    /// The versions of the packs by the names that summaries have for them.
    pub(crate) fn names(&self) -> BTreeMap<String, String> {
        let packs = self.packs.iter().map(|asked| asked.analyzer.pack());
        packs
            .map(|pack| (format!("{}|local|{}", pack.name, short_folder(&pack.folder)), pack.version.clone()))
            .collect()
    }
}

/// A folder without detours; the middle of a long one is left out.
fn short_folder(folder: &str) -> String {
    let mut clean = PathBuf::new();
    for component in Path::new(folder).components() {
        match (component, clean.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                clean.pop();
            }
            _ => clean.push(component),
        }
    }
    let clean = if clean.as_os_str().is_empty() { ".".to_owned() } else { clean.display().to_string() };
    let parts: Vec<&str> = clean.split('/').collect();
    match parts.as_slice() {
        [first, second, _, .., last_but_one, last] if clean.len() > LONGEST_FOLDER => {
            [*first, second, "...", last_but_one, last].join("/")
        }
        _ => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::short_folder;

    #[test]
    fn folders_are_told_without_detours_and_long_ones_without_their_middle() {
        assert_eq!(short_folder("./packs/../packs/a/"), "packs/a");
        assert_eq!(short_folder("../a"), "../a");
        assert_eq!(short_folder("/../a"), "/a");
        assert_eq!(short_folder("a/.."), ".");
        let long = format!("/home/{}/packs/a", "x".repeat(80));
        assert_eq!(short_folder(&long), "/home/.../packs/a");
        assert_eq!(short_folder(&"x".repeat(80)), "x".repeat(80));
    }
}
