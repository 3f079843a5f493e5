//! Host functions as on releases without `aclrtLaunchHostFunc`: a thread of racl for each context runs them.

mod common;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, Once};
use std::thread;
use std::time::{Duration, Instant};

use common::{assert_says, mock};
use racl::{Acl, CaptureMode, Context, Error, ErrorKind, Result, Stream};

/// A context of its own that runs host functions so, on a device that stays.
struct Older {
    context: Context,
    device: Context,
    before: [u64; 3],
    _alone: MutexGuard<'static, ()>,
}

fn live() -> [u64; 3] {
    let live = mock::live_handles();
    [live.contexts, live.streams, live.graphs]
}

fn primary(number: i32) -> Context {
    static DEVICES: Once = Once::new();
    // SAFETY: each test of this binary has the lock when it gets here, so that nothing else reads the environment.
    DEVICES.call_once(|| unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") });
    Acl::mock().unwrap().device(number).unwrap().context().clone()
}

impl Older {
    fn new() -> Self {
        let alone = mock::exclusive();
        mock::clear_failures();
        mock::stand_still(false);
        mock::older_host_functions(true);
        let device = primary(0);
        let before = live();
        Self { context: device.create_context().unwrap(), device, before, _alone: alone }
    }

    fn stream(&self) -> Stream {
        self.context.stream().unwrap()
    }

    /// That nothing is left, and that destructors met these errors and no others.
    #[track_caller]
    fn end(self, expected: &[ErrorKind]) {
        let told = self.context.take_drop_errors();
        assert_eq!(told.iter().map(Error::kind).collect::<Vec<_>>(), expected, "{told:#?}");
        close(self.context);
        drop(self.device.take_drop_errors());
        assert_eq!(live(), self.before);
    }
}

/// Contexts that were made from it may be ending on other threads.
fn close(mut context: Context) {
    let begun = Instant::now();
    while let Err(refused) = context.close() {
        let (again, error) = refused.into_parts();
        assert!(begun.elapsed() < Duration::from_secs(60), "{error}");
        context = again;
        thread::yield_now();
    }
}

/// A function that adds to a number.
fn adds(count: &Arc<AtomicU32>, number: u32) -> impl FnMut() + Send + 'static {
    let count = Arc::clone(count);
    move || _ = count.fetch_add(number, Ordering::AcqRel)
}

unsafe extern "C" {
    fn pthread_self() -> std::ffi::c_ulong;
}

/// As the library knows it.
fn this_thread() -> u64 {
    // SAFETY: takes nothing; the C library has it.
    unsafe { pthread_self() }
}

