//! Operators: tensors over device memory, and functions that submit aclnn operators to a stream.
//!
//! Every function submits one operator and returns when it is queued; errors of the computation come with a later
//! synchronising call. Shapes, data types and broadcasting are checked by the operator library before anything is
//! queued. On a capturing stream the operator becomes part of the graph.
//!
//! An operator runs in two phases, both on the calling thread: the first checks the arguments and plans an executor,
//! the second takes the executor and scratch memory (workspace) and queues the work. Scratch memory comes from the
//! stream, in a capture from the graph.

mod element;
mod executor;
pub mod nn;
mod owned;
mod scalar;
mod shape;
mod tensor;

pub use element::{DataType, Element, Float, Index, Numeric};
pub(crate) use executor::operator;
pub use nn::{
    CubeMath, GeluForm, LayerNorm, abs, add, add_inplace, add_scaled, addmm, adds, batch_matmul, cast, clamp_min,
    copy, div, divs, embedding, fill, gelu, layer_norm, matmul, matmul_with, maximum, mean, mm, mul, mul_inplace,
    muls, permute, reduce_sum, rsqrt, softmax, sqrt, sub, tanh,
};
pub(crate) use scalar::Ones;
pub use shape::{MAX_RANK, Shape};
pub use tensor::Tensor;
