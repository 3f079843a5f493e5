//! Random programs with choices inside choices, as plans and in plain Rust: for every library that tests run with.

use racl::Result;
use racl::op::DataType::{F32, I32};
use racl::plan::{Builder, Fork, HostFunction, Input, Options, Plan, Scope, Value};

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: u32) -> u32 {
        (((self.next() >> 32) * u64::from(end)) >> 32) as u32
    }

    fn chance(&mut self, of_1000: u32) -> bool {
        self.below(1000) < of_1000
    }

    fn index(&mut self, len: usize) -> usize {
        self.below(len as u32) as usize
    }
}

type Numbers = [f32; 4];

/// Work of two values.
#[derive(Debug, Clone, Copy)]
enum Work {
    Add,
    Sub,
    Half,
    Maximum,
    /// Wide in between, so that memory is shared.
    Wide,
    Abs,
}

/// Which of the earlier bodies runs.
#[derive(Debug, Clone)]
enum Choice {
    If(usize, usize),
    Then(usize),
    Switch(Vec<usize>, usize),
    Loop(usize, u32),
    /// With a limit; what is left counts.
    Limited(usize, u32, u32),
    Call(usize),
}

#[derive(Debug, Clone)]
struct Step {
    work: Work,
    /// Whether it is on another stream.
    aside: bool,
    choice: Option<Choice>,
}

/// Of a counter and two values; gives the counter and the first value.
#[derive(Debug)]
struct Body {
    steps: Vec<Step>,
    /// Whether it halves the second value in place.
    writes: bool,
    /// Whether the counter is one less.
    counts: bool,
    host: bool,
}

fn step(dice: &mut Dice, earlier: usize) -> Step {
    let work = [Work::Add, Work::Sub, Work::Half, Work::Maximum, Work::Wide, Work::Abs][dice.index(6)];
    let any = |dice: &mut Dice| dice.index(earlier);
    let choice = (earlier > 0 && dice.chance(600)).then(|| match dice.below(6) {
        0 => Choice::If(any(dice), any(dice)),
        1 => Choice::Then(any(dice)),
        2 => Choice::Switch((0..1 + dice.index(3)).map(|_| any(dice)).collect(), any(dice)),
        3 => Choice::Loop(any(dice), dice.below(4)),
        4 => Choice::Limited(any(dice), dice.below(5), 1 + dice.below(3)),
        _ => Choice::Call(any(dice)),
    });
    Step { work, aside: dice.chance(300), choice }
}

fn random(dice: &mut Dice, earlier: usize) -> Body {
    let steps = (0..1 + dice.below(3)).map(|_| step(dice, earlier)).collect();
    Body { steps, writes: dice.chance(300), counts: dice.chance(700), host: dice.chance(200) }
}

// In plain Rust.

fn each(a: Numbers, b: Numbers, work: impl Fn(f32, f32) -> f32) -> Numbers {
    std::array::from_fn(|i| work(a[i], b[i]))
}

fn computed(work: Work, a: Numbers, b: Numbers) -> Numbers {
    match work {
        Work::Add => each(a, b, |a, b| a + b),
        Work::Sub => each(a, b, |a, b| a - b),
        Work::Half => a.map(|a| a * 0.5),
        Work::Maximum => each(a, b, f32::max),
        Work::Wide => a.map(|a| (0.25 + a) + 1.0),
        Work::Abs => a.map(f32::abs),
    }
}

fn ran(bodies: &[Body], which: usize, c: i32, x: Numbers, w: &mut Numbers) -> (i32, Numbers) {
    let body = &bodies[which];
    let (c, x) = stepped(bodies, &body.steps, c, x, w);
    if body.writes {
        *w = w.map(|w| w * 0.5);
    }
    (c - i32::from(body.counts), x)
}

fn stepped(bodies: &[Body], steps: &[Step], c: i32, x: Numbers, w: &mut Numbers) -> (i32, Numbers) {
    let mut now = (c, x);
    for step in steps {
        now.1 = computed(step.work, now.1, *w);
        let (c, x) = now;
        let mut run = |which: usize| ran(bodies, which, c, x, w);
        now = match &step.choice {
            None => now,
            Some(Choice::If(then, otherwise)) => run(if c != 0 { *then } else { *otherwise }),
            Some(Choice::Then(then)) if c != 0 => run(*then),
            Some(Choice::Then(_)) => now,
            Some(Choice::Switch(cases, otherwise)) => {
                run(usize::try_from(c).ok().and_then(|c| cases.get(c).copied()).unwrap_or(*otherwise))
            }
            Some(Choice::Loop(body, rounds)) => {
                (c, (1..=*rounds as i32).rev().fold(x, |x, left| ran(bodies, *body, left, x, w).1))
            }
            Some(Choice::Limited(body, rounds, most)) => {
                let left = rounds.saturating_sub(*most) as i32;
                let counters = (left + 1..=*rounds as i32).rev();
                (c + left, counters.fold(x, |x, left| ran(bodies, *body, left, x, w).1))
            }
            Some(Choice::Call(body)) => run(*body),
        };
    }
    now
}

// As plans.

fn inputs(g: &Builder) -> Result<[Value; 3]> {
    let input = |name: &str| g.input(name, [4], F32, Input::Copied);
    Ok([g.input("c", [1], I32, Input::Copied)?, input("x")?, input("w")?])
}

