//! Programs in YAML on a machine that has no language plugin, and the plugin where it is asked for.

mod harness;

use harness::{Ended, Sandbox};

const PROGRAM: &str = "name: shop
runtime: yaml
config:
  greeting: { type: string, default: hello }
resources:
  kept: { type: 'pulumi:index:Stash', properties: { input: { text: '${greeting} ${pulumi.stack}' } } }
  after: { type: 'pulumi:index:Stash', properties: { input: ['${kept.output.text}', { 'fn::secret': hush }] } }
outputs:
  text: ${kept.output.text}
  hidden: ${after.output}
";

/// A stack whose program is in YAML, where nothing is on the PATH.
fn sandbox(program: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.set("PULUMI_CONFIG_PASSPHRASE", "correct horse");
    sandbox.set("PATH", "/nowhere");
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox.write("Pulumi.yaml", program);
    sandbox
}

fn up(sandbox: &Sandbox) -> Ended {
    sandbox.drystone(&["up", "--yes", "--skip-preview", "--stack", "dev"])
}

#[test]
fn a_program_needs_no_plugin() {
    let sandbox = sandbox(PROGRAM);
    let preview = sandbox.drystone(&["preview", "--stack", "dev"]);
    assert_eq!(preview.code, 0, "{preview:#?}");
    let ended = up(&sandbox);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(sandbox.ok(&["stack", "output", "text", "--stack", "dev"]).trim(), "hello dev");
    let outputs = sandbox.ok(&["stack", "output", "--json", "--stack", "dev"]);
    assert!(!outputs.contains("hush"), "{outputs}");
    let destroyed = sandbox.drystone(&["destroy", "--yes", "--skip-preview", "--stack", "dev"]);
    assert_eq!(destroyed.code, 0, "{destroyed:#?}");
    let installed = sandbox.drystone(&["install"]);
    assert_eq!(installed.code, 0, "{installed:#?}");
}

#[test]
fn a_component_needs_no_plugin() {
    let sandbox = sandbox(
        "name: shop
runtime: yaml
packages: { parts: ./parts }
resources:
  one: { type: parts:Pair, properties: { label: l } }
  two: { type: parts:Pair, properties: { label: '${one.both}' } }
outputs: { both: '${two.both}' }
",
    );
    std::fs::create_dir(sandbox.project().join("parts")).unwrap();
    sandbox.write(
        "parts/PulumiPlugin.yaml",
        "name: parts
runtime: yaml
components:
  Pair:
    inputs: { label: { type: string } }
    resources:
      left: { type: 'pulumi:index:Stash', properties: { input: '${label}' } }
      right: { type: 'pulumi:index:Stash', properties: { input: '<${left.output}>' } }
    outputs: { both: '${left.output}${right.output}' }
",
    );
    let ended = up(&sandbox);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert_eq!(sandbox.ok(&["stack", "output", "both", "--stack", "dev"]).trim(), "l<l><l<l>>");
    let urns = sandbox.ok(&["stack", "--show-urns", "--stack", "dev"]);
    assert!(urns.contains("parts:index:Pair$pulumi:index:Stash::one-left"), "{urns}");
}

#[test]
fn what_is_wrong_is_shown_where_it_stands() {
    let sandbox = sandbox(&PROGRAM.replace("${kept.output.text}'", "${kpt.output.text}'"));
    let ended = up(&sandbox);
    assert_ne!(ended.code, 0);
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(said.contains("Pulumi.yaml:7:"), "{said}");
    assert!(said.contains("did you mean `kept`?"), "{said}");
    assert_eq!(sandbox.ok(&["stack", "output", "--json", "--stack", "dev"]).trim(), "{}");
}

#[test]
fn a_plugin_that_is_asked_for_runs_the_program() {
    let mut sandbox =
        sandbox(&format!("{PROGRAM}plugins: {{ languages: [{{ name: yaml, path: ./host }}] }}\n"));
    std::fs::create_dir(sandbox.project().join("host")).unwrap();
    let ended = up(&sandbox);
    assert_ne!(ended.code, 0, "there is no plugin in that folder: {ended:#?}");
    sandbox.write("Pulumi.yaml", PROGRAM);
    sandbox.set("PULUMI_DEBUG_LANGUAGES", "yaml:1");
    let ended = up(&sandbox);
    assert_ne!(ended.code, 0, "nobody listens on that port: {ended:#?}");
    sandbox.unset("PULUMI_DEBUG_LANGUAGES");
    assert_eq!(up(&sandbox).code, 0);
}
