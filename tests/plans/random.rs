//! Random plans that are accepted give the same numbers, however they run.

use racl::plan::{Foreign, Options, Plan, Simulated};

use super::generate::{self, Style};

/// The plan of a seed, if the checks accept it, and its inputs.
fn plan(seed: u64, options: Options, style: &Style) -> Option<(Plan, Simulated)> {
    let make = |index: u32| {
        Foreign::new(format!("f{index}"), 1, |_| Ok(()))
            .simulated(move |reads, writes| generate::compute(u64::from(index), reads, writes))
    };
    let mut inputs = Simulated::new();
    let plan = Plan::build_with(options, |g| {
        let made = generate::record(g, seed, style, &make)?;
        for (index, (name, size)) in made.iter().enumerate() {
            let given = std::mem::take(&mut inputs);
            inputs = given.bytes(name, generate::input_bytes(seed, index, *size));
        }
        Ok(())
    });
    plan.ok().map(|plan| (plan, inputs))
}

/// The bytes of every output.
fn outputs(plan: &Plan, seed: u64, inputs: &Simulated) -> Vec<Vec<u8>> {
    let run = plan.simulate(seed, inputs).unwrap();
    (0..).map_while(|index| run.bytes(&format!("y{index}")).ok().map(<[u8]>::to_vec)).collect()
}

#[test]
fn simulated_runs_give_the_same_outputs_on_any_number_of_streams() {
    let mut accepted = 0;
    for seed in 400_000..400_200 {
        let style = Style { operators: 30, tags: 4, careless: 10, prefetches: true };
        let Some((tagged, inputs)) = plan(seed, Options::new(), &style) else { continue };
        let (one, _) = plan(seed, Options::new().collapse_streams(), &style).expect("in the order of issue");
        let expected = outputs(&one, 0, &inputs);
        assert!(!expected.is_empty());
        // Eager runs and captured graphs are compared here too: `make` gives the operators their launches.
        for run in 0..4 {
            assert_eq!(outputs(&tagged, run, &inputs), expected, "seed {seed}");
        }
        accepted += 1;
    }
    assert!(accepted > 100, "{accepted}");
}

#[test]
fn spread_plans_give_the_outputs_of_one_stream() {
    let style = Style { operators: 30, tags: 0, careless: 0, prefetches: false };
    for seed in 500_000..500_200 {
        let (one, inputs) = plan(seed, Options::new(), &style).unwrap();
        let (spread, _) = plan(seed, Options::new().auto_streams(4).unwrap(), &style).unwrap();
        let expected = outputs(&one, 0, &inputs);
        for run in 0..4 {
            assert_eq!(outputs(&spread, run, &inputs), expected, "seed {seed}");
        }
    }
}
