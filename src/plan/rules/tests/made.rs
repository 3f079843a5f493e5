//! Random arguments: by the kinds of the parameters and their names, and by hand for what fits together seldom.

use crate::op::{Access, DataType, Scalar, Told};

use super::random::Random;
use super::{Case, Integers, Shaped, Signature};

mod families;
mod networks;
mod tensors;

/// Arguments of a random call.
pub(super) fn case(random: &mut Random, signature: &Signature) -> Case {
    let given = families::given(random, signature.name.trim_start_matches("aclnn"));
    let mut maker = Maker {
        base: (random.dtype(), random.shape()),
        given,
        case: Case {
            name: signature.name.clone(),
            told: Vec::new(),
            operands: Vec::new(),
            integers: Integers::Zeros,
        },
        lists: random.below(3) + 1,
    };
    for (name, kind) in &signature.parameters {
        maker.add(random, name, kind);
    }
    maker.case
}

/// What a generator of a family wants of a parameter.
#[derive(Debug, Clone)]
pub(super) enum Want {
    Tensor(DataType, Vec<usize>),
    Tensors(Vec<Shaped>),
    Ints(Vec<i64>),
    Int(i64),
    Flag(bool),
    Real(f64),
    Type(DataType),
    Scalar(Scalar),
    Text(&'static str),
    Truths(Vec<bool>),
    Nothing,
    /// What any parameter is given.
    Random,
    /// As many results in a list.
    Results(usize),
}

struct Maker {
    base: Shaped,
    given: Vec<(&'static str, Want)>,
    case: Case,
    lists: usize,
}

impl Maker {
    fn add(&mut self, random: &mut Random, name: &str, kind: &str) {
        let given = self.given.iter().find(|(own, _)| *own == name || (*own == "*" && kind.starts_with("maybe_in")));
        let given = given.map(|(_, want)| want.clone());
        let want = given.filter(|want| match want {
            Want::Nothing => kind.starts_with("maybe_"),
            Want::Random => false,
            _ => true,
        });
        let told = match (want, kind) {
            (Some(want), kind) => self.wanted(want, kind),
            (None, "in") => self.tensor(random, Access::Read),
            (None, "inout") => self.tensor(random, Access::ReadWrite),
            (None, "out") => self.result(1),
            (None, "maybe_in" | "maybe_inout" | "maybe_out") if random.chance(30) => Told::NoTensor,
            (None, "maybe_in") => self.tensor(random, Access::Read),
            (None, "maybe_inout") => self.tensor(random, Access::ReadWrite),
            (None, "maybe_out") => self.result(1),
            (None, "ins" | "maybe_ins") => self.tensors(random, Access::Read),
            (None, "inouts" | "maybe_inouts") => self.tensors(random, Access::ReadWrite),
            (None, "outs" | "maybe_outs") => {
                let count = if random.chance(85) { self.lists } else { random.below(3) + 1 };
                self.case.operands.extend(vec![None; count]);
                Told::Tensors(count as u32, Access::Write)
            }
            (None, _) => self.other(random, name, kind),
        };
        self.case.told.push(told);
    }

    fn wanted(&mut self, want: Want, kind: &str) -> Told {
        let access = match kind.trim_start_matches("maybe_").trim_end_matches('s') {
            "inout" => Access::ReadWrite,
            "out" => Access::Write,
            _ => Access::Read,
        };
        match want {
            Want::Tensor(dtype, dims) => {
                self.case.operands.push(Some((dtype, dims)));
                Told::Tensor(access)
            }
            Want::Tensors(all) => {
                let count = all.len() as u32;
                self.case.operands.extend(all.into_iter().map(Some));
                Told::Tensors(count, access)
            }
            Want::Results(count) => {
                self.case.operands.extend(vec![None; count]);
                Told::Tensors(count as u32, Access::Write)
            }
            Want::Ints(numbers) => Told::Ints(numbers.into()),
            Want::Int(number) => Told::Number(number.cast_unsigned()),
            Want::Flag(flag) => Told::Number(u64::from(flag)),
            Want::Real(number) => Told::Number(number.to_bits()),
            Want::Type(dtype) => Told::Number(u64::from(dtype.raw().0.cast_unsigned())),
            Want::Scalar(scalar) => Told::Scalar(scalar),
            Want::Text(text) => Told::Text(Box::new(std::ffi::CString::new(text).unwrap())),
            Want::Truths(truths) => Told::Bools(truths.into()),
            Want::Random => unreachable!("a wish for nothing"),
            Want::Nothing if kind.ends_with('s') && kind.contains("in") && !kind.contains("ints") => Told::NoTensors,
            Want::Nothing if kind.contains("in") && !kind.contains("ints") || kind.contains("out") => Told::NoTensor,
            Want::Nothing => Told::Null,
        }
    }

