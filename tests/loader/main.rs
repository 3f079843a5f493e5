//! Libraries that are found when the program runs, made from the mock for these tests, and the mock inside the
//! program.
#![cfg(all(target_os = "linux", feature = "dlopen"))]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/watchdog.rs"]
mod watchdog;

mod build;
// With the feature `link` the library that the program is linked with comes before the search, and the children do
// not start without it.
#[cfg(not(feature = "link"))]
mod child;
mod choices;
mod controls;
mod files;
mod foreign_memory;
mod host_functions;
mod kernels;
mod marks;
mod mixed;
mod old_types;
mod once;
mod passes;
mod releases;
mod strangers;
mod wrong;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use build::{Libraries, libraries};
use common::assert_says;
use racl::collective::{Communicator, RootInfo};
use racl::sys::{Library, Table};
use racl::{Acl, Allocator, CaptureMode, ErrorKind, Prefetch, Result, mock, op};

fn load(path: &Path) -> Result<Acl> {
    // SAFETY: a library made for these tests.
    unsafe { Acl::init_from(path) }
}

/// An operator, through whatever library.
fn add(acl: &Acl) -> Result<Vec<f32>> {
    let device = acl.device(0)?;
    let stream = device.stream()?;
    let a = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3])?;
    let mut out = device.zeros([3])?;
    op::add(&stream, &a, &a, &mut out)?;
    out.to_vec()
}

#[test]
fn a_loaded_library_is_used_and_has_a_state_of_its_own() {
    let _alone = mock::exclusive();
    let acl = load(&libraries().full).unwrap();
    assert!(!acl.is_mock());
    assert_eq!(acl.library(), libraries().full.display().to_string());
    let before = mock::calls("aclnnAdd");
    assert_eq!(add(&acl).unwrap(), [2.0, 4.0, 6.0]);
    assert_eq!(mock::calls("aclnnAdd"), before, "the mock inside the program was called");
    assert_eq!(add(&Acl::mock().unwrap()).unwrap(), [2.0, 4.0, 6.0]);
    assert_eq!(mock::calls("aclnnAdd"), before + 1);
}

#[test]
fn a_loaded_library_records_graphs() {
    let device = load(&libraries().full).unwrap().device(0).unwrap();
    let stream = device.stream().unwrap();
    let mut buffer = device.upload(&[0_u8; 4]).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 6)).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [0; 4]);
    graph.launch(&stream).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [6; 4]);
}

#[test]
fn a_function_that_the_library_lacks_is_named_when_it_is_needed() {
    let path = &libraries().without_cmo;
    let acl = load(path).unwrap();
    assert!(acl.table().has("aclrtMalloc") && !acl.table().has("aclrtCmoAsync"));
    let device = acl.device(0).unwrap();
    let stream = device.stream().unwrap();
    let buffer = device.upload(&[1_u8; 64]).unwrap();
    let error = stream.prefetch(&buffer, Prefetch::all()).unwrap_err();
    let place = path.display().to_string();
    assert_says(&error, ErrorKind::MissingSymbol, &["aclrtCmoAsync is not in", &place]);
    stream.synchronize().unwrap();
    assert_eq!(add(&acl).unwrap(), [2.0, 4.0, 6.0]);
}

#[test]
fn memory_that_cannot_grow_comes_in_segments() {
    let device = load(&libraries().without_ranges).unwrap().device(0).unwrap();
    let context = device.context().create_context().unwrap();
    context.set_allocator(Allocator::Growing);
    let buffer = context.upload(&[3_u8; 64]).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [3; 64]);
    // A page less one unit, where a range has whole pages.
    assert_eq!(context.memory_stats().reserved.now, (2 << 20) - 512);
}

