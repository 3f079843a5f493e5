//! The two phases of an operator.

use acl_sys::aclOpExecutor;

use super::owned::owned;

owned! {
    /// A planned operator that has not been launched.
    Executor, aclOpExecutor, aclDestroyAclOpExecutor
}

impl Executor<'_> {
    /// For the second phase, which consumes the executor. A second phase that fails may or may not have done so; leaking
    /// the executor then is better than destroying it twice.
    pub(crate) fn into_raw(self) -> *mut aclOpExecutor {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }
}

/// `operator!(stream, location, "label", plan(arguments), launch, [tensors])`: both phases of an aclnn operator.
///
/// The arguments are those of the first phase without its two results. Every tensor that is described among them is
/// listed, so that its memory is checked and kept.
macro_rules! operator {
    ($stream:expr, $location:expr, $label:literal, $plan:ident($($argument:expr),* $(,)?), $launch:ident,
     [$($tensor:expr),*]) => {{
        let stream: &$crate::Stream = $stream;
        $(stream.check_device($tensor.context_inner())?;)*
        let context = &**stream.0.context();
        context.before_operator();
        let (mut bytes, mut executor) = (0_u64, std::ptr::null_mut());
        // SAFETY: the descriptions are live and of the kinds that this operator's first phase takes; it writes its two
        // results to the places given.
        unsafe { $crate::call::call!(context, $plan($($argument,)* &raw mut bytes, &raw mut executor)) }?;
        let executor = $crate::op::executor::Executor::own(executor, context);
        let workspace = match bytes {
            0 => None,
            _ => Some(stream.0.workspace(usize::try_from(bytes).unwrap_or(usize::MAX))?),
        };
        let scratch = workspace.as_ref();
        let task = $crate::stream::Task {
            label: $label,
            location: $location,
            uses: &[$($tensor.allocation()),*],
            scratch,
        };
        let address = scratch.map_or(std::ptr::null_mut(), |workspace| workspace.address());
        stream.0.submit(&task, |raw| {
            // SAFETY: the executor comes from this operator's first phase on this thread and is used once; the
            // workspace has the bytes that it asked for; the memory of the tensors is registered with the stream.
            unsafe { $crate::call::call!(context, $launch(address, bytes, executor.into_raw(), raw)) }
        })?;
        Ok(())
    }};
}
pub(crate) use operator;
