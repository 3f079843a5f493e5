//! Host functions on a library of whatever release: run by itself, or by a thread of the program.

use std::ffi::c_void;
use std::os::unix::thread::JoinHandleExt as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use racl::op::DataType::F32;
use racl::plan::{Frozen, HostFunction, Input, Mode, Plan, RunOptions};
use racl::{CaptureMode, Device, ErrorKind, Result, Stream};

use crate::common::assert_says;

/// All of it, on a device of the library.
pub(crate) fn work(device: &Device) -> Result<()> {
    in_order(device)?;
    on_two_streams(device)?;
    on_the_default_stream(device)?;
    in_graphs(device)?;
    in_plans(device)?;
    panics(device)?;
    dropped_while_queued(device)?;
    many_streams(device)?;
    if device.acl().table().aclrtLaunchHostFunc().is_err() {
        beside_a_foreign_thread(device)?;
    }
    Ok(())
}

/// A function that says its number.
fn says(number: u32) -> (impl FnMut() + Send + 'static, Receiver<u32>) {
    let (sender, receiver) = channel();
    (move || sender.send(number).unwrap(), receiver)
}

fn in_order(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let (sender, receiver) = channel();
    let mut buffer = device.alloc::<u8>(4)?;
    for number in 0..20 {
        let sender = sender.clone();
        stream.fill_bytes(&mut buffer, number)?;
        stream.host_function(move || sender.send(number).unwrap())?;
    }
    drop(sender);
    stream.synchronize()?;
    assert_eq!(receiver.iter().collect::<Vec<_>>(), (0..20).collect::<Vec<_>>());
    assert_eq!(buffer.to_vec()?, [19; 4]);
    Ok(())
}

/// One stream stands still while its function does; the other one waits for it on the device.
fn on_two_streams(device: &Device) -> Result<()> {
    let (first, second) = (device.stream()?, device.stream()?);
    let (go, gone) = channel::<()>();
    let (ran, others) = says(2);
    let done = Arc::new(AtomicU32::new(0));
    let (gone, count) = (Mutex::new(gone), Arc::clone(&done));
    first.host_function(move || {
        gone.lock().unwrap().recv().unwrap();
        count.fetch_add(1, Ordering::AcqRel);
    })?;
    first.fork(&second)?;
    second.host_function(ran)?;
    assert!(!second.is_complete()?);
    assert!(others.try_recv().is_err());
    go.send(()).unwrap();
    second.synchronize()?;
    assert_eq!((done.load(Ordering::Acquire), others.try_recv()), (1, Ok(2)));
    Ok(())
}

/// Two handles of it, one after the other and both at once.
fn on_the_default_stream(device: &Device) -> Result<()> {
    let (first, second) = (device.default_stream()?, device.default_stream()?);
    for stream in [first, second, device.default_stream()?] {
        let (ran, receiver) = says(3);
        stream.host_function(ran)?;
        stream.synchronize()?;
        assert_eq!(receiver.try_recv(), Ok(3));
    }
    Ok(())
}

fn in_graphs(device: &Device) -> Result<()> {
    let (main, side) = (device.stream()?, device.stream()?);
    let count = Arc::new(AtomicU32::new(0));
    let counts = |add: u32| {
        let count = Arc::clone(&count);
        move || _ = count.fetch_add(add, Ordering::AcqRel)
    };
    let mut graph = main.capture(CaptureMode::ThreadLocal, |s| {
        s.host_function(counts(1))?;
        s.fork(&side)?;
        side.host_function(counts(10))?;
        s.join(&side)
    })?;
    assert_eq!(count.load(Ordering::Acquire), 0, "recorded, not run");
    // The streams that it was recorded on go before it runs.
    drop((main, side));
    let other = device.stream()?;
    for launch in 1..=4 {
        graph.launch(&other)?;
        graph.wait()?;
        assert_eq!(count.load(Ordering::Acquire), 11 * launch);
    }
    graph.launch(&other)?;
    graph.launch(&other)?;
    drop(graph);
    assert_eq!((count.load(Ordering::Acquire), Arc::strong_count(&count)), (66, 1));
    Ok(())
}

fn in_plans(device: &Device) -> Result<()> {
    let count = Arc::new(AtomicU32::new(0));
    let inside = Arc::clone(&count);
    let counted = HostFunction::new("count", 1, move |_| {
        inside.fetch_add(1, Ordering::AcqRel);
    });
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let y = g.adds(x, 1.0)?;
        g.host_function(&counted)?;
        let z = g.muls(y, 2.0)?;
        g.output("z", z)
    })?;
    let main = device.stream()?;
    let mut runs = 0;
    for mode in [Mode::Eager, Mode::Captured] {
        let mut exe = plan.executable(device, &RunOptions::new().mode(mode), Frozen::new())?;
        let (input, output, mut bind) = (exe.input("x")?, exe.output_id("z")?, exe.bindings());
        for step in 1..=3_u8 {
            let x = device.upload_tensor(&[f32::from(step), 0.0], [2])?;
            exe.run(&main, bind.set(input, &x))?;
            runs += 1;
            assert_eq!(exe.output::<f32>(output)?.to_vec()?, [2.0 * f32::from(step) + 2.0, 2.0]);
            assert_eq!(count.load(Ordering::Acquire), runs, "{mode:?}");
        }
    }
    Ok(())
}

