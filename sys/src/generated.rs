//! Bindings made from a toolkit's headers when this program was built.
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

pub mod blas {
    include!(concat!(env!("OUT_DIR"), "/blas.rs"));
}
pub mod channel {
    include!(concat!(env!("OUT_DIR"), "/channel.rs"));
}
pub mod collectives {
    include!(concat!(env!("OUT_DIR"), "/collectives.rs"));
}
pub mod dump {
    include!(concat!(env!("OUT_DIR"), "/dump.rs"));
}
pub mod marks {
    include!(concat!(env!("OUT_DIR"), "/marks.rs"));
}
pub mod model {
    include!(concat!(env!("OUT_DIR"), "/model.rs"));
}
pub mod operator_base {
    include!(concat!(env!("OUT_DIR"), "/operator_base.rs"));
}
pub mod operator_by_name {
    include!(concat!(env!("OUT_DIR"), "/operator_by_name.rs"));
}
pub mod operator_compiler {
    include!(concat!(env!("OUT_DIR"), "/operator_compiler.rs"));
}
pub mod operators {
    include!(concat!(env!("OUT_DIR"), "/operators.rs"));
}
pub mod platform {
    include!(concat!(env!("OUT_DIR"), "/platform.rs"));
}
pub mod profiling {
    include!(concat!(env!("OUT_DIR"), "/profiling.rs"));
}
pub mod queue {
    include!(concat!(env!("OUT_DIR"), "/queue.rs"));
}
pub mod retrieval {
    include!(concat!(env!("OUT_DIR"), "/retrieval.rs"));
}
pub mod runtime {
    include!(concat!(env!("OUT_DIR"), "/runtime.rs"));
}
pub mod super_kernel {
    include!(concat!(env!("OUT_DIR"), "/super_kernel.rs"));
}

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
