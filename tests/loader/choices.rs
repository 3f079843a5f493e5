//! Plans that choose, with libraries whose graphs can and with those whose graphs cannot: the same numbers.

use racl::op::DataType::{F32, I32};
use racl::plan::{Executable, Frozen, Input, Mode, Plan, RunOptions};
use racl::{Device, Result};

#[path = "../plans/choices/programs.rs"]
mod programs;

use programs::Program;

/// Captured and eager runs; how often the host decided says which of the ways to choose was taken.
pub(crate) fn work(device: &Device) -> Result<()> {
    let chooses = device.acl().table().has("aclmdlRIAddCondTask");
    for seed in 0..25 {
        let program = Program::new(seed);
        let plan = program.plan(racl::plan::Options::new());
        for mode in [Mode::Captured, Mode::Eager] {
            let mut exe = plan.executable(device, &RunOptions::new().mode(mode), Frozen::new())?;
            for ((c, x), expected) in program.runs.iter().zip(&program.expected) {
                assert_eq!(run(device, &mut exe, *c, *x)?, expected, "seed {seed}, {mode:?}, {c}");
            }
            assert!(!chooses || mode == Mode::Eager || exe.counters().decided_by_host == 0, "seed {seed}");
        }
    }
    assert_eq!(decided(device)?, if chooses { 0 } else { 6 });
    updates(device)
}

fn run(device: &Device, exe: &mut Executable, c: i32, x: [f32; 4]) -> Result<Vec<f32>> {
    let (c, x) = (device.upload_tensor(&[c], [1])?, device.upload_tensor(&x, [4])?);
    let mut bind = exe.bindings();
    bind.set(exe.input("c")?, &c).set(exe.input("x")?, &x);
    exe.run(&device.stream()?, &mut bind)?;
    exe.output::<f32>(exe.output_id("y")?)?.to_vec()
}

/// One round of a loop: twice as much, one less to go.
fn round() -> Result<Plan> {
    Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let c = g.adds(c, -1)?;
        g.output("more", c)?;
        g.output("c", c)?;
        g.output("x", g.muls(x, 2.0)?)
    })
}

/// How many numbers the host reads in two captured runs of a loop, of three rounds and of one.
fn decided(device: &Device) -> Result<u64> {
    let body = round()?;
    let plan = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let [_, y] = g.repeat_while(c, &body, [c, x], &[])?;
        g.output("y", y)
    })?;
    let mut exe = plan.capture(device, Frozen::new())?;
    assert_eq!(run(device, &mut exe, 3, [1.0; 4])?, [8.0; 4]);
    assert_eq!(run(device, &mut exe, 1, [1.0; 4])?, [2.0; 4]);
    Ok(exe.counters().decided_by_host)
}

/// Operators on both sides of a choice whose memory moves from run to run: behind gates, which are values or events.
fn updates(device: &Device) -> Result<()> {
    let body = round()?;
    let plan = Plan::build(|g| {
        let c = g.input("c", [1], I32, Input::Copied)?;
        let x = g.input("x", [4], F32, Input::Updatable)?;
        let [_, y] = g.repeat_while(c, &body, [c, g.adds(x, 1.0)?], &[])?;
        g.output("y", g.add(y, x)?)
    })?;
    let mut exe = plan.capture(device, Frozen::new())?;
    for turn in 0..6 {
        let c = turn % 3;
        let y = run(device, &mut exe, c, [turn as f32; 4])?;
        assert_eq!(y, [(turn as f32 + 1.0) * 2.0_f32.powi(c) + turn as f32; 4], "{turn}");
    }
    assert!(exe.counters().updates >= 10, "{:?}", exe.counters());
    Ok(())
}
