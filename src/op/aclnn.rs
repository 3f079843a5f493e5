//! Every operator of the library, by its C name: one typed function for each pair of C functions `aclnnName` and
//! `aclnnNameGetWorkspaceSize` that the bindings declare.
//!
//! A function is called as the C one is, in snake case: `aclnnInplaceAddRelu` is [`inplace_add_relu`]. Its first
//! parameter is a [`Stream`](crate::Stream), a [`Probe`](crate::op::Probe) that only notes the
//! [`Footprint`](crate::op::Footprint), or the [`Builder`](crate::plan::Builder) of a plan that records it. The others
//! are those of `aclnnNameGetWorkspaceSize`, in its order and without its two results:
//!
//! | in C | here |
//! |---|---|
//! | `aclTensor` that is read | `&dyn` [`Operand`]: of a [`Tensor`](crate::Tensor), [`AnyTensor`] or, in a plan, [`Value`](crate::plan::Value) |
//! | `aclTensor` that is written, or changed in place | `&mut dyn Operand` |
//! | `aclTensorList` | `&[&dyn Operand]`, `&mut [&mut dyn Operand]` |
//! | `aclScalar` | whatever a [`Scalar`](crate::op::Scalar) is made of: a number of Rust, or a `bool` |
//! | `aclScalarList`, `aclIntArray`, `aclFloatArray`, `aclBoolArray` | slices |
//! | `char *` | `&str`, without zero bytes |
//! | `aclDataType` | [`DataType`](crate::op::DataType) or [`ElementType`] |
//! | numbers | numbers |
//! | what may be left out | `Option` |
//!
//! Each function says what it reads, writes and changes, which headers have it, and whether the mock computes it. Its
//! guide is the one of the C function: shapes, types and attributes are checked by the library, before anything is
//! queued. What runs, when, in captures and with which scratch memory is as for [every operator](crate::op); the same
//! call again [needs its second phase only](crate::op#executors). Where this crate has a function of its own, such as
//! [`op::softmax`](crate::op::softmax), that one has fixed types and more documentation.
//!
//! Not here are the functions of the operator library without two phases: `aclnnCalculateConvolutionWeightSize`,
//! `aclnnCalculateMatmulWeightSize` and its `V2`, `aclnnGetPytorchRandom`, `aclnnSetPytorchRandom`,
//! `aclnnNpuFormatCastCalculateSizeAndFormat`, `aclnnTransQuantParam` and `aclnnTransSparse4to2Para`, which compute
//! on the host; and `aclnnInnerFusedInferAttentionScoreTensor`, whose second phase no header declares. All of them
//! are methods of [`sys::Table`](crate::sys::Table).
//!
//! Memory is safe with any argument: what an operand of a type that the library does not take would be is refused,
//! and all memory is kept until the work is done. A parameter whose direction the headers get wrong is listed, with
//! the reason, in the generator of this module.
//!
//! # Errors
//!
//! [`ErrorKind::OperatorArgument`](crate::ErrorKind::OperatorArgument) for what the operator refuses;
//! [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a text with a zero byte; those of [every
//! operator](crate::op#errors). An operator that the mock does not compute is
//! [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) there, with its name.
//!
//! # Examples
//!
//! ```
//! use racl::op::aclnn;
//!
//! let acl = racl::Acl::mock()?;
//! let device = acl.device(0)?;
//! let stream = device.stream()?;
//! let x = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [2, 2])?;
//! let mut sums = device.zeros::<f32>([2, 2])?;
//! aclnn::cumsum(&stream, &x, 0, racl::op::DataType::F32, &mut sums)?;
//! assert_eq!(sums.to_vec()?, [1.0, 2.0, 4.0, 6.0]);
//! // Two dimensions, and a number that becomes one of the library.
//! let mut padded = device.zeros::<f32>([2, 4])?;
//! aclnn::constant_pad_nd(&stream, &x, &[1, 1], 9.0_f32, &mut padded)?;
//! assert_eq!(padded.to_vec()?, [9.0, 1.0, 2.0, 9.0, 9.0, 3.0, 4.0, 9.0]);
//! # Ok::<(), racl::Error>(())
//! ```
//!
//! In a plan, results are [`Inferred`](crate::plan::Inferred), which the plan makes by [rules](crate::plan#operators)
//! of types and shapes, or values that the caller made. What the operator reads and writes is in the plan's order as
//! for its own operators. Where a rule is known, what does not fit is refused when it is recorded; else shapes are the
//! library's to judge, when the plan is captured or run, and its error names the line here. Numbers may depend on the
//! plan's symbols: [`Builder::telling`](crate::plan::Builder::telling).
//!
//! ```
//! use racl::op::{DataType, aclnn};
//! use racl::plan::{Frozen, Inferred, Input, Plan};
//!
//! let plan = Plan::build(|g| {
//!     let x = g.input("x", [4], DataType::F32, Input::Copied)?;
//!     let (mut values, mut order) = (Inferred::new(), g.empty([4], DataType::I32)?); // I64 would be inferred
//!     aclnn::sort(g, &x, true, 0, true, &mut values, &mut order)?;
//!     let doubled = g.muls(values.value()?, 2.0)?;
//!     g.output("doubled", doubled)?;
//!     g.output("order", order)
//! })?;
//! let device = racl::Acl::mock()?.device(0)?;
//! let stream = device.stream()?;
//! let mut exe = plan.capture(&device, Frozen::new())?;
//! let x = device.upload_tensor(&[1.0_f32, 4.0, 2.0, 3.0], [4])?;
//! let mut bind = exe.bindings();
//! exe.run(&stream, bind.set(exe.input("x")?, &x))?;
//! assert_eq!(exe.output::<f32>(exe.output_id("doubled")?)?.to_vec()?, [8.0, 6.0, 4.0, 2.0]);
//! assert_eq!(exe.output::<i32>(exe.output_id("order")?)?.to_vec()?, [1, 3, 2, 0]);
//! # Ok::<(), racl::Error>(())
//! ```

