//! The servers that stand in for the clouds, each with a bucket.

use crate::process::Server;
use crate::{http, xml_api};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The bucket that every server has.
pub const BUCKET: &str = "acme-state";
/// The key of the account that emulators of Azure have.
pub const AZURITE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
/// A token for that account, good for everything until the year 2100.
pub const AZURITE_TOKEN: &str = "sv=2022-11-02&ss=b&srt=sco&sp=rwdlac&se=2100-01-01T00%3A00%3A00Z&spr=https%2Chttp&sig=8NQEmKJ%2FPuGyMQ7ElcZENegoLZRuF1Ly%2BGixmfTAaYY%3D";

/// A server with a bucket, and how it is opened.
#[derive(Debug)]
pub struct Cloud {
    server: Server,
    scheme: &'static str,
    parameters: String,
    variables: Vec<(&'static str, String)>,
    handed_out: AtomicU32,
}

impl Cloud {
    fn new(
        server: Server,
        scheme: &'static str,
        parameters: String,
        variables: Vec<(&'static str, String)>,
    ) -> Self {
        Self { server, scheme, parameters, variables, handed_out: AtomicU32::new(0) }
    }

    /// The URL of a part of the bucket that nobody else has.
    pub fn url(&self) -> String {
        self.url_by(self.server.port())
    }

    /// The same through somebody who listens on another port.
    pub fn url_by(&self, port: u16) -> String {
        let part = self.handed_out.fetch_add(1, Ordering::Relaxed);
        self.url_of(&format!("{}-{part}", std::process::id()), port)
    }

    /// The URL of a part of the bucket by its name.
    pub fn url_of(&self, part: &str, port: u16) -> String {
        let parameters = self.parameters.replace("PORT", &port.to_string());
        format!("{}://{BUCKET}/{part}{parameters}", self.scheme)
    }

    /// What a client finds in a variable.
    pub fn variable(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.replace("PORT", &self.server.port().to_string()))
    }

    /// The server itself.
    pub fn server(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Sends a request to a server that believes any signature, and gives what is in its answer.
    pub fn ask(&self, method: &str, target: &str, body: &str) -> String {
        const SIGNATURE: &str = "Authorization: AWS4-HMAC-SHA256 Credential=moto/20260101/us-east-1/s3/aws4_request, \
                                 SignedHeaders=host, Signature=0\r\n";
        let answer = http::ask(self.server.port(), method, target, SIGNATURE, body).expect("an answer");
        assert!(answer.word(1).starts_with('2'), "{method} {target}: {}", answer.head);
        String::from_utf8_lossy(&answer.body).into_owned()
    }

    /// Where the server listens.
    pub fn port(&self) -> u16 {
        self.server.port()
    }
}

/// Where a peer stands.
pub(crate) fn peer(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set")).into()
}

/// The MinIO that the tests of this process share.
pub fn minio() -> &'static Cloud {
    static SHARED: OnceLock<Cloud> = OnceLock::new();
    SHARED.get_or_init(|| minio_in(""))
}

/// A MinIO of one's own, in a region.
pub fn minio_in(region: &str) -> Cloud {
    let program = peer("DRYSTONE_PEER_MINIO");
    let program =
        [&*program.to_string_lossy(), "server", "--quiet", "--address", "127.0.0.1:PORT", "FOLDER/data"]
            .map(str::to_owned);
    let words: Vec<&str> = program.iter().map(String::as_str).collect();
    let variables = [
        ("MINIO_ROOT_USER", "drystone"),
        ("MINIO_ROOT_PASSWORD", "drystone-secret"),
        ("MINIO_BROWSER", "off"),
        ("MINIO_UPDATE", "off"),
        ("MINIO_CI_CD", "on"),
        ("MINIO_REGION", region),
        ("HOME", "FOLDER"),
    ];
    let with_bucket =
        |folder: &Path| std::fs::create_dir_all(folder.join("data").join(BUCKET)).expect("a bucket");
    let server = Server::start(&words, &variables, with_bucket);
    let parameters = "?endpoint=http://127.0.0.1:PORT&s3ForcePathStyle=true".to_owned();
    let keys = vec![
        ("AWS_ACCESS_KEY_ID", "drystone".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "drystone-secret".to_owned()),
    ];
    Cloud::new(server, "s3", parameters, keys)
}

/// Runs moto with one thread: it looks whether a condition is met, and writes, without a lock, so that two requests at
/// once could both find it met. The policies of buckets are kept and not applied: it passes over their conditions, and
/// one that keeps other accounts out would keep everybody out.
const ONE_AT_A_TIME: &str = "
import sys
from moto.iam.access_control import PermissionResult
from moto.s3.models import FakeBucket
from werkzeug.serving import run_simple
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
FakeBucket.get_permission = lambda *_, **__: PermissionResult.NEUTRAL
run_simple('127.0.0.1', int(sys.argv[1]), DomainDispatcherApplication(create_backend_app), threaded=False)
";

/// The moto that the tests of this process share.
pub fn moto() -> &'static Cloud {
    static SHARED: OnceLock<Cloud> = OnceLock::new();
    SHARED.get_or_init(moto_alone)
}

