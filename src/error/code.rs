//! Short phrases for codes that say more than their kind.

use super::ErrorKind;

/// What `code` means, in a few words.
pub(crate) fn phrase_of(code: i32, kind: ErrorKind) -> String {
    let own = match code {
        107_002 => "no current context",
        107_003 => "the stream belongs to another context",
        107_004 => "the graph belongs to another context",
        107_005 => "the stream is bound to a model",
        107_006 => "the event has no timestamp",
        107_026 => "the graph is still being captured",
        107_027 => "the stream is capturing",
        107_028 => "the event is part of a capture",
        107_030 => "not allowed in this capture mode",
        107_031 => "the default stream cannot take part in a capture",
        107_032 => "the event belongs to another capture",
        107_036 => "not the stream that the capture began on",
        107_037 => "the graph is still running",
        107_038 => "not the thread that the capture began on",
        107_041 => "a blocking copy beside a capture",
        145_003 => "the model is not loaded",
        545_001..=545_005 => "the model cannot be loaded",
        161_001 => "a null pointer was given to the operator",
        507_011 if kind == ErrorKind::DeviceFault => "a graph or a model failed on the device",
        507_014 | 507_034 => "an operator took too long on the device",
        507_015 | 507_035 => "an operator failed on the device",
        507_046 => "the stream did not finish in time",
        507_047 => "the event did not come in time",
        _ => return kind.to_string(),
    };
    own.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code that AscendCL documents, with the kind it must have.
    #[test]
    fn known_codes_have_their_kind() {
        use ErrorKind::*;
        let table = [
            (100_000, InvalidArgument),
            (100_001, NotInitialized),
            (100_002, AlreadyInitialized),
            (100_003, File),
            (100_006, File),
            (100_011, InvalidHandle),
            (100_024, InvalidArgument),
            (100_037, AlreadyInitialized),
            (107_000, InvalidArgument),
            (107_001, InvalidDevice),
            (107_002, WrongContext),
            (107_003, WrongContext),
            (107_004, WrongContext),
            (107_006, InvalidArgument),
            (107_017, InvalidHandle),
            (107_020, Timeout),
            (107_022, Aborted),
            (107_024, CaptureDependency),
            (107_025, CaptureUnjoined),
            (107_026, CaptureForbidden),
            (107_027, CaptureForbidden),
            (107_028, CaptureForbidden),
            (107_029, NotCapturing),
            (107_030, CaptureForbidden),
            (107_032, CaptureInvalidated),
            (107_034, CaptureInvalidated),
            (107_036, CaptureWrongThread),
            (107_037, GraphRunning),
            (107_038, CaptureWrongThread),
            (107_041, CaptureForbidden),
            (145_000, InvalidArgument),
            (145_002, File),
            (145_003, InvalidHandle),
            (145_006, File),
            (161_001, OperatorArgument),
            (161_002, OperatorArgument),
            (200_000, OutOfMemory),
            (207_000, NotSupported),
            (207_001, OutOfMemory),
            (207_005, NoStreams),
            (207_007, NoEvents),
            (207_008, NoStreams),
            (361_001, Operator),
            (500_000, Internal),
            (500_004, Driver),
            (507_000, Internal),
            (507_009, NotSupported),
            (507_011, DeviceFault),
            (507_012, Timeout),
            (507_015, DeviceFault),
            (507_018, DeviceFault),
            (507_046, Timeout),
            (507_047, Timeout),
            (507_053, DeviceLost),
            (507_899, Driver),
            (507_903, CaptureInvalidated),
            (545_000, Internal),
            (545_001, File),
            (545_005, File),
            (545_009, Internal),
            (561_103, Operator),
            (1, Other),
        ];
        for (code, kind) in table {
            assert_eq!(ErrorKind::of_code(code), kind, "{code}");
        }
    }

    /// Whatever a device tells of its work counts as such, but for what says that it is not done, or was not begun.
    #[test]
    fn codes_of_devices_are_of_their_work() {
        let of_calls = [507_009, 507_012, 507_046, 507_047, 507_903, 507_905];
        let others: Vec<i32> = (507_000..508_000).filter(|code| !ErrorKind::of_code(*code).is_of_work()).collect();
        assert_eq!(others, of_calls);
    }
}
