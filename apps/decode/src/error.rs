//! Errors: what is wrong, and what to do about it.

use std::io;
use std::path::PathBuf;

use racl::ErrorKind;

/// Result of every fallible function of this package.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong. The text of each names the file, tensor, setting or token that is wrong and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the model cannot be read.
    #[error("{} cannot be read: {source}; --weights and --config name the files of the model", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The weights are in another format.
    #[error("{} is not a safetensors file: {reason}; fetch or convert it again", path.display())]
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// What about it shows that.
        reason: String,
    },
    /// The file of weights has another size than its header says.
    #[error(
        "{} has {found} bytes, its header describes {expected}: it is {}; fetch it again",
        path.display(), cut(*expected, *found)
    )]
    Size {
        /// The file.
        path: PathBuf,
        /// Bytes that the header asks for.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A tensor of the network is not in the file.
    #[error("{} has no tensor {name:?}: it is the file of another model than the configuration's", path.display())]
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
    /// A tensor has another element type than the first one, or one that is not supported.
    #[error(
        "tensor {name:?} of {} has element type {found}; all have to be F32, all F16 or all BF16: convert the file",
        path.display()
    )]
    TensorType {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The type in the file.
        found: String,
    },
    /// A configuration that this program does not implement.
    #[error("{}: {reason}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The setting, its value and what is supported.
        reason: String,
    },
    /// Sizes that do not fit each other, or a model that the device has no room for.
    #[error("the model cannot be used: {0}")]
    Sizes(String),
    /// A prompt that is no list of token ids, is empty, or has tokens that the model does not know.
    #[error("the prompt {0}")]
    Prompt(String),
    /// A length that cannot be generated.
    #[error("{0}")]
    Length(String),
    /// Lengths of the cache that cannot be used.
    #[error("--buckets {0}")]
    Buckets(String),
    /// The network gave something that is no number.
    #[error("the network gave numbers that are not finite: the weights are damaged, or too large for their type")]
    NotFinite,
    /// The runtime or the device failed, or there is no library.
    #[error("{what}: {0}", what = source_of(.0))]
    Device(#[from] racl::Error),
    /// The results cannot be written.
    #[error("the results cannot be written to standard output: {0}")]
    Output(#[source] io::Error),
}

/// What has failed, as far as the kind tells.
fn source_of(error: &racl::Error) -> &'static str {
    match error.kind() {
        ErrorKind::LibraryNotFound | ErrorKind::MissingSymbol => "the AscendCL library cannot be used",
        _ => "the device failed",
    }
}

fn cut(expected: u64, found: u64) -> &'static str {
    if found < expected { "truncated" } else { "longer than it should be" }
}
