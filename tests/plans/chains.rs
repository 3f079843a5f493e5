//! Random plans of chains on elements and of moves, whole and with something in between: the numbers stay close.
//!
//! `RACL_PLAN_SEED=17 cargo test --test plans NAME` runs a test with one seed alone.

use racl::Result;
use racl::op::DataType::F32;
use racl::op::aclnn;
use racl::plan::{Builder, Inferred, Input, OnMove, PassMode, Passes, Plan, Value};

use super::equal::Given;
use super::generate::Dice;
use super::passes::{Gone, check_close};
use super::seeds::for_seeds;
use crate::Alone;

const SHAPE: [usize; 2] = [3, 4];

/// Writes chains; between two operators something else may come.
struct Writer<'a> {
    g: &'a Builder,
    dice: Dice,
    /// Values, and whether they can be written.
    known: Vec<(Value, bool)>,
    read: Vec<Value>,
    row: Value,
    /// How often something comes in between, in thousandths.
    noise: u32,
}

impl Writer<'_> {
    fn pick(&mut self) -> Value {
        let len = self.known.len();
        let index = self.dice.index(len).max(self.dice.index(len));
        self.known[index].0
    }

    /// A value of the whole shape, or a row.
    fn other(&mut self) -> Value {
        if self.dice.chance(200) { self.row } else { self.pick() }
    }

    fn number(&mut self) -> f64 {
        [1.0, -1.0, 0.5, 0.25, -0.3, 0.75, 1.7, 0.0][self.dice.index(8)]
    }

    fn coin(&mut self) -> bool {
        self.dice.chance(500)
    }

    /// Another reader or writer of what was just made, or a writer of what the chain may have read.
    fn between(&mut self, made: Value) -> Result<Value> {
        if !self.dice.chance(self.noise) {
            return Ok(made);
        }
        let g = self.g;
        match self.dice.below(4) {
            0 => self.read.push(made),
            1 => aclnn::tanh(g, &made, &mut { made })?,
            2 => self.in_place()?,
            _ => {
                let side = g.scope("side", |g| g.abs(made))?;
                g.join("side")?;
                return Ok(side);
            }
        }
        Ok(made)
    }

    fn in_place(&mut self) -> Result<()> {
        let writable: Vec<Value> = self.known.iter().filter(|(_, own)| *own).map(|(value, _)| *value).collect();
        let one = writable[self.dice.index(writable.len())];
        aclnn::tanh(self.g, &one, &mut { one })
    }

    fn multiple(&mut self, of: Value) -> Result<Value> {
        let multiple = if self.dice.chance(200) { self.g.neg(of)? } else { self.g.muls(of, self.number())? };
        self.between(multiple)
    }

    /// `a` and a part, in some order, or less the part.
    fn sum(&mut self, a: Value, part: Value) -> Result<Value> {
        let (g, alpha) = (self.g, self.number());
        match self.dice.below(4) {
            0 => g.add(a, part),
            1 => g.add(part, a),
            2 => g.sub(a, part),
            _ => g.add_scaled(a, part, alpha),
        }
    }

    fn with_product(&mut self) -> Result<Value> {
        let (g, a, b, mut c) = (self.g, self.pick(), self.pick(), self.other());
        let b = if self.coin() { self.multiple(b)? } else { b };
        let product = if self.coin() {
            g.mul(b, c)?
        } else {
            c = g.adds(g.abs(c)?, 1.0)?;
            g.div(b, c)?
        };
        let product = self.between(product)?;
        let product = if self.dice.chance(300) { self.multiple(product)? } else { product };
        self.sum(a, product)
    }

    fn between_two(&mut self) -> Result<Value> {
        let (g, a, b) = (self.g, self.pick(), self.pick());
        if self.dice.chance(300) {
            let (first, second) = (g.muls(a, 0.75)?, g.muls(b, 0.25)?);
            return g.add(self.between(first)?, second);
        }
        let difference = g.sub(b, a)?;
        let difference = self.between(difference)?;
        let weight = self.other();
        let part = if self.coin() { g.mul(weight, difference)? } else { self.multiple(difference)? };
        g.add(a, part)
    }

    fn limits(&mut self) -> Result<Value> {
        let (g, x, least, most) = (self.g, self.pick(), self.number(), self.number());
        let constant = |number: f64| g.constant(&[number as f32], [1]);
        if self.coin() {
            let first = if self.coin() { g.maximum(constant(least)?, x)? } else { g.clamp_min(x, least)? };
            let first = self.between(first)?;
            return g.minimum(first, constant(most)?);
        }
        let first = g.minimum(x, constant(most)?)?;
        let first = self.between(first)?;
        g.clamp_min(first, least)
    }

    fn positive(&mut self) -> Result<Value> {
        let (g, a, b) = (self.g, self.pick(), self.pick());
        let b = if self.coin() { self.multiple(b)? } else { b };
        let sum = self.sum(a, b)?;
        let sum = self.between(sum)?;
        if self.coin() { g.relu(sum) } else { g.clamp_min(sum, 0.0) }
    }

    fn activation(&mut self) -> Result<Value> {
        let (g, x) = (self.g, self.pick());
        if self.coin() {
            let of = if self.dice.chance(300) { self.multiple(x)? } else { x };
            let share = g.sigmoid(of)?;
            let share = self.between(share)?;
            return g.mul(share, x);
        }
        let bottom = g.adds(g.exp(g.neg(x)?)?, 1.0)?;
        let bottom = self.between(bottom)?;
        if self.coin() { g.div(x, bottom) } else { g.reciprocal(bottom) }
    }

    fn gelu(&mut self) -> Result<Value> {
        let (g, x) = (self.g, self.pick());
        let bent = if self.coin() {
            let cube = g.mul(g.mul(x, x)?, x)?;
            let cube = self.between(cube)?;
            g.tanh(g.muls(g.add(x, g.muls(cube, 0.044_715)?)?, 0.797_884_56)?)?
        } else {
            let turned = g.muls(x, std::f64::consts::FRAC_1_SQRT_2)?;
            let turned = self.between(turned)?;
            let mut bent = Inferred::new();
            aclnn::erf(g, &turned, &mut bent)?;
            bent.value()?
        };
        let half = g.muls(x, 0.5)?;
        g.mul(half, g.adds(bent, 1.0)?)
    }

    /// What is read is moved before.
    fn moved(&mut self) -> Result<Value> {
        let (g, x, other) = (self.g, self.pick(), self.pick());
        match self.dice.below(5) {
            0 => {
                let turned = g.permute(x, &[1, 0])?;
                let turned = self.between(turned)?;
                g.permute(g.exp(g.neg(g.abs(turned)?)?)?, &[1, 0])
            }
            1 => {
                let parts = g.split(x, &[1, 3], 1)?;
                let last = self.between(parts[1])?;
                g.cat(&[g.sub(last, parts[0])?, g.narrow(other, 1, 0..1)?], 1)
            }
            2 => {
                let (rows, copy) = (g.narrow(x, 0, 1..3)?, g.empty([2, 4], F32)?);
                if self.coin() {
                    g.copy(rows, copy)?;
                } else {
                    aclnn::inplace_copy(g, &mut { copy }, &rows)?;
                }
                let copy = self.between(copy)?;
                g.cat(&[g.tanh(copy)?, g.narrow(other, 0, 0..1)?], 0)
            }
            3 => {
                let mut part = g.empty([3, 2], F32)?;
                aclnn::slice(g, &x, 1, self.dice.below(2).into(), 4, 2, &mut part)?;
                let part = self.between(part)?;
                g.cat(&[g.sigmoid(part)?, g.narrow(other, 1, 1..3)?], 1)
            }
            _ => {
                let pieces = [g.narrow(x, 0, 0..2)?, g.narrow(x, 0, 2..3)?];
                let joined = g.cat(&pieces, 0)?;
                let turned = g.permute(other, &[1, 0])?;
                let joined = self.between(joined)?;
                let product = g.matmul(joined, turned)?;
                g.cat(&[g.tanh(product)?, g.narrow(x, 1, 0..1)?], 1)
            }
        }
    }

    fn step(&mut self) -> Result<()> {
        let made = match self.dice.below(12) {
            0 => {
                let (a, b) = (self.pick(), self.other());
                let part = self.multiple(b)?;
                self.sum(a, part)?
            }
            1 | 2 => self.with_product()?,
            3 => self.between_two()?,
            4 => {
                let x = self.pick();
                let part = self.multiple(x)?;
                self.g.adds(part, self.number())?
            }
            5 => self.limits()?,
            6 => self.positive()?,
            7 => self.activation()?,
            8 => self.gelu()?,
            _ => self.moved()?,
        };
        // Some numbers grow from step to step.
        let made = if self.coin() { self.g.tanh(made)? } else { made };
        self.known.push((made, true));
        Ok(())
    }
}

