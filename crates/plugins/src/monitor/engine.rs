//! Messages to the user, the root resource, debuggers and required versions.

use super::refusal::Refusal;
use super::service::{Service, answer};
use crate::proto::pulumirpc as rpc;
use drystone_engine::{Debugging, Diagnostic, Event, Severity};
use drystone_model::Urn;
use rpc::engine_server::Engine;
use semver::{Version, VersionReq};
use std::sync::PoisonError;
use tonic::{Code, Request, Response, Status};

#[tonic::async_trait]
impl Engine for Service {
    async fn log(&self, request: Request<rpc::LogRequest>) -> Result<Response<()>, Status> {
        let call = self.trace.begin("/pulumirpc.Engine/Log", request.get_ref());
        let request = request.into_inner();
        let severity = match request.severity() {
            rpc::LogSeverity::Debug => Severity::Debug,
            rpc::LogSeverity::Info => Severity::Info,
            rpc::LogSeverity::Warning => Severity::Warning,
            rpc::LogSeverity::Error => Severity::Error,
        };
        self.tell(Diagnostic {
            urn: Urn::new(request.urn),
            message: request.message,
            severity,
            stream: request.stream_id,
            ephemeral: request.ephemeral,
        });
        answer(call, Ok(()))
    }

    async fn get_root_resource(
        &self,
        request: Request<rpc::GetRootResourceRequest>,
    ) -> Result<Response<rpc::GetRootResourceResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.Engine/GetRootResource", request.get_ref());
        let mut urn = self.root.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if urn.is_empty() {
            urn = self.endpoint.monitor().map(|monitor| monitor.root().to_string()).unwrap_or_default();
        }
        answer(call, Ok(rpc::GetRootResourceResponse { urn }))
    }

    async fn set_root_resource(
        &self,
        request: Request<rpc::SetRootResourceRequest>,
    ) -> Result<Response<rpc::SetRootResourceResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.Engine/SetRootResource", request.get_ref());
        *self.root.lock().unwrap_or_else(PoisonError::into_inner) = request.into_inner().urn;
        answer(call, Ok(rpc::SetRootResourceResponse {}))
    }

    async fn start_debugging(
        &self,
        request: Request<rpc::StartDebuggingRequest>,
    ) -> Result<Response<()>, Status> {
        let call = self.trace.begin("/pulumirpc.Engine/StartDebugging", request.get_ref());
        let rpc::StartDebuggingRequest { config, message } = request.into_inner();
        let config = config.and_then(|config| config.to_json().ok()).unwrap_or_default();
        self.settings.events.send(Event::Debugging(Debugging { config: config.into(), message }));
        answer(call, Ok(()))
    }

    async fn require_pulumi_version(
        &self,
        request: Request<rpc::RequirePulumiVersionRequest>,
    ) -> Result<Response<rpc::RequirePulumiVersionResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.Engine/RequirePulumiVersion", request.get_ref());
        let required = require_version(&request.into_inner().pulumi_version_range, &self.settings.version);
        answer(call, required.map(|()| rpc::RequirePulumiVersionResponse {}))
    }
}

impl Service {
    /// Tells people through the operation, or directly when none runs.
    fn tell(&self, diagnostic: Diagnostic) {
        match self.endpoint.monitor() {
            Some(monitor) => monitor.log(diagnostic),
            None => self.settings.events.send(Event::Diagnostic(diagnostic)),
        }
    }
}

/// Refuses a program that needs another version.
fn require_version(range: &str, version: &str) -> Result<(), Refusal> {
    check_version(range, version).map_err(|message| Refusal { code: Code::Unknown, message })
}

/// Whether a version is in the range that a program or a project asks for, or why not.
pub fn check_version(range: &str, version: &str) -> Result<(), String> {
    if range.is_empty() || version.is_empty() {
        return Ok(());
    }
    let refuse = Err;
    let Ok(version) = Version::parse(version.trim_start_matches('v')) else {
        return refuse(format!("`{version}` is not a version"));
    };
    match satisfies(range, &version) {
        Some(true) => Ok(()),
        Some(false) => {
            refuse(format!("Pulumi CLI version {version} does not satisfy the version range {range:?}"))
        }
        None => refuse(format!("parsing CLI version range {range:?}: it is not a version range")),
    }
}

/// Whether a version is in a range: comparisons that all hold, or one of several such lists between `||`. A version
/// alone must be equal; `!` before it means any other. `None` when the text is no range.
fn satisfies(range: &str, version: &Version) -> Option<bool> {
    let mut any = false;
    for list in range.split("||") {
        let comparisons: Vec<&str> = list.split_whitespace().filter(|part| *part != "&&").collect();
        if comparisons.is_empty() {
            return None;
        }
        let mut all = true;
        for comparison in comparisons {
            all &= holds(comparison, version)?;
        }
        any |= all;
    }
    Some(any)
}

fn holds(comparison: &str, version: &Version) -> Option<bool> {
    let other = comparison.strip_prefix("!=").or_else(|| comparison.strip_prefix('!'));
    if let Some(other) = other {
        return Some(!holds(other, version)?);
    }
    let comparison = comparison.strip_prefix("==").unwrap_or(comparison);
    let plain = comparison.starts_with(|first: char| first.is_ascii_digit());
    let requirement = if plain { format!("={comparison}") } else { comparison.to_owned() };
    let requirement = VersionReq::parse(&requirement).ok()?;
    // Requirements leave out pre-releases; ranges compare them like any other version.
    let released = Version { pre: semver::Prerelease::EMPTY, ..version.clone() };
    Some(requirement.matches(version) || requirement.matches(&released))
}

#[cfg(test)]
mod tests {
    use super::satisfies;
    use semver::Version;

    #[test]
    fn ranges_are_lists_of_comparisons() {
        let version = Version::new(3, 260, 0);
        for (range, expected) in [
            (">=3.1.0", Some(true)),
            (">=3.1.0 <4.0.0", Some(true)),
            (">3.260.0", Some(false)),
            ("3.260.0", Some(true)),
            ("==3.260.0", Some(true)),
            ("3.260.x", Some(true)),
            ("!3.260.0", Some(false)),
            ("!=3.1.0", Some(true)),
            ("<3.0.0 || >=3.200.0", Some(true)),
            ("<3.0.0 || >=4.0.0", Some(false)),
            ("nonsense", None),
            (">=3.0.0 ||", None),
        ] {
            assert_eq!(satisfies(range, &version), expected, "{range}");
        }
    }
}
