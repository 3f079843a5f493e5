//! What runs of an executable are given.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use racl::op::MAX_RANK;
use racl::plan::{Bindings, InputId};

use crate::arguments::{bytes, list, text};
use crate::executable::input;
use crate::failure::{Failure, Result, guard};
use crate::handles::{alone, alone_here, free, get};
use crate::objects::{racl_bindings, racl_executable, racl_tensor};
use crate::recording::data_type;
use crate::results::make;

/// Bindings, with the inputs of their executable.
pub(crate) struct Binding {
    pub(crate) bindings: Bindings,
    inputs: Arc<[InputId]>,
}

/// Bindings of an executable, with nothing set: they are kept and used for run after run. One thread at a time uses
/// them. They keep the memory that is bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_bindings_new(
    executable: *const racl_executable,
    bindings: *mut *mut racl_bindings,
) -> i32 {
    let work = || {
        let executable = alone(executable)?;
        Ok(Binding { bindings: executable.state.executable.bindings(), inputs: Arc::clone(&executable.inputs) })
    };
    // SAFETY: by the header.
    unsafe { make(bindings, work) }
}

/// Does something with bindings, and tells its mistake at once.
fn bind(bindings: *const racl_bindings, work: impl FnOnce(&mut Bindings, &[InputId]) -> Result<()>) -> Result<()> {
    let mut binding = alone_here(bindings)?;
    let Binding { bindings, inputs } = &mut *binding;
    work(bindings, inputs)?;
    Ok(bindings.check()?)
}

/// Binds a dense tensor to an input. What was bound before stays when this fails.
#[unsafe(no_mangle)]
pub extern "C" fn racl_bindings_tensor(
    bindings: *const racl_bindings,
    number: u32,
    tensor: *const racl_tensor,
) -> i32 {
    guard(|| {
        let tensor = get(tensor)?;
        bind(bindings, |bindings, inputs| {
            bindings.set(input(inputs, number)?, &*tensor);
            Ok(())
        })
    })
}

/// Gives an input of the class RACL_INPUT_HOST: its aclDataType, its shape, and `size` bytes, which are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_bindings_host(
    bindings: *const racl_bindings,
    number: u32,
    dtype: i32,
    shape: *const usize,
    rank: usize,
    data: *const c_void,
    size: usize,
) -> i32 {
    guard(|| {
        bind(bindings, |bindings, inputs| {
            if rank > MAX_RANK {
                return Err(Failure::invalid(format!("{rank} dimensions, of at most {MAX_RANK}")));
            }
            // SAFETY: by the header.
            let shape = unsafe { list(shape, rank, "a shape") }?;
            // SAFETY: by the header.
            let data = unsafe { bytes(data, size, "an input") }?;
            bindings.host_bytes(input(inputs, number)?, data, data_type(dtype)?, shape);
            Ok(())
        })
    })
}

/// The value of a symbol that no input has, or of a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_bindings_symbol(
    bindings: *const racl_bindings,
    name: *const c_char,
    value: usize,
) -> i32 {
    guard(|| {
        bind(bindings, |bindings, _| {
            // SAFETY: by the header.
            bindings.symbol(unsafe { text(name, "the name of a symbol") }?, value);
            Ok(())
        })
    })
}

/// One more thing that captured graphs are kept by.
#[unsafe(no_mangle)]
pub extern "C" fn racl_bindings_key(bindings: *const racl_bindings, key: u64) -> i32 {
    guard(|| {
        bind(bindings, |bindings, _| {
            bindings.key(key);
            Ok(())
        })
    })
}

/// Gives the handle back.
#[unsafe(no_mangle)]
pub extern "C" fn racl_bindings_free(bindings: *mut racl_bindings) -> i32 {
    guard(|| free(bindings))
}
