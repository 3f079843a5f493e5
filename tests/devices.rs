//! What devices tell of themselves. Counts calls of the mock and lets some fail, so one test at a time.

mod common;

use common::assert_says;
use racl::{Acl, DeviceFeature, DeviceLink, DeviceStatus, ErrorKind, RunMode, mock};

fn alone(test: impl FnOnce(&Acl)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    test(&Acl::mock().unwrap());
    mock::clear_failures();
}

#[test]
fn a_device_tells_what_and_where_it_is() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        assert_eq!((device.cube_cores().unwrap(), device.vector_cores().unwrap()), (24, 48));
        assert!(device.ai_cpu_cores().unwrap() > 0);
        assert!(device.total_memory_bytes().unwrap() >= device.memory_info().unwrap().1 as u64);
        assert_eq!(device.npu_arch().unwrap(), 2201);
        assert!(!device.is_virtual().unwrap());
        assert_eq!(device.status().unwrap(), DeviceStatus::Normal);
        assert_eq!(device.stream_priorities().unwrap(), 0..=7);
        assert!(device.supports(DeviceFeature::TaskUpdate).unwrap());
        assert!(!device.supports(DeviceFeature::CrossDeviceQueues).unwrap());
        assert_eq!((device.logical_id().unwrap(), device.physical_id().unwrap()), (0, 0));
        assert_eq!(device.link_to(&device).unwrap(), DeviceLink::Hccs);
        let busy = device.utilization().unwrap();
        assert_eq!((busy.cube, busy.vector, busy.ai_cpu, busy.memory), (Some(0), Some(0), Some(0), None));
    });
}

#[test]
fn what_a_chip_does_not_have_is_not_supported() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        assert_says(&device.form_factor().unwrap_err(), ErrorKind::NotSupported, &["aclrtGetDeviceInfo", "207000"]);
        assert_says(&device.super_pod().unwrap_err(), ErrorKind::NotSupported, &["aclrtGetDeviceInfo"]);
    });
}

#[test]
fn a_device_is_found_at_its_place() {
    alone(|acl| {
        let place = acl.device(0).unwrap().pci_bus_id().unwrap();
        let found = acl.device_at(&place).unwrap();
        assert_eq!((found.id(), found.uuid().unwrap()), (0, *b"mock-acl device0"));
        assert_says(&acl.device_at("0000:01:00.0").unwrap_err(), ErrorKind::InvalidDevice, &["0000:01:00.0"]);
        for wrong in ["", "0000:c0:00", "0000:c0:00.0x", "nonsense"] {
            assert_eq!(acl.device_at(wrong).unwrap_err().kind(), ErrorKind::InvalidArgument, "{wrong:?}");
        }
        assert_says(&acl.device_at("0000\0").unwrap_err(), ErrorKind::InvalidArgument, &["a zero byte"]);
    });
}

#[test]
fn the_library_tells_where_it_runs_and_what_is_open() {
    alone(|acl| {
        assert_eq!(acl.run_mode().unwrap(), RunMode::Host);
        assert_eq!(acl.process_id().unwrap(), std::process::id());
        assert!(!acl.is_device_open(0).unwrap());
        let device = acl.device(0).unwrap();
        assert!(acl.is_device_open(0).unwrap());
        device.close().unwrap();
        assert!(!acl.is_device_open(0).unwrap());
        assert_eq!(acl.is_device_open(7).unwrap_err().kind(), ErrorKind::InvalidDevice);
    });
}

#[test]
fn a_device_reaches_itself_without_a_call() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        assert!(device.can_access_peer(&device).unwrap() && device.has_peer_access(&device).unwrap());
        assert_eq!(mock::calls("aclrtDeviceCanAccessPeer") + mock::calls("aclrtDevicePeerAccessStatus"), 0);
        assert_eq!(device.enable_peer_access(&device).unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(device.disable_peer_access(&device).unwrap_err().kind(), ErrorKind::InvalidArgument);
    });
}
