//! Plans that choose among plans, and repeat them, by numbers that the device has.

use std::num::NonZeroU32;
use std::panic::Location;

use crate::error::{Error, ErrorKind, Result};
use crate::plan::builder::{Builder, Choosing, Value};
use crate::plan::calls::{check_choice, check_choice_operands, wrong_limit};
use crate::plan::recipe::callable::Callee;
use crate::plan::recipe::choice::ChoiceKind;
use crate::plan::recipe::{Node, NodeKind, Recipe};

use super::Plan;

/// A place in the caller's source.
type At = &'static Location<'static>;

/// Whether all choices of a recipe fit the plans among which they choose.
pub(in crate::plan) fn choices_fit(recipe: &Recipe) -> bool {
    let operands = |node: &Node| match node.kind {
        NodeKind::Choose(choice) => {
            let choice = &recipe.choices[choice as usize];
            check_choice_operands(recipe, choice, recipe.accesses_of(node)).is_ok()
        }
        _ => true,
    };
    recipe.choices.iter().all(|choice| check_choice(recipe, choice).is_ok()) && recipe.nodes.iter().all(operands)
}

/// The results in an array, whose length is known to be right.
fn in_array<const N: usize>(results: &[Value]) -> Result<[Value; N]> {
    results.try_into().map_err(|_| other_results())
}

fn other_results() -> Error {
    Error::new(ErrorKind::Internal, "a choice gave other results than asked for")
}

impl Builder {
    fn choose_for<const N: usize>(&self, asked: &Choosing<'_>, at: At) -> Result<[Value; N]> {
        in_array(&self.choose_of(asked, at)?)
    }

    /// What a loop carries, and its condition behind the last round.
    fn repeat_for<const N: usize>(&self, asked: &Choosing<'_>, at: At) -> Result<([Value; N], Value)> {
        let results = self.choose_of(asked, at)?;
        let (condition, carried) = results.split_first().ok_or_else(other_results)?;
        in_array(carried).map(|carried| (carried, *condition))
    }

