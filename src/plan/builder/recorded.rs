//! Operators of [`op::aclnn`](crate::op::aclnn) in a plan: the builder stands where a stream does, and values where
//! tensors do.

use crate::error::{Error, ErrorKind, Result};
use crate::op::{Awaited, Call, Described, Destination, Place, Record, Token, View};

use super::{Builder, Value};

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
}
