//! Builders of plans: values, dimensions, views and outputs. Streams and events are in `builder_streams`, operators in
//! `record`.

use std::ffi::{c_char, c_void};

use racl::plan::{Dim, Input, OnMove, Options, Plan};

use crate::arguments::{Sized_, bytes, sized, text, whether};
use crate::failure::{Failure, Result, guard};
use crate::objects::{racl_builder, racl_plan};
use crate::recording::{Recording, data_type, end_own, issuing, racl_dim, racl_value, recording};
use crate::results::{answer, answer_list, make};

/// Given once, when an executable is made, and shared with it from then on.
pub const RACL_INPUT_FROZEN: i32 = 0;
/// Memory of the executable, written in place between runs.
pub const RACL_INPUT_STATIC: i32 = 1;
/// Bound for each run, and copied to memory of the executable.
pub const RACL_INPUT_COPIED: i32 = 2;
/// Bound for each run and used where it is; another graph is captured for each of its addresses.
pub const RACL_INPUT_TRACKED: i32 = 3;
/// The same, but a run with another address fails.
pub const RACL_INPUT_TRACKED_FAIL: i32 = 4;
/// Bound for each run and used where it is; operators that use it are updated inside the graph when it moves.
pub const RACL_INPUT_UPDATABLE: i32 = 5;
/// Host memory, uploaded by each run.
pub const RACL_INPUT_HOST: i32 = 6;

/// Streams as they were recorded.
pub const RACL_STREAMS_AS_RECORDED: i32 = 0;
/// One stream: scopes are refused.
pub const RACL_STREAMS_SINGLE: i32 = 1;
/// One stream: scopes are left out.
pub const RACL_STREAMS_COLLAPSED: i32 = 2;

/// How a plan is built.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_plan_options {
    /// sizeof(racl_plan_options).
    pub size: usize,
    /// RACL_STREAMS_...
    pub streams: i32,
    /// Prefetches of what was prefetched before are left out: 1 or 0.
    pub drop_repeated_prefetches: i32,
    /// Over so many streams, up to 1024, the work is spread; 0 to leave it where it was recorded.
    pub auto_streams: usize,
    /// The share of the L2 cache that one prefetch takes at most, above 0 and up to 1; 0 for no such limit.
    pub prefetch_cap: f64,
}

// SAFETY: numbers alone, the first of them a size.
unsafe impl Sized_ for racl_plan_options {
    const WHAT: &'static str = "racl_plan_options";
    const ZERO: Self = Self { size: 0, streams: 0, drop_repeated_prefetches: 0, auto_streams: 0, prefetch_cap: 0.0 };
}

/// # Safety
///
/// As [`sized`].
pub(crate) unsafe fn options(place: *const racl_plan_options) -> Result<Options> {
    let mut options = Options::new();
    // SAFETY: as here.
    let Some(given) = (unsafe { sized(place) })? else { return Ok(options) };
    options = match given.streams {
        RACL_STREAMS_AS_RECORDED => options,
        RACL_STREAMS_SINGLE => options.single_stream(),
        RACL_STREAMS_COLLAPSED => options.collapse_streams(),
        other => return Err(Failure::invalid(format!("{other} for the streams of a plan"))),
    };
    if given.auto_streams != 0 {
        options = options.auto_streams(given.auto_streams);
    }
    if given.prefetch_cap != 0.0 {
        options = options.prefetch_cap(given.prefetch_cap);
    }
    options.check()?;
    let drops = whether(given.drop_repeated_prefetches, "repeated prefetches are dropped")?;
    Ok(if drops { options.drop_repeated_prefetches() } else { options })
}

/// A builder, which records a plan; `options` may be NULL. Nothing of it needs a library or a device. One thread at a
/// time uses a builder: others get RACL_BUSY.
///
/// Whatever fails leaves the builder as it was. Errors, lints and dumps name work as "operator:N", the N-th from 0 on
/// of those that racl_builder_operators() counts, unless racl_builder_at() says more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_new(options: *const racl_plan_options, builder: *mut *mut racl_builder) -> i32 {
    let work = || {
        // SAFETY: by the header.
        let options = unsafe { self::options(options) }?;
        Ok(Recording::new(Plan::builder(options)))
    };
    // SAFETY: by the header.
    unsafe { make(builder, work) }
}

