//! Logins: `credentials.json`.

use super::{HomeError, credentials_directory, organization, to_text};
use crate::Environment;
use crate::file::{self, Access};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// All logins of a user.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Credentials {
    /// The backend of the last login.
    #[serde(skip_serializing_if = "is_unset", deserialize_with = "filled")]
    pub current: Option<String>,
    /// Access tokens by backend; a backend without one has an empty text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "or_default")]
    access_tokens: BTreeMap<String, Token>,
    /// Accounts by backend.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "or_default")]
    accounts: BTreeMap<String, Account>,
    /// Whatever else stands there (S9).
    #[serde(flatten)]
    extra: Map<String, Json>,
}

/// A login.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Account {
    #[serde(skip_serializing_if = "Token::is_empty", deserialize_with = "or_default")]
    access_token: Token,
    #[serde(skip_serializing_if = "Token::is_empty", deserialize_with = "or_default")]
    refresh_token: Token,
    /// The user.
    #[serde(skip_serializing_if = "String::is_empty", deserialize_with = "or_default")]
    pub username: String,
    /// The organizations that the user belongs to.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub organizations: Vec<String>,
    /// When the login was last found to be good, RFC 3339.
    #[serde(deserialize_with = "or_default")]
    last_validated_at: Moment,
    /// Whether the server's certificate is not checked.
    #[serde(skip_serializing_if = "std::ops::Not::not", deserialize_with = "or_default")]
    pub insecure: bool,
    /// What is known of the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_information: Option<TokenInformation>,
    /// Whatever else stands there (S9).
    #[serde(flatten)]
    extra: Map<String, Json>,
}

/// What is known of an access token.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenInformation {
    /// Its name.
    pub name: String,
    /// The organization that it stands for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub organization: String,
    /// The team that it stands for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub team: String,
    /// When it ends, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Whatever else stands there (S9).
    #[serde(flatten)]
    extra: Map<String, Json>,
}

/// A secret text that does not show itself (S17).
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Token(String);

impl Token {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "None" } else { "[secret]" })
    }
}

/// A time; never is written as the first moment of the year one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct Moment(String);

impl Default for Moment {
    fn default() -> Self {
        Self(NEVER.to_owned())
    }
}

const NEVER: &str = "0001-01-01T00:00:00Z";

/// The member that marks a file whose content an OS credential store protects.
const SEALED_MARK: &str = "$pulumiSecureStore";

/// Why logins cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The home folder does not let us.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The stock CLI has encrypted the file with a key in the OS credential store. It is left as it is.
    #[error("`{}` is encrypted with a key of the operating system's credential store", path.display())]
    Sealed {
        /// The file.
        path: PathBuf,
    },
}

/// Logins together with the file that they stand in.
#[derive(Debug)]
pub struct CredentialsFile {
    /// The logins.
    pub credentials: Credentials,
    path: PathBuf,
}

impl Account {
    /// The login with an access token.
    #[must_use]
    pub fn with_access_token(token: impl Into<String>) -> Self {
        Self { access_token: Token(token.into()), ..Self::default() }
    }

    /// The access token.
    #[must_use]
    pub fn access_token(&self) -> Option<&str> {
        Some(self.access_token.0.as_str()).filter(|token| !token.is_empty())
    }

    /// The token that a new access token is had with.
    #[must_use]
    pub fn refresh_token(&self) -> Option<&str> {
        Some(self.refresh_token.0.as_str()).filter(|token| !token.is_empty())
    }

    /// Changes the token that a new access token is had with.
    pub fn set_refresh_token(&mut self, token: impl Into<String>) {
        self.refresh_token = Token(token.into());
    }

    /// When the login was last found to be good, RFC 3339.
    #[must_use]
    pub fn last_validated_at(&self) -> Option<&str> {
        Some(self.last_validated_at.0.as_str()).filter(|moment| *moment != NEVER && !moment.is_empty())
    }

    /// Says that the login was found to be good at this time, RFC 3339.
    pub fn set_last_validated_at(&mut self, moment: impl Into<String>) {
        self.last_validated_at = Moment(moment.into());
    }
}

impl Credentials {
    /// The login to a backend. Older files have only its token.
    #[must_use]
    pub fn account(&self, url: &str) -> Option<Account> {
        self.accounts.get(url).cloned().or_else(|| {
            let token = self.access_tokens.get(url)?;
            Some(Account { access_token: token.clone(), ..Account::default() })
        })
    }

    /// The backends that there are logins to.
    pub fn backends(&self) -> impl Iterator<Item = &str> {
        let only_tokens = self.access_tokens.keys().filter(|url| !self.accounts.contains_key(*url));
        self.accounts.keys().chain(only_tokens).map(String::as_str)
    }

    /// Logs in to a backend and makes it the current one.
    pub fn log_in(&mut self, url: &str, account: Account) {
        self.access_tokens.insert(url.to_owned(), account.access_token.clone());
        self.accounts.insert(url.to_owned(), account);
        self.current = Some(url.to_owned());
    }

    /// Logs out of a backend and says whether there was a login to it.
    pub fn log_out(&mut self, url: &str) -> bool {
        let had_token = self.access_tokens.remove(url).is_some();
        let had_account = self.accounts.remove(url).is_some();
        if self.current.as_deref() == Some(url) {
            self.current = None;
        }
        had_token || had_account
    }
}

impl CredentialsFile {
    /// Reads the logins of the user; without a file, or with an empty one, there are none.
    pub fn open(environment: &Environment) -> Result<Self, CredentialsError> {
        let directory = credentials_directory(environment).map_err(HomeError::from)?;
        let path = directory.join("credentials.json");
        let text = file::read_if_there(&path).map_err(HomeError::from)?.unwrap_or_default();
        let credentials: Credentials = if text.trim().is_empty() {
            Credentials::default()
        } else {
            serde_json::from_str(&text).map_err(|source| HomeError::Invalid { path: path.clone(), source })?
        };
        if credentials.extra.contains_key(SEALED_MARK) {
            return Err(CredentialsError::Sealed { path });
        }
        Ok(Self { credentials, path })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the logins so that only the user can read them. Without any login the file is removed.
    pub fn save(&self) -> Result<(), CredentialsError> {
        if self.credentials.access_tokens.is_empty() && self.credentials.accounts.is_empty() {
            return Ok(file::remove(&self.path).map_err(HomeError::from)?);
        }
        let text = to_text(&self.credentials)
            .map_err(|source| HomeError::Invalid { path: self.path.clone(), source })?;
        Ok(file::write(&self.path, &text, Access::Private).map_err(HomeError::from)?)
    }

    /// Logs out of a backend, forgets its default organization, and says whether there was a login to it.
    pub fn log_out(&mut self, environment: &Environment, url: &str) -> Result<bool, CredentialsError> {
        let was_in = self.credentials.log_out(url);
        self.save()?;
        organization::forget(environment, Some(url))?;
        Ok(was_in)
    }

    /// Logs out of everything, even if the file cannot be read.
    pub fn log_out_of_everything(environment: &Environment) -> Result<(), CredentialsError> {
        let directory = credentials_directory(environment).map_err(HomeError::from)?;
        file::remove(&directory.join("credentials.json")).map_err(HomeError::from)?;
        Ok(organization::forget(environment, None)?)
    }
}

fn is_unset(text: &Option<String>) -> bool {
    text.as_ref().is_none_or(String::is_empty)
}

fn filled<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|text| !text.is_empty()))
}

/// Null stands for what is not there.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
