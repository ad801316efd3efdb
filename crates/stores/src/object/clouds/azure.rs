//! `azblob://`: Azure Blob Storage.

use super::address::Address;
use super::connection::{Connection, no_retries};
use super::{Environment, built};
use crate::Result;
use object_store::ObjectStore;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parameters that Pulumi's URLs take.
pub(super) const PARAMETERS: &[&str] = &["storage_account", "domain", "protocol", "cdn", "localemu"];

/// What storage emulators everywhere have.
const EMULATOR_ACCOUNT: &str = "devstoreaccount1";
const EMULATOR_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Opens a container.
pub(super) fn open(
    address: &Address,
    environment: &Environment,
    connection: Connection,
) -> Result<Arc<dyn ObjectStore>> {
    let settings = Settings::read(address, environment)?;
    let builder = MicrosoftAzureBuilder::new()
        .with_container_name(&address.bucket)
        .with_account(&settings.account)
        .with_endpoint(settings.endpoint.clone())
        .with_retry(no_retries())
        .with_http_connector(connection);
    let builder = settings
        .credentials
        .into_iter()
        .fold(builder, |builder, (key, value)| builder.with_config(key, value));
    Ok(Arc::new(builder.build().map_err(built(address))?))
}

/// What the URL and the variables say.
#[derive(Debug)]
struct Settings {
    account: String,
    endpoint: String,
    credentials: Vec<(AzureConfigKey, String)>,
}

impl Settings {
    fn read(address: &Address, environment: &Environment) -> Result<Self> {
        let text = environment
            .get("AZURE_STORAGE_CONNECTION_STRING")
            .or_else(|| environment.get("AZURE_STORAGEBLOB_CONNECTIONSTRING"));
        let connection = text.as_deref().map(ConnectionString::parse).unwrap_or_default();
        let named = address.text("storage_account").map(str::to_owned);
        let account = named
            .or_else(|| environment.get("AZURE_STORAGE_ACCOUNT"))
            .or_else(|| connection.get("AccountName"))
            .ok_or_else(|| {
                address
                    .refused("no storage account is named: give `storage_account` or AZURE_STORAGE_ACCOUNT")
            })?;
        let endpoint = endpoint(address, environment, &connection, &account)?;
        let credentials = credentials(environment, &connection);
        Ok(Self { account, endpoint, credentials })
    }
}

/// Where the account's blobs are. An emulator, and whatever is on this machine, has the account in the path.
fn endpoint(
    address: &Address,
    environment: &Environment,
    connection: &ConnectionString,
    account: &str,
) -> Result<String> {
    let setting = |name: &str, variable: &str| {
        address.text(name).map(str::to_owned).or_else(|| environment.get(variable))
    };
    let flag = |name: &str, variable: &str| {
        let given = setting(name, variable);
        given.map(|value| address.parse_flag(name, &value)).transpose().map(Option::unwrap_or_default)
    };
    let given = setting("domain", "AZURE_STORAGE_DOMAIN");
    let is_emulator = flag("localemu", "AZURE_STORAGE_IS_LOCAL_EMULATOR")?;
    let is_network = flag("cdn", "AZURE_STORAGE_IS_CDN")?;
    if given.is_none()
        && !is_emulator
        && let Some(endpoint) = connection.get("BlobEndpoint")
    {
        return Ok(endpoint.trim_end_matches('/').to_owned());
    }
    let domain = given.or_else(|| connection.get("EndpointSuffix").map(|suffix| format!("blob.{suffix}")));
    let domain = match domain {
        Some(domain) => domain,
        None if is_emulator => "127.0.0.1:10000".to_owned(),
        None => "blob.core.windows.net".to_owned(),
    };
    let protocol = setting("protocol", "AZURE_STORAGE_PROTOCOL")
        .or_else(|| connection.get("DefaultEndpointsProtocol"))
        .unwrap_or_else(|| "https".to_owned());
    if protocol != "http" && protocol != "https" {
        return Err(address.refused(format!("`protocol` is http or https, not `{protocol}`")));
    }
    let is_here = domain.starts_with("127.0.0.1") || domain.starts_with("localhost");
    Ok(if is_here || is_emulator {
        format!("{protocol}://{domain}/{account}")
    } else if is_network {
        format!("{protocol}://{domain}")
    } else {
        format!("{protocol}://{account}.{domain}")
    })
}

/// Credentials in the order in which Pulumi looks for them; where there are none, those of a service principal, of the
/// workload or of the machine, or whoever is signed on with `az`.
fn credentials(environment: &Environment, connection: &ConnectionString) -> Vec<(AzureConfigKey, String)> {
    if let (Some(_), Some(key)) =
        (environment.get("AZURE_STORAGE_ACCOUNT"), environment.get("AZURE_STORAGE_KEY"))
    {
        return vec![(AzureConfigKey::AccessKey, key)];
    }
    if let Some(token) = environment.get("AZURE_STORAGE_SAS_TOKEN") {
        return vec![(AzureConfigKey::SasKey, token)];
    }
    if let Some(key) = connection.get("AccountKey") {
        return vec![(AzureConfigKey::AccessKey, key)];
    }
    if let Some(token) = connection.get("SharedAccessSignature") {
        return vec![(AzureConfigKey::SasKey, token)];
    }
    let mut found: Vec<(AzureConfigKey, String)> = [
        (AzureConfigKey::ClientId, "AZURE_CLIENT_ID"),
        (AzureConfigKey::ClientSecret, "AZURE_CLIENT_SECRET"),
        (AzureConfigKey::AuthorityId, "AZURE_TENANT_ID"),
        (AzureConfigKey::AuthorityHost, "AZURE_AUTHORITY_HOST"),
        (AzureConfigKey::FederatedTokenFile, "AZURE_FEDERATED_TOKEN_FILE"),
        (AzureConfigKey::MsiEndpoint, "IDENTITY_ENDPOINT"),
    ]
    .into_iter()
    .filter_map(|(key, variable)| Some((key, environment.get(variable)?)))
    .collect();
    let has = |wanted: AzureConfigKey| found.iter().any(|(key, _)| *key == wanted);
    let is_principal = has(AzureConfigKey::ClientSecret) || has(AzureConfigKey::FederatedTokenFile);
    let is_machine = has(AzureConfigKey::MsiEndpoint) || environment.get("MSI_ENDPOINT").is_some();
    if !is_principal && !is_machine && is_signed_on(environment) {
        found.push((AzureConfigKey::UseAzureCli, "true".to_owned()));
    }
    found
}

