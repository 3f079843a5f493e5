//! Plans for the compile cache: to bytes and back, the code that they need by name, and where two of them differ. Uses
//! checked plans; the cache uses it.

use crate::error::{Error, ErrorKind, Result};
use crate::plan::recipe::callable::Callable as _;

use super::Plan;
use super::recipe::function::{self, Body, Foreign, HostFunction};
use super::recipe::{FunctionInfo, FunctionKind, Recipe};
use super::symbols::effort::within;

mod codec;
mod derived;
mod difference;
mod registry;

pub use registry::Registry;

/// Why bytes give no plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotLoaded {
    /// The bytes are none of a plan, or of one that cannot run.
    Broken(String),
    /// Code that the plan needs is not there.
    Unbound(String),
}

/// Why a plan is not loaded that is valid as far as it was looked at.
const TOO_LONG: &str = "checking it takes too long for its size";
/// Steps of the checks: for any file, and for each of its bytes. Usual plans take a few a byte.
const STEPS: u64 = 1 << 24;
const STEPS_A_BYTE: u64 = 1 << 7;

pub(super) fn most_steps(bytes: &[u8]) -> u64 {
    STEPS + STEPS_A_BYTE * bytes.len() as u64
}

/// Where a stored plan gets the code of its functions from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Code<'a> {
    Registered(&'a Registry),
    /// Nowhere: functions that do nothing, for who looks at a plan and does not run it.
    None,
}

impl Code<'_> {
    fn bodies(self, recipe: &Recipe) -> Result<Vec<Body>, NotLoaded> {
        match self {
            Self::Registered(registry) => {
                registry.bodies(recipe).map_err(|error| NotLoaded::Unbound(error.to_string()))
            }
            Self::None => {
                let body = |function: &FunctionInfo| match function.kind() {
                    FunctionKind::Foreign => Ok(function::Code::Foreign(Foreign::new("", 0, |_| Ok(())).body).into()),
                    FunctionKind::Host => Ok(function::Code::Host(HostFunction::new("", 0, |_| {}).body).into()),
                    FunctionKind::Operator => registry::operator(function),
                };
                let bodies: Result<Vec<_>, _> = recipe.functions.iter().map(body).collect();
                bodies.map_err(|error| NotLoaded::Unbound(error.to_string()))
            }
        }
    }
}

impl Plan {
    /// The plan as bytes, for [`Plan::load`] in another process. A
    /// [`CompileCache`](crate::cache::CompileCache) does this with the files and the keys as well.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`] for a plan with a closure without a name, which nothing can find again.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Registry};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     g.output("y", g.abs(x)?)
    /// })?;
    /// let bytes = plan.store()?;
    /// assert_eq!(Plan::load(&bytes, &Registry::new())?.to_text(), plan.to_text());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn store(&self) -> Result<Vec<u8>> {
        match self.unnamed() {
            None => Ok(self.to_bytes()),
            Some(why) => Err(Error::new(ErrorKind::InvalidPlan, why)),
        }
    }

    /// A plan of [`Plan::store`]'s bytes, which may come from anywhere: it is checked as one from a builder is. Its
    /// foreign operators and host functions are those of the registry.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`] for bytes that are no plan, or one of another version of the format;
    /// [`ErrorKind::InvalidPlan`] when the registry does not have the code that it needs, in its version.
    pub fn load(bytes: &[u8], registry: &Registry) -> Result<Self> {
        registry.check()?;
        Self::from_bytes(bytes, Code::Registered(registry)).map(|(plan, _)| plan).map_err(|error| match error {
            NotLoaded::Broken(why) => Error::new(ErrorKind::File, format!("a stored plan: {why}")),
            NotLoaded::Unbound(why) => Error::new(ErrorKind::InvalidPlan, why),
        })
    }

    pub(crate) fn recipe(&self) -> &Recipe {
        &self.0.recorded.recipe
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        codec::encode(self.recipe(), &self.0.lints)
    }

    /// That the code of all functions is there, also of the plans that this one calls.
    pub(crate) fn check_registered(&self, registry: &Registry) -> Result<(), String> {
        let callees = codec::callees(self.recipe());
        let mut recipes = callees.iter().map(|callee| callee.0.recorded()).chain([self.recipe()]);
        recipes.try_for_each(|recipe| registry.bodies(recipe).map(drop)).map_err(|why| why.to_string())
    }

    /// The one way from bytes to a plan; with its hash.
    pub(crate) fn from_bytes(bytes: &[u8], code: Code<'_>) -> Result<(Self, [u8; 32]), NotLoaded> {
        let broken = |why: String| NotLoaded::Broken(why);
        let load = || {
            let (decoded, hash) = codec::decode_hashed(bytes).map_err(|error| broken(error.to_string()))?;
            let plan = Self::link(decoded, |recipe| code.bodies(recipe), |error| broken(error.to_string()))?;
            Ok((plan, hash))
        };
        within(most_steps(bytes), load).unwrap_or_else(|| Err(broken(TOO_LONG.to_owned())))
    }

    pub(crate) fn recipe_hash(&self) -> [u8; 32] {
        codec::recipe_hash(self.recipe())
    }

    /// The first thing in which another plan differs from this one: an operator, an event, a stream, the order of
    /// the work, the places in memory for the least and the greatest symbols.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.recipe().called.is_empty() != other.recipe().called.is_empty() {
            return Some("one plan calls what the other does itself".to_owned());
        }
        let called = || "the plans call others in other ways".to_owned();
        difference::first_difference(&self.0.recipe, &other.0.recipe)
            .or_else(|| (self.recipe_hash() != other.recipe_hash()).then(called))
            .or_else(|| derived::order_difference(&self.0.recipe, &self.0.order, &other.0.order))
            .or_else(|| {
                let bounds = self.0.recipe.bounds();
                let ends: [Vec<usize>; 2] = [
                    bounds.iter().map(|(least, _)| *least as usize).collect(),
                    bounds.iter().map(|(_, greatest)| *greatest as usize).collect(),
                ];
                let memory = |plan: &Self, symbols: &[usize]| plan.specialise(symbols).ok().map(|(_, memory)| memory);
                ends.iter().find_map(|ends| derived::memory_difference(memory(self, ends), memory(other, ends)))
            })
    }

    /// A function without a name, which no file can hold.
    pub(crate) fn unnamed(&self) -> Option<String> {
        let lint = self.0.lints.iter().find(|lint| lint.kind == super::FindingKind::Unnamed);
        self.0
            .facts()
            .unnamed
            .then(|| lint.map_or_else(|| "a closure has no name".to_owned(), |lint| lint.message.clone()))
    }
}

// What can be said of a stored plan whose order may be wrong.
impl Plan {
    /// The text form, with source lines.
    pub(crate) fn text_of_bytes(bytes: &[u8]) -> Result<String, String> {
        let decoded = within(most_steps(bytes), || codec::decode_hashed(bytes)).ok_or(TOO_LONG)?;
        let (decoded, _) = decoded.map_err(|error| error.to_string())?;
        if decoded.callees.is_empty() {
            // Those that this version does not know have no parameters with names.
            let bodies = Code::None.bodies(&decoded.recipe).unwrap_or_default();
            return Ok(super::dump::text_of(&decoded.recipe, &bodies));
        }
        // What calls are needs an order, to be written out in.
        match Self::from_bytes(bytes, Code::None) {
            Ok((plan, _)) => Ok(super::dump::text_of(&plan.0.recipe, &plan.0.bodies)),
            Err(NotLoaded::Broken(why) | NotLoaded::Unbound(why)) => Err(why),
        }
    }
}
