//! Folders and files of a cache: opened step by step without following links, checked before anything is believed.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::step;
use crate::lock::say;
use crate::sort;
use crate::text::shown;

/// Why something on disk cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It is not there.
    Absent,
    /// It is there, and not to be trusted or not to be reached. The text is a whole sentence with the path.
    Refused(String),
}

type Result<T> = std::result::Result<T, Trouble>;

/// An open folder that belongs to this user.
#[derive(Debug)]
pub(super) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// The root of a cache, made if asked for. A link is followed here only, and only one of this user's.
    pub(super) fn root(path: &Path, make: bool) -> Result<Self> {
        if make {
            make_all(path).map_err(|error| refused(path, error))?;
        }
        let link = fs::lstat(path).map_err(|error| trouble(path, error))?;
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if kind(&link) == FileType::Symlink {
            check_owner(path, &link)?;
        } else {
            flags |= OFlags::NOFOLLOW;
        }
        let fd = fs::open(path, flags, Mode::empty()).map_err(|error| trouble(path, error))?;
        Self::checked(fd, path.to_owned(), 0o022)
    }

    /// A folder in this one, made if asked for.
    pub(super) fn child(&self, name: &str, make: bool) -> Result<Self> {
        let path = self.path.join(name);
        if make {
            match fs::mkdirat(&self.fd, name, Mode::RWXU) {
                Ok(()) => {
                    // Whatever the user's mask is.
                    let opened = fs::chmodat(&self.fd, name, Mode::RWXU, AtFlags::empty());
                    opened.map_err(|error| trouble(&path, error))?;
                    // Some file systems cannot flush a folder.
                    let _ = fs::fsync(&self.fd);
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(trouble(&path, error)),
            }
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Self::checked(fd, path, 0o077),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                Err(refused(&path, "it is a symbolic link or no folder, and neither is used"))
            }
            Err(error) => Err(trouble(&path, error)),
        }
    }

    fn checked(fd: OwnedFd, path: PathBuf, not_for_others: u32) -> Result<Self> {
        let about = fs::fstat(&fd).map_err(|error| trouble(&path, error))?;
        check_owner(&path, &about)?;
        if about.st_mode & not_for_others != 0 {
            let mode = about.st_mode & 0o7777;
            let what = if not_for_others == 0o022 { "others can write to it" } else { "it is open to others" };
            return Err(refused(&path, format!("{what} (mode {mode:04o}); chmod 700 makes it usable")));
        }
        Ok(Self { fd, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// All that `read` takes from a file of this user's that nobody else can touch; it is given its size.
    pub(super) fn read<T>(&self, name: &str, read: impl FnOnce(&File, u64) -> io::Result<T>) -> Result<T> {
        let (file, size) = self.open_file(name)?;
        read(&file, size).map_err(|error| refused(&self.path.join(name), error))
    }

    /// As `read`, of a file of any mode that this user can read.
    pub(super) fn read_any_mode<T>(&self, name: &str, read: impl FnOnce(&File, u64) -> io::Result<T>) -> Result<T> {
        let (file, about) = self.open_own(name)?;
        read(&file, size(&about)).map_err(|error| refused(&self.path.join(name), error))
    }

    /// Size of a file that could be read.
    pub(super) fn size(&self, name: &str) -> Result<u64> {
        self.open_file(name).map(|(_, size)| size)
    }

    fn open_file(&self, name: &str) -> Result<(File, u64)> {
        let (file, about) = self.open_own(name)?;
        if about.st_mode & 0o7777 != 0o600 {
            let mode = about.st_mode & 0o7777;
            let path = self.path.join(name);
            return Err(refused(&path, format!("its mode is {mode:04o}, not 0600; chmod 600 makes it usable")));
        }
        Ok((file, size(&about)))
    }

    /// A regular file of this user's, not through a link.
    fn open_own(&self, name: &str) -> Result<(File, Stat)> {
        let path = self.path.join(name);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match fs::openat(&self.fd, name, flags, Mode::empty()) {
            Err(Errno::LOOP) => return Err(refused(&path, "it is a symbolic link, which is not followed")),
            other => other.map_err(|error| trouble(&path, error))?,
        };
        let about = fs::fstat(&fd).map_err(|error| trouble(&path, error))?;
        if kind(&about) != FileType::RegularFile {
            return Err(refused(&path, "it is no regular file"));
        }
        check_owner(&path, &about)?;
        Ok((File::from(fd), about))
    }

    /// Puts a file in place as a whole, or not at all. Only the holder of the lock may do so.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let temporary = format!(".{name}.{}.tmp", std::process::id());
        let path = self.path.join(&temporary);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = fs::openat(&self.fd, &*temporary, flags, Mode::RUSR | Mode::WUSR);
        let file = File::from(fd.map_err(|error| trouble(&path, error))?);
        let written = self.fill(file, name, &temporary, bytes);
        if written.is_err() {
            // Who writes next removes it otherwise.
            let _ = fs::unlinkat(&self.fd, &*temporary, AtFlags::empty());
        }
        written.map_err(|error| refused(&path, error))
    }

    fn fill(&self, mut file: File, name: &str, temporary: &str, bytes: &[u8]) -> io::Result<()> {
        step(name, "created");
        // Whatever the user's mask is.
        fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        file.write_all(first)?;
        step(name, "half written");
        file.write_all(rest)?;
        step(name, "written");
        file.sync_all()?;
        step(name, "flushed");
        fs::renameat(&self.fd, temporary, &self.fd, name)?;
        step(name, "renamed");
        match fs::fsync(&self.fd) {
            // Some file systems cannot flush a folder.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
        step(name, "settled");
        Ok(())
    }

    /// Removes a file of ours; one that is not there is no trouble.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        match fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(trouble(&self.path.join(name), error)),
        }
    }

    /// Removes what writers that died have left. Only the holder of the lock may do so.
    pub(super) fn remove_temporaries(&self, of: &[&str]) {
        for name in self.names().unwrap_or_default() {
            let is_ours = of.iter().any(|file| {
                let process = name.strip_prefix(&format!(".{file}.")).and_then(|rest| rest.strip_suffix(".tmp"));
                process.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
            });
            if is_ours
                && !self.has_folder_or_link(&name)
                && let Err(Trouble::Refused(why)) = self.remove(&name)
            {
                say!(Warn, "compile cache: a file that a dead process has left stays: {why}");
            }
        }
    }

    /// Removes a folder in this one if it is empty.
    pub(super) fn remove_empty(&self, name: &str) -> bool {
        fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR).is_ok()
    }

    /// What lies in the folder, sorted; names that are no text are left out.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let wrong = |error| trouble(&self.path, error);
        let mut names = Vec::new();
        for entry in fs::Dir::read_from(&self.fd).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            if let Ok(name) = entry.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                names.push(name.to_owned());
            }
        }
        sort::plain(&mut names);
        Ok(names)
    }

    /// Opens the lock file, made if need be.
    pub(super) fn open_lock(&self, name: &str) -> Result<OwnedFd> {
        let path = self.path.join(name);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR).map_err(|error| trouble(&path, error))?;
        let about = fs::fstat(&fd).map_err(|error| trouble(&path, error))?;
        check_owner(&path, &about)?;
        if kind(&about) != FileType::RegularFile {
            return Err(refused(&path, "it is no regular file"));
        }
        // Just made under the user's mask, or changed by hand: others could take it and keep it.
        if about.st_mode & 0o7777 != 0o600 {
            fs::fchmod(&fd, Mode::RUSR | Mode::WUSR).map_err(|error| trouble(&path, error))?;
        }
        Ok(fd)
    }

    /// When a thing in this folder was changed, be it one that can be used or not.
    pub(super) fn modified(&self, name: &str) -> Option<SystemTime> {
        let about = fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        UNIX_EPOCH.checked_add(Duration::from_secs(u64::try_from(about.st_mtime).ok()?))
    }

    /// Whether there is a folder or a link of a name.
    pub(super) fn has_folder_or_link(&self, name: &str) -> bool {
        let about = fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        about.is_ok_and(|about| matches!(kind(&about), FileType::Directory | FileType::Symlink))
    }

    /// Whether a name still stands for an open file.
    pub(super) fn is_still(&self, name: &str, fd: &OwnedFd) -> bool {
        let there = fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        let here = fs::fstat(fd.as_fd());
        there.is_ok_and(|there| here.is_ok_and(|here| (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)))
    }
}

/// Makes a folder and those above it that are missing, whatever the user's mask is.
fn make_all(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|path| path.metadata().is_err()).collect();
    for path in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => std::fs::set_permissions(path, Permissions::from_mode(0o700))?,
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn kind(about: &Stat) -> FileType {
    FileType::from_raw_mode(about.st_mode)
}

fn size(about: &Stat) -> u64 {
    u64::try_from(about.st_size).unwrap_or(0)
}

fn check_owner(path: &Path, about: &Stat) -> Result<()> {
    let me = geteuid().as_raw();
    if about.st_uid == me {
        return Ok(());
    }
    Err(refused(path, format!("it belongs to user {}, not to user {me}", about.st_uid)))
}

fn trouble(path: &Path, error: Errno) -> Trouble {
    match error {
        Errno::NOENT => Trouble::Absent,
        other => refused(path, other),
    }
}

pub(super) fn refused(path: &Path, why: impl std::fmt::Display) -> Trouble {
    Trouble::Refused(format!("{}: {why}", shown(path)))
}
