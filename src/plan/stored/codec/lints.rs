//! How the lints of a plan are written. As in [`wire`](crate::plan::recipe::wire), the order of variants is the file
//! format.

use serde::{Deserialize, Serialize};

use crate::plan::check::finding::{Finding, FindingKind};

#[derive(Serialize, Deserialize)]
#[serde(remote = "FindingKind")]
enum FindingKindWire {
    UnorderedAccess,
    ReadBeforeWrite,
    WaitBeforeRecord,
    Duplicate,
    Foreign,
    RecordedTwice,
    Name,
    Operand,
    Prefetch,
    Deadlock,
    CoreDeadlock,
    CoreLimit,
    Streams,
    Events,
    Options,
    NeverWaited,
    BothVersions,
    RepeatedPrefetch,
    Unnamed,
    FrozenWritten,
    MaybeUnwritten,
    Call,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Finding")]
struct FindingWire {
    #[serde(with = "FindingKindWire")]
    kind: FindingKind,
    message: String,
    positions: Vec<u32>,
}

/// A finding of its own.
#[derive(Serialize, Deserialize)]
pub(super) struct FindingPart(#[serde(with = "FindingWire")] pub(super) Finding);
