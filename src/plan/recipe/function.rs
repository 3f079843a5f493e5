//! Foreign operators and host functions: code of the user inside a plan.

use std::borrow::Cow;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use crate::call::{Caller as _, check};
use crate::collective::{Communicator, Reduction};
use crate::error::{Error, ErrorKind, Result};
use crate::op::{Amount, DataType, MAX_RANK, Recorded, Shape};
use crate::stream::Stream;

use super::info::Parts;
use super::quantity::Form;
use super::{Cores, FunctionInfo, FunctionKind, Mode};

type LaunchFn = dyn Fn(&Launch<'_>) -> Result<()> + Send + Sync;
type SimulateFn = dyn Fn(&[Vec<u8>], &mut [Vec<u8>]) + Send + Sync;
type HostCode = dyn Fn(&[u8]) + Send + Sync;

/// One pointer to where it is kept, in each function of a plan.
pub(crate) struct HostFn(Box<HostCode>);

/// An operator that this crate does not know: a closure that submits work to a stream.
///
/// It has a name and a version, by which a stored plan finds it again, and attributes, which are given to it at each
/// launch. Executors call it once for each eager run and once for each capture, on the thread that runs the plan.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Foreign, Input, Plan};
///
/// let kernel = Foreign::new("mine.scale", 1, |launch| {
///     // kernel.launch(launch.stream()).address(launch.address(0)), and so on: see racl::Kernel
///     assert_eq!(launch.bytes(0), 32);
///     Ok(())
/// })
/// .simulated(|reads, writes| writes[0].copy_from_slice(&reads[0]));
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [8], F32, Input::Copied)?;
///     let y = g.empty([8], F32)?;
///     g.foreign(&kernel, &[x], &[y])?;
///     g.output("y", y)
/// })?;
/// assert!(plan.lints().is_empty());
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
pub struct Foreign {
    name: Option<String>,
    version: u32,
    attributes: Vec<u8>,
    needs: Cores,
    pub(crate) body: ForeignBody,
}

#[derive(Clone)]
pub(crate) struct ForeignBody {
    pub(crate) launch: Arc<LaunchFn>,
    pub(crate) simulate: Option<Arc<SimulateFn>>,
}

