//! Conditional graphs: choices and loops that the device makes while a captured graph runs.

#[path = "../common/mod.rs"]
mod common;
mod kept;
mod random;
mod refused;

use common::device;
use racl::{CaptureMode, Condition, Device, DeviceBuffer, Graph, Result, SharedBuffer, Stream, Tensor, op};

fn capture(stream: &Stream, work: impl FnOnce(&Stream) -> Result<()>) -> Graph {
    stream.capture(CaptureMode::ThreadLocal, work).unwrap()
}

/// The number of a condition as a tensor.
fn number(condition: &Condition) -> Tensor<i64> {
    Tensor::over(condition.cell::<i64>().unwrap(), [1]).unwrap()
}

fn bytes(device: &Device, len: usize) -> SharedBuffer<u8> {
    device.alloc_zeroed::<u8>(len).unwrap().into_shared()
}

fn word(device: &Device, value: u64) -> DeviceBuffer<u64> {
    device.upload(&[value]).unwrap()
}

#[test]
fn a_choice_runs_one_of_two_bodies() {
    let device = device();
    let stream = device.stream().unwrap();
    let (mut wanted, out) = (word(&device, 0), bytes(&device, 2));
    let mut graph = capture(&stream, |s| {
        let condition = s.condition(None)?;
        s.copy(&wanted, &mut condition.cell()?)?;
        s.if_else(&condition, |s| s.fill_bytes(&mut out.slice(..1)?, 1), |s| s.fill_bytes(&mut out.slice(1..)?, 1))
    });
    for (value, expected) in [(1, [1, 0]), (0, [0, 1]), (u64::MAX, [1, 0]), (1 << 40, [1, 0])] {
        wanted.write(&[value]).unwrap();
        out.clone().write(&[0, 0]).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), expected, "{value}");
    }
}

#[test]
fn a_choice_of_one_body_runs_it_or_nothing() {
    let device = device();
    let stream = device.stream().unwrap();
    for (value, expected) in [(0, 0), (7, 1)] {
        let mut out = bytes(&device, 1);
        let mut graph = capture(&stream, |s| {
            let condition = s.condition(Some(value))?;
            s.if_then(&condition, |s| s.fill_bytes(&mut out, 1))
        });
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected]);
    }
}

#[test]
fn a_number_at_launch_holds_each_time_and_without_one_what_was_left_does() {
    let device = device();
    let stream = device.stream().unwrap();
    for (at_launch, expected) in [(Some(1), 3), (None, 0)] {
        let mut runs = device.zeros::<i64>([1]).unwrap();
        let mut graph = capture(&stream, |s| {
            let condition = s.condition(at_launch)?;
            s.if_then(&condition, |s| op::adds_inplace(s, &mut runs, 1_i64))?;
            op::fill(s, &mut number(&condition), 0_i64)
        });
        for _ in 0..3 {
            graph.launch(&stream).unwrap();
        }
        assert_eq!(runs.to_vec().unwrap(), [expected], "{at_launch:?}");
    }
    // Set behind the choice: 0 at the first launch, and 1 at all later ones.
    let mut runs = device.zeros::<i64>([1]).unwrap();
    let mut graph = capture(&stream, |s| {
        let condition = s.condition(None)?;
        s.if_then(&condition, |s| op::adds_inplace(s, &mut runs, 1_i64))?;
        op::fill(s, &mut number(&condition), 1_i64)
    });
    for _ in 0..3 {
        graph.launch(&stream).unwrap();
    }
    assert_eq!(runs.to_vec().unwrap(), [2]);
}

/// x = x + 1 until it is `limit`; what comes behind sees the last round.
#[test]
fn a_loop_goes_on_while_its_condition_is_not_0() {
    let device = device();
    let stream = device.stream().unwrap();
    for limit in [0_i64, 1, 5, 400] {
        let (mut left, mut rounds) =
            (device.upload_tensor(&[limit], [1]).unwrap(), device.zeros::<i64>([1]).unwrap());
        let mut after = device.zeros::<i64>([1]).unwrap();
        let mut graph = capture(&stream, |s| {
            let condition = s.condition(None)?;
            let mut number = number(&condition);
            op::copy(s, &left, &mut number)?;
            s.repeat_while(&condition, |s| {
                op::adds_inplace(s, &mut rounds, 1_i64)?;
                op::adds_inplace(s, &mut left, -1_i64)?;
                op::copy(s, &left, &mut number)
            })?;
            op::copy(s, &rounds, &mut after)
        });
        for _ in 0..2 {
            left.copy_from(&[limit]);
            graph.launch(&stream).unwrap();
            graph.wait().unwrap();
        }
        assert_eq!((rounds.to_vec().unwrap(), after.to_vec().unwrap()), (vec![2 * limit], vec![2 * limit]));
    }
}

