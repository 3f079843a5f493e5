//! What random tensors and numbers seldom are: arguments that fit together.

use crate::op::DataType::{self, Bool, F32, I64};

use super::super::random::Random;
use super::Want::{self, Int, Tensor};
use super::{networks, tensors};

type Given = Vec<(&'static str, Want)>;

/// What an operator is given, by the names of its parameters; the others are random.
pub(super) fn given(random: &mut Random, name: &str) -> Given {
    let chosen = if random.chance(90) { by_hand(random, name) } else { None };
    chosen.unwrap_or_default()
}

fn by_hand(random: &mut Random, name: &str) -> Option<Given> {
    let (dtype, dims) = (random.dtype(), random.shape());
    Some(match name {
        "SWhere" => vec![("condition", Tensor(Bool, random.spread(&dims)))],
        "InplaceFillScalar" => vec![("self_ref", Tensor(dtype, dims))],
        "InplaceMaskedFillScalar" => {
            vec![("self_ref", Tensor(dtype, dims.clone())), ("mask", Tensor(Bool, random.spread(&dims)))]
        }
        "InplaceMaskedFillTensor" => vec![
            ("self_ref", Tensor(dtype, dims.clone())),
            ("mask", Tensor(Bool, random.spread(&dims))),
            ("value", Tensor(random.dtype(), if random.chance(50) { vec![1] } else { vec![] })),
        ],
        "ForeachAddcmulScalarList"
        | "ForeachAddcdivScalarList"
        | "ForeachAddcmulScalar"
        | "ForeachAddcdivScalar"
        | "ForeachNonFiniteCheckAndUnscale" => foreach(random, name),
        _ if name.starts_with("Foreach") && name.ends_with("Scalar") || name.ends_with("List") => {
            let number = (if random.chance(50) { F32 } else { I64 }, vec![]);
            vec![("scalar", Tensor(number.0, number.1.clone())), ("alpha", Tensor(number.0, number.1))]
        }
        "DivMod" | "DivMods" | "InplaceDivMod" | "InplaceDivMods" => vec![("mode", Int(random.from(-1, 3)))],
        _ => return networks::given(random, name).or_else(|| tensors::given(random, name)),
    })
}

fn foreach(random: &mut Random, name: &str) -> Given {
    let dtype = random.narrow();
    let all: Vec<(DataType, Vec<usize>)> = (0..random.some()).map(|_| (dtype, random.shape())).collect();
    let numbers = if name.ends_with("ScalarList") { vec![all.len()] } else { vec![1] };
    let list = || Want::Tensors(all.clone());
    vec![
        ("x1", list()),
        ("x2", list()),
        ("x3", list()),
        ("scalar", Tensor(dtype, numbers.clone())),
        ("scalars", Tensor(dtype, numbers)),
        ("out", Want::Results(all.len())),
        ("scaled_grads", list()),
        ("found_inf", Tensor(F32, vec![1])),
        ("inv_scale", Tensor(F32, vec![1])),
    ]
}
