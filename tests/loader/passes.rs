//! Passes for a library that lacks what they would make.

use racl::op::DataType::F32;
use racl::plan::{Builder, Executable, Frozen, Input, Optimised, PassMode, Passes, Plan};
use racl::sys::Table;
use racl::{Acl, ErrorKind, Result, mock};

use crate::build::libraries;
use crate::common::assert_says;
use crate::load;

fn norm(g: &Builder) -> Result<()> {
    let x = g.input("x", [2, 2], F32, Input::Copied)?;
    let w = g.constant(&[2.0_f32, 4.0], [2])?;
    let y = g.layer_norm(g.add(x, x)?, w, w, 1e-5)?;
    g.output("y", y)
}

fn run(acl: &Acl, better: &Optimised) -> Result<Vec<f32>> {
    let device = acl.device(0)?;
    let mut exe: Executable = better.plan.capture(&device, Frozen::new())?;
    let x = device.upload_tensor(&[1.0_f32, 3.0, -5.0, -9.0], [2, 2])?;
    let mut bind = exe.bindings();
    bind.set(exe.input("x")?, &x);
    exe.run(&device.stream()?, &mut bind)?;
    exe.output::<f32>(exe.output_id("y")?)?.to_vec()
}

#[test]
fn a_library_without_an_operator_runs_what_passes_made_for_it() {
    if Table::load().is_ok() {
        return crate::common::skipped("an installed toolkit has the operator that shall be missing");
    }
    let _alone = mock::exclusive();
    let older = libraries().with_code("passes/older.so", "", &["aclnnAddLayerNormGetWorkspaceSize"]);
    let (older, newer) = (load(&older).unwrap(), load(&libraries().full).unwrap());
    let plan = Plan::build(norm).unwrap();
    let passes = Passes::new().fused_norms(PassMode::On);
    for (acl, operators) in [(&older, 2), (&newer, 1)] {
        let better = plan.optimise(&passes.for_library(acl)).unwrap();
        assert_eq!(better.plan.operators(), operators, "{better}");
        for (got, wanted) in run(acl, &better).unwrap().into_iter().zip([0.0_f32, 8.0, 4.0, 0.0]) {
            assert!((got - wanted).abs() < 1e-4, "{got} for {wanted}");
        }
    }
    // Without a word about it the executable is not made, and the library goes on.
    let error = run(&older, &plan.optimise(&passes).unwrap()).unwrap_err();
    assert_says(&error, ErrorKind::MissingSymbol, &["aclnnAddLayerNormGetWorkspaceSize"]);
    assert_eq!(crate::add(&older).unwrap(), [2.0, 4.0, 6.0]);
    // The last word counts.
    let better = plan.optimise(&passes.for_library(&older).for_library(&newer)).unwrap();
    assert_eq!(better.plan.operators(), 1, "{better}");
}
