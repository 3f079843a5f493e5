//! Programs that do what no tidy one does, in safe Rust: drops in any order, threads, values that are forgotten,
//! panics, loggers that call back, calls and work that fail, absurd arguments. None may crash, hang, leak what it did
//! not forget or give a wrong number without an error.
#![forbid(unsafe_code)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/watchdog.rs"]
mod watchdog;

mod arena;
mod bindings;
#[cfg(feature = "cache")]
mod caches;
mod captures;
mod conditions;
mod drops;
mod exhaustion;
mod failing;
mod forgets;
mod growing;
mod host;
mod host_outputs;
mod loggers;
mod meanwhile;
mod memory;
mod operators;
mod orders;
mod own_stream;
mod panics;
mod passes;
mod plans;
mod pools;
mod processes;
mod races;
mod shared;
mod tasks;
mod threads;
mod updates;
