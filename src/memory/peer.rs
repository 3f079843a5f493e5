//! Copies between devices of one process.

use std::panic::Location;
use std::sync::Arc;

use bytemuck::Pod;

use super::{Allocation, DeviceRead, DeviceWrite};
use crate::call::{Caller as _, call};
use crate::error::{Error, Result};
use crate::stream::Stream;

impl Stream {
    /// Copies `from` to `to`, which may be memory of two devices, when the stream gets there. Returns when the copy is
    /// queued. The stream is mostly one of the device that reads or of the one that writes; its device needs
    /// [access](crate::Device::enable_peer_access) to the memory of others. In a capture the copy becomes part of the
    /// graph, which keeps both memories and their contexts.
    ///
    /// [Order](Stream#order-between-streams) is kept between the streams of both devices as between those of one: work
    /// of another device that uses the memory is waited for on the device, and waits for the copy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for different lengths, memory of another
    /// library, memory that the stream's device has no access to, or an address that is not a multiple of 64 bytes;
    /// otherwise as [`Stream::copy`]. Access that ends before the copy runs is an error of the stream's work.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let (here, there) = (acl.device(0)?, acl.device(acl.device_count()? as i32 - 1)?);
    /// if here.id() != there.id() {
    ///     here.enable_peer_access(&there)?;
    /// }
    /// let mut near = here.alloc(2)?;
    /// here.stream()?.copy_peer(&there.upload(&[1, 2])?, &mut near)?;
    /// assert_eq!(near.to_vec()?, [1, 2]); // waits for the copy
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyAsync")]
    #[doc(alias = "cudaMemcpyPeerAsync")]
    #[track_caller]
    pub fn copy_peer<T: Pod>(
        &self,
        from: &impl DeviceRead<Element = T>,
        to: &mut impl DeviceWrite<Element = T>,
    ) -> Result<()> {
        let (location, from, to) = (Location::caller(), from.as_slice(), to.as_slice());
        let sides = [(from.allocation(), from.address()), (to.allocation(), to.address())];
        super::copy::check_lengths(from.len(), to.len())
            .and_then(|()| self.check_reach(from.allocation()))
            .and_then(|()| self.check_reach(to.allocation()))
            .and_then(|()| self.copy_bytes(sides, to.size_bytes(), location))
            .map_err(|error| self.refuse(("copy_peer", location), error))
    }

    /// That work of the stream can use the memory, of whichever device.
    fn check_reach(&self, memory: &Arc<Allocation>) -> Result<()> {
        let (own, other) = (self.0.context(), memory.context());
        own.check_library(other, "memory")?;
        // Mapped memory has access rights of its own. Where the library cannot be asked, the copy tells.
        let asks = !memory.is_of_calls() && own.table().has("aclrtDevicePeerAccessStatus");
        if own.device() == other.device() || !asks {
            return Ok(());
        }
        let mut enabled = 0;
        // SAFETY: `enabled` is a place for one number.
        unsafe { call!(&**own, aclrtDevicePeerAccessStatus(own.device(), other.device(), &raw mut enabled)) }?;
        if enabled != 0 {
            return Ok(());
        }
        let (own, other) = (own.device(), other.device());
        let text = format!(
            "memory of device {other} in a copy of device {own}, which has no access to it; \
             Device::enable_peer_access gives it"
        );
        Err(Error::invalid(text))
    }
}
