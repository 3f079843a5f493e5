//! Attention that is one operator.

use crate::op::aclnn;
use half::f16;

use super::*;

fn attention() -> Passes {
    OFF.fused_attention(PassMode::Verified)
}

/// Query, key and value of two heads.
fn given(g: &Builder) -> Result<[Value; 3]> {
    let one = |name| g.input(name, [1, 2, 3, 4], F16, Input::Static);
    Ok([one("q")?, one("k")?, one("v")?])
}

fn scores(g: &Builder, q: Value, k: Value) -> Result<Value> {
    g.muls(g.matmul(q, g.transpose(k, 2, 3)?)?, 0.5)
}

/// Each row sees itself and those before it; the second sees the first alone.
fn mask(g: &Builder, hidden: f32, first: f32) -> Result<Value> {
    let numbers = [first, hidden, hidden, 0.0, hidden, hidden, 0.0, -0.0, 0.0].map(f16::from_f32);
    g.constant(&numbers, [3, 3])
}

fn work(scored: impl FnOnce(&Builder, [Value; 3]) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    move |g| {
        let all = given(g)?;
        g.output("y", scored(g, all)?)
    }
}

#[track_caller]
fn becomes_one(of: usize, work: impl FnOnce(&Builder) -> Result<()>) {
    let better = optimised(attention(), work);
    assert_eq!((better.before, better.plan.operators()), (of, 1), "{better}");
    assert!(better.plan.to_text().contains("aclnnPromptFlashAttentionV3"));
}

#[test]
fn heads_are_as_many_and_as_wide_as_cards_take() {
    let work = |shape: [usize; 4]| {
        move |g: &Builder| {
            let one = |name| g.input(name, shape, F16, Input::Static);
            let (q, k, v) = (one("q")?, one("k")?, one("v")?);
            g.output("y", g.matmul(g.softmax(scores(g, q, k)?, -1)?, v)?)
        }
    };
    for taken in [[1, 256, 1, 4], [1, 1, 1, 512], [129, 1, 1, 16], [128, 1, 1, 4]] {
        becomes_one(4, work(taken));
    }
    for other in [[1, 257, 1, 4], [1, 1, 1, 513], [129, 1, 1, 4]] {
        unchanged(attention(), work(other));
    }
}

#[test]
fn products_around_a_softmax_are_one_operator() {
    becomes_one(4, work(|g, [q, k, v]| g.matmul(g.softmax(scores(g, q, k)?, -1)?, v)));
    becomes_one(3, work(|g, [q, k, v]| g.matmul(g.softmax(g.matmul(q, g.transpose(k, 2, 3)?)?, 3)?, v)));
    becomes_one(
        6,
        work(|g, [q, k, v]| {
            let scores = g.divs(g.matmul(q, g.transpose(k, 2, 3)?)?, 2.0)?;
            let shares = g.softmax(g.cast(scores, F32)?, -1)?;
            g.matmul(g.cast(shares, F16)?, v)
        }),
    );
    becomes_one(4, |g| {
        let n = g.symbol("n", 1..=3)?;
        let one = |name| g.input(name, [Dim::from(2), n, 4.into()], F16, Input::Copied);
        let (q, k, v) = (one("q")?, one("k")?, one("v")?);
        let scores = g.muls(g.batch_matmul(q, g.transpose(k, 1, 2)?)?, 0.5)?;
        g.output("y", g.batch_matmul(g.softmax(scores, -1)?, v)?)
    });
}

#[test]
fn masks_that_are_constant_are_part_of_it() {
    let hidden = f32::NEG_INFINITY;
    let masked = |hidden: f32, first: f32| {
        work(move |g, [q, k, v]| g.matmul(g.softmax(g.add(scores(g, q, k)?, mask(g, hidden, first)?)?, -1)?, v))
    };
    becomes_one(5, masked(hidden, 0.0));
    unchanged(attention(), masked(-60000.0, 0.0)); // a row with such numbers alone would see all
    unchanged(attention(), masked(hidden, 1.0));
    unchanged(OFF.fused_attention(PassMode::On), masked(hidden, hidden)); // a row that sees nothing
    // Of each head, and of each run.
    unchanged(
        attention(),
        work(|g, [q, k, v]| {
            let mask = g.constant(&[f16::ZERO; 18], [1, 2, 3, 3])?;
            g.matmul(g.softmax(g.add(scores(g, q, k)?, mask)?, -1)?, v)
        }),
    );
    unchanged(
        attention(),
        work(|g, [q, k, v]| {
            let mask = g.input("mask", [3, 3], F16, Input::Frozen)?;
            g.matmul(g.softmax(g.add(scores(g, q, k)?, mask)?, -1)?, v)
        }),
    );
    // One row of a mask for all rows.
    unchanged(
        attention(),
        work(|g, [q, k, v]| {
            let mask = g.constant(&[f16::ZERO; 3], [1, 3])?;
            g.matmul(g.softmax(g.add(scores(g, q, k)?, mask)?, -1)?, v)
        }),
    );
}

