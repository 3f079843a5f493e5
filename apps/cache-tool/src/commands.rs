//! What the commands do.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use racl::cache::{Entry, Verdict, default_root, entries, printable, readable_cache};

use crate::{Failure, Prune};

const DAY: u64 = 24 * 60 * 60;

type Result<T> = std::result::Result<T, Failure>;

/// What is stored below a root, and how that is shown. A folder that was named has to be there; without a name there
/// is none before a start has stored something.
fn stored(named: Option<PathBuf>) -> Result<(Vec<Entry>, String)> {
    let root = named.clone().unwrap_or_else(default_root);
    let shown = printable(&root.to_string_lossy());
    if named.is_some() && matches!(root.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound) {
        return Err(Failure::NoFolder(shown));
    }
    Ok((entries(root)?, shown))
}

pub(crate) fn list(out: &mut impl Write, root: Option<PathBuf>) -> Result<()> {
    let (entries, root) = stored(root)?;
    if entries.is_empty() {
        writeln!(out, "{root}: no plan is stored")?;
        return Ok(());
    }
    let (cache, function, operators) = ("cache", "function", "operators");
    writeln!(out, "{cache:<20} {function:<16} {operators:>9} {:>10} {:>6}  {:<8} folder", "bytes", "age", "start")?;
    for entry in entries {
        let operators = entry.operators.map_or_else(|| "?".to_owned(), |count| count.to_string());
        let (bytes, age) = match entry.is_stored {
            true => (entry.bytes.to_string(), age(&entry).map_or_else(|| "?".to_owned(), show_age)),
            false => ("none".to_owned(), String::new()),
        };
        let function = if entry.function.is_empty() { "?" } else { &entry.function };
        let (name, path) = (&entry.name, shown(&entry));
        let (start, why) = match entry.verdict() {
            Verdict::Load => ("loads", String::new()),
            Verdict::Build => ("builds", String::new()),
            Verdict::Rebuild(why) => ("rebuilds", format!("  ({})", printable(&why))),
            Verdict::Refuse(why) => ("refuses", format!("  ({})", printable(&why))),
            _ => ("?", String::new()),
        };
        writeln!(out, "{name:<20} {function:<16} {operators:>9} {bytes:>10} {age:>6}  {start:<8} {path}{why}")?;
    }
    Ok(())
}

/// The folder, without anything that a terminal would obey.
fn shown(entry: &Entry) -> String {
    printable(&entry.path.to_string_lossy())
}

fn age(entry: &Entry) -> Option<Duration> {
    SystemTime::now().duration_since(entry.written?).ok()
}

fn show_age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..DAY => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / DAY),
    }
}

pub(crate) fn show(out: &mut impl Write, path: &Path) -> Result<()> {
    let text = readable_cache(path)?;
    out.write_all(text.as_bytes())?;
    Ok(())
}

/// Gives whether a start would load all of them. Where none is stored, nothing is said.
pub(crate) fn verify(out: &mut impl Write, root: Option<PathBuf>) -> Result<bool> {
    let (mut good, mut bad) = (0, 0);
    let (entries, root) = stored(root)?;
    for entry in entries {
        let path = shown(&entry);
        match entry.verdict() {
            Verdict::Build => {}
            Verdict::Load => {
                good += 1;
                writeln!(out, "good {path}")?;
            }
            verdict => {
                bad += 1;
                writeln!(out, "bad  {path} {}", printable(&verdict.to_string()))?;
            }
        }
    }
    writeln!(out, "{root}: {good} good, {bad} bad")?;
    Ok(bad == 0)
}

/// Gives whether all that were chosen are gone.
pub(crate) fn prune(out: &mut impl Write, prune: Prune) -> Result<bool> {
    let Prune { root, which, dry_run } = prune;
    let limit = which.older_than.map(|days| Duration::from_secs(days.saturating_mul(DAY)));
    let is_chosen = |entry: &Entry| {
        let is_old = limit.is_none_or(|limit| age(entry).is_some_and(|age| age >= limit));
        let has_name = which.name.as_ref().is_none_or(|name| entry.name == *name);
        let is_unusable = || !which.unusable || entry.verify().is_err();
        // Of all of them, too, the other options choose.
        is_old && has_name && is_unusable()
    };
    let (mut gone, mut kept) = (0, 0);
    let (entries, root) = stored(root.dir)?;
    for entry in entries.iter().filter(|entry| is_chosen(entry)) {
        let path = shown(entry);
        if dry_run {
            writeln!(out, "would remove {path}")?;
        } else if let Err(error) = entry.remove() {
            kept += 1;
            writeln!(out, "kept {path}: {}", printable(&error.to_string()))?;
            continue;
        } else {
            writeln!(out, "removed {path}")?;
        }
        gone += 1;
    }
    let done = if dry_run { "would be removed" } else { "removed" };
    writeln!(out, "{root}: {gone} {done}, {kept} kept")?;
    Ok(kept == 0)
}
