//! Operators by their C names.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault};
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::op::{self, Access, Call, DataType, Few, Recorded, Stands, aclnn};
use crate::plan::builder::Value;
use crate::plan::builder::decompositions::{Operation, Rewrite};
use crate::plan::check::finding::FindingKind;
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::function::Body;
use crate::plan::recipe::quantity::{Later, Quantity};
use crate::plan::recipe::quick::{Quick, QuickMap};
use crate::plan::recipe::{FunctionInfo, Mode, NodeKind, StorageKind};
use crate::plan::rules::{self, Args, No, Of, Rule};
use crate::plan::symbols::dim::{Dim, name_symbols};

use super::decompose::Decomposed;
use super::{At, NONE, State, Used, push_slowly};

/// Operators that were recorded, by what tells them apart.
#[derive(Default)]
pub(super) struct Operators {
    all: Vec<Known>,
    /// The latest of those whose words have the same hash.
    known: QuickMap<u32, u32>,
    /// By C name, what they are told, and numbers that are known later.
    later: HashMap<(&'static str, Vec<u8>, Vec<Later>), u32>,
    /// Of the call that is being recorded.
    words: Vec<u64>,
    /// Of one that may be the same.
    others: Vec<u64>,
}

/// An operator with all that it is told, but for numbers that are known later.
struct Known {
    recorded: Arc<Recorded>,
    rule: Option<Rule>,
    /// Its function, once it was issued without such numbers; else [`NONE`].
    function: u32,
    /// An earlier one whose words have the same hash, or [`NONE`].
    same_hash: u32,
}

impl Operators {
    /// The operator with the words that were noted.
    fn find(&mut self) -> Option<usize> {
        let mut one = *self.known.get(&hash(&self.words))?;
        while one != NONE {
            let known = &self.all[one as usize];
            self.others.clear();
            known.recorded.note(&mut self.others);
            if self.others == self.words {
                return Some(one as usize);
            }
            one = known.same_hash;
        }
        None
    }

    /// One that is new.
    fn add(&mut self, recorded: Recorded) -> usize {
        let rule = rules::rule(recorded.name());
        let same_hash = self.known.insert(hash(&self.words), self.all.len() as u32).unwrap_or(NONE);
        push_slowly(&mut self.all, Known { rule, recorded: Arc::new(recorded), function: NONE, same_hash });
        self.all.len() - 1
    }
}

/// Half of a hash: operators that share it are told apart by their words.
fn hash(words: &[u64]) -> u32 {
    BuildHasherDefault::<Quick>::default().hash_one(words) as u32
}

/// The operands of a call, with what is done to each.
type Operands<'a> = [(Stands<'a>, Access)];

impl State {
    /// Issues an operator on values of the plan, with numbers that are known later; results that are awaited are made.
    /// Gives what to issue in its place where it has a decomposition.
    pub(in crate::plan) fn record_call(
        &mut self,
        call: &Call<'_>,
        told: &[(String, Vec<Quantity>)],
    ) -> Result<Option<Decomposed>> {
        let (label, at) = (call.label, call.location);
        let known = self.known(call)?;
        let later: Vec<Later> =
            told.iter().map(|(name, numbers)| self.later(call, name, numbers)).collect::<Result<_>>()?;
        let operands = op::stands(call);
        let operands = operands.as_slice();
        self.check_operands(label, operands, at)?;
        let recorded = &self.operators.all[known].recorded;
        let numbers = later.iter().filter_map(|one| Some((recorded.index(&one.parameter)? as u32, one.integers())));
        let results = self.results(known, operands, &numbers.collect::<Vec<_>>(), at)?;
        if let Some(rewrite) = self.rewrite_of(recorded.name(), at)? {
            let operation = Operation::of(Arc::clone(recorded), later);
            return self.decomposed((rewrite, operation), label, (operands, &results), at).map(Some);
        }
        let (storages, values) = (self.recipe.storages.len(), self.recipe.values.len());
        let issued = self.issue((known, later), label, (operands, results), at);
        match issued {
            Ok(uses) => {
                for ((stands, _), (value, _)) in operands.iter().zip(uses.as_slice()) {
                    if let Stands::Awaited(awaited) = stands {
                        awaited.fill((*value).into());
                    }
                }
                Ok(None)
            }
            Err(error) => {
                self.recipe.storages.truncate(storages);
                self.recipe.values.truncate(values);
                self.producers.truncate(values);
                Err(error)
            }
        }
    }

