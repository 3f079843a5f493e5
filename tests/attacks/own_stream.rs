//! Host functions that call on their own stream, with every function that takes one, while another thread waits for room
//! in its queue and has its lock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use racl::op::{self, ReduceKind};
use racl::plan::{Bindings, Executable, External, Frozen, Input, Mode, OnMove, Plan, RunOptions};
use racl::{
    CaptureMode, CopyDescriptor, CountUpdate, CountWait, CountingNotify, DeviceBuffer, DeviceFlag, DevicePointer,
    Error, Event, ExternalEvent, Graph, ManagedBuffer, ManagedPlace, Notify, PinnedBuffer, Prefetch, Rows, Stream,
    Tensor, ValueWait,
};

use crate::arena::{Arena, until_still};

/// What the functions need besides the stream.
struct Things {
    own: Stream,
    side: Stream,
    bytes: DeviceBuffer<u8>,
    other: DeviceBuffer<u8>,
    words: DeviceBuffer<i32>,
    more: DeviceBuffer<i32>,
    tensor: Tensor<f32>,
    result: Tensor<f32>,
    pinned: Option<PinnedBuffer<u8>>,
    managed: ManagedBuffer<u8>,
    flag: DeviceFlag,
    event: Event,
    external: ExternalEvent,
    notify: Notify,
    counting: CountingNotify,
    copy: CopyDescriptor<u8>,
    pointer: DevicePointer<u8>,
    target: DevicePointer<u8>,
    graph: Graph,
    exe: Executable,
    bind: Bindings,
    gate: External,
}

impl Things {
    fn new(arena: &Arena, own: &Stream, side: &Stream) -> Self {
        let context = &arena.context;
        let alloc = || context.alloc_zeroed::<u8>(256).unwrap();
        let (from, to) = (alloc().into_shared(), alloc().into_shared());
        let event = context.event().unwrap();
        event.record(side).unwrap();
        let mut gates = None;
        let plan = Plan::build(|g| {
            gates = Some(g.external("gate")?);
            let x = g.input("x", [4], racl::op::DataType::F32, Input::Tracked(OnMove::Recapture))?;
            let y = g.adds(x, 1.0)?;
            g.output("y", y)
        });
        let options = RunOptions::new().mode(Mode::Captured);
        let exe = plan.unwrap().executable(context, &options, Frozen::new()).unwrap();
        let (x, mut bind) = (exe.input("x").unwrap(), exe.bindings());
        let tensor = arena.tensor(1.0);
        bind.set(x, &tensor);
        let mut filled = alloc();
        Self {
            own: own.clone(),
            side: side.clone(),
            bytes: alloc(),
            other: alloc(),
            words: context.alloc_zeroed(64).unwrap(),
            more: context.alloc_zeroed(64).unwrap(),
            result: arena.tensor(0.0),
            pinned: Some(context.pinned(256).unwrap()),
            managed: context.managed(256).unwrap(),
            flag: context.flag(0).unwrap(),
            event,
            external: context.external_event().unwrap(),
            notify: context.notify().unwrap(),
            counting: context.counting_notify().unwrap(),
            copy: context.copy_descriptor(&from, &to, 64).unwrap(),
            pointer: context.device_pointer(&from).unwrap(),
            target: context.device_pointer(&to).unwrap(),
            graph: side.capture(CaptureMode::Relaxed, |s| s.fill_bytes(&mut filled, 1)).unwrap(),
            gate: gates.unwrap(),
            tensor,
            exe,
            bind,
        }
    }

    /// Lends the pinned memory to `copy`, which is to be refused.
    fn lend<T>(
        &mut self,
        copy: impl FnOnce(&mut Self, PinnedBuffer<u8>) -> Result<T, racl::Refused<PinnedBuffer<u8>>>,
    ) -> Result<(), Error> {
        let pinned = self.pinned.take().unwrap();
        let (pinned, error) = copy(self, pinned).err().expect("it was allowed").into_parts();
        self.pinned = Some(pinned);
        Err(error)
    }
}

