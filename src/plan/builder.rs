//! The builder: records what a plan does, in the order in which its work is issued, and gives the recipe. Uses what
//! recipes are made of and how mistakes are told; [`Plan`](super::Plan) checks what comes out.

use std::cell::{RefCell, RefMut};
use std::fmt;

use crate::error::Result;

use decompositions::Decompositions;
use options::Options;
use state::State;

mod by_hand;
mod calls;
pub(crate) mod decompositions;
mod events;
mod foreign;
mod gates;
mod operators;
mod ops;
pub(crate) mod options;
mod prefetch;
mod recorded;
mod rewrite;
mod state;
mod streams;
mod telling;
#[cfg(test)]
pub(crate) mod tests;
mod values;
mod views;
mod waits;

pub use events::TaggedEvent;
pub use gates::External;
pub use operators::Found;
pub use prefetch::After;
pub use recorded::{Inferred, Planned};
pub(crate) use state::Built;
pub(in crate::plan) use state::{Asked, Choosing};
pub use streams::{Fork, Scope};
pub use telling::Telling;

/// The tag of the stream that a plan is run on.
pub const ORIGIN_TAG: &str = "origin";

/// A value of a plan: memory with a type and a shape. A cheap handle, good for the plan it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value {
    pub(crate) plan: u32,
    pub(crate) index: u32,
    /// Which version it is (`wait_value`); 0 for the value as it was made. The recipe knows of none: they are the
    /// same memory.
    version: u32,
}

/// Records operators, streams, events and prefetches of a plan.
///
/// Every method that submits work takes a place in the order of issue, on the stream of the enclosing
/// [`Builder::scope`]. Nothing reaches a device. An error names the operator, its position and the caller's line.
/// After it the builder is as it was before the call, but for what code of the caller did in it: the work that the
/// closure of a scope or a decomposition issued before it failed stays.
///
/// It lives for the closure of [`Plan::build`](super::Plan::build), on the thread that calls it, or from
/// [`Plan::builder`](super::Plan::builder) to [`Plan::finish`](super::Plan::finish). Every function of
/// [`op::aclnn`](crate::op::aclnn), which are all operators of the library, takes it where it takes a stream.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::{F16, F32};
/// use racl::op::GeluForm;
/// use racl::plan::{Input, Plan};
///
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [2, 8], F32, Input::Copied)?;
///     let [w, v] = [g.input("w", [8, 4], F32, Input::Frozen)?, g.input("v", [4, 2], F32, Input::Frozen)?];
///     let (ones, zeros) = (g.full([4], F32, 1.0)?, g.constant(&[0.0_f32; 4], [4])?);
///     let h = g.matmul(x, w)?; // the methods of operators are named like the functions of `racl::op`
///     let h = g.layer_norm(h, ones, zeros, 1e-5)?;
///     let h = g.gelu(h, GeluForm::Tanh)?;
///     let y = g.matmul(h, v)?;
///     let (most, y) = (g.clamp_min(y, 0.0)?, g.softmax(y, -1)?);
///     let y = g.add_scaled(y, most, 0.5)?;
///     let y = g.cast(y, F16)?;
///     g.output("y", y)
/// })?;
/// assert_eq!(plan.operators(), 9);
/// # Ok::<(), racl::Error>(())
/// ```
pub struct Builder {
    /// Borrowed for one call at a time, never while code of the caller runs.
    state: RefCell<State>,
}

impl Builder {
    pub(crate) fn new(options: Options) -> Self {
        Self { state: RefCell::new(State::new(options)) }
    }

    /// Rewrites operators from now on.
    pub(crate) fn decompose(&self, table: &Decompositions) {
        self.state().decompose(table);
    }

    /// Joins every stream and gives what was recorded.
    pub(crate) fn finish(self) -> Result<Built> {
        let mut state = self.state.into_inner();
        state.leave_scopes();
        state.finish()
    }

    fn state(&self) -> RefMut<'_, State> {
        let mut state = self.state.borrow_mut();
        state.leave_scopes();
        state
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.borrow().fmt(f)
    }
}
