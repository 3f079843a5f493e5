//! Profiles and dumps: what the device did, and with which values.
//!
//! A part of a program is recorded by [`Acl::profile`](crate::Acl::profile) until the [`Profile`] is stopped. Names in it:
//! [`Acl::profile_mark`](crate::Acl::profile_mark) and [`Acl::profile_range`](crate::Acl::profile_range) for the host,
//! [`Stream::mark`](crate::Stream::mark) and [`Stream::marked`](crate::Stream::marked) where a stream gets there,
//! [`Stream::begin_step`](crate::Stream::begin_step) for the steps of a loop. What operators read and wrote is told by
//! [`Acl::dump`](crate::Acl::dump) and [`Acl::dump_to`](crate::Acl::dump_to).
//!
//! One profile and one dump at a time in a process, since the library has one of each; so it is also with other code in
//! the process, such as PyTorch's profiler, and with the tool `msprof`, under which marks go to its profile and a
//! profile of the program's own is refused.
//!
//! Marks and ranges are AscendCL's own (`aclprof`), and those of mstx beside them, in the domain `racl`, for tools that
//! read these: where the machine has `libms_tools_ext.so`, which is loaded when something is first marked.
//!
//! Subscriptions to the operators of models are not wrapped.

mod dump;
mod marks;
mod session;
mod steps;
mod tools;

pub use crate::acl::{CoreMetrics, DumpLevel, DumpOptions, DumpStatistic, DumpTensors};
pub use dump::{Dump, DumpChunk};
pub use marks::HostRange;
pub use session::{Profile, ProfileData, ProfileOptions, ProfileSetting};
pub use steps::Step;
#[cfg(feature = "mock")]
pub(crate) use tools::forget;
