//! The exit codes that the reference lists are those that there are.

use std::collections::BTreeMap;

const SOURCE: &str = include_str!("../src/report.rs");
const REFERENCE: &str = include_str!("../../../docs/reference/exit-codes.md");

#[test]
fn the_reference_lists_exactly_the_exit_codes() {
    let (_, rest) = SOURCE.split_once("enum ExitCode {").expect("the enum");
    let (body, _) = rest.split_once("\n}").expect("its end");
    let defined: BTreeMap<u8, String> = body
        .lines()
        .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = "))
        .map(|(name, code)| (code.parse().expect("a code"), name.to_owned()))
        .collect();
    let listed: BTreeMap<u8, String> = REFERENCE
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
        .filter_map(|(code, rest)| {
            Some((code.trim().parse().ok()?, rest.split(' ').next()?.trim_matches('`').to_owned()))
        })
        .filter(|(code, _)| *code != 0)
        .collect();
    assert!(defined.len() > 5, "{defined:?}");
    assert_eq!(listed, defined);
}
