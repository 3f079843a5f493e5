//! What a graph chooses by a condition: recorded in bodies, each a capture inside that of the graph.

use std::panic::Location;
use std::sync::Arc;

use acl_sys::{aclmdlRI, aclmdlRICondTaskParams, aclmdlRICondTaskType};

use super::condition::{Condition, not_capturing};
use super::ending::end_body;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::theirs;
use crate::stream::{CaptureState, Named, Stream, Task};

/// A graph can have no more than 1024 streams: its own, and one for each body.
const MOST_CASES: usize = 1023;

/// One choice of a graph.
struct Choice<'a> {
    stream: &'a Stream,
    condition: &'a Condition,
    kind: aclmdlRICondTaskType,
    place: Named,
}

impl Stream {
    /// Records a choice: when the graph gets there, it runs what `then` gives to its stream if the condition is not 0,
    /// else what `otherwise` gives to its own. Later work of this stream comes behind. Both are called once, now.
    ///
    /// A body is a capture inside this one, on the stream that it is handed: it has [sides](Stream::side) and events of
    /// its own, which lead back to that stream before it ends, and conditions of its own. What it uses is kept by the
    /// graph. Meanwhile this stream takes nothing, and no event crosses the border of the body. A body that fails or
    /// panics leaves the capture without a graph.
    ///
    /// Which one runs is not known when memory is tracked: a launch counts as one of both. Memory that work of the capture
    /// gives up is had again by what is recorded later. So what a body makes and only some rounds of a loop, or some
    /// launches, write is not there for the others: what has to last from one to the next is made before the capture, or
    /// in front of the loop.
    ///
    /// C calls: `aclmdlRIAddCondTask`, and for each body `aclmdlRICaptureToModelRIBegin` and `aclmdlRICaptureEnd`.
    ///
    /// # Errors
    ///
    /// The error of a body; [`ErrorKind::CaptureUnjoined`] naming a stream that does not lead back to that of its body;
    /// [`ErrorKind::InvalidArgument`] for a condition of another capture, of another body, or that was used before;
    /// [`ErrorKind::NotCapturing`] for a stream that captures nothing; [`ErrorKind::CaptureInvalidated`] when a call in
    /// a body could not be recorded, or the capture ended inside one; [`ErrorKind::CaptureForbidden`] inside a body, for
    /// a stream around it; [`ErrorKind::NoStreams`] when the device has none left for a body;
    /// [`ErrorKind::MissingSymbol`] on a library without conditional graphs, with the release that has them.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut out = device.alloc::<u8>(4)?.into_shared();
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     let condition = s.condition(Some(1))?;
    ///     let (mut one, mut other) = (out.clone(), out.clone());
    ///     s.if_else(
    ///         &condition,
    ///         |s| {
    ///             let side = s.side("1")?;
    ///             s.fork(&side)?;
    ///             side.fill_bytes(&mut one, 1)?;
    ///             s.join(&side)
    ///         },
    ///         |s| s.fill_bytes(&mut other, 2),
    ///     )?;
    ///     s.fill_bytes(&mut out.slice(..1)?, 9) // after the choice
    /// })?;
    /// graph.launch(&stream)?;
    /// assert_eq!(out.to_vec()?, [9, 1, 1, 1]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIAddCondTask")]
    #[doc(alias = "ACL_MODEL_RI_COND_TYPE_IF")]
    #[track_caller]
    pub fn if_else(
        &self,
        condition: &Condition,
        then: impl FnOnce(&Self) -> Result<()>,
        otherwise: impl FnOnce(&Self) -> Result<()>,
    ) -> Result<()> {
        let place = ("if_else", Location::caller());
        let (mut then, mut otherwise) = (Some(then), Some(otherwise));
        let mut body = |index: usize, stream: &Self| match index {
            0 => then.take().map_or(Ok(()), |then| then(stream)),
            _ => otherwise.take().map_or(Ok(()), |otherwise| otherwise(stream)),
        };
        let kind = aclmdlRICondTaskType::ACL_MODEL_RI_COND_TYPE_IF;
        Choice { stream: self, condition, kind, place }.record(2, &mut body)
    }

