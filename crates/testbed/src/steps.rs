//! A program that is a list of steps, for what no SDK would send.
//!
//! The runtime option `steps` is a list of `register` (a resource, its members those of the wire), `print`, `hang` and
//! `exit`. `$name` in a parent, a dependency or another reference stands for the URN of a resource registered before,
//! `$name.provider` for the reference to a provider.

use crate::program::{base, connect};
use drystone_plugins::proto::pulumirpc::register_resource_request::CustomTimeouts;
use drystone_plugins::proto::pulumirpc::resource_monitor_client::ResourceMonitorClient;
use drystone_plugins::proto::pulumirpc::*;
use drystone_plugins::wire::Struct;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::result::Result;
use tonic::Status;
use tonic::transport::Channel;

/// The member that marks a value with a meaning of its own, and what marks a secret.
const SIGNATURE: &str = "4dabf18193072939515e22adb298388d";
const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";

/// The steps of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps(Vec<Value>);

impl Steps {
    /// The steps that a project's runtime options list, if they do.
    #[must_use]
    pub fn from_options(options: &Map<String, Value>) -> Option<Self> {
        Some(Self(options.get("steps")?.as_array()?.clone()))
    }

    /// Takes one step after the other. A step with `mayFail` that fails is gone past.
    pub async fn run(&self, monitor: &str, project: &str, stack: &str) -> Result<(), Status> {
        let mut client = connect(monitor).await?;
        let root = RegisterResourceRequest {
            r#type: "pulumi:pulumi:Stack".to_owned(),
            name: format!("{project}-{stack}"),
            ..base()
        };
        let root = client.register_resource(root).await?.into_inner().urn;
        let mut urns = BTreeMap::from([("root".to_owned(), root)]);
        for step in &self.0 {
            match step.as_object().and_then(|step| step.iter().next()) {
                Some((word, given)) => self::step(&mut client, &mut urns, word, given).await?,
                None => return Err(Status::invalid_argument("a step is an object")),
            }
        }
        client.signal_and_wait_for_shutdown(()).await?;
        Ok(())
    }
}

async fn step(
    client: &mut ResourceMonitorClient<Channel>,
    urns: &mut BTreeMap<String, String>,
    word: &str,
    given: &Value,
) -> Result<(), Status> {
    match word {
        "register" => {
            let request = registration(given, urns);
            let name = request.name.clone();
            match client.register_resource(request).await.map(tonic::Response::into_inner) {
                Ok(answer) if answer.result() == drystone_plugins::proto::pulumirpc::Result::Success => {
                    // A provider is referred to by its URN and its id.
                    urns.insert(format!("{name}.provider"), format!("{}::{}", answer.urn, answer.id));
                    urns.insert(name, answer.urn);
                }
                Err(status) if given["mayFail"] != json!(true) => return Err(status),
                // What failed is told by the engine; a program that goes on all the same is what this is for.
                Ok(_) | Err(_) => {}
            }
        }
        "print" => {
            let text = given["text"].as_str().unwrap_or_default();
            for _ in 0..given["times"].as_f64().unwrap_or(1.0) as usize {
                let _ = writeln!(std::io::stdout(), "{text}");
            }
        }
        "hang" => std::future::pending().await,
        "exit" => std::process::exit(given.as_f64().unwrap_or_default() as i32),
        other => return Err(Status::invalid_argument(format!("there is no step `{other}`"))),
    }
    Ok(())
}

fn registration(given: &Value, urns: &BTreeMap<String, String>) -> RegisterResourceRequest {
    let text = |key: &str| given[key].as_str().map(|text| resolve(text, urns)).unwrap_or_default();
    let list = |key: &str| -> Vec<String> {
        let texts = given[key].as_array().into_iter().flatten().filter_map(Value::as_str);
        texts.map(|text| resolve(text, urns)).collect()
    };
    let limit = |operation: &str| given["timeouts"][operation].as_str().unwrap_or_default().to_owned();
    RegisterResourceRequest {
        r#type: given["type"].as_str().unwrap_or("bench:index:Item").to_owned(),
        name: text("name"),
        parent: given["parent"].as_str().map_or_else(|| resolve("$root", urns), |text| resolve(text, urns)),
        custom: given["custom"].as_bool().unwrap_or(true),
        object: Some(Struct::from_json(&properties(given))),
        dependencies: list("dependencies"),
        deleted_with: text("deletedWith"),
        replace_with: list("replaceWith"),
        provider: text("provider"),
        version: text("version"),
        plugin_download_url: text("pluginDownloadURL"),
        env_var_mappings: given["envVarMappings"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(ours, its)| Some((ours.clone(), its.as_str()?.to_owned())))
            .collect(),
        accepts_byte_string: true,
        custom_timeouts: given["timeouts"].is_object().then(|| CustomTimeouts {
            create: limit("create"),
            update: limit("update"),
            delete: limit("delete"),
            read: limit("read"),
        }),
        ..base()
    }
}

fn resolve(text: &str, urns: &BTreeMap<String, String>) -> String {
    text.strip_prefix('$').and_then(|name| urns.get(name)).cloned().unwrap_or_else(|| text.to_owned())
}

/// The properties as they stand, `filler` of so many bytes, and so many `secrets`.
fn properties(given: &Value) -> Map<String, Value> {
    let mut members = given["properties"].as_object().cloned().unwrap_or_default();
    if let Some(bytes) = given["filler"].as_f64() {
        members.insert("filler".to_owned(), Value::String("x".repeat(bytes as usize)));
    }
    for number in 0..given["secrets"].as_f64().unwrap_or_default() as usize {
        let secret = json!({SIGNATURE: SECRET, "value": format!("hush-{number:04}-hush")});
        members.insert(format!("secret{number:04}"), secret);
    }
    members
}
