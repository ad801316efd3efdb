//! Who asks Azure: a service principal, the identity of a pod or a machine, or whoever is logged in to Azure's tools.
//!
//! The flows are `azure_identity`'s; here stands only which of them are tried, in the order of Azure's other SDKs.

use super::fault::told;
use super::line::Line;
use super::{KeyServiceFault, Surroundings};
use async_trait::async_trait;
use azure_core::credentials::{AccessToken, Secret, TokenCredential};
use azure_core::error::{Error, ErrorKind, Result};
use azure_core::http::headers::Headers;
use azure_core::http::{AsyncRawResponse, Body, ClientOptions, HttpClient, Request, RetryOptions, Transport};
use azure_identity::{
    AzureCliCredential, AzureDeveloperCliCredential, ClientAssertionCredentialOptions,
    ClientSecretCredential, ClientSecretCredentialOptions, ManagedIdentityCredential,
    ManagedIdentityCredentialOptions, UserAssignedId, WorkloadIdentityCredential,
    WorkloadIdentityCredentialOptions,
};
use futures::executor::block_on;
use std::fmt;
use std::sync::Arc;
use ureq::http;
use zeroize::Zeroizing;

/// Where tokens for a vault come from.
pub(super) struct Credentials {
    around: Surroundings,
    line: Arc<Line>,
    scope: String,
}

/// The groups that `AZURE_TOKEN_CREDENTIALS` chooses from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Principal,
    Workload,
    Machine,
    Cli,
    DeveloperCli,
}

impl Source {
    const ALL: [Self; 5] = [Self::Principal, Self::Workload, Self::Machine, Self::Cli, Self::DeveloperCli];

    /// Whether a choice of `AZURE_TOKEN_CREDENTIALS` includes it.
    fn is_chosen(self, choice: &str) -> bool {
        let name = match self {
            Self::Principal => "environmentcredential",
            Self::Workload => "workloadidentitycredential",
            Self::Machine => "managedidentitycredential",
            Self::Cli => "azureclicredential",
            Self::DeveloperCli => "azuredeveloperclicredential",
        };
        match choice {
            "" => true,
            "dev" => matches!(self, Self::Cli | Self::DeveloperCli),
            "prod" => !matches!(self, Self::Cli | Self::DeveloperCli),
            choice => choice == name,
        }
    }
}

impl Credentials {
    pub(super) fn new(around: &Surroundings, line: &Arc<Line>, scope: String) -> Self {
        Self { around: around.clone(), line: Arc::clone(line), scope }
    }

    /// A token of the first source that gives one.
    pub(super) fn token(&self) -> std::result::Result<Zeroizing<String>, KeyServiceFault> {
        let choice = self.around.variable("AZURE_TOKEN_CREDENTIALS").unwrap_or_default().to_lowercase();
        let mut reasons = Vec::new();
        for source in Source::ALL.into_iter().filter(|source| source.is_chosen(&choice)) {
            let Some(credential) = self.credential(source) else { continue };
            let token: Result<AccessToken> = credential
                .and_then(|credential| block_on(credential.get_token(&[self.scope.as_str()], None)));
            match token {
                Ok(token) => return Ok(Zeroizing::new(token.token.secret().to_owned())),
                Err(error) => {
                    let reason = reason(&error);
                    // Who has set these up means them; what else there may be would only hide that they fail.
                    if matches!(source, Source::Principal | Source::Workload) {
                        return Err(KeyServiceFault::NoCredentials(reason));
                    }
                    reasons.push(reason);
                }
            }
        }
        if self.around.variable("AZURE_CLIENT_CERTIFICATE_PATH").is_some() {
            reasons.insert(
                0,
                "AZURE_CLIENT_CERTIFICATE_PATH is not supported; use AZURE_CLIENT_SECRET".to_owned(),
            );
        }
        if reasons.is_empty() {
            reasons.push(format!("AZURE_TOKEN_CREDENTIALS=`{choice}` leaves no source"));
        }
        Err(KeyServiceFault::NoCredentials(reasons.join("; ")))
    }

    /// A source, when it is set up.
    fn credential(&self, source: Source) -> Option<Result<Arc<dyn TokenCredential>>> {
        let variable = |name: &str| self.around.variable(name);
        let (tenant, client) = (variable("AZURE_TENANT_ID"), variable("AZURE_CLIENT_ID"));
        Some(match source {
            Source::Principal => {
                let secret = Secret::new(variable("AZURE_CLIENT_SECRET")?);
                let options = ClientSecretCredentialOptions { client_options: self.options() };
                ClientSecretCredential::new(&tenant?, client?, secret, Some(options))
                    .map(|made| made as Arc<dyn TokenCredential>)
            }
            Source::Workload => {
                let options = WorkloadIdentityCredentialOptions {
                    credential_options: ClientAssertionCredentialOptions { client_options: self.options() },
                    client_id: Some(client?),
                    tenant_id: Some(tenant?),
                    token_file_path: Some(variable("AZURE_FEDERATED_TOKEN_FILE")?.into()),
                };
                WorkloadIdentityCredential::new(Some(options)).map(|made| made as Arc<dyn TokenCredential>)
            }
            Source::Machine => {
                let options = ManagedIdentityCredentialOptions {
                    user_assigned_id: client.map(UserAssignedId::ClientId),
                    client_options: self.options(),
                };
                ManagedIdentityCredential::new(Some(options)).map(|made| made as Arc<dyn TokenCredential>)
            }
            Source::Cli => AzureCliCredential::new(None).map(|made| made as Arc<dyn TokenCredential>),
            Source::DeveloperCli => {
                AzureDeveloperCliCredential::new(None).map(|made| made as Arc<dyn TokenCredential>)
            }
        })
    }

    fn options(&self) -> ClientOptions {
        ClientOptions {
            transport: Some(Transport::new(Arc::new(Client(Arc::clone(&self.line))))),
            retry: RetryOptions::none(),
            ..ClientOptions::default()
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("scope", &self.scope).finish_non_exhaustive()
    }
}

/// The words of an error without where to read more.
fn reason(error: &Error) -> String {
    let text = error.to_string();
    told(text.split("\nTo troubleshoot").next().unwrap_or_default(), None)
}

/// Our line, as Azure's crates see it.
#[derive(Debug)]
struct Client(Arc<Line>);

#[async_trait]
impl HttpClient for Client {
    async fn execute_request(&self, request: &Request) -> Result<AsyncRawResponse> {
        let failed = |reason: String| Error::with_message(ErrorKind::Io, reason);
        let mut asked =
            http::Request::builder().method(request.method().as_str()).uri(request.url().as_str());
        for (name, value) in request.headers().iter() {
            asked = asked.header(name.as_str(), value.as_str());
        }
        let parts = asked.body(()).map_err(|error| failed(error.to_string()))?.into_parts().0;
        let Body::Bytes(body) = request.body() else {
            return Err(failed("a body that is a stream is not sent".to_owned()));
        };
        let place = super::line::host(&parts.uri);
        let answer = self.0.attempt(&parts, body);
        let answer =
            answer.map_err(|silence| failed(format!("no answer from {place}: {}", silence.reason)))?;
        let mut headers = Headers::new();
        for (name, value) in &answer.headers {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            headers.insert(name.as_str().to_owned(), value);
        }
        Ok(AsyncRawResponse::from_bytes(answer.status.into(), headers, answer.body.to_vec()))
    }
}
