use super::*;
use crate::fetch::server::{Answer, Server};
use flate2::Compression;
use flate2::write::GzEncoder;

fn release(name: &str, version: &str) -> Release {
    Release { kind: Kind::Resource, name: name.to_owned(), version: version.parse().unwrap() }
}

/// A compressed tar file of programs, whose names are taken as they are.
fn archive(members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, text) in members {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(text.len() as u64);
        header.set_mode(0o755);
        header.set_cksum();
        archive.append(&header, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

/// A server of one file; anything else is not there.
fn serve(path: &'static str, content: Vec<u8>) -> Server {
    Server::start(move |asked, _| match asked.path.contains(path) {
        true => Answer::ok(content.clone()),
        false => Answer::missing(),
    })
}

/// A cache of its own, and the names in it.
struct Place {
    folder: tempfile::TempDir,
    installer: Installer,
}

impl Place {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_string_lossy().into_owned();
        let mut variables: BTreeMap<String, String> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        variables.insert("PULUMI_HOME".to_owned(), home);
        let lookup = move |name: &str| variables.get(name).cloned();
        let environment = Environment::new(lookup, None, folder.path().to_owned());
        Self { installer: Installer::new(&environment).unwrap(), folder }
    }

    fn install(
        &self,
        release: &Release,
        source: Source,
        checksum: Option<&str>,
    ) -> Result<Installed, InstallError> {
        let checksum = checksum.map(str::to_owned);
        let order = Order { release: release.clone(), source, checksum, reinstall: true };
        self.installer.install(&order, &|_| ())?.finish()
    }

    /// What stands in the cache, but for locks.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.installer.cache().folder()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| !name.ends_with(".lock")).collect();
        names.sort();
        names
    }
}

fn server(address: impl Into<String>) -> Source {
    Source::Server(address.into())
}

#[test]
fn a_plugin_comes_from_a_server_whole() {
    let place = Place::new();
    let content = archive(&[("pulumi-resource-shop", "#!/bin/sh\n"), ("docs/readme", "hello")]);
    let shop = serve("/1.2.0/shop/pulumi-resource-shop-v1.2.0-", content);
    let source = server(shop.at("${VERSION}/${NAME}/"));
    let installed = place.install(&release("shop", "1.2.0"), source, None).unwrap();
    assert_eq!(place.names(), ["resource-shop-v1.2.0"]);
    assert_eq!(place.installer.cache().installed().collect::<Vec<_>>(), std::slice::from_ref(&installed));
    let program = installed.folder.join("pulumi-resource-shop");
    assert_eq!(fs::read_to_string(&program).unwrap(), "#!/bin/sh\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(program).unwrap().permissions().mode() & 0o777, 0o755);
    }
}

