//! Sets of types, and how types are promoted and stored.

use std::ops::{BitAnd, BitOr};

use crate::op::DataType::{self, Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8};

use super::{No, ensure};

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u32);

impl Types {
    pub(super) const NARROW: Self = Self::list(&[F32, F16, Bf16]);
    pub(super) const FLOATS: Self = Self::list(&[F32, F16, Bf16, F64]);
    pub(super) const INTEGERS: Self = Self::list(&[I8, U8, I16, I32, I64]);
    pub(super) const INDICES: Self = Self::list(&[I64, I32]);
    pub(super) const TRUTHS: Self = Self::list(&[Bool, U8]);
    /// What the rules know.
    pub(super) const KNOWN: Self = Self(Self::FLOATS.0 | Self::INTEGERS.0 | Self::TRUTHS.0);

    pub(super) const fn list(types: &[DataType]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < types.len() {
            bits |= 1 << types[at] as u32;
            at += 1;
        }
        Self(bits)
    }

    pub(super) const fn of(dtype: DataType) -> Self {
        Self::list(&[dtype])
    }

    pub(super) const fn has(self, dtype: DataType) -> bool {
        self.0 & 1 << dtype as u32 != 0
    }

    /// All but one.
    pub(super) const fn without(self, dtype: DataType) -> Self {
        Self(self.0 & !(1 << dtype as u32))
    }

    /// What elements of a type can be stored as.
    pub(super) const fn storing(from: DataType) -> Self {
        match (Self::FLOATS.has(from), matches!(from, Bool)) {
            (true, _) => Self::FLOATS,
            (false, true) => Self::KNOWN,
            (false, false) => Self::KNOWN.without(Bool),
        }
    }
}

impl BitOr for Types {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Types {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

pub(super) fn is_real(dtype: DataType) -> bool {
    Types::FLOATS.has(dtype)
}

/// The common type of two tensors.
pub(super) fn promote(a: DataType, b: DataType) -> DataType {
    let order = |dtype| [Bool, U8, I8, I16, I32, I64, F16, Bf16, F32, F64].iter().position(|one| *one == dtype);
    match (a, b) {
        (F16, Bf16) | (Bf16, F16) => F32,
        (U8, I8) | (I8, U8) => I16,
        _ if order(a) > order(b) => a,
        _ => b,
    }
}

/// The common type of a tensor and a number.
pub(super) fn promote_scalar(tensor: DataType, scalar: DataType) -> DataType {
    let kind = |dtype| if is_real(dtype) { 2 } else { i32::from(dtype != Bool) };
    match kind(scalar) {
        scalar_kind if scalar_kind <= kind(tensor) => tensor,
        2 => F32,
        _ => scalar,
    }
}

/// Integers become floats.
pub(super) fn float(dtype: DataType) -> DataType {
    if is_real(dtype) { dtype } else { F32 }
}

pub(super) fn require(types: Types, dtype: DataType, what: &str) -> Result<(), No> {
    ensure!(types.has(dtype), "{what} of type {dtype:?}, which it does not take");
    Ok(())
}

/// The same type twice.
pub(super) fn same(a: DataType, b: DataType, what: &str) -> Result<(), No> {
    ensure!(a == b, "{what} of types {a:?} and {b:?}; they must be the same");
    Ok(())
}
