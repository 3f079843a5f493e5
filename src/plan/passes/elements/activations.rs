//! Activations that are written out.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

use crate::op::{DataType, GeluForm};
use crate::plan::recipe::Access;

use super::super::called::Called;
use super::super::group::orders;
use super::polynomial::{DEEPEST, Polynomial, polynomial};
use super::{Chain, Found, Fused, exact};

/// `1 / (1 + exp(-x))`, and its products with `x`.
pub(super) fn shares<'f>(chain: &Chain<'f>, call: &Called<'f>) -> Vec<Found<'f>> {
    match call.name {
        "aclnnReciprocal" => reciprocal(chain.clone(), call).into_iter().collect(),
        "aclnnDiv" => quotient(chain.clone(), call).into_iter().collect(),
        "aclnnMul" => {
            let product = |pair| product(chain.clone(), pair);
            orders(call).into_iter().flatten().filter_map(product).collect()
        }
        _ => Vec::new(),
    }
}

fn reciprocal<'f>(mut chain: Chain<'f>, call: &Called<'f>) -> Option<Found<'f>> {
    let (x, beta) = one_and_power(&mut chain, call.tensor(0)?)?;
    (beta == 1.0).then_some(Found { chain, fused: Fused::Sigmoid { x } })
}

fn quotient<'f>(mut chain: Chain<'f>, call: &Called<'f>) -> Option<Found<'f>> {
    let (of, beta) = one_and_power(&mut chain, call.tensor(1)?)?;
    gated(chain, call.tensor(0)?, (of, beta))
}

fn product(mut chain: Chain<'_>, (x, share): (Access, Access)) -> Option<Found<'_>> {
    let call = chain.made_by(share, &["aclnnSigmoid", "aclnnReciprocal"])?;
    let of = call.tensor(0)?;
    let of = match call.name {
        "aclnnReciprocal" => one_and_power(&mut chain, of)?,
        _ if chain.is_same(of, x) => (of, 1.0),
        _ => chain.multiple(of)?,
    };
    gated(chain, x, of)
}

fn gated(chain: Chain<'_>, x: Access, (of, beta): (Access, f64)) -> Option<Found<'_>> {
    let fused = if beta == 1.0 { Fused::Silu { x } } else { Fused::Swish { x, beta: exact(beta)? } };
    chain.is_same(x, of).then_some(Found { chain, fused })
}

/// `1 + exp(-beta · x)`: what `x` is, and `beta`.
fn one_and_power(chain: &mut Chain<'_>, read: Access) -> Option<(Access, f64)> {
    let call = chain.made_by(read, &["aclnnAdds"])?;
    let adds_one = call.scalar(1) == Some(1.0) && call.scalar(2) == Some(1.0);
    let power = chain.made_by(call.tensor(0)?, &["aclnnExp"]).filter(|_| adds_one)?;
    let (x, number) = chain.multiple(power.tensor(0)?)?;
    Some((x, -number))
}

/// `0.5 · x · (1 + …)`, with `tanh` or `erf` of what they are of.
pub(super) fn gelu<'f>(chain: &Chain<'f>, call: &Called<'f>) -> Vec<Found<'f>> {
    let found = |(mut chain, x, rest): (Chain<'f>, Access, Access)| {
        let form = form(&mut chain, x, rest)?;
        Some(Found { chain, fused: Fused::Gelu { x, form } })
    };
    halved(chain, call).into_iter().filter_map(found).collect()
}

/// The two parts of a product of which one, or the product, is taken half.
fn halved<'f>(chain: &Chain<'f>, call: &Called<'f>) -> Vec<(Chain<'f>, Access, Access)> {
    let mut longer = chain.clone();
    if call.is(&["aclnnMuls"]) && call.scalar(1) == Some(0.5) {
        let product = call.tensor(0).and_then(|product| longer.made_by(product, &["aclnnMul"]));
        let pairs = product.as_ref().and_then(orders);
        return pairs.into_iter().flatten().map(|(x, rest)| (longer.clone(), x, rest)).collect();
    }
    let half = |chain: &Chain<'f>, one: Access| {
        let mut longer = chain.clone();
        let (of, number) = longer.multiple(one)?;
        (number == 0.5).then_some((longer, of))
    };
    let pairs = orders(call).filter(|_| call.is(&["aclnnMul"])).into_iter().flatten();
    let ways = pairs.flat_map(|(a, b)| {
        let left = half(chain, a).map(|(chain, a)| (chain, a, b));
        let right = half(chain, b).map(|(chain, b)| (chain, a, b));
        [left, right].into_iter().flatten()
    });
    ways.collect()
}

fn form(chain: &mut Chain<'_>, x: Access, rest: Access) -> Option<GeluForm> {
    let sum = chain.made_by(rest, &["aclnnAdds"])?;
    let adds_one = sum.scalar(1) == Some(1.0) && sum.scalar(2) == Some(1.0);
    let bend = chain.made_by(sum.tensor(0)?, &["aclnnTanh", "aclnnErf"]).filter(|_| adds_one)?;
    let inner = polynomial(chain, (bend.tensor(0)?, x), DEEPEST)?;
    let root = FRAC_2_SQRT_PI * FRAC_1_SQRT_2;
    let (wanted, form) = match bend.name {
        "aclnnTanh" => ([0.0, root, 0.0, 0.044_715 * root], GeluForm::Tanh),
        _ => ([0.0, FRAC_1_SQRT_2, 0.0, 0.0], GeluForm::Exact),
    };
    is_close(chain.dtype, inner, wanted).then_some(form)
}

/// Whether both are the same but for the rounding of numbers.
fn is_close(dtype: DataType, a: Polynomial, b: Polynomial) -> bool {
    let share = match dtype {
        DataType::F32 => 1e-5,
        DataType::F16 => 2e-3,
        _ => 1.6e-2,
    };
    a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= share * b.abs())
}