#[test]
fn what_is_not_there_cut_off_or_changed_installs_nothing() {
    let place = Place::new();
    let content = archive(&[("pulumi-resource-shop", "x")]);
    let short = content[..content.len() / 2].to_vec();
    let whole = serve("/pulumi-resource-shop-v1.0.0-", content.clone());
    // It says that half of the archive is all of it.
    let halved = serve("/pulumi-resource-shop-v1.0.0-", short);
    let garbage = serve("/pulumi-resource-shop-v1.0.0-", b"<html>log in</html>".to_vec());
    let cut = Server::start(move |_, _| Answer::ok(content.clone()).cut(content.len() / 2));
    let install = |version: &str, at: String, checksum: Option<&str>| {
        place.install(&release("shop", version), server(at), checksum).unwrap_err()
    };
    let error = install("1.0.1", whole.at(""), None);
    assert!(
        matches!(&error, InstallError::Download { causes, .. } if causes[0].contains("404")),
        "{error:?}"
    );
    let error = install("1.0.0", cut.at(""), None);
    assert!(matches!(error, InstallError::Download { .. }), "{error:?}");
    for unpackable in [halved, garbage] {
        let error = install("1.0.0", unpackable.at(""), None);
        assert!(matches!(error, InstallError::Content { .. }), "{error:?}");
    }
    let error = install("1.0.0", whole.at(""), Some(&"0".repeat(64)));
    assert!(matches!(error, InstallError::Checksum { .. }), "{error:?}");
    let error = install("1.0.0", "ftp://127.0.0.1/x".to_owned(), None);
    assert!(matches!(error, InstallError::Address { .. }), "{error:?}");
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn an_installation_that_was_killed_is_gone_on_with() {
    let place = Place::new();
    let content = archive(&[("pulumi-resource-shop", &"shop ".repeat(100_000))]);
    let half = content.len() / 2;
    let (sent, whole) = (content.clone(), content.clone());
    let shop = Server::start(move |asked, _| Answer::part(asked, &sent, "\"1\""));
    let file = release("shop", "1.0.0").archive();
    let cache = place.installer.cache().folder().to_owned();
    fs::create_dir_all(&cache).unwrap();
    let mut partial = Partial::at(&cache.join("resource-shop-v1.0.0.download")).unwrap();
    partial.begin(&shop.at(&file), Some("\"1\"".to_owned())).unwrap();
    partial.add(&whole[..half]).unwrap();
    drop(partial);
    fs::create_dir_all(cache.join("resource-shop-v1.0.0.tmp10001/half")).unwrap();
    place.install(&release("shop", "1.0.0"), server(shop.at("")), None).unwrap();
    assert_eq!(shop.all()[0].header("range"), Some(format!("bytes={half}-").as_str()));
    assert_eq!(place.names(), ["resource-shop-v1.0.0", "resource-shop-v1.0.0.tmp10001"]);
}

#[test]
fn a_plugin_that_was_not_finished_is_not_installed() {
    let place = Place::new();
    let shop = serve("/", archive(&[("PulumiPlugin.yaml", "runtime: nodejs\n")]));
    let order = Order {
        release: release("shop", "1.0.0"),
        source: server(shop.at("")),
        checksum: None,
        reinstall: false,
    };
    let fresh = place.installer.install(&order, &|_| ()).unwrap();
    assert!(fresh.source().is_some_and(|folder| folder.ends_with("resource-shop-v1.0.0")));
    assert_eq!(place.installer.cache().installed().count(), 0);
    // Whoever was to give it what it depends on died.
    drop(fresh);
    assert_eq!(place.installer.cache().installed().count(), 0);
    let fresh = place.installer.install(&order, &|_| ()).unwrap();
    assert!(fresh.source().is_some());
    fresh.finish().unwrap();
    assert_eq!(place.installer.cache().installed().count(), 1);
    // Nobody downloads it again.
    assert!(place.installer.install(&order, &|_| ()).unwrap().source().is_none());
    assert_eq!(shop.all().len(), 2);
}

/// A server of releases, as GitHub and GitLab tell of them, for those who know the word.
fn releases(word: Option<&'static str>) -> Server {
    let content = archive(&[("pulumi-resource-shop", "x")]);
    Server::start(move |asked, _| {
        if word.is_some_and(|word| asked.header("authorization") != Some(word)) {
            return Answer::missing();
        }
        let file = release("shop", "1.2.0").archive();
        let host = asked.header("host").unwrap();
        let described = format!(
            r#"{{"tag_name": "v1.2.0", "assets": [{{"name": "other", "url": "http://{host}/other"}},
                {{"name": "{file}", "url": "http://{host}/asset/7"}}]}}"#
        );
        let json = |text: &str| match asked.header("accept") {
            Some("application/json") => Answer::ok(text),
            _ => Answer::new("406 Not Acceptable", ""),
        };
        let binary = || match asked.header("accept") {
            Some("application/octet-stream") => Answer::ok(content.clone()),
            _ => Answer::new("406 Not Acceptable", ""),
        };
        match asked.path.as_str() {
            "/repos/acme/pulumi-shop/releases/latest" | "/repos/acme/pulumi-shop/releases/tags/v1.2.0" => {
                json(&described)
            }
            "/api/v4/projects/42/releases/permalink/latest" => json(r#"{"tag_name": "v1.2.0"}"#),
            path if path == format!("/api/v4/projects/42/releases/v1.2.0/downloads/{file}") => binary(),
            "/asset/7" => binary(),
            _ => Answer::missing(),
        }
    })
}

#[test]
fn releases_of_projects_are_installed_with_the_token_that_they_ask_for() {
    let services =
        [("github", "acme", "GITHUB_TOKEN", "token hush"), ("gitlab", "42", "GITLAB_TOKEN", "Bearer hush")];
    for (service, project, variable, word) in services {
        let (open, private) = (releases(None), releases(Some(word)));
        let source = |server: &Server| Source::Server(format!("{service}://{}/{project}", server.address));
        let (without, with) = (Place::new(), Place::with(&[(variable, "hush")]));
        let shop = release("shop", "1.2.0");
        for (place, server) in [(&without, &open), (&with, &private)] {
            let latest = place.installer.latest(Kind::Resource, "shop", &source(server)).unwrap();
            assert_eq!(latest, shop.version);
            place.install(&shop, source(server), None).unwrap();
            assert_eq!(place.names(), ["resource-shop-v1.2.0"], "{service}");
        }
        let error = without.install(&shop, source(&private), None).unwrap_err();
        assert!(error.details()[0].contains(&format!("set {variable}")), "{error:?}");
        let error = without.installer.latest(Kind::Resource, "other", &source(&private)).unwrap_err();
        assert!(matches!(error, InstallError::Latest { .. }), "{error:?}");
    }
}

