//! Operators by their C names go through passes like others.

use crate::op::DataType::I32;
use crate::op::aclnn;

use super::*;

#[test]
fn they_are_the_same_when_all_that_they_are_told_is() {
    let work = |again: [(i64, bool); 2]| {
        move |g: &Builder| {
            let x = x(g)?;
            let sums = again.map(|(dim, reversed)| -> Result<Value> {
                let (mut values, mut order) = (g.empty([4], F32)?, g.empty([4], crate::op::DataType::I64)?);
                aclnn::sort(g, &x, true, dim, reversed, &mut values, &mut order)?;
                Ok(values)
            });
            let [a, b] = sums;
            g.output("y", g.add(a?, b?)?)
        }
    };
    unchanged(OFF.common_values(PassMode::On), work([(0, true), (0, false)]));
    let better = Plan::build(work([(0, true), (0, true)])).unwrap();
    let better = better.optimise(&OFF.common_values(PassMode::On)).unwrap();
    assert_eq!((better.plan.operators(), &*better.changes[0].work.operator), (2, "aclnnSort"));
}

#[test]
fn numbers_of_each_run_are_part_of_what_they_are_told() {
    let work = |same: bool| {
        move |g: &Builder| {
            let (first, second) = (g.number("first", 0..=3)?, g.number("second", 0..=3)?);
            let x = x(g)?;
            let (mut a, mut b) = (g.empty([4], F32)?, g.empty([4], F32)?);
            aclnn::roll(&g.telling("shifts", [first]), &x, &[], &[0], &mut a)?;
            let other = if same { first } else { second };
            aclnn::roll(&g.telling("shifts", [other]), &x, &[], &[0], &mut b)?;
            g.output("y", g.add(a, b)?)
        }
    };
    let on = OFF.common_values(PassMode::On);
    unchanged(on, work(false));
    assert_eq!(gone(on, work(true)), ["aclnnRoll"]);
    unchanged(OFF.folded_constants(PassMode::On), |g| {
        let shift = g.number("shift", 0..=3)?;
        let (x, mut a) = (g.constant(&[1.0_f32, 2.0, 3.0, 4.0], [4])?, g.empty([4], F32)?);
        aclnn::roll(&g.telling("shifts", [shift]), &x, &[], &[0], &mut a)?;
        g.output("y", g.abs(a)?)
    });
}

#[cfg(feature = "mock")]
#[test]
fn their_results_on_constants_are_computed() {
    let better = optimised(fold(), |g| {
        let (a, mut sums) = (g.constant(&[1.0_f32, 2.0, 3.0, 4.0], [4])?, g.empty([4], F32)?);
        aclnn::cumsum(g, &a, 0, F32, &mut sums)?;
        g.output("y", g.add(sums, x(g)?)?)
    });
    let bytes: Vec<u8> = [1.0_f32, 3.0, 6.0, 10.0].iter().flat_map(|one| one.to_ne_bytes()).collect();
    assert_eq!((better.plan.operators(), &better.plan.0.recipe.constants), (1, &vec![bytes]));
}

#[test]
fn the_ones_that_work_with_other_devices_are_known_by_name() {
    let together = |name: &str| crate::plan::recipe::function::works_together(name);
    assert!(together("aclnnMatmulAllReduceV2") && together("aclnnMoeDistributeDispatch"));
    assert!(together("aclnnElasticReceivableTest") && together("aclnnElasticReceivableInfoCollect"));
    assert!(together("aclnnAllGatherMatmul") && together("aclnnMatmulReduceScatter"));
    assert!(!together("aclnnGather") && !together("aclnnScatterReduce") && !together("aclnnReduceSum"));
}

#[test]
fn the_ones_that_ask_or_tell_other_devices_something_stay() {
    let collected = |g: &Builder| {
        let mut y = g.empty([16, 16], I32)?;
        aclnn::elastic_receivable_info_collect(g, "ranks", 16, &mut y).map(|()| y)
    };
    unchanged(OFF.common_values(PassMode::On), |g| {
        let (a, b) = (collected(g)?, collected(g)?);
        g.output("y", g.add(a, b)?)
    });
    unchanged(OFF.dead_values(PassMode::On), |g| {
        let ranks = g.empty([16], I32)?;
        g.fill_bytes(ranks, 0)?;
        aclnn::elastic_receivable_test(g, &ranks, "ranks", 16, 16)?;
        collected(g)?;
        g.output("y", g.abs(x(g)?)?)
    });
}
