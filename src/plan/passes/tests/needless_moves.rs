//! Operators that move elements for readers that take views.

use crate::op::aclnn;
use crate::plan::Simulated;

use super::*;

fn moves() -> Passes {
    OFF.needless_moves(PassMode::Verified)
}

fn given(g: &Builder) -> Result<[Value; 2]> {
    let n = g.symbol("n", 1..=3)?;
    Ok([
        g.input("x", [n, Dim::from(4), Dim::from(6)], F32, Input::Copied)?,
        g.input("w", [4, 6], F32, Input::Static)?,
    ])
}

fn work(chain: impl FnOnce(&Builder, [Value; 2]) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    move |g| {
        let all = given(g)?;
        g.output("y", chain(g, all)?)
    }
}

#[track_caller]
fn stays(chain: impl FnOnce(&Builder, [Value; 2]) -> Result<Value>) {
    unchanged(moves(), work(chain));
}

/// `x[:, :, start..end]` with steps.
fn slice(g: &Builder, x: Value, [start, end, step]: [i64; 3], size: usize) -> Result<Value> {
    let mut part = g.empty([3, size], F32)?;
    aclnn::slice(g, &x, -1, start, end, step, &mut part)?;
    Ok(part)
}

/// A copy of a view.
fn copied(g: &Builder, view: Value) -> Result<Value> {
    let copy = g.empty(&g.dims(view)?[..], F32)?;
    aclnn::inplace_copy(g, &mut { copy }, &view)?;
    Ok(copy)
}

#[test]
fn sums_are_added_in_the_order_in_which_they_were() {
    // In another order they are 0: 1 is lost beside the large ones.
    let sum = |g: &Builder| {
        let x = g.input("x", [2, 2], F32, Input::Copied)?;
        g.output("y", g.reduce_sum(g.permute(x, &[1, 0])?, &[], false)?)
    };
    unchanged(moves(), sum);
    let plan = Plan::build(sum).unwrap();
    let passed = plan.optimise(&OFF.needless_moves(PassMode::On)).unwrap().plan;
    for plan in [plan, passed] {
        let done = plan.simulate(1, &Simulated::new().tensor("x", &[1e20_f32, 1.0, -1e20, 0.0], [2, 2])).unwrap();
        assert_eq!(done.to_vec::<f32>("y").unwrap(), [1.0]);
    }
    stays(|g, [x, _]| g.mean(copied(g, g.transpose(x, 0, 2)?)?, &[0, 1], false));
    // Nor are those with gaps in the order of those that follow one another.
    let gaps = |g: &Builder| {
        let x = g.input("x", [2, 4], F32, Input::Copied)?;
        g.output("y", g.reduce_sum(copied(g, g.narrow(x, 1, 0..3)?)?, &[], false)?)
    };
    unchanged(moves(), gaps);
    let passed = Plan::build(gaps).unwrap().optimise(&OFF.needless_moves(PassMode::On)).unwrap().plan;
    let x = [1e20_f32, 1.0, 0.0, 9.0, 0.0, -1e20, 0.0, 9.0];
    let done = passed.simulate(1, &Simulated::new().tensor("x", &x, [2, 4])).unwrap();
    assert_eq!(done.to_vec::<f32>("y").unwrap(), [1.0]);
    stays(|g, [x, _]| g.mean(copied(g, g.narrow(x, 2, 1..4)?)?, &[0, 1, 2], false));
    let whole = work(|g, [x, _]| g.reduce_sum(copied(g, x)?, &[], false));
    assert_eq!(gone(moves(), whole), ["aclnnInplaceCopy"]);
}

