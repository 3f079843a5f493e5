//! Plans that call plans do what the same work does that is written in place.
//!
//! `RACL_PLAN_SEED=17 cargo test --test plans NAME` runs a test with one seed alone.

use racl::Result;
use racl::op::DataType::{F32, U8};
use racl::op::{DataType, aclnn};
use racl::plan::{Builder, Frozen, HostFunction, Input, Mode, Options, Plan, RunOptions, Simulated, Value};

use crate::bodies::{self, GREATEST, Made};
use crate::equal::{Case, Given};
use crate::generate::Dice;
use crate::seeds::for_seeds;
use crate::{Alone, give, result};

/// The input of a run.
fn given(made: &Made, seed: u64, turn: u64) -> Vec<Given> {
    let mut dice = Dice(seed ^ turn << 40);
    let rows = if made.dynamic { 1 + dice.index(GREATEST) } else { 3 };
    let numbers: Vec<f32> = (0..rows * 4).map(|_| dice.below(64) as f32 / 16.0 - 2.0).collect();
    let (dims, bytes) = (vec![rows, 4], bytemuck::cast_slice(&numbers).to_vec());
    vec![Given { name: "x".to_owned(), class: Input::Copied, dtype: DataType::F32, dims, bytes }]
}

/// The bytes of every output of a simulated run.
fn outputs(made: &Made, run: u64, given: &[Given]) -> Vec<Vec<u8>> {
    let numbers: Vec<f32> = given[0].bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
    let inputs = Simulated::new().tensor("x", &numbers, &given[0].dims[..]);
    let run = made.plan.simulate(run, &inputs).unwrap();
    made.outputs.iter().map(|name| run.bytes(name).unwrap().to_vec()).collect()
}

#[test]
fn calls_give_what_their_work_gives_in_place_simulated_eagerly_and_captured() {
    let mock = Alone::new();
    for_seeds(0..120, |seed| {
        let [called, inline] = [true, false].map(|calls| bodies::plan(seed, Options::new(), calls).unwrap());
        assert_eq!(called.plan.operators(), inline.plan.operators());
        let turns = [given(&called, seed, 0), given(&called, seed, 1)];
        for turn in &turns {
            assert_eq!(outputs(&called, seed, turn), outputs(&inline, seed, turn));
        }
        let outputs: Vec<_> = called.outputs.iter().map(|name| (name.clone(), DataType::F32)).collect();
        Case { plan: &called.plan, turns: &turns, outputs: &outputs }.check(&mock.device, seed);
    });
}

#[test]
fn calls_give_the_same_on_one_stream_and_on_streams_that_the_plan_chooses() {
    // Simulations compute with the mock, in which other tests let calls fail.
    let _alone = Alone::new();
    for_seeds(1000..1060, |seed| {
        let inline = bodies::plan(seed, Options::new(), false).unwrap();
        let turn = given(&inline, seed, 0);
        let expected = outputs(&inline, seed, &turn);
        for options in [Options::new().collapse_streams(), Options::new().auto_streams(3)] {
            let called = bodies::plan(seed, options, true).unwrap();
            assert_eq!(outputs(&called, seed, &turn), expected);
        }
    });
}

/// `y` is x, rolled by `shift` and scaled by `times`, through a body that is told both.
fn numbered(class: Input) -> Plan {
    let body = Plan::build(|g| {
        let n = g.symbol("n", 1..=64)?;
        let (shift, by) = (g.number("shift", 0..=16)?, g.number("by", 0..=400)?);
        let x = g.input("x", [n], F32, Input::Copied)?;
        let (rolled, scaled) = (g.empty([n], F32)?, g.empty([n], F32)?);
        let (mut rolled, mut scaled) = (rolled, scaled);
        aclnn::roll(&g.telling("shifts", [shift]), &x, &[], &[0], &mut rolled)?;
        aclnn::muls(&g.telling("other", by), &rolled, 0.0_f32, &mut scaled)?;
        g.output("y", scaled)
    })
    .unwrap();
    Plan::build(|g| {
        let m = g.symbol("m", 1..=8)?;
        let times = g.number("times", 0..=100)?;
        let x = g.input("x", [m * 2], F32, class)?;
        let y = g.call_with(&body, &[x], &[("shift", 1.into()), ("by", times * 2)])?;
        g.output("y", y[0])
    })
    .unwrap()
}

