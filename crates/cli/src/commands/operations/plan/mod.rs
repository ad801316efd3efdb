//! Plans: what a preview writes with `--save-plan`, and what `up --plan` is held to.
//!
//! A file has the stock CLI's form, so that people and tools can read it. `seal` binds it to the stack, to its state, to
//! the program, to the configuration and to the options of the command line: what differs is refused before anything is
//! shown or done.

mod program;
mod seal;

use super::flow::ORGANIZATION;
use super::record;
use super::request::Request;
use super::subject::Subject;
use crate::backend::is_true;
use crate::commands::identity::PULUMI_VERSION;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use crate::terminal;
use drystone_dialects::pulumi::plan::{Binding, PlanDocument};
use drystone_dialects::pulumi::properties::SecretForm;
use drystone_engine::Plan;
use drystone_model::{Manifest, Urn};
use drystone_secrets::{Manager, Plaintext, Reuse, Sealer};
use drystone_stores::Recorded;
use seal::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Takes plans that nobody can tell the origin of.
const UNSEALED: &str = "DRYSTONE_UNSEALED_PLANS";

/// The newest binding that is understood, which is the one that is written.
const VERSION: i64 = 1;

/// What the command line asks for.
#[derive(Debug, Clone, Default)]
pub(super) struct PlanUse {
    /// Write a plan to this file.
    pub(super) save: Option<PathBuf>,
    /// Be held to the plan in this file.
    pub(super) hold: Option<PathBuf>,
    /// Be held to the preview.
    pub(super) strict: bool,
}

impl PlanUse {
    /// Whether a preview makes a plan.
    pub(super) fn makes_one(&self) -> bool {
        self.save.is_some() || (self.strict && self.hold.is_none())
    }

    /// Whether the stack's secrets are needed even if nothing else is secret.
    pub(super) fn needs_secrets(&self) -> bool {
        self.save.is_some() || self.hold.is_some()
    }

    /// Whether the history calls this an update with a plan.
    pub(super) fn is_named(&self) -> bool {
        self.needs_secrets()
    }
}

/// A file as it is meant by somebody in the working folder.
pub(super) fn named(context: &Context, path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| !path.as_os_str().is_empty()).map(|path| context.environment.resolve(&path))
}

/// What an operation is held to.
#[derive(Debug, Default)]
pub(super) struct Held {
    file: Option<PlanFile>,
    preview: Option<(Arc<Plan>, String)>,
}

/// A plan file that was read, and not compared with anything yet.
#[derive(Debug)]
struct PlanFile {
    path: PathBuf,
    document: PlanDocument,
}

impl Held {
    /// Reads the file that the command line names, if any.
    pub(super) fn of(request: &Request) -> Outcome<Self> {
        let file = request.plan.hold.as_deref().map(PlanFile::read).transpose()?;
        Ok(Self { file, preview: None })
    }

    /// Holds what follows to a preview of a state.
    pub(super) fn hold_to_preview(&mut self, plan: Option<Plan>, state: &str) {
        if self.file.is_none() {
            self.preview = plan.map(|plan| (Arc::new(plan), state.to_owned()));
        }
    }

    /// The plan for an operation on a state, if it is held to one; or what differs from what the plan was made for.
    pub(super) fn plan(
        &self,
        context: &Context,
        request: &Request,
        subject: &Subject,
        base: &Recorded,
        manager: &Manager,
    ) -> Outcome<Option<Arc<Plan>>> {
        if let Some((plan, state)) = &self.preview {
            if *state != seal::state_digest(base)? {
                let message = format!("the state of {} changed after it was previewed", subject.shown());
                return Err(Failure::new(ExitCode::Held, message)
                    .hint("nothing was changed; run the command again to preview what it would do now"));
            }
            return Ok(Some(Arc::clone(plan)));
        }
        let Some(file) = &self.file else { return Ok(None) };
        file.verify(context, request, subject, base, manager)?;
        let restored = Plan::restore(&file.document.resource_plans, &sealer(manager)?);
        restored.map(Arc::new).map(Some).map_err(|error| file.refused(format!("cannot be used: {error}")))
    }
}

fn sealer(manager: &Manager) -> Outcome<Arc<Sealer>> {
    let sealer = Sealer::new(manager, Reuse::On).map_err(|error| Failure::new(ExitCode::Internal, error))?;
    Ok(Arc::new(sealer))
}

/// The full name of a stack.
fn full_name(subject: &Subject) -> String {
    format!("{ORGANIZATION}/{}/{}", subject.project.name, subject.stack.name())
}

impl PlanFile {
    fn read(path: &Path) -> Outcome<Self> {
        let shown = path.display();
        let bytes = std::fs::read(path)
            .map_err(|error| Failure::configuration(format!("the plan `{shown}` cannot be read: {error}")));
        let hint = "make one with `drystone preview --save-plan FILE`";
        let document =
            PlanDocument::read(&bytes.map_err(|failure| failure.hint(hint))?).map_err(|error| {
                Failure::configuration(format!("`{shown}` is not a plan, or not a whole one: {error}"))
                    .hint(hint)
            })?;
        Ok(Self { path: path.to_owned(), document })
    }

