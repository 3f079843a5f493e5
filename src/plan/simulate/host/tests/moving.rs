//! Conversion, copies, fills, look-ups and reordering.

use crate::op::DataType::{self, Bf16, F16, F32, F64, I8, I16, I32, I64, U8};
use crate::op::{MAX_RANK, Shape};
use crate::plan::recipe::operator::Number;
use crate::plan::simulate::host::{HostLayout, HostView, compute};

use super::{Bench, LAYOUTS, Values, dense, made};

const ALL: [DataType; 9] = [F32, F16, Bf16, F64, I8, I16, I32, I64, U8];

#[test]
fn conversions_between_all_types_are_those_of_the_mock() {
    let mut bench = Bench::new(11);
    for from in ALL {
        for to in ALL {
            for kind in LAYOUTS {
                let a = bench.memory(from, &[3, 170], kind, Values::Wild);
                let out = bench.out(to, &[3, 170]);
                bench.compare(&made::cast(to), &[&a], &out);
                let row = bench.memory(from, &[170], kind, Values::Tame);
                bench.compare(&made::copy(), &[&row], &out);
            }
        }
    }
}

#[test]
fn every_half_converts_as_on_the_mock() {
    let bench = Bench::new(12);
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect();
    for from in [F16, Bf16] {
        let all = dense(from, &[1 << 16], bytes.clone());
        for to in ALL {
            bench.compare(&made::cast(to), &[&all], &dense(to, &[1 << 16], vec![0; to.size() << 16]));
        }
    }
}

#[test]
fn numbers_between_two_halves_round_as_on_the_mock() {
    let mut bench = Bench::new(13);
    // Around the middle of neighbouring halves, where rounding twice would show.
    let mut middles = Vec::new();
    for _ in 0..4000 {
        let low = bench.rng.u16(..0x7bff);
        let [low, high] = [low, low + 1].map(|bits| half::f16::from_bits(bits).to_f64());
        let middle = (low + high) / 2.0;
        let sign = if bench.rng.bool() { 1.0 } else { -1.0 };
        middles.extend([middle, middle.next_up(), middle.next_down()].map(|middle| sign * middle));
    }
    let n = middles.len();
    let wide = dense(F64, &[n], bytemuck::cast_slice(&middles).to_vec());
    let singles: Vec<f32> = middles.iter().map(|middle| *middle as f32).collect();
    let single = dense(F32, &[n], bytemuck::cast_slice(&singles).to_vec());
    for to in [F16, Bf16, F32] {
        for from in [&wide, &single] {
            bench.compare(&made::cast(to), &[from], &dense(to, &[n], vec![0; n * to.size()]));
        }
    }
}

#[test]
fn integers_between_two_halves_round_as_on_the_mock() {
    let mut bench = Bench::new(113);
    // Around the middle of neighbours of either type, where f32 has no room for what is beside it.
    let mut middles = Vec::new();
    for _ in 0..4000 {
        let (digits, shift) = ([7, 10][usize::from(bench.rng.bool())], bench.rng.u32(1..52));
        let low = 1_i64 << digits | bench.rng.i64(0..1 << digits);
        let middle = (2 * low + 1) << (shift - 1);
        let sign = if bench.rng.bool() { 1 } else { -1 };
        middles.extend([middle, middle + 1, middle - 1].map(|middle| sign * middle));
    }
    let narrow: Vec<i32> = middles.iter().filter_map(|middle| i32::try_from(*middle).ok()).collect();
    let wide = dense(I64, &[middles.len()], bytemuck::cast_slice(&middles).to_vec());
    let single = dense(I32, &[narrow.len()], bytemuck::cast_slice(&narrow).to_vec());
    for to in [F16, Bf16, F32] {
        for (from, n) in [(&wide, middles.len()), (&single, narrow.len())] {
            bench.compare(&made::cast(to), &[from], &dense(to, &[n], vec![0; n * to.size()]));
        }
    }
}

