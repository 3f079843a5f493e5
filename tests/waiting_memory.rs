//! Memory that was dropped while work may still use it: what it costs, and that nobody misses it when memory is short.

mod common;

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{assert_says, direct_device as device, mock};
use racl::op::DataType::F32;
use racl::plan::{Executable, Frozen, Input, Mode, Plan, RunOptions};
use racl::sys::aclrtStream;
use racl::{
    Allocator, CaptureMode, Context, Device, DeviceBuffer, Error, ErrorKind, ForeignAllocator, Result, Stream,
    ValueWait,
};

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

/// Gives memory of another context.
struct Beside {
    context: Context,
    out: Mutex<HashMap<usize, DeviceBuffer<u8>>>,
}

// SAFETY: each piece is a buffer of the same device with the bytes and the tail, kept until it is freed.
unsafe impl ForeignAllocator for Beside {
    fn alloc(&self, bytes: usize, _stream: aclrtStream) -> Result<*mut c_void> {
        let buffer = self.context.alloc::<u8>(bytes)?;
        let address = buffer.address();
        self.out.lock().unwrap().insert(address.addr(), buffer);
        Ok(address)
    }

    unsafe fn free(&self, address: *mut c_void, _bytes: usize, _stream: aclrtStream) {
        let buffer = self.out.lock().unwrap().remove(&address.addr()).expect("memory that is out");
        drop(buffer);
    }
}

type Gives = fn(&Context, usize) -> Result<DeviceBuffer<u8>>;

/// Each allocator, and how a large piece of memory is had from it.
fn allocators(device: &Device) -> Vec<(Allocator, Gives)> {
    let beside = Beside { context: device.context().create_context().unwrap(), out: Mutex::default() };
    vec![
        (Allocator::Pool, |context, bytes| context.alloc(bytes)),
        (Allocator::Growing, |context, bytes| context.alloc(bytes)),
        (Allocator::Direct, |context, bytes| context.alloc(bytes)),
        (Allocator::Foreign(Arc::new(beside)), |context, bytes| context.alloc(bytes)),
        (Allocator::Pool, |context, bytes| context.alloc_direct(bytes)),
    ]
}

#[test]
fn large_memory_that_waits_is_found_beside_a_thread_that_allocates() {
    common::needs_the_card_alone("it uses up what the card has");
    let _alone = mock::exclusive();
    let device = device();
    for (allocator, large) in allocators(&device) {
        let context = device.context().create_context().unwrap();
        context.set_allocator(allocator.clone());
        let bytes = most_of_the_memory(&context);
        let held = context.stream().unwrap();
        mock::hold(&held).unwrap();
        queue_with_temporaries(&context, std::slice::from_ref(&held), MANY);
        let done = AtomicBool::new(false);
        let results: Vec<_> = std::thread::scope(|scope| {
            let _over = common::Over::at_end(&done);
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    context.alloc::<u8>(64).unwrap();
                }
            });
            let stream = context.stream().unwrap();
            let allocations = (0..30).map(|_| {
                let mut large = large(&context, bytes)?;
                stream.fill_bytes(&mut large.slice_mut(..64)?, 1)
            });
            allocations.collect()
        });
        mock::release(&held).unwrap();
        for (number, result) in results.into_iter().enumerate() {
            result.unwrap_or_else(|error: Error| panic!("{allocator:?}, allocation {number}: {error:#}"));
        }
        drop(held);
        context.synchronize().unwrap();
        context.close().unwrap();
    }
}

#[test]
fn threads_that_are_short_of_memory_at_once_all_find_what_waits() {
    common::needs_the_card_alone("it uses up what the card has");
    let _alone = mock::exclusive();
    let device = device();
    for (allocator, large) in allocators(&device) {
        let context = device.context().create_context().unwrap();
        context.set_allocator(allocator.clone());
        // Room for three of four at a time.
        let bytes = context.memory_info().unwrap().1 / 10 * 3;
        let one = |number: u8| -> Result<Vec<u8>> {
            let stream = context.stream()?;
            for _ in 0..8 {
                let mut large = large(&context, bytes)?;
                stream.fill_bytes(&mut large.slice_mut(..64)?, number)?;
            }
            let mut last = large(&context, 64)?;
            stream.fill_bytes(&mut last, number)?;
            last.to_vec()
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3_u8).map(|number| scope.spawn(move || (number, one(number)))).collect();
            for (number, result) in threads.into_iter().map(|thread| thread.join().unwrap()) {
                let got = result.unwrap_or_else(|error| panic!("{allocator:?}, thread {number}: {error:#}"));
                assert_eq!(got, [number; 64], "{allocator:?}");
            }
        });
        context.close().unwrap();
    }
}