#[test]
fn numbers_of_each_run_and_updatable_operands_are_updated_inside_the_graph() {
    let alone = Alone::new();
    let stream = alone.stream();
    for class in [Input::Copied, Input::Updatable] {
        for mode in [Mode::Captured, Mode::Eager] {
            let options = RunOptions::new().mode(mode);
            let mut exe = numbered(class).executable(&alone.device, &options, Frozen::new()).unwrap();
            let (id, mut bind) = (exe.input("x").unwrap(), exe.bindings());
            let x = [[1.0_f32, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]];
            let tensors = x.map(|x| alone.device.upload_tensor(&x, [4]).unwrap());
            for (which, times) in [(0, 1), (0, 1), (0, 7), (1, 7), (0, 100)] {
                exe.run(&stream, bind.set(id, &tensors[which]).symbol("times", times)).unwrap();
                let expected = [3, 0, 1, 2].map(|from| x[which][from] * 2.0 * times as f32);
                assert_eq!(result(&exe, "y"), expected, "{class:?} {mode:?} {times}");
            }
            let (graphs, updates) = (exe.graphs(), exe.counters().updates);
            assert_eq!((graphs, updates > 0), if mode == Mode::Captured { (1, true) } else { (0, false) });
        }
    }
}

#[test]
fn passes_see_the_work_of_calls() {
    let _alone = Alone::new();
    use racl::plan::{PassMode, Passes};
    let body = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.tanh(x)?; // for nobody
        g.output("y", g.abs(x)?)
    })
    .unwrap();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let [a] = g.call(&body, &[x])?;
        let [b] = g.call(&body, &[x])?;
        g.output("y", g.add(a, b)?)
    })
    .unwrap();
    let better = plan.optimise(&Passes::all(PassMode::Verified)).unwrap();
    assert_eq!((plan.operators(), better.plan.operators()), (5, 2), "{better}");
}

#[test]
fn host_functions_of_a_body_come_behind_all_before_them_on_streams_that_the_plan_chooses() {
    let streams = |logs: bool| {
        let body = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            if logs {
                g.host_function(&HostFunction::new("test.log", 1, |_| {}))?;
            }
            g.output("y", g.abs(x)?)
        });
        let plan = Plan::build_with(Options::new().auto_streams(2), |g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let a = g.muls(x, 2.0)?;
            let [b] = g.call(&body?, &[x])?;
            g.output("y", g.add(a, b)?)
        });
        plan.unwrap().streams()
    };
    assert_eq!((streams(true), streams(false)), (1, 2));
}

/// `r` is what `work` makes of `a`, which is x, and `a` what is there behind it.
fn with_operand(own: bool, work: impl Fn(&Builder, Value) -> Result<Value>) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let a = if own { g.muls(x, 1.0)? } else { x };
        g.output("r", work(g, a)?)?;
        g.output("a", g.adds(a, 0.0)?)
    })
    .unwrap()
}

#[test]
fn steps_that_write_what_they_carry_leave_the_operand_and_a_call_writes_it() {
    let alone = Alone::new();
    let stream = alone.stream();
    let doubles = |more: bool| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            aclnn::muls(g, &x, 2.0_f32, &mut { x })?;
            if more {
                let mut again = g.empty([1], U8)?;
                aclnn::gt_scalar(g, &g.narrow(x, 0, 0..1)?, 100.0_f32, &mut again)?;
                g.output("again", again)?;
            }
            g.output("x", x)
        })
        .unwrap()
    };
    let (body, round) = (doubles(false), doubles(true));
    let x = [1.0_f32, 2.0, 3.0, 4.0];
    let by = |factor: f32| x.map(|x| x * factor).to_vec();
    for own in [true, false] {
        let times = |steps| with_operand(own, |g, a| g.call_times(steps, &body, [a], &[]).map(|[r]| r));
        let once = with_operand(own, |g, a| g.call(&body, &[a]).map(|[r]: [Value; 1]| r));
        let rounds = with_operand(own, |g, a| g.repeat_while(g.full([1], U8, 1)?, &round, [a], &[]).map(|[r]| r));
        for (plan, r, a) in
            [(times(0), 1.0, 1.0), (times(1), 2.0, 1.0), (times(3), 8.0, 1.0), (once, 2.0, 2.0), (rounds, 2.0, 1.0)]
        {
            let run = plan.simulate(0, &Simulated::new().tensor("x", &x, [4])).unwrap();
            assert_eq!((run.to_vec("r").unwrap(), run.to_vec("a").unwrap()), (by(r), by(a)), "{own} {r} {a}");
            for mode in [Mode::Captured, Mode::Eager] {
                let options = RunOptions::new().mode(mode);
                let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
                let (id, mut bind) = (exe.input("x").unwrap(), exe.bindings());
                for _ in 0..2 {
                    let given = alone.device.upload_tensor(&x, [4]).unwrap();
                    exe.run(&stream, bind.set(id, &given)).unwrap();
                    assert_eq!((result(&exe, "r"), result(&exe, "a")), (by(r), by(a)), "{own} {mode:?} {r} {a}");
                }
            }
        }
    }
}

