//! Normalisations by the root of the mean square that are one operator.

use crate::op::aclnn;
use crate::plan::{Inferred, OnMove, Simulated};

use super::*;

pub(super) fn norms() -> Passes {
    OFF.fused_norms(PassMode::Verified)
}

pub(super) fn on() -> Passes {
    OFF.fused_norms(PassMode::On)
}

/// An input of three rows and a weight.
pub(super) fn given(g: &Builder) -> Result<[Value; 2]> {
    let n = g.symbol("n", 1..=3)?;
    Ok([
        g.input("x", [n, Dim::from(4)], F32, Input::Tracked(OnMove::Recapture))?,
        g.input("w", [4], F32, Input::Frozen)?,
    ])
}

/// The deviations of rows.
fn deviations(g: &Builder, x: Value) -> Result<Value> {
    g.rsqrt(g.adds(g.mean(g.mul(x, x)?, &[-1], true)?, 1e-5)?)
}

pub(super) fn norm(g: &Builder, x: Value, w: Value) -> Result<Value> {
    g.mul(g.mul(x, deviations(g, x)?)?, w)
}

fn work(sum: impl FnOnce(&Builder, [Value; 2]) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    move |g| {
        let all = given(g)?;
        g.output("y", sum(g, all)?)
    }
}

/// What is left is this operator alone.
#[track_caller]
fn becomes(name: &str, of: usize, work: impl FnOnce(&Builder) -> Result<()>) {
    let better = optimised(norms(), work);
    assert_eq!((better.before, better.plan.operators(), better.changes.len()), (of, 1, of - 1), "{better}");
    let text = better.plan.to_text();
    assert!(text.contains(name), "{text}");
}

#[test]
fn the_usual_spellings_are_one_operator() {
    becomes("aclnnRmsNorm", 6, work(|g, [x, w]| norm(g, x, w)));
    becomes("aclnnRmsNorm", 6, work(|g, [x, w]| g.mul(w, g.mul(deviations(g, x)?, x)?)));
    becomes(
        "aclnnRmsNorm",
        6,
        work(|g, [x, w]| {
            let root = g.sqrt(g.adds(g.mean(g.pows(x, 2.0)?, &[1], true)?, 1e-5)?)?;
            g.mul(g.div(x, root)?, w)
        }),
    );
    becomes(
        "aclnnRmsNorm",
        6,
        work(|g, [x, w]| {
            let mut square = Inferred::new();
            aclnn::square(g, &x, &mut square)?;
            let scale = g.rsqrt(g.adds(g.mean(square.value()?, &[1], true)?, 1e-5)?)?;
            g.mul(g.mul(x, scale)?, w)
        }),
    );
}

#[test]
fn casts_around_are_part_of_it() {
    let narrow = |late: bool| {
        work(move |g, [x, w]| {
            let (x, w) = (g.cast(x, F16)?, g.cast(w, F16)?);
            let wide = g.cast(x, F32)?;
            let norm = g.mul(wide, deviations(g, wide)?)?;
            let y = if late { g.cast(g.mul(norm, g.cast(w, F32)?)?, F16)? } else { g.mul(w, g.cast(norm, F16)?)? };
            // Outputs are close, by their own type.
            g.abs(y)
        })
    };
    for late in [false, true] {
        let better = optimised(norms(), narrow(late));
        assert_eq!(better.plan.operators(), 4, "{better}"); // two casts, the norm, abs
        assert!(better.plan.to_text().contains("aclnnRmsNorm"));
    }
}

