//! Plans that call plans.

use std::panic::Location;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::plan::builder::{Asked, Builder, Value};
use crate::plan::recipe::callable::{Callable, Callee};
use crate::plan::symbols::dim::Dim;

use super::Plan;

/// A place in the caller's source.
type At = &'static Location<'static>;

fn other_results() -> Error {
    Error::new(ErrorKind::Internal, "a call gave other results than outputs")
}

impl Plan {
    /// The plan as one that others call.
    pub(in crate::plan) fn callee(&self) -> Callee {
        let plan: Arc<dyn Callable> = self.0.clone();
        Callee(plan)
    }

    /// The plan that others call.
    pub(in crate::plan) fn of_callee(callee: &Callee) -> Option<Self> {
        Arc::clone(&callee.0).into_any().downcast().ok().map(Self)
    }
}

impl Builder {
    pub(super) fn check_results(&self, body: &Plan, count: usize, at: At) -> Result<()> {
        match body.0.recorded.recipe.outputs.len() {
            outputs if outputs == count => Ok(()),
            outputs => self.not_callable(&format!("{count} results of a plan of {outputs} outputs"), at),
        }
    }

    /// The results in an array, whose length is known to be right.
    fn call_for<const N: usize>(&self, body: &Plan, asked: Asked<'_>, at: At) -> Result<[Value; N]> {
        self.check_results(body, N, at)?;
        let results = self.call_of(&asked, at)?;
        results.try_into().map_err(|_| other_results())
    }

    /// Does the work of another plan, which was recorded once, on these operands; gives its results.
    ///
    /// The operands are the inputs of `body` in the order in which it declares them, whatever their class is there;
    /// the results, new values of this plan, its outputs. Of a call the plan keeps the operands: recording, checking
    /// and storing 1,000 calls is work for 1,000 pieces, whatever `body` does, and `body` is stored once. It is
    /// written out when the plan is first run, captured, simulated, planned in memory or shown, and counts as written
    /// out there: graphs, updates, arenas and pictures have its work, with the source lines of `body`. Findings and
    /// lints of this plan count a call as one piece of work; those of `body` are its own.
    ///
    /// What `body` writes of an input it writes in the operand. What an operator in it is told to leave of one holds
    /// anything behind the call, and is refused where it is read; where only a part of one is left, or of an operand or a
    /// result no more is written than the device finds, a read behind the call is a lint
    /// ([`FindingKind::MaybeUnwritten`](crate::plan::FindingKind::MaybeUnwritten)).
    ///
    /// All of `body` comes behind the work before the call on its stream, and before the work behind it. The origin of
    /// `body` is that stream, where it inherits the [core limit](crate::plan::Scope::cores); its other tags are those
    /// of the same name here. Its events are its own, so that calls may be repeated. Symbols of `body` are what the
    /// shapes of the operands say, where a dimension is one by itself; [`Builder::call_with`] tells others. Prefetches
    /// of `body` stay, also where one repeats another call's.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`], with the line of the call: for another number of operands than `body` has inputs or
    /// of results than it has outputs; a value of another plan; another type or shape, also of a symbol outside its
    /// bounds; a view with gaps; memory that `body` writes and that is also another operand, or a constant; an
    /// updatable input that `body` copies, fills or prefetches as bytes; a view that begins within a block of 64 bytes
    /// and that it copies so; a tag that has another priority here. A `body` with updatable inputs, inputs or outputs
    /// in host memory or external gates cannot be called. Calls may be 64 deep, and all written out 2²⁴ pieces.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let layer = Plan::build(|g| {
    ///     let rows = g.symbol("rows", 1..=64)?;
    ///     let x = g.input("x", [rows, 2.into()], F32, Input::Copied)?;
    ///     let w = g.input("w", [2, 2], F32, Input::Frozen)?;
    ///     g.output("y", g.add(g.matmul(x, w)?, x)?)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let mut x = g.input("x", [3, 2], F32, Input::Copied)?;
    ///     for index in 0..4 {
    ///         let w = g.full([2, 2], F32, f64::from(index))?;
    ///         [x] = g.call(&layer, &[x, w])?;
    ///     }
    ///     g.output("y", x)
    /// })?;
    /// assert_eq!(plan.operators(), 4 + 4 * 2);
    /// let given = Simulated::new().tensor("x", &[1.0_f32; 6], [3, 2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [105.0; 6]); // 1 · 3 · 5 · 7
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn call<const N: usize>(&self, body: &Plan, operands: &[Value]) -> Result<[Value; N]> {
        let callee = body.callee();
        let asked = Asked { callee: &callee, operands, symbols: &[], times: 1, carried: 0 };
        self.call_for(body, asked, Location::caller())
    }

