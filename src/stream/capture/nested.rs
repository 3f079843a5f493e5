//! Captures inside captures: the bodies of conditions. What a body uses is the graph's, as all else is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use acl_sys::aclmdlRICaptureMode;

use super::{CaptureState, Own};
use crate::allocation::{Allocation, Touch};
use crate::error::{Error, ErrorKind, Result};
use crate::stream::StreamInner;
use crate::stream::submit::Named;

/// What a body is in.
pub(super) struct Around {
    pub(super) capture: Arc<CaptureState>,
    /// The stream that the conditional task is on.
    stream: usize,
}

/// A body that is being recorded.
pub(super) struct Open {
    /// The stream that the conditional task is on.
    stream: Arc<StreamInner>,
    body: Arc<CaptureState>,
    place: Named,
}

impl Open {
    fn shown(&self) -> String {
        let (label, location) = self.place;
        format!("the body of {label} at {}:{}", location.file(), location.line())
    }
}

impl CaptureState {
    /// The capture that gives the graph: this one, or the outermost around it.
    pub(crate) fn root(&self) -> &Self {
        let mut root = self;
        while let Some(around) = &root.around {
            root = &around.capture;
        }
        root
    }

    pub(crate) fn is_root(&self) -> bool {
        self.around.is_none()
    }

    pub(crate) fn mode(&self) -> aclmdlRICaptureMode {
        self.mode
    }

    /// Whether both are of one graph, and not the same body.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.id != other.id && self.root().id == other.root().id
    }

    /// That work of `stream` with these `uses` can be recorded now.
    pub(crate) fn check_takes(&self, stream: &Arc<StreamInner>, uses: &[Touch<'_>]) -> Result<()> {
        let open = self.lock().bodies.iter().find(|open| Arc::ptr_eq(&open.stream, stream)).map(Open::shown);
        if let Some(open) = open {
            let text =
                format!("the stream is behind {open}, which is being recorded: the stream of the body takes it");
            return Err(Error::new(ErrorKind::CaptureForbidden, text));
        }
        let root = self.root().id;
        match uses.iter().filter_map(|touch| touch.memory.capture()).find(|capture| *capture != root) {
            Some(_) => Err(Error::invalid("the cell of a condition of another capture")),
            None => Ok(()),
        }
    }

    /// A capture on `origin` of a body, of a conditional task on `stream`. It is open until it is [taken
    /// in](Self::take_in).
    pub(crate) fn open_body(
        self: &Arc<Self>,
        stream: &Arc<StreamInner>,
        origin: &Arc<StreamInner>,
        place: Named,
    ) -> Result<Arc<Self>> {
        let around = Around { capture: Arc::clone(self), stream: Arc::as_ptr(stream).addr() };
        let body = Self::within(Some(around), origin, &self.pool, self.mode);
        let mut inner = self.lock();
        inner.check_open()?;
        inner.bodies.push(Open { stream: Arc::clone(stream), body: Arc::clone(&body), place });
        Ok(body)
    }

    /// Memory that work in front of the body gave up, which the body follows; another body of the same choice may have
    /// had it, of which one runs.
    pub(super) fn given_up_around(&self, bytes: usize) -> Option<Arc<Allocation>> {
        let Around { capture, stream } = self.around.as_ref()?;
        // Locks are taken from the inside out.
        let inner = capture.lock();
        capture.given_up(&inner, *stream, bytes).or_else(|| capture.given_up_around(bytes))
    }

    /// How often the captures around this one hold the memory.
    pub(super) fn held_around(&self, address: usize) -> usize {
        self.around
            .as_ref()
            .map_or(0, |around| around.capture.lock().holds(address) + around.capture.held_around(address))
    }

    /// The bodies that are open, whose work the graph would lack: it is not to be had then.
    pub(crate) fn cut(&self) -> Vec<Arc<Self>> {
        let mut inner = self.lock();
        if let Some(open) = inner.bodies.first() {
            let text = format!("the capture ended inside {}", open.shown());
            inner.failure.get_or_insert(text);
        }
        inner.bodies.iter().map(|open| Arc::clone(&open.body)).collect()
    }

    /// The stream that it began on, until it has ended.
    pub(crate) fn origin(&self) -> Option<Arc<StreamInner>> {
        self.lock().streams.first().cloned()
    }

    /// Whether nobody else ends it.
    pub(crate) fn begin_end(&self) -> bool {
        !self.over.swap(true, Ordering::AcqRel)
    }

    /// The body is over: what its work uses is used by the stream that the conditional task is on, and what went wrong
    /// in it did so here.
    pub(crate) fn take_in(&self, body: &Arc<Self>) {
        let (keep, own, workspaces, failure) = {
            let mut inner = body.lock();
            inner.places.clear();
            let (own, workspaces) = (std::mem::take(&mut inner.own), std::mem::take(&mut inner.workspaces));
            (std::mem::take(&mut inner.keep), own, workspaces, inner.failure.clone())
        };
        let open = {
            let mut inner = self.lock();
            let place = inner.bodies.iter().position(|open| Arc::ptr_eq(&open.body, body));
            let open = place.map(|place| inner.bodies.remove(place));
            if let Some(Open { stream, .. }) = &open {
                for Own { allocation, .. } in &own {
                    if !inner.places.contains_key(&Arc::as_ptr(allocation).addr()) {
                        inner.add(stream, allocation);
                    }
                }
                keep.touches().for_each(|touch| inner.keep_alive(stream, touch));
            }
            if let Some(failure) = failure {
                inner.failure.get_or_insert(failure);
            }
            open
        };
        // Outside the lock, as streams and memory may go here.
        drop((open, keep, own, workspaces));
    }
}
