//! What an executable gives: outputs, memory of static inputs, and signals.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::memory::DeviceBuffer;
use crate::op::{DataType, Element, Tensor};
use crate::plan::builder::External;
use crate::plan::recipe::{Input, OutputInfo};
use crate::stream::Stream;

use super::bindings::{InputId, OutputId};
use super::executable::{Executable, Last, not_given};
use super::host;
use super::issue::HostSide;
use super::output::Output;
use super::outside::Outside;
use super::piece::Piece;

impl Executable {
    /// Memory of a static input, to be written between runs: [`Tensor::write`] waits for the run before.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an input of another class, type or
    /// executable.
    pub fn static_input<T: Element>(&self, input: InputId) -> Result<Tensor<T>> {
        let declared = match self.declared.inputs.get(input.index as usize) {
            Some(declared) if input.executable == self.id => declared,
            _ => return Err(Error::invalid("an input of another executable")),
        };
        let name = &declared.name;
        if declared.class != Input::Static {
            return Err(Error::invalid(format!("input {name:?} is not static")));
        }
        let piece = self.fixed.inputs[input.index as usize].as_ref().ok_or_else(|| not_given(name))?;
        let sizes: Vec<usize> = declared.dims.iter().filter_map(|dim| dim.as_fixed()).collect();
        tensor(piece, declared.dtype, &sizes, name)
    }

    /// An output of the latest run. It can be read until the next run, which the borrow keeps away.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) before the first run, after an eager
    /// one that failed, and for another type or executable.
    pub fn output<T: Element>(&self, output: OutputId) -> Result<Output<'_, T>> {
        let (last, info) = self.last_output(output)?;
        let place = &last.sized.places[info.value as usize];
        let piece = last.sized.pieces[place.storage as usize].as_ref().ok_or_else(|| not_given(&info.name))?;
        let tensor = tensor(piece, place.dtype, &place.dims, &info.name)?;
        Ok(Output { tensor, executable: PhantomData })
    }

    /// What the latest run brought to the host of an output made with
    /// [`Builder::output_to_host`](crate::plan::Builder::output_to_host). Blocks until the run is over.
    ///
    /// # Errors
    ///
    /// As [`Executable::output`]; the error of the run;
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an output that stays on the device.
    pub fn host_output<T: Element>(&mut self, output: OutputId) -> Result<Vec<T>> {
        let (last, info) = self.last_output(output)?;
        let (host, name, place) = (info.host, info.name.clone(), last.sized.places[info.value as usize]);
        let (sized, captured) = (Arc::clone(&last.sized), last.captured);
        if !host {
            return Err(Error::invalid(format!("output {name:?} stays on the device; output_to_host brings it")));
        }
        check_type::<T>(place.dtype, &name)?;
        if place.dims.elements() == 0 {
            return Ok(Vec::new());
        }
        let index = output.index as usize;
        let read = |bytes: &[u8]| {
            let mut data = vec![T::zeroed(); place.dims.elements()];
            bytemuck::cast_slice_mut(&mut data).copy_from_slice(bytes);
            data
        };
        match captured {
            Some(captured) => {
                let captured = self.store.peek_mut(captured).ok_or_else(|| not_given(&name))?;
                captured.groups.wait()?;
                let HostSide::Lent(lent) = &captured.hosts.outputs[index] else { return Err(not_given(&name)) };
                Ok(read(&captured.graph.host(lent)?))
            }
            None => {
                self.eager.wait_sides()?;
                let hosts = self.eager.hosts(&sized.symbols).ok_or_else(|| not_given(&name))?;
                Ok(read(host::here(&mut hosts.outputs[index])?))
            }
        }
    }

    fn last_output(&self, output: OutputId) -> Result<(&Last, &OutputInfo)> {
        if output.executable != self.id {
            return Err(Error::invalid("an output of another executable"));
        }
        let info = &self.plan.0.recipe.outputs[output.index as usize];
        let last = self.last.as_ref();
        let last = last
            .ok_or_else(|| Error::invalid(format!("output {:?} without a run before that succeeded", info.name)))?;
        Ok((last, info))
    }

    /// Gives a signal through a gate when `stream` gets there: a run that waits for it goes on. One signal for each
    /// wait.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a gate of another plan; those of
    /// submitting.
    #[doc(alias = "aclrtValueWrite")]
    #[track_caller]
    pub fn signal(&self, gate: External, stream: &Stream) -> Result<()> {
        self.outside(gate)?.signal(gate.index as usize, stream, Location::caller())
    }

    /// Makes `stream` wait for a signal that the plan gives through the gate, and take it.
    ///
    /// # Errors
    ///
    /// As [`Executable::signal`].
    #[doc(alias = "aclrtValueWait")]
    #[track_caller]
    pub fn wait_signal(&self, gate: External, stream: &Stream) -> Result<()> {
        self.outside(gate)?.wait(gate.index as usize, stream, Location::caller())
    }

    fn outside(&self, gate: External) -> Result<&Outside> {
        match &self.outside {
            Some(outside) if gate.plan == self.plan.0.id => Ok(outside),
            _ => Err(Error::invalid("a gate of another plan")),
        }
    }
}

fn check_type<T: Element>(dtype: DataType, name: &str) -> Result<()> {
    if T::TYPE == dtype {
        return Ok(());
    }
    Err(Error::invalid(format!("{name:?} holds {dtype:?}, asked for as {:?}", T::TYPE)))
}

fn tensor<T: Element>(piece: &Piece, dtype: DataType, sizes: &[usize], name: &str) -> Result<Tensor<T>> {
    check_type::<T>(dtype, name)?;
    let buffer = DeviceBuffer::within(&piece.allocation, piece.offset, piece.bytes / dtype.size());
    Tensor::over(buffer, sizes)
}
