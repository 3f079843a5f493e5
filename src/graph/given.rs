//! What a graph uses that other code destroys.

use std::ffi::c_void;

use acl_sys::aclmdlRI;

use crate::call::call;
use crate::context::ContextInner;
use crate::lock::say;
use crate::retire;

/// What goes once the graph is destroyed.
struct Uses(Box<dyn Send>);

/// Lets `uses` go when the library destroys the graph, which must not be done before. On a library that does not tell,
/// they stay for good.
pub(super) fn leave<T: Send + 'static>(context: &ContextInner, graph: aclmdlRI, uses: T) {
    let user = Box::into_raw(Box::new(Uses(Box::new(uses)))).cast::<c_void>();
    // SAFETY: a live graph; the function takes over the leaked box, once.
    let told = unsafe { call!(context, aclmdlRIDestroyRegisterCallback(graph, Some(destroyed), user)) };
    if let Err(error) = told {
        say!(Warn, "what a graph uses that was given away is never freed: {error}");
    }
}

/// Called by the library once, on the thread that destroys the graph.
unsafe extern "C" fn destroyed(user: *mut c_void) {
    // SAFETY: the box that `leave` leaked for this graph alone.
    let uses = unsafe { Box::from_raw(user.cast::<Uses>()) };
    // Not here, in the middle of a call of the library.
    retire::on_thread(uses, |uses| drop(uses.0));
}
