//! Handles that threads use and free at the same time, and numbers that are nearly handles.

use std::collections::BTreeSet;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::thread;

use racl_capi::*;

const THREADS: usize = 3;
const ROUNDS: u64 = 4000;

fn ok(status: i32) {
    assert_eq!(status, RACL_OK);
}

fn context() -> *mut racl_context {
    let (mut library, mut context) = (null_mut(), null_mut());
    // SAFETY: a text, and a place; so below.
    ok(unsafe { racl_library_open(c"mock".as_ptr(), &raw mut library) });
    // SAFETY: as above.
    ok(unsafe { racl_context_primary(library, 0, &raw mut context) });
    ok(racl_library_free(library));
    context
}

fn event(context: *const racl_context) -> *mut racl_event {
    let mut event = null_mut();
    // SAFETY: a place.
    ok(unsafe { racl_event_new(context, 0, &raw mut event) });
    event
}

fn builder() -> *mut racl_builder {
    let mut builder = null_mut();
    // SAFETY: no options, and a place.
    ok(unsafe { racl_builder_new(std::ptr::null(), &raw mut builder) });
    builder
}

fn is_complete(event: *const racl_event) -> i32 {
    let mut complete = 0;
    // SAFETY: a place.
    let status = unsafe { racl_event_is_complete(event, &raw mut complete) };
    assert_eq!(complete, i32::from(status == RACL_OK), "an event that was never recorded is done");
    status
}

fn operators(builder: *const racl_builder) -> i32 {
    let mut count = 0;
    // SAFETY: a place.
    unsafe { racl_builder_operators(builder, &raw mut count) }
}

/// An input of a name of its own; the value, or why there is none.
fn input(builder: *const racl_builder, number: u64) -> Result<racl_value, i32> {
    let (name, mut value) = (std::ffi::CString::new(format!("x{number}")).unwrap(), 0);
    // SAFETY: a text, a shape and a place that outlive the call.
    let status =
        unsafe { racl_builder_input(builder, name.as_ptr(), 0, [4].as_ptr(), 1, RACL_INPUT_TRACKED, &raw mut value) };
    if status == RACL_OK { Ok(value) } else { Err(status) }
}

/// Threads use what one thread makes and frees; each object is freed once, by whoever comes first.
#[test]
fn what_is_used_is_not_freed_and_what_is_freed_is_not_used() {
    let context = context();
    let current = AtomicPtr::new(event(context));
    let (made, freed, used) = (AtomicU64::new(1), AtomicU64::new(0), AtomicU64::new(0));
    let context = AtomicPtr::new(context);
    let free = |event| match racl_event_free(event) {
        RACL_OK => drop(freed.fetch_add(1, Ordering::Relaxed)),
        status => assert!([RACL_STALE_HANDLE, RACL_BUSY].contains(&status), "{status}"),
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let event = current.load(Ordering::Relaxed);
                    match is_complete(event) {
                        RACL_OK => drop(used.fetch_add(1, Ordering::Relaxed)),
                        // One thread alone has it while it is freed.
                        status => assert!([RACL_STALE_HANDLE, RACL_BUSY].contains(&status), "{status}"),
                    }
                    if round % 16 == 0 {
                        free(event);
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                let next = event(context.load(Ordering::Relaxed));
                made.fetch_add(1, Ordering::Relaxed);
                let last = current.swap(next, Ordering::Relaxed);
                while is_left(last, &free) {}
            }
        });
    });
    free(current.into_inner());
    assert_eq!(freed.into_inner(), made.into_inner());
    assert!(used.into_inner() > 0);
    ok(racl_context_free(context.into_inner()));
}

/// Frees it unless that was done; true while others use it, which is over soon.
fn is_left(event: *mut racl_event, free: &impl Fn(*mut racl_event)) -> bool {
    free(event);
    is_complete(event) != RACL_STALE_HANDLE
}