#[test]
fn casts_that_change_numbers_are_no_part_of_it() {
    // 3/2.5 and 4/2.5 are cut off to 1 each.
    let whole = |to: crate::op::DataType| {
        move |g: &Builder| {
            let x = g.input("x", [1, 4], F32, Input::Copied)?;
            let w = g.input("w", [4], F32, Input::Frozen)?;
            let norm = g.cast(g.mul(x, deviations(g, x)?)?, to)?;
            let mut y = Inferred::new();
            aclnn::mul(g, &norm, &w, &mut y)?;
            g.output("y", y.value()?)
        }
    };
    for to in [crate::op::DataType::I32, crate::op::DataType::Bool] {
        unchanged(norms(), whole(to));
        let plan = Plan::build(whole(to)).unwrap().optimise(&on()).unwrap().plan;
        let given = Simulated::new().tensor("x", &[3.0_f32, 4.0, 0.0, 0.0], [1, 4]).tensor("w", &[10.0_f32; 4], [4]);
        assert_eq!(plan.simulate(1, &given).unwrap().to_vec::<f32>("y").unwrap(), [10.0, 10.0, 0.0, 0.0]);
    }
    // A weight of a half is cut off to nothing.
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let (x, w) = (g.cast(x, F16)?, g.cast(w, F16)?);
            let wide = g.cast(x, F32)?;
            let norm = g.mul(wide, deviations(g, wide)?)?;
            let mut y = Inferred::new();
            aclnn::mul(g, &norm, &g.cast(w, crate::op::DataType::I32)?, &mut y)?;
            g.abs(g.cast(y.value()?, F16)?)
        }),
    );
}

#[test]
fn a_number_that_32_bits_have_not_stays() {
    let with = |eps: f64| {
        work(move |g, [x, w]| {
            let mut shifted = Inferred::new();
            aclnn::adds(g, &g.mean(g.mul(x, x)?, &[-1], true)?, eps, 1.0_f32, &mut shifted)?;
            g.mul(g.mul(x, g.rsqrt(shifted.value()?)?)?, w)
        })
    };
    unchanged(norms(), with(1e-50));
    unchanged(on(), with(1e39)); // infinite, so that nothing is left of a row
    becomes("aclnnRmsNorm", 6, with(1e-5));
}

#[test]
fn several_dimensions_of_a_weight_are_those_of_the_mean() {
    let over = |dims: &'static [i64]| {
        move |g: &Builder| {
            let x = g.input("x", [2, 3, 4], F32, Input::Copied)?;
            let w = g.input("w", [3, 4], F32, Input::Frozen)?;
            let scale = g.rsqrt(g.adds(g.mean(g.mul(x, x)?, dims, true)?, 1e-5)?)?;
            g.output("y", g.mul(g.mul(x, scale)?, w)?)
        }
    };
    becomes("aclnnRmsNorm", 6, over(&[1, 2]));
    becomes("aclnnRmsNorm", 6, over(&[-1, -2]));
    unchanged(norms(), over(&[2]));
    unchanged(norms(), over(&[0, 1]));
}

#[test]
fn other_arithmetic_stays() {
    let other = |square: fn(&Builder, Value) -> Result<Value>, eps: f32, alpha: f32| {
        work(move |g, [x, w]| {
            let mut shifted = Inferred::new();
            aclnn::adds(g, &g.mean(square(g, x)?, &[1], true)?, eps, alpha, &mut shifted)?;
            g.mul(g.mul(x, g.rsqrt(shifted.value()?)?)?, w)
        })
    };
    becomes("aclnnRmsNorm", 6, other(|g, x| g.mul(x, x), 0.5, 1.0));
    unchanged(norms(), other(|g, x| g.mul(x, x), 0.5, 2.0));
    unchanged(norms(), other(|g, x| g.pows(x, 4.0), 0.5, 1.0));
    unchanged(norms(), other(|g, x| g.mul(x, g.narrow(x, 0, 0..1)?), 0.5, 1.0));
    // Of another tensor, by another tensor, of the whole tensor, and without the dimension.
    unchanged(norms(), work(|g, [x, w]| g.mul(g.mul(x, deviations(g, w)?)?, w)));
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let mean = g.mean(g.mul(w, w)?, &[0], false)?;
            g.mul(g.mul(w, g.rsqrt(g.adds(mean, 1e-5)?)?)?, g.narrow(x, 0, 0..1)?)
        }),
    );
    // The weight has fewer elements than the mean is over, and is broadcast.
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let one = g.narrow(w, 0, 0..1)?;
            g.mul(g.mul(x, deviations(g, x)?)?, one)
        }),
    );
}

#[test]
fn statistics_of_other_types_stay() {
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let (x, w) = (g.cast(x, F16)?, g.cast(w, F16)?);
            norm(g, x, w) // all in f16
        }),
    );
    // A weight of f32 alone: all of it is of f32, between the casts.
    let better = optimised(
        norms(),
        work(|g, [x, w]| {
            let wide = g.cast(g.cast(x, F16)?, F32)?;
            g.cast(g.mul(g.mul(wide, deviations(g, wide)?)?, w)?, F16)
        }),
    );
    assert_eq!((better.before, better.plan.operators()), (9, 4), "{better}");
}

