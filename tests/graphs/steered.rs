//! Streams that start others, switches, labels and jumps.

use racl::{Comparison, Label, LabelList, Tensor, op};

use crate::common::mock;
use crate::{alone, build};

#[test]
fn a_switch_compares_two_numbers_of_each_width() {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let holds = [
        (Equal, [false, true, false]),
        (NotEqual, [true, false, true]),
        (Greater, [false, false, true]),
        (GreaterOrEqual, [false, true, true]),
        (Less, [true, false, false]),
        (LessOrEqual, [true, true, false]),
    ];
    alone(|context| {
        let stream = context.stream().unwrap();
        for (comparison, expected) in holds {
            let (mut narrow, mut wide) = (context.upload(&[0_i32]).unwrap(), context.upload(&[0_i64]).unwrap());
            let (zero, large) = (context.upload(&[0_i32]).unwrap(), context.upload(&[1_i64 << 40]).unwrap());
            let mut out = context.alloc_zeroed::<u8>(2).unwrap();
            let mut graph = build(context, |builder, first| {
                let (one, other) = (builder.stream("one")?, builder.stream("other")?);
                let (middle, end) = (context.label()?, context.label()?);
                first.fill_bytes(&mut out, 0)?;
                first.switch_if(&narrow, comparison, &zero, &one)?;
                first.set_label(&middle)?;
                first.switch_if(&wide, comparison, &large, &other)?;
                first.set_label(&end)?;
                one.fill_bytes(&mut out.slice_mut(..1)?, 1)?;
                one.jump(&middle)?;
                other.fill_bytes(&mut out.slice_mut(1..)?, 1)?;
                other.jump(&end)
            })
            .unwrap();
            for (difference, holds) in (-1..=1).zip(expected) {
                narrow.write(&[difference]).unwrap();
                wide.write(&[(1 << 40) + i64::from(difference)]).unwrap();
                graph.launch(&stream).unwrap();
                assert_eq!(out.to_vec().unwrap(), [u8::from(holds); 2], "{comparison:?} {difference}");
            }
        }
    });
}

#[test]
fn a_loop_runs_until_its_number_says_so() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let left = context.upload(&[0_i64]).unwrap().into_shared();
        let none = context.upload(&[0_i64]).unwrap();
        let mut sum = context.zeros::<i64>([1]).unwrap();
        let mut graph = build(context, |builder, first| {
            let body = builder.stream("body")?;
            let again = context.label()?;
            let mut number = racl::Tensor::over(left.clone(), [1])?;
            first.set_label(&again)?;
            first.switch_if(&left, Comparison::Greater, &none, &body)?;
            op::add_inplace(&body, &mut sum, &number)?;
            op::adds_inplace(&body, &mut number, -1_i64)?;
            body.jump(&again)
        })
        .unwrap();
        for rounds in [0, 1, 5, 100] {
            left.clone().write(&[rounds]).unwrap();
            op::fill(&stream, &mut sum, 0_i64).unwrap();
            graph.launch(&stream).unwrap();
            assert_eq!(sum.to_vec().unwrap(), [rounds * (rounds + 1) / 2]);
        }
    });
}

#[test]
fn a_number_chooses_among_labels_and_the_last_one_stands_for_all_others() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let mut index = context.upload(&[0_u32]).unwrap();
        let mut out = context.alloc_zeroed::<u8>(1).unwrap();
        let cases: Vec<Label> = (0..4).map(|_| context.label().unwrap()).collect();
        let end = context.label().unwrap();
        let list = LabelList::new(&cases).unwrap();
        assert_eq!(list.len(), 4);
        let mut graph = build(context, |builder, first| {
            first.jump_by(&list, &index)?;
            first.set_label(&end)?;
            let other = builder.stream("cases")?;
            for (case, value) in cases.iter().zip(10..) {
                other.set_label(case)?;
                other.fill_bytes(&mut out, value)?;
                other.jump(&end)?;
            }
            Ok(())
        })
        .unwrap();
        drop((cases, list, end));
        for (number, expected) in [(0, 10), (3, 13), (1, 11), (4, 13), (u32::MAX, 13)] {
            index.write(&[number]).unwrap();
            graph.launch(&stream).unwrap();
            assert_eq!(out.to_vec().unwrap(), [expected], "{number}");
        }
    });
}

