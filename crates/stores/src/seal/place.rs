//! Where a document belongs, told by its path.
//!
//! Names that one document has at different times are one place: a checkpoint is linked as `.bak`, into the history and
//! into the backups, goes to the trash and comes back. A stack's new name is another place.

use crate::disk::TEMPORARY;
use drystone_secrets::envelope::{PayloadType, Place};

/// Endings that a kept journal may have, the outermost first.
const KEPT: [&str; 4] = [".settled", ".journal", ".orphan", ".damaged"];

/// The place of what stands at a path; `None` for what is not sealed.
pub(crate) fn place_of(path: &str) -> Option<Place> {
    let path = final_name(path).strip_prefix(".pulumi/")?;
    let (root, rest) = path.split_once('/')?;
    match root {
        "stacks" => {
            let (project, file) = project_and_file(rest);
            in_stacks(project, file)
        }
        "history" | "backups" => {
            let (stack, file) = rest.rsplit_once('/')?;
            Some(beside(root, stack, file))
        }
        "drystone" => ours(rest),
        _ => None,
    }
}

/// The name that a file has once it is written.
fn final_name(path: &str) -> &str {
    let written = path.strip_suffix(TEMPORARY).and_then(|rest| rest.rsplit_once('.'));
    written.map_or(path, |(path, _)| path)
}

fn project_and_file(path: &str) -> (Option<&str>, &str) {
    match path.split_once('/') {
        Some((project, file)) => (Some(project), file),
        None => (None, path),
    }
}

fn state(stack: String, which: impl Into<String>) -> Place {
    Place { stack, revision: which.into(), payload_type: PayloadType::State }
}

/// A checkpoint or its tags: `prod.json.gz.bak`, `prod.json.1763400000000000000`, `prod.pulumi-tags`.
fn in_stacks(project: Option<&str>, file: &str) -> Option<Place> {
    let stack = |name: &str| project.map_or_else(|| name.to_owned(), |project| format!("{project}/{name}"));
    if let Some(name) = file.strip_suffix(".pulumi-tags") {
        return Some(state(stack(name), "tags"));
    }
    let file = file.strip_suffix(".bak").unwrap_or(file);
    let file = match file.rsplit_once('.') {
        Some((before, moment)) if !moment.is_empty() && moment.bytes().all(|it| it.is_ascii_digit()) => {
            before
        }
        _ => file,
    };
    let name = crate::diy::layout::stack_of(file)?;
    Some(state(stack(name), "checkpoint"))
}

/// A file of the history or the backups.
fn beside(root: &str, stack: &str, file: &str) -> Place {
    let is_record = root == "history" && crate::diy::layout::is_history_record(file);
    if is_record {
        // The name begins with the stack's, which may change.
        let moment = file.rsplit_once('-').map_or(file, |(_, moment)| moment);
        let moment = moment.split('.').next().unwrap_or(moment);
        return Place {
            stack: stack.to_owned(),
            revision: moment.to_owned(),
            payload_type: PayloadType::History,
        };
    }
    state(stack.to_owned(), "checkpoint")
}

/// What is ours: what goes with a stack, and the trash.
fn ours(path: &str) -> Option<Place> {
    let (root, rest) = path.split_once('/')?;
    let (kind, rest) = rest.split_once('/')?;
    let (project, rest) = match kind {
        "projects" => rest.split_once('/').map(|(project, rest)| (Some(project), rest))?,
        "legacy" => (None, rest),
        _ => return None,
    };
    let (name, rest) = rest.split_once('/')?;
    let stack = |name: &str| project.map_or_else(|| name.to_owned(), |project| format!("{project}/{name}"));
    match root {
        "stacks" => Some(own(stack(name), rest)),
        "trash" => {
            let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
            match rest.split_once('/') {
                Some(("own", rest)) => Some(own(stack(name), rest)),
                Some((root @ ("history" | "backups"), file)) => Some(beside(root, &stack(name), file)),
                _ if rest == "trash.json" => Some(state(stack(name), "trash note")),
                _ => in_stacks(project, rest),
            }
        }
        _ => None,
    }
}

