//! The files that the library logs to in this process, for reports and for errors of work that failed.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use crate::lock::Lock;
use crate::text::printable;

/// Lines of a file that a report shows, and bytes at its end that are looked at.
const LINES: usize = 40;
const BYTES: u64 = 1 << 16;

/// Lines of errors of a file that an error has, and characters of each.
const ERROR_LINES: usize = 10;
const LINE_CHARACTERS: usize = 400;

/// Set to 0 it is as `set_error_logs(false)`.
const VARIABLE: &str = "RACL_ERROR_LOGS";

static ON: AtomicBool = AtomicBool::new(true);

/// When a library was first initialised: what was written before may be of an earlier process of the same number.
static BEGUN: OnceLock<SystemTime> = OnceLock::new();

/// By how much the times of files may be behind the clock.
const COARSE: Duration = Duration::from_secs(1);

/// Files with the bytes of each that were looked at for an error; those that were read last at the end.
static SEEN: Lock<Vec<(PathBuf, u64)>> = Lock::new(Vec::new());

/// What was found in folders for errors; those that were looked at last at the end.
static LISTED: Lock<Vec<Listed>> = Lock::new(Vec::new());

/// The files of a folder whose names begin so.
#[derive(Clone)]
struct Listed {
    folder: PathBuf,
    start: String,
    /// When the folder changed last.
    changed: SystemTime,
    files: Vec<PathBuf>,
}

/// More than a process writes at a time: one of the host, and one of each device.
const FILES: usize = 64;

/// Whether errors of work that failed on the device have lines of the library's log, [`Error::log_lines`]. On at first,
/// unless the environment variable `RACL_ERROR_LOGS` is 0 when a library is initialised. Any thread may call it; it
/// counts for the whole process.
///
/// For each such error the folders of the logs are looked at, and up to 64 KiB of the newest file of this process in
/// each: of the host, `debug/plog/plog-PID_*.log`, and of the device, `debug/device-N/device-PID_*.log`, below
/// `ASCEND_PROCESS_LOG_PATH`, else `log` in `ASCEND_WORK_PATH`, else `ascend/log` in the home folder. That is for
/// programs that must not wait for those files where their work failed, or show nothing of them.
///
/// [`Error::log_lines`]: crate::Error::log_lines
///
/// # Examples
///
/// ```standalone_crate
/// racl::set_error_logs(false);
/// let device = racl::Acl::mock()?.device(0)?;
/// # device.stream()?.synchronize()?;
/// # Ok::<(), racl::Error>(())
/// ```
pub fn set_error_logs(on: bool) {
    let _ = BEGUN.set(SystemTime::now());
    ON.store(on, Ordering::Relaxed);
}

/// A library is about to be initialised.
pub(crate) fn begin() {
    if BEGUN.set(SystemTime::now()).is_ok() && std::env::var_os(VARIABLE).is_some_and(|value| value == "0") {
        ON.store(false, Ordering::Relaxed);
    }
}

/// What was logged as an error since this was asked last: of the host, and of the device with this number. Nothing where
/// it cannot be read.
pub(crate) fn errors_since(device: u32) -> Vec<String> {
    let folder = if ON.load(Ordering::Relaxed) { folder() } else { None };
    folder.map_or_else(Vec::new, |folder| errors_in(&folder, std::process::id(), device))
}

fn errors_in(folder: &Path, process: u32, device: u32) -> Vec<String> {
    let parts = [
        ("host".to_owned(), "debug/plog".to_owned(), format!("plog-{process}_")),
        (format!("device {device}"), format!("debug/device-{device}"), format!("device-{process}_")),
    ];
    let lines = parts.iter().flat_map(|(whose, part, start)| {
        let errors = newest_listed(&folder.join(part), start).map_or_else(Vec::new, new_errors);
        errors.into_iter().map(move |line| format!("{whose}: {line}"))
    });
    lines.collect()
}

fn new_errors((path, size): (PathBuf, u64)) -> Vec<String> {
    let from = SEEN.lock().iter().find(|(known, _)| *known == path).map_or(0, |(_, bytes)| *bytes);
    if from == size {
        return Vec::new();
    }
    let Some((text, end)) = tail(&path, from) else { return Vec::new() };
    {
        let mut seen = SEEN.lock();
        seen.retain(|(known, _)| *known != path);
        if seen.len() == FILES {
            seen.remove(0);
        }
        seen.push((path, end));
    }
    // Lines begin with their level.
    let errors: Vec<_> = text.lines().filter(|line| line.starts_with("[ERROR]")).collect();
    let last = &errors[errors.len().saturating_sub(ERROR_LINES)..];
    last.iter().map(|line| printable(&line.chars().take(LINE_CHARACTERS).collect::<String>())).collect()
}

