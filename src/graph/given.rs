//! What a graph uses that other code destroys.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use acl_sys::aclmdlRI;

use crate::call::{Caller as _, call};
use crate::context::ContextInner;
use crate::lock::{Lock, say};
use crate::retire;

/// What goes once a graph is destroyed, which the library tells by the number.
struct Given {
    number: usize,
    /// Address of the table, which lives as long as the process.
    table: usize,
    graph: usize,
    uses: Vec<Box<dyn Send>>,
}

static ALL: Lock<Vec<Given>> = Lock::new(Vec::new());

/// Lets `uses` go when the library destroys the graph, which must not be done before. On a library that does not tell,
/// they stay for good. A graph that `came_back` may have been given away before.
pub(super) fn leave<T: Send + 'static>(context: &ContextInner, graph: aclmdlRI, came_back: bool, uses: T) {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let key = (std::ptr::from_ref(context.table()).addr(), graph.addr());
    let number = {
        let mut all = ALL.lock();
        if let Some(known) = all.iter_mut().rev().find(|known| came_back && (known.table, known.graph) == key) {
            return known.uses.push(Box::new(uses));
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        all.push(Given { number, table: key.0, graph: key.1, uses: vec![Box::new(uses)] });
        number
    };
    let user = std::ptr::without_provenance_mut(number);
    // SAFETY: a live graph, a function that lives as long as the program, and a number that nobody reads through.
    let told = unsafe { call!(context, aclmdlRIDestroyRegisterCallback(graph, Some(destroyed), user)) };
    if let Err(error) = told {
        std::mem::forget(take(number));
        say!(Warn, "what a graph uses that was given away is never freed: {error}");
    }
}

fn take(number: usize) -> Option<Given> {
    let mut all = ALL.lock();
    let place = all.iter().position(|known| known.number == number)?;
    Some(all.swap_remove(place))
}

/// Called by the library once, on the thread that destroys the graph.
unsafe extern "C" fn destroyed(number: *mut c_void) {
    if let Some(given) = take(number.addr()) {
        // Not here, in the middle of a call of the library.
        retire::on_thread(given.uses, drop);
    }
}
