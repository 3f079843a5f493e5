//! Who has a device open, and which context is current on a thread. Counts calls of the mock, so one test at a time.

mod common;

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::mock;
use racl::{Acl, CaptureMode, Context, ErrorKind, GraphNeeds, op, sys};

/// The mock as at the start of a process, with contexts that are current as they were.
fn alone(test: impl FnOnce(Acl)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    racl::set_verify_context(false);
    racl::set_end_on_drop(false);
    test(common::acl());
}

fn opened_and_reset() -> (u64, u64) {
    (mock::calls("aclrtSetDevice"), mock::calls("aclrtResetDevice"))
}

/// As other code does, beside this crate.
fn make_current(acl: &Acl, context: &Context) {
    let set = acl.table().aclrtSetCurrentContext().unwrap();
    // SAFETY: a live context.
    assert_eq!(unsafe { set(context.as_raw()) }, 0);
}

fn current(acl: &Acl) -> *mut c_void {
    let get = acl.table().aclrtGetCurrentContext().unwrap();
    let mut current = std::ptr::null_mut();
    // SAFETY: a place for one handle.
    let _ = unsafe { get(&raw mut current) };
    current
}

#[test]
fn a_device_that_is_open_is_shared_with_all_that_it_keeps() {
    alone(|acl| {
        let one = acl.device(0).unwrap();
        let stream = one.stream().unwrap();
        let mut a = one.zeros::<f32>([4]).unwrap();
        op::fill(&stream, &mut a, 1.0).unwrap();
        let two = acl.device(0).unwrap();
        assert_eq!(opened_and_reset(), (1, 0));
        assert_eq!((one.context().as_raw(), two.context().operator_cache().misses), (two.context().as_raw(), 1));
        op::fill(&two.stream().unwrap(), &mut two.zeros::<f32>([4]).unwrap(), 1.0).unwrap();
        assert_eq!(one.context().operator_cache().hits, 1, "the executor is shared");
        // Neither can be taken from the other.
        let (two, error) = two.close().unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        drop((one, stream, a));
        two.stream().unwrap().synchronize().unwrap();
        two.close().unwrap();
        assert_eq!(opened_and_reset(), (1, 1));
        acl.device(0).unwrap();
        assert_eq!(opened_and_reset(), (2, 1));
    });
}

#[test]
fn a_device_that_is_dropped_stays_open_for_the_next() {
    alone(|acl| {
        for turn in 0..5_u8 {
            let device = acl.device(0).unwrap();
            let stream = device.stream().unwrap();
            let mut buffer = device.upload(&[0_u8; 4]).unwrap();
            stream.fill_bytes(&mut buffer, turn).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), [turn; 4]);
        }
        assert_eq!(opened_and_reset(), (1, 0));
        // Nor does the library end, for which nobody asked.
        drop(acl);
        assert_eq!(mock::calls("aclFinalizeReference"), 0);
        let acl = common::acl();
        acl.device(0).unwrap().synchronize().unwrap();
        assert_eq!((mock::calls("aclInit"), opened_and_reset()), (1, (1, 0)));
        acl.close().unwrap();
        assert_eq!((mock::calls("aclFinalizeReference"), opened_and_reset()), (1, (1, 1)));
        common::device().synchronize().unwrap();
        assert_eq!((mock::calls("aclInit"), opened_and_reset()), (2, (2, 1)));
    });
}

#[test]
fn a_device_that_others_reset_meanwhile_is_opened_anew() {
    alone(|acl| {
        drop(acl.device(0).unwrap());
        let reset = acl.table().aclrtResetDeviceForce().unwrap();
        // SAFETY: takes a number.
        assert_eq!(unsafe { reset(0) }, 0);
        acl.device(0).unwrap().synchronize().unwrap();
        assert_eq!(opened_and_reset(), (2, 0));
        // SAFETY: as above.
        assert_eq!(unsafe { reset(0) }, 0);
        acl.close().unwrap();
    });
}

