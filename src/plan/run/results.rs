//! What an executable gives: outputs, memory of static and copied inputs, and signals.

use std::panic::Location;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::SharedBuffer;
use crate::op::{DataType, Element, Shape, Tensor};
use crate::plan::builder::External;
use crate::plan::recipe::{Input, OutputInfo};
use crate::stream::{Named, Stream};

use super::bindings::{DeclaredInput, InputId, OutputId};
use super::executable::{Executable, Last, not_given};
use super::host;
use super::host_outputs::{check_room, stays, were_taken};
use super::issue::HostSide;
use super::output::Output;
use super::outside::Outside;
use super::piece::{Piece, Place};

impl Executable {
    /// Memory of a static input, to be written between runs: [`Tensor::write`] waits for the run before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an input of another class, type or
    /// executable.
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
    /// let mut x = exe.static_input::<f32>(exe.input("x")?)?; // kept; the memory is the executable's
    /// for step in [1.0, 2.0] {
    ///     x.write(&[step; 2])?;
    ///     exe.run(&stream, &mut exe.bindings())?;
    ///     assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [3.0 * step, 4.0 * step]);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn static_input<T: Element>(&self, input: InputId) -> Result<Tensor<T>> {
        let (piece, dtype, sizes) = self.static_memory(input)?;
        tensor(piece, dtype, &sizes, &self.declared_input(input)?.name)
    }

    /// The memory of a static input, its type and shape.
    pub(super) fn static_memory(&self, input: InputId) -> Result<(&Piece, DataType, Vec<usize>)> {
        let declared = self.declared_input(input)?;
        let name = &declared.name;
        if declared.class != Input::Static {
            return Err(Error::invalid(format!("input {name:?} is not static")));
        }
        let piece = self.fixed.inputs[input.index as usize].as_ref().ok_or_else(|| not_given(name))?;
        let sizes = declared.dims.iter().filter_map(|dim| dim.as_fixed()).collect();
        Ok((piece, declared.dtype, sizes))
    }

    /// Memory of a copied input: a run that has this tensor bound copies nothing. Its content is undefined at first.
    /// It can be written between runs as that of a static input: [`Tensor::write`] waits for the run before. Runs
    /// with other memory bound copy over it, and a plan that writes the input writes here. Only plans without symbols
    /// have one memory for all runs. It outlives the executable. A run in which another input has it bound is
    /// refused.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an input of another class, type or
    /// executable, and for a plan with symbols.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.muls(x, 3.0)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let (id, mut bind) = (exe.input("x")?, exe.bindings());
    /// let mut x = exe.copied_input::<f32>(id)?;
    /// bind.set(id, &x);
    /// for step in [1.0, 2.0] {
    ///     x.write(&[step; 2])?;
    ///     exe.run(&stream, &mut bind)?; // one C call, without a copy
    ///     assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [3.0 * step; 2]);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn copied_input<T: Element>(&mut self, input: InputId) -> Result<Tensor<T>> {
        let (piece, dtype, sizes) = self.copied_memory(input)?;
        let tensor = tensor(&piece, dtype, &sizes, &self.declared_input(input)?.name)?;
        self.lend(input, piece);
        Ok(tensor)
    }

    /// The memory of a copied input, its type and shape.
    pub(super) fn copied_memory(&self, input: InputId) -> Result<(Piece, DataType, Shape)> {
        let declared = self.declared_input(input)?;
        let name = &declared.name;
        if declared.class != Input::Copied {
            return Err(Error::invalid(format!("input {name:?} is not copied")));
        }
        if self.plan.is_dynamic() {
            let text =
                format!("input {name:?} of a plan with symbols, which has other memory for each of their values");
            return Err(Error::invalid(text));
        }
        let value = self.plan.0.recipe.inputs[input.index as usize].value as usize;
        let sized = self.sized.first().ok_or_else(|| not_given(name))?;
        let place = &sized.places[value];
        let piece = sized.pieces[place.storage as usize].as_ref().ok_or_else(|| not_given(name))?;
        Ok((piece.clone(), place.dtype, place.dims))
    }

    /// Somebody has this memory of a copied input from now on.
    pub(super) fn lend(&mut self, input: InputId, piece: Piece) {
        if self.lent.iter().all(|(lent, _)| *lent != input.index) {
            self.lent.push((input.index, piece));
        }
    }

    fn declared_input(&self, input: InputId) -> Result<&DeclaredInput> {
        match self.declared.inputs.get(input.index as usize) {
            Some(declared) if input.executable == self.id => Ok(declared),
            _ => Err(Error::invalid("an input of another executable")),
        }
    }

    /// An output of the latest run. It can be read until the next run, which the borrow keeps away.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) before the first run, after one that failed
    /// once something of it may have been submitted, or on the device as somebody was told; for another type or
    /// executable.
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
    /// exe.run(&stream, &mut exe.bindings())?;
    /// let y = exe.output::<f32>(exe.output_id("y")?)?;
    /// assert_eq!((y.shape().elements(), y.to_vec()?), (2, vec![0.0, 0.0])); // static inputs start at 0
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn output<T: Element>(&self, output: OutputId) -> Result<Output<'_, T>> {
        let (piece, place, name) = self.output_memory(output)?;
        let tensor = tensor(piece, place.dtype, &place.dims, name)?;
        Ok(Output { tensor, outcome: &self.outcome })
    }

    /// The memory of an output, what it holds, and its name.
    pub(super) fn output_memory(&self, output: OutputId) -> Result<(&Piece, &Place, &str)> {
        let (last, info) = self.last_output(output)?;
        let place = &last.sized.places[info.value as usize];
        let piece = last.sized.pieces[place.storage as usize].as_ref().ok_or_else(|| not_given(&info.name))?;
        Ok((piece, place, &info.name))
    }

    /// What the latest run brought to the host of an output made with
    /// [`Builder::output_to_host`](crate::plan::Builder::output_to_host). Blocks until the run is over. To read it
    /// while the next run is under way, [`Executable::take_host_outputs`] takes it.
    ///
    /// # Errors
    ///
    /// As [`Executable::output`]; the error of the run, unless somebody was told before, who waited for the stream, say;
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an output that stays on the device;
    /// [`ErrorKind::Deadlock`](crate::ErrorKind::Deadlock) where the run waits at an external gate that nobody
    /// signalled, nor can meanwhile.
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
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]))?;
    /// assert_eq!(exe.host_output::<f32>(exe.output_id("y")?)?, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn host_output<T: Element>(&mut self, output: OutputId) -> Result<Vec<T>> {
        let (last, info) = self.last_output(output)?;
        let mut data = vec![T::zeroed(); last.sized.places[info.value as usize].dims.elements()];
        self.host_output_into(output, &mut data)?;
        Ok(data)
    }

    /// As [`Executable::host_output`], into memory of the caller, a [`PinnedBuffer`](crate::PinnedBuffer) for one. It
    /// allocates nothing.
    ///
    /// # Errors
    ///
    /// As [`Executable::host_output`]; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when `to` has
    /// not as many elements as the output.
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
    /// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// let mut roots = [0.0_f32; 2]; // kept and reused
    /// for step in 1..=3 {
    ///     let step = step as f32;
    ///     exe.run(&stream, bind.host(x, &[step * step, 0.0], [2]))?;
    ///     exe.host_output_into(y, &mut roots)?;
    ///     assert_eq!(roots, [step, 0.0]);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn host_output_into<T: Element>(&mut self, output: OutputId, to: &mut [T]) -> Result<()> {
        let (last, info) = self.last_output(output)?;
        let place = &last.sized.places[info.value as usize];
        if info.host {
            check_type::<T>(place.dtype, &info.name)?;
            check_room((&info.name, place.dims.elements()), to.len())?;
        }
        self.host_output_at(output, bytemuck::cast_slice_mut(to))
    }

    /// Reads an output of the host into memory that has its size.
    pub(super) fn host_output_at(&mut self, output: OutputId, to: &mut [u8]) -> Result<()> {
        let read = self.read_output(output, to).map_err(|error| {
            // A refused argument says nothing of the run.
            if error.kind() == ErrorKind::InvalidArgument { error } else { self.outcome.told(error) }
        });
        read.and_then(|()| self.outcome.check())
    }

    fn read_output(&mut self, output: OutputId, to: &mut [u8]) -> Result<()> {
        let plan = self.plan.clone();
        let (last, info) = self.last_output(output)?;
        let name = &plan.0.recipe.outputs[output.index as usize].name;
        let (sized, captured) = (Arc::clone(&last.sized), last.captured);
        if !info.host {
            return Err(stays(name));
        }
        if to.is_empty() {
            return Ok(());
        }
        self.check_reachable(output)?;
        let index = output.index as usize;
        if self.output_buffers().is_some() {
            let delivery = self.last.as_mut().and_then(|last| last.delivery.as_mut()).ok_or_else(were_taken)?;
            delivery.settle(&self.outcome)?;
            to.copy_from_slice(delivery.bytes(index, name)?);
            return Ok(());
        }
        match captured {
            Some(captured) => {
                let captured = self.store.peek_mut(captured).ok_or_else(|| not_given(name))?;
                captured.groups.wait()?;
                let HostSide::Lent(lent) = &captured.hosts.outputs[index] else { return Err(not_given(name)) };
                to.copy_from_slice(&captured.graphs.host(lent)?);
                // A failure that held the run up may have been found only while it was waited for.
                captured.groups.check()
            }
            None => {
                self.eager.wait_sides()?;
                let hosts = self.eager.hosts(&sized.symbols).ok_or_else(|| not_given(name))?;
                to.copy_from_slice(host::here(&mut hosts.outputs[index])?);
                Ok(())
            }
        }
    }

    pub(super) fn last_output(&self, output: OutputId) -> Result<(&Last, &OutputInfo)> {
        if output.executable != self.id {
            return Err(Error::invalid("an output of another executable"));
        }
        let info = &self.plan.0.recipe.outputs[output.index as usize];
        self.outcome.tell_dropped()?;
        let last = self.last.as_ref().filter(|_| !self.outcome.has_failed());
        let last = last
            .ok_or_else(|| format!("output {:?} without a run before that succeeded", info.name))
            .map_err(|text| Error::invalid(self.outcome.why(&text)))?;
        Ok((last, info))
    }

    /// Gives a signal through a gate when `stream` gets there: a run that waits for it goes on. One signal for each
    /// wait. Returns when it is submitted.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a gate of another plan, and for a stream of
    /// another device or library; those of submitting.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{Frozen, Plan};
    ///
    /// let mut gate = None;
    /// let plan = Plan::build(|g| {
    ///     let it = *gate.insert(g.external("gate")?);
    ///     g.wait_external(it)
    /// })?;
    /// let gate = gate.expect("the plan has it");
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (stream, other) = (device.stream()?, device.stream()?);
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// exe.run(&stream, &mut exe.bindings())?; // waits
    /// exe.signal(gate, &other)?; // behind the work of `other` so far
    /// stream.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtValueWrite")]
    #[track_caller]
    pub fn signal(&self, gate: External, stream: &Stream) -> Result<()> {
        let location = Location::caller();
        self.outside(gate, ("gate signal", location), stream)?.signal(gate.index as usize, stream, location)
    }

    /// Makes `stream` wait for a signal that the plan gives through the gate, and take it. Returns when it is
    /// submitted.
    ///
    /// # Errors
    ///
    /// As [`Executable::signal`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::{Frozen, Plan};
    ///
    /// let mut gate = None;
    /// let plan = Plan::build(|g| {
    ///     let it = *gate.insert(g.external("gate")?);
    ///     g.record_external(it)
    /// })?;
    /// let gate = gate.expect("the plan has it");
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (stream, other) = (device.stream()?, device.stream()?);
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// exe.wait_signal(gate, &other)?; // work of `other` from here on waits for the run to get there
    /// exe.run(&stream, &mut exe.bindings())?;
    /// other.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtValueWait")]
    #[track_caller]
    pub fn wait_signal(&self, gate: External, stream: &Stream) -> Result<()> {
        let location = Location::caller();
        self.outside(gate, ("gate wait", location), stream)?.wait(gate.index as usize, stream, location)
    }

    /// The gates, for what `stream` is to do at one of them.
    fn outside(&self, gate: External, named: Named, stream: &Stream) -> Result<&Outside> {
        let memory = stream.0.context().check_memory(self.context.inner(), || "an executable".to_owned());
        let found = memory.and_then(|()| match &self.outside {
            Some(outside) if gate.plan == self.plan.0.id => Ok(outside),
            _ => Err(Error::invalid("a gate of another plan")),
        });
        found.map_err(|error| stream.refuse(named, error))
    }
}

pub(super) fn check_type<T: Element>(dtype: DataType, name: &str) -> Result<()> {
    if dtype.is::<T>() {
        return Ok(());
    }
    Err(Error::invalid(format!("{name:?} holds {dtype:?}, asked for as {:?}", T::TYPE)))
}

fn tensor<T: Element>(piece: &Piece, dtype: DataType, sizes: &[usize], name: &str) -> Result<Tensor<T>> {
    check_type::<T>(dtype, name)?;
    let buffer = SharedBuffer::within(&piece.allocation, piece.offset, piece.bytes / dtype.size());
    Tensor::over(buffer, sizes)
}
