//! Which file a function of this process was loaded from.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The files that the memory of this process is mapped from, as they are when this is read.
///
/// ```
/// use acl_sys::CodeFiles;
///
/// fn here() {}
/// let files = CodeFiles::read()?;
/// assert_eq!(files.of(here as fn() as usize), Some(std::env::current_exe()?.as_path()));
/// assert_eq!(files.of(0), None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeFiles(Vec<(Range<usize>, PathBuf)>);

impl CodeFiles {
    /// Reads the list of the kernel, which takes well under a millisecond for a few hundred mappings.
    ///
    /// # Errors
    ///
    /// That of reading `/proc/self/maps`, such as on a system without `/proc`.
    pub fn read() -> io::Result<Self> {
        Ok(Self::parse(&fs::read("/proc/self/maps")?))
    }

    fn parse(maps: &[u8]) -> Self {
        Self(maps.split(|byte| *byte == b'\n').filter_map(mapping).collect())
    }

    /// The file with the code at `address`, without links in its path. A file that was deleted or replaced meanwhile
    /// has ` (deleted)` behind its name. `None` for an address that comes from no file.
    #[must_use]
    pub fn of(&self, address: usize) -> Option<&Path> {
        self.0.iter().find(|(range, _)| range.contains(&address)).map(|(_, path)| path.as_path())
    }

    /// How far behind the start of the file's first mapping an address is: the same in every process that has the file
    /// loaded, wherever that is.
    #[must_use]
    pub fn offset(&self, address: usize) -> Option<usize> {
        let path = self.of(address)?;
        let starts = self.0.iter().filter(|(_, known)| known == path).map(|(range, _)| range.start);
        Some(address - starts.filter(|start| *start <= address).min()?)
    }
}

/// `from-to permissions offset device inode   /path`, numbers in hexadecimal.
fn mapping(line: &[u8]) -> Option<(Range<usize>, PathBuf)> {
    let path = &line[line.iter().position(|byte| *byte == b'/')?..];
    let range = str::from_utf8(line.split(|byte| *byte == b' ').next()?).ok()?;
    let (from, to) = range.split_once('-')?;
    let bound = |text| usize::from_str_radix(text, 16).ok();
    Some((bound(from)?..bound(to)?, PathBuf::from(OsStr::from_bytes(path))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_hold_any_byte_and_other_lines_are_left_out() {
        let maps = b"1000-2000 r-xp 00000000 08:01 17    /a b/\xff.so (deleted)\n\
            2000-3000 rw-p 00000000 00:00 0      [heap]\n\
            3000-4000 rw-p 00000000 00:00 0\n\
            nonsense /x\n\
            5000-6000 r-xp 00000000 08:01 18     /lib/c.so\n";
        let files = CodeFiles::parse(maps);
        let first = Path::new(OsStr::from_bytes(b"/a b/\xff.so (deleted)"));
        assert_eq!(files.of(0x1000), Some(first));
        assert_eq!(files.of(0x1fff), Some(first));
        assert_eq!(files.of(0x2000), None);
        assert_eq!(files.of(0x3000), None);
        assert_eq!(files.of(0x5fff), Some(Path::new("/lib/c.so")));
        assert_eq!((files.offset(0x5010), files.offset(0x2000)), (Some(0x10), None));
    }
}
