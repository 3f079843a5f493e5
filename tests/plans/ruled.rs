//! Results that a plan makes by rules, and what the rules refuse.

use racl::half::f16;
use racl::op::DataType::{self, F16, F32, I8, I64};
use racl::op::{Probe, aclnn};
use racl::plan::{Builder, Dim, Frozen, Inferred, Input, Mode, Plan, Quantity, RunOptions, Simulated, Value};
use racl::{ErrorKind, Result};

use crate::Alone;
use crate::common::{assert_says, mock};

fn refused(work: &dyn Fn(&Builder, Value) -> Result<()>, says: &[&str]) {
    let built = Plan::build(|g| {
        let rows = g.symbol("rows", 1..=8)?;
        let x = g.input("x", [rows, 4.into()], F32, Input::Copied)?;
        work(g, x)
    });
    let says: Vec<&str> = says.iter().copied().chain(["tests/plans/ruled.rs"]).collect();
    assert_says(&built.unwrap_err(), ErrorKind::InvalidPlan, &says);
}

#[test]
fn results_are_made_over_symbols() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let rows = g.symbol("rows", 1..=8)?;
        let x = g.input("x", [rows, 4.into()], F32, Input::Copied)?;
        let (mut largest, mut places, mut doubled) = (Inferred::new(), Inferred::new(), Inferred::new());
        aclnn::max_dim(g, &x, 1, false, &mut largest, &mut places)?;
        aclnn::add(g, &largest, &largest, 1.0_f32, &mut doubled)?; // read after it is made
        g.output("doubled", doubled.value()?)?;
        g.output("places", places.value()?)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    for rows in [1_usize, 3] {
        let numbers: Vec<f32> = (0..rows * 4).map(|i| (i * 5 % 7) as f32).collect();
        let x = alone.device.upload_tensor(&numbers, [rows, 4]).unwrap();
        exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
        let largest = |row: &[f32]| row.iter().copied().fold(f32::MIN, f32::max);
        let want: Vec<f32> = numbers.chunks(4).map(|row| 2.0 * largest(row)).collect();
        assert_eq!(crate::result(&exe, "doubled"), want);
        let place = |row: &[f32]| row.iter().position(|x| *x == largest(row)).unwrap() as i64;
        let want: Vec<i64> = numbers.chunks(4).map(place).collect();
        assert_eq!(exe.output::<i64>(exe.output_id("places").unwrap()).unwrap().to_vec().unwrap(), want);
    }
}

#[test]
fn declared_results_that_do_not_fit_are_refused_at_once() {
    let into = |dtype: DataType, dims: &'static [usize]| {
        move |g: &Builder, x: Value| aclnn::amax(g, &x, &[0], false, &mut g.empty(dims, dtype)?)
    };
    refused(&into(F32, &[5]), &["aclnnAmax", "F32 [4] into F32 [5]"]);
    refused(&into(F16, &[4]), &["aclnnAmax", "F32 [4] into F16 [4]"]);
    let wide = |g: &Builder, x: Value| aclnn::abs(g, &x, &mut g.empty([3, 4], F32)?);
    refused(&wide, &["aclnnAbs", "F32 [rows, 4] into F32 [3, 4]"]);
    // What the first phase converts is taken.
    Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        aclnn::abs(g, &x, &mut g.empty([4], F16)?)?;
        aclnn::gt_scalar(g, &x, 1.0_f32, &mut g.empty([4], I64)?)
    })
    .unwrap();
}

#[test]
fn operands_that_do_not_fit_each_other_are_refused_at_once() {
    refused(
        &|g, x| {
            let y = g.empty([3], F32)?;
            g.fill_bytes(y, 0)?;
            aclnn::mul(g, &x, &y, &mut Inferred::new())
        },
        &["aclnnMul", "[rows, 4] and [3] cannot be broadcast: 4 meets 3"],
    );
    refused(&|g, x| aclnn::amax(g, &x, &[2], false, &mut Inferred::new()), &["aclnnAmax", "dimension 2 of 2"]);
    let grown = |g: &Builder, x: Value| {
        let mut row = g.full([4], F32, 1.0)?;
        aclnn::inplace_mul(g, &mut row, &x)
    };
    refused(&grown, &["aclnnInplaceMul", "F32 [rows, 4] into F32 [4]"]);
}

#[test]
fn without_a_rule_results_have_to_be_declared() {
    refused(
        &|g, x| aclnn::nonzero(g, &x, &mut Inferred::new()),
        &["aclnnNonzero", "its results have to be declared", "no rule"],
    );
    refused(&|g, x| aclnn::inplace_mul(g, &mut Inferred::new(), &x), &["inplace_mul", "nothing has made yet"]);
    refused(&|g, x| aclnn::mul(g, &x, &Inferred::new(), &mut Inferred::new()), &["mul", "nothing has made yet"]);
    assert_says(&Inferred::new().value().unwrap_err(), ErrorKind::InvalidPlan, &["no operator has made it"]);
}

