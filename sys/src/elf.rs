//! Why a file is no library for this program, where the dynamic loader says little or would crash.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes of the header of a 64-bit file.
const HEADER: usize = 64;
/// Bytes of an entry of the segment table.
const SEGMENT: usize = 56;
/// The kind of segment that is mapped.
const LOAD: u32 = 1;
/// The kind that tells the dynamic loader where it finds what.
const DYNAMIC: u32 = 2;
/// In there, the entries of the table of names and of that of symbols.
const NAMES: u64 = 5;
const SYMBOLS: u64 = 6;
/// A dynamic section has some dozens of entries of 16 bytes.
const MOST_DYNAMIC: u64 = 1 << 16;

/// Machines that AscendCL was seen on, and those that a wrong file is likely to be for.
const MACHINES: [(u16, &str, &str); 5] = [
    (3, "32-bit x86", "x86"),
    (40, "32-bit Arm", "arm"),
    (62, "x86-64", "x86_64"),
    (183, "AArch64", "aarch64"),
    (243, "RISC-V", "riscv64"),
];

/// What a file is to the dynamic loader.
enum Look {
    /// As far as was looked at.
    Good,
    /// Not there, not readable, or of another word size: the loader says so, and goes on where it searches.
    Passed,
    /// For another machine; the loader goes on where it searches.
    Foreign(String),
    /// The loader would end with it, wait for it, or crash.
    Bad(String),
}

/// What keeps `path` from being opened: the dynamic loader would wait for it, or read past its end.
///
/// Says nothing about a file that cannot be read, whose reason the dynamic loader knows. A name without a folder is
/// the file that the loader takes from `LD_LIBRARY_PATH`, if it is in there.
pub(crate) fn refusal(path: &Path) -> Option<String> {
    if path.parent().is_none_or(|folder| folder.as_os_str().is_empty()) {
        return searched(path, &std::env::var_os("LD_LIBRARY_PATH")?);
    }
    match look(path) {
        Look::Foreign(why) | Look::Bad(why) => Some(why),
        Look::Good | Look::Passed => None,
    }
}

/// What is wrong with the file that the dynamic loader takes for `name`.
fn searched(name: &Path, folders: &OsStr) -> Option<String> {
    let folders = folders.as_bytes().split(|byte| matches!(byte, b':' | b';'));
    // An empty one is the working folder.
    let paths = folders.map(|folder| Path::new(OsStr::from_bytes(folder)).join(name));
    let taken = paths.map(|path| (look(&path), path)).find(|(look, _)| matches!(look, Look::Good | Look::Bad(_)));
    match taken? {
        (Look::Bad(why), path) => Some(format!("{}: {why}", path.display())),
        _ => None,
    }
}

fn look(path: &Path) -> Look {
    let Ok(data) = fs::metadata(path) else { return Look::Passed };
    if data.is_dir() {
        let why = "it is a folder; the file in it is wanted, such as lib64/libascendcl.so of a toolkit";
        return Look::Bad(why.to_owned());
    }
    if !data.is_file() {
        return Look::Bad("it is no regular file".to_owned());
    }
    let Ok(mut file) = File::open(path) else { return Look::Passed };
    let mut header = Vec::with_capacity(HEADER);
    if file.by_ref().take(HEADER as u64).read_to_end(&mut header).is_err() {
        return Look::Passed;
    }
    if header.is_empty() {
        return Look::Bad("it is empty".to_owned());
    }
    if !header.starts_with(b"\x7fELF") {
        return Look::Bad("it is no ELF file".to_owned());
    }
    if header.len() < HEADER {
        return Look::Bad("it ends within its header".to_owned());
    }
    if !native(&header) {
        return Look::Passed;
    }
    if let Some(why) = foreign(&header) {
        return Look::Foreign(why);
    }
    wrong_kind(&header).or_else(|| damaged(&file, &header, data.len())).map_or(Look::Good, Look::Bad)
}

/// Only files of this machine's word size and byte order are read further; the dynamic loader names the others.
fn native(header: &[u8]) -> bool {
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    cfg!(target_pointer_width = "64") && header[4] == 2 && header[5] == order
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(core::array::from_fn(|i| bytes[at + i]))
}

fn foreign(header: &[u8]) -> Option<String> {
    let machine = half(header, 18);
    let (here, name, _) = MACHINES.iter().find(|(.., name)| *name == std::env::consts::ARCH)?;
    let known = MACHINES.iter().find(|(number, ..)| *number == machine);
    let other = || known.map_or_else(|| format!("machine {machine}"), |(_, name, _)| (*name).to_owned());
    (*here != machine).then(|| format!("it is built for {}, this program for {name}", other()))
}

