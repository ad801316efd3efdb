//! Which resource the user means.

use crate::backend::Backend;
use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use drystone_model::{Resource, Snapshot, Urn};
use drystone_stores::{At, StackId};
use std::collections::HashSet;

/// Lets the user pick a resource where the command line names none.
pub(super) async fn given_or_picked(
    context: &Context,
    backend: &Backend,
    stack: &StackId,
    given: Vec<String>,
    question: &str,
) -> Outcome<Vec<String>> {
    if !given.is_empty() {
        return Ok(given);
    }
    if !context.is_interactive() {
        return Err(Failure::configuration("which resource?")
            .hint("name it by its URN; `drystone state ls` lists them"));
    }
    let snapshot = backend.store().snapshot(stack, At::Current).await?.snapshot;
    let mut seen = HashSet::new();
    let urns: Vec<String> = snapshot
        .resources
        .iter()
        .filter(|resource| seen.insert(&resource.urn))
        .map(|resource| resource.urn.to_string())
        .collect();
    if urns.is_empty() {
        return Err(Failure::general(format!("{stack} has no resources")));
    }
    Ok(vec![pick(question, urns)?])
}

/// Lets the user pick one of several.
fn pick(question: &str, options: Vec<String>) -> Outcome<String> {
    inquire::Select::new(question, options)
        .prompt()
        .map_err(|_| Failure::new(ExitCode::Cancelled, "cancelled: nothing was picked"))
}

/// The position of the one resource with this URN. Where there are several, one is picked by its id.
pub(super) fn locate(context: &Context, snapshot: &Snapshot, text: &str) -> Outcome<usize> {
    let found = positions(snapshot, text);
    match found[..] {
        [] => Err(not_found(snapshot.resources.iter(), text)),
        [only] => Ok(only),
        _ if context.is_interactive() => {
            let labels: Vec<String> =
                found.iter().map(|&index| label(index, &snapshot.resources[index])).collect();
            let picked =
                pick("There are several resources with this URN; which one do you mean?", labels.clone())?;
            Ok(labels.iter().position(|label| *label == picked).map_or(found[0], |nth| found[nth]))
        }
        _ => {
            let mut failure = Failure::general(format!("{} resources have the URN {text}", found.len()));
            failure.details = found.iter().map(|&index| label(index, &snapshot.resources[index])).collect();
            Err(failure.hint("run the command in a terminal to pick one of them"))
        }
    }
}

/// The positions of the resources with this URN.
pub(super) fn positions(snapshot: &Snapshot, text: &str) -> Vec<usize> {
    let resources = snapshot.resources.iter().enumerate();
    resources.filter(|(_, resource)| resource.urn.as_str() == text).map(|(index, _)| index).collect()
}

fn label(index: usize, resource: &Resource) -> String {
    let protected = if resource.protect { ", protected" } else { "" };
    let deleted = if resource.delete { ", pending deletion" } else { "" };
    format!("#{index} id {:?}{protected}{deleted}", resource.id)
}

/// Says that there is no such resource, and which ones have a similar name.
pub(super) fn not_found<'a>(resources: impl Iterator<Item = &'a Resource>, text: &str) -> Failure {
    let failure = match Urn::parse(text) {
        Ok(_) => Failure::general(format!("no such resource in the current state: {text}")),
        Err(_) => Failure::general(format!("`{text}` is not the URN of a resource")),
    };
    let mut failure = failure;
    let suggestions = similar_urns(resources, text);
    if !suggestions.is_empty() {
        failure.details.push("did you mean:".to_owned());
        failure.details.extend(suggestions.into_iter().map(|urn| format!("  {urn}")));
    }
    failure.hint("`drystone state ls` lists the URNs; put them in single quotes for the shell")
}

/// The three URNs that are nearest to a text: those whose name it is, then those that differ in few letters.
fn similar_urns<'a>(resources: impl Iterator<Item = &'a Resource>, text: &str) -> Vec<&'a Urn> {
    const SHOWN: usize = 3;
    let wanted = text.to_lowercase();
    let typed = Urn::new(text);
    let name = if typed.name().is_empty() { text } else { typed.name() };
    let limit = (name.chars().count() / 4).max(2);
    let mut seen = HashSet::new();
    let mut near: Vec<(usize, &Urn)> = resources
        .map(|resource| &resource.urn)
        .filter(|urn| seen.insert(*urn))
        .filter_map(|urn| {
            let is_name = urn.name().eq_ignore_ascii_case(text);
            let distance =
                if is_name { Some(0) } else { distance(&wanted, &urn.as_str().to_lowercase(), limit) };
            distance.map(|distance| (distance, urn))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(SHOWN).map(|(_, urn)| urn).collect()
}

/// How many letters must be changed, added or taken away to turn one text into the other, if at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, right) in b.iter().enumerate() {
            let changed = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
        if row.iter().min().is_none_or(|&least| least > limit) {
            return None;
        }
    }
    row.last().copied().filter(|&distance| distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_differ_are_counted() {
        assert_eq!(distance("kitten", "sitting", 3), Some(3));
        assert_eq!(distance("kitten", "sitting", 2), None);
        assert_eq!(distance("", "ab", 2), Some(2));
        assert_eq!(distance("abc", "abc", 0), Some(0));
    }

    #[test]
    fn a_bare_name_finds_its_urn() {
        let resource =
            |name| Resource { urn: Urn::build("dev", "shop", "", "a:b:C", name), ..Resource::default() };
        let resources = [resource("web"), resource("database"), resource("databases")];
        let urns = |text| similar_urns(resources.iter(), text).into_iter().map(Urn::name).collect::<Vec<_>>();
        assert_eq!(urns("Database"), ["database"]);
        assert_eq!(urns("urn:pulumi:dev::shop::a:b:C::databas"), ["database", "databases"]);
        assert!(urns("nothing like it").is_empty());
    }
}