impl Foreign {
    /// An operator with a name of its own and the version of what it does.
    pub fn new(
        name: impl Into<String>,
        version: u32,
        launch: impl Fn(&Launch<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { name: Some(name.into()), version, ..Self::unnamed(launch) }
    }

    /// An operator without a name. The plan cannot be stored then, which its lints say.
    pub fn unnamed(launch: impl Fn(&Launch<'_>) -> Result<()> + Send + Sync + 'static) -> Self {
        let body = ForeignBody { launch: Arc::new(launch), simulate: None };
        Self { name: None, version: 0, attributes: Vec::new(), needs: Cores::default(), body }
    }

    /// Bytes that each launch is given, and that are stored with the plan.
    #[must_use]
    pub fn attributes(mut self, attributes: impl Into<Vec<u8>>) -> Self {
        self.attributes = attributes.into();
        self
    }

    /// Cores that the operator must have at the same time to make progress, as collectives do. With fewer it would
    /// wait for ever, and so would several that may run at once and of which each has a part of what it needs.
    ///
    /// Refused when an executable is made, as [`FindingKind::CoreDeadlock`](crate::plan::FindingKind::CoreDeadlock):
    /// one operator that needs more than the device has or its [`Scope::cores`](crate::plan::Scope::cores) allow; every
    /// two on different streams in no order that need more together than the device has; and if there are none of
    /// these, one larger set of such operators for each kind of cores. That search is exact, but for plans of so many
    /// that it would take more than 20 million steps: of those only the single ones and the pairs are found. An
    /// [`Executable::limit_cores`](crate::plan::Executable::limit_cores) below what an operator needs is refused by the
    /// next run. Limits of scopes and executables are for each stream by itself, so they say nothing about several
    /// operators. Cores that a device does not tell are not checked.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{Cores, Foreign, Frozen, Plan, Scope};
    ///
    /// let collective = Foreign::new("mine.reduce", 1, |_| Ok(())).needs(Cores { cube: 0, vector: 4 });
    /// let plan = Plan::build(|g| {
    ///     let few = Scope::new().cores(Cores { cube: 0, vector: 2 });
    ///     g.scope_with("side", few, |g| g.foreign(&collective, &[], &[]))
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let error = plan.capture(&device, Frozen::new()).unwrap_err();
    /// assert!(error.to_string().contains("needs 4 vector cores at once"));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn needs(mut self, cores: Cores) -> Self {
        self.needs = cores;
        self
    }

    /// The same computation on the host: from the bytes of what it reads to the bytes of what it writes, which hold
    /// what was there before. Of a view these are its elements in their order, without the gaps between them.
    #[must_use]
    pub fn simulated(mut self, simulate: impl Fn(&[Vec<u8>], &mut [Vec<u8>]) + Send + Sync + 'static) -> Self {
        self.body.simulate = Some(Arc::new(simulate));
        self
    }

    pub(crate) fn info(&self) -> FunctionInfo {
        FunctionInfo::of_code(Parts {
            kind: FunctionKind::Foreign,
            name: self.name.as_deref().map(Into::into),
            version: self.version,
            attributes: self.attributes.as_slice().into(),
            needs: self.needs,
            later: Vec::new(),
        })
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Foreign").field("name", &self.name).field("version", &self.version).finish_non_exhaustive()
    }
}

/// What a foreign operator is launched with. Its values are those that it reads, then those that it writes.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Foreign, Frozen, Input, Plan};
///
/// let kernel = Foreign::new("mine.rows", 1, |launch| {
///     assert_eq!((launch.len(), launch.is_empty(), launch.attributes()), (2, false, &[7][..]));
///     assert_eq!(launch.shape(0).as_deref(), Some(&[3, 2][..])); // the transposed view
///     assert_eq!((launch.strides(0), launch.dtype(0)), (Some(&[1, 3][..]), Some(F32)));
///     assert_eq!((launch.bytes(1), launch.address(1).is_null()), (24, false));
///     launch.check("myLaunch", 0) // the code of a C call with launch.stream().as_raw()
/// })
/// .attributes([7]);
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [2, 3], F32, Input::Static)?;
///     let turned = g.transpose(x, 0, 1)?;
///     let y = g.empty([6], F32)?;
///     g.foreign(&kernel, &[turned], &[y])?;
///     g.output("y", y)
/// })?;
/// let device = racl::Acl::mock()?.device(0)?;
/// plan.capture(&device, Frozen::new())?; // launches it once, for the graph
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug)]
pub struct Launch<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) arguments: &'a [Argument],
    pub(crate) attributes: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Argument {
    pub(crate) address: *mut c_void,
    pub(crate) bytes: usize,
    pub(crate) shape: Shape,
    pub(crate) strides: [usize; MAX_RANK],
    pub(crate) dtype: DataType,
    pub(crate) mode: Mode,
}