#[test]
fn memory_that_never_becomes_free_is_told() {
    common::needs_mock("it holds a stream until the end");
    let _alone = mock::exclusive();
    let _soon = DropLimit::soon();
    let context = device().context().create_context().unwrap();
    let bytes = most_of_the_memory(&context);
    let held = context.stream().unwrap();
    mock::hold(&held).unwrap();
    let mut large = context.alloc::<u8>(bytes).unwrap();
    held.fill_bytes(&mut large.slice_mut(..64).unwrap(), 1).unwrap();
    drop(large);
    let refused = context.alloc::<u8>(bytes);
    mock::release(&held).unwrap();
    assert_says(&refused.unwrap_err(), ErrorKind::OutOfMemory, &["1 streams", "not done"]);
    context.alloc::<u8>(bytes).unwrap();
}

/// Larger than what small segments have.
const LARGE: usize = 12 << 20;

/// A context that has no more memory than one block of [`LARGE`] bytes and a small segment, and two streams.
fn scarce() -> (Context, Stream, Stream) {
    let context = common::device().context().create_context().unwrap();
    context.set_allocator(racl::Allocator::Pool);
    drop(context.alloc::<u8>(64).unwrap());
    drop(context.alloc::<u8>(LARGE).unwrap());
    context.set_memory_limit(Some(context.memory_stats().reserved.now));
    let streams = (context.stream().unwrap(), context.stream().unwrap());
    (context, streams.0, streams.1)
}

/// Gives all the memory up while work of `stream` uses it; the address.
fn give_up(context: &Context, stream: &Stream) -> *mut c_void {
    let mut large = context.alloc::<u8>(LARGE).unwrap();
    stream.fill_bytes(&mut large, 1).unwrap();
    large.address()
}

#[test]
fn another_stream_has_what_one_gave_up_behind_its_work() {
    let _alone = mock::exclusive();
    let (context, first, second) = scarce();
    let mut seen = context.alloc_zeroed::<u8>(64).unwrap();
    mock::check_races(mock::RaceCheck::Report);
    mock::hold(&first).unwrap();
    let address = give_up(&context, &first);
    let same = first.alloc::<u8>(LARGE).unwrap();
    first.copy(&same.slice(..64).unwrap(), &mut seen).unwrap();
    drop(same);
    let mut again = second.alloc::<u8>(LARGE).unwrap();
    assert_eq!(again.address(), address);
    second.fill_bytes(&mut again, 2).unwrap();
    mock::run_until_idle();
    assert!(!second.is_complete().unwrap(), "the first stream may still use it");
    mock::release(&first).unwrap();
    mock::run_until_idle(); // orders nothing
    let races = mock::races();
    mock::check_races(mock::RaceCheck::Off);
    assert!(races.is_empty(), "{races:?}");
    assert_eq!((seen.to_vec().unwrap(), again.to_vec().unwrap()), (vec![1; 64], vec![2; LARGE]));
}

#[test]
fn memory_that_was_had_elsewhere_is_as_all_memory_of_the_stream() {
    let _alone = mock::exclusive();
    let (context, first, second) = scarce();
    mock::hold(&first).unwrap();
    give_up(&context, &first);
    let waits = mock::calls("aclrtStreamWaitEvent");
    for value in 0..3 {
        second.fill_bytes(&mut second.alloc::<u8>(LARGE).unwrap(), value).unwrap();
    }
    assert_eq!(mock::calls("aclrtStreamWaitEvent"), waits + 1, "one wait for all later work");
    // And back again, behind the second one, which is behind the first.
    first.fill_bytes(&mut first.alloc::<u8>(LARGE).unwrap(), 3).unwrap();
    assert_eq!(mock::calls("aclrtStreamWaitEvent"), waits + 2);
    mock::release(&first).unwrap();
    assert!(context.alloc::<u8>(LARGE).unwrap().to_vec().unwrap().iter().all(|byte| *byte == 3));
}

#[test]
fn what_a_stream_gave_up_before_it_records_is_had_elsewhere() {
    let _alone = mock::exclusive();
    let (context, first, second) = scarce();
    mock::hold(&first).unwrap();
    give_up(&context, &first);
    let capture = first.begin_capture(CaptureMode::Relaxed).unwrap();
    let again = second.alloc::<u8>(LARGE);
    drop(capture.finish().unwrap());
    mock::release(&first).unwrap();
    drop(again.unwrap());
}

