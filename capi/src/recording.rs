//! What a builder of C keeps beside that of racl: numbers for values, dimensions, events and gates.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use racl::op::{DataType, ElementType};
use racl::plan::{Builder, Dim, External, Found, Plan, TaggedEvent, Value};

use crate::arguments::{list, null};
use crate::failure::{Failure, Result};
use crate::handles::{Kept, alone, end};
use crate::objects::racl_builder;
use crate::status;

/// A value of a builder; 0 is none.
#[allow(non_camel_case_types)]
pub type racl_value = u64;

/// A dimension in a builder: its size from 0 on, or what racl_builder_symbol() and its like gave, which is below 0.
#[allow(non_camel_case_types)]
pub type racl_dim = i64;

/// What racl.hpp gives for a size that a racl_dim does not hold, to be refused; of no builder, whose numbers are above.
const BEYOND: racl_dim = racl_dim::MIN;

pub(crate) fn check_held(dim: racl_dim) -> Result<()> {
    if dim == BEYOND {
        Err(Failure::invalid(
            "a number above INT64_MAX; cast it to int64_t where its bits are meant, as those of a seed",
        ))
    } else {
        Ok(())
    }
}

/// A plan that is being recorded.
pub(crate) struct Recording {
    pub(crate) builder: Builder,
    /// Tells its values and dimensions from those of other builders.
    serial: u32,
    values: Vec<Value>,
    dims: Vec<Dim>,
    /// What operators found.
    pub(crate) found: Vec<Found>,
    pub(crate) events: HashMap<String, TaggedEvent>,
    pub(crate) gates: HashMap<String, External>,
    /// Work that was recorded.
    pub(crate) operators: u32,
    /// The caller names its own lines.
    pub(crate) is_placed: bool,
    /// To a function that is not to end it.
    pub(crate) is_lent: bool,
}

/// Of the numbers of builders, so that dimensions have place for both.
const SERIALS: u32 = (1 << 30) - 1;

impl Recording {
    pub(crate) fn new(builder: Builder) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self {
            builder,
            serial: NEXT.fetch_add(1, Ordering::Relaxed) % SERIALS + 1,
            values: Vec::new(),
            dims: Vec::new(),
            found: Vec::new(),
            events: HashMap::new(),
            gates: HashMap::new(),
            operators: 0,
            is_placed: false,
            is_lent: false,
        }
    }

    pub(crate) fn finish(self) -> Result<Plan> {
        Ok(Plan::finish(self.builder)?)
    }

    pub(crate) fn value(&self, value: racl_value) -> Result<Value> {
        if value == 0 {
            return Err(Failure::invalid("0 for a value of the builder"));
        }
        if value >> 32 != u64::from(self.serial) {
            let text = format!("{value:#x} for a value: none of this builder");
            return Err(Failure::own(status::RACL_INVALID_PLAN, text));
        }
        let known = self.values.get((value & 0xFFFF_FFFF) as usize).copied();
        known.ok_or_else(|| Failure::invalid(format!("{value:#x} for a value: the builder gave no such one")))
    }

    pub(crate) fn values(&self, values: &[racl_value]) -> Result<Vec<Value>> {
        values.iter().map(|value| self.value(*value)).collect()
    }

    /// A number for a value.
    pub(crate) fn add(&mut self, value: Value) -> racl_value {
        self.values.push(value);
        u64::from(self.serial) << 32 | (self.values.len() - 1) as u64
    }

    pub(crate) fn dim(&self, dim: racl_dim) -> Result<Dim> {
        if let Ok(size) = usize::try_from(dim) {
            return Ok(Dim::from(size));
        }
        check_held(dim)?;
        let bits = (-1 - dim).cast_unsigned();
        let known = (bits >> 32 == u64::from(self.serial)).then(|| self.dims.get((bits & 0xFFFF_FFFF) as usize));
        known.flatten().copied().ok_or_else(|| Failure::invalid(format!("{dim} for a dimension")))
    }

    /// # Safety
    ///
    /// As [`list`].
    pub(crate) unsafe fn dims(&self, shape: *const racl_dim, rank: usize) -> Result<Vec<Dim>> {
        if rank > racl::op::MAX_RANK {
            return Err(Failure::invalid(format!("{rank} dimensions, of at most {}", racl::op::MAX_RANK)));
        }
        // SAFETY: as here.
        unsafe { list(shape, rank, "a shape") }?.iter().map(|dim| self.dim(*dim)).collect()
    }

    /// A number for a dimension: its size where it has one.
    pub(crate) fn add_dim(&mut self, dim: Dim) -> racl_dim {
        if let Some(size) = dim.as_fixed() {
            return size as i64;
        }
        let index = self.dims.iter().position(|known| *known == dim).unwrap_or(self.dims.len());
        if index == self.dims.len() {
            self.dims.push(dim);
        }
        -1 - (i64::from(self.serial) << 32 | index as i64)
    }

    pub(crate) fn event(&self, tag: &str) -> Result<&TaggedEvent> {
        let unknown = || Failure::own(status::RACL_INVALID_PLAN, format!("no event {tag:?} of this builder"));
        self.events.get(tag).ok_or_else(unknown)
    }

    pub(crate) fn gate(&self, name: &str) -> Result<External> {
        let unknown = || Failure::own(status::RACL_INVALID_PLAN, format!("no gate {name:?} of this builder"));
        self.gates.get(name).copied().ok_or_else(unknown)
    }

    /// Where work comes from, for errors, unless the caller says so.
    fn tell_place(&self) {
        if !self.is_placed {
            self.builder.set_place("operator", self.operators);
        }
    }
}

/// Does something with a builder, which one thread at a time has.
pub(crate) fn recording<T>(
    builder: *const racl_builder,
    work: impl FnOnce(&mut Recording) -> Result<T>,
) -> Result<T> {
    let mut recording = alone(builder)?;
    recording.tell_place();
    work(&mut recording)
}

/// Ends a builder of the caller's own.
pub(crate) fn end_own(builder: *mut racl_builder, work: impl FnOnce(Recording)) -> Result<()> {
    end(builder, |recording| {
        if recording.is_lent {
            let text = "a builder that is lent to a function, which ends with the call";
            return Err(Kept::new(recording, Failure::own(status::RACL_BUSY, text)));
        }
        work(recording);
        Ok(())
    })
}

/// Records work, which is counted.
pub(crate) fn issuing<T>(builder: *const racl_builder, work: impl FnOnce(&mut Recording) -> Result<T>) -> Result<T> {
    recording(builder, |recording| {
        let done = work(recording)?;
        recording.operators = recording.operators.saturating_add(1);
        Ok(done)
    })
}

/// The type of elements of a plan.
pub(crate) fn data_type(number: i32) -> Result<DataType> {
    let unknown = || Failure::invalid(format!("{number} is no aclDataType that plans know"));
    ElementType::of_number(number).and_then(ElementType::data_type).ok_or_else(unknown)
}

/// The place of an operator's result, emptied.
///
/// # Safety
///
/// `place` is null or may be written.
pub(crate) unsafe fn emptied(place: *mut racl_value, what: &str) -> Result<*mut racl_value> {
    if place.is_null() {
        return Err(null(what));
    }
    if !place.is_aligned() {
        return Err(Failure::invalid(format!("{what} at {place:?}, which is not aligned")));
    }
    // SAFETY: not null and aligned.
    unsafe { place.write(0) };
    Ok(place)
}
