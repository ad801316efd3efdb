//! The signatures that mark structs with a meaning of their own.

/// The member that holds the signature.
pub(super) const KEY: &str = "4dabf18193072939515e22adb298388d";

pub(super) const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
pub(super) const RESOURCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
pub(super) const OUTPUT: &str = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
pub(super) const BYTES: &str = "803fd3297a5875dc03ca845dda5d2a98";
pub(super) const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
pub(super) const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
