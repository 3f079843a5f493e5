//! Decompositions: operators that are written as smaller ones while a plan is built.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::op::DataType;
use crate::plan::recipe::operator::Operator;
use crate::plan::symbols::dim::Dim;

use super::{Builder, Value};

/// The operators that can be rewritten: all but fills and copies, of which every plan is made.
const NAMES: [&str; 26] = [
    "abs",
    "add",
    "add_scaled",
    "addmm",
    "adds",
    "batch_matmul",
    "cast",
    "clamp_min",
    "div",
    "divs",
    "embedding",
    "gelu",
    "layer_norm",
    "matmul",
    "maximum",
    "mean",
    "mm",
    "mul",
    "muls",
    "permute",
    "reduce_sum",
    "rsqrt",
    "softmax",
    "sqrt",
    "sub",
    "tanh",
];

pub(crate) type Rewrite = Arc<dyn Fn(&Builder, Operator, &[Value]) -> Result<Value> + Send + Sync>;

/// A table of operators and what is issued in their place while a plan is built.
///
/// A rewrite gets the builder, the operator and its operands, and gives a new value of the same type and shape. It
/// may use any operator that is not being rewritten at that moment; other entries of the table apply inside it too.
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
/// let table = Decompositions::new().with("sqrt", 1, |g, _, operands| {
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

    /// Adds the rewrite of an operator, by the name of its function in [`racl::op`](crate::op).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for an operator that there is not, a fill or
    /// copy, or one that the table has.
    pub fn with(
        mut self,
        operator: &str,
        version: u32,
        rewrite: impl Fn(&Builder, Operator, &[Value]) -> Result<Value> + Send + Sync + 'static,
    ) -> Result<Self> {
        let Some(name) = NAMES.into_iter().find(|name| *name == operator) else {
            return Err(Error::invalid(format!(
                "a decomposition of {operator:?}; the operators that can have one are {}",
                NAMES.join(", ")
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

    pub(crate) fn of(&self, operator: &Operator) -> Option<(&'static str, Rewrite)> {
        if self.0.is_empty() {
            return None;
        }
        let name = operator.name();
        debug_assert!(
            NAMES.contains(&name) || matches!(operator, Operator::Fill { .. } | Operator::Copy),
            "{name} is not in the list of names"
        );
        self.0.get_key_value(name).map(|(name, entry)| (*name, Arc::clone(&entry.rewrite)))
    }
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
    use crate::plan::recipe::NodeKind;
    use crate::plan::{Input, Options, Plan};

    fn table(version: u32) -> Decompositions {
        let table = Decompositions::new().with("maximum", version, |g, _, operands| {
            let (a, b) = (operands[0], operands[1]);
            let apart = g.sub(a, b)?;
            let apart = g.abs(apart)?;
            let sum = g.add(a, b)?;
            let twice = g.add(sum, apart)?;
            g.muls(twice, 0.5)
        });
        table.unwrap()
    }

    fn names(plan: &Plan) -> Vec<&'static str> {
        let nodes = plan.0.recipe.nodes.iter();
        nodes
            .map(|node| match node.kind {
                NodeKind::Op(operator) => operator.name(),
                _ => "other",
            })
            .collect()
    }

    fn largest(g: &Builder) -> Result<()> {
        let x = g.input("x", [4], DataType::F32, Input::Copied)?;
        let w = g.input("w", [4], DataType::F32, Input::Copied)?;
        let y = g.maximum(x, w)?;
        g.output("y", y)
    }

    #[test]
    fn an_operator_of_the_table_is_issued_as_its_parts() {
        assert_eq!(names(&Plan::build(largest).unwrap()), ["maximum"]);
        let plan = Plan::build_decomposed(Options::new(), &table(1), largest).unwrap();
        assert_eq!(names(&plan), ["sub", "abs", "add", "add", "muls"]);
    }

    #[test]
    fn a_result_that_goes_into_a_value_is_copied_there() {
        let plan = Plan::build_decomposed(Options::new(), &table(1), |g| {
            let x = g.input("x", [4], DataType::F32, Input::Copied)?;
            let w = g.muls(x, 2.0)?;
            g.op_into(Operator::Maximum, &[w, x], w)?;
            g.output("y", w)
        });
        assert_eq!(names(&plan.unwrap()), ["muls", "sub", "abs", "add", "add", "muls", "copy"]);
    }

    #[track_caller]
    fn refused(table: &Decompositions, part: &str) {
        let error = Plan::build_decomposed(Options::new(), table, largest).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidPlan, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }

    #[test]
    fn a_rewrite_that_leads_back_to_its_operator_is_refused() {
        let to_sub = |g: &Builder, _: Operator, operands: &[Value]| g.sub(operands[0], operands[1]);
        let to_max = |g: &Builder, _: Operator, operands: &[Value]| g.maximum(operands[0], operands[1]);
        refused(&Decompositions::new().with("maximum", 1, to_max).unwrap(), "leads back to it: maximum → maximum");
        let circle = Decompositions::new().with("maximum", 1, to_sub).unwrap().with("sub", 1, to_max).unwrap();
        refused(&circle, "leads back to it: maximum → sub → maximum");
    }

    #[test]
    fn a_rewrite_gives_a_new_value_of_the_same_type_and_shape() {
        let with = |rewrite: fn(&Builder, Operator, &[Value]) -> Result<Value>| {
            Decompositions::new().with("maximum", 1, rewrite).unwrap()
        };
        refused(&with(|g, _, operands| g.reduce_sum(operands[0], &[], false)), "gives F32 [], the operator F32 [4]");
        refused(&with(|g, _, operands| g.cast(operands[0], DataType::F16)), "gives F16 [4], the operator F32 [4]");
        refused(&with(|_, _, operands| Ok(operands[0])), "was there before");
    }

    #[test]
    fn names_that_have_no_meaning_are_refused() {
        let same = |_: &Builder, _: Operator, operands: &[Value]| Ok(operands[0]);
        for name in ["maximun", "copy", "fill", ""] {
            let error = Decompositions::new().with(name, 1, same).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        }
        let twice = Decompositions::new().with("add", 1, same).unwrap().with("add", 2, same);
        assert!(twice.unwrap_err().to_string().contains("a second decomposition of \"add\""));
        let table = table(7).with("add", 2, same).unwrap();
        assert_eq!(table.versions().collect::<Vec<_>>(), [("add", 2), ("maximum", 7)]);
    }
}
