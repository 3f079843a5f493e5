//! What an operator is told beside its tensors, as data that outlives the call: what a plan keeps of it, and how that
//! is written.
//!
//! Each argument is a byte that says what it is, and what belongs to that. Numbers are little-endian. The bytes of a
//! stored plan may come from anywhere: reading checks them against what the function takes.

use std::ffi::CString;
use std::fmt;
use std::ops::{Deref, DerefMut};

use acl_sys::aclDataType;

use super::argument::Arg;
use super::operand::Access;
use super::scalar::Scalar;

/// What a parameter of a first phase takes; whether it may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Tensor(Access, bool),
    Tensors(Access, bool),
    Scalar(bool),
    Scalars,
    Ints(bool),
    Floats(bool),
    Bools(bool),
    Text(bool),
    Number(Numeral),
}

/// What a number among the parameters is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numeral {
    /// An integer of so many bytes.
    Int(u8),
    /// One of eight bytes that is not below 0.
    Count,
    Float,
    Truth,
    Type,
}

/// Numbers of Rust that a parameter can be.
pub(super) trait Parameter {
    const NUMERAL: Numeral;
}

macro_rules! numerals {
    ($($number:ty: $numeral:expr;)*) => {$(
        impl Parameter for $number {
            const NUMERAL: Numeral = $numeral;
        }
    )*};
}

numerals! {
    i64: Numeral::Int(8);
    i32: Numeral::Int(4);
    i8: Numeral::Int(1);
    u64: Numeral::Count;
    f64: Numeral::Float;
    f32: Numeral::Float;
    bool: Numeral::Truth;
}

/// A number that was not known when the operator was recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Amount {
    Whole(i64),
    Real(f64),
}

impl Amount {
    fn real(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Real(number) => number,
        }
    }
}

impl Takes {
    /// Whether amounts can be what it takes: several, and ones that are no integers.
    pub(crate) fn amounts(self) -> Option<(bool, bool)> {
        match self {
            Self::Ints(_) => Some((true, false)),
            Self::Floats(_) => Some((true, true)),
            Self::Scalar(_) | Self::Number(Numeral::Float) => Some((false, true)),
            Self::Number(Numeral::Int(_) | Numeral::Count) => Some((false, false)),
            _ => None,
        }
    }
}

/// A list behind one pointer: few arguments are lists, and plans keep many arguments.
#[derive(Clone, PartialEq)]
pub(crate) struct Thin<T>(Box<Box<[T]>>);

impl<T> Deref for Thin<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Thin<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T, L: Into<Box<[T]>>> From<L> for Thin<T> {
    fn from(list: L) -> Self {
        Self(Box::new(list.into()))
    }
}

impl<T> FromIterator<T> for Thin<T> {
    fn from_iter<I: IntoIterator<Item = T>>(all: I) -> Self {
        Self(Box::new(all.into_iter().collect()))
    }
}

impl<T: fmt::Debug> fmt::Debug for Thin<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One argument; a tensor is a place for the next one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    Tensor(Access),
    NoTensor,
    Tensors(u32, Access),
    NoTensors,
    Scalar(Scalar),
    Scalars(Thin<Scalar>),
    Ints(Thin<i64>),
    Floats(Thin<f32>),
    Bools(Thin<bool>),
    Text(Box<CString>),
    Null,
    Number(u64),
}

const TENSOR: u8 = 0;
const NO_TENSOR: u8 = 1;
const TENSORS: u8 = 2;
const NO_TENSORS: u8 = 3;
const SCALAR: u8 = 4;
const SCALARS: u8 = 5;
const INTS: u8 = 6;
const FLOATS: u8 = 7;
const BOOLS: u8 = 8;
const TEXT: u8 = 9;
const NULL: u8 = 10;
const NUMBER: u8 = 11;

impl Told {
    /// None for what only this process knows.
    pub(super) fn of(arg: &Arg<'_>) -> Option<Self> {
        Some(match *arg {
            Arg::Tensor(_, access) => Self::Tensor(access),
            Arg::NoTensor => Self::NoTensor,
            Arg::Tensors(list, access) => Self::Tensors(u32::try_from(list.count()).ok()?, access),
            Arg::NoTensors => Self::NoTensors,
            Arg::Scalar(value) => Self::Scalar(value),
            Arg::Scalars(values) => Self::Scalars(values.into()),
            Arg::Ints(values) => Self::Ints(values.into()),
            Arg::Floats(values) => Self::Floats(values.into()),
            Arg::Bools(values) => Self::Bools(values.into()),
            Arg::Text(text) => Self::Text(Box::new(text.to_owned())),
            Arg::Null => Self::Null,
            Arg::Number(bits) => Self::Number(bits),
        })
    }

