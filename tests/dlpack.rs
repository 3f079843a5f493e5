//! Tensors from and to other frameworks: what is refused, and who ends what. NumPy and PyTorch are met by the programs in
//! examples/dlpack.

mod common;

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::{assert_says, device, mock};
use racl::dlpack::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor, Managed,
};
use racl::op::{AnyTensor, ElementType, Format};
use racl::{CaptureMode, ErrorKind, op};

/// A tensor as another framework makes it, which counts how often it is ended.
struct Theirs {
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    ended: Arc<AtomicU32>,
    raw: DLManagedTensorVersioned,
}

const F32: DLDataType = DLDataType { code: 2, bits: 32, lanes: 1 };
const NPU: DLDevice = DLDevice { device_type: DLDevice::EXTENSION, device_id: 0 };
const HOST: DLDevice = DLDevice { device_type: DLDevice::CPU, device_id: 0 };

unsafe extern "C" fn end(raw: *mut DLManagedTensorVersioned) {
    // SAFETY: a live structure of `made`.
    let context = unsafe { (*raw).manager_ctx };
    // SAFETY: the context is the box of `made`, which is ended once, as the tests count.
    let theirs = unsafe { Box::from_raw(context.cast::<Theirs>()) };
    theirs.ended.fetch_add(1, Ordering::SeqCst);
}

/// Fills the structure; `change` spoils it.
fn made(
    data: *mut c_void,
    device: DLDevice,
    shape: &[i64],
    strides: Option<&[i64]>,
    change: impl FnOnce(&mut DLManagedTensorVersioned),
) -> (*mut DLManagedTensorVersioned, Arc<AtomicU32>) {
    let ended = Arc::new(AtomicU32::new(0));
    let (mut shape, mut strides) = (shape.to_vec(), strides.map(<[i64]>::to_vec));
    let dl_tensor = DLTensor {
        data,
        device,
        ndim: shape.len() as i32,
        dtype: F32,
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut().map_or(std::ptr::null_mut(), |strides| strides.as_mut_ptr()),
        byte_offset: 0,
    };
    let mut raw = DLManagedTensorVersioned {
        version: DLPackVersion { major: 1, minor: 3 },
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(end),
        flags: 0,
        dl_tensor,
    };
    change(&mut raw);
    let theirs = Box::into_raw(Box::new(Theirs { shape, strides, ended: Arc::clone(&ended), raw }));
    // SAFETY: the box was made just now, and is ended by its deleter.
    let theirs = unsafe { &mut *theirs };
    assert!(theirs.strides.as_ref().is_none_or(|strides| strides.len() == theirs.shape.len()));
    theirs.raw.manager_ctx = std::ptr::from_mut(theirs).cast();
    (&raw mut theirs.raw, ended)
}

fn taken(raw: *mut DLManagedTensorVersioned) -> racl::Result<Managed> {
    // SAFETY: made above, whose deleter any thread may call.
    unsafe { Managed::from_raw(raw) }
}

