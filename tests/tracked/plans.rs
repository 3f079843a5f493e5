//! Plans beside eager work on other streams.

use crate::common::mock;
use racl::Tensor;
use racl::op::DataType::F32;
use racl::plan::{Bindings, Executable, Frozen, Input, Mode, Plan, RunOptions};
use racl::{Context, Stream, op};

use crate::{events_of, held, release_in_turn};

/// y = x + w, with x of the class, on two side streams where there are several.
fn sum(class: Input) -> Plan {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, class)?;
        let w = g.input("w", [4], F32, Input::Static)?;
        let y = g.add(x, w)?;
        g.output("y", y)
    });
    plan.unwrap()
}

fn executable(context: &Context, class: Input, mode: Mode) -> (Executable, Bindings) {
    let exe = sum(class).executable(context, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
    exe.static_input::<f32>(exe.input("w").unwrap()).unwrap().write(&[1.0; 4]).unwrap();
    let bind = exe.bindings();
    (exe, bind)
}

/// Adds the output of the latest run to `sum`.
fn add_output(stream: &Stream, sum: &mut Tensor<f32>, exe: &Executable) {
    let mut copy = sum.context().zeros::<f32>([4]).unwrap();
    exe.output::<f32>(exe.output_id("y").unwrap()).unwrap().copy_to(stream, &mut copy).unwrap();
    op::add_inplace(stream, sum, &copy).unwrap();
}

#[test]
fn runs_follow_what_other_streams_do_with_inputs_and_outputs() {
    let _alone = mock::exclusive();
    for class in [Input::Copied, Input::Updatable] {
        for mode in [Mode::Captured, Mode::Eager] {
            let (context, streams) = held(2);
            let [a, b] = &streams[..] else { panic!("two streams") };
            release_in_turn(&streams);
            let (mut exe, mut bind) = executable(&context, class, mode);
            let mut x = context.zeros::<f32>([4]).unwrap();
            let mut seen = context.zeros::<f32>([4]).unwrap();
            // The first run captures, and may wait.
            exe.run(a, bind.set(exe.input("x").unwrap(), &x)).unwrap();
            streams.iter().for_each(|stream| mock::hold(stream).unwrap());
            for step in [10.0, 20.0, 30.0] {
                op::fill(b, &mut x, step).unwrap();
                exe.run(a, &mut bind).unwrap();
                add_output(b, &mut seen, &exe);
            }
            release_in_turn([a, b]);
            a.synchronize().unwrap();
            assert_eq!(seen.to_vec().unwrap(), [63.0; 4], "{class:?}, {mode:?}");
        }
    }
}

#[test]
fn a_run_alone_on_its_stream_makes_no_event() {
    let _alone = mock::exclusive();
    let (context, streams) = held(1);
    let stream = &streams[0];
    release_in_turn(&streams);
    let (mut exe, mut bind) = executable(&context, Input::Copied, Mode::Captured);
    let x = context.zeros::<f32>([4]).unwrap();
    exe.run(stream, bind.set(exe.input("x").unwrap(), &x)).unwrap();
    stream.synchronize().unwrap();
    mock::hold(stream).unwrap();
    assert_eq!(events_of(|| (0..4).for_each(|_| exe.run(stream, &mut bind).unwrap())), [0, 0]);
    mock::release(stream).unwrap();
}

/// Whoever waited for the run on the device would wait for the signal that it gives itself afterwards.
#[test]
fn work_that_leads_to_a_signal_does_not_wait_for_the_run_that_needs_it() {
    let _alone = mock::exclusive();
    for mode in [Mode::Captured, Mode::Eager] {
        mock::stand_still(true);
        let context = crate::common::device().context().create_context().unwrap();
        let (a, b): (Stream, Stream) = (context.stream().unwrap(), context.stream().unwrap());
        let mut gate = None;
        let plan = Plan::build(|g| {
            let ready = *gate.insert(g.external("ready")?);
            let x = g.input("x", [4], F32, Input::Static)?;
            g.wait_external(ready)?;
            let y = g.muls(x, 2.0)?;
            g.output("y", y)
        });
        let gate = gate.unwrap();
        let mut exe = plan.unwrap().executable(&context, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut x = exe.static_input::<f32>(exe.input("x").unwrap()).unwrap();
        let mut before = context.zeros::<f32>([4]).unwrap();
        let mut seen = context.zeros::<f32>([4]).unwrap();
        for step in [1.0, 2.0, 3.0] {
            op::fill(&a, &mut before, step).unwrap();
            exe.run(&a, &mut exe.bindings()).unwrap(); // waits for the signal
            op::copy(&b, &before, &mut seen).unwrap(); // waits for what `a` did before that
            op::copy(&b, &seen, &mut x).unwrap(); // waits for no run
            exe.signal(gate, &b).unwrap();
            add_output(&b, &mut seen, &exe); // the signal is given, so that this can wait
            b.synchronize().unwrap();
            assert_eq!(seen.to_vec().unwrap(), [3.0 * step; 4], "{mode:?}");
            a.synchronize().unwrap();
        }
    }
}
