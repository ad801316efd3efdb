//! Where plugins come from.

use super::{InstallError, Installer, Release, Stage};
use crate::fetch::{self, Cause, FetchError, Limits, Partial, Progress, Request};
use crate::search::{Kind, tolerant_version};
use semver::Version;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use ureq::http::{HeaderMap, StatusCode};

/// Where a plugin comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The releases of Pulumi's own plugins.
    Released,
    /// A server: the address of a folder, in which `${VERSION}`, `${OS}`, `${ARCH}` and `${NAME}` may stand; or the
    /// releases of a project, `github://<host>/<owner>[/<repository>]` or `gitlab://<host>/<number of the project>`.
    Server(String),
    /// A program, a folder or an archive on this machine.
    Path(PathBuf),
}

impl Source {
    /// The source that a package names, which is the usual one if it names none.
    #[must_use]
    pub fn named(address: &str) -> Self {
        if address.is_empty() { Self::Released } else { Self::Server(address.to_owned()) }
    }
}

/// Who asks for what not everybody may have.
#[derive(Clone, Default)]
pub struct Tokens {
    /// For releases on GitHub: `GITHUB_TOKEN`.
    pub github: Option<String>,
    /// For releases on GitLab: `GITLAB_TOKEN`.
    pub gitlab: Option<String>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |token: &Option<String>| if token.is_some() { "[secret]" } else { "none" };
        f.debug_struct("Tokens")
            .field("github", &shown(&self.github))
            .field("gitlab", &shown(&self.gitlab))
            .finish()
    }
}

/// A place on a server.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// A folder that has the archive.
    Folder(String),
    /// The releases of a repository, as GitHub tells of them.
    GitHub { host: String, owner: String, repository: String },
    /// The releases of a project, as GitLab tells of them.
    GitLab { host: String, project: String },
}

/// What a service says of a release.
#[derive(Debug, Deserialize)]
struct Described {
    #[serde(default)]
    tag_name: String,
    #[serde(default)]
    assets: Vec<Asset>,
}

#[derive(Debug, Deserialize)]
struct Asset {
    name: String,
    url: String,
}

/// What a description of a release may measure.
const DESCRIPTION: u64 = 16 << 20;

impl Installer {
    /// The newest version of a plugin that a source has.
    pub fn latest(&self, kind: Kind, name: &str, source: &Source) -> Result<Version, InstallError> {
        let release = Release { kind, name: name.to_owned(), version: Version::new(0, 0, 0) };
        if !release.is_proper() {
            return Err(InstallError::Name { name: name.to_owned() });
        }
        let source = self.overrides.of(source.clone(), &release);
        let unknown = |causes: Vec<String>| InstallError::Latest { kind, name: name.to_owned(), causes };
        let mut causes = Vec::new();
        for place in places(&source, &release)? {
            match self.latest_of(&place) {
                Ok(Some(version)) => return Ok(version),
                Ok(None) => {}
                Err(cause) => causes.push(cause),
            }
        }
        Err(unknown(causes))
    }

    /// The newest version at a place, unless it is one that cannot be asked.
    fn latest_of(&self, place: &Place) -> Result<Option<Version>, String> {
        let described: Described = match place {
            Place::Folder(_) => return Ok(None),
            Place::GitHub { host, owner, repository } => {
                self.github(&format!("{}/repos/{owner}/{repository}/releases/latest", base(host)))?
            }
            Place::GitLab { host, project } => {
                let uri = format!("{}/api/v4/projects/{project}/releases/permalink/latest", base(host));
                let request = self.gitlab_request(&uri, "application/json");
                describe(&request).map_err(|error| error.to_string())?
            }
        };
        let tag = described.tag_name;
        tolerant_version(&tag).map(Some).ok_or_else(|| format!("its newest release, `{tag}`, is no version"))
    }

    /// Fetches the archive of a release, from the first place that has it.
    pub(super) fn download(
        &self,
        source: &Source,
        release: &Release,
        kept: &Path,
        watch: &dyn Fn(Stage),
    ) -> Result<File, InstallError> {
        let mut causes = Vec::new();
        for place in places(source, release)? {
            match self.download_from(&place, release, kept, watch) {
                Ok(archive) => return Ok(archive),
                Err(cause) => causes.push(cause),
            }
        }
        Err(InstallError::Download { release: release.clone(), causes })
    }

    fn download_from(
        &self,
        place: &Place,
        release: &Release,
        kept: &Path,
        watch: &dyn Fn(Stage),
    ) -> Result<File, String> {
        let file = release.archive();
        let get = |request: &Request| get(request, kept, watch);
        match place {
            Place::Folder(folder) => {
                let request = Request::new(format!("{folder}/{}", file.replace('+', "%2B")));
                get(&request).map_err(|error| error.to_string())
            }
            Place::GitLab { host, project } => {
                let version = &release.version;
                let uri =
                    format!("{}/api/v4/projects/{project}/releases/v{version}/downloads/{file}", base(host));
                let request = self.gitlab_request(&uri, "application/octet-stream");
                get(&request).map_err(|error| match is_private(&error) && self.tokens.gitlab.is_none() {
                    true => format!("{error}; if the project is private, set GITLAB_TOKEN"),
                    false => error.to_string(),
                })
            }
            Place::GitHub { host, owner, repository } => {
                let version = &release.version;
                let tag = format!("{}/repos/{owner}/{repository}/releases/tags/v{version}", base(host));
                let described: Described = self.github(&tag)?;
                let asset = described.assets.into_iter().find(|asset| asset.name == file);
                let asset = asset.ok_or_else(|| format!("its release v{version} has no file '{file}'"))?;
                self.with_github(&asset.url, "application/octet-stream", |request| get(request))
            }
        }
    }

