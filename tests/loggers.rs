//! A logger that calls this crate, on the thread that logs and on another one, and host functions that give work to the
//! stream that they run on: nothing waits for itself.

#[path = "common/mod.rs"]
mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once, mpsc};
use std::thread;

use common::mock;
use racl::plan::{Frozen, HostFunction, Plan};
use racl::{Allocator, CaptureMode, Context, ErrorKind, Prefetch, Stream, op};

/// What the logger calls.
struct Busy {
    context: Context,
    stream: Stream,
}

static BUSY: Mutex<Option<Arc<Busy>>> = Mutex::new(None);
static SAID: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

struct CallsBack;

impl log::Log for CallsBack {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        assert!(record.target().starts_with("racl"), "{}", record.target());
        if INSIDE.replace(true) {
            return;
        }
        SAID.fetch_add(1, Ordering::Relaxed);
        let busy = BUSY.lock().unwrap().clone();
        use_everything(busy.as_deref());
        // A logger that leaves the work to a thread and waits for it.
        thread::scope(|scope| {
            scope.spawn(|| {
                INSIDE.set(true);
                use_everything(busy.as_deref());
            });
        });
        INSIDE.set(false);
    }

    fn flush(&self) {}
}

/// Takes every lock that a call can take; what comes of it is not the question.
fn use_everything(busy: Option<&Busy>) {
    let acl = common::acl();
    let _ = acl.mixed_toolkits();
    let Some(Busy { context, stream }) = busy else { return };
    let _ = context.operator_cache();
    context.clear_operator_cache();
    let _ = context.take_drop_errors();
    let _ = stream.is_complete();
    let event = context.event();
    if let (Ok(mut buffer), Ok(event)) = (context.alloc::<u8>(8), event) {
        let _ = stream.fill_bytes(&mut buffer, 1);
        let _ = event.record(stream);
        let _ = event.is_complete();
    }
    if let Ok(mut tensor) = context.zeros::<f32>([2]) {
        let _ = op::fill(stream, &mut tensor, 1.0);
    }
}

/// The logger is in, and what it uses.
fn begin() -> (Arc<Busy>, watchdog::Watchdog) {
    static LOGGER: Once = Once::new();
    LOGGER.call_once(|| {
        log::set_logger(&CallsBack).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
    });
    let context = common::device().context().create_context().unwrap();
    // Each buffer is an allocation of the library then, which can fail to be freed.
    context.set_allocator(Allocator::Direct);
    let busy = Arc::new(Busy { stream: context.stream().unwrap(), context });
    *BUSY.lock().unwrap() = Some(Arc::clone(&busy));
    (busy, watchdog::Watchdog::new())
}

fn end() {
    mock::clear_failures();
    drop(BUSY.lock().unwrap().take());
}

/// That `what` says something.
#[track_caller]
fn says(what: impl FnOnce()) {
    let before = SAID.load(Ordering::Relaxed);
    what();
    assert!(SAID.load(Ordering::Relaxed) > before, "nothing was logged");
}

#[test]
fn a_logger_may_call_what_logs() {
    let _alone = mock::exclusive();
    let (busy, _watchdog) = begin();
    let Busy { context, stream } = &*busy;
    let mut tensor = context.zeros::<f32>([4]).unwrap();
    says(|| {
        // An operator that cannot be repeated.
        mock::fail("aclSetAclOpExecutorRepeatable", 1, 361_001).unwrap();
        op::fill(stream, &mut tensor, 2.0).unwrap();
    });
    says(|| {
        // One that does not take another address.
        op::fill(stream, &mut tensor, 2.0).unwrap();
        let mut other = context.zeros::<f32>([4]).unwrap();
        mock::fail("aclSetTensorAddr", 1, 161_002).unwrap();
        op::fill(stream, &mut other, 2.0).unwrap();
    });
    says(|| {
        // A stream that cannot be asked.
        mock::hold(stream).unwrap();
        let mut waits = context.alloc::<u8>(8).unwrap();
        stream.fill_bytes(&mut waits, 1).unwrap();
        mock::fail("aclrtStreamQuery", 1, 507_000).unwrap();
        drop(waits);
        mock::release(stream).unwrap();
    });
    says(|| {
        // Memory that cannot be freed.
        mock::fail("aclrtFree", 1, 507_000).unwrap();
        drop(context.alloc::<u8>(8).unwrap());
    });
    says(|| {
        let capture = stream.begin_capture(CaptureMode::Relaxed).unwrap();
        let side = capture.stream().side("1").unwrap();
        capture.stream().fork(&side).unwrap();
        drop(capture);
    });
    says(|| {
        stream.host_function(|| panic!("on purpose")).unwrap();
        assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::CallbackPanicked);
    });
    context.synchronize().unwrap();
    assert_eq!(tensor.to_vec().unwrap(), [2.0; 4]);
    end();
}

