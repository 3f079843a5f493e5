//! Operators by their C names in a plan: the same numbers as on a stream, however the plan is run.

use racl::op::DataType::{self, Bool, F16, F32, I32, I64};
use racl::op::{AnyTensor, Operand, Scalar, Submit, aclnn};
use racl::plan::{Builder, Executable, Frozen, Input, Mode, Plan, RunOptions, Simulated, Value};
use racl::{ErrorKind, Result};

use crate::common::{assert_says, mock};
use crate::{Alone, calls_of};

type Shaped = (&'static [usize], DataType);
type Issue = fn(&dyn Submit, &[&dyn Operand], &mut [&mut dyn Operand]) -> Result<()>;

struct Case {
    name: &'static str,
    reads: &'static [Shaped],
    writes: &'static [Shaped],
    issue: Issue,
}

const X: Shaped = (&[3, 4], F32);
const Q: Shaped = (&[1, 2, 8], F16);

/// One for each kind of parameter, and operators that engines use.
fn cases() -> Vec<Case> {
    let case = |name, reads, writes, issue| Case { name, reads, writes, issue };
    vec![
        case("sort, with two results", &[X], &[X, (&[3, 4], I64)], |on, r, w| {
            let [values, order] = w else { unreachable!() };
            aclnn::sort(on, r[0], true, -1, true, *values, *order)
        }),
        case("topk", &[X], &[(&[3, 2], F32), (&[3, 2], I64)], |on, r, w| {
            let [values, order] = w else { unreachable!() };
            aclnn::topk(on, r[0], 2, 1, true, true, *values, *order)
        }),
        case("argmax", &[X], &[(&[3], I64)], |on, r, w| aclnn::arg_max(on, r[0], 1, false, w[0])),
        case("cat, which reads a list", &[X, (&[2, 4], F32)], &[(&[5, 4], F32)], |on, r, w| {
            aclnn::cat(on, r, 0, w[0])
        }),
        case("split, which writes one", &[X], &[(&[1, 4], F32), (&[2, 4], F32)], |on, r, w| {
            aclnn::split_with_size(on, r[0], &[1, 2], 0, w)
        }),
        case("a comparison, whose result is a truth value", &[X, X], &[(&[3, 4], Bool)], |on, r, w| {
            aclnn::gt_tensor(on, r[0], r[1], w[0])
        }),
        case("a choice by truth values", &[(&[3, 4], Bool), X, X], &[X], |on, r, w| {
            aclnn::s_where(on, r[0], r[1], r[2], w[0])
        }),
        case("padding, with numbers and a scalar", &[X], &[(&[3, 6], F32)], |on, r, w| {
            aclnn::constant_pad_nd(on, r[0], &[1, 1], 9.0_f32, w[0])
        }),
        case("clamp without a lower end", &[X], &[X], |on, r, w| {
            aclnn::clamp(on, r[0], None, Some(Scalar::from(0.5_f32)), w[0])
        }),
        case("cumsum, with a type", &[X], &[X], |on, r, w| aclnn::cumsum(on, r[0], 0, F32, w[0])),
        case("gelu backwards, with a text", &[X, X], &[X], |on, r, w| {
            aclnn::gelu_backward_v2(on, r[0], r[1], "tanh", w[0])
        }),
        case("fused attention, with many arguments left out", &[Q, Q, Q], &[Q], |on, r, w| {
            aclnn::fused_infer_attention_score(
                on,
                r[0],
                &[r[1]],
                &[r[2]],
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                None,
                2,
                0.5,
                65535,
                65535,
                "BSH",
                2,
                0,
                1,
                0,
                0,
                false,
                w[0],
                None,
            )
        }),
        case("a convolution without bias", &[(&[1, 2, 5, 5], F32), (&[3, 2, 3, 3], F32)], &[(&[1, 3, 5, 5], F32)], {
            |on, r, w| {
                let one: &[i64] = &[1, 1];
                aclnn::convolution(on, r[0], r[1], None, one, one, one, false, &[0, 0], 1, w[0], 0)
            }
        }),
        case("rms norm", &[X, (&[4], F32)], &[X, (&[3, 1], F32)], |on, r, w| {
            let [y, rstd] = w else { unreachable!() };
            aclnn::rms_norm(on, r[0], r[1], 1e-6, *y, *rstd)
        }),
        case("swiglu", &[X], &[(&[3, 2], F32)], |on, r, w| aclnn::swi_glu(on, r[0], -1, w[0])),
        case("rows by index", &[X, (&[5], I64)], &[(&[5, 4], F32)], |on, r, w| {
            aclnn::index_select(on, r[0], 0, r[1], w[0])
        }),
        case("a format that values of plans have", &[X], &[X], |on, r, w| aclnn::npu_format_cast(on, r[0], w[0])),
        case("numbers from nothing", &[], &[(&[5], F32)], |on, _, w| aclnn::linspace(on, 0.0_f32, 2.0_f32, 5, w[0])),
        case("integers", &[(&[6], I32), (&[6], I32)], &[(&[6], I32)], |on, r, w| {
            aclnn::bitwise_xor_tensor(on, r[0], r[1], w[0])
        }),
    ]
}

/// Operators whose data have to fit what they are told; those that random plans leave out are all here.
fn cases_by_data() -> Vec<Case> {
    let case = |name, reads, writes, issue| Case { name, reads, writes, issue };
    vec![
        // The numbers are 2, 0, 0 where they come second.
        case("elements as often as a tensor says", &[(&[3], F32), (&[3], I64)], &[(&[2], F32)], |on, r, w| {
            aclnn::repeat_interleave(on, r[0], r[1], 2, w[0])
        }),
        case("rows as often as a tensor says", &[X, (&[3], I64)], &[(&[2, 4], F32)], |on, r, w| {
            aclnn::repeat_interleave_with_dim(on, r[0], r[1], 0, 2, w[0])
        }),
        // And 0, 1, 1 where they come first.
        case("places as often as a tensor says", &[(&[3], I64)], &[(&[2], I64)], |on, r, w| {
            aclnn::repeat_interleave_tensor(on, r[0], 2, w[0])
        }),
        case("how often there is each number", &[(&[6], I64), (&[6], F32)], &[(&[3], F32)], |on, r, w| {
            aclnn::bincount(on, r[0], r[1], 0, w[0])
        }),
        case("elements where a mask is set", &[X, (&[3, 4], Bool), (&[12], F32)], &[X], |on, r, w| {
            aclnn::inplace_copy(on, w[0], r[0])?;
            aclnn::inplace_masked_scatter(on, w[0], r[1], r[2])
        }),
        case("drawn numbers", &[], &[(&[5], F32)], |on, _, w| aclnn::normal_float_float(on, 1.0, 2.0, 7, 0, w[0])),
        case("a weight in blocks", &[(&[16, 32], F16)], &[(&[16, 32], F16)], |on, r, w| {
            aclnn::inplace_copy(on, w[0], r[0])?;
            aclnn::trans_matmul_weight(on, w[0])
        }),
    ]
}

/// Numbers from -2 to 2, small indices, truth values.
fn bytes((dims, dtype): Shaped, which: usize) -> Vec<u8> {
    let number = |i: usize| (i * 7 + which * 5) % 13;
    let all = 0..dims.iter().product::<usize>();
    match dtype {
        F32 => all.flat_map(|i| (number(i) as f32 / 3.0 - 2.0).to_ne_bytes()).collect(),
        F16 => all.flat_map(|i| racl::half::f16::from_f32(number(i) as f32 / 4.0).to_ne_bytes()).collect(),
        I64 => all.flat_map(|i| (number(i) as i64 % 3).to_ne_bytes()).collect(),
        I32 => all.flat_map(|i| (number(i) as i32 * 1_000_003).to_ne_bytes()).collect(),
        Bool => all.map(|i| (number(i) % 2) as u8).collect(),
        other => unreachable!("{other:?}"),
    }
}

fn inputs(case: &Case) -> Vec<Vec<u8>> {
    case.reads.iter().enumerate().map(|(which, shaped)| bytes(*shaped, which)).collect()
}

/// What the operator leaves on a stream.
fn on_a_stream(alone: &Alone, case: &Case, given: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let stream = alone.stream();
    let tensor = |(dims, dtype): &Shaped, bytes: &[u8]| {
        AnyTensor::over(alone.device.upload(bytes).unwrap(), *dtype, *dims).unwrap()
    };
    let reads: Vec<AnyTensor> = case.reads.iter().zip(given).map(|(shaped, bytes)| tensor(shaped, bytes)).collect();
    let buffers: Vec<_> = case
        .writes
        .iter()
        .map(|(dims, dtype)| {
            alone.device.alloc::<u8>(dims.iter().product::<usize>() * dtype.size()).unwrap().into_shared()
        })
        .collect();
    let mut writes: Vec<AnyTensor> = case
        .writes
        .iter()
        .zip(&buffers)
        .map(|((dims, dtype), buffer)| AnyTensor::over(buffer.clone(), *dtype, *dims).unwrap())
        .collect();
    let reads: Vec<&dyn Operand> = reads.iter().map(|tensor| tensor as &dyn Operand).collect();
    let mut outs: Vec<&mut dyn Operand> = writes.iter_mut().map(|tensor| tensor as &mut dyn Operand).collect();
    (case.issue)(&stream, &reads, &mut outs).unwrap_or_else(|error| panic!("{}: {error:#}", case.name));
    stream.synchronize().unwrap();
    buffers.iter().map(|buffer| buffer.to_vec().unwrap()).collect()
}

fn name(index: usize) -> String {
    format!("x{index}")
}

fn plan(case: &Case, class: Input) -> Plan {
    Plan::build(|g| record(g, case, class)).unwrap_or_else(|error| panic!("{}: {error:#}", case.name))
}

fn record(g: &Builder, case: &Case, class: Input) -> Result<()> {
    let reads: Result<Vec<Value>> = case
        .reads
        .iter()
        .enumerate()
        .map(|(index, (dims, dtype))| g.input(&name(index), *dims, *dtype, class))
        .collect();
    let writes: Result<Vec<Value>> = case.writes.iter().map(|(dims, dtype)| g.empty(*dims, *dtype)).collect();
    let (reads, mut writes) = (reads?, writes?);
    let read: Vec<&dyn Operand> = reads.iter().map(|value| value as &dyn Operand).collect();
    let mut written: Vec<&mut dyn Operand> = writes.iter_mut().map(|value| value as &mut dyn Operand).collect();
    (case.issue)(g, &read, &mut written)?;
    writes.iter().enumerate().try_for_each(|(index, value)| g.output(&format!("y{index}"), *value))
}

/// What the outputs of the latest run hold.
fn left(exe: &Executable, case: &Case) -> Vec<Vec<u8>> {
    let one = |(index, (_, dtype)): (usize, &Shaped)| {
        let id = exe.output_id(&format!("y{index}")).unwrap();
        match dtype {
            F32 => exe.output::<f32>(id).unwrap().to_vec().unwrap().iter().flat_map(|x| x.to_ne_bytes()).collect(),
            F16 => {
                let halves = exe.output::<racl::half::f16>(id).unwrap().to_vec().unwrap();
                halves.iter().flat_map(|x| x.to_ne_bytes()).collect()
            }
            I64 => exe.output::<i64>(id).unwrap().to_vec().unwrap().iter().flat_map(|x| x.to_ne_bytes()).collect(),
            I32 => exe.output::<i32>(id).unwrap().to_vec().unwrap().iter().flat_map(|x| x.to_ne_bytes()).collect(),
            _ => exe.output::<u8>(id).unwrap().to_vec().unwrap(),
        }
    };
    case.writes.iter().enumerate().map(one).collect()
}

fn run(alone: &Alone, case: &Case, exe: &mut Executable, given: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let buffers: Vec<_> = given.iter().map(|bytes| alone.device.upload(bytes).unwrap().into_shared()).collect();
    let mut bind = exe.bindings();
    for (index, buffer) in buffers.iter().enumerate() {
        bind.set(exe.input(&name(index)).unwrap(), buffer);
    }
    let stream = alone.stream();
    exe.run(&stream, &mut bind).unwrap_or_else(|error| panic!("{}: {error:#}", case.name));
    stream.synchronize().unwrap();
    left(exe, case)
}

#[test]
fn operators_give_in_a_plan_what_they_give_on_a_stream() {
    let alone = Alone::new();
    for case in cases().into_iter().chain(cases_by_data()) {
        let given = inputs(&case);
        let expected = on_a_stream(&alone, &case, &given);
        assert!(expected.iter().any(|bytes| bytes.iter().any(|byte| *byte != 0)), "{}: nothing but zeros", case.name);
        let plan = plan(&case, Input::Copied);
        for mode in [Mode::Captured, Mode::Eager] {
            let mut exe = plan.executable(&alone.device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
            assert_eq!(run(&alone, &case, &mut exe, &given), expected, "{}, {mode:?}", case.name);
        }
        let mut simulated = Simulated::new();
        for (index, bytes) in given.iter().enumerate() {
            simulated = simulated.bytes(&name(index), bytes.clone());
        }
        let simulation = plan.simulate(7, &simulated).unwrap_or_else(|error| panic!("{}: {error:#}", case.name));
        for (index, bytes) in expected.iter().enumerate() {
            assert_eq!(simulation.bytes(&format!("y{index}")).unwrap(), bytes, "{}, simulated", case.name);
        }
    }
}

#[test]
#[cfg(feature = "cache")]
fn stored_plans_of_operators_give_the_same() {
    let alone = Alone::new();
    let folder = tempfile::tempdir().unwrap();
    for (index, case) in cases().iter().chain(&cases_by_data()).enumerate() {
        let given = inputs(case);
        let compiled = || {
            let cache = racl::cache::CompileCache::builder("Recorded").cache_dir(folder.path()).build().unwrap();
            let name = format!("case{index}");
            let plan = cache.func(&name).ignore_captures().compile(&alone.device, |g| record(g, case, Input::Copied));
            (plan.unwrap_or_else(|error| panic!("{}: {error:#}", case.name)), cache.status(&name).unwrap())
        };
        compiled();
        let (plan, status) = compiled();
        assert_eq!(status, racl::cache::Status::Hit, "{}", case.name);
        let mut exe = plan.eager(&alone.device, Frozen::new()).unwrap();
        assert_eq!(run(&alone, case, &mut exe, &given), on_a_stream(&alone, case, &given), "{}", case.name);
    }
}

#[test]
fn operators_are_updated_in_a_captured_graph_when_their_inputs_move() {
    let alone = Alone::new();
    for case in cases().iter().filter(|case| !case.reads.is_empty()) {
        let plan = plan(case, Input::Updatable);
        let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
        let captures = || mock::calls("aclmdlRICaptureBegin");
        let before = captures();
        let mut made = None;
        for turn in 0..4 {
            let given: Vec<_> =
                case.reads.iter().enumerate().map(|(which, shaped)| bytes(*shaped, which + turn)).collect();
            let expected = on_a_stream(&alone, case, &given);
            assert_eq!(run(&alone, case, &mut exe, &given), expected, "{}, turn {turn}", case.name);
            let first = *made.get_or_insert(captures());
            assert_eq!(captures(), first, "{}, turn {turn}: captured again", case.name);
        }
        assert!(captures() > before, "{}: nothing was captured", case.name);
    }
}

#[test]
fn a_plain_operator_is_updated_by_address() {
    let alone = Alone::new();
    let cases = cases();
    let case = cases.iter().find(|case| case.name == "cumsum, with a type").unwrap();
    let mut exe = plan(case, Input::Updatable).capture(&alone.device, Frozen::new()).unwrap();
    run(&alone, case, &mut exe, &inputs(case));
    run(&alone, case, &mut exe, &inputs(case)); // the first update plans, and keeps what came of it
    let (phases, _) = calls_of("aclnnCumsumGetWorkspaceSize", || run(&alone, case, &mut exe, &inputs(case)));
    assert_eq!(phases, 0);
}

#[test]
fn operators_take_part_in_streams_and_order_like_all_others() {
    let alone = Alone::new();
    let build = |joined: bool| {
        Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let (mut values, mut order) = (g.empty([4], F32)?, g.empty([4], I64)?);
            g.scope("side", |g| aclnn::sort(g, &x, true, 0, false, &mut values, &mut order))?;
            if joined {
                g.join("side")?;
            }
            let y = g.adds(values, 1.0)?;
            g.output("y", y)
        })
    };
    let error = build(false).unwrap_err();
    assert_says(&error, ErrorKind::InvalidPlan, &["aclnnSort", "aclnnAdds", "tests/plans/recorded.rs"]);
    let plan = build(true).unwrap();
    assert_eq!((plan.streams(), plan.operators()), (2, 2));
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[3.0_f32, -1.0, 2.0, 0.0], [4]).unwrap();
    let stream = alone.stream();
    exe.run(&stream, &mut crate::give(&exe, "x", &x)).unwrap();
    assert_eq!(crate::result(&exe, "y"), [0.0, 1.0, 3.0, 4.0]);
}

