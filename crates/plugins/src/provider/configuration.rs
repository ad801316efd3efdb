//! Checking, comparing and giving a provider's own configuration.

use super::{GrpcProvider, ask, echo, failure, lifecycle, unanswered};
use crate::proto::pulumirpc as rpc;
use crate::wire::{Accepts, Encoding, Properties};
use drystone_engine::{CheckArguments, Checked, ConfigureArguments, Diff, DiffArguments, ProviderError};
use drystone_model::{ArchiveSource, AssetSource, Secret, Value};
use serde_json::json;
use tonic::{Code, Status};

impl GrpcProvider {
    /// A provider that does not check its configuration is content with it.
    pub(super) async fn call_check_config(
        &self,
        arguments: CheckArguments,
    ) -> Result<Checked, ProviderError> {
        let encoding = Encoding { unknowns: lifecycle::sent(arguments.dry_run), ..Encoding::default() };
        let encode =
            |properties| encoding.properties(properties).map_err(|error| lifecycle::cannot_send(&error));
        let request = rpc::CheckRequest {
            urn: arguments.urn.to_string(),
            name: arguments.urn.name().to_owned(),
            r#type: arguments.urn.type_token().to_owned(),
            olds: (!arguments.old_inputs.is_empty()).then(|| encode(&arguments.old_inputs)).transpose()?,
            news: Some(encode(&arguments.new_inputs)?),
            ..rpc::CheckRequest::default()
        };
        let answer = match self
            .ask("/pulumirpc.ResourceProvider/CheckConfig", request, |mut client, request| async move {
                client.check_config(request).await
            })
            .await
        {
            Ok(answer) => answer,
            Err(status) if does_not_implement(&status, arguments.urn.type_token()) => {
                return Ok(Checked { properties: arguments.new_inputs, failures: Vec::new() });
            }
            Err(status) => return Err(self.failure(&status)),
        };
        let mut properties = lifecycle::received(answer.inputs.as_ref(), arguments.dry_run)?;
        echo::restore_secrets(&mut properties, &arguments.new_inputs);
        Ok(Checked { properties, failures: lifecycle::failures(answer.failures) })
    }

    /// A provider that does not compare its configuration is never replaced because of it.
    pub(super) async fn call_diff_config(&self, arguments: DiffArguments) -> Result<Diff, ProviderError> {
        let encode = |properties| {
            Encoding::default()
                .properties(properties)
                .map(Some)
                .map_err(|error| lifecycle::cannot_send(&error))
        };
        let request = rpc::DiffRequest {
            id: String::new(),
            urn: arguments.urn.to_string(),
            name: arguments.urn.name().to_owned(),
            r#type: arguments.urn.type_token().to_owned(),
            old_inputs: encode(&arguments.old_inputs)?,
            olds: encode(&arguments.old_outputs)?,
            news: encode(&arguments.new_inputs)?,
            ignore_changes: arguments.ignore_changes,
        };
        match self
            .ask("/pulumirpc.ResourceProvider/DiffConfig", request, |mut client, request| async move {
                client.diff_config(request).await
            })
            .await
        {
            Ok(answer) => Ok(lifecycle::diff(answer)),
            Err(status) if does_not_implement(&status, arguments.urn.type_token()) => Ok(Diff::default()),
            Err(status) if cannot_compare_kubeconfig(&status, arguments.urn.type_token()) => {
                Ok(Diff::default())
            }
            Err(status) => Err(self.failure(&status)),
        }
    }

