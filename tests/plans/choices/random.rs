//! Random programs with choices inside choices, as plans on every way and in plain Rust.

use crate::common::mock::{self, RaceCheck};
use racl::plan::auto::{Auto, Target};
use racl::plan::{Options, PassMode, Passes, Plan};

use super::programs::Program;
use super::{Run, all_ways};
use crate::Alone;
use crate::seeds::for_seeds;

impl Program {
    #[track_caller]
    fn check(&self, alone: &Alone, plan: &Plan) {
        let runs = self.runs.iter().map(|(c, x)| Run { condition: c.to_le_bytes().to_vec(), x: *x });
        assert_eq!(all_ways(alone, plan, &runs.collect::<Vec<_>>()), self.expected);
    }
}

#[test]
fn random_choices_give_the_numbers_of_the_same_program_on_every_way() {
    let alone = Alone::new();
    for_seeds(0..80, |seed| {
        let program = Program::new(seed);
        program.check(&alone, &program.plan(Options::new()));
    });
}

#[test]
fn random_choices_give_the_same_behind_passes_and_on_streams_that_are_chosen() {
    let alone = Alone::new();
    let auto = Auto::new(Target::new(192 << 20, 24, 48).unwrap());
    for_seeds(100..125, |seed| {
        let program = Program::new(seed);
        let collapsed = program.plan(Options::new().collapse_streams());
        let better = program.plan(Options::new()).optimise(&Passes::all(PassMode::Verified)).unwrap();
        program.check(&alone, &better.plan);
        program.check(&alone, &collapsed.overlap(&auto).unwrap().plan);
        program.check(&alone, &program.plan(Options::new().auto_streams(3)));
        program.check(&alone, &collapsed);
    });
}

#[test]
fn random_choices_race_with_nothing() {
    let alone = Alone::new();
    mock::check_races(RaceCheck::Report);
    for seed in 200..215 {
        let program = Program::new(seed);
        program.check(&alone, &program.plan(Options::new()));
    }
    let races = mock::races();
    mock::check_races(RaceCheck::Off);
    assert!(races.is_empty(), "{races:?}");
}
