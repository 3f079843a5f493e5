//! Search for an installed toolkit: a pure function over candidates and a file test, so that it can be tested.

use std::fmt;
use std::path::{Path, PathBuf};

/// Where the headers and the library of one installation are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolkit {
    /// Folder that holds the two below.
    pub(crate) root: PathBuf,
    /// Folder with `acl/acl.h`.
    pub(crate) include: PathBuf,
    /// Folder with `libascendcl.so`.
    pub(crate) lib: PathBuf,
}

/// What to look at, best first.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// Explicit header folder.
    pub(crate) include_dir: Option<PathBuf>,
    /// Explicit library folder.
    pub(crate) lib_dir: Option<PathBuf>,
    /// Roots of toolkits, with the reason each is looked at.
    pub(crate) roots: Vec<(String, PathBuf)>,
}

/// Every place that was looked at and what was missing there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotFound(pub(crate) Vec<String>);

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "no AscendCL toolkit found; looked at:")?;
        for place in &self.0 {
            writeln!(f, "  {place}")?;
        }
        write!(f, "install CANN, or set ASCEND_TOOLKIT_HOME, or set ACL_SYS_INCLUDE_DIR and ACL_SYS_LIB_DIR")
    }
}

const HEADER: &str = "acl/acl.h";
const LIBRARIES: [&str; 2] = ["libascendcl.so", "libacl_rt.so"];

/// The first candidate that has both a header and a library.
pub(crate) fn find(candidates: &Candidates, exists: &dyn Fn(&Path) -> bool) -> Result<Toolkit, NotFound> {
    let mut tried = Vec::new();
    if let (Some(include), Some(lib)) = (&candidates.include_dir, &candidates.lib_dir) {
        let toolkit = Toolkit { root: include.join(".."), include: include.clone(), lib: lib.clone() };
        match check(&toolkit, exists) {
            None => return Ok(toolkit),
            Some(missing) => tried.push(format!("ACL_SYS_INCLUDE_DIR and ACL_SYS_LIB_DIR: no {missing}")),
        }
    }
    for (why, root) in &candidates.roots {
        let mut missing = String::new();
        for lib in ["lib64", "lib"] {
            let toolkit = Toolkit {
                root: root.clone(),
                include: candidates.include_dir.clone().unwrap_or_else(|| root.join("include")),
                lib: candidates.lib_dir.clone().unwrap_or_else(|| root.join(lib)),
            };
            match check(&toolkit, exists) {
                None => return Ok(toolkit),
                Some(what) if missing.is_empty() => missing = what,
                Some(_) => {}
            }
        }
        tried.push(format!("{} ({why}): no {missing}", root.display()));
    }
    Err(NotFound(tried))
}

/// The toolkit's version as its `version.cfg` says it, or nothing.
pub(crate) fn version(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> String {
    let text = read(&root.join("version.cfg")).unwrap_or_default();
    crate::version::in_text(&text).unwrap_or_default().to_owned()
}

fn check(toolkit: &Toolkit, exists: &dyn Fn(&Path) -> bool) -> Option<String> {
    let header = toolkit.include.join(HEADER);
    if !exists(&header) {
        return Some(header.display().to_string());
    }
    let found = LIBRARIES.iter().any(|name| exists(&toolkit.lib.join(name)));
    (!found).then(|| toolkit.lib.join(LIBRARIES[0]).display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(names: &[&str]) -> Candidates {
        let roots = names.iter().map(|n| ("test".to_owned(), PathBuf::from(n))).collect();
        Candidates { roots, ..Candidates::default() }
    }

    fn files<'a>(names: &'a [&'a str]) -> impl Fn(&Path) -> bool + 'a {
        move |path| names.iter().any(|name| Path::new(name) == path)
    }

    #[test]
    fn a_candidate_counts_only_with_header_and_library() {
        let exists = files(&["/a/include/acl/acl.h", "/b/include/acl/acl.h", "/b/lib64/libascendcl.so"]);
        let found = find(&roots(&["/a", "/b"]), &exists).unwrap();
        assert_eq!(found.root, Path::new("/b"));
    }

    #[test]
    fn the_first_complete_candidate_wins() {
        let exists = files(&[
            "/a/include/acl/acl.h",
            "/a/lib/libacl_rt.so",
            "/b/include/acl/acl.h",
            "/b/lib64/libascendcl.so",
        ]);
        assert_eq!(find(&roots(&["/a", "/b"]), &exists).unwrap().lib, Path::new("/a/lib"));
    }

    #[test]
    fn explicit_folders_outrank_roots() {
        let exists = files(&["/i/acl/acl.h", "/l/libascendcl.so", "/a/include/acl/acl.h", "/a/lib64/libascendcl.so"]);
        let candidates = Candidates { include_dir: Some("/i".into()), lib_dir: Some("/l".into()), ..roots(&["/a"]) };
        assert_eq!(find(&candidates, &exists).unwrap().include, Path::new("/i"));
    }

    #[test]
    fn the_version_is_read_where_a_toolkit_says_it() {
        let of = |text: &str| {
            version(Path::new("/t"), &|path| (path == Path::new("/t/version.cfg")).then(|| text.to_owned()))
        };
        assert_eq!(of("# comment\ntoolkit_running_version=[8.1.RC1:/x/y]\n"), "8.1.RC1");
        assert_eq!(of("runtime_running_version=[9.1.0:mock-acl]\nVersion=9.1.0\n"), "9.1.0");
        assert_eq!(of(""), "");
    }

    #[test]
    fn a_failure_names_every_place_and_the_variables() {
        let text = find(&roots(&["/a", "/b"]), &|_| false).unwrap_err().to_string();
        for part in ["/a", "/b", "ASCEND_TOOLKIT_HOME", "ACL_SYS_INCLUDE_DIR"] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
    }
}
