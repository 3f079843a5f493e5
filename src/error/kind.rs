//! The kinds of error, and the kind of each AscendCL code.

use std::fmt;

/// What went wrong. Several codes of the library share a kind; the number stays in
/// [`Error::code`](crate::Error::code).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A call came before initialisation (100001).
    NotInitialized,
    /// A second initialisation or finalisation (100002, 100037).
    AlreadyInitialized,
    /// An argument that is wrong in itself.
    InvalidArgument,
    /// A device number outside the machine's (107001).
    InvalidDevice,
    /// No context on this thread, or an object used with another context than its own (107002 to 107005).
    WrongContext,
    /// A null, destroyed or foreign handle (107017).
    InvalidHandle,
    /// Device or host memory ran out (207001, 207018, 200000).
    OutOfMemory,
    /// Chip, driver or library does not have the feature.
    NotSupported,
    /// A wait ended before the work did; it can be repeated.
    Timeout,
    /// The device failed or was reset; the process can no longer rely on it.
    DeviceLost,
    /// An operator or copy failed on the device; reported by a later synchronising call.
    DeviceFault,
    /// Work was stopped on request (107022, 107023, 107035).
    Aborted,
    /// A stream of a capture does not lead back to its origin (107025).
    CaptureUnjoined,
    /// The call is not allowed while a capture is active.
    CaptureForbidden,
    /// The capture failed before and gives no graph (107032, 107034, 507903).
    CaptureInvalidated,
    /// The capture ended on another thread, or on another stream, than it began on (107036, 107038).
    CaptureWrongThread,
    /// A capture waits for work outside it (107024).
    CaptureDependency,
    /// The call needs a capturing stream (107029).
    NotCapturing,
    /// No stream is left on the device (207008, 207005).
    NoStreams,
    /// No event or notify is left on the device (207007, 207009).
    NoEvents,
    /// A graph is still running or cannot be executed now (107037, 107040; 507011 of a call for graphs).
    GraphRunning,
    /// No AscendCL library was found, or the file is none.
    LibraryNotFound,
    /// The library does not have the function.
    MissingSymbol,
    /// The library gave a value that this crate does not know.
    UnknownValue,
    /// An operator refused its arguments (161001, 161002).
    OperatorArgument,
    /// An operator failed inside (361001, 561…).
    Operator,
    /// A host function panicked; the panic was caught.
    CallbackPanicked,
    /// A plan that cannot run as it was written; [`Error::findings`](crate::Error::findings) has the parts.
    InvalidPlan,
    /// A frozen or tracked input of a plan has another address than its graph knows.
    AddressChanged,
    /// A graph store has reached its limit.
    GraphLimit,
    /// A file could not be read, written or understood.
    File,
    /// Another rank of a communicator, or the link to it, failed.
    Communication,
    /// The call would wait for ever: for a signal that nobody can give meanwhile.
    Deadlock,
    /// The driver failed.
    Driver,
    /// The library failed inside.
    Internal,
    /// A code without a kind of its own.
    Other,
}

impl ErrorKind {
    /// The kind of an AscendCL or aclnn code.
    #[must_use]
    pub fn of_code(code: i32) -> Self {
        match code {
            100_001 => Self::NotInitialized,
            100_002 | 100_037 | 207_015 => Self::AlreadyInitialized,
            100_003..=100_008 | 100_012..=100_016 | 107_009 | 107_010 | 145_002 | 145_006 | 545_001..=545_005 => {
                Self::File
            }
            107_001 | 200_002 | 207_004 => Self::InvalidDevice,
            107_002..=107_005 => Self::WrongContext,
            100_011 | 107_017 | 145_003 | 200_005 => Self::InvalidHandle,
            107_019 | 107_020 | 100_036 | 207_020 | 507_012 | 507_046 | 507_047 | 507_905 => Self::Timeout,
            107_022 | 107_023 | 107_035 | 507_023 => Self::Aborted,
            107_024 => Self::CaptureDependency,
            107_025 => Self::CaptureUnjoined,
            107_026..=107_028 | 107_030 | 107_031 | 107_041 | 107_045 => Self::CaptureForbidden,
            107_029 => Self::NotCapturing,
            107_032 | 107_033 | 107_034 | 507_903 => Self::CaptureInvalidated,
            107_036 | 107_038 => Self::CaptureWrongThread,
            107_037 | 107_040 => Self::GraphRunning,
            100_000..=100_045 | 107_000..=107_045 | 148_046..=148_053 | 145_000..=145_022 => Self::InvalidArgument,
            161_001 | 161_002 => Self::OperatorArgument,
            200_000 | 207_001 | 207_018 | 245_000 => Self::OutOfMemory,
            200_001 | 200_006 | 200_007 | 207_000 | 207_006 | 207_019 | 207_021 | 507_009 => Self::NotSupported,
            207_005 | 207_008 => Self::NoStreams,
            207_007 | 207_009 => Self::NoEvents,
            361_001 | 561_000..=561_999 => Self::Operator,
            500_004 | 507_899 => Self::Driver,
            507_010 | 507_053..=507_057 | 507_901 | 507_904 | 507_914..=507_916 => Self::DeviceLost,
            507_011 | 507_013..=507_018 | 507_034..=507_036 | 507_042..=507_045 | 507_048..=507_050 => {
                Self::DeviceFault
            }
            500_000..=500_005 | 507_000..=507_999 | 545_000..=545_999 => Self::Internal,
            _ => Self::Other,
        }
    }

