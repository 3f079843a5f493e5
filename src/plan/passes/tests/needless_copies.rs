//! Copies that nobody needs.

use super::*;
use crate::op::aclnn;

#[test]
fn copies_of_whole_memory_go_one_behind_the_other() {
    let all = gone(copies(), |g| {
        let a = g.abs(x(g)?)?;
        let (b, c) = (g.empty([4], F32)?, g.empty([4], F32)?);
        g.copy(a, b)?;
        aclnn::inplace_copy(g, &mut { c }, &b)?;
        g.output("y", g.add(g.tanh(b)?, c)?)
    });
    assert_eq!(all, ["aclnnInplaceCopy", "copy"]);
}

#[test]
fn copies_that_are_no_needless_ones_stay() {
    let with = |from: fn(&Builder, Value) -> Result<Value>, dims: [Dim; 2]| {
        move |g: &Builder| {
            let a = g.abs(g.input("x", [2, 2], F32, Input::Copied)?)?;
            let b = g.empty(dims, F32)?;
            aclnn::inplace_copy(g, &mut { b }, &from(g, a)?)?;
            g.output("y", g.add(b, b)?)
        }
    };
    let two = Dim::from(2);
    assert_eq!(gone(copies(), with(|_, a| Ok(a), [two, two])), ["aclnnInplaceCopy"]);
    unchanged(copies(), with(|g, a| g.transpose(a, 0, 1), [two, two]));
    unchanged(copies(), with(|g, a| g.narrow(a, 0, 0..1), [Dim::from(1), two]));
    unchanged(copies(), with(|g, a| g.narrow(a, 0, 0..1), [two, two]));
    unchanged(copies(), with(|g, _| g.input("z", [2, 2], F32, Input::Static), [two, two]));
}

#[test]
fn memory_that_is_written_behind_its_copy_stays() {
    let work = |first: bool| {
        move |g: &Builder| {
            let a = g.abs(x(g)?)?;
            let b = g.empty([4], F32)?;
            g.copy(a, b)?;
            let written = if first { a } else { b };
            aclnn::tanh(g, &written, &mut { written })?;
            g.output("y", g.add(a, b)?)
        }
    };
    unchanged(copies(), work(true));
    unchanged(copies(), work(false));
}
