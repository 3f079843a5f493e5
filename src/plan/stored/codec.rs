//! Plans as bytes: the format of stored plans, and the checks that make bytes from anywhere safe to use. Part of the
//! feature `cache`.
//!
//! A stored plan is a header (magic bytes, format version, length), the recipes of the plans that it calls and its own,
//! the parts of each a count and their entries, the places in the caller's source, the lints, and a hash of all of it. Decoding takes any bytes: what it
//! gives has passed [`validate`], and [`Plan::from_decoded`] checks it as it does what a builder made.
//!
//! That any bytes are safe is tried by a fuzz test: it changes stored plans, their bytes (sealed with a right
//! checksum again, else nothing gets past it) and what they say, and asserts that each is refused with a reason or is
//! as good as a plan from a builder. A sample is part of the tests;
//!
//! ```sh
//! RACL_FUZZ_COUNT=10000000 cargo test --profile fuzz --lib fuzz_stored_plans -- --ignored --nocapture
//! ```
//!
//! tries as many as it is told to and prints their number, the seed, the time and the rate. `RACL_FUZZ_SEED` sets the
//! seed of the first one; each input depends on its own seed only, which a failure prints.

use crate::error::{Error, ErrorKind, Result};
use crate::plan::Plan;
use crate::plan::builder::options::Options;
use crate::plan::builder::{Builder, Built};
use crate::plan::check::finding::Finding;
use crate::plan::recipe::function::{Body, Code};
use crate::plan::recipe::{FunctionInfo, FunctionKind, Recipe};

mod error;
mod joined;
mod linked;
mod lints;
mod read;
#[cfg(test)]
mod tests;
mod validate;
mod write;

pub(crate) use error::DecodeError;
pub(crate) use linked::callees;
pub(crate) use validate::validate;

use read::Reader;
use write::Writer;

const MAGIC: [u8; 8] = *b"raclplan";
/// Changes with every change of the format.
pub(crate) const VERSION: u16 = 11;
/// Magic bytes, version and the length of the whole.
const HEADER: usize = 8 + 2 + 8;
const HASH: usize = blake3::OUT_LEN;

/// What a stored plan holds. Valid by itself; its order is checked by [`Plan::from_decoded`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decoded {
    /// Plans that are called, each before those that call it.
    pub(crate) callees: Vec<Unlinked>,
    pub(crate) recipe: Recipe,
    /// Which of them the recipe calls.
    pub(crate) called: Vec<u32>,
    pub(crate) lints: Vec<Finding>,
}

/// A recipe without the plans that it calls, and which they are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unlinked {
    pub(crate) recipe: Recipe,
    pub(crate) called: Vec<u32>,
}

/// The bytes of a stored plan.
pub(crate) fn encode(recipe: &Recipe, lints: &[Finding]) -> Vec<u8> {
    let mut writer = Writer(vec![0; HEADER]);
    let callees = linked::callees(recipe);
    writer.all(&callees, recipe);
    callees.iter().for_each(|callee| writer.places(callee.0.recorded()));
    writer.places(recipe);
    writer.lints(lints);
    let mut bytes = writer.0;
    seal(&mut bytes);
    bytes
}

/// Writes the header over the first bytes and the hash behind the last.
fn seal(bytes: &mut Vec<u8>) {
    let length = (bytes.len() + HASH) as u64;
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..10].copy_from_slice(&VERSION.to_le_bytes());
    bytes[10..HEADER].copy_from_slice(&length.to_le_bytes());
    let hash = blake3::hash(bytes);
    bytes.extend_from_slice(hash.as_bytes());
}

/// The plan that `bytes` are.
#[cfg(test)]
pub(crate) fn decode(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    decode_hashed(bytes).map(|(decoded, _)| decoded)
}

