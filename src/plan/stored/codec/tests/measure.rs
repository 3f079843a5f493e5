//! Size and speed for plans of 10,000 operators.

use std::time::{Duration, Instant};

use crate::error::Result;
use crate::op::DataType::F16;
use crate::plan::stored::codec::{decode, encode, recipe_hash};
use crate::plan::{Builder, Input, Plan, Value};

const OPERATORS: usize = 10_000;
const WIDTH: usize = 4096;

/// A layer: ten operators, with weights that are inputs.
fn layer(g: &Builder, index: usize, x: Value) -> Result<Value> {
    let weight = |name: &str, dims: [usize; 2]| g.input(&format!("{index}.{name}"), dims, F16, Input::Frozen);
    let (q, o) = (weight("q", [WIDTH, WIDTH])?, weight("o", [WIDTH, WIDTH])?);
    let (up, down) = (weight("up", [WIDTH, 2 * WIDTH])?, weight("down", [2 * WIDTH, WIDTH])?);
    let scale = g.input(&format!("{index}.scale"), [WIDTH], F16, Input::Frozen)?;
    let h = g.layer_norm(x, scale, scale, 1e-5)?;
    let h = g.matmul(h, q)?;
    let h = g.softmax(h, -1)?;
    let h = g.matmul(h, o)?;
    let x = g.add(x, h)?;
    let h = g.layer_norm(x, scale, scale, 1e-5)?;
    let h = g.matmul(h, up)?;
    let h = g.tanh(h)?;
    let h = g.matmul(h, down)?;
    g.add(x, h)
}

/// Layers one after the other, or four chains of them on streams that meet every eight layers.
fn decoder(streams: usize) -> Plan {
    let built = Plan::build(|g| {
        let mut x = vec![g.input("x", [4, WIDTH], F16, Input::Copied)?; streams];
        for index in 0..OPERATORS / 10 {
            let chain = index % streams;
            x[chain] = match chain {
                0 => layer(g, index, x[0])?,
                _ => g.scope(&format!("chain{chain}"), |g| layer(g, index, x[chain]))?,
            };
            if index % (8 * streams) == 8 * streams - 1 {
                for chain in 1..streams {
                    g.join(&format!("chain{chain}"))?;
                    x[0] = g.add(x[0], x[chain])?;
                }
                let met = x[0];
                x.fill(met);
            }
        }
        for chain in 1..streams {
            let _ = g.join(&format!("chain{chain}"));
        }
        x.iter().enumerate().try_for_each(|(index, x)| g.output(&format!("y{index}"), *x))
    });
    built.unwrap()
}

fn best(mut work: impl FnMut()) -> Duration {
    let times = (0..20).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

#[test]
fn an_operator_takes_at_most_64_bytes() {
    for streams in [1, 4] {
        let plan = decoder(streams);
        let stored = encode(&plan.0.recipe, plan.lints());
        assert!(stored.len() <= 64 * plan.operators(), "{} bytes", stored.len());
    }
}

/// Run with `cargo test --release --lib measure_stored_plans -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stderr, reason = "asked for")]
fn measure_stored_plans() {
    for streams in [1, 4] {
        let plan = decoder(streams);
        let recipe = &plan.0.recipe;
        let stored = encode(recipe, plan.lints());
        let each = stored.len() as f64 / plan.operators() as f64;
        let (write, hash) =
            (best(|| drop(encode(recipe, plan.lints()))), best(|| assert_ne!(recipe_hash(recipe), [0; 32])));
        let read = best(|| drop(decode(&stored).unwrap()));
        let whole =
            best(|| drop(Plan::from_decoded(decode(&stored).unwrap().recipe, Vec::new(), Vec::new()).unwrap()));
        eprintln!(
            "{} operators on {streams} streams, {} nodes: {} bytes, {each:.1} each; write {write:?}, hash {hash:?}, \
             read and validate {read:?}, with all checks {whole:?}",
            plan.operators(),
            recipe.nodes.len(),
            stored.len(),
        );
    }
}
