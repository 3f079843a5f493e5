//! Results that are written into the larger value that they would be copied into.

use super::*;

fn direct() -> Passes {
    OFF.direct_results(PassMode::Verified)
}

fn input(g: &Builder, name: &str, dims: &[usize]) -> Result<Value> {
    g.input(name, dims, F32, Input::Copied)
}

#[test]
fn pieces_are_written_where_they_would_be_joined() {
    let better = optimised(direct(), |g| {
        let (x, y) = (input(g, "x", &[2, 3])?, input(g, "y", &[1, 3])?);
        let joined = g.cat(&[g.abs(x)?, g.tanh(y)?], 0)?;
        g.output("z", g.mul(joined, joined)?)
    });
    assert_eq!((better.before, better.plan.operators()), (4, 3), "{better}");
    assert_eq!(better.changes[0].work.operator, "aclnnCat");
    // In one value: rows 0 and 1, and from byte 24 on row 2.
    let text = better.plan.to_text();
    let of = |name: &str| text.lines().find(|line| line.contains(&format!(" = {name}.0("))).unwrap();
    assert!(of("aclnnAbs").contains("%aclnnAbs.0 f32[2, 3] = "), "{text}");
    assert!(of("aclnnTanh").starts_with("origin: %aclnnAbs.0+24B f32[1, 3] = "), "{text}");
}

#[test]
fn parts_without_gaps_are_taken_in_any_dimension() {
    assert_eq!(
        gone(direct(), |g| {
            let (x, y) = (input(g, "x", &[1, 3])?, input(g, "y", &[1, 2])?);
            g.output("z", g.cat(&[g.abs(x)?, g.abs(y)?], 1)?)
        }),
        ["aclnnCat"]
    );
    assert_eq!(
        gone(direct(), |g| {
            let (x, y) = (input(g, "x", &[2, 3])?, input(g, "y", &[2, 3])?);
            g.output("z", g.stack(&[g.abs(x)?, g.tanh(y)?], 0)?)
        }),
        ["aclnnStack"]
    );
    // Columns of several rows have gaps.
    unchanged(direct(), |g| {
        let (x, y) = (input(g, "x", &[2, 3])?, input(g, "y", &[2, 3])?);
        g.output("z", g.cat(&[g.abs(x)?, g.abs(y)?], 1)?)?;
        g.output("s", g.stack(&[g.tanh(x)?, g.tanh(y)?], 1)?)
    });
}

/// A row that is computed and written into a cache of rows.
fn cached(g: &Builder, work: impl FnOnce(&Builder, Value, Value) -> Result<()>) -> Result<()> {
    let cache = g.input("cache", [4, 16], F32, Input::Static)?;
    let row = g.narrow(cache, 0, 2..3)?;
    work(g, cache, row)
}

#[test]
fn a_row_is_written_into_its_cache() {
    for bytes in [false, true] {
        let better = optimised(direct(), |g| {
            cached(g, |g, cache, row| {
                let new = g.abs(input(g, "x", &[1, 16])?)?;
                if bytes {
                    g.copy(new, row)?;
                } else {
                    aclnn::inplace_copy(g, &mut { row }, &new)?;
                }
                g.output("y", g.mul(cache, cache)?)
            })
        });
        assert_eq!((better.before, better.plan.operators()), (3, 2), "{better}");
        assert!(better.plan.to_text().contains("in:cache+128B f32[1, 16] = aclnnAbs.0"), "{}", better.plan.to_text());
    }
}

#[test]
fn what_is_read_or_written_in_between_stays_as_it_is() {
    let stays = |work: fn(&Builder, Value, Value, Value) -> Result<()>| {
        unchanged(direct(), |g| cached(g, |g, cache, row| work(g, cache, row, input(g, "x", &[1, 16])?)));
    };
    // Read before it is written over.
    stays(|g, cache, row, x| {
        let new = g.abs(x)?;
        g.output("before", g.mul(cache, cache)?)?;
        aclnn::inplace_copy(g, &mut { row }, &new)
    });
    // Written by others, whose numbers are written over.
    stays(|g, _, row, x| {
        let new = g.abs(x)?;
        aclnn::tanh(g, &x, &mut { row })?;
        aclnn::inplace_copy(g, &mut { row }, &new)
    });
    // Made of what is written over, in another order.
    stays(|g, cache, row, _| {
        let sums = g.empty([1, 16], F32)?;
        let rows = g.narrow(cache, 0, 0..3)?;
        aclnn::reduce_sum(g, &rows, &[0], true, F32, &mut { sums })?;
        aclnn::inplace_copy(g, &mut { row }, &sums)
    });
    // Somebody outside is told that nothing is written yet.
    stays(|g, _, row, x| {
        let new = g.abs(x)?;
        g.record_external(g.external("go")?)?;
        aclnn::inplace_copy(g, &mut { row }, &new)
    });
    // Work that the plan does not know may use it until the streams meet.
    unchanged(direct(), |g| {
        let (x, memory) = (input(g, "x", &[1, 16])?, g.full([2, 16], F32, 1.0)?);
        g.output("side", g.scope("side", |g| g.tanh(x))?)?;
        g.record_stream(memory, "side")?;
        let new = g.abs(x)?;
        g.join("side")?;
        aclnn::inplace_copy(g, &mut { g.narrow(memory, 0, 0..1)? }, &new)?;
        g.output("y", g.mul(memory, memory)?)
    });
    // On another stream than the copy, whose order is not that of the work.
    stays(|g, _, row, x| {
        let new = g.scope("side", |g| g.abs(x))?;
        g.join("side")?;
        aclnn::inplace_copy(g, &mut { row }, &new)
    });
}

#[test]
fn what_others_need_is_copied() {
    // A result that others read, one that is copied twice, and an input.
    unchanged(direct(), |g| {
        let new = g.abs(input(g, "x", &[1, 3])?)?;
        g.output("z", g.cat(&[new, g.tanh(new)?], 0)?)
    });
    unchanged(direct(), |g| {
        let new = g.abs(input(g, "x", &[1, 3])?)?;
        g.output("z", g.cat(&[new, new], 0)?)
    });
    unchanged(direct(), |g| {
        let x = input(g, "x", &[1, 3])?;
        g.output("z", g.cat(&[g.abs(x)?, x], 0)?)
    });
    // Numbers that are rounded on the way.
    unchanged(direct(), |g| {
        let half = g.empty([1, 3], F16)?;
        aclnn::inplace_copy(g, &mut { half }, &g.abs(input(g, "x", &[1, 3])?)?)?;
        g.output("z", half)
    });
}

#[test]
fn sizes_may_be_symbols() {
    let better = optimised(direct(), |g| {
        let n = g.symbol("n", 1..=8)?;
        let (x, y) = (g.input("x", [n, Dim::from(3)], F32, Input::Copied)?, input(g, "y", &[1, 3])?);
        g.output("z", g.cat(&[g.abs(x)?, g.abs(y)?], 0)?)
    });
    assert_eq!(better.plan.operators(), 2, "{better}");
}
