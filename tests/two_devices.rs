//! Objects of one device used on another. One test, because it sets the number of devices for its process.

mod common;

use common::assert_says;
use racl::{Acl, CaptureMode, ErrorKind, Prefetch, op};

#[test]
fn memory_and_graphs_of_another_device_are_refused() {
    // SAFETY: the only test of this binary, and nothing else reads the environment while it is set.
    unsafe { std::env::set_var("MOCK_ACL_DEVICES", "2") };
    let acl = Acl::mock().unwrap();
    assert_eq!(acl.device_count().unwrap(), 2);
    let (zero, one) = (acl.device(0).unwrap(), acl.device(1).unwrap());
    let (here, there) = (zero.stream().unwrap(), one.stream().unwrap());

    let mut buffer = one.alloc::<u8>(64).unwrap();
    let parts = ["memory of device 1", "stream of device 0"];
    assert_says(&here.fill_bytes(&mut buffer, 1).unwrap_err(), ErrorKind::InvalidArgument, &parts);
    assert_says(&here.prefetch(&buffer, Prefetch::all()).unwrap_err(), ErrorKind::InvalidArgument, &parts);
    let pinned = zero.pinned::<u8>(64).unwrap();
    assert_says(&here.upload(pinned, &mut buffer).unwrap_err().error, ErrorKind::InvalidArgument, &parts);
    let (a, b) = (zero.zeros::<f32>([2]).unwrap(), one.zeros::<f32>([2]).unwrap());
    let mut out = zero.zeros::<f32>([2]).unwrap();
    assert_says(&op::add(&here, &a, &b, &mut out).unwrap_err(), ErrorKind::InvalidArgument, &parts);

    there.fill_bytes(&mut buffer, 7).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [7; 64]);

    let mut graph = there.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 8)).unwrap();
    assert_eq!(graph.launch(&here).unwrap_err().kind(), ErrorKind::WrongContext);
    graph.launch(&there).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [8; 64]);

    // A stream may wait for an event of another device.
    let event = one.event().unwrap();
    event.record(&there).unwrap();
    here.wait(&event).unwrap();
    here.synchronize().unwrap();
}