#[test]
fn their_memory_is_a_tensor_and_is_ended_once_no_work_uses_it() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let theirs = device.upload(&[9.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    // Columns of a matrix of 2 × 3 behind one element.
    let (raw, ended) = made(theirs.address(), NPU, &[3, 2], Some(&[1, 3]), |raw| raw.dl_tensor.byte_offset = 4);
    let any = taken(raw).unwrap().into_tensor(&device).unwrap();
    assert_eq!((any.strides(), any.offset()), (&[1, 3][..], 0));
    let tensor = any.typed::<f32>().unwrap();
    drop(any);
    assert_eq!(tensor.to_vec().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let mut twice = device.zeros::<f32>([3, 2]).unwrap();
    mock::hold(&stream).unwrap();
    op::add(&stream, &tensor, &tensor, &mut twice).unwrap();
    drop(tensor);
    assert_eq!(ended.load(Ordering::SeqCst), 0, "the stream has not read it yet");
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    assert_eq!(twice.to_vec().unwrap(), [2.0, 8.0, 4.0, 10.0, 6.0, 12.0]);
}

#[test]
fn a_tensor_that_came_back_waits_for_the_work_of_the_one_that_went() {
    let _alone = mock::exclusive();
    let device = device();
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let mut all = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    let raw = all.transposed(0, 1).unwrap().to_dlpack().unwrap().into_raw_unversioned();
    // SAFETY: the pointer is that of a tensor that nobody else has.
    let managed = unsafe { Managed::from_raw_unversioned(raw) }.unwrap();
    let again = managed.into_tensor(&device).unwrap().typed::<f32>().unwrap();
    let mut sum = device.zeros::<f32>([2, 2]).unwrap();
    mock::hold(&stream).unwrap();
    op::muls_inplace(&stream, &mut all, 2.0).unwrap();
    op::add(&other, &again, &again, &mut sum).unwrap();
    mock::run_until_idle();
    assert!(!other.is_complete().unwrap(), "the sum is behind the product");
    mock::release(&stream).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [4.0, 12.0, 8.0, 16.0]);
    drop(all);
    assert_eq!(again.to_vec().unwrap(), [2.0, 6.0, 4.0, 8.0], "it keeps the memory");
}

#[test]
fn a_graph_keeps_their_memory() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let theirs = device.upload(&[1.0_f32, 2.0]).unwrap();
    let (raw, ended) = made(theirs.address(), NPU, &[2], None, |_| {});
    let tensor = taken(raw).unwrap().into_tensor(&device).unwrap().typed::<f32>().unwrap();
    let mut out = device.zeros::<f32>([2]).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add(s, &tensor, &tensor, &mut out)).unwrap();
    drop(tensor);
    graph.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), [2.0, 4.0]);
    assert_eq!(ended.load(Ordering::SeqCst), 0);
    drop(graph);
    device.synchronize().unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 1);
}

/// Its first element, as an addition that wraps has it, is at 0.
fn to_the_first_address(raw: &mut DLManagedTensorVersioned) {
    (raw.dl_tensor.data, raw.dl_tensor.byte_offset) = (std::ptr::without_provenance_mut(usize::MAX - 15), 16);
}

