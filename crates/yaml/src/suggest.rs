//! Finding the name that was meant.

/// How many edits turn one word into the other; letters that only differ in case count as half of one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).map(|at| at * 2).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = (i + 1) * 2;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal
                + match () {
                    () if left == right => 0,
                    () if left.eq_ignore_ascii_case(right) => 1,
                    () => 2,
                };
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 2).min(diagonal + 2);
        }
    }
    row[b.len()]
}

/// The names that are nearest to a word, nearest first.
pub(crate) fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // Words that nobody typed by mistake are not worth the time.
    let word: String = word.chars().take(100).collect();
    let mut ranked: Vec<(usize, &str)> =
        names.into_iter().map(|name| (distance(&word, name), name)).collect();
    ranked.sort();
    ranked.dedup();
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// The name that was most likely meant, if one is near enough.
pub(crate) fn meant<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = nearest(word, names).into_iter().next()?;
    let limit = (word.chars().count() / 3).max(1) * 2;
    (distance(word, best) <= limit).then_some(best)
}

/// A sentence that says what was most likely meant, or which names there are.
pub(crate) fn hint<'a>(word: &str, what: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(best) = meant(word, names.clone()) {
        return format!("did you mean `{best}`?");
    }
    let nearest = nearest(word, names);
    match nearest.len() {
        0 => format!("there are no {what}"),
        count => {
            let shown: Vec<String> = nearest.iter().take(5).map(|name| format!("`{name}`")).collect();
            let more = if count > 5 { format!(" and {} more", count - 5) } else { String::new() };
            format!("the {what} are {}{more}", shown.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{hint, meant};

    const NAMES: [&str; 4] = ["bucket", "bucketPolicy", "role", "name"];

    #[test]
    fn a_misspelt_name_is_recognised() {
        for (word, expected) in [
            ("bucekt", Some("bucket")),
            ("Bucket", Some("bucket")),
            ("bucketpolicy", Some("bucketPolicy")),
            ("rle", Some("role")),
            ("completelyOther", None),
            ("", None),
        ] {
            assert_eq!(meant(word, NAMES), expected, "{word}");
        }
        assert_eq!(meant("x", []), None);
    }

    #[test]
    fn a_hint_names_what_there_is() {
        assert_eq!(hint("naem", "properties", NAMES), "did you mean `name`?");
        assert_eq!(
            hint("zzzzzzzzzz", "properties", NAMES),
            "the properties are `bucket`, `bucketPolicy`, `name`, `role`"
        );
        assert_eq!(hint("x", "properties", []), "there are no properties");
    }
}
