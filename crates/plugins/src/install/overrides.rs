//! Other places for plugins than those that packages name: `REGEXP=ADDRESS`, separated by commas.

use super::{InstallError, Release, Source};
use regex::Regex;

/// Where plugins are fetched from instead.
#[derive(Debug, Clone, Default)]
pub struct Overrides(Vec<(Regex, String)>);

impl Overrides {
    /// The overrides in a text; none in an empty one.
    pub fn parse(text: &str) -> Result<Self, InstallError> {
        let wrong = |cause: String| InstallError::Overrides { text: text.to_owned(), cause };
        let pairs = text.split(',').filter(|_| !text.is_empty()).map(|pair| {
            let parts: Vec<&str> = pair.split('=').collect();
            match parts[..] {
                [pattern, address] if !pattern.is_empty() && !address.is_empty() => {
                    let pattern = Regex::new(pattern).map_err(|error| wrong(error.to_string()))?;
                    Ok((pattern, address.to_owned()))
                }
                _ => Err(wrong(format!("`{pair}` is not of the form REGEXP=ADDRESS"))),
            }
        });
        pairs.collect::<Result<_, _>>().map(Self)
    }

    /// Where a plugin is fetched from.
    #[must_use]
    pub fn of(&self, source: Source, release: &Release) -> Source {
        let names = match &source {
            Source::Path(_) => Vec::new(),
            Source::Server(address) => vec![address.clone()],
            // The two places of releases, by the names that the stock CLI has for them.
            Source::Released => vec![
                format!("github://api.github.com/pulumi/pulumi-{}", release.name),
                "https://get.pulumi.com/releases/plugins".to_owned(),
            ],
        };
        names.iter().find_map(|name| self.instead_of(name)).map_or(source, Source::Server)
    }

    /// The address that takes the place of another, with what its pattern captured put in for `$1` and `${name}`.
    fn instead_of(&self, address: &str) -> Option<String> {
        self.0.iter().find_map(|(pattern, instead)| {
            let captured = pattern.captures(address)?;
            let mut result = instead.clone();
            for (number, name) in pattern.capture_names().enumerate() {
                let text = captured.get(number).map_or("", |found| found.as_str());
                result = result.replace(&format!("${number}"), text);
                if let Some(name) = name {
                    result = result.replace(&format!("${{{name}}}"), text);
                }
            }
            Some(result)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Kind;

    fn instead(overrides: &str, source: Source) -> Source {
        let version = semver::Version::new(1, 2, 3);
        let release = Release { kind: Kind::Resource, name: "aws".to_owned(), version };
        Overrides::parse(overrides).unwrap().of(source, &release)
    }

    fn server(address: &str) -> Source {
        Source::Server(address.to_owned())
    }

    #[test]
    fn the_first_pattern_that_fits_decides() {
        let overrides = "^https://one=https://1,^https://o=https://2,^github://=https://3";
        assert_eq!(instead(overrides, server("https://one/x")), server("https://1"));
        assert_eq!(instead(overrides, server("https://other")), server("https://2"));
        assert_eq!(instead(overrides, server("https://x")), server("https://x"));
        assert_eq!(instead(overrides, Source::Released), server("https://3"));
        assert_eq!(instead("^https://get=https://4", Source::Released), server("https://4"));
        assert_eq!(instead("", Source::Released), Source::Released);
        assert_eq!(instead(".=https://5", Source::Path("x".into())), Source::Path("x".into()));
    }

    #[test]
    fn what_a_pattern_captures_is_put_in() {
        let overrides = "^github://[^/]+/(?P<org>[^/]+)/(.+)$=https://mirror/${org}/$2";
        assert_eq!(instead(overrides, Source::Released), server("https://mirror/pulumi/pulumi-aws"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in ["x", "=https://x", "x=", "a=b=c", "(=https://x", "a=b,"] {
            let error = Overrides::parse(wrong).unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
