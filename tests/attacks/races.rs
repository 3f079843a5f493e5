//! Programs at random under the checks of races, which are to see what is in no order and nothing else.

use std::collections::HashMap;

use crate::common::mock::{self, RaceCheck};
use fastrand::Rng;
use racl::{
    Allocator, CaptureMode, Context, DeviceBuffer, Event, Graph, GraphPool, Lent, Result, SharedBuffer, Stream,
};

use crate::arena::Arena;
use crate::processes::ends_well;

/// Streams, buffers, events, and each buffer in so many parts.
const EACH: usize = 3;
const PARTS: usize = 4;
const BYTES: usize = 64;

/// From one part to another.
type Part = (usize, usize);

/// The latest step of each stream and chain that is over.
type Clock = HashMap<usize, u64>;

#[derive(Clone, Copy, Debug)]
enum Work {
    Fill(usize, Part),
    Copy((usize, Part), (usize, Part)),
}

/// In a graph of one main chain, 0, and two others.
#[derive(Clone, Copy, Debug)]
enum Node {
    On(usize, Work),
    /// One chain waits for another.
    Waits(usize, usize),
}

struct Access {
    chain: usize,
    step: u64,
    clock: Clock,
    buffer: usize,
    part: Part,
    writes: bool,
}

/// What is in order, without the mock.
struct Order {
    streams: Vec<Clock>,
    events: Vec<Clock>,
    host: Clock,
    accesses: Vec<Access>,
    /// Of graphs.
    chains: usize,
}

fn join(clock: &mut Clock, other: &Clock) {
    for (chain, step) in other {
        let known = clock.entry(*chain).or_default();
        *known = (*known).max(*step);
    }
}

impl Work {
    fn any(rng: &mut Rng) -> Self {
        let len = rng.usize(1..=PARTS);
        let mut part = || {
            let at = rng.usize(0..=PARTS - len);
            (at, at + len)
        };
        let (from, to) = (part(), part());
        let first = rng.usize(..EACH);
        if rng.bool() { Self::Fill(first, to) } else { Self::Copy((first, from), ((first + 1) % EACH, to)) }
    }

    fn run(self, stream: &Stream, buffers: &[SharedBuffer<u8>]) -> Result<()> {
        let part = |buffer: usize, (from, to): Part| buffers[buffer].slice(from * BYTES..to * BYTES);
        match self {
            Self::Fill(buffer, to) => stream.fill_bytes(&mut part(buffer, to)?, 1),
            Self::Copy((source, from), (buffer, to)) => stream.copy(&part(source, from)?, &mut part(buffer, to)?),
        }
    }
}

impl Order {
    fn touch(&mut self, chain: usize, clock: &mut Clock, work: Work) {
        let step = clock.entry(chain).or_default();
        *step += 1;
        let step = *step;
        let mut note = |(buffer, part), writes| {
            self.accesses.push(Access { chain, step, clock: clock.clone(), buffer, part, writes });
        };
        match work {
            Work::Fill(buffer, to) => note((buffer, to), true),
            Work::Copy(from, to) => {
                note(from, false);
                note(to, true);
            }
        }
    }

    fn submit(&mut self, stream: usize, change: impl FnOnce(&mut Self, &mut Clock)) {
        let mut clock = std::mem::take(&mut self.streams[stream]);
        join(&mut clock, &self.host);
        change(self, &mut clock);
        self.streams[stream] = clock;
    }

    fn launch(&mut self, stream: usize, nodes: &[Node]) {
        let chains = [stream, self.chains, self.chains + 1];
        self.chains += 2;
        self.submit(stream, |order, clock| {
            let mut clocks = [0; 3].map(|_| clock.clone());
            for node in nodes {
                match *node {
                    Node::On(chain, work) => order.touch(chains[chain], &mut clocks[chain], work),
                    Node::Waits(chain, other) => {
                        let other = clocks[other].clone();
                        join(&mut clocks[chain], &other);
                    }
                }
            }
            clocks.iter().for_each(|other| join(clock, other));
        });
    }

    fn has_race(&self) -> bool {
        let races = |a: &Access, b: &Access| {
            let meet = a.buffer == b.buffer && a.part.0 < b.part.1 && b.part.0 < a.part.1;
            let before = a.chain == b.chain || b.clock.get(&a.chain).is_some_and(|step| *step >= a.step);
            meet && (a.writes || b.writes) && !before
        };
        let later = |at: usize| &self.accesses[at + 1..];
        self.accesses.iter().enumerate().any(|(at, a)| later(at).iter().any(|b| races(a, b)))
    }
}

