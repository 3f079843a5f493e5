//! Operators whose first phase is made once and whose second phase runs many times, each time on other memory.
//!
//! A first phase checks shapes and plans kernels. An executor that the library makes repeatable keeps what came of
//! it; before a further second phase only the addresses of tensors that moved are replaced. Shapes, strides, types
//! and everything that came from the host stay as they were. Not every operator allows it, nor every release of the
//! library: then there is no [`Kept`], and both phases run each time.

use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::panic::Location;
use std::sync::Arc;

use acl_sys::aclOpExecutor;

use super::argument::{Arg, Object, Objects, Slot};
use super::executor::{Call, Executor, Function, Index, Memory, workspace};
use super::few::Few;
use crate::call::{Caller as _, call};
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::{ThreadNumber, say};
use crate::memory::{Allocation, Touch};
use crate::stream::{Scratch, Stream, Task, Workspace};

/// A target that keeps the executor, when the operator and the library allow it, and launches nothing.
#[derive(Clone, Copy)]
pub(crate) struct Keep<'a> {
    pub(crate) stream: &'a Stream,
    /// Empty after an operator that does not allow it.
    pub(crate) kept: &'a Cell<Option<Repeatable>>,
}

impl Keep<'_> {
    pub(super) fn keep(self, call: &Call<'_>) -> Result<()> {
        let context = self.stream.0.context();
        let memory = call.memory(self.stream)?;
        let Some(setter) = Setter::of(context).filter(|_| memory.is_plain) else {
            return Ok(());
        };
        let kept = match Kept::plan(context, call, &memory, setter)? {
            Ok(kept) => kept,
            Err(error) => {
                say!(Debug, "{} cannot be repeated on other memory: {error}", call.label);
                return Ok(());
            }
        };
        let (context, label, thread) = (Arc::clone(context), call.label, ThreadNumber::here());
        self.kept.set(Some(Repeatable { context, label, kept, thread, launched: false }));
        Ok(())
    }
}

/// An executor for any number of second phases, with the descriptions that it was planned with. [`Kept::destroy`] ends
/// it; work that was submitted does not need it.
pub(super) struct Kept {
    function: &'static Function,
    executor: *mut aclOpExecutor,
    made: Vec<Object>,
    /// Told to the first phase; kept as long as the executor.
    _texts: Vec<CString>,
    /// In the order of the first phase.
    tensors: Vec<Tensor>,
    bytes: u64,
    setter: Setter,
}

struct Tensor {
    /// The tensor, or the list that it is in.
    raw: *mut c_void,
    index: Index,
    /// What the executor has for it now.
    start: *mut c_void,
}

/// The functions that give tensors of an executor other addresses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setter {
    spelling: Spelling,
    /// Whether those are there that take lists, and that count what is read apart from what is written.
    lists: bool,
}

/// The two spellings of the function that takes any tensor; older releases have only the second.
#[derive(Debug, Clone, Copy)]
enum Spelling {
    Plain,
    Capital,
}

impl Setter {
    /// None when the library cannot repeat executors.
    pub(super) fn of(context: &ContextInner) -> Option<Self> {
        let table = context.table();
        table.aclSetAclOpExecutorRepeatable().ok()?;
        let lists = table.aclSetInputTensorAddr().is_ok()
            && table.aclSetOutputTensorAddr().is_ok()
            && table.aclSetDynamicInputTensorAddr().is_ok()
            && table.aclSetDynamicOutputTensorAddr().is_ok();
        let plain = table.aclSetTensorAddr().ok().map(|_| Spelling::Plain);
        let spelling = plain.or_else(|| table.AclSetTensorAddr().ok().map(|_| Spelling::Capital))?;
        Some(Self { spelling, lists })
    }

    /// The index of each tensor of `call`, in the order of its memory.
    pub(super) fn indices(self, call: &Call<'_>, memory: &Memory<'_>) -> Few<Index> {
        if !memory.is_plain && self.lists {
            return call.indices();
        }
        let mut indices = Few::new();
        for at in 0..memory.starts.as_slice().len() {
            indices.push(if memory.is_plain { Index::Any(at) } else { Index::Unsure });
        }
        indices
    }
}

/// What a kept executor made of memory that moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moved {
    Taken,
    /// The library refused an address; the executor is of no more use.
    Refused,
}

