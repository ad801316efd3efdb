//! Where the assets of a region go.

use super::error::{self, Kind, ReadError};
use super::object::object;
use super::text;

object! {
    /// What the marker of a region says that was prepared for assets.
    pub struct AssetStorage {
        /// The bucket for files.
        always "assetBucket" => asset_bucket: String,
        /// The repository for images.
        always "containerRepo" => container_repo: String,
        /// The version of what was prepared.
        always "assetSupportVersion" => asset_support_version: i64,
        /// When, as an ISO 8601 time.
        always "createdAt" => created_at: String,
    }
}

impl AssetStorage {
    /// Reads a marker.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        error::parse(error::text(bytes, Kind::AssetStorage)?, Kind::AssetStorage)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        text::pretty(self)
    }
}