/// Whether somebody has signed on with `az` here.
fn is_signed_on(environment: &Environment) -> bool {
    let folder = environment.get("AZURE_CONFIG_DIR").map(std::path::PathBuf::from);
    let folder = folder.or_else(|| Some(environment.home()?.join(".azure")));
    folder.is_some_and(|folder| folder.join("azureProfile.json").exists())
}

/// A connection string: names and values between semicolons.
#[derive(Debug, Default)]
struct ConnectionString(BTreeMap<String, String>);

impl ConnectionString {
    fn parse(text: &str) -> Self {
        let mut parts: BTreeMap<String, String> = text
            .split(';')
            .filter_map(|part| part.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect();
        if parts.get("UseDevelopmentStorage").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            parts.insert("AccountName".to_owned(), EMULATOR_ACCOUNT.to_owned());
            parts.insert("AccountKey".to_owned(), EMULATOR_KEY.to_owned());
            parts.insert("BlobEndpoint".to_owned(), format!("http://127.0.0.1:10000/{EMULATOR_ACCOUNT}"));
        }
        Self(parts)
    }

    fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    fn read(url: &str, variables: &[(&str, &str)]) -> Result<Settings> {
        let address = Address::parse(&Url::parse(url).unwrap(), PARAMETERS)?;
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let environment = Environment::new(move |wanted: &str| {
            variables.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
        });
        Settings::read(&address, &environment)
    }

    #[test]
    fn blobs_are_where_the_url_and_the_variables_say() {
        let account = ("AZURE_STORAGE_ACCOUNT", "acme");
        for (url, variables, endpoint) in [
            ("azblob://state", vec![account], "https://acme.blob.core.windows.net"),
            ("azblob://state?storage_account=other", vec![account], "https://other.blob.core.windows.net"),
            (
                "azblob://state?domain=blob.core.chinacloudapi.cn",
                vec![account],
                "https://acme.blob.core.chinacloudapi.cn",
            ),
            ("azblob://state?domain=cdn.example&cdn=true", vec![account], "https://cdn.example"),
            (
                "azblob://state?domain=localhost:10001&protocol=http",
                vec![account],
                "http://localhost:10001/acme",
            ),
            ("azblob://state?localemu=true&protocol=http", vec![account], "http://127.0.0.1:10000/acme"),
            (
                "azblob://state",
                vec![(
                    "AZURE_STORAGE_CONNECTION_STRING",
                    "AccountName=a;AccountKey=aa==;EndpointSuffix=core.example",
                )],
                "https://a.blob.core.example",
            ),
            (
                "azblob://state",
                vec![("AZURE_STORAGE_CONNECTION_STRING", "AccountName=a;BlobEndpoint=http://10.0.0.1:1/a/")],
                "http://10.0.0.1:1/a",
            ),
        ] {
            assert_eq!(read(url, &variables).unwrap().endpoint, endpoint, "{url} {variables:?}");
        }
        assert!(read("azblob://state", &[]).unwrap_err().to_string().contains("storage_account"));
        assert!(read("azblob://state?protocol=ftp", &[account]).is_err());
        assert!(read("azblob://state?cdn=perhaps", &[account]).is_err());
        assert!(read("azblob://state?sas=1", &[account]).unwrap_err().to_string().contains("`sas`"));
    }

    #[test]
    fn credentials_are_found_in_pulumis_order() {
        let first = |variables: &[(&str, &str)]| {
            read("azblob://state?storage_account=acme", variables).unwrap().credentials
        };
        let account = ("AZURE_STORAGE_ACCOUNT", "acme");
        let key = ("AZURE_STORAGE_KEY", "key==");
        let token = ("AZURE_STORAGE_SAS_TOKEN", "sv=1&sig=2");
        let text = ("AZURE_STORAGE_CONNECTION_STRING", "AccountName=a;AccountKey=other==");
        assert_eq!(first(&[account, key, token, text]), [(AzureConfigKey::AccessKey, "key==".to_owned())]);
        assert_eq!(first(&[key, token, text]), [(AzureConfigKey::SasKey, "sv=1&sig=2".to_owned())]);
        assert_eq!(first(&[text]), [(AzureConfigKey::AccessKey, "other==".to_owned())]);
        assert_eq!(first(&[account]), []);
        let principal =
            [("AZURE_CLIENT_ID", "id"), ("AZURE_CLIENT_SECRET", "secret"), ("AZURE_TENANT_ID", "tenant")];
        assert_eq!(first(&principal).len(), 3);
    }
}
