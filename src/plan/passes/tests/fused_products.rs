//! Products that are part of a sum.

use crate::op::{CubeMath, DataType, aclnn};

use super::*;

fn products() -> Passes {
    OFF.fused_products(PassMode::Verified)
}

type Matrices = [Value; 3];

/// Two matrices and a row.
fn matrices(g: &Builder) -> Result<Matrices> {
    let input = |name, dims: [usize; 2]| g.input(name, dims, F32, Input::Static);
    Ok([input("a", [2, 3])?, input("b", [3, 4])?, g.reshape(input("row", [1, 4])?, [4])?])
}

fn work(sum: impl FnOnce(&Builder, Matrices) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    move |g| {
        let all = matrices(g)?;
        g.output("y", sum(g, all)?)
    }
}

#[test]
fn a_product_and_a_sum_become_one_operator() {
    let both = work(|g, [a, b, row]| {
        let first = g.add(g.matmul(a, b)?, row)?;
        let second = g.add(row, g.mm(a, b)?)?;
        g.add(first, second)
    });
    let better = optimised(products(), both);
    let gone: Vec<_> = better.changes.iter().map(|change| &*change.work.operator).collect();
    assert_eq!((gone, better.plan.operators()), (vec!["aclnnMatmul", "aclnnMm"], 3));
    assert_eq!(better.plan.to_text().matches(" = aclnnAddmm.").count(), 2);
}

#[test]
fn of_two_products_one_is_the_bias() {
    assert_eq!(gone(products(), work(|g, [a, b, _]| g.add(g.matmul(a, b)?, g.matmul(a, b)?))), ["aclnnMatmul"]);
}

#[test]
fn products_that_others_read_or_that_are_written_again_stay() {
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let product = g.matmul(a, b)?;
            g.mul(g.add(product, row)?, product)
        }),
    );
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let product = g.matmul(a, b)?;
            aclnn::abs(g, &product, &mut { product })?;
            g.add(product, row)
        }),
    );
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let product = g.matmul(a, b)?;
            aclnn::add(g, &product, &row, 1, &mut { product })?;
            Ok(product)
        }),
    );
    unchanged(
        products(),
        work(|g, [a, b, _]| {
            let product = g.matmul(a, b)?;
            g.add(product, product)
        }),
    );
}

#[test]
fn matrices_that_are_written_in_between_stay_what_they_were() {
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let product = g.matmul(a, b)?;
            aclnn::tanh(g, &a, &mut { a })?;
            g.add(product, row)
        }),
    );
    // By somebody who is told that they were read.
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let product = g.matmul(a, b)?;
            g.record_external(g.external("read")?)?;
            g.add(product, row)
        }),
    );
    // At the same time as the sum.
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let product = g.matmul(a, b)?;
            g.scope("side", |g| aclnn::tanh(g, &b, &mut { b }))?;
            let sum = g.add(product, row)?;
            g.join("side")?;
            Ok(sum)
        }),
    );
}

#[test]
fn other_types_shapes_streams_and_precisions_stay() {
    // A product of f32 that is rounded before the sum, and a sum that is wider than its product.
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let row = g.cast(row, F16)?;
            g.add(g.cast(g.matmul(a, b)?, F16)?, row)
        }),
    );
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let (product, sum) = (g.matmul(g.cast(a, F16)?, g.cast(b, F16)?)?, g.empty([2, 4], F32)?);
            aclnn::add(g, &product, &row, 1, &mut { sum })?;
            Ok(sum)
        }),
    );
    let quick = CubeMath::AllowLessPrecision;
    unchanged(products(), work(|g, [a, b, row]| g.add(g.matmul_with(a, b, quick)?, row)));
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let product = g.scope("side", |g| g.matmul(a, b))?;
            g.join("side")?;
            g.add(product, row)
        }),
    );
    unchanged(
        products(),
        work(|g, [a, b, _]| {
            let wide = g.input("wide", [5, 2, 4], F32, Input::Copied)?;
            g.add(g.matmul(a, b)?, wide)
        }),
    );
    unchanged(
        products(),
        work(|g, [a, b, _]| {
            let product = g.matmul(a, b)?;
            let turned = g.transpose(product, 0, 1)?;
            let column = g.input("column", [4, 1], F32, Input::Copied)?;
            g.add(turned, column)
        }),
    );
}

