//! Notes the allocations of a context, in the form of the traces below `benches/traces`, which is said in
//! `benches/allocator/traces.rs`.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use racl::sys::aclrtStream;
use racl::{Allocator, Context, DeviceBuffer, ForeignAllocator, Result};

/// Gives memory of another context and notes what happens.
struct Recorder(Mutex<Notes>);

struct Notes {
    context: Context,
    out: HashMap<usize, (usize, DeviceBuffer<u8>)>,
    /// Streams by their numbers in the trace.
    streams: Vec<usize>,
    text: String,
    count: usize,
}

impl Notes {
    fn number_of(&mut self, stream: aclrtStream) -> usize {
        let known = self.streams.iter().position(|known| *known == stream.addr());
        known.unwrap_or_else(|| {
            self.streams.push(stream.addr());
            self.streams.len() - 1
        })
    }
}

// SAFETY: each piece is a buffer of the same device with the bytes and the tail, kept until it is freed.
unsafe impl ForeignAllocator for Recorder {
    fn alloc(&self, bytes: usize, stream: aclrtStream) -> Result<*mut c_void> {
        let notes = &mut *self.0.lock().unwrap();
        let buffer = notes.context.alloc::<u8>(bytes)?;
        let (address, name) = (buffer.address(), notes.count);
        notes.count += 1;
        notes.out.insert(address.addr(), (name, buffer));
        write!(notes.text, "a {name} {bytes}").unwrap();
        if !stream.is_null() {
            let number = notes.number_of(stream);
            write!(notes.text, " {number}").unwrap();
        }
        notes.text.push('\n');
        Ok(address)
    }

    fn given_up(&self, address: *mut c_void, _bytes: usize, streams: &[aclrtStream]) {
        let notes = &mut *self.0.lock().unwrap();
        let name = notes.out[&address.addr()].0;
        write!(notes.text, "g {name}").unwrap();
        for stream in streams {
            let number = notes.number_of(*stream);
            write!(notes.text, " {number}").unwrap();
        }
        notes.text.push('\n');
    }

    unsafe fn free(&self, address: *mut c_void, _bytes: usize, _stream: aclrtStream) {
        let notes = &mut *self.0.lock().unwrap();
        let (name, _) = notes.out.remove(&address.addr()).expect("memory that is out");
        writeln!(notes.text, "f {name}").unwrap();
    }
}

/// The trace of what `work` does with the memory of `context`.
pub(crate) fn record(context: &Context, work: impl FnOnce()) -> String {
    let own = context.create_context().unwrap();
    own.set_allocator(Allocator::Pool);
    let (out, streams) = (HashMap::new(), Vec::new());
    let notes = Notes { context: own, out, streams, text: String::new(), count: 0 };
    let recorder = Arc::new(Recorder(Mutex::new(notes)));
    context.set_allocator(Allocator::Foreign(Arc::<Recorder>::clone(&recorder)));
    work();
    context.set_allocator(Allocator::Pool);
    std::mem::take(&mut recorder.0.lock().unwrap().text)
}
