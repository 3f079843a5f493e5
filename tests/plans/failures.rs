//! Every C call of a run that fails once: an error, no hang, and the same executable works afterwards.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::common::mock;
use racl::op::DataType::F32;
use racl::plan::{Bindings, Cores, Executable, Frozen, Input, Mode, OnMove, Plan, RunOptions, Scope};
use racl::{ErrorKind, Result, Stream};

use crate::kernels::copy;
use crate::{Alone, result};

/// y = (2 u + 0.5) t + x + h on three streams, with a gate of its own between two of them.
fn plan() -> Plan {
    let kernel = copy();
    Plan::build(|g| {
        let gate = g.external("gate")?;
        let u = g.input("u", [4], F32, Input::Updatable)?;
        let t = g.input("t", [4], F32, Input::Tracked(OnMove::Recapture))?;
        let x = g.input("x", [4], F32, Input::Copied)?;
        let h = g.input("h", [4], F32, Input::Host)?;
        let c = g.constant(&[0.5_f32; 4], [4])?;
        g.scope("waits", |g| g.wait_external(gate))?;
        let side = g.scope_with("side", Scope::new().cores(Cores { cube: 1, vector: 2 }), |g| {
            let twice = g.muls(u, 2.0)?;
            let copied = g.empty([4], F32)?;
            g.foreign(&kernel, &[twice], &[copied])?;
            g.add(copied, c)
        })?;
        let sum = g.empty([4], F32)?;
        g.copy(x, sum)?;
        let sum = g.add(sum, h)?;
        g.record_external(gate)?;
        g.join("side")?;
        g.join("waits")?;
        let product = g.mul(side, t)?;
        let y = g.add(product, sum)?;
        g.output_to_host("y", y)
    })
    .unwrap()
}

/// What an operator may refuse, to be updated whole.
const REFUSALS: [&str; 2] = ["aclSetAclOpExecutorRepeatable", "aclSetTensorAddr"];

/// How it runs, and with how many buffers for host outputs.
type Way = (Mode, usize);

const WAYS: [Way; 4] = [(Mode::Captured, 1), (Mode::Eager, 1), (Mode::Captured, 2), (Mode::Eager, 2)];

struct Case {
    exe: Executable,
    bind: Bindings,
    streams: [Stream; 2],
}

impl Case {
    fn new(alone: &Alone, (mode, buffers): Way) -> Self {
        let options = RunOptions::new().mode(mode).host_output_buffers(buffers);
        let exe = plan().executable(&alone.device, &options, Frozen::new()).unwrap();
        let bind = exe.bindings();
        Self { exe, bind, streams: [alone.stream(), alone.stream()] }
    }

    /// Gives new memory; what y is with it.
    fn give(&mut self, alone: &Alone, turn: usize) -> f32 {
        let id = |name: &str| self.exe.input(name).unwrap();
        let [u, t, x, h] = [turn as f32, 3.0, 10.0 * turn as f32, 1000.0];
        let upload = |value: f32| alone.device.upload_tensor(&[value; 4], [4]).unwrap();
        self.bind.set(id("u"), &upload(u)).set(id("x"), &upload(x)).host(id("h"), &[h; 4], [4]);
        if turn.is_multiple_of(2) {
            self.bind.set(id("t"), &upload(t));
        }
        (2.0 * u + 0.5) * t + x + h
    }

    fn run(&mut self, turn: usize) -> Result<()> {
        self.exe.run(&self.streams[turn / 2 % 2], &mut self.bind)
    }

    #[track_caller]
    fn check(&mut self, expected: f32, what: &str) {
        let y = self.exe.output_id("y").unwrap();
        assert_eq!(self.exe.host_output::<f32>(y).unwrap(), [expected; 4], "{what}");
        assert_eq!(result(&self.exe, "y"), [expected; 4], "{what}");
    }
}

/// What each function is called how often in run `turn`, the runs before it done.
fn calls(alone: &Alone, way: Way, turn: usize) -> Vec<(&'static str, u64)> {
    let mut case = Case::new(alone, way);
    for earlier in 0..turn {
        let expected = case.give(alone, earlier);
        case.run(earlier).unwrap();
        case.check(expected, "before");
    }
    case.give(alone, turn);
    let names = || racl::sys::Table::names().map(|(name, _)| (name, mock::calls(name)));
    let before: Vec<_> = names().collect();
    case.run(turn).unwrap();
    let after = names().zip(before).map(|((name, after), (_, before))| (name, after - before));
    after.filter(|(_, count)| *count > 0).collect()
}

