//! Kernels of the program's own, on libraries that can do less.

use racl::sys::Table;
use racl::{BinaryOptions, CaptureMode, ErrorKind};

use crate::common::{assert_says, compiled_kernels, skipped};
use crate::libraries;
use crate::load;

#[test]
fn a_library_that_loads_no_kernels_says_so() {
    if Table::load().is_ok() {
        return skipped("an installed toolkit has the functions that shall be missing");
    }
    let device = load(&libraries().without_kernels).unwrap().device(0).unwrap();
    let file = compiled_kernels("sample");
    // SAFETY: kernels of this repository, or no kernels at all.
    let error = unsafe { device.context().load_kernels(&file) }.unwrap_err();
    assert_says(&error, ErrorKind::MissingSymbol, &["aclrtBinaryLoadFromFile is not in"]);
    // SAFETY: kernels of this repository, or no kernels at all.
    let error = unsafe { device.context().load_kernels_from(&[1], BinaryOptions::new()) }.unwrap_err();
    assert_says(&error, ErrorKind::MissingSymbol, &["aclrtBinaryLoadFromData is not in"]);
}

#[test]
fn an_older_library_launches_with_lists_and_tells_nothing() {
    let older = Table::load().is_err();
    let device = load(&libraries().older_kernels).unwrap().device(0).unwrap();
    let stream = device.stream().unwrap();
    // SAFETY: kernels of this repository, or no kernels at all.
    let binary = unsafe { device.context().load_kernels(compiled_kernels("sample")) }.unwrap();
    let product = binary.kernel("matrix").unwrap();
    assert!(!older || product.parameters().is_none());
    let a = device.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let mut out = device.alloc_zeroed::<f32>(4).unwrap();
    let launch = |s: &racl::Stream, out: &mut racl::DeviceBuffer<f32>| {
        // SAFETY: the parameters of `matrix`, the last of which is the address of three sizes.
        unsafe { product.launch(s).blocks(2).arg(&a).arg(&a).arg(out).data(&[2_u32, 2, 2]).submit() }
    };
    launch(&stream, &mut out).unwrap();
    assert_eq!(out.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
    out.write(&[0.0; 4]).unwrap();
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| launch(s, &mut out)).unwrap();
    graph.launch(&stream).unwrap();
    assert_eq!(out.to_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
    let fails = binary.kernel("fail").unwrap();
    let fail = || {
        // SAFETY: the one parameter of `fail`.
        unsafe { fails.launch(&stream).arg(1_i32).submit() }.unwrap();
        let error = stream.synchronize().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeviceFault);
        error
    };
    let error = fail();
    assert!(!older || error.task_failure().is_none());
    // The one function of such a library is taken when the program says so.
    device.acl().hear_failures().unwrap();
    let error = fail();
    assert_eq!(error.task_failure().and_then(racl::TaskFailure::kernel), Some("fail"), "{error:#}");
    let set = device.acl().table().aclrtSetExceptionInfoCallback().unwrap();
    // SAFETY: null takes the function away, as other code may.
    assert_eq!(unsafe { set(None) }, 0);
    assert!(!older || fail().task_failure().is_none());
}
