//! A checked plan: the recipe that a builder made, with its order and its uses. Uses the builder, the checks and the
//! memory plan; what simulates, runs, shows or stores plans begins here.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};
use crate::lock::theirs;
use crate::op::Recorded;

use super::builder::decompositions::Decompositions;
use super::builder::options::Options;
use super::builder::{Builder, Built, External};
use super::check::finding::{self, Finding};
use super::memory::{MemoryPlan, MemoryReport};
use super::order::Order;
use super::recipe::callable::{Callable, Facts};
use super::recipe::function::Body;
use super::recipe::uses::Uses;
use super::recipe::{Node, NodeKind, Recipe};
use super::symbols::values::{check_bounds, named};
use super::{calls, check, memory};

mod calling;
pub(crate) mod change;
mod choosing;
pub(crate) mod listed;

use change::Change;
pub(in crate::plan) use choosing::choices_fit;

/// A checked plan. Clones share it; any thread may use it.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Input, Plan};
///
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [2, 2], F32, Input::Copied)?;
///     let w = g.input("w", [2, 2], F32, Input::Frozen)?;
///     let h = g.scope("1", |g| g.matmul(x, w))?;
///     g.join("1")?; // without it, the next line would be refused
///     let y = g.add(h, x)?;
///     g.output("y", y)
/// })?;
/// assert_eq!((plan.operators(), plan.streams()), (2, 2));
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
pub struct Plan(pub(in crate::plan) Arc<Inner>);

/// A plan as it was recorded, and what it is with its calls written out: that is what it dereferences to.
pub(in crate::plan) struct Inner {
    /// The builder's number, by which handles are known.
    pub(in crate::plan) id: u32,
    pub(in crate::plan) recorded: Form,
    pub(in crate::plan) lints: Vec<Finding>,
    /// What passes changed; a stored plan does not have it.
    pub(in crate::plan) changes: Vec<Change>,
    /// Made when somebody looks; of a plan without calls it is what was recorded.
    written_out: OnceLock<Form>,
    /// The same but for choices, which stay one node.
    inlined: OnceLock<Form>,
    facts: OnceLock<Facts>,
}

/// A recipe with its order and its uses.
pub(in crate::plan) struct Form {
    pub(in crate::plan) recipe: Recipe,
    pub(in crate::plan) bodies: Vec<Body>,
    pub(in crate::plan) order: Order,
    pub(in crate::plan) uses: Uses,
}

impl Form {
    fn of(recipe: Recipe, bodies: Vec<Body>) -> Result<Self> {
        let order = Order::of(&recipe).map_err(|broken| check::broken(&recipe, broken).into_error())?;
        let uses = Uses::of(&recipe);
        Ok(Self { recipe, bodies, order, uses })
    }

    /// The operator of the library that a function is.
    pub(in crate::plan) fn operator(&self, function: u32) -> Option<&Arc<Recorded>> {
        self.bodies[function as usize].operator(&self.recipe.functions[function as usize])
    }
}

impl Inner {
    fn write_out(&self, how: fn(&Recipe, &[Body]) -> (Recipe, Vec<Body>)) -> Form {
        let (recipe, bodies) = how(&self.recorded.recipe, &self.recorded.bodies);
        Form::of(recipe, bodies).expect("the parts are in order, and each stands where the whole of it is in order")
    }

    /// The plan as passes work with it: with its calls written out, but for those of choices.
    pub(in crate::plan) fn inlined(&self) -> &Form {
        let calls = |node: &Node| matches!(node.kind, NodeKind::Call(_));
        match self.recorded.recipe.nodes.iter().any(calls) {
            false => &self.recorded,
            true if !self.facts().chooses => self,
            true => self.inlined.get_or_init(|| self.write_out(calls::inlined)),
        }
    }

    /// Where the work of each recorded node begins in [`inlined`](Self::inlined); none for a node that is not there, and
    /// for a call of a plan without work.
    pub(in crate::plan) fn inlined_positions(&self) -> impl Fn(u32) -> Option<u32> {
        let count = self.recorded.recipe.nodes.len() as u32;
        let calls = self.recorded.recipe.nodes.iter().any(|node| matches!(node.kind, NodeKind::Call(_)));
        let begins =
            (calls && !self.lints.is_empty()).then(|| calls::begins(&self.recorded.recipe, &self.recorded.bodies));
        move |node| match &begins {
            None => Some(node).filter(|node| *node < count),
            Some(begins) => *begins.get(node as usize)?,
        }
    }
}

impl Deref for Inner {
    type Target = Form;

    fn deref(&self) -> &Form {
        match self.recorded.recipe.called.is_empty() {
            true => &self.recorded,
            false => self.written_out.get_or_init(|| self.write_out(calls::written_out)),
        }
    }
}

