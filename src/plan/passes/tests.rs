//! What each pass changes, and what it leaves alone. Numbers before and after are compared by simulation.

use crate::error::Result;
use crate::op::DataType::{F16, F32};
use crate::plan::symbols::dim::Dim;
use crate::plan::{Builder, Foreign, HostFunction, Input, Operator, Optimised, PassMode, Passes, Plan, Value};
use crate::{ErrorKind, Prefetch};

const OFF: Passes = Passes::new();

fn dead() -> Passes {
    OFF.dead_values(PassMode::Verified)
}

fn common() -> Passes {
    OFF.common_values(PassMode::Verified)
}

fn fold() -> Passes {
    OFF.folded_constants(PassMode::Verified)
}

fn copies() -> Passes {
    OFF.needless_copies(PassMode::Verified)
}

#[track_caller]
fn optimised(passes: Passes, work: impl FnOnce(&Builder) -> Result<()>) -> Optimised {
    Plan::build(work).unwrap().optimise(&passes).unwrap()
}

/// The names of the operators that are gone, sorted.
#[track_caller]
fn gone(passes: Passes, work: impl FnOnce(&Builder) -> Result<()>) -> Vec<String> {
    let better = optimised(passes, work);
    assert_eq!(better.before, better.plan.operators() + better.changes.len());
    let mut names: Vec<String> = better.changes.iter().map(|change| change.work.operator.clone()).collect();
    names.sort();
    names
}

#[track_caller]
fn unchanged(passes: Passes, work: impl FnOnce(&Builder) -> Result<()>) {
    assert_eq!(gone(passes, work), Vec::<String>::new());
}

fn x(g: &Builder) -> Result<Value> {
    g.input("x", [4], F32, Input::Copied)
}

/// A foreign operator that writes the double of what it reads.
fn double() -> Foreign {
    Foreign::new("double", 1, |_| Ok(())).simulated(|reads, writes| {
        for (to, from) in writes[0].chunks_mut(4).zip(reads[0].chunks(4)) {
            to.copy_from_slice(&(2.0 * f32::from_ne_bytes(from.try_into().unwrap())).to_ne_bytes());
        }
    })
}

#[test]
fn passes_that_are_off_change_nothing() {
    let better = optimised(OFF, |g| {
        let x = x(g)?;
        g.abs(x)?;
        g.output("y", g.abs(x)?)
    });
    assert!(better.changes.is_empty() && better.plan.changes().is_empty());
    assert_eq!((better.before, better.plan.operators()), (2, 2));
}

mod dead_values {
    use super::*;

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
        assert_eq!(all, ["copy", "fill_bytes", "sqrt", "tanh"]);
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
        assert_eq!(gone(dead(), weights(false)), ["mul", "prefetch"]);
        assert_eq!(gone(dead(), weights(true)), ["mul"]);
        // Of memory that nobody ever used: who comes after the plan may.
        unchanged(dead(), |g| {
            let (x, w) = (x(g)?, g.input("w", [4], F32, Input::Frozen)?);
            g.prefetch(w, Prefetch::all(), crate::plan::After::Start)?;
            g.output("y", g.abs(x)?)
        });
    }

    #[test]
    fn what_is_seen_from_outside_stays() {
        unchanged(dead(), |g| {
            let state = g.input("state", [4], F32, Input::Static)?;
            let moved = g.input("moved", [4], F32, Input::Updatable)?;
            g.op_into(Operator::Abs, &[state], state)?;
            g.op_into(Operator::Sqrt, &[moved], moved)?;
            g.input("host", [4], F32, Input::Host)?;
            g.host_function(&HostFunction::new("tick", 1, |_| {}))?;
            let y = g.tanh(state)?;
            g.output("y", y)?;
            g.op_into(Operator::Abs, &[y], y)?; // behind the declaration of the output
            g.output_to_host("z", g.abs(moved)?)
        });
    }

    #[test]
    fn a_part_that_is_read_keeps_its_writers_alone() {
        let all = gone(dead(), |g| {
            let x = x(g)?;
            let both = g.empty([2, 4], F32)?;
            let (upper, lower) = (g.narrow(both, 0, 0..1)?, g.narrow(both, 0, 1..2)?);
            g.op_into(Operator::Abs, &[g.reshape(x, [1, 4])?], upper)?;
            g.op_into(Operator::Tanh, &[g.reshape(x, [1, 4])?], lower)?;
            g.output("y", g.sqrt(upper)?)
        });
        assert_eq!(all, ["tanh"]);
    }

    #[test]
    fn in_place_work_behind_the_last_read_goes_and_that_before_stays() {
        let all = gone(dead(), |g| {
            let a = g.abs(x(g)?)?;
            g.op_into(Operator::Sqrt, &[a], a)?;
            g.output("y", g.muls(a, 2.0)?)?;
            g.op_into(Operator::Tanh, &[a], a)
        });
        assert_eq!(all, ["tanh"]);
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
}

