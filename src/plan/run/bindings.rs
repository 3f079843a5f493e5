//! What a run is given: memory for its inputs, by handles that are resolved once.

use std::sync::{Arc, Weak};

use bytemuck::Pod;

use crate::context::ContextInner;
use crate::error::{Error, Result};
use crate::memory::{Allocation, SharedBuffer};
use crate::op::{AnyTensor, DataType, Element, Format, IntoShape, Shape, Tensor};
use crate::plan::recipe::{Input, Recipe};
use crate::plan::symbols::dim::show_dims;
use crate::plan::symbols::values::{Values, named};

use super::piece::Piece;

/// An input of one executable, from [`Executable::input`](super::Executable::input).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InputId {
    pub(super) executable: u64,
    pub(super) index: u32,
}

/// An output of one executable, from [`Executable::output_id`](super::Executable::output_id).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OutputId {
    pub(super) executable: u64,
    pub(super) index: u32,
}

/// Memory together with what is known of its content.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct Bound {
    pub(crate) allocation: Arc<Allocation>,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
    /// Type and shape, of a tensor.
    pub(crate) tensor: Option<(DataType, Shape)>,
}

impl Bound {
    pub(crate) fn address(&self) -> usize {
        self.allocation.address().addr() + self.offset
    }

    pub(super) fn piece(&self) -> Piece {
        Piece { allocation: Arc::clone(&self.allocation), offset: self.offset, bytes: self.bytes }
    }
}

mod sealed {
    pub trait Sealed {}
    impl<T: bytemuck::Pod> Sealed for crate::memory::SharedBuffer<T> {}
    impl<T: crate::op::Element> Sealed for crate::op::Tensor<T> {}
    impl Sealed for crate::op::AnyTensor {}
}

/// Device memory that can be given to a plan: a dense [`Tensor`], whose type and shape are checked, or a
/// [`SharedBuffer`], whose size is. Plans keep what they are given, so a [`DeviceBuffer`](crate::DeviceBuffer) is made a
/// shared one before ([`into_shared`](crate::DeviceBuffer::into_shared)).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a plan",
    note = "plans share the memory: make a `DeviceBuffer` a shared one with `into_shared`"
)]
pub trait Bindable: sealed::Sealed {
    #[doc(hidden)]
    fn bound(&self) -> Result<Bound>;
}

impl<T: Element> Bindable for Tensor<T> {
    fn bound(&self) -> Result<Bound> {
        if !self.is_dense() {
            return Err(Error::invalid("a tensor with gaps; make it dense with op::copy before"));
        }
        self.allocation().check_free_standing()?;
        let offset = self.address().addr() - self.allocation().address().addr();
        let tensor = Some((T::TYPE, *self.shape()));
        Ok(Bound { allocation: Arc::clone(self.allocation()), offset, bytes: self.len() * T::TYPE.size(), tensor })
    }
}

impl Bindable for AnyTensor {
    fn bound(&self) -> Result<Bound> {
        let dtype = self.element_type().data_type().filter(|_| self.format() == Format::ND);
        let dtype =
            dtype.ok_or_else(|| Error::invalid(format!("{self:?}, of a type or format that no plan takes")))?;
        let shape = *self.shape();
        if self.strides() != &shape.dense_strides()[..shape.rank()] {
            return Err(Error::invalid("a tensor with gaps; make it dense with op::copy before"));
        }
        self.allocation().check_free_standing()?;
        let start = self.address().addr() - self.allocation().address().addr();
        let (offset, bytes) = (start + self.offset() * dtype.size(), shape.elements() * dtype.size());
        Ok(Bound { allocation: Arc::clone(self.allocation()), offset, bytes, tensor: Some((dtype, shape)) })
    }
}

impl<T: Pod> Bindable for SharedBuffer<T> {
    fn bound(&self) -> Result<Bound> {
        self.allocation().check_free_standing()?;
        let offset = self.address().addr() - self.allocation().address().addr();
        Ok(Bound { allocation: Arc::clone(self.allocation()), offset, bytes: self.size_bytes(), tensor: None })
    }
}

/// The frozen inputs of an executable, by name.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Frozen, Input, Plan};
///
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [1, 2], F32, Input::Copied)?;
///     let w = g.input("w", [2, 2], F32, Input::Frozen)?;
///     let y = g.matmul(x, w)?;
///     g.output("y", y)
/// })?;
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let w = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
/// let exe = plan.capture(&device, Frozen::new().with("w", &w))?;
/// drop(w); // the executable shares the memory
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Frozen {
    pub(super) given: Vec<(String, Result<Bound>)>,
}

impl Frozen {
    /// No input yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives an input, once. A mistake is reported when the executable is made.
    #[must_use]
    pub fn with(mut self, name: &str, memory: &impl Bindable) -> Self {
        self.given.push((name.to_owned(), memory.bound()));
        self
    }
}

