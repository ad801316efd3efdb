//! Properties whose changes replace a resource.

use crate::{Diff, DiffChanges, DiffKind, PropertyDiff};
use drystone_model::PropertyPath;

/// Stands for "there were errors when it was made" among properties.
const INIT_ERROR: &str = "#initerror";

/// Makes replacements of the changes that the program wants to be ones.
pub(crate) fn apply(mut diff: Diff, paths: &[String], has_init_errors: bool) -> Result<Diff, String> {
    if paths.is_empty() || (diff.changes != DiffChanges::Some && !has_init_errors) {
        return Ok(diff);
    }
    let parse = |text: &String| PropertyPath::parse(text).map_err(|error| error.to_string());
    let paths = paths.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let named = |text: &str| {
        PropertyPath::parse(text).is_ok_and(|changed| paths.iter().any(|path| path.contains(&changed)))
    };
    for (text, change) in diff.detailed.iter_mut().flatten() {
        if named(text) {
            change.kind = change.kind.to_replace();
        }
    }
    for key in &diff.changed_keys {
        if named(key) && !diff.replace_keys.contains(key) {
            diff.replace_keys.push(key.clone());
        }
    }
    if has_init_errors && named(INIT_ERROR) {
        diff.replace_keys.push(INIT_ERROR.to_owned());
        if let Some(detailed) = &mut diff.detailed {
            let change = PropertyDiff { kind: DiffKind::UpdateReplace, input_diff: false };
            detailed.insert(INIT_ERROR.to_owned(), change);
        }
        diff.changes = DiffChanges::Some;
    }
    Ok(diff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(keys: &[&str]) -> Diff {
        Diff { changed_keys: keys.iter().map(|&key| key.to_owned()).collect(), ..Diff::some() }
    }

    #[test]
    fn a_change_under_a_named_path_replaces() {
        let diff = apply(changed(&["a", "b"]), &["a".to_owned()], false).unwrap();
        assert_eq!(diff.replace_keys, ["a"]);
    }

    #[test]
    fn every_change_replaces_under_a_star() {
        let diff = apply(changed(&["a", "b"]), &["*".to_owned()], false).unwrap();
        assert_eq!(diff.replace_keys, ["a", "b"]);
    }

    #[test]
    fn nothing_replaces_without_a_change() {
        assert!(!apply(Diff::none(), &["*".to_owned()], false).unwrap().is_replace());
    }

    #[test]
    fn init_errors_replace_when_everything_does() {
        let diff = apply(Diff::none(), &["*".to_owned()], true).unwrap();
        assert_eq!((diff.replace_keys, diff.changes), (vec![INIT_ERROR.to_owned()], DiffChanges::Some));
    }
}