    /// The argument, of what is no tensor.
    pub(super) fn argument(&self) -> Option<Arg<'_>> {
        Some(match self {
            Self::Tensor(_) | Self::Tensors(..) => return None,
            Self::NoTensor => Arg::NoTensor,
            Self::NoTensors => Arg::NoTensors,
            Self::Scalar(value) => Arg::Scalar(*value),
            Self::Scalars(values) => Arg::Scalars(values),
            Self::Ints(values) => Arg::Ints(values),
            Self::Floats(values) => Arg::Floats(values),
            Self::Bools(values) => Arg::Bools(values),
            Self::Text(text) => Arg::Text(text),
            Self::Null => Arg::Null,
            Self::Number(bits) => Arg::Number(*bits),
        })
    }

    /// As [`Arg::note`] of what it came from.
    pub(super) fn note(&self, words: &mut Vec<u64>) {
        match (self, self.argument()) {
            (_, Some(arg)) => arg.note(words),
            (Self::Tensors(count, _), None) => words.push(2 | u64::from(*count) << 8),
            (_, None) => words.push(1),
        }
    }

    /// How many tensors it is, and what is done with them.
    pub(crate) fn tensors(&self) -> Option<(u32, Access)> {
        match *self {
            Self::Tensor(access) => Some((1, access)),
            Self::Tensors(count, access) => Some((count, access)),
            _ => None,
        }
    }

    /// An integer, a type, or a truth value.
    pub(crate) fn int(&self) -> Option<i64> {
        if let Self::Number(bits) = self { Some(bits.cast_signed()) } else { None }
    }

    /// A number that is no integer.
    pub(crate) fn real(&self) -> Option<f64> {
        if let Self::Number(bits) = self { Some(f64::from_bits(*bits)) } else { None }
    }

    /// A list of integers.
    pub(crate) fn ints(&self) -> Option<&[i64]> {
        if let Self::Ints(numbers) = self { Some(numbers) } else { None }
    }

    pub(crate) fn scalar(&self) -> Option<Scalar> {
        if let Self::Scalar(scalar) = self { Some(*scalar) } else { None }
    }

    /// Other numbers in its place; a scalar keeps its type. None where the parameter has no such number.
    pub(super) fn retold(&self, takes: Takes, amounts: &[Amount]) -> Option<Self> {
        let whole = |amount: &Amount| if let Amount::Whole(number) = amount { Some(*number) } else { None };
        Some(match (takes, amounts) {
            (Takes::Ints(_), _) => Self::Ints(amounts.iter().map(whole).collect::<Option<_>>()?),
            (Takes::Floats(_), _) => Self::Floats(amounts.iter().map(|amount| amount.real() as f32).collect()),
            (Takes::Number(Numeral::Float), [amount]) => Self::Number(amount.real().to_bits()),
            (Takes::Number(Numeral::Int(bytes)), [amount]) => {
                let (number, spare) = (whole(amount)?, 64 - 8 * u32::from(bytes));
                let fits = number << spare >> spare == number;
                Self::Number(fits.then_some(number)?.cast_unsigned())
            }
            (Takes::Number(Numeral::Count), [amount]) => Self::Number(u64::try_from(whole(amount)?).ok()?),
            (Takes::Scalar(_), [amount]) => match (self, amount) {
                (Self::Scalar(scalar), Amount::Whole(number)) => Self::Scalar(scalar.with_int(*number)?),
                (Self::Scalar(scalar), Amount::Real(number)) => Self::Scalar(scalar.with_float(*number)?),
                (_, Amount::Whole(number)) => Self::Scalar(Scalar::from(*number)),
                (_, Amount::Real(number)) => Self::Scalar(Scalar::from(*number)),
            },
            _ => return None,
        })
    }

    fn write(&self, to: &mut Vec<u8>) {
        let count = |to: &mut Vec<u8>, kind: u8, count: usize| {
            to.push(kind);
            to.extend((count as u32).to_le_bytes());
        };
        match self {
            Self::Tensor(access) => to.extend([TENSOR, access_byte(*access)]),
            Self::NoTensor => to.push(NO_TENSOR),
            Self::Tensors(all, access) => {
                count(to, TENSORS, *all as usize);
                to.push(access_byte(*access));
            }
            Self::NoTensors => to.push(NO_TENSORS),
            Self::Scalar(value) => {
                to.push(SCALAR);
                write_scalar(*value, to);
            }
            Self::Scalars(values) => {
                count(to, SCALARS, values.len());
                values.iter().for_each(|value| write_scalar(*value, to));
            }
            Self::Ints(values) => {
                count(to, INTS, values.len());
                values.iter().for_each(|value| to.extend(value.to_le_bytes()));
            }
            Self::Floats(values) => {
                count(to, FLOATS, values.len());
                values.iter().for_each(|value| to.extend(value.to_le_bytes()));
            }
            Self::Bools(values) => {
                count(to, BOOLS, values.len());
                to.extend(values.iter().map(|value| u8::from(*value)));
            }
            Self::Text(text) => {
                count(to, TEXT, text.as_bytes().len());
                to.extend(text.as_bytes());
            }
            Self::Null => to.push(NULL),
            Self::Number(bits) => {
                to.push(NUMBER);
                to.extend(bits.to_le_bytes());
            }
        }
    }

    #[cfg_attr(not(feature = "cache"), allow(dead_code, reason = "only stored plans are read"))]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        Some(match from.byte()? {
            TENSOR => Self::Tensor(from.access()?),
            NO_TENSOR => Self::NoTensor,
            TENSORS => Self::Tensors(u32::from_le_bytes(from.array()?), from.access()?),
            NO_TENSORS => Self::NoTensors,
            SCALAR => Self::Scalar(from.scalar()?),
            SCALARS => Self::Scalars(from.list(12, Bytes::scalar)?),
            INTS => Self::Ints(from.list(8, |bytes| bytes.array().map(i64::from_le_bytes))?),
            FLOATS => Self::Floats(from.list(4, |bytes| bytes.array().map(f32::from_le_bytes))?),
            BOOLS => Self::Bools(from.list(1, Bytes::truth)?),
            TEXT => Self::Text(Box::new(CString::new(&*from.list(1, Bytes::byte)?).ok()?)),
            NULL => Self::Null,
            NUMBER => Self::Number(u64::from_le_bytes(from.array()?)),
            _ => return None,
        })
    }

    /// Whether a parameter takes it.
    fn fits(&self, takes: Takes) -> bool {
        match (self, takes) {
            (Self::Tensor(is), Takes::Tensor(takes, _)) | (Self::Tensors(_, is), Takes::Tensors(takes, _)) => {
                *is == takes
            }
            (Self::NoTensor, Takes::Tensor(_, optional)) | (Self::NoTensors, Takes::Tensors(_, optional)) => optional,
            (
                Self::Null,
                Takes::Scalar(optional)
                | Takes::Ints(optional)
                | Takes::Floats(optional)
                | Takes::Bools(optional)
                | Takes::Text(optional),
            ) => optional,
            (Self::Scalar(_), Takes::Scalar(_))
            | (Self::Scalars(_), Takes::Scalars)
            | (Self::Ints(_), Takes::Ints(_))
            | (Self::Floats(_), Takes::Floats(_))
            | (Self::Bools(_), Takes::Bools(_))
            | (Self::Text(_), Takes::Text(_))
            | (Self::Number(_), Takes::Number(_)) => true,
            _ => false,
        }
    }
}