fn fail_each(way: Way, turn: usize) {
    let alone = Alone::new();
    for (name, count) in calls(&alone, way, turn) {
        for nth in 1..=count {
            let mut case = Case::new(&alone, way);
            for earlier in 0..turn {
                case.give(&alone, earlier);
                case.run(earlier).unwrap();
            }
            let expected = case.give(&alone, turn);
            let what = format!("{way:?}, run {turn}: call {nth} of {name}");
            let before = mock::calls(name);
            mock::fail(name, nth, 507_000).unwrap();
            let failed = catch_unwind(AssertUnwindSafe(|| case.run(turn)));
            mock::clear_failures();
            // Some calls are made once for a context, and the kernel of these tests panics when its own calls fail.
            let told = failed.is_err() || mock::calls(name) - before < nth || REFUSALS.contains(&name);
            let errors =
                failed.ok().and_then(Result::err).into_iter().chain(alone.device.context().take_drop_errors());
            let text: Vec<_> = errors.map(|error| format!("{error:#}")).collect();
            assert!(told || text.iter().any(|text| text.contains(name)), "{what}: {text:?}");
            case.streams.iter().for_each(|stream| stream.synchronize().unwrap());
            // The same again, and then with other memory.
            case.bind.host(case.exe.input("h").unwrap(), &[1000.0_f32; 4], [4]);
            case.run(turn).unwrap_or_else(|error| panic!("{what}: afterwards: {error:#}"));
            case.check(expected, &what);
            for later in turn + 1..turn + 3 {
                let expected = case.give(&alone, later);
                case.run(later).unwrap();
                case.check(expected, &what);
            }
        }
    }
}

#[test]
fn a_call_of_a_first_run_may_fail() {
    WAYS.into_iter().for_each(|way| fail_each(way, 0));
}

#[test]
fn a_call_of_a_run_that_updates_may_fail() {
    WAYS.into_iter().for_each(|way| fail_each(way, 1));
}

#[test]
fn a_call_of_a_run_that_captures_anew_on_another_stream_may_fail() {
    WAYS.into_iter().for_each(|way| fail_each(way, 2));
}

#[test]
fn a_run_that_failed_is_told_once_and_has_no_results_then() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("y", y)?;
        let z = g.adds(y, 3.0)?;
        g.output_to_host("z", z)?;
        g.output("on the device", z)
    })
    .unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, stream, mut bind) = (exe.input("x").unwrap(), alone.stream(), exe.bindings());
        let ids = ["y", "z", "on the device"].map(|name| exe.output_id(name).unwrap());
        let read = |exe: &mut Executable, of: usize| match of {
            2 => exe.output::<f32>(ids[2]).and_then(|output| output.to_vec()),
            of => exe.host_output::<f32>(ids[of]),
        };
        for first in 0..3 {
            exe.run(&stream, bind.host(x, &[1.0_f32; 4], [4])).unwrap();
            assert_eq!([0, 1, 2].map(|of| read(&mut exe, of).unwrap()[0]), [2.0, 5.0, 5.0]);
            mock::hold(&stream).unwrap();
            mock::fail_task("aclrtMemcpyAsync", 1, 507_015).unwrap();
            exe.run(&stream, bind.host(x, &[10.0_f32; 4], [4])).unwrap();
            mock::release(&stream).unwrap();
            let told = read(&mut exe, first).unwrap_err();
            assert_eq!(told.kind(), ErrorKind::DeviceFault, "{mode:?}, read {first}: {told}");
            mock::clear_failures();
            for of in [0, 1, 2, first] {
                let again = read(&mut exe, of).expect_err("numbers of the run before");
                assert_eq!(again.kind(), ErrorKind::InvalidArgument, "{mode:?}, {of}: {again}");
            }
        }
        exe.run(&stream, bind.host(x, &[7.0_f32; 4], [4])).unwrap();
        assert_eq!([0, 1, 2].map(|of| read(&mut exe, of).unwrap()[0]), [14.0, 17.0, 17.0]);
    }
}

/// Who is told of a failure before anybody reads an output.
type Told = fn(&Alone, &Stream) -> Result<()>;

#[test]
fn a_run_whose_failure_somebody_else_was_told_has_no_results() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("y", y)?;
        g.output("on the device", y)
    })
    .unwrap();
    let told: [Told; 4] = [
        |_, stream| stream.synchronize(),
        |alone, _| alone.device.synchronize(),
        |alone, stream| {
            let event = alone.device.event()?;
            event.record(stream)?;
            event.synchronize()
        },
        |_, stream| {
            // The query says that it is over, and the wait behind it how.
            while !stream.is_complete()? {}
            Ok(())
        },
    ];
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, stream, mut bind) = (exe.input("x").unwrap(), alone.stream(), exe.bindings());
        let [y, kept] = ["y", "on the device"].map(|name| exe.output_id(name).unwrap());
        for (way, tell) in told.iter().enumerate() {
            exe.run(&stream, bind.host(x, &[1.0_f32; 4], [4])).unwrap();
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0; 4]);
            mock::fail_task("aclrtMemcpyAsync", 1, 507_015).unwrap();
            exe.run(&stream, bind.host(x, &[10.0_f32; 4], [4])).unwrap();
            let error = tell(&alone, &stream).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DeviceFault, "{mode:?}, way {way}: {error}");
            mock::clear_failures();
            let reads = [exe.host_output::<f32>(y), exe.output::<f32>(kept).and_then(|output| output.to_vec())];
            for read in reads {
                let error = read.expect_err("numbers of the run before");
                assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{mode:?}, way {way}: {error}");
            }
        }
        exe.run(&stream, bind.host(x, &[7.0_f32; 4], [4])).unwrap();
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [14.0; 4]);
        assert_eq!(exe.output::<f32>(kept).and_then(|output| output.to_vec()).unwrap(), [14.0; 4]);
        // What fails behind a run that is known to be good is not its failure.
        let mut other = alone.device.alloc::<f32>(4).unwrap();
        mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
        stream.fill_bytes(&mut other, 0).unwrap();
        assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
        mock::clear_failures();
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [14.0; 4]);
    }
}