#[test]
fn numbers_that_are_told_later_stay() {
    let shifted = |g: &Builder, x: Value| -> Result<Value> {
        let n = g.number("eps", 1..=4)?;
        let mut shifted = Inferred::new();
        let squares = g.mean(g.mul(x, x)?, &[1], true)?;
        aclnn::adds(&g.telling("other", n), &squares, 1.0_f32, 1_i64, &mut shifted)?;
        shifted.value()
    };
    unchanged(on(), work(|g, [x, w]| g.mul(g.mul(x, g.rsqrt(shifted(g, x)?)?)?, w)));
    unchanged(
        on(),
        work(|g, [x, w]| {
            let n = g.number("n1", 1..=1)?;
            let mut mean = Inferred::new();
            aclnn::mean(g, &g.mul(x, x)?, &[1], true, F32, &mut mean)?;
            let mut late = g.empty([g.dims(x)?[0], Dim::from(1)], F32)?;
            aclnn::mean(&g.telling("dim", [n]), &g.mul(x, x)?, &[1], true, F32, &mut late)?;
            g.mul(g.mul(x, g.rsqrt(g.adds(late, 1e-5)?)?)?, w)
        }),
    );
}

#[test]
fn what_others_read_is_computed() {
    let read = |which: usize| {
        work(move |g, [x, w]| {
            let square = g.mul(x, x)?;
            let mean = g.mean(square, &[1], true)?;
            let scale = g.rsqrt(g.adds(mean, 1e-5)?)?;
            let norm = g.mul(x, scale)?;
            let y = g.mul(norm, w)?;
            g.mul(y, [square, mean, scale, norm][which])
        })
    };
    (0..4).for_each(|which| unchanged(norms(), read(which)));
    // As an output, and as memory that is prefetched.
    unchanged(norms(), |g| {
        let [x, w] = given(g)?;
        let scale = deviations(g, x)?;
        g.output("scale", scale)?;
        g.output("y", g.mul(g.mul(x, scale)?, w)?)
    });
    unchanged(norms(), |g| {
        let [x, w] = given(g)?;
        let scale = deviations(g, x)?;
        g.prefetch(scale, Prefetch::all(), crate::plan::After::Value(scale))?;
        g.output("y", g.mul(g.mul(x, scale)?, w)?)
    });
}

#[test]
fn what_is_written_again_or_in_place_stays() {
    // An inner result.
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let scale = deviations(g, x)?;
            aclnn::abs(g, &scale, &mut { scale })?;
            g.mul(g.mul(x, scale)?, w)
        }),
    );
    // The result is what is normalised, or the weight.
    unchanged(norms(), |g| {
        let [x, w] = given(g)?;
        let norm = g.mul(x, deviations(g, x)?)?;
        aclnn::mul(g, &norm, &w, &mut { x })
    });
    unchanged(norms(), |g| {
        let x = g.input("x", [4], F32, Input::Static)?;
        let w = g.input("w", [4], F32, Input::Static)?;
        let norm = g.mul(x, deviations(g, x)?)?;
        aclnn::mul(g, &norm, &w, &mut { w })
    });
    // The result is a part of the memory of what is normalised.
    unchanged(norms(), |g| {
        let both = g.input("both", [2, 4], F32, Input::Static)?;
        let (x, y, w) = (g.narrow(both, 0, 0..1)?, g.narrow(both, 0, 1..2)?, g.input("w", [4], F32, Input::Frozen)?);
        let norm = g.mul(x, deviations(g, x)?)?;
        aclnn::mul(g, &norm, &w, &mut { y })
    });
}

