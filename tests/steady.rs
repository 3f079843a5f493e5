//! What runs again and again allocates nothing on the host. A binary of its own: its allocator counts.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::mock;
use racl::op::DataType::F32;
use racl::plan::{Frozen, Input, Plan};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: each call is passed on as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn launches_of_kernels_allocate_nothing() {
    let _alone = mock::exclusive();
    let device = common::device();
    let stream = device.stream().unwrap();
    // SAFETY: kernels of this repository, or no kernels at all.
    let binary = unsafe { device.context().load_kernels(common::compiled_kernels("sample")) }.unwrap();
    let add = binary.kernel("add").unwrap();
    let (a, b) = (device.upload(&[1.0_f32; 16]).unwrap(), device.upload(&[2.0_f32; 16]).unwrap());
    let mut out = device.alloc_zeroed::<f32>(16).unwrap();
    // The mock's own allocations are no Rust ones.
    let mut launch = || {
        let launch = add.launch(&stream).blocks(2).arg(&a).arg(&b).arg(&mut out).arg(16_u64);
        // SAFETY: the parameters of `add`, with as many elements.
        unsafe { launch.submit() }.unwrap();
    };
    (0..16).for_each(|_| launch());
    let before = COUNT.get();
    (0..100).for_each(|_| launch());
    assert_eq!(COUNT.get() - before, 0, "allocations in 100 launches");
    assert_eq!(out.to_vec().unwrap(), [3.0; 16]);
}

#[test]
fn runs_with_host_inputs_and_outputs_allocate_nothing() {
    let _alone = mock::exclusive();
    let plan = Plan::build(|g| {
        let x = g.input("x", [64], F32, Input::Host)?;
        let y = g.muls(x, 2.0)?;
        g.output_to_host("y", y)
    });
    let device = common::device();
    let stream = device.stream().unwrap();
    let mut exe = plan.unwrap().capture(&device, Frozen::new()).unwrap();
    let (x, y, mut bind) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
    let (mut data, mut out) = ([0.0_f32; 64], [0.0_f32; 64]);
    let mut run = |turn: u16| {
        data.fill(f32::from(turn));
        exe.run(&stream, bind.host(x, &data, [64])).unwrap();
        exe.host_output_into(y, &mut out).unwrap();
        assert_eq!(out, [2.0 * f32::from(turn); 64]);
    };
    // Until each place for host memory was used.
    (0..16).for_each(&mut run);
    let before = COUNT.get();
    (16..116).for_each(&mut run);
    assert_eq!(COUNT.get() - before, 0, "allocations in 100 runs");
}