/// Nobody can wait for it, so the error comes at once, and the capture is none the worse.
#[test]
fn what_a_stream_gave_up_before_it_records_is_not_waited_for() {
    let _alone = mock::exclusive();
    let (context, first, _second) = scarce();
    mock::hold(&first).unwrap();
    give_up(&context, &first);
    let capture = first.begin_capture(CaptureMode::Relaxed).unwrap();
    let tries = mock::calls("aclrtMalloc");
    assert_eq!(context.alloc::<u8>(LARGE).unwrap_err().kind(), ErrorKind::OutOfMemory);
    assert!(mock::calls("aclrtMalloc") - tries < 10);
    drop(capture.finish().unwrap());
    mock::release(&first).unwrap();
    drop(context.alloc::<u8>(LARGE).unwrap());
    assert!(context.take_drop_errors().is_empty());
}

/// With a run on `stream` that waits for a signal.
fn at_a_gate(context: &Context, stream: &Stream) -> Executable {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Static)?;
        let gate = g.external("gate")?;
        g.wait_external(gate)?;
        let y = g.adds(x, 1.0)?;
        g.output("y", y)
    });
    let options = RunOptions::new().mode(Mode::Eager);
    let mut exe = plan.unwrap().executable(context, &options, Frozen::new()).unwrap();
    let mut bind = exe.bindings();
    exe.run(stream, &mut bind).unwrap();
    exe
}

/// Sets the limit of drops, which allocations share, back.
struct DropLimit;

impl DropLimit {
    fn soon() -> Self {
        racl::set_drop_limit(Duration::from_millis(10));
        Self
    }
}

impl Drop for DropLimit {
    fn drop(&mut self) {
        racl::set_drop_limit(Duration::from_secs(10));
    }
}

#[test]
fn no_stream_waits_on_the_device_for_memory_where_nobody_may_wait() {
    let _alone = mock::exclusive();
    let _soon = DropLimit::soon();
    let refused = |context: &Context, stream: &Stream, why: &str| {
        let waits = mock::calls("aclrtStreamWaitEvent");
        let error = stream.alloc::<u8>(LARGE).expect_err(why);
        assert_says(&error, ErrorKind::OutOfMemory, &["1 streams", "not done"]);
        assert_eq!(mock::calls("aclrtStreamWaitEvent"), waits, "{why}");
        assert!(context.memory_stats().waiting() >= LARGE, "{why}");
    };
    let (context, first, second) = scarce();
    mock::hold(&first).unwrap();
    give_up(&context, &first);
    context.set_tracking(false);
    refused(&context, &second, "the program orders by itself");
    context.set_tracking(true);
    racl::untracked(|| refused(&context, &second, "the thread orders by itself"));
    drop(second.alloc::<u8>(LARGE).unwrap());
    mock::release(&first).unwrap();

    let (context, first, second) = scarce();
    let exe = at_a_gate(&context, &first);
    give_up(&context, &first);
    refused(&context, &second, "the signal may come from the second stream");
    drop(exe);
    drop(second.alloc::<u8>(LARGE).unwrap());
    context.take_drop_errors();
}

#[test]
fn direct_memory_waits_for_memory_that_work_holds() {
    let _alone = mock::exclusive();
    let context = device().context().create_context().unwrap();
    let stream = context.stream().unwrap();
    let mut held = context.alloc_direct::<u8>(1 << 20).unwrap();
    context.set_memory_limit(Some(1 << 20));
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut held, 1).unwrap();
    drop(held);
    let waits = || mock::calls("aclrtSynchronizeStreamWithTimeout");
    let before = waits();
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| context.alloc_direct::<u8>(1 << 20).map(drop));
        while waits() == before && !asks.is_finished() {
            std::thread::yield_now();
        }
        mock::release(&stream).unwrap();
        asks.join().unwrap().unwrap();
    });
    // Work that does not end is waited for as long as in a drop.
    let mut held = context.alloc_direct::<u8>(1 << 20).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut held, 1).unwrap();
    drop(held);
    racl::set_drop_limit(Duration::from_millis(20));
    let error = context.alloc_direct::<u8>(1 << 20).unwrap_err();
    racl::set_drop_limit(Duration::from_secs(10));
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
    assert!(format!("{error:#}").contains("work of 1 streams"), "{error:#}");
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
}

/// Makes a stream wait, and gives what lets another one bring that.
type Waits = fn(&Context, &Stream) -> Box<dyn Fn(&Stream)>;