/// The inputs of a run, kept and reused: setting one allocates nothing after the first time.
///
/// See [`Executable::bindings`](super::Executable::bindings).
#[derive(Debug)]
pub struct Bindings {
    pub(super) executable: u64,
    /// By input; 0 for none.
    pub(super) addresses: Vec<usize>,
    pub(super) bound: Vec<Option<Bound>>,
    pub(super) host: Vec<HostData>,
    pub(super) key: u64,
    /// Values given for symbols, by their index.
    pub(super) symbols: Values,
    /// The first mistake, for the run to report.
    pub(super) first_error: Option<Error>,
    /// What the inputs were declared as, for checks.
    pub(super) recipe: Arc<Declared>,
}

/// What the inputs were declared as.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) inputs: Vec<DeclaredInput>,
    pub(super) symbols: Vec<String>,
}

#[derive(Debug)]
pub(super) struct DeclaredInput {
    pub(super) name: String,
    pub(super) class: Input,
    pub(super) dtype: DataType,
    pub(super) dims: Vec<crate::plan::Dim>,
    /// The dimensions with the names of the symbols.
    pub(super) shown: String,
    /// Whose memory it takes; bindings that outlive their executable do not keep it.
    home: Weak<ContextInner>,
}

#[derive(Debug, Default, Clone)]
pub(super) struct HostData {
    pub(super) bytes: Vec<u8>,
    pub(super) shape: Option<Shape>,
}

impl Declared {
    pub(super) fn of(recipe: &Recipe, context: &Arc<ContextInner>) -> Self {
        let names = recipe.symbol_names();
        let inputs = recipe.inputs.iter().map(|input| {
            let layout = recipe.layout_of(input.value);
            let (dtype, dims) = (layout.dtype, layout.dims.clone());
            let shown = show_dims(&dims, &names);
            let (name, home) = (input.name.clone(), Arc::downgrade(context));
            DeclaredInput { name, class: input.class, dtype, dims, shown, home }
        });
        Self { inputs: inputs.collect(), symbols: recipe.symbol_names() }
    }
}

impl DeclaredInput {
    /// That memory fits the declaration, symbols aside.
    pub(super) fn check(&self, bound: &Bound) -> Result<()> {
        let name = &self.name;
        match self.home.upgrade() {
            Some(home) => home.check_memory(bound.allocation.context(), || format!("input {name:?}: memory"))?,
            None => return Err(Error::invalid(format!("input {name:?}: the context of its executable is gone"))),
        }
        let (dtype, align) = (self.dtype, self.dtype.size());
        if !bound.address().is_multiple_of(align) {
            let address = bound.address();
            return Err(Error::invalid(format!(
                "input {name:?}: the address {address:#x} is not a multiple of {align} bytes, which {dtype:?} needs"
            )));
        }
        match &bound.tensor {
            Some((dtype, shape)) => self.check_shape(*dtype, shape),
            None => self.check_size(bound.bytes),
        }
    }

    pub(super) fn check_shape(&self, dtype: DataType, shape: &Shape) -> Result<()> {
        let fits = shape.len() == self.dims.len()
            && self
                .dims
                .iter()
                .zip(shape.iter())
                .all(|(dim, size)| dim.as_fixed().is_none_or(|fixed| fixed == *size));
        if self.dtype.takes(dtype) && fits {
            return Ok(());
        }
        let (name, expected, dims) = (&self.name, self.dtype, &self.shown);
        Err(Error::invalid(format!("input {name:?}: expected {expected:?} {dims}, got {dtype:?} {shape}")))
    }

    fn check_size(&self, bytes: usize) -> Result<()> {
        let size = self.dims.iter().try_fold(self.dtype.size(), |size, dim| size.checked_mul(dim.as_fixed()?));
        let name = &self.name;
        match size {
            Some(size) if size == bytes => Ok(()),
            Some(size) => Err(Error::invalid(format!("input {name:?}: expected {size} bytes, got {bytes}"))),
            None => Err(Error::invalid(format!(
                "input {name:?} has symbols in its shape, so it needs a tensor; a buffer has no shape"
            ))),
        }
    }
}

