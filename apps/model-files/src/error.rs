//! What is wrong with a file of a model.

use std::io;
use std::path::PathBuf;

/// Why a file of a model cannot be used. The text of each names the file, and the tensor or setting that is wrong;
/// the way out is the program's to tell.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The weights are in another format.
    #[error("{} is not a safetensors file: {reason}", path.display())]
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// What about it shows that.
        reason: String,
    },
    /// The file of weights has another size than its header says.
    #[error("{} has {found} bytes, its header describes {expected}: it is {}", path.display(), cut(*expected, *found))]
    Size {
        /// The file.
        path: PathBuf,
        /// Bytes that the header asks for.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A tensor of the network is not in the file.
    #[error("{} has no tensor {name:?}: it is the file of another model", path.display())]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// A tensor has another shape than the configuration asks for.
    #[error(
        "tensor {name:?} of {} has shape {found:?}, the configuration asks for {expected:?}: the two files belong to \
         different models", path.display()
    )]
    TensorShape {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The shape that the configuration asks for.
        expected: Vec<usize>,
        /// The shape in the file.
        found: Vec<usize>,
    },
    /// A tensor has another element type than the network.
    #[error("tensor {name:?} of {} has element type {found}", path.display())]
    TensorType {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The type in the file.
        found: String,
    },
    /// A configuration that the program does not implement.
    #[error("{}: {reason}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The setting, its value and what is supported.
        reason: String,
    },
}

fn cut(expected: u64, found: u64) -> &'static str {
    if found < expected { "truncated" } else { "longer than it should be" }
}
