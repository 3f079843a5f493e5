//! The rules against the mock's first phases, on random arguments: both say yes or both say no.

use crate::op::{Access, AnyTensor, Call, DataType, Recorded, Target, Told, View};
use crate::plan::recipe::operator::Operand;
use crate::plan::symbols::dim::Dim;
use crate::{Acl, Device, Result, SharedBuffer, Stream};

use super::{Args, No, rule};
use random::Random;
use signatures::{Signature, signatures};

mod bytes;
mod cover;
mod in_place;
mod left;
mod limits;
mod made;
mod mixed;
mod moved;
mod names;
mod random;
mod signatures;
mod symbolic;

/// Type and shape.
pub(super) type Shaped = (DataType, Vec<usize>);

/// What integers an operator gets when it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Integers {
    Zeros,
    /// Ones and zeros in turn: places of the first two elements.
    Places,
    Small,
}

/// A call with its operands; none for a result that is to follow from the rule.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) told: Vec<Told>,
    pub(super) operands: Vec<Option<Shaped>>,
    pub(super) integers: Integers,
}

impl Case {
    /// What is done with each operand.
    pub(super) fn accesses(&self) -> Vec<Access> {
        let of = |told: &Told| told.tensors().map(|(count, access)| vec![access; count as usize]);
        self.told.iter().filter_map(of).flatten().collect()
    }

    /// What the rule says with sizes as they are.
    fn with_rule<T>(&self, look: impl FnOnce(&Args<'_>, Result<Vec<super::Of>, No>) -> T) -> T {
        self.with_sizes(Dim::from, &[], look)
    }

    fn with_sizes<T>(
        &self,
        size: impl Fn(usize) -> Dim,
        bounds: &[(u64, u64)],
        look: impl FnOnce(&Args<'_>, Result<Vec<super::Of>, No>) -> T,
    ) -> T {
        let dims: Vec<Option<(DataType, Vec<Dim>)>> = self
            .operands
            .iter()
            .map(|one| one.as_ref().map(|(dtype, dims)| (*dtype, dims.iter().map(|dim| size(*dim)).collect())))
            .collect();
        let operands: Vec<_> =
            dims.iter().map(|one| one.as_ref().map(|(dtype, dims)| Operand { dtype: *dtype, dims })).collect();
        let recorded = Recorded::from_told(&self.name, self.told.clone()).unwrap();
        let args =
            Args { told: self.told[..].into(), takes: recorded.kinds(), operands: &operands, numbers: &[], bounds };
        let results = rule(&self.name).unwrap()(&args);
        let results = results
            .map(|results| args.given(results).unwrap_or_else(|| panic!("{}: another number of results", self.name)));
        look(&args, results)
    }

    /// With the results that follow from the rule; those that follow when it says no are all like the first operand.
    pub(super) fn completed(&self) -> (Self, Result<(), No>) {
        let mut case = self.clone();
        let inferred = self.with_rule(|_, results| results);
        let fixed = |of: &super::Of| (of.dtype, of.dims.iter().map(|dim| dim.as_fixed().unwrap()).collect());
        let some = self.operands.iter().flatten().next().cloned().unwrap_or((DataType::F32, vec![2]));
        let results: Vec<Shaped> = inferred.as_deref().unwrap_or_default().iter().map(fixed).collect();
        let mut results = results.into_iter();
        for (operand, access) in case.operands.iter_mut().zip(self.accesses()) {
            let result = if access == Access::Write { results.next() } else { None };
            if operand.is_none() {
                *operand = Some(result.unwrap_or_else(|| some.clone()));
            }
        }
        (case, inferred.map(drop))
    }

    /// What the rule says of declared results; none where it is not sure.
    pub(super) fn judged(&self) -> Option<bool> {
        self.with_rule(|_, results| match results {
            Err(No::Misfit(_)) => Some(false),
            Err(No::Unsure(_)) => None,
            Ok(results) => {
                let accesses = self.accesses();
                let written = self.operands.iter().zip(accesses).filter(|(_, access)| *access == Access::Write);
                let taken: Option<Vec<bool>> = written
                    .zip(&results)
                    .map(|((operand, _), of)| {
                        let (dtype, dims) = operand.as_ref().unwrap();
                        of.takes(*dtype, &dims.iter().map(|dim| Dim::from(*dim)).collect::<Vec<_>>())
                    })
                    .collect();
                taken.map(|all| all.into_iter().all(|one| one))
            }
        })
    }
}

/// Runs first phases alone.
#[derive(Clone, Copy)]
struct FirstPhase<'a>(&'a Stream);

impl Target for FirstPhase<'_> {
    fn take(self, call: &Call<'_>) -> Result<()> {
        call.first_phase(self.0)
    }
}