    /// As [`Builder::call`], with sizes and numbers that no shape of an operand tells, by the names of the symbols of
    /// `body`, and for however many results.
    ///
    /// A number that each run gives ([`Builder::number`]) may be one of `body` too; a symbol of it may be a size, a
    /// number or what can be computed of them, within its bounds.
    ///
    /// # Errors
    ///
    /// As [`Builder::call`]; a name that no symbol of `body` has, a symbol of another plan, and a size that each run
    /// gives anew for one that is a size.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Dim, Input, Plan};
    ///
    /// let body = Plan::build(|g| {
    ///     let half = g.symbol("half", 1..=64)?;
    ///     let x = g.input("x", [half * 2], F32, Input::Copied)?;
    ///     g.output("first", g.tanh(g.narrow(x, 0, Dim::from(0)..half)?)?)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=16)?;
    ///     let x = g.input("x", [n * 4], F32, Input::Copied)?;
    ///     let refused = g.call::<1>(&body, &[x]).unwrap_err(); // is the half of 4·n told by a shape?
    ///     assert!(refused.to_string().contains("half"));
    ///     let first = g.call_with(&body, &[x], &[("half", n * 2)])?;
    ///     assert_eq!(g.dims(first[0])?, [n * 2]);
    ///     g.output("y", first[0])
    /// })?;
    /// assert_eq!(plan.operators(), 1);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn call_with(&self, body: &Plan, operands: &[Value], symbols: &[(&str, Dim)]) -> Result<Vec<Value>> {
        let callee = body.callee();
        let asked = Asked { callee: &callee, operands, symbols, times: 1, carried: 0 };
        self.call_of(&asked, Location::caller())
    }

    /// Does the work of another plan so often, one time behind the other: a loop over steps, recorded once.
    ///
    /// What is carried are the first inputs of `body`, and its first outputs are what the next step is given for them;
    /// the results are what the last step gives, or what was given where there is no step. The operands that are carried
    /// stay as they were: a `body` that writes such an input works on a copy. Further inputs are
    /// `others`, the same for every step; further outputs are not taken from a loop. What a step gives the next lies in
    /// memory of the plan, of which the loop needs as much as two steps do. Recording, checking and storing it takes
    /// the same for any number of steps. Otherwise it is as [`Builder::call`]: written out where the plan is run.
    ///
    /// A step that has to know its number carries it, as a value that it counts up.
    ///
    /// # Errors
    ///
    /// As [`Builder::call`]; for a `body` whose outputs are not those that are carried, or have another type or shape
    /// than its inputs, and for more than 2³² − 1 steps. What is carried and copied is no updatable input, and no view
    /// that begins within a block of 64 bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let step = Plan::build(|g| {
    ///     let [x, last] = [g.input("x", [1], F32, Input::Copied)?, g.input("last", [1], F32, Input::Copied)?];
    ///     g.output("next", g.add(x, last)?)?;
    ///     g.output("x", x) // a copy
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let [a, b] = [g.full([1], F32, 1.0)?, g.full([1], F32, 0.0)?];
    ///     let [fibonacci, _] = g.call_times(9, &step, [a, b], &[])?;
    ///     g.output("fibonacci", fibonacci)
    /// })?;
    /// assert_eq!(plan.simulate(0, &Simulated::new())?.to_vec::<f32>("fibonacci")?, [55.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn call_times<const N: usize>(
        &self,
        steps: usize,
        body: &Plan,
        carried: [Value; N],
        others: &[Value],
    ) -> Result<[Value; N]> {
        let results = self.call_times_with(steps, body, &carried, others, &[])?;
        results.try_into().map_err(|_| other_results())
    }
}
