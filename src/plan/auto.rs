//! Overlap without being told: which work of a plan runs beside which, and which weights are prefetched.
//!
//! [`Plan::overlap`] makes a plan of a plan, as [`Plan::optimise`] does: its operators on several streams, with the
//! events between them, and prefetches of weights on a stream of their own. Every check of [`Plan::build`] holds for
//! the result, its memory is planned again, and it gives the same bytes. What was chosen and why is in a [`Report`].
//!
//! # The model
//!
//! Choices follow a model, which is no measurement of any device. It knows of each operator what it reads and writes
//! (the footprint that the plan has of every operator, those by their C names included), what products multiply, and
//! of the device what a [`Target`] says.
//!
//! - An operator takes the longest of: its start; its bytes through memory, or through the cores that it has; its
//!   multiplications on these. Of what it uses in part, such as a table of which it takes some rows, as many bytes
//!   count as in the largest of the others.
//! - Which cores an operator uses is told by a table of their exact names in C. A product has a matrix core for every
//!   128 by 256 elements of its result and 256 products that each is the sum of; attention, recurrent networks and
//!   products of lists have all cores; what is not in the table has a vector core for every 32 KiB. A foreign operator
//!   has as many as it [needs](crate::plan::Foreign::needs), or else all. A core limit of a scope holds. A choice counts
//!   as one foreign operator, by the bytes of its operands and results.
//! - Work overlaps where there are cores for all of it and memory moves the bytes of all of it in time. What waits for
//!   work of another stream starts one event later.
//! - A prefetch uses memory where other work leaves it idle, at most nine tenths of it.
//!
//! # Streams
//!
//! A list scheduler goes through the work in the order of issue and puts each piece where it starts first. Work keeps
//! its order otherwise; an event is recorded behind work that another stream waits for and does not know to be done;
//! all streams are joined in the end. Host functions, gates, operators that work with other devices, and work that was
//! told to wait come after all before them and before all behind them. Foreign operators that say which cores they
//! need stay in order, so that none waits for another's. Where the model gains nothing, all stays on one stream.
//! [`Options::auto_streams`](crate::plan::Options::auto_streams) spreads by the same means, but evenly and without a
//! model.
//!
//! # Prefetches
//!
//! Frozen and static inputs and constants that the plan does not write are prefetched for each operator that reads them
//! whole and waits for memory, behind the latest work from which on memory is idle for long enough; the first bytes,
//! when there is no time or no room for all. Bytes that wait in L2 for their reader and all bytes of each operator that
//! is issued meanwhile have room in a share of the cache, half of it if [nothing else](Auto::l2_share) is said. A weight
//! that was read shortly before, with less than that share touched since, is not prefetched again. What is not
//! prefetched is listed with its reason ([`Report::unfetched`]): a table of which some rows are used, say, or what a
//! foreign operator reads, of which the model does not know how.
//!
//! A plan with streams, waits or prefetches of its own stays as it is, and the report says so. One with symbols is
//! planned for the values that [`Auto::at`] gives, or for the greatest ones; the result runs with all of them. Plans that it
//! calls are written out, or overlap by themselves, once each ([`Auto::keep_calls`]).
//!
//! # Examples
//!
//! ```
//! use racl::Acl;
//! use racl::op::DataType::F16;
//! use racl::plan::auto::{Auto, Target};
//! use racl::plan::{Input, Plan};
//!
//! let plan = Plan::build(|g| {
//!     let tokens = g.symbol("tokens", 1..=4096)?;
//!     let x = g.input("x", [tokens, 512.into()], F16, Input::Copied)?;
//!     let up = g.input("up", [512, 8192], F16, Input::Frozen)?;
//!     let down = g.input("down", [8192, 512], F16, Input::Frozen)?;
//!     let hidden = g.matmul(g.tanh(g.abs(x)?)?, up)?;
//!     g.output("y", g.matmul(g.silu(g.abs(hidden)?)?, down)?)
//! })?;
//! let device = Acl::mock()?.device(0)?;
//! let overlapped = plan.overlap(&Auto::new(Target::of(&device)?).at("tokens", 1))?;
//! println!("{}", overlapped.report); // moved, prefetched, left, each with numbers
//! let weights: Vec<_> = overlapped.report.prefetched.iter().map(|one| one.weight.as_deref()).collect();
//! assert_eq!(weights, [Some("up"), Some("down")]);
//! assert!(overlapped.report.after < overlapped.report.before);
//! assert_eq!(overlapped.plan.operators(), plan.operators() + 2); // two prefetches
//! # Ok::<(), racl::Error>(())
//! ```

use crate::error::{Error, Result};

use super::Plan;
use super::recipe::Recipe;
use super::share::Share;
use super::symbols::values::check_bounds;

mod bodies;
mod change;
mod cost;
mod fetch;
mod operators;
mod products;
mod profile;
mod report;
mod schedule;
mod target;
#[cfg(test)]
mod tests;

pub use report::{Moved, Prefetched, Reason, Report, Unfetched};
pub use target::{Rates, Target};

/// Streams that work is spread over, if nothing is said.
const STREAMS: usize = 4;

/// How [`Plan::overlap`] overlaps the work of a plan. The [module](self) says what it does.
///
/// # Examples
///
/// ```
/// use racl::plan::auto::{Auto, Target};
///
/// let target = Target::new(192 << 20, 24, 48)?;
/// let auto = Auto::new(target).at("tokens", 16).max_streams(3).l2_share(0.25);
/// let prefetches_alone = auto.streams(false);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auto {
    target: Target,
    streams: bool,
    prefetch: bool,
    keeps_calls: bool,
    max_streams: usize,
    l2_share: Share,
    at: Vec<(String, usize)>,
    /// Inputs that are given anew for each run, whatever their class: updatable ones where the plan is called.
    bound: Vec<u32>,
}

