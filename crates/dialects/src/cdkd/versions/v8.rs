//! Version 8: which outputs of other stacks a stack has read. It informs; nothing is refused because of it.

use super::super::object::object;
use super::{Step, nothing};

pub(super) const STEP: Step = Step { version: 8, stack: &["outputReads"], resource: &[], upgrade: nothing };

object! {
    /// An output of another stack that was read.
    pub struct OutputRead {
        /// The stack that has it.
        always "sourceStack" => source_stack: String,
        /// That stack's region.
        always "sourceRegion" => source_region: String,
        /// The output's name.
        always "outputName" => output_name: String,
    }
}
