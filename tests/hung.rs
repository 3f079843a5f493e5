//! Work that never ends: drops return all the same, within their limit, and nothing is freed under it.

#[path = "common/mod.rs"]
mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::time::{Duration, Instant};

use common::{assert_says, direct_device as device, mock};
use racl::op::DataType::F32;
use racl::plan::{Executable, External, Frozen, Input, Mode, Plan, RunOptions};
use racl::{CaptureMode, Context, Error, ErrorKind, Stream, ValueWait, sys};

/// What hangs here does so until it is told to go on, so that no time is too short.
const LIMIT: Duration = Duration::from_millis(20);
/// More than a drop takes besides, on a machine that does other work as well.
const FAR: Duration = Duration::from_secs(8);

/// A stream that goes on only when it is told, also when its value is gone.
struct Held {
    context: Context,
    raw: sys::aclrtStream,
    id: i32,
}

impl Held {
    fn new() -> (Self, Stream) {
        racl::set_drop_limit(LIMIT);
        let context = device().context().create_context().unwrap();
        let stream = context.stream().unwrap();
        mock::hold(&stream).unwrap();
        let (raw, id) = (stream.as_raw(), stream.id().unwrap());
        (Self { context, raw, id }, stream)
    }

    /// Drops `what`, which returns; the work that `hangs`, with the stream's id for ID, is told to be late, and what it
    /// uses stays.
    #[track_caller]
    fn drops<T>(self, what: T, name: &str, hangs: &[&str], rest: Option<Stream>) {
        let _watched = watchdog::Watchdog::new();
        let allocations = mock::live_handles().device_allocations;
        let begun = Instant::now();
        drop(what);
        assert!(begun.elapsed() < LIMIT + FAR, "{name}: {:?}", begun.elapsed());
        assert_eq!(mock::live_handles().device_allocations, allocations, "{name}: memory in use was freed");
        let told = self.context.take_drop_errors();
        let late = told.iter().find(|error| error.kind() == ErrorKind::Timeout);
        let late = late.unwrap_or_else(|| panic!("{name}: {told:?}"));
        let hangs = hangs.iter().map(|part| part.replace("ID", &self.id.to_string()));
        hangs.for_each(|part| {
            assert_says(late, ErrorKind::Timeout, &[&part, "is not done 20ms after the drop began"]);
        });
        drop(rest);
        let (context, error) = self.context.close().unwrap_err().into_parts();
        assert_says(&error, ErrorKind::InvalidArgument, &["still belong"]);
        // SAFETY: the stream is kept by the thread that waits for it; the mock checks any handle.
        unsafe { sys::mock::mock_acl_release_stream(self.raw) };
        close(context);
    }
}

/// Closes it once other threads have dropped what is in it.
fn close(mut context: Context) {
    while let Err(refused) = context.close() {
        context = refused.into_value();
        std::thread::yield_now();
    }
}

#[test]
fn a_stream() {
    let _alone = mock::exclusive();
    let (held, stream) = Held::new();
    let mut buffer = held.context.alloc::<u8>(8).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    drop(buffer);
    held.drops(stream, "stream", &["work of stream ID (", "done: 1; the latest: fill_bytes at tests/hung.rs:"], None);
}

#[test]
fn a_graph() {
    let _alone = mock::exclusive();
    let (held, stream) = Held::new();
    let recorder = held.context.stream().unwrap();
    let mut buffer = held.context.alloc::<u8>(8).unwrap();
    let mut graph = recorder.capture(CaptureMode::Relaxed, |s| s.fill_bytes(&mut buffer, 1)).unwrap();
    graph.launch(&stream).unwrap();
    drop((buffer, recorder));
    held.drops((graph, stream), "graph", &["a launch on stream ID (", "at tests/hung.rs:"], None);
}