/// Gives the builder back, without a plan. RACL_BUSY for one that a function was lent, which ends with the call.
#[unsafe(no_mangle)]
pub extern "C" fn racl_builder_free(builder: *mut racl_builder) -> i32 {
    guard(|| if builder.is_null() { Ok(()) } else { end_own(builder, drop) })
}

/// Checks what was recorded, joins what is still apart, and gives the plan. The handle of the builder is gone then,
/// also when the plan is refused: RACL_INVALID_PLAN, and racl_last_errors() has all that is wrong. It stays with a bad place
/// for the plan or none for its handle (RACL_NO_HANDLES). RACL_BUSY for one that a function was lent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_build(builder: *mut racl_builder, plan: *mut *mut racl_plan) -> i32 {
    let work = || {
        let mut built = None;
        end_own(builder, |recording| built = Some(recording.finish()))?;
        built.unwrap_or_else(|| Err(Failure::invalid("a builder that is gone")))
    };
    // SAFETY: by the header.
    unsafe { make(plan, work) }
}

/// Says where what follows was written, such as __FILE__ and __LINE__: errors, lints and dumps name it then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_at(builder: *const racl_builder, file: *const c_char, line: u32) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            recording.builder.set_place(unsafe { text(file, "the name of a file") }?, line);
            recording.is_placed = true;
            Ok(())
        })
    })
}

/// How much work was recorded: operators, what finds something, copies, fills, prefetches, foreign operators, host
/// functions, calls, choices and loops, each as one. It is the number in errors of what comes next.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_operators(builder: *const racl_builder, count: *mut u32) -> i32 {
    let work = || recording(builder, |recording| Ok(recording.operators));
    // SAFETY: by the header.
    unsafe { answer(count, "a count", work) }
}

/// A dimension that gets its value at each run, between these bounds: that of the inputs that have it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_symbol(
    builder: *const racl_builder,
    name: *const c_char,
    least: usize,
    most: usize,
    dim: *mut racl_dim,
) -> i32 {
    let work = || {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let symbol = recording.builder.symbol(unsafe { text(name, "the name of a symbol") }?, least..=most)?;
            Ok(recording.add_dim(symbol))
        })
    };
    // SAFETY: by the header.
    unsafe { answer(dim, "a dimension", work) }
}

/// A number that each run gives with racl_bindings_symbol(), for RACL_ARG_DIM. It is no size of a value: operators that
/// are told it are replaced inside the graph when it is another one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_number(
    builder: *const racl_builder,
    name: *const c_char,
    least: usize,
    most: usize,
    dim: *mut racl_dim,
) -> i32 {
    let work = || {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let number = recording.builder.number(unsafe { text(name, "the name of a number") }?, least..=most)?;
            Ok(recording.add_dim(number))
        })
    };
    // SAFETY: by the header.
    unsafe { answer(dim, "a dimension", work) }
}

/// # Safety
///
/// As [`answer`].
unsafe fn combined(
    builder: *const racl_builder,
    (a, b): (racl_dim, racl_dim),
    dim: *mut racl_dim,
    how: impl FnOnce(Dim, Dim) -> Dim,
) -> i32 {
    let work = || {
        recording(builder, |recording| {
            let (a, b) = (recording.dim(a)?, recording.dim(b)?);
            Ok(recording.add_dim(how(a, b)))
        })
    };
    // SAFETY: as here.
    unsafe { answer(dim, "a dimension", work) }
}

/// The sum of two dimensions. What plans cannot express, such as a sum of two symbols, is refused where it is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_dim_plus(
    builder: *const racl_builder,
    a: racl_dim,
    b: racl_dim,
    dim: *mut racl_dim,
) -> i32 {
    // SAFETY: by the header.
    unsafe { combined(builder, (a, b), dim, |a, b| a + b) }
}

