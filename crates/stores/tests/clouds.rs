//! The conformance suite on servers that stand in for the clouds, and how their buckets are opened.

#![allow(clippy::unwrap_used)]

mod on_clouds;

use drystone_servers as servers;
use drystone_stores::object::{Fault, Refusal, refusal};
use drystone_stores::{Reads, conformance_tests};
use on_clouds::{Part, open, options};

mod s3_on_minio {
    use super::*;
    conformance_tests!(Part::of(servers::minio()), #[ignore = "needs MinIO: run by cargo xtask test"]);
}

mod s3_on_moto {
    use super::*;
    conformance_tests!(Part::of(servers::moto()), #[ignore = "needs moto: run by cargo xtask test"]);
}

mod azure_on_azurite {
    use super::*;
    conformance_tests!(Part::of(servers::azurite()), #[ignore = "needs Azurite: run by cargo xtask test"]);
}

mod gcs_on_fake_gcs_server {
    use super::*;
    conformance_tests!(
        Part::of(servers::fake_gcs()),
        #[ignore = "needs fake-gcs-server: run by cargo xtask test"],
    );
}

async fn is_honest(cloud: &'static servers::Cloud) {
    for _ in 0..5 {
        open(cloud, &cloud.url(), options()).await.unwrap().probe().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn s11_the_probe_trusts_minio() {
    is_honest(servers::minio()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs moto: run by cargo xtask test"]
async fn s11_the_probe_trusts_moto() {
    is_honest(servers::moto()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Azurite: run by cargo xtask test"]
async fn s11_the_probe_trusts_azurite() {
    is_honest(servers::azurite()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs fake-gcs-server: run by cargo xtask test"]
async fn s11_the_probe_trusts_fake_gcs_server() {
    is_honest(servers::fake_gcs()).await;
}

async fn fault(cloud: &'static servers::Cloud, url: &str) -> Option<Fault> {
    let error = open(cloud, url, options()).await.unwrap_err();
    refusal(&error).map(Refusal::fault)
}

#[tokio::test]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn minio_says_what_is_wrong() {
    let cloud = servers::minio();
    let elsewhere = cloud.url().replace(servers::BUCKET, "nobodys-state");
    assert_eq!(fault(cloud, &elsewhere).await, Some(Fault::NoBucket));
    assert_eq!(fault(cloud, &format!("{}&anonymous=true", cloud.url())).await, Some(Fault::Forbidden));
}

#[tokio::test]
#[ignore = "needs Azurite: run by cargo xtask test"]
async fn azurite_says_what_is_wrong() {
    let cloud = servers::azurite();
    let elsewhere = cloud.url().replace(servers::BUCKET, "nobodys-state");
    assert_eq!(fault(cloud, &elsewhere).await, Some(Fault::NoBucket));
}

#[tokio::test]
#[ignore = "needs MinIO: run by cargo xtask test"]
async fn a_bucket_is_found_in_its_region() {
    static ELSEWHERE: std::sync::OnceLock<servers::Cloud> = std::sync::OnceLock::new();
    let cloud = ELSEWHERE.get_or_init(|| servers::minio_in("eu-central-1"));
    for region in ["", "&region=us-west-2", "&region=eu-central-1"] {
        open(cloud, &format!("{}{region}", cloud.url()), options()).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs Azurite: run by cargo xtask test"]
async fn azurite_is_opened_with_a_token_and_with_a_connection_string() {
    let cloud = servers::azurite();
    let url = url::Url::parse(&cloud.url()).unwrap();
    let token = |name: &str| (name == "AZURE_STORAGE_SAS_TOKEN").then(|| servers::AZURITE_TOKEN.to_owned());
    let store = drystone_stores::object::open_url(&url, options(), token).await.unwrap();
    // Not the probe: the emulator breaks down over a batch of deletions that a token allows.
    assert!(store.stacks(None).await.unwrap().is_empty());
    let text = format!(
        "AccountName=devstoreaccount1;AccountKey={};BlobEndpoint=http://127.0.0.1:{}/devstoreaccount1;",
        servers::AZURITE_KEY,
        cloud.port()
    );
    let string = move |name: &str| (name == "AZURE_STORAGE_CONNECTION_STRING").then(|| text.clone());
    let plain = url::Url::parse(&format!("azblob://{}/by-string", servers::BUCKET)).unwrap();
    drystone_stores::object::open_url(&plain, options(), string).await.unwrap().probe().await.unwrap();
}
