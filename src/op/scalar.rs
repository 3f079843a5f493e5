//! Scalars and integer arrays that operators take from the host.

use acl_sys::{aclIntArray, aclScalar};

use super::element::Element;
use crate::call::{Caller as _, failure};
use crate::context::ContextInner;
use crate::error::Result;

/// An `aclScalar`, destroyed with this value.
pub(crate) struct Scalar<'a> {
    raw: *mut aclScalar,
    context: &'a ContextInner,
}

impl<'a> Scalar<'a> {
    pub(crate) fn new<T: Element>(context: &'a ContextInner, mut value: T) -> Result<Self> {
        let function = context.table().aclCreateScalar()?;
        // SAFETY: `value` is one element of the type that is named; the call copies it.
        let raw = unsafe { function((&raw mut value).cast(), T::TYPE.raw()) };
        if raw.is_null() {
            return Err(failure(context.table(), "aclCreateScalar", acl_sys::ACLNN_ERR_PARAM_INVALID));
        }
        Ok(Self { raw, context })
    }

    pub(crate) fn raw(&self) -> *const aclScalar {
        self.raw
    }
}

impl Drop for Scalar<'_> {
    fn drop(&mut self) {
        let Ok(function) = self.context.table().aclDestroyScalar() else { return };
        // SAFETY: the scalar is this value's own and destroyed once.
        let code = unsafe { function(self.raw) };
        if code != 0 {
            let error = failure(self.context.table(), "aclDestroyScalar", code);
            self.context.record_drop_error("destroying a scalar", error);
        }
    }
}

/// An `aclIntArray`, destroyed with this value.
pub(crate) struct IntArray<'a> {
    raw: *mut aclIntArray,
    context: &'a ContextInner,
}

impl<'a> IntArray<'a> {
    pub(crate) fn new(context: &'a ContextInner, values: &[i64]) -> Result<Self> {
        let function = context.table().aclCreateIntArray()?;
        // SAFETY: the array has as many numbers as are named; the call copies them.
        let raw = unsafe { function(values.as_ptr(), values.len() as u64) };
        if raw.is_null() {
            return Err(failure(context.table(), "aclCreateIntArray", acl_sys::ACLNN_ERR_PARAM_INVALID));
        }
        Ok(Self { raw, context })
    }

    pub(crate) fn raw(&self) -> *const aclIntArray {
        self.raw
    }
}

impl Drop for IntArray<'_> {
    fn drop(&mut self) {
        let Ok(function) = self.context.table().aclDestroyIntArray() else { return };
        // SAFETY: the array is this value's own and destroyed once.
        let code = unsafe { function(self.raw) };
        if code != 0 {
            let error = failure(self.context.table(), "aclDestroyIntArray", code);
            self.context.record_drop_error("destroying an integer array", error);
        }
    }
}
