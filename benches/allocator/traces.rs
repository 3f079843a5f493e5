//! Sequences of allocations and frees: two recorded ones, and three that are made from fixed seeds.

use fastrand::Rng;

/// What happened, in order.
pub(crate) struct Trace {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<Step>,
    /// Allocations are named by numbers below this.
    pub(crate) names: usize,
}

#[derive(Clone, Copy)]
pub(crate) enum Step {
    Alloc(usize, usize),
    Free(usize),
}

pub(crate) fn all() -> Vec<Trace> {
    vec![
        recorded("embed", include_str!("../traces/embed.txt")),
        recorded("decode", include_str!("../traces/decode.txt")),
        training(),
        random(),
        adversarial(),
    ]
}

/// Of a file with a line for each step: `a` with a number and bytes, or `f` with a number. Others are comments.
fn recorded(name: &'static str, text: &str) -> Trace {
    let mut maker = Maker::default();
    for line in text.lines() {
        let mut words = line.split(' ');
        let kind = words.next();
        let mut number = || words.next().and_then(|word| word.parse().ok()).expect("a number");
        match kind {
            Some("a") => {
                let name = number();
                maker.steps.push(Step::Alloc(name, number()));
                maker.names = maker.names.max(name + 1);
            }
            Some("f") => maker.steps.push(Step::Free(number())),
            _ => {}
        }
    }
    maker.into_trace(name)
}

#[derive(Default)]
struct Maker {
    steps: Vec<Step>,
    names: usize,
}

impl Maker {
    fn alloc(&mut self, bytes: usize) -> usize {
        self.steps.push(Step::Alloc(self.names, bytes));
        self.names += 1;
        self.names - 1
    }

    fn free(&mut self, name: usize) {
        self.steps.push(Step::Free(name));
    }

    fn into_trace(self, name: &'static str) -> Trace {
        Trace { name, steps: self.steps, names: self.names }
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
    maker.into_trace("training")
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