#[test]
fn a_pinned_buffer() {
    let _alone = mock::exclusive();
    let (held, stream) = Held::new();
    let mut buffer = held.context.alloc::<u8>(8).unwrap();
    let lent = stream.upload(held.context.pinned(8).unwrap(), &mut buffer).unwrap();
    drop(buffer);
    held.drops((lent, stream), "pinned buffer", &["a copy of 8 bytes on stream ID (", "at tests/hung.rs:"], None);
}

/// Its drop does not wait, so that nobody but a thread finds out.
#[test]
fn a_copy_whose_future_is_dropped() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let (held, stream) = Held::new();
    let mut buffer = held.context.alloc::<u8>(8).unwrap();
    let pinned = mock::live_handles().pinned_allocations;
    // The second one is told later than the first, which is not told again then.
    for nth in 1..=2 {
        let lent = stream.upload(held.context.pinned(8).unwrap(), &mut buffer).unwrap();
        drop(lent.into_future());
        let told = told(&held.context);
        let stream = format!("a copy of 8 bytes on stream {} (", held.id);
        let parts = [&stream, "at tests/hung.rs:", "is not done 20ms after the drop began; it is kept"];
        assert_says(&told[0], ErrorKind::Timeout, &parts);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(mock::live_handles().pinned_allocations, pinned + nth, "memory in use was freed");
    }
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    while mock::live_handles().pinned_allocations > pinned {
        std::thread::yield_now();
    }
    assert!(held.context.take_drop_errors().is_empty());
    drop((buffer, stream));
    close(held.context);
}

/// y = |x|, with x updatable, and a run of it.
fn executable(held: &Held, stream: &Stream) -> Executable {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let y = g.abs(x)?;
        g.output("y", y)
    });
    let x = held.context.zeros::<f32>([4]).unwrap();
    let mut exe = plan.unwrap().executable(&held.context, &RunOptions::new(), Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
    drop(bind);
    exe
}

#[test]
fn an_executable() {
    let _alone = mock::exclusive();
    let (held, stream) = Held::new();
    let exe = executable(&held, &stream);
    held.drops(exe, "executable", &["a launch on stream ID (", "at tests/hung.rs:"], Some(stream));
}

#[test]
fn an_eager_run_at_a_gate() {
    let _alone = mock::exclusive();
    let (held, stream) = Held::new();
    let plan = Plan::build(|g| {
        let x = g.constant(&[1.0_f32; 4], [4])?;
        let gate = g.external("gate")?;
        g.wait_external(gate)?;
        let y = g.scope("side", |g| g.adds(x, 1.0))?;
        g.join("side")?;
        g.output("y", y)
    });
    let options = RunOptions::new().mode(Mode::Eager);
    let mut exe = plan.unwrap().executable(&held.context, &options, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(&stream, &mut bind).unwrap();
    drop(bind);
    held.drops(exe, "executable", &["a run on stream ID (", "at tests/hung.rs:"], Some(stream));
}

/// Its gate would stay shut: who opens gates whose signal failed must live as long as the graph does.
#[test]
fn a_graph_that_was_left_and_whose_update_fails_then() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let mut told = Vec::new();
    for nth in 1..=3 {
        let (held, stream) = Held::new();
        mock::fail_task("aclrtValueWrite", nth, 507_015).unwrap();
        let mut exe = executable(&held, &stream);
        exe.clear_graphs();
        let late = held.context.take_drop_errors();
        assert!(late.iter().any(|error| error.kind() == ErrorKind::Timeout), "nothing was late: {late:?}");
        mock::release(&stream).unwrap();
        told.extend(stream.synchronize().err());
        mock::clear_failures();
        drop(exe);
        told.extend(held.context.take_drop_errors());
        drop(stream);
        close(held.context);
    }
    assert!(told.iter().any(|error| error.kind() == ErrorKind::DeviceFault), "nobody was told: {told:?}");
}