#[test]
fn fills_are_those_of_the_mock() {
    let mut bench = Bench::new(14);
    for dtype in ALL {
        for kind in &LAYOUTS[..3] {
            let out = bench.memory(dtype, &[3, 17], *kind, Values::Wild);
            bench.compare(&made::fill(dtype, 7), &[], &out);
            if dtype.is_floating() {
                for value in [0.1, -0.0, 65_519.999, 1e-7, f64::INFINITY] {
                    bench.compare(&made::fill(dtype, value), &[], &out);
                }
            }
        }
    }
}

#[test]
fn permutations_are_those_of_the_mock() {
    let mut bench = Bench::new(15);
    let orders: [&[u8]; 5] = [&[0], &[1, 0], &[2, 0, 1], &[1, 0, 2], &[3, 1, 0, 2]];
    for dtype in ALL {
        for order in orders {
            let dims = &[3, 8, 1, 17][..order.len()];
            let permuted: Vec<usize> = order.iter().map(|dim| dims[usize::from(*dim)]).collect();
            let operator = made::permute(order);
            for kind in LAYOUTS {
                let a = bench.memory(dtype, dims, kind, Values::Wild);
                let out = bench.out(dtype, &permuted);
                bench.compare(&operator, &[&a], &out);
            }
        }
    }
}

#[test]
fn look_ups_are_those_of_the_mock() {
    let mut bench = Bench::new(16);
    for dtype in ALL {
        for index in [I32, I64] {
            for kind in LAYOUTS {
                let table = bench.memory(dtype, &[10, 17], kind, Values::Wild);
                let mut indices = bench.memory(index, &[2, 3], kind, Values::Tame);
                let rows: Vec<u64> = (0..indices.len()).map(|_| bench.rng.u64(..10)).collect();
                let size = index.size();
                indices.bytes = rows.iter().flat_map(|row| row.to_le_bytes()[..size].to_vec()).collect();
                let out = bench.out(dtype, &[2, 3, 17]);
                bench.compare(&made::embedding(), &[&table, &indices], &out);
            }
        }
    }
}

#[test]
fn indices_outside_the_table_are_named() {
    let dims = |dims: &[usize]| Shape::new(dims).unwrap();
    let layout = |dtype, shape: Shape| HostLayout { dtype, dims: shape, strides: shape.dense_strides(), offset: 0 };
    let table = HostView { bytes: &[0; 24], layout: layout(F32, dims(&[3, 2])) };
    for wrong in [3_i64, -1, i64::MIN] {
        let bytes = [0, wrong].map(i64::to_ne_bytes).concat();
        let indices = HostView { bytes: &bytes, layout: layout(I64, dims(&[2])) };
        let error = compute(&made::embedding(), &[table, indices], &layout(F32, dims(&[2, 2]))).unwrap().unwrap_err();
        assert!(error.starts_with(&format!("index {wrong}, number 1, in a table of 3 rows")), "{error}");
    }
}

#[test]
fn views_that_leave_their_storage_or_do_not_fit_are_refused() {
    let dims = Shape::new(&[2, 2]).unwrap();
    let layout = HostLayout { dtype: F32, dims, strides: dims.dense_strides(), offset: 0 };
    let view = |bytes| HostView { bytes, layout };
    let (abs, whole) = (made::abs(), [view(&[0; 16])]);
    assert!(compute(&abs, &[view(&[0; 15])], &layout).unwrap().unwrap_err().contains("15 bytes"));
    assert!(compute(&abs, &whole, &layout).unwrap().is_ok());
    assert!(compute(&made::add(F32, Number::Int(1)), &whole, &layout).is_none());
    assert!(compute(&abs, &whole, &HostLayout { dtype: F16, ..layout }).is_none());
    let other = HostLayout { dims: Shape::new(&[4, 1]).unwrap(), ..layout };
    assert!(compute(&abs, &whole, &other).is_none());
    let far = HostLayout { strides: [usize::MAX; MAX_RANK], ..layout };
    assert!(far.write(&[0; 16], &mut [0; 16]).is_err());
    // A number of another type is the mock's to convert.
    let integers = HostLayout { dtype: I32, ..layout };
    for operator in made::with_number(F32, Number::Float(0.5)) {
        assert!(compute(&operator, &[HostView { bytes: &[0; 16], layout: integers }], &integers).is_none());
    }
}
