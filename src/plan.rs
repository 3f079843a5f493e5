//! Plans: a graph as data, checked before a device sees it.
//!
//! A [`Builder`] records operators, streams, events, prefetches and inputs by class. [`Plan::build`] checks the
//! result: every pair of accesses to the same bytes must be in some order, by stream or by event, or the plan is
//! refused with both operators, the bytes and the event that would order them. A plan is plain data; it runs eagerly
//! on real streams, as a captured graph, or simulated on the host, with the same numbers.
//!
//! # Operators
//!
//! A [`Builder`] records operators of the library with all that they are told, in two ways that come to the same. Its
//! methods are named like the functions of [`racl::op`](crate::op) and give their results: `g.conv2d(…)`, `g.cat(…)`,
//! `let (values, order) = g.sort(…)?`. The functions of
//! [`op::aclnn`](crate::op::aclnn) take the builder where they take a stream, with values for tensors and an
//! [`Inferred`], or a value that was made with [`Builder::empty`], for each result. So an operator writes to memory that
//! is there, and works in place where it can: `aclnn::mul(g, &y, &x, &mut { y })?`. So do the functions of
//! [`racl::op`](crate::op#in-a-plan) themselves, by which a function of a program is written once for streams and plans.
//!
//! What type and shape a result has follows from rules, over symbols: one for each operator that the mock computes,
//! except for those whose sizes depend on data. A rule says yes exactly where the library's first phase does, so that
//! operands and results that do not fit are refused when they are recorded, with the line and both shapes. It has
//! limits, which leave the judgement to the first phase at capture and ask for declared results where a result is to be
//! inferred: types that the mock does not compute in, sizes that no [`Dim`] can be, such as half of a symbol, and
//! numbers of parts that depend on symbols. Dimensions with symbols fit each other when they are the same expression.
//!
//! Values have no formats. A product that takes its weight in FRACTAL_NZ (`aclnn::matmul_weight_nz`,
//! `batch_mat_mul_weight_nz`, `addmm_weight_nz`, `quant_matmul_weight_nz`) is given the storage, `[…, n / n0, k / 16, 16, n0]` with 32 bytes in
//! `n0` elements, and the library is told that it is the matrix `[…, k, n]`; it may be one part of several in a tensor.
//!
//! ```
//! use racl::op::{DataType::F32, aclnn};
//! use racl::plan::{Inferred, Input, Plan};
//!
//! let plan = Plan::build(|g| {
//!     let tokens = g.symbol("tokens", 1..=128)?;
//!     let x = g.input("x", [tokens, 8.into()], F32, Input::Copied)?;
//!     let (y, _) = g.rms_norm(x, g.full([8], F32, 1.0)?, 1e-6)?;
//!     let mut halves = Inferred::new();
//!     aclnn::glu(g, &y, -1, &mut halves)?; // an operator without a method
//!     let halves = halves.value()?;
//!     assert_eq!(g.dims(halves)?, [tokens, 4.into()]);
//!     let refused = g.add(halves, x).unwrap_err();
//!     assert!(refused.to_string().contains("4 meets 8"));
//!     g.output("y", halves)
//! })?;
//! assert_eq!(plan.operators(), 3);
//! # Ok::<(), racl::Error>(())
//! ```

pub mod auto;
mod builder;
mod calls;
mod check;
mod checked;
mod dump;
mod memory;
mod order;
mod overlap;
mod passes;
mod recipe;
mod rules;
mod run;
mod share;
mod simulate;
mod spread;
#[cfg(feature = "cache")]
mod stored;
mod symbols;

pub use builder::decompositions::{Decompositions, Operation};
pub use builder::options::Options;
pub use builder::{
    After, Builder, External, Fork, Found, Inferred, ORIGIN_TAG, Planned, Scope, TaggedEvent, Telling, Value,
};
pub use check::finding::{Finding, FindingKind};
pub use checked::Plan;
pub use checked::change::{Change, Work};
pub use checked::listed::Choice;
pub use dump::Width;
pub use memory::MemoryReport;
pub use passes::{Optimised, PassMode, Passes};
pub use recipe::function::{Foreign, HostFunction, Launch};
pub use recipe::operator::Number;
pub use recipe::quantity::{IntoQuantities, Quantity};
pub use recipe::{Cores, Input, OnMove};
pub use run::{
    AnyOutput, Arrived, Bindable, Bindings, Buckets, Counters, Executable, FoundId, Frozen, HostOutputs, InputId,
    Mode, OnFull, Output, OutputId, Pool, RunEnd, RunOptions, RunReached,
};
pub use simulate::{Simulated, Simulation};
#[cfg(feature = "cache")]
pub use stored::Registry;
#[cfg(feature = "cache")]
pub(crate) use stored::{Code, NotLoaded};
#[cfg(feature = "cache")]
pub(crate) use symbols::dim::show_dims;
pub use symbols::dim::{Dim, IntoDims, MAX_SYMBOLS};
