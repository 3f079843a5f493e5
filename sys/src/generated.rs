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
    unused_imports
)]

pub mod operator_base {
    include!(concat!(env!("OUT_DIR"), "/operator_base.rs"));
}
pub mod operators {
    include!(concat!(env!("OUT_DIR"), "/operators.rs"));
}
pub mod runtime {
    include!(concat!(env!("OUT_DIR"), "/runtime.rs"));
}

pub use operator_base::*;
pub use operators::*;
pub use runtime::*;
