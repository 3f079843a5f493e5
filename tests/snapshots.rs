//! Processes that are saved and restored. The lock is one of the process, so one test at a time.

mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use common::{assert_says, mock};
use racl::plan::Cores;
use racl::profiling::{DumpOptions, ProfileOptions};
use racl::{Acl, Allocator, CaptureMode, Device, ErrorKind, Refused, SnapshotStage};

fn alone(test: impl FnOnce(&Acl, &Device)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = common::device();
    test(device.acl(), &device);
    mock::clear_failures();
}

/// Of calls that a thread makes which has the process locked.
const SAYS: &str = "this thread has the process locked";

type Heard = Arc<Mutex<Vec<(i32, SnapshotStage)>>>;

/// A watch, and what it has heard.
fn listen(acl: &Acl) -> (racl::SnapshotWatch, Heard) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let inside = Arc::clone(&heard);
    let watch = acl.watch_snapshots(move |device, stage| {
        inside.lock().unwrap().push((device, stage));
        true
    });
    (watch.unwrap(), heard)
}

#[test]
fn a_process_is_locked_saved_restored_and_unlocked() {
    use SnapshotStage::{AfterBackup, AfterRestore, AfterUnlock, BeforeBackup, BeforeLock, BeforeRestore};
    alone(|acl, device| {
        let buffer = device.upload(&[1_u8, 2, 3]).unwrap();
        let (watch, heard) = listen(acl);
        let saved = acl.lock_process().unwrap().back_up().unwrap();
        saved.restore().unwrap().unlock().unwrap();
        let want = [BeforeLock, BeforeBackup, AfterBackup, BeforeRestore, AfterRestore, AfterUnlock];
        assert_eq!(*heard.lock().unwrap(), want.map(|stage| (device.id(), stage)));
        heard.lock().unwrap().clear();
        acl.lock_process().unwrap().back_up().unwrap().unlock().unwrap();
        let want = [BeforeLock, BeforeBackup, AfterBackup, AfterUnlock];
        assert_eq!(*heard.lock().unwrap(), want.map(|stage| (device.id(), stage)));
        drop(watch);
        drop(acl.lock_process().unwrap());
        assert_eq!((heard.lock().unwrap().len(), Arc::strong_count(&heard)), (4, 1));
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3]);
    });
}

#[test]
fn calls_of_the_thread_that_has_the_lock_are_refused_and_nothing_is_lost() {
    alone(|acl, device| {
        let before = mock::live_handles();
        let context = device.context().create_context().unwrap();
        let (stream, mut buffer) = (context.stream().unwrap(), context.alloc_zeroed::<u8>(4).unwrap());
        let event = context.event().unwrap();
        let other = context.stream().unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        let locked = acl.lock_process().unwrap();
        for refused in [
            stream.synchronize(),
            stream.fill_bytes(&mut buffer, 2),
            stream.is_complete().map(drop),
            event.record(&stream),
            event.synchronize(),
            context.synchronize(),
            context.memory_info().map(drop),
            context.stream().map(drop),
            context.bind(),
            acl.device_count().map(drop),
            acl.lock_process().map(drop),
            acl.beside(|| ()).and_then(|()| stream.synchronize()),
        ] {
            assert_says(&refused.unwrap_err(), ErrorKind::NotSupported, &[SAYS]);
        }
        drop(other);
        std::thread::scope(|scope| {
            let saved = scope.spawn(|| acl.lock_process().map(drop).unwrap_err()).join().unwrap();
            assert_eq!(saved.code(), Some(507_906), "the library's word");
        });
        locked.unlock().unwrap();
        stream.synchronize().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [1; 4]);
        drop((buffer, event));
        stream.close().unwrap();
        assert!(context.take_drop_errors().is_empty());
        // What was dropped meanwhile goes by a thread of its own.
        let mut context = context;
        let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while let Err(refused) = context.close() {
            assert!(std::time::Instant::now() < end, "{refused:#?}");
            context = refused.into_value();
            std::thread::yield_now();
        }
        assert_eq!(mock::live_handles(), before);
    });
}

#[test]
fn what_the_thread_that_has_the_lock_drops_is_not_lost() {
    alone(|acl, device| {
        let before = mock::live_handles();
        let context = device.context().create_context().unwrap();
        let dropped = (
            context.pinned_from(&[1_u8; 64]).unwrap(),
            context.pin(vec![2_u32; 1024]).map_err(Refused::into_error).unwrap(),
            context.alloc_direct::<u8>(64).unwrap(),
            context.physical_memory(2 << 20).unwrap(),
            context.timing_event().unwrap(),
            context.managed::<u8>(64).unwrap(),
        );
        let locked = acl.lock_process().unwrap();
        drop(dropped);
        locked.unlock().unwrap();
        context.synchronize().unwrap();
        let mut context = context;
        let _watched = watchdog::Watchdog::new();
        while let Err(refused) = context.close() {
            context = refused.into_value();
            assert!(context.take_drop_errors().is_empty());
            std::thread::yield_now();
        }
        assert_eq!(mock::live_handles(), before);
    });
}