    /// As [`Stream::if_else`], with nothing to do if the condition is 0.
    ///
    /// # Errors
    ///
    /// As [`Stream::if_else`].
    #[doc(alias = "aclmdlRIAddCondTask")]
    #[track_caller]
    pub fn if_then(&self, condition: &Condition, then: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let place = ("if_then", Location::caller());
        let mut then = Some(then);
        let mut body = |_: usize, stream: &Self| then.take().map_or(Ok(()), |then| then(stream));
        let kind = aclmdlRICondTaskType::ACL_MODEL_RI_COND_TYPE_IF;
        Choice { stream: self, condition, kind, place }.record(1, &mut body)
    }

    /// Records a loop: when the graph gets there, it runs what `body` gives to its stream while the condition is not 0,
    /// which it looks at before each round. Otherwise as [`Stream::if_else`]; `body` is called once, now.
    ///
    /// The body writes the condition, else the loop never ends: no limit is known to the library. (The mock ends it with
    /// an error after a million rounds.)
    ///
    /// # Errors
    ///
    /// As [`Stream::if_else`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{CaptureMode, Tensor, op};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut x = device.upload_tensor(&[1_i64], [1])?;
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     let condition = s.condition(Some(1))?;
    ///     let mut more = Tensor::over(condition.cell::<u8>()?, [1])?;
    ///     s.repeat_while(&condition, |s| {
    ///         op::muls_inplace(s, &mut x, 3)?;
    ///         op::less_than(s, &x, 100, &mut more) // 1 or 0
    ///     })
    /// })?;
    /// graph.launch(&stream)?; // one call, however many rounds
    /// assert_eq!(x.to_vec()?, [243]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIAddCondTask")]
    #[doc(alias = "ACL_MODEL_RI_COND_TYPE_WHILE")]
    #[track_caller]
    pub fn repeat_while(&self, condition: &Condition, body: impl FnOnce(&Self) -> Result<()>) -> Result<()> {
        let place = ("repeat_while", Location::caller());
        let mut work = Some(body);
        let mut body = |_: usize, stream: &Self| work.take().map_or(Ok(()), |work| work(stream));
        let kind = aclmdlRICondTaskType::ACL_MODEL_RI_COND_TYPE_WHILE;
        Choice { stream: self, condition, kind, place }.record(1, &mut body)
    }

    /// Records a choice among `cases`: when the graph gets there, it runs the one whose number the condition is, from 0,
    /// and none for other numbers. `case` is called with each number now, and gives the work of that case to the stream
    /// that it is handed. Otherwise as [`Stream::if_else`].
    ///
    /// # Errors
    ///
    /// As [`Stream::if_else`]; [`ErrorKind::InvalidArgument`] for no cases, or more than 1023. A graph has at most 1024
    /// streams, its own and one for each body of all its choices; one with more is refused when it is launched.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut out = device.alloc_zeroed::<u8>(3)?;
    /// let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| {
    ///     let condition = s.condition(Some(1))?;
    ///     s.switch(&condition, 3, |case, s| s.fill_bytes(&mut out.slice_mut(case..=case)?, 8))
    /// })?;
    /// graph.launch(&stream)?;
    /// assert_eq!(out.to_vec()?, [0, 8, 0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIAddCondTask")]
    #[doc(alias = "ACL_MODEL_RI_COND_TYPE_SWITCH")]
    #[track_caller]
    pub fn switch(
        &self,
        condition: &Condition,
        cases: usize,
        mut case: impl FnMut(usize, &Self) -> Result<()>,
    ) -> Result<()> {
        let place = ("switch", Location::caller());
        if !(1..=MOST_CASES).contains(&cases) {
            let error = Error::invalid(format!("a switch of {cases} cases: 1 to {MOST_CASES} are possible"));
            return Err(self.refuse(place, error));
        }
        let kind = aclmdlRICondTaskType::ACL_MODEL_RI_COND_TYPE_SWITCH;
        Choice { stream: self, condition, kind, place }.record(cases, &mut case)
    }
}