impl Callable for Inner {
    fn recorded(&self) -> &Recipe {
        &self.recorded.recipe
    }

    fn inlined(&self) -> (&Recipe, &[Body]) {
        let form = Self::inlined(self);
        (&form.recipe, &form.bodies)
    }

    fn written_out(&self) -> (&Recipe, &[Body]) {
        (&self.recipe, &self.bodies)
    }

    fn facts(&self) -> &Facts {
        let recorded = &self.recorded;
        self.facts.get_or_init(|| calls::facts(&recorded.recipe, check::behind(&recorded.recipe, &recorded.uses)))
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl Plan {
    /// Builds and checks a plan with the default options.
    ///
    /// # Errors
    ///
    /// The error of `work`. [`ErrorKind::InvalidPlan`] when a check fails; [`Error::findings`] has all of it then.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{FindingKind, Input, Plan};
    ///
    /// let refused = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let h = g.scope("1", |g| g.muls(x, 2.0))?;
    ///     let y = g.add(h, x)?; // nothing says that h is there by now
    ///     g.output("y", y)
    /// })
    /// .unwrap_err();
    /// assert_eq!(refused.findings()[0].kind, FindingKind::UnorderedAccess);
    /// ```
    pub fn build(work: impl FnOnce(&Builder) -> Result<()>) -> Result<Self> {
        Self::build_with(Options::default(), work)
    }

    /// Builds and checks a plan.
    ///
    /// # Errors
    ///
    /// As [`Plan::build`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{Options, Plan};
    ///
    /// let plan = Plan::build_with(Options::new().collapse_streams(), |g| g.scope("1", |_| Ok(())))?;
    /// assert_eq!(plan.streams(), 1);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn build_with(options: Options, work: impl FnOnce(&Builder) -> Result<()>) -> Result<Self> {
        Self::build_decomposed(options, &Decompositions::new(), work)
    }

    /// Builds and checks a plan in which operators are rewritten to others.
    ///
    /// # Errors
    ///
    /// As [`Plan::build`]. [`ErrorKind::InvalidPlan`] for a rewrite that leads back to its operator, or whose result
    /// has another type or shape than that of the operator.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Decompositions, Input, Options, Plan};
    ///
    /// let table = Decompositions::new().with("aclnnAbs", 1, |g, _, operands| {
    ///     let squares = g.mul(operands[0], operands[0])?;
    ///     g.sqrt(squares)
    /// })?;
    /// let plan = Plan::build_decomposed(Options::new(), &table, |g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let y = g.abs(x)?;
    ///     g.output("y", y)
    /// })?;
    /// assert_eq!(plan.operators(), 2); // mul and sqrt
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn build_decomposed(
        options: Options,
        decompositions: &Decompositions,
        work: impl FnOnce(&Builder) -> Result<()>,
    ) -> Result<Self> {
        options.check()?;
        let builder = Builder::new(options);
        builder.decompose(decompositions);
        theirs(|| work(&builder))?;
        let built = builder.finish()?;
        Self::of(built)
    }

    /// A builder that no closure is lent: [`Plan::finish`] makes a plan of it. [`Plan::build`] is the shorter way where
    /// a closure will do.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Options, Plan};
    ///
    /// let g = Plan::builder(Options::new());
    /// let x = g.input("x", [4], F32, Input::Copied)?;
    /// g.output("y", g.abs(x)?)?;
    /// assert_eq!(Plan::finish(g)?.operators(), 1);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn builder(options: Options) -> Builder {
        Builder::new(options)
    }

    /// Checks what was recorded, and gives the plan. See [`Plan::builder`].
    ///
    /// # Errors
    ///
    /// As [`Plan::build`].
    #[track_caller]
    pub fn finish(builder: Builder) -> Result<Self> {
        Self::of(builder.finish()?)
    }

    /// Checks a recipe.
    pub(in crate::plan) fn of(built: Built) -> Result<Self> {
        Self::of_changed(built, Vec::new())
    }

    /// Checks a recipe that passes changed.
    pub(in crate::plan) fn of_changed(built: Built, changes: Vec<Change>) -> Result<Self> {
        let Built { plan: id, recipe, bodies, mut lints } = built;
        let recorded = Form::of(recipe, bodies)?;
        let (found, wrong): (Vec<_>, Vec<_>) = check::check(&recorded.recipe, &recorded.order, &recorded.uses)
            .into_iter()
            .partition(|finding| finding.kind.is_lint());
        if !wrong.is_empty() {
            return Err(finding::into_error(wrong));
        }
        // A stored plan has those of its first check already.
        for lint in found {
            if !lints.contains(&lint) {
                lints.push(lint);
            }
        }
        let (written_out, inlined, facts) = Default::default();
        let plan = Self(Arc::new(Inner { id, recorded, lints, changes, written_out, inlined, facts }));
        plan.check_gates().map(|()| plan)
    }

