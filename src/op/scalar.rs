//! Scalars and integer arrays that operators take from the host.

use acl_sys::{aclIntArray, aclScalar};

use super::element::Element;
use super::owned::owned;
use crate::call::pointer;
use crate::context::ContextInner;
use crate::error::Result;

owned! {
    /// A number with its type.
    Scalar, aclScalar, aclDestroyScalar
}

impl<'a> Scalar<'a> {
    pub(crate) fn new<T: Element>(context: &'a ContextInner, mut value: T) -> Result<Self> {
        // SAFETY: `value` is one element of the type that is named; the call copies it.
        let raw = unsafe { pointer!(context, aclCreateScalar((&raw mut value).cast(), T::TYPE.raw())) }?;
        Ok(Self::own(raw, context))
    }
}

owned! {
    /// Dimensions, sizes and the like.
    IntArray, aclIntArray, aclDestroyIntArray
}

impl<'a> IntArray<'a> {
    pub(crate) fn new(context: &'a ContextInner, values: &[i64]) -> Result<Self> {
        // SAFETY: the array has as many numbers as are named; the call copies them.
        let raw = unsafe { pointer!(context, aclCreateIntArray(values.as_ptr(), values.len() as u64)) }?;
        Ok(Self::own(raw, context))
    }
}
