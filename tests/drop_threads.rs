//! The threads that end what host functions drop: how many there are, and who waits for them.

mod common;
#[path = "common/watchdog.rs"]
mod watchdog;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use common::{device, mock};
use racl::{Context, Stream, sys};

/// Of the process, a number of /proc/self/status.
fn status(name: &str) -> usize {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// Waits without a call that joins threads.
fn poll(stream: &Stream) {
    while !stream.is_complete().unwrap() {
        std::thread::yield_now();
    }
}

/// Closes it once other threads have dropped what is in it.
fn close(mut context: Context) {
    while let Err(refused) = context.close() {
        context = refused.into_value();
        std::thread::yield_now();
    }
}

/// Has a host function of `stream` drop `what`.
fn drop_inside<T: Send + 'static>(stream: &Stream, what: T) {
    let place = Mutex::new(Some(what));
    stream.host_function(move || drop(place.lock().unwrap().take())).unwrap();
}

#[test]
fn many_drops_of_a_program_that_only_polls_leave_few_threads_and_stacks() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    mock::reset().unwrap();
    let context = device().context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let before = mock::live_handles();
    let (data, mut most) = (status("VmData"), 0);
    for nth in 0..20_000 {
        let event = context.timing_event().unwrap();
        drop_inside(&stream, (event, context.pinned::<u8>(64).unwrap()));
        if nth % 100 == 0 {
            poll(&stream);
            most = most.max(status("Threads"));
            let grown = status("VmData").saturating_sub(data);
            assert!(grown < 600 << 10, "after {nth}: {grown} KiB of data more");
        }
    }
    poll(&stream);
    assert!(most <= 150, "{most} threads");
    let left = |live: mock::LiveHandles| (live.events, live.pinned_allocations);
    while left(mock::live_handles()) != left(before) {
        std::thread::yield_now();
    }
    assert!(context.take_drop_errors().is_empty());
    drop(stream);
    close(context);
}

/// Streams whose work goes on only when they are released, by their handles.
fn hang_inside(context: &Context, stream: &Stream, count: usize) -> Vec<sys::aclrtStream> {
    let hung = || {
        let hung = context.stream().unwrap();
        mock::hold(&hung).unwrap();
        hung.host_function(|| ()).unwrap();
        let raw = hung.as_raw();
        drop_inside(stream, hung);
        raw
    };
    let all = std::iter::repeat_with(hung).take(count).collect();
    poll(stream);
    all
}

fn release(hung: &[sys::aclrtStream]) {
    for raw in hung {
        // SAFETY: the stream is kept by the thread that waits for it; the mock checks any handle.
        unsafe { sys::mock::mock_acl_release_stream(*raw) };
    }
}

#[test]
fn what_is_dropped_behind_many_that_hang_is_ended() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    mock::reset().unwrap();
    let context = device().context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let hung = hang_inside(&context, &stream, 100);
    let before = mock::live_handles().pinned_allocations;
    drop_inside(&stream, context.pinned::<u8>(64).unwrap());
    poll(&stream);
    // No call of the program makes threads go on.
    while mock::live_handles().pinned_allocations > before {
        std::thread::yield_now();
    }
    release(&hung);
    drop(stream);
    close(context);
}

#[test]
fn a_wait_for_an_idle_stream_does_not_wait_for_another_that_hangs() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    mock::reset().unwrap();
    const LIMIT: Duration = Duration::from_secs(60);
    racl::set_drop_limit(LIMIT);
    let context = device().context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let hung = hang_inside(&context, &stream, 3);
    let begun = Instant::now();
    // Once for half a second at most, and no more once those that hang were waited for.
    (0..100).for_each(|_| stream.synchronize().unwrap());
    assert!(begun.elapsed() < LIMIT / 2, "{:?}", begun.elapsed());
    // What ends soon is waited for.
    let is_waited_for = || {
        let before = mock::live_handles().pinned_allocations;
        drop_inside(&stream, context.pinned::<u8>(64).unwrap());
        stream.synchronize().unwrap();
        mock::live_handles().pinned_allocations == before
    };
    // On a machine that others use a thread may take longer than that to begin.
    assert!((0..50).any(|_| is_waited_for()));
    assert!(begun.elapsed() < LIMIT / 2, "{:?}", begun.elapsed());
    release(&hung);
    drop(stream);
    // Whoever needs what they hold waits for them still.
    context.close().unwrap();
    racl::set_drop_limit(Duration::from_secs(10));
}

#[test]
fn a_wait_for_a_context_does_not_wait_for_another_whose_work_hangs() {
    let _alone = mock::exclusive();
    let _watched = watchdog::Watchdog::new();
    mock::reset().unwrap();
    const LIMIT: Duration = Duration::from_secs(60);
    racl::set_drop_limit(LIMIT);
    let context = device().context().create_context().unwrap();
    let other = device().context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let hung = hang_inside(&other, &stream, 1);
    let begun = Instant::now();
    context.synchronize().unwrap();
    assert!(begun.elapsed() < LIMIT / 2, "{:?}", begun.elapsed());
    release(&hung);
    drop(stream);
    close(other);
    close(context);
    racl::set_drop_limit(Duration::from_secs(10));
}
