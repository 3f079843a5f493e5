//! Random plans of all operators on four streams: the same bytes as one after the other on one stream, however they
//! are run.

use crate::op::{Access, AnyTensor, DataType, Described, Operand, Recorded, View};
use crate::plan::PassMode::On;
use crate::plan::auto::{Auto, Target};
use crate::plan::stored::Code;
use crate::plan::{Builder, Frozen, Inferred, Input, Mode, Passes, Plan, RunOptions, Simulated, Value};
use crate::{Result, SharedBuffer};

use super::super::rule;
use super::bytes::{BY_DATA, bytes, can_run, counting, is_compared, is_declared, output};
use super::random::Random;
use super::signatures::signatures;
use super::{Case, Library, Shaped, tried};

const TAGS: [&str; 4] = ["0", "a", "b", "c"];

/// Where an operand comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    Input,
    /// An operand of an earlier operator.
    Result(usize, usize),
    /// It is made.
    Made,
}

#[derive(Debug)]
struct Step {
    case: Case,
    from: Vec<From>,
    tag: usize,
}

/// Results are passed on as they are: numbers, not places and lengths, which have to fit.
fn is_passed_on(dtype: DataType) -> bool {
    matches!(dtype, DataType::F32 | DataType::F16 | DataType::Bf16 | DataType::F64)
}

/// Whether it takes what is a chance or a spread, which not every number is.
fn draws(case: &Case) -> bool {
    ["Normal", "Bernoulli", "BinaryCrossEntropy", "Multinomial"].iter().any(|what| case.name.contains(what))
}

/// Operators, each of which uses results of those before it where there are some of its shape.
fn program(random: &mut Random, cases: &[Case]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut results: Vec<(Shaped, From)> = Vec::new();
    for _ in 0..2 + random.below(6) {
        let fits = |case: &&Case| {
            case.operands.iter().flatten().any(|shaped| results.iter().any(|(known, _)| known == shaped))
        };
        let fitting: Vec<&Case> = cases.iter().filter(fits).collect();
        let case = match fitting.len() {
            0 => random.one_of(cases),
            _ if random.chance(25) => random.one_of(cases),
            count => fitting[random.below(count)].clone(),
        };
        let mut from = Vec::new();
        for (shaped, access) in case.operands.iter().zip(case.accesses()) {
            let shaped = shaped.as_ref().unwrap();
            let known: Vec<From> =
                results.iter().filter(|(known, _)| known == shaped).map(|(_, from)| *from).collect();
            from.push(match access {
                Access::Write => From::Made,
                Access::ReadWrite => From::Input,
                Access::Read if known.is_empty() || draws(&case) || random.chance(20) => From::Input,
                Access::Read => random.one_of(&known),
            });
        }
        for (which, is_compared) in is_compared(&case).into_iter().enumerate() {
            let shaped = case.operands[which].clone().unwrap();
            if is_compared && is_passed_on(shaped.0) {
                results.push((shaped, From::Result(steps.len(), which)));
            }
        }
        steps.push(Step { case, from, tag: random.below(TAGS.len()) });
    }
    steps
}

fn name(step: usize, which: usize) -> String {
    format!("{step}.{which}")
}

/// What each operand holds in the end, when one operator runs after the other.
fn on_a_stream(library: &Library, steps: &[Step]) -> Vec<Vec<SharedBuffer<u8>>> {
    let mut all: Vec<Vec<SharedBuffer<u8>>> = Vec::new();
    for step in steps {
        let memory = |(which, from): (usize, &From)| match *from {
            From::Result(step, which) => all[step][which].clone(),
            From::Input | From::Made => library.device.upload(&bytes(&step.case, which)).unwrap().into_shared(),
        };
        let buffers: Vec<_> = step.from.iter().enumerate().map(memory).collect();
        let operands = step.case.operands.iter().flatten().zip(&buffers);
        let tensors: Vec<AnyTensor> = operands
            .map(|((dtype, dims), buffer)| AnyTensor::over(buffer.clone(), *dtype, dims.as_slice()).unwrap())
            .collect();
        let views: Vec<View<'_>> = tensors.iter().map(|tensor| Described::view(tensor).unwrap()).collect();
        let recorded = Recorded::from_told(&step.case.name, step.case.told.clone()).unwrap();
        recorded.launch(&library.stream, &views, std::panic::Location::caller()).unwrap();
        library.stream.synchronize().unwrap_or_else(|error| panic!("{step:?}: {error:#}"));
        all.push(buffers);
    }
    all
}