#[test]
fn an_operand_that_is_changed_in_place_is_read_and_written() {
    let alone = Alone::new();
    let add = |g: &Builder, to: &mut Value, x: &Value| aclnn::inplace_add(g, to, x, 2.0_f32);
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let mut sum = g.full([2], F32, 1.0)?;
        add(g, &mut sum, &x)?;
        add(g, &mut sum, &x)?;
        g.output("y", sum)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[1.0_f32, -3.0], [2]).unwrap();
    exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
    assert_eq!(crate::result(&exe, "y"), [5.0, -11.0]);
    // What it reads has to be there.
    let error = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let mut sum = g.empty([2], F32)?;
        add(g, &mut sum, &x)?;
        g.output("y", sum)
    })
    .unwrap_err();
    assert_says(&error, ErrorKind::InvalidPlan, &["aclnnInplaceAdd"]);
}

#[test]
fn what_does_not_belong_together_is_refused_with_the_caller_s_line() {
    let alone = Alone::new();
    let stream = alone.stream();
    let tensor = alone.device.zeros::<f32>([4]).unwrap();
    let mut other = None;
    Plan::build(|g| {
        other = Some(g.input("x", [4], F32, Input::Copied)?);
        Ok(())
    })
    .unwrap();
    let other = other.unwrap();
    let refused = |work: &dyn Fn(&Builder, Value) -> Result<()>, says: &str| {
        let built = Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            work(g, x)
        });
        let error = built.unwrap_err();
        assert_says(&error, ErrorKind::InvalidPlan, &[says, "tests/plans/recorded.rs"]);
    };
    refused(&|g, x| aclnn::abs(g, &tensor, &mut { x }), "memory of a device");
    refused(&|g, x| aclnn::abs(g, &x, &mut tensor.clone()), "memory of a device");
    refused(&|g, x| aclnn::abs(g, &other, &mut { x }), "another plan");
    refused(
        &|g, x| {
            let mut constant = g.constant(&[0.0_f32; 4], [4])?;
            aclnn::abs(g, &x, &mut constant)
        },
        "a constant",
    );
    refused(
        &|g, x| {
            let mut half = g.narrow(x, 0, 0..2)?;
            let rest = g.narrow(x, 0, 1..3)?;
            aclnn::abs(g, &rest, &mut half)
        },
        "overlaps a result",
    );
    refused(&|g, x| aclnn::softmax(g, &x, -1, &mut { x }), "which it cannot compute in place");
    // A value where a stream is.
    let error = aclnn::abs(&stream, &other, &mut tensor.clone()).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a value of a plan"]);
    let error = aclnn::abs(&racl::op::Probe::new(), &other, &mut tensor.clone()).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["a value of a plan"]);
}

