//! The log of kernels that the mock ran.

use std::ffi::CStr;

use acl_sys::mock as sys;

/// A kernel of an operator that ran, given by [`launches`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launch {
    /// C name of the operator.
    pub function: &'static str,
    /// Limit of cube cores that the launching thread had in use when it launched or captured the operator.
    pub cube_cores: u32,
    /// Limit of vector cores, likewise.
    pub vector_cores: u32,
    /// Id of the graph whose replay ran it, `None` outside of one.
    pub graph: Option<u32>,
    /// Id of the stream it ran on; in a graph that of the launch.
    pub stream: i32,
}

/// Begins a log of the kernels that run, or ends it. Either empties it, and [`reset`](super::reset) ends it.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::{mock, op};
///
/// mock::stand_still(true);
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let a = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// let mut sum = device.zeros::<f32>([2])?;
/// mock::log_launches(true);
/// op::add(&stream, &a, &a, &mut sum)?;
/// assert_eq!(mock::launches(), []); // only queued
/// stream.synchronize()?;
/// let ran = mock::launches();
/// assert_eq!((ran.len(), ran[0].function, ran[0].graph), (1, "aclnnAdd", None));
/// assert_eq!((ran[0].cube_cores, ran[0].vector_cores), (24, 48)); // without a limit
/// mock::log_launches(false);
/// assert_eq!(mock::launches(), []);
/// # Ok::<(), racl::Error>(())
/// ```
pub fn log_launches(on: bool) {
    // SAFETY: takes a number.
    unsafe { sys::mock_acl_log_launches(i32::from(on)) }
}

/// The kernels that ran since [`log_launches`], in the order in which they started, those in graphs once for each
/// replay. The log holds 1,048,576 at most.
///
/// # Examples
///
/// [`log_launches`] shows it.
#[must_use]
pub fn launches() -> Vec<Launch> {
    (0..launch_count()).map_while(launch_at).collect()
}

/// How many kernels [`launches`] would give.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::{mock, op};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let mut a = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// mock::log_launches(true);
/// op::muls_inplace(&stream, &mut a, 2.0)?;
/// stream.synchronize()?;
/// assert_eq!(mock::launch_count(), 1);
/// assert_eq!(mock::launch_at(0), mock::launches().pop());
/// assert_eq!(mock::launch_at(1), None);
/// # Ok::<(), racl::Error>(())
/// ```
#[must_use]
pub fn launch_count() -> u64 {
    // SAFETY: takes nothing.
    unsafe { sys::mock_acl_launch_count() }
}

/// One of [`launches`], counted from 0. [`launch_count`] shows it.
#[must_use]
pub fn launch_at(index: u64) -> Option<Launch> {
    let mut raw = sys::mock_acl_launch {
        struct_size: size_of::<sys::mock_acl_launch>(),
        function: std::ptr::null(),
        cube_cores: 0,
        vector_cores: 0,
        graph_id: 0,
        stream_id: 0,
    };
    // SAFETY: `raw` is such a structure with its size set.
    if unsafe { sys::mock_acl_launch_at(index, &raw mut raw) } != 0 {
        return None;
    }
    // SAFETY: a constant of the mock, which is part of the program: a NUL-terminated string that is never unloaded.
    let function = unsafe { CStr::from_ptr::<'static>(raw.function) };
    Some(Launch {
        function: function.to_str().unwrap_or_default(),
        cube_cores: raw.cube_cores,
        vector_cores: raw.vector_cores,
        graph: (raw.graph_id != 0).then_some(raw.graph_id),
        stream: raw.stream_id,
    })
}
