//! Host outputs that are awaited.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as Task, Poll};

use crate::error::{Error, ErrorKind, Result};
use crate::future::Reached;

use super::host_outputs::HostOutputs;

/// The host outputs of a run have arrived: a future, from [`HostOutputs::arrived`].
#[must_use = "a future does nothing unless it is awaited"]
pub struct Arrived<'a> {
    outputs: &'a mut HostOutputs,
    awaited: Awaited,
}

enum Awaited {
    /// Nothing was asked for yet.
    New,
    /// What is not reached.
    Waits(Vec<Reached>),
    Over,
}

impl HostOutputs {
    /// A future that is ready when the run is over: [`HostOutputs::read`] and its like do not wait then. Later runs may
    /// wait or be under way.
    ///
    /// Any thread may poll it, with any executor. Polling does not block. Dropping it takes nothing back: the outputs can
    /// be read, or awaited again.
    ///
    /// # Errors
    ///
    /// Of the await: those of [`HostOutputs::read`] that are of the run.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Result;
    /// use racl::plan::{HostOutputs, OutputId};
    ///
    /// async fn logits(outputs: &mut HostOutputs, id: OutputId) -> Result<Vec<f32>> {
    ///     outputs.arrived().await?; // other tasks run meanwhile
    ///     outputs.read(id)
    /// }
    /// ```
    #[doc(alias = "aclrtSynchronizeEvent")]
    pub fn arrived(&mut self) -> Arrived<'_> {
        Arrived { outputs: self, awaited: Awaited::New }
    }
}

impl Arrived<'_> {
    fn refused(&mut self, error: Error) -> Poll<Result<()>> {
        let HostOutputs { delivery, outcome, .. } = &mut *self.outputs;
        if error.kind() == ErrorKind::Other && error.code().is_none() {
            // No thread could be started, which says nothing of the run: it can be awaited again.
            self.awaited = Awaited::New;
            return Poll::Ready(Err(error));
        }
        self.awaited = Awaited::Over;
        Poll::Ready(Err(delivery.told(outcome, error)))
    }
}

impl Future for Arrived<'_> {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Result<()>> {
        if matches!(self.awaited, Awaited::New) {
            self.awaited = match self.outputs.delivery.awaited() {
                Ok(all) => Awaited::Waits(all),
                Err(error) => return self.refused(error),
            };
        }
        while let Awaited::Waits(all) = &mut self.awaited
            && let Some(next) = all.last_mut()
        {
            match Pin::new(next).poll(task) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) => drop(all.pop()),
                Poll::Ready(Err(error)) => return self.refused(error),
            }
        }
        self.awaited = Awaited::Over;
        let HostOutputs { delivery, outcome, .. } = &mut *self.outputs;
        Poll::Ready(delivery.settle(outcome))
    }
}

impl fmt::Debug for Arrived<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrived").finish_non_exhaustive()
    }
}
