//! The package `drystone` in whole programs: the quick start, disks that take nothing more, a key pressed while a
//! command runs, and a plugin of the same name.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod harness;
mod programs;

use harness::Sandbox;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const QUICKSTART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/quickstart");

/// A sandbox with a YAML program, the stack `dev`, and a folder for plugins on its PATH.
fn yaml(program: &str) -> Sandbox {
    let mut sandbox = Sandbox::new();
    let bin = sandbox.state().join("bin");
    fs::create_dir(&bin).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    sandbox.set("PATH", &format!("{}:{path}", bin.display()));
    sandbox.write("Pulumi.yaml", program);
    sandbox.ok(&["stack", "init", "dev"]);
    sandbox
}

fn outputs(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.ok(&["stack", "output", "--json", "--show-secrets"])).unwrap()
}

fn changes(sandbox: &Sandbox) -> Value {
    programs::history(sandbox)[0]["resourceChanges"].clone()
}

#[test]
fn the_quick_start_lives_from_up_to_destroy() {
    let sandbox = yaml(&fs::read_to_string(format!("{QUICKSTART}/Pulumi.yaml")).unwrap());
    fs::create_dir(sandbox.project().join("site")).unwrap();
    sandbox.write(
        "site/PulumiPlugin.yaml",
        &fs::read_to_string(format!("{QUICKSTART}/site/PulumiPlugin.yaml")).unwrap(),
    );

    let up = sandbox.drystone(&["up", "--yes"]);
    assert_eq!(up.code, 0, "{up:#?}");
    let first = outputs(&sandbox);
    let (name, page) = (first["name"].as_str().unwrap(), first["page"].as_str().unwrap());
    assert_eq!(page, format!("public/{name}/index.html"));
    assert!(sandbox.read(page).contains("<h1>Hello from Drystone</h1>"));
    assert_eq!(first["bytes"], sandbox.read(page).len().to_string());
    let password = first["password"].as_str().unwrap();
    assert_eq!(sandbox.read(&format!("public/{name}/.credentials")), format!("admin:{password}"));
    let state = fs::read_to_string(sandbox.state().join(".pulumi/stacks/quickstart/dev.json")).unwrap();
    assert!(!up.stdout.contains(password) && !state.contains(password), "{up:#?}");

    sandbox.ok(&["up", "--yes", "--skip-preview", "--expect-no-changes"]);
    sandbox.ok(&["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);

    sandbox.write(page, "drift");
    sandbox.ok(&["refresh", "--yes", "--skip-preview"]);
    sandbox.ok(&["up", "--yes", "--skip-preview"]);
    assert_eq!(changes(&sandbox), json!({ "same": 8, "update": 1 }));
    assert!(sandbox.read(page).contains("<h1>"));

    sandbox.ok(&["config", "set", "release", "2"]);
    sandbox.ok(&["up", "--yes"]);
    let second = outputs(&sandbox);
    assert_ne!(second["name"], first["name"]);
    assert_eq!(second["password"], first["password"]);
    assert!(!sandbox.project().join(page).exists());

    sandbox.ok(&["destroy", "--yes"]);
    assert!(!sandbox.project().join("site.zip").exists());
    assert!(!sandbox.project().join(second["page"].as_str().unwrap()).exists());
}

#[test]
fn a_misspelt_property_is_named_before_anything_is_made() {
    let sandbox = yaml(
        "name: shop\nruntime: yaml\nresources:\n  a: { type: drystone:local:File, properties: { filename: a, contnet: b } }\n",
    );
    let up = sandbox.drystone(&["up", "--yes", "--skip-preview"]);
    assert_eq!(up.code, 4, "{up:#?}");
    assert!(up.stdout.contains("contnet"), "{up:#?}");
    assert!(!sandbox.project().join("a").exists());
}

#[test]
fn what_exists_is_imported_and_the_code_for_it_shows_no_change() {
    let sandbox = yaml("name: shop\nruntime: yaml\n");
    sandbox.write("a.txt", "there\n");
    let mut code = "name: shop\nruntime: yaml\n".to_owned();
    let mut separate = String::new();
    for (kind, name, id) in [
        ("local:File", "file", "a.txt"),
        ("random:Pet", "pet", "brave-otter"),
        ("random:RandomPassword", "password", "Hush1~hush"),
        ("random:RandomInteger", "integer", "7,1,9"),
        ("time:Rotating", "rotating", "2099-01-01T00:00:00Z,0,0,30,0,0"),
    ] {
        let token = format!("drystone:{kind}");
        let import =
            sandbox.drystone(&["import", &token, name, id, "--yes", "--skip-preview", "--protect=false"]);
        assert_eq!(import.code, 0, "{import:#?}");
        let (_, resource) = import.stdout.split_once("resources:\n").unwrap_or_else(|| panic!("{import:#?}"));
        separate.push_str(resource);
    }
    code.push_str("resources:\n");
    code.push_str(&separate);
    sandbox.write("Pulumi.yaml", &code);
    let preview = sandbox.drystone(&["preview", "--expect-no-changes"]);
    assert_eq!(preview.code, 0, "{code}\n{preview:#?}");
}

#[test]
fn programs_read_invoke_and_name_the_provider() {
    let sandbox = yaml(
        r#"
name: shop
runtime: yaml
resources:
  own: { type: "pulumi:providers:drystone" }
  pet: { type: drystone:random:Pet, options: { provider: "${own}" } }
  text: { type: drystone:random:RandomString, properties: { length: 5 }, options: { version: 0.1.0 } }
  there: { type: drystone:local:File, get: { id: there.txt } }
variables:
  ran: { fn::invoke: { function: drystone:command:run, arguments: { command: { fn::secret: echo sesame } } } }
outputs: { pet: "${pet.id}", text: "${text.result}", there: "${there.content}", ran: "${ran.stdout}" }
"#,
    );
    sandbox.write("there.txt", "there");
    let up = sandbox.drystone(&["up", "--yes"]);
    assert_eq!(up.code, 0, "{up:#?}");
    assert!(!up.stdout.contains("sesame") && !up.stderr.contains("sesame"), "{up:#?}");
    let outputs = outputs(&sandbox);
    assert_eq!((&outputs["there"], &outputs["ran"]), (&json!("there"), &json!("sesame")));
    assert_eq!(outputs["pet"].as_str().unwrap().split('-').count(), 2);
    sandbox.ok(&["up", "--yes", "--skip-preview", "--expect-no-changes"]);
    sandbox.ok(&["refresh", "--yes", "--skip-preview", "--expect-no-changes"]);
    sandbox.ok(&["destroy", "--yes", "--skip-preview"]);
    assert_eq!(sandbox.read("there.txt"), "there");
}

#[test]
fn a_plugin_of_the_same_name_goes_first() {
    let sandbox = yaml("name: shop\nruntime: yaml\nresources:\n  a: { type: drystone:random:Pet }\n");
    let plugin = sandbox.state().join("bin/pulumi-resource-drystone");
    fs::write(&plugin, "#!/bin/sh\necho the other one >&2\nexit 3\n").unwrap();
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).unwrap();
    let up = sandbox.drystone(&["up", "--yes", "--skip-preview"]);
    assert_ne!(up.code, 0, "{up:#?}");
    fs::remove_file(plugin).unwrap();
    sandbox.ok(&["up", "--yes", "--skip-preview"]);
}

#[test]
fn a_key_pressed_ends_a_command_with_all_that_it_started() {
    let sandbox = yaml(
        "name: shop\nruntime: yaml\nresources:\n  a:\n    type: drystone:command:Command\n    properties:\n      \
         create: sleep 600 & echo $! > child; wait\n",
    );
    let drystone = Path::new(env!("CARGO_BIN_EXE_drystone"));
    let mut up = sandbox.command(drystone, &["up", "--yes", "--skip-preview"]);
    let up = up.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let child = loop {
        assert!(Instant::now() < deadline, "the command did not start");
        match fs::read_to_string(sandbox.project().join("child")) {
            Ok(child) if child.ends_with('\n') => break child.trim().to_owned(),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert!(Command::new("kill").args(["-INT", &up.id().to_string()]).status().unwrap().success());
    let ended = up.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(!ended.status.success() && told.contains("the command was cancelled"), "{told}");
    let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    let state = sandbox.ok(&["stack", "export"]);
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["deployment"]["pending_operations"].as_array().unwrap().len(), 1, "{state}");
}

#[test]
#[ignore = "needs Linux's mount name spaces: run by cargo xtask test"]
fn a_disk_that_takes_nothing_leaves_what_was_there() {
    let program = |text: &str| {
        format!(
            "name: shop\nruntime: yaml\nresources:\n  a:\n    type: drystone:local:File\n    properties: {{ filename: disk/a, content: \"{text}\" }}\n"
        )
    };
    let sandbox = yaml(&program("first"));
    fs::create_dir(sandbox.project().join("disk")).unwrap();
    sandbox.write("long", &program(&"x".repeat(200_000)));
    let script = r#"
        mount -t tmpfs -o size=128k tmpfs disk
        "$DRYSTONE" up --yes --skip-preview >/dev/null
        cp Pulumi.yaml short
        cp long Pulumi.yaml
        code=0; "$DRYSTONE" up --yes --skip-preview 2>&1 || code=$?
        echo "full $code: $(cat disk/a) $(ls -A disk | wc -l)"
        sed s/first/second/ short > Pulumi.yaml
        mount -o remount,ro disk
        code=0; "$DRYSTONE" up --yes --skip-preview 2>&1 || code=$?
        echo "read-only $code: $(cat disk/a)"
        mount -o remount,rw disk
        "$DRYSTONE" up --yes --skip-preview >/dev/null
        echo "mended: $(cat disk/a)"
    "#;
    let arguments = ["--user", "--map-root-user", "--mount", "sh", "-euc", script];
    let mut command = sandbox.command("unshare".as_ref(), &arguments);
    let output = command.env("DRYSTONE", env!("CARGO_BIN_EXE_drystone")).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    for says in [
        "No space left on device",
        "full 4: first 1",
        "Read-only file system",
        "read-only 4: first",
        "mended: second",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
}
