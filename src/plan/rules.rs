//! Shapes and types of results, by the C names of operators: one table.
//!
//! A rule looks at the operands and at what the operator is told, over symbols, and gives what each result is. Of fixed
//! sizes it says yes exactly where the library's first phase does, for the types and parameters that it knows; where it
//! does not know it says so, and the first phase decides alone. Over symbols it says yes where the first phase would for
//! each of their values, as far as can be told: what holds for some of them alone is refused, or left to the first phase.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::plan::symbols::dim::Dim;

mod args;
mod attention;
mod backward;
mod create;
mod elements;
mod in_place;
mod indices;
mod lists;
mod losses;
mod moves;
mod norms;
mod products;
mod reduce;
mod shapes;
mod sizes;
mod types;
mod windows;

pub(in crate::plan) use args::Args;
pub(in crate::plan) use in_place::{places, works_in_place};
use types::Types;

use crate::op::DataType;

/// What a result is.
#[derive(Debug, Clone)]
pub(in crate::plan) struct Of {
    pub(in crate::plan) dtype: DataType,
    pub(in crate::plan) dims: Vec<Dim>,
    /// What the first phase takes as well where the result is declared.
    types: Types,
    also: Also,
    /// Whether the operator is told to leave it.
    pub(in crate::plan) left: bool,
}

/// Other shapes of a result that is declared.
#[derive(Debug, Clone)]
enum Also {
    Nothing,
    Shape(Vec<Dim>),
    /// As many elements.
    Elements,
    Anything,
}

impl Of {
    fn new(dtype: DataType, dims: impl Into<Vec<Dim>>) -> Self {
        Self { dtype, dims: dims.into(), types: Types::of(dtype), also: Also::Nothing, left: false }
    }

    /// Of any of these types where it is declared.
    fn or(self, types: Types) -> Self {
        Self { types: self.types | types, ..self }
    }

    fn or_shape(self, also: Also) -> Self {
        Self { also, ..self }
    }

    /// Where the operator leaves it as it is, since nobody wants it or there is nothing to say.
    fn unless(self, wanted: bool) -> Self {
        Self { left: !wanted, ..self }
    }

    /// Whether the first phase takes a result that is declared so; none for a type that no rule knows, unless it is
    /// that of the result.
    pub(in crate::plan) fn takes(&self, dtype: DataType, dims: &[Dim]) -> Option<bool> {
        if !Types::KNOWN.has(dtype) && dtype != self.dtype {
            return None;
        }
        let fits = dims == self.dims
            || match &self.also {
                Also::Nothing => false,
                Also::Shape(also) => dims == also,
                Also::Elements => sizes::product(dims) == sizes::product(&self.dims),
                Also::Anything => true,
            };
        Some(fits && self.types.has(dtype))
    }

    /// Whether it takes one that is declared so for some numbers of the symbols, as far as can be told.
    #[cfg(feature = "cache")]
    pub(in crate::plan) fn may_take(
        &self,
        dtype: DataType,
        dims: &[Dim],
        bounds: crate::plan::symbols::poly::Bounds<'_>,
    ) -> bool {
        let may_be = |(a, b): (&Dim, &Dim)| {
            let more = a.poly().minus(&b.poly());
            more.least(bounds).is_none_or(|least| least <= 0) && more.greatest(bounds).is_none_or(|most| most >= 0)
        };
        let alike = |known: &[Dim]| known.len() == dims.len() && known.iter().zip(dims).all(may_be);
        let may_fit = || match &self.also {
            Also::Shape(also) if alike(also) => true,
            Also::Elements => self.dims.iter().chain(dims).any(|dim| dim.as_fixed().is_none()),
            _ => alike(&self.dims),
        };
        self.takes(dtype, dims) != Some(false) || (self.types.has(dtype) && may_fit())
    }
}

/// Why a rule gives no results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plan) enum No {
    /// The first phase will refuse the operands.
    Misfit(String),
    /// The rule does not reach so far.
    Unsure(String),
}

