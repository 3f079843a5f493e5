//! Results of which the device decides how much there is.

use racl::op::DataType::{self, Bool, F32, I32, I64, U8};
use racl::op::Element;
use racl::plan::{
    Bindings, Builder, Executable, Fork, Found, Frozen, Input, PassMode, Passes, Plan, RunOptions, Scope, Simulated,
    Value,
};
use racl::{ErrorKind, Result};

use crate::Alone;
use crate::common::{assert_says, mock};

/// A plan of `x`, of these sizes, and of a mask or nothing.
pub(crate) fn plan(
    dims: &[usize],
    dtype: DataType,
    mask: &[usize],
    find: fn(&Builder, Value, Value) -> Result<Found>,
) -> Plan {
    Plan::build(|g| {
        let x = g.input("x", dims, dtype, Input::Copied)?;
        let mask = g.input("mask", mask, U8, Input::Copied)?;
        g.output_found("y", find(g, x, mask)?)
    })
    .unwrap()
}

pub(crate) fn found<T: Element>(exe: &mut Executable) -> Vec<T> {
    let id = exe.found_id("y").unwrap();
    let count = exe.found_count(id).unwrap();
    let found = exe.found::<T>(id).unwrap();
    assert_eq!(found.shape()[0], count);
    found.to_vec().unwrap()
}

/// What is found on every way to run the plan.
pub(crate) fn on_every_way<T: Element + PartialEq>(
    alone: &Alone,
    plan: &Plan,
    (x, dims): (&[T], &[usize]),
    (mask, mask_dims): (&[u8], &[usize]),
    check: &dyn Fn(&dyn Fn() -> Outcome),
) {
    let given = Simulated::new().tensor("x", x, dims).tensor("mask", mask, mask_dims);
    let passed = plan.optimise(&Passes::all(PassMode::On)).unwrap().plan;
    for plan in [plan, &passed] {
        check(&|| {
            let result = plan.simulate(7, &given).unwrap();
            Outcome { whole: result.bytes("y").unwrap().to_vec(), count: result.to_vec::<i64>("y.count").unwrap()[0] }
        });
    }
    let tensors =
        (alone.device.upload_tensor(x, dims).unwrap(), alone.device.upload_tensor(mask, mask_dims).unwrap());
    for options in [RunOptions::new(), RunOptions::new().mode(racl::plan::Mode::Eager)] {
        let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
        for _ in 0..2 {
            let mut bind = exe.bindings();
            bind.set(exe.input("x").unwrap(), &tensors.0).set(exe.input("mask").unwrap(), &tensors.1);
            exe.run(&alone.stream(), &mut bind).unwrap();
            let id = exe.found_id("y").unwrap();
            let count = exe.found_count(id).unwrap() as i64;
            check(&|| {
                let whole = exe.output::<T>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap();
                Outcome { whole: bytemuck::cast_slice(&whole).to_vec(), count }
            });
        }
    }
}

pub(crate) struct Outcome {
    pub(crate) whole: Vec<u8>,
    pub(crate) count: i64,
}

#[test]
fn the_same_is_found_on_every_way_and_the_rest_is_zero() {
    let alone = Alone::new();
    let x = [0_i64, 5, 0, -3, 7, 0];
    // Indices of [2, 3] in order, then zeros.
    let places: [i64; 12] = [0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0];
    let nonzero = plan(&[2, 3], I64, &[1], |g, x, _| g.nonzero(x));
    on_every_way(&alone, &nonzero, (&x, &[2, 3]), (&[1], &[1]), &|outcome| {
        let Outcome { whole, count } = outcome();
        assert_eq!((bytemuck::cast_slice::<u8, i64>(&whole), count), (&places[..], 3));
    });
    // The mask is one row of three, for both rows.
    let select = plan(&[2, 3], I64, &[3], |g, x, mask| g.masked_select(x, mask));
    on_every_way(&alone, &select, (&x, &[2, 3]), (&[1, 0, 255], &[3]), &|outcome| {
        let Outcome { whole, count } = outcome();
        assert_eq!((bytemuck::cast_slice::<u8, i64>(&whole), count), (&[0, 0, -3, 0, 0, 0][..], 4));
    });
    // And the other way round: each element for each row of the mask.
    let select = plan(&[2], I64, &[3, 2], |g, x, mask| g.masked_select(x, mask));
    on_every_way(&alone, &select, (&[4_i64, 9], &[2]), (&[1, 1, 0, 1, 0, 0], &[3, 2]), &|outcome| {
        let Outcome { whole, count } = outcome();
        assert_eq!((bytemuck::cast_slice::<u8, i64>(&whole), count), (&[4, 9, 9, 0, 0, 0][..], 3));
    });
    let unique = plan(&[6], I64, &[1], |g, x, _| g.unique(x).map(|(values, _, _)| values));
    on_every_way(&alone, &unique, (&x, &[6]), (&[1], &[1]), &|outcome| {
        let Outcome { whole, count } = outcome();
        assert_eq!((bytemuck::cast_slice::<u8, i64>(&whole), count), (&[-3, 0, 5, 7, 0, 0][..], 4));
    });
}

