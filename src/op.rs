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
//! The functions here have fixed types, and documentation of their own; [`aclnn`] has every operator of the library
//! by its C name: another function, as the C one is. Each is found at one path.
//!
//! C calls: `aclCreateTensor`, `aclCreateScalar`, `aclCreateIntArray` and the like, the two phases
//! `aclnn…GetWorkspaceSize` and `aclnn…`, `aclSetAclOpExecutorRepeatable`, `aclSetTensorAddr`,
//! `aclSetInputTensorAddr`, `aclSetOutputTensorAddr`, `aclSetDynamicInputTensorAddr`, `aclSetDynamicOutputTensorAddr`,
//! `aclDestroyAclOpExecutor`, `aclDestroyTensor` and the like.
//!
//! # In a plan
//!
//! The functions with fixed types are for two worlds, told apart by their operands: with a [`Stream`](crate::Stream) or
//! a [`Probe`] they take [`Tensor`]s, whose element types the compiler checks; with the
//! [`Builder`](crate::plan::Builder) of a [plan](crate::plan) values, whose types are judged when the operator is
//! recorded, by the rules of plans. A function of a program is written once for both, over [`On`], [`Of`] and the class
//! of its [`Elements`]:
//!
//! ```
//! use racl::op::{self, DataType::F32, Floats, Of, On};
//! use racl::plan::{Inferred, Input, Plan, Simulated};
//!
//! fn scaled_norm<T: Floats>(
//!     on: &impl On<T>,
//!     x: &impl Of<T>,
//!     factor: T::Number,
//!     [squares, sum, out]: [&mut T::Out; 3],
//! ) -> racl::Result<()> {
//!     op::mul(on, x, x, squares)?;
//!     op::reduce_sum(on, squares, &[-1], true, sum)?;
//!     op::muls(on, sum, factor, out)
//! }
//!
//! let device = racl::Acl::mock()?.device(0)?;
//! let stream = device.stream()?;
//! let x = device.upload_tensor(&[3.0_f32, 4.0], [2])?;
//! let (mut squares, mut sum, mut out) = (device.zeros([2])?, device.zeros([1])?, device.zeros([1])?);
//! scaled_norm(&stream, &x, 0.5, [&mut squares, &mut sum, &mut out])?;
//! assert_eq!(out.to_vec()?, [12.5]);
//!
//! let plan = Plan::build(|g| {
//!     let x = g.input("x", [2], F32, Input::Copied)?;
//!     let [mut squares, mut sum, mut out] = [(); 3].map(|()| Inferred::new());
//!     scaled_norm(g, &x, 0.5.into(), [&mut squares, &mut sum, &mut out])?;
//!     g.output("y", out.value()?)
//! })?;
//! let given = Simulated::new().tensor("x", &[3.0_f32, 4.0], [2]);
//! # #[cfg(feature = "mock")]
//! assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [12.5]);
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! A result of a plan is an [`Inferred`](crate::plan::Inferred), or a value that was
//! [declared](crate::plan::Builder::empty): for [`cast`], [`arange`], [`linspace`] and [`eye`] declared, since their
//! results follow from no operand. Sizes that an operator is told as numbers ([`layer_norm`], [`group_norm`],
//! [`repeat_interleave`], the heads of attention) depend on no symbols there.
//!
//! # Executors
//!
//! The first phase costs more than the second. So what it planned is kept: an operator that is called again with an
//! equal signature, eagerly or in a capture, needs its second phase only, after tensors that moved were given their
//! new addresses. The signature is the function, the types, shapes, strides, offsets and formats of all operands,
//! and every value from the host: numbers, arrays, texts. Where it is not known which index the library gives to a
//! tensor, its address is part of the signature too: behind an operand that is left out, for one tensor behind a list
//! of those that are read like it, or written like it, and for a result behind an operand that is changed in place or a
//! list with one; for all tensors of a call with lists on releases that lack `aclSetDynamicInputTensorAddr` and its
//! like. Scratch memory is that of the stream at each call.
//!
//! Each thread keeps executors for each context, so work that moves between the threads of a runtime is planned once on
//! each. The first phase and the first launch have to be on one thread: the first phase leaves in its thread which
//! addresses the executor takes from where, and the first launch notes that (source of CANN's operator engine, opbase).
//! Later launches may be elsewhere, but one at a time, as an executor has one set of addresses: threads that shared
//! them would wait for each other at every call, and a lock between threads costs more than a call may. The process
//! keeps up to 4,096, those that were used last (the environment variable `RACL_OPERATOR_CACHE` with another number; 0
//! for none; for one context [`Context::set_operator_cache`](crate::Context::set_operator_cache)). Executors go with
//! the context, with a call that failed, and after the end of the thread, when the context is next used by a new one or
//! asked. [`Context::operator_cache`](crate::Context::operator_cache) counts, threads among it. An operator that cannot
//! be repeated is planned at each call, as all are with a library that lacks the functions for it. Limits of cores that
//! a plan sets are part of the signature; after other settings of the runtime were changed beside this crate that a
//! first phase looks at, [`Context::clear_operator_cache`](crate::Context::clear_operator_cache) makes the library look
//! again.
//!
//! A [plan](crate::plan) that updates its graphs keeps executors of its own, which go with it from thread to thread.
//!
//! # Shapes and memory
//!
//! Sizes count elements. Shapes are broadcast as in numpy: dimensions are compared from the last one, and one that is
//! missing or has size 1 is repeated. Operands and results may be views with gaps.
//!
//! Clones and views of a tensor share its memory, so the borrow checker cannot see that a result overlaps an operand.
//! Each function says what it allows; anything else leaves undefined numbers in the result.
//!
//! # Indices
//!
//! Indices in a tensor are not looked at on the host, which would have to wait for them. One out of range is found by
//! the kernel, if at all: on the mock it is a fault of the device and nothing is read or written; kernels of a card may
//! check it, or read and write other memory of the device. Indices that come from outside of the program are to be
//! checked before they are uploaded. The same holds for the operators of [`aclnn`] that have no function here, and in
//! captured graphs and plans, where the fault comes with the wait for the launch or the run;
//! [`Plan::simulate`](crate::plan::Plan::simulate) looks at each index, and its error names the operator and its line.
//! While a program is written and tested, the host can look at those of eager operators, which waits for them:
//! [`Context::set_index_checks`](crate::Context::set_index_checks), or `RACL_CHECK_INDICES=1` in the environment.
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
//! Nothing is queued then. A capture with an operator that was refused or failed gives no graph.
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
#![doc(alias = "aclCreateTensorList")]
#![doc(alias = "aclCreateScalarList")]
#![doc(alias = "aclCreateFloatArray")]
#![doc(alias = "aclCreateBoolArray")]
#![doc(alias = "aclSetTensorAddr")]
#![doc(alias = "aclSetAclOpExecutorRepeatable")]
#![doc(alias = "aclOpExecutor")]
#![doc(alias = "aclDestroyAclOpExecutor")]

