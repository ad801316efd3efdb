//! A case: programs, changes of the surroundings, and the commands that both CLIs are given, in order.

use serde_json::{Value, json};

/// The language of a case's programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Run by `pulumi-language-yaml`.
    Yaml,
    /// JavaScript given inline through the Automation API.
    Node,
    /// Python given inline through the Automation API.
    Python,
}

/// The implementation of the provider `ledger`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ledger {
    Go,
    Node,
    Python,
}

/// The SDK of a policy pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pack {
    Node,
    Python,
}

/// How a command must end, with either CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Success,
    Failure,
}

/// One thing that happens in a case.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// The program is replaced.
    Program(String),
    /// Another stack's program is put into a folder of its own and brought up as that stack.
    OtherStack { stack: &'static str, program: String },
    /// A value of the configuration is set.
    Config { key: String, value: String, secret: bool },
    /// An object of the world is changed behind the engine's back.
    Tamper { id: String, key: String, value: Value },
    /// An object of the world vanishes.
    Vanish { id: String },
    /// An object comes into the world that no program made.
    Appear { id: String, inputs: Value },
    /// The stored state gets these resources and pending operations in the place of its own.
    Store { resources: Value, pending: Value },
    /// A file is written beside the program.
    File { name: &'static str, text: String },
    /// What only ours adds to the plan is taken out of it.
    Unseal,
    /// Previews and updates are held to a policy pack from now on.
    PolicyPack(Pack),
    /// The policy pack has these settings from now on.
    PolicySettings(Value),
    /// A variable is set for the next command.
    Variable { name: String, value: String },
    /// A command is run, and what it left is compared.
    Run { arguments: Vec<String>, ending: Ending },
}

/// Programs and commands to be run by both CLIs.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) language: Language,
    pub(crate) ledger: Ledger,
    pub(crate) steps: Vec<Step>,
}

/// The plan of a case, in the project's folder.
pub(crate) const PLAN: &str = "plan.json";

/// Lets ours take plans that it cannot tell the origin of.
const UNSEALED: &str = "DRYSTONE_UNSEALED_PLANS";

/// The resource of type Item that has a name and no parent but the stack.
pub(crate) fn item(name: &str) -> String {
    format!("urn:pulumi:dev::shop::ledger:index:Item::{name}")
}

/// A YAML program of Items, each written as `name | properties | options`.
pub(crate) fn items(list: &[&str]) -> String {
    let mut program = "resources:\n".to_owned();
    for line in list {
        let mut parts = line.split('|').map(str::trim);
        let mut part = || parts.next().unwrap_or_default();
        let (name, properties, options) = (part(), part(), part());
        program.push_str(&format!(
            "  {name}: {{ type: ledger:Item, properties: {{ {properties} }}, options: {{ {options} }} }}\n"
        ));
    }
    program
}

/// A case that starts with a YAML program of Items.
pub(crate) fn of_items(list: &[&str]) -> Case {
    yaml(&items(list))
}

/// A case that starts with a YAML program, without its name and runtime.
pub(crate) fn yaml(program: &str) -> Case {
    Case::new(Language::Yaml, program)
}

/// A case that starts with the body of an asynchronous JavaScript function; `pulumi` and `ledger` are at hand, and what
/// it returns are the stack's outputs.
pub(crate) fn node(program: &str) -> Case {
    Case::new(Language::Node, program)
}

/// A case that starts with the body of a Python function; `pulumi` and `ledger` are at hand.
pub(crate) fn python(program: &str) -> Case {
    Case::new(Language::Python, program)
}

impl Case {
    fn new(language: Language, program: &str) -> Self {
        Self { language, ledger: Ledger::Go, steps: vec![Step::Program(program.to_owned())] }
    }

    fn with(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Another implementation of the provider.
    pub(crate) fn ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = ledger;
        self
    }

    /// Replaces the program.
    pub(crate) fn program(self, program: &str) -> Self {
        self.with(Step::Program(program.to_owned()))
    }

    /// Replaces the program by one of Items.
    pub(crate) fn items(self, list: &[&str]) -> Self {
        self.program(&items(list))
    }

    /// Brings up another stack of the project `other`.
    pub(crate) fn other_stack(self, stack: &'static str, program: &str) -> Self {
        self.with(Step::OtherStack { stack, program: program.to_owned() })
    }

    /// Sets a value of the configuration.
    pub(crate) fn config(self, key: &str, value: &str) -> Self {
        self.with(Step::Config { key: key.to_owned(), value: value.to_owned(), secret: false })
    }

    /// Sets a secret value of the configuration.
    pub(crate) fn secret_config(self, key: &str, value: &str) -> Self {
        self.with(Step::Config { key: key.to_owned(), value: value.to_owned(), secret: true })
    }

