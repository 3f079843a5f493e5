//! Random plans of all operators on four streams: the same bytes as one after the other on one stream, however they
//! are run.

use crate::op::{Access, AnyTensor, DataType, Described, Operand, Recorded, View};
use crate::plan::PassMode::On;
use crate::plan::auto::{Auto, Target};
use crate::plan::stored::Code;
use crate::plan::{Builder, Dim, Frozen, Inferred, Input, Mode, Passes, Plan, RunOptions, Simulated, Value};
use crate::{Result, SharedBuffer};

use super::super::rule;
use super::bytes::{
    BY_DATA, bytes, can_run, counting, fresh, is_compared, is_declared, is_empty_somewhere, is_half_empty, is_large,
    output, runs, uploaded,
};
use super::random::Random;
use super::signatures::signatures;
use super::{Case, Library, Shaped, tried};

mod symbols;
mod wild;

use wild::{Data, Lies, alike};

const TAGS: [&str; 4] = ["0", "a", "b", "c"];

/// Where an operand comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum From {
    Input,
    /// An operand of an earlier operator.
    Result(usize, usize),
    /// Such a one, which is changed in place.
    Changed(usize, usize),
    /// It is made.
    Made,
}

impl From {
    fn earlier(self) -> Option<(usize, usize)> {
        match self {
            Self::Result(step, which) | Self::Changed(step, which) => Some((step, which)),
            Self::Input | Self::Made => None,
        }
    }
}

#[derive(Debug, Clone)]
struct Step {
    case: Case,
    from: Vec<From>,
    tag: usize,
    /// What it is given in place of plain numbers.
    data: Option<Data>,
    /// How each operand lies.
    lies: Vec<Lies>,
}

/// Results are passed on as they are: numbers, not places and lengths, which have to fit.
fn is_passed_on(dtype: DataType) -> bool {
    matches!(dtype, DataType::F32 | DataType::F16 | DataType::Bf16 | DataType::F64)
}

/// Whether it takes what is a chance or a spread, which not every number is.
fn draws(case: &Case) -> bool {
    ["Normal", "Bernoulli", "BinaryCrossEntropy", "Multinomial"].iter().any(|what| case.name.contains(what))
}

/// What earlier operators left, and on which streams it was used.
struct Known {
    shaped: Shaped,
    at: (usize, usize),
    tags: Vec<usize>,
}

/// Where the operands of an operator come from that is given to the stream `tag`. What is changed in place belongs to
/// that stream alone, and is no other operand.
fn sources(random: &mut Random, case: &Case, tag: usize, known: &mut [Known]) -> Vec<From> {
    let (mut from, mut taken): (Vec<From>, Vec<(usize, bool)>) = (Vec::new(), Vec::new());
    for (shaped, access) in case.operands.iter().zip(case.accesses()) {
        let shaped = shaped.as_ref().unwrap();
        let changes = access.writes();
        let is_free = |at: usize| !taken.iter().any(|(other, changed)| *other == at && (changes || *changed));
        let is_own = |one: &Known| !changes || one.tags.iter().all(|other| *other == tag);
        let fit = |(at, one): &(usize, &Known)| one.shaped == *shaped && is_free(*at) && is_own(one);
        let fitting: Vec<usize> = known.iter().enumerate().filter(fit).map(|(at, _)| at).collect();
        if access == Access::Write {
            from.push(From::Made);
            continue;
        }
        if fitting.is_empty() || draws(case) || random.chance(20) {
            from.push(From::Input);
            continue;
        }
        let chosen = random.one_of(&fitting);
        taken.push((chosen, changes));
        known[chosen].tags.push(tag);
        let (step, which) = known[chosen].at;
        from.push(if changes { From::Changed(step, which) } else { From::Result(step, which) });
    }
    from
}

/// Operators, each of which uses results of those before it where there are some of its shape.
fn program(random: &mut Random, cases: &[Case]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut results: Vec<Known> = Vec::new();
    for _ in 0..2 + random.below(6) {
        let fits = |case: &&Case| {
            case.operands.iter().flatten().any(|shaped| results.iter().any(|known| known.shaped == *shaped))
        };
        let fitting: Vec<&Case> = cases.iter().filter(fits).collect();
        let case = match fitting.len() {
            0 => random.one_of(cases),
            _ if random.chance(25) => random.one_of(cases),
            count => fitting[random.below(count)].clone(),
        };
        let tag = random.below(TAGS.len());
        let from = sources(random, &case, tag, &mut results);
        for (which, is_compared) in is_compared(&case).into_iter().enumerate() {
            let shaped = case.operands[which].clone().unwrap();
            if is_compared && is_passed_on(shaped.0) && !matches!(from[which], From::Changed(..)) {
                results.push(Known { shaped, at: (steps.len(), which), tags: vec![tag] });
            }
        }
        let lies = vec![Lies::Dense; from.len()];
        steps.push(Step { case, from, tag, data: None, lies });
    }
    steps
}

