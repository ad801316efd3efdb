use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

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

/// A server of one file; anything else is not there. It says how long the file is, and sends as much of it as it is told.
fn serve(path: &'static str, content: Vec<u8>, sent: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let asked = lines.next().unwrap().unwrap();
            while lines.next().unwrap().unwrap() != "" {}
            let (status, body) = if asked.contains(path) {
                ("200 OK", content.as_slice())
            } else {
                ("404 Not Found", &[][..])
            };
            let head =
                format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&body[..sent.min(body.len())]);
        }
    });
    address
}

/// A cache of its own, and the names in it.
struct Installer {
    _folder: tempfile::TempDir,
    cache: Cache,
}

impl Installer {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { cache: Cache::new(folder.path().join("plugins")), _folder: folder }
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.cache.folder()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_plugin_comes_from_a_server_whole() {
    let installer = Installer::new();
    let content = archive(&[("pulumi-resource-shop", "#!/bin/sh\n"), ("docs/readme", "hello")]);
    let server = serve("/1.2.0/shop/pulumi-resource-shop-v1.2.0-", content, usize::MAX);
    let source = Source::Server(format!("{server}/${{VERSION}}/${{NAME}}/"));
    let installed = installer.cache.install(&release("shop", "1.2.0"), &source, None).unwrap();
    assert_eq!(installer.names(), ["resource-shop-v1.2.0"]);
    assert_eq!(installer.cache.installed().collect::<Vec<_>>(), std::slice::from_ref(&installed));
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
    let installer = Installer::new();
    let content = archive(&[("pulumi-resource-shop", "x")]);
    let length = content.len();
    let server = serve("/pulumi-resource-shop-v1.0.0-", content.clone(), usize::MAX);
    let cut = serve("/pulumi-resource-shop-v1.0.0-", content, length / 2);
    let install = |version: &str, server: &str, checksum: Option<&str>| {
        installer
            .cache
            .install(&release("shop", version), &Source::Server(server.to_owned()), checksum)
            .unwrap_err()
    };
    let error = install("1.0.1", &server, None);
    assert!(
        matches!(&error, InstallError::Download { causes, .. } if causes[0].contains("404")),
        "{error:?}"
    );
    let error = install("1.0.0", &cut, None);
    assert!(matches!(error, InstallError::Download { .. } | InstallError::Content { .. }), "{error:?}");
    let error = install("1.0.0", &server, Some(&"0".repeat(64)));
    assert!(matches!(error, InstallError::Checksum { .. }), "{error:?}");
    let error = install("1.0.0", "ftp://127.0.0.1/x", None);
    assert!(matches!(error, InstallError::Address { .. }), "{error:?}");
    assert!(installer.names().is_empty(), "{:?}", installer.names());
}

#[test]
fn an_archive_puts_nothing_outside_of_its_folder() {
    for name in ["../evil", "/evil", "a/../../evil"] {
        let installer = Installer::new();
        let file = installer._folder.path().join("plugin.tar.gz");
        fs::write(&file, archive(&[(name, "x")])).unwrap();
        let outcome = installer.cache.install(&release("shop", "1.0.0"), &Source::Path(file), None);
        // A leading `/` is dropped; what climbs is refused.
        match outcome {
            Ok(installed) => assert!(installed.folder.join("evil").exists(), "{name}"),
            Err(error) => {
                assert!(matches!(error, InstallError::Content { .. }), "{name}: {error:?}");
                assert!(installer.names().is_empty(), "{name}");
            }
        }
        let elsewhere = installer._folder.path().parent().unwrap().join("evil");
        assert!(
            !elsewhere.exists()
                && !Path::new("/evil").exists()
                && !installer.cache.folder().join("evil").exists()
        );
    }
}

#[test]
fn names_that_are_paths_are_refused() {
    let installer = Installer::new();
    for name in ["", "..", "../x", "a/b", ".hidden", "a b"] {
        let error = installer.cache.install(&release(name, "1.0.0"), &Source::Released, None).unwrap_err();
        assert!(matches!(error, InstallError::Name { .. }), "{name}: {error:?}");
    }
}

#[cfg(unix)]
#[test]
fn programs_and_folders_are_installed_from_this_machine_and_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let installer = Installer::new();
    let program = installer._folder.path().join("anything");
    fs::write(&program, "one").unwrap();
    let shop = release("shop", "1.0.0");
    let install = |path: &Path| installer.cache.install(&shop, &Source::Path(path.to_owned()), None);
    let error = install(&program).unwrap_err();
    assert!(error.to_string().contains("is not executable"), "{error}");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let installed = install(&program).unwrap();
    assert_eq!(fs::read_to_string(installed.folder.join("pulumi-resource-shop")).unwrap(), "one");
    let folder = installer._folder.path().join("source");
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/index.js"), "two").unwrap();
    let installed = install(&folder).unwrap();
    assert_eq!(fs::read_to_string(installed.folder.join("src/index.js")).unwrap(), "two");
    assert!(!installed.folder.join("pulumi-resource-shop").exists());
    installer.cache.remove(&installed).unwrap();
    assert!(installer.names().is_empty(), "{:?}", installer.names());
}

#[test]
fn several_that_install_the_same_leave_one() {
    let installer = Installer::new();
    let file = installer._folder.path().join("plugin.tar.gz");
    fs::write(&file, archive(&[("pulumi-resource-shop", "x")])).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let source = Source::Path(file.clone());
                installer.cache.install(&release("shop", "1.0.0"), &source, None).unwrap()
            });
        }
    });
    assert_eq!(installer.names(), ["resource-shop-v1.0.0"]);
    let installed = installer.cache.installed().next().unwrap();
    assert_eq!(fs::read_to_string(installed.folder.join("pulumi-resource-shop")).unwrap(), "x");
}