pub mod aclnn;
mod any;
mod argument;
mod by_name;
mod cached;
mod element;
mod executor;
mod few;
pub(crate) mod first;
mod indices;
mod known;
pub(crate) mod nn;
mod operand;
mod owned;
mod recorded;
mod reduce_into;
mod repeatable;
mod scalar;
mod shape;
mod tellings;
mod temporary;
pub(crate) mod tensor;
mod told;
mod typed;
mod view;

pub use any::{AnyTensor, ElementType, Format};
pub use by_name::{Argument, call, parameters};
pub use cached::OperatorCache;
pub use element::{DataType, Element, Float, Index, Numeric};
pub(crate) use executor::{Call, Target};
pub(crate) use few::Few;
pub use nn::*;
pub use operand::{Access, Footprint, Operand, Probe, Submit, Used};
pub(crate) use operand::{Awaited, Described, Destination, Place, Record, Sizes, Tells, Token};
pub(crate) use recorded::{BLOCK_ROWS, Recorded, Recorder, Stands, block_columns, recorded, stands};
pub use reduce_into::{ReduceKind, reduce_into};
pub(crate) use repeatable::{Keep, Repeatable};
pub use scalar::Scalar;
pub use shape::{IntoShape, MAX_RANK, Shape};
pub(crate) use tellings::Tellings;
pub(crate) use tensor::Tensor;
pub(crate) use told::{Amount, Numeral, Takes, Told};
pub(crate) use typed::{Counted, Kind, recorder as plan_of};
pub use typed::{Elements, Floats, Indices, Numerics, Of, On};
pub(crate) use view::View;
