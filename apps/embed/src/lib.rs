//! Sentence embeddings with all-MiniLM-L6-v2, replayed as captured graphs.
//!
//! The program `embed` is a thin shell around these modules. A text goes down one way: [`Tokenizer`] turns it into
//! token ids, [`Embedder`] pads them to one of [`LENGTHS`], replays the graph recorded for that length and gives 384
//! numbers of Euclidean norm 1.
//!
//! ```no_run
//! use embed::{Embedder, Mode, Tokenizer};
//!
//! # fn main() -> embed::Result<()> {
//! let folder = embed::folder::default_folder().expect("a home folder");
//! let tokenizer = Tokenizer::load(&folder)?;
//! let device = racl::Acl::init()?.device(0)?;
//! let mut embedder = Embedder::load(&folder, &device, Mode::Replay)?;
//! let vector = embedder.embed(&tokenizer.encode("A man is eating food.")?)?;
//! assert_eq!(vector.len(), 384);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod cli;
mod config;
mod embedder;
mod error;
pub mod folder;
mod network;
pub mod output;
mod progress;
mod tokens;
mod weights;

pub use config::Config;
pub use embedder::{Embedder, LENGTHS, Mode};
pub use error::{Error, Result};
pub use tokens::{MAX_TOKENS, Tokenizer};
