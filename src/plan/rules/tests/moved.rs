//! The library is told the address of a tensor that moved by its index: the mock counts operands as first phases do.

use std::cell::RefCell;
use std::panic::Location;

use crate::Result;
use crate::op::{AnyTensor, Call, Described, Recorded, Target, View};

use super::super::rule;
use super::signatures::signatures;
use super::{Case, Library, tried};

type Pairs = Option<Vec<(usize, usize)>>;

/// Which tensors of a call are taken for others when they move; nothing is launched.
#[derive(Clone, Copy)]
struct Moves<'a>(&'a Library, &'a RefCell<Pairs>);

impl Target for Moves<'_> {
    fn take(self, call: &Call<'_>) -> Result<()> {
        call.taken_for_others(&self.0.stream).map(|pairs| *self.1.borrow_mut() = pairs)
    }
}

/// Each operand begins at another element, so that none has the layout of another one.
fn taken_for_others(library: &Library, case: &Case) -> Pairs {
    let operands = case.operands.iter().flatten().enumerate();
    let tensors: Vec<AnyTensor> = operands
        .map(|(at, (dtype, dims))| {
            AnyTensor::over_strided(library.bytes.clone(), *dtype, dims.as_slice(), None, 16 * at).unwrap()
        })
        .collect();
    let views: Vec<View<'_>> = tensors.iter().map(|tensor| Described::view(tensor).unwrap()).collect();
    let recorded = Recorded::from_told(&case.name, case.told.clone()).unwrap();
    let pairs = RefCell::new(None);
    let launched = recorded.launch(Moves(library, &pairs), &views, Location::caller());
    launched.unwrap_or_else(|error| panic!("{case:?}: {error:#}"));
    pairs.into_inner()
}

#[test]
fn no_operand_that_moves_is_taken_for_another_one() {
    let library = Library::new();
    let (mut wrong, mut repeated) = (std::collections::BTreeMap::new(), 0);
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some()) {
        let mut repeats = false;
        for case in tried(&library, signature, 25, &mut Vec::new()).iter().take(12) {
            let Some(pairs) = taken_for_others(&library, case) else { continue };
            repeats = true;
            if !pairs.is_empty() {
                wrong.insert(case.name.clone(), format!("{pairs:?}"));
            }
        }
        repeated += usize::from(repeats);
    }
    assert!(wrong.is_empty(), "{} operators: {wrong:#?}", wrong.len());
    assert!(repeated > 450, "only {repeated} can be repeated");
}
