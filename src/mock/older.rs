//! The mock as an older release.

use crate::context::older;

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
    older::HOST_FUNCTIONS.set(on)
}

/// Whether plans of which an executable is made from now on choose, with the built-in mock, as on the releases without
/// conditional graphs, up to CANN 9.0: captured they become a graph for each piece of work between choices and for each
/// arm, and the host decides which is launched ([`Builder::if_else`](crate::plan::Builder::if_else)). Gives what it
/// was. Off at first, unless the environment variable `RACL_MOCK_OLDER_GRAPHS` is 1. Returns at once; any thread may
/// call it. [`Stream::if_else`](crate::Stream::if_else) works either way.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::mock;
/// use racl::op::DataType::{F32, I32};
/// use racl::plan::{Frozen, Input, Plan};
///
/// let doubled = Plan::build(|g| {
///     let x = g.input("x", [2], F32, Input::Copied)?;
///     g.output("y", g.muls(x, 2.0)?)
/// })?;
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [2], F32, Input::Static)?;
///     let [y] = g.if_then(g.full([1], I32, 1)?, &doubled, &[x])?;
///     g.output("y", y)
/// })?;
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// mock::older_graphs(true);
/// let mut exe = plan.capture(&device, Frozen::new())?;
/// exe.run(&stream, &mut exe.bindings())?;
/// assert_eq!(exe.counters().decided_by_host, 1);
/// assert_eq!(mock::calls("aclmdlRIAddCondTask"), 0);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclmdlRIAddCondTask")]
pub fn older_graphs(on: bool) -> bool {
    older::GRAPHS.set(on)
}

/// Whether kernels are launched from now on, with the built-in mock, as on releases without
/// `aclrtLaunchKernelWithHostArgs`: with a list of arguments, in several calls. Gives what it was. Off at first, unless
/// the environment variable `RACL_MOCK_OLDER_LAUNCHES` is 1. Returns at once; any thread may call it. Launches are the
/// same either way, but that limits of their time are whole seconds then.
#[doc(alias = "aclrtKernelArgsInit")]
pub fn older_launches(on: bool) -> bool {
    older::LAUNCHES.set(on)
}
