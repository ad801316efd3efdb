//! unobin's local tree: immutable, sealed revisions and a pointer to the current one.
//!
//! ```text
//! <root>/<factory>/<stack>/
//!   current                    the name of the current revision
//!   lock                       the process that holds the stack; there only while it does
//!   snapshots/<rev>.json.enc   an envelope around each snapshot
//! ```
//!
//! unobin and this program may take turns on one tree (S16): files, names, modes and the lock are the same. What unobin
//! leaves open is closed without a change of the form: names cannot leave the root, a revision is never overwritten,
//! the current one cannot be deleted, an unlock removes only its own lock, and a tree that is opened as
//! [bound](Tree::bound) refuses what belongs elsewhere.
//!
//! [`Tree`] has the methods of unobin's own contract, not those of [`Store`](crate::Store). A layout over it will give it
//! that one: a commit is `write` and `set_current` under the lock, the number of a revision is its place in `list`, and
//! the snapshot is turned into the model's as `drystone_dialects::unobin` says.

mod error;
mod lock;
mod tree;

pub use error::{Error, Result};
pub use lock::{HeldLock, Holder};
pub use tree::Tree;
