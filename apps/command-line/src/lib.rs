//! What programs share at the command line: the log, the library, results on standard output, and how they end. The
//! options of a program, and what its errors say, are its own.
#![forbid(unsafe_code)]

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use env_logger::{Builder, Env, Target};
use racl::Acl;

/// Starts the log, a line of level and text each, to `out`. `usual` is what is logged unless `RUST_LOG` says it; only
/// warnings and errors if `quiet`.
pub fn start_log(quiet: bool, usual: &str, out: impl Write + Send + 'static) {
    let filter = if quiet { "warn" } else { usual };
    Builder::from_env(Env::default().default_filter_or(filter))
        .format(|out, record| writeln!(out, "{}: {}", record.level().as_str().to_lowercase(), record.args()))
        .target(Target::Pipe(Box::new(out)))
        .init();
}

/// The library that `RACL_LIBRARY` names, else that of the machine; with the feature `mock` the built-in mock.
///
/// # Errors
///
/// As [`Acl::init`].
pub fn library() -> racl::Result<Acl> {
    #[cfg(feature = "mock")]
    return Acl::init_or_mock();
    #[cfg(not(feature = "mock"))]
    Acl::init()
}

/// What has failed, as far as the kind of `error` tells.
#[must_use]
pub fn what_failed(error: &racl::Error) -> &'static str {
    match error.kind() {
        racl::ErrorKind::LibraryNotFound | racl::ErrorKind::MissingSymbol => "the AscendCL library cannot be used",
        _ => "the device failed",
    }
}

/// Writes results to standard output, all at once.
///
/// # Errors
///
/// Those of `results` and of standard output.
pub fn write(results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    results(&mut out).and_then(|()| out.flush())
}

/// The end of a program: 0, or the error in one line and 1. `output` gives what kept results from being written.
#[must_use]
pub fn end<E: Display>(done: Result<(), E>, output: impl FnOnce(&E) -> Option<&io::Error>) -> ExitCode {
    let Err(error) = done else { return ExitCode::SUCCESS };
    if output(&error).is_some_and(|output| output.kind() == ErrorKind::BrokenPipe) {
        // Whoever reads the results has read enough.
        return ExitCode::SUCCESS;
    }
    #[allow(clippy::print_stderr)]
    {
        eprintln!("error: {error}");
    }
    ExitCode::FAILURE
}
