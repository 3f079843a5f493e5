//! Sizes, ranges and addresses that no memory has.

use std::ops::Bound;

use racl::op::AnyTensor;
use racl::{ErrorKind, Prefetch, Result};

use crate::arena::{Arena, Gate, refused};

const WRONG: &[ErrorKind] = &[ErrorKind::InvalidArgument, ErrorKind::OutOfMemory, ErrorKind::OperatorArgument];

#[test]
fn more_than_there_is_address_space() {
    let arena = Arena::new();
    let context = &arena.context;
    for len in [usize::MAX, usize::MAX / 2, isize::MAX as usize, 1 << 62, 1 << 48, usize::MAX - 63] {
        refused(context.alloc::<u8>(len), WRONG);
        refused(context.alloc_zeroed::<u64>(len), WRONG);
        refused(context.pinned::<u8>(len), WRONG);
        refused(context.empty::<f32>([len]), WRONG);
        refused(context.zeros::<f32>([len, 2]), WRONG);
    }
    arena.end();
}

#[test]
fn sizes_whose_product_wraps_round() {
    let arena = Arena::new();
    let context = &arena.context;
    refused(context.alloc::<u64>((1 << 61) + 1), WRONG);
    refused(context.alloc::<[u8; 4096]>((1 << 52) + 1), WRONG);
    refused(context.pinned::<u64>((1 << 61) + 1), WRONG);
    refused(context.zeros::<f32>([1 << 31, 1 << 31, 4]), WRONG);
    refused(context.zeros::<f32>([1 << 32, 1 << 32]), WRONG);
    refused(context.upload_tensor(&[1.0_f32; 4], [1 << 32, 1 << 32]), WRONG);
    refused(context.upload_tensor(&[1.0_f32; 4], [usize::MAX, 2, 4]), WRONG);
    arena.end();
}

/// AscendCL has no memory without bytes; the error says what to ask for.
#[test]
fn nothing_and_elements_without_a_size() {
    let arena = Arena::new();
    let context = &arena.context;
    let asked: [Result<()>; 7] = [
        context.alloc::<u8>(0).map(drop),
        context.alloc_zeroed::<u64>(0).map(drop),
        context.alloc::<()>(5).map(drop),
        context.alloc::<()>(usize::MAX).map(drop),
        context.pinned::<u8>(0).map(drop),
        context.zeros::<f32>([0, 3]).map(drop),
        context.upload::<u8>(&[]).map(drop),
    ];
    for refusal in asked {
        let error = refused(refusal, WRONG);
        assert!(error.to_string().contains("at least one element"), "{error}");
    }
    let buffer = context.upload(&[1_u8; 4]).unwrap().into_shared();
    let mut none = buffer.slice(2..2).unwrap();
    assert_eq!((none.len(), none.to_vec().unwrap()), (0, Vec::new()));
    let stream = arena.stream();
    let _ = stream.fill_bytes(&mut none, 9);
    let _ = stream.prefetch(&none, Prefetch::all());
    let _ = stream.copy(&buffer.slice(4..).unwrap(), &mut none);
    assert_eq!(buffer.to_vec().unwrap(), [1; 4]);
    drop((buffer, none, stream));
    arena.end();
}

#[test]
fn ranges_that_are_none() {
    let arena = Arena::new();
    let mut buffer = arena.context.upload(&[1_u32, 2, 3, 4]).unwrap();
    #[allow(clippy::reversed_empty_ranges)]
    let wrong = [3..2, 0..5, 5..5, 4..usize::MAX, usize::MAX..usize::MAX, usize::MAX..0];
    for range in wrong {
        refused(buffer.slice(range.clone()).map(drop), WRONG);
        refused(buffer.slice_mut(range).map(drop), WRONG);
    }
    refused(buffer.slice(..=4), WRONG);
    refused(buffer.slice(..=usize::MAX), WRONG);
    refused(buffer.slice((Bound::Excluded(usize::MAX), Bound::Unbounded)), WRONG);
    refused(buffer.slice((Bound::Excluded(3), Bound::Included(2))), WRONG);
    for middle in [5, usize::MAX] {
        refused(buffer.split_at(middle).map(drop), WRONG);
        refused(buffer.split_at_mut(middle).map(drop), WRONG);
    }
    let (all, none) = buffer.split_at_mut(4).unwrap();
    assert_eq!((all.len(), none.len()), (4, 0));
    assert_eq!(buffer.slice(4..).unwrap().len(), 0);
    assert_eq!(buffer.slice((Bound::Excluded(0), Bound::Included(1))).unwrap().to_vec().unwrap(), [2]);
    drop(buffer);
    arena.end();
}