fn capture(stream: &Stream, nodes: &[Node], buffers: &[SharedBuffer<u8>]) -> Graph {
    let record = |main: &Stream| {
        let chains = [main.clone(), main.side("1")?, main.side("2")?];
        chains[1..].iter().try_for_each(|side| main.fork(side))?;
        for node in nodes {
            match *node {
                Node::On(chain, work) => work.run(&chains[chain], buffers)?,
                Node::Waits(chain, other) => chains[other].fork(&chains[chain])?,
            }
        }
        chains[1..].iter().try_for_each(|side| main.join(side))
    };
    stream.capture(CaptureMode::ThreadLocal, record).unwrap()
}

fn node(rng: &mut Rng) -> Node {
    match rng.u8(..3) {
        0 => {
            let chain = rng.usize(..3);
            Node::Waits(chain, (chain + 1 + rng.usize(..2)) % 3)
        }
        _ => Node::On(rng.usize(..3), Work::any(rng)),
    }
}

fn streams(context: &Context) -> Vec<Stream> {
    (0..EACH).map(|_| context.stream().unwrap()).collect()
}

fn buffers(context: &Context) -> Vec<SharedBuffer<u8>> {
    (0..EACH).map(|_| context.alloc(PARTS * BYTES).unwrap().into_shared()).collect()
}

fn events(context: &Context) -> Vec<Event> {
    (0..EACH).map(|_| context.event().unwrap()).collect()
}

/// Whether the mock finds races, whether there are any, and the program.
fn untidy(arena: &Arena, seed: u64) -> (bool, bool, String) {
    let mut rng = Rng::with_seed(seed);
    let (context, mut text) = (&arena.context, String::new());
    let (streams, buffers, events) = (streams(context), buffers(context), events(context));
    let nodes: Vec<Vec<Node>> = (0..2).map(|_| (0..rng.usize(1..6)).map(|_| node(&mut rng)).collect()).collect();
    let mut graphs: Vec<Graph> = nodes.iter().map(|nodes| capture(&streams[0], nodes, &buffers)).collect();
    let mut launched = [None; 2];
    let none = || vec![Clock::new(); EACH];
    let mut order = Order { streams: none(), events: none(), host: Clock::new(), accesses: Vec::new(), chains: EACH };
    mock::check_races(RaceCheck::Report);
    for _ in 0..rng.usize(3..16) {
        let (stream, event) = (rng.usize(..EACH), rng.usize(..EACH));
        let what = rng.u8(..12);
        text += &format!("{what}: stream {stream}, event {event}");
        match what {
            0 | 1 => {
                events[event].record(&streams[stream]).unwrap();
                order.submit(stream, |order, clock| order.events[event].clone_from(clock));
            }
            2 | 3 => {
                streams[stream].wait(&events[event]).unwrap();
                order.submit(stream, |order, clock| join(clock, &order.events[event]));
            }
            4 => {
                streams[stream].synchronize().unwrap();
                join(&mut order.host, &order.streams[stream]);
            }
            5 => {
                events[event].synchronize().unwrap();
                join(&mut order.host, &order.events[event]);
            }
            6 | 7 => {
                let graph = rng.usize(..2);
                text += &format!(", graph {:?}", nodes[graph]);
                graphs[graph].launch(&streams[stream]).unwrap();
                // A graph does not run beside itself: it waits for all that the stream before was given.
                if let Some(before) = launched[graph].replace(stream).filter(|before| *before != stream) {
                    order.submit(before, |_, _| {});
                    order.submit(stream, |order, clock| join(clock, &order.streams[before]));
                }
                order.launch(stream, &nodes[graph]);
            }
            _ => {
                let work = Work::any(&mut rng);
                text += &format!(", {work:?}");
                work.run(&streams[stream], &buffers).unwrap();
                order.submit(stream, |order, clock| order.touch(stream, clock, work));
            }
        }
        text += "\n";
    }
    mock::run_until_idle(); // orders nothing
    let found = mock::races();
    mock::check_races(RaceCheck::Off);
    for race in &found {
        assert!(race.bytes > 0 && race.bytes <= (PARTS * BYTES) as u64, "{race:?}\n{text}");
        text += &format!("{race}\n");
    }
    (!found.is_empty(), order.has_race(), text)
}

/// What a program of one thread has besides.
struct Rest {
    pools: [GraphPool; 2],
    graphs: Vec<Graph>,
    temporaries: Vec<DeviceBuffer<u8>>,
    lent: Vec<Lent<u8>>,
}

