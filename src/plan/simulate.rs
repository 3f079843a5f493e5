//! Running a plan on host memory, without a device: the machine, and the arithmetic of the operators. Uses checked
//! plans; passes verify with it.

use crate::error::{Error, Result};
use crate::op::{DataType, Element, IntoShape, Shape};

use super::Plan;
use super::recipe::layout::Layout;
use super::recipe::{Input, OutputInfo, Recipe, count_of, rows_found};

mod bind;
mod choices;
mod host;
mod machine;
mod memory;
mod on_mock;
mod part;
mod random;
#[cfg(test)]
pub(crate) mod tests;

#[cfg_attr(not(test), allow(unused_imports, reason = "what tests watch"))]
pub(crate) use machine::{Machine, Written};
pub(crate) use memory::Memory;
pub(crate) use part::computed;
pub(crate) use random::Random;

/// What a simulated run is given, by name: every input of the plan, whatever its class, and values of symbols.
///
/// See [`Plan::simulate`].
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Input, Plan, Simulated};
///
/// let plan = Plan::build(|g| {
///     let (n, m) = (g.symbol("n", 1..=8)?, g.symbol("m", 1..=8)?);
///     let x = g.input("x", [n * 2], F32, Input::Copied)?;
///     let w = g.input("w", [m], F32, Input::Copied)?;
///     let (y, v) = (g.abs(x)?, g.abs(w)?);
///     g.output_to_host("y", y)?;
///     g.output("v", v)
/// })?;
/// let given = Simulated::new()
///     .tensor("x", &[1.0_f32, -2.0, 3.0, -4.0], [4]) // n is 2
///     .bytes("w", (-5.0_f32).to_ne_bytes())
///     .symbol("m", 1); // bytes have no shape that says so
/// let run = plan.simulate(7, &given)?;
/// assert_eq!(run.to_vec::<f32>("y")?, [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!((run.shape("v")?.elements(), run.bytes("v")?), (1, &5.0_f32.to_ne_bytes()[..]));
/// assert_eq!(run.host_bytes("y")?, run.bytes("y")?);
/// assert_eq!(run.input_bytes("w")?, (-5.0_f32).to_ne_bytes()); // nothing writes it
/// assert_eq!(run.order().len(), 3); // two operators and what brings y to the host
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Simulated {
    inputs: Vec<Given>,
    symbols: Vec<(String, usize)>,
    /// The first one, for the run to report.
    mistake: Option<String>,
}

#[derive(Debug, Clone)]
struct Given {
    name: String,
    bytes: Vec<u8>,
    /// None for bytes of which no more is known.
    typed: Option<(DataType, Shape)>,
}

impl Simulated {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an input with its shape, which gives the symbols in it their values. A mistake, such as data that does not
    /// fill the shape, is reported by the run.
    #[must_use]
    pub fn tensor<T: Element>(mut self, name: &str, data: &[T], shape: impl IntoShape) -> Self {
        let shape = match shape.into_shape() {
            Ok(shape) if shape.elements() == data.len() => shape,
            Ok(shape) => return self.mistaken(format!("{} elements for the shape {shape}", data.len()), name),
            Err(error) => return self.mistaken(error.to_string(), name),
        };
        let bytes = bytemuck::cast_slice(data).to_vec();
        self.inputs.push(Given { name: name.to_owned(), bytes, typed: Some((T::TYPE, shape)) });
        self
    }

    fn mistaken(mut self, what: String, name: &str) -> Self {
        self.mistake.get_or_insert_with(|| format!("input {name:?}: {what}"));
        self
    }

    /// Adds an input as bytes, of the type and shape that it has in the plan.
    #[must_use]
    pub fn bytes(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.inputs.push(Given { name: name.to_owned(), bytes: bytes.into(), typed: None });
        self
    }

    /// Gives a symbol its value, in place of one that it was given before: for a symbol that the shapes of the inputs
    /// do not say. They must agree with it.
    #[must_use]
    pub fn symbol(mut self, name: &str, value: usize) -> Self {
        self.symbols.push((name.to_owned(), value));
        self
    }

    fn find(&self, name: &str) -> Option<&Given> {
        self.inputs.iter().find(|given| given.name == name)
    }
}

