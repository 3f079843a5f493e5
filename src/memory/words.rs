//! Fills with elements of 32 bits.

use std::panic::Location;

use bytemuck::Pod;

use super::{DeviceBuffer, DeviceWrite};
use crate::allocation::Touch;
use crate::call::call;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::stream::{Stream, Task};

/// The bits of an element, whose type has 32.
fn word<T: Pod>(value: T) -> u32 {
    const { assert!(size_of::<T>() == 4, "only elements of 4 bytes are filled as words") };
    bytemuck::pod_read_unaligned(bytemuck::bytes_of(&value))
}

impl Stream {
    /// Sets every element of `memory`, of 4 bytes each such as `f32` and `i32`, to `value` when the stream gets there.
    /// Returns when the fill is queued. In a capture it becomes part of the graph. [`fill_bytes`](Self::fill_bytes)
    /// sets bytes, and [`op::fill`](crate::op::fill) elements of any type, by an operator.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for memory of another device, or that does not
    /// begin at a multiple of 4 bytes; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) up to CANN 9.1;
    /// otherwise as [`Stream::fill_bytes`].
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut buffer = device.alloc::<f32>(3)?;
    /// stream.fill_words(&mut buffer, 0.5)?;
    /// assert_eq!(buffer.to_vec()?, [0.5; 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    ///
    /// Other types do not compile:
    ///
    /// ```compile_fail,E0080
    /// let device = racl::Acl::mock()?.device(0)?;
    /// device.stream()?.fill_words(&mut device.alloc::<u16>(3)?, 1)?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemsetD32Async")]
    #[doc(alias = "cuMemsetD32Async")]
    #[track_caller]
    pub fn fill_words<T: Pod>(&self, memory: &mut impl DeviceWrite<Element = T>, value: T) -> Result<()> {
        let (location, memory, value) = (Location::caller(), memory.as_slice(), word(value));
        let (address, bytes, count) = (memory.address(), memory.size_bytes(), memory.len());
        let checked = self.check_device(memory.context_inner()).and_then(|()| {
            if address.addr().is_multiple_of(4) {
                return Ok(());
            }
            Err(Error::invalid(format!("a fill of words at {address:p}, which is no multiple of 4 bytes")))
        });
        checked.map_err(|error| self.refuse(("fill_words", location), error))?;
        if count == 0 {
            return Ok(());
        }
        let uses = [Touch::written(memory.allocation())];
        let task = Task { label: "fill_words", location, uses: &uses, scratch: None };
        self.0.submit(&task, |raw| {
            // SAFETY: the memory has `bytes` bytes from the address on and is registered with the stream.
            unsafe { call!(&**self.0.context(), aclrtMemsetD32Async(address, bytes, value, count, raw)) }
        })?;
        Ok(())
    }
}

impl Context {
    /// Device memory for `len` elements of 4 bytes, such as `f32` and `i32`, each of them `value`. Blocks until they
    /// are.
    ///
    /// # Errors
    ///
    /// As [`Context::alloc_zeroed`]; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) up to CANN 9.1.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// assert_eq!(device.context().alloc_filled(3, -1_i32)?.to_vec()?, [-1; 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemsetD32")]
    #[track_caller]
    pub fn alloc_filled<T: Pod>(&self, len: usize, value: T) -> Result<DeviceBuffer<T>> {
        let value = word(value);
        let buffer = self.alloc(len)?;
        let (address, bytes) = (buffer.address(), buffer.size_bytes());
        // SAFETY: `bytes` bytes of this new buffer are set, which begins at a multiple of 64; nothing else uses them.
        unsafe { call!(&**self.inner(), aclrtMemsetD32(address, bytes, value, len)) }?;
        Ok(buffer)
    }
}