impl Auto {
    /// Streams and prefetches for a device: up to four streams, and half of the L2 cache.
    #[must_use]
    pub fn new(target: Target) -> Self {
        Self {
            target,
            streams: true,
            prefetch: true,
            keeps_calls: false,
            max_streams: STREAMS,
            l2_share: Share::Thousandths(500),
            at: Vec::new(),
            bound: Vec::new(),
        }
    }

    /// Whether work is moved to streams of its own.
    #[must_use]
    pub fn streams(self, on: bool) -> Self {
        Self { streams: on, ..self }
    }

    /// Whether weights are prefetched.
    #[must_use]
    pub fn prefetch(self, on: bool) -> Self {
        Self { prefetch: on, ..self }
    }

    /// Whether calls stay ([`Builder::call`](super::Builder::call)), where they are written out otherwise: the work of each
    /// plan that is called overlaps by itself, once, for the sizes of its first call, and also stays so in what is stored.
    /// Work around calls, and of plans that are also chosen ([`Builder::if_else`](super::Builder::if_else)), stays as it
    /// is, and so does a plan with streams or prefetches of its own beside its calls. What some call of it gives an updatable
    /// input is not prefetched in it ([`Reason::Bound`]). The report has what is done in such a plan once; its times count all
    /// calls.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::auto::{Auto, Target};
    /// use racl::plan::{Input, Plan};
    ///
    /// let layer = Plan::build(|g| {
    ///     let x = g.input("x", [8], F32, Input::Copied)?;
    ///     let branch = |factor| (0..4).try_fold(x, |y, _| g.muls(y, factor));
    ///     g.output("y", g.add(branch(0.5)?, branch(2.0)?)?)
    /// })?;
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [8], F32, Input::Copied)?;
    ///     g.output("y", (0..100).try_fold(x, |x, _| g.call(&layer, &[x]).map(|[y]: [_; 1]| y))?)
    /// })?;
    /// let auto = Auto::new(Target::new(192 << 20, 24, 48)?).keep_calls(true);
    /// let overlapped = plan.overlap(&auto)?;
    /// assert_eq!((overlapped.plan.streams(), overlapped.report.moved.len()), (2, 4));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn keep_calls(self, on: bool) -> Self {
        Self { keeps_calls: on, ..self }
    }

    /// Most streams for work, the origin included; prefetches have one more. 1 to 1024 are possible.
    #[must_use]
    pub fn max_streams(self, streams: usize) -> Self {
        Self { max_streams: streams, ..self }
    }

    /// Share of the L2 cache that prefetched weights and the work beside them may use together, such as 0.5: above 0,
    /// and at most 1.
    #[must_use]
    pub fn l2_share(self, share: f64) -> Self {
        Self { l2_share: Share::new(share), ..self }
    }

    /// Plans for this value of a symbol, in place of its greatest one. A second call for the same symbol replaces the
    /// first.
    #[must_use]
    pub fn at(mut self, symbol: &str, value: usize) -> Self {
        self.at.retain(|(known, _)| known != symbol);
        self.at.push((symbol.to_owned(), value));
        self
    }

    /// That the settings are within their bounds.
    fn check(&self) -> Result<()> {
        if !(1..=1024).contains(&self.max_streams) {
            let text = format!("at most {} streams for the work; 1 to 1024 are possible", self.max_streams);
            return Err(Error::invalid(text));
        }
        self.l2_share.check("a share")
    }

    /// Bytes of L2 that may be used.
    fn budget(&self) -> u64 {
        (u128::from(self.target.l2_bytes) * u128::from(self.l2_share.thousandths()) / 1000) as u64
    }

    /// The value of each symbol.
    fn symbols(&self, recipe: &Recipe) -> Result<Vec<u64>> {
        for (name, value) in &self.at {
            match recipe.symbols.iter().find(|symbol| symbol.name == *name) {
                Some(symbol) => check_bounds(symbol, *value)?,
                None => {
                    let known = recipe.symbol_names();
                    return Err(Error::invalid(format!("the plan has no symbol {name:?}; it has {known:?}")));
                }
            }
        }
        let given = |name: &str| self.at.iter().find(|(known, _)| known == name).map(|(_, value)| *value as u64);
        Ok(recipe.symbols.iter().map(|symbol| given(&symbol.name).unwrap_or(symbol.greatest)).collect())
    }
}

/// A plan whose work overlaps. From [`Plan::overlap`]; the [module](self) has an example.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Overlapped {
    /// The new plan.
    pub plan: Plan,
    /// What was chosen, and why.
    pub report: Report,
}

impl Plan {
    /// The same plan with work on several streams and with prefetches of weights, where a model says that this takes
    /// less time; the [module](self) describes it and has an example. This plan stays as it is; needs no device, and
    /// may be called on any thread. Plans that this one calls are written out in the new one, unless
    /// [`Auto::keep_calls`] keeps them.
    ///
    /// The new plan gives the same bytes, and the same for equal arguments is chosen every time.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for settings out of bounds
    /// ([`Auto::max_streams`], [`Auto::l2_share`]), for a symbol that the plan does not have, a value outside its bounds,
    /// and values with which a size has no number or the temporaries do not fit any memory:
    /// [`Auto::at`] gives smaller ones.
    pub fn overlap(&self, auto: &Auto) -> Result<Overlapped> {
        change::overlap(self, auto)
    }
}
