//! unobin's trees, in a folder or in a bucket: immutable, sealed revisions and a pointer to the current one.
//!
//! ```text
//! <root>/<factory>/<stack>/
//!   current                    the name of the current revision
//!   lock                       who holds the stack; there only while they do
//!   snapshots/<rev>.json.enc   an envelope around each snapshot
//! ```
//!
//! unobin and this program may take turns on one tree (S16): files, names, modes and the lock are the same. What unobin
//! leaves open is closed without a change of the form: names cannot leave the root, a revision is never overwritten,
//! the current one cannot be deleted, an unlock removes only its own lock, `current` is moved only from what was seen,
//! and a tree that is opened as [bound](Tree::bound) refuses what belongs elsewhere.
//!
//! One [`Tree`] does all of that over what it stands on, a `medium`: a `folder`, or a `bucket` of S3, Google or Azure.
//!
//! [`Tree`] has the methods of unobin's own contract; [`UnobinStore`] gives all trees of a root that of
//! [`Store`](crate::Store).

mod bucket;
mod error;
mod folder;
mod held;
mod lock;
mod medium;
mod root;
mod store;
mod tree;

pub use error::{Error, Result};
pub use lock::{HeldLock, Holder};
pub use medium::StoreKind;
pub use root::Root;
pub use store::UnobinStore;
pub use tree::Tree;
