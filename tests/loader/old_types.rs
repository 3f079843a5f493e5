//! Functions whose parameters changed, with a library that has the old ones: each gets what it takes.

use std::fs;
use std::sync::OnceLock;

use racl::op::DataType::F32;
use racl::plan::{Cores, Frozen, Input, Plan, Scope};
use racl::sys::{Release, aclrtDevResLimitType, symbol_info};
use racl::{Acl, CaptureMode, Device};

use crate::build::libraries;
use crate::load;

/// The functions that took other numbers or kinds of arguments, as they were. The first and the last go on to the
/// mock, the second tells what it was given.
const OLD: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

int aclmdlRIDebugJsonPrint(void *graph, const char *path) {
    int (*next)(void *, const char *, uint32_t) =
        (int (*)(void *, const char *, uint32_t))dlsym(RTLD_NEXT, "aclmdlRIDebugJsonPrint");
    return next(graph, path, 0);
}

int aclrtGetMemUsageInfo(uint32_t device, void *info, size_t count, size_t *written) {
    *written = 1000 * device + count;
    return info == NULL ? 0 : 100000;
}

int aclrtUnuseStreamResInCurrentThread(void) {
    int (*next)(void *) = (int (*)(void *))dlsym(RTLD_NEXT, "aclrtUnuseStreamResInCurrentThread");
    return next(NULL);
}
"#;

fn old() -> Acl {
    static PATH: OnceLock<std::path::PathBuf> = OnceLock::new();
    load(PATH.get_or_init(|| libraries().in_front("old_types.so", OLD))).unwrap()
}

#[test]
fn each_of_them_is_known_to_have_changed() {
    for (name, until) in [
        ("aclmdlRIDebugJsonPrint", Release::Cann9_0),
        ("aclrtGetMemUsageInfo", Release::Cann9_0),
        ("aclrtUnuseStreamResInCurrentThread", Release::Cann8_3),
    ] {
        let changes = symbol_info(name).unwrap().changes();
        assert_eq!(changes.iter().map(|change| change.until).collect::<Vec<_>>(), [until], "{name}");
    }
}

#[test]
fn a_trace_is_written_without_flags() {
    let trace = |device: &Device| {
        let stream = device.stream().unwrap();
        let mut buffer = device.alloc::<u8>(4).unwrap();
        let graph = stream.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1)).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        graph.write_trace(file.path()).unwrap();
        fs::read_to_string(file.path()).unwrap()
    };
    let text = trace(&old().device(0).unwrap());
    let tasks = serde_json::from_str::<serde_json::Value>(&text).unwrap();
    assert!(!tasks.as_array().unwrap().is_empty(), "{text}");
}

#[test]
fn the_device_is_passed_whatever_its_sign() {
    let acl = old();
    let function = acl.table().aclrtGetMemUsageInfo().unwrap();
    let mut written = 0;
    // SAFETY: this library's function takes a null pointer and writes one number.
    let code = unsafe { function(7, std::ptr::null_mut(), 42, &raw mut written) };
    assert_eq!((code, written), (0, 7042));
}

#[test]
fn core_limits_end_for_the_thread() {
    let device = old().device(0).unwrap();
    let main = device.stream().unwrap();
    let cores = || {
        let function = device.acl().table().aclrtGetResInCurrentThread().unwrap();
        let mut value = 0;
        // SAFETY: a place for one number.
        assert_eq!(unsafe { function(aclrtDevResLimitType::ACL_RT_DEV_RES_CUBE_CORE, &raw mut value) }, 0);
        value
    };
    let before = cores();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let y = g.scope_with("side", Scope::new().cores(Cores { cube: 1, vector: 1 }), |g| g.adds(x, 1.0))?;
        g.join("side")?;
        g.output("y", y)
    })
    .unwrap();
    let mut exe = plan.eager(&device, Frozen::new()).unwrap();
    let x = device.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
    let (input, output, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    exe.run(&main, bind.set(input, &x)).unwrap();
    assert_eq!(exe.output::<f32>(output).unwrap().to_vec().unwrap(), [2.0, 3.0]);
    assert!(before > 1);
    assert_eq!(cores(), before);
}
