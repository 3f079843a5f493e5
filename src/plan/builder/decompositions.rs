//! Decompositions: operators that are written as smaller ones while a plan is built.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::op::{DataType, Numeral, Recorded, Takes, Told};
use crate::plan::recipe::quantity::Later;
use crate::plan::symbols::dim::Dim;

use super::{Builder, Value};

/// Operators that have no decomposition: every plan is made of these, the results of decompositions too.
const WITHOUT: [&str; 2] = ["aclnnInplaceCopy", "aclnnInplaceFillScalar"];

pub(crate) type Rewrite = Arc<dyn Fn(&Builder, &Operation, &[Value]) -> Result<Value> + Send + Sync>;

/// An operator of the library as it was asked for: its name in C, and what it is told beside its tensors. What a
/// decomposition is given.
///
/// Parameters have the names of the function in [`op::aclnn`](crate::op::aclnn). One that there is not, that is of
/// another kind or left out, and one whose number is [told later](Builder::telling), has no number here.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Decompositions, Input, Options, Plan};
///
/// // Products with 1 are what they are of.
/// let table = Decompositions::new().with("aclnnMuls", 1, |g, operation, operands| {
///     assert_eq!((operation.name(), operation.number("beta")), ("aclnnMuls", None));
///     match operation.number("other") {
///         Some(1.0) => g.abs(operands[0]),
///         other => g.adds(operands[0], other.unwrap_or(0.0)),
///     }
/// })?;
/// let plan = Plan::build_decomposed(Options::new(), &table, |g| {
///     let x = g.input("x", [4], F32, Input::Copied)?;
///     let y = g.muls(x, 1.0)?;
///     g.output("y", y)
/// })?;
/// assert!(plan.to_text().contains("aclnnAbs"));
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Operation {
    recorded: Arc<Recorded>,
    later: Vec<Later>,
}

impl Operation {
    pub(crate) fn of(recorded: Arc<Recorded>, later: Vec<Later>) -> Self {
        Self { recorded, later }
    }

    /// The name in C, such as `aclnnAdd`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.recorded.name()
    }

    /// An integer or a truth value, which is 0 or 1.
    #[must_use]
    pub fn integer(&self, parameter: &str) -> Option<i64> {
        let (takes, told) = self.told(parameter)?;
        told.int().filter(|_| !matches!(takes, Takes::Number(Numeral::Float | Numeral::Type)))
    }

    /// A list of integers.
    #[must_use]
    pub fn integers(&self, parameter: &str) -> Option<&[i64]> {
        self.told(parameter)?.1.ints()
    }

    /// A floating-point number, or a scalar.
    #[must_use]
    pub fn number(&self, parameter: &str) -> Option<f64> {
        match self.told(parameter)? {
            (Takes::Number(Numeral::Float), told) => told.real(),
            (_, told) => told.scalar()?.number().map(|(_, number, _)| number),
        }
    }

    /// A type of elements.
    #[must_use]
    pub fn data_type(&self, parameter: &str) -> Option<DataType> {
        match self.told(parameter)? {
            (Takes::Number(Numeral::Type), told) => {
                let raw = told.int()?;
                DataType::ALL.into_iter().find(|dtype| i64::from(dtype.raw().0) == raw)
            }
            _ => None,
        }
    }

    /// What a parameter takes, and what it is told now.
    fn told(&self, parameter: &str) -> Option<(Takes, &Told)> {
        let index = self.recorded.index(parameter)?;
        let known = !self.later.iter().any(|later| later.parameter == parameter);
        known.then_some((*self.recorded.kinds().get(index)?, self.recorded.told().get(index)?))
    }
}

