//! Elements as they lie in memory, and the types that operators compute in.
//!
//! Conversions round once, to nearest, ties to even. Floats become integers towards zero, saturating, NaN as 0; integers
//! become narrower ones by their low bits.

use bytemuck::Pod;
use half::{bf16, f16};

use crate::op::{DataType, Scalar};

use super::operator::Number;

/// The type of an element in memory.
pub(crate) trait Stored: Pod {
    fn f32(self) -> f32;
    fn f64(self) -> f64;
    fn i64(self) -> i64;
    fn of_f32(value: f32) -> Self;
    fn of_f64(value: f64) -> Self;
    fn of_i64(value: i64) -> Self;
}

/// A type that operators compute in.
pub(crate) trait Class: Copy + Default {
    fn load<S: Stored>(element: S) -> Self;
    fn store<S: Stored>(self) -> S;
}

macro_rules! class {
    ($($class:ident, $of:ident;)*) => {$(
        impl Class for $class {
            fn load<S: Stored>(element: S) -> Self {
                element.$class()
            }

            fn store<S: Stored>(self) -> S {
                S::$of(self)
            }
        }
    )*};
}

class! {
    f32, of_f32;
    f64, of_f64;
    i64, of_i64;
}

macro_rules! plain {
    ($($type:ident)*) => {$(
        #[allow(clippy::cast_lossless, reason = "the same line for wide and narrow types")]
        impl Stored for $type {
            fn f32(self) -> f32 {
                self as f32
            }

            fn f64(self) -> f64 {
                self as f64
            }

            fn i64(self) -> i64 {
                self as i64
            }

            fn of_f32(value: f32) -> Self {
                value as Self
            }

            fn of_f64(value: f64) -> Self {
                value as Self
            }

            fn of_i64(value: i64) -> Self {
                value as Self
            }
        }
    )*};
}

plain!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! narrow {
    ($($type:ident, $widen:expr;)*) => {$(
        impl Stored for $type {
            fn f32(self) -> f32 {
                let widen: fn(Self) -> f32 = $widen;
                widen(self)
            }

            fn f64(self) -> f64 {
                f64::from(self.f32())
            }

            fn i64(self) -> i64 {
                self.f32() as i64
            }

            fn of_f32(value: f32) -> Self {
                Self::from_f32(value)
            }

            fn of_f64(value: f64) -> Self {
                Self::from_f32(to_odd(value))
            }

            fn of_i64(value: i64) -> Self {
                Self::from_f32(to_odd(sticky(value)))
            }
        }
    )*};
}

narrow! {
    f16, Self::to_f32;
    // Keeps the payload of every NaN.
    bf16, |value| f32::from_bits(u32::from(value.to_bits()) << 16);
}

/// A truth value: everything but 0 is true.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Truth(u8);

// SAFETY: a transparent u8, of which every pattern of bits is one.
unsafe impl bytemuck::Zeroable for Truth {}
// SAFETY: as above.
unsafe impl Pod for Truth {}

impl Stored for Truth {
    fn f32(self) -> f32 {
        f32::from(u8::from(self.0 != 0))
    }

    fn f64(self) -> f64 {
        f64::from(u8::from(self.0 != 0))
    }

    fn i64(self) -> i64 {
        i64::from(self.0 != 0)
    }

    fn of_f32(value: f32) -> Self {
        Self(u8::from(value != 0.0))
    }

    fn of_f64(value: f64) -> Self {
        Self(u8::from(value != 0.0))
    }

    fn of_i64(value: i64) -> Self {
        Self(u8::from(value != 0))
    }
}

/// An element that nothing is computed with: who computes refuses it before ([`DataType::is_complex`]).
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Opaque<T>(T);

// SAFETY: a transparent number.
unsafe impl<T: bytemuck::Zeroable> bytemuck::Zeroable for Opaque<T> {}
// SAFETY: as above.
unsafe impl<T: Pod> Pod for Opaque<T> {}

impl<T: Pod> Stored for Opaque<T> {
    fn f32(self) -> f32 {
        f32::NAN
    }

    fn f64(self) -> f64 {
        f64::NAN
    }

    fn i64(self) -> i64 {
        0
    }

    fn of_f32(_: f32) -> Self {
        Self(T::zeroed())
    }

    fn of_f64(_: f64) -> Self {
        Self(T::zeroed())
    }

    fn of_i64(_: i64) -> Self {
        Self(T::zeroed())
    }
}

/// Rounds to odd, so that rounding the result once more rounds `value` correctly.
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let exact = f64::from(near) == value || value.is_nan() || near.is_infinite();
    if exact || near.to_bits() & 1 != 0 {
        return near;
    }
    let grew = f64::from(near).abs() > value.abs();
    f32::from_bits(if grew { near.to_bits().wrapping_sub(1) } else { near.to_bits() + 1 })
}

/// A float between the same two halves, or as exactly in the middle of them: what of a large number a double has no room
/// for is much less than what they have between them.
fn sticky(value: i64) -> f64 {
    if value.unsigned_abs() < 1 << f64::MANTISSA_DIGITS {
        return value as f64;
    }
    let low = value & 0xffff;
    (value - low + if low == 0 { 0 } else { 0x8000 }) as f64
}

