use super::*;
use tokio_postgres::config::Host;

#[derive(Default)]
struct Variables(BTreeMap<&'static str, String>);

impl Environment for Variables {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn user(&self) -> String {
        "ana".to_owned()
    }
}

fn parse(url: &str) -> Result<Target> {
    Target::parse(url, &Variables::default())
}

fn refusal(url: &str) -> String {
    parse(url).unwrap_err().to_string()
}

#[test]
fn a_url_says_everything() {
    let target = parse("postgres://bo:p%40ss@db.example:6543/state?table=My_State&sslmode=disable").unwrap();
    let config = &target.config;
    assert_eq!(config.get_hosts(), [Host::Tcp("db.example".to_owned())]);
    assert_eq!((config.get_ports(), config.get_user()), (&[6543][..], Some("bo")));
    assert_eq!((config.get_password(), config.get_dbname()), (Some(&b"p@ss"[..]), Some("state")));
    assert_eq!((target.table.as_str(), target.prefix.as_str()), ("my_state", "state/"));
    assert_eq!(target.shown, "postgres://bo@db.example:6543/state");
    assert_eq!(parse("postgresql://h/a").unwrap().prefix, "a/");
}

#[test]
fn variables_say_what_the_url_does_not() {
    let variables = Variables(BTreeMap::from([
        ("PGHOST", "one,two".to_owned()),
        ("PGPORT", "1,2".to_owned()),
        ("PGUSER", "bo".to_owned()),
        ("PGPASSWORD", "hush".to_owned()),
        ("PGDATABASE", "state".to_owned()),
        ("PGSSLMODE", "verify-full".to_owned()),
    ]));
    let target = Target::parse("postgres://", &variables).unwrap();
    assert_eq!(target.config.get_hosts().len(), 2);
    assert_eq!(target.config.get_ports(), [1, 2]);
    assert_eq!(target.config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    assert_eq!((target.config.get_dbname(), target.prefix.as_str()), (Some("state"), ""));
    assert_eq!(target.tls.mode, TlsMode::VerifyFull);
    let target = Target::parse("postgres://three/other?sslmode=require", &variables).unwrap();
    assert_eq!(target.config.get_hosts(), [Host::Tcp("three".to_owned())]);
    assert_eq!((target.config.get_dbname(), target.tls.mode), (Some("other"), TlsMode::Require));
    let bare = parse("postgres://").unwrap();
    assert_eq!((bare.config.get_user(), bare.config.get_dbname()), (Some("ana"), Some("ana")));
}

#[test]
fn hosts_come_in_lists_and_as_addresses() {
    let target = parse("postgres://one:1,two,[::1]:3/db").unwrap();
    let hosts: Vec<String> = ["one", "two", "::1"].map(str::to_owned).to_vec();
    assert_eq!(target.config.get_hosts(), hosts.into_iter().map(Host::Tcp).collect::<Vec<_>>());
    assert_eq!(target.config.get_ports(), [1, 5432, 3]);
    let socket = parse("postgres:///db?host=/run/postgresql&sslmode=verify-full").unwrap();
    assert_eq!(socket.config.get_ssl_mode(), SslMode::Disable);
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    assert!(refusal("postgres://h/db?colour=red").contains("unknown parameter `colour`"));
    assert!(refusal("postgres://h/db?sslmode=maybe").contains("`sslmode=maybe`"));
    assert!(refusal("postgres://h/db?sslcrl=x").contains("`sslcrl`"));
    assert!(refusal("postgres://h/db?client_encoding=latin1").contains("`client_encoding`"));
    assert!(refusal("postgres://h/db?table=a.b").contains("`table=a.b`"));
    assert!(refusal(&format!("postgres://h/db?table={}", "x".repeat(41))).contains("41 bytes"));
    assert!(refusal("postgres://h:x/db").contains("`port`"));
}

#[test]
fn s17_a_password_is_never_shown() {
    for url in [
        "postgres://bo:hush@h/db?colour=red",
        "postgres://bo@h/db?password=hush&colour=red",
        "postgres://bo:hush/er@h/db",
        "postgres://bo:hush?er@h/db",
        "postgres://bo:hush",
        "pg:hush@h",
    ] {
        let refused = parse(url).unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("hush"));
    }
    let target = parse("postgres://bo:hush@h/db").unwrap();
    assert!(!format!("{target:?}").contains("hush"));
}

#[test]
fn a_password_file_is_searched_line_by_line() {
    let file = "# mine\nh:5432:other:bo:no\nh:*:db:bo:a\\:b\\\\c\n*:*:*:*:last\n";
    assert_eq!(password_of(file, ["h", "5432", "db", "bo"]).as_deref(), Some("a:b\\c"));
    assert_eq!(password_of(file, ["h", "1", "db", "eve"]).as_deref(), Some("last"));
    assert_eq!(password_of("h:1:db:bo", ["h", "1", "db", "bo"]), None);
}
