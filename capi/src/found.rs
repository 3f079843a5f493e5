//! Results of which the device decides how much there is, in builders and of runs.

use std::ffi::{c_char, c_void};

use racl::plan::Found;

use crate::arguments::{null, text};
use crate::cancel::Uncancelled;
use crate::executable::{State, after_run};
use crate::failure::{Failure, Result, guard};
use crate::objects::{racl_builder, racl_executable};
use crate::recording::{Recording, emptied, issuing, racl_value, recording};
use crate::results::{Room, answer, answer_bytes};

/// What an operator found, of which the device decides how much it is.
#[derive(Debug, Clone, Copy, Default)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_found {
    /// Room for the most that there can be: its first rows are what was found, and the rest is 0.
    pub values: racl_value,
    /// How many rows came: one int64_t.
    pub count: racl_value,
}

impl Recording {
    fn add_found(&mut self, found: Found) -> racl_found {
        let numbers = racl_found { values: self.add(found.values()), count: self.add(found.count()) };
        self.found.push(found);
        numbers
    }

    /// What was found, by what C has of it.
    ///
    /// # Safety
    ///
    /// `place` is null, or nobody changes it meanwhile.
    unsafe fn found(&self, place: *const racl_found) -> Result<Found> {
        if place.is_null() {
            return Err(null("a racl_found"));
        }
        if !place.is_aligned() {
            return Err(Failure::invalid(format!("a racl_found at {place:?}, which is not aligned")));
        }
        // SAFETY: not null and aligned.
        let numbers = unsafe { place.read() };
        let (values, count) = (self.value(numbers.values)?, self.value(numbers.count)?);
        let known = self.found.iter().find(|found| (found.values(), found.count()) == (values, count));
        known.copied().ok_or_else(|| Failure::invalid("two values that no operator found together"))
    }
}

/// The place of what an operator finds, emptied.
///
/// # Safety
///
/// `place` is null or may be written.
unsafe fn emptied_found(place: *mut racl_found) -> Result<*mut racl_found> {
    if place.is_null() {
        return Err(null("the place of a racl_found"));
    }
    if !place.is_aligned() {
        return Err(Failure::invalid(format!("a racl_found at {place:?}, which is not aligned")));
    }
    // SAFETY: not null and aligned.
    unsafe { place.write(racl_found::default()) };
    Ok(place)
}

/// Records work that finds something.
///
/// # Safety
///
/// As [`emptied_found`].
unsafe fn finding(
    builder: *const racl_builder,
    place: *mut racl_found,
    work: impl FnOnce(&mut Recording) -> Result<Found>,
) -> i32 {
    guard(|| {
        // SAFETY: as here.
        let place = unsafe { emptied_found(place) }?;
        let found = issuing(builder, |recording| {
            let found = work(recording)?;
            Ok(recording.add_found(found))
        })?;
        // SAFETY: emptied before, by this call.
        unsafe { place.write(found) };
        Ok(())
    })
}

/// The indices of elements that are not 0, in order: rows of int64_t with one index for each dimension.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_nonzero(
    builder: *const racl_builder,
    of: racl_value,
    found: *mut racl_found,
) -> i32 {
    let work = |recording: &mut Recording| Ok(recording.builder.nonzero(recording.value(of)?)?);
    // SAFETY: by the header.
    unsafe { finding(builder, found, work) }
}

/// The elements of a value where `mask`, of truth values or bytes, is not 0, in order. They broadcast to each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_masked_select(
    builder: *const racl_builder,
    of: racl_value,
    mask: racl_value,
    found: *mut racl_found,
) -> i32 {
    let work = |recording: &mut Recording| {
        Ok(recording.builder.masked_select(recording.value(of)?, recording.value(mask)?)?)
    };
    // SAFETY: by the header.
    unsafe { finding(builder, found, work) }
}

/// What there is of elements, in ascending order, each once.
pub const RACL_UNIQUE_ELEMENTS: i32 = 0;
/// What there is of slices along a dimension, in ascending order, each once: that dimension is the first of what is
/// found.
pub const RACL_UNIQUE_SLICES: i32 = 1;
/// Elements, but for those that equal the one before them, in the order of the value.
pub const RACL_UNIQUE_CONSECUTIVE: i32 = 2;
/// Slices along a dimension, in the same way.
pub const RACL_UNIQUE_CONSECUTIVE_SLICES: i32 = 3;

