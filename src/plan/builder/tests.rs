//! The generator of random plans, which tests of every room take, and what is recorded.

pub(crate) mod bodies;
pub(crate) mod generate;
mod versions;

/// What the generator of random plans needs.
pub(crate) mod api {
    pub(crate) use crate::op::{DataType, aclnn};
    pub(crate) use crate::plan::{
        After, Builder, Dim, Foreign, Fork, HostFunction, Input, Options, Plan, Scope, TaggedEvent, Value,
    };
    pub(crate) use crate::{Prefetch, Result};
}
