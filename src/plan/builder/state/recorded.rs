//! Operators by their C names.

use std::sync::Arc;

use crate::error::Result;
use crate::op::{self, Call, Recorded};
use crate::plan::builder::Value;
use crate::plan::check::finding::FindingKind;
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::quantity::{Later, Quantity};
use crate::plan::recipe::{Cores, FunctionInfo, FunctionKind, Mode, NodeKind};

use super::{At, State, Used};

impl State {
    /// Issues an operator on values of the plan.
    pub(in crate::plan) fn record_call(&mut self, call: &Call<'_>, told: &[(String, Vec<Quantity>)]) -> Result<()> {
        let (label, at) = (call.label, call.location);
        let mut uses: Vec<Used> = Vec::new();
        for (token, access) in op::tokens(call) {
            let Some(value) = token.map(Value::from) else {
                let text = format!("{label}: memory of a device, which a plan knows by its inputs");
                return self.wrong(FindingKind::Operand, at, text);
            };
            self.check(value, label, at)?;
            uses.push((value, Mode::from(access)));
        }
        self.check_written(label, &uses, at)?;
        let recorded = match Recorded::of(call) {
            Ok(recorded) => recorded,
            Err(error) => return self.wrong(FindingKind::Operand, at, error.detail()),
        };
        let later = told.iter().map(|(name, numbers)| self.later(call, name, numbers)).collect::<Result<_>>()?;
        let function = self.operator_of(recorded, later);
        self.emit(NodeKind::Foreign(function), &uses, at).map(drop)
    }

    /// That what is written is no constant, and no part of it another operand. The very value that is read may be
    /// written, where the operator can compute in place.
    fn check_written(&self, label: &str, uses: &[Used], at: At) -> Result<()> {
        let bounds = self.recipe.bounds();
        for (index, (written, _)) in uses.iter().enumerate().filter(|(_, (_, mode))| mode.writes()) {
            if self.is_constant(*written) {
                return self.wrong(FindingKind::Operand, at, format_args!("{label} into a constant"));
            }
            let info = |value: Value| &self.recipe.values[value.index as usize];
            let clashes = |(other, (value, mode)): (usize, &Used)| {
                let in_place = *mode == Mode::Read && info(*value) == info(*written);
                other != index && !in_place && may_overlap(&self.recipe, value.index, written.index, &bounds)
            };
            if uses.iter().enumerate().any(clashes) {
                return self.wrong(FindingKind::Operand, at, format_args!("{label}: an operand overlaps a result"));
            }
        }
        Ok(())
    }

    /// Numbers for a parameter that are known later.
    fn later(&self, call: &Call<'_>, name: &str, numbers: &[Quantity]) -> Result<Later> {
        let (label, at) = (call.label, call.location);
        let Some((_, takes)) = call.function.parameter(name) else {
            let known = call.function.parameters().join(", ");
            let text = format!("{label} has no parameter {name:?}; its parameters are {known}");
            return self.wrong(FindingKind::Operand, at, text);
        };
        let Some((several, real)) = takes.amounts() else {
            return self.wrong(
                FindingKind::Operand,
                at,
                format_args!("{label}: {name} is no number that can be told"),
            );
        };
        if !several && numbers.len() != 1 {
            let text = format!("{label}: {} numbers for {name}, which is one", numbers.len());
            return self.wrong(FindingKind::Operand, at, text);
        }
        for number in numbers {
            if let Some(size) = number.0.size() {
                let size = size.usable().or_else(|error| self.wrong(FindingKind::Operand, at, error.detail()))?;
                self.check_dim(size, at)?;
            }
            if number.0.is_real() && !real {
                let shown = number.0.show(&self.recipe.symbol_names());
                let text = format!("{label}: {shown} for {name}, which takes integers");
                return self.wrong(FindingKind::Operand, at, text);
            }
        }
        let each_run = numbers.iter().filter_map(|number| number.0.size()).any(|size| self.is_of_each_run(size));
        let numbers = numbers.iter().map(|number| number.0).collect();
        Ok(Later { parameter: name.to_owned(), numbers, each_run })
    }

    /// The number of an operator with what it is told; the same one has one number.
    fn operator_of(&mut self, recorded: Recorded, later: Vec<Later>) -> u32 {
        let info = FunctionInfo {
            kind: FunctionKind::Operator,
            name: Some(recorded.name().to_owned()),
            version: 0,
            attributes: recorded.bytes(),
            needs: Cores::default(),
            later,
        };
        let key = (recorded.name(), info.attributes.clone(), info.later.clone());
        if let Some(known) = self.operators.get(&key) {
            return *known;
        }
        let index = self.recipe.functions.len() as u32;
        self.recipe.functions.push(info);
        self.bodies.push(Body::Operator(Arc::new(recorded)));
        self.operators.insert(key, index);
        index
    }
}
