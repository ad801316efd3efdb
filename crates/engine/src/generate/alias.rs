//! Names that a resource had before.

use crate::deployment::Deployment;
use crate::known::Known;
use crate::world::World;
use crate::{Alias, AliasParent, Severity};
use drystone_model::{ROOT_STACK_TYPE, Urn};
use std::sync::Arc;

/// The old state of a resource, and the name that it stood under if that was another one.
pub(crate) struct Found {
    pub(crate) old: Option<Arc<Known>>,
    pub(crate) alias: Option<Urn>,
    /// Whether the names contradict those of other resources. People were told.
    pub(crate) contested: bool,
}

impl Deployment {
    /// The URN that a resource has under a parent.
    pub(crate) fn urn(&self, parent: &Urn, type_token: &str, name: &str) -> Urn {
        Urn::build(&self.stack, &self.project, parent_type(parent), type_token, name)
    }

    /// Finds the old state of a resource: by its name first, then by its aliases in their order.
    pub(crate) fn find_old(&self, world: &mut World, urn: &Urn, parent: &Urn, aliases: &[Alias]) -> Found {
        let names = self.alias_urns(world, urn, parent, aliases);
        let mut found = Found { old: None, alias: None, contested: false };
        if let Some(by) = world.aliased.get(urn) {
            found.contested = true;
            let message =
                format!("Duplicate resource URN '{urn}' conflicting with alias on resource with URN '{by}'");
            self.diagnose(urn, Severity::Error, message);
        }
        if let Some(old) = world.old(urn) {
            found.old = Some(Arc::clone(old));
            return found;
        }
        for name in names {
            let Some(old) = world.old(&name).cloned() else { continue };
            let taken = if world.disposition(&name).registered { Some(urn.clone()) } else { None };
            if let Some(by) = world.aliased.get(&name).cloned().or(taken) {
                found.contested = true;
                let message = format!(
                    "Duplicate resource alias '{name}' applied to resource with URN '{urn}' conflicting with resource with URN '{by}'"
                );
                self.diagnose(urn, Severity::Error, message);
            }
            world.aliased.insert(name.clone(), urn.clone());
            world.aliases.insert(urn.clone(), name.clone());
            found.old = Some(old);
            found.alias = Some(name);
            break;
        }
        found
    }

    /// The names that a resource may have had: its own aliases, and those that follow from its parent's.
    fn alias_urns(&self, world: &World, urn: &Urn, parent: &Urn, aliases: &[Alias]) -> Vec<Urn> {
        let mut names = Vec::new();
        let mut add = |name: Urn| {
            if !names.contains(&name) {
                names.push(name);
            }
        };
        let own: Vec<Urn> = aliases.iter().map(|alias| self.alias_urn(world, urn, parent, alias)).collect();
        own.iter().cloned().for_each(&mut add);
        if let Some(parent_alias) = world.aliases.get(parent).filter(|_| !parent.is_empty()) {
            add(self.inherited(urn.type_token(), urn.name(), parent.name(), parent_alias));
            for alias in &own {
                add(self.inherited(alias.type_token(), alias.name(), parent.name(), parent_alias));
            }
        }
        names
    }

    fn alias_urn(&self, world: &World, urn: &Urn, own_parent: &Urn, alias: &Alias) -> Urn {
        let (name, type_token, stack, project, parent) = match alias {
            Alias::Urn(urn) => return urn.clone(),
            Alias::Spec { name, type_token, stack, project, parent } => {
                (name, type_token, stack, project, parent)
            }
        };
        let or =
            |text: &str, default: &str| if text.is_empty() { default.to_owned() } else { text.to_owned() };
        let parent = match parent {
            AliasParent::Unchanged => own_parent.clone(),
            AliasParent::Root => Urn::default(),
            AliasParent::Urn(parent) if parent.is_empty() => own_parent.clone(),
            // A parent that was renamed itself: the child stood under its old name.
            AliasParent::Urn(parent) => world.aliases.get(parent).unwrap_or(parent).clone(),
        };
        // A parent brings its own stack and project.
        let (stack, project) = match parent_type(&parent) {
            "" => (or(stack, &self.stack), or(project, &self.project)),
            _ => (parent.stack().to_owned(), parent.project().to_owned()),
        };
        Urn::build(
            &stack,
            &project,
            parent_type(&parent),
            &or(type_token, urn.type_token()),
            &or(name, urn.name()),
        )
    }

    /// The name that a child had when its parent had another one. Children are often named after their parent.
    fn inherited(&self, type_token: &str, name: &str, parent_name: &str, parent_alias: &Urn) -> Urn {
        let name = match name.strip_prefix(parent_name) {
            Some(rest) => format!("{}{rest}", parent_alias.name()),
            None => name.to_owned(),
        };
        Urn::build(&self.stack, &self.project, parent_type(parent_alias), type_token, &name)
    }
}

/// The part of a child's URN that its parent gives; nothing for the stack itself.
fn parent_type(parent: &Urn) -> &str {
    if parent.is_empty() || parent.qualified_type() == ROOT_STACK_TYPE { "" } else { parent.qualified_type() }
}
