//! The memory of a context: what is kept, who may have it when, and what becomes of it when memory is short.

#[path = "../common/mod.rs"]
mod common;
mod foreign;

use std::ffi::c_void;
use std::process::Command;

use common::{assert_says, device, mock};
use racl::{Allocator, CaptureMode, Context, DeviceBuffer, ErrorKind, Stream, op};

fn context() -> Context {
    device().context().create_context().unwrap()
}

fn calls() -> u64 {
    ["aclrtMalloc", "aclrtFree", "aclrtStreamQuery"].iter().map(|name| mock::calls(name)).sum()
}

#[test]
fn memory_that_is_kept_takes_no_call() {
    let _alone = mock::exclusive();
    let context = context();
    let sizes = [64, 4096, 1 << 20, 64 << 20];
    sizes.iter().for_each(|&bytes| drop(context.alloc::<u8>(bytes).unwrap()));
    let before = calls();
    for round in 0..3 {
        let held: Vec<_> = sizes.iter().map(|&bytes| context.alloc::<u8>(bytes).unwrap()).collect();
        drop(held);
        assert_eq!(calls(), before, "round {round}");
    }
    let stats = context.memory_stats();
    assert_eq!((stats.small.allocations, stats.large.allocations, stats.direct.allocations), (8, 8, 0));
    assert_eq!(stats.device_allocations, 3, "64 B and 4 KiB share a segment");
}

#[test]
fn the_figures_count_what_is_held() {
    let _alone = mock::exclusive();
    let context = context();
    let (one, two) = (context.alloc::<u8>(100).unwrap(), context.alloc::<u8>(3 << 20).unwrap());
    let stats = context.memory_stats();
    assert_eq!((stats.allocated.now, stats.small.allocated, stats.large.allocated), (100 + (3 << 20), 100, 3 << 20));
    assert_eq!((stats.small.active, stats.small.reserved), (512, (2 << 20) - 512));
    // Three MiB and the tail, in units of 512 bytes.
    assert_eq!((stats.large.active, stats.large.reserved), ((3 << 20) + 512, (20 << 20) - 512));
    drop(two);
    assert_eq!(context.memory_stats().allocated.peak, 100 + (3 << 20));
    context.reset_peak_memory_stats();
    assert_eq!(context.memory_stats().allocated.peak, 100);
    assert_eq!(context.memory_stats().cached(), (2 << 20) + (20 << 20) - 1024 - 512);
    drop(one);
    assert_eq!(context.memory_stats().active.now, 0);
}

/// A stream that is held, and memory of `bytes` bytes that its work uses and that nobody holds: the address.
fn given_up(context: &Context, stream: &Stream, bytes: usize) -> *mut c_void {
    let mut buffer = context.alloc::<u8>(bytes).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    buffer.address()
}

#[test]
fn memory_of_a_stream_is_its_own_until_its_work_is_done() {
    let _alone = mock::exclusive();
    let context = context();
    let (held, other) = (context.stream().unwrap(), context.stream().unwrap());
    for bytes in [64, 5000, 3 << 20] {
        mock::hold(&held).unwrap();
        let address = given_up(&context, &held, bytes);
        assert_eq!(context.memory_stats().waiting(), context.memory_stats().active.now);
        assert_ne!(context.alloc::<u8>(bytes).unwrap().address(), address, "for anybody");
        assert_ne!(other.alloc::<u8>(bytes).unwrap().address(), address, "for another stream");
        let before = calls();
        let again = held.alloc::<u8>(bytes).unwrap();
        assert_eq!((again.address(), calls()), (address, before), "for the same stream");
        // It still waits for the work before.
        drop(again);
        assert_ne!(context.alloc::<u8>(bytes).unwrap().address(), address);
        mock::release(&held).unwrap();
        held.synchronize().unwrap();
        assert_eq!(context.alloc::<u8>(bytes).unwrap().address(), address, "{bytes} bytes, once it is done");
    }
}