const TYPES: [DataType; 3] = [F32, F16, Bf16];

/// A sum of what has these shapes becomes one operator, which is told this, for each type.
#[track_caller]
fn becomes<const N: usize>(told: &str, shapes: [&[usize]; N], sum: impl Fn(&Builder, [Value; N]) -> Result<Value>) {
    for dtype in TYPES {
        let plan = Plan::build(|g| {
            let mut index = 0;
            let given = shapes.map(|dims| {
                index += 1;
                g.input(&format!("x{index}"), dims, dtype, Input::Copied)
            });
            let given = given.into_iter().collect::<Result<Vec<_>>>()?;
            g.output("y", sum(g, given.try_into().unwrap())?)
        })
        .unwrap();
        let better = plan.optimise(&products()).unwrap();
        let text = better.plan.to_text();
        assert_eq!(better.plan.operators(), 1, "{dtype:?}: {text}");
        assert_eq!(better.changes.len(), plan.operators() - 1, "{better}");
        assert!(text.contains(told), "{told} of {dtype:?}: {text}");
    }
}

#[test]
fn numbers_in_front_become_alpha_and_beta() {
    let matrices: [&[usize]; 3] = [&[3, 4], &[4, 5], &[5]];
    let told = |alpha: &str, beta: &str| format!("{{beta={beta}, alpha={alpha}, cube_math_type=0}}");
    let is = |alpha, beta, sum: fn(&Builder, [Value; 3]) -> Result<Value>| {
        becomes(&told(alpha, beta), matrices, sum);
    };
    is("0.5", "1.0", |g, [a, b, c]| g.add(g.muls(g.matmul(a, b)?, 0.5)?, c));
    is("0.5", "1.0", |g, [a, b, c]| g.add(c, g.muls(g.matmul(a, b)?, 0.5)?));
    is("3.0", "1.0", |g, [a, b, c]| g.add_scaled(c, g.matmul(a, b)?, 3.0));
    is("1.0", "3.0", |g, [a, b, c]| g.add_scaled(g.matmul(a, b)?, c, 3.0));
    is("1.0", "-1.0", |g, [a, b, c]| g.sub(g.matmul(a, b)?, c));
    is("-1.0", "1.0", |g, [a, b, c]| g.sub(c, g.matmul(a, b)?));
    is("-0.5", "1.0", |g, [a, b, c]| g.sub(c, g.muls(g.matmul(a, b)?, 0.5)?));
    is("0.5", "-0.25", |g, [a, b, c]| g.sub(g.muls(g.matmul(a, b)?, 0.5)?, g.muls(c, 0.25)?));
    is("-1.0", "2.0", |g, [a, b, c]| g.add_scaled(g.neg(g.matmul(a, b)?)?, c, 2.0));
}

#[test]
fn numbers_that_would_be_rounded_otherwise_stay_in_front() {
    // With 0 an operand would not be read.
    unchanged(products(), work(|g, [a, b, row]| g.add_scaled(g.matmul(a, b)?, row, 0.0)));
    // Which the library takes for 0.
    unchanged(products(), work(|g, [a, b, row]| g.add_scaled(g.matmul(a, b)?, row, 1.19e-7)));
    unchanged(products(), work(|g, [a, b, row]| g.add_scaled(g.matmul(a, b)?, row, -1e-7)));
    unchanged(products(), work(|g, [a, b, row]| g.add(g.muls(g.matmul(a, b)?, 0.0)?, row)));
    // By two numbers, whose product is rounded.
    unchanged(products(), work(|g, [a, b, row]| g.add_scaled(row, g.muls(g.matmul(a, b)?, 0.3)?, 0.7)));
}

#[test]
fn what_others_read_is_not_multiplied_again() {
    let better = optimised(
        products(),
        work(|g, [a, b, row]| {
            let scaled = g.muls(row, 0.5)?;
            g.mul(g.add(g.matmul(a, b)?, scaled)?, scaled)
        }),
    );
    assert_eq!(better.plan.operators(), 3, "{better}");
    assert!(better.plan.to_text().contains("beta=1.0, alpha=1.0"), "{}", better.plan.to_text());
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let scaled = g.muls(g.matmul(a, b)?, 0.5)?;
            g.mul(g.add(scaled, row)?, scaled)
        }),
    );
}

