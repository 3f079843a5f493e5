//! Random programs over several streams, against the same program on one.

use std::sync::Mutex;

use crate::common::mock::RaceCheck;
use racl::Tensor;
use racl::{CaptureMode, Context, Graph, Result, Stream, op};

use crate::common::{device, mock};

const STREAMS: usize = 4;
const BUFFERS: usize = 6;

/// A generator of numbers that depend on its start alone.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn shuffle(&mut self, values: &mut [usize]) {
        for index in (1..values.len()).rev() {
            values.swap(index, self.below(index + 1));
        }
    }
}

/// One step of a random program, of streams and buffers by number.
#[derive(Debug, Clone, Copy)]
enum Step {
    Fill(usize, usize, u8),
    Add(usize, usize, usize),
    Max(usize, usize, usize, usize),
    Copy(usize, usize, usize),
    Launch(usize, usize),
    Fork(usize, usize),
    /// The host reads a buffer.
    Read(usize),
    /// The device does what it can on some of the streams.
    Progress(u8),
}

fn program(random: &mut Random, steps: usize) -> Vec<Step> {
    let mut step = || {
        let (s, t) = (random.below(STREAMS), random.below(STREAMS));
        let (a, b, c) = (random.below(BUFFERS), random.below(BUFFERS), random.below(BUFFERS));
        match random.below(20) {
            0..4 => Step::Fill(s, a, random.below(5) as u8),
            4..8 if a != b => Step::Add(s, a, b),
            8..11 if a != b && a != c => Step::Max(s, a, b, c),
            11..13 if a != b => Step::Copy(s, a, b),
            13..16 => Step::Launch(s, random.below(GRAPHS)),
            16 if s != t => Step::Fork(s, t),
            17 => Step::Read(a),
            18 => Step::Progress(random.below(1 << STREAMS) as u8),
            _ => Step::Fill(s, a, 1),
        }
    };
    (0..steps).map(|_| step()).collect()
}

const GRAPHS: usize = 3;

struct Machine {
    buffers: Vec<Tensor<f32>>,
    graphs: Vec<Graph>,
    seen: Vec<Vec<f32>>,
}

impl Machine {
    /// With the graphs a += b, c = a + b and a copy of c.
    fn new(context: &Context, streams: &[Stream]) -> Self {
        let buffers = (0..BUFFERS).map(|_| context.zeros::<f32>([16])).collect::<Result<Vec<_>>>().unwrap();
        let mut machine = Self { buffers, graphs: Vec::new(), seen: Vec::new() };
        let recorded = [Step::Add(0, 0, 1), Step::Max(0, 2, 0, 1), Step::Copy(0, 3, 2)];
        for step in recorded {
            let stream = streams[0].clone();
            let graph = stream.capture(CaptureMode::ThreadLocal, |_| {
                machine.submit(step, &stream);
                Ok(())
            });
            machine.graphs.push(graph.unwrap());
        }
        machine
    }

    fn submit(&mut self, step: Step, stream: &Stream) {
        let done = match step {
            Step::Fill(_, a, value) => op::fill(stream, &mut self.buffers[a], f32::from(value)),
            Step::Add(_, a, b) => {
                let other = self.buffers[b].clone();
                op::add_inplace(stream, &mut self.buffers[a], &other)
            }
            Step::Max(_, a, b, c) => {
                let (b, c) = (self.buffers[b].clone(), self.buffers[c].clone());
                op::aclnn::maximum(stream, &b, &c, &mut self.buffers[a])
            }
            Step::Copy(_, a, b) => {
                let from = self.buffers[b].clone();
                op::copy(stream, &from, &mut self.buffers[a])
            }
            Step::Launch(_, graph) => self.graphs[graph].launch(stream),
            Step::Fork(..) | Step::Read(_) | Step::Progress(_) => Ok(()),
        };
        done.unwrap();
    }
}

