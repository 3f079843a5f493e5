//! One run of a model: what it is given, what is checked, and how it goes to the library.

use std::panic::Location;
use std::sync::Arc;

use acl_sys::{aclmdlDataset, aclrtStream};

use super::Model;
use super::bind::{Bound, ModelInput, ModelKey, ModelOutput};
use super::dataset::{Dataset, Lists};
use super::description::{ModelGears, ModelTensor};
use super::loaded::Turn;
use super::preprocessing::Preprocessing;
use super::read::{Desc, no_dims};
use super::shapes::Gear;
use crate::call::call;
use crate::closure;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{Allocation, DeviceRead, DeviceWrite, SharedBuffer, Touch};
use crate::stream::{Stream, Task};

/// A run of a [`Model`] that is being put together, made by [`Model::run`]: every input and every output of the model
/// is given, then it goes to a stream ([`ModelRun::submit`]), or is waited for ([`ModelRun::wait`]).
///
/// Which input or output is meant is said by its name or by its number. Types are checked when memory is given, shapes,
/// sizes and the choice of a gear before the library sees the run. Memory may be larger than needed, except that of
/// tensors, whose shapes count.
///
/// What a run uses is kept until it is done, as with any work; the borrows end with the calls that take them.
///
/// # Examples
///
/// ```
/// # let file = racl::mock::ModelFile::example();
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let model = device.context().load_model_bytes(file)?; // y = 2 * x, for 1, 2 or 4 rows of three
/// let x = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// let mut y = device.zeros::<f32>([2, 3])?;
/// let shapes = model.run().input("x", &x)?.output("y", &mut y)?.submit(&stream)?;
/// assert_eq!(shapes.of("y"), Some(&[2, 3][..]));
/// assert_eq!(y.to_vec()?, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]); // waits for the run
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing runs before it is submitted"]
#[doc(alias = "aclmdlDataset")]
pub struct ModelRun<'m> {
    pub(super) model: &'m Model,
    inputs: Vec<Option<Bound>>,
    outputs: Vec<Option<Bound>>,
    gear: Option<Gear>,
    /// What is made of images, for each input that tells it.
    pub(super) parameters: Vec<Option<Preprocessing>>,
    aliased: bool,
}

/// The shapes of the outputs of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(alias = "aclmdlGetCurOutputDims")]
#[doc(alias = "aclmdlGetDatasetTensorDesc")]
pub struct OutputShapes(Vec<(String, Option<Vec<usize>>)>);

impl OutputShapes {
    /// That of one output; none where there is no such output, or the library does not say.
    #[must_use]
    pub fn of(&self, key: impl ModelKey) -> Option<&[usize]> {
        let names: Vec<_> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        let index = key.find(&names)?;
        self.0[index].1.as_deref()
    }
}

/// What the library is given.
struct Given {
    lists: Lists,
    /// The buffers that tell the gear, and what is made of images.
    own: Vec<Arc<Allocation>>,
}

