//! The hashes of assets, which the engine needs to see that they change.

use super::run::Evaluator;
use super::value::Stopped;
use crate::syntax::Span;
use drystone_engine::PropertyMap;
use drystone_plugins::wire::assets;

impl Evaluator {
    /// Gives every asset and archive its hash. Reads files.
    pub(super) async fn hashed(
        &self,
        mut properties: PropertyMap,
        span: Span,
    ) -> Result<PropertyMap, Stopped> {
        if !assets::lacks_hashes(&properties) {
            return Ok(properties);
        }
        let directory = self.surroundings.directory.clone();
        let hashing = tokio::task::spawn_blocking(move || {
            assets::add_hashes(&mut properties, &directory).map(|()| properties)
        });
        match hashing.await {
            Ok(Ok(properties)) => Ok(properties),
            Ok(Err(error)) => Err(self.fail(span, error.to_string())),
            Err(error) => Err(self.fail(span, error.to_string())),
        }
    }
}
