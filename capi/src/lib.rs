//! libracl: racl for C, C++ and other languages. The header `include/racl.h` is made of the functions here and has the
//! rules that hold for all of them.
//!
//! Each function does its work inside `failure`'s guard, so that nothing unwinds into C, and reaches objects through
//! `handles`, which knows handles that are gone.

// What callers of C have to see to is said in the header: once for all functions.
#![allow(clippy::missing_safety_doc)]

mod arguments;
mod buffer;
mod context;
mod dlpack;
mod event;
mod failure;
mod graph;
mod handles;
mod host;
mod library;
mod objects;
mod operator;
mod status;
mod stream;

pub use buffer::*;
pub use context::*;
pub use dlpack::*;
pub use event::*;
pub use failure::{
    racl_last_error_call, racl_last_error_code, racl_last_error_copy, racl_last_error_message,
    racl_last_error_status, racl_status_name,
};
pub use graph::*;
pub use host::*;
pub use library::*;
pub use objects::{
    racl_buffer, racl_capture, racl_context, racl_event, racl_graph, racl_host, racl_library, racl_stream,
    racl_tensor,
};
pub use operator::*;
pub use status::*;
pub use stream::*;
