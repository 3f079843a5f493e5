//! Memory and kernels of one library in launches of the other.

use racl::{CaptureMode, ErrorKind, KernelBinary, mock};

use super::both_ways;
use crate::common::compiled_kernels;

fn load(device: &racl::Device) -> KernelBinary {
    // SAFETY: kernels of this repository, or no kernels at all.
    unsafe { device.context().load_kernels(compiled_kernels("sample")) }.unwrap()
}

#[test]
fn arguments_of_launches() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let (binary, foreign) = (load(own), load(other));
        let (poke, count) = (binary.kernel("poke").unwrap(), binary.kernel("count").unwrap());
        let (mut near, mut far) = (own.alloc_zeroed::<u8>(64).unwrap(), other.alloc_zeroed::<u8>(64).unwrap());
        let (tensor, block) = (other.zeros::<f32>([2]).unwrap(), other.alloc_zeroed::<u8>(8).unwrap());
        let mut mapped = other.context().mapped::<u8>(1).unwrap();
        let global = foreign.global::<i32>("counter").unwrap();
        let shared = other.upload(&[0_u8]).unwrap().into_shared();
        let launches = [
            poke.launch(&stream).arg(&far),
            poke.launch(&stream).arg(&shared),
            poke.launch(&stream).arg(&tensor),
            poke.launch(&stream).arg(&mut mapped),
            poke.launch(&stream).arg(&global),
            poke.launch(&stream).arg(&near).also_reads(&far),
            poke.launch(&stream).args_in(&block),
        ];
        for launch in launches {
            // SAFETY: nothing is launched.
            two.refuses_some("memory", unsafe { launch.submit() });
        }
        // SAFETY: as above.
        two.refuses_some("memory", unsafe { poke.launch(&stream).arg(&mut far).submit() });
        // SAFETY: as above.
        two.refuses_some("memory", unsafe { count.launch(&stream).also_writes(&mut far).submit() });
        let elsewhere = foreign.kernel("poke").unwrap();
        // SAFETY: as above.
        two.refuses_some("a kernel", unsafe { elsewhere.launch(&stream).arg(&mut near).submit() });
        // SAFETY: the one parameter of `poke`, a byte that it writes.
        unsafe { poke.launch(&stream).arg(&mut near).submit() }.unwrap();
        assert_eq!((near.to_vec().unwrap()[0], far.to_vec().unwrap()[0]), (7, 0));
        assert_eq!(mapped.host().unwrap(), [0]);
    });
}

#[test]
fn launches_in_place_of_tasks_of_graphs() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let (binary, foreign) = (load(own), load(other));
        let (poke, elsewhere) = (binary.kernel("poke").unwrap(), foreign.kernel("poke").unwrap());
        let (mut near, mut far) = (own.alloc_zeroed::<u8>(64).unwrap(), other.alloc_zeroed::<u8>(64).unwrap());
        let block = other.alloc_zeroed::<u8>(8).unwrap();
        let mut graph = stream
            .capture(CaptureMode::ThreadLocal, |s| {
                // SAFETY: the one parameter of `poke`, a byte that it writes.
                unsafe { poke.launch(s).arg(&mut near).submit() }
            })
            .unwrap();
        let task = graph.tasks().unwrap().remove(0);
        let refused = graph.change(|change| {
            // SAFETY: nothing becomes of it.
            unsafe { poke.launch(&stream).arg(&mut far).replace(change, &task) }
        });
        two.refuses_some("memory", refused);
        let refused = graph.change(|change| {
            // SAFETY: as above.
            unsafe { poke.launch(&stream).args_in(&block).replace(change, &task) }
        });
        two.refuses_some("memory", refused);
        let refused = graph.change(|change| {
            // SAFETY: as above.
            unsafe { elsewhere.launch(&stream).arg(&mut near).replace(change, &task) }
        });
        two.refuses_some("kernel", refused);
        graph.launch(&stream).unwrap();
        graph.wait().unwrap();
        assert_eq!((near.to_vec().unwrap()[0], far.to_vec().unwrap()[0]), (7, 0));
    });
}

#[test]
fn a_capture_with_a_foreign_argument_gives_no_graph() {
    both_ways(|two, own, other| {
        let stream = own.stream().unwrap();
        let poke = load(own).kernel("poke").unwrap();
        let mut far = other.alloc_zeroed::<u8>(1).unwrap();
        let capture = stream.begin_capture(CaptureMode::ThreadLocal).unwrap();
        // SAFETY: nothing is launched.
        two.refuses_some("memory", unsafe { poke.launch(capture.stream()).arg(&mut far).submit() });
        assert_eq!(capture.finish().unwrap_err().kind(), ErrorKind::CaptureInvalidated);
        mock::run_until_idle();
        assert_eq!(far.to_vec().unwrap(), [0]);
    });
}
