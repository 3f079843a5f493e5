//! What a rule looks at.

use crate::op::{Access, DataType, Takes, Tellings, Told};
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;
use crate::plan::symbols::poly::Bounds;

use super::types::Types;
use super::{No, Of, sizes};

/// An operator with its operands; parameters are counted as in C.
pub(in crate::plan) struct Args<'a> {
    pub(in crate::plan) told: Tellings<'a>,
    pub(in crate::plan) takes: &'a [Takes],
    /// Each tensor in order; none for a result that is to be made.
    pub(in crate::plan) operands: &'a [Option<Operand<'a>>],
    /// Integers in place of those that are told, by parameter; none where other numbers are known later.
    pub(in crate::plan) numbers: &'a [(u32, Option<Vec<Dim>>)],
    /// What the symbols may be.
    pub(in crate::plan) bounds: Bounds<'a>,
}

/// A scalar: its type, and the number as a float and as an integer.
pub(super) type Scalar = (DataType, f64, i64);

fn odd(parameter: usize) -> No {
    No::Unsure(format!("parameter {parameter} is not what the rule takes"))
}

impl<'a> Args<'a> {
    /// Whether what a rule says may not be so for all numbers that symbols can be.
    #[cfg(feature = "cache")]
    pub(in crate::plan) fn has_symbols(&self) -> bool {
        let varies = |dims: &[Dim]| dims.iter().any(|dim| dim.as_fixed().is_none());
        self.operands.iter().flatten().any(|operand| varies(operand.dims)) || !self.numbers.is_empty()
    }