#[test]
fn settings_that_the_thread_that_has_the_lock_drops_end_all_the_same() {
    alone(|acl, device| {
        let _watched = watchdog::Watchdog::new();
        let folder = tempfile::tempdir().unwrap();
        let whole = device.core_limit().unwrap();
        let limit = device.limit_cores(Cores { cube: 2, vector: 2 }).unwrap();
        let dump = acl.dump(&DumpOptions::new(folder.path())).unwrap();
        let profile = acl.profile(&ProfileOptions::new(folder.path())).unwrap();
        let range = acl.profile_range("a range").unwrap();
        assert!(range.is_recorded());
        let locked = acl.lock_process().unwrap();
        drop((range, limit, dump, profile));
        for refused in [acl.profile_mark("a mark").map(drop), acl.profile_range("another").map(drop)] {
            assert_says(&refused.unwrap_err(), ErrorKind::NotSupported, &[SAYS]);
        }
        locked.unlock().unwrap();
        assert_eq!(device.core_limit().unwrap(), whole);
        device.limit_cores(Cores { cube: 3, vector: 3 }).unwrap().end().unwrap();
        acl.dump(&DumpOptions::new(folder.path())).unwrap().stop().unwrap();
        acl.profile(&ProfileOptions::new(folder.path())).unwrap().stop().unwrap();
        assert!(device.context().take_drop_errors().is_empty());
    });
}

/// Each of them once by its drop, and once by the call that ends it, which is refused.
#[test]
fn what_only_the_thread_that_has_the_lock_can_end_ends_with_the_lock() {
    alone(|acl, device| {
        let _watched = watchdog::Watchdog::new();
        let stream = device.stream().unwrap();
        let whole = device.context().thread_cores().unwrap();
        for asks in [false, true] {
            let mut buffer = device.alloc::<u8>(4).unwrap();
            let limit = stream.limit_cores(Cores { cube: 2, vector: 2 }).unwrap();
            let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
            stream.fill_bytes(&mut buffer, 1).unwrap();
            let locked = acl.lock_process().unwrap();
            if asks {
                assert_says(&limit.end().unwrap_err(), ErrorKind::NotSupported, &[SAYS]);
                assert_says(&capture.finish().unwrap_err(), ErrorKind::NotSupported, &[SAYS]);
            } else {
                drop((limit, capture));
            }
            assert!(stream.is_capturing(), "the library records still");
            locked.unlock().unwrap();
            assert!(!stream.is_capturing());
            assert_eq!(device.context().thread_cores().unwrap(), whole);
            stream.limit_cores(Cores { cube: 1, vector: 1 }).unwrap().end().unwrap();
            let again = |s: &racl::Stream| s.fill_bytes(&mut buffer, 2);
            stream.capture(CaptureMode::ThreadLocal, again).unwrap().launch(&stream).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), [2; 4]);
        }
        assert!(device.context().take_drop_errors().is_empty());
    });
}

#[test]
fn what_is_asked_to_end_under_the_lock_ends_after_it() {
    alone(|acl, device| {
        let _watched = watchdog::Watchdog::new();
        let folder = tempfile::tempdir().unwrap();
        let whole = device.core_limit().unwrap();
        let limit = device.limit_cores(Cores { cube: 2, vector: 2 }).unwrap();
        let dump = acl.dump(&DumpOptions::new(folder.path())).unwrap();
        let profile = acl.profile(&ProfileOptions::new(folder.path())).unwrap();
        let range = acl.profile_range("a range").unwrap();
        let locked = acl.lock_process().unwrap();
        let stopped = (dump.stop().map_err(Refused::into_error), profile.stop().map_err(Refused::into_error));
        for refused in [range.end().map(drop), limit.end(), stopped.0, stopped.1] {
            assert_says(&refused.unwrap_err(), ErrorKind::NotSupported, &[SAYS]);
        }
        locked.unlock().unwrap();
        assert_eq!(device.core_limit().unwrap(), whole);
        acl.dump(&DumpOptions::new(folder.path())).unwrap().stop().unwrap();
        acl.profile(&ProfileOptions::new(folder.path())).unwrap().stop().unwrap();
    });
}

