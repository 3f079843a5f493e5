//! Reductions into memory, which the copy engine does, without a kernel.

use std::panic::Location;

use acl_sys::aclrtReduceKind;

use super::Element;
use crate::call::call;
use crate::error::{Error, Result};
use crate::memory::{DeviceRead, DeviceWrite, Touch};
use crate::stream::{Stream, Task};

/// What becomes of two elements: [`reduce_into`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclrtReduceKind")]
pub enum ReduceKind {
    /// Their sum.
    Sum,
    /// The greater one.
    Max,
    /// The lesser one.
    Min,
}

impl ReduceKind {
    fn raw(self) -> aclrtReduceKind {
        match self {
            Self::Sum => aclrtReduceKind::ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
            Self::Max => aclrtReduceKind::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
            Self::Min => aclrtReduceKind::ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN,
        }
    }
}

/// Reduces `from` into `to`, element by element, when the stream gets there: `to[i] = to[i] + from[i]`, or the greater or
/// lesser one. The copy engine does it, so that cores stay free for other work. Returns when it is queued. In a capture
/// it becomes part of the graph.
///
/// Both have the same length and share no memory. Types: f32, f16, bf16, i8, i16 and i32 on a 910B (guide: execution
/// control, aclrtReduceAsync). On the mock sums of integers wrap and a NaN stays, which no card was compared with.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for different lengths, memory of another device,
/// memory that both share, or a type that the runtime does not reduce;
/// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for one that this
/// card does not; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) where the library has no reductions;
/// [`ErrorKind::CaptureInvalidated`](crate::ErrorKind::CaptureInvalidated) when the stream's capture is ending. What
/// fails on the device is reported by a later synchronising call.
///
/// # Examples
///
/// ```
/// use racl::op::{self, ReduceKind};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let part = device.upload(&[1.0_f32, 5.0])?;
/// let mut all = device.upload(&[3.0_f32, 4.0])?;
/// op::reduce_into(&stream, &part, &mut all, ReduceKind::Sum)?;
/// assert_eq!(all.to_vec()?, [4.0, 9.0]);
/// op::reduce_into(&stream, &part, &mut all, ReduceKind::Min)?;
/// assert_eq!(all.to_vec()?, [1.0, 5.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtReduceAsync")]
#[track_caller]
pub fn reduce_into<T: Element>(
    stream: &Stream,
    from: &impl DeviceRead<Element = T>,
    to: &mut impl DeviceWrite<Element = T>,
    kind: ReduceKind,
) -> Result<()> {
    let (location, from, to) = (Location::caller(), from.as_slice(), to.as_slice());
    let shared = from.address().addr().abs_diff(to.address().addr()) < from.size_bytes();
    let checked = match from.len() == to.len() {
        true if shared => Err(Error::invalid("memory reduced into memory that it shares")),
        true => stream.check_device(from.context_inner()).and_then(|()| stream.check_device(to.context_inner())),
        false => Err(Error::invalid(format!("{} elements reduced into {}", from.len(), to.len()))),
    };
    checked.map_err(|error| stream.refuse(("reduce_into", location), error))?;
    let uses = [Touch::read(from.allocation()), Touch::written(to.allocation())];
    let task = Task { label: "reduce_into", location, uses: &uses, scratch: None };
    let (bytes, dtype) = (from.size_bytes() as u64, T::TYPE.raw());
    stream.0.submit(&task, |raw| {
        let (context, to, from) = (&**stream.0.context(), to.address(), from.address());
        let reserved = std::ptr::null_mut();
        // SAFETY: both sides have `bytes` bytes of the type on this device and are registered with the stream.
        unsafe { call!(context, aclrtReduceAsync(to, from, bytes, kind.raw(), dtype, raw, reserved)) }
    })?;
    Ok(())
}
