//! Operators by their name, in builders.

use std::ffi::c_char;

use racl::op::{Argument, Operand, parameters};
use racl::plan::{Inferred, Quantity, Value};

use crate::arguments::{list, text};
use crate::failure::{Failure, Result, guard};
use crate::objects::racl_builder;
use crate::operator::{Held, arguments, check_version, racl_arg};
use crate::recording::{Recording, issuing, racl_dim, racl_value};

/// `integer` is a racl_value.
pub const RACL_ARG_VALUE: i32 = 14;
/// `data` is a list of `count` racl_value.
pub const RACL_ARG_VALUES: i32 = 15;
/// `data` is a racl_value *, which gets a new value: the result, of the type and shape that the operator gives it.
pub const RACL_ARG_RESULT: i32 = 16;
/// `data` is a list of `count` racl_value, which get new values.
pub const RACL_ARG_RESULTS: i32 = 17;
/// `integer` is a racl_dim, as an integer.
pub const RACL_ARG_DIM: i32 = 18;
/// `data` is a list of `count` racl_dim, as a list of integers.
pub const RACL_ARG_DIMS: i32 = 19;

/// Records an operator of AscendCL by its C name. The arguments are those of racl_operator() with values in place of
/// tensors: RACL_ARG_VALUE and RACL_ARG_VALUES for operands and for results that are written to memory that is there,
/// RACL_ARG_RESULT and RACL_ARG_RESULTS for new ones, RACL_ARG_DIM and RACL_ARG_DIMS for numbers that depend on
/// symbols. What does not fit is refused here, with both shapes. New values are 0 when this fails. They are written when
/// all the rest was read: a list of values may be that of the results too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_operator(
    builder: *const racl_builder,
    name: *const c_char,
    args: *const racl_arg,
    count: usize,
) -> i32 {
    guard(|| {
        // SAFETY: by the header.
        let args = unsafe { arguments(args, count) }?;
        let mut unwritten = Unwritten(args);
        issuing(builder, |recording| {
            // SAFETY: by the header.
            let name = unsafe { text(name, "the name of an operator") }?;
            // SAFETY: by the header.
            let parts: Result<Vec<Part<'_>>> = args.iter().map(|arg| unsafe { Part::of(arg, recording) }).collect();
            let number = recording.operators;
            parts.and_then(|parts| record(recording, name, parts)).map_err(|failure| failure.of(name, number))
        })?;
        unwritten.0 = &[];
        Ok(())
    })
}

/// Arguments of a call that may fail: the places of results among them are 0 then, all of them, whatever is wrong.
struct Unwritten<'a>(&'a [racl_arg]);

impl Drop for Unwritten<'_> {
    fn drop(&mut self) {
        for arg in self.0 {
            // SAFETY: by the header of the call that this belongs to.
            let places = unsafe { places(arg) };
            for place in places.unwrap_or_default() {
                // SAFETY: not null and aligned, and of the call.
                unsafe { place.write(0) };
            }
        }
    }
}

/// The places of results, of an argument that is one; looked at, not written.
///
/// # Safety
///
/// As [`Part::of`].
unsafe fn places(arg: &racl_arg) -> Result<Vec<*mut racl_value>> {
    let (count, what) = match arg.kind {
        RACL_ARG_RESULT => (1, "the place of a result"),
        RACL_ARG_RESULTS => (arg.count, "the places of results"),
        _ => return Ok(Vec::new()),
    };
    let first = arg.data.cast::<racl_value>();
    // SAFETY: as here.
    let count = unsafe { list(first, count, what) }?.len();
    Ok((0..count).map(|index| first.cast_mut().wrapping_add(index)).collect())
}

/// One argument, as a builder takes it.
enum Part<'a> {
    Plain(Held<'a>),
    Value(Value),
    Values(Vec<Value>),
    Result(Inferred, *mut racl_value),
    Results(Vec<Inferred>, Vec<*mut racl_value>),
    /// Numbers that depend on symbols; one, or a list.
    Told(Vec<Quantity>, bool),
    Ints(Vec<i64>),
}