fn plan(seed: u64) -> Result<Plan> {
    Plan::build(|g| {
        let mut dice = Dice(seed);
        let x = g.input("x", SHAPE, F32, Input::Copied)?;
        let moved = g.input("moved", SHAPE, F32, Input::Tracked(OnMove::Recapture))?;
        let state = g.input("state", SHAPE, F32, Input::Static)?;
        let row = g.input("row", [4], F32, Input::Copied)?;
        let (steps, noise) = (1 + dice.below(5), [0, 0, 100, 300][dice.index(4)]);
        let known = vec![(state, true), (x, false), (moved, false)];
        let mut writer = Writer { g, dice, known, read: Vec::new(), row, noise };
        for _ in 0..steps {
            writer.step()?;
        }
        g.output("y", g.abs(writer.known[writer.known.len() - 1].0)?)?;
        let picked = writer.pick();
        g.output("z", g.abs(picked)?)?;
        writer.read.iter().enumerate().try_for_each(|(index, one)| g.output(&format!("r{index}"), g.abs(*one)?))
    })
}

#[test]
fn plans_of_chains_are_close_after_all_passes() {
    let (mock, gone) = (Alone::new(), Gone::default());
    for_seeds(730_000..730_800, |seed| {
        let Ok(plan) = plan(seed) else { return };
        let input = |name: &str, class, dims: &[usize], shift: u64| {
            let mut dice = Dice(seed ^ shift << 32);
            let elements: usize = dims.iter().product();
            let bytes = (0..elements).flat_map(|_| (dice.below(4001) as f32 / 1000.0 - 2.0).to_ne_bytes()).collect();
            Given { name: name.to_owned(), class, dtype: F32, dims: dims.to_vec(), bytes }
        };
        let turn = |turn: u64| {
            let moved = Input::Tracked(OnMove::Recapture);
            vec![
                input("x", Input::Copied, &SHAPE, 8 * turn + 1),
                input("moved", moved, &SHAPE, 8 * turn + 2),
                input("state", Input::Static, &SHAPE, 8 * turn + 3),
                input("row", Input::Copied, &[4], 8 * turn + 4),
            ]
        };
        let text = plan.to_text();
        let names = (0..8).map(|index| format!("r{index}")).chain(["y".to_owned(), "z".to_owned()]);
        let outputs: Vec<_> =
            names.filter(|name| text.contains(&format!("output \"{name}\""))).map(|name| (name, F32)).collect();
        let passes = Passes::all(if seed % 4 == 0 { PassMode::Verified } else { PassMode::On });
        gone.add(&check_close(&mock, &plan, &passes, (&[turn(0), turn(1)], &outputs), (1e-4, seed)));
    });
    gone.assert_at_least(500, &[("fused_elements", 1000), ("needless_moves", 300), ("needless_transposes", 20)]);
}