#[test]
fn other_arithmetic_and_types_stay() {
    unchanged(attention(), work(|g, [q, k, v]| g.matmul(g.softmax(scores(g, q, k)?, 2)?, v)));
    unchanged(attention(), work(|g, [q, k, v]| g.matmul(g.tanh(scores(g, q, k)?)?, v)));
    unchanged(attention(), work(|g, [q, k, v]| g.matmul(g.softmax(g.adds(scores(g, q, k)?, 1.0)?, -1)?, v)));
    unchanged(
        attention(),
        work(|g, [q, k, v]| {
            let shares = g.cast(g.softmax(scores(g, q, k)?, -1)?, F32)?;
            g.matmul(shares, g.cast(v, F32)?)
        }),
    );
    // Of f32, which cards do not take.
    unchanged(attention(), |g| {
        let one = |name| g.input(name, [1, 2, 3, 4], F32, Input::Copied);
        let (q, k, v) = (one("q")?, one("k")?, one("v")?);
        g.output("y", g.matmul(g.softmax(scores(g, q, k)?, -1)?, v)?)
    });
    let quick = crate::op::CubeMath::UseHf32;
    unchanged(attention(), work(|g, [q, k, v]| g.matmul_with(g.softmax(scores(g, q, k)?, -1)?, v, quick)));
}

/// Of heads of so many elements, and up to so many sequences.
fn sequences(width: usize, most: usize) -> impl Fn(&Builder) -> Result<()> {
    move |g| {
        let n = g.symbol("n", 1..=most)?;
        let one = |name| g.input(name, [n, 2.into(), 3.into(), width.into()], F16, Input::Copied);
        let (q, k, v) = (one("q")?, one("k")?, one("v")?);
        g.output("y", g.matmul(g.softmax(scores(g, q, k)?, -1)?, v)?)
    }
}

#[test]
fn as_many_sequences_as_symbols_allow_have_to_fit() {
    let pass = OFF.fused_attention(PassMode::On);
    for (width, most) in [(4, 128), (16, 1 << 16)] {
        let better = optimised(pass, sequences(width, most));
        assert_eq!(better.plan.operators(), 1, "{better}");
        unchanged(pass, sequences(width, most + 1));
    }
}

/// The document of the operator takes 20,971,520 keys; one more is refused by its first phase.
#[test]
fn as_many_keys_as_symbols_allow_have_to_fit() {
    let pass = OFF.fused_attention(PassMode::On);
    let of = |keys: fn(&Builder) -> Result<Dim>| {
        move |g: &Builder| {
            let keys = keys(g)?;
            let one = |name, rows| g.input(name, [1.into(), 2.into(), rows, 16.into()], F16, Input::Copied);
            let (q, k, v) = (one("q", 1.into())?, one("k", keys)?, one("v", keys)?);
            g.output("y", g.matmul(g.softmax(scores(g, q, k)?, -1)?, v)?)
        }
    };
    for taken in [of(|_| Ok(20_971_520.into())), of(|g| g.symbol("n", 1..=20_971_520))] {
        assert_eq!(optimised(pass, taken).plan.operators(), 1);
    }
    unchanged(pass, of(|_| Ok(20_971_521.into())));
    unchanged(pass, of(|g| g.symbol("n", 1..=20_971_521)));
}

#[test]
fn other_shapes_stay() {
    // Values of another width; keys of one head for two; heads that depend on a symbol; two dimensions.
    unchanged(attention(), work(|g, [q, k, v]| g.matmul(g.softmax(scores(g, q, k)?, -1)?, g.narrow(v, 3, 0..2)?)));
    unchanged(attention(), work(|g, [q, k, v]| g.matmul(g.softmax(scores(g, q, g.narrow(k, 1, 0..1)?)?, -1)?, v)));
    unchanged(attention(), |g| {
        let n = g.symbol("n", 1..=2)?;
        let one = |name| g.input(name, [Dim::from(1), n, 3.into(), 4.into()], F16, Input::Copied);
        let (q, k, v) = (one("q")?, one("k")?, one("v")?);
        g.output("y", g.matmul(g.softmax(scores(g, q, k)?, -1)?, v)?)
    });
    unchanged(attention(), |g| {
        let x = g.input("x", [3, 4], F16, Input::Copied)?;
        g.output("y", g.matmul(g.softmax(g.matmul(x, g.transpose(x, 0, 1)?)?, -1)?, x)?)
    });
}

#[test]
fn what_others_use_or_change_stays() {
    let read = |which: usize| {
        work(move |g, [q, k, v]| {
            let scores = scores(g, q, k)?;
            let shares = g.softmax(scores, -1)?;
            match which {
                1 => aclnn::tanh(g, &q, &mut { q })?,
                2 => aclnn::abs(g, &shares, &mut { shares })?,
                3 => g.record_external(g.external("read")?)?,
                4 => drop(g.prefetch(shares, Prefetch::all(), crate::plan::After::Value(shares))?),
                _ => {}
            }
            let y = g.matmul(shares, v)?;
            if which == 0 { g.matmul(g.abs(shares)?, y) } else { Ok(y) }
        })
    };
    (0..5).for_each(|which| unchanged(attention(), read(which)));
    unchanged(
        attention(),
        work(|g, [q, k, v]| {
            let shares = g.scope("side", |g| g.softmax(scores(g, q, k)?, -1))?;
            g.join("side")?;
            g.matmul(shares, v)
        }),
    );
    // Into the memory of the query.
    unchanged(attention(), |g| {
        let [q, k, v] = given(g)?;
        let shares = g.softmax(scores(g, q, k)?, -1)?;
        aclnn::matmul(g, &shares, &v, &mut { q }, 0)
    });
}