#[test]
fn memory_dropped_under_the_lock_is_there_for_other_contexts() {
    common::needs_the_card_alone("it uses up what the card has");
    alone(|acl, device| {
        let contexts = [(); 2].map(|()| device.context().create_context().unwrap());
        contexts.iter().for_each(|context| context.set_allocator(Allocator::Direct));
        // Of which there is room for one.
        let most = contexts[0].memory_info().unwrap().1 / 3 * 2;
        let dropped = contexts[0].alloc::<u8>(most).unwrap();
        let locked = acl.lock_process().unwrap();
        drop(dropped);
        locked.unlock().unwrap();
        contexts[1].alloc::<u8>(most).unwrap();
        assert!(contexts.iter().all(|context| context.take_drop_errors().is_empty()));
    });
}

#[test]
fn memory_that_does_not_count_for_its_context_is_there_for_others_as_well() {
    common::needs_the_card_alone("it uses up what the card has");
    const PART: usize = 8 << 20;
    alone(|acl, device| {
        let contexts = [(); 2].map(|()| device.context().create_context().unwrap());
        contexts.iter().for_each(|context| context.set_allocator(Allocator::Direct));
        // Room for one part is left.
        let free = contexts[1].memory_info().unwrap().0;
        let _rest = contexts[1].alloc::<u8>(free - PART - PART / 2).unwrap();
        let memory = contexts[0].physical_memory(PART).unwrap();
        let mut growable = contexts[0].reserve::<u8>(PART).unwrap();
        growable.map(&memory).unwrap();
        drop(memory);
        assert_eq!(contexts[1].alloc::<u8>(PART).unwrap_err().kind(), ErrorKind::OutOfMemory);
        let locked = acl.lock_process().unwrap();
        drop(growable);
        locked.unlock().unwrap();
        contexts[1].alloc::<u8>(PART).unwrap();
        assert!(contexts.iter().all(|context| context.take_drop_errors().is_empty()));
    });
}

/// The thread that submits has the stream, and waits for room in its queue as it would wait for the unlock.
#[test]
fn a_call_that_is_refused_waits_for_no_thread_that_has_the_stream() {
    alone(|acl, device| {
        let _watched = watchdog::Watchdog::new();
        let stream = device.stream().unwrap();
        let (mut theirs, mut own) = (device.alloc::<u8>(4).unwrap(), device.alloc::<u8>(4).unwrap());
        mock::hold(&stream).unwrap();
        let (before, returned) = (mock::calls("aclrtMemsetAsync"), AtomicU64::new(0));
        std::thread::scope(|scope| {
            let submits = scope.spawn(|| {
                for _ in 0..3000 {
                    stream.fill_bytes(&mut theirs, 1).unwrap();
                    returned.fetch_add(1, Ordering::Relaxed);
                }
            });
            // It is inside one call for long.
            let (mut last, mut same) = (0, 0);
            while same < 1000 {
                let now = returned.load(Ordering::Relaxed);
                let inside = now > 1000 && mock::calls("aclrtMemsetAsync") - before == now + 1;
                same = if inside && now == last { same + 1 } else { 0 };
                last = now;
                std::thread::yield_now();
            }
            let locked = acl.lock_process().unwrap();
            let error = stream.fill_bytes(&mut own, 2).unwrap_err();
            locked.unlock().unwrap();
            assert_says(&error, ErrorKind::NotSupported, &["this thread has the process locked"]);
            assert!(!submits.is_finished());
            mock::release(&stream).unwrap();
        });
        stream.synchronize().unwrap();
    });
}

#[test]
fn what_a_function_throws_may_throw_again_when_it_is_dropped() {
    common::needs_the_card_alone("it aborts a device");
    struct Twice;
    impl Drop for Twice {
        fn drop(&mut self) {
            panic!("on purpose, again");
        }
    }
    alone(|acl, _| {
        let watch = acl.watch_snapshots(|_, _| std::panic::panic_any(Twice)).unwrap();
        let error = acl.lock_process().map(drop).unwrap_err();
        assert_eq!(error.code(), Some(507_912));
        drop(watch);
        let watch = acl.watch_aborts(|_, _, _| std::panic::panic_any(Twice)).unwrap();
        let limit = std::time::Duration::from_secs(1);
        let aborted = acl.device(0).unwrap().context().abort_device(limit);
        assert_eq!(aborted.unwrap_err().code(), Some(107_035));
        drop(watch);
    });
}