type Call = (&'static str, fn(&mut Things) -> Result<(), Error>);

/// All that would give the stream work, or wait for it.
const REFUSED: &[Call] = &[
    ("fill_bytes", |t| t.own.fill_bytes(&mut t.bytes, 1)),
    ("fill_words", |t| t.own.fill_words(&mut t.words, 1)),
    ("copy", |t| t.own.copy(&t.bytes, &mut t.other)),
    ("copy_peer", |t| t.own.copy_peer(&t.bytes, &mut t.other)),
    ("copy_rows", |t| t.own.copy_rows(&t.bytes, &mut t.other, Rows::new(64, 2))),
    ("copy_described", |t| t.own.copy_described(&t.copy)),
    ("copy_pointed", |t| t.own.copy_pointed((&t.pointer, 0), (&t.target, 0), 64)),
    ("upload", |t| t.lend(|t, pinned| t.own.upload(pinned, &mut t.bytes))),
    ("download", |t| t.lend(|t, pinned| t.own.download(&t.bytes, pinned))),
    ("upload_rows", |t| t.lend(|t, pinned| t.own.upload_rows(pinned, &mut t.bytes, Rows::new(64, 2)))),
    ("download_rows", |t| t.lend(|t, pinned| t.own.download_rows(&t.bytes, pinned, Rows::new(64, 2)))),
    ("upload_batch", |t| {
        t.lend(|t, pinned| t.own.upload_batch(pinned, &mut [(t.bytes.slice_mut(..).unwrap(), 0..256)]))
    }),
    ("download_batch", |t| t.lend(|t, pinned| t.own.download_batch(&[(t.bytes.slice(..).unwrap(), 0..256)], pinned))),
    ("reduce_into", |t| op::reduce_into(&t.own, &t.words, &mut t.more, ReduceKind::Sum)),
    ("prefetch", |t| t.own.prefetch(&t.bytes, Prefetch::all()).map(drop)),
    ("prefetch_managed", |t| t.own.prefetch_managed(&t.managed, .., ManagedPlace::Device(0))),
    ("write_value", |t| t.own.write_value(&t.flag, 1)),
    ("wait_value", |t| t.own.wait_value(&t.flag, ValueWait::Equal(0))),
    ("Event::record", |t| t.event.record(&t.own)),
    ("wait", |t| t.own.wait(&t.event)),
    ("fork", |t| t.own.fork(&t.side)),
    ("fork to it", |t| t.side.fork(&t.own)),
    ("join", |t| t.own.join(&t.side)),
    ("ExternalEvent::record", |t| t.external.record(&t.own)),
    ("ExternalEvent::reset", |t| t.external.reset(&t.own)),
    ("wait_external", |t| t.own.wait_external(&t.external, None)),
    ("Notify::record", |t| t.notify.record(&t.own)),
    ("wait_notify", |t| t.own.wait_notify(&t.notify, None)),
    ("CountingNotify::record", |t| t.counting.record(&t.own, CountUpdate::Add(1))),
    ("CountingNotify::reset", |t| t.counting.reset(&t.own)),
    ("wait_count", |t| t.own.wait_count(&t.counting, CountWait::equal(1))),
    ("host_function", |t| t.own.host_function(|| ())),
    ("an operator", |t| op::adds(&t.own, &t.tensor, 1.0, &mut t.result)),
    ("another operator", |t| op::softmax(&t.own, &t.tensor, 0, &mut t.result)),
    ("a result", |t| t.own.zeros::<f32>([4]).map(drop)),
    ("alloc", |t| t.own.alloc::<u8>(64).map(drop)),
    ("overflow_status", |t| t.own.overflow_status(&mut t.bytes)),
    ("reset_overflow_status", |t| t.own.reset_overflow_status()),
    ("has_overflowed", |t| t.own.has_overflowed().map(drop)),
    ("Graph::launch", |t| t.graph.launch(&t.own)),
    ("capture", |t| t.own.capture(CaptureMode::Relaxed, |_| Ok(())).map(drop)),
    ("begin_capture", |t| t.own.begin_capture(CaptureMode::Relaxed).map(drop)),
    ("Executable::run", |t| t.exe.run(&t.own, &mut t.bind)),
    ("Executable::signal", |t| t.exe.signal(t.gate, &t.own)),
    ("Executable::wait_signal", |t| t.exe.wait_signal(t.gate, &t.own)),
    ("synchronize", |t| t.own.synchronize()),
    ("synchronize_timeout", |t| t.own.synchronize_timeout(Duration::from_secs(500))),
    ("abort", |t| t.own.abort()),
];

/// What is answered at once, or refused; it does not matter which.
const ANSWERED: &[Call] = &[
    ("is_complete", |t| t.own.is_complete().map(drop)),
    ("is_captured_by_others", |t| t.own.is_captured_by_others().map(drop)),
    ("id", |t| t.own.id().map(drop)),
    ("priority", |t| t.own.priority().map(drop)),
    ("tag", |t| t.own.tag().map(drop)),
    ("set_tag", |t| t.own.set_tag(1)),
    ("checks_overflow", |t| t.own.checks_overflow().map(drop)),
    ("stops_on_failure", |t| t.own.stops_on_failure().map(drop)),
    ("core_limit", |t| t.own.core_limit().map(drop)),
    ("mark", |t| t.own.mark("a mark").map(drop)),
    ("close", |t| t.own.clone().close().map_err(Error::from)),
    ("give_back", |t| t.own.clone().give_back().map(drop).map_err(Error::from)),
    ("what is no result", |t| {
        assert!(!t.own.is_capturing());
        t.own.set_name("own");
        assert_eq!(t.own.name(), "stream \"own\"");
        assert!(format!("{:?}", t.own).contains("own"));
        Ok(())
    }),
];

#[test]
fn no_call_on_the_own_stream_behind_a_full_queue_hangs() {
    let arena = Arena::new();
    let (stream, side, mut x) = (arena.stream(), arena.stream(), arena.tensor(0.0));
    let things = Arc::new(Mutex::new(Some(Things::new(&arena, &stream, &side))));
    let (given, answers) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
    let (counts, told, place) = (Arc::clone(&given), Arc::clone(&answers), Arc::clone(&things));
    stream
        .host_function(move || {
            // The queue is full then.
            until_still(|| Some(counts.load(Ordering::Acquire)).filter(|given| *given > 0));
            let mut place = place.lock().unwrap();
            let things = place.as_mut().unwrap();
            for (name, call) in REFUSED.iter().chain(ANSWERED) {
                told.lock().unwrap().push((*name, call(things)));
            }
        })
        .unwrap();
    thread::scope(|scope| {
        scope.spawn(|| stream.synchronize().unwrap());
        for _ in 0..5000 {
            op::fill(&stream, &mut x, 1.0).unwrap();
            given.fetch_add(1, Ordering::AcqRel);
        }
    });
    let answers = std::mem::take(&mut *answers.lock().unwrap());
    assert_eq!(answers.len(), REFUSED.len() + ANSWERED.len());
    for (name, answer) in &answers[..REFUSED.len()] {
        let error = answer.as_ref().expect_err(name);
        assert!(super::host::FORBIDDEN.contains(&error.kind()), "{name}: {error:#}");
    }
    stream.synchronize().unwrap();
    assert_eq!(x.to_vec().unwrap(), [1.0; 4]);
    *things.lock().unwrap() = None;
    drop((stream, side, x));
    arena.end();
}
