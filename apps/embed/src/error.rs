//! Errors: what is wrong, and what to do about it.

use std::io;
use std::path::PathBuf;

use racl::ErrorKind;

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
    /// A file of the model cannot be read.
    #[error("{} cannot be read: {source}; check its permissions, or name another folder with --model", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The weights are in another format.
    #[error("{} is not a safetensors file: {reason}; {AGAIN}", path.display())]
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// What about it shows that.
        reason: String,
    },
    /// The file of weights has another size than its header says.
    #[error("{} has {found} bytes, its header describes {expected}: it is {}; {AGAIN}", path.display(), cut(*expected, *found))]
    Size {
        /// The file.
        path: PathBuf,
        /// Bytes that the header asks for.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A tensor of the network is not in the file.
    #[error("{} has no tensor {name:?}: it is the file of another model; {AGAIN}", path.display())]
    MissingTensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// A tensor has another shape than config.json asks for.
    #[error(
        "tensor {name:?} of {} has shape {found:?}, config.json asks for {expected:?}: the two files belong to \
         different models; {AGAIN}", path.display()
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
    /// A tensor has another element type than 32-bit floats.
    #[error(
        "tensor {name:?} of {} has element type {found}; only 32-bit floats (F32) are supported: convert the file, or \
         take the model that apps/embed/fetch-model.sh fetches", path.display()
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
    #[error("{}: {reason}; take the model that apps/embed/fetch-model.sh fetches", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The setting, its value and what is supported.
        reason: String,
    },
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
    #[error("{what}: {0}", what = source_of(.0))]
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
