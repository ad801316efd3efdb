//! Policy packs as closures.

use async_trait::async_trait;
use drystone_engine::{
    Analyzed, AnalyzedResource, Analyzer, EnforcementLevel, Failed, Policy, PolicyName, PolicyPack,
    PolicyScope, PropertyMap, Remediated, Remediation, Violation,
};
use drystone_model::Urn;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Answers a question, unless it fails.
type Answer<Q, A> = Option<Arc<dyn Fn(Q) -> Result<A, Failed> + Send + Sync>>;

/// What a scenario wants a policy pack to do. What is not set finds nothing wrong.
#[derive(Clone, Default)]
pub(crate) struct TestAnalyzer {
    pub(crate) pack: PolicyPack,
    pub(crate) remediate: Answer<AnalyzedResource, Remediated>,
    pub(crate) analyze: Answer<AnalyzedResource, Analyzed>,
    pub(crate) analyze_stack: Answer<Vec<AnalyzedResource>, Analyzed>,
    /// Waited for in the middle of every question.
    pub(crate) pause: Option<Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>>,
    /// What it was asked, as `analyze a`.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
}

impl fmt::Debug for TestAnalyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TestAnalyzer")
    }
}

impl TestAnalyzer {
    /// A pack that finds nothing wrong.
    pub(crate) fn new(name: &str) -> Self {
        let pack = PolicyPack {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            folder: format!("./{name}"),
            policies: Vec::new(),
        };
        Self { pack, ..Self::default() }
    }

    pub(crate) fn with_policy(mut self, name: &str, level: EnforcementLevel, scope: PolicyScope) -> Self {
        self.pack.policies.push(Policy { name: name.to_owned(), level, scope });
        self
    }

    /// The same, answering questions about resources.
    pub(crate) fn analyzing(
        self,
        analyze: impl Fn(AnalyzedResource) -> Result<Analyzed, Failed> + Send + Sync + 'static,
    ) -> Self {
        Self { analyze: Some(Arc::new(analyze)), ..self }
    }

    /// The same, changing resources.
    pub(crate) fn remediating(
        self,
        remediate: impl Fn(AnalyzedResource) -> Result<Remediated, Failed> + Send + Sync + 'static,
    ) -> Self {
        Self { remediate: Some(Arc::new(remediate)), ..self }
    }

    /// The same, answering questions about the stack.
    pub(crate) fn analyzing_stack(
        self,
        analyze: impl Fn(Vec<AnalyzedResource>) -> Result<Analyzed, Failed> + Send + Sync + 'static,
    ) -> Self {
        Self { analyze_stack: Some(Arc::new(analyze)), ..self }
    }

    /// What it was asked since the last time this was asked; default providers and the stack left out.
    pub(crate) fn take_asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut *self.asked.lock().unwrap());
        asked.retain(|question| !question.contains(" default") && !question.contains("shop-dev"));
        asked
    }

    async fn note(&self, question: &str, urn: &Urn) {
        self.asked.lock().unwrap().push(format!("{question} {}", urn.name()).trim_end().to_owned());
        if let Some(pause) = &self.pause {
            pause().await;
        }
    }
}

#[async_trait]
impl Analyzer for TestAnalyzer {
    fn pack(&self) -> &PolicyPack {
        &self.pack
    }

    async fn remediate(&self, resource: &AnalyzedResource) -> Result<Remediated, Failed> {
        self.note("remediate", &resource.urn).await;
        self.remediate.as_ref().map_or_else(|| Ok(Remediated::default()), |answer| answer(resource.clone()))
    }

    async fn analyze(&self, resource: &AnalyzedResource) -> Result<Analyzed, Failed> {
        self.note("analyze", &resource.urn).await;
        self.analyze.as_ref().map_or_else(|| Ok(Analyzed::default()), |answer| answer(resource.clone()))
    }

    async fn analyze_stack(&self, resources: &[AnalyzedResource]) -> Result<Analyzed, Failed> {
        self.note("analyze the stack", &Urn::default()).await;
        self.analyze_stack
            .as_ref()
            .map_or_else(|| Ok(Analyzed::default()), |answer| answer(resources.to_vec()))
    }

    async fn cancel(&self) {
        self.asked.lock().unwrap().push("cancel".to_owned());
    }
}

fn name(policy: &str) -> PolicyName {
    PolicyName { policy: policy.to_owned(), pack: "pack".to_owned(), version: "1.0.0".to_owned() }
}

/// A violation of a policy.
pub(crate) fn violation(policy: &str, level: EnforcementLevel) -> Violation {
    Violation { name: name(policy), message: format!("{policy} is broken"), level, ..Violation::default() }
}

/// An answer with violations.
pub(crate) fn broken<const N: usize>(violations: [Violation; N]) -> Analyzed {
    Analyzed { violations: violations.into(), not_applicable: Vec::new() }
}

/// An answer with one change.
pub(crate) fn changed(policy: &str, properties: PropertyMap) -> Remediated {
    let remediation = Remediation { name: name(policy), properties, ..Remediation::default() };
    Remediated { remediations: vec![remediation], not_applicable: Vec::new() }
}
