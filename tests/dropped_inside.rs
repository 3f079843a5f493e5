//! What host functions drop: they make no calls of the library, and nothing is lost.

mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::any::Any;
use std::sync::{Arc, Mutex};

use common::{device, mock};
use racl::{Acl, Allocator, Context, IpcEvent};

type Made = Box<dyn Any + Send>;
type Make = fn(&Acl, &Context) -> Made;

fn growable(context: &Context) -> Made {
    let mut buffer = context.reserve::<u8>(1 << 24).unwrap();
    buffer.grow(10).unwrap();
    Box::new(buffer)
}

fn timing_event(context: &Context) -> Made {
    let event = context.timing_event().unwrap();
    event.record(&context.stream().unwrap()).unwrap();
    Box::new(event)
}

fn ipc_event(context: &Context) -> IpcEvent {
    context.ipc_event().unwrap()
}

const ALL: [(&str, Make); 18] = [
    ("pinned memory", |_, context| Box::new(context.pinned::<u8>(64).unwrap())),
    ("a pinned vector", |_, context| Box::new(context.pin(vec![1_u8; 64]).unwrap())),
    ("a buffer", |_, context| Box::new(context.alloc::<u8>(64).unwrap())),
    ("managed memory", |_, context| Box::new(context.managed::<u8>(64).unwrap())),
    ("mapped memory", |_, context| Box::new(context.mapped::<u8>(64).unwrap())),
    ("a growable buffer", |_, context| growable(context)),
    ("physical memory", |_, context| Box::new(context.physical_memory(2 << 20).unwrap())),
    ("an export", |_, context| Box::new(context.alloc::<u8>(64).unwrap().into_shared().export(&[]).unwrap())),
    ("an event of several processes", |_, context| Box::new(ipc_event(context))),
    ("an opened event", |_, context| {
        let event = ipc_event(context);
        let opened = context.open_ipc_event(event.handle().unwrap()).unwrap();
        Box::new((opened, event))
    }),
    ("an event with times", |_, context| timing_event(context)),
    ("an event", |_, context| Box::new(context.event().unwrap())),
    ("a notify", |_, context| Box::new(context.notify().unwrap())),
    ("a stream", |_, context| Box::new(context.stream().unwrap())),
    ("a step", |_, context| Box::new(context.stream().unwrap().begin_step().unwrap())),
    ("a range", |acl, _| Box::new(acl.profile_range("x").unwrap())),
    ("a watch", |acl, _| Box::new(acl.watch_streams(|_, _| ()).unwrap())),
    ("a flag", |_, context| Box::new(context.flag(1).unwrap())),
];

/// The calls that its thread makes while a host function drops this.
fn calls_of_drop(context: &Context, made: Made) -> Vec<&'static str> {
    let stream = context.stream().unwrap();
    let (place, calls) = (Arc::new(Mutex::new(Some(made))), Arc::new(Mutex::new(Vec::new())));
    let inside = (Arc::clone(&place), Arc::clone(&calls), context.acl().clone());
    mock::log_calls(true);
    let function = move || {
        let (place, calls, acl) = &inside;
        let mut devices = 0;
        // SAFETY: a place for one number. The call tells which calls are of this thread.
        let code = unsafe { (acl.table().aclrtGetDeviceCount().unwrap())(&raw mut devices) };
        assert_eq!(code, 0);
        drop(place.lock().unwrap().take());
        let logged = mock::logged_calls();
        let own = logged.iter().rposition(|call| call.function == "aclrtGetDeviceCount").unwrap();
        let here = logged[own + 1..].iter().filter(|call| call.thread == logged[own].thread);
        calls.lock().unwrap().extend(here.map(|call| call.function));
    };
    stream.host_function(function).unwrap();
    stream.synchronize().unwrap();
    mock::log_calls(false);
    assert!(place.lock().unwrap().is_none(), "it was dropped");
    stream.close().unwrap();
    let calls = calls.lock().unwrap();
    calls.clone()
}

#[test]
fn what_a_host_function_drops_makes_no_call_there_and_goes_all_the_same() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    mock::reset().unwrap();
    let device = device();
    for (what, make) in ALL {
        let mut context = device.context().create_context().unwrap();
        context.set_allocator(Allocator::Direct);
        // What contexts keep for later is there before.
        drop(make(device.acl(), &context));
        let before = mock::live_handles();
        let made = make(device.acl(), &context);
        assert_eq!(calls_of_drop(&context, made), [""; 0], "{what}");
        assert!(context.take_drop_errors().is_empty(), "{what}");
        // By a thread of its own, for a moment.
        while let Err(refused) = context.close() {
            context = refused.into_value();
            assert!(context.take_drop_errors().is_empty(), "{what}");
            std::thread::yield_now();
        }
        let after = mock::live_handles();
        assert_eq!(after.contexts + 1, before.contexts, "{what}");
        let left = |live: mock::LiveHandles| (live.device_allocations, live.pinned_allocations, live.library_objects);
        assert!(left(after) <= left(before), "{what}: {after:?}, {before:?}");
        assert!(device.context().take_drop_errors().is_empty(), "{what}");
    }
}

#[test]
fn watches_that_a_thread_with_the_lock_drops_or_ends_are_unregistered() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    mock::reset().unwrap();
    let acl = common::acl();
    let device = acl.device(0).unwrap();
    const UNREGISTER: &str = "aclrtRegStreamStateCallback";
    for ends in [false, true] {
        let heard = Arc::new(Mutex::new(0));
        let inside = Arc::clone(&heard);
        let watch = acl.watch_streams(move |_, _| *inside.lock().unwrap() += 1).unwrap();
        let before = mock::calls(UNREGISTER);
        let locked = acl.lock_process().unwrap();
        if ends {
            common::assert_says(&watch.end().unwrap_err(), racl::ErrorKind::NotSupported, &["locked"]);
        } else {
            drop(watch);
        }
        assert_eq!(Arc::strong_count(&heard), 1, "what the function owns is gone");
        locked.unlock().unwrap();
        while mock::calls(UNREGISTER) == before {
            std::thread::yield_now();
        }
        drop(device.stream().unwrap());
        assert_eq!(*heard.lock().unwrap(), 0);
    }
}

#[test]
fn steps_that_a_thread_with_the_lock_drops_end_once_it_is_unlocked() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    mock::reset().unwrap();
    let acl = common::acl();
    let device = acl.device(0).unwrap();
    let stream = device.stream().unwrap();
    let before = mock::live_handles().library_objects;
    let step = stream.begin_step().unwrap();
    stream.synchronize().unwrap();
    let stamps = mock::calls("aclprofGetStepTimestamp");
    let locked = acl.lock_process().unwrap();
    drop(step);
    locked.unlock().unwrap();
    while mock::live_handles().library_objects != before {
        std::thread::yield_now();
    }
    assert_eq!(mock::calls("aclprofGetStepTimestamp"), stamps + 1, "it has its end");
    assert!(device.context().take_drop_errors().is_empty());
}
