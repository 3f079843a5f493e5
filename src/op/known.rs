//! The operators of a letter, as the program has them: a third of what they take as functions, each address of which is
//! filled in when the program is loaded.

use std::sync::OnceLock;

use acl_sys::Entry;

use super::executor::Function;
use super::first::FirstPhase;
use super::told::Takes;

pub(super) struct Known {
    phases: &'static [Phases],
    /// What the parameters take, one operator behind the other.
    takes: &'static [Takes],
    /// A line for each operator: its name in Rust and those of its parameters, a comma behind each.
    names: &'static str,
    functions: OnceLock<Box<[Function]>>,
}

/// The phases of an operator, the second and the first one.
pub(super) struct Phases {
    entries: (Entry, Entry),
    call: FirstPhase,
}

impl Phases {
    pub(super) const fn new(second: &str, first: &str, call: FirstPhase) -> Self {
        Self { entries: (Entry::of(second), Entry::of(first)), call }
    }
}

impl Known {
    pub(super) const fn new(phases: &'static [Phases], takes: &'static [Takes], names: &'static str) -> Self {
        Self { phases, takes, names, functions: OnceLock::new() }
    }

    /// Made when they are asked for first.
    pub(super) fn functions(&'static self) -> &'static [Function] {
        self.functions.get_or_init(|| {
            let mut left = self.takes;
            let function = |(phases, names): (&Phases, &'static str)| {
                let (takes, more) = left.split_at(names.matches(',').count() - 1);
                left = more;
                Function::of(phases.entries, phases.call).taking(takes, names)
            };
            self.phases.iter().zip(self.names.lines()).map(function).collect()
        })
    }
}
