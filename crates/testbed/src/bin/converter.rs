//! `pulumi-converter-bench`.

use drystone_plugins::proto::pulumirpc::converter_server::ConverterServer;
use drystone_testbed::converter::Bench;
use drystone_testbed::serve_plugin;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    serve_plugin(tonic::transport::Server::builder().add_service(ConverterServer::new(Bench))).await
}
