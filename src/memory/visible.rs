//! Memory that the host and devices reach alike.

use std::ptr::NonNull;
use std::sync::Arc;

use bytemuck::Pod;

use super::{Allocation, DeviceSlice, DeviceSliceMut};
use crate::error::{Error, Result};

/// Such memory: the host has it while nothing of the device may use it.
pub(super) struct Visible<T: Pod> {
    allocation: Arc<Allocation>,
    host: NonNull<T>,
    len: usize,
}

// SAFETY: it owns plain memory of a `Send` element type, which any thread may free.
unsafe impl<T: Pod + Send> Send for Visible<T> {}
// SAFETY: shared access gives slices of the device alone, and no reference into the memory.
unsafe impl<T: Pod + Sync> Sync for Visible<T> {}

impl<T: Pod> Visible<T> {
    /// # Safety
    ///
    /// `host` begins `len` initialised elements of host memory that stay as long as the allocation, which stands for
    /// the same memory, and that nothing else reaches.
    pub(super) unsafe fn new(allocation: Arc<Allocation>, host: NonNull<T>, len: usize) -> Self {
        Self { allocation, host, len }
    }

    pub(super) fn allocation(&self) -> &Arc<Allocation> {
        &self.allocation
    }

    pub(super) fn host_address(&self) -> *mut T {
        self.host.as_ptr()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn as_slice(&self) -> DeviceSlice<'_, T> {
        DeviceSlice::new(&self.allocation, 0, self.len)
    }

    pub(super) fn as_mut_slice(&mut self) -> DeviceSliceMut<'_, T> {
        DeviceSliceMut::new(&self.allocation, 0, self.len)
    }

    pub(super) fn check_alone(&self) -> Result<()> {
        match Arc::strong_count(&self.allocation) - 1 {
            0 => Ok(()),
            others => Err(Error::invalid(format!("{others} other handles, tensors or graphs share the memory"))),
        }
    }

    /// The memory for the host, once no work uses it.
    pub(super) fn host(&mut self) -> Result<&mut [T]> {
        self.check_alone()?;
        self.allocation.wait_idle()?;
        // SAFETY: `len` initialised elements live there as long as this value. No work that was submitted uses them;
        // this is the only handle, and nothing can be submitted with it while it is borrowed exclusively.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.host.as_ptr(), self.len) })
    }

    /// Gives the memory back now.
    /// Where this fails half-way, nothing of it is left for work of the device, nor for the host.
    pub(super) fn end(&mut self) -> Result<()> {
        self.check_alone()?;
        self.allocation.end().inspect_err(|_| self.len = self.len.min(self.allocation.left() / size_of::<T>()))
    }
}
