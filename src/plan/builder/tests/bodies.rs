//! Random plans that call random plans, and the same work without calls, through the public interface alone: unit
//! tests and integration tests compile this file alike, each with a module `api` of the names that it needs.

use super::api::{
    After, Builder, DataType, Dim, Fork, HostFunction, Input, Options, Plan, Prefetch, Result, Scope, Value, aclnn,
};
use super::generate::Dice;

/// Columns of everything.
const WIDTH: usize = 4;
/// The greatest value of the symbol of the plan.
pub(crate) const GREATEST: usize = 5;
/// Streams of bodies, and of plans; some are both.
const INNER: [&str; 3] = ["a", "b", "both"];
const OUTER: [&str; 3] = ["c", "both", "d"];

/// How many rows a value has: those of the body, or as many as columns.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rows {
    Some,
    Square,
}

#[derive(Debug, Clone)]
enum Step {
    /// Numbers of the two operands, which have the same rows.
    Pointwise(u32, usize, usize),
    /// By a square one.
    Product(usize, usize),
    /// Twice the rows, and a half of them.
    Doubled(usize),
    Constant(u32),
    /// Writes it, the last parameter, in place.
    Added(usize, usize),
    Prefetch(usize),
    Host,
    /// Calls another body with the value and a square one, or does its work, once or several times.
    Nested(usize, usize, u32),
}

/// A body as data, so that it can be recorded as a plan or in place.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    params: Vec<Rows>,
    /// Each on a stream, or on that of the body.
    steps: Vec<(Option<&'static str>, Step)>,
    results: Vec<usize>,
    fixed: Option<usize>,
}

/// Bodies, of which each may use those before it, as plans where they are called.
#[derive(Debug, Default)]
pub(crate) struct Library {
    bodies: Vec<Body>,
    plans: Vec<Plan>,
    /// Whether they are called, or done in place.
    calls: bool,
}

fn host() -> HostFunction {
    HostFunction::new("test.host", 7, |_| {})
}

impl Body {
    fn random(dice: &mut Dice, earlier: usize) -> Self {
        let mut kinds = vec![Rows::Some, Rows::Square];
        (0..dice.index(3)).for_each(|_| kinds.push(if dice.chance(600) { Rows::Some } else { Rows::Square }));
        let (params, writes) = (kinds.clone(), dice.chance(400) && kinds[kinds.len() - 1] == Rows::Some);
        let mut steps = Vec::new();
        for _ in 0..2 + dice.below(6) {
            let tag = dice.chance(400).then(|| INNER[dice.index(INNER.len())]);
            let of = |dice: &mut Dice, rows: Rows| {
                let all: Vec<usize> = (0..kinds.len()).filter(|index| kinds[*index] == rows).collect();
                all[dice.index(all.len())]
            };
            let rows = if dice.chance(800) { Rows::Some } else { Rows::Square };
            let step = match dice.below(12) {
                0..4 => Step::Pointwise(dice.below(4), of(dice, rows), of(dice, rows)),
                4..6 => Step::Product(of(dice, Rows::Some), of(dice, Rows::Square)),
                6 => Step::Doubled(of(dice, Rows::Some)),
                7 => Step::Constant(dice.below(3)),
                8 if writes => Step::Added(params.len() - 1, of(dice, Rows::Some)),
                9 => Step::Prefetch(dice.index(params.len())),
                10 => Step::Host,
                _ if earlier > 0 => Step::Nested(dice.index(earlier), of(dice, Rows::Some), 1 + dice.below(3)),
                _ => Step::Pointwise(0, of(dice, rows), of(dice, rows)),
            };
            match &step {
                Step::Pointwise(..) => kinds.push(rows),
                Step::Constant(_) => kinds.push(Rows::Square),
                Step::Product(..) | Step::Doubled(_) | Step::Nested(..) => kinds.push(Rows::Some),
                Step::Added(..) | Step::Prefetch(_) | Step::Host => {}
            }
            steps.push((tag, step));
        }
        // The first has the shape of the first parameter, to be carried.
        let some: Vec<usize> = (0..kinds.len()).filter(|index| kinds[*index] == Rows::Some).collect();
        let mut results = vec![some[dice.index(some.len())]];
        (0..dice.index(2)).for_each(|_| results.push(dice.index(kinds.len())));
        let fixed = dice.chance(200).then_some(3);
        Self { params, steps, results, fixed }
    }

