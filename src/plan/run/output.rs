//! Results of a run.

use std::fmt;
use std::panic::Location;

use crate::error::{Error, Result};
use crate::op::{Element, Shape, Tensor};
use crate::stream::Stream;

use super::bindings::Bindable as _;
use super::outcome::Outcome;
use super::piece::Piece;

/// An output of the latest run, until the next one writes over it: the borrow ends before
/// [`Executable::run`](super::Executable::run) can be called again.
pub struct Output<'a, T: Element> {
    pub(super) tensor: Tensor<T>,
    pub(super) outcome: &'a Outcome,
}

impl<T: Element> Output<'_, T> {
    /// Sizes of the dimensions.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.tensor.shape()
    }

    /// The elements in order. Blocks: waits for the run, then for the copy.
    ///
    /// # Errors
    ///
    /// As [`Tensor::to_vec`]. Once anybody was told that the run failed, here or where its stream, an event behind it
    /// or the device was waited for, each read of an output is refused until the next run.
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.outcome.check()?;
        let read = self.tensor.to_vec();
        let data = read.map_err(|error| self.outcome.told(error))?;
        self.outcome.check().map(|()| data)
    }

    /// Copies the output to `to` when `stream` gets there, [after the run](Stream#order-between-streams). Later runs do
    /// not change the copy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for another shape, a tensor with gaps, or
    /// memory of another device.
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
    /// let mut kept = device.zeros::<f32>([2])?;
    /// exe.static_input::<f32>(exe.input("x")?)?.write(&[1.0, 2.0])?;
    /// exe.run(&stream, &mut exe.bindings())?;
    /// exe.output::<f32>(exe.output_id("y")?)?.copy_to(&stream, &mut kept)?;
    /// exe.run(&stream, &mut exe.bindings())?; // writes over the output, not over the copy
    /// assert_eq!(kept.to_vec()?, [3.0, 8.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyAsync")]
    #[track_caller]
    pub fn copy_to(&self, stream: &Stream, to: &mut Tensor<T>) -> Result<()> {
        let at = Location::caller();
        self.copy_at(stream, to, at).map_err(|error| stream.refuse(("copy of an output", at), error))
    }

    fn copy_at(&self, stream: &Stream, to: &mut Tensor<T>, at: &'static Location<'static>) -> Result<()> {
        self.outcome.check()?;
        if to.shape() != self.tensor.shape() {
            let (shape, other) = (self.tensor.shape(), to.shape());
            return Err(Error::invalid(format!("an output of shape {shape} copied to a tensor of shape {other}")));
        }
        let (from, to): (Piece, Piece) = (self.tensor.bound()?.piece(), to.bound()?.piece());
        stream.check_device(from.allocation.context())?;
        stream.check_device(to.allocation.context())?;
        from.copy_to(stream, &to, at)
    }
}

impl<T: Element> fmt::Debug for Output<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Output").field(&self.tensor).finish()
    }
}
