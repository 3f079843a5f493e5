//! Arguments of first phases: what they are in Rust, in C, and as a part of a signature.

use std::ffi::{CStr, CString, c_char, c_void};

use acl_sys::{
    aclBoolArray, aclDataType, aclFloatArray, aclIntArray, aclScalar, aclScalarList, aclTensor, aclTensorList,
};

use super::operand::{self, Access, List, Operand};
use super::scalar::Scalar;
use crate::call::{call, pointer};
use crate::context::ContextInner;
use crate::error::Result;

/// One argument of a first phase.
#[derive(Clone, Copy)]
pub(crate) enum Arg<'a> {
    Tensor(&'a dyn Operand, Access),
    /// Where a tensor may be left out.
    NoTensor,
    Tensors(&'a dyn List, Access),
    NoTensors,
    Scalar(Scalar),
    Scalars(&'a [Scalar]),
    Ints(&'a [i64]),
    Floats(&'a [f32]),
    Bools(&'a [bool]),
    Text(&'a CStr),
    /// Anything else that may be left out.
    Null,
    /// Its bits; those of a float are those of an `f64`.
    Number(u64),
}

/// What is passed for an argument: a pointer, or the bits of a number.
///
/// Both are there, one of them null or 0, so that nothing is asked where it is passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pointer: *mut c_void,
    number: u64,
}

/// A C type of a parameter.
pub(crate) trait Parameter {
    fn take(slot: Slot) -> Self;
}

impl Slot {
    const fn of_pointer(pointer: *mut c_void) -> Self {
        Self { pointer, number: 0 }
    }

    const fn of_number(number: u64) -> Self {
        Self { pointer: std::ptr::null_mut(), number }
    }

    pub(super) fn pointer(self) -> *mut c_void {
        self.pointer
    }
}

macro_rules! pointers {
    ($($object:ty),*) => {$(
        impl Parameter for *const $object {
            fn take(slot: Slot) -> Self {
                slot.pointer().cast::<$object>().cast_const()
            }
        }
        impl Parameter for *mut $object {
            fn take(slot: Slot) -> Self {
                slot.pointer().cast()
            }
        }
    )*};
}

pointers!(aclTensor, aclTensorList, aclScalar, aclScalarList, aclIntArray, aclFloatArray, aclBoolArray, c_char);

macro_rules! numbers {
    ($($number:ty: $slot:ident => $from:expr;)*) => {$(
        impl Parameter for $number {
            fn take(slot: Slot) -> Self {
                let $slot = slot.number;
                $from
            }
        }
    )*};
}

numbers! {
    i64: bits => bits.cast_signed();
    u64: bits => bits;
    i32: bits => bits as Self;
    i8: bits => bits as Self;
    bool: bits => bits != 0;
    f64: bits => Self::from_bits(bits);
    f32: bits => f64::from_bits(bits) as Self;
    aclDataType: bits => Self(bits as i32);
}

macro_rules! number_arguments {
    ($($number:ty: $value:ident => $bits:expr;)*) => {$(
        impl From<$number> for Arg<'_> {
            fn from($value: $number) -> Self {
                Self::Number($bits)
            }
        }
    )*};
}

number_arguments! {
    i64: value => value.cast_unsigned();
    u64: value => value;
    i32: value => i64::from(value).cast_unsigned();
    i8: value => i64::from(value).cast_unsigned();
    bool: value => u64::from(value);
    f64: value => value.to_bits();
    // Exactly the same number as an f64, except that a NaN may lose its payload.
    f32: value => f64::from(value).to_bits();
    aclDataType: value => u64::from(value.0.cast_unsigned());
}

impl From<Scalar> for Arg<'_> {
    fn from(value: Scalar) -> Self {
        Self::Scalar(value)
    }
}

impl<'a> From<&'a [i64]> for Arg<'a> {
    fn from(values: &'a [i64]) -> Self {
        Self::Ints(values)
    }
}

impl Arg<'_> {
    /// The values that are part of the signature. What a tensor adds to it comes from its view.
    #[inline]
    pub(super) fn note(&self, words: &mut Vec<u64>) {
        match *self {
            Self::Tensor(..) => words.push(1),
            Self::Tensors(list, _) => words.push(2 | (list.count() as u64) << 8),
            Self::NoTensor | Self::NoTensors | Self::Null => words.push(3),
            Self::Scalar(value) => words.extend(value.words()),
            Self::Scalars(values) => {
                words.push(5 | (values.len() as u64) << 8);
                values.iter().for_each(|value| words.extend(value.words()));
            }
            Self::Ints(values) => {
                words.push(6 | (values.len() as u64) << 8);
                words.extend(values.iter().map(|value| value.cast_unsigned()));
            }
            Self::Floats(values) => {
                words.push(7 | (values.len() as u64) << 8);
                words.extend(values.iter().map(|value| u64::from(value.to_bits())));
            }
            Self::Bools(values) => {
                words.push(8 | (values.len() as u64) << 8);
                words.extend(values.iter().map(|value| u64::from(*value)));
            }
            Self::Text(text) => {
                let bytes = text.to_bytes();
                words.push(9 | (bytes.len() as u64) << 8);
                words.extend(bytes.iter().map(|byte| u64::from(*byte)));
            }
            Self::Number(bits) => words.push(bits),
        }
    }
}

/// An object of the operator library that this crate made.
#[derive(Debug, Clone, Copy)]
pub(super) enum Object {
    Tensor(*mut aclTensor),
    Tensors(*mut aclTensorList),
    Scalar(*mut aclScalar),
    Scalars(*mut aclScalarList),
    Ints(*mut aclIntArray),
    Floats(*mut aclFloatArray),
    Bools(*mut aclBoolArray),
}

impl Object {
    pub(super) fn destroy(self, context: &ContextInner) {
        macro_rules! end {
            ($destroy:ident, $raw:ident) => {
                // SAFETY: each object is destroyed once, by its owner; a list destroys its members, which have no
                // other one.
                unsafe { call!(context, $destroy($raw)) }
            };
        }
        let done = match self {
            Self::Tensor(raw) => end!(aclDestroyTensor, raw),
            Self::Tensors(raw) => end!(aclDestroyTensorList, raw),
            Self::Scalar(raw) => end!(aclDestroyScalar, raw),
            Self::Scalars(raw) => end!(aclDestroyScalarList, raw),
            Self::Ints(raw) => end!(aclDestroyIntArray, raw),
            Self::Floats(raw) => end!(aclDestroyFloatArray, raw),
            Self::Bools(raw) => end!(aclDestroyBoolArray, raw),
        };
        if let Err(error) = done {
            context.record_drop_error("destroying an operator's description", error);
        }
    }
}

/// The objects for one first phase; destroyed with this value, unless they are kept.
pub(super) struct Objects<'c> {
    context: &'c ContextInner,
    made: Vec<Object>,
    /// The library may look at texts as long as at the rest.
    texts: Vec<CString>,
    /// What is passed, an argument each.
    pub(super) slots: Vec<Slot>,
}

