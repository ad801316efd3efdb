//! Plugins that list what another system has made, for it to be taken over.

mod answer;

pub(crate) use answer::remark;
pub use answer::{BasePlugin, Conversion, Converted, Extension, Remark};

use crate::monitor::Endpoint;
use crate::process::Plugin;
use crate::proto::pulumirpc as rpc;
use crate::provider::unanswered::{self, Whom};
use crate::trace::Trace;
use rpc::converter_client::ConverterClient;
use std::sync::Arc;
use tonic::Response;

/// Why a converter has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ConverterError {
    /// The call failed.
    #[error("{0}")]
    Call(String),
    /// The answer makes no sense.
    #[error("its answer makes no sense: {0}")]
    Senseless(String),
}

/// A converter in another process.
#[derive(Debug)]
pub struct GrpcConverter {
    name: String,
    plugin: Arc<Plugin>,
    endpoint: Endpoint,
}

impl GrpcConverter {
    /// A converter that has come up, and finds schemas and mappings at the endpoint.
    #[must_use]
    pub fn new(name: &str, plugin: Plugin, endpoint: Endpoint) -> Self {
        Self { name: name.to_owned(), plugin: Arc::new(plugin), endpoint }
    }

    /// What another system has made. The arguments are the converter's own, such as the name of a state file.
    pub async fn convert_state(&self, args: Vec<String>) -> Result<Conversion, ConverterError> {
        let address = self.endpoint.address().to_owned();
        let request = rpc::ConvertStateRequest {
            mapper_target: address.clone(),
            args,
            loader_target: address.clone(),
            resolver_target: address,
        };
        let mut client = ConverterClient::new(self.plugin.channel())
            .max_decoding_message_size(crate::LARGEST_MESSAGE)
            .max_encoding_message_size(crate::LARGEST_MESSAGE);
        let trace = Trace::client(self.endpoint.log(), "converter", &self.name);
        let call = async {
            let call = trace.begin("/pulumirpc.Converter/ConvertState", &request);
            let answer = client.convert_state(request).await.map(Response::into_inner);
            call.end(answer.as_ref());
            answer
        };
        let answer = unanswered::answer(&Arc::downgrade(&self.plugin), call).await.map_err(|status| {
            ConverterError::Call(unanswered::describe(&status, Whom::Converter(&self.name)))
        })?;
        Conversion::read(answer)
    }
}
