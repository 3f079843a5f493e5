//! Host outputs of one run, apart from the executable.

use std::ffi::c_void;
use std::sync::Arc;

use racl::op::ElementType;
use racl::plan::{HostOutputs, OutputId};

use crate::arguments::{Out, bytes_mut};
use crate::cancel::Uncancelled;
use crate::executable::output;
use crate::failure::guard;
use crate::handles::{alone, free};
use crate::objects::{racl_executable, racl_host_outputs};
use crate::results::{answer, answer_list, make};

/// What a run brought to the host, with the outputs of the executable by number.
pub(crate) struct Taken {
    pub(crate) value: HostOutputs,
    pub(crate) outputs: Arc<[OutputId]>,
}

/// The host outputs of the latest run, to be read while later runs are under way, and when the executable is gone: of a
/// plan with racl_builder_output_to_host(), and with 2 `host_output_buffers` or more in racl_run_options. Does not wait.
/// racl_executable_read_host() has nothing to read until the next run. One thread at a time uses them: others get
/// RACL_BUSY. RACL_INVALID_ARGUMENT with fewer buffers, without a run that succeeded as far as is known, and when they were
/// taken already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_take_host_outputs(
    executable: *const racl_executable,
    outputs: *mut *mut racl_host_outputs,
) -> i32 {
    let work = || crate::executable::with(executable, |state, _| state.take());
    // SAFETY: by the header.
    unsafe { make(outputs, work) }
}

/// Whether reading would not wait: 1 or 0. Does not wait. A run that failed is ready, and reading says how it ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_host_outputs_is_ready(outputs: *const racl_host_outputs, is_ready: *mut i32) -> i32 {
    let work = || Ok(i32::from(alone(outputs)?.value.is_ready()?));
    // SAFETY: by the header.
    unsafe { answer(is_ready, "an answer", work) }
}

/// The type and shape of an output in that run, as racl_tensor_shape() gives them; `dtype` may be NULL. Does not wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_host_outputs_shape(
    outputs: *const racl_host_outputs,
    output: u32,
    shape: *mut usize,
    room: usize,
    rank: *mut usize,
    dtype: *mut i32,
) -> i32 {
    // SAFETY: by the header.
    let dtype = unsafe { Out::if_asked(dtype, 0, "a type") };
    let work = |places: &mut [usize]| {
        let dtype = dtype?;
        let taken = alone(outputs)?;
        let (of_type, sizes) = taken.value.form(self::output(&taken.outputs, output)?)?;
        places.iter_mut().zip(sizes.iter()).for_each(|(place, size)| *place = *size);
        if let Some(dtype) = dtype {
            dtype.set(ElementType::from(of_type).number());
        }
        Ok(sizes.len())
    };
    // SAFETY: by the header.
    unsafe { answer_list((shape, room), rank, ("a place for a shape", "a rank"), work) }
}

/// Waits for that run, not for later ones, and copies an output to `data`; `size` is that of the output. Gives the error of
/// the run. The library tells a failure once, and not of which run it is: those that were under way then are refused, but
/// for those that were read before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_host_outputs_read(
    outputs: *const racl_host_outputs,
    output: u32,
    data: *mut c_void,
    size: usize,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    guard(|| {
        let mut taken = alone(outputs)?;
        // SAFETY: by the header.
        let place = unsafe { bytes_mut(data, size, "a place for an output") }?;
        let output = self::output(&taken.outputs, output)?;
        Ok(taken.value.read_bytes(output, place)?)
    })
}

/// Gives the memory back to the executable, without a wait; a run that is given it waits for the copies.
#[unsafe(no_mangle)]
pub extern "C" fn racl_host_outputs_free(outputs: *mut racl_host_outputs) -> i32 {
    guard(|| free(outputs))
}
