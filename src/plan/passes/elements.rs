//! Chains of operators on elements that the library has as one operator.

use half::{bf16, f16};

use crate::error::Result;
use crate::op::DataType::{self, Bf16, F16, F32};
use crate::op::{GeluForm, aclnn};
use crate::plan::recipe::operator::broadcast;
use crate::plan::recipe::{Access, Mode};
use crate::sort;

use super::called::Called;
use super::edit::Edit;
use super::facts::Facts;
use super::group::{Group, dims, dtype};
use super::replacing::{Replacing, value};

mod activations;
mod limits;
mod polynomial;
mod sums;

pub(super) const NAME: &str = "fused_elements";

/// What a chain may be, of which the operator is the last.
type Rule = for<'f> fn(&Chain<'f>, &Called<'f>) -> Vec<Found<'f>>;

const RULES: [Rule; 6] =
    [sums::sums, sums::shifted, sums::positive, limits::limits, activations::shares, activations::gelu];

/// Lets the last operator of a chain do all of it.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>) -> Result<Edit> {
    let mut edit = Edit::of(facts.recipe);
    // From the end on, so that what comes later takes what it can.
    for last in (0..facts.recipe.nodes.len() as u32).rev() {
        let (Some(call), Some(y)) = (facts.called(last), result(facts, last)) else { continue };
        let chain = Chain { group: Group::of(facts, last), dtype: dtype(facts, y.value) };
        let mut found: Vec<Found<'_>> = RULES.iter().flat_map(|rule| rule(&chain, &call)).collect();
        sort::by_key(&mut found, |one| std::cmp::Reverse(one.chain.group.len()));
        let fits = |one: &Found<'_>| {
            let group = &one.chain.group;
            one.fused.fits(facts, y.value)
                && !one.fused.operands().iter().any(|operand| group.makes(facts.recipe.storage_of(operand.value)))
                && group.is_closed(&[])
                && !group.is_taken(&edit)
        };
        if let Some(Found { chain, fused }) = found.into_iter().find(fits) {
            fused.replace(&mut edit, &chain.group, y)?;
        }
    }
    Ok(edit)
}

/// What an operator on floats writes, all of it new.
fn result(facts: &Facts<'_>, node: u32) -> Option<Access> {
    let mut writes =
        facts.recipe.accesses_of(&facts.recipe.nodes[node as usize]).iter().filter(|one| one.mode.writes());
    let (first, None) = (writes.next()?, writes.next()) else { return None };
    let takes = [F32, F16, Bf16].contains(&dtype(facts, first.value));
    (first.mode == Mode::Write && takes).then_some(*first)
}

/// Operators behind each other, the results of which are of one type.
#[derive(Clone)]
struct Chain<'f> {
    group: Group<'f>,
    dtype: DataType,
}

impl<'f> Chain<'f> {
    /// The operator that makes what is read, when it is one of these and the type is right; it joins the chain.
    fn made_by(&mut self, read: Access, names: &[&str]) -> Option<Called<'f>> {
        (dtype(self.group.facts, read.value) == self.dtype).then(|| self.group.made_by(read, names))?
    }

    /// What is read, as so many times something else, when an operator makes it so.
    fn multiple(&mut self, read: Access) -> Option<(Access, f64)> {
        let mut longer = self.clone();
        let call = longer.made_by(read, &["aclnnMuls", "aclnnNeg"])?;
        let times = if call.is(&["aclnnNeg"]) { -1.0 } else { call.scalar(1)? };
        *self = longer;
        Some((call.tensor(0)?, times))
    }

    fn is_same(&self, a: Access, b: Access) -> bool {
        self.group.facts.is_same(a.value, b.value)
    }
}

/// A chain, and what is in place of it.
struct Found<'f> {
    chain: Chain<'f>,
    fused: Fused,
}

enum Fused {
    /// `a + alpha · b`
    Add {
        a: Access,
        b: Access,
        alpha: f32,
    },
    /// The same, and 0 where that is negative.
    AddRelu {
        a: Access,
        b: Access,
        alpha: f32,
    },
    /// `a + times · b · c`
    Addcmul {
        a: Access,
        b: Access,
        c: Access,
        times: f32,
    },
    /// `a + times · b / c`
    Addcdiv {
        a: Access,
        b: Access,
        c: Access,
        times: f32,
    },
    /// `a + weight · (b - a)`
    Lerp {
        a: Access,
        b: Access,
        weight: Access,
    },
    Lerps {
        a: Access,
        b: Access,
        weight: f32,
    },
    /// `from - times · x`
    Rsubs {
        x: Access,
        from: f32,
        times: f32,
    },
    Clamp {
        x: Access,
        least: f32,
        most: f32,
    },
    Gelu {
        x: Access,
        form: GeluForm,
    },
    Silu {
        x: Access,
    },
    Sigmoid {
        x: Access,
    },
    /// `x · sigmoid(beta · x)`
    Swish {
        x: Access,
        beta: f32,
    },
}