    fn shaped(&self, random: &mut Random) -> Shaped {
        let (dtype, dims) = &self.base;
        let dtype = if random.chance(75) { *dtype } else { random.dtype() };
        match random.below(10) {
            0..=6 => (dtype, dims.clone()),
            7 | 8 => (dtype, random.spread(dims)),
            _ => (dtype, random.shape()),
        }
    }

    fn tensor(&mut self, random: &mut Random, access: Access) -> Told {
        let shaped = if self.case.operands.is_empty() { self.base.clone() } else { self.shaped(random) };
        self.case.operands.push(Some(shaped));
        Told::Tensor(access)
    }

    fn result(&mut self, _count: usize) -> Told {
        self.case.operands.push(None);
        Told::Tensor(Access::Write)
    }

    /// Lists are alike, most of the time.
    fn tensors(&mut self, random: &mut Random, access: Access) -> Told {
        let count = if random.chance(90) { self.lists } else { random.below(4) };
        for at in 0..count {
            let (dtype, dims) = &self.base;
            let mut shaped = (*dtype, if at == 1 { vec![2] } else { dims.clone() });
            if random.chance(8) {
                shaped = random.changed_shape(&shaped);
            }
            self.case.operands.push(Some(shaped));
        }
        Told::Tensors(count as u32, access)
    }

    fn other(&self, random: &mut Random, name: &str, kind: &str) -> Told {
        let rank = self.base.1.len() as i64;
        match kind {
            "scalar" | "maybe_scalar" if kind == "maybe_scalar" && random.chance(30) => Told::Null,
            "scalar" | "maybe_scalar" => Told::Scalar(scalar(random, name)),
            "scalars" => {
                let count = if random.chance(90) { self.lists } else { random.below(4) };
                Told::Scalars((0..count).map(|_| scalar(random, name)).collect())
            }
            "ints" | "maybe_ints" => {
                let count = random.below(rank as usize + 1);
                Told::Ints((0..count).map(|_| random.from(-rank, rank)).collect())
            }
            "bools" | "maybe_bools" => Told::Bools((0..3).map(|_| random.chance(50)).collect()),
            "floats" | "maybe_floats" => Told::Floats([0.5, 2.0].into()),
            "text" | "maybe_text" => {
                let text = random.one_of(&["none", "tanh", "sum", "mean", "BSH", "half"]);
                Told::Text(Box::new(std::ffi::CString::new(text).unwrap()))
            }
            "bool" => Told::Number(u64::from(random.chance(50))),
            "dtype" => {
                let dtype = if random.chance(60) { self.base.0 } else { random.dtype() };
                Told::Number(u64::from(dtype.raw().0.cast_unsigned()))
            }
            "f32" | "f64" => Told::Number(random.one_of(&[0.0, 1e-5, 0.5, 1.0, -1.0_f64]).to_bits()),
            _ if name.contains("dim") || name.contains("axis") => {
                Told::Number(random.from(-rank - 1, rank).cast_unsigned())
            }
            _ => Told::Number(random.from(-1, 4).cast_unsigned()),
        }
    }
}

fn scalar(random: &mut Random, name: &str) -> Scalar {
    let small = random.from(if name == "dim" { -3 } else { 0 }, 3);
    match random.below(if name == "dim" { 2 } else { 6 }) {
        0 => Scalar::from(small),
        1 => Scalar::from(small as i32),
        2 => Scalar::from(small as f64 / 2.0),
        3 => Scalar::from(small % 2 == 0),
        _ => Scalar::from(small as f32 - 0.5),
    }
}