/// Neither the run nor the drop waits for updates that stand behind work which never ends.
#[test]
fn a_gate_that_no_call_opens() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let (held, stream) = Held::new();
    mock::release(&stream).unwrap();
    // As long as the updates of a machine that does other work as well may take.
    racl::set_drop_limit(Duration::from_secs(10));
    let mut exe = executable(&held, &stream);
    stream.synchronize().unwrap();
    racl::set_drop_limit(LIMIT);
    mock::hold(&stream).unwrap();
    // In a run the gate's signal alone; the capture before had the word that closes it.
    (1..=6).for_each(|nth| mock::fail("aclrtValueWrite", nth, 507_000).unwrap());
    let x = held.context.upload_tensor(&[-3.0_f32; 4], [4]).unwrap();
    let run = |exe: &mut Executable| {
        let mut bind = exe.bindings();
        exe.run(&stream, bind.set(exe.input("x").unwrap(), &x)).unwrap_err()
    };
    assert_says(&run(&mut exe), ErrorKind::Internal, &["aclrtValueWrite", "507000"]);
    assert!(mock::calls("aclrtValueWrite") >= 2, "it was tried again");
    mock::clear_failures();
    assert_says(&run(&mut exe), ErrorKind::Aborted, &["could not be opened in order", "not done", "of no use"]);
    drop(exe);
    let late = held.context.take_drop_errors();
    assert!(late.iter().any(|error| error.kind() == ErrorKind::Timeout), "{late:?}");
    mock::release(&stream).unwrap();
    // Told once more where the graph, which goes on a thread of its own, is there for longer than the wait.
    if let Err(told) = stream.synchronize() {
        assert_says(&told, ErrorKind::Aborted, &["could not be opened in order", "of no use"]);
        stream.synchronize().unwrap();
    }
    drop((x, stream));
    close(held.context);
}

/// The errors of drops, once there are some: what a thread of its own finds out is told by and by.
fn told(context: &Context) -> Vec<Error> {
    let begun = Instant::now();
    loop {
        let told = context.take_drop_errors();
        if !told.is_empty() {
            return told;
        }
        assert!(begun.elapsed() < 6 * FAR, "nobody is told");
        std::thread::yield_now();
    }
}

#[test]
fn a_notify_that_nobody_records() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    racl::set_drop_limit(LIMIT);
    let context = device().context().create_context().unwrap();
    let (stream, notify) = (context.stream().unwrap(), context.notify().unwrap());
    stream.wait_notify(&notify, None).unwrap();
    let name = format!("work that uses a notify, of stream {} (", stream.id().unwrap());
    drop(notify);
    let parts = [&name, "the latest: notify wait at tests/hung.rs:", "is not done 20ms after the drop began"];
    let told = told(&context);
    assert_says(&told[0], ErrorKind::Timeout, &parts);
    assert_eq!(told.len(), 1, "{told:?}");
    stream.abort().unwrap();
    drop(stream);
    close(context);
}

/// Nobody will ever know whether the work is done: no thread looks for that.
#[test]
fn what_a_lost_stream_uses_stays_and_the_stream_is_named() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    racl::set_drop_limit(LIMIT);
    let context = device().context().create_context().unwrap();
    let (stream, notify, dropped) = (context.stream().unwrap(), context.notify().unwrap(), context.notify().unwrap());
    stream.set_name("lost");
    mock::hold(&stream).unwrap();
    notify.record(&stream).unwrap();
    dropped.record(&stream).unwrap();
    mock::fail("aclrtSynchronizeStreamWithTimeout", 1, 507_000).unwrap();
    mock::fail("aclrtDestroyStream", 1, 507_000).unwrap();
    drop(stream);
    assert_eq!(context.take_drop_errors().len(), 2);
    let before = mock::live_handles();
    let lost = ["a notify", "stream \"lost\" (", "the latest: notify record at tests/hung.rs:"];
    drop(dropped);
    let told = context.take_drop_errors();
    assert_says(&told[0], ErrorKind::DeviceLost, &lost);
    assert_eq!(told.len(), 1, "{told:?}");
    let (notify, error) = notify.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::DeviceLost, &lost);
    assert_eq!(mock::live_handles(), before, "what work may still use was destroyed");
    drop(notify);
    assert_says(&context.take_drop_errors()[0], ErrorKind::DeviceLost, &lost);
    drop(context);
    mock::reset().unwrap();
}