impl Choice<'_> {
    fn record(&self, bodies: usize, work: &mut dyn FnMut(usize, &Stream) -> Result<()>) -> Result<()> {
        let mut graphs = vec![std::ptr::null_mut(); bodies];
        let capture = self.add_task(&mut graphs)?;
        for (index, graph) in graphs.into_iter().enumerate() {
            let body = self.begin(&capture, index, graph).map_err(|error| capture.lacks(self.place, error))?;
            let done = theirs(|| work(index, &body.stream));
            body.finish(done)?;
        }
        Ok(())
    }

    /// The task, which gives a graph for each body to be recorded into.
    fn add_task(&self, graphs: &mut [aclmdlRI]) -> Result<Arc<CaptureState>> {
        let inner = &self.stream.0;
        let (label, location) = self.place;
        inner.check_thread()?;
        let state = inner.lock();
        let Some(capture) = state.capture.clone() else {
            drop(state);
            return Err(not_capturing(label, self.stream));
        };
        capture.check_open()?;
        let free = capture.check_takes(inner, &[]).and_then(|()| self.condition.take(&capture));
        let handle = free.map_err(|error| capture.lacks(self.place, error))?;
        let size = u32::try_from(graphs.len()).map_err(|_| Error::invalid("more bodies than a number can count"))?;
        let params = aclmdlRICondTaskParams { handle, type_: self.kind, size, modelRIArray: graphs.as_mut_ptr() };
        inner.submit_locked(&state, &Task { label, location, uses: &[], scratch: None }, |raw| {
            // SAFETY: the condition is one of the graph that the stream records, which its lock keeps so; there are
            // places for `size` graphs.
            unsafe { call!(&**inner.context(), aclmdlRIAddCondTask(params, raw, 0)) }
        })?;
        Ok(capture)
    }

    fn begin(&self, outer: &Arc<CaptureState>, index: usize, graph: aclmdlRI) -> Result<Body> {
        let stream = Stream::lease(self.stream.0.context())?;
        stream.set_name(self.name(index));
        let state = outer.open_body(&self.stream.0, &stream.0, self.place)?;
        if let Err(error) = begin_recording(&stream, &state, graph) {
            // Nothing is to be ended.
            state.begin_end();
            outer.take_in(&state);
            return Err(error);
        }
        Ok(Body { stream, state, outer: Arc::clone(outer), place: self.place, over: false })
    }

    fn name(&self, index: usize) -> String {
        match (self.kind, index) {
            (aclmdlRICondTaskType::ACL_MODEL_RI_COND_TYPE_IF, 0) => "then".to_owned(),
            (aclmdlRICondTaskType::ACL_MODEL_RI_COND_TYPE_IF, _) => "else".to_owned(),
            (aclmdlRICondTaskType::ACL_MODEL_RI_COND_TYPE_WHILE, _) => "body".to_owned(),
            _ => format!("case {index}"),
        }
    }
}

fn begin_recording(stream: &Stream, state: &Arc<CaptureState>, graph: aclmdlRI) -> Result<()> {
    let inner = &stream.0;
    let mut own = inner.lock();
    // Under the lock, for which an end of the capture around it waits.
    state.check_open()?;
    let mode = state.mode();
    // SAFETY: the stream is new and live; the task gave the graph, which lives as long as the capture around it.
    unsafe { call!(&**inner.context(), aclmdlRICaptureToModelRIBegin(inner.raw(), graph, mode)) }?;
    own.capture = Some(Arc::clone(state));
    Ok(())
}

/// A body that is being recorded.
struct Body {
    stream: Stream,
    state: Arc<CaptureState>,
    outer: Arc<CaptureState>,
    place: Named,
    over: bool,
}

impl Body {
    /// Ends it after its work, which came to `done`.
    fn finish(mut self, done: Result<()>) -> Result<()> {
        let ended = self.end();
        let failure = self.state.failure();
        match (done, ended) {
            (Err(error), ended) => {
                self.tell(ended);
                Err(self.outer.lacks(self.place, error))
            }
            (Ok(()), Some(Err(error))) => Err(self.outer.lacks(self.place, error)),
            (Ok(()), Some(Ok(()))) => failure.map_or(Ok(()), |text| Err(invalidated(text))),
            (Ok(()), None) => Err(invalidated("the capture ended inside the body")),
        }
    }

    /// None when the end of the capture around it was its own.
    fn end(&mut self) -> Option<Result<()>> {
        self.over = true;
        let ended = end_body(&self.state);
        self.outer.take_in(&self.state);
        ended
    }

    /// That a body which is given up was not complete is no news.
    fn tell(&self, ended: Option<Result<()>>) {
        if let Some(Err(error)) = ended
            && !matches!(error.kind(), ErrorKind::CaptureUnjoined | ErrorKind::CaptureInvalidated)
        {
            self.stream.0.context().record_drop_error("ending a body that was given up", error);
        }
    }
}

fn invalidated(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::CaptureInvalidated, text)
}

impl Drop for Body {
    /// Its work panicked.
    fn drop(&mut self) {
        if !self.over {
            let ended = self.end();
            self.tell(ended);
            self.outer.lacks(self.place, invalidated("its body was not recorded to the end"));
        }
    }
}
