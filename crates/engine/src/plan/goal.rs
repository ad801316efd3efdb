//! What a program asks for, and whether that is what was planned.

use super::difference::fits;
use super::{GoalPlan, MoreOfGoal, PlanDiff};
use crate::{Alias, AliasParent, PropertyMap, RegisterRequest, State, Timeouts};
use drystone_model::{Computed, ProviderReference, Urn, Value};
use std::collections::BTreeSet;
use std::fmt::Display;

static NOTHING: PropertyMap = PropertyMap::new();

impl GoalPlan {
    /// What a program asks for, but for the values. Whether the old one is deleted first may be decided by how names are
    /// made up.
    pub(super) fn of(request: &RegisterRequest, delete_before_replace: Option<bool>) -> Self {
        let options = &request.options;
        Self {
            type_token: request.type_token.clone(),
            name: request.name.clone(),
            custom: request.custom,
            inputs: PlanDiff::default(),
            outputs: PlanDiff::default(),
            parent: request.parent.clone(),
            protect: options.protect.unwrap_or_default(),
            dependencies: request.dependencies.clone(),
            provider: request.provider.clone(),
            property_dependencies: request.property_dependencies.clone(),
            delete_before_replace,
            ignore_changes: options.ignore_changes.clone(),
            additional_secret_outputs: options.additional_secret_outputs.clone(),
            aliases: options.aliases.clone(),
            import_id: options.import_id.clone(),
            timeouts: options.timeouts,
            more: Some(MoreOfGoal {
                retain_on_delete: options.retain_on_delete.unwrap_or_default(),
                deleted_with: options.deleted_with.clone(),
                replace_with: options.replace_with.clone(),
                replace_on_changes: options.replace_on_changes.clone(),
                replacement_trigger: options.replacement_trigger.clone(),
                hooks: options.hooks.iter().filter(|(_, names)| !names.is_empty()).map(cloned).collect(),
                anew: false,
                replacement: None,
            }),
        }
    }

    /// What a resource that no plan names was: all that may be asked for is that it stays so.
    pub(super) fn unchanged(old: &State) -> Self {
        let record = &old.record;
        let timeout = |operation| crate::execute::timeout(record, operation);
        let dependencies = record.property_dependencies.iter();
        Self {
            type_token: record.type_token.clone(),
            name: record.urn.name().to_owned(),
            custom: record.custom,
            parent: record.parent.clone(),
            protect: record.protect,
            dependencies: record.dependencies.clone(),
            provider: record.provider.clone(),
            property_dependencies: dependencies
                .map(|(key, urns)| (key.clone(), urns.clone().unwrap_or_default()))
                .collect(),
            additional_secret_outputs: record.additional_secret_outputs.clone(),
            aliases: record.aliases.iter().cloned().map(Alias::Urn).collect(),
            timeouts: Timeouts {
                create: timeout("create"),
                update: timeout("update"),
                delete: timeout("delete"),
                read: timeout("read"),
            },
            ..Self::default()
        }
    }

    /// Compares what the program asks for now, but for the values.
    pub(super) fn check_options(&self, now: &Self) -> Result<(), String> {
        if self.type_token != now.type_token || self.name != now.name {
            return Err(changed("resource", format!("{} {}", self.type_token, self.name)));
        }
        if self.custom != now.custom {
            return Err(changed("resource kind", if self.custom { "custom" } else { "component" }));
        }
        if !same_provider(&self.provider, &now.provider) {
            return Err(changed("provider", &self.provider));
        }
        same("parent", &self.parent, &now.parent)?;
        same("protect", &self.protect, &now.protect)?;
        if self.delete_before_replace != now.delete_before_replace {
            let expected =
                self.delete_before_replace.map_or("no value".to_owned(), |value| value.to_string());
            return Err(changed("deleteBeforeReplace", expected));
        }
        same("importID", &self.import_id, &now.import_id)?;
        same("create timeout", &self.timeouts.create, &now.timeouts.create)?;
        same("update timeout", &self.timeouts.update, &now.timeouts.update)?;
        same("delete timeout", &self.timeouts.delete, &now.timeouts.delete)?;
        same("read timeout", &self.timeouts.read, &now.timeouts.read)?;
        same_set("ignoreChanges", &self.ignore_changes, &now.ignore_changes)?;
        let secret = &self.additional_secret_outputs;
        same_set("additionalSecretOutputs", secret, &now.additional_secret_outputs)?;
        same_set("dependencies", &self.dependencies, &now.dependencies)?;
        let aliases = |goal: &Self| goal.aliases.iter().map(shown_alias).collect::<Vec<_>>();
        same_set("aliases", &aliases(self), &aliases(now))?;
        match (&self.more, &now.more) {
            (Some(planned), Some(now)) => planned.check(now),
            _ => Ok(()),
        }
    }

