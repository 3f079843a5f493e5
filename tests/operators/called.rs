//! Operators whose name is known when the program runs.

use racl::op::{self, Argument, ElementType, Operand, Scalar};
use racl::plan::{Frozen, Inferred, Input, Plan};
use racl::{CaptureMode, ErrorKind, op::DataType};

use crate::common::{assert_says, device};

#[test]
fn arguments_of_each_kind_reach_the_operator() {
    let device = device();
    let s = device.stream().unwrap();
    let x = device.upload_tensor(&[1.0_f32, -2.0, 3.0, -4.0], [2, 2]).unwrap();
    let out = device.zeros::<f32>([2, 2]).unwrap();
    let (tensor, result) = (Argument::Tensor(&x), Argument::Tensor(&out));
    let check = |name: &str, arguments: &[Argument<'_>], want: [f32; 4]| {
        op::call(&s, name, arguments).unwrap();
        assert_eq!(out.to_vec().unwrap(), want, "{name}");
    };
    check("aclnnAbs", &[tensor, result], [1.0, 2.0, 3.0, 4.0]);
    check("aclnnMuls", &[tensor, Argument::Scalar(Scalar::from(2.0_f32)), result], [2.0, -4.0, 6.0, -8.0]);
    check("aclnnMuls", &[tensor, Argument::Float(0.5), result], [0.5, -1.0, 1.5, -2.0]);
    check("aclnnMuls", &[tensor, Argument::Int(-1), result], [-1.0, 2.0, -3.0, 4.0]);
    let zero = Argument::Scalar(Scalar::from(0.0_f32));
    check("aclnnClamp", &[tensor, zero, Argument::None, result], [1.0, 0.0, 3.0, 0.0]);
    check("aclnnPermute", &[tensor, Argument::Ints(&[1, 0]), result], [1.0, 3.0, -2.0, -4.0]);

    let (tall, column) = (device.zeros::<f32>([4, 2]).unwrap(), device.zeros::<f32>([2]).unwrap());
    let list: [&dyn Operand; 2] = [&x, &x];
    op::call(&s, "aclnnCat", &[Argument::Tensors(&list), Argument::Int(0), Argument::Tensor(&tall)]).unwrap();
    assert_eq!(tall.to_vec().unwrap(), [1.0, -2.0, 3.0, -4.0, 1.0, -2.0, 3.0, -4.0]);
    let (dims, kind) = (Argument::Ints(&[0]), Argument::Type(ElementType::from(DataType::F32)));
    op::call(&s, "aclnnReduceSum", &[tensor, dims, Argument::Bool(false), kind, Argument::Tensor(&column)]).unwrap();
    assert_eq!(column.to_vec().unwrap(), [4.0, -6.0]);
}

#[test]
fn what_an_operator_does_not_take_is_named() {
    let device = device();
    let s = device.stream().unwrap();
    let x = device.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
    let out = device.zeros::<f32>([2]).unwrap();
    let (tensor, result) = (Argument::Tensor(&x), Argument::Tensor(&out));
    let refused = |name: &str, arguments: &[Argument<'_>], text: &str| {
        let error = op::call(&s, name, arguments).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &[text]);
    };
    refused("aclnnNoSuch", &[tensor], "aclnnNoSuch");
    refused("abs", &[tensor, result], "abs");
    refused("", &[], "no operator");
    refused("aclnnAbs", &[tensor], "takes 2 arguments (self_, out), and was given 1");
    refused("aclnnAbs", &[Argument::None, result], "self_ is nothing");
    refused("aclnnAbs", &[tensor, Argument::Tensors(&[])], "out is a list of 0 tensors");
    refused("aclnnMuls", &[tensor, Argument::Text("2"), result], "takes a scalar");
    // Numbers that the C function's parameter has no room for.
    let sort = |dim: i64| [tensor, Argument::Bool(true), Argument::Int(dim), Argument::Bool(false), result, result];
    assert_eq!(op::parameters("aclnnSort").unwrap().len(), sort(0).len());
    let far = i64::from(i8::MAX) + 1;
    refused("aclnnMatmul", &[tensor, tensor, result, Argument::Int(far)], "takes an integer of 1 bytes");
    refused("aclnnMatmul", &[tensor, tensor, result, Argument::Bool(true)], "the truth value true");
    assert_eq!(op::parameters("aclnnNoSuch"), None);
}

#[test]
fn a_capture_of_a_stream_that_was_refused_an_operator_gives_no_graph() {
    let device = device();
    let s = device.stream().unwrap();
    let x = device.upload_tensor(&[1.0_f32], [1]).unwrap();
    let wrong: [(&str, &[Argument<'_>]); 3] =
        [("aclnnNoSuch", &[]), ("aclnnAbs", &[]), ("aclnnAbs", &[Argument::None, Argument::Tensor(&x)])];
    for (name, arguments) in wrong {
        let captured = s.capture(CaptureMode::ThreadLocal, |s| {
            op::call(s, name, arguments).unwrap_err();
            op::call(s, "aclnnAbs", &[Argument::Tensor(&x), Argument::Tensor(&x)])
        });
        assert_says(&captured.unwrap_err(), ErrorKind::CaptureInvalidated, &["called.rs"]);
    }
    // One that asks for sizes that a tensor does not have.
    let (mut out, mut mean, mut scale) = (x.clone(), x.clone(), x.clone());
    let captured = s.capture(CaptureMode::ThreadLocal, |s| {
        let results = op::GroupNorm { out: &mut out, mean: &mut mean, scale: &mut scale };
        op::group_norm(s, &x, 1, None, None, 0.0, results).unwrap_err();
        Ok(())
    });
    assert_says(&captured.unwrap_err(), ErrorKind::CaptureInvalidated, &["group_norm", "called.rs"]);
}

#[test]
fn a_plan_records_operators_by_name() {
    let device = device();
    let s = device.stream().unwrap();
    let plan = Plan::build(|g| {
        let x = g.input("x", [3], DataType::F32, Input::Copied)?;
        let y = Inferred::new();
        op::call(g, "aclnnNeg", &[Argument::Tensor(&x), Argument::Tensor(&y)])?;
        g.output("y", y.value()?)
    })
    .unwrap();
    let mut exe = plan.capture(&device, Frozen::new()).unwrap();
    let x = device.upload_tensor(&[1.0_f32, 2.0, 3.0], [3]).unwrap();
    let mut bind = exe.bindings();
    exe.run(&s, bind.set(exe.input("x").unwrap(), &x)).unwrap();
    assert_eq!(exe.output::<f32>(exe.output_id("y").unwrap()).unwrap().to_vec().unwrap(), [-1.0, -2.0, -3.0]);
}
