//! Captured, eager and sequential runs give the same; when graphs are captured, kept and dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::ErrorKind;
use racl::op::{DataType::F32, aclnn};
use racl::plan::{
    Bindings, Cores, Executable, Frozen, HostFunction, Input, Mode, OnFull, OnMove, Plan, RunOptions, Scope,
};

use crate::common::{assert_says, mock};
use crate::kernels::copy;
use crate::{Alone, calls_of, give, result};

const N: usize = 64;

/// Tags, events, copies, fills, host functions, foreign operators, uploads, downloads, views, work in place.
fn everything(runs: &Arc<AtomicU32>) -> Plan {
    let runs = Arc::clone(runs);
    let count = HostFunction::new("test.count", 1, move |step| {
        runs.fetch_add(u32::from(step[0]), Ordering::Relaxed);
    })
    .attributes([2]);
    let kernel = copy();
    Plan::build(|g| {
        let w = g.input("w", [N], F32, Input::Frozen)?;
        let bias = g.input("bias", [N], F32, Input::Static)?;
        let x = g.input("x", [N], F32, Input::Copied)?;
        let t = g.input("t", [N], F32, Input::Tracked(OnMove::Recapture))?;
        let h = g.input("h", [N], F32, Input::Host)?;
        let c = g.constant(&[0.5_f32; N], [N])?;
        let ready = g.event("ready")?;
        let sum = g.add(x, w)?;
        g.record(&ready)?;
        let left = g.scope("left", |g| {
            let a = g.mul(sum, t)?;
            aclnn::add(g, &a, &c, 1, &mut { a })?;
            g.host_function(&count)?;
            Ok(a)
        })?;
        let right = g.scope("right", |g| {
            g.wait(&ready)?;
            let b = g.empty([N], F32)?;
            g.foreign(&kernel, &[sum], &[b])?;
            let half = g.narrow(b, 0, 0..N / 2)?;
            g.fill_bytes(half, 0)?;
            g.scope("deep", |g| aclnn::add(g, &b, &h, 1, &mut { b }))?;
            g.join("deep")?;
            Ok(b)
        })?;
        let kept = g.empty([N], F32)?;
        g.copy(bias, kept)?;
        g.join("left")?;
        let right = g.wait_value(right, right)?;
        let both = g.sub(left, right)?;
        let square = g.reshape(both, [8, 8])?;
        let turned = g.transpose(square, 0, 1)?;
        let kept = g.reshape(kept, [8, 8])?;
        let lifted = g.add(turned, kept)?;
        g.output("y", lifted)?;
        g.output("right", right)?;
        g.output_to_host("left", left)
    })
    .unwrap()
}

struct Inputs {
    w: Vec<f32>,
    bias: Vec<f32>,
    x: Vec<f32>,
    t: Vec<f32>,
    h: Vec<f32>,
}

impl Inputs {
    /// Small whole numbers, so that every sum and product is exact.
    fn random(random: &mut fastrand::Rng) -> Self {
        let mut some = || (0..N).map(|_| random.i32(-9..10) as f32).collect();
        Self { w: some(), bias: some(), x: some(), t: some(), h: some() }
    }

    /// What the plan means, one line after the other: y, right, left.
    fn reference(&self) -> [Vec<f32>; 3] {
        let sum: Vec<f32> = (0..N).map(|i| self.x[i] + self.w[i]).collect();
        let left: Vec<f32> = (0..N).map(|i| sum[i] * self.t[i] + 0.5).collect();
        let right: Vec<f32> = (0..N).map(|i| if i < N / 2 { 0.0 } else { sum[i] } + self.h[i]).collect();
        let y = (0..N).map(|i| {
            let turned = i % 8 * 8 + i / 8;
            left[turned] - right[turned] + self.bias[i]
        });
        [y.collect(), right, left]
    }
}

