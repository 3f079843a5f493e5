//! Host outputs that are taken from the executable, and read while later runs are under way.

use racl::op::{
    DataType::{F32, I32},
    aclnn,
};
use racl::plan::{
    Bindings, Executable, Frozen, HostFunction, HostOutputs, Input, Mode, OutputId, Plan, Pool, RunOptions,
};
use racl::{Error, ErrorKind, Result, Stream};

use crate::common::{assert_says, mock};
use crate::{Alone, calls_of};

mod failing;

const MODES: [Mode; 2] = [Mode::Captured, Mode::Eager];

/// y = 2 x + 1 and z = -y, by way of a side stream, all of it on the host.
fn plan() -> Plan {
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let h = g.muls(x, 2.0)?;
        let y = g.adds(h, 1.0)?;
        g.output_to_host("y", y)?;
        let z = g.scope("side", |g| g.muls(y, -1.0))?;
        g.join("side")?;
        g.output_to_host("z", z)
    })
    .unwrap()
}

fn make(alone: &Alone, plan: &Plan, mode: Mode, buffers: usize) -> Executable {
    let options = RunOptions::new().mode(mode).host_output_buffers(buffers);
    plan.executable(&alone.device, &options, Frozen::new()).unwrap()
}

/// An executable with what its runs need.
struct Ready {
    exe: Executable,
    bind: Bindings,
    y: OutputId,
    z: OutputId,
}

impl Ready {
    fn new(alone: &Alone, mode: Mode, buffers: usize) -> Self {
        let exe = make(alone, &plan(), mode, buffers);
        let (bind, y, z) = (exe.bindings(), exe.output_id("y").unwrap(), exe.output_id("z").unwrap());
        Self { exe, bind, y, z }
    }

    fn run(&mut self, stream: &Stream, x: f32) -> Result<()> {
        let input = self.exe.input("x").unwrap();
        self.exe.run(stream, self.bind.host(input, &[x; 4], [4]))
    }

    fn run_and_take(&mut self, stream: &Stream, x: f32) -> HostOutputs {
        self.run(stream, x).unwrap();
        self.exe.take_host_outputs().unwrap()
    }

    #[track_caller]
    fn check(&self, outputs: &mut HostOutputs, x: f32) {
        let y = 2.0 * x + 1.0;
        assert_eq!(outputs.read::<f32>(self.y).unwrap(), [y; 4]);
        let mut z = [0.0; 4];
        outputs.read_into(self.z, &mut z).unwrap();
        assert_eq!(z, [-y; 4]);
        assert_eq!(*outputs.as_slice::<f32>(self.z).unwrap(), z);
        assert!(outputs.is_ready().unwrap());
    }
}

#[test]
fn outputs_of_several_runs_are_read_in_any_order_as_if_one_ran_at_a_time() {
    let alone = Alone::new();
    let mut random = fastrand::Rng::with_seed(31);
    for mode in MODES {
        for buffers in 2..=5 {
            let streams = [alone.stream(), alone.stream(), alone.stream()];
            let mut ready = Ready::new(&alone, mode, buffers);
            let mut kept: Vec<(HostOutputs, f32)> = Vec::new();
            for turn in 0..200_u16 {
                let x = f32::from(turn);
                ready.run(&streams[random.usize(0..3)], x).unwrap();
                match random.u8(0..8) {
                    0 => {}
                    1 => assert_eq!(ready.exe.host_output::<f32>(ready.y).unwrap(), [2.0 * x + 1.0; 4]),
                    _ => kept.push((ready.exe.take_host_outputs().unwrap(), x)),
                }
                while kept.len() > random.usize(0..2 * buffers) {
                    let (mut outputs, x) = kept.swap_remove(random.usize(0..kept.len()));
                    if random.u8(0..8) > 0 {
                        ready.check(&mut outputs, x);
                    }
                }
            }
            kept.iter_mut().for_each(|(outputs, x)| ready.check(outputs, *x));
        }
    }
}

#[test]
fn a_run_does_not_wait_for_those_before_it_with_host_inputs_and_outputs_under_way() {
    let alone = Alone::new();
    for mode in MODES {
        for takes in [false, true] {
            let stream = alone.stream();
            let mut ready = Ready::new(&alone, mode, 4);
            mock::hold(&stream).unwrap();
            let mut kept = Vec::new();
            for turn in 0..4_u8 {
                ready.run(&stream, turn.into()).unwrap();
                if takes {
                    kept.push(ready.exe.take_host_outputs().unwrap());
                    assert!(!kept[usize::from(turn)].is_ready().unwrap());
                }
            }
            mock::release(&stream).unwrap();
            if !takes {
                assert_eq!(ready.exe.host_output::<f32>(ready.y).unwrap(), [7.0; 4]);
            }
            for (turn, mut outputs) in kept.into_iter().enumerate().rev() {
                ready.check(&mut outputs, turn as f32);
            }
        }
    }
}