#[test]
fn host_memory_of_another_length() {
    let arena = Arena::new();
    let (context, stream) = (&arena.context, arena.stream());
    let mut buffer = context.upload(&[1_u32; 8]).unwrap();
    refused(buffer.write(&[0; 7]), WRONG);
    refused(buffer.write(&[0; 9]), WRONG);
    refused(buffer.read(&mut [0; 9]), WRONG);
    refused(buffer.read(&mut []), WRONG);
    for len in [1, 7, 9] {
        let pinned = context.pinned_from(&vec![5_u32; len]).unwrap();
        let refusal = stream.upload(pinned, &mut buffer).unwrap_err();
        assert_eq!(**refusal.value(), vec![5; len][..]);
        refused::<()>(Err(refusal.into_error()), WRONG);
        let refusal = stream.download(&buffer, context.pinned(len).unwrap()).unwrap_err();
        refused::<()>(Err(refusal.into_error()), WRONG);
    }
    assert_eq!(buffer.to_vec().unwrap(), [1; 8]);
    drop((buffer, stream));
    arena.end();
}

#[test]
fn copies_onto_themselves_and_across() {
    let arena = Arena::new();
    let stream = arena.stream();
    let numbers: Vec<u32> = (0..64).collect();
    let mut buffer = arena.context.upload(&numbers).unwrap().into_shared();
    let mut same = buffer.slice(..).unwrap();
    let _ = stream.copy(&buffer, &mut same);
    stream.synchronize().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), numbers);
    let mut shifted = buffer.slice(16..48).unwrap();
    let from = buffer.slice(..32).unwrap();
    if stream.copy(&from, &mut shifted).is_ok() {
        // What such a copy leaves is somebody's choice, but all of it stays within its destination.
        let seen = buffer.to_vec().unwrap();
        assert_eq!((&seen[..16], &seen[48..]), (&numbers[..16], &numbers[48..]));
    }
    stream.fill_bytes(&mut buffer, 0).unwrap();
    assert_eq!(shifted.to_vec().unwrap(), [0; 32]);
    drop((buffer, same, shifted, from, stream));
    arena.end();
}

#[test]
fn slices_at_odd_addresses() {
    let arena = Arena::new();
    let stream = arena.stream();
    let bytes: Vec<u8> = (0..=255).collect();
    let mut buffer = arena.context.upload(&bytes).unwrap();
    for at in [1, 3, 31, 63, 65] {
        let slice = buffer.slice(at..at + 7).unwrap();
        assert_eq!(slice.to_vec().unwrap(), bytes[at..at + 7]);
        let mut to = arena.context.alloc_zeroed::<u8>(7).unwrap();
        match stream.copy(&slice, &mut to) {
            Ok(()) => assert_eq!(to.to_vec().unwrap(), bytes[at..at + 7]),
            Err(error) => drop(refused::<()>(Err(error), WRONG)),
        }
        let lent = stream.download(&slice, arena.context.pinned(7).unwrap()).unwrap();
        assert_eq!(*lent.wait().unwrap(), bytes[at..at + 7]);
    }
    stream.fill_bytes(&mut buffer.slice_mut(5..6).unwrap(), 99).unwrap();
    let mut expected = bytes;
    expected[5] = 99;
    assert_eq!(buffer.to_vec().unwrap(), expected);
    buffer.write(&expected).unwrap();
    drop((buffer, stream));
    arena.end();
}

