//! Kernels in Ascend C, whose one source the host's compiler takes with the mock's header.

use racl::{Context, ErrorKind, Kernel, KernelBinary};

use crate::alone;
use crate::common::{self, assert_says, compiled_ascendc, is_mock, mock, needs_mock};

/// Where the library is no built-in mock: the object file that its compiler made of `examples/kernels/axpy.cpp`.
const OBJECT: &str = "RACL_TEST_KERNEL";

fn load(context: &Context, source: &str) -> KernelBinary {
    let file = compiled_ascendc(source);
    // SAFETY: kernels of this repository, which do nothing when they are loaded.
    let kernels = unsafe { context.load_kernels(&file) }.unwrap();
    std::fs::remove_file(file).unwrap();
    kernels
}

fn axpy(context: &Context) -> Kernel {
    let kernels = match std::env::var_os(OBJECT) {
        _ if is_mock() => load(context, "examples/kernels/axpy.cpp"),
        // SAFETY: as above.
        Some(file) => unsafe { context.load_kernels(file) }.unwrap(),
        None => {
            needs_mock(&format!("{OBJECT} names no object file of examples/kernels/axpy.cpp"));
            unreachable!("it ends the test")
        }
    };
    kernels.kernel("axpy").unwrap()
}

/// The example's kernel: several blocks, of which some have nothing to do, parts that end within 32 bytes, and nothing
/// behind the last element.
#[test]
fn the_example_is_right_over_blocks_and_tails() {
    let _alone = mock::exclusive();
    let device = common::device();
    let (context, stream) = (device.context(), device.stream().unwrap());
    let axpy = axpy(context);
    for count in [1, 7, 8, 9, 63, 65, 4096, 4097, 20_003] {
        let x: Vec<f32> = (0..count).map(|i| i as f32).collect();
        let device_x = context.upload(&x).unwrap();
        for blocks in [1, 2, 3, 8, 40] {
            let mut y = context.upload(&vec![0.5_f32; count + 9]).unwrap();
            let launch = axpy.launch(&stream).blocks(blocks).arg(&device_x).arg(&mut y).arg(3.0_f32);
            // SAFETY: the parameters of axpy; both have `count` elements and more.
            unsafe { launch.arg(count as u32).submit() }.unwrap();
            let told = y.to_vec().unwrap();
            let want = x.iter().map(|x| 3.0 * x + 0.5).chain([0.5; 9]);
            assert!(told.iter().copied().eq(want), "{count} elements, {blocks} blocks");
        }
    }
}

#[test]
fn memory_that_is_not_there_fails_the_launch() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let axpy = load(context, "examples/kernels/axpy.cpp").kernel("axpy").unwrap();
        let (x, mut y) = (context.upload(&[1.0_f32; 8]).unwrap(), context.alloc_zeroed::<f32>(1 << 20).unwrap());
        let launch = axpy.launch(&stream).arg(&x).arg(&mut y).arg(1.0_f32).arg(1_u32 << 20);
        // SAFETY: the mock looks at each range, and refuses what is not there.
        unsafe { launch.submit() }.unwrap();
        assert_says(&stream.synchronize().unwrap_err(), ErrorKind::DeviceFault, &["507035"]);
    });
}

#[test]
fn each_operation_computes_what_its_name_says() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let operations = load(context, "mock-acl/tests/kernels/binaries/ascendc.cpp").kernel("operations").unwrap();
        let x = [-2.0_f32, -0.5, 0.0, 1.0, 2.5, 3.0, 4.0, 7.0];
        let y = [1.0_f32, 2.0, 4.0, 0.25, 3.5, 3.0, 9.0, 16.0];
        let mut out = context.alloc_zeroed::<f32>(17 * 8 + 1).unwrap();
        let (a, b) = (context.upload(&x).unwrap(), context.upload(&y).unwrap());
        // SAFETY: the parameters of `operations`.
        unsafe { operations.launch(&stream).arg(&a).arg(&b).arg(&mut out).arg(8_u32).submit() }.unwrap();
        let out = out.to_vec().unwrap();
        type Function = fn(f32, f32) -> f32;
        let functions: [Function; 16] = [
            |a, b| a + b,
            |a, b| a - b,
            |a, b| a * b,
            |a, b| a / b,
            f32::max,
            f32::min,
            |a, _| a + 3.0,
            |a, _| a * 3.0,
            |a, _| a.max(3.0),
            |a, _| a.min(3.0),
            |a, _| a.abs(),
            |a, _| a.max(0.0),
            |a, _| a.exp(),
            |_, b| b.sqrt(),
            |_, _| 3.0,
            |a, b| 2.0 * a + b,
        ];
        for (row, function) in functions.iter().enumerate() {
            for i in 0..8 {
                let (told, want) = (out[row * 8 + i], function(x[i], y[i]));
                assert!((told - want).abs() <= want.abs() * 1e-6, "row {row}, element {i}: {told}, not {want}");
            }
        }
        // Half of a buffer of 64, one element of x, and one behind the rows.
        assert_eq!(out[16 * 8..], [32.0, -0.5, 32.0, 32.0, 32.0, 32.0, 32.0, 32.0, 0.0]);
    });
}

#[test]
fn rows_are_copied_with_gaps_and_filled_up() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let rows = load(context, "mock-acl/tests/kernels/binaries/ascendc.cpp").kernel("rows").unwrap();
        let numbers: Vec<i32> = (0..40).collect();
        let x = context.upload(&numbers).unwrap();
        let run = |pad: u32| {
            let mut out = context.upload(&[99_i32; 40]).unwrap();
            let launch = rows.launch(&stream).arg(&x).arg(&mut out);
            // SAFETY: the parameters of `rows`: three of them have 15 numbers and 6 between them.
            unsafe { launch.arg(5_u32).arg(3_u32).arg(3_u32).arg(pad).submit() }.unwrap();
            out.to_vec().unwrap()
        };
        let three: Vec<i32> = (0..3).flat_map(|row| numbers[row * 8..row * 8 + 5].to_vec()).collect();
        let copied = run(0);
        assert_eq!(copied[..15], three);
        assert_eq!(copied[15..], [99; 25]);
        let filled = run(1);
        for row in 0..3 {
            let mut want = vec![-1];
            want.extend(&three[row * 5..row * 5 + 5]);
            want.extend([-1, -1]);
            assert_eq!(filled[row * 8..row * 8 + 8], want);
        }
        assert_eq!(filled[24..], [99; 16]);
    });
}

#[test]
fn what_a_core_may_not_do_fails_the_launch() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let kernels = load(context, "mock-acl/tests/kernels/binaries/ascendc.cpp");
        let wrong = kernels.kernel("wrong").unwrap();
        for how in 0..=17_u32 {
            let mut x = context.alloc_zeroed::<f32>(64).unwrap();
            // SAFETY: the parameters of `wrong`; what it does wrong the mock refuses.
            unsafe { wrong.launch(&stream).arg(&mut x).arg(how).submit() }.unwrap();
            let told = stream.synchronize();
            if how == 0 {
                told.unwrap();
                assert_eq!(x.to_vec().unwrap()[0], 7.0);
                continue;
            }
            assert_says(&told.unwrap_err(), ErrorKind::DeviceFault, &["507035"]);
            assert_eq!(x.to_vec().unwrap()[0], 0.0, "{how}: nothing is done behind what is wrong");
        }
        // SAFETY: takes nothing.
        unsafe { kernels.kernel("nothing").unwrap().launch(&stream).submit() }.unwrap();
        stream.synchronize().unwrap();
    });
}