#[test]
fn what_was_taken_is_not_waited_for() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Static)?;
        let y = g.adds(x, 1.0)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    let stream = alone.stream();
    let mut exe = make(&alone, &plan, Mode::Captured, 2);
    let y = exe.output_id("y").unwrap();
    exe.static_input::<f32>(exe.input("x").unwrap()).unwrap().write(&[2.0; 4]).unwrap();
    mock::hold(&stream).unwrap();
    let mut run = || {
        exe.run(&stream, &mut exe.bindings()).unwrap();
        exe.take_host_outputs().unwrap()
    };
    let all: Vec<_> = (0..20).map(|_| run()).collect();
    mock::release(&stream).unwrap();
    for mut outputs in all {
        assert_eq!(outputs.read::<f32>(y).unwrap(), [3.0; 4]);
    }
}

#[test]
fn a_run_too_far_ahead_waits_for_the_oldest_copies() {
    let alone = Alone::new();
    for mode in MODES {
        let stream = alone.stream();
        let mut ready = Ready::new(&alone, mode, 3);
        mock::hold(&stream).unwrap();
        (0..3_u8).for_each(|turn| ready.run(&stream, turn.into()).unwrap());
        let waits = || mock::calls("aclrtSynchronizeEvent");
        let before = waits();
        std::thread::scope(|scope| {
            let next = scope.spawn(|| ready.run(&stream, 3.0));
            while waits() == before {
                assert!(!next.is_finished(), "{mode:?}: it did not wait");
                std::thread::yield_now();
            }
            mock::release(&stream).unwrap();
            next.join().unwrap().unwrap();
        });
        assert_eq!(ready.exe.host_output::<f32>(ready.z).unwrap(), [-7.0; 4]);
    }
}

/// y = 3 u on a side stream, with u updatable.
fn updated() -> Plan {
    Plan::build(|g| {
        let u = g.input("u", [4], F32, Input::Updatable)?;
        let y = g.scope("side", |g| g.muls(u, 3.0))?;
        g.join("side")?;
        g.output_to_host("y", y)
    })
    .unwrap()
}

#[test]
fn reading_a_run_does_not_wait_for_later_ones() {
    let alone = Alone::new();
    for mode in MODES {
        let stream = alone.stream();
        let mut exe = make(&alone, &updated(), mode, 2);
        let (u, y, mut bind) = (exe.input("u").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
        let mut run = |value: f32| {
            let memory = alone.device.upload_tensor(&[value; 4], [4]).unwrap();
            exe.run(&stream, bind.set(u, &memory)).unwrap();
            exe.take_host_outputs().unwrap()
        };
        drop(run(0.0));
        let mut first = run(1.0);
        mock::run_until_idle();
        mock::hold(&stream).unwrap();
        let mut second = run(2.0);
        assert!(first.is_ready().unwrap());
        assert_eq!(first.read::<f32>(y).unwrap(), [3.0; 4], "{mode:?}");
        assert!(!second.is_ready().unwrap());
        mock::release(&stream).unwrap();
        assert_eq!(second.read::<f32>(y).unwrap(), [6.0; 4], "{mode:?}");
    }
}

#[test]
fn an_output_that_is_written_again_has_what_it_had_where_it_was_brought() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("before", y)?;
        aclnn::mul(g, &y, &x, &mut { y })?;
        g.output_to_host("after", y)?;
        g.fill_bytes(y, 0)
    })
    .unwrap();
    mock::check_races(mock::RaceCheck::Report);
    for mode in MODES {
        for buffers in [1, 3] {
            let streams = [alone.stream(), alone.stream()];
            let mut exe = make(&alone, &plan, mode, buffers);
            let [before, after] = ["before", "after"].map(|name| exe.output_id(name).unwrap());
            let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
            let mut kept = Vec::new();
            for turn in 1..=6_u8 {
                let value = f32::from(turn);
                exe.run(&streams[usize::from(turn / 2 % 2)], bind.host(x, &[value; 4], [4])).unwrap();
                if buffers > 1 {
                    kept.push((exe.take_host_outputs().unwrap(), value));
                } else {
                    assert_eq!(exe.host_output::<f32>(before).unwrap(), [2.0 * value; 4]);
                    assert_eq!(exe.host_output::<f32>(after).unwrap(), [2.0 * value * value; 4]);
                }
            }
            for (mut outputs, value) in kept {
                assert_eq!(outputs.read::<f32>(before).unwrap(), [2.0 * value; 4], "{mode:?}");
                assert_eq!(outputs.read::<f32>(after).unwrap(), [2.0 * value * value; 4], "{mode:?}");
            }
            assert_eq!(exe.output::<f32>(before).unwrap().to_vec().unwrap(), [0.0; 4]);
        }
    }
    let races = mock::races();
    mock::check_races(mock::RaceCheck::Off);
    assert!(races.is_empty(), "{races:?}");
}

