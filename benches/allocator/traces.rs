//! Sequences of allocations and frees: three recorded ones, and three that are made from fixed seeds.
//!
//! A recorded one is a file in `benches/traces`, with a line for each step; its first line says which program it is of.
//! Streams have numbers from 0 on.
//!
//! | line | what happened |
//! |---|---|
//! | `a 7 1024` | the allocation 7, of 1,024 bytes, for whatever work comes |
//! | `a 7 1024 0` | the same, for work of the stream 0: earlier work of it may use the memory still |
//! | `g 7 1 0` | the program gave it up; work of the streams 1 and 0, which used it in this order, is not known to be done |
//! | `f 7` | the program gave it up and no work uses it, or, after `g`, the work is done and the program knows of it |
//!
//! Anything else is a comment.

use fastrand::Rng;

/// What happened, in order.
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<Step>,
    /// Allocations are named by numbers below this.
    pub(crate) names: usize,
    /// Streams by numbers below this.
    pub(crate) streams: usize,
}

pub(crate) enum Step {
    /// The name, bytes, and the stream that it is for.
    Alloc(usize, usize, Option<usize>),
    /// The name, and streams whose work may use it still.
    GiveUp(usize, Vec<usize>),
    /// Nobody has it, and no work uses it.
    Free(usize),
}

impl Trace {
    /// Bytes that the program has at most at a time: what it gave up it has no more, whatever work does.
    pub(crate) fn peak(&self) -> usize {
        let mut bytes = vec![0; self.names];
        let (mut now, mut peak) = (0, 0);
        for step in &self.steps {
            match *step {
                Step::Alloc(name, size, _) => {
                    bytes[name] = size;
                    now += size;
                    peak = peak.max(now);
                }
                Step::GiveUp(name, _) | Step::Free(name) => now -= std::mem::take(&mut bytes[name]),
            }
        }
        peak
    }
}

pub(crate) fn all() -> Vec<Trace> {
    vec![
        recorded("embed", include_str!("../traces/embed.txt")),
        recorded("decode", include_str!("../traces/decode.txt")),
        recorded("training", include_str!("../traces/training.txt")),
        training(),
        random(),
        adversarial(),
    ]
}

fn recorded(name: &'static str, text: &str) -> Trace {
    let mut maker = Maker::default();
    for line in text.lines() {
        let mut words = line.split(' ');
        let kind = words.next();
        if !matches!(kind, Some("a" | "g" | "f")) {
            continue;
        }
        let numbers: Vec<usize> = words.map(|word| word.parse().expect("a number")).collect();
        let streams = match (kind, &*numbers) {
            (Some("a"), &[name, bytes, ref streams @ ..]) if streams.len() < 2 => {
                maker.steps.push(Step::Alloc(name, bytes, streams.first().copied()));
                maker.names = maker.names.max(name + 1);
                streams
            }
            (Some("g"), [name, streams @ ..]) if !streams.is_empty() => {
                maker.steps.push(Step::GiveUp(*name, streams.to_vec()));
                streams
            }
            (Some("f"), [name]) => {
                maker.steps.push(Step::Free(*name));
                &[]
            }
            _ => panic!("{name}: no such step: {line}"),
        };
        maker.streams = streams.iter().map(|stream| stream + 1).fold(maker.streams, usize::max);
    }
    maker.into_trace(name)
}

#[derive(Default)]
struct Maker {
    steps: Vec<Step>,
    names: usize,
    streams: usize,
}

impl Maker {
    fn alloc(&mut self, bytes: usize) -> usize {
        self.steps.push(Step::Alloc(self.names, bytes, None));
        self.names += 1;
        self.names - 1
    }

    fn free(&mut self, name: usize) {
        self.steps.push(Step::Free(name));
    }

    fn into_trace(self, name: &'static str) -> Trace {
        Trace { name, steps: self.steps, names: self.names, streams: self.streams }
    }
}

/// Weights with two moments each, and batches of differing length: each layer keeps its activations, of which the way
/// back frees one after the other beside gradients and scratch memory.
fn training() -> Trace {
    let (mut random, mut maker) = (Rng::with_seed(1), Maker::default());
    let (layers, width) = (24_usize, 1024_usize);
    for _ in 0..3 * layers {
        for bytes in [4 * width * width, 4 * 4 * width * width, 4 * width, 16 * width] {
            maker.alloc(bytes);
        }
    }
    for _ in 0..20 {
        let tokens = 64 * random.usize(4..=32);
        let mut kept = Vec::new();
        for _ in 0..layers {
            let scratch = maker.alloc(16 * tokens * tokens / 4);
            kept.push([4 * width, 16 * width, 4 * width, 12].map(|row| maker.alloc(row * tokens)));
            maker.free(scratch);
        }
        let mut gradient = maker.alloc(4 * width * tokens);
        let mut weights = Vec::new();
        for activations in kept.into_iter().rev() {
            let scratch = maker.alloc(16 * width * tokens);
            let next = maker.alloc(4 * width * tokens);
            weights.push(maker.alloc(16 * width * width));
            activations.into_iter().for_each(|activation| maker.free(activation));
            maker.free(scratch);
            maker.free(std::mem::replace(&mut gradient, next));
        }
        maker.free(gradient);
        weights.into_iter().for_each(|weight| maker.free(weight));
    }
    maker.into_trace("larger training")
}

/// Sizes from 64 B to 64 MiB, each power of two as likely, given up in any order.
fn random() -> Trace {
    let (mut random, mut maker) = (Rng::with_seed(2), Maker::default());
    let mut held = Vec::new();
    for step in 0..20_000 {
        if held.len() < 50 || (held.len() < 400 && random.bool()) {
            let power = random.usize(6..26);
            held.push(maker.alloc((1 << power) + random.usize(..1 << power)));
        } else {
            maker.free(held.swap_remove(random.usize(..held.len())));
        }
        // Now and then most goes.
        if step % 4000 == 3999 {
            random.shuffle(&mut held);
            held.split_off(20).into_iter().for_each(|name| maker.free(name));
        }
    }
    maker.into_trace("random")
}

/// Against whoever divides and merges: every other one of many equal blocks goes, and then come slightly larger ones,
/// again and again.
fn adversarial() -> Trace {
    let mut maker = Maker::default();
    for start in [3000, 200_000, 3 << 20] {
        let mut bytes = start;
        let mut kept = Vec::new();
        for _ in 0..6 {
            let all: Vec<_> = (0..64).map(|_| maker.alloc(bytes)).collect();
            for (index, name) in all.into_iter().enumerate() {
                if index % 2 == 0 { maker.free(name) } else { kept.push(name) }
            }
            bytes += bytes / 4;
        }
        kept.into_iter().for_each(|name| maker.free(name));
    }
    maker.into_trace("adversarial")
}
