//! The beginning and the end of the library, in a process of their own.

mod common;

use common::assert_says;
use racl::{Acl, ErrorKind, mock};

fn reset() {
    mock::reset().unwrap();
    racl::set_end_on_drop(true);
}

#[test]
fn an_initialisation_that_fails_can_be_tried_again() {
    let _alone = mock::exclusive();
    reset();
    mock::fail("aclInit", 1, 507_000).unwrap();
    assert_says(&Acl::mock().unwrap_err(), ErrorKind::Internal, &["aclInit", "507000", "with mock-acl"]);
    let acl = Acl::mock().unwrap();
    acl.device(0).unwrap().synchronize().unwrap();
}

#[test]
fn the_last_value_ends_the_library_and_the_next_begins_it_again() {
    let _alone = mock::exclusive();
    reset();
    let acl = Acl::mock().unwrap();
    let device = acl.device(0).unwrap();
    drop((acl, Acl::mock().unwrap()));
    assert_eq!(mock::calls("aclFinalizeReference"), 0);
    drop(device);
    assert_eq!((mock::calls("aclInit"), mock::calls("aclFinalizeReference")), (1, 1));
    drop(Acl::mock().unwrap());
    assert_eq!((mock::calls("aclInit"), mock::calls("aclFinalizeReference")), (2, 2));
}

#[test]
fn an_end_that_fails_does_not_spoil_the_next_beginning() {
    let _alone = mock::exclusive();
    reset();
    mock::fail("aclFinalizeReference", 1, 507_000).unwrap();
    drop(Acl::mock().unwrap());
    let acl = Acl::mock().unwrap();
    acl.device(0).unwrap().synchronize().unwrap();
}

#[test]
fn a_library_that_others_initialised_is_used_and_left_to_them() {
    let _alone = mock::exclusive();
    reset();
    let table = racl::sys::Table::mock();
    let (init, finalize) = (table.aclInit().unwrap(), table.aclFinalizeReference().unwrap());
    // SAFETY: null asks for the defaults.
    assert_eq!(unsafe { init(std::ptr::null()) }, 0);
    let acl = Acl::mock().unwrap();
    acl.device(0).unwrap().synchronize().unwrap();
    drop(acl);
    // The reference of this test is still there to be given back.
    let mut left = u64::MAX;
    // SAFETY: a place for one number.
    assert_eq!(unsafe { finalize(&raw mut left) }, 0);
    assert_eq!(left, 0);
    // SAFETY: as above; one too many.
    assert_ne!(unsafe { finalize(&raw mut left) }, 0);
}

#[test]
fn a_device_that_cannot_be_opened_leaves_nothing_behind() {
    let _alone = mock::exclusive();
    reset();
    let acl = Acl::mock().unwrap();
    for call in ["aclrtSetDevice", "aclrtGetCurrentContext"] {
        mock::fail(call, 1, 507_000).unwrap();
        assert_says(&acl.device(0).unwrap_err(), ErrorKind::Internal, &[call, "507000"]);
    }
    assert_eq!(mock::calls("aclrtSetDevice") - 1, mock::calls("aclrtResetDevice"));
}

#[test]
fn closing_tells_how_the_end_went() {
    let _alone = mock::exclusive();
    reset();
    let acl = Acl::mock().unwrap();
    let device = acl.device(0).unwrap();
    let (acl, error) = acl.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::InvalidArgument, &["1 other values"]);
    drop(device);
    mock::fail("aclFinalizeReference", 1, 500_000).unwrap();
    let (acl, error) = acl.close().unwrap_err().into_parts();
    assert_says(&error, ErrorKind::Internal, &["aclFinalizeReference", "500000"]);
    acl.close().unwrap();
    assert_eq!(mock::calls("aclFinalizeReference"), 2);
}
