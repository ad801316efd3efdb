//! Views: with `BENCH_VIEWS` set, every object of the bench provider has one part, which it shows as a view.

use drystone_plugins::proto::pulumirpc::resource_status_client::ResourceStatusClient;
use drystone_plugins::proto::pulumirpc::view_step::Op;
use drystone_plugins::proto::pulumirpc::{PublishViewStepsRequest, ViewStep, ViewStepState};
use drystone_plugins::wire::Struct;
use tonic::Status;
use tonic::transport::Channel;

/// Where the engine takes views of one operation, and how it knows them.
#[derive(Debug, Clone)]
pub struct Desk {
    address: String,
    token: String,
}

impl Desk {
    /// The desk of an operation; none when no views are shown.
    #[must_use]
    pub fn open(address: &str, token: &str) -> Option<Self> {
        let wanted = std::env::var_os("BENCH_VIEWS").is_some() && !token.is_empty();
        wanted.then(|| Self { address: address.to_owned(), token: token.to_owned() })
    }

    /// Shows what happened to the part of an object.
    pub async fn show(
        &self,
        op: Op,
        id: &str,
        old: Option<Struct>,
        new: Option<Struct>,
    ) -> Result<(), Status> {
        let state = |properties: Struct| ViewStepState {
            r#type: "bench:index:Part".to_owned(),
            name: format!("{id}-part"),
            inputs: Some(properties.clone()),
            outputs: Some(properties),
            ..ViewStepState::default()
        };
        let step = ViewStep {
            op: op.into(),
            r#type: "bench:index:Part".to_owned(),
            name: format!("{id}-part"),
            old: old.map(state),
            new: new.map(state),
            ..ViewStep::default()
        };
        let channel = Channel::from_shared(format!("http://{}", self.address))
            .map_err(|error| Status::invalid_argument(error.to_string()))?
            .connect()
            .await
            .map_err(|error| Status::unknown(error.to_string()))?;
        let request = PublishViewStepsRequest { token: self.token.clone(), steps: vec![step] };
        let published = ResourceStatusClient::new(channel).publish_view_steps(request).await;
        published
            .map(drop)
            .map_err(|status| Status::unknown(format!("publishing views: {}", status.message())))
    }
}