    /// Refuses a file that was edited, or that was made for something else. What is cheap to tell comes first.
    fn verify(
        &self,
        context: &Context,
        request: &Request,
        subject: &Subject,
        base: &Recorded,
        manager: &Manager,
    ) -> Outcome {
        let name = full_name(subject);
        let Some(binding) = &self.document.binding else { return self.take_unsealed(context, subject) };
        if binding.version > VERSION {
            let message = format!("is bound in a newer way ({}) than this version knows", binding.version);
            return Err(self.refused(message));
        }
        if binding.stack != name {
            return Err(self.refused(format!("is one of {}, not of {name}", binding.stack)));
        }
        manager.unlock().map_err(crate::context::secrets_failure)?;
        let opened = manager.crypter().decrypt_one(&binding.seal).ok();
        let bound = opened.and_then(|text| serde_json::from_slice::<Bound>(text.as_bytes()).ok());
        let Some(bound) = bound else {
            return Err(self.refused(format!(
                "does not open with the secrets of {}: it was edited, or they were sealed anew since",
                subject.shown()
            )));
        };
        if bound.content != seal::digest(&self.sealed_text()?) {
            return Err(self.refused("was edited after it was made"));
        }
        if bound.stack != name {
            return Err(self.refused(format!("is one of {}, not of {name}", bound.stack)));
        }
        let now = Bound::now(context, request, subject, base, String::new())?;
        bound.require(&now, &self.path, &subject.shown())
    }

    fn sealed_text(&self) -> Outcome<Vec<u8>> {
        self.document.sealed_text().map_err(|error| Failure::new(ExitCode::Internal, error))
    }

    /// Takes a file without a seal if the user insists. Its resources still have to be the stack's.
    fn take_unsealed(&self, context: &Context, subject: &Subject) -> Outcome {
        let is_ours =
            |urn: &&Urn| urn.stack() == subject.stack.name() && urn.project() == subject.project.name;
        if let Some(other) = self.document.resource_plans.keys().find(|urn| !is_ours(urn)) {
            let (theirs, ours) = (format!("{}/{}", other.project(), other.stack()), subject.shown());
            return Err(self.refused(format!("is one of {theirs}, not of {ours}")));
        }
        if !is_true(&context.environment, UNSEALED) {
            return Err(self
                .refused("has no seal: nobody can tell whether it was edited, or what it was made for")
                .hint(format!("a plan of the stock CLI has none; it is taken with {UNSEALED}=true")));
        }
        terminal::warning(format!(
            "the plan `{}` has no seal: only its resources and steps are compared",
            self.path.display()
        ));
        Ok(())
    }

    fn refused(&self, why: impl std::fmt::Display) -> Failure {
        Failure::configuration(format!("the plan `{}` {why}", self.path.display())).hint(seal::ANEW)
    }
}

/// The text of a plan file, sealed.
pub(super) fn seal_plan(
    context: &Context,
    request: &Request,
    subject: &Subject,
    base: &Recorded,
    manager: &Manager,
    plan: &Plan,
) -> Outcome<String> {
    let internal =
        |error: &dyn std::fmt::Display| Failure::new(ExitCode::Internal, format!("the plan: {error}"));
    let form = match request.display.show_secrets {
        true => SecretForm::Plaintext,
        false => SecretForm::Sealed,
    };
    let mut document = PlanDocument {
        manifest: Manifest::new(jiff::Timestamp::now().to_string(), PULUMI_VERSION),
        config: Some(record::config(&subject.config)?).filter(|config| config.text() != "{}"),
        resource_plans: plan.store(&sealer(manager)?, form).map_err(|error| internal(&error))?,
        binding: Some(Binding { version: VERSION, stack: full_name(subject), ..Binding::default() }),
        ..PlanDocument::default()
    };
    let content = seal::digest(&document.sealed_text().map_err(|error| internal(&error))?);
    let bound = Bound::now(context, request, subject, base, content)?;
    let text = serde_json::to_string(&bound).map_err(|error| internal(&error))?;
    let sealed = manager.crypter().encrypt_one(&Plaintext::from(text));
    if let Some(binding) = &mut document.binding {
        binding.seal = sealed.map_err(crate::context::secrets_failure)?;
    }
    let bytes = document.to_vec().map_err(|error| internal(&error))?;
    String::from_utf8(bytes).map_err(|error| internal(&error))
}

/// Puts a plan where the command line asks for it, readable for its owner alone, and says how to use it.
pub(super) fn save(request: &Request, text: &str) -> Outcome {
    let Some(path) = &request.plan.save else { return Ok(()) };
    let shown = path.display();
    drystone_workspace::write_private(path, text).map_err(|error| {
        let failure = Failure::configuration_error(&error);
        Failure { code: ExitCode::Unavailable, ..failure }
            .hint("no plan was written; the preview changed nothing")
    })?;
    if !request.display.is_json() {
        terminal::note(format!(
            "Update plan written to '{shown}'\n\
             Run `drystone up --plan='{shown}'` to constrain the update to the operations planned by this preview"
        ));
    }
    Ok(())
}

/// The digest of the state that an operation begins with.
pub(super) fn state_digest(base: &Recorded) -> Outcome<String> {
    seal::state_digest(base)
}