mod common_values {
    use super::*;

    #[test]
    fn chains_of_the_same_work_become_one() {
        let better = optimised(common(), |g| {
            let x = x(g)?;
            let a = g.tanh(g.abs(x)?)?;
            let b = g.tanh(g.abs(x)?)?;
            let c = g.tanh(g.abs(x)?)?;
            g.output("y", g.add(g.add(a, b)?, c)?)
        });
        let gone: Vec<_> = better.changes.iter().map(|change| &*change.work.operator).collect();
        assert_eq!(gone, ["abs", "tanh", "abs", "tanh"]);
        let first = better.changes[2].instead.as_ref().unwrap();
        assert_eq!((&*first.operator, first.position), ("abs", 0));
        assert_eq!(better.plan.operators(), 4);
    }

    #[test]
    fn views_of_the_second_result_become_views_of_the_first() {
        let all = gone(common(), |g| {
            let x = g.input("x", [4, 2], F32, Input::Copied)?;
            let (a, b) = (g.abs(x)?, g.abs(x)?);
            let turned = g.transpose(b, 0, 1)?;
            let row = g.narrow(turned, 0, 1..2)?;
            g.output("y", g.sqrt(row)?)?;
            g.output("z", g.tanh(a)?)
        });
        assert_eq!(all, ["abs"]);
    }

    #[test]
    fn what_differs_in_a_number_a_view_or_a_type_stays() {
        unchanged(common(), |g| {
            let x = x(g)?;
            let (zero, other) = (g.muls(x, 0.0)?, g.muls(x, -0.0)?);
            let (first, second) = (g.narrow(x, 0, 0..2)?, g.narrow(x, 0, 1..3)?);
            let parts = g.add(g.abs(first)?, g.abs(second)?)?;
            let y = g.add(g.add(zero, other)?, g.sub(x, zero)?)?;
            g.output("half", g.cast(x, F16)?)?;
            g.output("single", g.cast(x, F32)?)?;
            g.output("parts", parts)?;
            g.output("y", g.sub(zero, y)?)
        });
    }

    #[test]
    fn a_write_in_between_keeps_both() {
        let work = |between: bool| {
            move |g: &Builder| {
                let state = g.input("state", [4], F32, Input::Static)?;
                let a = g.abs(state)?;
                if between {
                    g.op_into(Operator::Tanh, &[state], state)?;
                }
                let b = g.abs(state)?;
                if !between {
                    g.op_into(Operator::Tanh, &[state], state)?;
                }
                g.output("y", g.add(a, b)?)
            }
        };
        unchanged(common(), work(true));
        assert_eq!(gone(common(), work(false)), ["abs"]);
    }

    #[test]
    fn a_write_to_another_part_does_no_harm() {
        let work = |rows: std::ops::Range<usize>| {
            move |g: &Builder| {
                let state = g.input("state", [4, 2], F32, Input::Static)?;
                let (read, written) = (g.narrow(state, 0, 0..2)?, g.narrow(state, 0, rows)?);
                let a = g.abs(read)?;
                g.op_into(Operator::Tanh, &[written], written)?;
                g.output("y", g.add(a, g.abs(read)?)?)
            }
        };
        assert_eq!(gone(common(), work(2..4)), ["abs"]);
        unchanged(common(), work(1..3));
    }