/// What goes with a stack: revisions, their descriptions, journals, and what is known of the current document.
fn own(stack: String, rest: &str) -> Place {
    match rest.split_once('/') {
        Some(("journals", journal)) => {
            let name = KEPT.iter().fold(journal, |name, ending| name.strip_suffix(ending).unwrap_or(name));
            Place { stack, revision: name.to_owned(), payload_type: PayloadType::Journal }
        }
        Some(("revisions", file)) => {
            let file = file.strip_suffix(".prepared").unwrap_or(file);
            match file.strip_suffix(".json.zst") {
                Some(number) => state(stack, format!("revision {number}")),
                None => state(stack, file),
            }
        }
        _ => state(stack, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str) -> String {
        place_of(path).map_or_else(|| "clear".to_owned(), |place| place.to_string())
    }

    #[test]
    fn names_of_one_document_are_one_place() {
        for path in [
            ".pulumi/stacks/shop/prod.json",
            ".pulumi/stacks/shop/prod.json.gz.bak",
            ".pulumi/stacks/shop/prod.json.zst.1763400000000000000",
            ".pulumi/stacks/shop/prod.json.1a-7.drystone-tmp",
            ".pulumi/history/shop/prod/prod-17634.checkpoint.json",
            ".pulumi/backups/shop/prod/prod.17634.json.gz",
            ".pulumi/drystone/trash/projects/shop/prod@17634/prod.json",
            ".pulumi/drystone/trash/projects/shop/prod@17634/history/prod-17634.checkpoint.json",
        ] {
            assert_eq!(told(path), "state of shop/prod at checkpoint", "{path}");
        }
        for path in [
            ".pulumi/drystone/stacks/projects/shop/prod/journals/00000001-ab.journal",
            ".pulumi/drystone/stacks/projects/shop/prod/journals/00000001-ab.orphan.settled",
            ".pulumi/drystone/trash/projects/shop/prod@1/own/journals/00000001-ab.damaged",
        ] {
            assert_eq!(told(path), "journal of shop/prod at 00000001-ab", "{path}");
        }
    }

    #[test]
    fn documents_of_their_own_have_places_of_their_own() {
        for (path, place) in [
            (".pulumi/stacks/prod.json", "state of prod at checkpoint"),
            (".pulumi/stacks/shop/prod.pulumi-tags", "state of shop/prod at tags"),
            (".pulumi/history/shop/prod/prod-17634.history.json.gz", "history of shop/prod at 17634"),
            (".pulumi/drystone/stacks/legacy/prod/revisions/7.json.zst", "state of prod at revision 7"),
            (
                ".pulumi/drystone/stacks/projects/shop/prod/revisions/7.meta.json.prepared",
                "state of shop/prod at 7.meta.json",
            ),
            (
                ".pulumi/drystone/stacks/projects/shop/prod/journals/00000001-ab/00000002",
                "journal of shop/prod at 00000001-ab/00000002",
            ),
            (".pulumi/drystone/stacks/projects/shop/prod/current.json", "state of shop/prod at current.json"),
            (".pulumi/drystone/trash/legacy/prod@1/trash.json", "state of prod at trash note"),
        ] {
            assert_eq!(told(path), place, "{path}");
        }
    }

    #[test]
    fn what_others_must_read_stays_clear() {
        for path in [
            ".pulumi/meta.yaml",
            ".pulumi/locks/organization/shop/prod/ab.json",
            ".pulumi/stacks/shop/prod.json.attrs",
            ".pulumi/drystone/leases/projects/shop/prod/lease.json",
            ".pulumi/drystone/probe-ab",
        ] {
            assert_eq!(told(path), "clear", "{path}");
        }
    }
}
