//! Sums of which one part is a product, a quotient, a multiple or a difference.

use crate::plan::recipe::Access;

use super::super::called::Called;
use super::super::group::orders;
use super::{Chain, Found, Fused, exact, times};

/// `a + times · b`
#[derive(Clone, Copy)]
struct Sum {
    a: Access,
    b: Access,
    times: f64,
}

/// A sum, in each order in which it can be read.
fn read(call: &Called<'_>) -> Vec<Sum> {
    let (Some(pairs), Some(alpha)) = (orders(call), call.scalar(2)) else { return Vec::new() };
    let sum = |(a, b), times| Sum { a, b, times };
    let [straight, turned] = pairs;
    match call.name {
        "aclnnAdd" if alpha == 1.0 => vec![sum(straight, 1.0), sum(turned, 1.0)],
        "aclnnAdd" => vec![sum(straight, alpha)],
        "aclnnSub" => vec![sum(straight, -alpha)],
        _ => Vec::new(),
    }
}

/// Sums as one operator: with a product, a quotient, a multiple, or between two tensors.
pub(super) fn sums<'f>(chain: &Chain<'f>, call: &Called<'f>) -> Vec<Found<'f>> {
    let ways = [between, with_product, with_multiple];
    read(call).into_iter().flat_map(|sum| ways.into_iter().filter_map(move |way| way(chain.clone(), sum))).collect()
}

fn with_multiple(mut chain: Chain<'_>, sum: Sum) -> Option<Found<'_>> {
    let (b, number) = chain.multiple(sum.b)?;
    let alpha = exact(times(sum.times, number)?)?;
    Some(Found { chain, fused: Fused::Add { a: sum.a, b, alpha } })
}

/// The operators multiply the first factor with the number, and then with the second one or by its inverse: a number that
/// stands elsewhere changes nothing where it is a sign, and otherwise what overflows on the way.
fn with_product(mut chain: Chain<'_>, sum: Sum) -> Option<Found<'_>> {
    let mut number = sum.times;
    let mut part = sum.b;
    if let Some((of, more)) = chain.multiple(part) {
        (part, number) = (of, times(number, more)?);
    }
    if number.abs() != 1.0 {
        return None;
    }
    let call = chain.made_by(part, &["aclnnMul", "aclnnDiv"])?;
    let product = call.is(&["aclnnMul"]);
    let [(mut b, mut c), _] = orders(&call)?;
    if let Some((of, more)) = chain.multiple(b) {
        (b, number) = (of, times(number, more)?);
    } else if product && let Some((of, more)) = chain.multiple(c) {
        (b, c, number) = (of, b, times(number, more)?);
    }
    let (a, times) = (sum.a, exact(number)?);
    let fused = if product { Fused::Addcmul { a, b, c, times } } else { Fused::Addcdiv { a, b, c, times } };
    Some(Found { chain, fused })
}

/// `a + weight · (b - a)`
fn between(mut chain: Chain<'_>, sum: Sum) -> Option<Found<'_>> {
    let a = sum.a;
    let mut longer = chain.clone();
    let product = longer.made_by(sum.b, &["aclnnMul"]).filter(|_| sum.times == 1.0);
    for (part, weight) in product.as_ref().and_then(orders).into_iter().flatten() {
        let mut chain = longer.clone();
        if let Some(b) = difference(&mut chain, part, a) {
            return Some(Found { chain, fused: Fused::Lerp { a, b, weight } });
        }
    }
    let (part, weight) = match chain.multiple(sum.b) {
        Some((part, weight)) => (part, times(sum.times, weight)?),
        None => (sum.b, sum.times),
    };
    let b = difference(&mut chain, part, a)?;
    Some(Found { chain, fused: Fused::Lerps { a, b, weight: exact(weight)? } })
}

/// What `a` is taken from.
fn difference(chain: &mut Chain<'_>, part: Access, a: Access) -> Option<Access> {
    let mut longer = chain.clone();
    let call = longer.made_by(part, &["aclnnSub"])?;
    let fits = call.scalar(2) == Some(1.0) && longer.is_same(call.tensor(1)?, a);
    *chain = longer;
    fits.then(|| call.tensor(0))?
}

/// A multiple to which a number is added.
pub(super) fn shifted<'f>(chain: &Chain<'f>, call: &Called<'f>) -> Vec<Found<'f>> {
    let found = || {
        let mut chain = chain.clone();
        let from = call.scalar(1).filter(|_| call.is(&["aclnnAdds"]) && call.scalar(2) == Some(1.0))?;
        let (x, number) = chain.multiple(call.tensor(0)?)?;
        Some(Found { chain, fused: Fused::Rsubs { x, from: exact(from)?, times: exact(-number)? } })
    };
    found().into_iter().collect()
}

/// What is not negative of a sum.
pub(super) fn positive<'f>(chain: &Chain<'f>, call: &Called<'f>) -> Vec<Found<'f>> {
    // A least number of nothing takes the sign of a zero away, which the operator keeps.
    let cuts = call.is(&["aclnnRelu"]);
    let (true, Some(sum), mut chain) = (cuts, call.tensor(0), chain.clone()) else { return Vec::new() };
    let Some(sum) = chain.made_by(sum, &["aclnnAdd", "aclnnSub"]) else { return Vec::new() };
    let whole = |sum: Sum, chain: Chain<'f>| {
        let Sum { a, b, times } = sum;
        Some(Found { chain, fused: Fused::AddRelu { a, b, alpha: exact(times)? } })
    };
    let part = |sum: Sum, mut chain: Chain<'f>| {
        let (b, number) = chain.multiple(sum.b)?;
        whole(Sum { b, times: times(sum.times, number)?, ..sum }, chain)
    };
    let both = |one: Sum| [part(one, chain.clone()), whole(one, chain.clone())];
    read(&sum).into_iter().flat_map(both).flatten().collect()
}
