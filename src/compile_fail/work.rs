//! The same for models, kernels, collectives, profiles, notifies, futures and snapshots. Programs that only have to be
//! compiled are functions that nobody calls.
//!
//! # A run of a model does not outlive the model
//!
//! ```
//! # use racl::{Model, Result, Stream};
//! fn run(model: Model, stream: &Stream) -> Result<()> {
//!     let run = model.run();
//!     run.submit(stream)?;
//!     drop(model); // after the last use
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0505
//! # use racl::{Model, Result, Stream};
//! fn run(model: Model, stream: &Stream) -> Result<()> {
//!     let run = model.run();
//!     drop(model);
//!     run.submit(stream)?;
//!     Ok(())
//! }
//! ```
//!
//! # It is submitted once
//!
//! ```compile_fail,E0382
//! # use racl::{ModelRun, Result, Stream};
//! fn run(run: ModelRun<'_>, stream: &Stream) -> Result<()> {
//!     run.submit(stream)?;
//!     run.wait().map(drop)
//! }
//! ```
//!
//! # What it reads is given for reading, and what it writes for writing
//!
//! ```
//! # use racl::{DeviceBuffer, Model, Result};
//! fn run(model: &Model, x: &DeviceBuffer<u8>, y: &mut DeviceBuffer<u8>) -> Result<()> {
//!     model.run().input_bytes(0, x)?.output_bytes(0, y)?.wait().map(drop)
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use racl::{DeviceBuffer, Model, Result};
//! fn run(model: &Model, x: &DeviceBuffer<u8>, y: &DeviceBuffer<u8>) -> Result<()> {
//!     model.run().input_bytes(0, x)?.output_bytes(0, y)?.wait().map(drop)
//! }
//! ```
//!
//! # A launch of a kernel is queued before its memory is used again
//!
//! ```
//! # use racl::{DeviceBuffer, Kernel, Result, Stream};
//! fn launch(kernel: &Kernel, stream: &Stream, mut x: DeviceBuffer<f32>) -> Result<()> {
//!     let launch = kernel.launch(stream).arg(&mut x);
//!     // SAFETY: that is the kernel's one parameter.
//!     unsafe { launch.submit() }?;
//!     drop(x); // kept until the work is done
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0505
//! # use racl::{DeviceBuffer, Kernel, Result, Stream};
//! fn launch(kernel: &Kernel, stream: &Stream, mut x: DeviceBuffer<f32>) -> Result<()> {
//!     let launch = kernel.launch(stream).arg(&mut x);
//!     drop(x);
//!     // SAFETY: that is the kernel's one parameter.
//!     unsafe { launch.submit() }
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Kernel, Result, Stream};
//! fn launch(kernel: &Kernel, stream: &Stream) -> Result<()> {
//!     let launch = kernel.launch(stream);
//!     // SAFETY: the kernel has no parameters.
//!     unsafe { launch.submit() }?;
//!     // SAFETY: as above.
//!     unsafe { launch.submit() }
//! }
//! ```
//!
//! # A binary, a notify and a communicator that are closed are used no more
//!
//! ```
//! # use racl::{KernelBinary, Notify, Refused, Stream};
//! fn close(binary: KernelBinary, notify: Notify, stream: &Stream) {
//!     let _ = (binary.kernel("add"), notify.record(stream));
//!     // What cannot be closed comes back.
//!     let _ = binary.close().map_err(Refused::into_value).map_err(|binary| binary.kernel("add"));
//!     let _ = notify.close();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::KernelBinary;
//! fn close(binary: KernelBinary) {
//!     let _ = binary.close();
//!     let _ = binary.kernel("add");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Notify, Stream};
//! fn close(notify: Notify, stream: &Stream) {
//!     let _ = notify.close();
//!     let _ = notify.record(stream);
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{CountingNotify, Stream};
//! fn close(notify: CountingNotify, stream: &Stream) {
//!     let _ = notify.close();
//!     let _ = notify.reset(stream);
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Stream, collective::Communicator};
//! fn close(ranks: Communicator, stream: &Stream) {
//!     let _ = ranks.close();
//!     let _ = ranks.barrier(stream);
//! }
//! ```
//!
//! # What ranks reduce in place is nobody else's meanwhile, and both sides have one type
//!
//! ```
//! # use racl::collective::{Communicator, Reduction};
//! # use racl::{DeviceBuffer, Result, Stream};
//! fn sum(ranks: &Communicator, stream: &Stream, from: &DeviceBuffer<f32>, to: &mut DeviceBuffer<f32>) -> Result<()> {
//!     ranks.all_reduce(stream, from, to, Reduction::Sum)
//! }
//! ```
//!
//! ```compile_fail,E0502
//! # use racl::collective::{Communicator, Reduction};
//! # use racl::{DeviceBuffer, Result, Stream};
//! fn sum(ranks: &Communicator, stream: &Stream, x: &mut DeviceBuffer<f32>) -> Result<()> {
//!     ranks.all_reduce(stream, &*x, &mut *x, Reduction::Sum)
//! }
//! ```
//!
//! # A group, as a batch, is queued once, on the thread that made it
//!
//! ```compile_fail,E0382
//! # use racl::{Result, collective::Group};
//! fn twice(group: Group<'_>) -> Result<()> {
//!     group.submit()?;
//!     group.submit()
//! }
//! ```
//!
//! ```compile_fail,E0505
//! # use racl::collective::{Communicator, Group};
//! # use racl::{DeviceBuffer, Result, Stream};
//! fn lost(ranks: &Communicator, stream: &Stream, x: DeviceBuffer<f32>) -> Result<()> {
//!     let mut group = Group::new();
//!     group.send(ranks, stream, &x, 0)?;
//!     drop(x);
//!     group.submit()
//! }
//! ```
//!
//! # A profile, a range, a step and a dump end once
//!
//! ```
//! # use racl::profiling::{Dump, HostRange, Profile, Step};
//! # use racl::Result;
//! fn end(profile: Profile, range: HostRange, step: Step, dump: Dump) -> Result<()> {
//!     range.end()?;
//!     step.end()?;
//!     dump.stop()?;
//!     profile.stop()?;
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Result, profiling::Profile};
//! fn end(profile: Profile) -> Result<()> {
//!     profile.stop()?;
//!     profile.stop()?;
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Result, profiling::HostRange};
//! fn end(range: HostRange) -> Result<()> {
//!     range.end()?;
//!     range.is_recorded();
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Result, profiling::Step};
//! fn end(step: Step) -> Result<()> {
//!     step.end()?;
//!     step.end()
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Result, profiling::Dump};
//! fn end(dump: Dump) -> Result<()> {
//!     dump.stop()?;
//!     dump.stop()?;
//!     Ok(())
//! }
//! ```
//!
//! # A future of a copy has the buffer, and gives it once
//!
//! ```
//! # use racl::{DeviceBuffer, PinnedBuffer, Result, Stream};
//! async fn copy(stream: &Stream, from: PinnedBuffer<u8>, to: &mut DeviceBuffer<u8>) -> Result<u8> {
//!     let back = stream.upload(from, to)?.await?;
//!     Ok(back[0])
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{DeviceBuffer, PinnedBuffer, Result, Stream};
//! async fn copy(stream: &Stream, from: PinnedBuffer<u8>, to: &mut DeviceBuffer<u8>) -> Result<u8> {
//!     let copy = stream.upload(from, to)?;
//!     let first = from[0]; // in flight
//!     copy.await?;
//!     Ok(first)
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Lent, Result};
//! async fn twice(copy: Lent<u8>) -> Result<()> {
//!     copy.wait()?;
//!     copy.await?;
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Finished, Result};
//! async fn twice(done: Finished) -> Result<()> {
//!     done.await?;
//!     done.await
//! }
//! ```
//!
//! # Times are told of events that take them
//!
//! ```
//! # use std::time::Duration;
//! # use racl::{Result, TimingEvent};
//! fn times(start: &TimingEvent, end: &TimingEvent) -> Result<(Duration, Duration)> {
//!     Ok((end.elapsed_since(start)?, end.timestamp()?))
//! }
//! ```
//!
//! ```compile_fail,E0599
//! # use std::time::Duration;
//! # use racl::{Event, Result, TimingEvent};
//! fn since(start: &TimingEvent, end: &Event) -> Result<Duration> {
//!     end.elapsed_since(start)
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use std::time::Duration;
//! # use racl::{Event, Result, TimingEvent};
//! fn since(start: &Event, end: &TimingEvent) -> Result<Duration> {
//!     end.elapsed_since(start)
//! }
//! ```
//!
//! ```compile_fail,E0599
//! # use std::time::Duration;
//! # use racl::{Event, Result};
//! fn when(event: &Event) -> Result<Duration> {
//!     event.timestamp()
//! }
//! ```
//!
//! # What a watch hears is `'static`, and may come on any thread
//!
//! ```
//! # use racl::{Acl, Result};
//! fn watch(acl: &Acl, count: std::sync::Arc<std::sync::atomic::AtomicUsize>) -> Result<()> {
//!     acl.watch_aborts(move |_, _, _| count.load(std::sync::atomic::Ordering::Relaxed) == 0)?.end()
//! }
//! ```
//!
//! ```compile_fail,E0277
//! # use racl::{Acl, Result};
//! fn watch(acl: &Acl, count: std::cell::Cell<usize>) -> Result<()> {
//!     acl.watch_aborts(move |_, _, _| count.get() == 0)?.end()
//! }
//! ```
//!
//! ```compile_fail,E0521
//! # use racl::{Acl, Result};
//! fn watch(acl: &Acl, name: &str) -> Result<()> {
//!     acl.watch_snapshots(move |_, _| name.is_empty()).map(drop)
//! }
//! ```
//!
//! # The lock of a process stays on its thread; what is saved is restored once
//!
//! ```
//! # use racl::{ProcessLock, Result};
//! fn save(lock: ProcessLock) -> Result<()> {
//!     lock.back_up()?.restore()?.unlock()?;
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0277
//! # use racl::ProcessLock;
//! fn send(lock: ProcessLock) {
//!     std::thread::spawn(move || drop(lock));
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{ProcessLock, Result};
//! fn twice(lock: ProcessLock) -> Result<()> {
//!     let saved = lock.back_up()?;
//!     lock.unlock()?;
//!     saved.unlock()?;
//!     Ok(())
//! }
//! ```
