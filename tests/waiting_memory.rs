//! Memory that was dropped while work may still use it: what it costs, and that nobody misses it when memory is short.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::direct_device as device;
use racl::{Context, DeviceBuffer, Stream, mock};

/// What asks a stream or an event how far it is.
const QUERIES: [&str; 2] = ["aclrtStreamQuery", "aclrtQueryEventStatus"];

fn queries() -> u64 {
    QUERIES.iter().map(|name| mock::calls(name)).sum()
}

/// Queues `count` tasks, each on memory that is dropped at once, in turn on `streams`, which are held: a stream takes
/// some 2,000.
fn queue_with_temporaries(context: &Context, streams: &[Stream], count: usize) {
    for number in 0..count {
        let mut temporary = context.alloc::<f32>(4).unwrap();
        streams[number % streams.len()].fill_bytes(&mut temporary, 0).unwrap();
    }
}

#[test]
fn each_stream_is_asked_once_however_much_waits() {
    let _alone = mock::exclusive();
    let context = device().context().create_context().unwrap();
    for (streams, count) in [(1, 250), (1, 1900), (3, 600)] {
        let streams: Vec<_> = (0..streams).map(|_| context.stream().unwrap()).collect();
        streams.iter().for_each(|stream| mock::hold(stream).unwrap());
        let before = queries();
        queue_with_temporaries(&context, &streams, count);
        let (asked, waiting) = (queries() - before, mock::live_handles().device_allocations);
        streams.iter().for_each(|stream| mock::release(stream).unwrap());
        // An allocation and a drop for each task; a stream is asked, and the record that marks its place.
        let most = 2 * 2 * (count * streams.len()) as u64;
        assert!(asked <= most, "{asked} queries for {count} tasks on {} streams", streams.len());
        assert!(waiting >= count as u64, "{waiting} allocations wait");
        context.synchronize().unwrap();
        assert!(mock::live_handles().device_allocations < 16, "memory was kept after the work");
    }
}

#[test]
fn memory_is_freed_in_the_order_of_its_last_use_not_of_its_drop() {
    let _alone = mock::exclusive();
    let context = device().context().create_context().unwrap();
    let (first, second) = (context.stream().unwrap(), context.stream().unwrap());
    let mut buffers: Vec<DeviceBuffer<u8>> = (0..4).map(|_| context.alloc(64).unwrap()).collect();
    let live = || mock::live_handles().device_allocations;
    let before = live();
    let mut used = |stream: &Stream, index: usize| stream.fill_bytes(&mut buffers[index], 1).unwrap();
    [&first, &second].into_iter().for_each(|stream| mock::hold(stream).unwrap());
    used(&first, 0);
    used(&first, 1);
    used(&second, 2);
    // The last one waits for both, in no order.
    used(&second, 3);
    racl::untracked(|| used(&first, 3));
    let mut dropped = buffers;
    dropped.reverse();
    drop(dropped);
    assert_eq!(live(), before);
    mock::release(&first).unwrap();
    first.synchronize().unwrap();
    assert_eq!(live(), before - 2);
    mock::release(&second).unwrap();
    second.synchronize().unwrap();
    assert_eq!(live(), before - 4);
}

/// Bytes of which the device has room for one time, not for two.
fn most_of_the_memory(context: &Context) -> usize {
    context.memory_info().unwrap().1 / 3 * 2
}

/// So many that looking at all of them takes a while.
const MANY: usize = 1500;

#[test]
fn large_memory_that_waits_is_found_beside_a_thread_that_allocates() {
    let _alone = mock::exclusive();
    let context = device().context().create_context().unwrap();
    let bytes = most_of_the_memory(&context);
    let held = context.stream().unwrap();
    mock::hold(&held).unwrap();
    queue_with_temporaries(&context, std::slice::from_ref(&held), MANY);
    let done = AtomicBool::new(false);
    let results: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                context.alloc::<u8>(64).unwrap();
            }
        });
        let stream = context.stream().unwrap();
        let allocations = (0..30).map(|_| {
            let mut large = context.alloc::<u8>(bytes)?;
            stream.fill_bytes(&mut large.slice_mut(..64)?, 1)
        });
        let results = allocations.collect();
        done.store(true, Ordering::Relaxed);
        results
    });
    mock::release(&held).unwrap();
    for (number, result) in results.into_iter().enumerate() {
        result.unwrap_or_else(|error: racl::Error| panic!("allocation {number}: {error:#}"));
    }
}

#[test]
fn memory_that_never_becomes_free_is_told() {
    let _alone = mock::exclusive();
    let context = device().context().create_context().unwrap();
    let bytes = most_of_the_memory(&context);
    let held = context.stream().unwrap();
    mock::hold(&held).unwrap();
    let mut large = context.alloc::<u8>(bytes).unwrap();
    held.fill_bytes(&mut large.slice_mut(..64).unwrap(), 1).unwrap();
    drop(large);
    let refused = context.alloc::<u8>(bytes);
    mock::release(&held).unwrap();
    common::assert_says(&refused.unwrap_err(), racl::ErrorKind::OutOfMemory, &["1 streams", "not done"]);
    context.alloc::<u8>(bytes).unwrap();
}
