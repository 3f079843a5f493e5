//! Launches that end before their time, and what they leave.

use acl_sys::aclrtNotify;

use super::captured::{Graph, Made};
use crate::call::call;
use crate::error::{Error, ErrorKind, Result, ResultExt as _};
use crate::retire;

impl Graph {
    /// Ends the launch that runs, of a graph that was [built by hand](crate::GraphBuilder): the next waits for it, or
    /// for the stream that it was launched on, tell [`ErrorKind::Aborted`]. What the graph was to write is as it was,
    /// or half written; the next launch begins at its begin. It clears the notifies that the graph both records and
    /// waits for, of which some may be set; others are as they are, until the program [resets](crate::Notify::reset)
    /// them. Nothing happens when no launch runs. A graph that was captured runs on:
    /// [`Stream::abort`](crate::Stream::abort) of the stream that it was launched on ends its work. Returns when the
    /// library has been told; the next launch waits until this one is over.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] for a captured graph; [`ErrorKind::MissingSymbol`] on a library that cannot.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::ErrorKind;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (context, stream) = (device.context(), device.stream()?);
    /// let builder = context.build_graph()?;
    /// let never = context.notify()?;
    /// builder.first().wait_notify(&never, None)?;
    /// let mut graph = builder.finish()?;
    /// graph.launch(&stream)?;
    /// graph.abort()?;
    /// assert_eq!(graph.wait().unwrap_err().kind(), ErrorKind::Aborted);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRIAbort")]
    pub fn abort(&mut self) -> Result<()> {
        if self.made == Made::Captured {
            let text = "a captured graph goes on; the end of the work of the stream that it was launched on ends it";
            return Err(Error::new(ErrorKind::NotSupported, text));
        }
        // SAFETY: the graph is live, and `&mut self` excludes another call for it.
        unsafe { call!(&*self.context, aclmdlRIAbort(self.raw)) }?;
        self.aborted = true;
        Ok(())
    }

    /// As [`Graph::wait`], also where the launch was dropped.
    pub(crate) fn wait_over(&mut self) -> Result<()> {
        self.in_flight.wait_within(None)?;
        self.panics.tell()
    }

    /// Before a launch: clears what the one before may have left set, if it was aborted and is over. A notify that
    /// leads to the graph, or out of it, is the program's.
    #[cold]
    pub(super) fn clear_notifies(&mut self) -> Result<()> {
        self.aborted |= self.in_flight.check_not_dropped().is_err();
        if !self.aborted {
            return Ok(());
        }
        let limit = retire::drop_limit_ms();
        self.in_flight.outlast_abort(limit).context_with(|| "waiting for the launch that was aborted".to_owned())?;
        let mut own: Vec<aclrtNotify> = self.keep.own_notifies().map(|notify| notify.raw()).collect();
        if !own.is_empty() {
            // SAFETY: a list of live handles, which the graph keeps, and as long.
            unsafe { call!(&*self.context, aclrtNotifyBatchReset(own.as_mut_ptr(), own.len())) }?;
        }
        self.aborted = false;
        Ok(())
    }
}
