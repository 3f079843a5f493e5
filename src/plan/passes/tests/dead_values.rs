//! Values that nobody reads.

use super::*;
use crate::op::aclnn;
use crate::plan::recipe::{Cores, PrefetchInfo};
use crate::plan::{After, Scope};

#[test]
fn what_nobody_reads_goes_with_all_that_it_needs_alone() {
    let all = gone(dead(), |g| {
        let x = x(g)?;
        let a = g.abs(x)?;
        let b = g.tanh(a)?;
        g.scope("side", |g| g.sqrt(b))?;
        let unread = g.empty([4], F32)?;
        g.copy(a, unread)?;
        g.fill_bytes(unread, 0)?;
        g.output("y", g.muls(a, 2.0)?)
    });
    assert_eq!(all, ["aclnnSqrt", "aclnnTanh", "copy", "fill_bytes"]);
}

#[test]
fn prefetches_of_memory_that_is_not_used_any_more_go() {
    let weights = |used: bool| {
        move |g: &Builder| {
            let (x, w) = (x(g)?, g.input("w", [4], F32, Input::Frozen)?);
            g.prefetch(w, Prefetch::all(), crate::plan::After::Start)?;
            g.mul(x, w)?;
            g.output("y", if used { g.add(x, w)? } else { g.abs(x)? })
        }
    };
    assert_eq!(gone(dead(), weights(false)), ["aclnnMul", "prefetch"]);
    assert_eq!(gone(dead(), weights(true)), ["aclnnMul"]);
    // Of memory that nobody ever used: who comes after the plan may.
    unchanged(dead(), |g| {
        let (x, w) = (x(g)?, g.input("w", [4], F32, Input::Frozen)?);
        g.prefetch(w, Prefetch::all(), crate::plan::After::Start)?;
        g.output("y", g.abs(x)?)
    });
}

/// The limits under which work runs and what prefetches ask for are those of a plan without the work that is gone.
#[test]
fn limits_and_prefetches_of_work_that_is_gone_go() {
    let limit = |vector| Scope::new().cores(Cores { cube: 0, vector });
    let work = |dead: bool| {
        move |g: &Builder| {
            let (x, v) = (x(g)?, g.input("v", [16], F32, Input::Frozen)?);
            g.prefetch(v, Prefetch::all(), After::Start)?;
            let y = g.scope_with("side", limit(2), |g| g.add(x, g.narrow(v, 0, 0..4)?))?;
            if dead {
                let w = g.input("w", [4], F32, Input::Frozen)?;
                g.prefetch(w, Prefetch::bytes(8), After::Start)?;
                g.scope_with("side", limit(1), |g| g.mul(x, w))?;
            }
            g.prefetch(v, Prefetch::bytes(4), After::Start)?;
            g.scope_with("side", limit(3), |_| Ok(()))?; // nothing runs under it
            g.output("y", g.scope_with("side", limit(4), |g| g.abs(y))?)
        }
    };
    let better = optimised(dead(), work(true)).plan;
    let never = Plan::build(work(false)).unwrap();
    let of = |plan: &Plan| {
        let recipe = &plan.0.recipe;
        let works = recipe.nodes.iter().filter(|node| !node.kind.is_sync());
        let uses: Vec<_> = works.map(|node| (recipe.label(node), node.cores)).collect();
        (recipe.prefetches.clone(), recipe.cores.clone(), uses)
    };
    let (prefetches, cores, _) = of(&better);
    assert_eq!(prefetches, [u64::MAX, 4].map(|max_bytes| PrefetchInfo { offset: 0, max_bytes }));
    assert_eq!(cores, [2, 4].map(|vector| Cores { cube: 0, vector }));
    assert_eq!(of(&better), of(&never));
}

#[test]
fn what_is_seen_from_outside_stays() {
    unchanged(dead(), |g| {
        let state = g.input("state", [4], F32, Input::Static)?;
        let moved = g.input("moved", [4], F32, Input::Updatable)?;
        aclnn::abs(g, &state, &mut { state })?;
        aclnn::sqrt(g, &moved, &mut { moved })?;
        g.input("host", [4], F32, Input::Host)?;
        g.host_function(&HostFunction::new("tick", 1, |_| {}))?;
        let y = g.tanh(state)?;
        g.output("y", y)?;
        aclnn::abs(g, &y, &mut { y })?; // behind the declaration of the output
        g.output_to_host("z", g.abs(moved)?)
    });
}

#[test]
fn a_part_that_is_read_keeps_its_writers_alone() {
    let all = gone(dead(), |g| {
        let x = x(g)?;
        let both = g.empty([2, 4], F32)?;
        let (upper, lower) = (g.narrow(both, 0, 0..1)?, g.narrow(both, 0, 1..2)?);
        aclnn::abs(g, &g.reshape(x, [1, 4])?, &mut { upper })?;
        aclnn::tanh(g, &g.reshape(x, [1, 4])?, &mut { lower })?;
        g.output("y", g.sqrt(upper)?)
    });
    assert_eq!(all, ["aclnnTanh"]);
}

#[test]
fn in_place_work_behind_the_last_read_goes_and_that_before_stays() {
    let all = gone(dead(), |g| {
        let a = g.abs(x(g)?)?;
        aclnn::sqrt(g, &a, &mut { a })?;
        g.output("y", g.muls(a, 2.0)?)?;
        aclnn::tanh(g, &a, &mut { a })
    });
    assert_eq!(all, ["aclnnTanh"]);
}

#[test]
fn foreign_operators_go_when_they_only_compute() {
    let work = |g: &Builder| {
        let (x, unread) = (x(g)?, g.empty([4], F32)?);
        g.foreign(&double(), &[x], &[unread])?;
        g.output("y", g.abs(x)?)
    };
    unchanged(dead(), work);
    assert_eq!(gone(dead().foreign_only_computes(), work), ["foreign operator \"double\""]);
}

#[test]
fn memory_that_work_beside_the_plan_may_use_stays() {
    unchanged(dead(), |g| {
        let x = x(g)?;
        let seen = g.abs(x)?;
        let side = g.scope("side", |g| g.tanh(x))?;
        g.record_stream(seen, "side")?;
        g.join("side")?;
        g.output("y", side)
    });
}
