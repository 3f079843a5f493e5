//! Untyped views of device memory: what an operator is told of each operand.

use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::{aclFormat, aclTensor};

use super::element::DataType;
use super::owned::owned;
use super::shape::{MAX_RANK, Shape};
use crate::call::pointer;
use crate::context::ContextInner;
use crate::error::Result;
use crate::memory::Allocation;

/// Elements of a storage, which is a part of an allocation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) allocation: &'a Arc<Allocation>,
    /// Start of the storage on the device.
    pub(crate) start: *mut c_void,
    /// Elements of the storage.
    pub(crate) len: usize,
    pub(crate) dtype: DataType,
    pub(crate) dims: Shape,
    /// In elements.
    pub(crate) strides: [usize; MAX_RANK],
    /// Elements from the start of the storage to the first one.
    pub(crate) offset: usize,
}

impl<'a> View<'a> {
    pub(crate) fn allocation(&self) -> &'a Arc<Allocation> {
        self.allocation
    }

    pub(crate) fn context_inner(&self) -> &'a Arc<ContextInner> {
        self.allocation.context()
    }

    /// The C description, for the first phase of an operator.
    pub(crate) fn describe(&self) -> Result<Descriptor<'a>> {
        let context = &**self.context_inner();
        let signed = |values: &[usize; MAX_RANK]| values.map(|value| value as i64);
        let (dims, strides) = (signed(self.dims.all()), signed(&self.strides));
        let rank = self.dims.rank() as u64;
        let storage = self.len as i64;
        let (kind, format) = (self.dtype.raw(), aclFormat::ACL_FORMAT_ND);
        let (dims, strides, offset) = (dims.as_ptr(), strides.as_ptr(), self.offset as i64);
        let data = self.start;
        // SAFETY: `dims` and `strides` have `rank` numbers each and `storage` is one; all are copied by the call. The
        // address is only stored.
        let raw = unsafe {
            pointer!(context, aclCreateTensor(dims, rank, kind, strides, offset, format, &raw const storage, 1, data))
        }?;
        Ok(Descriptor::own(raw, context))
    }
}

owned! {
    /// The C description of a tensor. The operator library copies what it needs in its second phase.
    Descriptor, aclTensor, aclDestroyTensor
}