    /// Changes an input of an object of the world.
    pub(crate) fn tamper(self, id: &str, key: &str, value: Value) -> Self {
        self.with(Step::Tamper { id: id.to_owned(), key: key.to_owned(), value })
    }

    /// Takes an object out of the world.
    pub(crate) fn vanish(self, id: &str) -> Self {
        self.with(Step::Vanish { id: id.to_owned() })
    }

    /// Puts an object into the world.
    pub(crate) fn appear(self, id: &str, inputs: Value) -> Self {
        self.with(Step::Appear { id: id.to_owned(), inputs })
    }

    /// Replaces the state by one in which the creation of the Item `a` was begun and nobody knows what became of it.
    pub(crate) fn lost_creation(self) -> Self {
        let stack = "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev";
        let (provider, id) = (
            "urn:pulumi:dev::shop::pulumi:providers:ledger::default",
            "0a1b2c3d-0000-4000-8000-000000000001",
        );
        let resources = json!([
            { "urn": stack, "custom": false, "type": "pulumi:pulumi:Stack" },
            { "urn": provider, "custom": true, "id": id, "type": "pulumi:providers:ledger" },
        ]);
        let begun = json!({
            "urn": item("a"), "custom": true, "type": "ledger:index:Item", "inputs": { "name": "a" },
            "parent": stack, "provider": format!("{provider}::{id}"),
        });
        let pending = json!([{ "resource": begun, "type": "creating" }]);
        self.with(Step::Store { resources, pending })
    }

    /// Writes a file beside the program.
    pub(crate) fn file(self, name: &'static str, text: &impl ToString) -> Self {
        self.with(Step::File { name, text: text.to_string() })
    }

    /// Holds previews and updates to a policy pack from now on.
    pub(crate) fn policy_pack(self, pack: Pack) -> Self {
        self.with(Step::PolicyPack(pack))
    }

    /// Gives the policy pack settings from now on.
    pub(crate) fn policy_settings(self, settings: &Value) -> Self {
        self.with(Step::PolicySettings(settings.clone()))
    }

    /// Sets a variable for the next command.
    pub(crate) fn variable(self, name: &str, value: &str) -> Self {
        self.with(Step::Variable { name: name.to_owned(), value: value.to_owned() })
    }

    /// Saves a plan of what an update would do, as the stock CLI knows plans.
    pub(crate) fn plan(self) -> Self {
        self.plan_with(&[])
    }

    /// The same with more options.
    pub(crate) fn plan_with(self, options: &[&str]) -> Self {
        self.run(&[&["preview", "--save-plan", PLAN], options].concat()).with(Step::Unseal)
    }

    /// Runs `up`, held to the plan.
    pub(crate) fn up_planned(self) -> Self {
        self.up_planned_with(&[])
    }

    /// The same with more options.
    pub(crate) fn up_planned_with(self, options: &[&str]) -> Self {
        self.variable(UNSEALED, "true").run(&[&["up", "--plan", PLAN], options].concat())
    }

    /// Runs `up`, which the plan must stop.
    pub(crate) fn up_stopped(self) -> Self {
        self.variable(UNSEALED, "true").fails(&["up", "--plan", PLAN])
    }

    /// Runs a command that must succeed.
    pub(crate) fn run(self, arguments: &[&str]) -> Self {
        self.ending(arguments, Ending::Success)
    }

    /// Runs a command that must fail.
    pub(crate) fn fails(self, arguments: &[&str]) -> Self {
        self.ending(arguments, Ending::Failure)
    }

    fn ending(self, arguments: &[&str], ending: Ending) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        self.with(Step::Run { arguments, ending })
    }

    /// Runs `up`.
    pub(crate) fn up(self) -> Self {
        self.run(&["up"])
    }

    /// Runs `up`, which must fail.
    pub(crate) fn up_fails(self) -> Self {
        self.fails(&["up"])
    }

    /// Runs `preview`.
    pub(crate) fn preview(self) -> Self {
        self.run(&["preview"])
    }

    /// Runs `preview`, which must fail.
    pub(crate) fn preview_fails(self) -> Self {
        self.fails(&["preview"])
    }

    /// Runs `refresh`.
    pub(crate) fn refresh(self) -> Self {
        self.run(&["refresh"])
    }

    /// Runs `destroy`.
    pub(crate) fn destroy(self) -> Self {
        self.run(&["destroy"])
    }

    /// Runs `destroy`, which must fail.
    pub(crate) fn destroy_fails(self) -> Self {
        self.fails(&["destroy"])
    }
}