#[test]
fn a_reset_that_fails_is_told_and_leaves_the_library_as_it_was() {
    alone(|acl| {
        drop(acl.device(0).unwrap());
        mock::fail("aclrtResetDevice", 1, 507_000).unwrap();
        let (acl, error) = acl.close().unwrap_err().into_parts();
        assert_eq!((error.kind(), mock::calls("aclFinalizeReference")), (ErrorKind::Internal, 0));
        acl.device(0).unwrap().synchronize().unwrap();
        let device = acl.device(0).unwrap();
        mock::fail("aclrtResetDevice", 1, 507_000).unwrap();
        let (device, _) = device.close().unwrap_err().into_parts();
        assert_eq!(acl.device(0).unwrap().context().as_raw(), device.context().as_raw(), "it is there as before");
        device.close().unwrap();
    });
}

#[test]
fn threads_that_open_a_device_at_once_share_it() {
    alone(|acl| {
        for _ in 0..50 {
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let device = acl.device(0).unwrap();
                        device.stream().unwrap().synchronize().unwrap();
                    });
                }
            });
        }
        let (opened, reset) = opened_and_reset();
        assert_eq!(opened - reset, 1, "one reference is left: {opened} taken, {reset} given back");
        acl.device(0).unwrap().synchronize().unwrap();
        acl.close().unwrap();
        let (opened, reset) = opened_and_reset();
        assert_eq!(opened, reset);
    });
}

#[test]
fn the_end_of_the_library_holds_no_lock_that_others_need() {
    static RAN: AtomicBool = AtomicBool::new(false);
    /// What a library calls at its end.
    unsafe extern "C" fn at_the_end(_: *mut c_void) -> i32 {
        // SAFETY: there is no such file.
        let other = unsafe { Acl::init_from("/nonexistent/libascendcl.so") };
        RAN.store(other.is_err(), Ordering::Relaxed);
        0
    }
    alone(|acl| {
        let register = acl.table().aclFinalizeCallbackRegister().unwrap();
        let kind = sys::aclRegisterCallbackType::ACL_REG_TYPE_OTHER;
        // SAFETY: the function lives as long as the process and takes nothing.
        assert_eq!(unsafe { register(kind, Some(at_the_end), std::ptr::null_mut()) }, 0);
        acl.close().unwrap();
        assert!(RAN.load(Ordering::Relaxed));
    });
}

#[test]
fn other_code_may_change_the_context_in_its_scope() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let (one, two) = (device.context().create_context().unwrap(), device.context().create_context().unwrap());
        let (of_one, of_two) = (one.stream().unwrap(), two.stream().unwrap());
        let mut buffer = one.upload(&[0_u8; 4]).unwrap();
        of_one.synchronize().unwrap();
        let given = acl.beside(|| {
            make_current(&acl, &two);
            7
        });
        assert_eq!(given.unwrap(), 7);
        assert_eq!(current(&acl), one.as_raw());
        of_one.fill_bytes(&mut buffer, 1).unwrap();
        // Calls of this crate inside, and a panic.
        let caught = catch_unwind(AssertUnwindSafe(|| {
            acl.beside(|| {
                make_current(&acl, &two);
                of_two.synchronize().unwrap();
                panic!("on purpose");
            })
        }));
        assert!(caught.is_err());
        of_one.fill_bytes(&mut buffer, 2).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [2; 4]);
        // A thread without a context has what the other code left, and this crate finds its own.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                acl.beside(|| make_current(&acl, &two)).unwrap();
                of_one.fill_bytes(&mut buffer, 3).unwrap();
                assert_eq!(buffer.to_vec().unwrap(), [3; 4]);
            });
        });
    });
}

