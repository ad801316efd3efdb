//! What the `reqsign` crates need of us: files, variables, programs and the line, and a chain that says why it failed.
//!
//! Everything here answers at once, so that their futures never wait and can be run to their end wherever we are.

use super::line::Line;
use super::{KeyServiceFault, Surroundings};
use crate::Lookup;
use bytes::Bytes;
use futures::executor::block_on;
use reqsign_core::{
    CommandExecute, CommandOutput, Context, Env, Error, ErrorKind, FileRead, HttpSend, ProvideCredential,
    ProvideCredentialDyn, Result, Signer, SigningCredential,
};
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use ureq::http::request::Parts;
use ureq::http::{Request, Response};

/// The world as `reqsign` sees it.
pub(super) fn context(around: &Surroundings, line: &Arc<Line>) -> Context {
    Context::new()
        .with_file_read(Files)
        .with_http_send(Sender(Arc::clone(line)))
        .with_env(Variables(Arc::clone(&around.environment)))
        .with_command_execute(Programs)
}

/// Signs a request, or says why there is nothing to sign with.
pub(super) fn sign<C: SigningCredential>(
    signer: &Signer<C>,
    parts: &mut Parts,
) -> std::result::Result<(), KeyServiceFault> {
    block_on(signer.sign(parts, None)).map_err(|error| fault(&error))
}

/// The fault of credentials that could not be had.
pub(super) fn fault(error: &Error) -> KeyServiceFault {
    let text = super::fault::told(&error.to_string(), None);
    match error.kind() {
        ErrorKind::PermissionDenied => KeyServiceFault::Denied(text),
        _ if text.contains("xpired") => KeyServiceFault::Expired(text),
        _ => KeyServiceFault::NoCredentials(text),
    }
}

/// Sources of credentials, asked in turn. Unlike `reqsign`'s own chain it keeps why a source failed, for when none has
/// any: "the token has expired" helps more than "nothing was found".
pub(super) struct Sources<C> {
    sources: Vec<(Box<dyn ProvideCredentialDyn<Credential = C>>, Failures)>,
    /// What was looked for, for when there is nothing.
    looked_for: &'static str,
}

impl<C: Send + Sync + Unpin + 'static> Sources<C> {
    pub(super) fn new(looked_for: &'static str) -> Self {
        Self { sources: Vec::new(), looked_for }
    }

    /// A source that somebody has set up: that it fails is worth telling.
    pub(super) fn then(mut self, source: impl ProvideCredential<Credential = C> + 'static) -> Self {
        self.sources.push((Box::new(source), Failures::Told));
        self
    }

    /// A source that most machines do not have: its failure means that it is not there.
    pub(super) fn then_perhaps(mut self, source: impl ProvideCredential<Credential = C> + 'static) -> Self {
        self.sources.push((Box::new(source), Failures::Absence));
        self
    }
}

/// What the failure of a source means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failures {
    Told,
    Absence,
}

impl<C: Send + Sync + Unpin + 'static> ProvideCredential for Sources<C> {
    type Credential = C;

    async fn provide_credential(&self, context: &Context) -> Result<Option<C>> {
        let mut failed = None;
        for (source, failures) in &self.sources {
            match source.provide_credential_dyn(context).await {
                Ok(Some(credential)) => return Ok(Some(credential)),
                Ok(None) => {}
                Err(error) if *failures == Failures::Told => failed = failed.or(Some(error)),
                Err(_) => {}
            }
        }
        Err(failed.unwrap_or_else(|| Error::credential_invalid(self.looked_for)))
    }
}

impl<C> fmt::Debug for Sources<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("count", &self.sources.len()).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Files;

impl FileRead for Files {
    async fn file_read(&self, path: &str) -> Result<Vec<u8>> {
        std::fs::read(path).map_err(|error| Error::config_invalid(format!("{path}: {error}")))
    }
}

#[derive(Debug)]
struct Sender(Arc<Line>);

impl HttpSend for Sender {
    async fn http_send(&self, request: Request<Bytes>) -> Result<Response<Bytes>> {
        let (parts, body) = request.into_parts();
        let place = super::line::host(&parts.uri);
        let answer = self.0.attempt(&parts, &body);
        let answer = answer
            .map_err(|silence| Error::unexpected(format!("no answer from {place}: {}", silence.reason)))?;
        let mut response = Response::builder().status(answer.status);
        if let Some(headers) = response.headers_mut() {
            *headers = answer.headers.clone();
        }
        response
            .body(Bytes::copy_from_slice(&answer.body))
            .map_err(|_| Error::unexpected(format!("{place} gave no answer of HTTP")))
    }
}

struct Variables(Arc<Lookup>);

/// The variables that are asked for all at once rather than by name.
const ASKED_TOGETHER: [&str; 10] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
    "AWS_ROLE_SESSION_NAME",
    "AWS_REGION",
    "AWS_STS_REGIONAL_ENDPOINTS",
];

impl Env for Variables {
    fn var(&self, name: &str) -> Option<String> {
        (self.0)(name)?.into_string().ok().filter(|value| !value.is_empty())
    }

    fn vars(&self) -> HashMap<String, String> {
        ASKED_TOGETHER.iter().filter_map(|&name| Some((name.to_owned(), self.var(name)?))).collect()
    }

    fn home_dir(&self) -> Option<PathBuf> {
        self.var("HOME").map(PathBuf::from)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Variables")
    }
}

/// Programs that give credentials, such as `credential_process` of an AWS profile.
#[derive(Debug)]
struct Programs;

impl CommandExecute for Programs {
    async fn command_execute<'a>(&'a self, program: &'a str, args: &'a [&'a str]) -> Result<CommandOutput> {
        let output = Command::new(program).args(args).output();
        let output = output.map_err(|error| Error::config_invalid(format!("{program}: {error}")))?;
        let status = output.status.code().unwrap_or(-1);
        Ok(CommandOutput { status, stdout: output.stdout, stderr: output.stderr })
    }
}
