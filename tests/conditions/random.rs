//! Random programs of choices, loops and cases: what a graph computes is what the host does, launch after launch.

use racl::{CaptureMode, Result, Stream, Tensor, op};

use crate::common::device;
use crate::number;

const NUMBERS: usize = 4;

/// Work on a few numbers.
#[derive(Debug)]
enum Step {
    Add(usize, i64),
    Copy(usize, usize),
    /// On a side stream, joined.
    Beside(usize, i64),
    /// Through a temporary, which is given up.
    Through(usize, i64),
    /// A temporary that holds the sum while a body that always runs is at work.
    Across(usize, i64, Vec<Self>),
    IfElse(usize, Vec<Self>, Vec<Self>),
    IfThen(usize, Vec<Self>),
    /// So many rounds.
    Repeat(i64, Vec<Self>),
    Switch(usize, Vec<Vec<Self>>),
}

fn generate(random: &mut fastrand::Rng, depth: usize) -> Vec<Step> {
    let some = 1 + random.usize(..3);
    (0..some).map(|_| step(random, depth)).collect()
}

fn step(random: &mut fastrand::Rng, depth: usize) -> Step {
    let at = random.usize(..NUMBERS);
    match random.usize(..if depth == 0 { 4 } else { 9 }) {
        0 => Step::Add(at, random.i64(-3..4)),
        1 => Step::Copy(at, random.usize(..NUMBERS)),
        2 => Step::Beside(at, random.i64(-3..4)),
        3 => Step::Through(at, random.i64(-3..4)),
        4 => Step::Across(at, random.i64(-3..4), generate(random, depth - 1)),
        5 => Step::IfElse(at, generate(random, depth - 1), generate(random, depth - 1)),
        6 => Step::IfThen(at, generate(random, depth - 1)),
        7 => Step::Repeat(random.i64(0..4), generate(random, depth - 1)),
        _ => Step::Switch(at, (0..1 + random.usize(..3)).map(|_| generate(random, depth - 1)).collect()),
    }
}

fn on_host(steps: &[Step], x: &mut [i64; NUMBERS]) {
    for step in steps {
        match step {
            Step::Add(at, by) | Step::Beside(at, by) | Step::Through(at, by) => x[*at] += by,
            Step::Across(at, by, body) => {
                let sum = x[*at] + by;
                on_host(body, x);
                x[*at] = sum;
            }
            Step::Copy(from, to) => x[*to] = x[*from],
            Step::IfElse(at, then, otherwise) => on_host(if x[*at] != 0 { then } else { otherwise }, x),
            Step::IfThen(at, then) if x[*at] != 0 => on_host(then, x),
            Step::IfThen(..) => {}
            Step::Repeat(rounds, body) => (0..*rounds).for_each(|_| on_host(body, x)),
            Step::Switch(at, cases) => {
                let case = usize::try_from(x[*at]).ok().and_then(|case| cases.get(case));
                case.into_iter().for_each(|case| on_host(case, x));
            }
        }
    }
}

fn record(steps: &[Step], s: &Stream, x: &[Tensor<i64>; NUMBERS]) -> Result<()> {
    steps.iter().try_for_each(|step| record_one(step, s, x))
}

fn record_one(step: &Step, s: &Stream, x: &[Tensor<i64>; NUMBERS]) -> Result<()> {
    let chosen = |at: usize| {
        let condition = s.condition(None)?;
        op::copy(s, &x[at], &mut number(&condition))?;
        Ok::<_, racl::Error>(condition)
    };
    match step {
        Step::Add(at, by) => op::adds_inplace(s, &mut x[*at].clone(), *by),
        Step::Copy(from, to) => op::copy(s, &x[*from], &mut x[*to].clone()),
        Step::Beside(at, by) => {
            let side = s.side("beside")?;
            s.fork(&side)?;
            op::adds_inplace(&side, &mut x[*at].clone(), *by)?;
            s.join(&side)
        }
        Step::Through(at, by) => {
            let mut sum = Tensor::over(s.alloc::<i64>(1)?, [1])?;
            op::adds(s, &x[*at], *by, &mut sum)?;
            op::copy(s, &sum, &mut x[*at].clone())
        }
        Step::Across(at, by, body) => {
            let mut sum = Tensor::over(s.alloc::<i64>(1)?, [1])?;
            op::adds(s, &x[*at], *by, &mut sum)?;
            s.if_then(&s.condition(Some(1))?, |s| record(body, s, x))?;
            op::copy(s, &sum, &mut x[*at].clone())
        }
        Step::IfElse(at, then, otherwise) => {
            s.if_else(&chosen(*at)?, |s| record(then, s, x), |s| record(otherwise, s, x))
        }
        Step::IfThen(at, then) => s.if_then(&chosen(*at)?, |s| record(then, s, x)),
        Step::Repeat(rounds, body) => {
            let condition = s.condition(None)?;
            let mut left = number(&condition);
            op::fill(s, &mut left, *rounds)?;
            s.repeat_while(&condition, |s| {
                record(body, s, x)?;
                op::adds_inplace(s, &mut left, -1_i64)
            })
        }
        Step::Switch(at, cases) => s.switch(&chosen(*at)?, cases.len(), |case, s| record(&cases[case], s, x)),
    }
}

#[test]
fn graphs_of_random_bodies_compute_what_the_host_does() {
    let device = device();
    let stream = device.stream().unwrap();
    for seed in 0..100 {
        let mut random = fastrand::Rng::with_seed(seed);
        let program = generate(&mut random, 3);
        let mut expected: [i64; NUMBERS] = std::array::from_fn(|_| random.i64(-1..3));
        let x: [_; NUMBERS] = std::array::from_fn(|at| device.upload_tensor(&[expected[at]], [1]).unwrap());
        let captured = stream.capture(CaptureMode::ThreadLocal, |s| record(&program, s, &x));
        let mut graph = captured.unwrap_or_else(|error| panic!("seed {seed}: {error:#}\n{program:#?}"));
        for launch in 0..3 {
            graph.launch(&stream).unwrap();
            on_host(&program, &mut expected);
            let found: [i64; NUMBERS] = std::array::from_fn(|at| x[at].to_vec().unwrap()[0]);
            assert_eq!(found, expected, "seed {seed}, launch {launch}\n{program:#?}");
        }
    }
}
