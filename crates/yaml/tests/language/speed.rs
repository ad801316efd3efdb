//! How long a large program takes.

use crate::stack::Stack;
use std::fmt::Write as _;
use std::time::Instant;

/// A program of so many resources, each with a few values and a text with values in it; every tenth starts a chain.
fn program(count: usize) -> String {
    let mut program = "variables: { region: eu-west-1 }\nresources:\n".to_owned();
    for at in 0..count {
        let text = if at % 10 == 0 { "start".to_owned() } else { format!("after ${{r{}.id}}", at - 1) };
        let _ = write!(
            program,
            "  r{at}:\n    type: shelf:Thing\n    properties:\n      text: {text} in ${{region}}\n      count: {at}\n      \
             tags: {{ name: r{at}, stack: '${{pulumi.stack}}' }}\n      value: {{ list: [a, b, {{ c: d }}], flag: true }}\n"
        );
    }
    program
}

/// Prints what reading, checking and evaluating 5,000 resources takes beyond what the engine takes: run it with
/// `cargo test --release -p drystone-yaml --test language speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn five_thousand_resources() {
    let program = program(5000);
    let mut stack = Stack::new(&program);
    let start = Instant::now();
    stack.preview().ok();
    println!("preview of 5,000 resources: {:?} of wall time", start.elapsed());
}

#[test]
fn a_thousand_resources_are_previewed() {
    let mut stack = Stack::new(&program(1000));
    stack.preview().ok();
}
