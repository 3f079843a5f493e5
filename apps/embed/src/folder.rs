//! Where the model is.

use std::env;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder that `fetch-model.sh` fills: `$RACL_MODEL_DIR`, else `racl/all-MiniLM-L6-v2` in the user's cache
/// folder. None when neither is known.
#[must_use]
pub fn default_folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("RACL_MODEL_DIR").or_else(|| {
        let cache = set("XDG_CACHE_HOME").or_else(|| set("HOME").map(|home| home.join(".cache")));
        cache.map(|cache| cache.join("racl").join("all-MiniLM-L6-v2"))
    })
}

/// The path of a file of the model, which must be there.
pub(crate) fn file(folder: &Path, name: &'static str) -> Result<PathBuf> {
    let path = folder.join(name);
    if path.is_file() {
        return Ok(path);
    }
    Err(Error::NoModel { folder: folder.to_owned(), file: name })
}