impl<'c> Objects<'c> {
    pub(super) fn make(context: &'c ContextInner, args: &[Arg<'_>]) -> Result<Self> {
        let count = args.len();
        let (made, slots) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut objects = Self { context, made, texts: Vec::new(), slots };
        for arg in args {
            let slot = objects.slot(arg)?;
            objects.slots.push(slot);
        }
        Ok(objects)
    }

    /// For someone else to destroy.
    pub(super) fn keep(mut self) -> (Vec<Object>, Vec<CString>) {
        (std::mem::take(&mut self.made), std::mem::take(&mut self.texts))
    }

    fn slot(&mut self, arg: &Arg<'_>) -> Result<Slot> {
        let pointer = match *arg {
            Arg::Number(bits) => return Ok(Slot::of_number(bits)),
            Arg::NoTensor | Arg::NoTensors | Arg::Null => std::ptr::null_mut(),
            Arg::Text(text) => {
                self.texts.push(text.to_owned());
                self.texts[self.texts.len() - 1].as_ptr().cast_mut().cast()
            }
            Arg::Tensor(operand, _) => self.tensor(operand)?.cast(),
            Arg::Tensors(list, _) => self.list(list)?.cast(),
            Arg::Scalar(value) => self.scalar(value)?.cast(),
            Arg::Scalars(values) => self.scalar_list(values)?.cast(),
            Arg::Ints(values) => {
                let (first, count) = (values.as_ptr(), values.len() as u64);
                // SAFETY: the array has as many numbers as are named; the call copies them.
                let raw = unsafe { pointer!(self.context, aclCreateIntArray(first, count)) }?;
                self.made.push(Object::Ints(raw));
                raw.cast()
            }
            Arg::Floats(values) => {
                let (first, count) = (values.as_ptr(), values.len() as u64);
                // SAFETY: as above.
                let raw = unsafe { pointer!(self.context, aclCreateFloatArray(first, count)) }?;
                self.made.push(Object::Floats(raw));
                raw.cast()
            }
            Arg::Bools(values) => {
                let (first, count) = (values.as_ptr(), values.len() as u64);
                // SAFETY: as above.
                let raw = unsafe { pointer!(self.context, aclCreateBoolArray(first, count)) }?;
                self.made.push(Object::Bools(raw));
                raw.cast()
            }
        };
        Ok(Slot::of_pointer(pointer))
    }

    fn tensor(&mut self, operand: &dyn Operand) -> Result<*mut aclTensor> {
        let raw = operand::memory(operand)?.describe(self.context)?;
        self.made.push(Object::Tensor(raw));
        Ok(raw)
    }

    fn scalar(&mut self, value: Scalar) -> Result<*mut aclScalar> {
        let raw = value.describe(self.context)?;
        self.made.push(Object::Scalar(raw));
        Ok(raw)
    }

    /// The members belong to the list once it is there; before, to this value.
    fn list(&mut self, list: &dyn List) -> Result<*mut aclTensorList> {
        let before = self.made.len();
        let members = (0..list.count()).map(|index| self.tensor(list.at(index)).map(<*mut _>::cast_const));
        let members = members.collect::<Result<Vec<_>>>()?;
        let (first, count) = (members.as_ptr(), members.len() as u64);
        // SAFETY: as many live tensors as are named, which nobody else will destroy.
        let raw = unsafe { pointer!(self.context, aclCreateTensorList(first, count)) }?;
        self.made.truncate(before);
        self.made.push(Object::Tensors(raw));
        Ok(raw)
    }

    /// As [`Objects::list`].
    fn scalar_list(&mut self, values: &[Scalar]) -> Result<*mut aclScalarList> {
        let before = self.made.len();
        let members = values.iter().map(|value| self.scalar(*value).map(<*mut _>::cast_const));
        let members = members.collect::<Result<Vec<_>>>()?;
        let (first, count) = (members.as_ptr(), members.len() as u64);
        // SAFETY: as many live scalars as are named, which nobody else will destroy.
        let raw = unsafe { pointer!(self.context, aclCreateScalarList(first, count)) }?;
        self.made.truncate(before);
        self.made.push(Object::Scalars(raw));
        Ok(raw)
    }
}

impl Drop for Objects<'_> {
    fn drop(&mut self) {
        for object in std::mem::take(&mut self.made) {
            object.destroy(self.context);
        }
    }
}
