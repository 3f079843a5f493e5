//! The code that stored plans find again by name.

use std::collections::HashMap;
use std::fmt;

use crate::error::{Error, Result};
use crate::op::Recorded;
use crate::plan::recipe::function::{Body, Code, Foreign, HostFunction};
use crate::plan::recipe::{Cores, FunctionInfo, FunctionKind, Recipe};
use crate::sort;

/// Foreign operators and host functions by kind, name and version: where a stored plan finds the code that it was
/// built with. Launches are given the attributes of the stored plan. Those of what is registered are part of the key
/// of a compile cache, as kind, name, version and needed cores are: a function that is registered otherwise is
/// another entry, and the log says so.
///
/// Two of one kind and name, and one without a name, are mistakes, which are reported where the registry is used.
///
/// Part of the feature `cache`.
///
/// # Examples
///
/// ```
/// use racl::plan::{Foreign, HostFunction, Registry};
///
/// let scale = Foreign::new("mine.scale", 1, |launch| {
///     assert_eq!(launch.attributes().len(), 4);
///     Ok(())
/// });
/// let log = HostFunction::new("mine.log", 3, |attributes| assert!(attributes.is_empty()));
/// let registry = Registry::new().foreign(&scale).host_function(&log);
/// assert_eq!(registry.len(), 2);
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    known: HashMap<(FunctionKind, Box<str>), (FunctionInfo, Body)>,
    first_mistake: Option<String>,
}

/// Why the code of a stored plan is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotFound {
    #[error("the stored plan needs {what} {name:?}, which is not registered")]
    Unknown { what: &'static str, name: Box<str> },
    #[error("the stored plan needs version {stored} of {what} {name:?}; version {registered} is registered")]
    Version { what: &'static str, name: Box<str>, stored: u32, registered: u32 },
    #[error("the stored plan needs a {0} without a name, which nothing can find")]
    Unnamed(&'static str),
    #[error("the stored plan needs {0}")]
    Operator(String),
}

fn shown(kind: FunctionKind) -> &'static str {
    match kind {
        FunctionKind::Foreign => "foreign operator",
        FunctionKind::Host => "host function",
        FunctionKind::Operator => "operator",
    }
}

impl Registry {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a foreign operator.
    #[must_use]
    pub fn foreign(self, operator: &Foreign) -> Self {
        self.add(operator.info(), Code::Foreign(operator.body.clone()).into())
    }

    /// Adds a host function.
    #[must_use]
    pub fn host_function(self, function: &HostFunction) -> Self {
        self.add(function.info(), Code::Host(function.body.clone()).into())
    }

    fn add(mut self, info: FunctionInfo, body: Body) -> Self {
        let what = shown(info.kind());
        let mistake = match info.name().map(Box::<str>::from) {
            None => Some(format!("a {what} without a name cannot be registered")),
            Some(name) if name.is_empty() => Some(format!("a {what} with an empty name cannot be registered")),
            Some(name) => {
                let text = format!("{what} {name:?} is registered twice");
                self.known.insert((info.kind(), name), (info, body)).map(|_| text)
            }
        };
        self.first_mistake = self.first_mistake.or(mistake);
        self
    }

    /// Number of functions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The first mistake in what was added.
    pub(crate) fn check(&self) -> Result<()> {
        self.first_mistake.as_ref().map_or(Ok(()), |text| Err(Error::invalid(text.clone())))
    }

    /// One line that is the same for the same functions, in whatever order they came.
    pub(crate) fn text(&self) -> String {
        let mut lines: Vec<String> = self.known.values().map(|(info, _)| text_of(info)).collect();
        sort::plain(&mut lines);
        lines.join(", ")
    }

    /// The code of the functions of a recipe, in their order.
    pub(crate) fn bodies(&self, recipe: &Recipe) -> Result<Vec<Body>, NotFound> {
        recipe.functions.iter().map(|info| self.body(info)).collect()
    }

    fn body(&self, info: &FunctionInfo) -> Result<Body, NotFound> {
        if info.kind() == FunctionKind::Operator {
            return operator(info);
        }
        let what = shown(info.kind());
        let name: Box<str> = info.name().map(Into::into).ok_or(NotFound::Unnamed(what))?;
        match self.known.get(&(info.kind(), name.clone())) {
            None => Err(NotFound::Unknown { what, name }),
            Some((known, _)) if known.version() != info.version() => {
                Err(NotFound::Version { what, name, stored: info.version(), registered: known.version() })
            }
            Some((_, body)) => Ok(body.clone()),
        }
    }
}

/// An operator by its C name, which needs no registration.
pub(super) fn operator(info: &FunctionInfo) -> Result<Body, NotFound> {
    if info.recorded().is_some() {
        return Ok(Body::Operator);
    }
    let name = info.name().ok_or(NotFound::Unnamed("operator"))?;
    let why = Recorded::from_stored(name, &info.attributes()).err();
    // One that is known and not taken was refused where the plan was read.
    Err(NotFound::Operator(why.unwrap_or_else(|| format!("operator {name:?} as no builder gives it"))))
}

fn text_of(info: &FunctionInfo) -> String {
    let (attributes, needs) = (info.attributes(), info.needs());
    let (kind, version) = (shown(info.kind()), info.version());
    let mut text = format!("{kind} {:?} version {version}", info.name().unwrap_or_default());
    if !attributes.is_empty() {
        let hash = blake3::hash(&attributes).to_hex();
        text.push_str(&format!(" with {} bytes of attributes {}", attributes.len(), &hash[..16]));
    }
    if needs != Cores::default() {
        text.push_str(&format!(" needs {} matrix and {} vector cores", needs.cube, needs.vector));
    }
    text
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> =
            self.known.iter().map(|((kind, name), (info, _))| (shown(*kind), name, info.version())).collect();
        sort::plain(&mut names);
        f.debug_list().entries(names).finish()
    }
}