impl<'m> ModelRun<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let about = &model.about;
        Self {
            model,
            inputs: vec![None; about.inputs.len()],
            outputs: vec![None; about.outputs.len()],
            gear: None,
            parameters: vec![None; about.parameters.len()],
            aliased: false,
        }
    }

    /// Gives an input. The shape of a tensor tells the size where the model leaves it open; else
    /// [`ModelRun::input_shape`] does. A second call for one input replaces the first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no such input, another type, too little memory, a shape that is larger than
    /// any memory, one of which nobody knows how many bytes it needs, a view with gaps, or memory of another device.
    #[doc(alias = "aclmdlAddDatasetBuffer")]
    pub fn input(mut self, key: impl ModelKey, memory: &impl ModelInput) -> Result<Self> {
        let index = find(&self.model.about.inputs, &key, "input")?;
        let bound = memory.bound()?;
        self.check(&self.model.about.inputs[index], &bound)?;
        self.inputs[index] = Some(bound);
        Ok(self)
    }

    /// As [`ModelRun::input`], of memory whose bytes are of the type that the model has.
    ///
    /// # Errors
    ///
    /// As [`ModelRun::input`], without a look at types.
    pub fn input_bytes(mut self, key: impl ModelKey, memory: &impl DeviceRead<Element = u8>) -> Result<Self> {
        let index = find(&self.model.about.inputs, &key, "input")?;
        let bound = Bound::of_memory(memory, None);
        self.check(&self.model.about.inputs[index], &bound)?;
        self.inputs[index] = Some(bound);
        Ok(self)
    }

    /// Says which shape an input has in this run that was given already, and is no tensor.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no such input, one that was not given, and a shape that the model does not
    /// take.
    #[doc(alias = "aclmdlSetDatasetTensorDesc")]
    pub fn input_shape(mut self, key: impl ModelKey, shape: &[usize]) -> Result<Self> {
        let index = find(&self.model.about.inputs, &key, "input")?;
        let tensor = &self.model.about.inputs[index];
        let Some(mut bound) = self.inputs[index].take() else {
            return Err(Error::invalid(format!("a shape for {:?}, which was not given yet", tensor.name)));
        };
        bound.shape = Some(shape.to_vec());
        self.check(tensor, &bound)?;
        self.inputs[index] = Some(bound);
        Ok(self)
    }

    /// Gives an output, which nothing else of the run may overlap. A second call for one output replaces the first.
    ///
    /// # Errors
    ///
    /// As [`ModelRun::input`].
    pub fn output(mut self, key: impl ModelKey, memory: &mut impl ModelOutput) -> Result<Self> {
        let index = find(&self.model.about.outputs, &key, "output")?;
        let bound = memory.bound_mut()?;
        self.check(&self.model.about.outputs[index], &bound)?;
        self.outputs[index] = Some(bound);
        Ok(self)
    }

    /// As [`ModelRun::output`], of memory whose bytes are of the type that the model has.
    ///
    /// # Errors
    ///
    /// As [`ModelRun::output`], without a look at types.
    pub fn output_bytes(mut self, key: impl ModelKey, memory: &mut impl DeviceWrite<Element = u8>) -> Result<Self> {
        let index = find(&self.model.about.outputs, &key, "output")?;
        let bound = Bound::of_memory(memory, None);
        self.check(&self.model.about.outputs[index], &bound)?;
        self.outputs[index] = Some(bound);
        Ok(self)
    }

    /// Outputs may be memory of inputs: for models that were built to update what they are given.
    pub fn aliased(mut self) -> Self {
        self.aliased = true;
        self
    }

    /// Chooses the number of samples, of those that the model was built for. Where inputs are tensors their shapes do.
    #[doc(alias = "aclmdlSetDynamicBatchSize")]
    pub fn batch(mut self, count: usize) -> Self {
        self.gear = Some(Gear::Batch(count));
        self
    }

    /// Chooses the size of images, of those that the model was built for. Where inputs are tensors their shapes do.
    #[doc(alias = "aclmdlSetDynamicHWSize")]
    pub fn image_size(mut self, height: usize, width: usize) -> Self {
        self.gear = Some(Gear::ImageSize(height, width));
        self
    }

    /// Chooses every size of all inputs, in a row, of those that the model was built for. Where inputs are tensors
    /// their shapes do.
    #[doc(alias = "aclmdlSetInputDynamicDims")]
    pub fn dims(mut self, sizes: &[usize]) -> Self {
        self.gear = Some(Gear::Dims(sizes.to_vec()));
        self
    }

    /// Queues the run on `stream` and returns. Gives the shapes of the outputs as far as they are known then: of a
    /// model whose outputs depend on values, [`ModelRun::wait`] knows them.
    ///
    /// Runs of one model come one after another, on whichever streams: they share its work memory. Only inside of
    /// [`untracked`](crate::untracked) that order is the program's. A failure of the work itself comes with the next
    /// wait for the stream.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for inputs, outputs and parameters of image preprocessing that were not given, sizes
    /// that the model does not take,
    /// memory that is too small or overlaps, and a stream of another device; [`ErrorKind::NotSupported`] for a stream
    /// that records a graph, whose capture gives none then, and in host functions; [`ErrorKind::CaptureForbidden`] beside a
    /// capture that forbids blocking copies, where sizes or preprocessing are told; [`ErrorKind::OutOfMemory`]; what the
    /// library says of parameters of image preprocessing that the model does not take.
    #[doc(alias = "aclmdlExecuteAsync")]
    #[track_caller]
    pub fn submit(self, stream: &Stream) -> Result<OutputShapes> {
        let named = ("model", Location::caller());
        let submitted = self.submit_named(stream, named);
        submitted.map(|(shapes, _)| shapes).map_err(|error| stream.refuse(named, error))
    }

    /// Queues the run; the shapes as they are known then, and what it was given.
    pub(super) fn submit_named(
        &self,
        stream: &Stream,
        (label, location): (&'static str, &'static Location<'static>),
    ) -> Result<(OutputShapes, Arc<Lists>)> {
        let (inner, context) = (&stream.0, self.model.loaded.context());
        inner.context().check_memory(context, || "a model".to_owned())?;
        inner.check_thread()?;
        if stream.is_capturing() {
            return Err(in_capture());
        }
        let prepared = self.prepare()?;
        if prepared.gear.is_some() || !self.parameters.is_empty() {
            // The library copies them to the device.
            context.check_may_block("a run of a model that tells sizes or preprocessing", location)?;
        }
        let turn = self.model.turns.take();
        let given = self.give(&prepared, &turn)?;
        let memory = self.memory(&given.own);
        inner.order(&memory)?;
        let id = self.model.loaded.id()?;
        let task = Task { label, location, uses: &memory, scratch: None };
        let state = inner.lock();
        if state.capture.is_some() {
            return Err(in_capture());
        }
        let mut outcome = Ok(());
        let number = inner.submit_locked(&state, &task, |raw| {
            // Some of a run that failed may be queued all the same, and uses the memory then.
            outcome = execute(inner.context(), id, &given.lists, raw);
            Ok(())
        })?;
        drop(state);
        let shapes = outcome.and_then(|()| self.shapes(&given.lists, &prepared));
        let lists = Arc::new(given.lists);
        self.model.loaded.note(inner, number, Arc::clone(&lists));
        Ok((shapes?, lists))
    }

    /// Runs the model and blocks until it is done: waits for work on the memory first, then for the run, on a stream of
    /// the context's own.
    ///
    /// # Errors
    ///
    /// As [`ModelRun::submit`]; also errors of the work that is waited for, and of the run itself.
    #[doc(alias = "aclmdlExecute")]
    #[track_caller]
    pub fn wait(self) -> Result<OutputShapes> {
        let named = ("model", Location::caller());
        // What is wrong is told without a wait.
        self.prepare()?;
        let stream = Stream::lease(self.model.loaded.context())?;
        // Before the model's turn: others may run it meanwhile.
        self.memory(&[]).iter().try_for_each(|touch| touch.memory.wait_idle())?;
        let (shapes, lists) = self.submit_named(&stream, named)?;
        stream.synchronize()?;
        self.told(shapes, &lists)
    }

    /// The shapes of a run that is done, where the library tells them.
    pub(super) fn told(&self, mut shapes: OutputShapes, lists: &Lists) -> Result<OutputShapes> {
        for (index, (_, shape)) in shapes.0.iter_mut().enumerate() {
            if let Some(told) = lists.output.shape(index)? {
                check_shape(&self.model.about.outputs[index], self.outputs[index].as_ref(), &told)?;
                *shape = Some(told);
            }
        }
        Ok(shapes)
    }

    fn check(&self, tensor: &ModelTensor, bound: &Bound) -> Result<()> {
        let says = |text: String| Err(Error::invalid(format!("{:?} of the model: {text}", tensor.name)));
        self.model.loaded.context().check_memory(bound.allocation.context(), || "memory".to_owned())?;
        if let Some(given) = bound.data_type
            && !tensor.data_type.is_some_and(|expected| expected.takes(given))
        {
            let expected = tensor.data_type.map_or_else(
                || format!("the type with the number {}, which is given as bytes", tensor.raw_type),
                |expected| format!("{expected:?}"),
            );
            return says(format!("memory of {given:?}, where the model has {expected}"));
        }
        if let Some(misfit) = bound.shape.as_ref().and_then(|shape| tensor.misfit(shape)) {
            return says(misfit);
        }
        check_bytes(tensor, bound, bound.shape.as_deref())
    }

    /// Everything that can be seen to before the model's turn.
    fn prepare(&self) -> Result<Prepared> {
        if closure::is_running() {
            return Err(Error::new(ErrorKind::NotSupported, "a host function runs a model"));
        }
        self.check_whole()?;
        self.check_apart()?;
        let given: Vec<_> = self.inputs.iter().flatten().map(|bound| bound.shape.clone()).collect();
        let about = &self.model.about;
        if about.gears != ModelGears::None {
            let (gear, shapes) = about.find_gear(self.gear.as_ref(), &given)?;
            self.check_shapes(&shapes)?;
            return Ok(Prepared { gear: Some(gear), open: Vec::new() });
        }
        if let Some(gear) = &self.gear {
            return Err(Error::invalid(format!("{gear}: the model has no sizes to choose from")));
        }
        let open = |(index, tensor): (usize, &ModelTensor)| tensor.is_open().then_some(index);
        let open: Vec<_> = about.inputs.iter().enumerate().filter_map(open).collect();
        if let Some(index) = open.iter().find(|index| given[**index].is_none()) {
            let name = &about.inputs[*index].name;
            let text =
                format!("{name:?} of the model: its shape is open; give a tensor, or say it with `input_shape`");
            return Err(Error::invalid(text));
        }
        Ok(Prepared { gear: None, open })
    }

    fn check_whole(&self) -> Result<()> {
        let about = &self.model.about;
        for (what, bounds, tensors) in
            [("input", &self.inputs, &about.inputs), ("output", &self.outputs, &about.outputs)]
        {
            let missing = tensors.iter().zip(bounds).filter(|(_, bound)| bound.is_none());
            let missing: Vec<_> = missing.map(|(tensor, _)| format!("{:?}", tensor.name)).collect();
            if !missing.is_empty() {
                return Err(Error::invalid(format!("a run without {what} {}", missing.join(", "))));
            }
        }
        if self.parameters.contains(&None) {
            let text = "a run that does not say what is made of images (`preprocessing`), of a model that takes it";
            return Err(Error::invalid(text));
        }
        Ok(())
    }

    fn check_apart(&self) -> Result<()> {
        let name = |tensors: &[ModelTensor], index: usize| format!("{:?}", tensors[index].name);
        let about = &self.model.about;
        let work = Bound::of_memory(&self.model.work, None);
        let on_work = |input: &Option<Bound>| input.as_ref().is_some_and(|input| input.overlaps(&work));
        if let Some(index) = self.inputs.iter().position(on_work) {
            let input = name(&about.inputs, index);
            return Err(Error::invalid(format!("input {input} of the model overlaps the work memory of the model")));
        }
        for (index, output) in self.outputs.iter().enumerate() {
            let Some(output) = output else { continue };
            let same = |other: &Option<Bound>| other.as_ref().is_some_and(|other| other.overlaps(output));
            let weights = |memory: &SharedBuffer<u8>| Bound::of_memory(memory, None).overlaps(output);
            let what = if let Some(other) = self.outputs[..index].iter().position(same) {
                format!("output {}", name(&about.outputs, other))
            } else if let Some(other) = self.inputs.iter().position(same).filter(|_| !self.aliased) {
                format!("input {}", name(&about.inputs, other))
            } else if output.overlaps(&work) {
                "the work memory of the model".to_owned()
            } else if self.model.reads.iter().any(weights) {
                "weights of the model".to_owned()
            } else {
                continue;
            };
            let text = format!("output {} of the model overlaps {what}", name(&about.outputs, index));
            return Err(Error::invalid(text));
        }
        Ok(())
    }

    /// That each input has the shape that the gear gives it.
    fn check_shapes(&self, shapes: &[Vec<usize>]) -> Result<()> {
        for ((tensor, bound), shape) in self.model.about.inputs.iter().zip(&self.inputs).zip(shapes) {
            let Some(bound) = bound else { continue };
            if let Some(given) = bound.shape.as_ref().filter(|given| *given != shape) {
                let text =
                    format!("{:?} of the model: the shape {given:?}, where the choice means {shape:?}", tensor.name);
                return Err(Error::invalid(text));
            }
            check_bytes(tensor, bound, Some(shape))?;
        }
        Ok(())
    }

    /// Makes the lists for the library, and tells it the choice. In the model's turn, which it is for.
    fn give(&self, prepared: &Prepared, _turn: &Turn<'_>) -> Result<Given> {
        let (model, context) = (self.model, self.model.loaded.context());
        let lists = Lists { input: Dataset::new(context)?, output: Dataset::new(context)? };
        let mut given = Given { lists, own: Vec::new() };
        self.give_inputs(&mut given)?;
        for bound in self.outputs.iter().flatten() {
            given.lists.output.add(bound.address(), bound.bytes)?;
        }
        for &index in &prepared.open {
            let shape = self.inputs[index].as_ref().and_then(|bound| bound.shape.as_deref()).unwrap_or_default();
            let place = model.about.place_of_input(index);
            given.lists.input.set_shape(place, &model.about.inputs[index], shape)?;
        }
        for (told, (place, _)) in self.parameters.iter().flatten().zip(&model.about.parameters) {
            set_preprocessing(context, model.loaded.id()?, given.lists.input.raw(), *place, told)?;
        }
        let (Some(gear), Some((index, _))) = (&prepared.gear, model.about.choice) else { return Ok(given) };
        choose(context, model.loaded.id()?, given.lists.input.raw(), index, gear)?;
        self.check_outputs(model.loaded.desc()?)?;
        Ok(given)
    }

    /// All inputs in the order of the library, with buffers for those that are this crate's own. New ones for each run: the
    /// library writes them now, and a run that is not done may have those before.
    fn give_inputs(&self, given: &mut Given) -> Result<()> {
        let about = &self.model.about;
        let own: Vec<_> = about.parameters.iter().copied().chain(about.choice).collect();
        let mut bounds = self.inputs.iter().flatten();
        for place in 0..self.inputs.len() + own.len() {
            if let Some((_, bytes)) = own.iter().find(|(own, _)| *own == place) {
                let memory = Allocation::new(self.model.loaded.context(), *bytes)?;
                given.lists.input.add(memory.address(), memory.bytes())?;
                given.own.push(memory);
            } else if let Some(bound) = bounds.next() {
                given.lists.input.add(bound.address(), bound.bytes)?;
            }
        }
        Ok(())
    }

    /// That the outputs have room for what the gear that was just chosen gives.
    fn check_outputs(&self, desc: &Desc) -> Result<()> {
        for (index, (tensor, bound)) in self.model.about.outputs.iter().zip(&self.outputs).enumerate() {
            let (Some(shape), Some(bound)) = (desc.current_output(index)?, bound) else { continue };
            check_shape(tensor, Some(bound), &shape)?;
            check_bytes(tensor, bound, Some(&shape))?;
        }
        Ok(())
    }

    /// What the run uses.
    fn memory<'a>(&'a self, own: &'a [Arc<Allocation>]) -> Vec<Touch<'a>> {
        let inputs = self.inputs.iter().flatten().map(|bound| Touch::read(&bound.allocation));
        let outputs = self.outputs.iter().flatten().map(|bound| Touch::written(&bound.allocation));
        let external = self.model.reads.iter().map(|memory| Touch::read(memory.allocation()));
        let work = std::iter::once(Touch::written(self.model.work.allocation()));
        inputs.chain(outputs).chain(external).chain(work).chain(own.iter().map(Touch::kept)).collect()
    }

    fn shapes(&self, given: &Lists, prepared: &Prepared) -> Result<OutputShapes> {
        let mut shapes = Vec::new();
        for (index, tensor) in self.model.about.outputs.iter().enumerate() {
            let told = given.output.shape(index)?;
            let shape = match told.or_else(|| tensor.shape()) {
                None if prepared.gear.is_some() => self.model.loaded.desc()?.current_output(index)?,
                shape => shape,
            };
            if let Some(shape) = &shape {
                check_shape(tensor, self.outputs[index].as_ref(), shape)?;
            }
            shapes.push((tensor.name.clone(), shape));
        }
        Ok(OutputShapes(shapes))
    }
}

