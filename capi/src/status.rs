//! The numbers that functions return.

use racl::ErrorKind;

/// It was done.
pub const RACL_OK: i32 = 0;
/// A pointer is NULL that must not be.
pub const RACL_NULL_POINTER: i32 = 1;
/// The handle of an object that is gone.
pub const RACL_STALE_HANDLE: i32 = 2;
/// A pointer that is no handle of this library.
pub const RACL_FOREIGN_HANDLE: i32 = 3;
/// The handle of another kind of object.
pub const RACL_WRONG_KIND: i32 = 4;
/// Another thread uses the object, or work has it; nothing was done.
pub const RACL_BUSY: i32 = 5;
/// A fault of racl, which was caught; the text has what it said.
pub const RACL_PANIC: i32 = 6;
/// A struct whose size no version of it has, or with more than this version knows.
pub const RACL_STRUCT_SIZE: i32 = 7;
/// As many handles as there can be.
pub const RACL_NO_HANDLES: i32 = 8;
/// A call came before initialisation.
pub const RACL_NOT_INITIALIZED: i32 = 100;
/// A second initialisation or finalisation.
pub const RACL_ALREADY_INITIALIZED: i32 = 101;
/// An argument that is wrong in itself.
pub const RACL_INVALID_ARGUMENT: i32 = 102;
/// A device number outside the machine's.
pub const RACL_INVALID_DEVICE: i32 = 103;
/// No context on this thread, or an object used with another context than its own.
pub const RACL_WRONG_CONTEXT: i32 = 104;
/// A null, destroyed or foreign handle of the runtime.
pub const RACL_INVALID_HANDLE: i32 = 105;
/// Device or host memory ran out.
pub const RACL_OUT_OF_MEMORY: i32 = 106;
/// Chip, driver or library does not have the feature.
pub const RACL_NOT_SUPPORTED: i32 = 107;
/// A wait ended before the work did; it can be repeated.
pub const RACL_TIMEOUT: i32 = 108;
/// The device failed or was reset.
pub const RACL_DEVICE_LOST: i32 = 109;
/// An operator or copy failed on the device; a later synchronising call says so.
pub const RACL_DEVICE_FAULT: i32 = 110;
/// Work was stopped on request.
pub const RACL_ABORTED: i32 = 111;
/// A stream of a capture does not lead back to its origin.
pub const RACL_CAPTURE_UNJOINED: i32 = 112;
/// The call is not allowed while a capture is active.
pub const RACL_CAPTURE_FORBIDDEN: i32 = 113;
/// The capture failed before and gives no graph.
pub const RACL_CAPTURE_INVALIDATED: i32 = 114;
/// A capture is ended on another thread, or on another stream, than it began on.
pub const RACL_CAPTURE_WRONG_THREAD: i32 = 115;
/// A capture waits for work outside it.
pub const RACL_CAPTURE_DEPENDENCY: i32 = 116;
/// The call needs a capturing stream.
pub const RACL_NOT_CAPTURING: i32 = 117;
/// No stream is left on the device.
pub const RACL_NO_STREAMS: i32 = 118;
/// No event or notify is left on the device.
pub const RACL_NO_EVENTS: i32 = 119;
/// A graph is still running or cannot be executed now.
pub const RACL_GRAPH_RUNNING: i32 = 120;
/// No AscendCL library was found, or the file is none.
pub const RACL_LIBRARY_NOT_FOUND: i32 = 121;
/// The AscendCL library does not have the function.
pub const RACL_MISSING_SYMBOL: i32 = 122;
/// The AscendCL library gave a value that racl does not know.
pub const RACL_UNKNOWN_VALUE: i32 = 123;
/// An operator refused its arguments.
pub const RACL_OPERATOR_ARGUMENT: i32 = 124;
/// An operator failed inside.
pub const RACL_OPERATOR: i32 = 125;
/// A callback failed: it gave another number than 0, or a panic left it that could be caught.
pub const RACL_CALLBACK_PANICKED: i32 = 126;
/// A plan that cannot run as it was written.
pub const RACL_INVALID_PLAN: i32 = 127;
/// A frozen or tracked input of a plan has another address than its graph knows.
pub const RACL_ADDRESS_CHANGED: i32 = 128;
/// A graph store has reached its limit.
pub const RACL_GRAPH_LIMIT: i32 = 129;
/// A file could not be read, written or understood.
pub const RACL_FILE: i32 = 130;
/// Another rank of a communicator, or the link to it, failed.
pub const RACL_COMMUNICATION: i32 = 131;
/// The driver failed.
pub const RACL_DRIVER: i32 = 132;
/// The AscendCL library failed inside.
pub const RACL_INTERNAL: i32 = 133;
/// A code of the AscendCL library that racl has no kind for.
pub const RACL_OTHER: i32 = 134;
/// The call would wait for ever: for a signal that nobody can give meanwhile.
pub const RACL_DEADLOCK: i32 = 135;

macro_rules! kinds {
    (own: $($own:ident),*; $($name:ident = $kind:ident;)*) => {
        /// The status of a kind of error.
        pub(crate) fn of_kind(kind: ErrorKind) -> i32 {
            match kind {
                $(ErrorKind::$kind => $name,)*
                _ => RACL_OTHER,
            }
        }

        /// The name of a status in C, with a zero at its end.
        pub(crate) fn name(status: i32) -> Option<&'static str> {
            Some(match status {
                $($own => concat!(stringify!($own), "\0"),)*
                $($name => concat!(stringify!($name), "\0"),)*
                _ => return None,
            })
        }

        #[cfg(test)]
        const ALL: &[i32] = &[$($own,)* $($name),*];
    };
}

