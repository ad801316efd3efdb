//! TLS to PostgreSQL in libpq's modes, with certificates that are made here.

#![allow(clippy::unwrap_used)]

mod database;

use database::Server;
use drystone_stores::Reads;
use drystone_stores::postgres::{PostgresOptions, PostgresStore};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Makes an authority and a certificate of it for a name.
fn certificates(folder: &Path, authority: &str, name: &str, alternative: &str) {
    let run = |arguments: &[&str]| {
        let made = Command::new("openssl").args(arguments).current_dir(folder).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let (ca, ca_key) = (format!("{authority}.crt"), format!("{authority}.key"));
    if !folder.join(&ca).exists() {
        let subject = format!("/CN={authority}");
        run(&[
            &["req", "-x509"],
            &key[..],
            &["-keyout", &ca_key, "-out", &ca, "-subj", &subject, "-days", "2"],
        ]
        .concat());
    }
    let (request, certificate, own) = (format!("{name}.csr"), format!("{name}.crt"), format!("{name}.key"));
    let subject = format!("/CN={name}");
    run(&[&["req"], &key[..], &["-keyout", &own, "-out", &request, "-subj", &subject]].concat());
    std::fs::write(folder.join("san"), format!("subjectAltName={alternative}\n")).unwrap();
    run(&[
        "x509",
        "-req",
        "-in",
        &request,
        "-CA",
        &ca,
        "-CAkey",
        &ca_key,
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "san",
        "-out",
        &certificate,
    ]);
}

/// The server keeps its key to itself.
fn give(folder: &Path, key: &Path) {
    let status = Command::new("chmod").arg("600").arg(key).status().unwrap();
    assert!(status.success());
    let owner = std::fs::metadata(folder).unwrap();
    let _ = std::os::unix::fs::chown(
        key,
        Some(std::os::unix::fs::MetadataExt::uid(&owner)),
        Some(std::os::unix::fs::MetadataExt::gid(&owner)),
    );
}

async fn opens(url: &str) -> Result<(), String> {
    let options = PostgresOptions { patience: Duration::ZERO, ..PostgresOptions::default() };
    let store = PostgresStore::open(url, options).await.map_err(|error| error.to_string())?;
    store.stacks(None).await.map(drop).map_err(|error| error.to_string())
}

#[tokio::test]
#[ignore = "needs PostgreSQL: run by cargo xtask test"]
async fn each_mode_takes_what_it_should_and_refuses_the_rest() {
    let certificates_folder = tempfile::tempdir().unwrap();
    let folder = certificates_folder.path();
    certificates(folder, "authority", "localhost", "DNS:localhost");
    certificates(folder, "authority", "drystone", "DNS:client");
    certificates(folder, "stranger", "other", "DNS:other");
    let plain = Server::start(&[]);
    let mut server = Server::start(&[]);
    for file in ["localhost.crt", "localhost.key", "authority.crt"] {
        std::fs::copy(folder.join(file), server.folder().join(file)).unwrap();
        give(server.folder(), &server.folder().join(file));
    }
    let at = |file: &str| server.folder().join(file).display().to_string();
    let settings = [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", at("localhost.crt")),
        format!("ssl_key_file={}", at("localhost.key")),
        format!("ssl_ca_file={}", at("authority.crt")),
    ];
    // Whoever comes by TLS must show a certificate in the database `postgres`, and need not in `template1`.
    let rules = "local all all trust\nhostnossl all all all trust\nhostssl postgres all all trust clientcert=verify-ca\nhostssl all all all trust\n";
    std::fs::write(server.folder().join("data/pg_hba.conf"), rules).unwrap();
    server.kill();
    server.start_again(&settings.iter().map(String::as_str).collect::<Vec<_>>());

    let port = server.port();
    let root = folder.join("authority.crt").display().to_string();
    let stranger = folder.join("stranger.crt").display().to_string();
    let to = |host: &str, rest: &str| format!("postgres://drystone@{host}:{port}/template1?{rest}");
    let mut tried = 0;
    for (url, expected) in [
        (to("localhost", "sslmode=disable"), ""),
        (to("localhost", "sslmode=prefer"), ""),
        (to("localhost", "sslmode=require"), ""),
        (to("localhost", ""), ""),
        (to("127.0.0.1", "sslmode=require"), ""),
        (to("localhost", &format!("sslmode=verify-ca&sslrootcert={root}")), ""),
        (to("127.0.0.1", &format!("sslmode=verify-ca&sslrootcert={root}")), ""),
        (to("localhost", &format!("sslmode=verify-full&sslrootcert={root}")), ""),
        (to("127.0.0.1", &format!("sslmode=verify-full&sslrootcert={root}")), "not valid for"),
        (to("localhost", &format!("sslmode=verify-full&sslrootcert={stranger}")), "UnknownIssuer"),
        (to("localhost", &format!("sslmode=verify-ca&sslrootcert={stranger}")), "UnknownIssuer"),
        (to("localhost", &format!("sslmode=require&sslrootcert={stranger}")), "UnknownIssuer"),
        (to("localhost", "sslmode=verify-full&sslrootcert=system"), "UnknownIssuer"),
        (to("localhost", "sslmode=verify-ca&sslrootcert=system"), "UnknownIssuer"),
        (to("localhost", "sslmode=verify-full&sslrootcert=/no/such/file"), "/no/such/file"),
        (
            format!("postgres://drystone@127.0.0.1:{}/postgres?sslmode=require", plain.port()),
            "does not support TLS",
        ),
        (format!("postgres://drystone@127.0.0.1:{}/postgres?sslmode=prefer", plain.port()), ""),
        (format!("postgres://drystone@localhost:{port}/postgres?sslmode=require"), "certificate"),
        (
            format!(
                "postgres://drystone@localhost:{port}/postgres?sslmode=verify-full&sslrootcert={root}&sslcert={}&sslkey={}",
                folder.join("drystone.crt").display(),
                folder.join("drystone.key").display()
            ),
            "",
        ),
    ] {
        match (opens(&url).await, expected) {
            (Ok(()), "") => {}
            (Err(said), expected) if !expected.is_empty() && said.contains(expected) => {}
            (outcome, _) => panic!("{url}: {outcome:?}, not {expected:?}"),
        }
        tried += 1;
    }
    println!("{tried} combinations of mode, name, authority and certificate");
}