#[test]
fn work_inside_other_code_leaves_its_context_as_it_was() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let (own, theirs) = (device.context().create_context().unwrap(), device.context().create_context().unwrap());
        let stream = own.stream().unwrap();
        let mut buffer = own.upload(&[0_u8; 4]).unwrap();
        // What this crate believes is wrong already.
        make_current(&acl, &theirs);
        let done: racl::Result<()> = own.within(|| stream.fill_bytes(&mut buffer, 5));
        done.unwrap();
        assert_eq!(current(&acl), theirs.as_raw());
        assert_eq!(own.within(|| buffer.to_vec()).unwrap(), [5; 4]);
        assert_eq!(current(&acl), theirs.as_raw());
        let failed: racl::Result<()> =
            own.within(|| Err(stream.synchronize_timeout(std::time::Duration::ZERO).unwrap_err()));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(current(&acl), theirs.as_raw());
        let caught = catch_unwind(AssertUnwindSafe(|| own.within(|| -> racl::Result<()> { panic!("on purpose") })));
        assert!(caught.is_err());
        assert_eq!(current(&acl), theirs.as_raw());
        // Outside, the calls of this crate still find their own.
        stream.fill_bytes(&mut buffer, 6).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [6; 4]);
    });
}

#[test]
fn a_context_that_other_code_changed_is_found_where_calls_ask() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let (own, theirs) = (device.context().create_context().unwrap(), device.context().create_context().unwrap());
        let stream = own.stream().unwrap();
        let mut buffer = own.upload(&[0_u8; 4]).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        make_current(&acl, &theirs);
        // Trusted, and so the runtime refuses the stream of another context.
        assert_eq!(stream.fill_bytes(&mut buffer, 2).unwrap_err().kind(), ErrorKind::WrongContext);
        racl::set_verify_context(true);
        for value in 3..6 {
            make_current(&acl, &theirs);
            stream.fill_bytes(&mut buffer, value).unwrap();
            assert_eq!(current(&acl), own.as_raw());
            stream.synchronize().unwrap();
            assert_eq!(buffer.to_vec().unwrap(), [value; 4]);
        }
        let asked = || mock::calls("aclrtGetCurrentContext");
        let (before, set) = (asked(), mock::calls("aclrtSetCurrentContext"));
        stream.fill_bytes(&mut buffer, 6).unwrap();
        assert_eq!((asked() - before, mock::calls("aclrtSetCurrentContext") - set), (1, 0));
        racl::set_verify_context(false);
        stream.fill_bytes(&mut buffer, 7).unwrap();
        assert_eq!(asked() - before, 1);
        assert_eq!(buffer.to_vec().unwrap(), [7; 4]);
    });
}

/// Leaves `context` with idle streams of a capture; how many.
fn leave_idle(context: &Context) -> u32 {
    let origin = context.stream().unwrap();
    let before = context.streams_left().unwrap();
    let capture = origin.begin_capture(CaptureMode::Relaxed).unwrap();
    let sides: Vec<_> = (0..20).map(|number| capture.stream().side(&number.to_string()).unwrap()).collect();
    for side in &sides {
        capture.stream().fork(side).unwrap();
        capture.stream().join(side).unwrap();
    }
    drop(sides);
    drop(capture.finish().unwrap());
    before - context.streams_left().unwrap()
}

/// Lets the device have no more streams than there are.
fn use_up_streams(context: &Context) {
    let some_left = |limit: &u32| {
        mock::limit_streams(Some(*limit)).unwrap();
        context.streams_left().unwrap() > 0
    };
    let full = (1..2047).find(some_left).unwrap() - 1;
    mock::limit_streams(Some(full)).unwrap();
}

#[test]
fn idle_streams_of_other_contexts_are_given_back_before_a_stream_is_refused() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let (idle, busy) = (device.context().create_context().unwrap(), device.context().create_context().unwrap());
        let kept = leave_idle(&idle);
        assert!(kept > 0);
        use_up_streams(&busy);
        let made: Vec<_> = (0..kept).map(|_| busy.stream()).collect();
        let refused = busy.stream();
        mock::limit_streams(None).unwrap();
        made.into_iter().for_each(|stream| drop(stream.unwrap()));
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::NoStreams);
        assert!(idle.take_drop_errors().is_empty() && busy.take_drop_errors().is_empty());
        idle.close().unwrap();
        busy.close().unwrap();
    });
}

