//! `pulumi-resource-bench`.

use drystone_plugins::proto::pulumirpc::resource_provider_server::ResourceProviderServer;
use drystone_testbed::fault::{Fault, spoil_start};
use drystone_testbed::provider::Bench;
use drystone_testbed::world::World;
use drystone_testbed::{LARGEST_MESSAGE, serve_plugin};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    spoil_start().await?;
    let fault = Fault::of_environment().map_err(std::io::Error::other)?;
    let service = ResourceProviderServer::new(Bench::new(World::of_environment(), fault))
        .max_decoding_message_size(LARGEST_MESSAGE)
        .max_encoding_message_size(LARGEST_MESSAGE);
    serve_plugin(tonic::transport::Server::builder().add_service(service)).await
}
