//! Copies between two devices of one process.

mod common;

use std::sync::{MutexGuard, Once};
use std::time::Duration;

use common::{assert_says, device_at, mock};
use racl::{Allocator, CaptureMode, Context, DeviceBuffer, ErrorKind, MemoryAccess, Stream};

/// A context on each of two devices, which reach each other's memory, with an allocation of the library for each
/// buffer.
struct Two {
    here: Context,
    there: Context,
    _alone: MutexGuard<'static, ()>,
}

fn two() -> Two {
    let alone = mock::exclusive();
    static DEVICES: Once = Once::new();
    // SAFETY: each test of this binary has the lock when it gets here, so that nothing else reads the environment.
    DEVICES.call_once(|| unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") });
    let (zero, one) = (device_at(0), device_at(1));
    zero.enable_peer_access(&one).unwrap();
    one.enable_peer_access(&zero).unwrap();
    let [here, there] = [&zero, &one].map(|device| device.context().create_context().unwrap());
    here.set_allocator(Allocator::Direct);
    there.set_allocator(Allocator::Direct);
    Two { here, there, _alone: alone }
}

#[test]
fn either_device_reads_and_writes() {
    let two = two();
    let theirs = two.there.upload(&[1_i32, 2, 3]).unwrap();
    let mut own = two.here.alloc::<i32>(3).unwrap();
    two.here.stream().unwrap().copy_peer(&theirs, &mut own).unwrap();
    assert_eq!(own.to_vec().unwrap(), [1, 2, 3]);
    own.write(&[4, 5, 6]).unwrap();
    let mut back = theirs.into_shared();
    two.here.stream().unwrap().copy_peer(&own, &mut back).unwrap();
    assert_eq!(back.to_vec().unwrap(), [4, 5, 6]);
    two.there.stream().unwrap().copy_peer(&own.slice(..1).unwrap(), &mut back.slice(..1).unwrap()).unwrap();
    assert_eq!(back.to_vec().unwrap(), [4, 5, 6]);
    // Within a device, and between its contexts, it is a copy as others.
    let mut more = two.here.create_context().unwrap().alloc::<i32>(3).unwrap();
    two.here.stream().unwrap().copy_peer(&own, &mut more).unwrap();
    assert_eq!(more.to_vec().unwrap(), [4, 5, 6]);
}

#[test]
fn a_copy_waits_for_work_of_the_other_device_and_that_for_the_copy() {
    let two = two();
    mock::check_races(mock::RaceCheck::Report);
    let (near, far) = (two.here.stream().unwrap(), two.there.stream().unwrap());
    let (mut theirs, mut own) = (two.there.alloc_zeroed::<u8>(64).unwrap(), two.here.alloc_zeroed::<u8>(64).unwrap());
    mock::hold(&far).unwrap();
    far.fill_bytes(&mut theirs, 1).unwrap();
    near.copy_peer(&theirs, &mut own).unwrap();
    far.fill_bytes(&mut theirs, 2).unwrap();
    mock::run_until_idle();
    assert!(!near.is_complete().unwrap() && !far.is_complete().unwrap());
    mock::release(&far).unwrap();
    far.synchronize().unwrap();
    // The second fill came after the copy, which is done therefore.
    assert!(near.is_complete().unwrap());
    assert_eq!((own.to_vec().unwrap(), theirs.to_vec().unwrap()), (vec![1; 64], vec![2; 64]));

    mock::hold(&near).unwrap();
    near.fill_bytes(&mut own, 3).unwrap();
    near.copy_peer(&own, &mut theirs).unwrap();
    far.fill_bytes(&mut own_part(&mut theirs), 4).unwrap();
    mock::run_until_idle();
    assert!(!far.is_complete().unwrap(), "it writes what the copy writes");
    mock::release(&near).unwrap();
    assert_eq!(theirs.to_vec().unwrap(), [[4; 32], [3; 32]].concat());
    assert_eq!(mock::races(), []);
    mock::check_races(mock::RaceCheck::Off);
}

fn own_part(memory: &mut racl::DeviceBuffer<u8>) -> racl::DeviceSliceMut<'_, u8> {
    memory.slice_mut(..32).unwrap()
}