fn panics(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    stream.host_function(|| panic!("on purpose"))?;
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["on purpose"]);
    stream.synchronize()?;
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.host_function(|| panic!("in a graph")))?;
    for _ in 0..2 {
        graph.launch(&stream)?;
        assert_says(&graph.wait().unwrap_err(), ErrorKind::CallbackPanicked, &["in a graph"]);
    }
    Ok(())
}

/// The last handles of the stream and of its context go while the function waits.
fn dropped_while_queued(device: &Device) -> Result<()> {
    let context = device.context().create_context()?;
    let stream = context.stream()?;
    let (go, gone) = channel::<()>();
    let (mut ran, receiver) = says(4);
    let gone = Mutex::new(gone);
    stream.host_function(move || {
        gone.lock().unwrap().recv().unwrap();
        ran();
    })?;
    drop(context);
    thread::scope(|scope| {
        let ends = scope.spawn(move || drop(stream));
        go.send(()).unwrap();
        ends.join().unwrap();
    });
    assert_eq!(receiver.try_recv(), Ok(4));
    Ok(())
}

/// Streams that come and go, on threads.
fn many_streams(device: &Device) -> Result<()> {
    let count = Arc::new(AtomicU32::new(0));
    let one = |keeps: bool| -> Result<()> {
        let stream = device.stream()?;
        for _ in 0..3 {
            let count = Arc::clone(&count);
            stream.host_function(move || _ = count.fetch_add(1, Ordering::AcqRel))?;
        }
        if keeps { stream.synchronize() } else { Ok(()) }
    };
    thread::scope(|scope| {
        let threads: Vec<_> =
            (0..3).map(|_| scope.spawn(|| (0..20).try_for_each(|step| one(step % 2 == 0)))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })?;
    assert_eq!(count.load(Ordering::Acquire), 180);
    Ok(())
}

unsafe extern "C" fn nothing(_: *mut c_void) {}

/// Other code has a thread for callbacks of a stream, which is refused until that has ended.
fn beside_a_foreign_thread(device: &Device) -> Result<()> {
    let stream = device.stream()?;
    let (stop, stopped) = channel::<()>();
    let foreign = thread::spawn(move || stopped.recv().unwrap());
    let pthread = foreign.as_pthread_t();
    let table = device.acl().table();
    let [subscribe, leave] = [table.aclrtSubscribeReport()?, table.aclrtUnSubscribeReport()?];
    device.context().bind()?;
    // SAFETY: a number and a live stream.
    assert_eq!(unsafe { subscribe(pthread, stream.as_raw()) }, 0);
    let parts = ["aclrtSubscribeReport failed", "other code has subscribed a thread", "107011"];
    assert_says(&refused(&stream), ErrorKind::InvalidArgument, &parts);
    // A graph that lacks it is not made.
    let capture = stream.begin_capture(CaptureMode::ThreadLocal)?;
    assert_says(&refused(&capture.stream().clone()), ErrorKind::InvalidArgument, &parts);
    assert_says(&capture.finish().unwrap_err(), ErrorKind::CaptureInvalidated, &["host function"]);
    // SAFETY: as above.
    assert_eq!(unsafe { leave(pthread, stream.as_raw()) }, 0);
    stop.send(()).unwrap();
    foreign.join().unwrap();

    let (ran, receiver) = says(5);
    stream.host_function(ran)?;
    stream.synchronize()?;
    assert_eq!(receiver.try_recv(), Ok(5));

    // What goes to other code is free for a thread of its own.
    let raw = stream.into_raw().map_err(racl::Refused::into_error)?;
    // SAFETY: as above, and a function that uses no argument.
    assert_eq!(unsafe { (table.aclrtLaunchCallback()?)(Some(nothing), std::ptr::null_mut(), KIND, raw) }, 107_015);
    // SAFETY: the handle came from a stream of this context and is given to one value.
    drop(unsafe { Stream::from_raw(raw, device.context()) }?);
    Ok(())
}

const KIND: racl::sys::aclrtCallbackBlockType = racl::sys::aclrtCallbackBlockType::ACL_CALLBACK_BLOCK;

/// Why a function is refused, which is dropped then.
fn refused(stream: &Stream) -> racl::Error {
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let error = stream.host_function(move || drop(Arc::clone(&inside))).unwrap_err();
    if !stream.is_capturing() {
        assert_eq!(Arc::strong_count(&held), 1);
    }
    error
}
