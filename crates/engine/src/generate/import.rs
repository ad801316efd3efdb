//! Taking over what exists because the user named it, without a program.
//!
//! What the stack has stays as it is. The providers that are needed are made first, then everything is read, children
//! after their parents.

use super::registration::goal_state;
use crate::deployment::{Deployment, Stopped};
use crate::execute::{StepFailure, TakeOver};
use crate::known::Known;
use crate::monitor::packages::{Package, extension_reference};
use crate::registry::{provider_type, reference, set_package};
use crate::{
    Import, Imported, MonitorError, PropertyMap, RegisterRequest, Registration, ResourceOptions, State,
};
use drystone_model::{ROOT_STACK_TYPE, Urn};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What is about to be taken over, by the name that it will have.
type Wanted = Vec<(Urn, Import)>;

impl Deployment {
    /// Takes over everything that the user named.
    pub(crate) async fn import_all(self: &Arc<Self>) -> Result<(), Stopped> {
        self.keep_everything().await?;
        let stack_is_new = self.ensure_stack().await?;
        let imports = self.opened_imports()?;
        let providers = self.providers_of_imports(&imports).await?;
        let wanted = self.wanted_imports(imports)?;
        let mut steps = Vec::new();
        for (urn, import) in wanted {
            steps.push(self.prepare(urn, import, &providers).await?);
        }
        self.take_over_in_turn(steps).await?;
        if stack_is_new {
            let root = self.world().root.clone();
            self.set_outputs(&root, PropertyMap::new()).await?;
        }
        Ok(())
    }

    /// Everything that there is stays, in its order.
    async fn keep_everything(self: &Arc<Self>) -> Result<(), Stopped> {
        let olds = self.world().olds.clone();
        for old in olds.into_iter().filter(|old| !old.record().delete) {
            let record = old.record();
            {
                let mut world = self.world();
                world.disposition_mut(&record.urn).registered = true;
                if record.type_token == ROOT_STACK_TYPE && record.parent.is_empty() {
                    world.root = record.urn.clone();
                }
            }
            self.carry_over(old).await.map_err(|failure| self.ended(failure))?;
        }
        Ok(())
    }

    /// Makes the stack's own resource where there is none. Says whether there was none.
    async fn ensure_stack(self: &Arc<Self>) -> Result<bool, Stopped> {
        if !self.world().root.is_empty() {
            return Ok(false);
        }
        let request = RegisterRequest {
            type_token: ROOT_STACK_TYPE.to_owned(),
            name: format!("{}-{}", self.project, self.stack),
            ..RegisterRequest::default()
        };
        self.make(request).await?;
        Ok(true)
    }

    /// What the user named, with its secrets open.
    fn opened_imports(&self) -> Result<Vec<Import>, Stopped> {
        let mut imports = self.options.imports.clone();
        for import in &mut imports {
            let urn = self.import_urn(import);
            let open = |values: &mut PropertyMap| {
                self.vault.open_map(&urn, values).map_err(|message| self.fail(&urn, message))
            };
            open(&mut import.inputs)?;
            open(&mut import.provider_inputs)?;
            if let Imported::Resource { outputs, .. } = &mut import.what {
                open(outputs)?;
            }
        }
        Ok(imports)
    }

    /// What is to be taken over, without what the stack has under the same id.
    fn wanted_imports(&self, imports: Vec<Import>) -> Result<Wanted, Stopped> {
        let mut wanted = Wanted::new();
        let mut seen = HashSet::new();
        for import in imports {
            if import.what == Imported::Provider {
                continue;
            }
            let urn = self.import_urn(&import);
            if !seen.insert(urn.clone()) {
                let (name, type_token) = (&import.name, &import.type_token);
                let message = format!("duplicate import '{name}' of type '{type_token}'");
                return Err(self.fail(&urn, message));
            }
            if !self.world().old(&urn).is_some_and(|old| is_it(old, &import)) {
                wanted.push((urn, import));
            }
        }
        Ok(wanted)
    }

    fn import_urn(&self, import: &Import) -> Urn {
        let root = self.world().root.clone();
        let parent = if import.parent.is_empty() { &root } else { &import.parent };
        self.urn(parent, &import.type_token, &import.name)
    }

    /// The references of the providers that the user named, made where the stack does not have them.
    async fn providers_of_imports(
        self: &Arc<Self>,
        imports: &[Import],
    ) -> Result<HashMap<Urn, String>, Stopped> {
        let mut providers = HashMap::new();
        let declared = imports.iter().filter(|import| import.what == Imported::Provider);
        for import in declared {
            let urn = self.urn(&import.parent, &import.type_token, &import.name);
            let made = self.named_provider(&urn, import, import.inputs.clone()).await?;
            providers.insert(urn, made);
        }
        for import in imports.iter().filter(|import| !import.provider.is_empty()) {
            if !providers.contains_key(&import.provider) {
                // What names the provider tells no more of it than its plugin and its configuration.
                let plain = Import { parent: Urn::default(), ..import.clone() };
                let made =
                    self.named_provider(&import.provider, &plain, import.provider_inputs.clone()).await?;
                providers.insert(import.provider.clone(), made);
            }
        }
        Ok(providers)
    }