#[test]
fn memory_that_nothing_wrote_is_copied_to_and_filled() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let (mut copy, mut filled) = (g.empty([2, 2], F32)?, g.empty([2, 2], F32)?);
        aclnn::inplace_copy(g, &mut copy, &x)?; // each row
        aclnn::inplace_fill_scalar(g, &mut filled, 0.5_f32)?;
        g.output("y", g.mul(copy, filled)?)
    })
    .unwrap();
    assert!(plan.lints().is_empty(), "{:?}", plan.lints());
    let given = Simulated::new().tensor("x", &[2.0_f32, 6.0], [2]);
    assert_eq!(plan.simulate(0, &given).unwrap().to_vec::<f32>("y").unwrap(), [1.0, 3.0, 1.0, 3.0]);
}

#[test]
fn what_the_library_refuses_names_the_line_of_the_plan() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 2], F32, Input::Copied)?;
        let mut y = g.adds(x, 1.0)?;
        aclnn::inplace_fill_scalar(g, &mut y, 1.0_f32)?;
        let found = g.empty([4, 2], F32)?; // i64 is taken, which no rule knows
        g.fill_bytes(found, 0)?;
        aclnn::nonzero(g, &y, &mut { found })?;
        g.output("y", found)
    })
    .unwrap();
    let error = plan.capture(&alone.device, Frozen::new()).map(drop);
    let error = match error {
        Err(error) => error,
        Ok(()) => {
            let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
            let x = alone.device.zeros::<f32>([2, 2]).unwrap();
            exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap_err()
        }
    };
    let text = format!("{error:#}");
    assert_eq!(error.kind(), ErrorKind::OperatorArgument, "{text}");
    assert!(text.contains("aclnnNonzero") && text.contains("tests/plans/recorded.rs"), "{text}");
}

