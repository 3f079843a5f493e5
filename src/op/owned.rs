//! Owners of the operator library's host-side objects.

/// A type that owns one object of the operator library and destroys it with the function named.
macro_rules! owned {
    ($(#[$doc:meta])* $name:ident, $object:ty, $destroy:ident) => {
        $(#[$doc])*
        pub(crate) struct $name<'a> {
            raw: *mut $object,
            context: &'a $crate::context::ContextInner,
        }

        impl<'a> $name<'a> {
            /// Owns what `call` gave; null means that it failed.
            pub(crate) fn own(
                raw: *mut $object,
                context: &'a $crate::context::ContextInner,
                call: &'static str,
            ) -> $crate::error::Result<Self> {
                if raw.is_null() {
                    let table = $crate::call::Caller::table(context);
                    return Err($crate::call::failure(table, call, acl_sys::ACLNN_ERR_PARAM_INVALID));
                }
                Ok(Self { raw, context })
            }

            #[allow(dead_code, reason = "an executor is only ever taken out")]
            pub(crate) fn raw(&self) -> *mut $object {
                self.raw
            }
        }

        impl Drop for $name<'_> {
            fn drop(&mut self) {
                let table = $crate::call::Caller::table(self.context);
                let Ok(function) = table.$destroy() else { return };
                // SAFETY: the object is this value's own and destroyed once.
                let code = unsafe { function(self.raw) };
                if code != 0 {
                    let error = $crate::call::failure(table, stringify!($destroy), code);
                    self.context.record_drop_error("destroying an operator's description", error);
                }
            }
        }
    };
}
pub(crate) use owned;
