//! The host's time of a run, from entry to return, by class and number of inputs.
//!
//! All inputs go to one operator that does nothing, so that a graph is as cheap with many as with one. The device is
//! idle when a round starts, and is waited for outside the timed part.

use std::time::Instant;

use racl::op::DataType::F32;
use racl::plan::{Bindings, Executable, Foreign, Frozen, HostOutputs, Input, OnMove, Plan, RunOptions};
use racl::sys::Table;
use racl::{Acl, CaptureMode, Device, Result, Stream, Tensor, mock, op};

use super::Figures;
use super::heap::allocations;

const INPUTS: [usize; 4] = [1, 100, 1_000, 10_000];
const ROUNDS: usize = 41;
/// Operators that a run updates, so that the rest of the run counts for little.
const UPDATED: usize = 100;
/// Runs of a round, when one is a single call.
const RUNS: usize = 100;

const CLASSES: [(&str, Input); 6] = [
    ("frozen", Input::Frozen),
    ("static", Input::Static),
    ("copied", Input::Copied),
    ("tracked", Input::Tracked(OnMove::Recapture)),
    ("updatable", Input::Updatable),
    ("host", Input::Host),
];

/// Best of several rounds, in nanoseconds.
fn measure(stream: &Stream, runs: usize, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..runs {
            run()?;
        }
        best = best.min(start.elapsed().as_nanos() as f64 / runs as f64);
        stream.synchronize()?;
    }
    Ok(best)
}

fn plan(class: Input, inputs: usize) -> Result<Plan> {
    let idle = Foreign::new("bench.idle", 1, |_| Ok(()));
    Plan::build(|g| {
        let values: Result<Vec<_>> =
            (0..inputs).map(|index| g.input(&format!("input {index}"), [16], F32, class)).collect();
        let y = g.full([16], F32, 0)?;
        g.foreign(&idle, &values?, &[y])?;
        g.output("y", y)
    })
}

/// A plan with memory for all inputs, given.
struct Ready {
    executable: Executable,
    bindings: Bindings,
    memory: Vec<Tensor<f32>>,
}

fn ready(device: &Device, class: Input, inputs: usize) -> Result<Ready> {
    let mut memory = Vec::new();
    if !matches!(class, Input::Static | Input::Host) {
        // One more, for an input that moves.
        memory = (0..=inputs).map(|_| device.zeros::<f32>([16])).collect::<Result<_>>()?;
    }
    let mut frozen = Frozen::new();
    if class == Input::Frozen {
        for (index, tensor) in memory.iter().take(inputs).enumerate() {
            frozen = frozen.with(&format!("input {index}"), tensor);
        }
    }
    let executable = plan(class, inputs)?.capture(device, frozen)?;
    let mut bindings = executable.bindings();
    for index in 0..inputs {
        let input = executable.input(&format!("input {index}"))?;
        match (class, memory.get(index)) {
            (Input::Host, _) => drop(bindings.host(input, &[1.0_f32; 16], [16])),
            (Input::Frozen, _) | (_, None) => {}
            (_, Some(tensor)) => drop(bindings.set(input, tensor)),
        }
    }
    Ok(Ready { executable, bindings, memory })
}

fn all_calls() -> u64 {
    Table::names().map(|(name, _)| mock::calls(name)).sum()
}

pub(crate) fn figures(figures: &mut Figures) -> Result<()> {
    let acl = Acl::mock()?;
    println!("# runs on {acl}, best of {ROUNDS} rounds");
    let device = acl.device(0)?;
    let stream = device.stream()?;
    raw(figures, &device, &stream)?;
    for (name, class) in CLASSES {
        one_class(figures, &device, &stream, name, class)?;
    }
    moving(figures, &device, &stream)?;
    updates(figures, &device, &stream)?;
    host_outputs(figures, &device, &stream)
}

fn one_class(figures: &mut Figures, device: &Device, stream: &Stream, name: &str, class: Input) -> Result<()> {
    let mut times = Vec::new();
    for inputs in INPUTS {
        let Ready { mut executable, mut bindings, .. } = ready(device, class, inputs)?;
        executable.run(stream, &mut bindings)?;
        stream.synchronize()?;
        let before = all_calls();
        executable.run(stream, &mut bindings)?;
        let calls = (all_calls() - before) as f64;
        stream.synchronize()?;
        let runs = if matches!(class, Input::Copied | Input::Updatable | Input::Host) { 1 } else { RUNS };
        let time = measure(stream, runs, || executable.run(stream, &mut bindings))?;
        figures.note(&format!("run, {inputs} {name}"), time, "ns");
        match class {
            Input::Frozen => figures.at_most(&format!("run, {inputs} {name}, C calls"), calls, "calls", 1.0),
            _ => figures.note(&format!("run, {inputs} {name}, C calls"), calls, "calls"),
        }
        times.push(time);
    }
    match class {
        Input::Frozen => figures.at_most("run, 10000 / 1 frozen", times[3] / times[0], "times", 1.2),
        Input::Tracked(_) => {
            figures.at_most("run, 10000 tracked, an input", (times[3] - times[0]) / 1e4, "ns", 3.0);
        }
        _ => figures.note(&format!("run, 10000 {name}, an input"), (times[3] - times[0]) / 1e4, "ns"),
    }
    Ok(())
}

