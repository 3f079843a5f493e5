//! The library that the program is linked with (feature `link`).
#![cfg(feature = "link")]

mod common;

use racl::{Acl, op};

#[test]
fn the_linked_library_runs_operators() {
    if std::env::var_os("RACL_LIBRARY").is_some() {
        common::skipped("RACL_LIBRARY chooses another library");
        return;
    }
    let acl = Acl::init().unwrap();
    assert!(!acl.is_mock(), "the built-in mock was chosen by itself");
    assert_eq!(acl.library(), "the linked AscendCL library");
    let device = acl.device(0).unwrap();
    let stream = device.stream().unwrap();
    let one = device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut sum = device.zeros::<f32>([4]).unwrap();
    op::add_inplace(&stream, &mut sum, &one).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [1.0; 4]);
}