impl Part<'_> {
    /// # Safety
    ///
    /// What the kind names is there, and nobody else touches it meanwhile.
    unsafe fn of(arg: &racl_arg, recording: &Recording) -> Result<Self> {
        check_version(arg)?;
        let (data, count) = (arg.data, arg.count);
        Ok(match arg.kind {
            RACL_ARG_VALUE => Self::Value(recording.value(arg.integer.cast_unsigned())?),
            RACL_ARG_VALUES => {
                // SAFETY: as here.
                Self::Values(recording.values(unsafe { list(data.cast(), count, "a list of values") }?)?)
            }
            RACL_ARG_RESULT => {
                // SAFETY: as here.
                unsafe { places(arg) }?;
                Self::Result(Inferred::new(), data.cast::<racl_value>().cast_mut())
            }
            RACL_ARG_RESULTS => {
                // SAFETY: as here.
                let places = unsafe { places(arg) }?;
                Self::Results(places.iter().map(|_| Inferred::new()).collect(), places)
            }
            RACL_ARG_DIM => Self::told(&[arg.integer], recording, false)?,
            RACL_ARG_DIMS => {
                // SAFETY: as here.
                let dims: &[racl_dim] = unsafe { list(data.cast(), count, "a list of dimensions") }?;
                Self::told(dims, recording, true)?
            }
            // SAFETY: as here.
            _ => Self::Plain(unsafe { Held::of(arg) }?),
        })
    }

    fn told(dims: &[racl_dim], recording: &Recording, is_list: bool) -> Result<Self> {
        match (dims.iter().all(|dim| *dim >= 0), is_list) {
            (true, true) => Ok(Self::Ints(dims.to_vec())),
            _ => {
                let number = |dim: &racl_dim| Ok(Quantity::from(recording.dim(*dim)?));
                Ok(Self::Told(dims.iter().map(number).collect::<Result<_>>()?, is_list))
            }
        }
    }

    fn operands(&self) -> Vec<&dyn Operand> {
        match self {
            Self::Plain(held) => held.operands(),
            Self::Value(value) => vec![value],
            Self::Values(values) => values.iter().map(|value| value as &dyn Operand).collect(),
            Self::Result(result, _) => vec![result],
            Self::Results(results, _) => results.iter().map(|result| result as &dyn Operand).collect(),
            Self::Told(..) | Self::Ints(_) => Vec::new(),
        }
    }

    /// New values, with their places.
    fn results(self) -> Vec<(Inferred, *mut racl_value)> {
        match self {
            Self::Result(result, place) => vec![(result, place)],
            Self::Results(results, places) => results.into_iter().zip(places).collect(),
            _ => Vec::new(),
        }
    }

    fn argument<'s>(&'s self, operands: &'s [&'s dyn Operand]) -> Argument<'s> {
        match (self, operands) {
            (Self::Plain(held), _) => held.argument(operands),
            (Self::Value(_) | Self::Result(..), [operand]) => Argument::Tensor(*operand),
            (Self::Told(_, false), _) => Argument::Int(0),
            (Self::Told(_, true), _) => Argument::Ints(&[]),
            (Self::Ints(numbers), _) => Argument::Ints(numbers),
            _ => Argument::Tensors(operands),
        }
    }
}

fn record(recording: &mut Recording, name: &str, parts: Vec<Part<'_>>) -> Result<()> {
    let lists: Vec<Vec<&dyn Operand>> = parts.iter().map(Part::operands).collect();
    let arguments: Vec<Argument<'_>> = parts.iter().zip(&lists).map(|(part, list)| part.argument(list)).collect();
    let names = parameters(name).unwrap_or_default();
    let mut telling = None;
    for (part, parameter) in parts.iter().zip(names) {
        if let Part::Told(numbers, _) = part {
            telling = Some(match telling {
                None => recording.builder.telling(parameter, &numbers[..]),
                Some(telling) => racl::plan::Telling::telling(telling, parameter, &numbers[..]),
            });
        }
    }
    match &telling {
        None => racl::op::call(&recording.builder, name, &arguments)?,
        Some(telling) => racl::op::call(telling, name, &arguments)?,
    }
    drop((arguments, telling));
    drop(lists);
    // What the caller has is written once nothing of it is looked at any more.
    let results: Vec<_> = parts.into_iter().flat_map(Part::results).collect();
    for (result, place) in results {
        let value = recording.add(result.value()?);
        // SAFETY: not null and aligned, as `places` saw, and of this call.
        unsafe { place.write(value) };
    }
    Ok(())
}

impl Failure {
    /// Of an operator by its number, where the text does not say so.
    fn of(mut self, name: &str, number: u32) -> Self {
        if !self.message.contains(&format!("operator:{number})")) {
            self.message = format!("{} [operator {number}, {name:?}]", self.message);
        }
        self
    }
}