#[test]
fn a_stream_that_waits_for_a_notify_or_a_flag() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    racl::set_drop_limit(LIMIT);
    let context = device().context().create_context().unwrap();
    let (notify, flag) = (context.notify().unwrap(), context.flag(0).unwrap());
    for what in ["notify wait", "value wait"] {
        let stream = context.stream().unwrap();
        match what {
            "notify wait" => stream.wait_notify(&notify, None).unwrap(),
            _ => stream.wait_value(&flag, ValueWait::Equal(1)).unwrap(),
        }
        let (name, latest) = (format!("work of stream {} (", stream.id().unwrap()), format!("the latest: {what} at"));
        drop(stream);
        let told = told(&context);
        assert_says(&told[0], ErrorKind::Timeout, &[&name, &latest, "is not done 20ms after the drop began"]);
    }
    let (held, error) = context.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::InvalidArgument, &["still belong"]);
    let other = held.stream().unwrap();
    notify.record(&other).unwrap();
    flag.set(1).unwrap();
    drop((other, notify, flag));
    close(held);
}

/// In a process that can start no thread, since each would need a larger stack than there is room for.
#[test]
fn without_threads_a_drop_is_kept() {
    const CHILD: &str = "RACL_TEST_WITHOUT_THREADS";
    if std::env::var_os(CHILD).is_some() {
        let (held, stream) = Held::new();
        assert!(std::thread::Builder::new().spawn(|| {}).is_err(), "a thread was started");
        let mut buffer = held.context.alloc::<u8>(8).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        drop(stream);
        drop(buffer);
        let late = held.context.take_drop_errors();
        assert!(late.iter().any(|error| error.kind() == ErrorKind::Timeout), "{late:?}");
        let (_, error) = held.context.close().unwrap_err().into_parts();
        assert_says(&error, ErrorKind::InvalidArgument, &["still belong"]);
        return;
    }
    common::needs_mock("a process that it starts holds a stream of the mock");
    let _watched = watchdog::Watchdog::new();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "without_threads_a_drop_is_kept", "--test-threads=1", "--nocapture"]);
    let output = child.env(CHILD, "1").env("RUST_MIN_STACK", (1_u64 << 56).to_string()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// A plan that waits at two gates, one behind the other, with a run of it.
fn at_gates(context: &Context, stream: &Stream, mode: Mode) -> (Executable, [External; 2]) {
    let mut gates = None;
    let plan = Plan::build(|g| {
        let [first, second] = *gates.insert([g.external("first")?, g.external("second")?]);
        g.wait_external(first)?;
        g.wait_external(second)?;
        let x = g.constant(&[1.0_f32; 4], [4])?;
        let y = g.adds(x, 1.0)?;
        g.output("y", y)
    });
    let options = RunOptions::new().mode(mode);
    let mut exe = plan.unwrap().executable(context, &options, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(stream, &mut bind).unwrap();
    (exe, gates.unwrap())
}

/// Signals may take a minute to arrive: a drop waits as long as drops do, and a thread the rest.
#[test]
fn a_run_whose_signals_are_late() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let (held, signals) = Held::new();
        let stream = held.context.stream().unwrap();
        let (exe, gates) = at_gates(&held.context, &stream, mode);
        for gate in gates {
            exe.signal(gate, &signals).unwrap();
        }
        drop(exe);
        let told = held.context.take_drop_errors();
        assert_says(&told[0], ErrorKind::Timeout, &["is not done 20ms after the drop began", "at tests/hung.rs:"]);
        mock::release(&signals).unwrap();
        stream.synchronize().unwrap();
        drop((signals, stream));
        close(held.context);
    }
}