/// Of values, and of notifies; also of a third stream that the first one waits for.
#[test]
fn no_stream_waits_on_the_device_for_work_that_waits_for_a_value_or_a_notify() {
    common::needs_mock("it counts calls");
    let _alone = mock::exclusive();
    let _soon = DropLimit::soon();
    let waits: [Waits; 3] = [
        |context, stream| {
            let flag = context.flag(0).unwrap();
            stream.wait_value(&flag, ValueWait::Equal(1)).unwrap();
            Box::new(move |stream| stream.write_value(&flag, 1).unwrap())
        },
        |context, stream| {
            let notify = context.notify().unwrap();
            stream.wait_notify(&notify, None).unwrap();
            Box::new(move |stream| notify.record(stream).unwrap())
        },
        // Of a graph.
        |context, stream| {
            let flag = context.flag(0).unwrap();
            let mut graph =
                stream.capture(CaptureMode::Relaxed, |s| s.wait_value(&flag, ValueWait::Equal(1))).unwrap();
            graph.launch(stream).unwrap();
            let graph = std::cell::RefCell::new(graph);
            Box::new(move |stream| {
                let _kept = graph.borrow();
                stream.write_value(&flag, 1).unwrap();
            })
        },
    ];
    for wait in waits {
        for is_third in [false, true] {
            let (context, first, second) = scarce();
            let bring = if is_third {
                let third = context.stream().unwrap();
                let bring = wait(&context, &third);
                third.fork(&first).unwrap();
                bring
            } else {
                wait(&context, &first)
            };
            give_up(&context, &first);
            // A later wait is not the one that counts.
            let later = context.flag(0).unwrap();
            first.wait_value(&later, ValueWait::Equal(1)).unwrap();
            let error = second.alloc::<u8>(LARGE).unwrap_err();
            assert_says(&error, ErrorKind::OutOfMemory, &["1 streams", "not done"]);
            bring(&second);
            second.write_value(&later, 1).unwrap();
            second.synchronize().unwrap();
            drop(second.alloc::<u8>(LARGE).unwrap());
            context.synchronize().unwrap();
        }
    }
}

#[test]
fn memory_is_had_when_it_is_free_though_its_stream_goes_on() {
    let _alone = mock::exclusive();
    let (context, first, second) = scarce();
    let flags = [context.flag(0).unwrap(), context.flag(0).unwrap()];
    first.wait_value(&flags[0], ValueWait::Equal(1)).unwrap();
    give_up(&context, &first);
    context.trim_memory(0); // looks how far the stream is
    first.wait_value(&flags[1], ValueWait::Equal(1)).unwrap();
    first.fill_bytes(&mut context.alloc::<u8>(64).unwrap(), 1).unwrap();
    let waits = || mock::calls("aclrtSynchronizeStreamWithTimeout");
    let before = waits();
    std::thread::scope(|scope| {
        let asks = scope.spawn(|| context.alloc::<u8>(LARGE).map(drop));
        while waits() == before && !asks.is_finished() {
            std::thread::yield_now();
        }
        second.write_value(&flags[0], 1).unwrap();
        let had = asks.join().unwrap();
        second.write_value(&flags[1], 1).unwrap();
        had.unwrap();
    });
    first.synchronize().unwrap();
}

/// What others are given is in no order with work at a gate.
#[test]
fn memory_for_all_is_not_that_of_work_at_a_gate() {
    let _alone = mock::exclusive();
    let context = common::device().context().create_context().unwrap();
    context.set_allocator(Allocator::Pool);
    let stream = context.stream().unwrap();
    let again = |is_same: bool, why: &str| {
        let mut temporary = stream.alloc::<u8>(LARGE).unwrap();
        stream.fill_bytes(&mut temporary, 1).unwrap();
        let address = temporary.address();
        drop(temporary);
        assert_eq!(stream.alloc::<u8>(LARGE).unwrap().address() == address, is_same, "{why}");
    };
    mock::hold(&stream).unwrap();
    again(true, "behind its own work");
    racl::untracked(|| again(false, "the thread orders by itself"));
    context.set_tracking(false);
    again(false, "the program orders by itself");
    context.set_tracking(true);
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    let exe = at_a_gate(&context, &stream);
    again(false, "it waits for a signal");
    drop(exe);
    stream.synchronize().unwrap();
    context.take_drop_errors();
}

#[test]
fn another_allocator_has_no_part_of_a_segment() {
    let _alone = mock::exclusive();
    let _soon = DropLimit::soon();
    let (context, first, second) = scarce();
    mock::hold(&first).unwrap();
    give_up(&context, &first);
    context.set_allocator(Allocator::Direct);
    let retries = context.memory_stats().retries;
    assert_eq!(second.alloc::<u8>(LARGE).unwrap_err().kind(), ErrorKind::OutOfMemory);
    assert_eq!(context.memory_stats().retries, retries + 1);
    assert_eq!(context.alloc_direct::<u8>(LARGE).unwrap_err().kind(), ErrorKind::OutOfMemory);
    assert_eq!(context.memory_stats().retries, retries + 2);
    mock::release(&first).unwrap();
    drop(second.alloc::<u8>(LARGE).unwrap());
}