    fn gitlab_request(&self, uri: &str, accept: &'static str) -> Request {
        let authorization = self.tokens.gitlab.as_ref().map(|token| format!("Bearer {token}"));
        Request { uri: uri.to_owned(), accept: Some(accept), authorization }
    }

    /// What GitHub says at an address.
    fn github(&self, uri: &str) -> Result<Described, String> {
        self.with_github(uri, "application/json", describe)
    }

    /// Asks GitHub with the token that there is; without it if it is refused, for a token may be for other repositories
    /// alone.
    fn with_github<T>(
        &self,
        uri: &str,
        accept: &'static str,
        ask: impl Fn(&Request) -> Result<T, FetchError>,
    ) -> Result<T, String> {
        let authorization = self.tokens.github.as_ref().map(|token| format!("token {token}"));
        let request = Request { uri: uri.to_owned(), accept: Some(accept), authorization };
        let first = ask(&request);
        let refused = first.as_ref().err().is_some_and(|error| {
            matches!(&error.cause, Cause::Status { status, headers }
                if [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(status) && spent(headers).is_none())
        });
        let answer = match refused && request.authorization.is_some() {
            true => ask(&Request { authorization: None, ..request }),
            false => first,
        };
        answer.map_err(|error| {
            let token = match self.tokens.github {
                Some(_) if refused => "GITHUB_TOKEN was refused; set it to one that may read the repository",
                Some(_) => "GITHUB_TOKEN may not read it",
                None => "set GITHUB_TOKEN",
            };
            match &error.cause {
                Cause::Status { headers, .. } if spent(headers).is_some() => {
                    let wait = spent(headers).filter(|wait| !wait.is_zero());
                    let wait =
                        wait.map(|wait| format!(" for another {} s", wait.as_secs())).unwrap_or_default();
                    format!(
                        "{error}; it has answered as often as it does without a better token{wait}: {token}"
                    )
                }
                _ if is_private(&error) => format!("{error}; if the repository is private: {token}"),
                _ => error.to_string(),
            }
        })
    }
}

/// How long GitHub answers no more, if it said that it has answered often enough.
fn spent(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.parse::<u64>().ok();
    if number("x-ratelimit-remaining") != Some(0) {
        return None;
    }
    let reset = SystemTime::UNIX_EPOCH + Duration::from_secs(number("x-ratelimit-reset").unwrap_or_default());
    Some(reset.duration_since(SystemTime::now()).unwrap_or_default())
}

/// Whether an answer may mean that somebody else would have got another.
fn is_private(error: &FetchError) -> bool {
    let hidden = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::NOT_FOUND];
    matches!(&error.cause, Cause::Status { status, .. } if hidden.contains(status))
}

/// The archive at an address. What comes before it breaks off is kept.
fn get(request: &Request, kept: &Path, watch: &dyn Fn(Stage)) -> Result<File, FetchError> {
    let partial = Partial::at(kept).or_else(|_| Partial::unnamed());
    let partial = partial.map_err(|error| FetchError::disk(&request.uri, error))?;
    fetch::download(request, Limits::default(), partial, &|progress| {
        watch(match progress {
            Progress::Received { bytes, total } => Stage::Downloading { bytes, total },
            Progress::Again { cause } => Stage::Again { cause },
        });
    })
}

/// What a service says at an address.
fn describe(request: &Request) -> Result<Described, FetchError> {
    let failed = |error| FetchError::disk(&request.uri, error);
    let limits = Limits { bytes: DESCRIPTION, ..Limits::default() };
    let partial = Partial::unnamed().map_err(failed)?;
    let mut text = Vec::new();
    fetch::download(request, limits, partial, &|_| ())?.read_to_end(&mut text).map_err(failed)?;
    serde_json::from_slice(&text)
        .map_err(|error| failed(io::Error::other(format!("it does not describe a release: {error}"))))
}

/// Where a service is. On this machine nobody listens in.
fn base(host: &str) -> String {
    let plain = format!("http://{host}");
    if fetch::is_here(&plain) { plain } else { format!("https://{host}") }
}