/// The product of two dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_dim_times(
    builder: *const racl_builder,
    a: racl_dim,
    b: racl_dim,
    dim: *mut racl_dim,
) -> i32 {
    // SAFETY: by the header.
    unsafe { combined(builder, (a, b), dim, |a, b| a * b) }
}

/// Gives a value that work on a builder makes.
///
/// # Safety
///
/// As [`answer`].
unsafe fn valued(
    builder: *const racl_builder,
    value: *mut racl_value,
    work: impl FnOnce(&Recording) -> Result<racl::plan::Value>,
) -> i32 {
    let work = || {
        recording(builder, |recording| {
            let made = work(recording)?;
            Ok(recording.add(made))
        })
    };
    // SAFETY: as here.
    unsafe { answer(value, "a value", work) }
}

fn class(number: i32) -> Result<Input> {
    Ok(match number {
        RACL_INPUT_FROZEN => Input::Frozen,
        RACL_INPUT_STATIC => Input::Static,
        RACL_INPUT_COPIED => Input::Copied,
        RACL_INPUT_TRACKED => Input::Tracked(OnMove::Recapture),
        RACL_INPUT_TRACKED_FAIL => Input::Tracked(OnMove::Fail),
        RACL_INPUT_UPDATABLE => Input::Updatable,
        RACL_INPUT_HOST => Input::Host,
        other => return Err(Failure::invalid(format!("{other} for the class of an input"))),
    })
}

/// An input: its name, the number of its aclDataType, RACL_TYPE_..., its shape and its class, RACL_INPUT_...
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_input(
    builder: *const racl_builder,
    name: *const c_char,
    dtype: i32,
    shape: *const racl_dim,
    rank: usize,
    input_class: i32,
    value: *mut racl_value,
) -> i32 {
    let work = |recording: &Recording| {
        // SAFETY: by the header.
        let name = unsafe { text(name, "the name of an input") }?;
        // SAFETY: by the header.
        let dims = unsafe { recording.dims(shape, rank) }?;
        Ok(recording.builder.input(name, dims, data_type(dtype)?, class(input_class)?)?)
    };
    // SAFETY: by the header.
    unsafe { valued(builder, value, work) }
}

/// Numbers that are part of the plan itself: `bytes` of them, which fill the shape. They are copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_constant(
    builder: *const racl_builder,
    dtype: i32,
    shape: *const racl_dim,
    rank: usize,
    data: *const c_void,
    size: usize,
    value: *mut racl_value,
) -> i32 {
    let work = |recording: &Recording| {
        // SAFETY: by the header.
        let dims = unsafe { recording.dims(shape, rank) }?;
        // SAFETY: by the header.
        let data = unsafe { bytes(data, size, "the numbers of a constant") }?;
        Ok(recording.builder.constant_bytes(data, dims, data_type(dtype)?)?)
    };
    // SAFETY: by the header.
    unsafe { valued(builder, value, work) }
}

/// Memory of the plan with undefined content, for operators to write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_empty(
    builder: *const racl_builder,
    dtype: i32,
    shape: *const racl_dim,
    rank: usize,
    value: *mut racl_value,
) -> i32 {
    let work = |recording: &Recording| {
        // SAFETY: by the header.
        let dims = unsafe { recording.dims(shape, rank) }?;
        Ok(recording.builder.empty(dims, data_type(dtype)?)?)
    };
    // SAFETY: by the header.
    unsafe { valued(builder, value, work) }
}

/// The same elements in another shape; no work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_reshape(
    builder: *const racl_builder,
    of: racl_value,
    shape: *const racl_dim,
    rank: usize,
    value: *mut racl_value,
) -> i32 {
    let work = |recording: &Recording| {
        // SAFETY: by the header.
        let dims = unsafe { recording.dims(shape, rank) }?;
        Ok(recording.builder.reshape(recording.value(of)?, dims)?)
    };
    // SAFETY: by the header.
    unsafe { valued(builder, value, work) }
}

