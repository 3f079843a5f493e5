//! What futures cost while they wait: no thread each, and no core.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::mpsc::channel;
use std::task::Poll;
use std::time::{Duration, Instant};

use racl::sys::Table;

use crate::alone;
use crate::common::{self, device, mock};
use crate::executor::{Woken, assert_waits, block_on, poll};

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn a_thousand_futures_wait_with_a_thread_for_each_stream() {
    let _alone = alone();
    let device = device();
    let streams: Vec<_> = (0..4).map(|_| device.stream().unwrap()).collect();
    let mut buffers: Vec<_> = streams.iter().map(|_| device.alloc::<u8>(64).unwrap()).collect();
    for (stream, buffer) in streams.iter().zip(&mut buffers) {
        mock::hold(stream).unwrap();
        stream.fill_bytes(buffer, 7).unwrap();
    }
    let before = threads();
    let mut futures: Vec<_> = (0..1000).map(|number| streams[number % 4].finished()).collect();
    let (_woken, waker) = Woken::new();
    futures.iter_mut().for_each(|one| assert_waits(one, &waker));
    let meanwhile = threads();
    // One for each stream, and tests that begin.
    assert!(meanwhile <= before + 8, "{before} threads before, {meanwhile} with a thousand futures");
    streams.iter().for_each(|stream| mock::release(stream).unwrap());
    futures.into_iter().for_each(|one| block_on(one).unwrap());
    buffers.iter().for_each(|buffer| assert_eq!(buffer.to_vec().unwrap(), [7; 64]));
}

/// What the process had of processors, in the kernel's steps of a hundredth of a second.
fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    // The name of the program may have anything in it; the two stand 12 and 13 words behind.
    let behind = stat.rsplit_once(')').unwrap().1;
    let steps: u64 = behind.split_whitespace().skip(11).take(2).map(|word| word.parse::<u64>().unwrap()).sum();
    Duration::from_millis(10 * steps)
}

/// How many waits are looked at.
const WAITS: u64 = 20;

/// Least times alone, so that a slow machine changes nothing.
#[test]
fn a_wait_that_is_held_asks_rarely_and_burns_no_core() {
    common::needs_mock("it counts calls");
    let _alone = alone();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(64).unwrap();
    mock::hold(&stream).unwrap();
    stream.fill_bytes(&mut buffer, 7).unwrap();
    let waits = || mock::calls("aclrtSynchronizeEventWithTimeout");
    let calls = || Table::names().map(|(name, _)| mock::calls(name)).sum::<u64>();
    let (first, before) = (waits(), calls());
    let mut finished = stream.finished();
    let (woken, waker) = Woken::new();
    assert_waits(&mut finished, &waker);
    let (begun, had) = (Instant::now(), processor_time());
    let (_nobody, nothing) = channel::<()>();
    while waits() < first + WAITS {
        nothing.recv_timeout(Duration::from_millis(10)).unwrap_err();
    }
    let (took, used) = (begun.elapsed(), processor_time() - had);
    let (made, asked) = (waits() - first, calls() - before);
    assert!(took >= Duration::from_millis(200), "{made} waits in {took:?}");
    assert!(2 * used <= took, "{used:?} of a processor in {took:?}");
    assert!(asked <= 4 * made, "{asked} calls for {made} waits");
    assert_eq!(woken.count(), 0);
    mock::release(&stream).unwrap();
    woken.wait();
    assert!(matches!(poll(&mut finished, &waker), Poll::Ready(Ok(()))));
}