impl Fused {
    fn operands(&self) -> Vec<Access> {
        match *self {
            Self::Add { a, b, .. } | Self::AddRelu { a, b, .. } | Self::Lerps { a, b, .. } => vec![a, b],
            Self::Addcmul { a, b, c, .. } | Self::Addcdiv { a, b, c, .. } | Self::Lerp { a, b, weight: c } => {
                vec![a, b, c]
            }
            Self::Rsubs { x, .. } | Self::Clamp { x, .. } | Self::Gelu { x, .. } => vec![x],
            Self::Silu { x } | Self::Sigmoid { x } | Self::Swish { x, .. } => vec![x],
        }
    }

    /// Whether all are of the type of the result, and make its shape.
    fn fits(&self, facts: &Facts<'_>, y: u32) -> bool {
        let operands = self.operands();
        let together = operands.iter().try_fold(Vec::new(), |all, one| broadcast(&all, dims(facts, one.value)));
        operands.iter().all(|one| dtype(facts, one.value) == dtype(facts, y))
            && together.is_ok_and(|together| together == dims(facts, y))
            && self.has_factor(dtype(facts, y))
    }

    /// Whether libraries of CANN keep the factor what it is: some take it as a number of the operands' type.
    fn has_factor(&self, dtype: DataType) -> bool {
        let is_near = |factor: f32| f16::from_f32(factor).is_finite() && f16::from_f32(factor) != f16::ZERO;
        let is_exact = |factor: f32| match dtype {
            F16 => f16::from_f32(factor).to_f32() == factor,
            Bf16 => bf16::from_f32(factor).to_f32() == factor,
            _ => true,
        };
        match *self {
            // Of f16 they multiply by an f32, and nobody says what a kernel makes of it.
            Self::Add { alpha, .. } | Self::AddRelu { alpha, .. } if dtype == F16 => is_near(alpha),
            Self::Add { alpha: factor, .. }
            | Self::AddRelu { alpha: factor, .. }
            | Self::Addcmul { times: factor, .. }
            | Self::Addcdiv { times: factor, .. } => is_exact(factor),
            _ => true,
        }
    }

    fn why(&self) -> &'static str {
        match self {
            Self::Add { .. } => "aclnnAdd computes it, in place of",
            Self::AddRelu { .. } => "aclnnAddRelu computes it, in place of",
            Self::Addcmul { .. } => "aclnnAddcmul computes it, in place of",
            Self::Addcdiv { .. } => "aclnnAddcdiv computes it, in place of",
            Self::Lerp { .. } => "aclnnLerp computes it, in place of",
            Self::Lerps { .. } => "aclnnLerps computes it, in place of",
            Self::Rsubs { .. } => "aclnnRsubs computes it, in place of",
            Self::Clamp { .. } => "aclnnClamp computes it, in place of",
            Self::Gelu { .. } => "aclnnGeluV2 computes it, in place of",
            Self::Silu { .. } => "aclnnSilu computes it, in place of",
            Self::Sigmoid { .. } => "aclnnSigmoid computes it, in place of",
            Self::Swish { .. } => "aclnnSwish computes it, in place of",
        }
    }

    fn replace(self, edit: &mut Edit, group: &Group<'_>, y: Access) -> Result<()> {
        let why = self.why();
        let replacing = Replacing::of(|to| {
            let (of, mut y) = (|one: Access| value(one.value), value(y.value));
            match self {
                Self::Add { a, b, alpha } => aclnn::add(to, &of(a), &of(b), alpha, &mut y),
                Self::Gelu { x, form } => aclnn::gelu_v2(to, &of(x), form.raw(), &mut y),
                Self::AddRelu { a, b, alpha } => aclnn::add_relu(to, &of(a), &of(b), alpha, &mut y),
                Self::Addcmul { a, b, c, times } => aclnn::addcmul(to, &of(a), &of(b), &of(c), times, &mut y),
                Self::Addcdiv { a, b, c, times } => aclnn::addcdiv(to, &of(a), &of(b), &of(c), times, &mut y),
                Self::Lerp { a, b, weight } => aclnn::lerp(to, &of(a), &of(b), &of(weight), &mut y),
                Self::Lerps { a, b, weight } => aclnn::lerps(to, &of(a), &of(b), weight, &mut y),
                Self::Rsubs { x, from, times } => aclnn::rsubs(to, &of(x), from, times, &mut y),
                Self::Clamp { x, least, most } => {
                    aclnn::clamp(to, &of(x), Some(least.into()), Some(most.into()), &mut y)
                }
                Self::Silu { x } => aclnn::silu(to, &of(x), &mut y),
                Self::Sigmoid { x } => aclnn::sigmoid(to, &of(x), &mut y),
                Self::Swish { x, beta } => aclnn::swish(to, &of(x), Some(beta.into()), &mut y),
            }
        })?;
        group.replace(edit, NAME, why, replacing);
        Ok(())
    }
}

/// The number as operators are told it, when that is the same number.
pub(super) fn exact(number: f64) -> Option<f32> {
    let told = number as f32;
    (f64::from(told) == number).then_some(told)
}

/// The product of two numbers, when nothing is rounded: one of them is 1 or -1.
pub(super) fn times(a: f64, b: f64) -> Option<f64> {
    (a.abs() == 1.0 || b.abs() == 1.0).then_some(a * b)
}