#[test]
fn what_is_read_may_not_change_in_between() {
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let norm = g.mul(x, deviations(g, x)?)?;
            aclnn::tanh(g, &x, &mut { x })?;
            g.mul(norm, w)
        }),
    );
    // Between its two readers.
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let scale = deviations(g, x)?;
            aclnn::tanh(g, &x, &mut { x })?;
            g.mul(g.mul(x, scale)?, w)
        }),
    );
    // By somebody who is told that it was read.
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let norm = g.mul(x, deviations(g, x)?)?;
            g.record_external(g.external("read")?)?;
            g.mul(norm, w)
        }),
    );
    // Before all of it it may.
    let better = optimised(
        norms(),
        work(|g, [x, w]| {
            aclnn::tanh(g, &x, &mut { x })?;
            let y = norm(g, x, w)?;
            aclnn::tanh(g, &x, &mut { x })?;
            Ok(y)
        }),
    );
    assert_eq!(better.plan.operators(), 3, "{better}");
}

#[test]
fn work_of_several_streams_or_limits_stays() {
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let scale = g.scope("side", |g| deviations(g, x))?;
            g.join("side")?;
            g.mul(g.mul(x, scale)?, w)
        }),
    );
    unchanged(
        norms(),
        work(|g, [x, w]| {
            let few = crate::plan::Scope::new().cores(crate::plan::Cores { cube: 1, vector: 1 });
            let scale = g.scope_with(crate::plan::ORIGIN_TAG, few, |g| deviations(g, x))?;
            g.mul(g.mul(x, scale)?, w)
        }),
    );
}

#[test]
fn sums_in_front_are_part_of_it_and_may_be_read_later() {
    let better = optimised(norms(), |g| {
        let [x, w] = given(g)?;
        let sum = g.add(x, g.abs(x)?)?;
        let y = norm(g, sum, w)?;
        g.output("y", g.add(g.tanh(y)?, sum)?)
    });
    assert_eq!((better.before, better.plan.operators()), (10, 4), "{better}"); // abs, the norm, tanh, add
    assert!(better.plan.to_text().contains("aclnnAddRmsNorm"));
    let last = better.changes.last().unwrap();
    assert_eq!((last.pass, &*last.work.operator), ("fused_norms", "aclnnAdd"));
    // It is read before the norm, by work that has no order with it, scaled, broadcast, or what an output holds.
    let stays = |sum: fn(&Builder, Value, Value) -> Result<Value>| {
        let better = optimised(norms(), work(move |g, [x, w]| sum(g, x, w)));
        assert!(!better.plan.to_text().contains("aclnnAddRmsNorm"), "{better}");
        assert!(better.plan.to_text().contains("aclnnRmsNorm"), "{better}");
    };
    stays(|g, x, w| {
        let sum = g.add(x, x)?;
        let early = g.tanh(sum)?;
        g.add(norm(g, sum, w)?, early)
    });
    stays(|g, x, w| {
        let sum = g.add(x, x)?;
        let side = g.scope("side", |g| g.tanh(sum))?;
        let y = norm(g, sum, w)?;
        g.join("side")?;
        g.add(y, side)
    });
    stays(|g, x, w| norm(g, g.add_scaled(x, x, 0.5)?, w));
    stays(|g, x, w| norm(g, g.add(x, w)?, w));
    stays(|g, x, w| {
        let sum = g.add(x, x)?;
        let y = norm(g, sum, w)?;
        aclnn::tanh(g, &sum, &mut { sum })?;
        g.add(y, sum)
    });
    stays(|g, x, w| {
        let sum = g.add(x, x)?;
        aclnn::abs(g, &x, &mut { x })?;
        norm(g, sum, w)
    });
}

#[test]
fn a_norm_by_its_own_name_takes_a_sum_too() {
    becomes("aclnnAddRmsNorm", 2, work(|g, [x, w]| Ok(g.rms_norm(g.add(x, x)?, w, 1e-5)?.0)));
    unchanged(
        on(),
        work(|g, [x, w]| {
            let (sum, n) = (g.add(x, x)?, g.number("eps", 1..=2)?);
            let (mut y, mut rstd) = (Inferred::new(), Inferred::new());
            aclnn::rms_norm(&g.telling("epsilon", n), &sum, &w, 1e-5, &mut y, &mut rstd)?;
            y.value()
        }),
    );
}