#[test]
fn what_no_rule_reaches_is_left_to_the_first_phase() {
    Plan::build(|g| {
        let x = g.input("x", [4], DataType::U16, Input::Copied)?;
        aclnn::abs(g, &x, &mut g.empty([4], DataType::U16)?)?;
        let rows = g.symbol("rows", 2..=8)?;
        let y = g.input("y", [rows], F32, Input::Copied)?;
        aclnn::swi_glu(g, &y, 0, &mut g.empty([3], F32)?) // good where there are six rows
    })
    .unwrap();
    refused(
        &|g, _| {
            let x = g.input("u", [4], DataType::U16, Input::Copied)?;
            aclnn::abs(g, &x, &mut Inferred::new())
        },
        &["aclnnAbs", "have to be declared", "no rule knows"],
    );
    refused(&|g, x| aclnn::swi_glu(g, &x, 0, &mut Inferred::new()), &["aclnnSwiGlu", "have to be declared"]);
}

#[test]
fn what_the_first_phase_refuses_for_some_sizes_is_told_with_them() {
    let alone = Alone::new();
    let stream = alone.stream();
    let plan = Plan::build(|g| {
        let (rows, columns) = (g.symbol("rows", 2..=8)?, g.symbol("columns", 1..=4)?);
        let x = g.input("x", [rows, columns], F32, Input::Copied)?;
        let y = g.empty([3.into(), columns], F32)?;
        aclnn::swi_glu(g, &x, 0, &mut { y })?; // good where there are six rows
        g.output("y", y)
    })
    .unwrap();
    for mode in [Mode::Captured, Mode::Eager] {
        let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let mut run = |rows: usize| {
            let x = alone.device.zeros::<f32>([rows, 2]).unwrap();
            let mut bind = crate::give(&exe, "x", &x);
            exe.run(&stream, &mut bind)
        };
        let says = ["aclnnSwiGlu (#0", "tests/plans/ruled.rs", "when rows = 4, columns = 2"];
        assert_says(&run(4).unwrap_err(), ErrorKind::OperatorArgument, &says);
        run(6).unwrap();
        stream.synchronize().unwrap();
    }
}

/// Also where its shapes are left to the first phase.
#[test]
fn what_an_operator_is_told_to_leave_is_no_result() {
    let backward = |mask: [bool; 3]| {
        Plan::build(|g| {
            let c = g.symbol("c", 1..=8)?;
            let dims = || [Dim::from(1), c, Dim::from(8), Dim::from(8)];
            let (x, grad) = (g.input("x", dims(), F32, Input::Copied)?, g.input("g", dims(), F32, Input::Copied)?);
            let weight = g.input("w", [c, c, Dim::from(1), Dim::from(1)], F32, Input::Copied)?;
            let (gx, gw) = (g.empty(dims(), F32)?, g.empty([c, c, Dim::from(1), Dim::from(1)], F32)?);
            let (sizes, ones, zeros): (&[i64], &[i64], &[i64]) = (&[1], &[1, 1], &[0, 0]);
            let [gx_place, gw_place] = [&mut { gx }, &mut { gw }];
            aclnn::convolution_backward(
                g,
                &grad,
                &x,
                &weight,
                sizes,
                ones,
                zeros,
                ones,
                false,
                zeros,
                1,
                &mask,
                0,
                Some(gx_place),
                Some(gw_place),
                None,
            )?;
            g.output("gx", gx)?;
            g.output("gw", gw)
        })
    };
    backward([true, true, false]).unwrap();
    let error = backward([true, false, false]).unwrap_err();
    assert_says(&error, ErrorKind::InvalidPlan, &["gw", "written by nothing"]);
}

#[test]
fn methods_name_the_caller_s_line() {
    refused(&|g, x| g.cat(&[x, g.full([2, 5], F32, 0.0)?], 0).map(drop), &["aclnnCat", "[2, 5] beside [rows, 4]"]);
    refused(&|g, x| g.split(x, &[1, 2], 1).map(drop), &["aclnnSplitWithSize", "parts of [1, 2] of 4"]);
    refused(&|g, x| g.repeat_interleave(x, -1).map(drop), &["aclnnRepeatInterleaveInt", "-1 repeats"]);
    refused(&|g, x| g.group_norm(x, 3, None, None, 0.0).map(drop), &["aclnnGroupNorm", "3 groups of 4 channels"]);
    let few: &[usize] = &[2];
    refused(&|g, x| g.masked_fill(x, g.full(few, F32, 0.0)?, 1.0_f32), &["a mask of type F32"]);
}