#[test]
fn types_that_an_operator_does_not_take_are_refused_while_it_is_recorded() {
    let refused = |work: &dyn Fn(&Builder, Value) -> Result<()>, says: &[&str]| {
        let error = Plan::build(|g| {
            let x = g.input("x", [2, 2], F32, Input::Copied)?;
            work(g, g.adds(x, 1.0)?)
        });
        assert_says(&error.unwrap_err(), ErrorKind::InvalidPlan, &[says, &["tests/plans/recorded.rs"]].concat());
    };
    refused(&|g, y| aclnn::trans_matmul_weight(g, &mut { y }), &["aclnnTransMatmulWeight", "F32"]);
    refused(
        &|g, y| {
            let half = g.empty([2, 2], F16)?;
            aclnn::npu_format_cast(g, &y, &mut { half })
        },
        &["aclnnNpuFormatCast", "F32 [2, 2] into F16 [2, 2]"],
    );
    let image = |g: &Builder| g.full([1, 2, 3, 4, 4], F32, 1);
    refused(
        &|g, _| {
            let (x, w, to) = (image(g)?, image(g)?, g.empty([1, 2, 4, 4], F32)?);
            let one = &[1, 1];
            aclnn::conv_depthwise2d(g, &x, &w, &[4, 4], None, one, &[0, 0], one, &mut { to }, 0)
        },
        &["aclnnConvDepthwise2d", "it has 4 dimensions"],
    );
}

