//! A proxy that every host of a cloud is behind.

use crate::server::{Answer, Asked, Server, Shared, converse, read_head};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

/// The proxy, with a certificate authority of its own.
#[derive(Debug)]
pub struct Cloud {
    server: Server,
    authority: String,
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

impl Cloud {
    /// Starts it. The handler sees which host is meant.
    pub fn start(handler: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let authority = Authority::new();
        let text = authority.text();
        let (listener, server) = Server::bind(handler);
        let (shared, authority) = (server.shared(), Arc::new(authority));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, authority) = (Arc::clone(&shared), Arc::clone(&authority));
                // A client that does not trust us hangs up; that is for its test to notice.
                std::thread::spawn(move || drop(pass(stream, &authority, &shared)));
            }
        });
        Self { server, authority: text }
    }

    /// The server behind it.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The certificate of its authority, in PEM.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

/// Answers in the place of the host that is asked for.
fn pass(stream: TcpStream, authority: &Authority, shared: &Shared) -> io::Result<()> {
    let Some(asked) = read_head(&stream)? else { return Ok(()) };
    if asked.method != "CONNECT" {
        return Err(io::Error::other("a proxy for TLS alone"));
    }
    (&stream).write_all(b"HTTP/1.1 200 Connected\r\n\r\n")?;
    let host = asked.path.split(':').next().unwrap_or_default();
    let connection = ServerConnection::new(authority.config(host)?).map_err(io::Error::other)?;
    // One line is read from and written to in turns, so that both sides can hold it.
    let line = Mutex::new(StreamOwned::new(connection, stream));
    converse(Half(&line), Half(&line), shared);
    Ok(())
}

/// One direction of a line.
struct Half<'a>(&'a Mutex<StreamOwned<ServerConnection, TcpStream>>);

impl Read for Half<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::Error::other("the other side failed"))?.read(buffer)
    }
}

impl Write for Half<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.lock().map_err(|_| io::Error::other("the other side failed"))?.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.lock().map_err(|_| io::Error::other("the other side failed"))?.flush()
    }
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).expect("a certificate");
        let certificate = certificate.der().clone();
        Self { issuer: Issuer::new(params, key), certificate }
    }

    fn text(&self) -> String {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let body = STANDARD.encode(&self.certificate);
        let lines: Vec<&str> =
            body.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    /// A certificate for a host, signed by us.
    fn config(&self, host: &str) -> io::Result<Arc<ServerConfig>> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let params = CertificateParams::new(vec![host.to_owned()]).map_err(io::Error::other)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(io::Error::other)?;
        let chain = vec![certificate.der().clone()];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
            .map_err(io::Error::other)?;
        Ok(Arc::new(config))
    }
}
