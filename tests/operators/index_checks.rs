//! Indices that the host looks at before an operator is queued: what is refused is what the mock's kernels find.

use racl::op::{self, AnyTensor, Argument, DataType, Reduce, Scalar, aclnn};
use racl::{CaptureMode, Context, ErrorKind, Result, Stream, Tensor};

use crate::common::{assert_says, device};
use crate::index_routes::cases;

/// Streams of it have their indices looked at.
fn checked() -> Context {
    let context = device().context().create_context().unwrap();
    assert!(!context.index_checks());
    context.set_index_checks(true);
    assert!(context.index_checks());
    context
}

/// Runs `call` with each index; what is refused by `checked` is what is a fault otherwise, and nothing else.
fn compare(name: &str, call: impl Fn(&Context, i64) -> Result<Vec<f32>>) {
    let (checked, plain) = (checked(), device().context().create_context().unwrap());
    let (mut faults, mut good) = (0, 0);
    for index in (-10..=10).chain([i64::MAX, i64::MIN, 1 << 40]) {
        match (call(&plain, index), call(&checked, index)) {
            (Ok(without), Ok(with)) => {
                assert_eq!(without, with, "{name} {index}");
                good += 1;
            }
            (Err(fault), Err(refused)) => {
                assert_eq!(fault.kind(), ErrorKind::DeviceFault, "{name} {index}: {fault}");
                assert_says(&refused, ErrorKind::InvalidArgument, &[&format!("is {index} at [")]);
                faults += 1;
            }
            (without, with) => panic!("{name} {index}: {without:?}, looked at {with:?}"),
        }
    }
    assert!(faults > 3 && good > 0, "{name}: {faults} faults");
}

#[test]
fn what_is_refused_is_what_the_kernels_find() {
    for case in cases() {
        compare(case.name, |context, index| case.on_stream(context, index, |stream, call| call(stream)));
    }
}

/// A row of classes, or data of three rows, and one index.
fn given(context: &Context, shape: [usize; 2], index: i64) -> Result<(Stream, Tensor<f32>, Tensor<i64>)> {
    let data = context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], shape)?;
    Ok((context.stream()?, data, context.upload_tensor(&[index], [1])?))
}

#[test]
fn losses_and_fills_too() {
    compare("aclnnNLLLoss", |context, index| {
        let (stream, x, target) = given(context, [1, 6], index)?;
        let (weight, mut out) = (context.upload_tensor(&[1.0_f32; 6], [6])?, context.zeros([1])?);
        let mut total = context.zeros::<f32>([1])?;
        aclnn::nll_loss(&stream, &x, &target, &weight, 0, -7, &mut out, &mut total)?;
        stream.synchronize()?;
        out.to_vec()
    });
    compare("aclnnNLLLossBackward", |context, index| {
        let (stream, x, target) = given(context, [1, 6], index)?;
        let (weight, mut out) = (context.upload_tensor(&[1.0_f32; 6], [6])?, context.zeros([1, 6])?);
        let (grad, total) = (context.upload_tensor(&[1.0_f32], [1])?, context.upload_tensor(&[1.0_f32], [1])?);
        aclnn::nll_loss_backward(&stream, &grad, &x, &target, &weight, 0, -7, &total, &mut out)?;
        stream.synchronize()?;
        out.to_vec()
    });
    for name in ["aclnnIndexFill", "aclnnInplaceIndexFill"] {
        compare(name, |context, index| {
            let (stream, x, index) = given(context, [3, 2], index)?;
            let out = context.zeros::<f32>([3, 2])?;
            let seven = Argument::Scalar(Scalar::from(7.0_f32));
            let mut all = vec![Argument::Tensor(&x), Argument::Int(0), Argument::Tensor(&index), seven];
            let is_in_place = name.contains("Inplace");
            if !is_in_place {
                all.push(Argument::Tensor(&out));
            }
            op::call(&stream, name, &all)?;
            stream.synchronize()?;
            if is_in_place { x.to_vec() } else { out.to_vec() }
        });
    }
    compare("aclnnIndexCopy", |context, index| {
        let (stream, mut x, indices) = given(context, [3, 2], index)?;
        let (row, mut out) = (context.upload_tensor(&[7.0_f32, 8.0], [1, 2])?, context.zeros([3, 2])?);
        aclnn::index_copy(&stream, &mut x, 0, &indices, &row, &mut out)?;
        stream.synchronize()?;
        out.to_vec()
    });
}

