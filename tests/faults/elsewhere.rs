//! What the scenarios do not call, or fails otherwise: some other test lets it fail, or why none does stands here.

use std::collections::BTreeSet;
use std::path::Path;

use crate::common::mock;
use racl::ErrorKind;
use racl::sys::aclCANNPackageName;
use racl::sys::{Library, Table};

use crate::injected::{BESIDE, calls};
use crate::models::is_of_models;
use crate::{Watch, collect_log};

/// Functions that no test lets fail, and why.
const NEVER: [(&str, &str); 10] = [
    ("AclSetTensorAddr", "the spelling of other releases, looked for where the mock has the plain one"),
    ("acldumpUnregCallback", "gives nothing"),
    ("aclprofDestroyStamp", "gives nothing"),
    ("aclprofDestroyStepInfo", "gives nothing"),
    ("aclrtGetDeviceIdFromExceptionInfo", "gives a number of the failure, and no code"),
    ("aclrtGetErrorCodeFromExceptionInfo", "as that"),
    ("aclrtGetStreamIdFromExceptionInfo", "as that"),
    ("aclrtGetTaskIdFromExceptionInfo", "as that"),
    ("aclrtGetThreadIdFromExceptionInfo", "as that"),
    (
        "aclrtSetExceptionInfoCallback",
        "of releases without the newer function, of which a failure is told in its place",
    ),
];

fn sources(folder: &Path, all: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            all.push(code.collect::<Vec<_>>().join("\n"));
        }
    }
}

fn all_of(folder: &str) -> Vec<String> {
    let mut all = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut all);
    all
}

/// Names in texts of functions that let calls fail.
fn failing(source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for function in source.split("\nfn ").filter(|text| text.contains("fail(") || text.contains("fails(")) {
        found.extend(function.split('"').skip(1).step_by(2).map(str::to_owned));
    }
    found
}

/// The funnels make the calls, by `name(`.
fn called(all: &[String], name: &str) -> bool {
    let call = format!(" {name}(");
    all.iter().any(|source| source.contains(&call))
}

#[test]
fn each_call_that_is_in_no_scenario_fails_in_another_test() {
    let _alone = mock::exclusive();
    collect_log();
    let in_scenario = calls(&Watch::start());
    let (code, tests) = (all_of("src"), all_of("tests"));
    let failing: BTreeSet<_> = tests.iter().flat_map(|source| failing(source)).collect();
    assert!(failing.contains("aclprofStop") && !failing.contains("aclrtGetTaskIdFromExceptionInfo"));
    // Collectives and models have lists of their own, which are held against the sources as well.
    let others = Table::names().filter(|(name, library)| *library != Library::Collectives && !is_of_models(name));
    let left_out = others.map(|(name, _)| name).filter(|name| {
        let is_operator = name.starts_with("aclnn") || name.ends_with("GetWorkspaceSize");
        !is_operator && !in_scenario.contains_key(name) && !BESIDE.contains(name) && called(&code, name)
    });
    let mut missing: Vec<_> = left_out.filter(|name| !failing.contains(*name)).collect();
    missing.sort_unstable();
    assert_eq!(missing, NEVER.map(|(name, _)| name), "no test lets them fail, or one does by now");
}

#[test]
fn a_version_of_a_package_that_cannot_be_had_is_told() {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let acl = racl::Acl::mock().unwrap();
    mock::fail("aclsysGetCANNVersion", 1, 507_000).unwrap();
    let error = acl.package_version(aclCANNPackageName::ACL_PKG_NAME_DRIVER).unwrap_err();
    assert_eq!((error.kind(), error.call()), (ErrorKind::Internal, Some("aclsysGetCANNVersion")));
    mock::clear_failures();
    // The mock has no such package.
    let after = acl.package_version(aclCANNPackageName::ACL_PKG_NAME_DRIVER).unwrap_err();
    assert_ne!(after.code(), Some(507_000), "{after}");
}