/// The places of a source, the most likely one first.
fn places(source: &Source, release: &Release) -> Result<Vec<Place>, InstallError> {
    let Release { kind, name, version } = release;
    let address = match source {
        Source::Path(_) => return Ok(Vec::new()),
        Source::Released => {
            let (owner, repository) = ("pulumi".to_owned(), repository(*kind, name));
            return Ok(vec![
                // It is asked as often as one likes; the one below only some times an hour.
                Place::Folder(format!(
                    "https://github.com/{owner}/{repository}/releases/download/v{version}"
                )),
                Place::GitHub { host: "api.github.com".to_owned(), owner, repository },
                Place::Folder("https://get.pulumi.com/releases/plugins".to_owned()),
            ]);
        }
        Source::Server(address) => address,
    };
    let wrong = || InstallError::Address { address: fetch::shown(address) };
    let (scheme, rest) = address.split_once("://").ok_or_else(wrong)?;
    let mut parts = rest.trim_matches('/').split('/').filter(|part| !part.is_empty());
    let place = match scheme {
        "http" | "https" => {
            let (os, arch) = machine();
            let folder = address
                .replace("${VERSION}", &version.to_string().replace('+', "%2B"))
                .replace("${NAME}", name)
                .replace("${OS}", os)
                .replace("${ARCH}", arch);
            Place::Folder(folder.trim_end_matches('/').to_owned())
        }
        "github" => {
            let (host, owner) = parts.next().zip(parts.next()).ok_or_else(wrong)?;
            let named = parts.next().map(str::to_owned);
            let repository = named.unwrap_or_else(|| repository(*kind, name));
            Place::GitHub { host: host.to_owned(), owner: owner.to_owned(), repository }
        }
        "gitlab" => {
            let (host, project) = parts.next().zip(parts.next()).ok_or_else(wrong)?;
            Place::GitLab { host: host.to_owned(), project: project.to_owned() }
        }
        _ => return Err(wrong()),
    };
    let is_all = matches!(place, Place::Folder(_)) || parts.next().is_none();
    if is_all { Ok(vec![place]) } else { Err(wrong()) }
}

/// The repository that a plugin is released in unless somebody says otherwise.
fn repository(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Converter if !["yaml", "hcl"].contains(&name) => format!("pulumi-converter-{name}"),
        Kind::Tool if !name.starts_with("pulumi-tool-") => format!("pulumi-tool-{name}"),
        _ => format!("pulumi-{name}"),
    }
}

impl Release {
    /// The name of its archive for this machine.
    pub(super) fn archive(&self) -> String {
        let Self { kind, name, version } = self;
        let (os, arch) = machine();
        format!("pulumi-{kind}-{name}-v{version}-{os}-{arch}.tar.gz")
    }
}

/// The system and the processor, by the names that releases have.
pub(super) fn machine() -> (&'static str, &'static str) {
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    (os, arch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, name: &str, address: &str) -> Result<Vec<Place>, InstallError> {
        let release = Release { kind, name: name.to_owned(), version: "1.2.3+build".parse().unwrap() };
        places(&Source::named(address), &release)
    }

    fn github(host: &str, owner: &str, repository: &str) -> Place {
        Place::GitHub { host: host.to_owned(), owner: owner.to_owned(), repository: repository.to_owned() }
    }

    #[test]
    fn an_address_names_a_folder_or_the_releases_of_a_project() {
        let one = |address| of(Kind::Resource, "shop", address).unwrap().remove(0);
        let folder = one("https://a.example/${NAME}/${VERSION}/");
        assert_eq!(folder, Place::Folder("https://a.example/shop/1.2.3%2Bbuild".to_owned()));
        assert_eq!(one("github://api.github.com/acme"), github("api.github.com", "acme", "pulumi-shop"));
        assert_eq!(one("github://git.acme.example/acme/it/"), github("git.acme.example", "acme", "it"));
        let gitlab = Place::GitLab { host: "gitlab.com".to_owned(), project: "42".to_owned() };
        assert_eq!(one("gitlab://gitlab.com/42"), gitlab);
        for wrong in
            ["ftp://a", "a", "github://a", "github:///a", "github://a/b/c/d", "gitlab://a", "gitlab://a/b/c"]
        {
            let error = of(Kind::Resource, "shop", wrong).unwrap_err();
            assert!(matches!(error, InstallError::Address { .. }), "{wrong}: {error:?}");
        }
    }

    #[test]
    fn converters_and_tools_are_released_in_repositories_of_their_own() {
        let repository = |kind, name| match of(kind, name, "github://h/o").unwrap().remove(0) {
            Place::GitHub { repository, .. } => repository,
            other => panic!("{other:?}"),
        };
        assert_eq!(repository(Kind::Resource, "aws"), "pulumi-aws");
        assert_eq!(repository(Kind::Converter, "terraform"), "pulumi-converter-terraform");
        assert_eq!(repository(Kind::Converter, "yaml"), "pulumi-yaml");
        assert_eq!(repository(Kind::Tool, "lint"), "pulumi-tool-lint");
        assert_eq!(repository(Kind::Tool, "pulumi-tool-lint"), "pulumi-pulumi-tool-lint");
    }

    #[test]
    fn tokens_are_not_shown() {
        let tokens = Tokens { github: Some("hush".to_owned()), gitlab: None };
        assert_eq!(format!("{tokens:?}"), r#"Tokens { github: "[secret]", gitlab: "none" }"#);
    }
}