kinds! {
    own: RACL_OK, RACL_NULL_POINTER, RACL_STALE_HANDLE, RACL_FOREIGN_HANDLE, RACL_WRONG_KIND, RACL_BUSY, RACL_PANIC, RACL_STRUCT_SIZE, RACL_NO_HANDLES;
    RACL_NOT_INITIALIZED = NotInitialized;
    RACL_ALREADY_INITIALIZED = AlreadyInitialized;
    RACL_INVALID_ARGUMENT = InvalidArgument;
    RACL_INVALID_DEVICE = InvalidDevice;
    RACL_WRONG_CONTEXT = WrongContext;
    RACL_INVALID_HANDLE = InvalidHandle;
    RACL_OUT_OF_MEMORY = OutOfMemory;
    RACL_NOT_SUPPORTED = NotSupported;
    RACL_TIMEOUT = Timeout;
    RACL_DEVICE_LOST = DeviceLost;
    RACL_DEVICE_FAULT = DeviceFault;
    RACL_ABORTED = Aborted;
    RACL_CAPTURE_UNJOINED = CaptureUnjoined;
    RACL_CAPTURE_FORBIDDEN = CaptureForbidden;
    RACL_CAPTURE_INVALIDATED = CaptureInvalidated;
    RACL_CAPTURE_WRONG_THREAD = CaptureWrongThread;
    RACL_CAPTURE_DEPENDENCY = CaptureDependency;
    RACL_NOT_CAPTURING = NotCapturing;
    RACL_NO_STREAMS = NoStreams;
    RACL_NO_EVENTS = NoEvents;
    RACL_GRAPH_RUNNING = GraphRunning;
    RACL_LIBRARY_NOT_FOUND = LibraryNotFound;
    RACL_MISSING_SYMBOL = MissingSymbol;
    RACL_UNKNOWN_VALUE = UnknownValue;
    RACL_OPERATOR_ARGUMENT = OperatorArgument;
    RACL_OPERATOR = Operator;
    RACL_CALLBACK_PANICKED = CallbackPanicked;
    RACL_INVALID_PLAN = InvalidPlan;
    RACL_ADDRESS_CHANGED = AddressChanged;
    RACL_GRAPH_LIMIT = GraphLimit;
    RACL_FILE = File;
    RACL_COMMUNICATION = Communication;
    RACL_DRIVER = Driver;
    RACL_INTERNAL = Internal;
    RACL_OTHER = Other;
    RACL_DEADLOCK = Deadlock;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_status_is_a_number_of_its_own_with_a_name_of_its_own() {
        let numbers: BTreeSet<i32> = ALL.iter().copied().collect();
        let names: BTreeSet<_> = ALL.iter().map(|status| name(*status)).collect();
        assert_eq!((numbers.len(), names.len()), (ALL.len(), ALL.len()));
        assert_eq!(name(99), None);
    }

    /// Programs were compiled with these numbers: none is ever another.
    #[test]
    fn numbers_stay() {
        let known = [
            (RACL_OK, 0),
            (RACL_NULL_POINTER, 1),
            (RACL_STALE_HANDLE, 2),
            (RACL_FOREIGN_HANDLE, 3),
            (RACL_WRONG_KIND, 4),
            (RACL_BUSY, 5),
            (RACL_PANIC, 6),
            (RACL_STRUCT_SIZE, 7),
            (RACL_NO_HANDLES, 8),
            (RACL_NOT_INITIALIZED, 100),
            (RACL_ALREADY_INITIALIZED, 101),
            (RACL_INVALID_ARGUMENT, 102),
            (RACL_INVALID_DEVICE, 103),
            (RACL_WRONG_CONTEXT, 104),
            (RACL_INVALID_HANDLE, 105),
            (RACL_OUT_OF_MEMORY, 106),
            (RACL_NOT_SUPPORTED, 107),
            (RACL_TIMEOUT, 108),
            (RACL_DEVICE_LOST, 109),
            (RACL_DEVICE_FAULT, 110),
            (RACL_ABORTED, 111),
            (RACL_CAPTURE_UNJOINED, 112),
            (RACL_CAPTURE_FORBIDDEN, 113),
            (RACL_CAPTURE_INVALIDATED, 114),
            (RACL_CAPTURE_WRONG_THREAD, 115),
            (RACL_CAPTURE_DEPENDENCY, 116),
            (RACL_NOT_CAPTURING, 117),
            (RACL_NO_STREAMS, 118),
            (RACL_NO_EVENTS, 119),
            (RACL_GRAPH_RUNNING, 120),
            (RACL_LIBRARY_NOT_FOUND, 121),
            (RACL_MISSING_SYMBOL, 122),
            (RACL_UNKNOWN_VALUE, 123),
            (RACL_OPERATOR_ARGUMENT, 124),
            (RACL_OPERATOR, 125),
            (RACL_CALLBACK_PANICKED, 126),
            (RACL_INVALID_PLAN, 127),
            (RACL_ADDRESS_CHANGED, 128),
            (RACL_GRAPH_LIMIT, 129),
            (RACL_FILE, 130),
            (RACL_COMMUNICATION, 131),
            (RACL_DRIVER, 132),
            (RACL_INTERNAL, 133),
            (RACL_OTHER, 134),
            (RACL_DEADLOCK, 135),
        ];
        for (status, number) in known {
            assert_eq!(status, number, "{:?}", name(number));
        }
        assert_eq!(known.map(|(status, _)| status), ALL);
    }
}