#[test]
fn a_missing_function_spoils_only_the_graph_that_needs_it() {
    let device = load(&libraries().without_cmo).unwrap().device(0).unwrap();
    let stream = device.stream().unwrap();
    let buffer = device.upload(&[1_u8; 64]).unwrap();
    let error =
        stream.capture(CaptureMode::ThreadLocal, |s| s.prefetch(&buffer, Prefetch::all()).map(|_| ())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MissingSymbol, "{error}");
    stream.capture(CaptureMode::ThreadLocal, |_| Ok(())).unwrap().launch(&stream).unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn updates_of_a_plan_are_whole_on_a_library_without_repeatable_executors() {
    use racl::op::DataType::F32;
    use racl::plan::{Frozen, Input, Plan};

    let Libraries { full, without_addresses, older_addresses, without_repetition, .. } = libraries();
    let mut cases = vec![(full, 2), (older_addresses, 2), (without_addresses, 0), (without_repetition, 0)];
    if Table::load().is_ok() {
        common::skipped("an installed toolkit has the functions that shall be missing");
        cases.truncate(1);
    }
    for (path, by_address) in cases {
        let device = load(path).unwrap().device(0).unwrap();
        let stream = device.stream().unwrap();
        let plan = Plan::build(|g| {
            let x = g.input("x", [2], F32, Input::Updatable)?;
            let y = g.muls(x, 2.0)?;
            g.output("y", y)
        });
        let mut exe = plan.unwrap().capture(&device, Frozen::new()).unwrap();
        let (x, y) = (exe.input("x").unwrap(), exe.output_id("y").unwrap());
        let mut bind = exe.bindings();
        let values = [1.0_f32, 2.0, 3.0, 4.0];
        let memory = values.map(|value| device.upload_tensor(&[value; 2], [2]).unwrap());
        for (value, memory) in values.iter().zip(&memory) {
            exe.run(&stream, bind.set(x, memory)).unwrap();
            assert_eq!(exe.output::<f32>(y).unwrap().to_vec().unwrap(), [2.0 * value; 2], "{}", path.display());
        }
        let counters = exe.counters();
        assert_eq!((counters.updates, counters.updates_by_address), (3, by_address), "{}", path.display());
        assert!(device.context().take_drop_errors().is_empty());
    }
}

#[test]
fn older_releases_are_ended_plainly_and_have_a_default_stream_without_a_handle() {
    for _ in 0..2 {
        let acl = load(&libraries().old).unwrap();
        let device = acl.device(0).unwrap();
        let default = device.default_stream().unwrap();
        assert!(default.as_raw().is_null());
        let mut buffer = device.alloc::<u8>(4).unwrap();
        default.fill_bytes(&mut buffer, 3).unwrap();
        default.synchronize().unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [3; 4]);
        let stream = device.stream().unwrap();
        let mut graph = stream.capture(CaptureMode::Relaxed, |_| Ok(())).unwrap();
        assert_says(&graph.launch(&default).unwrap_err(), ErrorKind::NotSupported, &["default stream"]);
    }
}

#[test]
fn operators_are_looked_for_in_the_libraries_beside_the_runtime() {
    if Table::load().is_ok() {
        return common::skipped("an installed toolkit has the operators that shall be missing");
    }
    let alone = load(&libraries().runtime).unwrap();
    let error = add(&alone).unwrap_err();
    assert_says(&error, ErrorKind::MissingSymbol, &["aclnnAddGetWorkspaceSize is not in", "runtime.so"]);
    // SAFETY: a library made for these tests.
    let together = unsafe { Table::load_from(&libraries().with_sibling) }.unwrap();
    assert!(together.has("aclnnAdd") && together.has("aclnnSoftmaxGetWorkspaceSize"));
}

#[test]
fn a_program_for_one_card_needs_no_libhccl() {
    if Table::load().is_ok() {
        return common::skipped("an installed toolkit has the library that shall be missing");
    }
    let acl = load(&libraries().bare).unwrap();
    let device = acl.device(0).unwrap();
    device.stream().unwrap().synchronize().unwrap();
    let error = RootInfo::new(&device).unwrap_err();
    let beside = libraries().bare.with_file_name("libhccl.so").display().to_string();
    assert_says(
        &error,
        ErrorKind::LibraryNotFound,
        &["HcclGetRootInfo is not in", &beside, "libhccl.so of the CANN"],
    );
    let error = Communicator::all(&[&device]).unwrap_err();
    assert_says(&error, ErrorKind::LibraryNotFound, &["HcclCommInitAll"]);
    let error = device.context().collective_determinism().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LibraryNotFound);
    // Where it is beside the runtime it is found.
    // SAFETY: a library made for these tests.
    let together = unsafe { Table::load_from(&libraries().with_sibling) }.unwrap();
    assert!(!together.is_found(Library::Collectives));
    assert!(together.has("HcclAllReduce") && together.is_found(Library::Collectives));
}

