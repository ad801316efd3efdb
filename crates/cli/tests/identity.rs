//! `login`, `logout`, `whoami`, `about`, `version` and `completion`.

mod harness;

use harness::{Ended, Sandbox};
use std::path::Path;

fn without_backend(sandbox: &Sandbox, arguments: &[&str]) -> Ended {
    let program = Path::new(env!("CARGO_BIN_EXE_drystone"));
    let output =
        sandbox.command(program, arguments).env_remove("PULUMI_BACKEND_URL").output().expect("it runs");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn url(sandbox: &Sandbox) -> String {
    format!("file://{}", sandbox.state().display())
}

#[test]
fn a_login_lasts_until_the_logout() {
    let sandbox = Sandbox::new();
    let url = url(&sandbox);
    let ended = without_backend(&sandbox, &["whoami"]);
    assert_eq!(ended.code, 3, "{ended:#?}");
    assert!(
        ended.stderr.contains("hint: keep state on this machine with `drystone login --local`"),
        "{ended:#?}"
    );
    let ended = without_backend(&sandbox, &["login"]);
    assert_eq!(ended.code, 3, "{ended:#?}");

    let ended = without_backend(&sandbox, &["login", &url]);
    assert_eq!(ended.code, 0, "{ended:#?}");
    assert!(
        ended.stdout.starts_with("Logged in to ") && ended.stdout.ends_with(&format!(" as ana ({url})\n"))
    );
    assert_eq!(without_backend(&sandbox, &["whoami"]).stdout, "ana\n");
    assert_eq!(without_backend(&sandbox, &["login"]).code, 0, "the current one again");

    assert_eq!(without_backend(&sandbox, &["logout"]).stdout, format!("Logged out of {url}\n"));
    assert_eq!(without_backend(&sandbox, &["whoami"]).code, 3);
    assert_eq!(without_backend(&sandbox, &["logout"]).stdout, "Not logged in to anything\n");
    assert_eq!(without_backend(&sandbox, &["login", "-c", &url]).code, 0);
    assert_eq!(without_backend(&sandbox, &["logout", "--all"]).stdout, "Logged out of everything\n");
    assert_eq!(without_backend(&sandbox, &["whoami"]).code, 3);
}

#[test]
fn logging_in_locally_means_the_home_folder() {
    let sandbox = Sandbox::new();
    let ended = without_backend(&sandbox, &["login", "--local"]);
    assert!(ended.stdout.ends_with("as ana (file://~)\n"), "{ended:#?}");
    assert_eq!(without_backend(&sandbox, &["logout", "--local"]).stdout, "Logged out of file://~\n");
}

#[test]
fn a_login_that_the_environment_overrules_says_so() {
    let sandbox = Sandbox::new();
    let ended = sandbox.drystone(&["login", "--local"]);
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.contains("PULUMI_BACKEND_URL is set"), "{ended:#?}");
    assert_eq!(sandbox.drystone(&["login"]).stderr, "");
}

#[test]
fn a_backend_that_cannot_be_used_does_not_become_the_current_one() {
    let sandbox = Sandbox::new();
    for (url, code, words) in [
        ("s3://bucket?colour=red", 2, "colour"),
        ("ftp://bucket", 2, "`ftp://` backends are not part of this version"),
        ("https://api.pulumi.com", 2, "`https://` backends are not part"),
        ("nonsense", 2, "nonsense"),
        ("file:///nowhere/at/all", 2, "there is no folder `/nowhere/at/all`"),
    ] {
        let ended = without_backend(&sandbox, &["login", url]);
        assert_eq!(ended.code, code, "{ended:#?}");
        assert!(ended.stderr.contains(words), "{ended:#?}");
    }
    assert_eq!(without_backend(&sandbox, &["whoami"]).code, 3);
}

