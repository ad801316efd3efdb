//! How people are told which resource is meant.

use crate::Urn;
use std::fmt;

/// A resource's type and name, as in `aws:ec2:Vpc main`.
///
/// A type whose module repeats its name loses the repetition: `aws:ec2/vpc:Vpc` reads `aws:ec2:Vpc`. A malformed URN
/// is shown whole.
#[derive(Debug, Clone, Copy)]
pub struct ShortName<'a>(pub &'a Urn);

impl fmt::Display for ShortName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(urn) = self;
        if urn.is_empty() {
            return f.write_str("(no URN)");
        }
        if urn.validate().is_err() {
            return f.write_str(urn.as_str());
        }
        let type_token = urn.type_token();
        match without_repetition(type_token) {
            Some((module, name)) => write!(f, "{module}:{name} {}", urn.name()),
            None => write!(f, "{type_token} {}", urn.name()),
        }
    }
}

/// `aws:ec2/vpc:Vpc` as `aws:ec2` and `Vpc`.
fn without_repetition(type_token: &str) -> Option<(&str, &str)> {
    let (module, name) = type_token.rsplit_once(':')?;
    let (module, file) = module.rsplit_once('/')?;
    let mut letters = name.chars();
    let first = letters.next()?;
    let repeated = file.strip_suffix(letters.as_str())?;
    (module.contains(':') && first.to_lowercase().eq(repeated.chars())).then_some((module, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_loses_what_it_repeats() {
        let cases = [
            ("aws:ec2/vpc:Vpc", "aws:ec2:Vpc main"),
            ("aws:ec2/securityGroup:SecurityGroup", "aws:ec2:SecurityGroup main"),
            ("aws:ec2/other:Vpc", "aws:ec2/other:Vpc main"),
            ("random:RandomPet", "random:RandomPet main"),
            ("a/b:B", "a/b:B main"),
            ("plain", "plain main"),
        ];
        for (type_token, expected) in cases {
            let urn = Urn::build("dev", "shop", "p:q:Outer", type_token, "main");
            assert_eq!(ShortName(&urn).to_string(), expected);
        }
    }

    #[test]
    fn what_is_not_a_urn_is_shown_whole() {
        assert_eq!(ShortName(&Urn::new("nonsense")).to_string(), "nonsense");
        assert_eq!(ShortName(&Urn::default()).to_string(), "(no URN)");
    }
}