    #[test]
    fn results_that_are_written_again_or_seen_outside_stay() {
        unchanged(common(), |g| {
            let x = x(g)?;
            let (a, b) = (g.abs(x)?, g.abs(x)?);
            g.op_into(Operator::Tanh, &[b], b)?;
            g.output("y", g.add(a, b)?)
        });
        unchanged(common(), |g| {
            let x = x(g)?;
            g.output("a", g.abs(x)?)?;
            g.output("b", g.abs(x)?)
        });
    }

    #[test]
    fn another_stream_counts_when_it_is_ordered_before() {
        let work = |join_first: bool| {
            move |g: &Builder| {
                let x = x(g)?;
                let a = g.scope("side", |g| g.abs(x))?;
                if join_first {
                    g.join("side")?;
                }
                let b = g.abs(x)?;
                if !join_first {
                    g.join("side")?;
                }
                g.output("y", g.add(a, b)?)
            }
        };
        assert_eq!(gone(common(), work(true)), ["abs"]);
        unchanged(common(), work(false));
    }

    #[test]
    fn a_signal_from_outside_may_mean_other_inputs() {
        unchanged(common(), |g| {
            let x = g.input("x", [4], F32, Input::Static)?;
            let gate = g.external("filled")?;
            let a = g.abs(x)?;
            g.wait_external(gate)?;
            g.output("y", g.add(a, g.abs(x)?)?)
        });
        let all = gone(common(), |g| {
            let a = g.sqrt(x(g)?)?; // nobody outside has that
            let b = g.abs(a)?;
            g.host_function(&HostFunction::new("tick", 1, |_| {}))?;
            g.output("y", g.add(b, g.abs(a)?)?)
        });
        assert_eq!(all, ["abs"]);
    }

    #[test]
    fn foreign_operators_of_one_name_are_the_same_when_they_only_compute() {
        let work = |g: &Builder| {
            let (x, a, b) = (x(g)?, g.empty([4], F32)?, g.empty([4], F32)?);
            g.foreign(&double(), &[x], &[a])?;
            g.foreign(&double(), &[x], &[b])?;
            g.output("y", g.add(a, b)?)
        };
        unchanged(common(), work);
        assert_eq!(gone(common().foreign_only_computes(), work), ["foreign operator \"double\""]);
    }

    #[test]
    fn sizes_with_symbols_are_compared_as_they_are_written() {
        let all = gone(common(), |g| {
            let (n, m) = (g.symbol("n", 1..=5)?, g.symbol("m", 1..=5)?);
            let (x, z) = (g.input("x", [n], F32, Input::Copied)?, g.input("z", [m], F32, Input::Copied)?);
            let sum = g.add(g.abs(x)?, g.abs(x)?)?;
            let other = g.muls(g.abs(z)?, 2.0)?;
            g.output("y", sum)?;
            g.output("v", other)
        });
        assert_eq!(all, ["abs"]);
    }
}

mod folded_constants {
    use super::*;

    #[test]
    fn work_on_constants_becomes_a_constant() {
        let better = optimised(fold(), |g| {
            let x = x(g)?;
            let (a, b) = (g.constant(&[1.0_f32, 4.0, 9.0, 16.0], [4])?, g.constant(&[2.0_f32], [1])?);
            let scaled = g.mul(g.sqrt(a)?, b)?;
            g.output("y", g.add(x, scaled)?)
        });
        assert_eq!((better.before, better.plan.operators()), (3, 1));
        let bytes: Vec<u8> = [2.0_f32, 4.0, 6.0, 8.0].iter().flat_map(|one| one.to_ne_bytes()).collect();
        assert_eq!(better.plan.0.recipe.constants, [bytes]);
    }

    #[test]
    fn results_that_somebody_writes_sees_or_that_are_large_stay() {
        let constant = |g: &Builder| g.constant(&[1.0_f32, 4.0], [2]);
        unchanged(fold(), |g| {
            let state = g.sqrt(constant(g)?)?;
            g.op_into(Operator::Tanh, &[state], state)?;
            g.output("y", g.abs(state)?)
        });
        unchanged(fold(), |g| g.output("y", g.sqrt(constant(g)?)?));
        unchanged(fold().most_folded(7), |g| {
            let root = g.sqrt(constant(g)?)?;
            g.output("y", g.abs(root)?)
        });
        let all = gone(fold().most_folded(8), |g| {
            let root = g.sqrt(constant(g)?)?;
            g.output("y", g.abs(root)?)
        });
        assert_eq!(all, ["sqrt"]);
    }

