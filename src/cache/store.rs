//! Entries on disk: found, read, written and removed.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

use crate::plan::{Code, NotLoaded, Plan};

use super::entry::{self, META, RECIPE};
use super::folder::{Folder, Trouble};
use super::key::{Hash, hex};
use super::lock::{self, LOCK, Lock};
use super::{removal, step};
use crate::text::{printable, shown};

/// Where the entry of one function, key and rank lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) root: PathBuf,
    /// Folders below the root, outermost first; the last is the function's.
    pub(super) levels: Vec<String>,
}

/// What is at a place.
#[derive(Debug)]
pub(super) enum Found {
    /// With its hash.
    Plan(Plan, Hash),
    Absent,
    /// Files of ours that give no plan.
    Broken(String),
    /// A good plan, and code of it that is not there.
    Unbound(String),
    /// Something that is not to be trusted, or not to be reached.
    Refused(String),
}

impl Place {
    pub(super) fn path(&self) -> PathBuf {
        self.levels.iter().fold(self.root.clone(), |path, level| path.join(level))
    }

    pub(super) fn open(&self, make: bool) -> Result<Folder, Trouble> {
        let root = Folder::root(&self.root, make)?;
        self.levels.iter().try_fold(root, |folder, level| folder.child(level, make))
    }

    /// Makes the folders and takes their lock. `None` when others hold it all the time.
    pub(super) fn lock(&self, timeout: Duration) -> Result<Option<Locked>, Trouble> {
        // Waiting for oneself ends with the time-out only.
        if HELD.try_with(|held| held.borrow().contains(&self.path())).unwrap_or(false) {
            let why = "it is being built around this compilation, which is inside of its closure";
            return Err(super::folder::refused(&self.path(), why));
        }
        // Who prunes may take a folder away between these two steps.
        for _ in 0..16 {
            let folder = match self.open(true) {
                Err(Trouble::Absent) => continue,
                other => other?,
            };
            match lock::take(&folder, timeout) {
                Ok(Some((lock, word))) => {
                    step("entry", "locked");
                    let _held = Held::new(self.path());
                    return Ok(Some(Locked { folder, hash: self.hash(), word, _held, lock }));
                }
                Ok(None) => return Ok(None),
                Err(Trouble::Absent) => {}
                Err(error) => return Err(error),
            }
        }
        Err(super::folder::refused(&self.path(), "its folders vanish again and again"))
    }

    /// What a start finds whose key is `fits`.
    pub(super) fn load(&self, fits: impl FnOnce(&Hash) -> bool, code: Code<'_>) -> Found {
        match self.open(false) {
            Ok(folder) => load(&folder, fits, code),
            Err(Trouble::Absent) => Found::Absent,
            Err(Trouble::Refused(why)) => Found::Refused(why),
        }
    }

    /// That the files which are there are ours. To be asked before a lock file is made in a folder that may be none
    /// of ours.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.open(false) {
            Ok(folder) => removal::check(&folder, &self.hash()),
            Err(Trouble::Absent) => Ok(()),
            Err(Trouble::Refused(why)) => Err(why),
        }
    }

    /// Takes the entry away: the files, and the folders that are empty then.
    pub(super) fn remove(&self, timeout: Duration) -> Result<(), String> {
        let says = |trouble| match trouble {
            Trouble::Absent => None,
            Trouble::Refused(why) => Some(why),
        };
        self.check()?;
        if matches!(self.open(false), Err(Trouble::Absent)) {
            return Ok(());
        }
        let locked = match self.lock(timeout) {
            Ok(Some(locked)) => locked,
            Ok(None) => return Err(format!("{}: others are at work on it", shown(&self.path()))),
            Err(trouble) => return says(trouble).map_or(Ok(()), Err),
        };
        locked.clear()?;
        let last = locked.folder.remove(LOCK);
        drop(locked);
        last.map_or_else(|trouble| says(trouble).map_or(Ok(()), Err), |()| Ok(()))?;
        self.remove_empty_folders();
        Ok(())
    }

    /// What the name of the folder tells of the key.
    pub(super) fn hash(&self) -> String {
        self.levels[0].rsplit('_').next().unwrap_or_default().to_owned()
    }

    fn remove_empty_folders(&self) {
        for depth in (1..=self.levels.len()).rev() {
            let above = Self { root: self.root.clone(), levels: self.levels[..depth - 1].to_vec() };
            if !above.open(false).is_ok_and(|folder| folder.remove_empty(&self.levels[depth - 1])) {
                return;
            }
        }
    }
}