#[test]
fn the_place_in_a_view_with_strides_and_an_offset_is_named() {
    let context = checked();
    let stream = context.stream().unwrap();
    let x = context.upload_tensor(&[1.0_f32; 12], [3, 4]).unwrap();
    // Its transposed part without the first row and column; what is cut off is out of range.
    let all = context.upload_tensor(&[99_i32, 99, 99, 99, 0, 1, 99, 2, -1], [3, 3]).unwrap();
    let part = all.narrow(0, 1..3).unwrap().narrow(1, 1..3).unwrap().transposed(0, 1).unwrap();
    let mut out = context.zeros([2, 2]).unwrap();
    op::gather(&stream, &x, 0, &part, &mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1.0; 4]);
    let all = context.upload_tensor(&[0_i32, 0, 0, 0, 0, 1, 0, 3, -1], [3, 3]).unwrap();
    let part = all.narrow(0, 1..3).unwrap().narrow(1, 1..3).unwrap().transposed(0, 1).unwrap();
    let error = op::gather(&stream, &x, 0, &part, &mut out).unwrap_err();
    let says = ["aclnnGather", "index is 3 at [0, 1], and is to be from -3 to 2"];
    assert_says(&error, ErrorKind::InvalidArgument, &says);
    stream.synchronize().unwrap();
    // Of a dimension with nothing in it.
    let nothing = x.narrow(0, 0..0).unwrap();
    let error = op::gather(&stream, &nothing, 0, &part, &mut out).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["there is nothing for it to name"]);
}

#[test]
fn tensors_whose_type_is_known_as_the_program_runs_are_looked_at() {
    let context = checked();
    let stream = context.stream().unwrap();
    let x = context.upload_tensor(&[1.0_f32; 6], [3, 2]).unwrap();
    let mut out = context.zeros::<f32>([1, 2]).unwrap();
    let mut choose = |bytes: &[u8], kind: DataType| {
        let index = AnyTensor::over(context.upload(bytes)?, kind, [1])?;
        aclnn::index_select(&stream, &x, 0, &index, &mut out)
    };
    choose(&1_i64.to_ne_bytes(), DataType::I64).unwrap();
    choose(&2_i32.to_ne_bytes(), DataType::I32).unwrap();
    for error in [choose(&3_i64.to_ne_bytes(), DataType::I64), choose(&3_i32.to_ne_bytes(), DataType::I32)] {
        assert_says(&error.unwrap_err(), ErrorKind::InvalidArgument, &["index is 3 at [0]"]);
    }
}

#[test]
fn the_dimension_of_each_index_counts() {
    let context = checked();
    let stream = context.stream().unwrap();
    let x = context.upload_tensor(&[1.0_f32; 6], [3, 2]).unwrap();
    let index = |numbers: &[i64], shape: &[usize]| context.upload_tensor(numbers, shape).unwrap();
    let mut out = context.zeros::<f32>([2]).unwrap();
    let (rows, columns) = (index(&[2, 0], &[2]), index(&[1, 0], &[2]));
    aclnn::index(&stream, &x, &[&rows, &columns], &mut out).unwrap();
    let error = aclnn::index(&stream, &x, &[&columns, &rows], &mut out).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["indices[1] is 2 at [0], and is to be from -2 to 1"]);
    let pairs = index(&[2, 1, 0, 0], &[2, 2]);
    aclnn::gather_nd(&stream, &x, &pairs, false, &mut out).unwrap();
    let pairs = index(&[1, 1, 1, 2], &[2, 2]);
    let error = aclnn::gather_nd(&stream, &x, &pairs, false, &mut out).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["indices is 2 at [1, 1], and is to be from 0 to 1"]);
    let pairs = index(&[-1, -1, -3, -2], &[2, 2]);
    aclnn::gather_nd(&stream, &x, &pairs, true, &mut out).unwrap();
    let error = aclnn::gather_nd(&stream, &x, &pairs, false, &mut out).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["indices is -1 at [0, 0], and is to be from 0 to 2"]);
    stream.synchronize().unwrap();
}

