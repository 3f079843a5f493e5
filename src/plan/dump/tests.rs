use crate::Prefetch;
use crate::error::Result;
use crate::op::{
    DataType::{F16, F32},
    aclnn,
};
use crate::plan::{After, Builder, Cores, Dim, Foreign, HostFunction, Input, OnMove, Options, Plan, Scope};

use super::Width;

mod dot;
mod json;
mod large;
mod picture;
mod text;

/// Names that each form must take care of.
const ODD: &str = "a \"b\" <c> & 'd'\n\u{1}\u{7f}\\n ü 名 ]]> --> \u{2028}";

/// A plan with one of each: classes, streams with priorities, events, gates, views, constants, functions.
fn everything() -> Plan {
    Plan::build_with(Options::new().prefetch_cap(0.25), |g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n, Dim::from(4)], F32, Input::Copied)?;
        let w = g.input("w", [4, 6], F32, Input::Frozen)?;
        let t = g.input("t", [2], F16, Input::Tracked(OnMove::Fail))?;
        let h = g.input("h", [3], F32, Input::Host)?;
        let c = g.constant(&[1.0_f32, 2.0, 3.0], [3])?;
        let gate = g.external("go on")?;
        let ready = g.event("ready")?;
        g.wait_external(gate)?;
        let columns = g.narrow(w, 1, 2..5)?;
        let limit = Cores { cube: 2, vector: 0 };
        let product = g.scope_with("side", Scope::new().priority(3).cores(limit), |g| {
            let product = g.matmul(x, columns)?;
            g.record(&ready)?;
            Ok(product)
        })?;
        let sum = g.add(h, c)?;
        g.wait(&ready)?;
        g.prefetch(w, Prefetch::bytes(64).offset(8), After::Start)?;
        let all = g.add(product, sum)?;
        g.record_stream(all, "side")?;
        g.host_function(&HostFunction::new("log", 2, |_| {}).attributes([1, 2, 255]))?;
        let kernel = Foreign::new("k", 7, |_| Ok(())).needs(Cores { cube: 0, vector: 5 });
        let out = g.empty([2], F16)?;
        g.foreign(&kernel, &[t, all], &[out])?;
        aclnn::muls(g, &out, f32::NEG_INFINITY, &mut { out })?;
        g.output("small", out)?;
        g.output_to_host("y", all)
    })
    .unwrap()
}

/// Streams, events, gates, inputs and functions with odd names.
fn oddly_named() -> Plan {
    Plan::build(|g| {
        let x = g.input(ODD, [4], F32, Input::Copied)?;
        let (gate, event) = (g.external(ODD)?, g.event(ODD)?);
        let y = g.scope(ODD, |g| {
            g.wait_external(gate)?;
            let y = g.tanh(x)?;
            g.host_function(&HostFunction::new(ODD, 1, |_| {}))?;
            g.foreign(&Foreign::new(ODD, 1, |_| Ok(())), &[x], &[])?;
            g.record(&event)?;
            Ok(y)
        })?;
        g.wait(&event)?;
        g.output(ODD, y)
    })
    .unwrap()
}

fn empty() -> Plan {
    Plan::build(|_| Ok(())).unwrap()
}

/// A layer on two streams, so many times.
fn layers(count: usize) -> Plan {
    let layer = |g: &Builder, x| -> Result<_> {
        let side = g.scope("side", |g| {
            let a = g.muls(x, 2.0)?;
            let b = g.tanh(a)?;
            g.abs(b)
        })?;
        let a = g.matmul(x, x)?;
        let b = g.adds(a, 1.0)?;
        let c = g.sqrt(b)?;
        g.join("side")?;
        g.add(side, c)
    };
    Plan::build(|g| {
        let x = g.input("x", [64, 64], F32, Input::Copied)?;
        let x = (0..count).try_fold(x, |x, _| layer(g, x))?;
        g.output("y", x)
    })
    .unwrap()
}

/// Operators on random streams, with events where their operands come from another.
fn random(seed: u64) -> Plan {
    let mut random = fastrand::Rng::with_seed(seed);
    Plan::build(|g| {
        let x = g.input("x", [64], F32, Input::Copied)?;
        let mut known = vec![x];
        for _ in 0..60 {
            let (a, b) = (known[random.usize(..known.len())], known[random.usize(..known.len())]);
            let tag = ["origin", "1", "2", "3"][random.usize(..4)];
            let value = g.scope(tag, |g| {
                g.wait_all(&[a, b])?;
                g.add(a, b)
            })?;
            known.push(value);
            if known.len() > 6 {
                known.remove(0);
            }
        }
        g.output("y", known[known.len() - 1])
    })
    .unwrap()
}