/// What a simulated run left behind. From [`Plan::simulate`]; [`Simulated`] has an example.
#[derive(Debug, Clone)]
pub struct Simulation {
    outputs: Vec<Left>,
    inputs: Vec<Left>,
    order: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Left {
    name: String,
    dtype: DataType,
    shape: Shape,
    bytes: Vec<u8>,
    host: Option<Vec<u8>>,
    /// Whether it says how many rows came of another.
    counts: bool,
}

impl Simulation {
    /// The bytes of an output.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that no output has.
    pub fn bytes(&self, output: &str) -> Result<&[u8]> {
        find(&self.outputs, "output", output).map(|left| &*left.bytes)
    }

    /// The elements of an output.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that no output has, or elements
    /// of another type.
    pub fn to_vec<T: Element>(&self, output: &str) -> Result<Vec<T>> {
        let left = find(&self.outputs, "output", output)?;
        if !left.dtype.is::<T>() {
            let text =
                format!("output {output:?} has elements of type {:?}; asked for are {:?}", left.dtype, T::TYPE);
            return Err(Error::invalid(text));
        }
        Ok(left.bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
    }

    /// The elements of an output made with [`Builder::output_found`](super::Builder::output_found), as many as came
    /// where that stands: what later work writes into the number is not asked.
    ///
    /// # Errors
    ///
    /// As [`Simulation::to_vec`]; also for an output that is all there is.
    /// [`ErrorKind::UnknownValue`](crate::ErrorKind::UnknownValue) for a number of rows that the output has no room for.
    ///
    /// # Examples
    ///
    /// See [`Found`](super::Found).
    pub fn found<T: Element>(&self, output: &str) -> Result<Vec<T>> {
        let mut all = self.to_vec::<T>(output)?;
        let most = self.shape(output)?.first().copied().unwrap_or(1);
        let rows = rows_found(self.counted(output)?, most)?;
        all.truncate(rows * (all.len() / most.max(1)));
        Ok(all)
    }

    /// The number that came to the host with an output, as a run reads it.
    fn counted(&self, output: &str) -> Result<i64> {
        let count = find(&self.outputs, "output", &count_of(output))?;
        let bytes = count.host.as_deref().filter(|_| count.counts).and_then(|bytes| bytes.try_into().ok());
        bytes.map(i64::from_ne_bytes).ok_or_else(|| Error::invalid(format!("output {output:?} is all there is")))
    }

    /// The shape of an output.
    ///
    /// # Errors
    ///
    /// As [`Simulation::bytes`].
    pub fn shape(&self, output: &str) -> Result<Shape> {
        find(&self.outputs, "output", output).map(|left| left.shape)
    }

    /// The type of an output's elements.
    ///
    /// # Errors
    ///
    /// As [`Simulation::bytes`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| g.output("y", g.constant(&[1_i32, 2], [2])?))?;
    /// assert_eq!(plan.simulate(0, &Simulated::new())?.dtype("y")?, I32);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn dtype(&self, output: &str) -> Result<DataType> {
        find(&self.outputs, "output", output).map(|left| left.dtype)
    }

    /// What the run brought to host memory of an output that
    /// [`Builder::output_to_host`](super::Builder::output_to_host) made.
    ///
    /// # Errors
    ///
    /// As [`Simulation::bytes`]; also for an output that stays on the device.
    pub fn host_bytes(&self, output: &str) -> Result<&[u8]> {
        let left = find(&self.outputs, "output", output)?;
        left.host.as_deref().ok_or_else(|| Error::invalid(format!("output {output:?} is not brought to the host")))
    }

    /// The bytes of an input after the run: those that were given, unless the plan writes them in place.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that no input has.
    pub fn input_bytes(&self, input: &str) -> Result<&[u8]> {
        find(&self.inputs, "input", input).map(|left| &*left.bytes)
    }

    /// Positions of the plan's work, in the order in which this run did it: of choices what it did of them, of loops
    /// each round.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }
}

fn find<'a>(all: &'a [Left], what: &str, name: &str) -> Result<&'a Left> {
    all.iter()
        .find(|left| left.name == name)
        .ok_or_else(|| Error::invalid(format!("the plan has no {what} {name:?}")))
}

