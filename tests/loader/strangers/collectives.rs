//! Memory, streams and cards of one library with a communicator of the other.

use racl::collective::{Communicator, Group, Reduction};
use racl::{Device, DeviceBuffer};

use super::both_ways;

/// The only rank of its communicator.
fn alone(device: &Device) -> Communicator {
    Communicator::all(&[device]).unwrap().remove(0)
}

fn numbers(device: &Device) -> DeviceBuffer<f32> {
    device.upload(&[1.0_f32; 4]).unwrap()
}

#[test]
fn what_is_sent_and_received() {
    both_ways(|two, own, other| {
        let (ranks, stream) = (alone(own), own.stream().unwrap());
        let (mut near, mut far, sum) = (numbers(own), numbers(other), Reduction::Sum);
        let mut out = own.alloc_zeroed::<f32>(4).unwrap();
        let tensor = other.zeros::<f32>([4]).unwrap();
        let whole = 0..4;
        let all = std::slice::from_ref(&whole);
        for refused in [
            ranks.all_reduce(&stream, &far, &mut out, sum),
            ranks.all_reduce(&stream, &tensor, &mut out, sum),
            ranks.all_reduce(&stream, &near, &mut far, sum),
            ranks.all_reduce_in_place(&stream, &mut far, sum),
            ranks.reduce(&stream, &far, &mut out, sum, 0),
            ranks.reduce(&stream, &near, &mut far, sum, 0),
            ranks.broadcast(&stream, &mut far, 0),
            ranks.scatter(&stream, Some(&far), &mut out, 0),
            ranks.scatter(&stream, Some(&near), &mut far, 0),
            ranks.all_gather(&stream, &far, &mut out),
            ranks.all_gather(&stream, &near, &mut far),
            ranks.reduce_scatter(&stream, &far, &mut out, sum),
            ranks.reduce_scatter(&stream, &near, &mut far, sum),
            ranks.all_to_all(&stream, &far, &mut out),
            ranks.all_to_all(&stream, &near, &mut far),
            ranks.all_gather_v(&stream, &far, &mut out, all),
            ranks.all_gather_v(&stream, &near, &mut far, all),
            ranks.reduce_scatter_v(&stream, &far, &mut out, all, sum),
            ranks.reduce_scatter_v(&stream, &near, &mut far, all, sum),
            ranks.all_to_all_v(&stream, &far, all, &mut out, all),
            ranks.all_to_all_v(&stream, &near, all, &mut far, all),
            ranks.all_to_all_vc(&stream, &far, &mut out, &[4]),
            ranks.all_to_all_vc(&stream, &near, &mut far, &[4]),
            ranks.send(&stream, &far, 0),
            ranks.receive(&stream, &mut far, 0),
        ] {
            two.refuses_some("memory", refused);
        }
        let mut batch = ranks.batch(&stream);
        two.refuses_some("memory", batch.send(&far, 0).map(drop));
        drop(batch);
        two.refuses_some("memory", ranks.batch(&stream).receive(&mut far, 0).map(drop));
        ranks.all_reduce_in_place(&stream, &mut near, sum).unwrap();
        assert_eq!((near.to_vec().unwrap(), far.to_vec().unwrap()), (vec![1.0; 4], vec![1.0; 4]));
        assert_eq!(out.to_vec().unwrap(), [0.0; 4]);
    });
}

#[test]
fn streams_groups_and_cards() {
    both_ways(|two, own, other| {
        let (ranks, foreign) = (alone(own), alone(other));
        let (stream, elsewhere) = (own.stream().unwrap(), other.stream().unwrap());
        let mut far = numbers(other);
        two.refuses_some("a communicator", ranks.barrier(&elsewhere));
        two.refuses_some("a communicator", ranks.all_reduce_in_place(&elsewhere, &mut far, Reduction::Sum));
        let mut group = Group::new();
        two.refuses_some("memory", group.send(&ranks, &stream, &far, 0).map(drop));
        drop(group);
        two.refuses_some("a context", Communicator::all(&[own, other]));
        ranks.barrier(&stream).unwrap();
        foreign.barrier(&elsewhere).unwrap();
    });
}
