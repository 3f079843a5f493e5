//! Running a plan on a device: executables, what they are given and what they give.

mod ahead;
mod alias;
mod bindings;
mod budget;
mod create;
mod eager;
mod executable;
mod gate;
mod host;
mod issue;
mod options;
mod output;
mod outside;
mod piece;
mod pool;
mod readdress;
mod release;
mod replay;
mod results;
mod sized;
mod store;
mod symbols;
mod update;

pub use bindings::{Bindable, Bindings, Frozen, InputId, OutputId};
#[cfg(feature = "cache")]
pub(crate) use budget::device_cores;
pub use executable::Executable;
pub use options::{Mode, OnFull, RunOptions};
pub use output::Output;
pub use pool::Pool;
pub use store::Counters;
pub(crate) use update::is_updatable;
