//! Operators whose results a plan makes leave the same bytes as on a stream.

use crate::op::{Access, AnyTensor, DataType, Described, Operand, Recorded, View};
use crate::plan::{Executable, Frozen, Inferred, Input, Plan, Simulated, Value};
use crate::{Result, SharedBuffer};

use super::super::{Also, rule};
use super::signatures::{Signature, signatures};
use super::{Case, Integers, Library, Shaped, tried};

/// What stands in an operand: floats between 0 and 1, truth values, and integers, small ones where the operator takes
/// these, else places of the first two elements or, where there is one, of that.
pub(super) fn bytes(case: &Case, which: usize) -> Vec<u8> {
    let (dtype, dims): &Shaped = case.operands[which].as_ref().unwrap();
    let count = 0..dims.iter().product::<usize>();
    let integer = |at: usize| match case.integers {
        Integers::Zeros => 0,
        Integers::Places => 1 - at % 2,
        Integers::Small => (at * 7 + which * 5) % 9,
    };
    let real = |at: usize| ((at * 5 + which * 3) % 11 + 1) as f32 / 12.0;
    match dtype {
        DataType::F32 => count.flat_map(|at| real(at).to_ne_bytes()).collect(),
        DataType::F16 => count.flat_map(|at| crate::half::f16::from_f32(real(at)).to_ne_bytes()).collect(),
        DataType::Bf16 => count.flat_map(|at| crate::half::bf16::from_f32(real(at)).to_ne_bytes()).collect(),
        DataType::F64 => count.flat_map(|at| f64::from(real(at)).to_ne_bytes()).collect(),
        DataType::I8 | DataType::U8 | DataType::Bool => count.map(|at| ((at + which) % 2) as u8).collect(),
        DataType::I16 => count.flat_map(|at| (integer(at) as i16).to_ne_bytes()).collect(),
        DataType::I32 => count.flat_map(|at| (integer(at) as i32).to_ne_bytes()).collect(),
        DataType::I64 => count.flat_map(|at| (integer(at) as i64).to_ne_bytes()).collect(),
        other => vec![0; count.len() * other.size()],
    }
}

/// The case with small integers, or others than zeros, if the operator runs on these.
pub(super) fn counting(library: &Library, case: &Case) -> Case {
    let with = |integers| Case { integers, ..case.clone() };
    let mut others = [Integers::Small, Integers::Places].into_iter().map(with);
    others.find(|case| runs(library, case, &fresh(library, case))).unwrap_or_else(|| case.clone())
}

/// The bytes that each operand holds behind the operator.
fn on_a_stream(library: &Library, case: &Case) -> Vec<Vec<u8>> {
    let buffers = fresh(library, case);
    run_on(library, case, &buffers);
    all_bytes(&buffers)
}

fn name(which: usize) -> String {
    format!("v{which}")
}

/// The operator between inputs and outputs; results are made, what is changed in place is a copy of an input.
fn plan(case: &Case) -> Plan {
    let (accesses, left) = (case.accesses(), left(case));
    Plan::build(|g| {
        let made: Vec<Inferred> = accesses.iter().map(|_| Inferred::new()).collect();
        let mut values = Vec::new();
        for (which, (shaped, access)) in case.operands.iter().zip(&accesses).enumerate() {
            let (dtype, dims) = shaped.as_ref().unwrap();
            if *access == Access::Write {
                values.push(if is_declared(case) { Some(g.empty(dims.as_slice(), *dtype)?) } else { None });
                continue;
            }
            let input = g.input(&name(which), dims.as_slice(), *dtype, Input::Copied)?;
            let changed = if *access == Access::Read { input } else { g.empty(dims.as_slice(), *dtype)? };
            if changed != input {
                g.copy(input, changed)?;
            }
            values.push(Some(changed));
        }
        let operands: Vec<&dyn Operand> = values
            .iter()
            .zip(&made)
            .map(|(value, made)| value.as_ref().map_or(made as &dyn Operand, |value| value as &dyn Operand))
            .collect();
        Recorded::from_told(&case.name, case.told.clone()).unwrap().submit(g, &operands)?;
        for (which, (value, made)) in values.iter().zip(&made).enumerate() {
            if accesses[which].writes() && !left.contains(&which) {
                let value: Value = value.map_or_else(|| made.value(), Ok)?;
                g.output(&format!("y{which}"), value)?;
            }
        }
        Ok(())
    })
    .unwrap_or_else(|error| panic!("{case:?}: {error:#}"))
}

