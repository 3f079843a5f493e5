//! Every order of dropping some things, one life of the library for each.

use std::any::Any;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::common::{device, mock};
use crate::rules::{Line, broken, ends};
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Mode, OnMove, Plan, Pool, RunOptions};
use racl::{Allocator, CaptureMode, Context, Prefetch, op};

/// A thread that hangs fails the test: then the library is not ended.
const LONGEST: Duration = Duration::from_secs(60);

type Things = Vec<Box<dyn Any>>;

/// Calls `each` with every order of `0..n`.
fn orders(n: usize, each: &mut dyn FnMut(&[usize])) {
    fn rest(order: &mut Vec<usize>, at: usize, each: &mut dyn FnMut(&[usize])) {
        if at == order.len() {
            return each(order);
        }
        for next in at..order.len() {
            order.swap(at, next);
            rest(order, at + 1, each);
            order.swap(at, next);
        }
    }
    rest(&mut (0..n).collect(), 0, each);
}

/// One life of the library: what is made, and dropped in this order. Queued work stays where it is until somebody waits.
fn life(allocator: &Allocator, make: &dyn Fn(&Context) -> Things, order: Option<&[usize]>) -> (usize, Vec<Line>) {
    mock::reset().unwrap();
    mock::log_calls(true);
    let device = device();
    let context = device.context().create_context().unwrap();
    context.set_allocator(allocator.clone());
    drop(device);
    let mut things = make(&context);
    things.push(Box::new(context));
    let count = things.len();
    let mut things: Vec<_> = things.into_iter().map(Some).collect();
    order.into_iter().flatten().for_each(|&place| drop(things[place].take()));
    drop(things);
    until_it_ended();
    let log = mock::logged_calls().into_iter().map(Line::from).collect();
    mock::log_calls(false);
    (count, log)
}

/// What waits for the device may be destroyed by a thread of its own, and the library with it.
fn until_it_ended() {
    let begun = Instant::now();
    // A call is counted before it is in the log.
    let names = ["aclFinalize", "aclFinalizeReference"];
    let counts = || names.iter().any(|name| mock::calls(name) > 0);
    let is_over = || counts() && mock::logged_calls().iter().any(|call| names.contains(&call.function));
    while !is_over() && begun.elapsed() < LONGEST {
        std::thread::yield_now();
    }
}

/// All rules hold in every order, with memory of the library and from the cache; `calls` are in the log.
pub(crate) fn in_every_order(calls: &[&str], make: impl Fn(&Context) -> Things) {
    let _alone = mock::exclusive();
    racl::set_end_on_drop(true);
    mock::stand_still(true);
    let mut seen = BTreeSet::new();
    for allocator in [Allocator::Direct, Allocator::Pool] {
        let (count, log) = life(&allocator, &make, None);
        is_wrong_otherwise(&log);
        let mut tried = 0;
        orders(count, &mut |order| {
            let (_, log) = life(&allocator, &make, Some(order));
            let broken = broken(&log);
            assert!(broken.is_empty(), "{allocator:?} {order:?}:\n{}\n{}", broken.join("\n"), text(&log));
            seen.extend(log.iter().map(|line| line.function));
            tried += 1;
        });
        assert_eq!(tried, (1..=count).product::<usize>());
    }
    for call in calls {
        assert!(seen.contains(call), "{call} is in no log");
    }
}

/// A destroy that is left out, made twice or made behind the end of the library breaks a rule, and so does one right
/// behind what made the thing where that is used later.
fn is_wrong_otherwise(log: &[Line]) {
    // The close of an export is given a key alone.
    let last = |(_, line): &(usize, &Line)| ends(line.function) && !line.given.is_empty();
    for (at, line) in log.iter().enumerate().filter(last) {
        let mut without = log.to_vec();
        without.remove(at);
        let with = |place: usize| {
            let mut changed = without.clone();
            changed.insert(place, line.clone());
            changed
        };
        let twice: Vec<_> = log.iter().take(at + 1).cloned().chain(log[at..].iter().cloned()).collect();
        let mut others = vec![twice, with(without.len()), without.clone()];
        let made = without[..at].iter().rposition(|made| made.gave == Some(line.given[0])).unwrap();
        if without[made + 1..at].iter().any(|later| later.given.contains(&line.given[0])) {
            others.push(with(made + 1));
        }
        for (change, other) in others.iter().enumerate() {
            assert!(!broken(other).is_empty(), "change {change} of call {at}, {line:?}:\n{}", text(other));
        }
    }
}

