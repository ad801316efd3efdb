//! What is kept with a stack in the trash.

use drystone_model::record;

record! {
    /// What is kept with a stack in the trash.
    pub struct TrashNote {
        /// The stack.
        always "stack" => stack: String,
        /// When it was removed, RFC 3339.
        always "removed" => removed: String,
        /// Who removed it.
        always "by" => by: String,
        /// What the remover left, such as the stack's settings.
        optional "note" => note: Option<String>,
        /// When its last revision was made, where listing would cost too much to look for it.
        optional "lastUpdate" => last_update: Option<String>,
        /// How many resources that holds.
        optional "resources" => resources: Option<i64>,
    }
}
