//! Untyped views of device memory: what an operator is told of each operand.

use std::ffi::c_void;
use std::sync::Arc;

use acl_sys::{aclFormat, aclTensor};

use super::any::ElementType;
use super::element::DataType;
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
    /// What is not plain about it; `dtype` means nothing then.
    pub(crate) form: Option<&'a Form>,
}

/// An element type without a type in Rust, and a storage that is laid out in another way than in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) kind: ElementType,
    pub(crate) format: aclFormat,
    pub(crate) storage: Shape,
}

impl<'a> View<'a> {
    pub(crate) fn allocation(&self) -> &'a Arc<Allocation> {
        self.allocation
    }

    pub(crate) fn context_inner(&self) -> &'a Arc<ContextInner> {
        self.allocation.context()
    }

    /// The C description, for the first phase of an operator.
    pub(super) fn describe(&self, context: &ContextInner) -> Result<*mut aclTensor> {
        let signed = |values: &[usize; MAX_RANK]| values.map(|value| value as i64);
        let (dims, strides) = (signed(self.dims.all()), signed(&self.strides));
        let rank = self.dims.rank() as u64;
        let (kind, format, storage, count) = match self.form {
            None => (self.dtype.raw(), aclFormat::ACL_FORMAT_ND, [self.len as i64; MAX_RANK], 1),
            Some(form) => (form.kind.raw(), form.format, signed(form.storage.all()), form.storage.rank() as u64),
        };
        let (dims, strides, offset) = (dims.as_ptr(), strides.as_ptr(), self.offset as i64);
        let (storage, data) = (storage.as_ptr(), self.start);
        // SAFETY: `dims` and `strides` have `rank` numbers each and `storage` has `count`; all are copied by the
        // call. The address is only stored.
        unsafe { pointer!(context, aclCreateTensor(dims, rank, kind, strides, offset, format, storage, count, data)) }
    }

    /// Everything that the first phase is told except the address, as numbers that are equal for equal layouts only.
    #[inline]
    pub(super) fn note(&self, words: &mut Vec<u64>) {
        let rank = self.dims.rank();
        let head = |kind: i32, storage: usize| u64::from(kind as u32) | (rank as u64) << 32 | (storage as u64) << 40;
        let format = |format: aclFormat| u64::from(format.0 as u32);
        match self.form {
            None => {
                let head = head(self.dtype.raw().0, 1);
                words.extend([head, format(aclFormat::ACL_FORMAT_ND), self.len as u64]);
            }
            Some(form) => {
                words.extend([head(form.kind.raw().0, form.storage.rank()), format(form.format)]);
                words.extend(form.storage.iter().map(|size| *size as u64));
            }
        }
        words.push(self.offset as u64);
        for (size, stride) in self.dims.iter().zip(&self.strides) {
            words.extend([*size as u64, *stride as u64]);
        }
    }

    /// First byte from the start of the storage, and bytes from there to the last one.
    pub(super) fn bytes(&self) -> (usize, usize) {
        let bits = self.form.map_or(self.dtype.size() * 8, |form| form.kind.bits());
        if self.dims.elements() == 0 {
            return (0, 0);
        }
        if let Some(form) = self.form.filter(|form| form.format != aclFormat::ACL_FORMAT_ND) {
            // Where an element lies is up to the format.
            return (0, (form.storage.elements() * bits).div_ceil(8));
        }
        let span: usize = self.dims.iter().zip(&self.strides).map(|(size, stride)| (size - 1) * stride).sum();
        let first = self.offset * bits / 8;
        (first, ((self.offset + span + 1) * bits).div_ceil(8) - first)
    }
}
