//! The profiles of AWS's own tools: which region, and whose credentials.
//!
//! Sources and signatures are `reqsign`'s; here stands only which of them apply, in the order of AWS's SDKs.

use super::signing::Sources;
use super::{KeyServiceFault, Surroundings};
use ini::Ini;
use reqsign_aws_v4::{
    AssumeRoleCredentialProvider, AssumeRoleWithWebIdentityCredentialProvider, Credential,
    ECSCredentialProvider, EnvCredentialProvider, IMDSv2CredentialProvider, ProcessCredentialProvider,
    ProfileCredentialProvider, RequestSigner, SSOCredentialProvider,
};
use reqsign_core::{Context, Signer};

const LOOKED_FOR: &str = "there are none in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in the profile of AWS_PROFILE, \
                          nor from the machine that this runs on";

/// How far a profile may refer to others.
const MOST_HOPS: usize = 8;

/// The files of profiles, and which of them is meant.
pub(super) struct Profiles {
    config: Ini,
    credentials: Ini,
    /// The one that is meant.
    name: String,
    /// Whether the URL says so, which goes before keys in the environment.
    by_url: bool,
}

impl Profiles {
    /// Reads the files. One that is not there holds nothing.
    pub(super) fn read(around: &Surroundings, by_url: Option<&str>) -> Result<Self, KeyServiceFault> {
        let home = around.variable("HOME").unwrap_or_default();
        let file = |variable: &str, otherwise: &str| {
            let path = around.variable(variable).unwrap_or_else(|| format!("{home}/.aws/{otherwise}"));
            match std::fs::read_to_string(&path) {
                Ok(text) => Ini::load_from_str(&text)
                    .map_err(|error| KeyServiceFault::NoCredentials(format!("{path}: {error}"))),
                Err(_) => Ok(Ini::new()),
            }
        };
        let named = by_url
            .map(str::to_owned)
            .or_else(|| around.first_variable(&["AWS_PROFILE", "AWS_DEFAULT_PROFILE"]));
        let profiles = Self {
            config: file("AWS_CONFIG_FILE", "config")?,
            credentials: file("AWS_SHARED_CREDENTIALS_FILE", "credentials")?,
            name: named.clone().unwrap_or_else(|| "default".to_owned()),
            by_url: by_url.is_some(),
        };
        match named {
            Some(name) if !profiles.has(&name) => {
                Err(KeyServiceFault::NoCredentials(format!("there is no AWS profile `{name}`")))
            }
            _ => Ok(profiles),
        }
    }

    fn has(&self, profile: &str) -> bool {
        self.config.section(Some(section(profile))).is_some()
            || self.credentials.section(Some(profile)).is_some()
    }

    fn of<'a>(&'a self, profile: &str, key: &str) -> Option<&'a str> {
        let kept =
            |ini: &'a Ini, section: String| ini.section(Some(section)).and_then(|found| found.get(key));
        kept(&self.credentials, profile.to_owned()).or_else(|| kept(&self.config, section(profile)))
    }

    /// What the profile that is meant says.
    pub(super) fn setting(&self, key: &str) -> Option<&str> {
        self.of(&self.name, key)
    }

    /// Where credentials come from: keys in the environment, a token of a pod, the profile, the machine.
    pub(super) fn sources(
        &self,
        context: &Context,
        region: &str,
    ) -> Result<Sources<Credential>, KeyServiceFault> {
        let mut sources = Sources::new(LOOKED_FOR);
        if !self.by_url {
            sources = sources
                .then(EnvCredentialProvider::new())
                .then(AssumeRoleWithWebIdentityCredentialProvider::new().with_region(region.to_owned()));
        }
        sources = self.of_profile(sources, &self.name, context, region, MOST_HOPS)?;
        Ok(machine(sources))
    }

    fn of_profile(
        &self,
        sources: Sources<Credential>,
        profile: &str,
        context: &Context,
        region: &str,
        hops: usize,
    ) -> Result<Sources<Credential>, KeyServiceFault> {
        let Some(role) =
            self.of(profile, "role_arn").filter(|_| self.of(profile, "web_identity_token_file").is_none())
        else {
            return Ok(sources
                .then(ProfileCredentialProvider::new().with_profile(profile))
                .then(SSOCredentialProvider::new().with_profile(profile))
                .then(ProcessCredentialProvider::new().with_profile(profile)));
        };
        let refused =
            |reason: String| KeyServiceFault::NoCredentials(format!("AWS profile `{profile}`: {reason}"));
        if self.of(profile, "mfa_serial").is_some() {
            return Err(refused(
                "its role wants a code of a second factor, which cannot be given here".to_owned(),
            ));
        }
        let from = Sources::new(LOOKED_FOR);
        let from = match (self.of(profile, "source_profile"), self.of(profile, "credential_source")) {
            (Some(_), _) if hops == 0 => {
                return Err(refused("its source profiles go round in a circle".to_owned()));
            }
            // A profile that is its own source has keys beside its role.
            (Some(source), _) if source == profile => {
                from.then(ProfileCredentialProvider::new().with_profile(profile))
            }
            (Some(source), _) if !self.has(source) => {
                return Err(refused(format!("there is no source profile `{source}`")));
            }
            (Some(source), _) => self.of_profile(from, source, context, region, hops - 1)?,
            (None, Some("Environment")) => from.then(EnvCredentialProvider::new()),
            (None, Some(_)) => machine(from),
            (None, None) => return Err(refused("it has a role and no source for it".to_owned())),
        };
        let mut role = assume(role, from, context, region);
        if let Some(id) = self.of(profile, "external_id") {
            role = role.with_external_id(id.to_owned());
        }
        if let Some(name) = self.of(profile, "role_session_name") {
            role = role.with_role_session_name(name.to_owned());
        }
        Ok(sources.then(role))
    }
}

/// Credentials of a role that these credentials may take on.
pub(super) fn assume(
    role: &str,
    from: Sources<Credential>,
    context: &Context,
    region: &str,
) -> AssumeRoleCredentialProvider {
    let signer = Signer::new(context.clone(), from, RequestSigner::new("sts", region));
    AssumeRoleCredentialProvider::new(role.to_owned(), signer)
        .with_role_session_name("drystone".to_owned())
        .with_region(region.to_owned())
        .with_regional_sts_endpoint()
}

/// What a container or a virtual machine of AWS gives who runs on it.
fn machine(sources: Sources<Credential>) -> Sources<Credential> {
    sources.then(ECSCredentialProvider::default()).then_perhaps(IMDSv2CredentialProvider::default())
}

/// The section of a profile in the file of settings.
fn section(profile: &str) -> String {
    if profile == "default" { profile.to_owned() } else { format!("profile {profile}") }
}