// The parameters are those of C, and the errors of all functions are above.
#![allow(clippy::missing_errors_doc, clippy::too_many_arguments, clippy::wrong_self_convention)]

use std::ffi::CString;
use std::panic::Location;

#[allow(unused_imports)] // for the documentation
use super::any::{AnyTensor, ElementType};
use super::argument::Arg;
use super::executor::{Call, Function, Target};
use super::operand::{Access, Operand, Place, Submit, memory};
use crate::error::{Error, Result};
use crate::stream::Named;

/// Typed functions: `fn name = aclnnName, aclnnNameGetWorkspaceSize(parameter: kind, …);`, with the kinds of `kind!`.
macro_rules! aclnn {
    ($($(#[$meta:meta])* fn $name:ident = $launch:ident, $plan:ident($($p:ident: $kind:tt),* $(,)?);)*) => {
        $(
            $(#[$meta])*
            // Compiled where it is called: few of so many functions are.
            #[inline]
            #[track_caller]
            pub fn $name(
                on: &dyn $crate::op::Submit,
                $($p: $crate::op::aclnn::kind!($kind)),*
            ) -> $crate::error::Result<()> {
                // No static, which would be compiled here with all that it names.
                const FUNCTION: &$crate::op::executor::Function =
                    &$crate::op::executor::function!($launch, $plan)
                        .taking(
                            &[$($crate::op::aclnn::takes!($kind)),*],
                            concat!(stringify!($name), "," $(, stringify!($p), ",")*),
                        );
                $($crate::op::aclnn::own!($kind $p, on, $name);)*
                $crate::op::aclnn::submit(
                    on,
                    (FUNCTION, stringify!($name)),
                    std::panic::Location::caller(),
                    &[$($crate::op::aclnn::arg!($kind $p)),*],
                )
            }
        )*

        /// What calls by name and stored ones are found by.
        pub(super) static KNOWN: $crate::op::known::Known = $crate::op::known::Known::new(
            &[$($crate::op::known::Phases::new(
                stringify!($launch),
                stringify!($plan),
                $crate::op::first::call_of(acl_sys::Table::$plan),
            )),*],
            &[$($($crate::op::aclnn::takes!($kind),)*)*],
            concat!($(stringify!($name), ",", $(stringify!($p), ",",)* "\n",)*),
        );

        /// Names in Rust and in C.
        #[cfg(test)]
        pub(super) const NAMES: &[(&str, &str)] = &[$((stringify!($name), stringify!($launch))),*];
    };
}

/// The type of a parameter.
macro_rules! kind {
    (in) => { &dyn $crate::op::Operand };
    (out) => { &mut dyn $crate::op::Operand };
    (inout) => { &mut dyn $crate::op::Operand };
    (maybe_in) => { Option<&dyn $crate::op::Operand> };
    (maybe_out) => { Option<&mut dyn $crate::op::Operand> };
    (maybe_inout) => { Option<&mut dyn $crate::op::Operand> };
    (ins) => { &[&dyn $crate::op::Operand] };
    (outs) => { &mut [&mut dyn $crate::op::Operand] };
    (inouts) => { &mut [&mut dyn $crate::op::Operand] };
    (maybe_ins) => { Option<&[&dyn $crate::op::Operand]> };
    (maybe_outs) => { Option<&mut [&mut dyn $crate::op::Operand]> };
    (maybe_inouts) => { Option<&mut [&mut dyn $crate::op::Operand]> };
    (scalar) => { impl Into<$crate::op::Scalar> };
    (maybe_scalar) => { Option<$crate::op::Scalar> };
    (scalars) => { &[$crate::op::Scalar] };
    (ints) => { &[i64] };
    (maybe_ints) => { Option<&[i64]> };
    (floats) => { &[f32] };
    (maybe_floats) => { Option<&[f32]> };
    (bools) => { &[bool] };
    (maybe_bools) => { Option<&[bool]> };
    (text) => { &str };
    (maybe_text) => { Option<&str> };
    (dtype) => { impl Into<$crate::op::ElementType> };
    ($number:ident) => { $number };
}
use kind;

/// What a parameter takes, for calls that are stored.
macro_rules! takes {
    (in) => {
        $crate::op::told::Takes::Tensor($crate::op::Access::Read, false)
    };
    (out) => {
        $crate::op::told::Takes::Tensor($crate::op::Access::Write, false)
    };
    (inout) => {
        $crate::op::told::Takes::Tensor($crate::op::Access::ReadWrite, false)
    };
    (maybe_in) => {
        $crate::op::told::Takes::Tensor($crate::op::Access::Read, true)
    };
    (maybe_out) => {
        $crate::op::told::Takes::Tensor($crate::op::Access::Write, true)
    };
    (maybe_inout) => {
        $crate::op::told::Takes::Tensor($crate::op::Access::ReadWrite, true)
    };
    (ins) => {
        $crate::op::told::Takes::Tensors($crate::op::Access::Read, false)
    };
    (outs) => {
        $crate::op::told::Takes::Tensors($crate::op::Access::Write, false)
    };
    (inouts) => {
        $crate::op::told::Takes::Tensors($crate::op::Access::ReadWrite, false)
    };
    (maybe_ins) => {
        $crate::op::told::Takes::Tensors($crate::op::Access::Read, true)
    };
    (maybe_outs) => {
        $crate::op::told::Takes::Tensors($crate::op::Access::Write, true)
    };
    (maybe_inouts) => {
        $crate::op::told::Takes::Tensors($crate::op::Access::ReadWrite, true)
    };
    (scalar) => {
        $crate::op::told::Takes::Scalar(false)
    };
    (maybe_scalar) => {
        $crate::op::told::Takes::Scalar(true)
    };
    (scalars) => {
        $crate::op::told::Takes::Scalars
    };
    (ints) => {
        $crate::op::told::Takes::Ints(false)
    };
    (maybe_ints) => {
        $crate::op::told::Takes::Ints(true)
    };
    (floats) => {
        $crate::op::told::Takes::Floats(false)
    };
    (maybe_floats) => {
        $crate::op::told::Takes::Floats(true)
    };
    (bools) => {
        $crate::op::told::Takes::Bools(false)
    };
    (maybe_bools) => {
        $crate::op::told::Takes::Bools(true)
    };
    (text) => {
        $crate::op::told::Takes::Text(false)
    };
    (maybe_text) => {
        $crate::op::told::Takes::Text(true)
    };
    (dtype) => {
        $crate::op::told::Takes::Number($crate::op::told::Numeral::Type)
    };
    ($number:ident) => {
        $crate::op::told::Takes::Number(<$number as $crate::op::told::Parameter>::NUMERAL)
    };
}
use takes;

/// What has to live through the call: texts with a zero at their end.
macro_rules! own {
    (text $p:ident, $on:ident, $name:ident) => {
        let $p = $crate::op::aclnn::text(stringify!($p), $p);
        let $p = $crate::op::aclnn::kept($on, (stringify!($name), std::panic::Location::caller()), $p)?;
    };
    (maybe_text $p:ident, $on:ident, $name:ident) => {
        let $p = $p.map(|text| $crate::op::aclnn::text(stringify!($p), text)).transpose();
        let $p = $crate::op::aclnn::kept($on, (stringify!($name), std::panic::Location::caller()), $p)?;
    };
    ($kind:tt $p:ident, $on:ident, $name:ident) => {};
}
use own;

/// The argument for a parameter.
macro_rules! arg {
    (in $p:ident) => {
        $crate::op::argument::Arg::Tensor($p, $crate::op::Access::Read)
    };
    (out $p:ident) => {
        $crate::op::argument::Arg::Tensor(&*$p, $crate::op::Access::Write)
    };
    (inout $p:ident) => {
        $crate::op::argument::Arg::Tensor(&*$p, $crate::op::Access::ReadWrite)
    };
    (maybe_in $p:ident) => {
        $crate::op::aclnn::tensor($p, $crate::op::Access::Read)
    };
    (maybe_out $p:ident) => {
        $crate::op::aclnn::tensor($p.as_deref(), $crate::op::Access::Write)
    };
    (maybe_inout $p:ident) => {
        $crate::op::aclnn::tensor($p.as_deref(), $crate::op::Access::ReadWrite)
    };
    (ins $p:ident) => {
        $crate::op::argument::Arg::Tensors(&$p, $crate::op::Access::Read)
    };
    (outs $p:ident) => {
        $crate::op::argument::Arg::Tensors(&$p, $crate::op::Access::Write)
    };
    (inouts $p:ident) => {
        $crate::op::argument::Arg::Tensors(&$p, $crate::op::Access::ReadWrite)
    };
    (maybe_ins $p:ident) => {
        $crate::op::aclnn::list($p.as_ref(), $crate::op::Access::Read)
    };
    (maybe_outs $p:ident) => {
        $crate::op::aclnn::list($p.as_ref(), $crate::op::Access::Write)
    };
    (maybe_inouts $p:ident) => {
        $crate::op::aclnn::list($p.as_ref(), $crate::op::Access::ReadWrite)
    };
    (scalar $p:ident) => {
        $crate::op::argument::Arg::Scalar($p.into())
    };
    (scalars $p:ident) => {
        $crate::op::argument::Arg::Scalars($p)
    };
    (ints $p:ident) => {
        $crate::op::argument::Arg::Ints($p)
    };
    (floats $p:ident) => {
        $crate::op::argument::Arg::Floats($p)
    };
    (bools $p:ident) => {
        $crate::op::argument::Arg::Bools($p)
    };
    (maybe_scalar $p:ident) => {
        $crate::op::aclnn::or_null($p.map($crate::op::argument::Arg::Scalar))
    };
    (maybe_ints $p:ident) => {
        $crate::op::aclnn::or_null($p.map($crate::op::argument::Arg::Ints))
    };
    (maybe_floats $p:ident) => {
        $crate::op::aclnn::or_null($p.map($crate::op::argument::Arg::Floats))
    };
    (maybe_bools $p:ident) => {
        $crate::op::aclnn::or_null($p.map($crate::op::argument::Arg::Bools))
    };
    (text $p:ident) => {
        $crate::op::argument::Arg::Text(&$p)
    };
    (maybe_text $p:ident) => {
        $crate::op::aclnn::or_null($p.as_deref().map($crate::op::argument::Arg::Text))
    };
    (dtype $p:ident) => {
        $crate::op::argument::Arg::from($crate::op::aclnn::element_type($p.into()))
    };
    ($number:ident $p:ident) => {
        $crate::op::argument::Arg::from($p)
    };
}
use arg;

mod a;
mod b;
mod c;
mod d;
mod e;
mod f;
mod g;
mod h;
mod i;
mod k;
mod l;
mod m;
mod n;
mod o;
mod p;
mod q;
mod r;
mod s;
mod t;
mod u;
mod v;
mod w;
mod x;

pub use a::*;
pub use b::*;
pub use c::*;
pub use d::*;
pub use e::*;
pub use f::*;
pub use g::*;
pub use h::*;
pub use i::*;
pub use k::*;
pub use l::*;
pub use m::*;
pub use n::*;
pub use o::*;
pub use p::*;
pub use q::*;
pub use r::*;
pub use s::*;
pub use t::*;
pub use u::*;
pub use v::*;
pub use w::*;
pub use x::*;

/// The function of a C name, with its name here.
pub(super) fn find(name: &str) -> Option<(&'static str, &'static Function)> {
    // One has no more in front than all functions have.
    let own = name.strip_prefix("acl")?;
    let letter = own.strip_prefix("nn").unwrap_or(own).bytes().next()?.to_ascii_lowercase();
    let all = match letter {
        b'a' => &a::KNOWN,
        b'b' => &b::KNOWN,
        b'c' => &c::KNOWN,
        b'd' => &d::KNOWN,
        b'e' => &e::KNOWN,
        b'f' => &f::KNOWN,
        b'g' => &g::KNOWN,
        b'h' => &h::KNOWN,
        b'i' => &i::KNOWN,
        b'k' => &k::KNOWN,
        b'l' => &l::KNOWN,
        b'm' => &m::KNOWN,
        b'n' => &n::KNOWN,
        b'o' => &o::KNOWN,
        b'p' => &p::KNOWN,
        b'q' => &q::KNOWN,
        b'r' => &r::KNOWN,
        b's' => &s::KNOWN,
        b't' => &t::KNOWN,
        b'u' => &u::KNOWN,
        b'v' => &v::KNOWN,
        b'w' => &w::KNOWN,
        b'x' => &x::KNOWN,
        _ => return None,
    };
    let entry = acl_sys::Entry::find(name)?;
    all.functions().iter().find(|known| known.entry() == entry).map(|function| (function.label(), function))
}

pub(super) fn text(parameter: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|error| {
        Error::invalid(format!("{parameter} is a text with a zero byte: {text:?}")).with_source(error)
    })
}

/// What an operator is given, unless it is refused.
fn kept<T>(on: &dyn Submit, named: Named, given: Result<T>) -> Result<T> {
    given.map_err(|error| refuse(on, named, error))
}

/// An operator that is not submitted: a capture of the stream, or a plan, lacks it then, whatever becomes of the error.
#[cold]
pub(super) fn refuse(on: &dyn Submit, named: Named, error: Error) -> Error {
    match on.place() {
        Place::Stream(stream) => stream.refuse(named, error),
        Place::Recorder(recorder) => recorder.refuse(error.to_string(), named.1),
        Place::Footprint(_) => error,
    }
}

fn tensor(operand: Option<&dyn Operand>, access: Access) -> Arg<'_> {
    operand.map_or(Arg::NoTensor, |operand| Arg::Tensor(operand, access))
}

fn list(list: Option<&impl super::operand::List>, access: Access) -> Arg<'_> {
    list.map_or(Arg::NoTensors, |list| Arg::Tensors(list, access))
}

