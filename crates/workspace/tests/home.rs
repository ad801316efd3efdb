//! Credentials, selections and the current backend.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use drystone_workspace::home::{
    Account, BackendSource, CredentialsError, CredentialsFile, HomeError, SelectionSource, SelectionsFile,
    current_backend, default_organization, set_default_organization,
};
use drystone_workspace::project::Project;
use drystone_workspace::{Environment, NoHome};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

fn environment(home: &Path, variables: &[(&str, &str)]) -> Environment {
    let variables: HashMap<String, String> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Environment::new(move |name| variables.get(name).cloned(), Some(home.to_owned()), home.to_owned())
}

fn project(path: &str) -> Project {
    Project { path: PathBuf::from(path), name: "shop".into(), ..Project::default() }
}

/// As the stock CLI writes it at `login file:///srv/shop/state`.
const LOGGED_IN: &str = r#"{
    "current": "file:///srv/shop/state",
    "accessTokens": {
        "file:///srv/shop/state": ""
    },
    "accounts": {
        "file:///srv/shop/state": {
            "lastValidatedAt": "0001-01-01T00:00:00Z"
        }
    }
}"#;

#[test]
fn s14_a_login_is_written_as_the_stock_cli_writes_it() {
    let home = tempfile::tempdir().unwrap();
    let surroundings = environment(home.path(), &[]);
    let mut file = CredentialsFile::open(&surroundings).unwrap();
    assert_eq!(file.path(), home.path().join(".pulumi/credentials.json"));
    file.credentials.log_in("file:///srv/shop/state", Account::default());
    file.save().unwrap();
    assert_eq!(fs::read_to_string(file.path()).unwrap(), LOGGED_IN);
    let again = CredentialsFile::open(&surroundings).unwrap().credentials;
    assert_eq!(again, file.credentials);
    assert_eq!(again.backends().collect::<Vec<_>>(), ["file:///srv/shop/state"]);

    assert!(file.log_out(&surroundings, "file:///srv/shop/state").unwrap());
    assert!(!file.path().exists());
    assert!(!file.log_out(&surroundings, "file:///srv/shop/state").unwrap());
}

#[cfg(unix)]
#[test]
fn s17_credentials_are_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let surroundings = environment(home.path(), &[]);
    let mut file = CredentialsFile::open(&surroundings).unwrap();
    file.credentials.log_in("https://api.example", Account::with_access_token("pul-123"));
    file.save().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(file.path()), 0o600);
    assert_eq!(mode(file.path().parent().unwrap()), 0o700);
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
    file.save().unwrap();
    assert_eq!(mode(file.path()), 0o600);
    assert!(!format!("{file:?}").contains("pul-123"));
}

#[test]
fn s09_accounts_keep_what_this_version_does_not_know() {
    let home = tempfile::tempdir().unwrap();
    let surroundings = environment(home.path(), &[("PULUMI_CREDENTIALS_PATH", "elsewhere")]);
    let path = home.path().join("elsewhere/credentials.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(
        &path,
        r#"{"current": "https://a", "accessTokens": {"https://a": "t1", "https://old": "t2"}, "future": [1],
            "accounts": {"https://a": {"accessToken": "t1", "refreshToken": "r", "username": "ana", "organizations": ["x"],
            "lastValidatedAt": "2026-01-02T03:04:05.6Z", "insecure": true, "more": {"x": 1},
            "tokenInformation": {"name": "ci", "team": "t", "expiresAt": "2027-01-01T00:00:00Z", "new": 2}}}}"#,
    )
    .unwrap();
    let mut file = CredentialsFile::open(&surroundings).unwrap();
    let account = file.credentials.account("https://a").unwrap();
    assert_eq!((account.username.as_str(), account.insecure), ("ana", true));
    assert_eq!((account.access_token(), account.refresh_token()), (Some("t1"), Some("r")));
    assert_eq!(account.last_validated_at(), Some("2026-01-02T03:04:05.6Z"));
    let older = file.credentials.account("https://old").unwrap();
    assert_eq!((older.access_token(), older.last_validated_at()), (Some("t2"), None));
    let before: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    file.save().unwrap();
    let after: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(before, after);
    file.credentials.log_in("https://b", Account::with_access_token("t3"));
    assert_eq!(file.credentials.current.as_deref(), Some("https://b"));
    file.credentials.log_out("https://b");
    assert_eq!(file.credentials.current, None);
}

