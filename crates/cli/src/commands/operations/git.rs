//! What is known of the repository that a program comes from.

use drystone_workspace::Environment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

/// What the history keeps of a repository.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The title of the commit.
    pub(super) title: String,
    /// By the names that the stock CLI gives them.
    pub(super) environment: BTreeMap<String, String>,
}

/// Facts that are being gathered while other things happen.
#[derive(Debug)]
pub(super) struct Gathering(Option<JoinHandle<Facts>>);

impl Gathering {
    /// Begins. A machine without git, or a program outside a repository, has no facts.
    pub(super) fn start(environment: &Environment, project: &Path) -> Self {
        let Some(root) = repository_of(project) else {
            let facts = of_variables(environment);
            return Self(std::thread::Builder::new().spawn(move || facts).ok());
        };
        let project = project.to_owned();
        Self(
            std::thread::Builder::new()
                .name("git".to_owned())
                .spawn(move || of_repository(&root, &project))
                .ok(),
        )
    }

    /// What was found.
    pub(super) fn finish(self) -> Facts {
        self.0.and_then(|gathering| gathering.join().ok()).unwrap_or_default()
    }
}

/// The folder with `.git` in it, here or above.
fn repository_of(project: &Path) -> Option<PathBuf> {
    project.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

fn of_repository(root: &Path, project: &Path) -> Facts {
    let mut facts = Facts::default();
    let mut set = |name: &str, value: &str| {
        facts.environment.insert(name.to_owned(), value.to_owned());
    };
    if let Some(url) = git(root, &["config", "--get", "remote.origin.url"]) {
        if let Some((host, owner, repository)) = hosted(url.trim()) {
            set("vcs.owner", owner);
            set("vcs.repo", repository);
            set("vcs.kind", host);
        }
        let inside = project.strip_prefix(root).map(|path| path.display().to_string()).unwrap_or_default();
        set("vcs.root", if inside.is_empty() { "." } else { &inside });
    }
    if let Some(commit) = git(root, &["log", "-1", "--format=%H%n%cn%n%ce%n%an%n%ae%n%s"]) {
        let names = ["git.head", "git.committer", "git.committer.email", "git.author", "git.author.email"];
        let mut lines = commit.lines();
        for (name, value) in names.iter().zip(lines.by_ref()) {
            set(name, value);
        }
        let title = lines.next().unwrap_or_default().to_owned();
        if let Some(name) = git(root, &["symbolic-ref", "-q", "HEAD"]) {
            set("git.headName", name.trim());
        }
        if let Some(changes) = git(project, &["status", "--porcelain", "-z"]) {
            set("git.dirty", if changes.is_empty() { "false" } else { "true" });
        }
        facts.title = title;
    }
    facts
}

/// What the user says of a repository that is not here.
fn of_variables(environment: &Environment) -> Facts {
    const NAMES: [(&str, &str); 10] = [
        ("PULUMI_VCS_REPO_OWNER", "vcs.owner"),
        ("PULUMI_VCS_REPO_NAME", "vcs.repo"),
        ("PULUMI_VCS_REPO_KIND", "vcs.kind"),
        ("PULUMI_VCS_REPO_ROOT", "vcs.root"),
        ("PULUMI_GIT_HEAD_NAME", "git.headName"),
        ("PULUMI_GIT_HEAD", "git.head"),
        ("PULUMI_GIT_COMMITTER", "git.committer"),
        ("PULUMI_GIT_COMMITTER_EMAIL", "git.committer.email"),
        ("PULUMI_GIT_AUTHOR", "git.author"),
        ("PULUMI_GIT_AUTHOR_EMAIL", "git.author.email"),
    ];
    let found = NAMES.iter().filter_map(|(variable, name)| {
        environment.filled_variable(variable).map(|value| ((*name).to_owned(), value))
    });
    let message = environment.filled_variable("PULUMI_GIT_COMMIT_MESSAGE").unwrap_or_default();
    Facts { title: message.lines().next().unwrap_or_default().to_owned(), environment: found.collect() }
}

/// What git says, if there is git and it has something to say.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Host, owner and name of a repository by its URL.
fn hosted(url: &str) -> Option<(&str, &str, &str)> {
    let (host, path) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => url.split_once(':')?,
    };
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = host.split(':').next().unwrap_or(host);
    let path = path.trim_matches('/').trim_end_matches(".git");
    let (owner, repository) = path.rsplit_once('/')?;
    Some((host, owner, repository))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_named_by_its_url() {
        let expected = Some(("github.com", "acme", "shop"));
        for url in [
            "git@github.com:acme/shop.git",
            "https://github.com/acme/shop",
            "https://user:token@github.com/acme/shop.git",
            "ssh://git@github.com:22/acme/shop.git",
        ] {
            assert_eq!(hosted(url), expected, "{url}");
        }
        assert_eq!(hosted("https://gitlab.com/a/b/c.git"), Some(("gitlab.com", "a/b", "c")));
        assert_eq!(hosted("/srv/shop.git"), None);
    }
}
