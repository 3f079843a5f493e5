//! A least and a greatest number behind each other.

use crate::op::DataType;
use crate::plan::recipe::Access;

use super::super::called::Called;
use super::super::group::{dtype, orders};
use super::{Chain, Found, Fused, exact};

const LEAST: [&str; 3] = ["aclnnClampMin", "aclnnMaximum", "aclnnClampMinTensor"];
const MOST: [&str; 3] = ["aclnnClampMax", "aclnnMinimum", "aclnnClampMaxTensor"];

/// A least number and a greatest one, in either order: they do not cross.
pub(super) fn limits<'f>(chain: &Chain<'f>, call: &Called<'f>) -> Vec<Found<'f>> {
    let others = match call {
        _ if call.is(&LEAST) => MOST,
        _ if call.is(&MOST) => LEAST,
        _ => return Vec::new(),
    };
    limited(chain, call).into_iter().flat_map(|(inner, second)| both(chain, (inner, second), others)).collect()
}

fn both<'f>(chain: &Chain<'f>, (inner, second): (Access, f64), others: [&str; 3]) -> Vec<Found<'f>> {
    let mut chain = chain.clone();
    let Some(call) = chain.made_by(inner, &others) else { return Vec::new() };
    let found = |(x, first): (Access, f64)| {
        let (least, most) = if call.is(&LEAST) { (first, second) } else { (second, first) };
        let (least, most) = (exact(least)?, exact(most)?);
        // Of zeros with both signs the last one is the result, which the operator ends with another one.
        let fits = least < most || least.to_bits() == most.to_bits();
        fits.then(|| Found { chain: chain.clone(), fused: Fused::Clamp { x, least, most } })
    };
    limited(&chain, &call).into_iter().filter_map(found).collect()
}

/// What is limited, and by which number.
fn limited(chain: &Chain<'_>, call: &Called<'_>) -> Vec<(Access, f64)> {
    if let (Some(x), Some(number)) = (call.tensor(0), call.scalar(1)) {
        return vec![(x, number)];
    }
    // Of two zeros the second operand is the result, as with a limit that is told.
    let number = |(index, (x, limit)): (usize, (Access, Access))| {
        only_number(chain, limit).filter(|number| index == 0 || *number != 0.0).map(|number| (x, number))
    };
    orders(call).into_iter().flatten().enumerate().filter_map(number).collect()
}

/// The number that a constant is.
fn only_number(chain: &Chain<'_>, limit: Access) -> Option<f64> {
    let facts = chain.group.facts;
    let bytes = chain.group.constant(limit.value).filter(|_| facts.is_whole(limit.value))?;
    match (dtype(facts, limit.value), bytes) {
        (DataType::F32, &[a, b, c, d]) => Some(f32::from_ne_bytes([a, b, c, d]).into()),
        (DataType::F16, &[a, b]) => Some(half::f16::from_ne_bytes([a, b]).into()),
        (DataType::Bf16, &[a, b]) => Some(half::bf16::from_ne_bytes([a, b]).into()),
        _ => None,
    }
}