#[test]
fn idle_streams_are_not_missed_by_a_context_that_ends() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let busy = device.context().create_context().unwrap();
        for _ in 0..20 {
            let idle = device.context().create_context().unwrap();
            let before = busy.streams_left().unwrap();
            leave_idle(&idle);
            use_up_streams(&busy);
            std::thread::scope(|scope| {
                scope.spawn(|| busy.stream().map(drop));
                idle.close().unwrap();
            });
            mock::limit_streams(None).unwrap();
            // The default stream of the other context went as well.
            assert!(busy.streams_left().unwrap() >= before);
            assert!(busy.take_drop_errors().is_empty());
        }
    });
}

/// In a process of its own, since the variable is looked at when a library is initialised.
#[test]
fn the_environment_lets_calls_ask_which_context_is_current() {
    const VARIABLE: &str = "RACL_VERIFY_CONTEXT";
    const NAME: &str = "the_environment_lets_calls_ask_which_context_is_current";
    let child = std::env::var_os("RACL_TEST_CHILD").is_some();
    if child {
        let _alone = mock::exclusive();
        let acl = common::acl();
        let device = acl.device(0).unwrap();
        let (own, theirs) = (device.context().create_context().unwrap(), device.context().create_context().unwrap());
        let stream = own.stream().unwrap();
        let mut buffer = own.alloc::<u8>(4).unwrap();
        make_current(&acl, &theirs);
        let done = stream.fill_bytes(&mut buffer, 1).map_err(|error| error.kind());
        let asks = std::env::var_os(VARIABLE).is_some_and(|value| value == "1");
        assert_eq!(done, if asks { Ok(()) } else { Err(ErrorKind::WrongContext) });
        return;
    }
    for value in ["1", "0", ""] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", NAME]).env(VARIABLE, value).env("RACL_TEST_CHILD", "1");
        let done = child.output().unwrap();
        let text = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && text.contains("1 passed"), "{value:?}: {text}");
    }
}

#[test]
fn a_context_of_others_is_used_and_left_as_it_is() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let theirs = device.context().create_context().unwrap();
        let before = mock::live_handles();
        // SAFETY: a context of this library, which outlives the value.
        let context = unsafe { Context::from_raw(&acl, theirs.as_raw()) }.unwrap();
        assert_eq!((context.as_raw(), context.device_id()), (theirs.as_raw(), 0));
        assert_eq!(current(&acl), theirs.as_raw());
        let stream = context.stream().unwrap();
        let mut a = context.zeros::<f32>([4]).unwrap();
        op::fill(&stream, &mut a, 1.0).unwrap();
        // Memory of the one is memory of the device for the other.
        let mut copy = theirs.zeros::<f32>([4]).unwrap();
        op::copy(&theirs.stream().unwrap(), &a, &mut copy).unwrap();
        assert_eq!(copy.to_vec().unwrap(), [1.0; 4]);
        let context = context.close().unwrap_err().into_value();
        drop((stream, a, copy));
        theirs.synchronize().unwrap();
        context.close().unwrap();
        theirs.trim_memory(0);
        assert_eq!((mock::calls("aclrtDestroyContext"), mock::calls("aclrtResetDevice")), (0, 0));
        let after = mock::live_handles();
        assert_eq!((after.contexts, after.streams), (before.contexts, before.streams));
        theirs.stream().unwrap().synchronize().unwrap();
        // SAFETY: as above.
        drop(unsafe { Context::from_raw(&acl, theirs.as_raw()) }.unwrap());
        theirs.close().unwrap();
        assert_eq!(mock::calls("aclrtDestroyContext"), 1);
    });
}

/// Destroys a context that this crate was lent.
struct Lender(Option<Context>, Arc<AtomicBool>);

