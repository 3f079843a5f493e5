//! Memory from and to other code.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use racl::{Allocator, CaptureMode, Context, DeviceBuffer, ErrorKind, PinnedBuffer};

use crate::common::{assert_says, device, mock};
use crate::exclusive;

/// A context of its own, since what it holds is counted.
fn context() -> Context {
    device().context().create_context().unwrap()
}

/// Says when it is dropped.
struct Owner(DeviceBuffer<u32>, Arc<AtomicBool>);

impl Drop for Owner {
    fn drop(&mut self) {
        assert_eq!(self.0.len(), 4);
        self.1.store(true, Ordering::SeqCst);
    }
}

fn lent(context: &Context) -> (DeviceBuffer<u32>, Arc<AtomicBool>) {
    let (theirs, gone) = (context.upload(&[1_u32, 2, 3, 4]).unwrap(), Arc::new(AtomicBool::new(false)));
    let address = theirs.address();
    let owner = Owner(theirs, Arc::clone(&gone));
    // SAFETY: the owner keeps the memory, which nothing else uses.
    (unsafe { DeviceBuffer::from_raw(address, 4, context, owner) }.unwrap(), gone)
}

#[test]
fn the_owner_goes_when_no_work_uses_the_memory() {
    let _alone = exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let (buffer, gone) = lent(&context);
    assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3, 4]);
    mock::hold(&stream).unwrap();
    let mut copy = context.alloc::<u32>(4).unwrap();
    stream.copy(&buffer, &mut copy).unwrap();
    drop(buffer);
    assert!(!gone.load(Ordering::SeqCst), "the copy has not read it yet");
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(gone.load(Ordering::SeqCst));
    assert_eq!(copy.to_vec().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn closing_it_drops_the_owner_now() {
    let _alone = exclusive();
    let context = context();
    let (mut buffer, gone) = lent(&context);
    buffer.write(&[5, 6, 7, 8]).unwrap();
    assert_eq!(context.memory_stats().direct.reserved, 16);
    buffer.close().unwrap();
    assert!(gone.load(Ordering::SeqCst));
}

#[test]
fn a_graph_keeps_the_owner() {
    let _alone = exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let (buffer, gone) = lent(&context);
    let mut copy = context.alloc::<u32>(4).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.copy(&buffer, &mut copy)).unwrap();
    drop(buffer);
    graph.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(!gone.load(Ordering::SeqCst));
    drop(graph);
    stream.synchronize().unwrap();
    context.synchronize().unwrap();
    assert!(gone.load(Ordering::SeqCst));
}

#[test]
fn an_owner_that_panics_ends_nothing() {
    let _alone = exclusive();
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    let context = context();
    let theirs = context.upload(&[1_u8]).unwrap();
    // SAFETY: the memory is `theirs`, which lives longer.
    let buffer = unsafe { DeviceBuffer::<u8>::from_raw(theirs.address(), 1, &context, Panics) }.unwrap();
    drop(buffer);
    assert_eq!(theirs.to_vec().unwrap(), [1]);
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    let _alone = exclusive();
    let context = context();
    let memory = context.upload(&[0_u8; 64]).unwrap();
    let made = |address: *mut std::ffi::c_void, len| {
        // SAFETY: null is documented; else the memory is `memory`, which lives longer.
        unsafe { DeviceBuffer::<u32>::from_raw(address, len, &context, ()) }.unwrap_err()
    };
    assert_says(&made(std::ptr::null_mut(), 1), ErrorKind::InvalidHandle, &["null"]);
    assert_says(&made(memory.address(), 0), ErrorKind::InvalidArgument, &["zero bytes"]);
    assert_says(&made(memory.address(), usize::MAX), ErrorKind::InvalidArgument, &["do not fit"]);
    let odd = memory.slice(1..).unwrap().address();
    assert_says(&made(odd, 1), ErrorKind::InvalidArgument, &["aligned to 4"]);
    // SAFETY: as above.
    let pinned = unsafe { PinnedBuffer::<u32>::from_raw(std::ptr::null_mut(), 1, &context) }.unwrap_err();
    assert_says(&pinned, ErrorKind::InvalidHandle, &["null"]);
    let mut host = [0_u32; 2];
    let odd = host.as_mut_ptr().wrapping_byte_add(1);
    // SAFETY: refused before anything is done with it.
    let pinned = unsafe { PinnedBuffer::from_raw(odd, 1, &context) }.unwrap_err();
    assert_says(&pinned, ErrorKind::InvalidArgument, &["aligned to 4"]);
}

