//! Products that are part of a sum.

use crate::op::{CubeMath, aclnn};

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
    unchanged(
        products(),
        work(|g, [a, b, row]| {
            let (a, b, row) = (g.cast(a, F16)?, g.cast(b, F16)?, g.cast(row, F16)?);
            g.add(g.matmul(a, b)?, row)
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
