//! Outputs of which the device decides how much there is.

use crate::error::{Error, Result};
use crate::op::Element;
use crate::plan::recipe::{count_of, rows_found};

use super::bindings::OutputId;
use super::executable::Executable;
use super::output::Output;

/// An output made with [`Builder::output_found`](crate::plan::Builder::output_found), by
/// [`Executable::found_id`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FoundId {
    pub(super) values: OutputId,
    count: OutputId,
}

impl Executable {
    /// An output made with [`Builder::output_found`](crate::plan::Builder::output_found), by name.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that the plan does not have, or that
    /// is another output's.
    pub fn found_id(&self, name: &str) -> Result<FoundId> {
        let values = self.output_id(name)?;
        let count = self.output_id(&count_of(name)).ok().filter(|count| self.counts(*count)).ok_or_else(|| {
            Error::invalid(format!(
                "output {name:?} is all there is: Builder::output_found makes those with a number"
            ))
        })?;
        Ok(FoundId { values, count })
    }

    /// Whether an output is the number of another's rows.
    fn counts(&self, output: OutputId) -> bool {
        self.plan.0.recipe.outputs.get(output.index as usize).is_some_and(|output| output.counts)
    }

    /// How many rows the latest run found. Blocks until the run is over.
    ///
    /// # Errors
    ///
    /// As [`Executable::host_output`]; [`ErrorKind::UnknownValue`](crate::ErrorKind::UnknownValue) for a number that the
    /// output has no room for, which the library's operator wrote.
    ///
    /// # Examples
    ///
    /// See [`Executable::found`].
    pub fn found_count(&mut self, found: FoundId) -> Result<usize> {
        let mut count = [0_i64];
        self.host_output_into(found.count, &mut count)?;
        let most = self.rows(found.values)?;
        rows_found(count[0], most)
    }

    /// What the latest run found: the first rows of the output, as many as came. Blocks until the run is over, for
    /// their number; reading them copies no more than these. With
    /// [`RunOptions::host_output_buffers`](crate::plan::RunOptions::host_output_buffers) the number is one of the
    /// host outputs.
    ///
    /// # Errors
    ///
    /// As [`Executable::found_count`] and [`Executable::output`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 2], F32, Input::Copied)?;
    ///     g.output_found("places", g.nonzero(x)?)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = device.upload_tensor(&[0.0_f32, 0.0, 7.0, 8.0], [2, 2])?;
    /// let (id, places, mut bind) = (exe.input("x")?, exe.found_id("places")?, exe.bindings());
    /// exe.run(&stream, bind.set(id, &x))?;
    /// assert_eq!(exe.found_count(places)?, 2);
    /// let found = exe.found::<i64>(places)?;
    /// assert_eq!((&found.shape()[..], found.to_vec()?), (&[2, 2][..], vec![1, 0, 1, 1]));
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn found<T: Element>(&mut self, found: FoundId) -> Result<Output<'_, T>> {
        let rows = self.found_count(found)?;
        let all = self.output::<T>(found.values)?;
        Ok(Output { tensor: all.tensor.narrow(0, 0..rows)?, outcome: all.outcome })
    }

    /// The first dimension of an output, in the latest run.
    fn rows(&self, output: OutputId) -> Result<usize> {
        let (last, info) = self.last_output(output)?;
        Ok(last.sized.places[info.value as usize].dims.first().copied().unwrap_or(1))
    }
}