    /// Starts giving the configuration. One with values that are not known is not given at all.
    pub(super) fn begin_configure(&self, arguments: ConfigureArguments) -> Result<(), ProviderError> {
        let given = || arguments.inputs.iter().filter(|(key, _)| *key != "version");
        if given().any(|(_, value)| value.contains_unknowns()) {
            self.session.leave_unconfigured();
            return Ok(());
        }
        let type_token = arguments.urn.type_token();
        let package = type_token.rsplit(':').next().unwrap_or_default();
        let encoding = Encoding::to(Accepts { secrets: true, resources: true, ..Accepts::default() });
        let args = encoding.properties(&arguments.inputs).map_err(|error| lifecycle::cannot_send(&error))?;
        let request = rpc::ConfigureRequest {
            variables: given()
                .map(|(key, value)| (format!("{package}:config:{key}"), variable(value)))
                .collect(),
            args: Some(args),
            accept_secrets: true,
            accept_resources: true,
            sends_old_inputs: true,
            sends_old_inputs_to_delete: true,
            id: Some(arguments.id),
            name: Some(arguments.urn.name().to_owned()),
            r#type: Some(type_token.to_owned()),
            urn: Some(arguments.urn.to_string()),
        };
        self.session.begin();
        let (trace, client, session) = (self.trace.clone(), self.client.clone(), self.session.clone());
        let (name, process) = (self.options.name.clone(), self.process());
        let cancellation = self.options.cancellation.clone();
        tokio::spawn(async move {
            const METHOD: &str = "/pulumirpc.ResourceProvider/Configure";
            let sent = ask(&trace, client, METHOD, request, |mut client, request| async move {
                client.configure(request).await
            });
            let sent = unanswered::answer(&process, sent);
            match unanswered::answer_of_use(unanswered::Whom::Provider(&name), METHOD, &cancellation, sent)
                .await
            {
                Ok(answer) => session.configured(Ok(&answer)),
                Err(status) => session.configured(Err(failure::describe_configure(&status, &name))),
            }
        });
        Ok(())
    }
}

/// A setting in the old form: text as it is, anything else as JSON, secrets in clear.
fn variable(value: &Value) -> String {
    match plain(value) {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    }
}

fn plain(value: &Value) -> serde_json::Value {
    let object =
        |members: &Properties| members.iter().map(|(key, value)| (key.clone(), plain(value))).collect();
    match value {
        Value::Null | Value::Computed(_) | Value::Secret(Secret::Sealed(_)) => json!(null),
        Value::Bool(value) => json!(value),
        Value::Number(number) => {
            serde_json::from_str(&number.to_string()).unwrap_or_else(|_| json!(number.as_f64()))
        }
        Value::String(text) => json!(text),
        Value::Bytes(bytes) => json!(String::from_utf8_lossy(bytes)),
        Value::Array(elements) => elements.iter().map(plain).collect(),
        Value::Object(members) => object(members),
        Value::Secret(Secret::Open(inner)) => plain(inner),
        Value::Output(output) => output.value.as_ref().map_or(json!(null), plain),
        Value::ResourceReference(reference) => {
            json!(reference.id.as_deref().unwrap_or(reference.urn.as_str()))
        }
        Value::Asset(asset) => match &asset.source {
            AssetSource::Text(text) => json!({"text": text, "hash": asset.hash}),
            AssetSource::Path(path) => json!({"path": path, "hash": asset.hash}),
            AssetSource::Uri(uri) => json!({"uri": uri, "hash": asset.hash}),
        },
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Assets(assets) => {
                json!({"assets": object(assets), "hash": archive.hash})
            }
            ArchiveSource::Path(path) => json!({"path": path, "hash": archive.hash}),
            ArchiveSource::Uri(uri) => json!({"uri": uri, "hash": archive.hash}),
        },
    }
}

/// Whether an error says that there is no such method. Two kinds of provider say it in their own ways: Node's dynamic
/// ones as an internal error, older ones of Kubernetes in the text of an unknown one.
fn does_not_implement(status: &Status, type_token: &str) -> bool {
    match status.code() {
        Code::Unimplemented => true,
        Code::Internal => type_token == "pulumi:providers:pulumi-nodejs",
        Code::Unknown => {
            type_token == "pulumi:providers:kubernetes" && status.message().contains("Unimplemented")
        }
        _ => false,
    }
}

/// Older Kubernetes providers fail to compare a configuration whose `kubeconfig` is a path.
fn cannot_compare_kubeconfig(status: &Status, type_token: &str) -> bool {
    type_token == "pulumi:providers:kubernetes"
        && status.message().contains("cannot unmarshal string into Go value of type struct")
}
