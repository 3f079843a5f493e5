//! The same memory as elements of other types.

use racl::ErrorKind;

use crate::common::{assert_says, device};

#[test]
fn memory_is_the_same_under_another_type() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let address = buffer.address();
    let bits = buffer.slice(1..3).unwrap().cast::<u32>().unwrap().to_vec().unwrap();
    assert_eq!(bits, [2.0_f32.to_bits(), 3.0_f32.to_bits()]);
    stream.fill_words(&mut buffer.slice_mut(2..).unwrap().cast::<u32>().unwrap(), 7).unwrap();
    let mut buffer = buffer.cast::<u64>().unwrap();
    assert_eq!((buffer.address(), buffer.len()), (address, 2));
    assert_eq!(buffer.slice(1..).unwrap().to_vec().unwrap(), [7 << 32 | 7], "behind the fill");
    buffer.write(&[0, 1]).unwrap();
    let shared = buffer.into_shared();
    let last = shared.slice(1..).unwrap().cast::<u8>().unwrap();
    drop(shared);
    assert_eq!((last.len(), last.to_vec().unwrap()), (8, 1_u64.to_ne_bytes().to_vec()));
}

#[test]
fn what_is_no_whole_elements_is_not_cast() {
    let device = device();
    let buffer = device.upload(&[0_u8; 24]).unwrap();
    for range in [0..15, 8..24, 4..20] {
        let refused = buffer.slice(range).unwrap().cast::<u128>().map(drop).unwrap_err();
        assert_says(&refused, ErrorKind::InvalidArgument, &["no whole elements of 16 bytes"]);
    }
    assert_eq!(buffer.slice(..).unwrap().cast::<()>().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(buffer.slice(8..8).unwrap().cast::<u64>().unwrap().len(), 0);
    let back = buffer.cast::<[u8; 5]>().unwrap_err().into_value();
    assert_eq!(back.len(), 24);
}
