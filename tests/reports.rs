//! Reports of a process, for people who are to help.

mod common;

use std::sync::MutexGuard;

use common::{assert_says, mock};
use racl::ErrorKind;

/// One test at a time, on a mock with two devices.
fn alone() -> MutexGuard<'static, ()> {
    let alone = mock::exclusive();
    // SAFETY: the other tests wait, and nothing else of this program reads or writes the environment meanwhile.
    unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") };
    mock::reset().unwrap();
    alone
}

#[test]
fn a_report_has_the_library_the_devices_and_what_failed_last() {
    let _alone = alone();
    let device = common::device();
    let acl = device.acl();
    for id in 90..110 {
        acl.device(id).unwrap_err();
    }
    mock::fail("aclrtMalloc", 1, 507_000).unwrap();
    device.context().set_allocator(racl::Allocator::Direct);
    device.alloc::<u8>(100).unwrap_err();
    mock::clear_failures();
    let report = acl.report().to_string();
    let headings: Vec<_> = report.lines().filter(|line| !line.starts_with(' ')).collect();
    let want = [
        "racl",
        "library",
        "devices",
        "missing functions",
        "environment",
        "calls that failed last",
        "tasks that failed last",
        "the library's log",
    ];
    assert_eq!(headings, want);
    let part = |heading: &str| -> Vec<&str> {
        let lines = report.lines().skip_while(|line| *line != heading).skip(1);
        lines.take_while(|line| line.starts_with(' ')).collect()
    };
    assert_eq!(part("racl"), [format!("  {}", racl::BUILD)]);
    assert_eq!(part("library")[0].trim(), acl.library());
    assert!(part("library").iter().any(|line| line.contains(&acl.soc_name().unwrap())));
    let devices = part("devices");
    assert!(devices[0].starts_with("  number: ") && devices[1].starts_with("  device 0: Normal, "), "{devices:?}");
    assert_eq!(part("missing functions"), ["  none"]);
    let failed = part("calls that failed last");
    let mut calls = failed.iter().filter(|line| line.contains(" s ago: "));
    assert_eq!(calls.clone().count(), 16, "{failed:?}");
    assert!(calls.next_back().unwrap().contains("aclrtMalloc failed: internal error (507000)"));
    assert!(failed.iter().any(|line| line.contains("injected failure 507000")), "what the library said");
}

#[test]
fn a_report_that_cannot_be_asked_for_says_why_and_never_fails() {
    let _alone = alone();
    let acl = common::device().acl().clone();
    for call in ["aclrtGetVersion", "aclrtGetSocName", "aclrtQueryDeviceStatus", "aclrtGetMemInfo"] {
        mock::fail(call, 1, 507_000).unwrap();
    }
    let report = acl.report().to_string();
    mock::clear_failures();
    for says in ["runtime: not known: aclrtGetVersion failed", "chip: not known: aclrtGetSocName", "status not known"]
    {
        assert!(report.contains(says), "{says}: {report}");
    }
    mock::fail("aclrtGetDeviceCount", 1, 507_000).unwrap();
    assert!(acl.report().to_string().contains("number: not known: aclrtGetDeviceCount failed"));
    mock::clear_failures();
    let folder = tempfile::tempdir().unwrap();
    let refused = acl.report().write(folder.path().join("none/report.txt")).unwrap_err();
    assert_says(&refused, ErrorKind::File, &["a report cannot be written to", "none/report.txt"]);
    let path = folder.path().join("report.txt");
    acl.report().write(&path).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("calls that failed last"));
}

#[test]
fn a_report_leaves_devices_and_the_current_context_of_other_code_alone() {
    let _alone = alone();
    let device = common::device();
    let (acl, id) = (device.acl(), device.id());
    let other = (id + 1) % acl.device_count().unwrap() as i32;
    assert_ne!(other, id);
    let set = acl.table().aclrtSetDevice().unwrap();
    let (reset, asks) = (acl.table().aclrtResetDevice().unwrap(), acl.table().aclrtGetCurrentContext().unwrap());
    let current = || {
        let mut current = std::ptr::null_mut();
        // SAFETY: a place for one handle.
        assert_eq!(unsafe { asks(&raw mut current) }, 0);
        current
    };
    let own = device.stream().unwrap();
    acl.beside(|| {
        // SAFETY: takes a number.
        assert_eq!(unsafe { set(other) }, 0);
        let (before, calls) = (current(), mock::calls("aclrtSetDevice"));
        let report = acl.report().to_string();
        assert_eq!((current(), mock::calls("aclrtSetDevice")), (before, calls));
        assert!(report.contains(&format!("device {id}: Normal, ")), "{report}");
        assert!(report.contains(&format!("device {other}: open by other code")), "{report}");
        // SAFETY: takes a number; the reference is that of this test.
        assert_eq!(unsafe { reset(other) }, 0);
    })
    .unwrap();
    own.synchronize().unwrap();
}