#[test]
fn a_stream_that_was_started_has_jumps_of_its_own() {
    alone(|context| {
        mock::check_races(mock::RaceCheck::Report);
        let stream = context.stream().unwrap();
        let (mut x, mut y) = (context.upload(&[0_u8]).unwrap(), context.upload(&[0_u8]).unwrap());
        let (mut number, two) = (context.upload(&[0_i32]).unwrap(), context.upload(&[2_i32]).unwrap());
        let mut graph = build(context, |builder, first| {
            let (side, branch) = (builder.stream("side")?, builder.stream("branch")?);
            let back = context.label()?;
            first.start(&side)?;
            first.fill_bytes(&mut x, 1)?;
            side.fill_bytes(&mut y, 1)?;
            side.switch_if(&number, Comparison::Less, &two, &branch)?;
            side.fill_bytes(&mut y, 2)?;
            side.set_label(&back)?;
            branch.fill_bytes(&mut y, 3)?;
            branch.jump(&back)
        })
        .unwrap();
        for (value, expected) in [(1, 3), (2, 2), (0, 3)] {
            number.write(&[value]).unwrap();
            graph.launch(&stream).unwrap();
            assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![1], vec![expected]));
        }
        let races = mock::races();
        mock::check_races(mock::RaceCheck::Off);
        assert!(races.is_empty(), "{races:?}");
    });
}

/// On a card an endless loop goes on; the mock gives up, and says so.
#[test]
fn an_endless_loop_is_ended_by_an_abort() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (one, two) = (context.upload(&[1_i32]).unwrap(), context.upload(&[2_i32]).unwrap());
        let mut graph = build(context, |builder, first| {
            let body = builder.stream("body")?;
            let again = context.label()?;
            first.set_label(&again)?;
            first.switch_if(&one, Comparison::Less, &two, &body)?;
            body.jump(&again)
        })
        .unwrap();
        mock::stand_still(true);
        graph.launch(&stream).unwrap();
        graph.abort().unwrap();
        mock::stand_still(false);
        assert_eq!(graph.wait().unwrap_err().kind(), racl::ErrorKind::Aborted);
    });
}

#[test]
fn memory_from_in_front_of_a_label_lasts_through_the_rounds_that_come_back_to_it() {
    alone(|context| {
        let stream = context.stream().unwrap();
        let (mut left, zero) = (context.upload_tensor(&[3_i64], [1]).unwrap(), context.upload(&[0_i64]).unwrap());
        let zeros = context.zeros::<f32>([8]).unwrap();
        let mut sum = context.zeros::<f32>([8]).unwrap();
        let mut b = context.build_graph().unwrap();
        let (first, other, again) = (b.first().clone(), b.stream("other").unwrap(), context.label().unwrap());
        let mut one = Tensor::over(first.alloc::<f32>(8).unwrap(), [8]).unwrap();
        op::adds(&first, &zeros, 1.0, &mut one).unwrap();
        first.set_label(&again).unwrap();
        op::add_inplace(&first, &mut sum, &one).unwrap();
        let address = one.address();
        drop(one);
        let mut temporary = Tensor::over(first.alloc::<f32>(8).unwrap(), [8]).unwrap();
        assert_ne!(temporary.address(), address);
        op::adds(&first, &zeros, 1000.0, &mut temporary).unwrap();
        let of_a_round = temporary.address();
        drop(temporary);
        let mut temporary = Tensor::over(first.alloc::<f32>(8).unwrap(), [8]).unwrap();
        assert_eq!(temporary.address(), of_a_round, "each round writes it before it reads it");
        op::adds(&first, &zeros, 2000.0, &mut temporary).unwrap();
        op::adds_inplace(&first, &mut left, -1_i64).unwrap();
        first.switch_if(&left.buffer().unwrap(), Comparison::Greater, &zero, &other).unwrap();
        other.jump(&again).unwrap();
        let mut graph = b.finish().unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!(sum.to_vec().unwrap(), [3.0; 8]);
    });
}
