//! The beginning and the end of the library, in a process of their own.

mod common;

use std::path::Path;

use common::{assert_says, mock};
use racl::profiling::{CoreMetrics, DumpLevel, DumpOptions, DumpTensors};
use racl::sys::acldumpType;
use racl::{
    Acl, ErrorKind, ErrorScope, EventMode, FaultDetail, InitDump, InitOptions, InitProfiler, KernelOutput, TaskTimes,
    op,
};

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

/// A value that was leaked does not keep what was begun before a reset.
#[test]
fn a_reset_lets_the_next_value_begin_anew() {
    let _alone = mock::exclusive();
    reset();
    std::mem::forget(Acl::mock().unwrap());
    mock::reset().unwrap();
    let device = Acl::mock().unwrap().device(0).unwrap();
    assert_eq!(mock::calls("aclInit"), 1);
    let (stream, mut x) = (device.stream().unwrap(), device.alloc::<f32>(4).unwrap());
    mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
    stream.fill_bytes(&mut x, 0).unwrap();
    assert!(stream.synchronize().unwrap_err().task_failure().is_some());
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

/// Where the library dumps to.
fn dumps_to(acl: &Acl, kind: acldumpType) -> Option<String> {
    // SAFETY: the text stays until the configuration changes.
    let path = unsafe { acl.table().acldumpGetPath().unwrap()(kind) };
    // SAFETY: as above; null or a text.
    (!path.is_null()).then(|| unsafe { std::ffi::CStr::from_ptr(path) }.to_str().unwrap().to_owned())
}

#[test]
fn a_dump_of_the_options_has_what_operators_wrote() {
    let _alone = mock::exclusive();
    reset();
    let folder = tempfile::tempdir().unwrap();
    // What JSON writes otherwise.
    let odd = folder.path().join("a \"b\"\\c\t模");
    std::fs::create_dir(&odd).unwrap();
    let dump = DumpOptions::new(&odd).tensors(DumpTensors::All).level(DumpLevel::Operator).model("m", &["\"x\""]);
    let acl = Acl::mock_with(&InitOptions::new().dump(dump)).unwrap();
    let device = acl.device(0).unwrap();
    let (stream, x) = (device.stream().unwrap(), device.upload_tensor(&[1.0_f32, -2.0], [2]).unwrap());
    let mut y = device.zeros::<f32>([2]).unwrap();
    op::abs(&stream, &x, &mut y).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(std::fs::read_dir(&odd).unwrap().count(), 2);
}

#[test]
fn each_kind_of_dump_is_taken_and_other_kinds_leave_operands_alone() {
    let _alone = mock::exclusive();
    let folder = tempfile::tempdir().unwrap();
    let (path, text) = (folder.path().to_owned(), folder.path().to_str().unwrap().to_owned());
    let kinds = [
        (InitDump::Operands(DumpOptions::new(&path)), Some(acldumpType::DATA_DUMP)),
        (
            InitDump::Faults { detail: FaultDetail::Lite, folder: Some(path.clone()) },
            Some(acldumpType::AIC_ERR_BRIEF_DUMP),
        ),
        (
            InitDump::Faults { detail: FaultDetail::Normal, folder: Some(path.clone()) },
            Some(acldumpType::AIC_ERR_BRIEF_DUMP),
        ),
        (InitDump::Overflows { folder: path.clone() }, None),
        (InitDump::Kernels { folder: path.clone(), output: vec![KernelOutput::All] }, None),
        (
            InitDump::Watched { folder: path, watched: vec!["a".to_owned()], behind: vec!["b".to_owned()] },
            Some(acldumpType::DATA_DUMP),
        ),
    ];
    for (dump, which) in kinds {
        reset();
        let acl = Acl::mock_with(&InitOptions::new().dump(dump.clone())).unwrap();
        for kind in [acldumpType::DATA_DUMP, acldumpType::AIC_ERR_BRIEF_DUMP] {
            let want = (which == Some(kind)).then(|| text.clone());
            assert_eq!(dumps_to(&acl, kind), want, "{dump:?}: {kind:?}");
        }
    }
}

#[test]
fn texts_of_errors_are_those_of_the_scope() {
    let _alone = mock::exclusive();
    for (scope, is_told) in [(ErrorScope::Thread, false), (ErrorScope::Process, true)] {
        reset();
        let acl = Acl::mock_with(&InitOptions::new().errors(scope)).unwrap();
        let _device = acl.device(0).unwrap(); // a thread without a context is told of that
        let recent = acl.table().aclGetRecentErrMsg().unwrap();
        let fails = acl.table().aclrtSetDevice().unwrap();
        // SAFETY: a device that there is not.
        std::thread::spawn(move || assert_ne!(unsafe { fails(99) }, 0)).join().unwrap();
        // SAFETY: takes nothing; null where there is no text.
        assert_eq!(!unsafe { recent() }.is_null(), is_told, "{scope:?}");
    }
}

#[test]
fn options_that_have_no_effect_on_the_mock_are_taken_by_it() {
    let _alone = mock::exclusive();
    let profiler = InitProfiler::new("profiles").metrics(CoreMetrics::MemoryAccess).task_times(TaskTimes::Full);
    let options = [
        InitOptions::new().graph_events(EventMode::Memory),
        InitOptions::new().graph_events(EventMode::Hardware),
        InitOptions::new().profiler(profiler.storage_limit(200).marks(true)),
        InitOptions::new().thread_stack_bytes(1024).divergence_stack_bytes(512).thread_print_buffer_bytes(1 << 20),
    ];
    for options in options {
        reset();
        drop(Acl::mock_with(&options).unwrap());
    }
}

#[test]
fn what_the_library_would_not_take_is_refused_before_it_is_asked() {
    let _alone = mock::exclusive();
    reset();
    let folder = tempfile::tempdir().unwrap();
    let here = || DumpOptions::new(folder.path());
    let missing = folder.path().join("missing");
    let unnamed = InitDump::Watched { folder: folder.path().to_owned(), watched: Vec::new(), behind: Vec::new() };
    let silent = InitDump::Kernels { folder: folder.path().to_owned(), output: Vec::new() };
    let wrong = [
        (
            InitOptions::new().print_buffer_bytes(1),
            ErrorKind::InvalidArgument,
            "simd_printf_fifo_size_per_core of 1 bytes",
        ),
        (InitOptions::new().kept_operators(0), ErrorKind::InvalidArgument, "none is kept"),
        (InitOptions::new().profiler(InitProfiler::new("a$b")), ErrorKind::InvalidArgument, "\"a$b\""),
        (InitOptions::new().dump(here().steps(&[])), ErrorKind::InvalidArgument, "no iterations"),
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
        (InitOptions::new().dump(here().steps(&[5..=3])), ErrorKind::InvalidArgument, "the iterations 5 to 3"),
        (InitOptions::new().dump(here().statistics(&[])), ErrorKind::InvalidArgument, "no statistics"),
        (InitOptions::new().dump(here().model("", &[])), ErrorKind::InvalidArgument, "without a name"),
        (InitOptions::new().dump(unnamed), ErrorKind::InvalidArgument, "operators have names"),
        (InitOptions::new().dump(silent), ErrorKind::InvalidArgument, "nothing that kernels say"),
        (InitOptions::new().dump(not_unicode()), ErrorKind::InvalidArgument, "no Unicode"),
        (
            InitOptions::new().dump(InitDump::Overflows { folder: missing }),
            ErrorKind::File,
            "missing for a dump is not there",
        ),
    ];
    for (options, kind, want) in wrong {
        assert_says(&Acl::mock_with(&options).unwrap_err(), kind, &[want]);
    }
    assert_eq!(mock::calls("aclInit"), 0);
    drop(Acl::mock_with(&InitOptions::new().print_buffer_bytes(1).print_buffer_bytes(1024)).unwrap());
}

fn not_unicode() -> DumpOptions {
    use std::os::unix::ffi::OsStrExt as _;
    DumpOptions::new(Path::new(std::ffi::OsStr::from_bytes(b"/tmp/\xff")))
}