/// Each sum is of one line, in its order: the first four of a line are added apart, and the fifth to the first of them.
#[test]
fn sums_along_the_last_dimension_alone_read_views() {
    let sum = |dims: &'static [i64]| {
        move |g: &Builder| {
            let x = g.input("x", [2, 8], F32, Input::Copied)?;
            g.output("y", g.reduce_sum(copied(g, g.narrow(x, 1, 0..5)?)?, dims, true)?)
        }
    };
    let x = [1e20_f32, 1.0, 0.0, 0.0, -1e20, 9.0, 9.0, 9.0, 3.0, 1e20, 0.0, 0.0, 4.0, 9.0, 9.0, 9.0];
    for dims in [&[1_i64], &[-1]] {
        assert_eq!(gone(moves(), sum(dims)), ["aclnnInplaceCopy"]);
        let plan = Plan::build(sum(dims)).unwrap();
        let passed = plan.optimise(&OFF.needless_moves(PassMode::On)).unwrap().plan;
        for plan in [plan, passed] {
            let done = plan.simulate(1, &Simulated::new().tensor("x", &x, [2, 8])).unwrap();
            assert_eq!(done.to_vec::<f32>("y").unwrap(), [1.0, 1e20]);
        }
    }
    unchanged(moves(), sum(&[0]));
    unchanged(moves(), sum(&[0, 1]));
}

#[test]
fn every_kind_of_move_goes() {
    assert_eq!(gone(moves(), work(|g, [x, _]| g.abs(g.permute(x, &[2, 0, 1])?))), ["aclnnPermute"]);
    assert_eq!(gone(moves(), work(|g, [x, _]| g.tanh(copied(g, g.narrow(x, 2, 1..4)?)?))), ["aclnnInplaceCopy"]);
    assert_eq!(gone(moves(), work(|g, [x, _]| g.tanh(copied(g, g.transpose(x, 0, 2)?)?))), ["aclnnInplaceCopy"]);
    assert_eq!(
        gone(moves(), |g| {
            let w = g.input("w", [4, 6], F32, Input::Static)?;
            let copy = g.empty([2, 6], F32)?;
            g.copy(g.narrow(w, 0, 1..3)?, copy)?;
            g.output("y", g.abs(copy)?)
        }),
        ["aclnnInplaceCopy"]
    );
    let parts = |g: &Builder, [x, _]: [Value; 2]| {
        let parts = g.split(x, &[1, 3, 2], 2)?;
        g.sub(g.add(parts[1], parts[0])?, parts[0])
    };
    // A part with gaps is read twice.
    stays(parts);
    let parts = |g: &Builder, [_, w]: [Value; 2]| {
        let parts = g.split(w, &[1, 3], 0)?;
        g.sub(g.add(parts[1], parts[0])?, parts[0])
    };
    assert_eq!(gone(moves(), work(parts)), ["aclnnSplitWithSize"]);
    let both = |g: &Builder, [x, _]: [Value; 2]| {
        let parts = g.split(x, &[3, 3], -1)?;
        g.mul(parts[1], parts[0])
    };
    assert_eq!(gone(moves(), work(both)), ["aclnnSplitWithSize"]);
    let joined = |g: &Builder, [x, _]: [Value; 2]| {
        g.abs(g.cat(&[g.narrow(x, 2, 1..3)?, g.narrow(x, 2, 3..4)?, g.narrow(x, 2, 4..6)?], -1)?)
    };
    assert_eq!(gone(moves(), work(joined)), ["aclnnCat"]);
}

#[test]
fn slices_count_from_the_end_and_in_steps() {
    for (ends, size) in [([1, 5, 1], 4), ([-5, -1, 2], 2), ([0, 100, 4], 2), ([3, 6, 3], 1)] {
        assert_eq!(
            gone(moves(), |g| {
                let x = g.input("x", [3, 6], F32, Input::Copied)?;
                g.output("y", g.abs(slice(g, x, ends, size)?)?)
            }),
            ["aclnnSlice"],
            "{ends:?}"
        );
    }
}

#[test]
fn moves_behind_each_other_go() {
    let better = optimised(
        moves(),
        work(|g, [x, w]| {
            let turned = g.permute(g.permute(x, &[1, 0, 2])?, &[2, 1, 0])?; // [6, n, 4]
            let part = copied(g, g.narrow(turned, 2, 1..3)?)?;
            let matrix = copied(g, g.narrow(w, 1, 0..2)?)?;
            g.matmul(part, g.permute(matrix, &[1, 0])?)
        }),
    );
    // The copy reads a part of what was turned, not all of it as it is.
    assert_eq!((better.before, better.plan.operators()), (6, 2), "{better}");
}

