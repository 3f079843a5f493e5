//! Functions of a binary, and what is known of them.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use acl_sys::{aclrtFuncAttribute, aclrtFuncHandle, aclrtKernelType};

use super::attributes::Schedule;
use super::binary::{BinaryInner, KernelBinary};
use super::failure;
use super::launch::KernelLaunch;
use crate::call::call;
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};
use crate::stream::Stream;

/// A kernel: a function that runs on the device, once for each block of a launch.
///
/// [`Kernel::launch`] begins a launch. A kernel keeps its binary loaded; clones are cheap. Any thread may use it.
///
/// C calls: `aclrtGetFunctionAttribute`, `aclrtGetFunctionSize`, `aclrtFunctionGetParamCount`,
/// `aclrtFunctionGetParamInfo`, and those of [`KernelLaunch`].
#[derive(Clone)]
#[doc(alias = "aclrtFuncHandle")]
pub struct Kernel(Arc<KernelInner>);

struct KernelInner {
    raw: aclrtFuncHandle,
    name: String,
    parameters: Option<Vec<KernelParameter>>,
    binary: Arc<BinaryInner>,
}

// SAFETY: the runtime's guide on threads lets any thread use a function whose context it has made current, which every
// call here does first; the handle is only passed on.
unsafe impl Send for KernelInner {}
// SAFETY: as above; the function is not changed by its launches.
unsafe impl Sync for KernelInner {}

/// A parameter that a kernel declares: where it is in the block of arguments, and its size, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelParameter {
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl KernelParameter {
    /// The byte at which it begins.
    #[must_use]
    pub fn offset(self) -> usize {
        self.offset
    }

    /// Its bytes.
    #[must_use]
    pub fn size(self) -> usize {
        self.size
    }
}

/// The cores that a kernel is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtKernelType")]
pub enum KernelKind {
    /// Either kind of AI core.
    AiCore,
    /// Cube cores.
    Cube,
    /// Vector cores.
    Vector,
    /// Cube and vector cores together ([`Kernel::cores_per_block`]).
    Mix,
    /// The AI CPU.
    AiCpu,
    /// A number that this crate has no name for.
    Other(i64),
}

/// The cores that each block of a launch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelCores {
    /// Cube cores.
    pub cube: u16,
    /// Vector cores.
    pub vector: u16,
}

/// Far more than the runtime takes, which is 128.
const MOST_PARAMETERS: usize = 4096;