/// `10 x + 1` of what is found, 0 for what is not, on every way; how much came.
fn masked(
    alone: &Alone,
    find: fn(&Builder, Value, Value) -> Result<Found>,
    x: &[i64],
    mask: &[u8],
) -> (Vec<i64>, i64) {
    let plan = Plan::build(|g| {
        let values = g.input("x", [x.len()], I64, Input::Copied)?;
        let mask = g.input("mask", [mask.len()], U8, Input::Copied)?;
        let found = find(g, values, mask)?;
        let came = g.found_mask(found)?;
        let dims = g.dims(found.values())?;
        assert_eq!((g.dims(came)?.len(), g.dims(came)?[0], g.dtype(came)?), (dims.len(), dims[0], Bool));
        let worked = g.adds(g.muls(found.values(), 10)?, 1)?;
        g.output("y", g.select(came, worked, g.full(&dims[..], I64, 0)?)?)?;
        g.output("count", found.count())
    });
    let plan = plan.unwrap();
    let given = Simulated::new().tensor("x", x, [x.len()]).tensor("mask", mask, [mask.len()]);
    let result = plan.simulate(3, &given).unwrap();
    let expected = (result.to_vec::<i64>("y").unwrap(), result.to_vec::<i64>("count").unwrap()[0]);
    let passed = plan.optimise(&Passes::all(PassMode::Verified)).unwrap().plan;
    let (x, mask) =
        (alone.device.upload_tensor(x, [x.len()]).unwrap(), alone.device.upload_tensor(mask, [mask.len()]).unwrap());
    for plan in [&plan, &passed] {
        for mode in [racl::plan::Mode::Captured, racl::plan::Mode::Eager] {
            let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
            let mut bind = exe.bindings();
            bind.set(exe.input("x").unwrap(), &x).set(exe.input("mask").unwrap(), &mask);
            exe.run(&alone.stream(), &mut bind).unwrap();
            let read = |name: &str| exe.output::<i64>(exe.output_id(name).unwrap()).unwrap().to_vec().unwrap();
            assert_eq!((read("y"), read("count")[0]), expected, "{mode:?}");
        }
    }
    expected
}

#[test]
fn operators_ignore_what_did_not_come_by_the_mask() {
    let alone = Alone::new();
    for mask in [[0_u8; 4], [1; 4], [0, 1, 0, 1], [0, 0, 0, 1]] {
        let x = [4_i64, -5, 6, 7];
        let mut want: Vec<i64> = x.iter().zip(mask).filter(|(_, set)| *set != 0).map(|(x, _)| 10 * x + 1).collect();
        let count = want.len() as i64;
        want.resize(4, 0);
        assert_eq!(masked(&alone, |g, x, mask| g.masked_select(x, mask), &x, &mask), (want, count), "{mask:?}");
    }
    // Rows of one index each, of which the mask has one element for each.
    let places = masked(&alone, |g, x, _| g.nonzero(x), &[0, 3, 0, 2], &[1]);
    assert_eq!(places, (vec![11, 31, 0, 0], 2));
    let there_is = masked(&alone, |g, x, _| g.unique(x).map(|(values, _, _)| values), &[7, 7, -1, 7], &[1]);
    assert_eq!(there_is, (vec![-9, 71, 0, 0], 2));
}