#[track_caller]
fn runs(stream: &Stream) {
    let count = Arc::default();
    stream.host_function(adds(&count, 1)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!((count.load(Ordering::Acquire), Arc::strong_count(&count)), (1, 1));
}

#[test]
fn one_thread_of_the_context_runs_the_functions_of_all_its_streams() {
    let older = Older::new();
    let calls = mock::calls("aclrtLaunchHostFunc");
    let streams = [older.stream(), older.stream(), older.context.default_stream().unwrap()];
    let (sender, receiver) = channel();
    for stream in streams.iter().chain(&streams) {
        let sender = sender.clone();
        let thread =
            move || sender.send((thread::current().id(), thread::current().name() == Some("racl-callbacks")));
        stream.host_function(move || thread().unwrap()).unwrap();
    }
    older.context.synchronize().unwrap();
    let threads: Vec<_> = receiver.try_iter().collect();
    assert_eq!(threads.len(), 6);
    assert!(threads.iter().all(|thread| *thread == threads[0] && thread.1), "{threads:?}");
    assert_eq!(mock::calls("aclrtLaunchHostFunc"), calls);
    drop(streams);
    older.end(&[]);
}

#[test]
fn functions_of_two_devices_do_not_wait_for_each_other() {
    let older = Older::new();
    let there = primary(1).create_context().unwrap();
    let (here, other) = (older.stream(), there.stream().unwrap());
    let (send, receive) = channel();
    let receive = Mutex::new(receive);
    let count = Arc::default();
    let mut then = adds(&count, 1);
    here.host_function(move || {
        assert_eq!(receive.lock().unwrap().recv(), Ok(7));
        then();
    })
    .unwrap();
    other.host_function(move || send.send(7).unwrap()).unwrap();
    here.synchronize().unwrap();
    other.synchronize().unwrap();
    assert_eq!(count.load(Ordering::Acquire), 1);
    drop((here, other));
    assert!(there.take_drop_errors().is_empty());
    there.close().unwrap();
    older.end(&[]);
}

#[test]
fn a_graph_runs_them_when_its_streams_are_gone_and_others_were_made() {
    let older = Older::new();
    let count = Arc::default();
    let capture = older.stream();
    let record = |s: &Stream| {
        s.host_function(adds(&count, 1))?;
        let side = s.side("1")?;
        s.fork(&side)?;
        side.host_function(adds(&count, 10))?;
        s.join(&side)
    };
    let mut graph = capture.capture(CaptureMode::ThreadLocal, record).unwrap();
    drop(capture);
    for launch in 1..=5 {
        let stream = older.stream();
        runs(&stream);
        graph.launch(&stream).unwrap();
        drop(stream);
        assert_eq!(count.load(Ordering::Acquire), 11 * launch);
    }
    graph.close().unwrap();
    assert_eq!(Arc::strong_count(&count), 1);
    older.end(&[]);
}

/// The nth call of `function` fails while the first host function of a context is given; nothing is lost by that.
#[track_caller]
fn refuses(function: &str, nth: u64) {
    let older = Older::new();
    let stream = older.stream();
    let count = Arc::default();
    mock::fail(function, nth, 507_000).unwrap();
    let error = stream.host_function(adds(&count, 1)).unwrap_err();
    assert_says(&error, ErrorKind::Internal, &[function, "507000"]);
    assert_eq!(Arc::strong_count(&count), 1, "the function was dropped");
    stream.synchronize().unwrap();
    assert_eq!(count.load(Ordering::Acquire), 0);
    runs(&stream);
    drop(stream);
    older.end(&[]);
}

#[test]
fn a_call_that_fails_at_the_start_refuses_the_function_and_the_next_one_runs() {
    for (function, calls) in
        [("aclrtCreateStreamWithConfig", 1), ("aclrtSubscribeReport", 2), ("aclrtLaunchCallback", 2)]
    {
        (1..=calls).for_each(|nth| refuses(function, nth));
    }
}

#[test]
fn a_start_that_fails_in_a_capture_gives_no_graph() {
    let older = Older::new();
    let stream = older.stream();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    mock::fail("aclrtSubscribeReport", 1, 507_000).unwrap();
    capture.stream().host_function(|| ()).unwrap_err();
    assert_says(&capture.finish().unwrap_err(), ErrorKind::CaptureInvalidated, &["host function", "older.rs"]);
    runs(&stream);
    drop(stream);
    older.end(&[]);
}

#[test]
fn the_thread_goes_on_after_a_call_that_failed() {
    let older = Older::new();
    let stream = older.stream();
    runs(&stream);
    for _ in 0..3 {
        // The one that begins after the next function.
        mock::fail("aclrtProcessReport", 1, 507_000).unwrap();
        runs(&stream);
        runs(&stream);
    }
    drop(stream);
    older.end(&[]);
}

#[test]
fn a_subscription_that_does_not_end_is_told_and_the_stream_goes() {
    let older = Older::new();
    let (stream, other) = (older.stream(), older.stream());
    runs(&stream);
    runs(&other);
    mock::fail("aclrtUnSubscribeReport", 1, 507_000).unwrap();
    drop(stream);
    // The value that cannot be given away is a stream as before.
    mock::fail("aclrtUnSubscribeReport", 1, 507_000).unwrap();
    let (other, error) = other.into_raw().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Internal, &["aclrtUnSubscribeReport"]);
    drop(other);
    older.end(&[ErrorKind::Internal]);
}

#[test]
fn a_leased_stream_whose_subscription_does_not_end_is_not_lent_again() {
    let older = Older::new();
    let main = older.stream();
    let record = |s: &Stream| -> Result<()> {
        let side = s.side("1")?;
        s.fork(&side)?;
        side.host_function(|| ())?;
        s.join(&side)
    };
    mock::fail("aclrtUnSubscribeReport", 1, 507_000).unwrap();
    drop(main.capture(CaptureMode::ThreadLocal, record).unwrap());
    assert_eq!(older.context.take_drop_errors().len(), 1);
    for _ in 0..3 {
        drop(main.capture(CaptureMode::ThreadLocal, record).unwrap());
    }
    drop(main);
    older.end(&[]);
}

#[test]
fn an_end_that_cannot_wake_the_thread_waits_until_it_looks() {
    let older = Older::new();
    let stream = older.stream();
    runs(&stream);
    drop(stream);
    mock::fail("aclrtLaunchCallback", 1, 507_000).unwrap();
    let Older { context, device, before, _alone } = older;
    context.close().unwrap();
    assert_eq!(live(), before);
    drop(device.take_drop_errors());
}

#[test]
fn subscriptions_that_other_code_ended_are_made_again() {
    let older = Older::new();
    let stream = older.stream();
    let thread = Arc::new(Mutex::new(None));
    let place = Arc::clone(&thread);
    // The library calls it so.
    let own = older.context.acl().table().aclrtUnSubscribeReport().unwrap();
    stream.host_function(move || *place.lock().unwrap() = Some(this_thread())).unwrap();
    stream.synchronize().unwrap();
    let pthread = thread.lock().unwrap().expect("it ran");
    for _ in 0..2 {
        // SAFETY: a number and a live stream.
        assert_eq!(unsafe { own(pthread, stream.as_raw()) }, 0);
        runs(&stream);
    }
    // SAFETY: as above.
    assert_eq!(unsafe { own(pthread, stream.as_raw()) }, 0);
    drop(stream);
    older.end(&[]);
}

