//! Why a file is no library for this program, where the dynamic loader says little or would crash.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes of the header of a 64-bit file.
const HEADER: usize = 64;
/// Bytes of an entry of the segment table.
const SEGMENT: usize = 56;
/// The kind of segment that is mapped.
const LOAD: u32 = 1;

/// Machines that AscendCL was seen on, and those that a wrong file is likely to be for.
const MACHINES: [(u16, &str, &str); 5] = [
    (3, "32-bit x86", "x86"),
    (40, "32-bit Arm", "arm"),
    (62, "x86-64", "x86_64"),
    (183, "AArch64", "aarch64"),
    (243, "RISC-V", "riscv64"),
];

/// What keeps the file at `path` from being opened: the dynamic loader would wait for it, or read past its end.
///
/// Says nothing about a name without a folder, which the dynamic loader looks for elsewhere, nor about a file that
/// cannot be read, whose reason the dynamic loader knows.
pub(crate) fn refusal(path: &Path) -> Option<String> {
    if path.parent().is_none_or(|folder| folder.as_os_str().is_empty()) {
        return None;
    }
    let data = fs::metadata(path).ok()?;
    if data.is_dir() {
        return Some(
            "it is a folder; the file in it is wanted, such as lib64/libascendcl.so of a toolkit".to_owned(),
        );
    }
    if !data.is_file() {
        return Some("it is no regular file".to_owned());
    }
    let mut file = File::open(path).ok()?;
    let mut header = Vec::with_capacity(HEADER);
    file.by_ref().take(HEADER as u64).read_to_end(&mut header).ok()?;
    if header.is_empty() {
        return Some("it is empty".to_owned());
    }
    if !header.starts_with(b"\x7fELF") {
        return Some("it is no ELF file".to_owned());
    }
    wrong_kind(&header).or_else(|| truncated(&file, &header, data.len()))
}

/// Only files of this machine's word size and byte order are read further; the dynamic loader names the others.
fn native(header: &[u8]) -> bool {
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    cfg!(target_pointer_width = "64") && header.len() == HEADER && header[4] == 2 && header[5] == order
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(core::array::from_fn(|i| bytes[at + i]))
}

fn wrong_kind(header: &[u8]) -> Option<String> {
    if header.len() < HEADER {
        return Some("it ends within its header".to_owned());
    }
    if !native(header) {
        return None;
    }
    let (kind, machine) = (half(header, 16), half(header, 18));
    let known = MACHINES.iter().find(|(number, ..)| *number == machine);
    let here = MACHINES.iter().find(|(.., name)| *name == std::env::consts::ARCH);
    match (known, here) {
        (_, Some((number, name, _))) if *number != machine => {
            let other = known.map_or_else(|| format!("machine {machine}"), |(_, name, _)| (*name).to_owned());
            Some(format!("it is built for {other}, this program for {name}"))
        }
        _ if kind == 1 => Some("it is an object file, not a shared library".to_owned()),
        _ if kind == 2 => Some("it is a program, not a shared library".to_owned()),
        _ => None,
    }
}

/// The loader maps what the segment table names; pages past the end of the file would end the process.
fn truncated(file: &File, header: &[u8], length: u64) -> Option<String> {
    if !native(header) {
        return None;
    }
    let (start, size, count) = (word(header, 32), half(header, 54), half(header, 56));
    if usize::from(size) != SEGMENT {
        return None;
    }
    let mut table = vec![0; SEGMENT * usize::from(count)];
    let complete = file.read_exact_at(&mut table, start).is_ok();
    let mapped = table.chunks_exact(SEGMENT).filter(|entry| entry[..4] == LOAD.to_ne_bytes());
    let end = mapped.map(|entry| word(entry, 8).saturating_add(word(entry, 32))).max().unwrap_or(0);
    (!complete || end > length).then(|| format!("it is cut off: it has {length} bytes and needs more"))
}
