//! The bench program: so many resources, in a shape, of a size.

use crate::LARGEST_MESSAGE;
use drystone_plugins::proto::pulumirpc::register_resource_request::PropertyDependencies;
use drystone_plugins::proto::pulumirpc::resource_monitor_client::ResourceMonitorClient;
use drystone_plugins::proto::pulumirpc::*;
use drystone_plugins::wire::Struct;
use futures::StreamExt;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::result::Result;
use tonic::Status;
use tonic::transport::Channel;

/// How many registrations are sent before answers are waited for.
const AT_ONCE: usize = 64;

/// What to register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// How many resources.
    pub resources: usize,
    /// How they hang together.
    pub shape: Shape,
    /// How many bytes of properties each has.
    pub bytes: usize,
    /// A text that all resources carry; another one changes them all.
    pub text: String,
}

/// How resources hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Not at all.
    Flat,
    /// Each depends on the one before.
    Chain,
}

impl Program {
    /// Reads the program from a project's runtime options.
    pub fn from_options(options: &Map<String, Value>) -> Result<Self, String> {
        let number = |key: &str, default: usize| match options.get(key) {
            None => Ok(default),
            Some(value) => value
                .as_f64()
                .or_else(|| value.as_str()?.parse().ok())
                .map(|number| number as usize)
                .ok_or_else(|| format!("the option {key} is not a number")),
        };
        let shape = match options.get("shape").and_then(Value::as_str) {
            None | Some("flat") => Shape::Flat,
            Some("chain") => Shape::Chain,
            Some(other) => return Err(format!("there is no shape {other:?}")),
        };
        let text = options.get("text").and_then(Value::as_str).unwrap_or("a").to_owned();
        Ok(Self { resources: number("resources", 10)?, shape, bytes: number("bytes", 32)?, text })
    }

    /// Registers everything with a monitor.
    pub async fn run(&self, monitor: &str, project: &str, stack: &str) -> Result<(), Status> {
        let client = connect(monitor).await?;
        let root = RegisterResourceRequest {
            r#type: "pulumi:pulumi:Stack".to_owned(),
            name: format!("{project}-{stack}"),
            ..base()
        };
        let root = client.clone().register_resource(root).await?.into_inner().urn;
        match self.shape {
            Shape::Flat => {
                let requests = (0..self.resources).map(|index| {
                    let (mut client, request) = (client.clone(), self.item(index, &root, None));
                    async move { client.register_resource(request).await }
                });
                let mut answers = futures::stream::iter(requests).buffer_unordered(AT_ONCE);
                while let Some(answer) = answers.next().await {
                    answer?;
                }
            }
            Shape::Chain => {
                let mut previous: Option<String> = None;
                for index in 0..self.resources {
                    let request = self.item(index, &root, previous.as_deref());
                    previous = Some(client.clone().register_resource(request).await?.into_inner().urn);
                }
            }
        }
        let outputs = json!({"count": self.resources});
        let outputs = outputs.as_object().map(Struct::from_json);
        client
            .clone()
            .register_resource_outputs(RegisterResourceOutputsRequest { urn: root, outputs })
            .await?;
        client.clone().signal_and_wait_for_shutdown(()).await?;
        Ok(())
    }

    fn item(&self, index: usize, parent: &str, depends_on: Option<&str>) -> RegisterResourceRequest {
        let filler = "x".repeat(self.bytes);
        let properties = json!({"index": index, "text": self.text, "filler": filler});
        let depends: Vec<String> = depends_on.into_iter().map(ToOwned::to_owned).collect();
        let of_each = |_: &&str| PropertyDependencies { urns: Vec::new() };
        let mut property_dependencies: HashMap<String, PropertyDependencies> =
            ["index", "text", "filler"].iter().map(|key| ((*key).to_owned(), of_each(key))).collect();
        if let Some(of_index) = property_dependencies.get_mut("index") {
            of_index.urns.clone_from(&depends);
        }
        RegisterResourceRequest {
            r#type: "bench:index:Item".to_owned(),
            name: format!("item-{index:05}"),
            parent: parent.to_owned(),
            custom: true,
            object: properties.as_object().map(Struct::from_json),
            dependencies: depends,
            property_dependencies,
            ..base()
        }
    }
}

/// Connects to a monitor.
pub(crate) async fn connect(monitor: &str) -> Result<ResourceMonitorClient<Channel>, Status> {
    let channel = Channel::from_shared(format!("http://{monitor}"))
        .map_err(|error| Status::invalid_argument(error.to_string()))?
        .connect()
        .await
        .map_err(|error| Status::unavailable(error.to_string()))?;
    Ok(ResourceMonitorClient::new(channel)
        .max_decoding_message_size(LARGEST_MESSAGE)
        .max_encoding_message_size(LARGEST_MESSAGE))
}

/// A registration as a modern SDK sends it, of nothing yet.
pub(crate) fn base() -> RegisterResourceRequest {
    RegisterResourceRequest {
        accept_secrets: true,
        accept_resources: true,
        supports_partial_values: true,
        supports_result_reporting: true,
        ..RegisterResourceRequest::default()
    }
}