/// The operator of a step; gives the value of each operand.
fn record(g: &Builder, number: usize, step: &Step, known: &[Vec<Value>], class: Input) -> Result<Vec<Value>> {
    let accesses = step.case.accesses();
    let made: Vec<Inferred> = accesses.iter().map(|_| Inferred::new()).collect();
    let earlier = |from: &From| match *from {
        From::Result(step, which) => Some(known[step][which]),
        From::Input | From::Made => None,
    };
    let needed: Vec<Value> = step.from.iter().filter_map(earlier).collect();
    if !needed.is_empty() {
        g.wait_all(&needed)?;
    }
    let mut values: Vec<Option<Value>> = Vec::new();
    for (which, (from, access)) in step.from.iter().zip(&accesses).enumerate() {
        let (dtype, dims) = step.case.operands[which].as_ref().unwrap();
        values.push(match from {
            From::Made if is_declared(&step.case) => Some(g.empty(dims.as_slice(), *dtype)?),
            From::Made => None,
            From::Result(..) => earlier(from),
            From::Input => {
                let input = g.input(&name(number, which), dims.as_slice(), *dtype, class)?;
                match access {
                    Access::Read => Some(input),
                    _ => {
                        let changed = g.empty(dims.as_slice(), *dtype)?;
                        g.copy(input, changed)?;
                        Some(changed)
                    }
                }
            }
        });
    }
    let operands: Vec<&dyn Operand> = values
        .iter()
        .zip(&made)
        .map(|(value, made)| value.as_ref().map_or(made as &dyn Operand, |value| value as &dyn Operand))
        .collect();
    Recorded::from_told(&step.case.name, step.case.told.clone()).unwrap().submit(g, &operands)?;
    values.into_iter().zip(&made).map(|(value, made)| value.map_or_else(|| made.value(), Ok)).collect()
}

fn plan(steps: &[Step]) -> Plan {
    plan_of(steps, Input::Copied, &Builder::output)
}

/// The same with inputs of a class, and with outputs that `output` makes.
fn plan_of(steps: &[Step], class: Input, output: &dyn Fn(&Builder, &str, Value) -> Result<()>) -> Plan {
    Plan::build(|g| {
        let mut known: Vec<Vec<Value>> = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            let values = match step.tag {
                0 => record(g, number, step, &known, class)?,
                tag => g.scope(TAGS[tag], |g| record(g, number, step, &known, class))?,
            };
            known.push(values);
        }
        for tag in &TAGS[1..] {
            if steps.iter().any(|step| TAGS[step.tag] == *tag) {
                g.join(tag)?;
            }
        }
        for (number, which) in compared(steps) {
            output(g, &format!("y{}", name(number, which)), known[number][which])?;
        }
        Ok(())
    })
    .unwrap_or_else(|error| panic!("{steps:#?}: {error:#}"))
}

/// What is looked at in the end.
fn compared(steps: &[Step]) -> impl Iterator<Item = (usize, usize)> {
    let of = |(number, step): (usize, &Step)| {
        let each = is_compared(&step.case).into_iter().enumerate();
        each.filter(|(_, is)| *is).map(move |(which, _)| (number, which)).collect::<Vec<_>>()
    };
    steps.iter().enumerate().flat_map(of).collect::<Vec<_>>().into_iter()
}

