//! Errors: what is wrong, and what to do about it.

use std::io;

use command_line::what_failed;
use model_files::Error as FileError;

/// Result of every fallible function of this package.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong. The text of each names the file, tensor, setting or token that is wrong and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the model cannot be used.
    #[error("{}", file_error(.0))]
    File(#[from] FileError),
    /// Sizes that do not fit each other, or a model that the device has no room for.
    #[error("the model cannot be used: {0}")]
    Sizes(String),
    /// A prompt that is no list of token ids, is empty, or has tokens that the model does not know.
    #[error("the prompt {0}")]
    Prompt(String),
    /// A length that cannot be generated.
    #[error("{0}")]
    Length(String),
    /// Several cards that cannot work together.
    #[error("--tensor-parallel {0}")]
    Parallel(String),
    /// Lengths of the cache that cannot be used.
    #[error("--buckets {0}")]
    Buckets(String),
    /// The network gave something that is no number.
    #[error("the network gave numbers that are not finite: the weights are damaged, or too large for their type")]
    NotFinite,
    /// The runtime or the device failed, or there is no library.
    #[error("{what}: {0}", what = what_failed(.0))]
    Device(#[from] racl::Error),
    /// The results cannot be written.
    #[error("the results cannot be written to standard output: {0}")]
    Output(#[source] io::Error),
}

/// What is wrong with a file of the model, and the way out.
fn file_error(error: &FileError) -> String {
    let advice = match error {
        FileError::Read { .. } => "; --weights and --config name the files of the model",
        FileError::NotSafetensors { .. } => "; fetch or convert it again",
        FileError::Size { .. } => "; fetch it again",
        FileError::MissingTensor { .. } => " than the configuration's",
        FileError::TensorType { .. } => "; all have to be F32, all F16 or all BF16: convert the file",
        _ => "",
    };
    format!("{error}{advice}")
}