fn run_all(alone: &Alone, exe: &mut Executable, bind: &mut Bindings, inputs: &Inputs) -> [Vec<f32>; 3] {
    let id = |name: &str| exe.input(name).unwrap();
    let upload = |data: &[f32]| alone.device.upload_tensor(data, [N]).unwrap();
    bind.set(id("x"), &upload(&inputs.x)).set(id("t"), &upload(&inputs.t)).host(id("h"), &inputs.h, [N]);
    exe.static_input::<f32>(id("bias")).unwrap().write(&inputs.bias).unwrap();
    exe.run(&alone.stream(), bind).unwrap();
    let left = exe.host_output::<f32>(exe.output_id("left").unwrap()).unwrap();
    assert_eq!(result(exe, "left"), left);
    [result(exe, "y"), result(exe, "right"), left]
}

#[test]
fn captured_and_eager_runs_do_what_the_lines_of_the_plan_say() {
    let alone = Alone::new();
    let runs = Arc::new(AtomicU32::new(0));
    let plan = everything(&runs);
    assert_eq!(plan.lints().iter().map(|lint| lint.message.as_str()).collect::<Vec<_>>(), [""; 0]);
    let mut random = fastrand::Rng::with_seed(7);
    let first = Inputs::random(&mut random);
    let w = alone.device.upload_tensor(&first.w, [N]).unwrap();
    let make = |options: RunOptions| plan.executable(&alone.device, &options, Frozen::new().with("w", &w)).unwrap();
    let mut exes = [
        make(RunOptions::new()),
        make(RunOptions::new().mode(Mode::Eager)),
        make(RunOptions::new().force_recapture()),
        make(RunOptions::new().graph_limit(1)),
        make(RunOptions::new().graph_limit(1).on_full(OnFull::Eager)),
    ];
    let mut binds: Vec<_> = exes.iter().map(Executable::bindings).collect();
    for turn in 0..6 {
        let inputs = Inputs { w: first.w.clone(), ..Inputs::random(&mut random) };
        let expected = inputs.reference();
        for (index, (exe, bind)) in exes.iter_mut().zip(&mut binds).enumerate() {
            assert_eq!(run_all(&alone, exe, bind, &inputs), expected, "executable {index}, turn {turn}");
        }
    }
    assert_eq!(runs.load(Ordering::Relaxed), 6 * 5 * 2);
    let [captured, eager, ..] = exes.each_ref().map(Executable::counters);
    assert_eq!((captured.replays, captured.eager), (6, 0));
    assert_eq!((eager.replays, eager.eager), (0, 6));
    drop((exes, binds));
    assert!(alone.device.context().take_drop_errors().is_empty());
}

/// y = x + 1 with x tracked.
fn tracked(on_move: OnMove) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Tracked(on_move))?;
        let y = g.adds(x, 1.0)?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn each_reason_of_a_capture_is_counted() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = tracked(OnMove::Recapture).capture(&alone.device, Frozen::new()).unwrap();
    let x = [1.0_f32, 2.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    let mut binds = [give(&exe, "x", &x[0]), give(&exe, "x", &x[1])];
    let mut go = |exe: &mut Executable, which: usize| {
        exe.run(&stream, &mut binds[which]).unwrap();
        assert_eq!(result(exe, "y"), [[2.0, 3.0][which]; 4]);
        let counters = exe.counters();
        (counters.captured_new, counters.captured_moved, counters.captured_cores, exe.graphs())
    };
    assert_eq!(go(&mut exe, 0), (1, 0, 0, 1));
    assert_eq!(go(&mut exe, 0), (1, 0, 0, 1));
    assert_eq!(go(&mut exe, 1), (1, 1, 0, 2));
    assert_eq!(go(&mut exe, 0), (1, 1, 0, 2));
    exe.limit_cores(Some(Cores { cube: 2, vector: 0 }));
    assert_eq!(go(&mut exe, 0), (1, 1, 1, 3));
    exe.limit_cores(None);
    assert_eq!(go(&mut exe, 1), (1, 1, 1, 3));
    exe.clear_graphs();
    assert_eq!(go(&mut exe, 0), (2, 1, 1, 1));
}

#[test]
fn a_capture_that_fails_is_not_counted_and_the_next_run_works() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = tracked(OnMove::Recapture).capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut bind = give(&exe, "x", &x);
    mock::fail("aclnnAdds", 1, 507_000).unwrap();
    let error = exe.run(&stream, &mut bind).unwrap_err();
    assert_says(&error, error.kind(), &["aclnnAdds", "aclnnAdds (#0, the origin stream, tests/plans/store.rs:"]);
    assert_eq!((exe.counters().captured_new, exe.graphs()), (0, 0));
    exe.run(&stream, &mut bind).unwrap();
    assert_eq!((exe.counters().captured_new, result(&exe, "y")), (1, vec![2.0; 4]));
}