    /// Compares the inputs. Those of a resource that is made anew were planned from nothing.
    pub(super) fn check_inputs(
        &self,
        now: &Self,
        old: &PropertyMap,
        new: &PropertyMap,
    ) -> Result<(), String> {
        let anew = self.more.as_ref().is_some_and(|more| more.anew);
        self.inputs.check(if anew { &NOTHING } else { old }, new)?;
        // An input that was unknown may turn out to be nothing.
        for (key, planned) in &self.property_dependencies {
            if let Some(now) = now.property_dependencies.get(key) {
                same_set(&format!("dependencies for {key}"), planned, now)?;
            }
        }
        Ok(())
    }
}

impl MoreOfGoal {
    fn check(&self, now: &Self) -> Result<(), String> {
        same("retainOnDelete", &self.retain_on_delete, &now.retain_on_delete)?;
        same("deletedWith", &self.deleted_with, &now.deleted_with)?;
        same_set("replaceWith", &self.replace_with, &now.replace_with)?;
        same_set("replaceOnChanges", &self.replace_on_changes, &now.replace_on_changes)?;
        let value = |trigger: &Option<Value>| {
            let mut value = trigger.clone().unwrap_or_default();
            value.lower_outputs();
            value
        };
        if !fits(&value(&self.replacement_trigger), &value(&now.replacement_trigger)) {
            return Err("replacementTrigger changed".to_owned());
        }
        let hooks = |goal: &Self| {
            let named = |(moment, names): (&crate::HookMoment, &Vec<String>)| {
                names.iter().map(|name| format!("{} {name}", moment.as_str())).collect::<Vec<_>>()
            };
            goal.hooks.iter().flat_map(named).collect::<Vec<_>>()
        };
        same_set("hooks", &hooks(self), &hooks(now))
    }
}

fn cloned<K: Clone, V: Clone>((key, value): (&K, &V)) -> (K, V) {
    (key.clone(), value.clone())
}

fn changed(what: &str, expected: impl Display) -> String {
    format!("{what} changed (expected {expected})")
}

fn same<T: PartialEq + Display>(what: &str, planned: &T, now: &T) -> Result<(), String> {
    if planned == now { Ok(()) } else { Err(changed(what, planned)) }
}

fn same_set<T: Ord + Display>(what: &str, planned: &[T], now: &[T]) -> Result<(), String> {
    let (planned, now): (BTreeSet<&T>, BTreeSet<&T>) = (planned.iter().collect(), now.iter().collect());
    let list = |only: Vec<&&T>| only.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let added = list(now.difference(&planned).collect());
    let deleted = list(planned.difference(&now).collect());
    let added = Some(added).filter(|list| !list.is_empty()).map(|list| format!("added {list}"));
    let deleted = Some(deleted).filter(|list| !list.is_empty()).map(|list| format!("deleted {list}"));
    let differences: Vec<String> = added.into_iter().chain(deleted).collect();
    match differences.is_empty() {
        true => Ok(()),
        false => Err(format!("{what} changed: {}", differences.join("; "))),
    }
}

/// Whether two references mean the same provider. One that is not there yet when the plan is made gets its id later.
fn same_provider(planned: &str, now: &str) -> bool {
    let parsed = (ProviderReference::parse(planned), ProviderReference::parse(now));
    match parsed {
        _ if planned == now => true,
        (Some(planned), Some(now)) => planned.urn == now.urn && planned.id == Computed::String.sentinel(),
        _ => false,
    }
}

/// An alias in a message: its parts in the stock engine's order.
fn shown_alias(alias: &Alias) -> String {
    let none = Urn::default();
    match alias {
        Alias::Urn(urn) => format!("{{{urn}      false}}"),
        Alias::Spec { name, type_token, stack, project, parent } => {
            let (parent, no_parent) = match parent {
                AliasParent::Unchanged => (&none, false),
                AliasParent::Root => (&none, true),
                AliasParent::Urn(urn) => (urn, false),
            };
            format!("{{ {name} {type_token} {project} {stack} {parent} {no_parent}}}")
        }
    }
}
