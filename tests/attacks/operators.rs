//! Operators with operands that do not fit, overlap, or are nobody's.

use racl::op::{self, aclnn};
use racl::{ErrorKind, Result, Tensor};

use crate::arena::{Arena, refused};

const WRONG: &[ErrorKind] =
    &[ErrorKind::OperatorArgument, ErrorKind::InvalidArgument, ErrorKind::Operator, ErrorKind::NotSupported];

/// An error that says why, or the right numbers.
#[track_caller]
fn right_or_refused(done: Result<()>, out: &Tensor<f32>, expected: &[f32]) {
    match done {
        Ok(()) => assert_eq!(out.to_vec().unwrap(), expected),
        Err(error) => drop(refused::<()>(Err(error), WRONG)),
    }
}

type Work<'a> = dyn Fn(&Tensor<f32>, &mut Tensor<f32>) -> Result<()> + 'a;

/// What such an operator leaves in its result is undefined; everything else stays as it was.
#[test]
fn results_over_their_own_operands() {
    let arena = Arena::new();
    let stream = arena.stream();
    let all = arena.context.upload_tensor(&[1.0_f32; 64], [8, 8]).unwrap();
    let (before, after) = (all.narrow(0, 0..2).unwrap(), all.narrow(0, 6..8).unwrap());
    let square = || all.narrow(0, 2..6).unwrap().narrow(1, 2..6).unwrap();
    let works: [&Work<'_>; 4] = [
        &|a, out| op::add(&stream, a, a, out),
        &|a, out| op::matmul(&stream, a, a, out),
        &|a, out| op::softmax(&stream, a, 0, out),
        &|a, out| op::copy(&stream, &a.transposed(0, 1)?, out),
    ];
    for work in works {
        let _ = work(&square(), &mut square());
        let _ = stream.synchronize();
        let _ = work(&square(), &mut square().transposed(0, 1).unwrap());
        let _ = stream.synchronize();
        assert_eq!((before.to_vec().unwrap(), after.to_vec().unwrap()), (vec![1.0; 16], vec![1.0; 16]));
    }
    drop((all, before, after, stream));
    arena.end();
}

#[test]
fn results_that_overlap_by_half() {
    let arena = Arena::new();
    let stream = arena.stream();
    let all = arena.context.upload_tensor(&[1.0_f32; 64], [64]).unwrap();
    let (a, mut out) = (all.narrow(0, 0..32).unwrap(), all.narrow(0, 16..48).unwrap());
    let _ = op::adds(&stream, &a, 1.0, &mut out);
    let _ = stream.synchronize();
    let seen = all.to_vec().unwrap();
    assert_eq!((&seen[..16], &seen[48..]), (&[1.0; 16][..], &[1.0; 16][..]));
    drop((all, a, out, stream));
    arena.end();
}

#[test]
fn shapes_that_do_not_fit() {
    let arena = Arena::new();
    let (context, stream) = (&arena.context, arena.stream());
    let t = |shape: &[usize]| context.zeros::<f32>(shape).unwrap();
    refused(op::add(&stream, &t(&[2, 3]), &t(&[3, 2]), &mut t(&[2, 3])), WRONG);
    refused(op::add(&stream, &t(&[2]), &t(&[2]), &mut t(&[3])), WRONG);
    refused(op::matmul(&stream, &t(&[2, 3]), &t(&[2, 3]), &mut t(&[2, 3])), WRONG);
    refused(op::matmul(&stream, &t(&[2, 3]), &t(&[3, 4]), &mut t(&[4, 2])), WRONG);
    refused(op::softmax(&stream, &t(&[2]), 1, &mut t(&[2])), WRONG);
    refused(op::softmax(&stream, &t(&[2]), i64::MIN, &mut t(&[2])), WRONG);
    refused(op::softmax(&stream, &t(&[2]), i64::MAX, &mut t(&[2])), WRONG);
    refused(op::permute(&stream, &t(&[2, 2]), &[0, 0], &mut t(&[2, 2])), WRONG);
    refused(op::permute(&stream, &t(&[2, 2]), &[0, 1, 2], &mut t(&[2, 2])), WRONG);
    refused(op::permute(&stream, &t(&[2, 2]), &[i64::MAX, 0], &mut t(&[2, 2])), WRONG);
    drop(stream);
    arena.end();
}