impl Kernel {
    pub(super) fn new(raw: aclrtFuncHandle, name: String, binary: &Arc<BinaryInner>) -> Result<Self> {
        let context = binary.handle.context();
        let parameters = parameters_of(context, raw)?;
        failure::name(context, binary.handle.raw(), raw, &name);
        Ok(Self(Arc::new(KernelInner { raw, name, parameters, binary: Arc::clone(binary) })))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The parameters that it declares, in their order; none where its binary, or the library, does not say. Launches
    /// are checked against them.
    #[must_use]
    #[doc(alias = "aclrtFunctionGetParamInfo")]
    pub fn parameters(&self) -> Option<&[KernelParameter]> {
        self.0.parameters.as_deref()
    }

    /// The binary that it is in.
    #[must_use]
    pub fn binary(&self) -> KernelBinary {
        KernelBinary(Arc::clone(&self.0.binary))
    }

    /// Begins a launch of one block without arguments on `stream`. Nothing is launched before
    /// [`KernelLaunch::submit`].
    #[inline]
    pub fn launch<'a>(&'a self, stream: &'a Stream) -> KernelLaunch<'a> {
        KernelLaunch::new(self, stream)
    }

    /// The cores that it is for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library that does not tell.
    #[doc(alias = "ACL_FUNC_ATTR_KERNEL_TYPE")]
    pub fn kind(&self) -> Result<KernelKind> {
        let value = self.attribute(aclrtFuncAttribute::ACL_FUNC_ATTR_KERNEL_TYPE)?;
        let known = u32::try_from(value).map(aclrtKernelType);
        Ok(match known {
            Ok(aclrtKernelType::ACL_KERNEL_TYPE_AICORE) => KernelKind::AiCore,
            Ok(aclrtKernelType::ACL_KERNEL_TYPE_CUBE) => KernelKind::Cube,
            Ok(aclrtKernelType::ACL_KERNEL_TYPE_VECTOR) => KernelKind::Vector,
            Ok(aclrtKernelType::ACL_KERNEL_TYPE_MIX) => KernelKind::Mix,
            Ok(aclrtKernelType::ACL_KERNEL_TYPE_AICPU) => KernelKind::AiCpu,
            _ => KernelKind::Other(value),
        })
    }

    /// The cores that each block takes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a kernel of the AI CPU, and as [`kind`](Self::kind).
    #[doc(alias = "ACL_FUNC_ATTR_KERNEL_RATIO")]
    pub fn cores_per_block(&self) -> Result<KernelCores> {
        let value = self.attribute(aclrtFuncAttribute::ACL_FUNC_ATTR_KERNEL_RATIO)?;
        let unknown = |_| Error::new(ErrorKind::UnknownValue, format!("cores of a kernel: {value:#x}"));
        let value = u32::try_from(value).map_err(unknown)?;
        Ok(KernelCores { cube: (value >> 16) as u16, vector: (value & 0xFFFF) as u16 })
    }

    /// How its blocks start, unless a launch says otherwise.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::UnknownValue`] for a number that this crate has no name for, and as [`kind`](Self::kind).
    #[doc(alias = "ACL_FUNC_ATTR_KERNEL_SCHED_MODE")]
    pub fn schedule(&self) -> Result<Schedule> {
        match self.attribute(aclrtFuncAttribute::ACL_FUNC_ATTR_KERNEL_SCHED_MODE)? {
            0 => Ok(Schedule::Normal),
            1 => Ok(Schedule::Batch),
            other => Err(Error::new(ErrorKind::UnknownValue, format!("schedule mode {other} of a kernel"))),
        }
    }

    fn attribute(&self, kind: aclrtFuncAttribute) -> Result<i64> {
        let mut value = 0;
        // SAFETY: a live handle, and a place for one number.
        let asked = unsafe { call!(self.context(), aclrtGetFunctionAttribute(self.as_raw(), kind, &raw mut value)) };
        asked.map(|()| value)
    }

    /// The bytes of its code for cube cores, and of that for vector cores; 0 where it has none.
    ///
    /// # Errors
    ///
    /// As [`cores_per_block`](Self::cores_per_block).
    #[doc(alias = "aclrtGetFunctionSize")]
    pub fn code_bytes(&self) -> Result<(usize, usize)> {
        let (mut cube, mut vector) = (0, 0);
        // SAFETY: a live handle, and places for two numbers.
        unsafe { call!(self.context(), aclrtGetFunctionSize(self.as_raw(), &raw mut cube, &raw mut vector)) }?;
        Ok((cube, vector))
    }

    /// Where its code for cube cores and that for vector cores is on the device; null where it has none. They must not
    /// be dereferenced on the host.
    ///
    /// # Errors
    ///
    /// As [`cores_per_block`](Self::cores_per_block).
    #[doc(alias = "aclrtGetFunctionAddr")]
    pub fn code_addresses(&self) -> Result<(*mut c_void, *mut c_void)> {
        let (mut cube, mut vector) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a live handle, and places for two addresses.
        unsafe { call!(self.context(), aclrtGetFunctionAddr(self.as_raw(), &raw mut cube, &raw mut vector)) }?;
        Ok((cube, vector))
    }

    /// How many bytes on the core a block may divide itself ([`KernelLaunch::dynamic_memory`]): zero for a kernel that
    /// is none of threads (SIMT), and on chips without cores for such.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library that does not tell.
    #[doc(alias = "aclrtFunctionGetAvailDynUbufPerBlock")]
    pub fn dynamic_memory_per_block(&self) -> Result<usize> {
        let mut bytes = 0;
        // SAFETY: a live handle, no flags, and a place for one number.
        unsafe { call!(self.context(), aclrtFunctionGetAvailDynUbufPerBlock(self.as_raw(), 0, &raw mut bytes)) }?;
        Ok(bytes)
    }

    /// The raw handle. Valid as long as this value; launches of it beside this crate are not tracked.
    #[must_use]
    pub fn as_raw(&self) -> aclrtFuncHandle {
        self.0.raw
    }

    pub(super) fn inner(&self) -> &BinaryInner {
        &self.0.binary
    }

    fn context(&self) -> &ContextInner {
        self.0.binary.handle.context()
    }
}

/// What the library tells of parameters; nothing where the binary does not describe them.
fn parameters_of(context: &ContextInner, function: aclrtFuncHandle) -> Result<Option<Vec<KernelParameter>>> {
    let mut count = 0;
    // SAFETY: a live handle, and a place for one number.
    let asked = unsafe { call!(context, aclrtFunctionGetParamCount(function, &raw mut count)) };
    if asked.as_ref().is_err_and(is_not_told) {
        return Ok(None);
    }
    asked?;
    if count > MOST_PARAMETERS {
        return Err(Error::new(ErrorKind::UnknownValue, format!("a kernel with {count} parameters")));
    }
    let ask = |index| {
        let (mut offset, mut size) = (0, 0);
        // SAFETY: as above; the index is below the count.
        unsafe { call!(context, aclrtFunctionGetParamInfo(function, index, &raw mut offset, &raw mut size)) }
            .map(|()| KernelParameter { offset, size })
    };
    (0..count).map(ask).collect::<Result<_>>().map(Some)
}

/// Not described, not for its kind of kernel, or no such question.
fn is_not_told(error: &Error) -> bool {
    matches!(error.code(), Some(107_000 | 207_000)) || error.kind() == ErrorKind::MissingSymbol
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).field("raw", &self.0.raw).finish_non_exhaustive()
    }
}
