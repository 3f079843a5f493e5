//! What is wrong with the bytes of a stored plan.

use std::fmt;

/// Why bytes are no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    #[error("{0} bytes, which are too few for a stored plan")]
    Short(usize),
    #[error("the bytes do not begin like a stored plan")]
    Magic,
    #[error("format version {0}; this version of the crate reads {current}", current = super::VERSION)]
    Version(u16),
    #[error("{found} bytes, where the header says {expected}")]
    Length { expected: u64, found: u64 },
    #[error("the checksum is not that of the content, which was damaged")]
    Checksum,
    #[error("{count} times {part} in {left} bytes")]
    Count { part: Part, count: u64, left: usize },
    #[error("{part} {index} cannot be read: {text}")]
    Unreadable { part: Part, index: usize, text: String },
    #[error("{0} bytes behind the last part")]
    Trailing(usize),
    #[error("{part} {index}: {text}")]
    Invalid { part: Part, index: usize, text: String },
}

/// The parts of a stored plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Symbol,
    Tag,
    Event,
    External,
    Storage,
    Layout,
    Value,
    Access,
    Node,
    File,
    Place,
    Input,
    Output,
    Constant,
    Function,
    CoreLimit,
    Reserved,
    Prefetch,
    PrefetchCap,
    Called,
    Call,
    Choice,
    Lint,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Symbol => "symbol",
            Self::Tag => "tag",
            Self::Event => "event",
            Self::External => "external gate",
            Self::Storage => "storage",
            Self::Layout => "layout",
            Self::Value => "value",
            Self::Access => "access",
            Self::Node => "node",
            Self::File => "source file",
            Self::Place => "source place",
            Self::Input => "input",
            Self::Output => "output",
            Self::Constant => "constant",
            Self::Function => "function",
            Self::CoreLimit => "core limit",
            Self::Reserved => "reservation",
            Self::Prefetch => "prefetch",
            Self::PrefetchCap => "prefetch cap",
            Self::Called => "plan that is called",
            Self::Call => "call",
            Self::Choice => "choice",
            Self::Lint => "lint",
        })
    }
}

/// That entry `index` of `part` breaks a rule.
pub(super) fn invalid<T>(part: Part, index: usize, text: impl Into<String>) -> Result<T, DecodeError> {
    Err(DecodeError::Invalid { part, index, text: text.into() })
}
