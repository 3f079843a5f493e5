//! Kernels on several streams that use the same memory.

use crate::common::mock;
use racl::{op, untracked};

use crate::{add, alone, load, scale};

#[test]
fn launches_wait_for_other_streams_as_they_say() {
    alone(|context| {
        mock::stand_still(true);
        let (one, two) = (context.stream().unwrap(), context.stream().unwrap());
        let binary = load(context);
        let (sum, factor) = (binary.kernel("add").unwrap(), binary.kernel("scale").unwrap());
        let mut x = context.upload(&[1.0_f32]).unwrap();
        let mut out = context.alloc_zeroed(1).unwrap();
        [&one, &two].iter().for_each(|stream| mock::hold(stream).unwrap());
        scale(&factor, &one, &mut x, 3.0).unwrap();
        add(&sum, &two, &x, &x, &mut out).unwrap(); // reads what the first writes
        scale(&factor, &one, &mut x, 10.0).unwrap(); // overwrites what the second reads
        for stream in [&two, &one] {
            mock::release(stream).unwrap();
            mock::run_until_idle();
        }
        mock::stand_still(false);
        assert_eq!((out.to_vec().unwrap(), x.to_vec().unwrap()), (vec![6.0], vec![30.0]));
    });
}

#[test]
fn readers_do_not_wait_for_each_other() {
    alone(|context| {
        let (one, two) = (context.stream().unwrap(), context.stream().unwrap());
        let sum = load(context).kernel("add").unwrap();
        let x = context.upload(&[1.0_f32]).unwrap();
        let (mut left, mut right) = (context.alloc_zeroed(1).unwrap(), context.alloc_zeroed(1).unwrap());
        let before = mock::calls("aclrtStreamWaitEvent");
        add(&sum, &one, &x, &x, &mut left).unwrap();
        add(&sum, &two, &x, &x, &mut right).unwrap();
        assert_eq!(mock::calls("aclrtStreamWaitEvent"), before);
        assert_eq!((left.to_vec().unwrap(), right.to_vec().unwrap()), (vec![2.0], vec![2.0]));
    });
}

#[test]
fn variables_that_are_told_of_are_ordered_with_operators() {
    alone(|context| {
        let (one, two) = (context.stream().unwrap(), context.stream().unwrap());
        let binary = load(context);
        let mut counter = binary.global::<i32>("counter").unwrap();
        let seen = racl::Tensor::over(counter.clone(), [1]).unwrap();
        let mut out = context.zeros::<i32>([1]).unwrap();
        mock::hold(&one).unwrap();
        // SAFETY: a kernel without parameters that writes the variable that is told of.
        unsafe { binary.kernel("count").unwrap().launch(&one).also_writes(&mut counter).submit() }.unwrap();
        op::add(&two, &seen, &seen, &mut out).unwrap();
        assert!(!two.is_complete().unwrap(), "behind the kernel");
        mock::release(&one).unwrap();
        assert_eq!(out.to_vec().unwrap(), [82]);
    });
}

#[test]
fn without_tracking_events_order_launches() {
    alone(|context| {
        let (one, two) = (context.stream().unwrap(), context.stream().unwrap());
        let factor = load(context).kernel("scale").unwrap();
        let mut x = context.upload(&[1.0_f32]).unwrap();
        untracked(|| {
            scale(&factor, &one, &mut x, 2.0)?;
            one.fork(&two)?;
            scale(&factor, &two, &mut x, 5.0)
        })
        .unwrap();
        assert_eq!(x.to_vec().unwrap(), [10.0]);
    });
}