fn wrong_kind(header: &[u8]) -> Option<String> {
    match half(header, 16) {
        1 => Some("it is an object file, not a shared library".to_owned()),
        2 => Some("it is a program, not a shared library".to_owned()),
        _ => None,
    }
}

/// The loader maps what the segment table names, and reads in there unasked: pages past the end of the file, and
/// tables that are not there, would end the process.
fn damaged(file: &File, header: &[u8], length: u64) -> Option<String> {
    let (start, size, count) = (word(header, 32), half(header, 54), half(header, 56));
    if usize::from(size) != SEGMENT {
        return None;
    }
    let mut table = vec![0; SEGMENT * usize::from(count)];
    let complete = file.read_exact_at(&mut table, start).is_ok();
    let of = |kind: u32| table.chunks_exact(SEGMENT).filter(move |entry| entry[..4] == kind.to_ne_bytes());
    let mapped: Vec<_> = of(LOAD).map(Segment::of).collect();
    let end = mapped.iter().map(|segment| segment.offset.saturating_add(segment.bytes)).max().unwrap_or(0);
    if !complete || end > length {
        return Some(format!("it is cut off: it has {length} bytes and needs more"));
    }
    let dynamic = Segment::of(of(DYNAMIC).next()?);
    let damaged = linked(file, &mapped, &dynamic).is_none();
    damaged.then(|| "it is damaged: the tables that the dynamic loader needs are not in it".to_owned())
}

/// A part of the file and where it is mapped.
struct Segment {
    offset: u64,
    address: u64,
    bytes: u64,
}

impl Segment {
    fn of(entry: &[u8]) -> Self {
        Self { offset: word(entry, 8), address: word(entry, 16), bytes: word(entry, 32) }
    }

    /// Where the byte that is mapped at `address` stands in the file.
    fn place(&self, address: u64) -> Option<u64> {
        let distance = address.checked_sub(self.address).filter(|distance| *distance < self.bytes)?;
        self.offset.checked_add(distance)
    }
}

/// Some when the dynamic section has the tables of symbols and of their names.
fn linked(file: &File, mapped: &[Segment], dynamic: &Segment) -> Option<()> {
    let place = |address| mapped.iter().find_map(|segment| segment.place(address));
    let mut section = Vec::new();
    let mut file = file;
    file.seek(SeekFrom::Start(place(dynamic.address)?)).ok()?;
    file.take(dynamic.bytes.min(MOST_DYNAMIC)).read_to_end(&mut section).ok()?;
    let entries: Vec<_> = section.chunks_exact(16).map(|entry| (word(entry, 0), word(entry, 8))).collect();
    let used = entries.iter().take_while(|(tag, _)| *tag != 0);
    let is_there = |tag| used.clone().any(|entry| entry.0 == tag && place(entry.1).is_some());
    (is_there(NAMES) && is_there(SYMBOLS)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_folders_that_are_searched_the_first_file_that_the_loader_takes_counts() {
        let root = std::env::temp_dir().join(format!("acl-sys-searched-{}", std::process::id()));
        let name = Path::new("libracl-searched.so");
        let program = fs::read(std::env::current_exe().unwrap()).unwrap();
        let mut foreign = program[..HEADER].to_vec();
        foreign[18..20].fill(0xEE);
        for (folder, bytes) in [("good", &program[..]), ("foreign", &foreign), ("cut", &program[..HEADER])] {
            fs::create_dir_all(root.join(folder)).unwrap();
            fs::write(root.join(folder).join(name), bytes).unwrap();
        }
        fs::create_dir_all(root.join("folder").join(name)).unwrap();
        let searched = |folders: &str| {
            let folders = folders.split(':').map(|folder| root.join(folder));
            searched(name, &std::env::join_paths(folders).unwrap())
        };
        for fine in ["good", "good:cut", "foreign", "none:foreign:good:cut", "none"] {
            assert_eq!(searched(fine), None, "{fine}");
        }
        let cut = format!("{}: it is cut off", root.join("cut").join(name).display());
        for bad in ["cut", "cut:good", "foreign:none:cut"] {
            let why = searched(bad).unwrap();
            assert!(why.starts_with(&cut), "{bad}: {why}");
        }
        assert!(searched("folder").unwrap().contains("it is a folder"));
        assert_eq!(super::searched(name, OsStr::new(":")), None);
        fs::remove_dir_all(&root).unwrap();
    }
}
