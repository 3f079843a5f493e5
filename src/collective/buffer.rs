//! What operations of communicators take: memory, its types, and reductions.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

use acl_sys::{HcclDataType, HcclReduceOp};
use half::{bf16, f16};

use crate::allocation::Allocation;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{DeviceRead, DeviceWrite};
use crate::op::{DataType, Element, Tensor};
use crate::sort;

/// What becomes of the elements that the ranks have at one place.
#[doc(alias = "HcclReduceOp")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// Their product.
    Product,
    /// The greatest.
    Max,
    /// The least.
    Min,
}

impl Reduction {
    pub(super) fn raw(self) -> HcclReduceOp {
        match self {
            Self::Sum => HcclReduceOp::HCCL_REDUCE_SUM,
            Self::Product => HcclReduceOp::HCCL_REDUCE_PROD,
            Self::Max => HcclReduceOp::HCCL_REDUCE_MAX,
            Self::Min => HcclReduceOp::HCCL_REDUCE_MIN,
        }
    }
}

/// Types that are reduced: i8, i16, i32, i64, f16, bf16 and f32. Products of i16 and bf16 are refused, and what else a
/// card does not do (guide: HCCL, `HcclAllReduce`).
pub trait Reducible: Element {}
impl Reducible for i8 {}
impl Reducible for i16 {}
impl Reducible for i32 {}
impl Reducible for i64 {}
impl Reducible for f16 {}
impl Reducible for bf16 {}
impl Reducible for f32 {}

pub(super) fn raw_type(dtype: DataType) -> Result<HcclDataType> {
    Ok(match dtype {
        DataType::I8 => HcclDataType::HCCL_DATA_TYPE_INT8,
        DataType::I16 => HcclDataType::HCCL_DATA_TYPE_INT16,
        DataType::I32 => HcclDataType::HCCL_DATA_TYPE_INT32,
        DataType::I64 => HcclDataType::HCCL_DATA_TYPE_INT64,
        DataType::U8 | DataType::Bool => HcclDataType::HCCL_DATA_TYPE_UINT8,
        DataType::U16 => HcclDataType::HCCL_DATA_TYPE_UINT16,
        DataType::U32 => HcclDataType::HCCL_DATA_TYPE_UINT32,
        DataType::U64 => HcclDataType::HCCL_DATA_TYPE_UINT64,
        DataType::F16 => HcclDataType::HCCL_DATA_TYPE_FP16,
        DataType::Bf16 => HcclDataType::HCCL_DATA_TYPE_BFP16,
        DataType::F32 => HcclDataType::HCCL_DATA_TYPE_FP32,
        DataType::F64 => HcclDataType::HCCL_DATA_TYPE_FP64,
        DataType::Complex32 | DataType::Complex64 | DataType::Complex128 => {
            return Err(Error::new(ErrorKind::NotSupported, format!("a communicator of {dtype:?}")));
        }
    })
}

mod sealed {
    pub trait Sealed {}
    impl<M: crate::memory::DeviceRead> Sealed for M {}
    impl<T: crate::op::Element> Sealed for crate::op::Tensor<T> {}
}

/// Device memory that a rank sends: a [`DeviceBuffer`](crate::DeviceBuffer), whatever else [`DeviceRead`] stands for, or
/// a dense [`Tensor`].
pub trait SendBuffer: sealed::Sealed {
    /// What the memory holds.
    type Element: Element;

    #[doc(hidden)]
    fn part(&self) -> Result<Part<'_>>;
}

/// Device memory that a rank receives into: a [`DeviceBuffer`](crate::DeviceBuffer), whatever else [`DeviceWrite`]
/// stands for, or a dense [`Tensor`].
pub trait RecvBuffer: SendBuffer {}

/// Memory of an operation.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    pub(super) allocation: &'a Arc<Allocation>,
    pub(super) address: *mut c_void,
    pub(super) len: usize,
    pub(super) bytes: usize,
}

impl<M: DeviceRead> SendBuffer for M
where
    M::Element: Element,
{
    type Element = M::Element;

    fn part(&self) -> Result<Part<'_>> {
        let slice = self.as_slice();
        let (len, bytes) = (slice.len(), slice.size_bytes());
        Ok(Part { allocation: slice.allocation(), address: slice.address(), len, bytes })
    }
}

