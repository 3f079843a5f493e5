//! Numbers that operators take from the host.

use std::sync::atomic::{AtomicPtr, Ordering};

use acl_sys::{aclDataType, aclScalar};
use half::{bf16, f16};

use super::argument::{Arg, Object};
use super::element::{DataType, Element, Numeric};
use crate::call::pointer;
use crate::context::ContextInner;
use crate::error::{Error, Result};

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
        let made = Scalar::from(T::ONE).describe(context)?;
        match slot.compare_exchange(std::ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(made),
            Err(other) => {
                // Another thread was first; this one's goes away.
                Object::Scalar(made).destroy(context);
                Ok(other)
            }
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
                Object::Scalar(raw).destroy(context);
            }
        }
    }
}

/// A number that an operator scales an operand by.
pub(crate) enum Factor {
    /// One of [`Ones`], which lives as long as its context.
    Shared(*const aclScalar),
    Own(Scalar),
}

impl From<Factor> for Arg<'_> {
    fn from(factor: Factor) -> Self {
        match factor {
            Factor::Shared(one) => Self::Shared(one),
            Factor::Own(scalar) => Self::Scalar(scalar),
        }
    }
}
