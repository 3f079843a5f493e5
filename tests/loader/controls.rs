//! What steers a mock that was loaded as a library, whose state is its own: no table has these functions.

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use racl::Stream;

const RTLD_NOW: c_int = 2;

unsafe extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

pub(crate) struct Controls(*mut c_void);

impl Controls {
    /// Those of a library that is loaded already, so that its state is the same.
    pub(crate) fn of(path: &Path) -> Self {
        let path = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a text that ends with zero; what the library does when it is loaded it has done before.
        let library = unsafe { dlopen(path.as_ptr(), RTLD_NOW) };
        assert!(!library.is_null(), "{path:?} does not open");
        Self(library)
    }

    fn address(&self, name: &str) -> *mut c_void {
        let text = CString::new(name).unwrap();
        // SAFETY: the handle is open until this value goes, and the text ends with zero.
        let address = unsafe { dlsym(self.0, text.as_ptr()) };
        assert!(!address.is_null(), "the library has no {name}");
        address
    }

    fn of_stream(&self, name: &str, stream: &Stream) {
        // SAFETY: the header declares both functions that are asked for with this type.
        let function: unsafe extern "C" fn(*mut c_void) -> c_int = unsafe { std::mem::transmute(self.address(name)) };
        // SAFETY: the stream is live.
        assert_eq!(unsafe { function(stream.as_raw().cast()) }, 0, "{name}");
    }

    /// What is queued on the stream does not run until it is told to.
    pub(crate) fn hold(&self, stream: &Stream) {
        self.of_stream("mock_acl_hold_stream", stream);
    }

    pub(crate) fn release(&self, stream: &Stream) {
        self.of_stream("mock_acl_release_stream", stream);
    }

    /// The n-th task from now on of the function fails on the device.
    pub(crate) fn fail_task(&self, name: &str, nth: u64, code: c_int) {
        let address = self.address("mock_acl_fail_task");
        // SAFETY: the header declares the function with this type.
        let function: unsafe extern "C" fn(*const c_char, u64, c_int) -> c_int =
            unsafe { std::mem::transmute(address) };
        let name = CString::new(name).unwrap();
        // SAFETY: a text that ends with zero.
        assert_eq!(unsafe { function(name.as_ptr(), nth, code) }, 0, "{name:?}");
    }

    pub(crate) fn clear_failures(&self) {
        let address = self.address("mock_acl_clear_failures");
        // SAFETY: the header declares the function with this type.
        let function: unsafe extern "C" fn() = unsafe { std::mem::transmute(address) };
        // SAFETY: takes nothing.
        unsafe { function() };
    }
}

impl Drop for Controls {
    fn drop(&mut self) {
        // SAFETY: the handle is this value's own, and nothing of it is used any more.
        unsafe { dlclose(self.0) };
    }
}