fn name(step: usize, which: usize) -> String {
    format!("{step}.{which}")
}

/// What each operand holds in the end, when one operator runs after the other.
fn on_a_stream(library: &Library, steps: &[Step]) -> Result<Vec<Vec<SharedBuffer<u8>>>> {
    let mut all: Vec<Vec<SharedBuffer<u8>>> = Vec::new();
    for step in steps {
        let fresh = |which| uploaded(library, &step.elements(which));
        let memory = |(which, from): (usize, &From)| match from.earlier() {
            Some((step, which)) => all[step][which].clone(),
            None => fresh(which),
        };
        let buffers: Vec<_> = step.from.iter().enumerate().map(memory).collect();
        let operands = step.case.operands.iter().flatten().zip(&buffers);
        let tensors: Vec<AnyTensor> = operands
            .map(|((dtype, dims), buffer)| AnyTensor::over(buffer.clone(), *dtype, dims.as_slice()).unwrap())
            .collect();
        let views: Vec<View<'_>> = tensors.iter().map(|tensor| Described::view(tensor).unwrap()).collect();
        let recorded = Recorded::from_told(&step.case.name, step.case.told.clone()).unwrap();
        recorded.launch(&library.stream, &views, std::panic::Location::caller())?;
        library.stream.synchronize()?;
        all.push(buffers);
    }
    Ok(all)
}

/// How a program becomes a plan.
struct Form<'a> {
    class: Input,
    output: &'a dyn Fn(&Builder, &str, Value) -> Result<()>,
    /// A size of inputs that is a symbol, `n`.
    symbol: Option<usize>,
}

const PLAIN: Form<'static> = Form { class: Input::Copied, output: &Builder::output, symbol: None };

