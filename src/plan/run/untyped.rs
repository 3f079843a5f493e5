//! Inputs and outputs whose element type is known when the program runs: for bindings to other languages, and for
//! programs that are given plans.

use std::fmt;
use std::panic::Location;

use crate::error::{Error, Result};
use crate::memory::DeviceRead as _;
use crate::op::{AnyTensor, DataType, Shape};
use crate::stream::Stream;

use super::bindings::{Bindable as _, InputId, OutputId};
use super::executable::Executable;
use super::found::FoundId;
use super::issue::At;
use super::outcome::Outcome;
use super::piece::Piece;

/// An output of the latest run, of any type, from [`Executable::output_any`].
pub struct AnyOutput<'a> {
    piece: &'a Piece,
    dtype: DataType,
    shape: Shape,
    outcome: &'a Outcome,
}

impl AnyOutput<'_> {
    /// The type of its elements.
    #[must_use]
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Its shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its bytes.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.shape.elements() * self.dtype.size()
    }

    /// Waits for the run and copies the output to the host.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a place of another size; otherwise as
    /// [`Output::to_vec`](crate::plan::Output::to_vec).
    #[track_caller]
    pub fn read_into(&self, to: &mut [u8]) -> Result<()> {
        let bytes = self.size_bytes();
        if to.len() != bytes {
            return Err(Error::invalid(format!("an output of {bytes} bytes into {}", to.len())));
        }
        self.outcome.check()?;
        if bytes > 0 {
            let memory = Piece { bytes, ..self.piece.clone() }.buffer();
            let read = memory.as_slice().read(to);
            read.map_err(|error| self.outcome.told(error))?;
        }
        self.outcome.check()
    }

    /// Copies the output to a dense tensor of its type and shape when the stream gets there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a tensor of another type or shape, with
    /// gaps, or of another device; otherwise as [`Output::copy_to`](crate::plan::Output::copy_to).
    #[doc(alias = "aclrtMemcpyAsync")]
    #[track_caller]
    pub fn copy_to(&self, stream: &Stream, to: &mut AnyTensor) -> Result<()> {
        let at = Location::caller();
        self.copy_at(stream, to, at).map_err(|error| stream.refuse(("copy of an output", at), error))
    }

    fn copy_at(&self, stream: &Stream, to: &AnyTensor, at: At) -> Result<()> {
        self.outcome.check()?;
        let bound = to.bound()?;
        let is_same = bound.tensor.is_some_and(|(dtype, shape)| self.dtype.takes(dtype) && shape == self.shape);
        if !is_same {
            let (dtype, shape) = (self.dtype, self.shape);
            return Err(Error::invalid(format!("an output of {dtype:?} {shape} copied to {to:?}")));
        }
        let (from, to) = (Piece { bytes: self.size_bytes(), ..self.piece.clone() }, bound.piece());
        stream.check_device(from.allocation.context())?;
        stream.check_device(to.allocation.context())?;
        from.copy_to(stream, &to, at)
    }
}

impl fmt::Debug for AnyOutput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyOutput").field("dtype", &self.dtype).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl Executable {
    /// As [`Executable::output`], of the type that the plan says.
    ///
    /// # Errors
    ///
    /// As [`Executable::output`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{AnyTensor, DataType::F32};
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     g.output("y", g.sqrt(x)?)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = AnyTensor::from(device.upload_tensor(&[1.0_f32, 4.0], [2])?);
    /// let mut bind = exe.bindings();
    /// exe.run(&stream, bind.set(exe.input("x")?, &x))?;
    /// let (y, mut bytes) = (exe.output_any(exe.output_id("y")?)?, [0; 8]);
    /// y.read_into(&mut bytes)?;
    /// assert_eq!((y.dtype(), &bytes[4..]), (F32, &2.0_f32.to_ne_bytes()[..]));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn output_any(&self, output: OutputId) -> Result<AnyOutput<'_>> {
        let (piece, place, _) = self.output_memory(output)?;
        Ok(AnyOutput { piece, dtype: place.dtype, shape: place.dims, outcome: &self.outcome })
    }

    /// As [`Executable::found`], of the type that the plan says. Blocks until the run is over.
    ///
    /// # Errors
    ///
    /// As [`Executable::found`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     g.output_found("places", g.nonzero(x)?)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = device.upload_tensor(&[0.0_f32, 0.0, 7.0, 8.0], [4])?;
    /// let (id, places, mut bind) = (exe.input("x")?, exe.found_id("places")?, exe.bindings());
    /// exe.run(&stream, bind.set(id, &x))?;
    /// let (found, mut bytes) = (exe.found_any(places)?, [0; 16]);
    /// found.read_into(&mut bytes)?;
    /// assert_eq!((&found.shape()[..], &bytes[..8]), (&[2, 1][..], &2_i64.to_ne_bytes()[..]));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn found_any(&mut self, found: FoundId) -> Result<AnyOutput<'_>> {
        let rows = self.found_count(found)?;
        let all = self.output_any(found.values)?;
        Ok(AnyOutput { shape: all.shape.resized(0, rows), ..all })
    }

    /// As [`Executable::host_output_into`], as bytes.
    ///
    /// # Errors
    ///
    /// As [`Executable::host_output_into`]; [`Bindings::host_bytes`](crate::plan::Bindings::host_bytes) has an
    /// example.
    pub fn host_output_bytes(&mut self, output: OutputId, to: &mut [u8]) -> Result<()> {
        let (last, info) = self.last_output(output)?;
        let place = &last.sized.places[info.value as usize];
        let bytes = place.dims.elements() * place.dtype.size();
        if info.host && to.len() != bytes {
            let (name, room) = (&info.name, to.len());
            return Err(Error::invalid(format!("output {name:?} has {bytes} bytes, the memory for it {room}")));
        }
        self.host_output_at(output, to)
    }

    /// As [`Executable::static_input`], of the type that the plan says.
    ///
    /// # Errors
    ///
    /// As [`Executable::static_input`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Static)?;
    ///     g.output("y", g.sqrt(x)?)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let exe = plan.capture(&device, Frozen::new())?;
    /// exe.static_input_any(exe.input("x")?)?.typed::<f32>()?.write(&[1.0, 4.0])?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn static_input_any(&self, input: InputId) -> Result<AnyTensor> {
        let (piece, dtype, sizes) = self.static_memory(input)?;
        AnyTensor::over(piece.buffer(), dtype, &sizes[..])
    }

    /// As [`Executable::copied_input`], of the type that the plan says.
    ///
    /// # Errors
    ///
    /// As [`Executable::copied_input`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     g.output("y", g.sqrt(x)?)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = exe.copied_input_any(exe.input("x")?)?;
    /// x.typed::<f32>()?.write(&[1.0, 4.0])?;
    /// exe.bindings().set(exe.input("x")?, &x).check()?; // a run with it copies nothing
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn copied_input_any(&mut self, input: InputId) -> Result<AnyTensor> {
        let (piece, dtype, shape) = self.copied_memory(input)?;
        let tensor = AnyTensor::over(piece.buffer(), dtype, &shape[..])?;
        self.lend(input, piece);
        Ok(tensor)
    }
}
