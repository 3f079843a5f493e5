use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::Acl;
use crate::cache::CompileCache;
use crate::op::DataType::{self, F16, F32};
use crate::plan::Input;

fn abs(g: &Builder, name: &str, size: usize, dtype: DataType) -> Result<()> {
    let x = g.input(name, [size], dtype, Input::Copied)?;
    let y = g.abs(x)?;
    g.output("y", y)
}

/// A file under the right key whose plan takes other inputs than those stated, as no start would write it.
#[test]
fn a_stored_plan_with_other_inputs_is_named_and_built_again() {
    let device = Acl::mock().unwrap().device(0).unwrap();
    let root = tempfile::tempdir().unwrap();
    let mut inputs = Signature::new();
    inputs.input("x", [2], F32, Input::Copied).unwrap();
    let built = Cell::new(0);
    let work = |g: &Builder| {
        built.set(built.get() + 1);
        abs(g, "x", 2, F32)
    };
    let func = || {
        let cache = CompileCache::builder("Model").cache_dir(root.path().join("caches")).world_size(1).salt("tests");
        cache.verify(false).build().unwrap().func("abs").inputs(&inputs)
    };
    func().compile(&device, work).unwrap();
    let first = func();
    let key = first.key(device.context(), &closure_of(&work)).unwrap();
    let file = first.place(&key).path().join(entry::RECIPE);
    assert_eq!(built.get(), 1);
    let cases = [
        ("x", 3, F32, "argument \"x\": expected F32 [2] Copied, got F32 [3] Copied"),
        ("x", 2, F16, "argument \"x\": expected F32 [2] Copied, got F16 [2] Copied"),
        ("z", 2, F32, "argument \"x\": expected by the signature; the plan has \"z\""),
    ];
    for (name, size, dtype, text) in cases {
        let other = Plan::build(|g| abs(g, name, size, dtype)).unwrap();
        fs::write(&file, entry::join(&key.hash(), &other.recipe_hash(), &other.to_bytes())).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let func = func();
        let plan = func.compile(&device, work).unwrap();
        assert_eq!(Signature::of(&plan), inputs);
        let Some(Status::Rebuilt(why)) = func.status() else { panic!("{:?}", func.status()) };
        assert!(why.contains(text), "{why}");
    }
    assert_eq!(built.get(), 1 + cases.len());
    let last = func();
    last.compile(&device, work).unwrap();
    assert_eq!((last.status(), built.get()), (Some(Status::Hit), 1 + cases.len()));
}

fn closure_of<F>(_: &F) -> Closure {
    Closure::of::<F>()
}
