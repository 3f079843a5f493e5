//! What devices tell of themselves. Counts calls of the mock and lets some fail, so one test at a time.

mod common;

use common::{assert_says, mock};
use std::time::Duration;

use racl::{
    Acl, DeviceFeature, DeviceLink, DeviceStatus, ErrorKind, FaultKind, LibraryFeature, RunMode, SystemOption,
};

fn alone(test: impl FnOnce(&Acl)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    test(&common::acl());
    mock::clear_failures();
}

#[test]
fn a_device_tells_what_and_where_it_is() {
    common::needs_mock("it knows the card of the mock");
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
fn what_a_device_tells_holds_together() {
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let (free, total) = device.memory_info().unwrap();
        assert!(0 < free && free <= total, "{free} of {total} bytes");
        assert!(device.cube_cores().unwrap() > 0 && device.vector_cores().unwrap() > 0);
        assert!(device.l2_cache_bytes().unwrap() > 0);
        assert!(acl.soc_name().unwrap().starts_with("Ascend"));
        let (least, greatest) = device.stream_priorities().unwrap().into_inner();
        assert!(least < greatest);
        assert_eq!(acl.device_at(&device.pci_bus_id().unwrap()).unwrap().id(), 0);
        assert_eq!(acl.run_mode().unwrap(), RunMode::Host);
        assert_eq!(acl.process_id().unwrap(), std::process::id());
    });
}

#[test]
fn what_a_chip_does_not_have_is_not_supported() {
    common::needs_mock("it knows the card of the mock");
    alone(|acl| {
        let device = acl.device(0).unwrap();
        assert_says(&device.form_factor().unwrap_err(), ErrorKind::NotSupported, &["aclrtGetDeviceInfo", "207000"]);
        assert_says(&device.super_pod().unwrap_err(), ErrorKind::NotSupported, &["aclrtGetDeviceInfo"]);
    });
}

#[test]
fn a_device_is_found_at_its_place() {
    common::needs_mock("it knows the card of the mock");
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
    common::needs_mock("it knows the card of the mock");
    alone(|acl| {
        assert_eq!(acl.run_mode().unwrap(), RunMode::Host);
        assert_eq!(acl.process_id().unwrap(), std::process::id());
        for feature in [LibraryFeature::InfNan, LibraryFeature::Bf16, LibraryFeature::JitCompile] {
            assert!(acl.supports(feature).unwrap(), "{feature:?}");
        }
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

/// A device after work of it failed with this code.
fn broken(acl: &Acl, code: i32) -> racl::Device {
    let device = acl.device(0).unwrap();
    let stream = device.stream().unwrap();
    let mut buffer = device.alloc::<u8>(4).unwrap();
    mock::fail_task("aclrtMemsetAsync", 1, code).unwrap();
    stream.fill_bytes(&mut buffer, 1).unwrap();
    stream.synchronize().unwrap_err();
    device
}

#[test]
fn a_fault_of_memory_is_told_until_it_is_repaired() {
    common::needs_the_card_alone("it aborts a device");
    alone(|acl| {
        assert_eq!(acl.device(0).unwrap().fault().unwrap(), None);
        let device = broken(acl, 507_053);
        let fault = device.fault().unwrap().unwrap();
        assert_eq!((fault.kind(), fault.is_repairable(), fault.memory()), (FaultKind::Memory, true, &[][..]));
        mock::fail("aclrtRepairError", 1, 507_899).unwrap();
        assert_says(&device.repair(&fault).unwrap_err(), ErrorKind::Driver, &["aclrtRepairError"]);
        assert!(device.fault().unwrap().is_some());
        device.abort_device(Duration::from_secs(1)).unwrap();
        device.repair(&fault).unwrap();
        assert_eq!(device.fault().unwrap(), None);
    });
}

#[test]
fn errors_of_memory_are_told_and_repaired_once_work_is_ended() {
    common::needs_the_card_alone("it aborts a device");
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let stream = device.stream().unwrap();
        let mut buffer = device.alloc::<u8>(4096).unwrap();
        let at = buffer.address().addr();
        mock::set_memory_errors(0, &[(at, 64), (at + 128, 1)]).unwrap();
        let errors = device.memory_errors().unwrap();
        let ranges: Vec<_> =
            errors.iter().map(|error| (error.device(), error.address(), error.size_bytes())).collect();
        assert_eq!(ranges, [(0, at, 64), (0, at + 128, 1)]);
        mock::hold(&stream).unwrap();
        let event = device.event().unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        event.record(&stream).unwrap();
        device.abort_device(Duration::from_secs(1)).unwrap();
        mock::release(&stream).unwrap();
        assert_eq!(event.synchronize().unwrap_err().kind(), ErrorKind::Aborted);
        mock::fail("aclrtMemUceRepair", 1, 507_899).unwrap();
        assert_says(&device.repair_memory(&errors).unwrap_err(), ErrorKind::Driver, &["aclrtMemUceRepair"]);
        assert_eq!(device.memory_errors().unwrap(), errors, "a repair that failed repairs nothing");
        device.repair_memory(&errors[..1]).unwrap();
        assert_eq!(device.memory_errors().unwrap(), errors[1..]);
        let refused = device.repair_memory(&errors).unwrap_err();
        assert_says(&refused, ErrorKind::InvalidArgument, &["aclrtMemUceRepair", "a range without an error"]);
        device.repair_memory(&errors[1..]).unwrap();
        assert_eq!(device.memory_errors().unwrap(), []);
        // Both go on.
        stream.fill_bytes(&mut buffer, 3).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [3; 4096]);
    });
}

