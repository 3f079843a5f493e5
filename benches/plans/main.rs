//! Building, checking and planning large plans and odd ones, and the host's cost of running one with many inputs.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Times are the best of several rounds,
//! so that other work of the machine does not count. Ends with code 1 when a target is missed.
#![allow(clippy::print_stdout, missing_docs)]

use std::process::ExitCode;

mod calling;
mod heap;
mod lists;
mod making;
mod running;
mod shapes;
mod workloads;

/// Prints figures and remembers whether one missed its target.
#[derive(Default)]
struct Figures {
    missed: bool,
}

impl Figures {
    /// A figure without a target.
    fn note(&self, name: &str, value: f64, unit: &str) {
        let digits = if unit == "times" { 3 } else { 1 };
        println!("{name}\t{value:.digits$}\t{unit}\tnone\tmet");
    }

    fn at_most(&mut self, name: &str, value: f64, unit: &str, most: f64) {
        let met = value <= most;
        self.missed |= !met;
        let digits = if most < 10.0 { 3 } else { 1 };
        println!("{name}\t{value:.digits$}\t{unit}\tat most {most}\t{}", if met { "met" } else { "missed" });
    }
}

fn main() -> racl::Result<ExitCode> {
    let mut figures = Figures::default();
    shapes::figures(&mut figures)?;
    calling::figures(&mut figures)?;
    making::figures(&mut figures)?;
    running::figures(&mut figures)?;
    Ok(if figures.missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