    #[test]
    fn work_without_operands_or_of_varying_size_stays() {
        unchanged(fold(), |g| {
            let n = g.symbol("n", 1..=5)?;
            let (one, x) = (g.constant(&[1.0_f32], [1])?, g.input("x", [n], F32, Input::Copied)?);
            let filled = g.empty([4], F32)?;
            g.fill_bytes(filled, 0)?;
            let wide = g.empty([n], F32)?;
            g.op_into(Operator::Copy, &[one], wide)?;
            g.output("y", g.add(wide, x)?)?;
            g.output("z", g.abs(filled)?)
        });
    }

    #[test]
    fn foreign_operators_are_never_folded() {
        unchanged(fold().foreign_only_computes(), |g| {
            let (a, b) = (g.constant(&[1.0_f32], [1])?, g.empty([1], F32)?);
            g.foreign(&double(), &[a], &[b])?;
            g.output("y", g.abs(b)?)
        });
    }
}

mod needless_copies {
    use super::*;

    #[test]
    fn copies_of_whole_memory_go_one_behind_the_other() {
        let all = gone(copies(), |g| {
            let a = g.abs(x(g)?)?;
            let (b, c) = (g.empty([4], F32)?, g.empty([4], F32)?);
            g.copy(a, b)?;
            g.op_into(Operator::Copy, &[b], c)?;
            g.output("y", g.add(g.tanh(b)?, c)?)
        });
        assert_eq!(all, ["copy", "copy"]);
    }

    #[test]
    fn copies_that_are_no_needless_ones_stay() {
        let with = |from: fn(&Builder, Value) -> Result<Value>, dims: [Dim; 2]| {
            move |g: &Builder| {
                let a = g.abs(g.input("x", [2, 2], F32, Input::Copied)?)?;
                let b = g.empty(dims, F32)?;
                g.op_into(Operator::Copy, &[from(g, a)?], b)?;
                g.output("y", g.add(b, b)?)
            }
        };
        let two = Dim::from(2);
        assert_eq!(gone(copies(), with(|_, a| Ok(a), [two, two])), ["copy"]);
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
                g.op_into(Operator::Tanh, &[written], written)?;
                g.output("y", g.add(a, b)?)
            }
        };
        unchanged(copies(), work(true));
        unchanged(copies(), work(false));
    }
}

#[test]
fn the_text_says_what_is_gone_and_with_lines_where_it_was() {
    let better = optimised(common(), |g| {
        let x = x(g)?;
        let (a, b) = (g.abs(x)?, g.scope_with("side", crate::plan::Scope::new(), |g| g.abs(x))?);
        g.join("side")?;
        let c = g.abs(x)?;
        g.output("y", g.add(g.add(a, b)?, c)?)
    });
    let line =
        "common_values: \"abs\" of stream \"origin\" is gone, its result is that of \"abs\" of stream \"origin\"";
    let text = better.plan.to_text();
    assert!(text.lines().any(|one| one == line), "{text}");
    let text = better.plan.to_text_with_lines();
    let found = text.lines().find(|one| one.starts_with(line)).unwrap();
    assert_eq!(found.matches("tests.rs:").count(), 2, "{found}");
    assert_eq!(better.changes, better.plan.changes());
    assert!(better.to_string().starts_with("3 operators, before 5\ncommon_values: abs (#"), "{better}");
}

#[test]
fn a_plan_that_cannot_be_simulated_cannot_be_verified() {
    let plan = Plan::build(|g| {
        let (x, y) = (x(g)?, g.empty([4], F32)?);
        g.foreign(&Foreign::new("blind", 1, |_| Ok(())), &[x], &[y])?;
        g.abs(x)?;
        g.output("y", y)
    })
    .unwrap();
    let error = plan.optimise(&dead()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSupported);
    assert!(error.to_string().contains("dead_values: cannot be verified"), "{error}");
    assert_eq!(plan.optimise(&OFF.dead_values(PassMode::On)).unwrap().plan.operators(), 1);
}

