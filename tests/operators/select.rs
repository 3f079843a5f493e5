//! Comparing and choosing.

use racl::half::{bf16, f16};
use racl::op::{self, Element, Index, Numeric};

use crate::common::device;
use crate::host::{Host, Value};
use crate::run;

#[test]
fn comparisons_give_one_and_zero_and_broadcast() {
    fn all<T: Value + Numeric>() {
        let device = device();
        let stream = device.stream().unwrap();
        // Few different numbers, so that many are equal.
        let few = |seed, shape: &[usize]| Host::random::<T>(seed, shape, -2.0, 3.0).map(f64::round);
        for (left, right) in [(&[7][..], &[7][..]), (&[3, 5], &[5]), (&[4, 1, 3], &[2, 1]), (&[600], &[1])] {
            let (a, b) = (few(1, left), few(2, right));
            let (da, db) = (a.upload::<T>(&device), b.upload::<T>(&device));
            let equal = a.zip(&b, |a, b| f64::from(a == b));
            let greater = a.zip(&b, |a, b| f64::from(a > b));
            let zeros = || device.zeros::<u8>(equal.shape.as_slice()).unwrap();
            let got = run(&stream, zeros, |s, out| op::equal(s, &da, &db, out));
            assert_eq!(got, equal.values.iter().map(|x| *x as u8).collect::<Vec<_>>());
            let got = run(&stream, zeros, |s, out| op::greater(s, &da, &db, out));
            assert_eq!(got, greater.values.iter().map(|x| *x as u8).collect::<Vec<_>>());
        }
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
    all::<i32>();
    all::<i64>();
}

#[test]
fn nan_equals_nothing_and_is_not_greater() {
    let device = device();
    let stream = device.stream().unwrap();
    let a = device.upload_tensor(&[f32::NAN, f32::INFINITY, 0.0], [3]).unwrap();
    let b = device.upload_tensor(&[f32::NAN, f32::INFINITY, -0.0], [3]).unwrap();
    let zeros = || device.zeros::<u8>([3]).unwrap();
    assert_eq!(run(&stream, zeros, |s, out| op::equal(s, &a, &b, out)), [0, 1, 1]);
    assert_eq!(run(&stream, zeros, |s, out| op::greater(s, &a, &b, out)), [0, 0, 0]);
}

#[test]
fn select_takes_from_either_and_broadcasts() {
    fn all<T: Value + Element>() {
        let device = device();
        let stream = device.stream().unwrap();
        let marks = [0_u8, 1, 255, 0, 2];
        let condition = device.upload_tensor(&marks, [5, 1]).unwrap();
        let (a, b) = (Host::random::<T>(1, &[1, 3], -50.0, 50.0), Host::random::<T>(2, &[5, 3], -50.0, 50.0));
        let (da, db) = (a.upload::<T>(&device), b.upload::<T>(&device));
        let want = Host::build(&[5, 3], |index| if marks[index[0]] == 0 { b.at(&index) } else { a.at(&index) });
        let got = run(&stream, || device.zeros([5, 3]).unwrap(), |s, out| op::select(s, &condition, &da, &db, out));
        want.assert_equal(&got);
        // In place, which is how a row is replaced: in rows that lie apart, too.
        let wide = || Host::build(&[5, 6], |index| b.at(&[index[0], index[1] % 3])).upload::<T>(&device);
        let inside = |whole: &racl::Tensor<T>| whole.narrow(1, 1..4).unwrap();
        let want = Host::build(&[5, 6], |index| {
            let replaced = marks[index[0]] != 0 && (1..4).contains(&index[1]);
            if replaced { a.at(&[0, index[1] - 1]) } else { b.at(&[index[0], index[1] % 3]) }
        });
        let got = run(&stream, wide, |s, whole| op::select(s, &condition, &da, &inside(whole), &mut inside(whole)));
        want.assert_equal(&got);
    }
    all::<f32>();
    all::<f16>();
    all::<bf16>();
    all::<i32>();
    all::<i64>();
    all::<f64>();
}

#[test]
fn argmax_gives_the_first_of_the_greatest() {
    fn all<T: Value + Numeric, I: Index + PartialEq<I> + TryFrom<usize>>()
    where
        <I as TryFrom<usize>>::Error: std::fmt::Debug,
    {
        let device = device();
        let stream = device.stream().unwrap();
        for (shape, dim, place) in [(&[9][..], 0, 0), (&[3, 70], -1, 1), (&[6, 4], 0, 0), (&[2, 5, 3], -2, 1)] {
            let a = Host::random::<T>(1, shape, -4.0, 4.0).map(f64::round);
            let mut left = shape.to_vec();
            left.remove(place);
            let mut kept = shape.to_vec();
            kept[place] = 1;
            let want: Vec<I> = crate::host::indices(&left)
                .map(|mut index| {
                    index.insert(place, 0);
                    let mut best = 0;
                    let mut at = |i| {
                        index[place] = i;
                        a.at(&index)
                    };
                    for i in 1..shape[place] {
                        if at(i) > at(best) {
                            best = i;
                        }
                    }
                    I::try_from(best).unwrap()
                })
                .collect();
            let da = a.upload::<T>(&device);
            for (keep, shape) in [(false, &left), (true, &kept)] {
                let zeros = || device.zeros::<I>(shape.as_slice()).unwrap();
                assert_eq!(run(&stream, zeros, |s, out| op::argmax(s, &da, dim, keep, out)), want);
            }
        }
    }
    all::<f32, i64>();
    all::<f16, i32>();
    all::<bf16, i64>();
    all::<i32, i32>();
    all::<i64, i64>();
}