    /// The reference of a provider by its name, made from its configuration where the stack does not have it.
    async fn named_provider(
        self: &Arc<Self>,
        urn: &Urn,
        import: &Import,
        mut inputs: PropertyMap,
    ) -> Result<String, Stopped> {
        if let Some(known) = self.world().news.get(urn) {
            return Ok(reference(urn, &known.record().id));
        }
        if !drystone_model::is_provider_type(urn.type_token()) {
            return Err(self.fail(urn, format!("imported provider URN \"{urn}\" is not a provider type")));
        }
        set_package(&mut inputs, &import.package);
        let request = RegisterRequest {
            type_token: urn.type_token().to_owned(),
            name: urn.name().to_owned(),
            custom: true,
            parent: import.parent.clone(),
            properties: inputs,
            ..RegisterRequest::default()
        };
        let made = self.make(request).await?;
        Ok(reference(&made.record().urn, &made.record().id))
    }

    async fn make(self: &Arc<Self>, request: RegisterRequest) -> Result<Arc<Known>, Stopped> {
        let settled = self.settle(request, None).await.map_err(|failure| self.ended(failure))?;
        match settled.result {
            Registration::Done => Ok(settled.known),
            _ => Err(self.fail_silently()),
        }
    }

    /// Readies one resource: its provider runs, and its state is what the user says of it.
    async fn prepare(
        self: &Arc<Self>,
        urn: Urn,
        import: Import,
        providers: &HashMap<Urn, String>,
    ) -> Result<TakeOver, Stopped> {
        let is_local = import.what == Imported::Component { remote: false };
        let package = Package { descriptor: import.package.clone(), extension: import.extension.clone() };
        let provider = match providers.get(&import.provider) {
            Some(provider) => provider.clone(),
            None if is_local => String::new(),
            None => self.default_of(&urn, &package).await?,
        };
        let mut extension = None;
        if let Some(added) = &package.extension {
            let reference = extension_reference(added);
            let extended = self.extend_provider(&provider, &reference, added).await;
            extended.map_err(|message| self.fail(&urn, message))?;
            extension = Some(reference);
        }
        let parent = match import.parent.is_empty() {
            true => self.world().root.clone(),
            false => import.parent,
        };
        let (custom, id, outputs) = match import.what {
            Imported::Resource { id, outputs } => (true, id, outputs),
            _ => (false, String::new(), PropertyMap::new()),
        };
        let request = RegisterRequest {
            type_token: import.type_token,
            name: import.name,
            custom,
            parent,
            provider,
            properties: import.inputs,
            options: ResourceOptions {
                protect: Some(import.protect),
                import_id: id,
                ..ResourceOptions::default()
            },
            ..RegisterRequest::default()
        };
        let new = State { outputs, ..goal_state(&urn, &request, None, extension) };
        Ok(TakeOver { new, seed: self.surroundings.seed() })
    }

    async fn default_of(self: &Arc<Self>, urn: &Urn, package: &Package) -> Result<String, Stopped> {
        let descriptor = &package.descriptor;
        if descriptor.package().is_empty() {
            return Err(self.fail(urn, "incorrect package type specified"));
        }
        let name = crate::monitor::default_providers::default_name(descriptor);
        let of_package = self.urn(&Urn::default(), &provider_type(descriptor.package()), &name);
        if let Some(known) = self.world().news.get(&of_package) {
            return Ok(reference(&of_package, &known.record().id));
        }
        let made = self.default_provider(package, urn.type_token()).await;
        made.map_err(|error: MonitorError| match self.has_failed() {
            true => self.fail_silently(),
            false => self.fail(urn, error.message),
        })
    }

    /// Takes over side by side what does not wait for its parent.
    async fn take_over_in_turn(self: &Arc<Self>, mut steps: Vec<TakeOver>) -> Result<(), Stopped> {
        while !steps.is_empty() {
            let open: HashSet<Urn> = steps.iter().map(|step| step.new.record.urn.clone()).collect();
            let (now, later) =
                steps.into_iter().partition::<Vec<_>, _>(|step| !open.contains(&step.new.record.parent));
            if now.is_empty() {
                let urn = later.first().map(|step| step.new.record.urn.clone()).unwrap_or_default();
                return Err(self.fail(&urn, "it is its own parent"));
            }
            let done = futures::future::join_all(now.into_iter().map(|step| self.take_over(step))).await;
            if done.iter().any(Result::is_err) {
                return Err(Stopped);
            }
            steps = later;
        }
        Ok(())
    }

    /// What a step's failure means for all: people were told of it.
    fn ended(&self, failure: StepFailure) -> Stopped {
        match failure {
            StepFailure::Failed => self.fail_silently(),
            StepFailure::Stopped => Stopped,
        }
    }
}

/// Whether a state is what is to be taken over. Another id is a failure of the step.
fn is_it(old: &Known, import: &Import) -> bool {
    let record = old.record();
    let had = if record.import_id.is_empty() { &record.id } else { &record.import_id };
    match &import.what {
        Imported::Resource { id, .. } => had == id,
        _ => had.is_empty(),
    }
}