#[test]
fn the_host_waits_for_indices_that_another_stream_makes() {
    let context = checked();
    let (stream, other) = (context.stream().unwrap(), context.stream().unwrap());
    let x = context.upload_tensor(&[1.0_f32; 6], [3, 2]).unwrap();
    let (mut index, mut out) = (context.zeros::<i64>([1]).unwrap(), context.zeros([1, 2]).unwrap());
    for number in [3, 1] {
        op::fill(&other, &mut index, number).unwrap();
        assert_eq!(op::index_select(&stream, &x, 0, &index, &mut out).is_ok(), number == 1);
    }
    assert_eq!(out.to_vec().unwrap(), [1.0; 2]);
}

#[test]
fn captures_are_not_looked_at_nor_spoilt() {
    let context = checked();
    let (stream, other) = (context.stream().unwrap(), context.stream().unwrap());
    let x = context.upload_tensor(&[1.0_f32; 6], [3, 2]).unwrap();
    let (far, mut out) = (context.upload_tensor(&[7_i64], [1]).unwrap(), context.zeros([1, 2]).unwrap());
    let mut elsewhere = context.zeros([1, 2]).unwrap();
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        op::index_select(s, &x, 0, &far, &mut out)?;
        // Nor is work beside it, for which the host may not wait.
        op::index_select(&other, &x, 0, &far, &mut elsewhere)
    });
    let error = graph.unwrap().launch(&stream).and_then(|()| stream.synchronize()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeviceFault);
    assert_eq!(other.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
    let graph = stream.capture(CaptureMode::Relaxed, |s| {
        let error = op::scatter(&other, &mut elsewhere, 0, &far, &x, Reduce::None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        op::index_select(s, &x, 0, &far, &mut out)
    });
    drop(graph.unwrap());
}

/// The mock takes no masks; what matters is that the library is asked.
#[test]
fn what_is_behind_a_mask_in_a_list_is_left_to_the_library() {
    let context = checked();
    let stream = context.stream().unwrap();
    let (ones, five) = (context.upload_tensor(&[1.0_f32; 24], [2, 2, 6]).unwrap(), 5_i64);
    let index = context.upload_tensor(&[five], [1]).unwrap();
    let mut out = context.zeros::<f32>([1]).unwrap();
    for rows in [2, 0] {
        let (x, bytes) = (ones.narrow(0, 0..rows).unwrap(), context.upload(&[1_u8; 4]).unwrap());
        let mask = AnyTensor::over(bytes, DataType::Bool, [rows, 2]).unwrap();
        let error = aclnn::index(&stream, &x, &[&mask, &index], &mut out).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OperatorArgument, "{rows}: {error}");
    }
    let error = aclnn::index(&stream, &ones, &[&index], &mut out).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
}

#[test]
fn what_runs_later_is_not_looked_at() {
    let context = checked();
    let (stream, elsewhere) = (context.stream().unwrap(), checked());
    let x = context.upload_tensor(&[1.0_f32, 2.0, 3.0], [3, 1]).unwrap();
    let near = context.upload_tensor(&[1_i64], [1]).unwrap();
    let (mut later, mut out) = (context.upload_tensor(&[7_i64], [1]).unwrap(), context.zeros([1, 1]).unwrap());
    // An update, whose indices are made before the launch.
    let mut group = None;
    let graph = stream.capture(CaptureMode::ThreadLocal, |s| {
        group = Some(s.task_group(|s| op::index_select(s, &x, 0, &near, &mut out))?);
        Ok(())
    });
    let mut graph = graph.unwrap();
    graph.update(&group.unwrap(), |s| op::index_select(s, &x, 0, &later, &mut out)).unwrap();
    op::fill(&stream, &mut later, 2).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), [3.0]);
    // Beside a capture of the context that the indices are of.
    let far = elsewhere.upload_tensor(&[1_i64], [1]).unwrap();
    let capture = elsewhere.stream().unwrap().begin_capture(CaptureMode::ThreadLocal).unwrap();
    let done = op::index_select(&stream, &x, 0, &far, &mut out);
    capture.finish().unwrap();
    done.unwrap();
    stream.synchronize().unwrap();
}