#[test]
fn memory_of_both_devices_stays_while_a_copy_is_under_way() {
    let two = two();
    let near = two.here.stream().unwrap();
    let (theirs, mut own) = (two.there.upload(&[7_u8; 64]).unwrap(), two.here.alloc::<u8>(64).unwrap());
    let before = mock::live_handles().device_allocations;
    mock::hold(&near).unwrap();
    near.copy_peer(&theirs, &mut own).unwrap();
    drop(theirs);
    assert_eq!(mock::live_handles().device_allocations, before);
    mock::release(&near).unwrap();
    near.synchronize().unwrap();
    assert_eq!(own.to_vec().unwrap(), [7; 64]);
    two.there.synchronize().unwrap();
    assert_eq!(mock::live_handles().device_allocations, before - 1);
}

/// Queues a copy from memory of the second device, which is dropped, on a stream of the first that is held.
fn copy_under_way(two: &Two, own: &mut DeviceBuffer<u8>) -> Stream {
    let near = two.here.stream().unwrap();
    let theirs = two.there.upload(&[7_u8; 64]).unwrap();
    mock::hold(&near).unwrap();
    near.copy_peer(&theirs, own).unwrap();
    near
}

fn allocations() -> u64 {
    mock::live_handles().device_allocations
}

/// Once threads have ended what was dropped.
fn settle(two: &Context, enough: impl Fn() -> bool) {
    while !enough() {
        drop(two.take_drop_errors());
        std::thread::yield_now();
    }
}

#[test]
fn a_context_that_ends_leaves_memory_that_a_stream_of_another_device_uses() {
    for allocator in [Allocator::Direct, Allocator::Pool, Allocator::Growing] {
        let two = two();
        two.there.set_allocator(allocator.clone());
        let mut own = two.here.alloc::<u8>(64).unwrap();
        let before = allocations();
        let near = copy_under_way(&two, &mut own);
        racl::set_drop_limit(Duration::from_millis(20));
        let busy = allocations();
        drop(two.there);
        racl::set_drop_limit(Duration::from_secs(10));
        assert_eq!(allocations(), busy, "{allocator:?}: memory in use was freed");
        mock::release(&near).unwrap();
        near.synchronize().unwrap();
        assert_eq!(own.to_vec().unwrap(), [7; 64]);
        settle(&two.here, || allocations() == before);
    }
}

#[test]
fn a_context_that_ends_waits_for_a_stream_of_another_device_and_takes_none_of_its_errors() {
    let two = two();
    let (mut own, parts) = (two.here.alloc::<u8>(64).unwrap(), mock::live_handles().contexts);
    let before = allocations();
    let near = copy_under_way(&two, &mut own);
    near.host_function(|| panic!("told to whoever waits for the stream")).unwrap();
    let there = two.there;
    let ends = std::thread::spawn(move || drop(there));
    mock::release(&near).unwrap();
    ends.join().unwrap();
    assert_eq!((allocations(), mock::live_handles().contexts), (before, parts - 1), "the drop waits");
    assert_says(&near.synchronize().unwrap_err(), ErrorKind::CallbackPanicked, &["told to whoever waits"]);
    near.synchronize().unwrap();
    assert_eq!(own.to_vec().unwrap(), [7; 64]);
}

