//! Communicators that come from other code, and go to it.

use std::sync::Arc;

use racl::collective::{Communicator, Reduction, RootInfo};
use racl::{CaptureMode, Device, ErrorKind};

use crate::alone;
use crate::common::{assert_says, device_at, mock};

fn one() -> (Device, Communicator) {
    let device = device_at(0);
    let root = RootInfo::new(device.context()).unwrap();
    let ranks = Communicator::new(device.context(), &root, 0, 1).unwrap();
    (device, ranks)
}

fn communicators() -> u64 {
    mock::live_handles().library_objects
}

#[test]
fn a_handle_moves_out_and_in_with_its_rank_and_name() {
    let (_acl, _alone) = alone();
    let before = communicators();
    let (device, ranks) = one();
    let name = ranks.name().to_owned();
    let raw = ranks.into_raw().unwrap();
    assert_eq!(communicators(), before + 1, "it is the program's");
    for call in ["HcclGetRankId", "HcclGetRankSize", "HcclGetCommName"] {
        mock::fail(call, 1, 2).unwrap();
        // SAFETY: the handle was given away above.
        let failed = unsafe { Communicator::from_raw(raw, &device) };
        assert!(failed.unwrap_err().to_string().contains(call));
        assert_eq!(communicators(), before + 1, "nobody has it");
    }
    // SAFETY: as above.
    let ranks = unsafe { Communicator::from_raw(raw, &device) }.unwrap();
    assert_eq!((ranks.rank(), ranks.size(), ranks.name()), (0, 1, &*name));
    let stream = device.stream().unwrap();
    let mut sum = device.upload(&[3, 4]).unwrap();
    ranks.all_reduce_in_place(&stream, &mut sum, Reduction::Sum).unwrap();
    assert_eq!(sum.to_vec().unwrap(), [3, 4]);
    drop(ranks);
    assert_eq!(communicators(), before);
    // SAFETY: null is asked about.
    let none = unsafe { Communicator::from_raw(std::ptr::null_mut(), &device) };
    assert_says(&none.unwrap_err(), ErrorKind::InvalidHandle, &["a null communicator"]);
}

#[test]
fn a_handle_does_not_go_while_something_uses_it() {
    let (_acl, _alone) = alone();
    let (device, ranks) = one();
    let stream = device.stream().unwrap();
    mock::hold(&stream).unwrap();
    ranks.barrier(&stream).unwrap();
    let refused = ranks.into_raw().unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["work that is not done"]);
    mock::release(&stream).unwrap();
    stream.synchronize().unwrap();
    let ranks = refused.into_value();
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| ranks.barrier(s)).unwrap();
    let refused = ranks.into_raw().unwrap_err();
    assert_says(refused.error(), ErrorKind::InvalidArgument, &["a graph uses"]);
    drop(graph);
    let ranks = refused.into_value();
    ranks.abort().unwrap();
    assert_eq!(ranks.into_raw().unwrap_err().error().kind(), ErrorKind::Aborted);
}

/// By whatever way this crate lets go of it.
#[test]
fn one_that_stays_with_other_code_is_not_destroyed_and_keeps_its_owner_until_work_is_done() {
    let (_acl, _alone) = alone();
    let (device, theirs) = one();
    let (before, raw) = (communicators(), theirs.as_raw());
    let owner = Arc::new(());
    // SAFETY: `theirs` lasts until the end of the test, and makes no call meanwhile.
    let shared = || unsafe { Communicator::from_raw_shared(raw, &device, Arc::clone(&owner)) }.unwrap();
    let ranks = shared();
    assert_eq!(Arc::strong_count(&owner), 2);
    let refused = ranks.into_raw().unwrap_err();
    assert_says(refused.error(), ErrorKind::NotSupported, &["stays with other code"]);
    refused.into_value().close().unwrap();
    let aborted = shared();
    aborted.abort().unwrap();
    drop(aborted);
    assert_eq!((Arc::strong_count(&owner), communicators()), (1, before));

    let stream = device.stream().unwrap();
    let ranks = shared();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| ranks.barrier(s)).unwrap();
    drop(ranks);
    graph.launch(&stream).unwrap();
    assert_eq!(Arc::strong_count(&owner), 2, "the graph has it");
    stream.synchronize().unwrap();
    graph.close().unwrap();
    assert_eq!((Arc::strong_count(&owner), communicators()), (1, before));
    theirs.barrier(&stream).unwrap();
    stream.synchronize().unwrap();
    theirs.close().unwrap();
}

struct Explodes;

impl Drop for Explodes {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

#[test]
fn an_owner_that_panics_harms_nobody() {
    let (_acl, _alone) = alone();
    let (device, theirs) = one();
    // SAFETY: `theirs` outlives the value, and makes no call meanwhile.
    let shared = unsafe { Communicator::from_raw_shared(theirs.as_raw(), &device, Explodes) }.unwrap();
    shared.close().unwrap();
    theirs.close().unwrap();
}