#[test]
fn s17_a_database_that_cannot_be_reached_is_told_without_its_password() {
    let sandbox = Sandbox::new();
    let ended = without_backend(&sandbox, &["login", "postgres://bo:hush@127.0.0.1:1/db?sslmode=disable"]);
    assert_eq!(ended.code, 12, "{ended:#?}");
    assert!(ended.stderr.contains("hint: see that the server can be reached"), "{ended:#?}");
    assert!(!ended.stderr.contains("hush"), "{ended:#?}");
}

#[test]
fn whoami_says_more_when_asked_to() {
    let sandbox = Sandbox::new();
    let url = url(&sandbox);
    let more = format!("User: ana\nOrganizations: \nBackend URL: {url}\nToken type: personal\n");
    assert_eq!(sandbox.ok(&["whoami"]), "ana\n");
    assert_eq!(sandbox.ok(&["whoami", "-v"]), more);
    assert_eq!(sandbox.ok(&["whoami", "--verbose"]), more);
    let json = format!("{{\n  \"user\": \"ana\",\n  \"url\": \"{url}\"\n}}\n");
    for arguments in [&["whoami", "--json"] as &[&str], &["whoami", "-j"], &["whoami", "--output", "json"]] {
        assert_eq!(sandbox.ok(arguments), json);
    }
    assert_eq!(sandbox.ok(&["whoami", "--output=default"]), "ana\n");
}

#[test]
fn about_has_the_stock_members_and_never_fails() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok(&["about", "--json"]);
    let about: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        about.keys().collect::<Vec<_>>(),
        ["plugins", "host", "backend", "currentStack", "cliAbout", "runtime", "dependencies", "errors"]
    );
    assert_eq!(about["backend"]["user"], "ana");
    assert_eq!(about["cliAbout"]["version"], "3.259.0");
    assert!(about["currentStack"].is_null());
    let errors = about["errors"].as_array().expect("errors");
    let told =
        |words: &str| errors.iter().any(|error| error.as_str().is_some_and(|error| error.contains(words)));
    assert!(told("no stack is selected") && told("about the language"), "{text}");
    sandbox.write("Pulumi.yaml", "name: [\n");
    assert_eq!(sandbox.drystone(&["about"]).code, 0);
    assert_eq!(without_backend(&sandbox, &["about", "--output", "json"]).code, 0);
}

#[test]
#[cfg(unix)]
fn under_the_stock_name_the_version_is_one_that_sdks_accept() {
    let sandbox = Sandbox::new();
    let own = format!("v{}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(sandbox.ok(&["version"]), own);
    assert_eq!(sandbox.ok(&["--version"]), own);
    let link = sandbox.project().join("pulumi");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_drystone"), &link).expect("a link");
    for argument in ["version", "--version"] {
        let output = sandbox.command(&link, &[argument]).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "v3.259.0\n");
        assert!(output.stderr.is_empty() && output.status.success());
    }
    let output = sandbox.command(&link, &["gen-completion", "bash"]).output().expect("it runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("_pulumi()"));
}

#[test]
fn completion_scripts_name_the_commands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish"] {
        for command in ["completion", "gen-completion"] {
            assert!(sandbox.ok(&[command, shell]).contains("whoami"), "{command} {shell}");
        }
    }
    let ended = sandbox.drystone(&["gen-completion", "nosh"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("nosh"));
}

#[cfg(unix)]
#[test]
fn who_calls_us_by_the_stock_clis_name_is_answered_in_it() {
    let sandbox = Sandbox::new();
    let pulumi = sandbox.project().join("pulumi");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_drystone"), &pulumi).expect("a link");
    let ended = sandbox.command(&pulumi, &["stack", "--stack", "nobody"]).output().expect("it runs");
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(
        told.contains("hint: ") && told.contains("`pulumi stack") && !told.contains("drystone"),
        "{told}"
    );
}

#[test]
fn help_is_a_command_too() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.ok(&["help"]), sandbox.ok(&["--help"]));
    assert_eq!(sandbox.ok(&["help", "stack", "ls"]), sandbox.ok(&["stack", "ls", "--help"]));
    assert_eq!(sandbox.drystone(&["help", "nothing"]).code, 2);
}
