//! libracl: racl for C, C++ and other languages. The header `include/racl.h` is made of the functions here and has the
//! rules that hold for all of them.
//!
//! Each function does its work inside `failure`'s guard, so that nothing unwinds into C, and reaches objects through
//! `handles`, which knows handles that are gone.

// What callers of C have to see to is said in the header: once for all functions.
#![allow(clippy::missing_safety_doc)]

mod arguments;
mod bindings;
mod buffer;
mod builder;
mod builder_calls;
mod builder_streams;
mod cache;
mod callback;
mod cancel;
mod context;
mod dlpack;
mod errors;
mod event;
mod executable;
mod failure;
mod found;
mod graph;
mod groups;
mod handles;
mod host;
mod host_outputs;
mod library;
mod log;
mod mock;
mod names;
mod objects;
mod operator;
mod passes;
mod plan;
mod pool;
mod record;
mod recording;
mod results;
mod run_options;
mod status;
mod stream;
mod types;

pub use bindings::*;
pub use buffer::*;
pub use builder::*;
pub use builder_calls::*;
pub use builder_streams::*;
pub use cache::*;
pub use callback::*;
pub use context::*;
pub use dlpack::*;
pub use errors::{
    racl_context_take_errors, racl_error, racl_errors_count, racl_errors_free, racl_errors_get, racl_last_error_put,
    racl_last_errors,
};
pub use event::*;
pub use executable::*;
pub use failure::{
    racl_last_error_call, racl_last_error_code, racl_last_error_copy, racl_last_error_count, racl_last_error_details,
    racl_last_error_message, racl_last_error_set, racl_last_error_status, racl_status_name,
};
pub use found::*;
pub use graph::*;
pub use groups::*;
pub use host::*;
pub use host_outputs::*;
pub use library::*;
pub use log::*;
pub use mock::*;
pub use objects::{
    racl_bindings, racl_buffer, racl_builder, racl_cache, racl_capture, racl_context, racl_errors, racl_event,
    racl_executable, racl_foreign, racl_graph, racl_host, racl_host_function, racl_host_outputs, racl_library,
    racl_plan, racl_pool, racl_registry, racl_simulation, racl_stream, racl_task_group, racl_tensor,
};
pub use operator::*;
pub use passes::*;
pub use plan::*;
pub use pool::*;
pub use record::*;
pub use recording::{racl_dim, racl_value};
pub use run_options::*;
pub use status::*;
pub use stream::*;
pub use types::*;
