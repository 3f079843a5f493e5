//! What stands beside a missing entry, for the message that tells why it is missing.

use std::cmp::Reverse;
use std::path::PathBuf;

use crate::sort;

use super::entry::{self, META};
use super::folder::Folder;
use super::key::{Difference, Key};
use super::store::{Place, split_entry_folder};

/// Most entries that are compared with a missing one: some 20 µs each.
const MOST: usize = 256;

impl Place {
    /// The entry of the same rank and function that differs least: where it is, and in what. Those of the same cache
    /// are looked at first, and the newest of them.
    pub(super) fn nearest(&self, cache: &str, key: &Key) -> Option<(PathBuf, Vec<Difference>)> {
        let mut others = self.others(cache);
        others.truncate(MOST);
        let near = others.into_iter().filter_map(|place| {
            let meta = place.open(false).ok()?.read(META, entry::read_meta_file).ok()??;
            Some((place.path(), key.differences(&meta.parts)))
        });
        // Of equals the first.
        near.min_by_key(|(_, differences)| differences.len())
    }

    /// Where else an entry of the same rank and function can be, the best first.
    fn others(&self, cache: &str) -> Vec<Self> {
        let Some((own, below)) = self.levels.split_first() else { return Vec::new() };
        let names = Folder::root(&self.root, false).and_then(|root| root.names()).unwrap_or_default();
        let mut found: Vec<_> = names
            .into_iter()
            .filter(|name| name != own)
            .filter_map(|name| {
                let is_other = split_entry_folder(&name)? != cache;
                let levels = std::iter::once(name).chain(below.iter().cloned()).collect();
                let place = Self { root: self.root.clone(), levels };
                // For the order only: what is read is checked on its own.
                let made = place.path().symlink_metadata().and_then(|about| about.modified()).ok()?;
                Some((is_other, Reverse(made), place))
            })
            .collect();
        sort::by_key(&mut found, |(is_other, made, _)| (*is_other, *made));
        found.into_iter().map(|(.., place)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::cache::entry::Figures;
    use crate::cache::key::hex;

    fn key(parts: &[(&str, &str)]) -> Key {
        let mut key = Key::default();
        parts.iter().for_each(|(name, value)| key.push(*name, *value));
        key
    }

    fn place(root: &Path, cache: &str, key: &Key) -> Place {
        let folder = format!("{cache}_dynamic_{}", hex(&key.hash()[..16]));
        Place { root: root.to_owned(), levels: vec![folder, "decode".to_owned()] }
    }

    /// Puts the readable file of an entry down, `age` seconds ago.
    fn put(root: &Path, cache: &str, key: &Key, age: u64) -> PathBuf {
        let figures = Figures { operators: 1, streams: 1, bytes: 1, build: Duration::ZERO };
        let folder = place(root, cache, key).path();
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(META);
        fs::write(&file, entry::meta(cache, "decode", key, &[0; 32], figures)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        for folder in [folder.parent().unwrap(), &folder] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
        }
        File::open(&folder).unwrap().set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        folder
    }

    fn root() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o700)).unwrap();
        root
    }

    fn nearest(root: &Path, cache: &str, key: &Key) -> Option<(PathBuf, Vec<String>)> {
        let (path, differences) = place(root, cache, key).nearest(cache, key)?;
        Some((path, differences.into_iter().map(|(part, ..)| part).collect()))
    }

    #[test]
    fn the_entry_that_differs_least_is_found_among_many() {
        let root = root();
        let missing = key(&[("name", "m"), ("options", "a"), ("salt", "a")]);
        assert_eq!(nearest(root.path(), "m", &missing), None);
        for count in 0..100 {
            put(root.path(), "m", &key(&[("name", "m"), ("options", "b"), ("salt", &count.to_string())]), count);
        }
        let near = put(root.path(), "m", &key(&[("name", "m"), ("options", "a"), ("salt", "b")]), 50);
        let found = nearest(root.path(), "m", &missing);
        assert_eq!(found, Some((near.clone(), vec!["salt".to_owned()])));
        // The missing entry itself is none, whatever is left of it.
        put(root.path(), "m", &missing, 0);
        assert_eq!(nearest(root.path(), "m", &missing).unwrap().0, near);
    }

    #[test]
    fn another_name_is_a_difference_like_others() {
        let root = root();
        let other = put(root.path(), "other", &key(&[("name", "other"), ("options", "a"), ("salt", "a")]), 0);
        let missing = key(&[("name", "m"), ("options", "a"), ("salt", "a")]);
        assert_eq!(nearest(root.path(), "m", &missing), Some((other, vec!["name".to_owned()])));
        // Of two that differ as much, that of the same cache; and of those the newest.
        let own = [("salt", "b", 9), ("options", "b", 5)].map(|(part, value, age)| {
            let parts = [("name", "m"), ("options", "a"), ("salt", "a")];
            let parts = parts.map(|(name, old)| (name, if name == part { value } else { old }));
            put(root.path(), "m", &key(&parts), age)
        });
        assert_eq!(nearest(root.path(), "m", &missing), Some((own[1].clone(), vec!["options".to_owned()])));
    }

    #[test]
    fn no_more_than_a_number_of_entries_is_read_and_the_newest_of_the_cache_first() {
        let root = root();
        let count = MOST as u64 + 10;
        for index in 0..count {
            let value = index.to_string();
            put(root.path(), "m", &key(&[("name", "m"), ("salt", &value), ("options", &value)]), index + 1);
        }
        // Differs less than all others, and is older.
        put(root.path(), "m", &key(&[("name", "m"), ("salt", "x"), ("options", "a")]), count + 10);
        let missing = key(&[("name", "m"), ("salt", "a"), ("options", "a")]);
        assert_eq!(nearest(root.path(), "m", &missing).unwrap().1.len(), 2);
        let newest = put(root.path(), "m", &key(&[("name", "m"), ("salt", "y"), ("options", "a")]), 0);
        assert_eq!(nearest(root.path(), "m", &missing), Some((newest, vec!["salt".to_owned()])));
    }
}
