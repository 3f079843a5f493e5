//! The aclnn operators, one family a file.

pub(crate) mod arithmetic;
pub(crate) mod convert;
pub(crate) mod matmul;
pub(crate) mod normalise;
pub(crate) mod reduce;
pub(crate) mod select;
pub(crate) mod transformer;
pub(crate) mod unary;

pub use arithmetic::{add, add_inplace, add_scaled, adds, div, divs, maximum, mul, mul_inplace, muls, sub};
pub use convert::{cast, copy, embedding, fill, permute};
pub use matmul::{CubeMath, addmm, batch_matmul, matmul, matmul_with, mm};
pub use normalise::{GeluForm, LayerNorm, gelu, layer_norm, softmax};
pub use reduce::{mean, reduce_sum};
pub use select::{argmax, equal, greater, select};
pub use transformer::{RotaryForm, rms_norm, rotary_embedding, swiglu};
pub use unary::{abs, clamp_min, rsqrt, sqrt, tanh};
