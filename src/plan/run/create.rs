//! Making an executable.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::plan::checked::Inner;
use crate::plan::recipe::Input;
use crate::stream::Stream;

use super::bindings::{Declared, Frozen};
use super::budget;
use super::choose::{Decider, Form};
use super::eager::Eager;
use super::executable::Executable;
use super::narrow::narrow;
use super::once;
use super::options::{Mode, RunOptions};
use super::outcome::Outcome;
use super::outside::Outside;
use super::piece::Piece;
use super::pool::Pool;
use super::sized::Fixed;
use super::store::Store;

impl Plan {
    /// An executable that replays captured graphs, with the default options. A plan whose graph depends on nothing
    /// that runs bring is captured now.
    ///
    /// A plan with [choices](crate::plan::Builder::if_else) is one graph on a library with conditional graphs. On
    /// others, and for sizes at which the library refuses an operator that may be chosen, it is several, and each run
    /// waits for the conditions of its choices; only the work behind the last of them is under way when it returns.
    ///
    /// # Errors
    ///
    /// As [`Plan::executable`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Static)?;
    ///     let w = g.input("w", [2], F32, Input::Frozen)?;
    ///     let y = g.mul(x, w)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let w = device.upload_tensor(&[3.0_f32, 4.0], [2])?;
    /// let mut exe = plan.capture(&device, Frozen::new().with("w", &w))?;
    /// exe.run(&stream, &mut exe.bindings())?; // one C call
    /// assert_eq!((exe.graphs(), exe.counters().replays), (1, 1));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRICaptureBegin")]
    #[track_caller]
    pub fn capture(&self, context: impl AsRef<Context>, frozen: Frozen) -> Result<Executable> {
        self.make(context.as_ref(), &RunOptions::default(), frozen, Location::caller())
    }

