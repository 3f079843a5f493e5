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

/// Elements of a type in a storage of `len` of them, in rows.
#[inline]
pub(super) fn note_plain(words: &mut Vec<u64>, dtype: DataType, len: usize, offset: usize) {
    // One size of the storage.
    words.push(u64::from(dtype.raw().0 as u32) | 1 << 32);
    words.push(u64::from(aclFormat::ACL_FORMAT_ND.0 as u32));
    words.push(len as u64);
    words.push(offset as u64);
}

#[inline]
pub(super) fn note_layout(words: &mut Vec<u64>, dims: &Shape, strides: &[usize; MAX_RANK]) {
    words.push(dims.rank() as u64);
    for (size, stride) in dims.iter().zip(strides) {
        words.push(*size as u64);
        words.push(*stride as u64);
    }
}

impl View<'_> {
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
    pub(super) fn note(&self, words: &mut Vec<u64>) {
        match self.form {
            None => note_plain(words, self.dtype, self.len, self.offset),
            Some(form) => {
                let kind = u64::from(form.kind.raw().0 as u32) | (form.storage.rank() as u64) << 32;
                words.extend([kind, u64::from(form.format.0 as u32)]);
                words.extend(form.storage.iter().map(|size| *size as u64));
                words.push(self.offset as u64);
            }
        }
        note_layout(words, &self.dims, &self.strides);
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
