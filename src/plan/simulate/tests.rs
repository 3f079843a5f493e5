//! What simulated runs give, and what they refuse.

mod bench;
pub(crate) mod brute;
mod random;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::ErrorKind;
use crate::op::{
    DataType::{F32, I32, U8},
    aclnn,
};
use crate::plan::{Builder, Foreign, HostFunction, Options};

/// Adds all that it reads to a number, byte by byte.
fn sum(plus: u8) -> Foreign {
    Foreign::unnamed(|_| Ok(())).simulated(move |reads, writes| {
        for written in writes {
            for (index, byte) in written.iter_mut().enumerate() {
                *byte = reads.iter().fold(plus, |sum, read| sum.wrapping_add(read[index]));
            }
        }
    })
}

fn refused(plan: &Plan, inputs: &Simulated) -> String {
    let error = plan.simulate(0, inputs).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    error.to_string()
}

#[test]
fn numbers_are_the_same_for_all_seeds_and_orders_are_not() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], U8, Input::Copied)?;
        let values: Vec<_> = (0..4).map(|_| g.empty([4], U8)).collect::<Result<_>>()?;
        for (index, value) in values.iter().enumerate() {
            g.scope(&format!("{index}"), |g| g.foreign(&sum(index as u8), &[x], &[*value]))?;
        }
        (0..4).try_for_each(|index| g.join(&format!("{index}")))?;
        let y = g.empty([4], U8)?;
        g.foreign(&sum(0), &values, &[y])?;
        g.output("y", y)
    })
    .unwrap();
    let inputs = Simulated::new().tensor("x", &[1_u8, 2, 3, 4], [4]);
    let mut orders = std::collections::HashSet::new();
    for seed in 0..50 {
        let run = plan.simulate(seed, &inputs).unwrap();
        assert_eq!(run.to_vec::<u8>("y").unwrap(), [10, 14, 18, 22]);
        assert_eq!(run.order(), plan.simulate(seed, &inputs).unwrap().order(), "a seed is one order");
        orders.insert(run.order().to_vec());
    }
    assert!(orders.len() > 40, "{} orders", orders.len());
}

#[test]
fn memory_that_nothing_wrote_depends_on_the_seed() {
    let plan = Plan::build(|g| {
        let x = g.empty([16], U8)?;
        let half = Foreign::new("half", 1, |_| Ok(())).simulated(|_, writes| writes[0][..8].fill(7));
        g.foreign(&half, &[], &[x])?;
        g.output("x", x)
    })
    .unwrap();
    let bytes = |seed| plan.simulate(seed, &Simulated::new()).unwrap().to_vec::<u8>("x").unwrap();
    let (a, b) = (bytes(1), bytes(2));
    assert_eq!(a[..8], [7; 8]);
    assert_eq!(b[..8], [7; 8]);
    assert_ne!(a[8..], b[8..]);
    assert_eq!(a, bytes(1));
}

#[test]
fn views_are_read_and_written_in_the_order_of_their_elements() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 3], U8, Input::Copied)?;
        let y = g.empty([4, 3], U8)?;
        g.fill_bytes(y, 0)?;
        let columns = g.transpose(x, 0, 1)?;
        let target = g.narrow(y, 0, 1..4)?;
        let target = g.narrow(target, 1, 1..3)?;
        g.foreign(&sum(0), &[columns], &[target])?;
        g.output("y", y)
    })
    .unwrap();
    let run = plan.simulate(3, &Simulated::new().bytes("x", [1, 2, 3, 4, 5, 6])).unwrap();
    assert_eq!(run.bytes("y").unwrap(), [0, 0, 0, 0, 1, 4, 0, 2, 5, 0, 3, 6]);
    assert_eq!(*run.shape("y").unwrap(), [4, 3]);
}

#[test]
fn the_host_side_of_a_run_happens() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let count = HostFunction::unnamed(move |attributes| {
        counted.fetch_add(attributes.len(), Ordering::Relaxed);
    });
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], I32, Input::Host)?;
        let cache = g.input("cache", [2], I32, Input::Static)?;
        let ready = g.external("ready")?;
        let done = g.external("done")?;
        g.wait_external(ready)?;
        g.copy(x, cache)?;
        g.host_function(&count.clone().attributes([0; 3]))?;
        g.prefetch(x, crate::Prefetch::all(), crate::plan::After::Start)?;
        g.scope("side", |g| g.record_external(done))?;
        g.wait_external(done)?;
        g.output_to_host("y", cache)
    })
    .unwrap();
    for seed in 0..20 {
        let inputs = Simulated::new().tensor("x", &[5, 6], [2]).bytes("cache", [0; 8]);
        let run = plan.simulate(seed, &inputs).unwrap();
        assert_eq!(run.to_vec::<i32>("y").unwrap(), [5, 6]);
        assert_eq!(run.host_bytes("y").unwrap(), run.bytes("y").unwrap());
        assert_eq!(run.input_bytes("cache").unwrap(), run.bytes("y").unwrap());
    }
    assert_eq!(calls.load(Ordering::Relaxed), 60);
}

