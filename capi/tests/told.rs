//! Errors that nobody could be told, with a mock that is made to fail.

use std::ffi::CStr;
use std::ptr::null_mut;

use racl::mock;
use racl_capi::{
    RACL_DEVICE_FAULT, RACL_OK, racl_buffer_free, racl_buffer_new, racl_context_drop_errors, racl_context_free,
    racl_context_new, racl_context_primary, racl_event_free, racl_event_new, racl_last_error_code,
    racl_last_error_message, racl_library_free, racl_library_open, racl_stream_fill, racl_stream_free,
    racl_stream_new,
};

fn message() -> String {
    // SAFETY: the text is there until the next call of this thread.
    unsafe { CStr::from_ptr(racl_last_error_message()) }.to_str().unwrap().to_owned()
}

#[test]
fn what_destructors_met_is_taken_once() {
    let (mut library, mut primary, mut context) = (null_mut(), null_mut(), null_mut());
    let (mut stream, mut buffer, mut event) = (null_mut(), null_mut(), null_mut());
    // SAFETY: the name ends with a zero, and the result has a place.
    assert_eq!(unsafe { racl_library_open(c"mock".as_ptr(), &raw mut library) }, RACL_OK);
    // SAFETY: the result has a place; so below.
    assert_eq!(unsafe { racl_context_primary(library, 0, &raw mut primary) }, RACL_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { racl_context_new(primary, &raw mut context) }, RACL_OK);
    // SAFETY: as above; no options.
    assert_eq!(unsafe { racl_stream_new(context, std::ptr::null(), &raw mut stream) }, RACL_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { racl_buffer_new(context, 64, &raw mut buffer) }, RACL_OK);
    // SAFETY: as above.
    assert_eq!(unsafe { racl_event_new(context, 1, &raw mut event) }, RACL_OK);
    assert_eq!(racl_context_drop_errors(context), RACL_OK);
    mock::fail_task("aclrtMemsetAsync", 1, 507_015).unwrap();
    assert_eq!(racl_stream_fill(stream, buffer, 1), RACL_OK);
    assert_eq!(racl_stream_free(stream), RACL_OK, "nobody asked how it went");
    mock::fail("aclrtDestroyEvent", 1, 507_000).unwrap();
    assert_eq!(racl_event_free(event), RACL_OK);
    assert_eq!(racl_context_drop_errors(context), RACL_DEVICE_FAULT);
    assert_eq!(racl_last_error_code(), 507_015);
    let lines: Vec<_> = message().lines().map(str::to_owned).collect();
    assert!(lines.len() == 2 && lines[0].contains("507015") && lines[1].contains("aclrtDestroyEvent"), "{lines:?}");
    assert_eq!(racl_context_drop_errors(context), RACL_OK);
    assert_eq!(racl_buffer_free(buffer), RACL_OK);
    assert_eq!(racl_context_free(context), RACL_OK);
    assert_eq!(racl_context_free(primary), RACL_OK);
    assert_eq!(racl_library_free(library), RACL_OK);
}
