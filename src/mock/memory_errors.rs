//! Memory with errors.

use super::{check, sys};
use crate::error::{Error, Result};

/// Gives a device's memory errors that it cannot correct itself (UCE), at these addresses, of so many bytes, and no others:
/// [`Device::memory_errors`](crate::Device::memory_errors) tells them, and while the latest fault of the device is one of
/// memory [`Device::fault`](crate::Device::fault) does, until they are repaired. A [`reset`](super::reset) takes them back.
/// Work that uses the memory runs as ever: [`fail_task`](super::fail_task) lets it fail.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a device of a number that the mock never has, more
/// than 128 ranges, and an empty one.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let buffer = device.alloc::<u8>(4096)?;
/// let address = buffer.address().addr();
/// mock::set_memory_errors(0, &[(address, 64)])?;
/// let errors = device.memory_errors()?;
/// assert_eq!((errors[0].address(), errors[0].size_bytes()), (address, 64));
/// device.repair_memory(&errors)?;
/// assert!(device.memory_errors()?.is_empty());
/// # Ok::<(), racl::Error>(())
/// ```
pub fn set_memory_errors(device: i32, errors: &[(usize, usize)]) -> Result<()> {
    if let Some((address, _)) = errors.iter().find(|(_, bytes)| *bytes == 0) {
        return Err(Error::invalid(format!("an error of no bytes at {address:#x}")));
    }
    let (addresses, sizes): (Vec<_>, Vec<_>) =
        errors.iter().map(|(address, bytes)| (std::ptr::without_provenance_mut(*address), *bytes)).unzip();
    // SAFETY: two lists of so many elements, which are copied.
    let code = unsafe { sys::mock_acl_set_memory_errors(device, addresses.as_ptr(), sizes.as_ptr(), errors.len()) };
    check("these memory errors", code)
}
