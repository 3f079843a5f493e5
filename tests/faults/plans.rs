//! The part of the scenario that plans use: a captured run with updates, whole and by address, gates, core limits,
//! constants and copies, and the same eagerly.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::op::DataType::F32;
use racl::plan::{Cores, External, Frozen, HostFunction, Input, Mode, OnMove, Options, Plan, RunOptions, Scope};
use racl::{Context, Prefetch, Result};

/// y = (2 u + c) * t + x on two streams, with a signal out and a host function.
fn plan(runs: &Arc<AtomicU32>) -> Result<(Plan, External)> {
    let runs = Arc::clone(runs);
    let count = HostFunction::new("faults.count", 1, move |_| {
        runs.fetch_add(1, Ordering::Relaxed);
    });
    let mut out = None;
    let plan = Plan::build_with(Options::new().prefetch_cap(0.5), |g| {
        let done = g.external("done")?;
        out = Some(done);
        let u = g.input("u", [4], F32, Input::Updatable)?;
        let t = g.input("t", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let h = g.input("h", [4], F32, Input::Host)?;
        let w = g.input("w", [4], F32, Input::Frozen)?;
        let c = g.constant(&[0.5_f32; 4], [4])?;
        g.prefetch(w, Prefetch::all(), racl::plan::After::Start)?;
        let side = g.scope_with("side", Scope::new().cores(Cores { cube: 1, vector: 2 }), |g| {
            let twice = g.muls(u, 2.0)?;
            g.host_function(&count)?;
            g.add(twice, c)
        })?;
        let copy = g.empty([4], F32)?;
        g.copy(x, copy)?;
        let copy = g.add(copy, h)?;
        g.join("side")?;
        let product = g.mul(side, t)?;
        let y = g.add(product, copy)?;
        g.record_external(done)?;
        g.output_to_host("y", y)
    })?;
    Ok((plan, out.expect("the plan was built")))
}

pub(crate) fn run(context: &Context) -> Result<()> {
    let runs = Arc::new(AtomicU32::new(0));
    let (plan, done) = plan(&runs)?;
    let w = context.upload_tensor(&[0.0_f32; 4], [4])?;
    for (mode, buffers) in [(Mode::Captured, 1), (Mode::Eager, 1), (Mode::Captured, 2)] {
        let (stream, other) = (context.stream()?, context.stream()?);
        let options = RunOptions::new().mode(mode).host_output_buffers(buffers);
        let mut exe = plan.executable(context, &options, Frozen::new().with("w", &w))?;
        let ids = ["u", "t", "x", "h"].map(|name| exe.input(name).expect("the plan has it"));
        let y = exe.output_id("y")?;
        let mut bind = exe.bindings();
        let t = context.upload_tensor(&[3.0_f32; 4], [4])?;
        // The second replaces an operator whole, the third by address.
        for (turn, on) in [(1.0_f32, &stream), (2.0, &other), (3.0, &other)] {
            let u = context.upload_tensor(&[turn; 4], [4])?;
            let x = context.upload_tensor(&[turn; 4], [4])?;
            bind.set(ids[0], &u).set(ids[1], &t).set(ids[2], &x).host(ids[3], &[100.0_f32; 4], [4]);
            exe.limit_cores((turn > 1.0 && mode == Mode::Eager).then_some(Cores { cube: 2, vector: 2 }));
            exe.run(on, &mut bind)?;
            let taken = if buffers > 1 { Some(exe.take_host_outputs()?) } else { None };
            // Memory of the caller may go at once.
            drop((u, x));
            let expected = (2.0 * turn + 0.5) * 3.0 + turn + 100.0;
            // A fault of the work is told by the stream that had it.
            on.synchronize()?;
            exe.wait_signal(done, &stream)?;
            // One signal for each wait: the next run must not give another before this one is taken.
            stream.synchronize()?;
            let read = taken.map_or_else(|| exe.host_output::<f32>(y), |mut taken| taken.read::<f32>(y))?;
            assert_eq!(read, [expected; 4]);
            assert_eq!(exe.output::<f32>(y)?.to_vec()?, [expected; 4]);
        }
    }
    // One that failed on a side stream of an eager run is told when that stream goes away.
    assert!((8..=9).contains(&runs.load(Ordering::Relaxed)));
    Ok(())
}
