//! Components in YAML that a program in another language has constructed.

use crate::stack::Stack;
use async_trait::async_trait;
use drystone_engine::{Monitor, Program, ProgramError, RegisterRequest};
use drystone_model::StackFrame;

const PARTS: &str = "name: parts
runtime: yaml
components:
  Pair:
    inputs: { label: { type: string } }
    resources:
      left: { type: shelf:Thing, properties: { text: '${label}' } }
      looked: { type: shelf:Thing, get: { id: there } }
";

/// Registers one component, with the place in the program that it comes from.
struct Traced;

fn frame() -> StackFrame {
    StackFrame { source_position: "project:///index.ts#3,7".to_owned(), ..StackFrame::default() }
}

#[async_trait]
impl Program for Traced {
    async fn run(&self, monitor: Monitor) -> Result<(), ProgramError> {
        let stack = RegisterRequest {
            type_token: "pulumi:pulumi:Stack".to_owned(),
            name: "shop-dev".to_owned(),
            ..RegisterRequest::default()
        };
        let stack = monitor.register(stack).await.map_err(|error| ProgramError::Failed(error.message))?;
        let pair = RegisterRequest {
            type_token: "parts:index:Pair".to_owned(),
            name: "pair".to_owned(),
            remote: true,
            parent: stack.urn,
            properties: [("label".to_owned(), "l".into())].into(),
            stack_trace: vec![frame()],
            ..RegisterRequest::default()
        };
        monitor.register(pair).await.map_err(|error| ProgramError::Failed(error.message))?;
        Ok(())
    }
}

#[test]
fn what_a_component_registers_has_the_trace_that_led_to_it() {
    let mut stack = Stack::new("");
    stack.file("parts/PulumiPlugin.yaml", PARTS);
    stack.up_with(Traced).ok();
    assert_eq!(stack.names(), ["pair", "pair-left", "pair-looked"]);
    for name in ["pair", "pair-left", "pair-looked"] {
        assert_eq!(stack.resource(name).stack_trace, [frame()], "{name}");
    }
}
