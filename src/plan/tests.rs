//! Properties of whole plans.

mod bench;
mod boxes;
mod brute;
mod checks;
pub(crate) mod generate;
mod random;
mod versions;
mod written;

/// What the generator of random plans needs.
mod api {
    pub(crate) use crate::op::DataType;
    pub(crate) use crate::plan::{After, Builder, Foreign, Fork, Input, Scope, TaggedEvent, Value};
    pub(crate) use crate::{Prefetch, Result};
}
