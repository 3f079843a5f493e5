//! Sizes at the limits of what is counted, of operands without elements.

use crate::op::DataType::F16;
use crate::op::{Told, aclnn};
use crate::plan::{Inferred, Input, Plan};

use super::random::Random;
use super::signatures::{Signature, signatures};
use super::{Case, Count, Library, compare, made, rule};

const SIZES: [usize; 5] = [0, 1, i32::MAX as usize, i32::MAX as usize + 1, 1 << 40];

const NUMBERS: [i64; 5] = [0, i32::MAX as i64 + 1, 1 << 40, i64::MAX, i64::MIN];

/// Those whose sizes are compared with the first phase.
const COMPARED: [&str; 6] = ["Conv", "Pool", "Im2col", "GroupNorm", "WeightQuantBatchMatmul", "RepeatInterleave"];

/// The case with sizes at the limits beside empty ones, and such numbers.
fn limited(random: &mut Random, signature: &Signature, case: &Case) -> Case {
    let mut case = case.clone();
    for (_, dims) in case.operands.iter_mut().flatten().filter(|(_, dims)| dims.len() > 1) {
        if random.chance(60) {
            let (empty, large) = (random.below(dims.len()), random.below(dims.len()));
            dims[large] = random.one_of(&SIZES);
            dims[empty] = 0;
        }
    }
    for (told, (_, kind)) in case.told.iter_mut().zip(&signature.parameters) {
        match told {
            Told::Ints(numbers) if !numbers.is_empty() && random.chance(30) => {
                let which = random.below(numbers.len());
                numbers[which] = random.one_of(&SIZES) as i64;
            }
            Told::Number(bits) if kind == "i64" && random.chance(15) => *bits = random.one_of(&NUMBERS) as u64,
            _ => {}
        }
    }
    case
}

/// Whether there are such tensors at all, whatever the operator says to them.
fn is_described(library: &Library, case: &Case) -> bool {
    let says = |error: crate::Error| error.to_string().contains("the shape does not fit in memory");
    library.tensors(case).is_ok() && !library.takes(case).is_err_and(says)
}

#[test]
fn sizes_at_the_limits_are_taken_or_refused_as_by_the_first_phase() {
    let library = Library::new();
    let (mut wrong, mut count) = (Vec::new(), Count::default());
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some()) {
        let is_compared = COMPARED.iter().any(|part| signature.name.contains(part));
        let mut random = Random::new(&signature.name);
        for _ in 0..if is_compared { 1000 } else { 100 } {
            let case = made::case(&mut random, signature);
            let (full, _) = limited(&mut random, signature, &case).completed();
            let judged = full.judged();
            if is_compared && judged.is_some() && is_described(&library, &full) {
                compare(&library, &full, &mut count, &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    assert!(count.yes > 20 && count.no > 1000, "{count:?}");
}

#[test]
fn one_length_for_all_sequences_is_looked_at_once() {
    let many = 1_usize << 40;
    let plan = Plan::build(|g| {
        let q = g.input("q", [many, 1, 16], F16, Input::Copied)?;
        let kv = g.input("kv", [many, 2, 16], F16, Input::Copied)?;
        let (all, mut y) = ([&kv as _], Inferred::new());
        aclnn::incre_flash_attention(g, &q, &all, &all, None, None, Some(&[2]), 1, 1.0, "BSH", 1, &mut y)?;
        g.output("y", y.value()?)
    });
    assert_eq!(plan.unwrap().operators(), 1);
}
