//! C calls that fail where nobody looks: an error, and everything as it was.

use crate::common::{assert_says, mock};
use racl::plan::Mode;
use racl::{Allocator, CaptureMode, Error, ErrorKind, Result, op};

use crate::arena::{Arena, formula, result};

const NO_MEMORY: i32 = 207_001;
const NO_EVENTS: i32 = 207_007;
const NO_STREAMS: i32 = 207_008;
const INTERNAL: i32 = 507_000;

/// A program of everything, which gives up at the first error.
fn program(arena: &Arena) -> Result<()> {
    let context = &arena.context;
    let (stream, side) = (context.stream()?, context.stream()?);
    let a = context.upload_tensor(&[1.0_f32; 4], [4])?;
    let mut out = context.zeros::<f32>([4])?;
    op::add(&stream, &a, &a, &mut out)?;
    stream.fork(&side)?;
    op::add_inplace(&side, &mut out, &a)?;
    stream.join(&side)?;
    // Not one of those that wait for their next use.
    let event = context.timing_event()?;
    event.record(&stream)?;
    event.synchronize()?;
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut out, &a))?;
    graph.launch(&stream)?;
    let _ = stream.is_complete()?;
    let seen = out.to_vec()?;
    assert_eq!(seen, [4.0; 4]);
    let mut buffer = context.alloc::<f32>(4)?;
    let lent = stream.upload(context.pinned_from(&seen)?, &mut buffer)?;
    let pinned = lent.wait()?;
    assert_eq!(*pinned, [4.0; 4]);
    stream.synchronize()
}

/// Lets each of the next calls of `function` fail alone, the program run, and everything work again.
fn each_call_of(function: &str, code: i32) {
    let arena = Arena::new();
    // Each allocation and each free is a call of the library, which can fail.
    arena.context.set_allocator(Allocator::Direct);
    program(&arena).unwrap();
    for nth in 1..=20 {
        // What was kept for the next time is made anew.
        arena.context.clear_operator_cache();
        crate::common::device().context().bind().unwrap();
        let before = mock::calls(function);
        mock::fail(function, nth, code).unwrap();
        let ended = program(&arena);
        let reached = mock::calls(function) - before >= nth;
        mock::clear_failures();
        assert!(reached || ended.is_ok(), "{function} {nth}: {:?}", ended.err());
        let told = arena.context.take_drop_errors();
        assert!(
            !reached || ended.is_err() || !told.is_empty() || is_optional(function, code),
            "{function} {nth}: lost"
        );
        arena.still_works();
        if !reached {
            assert!(nth > 1, "{function} is not called");
            break;
        }
    }
    drop(arena.context.take_drop_errors());
}

/// What the crate tries another way: where streams, events and memory run out it gives idle ones back and asks once more.
fn is_optional(function: &str, code: i32) -> bool {
    [NO_EVENTS, NO_STREAMS].contains(&code) || (function, code) == ("aclrtMalloc", NO_MEMORY)
}

macro_rules! attacks {
    ($($name:ident: $function:literal, $code:expr;)*) => {$(
        #[test]
        fn $name() {
            each_call_of($function, $code);
        }
    )*};
}

attacks! {
    memory: "aclrtMalloc", NO_MEMORY;
    memory_with_another_code: "aclrtMalloc", INTERNAL;
    pinned_memory: "aclrtMallocHost", NO_MEMORY;
    free: "aclrtFree", INTERNAL;
    free_of_pinned_memory: "aclrtFreeHost", INTERNAL;
    streams: "aclrtCreateStreamWithConfig", INTERNAL;
    streams_that_run_out: "aclrtCreateStreamWithConfig", NO_STREAMS;
    ends_of_streams: "aclrtDestroyStream", INTERNAL;
    events: "aclrtCreateEventExWithFlag", INTERNAL;
    events_that_run_out: "aclrtCreateEventExWithFlag", NO_EVENTS;
    ends_of_events: "aclrtDestroyEvent", INTERNAL;
    records: "aclrtRecordEvent", INTERNAL;
    waits_of_streams: "aclrtStreamWaitEvent", INTERNAL;
    waits_for_streams: "aclrtSynchronizeStream", INTERNAL;
    waits_for_events: "aclrtSynchronizeEvent", INTERNAL;
    queries: "aclrtStreamQuery", INTERNAL;
    contexts: "aclrtSetCurrentContext", INTERNAL;
    copies: "aclrtMemcpy", INTERNAL;
    queued_copies: "aclrtMemcpyAsync", INTERNAL;
    plans_of_operators: "aclnnInplaceAddGetWorkspaceSize", 161_002;
    launches_of_operators: "aclnnInplaceAdd", 361_001;
    begins_of_captures: "aclmdlRICaptureBegin", INTERNAL;
    ends_of_captures: "aclmdlRICaptureEnd", INTERNAL;
    launches_of_graphs: "aclmdlRIExecuteAsync", INTERNAL;
    ends_of_graphs: "aclmdlRIDestroy", INTERNAL;
}