/// What a run was found to be.
struct Prepared {
    gear: Option<Gear>,
    /// The inputs whose shapes the library is told.
    open: Vec<usize>,
}

pub(super) fn find(tensors: &[ModelTensor], key: &impl ModelKey, what: &str) -> Result<usize> {
    let names: Vec<_> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    key.find(&names)
        .ok_or_else(|| Error::invalid(format!("the model has no {what} {}: it has {names:?}", key.describe())))
}

fn check_bytes(tensor: &ModelTensor, bound: &Bound, shape: Option<&[usize]>) -> Result<()> {
    let need = tensor.need(shape)?;
    if need > bound.bytes {
        let text = format!("{:?} of the model: {} bytes, where {need} are needed", tensor.name, bound.bytes);
        return Err(Error::invalid(text));
    }
    Ok(())
}

/// That an output whose shape is given has the one that the run gives it.
fn check_shape(tensor: &ModelTensor, bound: Option<&Bound>, shape: &[usize]) -> Result<()> {
    match bound.and_then(|bound| bound.shape.as_deref()).filter(|given| *given != shape) {
        Some(given) => {
            let text = format!("{:?} of the model: the shape {given:?}, where the run gives {shape:?}", tensor.name);
            Err(Error::invalid(text))
        }
        None => Ok(()),
    }
}