/// The last lines of the newest files of this process, each behind its path, for reports: errors are in `debug`, events
/// in `run`.
pub(crate) fn last_lines() -> Vec<String> {
    folder().map_or_else(Vec::new, |folder| lines_in(&folder, std::process::id()))
}

fn lines_in(folder: &Path, process: u32) -> Vec<String> {
    let mut parts = Vec::new();
    for kind in ["debug", "run"] {
        parts.push((folder.join(kind).join("plog"), format!("plog-{process}_")));
        let devices = devices_in(&folder.join(kind)).into_iter();
        parts.extend(devices.map(|device| (device, format!("device-{process}_"))));
    }
    parts.iter().filter_map(|(part, start)| shown(&newest(part, start)?)).flatten().collect()
}

fn shown(path: &Path) -> Option<Vec<String>> {
    let (text, _) = tail(path, 0)?;
    let lines: Vec<_> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(LINES)..].iter().map(|&line| line.to_owned());
    Some(std::iter::once(path.display().to_string()).chain(last).collect())
}

/// Folders of devices, in the order of their numbers.
fn devices_in(folder: &Path) -> Vec<PathBuf> {
    let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_prefix("device-")?.parse::<u32>().ok();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = entries.filter_map(|path| Some((number(&path)?, path))).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, path)| path).collect()
}

/// Where the runtime logs (guide: environment variables, `ASCEND_PROCESS_LOG_PATH`).
fn folder() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let work = || named("ASCEND_WORK_PATH").map(|folder| folder.join("log"));
    let home = || named("HOME").map(|folder| folder.join("ascend/log"));
    named("ASCEND_PROCESS_LOG_PATH").or_else(work).or_else(home)
}

/// The file whose name begins so that was written last.
fn newest(folder: &Path, start: &str) -> Option<PathBuf> {
    newest_of(named(folder, start)?, None).map(|(path, _)| path)
}

/// The same, not before a library was initialised, and how long it is. A query of work that failed asks again and again:
/// the folder, which may have many files of other processes, is listed when it has changed.
fn newest_listed(folder: &Path, start: &str) -> Option<(PathBuf, u64)> {
    let changed = fs::metadata(folder).ok()?.modified().ok()?;
    let is_it = |listed: &Listed| listed.folder == folder && listed.start == start;
    let known = LISTED.lock().iter().find(|listed| is_it(listed) && listed.changed == changed).cloned();
    let files = match known {
        Some(listed) => listed.files,
        None => {
            let files = named(folder, start)?;
            let mut all = LISTED.lock();
            all.retain(|listed| !is_it(listed));
            // What comes in this very moment may leave the folder's time as it is.
            if SystemTime::now().duration_since(changed).is_ok_and(|age| age > COARSE) {
                if all.len() == FILES {
                    all.remove(0);
                }
                let (folder, start) = (folder.to_owned(), start.to_owned());
                all.push(Listed { folder, start, changed, files: files.clone() });
            }
            files
        }
    };
    newest_of(files, BEGUN.get())
}

/// The files of a folder whose names begin so.
fn named(folder: &Path, start: &str) -> Option<Vec<PathBuf>> {
    #[cfg(test)]
    tests::LISTS.set(tests::LISTS.get() + 1);
    let entries = fs::read_dir(folder).ok()?.flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
    Some(named.map(|entry| entry.path()).collect())
}

/// That which was written last, and not before `since`, with its length.
fn newest_of(files: Vec<PathBuf>, since: Option<&SystemTime>) -> Option<(PathBuf, u64)> {
    let written = files.into_iter().filter_map(|path| {
        // Of whatever else has such a name a read may not come back.
        let facts = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
        Some((facts.modified().ok()?, path, facts.len()))
    });
    let late = written.filter(|(when, ..)| since.is_none_or(|since| *when + COARSE >= *since));
    late.max().map(|(_, path, size)| (path, size))
}