type Results = Result<Vec<Of>, No>;

/// Gives each tensor that the operator only writes, also those that may be left out, in the order of its parameters.
pub(in crate::plan) type Rule = fn(&Args<'_>) -> Results;

/// Rules by names in C without `aclnn`.
type Family = &'static [(&'static [&'static str], Rule)];

const FAMILIES: &[Family] = &[
    elements::RULES,
    backward::RULES,
    lists::RULES,
    reduce::RULES,
    products::RULES,
    moves::RULES,
    indices::RULES,
    create::RULES,
    norms::RULES,
    losses::RULES,
    windows::RULES,
    attention::RULES,
];

/// The rule of an operator, by its name in C.
pub(in crate::plan) fn rule(name: &str) -> Option<Rule> {
    static TABLE: OnceLock<HashMap<&'static str, Rule>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let rules = FAMILIES.iter().copied().flatten();
        rules.flat_map(|(names, rule)| names.iter().map(|name| (*name, *rule))).collect()
    });
    table.get(name.strip_prefix("aclnn")?).copied()
}

/// Which results are wanted, of operators that leave some or are told to.
type Wanted = fn(&Args<'_>) -> Result<Vec<bool>, No>;

const WANTED: &[(&[&str], Wanted)] = &[
    (&["ConvolutionBackward"], |a| Ok(a.bools(10)?.to_vec())),
    (&["LayerNormBackward"], |a| Ok(a.bools(7)?.to_vec())),
    (&["BatchNormBackward"], |a| Ok(a.bools(9)?.to_vec())),
    (&["AddLayerNorm"], |a| Ok(vec![true, true, true, a.flag(6)?])),
    (&["BatchNorm"], |a| a.flag(5).map(|training| vec![true, training, training])),
    (&["LogSigmoidForward"], |_| Ok(vec![true, false])),
    (&["Dropout"], |a| Ok(vec![true, create::draws(a, 1, Some(2))?])),
    (&["DropoutV3"], |a| Ok(vec![true, create::draws(a, 2, None)?])),
    (&["CrossEntropyLoss"], |_| Ok(vec![true, true, false, false])),
    (&["FlashAttentionScore", "FlashAttentionScoreV2"], |_| Ok(vec![true, true, false, true])),
    (&["FusedInferAttentionScore"], |a| Ok(vec![true, a.flag(27)?])),
    (&["FusedInferAttentionScoreV2"], |a| Ok(vec![true, a.flag(34)?])),
    (&["FusedInferAttentionScoreV3"], |a| Ok(vec![true, a.flag(37)?])),
    (&["FusedInferAttentionScoreV4"], |a| Ok(vec![true, a.flag(39)?])),
    (&["FusedInferAttentionScoreV5"], |a| Ok(vec![true, a.flag(41)?])),
];

/// Results of an operator that are declared, where its rule is not sure of their shapes: what it is told to leave all the
/// same. Nothing where it cannot be told that.
pub(in crate::plan) fn left(name: &str, args: &Args<'_>) -> Option<Vec<Of>> {
    let name = name.strip_prefix("aclnn")?;
    let (_, wanted) = WANTED.iter().find(|(names, _)| names.contains(&name))?;
    let wanted = wanted(args).ok()?;
    let any = |wanted: bool| Of::new(DataType::F32, []).or(Types::KNOWN).or_shape(Also::Anything).unless(wanted);
    args.given(wanted.into_iter().map(any).collect())
}

/// Refuses.
macro_rules! misfit {
    ($($text:tt)*) => {
        return Err($crate::plan::rules::No::Misfit(format!($($text)*)))
    };
}
use misfit;

/// Refuses what does not hold.
macro_rules! ensure {
    ($holds:expr, $($text:tt)*) => {{
        let holds: bool = $holds;
        if !holds {
            $crate::plan::rules::misfit!($($text)*);
        }
    }};
}
use ensure;

#[cfg(all(test, feature = "cache"))]
mod tests;