#[test]
fn slices_over_symbols_are_inferred_where_they_are_certain() {
    Plan::build(|g| {
        let rows = g.symbol("rows", 3..=8)?;
        let x = g.input("x", [rows, 4.into()], F32, Input::Copied)?;
        let rest = g.slice(x, 0, 1, i64::MAX, 1)?;
        let last = g.slice(x, 0, -2, i64::MAX, 1)?;
        let first = g.slice(x, 0, 0, 3, 1)?;
        assert!(g.slice(x, 0, 0, 4, 1).is_err(), "three rows or four");
        assert_eq!(g.dims(rest)?.iter().map(|dim| format!("{dim:?}")).collect::<Vec<_>>(), ["s0-1", "4"]);
        assert_eq!((g.dims(last)?[0], g.dims(first)?[0]), (2.into(), 3.into()));
        g.output("rest", rest)
    })
    .unwrap();
}

#[test]
fn a_refused_operator_leaves_nothing() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let mut y = Inferred::new();
        assert!(aclnn::amax(g, &x, &[3], false, &mut y).is_err());
        assert!(y.value().is_err());
        aclnn::gt_tensor(g, &x, &x, &mut y)?;
        aclnn::logical_not(g, &y.value()?, &mut y)?; // it stands for the value now, in place as well
        g.output("y", y.value()?)
    })
    .unwrap();
    assert_eq!(plan.operators(), 2);
}

#[test]
fn only_a_plan_makes_results() {
    let alone = Alone::new();
    let stream = alone.stream();
    let x = alone.device.zeros::<f32>([4]).unwrap();
    let before = mock::calls("aclnnAbsGetWorkspaceSize");
    let error = aclnn::abs(&stream, &x, &mut Inferred::new()).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a result to be inferred"]);
    let error = aclnn::abs(&Probe::new(), &x, &mut Inferred::new()).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a result to be inferred"]);
    assert_eq!(mock::calls("aclnnAbsGetWorkspaceSize"), before);
}

#[test]
fn numbers_over_symbols_take_part_in_rules() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 2..=8)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let (mut twice, mut part, mut scaled) = (Inferred::new(), Inferred::new(), Inferred::new());
        aclnn::repeat(&g.telling("repeats", 2), &x, &[1], &mut twice)?;
        assert_eq!(g.dims(twice.value()?)?, [n * 2]);
        // the last n - 1 of 2*n numbers
        aclnn::slice(&g.telling("start", n + 1).telling("end", n * 2), &twice, 0, 0, 0, 1, &mut part)?;
        assert_eq!(format!("{:?}", g.dims(part.value()?)?), "[s0-1]");
        aclnn::muls(&g.telling("other", Quantity::power(n, 1.0)), &part, 0.0_f32, &mut scaled)?;
        g.output("y", scaled.value()?)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
    assert_eq!(crate::result(&exe, "y"), [6.0, 9.0]);
    // What a number decides that is not known, and sizes that each run would give, are not inferred.
    refused(
        &|g, x| aclnn::norm(&g.telling("p_scalar", 3), &x, 2.0_f32, &[0], false, &mut Inferred::new()),
        &["aclnnNorm", "have to be declared", "known later"],
    );
    refused(
        &|g, x| {
            let k = g.number("k", 1..=4)?;
            aclnn::topk(&g.telling("k", k), &x, 1, 1, true, true, &mut Inferred::new(), &mut Inferred::new())
        },
        &["aclnnTopk", "have to be declared", "each run gives anew"],
    );
}

/// What some releases take is theirs to judge; a rule that does not know it refuses nothing, and makes nothing.
#[test]
fn what_a_library_may_take_beyond_the_mock_is_recorded() {
    Plan::build(|g| {
        let x = g.input("x", [2, 4], DataType::F64, Input::Copied)?;
        let (mut y, mut log) = (g.empty([2, 4], DataType::F64)?, g.empty([2, 4], DataType::F64)?);
        aclnn::softmax(g, &x, -1, &mut y)?;
        aclnn::log_softmax(g, &x, -1, &mut log)?;
        let volume = g.input("volume", [1, 1, 4, 4, 4], F32, Input::Copied)?;
        let kernel = g.input("kernel", [2, 1, 3, 3, 3], F32, Input::Copied)?;
        let mut out = g.empty([1, 2, 2, 2, 2], F32)?;
        let (one, none) = (&[1, 1, 1][..], &[0, 0, 0][..]);
        aclnn::convolution(g, &volume, &kernel, None, one, none, one, false, none, 1, &mut out, 0)?;
        g.output("y", y)?;
        g.output("log", log)?;
        g.output("out", out)
    })
    .unwrap();
    refused(
        &|g, _| {
            let x = g.input("wide", [2, 4], DataType::F64, Input::Copied)?;
            aclnn::softmax(g, &x, -1, &mut Inferred::new())
        },
        &["F64"],
    );
}