/// What one thread at a time has: those that were too late are told so, and all others did what they were asked.
#[test]
fn one_call_at_a_time_has_a_builder() {
    let builder = AtomicPtr::new(builder());
    let values: Vec<Vec<racl_value>> = thread::scope(|scope| {
        let record = |thread: u64| {
            let mut values = Vec::new();
            for round in 0..ROUNDS / 4 {
                match input(builder.load(Ordering::Relaxed), thread * ROUNDS + round) {
                    Ok(value) => values.push(value),
                    Err(status) => assert_eq!(status, RACL_BUSY),
                }
            }
            values
        };
        let threads: Vec<_> = (0..THREADS as u64).map(|thread| scope.spawn(move || record(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let builder = builder.into_inner();
    let all: Vec<racl_value> = values.concat();
    let apart: BTreeSet<racl_value> = all.iter().copied().collect();
    assert_eq!(apart.len(), all.len(), "two calls were given one value");
    // The next number is that behind all of them.
    assert_eq!(input(builder, u64::MAX).unwrap() & 0xFFFF_FFFF, all.len() as u64);
    ok(racl_builder_free(builder));
    assert_eq!(operators(builder), RACL_STALE_HANDLE);
}

/// What a handle becomes when one bit of it is another, by the place of the bit.
fn expected(bit: u32) -> &'static [i32] {
    match bit {
        // Of the place, where nothing is.
        1..23 => &[RACL_STALE_HANDLE, RACL_FOREIGN_HANDLE],
        // Of the generation.
        23..47 => &[RACL_STALE_HANDLE],
        // Of the kind, of which there are fewer than there could be.
        47..52 => &[RACL_WRONG_KIND, RACL_FOREIGN_HANDLE],
        _ => &[RACL_FOREIGN_HANDLE],
    }
}

fn changed<T>(handle: *mut T) -> impl Iterator<Item = (u32, *mut T)> {
    (0..64).map(move |bit| (bit, std::ptr::without_provenance_mut(handle.addr() ^ 1 << bit)))
}

/// No other test of this program has buffers or host memory.
#[test]
fn a_handle_with_one_other_bit_is_none() {
    let context = context();
    let (mut buffer, mut host) = (null_mut(), null_mut());
    // SAFETY: a place; so below.
    ok(unsafe { racl_buffer_new(context, 64, &raw mut buffer) });
    // SAFETY: as above.
    ok(unsafe { racl_host_new(context, 64, &raw mut host) });
    for (bit, wrong) in changed(buffer) {
        let mut bytes = 1;
        // SAFETY: as above.
        let used = unsafe { racl_buffer_size(wrong, &raw mut bytes) };
        assert!(expected(bit).contains(&used) && bytes == 0, "bit {bit}: {used}");
        let freed = racl_buffer_free(wrong);
        assert!(expected(bit).contains(&freed), "bit {bit}: {freed}");
    }
    for (bit, wrong) in changed(host) {
        let mut bytes = 1;
        // SAFETY: as above.
        let used = unsafe { racl_host_size(wrong, &raw mut bytes) };
        assert!(expected(bit).contains(&used) && bytes == 0, "bit {bit}: {used}");
        let freed = racl_host_free(wrong);
        assert!(expected(bit).contains(&freed), "bit {bit}: {freed}");
    }
    // Nothing of that counted a use of them.
    ok(racl_buffer_free(buffer));
    ok(racl_host_free(host));
    assert_eq!((racl_buffer_free(buffer), racl_host_free(host)), (RACL_STALE_HANDLE, RACL_STALE_HANDLE));
    ok(racl_context_free(context));
}

/// A place has another object each time, and the handles of all that were there stay those of what is gone.
#[test]
fn a_place_that_is_used_again_has_another_handle() {
    let mut former = BTreeSet::new();
    for _ in 0..500 {
        let builder = builder();
        assert!(former.insert(builder), "a handle that was one before");
        ok(racl_builder_free(builder));
    }
    for gone in former {
        assert_eq!((operators(gone), racl_builder_free(gone)), (RACL_STALE_HANDLE, RACL_STALE_HANDLE));
    }
}