#[test]
fn libraries_of_operators_that_do_not_open_are_named_with_the_reason() {
    if Table::load().is_ok() {
        return common::skipped("an installed toolkit has the operators that shall be missing");
    }
    let folder = libraries().folder.join("broken");
    fs::create_dir_all(&folder).unwrap();
    let [runtime, base, operators] =
        ["libascendcl.so", "libnnopbase.so", "libopapi.so"].map(|name| folder.join(name));
    fs::copy(&libraries().bare, &runtime).unwrap();
    fs::write(&base, "not a library\n").unwrap();
    libraries().needing_another(&operators);
    // SAFETY: a library made for these tests.
    let table = unsafe { Table::load_from(&runtime) }.unwrap();
    assert_eq!(table.not_opened(Library::OperatorBase), [""; 0], "nothing was looked for yet");
    let [runtime, base, operators] = [&runtime, &base, &operators].map(|path| path.display().to_string());
    let base = format!("{base} does not open: it is no ELF file");
    let said = table.aclCreateScalar().unwrap_err().to_string();
    assert_eq!(said, format!("aclCreateScalar is not in {runtime} ({base})"));
    assert_eq!(table.not_opened(Library::OperatorBase), [base]);
    let operators = format!("{operators} does not open: libother-racl.so: cannot open shared object file");
    let said = table.aclnnAdd().unwrap_err().to_string();
    assert!(said.starts_with(&format!("aclnnAdd is not in {runtime} ({operators}")), "{said}");
    // A family without any file.
    let said = table.aclopCompile().unwrap_err().to_string();
    assert_eq!(said, format!("aclopCompile is not in {runtime} (not found: libacl_op_compiler.so)"));
}

#[test]
fn the_libraries_that_were_searched_are_all_named() {
    if Table::load().is_ok() {
        return common::skipped("an installed toolkit has the operator that shall be missing");
    }
    // SAFETY: a library made for these tests.
    let together = unsafe { Table::load_from(&libraries().with_sibling) }.unwrap();
    let said = together.aclnnAddV3().unwrap_err().to_string();
    let runtime = libraries().with_sibling.display().to_string();
    let operators = libraries().with_sibling.with_file_name("libopapi.so");
    let operators = operators.display();
    assert_eq!(said, format!("aclnnAddV3 is not in {runtime} or {operators}: it came after CANN 8.1"));
}

#[test]
fn the_mock_inside_the_program_has_every_function_of_the_table() {
    let table = Table::mock();
    let missing: Vec<_> = Table::names().map(|(name, _)| name).filter(|name| !table.has(name)).collect();
    assert!(missing.is_empty(), "{} missing: {missing:?}", missing.len());
    assert!(table.is_mock());
    assert!(!table.has("aclrtNoSuchCall"));
}

#[test]
fn names_are_unique() {
    let names: Vec<_> = Table::names().map(|(name, _)| name).collect();
    assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len());
}

#[test]
fn the_mock_inside_the_program_defines_no_name_of_ascendcl() {
    let program = std::env::current_exe().unwrap();
    let listed = match Command::new("nm").arg("--defined-only").arg(program).output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
        other => {
            let _ = writeln!(std::io::stderr(), "SKIPPED, nm does not work: {other:?}");
            return;
        }
    };
    // Symbols with a small letter stay inside their object file.
    let defined: BTreeSet<_> = listed
        .lines()
        .filter_map(|line| <[&str; 3]>::try_from(line.split_whitespace().collect::<Vec<_>>()).ok())
        .filter(|[_, kind, _]| kind.chars().all(|c| c.is_ascii_uppercase()))
        .map(|[_, _, name]| name)
        .collect();
    // Hidden, so that it stays inside the program.
    assert!(listed.lines().any(|line| line.ends_with(" racl_mock_aclInit")), "the mock is not in the program");
    assert!(!defined.iter().any(|name| name.starts_with("mock_acl_")), "{defined:?}");
    let clashes: Vec<_> = Table::names().map(|(name, _)| name).filter(|name| defined.contains(name)).collect();
    assert!(clashes.is_empty(), "{clashes:?}");
    let acl: Vec<_> = defined.iter().filter(|name| name.starts_with("acl")).collect();
    assert!(acl.is_empty(), "{acl:?}");
}