/// The bytes of all arguments.
pub(super) fn write<'a>(all: impl Iterator<Item = &'a Told>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16);
    all.for_each(|one| one.write(&mut bytes));
    bytes
}

/// The arguments that bytes are, which fit the parameters one by one.
#[cfg_attr(not(feature = "cache"), allow(dead_code, reason = "only stored plans are read"))]
pub(super) fn read(bytes: &[u8], takes: &[Takes]) -> Result<Vec<Told>, String> {
    let mut from = Bytes(bytes);
    let mut all = Vec::with_capacity(takes.len());
    for (index, takes) in takes.iter().enumerate() {
        match Told::read(&mut from) {
            Some(told) if told.fits(*takes) => all.push(told),
            Some(told) => return Err(format!("argument {index} is {told:?}, and it takes {takes:?}")),
            None => return Err(format!("argument {index} cannot be read")),
        }
    }
    if from.0.is_empty() { Ok(all) } else { Err(format!("{} bytes behind the last argument", from.0.len())) }
}

fn access_byte(access: Access) -> u8 {
    match access {
        Access::Read => 0,
        Access::Write => 1,
        Access::ReadWrite => 2,
    }
}

fn write_scalar(value: Scalar, to: &mut Vec<u8>) {
    let (kind, element) = value.parts();
    to.extend(kind.0.to_le_bytes());
    to.extend(element);
}

