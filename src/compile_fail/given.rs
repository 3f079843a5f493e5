//! What was given back, leaked, made another thing, unloaded or taken apart is used no more. Programs that only have to
//! be refused are not run.
//!
//! # Each is used before
//!
//! ```
//! # #![allow(unused_must_use, clippy::drop_non_drop)]
//! # #[cfg(feature = "cache")]
//! # use racl::cache::CacheBuilder;
//! # use racl::Capture;
//! # use racl::collective::Batch;
//! # use racl::Context;
//! # use racl::Device;
//! # use racl::DeviceBuffer;
//! # use racl::DeviceSliceMut;
//! # #[cfg(feature = "dlpack")]
//! # use racl::dlpack::Managed;
//! # use racl::ExternalEvent;
//! # use racl::Graph;
//! # use racl::GraphBuilder;
//! # use racl::GraphChange;
//! # use racl::GraphTask;
//! # use racl::KernelLaunch;
//! # use racl::Lent;
//! # use racl::ManagedBuffer;
//! # use racl::MappedBuffer;
//! # use racl::Model;
//! # use racl::ModelOptions;
//! # use racl::op::Probe;
//! # use racl::PinnedBuffer;
//! # use racl::ProcessBackup;
//! # use racl::ProcessLock;
//! # use racl::Refused;
//! # use racl::SharedBuffer;
//! # use racl::Stream;
//! # use racl::TimingEvent;
//! fn end_0(model: Model) { model.run(); model.unload(); }
//! fn end_1(event: ExternalEvent) { event.as_raw(); event.close(); }
//! fn end_2(stream: Stream) { stream.synchronize(); stream.give_back(); }
//! fn end_3(graph: Graph) { graph.as_raw(); graph.give_back(); }
//! fn end_4(event: TimingEvent) { event.is_complete(); event.into_raw(); }
//! fn end_5(context: Context) { context.synchronize(); context.leak(); }
//! fn end_6(buffer: DeviceBuffer<u8>) { buffer.to_vec(); buffer.leak(); }
//! fn end_7(buffer: SharedBuffer<u8>) { buffer.to_vec(); buffer.leak(); }
//! fn end_8(buffer: PinnedBuffer<u8>) { buffer.size_bytes(); buffer.leak(); }
//! fn end_9(buffer: MappedBuffer<u8>) { buffer.device_address(); buffer.leak(); }
//! fn end_10(buffer: ManagedBuffer<u8>) { buffer.shared(); buffer.leak(); }
//! fn end_11(buffer: PinnedBuffer<u8>) { buffer.size_bytes(); buffer.into_vec(); }
//! fn end_12(buffer: SharedBuffer<u8>) { buffer.to_vec(); buffer.into_buffer(); }
//! fn end_13(buffer: DeviceBuffer<u32>) { buffer.to_vec(); buffer.cast::<f32>(); }
//! fn end_14(slice: DeviceSliceMut<'_, u32>) { slice.slice(..1); slice.cast::<f32>(); }
//! fn end_15(lent: Lent<u8>) { format!("{lent:?}"); lent.wait(); }
//! fn end_16(lock: ProcessLock) { lock.is_locked(); lock.unlock(); }
//! fn end_17(saved: ProcessBackup) { saved.is_locked(); saved.unlock(); }
//! fn end_18(saved: ProcessBackup) { saved.is_locked(); saved.restore(); }
//! fn end_19(refused: Refused<Stream>) { refused.error(); refused.into_value(); }
//! fn end_20(refused: Refused<Stream>) { refused.value(); refused.into_error(); }
//! fn end_21(refused: Refused<Stream>) { refused.error(); refused.into_parts(); }
//! fn end_22(capture: Capture) { capture.stream().id(); capture.finish(); }
//! fn end_23(probe: Probe) { format!("{probe:?}"); probe.into_footprint(); }
//! fn end_24(options: ModelOptions, context: &Context) { format!("{options:?}"); options.load(context, "some.om"); }
//! fn end_25(options: ModelOptions, context: &Context) { format!("{options:?}"); options.load_bytes(context, &[]); }
//! fn end_26(batch: Batch<'_>) { format!("{batch:?}"); batch.submit(); }
//! # #[cfg(feature = "cache")]
//! fn end_27(builder: CacheBuilder) { format!("{builder:?}"); builder.build(); }
//! # #[cfg(feature = "dlpack")]
//! fn end_28(tensor: Managed, context: &racl::Context) { tensor.is_read_only(); tensor.into_tensor(context); }
//! # #[cfg(feature = "dlpack")]
//! fn end_29(tensor: Managed) { tensor.is_read_only(); tensor.into_raw(); }
//! # #[cfg(feature = "dlpack")]
//! fn end_30(tensor: Managed) { tensor.is_read_only(); tensor.into_raw_unversioned(); }
//! fn end_31(builder: GraphBuilder) { format!("{builder:?}"); builder.finish(); }
//! // SAFETY: nothing is run.
//! fn end_32(launch: KernelLaunch<'_>) { format!("{launch:?}"); unsafe { launch.submit() }; }
//! // SAFETY: nothing is run.
//! fn end_33(device: Device) { device.stream(); unsafe { device.close_by_force() }; }
//! // SAFETY: nothing is run.
//! fn end_34(launch: KernelLaunch<'_>, change: &mut GraphChange<'_>, task: &GraphTask) {
//!     format!("{launch:?}");
//!     unsafe { launch.replace(change, task) };
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Model;
//! fn end(model: Model) {
//!     let _ = model.unload();
//!     let _ = model.run();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::ExternalEvent;
//! fn end(event: ExternalEvent) {
//!     let _ = event.close();
//!     let _ = event.as_raw();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Stream;
//! fn end(stream: Stream) {
//!     let _ = stream.give_back();
//!     let _ = stream.synchronize();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Graph;
//! fn end(graph: Graph) {
//!     let _ = graph.give_back();
//!     let _ = graph.as_raw();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::TimingEvent;
//! fn end(event: TimingEvent) {
//!     let _ = event.into_raw();
//!     let _ = event.is_complete();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Context;
//! fn end(context: Context) {
//!     let _ = context.leak();
//!     let _ = context.synchronize();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::DeviceBuffer;
//! fn end(buffer: DeviceBuffer<u8>) {
//!     let _ = buffer.leak();
//!     let _ = buffer.to_vec();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::SharedBuffer;
//! fn end(buffer: SharedBuffer<u8>) {
//!     let _ = buffer.leak();
//!     let _ = buffer.to_vec();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::PinnedBuffer;
//! fn end(buffer: PinnedBuffer<u8>) {
//!     let _ = buffer.leak();
//!     let _ = buffer.size_bytes();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::MappedBuffer;
//! fn end(buffer: MappedBuffer<u8>) {
//!     let _ = buffer.leak();
//!     let _ = buffer.device_address();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::ManagedBuffer;
//! fn end(buffer: ManagedBuffer<u8>) {
//!     let _ = buffer.leak();
//!     let _ = buffer.shared();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::PinnedBuffer;
//! fn end(buffer: PinnedBuffer<u8>) {
//!     let _ = buffer.into_vec();
//!     let _ = buffer.size_bytes();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::SharedBuffer;
//! fn end(buffer: SharedBuffer<u8>) {
//!     let _ = buffer.into_buffer();
//!     let _ = buffer.to_vec();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::DeviceBuffer;
//! fn end(buffer: DeviceBuffer<u32>) {
//!     let _ = buffer.cast::<f32>();
//!     let _ = buffer.to_vec();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::DeviceSliceMut;
//! fn end(slice: DeviceSliceMut<'_, u32>) {
//!     let _ = slice.cast::<f32>();
//!     let _ = slice.slice(..1);
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Lent;
//! fn end(lent: Lent<u8>) {
//!     let _ = lent.wait();
//!     let _ = format!("{lent:?}");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::ProcessLock;
//! fn end(lock: ProcessLock) {
//!     let _ = lock.unlock();
//!     let _ = lock.is_locked();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::ProcessBackup;
//! fn end(saved: ProcessBackup) {
//!     let _ = saved.unlock();
//!     let _ = saved.is_locked();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::ProcessBackup;
//! fn end(saved: ProcessBackup) {
//!     let _ = saved.restore();
//!     let _ = saved.is_locked();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Refused;
//! # use racl::Stream;
//! fn end(refused: Refused<Stream>) {
//!     let _ = refused.into_value();
//!     let _ = refused.error();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Refused;
//! # use racl::Stream;
//! fn end(refused: Refused<Stream>) {
//!     let _ = refused.into_error();
//!     let _ = refused.value();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Refused;
//! # use racl::Stream;
//! fn end(refused: Refused<Stream>) {
//!     let _ = refused.into_parts();
//!     let _ = refused.error();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Capture;
//! fn end(capture: Capture) {
//!     let _ = capture.finish();
//!     let _ = capture.stream().id();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::op::Probe;
//! fn end(probe: Probe) {
//!     let _ = probe.into_footprint();
//!     let _ = format!("{probe:?}");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Context;
//! # use racl::ModelOptions;
//! fn end(options: ModelOptions, context: &Context) {
//!     let _ = options.load(context, "some.om");
//!     let _ = format!("{options:?}");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Context;
//! # use racl::ModelOptions;
//! fn end(options: ModelOptions, context: &Context) {
//!     let _ = options.load_bytes(context, &[]);
//!     let _ = format!("{options:?}");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::collective::Batch;
//! fn end(batch: Batch<'_>) {
//!     let _ = batch.submit();
//!     let _ = format!("{batch:?}");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::cache::CacheBuilder;
//! fn end(builder: CacheBuilder) {
//!     let _ = builder.build();
//!     let _ = format!("{builder:?}");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::dlpack::Managed;
//! fn end(tensor: Managed, context: &racl::Context) {
//!     let _ = tensor.into_tensor(context);
//!     let _ = tensor.is_read_only();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::dlpack::Managed;
//! fn end(tensor: Managed) {
//!     let _ = tensor.into_raw();
//!     let _ = tensor.is_read_only();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::dlpack::Managed;
//! fn end(tensor: Managed) {
//!     let _ = tensor.into_raw_unversioned();
//!     let _ = tensor.is_read_only();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::GraphBuilder;
//! fn end(builder: GraphBuilder) {
//!     let _ = builder.finish();
//!     let _ = format!("{builder:?}");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::KernelLaunch;
//! fn end(launch: KernelLaunch<'_>) {
//!     // SAFETY: nothing is run.
//!     let _ = unsafe { launch.submit() };
//!     let _ = format!("{launch:?}");
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Device;
//! fn end(device: Device) {
//!     // SAFETY: nothing is run.
//!     let _ = unsafe { device.close_by_force() };
//!     let _ = device.stream();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::GraphChange;
//! # use racl::GraphTask;
//! # use racl::KernelLaunch;
//! fn end(launch: KernelLaunch<'_>, change: &mut GraphChange<'_>, task: &GraphTask) {
//!     // SAFETY: nothing is run.
//!     let _ = unsafe { launch.replace(change, task) };
//!     let _ = format!("{launch:?}");
//! }
//! ```
