//! Finding the name that was meant.

/// How far two words are from each other: a letter that is missing, too much, another or swapped with its neighbour
/// counts two, one that only differs in case one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).map(|at| at * 2).collect()];
    for (i, left) in a.iter().enumerate() {
        let mut row = vec![(i + 1) * 2];
        for (j, right) in b.iter().enumerate() {
            let differ = match () {
                () if left == right => 0,
                () if left.eq_ignore_ascii_case(right) => 1,
                () => 2,
            };
            let mut best = (rows[i][j] + differ).min(rows[i][j + 1] + 2).min(row[j] + 2);
            if i > 0 && j > 0 && *left == b[j - 1] && a[i - 1] == *right {
                best = best.min(rows[i - 1][j - 1] + 2);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
    let length = word.chars().count();
    let limit = (length / 3).max(1) * 2;
    // A name of another length is as far as that at least.
    let near = names.into_iter().filter(|name| name.chars().count().abs_diff(length) * 2 <= limit);
    let best = nearest(word, near).into_iter().next()?;
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
            "the properties are `bucket`, `name`, `role`, `bucketPolicy`"
        );
        assert_eq!(hint("x", "properties", []), "there are no properties");
    }
}
