//! Fills with elements of 32 bits.

use racl::{CaptureMode, ErrorKind, GrowableBuffer};

use crate::common::{assert_says, device, mock};
use crate::exclusive;

#[test]
fn a_fill_sets_its_part_and_nothing_else() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[1.0_f32; 5]).unwrap();
    stream.fill_words(&mut buffer.slice_mut(1..3).unwrap(), -0.25).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1.0, -0.25, -0.25, 1.0, 1.0]);
    let calls = mock::calls("aclrtMemsetD32Async");
    stream.fill_words(&mut buffer.slice_mut(2..2).unwrap(), 9.0).unwrap();
    assert_eq!(mock::calls("aclrtMemsetD32Async"), calls, "nothing is to be filled");
    assert_eq!(buffer.to_vec().unwrap(), [1.0, -0.25, -0.25, 1.0, 1.0]);
    let filled = device.context().alloc_filled(3, [1_u8, 2, 3, 4]).unwrap();
    assert_eq!(filled.to_vec().unwrap(), [[1, 2, 3, 4]; 3]);
}

#[test]
fn a_captured_fill_runs_at_each_launch() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[1_i32; 3]).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_words(&mut buffer, 5)).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1; 3]);
    for _ in 0..2 {
        buffer.write(&[2; 3]).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [5; 3]);
    }
}

#[test]
fn what_cannot_be_filled_is_told() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let theirs = device.alloc::<u8>(64).unwrap();
    let odd = theirs.address().wrapping_byte_add(2);
    // SAFETY: memory of `theirs`, which is its owner.
    let mut odd = unsafe { racl::DeviceBuffer::<[u8; 4]>::from_raw(odd, 2, &device, theirs) }.unwrap();
    let error = stream.fill_words(&mut odd, [1; 4]).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["no multiple of 4 bytes"]);
    let error = device.context().alloc_filled::<u32>(0, 1).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["zero bytes"]);
    let mut buffer = device.upload(&[1_i32; 3]).unwrap();
    mock::fail("aclrtMemsetD32Async", 1, 507_000).unwrap();
    let error = stream.fill_words(&mut buffer, 5).unwrap_err();
    assert_says(&error, ErrorKind::Internal, &["aclrtMemsetD32Async", "507000"]);
    mock::fail_task("aclrtMemsetD32Async", 1, 507_015).unwrap();
    stream.fill_words(&mut buffer, 5).unwrap();
    assert_says(&stream.synchronize().unwrap_err(), ErrorKind::DeviceFault, &["507015"]);
    let mut empty: GrowableBuffer<u32> = device.context().reserve(10).unwrap();
    stream.fill_words(&mut empty, 5).unwrap();
}