    /// What to issue in place of an operator of one result.
    fn decomposed(
        &self,
        (rewrite, operation): ((&'static str, Rewrite), Operation),
        label: &str,
        (operands, results): (&Operands<'_>, &[Of]),
        at: At,
    ) -> Result<Decomposed> {
        let name = rewrite.0;
        let mut written = operands.iter().filter(|(_, access)| access.writes());
        let (Some((out, _)), None) = (written.next(), written.next()) else {
            let text = format!("{name}: a decomposition gives one result, and it has another number of them");
            return self.wrong(FindingKind::Operand, at, text);
        };
        let value = |(stands, access): &(Stands<'_>, Access)| match stands {
            Stands::Value(token) => Some(((*token).into(), Mode::from(*access))),
            _ => None,
        };
        let uses: Vec<Used> = operands.iter().filter_map(value).collect();
        if let Stands::Value(_) = out {
            self.check_written((label, name), operands, &uses, at)?;
        }
        let expected = match (results, out) {
            ([of], _) => (of.dtype, of.dims.clone()),
            (_, Stands::Value(token)) => {
                let layout = self.recipe.layout_of(token.index);
                (layout.dtype, layout.dims.clone())
            }
            _ => unreachable!("a result that is awaited has a rule"),
        };
        let operands = uses.into_iter().filter(|(_, mode)| mode.reads()).map(|(value, _)| value).collect();
        Ok(Decomposed { rewrite, operation, operands, expected })
    }

    /// Copies the elements of any view to another, with the operator of the library for that.
    pub(in crate::plan) fn copy_elements(&mut self, from: Value, to: Value, at: At) -> Result<()> {
        let (recorded, _) = op::recorded(|recorder| aclnn::inplace_copy(recorder, &mut { to }, &from))?;
        self.operators.words.clear();
        recorded.note(&mut self.operators.words);
        let known = self.operators.find().unwrap_or_else(|| self.operators.add(recorded));
        let operands = [(Stands::Value(to.into()), Access::Write), (Stands::Value(from.into()), Access::Read)];
        self.issue((known, Vec::new()), "copy", (&operands, Vec::new()), at).map(drop)
    }

    /// The operator of a call.
    fn known(&mut self, call: &Call<'_>) -> Result<usize> {
        self.operators.words.clear();
        call.note(&mut self.operators.words);
        if let Some(known) = self.operators.find() {
            return Ok(known);
        }
        match Recorded::of(call) {
            Ok(recorded) => Ok(self.operators.add(recorded)),
            Err(error) => self.wrong(FindingKind::Operand, call.location, error.detail()),
        }
    }

    /// Makes the results that are awaited, and issues the operator. Gives what it uses.
    fn issue(
        &mut self,
        (known, later): (usize, Vec<Later>),
        label: &str,
        (operands, results): (&Operands<'_>, Vec<Of>),
        at: At,
    ) -> Result<Few<Used>> {
        let (mut uses, mut results) = (Few::new(), results.into_iter());
        for (stands, access) in operands {
            let result = if *access == Access::Write { results.next() } else { None };
            let left = result.as_ref().is_some_and(|result| result.left);
            let value = match (*stands, result) {
                (Stands::Value(token), _) => Value::from(token),
                (Stands::Awaited(_), Some(result)) => {
                    self.memory(StorageKind::Temporary, &result.dims, result.dtype, at)?
                }
                _ => unreachable!("every operand is checked to be a value or a result that has a rule"),
            };
            uses.push((value, if left { Mode::Clobber } else { Mode::from(*access) }));
        }
        self.check_written((label, self.operators.all[known].recorded.name()), operands, uses.as_slice(), at)?;
        let function = self.function_of(known, later);
        self.emit(NodeKind::Foreign(function), uses.as_slice(), at)?;
        Ok(uses)
    }

    /// That each operand is a value of this plan, or a result that is to be made.
    fn check_operands(&self, label: &str, operands: &Operands<'_>, at: At) -> Result<()> {
        for (place, (stands, access)) in operands.iter().enumerate() {
            match stands {
                Stands::Value(token) => self.check(Value::from(*token), label, at)?,
                Stands::Awaited(awaited)
                    if operands[..place].iter().any(
                        |(other, _)| matches!(other, Stands::Awaited(known) if std::ptr::eq(*known, *awaited)),
                    ) =>
                {
                    let text = format!("{label}: one place for two results");
                    return self.wrong(FindingKind::Operand, at, text);
                }
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
        known: usize,
        operands: &Operands<'_>,
        numbers: &[(u32, Option<Vec<Dim>>)],
        at: At,
    ) -> Result<Vec<Of>> {
        let Known { recorded, rule, .. } = &self.operators.all[known];
        let name = recorded.name();
        let mut given = Few::new();
        for (stands, _) in operands {
            given.push(match stands {
                Stands::Value(token) => Some(self.operand(Value::from(*token))),
                _ => None,
            });
        }
        let (given, bounds) = (given.as_slice(), self.recipe.bounds());
        let args = Args { told: recorded.told(), takes: recorded.kinds(), operands: given, numbers, bounds: &bounds };
        let unsure = |text: String| match operands.iter().any(|(stands, _)| matches!(stands, Stands::Awaited(_))) {
            false => Ok(rules::left(name, &args).unwrap_or_default()),
            true => {
                let text = name_symbols(&text, &self.recipe.symbol_names());
                self.wrong(FindingKind::Operand, at, format_args!("{name}: its results have to be declared: {text}"))
            }
        };
        let Some(rule) = *rule else {
            return unsure("no rule of their shapes is known".to_owned());
        };
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
        let written = operands.iter().zip(given).filter(|((_, access), _)| *access == Access::Write);
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

    /// The type of a value that an operator is told.
    pub(in crate::plan) fn dtype_at(&self, value: Value, at: At) -> Result<DataType> {
        self.check(value, "an operand", at)?;
        Ok(self.recipe.layout_of(value.index).dtype)
    }

    /// The sizes of a value, some of which an operator is told as numbers.
    pub(in crate::plan) fn dims_at(&self, value: Value, at: At) -> Result<Vec<Dim>> {
        self.check(value, "an operand", at)?;
        Ok(self.recipe.layout_of(value.index).dims.clone())
    }

    /// Why an operator is not recorded.
    pub(in crate::plan) fn refuse(&self, text: &str, at: At) -> Error {
        match self.wrong::<std::convert::Infallible>(FindingKind::Operand, at, text) {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    /// That what is written is no constant, and no part of it another operand. The very value that is read may be
    /// written, where the operator can compute in place. Memory that is made is nobody else's.
    fn check_written(
        &self,
        (label, name): (&str, &str),
        operands: &Operands<'_>,
        uses: &[Used],
        at: At,
    ) -> Result<()> {
        if operands.iter().all(|(stands, access)| !access.writes() || matches!(stands, Stands::Awaited(_))) {
            return Ok(());
        }
        let bounds = self.recipe.bounds();
        for (index, (written, _)) in uses.iter().enumerate().filter(|(_, (_, mode))| mode.writes()) {
            if self.is_constant(*written) {
                return self.wrong(FindingKind::Operand, at, format_args!("{label} into a constant"));
            }
            let info = |value: Value| &self.recipe.values[value.index as usize];
            for (other, (value, mode)) in uses.iter().enumerate() {
                let same = *mode == Mode::Read && info(*value) == info(*written);
                let places = || rules::places(uses, |(_, mode)| mode.writes());
                if other == index || (same && rules::works_in_place(name, other, index, places())) {
                    continue;
                }
                if may_overlap(&self.recipe, value.index, written.index, &bounds) {
                    let how = match same {
                        true if rules::rule(name).is_none() => {
                            format!("in whose place it writes: no rule knows {name}, nor whether it can")
                        }
                        true => "which it cannot compute in place".to_owned(),
                        false => "which overlaps a result".to_owned(),
                    };
                    return self.wrong(FindingKind::Operand, at, format_args!("{label}: an operand {how}"));
                }
            }
        }
        Ok(())
    }

    /// Numbers for a parameter that are known later.
    fn later(&self, call: &Call<'_>, name: &str, numbers: &[Quantity]) -> Result<Later> {
        let (label, at) = (call.label, call.location);
        let Some((_, takes)) = call.function.parameter(name) else {
            let known = call.function.parameters().collect::<Vec<_>>().join(", ");
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

    /// The function of an operator with what it is told; the same one has one.
    fn function_of(&mut self, known: usize, later: Vec<Later>) -> u32 {
        let (known, next) = (&mut self.operators.all[known], self.recipe.functions.len() as u32);
        let function = if later.is_empty() {
            if known.function == NONE {
                known.function = next;
            }
            known.function
        } else {
            let key = (known.recorded.name(), known.recorded.bytes(), later.clone());
            *self.operators.later.entry(key).or_insert(next)
        };
        if function == next {
            push_slowly(&mut self.recipe.functions, FunctionInfo::of_operator(Arc::clone(&known.recorded), later));
            push_slowly(&mut self.bodies, Body::Operator);
        }
        function
    }
}