#[test]
fn indices_that_point_nowhere() {
    let arena = Arena::new();
    let (context, stream) = (&arena.context, arena.stream());
    let table = context.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [4, 1]).unwrap();
    for index in [4_i64, -5, i64::MAX, i64::MIN, 1 << 40] {
        let indices = context.upload_tensor(&[0, index], [2]).unwrap();
        let mut out = context.zeros::<f32>([2, 1]).unwrap();
        let done = op::embedding(&stream, &table, &indices, &mut out).and_then(|()| stream.synchronize());
        assert!(done.is_err(), "index {index} gave {:?}", out.to_vec());
        let _ = arena.context.synchronize();
    }
    let indices = context.upload_tensor(&[3_i64, 0], [2]).unwrap();
    let mut out = context.zeros::<f32>([2, 1]).unwrap();
    op::embedding(&stream, &table, &indices, &mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [4.0, 1.0]);
    drop((table, indices, out, stream));
    arena.end();
}

#[test]
fn operands_of_another_context_and_stream_of_another() {
    let arena = Arena::new();
    let other = arena.context.create_context().unwrap();
    let (here, there) = (arena.stream(), other.stream().unwrap());
    let a = arena.tensor(1.0);
    let b = other.upload_tensor(&[2.0_f32; 4], [4]).unwrap();
    let mut out = other.zeros::<f32>([4]).unwrap();
    // Contexts of one device share its memory.
    for stream in [&here, &there] {
        op::add(stream, &a, &b, &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap(), [3.0; 4]);
    }
    drop((here, there, a, b, out, other));
    arena.end();
}

#[test]
fn lists_that_are_empty_long_or_the_same() {
    let arena = Arena::new();
    let stream = arena.stream();
    let one = arena.tensor(1.0);
    let mut out = arena.tensor(0.0);
    refused(aclnn::cat(&stream, &[], 0, &mut out), WRONG);
    let many: Vec<&dyn op::Operand> = vec![&one; 2000];
    let mut long = arena.context.zeros::<f32>([8000]).unwrap();
    right_or_refused(aclnn::cat(&stream, &many, 0, &mut long), &long, &[1.0; 8000]);
    refused(aclnn::cat(&stream, &[&one, &one], 0, &mut out), WRONG);
    refused(aclnn::cat(&stream, &[&one, &one], 7, &mut long), WRONG);
    drop((one, out, long, stream));
    arena.end();
}

#[test]
fn numbers_that_are_none() {
    let arena = Arena::new();
    let stream = arena.stream();
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0];
    let a = arena.context.upload_tensor(&special, [4]).unwrap();
    let mut out = arena.tensor(0.0);
    op::adds(&stream, &a, f32::MAX, &mut out).unwrap();
    let seen = out.to_vec().unwrap();
    assert!(seen[0].is_nan() && seen[1] == f32::INFINITY && seen[2] == f32::NEG_INFINITY && seen[3] == f32::MAX);
    op::muls(&stream, &a, f32::NAN, &mut out).unwrap();
    assert!(out.to_vec().unwrap().iter().all(|number| number.is_nan()));
    op::softmax(&stream, &a, 0, &mut out).unwrap();
    assert!(out.to_vec().unwrap().iter().all(|number| number.is_nan()));
    drop((a, out, stream));
    arena.end();
}

#[test]
fn ten_thousand_signatures() {
    let arena = Arena::new();
    arena.context.set_operator_cache(16);
    let stream = arena.stream();
    for len in 1..1500 {
        let a = arena.context.upload_tensor(&vec![1.0_f32; len % 97 + 1], [len % 97 + 1]).unwrap();
        let mut out = arena.context.zeros::<f32>([len % 97 + 1]).unwrap();
        op::adds(&stream, &a, len as f32, &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap()[0], len as f32 + 1.0);
    }
    assert!(arena.context.operator_cache().signatures <= 16);
    drop(stream);
    arena.end();
}

#[test]
fn scalars_beyond_their_type() {
    let arena = Arena::new();
    let stream = arena.stream();
    let a = arena.context.upload_tensor(&[i32::MAX, i32::MIN, 0, -1], [4]).unwrap();
    let mut out = arena.context.zeros::<i32>([4]).unwrap();
    op::adds(&stream, &a, 1, &mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [i32::MIN, i32::MIN + 1, 1, 0]);
    op::muls(&stream, &a, -1, &mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [-i32::MAX, i32::MIN, 0, 1]);
    drop((a, out, stream));
    arena.end();
}
