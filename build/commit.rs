//! The commit of a checkout, read from the files of git: no command, and nothing but the folder, so that it can be
//! tested.

use std::fs;
use std::path::{Path, PathBuf};

/// What a folder has checked out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// The commit in hexadecimal, where the folder is the top of a checkout that tells it.
    pub(crate) commit: Option<String>,
    /// What changes when another commit is checked out or made; all of it exists, since cargo takes what does not as
    /// changed each time.
    pub(crate) watched: Vec<PathBuf>,
}

/// References that name references which are followed.
const MOST_LINKS: usize = 5;

/// Looks at `root` itself and at no folder above it: a crate that lies in somebody else's repository has not its
/// commit.
pub(crate) fn of(root: &Path) -> Checkout {
    let mut found = Checkout::default();
    if let Some(folders) = Folders::of(root) {
        found.commit = folders.resolve("HEAD", &mut found.watched);
    }
    found.watched.retain(|path| path.exists());
    found
}

/// Where git keeps the references of a checkout.
struct Folders {
    /// Of this worktree.
    own: PathBuf,
    /// Of the repository; the same where there is one worktree.
    common: PathBuf,
}

impl Folders {
    fn of(root: &Path) -> Option<Self> {
        let dot = root.join(".git");
        let own = if dot.is_dir() {
            dot
        } else {
            // Of a worktree or a submodule.
            root.join(fs::read_to_string(dot).ok()?.strip_prefix("gitdir:")?.trim())
        };
        let common = fs::read_to_string(own.join("commondir")).map_or_else(|_| own.clone(), |to| own.join(to.trim()));
        Some(Self { own, common })
    }

    /// The commit that a reference names in the end; notes where that may change.
    fn resolve(&self, name: &str, watched: &mut Vec<PathBuf>) -> Option<String> {
        let mut name = name.to_owned();
        for _ in 0..MOST_LINKS {
            let text = self.text(&name, watched)?;
            match text.trim().strip_prefix("ref:") {
                Some(next) => name = next.trim().to_owned(),
                None => return commit(text.trim()),
            }
        }
        None
    }

    fn text(&self, name: &str, watched: &mut Vec<PathBuf>) -> Option<String> {
        let is_plain = name == "HEAD" || name.starts_with("refs/");
        if !is_plain || name.split('/').any(|part| part == "..") {
            return None;
        }
        let files = [self.own.join(name), self.common.join(name)];
        if let Some((text, file)) = files.iter().find_map(|file| Some((fs::read_to_string(file).ok()?, file))) {
            watched.push(file.clone());
            return Some(text);
        }
        // The next commit puts a file into the folder.
        watched.extend(files[1].ancestors().skip(1).find(|folder| folder.exists()).map(Path::to_owned));
        let packed = self.common.join("packed-refs");
        let found = fs::read_to_string(&packed).ok()?.lines().find_map(|line| {
            let (commit, packed_name) = line.split_once(' ')?;
            (packed_name.trim() == name).then(|| commit.to_owned())
        });
        watched.push(packed);
        found
    }
}

/// SHA-1, or SHA-256.
fn commit(text: &str) -> Option<String> {
    let is_one = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| text.to_owned())
}