/// Bytes that are left.
struct Bytes<'a>(&'a [u8]);

#[cfg_attr(not(feature = "cache"), allow(dead_code, reason = "only stored plans are read"))]
impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn truth(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn access(&mut self) -> Option<Access> {
        match self.byte()? {
            0 => Some(Access::Read),
            1 => Some(Access::Write),
            2 => Some(Access::ReadWrite),
            _ => None,
        }
    }

    fn scalar(&mut self) -> Option<Scalar> {
        let kind = aclDataType(i32::from_le_bytes(self.array()?));
        Scalar::from_parts(kind, self.array()?)
    }

    /// No more room is taken than the bytes that are left can fill.
    fn list<T>(&mut self, least: usize, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Thin<T>> {
        let count = u32::from_le_bytes(self.array()?) as usize;
        if count > self.0.len() / least {
            return None;
        }
        (0..count).map(|_| read(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKES: [Takes; 12] = [
        Takes::Tensor(Access::Read, false),
        Takes::Tensor(Access::Read, true),
        Takes::Tensors(Access::Write, false),
        Takes::Tensors(Access::Read, true),
        Takes::Scalar(false),
        Takes::Scalars,
        Takes::Ints(false),
        Takes::Floats(false),
        Takes::Bools(false),
        Takes::Text(false),
        Takes::Text(true),
        Takes::Number(Numeral::Int(8)),
    ];

    fn one_of_each() -> Vec<Told> {
        vec![
            Told::Tensor(Access::Read),
            Told::NoTensor,
            Told::Tensors(3, Access::Write),
            Told::NoTensors,
            Told::Scalar(Scalar::from(2.5_f32)),
            Told::Scalars([Scalar::from(1_i64), Scalar::from(true)].into()),
            Told::Ints([-1, i64::MAX].into()),
            Told::Floats([0.5, -0.0].into()),
            Told::Bools([true, false].into()),
            Told::Text(Box::new(c"BSND".to_owned())),
            Told::Null,
            Told::Number(u64::MAX),
        ]
    }

    #[test]
    fn an_argument_is_two_words() {
        assert_eq!(size_of::<Told>(), 16);
    }

    #[test]
    fn arguments_come_back_as_they_were_written() {
        let all = one_of_each();
        assert_eq!(read(&write(all.iter()), &TAKES), Ok(all));
        assert_eq!(read(&[], &[]), Ok(Vec::new()));
    }

    #[test]
    fn bytes_that_are_no_arguments_are_refused() {
        let whole = write(one_of_each().iter());
        for length in 0..whole.len() {
            assert!(read(&whole[..length], &TAKES).is_err(), "{length} bytes of {}", whole.len());
        }
        assert!(read(&[&whole[..], &[0]].concat(), &TAKES).unwrap_err().contains("1 bytes behind"));
        // A list that says it is longer than all that is left.
        assert!(read(&[INTS, 0xff, 0xff, 0xff, 0xff], &[Takes::Ints(false)]).is_err());
        assert!(read(&[BOOLS, 1, 0, 0, 0, 2], &[Takes::Bools(false)]).is_err(), "neither true nor false");
        assert!(read(&[TEXT, 1, 0, 0, 0, 0], &[Takes::Text(false)]).is_err(), "a zero in a text");
    }

    #[test]
    fn an_argument_that_the_function_does_not_take_is_refused() {
        let refused = |told: Told, takes| read(&write([told].iter()), &[takes]).is_err();
        assert!(refused(Told::Number(1), Takes::Scalar(false)), "a number for a pointer");
        assert!(refused(Told::Tensor(Access::Read), Takes::Tensors(Access::Read, false)));
        assert!(refused(Told::Tensor(Access::Read), Takes::Tensor(Access::Write, false)));
        assert!(refused(Told::NoTensor, Takes::Tensor(Access::Read, false)), "one that has to be there");
        assert!(refused(Told::Null, Takes::Ints(false)));
        assert!(refused(Told::Scalar(Scalar::from(1_i32)), Takes::Scalars));
    }

    #[test]
    fn a_scalar_of_no_known_type_is_refused() {
        let mut bytes = write([Told::Scalar(Scalar::from(1_i32))].iter());
        bytes[1..5].copy_from_slice(&999_i32.to_le_bytes());
        assert!(read(&bytes, &[Takes::Scalar(false)]).is_err());
    }
}