#[test]
fn readers_that_take_no_views_and_outputs_stay() {
    stays(|g, [x, _]| g.permute(x, &[2, 0, 1]));
    stays(|g, [x, _]| {
        let turned = g.permute(x, &[0, 2, 1])?;
        let mut sums = g.empty(&g.dims(turned)?[..], F32)?;
        aclnn::cumsum(g, &turned, 0, F32, &mut sums)?;
        Ok(sums)
    });
    // Another view of the result.
    stays(|g, [x, _]| g.abs(g.narrow(g.permute(x, &[2, 0, 1])?, 0, 0..2)?));
    // Each reader would gather for itself.
    stays(|g, [x, _]| {
        let turned = g.permute(x, &[2, 0, 1])?;
        g.add(g.abs(turned)?, g.tanh(turned)?)
    });
    stays(|g, [x, _]| {
        let turned = g.permute(x, &[2, 0, 1])?;
        g.prefetch(turned, Prefetch::all(), crate::plan::After::Value(turned))?;
        g.abs(turned)
    });
    // Pieces with something between them, or in another order, or of two memories.
    stays(|g, [x, _]| g.abs(g.cat(&[g.narrow(x, 2, 0..2)?, g.narrow(x, 2, 3..4)?], 2)?));
    stays(|g, [x, _]| g.abs(g.cat(&[g.narrow(x, 2, 2..4)?, g.narrow(x, 2, 0..2)?], 2)?));
    stays(|g, [_, w]| g.abs(g.cat(&[g.narrow(w, 0, 0..2)?, g.narrow(g.tanh(w)?, 0, 2..4)?], 0)?));
    // What is copied is broadcast, or becomes another type.
    stays(|g, [_, w]| {
        let copy = g.empty([2, 4, 6], F32)?;
        aclnn::inplace_copy(g, &mut { copy }, &w)?;
        g.abs(copy)
    });
    stays(|g, [_, w]| {
        let copy = g.empty([4, 6], F16)?;
        aclnn::inplace_copy(g, &mut { copy }, &w)?;
        g.cast(copy, F32)
    });
}

#[test]
fn what_is_written_before_it_is_read_stays() {
    let turned = |g: &Builder, w: Value| g.permute(w, &[1, 0]);
    stays(|g, [_, w]| {
        let turned = turned(g, w)?;
        aclnn::tanh(g, &w, &mut { w })?;
        g.abs(turned)
    });
    stays(|g, [_, w]| {
        let turned = turned(g, w)?;
        aclnn::tanh(g, &turned, &mut { turned })?;
        g.abs(turned)
    });
    // A piece of what is joined, not the first.
    stays(|g, [_, w]| {
        let joined = g.cat(&[g.narrow(w, 0, 0..2)?, g.narrow(w, 0, 2..4)?], 0)?;
        let last = g.narrow(w, 0, 3..4)?;
        aclnn::tanh(g, &last, &mut { last })?;
        g.abs(joined)
    });
    // By the reader itself, by somebody who is told, and at the same time.
    unchanged(moves(), |g| {
        let w = g.input("w", [4, 4], F32, Input::Static)?;
        aclnn::abs(g, &turned(g, w)?, &mut { w })
    });
    stays(|g, [_, w]| {
        let turned = turned(g, w)?;
        g.record_external(g.external("read")?)?;
        g.abs(turned)
    });
    stays(|g, [_, w]| {
        let turned = turned(g, w)?;
        g.scope("side", |g| aclnn::tanh(g, &w, &mut { w }))?;
        let read = g.abs(turned)?;
        g.join("side")?;
        Ok(read)
    });
}

#[test]
fn a_reader_of_another_stream_takes_the_view() {
    assert_eq!(
        gone(
            moves(),
            work(|g, [_, w]| {
                let turned = g.permute(w, &[1, 0])?;
                let read = g.scope("side", |g| g.abs(turned))?;
                g.join("side")?;
                g.tanh(read)
            })
        ),
        ["aclnnPermute"]
    );
}