fn text(log: &[Line]) -> String {
    let line = |(at, line): (usize, &Line)| {
        format!("{at} {} {:x?} -> {:x?} by {}", line.function, line.given, line.gave, line.thread)
    };
    log.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn streams_events_notifies_and_memory_in_use() {
    let calls = ["aclrtDestroyStream", "aclrtDestroyEvent", "aclrtDestroyNotify", "aclrtFree", "aclrtDestroyContext"];
    in_every_order(&calls, |context| {
        let (stream, side) = (context.stream().unwrap(), context.stream().unwrap());
        let (event, notify) = (context.event().unwrap(), context.notify().unwrap());
        let mut buffer = context.alloc::<u8>(64).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        event.record(&stream).unwrap();
        notify.record(&stream).unwrap();
        side.wait(&event).unwrap();
        side.wait_notify(&notify, None).unwrap();
        side.fill_bytes(&mut buffer, 2).unwrap();
        vec![Box::new(stream), Box::new(side), Box::new(event), Box::new(notify), Box::new(buffer)]
    });
}

#[test]
fn copies_of_the_host_and_host_functions() {
    in_every_order(&["aclrtFreeHost", "aclrtMemcpyAsync", "aclrtLaunchHostFunc"], |context| {
        let stream = context.stream().unwrap();
        let mut buffer = context.alloc::<u8>(64).unwrap();
        let up = stream.upload(context.pinned(64).unwrap(), &mut buffer).unwrap();
        let mut owned = Some(context.alloc::<u8>(64).unwrap());
        stream.host_function(move || drop(owned.take())).unwrap();
        let down = stream.download(&buffer, context.pinned(64).unwrap()).unwrap();
        let pinned = context.pinned::<u8>(64).unwrap();
        vec![Box::new(stream), Box::new(buffer), Box::new(up), Box::new(down), Box::new(pinned)]
    });
}

#[test]
fn graphs_their_streams_and_what_they_use() {
    in_every_order(&["aclmdlRIDestroy", "aclmdlRIExecuteAsync", "aclDestroyTensor"], |context| {
        let (recorder, runner) = (context.stream().unwrap(), context.stream().unwrap());
        let a = context.upload_tensor(&[1.0_f32; 4], [4]).unwrap();
        let mut out = context.zeros::<f32>([4]).unwrap();
        let mut graph = recorder
            .capture(CaptureMode::ThreadLocal, |s| {
                let side = s.side("side")?;
                s.fork(&side)?;
                side.prefetch(&a, Prefetch::all())?;
                s.join(&side)?;
                op::add_inplace(s, &mut out, &a)
            })
            .unwrap();
        graph.launch(&runner).unwrap();
        vec![Box::new(recorder), Box::new(runner), Box::new(a), Box::new(out), Box::new(graph)]
    });
}

#[test]
fn an_open_capture_has_what_was_recorded() {
    in_every_order(&["aclmdlRICaptureEnd", "aclrtDestroyStream"], |context| {
        let (stream, side) = (context.stream().unwrap(), context.stream().unwrap());
        let mut buffer = context.alloc::<u8>(16).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        capture.stream().fork(&side).unwrap();
        side.fill_bytes(&mut buffer, 1).unwrap();
        let event = context.event().unwrap();
        event.record(&side).unwrap();
        vec![Box::new(stream), Box::new(side), Box::new(buffer), Box::new(capture), Box::new(event)]
    });
}

#[test]
fn executables_their_pool_and_their_bindings() {
    in_every_order(&["aclmdlRIDestroy", "aclDestroyAclOpExecutor"], |context| {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
            let y = g.adds(g.muls(g.abs(x)?, 2.0)?, 1.0)?;
            g.output("y", y)
        })
        .unwrap();
        let pool = Pool::new(context);
        let options = RunOptions::new().mode(Mode::Captured).pool(&pool);
        let mut exe = plan.executable(context, &options, Frozen::new()).unwrap();
        let stream = context.stream().unwrap();
        let x = context.upload_tensor(&[-2.0_f32; 4], [4]).unwrap();
        let (mut bind, input) = (exe.bindings(), exe.input("x").unwrap());
        exe.run(&stream, bind.set(input, &x)).unwrap();
        vec![Box::new(exe), Box::new(pool), Box::new(stream), Box::new(x), Box::new(bind)]
    });
}

#[test]
fn a_graph_that_is_built_by_hand_and_its_streams() {
    in_every_order(&["aclmdlRIBindStream", "aclrtDestroyLabel"], |context| {
        let runner = context.stream().unwrap();
        let mut buffer = context.alloc_zeroed::<u8>(16).unwrap();
        let mut builder = context.build_graph().unwrap();
        let (first, side, label) =
            (builder.first().clone(), builder.stream("side").unwrap(), context.label().unwrap());
        first.start(&side).unwrap();
        side.fill_bytes(&mut buffer, 1).unwrap();
        first.set_label(&label).unwrap();
        let mut graph = builder.finish().unwrap();
        graph.launch(&runner).unwrap();
        vec![Box::new(runner), Box::new(buffer), Box::new(side), Box::new(label), Box::new(graph)]
    });
}