fn inputs(steps: &[Step]) -> Vec<(String, Vec<u8>)> {
    let of = |(number, step): (usize, &Step)| {
        let own = step.from.iter().enumerate().filter(|(_, from)| **from == From::Input);
        own.map(|(which, _)| (name(number, which), bytes(&step.case, which))).collect::<Vec<_>>()
    };
    steps.iter().enumerate().flat_map(of).collect()
}

fn check_run(library: &Library, steps: &[Step], plan: &Plan, mode: Mode, expected: &[(String, DataType, Vec<u8>)]) {
    let given: Vec<_> = inputs(steps)
        .into_iter()
        .map(|(name, bytes)| (name, library.device.upload(&bytes).unwrap().into_shared()))
        .collect();
    let is_frozen = plan.0.recipe.inputs.iter().any(|input| input.class == Input::Frozen);
    let fixed = given.iter().filter(|_| is_frozen).fold(Frozen::new(), |all, (name, buffer)| all.with(name, buffer));
    let mut exe = plan.executable(&library.device, &RunOptions::new().mode(mode), fixed).unwrap();
    let mut bind = exe.bindings();
    for (name, buffer) in given.iter().filter(|_| !is_frozen) {
        bind.set(exe.input(name).unwrap(), buffer);
    }
    exe.run(&library.stream, &mut bind).unwrap_or_else(|error| panic!("{steps:#?}: {error:#}"));
    library.stream.synchronize().unwrap();
    for (name, dtype, bytes) in expected {
        assert_eq!(output(&exe, name, *dtype), *bytes, "{name}, {mode:?}, of {steps:?}");
    }
}

/// What the outputs hold in the end, when one operator runs after the other.
fn expected(library: &Library, steps: &[Step]) -> Vec<(String, DataType, Vec<u8>)> {
    let memory = on_a_stream(library, steps);
    let one = |(number, which): (usize, usize)| {
        let dtype = steps[number].case.operands[which].as_ref().unwrap().0;
        (format!("y{}", name(number, which)), dtype, memory[number][which].to_vec().unwrap())
    };
    compared(steps).map(one).collect()
}

/// What a simulation is given.
fn given(steps: &[Step]) -> Simulated {
    inputs(steps).into_iter().fold(Simulated::new(), |all, (name, bytes)| all.bytes(&name, bytes))
}

fn check_simulated(steps: &[Step], plan: &Plan, seed: u64, expected: &[(String, DataType, Vec<u8>)]) {
    let simulation = plan.simulate(seed, &given(steps)).unwrap_or_else(|error| panic!("{steps:#?}: {error:#}"));
    for (name, _, bytes) in expected {
        assert_eq!(simulation.bytes(name).unwrap(), bytes, "{name} simulated, of {steps:?}");
    }
}

fn check(library: &Library, steps: &[Step]) {
    let expected = expected(library, steps);
    let plan = plan(steps);
    let (stored, _) = Plan::from_bytes(&plan.to_bytes(), Code::None).unwrap();
    check_run(library, steps, &plan, Mode::Captured, &expected);
    check_run(library, steps, &stored, Mode::Eager, &expected);
    check_simulated(steps, &stored, 1, &expected);
    check_simulated(steps, &plan, 2, &expected);
}

/// Some of each operator.
fn all_cases(library: &Library) -> Vec<Case> {
    let only = std::env::var("RACL_RULES_ONLY").unwrap_or_default();
    let mut cases = Vec::new();
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some() && one.name.contains(&only)) {
        let good = tried(library, signature, 25, &mut Vec::new());
        cases.extend(good.iter().filter(|case| can_run(case)).take(4).map(|case| counting(library, case)));
    }
    cases
}

#[test]
fn random_plans_of_all_operators_leave_the_same_bytes_when_their_work_overlaps() {
    let library = Library::new();
    let (cases, mut moved) = (all_cases(&library), 0);
    for seed in 0..1000 {
        let mut steps = program(&mut Random::new(&format!("overlap {seed}")), &cases);
        steps.iter_mut().for_each(|step| step.tag = 0);
        let (plan, expected) = (plan(&steps), expected(&library, &steps));
        let better = plan.overlap(&Auto::new(Target::new(1 << 20, 24, 48).unwrap())).unwrap();
        if better.report.moved.is_empty() {
            continue;
        }
        moved += 1;
        check_simulated(&steps, &better.plan, seed, &expected);
        check_run(&library, &steps, &better.plan, Mode::Captured, &expected);
    }
    assert!(moved > 300, "{moved}");
}