#[test]
fn a_fault_of_memory_names_the_ranges_and_its_repair_repairs_them() {
    common::needs_the_card_alone("it aborts a device");
    alone(|acl| {
        mock::set_memory_errors(0, &[(4096, 64)]).unwrap();
        assert_eq!(acl.device(0).unwrap().fault().unwrap(), None, "nothing used the memory");
        let device = broken(acl, 507_053);
        let fault = device.fault().unwrap().unwrap();
        assert_eq!((fault.kind(), fault.memory()), (FaultKind::Memory, &device.memory_errors().unwrap()[..]));
        assert_eq!(fault.memory()[0].address(), 4096);
        device.abort_device(Duration::from_secs(1)).unwrap();
        device.repair(&fault).unwrap();
        assert_eq!((device.fault().unwrap(), device.memory_errors().unwrap()), (None, Vec::new()));
    });
}

#[test]
fn memory_errors_that_the_mock_cannot_have_are_refused() {
    alone(|_| {
        for (device, errors) in
            [(-1, vec![(1, 1)]), (99, vec![(1, 1)]), (0, vec![(1, 1); 129]), (0, vec![(1, 1), (5, 0)])]
        {
            let refused = mock::set_memory_errors(device, &errors).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
        }
    });
}

#[test]
fn a_fault_of_a_core_cannot_be_repaired() {
    alone(|acl| {
        let device = broken(acl, 507_015);
        let fault = device.fault().unwrap().unwrap();
        assert_eq!((fault.kind(), fault.is_repairable()), (FaultKind::Core, false));
        assert_says(&device.repair(&fault).unwrap_err(), ErrorKind::NotSupported, &["aclrtRepairError", "207000"]);
        assert_eq!(device.memory_errors().unwrap(), []);
        device.repair_memory(&[]).unwrap();
        assert_eq!(mock::calls("aclrtMemUceRepair"), 0);
    });
}

#[test]
fn a_reset_by_force_ends_the_references_of_others() {
    common::needs_the_card_alone("it resets a device");
    alone(|acl| {
        let (table, device) = (acl.table(), acl.device(0).unwrap());
        // SAFETY: takes a number.
        assert_eq!(unsafe { table.aclrtSetDevice().unwrap()(0) }, 0);
        let stream = device.stream().unwrap();
        // SAFETY: nobody else uses the device.
        let refused = unsafe { device.close_by_force() }.unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["still belong to the context"]);
        drop(stream);
        mock::fail("aclrtResetDeviceForce", 1, 507_000).unwrap();
        // SAFETY: as above.
        let refused = unsafe { refused.into_value().close_by_force() }.unwrap_err();
        assert_says(refused.error(), ErrorKind::Internal, &["aclrtResetDeviceForce"]);
        assert!(acl.is_device_open(0).unwrap());
        // SAFETY: as above.
        unsafe { refused.into_value().close_by_force() }.unwrap();
        assert!(!acl.is_device_open(0).unwrap());
        acl.device(0).unwrap().stream().unwrap().synchronize().unwrap();
    });
}

#[test]
fn options_are_of_a_context_or_of_the_process() {
    alone(|acl| {
        let context = acl.device(0).unwrap().context().create_context().unwrap();
        for option in [SystemOption::Deterministic, SystemOption::DebugKernels, SystemOption::StrongConsistency] {
            assert_eq!((context.option(option).unwrap(), acl.option(option).unwrap()), (None, false));
            context.set_option(option, false).unwrap();
            acl.set_option(option, true).unwrap();
            assert_eq!((context.option(option).unwrap(), acl.option(option).unwrap()), (Some(false), true));
        }
        let early = context.set_option(SystemOption::EarlyStart, true).unwrap_err();
        assert_eq!(early.kind(), ErrorKind::InvalidArgument);
        acl.set_option(SystemOption::EarlyStart, true).unwrap();
        assert!(acl.option(SystemOption::EarlyStart).unwrap());
    });
}

#[test]
fn limits_of_time_are_in_the_steps_of_the_library() {
    common::needs_mock("it uses mock::now");
    alone(|acl| {
        let device = acl.device(0).unwrap();
        let context = device.context();
        let longest = context.set_operator_limit(None).unwrap();
        let some = context.set_operator_limit(Some(Duration::from_millis(1))).unwrap();
        assert!(some >= Duration::from_millis(1) && some < longest, "{some:?} of {longest:?}");
        for none in [Duration::ZERO, Duration::from_nanos(999)] {
            assert_eq!(context.set_operator_limit(Some(none)).unwrap_err().kind(), ErrorKind::InvalidArgument);
        }
        assert_eq!(acl.set_wait_limit(Some(Duration::ZERO)).unwrap_err().kind(), ErrorKind::InvalidArgument);
        acl.set_wait_limit(Some(Duration::from_millis(1))).unwrap();
        let (held, waits, event) = (device.stream().unwrap(), device.stream().unwrap(), device.event().unwrap());
        mock::hold(&held).unwrap();
        event.record(&held).unwrap();
        waits.wait(&event).unwrap();
        let begun = mock::now();
        assert_eq!(waits.synchronize().unwrap_err().kind(), ErrorKind::Timeout);
        assert!(mock::now() - begun >= Duration::from_secs(1), "a whole second");
        mock::release(&held).unwrap();
        acl.set_wait_limit(None).unwrap();
    });
}
