//! How another ecosystem's names map to a provider's package.

use super::GrpcProvider;
use crate::proto::pulumirpc as rpc;
use drystone_engine::ProviderError;
use tonic::{Code, Status};

impl GrpcProvider {
    /// The providers of an ecosystem that it has mappings of, if it says so.
    pub(crate) async fn mappings(&self, ecosystem: &str) -> Result<Vec<String>, ProviderError> {
        let request = rpc::GetMappingsRequest { key: ecosystem.to_owned() };
        let asked =
            self.ask("/pulumirpc.ResourceProvider/GetMappings", request, |mut client, request| async move {
                client.get_mappings(request).await
            });
        Ok(self.or_nothing(asked.await)?.providers)
    }

    /// One of its mappings, and whose it is. No name asks for the only one.
    pub(crate) async fn mapping(
        &self,
        ecosystem: &str,
        provider: &str,
    ) -> Result<(String, Vec<u8>), ProviderError> {
        let request = rpc::GetMappingRequest { key: ecosystem.to_owned(), provider: provider.to_owned() };
        let asked =
            self.ask("/pulumirpc.ResourceProvider/GetMapping", request, |mut client, request| async move {
                client.get_mapping(request).await
            });
        let answer = self.or_nothing(asked.await)?;
        Ok((answer.provider, answer.data))
    }

    /// A provider that has no mappings may not know the question.
    fn or_nothing<A: Default>(&self, answer: Result<A, Status>) -> Result<A, ProviderError> {
        match answer {
            Err(status) if status.code() == Code::Unimplemented => Ok(A::default()),
            answer => answer.map_err(|status| self.failure(&status)),
        }
    }
}
