//! Sentence embeddings on the command line.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser as _;
use embed::{Error, cli};

fn main() -> ExitCode {
    let arguments = cli::Arguments::parse();
    cli::start_log(arguments.quiet);
    command_line::end(cli::run(arguments), |error| match error {
        Error::Output(output) => Some(output),
        _ => None,
    })
}
