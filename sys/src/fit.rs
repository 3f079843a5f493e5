//! The release that a library looks like, by the functions it has.

use crate::symbols::{Library, Release, SymbolInfo};
use crate::table::Table;

/// The releases that the functions of a library look like, from [`Table::fit`].
///
/// It is a guess from names, for finding out what is wrong with an installation: a library may have a function before
/// its headers declare it. The version file of the toolkit ([`Toolkit`](crate::Toolkit)) says which release was
/// installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The oldest release that it looks like.
    pub oldest: Release,
    /// The newest one, another than the oldest where the runtime of both has the same functions (CANN 8.1 and 8.2).
    pub newest: Release,
    /// Functions that the headers of `oldest` declare and the library does not have, sorted by name.
    pub missing: Vec<SymbolInfo>,
    /// Functions that came after `newest` and the library has, sorted by name.
    pub newer: Vec<SymbolInfo>,
}

impl Fit {
    /// The newest release of whose functions the library lacks less than one in ten: of those that came with it, and
    /// of all. Only the runtime's count, which every installation has.
    fn of(has: &dyn Fn(&SymbolInfo) -> bool) -> Option<Self> {
        let runtime = || SymbolInfo::all().filter(|symbol| symbol.library == Library::Runtime);
        let most = |of: &dyn Fn(&SymbolInfo) -> bool| {
            let declared: Vec<_> = runtime().filter(|symbol| of(symbol)).collect();
            let missing = declared.iter().filter(|symbol| !has(symbol)).count();
            missing * 10 <= declared.len()
        };
        let adds = |release| runtime().any(|symbol| symbol.first() == Some(release));
        let fits = |release: Release| {
            adds(release) && most(&|symbol| symbol.first() == Some(release)) && most(&|symbol| symbol.is_in(release))
        };
        let oldest = Release::ALL.into_iter().rev().find(|release| fits(*release))?;
        let newest =
            Release::ALL.into_iter().filter(|release| *release > oldest).take_while(|release| !adds(*release));
        let newest = newest.last().unwrap_or(oldest);
        let chosen =
            |choose: &dyn Fn(&SymbolInfo) -> bool| SymbolInfo::all().filter(|symbol| choose(symbol)).collect();
        Some(Self {
            oldest,
            newest,
            missing: chosen(&|symbol| symbol.is_expected_in(oldest) && !has(symbol)),
            newer: chosen(&|symbol| symbol.first().is_some_and(|first| first > newest) && has(symbol)),
        })
    }
}

impl SymbolInfo {
    /// Whether `release` has it, as far as its headers tell. The operators were read at both ends only: one that is
    /// there at both is there in between.
    #[must_use]
    pub fn is_expected_in(&self, release: Release) -> bool {
        match (self.library, release) {
            (Library::Operators, Release::Cann8_1 | Release::Development) => self.is_in(release),
            (Library::Operators, _) => self.is_in(Release::Cann8_1) && self.is_in(Release::Development),
            _ => self.is_in(release),
        }
    }
}

impl Table {
    /// The releases that the library looks like, and how it differs from them; `None` when it lacks too much of each.
    ///
    /// Looks up every function of the interface, so it opens the libraries of all families and takes as long as they
    /// take.
    ///
    /// ```
    /// # #[cfg(feature = "mock")] {
    /// use acl_sys::{Release, Table};
    ///
    /// let fit = Table::mock().fit().unwrap(); // has the functions of every release
    /// assert_eq!(fit.oldest, Release::Development);
    /// assert!(fit.missing.is_empty() && fit.newer.is_empty());
    /// # }
    /// ```
    #[must_use]
    pub fn fit(&self) -> Option<Fit> {
        Fit::of(&|symbol| self.has(symbol.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_of_a_release_fit_that_release() {
        for release in Release::ALL {
            let fit = Fit::of(&|symbol| symbol.is_expected_in(release)).unwrap();
            assert!((fit.oldest..=fit.newest).contains(&release), "{release}: {fit:?}");
            // Those of the runtime are the same; the operators of 8.2 are known less well than those of 8.1.
            assert!(fit.missing.iter().all(|symbol| symbol.library == Library::Operators), "{release}: {fit:?}");
            assert!(fit.newer.is_empty(), "{release}: {fit:?}");
        }
        let old = Fit::of(&|symbol| symbol.is_in(Release::Cann8_1)).unwrap();
        assert_eq!((old.oldest, old.newest, old.missing), (Release::Cann8_1, Release::Cann8_2, Vec::new()));
    }

    #[test]
    fn single_functions_that_are_missing_or_newer_are_named() {
        let fit = Fit::of(&|symbol| {
            symbol.name == "aclmdlRIUpdate" || symbol.is_in(Release::Cann8_3) && symbol.name != "aclrtCmoAsync"
        });
        let fit = fit.unwrap();
        assert_eq!(fit.oldest, Release::Cann8_3);
        let runtime: Vec<_> = fit.missing.iter().filter(|symbol| symbol.library == Library::Runtime).collect();
        assert_eq!(runtime.iter().map(|symbol| symbol.name).collect::<Vec<_>>(), ["aclrtCmoAsync"]);
        assert_eq!(fit.newer.iter().map(|symbol| symbol.name).collect::<Vec<_>>(), ["aclmdlRIUpdate"]);
    }

    #[test]
    fn a_library_with_hardly_anything_fits_nothing() {
        assert_eq!(Fit::of(&|symbol| symbol.name == "aclInit"), None);
        assert_eq!(Fit::of(&|symbol| symbol.library != Library::Runtime), None);
    }
}
