//! What there is of elements and slices, and indices in lists: results of which the device decides how much there is.

use racl::op::DataType::{F32, I32, I64};
use racl::plan::{Builder, Frozen, Input, Plan, Simulated, Value};
use racl::{ErrorKind, Result};

use crate::Alone;
use crate::common::assert_says;
use crate::found::{Outcome, on_every_way, plan};

fn numbers(outcome: &Outcome) -> (&[i64], i64) {
    (bytemuck::cast_slice(&outcome.whole), outcome.count)
}

#[test]
fn indices_come_in_one_list_for_each_dimension() {
    let alone = Alone::new();
    let places = plan(&[2, 3], I64, &[1], |g, x, _| g.nonzero_v2(x));
    for (x, want, count) in [
        ([0_i64, 5, 0, -3, 7, 0], [0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0], 6),
        ([0; 6], [0; 12], 0),
        ([1; 6], [0, 0, 0, 1, 1, 1, 0, 1, 2, 0, 1, 2], 12),
    ] {
        on_every_way(&alone, &places, (&x, &[2, 3]), (&[1], &[1]), &|outcome| {
            assert_eq!(numbers(&outcome()), (&want[..], count), "{x:?}");
        });
    }
}

#[test]
fn slices_come_once_with_their_places_and_counts() {
    let alone = Alone::new();
    let x = [7_i64, 3, 1, 9, 7, 3]; // as rows: [7, 3] twice and [1, 9]; as columns: [7, 1, 7] and [3, 9, 3]
    let by = |dim: i64, part: usize| -> Plan {
        let found: fn(&Builder, Value, i64, usize) -> Result<()> = |g, x, dim, part| {
            let (rows, places, counts) = g.unique_dim(x, dim)?;
            match part {
                0 => g.output_found("y", rows),
                1 => g.output_found("y", counts),
                _ => g.output("y", places),
            }
        };
        Plan::build(|g| {
            let x = g.input("x", [3, 2], I64, Input::Copied)?;
            g.input("mask", [1], racl::op::DataType::U8, Input::Copied)?;
            found(g, x, dim, part)
        })
        .unwrap()
    };
    let found = |dim, part, want: &[i64], count| {
        on_every_way(&alone, &by(dim, part), (&x, &[3, 2]), (&[1], &[1]), &|outcome| {
            assert_eq!(numbers(&outcome()), (want, count), "dimension {dim}, part {part}");
        });
    };
    found(0, 0, &[1, 9, 7, 3, 0, 0], 2);
    found(-2, 0, &[1, 9, 7, 3, 0, 0], 2);
    found(0, 1, &[1, 2, 0], 2);
    found(1, 0, &[3, 9, 3, 7, 1, 7], 2); // columns in order, as rows
    found(1, 1, &[1, 1], 2);
    let given = Simulated::new().tensor("x", &x, [3, 2]).tensor("mask", &[1_u8], [1]);
    let places = |dim| by(dim, 2).simulate(1, &given).unwrap().to_vec::<i64>("y").unwrap();
    assert_eq!((places(0), places(1)), (vec![1, 0, 1], vec![1, 0]));
}

#[test]
fn neighbours_that_are_equal_come_once() {
    let alone = Alone::new();
    let x = [7_i64, 7, 3, 7, 7, 7];
    let flat = plan(&[2, 3], I64, &[1], |g, x, _| Ok(g.unique_consecutive(x, None)?.0));
    on_every_way(&alone, &flat, (&x, &[2, 3]), (&[1], &[1]), &|outcome| {
        assert_eq!(numbers(&outcome()), (&[7, 3, 7, 0, 0, 0][..], 3));
    });
    let counts = plan(&[2, 3], I64, &[1], |g, x, _| Ok(g.unique_consecutive(x, None)?.2));
    on_every_way(&alone, &counts, (&x, &[2, 3]), (&[1], &[1]), &|outcome| {
        assert_eq!(numbers(&outcome()), (&[2, 1, 3, 0, 0, 0][..], 3));
    });
    // Columns [7, 7], [7, 7] and [3, 7]: the first two are one.
    let columns = plan(&[2, 3], I64, &[1], |g, x, _| Ok(g.unique_consecutive(x, Some(-1))?.0));
    on_every_way(&alone, &columns, (&x, &[2, 3]), (&[1], &[1]), &|outcome| {
        assert_eq!(numbers(&outcome()), (&[7, 7, 3, 7, 0, 0][..], 2));
    });
    let places = Plan::build(|g| {
        let x = g.input("x", [2, 3], I64, Input::Copied)?;
        g.output("of elements", g.unique_consecutive(x, None)?.1)?;
        g.output("of columns", g.unique_consecutive(x, Some(1))?.1)
    });
    let result = places.unwrap().simulate(1, &Simulated::new().tensor("x", &x, [2, 3])).unwrap();
    assert_eq!(result.to_vec::<i64>("of elements").unwrap(), [0, 0, 1, 2, 2, 2]);
    assert_eq!(result.to_vec::<i64>("of columns").unwrap(), [0, 0, 1]);
}

#[test]
fn sizes_with_symbols_bound_rows_that_come_once() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n, 2.into()], I32, Input::Copied)?;
        let (rows, places, _) = g.unique_dim(x, 0)?;
        assert_eq!((g.dims(rows.values())?, g.dims(places)?), (vec![n, 2.into()], vec![n]));
        g.output_found("y", rows)?;
        let lists = g.nonzero_v2(x)?;
        assert_eq!(g.dims(lists.values())?, [n * 4]);
        g.output_found("lists", lists)
    });
    let mut exe = plan.unwrap().capture(&alone.device, Frozen::new()).unwrap();
    for rows in [3_usize, 1, 8] {
        let numbers: Vec<i32> = (0..rows as i32).flat_map(|i| [i % 2, 5]).collect();
        let x = alone.device.upload_tensor(&numbers, [rows, 2]).unwrap();
        exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
        let want: &[i32] = if rows == 1 { &[0, 5] } else { &[0, 5, 1, 5] };
        assert_eq!(crate::found::found::<i32>(&mut exe), want, "{rows}");
        let id = exe.found_id("lists").unwrap();
        let set = numbers.iter().enumerate().filter(|(_, number)| **number != 0).map(|(at, _)| at as i64);
        let want: Vec<i64> = set.clone().map(|at| at / 2).chain(set.map(|at| at % 2)).collect();
        assert_eq!(exe.found::<i64>(id).unwrap().to_vec().unwrap(), want, "{rows}");
    }
}

#[test]
fn dimensions_that_are_not_there_are_refused_with_the_line() {
    let refused = |dims: &[usize], record: fn(&Builder, Value) -> Result<()>, says: &str| {
        let built = Plan::build(|g| {
            let x = g.input("x", dims, F32, Input::Copied)?;
            record(g, x)
        });
        assert_says(&built.unwrap_err(), ErrorKind::InvalidPlan, &[says, "tests/plans/unique.rs:"]);
    };
    refused(&[2, 3], |g, x| g.unique_dim(x, 2).map(drop), "unique_dim: dimension 2");
    refused(&[2, 3], |g, x| g.unique_dim(x, i64::MIN).map(drop), "unique_dim: dimension -9223372036854775808");
    refused(&[2, 3], |g, x| g.unique_consecutive(x, Some(-3)).map(drop), "unique_consecutive: dimension -3");
    refused(&[], |g, x| g.unique_dim(x, 0).map(drop), "of 0 dimensions");
    refused(&[], |g, x| g.nonzero_v2(x).map(drop), "no dimensions");
}