/// A mock to ask.
pub(super) struct Library {
    pub(super) device: Device,
    pub(super) stream: Stream,
    bytes: SharedBuffer<u8>,
}

impl Library {
    pub(super) fn new() -> Self {
        let device = Acl::mock().unwrap().device(0).unwrap();
        let bytes = device.alloc::<u8>(1 << 26).unwrap().into_shared();
        Self { stream: device.stream().unwrap(), device, bytes }
    }

    fn tensors(&self, case: &Case) -> Result<Vec<AnyTensor>> {
        let tensor = |one: &Option<Shaped>| {
            let (dtype, dims) = one.as_ref().unwrap();
            AnyTensor::over(self.bytes.clone(), *dtype, dims.as_slice())
        };
        case.operands.iter().map(tensor).collect()
    }

    /// Whether the first phase takes the case.
    pub(super) fn takes(&self, case: &Case) -> Result<()> {
        let tensors = self.tensors(case)?;
        let views: Vec<View<'_>> = tensors.iter().map(|tensor| crate::op::Described::view(tensor).unwrap()).collect();
        let recorded = Recorded::from_told(&case.name, case.told.clone()).unwrap();
        recorded.launch(FirstPhase(&self.stream), &views, std::panic::Location::caller())
    }
}

/// How often both said yes and no.
#[derive(Debug, Default)]
struct Count {
    yes: usize,
    no: usize,
    /// Where the rule leaves it to the library.
    unsure: usize,
}

fn compare(library: &Library, case: &Case, count: &mut Count, wrong: &mut Vec<String>) {
    let taken = library.takes(case);
    match (case.judged(), &taken) {
        (None, _) => count.unsure += 1,
        (Some(true), Ok(())) => count.yes += 1,
        (Some(false), Err(_)) => count.no += 1,
        (Some(rule), _) => wrong.push(format!("the rule says {rule}, the library {taken:?}: {case:?}")),
    }
}

/// All that is tried of one operator; the cases that are taken as they are.
fn tried(library: &Library, signature: &Signature, turns: usize, wrong: &mut Vec<String>) -> Vec<Case> {
    let mut random = Random::new(&signature.name);
    let (mut count, mut good) = (Count::default(), Vec::new());
    for _ in 0..turns {
        let case = made::case(&mut random, signature);
        let (full, inferred) = case.completed();
        compare(library, &full, &mut count, wrong);
        if inferred.is_ok() && full.judged() == Some(true) {
            good.push(full.clone());
        }
        for _ in 0..3 {
            compare(library, &random.changed(&full), &mut count, wrong);
        }
        if wrong.len() > 3 {
            break;
        }
    }
    // Nothing is wrong with one tensor that is changed in place or filled, of any shape and type.
    let alone = |case: &Case| matches!(case.accesses()[..], [access] if access.writes());
    let always = good.iter().all(alone) && !good.is_empty();
    let seldom = count.yes < turns / 6 || count.no < turns / 50 && !always;
    if wrong.is_empty() && (seldom || 2 * count.unsure > count.yes + count.no) {
        wrong.push(format!("{}: one side is not tried: {count:?}", signature.name));
    }
    good
}

#[test]
fn a_rule_says_yes_where_the_first_phase_does() {
    let library = Library::new();
    let turns = std::env::var("RACL_RULES_TURNS").map_or(150, |turns| turns.parse().unwrap());
    let only = std::env::var("RACL_RULES_ONLY").unwrap_or_default();
    let (mut failed, mut ruled) = (Vec::new(), 0);
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some() && one.name.contains(&only)) {
        let mut wrong = Vec::new();
        tried(&library, signature, turns, &mut wrong);
        ruled += 1;
        failed.extend(wrong.into_iter().take(3));
    }
    assert!(failed.is_empty(), "{} of {ruled}:\n{}", failed.len(), failed.join("\n"));
}
