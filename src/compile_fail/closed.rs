//! What is closed, handed out or ended is used no more. Programs that only have to be refused are not run.
//!
//! # What is closed is used no more
//!
//! ```
//! # #![allow(unused_must_use, clippy::drop_non_drop)]
//! # use racl::Acl;
//! # use racl::Context;
//! # use racl::Device;
//! # use racl::DeviceBuffer;
//! # use racl::Event;
//! # use racl::Graph;
//! # use racl::GrowableBuffer;
//! # use racl::IpcEvent;
//! # use racl::Label;
//! # use racl::LabelList;
//! # use racl::ManagedBuffer;
//! # use racl::MappedBuffer;
//! # use racl::MemoryExport;
//! # use racl::PhysicalMemory;
//! # use racl::PinnedBuffer;
//! # use racl::SharedBuffer;
//! # use racl::Stream;
//! # use racl::TimingEvent;
//! fn end_0(acl: Acl) { acl.device(0); acl.close(); }
//! fn end_1(device: Device) { device.stream(); device.close(); }
//! fn end_2(context: Context) { context.synchronize(); context.close(); }
//! fn end_3(stream: Stream) { stream.synchronize(); stream.close(); }
//! fn end_4(event: Event) { event.is_complete(); event.close(); }
//! fn end_5(event: IpcEvent) { event.handle(); event.close(); }
//! fn end_6(graph: Graph) { graph.as_raw(); graph.close(); }
//! fn end_7(label: Label) { label.as_raw(); label.close(); }
//! fn end_8(labels: LabelList) { labels.len(); labels.close(); }
//! fn end_9(buffer: DeviceBuffer<u8>) { buffer.to_vec(); buffer.close(); }
//! fn end_10(buffer: SharedBuffer<u8>) { buffer.to_vec(); buffer.close(); }
//! fn end_11(buffer: PinnedBuffer<u8>) { buffer.size_bytes(); buffer.close(); }
//! fn end_12(buffer: MappedBuffer<u8>) { buffer.device_address(); buffer.close(); }
//! fn end_13(buffer: ManagedBuffer<u8>) { buffer.shared(); buffer.close(); }
//! fn end_14(buffer: GrowableBuffer<u8>) { buffer.capacity(); buffer.close(); }
//! fn end_15(memory: PhysicalMemory) { memory.size_bytes(); memory.close(); }
//! fn end_16(export: MemoryExport) { export.key(); export.close(); }
//! fn end_17(event: TimingEvent) { event.is_complete(); event.close(); }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Acl;
//! fn end(acl: Acl) {
//!     let _ = acl.close();
//!     let _ = acl.device(0);
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Device;
//! fn end(device: Device) {
//!     let _ = device.close();
//!     let _ = device.stream();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Context;
//! fn end(context: Context) {
//!     let _ = context.close();
//!     let _ = context.synchronize();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Stream;
//! fn end(stream: Stream) {
//!     let _ = stream.close();
//!     let _ = stream.synchronize();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Event;
//! fn end(event: Event) {
//!     let _ = event.close();
//!     let _ = event.is_complete();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::IpcEvent;
//! fn end(event: IpcEvent) {
//!     let _ = event.close();
//!     let _ = event.handle();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Graph;
//! fn end(graph: Graph) {
//!     let _ = graph.close();
//!     let _ = graph.as_raw();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Label;
//! fn end(label: Label) {
//!     let _ = label.close();
//!     let _ = label.as_raw();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::LabelList;
//! fn end(labels: LabelList) {
//!     let _ = labels.close();
//!     let _ = labels.len();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::DeviceBuffer;
//! fn end(buffer: DeviceBuffer<u8>) {
//!     let _ = buffer.close();
//!     let _ = buffer.to_vec();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::SharedBuffer;
//! fn end(buffer: SharedBuffer<u8>) {
//!     let _ = buffer.close();
//!     let _ = buffer.to_vec();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::PinnedBuffer;
//! fn end(buffer: PinnedBuffer<u8>) {
//!     let _ = buffer.close();
//!     let _ = buffer.size_bytes();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::MappedBuffer;
//! fn end(buffer: MappedBuffer<u8>) {
//!     let _ = buffer.close();
//!     let _ = buffer.device_address();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::ManagedBuffer;
//! fn end(buffer: ManagedBuffer<u8>) {
//!     let _ = buffer.close();
//!     let _ = buffer.shared();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::GrowableBuffer;
//! fn end(buffer: GrowableBuffer<u8>) {
//!     let _ = buffer.close();
//!     let _ = buffer.capacity();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::PhysicalMemory;
//! fn end(memory: PhysicalMemory) {
//!     let _ = memory.close();
//!     let _ = memory.size_bytes();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::MemoryExport;
//! fn end(export: MemoryExport) {
//!     let _ = export.close();
//!     let _ = export.key();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::TimingEvent;
//! fn end(event: TimingEvent) {
//!     let _ = event.close();
//!     let _ = event.is_complete();
//! }
//! ```
//!
//! # Nor is what was handed out, made another thing, or ended
//!
//! ```
//! # #![allow(unused_must_use, clippy::drop_non_drop)]
//! # use racl::Capture;
//! # use racl::Context;
//! # use racl::CoreLimit;
//! # use racl::DetachedCapture;
//! # use racl::DeviceBuffer;
//! # use racl::Event;
//! # use racl::Graph;
//! # use racl::PinnedBuffer;
//! # use racl::Stream;
//! # use racl::Watch;
//! fn end_0(stream: Stream) { stream.synchronize(); stream.into_raw(); }
//! fn end_1(context: Context) { context.synchronize(); context.into_raw(); }
//! fn end_2(event: Event) { event.is_complete(); event.into_raw(); }
//! fn end_3(graph: Graph) { graph.as_raw(); graph.into_raw(); }
//! fn end_4(buffer: DeviceBuffer<u8>) { buffer.to_vec(); buffer.into_raw(); }
//! fn end_5(buffer: PinnedBuffer<u8>) { buffer.size_bytes(); buffer.into_raw(); }
//! fn end_6(buffer: DeviceBuffer<u8>) { buffer.to_vec(); buffer.into_shared(); }
//! fn end_7(capture: Capture) { capture.stream().id(); capture.detach(); }
//! fn end_8(capture: DetachedCapture) { capture.attach(); }
//! fn end_9(limit: CoreLimit) { limit.end(); }
//! fn end_10(watch: Watch) { watch.end(); }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Stream;
//! fn end(stream: Stream) {
//!     let _ = stream.into_raw();
//!     let _ = stream.synchronize();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Context;
//! fn end(context: Context) {
//!     let _ = context.into_raw();
//!     let _ = context.synchronize();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Event;
//! fn end(event: Event) {
//!     let _ = event.into_raw();
//!     let _ = event.is_complete();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Graph;
//! fn end(graph: Graph) {
//!     let _ = graph.into_raw();
//!     let _ = graph.as_raw();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::DeviceBuffer;
//! fn end(buffer: DeviceBuffer<u8>) {
//!     let _ = buffer.into_raw();
//!     let _ = buffer.to_vec();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::PinnedBuffer;
//! fn end(buffer: PinnedBuffer<u8>) {
//!     let _ = buffer.into_raw();
//!     let _ = buffer.size_bytes();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::DeviceBuffer;
//! fn end(buffer: DeviceBuffer<u8>) {
//!     let _ = buffer.into_shared();
//!     let _ = buffer.to_vec();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Capture;
//! fn end(capture: Capture) {
//!     let _ = capture.detach();
//!     let _ = capture.stream().id();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::DetachedCapture;
//! fn end(capture: DetachedCapture) {
//!     let _ = capture.attach();
//!     let _ = capture.attach();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::CoreLimit;
//! fn end(limit: CoreLimit) {
//!     let _ = limit.end();
//!     let _ = limit.end();
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::Watch;
//! fn end(watch: Watch) {
//!     let _ = watch.end();
//!     let _ = watch.end();
//! }
//! ```
//!
//! # Memory is not grown, shrunk or mapped while a part of it is borrowed
//!
//! ```
//! # use racl::{GrowableBuffer, Result};
//! fn grow(buffer: &mut GrowableBuffer<u8>) -> Result<usize> {
//!     let len = buffer.slice(..4)?.to_vec()?.len();
//!     buffer.grow(8)?;
//!     Ok(len)
//! }
//! ```
//!
//! ```compile_fail,E0502
//! # use racl::{DeviceRead, GrowableBuffer, Result};
//! fn grow(buffer: &mut GrowableBuffer<u8>) -> Result<usize> {
//!     let part = buffer.slice(..4)?;
//!     buffer.grow(8)?;
//!     Ok(part.to_vec()?.len())
//! }
//! ```
//!
//! ```compile_fail,E0499
//! # use racl::{DeviceRead, GrowableBuffer, Result};
//! fn grow(buffer: &mut GrowableBuffer<u8>) -> Result<usize> {
//!     let part = buffer.slice_mut(..4)?;
//!     buffer.grow(8)?;
//!     Ok(part.as_slice().to_vec()?.len())
//! }
//! ```
//!
//! ```compile_fail,E0502
//! # use racl::{DeviceRead, GrowableBuffer, Result};
//! fn grow(buffer: &mut GrowableBuffer<u8>) -> Result<usize> {
//!     let part = buffer.slice(..4)?;
//!     buffer.shrink(2)?;
//!     Ok(part.to_vec()?.len())
//! }
//! ```
//!
//! ```compile_fail,E0499
//! # use racl::{DeviceRead, GrowableBuffer, Result};
//! fn grow(buffer: &mut GrowableBuffer<u8>) -> Result<usize> {
//!     let part = buffer.slice_mut(..4)?;
//!     buffer.shrink(2)?;
//!     Ok(part.as_slice().to_vec()?.len())
//! }
//! ```
//!
//! # The host's view of memory ends before the memory is closed
//!
//! ```
//! # use racl::{ManagedBuffer, MappedBuffer, Result};
//! fn read(mut mapped: MappedBuffer<u8>, mut managed: ManagedBuffer<u8>) -> Result<u8> {
//!     let sum = mapped.host()?[0] + managed.host()?[0];
//!     mapped.close()?;
//!     managed.close()?;
//!     Ok(sum)
//! }
//! ```
//!
//! ```compile_fail,E0505
//! # use racl::{MappedBuffer, Result};
//! fn read(mut buffer: MappedBuffer<u8>) -> Result<u8> {
//!     let view = buffer.host()?;
//!     buffer.close()?;
//!     Ok(view[0])
//! }
//! ```
//!
//! ```compile_fail,E0505
//! # use racl::{ManagedBuffer, Result};
//! fn read(mut buffer: ManagedBuffer<u8>) -> Result<u8> {
//!     let view = buffer.host()?;
//!     buffer.close()?;
//!     Ok(view[0])
//! }
//! ```
//!
//! # Both sides of a copy have one type
//!
//! ```
//! # use racl::{DeviceBuffer, PinnedBuffer, Result, Stream};
//! fn copy(stream: &Stream, from: PinnedBuffer<f32>, x: &DeviceBuffer<f32>, y: &mut DeviceBuffer<f32>) -> Result<()> {
//!     stream.copy(x, y)?;
//!     let from = stream.upload(from, y)?.wait()?;
//!     stream.download(y, from)?.wait()?;
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0271
//! # use racl::{DeviceBuffer, Stream};
//! fn copy(stream: &Stream, x: &DeviceBuffer<f32>, y: &mut DeviceBuffer<i32>) {
//!     let _ = stream.copy(x, y);
//! }
//! ```
//!
//! ```compile_fail,E0271
//! # use racl::{DeviceBuffer, Stream};
//! fn copy(stream: &Stream, x: racl::PinnedBuffer<f32>, y: &mut DeviceBuffer<i32>) {
//!     let _ = stream.upload(x, y);
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use racl::{DeviceBuffer, Stream};
//! fn copy(stream: &Stream, x: &DeviceBuffer<f32>, y: racl::PinnedBuffer<u32>) {
//!     let _ = stream.download(x, y);
//! }
//! ```
