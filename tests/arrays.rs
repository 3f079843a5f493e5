//! Tensors from and to arrays of ndarray: every layout that a view has, and shapes that do not fit.

mod common;

use common::{assert_says, device};
use racl::half::f16;
use racl::ndarray::{Array, Array1, Array2, ArrayD, ArrayView, Axis, Ix2, IxDyn, ShapeBuilder, arr0, array, s};
use racl::{CaptureMode, ErrorKind, op};

/// 0, 1, 2, …, the last dimension fastest.
fn counted(shape: &[usize]) -> ArrayD<i32> {
    let elements = shape.iter().product::<usize>() as i32;
    Array::from_shape_vec(IxDyn(shape), (0..elements).collect()).unwrap()
}

#[test]
fn elements_come_in_the_order_of_their_indices_whatever_the_layout() {
    let device = device();
    let whole = counted(&[3, 4, 5]);
    let by_columns = Array::from_shape_vec((2, 3).f(), vec![1, 2, 3, 4, 5, 6]).unwrap();
    let row = Array1::from_vec(vec![7, 8, 9]);
    let views: [ArrayView<'_, i32, IxDyn>; 8] = [
        whole.view(),
        whole.t(),
        whole.view().permuted_axes(IxDyn(&[1, 0, 2])),
        whole.slice(s![.., 1..3, ..;2]).into_dyn(),
        whole.slice(s![..;-1, .., 4..;-1]).into_dyn(),
        whole.index_axis(Axis(1), 2),
        by_columns.view().into_dyn(),
        row.broadcast(IxDyn(&[2, 3])).unwrap(),
    ];
    for view in views {
        let tensor = device.upload_array(&view).unwrap();
        assert_eq!(&tensor.shape()[..], view.shape());
        assert!(tensor.is_dense());
        // In logical order, which is that of an iterator.
        assert_eq!(tensor.to_vec().unwrap(), view.iter().copied().collect::<Vec<_>>());
        assert_eq!(tensor.to_array().unwrap(), view);
        let mut written = device.zeros::<i32>(view.shape()).unwrap();
        written.write_array(&view).unwrap();
        assert_eq!(written.to_array().unwrap(), view);
    }
}

#[test]
fn views_of_tensors_become_arrays_of_their_shape() {
    let device = device();
    let whole = counted(&[3, 4, 5]);
    let tensor = device.upload_array(&whole).unwrap();
    let part = tensor.transposed(0, 2).unwrap().narrow(1, 1..3).unwrap();
    assert_eq!(part.to_array().unwrap(), whole.t().slice(s![.., 1..3, ..]).into_dyn());
    // A dense part is written where it is.
    tensor.narrow(0, 1..2).unwrap().write_array(&Array::from_elem((1, 4, 5), -1)).unwrap();
    let mut expected = whole;
    expected.index_axis_mut(Axis(0), 1).fill(-1);
    assert_eq!(tensor.to_array().unwrap(), expected);
}

#[test]
fn a_number_and_the_most_dimensions_are_shapes_too() {
    let device = device();
    let number = device.upload_array(&arr0(2.5_f64)).unwrap();
    assert_eq!(number.shape().len(), 0);
    assert_eq!(number.to_array().unwrap(), arr0(2.5).into_dyn());
    let most = device.upload_array(&counted(&[1, 2, 1, 2, 1, 2, 1, 3])).unwrap();
    assert_eq!(most.to_array().unwrap(), counted(&[1, 2, 1, 2, 1, 2, 1, 3]));
    let error = device.upload_array(&counted(&[1; 9])).unwrap_err();
    assert_says(&error, ErrorKind::InvalidArgument, &["9", "dimensions"]);
    let halves = array![[f16::from_f32(0.5), f16::from_f32(-1.0)]];
    assert_eq!(device.upload_array(&halves).unwrap().to_array().unwrap(), halves.into_dyn());
}

#[test]
fn shapes_that_do_not_fit_are_named_and_nothing_is_written() {
    let device = device();
    assert_eq!(device.upload_array(&Array2::<f32>::zeros((0, 3))).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let mut tensor = device.upload_array(&array![[1, 2, 3], [4, 5, 6]]).unwrap();
    for shape in [&[6][..], &[3, 2], &[1, 2, 3], &[1, 3], &[]] {
        let error = tensor.write_array(&Array::from_elem(IxDyn(shape), 9)).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &[&format!("{shape:?}"), "[2, 3]"]);
    }
    let gaps = tensor.transposed(0, 1).unwrap().write_array(&array![[9, 9], [9, 9], [9, 9]]).unwrap_err();
    assert_says(&gaps, ErrorKind::InvalidArgument, &["dense"]);
    let left = tensor.to_array().unwrap().into_dimensionality::<Ix2>().unwrap();
    assert_eq!(left, array![[1, 2, 3], [4, 5, 6]]);
}

#[test]
fn a_view_that_repeats_more_than_there_is_memory_for_is_refused() {
    let device = device();
    let one = Array1::from_vec(vec![1.0_f64]);
    let error = device.upload_array(&one.broadcast(1 << 58).unwrap()).unwrap_err();
    assert_says(&error, ErrorKind::OutOfMemory, &["host", "288230376151711744 elements"]);
}

#[test]
fn copies_wait_for_work_on_the_memory() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut sum = device.upload_array(&Array2::from_elem((64, 64), 1.0_f32)).unwrap();
    let one = sum.clone();
    let mut expected = 1.0;
    for _ in 0..20 {
        let other = device.upload_array(&Array2::from_elem((64, 64), expected)).unwrap();
        op::add_inplace(&stream, &mut sum, &other).unwrap();
        expected += expected;
    }
    assert_eq!(one.to_array().unwrap(), Array2::from_elem((64, 64), expected).into_dyn());
    one.clone().write_array(&Array2::zeros((64, 64))).unwrap();
    op::add_inplace(&stream, &mut sum, &one).unwrap();
    assert_eq!(sum.to_array().unwrap(), Array2::<f32>::zeros((64, 64)).into_dyn());
}

#[test]
fn a_capture_refuses_them_as_other_copies_that_block() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut tensor = device.zeros::<f32>([2]).unwrap();
    let other = tensor.clone();
    let captured = stream.capture(CaptureMode::ThreadLocal, |s| {
        op::fill(s, &mut tensor, 1.0)?;
        let by_slice = other.to_vec().map(drop).map_err(|error| error.kind());
        assert_eq!(other.to_array().map(drop).map_err(|error| error.kind()), by_slice);
        Ok(())
    });
    drop(captured);
    assert_eq!(other.to_array().unwrap().len(), 2);
}