#[test]
fn a_token_that_github_refuses_is_left_out() {
    let refusing = Server::start(|asked, _| match asked.header("authorization") {
        Some(_) => Answer::new("403 Forbidden", ""),
        None => Answer::ok(r#"{"tag_name": "v2.0.0"}"#),
    });
    let place = Place::with(&[("GITHUB_TOKEN", "fine-grained")]);
    let source = Source::Server(format!("github://{}/acme", refusing.address));
    assert_eq!(place.installer.latest(Kind::Resource, "shop", &source).unwrap(), Version::new(2, 0, 0));
}

#[test]
fn github_that_has_answered_often_enough_is_told() {
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(600);
    let later = later.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let spent = Server::start(move |_, _| {
        Answer::new("403 Forbidden", "").with("x-ratelimit-remaining", 0).with("x-ratelimit-reset", later)
    });
    let source = Source::Server(format!("github://{}/acme", spent.address));
    let error = Place::new().installer.latest(Kind::Resource, "shop", &source).unwrap_err();
    let told = &error.details()[0];
    assert!(told.contains("for another") && told.ends_with("set GITHUB_TOKEN"), "{told}");
    assert_eq!(spent.all().len(), 1);
}

#[test]
fn services_that_say_nonsense_are_told() {
    let nonsense = Server::start(|asked, _| match asked.path.as_str() {
        path if path.ends_with("latest") => Answer::ok(r#"{"tag_name": "nightly"}"#),
        path if path.contains("v2.0.0") => Answer::ok("<html>log in</html>"),
        _ => Answer::ok(r#"{"assets": []}"#),
    });
    let place = Place::new();
    let source = Source::Server(format!("github://{}/acme", nonsense.address));
    let error = place.installer.latest(Kind::Resource, "shop", &source).unwrap_err();
    assert!(error.details()[0].contains("`nightly`, is no version"), "{error:?}");
    for (version, told) in [("1.0.0", "has no file"), ("2.0.0", "does not describe a release")] {
        let error = place.install(&release("shop", version), source.clone(), None).unwrap_err();
        assert!(error.details()[0].contains(told), "{error:?}");
    }
}

#[test]
fn a_folder_does_not_say_what_is_newest() {
    let error =
        Place::new().installer.latest(Kind::Resource, "shop", &server("http://127.0.0.1:1")).unwrap_err();
    assert!(matches!(&error, InstallError::Latest { causes, .. } if causes.is_empty()), "{error:?}");
}

#[test]
fn an_archive_puts_nothing_outside_of_its_folder() {
    for name in ["../evil", "/evil", "a/../../evil"] {
        let place = Place::new();
        let file = place.folder.path().join("plugin.tar.gz");
        fs::write(&file, archive(&[(name, "x")])).unwrap();
        let outcome = place.install(&release("shop", "1.0.0"), Source::Path(file), None);
        // A leading `/` is dropped; what climbs is refused.
        match outcome {
            Ok(installed) => assert!(installed.folder.join("evil").exists(), "{name}"),
            Err(error) => {
                assert!(matches!(error, InstallError::Content { .. }), "{name}: {error:?}");
                assert!(place.names().is_empty(), "{name}");
            }
        }
        let elsewhere = place.folder.path().parent().unwrap().join("evil");
        assert!(
            !elsewhere.exists()
                && !Path::new("/evil").exists()
                && !place.installer.cache().folder().join("evil").exists()
        );
    }
}

#[test]
fn names_that_are_paths_are_refused() {
    let place = Place::new();
    for name in ["", "..", "../x", "a/b", ".hidden", "a b"] {
        let error = place.install(&release(name, "1.0.0"), Source::Released, None).unwrap_err();
        assert!(matches!(error, InstallError::Name { .. }), "{name}: {error:?}");
        let error = place.installer.latest(Kind::Resource, name, &Source::Released).unwrap_err();
        assert!(matches!(error, InstallError::Name { .. }), "{name}: {error:?}");
    }
}

#[cfg(unix)]
#[test]
fn programs_and_folders_are_installed_from_this_machine_and_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let program = place.folder.path().join("anything");
    fs::write(&program, "one").unwrap();
    let shop = release("shop", "1.0.0");
    let install = |path: &Path| place.install(&shop, Source::Path(path.to_owned()), None);
    let error = install(&program).unwrap_err();
    assert!(error.to_string().contains("is not executable"), "{error}");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let installed = install(&program).unwrap();
    assert_eq!(fs::read_to_string(installed.folder.join("pulumi-resource-shop")).unwrap(), "one");
    let folder = place.folder.path().join("source");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/index.js"), "two").unwrap();
    let installed = install(&folder).unwrap();
    assert_eq!(fs::read_to_string(installed.folder.join("src/index.js")).unwrap(), "two");
    assert!(!installed.folder.join("pulumi-resource-shop").exists());
    place.installer.cache().remove(&installed).unwrap();
    assert!(place.names().is_empty(), "{:?}", place.names());
}

#[test]
fn several_that_install_the_same_fetch_it_once() {
    let place = Place::new();
    let shop = serve("/", archive(&[("pulumi-resource-shop", "x")]));
    let order = Order {
        release: release("shop", "1.0.0"),
        source: server(shop.at("")),
        checksum: None,
        reinstall: false,
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| place.installer.install(&order, &|_| ()).unwrap().finish().unwrap());
        }
    });
    assert_eq!((place.names(), shop.all().len()), (vec!["resource-shop-v1.0.0".to_owned()], 1));
    let installed = place.installer.cache().installed().next().unwrap();
    assert_eq!(fs::read_to_string(installed.folder.join("pulumi-resource-shop")).unwrap(), "x");
}