#[test]
fn tensors_with_shapes_that_are_too_much() {
    let arena = Arena::new();
    let context = &arena.context;
    let tensor = context.upload_tensor(&[1.0_f32; 8], [2, 4]).unwrap();
    refused(tensor.reshaped([3, 3]), WRONG);
    refused(tensor.reshaped([1 << 63, 2]), WRONG);
    refused(tensor.reshaped([usize::MAX, usize::MAX]), WRONG);
    refused(tensor.transposed(0, 2), WRONG);
    refused(tensor.transposed(usize::MAX, 0), WRONG);
    #[allow(clippy::reversed_empty_ranges)]
    for range in [3..1, 0..5, usize::MAX..usize::MAX, 5..5] {
        refused(tensor.narrow(1, range), WRONG);
    }
    refused(tensor.narrow(2, 0..1), WRONG);
    let deep: Vec<usize> = vec![1; 100];
    refused(context.zeros::<f32>(&deep[..]), WRONG);
    assert_eq!(tensor.reshaped([8]).unwrap().to_vec().unwrap(), [1.0; 8]);
    drop(tensor);
    arena.end();
}

#[test]
fn tensors_over_memory_that_is_too_short() {
    let arena = Arena::new();
    let context = &arena.context;
    refused(racl::Tensor::over(context.alloc::<f32>(5).unwrap(), [2, 3]), WRONG);
    let buffer = || context.alloc_zeroed::<u8>(24).unwrap();
    let over = |shape: [usize; 2]| AnyTensor::over(buffer(), racl::op::DataType::F32, shape);
    refused(over([7, 1]), WRONG);
    refused(over([usize::MAX, 4]), WRONG);
    let tensor = over([2, 3]).unwrap();
    for (strides, offset) in [([4, 1], 0), ([3, 1], 1), ([usize::MAX, 1], 0), ([3, 2], 0), ([3, 1], usize::MAX)] {
        refused(tensor.strided(&strides, offset), WRONG);
    }
    refused(tensor.strided(&[1], 0), WRONG);
    drop(tensor);
    arena.end();
}

#[test]
fn prefetches_beyond_the_end() {
    let arena = Arena::new();
    let stream = arena.stream();
    let buffer = arena.context.alloc_zeroed::<u8>(100).unwrap();
    assert_eq!(stream.prefetch(&buffer, Prefetch::bytes(usize::MAX)).unwrap(), 100);
    assert_eq!(stream.prefetch(&buffer, Prefetch::bytes(usize::MAX).offset(60)).unwrap(), 40);
    for offset in [101, usize::MAX] {
        let done: Result<usize> = stream.prefetch(&buffer, Prefetch::bytes(1).offset(offset));
        match done {
            Ok(bytes) => assert_eq!(bytes, 0),
            Err(error) => drop(refused::<()>(Err(error), WRONG)),
        }
    }
    drop((buffer, stream));
    arena.end();
}

#[test]
fn writes_by_the_host_while_the_device_is_held() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut buffer = arena.context.alloc_zeroed::<u8>(8).unwrap();
    let gate = Gate::before(&stream);
    stream.fill_bytes(&mut buffer, 1).unwrap();
    // Waits for the device, so that its bytes are the last.
    gate.opens_during(|| buffer.write(&[2; 8])).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [2; 8]);
    drop((buffer, stream));
    arena.end();
}

#[test]
fn many_sizes_between_two_segments() {
    let arena = Arena::new();
    let stream = arena.stream();
    let mut held = Vec::new();
    for power in 0..24 {
        for len in [(1_usize << power) - 1, 1 << power, (1 << power) + 1].into_iter().filter(|&len| len > 0) {
            let mut buffer = arena.context.alloc::<u8>(len).unwrap();
            stream.fill_bytes(&mut buffer, power as u8).unwrap();
            held.push((power as u8, buffer));
        }
        if power % 3 == 0 {
            held.remove(0);
        }
    }
    stream.synchronize().unwrap();
    for (power, buffer) in &held {
        let bytes = buffer.to_vec().unwrap();
        assert!(bytes.iter().all(|byte| byte == power), "{power}");
    }
    drop((held, stream));
    arena.end();
}
