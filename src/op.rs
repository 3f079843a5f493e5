//! Operators: tensors over device memory, and functions that submit aclnn operators to a stream.
//!
//! Every function submits one operator and returns when it is queued; errors of the computation come with a later
//! synchronising call. Shapes, data types and broadcasting are checked by the operator library before anything is
//! queued. On a capturing stream the operator becomes part of the graph.
//!
//! An operator runs in two phases, both on the calling thread: the first checks the arguments and plans an executor,
//! the second takes the executor and scratch memory (workspace) and queues the work. Scratch memory comes from the
//! stream, in a capture from the graph.
//!
//! A [plan](crate::plan) plans an operator once for several memories, where the operator allows that.
//!
//! C calls: `aclCreateTensor`, `aclCreateScalar`, `aclCreateIntArray`, the two phases `aclnn…GetWorkspaceSize` and
//! `aclnn…`, `aclDestroyAclOpExecutor`, `aclDestroyTensor`, `aclDestroyScalar`, `aclDestroyIntArray`.
//!
//! # Shapes and memory
//!
//! Sizes count elements. Shapes are broadcast as in numpy: dimensions are compared from the last one, and one that is
//! missing or has size 1 is repeated. Operands and results may be views with gaps.
//!
//! Clones and views of a tensor share its memory, so the borrow checker cannot see that a result overlaps an operand.
//! Each function says what it allows; anything else leaves undefined numbers in the result.
//!
//! # Errors
//!
//! Each function names what its operator refuses. Every one of them can also give these kinds of
//! [`ErrorKind`](crate::ErrorKind):
//!
//! - `InvalidArgument`: a tensor of another device than the stream's, or of another library;
//! - `OutOfMemory`: no device memory for the scratch memory;
//! - `Operator`: the library has no kernel for the chip or the type, or could not queue it, as on a stream that was
//!   destroyed beside this crate;
//! - `MissingSymbol`: the library does not have the operator;
//! - `CaptureInvalidated`: the stream records a graph whose capture is ending.
//!
//! Nothing is queued then. A capture whose operator failed in the second phase gives no graph.
//!
//! # Examples
//!
//! ```
//! use racl::op;
//!
//! let acl = racl::Acl::mock()?;
//! let device = acl.device(0)?;
//! let stream = device.stream()?;
//! let mut a = device.upload_tensor(&[1.0_f32, 4.0], [2])?;
//! let mut root = device.zeros([2])?;
//! op::sqrt(&stream, &a, &mut root)?; // queued, in the order of the stream
//! op::add_inplace(&stream, &mut a, &root)?;
//! assert_eq!(a.to_vec()?, [2.0, 6.0]); // waits for both
//! # Ok::<(), racl::Error>(())
//! ```

#![doc(alias = "aclCreateScalar")]
#![doc(alias = "aclDestroyScalar")]
#![doc(alias = "aclCreateIntArray")]
#![doc(alias = "aclDestroyIntArray")]
#![doc(alias = "aclOpExecutor")]
#![doc(alias = "aclDestroyAclOpExecutor")]

pub mod aclnn;
mod any;
mod argument;
mod cached;
mod element;
mod executor;
mod few;
pub mod nn;
mod operand;
mod owned;
mod repeatable;
mod scalar;
mod shape;
mod tensor;
mod view;

pub use any::{AnyTensor, ElementType, Format};
pub(crate) use argument::Arg;
pub use cached::OperatorCache;
pub(crate) use cached::{Operators, plan_for_cores};
pub use element::{DataType, Element, Float, Index, Numeric};
pub(crate) use executor::{Target, operator};
pub use nn::{
    CubeMath, GeluForm, LayerNorm, RotaryForm, abs, add, add_inplace, add_scaled, addmm, adds, argmax, batch_matmul,
    cast, clamp_min, copy, div, divs, embedding, equal, fill, gelu, greater, layer_norm, matmul, matmul_with,
    maximum, mean, mm, mul, mul_inplace, muls, permute, reduce_sum, rms_norm, rotary_embedding, rsqrt, select,
    softmax, sqrt, sub, swiglu, tanh,
};
pub use operand::{Access, Footprint, Operand, Probe, Submit, Used};
pub(crate) use repeatable::{Keep, Repeatable};
pub use scalar::Scalar;
pub(crate) use scalar::{Factor, Ones};
pub use shape::{IntoShape, MAX_RANK, Shape};
pub use tensor::Tensor;
pub(crate) use view::View;