#[test]
fn a_failure_that_a_wait_for_earlier_work_was_told_is_one_of_the_later_run() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, y, stream) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), alone.stream());
        let (mut bind, event) = (exe.bindings(), alone.device.event().unwrap());
        mock::stand_still(true);
        exe.run(&stream, bind.host(x, &[1.0_f32; 4], [4])).unwrap();
        event.record(&stream).unwrap();
        mock::run_until_idle();
        mock::fail_task("aclrtMemcpyAsync", 1, 507_015).unwrap();
        exe.run(&stream, bind.host(x, &[10.0_f32; 4], [4])).unwrap();
        mock::run_until_idle();
        let error = event.synchronize().unwrap_err();
        mock::stand_still(false);
        mock::clear_failures();
        assert_eq!(error.kind(), ErrorKind::DeviceFault, "{mode:?}: {error}");
        let error = exe.host_output::<f32>(y).expect_err("numbers of the run before");
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{mode:?}: {error}");
        exe.run(&stream, bind.host(x, &[7.0_f32; 4], [4])).unwrap();
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [14.0; 4]);
    }
}

#[test]
fn a_captured_run_on_a_stream_of_another_context_is_refused_and_leaves_the_results() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("y", y)
    })
    .unwrap();
    let other = alone.device.context().create_context().unwrap();
    let (own, foreign) = (alone.stream(), other.stream().unwrap());
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
        exe.run(&own, bind.host(x, &[1.0_f32; 4], [4])).unwrap();
        let ran = exe.run(&foreign, bind.host(x, &[2.0_f32; 4], [4]));
        let wanted = if mode == Mode::Eager {
            ran.unwrap();
            4.0
        } else {
            let error = ran.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WrongContext, "{error}");
            assert!(error.to_string().contains("only eager runs"), "{error}");
            2.0
        };
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [wanted; 4]);
        exe.run(&own, bind.host(x, &[3.0_f32; 4], [4])).unwrap();
        assert_eq!(exe.host_output::<f32>(y).unwrap(), [6.0; 4]);
    }
}

/// The copy of a host input that fails in the middle: its memory is made anew, and nothing runs on what was there before.
#[test]
fn an_upload_that_may_be_queued_in_part_fails_its_run_alone() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Host)?;
        g.output_to_host("y", g.muls(x, 2.0)?)
    })
    .unwrap();
    let mut other = alone.device.alloc::<u8>(64).unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, stream, mut bind) = (exe.input("x").unwrap(), alone.stream(), exe.bindings());
        let y = exe.output_id("y").unwrap();
        for value in [1.0_f32, 3.0] {
            exe.run(&stream, bind.host(x, &[value; 4], [4])).unwrap();
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0 * value; 4]);
            mock::hold(&stream).unwrap();
            stream.fill_bytes(&mut other, 0).unwrap();
            racl::set_drop_limit(Duration::from_millis(20));
            mock::fail("aclrtMemcpyAsync", 1, 207_001).unwrap();
            let error = exe.run(&stream, bind.host(x, &[10.0_f32; 4], [4])).unwrap_err();
            racl::set_drop_limit(Duration::from_secs(10));
            assert_eq!(error.kind(), ErrorKind::OutOfMemory, "{mode:?}: {error}");
            mock::release(&stream).unwrap();
            stream.synchronize().unwrap();
        }
        for value in [4.0_f32, 5.0, 6.0] {
            exe.run(&stream, bind.host(x, &[value; 4], [4])).unwrap();
            assert_eq!(exe.host_output::<f32>(y).unwrap(), [2.0 * value; 4], "{mode:?}");
        }
    }
    // It is told to whoever asks nothing, too.
    let told = alone.device.context().take_drop_errors();
    assert!(told.len() == 4 && told.iter().all(|error| error.to_string().contains("207001")), "{told:?}");
}