    /// Does the work of `then` if `condition` is not 0, else that of `otherwise`, on the same operands; gives the
    /// results of the one that ran. Which one is decided by each run, on the device.
    ///
    /// The condition is one element, an integer of any type or a truth value. It is read before anything else of the
    /// choice, so the plans may write its memory. As of [calls](Builder::call), the operands are the inputs of both
    /// plans in the order in which they declare them, and the results, new values, their outputs; both are recorded,
    /// checked and stored once. An operand that one of them writes keeps what it was if the other one runs, and so has
    /// to be written before.
    ///
    /// A choice is one piece of work: all of it comes behind the work before it on its stream, and before the work
    /// behind it. Inside, all work is on that stream, whatever scopes the plans have; their events are left out,
    /// prefetches and host functions stay. Choices may be part of each other, of calls and of what is called.
    ///
    /// A captured graph has the work of both, and the device chooses at each replay ([`Stream::if_else`]), with a stream
    /// of the device for each plan. That needs a library with conditional graphs, which came after CANN 9.0. On an older
    /// one the same executable has several graphs: one for each piece of work between choices, and one for each plan that
    /// may be chosen. A run launches one of them, waits for the condition, reads it and launches what it chooses, for each
    /// choice and each round of a loop: such a run is not asynchronous, streams are joined where a choice stands, and the
    /// plan cannot wait at an external gate. Eager runs ([`Executable::run`]) go the same way, operator by
    /// operator. Results are the same; [`Counters::decided_by_host`] says how often the host waited. Simulations choose
    /// where they get there.
    ///
    /// Captures record all that may be chosen, whether a run chooses it or not. Where the library refuses what an
    /// operator of it is given ([`ErrorKind::OperatorArgument`]) at the sizes of a run, such as a maximum of no
    /// elements, the graphs for these sizes are several as on an older library, and do without that plan: `if there is
    /// something, reduce it` works with nothing there. A run that chooses it fails and names operator and line, in
    /// front of its work, as eager runs fail at the operator. A plan without symbols, whose sizes are always the same,
    /// is refused when it is captured; so is one that waits at an external gate.
    ///
    /// Places in memory are planned for both: what one of them needs alone, the other one may use as well. Dumps show
    /// both, between brackets. [`Plan::overlap`] takes a choice as one piece of work; so does [`Plan::optimise`] of the work
    /// around it, and goes through each of the plans by itself.
    ///
    /// [`Stream::if_else`]: crate::Stream::if_else
    /// [`Executable::run`]: crate::plan::Executable::run
    /// [`Counters::decided_by_host`]: crate::plan::Counters::decided_by_host
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`], with the line of the choice: for a condition of another type or of more elements;
    /// another number of operands than the plans have inputs, or of results than they have outputs; plans whose outputs
    /// differ in type or shape; and as [`Builder::call`] says for operands and plans that cannot be called. Nor can a
    /// choice use an updatable input, work that is told a number of each run, and as condition, or as an operand that may
    /// become a result, a view that begins within a block of 64 bytes: copy it before.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::{F32, I32};
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let doubled = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     g.output("y", g.muls(x, 2.0)?)
    /// })?;
    /// let negated = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     g.output("y", g.muls(x, -1.0)?)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let wanted = g.input("wanted", [1], I32, Input::Copied)?;
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let [y] = g.if_else(wanted, &doubled, &negated, &[x])?;
    ///     g.output("y", g.adds(y, 1.0)?)
    /// })?;
    /// for (wanted, expected) in [(1, [7.0, 9.0]), (0, [-2.0, -3.0])] {
    ///     let given = Simulated::new().tensor("wanted", &[wanted], [1]).tensor("x", &[3.0_f32, 4.0], [2]);
    ///     assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, expected);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "torch.cond")]
    #[track_caller]
    pub fn if_else<const N: usize>(
        &self,
        condition: Value,
        then: &Plan,
        otherwise: &Plan,
        operands: &[Value],
    ) -> Result<[Value; N]> {
        let arms = [then.callee(), otherwise.callee()];
        let asked = Choosing { what: "if_else", kind: ChoiceKind::If, condition, arms: &arms, operands, results: N };
        self.choose_for(&asked, Location::caller())
    }

    /// Does the work of `then` if `condition` is not 0, else nothing; gives the results of `then`, or the first
    /// operands as they are. Otherwise as [`Builder::if_else`].
    ///
    /// # Errors
    ///
    /// As [`Builder::if_else`]; for results that are more than the operands, or of another type or shape than the
    /// operand that may take their place.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::{Bool, F32};
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let scaled = Plan::build(|g| {
    ///     let [x, by] = [g.input("x", [2], F32, Input::Copied)?, g.input("by", [1], F32, Input::Copied)?];
    ///     g.output("x", g.mul(x, by)?)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let large = g.input("large", [1], Bool, Input::Copied)?;
    ///     let (x, by) = (g.input("x", [2], F32, Input::Copied)?, g.full([1], F32, 0.5)?);
    ///     let [x] = g.if_then(large, &scaled, &[x, by])?;
    ///     g.output("x", x)
    /// })?;
    /// for (large, expected) in [(1, [4.0, 3.0]), (0, [8.0, 6.0])] {
    ///     let given = Simulated::new().bytes("large", [large]).tensor("x", &[8.0_f32, 6.0], [2]);
    ///     assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("x")?, expected);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn if_then<const N: usize>(&self, condition: Value, then: &Plan, operands: &[Value]) -> Result<[Value; N]> {
        let arms = [then.callee()];
        let asked = Choosing { what: "if_then", kind: ChoiceKind::If, condition, arms: &arms, operands, results: N };
        self.choose_for(&asked, Location::caller())
    }

    /// Does the work of the case whose number `number` is, from 0, and that of `otherwise` for all other numbers,
    /// negative ones among them; gives its results. Otherwise as [`Builder::if_else`].
    ///
    /// # Errors
    ///
    /// As [`Builder::if_else`]; for no case, for more than 1023, and for more than 128 by an `i8`, whose negative
    /// numbers the device takes for 128 to 255.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::{F32, I64};
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let times = |by: f64| {
    ///     Plan::build(|g| {
    ///         let x = g.input("x", [1], F32, Input::Copied)?;
    ///         g.output("y", g.muls(x, by)?)
    ///     })
    /// };
    /// let (ten, hundred, nothing) = (times(10.0)?, times(100.0)?, times(0.0)?);
    /// let plan = Plan::build(|g| {
    ///     let which = g.input("which", [1], I64, Input::Copied)?;
    ///     let x = g.input("x", [1], F32, Input::Copied)?;
    ///     let [y] = g.switch(which, &[&ten, &hundred], &nothing, &[x])?;
    ///     g.output("y", y)
    /// })?;
    /// for (which, expected) in [(0_i64, 70.0), (1, 700.0), (2, 0.0), (-1, 0.0)] {
    ///     let given = Simulated::new().tensor("which", &[which], [1]).tensor("x", &[7.0_f32], [1]);
    ///     assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [expected]);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn switch<const N: usize>(
        &self,
        number: Value,
        cases: &[&Plan],
        otherwise: &Plan,
        operands: &[Value],
    ) -> Result<[Value; N]> {
        let arms: Vec<Callee> = cases.iter().copied().chain([otherwise]).map(Plan::callee).collect();
        let (what, kind) = ("switch", ChoiceKind::Switch);
        let asked = Choosing { what, kind, condition: number, arms: &arms, operands, results: N };
        self.choose_for(&asked, Location::caller())
    }

    /// Does the work of `body` while the condition is not 0, one round behind the other: `condition` says whether there
    /// is a first round, and the first output of `body` whether there is one more. Its other outputs are what the next
    /// round is given for its first inputs; gives what the last round left of them, or `carried` where there was no
    /// round. Further inputs are `others`, the same for each round; what is written there, the next round finds.
    /// Otherwise as [`Builder::if_else`].
    ///
    /// What is carried is copied in front of the loop and behind each round. Nothing ends a loop whose condition stays:
    /// [`Builder::repeat_at_most`] has a limit. A capture records `body` also where there is no round. A simulation, and
    /// a graph on the mock, give an error after a million rounds.
    ///
    /// # Errors
    ///
    /// As [`Builder::if_else`]; for a `body` whose first output is no condition of the type of the first, or whose
    /// other outputs are not those that are carried, or have another type or shape than its inputs.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::{I64, U8};
    /// use racl::op::aclnn;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let body = Plan::build(|g| {
    ///     let [x, limit] = [g.input("x", [1], I64, Input::Copied)?, g.input("limit", [1], I64, Input::Copied)?];
    ///     let x = g.muls(x, 3)?;
    ///     let mut more = g.empty([1], U8)?;
    ///     aclnn::lt_tensor(g, &x, &limit, &mut more)?;
    ///     g.output("more", more)?;
    ///     g.output("x", x)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let [x, limit] = [g.input("x", [1], I64, Input::Copied)?, g.input("limit", [1], I64, Input::Copied)?];
    ///     let [x] = g.repeat_while(g.full([1], U8, 1)?, &body, [x], &[limit])?;
    ///     g.output("x", x)
    /// })?;
    /// # #[cfg(feature = "mock")]
    /// # {
    /// let given = Simulated::new().tensor("x", &[1_i64], [1]).tensor("limit", &[100_i64], [1]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<i64>("x")?, [243]);
    /// # }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "while_loop")]
    #[track_caller]
    pub fn repeat_while<const N: usize>(
        &self,
        condition: Value,
        body: &Plan,
        carried: [Value; N],
        others: &[Value],
    ) -> Result<[Value; N]> {
        let (arms, operands) = ([body.callee()], [&carried, others].concat());
        let (what, kind) = ("repeat_while", ChoiceKind::While(None));
        let asked = Choosing { what, kind, condition, arms: &arms, operands: &operands, results: N };
        self.repeat_for(&asked, Location::caller()).map(|(carried, _)| carried)
    }

    /// As [`Builder::repeat_while`], for no more than `rounds` rounds: gives what is carried, and the condition behind the
    /// last round, which is not 0 if the limit ended the loop, and 0 otherwise. That is one more value of the plan, of the
    /// type and the shape of the first output of `body`: an output, or the condition of a choice.
    ///
    /// The loop ends like any other, without an error. In a graph that chooses, the device counts: one operator and one copy
    /// a round, and two more bodies, for each of which it takes a stream. Elsewhere the host does.
    ///
    /// # Errors
    ///
    /// As [`Builder::repeat_while`]; for a limit of 0, or of 2³¹ and more.
    ///
    /// # Examples
    ///
    /// Halves until little is left, but not for ever:
    ///
    /// ```
    /// use racl::op::DataType::{F32, I32};
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let body = Plan::build(|g| {
    ///     let x = g.input("x", [1], F32, Input::Copied)?;
    ///     let x = g.muls(x, 0.5)?;
    ///     g.output("more", g.cast(x, I32)?)?; // 0 below 1
    ///     g.output("x", x)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [1], F32, Input::Copied)?;
    ///     let ([x], more) = g.repeat_at_most(4, g.full([1], I32, 1)?, &body, [x], &[])?;
    ///     g.output("x", x)?;
    ///     g.output("more", more)
    /// })?;
    /// for (x, left, more) in [(6.0_f32, 0.75_f32, 0), (16.0, 1.0, 1), (64.0, 4.0, 4)] {
    ///     let result = plan.simulate(0, &Simulated::new().tensor("x", &[x], [1]))?;
    ///     assert_eq!((result.to_vec::<f32>("x")?, result.to_vec::<i32>("more")?), (vec![left], vec![more]));
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "maximum_iterations")]
    #[doc(alias = "max_trip_count")]
    #[track_caller]
    pub fn repeat_at_most<const N: usize>(
        &self,
        rounds: u32,
        condition: Value,
        body: &Plan,
        carried: [Value; N],
        others: &[Value],
    ) -> Result<([Value; N], Value)> {
        let (what, at) = ("repeat_at_most", Location::caller());
        let Some(most) = NonZeroU32::new(rounds) else {
            return self.not_chosen(format!("{what}: {}", wrong_limit(rounds)), at);
        };
        let (arms, operands) = ([body.callee()], [&carried, others].concat());
        let kind = ChoiceKind::While(Some(most));
        self.repeat_for(&Choosing { what, kind, condition, arms: &arms, operands: &operands, results: N }, at)
    }
}
