//! Numbers of operators that depend on the symbols of the plan.

use crate::error::{Error, Result};
use crate::op::{Call, DataType, Destination, Place, Record, Sizes, Tells, Token};
use crate::plan::recipe::quantity::{IntoQuantities, Quantity};
use crate::plan::symbols::dim::Dim;

use super::operators::elements;
use super::state::At;
use super::{Builder, Value};

/// A plan's [`Builder`] with numbers for the next operator that depend on symbols: [`Builder::telling`].
#[derive(Debug)]
pub struct Telling<'g> {
    builder: &'g Builder,
    pub(super) later: Vec<(String, Vec<Quantity>)>,
}

impl Builder {
    /// Stands where an operator of [`op::aclnn`](crate::op::aclnn) takes this builder, with other numbers for one of
    /// its parameters: integers, lists of integers or floats, floats and scalars, which may depend on symbols. They are
    /// computed when a graph is captured for their values, or at an eager run. What the call itself gives there is not
    /// looked at, but for the type of a scalar. `parameter` is the name in the signature of the function; whether the
    /// operator takes the numbers is the library's to judge.
    ///
    /// # Errors
    ///
    /// By the operator: [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a parameter that it does not have
    /// or that is no such number, for a list where one number is taken, and for symbols of another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{DataType::F32, aclnn};
    /// use racl::plan::{Input, Plan, Quantity, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let n = g.symbol("n", 1..=64)?;
    ///     let x = g.input("x", [n], F32, Input::Copied)?;
    ///     let mut twice = g.empty([n * 2], F32)?;
    ///     aclnn::cat(g, &[&x, &x], 0, &mut twice)?;
    ///     let mut last = g.empty([n], F32)?;
    ///     // the last n of 2·n numbers
    ///     aclnn::slice(&g.telling("start", n).telling("end", n * 2), &twice, 0, 0, 0, 1, &mut last)?;
    ///     let mut scaled = g.empty([n], F32)?;
    ///     aclnn::muls(&g.telling("other", Quantity::power(n, -0.5)), &last, 0.0_f32, &mut scaled)?;
    ///     g.output("y", scaled)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[2.0_f32, 4.0, 6.0, 8.0], [4]);
    /// # #[cfg(feature = "mock")]
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use = "an operator takes it in place of the builder"]
    pub fn telling(&self, parameter: &str, numbers: impl IntoQuantities) -> Telling<'_> {
        Telling { builder: self, later: Vec::new() }.telling(parameter, numbers)
    }
}

impl Builder {
    /// Tells sizes of a value that depend on symbols, but for parameters that the caller has told already.
    pub(super) fn tells_sizes(
        &self,
        mut later: Vec<(String, Vec<Quantity>)>,
        value: Value,
        sizes: &[(&str, Sizes)],
        at: At,
    ) -> Result<Tells<'_>> {
        let dims = self.state().dims_at(value, at)?;
        let mut numbers = Vec::with_capacity(sizes.len());
        for (parameter, wanted) in sizes {
            let own = match *wanted {
                Sizes::All => dims.clone(),
                Sizes::Of(dim) => vec![dims.get(dim).copied().unwrap_or(Dim::from(0))],
                Sizes::From(dim) => vec![elements(dims.get(dim..).unwrap_or_default())],
                // The operator refuses less than nothing.
                Sizes::Times(times) => vec![elements(&dims) * usize::try_from(times).unwrap_or(0)],
            };
            let fixed = |size: &Dim| size.as_fixed().and_then(|size| i64::try_from(size).ok());
            let known: Option<Vec<i64>> = own.iter().map(fixed).collect();
            if known.is_none() && !later.iter().any(|(told, _)| told == parameter) {
                later.push(((*parameter).to_owned(), own.iter().map(|size| Quantity::from(*size)).collect()));
            }
            numbers.push(known.unwrap_or_else(|| vec![0; own.len()]));
        }
        let telling = (!later.is_empty()).then(|| Box::new(Telling { builder: self, later }) as Box<dyn Record + '_>);
        Ok((telling, numbers))
    }

    /// Tells those of some sizes that depend on symbols; gives what the call says of all of them.
    pub(super) fn sizes_told<const N: usize>(&self, sizes: [(&str, Dim); N]) -> (Telling<'_>, [i64; N]) {
        let mut telling = Telling { builder: self, later: Vec::new() };
        let numbers = sizes.map(|(parameter, size)| match size.as_fixed().map(i64::try_from) {
            Some(Ok(number)) => number,
            _ => {
                telling.later.push((parameter.to_owned(), vec![size.into()]));
                0
            }
        });
        (telling, numbers)
    }
}

impl Telling<'_> {
    /// Numbers for another parameter too, or others for the same one.
    #[must_use = "an operator takes it in place of the builder"]
    pub fn telling(mut self, parameter: &str, numbers: impl IntoQuantities) -> Self {
        self.later.retain(|(known, _)| known != parameter);
        self.later.push((parameter.to_owned(), numbers.into_quantities()));
        self
    }
}

impl Destination for Telling<'_> {
    fn place(&self) -> Place<'_> {
        Place::Recorder(self)
    }
}

impl Record for Telling<'_> {
    #[allow(private_interfaces)]
    fn record(&self, call: &Call<'_>) -> Result<()> {
        self.builder.record_told(call, &self.later)
    }

    fn dtype(&self, token: Token, at: At) -> Result<DataType> {
        Record::dtype(self.builder, token, at)
    }

    fn tells<'a>(&'a self, token: Token, sizes: &[(&str, Sizes)], at: At) -> Result<Tells<'a>> {
        self.builder.tells_sizes(self.later.clone(), token.into(), sizes, at)
    }

    fn size(&self, token: Token, dim: usize, at: At) -> Result<i64> {
        Record::size(self.builder, token, dim, at)
    }

    fn refuse(&self, text: String, at: At) -> Error {
        Record::refuse(self.builder, text, at)
    }
}
