//! Operators by their C name: numbers, kinds of parameters, footprints, and what is refused.

use racl::half::f16;
use racl::op::{Access, AnyTensor, DataType, ElementType, Format, Probe, Scalar, aclnn};
use racl::{CaptureMode, ErrorKind, Tensor};

use crate::common::{assert_says, device};

#[test]
fn operators_of_each_kind_of_parameter_give_exact_numbers() {
    let device = device();
    let s = device.stream().unwrap();
    let x = device.upload_tensor(&[1.0_f32, -2.0, 3.0, 4.0], [2, 2]).unwrap();
    let y = device.upload_tensor(&[10.0_f32, 20.0, 30.0, 40.0], [2, 2]).unwrap();
    let mut out = device.zeros::<f32>([2, 2]).unwrap();
    let check = |what: &str, out: &mut Tensor<f32>, want: [f32; 4]| {
        assert_eq!(out.to_vec().unwrap(), want, "{what}");
        out.write(&[77.0; 4]).unwrap();
    };
    aclnn::neg(&s, &x, &mut out).unwrap();
    check("neg", &mut out, [-1.0, 2.0, -3.0, -4.0]);
    aclnn::relu(&s, &x, &mut out).unwrap();
    check("relu", &mut out, [1.0, 0.0, 3.0, 4.0]);
    aclnn::add(&s, &x, &y, 2.0_f32, &mut out).unwrap();
    check("add", &mut out, [21.0, 38.0, 63.0, 84.0]);
    aclnn::addcmul(&s, &x, &y, &x, 0.5_f32, &mut out).unwrap();
    check("addcmul", &mut out, [6.0, -22.0, 48.0, 84.0]);
    aclnn::clamp(&s, &x, Some(Scalar::from(0.0_f32)), Some(Scalar::from(3.0_f32)), &mut out).unwrap();
    check("clamp", &mut out, [1.0, 0.0, 3.0, 3.0]);
    aclnn::clamp(&s, &x, None, Some(Scalar::from(2.0_f32)), &mut out).unwrap();
    check("clamp from above", &mut out, [1.0, -2.0, 2.0, 2.0]);
    aclnn::cumsum(&s, &x, 1, DataType::F32, &mut out).unwrap();
    check("cumsum", &mut out, [1.0, -1.0, 3.0, 7.0]);
    aclnn::flip(&s, &x, &[0, 1], &mut out).unwrap();
    check("flip", &mut out, [4.0, 3.0, -2.0, 1.0]);
    aclnn::permute(&s, &x, &[1, 0], &mut out).unwrap();
    check("permute", &mut out, [1.0, 3.0, -2.0, 4.0]);
    aclnn::triu(&s, &x, 0, &mut out).unwrap();
    check("triu", &mut out, [1.0, -2.0, 0.0, 4.0]);
    aclnn::mm(&s, &x, &y, &mut out, 0).unwrap();
    check("mm", &mut out, [-50.0, -60.0, 150.0, 220.0]);
    let mut same = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2]).unwrap();
    aclnn::inplace_muls(&s, &mut same, -1.0_f32).unwrap();
    check("inplace_muls", &mut same, [-1.0, -2.0, -3.0, -4.0]);
    let mut halves = device.zeros::<f16>([2, 2]).unwrap();
    aclnn::cast(&s, &x, DataType::F16, &mut halves).unwrap();
    assert_eq!(halves.to_vec().unwrap(), [1.0, -2.0, 3.0, 4.0].map(f16::from_f32));
}

#[test]
fn operators_of_several_results_and_other_types_give_exact_numbers() {
    let device = device();
    let s = device.stream().unwrap();
    let x = device.upload_tensor(&[3.0_f32, 1.0, 2.0], [3]).unwrap();
    let (mut values, mut order) = (device.zeros::<f32>([3]).unwrap(), device.zeros::<i64>([3]).unwrap());
    aclnn::sort(&s, &x, true, 0, true, &mut values, &mut order).unwrap();
    assert_eq!((values.to_vec().unwrap(), order.to_vec().unwrap()), (vec![3.0, 2.0, 1.0], vec![0, 2, 1]));
    let bytes = device.alloc_zeroed::<u8>(3).unwrap().into_shared();
    let mut mask = AnyTensor::over(bytes.clone(), ElementType::BOOL, [3]).unwrap();
    aclnn::ge_scalar(&s, &x, 2.0_f32, &mut mask).unwrap();
    assert_eq!(bytes.to_vec().unwrap(), [1, 0, 1]);
    let mut out = device.zeros::<f32>([3]).unwrap();
    aclnn::s_where(&s, &mask, &x, &values, &mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [3.0, 2.0, 2.0]);
    aclnn::inplace_masked_fill_scalar(&s, &mut out, &mask, 0.5_f32).unwrap();
    assert_eq!(out.to_vec().unwrap(), [0.5, 2.0, 0.5]);
}

