//! Runs that are awaited.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::dataset::Lists;
use super::run::{ModelRun, OutputShapes};
use crate::error::{Error, Result};
use crate::future::Finished;
use crate::stream::Stream;

/// A run of a model is done: a future, from [`ModelRun::submit_async`], which gives the shapes of the outputs.
#[must_use = "a future does nothing unless it is awaited"]
pub struct ModelFinished<'m> {
    run: ModelRun<'m>,
    /// None once they were given.
    known: Option<(OutputShapes, Arc<Lists>)>,
    finished: Finished,
}

impl<'m> ModelRun<'m> {
    /// Queues the run as [`submit`](Self::submit) does, and gives a future that is ready when it is done, with the shapes
    /// that the run had, as [`wait`](Self::wait) gives them. What the stream was given before counts as well.
    ///
    /// Any thread may poll it, with any executor. Polling does not block. Dropping it takes nothing back: what the run
    /// uses is kept until it is done.
    ///
    /// # Errors
    ///
    /// As [`ModelRun::submit`]. Of the await: as [`Stream::finished`], and for outputs that do not hold what the run gave.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Tensor;
    ///
    /// async fn twice(model: &racl::Model, stream: &racl::Stream, x: &Tensor<f32>) -> racl::Result<Vec<f32>> {
    ///     let mut y = stream.context().zeros::<f32>([2, 3])?;
    ///     let run = model.run().input("x", x)?.output("y", &mut y)?;
    ///     run.submit_async(stream)?.await?;
    ///     y.to_vec()
    /// }
    /// ```
    #[doc(alias = "aclmdlExecuteAsync")]
    #[track_caller]
    pub fn submit_async(self, stream: &Stream) -> Result<ModelFinished<'m>> {
        let named = ("model", Location::caller());
        let known = self.submit_named(stream, named).map_err(|error| stream.refuse(named, error))?;
        Ok(ModelFinished { run: self, known: Some(known), finished: stream.finished() })
    }
}

impl Future for ModelFinished<'_> {
    type Output = Result<OutputShapes>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<OutputShapes>> {
        let ended = ready!(Pin::new(&mut self.finished).poll(task));
        let known = self.known.take();
        Poll::Ready(ended.and_then(|()| match known {
            Some((shapes, lists)) => self.run.told(shapes, &lists),
            None => Err(Error::invalid("a future that was ready is polled again")),
        }))
    }
}

impl fmt::Debug for ModelFinished<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelFinished").field(&self.finished).finish()
    }
}
