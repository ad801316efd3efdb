//! Where a database is and how it is spoken to: the URL, its parameters, and the `PG...` variables.
//!
//! The URL is libpq's: a list of hosts, percent-encoded parts, parameters after the question mark. The stock CLI hands
//! it to its driver the same way, and puts the URL's path before every key of its table. A password is taken from the
//! URL, a variable or a password file, and goes nowhere but to the server (S17).

use super::tls::{TlsMode, TlsSettings};
use crate::{Error, Result};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, LoadBalanceHosts, SslMode, TargetSessionAttrs};

const DEFAULT_TABLE: &str = "pulumi_state";
/// Names of ours begin with the table's; PostgreSQL cuts off what is longer than 63 bytes.
const LONGEST_TABLE: usize = 40;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A server that went away without a word is noticed after this long.
const SILENCE: Duration = Duration::from_secs(30);

/// The variables that libpq reads and the parameters that they stand for.
const VARIABLES: [(&str, &str); 16] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGDATABASE", "dbname"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGAPPNAME", "application_name"),
    ("PGOPTIONS", "options"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
    ("PGCHANNELBINDING", "channel_binding"),
];

/// A database, and which part of it holds stacks.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// How to connect. It hides its password when it is shown.
    pub(super) config: Config,
    pub(super) tls: TlsSettings,
    /// The stock CLI's table.
    pub(super) table: String,
    /// What stands before every key.
    pub(super) prefix: String,
    /// The URL for messages: no password, no parameters.
    pub(super) shown: String,
}

/// What the environment says.
pub(super) trait Environment {
    fn variable(&self, name: &str) -> Option<String>;
    fn user(&self) -> String;
}

/// A URL taken apart.
#[derive(Default)]
struct Parts {
    settings: BTreeMap<String, String>,
    path: String,
    authority: String,
}

impl Target {
    /// Reads a URL.
    pub(super) fn parse(url: &str, environment: &dyn Environment) -> Result<Self> {
        let parts = Parts::of(url)?;
        let shown = format!("postgres://{}/{}", parts.authority, parts.path.trim_start_matches('/'));
        let refuse = |reason: String| Error::Unsupported { path: PathBuf::from(&shown), reason };
        let mut settings: BTreeMap<String, String> = VARIABLES
            .iter()
            .filter_map(|(variable, name)| {
                let value = environment.variable(variable).filter(|value| !value.is_empty())?;
                Some(((*name).to_owned(), value))
            })
            .collect();
        let database = parts.path.strip_prefix('/').unwrap_or(&parts.path);
        if !database.is_empty() {
            settings.insert("dbname".to_owned(), database.to_owned());
        }
        settings.extend(parts.settings);
        let table = table(settings.remove("table")).map_err(&refuse)?;
        let tls = tls(&mut settings, environment).map_err(&refuse)?;
        let config = config(&settings, &tls, environment).map_err(&refuse)?;
        let folder = parts.path.trim_start_matches('/');
        let prefix = match folder {
            "" => String::new(),
            folder if folder.ends_with('/') => folder.to_owned(),
            folder => format!("{folder}/"),
        };
        Ok(Self { config, tls, table, prefix, shown })
    }
}

