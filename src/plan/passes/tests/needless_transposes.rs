//! Transposes that products do not need.

use super::*;
use crate::op::aclnn;

fn transposes() -> Passes {
    OFF.needless_transposes(PassMode::Verified)
}

fn given(g: &Builder) -> Result<[Value; 2]> {
    let n = g.symbol("n", 1..=3)?;
    Ok([g.input("x", [n, Dim::from(4)], F32, Input::Copied)?, g.input("w", [5, 4], F32, Input::Static)?])
}

fn work(product: impl FnOnce(&Builder, [Value; 2]) -> Result<Value>) -> impl FnOnce(&Builder) -> Result<()> {
    move |g| {
        let all = given(g)?;
        g.output("y", product(g, all)?)
    }
}

#[test]
fn products_read_what_was_turned_where_it_is() {
    let turned = |g: &Builder, w: Value| g.permute(w, &[1, 0]);
    assert_eq!(gone(transposes(), work(|g, [x, w]| g.matmul(x, turned(g, w)?))), ["aclnnPermute"]);
    assert_eq!(gone(transposes(), work(|g, [x, w]| g.mm(x, turned(g, w)?))), ["aclnnPermute"]);
    let better = optimised(
        transposes(),
        work(|g, [x, w]| {
            let (a, b) = (turned(g, w)?, turned(g, x)?);
            let first = g.matmul(x, a)?; // [n, 5]
            g.addmm(g.matmul(x, a)?, g.permute(b, &[1, 0])?, a)?; // reads a view of b then, not all of it as it is
            g.add(first, g.matmul(x, a)?)
        }),
    );
    assert_eq!((better.before, better.plan.operators()), (8, 6), "{better}");
    assert_eq!(
        gone(transposes(), |g| {
            let (x, k) = (g.input("x", [2, 3, 4], F16, Input::Copied)?, g.input("k", [2, 5, 4], F16, Input::Copied)?);
            g.output("y", g.batch_matmul(x, g.permute(k, &[0, 2, 1])?)?)
        }),
        ["aclnnPermute"]
    );
    assert_eq!(
        gone(transposes(), |g| {
            let (x, k) = (g.input("x", [2, 3, 4], F32, Input::Copied)?, g.input("k", [2, 5, 4], F32, Input::Copied)?);
            let bias = g.input("bias", [5], F32, Input::Copied)?;
            g.output("y", g.baddbmm(bias, x, g.permute(k, &[0, 2, 1])?, 0.5, 2.0)?)
        }),
        ["aclnnPermute"]
    );
}

#[test]
fn copies_that_others_read_stay() {
    unchanged(
        transposes(),
        work(|g, [x, w]| {
            let turned = g.permute(w, &[1, 0])?;
            g.tanh(turned)?;
            g.matmul(x, turned)
        }),
    );
    // As a bias; as another view.
    unchanged(transposes(), |g| {
        let (x, w) = (g.input("x", [4, 4], F32, Input::Copied)?, g.input("w", [4, 4], F32, Input::Copied)?);
        let turned = g.permute(w, &[1, 0])?;
        g.output("y", g.addmm(turned, x, x)?)
    });
    unchanged(
        transposes(),
        work(|g, [x, w]| {
            let turned = g.permute(w, &[1, 0])?;
            g.matmul(x, g.narrow(turned, 1, 0..2)?)
        }),
    );
    unchanged(transposes(), |g| {
        let [_, w] = given(g)?;
        g.output("y", g.permute(w, &[1, 0])?)
    });
    unchanged(
        transposes(),
        work(|g, [x, w]| {
            let turned = g.permute(w, &[1, 0])?;
            g.prefetch(turned, Prefetch::all(), crate::plan::After::Value(turned))?;
            g.matmul(x, turned)
        }),
    );
}

#[test]
fn other_orders_stay() {
    unchanged(transposes(), |g| {
        let (x, k) = (g.input("x", [2, 3, 4], F32, Input::Copied)?, g.input("k", [5, 4, 2], F32, Input::Copied)?);
        g.output("y", g.batch_matmul(x, g.permute(k, &[2, 1, 0])?)?)
    });
    unchanged(transposes(), work(|g, [x, w]| g.matmul(x, g.permute(g.transpose(w, 0, 1)?, &[0, 1])?)));
}

#[test]
fn what_is_written_in_between_stays() {
    unchanged(
        transposes(),
        work(|g, [x, w]| {
            let turned = g.permute(w, &[1, 0])?;
            aclnn::tanh(g, &w, &mut { w })?;
            g.matmul(x, turned)
        }),
    );
    unchanged(
        transposes(),
        work(|g, [x, w]| {
            let turned = g.permute(w, &[1, 0])?;
            aclnn::tanh(g, &turned, &mut { turned })?;
            g.matmul(x, turned)
        }),
    );
    // By the product itself.
    unchanged(transposes(), |g| {
        let (x, w) = (g.input("x", [4, 4], F32, Input::Copied)?, g.input("w", [4, 4], F32, Input::Static)?);
        let turned = g.permute(w, &[1, 0])?;
        aclnn::mm(g, &x, &turned, &mut { w }, 0)
    });
    unchanged(
        transposes(),
        work(|g, [x, w]| {
            let turned = g.permute(w, &[1, 0])?;
            g.record_external(g.external("read")?)?;
            g.matmul(x, turned)
        }),
    );
}