    /// That waits at gates end also where the streams of plans that are called are those of other work.
    fn check_gates(&self) -> Result<()> {
        let recorded = &self.0.recorded.recipe;
        if recorded.called.is_empty() || recorded.externals.is_empty() {
            return Ok(());
        }
        let wrong = check::gates(&self.0.recipe, &self.0.order);
        if wrong.is_empty() { Ok(()) } else { Err(finding::into_error(wrong)) }
    }

    /// A gate by its name: for who was not given it when the plan was built, as with a plan from a cache.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a name that no gate has.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::Plan;
    ///
    /// let plan = Plan::build(|g| g.external("ready").map(drop))?;
    /// assert!(plan.external("ready").is_ok() && plan.external("other").is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn external(&self, name: &str) -> Result<External> {
        let index = named("gate", name, self.0.recorded.recipe.externals.iter())?;
        Ok(External { plan: self.0.id, index: index as u32 })
    }

    /// The names of its outputs, in the order in which they were declared: that of the results of a call.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     g.output("y", g.sqrt(x)?)?;
    ///     g.output("z", g.neg(x)?)
    /// })?;
    /// assert!(plan.outputs().eq(["y", "z"]));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.recorded.recipe.outputs.iter().map(|output| &*output.name)
    }

    /// What is worth a look, though the plan can run.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{FindingKind, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let event = g.event("66")?;
    ///     g.record(&event)
    /// })?;
    /// assert_eq!(plan.lints()[0].kind, FindingKind::NeverWaited);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn lints(&self) -> &[Finding] {
        &self.0.lints
    }

    /// What [`Plan::optimise`] changed since the plan was recorded, in that order; which has an example. Nothing for a
    /// plan from a cache: it is kept without that.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.0.changes
    }

    /// Whether a dimension is a symbol, so that sizes are known only at a run.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        !self.0.recorded.recipe.symbols.is_empty()
    }

    /// Number of operators, foreign ones, copies, fills, prefetches and host functions included, and those of plans
    /// that are called, for each call; of a choice those of all its plans, once each. Work that is done once, when an
    /// executable is made ([`Passes::relaid_weights`](super::Passes::relaid_weights)), is not counted.
    #[must_use]
    pub fn operators(&self) -> usize {
        let facts = self.0.facts();
        usize::try_from(facts.operators).unwrap_or(usize::MAX) - facts.once
    }

    /// Number of streams, the origin included.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.0.recipe.tags.len()
    }

    /// Number of events.
    #[must_use]
    pub fn events(&self) -> usize {
        self.0.recipe.events.len()
    }

    /// Plans the memory of the temporaries: for a dynamic plan with these values of its symbols, in the order in
    /// which they were made.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for another number of values, or one outside the bounds.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=1024)?;
    ///     let mut x = g.input("x", [n], F32, Input::Copied)?;
    ///     for _ in 0..10 {
    ///         x = g.tanh(x)?;
    ///     }
    ///     g.output("y", x)
    /// })?;
    /// let memory = plan.memory(&[1024])?;
    /// assert!(memory.peak < memory.sum && memory.peak >= memory.lower_bound); // not all live at once
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn memory(&self, symbols: &[usize]) -> Result<MemoryReport> {
        self.specialise(symbols).map(|(_, memory)| memory.report())
    }

    /// The recipe and its memory plan for values of the symbols.
    pub(in crate::plan) fn specialise(&self, symbols: &[usize]) -> Result<(Cow<'_, Recipe>, MemoryPlan)> {
        let known = &self.0.recipe.symbols;
        if known.len() != symbols.len() {
            return Err(Error::invalid(format!("{} values for {} symbols", symbols.len(), known.len())));
        }
        known.iter().zip(symbols).try_for_each(|(symbol, value)| check_bounds(symbol, *value))?;
        let values: Vec<u64> = symbols.iter().map(|value| *value as u64).collect();
        let recipe = match self.is_dynamic() {
            true => Cow::Owned(self.0.recipe.specialised(&values).map_err(Error::invalid)?),
            false => Cow::Borrowed(&self.0.recipe),
        };
        let plan = memory::plan(&recipe, &self.0.order, &self.0.uses)
            .ok_or_else(|| Error::new(ErrorKind::OutOfMemory, "the temporaries of the plan do not fit any memory"))?;
        Ok((recipe, plan))
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("operators", &self.operators())
            .field("streams", &self.streams())
            .field("events", &self.events())
            .finish_non_exhaustive()
    }
}
