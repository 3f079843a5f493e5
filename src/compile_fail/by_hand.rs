//! # A graph is launched once it is built, and built once
//!
//! ```
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let builder = device.context().build_graph()?;
//! let mut graph = builder.finish()?;
//! graph.launch(&stream)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0599
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut builder = device.context().build_graph()?;
//! builder.launch(&stream)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0382
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let builder = device.context().build_graph()?;
//! let mut graph = builder.finish()?;
//! builder.finish()?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Nothing is added to a graph that is finished
//!
//! ```compile_fail,E0382
//! # let device = racl::Acl::mock()?.device(0)?;
//! let mut builder = device.context().build_graph()?;
//! let graph = builder.finish()?;
//! builder.stream("side")?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A graph is not launched while it is changed
//!
//! ```
//! # use racl::{Graph, Stream};
//! fn change(graph: &mut Graph, stream: &Stream) -> racl::Result<()> {
//!     let tasks = graph.tasks()?;
//!     graph.change(|change| change.disable(&tasks[0]))?;
//!     graph.launch(stream)
//! }
//! ```
//!
//! ```compile_fail,E0501
//! # use racl::{Graph, Stream};
//! fn change(graph: &mut Graph, stream: &Stream) -> racl::Result<()> {
//!     let tasks = graph.tasks()?;
//!     graph.change(|change| {
//!         graph.launch(stream)?;
//!         change.disable(&tasks[0])
//!     })
//! }
//! ```
//!
//! # Addresses in tasks are given by code that vouches for them
//!
//! ```compile_fail,E0133
//! # use racl::{Graph, GraphTask};
//! fn change(graph: &mut Graph, task: &GraphTask, address: *mut std::ffi::c_void) -> racl::Result<()> {
//!     graph.change(|change| change.write_value_at(task, address, 1))
//! }
//! ```
//!
//! ```compile_fail,E0133
//! # use racl::{Graph, GraphTask, Kernel, Stream};
//! fn change(graph: &mut Graph, task: &GraphTask, kernel: &Kernel, stream: &Stream) -> racl::Result<()> {
//!     graph.change(|change| kernel.launch(stream).replace(change, task))
//! }
//! ```
//!
//! # Streams compare numbers of 32 and 64 bits
//!
//! ```compile_fail,E0277
//! # use racl::{Comparison, DeviceBuffer, Stream};
//! fn switch(stream: &Stream, x: &DeviceBuffer<f32>, other: &Stream) -> racl::Result<()> {
//!     stream.switch_if(x, Comparison::Less, x, other)
//! }
//! ```
//!
//! # The number of a jump has no sign
//!
//! ```compile_fail,E0271
//! # use racl::{DeviceBuffer, LabelList, Stream};
//! fn jump(stream: &Stream, labels: &LabelList, index: &DeviceBuffer<i32>) -> racl::Result<()> {
//!     stream.jump_by(labels, index)
//! }
//! ```
