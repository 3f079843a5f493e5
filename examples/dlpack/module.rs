//! A library that Python loads: it doubles tensors of NumPy and of PyTorch, whose memory it shares by DLPack. Built as a
//! shared library; `numpy_side.py` and `torch_side.py` beside this file call it.

use std::cell::RefCell;
use std::ffi::{CString, c_char};

use racl::dlpack::{DLDevice, DLManagedTensor, Managed};
use racl::op::{self, AnyTensor};
use racl::{Acl, Device, Result, Tensor};

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// The device that PyTorch uses too, where RACL_LIBRARY names the same library; else that of the mock.
fn device(number: i32) -> Result<Device> {
    Acl::init_or_mock()?.device(number)
}

fn doubled(device: &Device, tensor: &Tensor<f32>) -> Result<Tensor<f32>> {
    let stream = device.stream()?;
    let mut out = device.zeros::<f32>(*tensor.shape())?;
    op::add(&stream, tensor, tensor, &mut out)?;
    stream.synchronize()?;
    Ok(out)
}

fn double(tensor: Managed) -> Result<Managed> {
    let place = tensor.device();
    if place.device_type == DLDevice::CPU {
        let device = device(0)?;
        let shape: Vec<usize> = tensor.shape().iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
        let on_device = device.upload_tensor(&tensor.to_vec::<f32>()?, &shape[..])?;
        return Ok(Managed::from_vec(doubled(&device, &on_device)?.to_vec()?, &shape[..])?);
    }
    let device = device(place.device_id)?;
    let tensor: AnyTensor = tensor.into_tensor(&device)?;
    doubled(&device, &tensor.typed()?)?.to_dlpack()
}

/// Doubles a tensor of f32 of a capsule called `dltensor`, and ends it. Null when that fails; `example_message` says why.
///
/// # Safety
///
/// `tensor` is null or the pointer of such a capsule, and nobody else uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn example_double(tensor: *mut DLManagedTensor) -> *mut DLManagedTensor {
    // SAFETY: the caller's promise; what Python's frameworks put into capsules may be ended on any thread.
    let done = unsafe { Managed::from_raw_unversioned(tensor) }.and_then(double);
    match done {
        Ok(out) => out.into_raw_unversioned(),
        Err(error) => {
            let text = CString::new(format!("{error:#}")).unwrap_or_default();
            MESSAGE.with(|message| *message.borrow_mut() = text);
            std::ptr::null_mut()
        }
    }
}

/// The error of this thread's last call that failed; it is valid until the next one.
#[unsafe(no_mangle)]
pub extern "C" fn example_message() -> *const c_char {
    MESSAGE.with(|message| message.borrow().as_ptr())
}