/// The operator of a step; gives the value of each operand.
fn record(
    g: &Builder,
    (number, step): (usize, &Step),
    known: &[Vec<Value>],
    class: Input,
    size: &dyn Fn(usize) -> Dim,
) -> Result<Vec<Value>> {
    let accesses = step.case.accesses();
    let made: Vec<Inferred> = accesses.iter().map(|_| Inferred::new()).collect();
    let earlier = |from: &From| from.earlier().map(|(step, which)| known[step][which]);
    let needed: Vec<Value> = step.from.iter().filter_map(earlier).collect();
    if !needed.is_empty() {
        g.wait_all(&needed)?;
    }
    let mut values: Vec<Option<Value>> = Vec::new();
    for (which, (from, access)) in step.from.iter().zip(&accesses).enumerate() {
        let (dtype, shape) = step.case.operands[which].as_ref().unwrap();
        let lies = step.lies[which];
        let dims: Vec<Dim> = lies.shape(shape).iter().map(|dim| size(*dim)).collect();
        values.push(match from {
            From::Made if is_declared(&step.case) => Some(g.empty(dims, *dtype)?),
            From::Made => None,
            From::Result(..) | From::Changed(..) => earlier(from),
            From::Input => {
                let input = g.input(&name(number, which), dims.clone(), *dtype, class)?;
                match access {
                    Access::Read => Some(lies.value(g, input, shape)?),
                    _ => {
                        let changed = g.empty(dims, *dtype)?;
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
    plan_of(steps, &PLAIN)
}

fn plan_of(steps: &[Step], form: &Form<'_>) -> Plan {
    written(steps, form).unwrap_or_else(|error| panic!("{steps:#?}: {error:#}"))
}

fn written(steps: &[Step], form: &Form<'_>) -> Result<Plan> {
    Plan::build(|g| {
        let n = form.symbol.map(|_| g.symbol("n", 0..=8)).transpose()?;
        let size = |dim: usize| n.filter(|_| form.symbol == Some(dim)).unwrap_or(Dim::from(dim));
        let mut known: Vec<Vec<Value>> = Vec::new();
        for step in steps.iter().enumerate() {
            let values = match step.1.tag {
                0 => record(g, step, &known, form.class, &size)?,
                tag => g.scope(TAGS[tag], |g| record(g, step, &known, form.class, &size))?,
            };
            known.push(values);
        }
        for tag in &TAGS[1..] {
            if steps.iter().any(|step| TAGS[step.tag] == *tag) {
                g.join(tag)?;
            }
        }
        for (number, which) in compared(steps) {
            (form.output)(g, &format!("y{}", name(number, which)), known[number][which])?;
        }
        Ok(())
    })
}

/// What is looked at in the end.
fn compared(steps: &[Step]) -> impl Iterator<Item = (usize, usize)> {
    let of = |(number, step): (usize, &Step)| {
        let each = is_compared(&step.case).into_iter().enumerate();
        // What is changed in place is an output as the result that it was.
        each.filter(|(which, is)| *is && !matches!(step.from[*which], From::Changed(..)))
            .map(move |(which, _)| (number, which))
            .collect::<Vec<_>>()
    };
    steps.iter().enumerate().flat_map(of).collect::<Vec<_>>().into_iter()
}

fn inputs(steps: &[Step]) -> Vec<(String, Shaped, Vec<u8>)> {
    let of = |(number, step): (usize, &Step)| {
        let own = step.from.iter().enumerate().filter(|(_, from)| **from == From::Input);
        let one = |which: usize| {
            let (dtype, dims) = step.case.operands[which].as_ref().unwrap();
            let (lies, elements) = (step.lies[which], step.elements(which));
            let memory = lies.memory(elements, dims, dtype.size());
            (name(number, which), (*dtype, lies.shape(dims)), memory)
        };
        own.map(|(which, _)| one(which)).collect::<Vec<_>>()
    };
    steps.iter().enumerate().flat_map(of).collect()
}

fn check_run(library: &Library, steps: &[Step], plan: &Plan, mode: Mode, expected: &[(String, DataType, Vec<u8>)]) {
    let tensor = |(dtype, dims): Shaped, bytes: &[u8]| {
        AnyTensor::over(uploaded(library, bytes), dtype, dims.as_slice()).unwrap()
    };
    let given: Vec<_> =
        inputs(steps).into_iter().map(|(name, shaped, bytes)| (name, tensor(shaped, &bytes))).collect();
    let is_frozen = plan.0.recipe.inputs.iter().any(|input| input.class == Input::Frozen);
    let fixed = given.iter().filter(|_| is_frozen).fold(Frozen::new(), |all, (name, tensor)| all.with(name, tensor));
    let mut exe = plan.executable(&library.device, &RunOptions::new().mode(mode), fixed).unwrap();
    let mut bind = exe.bindings();
    for (name, tensor) in given.iter().filter(|_| !is_frozen) {
        bind.set(exe.input(name).unwrap(), tensor);
    }
    exe.run(&library.stream, &mut bind).unwrap_or_else(|error| panic!("{steps:#?}: {error:#}"));
    library.stream.synchronize().unwrap();
    for (name, dtype, bytes) in expected {
        let found = output(&exe, name, *dtype);
        assert!(alike(*dtype, &found, bytes), "{name}, {mode:?}: {found:?}, not {bytes:?}, of {steps:#?}");
    }
}

/// What the outputs hold in the end, when one operator runs after the other.
fn expected(library: &Library, steps: &[Step]) -> Vec<(String, DataType, Vec<u8>)> {
    tried_on_a_stream(library, steps).unwrap_or_else(|error| panic!("{steps:#?}: {error:#}"))
}

/// The same, where the operators take the data.
fn tried_on_a_stream(library: &Library, steps: &[Step]) -> Result<Vec<(String, DataType, Vec<u8>)>> {
    let memory = on_a_stream(library, steps)?;
    let one = |(number, which): (usize, usize)| {
        let (dtype, dims) = steps[number].case.operands[which].as_ref().unwrap();
        let mut held = memory[number][which].to_vec().unwrap();
        held.truncate(dims.iter().product::<usize>() * dtype.size());
        (format!("y{}", name(number, which)), *dtype, held)
    };
    Ok(compared(steps).map(one).collect())
}

/// What a simulation is given.
fn given(steps: &[Step]) -> Simulated {
    inputs(steps).into_iter().fold(Simulated::new(), |all, (name, _, bytes)| all.bytes(&name, bytes))
}

fn check_simulated(steps: &[Step], plan: &Plan, seed: u64, expected: &[(String, DataType, Vec<u8>)]) {
    check_simulated_with(steps, plan, seed, &given(steps), expected);
}

fn check_simulated_with(
    steps: &[Step],
    plan: &Plan,
    seed: u64,
    given: &Simulated,
    expected: &[(String, DataType, Vec<u8>)],
) {
    let simulation = plan.simulate(seed, given).unwrap_or_else(|error| panic!("{steps:#?}: {error:#}"));
    for (name, dtype, bytes) in expected {
        let found = simulation.bytes(name).unwrap();
        assert!(alike(*dtype, found, bytes), "{name} simulated: {found:?}, not {bytes:?}, of {steps:#?}");
    }
}

fn check(library: &Library, steps: &mut [Step]) {
    let expected = tried_on_a_stream(library, steps).unwrap_or_else(|_| {
        wild::tame(steps);
        expected(library, steps)
    });
    let plan = plan(steps);
    let (stored, _) = Plan::from_bytes(&plan.to_bytes(), Code::None).unwrap();
    check_run(library, steps, &plan, Mode::Captured, &expected);
    check_run(library, steps, &stored, Mode::Eager, &expected);
    check_simulated(steps, &stored, 1, &expected);
    check_simulated(steps, &plan, 2, &expected);
}

/// Whether somebody asked for some operators alone.
fn is_filtered() -> bool {
    std::env::var_os("RACL_RULES_ONLY").is_some()
}

/// Some of each operator.
fn all_cases(library: &Library) -> Vec<Case> {
    let only = std::env::var("RACL_RULES_ONLY").unwrap_or_default();
    let mut cases = Vec::new();
    for signature in signatures().iter().filter(|one| rule(&one.name).is_some() && one.name.contains(&only)) {
        let good = tried(library, signature, 25, &mut Vec::new());
        cases.extend(good.iter().filter(|case| can_run(case)).take(4).map(|case| counting(library, case)));
        let open = |case: &&Case| !BY_DATA.contains(&&*case.name) && !is_large(case) && !is_half_empty(case);
        let empty = good.iter().filter(|case| is_empty_somewhere(case)).filter(open);
        cases.extend(empty.filter(|case| runs(library, case, &fresh(library, case))).take(1).cloned());
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
        let form = Form { class, output: &second_half, symbol: None };
        let better = plan_of(&steps, &form).optimise(&exact).unwrap();
        better.changes.iter().for_each(|change| *gone.entry(change.pass).or_default() += 1);
        check_simulated(&steps, &better.plan, seed, &expected);
        check_run(&library, &steps, &better.plan, [Mode::Captured, Mode::Eager][(seed / 2 % 2) as usize], &expected);
    }
    assert!(
        ["direct_results", "relaid_weights"].iter().all(|pass| gone.get(pass).is_some_and(|count| *count > 300)),
        "{gone:?}"
    );
}

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

fn first_seed() -> usize {
    number("RACL_MIXED_SEED", 0)
}

/// `RACL_MIXED_PLANS` is another number of plans, `RACL_MIXED_SEED` another first one.
#[test]
fn random_plans_of_all_operators_leave_the_same_bytes() {
    let library = Library::new();
    let (plans, first) = (number("RACL_MIXED_PLANS", 10_000), first_seed());
    let cases = all_cases(&library);
    let ruled = signatures().into_iter().filter(|one| one.on_mock && rule(&one.name).is_some());
    let ruled: std::collections::BTreeSet<String> = ruled.map(|one| one.name).collect();
    let (mut used, mut streams) = (std::collections::BTreeSet::new(), [0; 4]);
    let (mut passed, mut changed, mut empty) = (0, 0, 0);
    let (mut odd, mut views) = (0, 0);
    for seed in first..first + plans {
        let mut steps = program(&mut Random::new(&format!("plan {seed}")), &cases);
        wild::make(&library, &mut steps, seed as u64);
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&library, &mut steps))).is_err() {
            panic!("RACL_MIXED_SEED={seed}");
        }
        odd += usize::from(steps.iter().any(|step| step.data.is_some()));
        views += steps.iter().flat_map(|step| &step.lies).filter(|lies| **lies != Lies::Dense).count();
        used.extend(steps.iter().map(|step| step.case.name.clone()));
        let from = || steps.iter().flat_map(|step| &step.from);
        passed += from().filter(|from| matches!(from, From::Result(..))).count();
        changed += from().filter(|from| matches!(from, From::Changed(..))).count();
        empty += usize::from(steps.iter().any(|step| is_empty_somewhere(&step.case)));
        let tags: std::collections::BTreeSet<usize> = steps.iter().map(|step| step.tag).collect();
        streams[tags.len() - 1] += 1;
    }
    if plans >= 1000 {
        let left_out: Vec<&String> = ruled.difference(&used).collect();
        assert_eq!(left_out, BY_DATA, "of {} operators", ruled.len());
        assert!(passed > plans, "{passed} results passed on");
        assert!(odd > plans / 2 && views > plans / 4, "{odd} with odd numbers, {views} views");
        assert!(
            changed > plans / 20 && empty > plans / 20,
            "{changed} changed in place, {empty} with empty operands"
        );
        assert!(streams[1..].iter().all(|count| *count > plans / 50), "{streams:?}");
    }
}