/// A table of operators and what is issued in their place while a plan is built.
///
/// A rewrite gets the builder, the operator and the values that it reads, and gives a new value of the type and shape of
/// its result, of which it has one; where the result is declared, or an operand is changed in place, the value is copied
/// there. It may use any operator that is not being rewritten at that moment; other entries of the table apply inside it
/// too. It is asked for methods of the builder and functions of [`op::aclnn`](crate::op::aclnn) alike.
///
/// A rewrite has a version, which its author changes with what it does: a compile cache keeps plans of different
/// tables apart by names and versions.
///
/// # Examples
///
/// ```
/// use racl::op::DataType::F32;
/// use racl::plan::{Decompositions, Input, Options, Plan};
///
/// // x / sqrt(x), for numbers above 0.
/// let table = Decompositions::new().with("aclnnSqrt", 1, |g, _, operands| {
///     let below = g.rsqrt(operands[0])?;
///     g.mul(operands[0], below)
/// })?;
/// let plan = Plan::build_decomposed(Options::new(), &table, |g| {
///     let x = g.input("x", [4], F32, Input::Copied)?;
///     let y = g.sqrt(x)?;
///     g.output("y", y)
/// })?;
/// assert_eq!(plan.operators(), 2);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone, Default)]
#[doc(alias = "custom_decompositions")]
pub struct Decompositions(Arc<BTreeMap<&'static str, Entry>>);

#[derive(Clone)]
struct Entry {
    version: u32,
    rewrite: Rewrite,
}

impl Decompositions {
    /// No rewrite.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the rewrite of an operator, by its name in C.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an operator that there is not,
    /// `aclnnInplaceCopy` and `aclnnInplaceFillScalar`, and one that the table has.
    pub fn with(
        mut self,
        operator: &str,
        version: u32,
        rewrite: impl Fn(&Builder, &Operation, &[Value]) -> Result<Value> + Send + Sync + 'static,
    ) -> Result<Self> {
        let Some(name) = operator_named(operator).filter(|name| !WITHOUT.contains(name)) else {
            return Err(Error::invalid(format!(
                "a decomposition of {operator:?}, which is no operator of the library that can have one; names are \
                 those in C, such as aclnnAdd"
            )));
        };
        if self.0.contains_key(name) {
            return Err(Error::invalid(format!("a second decomposition of {name:?}")));
        }
        Arc::make_mut(&mut self.0).insert(name, Entry { version, rewrite: Arc::new(rewrite) });
        Ok(self)
    }

    /// Whether there is no rewrite.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Names and versions, in the order of the names.
    pub fn versions(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        self.0.iter().map(|(name, entry)| (*name, entry.version))
    }

    pub(crate) fn of(&self, name: &str) -> Option<(&'static str, Rewrite)> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get_key_value(name).map(|(name, entry)| (*name, Arc::clone(&entry.rewrite)))
    }
}

/// The name of an operator of the library, which has two phases.
fn operator_named(name: &str) -> Option<&'static str> {
    let names = || acl_sys::Table::names().map(|(name, _)| name);
    let phase = |known: &str| known.strip_suffix("GetWorkspaceSize") == Some(name);
    names().find(|known| *known == name).filter(|_| names().any(phase))
}

impl fmt::Debug for Decompositions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.versions()).finish()
    }
}