    /// The kind of a code of HCCL, whose numbers begin at 1 and mean other things than AscendCL's.
    #[doc(alias = "HcclResult")]
    #[must_use]
    pub fn of_collective_code(code: u32) -> Self {
        match code {
            1 | 2 => Self::InvalidArgument,
            3 | 24 => Self::OutOfMemory,
            5 => Self::NotSupported,
            9 => Self::Timeout,
            10 => Self::File,
            11..=14 | 19 | 21 | 23 => Self::Communication,
            16 => Self::Driver,
            22 => Self::Aborted,
            4 | 8 | 15 | 17 | 18 => Self::Internal,
            _ => Self::Other,
        }
    }

    /// Whether an error of a wait may be about the work that was waited for, and not about the call alone.
    pub(crate) fn is_of_work(self) -> bool {
        matches!(
            self,
            Self::DeviceFault
                | Self::DeviceLost
                | Self::Aborted
                | Self::CallbackPanicked
                | Self::Operator
                | Self::UnknownValue
                | Self::Communication
                | Self::Driver
                | Self::Internal
                | Self::Other
        )
    }

    /// Whether a call that was to queue work may have queued a part of it before it failed so.
    pub(crate) fn may_be_in_part(self) -> bool {
        self.is_of_work() || matches!(self, Self::OutOfMemory | Self::NoStreams | Self::NoEvents | Self::Timeout)
    }

    /// What to do, where this crate has nothing more exact to say.
    pub(crate) fn advice(self) -> Option<&'static str> {
        match self {
            Self::InvalidHandle => Some("it was destroyed beside this crate or by a reset; make a new one"),
            Self::CaptureForbidden => {
                Some("a stream of this context records a graph; do this before the capture begins or after it ends")
            }
            _ => None,
        }
    }

    fn phrase(self) -> &'static str {
        match self {
            Self::NotInitialized => "not initialised",
            Self::AlreadyInitialized => "already initialised",
            Self::InvalidArgument => "invalid argument",
            Self::InvalidDevice => "no such device",
            Self::WrongContext => "wrong or missing context",
            Self::InvalidHandle => "invalid handle",
            Self::OutOfMemory => "out of memory",
            Self::NotSupported => "not supported",
            Self::Timeout => "timed out",
            Self::DeviceLost => "device lost",
            Self::DeviceFault => "failed on the device",
            Self::Aborted => "aborted",
            Self::CaptureUnjoined => "stream not joined",
            Self::CaptureForbidden => "not allowed during a capture",
            Self::CaptureInvalidated => "the capture is invalid",
            Self::CaptureWrongThread => "the capture began elsewhere",
            Self::CaptureDependency => "the capture depends on work outside it",
            Self::NotCapturing => "the stream does not capture",
            Self::NoStreams => "no stream is left",
            Self::NoEvents => "no event is left",
            Self::GraphRunning => "the graph cannot run or end now",
            Self::LibraryNotFound => "AscendCL library not found",
            Self::MissingSymbol => "function not in the library",
            Self::UnknownValue => "unknown value",
            Self::OperatorArgument => "the operator refuses its arguments",
            Self::Operator => "the operator failed",
            Self::CallbackPanicked => "a host function panicked",
            Self::InvalidPlan => "invalid plan",
            Self::AddressChanged => "an input of the plan moved",
            Self::GraphLimit => "no room for another graph",
            Self::File => "file problem",
            Self::Communication => "communication with another rank failed",
            Self::Deadlock => "it would wait for ever",
            Self::Driver => "driver error",
            Self::Internal => "internal error",
            Self::Other => "error",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.phrase())
    }
}
