//! What this crate was built from.

use std::fmt;

/// What this crate was built from, for reports of errors; see [`BUILD`].
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Version of this crate.
    pub version: &'static str,
    /// The commit in hexadecimal, when the crate was built in its own checkout; changes that are not committed do not
    /// show. `None` for a copy without a repository, in somebody else's, or in one that keeps its references in no
    /// files (reftable); a repository that is made around a copy shows at the next build for another reason.
    pub commit: Option<&'static str>,
    /// Features that are on, by their names, without `default`.
    pub features: &'static [&'static str],
    /// The release of the headers that the bindings come from: of those that are committed as
    /// [`sys::Release`](crate::sys::Release) shows it, of those that `bindgen` made the version of the toolkit, such
    /// as `CANN 9.1.0`, or `unknown` when it tells none.
    pub headers: &'static str,
    /// Version of the toolkit that was there when this crate was built, if there was one that tells it. The library
    /// may be another when the program runs: [`Acl::package_version`](crate::Acl::package_version) asks it.
    pub toolkit: Option<&'static str>,
}

/// What this crate was built from: its version, the commit, its features, and the release of the headers.
///
/// It prints as one line, for reports. The key of a [compile cache](crate::cache) has everything of it that a plan may
/// depend on.
///
/// # Examples
///
/// ```
/// println!("{}", racl::BUILD);
/// assert!(racl::BUILD.features.contains(&"mock"));
/// ```
pub static BUILD: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    commit: told(env!("RACL_BUILD_COMMIT")),
    features: FEATURES,
    headers: env!("RACL_BUILD_HEADERS"),
    toolkit: told(env!("RACL_BUILD_TOOLKIT")),
};

const fn told(text: &'static str) -> Option<&'static str> {
    if text.is_empty() { None } else { Some(text) }
}

macro_rules! features {
    ($($name:tt),*) => {
        const FEATURES: &[&str] = &[$(#[cfg(feature = $name)] $name),*];
        #[cfg(test)]
        const KNOWN: &[&str] = &[$($name),*];
    };
}

features!("bindgen", "cache", "dlopen", "dlpack", "link", "mock", "ndarray");

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, commit, features, headers, toolkit } = self;
        write!(f, "racl {version} (commit {}; features {}", commit.unwrap_or("unknown"), features.join(", "))?;
        write!(f, "; headers of {headers}; toolkit {})", toolkit.unwrap_or("none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_of_the_manifest_is_told() {
        let manifest = include_str!("../Cargo.toml");
        let (_, features) = manifest.split_once("\n[features]\n").unwrap();
        let lines = features.lines().take_while(|line| !line.starts_with('['));
        let names = lines.filter_map(|line| Some(line.split_once(" = ")?.0)).filter(|name| *name != "default");
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        assert_eq!(names, KNOWN);
    }

    #[test]
    fn what_is_not_known_is_said() {
        let build =
            Build { version: "1.2.3", commit: None, features: &["a", "b"], headers: "CANN 9.0", toolkit: None };
        assert_eq!(
            build.to_string(),
            "racl 1.2.3 (commit unknown; features a, b; headers of CANN 9.0; toolkit none)"
        );
        let build = Build { commit: Some("12ab"), toolkit: Some("9.1.0"), ..build };
        assert_eq!(build.to_string(), "racl 1.2.3 (commit 12ab; features a, b; headers of CANN 9.0; toolkit 9.1.0)");
    }
}