#[test]
fn every_third_call_of_a_run() {
    let names =
        ["aclrtMalloc", "aclrtMemcpyAsync", "aclmdlRICaptureEnd", "aclmdlRIExecuteAsync", "aclnnAbs", "aclnnMuls"];
    let arena = Arena::new();
    // Each allocation and each free is a call of the library, which can fail.
    arena.context.set_allocator(Allocator::Direct);
    let stream = arena.stream();
    let mut hits = 0;
    for mode in [Mode::Captured, Mode::Eager] {
        for name in names {
            let mut exe = arena.executable(mode, formula);
            for step in 0..6 {
                let x = arena.tensor(step as f32);
                mock::fail(name, 1 + step % 3, INTERNAL).unwrap();
                let mut bind = exe.bindings();
                let done = exe.run(&stream, bind.set(exe.input("x").unwrap(), &x));
                mock::clear_failures();
                match done {
                    Ok(()) => assert_eq!(result(&exe), [2.0 * step as f32 + 1.0; 4], "{name} {mode:?}"),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Internal, "{name} {mode:?}: {error}");
                        hits += 1;
                    }
                }
                assert!(!stream.is_capturing(), "{name} {mode:?}");
            }
        }
    }
    // Each of the six names in one mode at least.
    assert!(hits >= names.len(), "{hits} errors");
    drop(stream);
    drop(arena.context.take_drop_errors());
    arena.end();
}

#[test]
fn a_drop_of_everything_while_every_end_fails() {
    let arena = Arena::new();
    // Each allocation and each free is a call of the library, which can fail.
    arena.context.set_allocator(Allocator::Direct);
    let ends = ["aclrtFree", "aclrtFreeHost", "aclrtDestroyStream", "aclrtDestroyEvent", "aclmdlRIDestroy"];
    for name in ends {
        for nth in 1..=40 {
            mock::fail(name, nth, INTERNAL).unwrap();
        }
    }
    program(&arena).unwrap();
    let kinds: Vec<_> = arena.context.take_drop_errors().iter().map(Error::kind).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == ErrorKind::Internal), "{kinds:?}");
    mock::clear_failures();
    arena.end_with_leaks();
}

#[test]
fn an_event_that_a_capture_needs() {
    let arena = Arena::new();
    // Without events that wait for their next use.
    let context = arena.context.create_context().unwrap();
    let (stream, side) = (context.stream().unwrap(), context.stream().unwrap());
    let mut buffer = context.alloc_zeroed::<u8>(8).unwrap();
    for forks in [false, true] {
        let pinned = context.pinned_from(&[7_u8; 8]).unwrap();
        let captured = stream.capture(CaptureMode::Relaxed, |s| {
            (1..9).for_each(|nth| mock::fail("aclrtCreateEventExWithFlag", nth, INTERNAL).unwrap());
            if forks {
                s.fork(&side).unwrap_err();
            } else {
                s.upload(pinned, &mut buffer).map(drop).unwrap_err();
            }
            mock::clear_failures();
            Ok(())
        });
        let error = captured.map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::CaptureInvalidated, "{error:#}");
    }
    drop((stream, side, buffer, context));
    arena.end();
}

#[test]
fn a_buffer_that_is_lost_says_so_whoever_asks() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc::<f32>(4).unwrap();
    let pinned = arena.context.pinned_from(&[1.0_f32; 4]).unwrap();
    mock::fail("aclrtRecordEvent", 1, INTERNAL).unwrap();
    for function in ["aclrtSynchronizeStream", "aclrtSynchronizeStreamWithTimeout"] {
        // The second wait asks whether the rest is done.
        (1..=2).for_each(|nth| mock::fail(function, nth, INTERNAL).unwrap());
    }
    let lent = stream.upload(pinned, &mut buffer).unwrap();
    mock::clear_failures();
    let names = ["the buffer was lost", "aclrtRecordEvent"];
    assert_says(&lent.is_complete().unwrap_err(), ErrorKind::Internal, &names);
    let refused = lent.wait().unwrap_err();
    assert_says(refused.error(), ErrorKind::Internal, &names);
    drop(refused);
    drop(arena.context.take_drop_errors());
    arena.still_works();
}