#[test]
fn batches_and_rows_are_one_operator() {
    let batch = |g: &Builder, [a, b, c]: [Value; 3]| g.add(g.batch_matmul(a, b)?, c);
    becomes("aclnnBaddbmm.", [&[2, 3, 4], &[2, 4, 5], &[5]], batch);
    becomes("aclnnBaddbmm.", [&[2, 3, 4], &[2, 4, 5], &[2, 3, 5]], batch);
    becomes("aclnnBaddbmm.", [&[2, 3, 4], &[2, 4, 5], &[2, 1, 1]], |g, [a, b, c]| g.add(c, g.matmul(a, b)?));
    // A layer of rows in two dimensions, with a bias or onto such rows.
    let layer = |g: &Builder, [x, w, c]: [Value; 3]| g.add(g.matmul(x, w)?, c);
    becomes("aclnnAddmm.", [&[2, 3, 4], &[4, 5], &[5]], layer);
    becomes("aclnnAddmm.", [&[2, 3, 4], &[4, 5], &[]], layer);
    becomes("aclnnAddmm.", [&[2, 3, 4], &[4, 5], &[1, 1, 5]], layer);
    becomes("aclnnAddmm.", [&[2, 3, 4], &[4, 5], &[2, 3, 5]], layer);
    becomes("aclnnAddmm.", [&[2, 2, 3, 4], &[4, 5], &[5]], layer);
    becomes("aclnnAddmm.", [&[2, 1, 4], &[4, 5], &[5]], layer);
}

#[test]
fn rows_of_any_number_are_one_operator() {
    let better = optimised(products(), |g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [Dim::from(2), n, Dim::from(4)], F32, Input::Copied)?;
        let w = g.input("w", [4, 5], F32, Input::Frozen)?;
        let bias = g.input("bias", [5], F32, Input::Frozen)?;
        g.output("y", g.add(g.matmul(x, w)?, bias)?)
    });
    assert_eq!((better.plan.operators(), better.changes.len()), (1, 1), "{better}");
}

#[test]
fn rows_and_batches_without_such_a_view_stay() {
    let stays = |dims: [&[usize]; 3], sum: fn(&Builder, [Value; 3]) -> Result<Value>| {
        unchanged(products(), |g| {
            let [a, b, c] = [("a", dims[0]), ("b", dims[1]), ("c", dims[2])]
                .map(|(name, dims)| g.input(name, dims, F32, Input::Copied));
            g.output("y", sum(g, [a?, b?, c?])?)
        });
    };
    let layer = |g: &Builder, [x, w, c]: [Value; 3]| g.add(g.matmul(x, w)?, c);
    // The rows lie apart, or what is added is not alike for all of them.
    stays([&[2, 6, 4], &[4, 5], &[5]], |g, [x, w, c]| g.add(g.matmul(g.narrow(x, 1, 0..3)?, w)?, c));
    stays([&[2, 3, 4], &[4, 5], &[3, 5]], layer);
    stays([&[2, 3, 4], &[4, 5], &[2, 1, 5]], layer);
    // One matrix for several, and a vector.
    stays([&[2, 3, 4], &[1, 4, 5], &[5]], layer);
    stays([&[2, 3, 4], &[4], &[3]], layer);
    stays([&[2, 2, 3, 4], &[2, 2, 4, 5], &[5]], layer);
}

#[test]
fn sums_of_half_precision_are_compared_within_a_bound_and_others_by_their_bits() {
    let sum = |dtype| {
        let plan = Plan::build(|g| {
            let [a, b, c] = [("a", [8, 64]), ("b", [64, 8]), ("c", [8, 8])]
                .map(|(name, dims)| g.input(name, dims, dtype, Input::Copied));
            g.output("y", g.add(g.matmul(a?, b?)?, c?)?)
        });
        plan.unwrap()
    };
    for (dtype, is_same) in [(F32, true), (F16, false), (Bf16, false)] {
        let (before, after) = (sum(dtype), sum(dtype).optimise(&products()).unwrap().plan);
        assert_eq!(after.operators(), 1);
        let equal = super::super::verify::verify("made_up", Bound::Equal, &before, &after);
        assert_eq!(equal.is_ok(), is_same, "{dtype:?}: {equal:?}");
    }
}