/// `with_type!(dtype, S => expression)`: the expression with the type in memory.
macro_rules! with_type {
    ($dtype:expr, $stored:ident => $body:expr) => {
        $crate::plan::recipe::element::with_type!(@ $dtype, $stored, $body,
            F32 f32, F16 half::f16, Bf16 half::bf16, F64 f64, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8,
            Bool $crate::plan::recipe::element::Truth, U16 u16, U32 u32, U64 u64,
            Complex32 $crate::plan::recipe::element::Opaque<u32>, Complex64 $crate::plan::recipe::element::Opaque<u64>,
            Complex128 $crate::plan::recipe::element::Opaque<[u64; 2]>)
    };
    (@ $dtype:expr, $stored:ident, $body:expr, $($name:ident $type:ty),*) => {
        match $dtype {
            $($crate::op::DataType::$name => {
                type $stored = $type;
                $body
            })*
        }
    };
}
pub(crate) use with_type;

/// `number` as an element of type `dtype`: the first bytes, the others are 0.
pub(crate) fn element_of(number: Number, dtype: DataType) -> Result<[u8; 8], String> {
    if dtype.is_complex() {
        return Err(format!("a real number for elements of type {dtype:?}"));
    }
    with_type!(dtype, S => {
        let element: S = match number {
            Number::Float(value) if dtype.is_floating() => value.store(),
            Number::Float(value) => {
                return Err(format!("the float {value:?} for elements of type {dtype:?}, which are integers"));
            }
            Number::Int(value) => {
                let element: S = value.store();
                if !dtype.is_floating() && element.i64() != value {
                    return Err(format!("{value}, which is no {dtype:?}"));
                }
                element
            }
        };
        let mut bytes = [0; 8];
        bytes[..size_of::<S>()].copy_from_slice(bytemuck::bytes_of(&element));
        Ok(bytes)
    })
}

/// `number` as a scalar of type `dtype`.
pub(crate) fn scalar_of(number: Number, dtype: DataType) -> Result<Scalar, String> {
    element_of(number, dtype).map(|element| Scalar::of(dtype, element))
}

/// As [`element_of`]; an infinity only for a number that is one.
pub(crate) fn element_in_range(number: Number, dtype: DataType) -> Result<[u8; 8], String> {
    let element = element_of(number, dtype)?;
    let stored = with_type!(dtype, S => bytemuck::pod_read_unaligned::<S>(&element[..size_of::<S>()]).f64());
    match number {
        Number::Float(value) if value.is_finite() && stored.is_infinite() => {
            Err(format!("{value:?}, which is out of the range of {dtype:?}"))
        }
        Number::Int(value) if stored.is_infinite() => Err(format!("{value}, which is out of the range of {dtype:?}")),
        _ => Ok(element),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits<S: Stored>(number: Number, dtype: DataType) -> S {
        bytemuck::pod_read_unaligned(&element_of(number, dtype).unwrap()[..size_of::<S>()])
    }

    #[test]
    fn numbers_become_elements_exactly_or_rounded_once() {
        assert_eq!(bits::<i64>(Number::Int(i64::MAX), DataType::I64), i64::MAX);
        assert_eq!(bits::<i32>(Number::Int(-7), DataType::I32), -7);
        assert_eq!(bits::<f32>(Number::Int(3), DataType::F32), 3.0);
        assert_eq!(bits::<f64>(Number::Float(0.1), DataType::F64), 0.1);
        // Just above the middle between two halves: rounding to f32 first would lose what is above.
        let above = 1.0 + f64::powi(2.0, -11) + f64::powi(2.0, -40);
        assert_eq!(bits::<f16>(Number::Float(above), DataType::F16).to_bits(), 0x3c01);
        let below = 1.0 + 3.0 * f64::powi(2.0, -11) - f64::powi(2.0, -40);
        assert_eq!(bits::<f16>(Number::Float(below), DataType::F16).to_bits(), 0x3c01);
        assert_eq!(bits::<f16>(Number::Float(1e300), DataType::F16), f16::INFINITY);
        // The same of integers: above and below the middle by less than an f32, or a double, has room for.
        let brain = |value: i64| bits::<bf16>(Number::Int(value), DataType::Bf16).to_f64() as i64;
        for (low, rest) in [(24, 1_i64), (40, 1), (62, 1), (62, 1 << 16)] {
            let (one, step) = (1_i64 << low, 1_i64 << (low - 7));
            for (value, expected) in [
                (one + step / 2, one), // to even
                (one + step / 2 + rest, one + step),
                (one + step / 2 - rest, one),
                (one + step * 3 / 2 - rest, one + step),
                (one + step * 3 / 2, one + step * 2),
            ] {
                assert_eq!([brain(value), brain(-value)], [expected, -expected], "{value}");
            }
        }
        assert_eq!(brain(i64::MIN), i64::MIN);
        assert_eq!(bits::<bf16>(Number::Int(i64::MAX), DataType::Bf16).to_f64(), f64::powi(2.0, 63));
        assert_eq!(bits::<f16>(Number::Int(i64::MIN), DataType::F16), f16::NEG_INFINITY);
    }

    #[test]
    fn numbers_that_a_type_cannot_hold_are_refused() {
        assert!(element_of(Number::Float(1.0), DataType::I32).unwrap_err().contains("integers"));
        assert!(element_of(Number::Int(1 << 31), DataType::I32).unwrap_err().contains("I32"));
        assert!(element_of(Number::Int(-1), DataType::U8).is_err());
    }
}