/// An output that is zero in its first half, and holds the value in its second.
fn second_half(g: &Builder, name: &str, value: Value) -> Result<()> {
    let (dims, dtype) = (g.dims(value)?, g.dtype(value)?);
    let elements: usize = dims.iter().map(|dim| dim.as_fixed().unwrap()).product();
    let both = g.empty([2 * elements], dtype)?;
    g.fill_bytes(g.narrow(both, 0, 0..elements)?, 0)?;
    g.copy(value, g.reshape(g.narrow(both, 0, elements..2 * elements)?, &dims[..])?)?;
    g.output(name, both)
}

#[test]
fn random_plans_of_all_operators_leave_the_same_bytes_after_passes() {
    let library = Library::new();
    let (cases, mut gone) = (all_cases(&library), std::collections::BTreeMap::<&str, usize>::new());
    // Those that round no less.
    let exact = Passes::new().folded_constants(On).needless_copies(On).common_values(On).needless_transposes(On);
    let exact = exact.needless_moves(On).relaid_weights(On).direct_results(On).dead_values(On);
    for seed in 0..1000 {
        let steps = program(&mut Random::new(&format!("passes {seed}")), &cases);
        let mut expected = expected(&library, &steps);
        expected.iter_mut().for_each(|(_, _, bytes)| bytes.splice(0..0, vec![0; bytes.len()]).for_each(drop));
        let class = if seed % 2 == 0 { Input::Copied } else { Input::Frozen };
        let better = plan_of(&steps, class, &second_half).optimise(&exact).unwrap();
        better.changes.iter().for_each(|change| *gone.entry(change.pass).or_default() += 1);
        check_simulated(&steps, &better.plan, seed, &expected);
        check_run(&library, &steps, &better.plan, [Mode::Captured, Mode::Eager][(seed / 2 % 2) as usize], &expected);
    }
    assert!(
        ["direct_results", "relaid_weights"].iter().all(|pass| gone.get(pass).is_some_and(|count| *count > 300)),
        "{gone:?}"
    );
}

/// `RACL_MIXED_PLANS` is another number of plans, `RACL_MIXED_SEED` another first one.
#[test]
fn random_plans_of_all_operators_leave_the_same_bytes() {
    let library = Library::new();
    let number = |name: &str, otherwise: usize| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (plans, first) = (number("RACL_MIXED_PLANS", 10_000), number("RACL_MIXED_SEED", 0));
    let cases = all_cases(&library);
    let ruled = signatures().into_iter().filter(|one| one.on_mock && rule(&one.name).is_some());
    let ruled: std::collections::BTreeSet<String> = ruled.map(|one| one.name).collect();
    let (mut used, mut passed, mut streams) = (std::collections::BTreeSet::new(), 0, [0; 4]);
    for seed in first..first + plans {
        let steps = program(&mut Random::new(&format!("plan {seed}")), &cases);
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&library, &steps))).is_err() {
            panic!("RACL_MIXED_SEED={seed}");
        }
        used.extend(steps.iter().map(|step| step.case.name.clone()));
        passed += steps.iter().flat_map(|step| &step.from).filter(|from| matches!(from, From::Result(..))).count();
        let tags: std::collections::BTreeSet<usize> = steps.iter().map(|step| step.tag).collect();
        streams[tags.len() - 1] += 1;
    }
    if plans >= 1000 {
        let left_out: Vec<&String> = ruled.difference(&used).collect();
        assert_eq!(left_out, BY_DATA, "of {} operators", ruled.len());
        assert!(passed > plans, "{passed} results passed on");
        assert!(streams[1..].iter().all(|count| *count > plans / 50), "{streams:?}");
    }
}