#[test]
fn channels_with_known_statistics_are_one_operator() {
    let norm = |wide: bool, late: bool| {
        move |g: &Builder| {
            let n = g.symbol("n", 1..=2)?;
            let x = g.input("x", [n, 3.into(), 2.into(), 2.into()], F32, Input::Copied)?;
            let line = |name| g.reshape(g.input(name, [3], F32, Input::Frozen)?, [3, 1, 1]);
            let (mean, weight) = (line("mean")?, line("weight")?);
            let scale = g.rsqrt(g.adds(g.abs(line("variance")?)?, 0.5)?)?;
            let bias = if wide { g.input("bias", [1, 3, 2, 2], F32, Input::Frozen)? } else { line("bias")? };
            let centred = g.sub(x, mean)?;
            let y = g.add(bias, g.mul(g.mul(centred, scale)?, weight)?)?;
            g.output("y", if late { g.add(y, centred)? } else { y })
        }
    };
    let is_one = |work: &dyn Fn(&Builder) -> Result<()>| {
        let better = optimised(norms(), work);
        assert_eq!((better.before, better.plan.operators(), better.changes.len()), (7, 4, 3), "{better}");
        assert!(better.plan.to_text().contains("aclnnBatchNormElemt"), "{better}");
    };
    is_one(&norm(false, false));
    unchanged(norms(), norm(true, false));
    unchanged(norms(), norm(false, true));
    // By the weight first, whose sign has to stay; and by numbers of which nobody knows.
    let scaled = |dtype: crate::op::DataType, known: bool| {
        move |g: &Builder| {
            let x = g.input("x", [2, 3, 2, 2], dtype, Input::Copied)?;
            let line = |name| g.reshape(g.input(name, [3], dtype, Input::Frozen)?, [3, 1, 1]);
            let scale = g.rsqrt(g.adds(g.abs(line("variance")?)?, 0.5)?)?;
            let scale = if known { scale } else { g.neg(scale)? };
            let norm = g.mul(g.mul(g.sub(x, line("mean")?)?, line("weight")?)?, scale)?;
            g.output("y", g.add(norm, line("bias")?)?)
        }
    };
    is_one(&scaled(F32, true));
    unchanged(norms(), scaled(F32, false));
    unchanged(norms(), scaled(F16, true));
    let folded = |factor: [f32; 3]| {
        move |g: &Builder| {
            let x = g.input("x", [2, 3, 2], F32, Input::Copied)?;
            let line = |name| g.reshape(g.input(name, [3], F32, Input::Frozen)?, [3, 1]);
            let norm = g.mul(g.mul(g.sub(x, line("mean")?)?, g.constant(&factor, [3, 1])?)?, line("weight")?)?;
            g.output("y", g.add(norm, line("bias")?)?)
        }
    };
    becomes("aclnnBatchNormElemt", 4, folded([0.5, 2.0, 1e-3]));
    unchanged(norms(), folded([0.5, -2.0, 1.0]));
    unchanged(norms(), folded([0.5, 0.0, 1.0]));
    unchanged(norms(), folded([0.5, 1e-20, 1.0]));
    unchanged(norms(), folded([0.5, 1e20, 1.0]));
    unchanged(norms(), |g| {
        let x = g.input("x", [2, 3], F32, Input::Copied)?;
        let line = |name| g.reshape(g.input(name, [2], F32, Input::Frozen)?, [2, 1]); // of rows
        let centred = g.sub(x, line("mean")?)?;
        g.output("y", g.add(g.mul(g.mul(centred, line("scale")?)?, line("weight")?)?, line("bias")?)?)
    });
}

#[cfg(feature = "cache")]
#[test]
fn the_new_plan_can_be_stored() {
    use crate::plan::{Code, Registry};

    let better = optimised(norms(), |g| {
        let [x, w] = given(g)?;
        let sum = g.add(x, g.abs(x)?)?;
        g.output("y", g.add(norm(g, sum, w)?, sum)?)
    });
    let registry = Registry::new();
    let (stored, _) = Plan::from_bytes(&better.plan.to_bytes(), Code::Registered(&registry)).unwrap();
    assert_eq!(better.plan.difference(&stored), None);
}

#[test]
fn a_norm_that_is_its_own_weight_stays() {
    unchanged(norms(), |g| {
        let x = g.input("x", [2, 4], F32, Input::Copied)?;
        let scale = g.rsqrt(g.adds(g.mean(g.mul(x, x)?, &[0, 1], true)?, 1e-5)?)?;
        let norm = g.mul(x, scale)?;
        g.output("y", g.mul(norm, norm)?)
    });
}