#[test]
fn memory_by_itself_can_be_given_away_and_other_memory_cannot() {
    let _alone = exclusive();
    let context = context();
    let refused = context.alloc::<u8>(4).unwrap().into_raw().unwrap_err();
    assert_says(refused.error(), ErrorKind::NotSupported, &["segment", "Allocator::Direct"]);
    let (buffer, _) = lent(&context);
    assert_says(buffer.into_raw().unwrap_err().error(), ErrorKind::NotSupported, &["other code"]);

    context.set_allocator(Allocator::Direct);
    let stream = context.stream().unwrap();
    let mut buffer = context.alloc::<u8>(4).unwrap();
    stream.fill_bytes(&mut buffer, 3).unwrap();
    let shared = buffer.into_shared();
    let part = shared.slice(1..).unwrap();
    drop(shared);
    let refused = part.into_buffer().unwrap().into_raw().unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["part"]);
    drop(refused);
    context.synchronize().unwrap(); // the fill is done, and its memory freed

    let before = context.memory_stats();
    let buffer = context.upload(&[4_u8; 4]).unwrap();
    let address = buffer.into_raw().unwrap();
    assert_eq!(context.memory_stats().reserved.now, before.reserved.now);
    // SAFETY: the memory of that buffer, which nobody else has.
    let again = unsafe { DeviceBuffer::<u8>::from_raw(address, 4, &context, ()) }.unwrap();
    assert_eq!(again.to_vec().unwrap(), [4; 4]);
    drop(again);
    // SAFETY: the program's own memory, which no work uses.
    assert_eq!(unsafe { context.acl().table().aclrtFree().unwrap()(address) }, 0);
}

#[test]
fn pinned_memory_is_given_away_and_taken_over() {
    let _alone = exclusive();
    let context = context();
    let address = context.pinned_from(&[1_u16, 2]).unwrap().into_raw().unwrap();
    // SAFETY: the memory of that buffer, which nobody else has.
    let again = unsafe { PinnedBuffer::from_raw(address, 2, &context) }.unwrap();
    assert_eq!(*again, [1, 2]);
    again.close().unwrap();
    let refused = context.pin(vec![1_u8; 3]).unwrap().into_raw().unwrap_err();
    assert_says(refused.error(), ErrorKind::NotSupported, &["into_vec"]);
    assert_eq!(**refused.value(), [1; 3]);
}

/// Says when it is dropped.
struct Host(PinnedBuffer<u32>, Arc<AtomicBool>);

impl Drop for Host {
    fn drop(&mut self) {
        assert_eq!(self.0.len(), 4);
        self.1.store(true, Ordering::SeqCst);
    }
}

fn lent_by_the_host(context: &Context) -> (PinnedBuffer<u32>, Arc<AtomicBool>) {
    let (mut theirs, gone) = (context.pinned_from(&[1_u32, 2, 3, 4]).unwrap(), Arc::new(AtomicBool::new(false)));
    let address = theirs.as_mut_ptr();
    let owner = Host(theirs, Arc::clone(&gone));
    // SAFETY: the owner keeps the memory, which nothing else uses.
    (unsafe { PinnedBuffer::from_raw_shared(address, 4, context, owner) }.unwrap(), gone)
}

#[test]
fn the_owner_of_pinned_memory_goes_when_no_copy_has_it() {
    let _alone = exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let (mut buffer, gone) = lent_by_the_host(&context);
    buffer[3] = 5;
    let mut copy = context.alloc::<u32>(4).unwrap();
    mock::hold(&stream).unwrap();
    let lent = stream.upload(buffer, &mut copy).unwrap();
    assert!(!gone.load(Ordering::SeqCst), "the copy has not read it yet");
    mock::release(&stream).unwrap();
    let buffer = lent.wait().unwrap();
    assert!(!gone.load(Ordering::SeqCst), "it came back");
    drop(stream.upload(buffer, &mut copy).unwrap()); // waits for the copy
    assert!(gone.load(Ordering::SeqCst));
    assert_eq!(copy.to_vec().unwrap(), [1, 2, 3, 5]);
}

#[test]
fn a_graph_keeps_the_owner_of_pinned_memory() {
    let _alone = exclusive();
    let context = context();
    let stream = context.stream().unwrap();
    let (buffer, gone) = lent_by_the_host(&context);
    let mut copy = context.alloc::<u32>(4).unwrap();
    let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
    drop(capture.stream().upload(buffer, &mut copy).unwrap());
    let mut graph = capture.finish().unwrap();
    graph.launch(&stream).unwrap();
    stream.synchronize().unwrap();
    assert!(!gone.load(Ordering::SeqCst));
    graph.close().unwrap();
    assert!(gone.load(Ordering::SeqCst));
    assert_eq!(copy.to_vec().unwrap(), [1, 2, 3, 4]);
}