#[test]
fn steps_that_only_write_what_they_carry_need_nothing_there() {
    let alone = Alone::new();
    let stream = alone.stream();
    let body = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let w = g.input("w", [4], F32, Input::Copied)?;
        aclnn::inplace_copy(g, &mut { x }, &w)?;
        g.output("x", g.adds(x, 1.0)?)
    });
    let body = body.unwrap();
    let plan = Plan::build(|g| {
        let w = g.input("x", [4], F32, Input::Copied)?;
        let a = g.full([5], F32, 7.0)?;
        // At no place that a copy could begin at, and memory that nothing wrote.
        let [r] = g.call_times(2, &body, [g.narrow(a, 0, 1..5)?], &[w])?;
        let [s] = g.call_times(2, &body, [g.empty([4], F32)?], &[w])?;
        g.output("r", g.add(r, s)?)?;
        g.output("a", g.adds(a, 0.0)?)
    });
    let plan = plan.unwrap();
    let x = [1.0_f32, 2.0, 3.0, 4.0];
    let (r, a) = (x.map(|x| 2.0 * (x + 1.0)).to_vec(), vec![7.0; 5]);
    let run = plan.simulate(0, &Simulated::new().tensor("x", &x, [4])).unwrap();
    assert_eq!((run.to_vec("r").unwrap(), run.to_vec("a").unwrap()), (r.clone(), a.clone()));
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let given = alone.device.upload_tensor(&x, [4]).unwrap();
        exe.run(&stream, &mut give(&exe, "x", &given)).unwrap();
        assert_eq!((result(&exe, "r"), result(&exe, "a")), (r.clone(), a.clone()), "{mode:?}");
    }
}

/// A plan whose work a builder would refuse where it is written with the sizes that its caller gives it: they fit for
/// some of their numbers alone.
#[cfg(feature = "cache")]
#[test]
fn work_that_fits_for_some_sizes_of_a_caller_can_be_stored_with_the_call_written_out() {
    use racl::plan::auto::{Auto, Target};
    use racl::plan::{PassMode, Passes, Registry};
    let alone = Alone::new();
    let body = Plan::build(|g| {
        let (k, m) = (g.symbol("k", 1..=8)?, g.symbol("m", 1..=8)?);
        let x = g.input("x", [k], DataType::I64, Input::Copied)?;
        let z = g.input("z", [m], DataType::I64, Input::Copied)?;
        let y = g.empty([m], DataType::I64)?;
        aclnn::slice(&g.telling("end", m), &x, 0, 0, 0, 1, &mut { y })?;
        g.output("y", g.add(y, z)?)
    });
    let body = body.unwrap();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [1], DataType::I64, Input::Copied)?;
        let z = g.input("z", [n], DataType::I64, Input::Copied)?;
        g.adds(z, 1)?; // for a pass to take away
        let [y] = g.call(&body, &[x, z])?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    let target = Target::new(1 << 20, 24, 48).unwrap();
    let made = [
        plan.clone(),
        plan.optimise(&Passes::new().dead_values(PassMode::On)).unwrap().plan,
        plan.optimise(&Passes::all(PassMode::On)).unwrap().plan,
        plan.overlap(&Auto::new(target)).unwrap().plan,
    ];
    for plan in made {
        let plan = Plan::load(&plan.store().unwrap(), &Registry::new()).unwrap();
        let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
        let x = &alone.device.upload_tensor(&[5_i64], [1]).unwrap();
        let one = alone.device.upload_tensor(&[1_i64], [1]).unwrap();
        let mut bind = exe.bindings();
        bind.set(exe.input("x").unwrap(), x).set(exe.input("z").unwrap(), &one);
        exe.run(&alone.stream(), &mut bind).unwrap();
        let y = exe.output::<i64>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap();
        assert_eq!(y, [6]);
        let two = alone.device.upload_tensor(&[1_i64, 2], [2]).unwrap();
        let mut bind = exe.bindings();
        bind.set(exe.input("x").unwrap(), x).set(exe.input("z").unwrap(), &two);
        let error = exe.run(&alone.stream(), &mut bind).unwrap_err();
        assert!(error.to_string().contains("aclnnSlice"), "{error}");
    }
}
