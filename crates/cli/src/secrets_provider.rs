//! What seals a stack's secrets, as commands deal with it: made anew, named in settings, explained when it fails.

use crate::context::Context;
use crate::report::{ExitCode, Failure, Outcome};
use drystone_secrets::{Error, KeyServiceError, KeyServiceFault, KeyServiceName, Manager};
use drystone_workspace::stack::StackSettings;

/// Explains a failure of the secrets, with what to do.
pub(crate) fn secrets_failure(error: Error) -> Failure {
    if let Error::KeyService(service) = error.cause() {
        let hint = hint(service);
        // The crypter's words around it say nothing that the service's own do not.
        return Failure::new(code(&service.fault), service).hint(hint);
    }
    Failure::new(ExitCode::Authentication, error).hint(
        "set PULUMI_CONFIG_PASSPHRASE to the stack's passphrase, or PULUMI_CONFIG_PASSPHRASE_FILE to a file that holds it",
    )
}

/// A manager for a stack that has none: of the key service that its settings name, or of a passphrase.
pub(crate) fn fresh(context: &Context, settings: &StackSettings) -> Outcome<Manager> {
    let keyring = context.keyring();
    if let Some(url) = key_service(settings) {
        return Manager::with_key_service(keyring, url).map_err(secrets_failure);
    }
    let passphrase = keyring.passphrases().for_new(false).map_err(secrets_failure)?;
    Manager::with_passphrase(keyring, &passphrase).map_err(secrets_failure)
}

/// The URL of the key service that settings name.
pub(crate) fn key_service(settings: &StackSettings) -> Option<&str> {
    settings.secrets_provider.as_deref().filter(|name| !matches!(*name, "" | "default" | "passphrase"))
}

/// Names a manager in settings. Only one provider stands there: what another one left would be taken for it.
pub(crate) fn record(settings: &mut StackSettings, manager: &Manager) -> Outcome {
    let kept = manager.settings().map_err(secrets_failure)?;
    let filled = |text: String| Some(text).filter(|text| !text.is_empty());
    settings.secrets_provider = filled(kept.secrets_provider);
    settings.encrypted_key = filled(kept.encrypted_key);
    settings.encryption_salt = filled(kept.encryption_salt);
    Ok(())
}

fn code(fault: &KeyServiceFault) -> ExitCode {
    match fault {
        KeyServiceFault::Address(_) | KeyServiceFault::Malformed(_) => ExitCode::Configuration,
        KeyServiceFault::Silent { .. }
        | KeyServiceFault::Refused { .. }
        | KeyServiceFault::Garbage { .. } => ExitCode::Unavailable,
        _ => ExitCode::Authentication,
    }
}

/// What to do about a key service that did not do what it was asked for.
fn hint(error: &KeyServiceError) -> String {
    use KeyServiceFault as Fault;
    let Some(service) = error.service else {
        return "name a key with `awskms://`, `gcpkms://`, `azurekeyvault://` or `hashivault://`".to_owned();
    };
    match &error.fault {
        Fault::Address(_) => "docs/guides/secrets.md shows how the keys of each service are named".to_owned(),
        Fault::NoCredentials(_) | Fault::Expired(_) => format!("{}, then run the command again", log_in(service)),
        Fault::Denied(_) => denied(service).to_owned(),
        Fault::NoKey(_) => "check the name, and the account and region that it is in".to_owned(),
        Fault::Unusable(_) => "enable the key again, or bring it back while its deletion is pending".to_owned(),
        Fault::OtherKey(_) if service == KeyServiceName::AzureKeyVault => {
            "if the vault has rotated the key, add the version that sealed it to the URL: `…/keys/NAME/VERSION`".to_owned()
        }
        Fault::OtherKey(_) => {
            "bring back the `encryptedkey` that goes with this key, from an older version of the settings file".to_owned()
        }
        Fault::Silent { .. } | Fault::Refused { .. } => {
            format!("nothing was changed; run the command again when {service} can be reached")
        }
        Fault::Garbage { .. } => format!("check that {service} is what answers there, and no proxy before it"),
        Fault::Malformed(_) => {
            "bring back `encryptedkey` from an older version of the settings file".to_owned()
        }
    }
}

fn log_in(service: KeyServiceName) -> &'static str {
    match service {
        KeyServiceName::AwsKms => {
            "log in with `aws sso login`, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        }
        KeyServiceName::GoogleKms => {
            "log in with `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS"
        }
        KeyServiceName::AzureKeyVault => {
            "log in with `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET"
        }
        KeyServiceName::Vault => "set VAULT_TOKEN to a token of `vault login`",
    }
}

fn denied(service: KeyServiceName) -> &'static str {
    match service {
        KeyServiceName::AwsKms => "whoever runs this needs `kms:Encrypt` and `kms:Decrypt` on the key",
        KeyServiceName::GoogleKms => {
            "whoever runs this needs the role `Cloud KMS CryptoKey Encrypter/Decrypter` on the key"
        }
        KeyServiceName::AzureKeyVault => {
            "whoever runs this needs the operations encrypt and decrypt on the key, as in the role `Key Vault Crypto User`"
        }
        KeyServiceName::Vault => {
            "the token may have expired, or its policy lacks `update` on the engine's `encrypt/KEY` and `decrypt/KEY`"
        }
    }
}
