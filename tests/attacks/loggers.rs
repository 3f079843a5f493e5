//! Loggers that panic, call this crate, give it work, or drop what it made.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once};

use crate::common::mock;
use racl::{Allocator, Context, Stream, op};

use crate::arena::Arena;

const INTERNAL: i32 = 507_000;

type Does = Arc<dyn Fn() + Send + Sync>;

static DOES: Mutex<Option<Does>> = Mutex::new(None);
static SAID: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        if record.level() > log::Level::Warn || INSIDE.get() {
            return;
        }
        let Some(does) = DOES.lock().unwrap().clone() else { return };
        SAID.fetch_add(1, Ordering::AcqRel);
        INSIDE.set(true);
        let done = catch_unwind(AssertUnwindSafe(|| does()));
        INSIDE.set(false);
        if let Err(payload) = done {
            resume_unwind(payload);
        }
    }

    fn flush(&self) {}
}

/// Runs `work`, with a logger that does `does` for each warning and error of it; there is one at least.
#[track_caller]
fn with_logger(does: impl Fn() + Send + Sync + 'static, work: impl FnOnce()) {
    static LOGGER: Once = Once::new();
    LOGGER.call_once(|| {
        log::set_logger(&Logger).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
    });
    let before = SAID.load(Ordering::Acquire);
    *DOES.lock().unwrap() = Some(Arc::new(does));
    let done = catch_unwind(AssertUnwindSafe(work));
    drop(DOES.lock().unwrap().take());
    assert!(done.is_ok(), "it panicked");
    assert!(SAID.load(Ordering::Acquire) > before, "nothing was logged");
}

/// Drops whose C calls fail.
fn drops_that_fail(arena: &Arena) {
    // Each allocation and each free is a call of the library, which can fail.
    arena.context.set_allocator(Allocator::Direct);
    let stream = arena.stream();
    let mut buffer = arena.context.alloc::<u8>(8).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    stream.synchronize().unwrap();
    let event = arena.context.timing_event().unwrap();
    for name in ["aclrtFree", "aclrtDestroyStream", "aclrtDestroyEvent"] {
        mock::fail(name, 1, INTERNAL).unwrap();
    }
    drop((event, stream, buffer));
    mock::clear_failures();
}

#[test]
fn one_that_panics_in_drops() {
    let arena = Arena::new();
    with_logger(|| resume_unwind(Box::new("on purpose")), || drops_that_fail(&arena));
    arena.end_with_leaks();
}

#[test]
fn one_that_panics_in_drops_of_a_thread_that_panics() {
    let arena = Arena::new();
    with_logger(
        || resume_unwind(Box::new("on purpose")),
        || {
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let stream = arena.stream();
                mock::fail("aclrtDestroyStream", 1, INTERNAL).unwrap();
                let _stream = stream;
                resume_unwind(Box::new("first"))
            }));
            let unwound: Result<(), _> = unwound;
            assert_eq!(unwound.unwrap_err().downcast_ref::<&str>(), Some(&"first"));
        },
    );
    mock::clear_failures();
    arena.end_with_leaks();
}

#[test]
fn one_that_panics_with_what_panics_again() {
    struct Again;
    impl Drop for Again {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                resume_unwind(Box::new("again"));
            }
        }
    }
    let arena = Arena::new();
    with_logger(|| resume_unwind(Box::new(Again)), || drops_that_fail(&arena));
    arena.end_with_leaks();
}

#[test]
fn one_that_does_everything_itself() {
    fn everything(context: &Context, stream: &Stream) {
        let mut out = context.zeros::<f32>([4]).unwrap();
        op::fill(stream, &mut out, 2.0).unwrap();
        assert_eq!(out.to_vec().unwrap(), [2.0; 4]);
        let event = context.event().unwrap();
        event.record(stream).unwrap();
        event.synchronize().unwrap();
        context.clear_operator_cache();
        let _ = (context.operator_cache(), context.memory_info());
        let other = context.create_context().unwrap();
        drop(other.stream().unwrap());
        other.close().unwrap();
    }
    let arena = Arena::new();
    let (context, stream) = (arena.context.clone(), arena.stream());
    with_logger(
        move || {
            everything(&context, &stream);
            std::thread::scope(|scope| scope.spawn(|| everything(&context, &stream)).join()).unwrap();
        },
        || drops_that_fail(&arena),
    );
    arena.end_with_leaks();
}

#[test]
fn one_that_drops_what_this_crate_made() {
    let arena = Arena::new();
    let kept = Arc::new(Mutex::new(Vec::new()));
    for _ in 0..10 {
        kept.lock().unwrap().push((arena.stream(), arena.context.alloc::<u8>(8).unwrap()));
    }
    let taken = Arc::clone(&kept);
    with_logger(
        move || drop(taken.lock().unwrap().pop()),
        || {
            for _ in 0..3 {
                drops_that_fail(&arena);
            }
        },
    );
    drop(kept);
    arena.end_with_leaks();
}

/// As where the logger's memory is what is being given back.
#[test]
fn one_that_asks_for_memory_that_is_short_while_some_cannot_be_freed() {
    type Prepare = fn(&Context);
    let direct: Prepare = |context| {
        context.set_allocator(Allocator::Direct);
        context.set_memory_limit(Some(2 << 20));
    };
    let segments: Prepare = |context| context.set_memory_limit(Some(24 << 20));
    let growing: Prepare = |context| {
        context.set_allocator(Allocator::Growing);
        context.set_memory_limit(Some(24 << 20));
    };
    for (prepare, bytes, fails) in
        [(direct, 1 << 20, "aclrtFree"), (segments, 20 << 20, "aclrtFree"), (growing, 20 << 20, "aclrtUnmapMem")]
    {
        let arena = Arena::new();
        let context = arena.context.create_context().unwrap();
        prepare(&context);
        let asks = context.clone();
        with_logger(
            move || {
                let _ = asks.alloc::<u8>(4 << 20);
                let _ = asks.alloc::<u8>(64);
            },
            || {
                let buffer = context.alloc::<u8>(bytes).unwrap();
                (1..4).for_each(|nth| mock::fail(fails, nth, INTERNAL).unwrap());
                drop(buffer);
                context.trim_memory(0);
            },
        );
        mock::clear_failures();
        drop((context.take_drop_errors(), context));
        arena.end_with_leaks();
    }
}

#[test]
fn one_that_asks_for_memory_of_the_stream_that_is_dropped() {
    let arena = Arena::new();
    for name in ["aclrtSynchronizeStreamWithTimeout", "aclrtDestroyStream"] {
        let stream = arena.stream();
        let mut x = arena.tensor(1.0);
        op::fill(&stream, &mut x, 2.0).unwrap();
        let (there, asked) = (arena.stream(), Arc::new(AtomicUsize::new(0)));
        let (same, told) = (Mutex::new(x.clone()), Arc::clone(&asked));
        let does = move || {
            let mut same = same.lock().unwrap();
            let _ = (same.to_vec(), op::fill(&there, &mut *same, 3.0));
            told.fetch_add(1, Ordering::AcqRel);
        };
        with_logger(does, || {
            mock::fail(name, 1, INTERNAL).unwrap();
            drop(stream);
        });
        mock::clear_failures();
        assert!(asked.load(Ordering::Acquire) > 0);
        drop(x);
    }
    arena.end_with_leaks();
}
