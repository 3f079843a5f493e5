//! What operators make of one tensor, as a polynomial.

use crate::plan::recipe::Access;

use super::Chain;

/// The numbers in front of 1, x, x² and x³.
pub(super) type Polynomial = [f64; 4];

/// Operators behind each other that are looked at.
pub(super) const DEEPEST: usize = 6;

/// What is read, as a polynomial in `x`.
pub(super) fn polynomial(chain: &mut Chain<'_>, (read, x): (Access, Access), deep: usize) -> Option<Polynomial> {
    if chain.is_same(read, x) {
        return Some([0.0, 1.0, 0.0, 0.0]);
    }
    let names =
        ["aclnnAdd", "aclnnAdds", "aclnnMul", "aclnnMuls", "aclnnDivs", "aclnnPowTensorScalar", "aclnnSquare"];
    let call = chain.made_by(read, &names).filter(|_| deep > 0)?;
    let first = polynomial(chain, (call.tensor(0)?, x), deep - 1)?;
    match call.name {
        "aclnnAdd" => {
            let (second, alpha) = (polynomial(chain, (call.tensor(1)?, x), deep - 1)?, call.scalar(2)?);
            Some(std::array::from_fn(|degree| first[degree] + alpha * second[degree]))
        }
        "aclnnAdds" => Some([first[0] + call.scalar(1)? * call.scalar(2)?, first[1], first[2], first[3]]),
        "aclnnMul" => product(first, polynomial(chain, (call.tensor(1)?, x), deep - 1)?),
        "aclnnMuls" => Some(first.map(|one| one * call.scalar(1).unwrap_or(f64::NAN))),
        "aclnnDivs" => Some(first.map(|one| one / call.scalar(1).unwrap_or(f64::NAN))),
        "aclnnSquare" => product(first, first),
        _ => match call.scalar(1)? {
            2.0 => product(first, first),
            3.0 => product(first, product(first, first)?),
            _ => None,
        },
    }
}

fn product(a: Polynomial, b: Polynomial) -> Option<Polynomial> {
    let mut all = [0.0; 7];
    for (i, a) in a.iter().enumerate() {
        b.iter().enumerate().for_each(|(j, b)| all[i + j] += a * b);
    }
    let [c0, c1, c2, c3, higher @ ..] = all;
    higher.iter().all(|one| *one == 0.0).then_some([c0, c1, c2, c3])
}
