//! The bench provider: what it is given is what it makes.

use crate::fault::{Fault, Trouble};
use crate::views::Desk;
use crate::world::World;
use drystone_plugins::proto::pulumirpc::resource_provider_server::ResourceProvider;
use drystone_plugins::proto::pulumirpc::view_step::Op;
use drystone_plugins::proto::pulumirpc::*;
use drystone_plugins::wire::Struct;
use serde_json::{Value, json};
use std::result::Result;
use std::sync::{Mutex, PoisonError};
use tonic::{Request, Response, Status};

/// What a package says of itself that parameters have made, but for its name.
const PARAMETERISED: &str = include_str!("parameterised.json");

type Answer<T> = Result<Response<T>, Status>;

/// A provider of the package `bench`. The id of a resource is its name, unless the world gives ids.
#[derive(Debug, Default)]
pub struct Bench {
    world: World,
    fault: Option<Fault>,
    /// What parameters have made of it.
    made: Mutex<Option<String>>,
}

impl Bench {
    /// A provider over a world that misbehaves in one way, or not at all.
    #[must_use]
    pub fn new(world: World, fault: Option<Fault>) -> Self {
        Self { world, fault, made: Mutex::default() }
    }

    fn trouble(&self, call: &str, name: &str) -> Trouble {
        Fault::at(self.fault.as_ref(), call, name)
    }
}

fn name_of(urn: &str) -> &str {
    urn.rsplit("::").next().unwrap_or(urn)
}

fn refused(message: String) -> Status {
    Status::unknown(message)
}

fn content(properties: Option<&Struct>) -> Vec<u8> {
    let json = properties.and_then(|properties| properties.to_json().ok()).unwrap_or_default();
    serde_json::to_vec(&json).unwrap_or_default()
}

fn answer(value: &Value) -> Struct {
    value.as_object().map(Struct::from_json).unwrap_or_default()
}

#[tonic::async_trait]
impl ResourceProvider for Bench {
    async fn handshake(&self, _: Request<ProviderHandshakeRequest>) -> Answer<ProviderHandshakeResponse> {
        let trouble = self.trouble("handshake", "*");
        trouble.before().await?;
        trouble.after().await;
        let answer = ProviderHandshakeResponse {
            accept_secrets: true,
            accepts_byte_string: true,
            ..ProviderHandshakeResponse::default()
        };
        Ok(Response::new(answer))
    }

    async fn get_plugin_info(&self, _: Request<()>) -> Answer<PluginInfo> {
        Ok(Response::new(PluginInfo { version: "1.0.0".to_owned() }))
    }

    /// Serves another package, by the name of its first parameter.
    async fn parameterize(&self, request: Request<ParameterizeRequest>) -> Answer<ParameterizeResponse> {
        use parameterize_request::Parameters;
        let name = match request.into_inner().parameters {
            Some(Parameters::Args(given)) => given.args.into_iter().next(),
            Some(Parameters::Value(given)) => Some(given.name),
            None => None,
        };
        let name = name.ok_or_else(|| refused("wants the name of a package".to_owned()))?;
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
        Ok(Response::new(ParameterizeResponse { name, version: "2.0.0".to_owned() }))
    }

    async fn get_schema(&self, _: Request<GetSchemaRequest>) -> Answer<GetSchemaResponse> {
        self.trouble("schema", "*").before().await?;
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let schema = match made {
            Some(name) => PARAMETERISED.replace("NAME", &name),
            None => self.world.schema().map_err(refused)?,
        };
        Ok(Response::new(GetSchemaResponse { schema }))
    }

    /// The ecosystem `bench` has a provider `outer`, which is said; `lone` has one, which is not.
    async fn get_mappings(&self, request: Request<GetMappingsRequest>) -> Answer<GetMappingsResponse> {
        let outer = (request.into_inner().key == "bench").then(|| "outer".to_owned());
        Ok(Response::new(GetMappingsResponse { providers: outer.into_iter().collect() }))
    }

    async fn get_mapping(&self, request: Request<GetMappingRequest>) -> Answer<GetMappingResponse> {
        let request = request.into_inner();
        let (provider, data) = match (request.key.as_str(), request.provider.as_str()) {
            ("bench", "outer") => ("outer", "o"),
            ("lone", "") => ("only", "l"),
            _ => ("", ""),
        };
        Ok(Response::new(GetMappingResponse { provider: provider.to_owned(), data: data.into() }))
    }

    async fn check_config(&self, request: Request<CheckRequest>) -> Answer<CheckResponse> {
        Ok(Response::new(CheckResponse { inputs: request.into_inner().news, failures: Vec::new() }))
    }

    async fn diff_config(&self, _: Request<DiffRequest>) -> Answer<DiffResponse> {
        Ok(Response::new(DiffResponse::default()))
    }

    async fn configure(&self, _: Request<ConfigureRequest>) -> Answer<ConfigureResponse> {
        let trouble = self.trouble("configure", "*");
        trouble.before().await?;
        trouble.after().await;
        let answer = ConfigureResponse {
            accept_secrets: true,
            supports_preview: true,
            ..ConfigureResponse::default()
        };
        Ok(Response::new(answer))
    }

