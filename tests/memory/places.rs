//! Where addresses lie.

use racl::{ErrorKind, PlaceKind};

use crate::common::{assert_says, device};
use crate::exclusive;

#[test]
fn an_address_tells_where_it_lies() {
    let _alone = exclusive();
    let device = device();
    let kind = |address: *const std::ffi::c_void| device.context().place_of(address).unwrap().kind;
    let memory = device.alloc::<u8>(100).unwrap();
    assert_eq!(kind(memory.slice(99..).unwrap().address()), PlaceKind::Device(0));
    let pinned = device.pinned::<u8>(100).unwrap();
    assert_eq!(kind(pinned.as_ptr().cast()), PlaceKind::Host);
    let own = vec![0_u64; 1000];
    assert_eq!(kind(own.as_ptr().cast()), PlaceKind::Unregistered);
    let pinned = device.pin(own).unwrap();
    assert_eq!(kind(pinned.as_ptr().cast()), PlaceKind::Host);
    let own = pinned.into_vec().unwrap();
    assert_eq!(kind(own.as_ptr().cast()), PlaceKind::Unregistered);
    let text = ["aclrtPointerGetAttributes"];
    assert_says(&device.context().place_of(std::ptr::null()).unwrap_err(), ErrorKind::InvalidArgument, &text);
}