#[test]
fn a_forced_capture_builds_the_new_graph_before_the_old_one_goes() {
    let alone = Alone::new();
    let stream = alone.stream();
    let options = RunOptions::new().force_recapture();
    let mut exe = tracked(OnMove::Recapture).executable(&alone.device, &options, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut bind = give(&exe, "x", &x);
    exe.run(&stream, &mut bind).unwrap();
    exe.run(&stream, &mut bind).unwrap();
    assert_eq!((exe.counters().captured_forced, exe.graphs()), (1, 1));
    // The capture fails, so the old graph must still be there.
    let graphs = mock::live_handles().graphs;
    mock::fail("aclmdlRICaptureEnd", 1, 507_000).unwrap();
    let (destroyed, failed) = calls_of("aclmdlRIDestroy", || exe.run(&stream, &mut bind).is_err());
    assert!(failed);
    assert!(destroyed <= 1, "the end that was tried again gives a graph");
    assert_eq!((exe.graphs(), mock::live_handles().graphs), (1, graphs));
    exe.run(&stream, &mut bind).unwrap();
    assert_eq!(result(&exe, "y"), [2.0; 4]);
}

#[test]
fn at_the_limit_the_graph_that_was_used_longest_ago_goes() {
    let alone = Alone::new();
    let stream = alone.stream();
    let options = RunOptions::new().graph_limit(2);
    let mut exe = tracked(OnMove::Recapture).executable(&alone.device, &options, Frozen::new()).unwrap();
    let x = [1.0_f32, 2.0, 3.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    let mut binds = [0, 1, 2].map(|which: usize| give(&exe, "x", &x[which]));
    let graphs = mock::live_handles().graphs;
    // 0 1 0 2: 1 goes. 0 stays; 1 is captured anew and 2 goes.
    for (which, captured, evicted) in
        [(0, 1, 0), (1, 2, 0), (0, 2, 0), (2, 3, 1), (0, 3, 1), (1, 4, 2), (0, 4, 2), (2, 5, 3)]
    {
        exe.run(&stream, &mut binds[which]).unwrap();
        assert_eq!(result(&exe, "y"), [which as f32 + 2.0; 4]);
        let counters = exe.counters();
        assert_eq!((counters.captured_new + counters.captured_moved, counters.evicted), (captured, evicted));
        assert!(exe.graphs() <= 2);
    }
    assert_eq!(mock::live_handles().graphs, graphs + 2);
}

#[test]
fn at_the_limit_a_run_is_eager_or_fails_as_asked() {
    let alone = Alone::new();
    let stream = alone.stream();
    let x = [1.0_f32, 2.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    for on_full in [OnFull::Eager, OnFull::Fail] {
        let options = RunOptions::new().graph_limit(1).on_full(on_full);
        let mut exe = tracked(OnMove::Recapture).executable(&alone.device, &options, Frozen::new()).unwrap();
        let mut binds = [give(&exe, "x", &x[0]), give(&exe, "x", &x[1])];
        exe.run(&stream, &mut binds[0]).unwrap();
        let second = exe.run(&stream, &mut binds[1]);
        if on_full == OnFull::Eager {
            second.unwrap();
            assert_eq!(result(&exe, "y"), [3.0; 4]);
            let counters = exe.counters();
            assert_eq!((counters.eager, counters.eager_at_limit, counters.replays), (1, 1, 1));
        } else {
            assert_says(&second.unwrap_err(), ErrorKind::GraphLimit, &["1 captured graphs are kept"]);
        }
        exe.run(&stream, &mut binds[0]).unwrap();
        assert_eq!((result(&exe, "y"), exe.counters().replays), (vec![2.0; 4], 2));
    }
    let none = tracked(OnMove::Recapture).executable(&alone.device, &RunOptions::new().graph_limit(0), Frozen::new());
    assert_says(&none.unwrap_err(), ErrorKind::InvalidArgument, &["a limit of 0 captured graphs"]);
}

#[test]
fn sixty_four_graphs_are_kept_by_default_by_key() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = tracked(OnMove::Recapture).capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let mut bind = give(&exe, "x", &x);
    for key in 0..65 {
        exe.run(&stream, bind.key(key)).unwrap();
    }
    assert_eq!((exe.graphs(), exe.counters().captured_new, exe.counters().evicted), (64, 65, 1));
    exe.run(&stream, bind.key(64)).unwrap();
    assert_eq!(exe.counters().captured_new, 65);
}

#[test]
fn an_input_that_must_not_move_fails_naming_both_addresses() {
    let alone = Alone::new();
    let stream = alone.stream();
    let mut exe = tracked(OnMove::Fail).capture(&alone.device, Frozen::new()).unwrap();
    let x = [1.0_f32, 2.0].map(|value| alone.device.upload_tensor(&[value; 4], [4]).unwrap());
    let mut binds = [give(&exe, "x", &x[0]), give(&exe, "x", &x[1])];
    exe.run(&stream, &mut binds[0]).unwrap();
    let [was, now] = x.each_ref().map(|x| format!("{:#x}", x.address().addr()));
    let error = exe.run(&stream, &mut binds[1]).unwrap_err();
    assert_says(&error, ErrorKind::AddressChanged, &["input 0 (\"x\")", &was, &now]);
    exe.run(&stream, &mut binds[0]).unwrap();
    assert_eq!((result(&exe, "y"), exe.counters().captured_moved), (vec![2.0; 4], 0));
}

#[test]
fn every_kernel_has_the_core_limit_of_its_scope_else_that_of_the_executable() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let a = g.muls(x, 2.0)?;
        let b = g.scope_with("side", Scope::new().cores(Cores { cube: 2, vector: 3 }), |g| g.adds(a, 1.0))?;
        let c = g.abs(a)?;
        g.join("side")?;
        let y = g.add(b, c)?;
        g.output("y", y)
    })
    .unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
    let whole = (alone.device.cube_cores().unwrap(), alone.device.vector_cores().unwrap());
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut bind = give(&exe, "x", &x);
        for (limit, expected) in [
            (None, (whole.0 as u32, whole.1 as u32)),
            (Some(Cores { cube: 1, vector: 1 }), (1, 1)),
            (Some(Cores { cube: 4, vector: 0 }), (4, whole.1 as u32)),
        ] {
            exe.limit_cores(limit);
            exe.clear_graphs();
            mock::log_launches(true);
            exe.run(&stream, &mut bind).unwrap();
            assert_eq!(result(&exe, "y"), [5.0; 4]);
            let launches = mock::launches();
            mock::log_launches(false);
            let of = |name: &str| {
                let these = launches.iter().filter(|launch| launch.function == name);
                these.map(|launch| (launch.cube_cores, launch.vector_cores)).collect::<Vec<_>>()
            };
            assert_eq!(of("aclnnAdds"), [(2, 3)], "{mode:?} {limit:?}");
            for name in ["aclnnMuls", "aclnnAbs", "aclnnAdd"] {
                assert_eq!(of(name), [expected], "{mode:?} {limit:?} {name}");
            }
        }
        exe.limit_cores(Some(Cores { cube: 100_000, vector: 1 }));
        let (begun, error) = calls_of("aclmdlRICaptureBegin", || exe.run(&stream, &mut bind).unwrap_err());
        assert_says(&error, ErrorKind::InvalidPlan, &["core limit of the executable is 100000 matrix"]);
        assert_eq!((begun, error.findings()[0].kind), (0, racl::plan::FindingKind::CoreLimit));
        exe.limit_cores(None);
        exe.run(&stream, &mut bind).unwrap();
    }
}

/// Its place would be behind the end of the memory, which has none.
#[test]
fn a_view_of_an_empty_value_is_stored() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [0, 3], F32, Input::Copied)?;
        let part = g.narrow(g.narrow(x, 1, 1..3)?, 1, 1..2)?;
        g.output("y", g.abs(part)?)
    })
    .unwrap();
    let loaded = Plan::load(&plan.store().unwrap(), &racl::plan::Registry::new()).unwrap();
    assert_eq!(loaded.to_text(), plan.to_text());
}
