//! Plans: what they are, as text and as bytes, and on the host.

use std::ffi::{c_char, c_void};

use racl::op::ElementType;
use racl::plan::{Plan, Simulated};

use crate::arguments::{Out, Sized_, bytes, fill, list, text};
use crate::callback::with_callbacks;
use crate::cancel::Uncancelled;
use crate::errors::of_findings;
use crate::failure::{Failure, guard};
use crate::handles::{free, get};
use crate::objects::{racl_errors, racl_plan, racl_registry, racl_simulation};
use crate::results::{Room, answer_bytes, answer_list, make, tell};

/// What is in a plan.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_plan_info {
    /// sizeof(racl_plan_info).
    pub size: usize,
    /// Operators, foreign ones, copies, also those with the host, fills, prefetches and host functions.
    pub operators: usize,
    /// Streams, that of the run included.
    pub streams: usize,
    /// Events.
    pub events: usize,
    /// What is worth a look: racl_plan_lints() has it.
    pub lints: usize,
    /// Whether sizes depend on symbols: 1 or 0.
    pub is_dynamic: i32,
}

// SAFETY: integers alone, the first of them a size.
unsafe impl Sized_ for racl_plan_info {
    const WHAT: &'static str = "racl_plan_info";
    const ZERO: Self = Self { size: 0, operators: 0, streams: 0, events: 0, lints: 0, is_dynamic: 0 };
}

/// Gives the handle back; executables keep the plan.
#[unsafe(no_mangle)]
pub extern "C" fn racl_plan_free(plan: *mut racl_plan) -> i32 {
    guard(|| free(plan))
}

/// What is in the plan. Set `size` of the struct first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_plan_describe(plan: *const racl_plan, info: *mut racl_plan_info) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        unsafe { fill(info, racl_plan_info::ZERO) }?;
        let plan = get(plan)?;
        let value = racl_plan_info {
            size: 0,
            operators: plan.operators(),
            streams: plan.streams(),
            events: plan.events(),
            lints: plan.lints().len(),
            is_dynamic: i32::from(plan.is_dynamic()),
        };
        // SAFETY: by the header.
        unsafe { fill(info, value) }
    })
}

/// What is worth a look, though the plan can run: RACL_OK for the status of each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_plan_lints(plan: *const racl_plan, lints: *mut *mut racl_errors) -> i32 {
    let work = || Ok(of_findings(get(plan)?.lints()));
    // SAFETY: by the header.
    unsafe { make(lints, work) }
}

/// Text, a line for each piece of work.
pub const RACL_DUMP_TEXT: i32 = 0;
/// The same, with the place in the source of each.
pub const RACL_DUMP_TEXT_WITH_LINES: i32 = 1;
/// A graph for Graphviz.
pub const RACL_DUMP_DOT: i32 = 2;
/// JSON, with the memory plan, for values of the symbols.
pub const RACL_DUMP_JSON: i32 = 3;

/// Copies what the plan is to `text`, of `size` bytes; `needed`, which may be NULL, gets the bytes that all of it
/// needs. `symbols` are the values of the plan's symbols, in the order in which they were made, for RACL_DUMP_JSON;
/// NULL and 0 otherwise.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_plan_dump(
    plan: *const racl_plan,
    format: i32,
    symbols: *const usize,
    symbol_count: usize,
    text: *mut c_char,
    size: usize,
    needed: *mut usize,
) -> i32 {
    let work = || {
        let plan = get(plan)?;
        // SAFETY: by the header.
        let symbols = unsafe { list(symbols, symbol_count, "values of symbols") }?;
        Ok(match format {
            RACL_DUMP_TEXT => plan.to_text(),
            RACL_DUMP_TEXT_WITH_LINES => plan.to_text_with_lines(),
            RACL_DUMP_DOT => plan.to_dot(),
            RACL_DUMP_JSON => plan.to_json(symbols)?,
            other => return Err(Failure::invalid(format!("{other} for the format of a dump"))),
        })
    };
    // SAFETY: by the header.
    unsafe { tell(text, size, needed, work) }
}

/// Copies the plan as bytes, for racl_plan_load() in another process, to `bytes`, of `size` bytes; `needed` gets how
/// many there are. A `size` of 0 asks for that alone; RACL_INVALID_ARGUMENT, and nothing is copied, where it is less than
/// there are, and `needed` is set all the same. RACL_NOT_SUPPORTED in a build without the cache.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_plan_store(
    plan: *const racl_plan,
    bytes: *mut c_void,
    size: usize,
    needed: *mut usize,
) -> i32 {
    let work = |room: Room<'_>| {
        let plan = get(plan)?;
        let stored = stored(&plan)?;
        room.fill(stored.len(), |place| {
            place.copy_from_slice(&stored);
            Ok(())
        })
    };
    // SAFETY: by the header.
    unsafe { answer_bytes((bytes, size), needed, "a plan", work) }
}

