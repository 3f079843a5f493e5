//! Host outputs of one run, apart from the executable.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::op::{DataType, Element, Shape};
use crate::plan::Plan;

use super::bindings::OutputId;
use super::delivery::Delivery;
use super::executable::Executable;
use super::outcome::Outcome;
use super::piece::Place;
use super::results::check_type;

/// What one run brought to the host, given by [`Executable::take_host_outputs`]: it can be read while later runs are
/// under way, and after the executable is gone. Reading waits for its run, never for a later one. `Send`, not `Sync`.
///
/// Dropping it does not wait: the pinned memory goes back, and a run that is given it waits for the copies. Only when
/// the executable, or the graph of the run, is gone, the memory is freed, as by dropping a
/// [`Lent`](crate::Lent) for each output. Leaking it leaks the memory and nothing else.
///
/// # Examples
///
/// Each run is read while the next one is under way:
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Frozen, Input, Plan, RunOptions};
///
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [2], F32, Input::Host)?;
///     let y = g.muls(x, 2.0)?;
///     g.output_to_host("y", y)
/// })?;
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut exe = plan.executable(&device, &RunOptions::new().host_output_buffers(2), Frozen::new())?;
/// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
/// let (mut before, mut all) = (None, Vec::new());
/// for step in 0..5 {
///     exe.run(&stream, bind.host(x, &[step as f32; 2], [2]))?;
///     if let Some(mut before) = before.replace(exe.take_host_outputs()?) {
///         all.extend(before.read::<f32>(y)?);
///     }
/// }
/// drop(exe);
/// all.extend(before.take().expect("there were runs").read::<f32>(y)?);
/// assert_eq!(all, [0.0, 0.0, 2.0, 2.0, 4.0, 4.0, 6.0, 6.0, 8.0, 8.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use = "the memory goes back when this is dropped"]
pub struct HostOutputs {
    pub(super) delivery: Delivery,
    pub(super) outcome: Arc<Outcome>,
    plan: Plan,
    executable: u64,
}

impl Executable {
    /// The host outputs of the latest run, to be read when later runs were submitted already. Does not wait. With
    /// [`RunOptions::host_output_buffers`](super::RunOptions::host_output_buffers) of 2 and more, in either mode.
    ///
    /// [`Executable::host_output`] has nothing to read then until the next run; [`Executable::output`], on the
    /// device, has.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] with one buffer, for a plan without [host
    /// outputs](crate::plan::Builder::output_to_host), before the first run, after one that failed as far as anybody
    /// was told, and when they were taken.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.executable(&device, &RunOptions::new().host_output_buffers(2), Frozen::new())?;
    /// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]))?;
    /// let mut first = exe.take_host_outputs()?;
    /// exe.run(&stream, bind.host(x, &[9.0_f32, 16.0], [2]))?;
    /// assert_eq!(exe.host_output::<f32>(y)?, [3.0, 4.0]);
    /// assert_eq!(first.read::<f32>(y)?, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "double_buffering")]
    pub fn take_host_outputs(&mut self) -> Result<HostOutputs> {
        if self.output_buffers().is_none() {
            let text =
                "host outputs are taken with RunOptions::host_output_buffers of 2 and more, of a plan that has some";
            return Err(Error::invalid(text));
        }
        self.outcome.tell_dropped()?;
        let last = self.last.as_mut().filter(|_| !self.outcome.has_failed());
        let last = last.ok_or_else(|| Error::invalid("host outputs without a run before that succeeded"))?;
        let delivery = last.delivery.take().ok_or_else(were_taken)?;
        let (outcome, plan) = (Arc::clone(&self.outcome), self.plan.clone());
        Ok(HostOutputs { delivery, outcome, plan, executable: self.id })
    }
}

/// The memory of the latest run is somebody else's.
pub(super) fn were_taken() -> Error {
    Error::invalid("the host outputs of the latest run were taken")
}

