//! The texts that mark an object as something else than an object.

/// The member that holds a signature.
pub const KEY: &str = "4dabf18193072939515e22adb298388d";
/// A secret: `ciphertext` or `plaintext`.
pub const SECRET: &str = "1b47061264138c4ac30d75fd1eb44270";
/// A reference to a resource: `urn`, `id`, `packageVersion`.
pub const RESOURCE_REFERENCE: &str = "5cf8f73096256a8f31e491e813e4eb8e";
/// An output: `value`, `secret`, `dependencies`.
pub const OUTPUT: &str = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
/// Bytes that are not valid UTF-8: `value` in base64.
pub const BYTE_STRING: &str = "803fd3297a5875dc03ca845dda5d2a98";
/// An asset: `hash` and one of `text`, `path`, `uri`.
pub const ASSET: &str = "c44067f5952c0a294b673a41bacd8c17";
/// An archive: `hash` and one of `assets`, `path`, `uri`.
pub const ARCHIVE: &str = "0def7320c3a5731c473e5ecbe6d01bc7";
/// A number that JSON has no text for: `value`, the bits as 16 hex digits. Only the state uses it.
pub const FLOAT: &str = "8ad145fe-0d11-4827-bfd7-1abcbf086f5c";
