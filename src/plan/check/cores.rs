//! Operators that must have cores at the same time to make progress, against the cores that there are.

use std::collections::BTreeMap;

use crate::plan::order::Order;
use crate::plan::recipe::{Cores, Node, NodeKind, Recipe};
use crate::sort;

use super::MOST;
use super::crowd::{Crowd, heaviest};
use super::finding::{Finding, FindingKind};

/// Cores of one kind: what they are called, and their number.
type Kind = (&'static str, fn(Cores) -> u32);

const KINDS: [Kind; 2] = [("matrix", |cores| cores.cube), ("vector", |cores| cores.vector)];

/// Operators that are named in a text about many.
const MOST_NAMED: usize = 8;

/// Operators that could wait for cores for ever on a device that `has` so many: alone, or with others that may run
/// at once. Without the limit of an executable.
pub(crate) fn core_demand(recipe: &Recipe, order: &Order, has: Cores) -> Vec<Finding> {
    let mut findings = alone(recipe, has, None);
    pairs(recipe, order, has, &mut findings);
    if findings.is_empty() {
        findings.extend(KINDS.iter().filter_map(|kind| several(recipe, order, has, kind)));
    }
    findings
}

/// Operators that need more than they can get by themselves: of the device, their scope's limit or else that of the
/// executable, `whole`.
pub(crate) fn alone(recipe: &Recipe, has: Cores, whole: Option<Cores>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, node) in recipe.nodes.iter().enumerate() {
        let needed = needs(recipe, node);
        if needed == Cores::default() {
            continue;
        }
        let scope = node.cores.checked_sub(1).map(|index| recipe.cores[usize::from(index)]);
        let whose = if scope.is_some() { "the core limit of its scope" } else { "the core limit of the executable" };
        let limit = scope.or(whole).unwrap_or_default();
        for (what, of) in KINDS {
            // 0 leaves a number as it is.
            let (most, whose) = match of(limit) {
                limit if limit > 0 && limit < of(has) => (limit, whose),
                _ => (of(has), "the device"),
            };
            if of(needed) > most && findings.len() < MOST {
                let (operator, needed) = (recipe.describe(index as u32), of(needed));
                let text = format!("{operator} needs {needed} {what} cores at once; {whose} gives it {most}");
                findings.push(Finding::new(FindingKind::CoreDeadlock, text).at(&[index as u32]));
            }
        }
    }
    findings
}

/// Pairs of operators that may run at once and need more cores together than there are, each of which alone fits.
fn pairs(recipe: &Recipe, order: &Order, has: Cores, findings: &mut Vec<Finding>) {
    let fits = |cores: Cores| cores.cube <= has.cube && cores.vector <= has.vector;
    // Earlier operators by stream and need, in order: those that may run at once with a later one come last.
    let mut earlier: BTreeMap<(u16, u32, u32), Vec<u32>> = BTreeMap::new();
    for (later, node) in (0..).zip(&recipe.nodes) {
        let b = needs(recipe, node);
        if b == Cores::default() || !fits(b) {
            continue;
        }
        for ((tag, cube, vector), nodes) in earlier.iter().filter(|((tag, ..), _)| *tag != order.tag(later)) {
            let sum = Cores { cube: cube.saturating_add(b.cube), vector: vector.saturating_add(b.vector) };
            if fits(sum) {
                continue;
            }
            let done = nodes.partition_point(|node| order.position(*node) <= order.known(*tag, later));
            for node in &nodes[done..] {
                if findings.len() >= MOST {
                    return;
                }
                let text = format!(
                    "{} and {} may run at once and need {} matrix and {} vector cores together, of {} and {}: each \
                     could wait for the other's",
                    recipe.describe(*node),
                    recipe.describe(later),
                    sum.cube,
                    sum.vector,
                    has.cube,
                    has.vector
                );
                findings.push(Finding::new(FindingKind::CoreDeadlock, text).at(&[*node, later]));
            }
        }
        earlier.entry((order.tag(later), b.cube, b.vector)).or_default().push(later);
    }
}