/// The end of a file, of what is behind `from`, and how long the file is; from its beginning where it is shorter.
fn tail(path: &Path, from: u64) -> Option<(String, u64)> {
    let mut file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let from = if from > size { 0 } else { from };
    file.seek(SeekFrom::Start(from.max(size.saturating_sub(BYTES)))).ok()?;
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes).ok()?;
    Some((String::from_utf8_lossy(&bytes).into_owned(), size))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// How often a folder was listed.
        pub(super) static LISTS: Cell<usize> = const { Cell::new(0) };
    }

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::options().create(true).append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn the_newest_logs_of_a_process_end_a_report() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(lines_in(root, 7), [""; 0]);
        let lines: Vec<_> = (0..10_000).map(|number| format!("line {number}")).collect();
        write(root, "debug/plog/plog-7_1.log", &lines.join("\n"));
        write(root, "debug/plog/plog-77_2.log", "of another process");
        for device in [10, 9] {
            write(root, &format!("debug/device-{device}/device-7_2.log"), "of a device");
        }
        write(root, "debug/device-os/device-7_2.log", "of no device of the process");
        // What runs without an error is logged elsewhere, and later.
        write(root, "run/plog/plog-7_3.log", "an event");
        write(root, "run/device-9/device-7_3.log", "an event of a device");
        let shown = lines_in(root, 7);
        let path = |name: &str| root.join(name).display().to_string();
        assert_eq!(shown[0], path("debug/plog/plog-7_1.log"));
        assert_eq!(shown[1..=LINES], lines[10_000 - LINES..]);
        let rest = [
            &path("debug/device-9/device-7_2.log"),
            "of a device",
            &path("debug/device-10/device-7_2.log"),
            "of a device",
            &path("run/plog/plog-7_3.log"),
            "an event",
            &path("run/device-9/device-7_3.log"),
            "an event of a device",
        ];
        assert_eq!(shown[LINES + 1..], rest);
    }

    #[test]
    fn an_error_has_what_was_logged_since_the_last_one_and_little_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(errors_in(root, 7, 1), [""; 0]);
        write(root, "debug/plog/plog-7_1.log", "[ERROR] a\n[WARNING] b\n continued\n[ERROR] \u{1b}[2J\n");
        write(root, "debug/device-1/device-7_1.log", "[ERROR] of the device\n");
        write(root, "debug/device-0/device-7_1.log", "[ERROR] of another device\n");
        write(root, "debug/plog/plog-8_1.log", "[ERROR] of another process\n");
        let want = ["host: [ERROR] a", "host: [ERROR] \\u{1b}[2J", "device 1: [ERROR] of the device"];
        assert_eq!(errors_in(root, 7, 1), want);
        assert_eq!(errors_in(root, 7, 1), [""; 0], "once");
        let many: String = (0..5000).map(|number| format!("[ERROR] {number} {}\n", "x".repeat(500))).collect();
        write(root, "debug/plog/plog-7_1.log", &many);
        let told = errors_in(root, 7, 1);
        assert_eq!(told.len(), ERROR_LINES);
        assert!(
            told[0].starts_with("host: [ERROR] 4990 x") && told[9].starts_with("host: [ERROR] 4999 x"),
            "{told:?}"
        );
        assert!(told.iter().all(|line| line.len() == "host: ".len() + LINE_CHARACTERS), "{told:?}");
        // It was cut, or written anew.
        fs::write(root.join("debug/plog/plog-7_1.log"), "[ERROR] anew\n").unwrap();
        assert_eq!(errors_in(root, 7, 1), ["host: [ERROR] anew"]);
    }

    #[test]
    fn a_folder_is_listed_again_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (root, plog) = (folder.path(), folder.path().join("debug/plog"));
        write(root, "debug/plog/plog-7_1.log", "[ERROR] a\n");
        let lists = |want: &[&str]| {
            let before = LISTS.get();
            assert_eq!(errors_in(root, 7, 1), want);
            LISTS.get() - before
        };
        let age =
            |ago| File::open(&plog).unwrap().set_modified(SystemTime::now() - Duration::from_secs(ago)).unwrap();
        // In the moment of a change another one may come.
        assert_eq!((lists(&["host: [ERROR] a"]), lists(&[])), (1, 1));
        age(60);
        assert_eq!(lists(&[]), 1);
        write(root, "debug/plog/plog-7_1.log", "[ERROR] b\n");
        assert_eq!((lists(&["host: [ERROR] b"]), lists(&[])), (0, 0));
        write(root, "debug/plog/plog-7_2.log", "[ERROR] c\n");
        assert_eq!(lists(&["host: [ERROR] c"]), 1);
        age(50);
        assert_eq!((lists(&[]), lists(&[])), (1, 0));
        fs::remove_file(plog.join("plog-7_2.log")).unwrap();
        assert_eq!(lists(&[]), 1);
    }

    #[test]
    fn what_is_no_file_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("debug/plog/plog-7_1.log")).unwrap();
        fs::create_dir_all(folder.path().join("debug/device-1")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("debug/device-1/device-7_1.log")).unwrap();
        assert_eq!(errors_in(folder.path(), 7, 1), [""; 0]);
        assert_eq!(lines_in(folder.path(), 7), [""; 0]);
    }
}
