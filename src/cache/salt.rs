//! The default salt: what identifies the code that builds a plan.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;

use acl_sys::CodeFiles;

use super::key::hex;
use crate::lock::Lock;
use crate::text::shown;

/// Most program headers, and most bytes of notes, that are looked at.
const MOST: u64 = 1 << 16;
const PT_NOTE: u32 = 4;
const NT_GNU_BUILD_ID: u32 = 3;

/// Identity of the running executable; also of the shared object with the code at `address`, when that is another
/// file.
pub(super) fn of_code(address: usize) -> Result<String, String> {
    let executable = File::open("/proc/self/exe").map_err(|error| format!("/proc/self/exe: {error}"))?;
    let mut salt = identity(&executable).map_err(|error| format!("/proc/self/exe: {error}"))?;
    if let Some(path) = object_at(address)? {
        let wrong = |error: io::Error| format!("{}: {error}", shown(&path));
        let object = File::open(&path).map_err(wrong)?;
        if !same_file(&object, &executable).map_err(wrong)? {
            salt = format!("{salt}, {}", identity(&object).map_err(wrong)?);
        }
    }
    Ok(salt)
}

/// Identity of the file with the code at `address`, if it comes from one.
pub(super) fn of_object(address: usize) -> Result<Option<String>, String> {
    let Some(path) = object_at(address)? else { return Ok(None) };
    let found = File::open(&path).and_then(|file| identity(&file));
    found.map(Some).map_err(|error| format!("{}: {error}", shown(&path)))
}

fn same_file(a: &File, b: &File) -> io::Result<bool> {
    let (a, b) = (a.metadata()?, b.metadata()?);
    Ok((a.dev(), a.ino()) == (b.dev(), b.ino()))
}

/// The file that the code at an address was mapped from.
fn object_at(address: usize) -> Result<Option<PathBuf>, String> {
    let files = CodeFiles::read().map_err(|error| format!("/proc/self/maps: {error}"))?;
    let Some(path) = files.of(address) else { return Ok(None) };
    let text = path.to_string_lossy();
    match text.strip_suffix(" (deleted)") {
        // The executable itself is found without its path.
        Some(path) if fs::read_link("/proc/self/exe").is_ok_and(|exe| exe.to_string_lossy().starts_with(path)) => {
            Ok(None)
        }
        Some(path) => Err(format!("{path} was replaced while it runs")),
        None => Ok(Some(path.to_owned())),
    }
}

/// The build id of an ELF file, else the hash of all of it, which is remembered.
fn identity(file: &File) -> io::Result<String> {
    if let Some(id) = build_id(file) {
        return Ok(format!("build id {}", hex(&id)));
    }
    type Stamp = (u64, u64, i64, i64, u64);
    static KNOWN: Lock<Vec<(Stamp, String)>> = Lock::new(Vec::new());
    let about = file.metadata()?;
    let stamp = (about.dev(), about.ino(), about.mtime(), about.mtime_nsec(), about.size());
    let mut known = KNOWN.lock();
    if let Some((_, text)) = known.iter().find(|(known, _)| *known == stamp) {
        return Ok(text.clone());
    }
    let text = format!("blake3 {}", hex(&hash_file(file)?));
    known.push((stamp, text.clone()));
    Ok(text)
}

fn hash_file(mut file: &File) -> io::Result<[u8; 32]> {
    let mut hash = blake3::Hasher::new();
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hash.finalize().into()),
            count => {
                hash.update(&part[..count]);
            }
        }
    }
}

/// The descriptor of the note that the linker puts into the file, for the byte order of this machine.
fn build_id(file: &File) -> Option<Vec<u8>> {
    let mut head = [0; 64];
    file.read_exact_at(&mut head, 0).ok()?;
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    if head[..4] != *b"\x7fELF" || head[4] != 2 || head[5] != order {
        return None;
    }
    let (table, size, count) = (u64_at(&head, 32)?, u64::from(u16_at(&head, 54)?), u64::from(u16_at(&head, 56)?));
    if size < 56 || size * count > MOST {
        return None;
    }
    let mut headers = vec![0; (size * count) as usize];
    file.read_exact_at(&mut headers, table).ok()?;
    headers.chunks_exact(size as usize).filter(|header| u32_at(header, 0) == Some(PT_NOTE)).find_map(|header| {
        let (offset, bytes) = (u64_at(header, 8)?, u64_at(header, 32)?);
        let mut notes = vec![0; usize::try_from(bytes).ok().filter(|_| bytes <= MOST)?];
        file.read_exact_at(&mut notes, offset).ok()?;
        id_in(&notes)
    })
}

fn id_in(mut notes: &[u8]) -> Option<Vec<u8>> {
    loop {
        let (name, bytes, kind) = (u32_at(notes, 0)? as usize, u32_at(notes, 4)? as usize, u32_at(notes, 8)?);
        let start = name.checked_next_multiple_of(4)?.checked_add(12)?;
        let end = start.checked_add(bytes)?;
        let id = notes.get(start..end)?;
        if kind == NT_GNU_BUILD_ID && notes.get(12..16) == Some(b"GNU\0") && name == 4 && bytes >= 8 {
            return Some(id.to_vec());
        }
        notes = notes.get(end.checked_next_multiple_of(4)?..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, id: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        note.extend((name.len() as u32).to_ne_bytes());
        note.extend((id.len() as u32).to_ne_bytes());
        note.extend(kind.to_ne_bytes());
        for part in [name, id] {
            note.extend(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_build_id_is_found_behind_other_notes() {
        let notes = [note(b"Rust\0", 9, &[1; 5]), note(b"GNU\0", 1, &[2; 16]), note(b"GNU\0", 3, &[7; 20])].concat();
        assert_eq!(id_in(&notes), Some(vec![7; 20]));
        for end in 0..notes.len() {
            assert_eq!(id_in(&notes[..end]), None);
        }
        assert_eq!(id_in(&[0xff; 64]), None);
    }

    #[test]
    fn code_of_this_program_has_the_identity_of_the_executable() {
        let salt = of_code(the_build_id_is_found_behind_other_notes as fn() as usize).unwrap();
        assert_eq!(salt, of_code(0).unwrap());
        assert!(salt.starts_with("build id ") || salt.starts_with("blake3 "), "{salt}");
        assert!(!salt.contains(','), "{salt}");
    }

    #[test]
    fn code_of_a_library_has_another_identity() {
        let own = of_object(id_in as *const () as usize).unwrap().unwrap();
        assert_eq!(of_code(0).unwrap(), own);
        let library = libc_address();
        assert_ne!(of_object(library).unwrap(), Some(own.clone()));
        assert!(of_code(library).unwrap().starts_with(&format!("{own}, ")));
        assert_eq!(of_object(0).unwrap(), None);
    }

    /// An address in the C library.
    fn libc_address() -> usize {
        unsafe extern "C" {
            fn getpid() -> i32;
        }
        getpid as *const () as usize
    }

    #[test]
    fn a_file_without_a_build_id_is_hashed() {
        let path = std::env::temp_dir().join(format!("racl-salt-{}", std::process::id()));
        fs::write(&path, "no program").unwrap();
        let before = identity(&File::open(&path).unwrap()).unwrap();
        fs::write(&path, "another program").unwrap();
        let after = identity(&File::open(&path).unwrap()).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(before.starts_with("blake3 ") && after.starts_with("blake3 ") && before != after);
    }
}
