//! Operators whose first phase is made once and whose second phase runs many times, each time on other memory.
//!
//! A first phase checks shapes and plans kernels. An executor that the library makes repeatable keeps what came of
//! it; before a further second phase only the addresses of tensors that moved are replaced. Shapes, strides, types
//! and everything that came from the host stay as they were. Not every operator allows it, nor every release of the
//! library: then there is no [`Repeatable`], and both phases run each time.

use std::cell::Cell;
use std::ffi::c_void;
use std::panic::Location;
use std::sync::Arc;
use std::thread::{self, ThreadId};

use acl_sys::{aclOpExecutor, aclTensor};

use super::executor::{Described, Executor, MOST_TENSORS, Other, Planned, SecondPhase, Target, workspace};
use super::view::{Descriptor, View};
use crate::call::{Caller as _, call};
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::Allocation;
use crate::stream::{Stream, Task};

/// A target that keeps the executor, when the operator and the library allow it, and launches nothing.
#[derive(Clone, Copy)]
pub(crate) struct Keep<'a> {
    pub(crate) stream: &'a Stream,
    /// Empty after an operator that does not allow it.
    pub(crate) kept: &'a Cell<Option<Repeatable>>,
}

/// An executor for any number of second phases on the thread of the first one, with the descriptions that it was
/// planned with. Destroyed with them when it is dropped; work that was submitted does not need it.
pub(crate) struct Repeatable {
    context: Arc<ContextInner>,
    label: &'static str,
    executor: *mut aclOpExecutor,
    /// In the order of the first phase.
    tensors: Vec<Tensor>,
    others: Vec<Other>,
    bytes: u64,
    second: SecondPhase,
    setter: Setter,
    thread: ThreadId,
}

struct Tensor {
    raw: *mut aclTensor,
    /// What the executor has for it now.
    start: *mut c_void,
}

/// The two spellings of one function; older releases have only the second.
#[derive(Clone, Copy)]
enum Setter {
    Plain,
    Capital,
}

// SAFETY: the handles are this value's own. The operator library asks for both phases on one thread, which `launch`
// checks; for the end of an executor or of a description it asks for nothing.
unsafe impl Send for Repeatable {}

impl Target for Keep<'_> {
    fn stream(&self) -> &Stream {
        self.stream
    }

    fn take(self, planned: Planned<'_>, described: impl FnOnce() -> Described) -> Result<()> {
        let Planned { label, executor, bytes, second, starts, .. } = planned;
        let context = self.stream.0.context();
        let setter = match make_repeatable(&executor, context) {
            Ok(setter) => setter,
            Err(error) => {
                log::debug!("{label} cannot be repeated on other memory: {error}");
                return Ok(());
            }
        };
        let Described { tensors, others } = described();
        let tensors = tensors.into_iter().zip(starts).map(|(raw, start)| Tensor { raw, start: *start }).collect();
        self.kept.set(Some(Repeatable {
            context: Arc::clone(context),
            label,
            executor: executor.into_raw(),
            tensors,
            others,
            bytes,
            second,
            setter,
            thread: thread::current().id(),
        }));
        Ok(())
    }
}

fn make_repeatable(executor: &Executor<'_>, context: &ContextInner) -> Result<Setter> {
    let table = context.table();
    let setter = match table.aclSetTensorAddr() {
        Ok(_) => Setter::Plain,
        Err(_) => table.AclSetTensorAddr().map(|_| Setter::Capital)?,
    };
    let raw = executor.raw();
    // SAFETY: takes a live executor, right after its first phase.
    unsafe { call!(context, aclSetAclOpExecutorRepeatable(raw)) }?;
    Ok(setter)
}

impl Repeatable {
    /// Whether this thread may launch it.
    pub(crate) fn is_of_this_thread(&self) -> bool {
        self.thread == thread::current().id()
    }

