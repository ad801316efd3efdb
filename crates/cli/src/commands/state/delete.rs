//! `state delete`: forgets resources. The real ones stay.

use super::{approve_edit, counted, target};
use crate::context::Context;
use crate::edit::{Title, edit_state, require_no_new_errors, tell_committed};
use crate::report::{Failure, Outcome};
use crate::terminal;
use clap::Args;
use drystone_model::{Resource, ShortName, Snapshot, edges, is_provider_type, verify};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// Deletes resources from the state. What they stand for is left alone, and the next update knows nothing of it.
///
/// A resource that others depend on, or whose child they are, is only deleted together with them. A protected one is
/// only deleted with --force.
#[derive(Debug, Args)]
#[command(after_help = "Example: drystone state delete 'urn:pulumi:dev::shop::aws:s3/bucket:Bucket::assets'")]
pub(crate) struct DeleteArgs {
    /// The URNs of the resources
    #[arg(value_name = "URN")]
    urns: Vec<String>,
    /// Delete protected resources too
    #[arg(long)]
    force: bool,
    /// Delete what depends on the resources too
    #[arg(long)]
    target_dependents: bool,
    /// Delete every resource of the stack
    #[arg(long, conflicts_with = "urns")]
    all: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) async fn run(context: &Context, args: DeleteArgs) -> Outcome {
    let backend = context.backend().await?;
    let stack = context.stack_id(&backend, None)?;
    let urns = match args.all {
        true => Vec::new(),
        false => {
            let question = "Which resource is to be deleted from the state?";
            target::given_or_picked(context, &backend, &stack, args.urns.clone(), question).await?
        }
    };
    approve_edit(context, args.yes, &format!("This edits the state of {stack} directly. Go on?"))?;
    let message = if args.all { "every resource".to_owned() } else { urns.join(", ") };
    let title = Title { purpose: "state delete".to_owned(), message, ..Title::default() };
    let edit = async |snapshot: &mut Snapshot| {
        let errors = verify(snapshot);
        let condemned = condemned(context, &args, &urns, snapshot)?;
        let mut index = 0;
        snapshot.resources.retain(|_| {
            index += 1;
            !condemned.contains(&(index - 1))
        });
        require_no_new_errors(&errors, snapshot)?;
        Ok(condemned.len())
    };
    let (deleted, committed) = edit_state(context, &backend, &stack, title, true, edit).await?;
    terminal::note(format!("Deleted {} from the state of {stack}", counted(deleted, "resource")));
    tell_committed(&committed);
    Ok(())
}

/// The positions of what goes, once nothing is in the way.
fn condemned(
    context: &Context,
    args: &DeleteArgs,
    urns: &[String],
    snapshot: &Snapshot,
) -> Outcome<BTreeSet<usize>> {
    let targets: BTreeSet<usize> = if args.all {
        (0..snapshot.resources.len()).collect()
    } else {
        urns.iter().map(|urn| target::locate(context, snapshot, urn)).collect::<Outcome<_>>()?
    };
    let dependents = if args.all { Vec::new() } else { dependents(&snapshot.resources, &targets) };
    if !dependents.is_empty() && !args.target_dependents {
        return Err(has_dependents(snapshot, &targets, &dependents));
    }
    let condemned: BTreeSet<usize> = targets.into_iter().chain(dependents).collect();
    let protected: Vec<&Resource> =
        condemned.iter().map(|&index| &snapshot.resources[index]).filter(|it| it.protect).collect();
    if args.force {
        for resource in protected {
            terminal::warning(format!("deleting {}, which is protected", resource.urn));
        }
    } else if !protected.is_empty() {
        let mut failure = Failure::general(match protected[..] {
            [only] => format!("{} is protected", only.urn),
            _ => format!("{} are protected", counted(protected.len(), "resource")),
        });
        if protected.len() > 1 {
            failure.details = protected.iter().map(|resource| resource.urn.to_string()).collect();
        }
        return Err(failure.hint("delete protected resources with `--force`"));
    }
    Ok(condemned)
}