impl Parts {
    fn of(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("postgres://").or_else(|| url.strip_prefix("postgresql://"));
        let rest =
            rest.ok_or_else(|| not_understood("a PostgreSQL URL begins with postgres:// or postgresql://"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match place.find('/') {
            Some(at) => place.split_at(at),
            None => (place, ""),
        };
        let (credentials, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
        let is_cut_short = path.contains('@') || (credentials.is_empty() && query.contains('@'));
        if is_cut_short || hosts.contains(|letter: char| letter.is_whitespace()) {
            return Err(not_understood("a `/`, `?` or `@` in a name or password is written %2F, %3F or %40"));
        }
        let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
        let mut settings = BTreeMap::new();
        let mut set = |name: &str, value: String| {
            if !value.is_empty() {
                settings.insert(name.to_owned(), value);
            }
        };
        set("user", decoded(user));
        set("password", decoded(password));
        let (names, ports) = hosts_and_ports(hosts);
        if !ports.bytes().all(|byte| byte.is_ascii_digit() || byte == b',') {
            return Err(not_understood("a `port` is a number"));
        }
        set("host", names);
        set("port", ports);
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            set(&name, value.into_owned());
        }
        let who = if user.is_empty() { String::new() } else { format!("{user}@") };
        Ok(Self { settings, path: decoded(path), authority: format!("{who}{hosts}") })
    }
}

/// Nothing of a text that is no URL is repeated: it may hold a password.
fn not_understood(reason: &str) -> Error {
    Error::Unsupported { path: PathBuf::from("postgres://"), reason: reason.to_owned() }
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// The hosts and the ports of a list, each in libpq's form with commas.
fn hosts_and_ports(list: &str) -> (String, String) {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    for place in list.split(',') {
        let (host, port) = match place.rsplit_once(':') {
            // The colon of an IPv6 address stands within brackets.
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (place, ""),
        };
        hosts.push(decoded(host.trim_start_matches('[').trim_end_matches(']')));
        ports.push(port.to_owned());
    }
    let ports = if ports.iter().all(String::is_empty) { String::new() } else { ports.join(",") };
    (hosts.join(","), ports)
}

/// The stock CLI puts the name into its statements as it is, so that the server folds it to lower case.
fn table(named: Option<String>) -> Result<String, String> {
    let table = named.unwrap_or_else(|| DEFAULT_TABLE.to_owned()).to_ascii_lowercase();
    let is_name = table.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !table.starts_with(|first: char| first.is_ascii_digit());
    if table.is_empty() || !is_name {
        return Err(format!("`table={table}` is not a plain name of letters, digits and underscores"));
    }
    if table.len() > LONGEST_TABLE {
        return Err(format!("the name of the table has {} bytes; at most {LONGEST_TABLE} fit", table.len()));
    }
    Ok(table)
}

fn tls(
    settings: &mut BTreeMap<String, String>,
    environment: &dyn Environment,
) -> Result<TlsSettings, String> {
    let mode = settings.remove("sslmode");
    let root = settings.remove("sslrootcert").map(PathBuf::from);
    let mode = TlsMode::named(mode.as_deref(), root.is_some())?;
    let certificate = settings.remove("sslcert").map(PathBuf::from);
    let key = settings.remove("sslkey").map(PathBuf::from);
    for (name, harmless) in [("sslcompression", "0"), ("sslsni", "1")] {
        if let Some(value) = settings.remove(name).filter(|value| value != harmless) {
            return Err(format!("`{name}={value}` is not supported"));
        }
    }
    if settings.contains_key("sslcrl") {
        return Err("`sslcrl` is not supported: a certificate that was revoked would be taken".to_owned());
    }
    let home = environment.variable("HOME").map(PathBuf::from);
    Ok(TlsSettings { mode, root, certificate, key, home })
}

fn config(
    settings: &BTreeMap<String, String>,
    tls: &TlsSettings,
    environment: &dyn Environment,
) -> Result<Config, String> {
    let mut config = Config::new();
    config.application_name("drystone").connect_timeout(CONNECT_TIMEOUT);
    config.keepalives_idle(SILENCE).keepalives_interval(SILENCE / 3).keepalives_retries(3);
    config.tcp_user_timeout(SILENCE);
    let mut options = Vec::new();
    let mut passfile = None;
    for (name, value) in settings {
        let bad = || format!("`{name}` does not take that value");
        match name.as_str() {
            "user" => {
                config.user(value);
            }
            "password" => {
                config.password(value);
            }
            "dbname" => {
                config.dbname(value);
            }
            "application_name" => {
                config.application_name(value);
            }
            "options" => options.push(value.clone()),
            // What the stock CLI's driver hands to the server as it is.
            "search_path" | "timezone" => options.push(server_setting(name, value)),
            "client_encoding" if matches!(value.to_ascii_lowercase().as_str(), "utf8" | "utf-8") => {}
            "passfile" => passfile = Some(PathBuf::from(value)),
            "host" => {
                for host in value.split(',') {
                    config.host(host);
                }
            }
            "hostaddr" => {
                for address in value.split(',') {
                    config.hostaddr(address.parse().map_err(|_| bad())?);
                }
            }
            "port" => {
                for port in value.split(',') {
                    let number = if port.is_empty() { Ok(5432) } else { port.parse() };
                    config.port(number.map_err(|_| bad())?);
                }
            }
            "connect_timeout" => {
                if let Some(limit) = seconds(value).ok_or_else(bad)? {
                    config.connect_timeout(limit);
                }
            }
            "keepalives" => {
                config.keepalives(value != "0");
            }
            "keepalives_idle" => {
                config.keepalives_idle(seconds(value).ok_or_else(bad)?.unwrap_or(SILENCE));
            }
            "keepalives_interval" => {
                config.keepalives_interval(seconds(value).ok_or_else(bad)?.unwrap_or(SILENCE / 3));
            }
            "keepalives_count" => {
                config.keepalives_retries(value.parse().map_err(|_| bad())?);
            }
            // libpq has it in milliseconds.
            "tcp_user_timeout" => {
                config.tcp_user_timeout(Duration::from_millis(value.parse().map_err(|_| bad())?));
            }
            "target_session_attrs" => {
                config.target_session_attrs(match value.as_str() {
                    "any" => TargetSessionAttrs::Any,
                    "read-write" | "primary" => TargetSessionAttrs::ReadWrite,
                    "read-only" => TargetSessionAttrs::ReadOnly,
                    _ => return Err(bad()),
                });
            }
            "load_balance_hosts" => {
                config.load_balance_hosts(match value.as_str() {
                    "disable" => LoadBalanceHosts::Disable,
                    "random" => LoadBalanceHosts::Random,
                    _ => return Err(bad()),
                });
            }
            "channel_binding" => {
                config.channel_binding(match value.as_str() {
                    "disable" => ChannelBinding::Disable,
                    "prefer" => ChannelBinding::Prefer,
                    "require" => ChannelBinding::Require,
                    _ => return Err(bad()),
                });
            }
            "client_encoding" => return Err(bad()),
            unknown => return Err(format!("unknown parameter `{unknown}`")),
        }
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host("localhost");
    }
    if config.get_hosts().len() > 1 && !settings.contains_key("target_session_attrs") {
        // A list is there to find the server that can be written to.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    if config.get_user().is_none() {
        config.user(environment.user());
    }
    if config.get_dbname().is_none() {
        let user = config.get_user().unwrap_or_default().to_owned();
        config.dbname(user);
    }
    if !options.is_empty() {
        config.options(options.join(" "));
    }
    config.ssl_mode(ssl_mode(&config, tls.mode));
    add_password(&mut config, passfile, environment);
    Ok(config)
}

/// A setting of the server, as an option of its command line.
fn server_setting(name: &str, value: &str) -> String {
    format!("-c {name}={}", value.replace('\\', "\\\\").replace(' ', "\\ "))
}

fn seconds(value: &str) -> Option<Option<Duration>> {
    let seconds: u64 = value.parse().ok()?;
    Some((seconds > 0).then(|| Duration::from_secs(seconds)))
}

/// A socket of this machine needs no TLS, and PostgreSQL knows none there.
fn ssl_mode(config: &Config, mode: TlsMode) -> SslMode {
    let is_socket = |host: &tokio_postgres::config::Host| match host {
        tokio_postgres::config::Host::Tcp(_) => false,
        #[cfg(unix)]
        tokio_postgres::config::Host::Unix(_) => true,
    };
    let only_sockets = !config.get_hosts().is_empty() && config.get_hosts().iter().all(is_socket);
    match mode {
        _ if only_sockets => SslMode::Disable,
        TlsMode::Disable => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => SslMode::Require,
    }
}

/// Takes the password from a password file when nothing else gave one.
fn add_password(config: &mut Config, passfile: Option<PathBuf>, environment: &dyn Environment) {
    if config.get_password().is_some() {
        return;
    }
    let home = || environment.variable("HOME").map(|home| Path::new(&home).join(".pgpass"));
    let Some(text) = passfile.or_else(home).and_then(|path| std::fs::read_to_string(path).ok()) else {
        return;
    };
    let host = match config.get_hosts().first() {
        Some(tokio_postgres::config::Host::Tcp(host)) => host.clone(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let database = config.get_dbname().unwrap_or_default().to_owned();
    let user = config.get_user().unwrap_or_default().to_owned();
    if let Some(password) = password_of(&text, [&host, &port, &database, &user]) {
        config.password(password);
    }
}

/// The password in the first line of a password file that fits.
fn password_of(file: &str, wanted: [&str; 4]) -> Option<String> {
    file.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let (password, names) = fields.split_last().filter(|(_, names)| names.len() == 4)?;
        let fits = names.iter().zip(wanted).all(|(name, wanted)| name == "*" || name == wanted);
        fits.then(|| password.clone())
    })
}

/// The fields of a line, where a backslash keeps the colon or backslash after it.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let Some(field) = fields.last_mut() else { break };
        match letter {
            '\\' => field.extend(letters.next()),
            ':' => fields.push(String::new()),
            letter => field.push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests;