    /// Its work on these values, in the scope that is open, and its results, which are new.
    fn record(&self, g: &Builder, library: &Library, params: &[Value]) -> Result<Vec<Value>> {
        let mut values = params.to_vec();
        let mut open: Vec<&str> = Vec::new();
        for (tag, step) in &self.steps {
            let Some(tag) = tag.filter(|_| !matches!(step, Step::Nested(..))) else {
                // What is on other streams is there before work of this one.
                library.join(g, &mut open)?;
                values.extend(self.step(g, library, step, &values)?);
                continue;
            };
            // A stream takes what the others made by events.
            let all = values.clone();
            let made = g.scope_with(tag, Scope::new().fork(Fork::Here), |g| {
                g.wait_all(&all)?;
                self.step(g, library, step, &all)
            })?;
            if !open.contains(&tag) {
                open.push(tag);
            }
            if matches!(step, Step::Added(..)) {
                library.join(g, &mut open)?;
            }
            values.extend(made);
        }
        library.join(g, &mut open)?;
        self.results.iter().map(|index| g.adds(values[*index], 0.25)).collect()
    }

    fn step(&self, g: &Builder, library: &Library, step: &Step, values: &[Value]) -> Result<Option<Value>> {
        Ok(Some(match *step {
            Step::Pointwise(0, a, b) => g.add(values[a], values[b])?,
            Step::Pointwise(1, a, b) => g.mul(values[a], g.tanh(values[b])?)?,
            Step::Pointwise(2, a, b) => g.maximum(values[a], values[b])?,
            Step::Pointwise(_, a, b) => {
                let copy = g.empty(&g.dims(values[a])?[..], DataType::F32)?;
                g.copy(values[a], copy)?;
                g.sub(copy, values[b])?
            }
            Step::Product(a, b) => g.matmul(g.tanh(values[a])?, values[b])?,
            Step::Doubled(a) => {
                let rows = g.dims(values[a])?[0];
                let both = g.cat(&[values[a], values[a]], 0)?;
                g.abs(g.narrow(both, 0, rows..rows * 2)?)?
            }
            Step::Constant(number) => {
                let number = number as f32 - 1.0;
                g.muls(g.constant(&[number; WIDTH * WIDTH], [WIDTH, WIDTH])?, 0.5)?
            }
            Step::Added(a, b) => {
                aclnn::add(g, &values[a], &values[b], 1, &mut { values[a] })?;
                return Ok(None);
            }
            Step::Prefetch(a) => {
                g.prefetch(values[a], Prefetch::all(), After::Start)?;
                return Ok(None);
            }
            Step::Host => {
                g.host_function(&host())?;
                return Ok(None);
            }
            Step::Nested(body, a, times) => library.done(g, body, values[a], times)?,
        }))
    }

    /// The body as a plan of its own.
    fn plan(&self, library: &Library) -> Result<Plan> {
        Plan::build(|g| {
            let rows = match self.fixed {
                Some(rows) => Dim::from(rows),
                None => g.symbol("rows", 1..=4 * GREATEST)?,
            };
            let mut params = Vec::new();
            for (index, kind) in self.params.iter().enumerate() {
                let rows = if *kind == Rows::Square { Dim::from(WIDTH) } else { rows };
                params.push(g.input(&format!("p{index}"), [rows, WIDTH.into()], DataType::F32, Input::Copied)?);
            }
            let results = self.record(g, library, &params)?;
            results.into_iter().enumerate().try_for_each(|(index, value)| g.output(&format!("r{index}"), value))
        })
    }
}