impl Drop for Lender {
    fn drop(&mut self) {
        // What this crate had in the context is gone: its end finds nothing in it.
        self.0.take().unwrap().close().unwrap();
        self.1.store(true, Ordering::SeqCst);
    }
}

fn lent(acl: &Acl) -> (Context, Arc<AtomicBool>) {
    let theirs = acl.device(0).unwrap().context().create_context().unwrap();
    let (raw, gone) = (theirs.as_raw(), Arc::new(AtomicBool::new(false)));
    // SAFETY: a context of this library, which its owner keeps.
    (unsafe { Context::from_raw_shared(acl, raw, Lender(Some(theirs), Arc::clone(&gone))) }.unwrap(), gone)
}

#[test]
fn the_owner_of_a_context_goes_behind_all_that_is_of_the_context() {
    alone(|acl| {
        let last = ["aclrtDestroyContext", "aclrtDestroyStream", "aclrtFree", "aclrtDestroyEvent"];
        for first in 0..3 {
            mock::log_calls(true);
            let (context, gone) = lent(&acl);
            let (stream, mut buffer) = (context.stream().unwrap(), context.alloc::<u8>(4).unwrap());
            stream.fill_bytes(&mut buffer, 1).unwrap();
            let mut things: [Option<Box<dyn std::any::Any>>; 3] =
                [Some(Box::new(context)), Some(Box::new(stream)), Some(Box::new(buffer))];
            things.rotate_left(first);
            for thing in &mut things {
                assert!(!gone.load(Ordering::SeqCst));
                thing.take();
            }
            assert!(gone.load(Ordering::SeqCst));
            let calls: Vec<_> = mock::logged_calls().into_iter().map(|call| call.function).collect();
            mock::log_calls(false);
            let ends: Vec<_> = calls.into_iter().filter(|call| last.contains(call)).collect();
            assert_eq!(ends.iter().filter(|call| **call == "aclrtDestroyContext").count(), 1, "{ends:?}");
            assert_eq!(ends.last(), Some(&"aclrtDestroyContext"), "{ends:?}");
            assert!(ends.contains(&"aclrtDestroyStream") && ends.contains(&"aclrtFree"), "{ends:?}");
        }
    });
}

#[test]
fn a_context_that_an_owner_keeps_is_closed_and_not_given_away() {
    alone(|acl| {
        let (context, gone) = lent(&acl);
        let clone = context.clone();
        let (context, error) = context.close().unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        drop(clone);
        let (context, error) = context.into_raw().unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::NotSupported, "{error}");
        context.stream().unwrap().synchronize().unwrap();
        assert!(!gone.load(Ordering::SeqCst));
        context.close().unwrap();
        assert!(gone.load(Ordering::SeqCst));
        assert_eq!(mock::calls("aclrtDestroyContext"), 1);
    });
}

#[test]
fn the_owner_of_a_context_goes_where_that_is_refused_and_may_panic() {
    struct Says(Arc<AtomicBool>);
    impl Drop for Says {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
            panic!("on purpose");
        }
    }
    alone(|acl| {
        let theirs = acl.device(0).unwrap().context().create_context().unwrap();
        for raw in [std::ptr::null_mut(), theirs.as_raw()] {
            let gone = Arc::new(AtomicBool::new(false));
            mock::fail("aclrtGetDevice", 1, 507_000).unwrap();
            // SAFETY: null, or a context of this library, which outlives the value.
            let refused = unsafe { Context::from_raw_shared(&acl, raw, Says(Arc::clone(&gone))) }.unwrap_err();
            assert_eq!(refused.kind() == ErrorKind::InvalidHandle, raw.is_null(), "{refused}");
            assert!(gone.load(Ordering::SeqCst));
        }
        let gone = Arc::new(AtomicBool::new(false));
        // SAFETY: as above.
        let shared = unsafe { Context::from_raw_shared(&acl, theirs.as_raw(), Says(Arc::clone(&gone))) };
        drop(shared.unwrap());
        assert!(gone.load(Ordering::SeqCst));
        theirs.stream().unwrap().synchronize().unwrap();
    });
}

