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
    /// A truth value, a byte that is 0 or 1; [`u8`] stands for it in Rust.
    Bool,
    /// 16-bit unsigned integer.
    U16,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// Complex number of two f16; no type of Rust stands for it.
    Complex32,
    /// Complex number of two f32; no type of Rust stands for it.
    Complex64,
    /// Complex number of two f64; no type of Rust stands for it.
    Complex128,
}

impl DataType {
    /// Number of types.
    pub(crate) const COUNT: usize = Self::Complex128 as usize + 1;

    /// Each of them.
    pub(crate) const ALL: [Self; Self::COUNT] = [
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::F64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::Bool,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::Complex32,
        Self::Complex64,
        Self::Complex128,
    ];

    /// Bytes of one element.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 | Self::Bool => 1,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 | Self::Complex32 => 4,
            Self::F64 | Self::I64 | Self::U64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
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

    /// Whether it is a pair of floats, which no type of Rust stands for here.
    pub(crate) fn is_complex(self) -> bool {
        matches!(self, Self::Complex32 | Self::Complex64 | Self::Complex128)
    }

    /// Whether arithmetic operators take it.
    pub(crate) fn is_numeric(self) -> bool {
        self.is_float() || matches!(self, Self::I32 | Self::I64)
    }

    /// Whether elements of the type are values of `T`: of its own type, and truth values are bytes.
    pub(crate) fn is<T: Element>(self) -> bool {
        self.takes(T::TYPE)
    }

    /// Whether elements of type `given` may stand for its own.
    pub(crate) fn takes(self, given: Self) -> bool {
        given == self || (self, given) == (Self::Bool, Self::U8)
    }

    /// The type that the runtime has by this number, if this crate knows it.
    pub(crate) fn of_raw(raw: aclDataType) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.raw() == raw)
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
            Self::Bool => aclDataType::ACL_BOOL,
            Self::U16 => aclDataType::ACL_UINT16,
            Self::U32 => aclDataType::ACL_UINT32,
            Self::U64 => aclDataType::ACL_UINT64,
            Self::Complex32 => aclDataType::ACL_COMPLEX32,
            Self::Complex64 => aclDataType::ACL_COMPLEX64,
            Self::Complex128 => aclDataType::ACL_COMPLEX128,
        }
    }
}

/// A type that tensors can hold: f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32 and u64.
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

elements!(f32 => F32, f16 => F16, bf16 => Bf16, f64 => F64, i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8,
    u16 => U16, u32 => U32, u64 => U64);

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