impl Launch<'_> {
    /// The stream that the work goes to.
    #[must_use]
    pub fn stream(&self) -> &Stream {
        self.stream
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }

    /// Device address of value `index`. Null for a value that there is not.
    #[must_use]
    pub fn address(&self, index: usize) -> *mut c_void {
        self.arguments.get(index).map_or(std::ptr::null_mut(), |argument| argument.address)
    }

    /// Bytes from the first to the last element of value `index`; 0 for a value that there is not.
    #[must_use]
    pub fn bytes(&self, index: usize) -> usize {
        self.arguments.get(index).map_or(0, |argument| argument.bytes)
    }

    /// Shape of value `index`.
    #[must_use]
    pub fn shape(&self, index: usize) -> Option<Shape> {
        self.arguments.get(index).map(|argument| argument.shape)
    }

    /// Distance between neighbours in each dimension of value `index`, in elements.
    #[must_use]
    pub fn strides(&self, index: usize) -> Option<&[usize]> {
        self.arguments.get(index).map(|argument| &argument.strides[..argument.shape.len()])
    }

    /// Type of the elements of value `index`.
    #[must_use]
    pub fn dtype(&self, index: usize) -> Option<DataType> {
        self.arguments.get(index).map(|argument| argument.dtype)
    }

    /// The attributes that the operator was made with.
    #[must_use]
    pub fn attributes(&self) -> &[u8] {
        self.attributes
    }

    /// Reduces value `from` of all ranks, element by element, into value `to` of each; one that is read and written
    /// is both. So a plan has communication between cards: every rank runs it as often. Both values are dense, of one
    /// type and shape. A plan does not look into the closure: work on values that it does not name is not ordered.
    ///
    /// # Errors
    ///
    /// As [`Communicator::all_reduce`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a value
    /// that there is not, a `from` that the operator does not read, and a `to` that it does not write.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::{Communicator, Reduction, RootInfo};
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Foreign, Frozen, Input, Plan};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?; // one rank here
    /// let sum = Foreign::new("mine.sum", 1, move |launch| launch.all_reduce(&ranks, 0, 1, Reduction::Sum));
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let twice = g.add(x, x)?;
    ///     g.foreign(&sum, &[twice], &[twice])?;
    ///     g.output("y", twice)
    /// })?;
    /// let stream = device.stream()?;
    /// let mut run = plan.capture(&device, Frozen::new())?;
    /// let (x, y, mut bind) = (run.input("x")?, run.output_id("y")?, run.bindings());
    /// bind.set(x, &device.upload_tensor(&[1.0_f32, 2.0], [2])?);
    /// run.run(&stream, &mut bind)?;
    /// assert_eq!(run.output::<f32>(y)?.to_vec()?, [2.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclAllReduce")]
    #[track_caller]
    pub fn all_reduce(&self, ranks: &Communicator, from: usize, to: usize, reduction: Reduction) -> Result<()> {
        let (send, recv) = (self.dense(from)?, self.dense(to)?);
        if !send.mode.reads() || !recv.mode.writes() {
            return Err(Error::invalid(format!(
                "an all_reduce from value {from}, which is read, to {to}, which is written"
            )));
        }
        let (a, b) = (send.address.addr(), recv.address.addr());
        let apart = a == b || a + send.bytes <= b || b + recv.bytes <= a;
        if (send.dtype, send.shape) != (recv.dtype, recv.shape) || !apart {
            return Err(Error::invalid("an all_reduce of values that differ in type or shape, or overlap in part"));
        }
        let count = (send.bytes / send.dtype.size(), send.dtype);
        // SAFETY: both are values of the plan with so many elements, whose memory the run registers with the stream.
        unsafe { ranks.all_reduce_at(self.stream, [send.address, recv.address], count, reduction) }
    }

    /// A value whose elements lie one after the other.
    fn dense(&self, index: usize) -> Result<&Argument> {
        let there = self.arguments.get(index);
        let argument = there.ok_or_else(|| Error::invalid(format!("no value {index}: there are {}", self.len())))?;
        if argument.strides != argument.shape.dense_strides() {
            return Err(Error::invalid(format!("value {index} has gaps; a communicator takes dense ones")));
        }
        Ok(argument)
    }

    /// An error of this launch, for what AscendCL has no code for.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::ErrorKind;
    /// use racl::plan::{Foreign, Frozen, Plan};
    ///
    /// let odd = Foreign::new("mine.odd", 1, |launch| Err(launch.error(ErrorKind::NotSupported, "an odd size")));
    /// let plan = Plan::build(|g| g.foreign(&odd, &[], &[]))?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let refused = plan.capture(&device, Frozen::new()).unwrap_err();
    /// assert!(refused.kind() == ErrorKind::NotSupported && refused.to_string().contains("an odd size"));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use]
    pub fn error(&self, kind: ErrorKind, text: impl Into<String>) -> Error {
        Error::new(kind, text)
    }

    /// Turns the code of a C call that the closure made into a result: `call` is the name of the C function. Call it
    /// right behind the C call, on the same thread, since the library keeps the text of its latest error only.
    ///
    /// # Errors
    ///
    /// For a code other than 0: an error of the kind of the code, with the library's message.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::Foreign;
    ///
    /// let kernel = Foreign::new("mine.nothing", 1, |launch| launch.check("myLaunch", 0));
    /// # drop(kernel);
    /// ```
    pub fn check(&self, call: &'static str, code: i32) -> Result<()> {
        check(self.stream.0.context().table(), call, code)
    }
}

/// A function that runs on the host when the plan gets there, at each run, on a thread of the library.
/// [`Builder::host_function`](crate::plan::Builder::host_function) has an example.
///
/// It must not call the runtime, nor wait for work of the device; see
/// [`Stream::host_function`](crate::Stream::host_function).
#[derive(Clone)]
pub struct HostFunction {
    name: Option<String>,
    version: u32,
    attributes: Vec<u8>,
    pub(crate) body: Arc<HostFn>,
}