/// The plan that `bytes` are, and its [`recipe_hash`], unless somebody wrote it another way than [`encode`] does.
pub(crate) fn decode_hashed(bytes: &[u8]) -> Result<(Decoded, [u8; HASH]), DecodeError> {
    let content = content(bytes)?;
    let mut reader = Reader(content);
    let (mut callees, Unlinked { mut recipe, called }) = reader.all()?;
    let hash = hash_of(&content[..content.len() - reader.0.len()]);
    callees.iter_mut().try_for_each(|callee| reader.places(&mut callee.recipe))?;
    reader.places(&mut recipe)?;
    let lints = reader.lints()?;
    if !reader.0.is_empty() {
        return Err(DecodeError::Trailing(reader.0.len()));
    }
    callees.iter().try_for_each(|callee| validate(&callee.recipe))?;
    validate(&recipe)?;
    lints.iter().enumerate().try_for_each(|(index, lint)| validate_lint(&recipe, index, lint))?;
    Ok((Decoded { callees, recipe, called, lints }, hash))
}

/// That it is a lint, of work that is there.
fn validate_lint(recipe: &Recipe, index: usize, lint: &Finding) -> Result<(), DecodeError> {
    let text = match lint.positions.iter().find(|position| **position as usize >= recipe.nodes.len()) {
        Some(position) => format!("at work {position}, of {}", recipe.nodes.len()),
        None if !lint.kind.is_lint() => format!("{:?}, which is none", lint.kind),
        None => return Ok(()),
    };
    Err(DecodeError::Invalid { part: error::Part::Lint, index, text })
}

/// What is between the header and the hash.
fn content(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let (Some((header, _)), Some((hashed, hash))) =
        (bytes.split_first_chunk::<HEADER>(), bytes.split_last_chunk::<HASH>())
    else {
        return Err(if bytes.starts_with(&MAGIC) { DecodeError::Short(bytes.len()) } else { DecodeError::Magic });
    };
    let [m0, m1, m2, m3, m4, m5, m6, m7, v0, v1, length @ ..] = *header;
    if [m0, m1, m2, m3, m4, m5, m6, m7] != MAGIC {
        return Err(DecodeError::Magic);
    }
    let version = u16::from_le_bytes([v0, v1]);
    if version != VERSION {
        return Err(DecodeError::Version(version));
    }
    let (expected, found) = (u64::from_le_bytes(length), bytes.len() as u64);
    if expected != found {
        return Err(DecodeError::Length { expected, found });
    }
    if blake3::hash(hashed) != *hash {
        return Err(DecodeError::Checksum);
    }
    hashed.get(HEADER..).ok_or(DecodeError::Short(bytes.len()))
}

/// A hash of everything but the places in the caller's source: the same in every process.
pub(crate) fn recipe_hash(recipe: &Recipe) -> [u8; HASH] {
    let mut writer = Writer(Vec::new());
    writer.all(&linked::callees(recipe), recipe);
    hash_of(&writer.0)
}

fn hash_of(recipe: &[u8]) -> [u8; HASH] {
    let mut hash = blake3::Hasher::new();
    hash.update(&MAGIC).update(&VERSION.to_le_bytes()).update(recipe);
    hash.finalize().into()
}

fn fits(info: &FunctionInfo, body: &Body) -> bool {
    match (info.kind(), body.code()) {
        (FunctionKind::Foreign, code) => matches!(code, Some(Code::Foreign(_))),
        (FunctionKind::Host, code) => matches!(code, Some(Code::Host(_))),
        (FunctionKind::Operator, _) => body.operator(info).is_some(),
    }
}

impl Plan {
    /// A plan from a file, with the code of its functions and the plans that it calls: checked like one from a
    /// builder.
    pub(crate) fn from_decoded(recipe: Recipe, lints: Vec<Finding>, bodies: Vec<Body>) -> Result<Self> {
        let complete = recipe.functions.len() == bodies.len()
            && recipe.functions.iter().zip(&bodies).all(|(info, body)| fits(info, body));
        if !complete {
            return Err(Error::new(ErrorKind::Internal, "a stored plan without the code of its functions"));
        }
        linked::check(&recipe)?;
        // For a number of its own.
        let Built { plan, .. } = Builder::new(Options::default()).finish()?;
        let plan = Self::of(Built { plan, recipe, bodies, lints })?;
        let recorded = &plan.0.recorded;
        match joined::open_tag(&recorded.recipe, &recorded.order) {
            None => Ok(plan),
            Some(tag) => {
                let name = &recorded.recipe.tags[usize::from(tag)].name;
                Err(Error::new(ErrorKind::InvalidPlan, format!("the work of stream {name:?} is joined by nothing")))
            }
        }
    }
}