/// Runs a program; with `random` the streams stand still until a step lets them go, in any order. Gives all that the
/// host saw.
fn run(program: &[Step], context: &Context, streams: &[Stream], random: Option<&mut Random>) -> Vec<Vec<f32>> {
    let mut machine = Machine::new(context, streams);
    let adverse = random.is_some();
    let hold = || streams.iter().filter(|_| adverse).for_each(|stream| mock::hold(stream).unwrap());
    hold();
    let mut order: Vec<_> = (0..streams.len()).collect();
    for step in program {
        match *step {
            Step::Fill(s, ..) | Step::Add(s, ..) | Step::Max(s, ..) | Step::Copy(s, ..) | Step::Launch(s, _) => {
                machine.submit(*step, &streams[s % streams.len()]);
            }
            Step::Fork(s, t) if streams.len() > 1 => streams[s].fork(&streams[t]).unwrap(),
            Step::Read(a) => {
                release(streams, &order);
                machine.seen.push(machine.buffers[a].to_vec().unwrap());
                hold();
            }
            Step::Progress(some) if adverse => {
                order.rotate_left(1);
                for stream in order.iter().filter(|stream| some >> **stream & 1 == 1).map(|index| &streams[*index]) {
                    mock::release(stream).unwrap();
                    mock::run_until_idle();
                    mock::hold(stream).unwrap();
                }
            }
            Step::Fork(..) | Step::Progress(_) => {}
        }
    }
    if let Some(random) = random {
        random.shuffle(&mut order);
    }
    release(streams, &order);
    let Machine { buffers, mut seen, .. } = machine;
    seen.extend(buffers.iter().map(|buffer| buffer.to_vec().unwrap()));
    seen
}

/// Lets the streams go in this order, each as far as it can without those that are still held.
fn release(streams: &[Stream], order: &[usize]) {
    for index in order {
        mock::release(&streams[*index]).unwrap();
        mock::run_until_idle();
    }
}

/// How many of so many programs end in other numbers on four streams than on one.
fn wrong(programs: u64, tracking: bool) -> u64 {
    let _alone = mock::exclusive();
    mock::stand_still(true);
    let context = device().context().create_context().unwrap();
    let streams: Vec<_> = (0..STREAMS).map(|_| context.stream().unwrap()).collect();
    context.set_tracking(tracking);
    let mut wrong = 0;
    let before = mock::check_races(RaceCheck::Report);
    for seed in 1..=programs {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let steps = 5 + random.below(35);
        let program = program(&mut random, steps);
        let expected = run(&program, &context, &streams[..1], None);
        mock::check_races(RaceCheck::Report); // afresh
        let got = run(&program, &context, &streams, Some(&mut random));
        let races = mock::races();
        assert!(races.is_empty() || !tracking, "seed {seed}: {program:?}: {}", races[0]);
        if got != expected {
            assert!(!races.is_empty(), "seed {seed}: {program:?}: {got:?}, not {expected:?}, and no race is seen");
            assert!(!tracking, "seed {seed}: {program:?}: {got:?}, on one stream {expected:?}");
            wrong += 1;
        }
    }
    mock::check_races(before);
    assert_eq!(context.take_drop_errors().len(), 0);
    wrong
}

#[test]
fn programs_on_four_streams_give_what_they_give_on_one() {
    assert_eq!(wrong(3000, true), 0);
}

#[test]
fn the_same_programs_race_without_tracking() {
    let wrong = wrong(200, false);
    assert!(wrong > 100, "only {wrong} of 200 programs show that waits are missing");
}

/// The order between threads is theirs; that between their streams is not.
#[test]
fn threads_that_take_turns_lose_nothing() {
    const TURNS: usize = 500;
    let _alone = mock::exclusive();
    let before = mock::stand_still(false);
    let context = device().context().create_context().unwrap();
    let buffers = (0..BUFFERS).map(|_| context.zeros::<f32>([16]).map(Mutex::new));
    let buffers: Vec<_> = buffers.collect::<Result<_>>().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..STREAMS as u64 {
            let (context, buffers) = (&context, &buffers);
            scope.spawn(move || {
                let (stream, mut random) = (context.stream().unwrap(), Random(thread + 1));
                for _ in 0..TURNS {
                    let mut buffer = buffers[random.below(BUFFERS)].lock().unwrap();
                    op::adds_inplace(&stream, &mut *buffer, 1.0).unwrap();
                }
            });
        }
    });
    let sum: f32 = buffers.iter().map(|buffer| buffer.lock().unwrap().to_vec().unwrap()[0]).sum();
    mock::stand_still(before);
    assert_eq!(sum, (STREAMS * TURNS) as f32);
}