#[test]
fn a_function_that_refuses_or_panics_stops_its_step() {
    alone(|acl, _| {
        let refuse = |which: SnapshotStage, panics: bool| {
            let function = move |_, stage| {
                assert!(!(panics && stage == which), "on purpose");
                stage != which
            };
            acl.watch_snapshots(function).unwrap()
        };
        for panics in [false, true] {
            let watch = refuse(SnapshotStage::BeforeLock, panics);
            assert_eq!(acl.lock_process().unwrap_err().code(), Some(507_912));
            drop(watch);
            for stage in [SnapshotStage::BeforeBackup, SnapshotStage::AfterBackup] {
                let watch = refuse(stage, panics);
                let refused = acl.lock_process().unwrap().back_up().unwrap_err();
                assert_says(refused.error(), ErrorKind::Internal, &["aclrtSnapShotProcessBackup"]);
                drop(watch);
                refused.into_value().back_up().unwrap().unlock().unwrap();
            }
            for stage in [SnapshotStage::BeforeRestore, SnapshotStage::AfterRestore] {
                let watch = refuse(stage, panics);
                let refused = acl.lock_process().unwrap().back_up().unwrap().restore().unwrap_err();
                drop(watch);
                refused.into_value().restore().unwrap().unlock().unwrap();
            }
            let watch = refuse(SnapshotStage::AfterUnlock, panics);
            let locked = acl.lock_process().unwrap().unlock().unwrap_err().into_value();
            assert!(!locked.is_locked());
            let again = locked.unlock().map_err(Refused::into_error).unwrap_err();
            assert_says(&again, ErrorKind::InvalidArgument, &["unlocked already"]);
            drop(watch);
            acl.device(0).unwrap().stream().unwrap().synchronize().unwrap();
        }
    });
}

#[test]
fn functions_call_the_library_where_it_runs() {
    alone(|acl, device| {
        let stream = device.stream().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (inside, own) = (Arc::clone(&heard), stream.clone());
        let watch = acl
            .watch_snapshots(move |_, stage| {
                inside.lock().unwrap().push((stage, own.synchronize().is_ok()));
                true
            })
            .unwrap();
        acl.lock_process().unwrap().back_up().unwrap().unlock().unwrap();
        let want = [
            (SnapshotStage::BeforeLock, true),
            (SnapshotStage::BeforeBackup, false),
            (SnapshotStage::AfterBackup, false),
            (SnapshotStage::AfterUnlock, true),
        ];
        assert_eq!(*heard.lock().unwrap(), want);
        drop(watch);
        stream.synchronize().unwrap();
    });
}

#[test]
fn a_host_function_locks_nothing() {
    alone(|acl, device| {
        let stream = device.stream().unwrap();
        let (acl, kind) = (acl.clone(), Arc::new(Mutex::new(None)));
        let inside = Arc::clone(&kind);
        stream
            .host_function(move || *inside.lock().unwrap() = acl.lock_process().err().map(|error| error.kind()))
            .unwrap();
        stream.synchronize().unwrap();
        assert_eq!(*kind.lock().unwrap(), Some(ErrorKind::NotSupported));
    });
}

#[test]
fn a_step_that_fails_leaves_the_lock_and_a_watch_that_fails_leaves_nothing() {
    alone(|acl, device| {
        for (call, step) in [("aclrtSnapShotProcessBackup", 0), ("aclrtSnapShotProcessUnlock", 1)] {
            let locked = acl.lock_process().unwrap();
            mock::fail(call, 1, 507_000).unwrap();
            let locked = match step {
                0 => locked.back_up().unwrap_err().into_value(),
                _ => locked.unlock().unwrap_err().into_value(),
            };
            assert!(locked.is_locked());
            assert_eq!(device.stream().unwrap_err().kind(), ErrorKind::NotSupported);
            locked.unlock().unwrap();
        }
        mock::fail("aclrtSnapShotProcessRestore", 1, 507_000).unwrap();
        let saved = acl.lock_process().unwrap().back_up().unwrap().restore().unwrap_err().into_value();
        saved.unlock().unwrap();
        mock::fail("aclrtSnapShotProcessLock", 1, 507_000).unwrap();
        assert_eq!(acl.lock_process().unwrap_err().code(), Some(507_000));
        device.stream().unwrap().synchronize().unwrap();
    });
    alone(|acl, _| {
        for nth in 1..=6 {
            let owned = Arc::new(());
            let inside = Arc::clone(&owned);
            mock::fail("aclrtSnapShotCallbackRegister", nth, 507_913).unwrap();
            let error = acl.watch_snapshots(move |_, _| Arc::strong_count(&inside) > 0).unwrap_err();
            assert_eq!((error.code(), Arc::strong_count(&owned)), (Some(507_913), 1));
        }
        let (_watch, heard) = listen(acl);
        acl.lock_process().unwrap().unlock().unwrap();
        assert_eq!(heard.lock().unwrap().len(), 2);
    });
    alone(|acl, _| {
        // What cannot be undone either is told in the log alone.
        mock::fail("aclrtSnapShotCallbackRegister", 3, 507_913).unwrap();
        mock::fail("aclrtSnapShotCallbackUnregister", 1, 507_000).unwrap();
        assert_eq!(acl.watch_snapshots(|_, _| true).unwrap_err().code(), Some(507_913));
        assert_eq!(mock::calls("aclrtSnapShotCallbackUnregister"), 2, "the other stage is undone still");
    });
}