impl HostOutputs {
    /// Whether reading would not wait. Does not block. A run that failed is ready, too; reading says how it ended.
    ///
    /// # Errors
    ///
    /// Those of asking the device.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.executable(&device, &RunOptions::new().host_output_buffers(2), Frozen::new())?;
    /// let (x, mut bind) = (exe.input("x")?, exe.bindings());
    /// racl::mock::hold(&stream)?; // nothing of it runs
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]))?;
    /// let outputs = exe.take_host_outputs()?;
    /// assert!(!outputs.is_ready()?);
    /// racl::mock::release(&stream)?;
    /// stream.synchronize()?;
    /// assert!(outputs.is_ready()?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtQueryEventStatus")]
    pub fn is_ready(&self) -> Result<bool> {
        self.delivery.is_over()
    }

    /// The elements of an output in order. Blocks until the run is over; later ones may wait or be under way.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for an output of another type or executable, or one that stays on the device.
    /// The error of the run, unless somebody was told before: then, and at each further read,
    /// [`ErrorKind::InvalidArgument`]. The library tells a failure once and not of which run it is: of the runs
    /// that were submitted by then, only those that were read before are known to be good, and all others are refused.
    /// Refused as well is one that was read too late: that a host function panicked, or that was
    /// [let through at a gate](Executable#), meanwhile, since it may have been of this run.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.executable(&device, &RunOptions::new().host_output_buffers(2), Frozen::new())?;
    /// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]))?;
    /// let mut outputs = exe.take_host_outputs()?;
    /// let reader = std::thread::spawn(move || outputs.read::<f32>(y));
    /// exe.run(&stream, bind.host(x, &[9.0_f32, 16.0], [2]))?;
    /// assert_eq!(reader.join().expect("it does not panic")?, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSynchronizeEvent")]
    pub fn read<T: Element>(&mut self, output: OutputId) -> Result<Vec<T>> {
        self.as_slice(output).map(<[T]>::to_vec)
    }

    /// As [`HostOutputs::read`], into memory of the caller. It allocates nothing.
    ///
    /// # Errors
    ///
    /// As [`HostOutputs::read`]; [`ErrorKind::InvalidArgument`] when `to` has not as many elements as the output.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.executable(&device, &RunOptions::new().host_output_buffers(2), Frozen::new())?;
    /// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]))?;
    /// let mut roots = [0.0_f32; 2];
    /// exe.take_host_outputs()?.read_into(y, &mut roots)?;
    /// assert_eq!(roots, [1.0, 2.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn read_into<T: Element>(&mut self, output: OutputId, to: &mut [T]) -> Result<()> {
        let name = self.check::<T>(output)?;
        let elements = self.delivery.place(output.index as usize).map_or(0, |place| place.dims.elements());
        check_room((name, elements), to.len())?;
        to.copy_from_slice(self.as_slice(output)?);
        Ok(())
    }

    /// As [`HostOutputs::read_into`], as bytes.
    ///
    /// # Errors
    ///
    /// As [`HostOutputs::read_into`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.executable(&device, &RunOptions::new().host_output_buffers(2), Frozen::new())?;
    /// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]))?;
    /// let mut outputs = exe.take_host_outputs()?;
    /// let (dtype, shape) = outputs.form(y)?;
    /// let mut bytes = vec![0; shape.iter().product::<usize>() * dtype.size()];
    /// outputs.read_bytes(y, &mut bytes)?;
    /// assert_eq!(bytes[4..], 2.0_f32.to_ne_bytes());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn read_bytes(&mut self, output: OutputId, to: &mut [u8]) -> Result<()> {
        let (name, place) = self.look_up(output)?;
        let bytes = place.dims.elements() * place.dtype.size();
        if to.len() != bytes {
            let room = to.len();
            return Err(Error::invalid(format!("output {name:?} has {bytes} bytes, the memory for it {room}")));
        }
        self.delivery.settle(&self.outcome)?;
        let name = &self.plan.0.recipe.outputs[output.index as usize].name;
        to.copy_from_slice(self.delivery.bytes(output.index as usize, name)?);
        Ok(())
    }

    /// The type and the shape that an output has in this run. Does not wait. [`HostOutputs::read_bytes`] shows it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for an output of another executable, or one that stays on the device.
    pub fn form(&self, output: OutputId) -> Result<(DataType, Shape)> {
        self.look_up(output).map(|(_, place)| (place.dtype, place.dims))
    }

    /// As [`HostOutputs::read`], in the pinned memory itself.
    ///
    /// # Errors
    ///
    /// As [`HostOutputs::read`]; [`ErrorKind::NotSupported`] when the library gave memory that is not aligned for the
    /// type.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan, RunOptions};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Host)?;
    ///     let y = g.sqrt(x)?;
    ///     g.output_to_host("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.executable(&device, &RunOptions::new().host_output_buffers(2), Frozen::new())?;
    /// let (x, y, mut bind) = (exe.input("x")?, exe.output_id("y")?, exe.bindings());
    /// exe.run(&stream, bind.host(x, &[1.0_f32, 4.0], [2]))?;
    /// let mut outputs = exe.take_host_outputs()?;
    /// assert_eq!(outputs.as_slice::<f32>(y)?.iter().sum::<f32>(), 3.0);
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn as_slice<T: Element>(&mut self, output: OutputId) -> Result<&[T]> {
        self.check::<T>(output)?;
        self.delivery.settle(&self.outcome)?;
        let name = &self.plan.0.recipe.outputs[output.index as usize].name;
        let bytes = self.delivery.bytes(output.index as usize, name)?;
        if bytes.is_empty() {
            return Ok(&[]);
        }
        bytemuck::try_cast_slice(bytes).map_err(|error| {
            Error::new(ErrorKind::NotSupported, format!("output {name:?} in pinned memory as {:?}: {error}", T::TYPE))
        })
    }

    /// That an output can be read; gives its name.
    fn check<T: Element>(&self, output: OutputId) -> Result<&str> {
        let (name, place) = self.look_up(output)?;
        check_type::<T>(place.dtype, name).map(|()| name)
    }

    fn look_up(&self, output: OutputId) -> Result<(&str, Place)> {
        if output.executable != self.executable {
            return Err(Error::invalid("an output of another executable"));
        }
        let name = &self.plan.0.recipe.outputs[output.index as usize].name;
        let place = self.delivery.place(output.index as usize).ok_or_else(|| stays(name))?;
        Ok((name, place))
    }
}

/// An output that nothing brings to the host.
pub(super) fn stays(name: &str) -> Error {
    Error::invalid(format!("output {name:?} stays on the device; output_to_host brings it"))
}

/// That memory of the caller has room for exactly what an output has.
pub(super) fn check_room((name, elements): (&str, usize), room: usize) -> Result<()> {
    if elements == room {
        return Ok(());
    }
    Err(Error::invalid(format!("output {name:?} has {elements} elements, the memory for it {room}")))
}

impl fmt::Debug for HostOutputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostOutputs").field("plan", &self.plan).finish_non_exhaustive()
    }
}