#[test]
fn a_mask_has_one_element_a_row_and_sizes_with_symbols() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let rows = g.symbol("rows", 1..=8)?;
        let x = g.input("x", [rows, 2.into()], I32, Input::Copied)?;
        let found = g.nonzero(x)?;
        let came = g.found_mask(found)?;
        assert_eq!(g.dims(came)?, [rows * 2, 1.into()]);
        g.output("y", g.select(came, g.adds(found.values(), 1)?, g.full([rows * 2, 2.into()], I64, -1)?)?)
    });
    let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    for rows in [3_usize, 1, 8] {
        let numbers: Vec<i32> = (0..2 * rows as i32).map(|i| i % 3).collect();
        let x = alone.device.upload_tensor(&numbers, [rows, 2]).unwrap();
        exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
        let set = numbers.iter().enumerate().filter(|(_, number)| **number != 0);
        let mut want: Vec<i64> = set.flat_map(|(at, _)| [at as i64 / 2 + 1, at as i64 % 2 + 1]).collect();
        want.resize(4 * rows, -1);
        let y = exe.output::<i64>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap();
        assert_eq!(y, want, "{rows}");
    }
}

#[test]
fn a_plan_chooses_and_repeats_by_how_much_came() {
    let alone = Alone::new();
    let negated = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.output("x", g.muls(x, -1.0)?)
    });
    let round = Plan::build(|g| {
        let [left, x] = [g.input("left", [1], I64, Input::Copied)?, g.input("x", [4], F32, Input::Copied)?];
        let left = g.adds(left, -1)?;
        g.output("more", left)?;
        g.output("left", left)?;
        g.output("x", g.muls(x, 2.0)?)
    });
    let (negated, round) = (negated.unwrap(), round.unwrap());
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let large = g.masked_select(x, g.greater_than(x, 2.0_f32)?)?;
        let [y] = g.if_then(large.count(), &negated, &[large.values()])?;
        let ([_, y], _) = g.repeat_at_most(4, large.count(), &round, [large.count(), y], &[])?;
        g.output_found("large", large)?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    for (x, want) in [
        ([0.0_f32; 4], [0.0_f32; 4]),
        ([1.0, 3.0, 2.0, 5.0], [-12.0, -20.0, 0.0, 0.0]),
        ([3.0; 4], [-48.0; 4]),
        ([0.0, 0.0, 0.0, 4.0], [-8.0, 0.0, 0.0, 0.0]),
    ] {
        let given = Simulated::new().tensor("x", &x, [4]);
        assert_eq!(plan.simulate(5, &given).unwrap().to_vec::<f32>("y").unwrap(), want);
        let tensor = alone.device.upload_tensor(&x, [4]).unwrap();
        for way in crate::choices::WAYS {
            let mut exe = crate::choices::made(way, &plan, &alone.device, &RunOptions::new()).unwrap();
            exe.run(&alone.stream(), &mut crate::give(&exe, "x", &tensor)).unwrap();
            assert_eq!(crate::result(&exe, "y"), want, "{way:?}");
            let large: Vec<f32> = x.iter().copied().filter(|x| *x > 2.0).collect();
            let id = exe.found_id("large").unwrap();
            assert_eq!(exe.found::<f32>(id).unwrap().to_vec().unwrap(), large, "{way:?}");
        }
    }
}

#[test]
fn one_executable_finds_nothing_all_and_some() {
    let alone = Alone::new();
    let plan = plan(&[4], F32, &[4], |g, x, mask| g.masked_select(x, mask));
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [4]).unwrap();
    for (mask, want) in
        [([0_u8, 0, 0, 0], vec![]), ([1; 4], vec![1.0, 2.0, 3.0, 4.0]), ([0, 1, 0, 1], vec![2.0, 4.0])]
    {
        let mask = alone.device.upload_tensor(&mask, [4]).unwrap();
        let mut bind = exe.bindings();
        bind.set(exe.input("x").unwrap(), &x).set(exe.input("mask").unwrap(), &mask);
        exe.run(&alone.stream(), &mut bind).unwrap();
        assert_eq!(found::<f32>(&mut exe), want);
    }
    assert_eq!(exe.graphs(), 1);
}