#[test]
fn what_is_no_tensor_of_this_device_comes_back() {
    let _alone = mock::exclusive();
    let device = device();
    let memory = device.upload(&[0.0_f32; 8]).unwrap();
    type Change = fn(&mut DLManagedTensorVersioned);
    let cases: [(Change, &str); 11] = [
        (|raw| raw.dl_tensor.device = HOST, "device 1:0"),
        (|raw| raw.dl_tensor.device.device_id = 5, "device 12:5"),
        (|raw| raw.dl_tensor.dtype.bits = 24, "24 bits"),
        (|raw| raw.dl_tensor.dtype.lanes = 4, "4 lanes"),
        (|raw| raw.flags = DLManagedTensorVersioned::READ_ONLY, "must not be written"),
        (|raw| raw.dl_tensor.data = std::ptr::null_mut(), "without memory"),
        (|raw| raw.dl_tensor.byte_offset = 2, "2 elements of 4 bytes at"),
        (|raw| raw.dl_tensor.byte_offset = u64::MAX - 63, "beyond the last address"),
        (to_the_first_address, "beyond the last address"),
        // SAFETY: the sizes and strides of this test, one of each.
        (|raw| unsafe { *raw.dl_tensor.strides = -1 }, "below zero"),
        // SAFETY: as above.
        (|raw| unsafe { *raw.dl_tensor.shape = 0 }, "no elements"),
    ];
    for (change, text) in cases {
        let (raw, ended) = made(memory.address(), NPU, &[2], Some(&[1]), change);
        let (managed, error) = taken(raw).unwrap().into_tensor(&device).unwrap_err().into_parts();
        assert_says(&error, ErrorKind::InvalidArgument, &[text]);
        assert_eq!(ended.load(Ordering::SeqCst), 0);
        drop(managed);
        assert_eq!(ended.load(Ordering::SeqCst), 1, "{text}");
    }
    let odd = [
        (&[2, i64::MAX][..], &[1, 1][..]),
        (&[2, 3], &[i64::MAX, i64::MAX]),
        (&[1; 9], &[1; 9]),
        // Upon each other, so that they need no memory, and too many for dense strides.
        (&[1, 1, 1, 1, 1 << 62], &[0; 5]),
    ];
    for (shape, strides) in odd {
        let (raw, ended) = made(memory.address(), NPU, shape, Some(strides), |_| {});
        let error = taken(raw).unwrap().into_tensor(&device).unwrap_err().into_error();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{shape:?}: {error}");
        assert_eq!(ended.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn strides_of_dimensions_of_size_1_may_be_anything() {
    let _alone = mock::exclusive();
    let device = device();
    let theirs = device.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    for unused in [i64::MAX, -1, 0, 77] {
        let (raw, _) = made(theirs.address(), NPU, &[1, 1, 4], Some(&[unused, unused, 1]), |_| {});
        let tensor = taken(raw).unwrap().into_tensor(&device).unwrap();
        assert_eq!((&tensor.shape()[..], tensor.strides()), (&[1, 1, 4][..], &[4, 4, 1][..]), "{unused}");
        assert_eq!(tensor.typed::<f32>().unwrap().to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0], "{unused}");
    }
}

/// As NumPy makes them with `broadcast_to`.
#[test]
fn elements_that_lie_upon_each_other_are_copied_as_far_as_there_is_memory() {
    let numbers = [1.0_f32, 2.0];
    let of_host = |shape: &[i64], strides: &[i64]| {
        let (raw, _) = made(numbers.as_ptr().cast_mut().cast(), HOST, shape, Some(strides), |_| {});
        taken(raw).unwrap()
    };
    assert_eq!(of_host(&[3, 2], &[0, 1]).to_vec::<f32>().unwrap(), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    assert_eq!(of_host(&[2, 2], &[1, 0]).to_vec::<f32>().unwrap(), [1.0, 1.0, 2.0, 2.0]);
    let error = of_host(&[1 << 50, 1], &[0, 1]).to_vec::<f32>().unwrap_err();
    assert_says(&error, ErrorKind::OutOfMemory, &["1125899906842624", "on 1 elements"]);
}

#[test]
fn structures_that_cannot_be_are_refused_and_ended() {
    let error = taken(std::ptr::null_mut()).unwrap_err();
    assert_says(&error, ErrorKind::InvalidHandle, &["null"]);
    // SAFETY: null is documented.
    let error = unsafe { Managed::from_raw_unversioned(std::ptr::null_mut()) }.unwrap_err();
    assert_says(&error, ErrorKind::InvalidHandle, &["null"]);
    type Change = fn(&mut DLManagedTensorVersioned);
    let cases: [(Change, ErrorKind, &str); 6] = [
        (|raw| raw.version.major = 2, ErrorKind::NotSupported, "2.3"),
        (|raw| raw.dl_tensor.ndim = -1, ErrorKind::InvalidArgument, "-1 dimensions"),
        // So many sizes there are not.
        (|raw| raw.dl_tensor.ndim = 65, ErrorKind::InvalidArgument, "65 dimensions"),
        (|raw| raw.dl_tensor.ndim = i32::MAX, ErrorKind::InvalidArgument, "2147483647 dimensions"),
        (|raw| raw.dl_tensor.shape = std::ptr::null_mut(), ErrorKind::InvalidArgument, "no sizes"),
        // SAFETY: the one size of this test.
        (|raw| unsafe { *raw.dl_tensor.shape = -3 }, ErrorKind::InvalidArgument, "[-3]"),
    ];
    for (change, kind, text) in cases {
        let (raw, ended) = made(std::ptr::null_mut(), HOST, &[2], None, change);
        assert_says(&taken(raw).unwrap_err(), kind, &[text]);
        assert_eq!(ended.load(Ordering::SeqCst), 1, "{text}");
    }
}

#[test]
fn arrays_of_the_host_are_read_with_any_strides() {
    let mut data = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let data = data.as_mut_ptr().cast::<c_void>();
    let managed = |shape: &[i64], strides| taken(made(data, HOST, shape, strides, |_| {}).0).unwrap();
    assert_eq!(managed(&[2, 3], None).as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(managed(&[1, 6], Some(&[77, 1])).as_slice::<f32>().unwrap().len(), 6);
    let turned = managed(&[3, 2], Some(&[1, 3]));
    assert_says(&turned.as_slice::<f32>().unwrap_err(), ErrorKind::InvalidArgument, &["[3, 2]", "[1, 3]"]);
    assert_eq!(turned.to_vec::<f32>().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(managed(&[3], Some(&[0])).to_vec::<f32>().unwrap(), [1.0; 3]);
    assert_eq!(managed(&[], None).to_vec::<f32>().unwrap(), [1.0]);
    assert_says(&turned.to_vec::<i32>().unwrap_err(), ErrorKind::InvalidArgument, &["I32"]);
    let (raw, _) = made(data, NPU, &[2], None, |_| {});
    assert_says(&taken(raw).unwrap().as_slice::<f32>().unwrap_err(), ErrorKind::InvalidArgument, &["device 12:0"]);
    let (raw, _) = made(data, HOST, &[1], None, |raw| raw.dl_tensor.byte_offset = 1);
    assert_says(&taken(raw).unwrap().as_slice::<f32>().unwrap_err(), ErrorKind::InvalidArgument, &["aligned to 4"]);
    let (raw, _) = made(data, HOST, &[1], None, to_the_first_address);
    let error = taken(raw).unwrap().to_vec::<f32>().unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["beyond the last address"]);
}

#[test]
fn each_structure_goes_out_as_the_other_and_ends_what_it_keeps() {
    let (raw, ended) = made(std::ptr::null_mut(), HOST, &[2, 3], None, |raw| {
        raw.flags = DLManagedTensorVersioned::READ_ONLY;
        raw.dl_tensor.byte_offset = 8;
    });
    let old = taken(raw).unwrap().into_raw_unversioned();
    // SAFETY: a tensor of this crate, which nobody else has.
    let old = unsafe { Managed::from_raw_unversioned(old) }.unwrap();
    assert_eq!((old.shape(), old.strides()), (&[2, 3][..], Some(&[3, 1][..])));
    let same: *mut DLManagedTensor = old.into_raw_unversioned();
    // SAFETY: as above.
    let again = unsafe { Managed::from_raw_unversioned(same) }.unwrap().into_raw();
    // SAFETY: a live structure.
    let made = unsafe { &*again };
    assert_eq!((made.version.major, made.dl_tensor.byte_offset), (1, 8));
    let again = taken(again).unwrap();
    assert_eq!(ended.load(Ordering::SeqCst), 0);
    drop(again);
    assert_eq!(ended.load(Ordering::SeqCst), 1);
}

#[test]
fn own_tensors_go_out_when_their_work_is_done_and_come_back() {
    let _alone = mock::exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let tensor = device.upload_tensor(&[1_i64, 2, 3, 4, 5, 6], [2, 3]).unwrap();
    let mut sum = device.zeros::<i64>([2, 3]).unwrap();
    op::add(&stream, &tensor, &tensor, &mut sum).unwrap();
    let part = sum.narrow(1, 1..3).unwrap();
    let managed = part.to_dlpack().unwrap(); // waits for the sum
    assert_eq!(managed.device(), NPU);
    assert_eq!(managed.dtype(), DLDataType { code: 0, bits: 64, lanes: 1 });
    assert_eq!((managed.shape(), managed.strides()), (&[2, 2][..], Some(&[3, 1][..])));
    drop((part, sum));
    let again = managed.into_tensor(&device).unwrap().typed::<i64>().unwrap();
    assert_eq!(again.to_vec().unwrap(), [4, 6, 10, 12]);

    let blocked = AnyTensor::over(device.alloc::<u8>(512).unwrap(), op::DataType::F16, [16, 16]).unwrap();
    let blocked = blocked.with_format(Format::FRACTAL_NZ, [1, 1, 16, 16]).unwrap();
    assert_says(&blocked.to_dlpack().unwrap_err(), ErrorKind::InvalidArgument, &["strides alone"]);
    let small = AnyTensor::over(device.alloc::<u8>(8).unwrap(), ElementType::F8_E5M2, [8]).unwrap();
    assert_says(&small.to_dlpack().unwrap_err(), ErrorKind::InvalidArgument, &["no name"]);
    let refused = Managed::from_vec(vec![1_u8; 3], [2, 2]).unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["3 elements", "[2, 2]"]);
    assert_eq!(refused.into_value(), [1; 3]);
}