impl Bindings {
    /// Gives device memory for an input, until another is set: it is noted, without a C call. A mistake is reported
    /// by the run.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.abs(x)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, mut bind) = (exe.input("x")?, exe.bindings());
    /// let (right, wrong) = (device.zeros::<f32>([2])?, device.zeros::<f32>([3])?);
    /// assert!(exe.run(&stream, bind.set(x, &wrong)).is_err());
    /// exe.run(&stream, bind.set(x, &right))?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn set(&mut self, input: InputId, memory: &impl Bindable) -> &mut Self {
        let set = memory.bound().and_then(|bound| self.try_set(input, bound));
        self.note(set)
    }

    fn try_set(&mut self, input: InputId, bound: Bound) -> Result<()> {
        let declared = self.declared(input)?;
        match declared.class {
            Input::Static => {
                let text = format!("input {:?} is static: write it in place with static_input", declared.name);
                return Err(Error::invalid(text));
            }
            Input::Host => {
                let text = format!("input {:?} is host memory: give it with Bindings::host", declared.name);
                return Err(Error::invalid(text));
            }
            _ => declared.check(&bound)?,
        }
        let index = input.index as usize;
        self.addresses[index] = bound.address();
        self.bound[index] = Some(bound);
        Ok(())
    }

    /// Gives the numbers of a host input, which are copied now, until others are given.
    ///
    /// Only host inputs have staging memory of their own; a copied input is given device memory, which
    /// [`Tensor::write`] or an upload on a stream filled.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=8)?;
    ///     let x = g.input("x", [n * 2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, mut bind) = (exe.input("x")?, exe.bindings());
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0, 9.0, 16.0], [4]))?; // n is 2
    /// assert_eq!(exe.host_output::<f32>(exe.output_id("y")?)?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn host<T: Element>(&mut self, input: InputId, data: &[T], shape: impl IntoShape) -> &mut Self {
        let set =
            shape.into_shape().and_then(|shape| self.try_host(input, bytemuck::cast_slice(data), T::TYPE, shape));
        self.note(set)
    }

    /// As [`Bindings::host`], of elements whose type is known when the program runs.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     g.output_to_host("y", g.sqrt(x)?)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let bytes: Vec<u8> = [1.0_f32, 4.0].iter().flat_map(|number| number.to_ne_bytes()).collect();
    /// let mut bind = exe.bindings();
    /// exe.run(&stream, bind.host_bytes(exe.input("x")?, &bytes, F32, [2]))?;
    /// let mut roots = [0; 8];
    /// exe.host_output_bytes(exe.output_id("y")?, &mut roots)?;
    /// assert_eq!(roots, [1.0_f32.to_ne_bytes(), 2.0_f32.to_ne_bytes()].concat()[..]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn host_bytes(&mut self, input: InputId, data: &[u8], dtype: DataType, shape: impl IntoShape) -> &mut Self {
        let set = shape.into_shape().and_then(|shape| self.try_host(input, data, dtype, shape));
        self.note(set)
    }

    fn try_host(&mut self, input: InputId, data: &[u8], dtype: DataType, shape: Shape) -> Result<()> {
        let declared = self.declared(input)?;
        let name = &declared.name;
        if declared.class != Input::Host {
            return Err(Error::invalid(format!("input {name:?} is device memory: give it with Bindings::set")));
        }
        declared.check_shape(dtype, &shape)?;
        if shape.elements().checked_mul(dtype.size()) != Some(data.len()) {
            let elements = data.len() as f64 / dtype.size() as f64;
            return Err(Error::invalid(format!("input {name:?}: {elements} elements for the shape {shape}")));
        }
        let host = &mut self.host[input.index as usize];
        host.bytes.clear();
        host.bytes.extend_from_slice(data);
        host.shape = Some(shape);
        Ok(())
    }

    /// Gives a symbol its value, until another is given: for a symbol that the shapes of the inputs do not say. They
    /// must agree with it.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=8)?;
    ///     let x = g.input("x", [8], F32, Input::Static)?;
    ///     let first = g.narrow(x, 0, 0.into()..n)?; // no input has n in its shape
    ///     g.output_to_host("y", first)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let mut bind = exe.bindings();
    /// assert!(exe.run(&stream, &mut bind).is_err());
    /// exe.run(&stream, bind.symbol("n", 3))?;
    /// assert_eq!(exe.host_output::<f32>(exe.output_id("y")?)?, [0.0; 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn symbol(&mut self, name: &str, value: usize) -> &mut Self {
        let index = named("symbol", name, self.recipe.symbols.iter());
        let set = index.map(|index| self.symbols[index] = Some(value));
        self.note(set)
    }

    /// A key of the caller's own: runs with another one use another captured graph.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=8)?;
    ///     let x = g.input("x", [n * 2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, mut bind) = (exe.input("x")?, exe.bindings());
    /// for key in [1, 2, 1] {
    ///     exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]).key(key))?;
    /// }
    /// assert_eq!(exe.graphs(), 2);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn key(&mut self, key: u64) -> &mut Self {
        self.key = key;
        self
    }

    /// The first mistake of what was set, which the next run would tell of; it does not any more.
    ///
    /// # Errors
    ///
    /// As [`Executable::run`](crate::plan::Executable::run) has of its bindings.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{Frozen, Plan};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let exe = Plan::build(|_| Ok(()))?.capture(&device, Frozen::new())?;
    /// let mut bind = exe.bindings();
    /// assert!(bind.symbol("n", 1).check().is_err());
    /// assert!(bind.check().is_ok());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn check(&mut self) -> Result<()> {
        self.first_error.take().map_or(Ok(()), Err)
    }

    fn declared(&self, input: InputId) -> Result<&DeclaredInput> {
        match self.recipe.inputs.get(input.index as usize) {
            Some(declared) if input.executable == self.executable => Ok(declared),
            _ => Err(Error::invalid("an input of another executable")),
        }
    }

    fn note(&mut self, set: Result<()>) -> &mut Self {
        if let Err(error) = set {
            self.first_error.get_or_insert(error);
        }
        self
    }
}