/// What there is of elements or of slices, each once: `how` is RACL_UNIQUE_..., and `dim` the dimension of slices, from
/// the end where it is negative. `places` gets the place of each element or slice among what was found, int64_t, and
/// `counts` how many there are of each. NaN equals nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_unique(
    builder: *const racl_builder,
    of: racl_value,
    how: i32,
    dim: i64,
    found: *mut racl_found,
    places: *mut racl_value,
    counts: *mut racl_found,
) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let found = unsafe { emptied_found(found) };
        // SAFETY: by the header.
        let places = unsafe { emptied(places, "the place of places") };
        // SAFETY: by the header.
        let counts = unsafe { emptied_found(counts) };
        let (found, places, counts) = (found?, places?, counts?);
        issuing(builder, |recording| {
            let of = recording.value(of)?;
            let (values, of_each, many) = match how {
                RACL_UNIQUE_ELEMENTS => recording.builder.unique(of)?,
                RACL_UNIQUE_SLICES => recording.builder.unique_dim(of, dim)?,
                RACL_UNIQUE_CONSECUTIVE => recording.builder.unique_consecutive(of, None)?,
                RACL_UNIQUE_CONSECUTIVE_SLICES => recording.builder.unique_consecutive(of, Some(dim))?,
                other => return Err(Failure::invalid(format!("{other} for what is there once"))),
            };
            let (values, many) = (recording.add_found(values), recording.add_found(many));
            let of_each = recording.add(of_each);
            // SAFETY: emptied before, by this call; so below.
            unsafe { found.write(values) };
            // SAFETY: as above.
            unsafe { places.write(of_each) };
            // SAFETY: as above.
            unsafe { counts.write(many) };
            Ok(())
        })
    })
}

/// Truth values of the rows of a racl_found: true for those that came. An operator on its values works on all of the
/// room; this keeps out what did not come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_found_mask(
    builder: *const racl_builder,
    found: *const racl_found,
    value: *mut racl_value,
) -> i32 {
    let work = || {
        issuing(builder, |recording| {
            // SAFETY: by the header.
            let mask = recording.builder.found_mask(unsafe { recording.found(found) }?)?;
            Ok(recording.add(mask))
        })
    };
    // SAFETY: by the header.
    unsafe { answer(value, "a value", work) }
}

/// Makes what was found an output, for racl_executable_read_found(), and the number of its rows one that each run brings
/// to the host, whose name has ".count" behind it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_output_found(
    builder: *const racl_builder,
    name: *const c_char,
    found: *const racl_found,
) -> i32 {
    guard(|| {
        recording(builder, |recording| {
            // SAFETY: by the header.
            let name = unsafe { text(name, "the name of an output") }?;
            // SAFETY: by the header.
            Ok(recording.builder.output_found(name, unsafe { recording.found(found) }?)?)
        })
    })
}

/// Waits for the latest run, and gives how many rows of an output it found, see racl_builder_output_found().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_found_count(
    executable: *const racl_executable,
    output: u32,
    rows: *mut usize,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let check = |state: &State| state.found(output).map(drop);
    let work = || {
        after_run(executable, check, |state| {
            let found = state.found(output)?;
            Ok(state.executable.found_count(found)?)
        })
    };
    // SAFETY: by the header.
    unsafe { answer(rows, "a count", work) }
}

/// Waits for the latest run, and copies the rows that it found of an output to `data`, which has room for `size` bytes;
/// `needed` gets how many bytes came. A `size` of 0 asks for that alone; RACL_INVALID_ARGUMENT, and nothing is copied,
/// where it is less than came, and `needed` is set all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_executable_read_found(
    executable: *const racl_executable,
    output: u32,
    data: *mut c_void,
    size: usize,
    needed: *mut usize,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let check = |state: &State| state.found(output).map(drop);
    let work = |room: Room<'_>| {
        after_run(executable, check, |state| {
            let found = state.found(output)?;
            let came = state.executable.found_any(found)?;
            room.fill(came.size_bytes(), |place| Ok(came.read_into(place)?))
        })
    };
    // SAFETY: by the header.
    unsafe { answer_bytes((data, size), needed, "an output", work) }
}
