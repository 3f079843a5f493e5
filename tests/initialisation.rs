//! The beginning and the end of the library, in a process of their own.

mod common;

use common::{assert_says, mock};
use racl::{Acl, ErrorKind, InitOptions};

fn reset() {
    common::needs_mock("it begins and ends the mock");
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

#[test]
fn options_reach_the_library_and_leave_no_file() {
    let _alone = mock::exclusive();
    reset();
    let folder = tempfile::tempdir().unwrap();
    // SAFETY: nothing else of this process reads the environment meanwhile: tests here run one at a time.
    unsafe { std::env::set_var("TMPDIR", folder.path()) };
    let options = InitOptions::new().stack_bytes(64 << 10).default_device(0).kept_operators(20);
    let acl = Acl::mock_with(&options).unwrap();
    let (mut bytes, limit) = (0, racl::sys::aclrtDeviceLimit::ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE);
    // SAFETY: a place for one number.
    assert_eq!(unsafe { acl.table().aclrtDeviceGetLimit().unwrap()(limit, &raw mut bytes) }, 0);
    assert_eq!(bytes, 64 << 10);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // The same again is the same library; without options it is whatever there is.
    let (same, any) = (Acl::mock_with(&options).unwrap(), Acl::mock().unwrap());
    assert_eq!(mock::calls("aclInit"), 1);
    let other = Acl::mock_with(&InitOptions::new()).unwrap_err();
    assert_says(&other, ErrorKind::AlreadyInitialized, &["by this crate, otherwise"]);
    drop((acl, same, any));
    reset();
    for (section, kind) in [("}", ErrorKind::File), ("\"x\"", ErrorKind::InvalidArgument)] {
        let wrong = Acl::mock_with(&InitOptions::new().section("profiler", section)).unwrap_err();
        assert_says(&wrong, kind, &["aclInit", "with mock-acl"]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    // SAFETY: as above.
    unsafe { std::env::set_var("TMPDIR", folder.path().join("missing")) };
    let unwritten = Acl::mock_with(&options).unwrap_err();
    assert_says(&unwritten, ErrorKind::File, &["cannot be written", "missing"]);
    // SAFETY: as above.
    unsafe { std::env::remove_var("TMPDIR") };
    reset();
    drop(Acl::mock_with(&InitOptions::new()).unwrap());
    drop(Acl::mock().unwrap());
}

#[test]
fn options_come_too_late_where_others_initialised() {
    let _alone = mock::exclusive();
    reset();
    let table = racl::sys::Table::mock();
    let (init, finalize) = (table.aclInit().unwrap(), table.aclFinalizeReference().unwrap());
    // SAFETY: null asks for the defaults.
    assert_eq!(unsafe { init(std::ptr::null()) }, 0);
    let late = Acl::mock_with(&InitOptions::new()).unwrap_err();
    assert_says(&late, ErrorKind::AlreadyInitialized, &["by other code"]);
    let acl = Acl::mock().unwrap();
    acl.device(0).unwrap().synchronize().unwrap();
    drop(acl);
    let mut left = u64::MAX;
    // SAFETY: a place for one number.
    assert_eq!(unsafe { finalize(&raw mut left) }, 0);
    assert_eq!(left, 0, "each reference of this crate was given back");
}
