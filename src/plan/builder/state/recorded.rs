//! Operators by their C names.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;
use crate::op::{self, Access, Awaited, Call, Recorded, Stands};
use crate::plan::builder::Value;
use crate::plan::check::finding::FindingKind;
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::quantity::{Form, Later, Quantity};
use crate::plan::recipe::{FunctionInfo, Mode, NodeKind, StorageKind};
use crate::plan::rules::{self, Args, No, Of};
use crate::plan::symbols::dim::{Dim, name_symbols};

use super::{At, State, Used};

/// A result that is to be made, and where it goes.
type Made<'a> = (&'a Awaited, Value);

impl State {
    /// Issues an operator on values of the plan, with numbers that are known later; results that are awaited are made.
    pub(in crate::plan) fn record_call(&mut self, call: &Call<'_>, told: &[(String, Vec<Quantity>)]) -> Result<()> {
        let (label, at) = (call.label, call.location);
        let recorded = match Recorded::of(call) {
            Ok(recorded) => recorded,
            Err(error) => return self.wrong(FindingKind::Operand, at, error.detail()),
        };
        let later = told.iter().map(|(name, numbers)| self.later(call, name, numbers)).collect::<Result<_>>()?;
        let operands = op::stands(call);
        self.check_operands(label, &operands, at)?;
        let results = self.results(&recorded, &operands, &numbers_of(call, told), at)?;
        let (storages, values) = (self.recipe.storages.len(), self.recipe.values.len());
        let issued = self.issue((recorded, later), label, (&operands, results), at);
        match issued {
            Ok(made) => made.into_iter().for_each(|(awaited, value)| awaited.fill(value.into())),
            Err(error) => {
                self.recipe.storages.truncate(storages);
                self.recipe.values.truncate(values);
                self.producers.truncate(values);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Makes the results that are awaited, and issues the operator.
    fn issue<'a>(
        &mut self,
        (recorded, later): (Recorded, Vec<Later>),
        label: &str,
        (operands, results): (&[(Stands<'a>, Access)], Vec<Of>),
        at: At,
    ) -> Result<Vec<Made<'a>>> {
        let (mut uses, mut made, mut results): (Vec<Used>, Vec<Made<'a>>, _) =
            (Vec::with_capacity(operands.len()), Vec::new(), results.into_iter());
        for (stands, access) in operands {
            let result = if *access == Access::Write { results.next() } else { None };
            let value = match (*stands, result) {
                (Stands::Value(token), _) => Value::from(token),
                (Stands::Awaited(awaited), Some(result)) => {
                    let value = self.memory(StorageKind::Temporary, &result.dims, result.dtype, at)?;
                    made.push((awaited, value));
                    value
                }
                _ => unreachable!("every operand is checked to be a value or a result that has a rule"),
            };
            uses.push((value, Mode::from(*access)));
        }
        self.check_written(label, &uses, at)?;
        let function = self.operator_of(recorded, later);
        self.emit(NodeKind::Foreign(function), &uses, at)?;
        Ok(made)
    }

    /// That each operand is a value of this plan, or a result that is to be made.
    fn check_operands(&self, label: &str, operands: &[(Stands<'_>, Access)], at: At) -> Result<()> {
        for (stands, access) in operands {
            match stands {
                Stands::Value(token) => self.check(Value::from(*token), label, at)?,
                Stands::Awaited(_) if *access == Access::Write => {}
                Stands::Awaited(_) => {
                    let text = format!("{label}: an operand that is read, and that nothing has made yet");
                    return self.wrong(FindingKind::Operand, at, text);
                }
                Stands::Memory => {
                    let text = format!("{label}: memory of a device, which a plan knows by its inputs");
                    return self.wrong(FindingKind::Operand, at, text);
                }
            }
        }
        Ok(())
    }

    /// What the results are, where a rule is known; nothing where the library's first phase alone decides.
    fn results(
        &self,
        recorded: &Recorded,
        operands: &[(Stands<'_>, Access)],
        numbers: &[(u32, Option<Vec<Dim>>)],
        at: At,
    ) -> Result<Vec<Of>> {
        let name = recorded.name();
        let unsure = |text: String| match operands.iter().any(|(stands, _)| matches!(stands, Stands::Awaited(_))) {
            false => Ok(Vec::new()),
            true => {
                let text = name_symbols(&text, &self.recipe.symbol_names());
                self.wrong(FindingKind::Operand, at, format_args!("{name}: its results have to be declared: {text}"))
            }
        };
        let Some(rule) = rules::rule(name) else {
            return unsure("no rule of their shapes is known".to_owned());
        };
        let given = |(stands, _): &(Stands<'_>, Access)| match stands {
            Stands::Value(token) => Some(self.operand(Value::from(*token))),
            _ => None,
        };
        let given: Vec<_> = operands.iter().map(given).collect();
        let bounds = self.recipe.bounds();
        let args =
            Args { told: recorded.told(), takes: recorded.kinds(), operands: &given, numbers, bounds: &bounds };
        let results = match rule(&args) {
            Ok(results) => args.given(results),
            Err(No::Misfit(text)) => {
                let text = name_symbols(&text, &self.recipe.symbol_names());
                return self.wrong(FindingKind::Operand, at, format_args!("{name}: {text}"));
            }
            Err(No::Unsure(text)) => return unsure(text),
        };
        let Some(results) = results else {
            return unsure("the rule gives another number of results".to_owned());
        };
        if results.iter().flat_map(|result| &result.dims).any(|dim| self.is_of_each_run(*dim)) {
            return unsure("a size would be one that each run gives anew".to_owned());
        }
        let written = operands.iter().zip(&given).filter(|((_, access), _)| *access == Access::Write);
        for ((_, declared), result) in written.zip(&results) {
            let Some(declared) = declared else { continue };
            if result.takes(declared.dtype, declared.dims) == Some(false) {
                let (dims, into) = (self.show(&result.dims), self.show(declared.dims));
                let text = format!("{name}: {:?} {dims} into {:?} {into}", result.dtype, declared.dtype);
                return self.wrong(FindingKind::Operand, at, text);
            }
        }
        Ok(results)
    }

    /// Sizes that an operator is told.
    pub(in crate::plan) fn told(&self, value: Value, dims: Range<usize>, at: At) -> Result<Vec<i64>> {
        self.check(value, "an operand", at)?;
        let layout = self.recipe.layout_of(value.index);
        let mut sizes = Vec::with_capacity(dims.len());
        for dim in dims {
            match layout.dims.get(dim).map(|size| size.as_fixed()) {
                Some(Some(size)) => sizes.push(size as i64),
                None => sizes.push(0),
                Some(None) => {
                    let shape = self.show(&layout.dims);
                    let text = format!("dimension {dim} of {shape}, which the operator is told, depends on symbols");
                    return self.wrong(FindingKind::Operand, at, text);
                }
            }
        }
        Ok(sizes)
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
        let info = FunctionInfo::of_operator(&recorded, later);
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

/// Integers that are known later, by the index of their parameter; none for other numbers.
fn numbers_of(call: &Call<'_>, told: &[(String, Vec<Quantity>)]) -> Vec<(u32, Option<Vec<Dim>>)> {
    let integer = |number: &Quantity| match number.0 {
        Form::Whole(number) => Some(Dim::from_parts(0, number, Default::default())),
        Form::Size(size) => Some(size),
        Form::Power(..) => None,
    };
    let of = |(name, numbers): &(String, Vec<Quantity>)| {
        let (index, _) = call.function.parameter(name)?;
        Some((index as u32, numbers.iter().map(integer).collect()))
    };
    told.iter().filter_map(of).collect()
}