impl Kept {
    /// The first phase of an operator, for many second ones; the inner error when it cannot be repeated. Nothing is
    /// launched.
    pub(super) fn plan(
        context: &ContextInner,
        call: &Call<'_>,
        memory: &Memory<'_>,
        setter: Setter,
    ) -> Result<Result<Self>> {
        let objects = Objects::make(context, call.args)?;
        let (executor, bytes) = call.function.plan(context, &objects)?;
        let raw = executor.raw();
        // SAFETY: takes a live executor, right after its first phase.
        if let Err(error) = unsafe { call!(context, aclSetAclOpExecutorRepeatable(raw)) } {
            return Ok(Err(error));
        }
        let tensors = handles(call, &objects.slots)
            .into_iter()
            .zip(setter.indices(call, memory).as_slice())
            .zip(memory.starts.as_slice())
            .map(|((raw, index), start)| Tensor { raw, index: *index, start: *start })
            .collect();
        let (executor, (made, texts)) = (executor.into_raw(), objects.keep());
        Ok(Ok(Self { function: call.function, executor, made, _texts: texts, tensors, bytes, setter }))
    }

    /// Gives the tensors the addresses `starts`, one for each, in the order of the first phase.
    #[inline]
    pub(super) fn move_to(&mut self, context: &ContextInner, label: &str, starts: &[*mut c_void]) -> Moved {
        for (at, (tensor, start)) in self.tensors.iter_mut().zip(starts).enumerate() {
            if tensor.start == *start {
                continue;
            }
            if let Err(error) = set_address(context, self.setter, self.executor, tensor, *start) {
                say!(Debug, "{label} takes no other address for tensor {at}: {error}");
                return Moved::Refused;
            }
            tensor.start = *start;
        }
        Moved::Taken
    }