#[test]
fn what_was_found_can_be_copied_on_the_device() {
    let alone = Alone::new();
    let plan = plan(&[3], F32, &[3], |g, x, mask| g.masked_select(x, mask));
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    let mask = alone.device.upload_tensor(&[1_u8, 0, 1], [3]).unwrap();
    let mut bind = exe.bindings();
    bind.set(exe.input("x").unwrap(), &x).set(exe.input("mask").unwrap(), &mask);
    exe.run(&alone.stream(), &mut bind).unwrap();
    let id = exe.found_id("y").unwrap();
    let mut to = alone.device.zeros::<f32>([2]).unwrap();
    exe.found::<f32>(id).unwrap().copy_to(&alone.stream(), &mut to).unwrap();
    assert_eq!(to.to_vec().unwrap(), [1.0, 3.0]);
    let mut other = alone.device.zeros::<f32>([3]).unwrap();
    let refused = exe.found::<f32>(id).unwrap().copy_to(&alone.stream(), &mut other).unwrap_err();
    assert_says(&refused, ErrorKind::InvalidArgument, &["shape [2]", "shape [3]"]);
}

#[test]
fn sizes_with_symbols_bound_what_is_found() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let rows = g.symbol("rows", 1..=8)?;
        let x = g.input("x", [rows, 2.into()], I32, Input::Copied)?;
        let found = g.nonzero(x)?;
        assert_eq!(g.dims(found.values())?, [rows * 2, 2.into()]);
        assert_eq!((g.dims(found.count())?, g.dtype(found.count())?), (vec![1.into()], I64));
        g.output_found("y", found)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    for rows in [3_usize, 1, 8] {
        let numbers: Vec<i32> = (0..2 * rows as i32).map(|i| i % 3).collect();
        let x = alone.device.upload_tensor(&numbers, [rows, 2]).unwrap();
        exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
        let set = numbers.iter().enumerate().filter(|(_, number)| **number != 0);
        let want: Vec<i64> = set.flat_map(|(at, _)| [at as i64 / 2, at as i64 % 2]).collect();
        assert_eq!(found::<i64>(&mut exe), want);
    }
}

#[test]
fn places_and_counts_of_what_there_is_go_together() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 3], F32, Input::Copied)?;
        let (values, places, counts) = g.unique(x)?;
        g.output_found("values", values)?;
        g.output("places", places)?;
        g.output_found("counts", counts)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = [2.0_f32, f32::NAN, 2.0, -1.0, f32::NAN, -0.0];
    let x = alone.device.upload_tensor(&x, [2, 3]).unwrap();
    exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
    let (values, counts) = (exe.found_id("values").unwrap(), exe.found_id("counts").unwrap());
    let values = exe.found::<f32>(values).unwrap().to_vec().unwrap();
    assert_eq!(values[..3], [-1.0, 0.0, 2.0]);
    assert!(values.len() == 5 && values[3].is_nan() && values[4].is_nan()); // each NaN is another one
    assert_eq!(exe.found::<i64>(counts).unwrap().to_vec().unwrap(), [1, 1, 2, 1, 1]);
    let places = exe.output::<i64>(exe.output_id("places").unwrap()).unwrap().to_vec().unwrap();
    assert_eq!(places, [2, 3, 2, 0, 4, 1]);
}