#[test]
fn an_error_that_nobody_has_waited_for_yet_is_told_when_the_stream_ends() {
    for closes in [true, false] {
        let two = two();
        let mut own = two.here.alloc::<u8>(64).unwrap();
        let near = copy_under_way(&two, &mut own);
        near.host_function(|| panic!("told at the end")).unwrap();
        let there = two.there;
        let ends = std::thread::spawn(move || drop(there));
        mock::release(&near).unwrap();
        ends.join().unwrap();
        if closes {
            let (near, error) = near.close().unwrap_err().into_parts();
            assert_says(&error, ErrorKind::CallbackPanicked, &["told at the end"]);
            near.close().unwrap();
        } else {
            drop(near);
            let told = two.here.take_drop_errors();
            assert_eq!(told.iter().map(racl::Error::kind).collect::<Vec<_>>(), [ErrorKind::CallbackPanicked]);
        }
    }
}

#[test]
fn a_context_whose_memory_is_in_use_is_not_closed() {
    let two = two();
    let mut own = two.here.alloc::<u8>(64).unwrap();
    let near = copy_under_way(&two, &mut own);
    let busy = allocations();
    let (there, error) = two.there.close().unwrap_err().into_parts();
    let stream = format!("stream {} (", near.id().unwrap());
    let parts = ["other contexts", &stream, "at tests/peer_copies.rs:"];
    assert_says(&error, ErrorKind::InvalidArgument, &parts);
    assert_eq!(allocations(), busy);
    mock::release(&near).unwrap();
    near.synchronize().unwrap();
    there.close().unwrap();
    assert_eq!(allocations(), busy - 1);
    assert_eq!(own.to_vec().unwrap(), [7; 64]);
}

#[test]
fn memory_that_a_lost_stream_may_use_is_never_freed() {
    let two = two();
    let mut own = two.here.alloc::<u8>(64).unwrap();
    let near = copy_under_way(&two, &mut own);
    let (raw, busy) = (near.as_raw(), allocations());
    mock::fail("aclrtSynchronizeStreamWithTimeout", 1, 507_899).unwrap();
    mock::fail("aclrtDestroyStream", 1, 507_899).unwrap();
    drop(near);
    assert_eq!(two.here.take_drop_errors().len(), 2);
    drop(two.there);
    drop(own);
    assert_eq!(allocations(), busy, "memory in use was freed");
    drop(two.here);
    assert_eq!(allocations(), busy, "memory in use was freed");
    // SAFETY: the mock checks any handle.
    unsafe { racl::sys::mock::mock_acl_release_stream(raw) };
}

#[test]
fn a_device_whose_physical_memory_another_one_has_is_not_closed() {
    let two = two();
    let mut range = two.here.reserve::<u8>(8 << 20).unwrap();
    range.map(&two.there.physical_memory(2 << 20).unwrap()).unwrap();
    let (there, error) = two.there.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::InvalidArgument, &["1 clones or objects still belong"]);
    // Nor by who has a handle of the mapping.
    let again = range.physical(0).unwrap();
    drop(range);
    let (there, error) = there.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::InvalidArgument, &["1 clones or objects still belong"]);
    drop(again);
    there.close().unwrap();
}

#[test]
fn a_graph_keeps_the_memory_of_both_devices() {
    let two = two();
    let (near, far) = (two.here.stream().unwrap(), two.there.stream().unwrap());
    let mut theirs = two.there.upload(&[1_u8; 64]).unwrap().into_shared();
    let mut own = two.here.alloc_zeroed::<u8>(64).unwrap().into_shared();
    let mut graph = near.capture(CaptureMode::ThreadLocal, |s| s.copy_peer(&theirs, &mut own)).unwrap();
    far.fill_bytes(&mut theirs, 2).unwrap();
    graph.launch(&near).unwrap();
    assert_eq!(own.to_vec().unwrap(), [2; 64]);
    drop(theirs);
    drop(two.there);
    graph.launch(&near).unwrap();
    assert_eq!(own.to_vec().unwrap(), [2; 64]);
    graph.close().unwrap();
}

