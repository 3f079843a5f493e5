//! Plans of about as many operators as asked for.

use racl::Result;
use racl::op::GeluForm;
use racl::op::{DataType::F32, aclnn};
use racl::plan::{Builder, Fork, Input, Plan, Scope, Value};

const TOKENS: usize = 64;
const WIDTH: usize = 512;

/// Names of what each layer has of its own, made before the time is taken.
pub(crate) struct Names(Vec<String>);

/// A way to record a plan: what it is called, and how.
pub(crate) type Workload = (&'static str, fn(&Builder, usize, &Names) -> Result<()>);

pub(crate) const ALL: [Workload; 6] = [
    ("decoder", decoder),
    ("decoder on 4 streams", decoder_on_streams),
    ("slices", slices),
    ("waits for values", waits),
    ("waits for all values", all_waits),
    ("lists", super::lists::mixed),
];

/// Operators of a layer.
const LAYER: usize = 16;

impl Names {
    pub(crate) fn new(operators: usize) -> Self {
        let parts = ["norm", "shift", "q", "k", "v", "o", "gate", "up", "down"];
        let layers = 0..operators.div_ceil(LAYER);
        Self(layers.flat_map(|layer| parts.map(|part| format!("layer{layer}.{part}"))).collect())
    }
}

/// The weights of a layer.
struct Weights {
    norm: Value,
    shift: Value,
    square: [Value; 4],
    gate: Value,
    up: Value,
    down: Value,
}

fn weights(g: &Builder, names: &[String]) -> Result<Weights> {
    let vector = |g: &Builder, index: usize| g.input(&names[index], [WIDTH], F32, Input::Frozen);
    let matrix = |g: &Builder, index: usize, a, b| g.input(&names[index], [a, b], F32, Input::Frozen);
    Ok(Weights {
        norm: vector(g, 0)?,
        shift: vector(g, 1)?,
        square: [
            matrix(g, 2, WIDTH, WIDTH)?,
            matrix(g, 3, WIDTH, WIDTH)?,
            matrix(g, 4, WIDTH, WIDTH)?,
            matrix(g, 5, WIDTH, WIDTH)?,
        ],
        gate: matrix(g, 6, WIDTH, 4 * WIDTH)?,
        up: matrix(g, 7, WIDTH, 4 * WIDTH)?,
        down: matrix(g, 8, 4 * WIDTH, WIDTH)?,
    })
}

/// Layers of attention and a gated product, one after another on one stream.
fn decoder(g: &Builder, operators: usize, names: &Names) -> Result<()> {
    let mut x = g.input("x", [TOKENS, WIDTH], F32, Input::Copied)?;
    for names in names.0.chunks_exact(9).take(operators.div_ceil(LAYER)) {
        x = layer(g, &weights(g, names)?, x)?;
    }
    g.output("y", x)
}

fn layer(g: &Builder, w: &Weights, x: Value) -> Result<Value> {
    let normal = g.layer_norm(x, w.norm, w.shift, 1e-5)?;
    let q = g.mm(normal, w.square[0])?;
    let k = g.mm(normal, w.square[1])?;
    let v = g.mm(normal, w.square[2])?;
    let x = attention(g, w, x, q, k, v)?;
    let normal = g.layer_norm(x, w.norm, w.shift, 1e-5)?;
    let gate = g.mm(normal, w.gate)?;
    let gate = g.gelu(gate, GeluForm::Tanh)?;
    product(g, w, x, normal, gate)
}

/// How often the body goes through its layer.
pub(crate) const ROUNDS_OF_BODY: usize = 8;
/// Layers whose weights the calls take by turns.
const SETS: usize = 10;

fn rounds(g: &Builder, w: &Weights, x: Value) -> Result<Value> {
    (0..ROUNDS_OF_BODY).try_fold(x, |x, _| layer(g, w, x))
}

/// Several rounds through a layer, whose weights are inputs.
pub(crate) fn body(g: &Builder) -> Result<()> {
    let x = g.input("x", [TOKENS, WIDTH], F32, Input::Copied)?;
    let w = weights(g, &Names::new(1).0)?;
    g.output("y", rounds(g, &w, x)?)
}

/// The body on one value, by turns with the weights of several layers.
fn in_turn(
    g: &Builder,
    times: usize,
    mut work: impl FnMut(&Builder, &Weights, Value) -> Result<Value>,
) -> Result<()> {
    let mut x = g.input("x", [TOKENS, WIDTH], F32, Input::Copied)?;
    let names = Names::new(SETS * LAYER);
    let sets: Vec<Weights> = names.0.chunks_exact(9).map(|names| weights(g, names)).collect::<Result<_>>()?;
    for index in 0..times {
        x = work(g, &sets[index % SETS], x)?;
    }
    g.output("y", x)
}

pub(crate) fn called(g: &Builder, body: &Plan, times: usize) -> Result<()> {
    in_turn(g, times, |g, w, x| {
        let [a, b, c, d] = w.square;
        let [y] = g.call(body, &[x, w.norm, w.shift, a, b, c, d, w.gate, w.up, w.down])?;
        Ok(y)
    })
}

pub(crate) fn written_out(g: &Builder, times: usize) -> Result<()> {
    in_turn(g, times, rounds)
}

fn attention(g: &Builder, w: &Weights, x: Value, q: Value, k: Value, v: Value) -> Result<Value> {
    let turned = g.transpose(k, 0, 1)?;
    let scores = g.mm(q, turned)?;
    let scores = g.muls(scores, 0.125)?;
    let shares = g.softmax(scores, -1)?;
    let mixed = g.mm(shares, v)?;
    let mixed = g.mm(mixed, w.square[3])?;
    g.add(x, mixed)
}

fn product(g: &Builder, w: &Weights, x: Value, normal: Value, gate: Value) -> Result<Value> {
    let up = g.mm(normal, w.up)?;
    let both = g.mul(gate, up)?;
    let down = g.mm(both, w.down)?;
    g.add(x, down)
}

/// The same layers, with what is independent on streams of its own and events between.
fn decoder_on_streams(g: &Builder, operators: usize, names: &Names) -> Result<()> {
    let mut x = g.input("x", [TOKENS, WIDTH], F32, Input::Copied)?;
    for names in names.0.chunks_exact(9).take(operators.div_ceil(LAYER)) {
        let w = weights(g, names)?;
        let events = [g.event("k")?, g.event("v")?, g.event("gate")?];
        let side = |g: &Builder, tag: &str, event: usize, work: &dyn Fn(&Builder) -> Result<Value>| {
            g.scope(tag, |g| {
                let value = work(g)?;
                g.record(&events[event])?;
                Ok(value)
            })
        };
        let normal = g.layer_norm(x, w.norm, w.shift, 1e-5)?;
        let k = side(g, "1", 0, &|g| g.mm(normal, w.square[1]))?;
        let v = side(g, "2", 1, &|g| g.mm(normal, w.square[2]))?;
        let q = g.mm(normal, w.square[0])?;
        g.wait(&events[0])?;
        g.wait(&events[1])?;
        x = attention(g, &w, x, q, k, v)?;
        let normal = g.layer_norm(x, w.norm, w.shift, 1e-5)?;
        let gate = side(g, "3", 2, &|g| {
            let gate = g.mm(normal, w.gate)?;
            g.gelu(gate, GeluForm::Tanh)
        })?;
        let up = g.mm(normal, w.up)?;
        g.wait(&events[2])?;
        let both = g.mul(gate, up)?;
        let down = g.mm(both, w.down)?;
        x = g.add(x, down)?;
    }
    g.output("y", x)
}

/// One large value, written row by row on one stream; others read overlapping pieces of it.
fn slices(g: &Builder, operators: usize, _: &Names) -> Result<()> {
    let rows = operators / 2;
    let x = g.input("x", [1, WIDTH], F32, Input::Copied)?;
    let large = g.empty([rows, WIDTH], F32)?;
    for row in 0..rows {
        let one = g.narrow(large, 0, row..row + 1)?;
        aclnn::muls(g, &x, row as f32, &mut { one })?;
    }
    let mut last = x;
    for row in 0..rows - 3 {
        let some = g.narrow(large, 0, row..row + 1 + row % 4)?;
        last = g.scope(["1", "2"][row % 2], |g| g.tanh(some))?;
    }
    g.join("1")?;
    g.join("2")?;
    g.output("y", last)
}

/// Every operator waits for the one before, which ran on another stream.
fn waits(g: &Builder, operators: usize, _: &Names) -> Result<()> {
    let x = g.input("x", [TOKENS, WIDTH], F32, Input::Copied)?;
    let gate = g.input("gate", [TOKENS, WIDTH], F32, Input::Frozen)?;
    let mut last = x;
    for index in 0..operators {
        let ready = g.wait_value(gate, last)?;
        let tag = ["1", "2", "3", "4"][index % 4];
        last = g.scope_with(tag, Scope::new().fork(Fork::AtStart), |g| g.add(last, ready))?;
    }
    let ready = g.wait_value(gate, last)?;
    let y = g.add(last, ready)?;
    g.output("y", y)
}

/// Every operator waits for the newest value of each of the other streams.
fn all_waits(g: &Builder, operators: usize, _: &Names) -> Result<()> {
    let x = g.input("x", [TOKENS, WIDTH], F32, Input::Copied)?;
    let mut newest = [x; 4];
    for index in 0..operators {
        let own = index % 4;
        let mut ready = newest[own];
        for other in (0..4).filter(|other| *other != own && newest[*other] != x) {
            ready = g.wait_value(ready, newest[other])?;
        }
        let tag = ["1", "2", "3", "4"][own];
        newest[own] = g.scope_with(tag, Scope::new().fork(Fork::AtStart), |g| g.add(ready, x))?;
    }
    g.wait_all(&newest)?;
    let y = g.add(newest[0], newest[1])?;
    g.output("y", y)
}