#[test]
fn runs_allocate_nothing_once_as_many_were_under_way() {
    let alone = Alone::new();
    for mode in MODES {
        let stream = alone.stream();
        let mut ready = Ready::new(&alone, mode, 3);
        // As many as may be, so that none is over before the last one is there.
        mock::hold(&stream).unwrap();
        let mut most: Vec<_> = (0..4).map(|turn| ready.run_and_take(&stream, turn as f32)).collect();
        mock::release(&stream).unwrap();
        most.iter_mut().zip([0.0, 1.0, 2.0, 3.0]).for_each(|(outputs, x)| ready.check(outputs, x));
        drop(most);
        let mut pipeline = |rounds: u8| {
            let mut kept = std::collections::VecDeque::new();
            for turn in 0..rounds {
                kept.push_back((ready.run_and_take(&stream, turn.into()), turn));
                if kept.len() == 3 {
                    let (mut outputs, turn) = kept.pop_front().unwrap();
                    ready.check(&mut outputs, turn.into());
                }
            }
            kept.iter_mut().for_each(|(outputs, turn)| ready.check(outputs, f32::from(*turn)));
        };
        let live = mock::live_handles();
        for function in ["aclrtMallocHost", "aclrtFreeHost", "aclrtCreateEventExWithFlag"] {
            let (calls, ()) = calls_of(function, || pipeline(50));
            assert_eq!(calls, 0, "{mode:?}: {function}");
        }
        assert_eq!(mock::live_handles(), live);
    }
}

#[test]
fn what_cannot_be_taken_or_read_is_refused() {
    let alone = Alone::new();
    let refused = |error: Error, part: &str| assert_says(&error, ErrorKind::InvalidArgument, &[part]);
    let none = plan().executable(&alone.device, &RunOptions::new().host_output_buffers(0), Frozen::new());
    refused(none.unwrap_err(), "0 buffers");
    let on_device = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Static)?;
        let y = g.abs(x)?;
        g.output("y", y)
    });
    let mut on_device = make(&alone, &on_device.unwrap(), Mode::Captured, 2);
    let stream = alone.stream();
    on_device.run(&stream, &mut on_device.bindings()).unwrap();
    refused(on_device.take_host_outputs().unwrap_err(), "of a plan that has some");
    for mode in MODES {
        let mut one = Ready::new(&alone, mode, 1);
        one.run(&stream, 1.0).unwrap();
        refused(one.exe.take_host_outputs().unwrap_err(), "host_output_buffers of 2 and more");
        assert_eq!(one.exe.host_output::<f32>(one.y).unwrap(), [3.0; 4]);

        let mut ready = Ready::new(&alone, mode, 2);
        refused(ready.exe.take_host_outputs().unwrap_err(), "without a run before");
        let mut outputs = ready.run_and_take(&stream, 4.0);
        refused(ready.exe.take_host_outputs().unwrap_err(), "were taken");
        refused(ready.exe.host_output::<f32>(ready.y).unwrap_err(), "were taken");
        assert_eq!(crate::result(&ready.exe, "y"), [9.0; 4]);
        refused(outputs.read::<i32>(ready.y).unwrap_err(), "\"y\" holds F32, asked for as I32");
        refused(outputs.read_into(ready.y, &mut [0.0_f32; 3]).unwrap_err(), "4 elements, the memory for it 3");
        refused(outputs.read::<f32>(one.y).unwrap_err(), "another executable");
        ready.check(&mut outputs, 4.0);
        // A run that is refused leaves nothing to take.
        mock::fail("aclrtMemcpyAsync", 1, 507_000).unwrap();
        ready.run(&stream, 5.0).unwrap_err();
        refused(ready.exe.take_host_outputs().unwrap_err(), "without a run before that succeeded");
        let mut again = ready.run_and_take(&stream, 6.0);
        ready.check(&mut again, 6.0);
    }
}

