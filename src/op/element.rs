//! Element types of tensors.

use acl_sys::aclDataType;
use bytemuck::Pod;
use half::{bf16, f16};

/// A data type of the runtime that tensors of this crate can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclDataType")]
pub enum DataType {
    /// 32-bit float.
    F32,
    /// 16-bit float.
    F16,
    /// 16-bit float with the exponent of a 32-bit one.
    Bf16,
    /// 64-bit float.
    F64,
    /// 8-bit integer.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// 8-bit unsigned integer.
    U8,
}

impl DataType {
    /// Number of types.
    pub(crate) const COUNT: usize = Self::U8 as usize + 1;

    /// Bytes of one element.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::F16 | Self::Bf16 | Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// Whether neural-network operators take it: f32, f16 and bf16.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F16 | Self::Bf16)
    }

    /// Whether it is not an integer: also f64, which no operator computes in.
    pub(crate) fn is_floating(self) -> bool {
        self.is_float() || self == Self::F64
    }

    /// Whether arithmetic operators take it.
    pub(crate) fn is_numeric(self) -> bool {
        self.is_float() || matches!(self, Self::I32 | Self::I64)
    }

    pub(crate) fn raw(self) -> aclDataType {
        match self {
            Self::F32 => aclDataType::ACL_FLOAT,
            Self::F16 => aclDataType::ACL_FLOAT16,
            Self::Bf16 => aclDataType::ACL_BF16,
            Self::F64 => aclDataType::ACL_DOUBLE,
            Self::I8 => aclDataType::ACL_INT8,
            Self::I16 => aclDataType::ACL_INT16,
            Self::I32 => aclDataType::ACL_INT32,
            Self::I64 => aclDataType::ACL_INT64,
            Self::U8 => aclDataType::ACL_UINT8,
        }
    }
}

/// A type that tensors can hold: f32, f64, f16, bf16, i8, i16, i32, i64 and u8.
///
/// # Safety
///
/// 1. The bytes of the type are exactly those of a device element of [`Element::TYPE`].
/// 2. Every bit pattern is a value, since the device writes any (`Pod`).
///
/// # Examples
///
/// ```
/// use racl::op::{DataType, Element};
///
/// assert_eq!(f32::TYPE, DataType::F32);
/// assert_eq!(racl::half::bf16::TYPE, DataType::Bf16);
/// ```
pub unsafe trait Element: Pod + Send + Sync + PartialEq + std::fmt::Debug {
    /// The runtime's name of the type.
    const TYPE: DataType;
}

macro_rules! elements {
    ($($rust:ty => $name:ident),*) => {$(
        // SAFETY: the layout of this type is that of the runtime's type of the same name, and it is `Pod`.
        unsafe impl Element for $rust {
            const TYPE: DataType = DataType::$name;
        }
    )*};
}

elements!(f32 => F32, f16 => F16, bf16 => Bf16, f64 => F64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8);

/// Types that arithmetic operators take: f32, f16, bf16, i32 and i64.
pub trait Numeric: Element {
    /// One, the factor of operators that scale an operand.
    const ONE: Self;
}
impl Numeric for f32 {
    const ONE: Self = 1.0;
}
impl Numeric for f16 {
    const ONE: Self = Self::ONE;
}
impl Numeric for bf16 {
    const ONE: Self = Self::ONE;
}
impl Numeric for i32 {
    const ONE: Self = 1;
}
impl Numeric for i64 {
    const ONE: Self = 1;
}

/// Types that neural-network operators take: f32, f16 and bf16.
pub trait Float: Numeric {}
impl Float for f32 {}
impl Float for f16 {}
impl Float for bf16 {}

/// Types of indices: i32 and i64.
pub trait Index: Numeric {}
impl Index for i32 {}
impl Index for i64 {}
