//! Kernels of the program's own: binaries, the functions in them, and launches.

mod argument;
mod attributes;
mod binary;
mod failure;
mod function;
mod in_graph;
mod launch;
mod options;
mod parts;

pub use argument::KernelArgument;
pub use attributes::{KernelEngine, Schedule};
pub use binary::KernelBinary;
pub use function::{Kernel, KernelCores, KernelKind, KernelParameter};
pub use in_graph::KernelAttributes;
pub use launch::KernelLaunch;
pub use options::{BinaryCore, BinaryOptions, CpuKernels};