#[test]
fn pinned_memory_that_stays_with_others_is_closed_copied_and_not_given_away() {
    let _alone = exclusive();
    let context = context();
    let frees = || (mock::calls("aclrtFreeHost"), mock::calls("aclrtHostUnregister"));
    let before = frees();
    let (buffer, gone) = lent_by_the_host(&context);
    let refused = buffer.into_raw().unwrap_err();
    assert_says(refused.error(), ErrorKind::NotSupported, &["other code"]);
    assert!(!gone.load(Ordering::SeqCst));
    refused.into_value().close().unwrap();
    assert!(gone.load(Ordering::SeqCst));
    // The owner frees its memory, and nobody else does.
    assert_eq!(frees(), (before.0 + 1, before.1));
    let (buffer, gone) = lent_by_the_host(&context);
    assert_eq!(buffer.into_vec().unwrap(), [1, 2, 3, 4]);
    assert!(gone.load(Ordering::SeqCst));
    let (buffer, gone) = lent_by_the_host(&context);
    assert_eq!(buffer.leak(), [1, 2, 3, 4]);
    assert!(!gone.load(Ordering::SeqCst));
}

#[test]
fn an_owner_of_pinned_memory_goes_where_it_is_refused_and_may_panic() {
    let _alone = exclusive();
    struct Panics(Arc<AtomicBool>);
    impl Drop for Panics {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
            panic!("on purpose");
        }
    }
    let context = context();
    let mut theirs = context.pinned_from(&[1_u32, 2]).unwrap();
    let address = theirs.as_mut_ptr();
    for (address, len, says) in [
        (std::ptr::null_mut(), 1, "null"),
        (address, 0, "zero bytes"),
        (address.wrapping_byte_add(1), 1, "aligned to 4"),
    ] {
        let gone = Arc::new(AtomicBool::new(false));
        // SAFETY: refused before anything is done with it.
        let made = unsafe { PinnedBuffer::from_raw_shared(address, len, &context, Panics(Arc::clone(&gone))) };
        assert!(made.unwrap_err().to_string().contains(says));
        assert!(gone.load(Ordering::SeqCst), "{says}");
    }
    let gone = Arc::new(AtomicBool::new(false));
    // SAFETY: the memory is `theirs`, which lives longer and is not used meanwhile.
    drop(unsafe { PinnedBuffer::from_raw_shared(address, 2, &context, Panics(Arc::clone(&gone))) }.unwrap());
    assert!(gone.load(Ordering::SeqCst));
    assert_eq!(*theirs, [1, 2]);
}

#[test]
fn leaked_memory_stays() {
    let _alone = exclusive();
    let device = device();
    let address = device.upload(&[7_u32; 2]).unwrap().leak();
    // SAFETY: leaked memory stays as long as the process.
    let again = unsafe { DeviceBuffer::<u32>::from_raw(address, 2, &device, ()) }.unwrap();
    drop(device.upload(&[8_u32; 2]).unwrap());
    assert_eq!(again.to_vec().unwrap(), [7; 2]);
}

#[test]
fn memory_that_is_leaked_stays_and_so_does_its_context() {
    let _alone = exclusive();
    let context = context();
    let whole = context.upload(&[1_u32, 2, 3, 4]).unwrap().into_shared();
    let (part, address) = (whole.slice(1..3).unwrap(), whole.address());
    let managed = context.managed::<u32>(2).unwrap();
    let (managed_address, mut mapped) = (managed.address(), context.mapped::<u32>(2).unwrap());
    mapped.host().unwrap().copy_from_slice(&[7, 8]);
    let device_address = mapped.device_address();
    let frees = ["aclrtFree", "aclrtFreeHost", "aclrtHostUnregister"].map(mock::calls);
    assert_eq!(part.leak(), address.wrapping_byte_add(4));
    drop(whole);
    let pinned = context.pinned_from(&[5_u32, 6]).unwrap().leak();
    pinned[0] += 1;
    assert_eq!(pinned, [6, 6]);
    assert_eq!(managed.leak(), managed_address);
    let (host, device) = mapped.leak();
    assert_eq!(device, device_address);
    // SAFETY: two elements, which nothing frees nor writes.
    assert_eq!(unsafe { host.cast::<[u32; 2]>().read() }, [7, 8]);
    // SAFETY: the memory of the part, which stays; the owner keeps nothing.
    let again = unsafe { DeviceBuffer::<u32>::from_raw(address.wrapping_byte_add(4), 2, &context, ()) }.unwrap();
    assert_eq!(again.to_vec().unwrap(), [2, 3]);
    drop(again);
    assert_eq!(["aclrtFree", "aclrtFreeHost", "aclrtHostUnregister"].map(mock::calls), frees);
    assert!(context.close().is_err());
}