impl Plan {
    /// Runs the plan on host memory: no device, no library. The commonest operators (products, sums and means, softmax,
    /// layer norm, casts, permutations, fills, embeddings, and element by element) are computed by this crate, the others
    /// by the mock, with the feature `mock`, in a context of its own. Foreign operators need a computation on the host, by
    /// [`Foreign::simulated`](super::Foreign::simulated). Host functions are called. Signals from outside count as
    /// given. A loop of more than a million rounds is an error.
    ///
    /// The streams take turns as the seed says, in any of the ways that a device could; a plan gives the same numbers
    /// for all seeds. Temporaries lie in one arena where [`Plan::memory`] has planned them, and memory that nothing
    /// has written holds bytes that depend on the seed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an input that is missing, unknown, given
    /// twice or of another size, type or shape, and for a symbol without a value;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for an operator without a computation on the host, and a
    /// loop that goes on too long; [`ErrorKind::DeviceFault`](crate::ErrorKind::DeviceFault), with the operator and its
    /// line, for what an operator finds wrong in its operands, such as an index that no element has.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Foreign, Input, Plan, Simulated};
    ///
    /// let next = Foreign::new("next", 1, |_| Ok(())).simulated(|reads, writes| {
    ///     for (to, from) in writes[0].chunks_mut(4).zip(reads[0].chunks(4)) {
    ///         let number = i32::from_ne_bytes(from.try_into().unwrap());
    ///         to.copy_from_slice(&(number + 1).to_ne_bytes());
    ///     }
    /// });
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=64)?;
    ///     let x = g.input("x", [n], I32, Input::Copied)?;
    ///     let y = g.empty([n], I32)?;
    ///     g.scope("side", |g| g.foreign(&next, &[x], &[y]))?;
    ///     g.output("y", y)
    /// })?;
    /// let inputs = Simulated::new().tensor("x", &[1, 2, 3], [3]);
    /// for seed in 0..10 {
    ///     assert_eq!(plan.simulate(seed, &inputs)?.to_vec::<i32>("y")?, [2, 3, 4]);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn simulate(&self, seed: u64, inputs: &Simulated) -> Result<Simulation> {
        let recipe = &self.0.recipe;
        let symbols = bind::symbols(recipe, inputs)?;
        let (fixed, plan) = self.specialise(&symbols)?;
        fixed.layouts.iter().try_for_each(check_shape)?;
        let given = bind::inputs(recipe, &fixed, inputs)?;
        let memory = Memory::new(&fixed, &plan, &on_device(&fixed, &given), seed)?;
        let mut machine = Machine::new(&fixed, &self.0.bodies, memory, given);
        let (mut random, mut order) = (Random::new(seed), Vec::with_capacity(fixed.nodes.len()));
        let choose = |ready: &[u32]| {
            let chosen = random.below(ready.len());
            order.push(ready[chosen]);
            chosen
        };
        machine.run(choose, &mut |_| {})?;
        Ok(left(&fixed, machine, order))
    }
}

/// That the places of elements have numbers: sizes with symbols may be larger than they were said to be.
fn check_shape(layout: &Layout) -> Result<()> {
    let dims: Vec<usize> = layout.dims.iter().filter_map(|dim| dim.as_fixed()).collect();
    Shape::new(&dims).map(drop)
}

/// What the memory of each input holds before a run: of host inputs nothing yet.
pub(crate) fn on_device(recipe: &Recipe, given: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let given = recipe.inputs.iter().zip(given);
    given.map(|(input, bytes)| if input.class == Input::Host { Vec::new() } else { bytes.clone() }).collect()
}

fn left(recipe: &Recipe, mut machine: Machine<'_>, order: Vec<u32>) -> Simulation {
    let brought = std::mem::take(&mut machine.brought);
    let one = |name: &str, value: u32, host: Option<Vec<u8>>, counts: bool| {
        let layout = recipe.layout_of(value);
        let dims: Vec<usize> = layout.dims.iter().filter_map(|dim| dim.as_fixed()).collect();
        let shape = Shape::new(&dims).unwrap_or_else(|_| unreachable!("the sizes were checked before the run"));
        let bytes = machine.memory.storage(recipe, recipe.storage_of(value)).to_vec();
        Left { name: name.to_owned(), dtype: layout.dtype, shape, bytes, host, counts }
    };
    let outputs = recipe.outputs.iter().zip(brought);
    let outputs = outputs
        .map(|(OutputInfo { name, value, host, counts }, bytes)| one(name, *value, host.then_some(bytes), *counts));
    let outputs = outputs.collect();
    let inputs = recipe.inputs.iter().map(|input| one(&input.name, input.value, None, false)).collect();
    Simulation { outputs, inputs, order }
}
