//! Plans through the public interface.

mod environment;
#[path = "../../src/plan/tests/generate.rs"]
mod generate;
mod random;

/// What the generator of random plans needs.
mod api {
    pub(crate) use racl::op::DataType;
    pub(crate) use racl::plan::{After, Builder, Foreign, Fork, Input, Scope, TaggedEvent, Value};
    pub(crate) use racl::{Prefetch, Result};
}
