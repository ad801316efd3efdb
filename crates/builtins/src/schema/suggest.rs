//! What somebody may have meant.

/// The name that is nearest to a misspelt one, if one is near enough. Case and separators count for nothing:
/// `file_permission` means `filePermission`.
pub(crate) fn suggestion<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| -> String {
        name.chars()
            .filter(|letter| !matches!(letter, '_' | '-' | ' '))
            .flat_map(char::to_lowercase)
            .collect()
    };
    // A hostile name of megabytes is not worth the comparison.
    if written.len() > 200 {
        return None;
    }
    let wanted = plain(written);
    let furthest = (wanted.chars().count() / 3).max(1);
    let distance = |name: &'a str| (strsim::damerau_levenshtein(&wanted, &plain(name)), name);
    let (distance, name) = names.map(distance).min()?;
    (distance <= furthest).then_some(name)
}

/// `; did you mean ...?`, or nothing.
pub(crate) fn did_you_mean<'a>(written: &str, names: impl Iterator<Item = &'a str>) -> String {
    suggestion(written, names).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