    /// Submits the operator on the memory of `views`, in the order of the first phase and with the layouts that it
    /// was given. False when the library refuses an address: nothing was submitted then, and the executor is of no
    /// more use.
    pub(crate) fn launch<'v>(
        &mut self,
        stream: &Stream,
        views: impl Iterator<Item = &'v View<'v>> + Clone,
        location: &'static Location<'static>,
    ) -> Result<bool> {
        let first = views.clone().next().filter(|_| views.clone().count() == self.tensors.len());
        let Some(first) = first.filter(|_| self.is_of_this_thread()) else {
            let text = format!("{} repeated with other tensors, or on another thread", self.label);
            return Err(Error::new(ErrorKind::Internal, text));
        };
        for (index, view) in views.clone().enumerate() {
            stream.check_device(view.context_inner())?;
            if let Err(error) = self.set_start(index, view.start) {
                log::debug!("{} takes no other address for tensor {index}: {error}", self.label);
                return Ok(false);
            }
        }
        let mut uses = [first.allocation(); MOST_TENSORS];
        uses.iter_mut().zip(views).for_each(|(slot, view)| *slot = view.allocation());
        self.submit(stream, &uses[..self.tensors.len()], location).map(|()| true)
    }

    /// Gives a tensor other memory, if it is other memory.
    fn set_start(&mut self, index: usize, start: *mut c_void) -> Result<()> {
        let (context, executor) = (&*self.context, self.executor);
        let tensor = &mut self.tensors[index];
        if tensor.start == start {
            return Ok(());
        }
        let raw = tensor.raw;
        match self.setter {
            // SAFETY: a live executor with the tensor that it was planned with at this index; the address is stored.
            Setter::Plain => unsafe { call!(context, aclSetTensorAddr(executor, index, raw, start)) },
            // SAFETY: as above.
            Setter::Capital => unsafe { call!(context, AclSetTensorAddr(executor, index, raw, start)) },
        }?;
        tensor.start = start;
        Ok(())
    }

    fn submit(&self, stream: &Stream, uses: &[&Arc<Allocation>], location: &'static Location<'static>) -> Result<()> {
        let workspace = workspace(stream, self.bytes)?;
        let scratch = workspace.as_ref();
        let address = scratch.map_or(std::ptr::null_mut(), |workspace| workspace.address());
        stream.0.submit(&Task { label: self.label, location, uses, scratch }, |raw| {
            // SAFETY: the executor comes from this operator's first phase on this thread and may be used any number
            // of times; the workspace has the bytes that it asked for; the memory of the tensors is registered with
            // the stream.
            unsafe { (self.second)(&self.context, address, self.bytes, self.executor, raw) }
        })?;
        Ok(())
    }
}

impl Drop for Repeatable {
    fn drop(&mut self) {
        let context = &*self.context;
        drop(Executor::own(self.executor, context));
        for tensor in &self.tensors {
            drop(Descriptor::own(tensor.raw, context));
        }
        for other in std::mem::take(&mut self.others) {
            other.destroy(context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::nn::arithmetic::add_at;
    use crate::op::{Factor, Tensor};

    fn planned(stream: &Stream, [a, b, out]: [&Tensor<f32>; 3]) -> Option<Repeatable> {
        let kept = Cell::new(None);
        let one = stream.0.context().ones.get::<f32>(stream.0.context()).unwrap();
        let views = [&a.view(), &b.view(), &out.view()];
        add_at(Keep { stream, kept: &kept }, views, Factor::Shared(one), Location::caller()).unwrap();
        kept.into_inner()
    }

    fn launch(kept: &mut Repeatable, stream: &Stream, tensors: &[&Tensor<f32>]) -> Result<bool> {
        let views: Vec<_> = tensors.iter().map(|tensor| tensor.view()).collect();
        kept.launch(stream, views.iter(), Location::caller())
    }

    #[test]
    fn one_first_phase_serves_many_second_phases_on_other_memory() {
        let device = crate::Acl::mock().unwrap().device(0).unwrap();
        let stream = device.stream().unwrap();
        let tensor = |value: f32| device.upload_tensor(&[value; 2], [2]).unwrap();
        let (a, b, out) = (tensor(1.0), tensor(2.0), tensor(0.0));
        let mut kept = planned(&stream, [&a, &b, &out]).unwrap();
        let results: Vec<_> = (0..4)
            .map(|turn| {
                let (x, y) = (tensor(turn as f32), tensor(0.0));
                assert!(launch(&mut kept, &stream, &[&x, &b, &y]).unwrap());
                y
            })
            .collect();
        for (turn, y) in results.iter().enumerate() {
            assert_eq!(y.to_vec().unwrap(), [turn as f32 + 2.0; 2]);
        }
        assert_eq!(out.to_vec().unwrap(), [0.0; 2], "nothing was launched there");
    }

    #[test]
    fn other_tensors_and_other_threads_are_refused() {
        let device = crate::Acl::mock().unwrap().device(0).unwrap();
        let stream = device.stream().unwrap();
        let tensor = device.zeros::<f32>([2]).unwrap();
        let other = device.zeros::<f32>([2]).unwrap();
        let mut kept = planned(&stream, [&tensor, &other, &tensor]).unwrap();
        assert_eq!(launch(&mut kept, &stream, &[&tensor]).unwrap_err().kind(), ErrorKind::Internal);
        let there = || launch(&mut kept, &stream, &[&tensor, &other, &tensor]).unwrap_err().kind();
        let kind = std::thread::scope(|scope| scope.spawn(there).join().unwrap());
        assert_eq!(kind, ErrorKind::Internal);
        assert!(launch(&mut kept, &stream, &[&tensor, &other, &tensor]).unwrap());
    }
}
