//! Views that providers publish while they work on a resource.

use super::refusal::Refusal;
use super::service::{Service, answer, decode};
use crate::proto::pulumirpc as rpc;
use crate::provider::property_diff;
use crate::wire::Decoding;
use drystone_engine::{Op, ViewState, ViewStep};
use rpc::resource_status_server::ResourceStatus;
use rpc::view_step::{Op as Wire, Status as StepStatus};
use tonic::{Request, Response, Status};

#[tonic::async_trait]
impl ResourceStatus for Service {
    async fn publish_view_steps(
        &self,
        request: Request<rpc::PublishViewStepsRequest>,
    ) -> Result<Response<rpc::PublishViewStepsResponse>, Status> {
        let call = self.trace.begin("/pulumirpc.ResourceStatus/PublishViewSteps", request.get_ref());
        answer(call, self.publish(request.into_inner()).await)
    }
}

impl Service {
    async fn publish(
        &self,
        request: rpc::PublishViewStepsRequest,
    ) -> Result<rpc::PublishViewStepsResponse, Refusal> {
        let steps = request.steps.into_iter().map(read_step).collect::<Result<_, _>>()?;
        match self.endpoint.views() {
            Some(views) => views.publish_views(&request.token, steps).await?,
            None => self.monitor()?.publish_views(&request.token, steps).await?,
        }
        Ok(rpc::PublishViewStepsResponse {})
    }
}

fn read_step(step: rpc::ViewStep) -> Result<ViewStep, Refusal> {
    let op = read_op(step.op())?;
    let partial = step.status() == StepStatus::PartialFailure;
    let detailed = step.has_detailed_diff.then(|| {
        step.detailed_diff.into_iter().map(|(path, change)| (path, property_diff(change))).collect()
    });
    Ok(ViewStep {
        op,
        error: step.error,
        partial,
        type_token: step.r#type,
        name: step.name,
        old: step.old.map(read_state).transpose()?,
        new: step.new.map(read_state).transpose()?,
        replace_keys: step.keys,
        changed_keys: step.diffs,
        detailed,
    })
}

fn read_state(state: rpc::ViewStepState) -> Result<ViewState, Refusal> {
    Ok(ViewState {
        inputs: decode(Decoding::default(), state.inputs.as_ref())?,
        outputs: decode(Decoding::default(), state.outputs.as_ref())?,
        type_token: state.r#type,
        name: state.name,
        parent_type: state.parent_type,
        parent_name: state.parent_name,
    })
}

fn read_op(op: Wire) -> Result<Op, Refusal> {
    Ok(match op {
        Wire::Unspecified => return Err(Refusal::invalid("a view step does not say what was done")),
        Wire::Same => Op::Same,
        Wire::Create => Op::Create,
        Wire::Update => Op::Update,
        Wire::Delete => Op::Delete,
        Wire::Replace => Op::Replace,
        Wire::CreateReplacement => Op::CreateReplacement,
        Wire::DeleteReplaced => Op::DeleteReplaced,
        Wire::Read => Op::Read,
        Wire::ReadReplacement => Op::ReadReplacement,
        Wire::Refresh => Op::Refresh,
        Wire::ReadDiscard => Op::Discard,
        Wire::DiscardReplaced => Op::DiscardReplaced,
        Wire::RemovePendingReplace => Op::RemovePendingReplace,
        Wire::Import => Op::Import,
        Wire::ImportReplacement => Op::ImportReplacement,
    })
}
