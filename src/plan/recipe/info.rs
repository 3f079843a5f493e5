//! Functions of a recipe: how each is found again, and what it needs.

use std::borrow::Cow;
use std::sync::Arc;

use crate::op::Recorded;

use super::Cores;
use super::quantity::Later;

/// An operator, a foreign one, or a host function. A plan has one for each number that an operator is told: what
/// tells an operator is shared with who records it, and all else stands apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "cache", serde(from = "Parts", into = "Parts"))]
pub(crate) struct FunctionInfo(What);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum What {
    Operator(Arc<Recorded>),
    /// With numbers that are known later.
    Later(Box<(Arc<Recorded>, Vec<Later>)>),
    /// Also an operator of a file that this version of the crate does not know, or that is told what it cannot be.
    Other(Box<Parts>),
}

/// All that a function is, as files have it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Parts {
    pub(crate) kind: FunctionKind,
    /// None for a closure without a name, which no file can hold.
    pub(crate) name: Option<Box<str>>,
    pub(crate) version: u32,
    pub(crate) attributes: Box<[u8]>,
    /// Cores that must be free at the same time for it to make progress.
    #[cfg_attr(feature = "cache", serde(with = "super::wire::CoresWire"))]
    pub(crate) needs: Cores,
    /// What an operator is told that may depend on symbols.
    pub(crate) later: Vec<Later>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cache", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum FunctionKind {
    Foreign,
    Host,
    /// An operator of the library by its C name; the attributes are what it is told.
    Operator,
}

impl FunctionInfo {
    /// Of an operator of the library, with numbers that are known later.
    pub(crate) fn of_operator(recorded: Arc<Recorded>, later: Vec<Later>) -> Self {
        Self(if later.is_empty() { What::Operator(recorded) } else { What::Later(Box::new((recorded, later))) })
    }

    /// Of code that the user wrote.
    pub(crate) fn of_code(parts: Parts) -> Self {
        Self(What::Other(Box::new(parts)))
    }

    /// The operator, of one that is known.
    pub(crate) fn recorded(&self) -> Option<&Arc<Recorded>> {
        match &self.0 {
            What::Operator(recorded) => Some(recorded),
            What::Later(told) => Some(&told.0),
            What::Other(_) => None,
        }
    }

    pub(crate) fn kind(&self) -> FunctionKind {
        if let What::Other(parts) = &self.0 { parts.kind } else { FunctionKind::Operator }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        match &self.0 {
            What::Operator(recorded) => Some(recorded.name()),
            What::Later(told) => Some(told.0.name()),
            What::Other(parts) => parts.name.as_deref(),
        }
    }

    pub(crate) fn version(&self) -> u32 {
        if let What::Other(parts) = &self.0 { parts.version } else { 0 }
    }

    pub(crate) fn attributes(&self) -> Cow<'_, [u8]> {
        match &self.0 {
            What::Operator(recorded) => recorded.bytes().into(),
            What::Later(told) => told.0.bytes().into(),
            What::Other(parts) => (&*parts.attributes).into(),
        }
    }

    pub(crate) fn needs(&self) -> Cores {
        if let What::Other(parts) = &self.0 { parts.needs } else { Cores::default() }
    }

    pub(crate) fn later(&self) -> &[Later] {
        match &self.0 {
            What::Operator(_) => &[],
            What::Later(told) => &told.1,
            What::Other(parts) => &parts.later,
        }
    }

    pub(crate) fn later_mut(&mut self) -> &mut [Later] {
        match &mut self.0 {
            What::Operator(_) => &mut [],
            What::Later(told) => &mut told.1,
            What::Other(parts) => &mut parts.later,
        }
    }

    /// The same with other numbers.
    pub(crate) fn with_later(&self, later: Vec<Later>) -> Self {
        match &self.0 {
            What::Operator(recorded) => Self::of_operator(Arc::clone(recorded), later),
            What::Later(told) => Self::of_operator(Arc::clone(&told.0), later),
            What::Other(parts) => Self::of_code(Parts { later, ..(**parts).clone() }),
        }
    }

    /// Changes what a file would say.
    #[cfg(all(test, feature = "cache"))]
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Parts)) {
        let mut parts = Parts::from(self.clone());
        change(&mut parts);
        *self = parts.into();
    }
}

#[cfg(feature = "cache")]
impl From<FunctionInfo> for Parts {
    fn from(info: FunctionInfo) -> Self {
        if let What::Other(parts) = info.0 {
            return *parts;
        }
        Self {
            kind: FunctionKind::Operator,
            name: info.name().map(Into::into),
            version: 0,
            attributes: info.attributes().into(),
            needs: Cores::default(),
            later: info.later().to_vec(),
        }
    }
}

#[cfg(feature = "cache")]
impl From<Parts> for FunctionInfo {
    fn from(parts: Parts) -> Self {
        let is_plain = parts.kind == FunctionKind::Operator && parts.version == 0 && parts.needs == Cores::default();
        let name = parts.name.as_deref().filter(|_| is_plain);
        match name.map(|name| Recorded::from_stored(name, &parts.attributes)) {
            Some(Ok(recorded)) => Self::of_operator(Arc::new(recorded), parts.later),
            // Why not is said where it is checked.
            Some(Err(_)) | None => Self::of_code(parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plan_has_many_of_is_small() {
        assert!(size_of::<crate::plan::recipe::Node>() <= 28);
        assert!(size_of::<FunctionInfo>() <= 16);
        assert!(size_of::<crate::plan::recipe::function::Body>() <= 8);
    }
}
