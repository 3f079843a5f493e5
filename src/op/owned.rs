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
            /// Owns what the library gave.
            pub(crate) fn own(raw: *mut $object, context: &'a $crate::context::ContextInner) -> Self {
                Self { raw, context }
            }

            pub(crate) fn raw(&self) -> *mut $object {
                self.raw
            }

            /// Gives the object up, to be destroyed by someone else.
            pub(crate) fn into_raw(self) -> *mut $object {
                let raw = self.raw;
                std::mem::forget(self);
                raw
            }
        }

        impl Drop for $name<'_> {
            fn drop(&mut self) {
                // SAFETY: the object is this value's own and destroyed once.
                if let Err(error) = unsafe { $crate::call::call!(self.context, $destroy(self.raw)) } {
                    self.context.record_drop_error("destroying an operator's description", error);
                }
            }
        }
    };
}
pub(crate) use owned;