fn plan_of(body: &Body, plans: &[Plan]) -> Result<Plan> {
    Plan::build(|g| {
        let given = inputs(g)?;
        let [mut c, x] = recorded(g, &body.steps, plans, given)?;
        if body.writes {
            g.copy(g.muls(given[2], 0.5)?, given[2])?;
        }
        if body.host {
            g.host_function(&HostFunction::new("test.choices", 1, |_| {}))?;
        }
        if body.counts {
            c = g.adds(c, -1)?;
        }
        g.output("c", c)?;
        g.output("x", x)
    })
}

/// A body of a loop that does the work of another one and counts down.
fn looped(inner: &Plan) -> Result<Plan> {
    Plan::build(|g| {
        let [c, x, w] = inputs(g)?;
        let [_, x] = g.call(inner, &[c, x, w])?;
        let c = g.adds(c, -1)?;
        g.output("more", c)?;
        g.output("c", c)?;
        g.output("x", x)
    })
}

fn worked(g: &Builder, work: Work, a: Value, b: Value) -> Result<Value> {
    match work {
        Work::Add => g.add(a, b),
        Work::Sub => g.sub(a, b),
        Work::Half => g.muls(a, 0.5),
        Work::Maximum => g.maximum(a, b),
        Work::Wide => {
            let wide = g.add(g.full([64, 4], F32, 0.25)?, a)?;
            g.reshape(g.narrow(g.adds(wide, 1.0)?, 0, 8..9)?, [4])
        }
        Work::Abs => g.abs(a),
    }
}

fn recorded(g: &Builder, steps: &[Step], plans: &[Plan], [mut c, mut x, w]: [Value; 3]) -> Result<[Value; 2]> {
    for Step { work, aside, choice } in steps {
        x = match aside {
            false => worked(g, *work, x, w)?,
            true => {
                let made = g.scope_with("aside", Scope::new().fork(Fork::Here), |g| worked(g, *work, x, w))?;
                g.join("aside")?;
                made
            }
        };
        let given = [c, x, w];
        [c, x] = match choice {
            None => [c, x],
            Some(Choice::If(then, otherwise)) => g.if_else(c, &plans[*then], &plans[*otherwise], &given)?,
            Some(Choice::Then(then)) => g.if_then(c, &plans[*then], &given)?,
            Some(Choice::Switch(cases, otherwise)) => {
                let cases: Vec<&Plan> = cases.iter().map(|case| &plans[*case]).collect();
                g.switch(c, &cases, &plans[*otherwise], &given)?
            }
            Some(Choice::Loop(body, rounds)) => {
                let rounds = g.full([1], I32, i64::from(*rounds))?;
                let [_, x] = g.repeat_while(rounds, &looped(&plans[*body])?, [rounds, x], &[w])?;
                [c, x]
            }
            Some(Choice::Limited(body, rounds, most)) => {
                let rounds = g.full([1], I32, i64::from(*rounds))?;
                let ([_, x], left) = g.repeat_at_most(*most, rounds, &looped(&plans[*body])?, [rounds, x], &[w])?;
                [g.add(c, left)?, x]
            }
            Some(Choice::Call(body)) => g.call(&plans[*body], &given)?,
        };
    }
    Ok([c, x])
}

/// The steps between inputs and the output, with work beside them.
fn whole(options: Options, steps: &[Step], plans: &[Plan]) -> Result<Plan> {
    Plan::build_with(options, |g| {
        let (c, x) = (g.input("c", [1], I32, Input::Copied)?, g.input("x", [4], F32, Input::Copied)?);
        let w = g.full([4], F32, 1.5)?;
        let beside = g.scope("beside", |g| {
            let wide = g.add(g.full([64, 4], F32, 2.0)?, x)?;
            g.reshape(g.narrow(wide, 0, 4..5)?, [4])
        })?;
        let [_, y] = recorded(g, steps, plans, [c, x, w])?;
        g.join("beside")?;
        g.output("y", g.add(g.add(y, beside)?, w)?)
    })
}

/// A random program, and what it gives for each counter.
pub(crate) struct Program {
    steps: Vec<Step>,
    plans: Vec<Plan>,
    /// Counter and value of each run.
    pub(crate) runs: Vec<(i32, Numbers)>,
    pub(crate) expected: Vec<Numbers>,
}

impl Program {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let (mut bodies, mut plans) = (Vec::new(), Vec::new());
        for earlier in 0..2 + dice.index(4) {
            let body = random(&mut dice, earlier);
            plans.push(plan_of(&body, &plans).unwrap());
            bodies.push(body);
        }
        let steps: Vec<Step> = (0..1 + dice.below(3)).map(|_| step(&mut dice, bodies.len())).collect();
        let (x, counters) = ([1.0, -2.0, 0.5, 3.0], [0, 1, 2, -1]);
        let runs = counters.map(|c| (c, x));
        let expected = counters.map(|c| {
            let mut w = [1.5; 4];
            let (_, y) = stepped(&bodies, &steps, c, x, &mut w);
            each(each(y, x.map(|x| 2.0 + x), |a, b| a + b), w, |a, b| a + b)
        });
        Self { steps, plans, runs: runs.to_vec(), expected: expected.to_vec() }
    }

    /// With the inputs `c` and `x`, and the output `y`.
    pub(crate) fn plan(&self, options: Options) -> Plan {
        whole(options, &self.steps, &self.plans).unwrap()
    }
}