fn has_dependents(snapshot: &Snapshot, targets: &BTreeSet<usize>, dependents: &[usize]) -> Failure {
    let (what, it) = match targets.iter().collect::<Vec<_>>()[..] {
        [&only] => (snapshot.resources[only].urn.to_string(), "it"),
        _ => ("these resources".to_owned(), "them"),
    };
    let mut failure = Failure::general(format!(
        "{what} cannot be deleted: {} depend{} on {it}",
        counted(dependents.len(), "resource"),
        if dependents.len() == 1 { "s" } else { "" }
    ));
    failure.details = dependents
        .iter()
        .map(|&index| {
            let urn = &snapshot.resources[index].urn;
            format!("{}  ({urn})", ShortName(urn))
        })
        .collect();
    failure.hint("delete those first, or everything together with `--target-dependents`")
}

/// What would lead nowhere once the targets are gone, and what would then, and so on, in snapshot order. While another
/// resource with the same URN stays, nothing does.
fn dependents(resources: &[Resource], targets: &BTreeSet<usize>) -> Vec<usize> {
    let mut names: HashMap<Cow<'_, str>, Name> = HashMap::new();
    for (index, resource) in resources.iter().enumerate() {
        for name in names_of(resource) {
            names.entry(name).or_default().bearers += 1;
        }
        for edge in edges(resource) {
            let name = edge.provider.unwrap_or(edge.urn);
            names.entry(Cow::Borrowed(name)).or_default().referrers.push(index);
        }
    }
    let mut condemned = vec![false; resources.len()];
    let mut open: Vec<usize> = targets.iter().copied().collect();
    for &target in targets {
        condemned[target] = true;
    }
    while let Some(index) = open.pop() {
        for name in names_of(&resources[index]) {
            let Some(name) = names.get_mut(&name) else { continue };
            name.bearers -= 1;
            if name.bearers > 0 {
                continue;
            }
            for &referrer in &name.referrers {
                if !std::mem::replace(&mut condemned[referrer], true) {
                    open.push(referrer);
                }
            }
        }
    }
    (0..resources.len()).filter(|index| condemned[*index] && !targets.contains(index)).collect()
}

/// A name under which resources are referred to.
#[derive(Default)]
struct Name {
    /// How many resources that stay have it.
    bearers: usize,
    /// Who refers to it.
    referrers: Vec<usize>,
}

/// A resource's URN and, for a provider, the text of a reference to it.
fn names_of(resource: &Resource) -> impl Iterator<Item = Cow<'_, str>> {
    let reference = is_provider_type(&resource.type_token)
        .then(|| Cow::Owned(format!("{}::{}", resource.urn, resource.id)));
    std::iter::once(Cow::Borrowed(resource.urn.as_str())).chain(reference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_model::Urn;

    fn resource(name: &str, dependencies: &[&str]) -> Resource {
        let urn = |name: &str| Urn::build("dev", "shop", "", "a:b:C", name);
        Resource {
            urn: urn(name),
            type_token: "a:b:C".to_owned(),
            dependencies: dependencies.iter().map(|name| urn(name)).collect(),
            ..Resource::default()
        }
    }

    #[test]
    fn dependents_are_found_in_any_order() {
        let resources =
            [resource("c", &["b"]), resource("b", &["a"]), resource("a", &[]), resource("d", &[])];
        assert_eq!(dependents(&resources, &BTreeSet::from([2])), [0, 1]);
        assert_eq!(dependents(&resources, &BTreeSet::from([1, 2])), [0]);
        assert!(dependents(&resources, &BTreeSet::from([0, 3])).is_empty());
    }

    #[test]
    fn while_another_with_its_urn_stays_nothing_depends_on_a_resource() {
        let resources = [resource("a", &[]), resource("a", &[]), resource("b", &["a"])];
        assert!(dependents(&resources, &BTreeSet::from([0])).is_empty());
        assert_eq!(dependents(&resources, &BTreeSet::from([0, 1])), [2]);
    }

    #[test]
    fn a_provider_is_told_from_its_replacement_by_its_id() {
        let provider = |id: &str| Resource {
            urn: Urn::build("dev", "shop", "", "pulumi:providers:a", "p"),
            type_token: "pulumi:providers:a".to_owned(),
            id: id.to_owned(),
            ..Resource::default()
        };
        let user = Resource { provider: format!("{}::1", provider("1").urn), ..resource("a", &[]) };
        let resources = [provider("1"), provider("2"), user];
        assert_eq!(dependents(&resources, &BTreeSet::from([0])), [2]);
        assert!(dependents(&resources, &BTreeSet::from([1])).is_empty());
    }
}
