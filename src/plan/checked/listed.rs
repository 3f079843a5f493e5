//! Calls, loops and choices whose counts of results are known when the program runs: for bindings to other languages, and
//! for programs that make plans of what they read.

use std::num::NonZeroU32;
use std::panic::Location;

use crate::error::Result;
use crate::plan::builder::{Asked, Builder, Choosing, Value};
use crate::plan::calls::wrong_limit;
use crate::plan::recipe::callable::Callee;
use crate::plan::recipe::choice::ChoiceKind;
use crate::plan::symbols::dim::Dim;

use super::Plan;

/// A choice among plans, or a loop over one, for [`Builder::choose`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Choice<'a> {
    /// [`Builder::if_else`], or [`Builder::if_then`] where there is nothing else.
    If {
        /// Whether `then` is done.
        condition: Value,
        /// What is done if the condition is not 0.
        then: &'a Plan,
        /// What is done otherwise.
        otherwise: Option<&'a Plan>,
        /// The inputs of both.
        operands: &'a [Value],
    },
    /// [`Builder::switch`].
    Switch {
        /// Which case is done.
        number: Value,
        /// The cases, from 0.
        cases: &'a [&'a Plan],
        /// What is done for all other numbers.
        otherwise: &'a Plan,
        /// The inputs of all of them.
        operands: &'a [Value],
    },
    /// [`Builder::repeat_while`], or [`Builder::repeat_at_most`] where there is a limit.
    Repeat {
        /// Whether there is a first round.
        condition: Value,
        /// What a round does.
        body: &'a Plan,
        /// The rounds that there are at most.
        most: Option<u32>,
        /// The first inputs of the first round.
        carried: &'a [Value],
        /// The further inputs of each round.
        others: &'a [Value],
    },
}

impl Builder {
    /// As [`Builder::call_times`], for however many values are carried, and with sizes and numbers that no shape of an
    /// operand tells, as for [`Builder::call_with`].
    ///
    /// # Errors
    ///
    /// As [`Builder::call_times`] and [`Builder::call_with`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let step = Plan::build(|g| {
    ///     let [x, by] = [g.input("x", [1], F32, Input::Copied)?, g.input("by", [1], F32, Input::Copied)?];
    ///     g.output("x", g.mul(x, by)?)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let [x, by] = [g.full([1], F32, 1.0)?, g.full([1], F32, 3.0)?];
    ///     let powers = g.call_times_with(4, &step, &[x], &[by], &[])?;
    ///     g.output("power", powers[0])
    /// })?;
    /// assert_eq!(plan.simulate(0, &Simulated::new())?.to_vec::<f32>("power")?, [81.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn call_times_with(
        &self,
        steps: usize,
        body: &Plan,
        carried: &[Value],
        others: &[Value],
        symbols: &[(&str, Dim)],
    ) -> Result<Vec<Value>> {
        let at = Location::caller();
        let Ok(times) = u32::try_from(steps) else {
            return self.not_callable(&format!("a loop of {steps} steps"), at);
        };
        self.check_results(body, carried.len(), at)?;
        let (callee, operands) = (body.callee(), [carried, others].concat());
        let asked = Asked { callee: &callee, operands: &operands, symbols, times, carried: carried.len() };
        let results = self.call_of(&asked, at)?;
        Ok(if times == 0 { carried.to_vec() } else { results })
    }

    /// Issues a choice as data, for however many results: [`Builder::if_else`] and its like as one function. Of a loop the
    /// last result is the condition behind the last round, behind what is carried.
    ///
    /// # Errors
    ///
    /// As the function that the choice names.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::{F32, I32};
    /// use racl::plan::{Choice, Input, Plan, Simulated};
    ///
    /// let scaled = |by: f64| {
    ///     Plan::build(|g| {
    ///         let x = g.input("x", [2], F32, Input::Copied)?;
    ///         g.output("y", g.muls(x, by)?)
    ///     })
    /// };
    /// let (then, other) = (scaled(2.0)?, scaled(-1.0)?);
    /// let plan = Plan::build(|g| {
    ///     let condition = g.input("wanted", [1], I32, Input::Copied)?;
    ///     let operands = &[g.input("x", [2], F32, Input::Copied)?];
    ///     let results = g.choose(&Choice::If { condition, then: &then, otherwise: Some(&other), operands })?;
    ///     g.output("y", results[0])
    /// })?;
    /// for (wanted, expected) in [(1, [6.0, 8.0]), (0, [-3.0, -4.0])] {
    ///     let given = Simulated::new().tensor("wanted", &[wanted], [1]).tensor("x", &[3.0_f32, 4.0], [2]);
    ///     assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, expected);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn choose(&self, choice: &Choice<'_>) -> Result<Vec<Value>> {
        let at = Location::caller();
        let outputs = |plan: &Plan| plan.outputs().len();
        match *choice {
            Choice::If { condition, then, otherwise, operands } => {
                let what = if otherwise.is_some() { "if_else" } else { "if_then" };
                let arms: Vec<Callee> = [Some(then), otherwise].into_iter().flatten().map(Plan::callee).collect();
                let (kind, results) = (ChoiceKind::If, outputs(then));
                self.choose_of(&Choosing { what, kind, condition, arms: &arms, operands, results }, at)
            }
            Choice::Switch { number: condition, cases, otherwise, operands } => {
                let arms: Vec<Callee> = cases.iter().copied().chain([otherwise]).map(Plan::callee).collect();
                let (what, kind, results) = ("switch", ChoiceKind::Switch, outputs(otherwise));
                self.choose_of(&Choosing { what, kind, condition, arms: &arms, operands, results }, at)
            }
            Choice::Repeat { condition, body, most, carried, others } => {
                let what = if most.is_some() { "repeat_at_most" } else { "repeat_while" };
                let limit = most.and_then(NonZeroU32::new);
                if let (Some(rounds), None) = (most, limit) {
                    return self.not_chosen(format!("{what}: {}", wrong_limit(rounds)), at);
                }
                let (arms, operands) = ([body.callee()], [carried, others].concat());
                let (kind, results) = (ChoiceKind::While(limit), carried.len());
                let asked = Choosing { what, kind, condition, arms: &arms, operands: &operands, results };
                let mut results = self.choose_of(&asked, at)?;
                if !results.is_empty() {
                    results.rotate_left(1);
                }
                Ok(results)
            }
        }
    }
}
