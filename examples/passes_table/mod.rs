//! What passes do to a plan: a table of its operators before and after, pictures of both, and both runs compared.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use racl::op::Element;
use racl::plan::{Frozen, PassMode, Passes, Plan, Width};
use racl::{Device, Tensor};

type Done<T> = Result<T, Box<dyn Error>>;

/// A pass by its name, and how it is turned on.
pub(crate) type Pass = (&'static str, fn(Passes, PassMode) -> Passes);

/// Applies one pass after the other, each verified by simulation, and prints how many operators are left after each.
pub(crate) fn apply(plan: &Plan, passes: &[Pass]) -> Done<Plan> {
    println!("{:24}{:>10}{:>10}", "pass", "operators", "gone");
    println!("{:24}{:>10}", "none", plan.operators());
    let mut now = plan.clone();
    for (name, pass) in passes {
        let better = now.optimise(&pass(Passes::new(), PassMode::Verified))?;
        println!("{name:24}{:>10}{:>10}", better.plan.operators(), better.changes.len());
        now = better.plan;
    }
    Ok(now)
}

/// Prints how often each operator is in the plan before and after. Fails where they are not fewer than half.
pub(crate) fn compare_operators(before: &Plan, after: &Plan) -> Done<()> {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for (which, plan) in [before, after].into_iter().enumerate() {
        for name in names(plan)? {
            counts.entry(name).or_default()[which] += 1;
        }
    }
    println!("\n{:32}{:>8}{:>8}", "operator", "before", "after");
    for (name, [before, after]) in &counts {
        println!("{name:32}{before:>8}{after:>8}");
    }
    println!("{:32}{:>8}{:>8}\n", "all", before.operators(), after.operators());
    if 2 * after.operators() < before.operators() { Ok(()) } else { Err("passes left most of the operators".into()) }
}

/// The names of the operators, from the plan's dump; records and waits are none.
fn names(plan: &Plan) -> Done<Vec<String>> {
    let dump: serde_json::Value = serde_json::from_str(&plan.to_json(&[])?)?;
    let nodes = dump["nodes"].as_array().ok_or("a dump without nodes")?;
    let work = nodes.iter().filter(|node| !matches!(node["kind"].as_str(), Some("record" | "wait")));
    let name = |node: &serde_json::Value| {
        let of = node["of"].as_u64().filter(|_| node["kind"] == "foreign");
        let name = of.map_or(&node["name"], |of| &dump["functions"][of as usize]["name"]);
        name.as_str().unwrap_or("operator").trim_start_matches("aclnn").to_owned()
    };
    Ok(work.map(name).collect())
}

/// Writes pictures of both plans: streams with operators and memory, and operators with what they pass on.
pub(crate) fn write_pictures(folder: &Path, name: &str, before: &Plan, after: &Plan) -> Done<()> {
    std::fs::create_dir_all(folder)?;
    for (when, plan) in [("before", before), ("after", after)] {
        for (kind, text) in [("svg", plan.to_svg(&[], Width::Equal)?), ("dot", plan.to_dot())] {
            let path = folder.join(format!("{name}-{when}.{kind}"));
            std::fs::write(&path, text)?;
            println!("{}", path.display());
        }
    }
    Ok(())
}

/// The folder that the program was told, else one for temporary files.
pub(crate) fn folder() -> PathBuf {
    let temporary = || std::env::temp_dir().join(format!("racl-passes-{}", std::process::id()));
    std::env::args_os().nth(1).map_or_else(temporary, PathBuf::from)
}

/// Runs a plan once as a captured graph and gives its output `y`.
pub(crate) fn run<T: Element>(plan: &Plan, device: &Device, frozen: Frozen, x: &Tensor<T>) -> Done<Vec<T>> {
    let mut exe = plan.capture(device, frozen)?;
    let mut bind = exe.bindings();
    exe.run(&device.stream()?, bind.set(exe.input("x")?, x))?;
    Ok(exe.output::<T>(exe.output_id("y")?)?.to_vec()?)
}

/// Fails where numbers are further apart than `share` of the largest; prints the largest difference.
pub(crate) fn close(got: &[f32], want: &[f32], share: f32) -> Done<()> {
    let largest = want.iter().fold(0.0_f32, |most, one| most.max(one.abs()));
    let pairs = got.iter().zip(want).map(|(got, want)| (got - want).abs() / largest);
    // A number that is none counts as far apart.
    let far = |most: f32, one: f32| if one <= most { most } else { one };
    let (apart, numbers) = (pairs.fold(0.0, far), want.len());
    println!("{numbers} numbers, apart by at most {apart:.1e} of the largest; the bound is {share:.0e}");
    let close = largest > 0.0 && got.len() == numbers && apart <= share;
    if close { Ok(()) } else { Err("the numbers differ".into()) }
}