fn dynamic() -> Plan {
    Plan::build(|g| {
        let (n, m) = (g.symbol("n", 1..=8)?, g.symbol("m", 1..=8)?);
        let x = g.input("x", [n * m + 1], U8, Input::Copied)?;
        g.input("w", [n], I32, Input::Copied)?;
        let y = g.empty([n * m + 1], U8)?;
        g.foreign(&sum(1), &[x], &[y])?;
        g.output("y", y)
    })
    .unwrap()
}

#[test]
fn symbols_follow_from_shapes() {
    let given =
        |x: usize, w: usize| Simulated::new().tensor("x", &vec![1_u8; x], [x]).tensor("w", &vec![1_i32; w], [w]);
    let plan = dynamic();
    assert_eq!(plan.simulate(0, &given(7, 2)).unwrap().bytes("y").unwrap(), [2; 7]);
    assert!(plan.simulate(0, &given(7, 2).symbol("m", 3)).is_ok());
    assert!(
        refused(&plan, &given(7, 4))
            .ends_with("no value of symbol \"m\" makes n*m+1 the 7 in the shape [7] of input \"x\"")
    );
    assert!(
        refused(&plan, &given(7, 2).symbol("m", 4))
            .contains("no value of symbol \"n\" makes n*m+1 the 7 in the shape")
    );
    assert!(
        refused(&plan, &given(7, 3).symbol("m", 3))
            .ends_with("symbol \"n\" is 2 elsewhere and 3 in the shape [3] of input \"w\"")
    );
    assert!(refused(&plan, &given(19, 2)).ends_with("symbol \"m\" is 9; its bounds are 1 to 8"));
    assert!(refused(&plan, &given(7, 2).symbol("k", 4)).ends_with("no symbol \"k\"; it has \"n\", \"m\""));
    let bytes = Simulated::new().bytes("x", [0; 3]).bytes("w", [0; 8]);
    assert!(refused(&plan, &bytes).ends_with("no input says what symbol \"n\" is; Simulated::symbol does"));
    assert!(plan.simulate(0, &bytes.symbol("n", 7).symbol("m", 1).symbol("n", 2)).is_ok(), "the latest value counts");
}

#[test]
fn inputs_that_do_not_fit_are_named() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 2], F32, Input::Copied)?;
        let w = g.input("w", [1], U8, Input::Frozen)?;
        g.output("x", x)?;
        g.output("y", w)
    })
    .unwrap();
    let x = Simulated::new().bytes("x", [0; 16]);
    let fits = x.clone().bytes("w", [0]);
    let run = plan.simulate(0, &fits).unwrap();
    assert!(refused(&plan, &x).ends_with("input \"w\" is missing: U8 [1]"));
    assert!(refused(&plan, &fits.clone().bytes("z", [0])).ends_with("no input \"z\"; it has \"x\", \"w\""));
    assert!(refused(&plan, &fits.clone().bytes("w", [0])).ends_with("input \"w\" is given twice"));
    let short = x.bytes("w", [0; 2]);
    assert!(refused(&plan, &short).ends_with("input \"w\" of U8 [1] has 1 bytes; given are 2"));
    let typed = Simulated::new().bytes("w", [0]);
    let other = typed.clone().tensor("x", &[0_i32; 4], [2, 2]);
    assert!(refused(&plan, &other).ends_with("input \"x\" has elements of type F32; given are I32"));
    let flat = typed.tensor("x", &[0_f32; 4], [4]);
    assert!(refused(&plan, &flat).ends_with("input \"x\": expected [2, 2], got [4]"));
    let few = Simulated::new().tensor("x", &[0_f32; 4], [5]).tensor("w", &[0_u8; 2], [1]);
    assert!(refused(&plan, &few).ends_with("input \"x\": 4 elements for the shape [5]"), "the first mistake");
    assert!(run.bytes("z").unwrap_err().to_string().ends_with("no output \"z\""));
    assert!(run.to_vec::<i32>("x").unwrap_err().to_string().ends_with("of type F32; asked for are I32"));
    assert!(run.host_bytes("x").is_err() && run.input_bytes("y").is_err());
}