#[test]
fn operands_may_be_left_out() {
    let device = device();
    let s = device.stream().unwrap();
    let x = device.upload_tensor(&[1.0_f32, 3.0, 10.0, 30.0], [2, 2]).unwrap(); // means 2 and 20, deviations 1 and 10
    let bias = device.upload_tensor(&[0.0_f32, 5.0], [2]).unwrap();
    let mut out = device.zeros::<f32>([2, 2]).unwrap();
    let mut mean = device.zeros::<f32>([2, 1]).unwrap();
    let close = |out: &Tensor<f32>, want: &[f32]| {
        let got = out.to_vec().unwrap();
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-4), "{got:?}");
    };
    aclnn::layer_norm(&s, &x, &[2], None, None, 1e-12, &mut out, None, None).unwrap();
    close(&out, &[-1.0, 1.0, -1.0, 1.0]);
    let weight = device.upload_tensor(&[2.0_f32, 2.0], [2]).unwrap();
    aclnn::layer_norm(&s, &x, &[2], Some(&weight), Some(&bias), 1e-12, &mut out, Some(&mut mean), None).unwrap();
    close(&out, &[-2.0, 7.0, -2.0, 7.0]);
    assert_eq!(mean.to_vec().unwrap(), [2.0, 20.0]);
}

#[test]
fn an_operator_that_the_mock_does_not_compute_is_named() {
    let device = device();
    let s = device.stream().unwrap();
    let x = device.upload_tensor(&[1.0_f32], [1]).unwrap();
    let mut y = device.zeros::<f32>([1]).unwrap();
    let error = aclnn::blend_images_custom(&s, &x, &x, &x, &mut y).unwrap_err();
    assert_says(&error, ErrorKind::NotSupported, &["aclnnBlendImagesCustomGetWorkspaceSize"]);
    // Lists and texts get as far.
    let error = aclnn::foreach_norm(&s, &[&x, &x], 2.0_f32, &mut [&mut y]).unwrap_err();
    assert_says(&error, ErrorKind::NotSupported, &["aclnnForeachNormGetWorkspaceSize"]);
    let ones = [Scalar::from(1.0_f32); 2];
    let error = aclnn::foreach_pow_scalar_list(&s, &[&x, &x], &ones, &mut [&mut y]).unwrap_err();
    assert_says(&error, ErrorKind::OperatorArgument, &["aclnnForeachPowScalarList", "out has 1 tensors, x has 2"]);
    let error = aclnn::einsum(&s, &[&x], "i->", &mut y).unwrap_err();
    assert_says(&error, ErrorKind::NotSupported, &["aclnnEinsumGetWorkspaceSize"]);
    assert!(s.is_complete().unwrap());
}

#[test]
fn a_text_with_a_zero_byte_is_refused_before_any_call() {
    let device = device();
    let s = device.stream().unwrap();
    let x = device.upload_tensor(&[1.0_f32], [1]).unwrap();
    let mut y = device.zeros::<f32>([1]).unwrap();
    let error = aclnn::resize(&s, &x, &[2.0], "near\0est", &mut y).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["mode", "zero byte"]);
}

#[test]
fn a_footprint_has_the_bytes_of_each_operand() {
    let device = device();
    let whole = device.zeros::<f32>([4, 4]).unwrap();
    let (base, probe) = (whole.address().addr(), Probe::new());
    let column = whole.narrow(1, 1..2).unwrap();
    let mut row = whole.narrow(0, 2..3).unwrap();
    aclnn::neg(&probe, &column, &mut row).unwrap();
    let mut last = whole.narrow(0, 3..4).unwrap();
    aclnn::inplace_neg(&probe, &mut last).unwrap();
    let footprint = probe.into_footprint();
    let used: Vec<_> = footprint.used().iter().map(|used| (used.address - base, used.bytes, used.access)).collect();
    // The column spans three rows and one element more.
    assert_eq!(used, [(4, 52, Access::Read), (32, 16, Access::Write), (48, 16, Access::ReadWrite)]);
    assert!(device.stream().unwrap().is_complete().unwrap());
    assert_eq!(whole.to_vec().unwrap(), [0.0; 16], "nothing ran");

    let of = |operand: &Tensor<f32>, out: &Tensor<f32>| {
        let probe = Probe::new();
        aclnn::neg(&probe, operand, &mut out.clone()).unwrap();
        probe.into_footprint()
    };
    let rows: Vec<_> = (0..4).map(|row| whole.narrow(0, row..row + 1).unwrap()).collect();
    assert!(!of(&rows[0], &rows[1]).conflicts_with(&of(&rows[0], &rows[2])), "both read the first row");
    assert!(of(&rows[0], &rows[1]).conflicts_with(&of(&rows[1], &rows[2])));
    assert!(of(&rows[1], &rows[2]).conflicts_with(&of(&rows[0], &rows[2])));
}

