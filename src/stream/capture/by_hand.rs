//! What is known of a graph that is built by hand, as of a capture: what its streams are given is kept by it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use acl_sys::aclmdlRICaptureMode;

use super::CaptureState;
use crate::closure::Panics;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::Lock;
use crate::stream::flow::{End, Flow};
use crate::stream::{Private, StreamInner};

/// What is said of work for a stream whose graph is there.
const OVER: &str = "a graph that was built by hand, which is complete or was given up";

impl CaptureState {
    /// One without streams.
    pub(crate) fn by_hand(pool: &Arc<Private>) -> Arc<Self> {
        let id = Self::next_id();
        let state = Self {
            id,
            around: None,
            // Nothing beside it is refused.
            mode: aclmdlRICaptureMode::ACL_MODEL_RI_CAPTURE_MODE_RELAXED,
            by_hand: true,
            over: AtomicBool::new(false),
            panics: Panics::default(),
            pool: Arc::clone(pool),
            listed: std::sync::OnceLock::new(),
            inner: Lock::default(),
        };
        state.lock().flow = Some(Flow::new(id));
        Arc::new(state)
    }

    pub(crate) fn is_by_hand(&self) -> bool {
        self.by_hand
    }

    /// That a graph which is captured is recorded here, since no other has `what`.
    pub(crate) fn check_recorded(&self, what: &str) -> Result<()> {
        if !self.by_hand {
            return Ok(());
        }
        let text = format!("{what} in a graph that is built by hand, which only captured graphs have");
        Err(Error::new(ErrorKind::NotSupported, text))
    }

    /// `stream`, which is bound to the graph, takes part. Nobody else has it yet.
    pub(crate) fn add_bound(self: &Arc<Self>, stream: &Arc<StreamInner>, name: &str) -> Result<()> {
        let mut state = stream.lock();
        let mut inner = self.lock();
        inner.check_open()?;
        inner.add_stream(stream);
        if let Some(flow) = &mut inner.flow {
            flow.add(name.to_owned());
        }
        drop(inner);
        state.capture = Some(Arc::clone(self));
        Ok(())
    }

    /// Tells of what `from` is about to be given; the caller has its lock. `work` gets its number.
    pub(crate) fn steer(
        &self,
        from: &Arc<StreamInner>,
        work: impl FnOnce(&mut Flow, usize) -> Result<()>,
    ) -> Result<()> {
        let mut inner = self.lock();
        let line = inner.chain(from);
        let flow = inner.flow.as_mut().ok_or_else(|| Error::invalid("a stream that captures"))?;
        work(flow, line)
    }

    /// As [`Self::steer`], of something that leads to the stream `to`, which has to be one of the graph.
    pub(crate) fn steer_to(
        &self,
        (from, to): (&Arc<StreamInner>, &Arc<StreamInner>),
        work: impl FnOnce(&mut Flow, usize, usize) -> Result<()>,
    ) -> Result<()> {
        let to = {
            let inner = self.lock();
            inner.streams.iter().position(|known| Arc::ptr_eq(known, to))
        };
        let to = to.ok_or_else(|| Error::invalid("a stream that is not one of this graph"))?;
        self.steer(from, |flow, from| work(flow, from, to))
    }

    /// What ends each stream. The graph is closed.
    pub(crate) fn ends(&self) -> Result<Vec<(Arc<StreamInner>, End)>> {
        let inner = self.lock();
        let ends = inner.flow.as_ref().map_or_else(|| Ok(Vec::new()), Flow::ends)?;
        Ok(ends.into_iter().map(|end| (Arc::clone(&inner.streams[end.line]), end)).collect())
    }

    /// Its streams take nothing any more.
    pub(crate) fn seal_streams(&self) {
        let streams = std::mem::take(&mut self.lock().streams);
        for stream in streams {
            let mut state = stream.lock();
            let former = state.capture.take();
            state.only_keeps = true;
            state.over = Some(OVER);
            drop(state);
            drop(former);
        }
    }
}