impl<M: DeviceWrite> RecvBuffer for M where M::Element: Element {}

impl<T: Element> SendBuffer for Tensor<T> {
    type Element = T;

    fn part(&self) -> Result<Part<'_>> {
        if !self.is_dense() {
            return Err(Error::invalid("a tensor with gaps or in another order; a communicator takes dense ones"));
        }
        let (len, bytes) = (self.len(), self.len() * size_of::<T>());
        Ok(Part { allocation: self.allocation(), address: self.address(), len, bytes })
    }
}

impl<T: Element> RecvBuffer for Tensor<T> {}

impl Part<'_> {
    fn overlaps(&self, other: &Self) -> bool {
        let (a, b) = (self.address.addr(), other.address.addr());
        self.bytes > 0 && other.bytes > 0 && a < b + other.bytes && b < a + self.bytes
    }

    /// That the two share no memory: what is sent must stay until all ranks have it.
    pub(super) fn check_apart(&self, other: &Self) -> Result<()> {
        if self.overlaps(other) {
            return Err(Error::invalid("what is sent and what is received share memory"));
        }
        Ok(())
    }

    /// As [`Self::check_apart`], unless they are one: for operations that may be done in place.
    pub(super) fn check_apart_or_same(&self, other: &Self) -> Result<()> {
        if (self.address, self.bytes) == (other.address, other.bytes) { Ok(()) } else { self.check_apart(other) }
    }
}

/// That `len` elements are `times` as many as `each`.
pub(super) fn check_times(what: &str, len: usize, each: usize, times: u32) -> Result<()> {
    if each.checked_mul(times as usize) == Some(len) {
        return Ok(());
    }
    Err(Error::invalid(format!("{what}: {len} elements, where {times} ranks have {each} each")))
}

/// Counts and places of the parts that ranks have in a buffer of `len` elements, as the library takes them.
pub(super) struct Ranges {
    pub(super) counts: Vec<u64>,
    pub(super) places: Vec<u64>,
}

impl Ranges {
    pub(super) fn new(what: &str, ranges: &[Range<usize>], len: usize, ranks: u32) -> Result<Self> {
        if ranges.len() != ranks as usize {
            return Err(Error::invalid(format!("{what}: {} ranges for {ranks} ranks", ranges.len())));
        }
        if let Some(range) = ranges.iter().find(|range| range.start > range.end || range.end > len) {
            return Err(Error::invalid(format!("{what}: the range {range:?} of {len} elements")));
        }
        let counts = ranges.iter().map(|range| range.len() as u64).collect();
        Ok(Self { counts, places: ranges.iter().map(|range| range.start as u64).collect() })
    }

    /// As [`Self::new`], of ranges that are written, by several ranks at once.
    pub(super) fn apart(what: &str, ranges: &[Range<usize>], len: usize, ranks: u32) -> Result<Self> {
        let made = Self::new(what, ranges, len, ranks)?;
        let mut sorted: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).collect();
        sort::by_key(&mut sorted, |range| range.start);
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0].end > pair[1].start) {
            return Err(Error::invalid(format!("{what}: the ranges {:?} and {:?} overlap", pair[0], pair[1])));
        }
        Ok(made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked() {
        let made = Ranges::apart("x", &[4..6, 0..0, 0..4], 6, 3).unwrap();
        assert_eq!((made.counts, made.places), (vec![2, 0, 4], vec![4, 0, 0]));
        assert!(Ranges::apart("x", &[0..3, 2..4], 4, 2).is_err());
        assert!(Ranges::new("x", &[0..3, 2..4], 4, 2).is_ok());
        assert!(Ranges::new("x", std::slice::from_ref(&(0..3)), 4, 2).is_err());
        assert!(Ranges::new("x", &[0..3, 3..5], 4, 2).is_err());
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = [0..3, 3..1];
        assert!(Ranges::new("x", &reversed, 4, 2).is_err());
    }

    #[test]
    fn counts_are_multiplied_without_overflow() {
        assert!(check_times("x", 12, 3, 4).is_ok());
        assert!(check_times("x", 11, 3, 4).is_err());
        assert!(check_times("x", 0, usize::MAX / 2 + 1, 2).is_err());
    }
}