#[test]
fn what_a_stream_gave_up_side_by_side_is_one_block_for_its_later_work() {
    const MIB: usize = 1 << 20;
    let _alone = mock::exclusive();
    for allocator in [Allocator::Pool, Allocator::Growing] {
        let context = context();
        context.set_allocator(allocator);
        let (stream, other) = (context.stream().unwrap(), context.stream().unwrap());
        mock::hold(&stream).unwrap();
        let mut parts = [3, 6, 9].map(|mib| stream.alloc::<u8>(mib * MIB).unwrap());
        for part in &mut parts {
            stream.fill_bytes(&mut part.slice_mut(..64).unwrap(), 1).unwrap();
        }
        let (first, reserved) = (parts[0].address(), context.memory_stats().reserved.now);
        // From the middle, so that it has neighbours on both sides.
        let [front, middle, back] = parts;
        drop((front, back, middle));
        let elsewhere = other.alloc::<u8>(17 * MIB).unwrap();
        assert_ne!(elsewhere.address(), first, "its work may still use it");
        let mut whole = stream.alloc::<u8>(17 * MIB).unwrap();
        assert_eq!(whole.address(), first);
        stream.fill_bytes(&mut whole, 2).unwrap();
        mock::release(&stream).unwrap();
        assert_eq!(whole.to_vec().unwrap(), vec![2; 17 * MIB]);
        drop((whole, elsewhere));
        context.trim_memory(0);
        assert_eq!(context.memory_stats().reserved.now, 0, "{reserved} were reserved");
        drop((stream, other));
        context.close().unwrap();
    }
}

#[test]
fn the_host_waits_for_what_the_stream_did_with_the_memory_before() {
    let _alone = mock::exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    mock::hold(&stream).unwrap();
    let address = given_up(&context, &stream, 64);
    let mut again = stream.alloc::<u8>(64).unwrap();
    assert_eq!(again.address(), address);
    mock::release(&stream).unwrap();
    again.write(&[2; 64]).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(again.to_vec().unwrap(), [2; 64]);
}

