//! Greedy decoding with a Llama-style model, replayed as captured graphs.
//!
//! The program `decode` is a thin shell around these modules. [`Config`] has the sizes, [`Source`] gives the weights,
//! [`Decoder`] runs the network: a graph for each length that the key-value cache is read to, replayed with one call a
//! token. What changes from token to token lies in device memory and is changed there; with [`Attention::Fused`] the
//! number of keys is updated in the graph instead.
//!
//! ```
//! use decode::{Config, Decoder, Options, Source};
//!
//! # fn main() -> decode::Result<()> {
//! let device = racl::Acl::mock()?.device(0)?;
//! let config = Config::default();
//! let mut decoder = Decoder::<f32>::new(&device, &config, Source::Random { seed: 1 }, &Options::default())?;
//! let tokens = decoder.generate(&[1, 2, 3], 5)?;
//! assert_eq!(tokens.len(), 5);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod cli;
mod config;
mod decoder;
mod error;
mod network;
mod number;
mod pack;
mod parallel;
mod random;
mod sequence;
mod stats;
mod step;
mod weights;

pub use config::Config;
pub use decoder::{Attention, DEFAULT_BUCKETS, Decoder, Mode, Options};
pub use error::{Error, Result};
pub use number::Number;
pub use parallel::generate;
pub use stats::all_calls;
pub use weights::{Source, dtype_of};