#[test]
fn the_first_number_that_differs_is_told() {
    let plan = |times: f32| {
        Plan::build(|g| {
            let n = g.symbol("n", 2..=6)?;
            let x = g.input("x", [n], F32, Input::Copied)?;
            g.output("same", g.abs(x)?)?;
            g.output("y", g.muls(x, times)?)
        })
        .unwrap()
    };
    let error = super::verify::verify("made_up", &plan(1.0), &plan(2.0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPlan);
    assert!(
        error.to_string().contains("made_up: output \"y\" differs at element 0 (inputs of seed 0, n = 2)"),
        "{error}"
    );
    super::verify::verify("made_up", &plan(1.0), &plan(1.0)).unwrap();
}

#[test]
fn lints_follow_their_work() {
    let better = optimised(dead(), |g| {
        let x = g.input("x", [4], F32, Input::Frozen)?;
        g.abs(x)?;
        g.op_into(Operator::Tanh, &[x], x)?;
        g.output("y", g.sqrt(x)?)
    });
    let [lint] = better.plan.lints() else { panic!("{:?}", better.plan.lints()) };
    assert_eq!(lint.positions, [0]);
    assert!(lint.message.starts_with("tanh (#0, "), "{}", lint.message);
}

mod operators_by_c_name {
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
        let together = |name: &str| super::super::facts::works_together(name);
        assert!(together("aclnnMatmulAllReduceV2") && together("aclnnMoeDistributeDispatch"));
        assert!(together("aclnnAllGatherMatmul") && together("aclnnMatmulReduceScatter"));
        assert!(!together("aclnnGather") && !together("aclnnScatterReduce") && !together("aclnnReduceSum"));
    }
}

#[cfg(feature = "cache")]
#[test]
fn the_new_plan_can_be_stored() {
    use crate::plan::{Code, Registry};

    let better = optimised(Passes::all(PassMode::Verified), |g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n, Dim::from(2)], F32, Input::Copied)?;
        let (late, half) = (g.constant(&[4.0_f32, 9.0], [2])?, g.constant(&[0.5_f32], [1])?);
        let early = g.sqrt(half)?;
        let side = g.scope("side", |g| g.mul(g.abs(x)?, early))?;
        let unread = g.constant(&[1.0_f32], [1])?;
        g.add(x, unread)?;
        g.join("side")?;
        g.output("y", g.add(g.add(side, g.abs(x)?)?, late)?)
    });
    assert_eq!((better.before, better.plan.operators()), (7, 4));
    let registry = Registry::new();
    let (stored, _) = Plan::from_bytes(&better.plan.to_bytes(), Code::Registered(&registry)).unwrap();
    assert_eq!(better.plan.difference(&stored), None);
    assert_eq!(stored.changes(), []);
    let constants: Vec<usize> = stored.0.recipe.constants.iter().map(Vec::len).collect();
    assert_eq!(constants, [8, 4], "in the order of their values, without the one that nobody reads");
    let dump = stored.to_text();
    assert_eq!(dump.lines().filter(|line| line.starts_with("constant ")).count(), 2, "{dump}");
}

mod fused_products {
    use crate::op::CubeMath;

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
        assert_eq!((gone, better.plan.operators()), (vec!["matmul", "mm"], 3));
        assert_eq!(better.plan.to_text().matches(" = addmm.").count(), 2);
    }

    #[test]
    fn of_two_products_one_is_the_bias() {
        assert_eq!(gone(products(), work(|g, [a, b, _]| g.add(g.matmul(a, b)?, g.matmul(a, b)?))), ["matmul"]);
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
                g.op_into(Operator::Abs, &[product], product)?;
                g.add(product, row)
            }),
        );
        unchanged(
            products(),
            work(|g, [a, b, row]| {
                let product = g.matmul(a, b)?;
                g.op_into(Operator::Add, &[product, row], product)?;
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
                g.op_into(Operator::Tanh, &[a], a)?;
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
                g.scope("side", |g| g.op_into(Operator::Tanh, &[b], b))?;
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
        let quick = Operator::Matmul { math: CubeMath::AllowLessPrecision };
        unchanged(products(), work(|g, [a, b, row]| g.add(g.op(quick, &[a, b])?, row)));
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
}