#[test]
fn tensors_of_a_stream_have_its_memory_again_and_zeros_are_written_behind_its_work() {
    let _alone = mock::exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    mock::hold(&stream).unwrap();
    let address = given_up(&context, &stream, 64);
    let tensor = stream.empty::<f32>([4, 4]).unwrap();
    assert_eq!(tensor.buffer().unwrap().address(), address);
    assert_eq!(**tensor.shape(), [4, 4]);
    drop(tensor);
    let zeros = stream.zeros::<f32>([16]).unwrap();
    assert_eq!(zeros.buffer().unwrap().address(), address);
    mock::release(&stream).unwrap();
    assert_eq!(zeros.to_vec().unwrap(), [0.0; 16], "not the ones that were written before");
    assert_eq!(stream.empty::<f32>([0]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(stream.zeros::<u8>([usize::MAX, 2]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.zeros::<f32>([16]).map(drop)).unwrap();
    graph.launch(&stream).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn what_two_streams_use_waits_for_both() {
    let _alone = mock::exclusive();
    let context = context();
    let streams = [context.stream().unwrap(), context.stream().unwrap()];
    streams.iter().for_each(|stream| mock::hold(stream).unwrap());
    let mut buffer = context.alloc::<u8>(64).unwrap();
    streams.iter().for_each(|stream| stream.fill_bytes(&mut buffer, 1).unwrap());
    let address = buffer.address();
    drop(buffer);
    let address_for = |stream: &Stream| stream.alloc::<u8>(64).unwrap().address();
    assert!(streams.iter().all(|stream| address_for(stream) != address));
    mock::release(&streams[0]).unwrap();
    streams[0].synchronize().unwrap();
    assert_ne!(address_for(&streams[0]), address);
    mock::release(&streams[1]).unwrap();
    streams[1].synchronize().unwrap();
    assert_eq!(address_for(&streams[0]), address);
}

#[test]
fn another_stream_follows_what_was_done_with_the_memory_before() {
    let _alone = mock::exclusive();
    let context = context();
    let (first, other) = (context.stream().unwrap(), context.stream().unwrap());
    mock::hold(&first).unwrap();
    let address = given_up(&context, &first, 64);
    let mut again = first.alloc::<u8>(64).unwrap();
    assert_eq!(again.address(), address);
    other.fill_bytes(&mut again, 2).unwrap();
    mock::run_until_idle();
    assert!(!other.is_complete().unwrap(), "the first stream may still write there");
    mock::release(&first).unwrap();
    assert_eq!(again.to_vec().unwrap(), [2; 64]);
}

#[test]
fn a_capture_takes_no_memory_that_its_stream_still_uses() {
    let _alone = mock::exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    mock::hold(&stream).unwrap();
    let address = given_up(&context, &stream, 4096);
    let (a, mut out) = (context.empty::<f32>([8, 16]).unwrap(), context.empty::<f32>([8, 16]).unwrap());
    let graph = stream
        .capture(CaptureMode::ThreadLocal, |stream| {
            assert_ne!(stream.alloc::<u8>(4096)?.address(), address);
            op::softmax(stream, &a, 0, &mut out)
        })
        .unwrap();
    // Its scratch memory too is from elsewhere: what was given up is still there.
    assert_eq!(stream.alloc::<u8>(4096).unwrap().address(), address);
    mock::release(&stream).unwrap();
    drop(graph);
}

#[test]
fn memory_of_a_graph_is_for_nobody_else() {
    let _alone = mock::exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let mut address = std::ptr::null_mut();
    let mut graph = stream
        .capture(CaptureMode::ThreadLocal, |stream| {
            let mut buffer = stream.alloc::<u8>(700)?;
            address = buffer.address();
            stream.fill_bytes(&mut buffer, 1)
        })
        .unwrap();
    let taken: Vec<_> = (0..100).map(|_| context.alloc::<u8>(700).unwrap()).collect();
    assert!(taken.iter().all(|buffer| buffer.address() != address));
    graph.launch(&stream).unwrap();
    drop(graph);
    drop(taken);
    stream.synchronize().unwrap();
    assert_eq!(context.memory_stats().active.now, 0);
}

#[test]
fn temporaries_of_a_capture_share_memory_of_the_graph() {
    let _alone = mock::exclusive();
    let context = context();
    let (stream, mut out) = (context.stream().unwrap(), context.alloc_zeroed::<u8>(700).unwrap());
    let (mut first, mut others) = (std::ptr::null_mut::<c_void>(), Vec::new());
    let mut graph = stream
        .capture(CaptureMode::Relaxed, |stream| {
            for step in 1..=20 {
                let mut temporary = stream.alloc::<u8>(700)?;
                assert!(first.is_null() || first == temporary.address());
                first = temporary.address();
                stream.fill_bytes(&mut temporary, step)?;
                stream.copy(&temporary, &mut out)?;
            }
            // Held, used by another stream, written by the host: none of them is given out again.
            let held = stream.alloc::<u8>(700)?;
            let side = stream.side("1")?;
            let mut crossed = stream.alloc::<u8>(700)?;
            stream.fork(&side)?;
            side.fill_bytes(&mut crossed, 1)?;
            stream.join(&side)?;
            let mut written = stream.alloc::<u8>(700)?;
            written.write(&[9; 700])?;
            stream.copy(&written, &mut out)?;
            others.extend([held.address(), crossed.address(), written.address()]);
            drop((crossed, written));
            let last = stream.alloc::<u8>(700)?;
            assert!(!others.contains(&last.address()));
            drop(held);
            Ok(())
        })
        .unwrap();
    others.push(first);
    others.sort_unstable();
    others.dedup();
    assert_eq!(others.len(), 3, "the first is what was held later");
    let taken: Vec<_> = (0..100).map(|_| context.alloc::<u8>(700).unwrap().address()).collect();
    assert!(!taken.contains(&first));
    graph.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), [9; 700]);
    drop((graph, out));
    stream.synchronize().unwrap();
    assert_eq!(context.memory_stats().active.now, 0);
}

/// What one buffer of the test below is filled with.
struct Filled {
    buffer: DeviceBuffer<u8>,
    with: u8,
}

/// Buffers are taken for streams, filled there, and given up while streams are held: none may change under its holder.
#[test]
fn no_memory_is_given_to_somebody_else_before_its_work_is_done() {
    let _alone = mock::exclusive();
    for seed in 0..24 {
        let mut random = fastrand::Rng::with_seed(seed / 2);
        let context = context();
        context.set_allocator(if seed % 2 == 0 { Allocator::Pool } else { Allocator::Growing });
        let streams: Vec<_> = (0..3).map(|_| context.stream().unwrap()).collect();
        let mut held = [false; 3];
        let mut buffers: Vec<(usize, Filled)> = Vec::new();
        for step in 0..250_u32 {
            let at = random.usize(..3);
            let stream = &streams[at];
            match random.u32(..8) {
                0..=3 => {
                    let len = 1 + random.usize(..1 << 13);
                    let own = random.bool();
                    let buffer = if own { stream.alloc(len) } else { context.alloc(len) };
                    let mut filled = Filled { buffer: buffer.unwrap(), with: step as u8 };
                    stream.fill_bytes(&mut filled.buffer, filled.with).unwrap();
                    buffers.push((at, filled));
                }
                4 | 5 if !buffers.is_empty() => drop(buffers.swap_remove(random.usize(..buffers.len()))),
                6 => {
                    let change = if held[at] { mock::release(stream) } else { mock::hold(stream) };
                    change.unwrap();
                    held[at] = !held[at];
                }
                _ => {
                    mock::run_until_idle();
                    context.trim_memory(random.usize(..1 << 22));
                }
            }
            let mut ranges: Vec<_> = buffers.iter().map(|(_, Filled { buffer, .. })| range(buffer)).collect();
            ranges.sort_unstable();
            assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "seed {seed}, step {step}: overlap");
            assert!(ranges.iter().all(|(start, _)| start.is_multiple_of(64)), "seed {seed}: not aligned");
        }
        for (stream, held) in streams.iter().zip(held) {
            if held {
                mock::release(stream).unwrap();
            }
        }
        for (_, Filled { buffer, with }) in &buffers {
            assert!(
                buffer.to_vec().unwrap().iter().all(|byte| byte == with),
                "seed {seed}: written by somebody else"
            );
        }
        let stats = context.memory_stats();
        assert_eq!(stats.small.held, buffers.len());
        assert_eq!(stats.allocated.now, buffers.iter().map(|(_, filled)| filled.buffer.len()).sum::<usize>());
        buffers.clear();
        context.synchronize().unwrap();
        assert_eq!(context.memory_stats().active.now, 0);
        context.trim_memory(0);
        assert_eq!(context.memory_stats().reserved.now, 0, "seed {seed}: a segment is not whole again");
    }
}

/// First byte, and that behind the tail.
fn range(buffer: &DeviceBuffer<u8>) -> (usize, usize) {
    let start = buffer.address().addr();
    (start, start + buffer.len().next_multiple_of(32) + 32)
}

#[test]
fn what_is_kept_is_given_back_when_memory_is_short() {
    common::needs_the_card_alone("it uses up what the card has");
    let _alone = mock::exclusive();
    let context = context();
    let most = context.memory_info().unwrap().1 / 3 * 2;
    drop(context.alloc::<u8>(most).unwrap());
    let kept = context.memory_stats();
    assert!(kept.cached() >= most);
    // More than what is kept has, and not beside it.
    let larger = context.alloc::<u8>(most + (64 << 20)).unwrap();
    let stats = context.memory_stats();
    assert_eq!((stats.retries, stats.out_of_memory, stats.device_frees), (1, 0, 1));
    drop(larger);
    context.trim_memory(0);
}

#[test]
fn what_another_context_keeps_is_given_back_as_well() {
    common::needs_the_card_alone("it uses up what the card has");
    let _alone = mock::exclusive();
    let (one, two) = (context(), context());
    let most = one.memory_info().unwrap().1 / 3 * 2;
    drop(one.alloc::<u8>(most).unwrap());
    drop(two.alloc::<u8>(most).unwrap());
    assert_eq!((one.memory_stats().reserved.now, two.memory_stats().retries), (0, 1));
}

#[test]
fn the_error_says_who_holds_most() {
    common::needs_the_card_alone("it uses up what the card has");
    let _alone = mock::exclusive();
    let context = context();
    let half = context.memory_info().unwrap().1 / 2;
    let _small = context.alloc::<u8>(1000).unwrap();
    let (_large, line) = (context.alloc::<u8>(half).unwrap(), line!());
    let error = context.alloc::<u8>(half).unwrap_err();
    assert_says(&error, ErrorKind::OutOfMemory, &["207001", "allocating"]);
    let text = format!("{error:#}");
    for part in [format!("{half} bytes held by {}:{line}", file!()), "\n  1000 bytes held by".to_owned()] {
        assert!(text.contains(&part), "{part:?} is not in {text}");
    }
    assert!(text.find(&half.to_string()) < text.find(" 1000 bytes"), "{text}");
    assert_eq!(context.memory_stats().out_of_memory, 1);
}

#[test]
fn a_limit_is_kept_and_what_is_cached_makes_room() {
    let _alone = mock::exclusive();
    let context = context();
    context.set_memory_limit(Some(48 << 20));
    drop(context.alloc::<u8>(40 << 20).unwrap());
    // Fits beside nothing else.
    let small = context.alloc::<u8>(30 << 20).unwrap();
    drop(small);
    let _own: Vec<_> = (0..2).map(|_| context.alloc::<u8>(20 << 20).unwrap()).collect();
    let error = context.alloc::<u8>(20 << 20).unwrap_err();
    assert_says(&error, ErrorKind::OutOfMemory, &["limit 50331648", "allocating 20971520 bytes"]);
    assert!(context.memory_stats().reserved.peak <= 48 << 20);
}

#[test]
fn nothing_is_left_once_the_context_is_closed() {
    let _alone = mock::exclusive();
    let device = device();
    let before = mock::live_handles().device_bytes;
    let context = device.context().create_context().unwrap();
    let stream = context.stream().unwrap();
    for bytes in [10, 100_000, 5 << 20, 30 << 20] {
        given_up(&context, &stream, bytes);
    }
    drop(stream);
    context.close().unwrap();
    assert_eq!(mock::live_handles().device_bytes, before);
}

#[test]
fn the_environment_chooses_one_call_for_each_allocation() {
    const VARIABLE: &str = "RACL_ALLOCATOR";
    let _alone = mock::exclusive();
    let context = context();
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "direct") {
        let (before, live) = (mock::calls("aclrtMalloc"), mock::live_handles().device_allocations);
        drop(context.alloc::<u8>(64).unwrap());
        let held = context.alloc::<u8>(64).unwrap();
        assert_eq!((mock::calls("aclrtMalloc"), mock::live_handles().device_allocations), (before + 2, live + 1));
        assert_eq!((context.memory_stats().direct.held, context.memory_stats().direct.reserved), (1, 64));
        drop(held);
        return;
    }
    let own = std::env::current_exe().unwrap();
    let name = "the_environment_chooses_one_call_for_each_allocation";
    let done = Command::new(own).args(["--exact", name]).env(VARIABLE, "direct").output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
fn a_segment_that_cannot_be_freed_is_kept_and_tried_again() {
    const BYTES: usize = 50 << 20;
    let _alone = mock::exclusive();
    let context = context();
    let before = mock::live_handles().device_bytes;
    drop(context.alloc::<u8>(BYTES).unwrap());
    let reserved = context.memory_stats().reserved.now;
    assert!(reserved >= BYTES);
    let frees = context.memory_stats().device_frees;
    mock::fail("aclrtFree", 1, 500_000).unwrap();
    assert_eq!(context.trim_memory(0), 0);
    let stats = context.memory_stats();
    assert_eq!((stats.reserved.now, stats.device_frees - frees), (reserved, 0));
    assert_eq!(context.take_drop_errors().len(), 1);
    drop(context.alloc::<u8>(BYTES).unwrap());
    assert_eq!(context.memory_stats().reserved.now, reserved, "it is used again");
    assert_eq!(context.trim_memory(0), reserved);
    context.close().unwrap();
    assert_eq!(mock::live_handles().device_bytes, before);
}
