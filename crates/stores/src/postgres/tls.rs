//! TLS to the server, in libpq's modes.

use crate::{Error, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// How much TLS is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TlsMode {
    /// None.
    Disable,
    /// When the server has it; nothing is verified.
    Prefer,
    /// Always; nothing is verified. What the stock CLI's driver does when nothing is said.
    Require,
    /// Always, from a server whose certificate a known authority signed.
    VerifyCa,
    /// Always, and the certificate must be for the host's name.
    VerifyFull,
}

impl TlsMode {
    /// A mode by libpq's name. `require` with an authority's certificate verifies it, as in libpq.
    pub(super) fn named(name: Option<&str>, has_root: bool) -> Result<Self, String> {
        match name {
            None | Some("require") if has_root => Ok(Self::VerifyCa),
            None | Some("require") => Ok(Self::Require),
            Some("disable") => Ok(Self::Disable),
            Some("allow" | "prefer") => Ok(Self::Prefer),
            Some("verify-ca") => Ok(Self::VerifyCa),
            Some("verify-full") => Ok(Self::VerifyFull),
            Some(other) => Err(format!(
                "`sslmode={other}` is none of disable, allow, prefer, require, verify-ca and verify-full"
            )),
        }
    }
}

/// What is known of TLS before anything is read.
#[derive(Debug, Clone)]
pub(super) struct TlsSettings {
    pub(super) mode: TlsMode,
    /// The certificates of authorities, or `system`.
    pub(super) root: Option<PathBuf>,
    /// The client's certificate.
    pub(super) certificate: Option<PathBuf>,
    /// The client's key.
    pub(super) key: Option<PathBuf>,
    /// Where libpq's folder is looked for.
    pub(super) home: Option<PathBuf>,
}

impl TlsSettings {
    /// What makes connections safe.
    pub(super) fn connector(&self) -> Result<MakeRustlsConnect> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = self.verifier(&provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(Path::new("TLS"), error))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match &self.certificate {
            Some(certificate) => {
                let chain = certificates(certificate)?;
                let key = self.key.as_ref().unwrap_or(certificate);
                let key = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, error))?;
                builder.with_client_auth_cert(chain, key).map_err(|error| unusable(certificate, error))?
            }
            None => builder.with_no_client_auth(),
        };
        Ok(MakeRustlsConnect::new(config))
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
        match self.mode {
            TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => {
                Ok(Arc::new(Unverified { provider: Arc::clone(provider) }))
            }
            TlsMode::VerifyCa => {
                let roots = self.roots()?;
                match roots {
                    Some(roots) => {
                        Ok(Arc::new(SignedOnly { roots: Arc::new(roots), provider: Arc::clone(provider) }))
                    }
                    None => Ok(Arc::new(AnyName { verifier: system(provider)? })),
                }
            }
            TlsMode::VerifyFull => match self.roots()? {
                Some(roots) => {
                    let built =
                        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
                            .build();
                    built.map(|verifier| verifier as _).map_err(|error| unusable(&self.root_path(), error))
                }
                None => system(provider),
            },
        }
    }

    /// The authorities that were named; `None` for the system's.
    fn roots(&self) -> Result<Option<RootCertStore>> {
        let path = self.root_path();
        if self.root.as_deref() == Some(Path::new("system")) || (self.root.is_none() && !path.exists()) {
            return Ok(None);
        }
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&path)? {
            roots.add(certificate).map_err(|error| unusable(&path, error))?;
        }
        Ok(Some(roots))
    }

    fn root_path(&self) -> PathBuf {
        let usual = || self.home.clone().unwrap_or_default().join(".postgresql/root.crt");
        self.root.clone().unwrap_or_else(usual)
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let read = read.map_err(|error| unusable(path, error))?;
    if read.is_empty() { Err(unusable(path, "there is no certificate in it")) } else { Ok(read) }
}

fn unusable(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::Unsupported { path: path.to_owned(), reason: reason.to_string() }
}

fn system(provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
    let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(provider));
    verifier
        .map(|verifier| Arc::new(verifier) as _)
        .map_err(|error| unusable(Path::new("the system's certificates"), error))
}

type Verified<T> = Result<T, rustls::Error>;

/// Takes any certificate; the connection is only encrypted.
#[derive(Debug)]
struct Unverified {
    provider: Arc<CryptoProvider>,
}

/// Takes a certificate that one of the authorities signed, whatever its name.
#[derive(Debug)]
struct SignedOnly {
    roots: Arc<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

/// Takes a certificate that another verifier takes or finds only the name of to be wrong, which is the last that is
/// looked at.
#[derive(Debug)]
struct AnyName {
    verifier: Arc<dyn ServerCertVerifier>,
}

/// The signatures of the handshake are verified in every mode: whoever has shown a certificate must have its key.
macro_rules! signatures_of_the_handshake {
    ($provider:ident) => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Verified<HandshakeSignatureValid> {
            let algorithms = &self.$provider.signature_verification_algorithms;
            rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Verified<HandshakeSignatureValid> {
            let algorithms = &self.$provider.signature_verification_algorithms;
            rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.$provider.signature_verification_algorithms.supported_schemes()
        }
    };
}

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Verified<ServerCertVerified> {
        Ok(ServerCertVerified::assertion())
    }

    signatures_of_the_handshake!(provider);
}

impl ServerCertVerifier for SignedOnly {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Verified<ServerCertVerified> {
        let certificate = ParsedCertificate::try_from(certificate)?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(&certificate, &self.roots, intermediates, now, algorithms)?;
        Ok(ServerCertVerified::assertion())
    }

    signatures_of_the_handshake!(provider);
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        response: &[u8],
        now: UnixTime,
    ) -> Verified<ServerCertVerified> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        match self.verifier.verify_server_cert(certificate, intermediates, name, response, now) {
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. })) => {
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Verified<HandshakeSignatureValid> {
        self.verifier.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Verified<HandshakeSignatureValid> {
        self.verifier.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
