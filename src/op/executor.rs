//! The two phases of an operator.

use std::ffi::c_void;
use std::panic::Location;
use std::sync::Arc;

use acl_sys::{aclIntArray, aclOpExecutor, aclScalar, aclTensor, aclrtStream};

use super::owned::owned;
use super::scalar::{Factor, IntArray, Scalar};
use super::view::Descriptor;
use crate::context::ContextInner;
use crate::error::Result;
use crate::memory::Allocation;
use crate::stream::{Stream, Task};

owned! {
    /// A planned operator that has not been launched.
    Executor, aclOpExecutor, aclDestroyAclOpExecutor
}

/// The second phase of an operator, on a workspace with its bytes.
///
/// # Safety
///
/// The executor comes from the first phase of the same operator, the workspace has the bytes that it asked for, and
/// both they and the memory of the tensors last until the work is done.
pub(crate) type SecondPhase =
    unsafe fn(&ContextInner, *mut c_void, u64, *mut aclOpExecutor, aclrtStream) -> Result<()>;

/// An operator after its first phase.
pub(crate) struct Planned<'a> {
    pub(crate) label: &'static str,
    pub(crate) location: &'static Location<'static>,
    pub(crate) executor: Executor<'a>,
    /// Scratch memory that it asks for.
    pub(crate) bytes: u64,
    pub(crate) second: SecondPhase,
    /// Memory of the tensors, in the order of the first phase.
    pub(crate) uses: &'a [&'a Arc<Allocation>],
    /// Where the storage of each of them starts.
    pub(crate) starts: &'a [*mut c_void],
}

/// What the first phase was told, given up by its owners.
pub(crate) struct Described {
    /// In the order of the first phase.
    pub(crate) tensors: Vec<*mut aclTensor>,
    pub(crate) others: Vec<Other>,
}

/// A description that is no tensor.
pub(crate) enum Other {
    Scalar(*mut aclScalar),
    Array(*mut aclIntArray),
    /// Lives with the context.
    Shared,
}

impl From<Scalar<'_>> for Other {
    fn from(scalar: Scalar<'_>) -> Self {
        Self::Scalar(scalar.into_raw())
    }
}

impl From<IntArray<'_>> for Other {
    fn from(array: IntArray<'_>) -> Self {
        Self::Array(array.into_raw())
    }
}

impl From<Factor<'_>> for Other {
    fn from(factor: Factor<'_>) -> Self {
        match factor {
            Factor::Shared(_) => Self::Shared,
            Factor::Own(scalar) => scalar.into(),
        }
    }
}

impl Other {
    pub(crate) fn destroy(self, context: &ContextInner) {
        match self {
            Self::Scalar(raw) => drop(Scalar::own(raw, context)),
            Self::Array(raw) => drop(IntArray::own(raw, context)),
            Self::Shared => {}
        }
    }
}

/// No operator of this crate has more tensors.
pub(super) const MOST_TENSORS: usize = 8;

impl Described {
    pub(crate) fn new<const N: usize>(tensors: [Descriptor<'_>; N], others: Vec<Other>) -> Self {
        const { assert!(N > 0 && N <= MOST_TENSORS) };
        Self { tensors: tensors.into_iter().map(Descriptor::into_raw).collect(), others }
    }
}

/// Where an operator goes after its first phase.
pub(crate) trait Target: Copy {
    /// Whose context and scratch memory it has.
    fn stream(&self) -> &Stream;

    /// Takes the operator. `described` holds what the first phase was told, and destroys it when it is not called.
    fn take(self, planned: Planned<'_>, described: impl FnOnce() -> Described) -> Result<()>;
}

impl Target for &Stream {
    fn stream(&self) -> &Stream {
        self
    }

    #[inline]
    fn take(self, planned: Planned<'_>, _described: impl FnOnce() -> Described) -> Result<()> {
        let Planned { label, location, executor, bytes, second, uses, .. } = planned;
        let workspace = workspace(self, bytes)?;
        let scratch = workspace.as_ref();
        let address = scratch.map_or(std::ptr::null_mut(), |workspace| workspace.address());
        let context = &**self.0.context();
        self.0.submit(&Task { label, location, uses, scratch }, |raw| {
            // A second phase that fails may or may not have consumed the executor; leaking it then is better than
            // destroying it twice.
            let executor = executor.into_raw();
            // SAFETY: the executor comes from this operator's first phase on this thread and is used once; the
            // workspace has the bytes that it asked for; the memory of the tensors is registered with the stream.
            unsafe { second(context, address, bytes, executor, raw) }
        })?;
        Ok(())
    }
}

/// Scratch memory for an operator that asks for some.
pub(super) fn workspace(stream: &Stream, bytes: u64) -> Result<Option<Arc<Allocation>>> {
    match bytes {
        0 => Ok(None),
        _ => stream.0.workspace(usize::try_from(bytes).unwrap_or(usize::MAX)).map(Some),
    }
}

/// `operator!(target, location, "label", plan(arguments), launch, [tensor: description], keep [other])`: the first
/// phase of an aclnn operator, whose second one is up to the target.
///
/// The arguments are those of the first phase without its two results. Every tensor among them is listed with its
/// description, in the order of the arguments, so that its memory is checked and kept; and every other description
/// that is the caller's.
macro_rules! operator {
    ($target:expr, $location:expr, $label:literal, $plan:ident($($argument:expr),* $(,)?), $launch:ident,
     [$($tensor:ident: $description:ident),*] $(, keep [$($other:ident),*])? $(,)?) => {{
        /// SAFETY: as [`SecondPhase`](crate::op::executor::SecondPhase) says.
        unsafe fn second(
            context: &$crate::context::ContextInner,
            workspace: *mut std::ffi::c_void,
            bytes: u64,
            executor: *mut acl_sys::aclOpExecutor,
            stream: acl_sys::aclrtStream,
        ) -> $crate::error::Result<()> {
            // SAFETY: as the caller promises.
            unsafe { $crate::call::call!(context, $launch(workspace, bytes, executor, stream)) }
        }
        let target = $target;
        let stream = $crate::op::Target::stream(&target);
        $(stream.check_device($tensor.context_inner())?;)*
        let context = &**stream.0.context();
        context.before_operator();
        let (mut bytes, mut executor) = (0_u64, std::ptr::null_mut());
        // SAFETY: the descriptions are live and of the kinds that this operator's first phase takes; it writes its
        // two results to the places given.
        unsafe { $crate::call::call!(context, $plan($($argument,)* &raw mut bytes, &raw mut executor)) }?;
        let executor = $crate::op::executor::Executor::own(executor, context);
        let planned = $crate::op::executor::Planned {
            label: $label,
            location: $location,
            executor,
            bytes,
            second,
            uses: &[$($tensor.allocation()),*],
            starts: &[$($tensor.start),*],
        };
        let described = move || {
            let others = vec![$($($crate::op::executor::Other::from($other)),*)?];
            $crate::op::executor::Described::new([$($description),*], others)
        };
        $crate::op::Target::take(target, planned, described)
    }};
}
pub(crate) use operator;