#[test]
fn the_number_is_a_host_output_that_can_be_taken() {
    let alone = Alone::new();
    let plan = plan(&[3], F32, &[3], |g, x, mask| g.masked_select(x, mask));
    let mut exe = plan.executable(&alone.device, &RunOptions::new().host_output_buffers(2), Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    let mut run = |mask: [u8; 3]| {
        let mask = alone.device.upload_tensor(&mask, [3]).unwrap();
        let mut bind: Bindings = exe.bindings();
        bind.set(exe.input("x").unwrap(), &x).set(exe.input("mask").unwrap(), &mask);
        exe.run(&alone.stream(), &mut bind).unwrap();
        exe.take_host_outputs().unwrap()
    };
    let (mut one, mut two) = (run([1, 1, 1]), run([0, 0, 1]));
    let count = exe.output_id("y.count").unwrap();
    assert_eq!((two.read::<i64>(count).unwrap(), one.read::<i64>(count).unwrap()), (vec![1], vec![3]));
}

#[test]
fn no_two_of_its_accesses_are_without_an_order() {
    let alone = Alone::new();
    mock::check_races(mock::RaceCheck::Report);
    let plan = Plan::build(|g| {
        let x = g.input("x", [64], F32, Input::Copied)?;
        g.scope_with("beside", Scope::new().fork(Fork::AtStart), |g| g.output_found("places", g.nonzero(x)?))?;
        g.output_found("kept", g.masked_select(x, g.greater_than(x, 3.0_f32)?)?)
    });
    let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    let numbers: Vec<f32> = (0..64).map(|i| (i % 5) as f32).collect();
    let x = alone.device.upload_tensor(&numbers, [64]).unwrap();
    for _ in 0..3 {
        exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
        let kept = exe.found_id("kept").unwrap();
        assert_eq!(exe.found::<f32>(kept).unwrap().to_vec().unwrap(), [4.0; 12]);
    }
    let found = mock::races();
    mock::check_races(mock::RaceCheck::Off);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn truth_values_are_found_in_a_view_with_gaps() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let set = g.greater_than(g.input("x", [2, 3], F32, Input::Copied)?, 0.0_f32)?;
        let (turned, numbers) = (g.transpose(set, 0, 1)?, g.reshape(g.arange(0.0_f32, 6.0_f32, 1.0_f32)?, [3, 2])?);
        g.output_found("rows", g.nonzero(turned)?)?;
        g.output_found("lists", g.nonzero_v2(turned)?)?;
        g.output_found("chosen", g.masked_select(numbers, turned)?)
    })
    .unwrap();
    let given = alone.device.upload_tensor(&[0.0_f32, 1.0, 0.0, 1.0, 1.0, 0.0], [2, 3]).unwrap();
    let stream = alone.stream();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    exe.run(&stream, exe.bindings().set(exe.input("x").unwrap(), &given)).unwrap();
    let rows = exe.found::<i64>(exe.found_id("rows").unwrap()).unwrap().to_vec().unwrap();
    assert_eq!(rows, [0, 1, 1, 0, 1, 1]);
    let lists = exe.found::<i64>(exe.found_id("lists").unwrap()).unwrap().to_vec().unwrap();
    assert_eq!(lists, [0, 1, 1, 1, 0, 1]);
    let chosen = exe.found::<f32>(exe.found_id("chosen").unwrap()).unwrap().to_vec().unwrap();
    assert_eq!(chosen, [1.0, 2.0, 3.0]);
}

#[test]
fn what_cannot_be_found_is_refused_where_it_is_asked_for() {
    let refused = |find: fn(&Builder, Value) -> Result<()>, says: &[&str]| {
        let built = Plan::build(|g| {
            let x = g.input("x", [2, 3], F32, Input::Copied)?;
            find(g, x)
        });
        let says: Vec<&str> = says.iter().copied().chain(["tests/plans/found.rs"]).collect();
        assert_says(&built.unwrap_err(), ErrorKind::InvalidPlan, &says);
    };
    refused(|g, _| g.nonzero(g.empty([0_usize; 0], F32)?).map(drop), &["no dimensions"]);
    refused(|g, x| g.masked_select(x, g.full([2], F32, 1.0)?).map(drop), &["mask", "F32"]);
    refused(
        |g, x| g.masked_select(x, g.greater_than(g.full([2], F32, 1.0)?, 0.0_f32)?).map(drop),
        &["[2, 3]", "[2]"],
    );
    refused(
        |g, x| {
            g.output("y.count", x)?;
            g.output_found("y", g.nonzero(x)?)
        },
        &["y.count", "taken"],
    );
    let mut other = None;
    Plan::build(|g| {
        other = Some(g.input("x", [1], Bool, Input::Copied)?);
        Ok(())
    })
    .unwrap();
    let foreign = Plan::build(|g| g.nonzero(other.unwrap()).map(drop)).unwrap_err();
    assert_says(&foreign, ErrorKind::InvalidPlan, &["tests/plans/found.rs"]);
}

