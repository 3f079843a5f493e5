//! Operators whose name and arguments are known when the program runs.

use std::ffi::CString;
use std::fmt;
use std::panic::Location;

use super::aclnn;
use super::any::ElementType;
use super::argument::Arg;
use super::executor::Function;
use super::operand::{Operand, Submit};
use super::scalar::Scalar;
use super::told::{Numeral, Takes};
use crate::error::{Error, Result};

/// One argument of an operator that is [called by its name](call).
///
/// Results are tensors as operands are: what is written is known by the operator.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Argument<'a> {
    /// A tensor that may be left out, and is; so a scalar, a list or a text.
    None,
    /// An operand, or a result.
    Tensor(&'a dyn Operand),
    /// A list of operands, or of results.
    Tensors(&'a [&'a dyn Operand]),
    /// A number of a type.
    Scalar(Scalar),
    /// A list of them.
    Scalars(&'a [Scalar]),
    /// A list of integers, such as dimensions.
    Ints(&'a [i64]),
    /// A list of floats.
    Floats(&'a [f32]),
    /// A list of truth values.
    Bools(&'a [bool]),
    /// A text without a zero byte.
    Text(&'a str),
    /// An integer; also a float, or a scalar of 64 bits, where the operator takes one.
    Int(i64),
    /// A float; also a scalar of 64 bits.
    Float(f64),
    /// A truth value; also a scalar.
    Bool(bool),
    /// An element type.
    Type(ElementType),
}

impl fmt::Debug for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("nothing"),
            Self::Tensor(_) => f.write_str("a tensor"),
            Self::Tensors(list) => write!(f, "a list of {} tensors", list.len()),
            Self::Scalar(_) => f.write_str("a scalar"),
            Self::Scalars(list) => write!(f, "a list of {} scalars", list.len()),
            Self::Ints(list) => write!(f, "the integers {list:?}"),
            Self::Floats(list) => write!(f, "the floats {list:?}"),
            Self::Bools(list) => write!(f, "the truth values {list:?}"),
            Self::Text(text) => write!(f, "the text {text:?}"),
            Self::Int(number) => write!(f, "the integer {number}"),
            Self::Float(number) => write!(f, "the float {number:?}"),
            Self::Bool(truth) => write!(f, "the truth value {truth}"),
            Self::Type(kind) => write!(f, "the type {}", kind.number()),
        }
    }
}

/// Gives the operator of this C name to a stream, a plan's builder, or a probe: as the function of
/// [`aclnn`](crate::op::aclnn) with its name, for programs that learn it when they run. Arguments are those of the C
/// function's first phase, in its order, without the two results of the phase itself.
///
/// # Errors
///
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that no operator has, for another
/// number of arguments, or for one that its parameter does not take, which the text names; otherwise as all operators
/// ([errors](crate::op#errors)).
///
/// # Examples
///
/// ```
/// use racl::op::{self, Argument};
///
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let x = device.upload_tensor(&[3.0_f32, 1.0, 2.0], [3])?;
/// let (values, order) = (device.zeros::<f32>([3])?, device.zeros::<i64>([3])?);
/// let falling = Argument::Bool(true);
/// op::call(
///     &stream,
///     "aclnnSort",
///     &[Argument::Tensor(&x), Argument::Bool(true), Argument::Int(0), falling, Argument::Tensor(&values), Argument::Tensor(&order)],
/// )?;
/// assert_eq!((values.to_vec()?, order.to_vec()?), (vec![3.0, 2.0, 1.0], vec![0, 2, 1]));
/// let error = op::call(&stream, "aclnnSort", &[Argument::Tensor(&x)]).unwrap_err();
/// assert!(error.to_string().contains("takes 6 arguments"), "{error}");
/// # Ok::<(), racl::Error>(())
/// ```
#[track_caller]
pub fn call(on: &dyn Submit, name: &str, arguments: &[Argument<'_>]) -> Result<()> {
    let location = Location::caller();
    let found = aclnn::find(name);
    let named = (found.map_or("an operator", |(label, _)| label), location);
    let refuse = |error| aclnn::refuse(on, named, error);
    let (label, function) = found.ok_or_else(|| refuse(Error::invalid(format!("no operator {name:?}"))))?;
    let texts = texts(function, arguments).map_err(refuse)?;
    let args = fit(function, arguments, &texts).map_err(refuse)?;
    aclnn::submit(on, (function, label), location, &args)
}

/// The texts among as many arguments as the operator has, with zeroes at their ends.
fn texts(function: &Function, arguments: &[Argument<'_>]) -> Result<Vec<Option<CString>>> {
    let names = function.parameters();
    if function.takes().len() != arguments.len() {
        let (name, count, given) = (function.name(), function.takes().len(), arguments.len());
        let names = names.collect::<Vec<_>>().join(", ");
        return Err(Error::invalid(format!("{name} takes {count} arguments ({names}), and was given {given}")));
    }
    let text = |(argument, name): (&Argument<'_>, &str)| match argument {
        Argument::Text(text) => aclnn::text(name, text).map(Some),
        _ => Ok(None),
    };
    arguments.iter().zip(names).map(text).collect()
}

fn fit<'a>(function: &Function, arguments: &'a [Argument<'a>], texts: &'a [Option<CString>]) -> Result<Vec<Arg<'a>>> {
    let all = arguments.iter().zip(texts).zip(function.takes()).zip(function.parameters());
    let one = |(((argument, text), takes), parameter): (((&'a Argument<'a>, &'a Option<CString>), &Takes), &str)| {
        let name = function.name();
        let odd = || Error::invalid(format!("{name}: {parameter} is {argument:?}, and the operator takes {takes}"));
        argument.fit(*takes, text.as_ref()).ok_or_else(odd)
    };
    all.map(one).collect()
}

/// Whether there is an operator of this name, and what its parameters are called; also of operators that the library
/// in use does not have.
#[must_use]
pub fn parameters(name: &str) -> Option<Vec<&'static str>> {
    Some(aclnn::find(name)?.1.parameters().collect())
}

impl Argument<'_> {
    /// What a parameter is given; none where it does not take this.
    fn fit<'a>(&'a self, takes: Takes, text: Option<&'a CString>) -> Option<Arg<'a>> {
        Some(match (takes, self) {
            (Takes::Tensor(access, _), Self::Tensor(operand)) => Arg::Tensor(*operand, access),
            (Takes::Tensors(access, _), Self::Tensors(list)) => Arg::Tensors(list, access),
            (Takes::Tensor(_, true), Self::None) => Arg::NoTensor,
            (Takes::Tensors(_, true), Self::None) => Arg::NoTensors,
            (
                Takes::Scalar(true)
                | Takes::Ints(true)
                | Takes::Floats(true)
                | Takes::Bools(true)
                | Takes::Text(true),
                Self::None,
            ) => Arg::Null,
            (Takes::Scalar(_), Self::Scalar(scalar)) => Arg::Scalar(*scalar),
            (Takes::Scalar(_), Self::Int(number)) => Arg::Scalar(Scalar::from(*number)),
            (Takes::Scalar(_), Self::Float(number)) => Arg::Scalar(Scalar::from(*number)),
            (Takes::Scalar(_), Self::Bool(truth)) => Arg::Scalar(Scalar::from(*truth)),
            (Takes::Scalars, Self::Scalars(list)) => Arg::Scalars(list),
            (Takes::Ints(_), Self::Ints(list)) => Arg::Ints(list),
            (Takes::Floats(_), Self::Floats(list)) => Arg::Floats(list),
            (Takes::Bools(_), Self::Bools(list)) => Arg::Bools(list),
            (Takes::Text(_), Self::Text(_)) => Arg::Text(text?),
            (Takes::Number(numeral), number) => number.number(numeral)?,
            _ => return None,
        })
    }

    fn number<'a>(&self, numeral: Numeral) -> Option<Arg<'a>> {
        Some(match (numeral, self) {
            (Numeral::Int(1), Self::Int(number)) => Arg::from(i8::try_from(*number).ok()?),
            (Numeral::Int(4), Self::Int(number)) => Arg::from(i32::try_from(*number).ok()?),
            (Numeral::Int(8), Self::Int(number)) => Arg::from(*number),
            (Numeral::Count, Self::Int(number)) => Arg::from(u64::try_from(*number).ok()?),
            (Numeral::Float, Self::Float(number)) => Arg::from(*number),
            (Numeral::Float, Self::Int(number)) => Arg::from(*number as f64),
            (Numeral::Truth, Self::Bool(truth)) => Arg::from(*truth),
            (Numeral::Type, Self::Type(kind)) => Arg::from(kind.raw()),
            _ => return None,
        })
    }
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, optional) = match *self {
            Self::Tensor(_, optional) => ("a tensor", optional),
            Self::Tensors(_, optional) => ("a list of tensors", optional),
            Self::Scalar(optional) => ("a scalar", optional),
            Self::Scalars => ("a list of scalars", false),
            Self::Ints(optional) => ("a list of integers", optional),
            Self::Floats(optional) => ("a list of floats", optional),
            Self::Bools(optional) => ("a list of truth values", optional),
            Self::Text(optional) => ("a text", optional),
            Self::Number(Numeral::Int(bytes)) => return write!(f, "an integer of {bytes} bytes"),
            Self::Number(Numeral::Count) => ("an integer that is not negative", false),
            Self::Number(Numeral::Float) => ("a float", false),
            Self::Number(Numeral::Truth) => ("a truth value", false),
            Self::Number(Numeral::Type) => ("an element type", false),
        };
        f.write_str(what)?;
        if optional { f.write_str(", or nothing") } else { Ok(()) }
    }
}
