//! Running a plan on a device: executables, what they are given and what they give. Uses checked plans, and streams,
//! graphs and memory of the device; no other room uses it.

mod ahead;
mod alias;
mod behind;
mod bindings;
mod buckets;
mod budget;
mod choose;
mod create;
mod delivery;
mod eager;
mod executable;
mod found;
mod gate;
mod host;
mod host_outputs;
mod issue;
mod narrow;
mod once;
mod options;
mod outcome;
mod output;
mod outside;
mod piece;
mod pool;
mod readdress;
mod release;
mod replay;
mod rescue;
mod results;
mod segments;
mod sized;
mod store;
mod symbols;
mod untyped;
mod update;

pub use bindings::{Bindable, Bindings, Frozen, InputId, OutputId};
pub use buckets::Buckets;
pub use executable::Executable;
pub use found::FoundId;
pub use host_outputs::HostOutputs;
pub use options::{Mode, OnFull, RunOptions};
pub use output::Output;
pub use pool::Pool;
pub use store::Counters;
pub use untyped::AnyOutput;