pub(super) fn output(exe: &Executable, name: &str, dtype: DataType) -> Vec<u8> {
    let id = exe.output_id(name).unwrap();
    macro_rules! read {
        ($kind:ty) => {
            exe.output::<$kind>(id).unwrap().to_vec().unwrap().iter().flat_map(|x| x.to_ne_bytes()).collect()
        };
    }
    match dtype {
        DataType::F32 => read!(f32),
        DataType::F16 => read!(crate::half::f16),
        DataType::Bf16 => read!(crate::half::bf16),
        DataType::F64 => read!(f64),
        DataType::I8 => read!(i8),
        DataType::I16 => read!(i16),
        DataType::I32 => read!(i32),
        DataType::I64 => read!(i64),
        _ => read!(u8),
    }
}

/// What the inputs hold, for a simulation.
fn simulated(case: &Case) -> Simulated {
    let inputs = case.operands.iter().zip(case.accesses()).enumerate();
    let inputs = inputs.filter(|(_, (_, access))| *access != Access::Write);
    inputs.fold(Simulated::new(), |simulated, (which, _)| simulated.bytes(&name(which), bytes(case, which)))
}

/// Operators whose data have to fit what they are told, so that random ones do not. `tests/plans/recorded.rs` has each.
pub(super) const BY_DATA: [&str; 6] = [
    "aclnnBincount",
    "aclnnInplaceMaskedScatter",
    // Its result has to be declared.
    "aclnnNormalFloatFloat",
    "aclnnRepeatInterleave",
    "aclnnRepeatInterleaveTensor",
    "aclnnRepeatInterleaveWithDim",
];

/// Whether what the operator reads may be anything, and there is some of everything.
pub(super) fn can_run(case: &Case) -> bool {
    !BY_DATA.contains(&&*case.name) && !is_empty_somewhere(case) && !is_large(case)
}

/// Whether an operand has no elements.
pub(super) fn is_empty_somewhere(case: &Case) -> bool {
    case.operands.iter().flatten().any(|(_, dims)| dims.contains(&0))
}

/// Whether some of its results have elements and others have none: the library may do nothing at all then.
pub(super) fn is_half_empty(case: &Case) -> bool {
    let written = case.operands.iter().flatten().zip(case.accesses()).filter(|(_, access)| access.writes());
    let empty: Vec<bool> = written.map(|((_, dims), _)| dims.contains(&0)).collect();
    empty.contains(&true) && empty.contains(&false)
}

pub(super) fn is_large(case: &Case) -> bool {
    case.operands.iter().flatten().any(|(_, dims)| dims.contains(&2048))
}

/// Whether its result may be another one than what would be made.
pub(super) fn is_declared(case: &Case) -> bool {
    matches!(case.name.as_str(), "aclnnInplaceCopy" | "aclnnInplaceFillScalar")
}

/// The results that the operator is told to leave.
fn left(case: &Case) -> Vec<usize> {
    let results = case.with_rule(|_, results| results.unwrap());
    let written = case.accesses().into_iter().enumerate().filter(|(_, access)| *access == Access::Write);
    written.zip(results).filter(|(_, of)| of.left).map(|((which, _), _)| which).collect()
}

/// Operands that the operator writes and that hold something.
pub(super) fn is_compared(case: &Case) -> Vec<bool> {
    let results = case.with_rule(|_, results| results.unwrap());
    let mut results = results.into_iter();
    let each = case.accesses().into_iter().map(|access| match access {
        Access::Read => false,
        Access::ReadWrite => true,
        Access::Write => results.next().is_some_and(|of| !of.left && !matches!(of.also, Also::Anything)),
    });
    each.collect()
}

/// Two calls of the operator that can run.
fn two_of(library: &Library, signature: &Signature) -> Vec<Case> {
    let cases = tried(library, signature, 25, &mut Vec::new());
    cases.iter().filter(|case| can_run(case)).take(2).map(|case| counting(library, case)).collect()
}