#[test]
fn ids_and_types_that_do_not_fit_are_refused() {
    let alone = Alone::new();
    let plan = plan(&[3], F32, &[3], |g, x, mask| g.masked_select(x, mask));
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let id = exe.found_id("y").unwrap();
    assert_says(&exe.found_id("y.count").unwrap_err(), ErrorKind::InvalidArgument, &["y.count", "output_found"]);
    assert_says(&exe.found_id("z").unwrap_err(), ErrorKind::InvalidArgument, &["z"]);
    assert_says(&exe.found_count(id).unwrap_err(), ErrorKind::InvalidArgument, &["without a run"]);
    let mut second = plan.capture(&alone.device, Frozen::new()).unwrap();
    assert_says(&second.found_count(id).unwrap_err(), ErrorKind::InvalidArgument, &["another executable"]);
    let x = alone.device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    let mask = alone.device.upload_tensor(&[1_u8, 0, 1], [3]).unwrap();
    let mut bind = exe.bindings();
    bind.set(exe.input("x").unwrap(), &x).set(exe.input("mask").unwrap(), &mask);
    exe.run(&alone.stream(), &mut bind).unwrap();
    assert_says(&exe.found::<i32>(id).unwrap_err(), ErrorKind::InvalidArgument, &["\"y\"", "I32"]);
}

#[test]
fn a_run_that_fails_finds_nothing() {
    let alone = Alone::new();
    let plan = plan(&[3], F32, &[3], |g, x, mask| g.masked_select(x, mask));
    let mut exe = plan.eager(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    let mask = alone.device.upload_tensor(&[1_u8, 0, 1], [3]).unwrap();
    let mut bind = exe.bindings();
    bind.set(exe.input("x").unwrap(), &x).set(exe.input("mask").unwrap(), &mask);
    exe.run(&alone.stream(), &mut bind).unwrap();
    assert_eq!(found::<f32>(&mut exe), [1.0, 3.0]);
    mock::fail_task("aclnnMaskedSelect", 1, 507015).unwrap();
    exe.run(&alone.stream(), &mut bind).unwrap();
    let id = exe.found_id("y").unwrap();
    assert!(exe.found_count(id).is_err());
    assert_says(
        &exe.found::<f32>(id).unwrap_err(),
        ErrorKind::InvalidArgument,
        &["without a run before that succeeded"],
    );
}

#[test]
fn a_result_that_is_too_small_is_named_with_its_line() {
    let alone = Alone::new();
    let numbers = [1.0_f32, 2.0, 3.0, 4.0];
    let x = alone.device.upload_tensor(&numbers, [4]).unwrap();
    let plan = |rows: usize| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let doubled = g.muls(x, 2.0)?;
            let mut places = g.empty([rows, 1], I64)?;
            racl::op::aclnn::nonzero(g, &doubled, &mut places)?;
            g.output_found("all", g.unique(x)?.0)?; // with room for all
            g.output("y", places)?;
            g.output_to_host("x2", doubled)
        })
        .unwrap()
    };
    let line = format!("aclnnNonzero (#1, the origin stream, tests/plans/found.rs:{})", line!() - 7);
    let says = [&line[..], "may have found more than its result holds"];
    let small = plan(2);
    let simulated = small.simulate(1, &Simulated::new().tensor("x", &numbers, [4])).unwrap_err();
    assert_says(&simulated, ErrorKind::DeviceFault, &says[..1]);
    for mode in [racl::plan::Mode::Captured, racl::plan::Mode::Eager] {
        for buffers in [1, 2] {
            let options = RunOptions::new().mode(mode).host_output_buffers(buffers);
            let mut exe = small.executable(&alone.device, &options, Frozen::new()).unwrap();
            let (stream, y, doubled) = (alone.stream(), exe.output_id("y").unwrap(), exe.output_id("x2").unwrap());
            let run = |exe: &mut Executable| exe.run(&stream, &mut crate::give(exe, "x", &x)).unwrap();
            run(&mut exe);
            assert_says(&exe.host_output::<f32>(doubled).unwrap_err(), ErrorKind::DeviceFault, &says);
            run(&mut exe);
            assert_says(&exe.output::<i64>(y).unwrap().to_vec().unwrap_err(), ErrorKind::DeviceFault, &says);
            // Told on the stream, to somebody who knows of no plan, it is said by the next read.
            run(&mut exe);
            assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
            let refused = exe.output::<i64>(y).map(drop).unwrap_err();
            assert_says(&refused, ErrorKind::InvalidArgument, &says);
        }
    }
    let mut exe = plan(4).eager(&alone.device, Frozen::new()).unwrap();
    let stream = alone.stream();
    mock::fail_task("aclnnMuls", 1, 507015).unwrap();
    exe.run(&stream, &mut crate::give(&exe, "x", &x)).unwrap();
    let error = exe.host_output::<f32>(exe.output_id("x2").unwrap()).unwrap_err();
    assert!(!format!("{error:#}").contains("aclnnNonzero"), "its result has room for all: {error:#}");
}