    /// The second phase on the memory `uses` that the tensors were given; the first time on the thread of the first
    /// phase.
    #[inline]
    pub(super) fn submit(
        &self,
        stream: &Stream,
        (label, location): (&'static str, &'static Location<'static>),
        uses: &[Touch<'_>],
    ) -> Result<()> {
        let workspace = workspace(stream, self.bytes)?;
        let scratch = Some(Workspace(workspace.as_ref()));
        let address = workspace.as_ref().map_or(std::ptr::null_mut(), Scratch::address);
        let context = &**stream.0.context();
        stream.0.submit(&Task { label, location, uses, scratch }, |raw| {
            // SAFETY: the executor comes from this operator's first phase and may be used any number of times, at first
            // on the thread of that phase, as callers see to; the workspace has the bytes that it asked for; the memory
            // of the tensors is registered with the stream.
            unsafe { self.function.launch(context, (address, self.bytes), self.executor, raw) }
        })?;
        Ok(())
    }

    /// Ends it, once.
    pub(super) fn destroy(&mut self, context: &ContextInner) {
        drop(Executor::own(self.executor, context));
        std::mem::take(&mut self.made).into_iter().for_each(|object| object.destroy(context));
    }
}

#[cfg(all(test, feature = "cache"))]
impl Call<'_> {
    /// Pairs of places, in the order of the first phase, of tensors of which the library takes the second at the index of
    /// the first; none where it cannot repeat the operator.
    pub(crate) fn taken_for_others(&self, stream: &Stream) -> Result<Option<Vec<(usize, usize)>>> {
        let context = &**stream.0.context();
        let memory = self.memory(stream)?;
        let setter = Setter::of(context).unwrap();
        let Ok(mut kept) = Kept::plan(context, self, &memory, setter)? else { return Ok(None) };
        let count = kept.tensors.len();
        let pairs =
            (0..count).flat_map(|at| (0..count).filter(move |other| *other != at).map(move |other| (at, other)));
        let taken = |(at, other): &(usize, usize)| {
            let (Tensor { index, .. }, Tensor { raw, start, .. }) = (&kept.tensors[*at], &kept.tensors[*other]);
            let as_other = Tensor { raw: *raw, index: *index, start: *start };
            // Members of one list have its handle.
            *raw != kept.tensors[*at].raw && set_address(context, setter, kept.executor, &as_other, *start).is_ok()
        };
        let pairs = pairs.filter(taken).collect();
        kept.destroy(context);
        Ok(Some(pairs))
    }
}

fn set_address(
    context: &ContextInner,
    setter: Setter,
    executor: *mut aclOpExecutor,
    tensor: &Tensor,
    start: *mut c_void,
) -> Result<()> {
    let raw = tensor.raw;
    match (tensor.index, setter.spelling) {
        // SAFETY: a live executor with the tensor that it was planned with at this index; the address is stored.
        (Index::Any(at), Spelling::Plain) => unsafe {
            call!(context, aclSetTensorAddr(executor, at, raw.cast(), start))
        },
        // SAFETY: as above.
        (Index::Any(at), Spelling::Capital) => unsafe {
            call!(context, AclSetTensorAddr(executor, at, raw.cast(), start))
        },
        // SAFETY: as above.
        (Index::Input(at), _) => unsafe { call!(context, aclSetInputTensorAddr(executor, at, raw.cast(), start)) },
        // SAFETY: as above.
        (Index::Output(at), _) => unsafe { call!(context, aclSetOutputTensorAddr(executor, at, raw.cast(), start)) },
        // SAFETY: as above, with the list that the tensor is in, at its place there.
        (Index::InputOf(at, place), _) => unsafe {
            call!(context, aclSetDynamicInputTensorAddr(executor, at, place, raw.cast(), start))
        },
        // SAFETY: as above.
        (Index::OutputOf(at, place), _) => unsafe {
            call!(context, aclSetDynamicOutputTensorAddr(executor, at, place, raw.cast(), start))
        },
        (Index::Unsure, _) => Err(Error::new(ErrorKind::NotSupported, "its index is not known")),
    }
}

/// For each tensor of `call`, in the order of its memory, what stands for it: itself, or its list.
fn handles(call: &Call<'_>, slots: &[Slot]) -> Vec<*mut c_void> {
    let of = |(arg, slot): (&Arg<'_>, &Slot)| {
        let count = match arg {
            Arg::Tensor(..) => 1,
            Arg::Tensors(list, _) => list.count(),
            _ => 0,
        };
        std::iter::repeat_n(slot.pointer(), count)
    };
    call.args.iter().zip(slots).flat_map(of).collect()
}

/// A kept executor that destroys itself, for a plan.
///
/// The thread of the first phase launches it first; any thread may from then on, one at a time. What a first phase
/// leaves in its thread is looked at twice: when the executor is made repeatable, which the guide wants right after that
/// phase, and when its first launch notes which addresses it takes from where. Later second phases take all they need
/// from the executor: source of CANN's operator engine (opbase), `CommonOpExecutorRun`, `InitL2Phase2Context`,
/// `SetRepeatable`, which also refuses an executor with memory of its thread's own pool.
pub(crate) struct Repeatable {
    context: Arc<ContextInner>,
    label: &'static str,
    kept: Kept,
    /// Who planned it.
    thread: ThreadNumber,
    launched: bool,
}

// SAFETY: the handles are this value's own. The operator library asks for the first launch on the thread of the first
// phase, which `launch` checks; for later ones, and for the end of an executor or of a description, it asks for nothing.
unsafe impl Send for Repeatable {}

impl Repeatable {
    /// Submits the operator on other memory: for each tensor its allocation and where its storage starts there, in the order
    /// of the first phase and with the layouts that it was given. False when the library refuses an address: nothing was
    /// submitted then, and the executor is of no more use.
    pub(crate) fn launch<'v>(
        &mut self,
        stream: &Stream,
        memory: impl Iterator<Item = Result<(&'v Arc<Allocation>, *mut c_void)>> + Clone,
        location: &'static Location<'static>,
    ) -> Result<bool> {
        let stays = self.launched || self.thread == ThreadNumber::here();
        if !stays || memory.clone().count() != self.kept.tensors.len() {
            let text = format!("{} repeated with other tensors, or launched first on another thread", self.label);
            return Err(Error::new(ErrorKind::Internal, text));
        }
        let (mut uses, mut starts) = (Few::new(), Few::new());
        for storage in memory {
            let (allocation, start) = storage?;
            stream.check_device(allocation.context())?;
            // Which of them are results is not known here.
            uses.push(Touch::written(allocation));
            starts.push(start);
        }
        if self.kept.move_to(&self.context, self.label, starts.as_slice()) == Moved::Refused {
            return Ok(false);
        }
        self.kept.submit(stream, (self.label, location), uses.as_slice())?;
        self.launched = true;
        Ok(true)
    }
}

impl Drop for Repeatable {
    fn drop(&mut self) {
        self.kept.destroy(&self.context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::executor::Target as _;
    use crate::op::{Access, Scalar, Tensor, aclnn};

    fn planned(stream: &Stream, [a, b, out]: [&Tensor<f32>; 3]) -> Option<Repeatable> {
        let kept = Cell::new(None);
        let (label, function) = aclnn::find("aclnnAdd").unwrap();
        let args = [
            Arg::Tensor(a, Access::Read),
            Arg::Tensor(b, Access::Read),
            Arg::Scalar(Scalar::from(1.0_f32)),
            Arg::Tensor(out, Access::Write),
        ];
        let call = Call { function, label, location: Location::caller(), args: &args };
        Keep { stream, kept: &kept }.take(&call).unwrap();
        kept.into_inner()
    }

    fn launch(kept: &mut Repeatable, stream: &Stream, tensors: &[&Tensor<f32>]) -> Result<bool> {
        let views: Vec<_> = tensors.iter().map(|tensor| tensor.view()).collect();
        kept.launch(stream, views.iter().map(|view| Ok((view.allocation, view.start))), Location::caller())
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
    fn other_tensors_are_refused_and_other_threads_before_the_first_launch() {
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
        let there = || launch(&mut kept, &stream, &[&other, &tensor, &other]).unwrap();
        assert!(std::thread::scope(|scope| scope.spawn(there).join().unwrap()));
    }
}
