//! The same for futures, communicators that were given away, kinds of events, limits of cores and host outputs. Programs
//! that only have to be compiled are functions that nobody calls.
//!
//! # An awaited run of a model does not outlive the model, and has its run
//!
//! ```
//! # use racl::{Model, Result, Stream};
//! async fn run(model: Model, stream: &Stream) -> Result<()> {
//!     let done = model.run().submit_async(stream)?;
//!     done.await?;
//!     drop(model); // after the last use
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0505
//! # use racl::{Model, Result, Stream};
//! async fn run(model: Model, stream: &Stream) -> Result<()> {
//!     let done = model.run().submit_async(stream)?;
//!     drop(model);
//!     done.await.map(drop)
//! }
//! ```
//!
//! ```compile_fail,E0515
//! # use racl::{Model, ModelFinished, Result, Stream};
//! fn run<'a>(model: Model, stream: &Stream) -> Result<ModelFinished<'a>> {
//!     model.run().submit_async(stream)
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{ModelRun, Result, Stream};
//! async fn run(run: ModelRun<'_>, stream: &Stream) -> Result<()> {
//!     run.submit_async(stream)?.await?;
//!     run.submit(stream).map(drop)
//! }
//! ```
//!
//! # A communicator that was given away is used no more
//!
//! ```
//! # use racl::{Result, Stream, collective::Communicator};
//! fn give(ranks: Communicator, stream: &Stream) -> Result<()> {
//!     ranks.barrier(stream)?;
//!     stream.synchronize()?;
//!     ranks.into_raw()?;
//!     Ok(())
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Result, Stream, collective::Communicator};
//! fn give(ranks: Communicator, stream: &Stream) -> Result<()> {
//!     ranks.into_raw()?;
//!     ranks.barrier(stream)
//! }
//! ```
//!
//! # Streams wait for events of their own kind
//!
//! ```
//! # use racl::{ExternalEvent, IpcEvent, Result, Stream, TimingEvent};
//! fn wait(stream: &Stream, timed: &TimingEvent, external: &ExternalEvent, shared: &IpcEvent) -> Result<()> {
//!     stream.wait(timed.as_event())?;
//!     stream.wait_external(external, None)?;
//!     stream.wait_ipc(shared)
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use racl::{Result, Stream, TimingEvent};
//! fn wait(stream: &Stream, event: &TimingEvent) -> Result<()> {
//!     stream.wait(event)
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use racl::{ExternalEvent, Result, Stream};
//! fn wait(stream: &Stream, event: &ExternalEvent) -> Result<()> {
//!     stream.wait(event)
//! }
//! ```
//!
//! ```compile_fail,E0308
//! # use racl::{IpcEvent, Result, Stream};
//! fn wait(stream: &Stream, event: &IpcEvent) -> Result<()> {
//!     stream.wait(event)
//! }
//! ```
//!
//! # A future of an event, or of a copy, has what it awaits
//!
//! ```
//! # use std::sync::Arc;
//! # use racl::{Event, Lent, Result};
//! async fn both(event: &Arc<Event>, lent: Lent<u8>) -> Result<usize> {
//!     event.reached().await?;
//!     Ok(lent.await?.len())
//! }
//! ```
//!
//! ```compile_fail,E0599
//! # use racl::{Event, Result};
//! async fn reached(event: &Event) -> Result<()> {
//!     event.reached().await
//! }
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Lent, Result};
//! async fn twice(lent: Lent<u8>) -> Result<usize> {
//!     lent.await?;
//!     Ok(lent.wait()?.len())
//! }
//! ```
//!
//! # A limit of the cores of a device ends once
//!
//! ```compile_fail,E0382
//! # use racl::{DeviceCoreLimit, Result};
//! fn twice(limit: DeviceCoreLimit) -> Result<()> {
//!     limit.end()?;
//!     limit.end()
//! }
//! ```
//!
//! # Numbers of a run are read while its outputs are there
//!
//! ```
//! # use racl::Result;
//! # use racl::plan::{HostOutputs, OutputId};
//! fn sum(mut outputs: HostOutputs, y: OutputId) -> Result<f32> {
//!     let numbers = outputs.as_slice::<f32>(y)?;
//!     Ok(numbers.iter().sum())
//! }
//! ```
//!
//! ```compile_fail,E0505
//! # use racl::Result;
//! # use racl::plan::{HostOutputs, OutputId};
//! fn sum(mut outputs: HostOutputs, y: OutputId) -> Result<f32> {
//!     let numbers = outputs.as_slice::<f32>(y)?;
//!     drop(outputs);
//!     Ok(numbers.iter().sum())
//! }
//! ```
