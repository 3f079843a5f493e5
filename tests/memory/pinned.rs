//! Vectors of the program that are pinned where they are.

use racl::ErrorKind;

use crate::common::{assert_says, device, mock};
use crate::exclusive;

#[test]
fn a_vector_is_pinned_in_place_and_given_back() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut vector = Vec::with_capacity(5000);
    vector.extend((0..4096_u32).map(|i| i * 3));
    let (address, capacity) = (vector.as_ptr(), vector.capacity());
    let pinned = device.pin(vector).unwrap();
    assert_eq!((pinned.as_ptr(), pinned.len()), (address, 4096));
    let mut memory = device.alloc::<u32>(4096).unwrap();
    let mut pinned = stream.upload(pinned, &mut memory).unwrap().wait().unwrap();
    pinned.fill(0);
    let pinned = stream.download(&memory, pinned).unwrap().wait().unwrap();
    let mut vector = pinned.into_vec().unwrap();
    assert_eq!((vector.as_ptr(), vector.capacity()), (address, capacity));
    assert!(vector.iter().enumerate().all(|(i, value)| *value == i as u32 * 3));
    vector.resize(100_000, 1); // the vector is the program's again, to grow and to free
    assert_eq!(vector[4095..4098], [4095 * 3, 1, 1]);
}

#[test]
fn memory_of_the_library_becomes_a_vector_by_a_copy() {
    let _alone = exclusive();
    let device = device();
    let pinned = device.pinned_from(&[1.5_f64, 2.5]).unwrap();
    let address = pinned.as_ptr();
    let vector = pinned.into_vec().unwrap();
    assert_eq!(vector, [1.5, 2.5]);
    assert_ne!(vector.as_ptr(), address);
}

#[test]
fn a_vector_without_elements_comes_back() {
    let _alone = exclusive();
    let device = device();
    let refused = device.pin(Vec::<u8>::with_capacity(9)).unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["zero bytes"]);
    assert!(refused.into_value().capacity() >= 9);
}

#[test]
fn what_the_library_refuses_comes_back() {
    let _alone = exclusive();
    let device = device();
    mock::fail("aclrtHostRegisterV2", 1, 207_000).unwrap();
    let refused = device.pin(vec![1_u8, 2, 3]).unwrap_err();
    assert_says(refused.error(), ErrorKind::NotSupported, &["aclrtHostRegisterV2", "pinning 3 bytes"]);
    let pinned = device.pin(refused.into_value()).unwrap();

    mock::fail("aclrtHostUnregister", 1, 107_000).unwrap();
    let refused = pinned.into_vec().unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["aclrtHostUnregister"]);
    assert_eq!(refused.into_value().into_vec().unwrap(), [1, 2, 3]);
}

#[test]
fn a_drop_that_fails_is_told_and_leaks() {
    let _alone = exclusive();
    let context = device().context().create_context().unwrap();
    let pinned = context.pin(vec![1_u64; 8]).unwrap();
    let (address, len) = (pinned.as_ptr(), pinned.len());
    mock::fail("aclrtHostUnregister", 1, 107_000).unwrap();
    drop(pinned);
    let errors = context.take_drop_errors();
    assert_eq!(errors.len(), 1);
    assert_says(&errors[0], ErrorKind::InvalidArgument, &["aclrtHostUnregister"]);
    // SAFETY: the memory is leaked, since the library may let the device use it still.
    assert_eq!(unsafe { std::slice::from_raw_parts(address, len) }, [1; 8]);
}

#[test]
fn a_vector_that_a_graph_has_goes_with_it() {
    let _alone = exclusive();
    let device = device();
    let stream = device.stream().unwrap();
    let mut memory = device.alloc::<u16>(2).unwrap();
    let mut lent = None;
    let mut graph = stream
        .capture(racl::CaptureMode::ThreadLocal, |s| {
            lent = Some(s.upload(device.pin(vec![3_u16, 4])?, &mut memory)?);
            Ok(())
        })
        .unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(memory.to_vec().unwrap(), [3, 4]);
    drop((graph, lent));
    // Pinned again at once: what was registered is so no more, wherever the allocator puts it.
    for _ in 0..100 {
        drop(device.pin(vec![3_u16, 4]).unwrap());
    }
}
