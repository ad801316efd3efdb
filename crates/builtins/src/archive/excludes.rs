//! Paths that are left out.

/// Patterns of paths: `*` and `?` stand for characters within a name, `**` for any folders.
#[derive(Debug, Clone, Default)]
pub(super) struct Excludes(Vec<Vec<String>>);

impl Excludes {
    pub(super) fn new(patterns: &[String]) -> Self {
        let names = |pattern: &String| {
            let names = pattern.split('/').filter(|name| !name.is_empty() && *name != ".");
            names.map(str::to_owned).collect()
        };
        Self(patterns.iter().map(names).collect())
    }

    /// Whether a path, relative to the folder, is left out.
    pub(super) fn leave_out(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').collect();
        self.0.iter().any(|pattern| !pattern.is_empty() && matches_path(pattern, &names))
    }
}

/// Goes through the names once for every part of the pattern, so that no pattern takes for ever.
fn matches_path(pattern: &[String], names: &[&str]) -> bool {
    // Whether the pattern so far matches the first names, by how many they are.
    let mut matched = vec![false; names.len() + 1];
    matched[0] = true;
    for part in pattern {
        let mut next = vec![false; names.len() + 1];
        for index in 0..=names.len() {
            next[index] = match part.as_str() {
                "**" => matched[index] || (index > 0 && next[index - 1]),
                _ => index > 0 && matched[index - 1] && matches_name(part, names[index - 1]),
            };
        }
        matched = next;
    }
    matched[names.len()]
}

fn matches_name(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Where the last star is, and what it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((from, taken)) => {
                    star = Some((from, taken + 1));
                    (at, read) = (from + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::Excludes;

    #[test]
    fn patterns_leave_out_what_they_name() {
        for (pattern, path, left_out) in [
            ("a.txt", "a.txt", true),
            ("./a.txt", "a.txt", true),
            ("a.txt", "b/a.txt", false),
            ("**/a.txt", "b/c/a.txt", true),
            ("**/a.txt", "a.txt", true),
            ("*.log", "x.log", true),
            ("*.log", "b/x.log", false),
            ("b/**", "b/c/d", true),
            ("b/**", "bc", false),
            ("b/*/d", "b/c/d", true),
            ("b/*/d", "b/c/e/d", false),
            ("?a*b*c", "xaabbcc", true),
            ("?a*b*c", "xaabbcd", false),
            ("", "a", false),
        ] {
            let excludes = Excludes::new(&[pattern.to_owned()]);
            assert_eq!(excludes.leave_out(path), left_out, "{pattern} {path}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let excludes = Excludes::new(&["*a".repeat(500), "**/".repeat(500) + "b"]);
        assert!(!excludes.leave_out(&"a/".repeat(200)));
        assert!(!excludes.leave_out(&("a".repeat(2000) + "c")));
    }
}
