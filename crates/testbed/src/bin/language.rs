//! `pulumi-language-bench`.

use drystone_plugins::proto::pulumirpc::language_runtime_server::LanguageRuntimeServer;
use drystone_testbed::language::BenchLanguage;
use drystone_testbed::serve_plugin;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    serve_plugin(tonic::transport::Server::builder().add_service(LanguageRuntimeServer::new(BenchLanguage)))
        .await
}
