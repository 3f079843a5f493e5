//! Where an attack takes place, and what has to hold after it.

use std::sync::MutexGuard;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::common::mock;
use racl::op::DataType::F32;
use racl::plan::{Builder, Executable, Frozen, Input, Mode, OnMove, Plan, RunOptions, Value};
use racl::{Context, Device, Error, ErrorKind, Result, Stream, Tensor};

use crate::watchdog::Watchdog;

/// A context of its own on a device that stays, so that what an attack leaves can be counted.
pub(crate) struct Arena {
    pub(crate) context: Context,
    /// Errors of destructors that the attack is about.
    pub(crate) expected: Vec<ErrorKind>,
    device: Device,
    before: Live,
    _watched: Watchdog,
    _alone: MutexGuard<'static, ()>,
}

/// Contexts, streams, events, graphs, allocations, bytes, pinned ones, tensors, scalars, arrays, lists, executors.
type Live = [u64; 13];

/// Another library does not tell: then nothing is counted.
fn live() -> Live {
    if !crate::common::is_mock() {
        return Live::default();
    }
    let live = mock::live_handles();
    let memory = [live.device_allocations, live.device_bytes, live.pinned_allocations, live.pinned_bytes];
    let described = [live.tensors, live.scalars, live.arrays, live.lists, live.executors];
    let mut all = [0; 13];
    all[..4].copy_from_slice(&[live.contexts, live.streams, live.events, live.graphs]);
    all[4..8].copy_from_slice(&memory);
    all[8..].copy_from_slice(&described);
    all
}

impl Arena {
    pub(crate) fn new() -> Self {
        let alone = mock::exclusive();
        racl::set_drop_limit(Duration::from_secs(10));
        mock::clear_failures();
        mock::limit_streams(None).unwrap();
        mock::limit_events(None).unwrap();
        mock::stand_still(false);
        let device = crate::common::device();
        let before = live();
        let context = device.context().create_context().unwrap();
        Self { context, expected: Vec::new(), device, before, _watched: Watchdog::new(), _alone: alone }
    }

    pub(crate) fn stream(&self) -> Stream {
        self.context.stream().unwrap()
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn tensor(&self, value: f32) -> Tensor<f32> {
        self.context.upload_tensor(&[value; 4], [4]).unwrap()
    }

    /// `mode`'s executable of y = work(x) for four numbers that may move.
    pub(crate) fn executable(&self, mode: Mode, work: impl FnOnce(&Builder, Value) -> Result<Value>) -> Executable {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Tracked(OnMove::Recapture))?;
            let y = work(g, x)?;
            g.output("y", y)
        });
        plan.unwrap().executable(&self.context, &RunOptions::new().mode(mode), Frozen::new()).unwrap()
    }

    /// That everything works as if nothing had been, and that nothing is left.
    #[track_caller]
    pub(crate) fn end(self) {
        self.still_works();
        self.left_nothing();
    }

    #[track_caller]
    pub(crate) fn still_works(&self) {
        mock::clear_failures();
        mock::limit_streams(None).unwrap();
        mock::limit_events(None).unwrap();
        let stream = self.stream();
        let mut out = self.tensor(0.0);
        let (a, b) = (self.tensor(2.0), self.tensor(3.0));
        racl::op::mul(&stream, &a, &b, &mut out).unwrap();
        let one = self.tensor(1.0);
        let mut graph =
            stream.capture(racl::CaptureMode::ThreadLocal, |s| racl::op::add_inplace(s, &mut out, &one)).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [7.0; 4]);
    }

    #[track_caller]
    fn left_nothing(self) {
        let Self { context, expected, device, before, _watched, _alone } = self;
        let _ = context.synchronize();
        let errors = context.take_drop_errors();
        let kinds: Vec<_> = errors.iter().map(Error::kind).collect();
        assert_eq!(kinds, expected, "errors of destructors: {errors:#?}");
        context.close().expect("nothing belongs to the context any more");
        drop(device.context().take_drop_errors());
        let mut after = live();
        // Streams and memory: contexts that other attacks leaked may have given back what they kept.
        for kept in [1, 4, 5] {
            assert!(after[kept] <= before[kept], "what is alive: {after:?}, {before:?}");
            after[kept] = before[kept];
        }
        assert_eq!(after, before, "what is alive");
    }

    /// For attacks that leak on purpose: only that everything works.
    #[track_caller]
    pub(crate) fn end_with_leaks(self) {
        self.still_works();
        drop(self.context.take_drop_errors());
    }
}

/// y = 2 |x| + 1 for four numbers.
pub(crate) fn formula(g: &Builder, x: Value) -> Result<Value> {
    let h = g.abs(x)?;
    let h = g.muls(h, 2.0)?;
    g.adds(h, 1.0)
}

/// The result `y` of the last run.
#[track_caller]
pub(crate) fn result(exe: &Executable) -> Vec<f32> {
    let y = exe.output_id("y").unwrap();
    exe.output::<f32>(y).unwrap().to_vec().unwrap()
}

/// Runs with `x` and gives the result.
#[track_caller]
pub(crate) fn run(exe: &mut Executable, stream: &Stream, x: &Tensor<f32>) -> Vec<f32> {
    let mut bind = exe.bindings();
    bind.set(exe.input("x").unwrap(), x);
    exe.run(stream, &mut bind).unwrap();
    result(exe)
}

/// That it is refused, as one of `kinds`, in a line.
#[track_caller]
pub(crate) fn refused<T>(done: Result<T>, kinds: &[ErrorKind]) -> Error {
    match done {
        Ok(_) => panic!("it was taken"),
        Err(error) => {
            let text = error.to_string();
            assert!(kinds.contains(&error.kind()), "{:?}: {text}", error.kind());
            assert!(!text.is_empty() && text.lines().count() == 1, "{text}");
            error
        }
    }
}

/// Polls without an end of its own: the watchdog has one.
pub(crate) fn until(mut done: impl FnMut() -> bool) {
    while !done() {
        std::thread::yield_now();
    }
}

/// Until `count` stays the same, which means most of the time that whoever counts waits; whether it does must not
/// matter for what comes.
pub(crate) fn until_still<T: PartialEq>(mut count: impl FnMut() -> Option<T>) {
    loop {
        let (before, moment) = (count(), Instant::now());
        until(|| moment.elapsed() > Duration::from_millis(50));
        if before.is_some() && before == count() {
            return;
        }
    }
}

/// Work that `stream` is given from now on waits until this is dropped.
pub(crate) struct Gate(Option<Sender<()>>);

impl Gate {
    pub(crate) fn before(stream: &Stream) -> Self {
        let (sender, opened) = channel::<()>();
        stream
            .host_function(move || {
                let _ = opened.recv();
            })
            .unwrap();
        Self(Some(sender))
    }

    /// Runs `work`, which waits for what the gate holds up, and opens the gate when it has begun.
    pub(crate) fn opens_during<T: Send>(mut self, work: impl FnOnce() -> T + Send) -> T {
        let (began, begun) = channel();
        std::thread::scope(|scope| {
            let worker = scope.spawn(move || {
                began.send(()).unwrap();
                work()
            });
            begun.recv().unwrap();
            // Not before it waits, most of the time; what it finds is the same.
            std::thread::yield_now();
            drop(self.0.take());
            worker.join().unwrap()
        })
    }

    pub(crate) fn open(self) {}
}