#[test]
fn operators_without_a_computation_on_the_host_are_named() {
    let plan = Plan::build(|g| {
        let x = g.empty([1], U8)?;
        g.foreign(&Foreign::new("kernel", 1, |_| Ok(())), &[], &[x])?;
        g.output("x", x)
    });
    let error = plan.unwrap().simulate(0, &Simulated::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSupported);
    assert!(error.to_string().contains("foreign operator \"kernel\" (#0, the origin stream, "), "{error}");
    let wrong = Foreign::new("wrong", 1, |_| Ok(())).simulated(|_, writes| writes[0].push(0));
    let plan = Plan::build(|g| {
        let x = g.empty([1], U8)?;
        g.foreign(&wrong, &[], &[x])?;
        g.output("x", x)
    });
    let error = plan.unwrap().simulate(0, &Simulated::new()).unwrap_err();
    assert!(error.to_string().contains("wrote 2 bytes to value 0 of those it writes, of 1"), "{error}");
}

#[test]
fn a_wrong_memory_plan_gives_wrong_numbers() {
    let builder = Builder::new(Options::new());
    let work = |g: &Builder| {
        let (a, b) = (g.empty([8], U8)?, g.empty([8], U8)?);
        g.fill_bytes(a, 1)?;
        g.fill_bytes(b, 2)?;
        let y = g.empty([8], U8)?;
        g.foreign(&sum(0), &[a, b], &[y])?;
        g.output("y", y)
    };
    work(&builder).unwrap();
    let built = builder.finish().unwrap();
    let plan = Plan::of(built).unwrap();
    let (recipe, mut planned) = plan.specialise(&[]).unwrap();
    let run = |planned: &crate::plan::memory::MemoryPlan| {
        let memory = Memory::new(&recipe, planned, &[], 0).unwrap();
        let mut machine = Machine::new(&recipe, &plan.0.bodies, memory, Vec::new());
        machine.run(|_| 0, &mut |_| {}).unwrap();
        machine.memory.storage(&recipe, 2).to_vec()
    };
    assert_eq!(run(&planned), [3; 8]);
    planned.offsets[1] = planned.offsets[0];
    assert_eq!(run(&planned), [4; 8]);
}

#[test]
fn operators_compute_through_views_and_in_place() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 2], F32, Input::Copied)?;
        let w = g.constant(&[1.0_f32, 0.0, 1.0, 1.0], [2, 2])?;
        let h = g.scope("side", |g| g.matmul(x, w))?;
        g.join("side")?;
        let row = g.narrow(h, 0, 1..2)?;
        aclnn::muls(g, &row, 10.0_f32, &mut { row })?;
        let columns = g.transpose(h, 0, 1)?;
        let y = g.add(columns, h)?;
        g.output("y", y)?;
        let last = g.narrow(h, 1, 1..2)?;
        g.output("last", last)
    })
    .unwrap();
    let inputs = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0], [2, 2]);
    for seed in 0..10 {
        let run = plan.simulate(seed, &inputs).unwrap();
        // x times w is [[3, 2], [7, 4]].
        assert_eq!(run.to_vec::<f32>("y").unwrap(), [6.0, 72.0, 72.0, 80.0]);
        assert_eq!(run.to_vec::<f32>("last").unwrap(), [2.0, 40.0]);
    }
}

#[test]
fn copies_are_of_bytes_wherever_they_lie() {
    for start in [0, 1, 16] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [24], F32, Input::Copied)?;
            let y = g.empty([2, 2], I32)?;
            let part = g.narrow(x, 0, start..start + 4)?;
            g.scope("side", |g| g.copy(part, y))?;
            g.wait_all(&[y])?;
            g.output("y", y)?;
            let same = g.empty([2, 2], I32)?;
            g.copy(y, same)?;
            g.output("same", same)
        })
        .unwrap();
        let data: Vec<f32> = (0..24).map(|i| i as f32 + 0.5).collect();
        let run = plan.simulate(0, &Simulated::new().tensor("x", &data, [24])).unwrap();
        let expected: Vec<u8> = data[start..start + 4].iter().flat_map(|number| number.to_ne_bytes()).collect();
        assert_eq!(run.bytes("y").unwrap(), expected);
    }
}