fn in_capture() -> Error {
    let text =
        "an offline model on a stream that records a graph: the library takes none there; run it beside the graph";
    Error::new(ErrorKind::NotSupported, text)
}

/// Tells the library which gear a run has.
fn choose(context: &ContextInner, id: u32, list: *mut aclmdlDataset, index: usize, gear: &Gear) -> Result<()> {
    match gear {
        Gear::Batch(count) => {
            // SAFETY: a loaded model and a live list, whose buffer `index` is device memory that nothing uses.
            unsafe { call!(context, aclmdlSetDynamicBatchSize(id, list, index, *count as u64)) }
        }
        Gear::ImageSize(height, width) => {
            let (height, width) = (*height as u64, *width as u64);
            // SAFETY: as above.
            unsafe { call!(context, aclmdlSetDynamicHWSize(id, list, index, height, width)) }
        }
        Gear::Dims(sizes) => {
            let mut dims = no_dims();
            dims.dimCount = sizes.len();
            for (to, size) in dims.dims.iter_mut().zip(sizes) {
                *to = i64::try_from(*size).unwrap_or(i64::MAX);
            }
            // SAFETY: as above; the sizes are there for the call.
            unsafe { call!(context, aclmdlSetInputDynamicDims(id, list, index, &raw const dims)) }
        }
    }
}

fn set_preprocessing(
    context: &Arc<ContextInner>,
    id: u32,
    list: *mut aclmdlDataset,
    place: usize,
    told: &Preprocessing,
) -> Result<()> {
    let told = told.told(context)?;
    // SAFETY: a loaded model and a live list, whose buffer `place` is device memory that nothing uses; the parameters are
    // copied into it.
    unsafe { call!(&**context, aclmdlSetInputAIPP(id, list, place, told.raw())) }
}

fn execute(context: &ContextInner, id: u32, given: &Lists, stream: aclrtStream) -> Result<()> {
    let (input, output) = (given.input.raw(), given.output.raw());
    // SAFETY: a loaded model, whose turn this is; both lists have its inputs and outputs, of memory that is large
    // enough and registered with the stream, and are kept until the run is done.
    unsafe { call!(context, aclmdlExecuteAsync(id, input, output, stream)) }
}
