//! Operators of [`op::aclnn`](crate::op::aclnn) in a plan: the builder stands where a stream does, and values where
//! tensors do.

use std::panic::Location;

use crate::error::{Error, ErrorKind, Result};
use crate::op::{
    Awaited, Call, Counted, DataType, Described, Destination, Element, Elements, Floats, Indices, Kind, Numerics, Of,
    On, Operand, Place, Record, Scalar, Sizes, Submit, Tells, Token, View, plan_of,
};
use crate::plan::recipe::element::scalar_of;
use crate::plan::recipe::operator::Number;

use super::state::At;
use super::{Builder, Telling, Value};

impl Described for Value {
    #[allow(private_interfaces)]
    fn view(&self) -> Option<View<'_>> {
        None
    }

    fn token(&self) -> Option<Token> {
        Some(Token { owner: self.plan, index: self.index, version: self.version })
    }
}

impl From<Token> for Value {
    fn from(token: Token) -> Self {
        Self { plan: token.owner, index: token.index, version: token.version }
    }
}

impl From<Value> for Token {
    fn from(value: Value) -> Self {
        Self { owner: value.plan, index: value.index, version: value.version }
    }
}

/// A result of an operator of [`op::aclnn`](crate::op::aclnn) that the plan makes: it stands where a result is
/// written, and its type and shape follow from the operands.
///
/// Rules are known of most operators that the mock computes; of others results are values that the caller
/// [declares](Builder::empty). Once its operator is recorded it stands for the value, also where a value is read. An
/// operator that is refused leaves it as it was.
///
/// # Examples
///
/// ```
/// use racl::op::{DataType::F32, aclnn};
/// use racl::plan::{Inferred, Input, Plan};
///
/// let plan = Plan::build(|g| {
///     let rows = g.symbol("rows", 1..=64)?;
///     let a = g.input("a", [rows, 4.into()], F32, Input::Copied)?;
///     let (mut sorted, mut order) = (Inferred::new(), Inferred::new());
///     aclnn::sort(g, &a, true, -1, false, &mut sorted, &mut order)?;
///     g.output("sorted", sorted.value()?)?; // f32, [rows, 4]
///     g.output("order", order.value()?) // i64, [rows, 4]
/// })?;
/// assert_eq!(plan.operators(), 1);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Inferred(Awaited);

impl Inferred {
    /// One that no operator has made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The value that its operator made.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`] before an operator that writes it is recorded.
    pub fn value(&self) -> Result<Value> {
        self.0
            .token()
            .map(Value::from)
            .ok_or_else(|| Error::new(ErrorKind::InvalidPlan, "a result to be inferred, and no operator has made it"))
    }
}

impl Described for Inferred {
    #[allow(private_interfaces)]
    fn view(&self) -> Option<View<'_>> {
        None
    }

    fn token(&self) -> Option<Token> {
        self.0.token()
    }

    fn awaited(&self) -> Option<&Awaited> {
        Some(&self.0)
    }
}

impl Destination for Builder {
    fn place(&self) -> Place<'_> {
        Place::Recorder(self)
    }
}

impl Record for Builder {
    #[allow(private_interfaces)]
    fn record(&self, call: &Call<'_>) -> Result<()> {
        self.record_told(call, &[])
    }

    fn dtype(&self, token: Token, at: At) -> Result<DataType> {
        self.state().dtype_at(token.into(), at)
    }

    fn tells<'a>(&'a self, token: Token, sizes: &[(&str, Sizes)], at: At) -> Result<Tells<'a>> {
        self.tells_sizes(Vec::new(), token.into(), sizes, at)
    }

    fn size(&self, token: Token, dim: usize, at: At) -> Result<i64> {
        self.state().told(token.into(), dim..dim + 1, at).map(|sizes| sizes[0])
    }

    fn refuse(&self, text: String, at: At) -> Error {
        self.state().refuse(&text, at)
    }
}

/// Where functions of [`op`](crate::op) with fixed types have element types, what the values of a plan have: their
/// types are known when the plan is recorded, and judged then.
///
/// # Examples
///
/// ```
/// use racl::op::{self, DataType::F32, Floats, Of, On};
/// use racl::plan::{Inferred, Input, Plan, Simulated};
///
/// /// For a stream and tensors, and for the builder of a plan and its values.
/// fn gated<T: Floats>(on: &impl On<T>, x: &impl Of<T>, gate: &mut impl Of<T>, out: &mut impl Of<T>) -> racl::Result<()> {
///     op::sigmoid(on, x, gate)?;
///     op::mul(on, x, gate, out)
/// }
///
/// let plan = Plan::build(|g| {
///     let x = g.input("x", [2], F32, Input::Copied)?;
///     let (mut gate, mut out) = (Inferred::new(), Inferred::new());
///     gated(g, &x, &mut gate, &mut out)?;
///     g.output("y", out.value()?)
/// })?;
/// let given = Simulated::new().tensor("x", &[0.0_f32, 100.0], [2]);
/// # #[cfg(feature = "mock")]
/// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [0.0, 100.0]);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planned {}

impl Kind for Planned {
    type Given = Number;

    #[track_caller]
    fn scalar(number: Number, on: &dyn Submit, like: &dyn Operand) -> Result<Scalar> {
        let (dtype, at) = (Self::dtype(on, like)?, Location::caller());
        let (recorder, _) = plan_of(on, like)?;
        scalar_of(number, dtype).map_err(|text| recorder.refuse(format!("a number: {text}"), at))
    }

    #[track_caller]
    fn dtype(on: &dyn Submit, like: &dyn Operand) -> Result<DataType> {
        let (recorder, token) = plan_of(on, like)?;
        recorder.dtype(token, Location::caller())
    }
}

impl Counted for Planned {
    #[track_caller]
    fn one(on: &dyn Submit, like: &dyn Operand) -> Result<Scalar> {
        Self::scalar(Number::Int(1), on, like)
    }
}

impl Elements for Planned {
    type Operand = Value;
    type Out = Inferred;
    type Number = Number;
    type As<U: Element> = Self;
}

impl Numerics for Planned {}
impl Floats for Planned {}
impl Indices for Planned {}

impl Of<Planned> for Value {}
impl Of<Planned> for Inferred {}

impl On<Planned> for Builder {}
impl On<Planned> for Telling<'_> {}
