//! Lists, shows, checks and removes the plans that compile caches have stored.
#![forbid(unsafe_code)]
#![allow(clippy::print_stderr)]

mod commands;

use std::io::{self, ErrorKind, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

/// What compile caches of racl have stored: list, show, check, remove.
#[derive(Debug, Parser)]
#[command(name = "racl-cache", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One line for each stored plan, with what a start would do
    List(Root),
    /// A stored plan as text
    Show {
        /// Folder of the plan, or its recipe.bin
        path: PathBuf,
    },
    /// Load every stored plan as a start would, and say what a start would do with those that it would not load
    Verify(Root),
    /// Remove stored plans; folders that are empty then go too
    Prune(Prune),
}

#[derive(Debug, Args)]
struct Root {
    /// Folder of all caches [default: RACL_CACHE_HOME, else .racl_cache]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Prune {
    #[command(flatten)]
    root: Root,
    #[command(flatten)]
    which: Which,
    /// Say what would go, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
struct Which {
    /// All of them that the other options do not leave out
    #[arg(long)]
    all: bool,
    /// Those that were stored before so many days
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u64>,
    /// Those that no start would use
    #[arg(long)]
    unusable: bool,
    /// Those of one cache
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// As for any other mistake in the command line.
const NO_FOLDER: u8 = 2;

/// Why a command ends before its end.
#[derive(Debug)]
enum Failure {
    Cache(racl::Error),
    /// A folder that was named is not there.
    NoFolder(String),
    Output(io::Error),
}

impl From<racl::Error> for Failure {
    fn from(error: racl::Error) -> Self {
        Self::Cache(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn main() -> ExitCode {
    let Arguments { command } = Arguments::parse();
    let mut out = io::BufWriter::new(io::stdout().lock());
    let done = match command {
        Command::List(root) => commands::list(&mut out, root.dir).map(|()| true),
        Command::Show { path } => commands::show(&mut out, &path).map(|()| true),
        Command::Verify(root) => commands::verify(&mut out, root.dir),
        Command::Prune(prune) => commands::prune(&mut out, prune),
    };
    let done = done.and_then(|good| out.flush().map(|()| good).map_err(Failure::from));
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // Whoever reads has read enough.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(Failure::Output(error)) => fail(&error),
        Err(Failure::Cache(error)) => fail(&error),
        Err(Failure::NoFolder(root)) => {
            fail(&format!("{root}: there is no such folder"));
            ExitCode::from(NO_FOLDER)
        }
    }
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("error: {}", racl::cache::printable(&error.to_string()));
    ExitCode::FAILURE
}