/// A plan of racl_plan_store()'s bytes, which may come from anywhere: it is checked as one from a builder is. Its
/// foreign operators and host functions are those of the registry, which may be NULL. RACL_FILE for bytes that are no
/// plan; RACL_INVALID_PLAN when the registry lacks what it needs; RACL_NOT_SUPPORTED in a build without the cache.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_plan_load(
    data: *const c_void,
    size: usize,
    registry: *const racl_registry,
    plan: *mut *mut racl_plan,
) -> i32 {
    let work = || {
        // SAFETY: by the header.
        let data = unsafe { bytes(data, size, "the bytes of a plan") }?;
        loaded(data, registry)
    };
    // SAFETY: by the header.
    unsafe { make(plan, work) }
}

#[cfg(feature = "cache")]
fn stored(plan: &Plan) -> Result<Vec<u8>, Failure> {
    Ok(plan.store()?)
}

#[cfg(feature = "cache")]
fn loaded(data: &[u8], registry: *const racl_registry) -> Result<Plan, Failure> {
    let registry = crate::cache::registry(registry)?;
    Ok(Plan::load(data, &registry)?)
}

#[cfg(not(feature = "cache"))]
fn stored(_: &Plan) -> Result<Vec<u8>, Failure> {
    Err(crate::cache::off())
}

#[cfg(not(feature = "cache"))]
fn loaded(_: &[u8], _: *const racl_registry) -> Result<Plan, Failure> {
    Err(crate::cache::off())
}

/// An input of a simulation.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_given {
    /// Its name.
    pub name: *const c_char,
    /// Its elements.
    pub data: *const c_void,
    /// Their bytes.
    pub bytes: usize,
}

/// The value of a symbol.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_symbol {
    /// Its name.
    pub name: *const c_char,
    /// Its value.
    pub value: usize,
}

/// Runs a plan on memory of the host, without a device, with all its inputs and all its symbols. Work in no order runs
/// in one that `seed` chooses. Host functions run on this thread. RACL_CALLBACK_PANICKED when one, or the simulation of
/// a foreign operator, fails.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_simulation_new(
    plan: *const racl_plan,
    seed: u64,
    given: *const racl_given,
    given_count: usize,
    symbols: *const racl_symbol,
    symbol_count: usize,
    simulation: *mut *mut racl_simulation,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        let plan = get(plan)?;
        let mut all = Simulated::new();
        // SAFETY: by the header.
        for one in unsafe { list(given, given_count, "inputs of a simulation") }? {
            // SAFETY: by the header.
            let name = unsafe { text(one.name, "the name of an input") }?;
            // SAFETY: by the header.
            all = all.bytes(name, unsafe { bytes(one.data, one.bytes, "an input") }?);
        }
        // SAFETY: by the header.
        for one in unsafe { list(symbols, symbol_count, "symbols") }? {
            // SAFETY: by the header.
            all = all.symbol(unsafe { text(one.name, "the name of a symbol") }?, one.value);
        }
        with_callbacks(|| Ok(plan.simulate(seed, &all)?))
    };
    // SAFETY: by the header.
    unsafe { make(simulation, work) }
}

/// Copies an output to `data`, which has room for `size` bytes; `needed` gets how many there are. A `size` of 0 asks for
/// that alone; RACL_INVALID_ARGUMENT, and nothing is copied, where it is less than there are, and `needed` is set all the
/// same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_simulation_read(
    simulation: *const racl_simulation,
    output: *const c_char,
    data: *mut c_void,
    size: usize,
    needed: *mut usize,
) -> i32 {
    let work = |room: Room<'_>| {
        let simulation = get(simulation)?;
        // SAFETY: by the header.
        let bytes = simulation.bytes(unsafe { text(output, "the name of an output") }?)?;
        room.fill(bytes.len(), |place| {
            place.copy_from_slice(bytes);
            Ok(())
        })
    };
    // SAFETY: by the header.
    unsafe { answer_bytes((data, size), needed, "an output", work) }
}

/// The type and shape of an output, as racl_executable_output_shape() gives them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_simulation_output_shape(
    simulation: *const racl_simulation,
    output: *const c_char,
    shape: *mut usize,
    room: usize,
    rank: *mut usize,
    dtype: *mut i32,
) -> i32 {
    // SAFETY: by the header.
    let dtype = unsafe { Out::if_asked(dtype, 0, "a type") };
    let work = |places: &mut [usize]| {
        let (dtype, simulation) = (dtype?, get(simulation)?);
        // SAFETY: by the header.
        let output = unsafe { text(output, "the name of an output") }?;
        let sizes = simulation.shape(output)?;
        places.iter_mut().zip(sizes.iter()).for_each(|(place, size)| *place = *size);
        if let Some(dtype) = dtype {
            dtype.set(ElementType::from(simulation.dtype(output)?).number());
        }
        Ok(sizes.len())
    };
    // SAFETY: by the header.
    unsafe { answer_list((shape, room), rank, ("a place for a shape", "a rank"), work) }
}

/// Gives the handle back.
#[unsafe(no_mangle)]
pub extern "C" fn racl_simulation_free(simulation: *mut racl_simulation) -> i32 {
    guard(|| free(simulation))
}