fn records(stream: &Stream, pool: &GraphPool, buffers: &[SharedBuffer<u8>]) -> Graph {
    let record = |main: &Stream| {
        let side = main.side("1")?;
        let mut first = main.alloc::<u8>(PARTS * BYTES)?;
        main.fill_bytes(&mut first, 3)?;
        main.fork(&side)?;
        let mut second = side.alloc::<u8>(PARTS * BYTES)?;
        side.copy(&first, &mut second)?;
        side.copy(&second, &mut buffers[1].clone())?;
        drop(second);
        main.copy(&first, &mut buffers[0].clone())?;
        drop(first);
        let mut third = main.alloc::<u8>(PARTS * BYTES)?;
        main.copy(&buffers[2], &mut third)?;
        main.join(&side)?;
        main.host_function(|| {})
    };
    stream.capture_in(CaptureMode::ThreadLocal, pool, record).unwrap()
}

impl Rest {
    fn step(&mut self, rng: &mut Rng, stream: &Stream, buffers: &[SharedBuffer<u8>]) {
        let context = stream.context();
        let buffer = &buffers[rng.usize(..EACH)];
        let pinned = || context.pinned::<u8>(PARTS * BYTES).unwrap();
        let at = |rng: &mut Rng, len: usize| if len == 0 { None } else { Some(rng.usize(..len)) };
        let (graph, temporary) = (at(rng, self.graphs.len()), at(rng, self.temporaries.len()));
        match (rng.u8(..16), graph, temporary, at(rng, self.lent.len())) {
            (0, ..) => self.graphs.push(records(stream, &self.pools[rng.usize(..2)], buffers)),
            (1..=3, Some(graph), ..) => self.graphs[graph].launch(stream).unwrap(),
            (4, Some(graph), ..) => drop(self.graphs.swap_remove(graph)),
            (5, ..) => self.temporaries.push(stream.alloc(rng.usize(1..3000)).unwrap()),
            (6, ..) => self.temporaries.push(context.alloc(rng.usize(1..3000)).unwrap()),
            (7, _, Some(temporary), _) => drop(self.temporaries.swap_remove(temporary)),
            (8, _, Some(temporary), _) => stream.fill_bytes(&mut self.temporaries[temporary], 2).unwrap(),
            (9, _, Some(temporary), _) => drop(self.temporaries[temporary].to_vec().unwrap()),
            (10, ..) => self.lent.push(stream.download(buffer, pinned()).unwrap()),
            (11, ..) => self.lent.push(stream.upload(pinned(), &mut buffer.clone()).unwrap()),
            (12, .., Some(lent)) => drop(self.lent.swap_remove(lent)),
            (13, ..) => drop(buffer.to_vec().unwrap()),
            (14, ..) => buffer.clone().write(&[1; PARTS * BYTES]).unwrap(),
            (15, ..) => drop(context.trim_memory(0)),
            _ => Work::any(rng).run(stream, buffers).unwrap(),
        }
    }
}

/// What is found in a program that tracks its memory.
fn tracked(arena: &Arena, seed: u64) -> Vec<String> {
    let mut rng = Rng::with_seed(seed);
    let context = &arena.context;
    mock::stand_still(rng.bool());
    context.set_allocator([Allocator::Pool, Allocator::Growing, Allocator::Direct][rng.usize(..3)].clone());
    mock::check_races(RaceCheck::Report);
    let (streams, buffers, events) = (streams(context), buffers(context), events(context));
    let pools = [(); 2].map(|()| GraphPool::new(context));
    let mut rest = Rest { pools, graphs: Vec::new(), temporaries: Vec::new(), lent: Vec::new() };
    for _ in 0..rng.usize(10..60) {
        let stream = &streams[rng.usize(..EACH)];
        match rng.u8(..8) {
            0 => events[rng.usize(..EACH)].record(stream).unwrap(),
            1 => stream.wait(&events[rng.usize(..EACH)]).unwrap(),
            2 => stream.synchronize().unwrap(),
            3 => stream.host_function(|| {}).unwrap(),
            _ => rest.step(&mut rng, stream, &buffers),
        }
    }
    context.synchronize().unwrap();
    let found = mock::races().iter().map(ToString::to_string).collect();
    mock::check_races(RaceCheck::Off);
    mock::stand_still(true);
    found
}

/// In a process of its own, since the mock says what it finds.
pub(crate) fn child() {
    let arena = Arena::new();
    mock::stand_still(true);
    let mut seen = [0, 0];
    arena.context.set_tracking(false);
    for seed in 0..3000 {
        let (found, expected, text) = untidy(&arena, seed);
        assert_eq!(found, expected, "seed {seed}:\n{text}");
        seen[usize::from(found)] += 1;
    }
    assert!(seen.iter().all(|count| *count > 300), "{seen:?}");
    arena.context.set_tracking(true);
    for seed in 0..1000 {
        assert_eq!(tracked(&arena, seed), [""; 0], "seed {seed}");
    }
    mock::stand_still(false);
    arena.end();
}

#[test]
fn programs_at_random_against_clocks_of_their_own() {
    ends_well("races", &[]);
}
