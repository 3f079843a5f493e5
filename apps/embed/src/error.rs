//! Errors: what is wrong, and what to do about it.

use std::io;
use std::path::PathBuf;

use command_line::what_failed;
use model_files::Error as FileError;

/// Result of every fallible function of this package.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong. The text of each names the file, tensor, setting or text that is wrong and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No place to look for the model.
    #[error("no folder to look for the model in: set HOME or RACL_MODEL_DIR, or name the folder with --model")]
    NoFolder,
    /// A file of the model is not there.
    #[error(
        "no model in {}: {file} is not there; run apps/embed/fetch-model.sh, which fetches the model and prints its \
         folder, or name the folder with --model", folder.display()
    )]
    NoModel {
        /// Where the model was looked for.
        folder: PathBuf,
        /// The file that is missing.
        file: &'static str,
    },
    /// A file of the model cannot be used.
    #[error("{}", file_error(.0))]
    File(#[from] FileError),
    /// The tokenizer cannot be used.
    #[error("{} is not a usable tokenizer: {reason}; {AGAIN}", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A text cannot be turned into tokens.
    #[error("the text {text:?} cannot be turned into tokens: {reason}")]
    Text {
        /// Start of the text.
        text: String,
        /// Why.
        reason: String,
    },
    /// Token ids that the network cannot take.
    #[error("{0}")]
    Tokens(String),
    /// The network gave something that is no number.
    #[error("the embedding has a component that is not a finite number: the weights are damaged; {AGAIN}")]
    NotFinite,
    /// The runtime or the device failed, or there is no library.
    #[error("{what}: {0}", what = what_failed(.0))]
    Device(#[from] racl::Error),
    /// The compile cache is set up in a way that it does not take.
    #[error("the settings of the compile cache are wrong: {0}")]
    Cache(#[source] racl::Error),
    /// Standard input cannot be read.
    #[error("line {line} of standard input cannot be read: {source}; the input is UTF-8 text, one text a line")]
    Input {
        /// Number of the line, from 1.
        line: usize,
        /// Why.
        source: io::Error,
    },
    /// The results cannot be written.
    #[error("the results cannot be written to standard output: {0}")]
    Output(#[source] io::Error),
}

const AGAIN: &str = "remove the folder and run apps/embed/fetch-model.sh again";

/// What is wrong with a file of the model, and the way out.
fn file_error(error: &FileError) -> String {
    match error {
        FileError::Read { .. } => format!("{error}; check its permissions, or name another folder with --model"),
        FileError::TensorShape { path, name, expected, found } => format!(
            "tensor {name:?} of {} has shape {found:?}, config.json asks for {expected:?}: the two files belong to \
             different models; {AGAIN}",
            path.display()
        ),
        FileError::TensorType { .. } => format!(
            "{error}; only 32-bit floats (F32) are supported: convert the file, or take the model that \
             apps/embed/fetch-model.sh fetches"
        ),
        FileError::Config { .. } => format!("{error}; take the model that apps/embed/fetch-model.sh fetches"),
        _ => format!("{error}; {AGAIN}"),
    }
}