/// One of the updatable inputs has moved at each run.
fn moving(figures: &Figures, device: &Device, stream: &Stream) -> Result<()> {
    for inputs in INPUTS {
        let Ready { mut executable, mut bindings, memory } = ready(device, Input::Updatable, inputs)?;
        let input = executable.input("input 0")?;
        let mut turn = 0;
        let time = measure(stream, 1, || {
            turn = inputs - turn;
            executable.run(stream, bindings.set(input, &memory[turn]))
        })?;
        figures.note(&format!("run, {inputs} updatable, one of them moved"), time, "ns");
    }
    Ok(())
}

/// A run that replaces operators, by address and whole.
fn updates(figures: &mut Figures, device: &Device, stream: &Stream) -> Result<()> {
    let plan = Plan::build(|g| {
        let x = g.input("x", [16, 16], F32, Input::Updatable)?;
        for index in 0..UPDATED {
            let y = g.muls(x, index as f32)?;
            g.output(&format!("y {index}"), y)?;
        }
        Ok(())
    })?;
    let memory = [device.zeros::<f32>([16, 16])?, device.zeros::<f32>([16, 16])?];
    let mut times = Vec::new();
    for (name, allowed, most) in [("by address", true, 0.5), ("whole", false, 2.5)] {
        let options = RunOptions::new().address_updates(allowed);
        let mut executable = plan.executable(device, &options, Frozen::new())?;
        let (input, mut bindings) = (executable.input("x")?, executable.bindings());
        let mut turn = 0;
        let mut run = || {
            turn += 1;
            executable.run(stream, bindings.set(input, &memory[turn % 2]))
        };
        (0..3).try_for_each(|_| run())?;
        let (done, allocations) = allocations(&mut run);
        done?;
        let each = allocations as f64 / UPDATED as f64;
        figures.at_most(&format!("run, {UPDATED} operators updated {name}, allocations each"), each, "calls", most);
        let time = measure(stream, 1, run)?;
        figures.note(&format!("run, {UPDATED} operators updated {name}"), time, "ns");
        times.push(time);
    }
    figures.at_most("run, updated by address / whole", times[0] / times[1], "times", 1.0);
    Ok(())
}

/// A run from host to host: read before the next one, and one run later.
fn host_outputs(figures: &mut Figures, device: &Device, stream: &Stream) -> Result<()> {
    let plan = Plan::build(|g| {
        let x = g.input("x", [16], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("y", y)
    })?;
    let mut times = Vec::new();
    for (name, buffers) in [("host output", 1), ("host output taken", 2)] {
        let options = RunOptions::new().host_output_buffers(buffers);
        let mut executable = plan.executable(device, &options, Frozen::new())?;
        let (x, y, mut bindings) = (executable.input("x")?, executable.output_id("y")?, executable.bindings());
        bindings.host(x, &[1.0_f32; 16], [16]);
        let (mut to, mut before) = ([0.0_f32; 16], None::<HostOutputs>);
        let mut run = || {
            executable.run(stream, &mut bindings)?;
            match buffers {
                1 => executable.host_output_into(y, &mut to),
                _ => match before.replace(executable.take_host_outputs()?) {
                    Some(mut before) => before.read_into(y, &mut to),
                    None => Ok(()),
                },
            }
        };
        (0..4).try_for_each(|_| run())?;
        let (calls, pinned) = (all_calls(), mock::calls("aclrtMallocHost"));
        run()?;
        figures.note(&format!("run, {name}, C calls"), (all_calls() - calls) as f64, "calls");
        times.push(measure(stream, 1, &mut run)?);
        let pinned = (mock::calls("aclrtMallocHost") - pinned) as f64;
        figures.at_most(&format!("run, {name}, pinned memory allocated"), pinned, "calls", 0.0);
        figures.note(&format!("run and read, {name}"), times[times.len() - 1], "ns");
    }
    figures.at_most("run and read, host output taken / not", times[1] / times[0], "times", 1.5);
    Ok(())
}

/// What the mock itself takes for a call.
fn raw(figures: &Figures, device: &Device, stream: &Stream) -> Result<()> {
    let (mut to, from) = (device.zeros::<f32>([16])?, device.zeros::<f32>([16])?);
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| op::add_inplace(s, &mut to, &from))?;
    let function = device.acl().table().aclmdlRIExecuteAsync()?;
    let launch = measure(stream, RUNS, || {
        // SAFETY: graph and stream are live, and this thread alone launches.
        assert_eq!(unsafe { function(graph.as_raw(), stream.as_raw()) }, 0);
        Ok(())
    })?;
    figures.note("graph launch, raw", launch, "ns");
    let function = device.acl().table().aclrtMemcpyAsync()?;
    let kind = racl::sys::aclrtMemcpyKind::ACL_MEMCPY_DEVICE_TO_DEVICE;
    let (to, from) = (to.address(), from.address());
    let copy = measure(stream, RUNS, || {
        // SAFETY: both sides have 64 bytes, and live until the stream was waited for.
        assert_eq!(unsafe { function(to, 64, from, 64, kind, stream.as_raw()) }, 0);
        Ok(())
    })?;
    figures.note("copy of 64 bytes, raw", copy, "ns");
    Ok(())
}