#[test]
fn footprints_have_lists_and_formats_and_half_bytes() {
    let device = device();
    let (a, b) = (device.zeros::<f32>([2]).unwrap(), device.zeros::<f32>([3]).unwrap());
    let mut out = device.zeros::<f32>([5]).unwrap();
    let probe = Probe::new();
    aclnn::cat(&probe, &[&a, &b], 0, &mut out).unwrap();
    let sizes: Vec<_> = probe.into_footprint().used().iter().map(|used| used.bytes).collect();
    assert_eq!(sizes, [8, 12, 20]);

    let bytes = device.alloc::<u8>(1536).unwrap().into_shared();
    let blocks = AnyTensor::over(bytes.clone(), DataType::I8, [30, 40]).unwrap();
    let error = blocks.with_format(Format::FRACTAL_NZ, [2, 2, 16, 16]).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["[30, 40]", "1024 elements"]);
    let mut blocks = blocks.with_format(Format::FRACTAL_NZ, [2, 3, 16, 16]).unwrap();
    let probe = Probe::new();
    aclnn::inplace_zero(&probe, &mut blocks).unwrap();
    assert_eq!(probe.into_footprint().used()[0].bytes, 1536);

    let nibbles = AnyTensor::over(bytes, ElementType::I4, [7]).unwrap();
    let probe = Probe::new();
    aclnn::inplace_zero(&probe, &mut nibbles.clone()).unwrap();
    assert_eq!(probe.into_footprint().used()[0].bytes, 4);
    assert!(nibbles.typed::<i8>().is_err());
    assert!(nibbles.strided(&[512], 0).is_err() && nibbles.strided(&[511], 0).is_ok());
}

#[test]
fn any_tensors_are_tensors_again() {
    let device = device();
    let tensor = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).unwrap();
    let view = tensor.narrow(1, 1..3).unwrap().transposed(0, 1).unwrap();
    let any = AnyTensor::from(&view);
    assert_eq!((any.strides(), any.offset()), (&[1, 3][..], 1));
    assert_eq!(any.typed::<f32>().unwrap().to_vec().unwrap(), [2.0, 5.0, 3.0, 6.0]);
    assert!(any.typed::<i32>().is_err());
    // The same bits as another type of the same size.
    assert_eq!(any.with_type(DataType::I32).unwrap().typed::<i32>().unwrap().to_vec().unwrap()[0], 0x4000_0000);
    assert!(any.with_type(DataType::I8).is_err());
    let bytes = device.alloc::<u8>(7).unwrap().into_shared();
    assert!(AnyTensor::over(bytes.clone(), DataType::F32, [2]).is_err());
    let odd = AnyTensor::over(bytes.slice(1..).unwrap(), DataType::F32, [1]).unwrap();
    assert!(odd.typed::<f32>().is_err(), "not aligned");
    // SAFETY: it is refused before the library sees it.
    let nothing = unsafe { ElementType::new(5, 0) };
    assert!(AnyTensor::over(bytes, nothing, [1]).is_err());
    assert!(any.strided(&[usize::MAX, 2], 0).is_err());
    // Also where no step is taken: C has signed strides.
    let memory = device.alloc::<u8>(16).unwrap();
    let row = AnyTensor::over(memory, DataType::F32, [1, 4]).unwrap();
    assert!(row.strided(&[usize::MAX, 1], 0).is_err() && row.strided(&[4, 1], 0).is_ok());
    // Nor do views of nothing begin beyond what a number can say.
    let nothing = AnyTensor::over(device.alloc::<u8>(4).unwrap(), DataType::F32, [0, 4]).unwrap();
    assert!(nothing.strided(&[1, usize::MAX / 3], 0).is_err());
    let far = nothing.strided(&[1, usize::MAX / 8], 1).unwrap().typed::<f32>().unwrap();
    assert!(far.narrow(1, 4..4).unwrap().to_vec().unwrap().is_empty());
}

#[test]
fn operators_by_name_are_captured_and_keep_their_memory() {
    let device = device();
    let s = device.stream().unwrap();
    let mut out = device.zeros::<f32>([2]).unwrap();
    let x = device.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
    let memory = x.clone();
    let mut graph = s
        .capture(CaptureMode::ThreadLocal, |s| {
            aclnn::exp(s, &AnyTensor::from(x), &mut out)?;
            aclnn::log(s, &out.clone(), &mut out)
        })
        .unwrap();
    assert_eq!(out.to_vec().unwrap(), [0.0; 2]);
    drop(memory);
    graph.launch(&s).unwrap();
    let out = out.to_vec().unwrap();
    assert!((out[0] - 1.0).abs() < 1e-6 && (out[1] - 2.0).abs() < 1e-6, "{out:?}");
}
