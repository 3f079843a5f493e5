//! Scalars and integer arrays that operators take from the host.

use std::sync::atomic::{AtomicPtr, Ordering};

use acl_sys::{aclIntArray, aclScalar};
use half::{bf16, f16};

use super::element::{DataType, Element, Numeric};
use super::owned::owned;
use crate::call::pointer;
use crate::context::ContextInner;
use crate::error::{Error, Result};

owned! {
    /// A number with its type.
    Scalar, aclScalar, aclDestroyScalar
}

impl<'a> Scalar<'a> {
    pub(crate) fn new<T: Element>(context: &'a ContextInner, value: T) -> Result<Self> {
        let mut element = [0; 8];
        element[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        Self::of(context, T::TYPE, element)
    }

    /// The first bytes of `element` are one of type `dtype`.
    pub(crate) fn of(context: &'a ContextInner, dtype: DataType, element: [u8; 8]) -> Result<Self> {
        // As a number, for the alignment of every type.
        let mut element = u64::from_ne_bytes(element);
        // SAFETY: `element` begins with one element of the type that is named; the call copies it.
        let raw = unsafe { pointer!(context, aclCreateScalar((&raw mut element).cast(), dtype.raw())) }?;
        Ok(Self::own(raw, context))
    }
}

/// The number one in each type, for operators that scale an operand by a factor which is nearly always one. Made when
/// first used and kept with the context; operators only read it.
#[derive(Debug, Default)]
pub(crate) struct Ones([AtomicPtr<aclScalar>; DataType::COUNT]);

impl Ones {
    pub(crate) fn get<T: Numeric>(&self, context: &ContextInner) -> Result<*const aclScalar> {
        let slot = &self.0[T::TYPE as usize];
        let known = slot.load(Ordering::Acquire);
        if !known.is_null() {
            return Ok(known);
        }
        let made = Scalar::new(context, T::ONE)?;
        match slot.compare_exchange(std::ptr::null_mut(), made.raw, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                let raw = made.raw;
                std::mem::forget(made);
                Ok(raw)
            }
            // Another thread was first; this one's goes away.
            Err(other) => Ok(other),
        }
    }

    pub(crate) fn of(&self, context: &ContextInner, dtype: DataType) -> Result<*const aclScalar> {
        match dtype {
            DataType::F32 => self.get::<f32>(context),
            DataType::F16 => self.get::<f16>(context),
            DataType::Bf16 => self.get::<bf16>(context),
            DataType::I32 => self.get::<i32>(context),
            DataType::I64 => self.get::<i64>(context),
            other => Err(Error::invalid(format!("no arithmetic with elements of type {other:?}"))),
        }
    }

    /// At the end of the context.
    pub(crate) fn destroy_all(&self, context: &ContextInner) {
        for slot in &self.0 {
            let raw = slot.swap(std::ptr::null_mut(), Ordering::AcqRel);
            if !raw.is_null() {
                drop(Scalar::own(raw, context));
            }
        }
    }
}

/// A number that an operator scales an operand by.
pub(crate) enum Factor<'a> {
    /// One of [`Ones`], which lives as long as its context.
    Shared(*const aclScalar),
    Own(Scalar<'a>),
}

impl Factor<'_> {
    pub(crate) fn raw(&self) -> *const aclScalar {
        match self {
            Self::Shared(raw) => *raw,
            Self::Own(scalar) => scalar.raw(),
        }
    }
}

owned! {
    /// Dimensions, sizes and the like.
    IntArray, aclIntArray, aclDestroyIntArray
}

impl<'a> IntArray<'a> {
    pub(crate) fn new(context: &'a ContextInner, values: &[i64]) -> Result<Self> {
        // SAFETY: the array has as many numbers as are named; the call copies them.
        let raw = unsafe { pointer!(context, aclCreateIntArray(values.as_ptr(), values.len() as u64)) }?;
        Ok(Self::own(raw, context))
    }
}