impl HostFn {
    pub(crate) fn call(&self, attributes: &[u8]) {
        (self.0)(attributes);
    }
}

impl HostFunction {
    /// A function with a name of its own and the version of what it does. It is given its attributes.
    pub fn new(name: impl Into<String>, version: u32, body: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self { name: Some(name.into()), version, ..Self::unnamed(body) }
    }

    /// A function without a name. The plan cannot be stored then, which its lints say.
    pub fn unnamed(body: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self { name: None, version: 0, attributes: Vec::new(), body: Arc::new(HostFn(Box::new(body))) }
    }

    /// Bytes that each call is given, and that are stored with the plan.
    #[must_use]
    pub fn attributes(mut self, attributes: impl Into<Vec<u8>>) -> Self {
        self.attributes = attributes.into();
        self
    }

    pub(crate) fn info(&self) -> FunctionInfo {
        FunctionInfo::of_code(Parts {
            kind: FunctionKind::Host,
            name: self.name.as_deref().map(Into::into),
            version: self.version,
            attributes: self.attributes.as_slice().into(),
            needs: Cores::default(),
            later: Vec::new(),
        })
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostFunction")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// The code behind a function of a recipe.
#[derive(Clone)]
pub(crate) enum Body {
    /// An operator of the library, which its function has.
    Operator,
    Code(Box<Code>),
}

/// Code of the user.
#[derive(Clone)]
pub(crate) enum Code {
    Foreign(ForeignBody),
    Host(Arc<HostFn>),
}

impl From<Code> for Body {
    fn from(code: Code) -> Self {
        Self::Code(Box::new(code))
    }
}

impl Body {
    pub(crate) fn code(&self) -> Option<&Code> {
        if let Self::Code(code) = self { Some(code) } else { None }
    }

    /// The operator, of one of the library with this function.
    pub(crate) fn operator<'f>(&self, info: &'f FunctionInfo) -> Option<&'f Arc<Recorded>> {
        if let Self::Operator = self { info.recorded() } else { None }
    }
}

/// Parts of the names of operators that work together with those of other devices.
const TOGETHER: [&str; 7] =
    ["AllGather", "AllReduce", "AlltoAll", "Barrier", "Distribute", "ElasticReceivable", "ReduceScatter"];

/// Whether an operator, by its name in C, has to run on several devices at once.
pub(crate) fn works_together(name: &str) -> bool {
    TOGETHER.iter().any(|part| name.contains(part))
}

/// Parts of the names of operators that draw random numbers.
const RANDOM: [&str; 10] = [
    "Bernoulli",
    "Dropout",
    "InplaceNormal",
    "Multinomial",
    "NormalFloat",
    "NormalTensor",
    "RReluWithNoise",
    "Random",
    "Randperm",
    "Uniform",
];

/// Whether an operator, by its name in C, draws numbers: each library has its own from the same seed.
pub(crate) fn is_random(name: &str) -> bool {
    RANDOM.iter().any(|part| name.contains(part))
}

/// The operator with all its numbers, for these values of the symbols.
pub(crate) fn told<'r>(recorded: &'r Recorded, info: &FunctionInfo, symbols: &[u64]) -> Result<Cow<'r, Recorded>> {
    if info.later().is_empty() {
        return Ok(Cow::Borrowed(recorded));
    }
    let amount = |number: &Form| number.fixed(symbols)?.amount();
    let unknown = || Error::new(ErrorKind::Internal, "a number with symbols");
    let amounts: Option<Vec<Vec<Amount>>> =
        info.later().iter().map(|later| later.numbers.iter().map(amount).collect()).collect();
    let amounts = amounts.ok_or_else(unknown)?;
    let numbers = info.later().iter().zip(&amounts).map(|(later, amounts)| (&*later.parameter, &amounts[..]));
    recorded.with(numbers).map(Cow::Owned).map_err(Error::invalid)
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Operator => "Operator",
            Self::Code(code) => match **code {
                Code::Foreign(_) => "Foreign",
                Code::Host(_) => "Host",
            },
        })
    }
}