    /// An executable that issues operator by operator. A run of a plan with choices waits for each condition, with what
    /// comes before it on its stream, before it issues what is chosen.
    ///
    /// # Errors
    ///
    /// As [`Plan::executable`]; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for a plan with a choice and a
    /// wait at an external gate, on every library.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Static)?;
    ///     let w = g.input("w", [2], F32, Input::Frozen)?;
    ///     let y = g.mul(x, w)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let w = device.upload_tensor(&[3.0_f32, 4.0], [2])?;
    /// let mut exe = plan.eager(&device, Frozen::new().with("w", &w))?;
    /// exe.static_input::<f32>(exe.input("x")?)?.write(&[1.0, 2.0])?;
    /// exe.run(&stream, &mut exe.bindings())?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [3.0, 8.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn eager(&self, context: impl AsRef<Context>, frozen: Frozen) -> Result<Executable> {
        self.make(context.as_ref(), &RunOptions::default().mode(Mode::Eager), frozen, Location::caller())
    }

    /// An executable on a context of a device. Blocks while constants are copied, and for the work that
    /// [`Passes::relaid_weights`](crate::plan::Passes::relaid_weights) leaves to be done here.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a frozen input that is missing, given
    /// twice, unknown, of another type, shape or device, naming it, and for a limit of 0 graphs;
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) when the device has not the cores, streams or events
    /// that the plan needs; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported), naming both lines, for a plan
    /// with a choice and a wait at an external gate where the host chooses: on a library without conditional graphs, and
    /// eagerly; [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory); those of the operators, which are asked when
    /// the graph is captured.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Static)?;
    ///     let w = g.input("w", [2], F32, Input::Frozen)?;
    ///     let y = g.mul(x, w)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let w = device.upload_tensor(&[3.0_f32, 4.0], [2])?;
    /// let options = RunOptions::new().check_frozen().graph_limit(8);
    /// let mut exe = plan.executable(&device, &options, Frozen::new().with("w", &w))?;
    /// exe.run(&stream, &mut exe.bindings())?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn executable(
        &self,
        context: impl AsRef<Context>,
        options: &RunOptions,
        frozen: Frozen,
    ) -> Result<Executable> {
        self.make(context.as_ref(), options, frozen, Location::caller())
    }

    fn make(
        &self,
        context: &Context,
        options: &RunOptions,
        frozen: Frozen,
        at: &'static Location<'static>,
    ) -> Result<Executable> {
        options.check()?;
        let recipe = &self.0.recipe;
        let form = Form::of(options.mode, recipe, context.inner());
        budget::check(&self.0, context, form, false)?;
        form.check_waits(recipe)?;
        let pool = options.pool.clone().unwrap_or_else(|| Pool::new(context));
        pool.check(context)?;
        let by_class = |wanted: fn(Input) -> bool| -> Vec<u32> {
            (0..recipe.inputs.len() as u32).filter(|index| wanted(recipe.inputs[*index as usize].class)).collect()
        };
        let declared = Arc::new(Declared::of(recipe, context.inner()));
        let mut fixed = fixed_memory(&self.0, context, &declared, frozen)?;
        let origin = Stream::lease(context.inner())?;
        once::prepare(&self.0, context, &mut fixed, &origin, at)?;
        let outside = Outside::new(recipe, context.inner(), options.signal_limit)?;
        let mut executable = Executable {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            store: Store::default(),
            current: None,
            eager: Eager::default(),
            last: None,
            outcome: Arc::new(Outcome::of(narrow(recipe))),
            sized: Vec::new(),
            numbers: Vec::new(),
            fixed,
            outside,
            pool,
            origin,
            form,
            decider: Decider::default(),
            cores: None,
            cores_checked: false,
            cap: prefetch_cap(&self.0, context)?,
            written: super::alias::written(recipe),
            apart: Vec::new(),
            updatable: recipe.inputs.iter().any(|input| input.class == Input::Updatable)
                || recipe.symbols.iter().any(|symbol| symbol.each_run),
            places: std::collections::HashMap::new(),
            tracked: by_class(|class| matches!(class, Input::Tracked(_))),
            copied: by_class(|class| class == Input::Copied),
            lent: Vec::new(),
            hosts: by_class(|class| class == Input::Host),
            frozen: by_class(|class| class == Input::Frozen),
            declared,
            options: options.clone(),
            plan: self.clone(),
            context: context.clone(),
        };
        executable.check_fixed_aliases()?;
        executable.capture_early(at)?;
        Ok(executable)
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Bytes that one prefetch may ask for.
fn prefetch_cap(plan: &Inner, context: &Context) -> Result<Option<u64>> {
    match plan.recipe.prefetch_cap {
        0 => Ok(None),
        share => Ok(Some((context.l2_cache_bytes()? / 1000 * u64::from(share)).max(1))),
    }
}

fn fixed_memory(plan: &Inner, context: &Context, declared: &Declared, frozen: Frozen) -> Result<Fixed> {
    let recipe = &plan.recipe;
    let mut inputs: Vec<Option<Piece>> = vec![None; recipe.inputs.len()];
    for (name, bound) in frozen.given {
        let bound = bound.map_err(|error| error.context(format!("frozen input {name:?}")))?;
        let index = recipe.inputs.iter().position(|input| input.name == name && input.class == Input::Frozen);
        let Some(index) = index else {
            return Err(Error::invalid(format!("the plan has no frozen input {name:?}")));
        };
        if inputs[index].is_some() {
            return Err(Error::invalid(format!("frozen input {name:?} is given twice")));
        }
        declared.inputs[index].check(&bound)?;
        inputs[index] = Some(bound.piece());
    }
    for (index, input) in recipe.inputs.iter().enumerate() {
        let name = &input.name;
        let bytes = recipe.storages[recipe.storage_of(input.value) as usize].bytes.as_fixed();
        match (input.class, bytes) {
            (Input::Frozen, _) if inputs[index].is_none() => {
                return Err(Error::invalid(format!("frozen input {name:?} is not given; Frozen::with does")));
            }
            (Input::Static, Some(bytes)) => {
                let piece = Piece::new(context.inner(), bytes)?;
                if piece.bytes > 0 {
                    piece.buffer().write(&vec![0; piece.bytes])?;
                }
                inputs[index] = Some(piece);
            }
            _ => {}
        }
    }
    let constants = recipe.constants.iter().map(|data| {
        let piece = Piece::new(context.inner(), data.len() as u64)?;
        if !data.is_empty() {
            piece.buffer().write(data)?;
        }
        Ok(piece)
    });
    Ok(Fixed { constants: constants.collect::<Result<_>>()?, inputs, once: Vec::new() })
}
