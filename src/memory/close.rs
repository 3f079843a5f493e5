//! Giving memory back now, with the error that a destructor could only log.

use std::sync::Arc;

use bytemuck::Pod;

use super::{DeviceBuffer, PinnedBuffer};
use crate::error::{Error, Refused, Result};

impl<T: Pod> DeviceBuffer<T> {
    /// Waits for work that uses the memory and frees it now.
    ///
    /// # Errors
    ///
    /// The buffer and why: [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while slices, tensors or
    /// graphs share the memory; the error of work that is waited for;
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the library does not know the address.
    #[doc(alias = "aclrtFree")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        let others = Arc::strong_count(self.allocation()) - 1;
        if others > 0 {
            let text = format!("{others} slices, tensors or graphs share the memory");
            return Err(Refused::new(self, Error::invalid(text)));
        }
        self.allocation().end().map_err(|error| Refused::new(self, error))
    }
}

impl<T: Pod> PinnedBuffer<T> {
    /// Frees the memory now.
    ///
    /// # Errors
    ///
    /// The buffer and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when the library does not
    /// know the address.
    #[doc(alias = "aclrtFreeHost")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        match self.free() {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }
}
