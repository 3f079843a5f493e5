//! Bindings made by bindgen; `sys/regen.sh` makes them again.
#![allow(
    missing_debug_implementations,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    clippy::all,
    clippy::nursery,
    clippy::pedantic,
    clippy::restriction,
    unreachable_pub,
    unnameable_types,
    unsafe_op_in_unsafe_fn,
    unused_imports
)]

pub mod blas;
pub mod channel;
pub mod collectives;
pub mod dump;
pub mod marks;
pub mod model;
pub mod operator_base;
pub mod operator_by_name;
pub mod operator_compiler;
pub mod operators;
pub mod platform;
pub mod profiling;
pub mod queue;
pub mod retrieval;
pub mod runtime;
pub mod super_kernel;

pub use blas::*;
pub use channel::*;
pub use collectives::*;
pub use dump::*;
pub use marks::*;
pub use model::*;
pub use operator_base::*;
pub use operator_by_name::*;
pub use operator_compiler::*;
pub use operators::*;
pub use platform::*;
pub use profiling::*;
pub use queue::*;
pub use retrieval::*;
pub use runtime::*;
pub use super_kernel::*;