fn or_null(arg: Option<Arg<'_>>) -> Arg<'_> {
    arg.unwrap_or(Arg::Null)
}

fn element_type(kind: ElementType) -> acl_sys::aclDataType {
    kind.raw()
}

/// Gives the operator to where it is to go.
pub(super) fn submit(
    on: &dyn Submit,
    (function, label): (&'static Function, &'static str),
    location: &'static Location<'static>,
    args: &[Arg<'_>],
) -> Result<()> {
    match on.place() {
        Place::Stream(stream) => stream.take(&Call { function, label, location, args }),
        Place::Footprint(footprint) => {
            let mut footprint = footprint.borrow_mut();
            for arg in args {
                match *arg {
                    Arg::Tensor(operand, access) => footprint.note(&memory(operand)?, access),
                    Arg::Tensors(list, access) => {
                        (0..list.count())
                            .try_for_each(|index| memory(list.at(index)).map(|view| footprint.note(&view, access)))?;
                    }
                    _ => {}
                }
            }
            Ok(())
        }
        Place::Recorder(recorder) => recorder.record(&Call { function, label, location, args }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use acl_sys::Table;

    use super::*;
    use crate::op::told::Takes;

    #[test]
    fn every_operator_of_the_bindings_has_one_function() {
        let all = [
            a::NAMES,
            b::NAMES,
            c::NAMES,
            d::NAMES,
            e::NAMES,
            f::NAMES,
            g::NAMES,
            h::NAMES,
            i::NAMES,
            k::NAMES,
            l::NAMES,
            m::NAMES,
            n::NAMES,
            o::NAMES,
            p::NAMES,
            q::NAMES,
            r::NAMES,
            s::NAMES,
            t::NAMES,
            u::NAMES,
            v::NAMES,
            w::NAMES,
            x::NAMES,
        ]
        .concat();
        let here: BTreeSet<&str> = all.iter().map(|(_, name)| *name).collect();
        let names: BTreeSet<&str> = Table::names().map(|(name, _)| name).collect();
        let first_phases = names.iter().filter_map(|name| name.strip_suffix("GetWorkspaceSize"));
        let operators: BTreeSet<&str> = first_phases.filter(|name| names.contains(name)).collect();
        assert_eq!(here, operators);
        assert_eq!((here.len(), operators.len()), (940, all.len()));
        let rust: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
        assert_eq!(rust.len(), all.len(), "two functions have one name");
        let nothing: crate::op::first::FirstPhase = |_, _, _, _| 0;
        let id = |name| Function::new(name, name, nothing, |table| table.aclnnAbs()).id();
        let ids: BTreeSet<u64> = here.iter().map(|name| id(name)).collect();
        assert_eq!(ids.len(), here.len(), "two functions have one id");
        for (rust, name) in &all {
            let (label, function) = find(name).unwrap();
            assert_eq!((label, function.name(), function.id()), (*rust, *name, id(name)));
            assert_eq!(function.parameters().count(), function.takes().len(), "{name}");
        }
        let (_, cat) = find("aclnnCat").unwrap();
        assert_eq!(cat.parameters().collect::<Vec<_>>(), ["tensors", "dim", "out"]);
        assert_eq!(cat.parameter("out"), Some((2, Takes::Tensor(Access::Write, false))));
    }
}