/// The name of the cache in the name of a folder.
pub(super) fn split_entry_folder(name: &str) -> Option<&str> {
    let (front, hash) = name.rsplit_once('_')?;
    let is_hash = hash.len() == 32 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let cache = front.strip_suffix("_static").or_else(|| front.strip_suffix("_dynamic"))?;
    (is_hash && !cache.is_empty()).then_some(cache)
}

/// The way of every start. What the bytes say may be anything, so it is made fit for a terminal.
fn load(folder: &Folder, fits: impl FnOnce(&Hash) -> bool, code: Code<'_>) -> Found {
    let bytes = match folder.read(RECIPE, entry::read_plan) {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(why)) => return Found::Broken(why),
        Err(Trouble::Absent) => return Found::Absent,
        Err(Trouble::Refused(why)) => return Found::Refused(why),
    };
    let parts = match entry::split(&bytes) {
        Ok(parts) => parts,
        Err(why) => return Found::Broken(why),
    };
    if !fits(&parts.key) {
        return Found::Broken(format!("it was stored under the key {}", hex(&parts.key[..16])));
    }
    match Plan::from_bytes(parts.plan, code) {
        Ok((_, hash)) if hash != parts.recipe => Found::Broken("its hash is that of another plan".to_owned()),
        Ok((plan, hash)) => Found::Plan(plan, hash),
        Err(NotLoaded::Broken(why)) => Found::Broken(printable(&why)),
        Err(NotLoaded::Unbound(why)) => Found::Unbound(printable(&why)),
    }
}

thread_local! {
    /// The places that this thread has locked. Gone where destructors of the thread's own values run, which may call in
    /// from C: there a compilation inside of its own closure waits until its time is over.
    static HELD: RefCell<Vec<PathBuf>> = const { RefCell::new(Vec::new()) };
}

/// Names a place that this thread has locked until it is dropped.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    /// It belongs to its thread.
    _here: PhantomData<*const ()>,
}

impl Held {
    fn new(path: PathBuf) -> Self {
        let _ = HELD.try_with(|held| held.borrow_mut().push(path.clone()));
        Self { path, _here: PhantomData }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = HELD.try_with(|held| held.borrow_mut().retain(|path| *path != self.path));
    }
}

/// A place that nobody else changes now.
#[derive(Debug)]
pub(super) struct Locked {
    folder: Folder,
    /// That of the place.
    hash: String,
    /// Why nothing was stored by the one that this one has waited for.
    pub(super) word: Option<String>,
    _held: Held,
    lock: Lock,
}

impl Locked {
    /// Tells those who wait that nothing will be stored.
    pub(super) fn leave_word(&self, why: &str) {
        self.lock.leave_word(why);
    }

    /// That this process may change the files here, and that they are a cache's.
    fn check_own(&self) -> Result<(), String> {
        match self.lock.is_own() {
            true => removal::check(&self.folder, &self.hash),
            false => Err("this process was forked from the one that has the lock".to_owned()),
        }
    }

    /// Removes the files that we have written here, and no others.
    pub(super) fn clear(&self) -> Result<(), String> {
        self.check_own()?;
        for name in [RECIPE, META] {
            match self.folder.remove(name) {
                Ok(()) | Err(Trouble::Absent) => {}
                Err(Trouble::Refused(why)) => return Err(why),
            }
        }
        self.folder.remove_temporaries(&[RECIPE, META]);
        step("entry", "cleared");
        Ok(())
    }

    /// The readable file first: a plan that is there always has one.
    pub(super) fn save(&self, meta: &str, recipe: &[u8]) -> Result<(), String> {
        self.check_own()?;
        self.folder.remove_temporaries(&[RECIPE, META]);
        let says = |trouble| match trouble {
            Trouble::Absent => format!("{} is gone", shown(self.folder.path())),
            Trouble::Refused(why) => why,
        };
        self.folder.write(META, meta.as_bytes()).map_err(says)?;
        self.folder.write(RECIPE, recipe).map_err(says)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_entries_are_known_by_their_names() {
        let hash = "0123456789abcdef0123456789abcdef";
        assert_eq!(split_entry_folder(&format!("Model_x_dynamic_{hash}")), Some("Model_x"));
        assert_eq!(split_entry_folder(&format!("ab_static_{hash}")), Some("ab"));
        for other in ["notes", "a_static_", "a_static_xyz", &format!("static_{hash}"), &format!("_static_{hash}")] {
            assert_eq!(split_entry_folder(other), None, "{other}");
        }
    }
}
