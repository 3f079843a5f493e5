//! Arguments that operators refuse: the kind, the C function and its code, and that nothing was queued.

use racl::op::{self, GeluForm, LayerNorm, RotaryForm};
use racl::{Device, ErrorKind, Result, Stream, Tensor};

use crate::common::device;

struct Case<'a> {
    device: &'a Device,
    stream: &'a Stream,
}

impl Case<'_> {
    fn zeros(&self, shape: &[usize]) -> Tensor<f32> {
        self.device.zeros(shape).unwrap()
    }

    #[track_caller]
    fn refused(&self, call: &str, result: Result<()>) {
        let error = result.expect_err(call);
        assert_eq!(error.kind(), ErrorKind::OperatorArgument, "{error}");
        assert_eq!(error.call(), Some(format!("{call}GetWorkspaceSize").as_str()), "{error}");
        assert_eq!(error.code(), Some(161_002), "{error}");
        assert!(error.library_message().is_some_and(|text| text.contains(call)), "{error:#}");
        assert!(self.stream.is_complete().unwrap(), "{call} queued something");
    }
}

fn with_case(test: impl FnOnce(&Case<'_>)) {
    let device = device();
    let stream = device.stream().unwrap();
    test(&Case { device: &device, stream: &stream });
    stream.synchronize().unwrap();
}

#[test]
fn shapes_that_do_not_broadcast_are_refused() {
    with_case(|c| {
        let (s, a, b) = (c.stream, c.zeros(&[2, 3]), c.zeros(&[2, 2]));
        let mut out = c.zeros(&[2, 3]);
        c.refused("aclnnAdd", op::add(s, &a, &b, &mut out));
        c.refused("aclnnAdd", op::add_scaled(s, &a, &b, 2.0, &mut out));
        c.refused("aclnnSub", op::sub(s, &a, &b, &mut out));
        c.refused("aclnnMul", op::mul(s, &a, &b, &mut out));
        c.refused("aclnnDiv", op::div(s, &a, &b, &mut out));
        c.refused("aclnnMaximum", op::maximum(s, &a, &b, &mut out));
        c.refused("aclnnInplaceAdd", op::add_inplace(s, &mut out, &b));
        c.refused("aclnnInplaceMul", op::mul_inplace(s, &mut out, &b));
        c.refused("aclnnInplaceCopy", op::copy(s, &b, &mut out));
        // The result of an operator in place keeps its shape.
        let mut small = c.zeros(&[3]);
        c.refused("aclnnInplaceAdd", op::add_inplace(s, &mut small, &a));
        c.refused("aclnnInplaceCopy", op::copy(s, &a, &mut small));
    });
}

#[test]
fn a_result_of_another_shape_is_refused() {
    with_case(|c| {
        let (s, a) = (c.stream, c.zeros(&[2, 3]));
        for shape in [&[3, 2][..], &[6], &[1, 2, 3]] {
            let mut out = c.zeros(shape);
            c.refused("aclnnAdd", op::add(s, &a, &a, &mut out));
            c.refused("aclnnAdds", op::adds(s, &a, 1.0, &mut out));
            c.refused("aclnnMuls", op::muls(s, &a, 1.0, &mut out));
            c.refused("aclnnDivs", op::divs(s, &a, 1.0, &mut out));
            c.refused("aclnnClampMin", op::clamp_min(s, &a, 1.0, &mut out));
            c.refused("aclnnAbs", op::abs(s, &a, &mut out));
            c.refused("aclnnSqrt", op::sqrt(s, &a, &mut out));
            c.refused("aclnnRsqrt", op::rsqrt(s, &a, &mut out));
            c.refused("aclnnTanh", op::tanh(s, &a, &mut out));
            c.refused("aclnnGeluV2", op::gelu(s, &a, GeluForm::Exact, &mut out));
            c.refused("aclnnGeluV2", op::gelu(s, &a, GeluForm::Tanh, &mut out));
            c.refused("aclnnSoftmax", op::softmax(s, &a, 0, &mut out));
            c.refused("aclnnCast", op::cast(s, &a, &mut out));
        }
    });
}

#[test]
fn dimensions_that_a_tensor_does_not_have_are_refused() {
    with_case(|c| {
        let (s, a) = (c.stream, c.zeros(&[2, 3]));
        let (mut same, mut one) = (c.zeros(&[2, 3]), c.zeros(&[2]));
        for dim in [2, -3, i64::MAX, i64::MIN] {
            c.refused("aclnnSoftmax", op::softmax(s, &a, dim, &mut same));
            c.refused("aclnnReduceSum", op::reduce_sum(s, &a, &[dim], false, &mut one));
            c.refused("aclnnMean", op::mean(s, &a, &[dim], false, &mut one));
            c.refused("aclnnPermute", op::permute(s, &a, &[0, dim], &mut same));
        }
        c.refused("aclnnReduceSum", op::reduce_sum(s, &a, &[1, -1], false, &mut one));
        c.refused("aclnnMean", op::mean(s, &a, &[1, 1], false, &mut one));
        c.refused("aclnnReduceSum", op::reduce_sum(s, &a, &[1], true, &mut one));
        c.refused("aclnnMean", op::mean(s, &a, &[0], false, &mut one));
        c.refused("aclnnPermute", op::permute(s, &a, &[0, 0], &mut same));
        c.refused("aclnnPermute", op::permute(s, &a, &[0], &mut same));
        c.refused("aclnnPermute", op::permute(s, &a, &[1, 0], &mut same));
    });
}

#[test]
fn products_whose_inner_dimensions_differ_are_refused() {
    with_case(|c| {
        let (s, a, b) = (c.stream, c.zeros(&[2, 3]), c.zeros(&[2, 2]));
        let mut out = c.zeros(&[2, 2]);
        c.refused("aclnnMatmul", op::matmul(s, &a, &b, &mut out));
        c.refused("aclnnMm", op::mm(s, &a, &b, &mut out));
        c.refused("aclnnAddmm", op::addmm(s, &b, &a, &b, &mut out));
        c.refused("aclnnMatmul", op::matmul(s, &b, &a, &mut out));
        let (vector, cube) = (c.zeros(&[2]), c.zeros(&[4, 2, 2]));
        c.refused("aclnnMm", op::mm(s, &vector, &b, &mut out));
        c.refused("aclnnBatchMatMul", op::batch_matmul(s, &b, &b, &mut out));
        let mut batch = c.zeros(&[4, 2, 2]);
        c.refused("aclnnBatchMatMul", op::batch_matmul(s, &cube, &c.zeros(&[3, 2, 2]), &mut batch));
        c.refused("aclnnMatmul", op::matmul(s, &cube, &c.zeros(&[3, 2, 2]), &mut batch));
        // A bias must broadcast to the product.
        c.refused("aclnnAddmm", op::addmm(s, &c.zeros(&[3]), &b, &b, &mut out));
        c.refused("aclnnAddmm", op::addmm(s, &cube, &b, &b, &mut out));
    });
}

#[test]
fn layer_norm_needs_parameters_of_the_last_dimensions() {
    with_case(|c| {
        let (s, a) = (c.stream, c.zeros(&[2, 3]));
        let (three, two) = (c.zeros(&[3]), c.zeros(&[2]));
        let mut out = c.zeros(&[2, 3]);
        let wrong = LayerNorm { weight: &two, bias: &two, eps: 1e-5 };
        c.refused("aclnnLayerNorm", op::layer_norm(s, &a, &wrong, &mut out));
        let mixed = LayerNorm { weight: &three, bias: &two, eps: 1e-5 };
        c.refused("aclnnLayerNorm", op::layer_norm(s, &a, &mixed, &mut out));
        let right = LayerNorm { weight: &three, bias: &three, eps: 1e-5 };
        c.refused("aclnnLayerNorm", op::layer_norm(s, &a, &right, &mut c.zeros(&[3, 2])));
    });
}

#[test]
fn embedding_needs_a_table_of_rows_and_a_result_that_fits() {
    with_case(|c| {
        let s = c.stream;
        let indices = c.device.upload_tensor(&[0_i64, 1], [2]).unwrap();
        let mut out = c.zeros(&[2, 3]);
        c.refused("aclnnEmbedding", op::embedding(s, &c.zeros(&[4]), &indices, &mut out));
        c.refused("aclnnEmbedding", op::embedding(s, &c.zeros(&[4, 2]), &indices, &mut out));
        c.refused("aclnnEmbedding", op::embedding(s, &c.zeros(&[4, 2, 3]), &indices, &mut out));
    });
}

#[test]
fn operators_of_decoders_need_shapes_that_fit() {
    with_case(|c| {
        let (s, a, mut out) = (c.stream, c.zeros(&[2, 4]), c.zeros(&[2, 4]));
        let mut scale = c.zeros(&[2, 1]);
        c.refused("aclnnRmsNorm", op::rms_norm(s, &a, &c.zeros(&[3]), 1e-5, &mut out, &mut scale));
        c.refused("aclnnRmsNorm", op::rms_norm(s, &a, &c.zeros(&[4]), 1e-5, &mut c.zeros(&[4, 2]), &mut scale));
        c.refused("aclnnRmsNorm", op::rms_norm(s, &a, &c.zeros(&[4]), 1e-5, &mut out, &mut c.zeros(&[3])));
        let form = RotaryForm::Halves;
        let (row, odd) = (c.zeros(&[1, 4]), c.zeros(&[2, 3]));
        let rotary = |a: &Tensor<f32>, cos: &Tensor<f32>, sin: &Tensor<f32>, out: &[usize]| {
            let result = op::rotary_embedding(s, a, cos, sin, form, &mut c.zeros(out));
            c.refused("aclnnRotaryPositionEmbedding", result);
        };
        rotary(&a, &row, &a, &[2, 4]);
        rotary(&a, &c.zeros(&[4]), &c.zeros(&[4]), &[2, 4]);
        rotary(&a, &row, &row, &[4, 2]);
        rotary(&odd, &c.zeros(&[1, 3]), &c.zeros(&[1, 3]), &[2, 3]);
        c.refused("aclnnSwiGlu", op::swiglu(s, &odd, -1, &mut c.zeros(&[2, 1])));
        c.refused("aclnnSwiGlu", op::swiglu(s, &a, 2, &mut c.zeros(&[2, 2])));
        c.refused("aclnnSwiGlu", op::swiglu(s, &a, 1, &mut c.zeros(&[1, 4])));
    });
}

#[test]
fn comparing_and_choosing_need_shapes_that_fit() {
    with_case(|c| {
        let (s, a, b) = (c.stream, c.zeros(&[2, 4]), c.zeros(&[2, 3]));
        let mut mark = c.device.zeros::<u8>([2, 4]).unwrap();
        c.refused("aclnnEqTensor", op::equal(s, &a, &b, &mut mark));
        c.refused("aclnnGtTensor", op::greater(s, &b, &b, &mut mark));
        let whole = c.device.zeros::<u8>([2, 4]).unwrap();
        c.refused("aclnnSWhere", op::select(s, &whole, &a, &b, &mut c.zeros(&[2, 4])));
        c.refused("aclnnSWhere", op::select(s, &whole, &a, &a, &mut c.zeros(&[4])));
        let mut places = c.device.zeros::<i64>([2]).unwrap();
        c.refused("aclnnArgMax", op::argmax(s, &a, 2, false, &mut places));
        c.refused("aclnnArgMax", op::argmax(s, &a, 1, true, &mut places));
        c.refused("aclnnArgMax", op::argmax(s, &a, 0, false, &mut places));
    });
}
