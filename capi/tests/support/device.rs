//! What programs of Rust that racl-capi is part of stand on: the mock's first device, and what it is given.

// Each test, and the bench, uses a part of it.
#![allow(dead_code)]

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use racl_capi::{
    RACL_FORMAT_ND, RACL_OK, RACL_TYPE_FLOAT, racl_buffer_free, racl_buffer_new, racl_buffer_write, racl_context,
    racl_context_free, racl_context_primary, racl_foreign, racl_foreign_info, racl_foreign_new,
    racl_last_error_message, racl_launch_callback, racl_library, racl_library_free, racl_library_open,
    racl_simulate_callback, racl_stream, racl_stream_close, racl_stream_new, racl_stream_synchronize, racl_tensor,
    racl_tensor_layout, racl_tensor_new,
};

pub(crate) fn ok(status: i32) {
    assert_eq!(status, RACL_OK, "{}", text());
}

/// The last error.
pub(crate) fn text() -> String {
    // SAFETY: a text of this thread, which makes no other failure meanwhile.
    unsafe { CStr::from_ptr(racl_last_error_message()) }.to_string_lossy().into_owned()
}

/// Floats, one behind the other, as many as the shape says, which outlives the layout.
pub(crate) fn floats(shape: &[usize; 1]) -> racl_tensor_layout {
    racl_tensor_layout {
        size: size_of::<racl_tensor_layout>(),
        dtype: RACL_TYPE_FLOAT,
        rank: 1,
        shape: shape.as_ptr(),
        strides: null(),
        offset: 0,
        format: RACL_FORMAT_ND,
        storage_rank: 0,
        storage: null(),
    }
}

/// A foreign operator of this name, whose functions are given `user`.
pub(crate) fn foreign(
    name: &CStr,
    launch: racl_launch_callback,
    simulate: racl_simulate_callback,
    user: *mut c_void,
) -> *mut racl_foreign {
    let info = racl_foreign_info {
        size: size_of::<racl_foreign_info>(),
        name: name.as_ptr(),
        version: 1,
        cube_cores: 0,
        vector_cores: 0,
        attributes: null(),
        attributes_size: 0,
        launch,
        simulate,
        user,
        release: None,
    };
    let mut made = null_mut();
    // SAFETY: a struct and a place that outlive the call.
    ok(unsafe { racl_foreign_new(&raw const info, &raw mut made) });
    made
}

pub(crate) struct Device {
    pub(crate) library: *mut racl_library,
    pub(crate) context: *mut racl_context,
    pub(crate) stream: *mut racl_stream,
}

impl Device {
    pub(crate) fn new() -> Self {
        let (mut library, mut context, mut stream) = (null_mut(), null_mut(), null_mut());
        // SAFETY: a text, and a place; so below.
        ok(unsafe { racl_library_open(c"mock".as_ptr(), &raw mut library) });
        // SAFETY: as above.
        ok(unsafe { racl_context_primary(library, 0, &raw mut context) });
        // SAFETY: as above.
        ok(unsafe { racl_stream_new(context, null(), &raw mut stream) });
        Self { library, context, stream }
    }

    pub(crate) fn synchronize(&self) {
        ok(racl_stream_synchronize(self.stream, -1));
    }

    /// The stream still works, and all of it ends.
    pub(crate) fn close(self) {
        self.synchronize();
        ok(racl_stream_close(self.stream));
        ok(racl_context_free(self.context));
        ok(racl_library_free(self.library));
    }

    /// Two floats.
    pub(crate) fn tensor(&self, data: [f32; 2]) -> *mut racl_tensor {
        let (mut buffer, mut tensor, shape) = (null_mut(), null_mut(), [2]);
        let layout = floats(&shape);
        // SAFETY: structs, data and places that outlive each call; so below.
        ok(unsafe { racl_buffer_new(self.context, 8, &raw mut buffer) });
        // SAFETY: as above.
        ok(unsafe { racl_buffer_write(buffer, 0, data.as_ptr().cast(), 8) });
        // SAFETY: as above.
        ok(unsafe { racl_tensor_new(buffer, &raw const layout, &raw mut tensor) });
        ok(racl_buffer_free(buffer));
        tensor
    }
}
