//! An operator as the library knows it: its name in C and what it is told.

use crate::op::{Tellings, Told};
use crate::plan::checked::Form;
use crate::plan::recipe::{Access, Node, NodeKind};

/// A call of an operator; parameters are counted as in C.
pub(super) struct Called<'a> {
    pub(super) name: &'static str,
    told: Tellings<'a>,
    /// Parameters that are told other numbers later.
    later: Vec<usize>,
    /// Its tensors, in order.
    tensors: &'a [Access],
}

impl<'a> Called<'a> {
    /// What a node calls; none of what is no operator of the library.
    pub(super) fn of(plan: &'a Form, node: &Node) -> Option<Self> {
        let NodeKind::Foreign(function) = node.kind else { return None };
        let info = &plan.recipe.functions[function as usize];
        let recorded = plan.operator(function)?;
        let later = info.later().iter();
        let later = later.map(|one| recorded.index(&one.parameter)).collect::<Option<_>>()?;
        let tensors = plan.recipe.accesses_of(node);
        Some(Self { name: recorded.name(), told: recorded.told(), later, tensors })
    }

    /// All that it is told; [`Self::int`] and its like know what counts of it.
    #[cfg(test)]
    pub(super) fn told(&self) -> Vec<Told> {
        self.told.iter().cloned().collect()
    }

    /// Whether it is one of these.
    pub(super) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name)
    }

    /// The tensors of a parameter: of a list all of them.
    pub(super) fn tensors(&self, parameter: usize) -> &[Access] {
        let count = |told: &Told| told.tensors().map_or(0, |(count, _)| count as usize);
        let start = self.told.tensors_before(parameter);
        let own = self.told.get(parameter).map_or(0, count);
        self.tensors.get(start..start + own).unwrap_or_default()
    }

    /// The tensor of a parameter; none where it is left out.
    pub(super) fn tensor(&self, parameter: usize) -> Option<Access> {
        match (self.told.get(parameter)?, self.tensors(parameter)) {
            (Told::Tensor(_), [one]) => Some(*one),
            _ => None,
        }
    }

    fn known(&self, parameter: usize) -> Option<&Told> {
        if self.later.contains(&parameter) { None } else { self.told.get(parameter) }
    }

    /// An integer, a type, or a truth value; none where it is told later.
    pub(super) fn int(&self, parameter: usize) -> Option<i64> {
        self.known(parameter)?.int()
    }

    /// A number that is no integer; none where it is told later.
    pub(super) fn real(&self, parameter: usize) -> Option<f64> {
        self.known(parameter)?.real()
    }

    /// A list of integers; none where it is told later.
    pub(super) fn ints(&self, parameter: usize) -> Option<&[i64]> {
        self.known(parameter)?.ints()
    }

    /// The number of a scalar.
    pub(super) fn scalar(&self, parameter: usize) -> Option<f64> {
        self.known(parameter)?.scalar()?.number().map(|(_, number, _)| number)
    }
}
