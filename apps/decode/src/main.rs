//! Greedy decoding on the command line.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr)]

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::Parser as _;
use decode::{Error, cli};

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    cli::start_log(arguments.quiet);
    match cli::run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads the results has read enough.
        Err(Error::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
