//! Functions of a program that the engine calls: transforms and hooks.
//!
//! A callback is a token at the address of a `Callbacks` service, which the program serves as long as it runs.

mod hook;
mod options;
mod transform;

pub(crate) use hook::{GrpcErrorHook, GrpcHook};
pub(crate) use transform::{GrpcInvokeTransform, GrpcTransform};

use crate::monitor::refusal::Refusal;
use crate::proto::pulumirpc as rpc;
use crate::trace::Trace;
use crate::wire::{Accepts, Encoding};
use drystone_engine::Failed;
use prost::Message;
use rpc::callbacks_client::CallbacksClient;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tonic::Response;
use tonic::transport::{Channel, Endpoint};

/// Connections to the programs that serve callbacks, one for each address.
#[derive(Debug)]
pub(crate) struct CallbackClients {
    channels: Mutex<HashMap<String, Channel>>,
    trace: Trace,
}

impl CallbackClients {
    pub(crate) fn new(trace: Trace) -> Self {
        Self { channels: Mutex::default(), trace }
    }

    /// The function that a callback names. Nothing is connected before it is called.
    pub(crate) fn function(&self, callback: Option<rpc::Callback>) -> Result<Function, Refusal> {
        let callback = callback.unwrap_or_default();
        if callback.target.is_empty() {
            return Err(Refusal::invalid("target must be specified"));
        }
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        let channel = match channels.get(&callback.target) {
            Some(channel) => channel.clone(),
            None => {
                let channel = Endpoint::from_shared(format!("http://{}", callback.target))
                    .map_err(|_| Refusal::invalid(format!("invalid callback target `{}`", callback.target)))?
                    .connect_lazy();
                channels.insert(callback.target, channel.clone());
                channel
            }
        };
        Ok(Function {
            channel,
            token: callback.token,
            bytes: callback.accepts_byte_string,
            trace: self.trace.clone(),
        })
    }
}

/// A function of a program.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    channel: Channel,
    token: String,
    bytes: bool,
    trace: Trace,
}

impl Function {
    async fn call<A: Message + Default>(&self, request: &impl Message) -> Result<A, Failed> {
        let mut client = CallbacksClient::new(self.channel.clone())
            .max_decoding_message_size(crate::LARGEST_MESSAGE)
            .max_encoding_message_size(crate::LARGEST_MESSAGE);
        let request =
            rpc::CallbackInvokeRequest { token: self.token.clone(), request: request.encode_to_vec() };
        let call = self.trace.begin("/pulumirpc.Callbacks/Invoke", &request);
        let answer = client.invoke(request).await.map(Response::into_inner);
        call.end(answer.as_ref());
        let answer = answer.map_err(|status| Failed(status.message().to_owned()))?;
        A::decode(&*answer.response)
            .map_err(|error| Failed(format!("the answer of a callback makes no sense: {error}")))
    }

    /// Programs understand everything, but bytes only if they say so.
    fn encoding(&self) -> Encoding {
        Encoding::to(Accepts { bytes: self.bytes, ..Accepts::ALL })
    }
}
