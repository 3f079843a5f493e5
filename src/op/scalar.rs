//! Numbers that operators take from the host.

use acl_sys::{aclDataType, aclScalar};
use half::{bf16, f16};

use super::element::{DataType, Element};
use crate::call::pointer;
use crate::context::ContextInner;
use crate::error::Result;

/// A number with its type, for operators that take one from the host.
///
/// Plain data: the library's object is made inside a call that needs it, and its value is part of what the call is
/// [remembered](crate::op#executors) by.
///
/// # Examples
///
/// ```
/// use racl::op::{Scalar, aclnn};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let x = device.upload_tensor(&[-1.0_f32, 0.25, 2.0], [3])?;
/// let mut out = device.zeros::<f32>([3])?;
/// aclnn::muls(&stream, &x, 2.0_f32, &mut out)?; // a number becomes one by itself
/// assert_eq!(out.to_vec()?, [-2.0, 0.5, 4.0]);
/// aclnn::clamp(&stream, &x, Some(Scalar::from(0.0_f32)), None, &mut out)?;
/// assert_eq!(out.to_vec()?, [0.0, 0.25, 2.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "aclCreateScalar")]
#[doc(alias = "aclDestroyScalar")]
pub struct Scalar {
    kind: aclDataType,
    /// The first bytes are one element.
    element: [u8; 8],
}

impl<T: Element> From<T> for Scalar {
    fn from(value: T) -> Self {
        let mut element = [0; 8];
        element[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        Self { kind: T::TYPE.raw(), element }
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Self { kind: aclDataType::ACL_BOOL, element: [u8::from(value), 0, 0, 0, 0, 0, 0, 0] }
    }
}

impl Scalar {
    /// The first bytes of `element` are one of type `dtype`.
    pub(crate) fn of(dtype: DataType, element: [u8; 8]) -> Self {
        Self { kind: dtype.raw(), element }
    }

    /// The element, of one of this type: the first bytes.
    pub(crate) fn element_of(self, dtype: DataType) -> Option<[u8; 8]> {
        (self.kind == dtype.raw()).then_some(self.element)
    }

    /// Its type, and its element.
    pub(super) fn parts(self) -> (aclDataType, [u8; 8]) {
        (self.kind, self.element)
    }

    /// Its type, and the number as a float and as an integer; none for a type without a class of numbers.
    pub(crate) fn number(self) -> Option<(DataType, f64, i64)> {
        let dtype = DataType::ALL.into_iter().find(|dtype| dtype.raw() == self.kind)?;
        let [b0, b1, b2, b3, ..] = self.element;
        let (two, four) = ([b0, b1], [b0, b1, b2, b3]);
        let real = |x: f64| (dtype, x, x as i64);
        let whole = |x: i64| (dtype, x as f64, x);
        Some(match dtype {
            DataType::F32 => real(f64::from(f32::from_ne_bytes(four))),
            DataType::F16 => real(f64::from(f16::from_ne_bytes(two))),
            DataType::Bf16 => real(f64::from(bf16::from_ne_bytes(two))),
            DataType::F64 => real(f64::from_ne_bytes(self.element)),
            DataType::I8 => whole(i64::from(b0.cast_signed())),
            DataType::U8 => whole(i64::from(b0)),
            DataType::Bool => whole(i64::from(b0 != 0)),
            DataType::I16 => whole(i64::from(i16::from_ne_bytes(two))),
            DataType::I32 => whole(i64::from(i32::from_ne_bytes(four))),
            DataType::I64 => whole(i64::from_ne_bytes(self.element)),
            _ => return None,
        })
    }

    /// None for a type that no scalar has.
    #[cfg_attr(not(feature = "cache"), allow(dead_code, reason = "only stored plans are read"))]
    pub(super) fn from_parts(kind: aclDataType, element: [u8; 8]) -> Option<Self> {
        let known = DataType::ALL.iter().any(|dtype| dtype.raw() == kind && dtype.size() <= element.len());
        known.then_some(Self { kind, element })
    }

    /// The integer in the type of this one; none where it has no such number.
    pub(super) fn with_int(self, number: i64) -> Option<Self> {
        match self.kind {
            aclDataType::ACL_INT8 => i8::try_from(number).ok().map(Self::from),
            aclDataType::ACL_INT16 => i16::try_from(number).ok().map(Self::from),
            aclDataType::ACL_INT32 => i32::try_from(number).ok().map(Self::from),
            aclDataType::ACL_INT64 => Some(Self::from(number)),
            aclDataType::ACL_UINT8 => u8::try_from(number).ok().map(Self::from),
            _ => self.with_float(number as f64),
        }
    }

    /// The number in the type of this one, rounded; none where that is no type of floats.
    pub(super) fn with_float(self, number: f64) -> Option<Self> {
        Some(match self.kind {
            aclDataType::ACL_FLOAT => Self::from(number as f32),
            aclDataType::ACL_DOUBLE => Self::from(number),
            aclDataType::ACL_FLOAT16 => Self::from(f16::from_f64(number)),
            aclDataType::ACL_BF16 => Self::from(bf16::from_f64(number)),
            _ => return None,
        })
    }

    /// As numbers, for signatures.
    pub(super) fn words(self) -> [u64; 2] {
        [10 | u64::from(self.kind.0 as u32) << 8, u64::from_ne_bytes(self.element)]
    }

    pub(super) fn describe(self, context: &ContextInner) -> Result<*mut aclScalar> {
        // As a number, for the alignment of every type.
        let mut element = u64::from_ne_bytes(self.element);
        // SAFETY: `element` begins with one element of the type that is named; the call copies it.
        unsafe { pointer!(context, aclCreateScalar((&raw mut element).cast(), self.kind)) }
    }
}
