//! Whether the files in a folder are such that a cache has written, before any is replaced or removed.

use std::fs::File;
use std::io::{self, Read as _};

use super::entry::{self, META, RECIPE};
use super::folder::{Folder, Trouble};
use super::lock::{LOCK, is_lock};
use crate::text::shown;

/// More than a lock file has.
const MOST_LOCK: u64 = 4096;

/// That all files of our names are ours, in the folder of an entry whose key begins with `hash`: a stored plan by its
/// first bytes, the readable file by its key, each of them by the other one when it is damaged.
pub(super) fn check(folder: &Folder, hash: &str) -> Result<(), String> {
    // First: who clears a broken entry removes it last, and who stores writes it first.
    let meta = read(folder, META, |file, size| {
        let meta = entry::read_meta_file(file, size).ok().flatten();
        Ok(meta.is_some_and(|meta| meta.key.is_some_and(|key| key.starts_with(hash))))
    })?;
    let recipe = read(folder, RECIPE, entry::is_marked)?;
    let foreign = |name: &str| {
        let path = folder.path().join(name);
        Err(format!("{}: no cache has written it, so it stays", shown(&path)))
    };
    match (recipe, meta) {
        (Some(false), None | Some(false)) => return foreign(RECIPE),
        (None, Some(false)) => return foreign(META),
        _ => {}
    }
    match read(folder, LOCK, read_lock)? {
        Some(false) => foreign(LOCK),
        _ => Ok(()),
    }
}

fn read_lock(file: &File, size: u64) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.take(size.min(MOST_LOCK)).read_to_end(&mut bytes)?;
    Ok(is_lock(&bytes))
}

/// None for a file that is not there.
fn read(
    folder: &Folder,
    name: &str,
    is_ours: impl FnOnce(&File, u64) -> io::Result<bool>,
) -> Result<Option<bool>, String> {
    match folder.read_any_mode(name, is_ours) {
        Ok(ours) => Ok(Some(ours)),
        Err(Trouble::Absent) => Ok(None),
        Err(Trouble::Refused(why)) => Err(why),
    }
}