#[test]
fn a_copy_without_access_is_refused_and_spoils_a_capture() {
    // Without it the library alone refuses the copy.
    common::needs_function("aclrtDevicePeerAccessStatus");
    let two = two();
    let (zero, one) = (device_at(0), device_at(1));
    let near = two.here.stream().unwrap();
    let (theirs, mut own) = (two.there.upload(&[7_u8; 64]).unwrap(), two.here.alloc_zeroed::<u8>(64).unwrap());
    zero.disable_peer_access(&one).unwrap();
    let parts = ["memory of device 1", "device 0, which has no access", "enable_peer_access"];
    assert_says(&near.copy_peer(&theirs, &mut own).unwrap_err(), ErrorKind::InvalidArgument, &parts);
    let refused = near.capture(CaptureMode::ThreadLocal, |s| {
        assert!(s.copy_peer(&theirs, &mut own).is_err());
        Ok(())
    });
    assert_says(&refused.unwrap_err(), ErrorKind::CaptureInvalidated, &["copy_peer"]);
    // In the other direction it is still there.
    two.there.stream().unwrap().copy_peer(&theirs, &mut own).unwrap();
    assert_eq!(own.to_vec().unwrap(), [7; 64]);
    zero.enable_peer_access(&one).unwrap();
    mock::fail("aclrtDevicePeerAccessStatus", 1, 507_899).unwrap();
    assert_says(&near.copy_peer(&theirs, &mut own).unwrap_err(), ErrorKind::Driver, &["aclrtDevicePeerAccessStatus"]);
    mock::fail("aclrtMemcpyAsync", 1, 507_000).unwrap();
    assert_says(&near.copy_peer(&theirs, &mut own).unwrap_err(), ErrorKind::Internal, &["aclrtMemcpyAsync"]);
    near.copy_peer(&theirs, &mut own).unwrap();
    assert_eq!(own.to_vec().unwrap(), [7; 64]);
}

#[test]
fn lengths_and_addresses_are_checked() {
    let two = two();
    let near = two.here.stream().unwrap();
    let (theirs, mut own) = (two.there.upload(&[7_u8; 128]).unwrap(), two.here.alloc_zeroed::<u8>(64).unwrap());
    let error = near.copy_peer(&theirs, &mut own).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["128 elements to 64"]);
    let error = near.copy_peer(&theirs.slice(1..65).unwrap(), &mut own).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["multiples of 64"]);
    // A copy within a device still takes its own memory alone.
    let error = near.copy(&theirs.slice(..64).unwrap(), &mut own).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["memory of device 1 used on device 0"]);
    assert_eq!(own.to_vec().unwrap(), [0; 64]);
}

#[test]
fn mapped_memory_has_access_of_its_own() {
    let two = two();
    let (zero, one) = (device_at(0), device_at(1));
    zero.disable_peer_access(&one).unwrap();
    let near = two.here.stream().unwrap();
    let mut theirs = two.there.reserve::<u8>(8 << 20).unwrap();
    theirs.grow(1).unwrap();
    theirs.slice_mut(..64).unwrap().write(&[5; 64]).unwrap();
    let mut own = two.here.alloc_zeroed::<u8>(64).unwrap();
    let copy = |theirs: &racl::GrowableBuffer<u8>, own: &mut racl::DeviceBuffer<u8>| {
        near.copy_peer(&theirs.slice(..64).unwrap(), own)
    };
    assert_says(&copy(&theirs, &mut own).unwrap_err(), ErrorKind::InvalidArgument, &["aclrtMemcpyAsync"]);
    assert_eq!(theirs.access(&zero).unwrap(), MemoryAccess::None);
    theirs.set_access(&zero, MemoryAccess::ReadWrite).unwrap();
    copy(&theirs, &mut own).unwrap();
    assert_eq!(own.to_vec().unwrap(), [5; 64]);
    // What is mapped later has it too.
    let before = theirs.len();
    theirs.grow(before + 1).unwrap();
    near.copy_peer(&own, &mut theirs.slice_mut(before..before + 64).unwrap()).unwrap();
    assert_eq!(theirs.slice(before..before + 64).unwrap().to_vec().unwrap(), [5; 64]);
}