/// Graphs that go together have the time of one.
#[test]
fn graphs_that_are_cleared_behind_work_that_hangs() {
    const GRAPHS: usize = 48;
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let (held, stream) = Held::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=GRAPHS)?;
        let x = g.full([n], F32, 1.0)?;
        let y = g.abs(x)?;
        g.output("y", y)
    });
    let mut exe = plan.unwrap().executable(&held.context, &RunOptions::new(), Frozen::new()).unwrap();
    for n in 1..=GRAPHS {
        let mut bind = exe.bindings();
        exe.run(&stream, bind.symbol("n", n)).unwrap();
    }
    racl::set_drop_limit(5 * LIMIT);
    let begun = Instant::now();
    exe.clear_graphs();
    assert!(begun.elapsed() < 5 * LIMIT * GRAPHS as u32, "each graph was waited for");
    assert_eq!(exe.graphs(), 0);
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    drop((exe, stream));
    close(held.context);
}

/// They wait together, though nobody has them together any more.
#[test]
fn host_outputs_whose_graph_is_gone() {
    const OUTPUTS: usize = 48;
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    let (held, stream) = Held::new();
    let plan = Plan::build(|g| {
        let x = g.full([4], F32, 1.0)?;
        (0..OUTPUTS).try_for_each(|index| g.output_to_host(&format!("y{index}"), g.adds(x, index as f32)?))
    });
    let options = RunOptions::new().host_output_buffers(2);
    let mut exe = plan.unwrap().executable(&held.context, &options, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(&stream, &mut bind).unwrap();
    let outputs = exe.take_host_outputs().unwrap();
    exe.clear_graphs();
    racl::set_drop_limit(10 * LIMIT);
    let begun = Instant::now();
    drop(outputs);
    assert!(begun.elapsed() < 10 * LIMIT * OUTPUTS as u32, "each output was waited for: {:?}", begun.elapsed());
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    drop((bind, exe, stream));
    drop(held.context.take_drop_errors());
    close(held.context);
}

/// What opens gates is written behind work that hangs: the drop returns, and nothing is written twice.
#[test]
fn gates_whose_values_are_late() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    racl::set_drop_limit(LIMIT);
    for mode in [Mode::Captured, Mode::Eager] {
        let context = device().context().create_context().unwrap();
        let stream = context.stream().unwrap();
        let (exe, _) = at_gates(&context, &stream, mode);
        // Those that the executable has for itself. A process gives each stream a number of its own.
        let others = || (0..4096).filter(|id| *id != stream.id().unwrap());
        others().for_each(|id| hold(id, true));
        drop(exe);
        let told = context.take_drop_errors();
        assert!(told.iter().any(|error| error.kind() == ErrorKind::Timeout), "{told:?}");
        others().for_each(|id| hold(id, false));
        stream.synchronize().unwrap();
        drop(stream);
        close(context);
    }
}

/// The stream with this id, if there is one.
fn hold(id: i32, on: bool) {
    use sys::mock::{mock_acl_hold_stream_id, mock_acl_release_stream_id};
    let call = if on { mock_acl_hold_stream_id } else { mock_acl_release_stream_id };
    // SAFETY: any number is looked at.
    unsafe { call(id) };
}

/// A request to open gates goes on until the runs are over, however long a drop waits.
#[test]
fn gates_that_are_released_longer_than_drops_wait() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    for mode in [Mode::Captured, Mode::Eager] {
        let context = device().context().create_context().unwrap();
        let stream = context.stream().unwrap();
        let (mut exe, _) = at_gates(&context, &stream, mode);
        // Each gate has to open again, also where its value was late once.
        (0..2).for_each(|_| exe.run(&stream, &mut exe.bindings()).unwrap());
        racl::set_drop_limit(Duration::ZERO);
        assert_eq!(exe.release_gates().unwrap(), ["first", "second"]);
        racl::set_drop_limit(LIMIT);
        stream.synchronize().unwrap();
        drop((exe, stream));
        close(context);
    }
}