    async fn check(&self, request: Request<CheckRequest>) -> Answer<CheckResponse> {
        let request = request.into_inner();
        let trouble = self.trouble("check", name_of(&request.urn));
        trouble.before().await?;
        trouble.after().await;
        let inputs = trouble.properties(request.news);
        Ok(Response::new(CheckResponse { inputs, failures: Vec::new() }))
    }

    async fn diff(&self, request: Request<DiffRequest>) -> Answer<DiffResponse> {
        let request = request.into_inner();
        let trouble = self.trouble("diff", name_of(&request.urn));
        trouble.before().await?;
        trouble.after().await;
        let json = |properties: &Option<Struct>| {
            properties.as_ref().and_then(|p| p.to_json().ok()).unwrap_or_default()
        };
        let changes = if json(&request.old_inputs) == json(&request.news) {
            diff_response::DiffChanges::DiffNone
        } else {
            diff_response::DiffChanges::DiffSome
        };
        Ok(Response::new(DiffResponse { changes: changes.into(), ..DiffResponse::default() }))
    }

    async fn create(&self, request: Request<CreateRequest>) -> Answer<CreateResponse> {
        let request = request.into_inner();
        let name = name_of(&request.urn);
        if request.preview {
            let answer = CreateResponse { properties: request.properties, ..CreateResponse::default() };
            return Ok(Response::new(answer));
        }
        let trouble = self.trouble("create", name);
        trouble.before().await?;
        let id = self.world.id_for(name);
        self.world.create(&id, &content(request.properties.as_ref())).await.map_err(refused)?;
        trouble.after().await;
        if let Some(desk) = Desk::open(&request.resource_status_address, &request.resource_status_token) {
            desk.show(Op::Create, &id, None, request.properties.clone()).await?;
        }
        let properties = trouble.properties(request.properties);
        Ok(Response::new(CreateResponse { id: trouble.id(id), properties, ..CreateResponse::default() }))
    }

    async fn read(&self, request: Request<ReadRequest>) -> Answer<ReadResponse> {
        let request = request.into_inner();
        let trouble = self.trouble("read", name_of(&request.urn));
        trouble.before().await?;
        let Some(found) = self.world.read(&request.id).map_err(refused)? else {
            return Ok(Response::new(ReadResponse::default()));
        };
        let json: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(&found).map_err(|error| refused(error.to_string()))?;
        let properties = Some(Struct::from_json(&json));
        if let Some(desk) = Desk::open(&request.resource_status_address, &request.resource_status_token) {
            desk.show(Op::Update, &request.id, request.properties, properties.clone()).await?;
        }
        let answer = ReadResponse {
            id: trouble.id(request.id),
            properties: trouble.properties(properties.clone()),
            inputs: properties,
            ..ReadResponse::default()
        };
        Ok(Response::new(answer))
    }

    async fn update(&self, request: Request<UpdateRequest>) -> Answer<UpdateResponse> {
        let request = request.into_inner();
        if request.preview {
            let answer = UpdateResponse { properties: request.news, ..UpdateResponse::default() };
            return Ok(Response::new(answer));
        }
        let trouble = self.trouble("update", name_of(&request.urn));
        trouble.before().await?;
        self.world.update(&request.id, &content(request.news.as_ref())).await.map_err(refused)?;
        trouble.after().await;
        let properties = trouble.properties(request.news);
        Ok(Response::new(UpdateResponse { properties, ..UpdateResponse::default() }))
    }

    async fn delete(&self, request: Request<DeleteRequest>) -> Answer<()> {
        let request = request.into_inner();
        let trouble = self.trouble("delete", name_of(&request.urn));
        trouble.before().await?;
        self.world.delete(&request.id).await.map_err(refused)?;
        trouble.after().await;
        if let Some(desk) = Desk::open(&request.resource_status_address, &request.resource_status_token) {
            desk.show(Op::Delete, &request.id, request.properties, None).await?;
        }
        Ok(Response::new(()))
    }

    /// The functions of a package that parameters have made.
    async fn invoke(&self, request: Request<InvokeRequest>) -> Answer<InvokeResponse> {
        let request = request.into_inner();
        let size = json!({ "shelfWidth": 30, "material": "oak-wood" });
        let answer = match request.tok.split_once(':') {
            Some((_, "index:getShelf")) => answer(&json!({ "size": size })),
            _ => return Err(refused(format!("no function {}", request.tok))),
        };
        Ok(Response::new(InvokeResponse { r#return: Some(answer), ..InvokeResponse::default() }))
    }

    /// The methods of a package that parameters have made.
    async fn call(&self, request: Request<CallRequest>) -> Answer<CallResponse> {
        let request = request.into_inner();
        let given = request.args.and_then(|args| args.to_json().ok()).unwrap_or_default();
        let answer = match request.tok.split_once(':') {
            Some((_, "index:Item/label")) => {
                let prefix = given.get("letterPrefix").and_then(Value::as_str).unwrap_or_default();
                answer(&json!({ "fullLabel": format!("{prefix}-shelf"), "size": { "shelfWidth": 20 } }))
            }
            Some((_, "index:Item/countBooks")) => answer(&json!({ "res": 3 })),
            _ => return Err(refused(format!("no method {}", request.tok))),
        };
        Ok(Response::new(CallResponse { r#return: Some(answer), ..CallResponse::default() }))
    }

    async fn cancel(&self, _: Request<()>) -> Answer<()> {
        self.trouble("cancel", "*").before().await?;
        Ok(Response::new(()))
    }
}