#[test]
fn streams_that_come_and_go_on_threads() {
    let older = Older::new();
    let count = Arc::default();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for step in 0..60 {
                    let stream = older.stream();
                    stream.host_function(adds(&count, 1)).unwrap();
                    if step % 3 == 0 {
                        stream.synchronize_timeout(Duration::from_secs(600)).unwrap();
                    } else if step % 3 == 1 {
                        let mut graph =
                            stream.capture(CaptureMode::ThreadLocal, |s| s.host_function(adds(&count, 100))).unwrap();
                        graph.launch(&stream).unwrap();
                    }
                }
            });
        }
    });
    older.context.synchronize().unwrap();
    assert_eq!((count.load(Ordering::Acquire), Arc::strong_count(&count)), (4 * (60 + 20 * 100), 1));
    older.end(&[]);
}

#[test]
fn a_context_whose_last_handle_a_function_drops_ends_elsewhere() {
    let older = Older::new();
    let context = older.context.create_context().unwrap();
    let stream = context.stream().unwrap();
    let (go, gone) = channel::<()>();
    let gone = Mutex::new(gone);
    let mut all = Some((context, stream.clone()));
    let (say, dropped) = channel();
    stream
        .host_function(move || {
            gone.lock().unwrap().recv().unwrap();
            drop(all.take());
            say.send(()).unwrap();
        })
        .unwrap();
    drop(stream);
    go.send(()).unwrap();
    dropped.recv().unwrap();
    older.end(&[]);
}

#[test]
fn nothing_stays_behind_where_work_stands_still() {
    let older = Older::new();
    mock::stand_still(true);
    let stream = older.stream();
    runs(&stream);
    let count = Arc::default();
    stream.host_function(adds(&count, 1)).unwrap();
    drop(stream);
    assert_eq!(count.load(Ordering::Acquire), 1);
    older.end(&[]);
    mock::stand_still(false);
}

#[test]
fn a_device_that_is_opened_again_has_a_thread_again() {
    let alone = mock::exclusive();
    mock::older_host_functions(true);
    for _ in 0..3 {
        let device = primary(1);
        let (stream, default) = (device.stream().unwrap(), device.default_stream().unwrap());
        runs(&stream);
        runs(&default);
    }
    mock::older_host_functions(false);
    drop(alone);
}

/// The library has the call of a replay that was aborted, and makes it when the thread is free, behind the graph's end.
#[test]
fn a_function_of_a_graph_that_is_gone_does_not_run() {
    let older = Older::new();
    let (busy, stream) = (older.stream(), older.stream());
    let count = Arc::new(AtomicU32::new(0));
    for _ in 0..20 {
        let function = adds(&count, 1);
        let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.host_function(function)).unwrap();
        let ((begins, begun), (opens, opened)) = (channel(), channel::<()>());
        busy.host_function(move || {
            begins.send(()).unwrap();
            let _ = opened.recv();
        })
        .unwrap();
        begun.recv().unwrap();
        graph.launch(&stream).unwrap();
        // The stream gets as far as the function, for which it waits.
        let waited = stream.synchronize_timeout(Duration::from_millis(1));
        assert_eq!(waited.unwrap_err().kind(), ErrorKind::Timeout);
        stream.abort().unwrap();
        drop(graph);
        assert_eq!(Arc::strong_count(&count), 1, "what the graph kept is dropped");
        drop(opens);
        busy.synchronize().unwrap();
    }
    assert_eq!(count.load(Ordering::Acquire), 0);
    drop((busy, stream));
    older.end(&[]);
}

/// What it owns is dropped on the thread of host functions then, which makes no calls.
#[test]
fn a_function_that_runs_while_its_graph_goes_outlives_it() {
    let older = Older::new();
    let stream = older.stream();
    let owned = (older.stream(), older.context.alloc::<u8>(64).unwrap(), older.context.event().unwrap());
    let ((begins, begun), (opens, opened)) = (channel(), channel::<()>());
    let function = move || {
        let _ = &owned;
        begins.send(()).unwrap();
        let _ = opened.recv();
    };
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.host_function(function)).unwrap();
    graph.launch(&stream).unwrap();
    begun.recv().unwrap();
    stream.abort().unwrap();
    drop(graph);
    drop(opens);
    assert!(begun.recv().is_err(), "it is gone");
    drop(stream);
    older.end(&[]);
}

unsafe extern "C" {
    fn fork() -> i32;
    fn _exit(code: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

#[test]
fn a_child_of_a_fork_drops_what_it_has_without_the_thread() {
    let older = Older::new();
    let stream = older.stream();
    runs(&stream);
    // SAFETY: the child drops values of this crate, which the library refuses there, and ends.
    let child = unsafe { fork() };
    if child == 0 {
        let Older { context, .. } = older;
        drop(stream);
        let refused = context.close().unwrap_err().into_error();
        // Not that the thread does not end.
        let code = if refused.kind() == ErrorKind::Timeout { 1 } else { 7 };
        // SAFETY: ends the process at once.
        unsafe { _exit(code) };
    }
    let mut status = 0;
    // SAFETY: `status` is a place for one number.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status >> 8, 7, "{status}");
    runs(&stream);
    drop(stream);
    older.end(&[]);
}