    fn told(&self, parameter: usize) -> Result<&'a Told, No> {
        self.told.get(parameter).ok_or_else(|| odd(parameter))
    }

    /// Whether the parameter is there.
    pub(super) fn has(&self, parameter: usize) -> bool {
        !matches!(self.told.get(parameter), None | Some(Told::NoTensor | Told::NoTensors | Told::Null))
    }

    fn tensors(&self, parameter: usize) -> &'a [Option<Operand<'a>>] {
        let count = |told: &Told| told.tensors().map_or(0, |(count, _)| count as usize);
        let start = self.told.tensors_before(parameter);
        let own = self.told.get(parameter).map_or(0, count);
        self.operands.get(start..start + own).unwrap_or_default()
    }

    /// A tensor that is read.
    pub(super) fn tensor(&self, parameter: usize) -> Result<Operand<'a>, No> {
        self.any(parameter).and_then(known)
    }

    /// A tensor of any type, for operators that do not look at elements.
    pub(super) fn any(&self, parameter: usize) -> Result<Operand<'a>, No> {
        match (self.told(parameter)?, self.tensors(parameter)) {
            (Told::Tensor(_), [Some(operand)]) => Ok(*operand),
            (Told::NoTensor, _) => Err(No::Misfit(format!("the tensor of parameter {parameter} is left out"))),
            _ => Err(odd(parameter)),
        }
    }

    /// A tensor that may be left out.
    pub(super) fn maybe(&self, parameter: usize) -> Result<Option<Operand<'a>>, No> {
        if self.has(parameter) { self.tensor(parameter).map(Some) } else { Ok(None) }
    }

    /// Tensors of a list, which has some.
    pub(super) fn list(&self, parameter: usize) -> Result<Vec<Operand<'a>>, No> {
        if !self.has(parameter) {
            return Err(No::Misfit(format!("the list of parameter {parameter} is left out")));
        }
        let all = self.tensors(parameter).iter().map(|one| one.ok_or_else(|| odd(parameter)).and_then(known));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        match all.len() {
            0 => Err(No::Misfit(format!("the list of parameter {parameter} is empty"))),
            1..=1024 => Ok(all),
            _ => Err(No::Misfit(format!("the list of parameter {parameter} has more than 1,024 tensors"))),
        }
    }

    /// How many tensors a list has.
    pub(super) fn count(&self, parameter: usize) -> usize {
        self.tensors(parameter).len()
    }

    /// A result as it is declared.
    pub(super) fn declared(&self, parameter: usize) -> Option<Operand<'a>> {
        match self.tensors(parameter) {
            [Some(operand)] => Some(*operand),
            _ => None,
        }
    }

    /// What is known later of a parameter, where something is.
    fn later(&self, parameter: usize) -> Option<&'a Option<Vec<Dim>>> {
        self.numbers.iter().find(|(index, _)| *index as usize == parameter).map(|(_, numbers)| numbers)
    }

    /// The one place where integers are read: those that are told, or others that may depend on symbols.
    pub(super) fn ints(&self, parameter: usize) -> Result<Vec<Dim>, No> {
        if let Some(numbers) = self.later(parameter) {
            return numbers.clone().ok_or_else(|| later(parameter));
        }
        match self.told(parameter)? {
            Told::Ints(numbers) => Ok(numbers.iter().copied().map(sizes::number).collect()),
            Told::Number(bits) => Ok(vec![sizes::number(bits.cast_signed())]),
            Told::Null => Err(No::Misfit(format!("the numbers of parameter {parameter} are left out"))),
            _ => Err(odd(parameter)),
        }
    }

    /// One integer.
    pub(super) fn int(&self, parameter: usize) -> Result<Dim, No> {
        match *self.ints(parameter)? {
            [number] => Ok(number),
            _ => Err(odd(parameter)),
        }
    }

    /// Integers that have to be known.
    pub(super) fn fixed_ints(&self, parameter: usize) -> Result<Vec<i64>, No> {
        let symbolic = || No::Unsure(format!("parameter {parameter} depends on symbols"));
        self.ints(parameter)?.into_iter().map(|number| sizes::fixed(number).ok_or_else(symbolic)).collect()
    }

    /// One integer that has to be known.
    pub(super) fn fixed(&self, parameter: usize) -> Result<i64, No> {
        match *self.fixed_ints(parameter)? {
            [number] => Ok(number),
            _ => Err(odd(parameter)),
        }
    }

    fn bits(&self, parameter: usize) -> Result<u64, No> {
        if self.later(parameter).is_some() {
            return Err(later(parameter));
        }
        match self.told(parameter)? {
            Told::Number(bits) => Ok(*bits),
            _ => Err(odd(parameter)),
        }
    }

    pub(super) fn flag(&self, parameter: usize) -> Result<bool, No> {
        self.bits(parameter).map(|bits| bits != 0)
    }

    pub(super) fn real(&self, parameter: usize) -> Result<f64, No> {
        self.bits(parameter).map(f64::from_bits)
    }

    /// A type that is told, of those that the rules know.
    pub(super) fn dtype(&self, parameter: usize) -> Result<DataType, No> {
        let dtype = self.any_dtype(parameter)?;
        if Types::KNOWN.has(dtype) { Ok(dtype) } else { Err(strange_type()) }
    }

    /// Any type that is told.
    pub(super) fn any_dtype(&self, parameter: usize) -> Result<DataType, No> {
        let bits = self.bits(parameter)?;
        let named = DataType::ALL.into_iter().find(|dtype| u64::from(dtype.raw().0.cast_unsigned()) == bits);
        named.ok_or_else(strange_type)
    }

    /// A scalar that may be left out; its type is sure, the number may be another one later.
    pub(super) fn maybe_scalar(&self, parameter: usize) -> Result<Option<Scalar>, No> {
        match self.told(parameter)? {
            Told::Null => Ok(None),
            Told::Scalar(scalar) => scalar.number().map(Some).ok_or_else(|| strange("a number")),
            _ => Err(odd(parameter)),
        }
    }

    pub(super) fn scalar(&self, parameter: usize) -> Result<Scalar, No> {
        self.maybe_scalar(parameter)?
            .ok_or_else(|| No::Misfit(format!("the number of parameter {parameter} is left out")))
    }

    /// A scalar whose number counts.
    pub(super) fn number(&self, parameter: usize) -> Result<Scalar, No> {
        if self.later(parameter).is_some() { Err(later(parameter)) } else { self.scalar(parameter) }
    }

    pub(super) fn scalars(&self, parameter: usize) -> Result<Vec<Scalar>, No> {
        match self.told(parameter)? {
            Told::Scalars(all) => {
                all.iter().map(|scalar| scalar.number().ok_or_else(|| strange("a number"))).collect()
            }
            _ => Err(odd(parameter)),
        }
    }

    pub(super) fn bools(&self, parameter: usize) -> Result<&'a [bool], No> {
        match self.told(parameter)? {
            Told::Bools(all) => Ok(all),
            Told::Null => Err(No::Misfit(format!("the truth values of parameter {parameter} are left out"))),
            _ => Err(odd(parameter)),
        }
    }

    /// None where it is left out.
    pub(super) fn text(&self, parameter: usize) -> Result<Option<&'a [u8]>, No> {
        match self.told(parameter)? {
            Told::Null => Ok(None),
            Told::Text(text) => Ok(Some(text.to_bytes())),
            _ => Err(odd(parameter)),
        }
    }

    /// Whether a size may be 0 or must be: none where that depends on the symbols.
    pub(super) fn is_zero(&self, dim: Dim) -> Option<bool> {
        match sizes::fixed(dim) {
            Some(size) => Some(size == 0),
            None if self.least(dim).is_some_and(|least| least > 0) => Some(false),
            None => None,
        }
    }

    /// The least that a number can be.
    pub(super) fn least(&self, dim: Dim) -> Option<i128> {
        dim.poly().least(self.bounds)
    }

    /// Whether some result is left out that a rule gives.
    fn leaves_out(&self) -> bool {
        let is_out =
            |takes: &Takes| matches!(takes, Takes::Tensor(Access::Write, _) | Takes::Tensors(Access::Write, _));
        self.takes.iter().zip(self.told.iter()).any(|(takes, told)| is_out(takes) && told.tensors().is_none())
    }

    /// What each result is that the operator is given, of all that a rule gives.
    pub(in crate::plan) fn given(&self, results: Vec<Of>) -> Option<Vec<Of>> {
        if self.told.has_each_tensor() {
            let is_out = |takes: &&Takes| matches!(takes, Takes::Tensor(Access::Write, _));
            return (results.len() == self.takes.iter().filter(is_out).count()).then_some(results);
        }
        if !self.leaves_out() {
            let written = self.told.iter().filter_map(Told::tensors).filter(|(_, access)| *access == Access::Write);
            let count: usize = written.map(|(count, _)| count as usize).sum();
            return (results.len() == count).then_some(results);
        }
        let mut results = results.into_iter();
        let mut all = Vec::new();
        for (takes, told) in self.takes.iter().zip(self.told.iter()) {
            match (takes, told) {
                (Takes::Tensor(Access::Write, _), Told::Tensor(_)) => all.push(results.next()?),
                (Takes::Tensor(Access::Write, _), _) => drop(results.next()?),
                (Takes::Tensors(Access::Write, _), Told::Tensors(count, _)) => {
                    for _ in 0..*count {
                        all.push(results.next()?);
                    }
                }
                _ => {}
            }
        }
        results.next().is_none().then_some(all)
    }
}

fn later(parameter: usize) -> No {
    No::Unsure(format!("parameter {parameter} is a number that is known later"))
}

fn strange_type() -> No {
    No::Unsure("a data type that no rule knows".to_owned())
}

fn strange(what: &str) -> No {
    No::Unsure(format!("{what} of a type that no rule knows"))
}

fn known(operand: Operand<'_>) -> Result<Operand<'_>, No> {
    if Types::KNOWN.has(operand.dtype) { Ok(operand) } else { Err(strange("a tensor")) }
}