#[test]
fn a_logger_may_initialise_the_library_that_is_being_initialised_or_ended() {
    let _alone = mock::exclusive();
    let (busy, _watchdog) = begin();
    drop(busy);
    end();
    racl::set_end_on_drop(true);
    says(|| {
        let acl = common::acl();
        mock::fail("aclFinalizeReference", 1, 500_000).unwrap();
        drop(acl);
        mock::clear_failures();
        drop(common::acl());
        drop(common::acl());
    });
    racl::set_end_on_drop(false);
}

#[test]
fn a_host_function_cannot_wait_for_itself() {
    let _alone = mock::exclusive();
    let (busy, _watchdog) = begin();
    let Busy { context, stream } = &*busy;
    let (tell, told) = mpsc::channel();
    let ask = |own: Stream, tell: mpsc::Sender<Vec<ErrorKind>>| {
        let (context, event) = (own.context(), own.context().event().unwrap());
        let mut buffer = context.alloc::<u8>(8).unwrap();
        let (mut pinned, x) = (Some(context.pinned::<u8>(8).unwrap()), context.zeros::<f32>([2, 8]).unwrap());
        let mut y = context.zeros::<f32>([2, 8]).unwrap();
        let (weight, bias) = (context.zeros::<f32>([8]).unwrap(), context.zeros::<f32>([8]).unwrap());
        let plan = Plan::build(|g| g.host_function(&HostFunction::new("nothing", 1, |_| ()))).unwrap();
        let mut exe = plan.eager(&context, Frozen::new()).unwrap();
        move || {
            own.spoil_capture("work", "nobody waits for the stream here either");
            assert!(!own.is_capturing());
            let refused = own.upload(pinned.take().unwrap(), &mut buffer).unwrap_err();
            let (back, upload) = refused.into_parts();
            let refused = own.download(&buffer, back).unwrap_err();
            let (back, download) = refused.into_parts();
            pinned = Some(back);
            let run = exe.run(&own, &mut exe.bindings());
            let done = [
                Err(upload),
                Err(download),
                // With scratch memory.
                op::layer_norm(&own, &x, &op::LayerNorm { weight: &weight, bias: &bias, eps: 1e-5 }, &mut y),
                run,
                own.side("side").map(drop),
                own.condition(None).map(drop),
                own.task_group(|_| Ok(())).map(drop),
                own.fill_bytes(&mut buffer, 1),
                own.prefetch(&buffer, Prefetch::all()).map(drop),
                own.host_function(|| ()),
                own.synchronize(),
                own.wait(&event),
                event.record(&own),
                context.synchronize(),
                own.begin_capture(CaptureMode::Relaxed).map(drop),
            ];
            tell.send(done.into_iter().map(|done| done.unwrap_err().kind()).collect()).unwrap();
        }
    };
    // Behind it the queue is full, and the thread that submits waits for room.
    let (go, gone) = mpsc::channel::<()>();
    let (function, first) = (ask(stream.clone(), tell.clone()), Arc::new(Mutex::new(Some(gone))));
    let mut function = Some(function);
    stream
        .host_function(move || {
            first.lock().unwrap().take().unwrap().recv().unwrap();
            function.take().unwrap()();
        })
        .unwrap();
    let mut buffer = context.alloc::<u8>(8).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| (0..5000).for_each(|_| stream.fill_bytes(&mut buffer, 1).unwrap()));
        go.send(()).unwrap();
    });
    stream.synchronize().unwrap();
    assert_eq!(told.recv().unwrap(), [ErrorKind::NotSupported; 15]);
    // In a graph, whatever it is launched on.
    let other = context.stream().unwrap();
    let function = ask(other.clone(), tell);
    let mut graph = stream.capture(CaptureMode::Relaxed, |s| s.host_function(function)).unwrap();
    graph.launch(&other).unwrap();
    graph.wait().unwrap();
    assert_eq!(told.recv().unwrap(), [ErrorKind::NotSupported; 15]);
    end();
}