#[test]
fn an_output_that_stays_on_the_device_is_not_read_and_one_without_elements_is_empty() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 0..=4)?;
        let x = g.input("x", [n], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output("y", y)?;
        let k = g.full([2], I32, 7)?;
        g.output_to_host("k", k)?;
        let z = g.adds(y, 1.0)?;
        g.output_to_host("z", z)
    })
    .unwrap();
    for mode in MODES {
        let stream = alone.stream();
        let mut exe = make(&alone, &plan, mode, 2);
        let [y, k, z] = ["y", "k", "z"].map(|name| exe.output_id(name).unwrap());
        let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
        let mut kept = Vec::new();
        for n in [0, 3, 0, 1, 3] {
            exe.run(&stream, bind.host(x, &vec![1.0_f32; n], [n])).unwrap();
            kept.push((exe.take_host_outputs().unwrap(), n));
        }
        drop(exe);
        for (mut outputs, n) in kept {
            let error = outputs.read::<f32>(y).unwrap_err();
            assert_says(&error, ErrorKind::InvalidArgument, &["\"y\" stays on the device"]);
            assert_eq!(outputs.read::<f32>(z).unwrap(), vec![3.0; n], "{mode:?}");
            assert_eq!(outputs.read::<i32>(k).unwrap(), [7, 7]);
        }
    }
}

#[test]
fn outputs_outlive_their_graph_and_their_executable() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    let before = mock::live_handles().pinned_allocations;
    for mode in MODES {
        for way in ["evicted", "cleared", "recaptured", "dropped", "forgotten"] {
            let stream = alone.stream();
            let mut options = RunOptions::new().mode(mode).host_output_buffers(2).graph_limit(1);
            if way == "recaptured" {
                options = options.force_recapture();
            }
            let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
            let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            mock::stand_still(true);
            let mut run = |exe: &mut Executable, n: usize| {
                exe.run(&stream, bind.host(x, &vec![n as f32; n], [n])).unwrap();
                exe.take_host_outputs().unwrap()
            };
            let mut kept: Vec<_> = (0..3).map(|_| run(&mut exe, 2)).collect();
            let unread = run(&mut exe, 2);
            match way {
                "evicted" | "recaptured" => drop(run(&mut exe, 3)),
                "cleared" => exe.clear_graphs(),
                _ => {}
            }
            match way {
                "dropped" => drop(exe),
                "forgotten" => std::mem::forget(std::mem::replace(&mut kept[2], unread)),
                _ => drop(unread),
            }
            for outputs in &mut kept {
                assert_eq!(outputs.read::<f32>(y).unwrap(), [4.0; 2], "{mode:?}, {way}");
            }
            mock::stand_still(false);
        }
    }
    // What was forgotten is all that is left.
    assert_eq!(mock::live_handles().pinned_allocations, before + MODES.len() as u64);
    assert!(alone.device.context().take_drop_errors().is_empty());
}

#[test]
fn executables_of_one_pool_are_read_apart() {
    let alone = Alone::new();
    let pool = Pool::new(&alone.device);
    for mode in MODES {
        let streams = [alone.stream(), alone.stream()];
        let options = RunOptions::new().mode(mode).host_output_buffers(2).pool(&pool);
        let mut both = [0, 1].map(|_| plan().executable(&alone.device, &options, Frozen::new()).unwrap());
        let ids = [0, 1].map(|of| (both[of].input("x").unwrap(), both[of].output_id("z").unwrap()));
        let mut binds = [0, 1].map(|of| both[of].bindings());
        let mut kept = Vec::new();
        for turn in 0..12 {
            let of = turn % 2;
            let bind = binds[of].host(ids[of].0, &[turn as f32; 4], [4]);
            both[of].run(&streams[turn / 3 % 2], bind).unwrap();
            kept.push((both[of].take_host_outputs().unwrap(), turn));
        }
        for (mut outputs, turn) in kept {
            assert_eq!(outputs.read::<f32>(ids[turn % 2].1).unwrap(), [-(2.0 * turn as f32 + 1.0); 4], "{mode:?}");
        }
    }
}
