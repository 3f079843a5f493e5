//! The types that a model can have.

use model_files::Stored;
use racl::collective::Reducible;
use racl::half::{bf16, f16};
use racl::op::Float;

/// A type of weights; everything is computed in it.
pub trait Number: Float + Reducible + Stored {
    /// The least finite number: what is added to attention scores of places that do not count.
    const LEAST: Self;
    /// The nearest number of this type.
    fn of(value: f32) -> Self;
    /// The same number as a 32-bit float.
    fn wide(self) -> f32;
}

impl Number for f32 {
    const LEAST: Self = Self::MIN;
    fn of(value: f32) -> Self {
        value
    }
    fn wide(self) -> f32 {
        self
    }
}

impl Number for f16 {
    const LEAST: Self = Self::MIN;
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
    fn wide(self) -> f32 {
        self.to_f32()
    }
}

impl Number for bf16 {
    const LEAST: Self = Self::MIN;
    fn of(value: f32) -> Self {
        Self::from_f32(value)
    }
    fn wide(self) -> f32 {
        self.to_f32()
    }
}