#[test]
fn an_axis_that_is_too_long_whatever_the_symbols_are_is_refused_with_the_line() {
    let most = 1_usize << 31;
    let pool = |times: usize| {
        Plan::build(|g| {
            let n = g.symbol("n", most / 2..=most)?;
            let x = g.input("x", [1.into(), 1.into(), 1.into(), n * times], F16, Input::Copied)?;
            let mut y = Inferred::new();
            aclnn::adaptive_avg_pool2d(g, &x, &[1, 1], &mut y)?;
            g.output("y", y.value()?)
        })
    };
    // Half of the most is not too long.
    pool(1).unwrap();
    let says = ["aclnnAdaptiveAvgPool2d", "an axis of 2*n elements", "tests/plans/ruled.rs"];
    assert_says(&pool(2).unwrap_err(), ErrorKind::InvalidPlan, &says);
    let product = |times: usize| {
        Plan::build(|g| {
            let n = g.symbol("n", most / 2..=most)?;
            let x = g.input("x", [n * times, 8.into()], F16, Input::Copied)?;
            let w = g.full([8, 4], I8, 1)?;
            let scale = g.full([1, 4], F16, 1)?;
            let mut y = Inferred::new();
            aclnn::weight_quant_batch_matmul_v2(g, &x, &w, &scale, None, None, None, None, 0, &mut y)?;
            g.output("y", y.value()?)
        })
    };
    product(1).unwrap();
    assert_says(&product(2).unwrap_err(), ErrorKind::InvalidPlan, &["an operand [2*n, 8]", "tests/plans/ruled.rs"]);
}

/// As torch.nn.MaxPool2d(3, stride=2, ceil_mode=True) of two by two: one window, which reaches past the end.
#[test]
fn a_window_that_reaches_past_the_end_counts_with_ceil() {
    let alone = Alone::new();
    let pool = |size: i64, stride: i64| {
        Plan::build(|g| {
            let x = g.input("x", [1, 1, 2, 2], F32, Input::Copied)?;
            let (mut y, mut places) = (Inferred::new(), Inferred::new());
            let (size, stride) = ([size; 2], [stride; 2]);
            aclnn::max_pool2d_with_indices(g, &x, &size, &stride, &[0, 0], &[1, 1], true, &mut y, &mut places)?;
            assert_eq!(g.dims(y.value()?)?, [Dim::from(1); 4]);
            g.output("y", y.value()?)?;
            g.output("places", places.value()?)
        })
    };
    let mut exe = pool(3, 2).unwrap().capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, 4.0, 3.0, 2.0], [1, 1, 2, 2]).unwrap();
    exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
    assert_eq!(exe.output::<f32>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap(), [4.0]);
    let refused = pool(4, 2).unwrap_err();
    assert!(refused.to_string().contains("a window of 4 in"), "{refused}");
}

#[test]
fn batch_norm_of_halves_takes_variances_whose_inverse_has_no_square_in_f16() {
    // Others begin by ending all that the mock has, which a simulation uses, too.
    let _alone = Alone::new();
    let (half, eps) = (f16::from_f32, 1e-6);
    let (means, variance) = ([half(0.0), half(0.001)], half(1e-6));
    assert!(half(1.0 / (variance.to_f32() + 1e-6)).is_infinite(), "what the operator of a card would have in f16");
    let plan = Plan::build(|g| {
        let x = g.input("x", [1_usize, 2, 2], DataType::F16, Input::Copied)?;
        let (mean, variance) = (g.constant(&means, [2])?, g.constant(&[variance; 2], [2])?);
        g.output("y", g.batch_norm(x, (None, None), (mean, variance), eps)?)
    })
    .unwrap();
    let text = plan.to_text();
    let norm = text.lines().find(|line| line.contains("aclnnBatchNormElemt.0(")).unwrap();
    assert_eq!((norm.matches("f32[2]").count(), norm.matches("f16[2]").count()), (2, 0), "{norm}");
    let x = [0.0005, -0.001, 0.002, 0.0].map(half);
    let given = Simulated::new().tensor("x", &x, [1, 2, 2]);
    let got = plan.simulate(1, &given).unwrap().to_vec::<f16>("y").unwrap();
    let deviation = (variance.to_f64() + eps).sqrt();
    for (at, (x, got)) in x.into_iter().zip(got).enumerate() {
        let want = (x.to_f64() - means[at / 2].to_f64()) / deviation;
        // One rounding to f16; with a variance that was rounded when eps was added it is three times as much.
        assert!((got.to_f64() - want).abs() <= want.abs() / 1024.0, "{got} for {want}");
    }
}
