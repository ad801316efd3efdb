//! Credentials for S3 from where Amazon's tools find them. The server only writes down who asks.

#![allow(clippy::unwrap_used)]

use drystone_servers::{self as servers, Scripted};
use drystone_stores::object::{BucketOptions, open_url};
use std::path::Path;
use std::process::Command;
use url::Url;

const NO_META: &str = "404 Not Found\n\n<Error><Code>NoSuchKey</Code></Error>";
const NO_STACKS: &str = "200 OK\n\n<ListBucketResult><Name>b</Name><Prefix></Prefix><KeyCount>0</KeyCount>\
                         <MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated></ListBucketResult>";

/// Who asked a server, and in which region, as each request is signed.
#[derive(Debug, PartialEq)]
struct Asker {
    key: String,
    region: String,
    has_token: bool,
}

/// Opens a bucket and says who asked for it.
async fn asker(parameters: &str, variables: Vec<(&'static str, String)>) -> Asker {
    let server = Scripted::answering(&[NO_META, NO_STACKS]);
    let url = format!("s3://acme?endpoint=http://127.0.0.1:{}{parameters}", server.port());
    let find = move |wanted: &str| {
        variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone())
    };
    open_url(&Url::parse(&url).unwrap(), BucketOptions::default(), find).await.unwrap();
    let head = server.asked().remove(0).to_ascii_lowercase();
    let signed: Vec<String> =
        head.split("credential=").nth(1).unwrap().split('/').map(str::to_owned).collect();
    Asker {
        key: signed[0].to_uppercase(),
        region: signed[2].clone(),
        has_token: head.contains("x-amz-security-token"),
    }
}

fn asks(key: &str, region: &str, has_token: bool) -> Asker {
    Asker { key: key.to_owned(), region: region.to_owned(), has_token }
}

/// The shared files with a profile for each way.
fn files(folder: &Path) -> Vec<(&'static str, String)> {
    let process = folder.join("credentials of the day");
    std::fs::write(
        &process,
        "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"AKIAPROCESS\",\"SecretAccessKey\":\"s\",\"SessionToken\":\"t\"}'\n",
    )
    .unwrap();
    let config = format!(
        "[default]\nregion = eu-north-1\n\
         [profile process]\ncredential_process = sh \"{}\"\n\
         [profile deploy]\nrole_arn = arn:aws:iam::123456789012:role/deploy\nsource_profile = base\nregion = eu-west-1\n",
        process.display()
    );
    std::fs::write(folder.join("config"), config).unwrap();
    let credentials = "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = s\n\
                       [base]\naws_access_key_id = AKIABASE\naws_secret_access_key = s\n";
    std::fs::write(folder.join("credentials"), credentials).unwrap();
    vec![
        ("AWS_CONFIG_FILE", folder.join("config").display().to_string()),
        ("AWS_SHARED_CREDENTIALS_FILE", folder.join("credentials").display().to_string()),
    ]
}

#[tokio::test]
async fn keys_profiles_and_processes_are_found_in_amazons_order() {
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let keys = [("AWS_ACCESS_KEY_ID", "AKIAKEYS".to_owned()), ("AWS_SECRET_ACCESS_KEY", "s".to_owned())];
    let with = |more: &[(&'static str, String)]| [&files, more].concat();

    assert_eq!(asker("", files.clone()).await, asks("AKIADEFAULT", "eu-north-1", false));
    assert_eq!(asker("", with(&keys)).await, asks("AKIAKEYS", "eu-north-1", false));
    let token =
        [&keys[..], &[("AWS_SESSION_TOKEN", "t".to_owned()), ("AWS_REGION", "eu-south-1".to_owned())]];
    assert_eq!(asker("", with(&token.concat())).await, asks("AKIAKEYS", "eu-south-1", true));
    let profile = [("AWS_PROFILE", "base".to_owned())];
    assert_eq!(asker("", with(&profile)).await, asks("AKIABASE", "us-east-1", false));
    // A profile in the URL goes before keys in variables.
    assert_eq!(asker("&profile=base", with(&keys)).await, asks("AKIABASE", "us-east-1", false));
    assert_eq!(asker("&profile=process", with(&keys)).await, asks("AKIAPROCESS", "us-east-1", true));
    assert_eq!(asker("&region=ap-south-1", files).await, asks("AKIADEFAULT", "ap-south-1", false));
}

/// Amazon's library takes the address of its token service from the process's own variables, so that the roles are taken
/// on in a process of their own.
#[test]
#[ignore = "needs moto: run by cargo xtask test"]
fn roles_are_taken_on_with_what_was_found() {
    let moto = servers::moto();
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "somebody_with_roles", "--include-ignored", "--nocapture"])
        .env("AWS_ENDPOINT_URL_STS", format!("http://127.0.0.1:{}", moto.port()))
        .env("DRYSTONE_ROLES", "1")
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// The process of the test above.
#[tokio::test]
#[ignore = "a part of the test above, started by it"]
async fn somebody_with_roles() {
    if std::env::var_os("DRYSTONE_ROLES").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let files = files(folder.path());
    let by_profile = asker("&profile=deploy", files.clone()).await;
    assert!(by_profile.key.starts_with("ASIA") && by_profile.has_token, "{by_profile:?}");
    assert_eq!(by_profile.region, "eu-west-1");
    let by_url = asker("&role=arn:aws:iam::123456789012:role/deploy", files).await;
    assert!(by_url.key.starts_with("ASIA") && by_url.has_token, "{by_url:?}");
    assert_eq!(by_url.region, "eu-north-1");
}