#[test]
fn plans_leave_the_same_bytes_as_streams() {
    let library = Library::new();
    let (mut operators, mut compared) = (0, 0);
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some()) {
        let mut ran = false;
        for case in &two_of(&library, signature) {
            let expected = on_a_stream(&library, case);
            let reads = case.accesses().into_iter().enumerate().filter(|(_, access)| *access == Access::Read);
            reads.for_each(|(which, _)| {
                assert_eq!(expected[which], bytes(case, which), "{which} is read by {case:?}");
            });
            let plan = plan(case);
            let simulation = plan.simulate(3, &simulated(case)).unwrap_or_else(|error| panic!("{case:?}: {error:#}"));
            let mut exe = plan.capture(&library.device, Frozen::new()).unwrap();
            let accesses = case.accesses();
            let given: Vec<_> = case
                .operands
                .iter()
                .enumerate()
                .filter(|(which, _)| accesses[*which] != Access::Write)
                .map(|(which, _)| (which, library.device.upload(&bytes(case, which)).unwrap().into_shared()))
                .collect();
            let mut bind = exe.bindings();
            for (which, buffer) in &given {
                bind.set(exe.input(&name(*which)).unwrap(), buffer);
            }
            exe.run(&library.stream, &mut bind).unwrap_or_else(|error| panic!("{case:?}: {error:#}"));
            library.stream.synchronize().unwrap();
            for (which, is_compared) in is_compared(case).into_iter().enumerate() {
                if is_compared {
                    let dtype = case.operands[which].as_ref().unwrap().0;
                    assert_eq!(
                        output(&exe, &format!("y{which}"), dtype),
                        expected[which],
                        "operand {which} of {case:?}"
                    );
                    assert_eq!(
                        simulation.bytes(&format!("y{which}")).unwrap(),
                        expected[which],
                        "simulated {case:?}"
                    );
                    compared += 1;
                }
            }
            ran = true;
        }
        operators += usize::from(ran);
    }
    assert!(operators > 480 && compared > 900, "{operators} operators, {compared} results");
}

/// The operator on this memory; waits for it.
fn try_on(library: &Library, case: &Case, buffers: &[SharedBuffer<u8>]) -> Result<()> {
    let operands = case.operands.iter().flatten().zip(buffers);
    let tensors: Vec<AnyTensor> = operands
        .map(|((dtype, dims), buffer)| AnyTensor::over(buffer.clone(), *dtype, dims.as_slice()).unwrap())
        .collect();
    let views: Vec<View<'_>> = tensors.iter().map(|tensor| Described::view(tensor).unwrap()).collect();
    let recorded = Recorded::from_told(&case.name, case.told.clone()).unwrap();
    recorded.launch(&library.stream, &views, std::panic::Location::caller())?;
    library.stream.synchronize()
}

fn run_on(library: &Library, case: &Case, buffers: &[SharedBuffer<u8>]) {
    try_on(library, case, buffers).unwrap_or_else(|error| panic!("{case:?}: {error:#}"));
}

/// Whether the operator runs to its end on this memory.
pub(super) fn runs(library: &Library, case: &Case, buffers: &[SharedBuffer<u8>]) -> bool {
    try_on(library, case, buffers).is_ok()
}

pub(super) fn fresh(library: &Library, case: &Case) -> Vec<SharedBuffer<u8>> {
    (0..case.operands.len()).map(|which| uploaded(library, &bytes(case, which))).collect()
}

/// Memory with these bytes, of which there is always some.
pub(super) fn uploaded(library: &Library, bytes: &[u8]) -> SharedBuffer<u8> {
    library.device.upload(if bytes.is_empty() { &[0] } else { bytes }).unwrap().into_shared()
}

pub(super) fn all_bytes(buffers: &[SharedBuffer<u8>]) -> Vec<Vec<u8>> {
    buffers.iter().map(|buffer| buffer.to_vec().unwrap()).collect()
}

/// The library is told the address of a tensor that moved by its index, so operands that the mock counted in another
/// order than the first phase would be taken for one another.
#[test]
fn an_operator_that_runs_again_with_one_tensor_elsewhere_uses_that() {
    let library = Library::new();
    let cache = || library.device.context().operator_cache();
    let (mut wrong, mut again) = (std::collections::BTreeSet::new(), 0);
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some()) {
        for case in &two_of(&library, signature) {
            let (compared, accesses) = (is_compared(case), case.accesses());
            let expected = on_a_stream(&library, case);
            let hits = cache().hits;
            for moved in 0..accesses.len() {
                // The same places as before for all but one, which are filled anew.
                let mut buffers = fresh(&library, case);
                run_on(&library, case, &buffers);
                for (which, buffer) in buffers.iter_mut().enumerate() {
                    buffer.write(&bytes(case, which)).unwrap();
                }
                let left = std::mem::replace(&mut buffers[moved], fresh(&library, case).swap_remove(moved));
                let before = left.to_vec().unwrap();
                run_on(&library, case, &buffers);
                let held = all_bytes(&buffers);
                let same =
                    |which: usize| (accesses[which].writes() && !compared[which]) || held[which] == expected[which];
                if !(0..compared.len()).all(same) || left.to_vec().unwrap() != before {
                    wrong.insert(case.name.clone());
                }
            }
            again += u64::from(cache().hits > hits);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(again > 400, "only {again} were kept and used again");
}
