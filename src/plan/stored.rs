//! Plans for the compile cache: to bytes and back.

use crate::error::Result;

use super::Plan;
use super::builder::External;
use super::codec;
use super::recipe::Recipe;
use super::registry::Registry;
use super::symbols::unknown;

/// Why bytes give no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotLoaded {
    /// The bytes are none of a plan, or of one that cannot run.
    Broken(String),
    /// Code that the plan needs is not there.
    Unbound(String),
}

impl Plan {
    pub(crate) fn recipe(&self) -> &Recipe {
        &self.0.recipe
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        codec::encode(&self.0.recipe, &self.0.lints)
    }

    pub(crate) fn from_bytes(bytes: &[u8], registry: &Registry) -> Result<Self, NotLoaded> {
        let decoded = codec::decode(bytes).map_err(|error| NotLoaded::Broken(error.to_string()))?;
        let bodies = registry.bodies(&decoded.recipe).map_err(|error| NotLoaded::Unbound(error.to_string()))?;
        Self::from_decoded(decoded, bodies).map_err(|error| NotLoaded::Broken(error.to_string()))
    }

    pub(crate) fn recipe_hash(&self) -> [u8; 32] {
        codec::recipe_hash(&self.0.recipe)
    }

    /// The first thing in which another plan differs from this one.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        codec::first_difference(&self.0.recipe, &other.0.recipe)
    }

    /// A gate by its name: a plan from a cache was not built in this process, so nobody was given its gates.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a name that no gate has.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::plan::Plan;
    ///
    /// let plan = Plan::build(|g| g.external("ready").map(drop))?;
    /// assert!(plan.external("ready").is_ok() && plan.external("other").is_err());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn external(&self, name: &str) -> Result<External> {
        match self.0.recipe.externals.iter().position(|known| known == name) {
            Some(index) => Ok(External { plan: self.0.id, index: index as u32 }),
            None => Err(unknown("gate", name, self.0.recipe.externals.iter())),
        }
    }

    /// A function without a name, which no file can hold.
    pub(crate) fn unnamed(&self) -> Option<String> {
        let is_unnamed = self.0.recipe.functions.iter().any(|function| function.name.is_none());
        let lint = self.0.lints.iter().find(|lint| lint.kind == super::FindingKind::Unnamed);
        is_unnamed.then(|| lint.map_or_else(|| "a closure has no name".to_owned(), |lint| lint.message.clone()))
    }
}

// What can be said of a stored plan without the code of its functions.
impl Plan {
    /// Checks the bytes and gives the hash of their recipe.
    pub(crate) fn check_bytes(bytes: &[u8]) -> Result<[u8; 32], String> {
        let decoded = codec::decode(bytes).map_err(|error| error.to_string())?;
        Ok(codec::recipe_hash(&decoded.recipe))
    }

    /// The text form, with source lines.
    pub(crate) fn text_of_bytes(bytes: &[u8]) -> Result<String, String> {
        let decoded = codec::decode(bytes).map_err(|error| error.to_string())?;
        Ok(super::dump::text_of(&decoded.recipe))
    }
}