#[test]
fn what_is_no_context_is_refused() {
    alone(|acl| {
        // SAFETY: null.
        let error = unsafe { Context::from_raw(&acl, std::ptr::null_mut()) }.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidHandle, "{error}");
        let device = acl.device(0).unwrap();
        let raw = device.context().create_context().unwrap().into_raw().unwrap();
        for call in ["aclrtSetCurrentContext", "aclrtGetDevice"] {
            mock::fail(call, 1, 507_000).unwrap();
            // SAFETY: a live context.
            let error = unsafe { Context::from_raw(&acl, raw) }.unwrap_err();
            assert_eq!(error.call(), Some(call), "{error}");
        }
        // SAFETY: the context is this test's, and nothing belongs to it.
        assert_eq!(unsafe { acl.table().aclrtDestroyContext().unwrap()(raw) }, 0);
        device.context().bind().unwrap();
        // SAFETY: the mock knows what is gone.
        let error = unsafe { Context::from_raw(&acl, raw) }.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WrongContext | ErrorKind::InvalidArgument), "{error}");
        device.stream().unwrap().synchronize().unwrap();
    });
}

#[test]
fn a_context_that_is_given_away_is_not_destroyed() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let context = device.context().create_context().unwrap();
        let stream = context.stream().unwrap();
        let (context, error) = context.into_raw().unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
        drop(stream);
        context.upload(&[1_u8]).unwrap();
        let memory = mock::live_handles().device_allocations;
        assert!(memory > 0);
        let raw = context.into_raw().unwrap();
        assert!(mock::live_handles().device_allocations < memory, "what it kept is given back");
        assert_eq!(mock::calls("aclrtDestroyContext"), 0);
        // SAFETY: the context is this test's, and nothing belongs to it.
        assert_eq!(unsafe { acl.table().aclrtDestroyContext().unwrap()(raw) }, 0);
        device.context().bind().unwrap();
    });
}

#[test]
fn the_room_for_graphs_is_what_can_be_captured() {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let context = common::device().context().create_context().unwrap();
    let (stream, own) = (context.stream().unwrap(), context.stream().unwrap());
    let needs = GraphNeeds::new().sides(2).streams(1);
    let record = || {
        stream.capture(CaptureMode::Relaxed, |s| {
            let (one, two) = (s.side("1")?, s.side("2")?);
            for side in [&one, &two, &own] {
                s.fork(side)?;
                s.join(side)?;
            }
            Ok(())
        })
    };
    let mut rooms = Vec::new();
    // Without idle sides at first, and with those of before.
    for more in [3, 11, 17] {
        let is_left = |limit: &u32| {
            mock::limit_streams(Some(*limit)).unwrap();
            context.streams_left().unwrap() > 0
        };
        let full = (1..4096).find(is_left).unwrap() - 1;
        mock::limit_streams(Some(full + more)).unwrap();
        rooms.push(context.graph_room(&needs).unwrap().unwrap());
        let made: Vec<_> = std::iter::from_fn(|| record().ok()).collect();
        assert_eq!(rooms.last(), Some(&made.len()), "{more}");
        mock::limit_streams(None).unwrap();
    }
    // Four streams inside of each graph, and two sides.
    assert_eq!(rooms, [0, 2, 4]);
    let has = context.events_left().unwrap() as usize;
    assert_eq!(context.graph_room(&GraphNeeds::new().events(has + 1)).unwrap(), Some(0));
    assert!(context.graph_room(&GraphNeeds::new().events(has)).unwrap() > Some(0));
    mock::fail("aclrtGetStreamAvailableNum", 1, 207_000).unwrap();
    assert_eq!(context.graph_room(&needs).unwrap(), None, "the chip does not tell");
    mock::fail("aclrtGetStreamAvailableNum", 1, 507_000).unwrap();
    assert_eq!(context.graph_room(&needs).unwrap_err().kind(), ErrorKind::Internal);
}