#[test]
fn a_count_that_is_not_possible_is_told_by_a_simulation() {
    let _alone = Alone::new(); // others take the mock's streams away
    for wrong in [5_i64, -1, i64::MAX] {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let found = g.nonzero(x)?;
            g.fill(found.count(), wrong)?;
            g.output_found("y", found)
        })
        .unwrap();
        let left = plan.simulate(0, &Simulated::new().tensor("x", &[1.0_f32; 4], [4])).unwrap();
        let error = left.found::<i64>("y").unwrap_err();
        assert_says(&error, ErrorKind::UnknownValue, &[&format!("{wrong} rows found, of 4")]);
    }
}

/// What a simulation and runs say was found, where something writes the number behind the output.
#[test]
fn what_is_written_into_the_number_behind_the_output_is_not_asked() {
    let alone = Alone::new();
    let body = Plan::build(|g| {
        let count = g.input("count", [1], I64, Input::Copied)?;
        g.fill(count, 1_i64)
    });
    let body = body.unwrap();
    let same = Plan::build(|g| g.input("count", [1], I64, Input::Copied).map(drop)).unwrap();
    for way in 0..5 {
        let plan = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let found = g.nonzero(x)?;
            g.output_found("y", found)?;
            match way {
                0 => g.fill(found.count(), 99_i64),
                1 => g.fill(found.count(), -1_i64),
                2 => g.fill(found.count(), 1_i64),
                3 => g.call(&body, &[found.count()]).map(|[]| ()),
                _ => g.if_else(g.full([1], I64, 1)?, &body, &same, &[found.count()]).map(|[]| ()),
            }
        });
        let plan = plan.unwrap();
        let passed = plan.optimise(&Passes::all(PassMode::Verified)).unwrap().plan;
        let (x, want) = ([0.0_f32, 5.0, 7.0, 0.0], [1_i64, 2]);
        for plan in [&plan, &passed] {
            let left = plan.simulate(0, &Simulated::new().tensor("x", &x, [4])).unwrap();
            assert_eq!(left.found::<i64>("y").unwrap(), want, "{way}");
            let tensor = alone.device.upload_tensor(&x, [4]).unwrap();
            for mode in [racl::plan::Mode::Eager, racl::plan::Mode::Captured] {
                let options = RunOptions::new().mode(mode);
                let mut exe = plan.executable(&alone.device, &options, Frozen::new()).unwrap();
                exe.run(&alone.stream(), &mut crate::give(&exe, "x", &tensor)).unwrap();
                assert_eq!(found::<i64>(&mut exe), want, "{way}, {mode:?}");
            }
        }
    }
}

#[test]
fn an_output_that_is_named_as_a_number_is_none() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        g.output("y", g.full([4], I64, 1)?)?;
        g.output_to_host("y.count", g.full([1], I64, 2)?)
    });
    let left = plan.unwrap().simulate(0, &Simulated::new()).unwrap();
    let error = left.found::<i64>("y").unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["output \"y\" is all there is"]);
}