#[test]
fn captures_of_other_code_are_not_looked_at() {
    let context = checked();
    let stream = context.stream().unwrap();
    let x = context.upload_tensor(&[1.0_f32; 3], [3, 1]).unwrap();
    let (far, mut out) = (context.upload_tensor(&[7_i64], [1]).unwrap(), context.zeros([1, 1]).unwrap());
    let (acl, mut graph) = (device().acl().clone(), std::ptr::null_mut());
    let mode = racl::sys::aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
    // SAFETY: a live stream.
    let begun = unsafe { acl.table().aclmdlRICaptureBegin().unwrap()(stream.as_raw(), mode) };
    op::index_select(&stream, &x, 0, &far, &mut out).unwrap();
    // SAFETY: a live stream, and a place for the graph, which is not run.
    let ended = unsafe { acl.table().aclmdlRICaptureEnd().unwrap()(stream.as_raw(), &raw mut graph) };
    assert_eq!((begun, ended, graph.is_null()), (0, 0, false));
    // SAFETY: the graph was made above, and is not used again.
    assert_eq!(unsafe { acl.table().aclmdlRIDestroy().unwrap()(graph) }, 0);
}

#[test]
fn contexts_begin_with_what_the_environment_says() {
    const CHILD: &str = "RACL_TEST_INDEX_CHECKS";
    if let Ok(expected) = std::env::var(CHILD) {
        let context = device().context().create_context().unwrap();
        assert_eq!(context.index_checks().to_string(), expected);
        return;
    }
    for (value, expected) in [("1", "true"), ("0", "false"), ("", "false"), ("yes", "false")] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "index_checks::contexts_begin_with_what_the_environment_says"]);
        let done = child.env(CHILD, expected).env("RACL_CHECK_INDICES", value).output().unwrap();
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() && said.contains("1 passed"), "{value:?}: {said}");
    }
}

/// Takes indices of its own result, which the windows give.
const NOT_LOOKED_AT: [&str; 1] = ["aclnnMaxPool2dWithIndicesBackward"];

/// What the bindings declare as indices that the mock computes with, has a rule.
#[test]
fn no_operator_of_the_mock_is_forgotten() {
    let source =
        |path: &str| std::fs::read_to_string(format!("{}/src/op/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let rules = source("indices/rules.rs");
    let mut ruled = 0;
    for letter in 'a'..='x' {
        if letter == 'j' {
            continue;
        }
        let text = source(&format!("aclnn/{letter}.rs"));
        for declared in text.split("#[doc(alias = \"").collect::<Vec<_>>().windows(2) {
            let (doc, own) = (declared[0], declared[1]);
            let doc = doc.rsplit(");\n").next().unwrap().replace("    /// ", "").replace('\n', " ");
            let (name, own) = own.split_once('"').unwrap();
            let own = own.split(");\n").next().unwrap();
            let is_taken = ["index: in", "indices: in", "ignore_index: "].iter().any(|what| own.contains(what));
            if doc.contains("Not on the mock") || !is_taken || own.contains("index: ints") {
                continue;
            }
            let has_rule = rules.contains(&format!("rule(\"{name}\","));
            assert_ne!(has_rule, NOT_LOOKED_AT.contains(&name), "{name}");
            ruled += usize::from(has_rule);
        }
    }
    assert_eq!(ruled, rules.matches("    rule(\"").count());
}
