//! The mock as an older release.

use crate::context::reports::older;

/// Whether contexts of the built-in mock that are opened from now on run host functions as on the releases without
/// `aclrtLaunchHostFunc`, up to CANN 8.3: by `aclrtLaunchCallback`, on a thread of this crate for each context, which
/// [`Stream::host_function`](crate::Stream::host_function) starts. Gives what it was. Off at first, unless the
/// environment variable `RACL_MOCK_OLDER_HOST_FUNCTIONS` is 1. Returns at once; any thread may call it.
///
/// Such a thread waits inside the mock until its context has ended, so that [`reset`](super::reset) is refused before.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
///
/// mock::older_host_functions(true);
/// let stream = racl::Acl::mock()?.device(0)?.stream()?;
/// stream.host_function(|| println!("reached"))?;
/// stream.synchronize()?;
/// assert_eq!((mock::calls("aclrtLaunchHostFunc"), mock::calls("aclrtSubscribeReport")), (0, 2));
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtSubscribeReport")]
pub fn older_host_functions(on: bool) -> bool {
    older::set(on)
}
