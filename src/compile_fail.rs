//! Programs that must not compile, each with a twin that does, so that the error is the one meant.
//!
//! Stable rustdoc checks that a program is refused; the number of the error is checked by a nightly one, or with
//! `RUSTC_BOOTSTRAP=1 cargo test --doc -- compile_fail "compile fail"`, as in `.ci/full`. `tests/consumed.rs` looks that
//! each method which takes its value has one.
//!
//! # A graph is not launched while the host holds one of its buffers
//!
//! ```
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u32>(2)?;
//! let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
//! let input = capture.stream().upload(device.pinned(2)?, &mut buffer)?;
//! let mut graph = capture.finish()?;
//! let mut view = graph.host(&input)?;
//! view[0] = 1;
//! graph.launch(&stream)?; // after the last use
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0499
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u32>(2)?;
//! let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
//! let input = capture.stream().upload(device.pinned(2)?, &mut buffer)?;
//! let mut graph = capture.finish()?;
//! let mut view = graph.host(&input)?;
//! graph.launch(&stream)?; // before the last use
//! view[0] = 1;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Nor is it read, moved or closed meanwhile
//!
//! ```
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u32>(2)?;
//! let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
//! let input = capture.stream().upload(device.pinned(2)?, &mut buffer)?;
//! let mut graph = capture.finish()?;
//! let mut view = graph.host(&input)?;
//! view[0] = 1;
//! graph.memory_bytes();
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0502
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u32>(2)?;
//! let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
//! let input = capture.stream().upload(device.pinned(2)?, &mut buffer)?;
//! let mut graph = capture.finish()?;
//! let mut view = graph.host(&input)?;
//! graph.memory_bytes();
//! view[0] = 1;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0505
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u32>(2)?;
//! let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
//! let input = capture.stream().upload(device.pinned(2)?, &mut buffer)?;
//! let mut graph = capture.finish()?;
//! let mut view = graph.host(&input)?;
//! drop(graph);
//! view[0] = 1;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A buffer of a graph is lent to one place at a time
//!
//! ```
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u32>(2)?;
//! let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
//! let input = capture.stream().upload(device.pinned(2)?, &mut buffer)?;
//! let mut graph = capture.finish()?;
//! graph.host(&input)?[0] = 1;
//! graph.host(&input)?[1] = 2;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0499
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u32>(2)?;
//! let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
//! let input = capture.stream().upload(device.pinned(2)?, &mut buffer)?;
//! let mut graph = capture.finish()?;
//! let (mut one, mut two) = (graph.host(&input)?, graph.host(&input)?);
//! one[0] = 1;
//! two[1] = 2;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A pinned buffer is with the device from the copy to its end
//!
//! ```
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.alloc::<u32>(2)?;
//! let mut pinned = device.pinned_from(&[1, 2])?;
//! let lent = stream.upload(pinned, &mut buffer)?;
//! pinned = lent.wait()?; // comes back
//! pinned[0] = 3;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0382
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.alloc::<u32>(2)?;
//! let mut pinned = device.pinned_from(&[1, 2])?;
//! let lent = stream.upload(pinned, &mut buffer)?;
//! pinned[0] = 3; // not back yet
//! lent.wait()?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0382
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let buffer = device.alloc::<u32>(2)?;
//! let pinned = device.pinned::<u32>(2)?;
//! let lent = stream.download(&buffer, pinned)?;
//! let first = pinned[0]; // not back yet
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A part of a buffer does not outlive it
//!
//! ```
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let buffer = device.upload(&[1, 2])?;
//! let part = buffer.slice(1..)?;
//! assert_eq!(part.to_vec()?, [2]);
//! drop(buffer); // after the last use
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0505
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let buffer = device.upload(&[1, 2])?;
//! let part = buffer.slice(1..)?;
//! drop(buffer);
//! assert_eq!(part.to_vec()?, [2]);
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0597
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let part = {
//!     let mut buffer = device.upload(&[1, 2])?;
//!     buffer.slice_mut(1..)?
//! };
//! assert_eq!(part.to_vec()?, [2]);
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Nor is the buffer closed, or shared, while a part is borrowed
//!
//! ```
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.upload(&[1, 2])?;
//! let mut part = buffer.slice_mut(1..)?;
//! stream.fill_bytes(&mut part, 0)?; // the work may outlive the borrow
//! buffer.close()?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0505
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.upload(&[1, 2])?;
//! let mut part = buffer.slice_mut(1..)?;
//! buffer.close()?;
//! stream.fill_bytes(&mut part, 0)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0505
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let buffer = device.upload(&[1, 2])?;
//! let part = buffer.slice(1..)?;
//! let shared = buffer.into_shared();
//! assert_eq!(part.to_vec()?, [2]);
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Two parts for writing are disjoint
//!
//! ```
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.upload(&[[1_u64; 8], [2; 8]])?;
//! let (mut low, mut high) = buffer.split_at_mut(1)?;
//! stream.fill_bytes(&mut low, 1)?;
//! stream.fill_bytes(&mut high, 2)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0499
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.upload(&[[1_u64; 8], [2; 8]])?;
//! let (mut low, mut high) = (buffer.slice_mut(..1)?, buffer.slice_mut(1..)?);
//! stream.fill_bytes(&mut low, 1)?;
//! stream.fill_bytes(&mut high, 2)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0499
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.upload(&[1, 2, 3])?;
//! let mut part = buffer.slice_mut(..)?;
//! let (mut low, mut same) = (part.slice_mut(..2)?, part.slice_mut(1..)?);
//! stream.copy(&low, &mut same)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0502
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.upload(&[[1_u64; 8], [2; 8]])?;
//! let (from, mut to) = (buffer.slice(..1)?, buffer.slice_mut(1..)?);
//! stream.copy(&from, &mut to)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A part for reading is not written
//!
//! ```
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let mut buffer = device.upload(&[1, 2])?;
//! stream.fill_bytes(&mut buffer.slice_mut(1..)?, 0)?;
//! buffer.slice_mut(1..)?.write(&[3])?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let buffer = device.upload(&[1, 2])?;
//! stream.fill_bytes(&mut buffer.slice(1..)?, 0)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let buffer = device.upload(&[1, 2])?;
//! stream.upload(device.pinned_from(&[3])?, &mut buffer.slice(1..)?)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0599
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let buffer = device.upload(&[1, 2])?;
//! buffer.slice(1..)?.write(&[3])?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0596
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let buffer = device.upload(&[1, 2])?;
//! buffer.slice_mut(1..)?.write(&[3])?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Plans and tensors share memory, so a buffer of one owner is made a shared one before
//!
//! ```
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # use racl::{Tensor, plan::Frozen};
//! let memory = device.upload(&[1.0_f32, 2.0])?.into_shared();
//! let frozen = Frozen::new().with("w", &memory);
//! let pair = Tensor::over(memory.clone(), [2])?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # use racl::plan::Frozen;
//! let memory = device.upload(&[1.0_f32, 2.0])?;
//! let frozen = Frozen::new().with("w", &memory);
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # use racl::Tensor;
//! let memory = device.upload(&[1.0_f32, 2.0])?;
//! let one = Tensor::over(memory.slice(1..)?, [1])?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A capture stays on its thread
//!
//! ```
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let capture = stream.begin_capture(CaptureMode::Relaxed)?;
//! let graph = capture.finish()?;
//! std::thread::scope(|scope| {
//!     scope.spawn(move || drop(graph)); // a graph may go elsewhere
//! });
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let capture = stream.begin_capture(CaptureMode::Relaxed)?;
//! std::thread::scope(|scope| {
//!     scope.spawn(move || drop(capture)); // a capture may not
//! });
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A capture that has ended records nothing more
//!
//! ```
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u8>(2)?;
//! let capture = stream.begin_capture(CaptureMode::Relaxed)?;
//! capture.stream().fill_bytes(&mut buffer, 1)?;
//! let graph = capture.finish()?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0382
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let mut buffer = device.alloc::<u8>(2)?;
//! let capture = stream.begin_capture(CaptureMode::Relaxed)?;
//! let graph = capture.finish()?;
//! capture.stream().fill_bytes(&mut buffer, 1)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Threads share a graph only through a lock
//!
//! ```
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let graph = std::sync::Mutex::new(stream.capture(CaptureMode::Relaxed, |_| Ok(()))?);
//! std::thread::scope(|scope| {
//!     scope.spawn(|| graph.lock().unwrap().memory_bytes());
//! });
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # use racl::{Acl, CaptureMode};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let graph = stream.capture(CaptureMode::Relaxed, |_| Ok(()))?;
//! std::thread::scope(|scope| {
//!     scope.spawn(|| graph.memory_bytes());
//! });
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A host function owns what it uses
//!
//! ```
//! # let stream = racl::Acl::mock()?.device(0)?.stream()?;
//! let text = String::from("done");
//! stream.host_function(move || assert_eq!(text, "done"))?;
//! stream.synchronize()?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0597
//! # let stream = racl::Acl::mock()?.device(0)?.stream()?;
//! let text = String::from("done");
//! let text = &text;
//! stream.host_function(move || assert_eq!(text, "done"))?;
//! stream.synchronize()?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # let stream = racl::Acl::mock()?.device(0)?.stream()?;
//! let text = std::rc::Rc::new("done");
//! stream.host_function(move || assert_eq!(*text, "done"))?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Device memory holds plain data only
//!
//! ```
//! # let device = racl::Acl::mock()?.device(0)?;
//! let buffer = device.alloc::<u64>(4)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # let device = racl::Acl::mock()?.device(0)?;
//! let buffer = device.alloc::<String>(4)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Operators take only the types that they compute with
//!
//! ```
//! # use racl::{Acl, op};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let a = device.zeros::<f32>([2])?;
//! op::tanh(&stream, &a, &mut a.clone())?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0277
//! # use racl::{Acl, op};
//! # let device = Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! let a = device.zeros::<i32>([2])?;
//! op::tanh(&stream, &a, &mut a.clone())?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # An output of a plan ends before the next run, which writes over it
//!
//! ```
//! # use racl::op::DataType::F32;
//! # use racl::plan::{Frozen, Input, Plan};
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let plan = Plan::build(|g| {
//! #     let x = g.input("x", [2], F32, Input::Static)?;
//! #     let y = g.adds(x, 1.0)?;
//! #     g.output("y", y)
//! # })?;
//! let mut exe = plan.capture(&device, Frozen::new())?;
//! let (y, mut bind) = (exe.output_id("y")?, exe.bindings());
//! exe.run(&stream, &mut bind)?;
//! let output = exe.output::<f32>(y)?;
//! output.to_vec()?;
//! exe.run(&stream, &mut bind)?; // after the last use
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0502
//! # use racl::op::DataType::F32;
//! # use racl::plan::{Frozen, Input, Plan};
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let plan = Plan::build(|g| {
//! #     let x = g.input("x", [2], F32, Input::Static)?;
//! #     let y = g.adds(x, 1.0)?;
//! #     g.output("y", y)
//! # })?;
//! let mut exe = plan.capture(&device, Frozen::new())?;
//! let (y, mut bind) = (exe.output_id("y")?, exe.bindings());
//! exe.run(&stream, &mut bind)?;
//! let output = exe.output::<f32>(y)?;
//! exe.run(&stream, &mut bind)?; // before the last use
//! output.to_vec()?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # What a batch receives into is the batch's until it is queued
//!
//! ```
//! # use racl::collective::{Communicator, RootInfo};
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
//! # let (from, mut to) = (device.upload(&[1])?, device.upload(&[0])?);
//! let mut batch = ranks.batch(&stream);
//! batch.send(&from, 0)?.receive(&mut to, 0)?;
//! batch.submit()?;
//! assert_eq!(to.to_vec()?, [1]);
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! ```compile_fail,E0502
//! # use racl::collective::{Communicator, RootInfo};
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let stream = device.stream()?;
//! # let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
//! # let (from, mut to) = (device.upload(&[1])?, device.upload(&[0])?);
//! let mut batch = ranks.batch(&stream);
//! batch.send(&from, 0)?.receive(&mut to, 0)?;
//! assert_eq!(to.to_vec()?, [0]);
//! batch.submit()?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Only what HCCL reduces is reduced
//!
//! ```compile_fail,E0277
//! # use racl::collective::{Communicator, Reduction, RootInfo};
//! # let device = racl::Acl::mock()?.device(0)?;
//! # let ranks = Communicator::new(&device, &RootInfo::new(&device)?, 0, 1)?;
//! ranks.all_reduce_in_place(&device.stream()?, &mut device.upload(&[1.0_f64])?, Reduction::Sum)?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # A file is no library because a name says so
//!
//! ```no_run
//! # #[cfg(feature = "dlopen")]
//! # fn load() -> racl::Result<racl::Acl> {
//! // SAFETY: the file is the vendor's.
//! unsafe { racl::Acl::init_from("libascendcl.so") }
//! # }
//! ```
//!
//! ```compile_fail,E0133
//! let acl = racl::Acl::init_from("libascendcl.so")?;
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! # Nor are kernels
//!
//! ```
//! // SAFETY: the file is this program's.
//! let load = |context: &racl::Context| unsafe { context.load_kernels("mine.o") };
//! ```
//!
//! ```compile_fail,E0133
//! let load = |context: &racl::Context| context.load_kernels("mine.o");
//! ```
//!
//! # A kernel is launched by code that vouches for it
//!
//! ```
//! # use racl::{DeviceBuffer, Kernel, Stream};
//! fn launch(kernel: &Kernel, stream: &Stream, x: &mut DeviceBuffer<f32>) -> racl::Result<()> {
//!     // SAFETY: that is the kernel's one parameter.
//!     unsafe { kernel.launch(stream).arg(x).submit() }
//! }
//! ```
//!
//! ```compile_fail,E0133
//! # use racl::{DeviceBuffer, Kernel, Stream};
//! fn launch(kernel: &Kernel, stream: &Stream, x: &mut DeviceBuffer<f32>) -> racl::Result<()> {
//!     kernel.launch(stream).arg(x).submit()
//! }
//! ```
//!
//! # What a launch writes is no other argument of it
//!
//! ```compile_fail,E0502
//! # use racl::{DeviceBuffer, Kernel, Stream};
//! fn launch(kernel: &Kernel, stream: &Stream, x: &mut DeviceBuffer<f32>) -> racl::Result<()> {
//!     // SAFETY: nothing is launched.
//!     unsafe { kernel.launch(stream).arg(&mut *x).arg(&*x).submit() }
//! }
//! ```
//!
//! # References, vectors and texts of the host are no arguments
//!
//! ```compile_fail,E0277
//! # use racl::{Kernel, Stream};
//! fn launch(kernel: &Kernel, stream: &Stream, x: &[f32]) {
//!     drop(kernel.launch(stream).arg(x));
//! }
//! ```

mod by_hand;
mod closed;
mod given;
mod kinds;
mod work;
