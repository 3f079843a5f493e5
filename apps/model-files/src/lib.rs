//! The files of a model: [`Settings`] reads its configuration, [`WeightsFile`] its weights, [`upload`] brings them to
//! the device. What a network needs of them, and what to do about a file that cannot be used, programs say themselves.
#![forbid(unsafe_code)]

mod error;
mod layer;
mod settings;
mod weights;

pub use error::Error;
pub use layer::{aligned, upload};
pub use safetensors::Dtype;
pub use settings::{MOST, Settings};
pub use weights::{Stored, WeightsFile};