/// The first of none, whose results have an element all the same, which nothing would write.
#[test]
fn the_first_none_of_one_element_is_refused() {
    let first = |dims: &[usize]| {
        let plan = Plan::build(|g| {
            let x = g.full(dims, F32, 1)?;
            g.output("y", g.topk(x, 0, 0, true)?.0)
        });
        plan.map(drop)
    };
    assert_says(&first(&[]).unwrap_err(), ErrorKind::InvalidPlan, &["tests/plans/recorded.rs"]);
    first(&[3]).unwrap();
}

#[test]
fn builders_of_operators_may_be_nested_in_one_expression() {
    let alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let y = g.add(g.mul(x, x)?, g.abs(g.muls(x, -2.0)?)?)?;
        g.output("y", y)
    })
    .unwrap();
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    let x = alone.device.upload_tensor(&[3.0_f32, -1.0], [2]).unwrap();
    exe.run(&alone.stream(), &mut crate::give(&exe, "x", &x)).unwrap();
    assert_eq!(crate::result(&exe, "y"), [15.0, 3.0]);
}

/// Dimensions that issue work of their own.
struct Asking<'a>(&'a Builder, Value);

impl racl::plan::IntoDims for Asking<'_> {
    fn into_dims(self) -> Result<Vec<racl::plan::Dim>> {
        self.0.abs(self.1)?;
        self.0.dims(self.1)
    }
}

#[test]
fn code_of_the_caller_inside_a_call_may_use_the_builder() {
    let _alone = Alone::new();
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 2], F32, Input::Copied)?;
        let y = g.empty(Asking(g, x), F32)?;
        let z = g.full(Asking(g, x), F32, 1.0)?;
        let w = g.reshape(x, Asking(g, x))?;
        aclnn::add(g, &z, &w, 1, &mut { y })?;
        g.output("y", y)
    });
    assert_eq!(plan.unwrap().operators(), 5);
}
