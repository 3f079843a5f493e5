//! Prefetches in a plan.

use crate::error::Result;
use crate::prefetch::Prefetch;

use super::{Builder, TaggedEvent, Value};

/// What a prefetch in a plan waits for.
#[derive(Debug, Clone, Copy)]
pub enum After<'a> {
    /// What produced the value.
    Value(Value),
    /// The latest record of the event.
    Event(&'a TaggedEvent),
    /// Nothing but the start of the plan.
    Start,
}

impl Builder {
    /// Moves bytes of the memory of `value` into the L2 cache while other work runs: on the stream of the scope, or
    /// on one of its own named `"prefetch"` when that is the origin. Gives the number of bytes that will be asked
    /// for: a request that is longer than the memory is clipped. 4 GiB and more are split when the work is submitted.
    ///
    /// The number is 0 for one that is left out because an earlier one asked for the same bytes. A cap
    /// ([`Options::prefetch_cap`](crate::plan::Options::prefetch_cap)) is not in the number: only the device tells
    /// it. Where the memory's size has symbols, the number is that of the greatest size: a run with a smaller one
    /// asks for less, or for nothing where the offset is past its end. Memory that nothing but prefetches uses has no
    /// place, and is asked for by no run.
    ///
    /// `after` says when it may start. It does not count as a use of the value: nothing waits for it but the end of
    /// the plan.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for an updatable input, 0 bytes, an offset at or
    /// past the end, a value of another plan, an event that was not recorded, and with
    /// [`Options::single_stream`](crate::plan::Options::single_stream).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Prefetch;
    /// use racl::op::DataType::F32;
    /// use racl::plan::{After, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [1, 8], F32, Input::Copied)?;
    ///     let w = g.input("w", [8, 8], F32, Input::Frozen)?;
    ///     let h = g.tanh(x)?;
    ///     assert_eq!(g.prefetch(w, Prefetch::bytes(1 << 20), After::Start)?, 256);
    ///     let y = g.matmul(h, w)?;
    ///     g.output("y", y)
    /// })?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "npu_prefetch")]
    #[doc(alias = "aclrtCmoAsync")]
    #[track_caller]
    pub fn prefetch(&self, value: Value, what: Prefetch, after: After<'_>) -> Result<usize> {
        self.state().prefetch(value, what, after)
    }
}