/// What a rewritten operator would have given.
pub(crate) type Expected = (DataType, Vec<Dim>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::op::aclnn;
    use crate::plan::{Inferred, Input, Options, Plan};

    fn table(version: u32) -> Decompositions {
        let table = Decompositions::new().with("aclnnMaximum", version, |g, _, operands| {
            let (a, b) = (operands[0], operands[1]);
            let apart = g.sub(a, b)?;
            let apart = g.abs(apart)?;
            let sum = g.add(a, b)?;
            let twice = g.add(sum, apart)?;
            g.muls(twice, 0.5)
        });
        table.unwrap()
    }

    fn names(plan: &Plan) -> Vec<&str> {
        let recipe = &plan.0.recipe;
        recipe.nodes.iter().map(|node| recipe.operator(node).map_or("other", |name| &name["aclnn".len()..])).collect()
    }

    fn largest(g: &Builder) -> Result<()> {
        let x = g.input("x", [4], DataType::F32, Input::Copied)?;
        let w = g.input("w", [4], DataType::F32, Input::Copied)?;
        let y = g.maximum(x, w)?;
        g.output("y", y)
    }

    #[test]
    fn an_operator_of_the_table_is_issued_as_its_parts() {
        assert_eq!(names(&Plan::build(largest).unwrap()), ["Maximum"]);
        let plan = Plan::build_decomposed(Options::new(), &table(1), largest).unwrap();
        assert_eq!(names(&plan), ["Sub", "Abs", "Add", "Add", "Muls"]);
    }

    #[test]
    fn a_result_that_goes_into_a_value_is_copied_there() {
        let plan = Plan::build_decomposed(Options::new(), &table(1), |g| {
            let x = g.input("x", [4], DataType::F32, Input::Copied)?;
            let w = g.muls(x, 2.0)?;
            aclnn::maximum(g, &w, &x, &mut { w })?;
            g.output("y", w)
        });
        assert_eq!(names(&plan.unwrap()), ["Muls", "Sub", "Abs", "Add", "Add", "Muls", "InplaceCopy"]);
    }

    #[test]
    fn calls_by_c_name_are_rewritten_wherever_their_results_go() {
        let table = Decompositions::new()
            .with("aclnnSilu", 1, |g, _, x| {
                let mut share = Inferred::new();
                aclnn::sigmoid(g, &x[0], &mut share)?;
                g.mul(x[0], share.value()?)
            })
            .unwrap()
            .with("aclnnInplaceMuls", 1, |g, operation, x| g.muls(x[0], operation.number("other").unwrap_or(0.0)))
            .unwrap();
        let plan = Plan::build_decomposed(Options::new(), &table, |g| {
            let x = g.input("x", [4], DataType::F32, Input::Copied)?;
            let mut made = Inferred::new();
            aclnn::silu(g, &x, &mut made)?;
            aclnn::inplace_muls(g, &mut made, 3.0_f32)?;
            let mut declared = g.empty([2, 2], DataType::F32)?;
            aclnn::silu(g, &g.reshape(made.value()?, [2, 2])?, &mut declared)?;
            g.output("y", declared)
        });
        let all = ["Sigmoid", "Mul", "Muls", "InplaceCopy", "Sigmoid", "Mul", "InplaceCopy"];
        assert_eq!(names(&plan.unwrap()), all);
    }

    #[test]
    fn an_operator_of_two_results_has_no_rewrite() {
        let same = |_: &Builder, _: &Operation, operands: &[Value]| Ok(operands[0]);
        let table = Decompositions::new().with("aclnnSort", 1, same).unwrap();
        let error = Plan::build_decomposed(Options::new(), &table, |g| {
            let x = g.input("x", [4], DataType::F32, Input::Copied)?;
            let (values, _) = g.sort(x, 0, false)?;
            g.output("y", values)
        });
        let text = error.unwrap_err().to_string();
        assert!(text.contains("aclnnSort: a decomposition gives one result"), "{text}");
    }

    #[test]
    fn a_rewrite_is_told_what_the_operator_is_told() {
        let table = Decompositions::new()
            .with("aclnnReduceSum", 1, |g, operation, x| {
                assert_eq!(operation.integers("dims"), Some(&[1, 0][..]));
                assert_eq!((operation.integer("keep_dims"), operation.integer("dtype")), (Some(1), None));
                assert_eq!(operation.data_type("dtype"), Some(DataType::F32));
                assert_eq!((operation.number("keep_dims"), operation.number("alpha")), (None, None));
                let mean = g.mean(x[0], &[0, 1], true)?;
                g.muls(mean, 4.0)
            })
            .unwrap()
            .with("aclnnSlice", 1, |g, operation, x| {
                // A number that is told later is none.
                assert_eq!((operation.integer("start"), operation.integer("end")), (Some(0), None));
                let half = g.narrow(x[0], 0, 0..1)?;
                let mut copy = Inferred::new();
                aclnn::inplace_copy(g, &mut copy, &half)?;
                copy.value()
            })
            .unwrap();
        let plan = Plan::build_decomposed(Options::new(), &table, |g| {
            let x = g.input("x", [2, 2], DataType::F32, Input::Copied)?;
            g.output("sum", g.reduce_sum(x, &[1, 0], true)?)?;
            let mut slice = Inferred::new();
            aclnn::slice(&g.telling("end", 1), &x, 0, 0, 2, 1, &mut slice)?;
            g.output("slice", slice.value()?)
        });
        assert_eq!(names(&plan.unwrap()), ["Mean", "Muls", "InplaceCopy"]);
    }

    #[track_caller]
    fn refused(table: &Decompositions, part: &str) {
        let error = Plan::build_decomposed(Options::new(), table, largest).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPlan, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }

    #[test]
    fn a_rewrite_that_leads_back_to_its_operator_is_refused() {
        let to_sub = |g: &Builder, _: &Operation, operands: &[Value]| g.sub(operands[0], operands[1]);
        let to_max = |g: &Builder, _: &Operation, operands: &[Value]| g.maximum(operands[0], operands[1]);
        refused(
            &Decompositions::new().with("aclnnMaximum", 1, to_max).unwrap(),
            "leads back to it: aclnnMaximum → aclnnMaximum",
        );
        let circle =
            Decompositions::new().with("aclnnMaximum", 1, to_sub).unwrap().with("aclnnSub", 1, to_max).unwrap();
        refused(&circle, "leads back to it: aclnnMaximum → aclnnSub → aclnnMaximum");
    }

    #[test]
    fn a_rewrite_gives_a_new_value_of_the_same_type_and_shape() {
        let with = |rewrite: fn(&Builder, &Operation, &[Value]) -> Result<Value>| {
            Decompositions::new().with("aclnnMaximum", 1, rewrite).unwrap()
        };
        refused(&with(|g, _, operands| g.reduce_sum(operands[0], &[], false)), "gives F32 [], the operator F32 [4]");
        refused(&with(|g, _, operands| g.cast(operands[0], DataType::F16)), "gives F16 [4], the operator F32 [4]");
        refused(&with(|_, _, operands| Ok(operands[0])), "was there before");
    }

    #[test]
    fn names_that_have_no_meaning_are_refused() {
        let same = |_: &Builder, _: &Operation, operands: &[Value]| Ok(operands[0]);
        for name in [
            "aclnnMaximun",
            "maximum",
            "aclnnMaximumGetWorkspaceSize",
            "aclnnInplaceCopy",
            "aclnnInplaceFillScalar",
            "",
        ] {
            let error = Decompositions::new().with(name, 1, same).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
        let twice = Decompositions::new().with("aclnnAdd", 1, same).unwrap().with("aclnnAdd", 2, same);
        assert!(twice.unwrap_err().to_string().contains("a second decomposition of \"aclnnAdd\""));
        let table = table(7).with("aclnnAdd", 2, same).unwrap();
        assert_eq!(table.versions().collect::<Vec<_>>(), [("aclnnAdd", 2), ("aclnnMaximum", 7)]);
    }
}