/// A moto of one's own, whose account nobody else uses.
pub fn moto_alone() -> Cloud {
    let place = peer("DRYSTONE_PEER_MOTO");
    let python = place.join("bin").join("python");
    let words = [&*python.to_string_lossy(), "-c", ONE_AT_A_TIME, "PORT"];
    let server = Server::start(&words, &[], |_| {});
    make(server.port(), "PUT", &format!("/{BUCKET}"), "", "");
    let parameters = "?region=us-east-1&endpoint=http://127.0.0.1:PORT&use_path_style=true".to_owned();
    let keys =
        vec![("AWS_ACCESS_KEY_ID", "moto".to_owned()), ("AWS_SECRET_ACCESS_KEY", "moto-secret".to_owned())];
    Cloud::new(server, "s3", parameters, keys)
}

/// The fake-gcs-server that the tests of this process share, behind a translator of Google's XML API.
pub fn fake_gcs() -> &'static Cloud {
    static SHARED: OnceLock<Cloud> = OnceLock::new();
    SHARED.get_or_init(|| {
        let program = peer("DRYSTONE_PEER_FAKE_GCS");
        let words = [
            &*program.to_string_lossy(),
            "-scheme",
            "http",
            "-host",
            "127.0.0.1",
            "-port",
            "PORT",
            "-backend",
            "memory",
            "-public-host",
            "127.0.0.1:PORT",
            "-log-level",
            "error",
        ];
        let server = Server::start(&words, &[], |_| {});
        let body = format!("{{\"name\":\"{BUCKET}\"}}");
        make(
            server.port(),
            "POST",
            "/storage/v1/b?project=acme",
            "Content-Type: application/json\r\n",
            &body,
        );
        let port = xml_api::before(server.port(), format!("127.0.0.1:{}", server.port()));
        Cloud::new(server, "gs", String::new(), vec![("STORAGE_EMULATOR_HOST", format!("127.0.0.1:{port}"))])
    })
}

/// The Azurite that the tests of this process share.
pub fn azurite() -> &'static Cloud {
    static SHARED: OnceLock<Cloud> = OnceLock::new();
    SHARED.get_or_init(|| {
        let place = peer("DRYSTONE_PEER_AZURITE").join("node_modules/azurite/dist/src/blob/main.js");
        let words = [
            "node",
            &*place.to_string_lossy(),
            "--blobHost",
            "127.0.0.1",
            "--blobPort",
            "PORT",
            "--inMemoryPersistence",
            "--skipApiVersionCheck",
            "--disableTelemetry",
            "--silent",
        ];
        let server = Server::start(&words, &[], |_| {});
        let target = format!("/devstoreaccount1/{BUCKET}?restype=container&{AZURITE_TOKEN}");
        make(server.port(), "PUT", &target, "x-ms-version: 2022-11-02\r\n", "");
        let parameters = "?storage_account=devstoreaccount1&domain=127.0.0.1:PORT&protocol=http".to_owned();
        let keys = vec![
            ("AZURE_STORAGE_ACCOUNT", "devstoreaccount1".to_owned()),
            ("AZURE_STORAGE_KEY", AZURITE_KEY.to_owned()),
        ];
        Cloud::new(server, "azblob", parameters, keys)
    })
}

/// Makes a bucket.
fn make(port: u16, method: &str, target: &str, headers: &str, body: &str) {
    let status = http::status(port, method, target, headers, body).expect("an answer");
    assert!((200..300).contains(&status), "{method} {target}: {status}");
}