/// Writes from the host.
trait CopyFrom {
    fn copy_from(&mut self, data: &[i64]);
}

impl CopyFrom for Tensor<i64> {
    fn copy_from(&mut self, data: &[i64]) {
        self.buffer().unwrap().write(data).unwrap();
    }
}

#[test]
fn a_switch_runs_the_case_of_its_number_and_none_for_others() {
    let device = device();
    let stream = device.stream().unwrap();
    let (mut wanted, out) = (word(&device, 0), bytes(&device, 3));
    let mut called = Vec::new();
    let mut graph = capture(&stream, |s| {
        let condition = s.condition(None)?;
        s.copy(&wanted, &mut condition.cell()?)?;
        s.switch(&condition, 3, |case, s| {
            called.push(case);
            s.fill_bytes(&mut out.slice(case..=case)?, 9)
        })
    });
    assert_eq!(called, [0, 1, 2]);
    for (value, expected) in [(2, [0, 0, 9]), (0, [9, 0, 0]), (1, [0, 9, 0]), (3, [0; 3]), (u64::MAX, [0; 3])] {
        wanted.write(&[value]).unwrap();
        out.clone().write(&[0; 3]).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), expected, "{value}");
    }
}

/// A comparison gives one byte; the others of the number are zero at each launch.
#[test]
fn a_truth_value_is_a_number() {
    let device = device();
    let stream = device.stream().unwrap();
    let x = device.upload_tensor(&[5.0_f32], [1]).unwrap();
    for (limit, expected) in [(4.0, 1), (6.0, 0)] {
        let mut out = bytes(&device, 1);
        let mut graph = capture(&stream, |s| {
            let condition = s.condition(Some(0))?;
            op::greater_than(s, &x, limit, &mut Tensor::over(condition.cell::<u8>()?, [1])?)?;
            s.if_then(&condition, |s| s.fill_bytes(&mut out, 1))
        });
        graph.launch(&stream).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected]);
    }
}

/// The condition of a loop is written by a body inside a body inside its own.
#[test]
fn bodies_have_conditions_and_side_streams_of_their_own() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut round = device.zeros::<i64>([1]).unwrap();
    let (mut odd, even) = (device.zeros::<i64>([1]).unwrap(), device.zeros::<i64>([1]).unwrap());
    let two = device.upload_tensor(&[0_i64, 1, 0, 1, 0, 1], [6]).unwrap();
    let mut graph = capture(&stream, |s| {
        let outer = s.condition(Some(1))?;
        let mut more = number(&outer);
        s.repeat_while(&outer, |s| {
            let inner = s.condition(Some(0))?;
            let parity = number(&inner);
            op::embedding(s, &two.reshaped([6, 1])?, &round, &mut parity.reshaped([1, 1])?)?;
            op::adds_inplace(s, &mut round, 1_i64)?;
            s.if_else(
                &inner,
                |s| {
                    let side = s.side("1")?;
                    s.fork(&side)?;
                    op::adds_inplace(&side, &mut odd, 1_i64)?;
                    s.join(&side)?;
                    let last = s.condition(Some(0))?;
                    op::adds(s, &round, -6_i64, &mut number(&last))?;
                    s.if_else(&last, |_| Ok(()), |s| op::fill(s, &mut more, 0_i64))
                },
                |s| {
                    let side = s.side("1")?;
                    s.fork(&side)?;
                    op::adds_inplace(&side, &mut even.clone(), 1_i64)?;
                    s.join(&side)
                },
            )
        })
    });
    graph.launch(&stream).unwrap();
    assert_eq!((odd.to_vec().unwrap(), even.to_vec().unwrap()), (vec![3], vec![3]));
    assert_eq!(round.to_vec().unwrap(), [6]);
}

#[test]
fn a_loop_that_does_not_end_is_an_error_on_the_mock() {
    let device = device();
    let stream = device.stream().unwrap();
    let mut out = bytes(&device, 1);
    let mut graph = capture(&stream, |s| {
        let condition = s.condition(Some(1))?;
        s.repeat_while(&condition, |s| s.fill_bytes(&mut out, 1))
    });
    graph.launch(&stream).unwrap();
    stream.synchronize().unwrap_err();
    assert_eq!(out.to_vec().unwrap(), [1]);
}