/// The same elements with two dimensions, counted from 0, exchanged; no work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_transpose(
    builder: *const racl_builder,
    of: racl_value,
    a: usize,
    b: usize,
    value: *mut racl_value,
) -> i32 {
    let work = |recording: &Recording| Ok(recording.builder.transpose(recording.value(of)?, a, b)?);
    // SAFETY: by the header.
    unsafe { valued(builder, value, work) }
}

/// The elements from `start` to before `stop` of one dimension; no work.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_narrow(
    builder: *const racl_builder,
    of: racl_value,
    dim: usize,
    start: racl_dim,
    stop: racl_dim,
    value: *mut racl_value,
) -> i32 {
    let work = |recording: &Recording| {
        let range = recording.dim(start)?..recording.dim(stop)?;
        Ok(recording.builder.narrow(recording.value(of)?, dim, range)?)
    };
    // SAFETY: by the header.
    unsafe { valued(builder, value, work) }
}

/// The bytes from `start` to before `stop` of a value, as a value of bytes: what a foreign operator touches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_bytes(
    builder: *const racl_builder,
    of: racl_value,
    start: usize,
    stop: usize,
    value: *mut racl_value,
) -> i32 {
    let work = |recording: &Recording| Ok(recording.builder.bytes(recording.value(of)?, start..stop)?);
    // SAFETY: by the header.
    unsafe { valued(builder, value, work) }
}

/// The shape of a value, as racl_tensor_shape() gives that of a tensor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_value_shape(
    builder: *const racl_builder,
    value: racl_value,
    shape: *mut racl_dim,
    room: usize,
    rank: *mut usize,
) -> i32 {
    let work = |places: &mut [racl_dim]| {
        recording(builder, |recording| {
            let dims = recording.builder.dims(recording.value(value)?)?;
            places.iter_mut().zip(&dims).for_each(|(place, dim)| *place = recording.add_dim(*dim));
            Ok(dims.len())
        })
    };
    // SAFETY: by the header.
    unsafe { answer_list((shape, room), rank, ("a place for a shape", "a rank"), work) }
}

/// The aclDataType of a value, RACL_TYPE_...
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_value_dtype(
    builder: *const racl_builder,
    value: racl_value,
    dtype: *mut i32,
) -> i32 {
    let work = || {
        recording(builder, |recording| {
            let dtype = recording.builder.dtype(recording.value(value)?)?;
            Ok(racl::op::ElementType::from(dtype).number())
        })
    };
    // SAFETY: by the header.
    unsafe { answer(dtype, "a type", work) }
}

/// Makes a value an output. An input, a constant, a view and what is an output already is copied.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_output(
    builder: *const racl_builder,
    name: *const c_char,
    value: racl_value,
) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let name = unsafe { text(name, "the name of an output") }?;
            Ok(recording.builder.output(name, recording.value(value)?)?)
        })
    })
}

/// The same; each run also brings the output to the host, for racl_executable_read_host().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_output_to_host(
    builder: *const racl_builder,
    name: *const c_char,
    value: racl_value,
) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let name = unsafe { text(name, "the name of an output") }?;
            Ok(recording.builder.output_to_host(name, recording.value(value)?)?)
        })
    })
}

/// Copies a value to another one of its type and shape.
#[unsafe(no_mangle)]
pub extern "C" fn racl_builder_copy(builder: *const racl_builder, to: racl_value, from: racl_value) -> i32 {
    guard(|| {
        issuing(builder, |recording| Ok(recording.builder.copy(recording.value(from)?, recording.value(to)?)?))
    })
}

/// Sets every byte of a value.
#[unsafe(no_mangle)]
pub extern "C" fn racl_builder_fill(builder: *const racl_builder, value: racl_value, byte: u8) -> i32 {
    guard(|| issuing(builder, |recording| Ok(recording.builder.fill_bytes(recording.value(value)?, byte)?)))
}