#[test]
fn files_that_are_not_credentials_are_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let surroundings = environment(home.path(), &[]);
    let path = home.path().join(".pulumi/credentials.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    assert_eq!(CredentialsFile::open(&surroundings).unwrap().credentials.current, None);
    fs::write(&path, "{not json").unwrap();
    assert!(matches!(
        CredentialsFile::open(&surroundings),
        Err(CredentialsError::Home(HomeError::Invalid { .. }))
    ));
    fs::write(&path, r#"{"$pulumiSecureStore": 1, "backend": "keychain", "data": "AAAA"}"#).unwrap();
    assert!(matches!(CredentialsFile::open(&surroundings), Err(CredentialsError::Sealed { .. })));
    CredentialsFile::log_out_of_everything(&surroundings).unwrap();
    assert!(!path.exists());
    let nowhere = Environment::new(|_| None, None, PathBuf::from("/"));
    assert!(matches!(
        CredentialsFile::open(&nowhere),
        Err(CredentialsError::Home(HomeError::NoHome(NoHome)))
    ));
}

#[test]
fn the_backend_comes_from_the_variable_the_project_or_the_login() {
    let home = tempfile::tempdir().unwrap();
    let plain = environment(home.path(), &[("PULUMI_BACKEND_URL", "")]);
    let with_variable = environment(home.path(), &[("PULUMI_BACKEND_URL", "file:///v")]);
    let with_backend = Project { backend_url: Some("file:///p".into()), ..project("/srv/shop/Pulumi.yaml") };
    let without = project("/srv/shop/Pulumi.yaml");
    let current = |environment: &Environment, project: Option<&Project>| {
        current_backend(environment, project).unwrap().map(|backend| (backend.url, backend.source))
    };
    assert_eq!(current(&plain, Some(&without)), None);
    let mut file = CredentialsFile::open(&plain).unwrap();
    file.credentials.log_in("file:///l", Account::default());
    file.save().unwrap();
    assert_eq!(current(&plain, None), Some(("file:///l".into(), BackendSource::Login)));
    assert_eq!(current(&plain, Some(&with_backend)), Some(("file:///p".into(), BackendSource::Project)));
    assert_eq!(
        current(&with_variable, Some(&with_backend)),
        Some(("file:///v".into(), BackendSource::Variable))
    );
    assert_eq!(BackendSource::Project.to_string(), "the `backend` of the project file");
}

#[test]
fn s14_the_selected_stack_is_where_the_stock_cli_looks_for_it() {
    let home = tempfile::tempdir().unwrap();
    let surroundings = environment(home.path(), &[("PULUMI_HOME", "ph")]);
    let shop = project("/srv/shop/Pulumi.yaml");
    let mut file = SelectionsFile::open(&surroundings, &shop).unwrap();
    assert_eq!(
        file.path(),
        home.path().join("ph/workspaces/shop-0afcfe4cda3769433d61f279d29f7109103fe9ff-workspace.json")
    );
    assert_eq!(file.current(&surroundings, "file:///srv/shop/state"), None);
    file.selections.select("file:///srv/shop/state", "organization/shop/prod");
    file.save().unwrap();
    assert_eq!(
        fs::read_to_string(file.path()).unwrap(),
        "{\n    \"stacks\": {\n        \"file:///srv/shop/state\": \"organization/shop/prod\"\n    }\n}"
    );
    let again = SelectionsFile::open(&surroundings, &shop).unwrap();
    let selected = again.current(&surroundings, "file:///srv/shop/state").unwrap();
    assert_eq!(
        (selected.stack.as_str(), selected.source),
        ("organization/shop/prod", SelectionSource::Backend)
    );
    assert_eq!(again.current(&surroundings, "file:///other"), None);
    file.selections.unselect("file:///srv/shop/state");
    file.save().unwrap();
    assert!(!file.path().exists());
}

#[test]
fn older_selections_and_the_variable_count() {
    let home = tempfile::tempdir().unwrap();
    let plain = environment(home.path(), &[]);
    let shop = project("/srv/shop/Pulumi.yaml");
    let path = SelectionsFile::open(&plain, &shop).unwrap().path().to_owned();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, r#"{"stack": "dev", "later": 1}"#).unwrap();
    let mut file = SelectionsFile::open(&plain, &shop).unwrap();
    let selected = file.current(&plain, "file:///x").unwrap();
    assert_eq!((selected.stack.as_str(), selected.source), ("dev", SelectionSource::Legacy));
    let by_variable = environment(home.path(), &[("PULUMI_STACK", "prod")]);
    let selected = file.current(&by_variable, "file:///x").unwrap();
    assert_eq!((selected.stack.as_str(), selected.source), ("prod", SelectionSource::Variable));
    assert_eq!(file.current(&environment(home.path(), &[("PULUMI_STACK", "")]), "file:///x"), None);
    file.selections.unselect("file:///x");
    file.save().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\n    \"later\": 1\n}");
    let odd = Project { name: "../x".into(), ..shop };
    assert!(matches!(SelectionsFile::open(&plain, &odd), Err(HomeError::ProjectName(_))));
}

#[test]
fn default_organizations_are_kept_by_backend_and_forgotten_at_logout() {
    let home = tempfile::tempdir().unwrap();
    let surroundings = environment(home.path(), &[]);
    let path = home.path().join(".pulumi/config.json");
    assert_eq!(default_organization(&surroundings, "https://a").unwrap(), None);
    set_default_organization(&surroundings, "https://a", "acme").unwrap();
    set_default_organization(&surroundings, "https://b", "other").unwrap();
    assert_eq!(default_organization(&surroundings, "https://a").unwrap().as_deref(), Some("acme"));
    let mut file = CredentialsFile::open(&surroundings).unwrap();
    file.log_out(&surroundings, "https://a").unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "{\n    \"backends\": {\n        \"https://b\": {\n            \"defaultOrg\": \"other\"\n        }\n    }\n}"
    );
    CredentialsFile::log_out_of_everything(&surroundings).unwrap();
    assert!(!path.exists());
}

#[test]
fn the_surroundings_of_the_process_are_its_own() {
    let surroundings = Environment::of_process().unwrap();
    assert!(surroundings.working_directory().is_absolute());
    assert_eq!(
        surroundings.working_directory().canonicalize().unwrap(),
        std::env::current_dir().unwrap().canonicalize().unwrap()
    );
    assert_eq!(surroundings.variable("CARGO_MANIFEST_DIR").as_deref(), Some(env!("CARGO_MANIFEST_DIR")));
}