/// Operators that may all run at once and need more cores of one kind than there are: the fewest of those that need
/// most together.
fn several(recipe: &Recipe, order: &Order, has: Cores, (what, of): &Kind) -> Option<Finding> {
    let needing = (0..).zip(&recipe.nodes).map(|(index, node)| (index, of(needs(recipe, node))));
    let crowd = Crowd::of(order, needing.filter(|(_, cores)| *cores > 0), recipe.tags.len());
    let limit = u64::from(of(has));
    let mut set = heaviest(&crowd, limit)?;
    sort::by_key(&mut set, |(index, cores)| (std::cmp::Reverse(*cores), *index));
    let mut sum = 0;
    let enough = set.iter().position(|(_, cores)| {
        sum += u64::from(*cores);
        sum > limit
    })?;
    let mut nodes: Vec<u32> = set[..=enough].iter().map(|(index, _)| *index).collect();
    nodes.sort_unstable();
    let named: Vec<_> = nodes.iter().take(MOST_NAMED).map(|node| recipe.describe(*node)).collect();
    let more = match nodes.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "{}{more} may all run at once and need {sum} {what} cores together, of {limit}: each could wait for the others'",
        named.join(", ")
    );
    Some(Finding::new(FindingKind::CoreDeadlock, text).at(&nodes))
}

fn needs(recipe: &Recipe, node: &Node) -> Cores {
    match node.kind {
        NodeKind::Foreign(function) => recipe.functions[function as usize].needs(),
        _ => Cores::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::builder::tests::generate::Dice;
    use crate::plan::{Builder, Foreign, Plan};

    /// A few operators with needs on up to four streams, some of which are joined on the way.
    fn random(dice: &mut Dice) -> Plan {
        let operator = |cores| Foreign::new("sum", 1, |_| Ok(())).needs(cores);
        Plan::build(|g: &Builder| {
            for _ in 0..9 {
                let tag = ["a", "b", "c", "d"][dice.index(4)];
                let cores = Cores { cube: dice.index(4) as u32, vector: dice.index(3) as u32 };
                g.scope(tag, |g| g.foreign(&operator(cores), &[], &[]))?;
                if dice.chance(250) {
                    g.join(tag)?;
                }
                if dice.chance(250) {
                    let on = ["a", "b", "c", "d"][dice.index(4)];
                    let event = g.event(&format!("event {}", dice.index(1 << 30)))?;
                    g.scope(on, |g| {
                        g.foreign(&operator(Cores::default()), &[], &[]).and_then(|()| g.record(&event))
                    })?;
                    g.scope(tag, |g| g.wait(&event))?;
                }
            }
            Ok(())
        })
        .unwrap()
    }

    /// The most cores of a kind that operators which may run at once need, by trying all sets of them.
    fn most(plan: &Plan, of: fn(Cores) -> u32) -> u32 {
        let (recipe, order) = (&plan.0.recipe, &plan.0.order);
        let needs = |node: u32| of(needs(recipe, &recipe.nodes[node as usize]));
        let all: Vec<u32> = (0..recipe.nodes.len() as u32).filter(|node| needs(*node) > 0).collect();
        let apart = |set: u32| {
            let has = |i: &usize| set & (1 << i) != 0;
            let members: Vec<u32> = (0..all.len()).filter(has).map(|i| all[i]).collect();
            let apart = members.iter().all(|a| members.iter().all(|b| a == b || !order.ordered(*a, *b)));
            apart.then(|| members.into_iter().map(needs).sum::<u32>())
        };
        (0..1 << all.len()).filter_map(apart).max().unwrap_or(0)
    }

    #[test]
    fn what_may_run_at_once_is_found_as_by_trying_every_set() {
        let mut larger = 0;
        for seed in 0..200 {
            let plan = random(&mut Dice(seed));
            let (cube, vector) = (most(&plan, |cores| cores.cube), most(&plan, |cores| cores.vector));
            let found = |has| core_demand(&plan.0.recipe, &plan.0.order, has);
            assert_eq!(found(Cores { cube, vector }), [], "seed {seed}");
            for (has, least) in
                [(Cores { cube: cube.max(1) - 1, vector }, cube), (Cores { cube, vector: vector.max(1) - 1 }, vector)]
            {
                let findings = found(has);
                assert_eq!(findings.is_empty(), least == 0, "seed {seed}, {has:?}");
                let sets = findings.iter().filter(|finding| finding.positions.len() > 2);
                for set in sets {
                    let nodes = &set.positions;
                    let apart = |a: &u32| nodes.iter().all(|b| a == b || !plan.0.order.ordered(*a, *b));
                    assert!(nodes.iter().all(apart) && set.message.contains(&format!(" {least} ")), "{set}");
                    larger += 1;
                }
            }
        }
        assert!(larger > 20, "{larger}");
    }
}