impl Library {
    fn random(dice: &mut Dice, calls: bool) -> Result<Self> {
        let mut library = Self { calls, ..Self::default() };
        for earlier in 0..1 + dice.index(3) {
            let body = Body::random(dice, earlier);
            if calls {
                library.plans.push(body.plan(&library)?);
            }
            library.bodies.push(body);
        }
        Ok(library)
    }

    /// In place, a stream may be the one that is open, which joins nothing.
    fn join(&self, g: &Builder, open: &mut Vec<&str>) -> Result<()> {
        open.drain(..).try_for_each(|tag| g.join(tag).or_else(|error| if self.calls { Err(error) } else { Ok(()) }))
    }

    /// The work of a body on a value, by call or in place: once, or several times with the first result as the next
    /// value. Gives the first result.
    fn done(&self, g: &Builder, index: usize, given: Value, times: u32) -> Result<Value> {
        let body = &self.bodies[index];
        let value = match body.fixed {
            // The rows of the body are others than those of the value.
            Some(rows) => g.muls(g.cat(&vec![g.narrow(given, 0, 0..1)?; rows], 0)?, 0.75)?,
            None => given,
        };
        // What is written in place is for this call alone.
        let mut params = vec![value];
        for kind in &body.params[1..] {
            params.push(match kind {
                Rows::Square => g.full([WIDTH, WIDTH], DataType::F32, 0.125)?,
                Rows::Some => g.muls(value, 0.5)?,
            });
        }
        let first = if !self.calls {
            for step in 0..times {
                let results = body.record(g, self, &params)?;
                if step + 1 == times {
                    return self.back(g, index, results[0], given);
                }
                params[0] = results[0];
            }
            params[0]
        } else if times == 1 || body.results.len() > 1 {
            let mut first = value;
            for _ in 0..times {
                first = g.call_with(&self.plans[index], &params, &[])?[0];
                params[0] = first;
            }
            first
        } else {
            let [last] = g.call_times(times as usize, &self.plans[index], [params[0]], &params[1..])?;
            last
        };
        self.back(g, index, first, given)
    }

    /// A result with the rows of the value.
    fn back(&self, g: &Builder, index: usize, result: Value, value: Value) -> Result<Value> {
        match self.bodies[index].fixed {
            Some(_) => g.maximum(g.narrow(result, 0, 0..1)?, g.muls(value, 0.0)?),
            None => Ok(result),
        }
    }
}

/// What a recorded plan gives: its outputs.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) plan: Plan,
    pub(crate) outputs: Vec<String>,
    pub(crate) dynamic: bool,
}

/// The plan of a seed, with calls or with their work in place: `x` has the rows `n`, or 3, and `w` is square.
pub(crate) fn plan(seed: u64, options: Options, calls: bool) -> Result<Made> {
    let mut dice = Dice(seed);
    let dynamic = dice.chance(500);
    let library = Library::random(&mut dice, calls)?;
    let mut outputs = Vec::new();
    let plan = Plan::build_with(options, |g| {
        let rows = if dynamic { g.symbol("n", 1..=GREATEST)? } else { Dim::from(3) };
        let x = g.input("x", [rows, WIDTH.into()], DataType::F32, Input::Copied)?;
        let mut values = vec![x, g.cat(&[x, x], 0)?];
        for _ in 0..2 + dice.below(5) {
            let value = values[dice.index(values.len())];
            let (index, times) = (dice.index(library.bodies.len()), 1 + dice.below(3));
            let made = match dice.index(2 * OUTER.len()) {
                tag if tag < OUTER.len() => g.scope(OUTER[tag], |g| {
                    g.wait_all(&[value])?;
                    library.done(g, index, value, times)
                })?,
                _ => {
                    g.wait_all(&[value])?;
                    library.done(g, index, value, times)?
                }
            };
            values.push(made);
        }
        g.wait_all(&values)?;
        for (index, value) in values.iter().enumerate().skip(1) {
            outputs.push(format!("y{index}"));
            g.output(&outputs[index - 1], *value)?;
        }
        Ok(())
    })?;
    Ok(Made { plan, outputs, dynamic })
}
