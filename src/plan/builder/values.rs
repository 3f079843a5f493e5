//! Symbols, inputs, constants, memory and outputs.

use std::ops::RangeInclusive;
use std::panic::Location;

use crate::error::Result;
use crate::op::{DataType, Element};
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::is_updatable;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::operator::Operand;
use crate::plan::recipe::{Input, InputInfo, NodeKind, OutputInfo, Storage, StorageKind, ValueInfo};
use crate::plan::symbols::Symbol;
use crate::plan::symbols::dim::{Dim, IntoDims, MAX_SYMBOLS};

use super::{At, Builder, NONE, Value, push_slowly};

impl Builder {
    /// A named dimension that gets its value at each run: that of the inputs that have it. The plan is checked once
    /// for all values within the bounds, and planned and captured for each value that comes. The check takes no risk:
    /// where places depend on symbols such that it cannot tell whether two operators share bytes, it asks for an
    /// order and says that they may overlap.
    ///
    /// There is no empty device memory: at a run where a dimension is 0, an input that has it can be a host input,
    /// and no other.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a name that is empty or taken, bounds without a
    /// number, with no other than 0 (the plan would be about nothing at every run) or above 2³¹, or more than
    /// [`MAX_SYMBOLS`] symbols.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let tokens = g.symbol("tokens", 1..=256)?;
    ///     let x = g.input("x", [tokens], F32, Input::Host)?;
    ///     let more = g.adds(x, 1.0)?;
    ///     let sum = g.reduce_sum(more, &[], false)?;
    ///     g.output_to_host("sum", sum)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (x, sum, mut bind) = (exe.input("x")?, exe.output_id("sum")?, exe.bindings());
    /// for tokens in [4, 100, 4] {
    ///     exe.run(&stream, bind.host(x, &vec![0.0_f32; tokens], [tokens]))?;
    ///     assert_eq!(exe.host_output::<f32>(sum)?, [tokens as f32]);
    /// }
    /// assert_eq!((exe.graphs(), exe.counters().replays), (2, 3));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn symbol(&mut self, name: &str, bounds: RangeInclusive<usize>) -> Result<Dim> {
        let at = Location::caller();
        let symbols = &self.recipe.symbols;
        if name.is_empty() || symbols.iter().any(|known| known.name == name) {
            let kind = if name.is_empty() { FindingKind::Name } else { FindingKind::Duplicate };
            return self.wrong(kind, at, format_args!("symbol {name:?}: the name is empty or taken"));
        }
        if symbols.len() == MAX_SYMBOLS {
            return self.wrong(FindingKind::Name, at, format_args!("symbol {name:?} is one more than {MAX_SYMBOLS}"));
        }
        let (least, greatest) = (*bounds.start() as u64, *bounds.end() as u64);
        if least > greatest || greatest == 0 || greatest > 1 << 31 {
            return self.wrong(FindingKind::Name, at, format_args!("symbol {name:?} with the bounds {bounds:?}"));
        }
        let dim = Dim::symbol(symbols.len()).of_plan(self.plan);
        self.recipe.symbols.push(Symbol { name: name.to_owned(), least, greatest });
        Ok(dim)
    }

    /// An input, by name and class.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a name that is empty or taken, a frozen or
    /// static input whose shape has symbols, a shape that is too large, and dimensions that plans cannot express.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::{F16, I32};
    /// use racl::plan::{Input, OnMove, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let table = g.input("table", [1000, 64], F16, Input::Frozen)?;
    ///     let ids = g.input("ids", [8], I32, Input::Host)?;
    ///     let bias = g.input("bias", [8, 64], F16, Input::Tracked(OnMove::Recapture))?;
    ///     let rows = g.embedding(table, ids)?;
    ///     let y = g.add(rows, bias)?;
    ///     g.output("y", y)
    /// })?;
    /// assert!(!plan.is_dynamic());
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn input(&mut self, name: &str, dims: impl IntoDims, dtype: DataType, class: Input) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        if name.is_empty() || self.input_names.contains(name) {
            let kind = if name.is_empty() { FindingKind::Name } else { FindingKind::Duplicate };
            return self.wrong(kind, at, format_args!("input {name:?}: the name is empty or taken"));
        }
        if matches!(class, Input::Frozen | Input::Static) && dims.iter().any(|dim| dim.as_fixed().is_none()) {
            let class = if class == Input::Frozen { "frozen" } else { "static" };
            let text = format!("input {name:?} is {class}, so its shape cannot have symbols");
            return self.wrong(FindingKind::Operand, at, text);
        }
        let index = self.recipe.inputs.len() as u32;
        let value = self.memory(StorageKind::Input(index), &dims, dtype, at)?;
        self.input_names.insert(name.to_owned());
        self.recipe.inputs.push(InputInfo { name: name.to_owned(), value: value.index, class });
        if class == Input::Host {
            // The upload is the first work that the plan knows of for this memory.
            self.emit(NodeKind::Upload(index), &[Self::write(value)], at)?;
        }
        Ok(value)
    }

    /// Numbers that are part of the plan itself.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) when `data` does not fill the shape, and for one
    /// with symbols.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [3], F32, Input::Copied)?;
    ///     let weights = g.constant(&[0.5_f32, 2.0, 1.0], [3])?;
    ///     let y = g.mul(x, weights)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0], [3])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [0.5, 4.0, 3.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn constant<T: Element>(&mut self, data: &[T], dims: impl IntoDims) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        let elements = dims.iter().try_fold(1_usize, |product, dim| product.checked_mul(dim.as_fixed()?));
        if elements != Some(data.len()) {
            return self.wrong(
                FindingKind::Operand,
                at,
                format_args!("{} elements for {}", data.len(), self.show(&dims)),
            );
        }
        let index = self.recipe.constants.len() as u32;
        let value = self.memory(StorageKind::Constant(index), &dims, T::TYPE, at)?;
        self.recipe.constants.push(bytemuck::cast_slice(data).to_vec());
        Ok(value)
    }

    /// Memory of the plan with undefined content, for an operator to write.
    ///
    /// # Errors
    ///
    /// As [`Builder::input`], for the shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Operator, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.empty([4], F32)?;
    ///     for (half, root) in [(0..2, false), (2..4, true)] {
    ///         let part = g.narrow(y, 0, half)?;
    ///         g.op_into(if root { Operator::Sqrt } else { Operator::Abs }, &[x], part)?;
    ///     }
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0, 1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn empty(&mut self, dims: impl IntoDims, dtype: DataType) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        self.memory(StorageKind::Temporary, &dims, dtype, at)
    }

    pub(super) fn memory(&mut self, kind: StorageKind, dims: &[Dim], dtype: DataType, at: At) -> Result<Value> {
        let layout = Layout::dense(dtype, dims);
        let bytes = layout.as_ref().and_then(Layout::bytes);
        let bounds = self.recipe.bounds();
        let fits = bytes.as_ref().and_then(|bytes| bytes.greatest(&bounds)).is_some_and(|most| most < 1 << 62);
        let (Some(layout), Some(bytes), true) = (layout, bytes, fits) else {
            return self.wrong(
                FindingKind::Operand,
                at,
                format_args!("a value of shape {} is too large", self.show(dims)),
            );
        };
        if self.recipe.storages.len() >= NONE as usize {
            return self.wrong(FindingKind::Operand, at, "more values than can be numbered");
        }
        let storage = self.recipe.storages.len() as u32;
        push_slowly(&mut self.recipe.storages, Storage { kind, bytes });
        let layout = self.recipe.layout(&mut self.known, layout);
        push_slowly(&mut self.recipe.values, ValueInfo { storage, layout, offset: Extent::Fixed(0) });
        self.producers.push_new();
        Ok(Value { plan: self.plan, index: self.recipe.values.len() as u32 - 1, version: 0 })
    }

    pub(super) fn operand(&self, value: Value) -> Operand<'_> {
        let layout = self.recipe.layout_of(value.index);
        Operand { dtype: layout.dtype, dims: &layout.dims }
    }

    /// Makes `value` an output, by name. An input, a constant and a value that is an output already is copied.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a name that is empty or taken, for a value of
    /// another plan, and for an [updatable](Input::Updatable) input, which needs an operator to copy it.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output("y", y)?; // the memory of y, no copy
    ///     g.output("x", x)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn output(&mut self, name: &str, value: Value) -> Result<()> {
        self.add_output(name, value, false, Location::caller())
    }

    /// As [`Builder::output`]; each run also brings the output to host memory of the executable.
    ///
    /// # Errors
    ///
    /// As [`Builder::output`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let mut bind = exe.bindings();
    /// exe.run(&stream, bind.host(exe.input("x")?, &[1.0_f32, 4.0], [2]))?; // up, sqrt, and down again
    /// assert_eq!(exe.host_output::<f32>(exe.output_id("y")?)?, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn output_to_host(&mut self, name: &str, value: Value) -> Result<()> {
        self.add_output(name, value, true, Location::caller())
    }

    /// That none of these is memory that moves inside captured graphs, for work that cannot be updated there.
    pub(super) fn check_updates(&self, what: impl std::fmt::Display, values: &[Value], at: At) -> Result<()> {
        let Some(value) = values.iter().find(|value| is_updatable(&self.recipe, value.index)) else { return Ok(()) };
        let StorageKind::Input(input) = self.recipe.storages[self.recipe.storage_of(value.index) as usize].kind
        else {
            return Ok(());
        };
        let name = &self.recipe.inputs[input as usize].name;
        let text = format!(
            "{what}: input {name:?} is updatable, and only operators can be updated inside a captured graph; \
             Operator::Copy and Operator::Fill with op_into are such"
        );
        self.wrong(FindingKind::Operand, at, text)
    }

    fn add_output(&mut self, name: &str, value: Value, host: bool, at: At) -> Result<()> {
        self.check(value, "output", at)?;
        if name.is_empty() || self.output_names.contains(name) {
            let kind = if name.is_empty() { FindingKind::Name } else { FindingKind::Duplicate };
            return self.wrong(kind, at, format_args!("output {name:?}: the name is empty or taken"));
        }
        let index = self.recipe.outputs.len() as u32;
        let info = &self.recipe.values[value.index as usize];
        let storage = &self.recipe.storages[info.storage as usize];
        let whole = self.recipe.layout_of(value.index).bytes() == Some(storage.bytes.clone())
            && info.offset == Extent::Fixed(0)
            && self.recipe.layout_of(value.index).is_dense();
        let value = if storage.kind == StorageKind::Temporary && whole {
            let storage = info.storage as usize;
            self.recipe.storages[storage].kind = StorageKind::Output(index);
            value
        } else {
            if self.is_plain_copy(value, value) {
                self.check_updates(format_args!("output {name:?}, which is a copy"), &[value], at)?;
            }
            let layout = self.recipe.layout_of(value.index).clone();
            let copy = self.memory(StorageKind::Output(index), &layout.dims, layout.dtype, at)?;
            self.copy_at(value, copy, at)?;
            copy
        };
        self.output_names.insert(name.to_owned());
        self.recipe.outputs.push(OutputInfo { name: name.to_owned(), value: value.index, host });
        if host {
            self.emit(NodeKind::Download(index), &[Self::read(value)], at)?;
        }
        Ok(())
    }
}
