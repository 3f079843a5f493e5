//! Futures: how work of the device is awaited.
//!
//! None needs a certain runtime, nor a thread of its own. One that is not ready is waited for by a thread that all
//! futures of a stream share, while there are any.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Task, Poll, Waker};

use bytemuck::Pod;

use crate::closure;
use crate::error::{Error, Refused, Result};
use crate::event::{Event, IpcEvent};
use crate::memory::{Lent, PinnedBuffer};
use crate::progress::{Pass, Progress};
use crate::retire;
use crate::stream::{Stream, StreamInner};

mod between;
mod place;
mod point;
mod waiter;

use place::Place;
use point::{Point, Untold};

/// What a stream was given before is done: a future, from [`Stream::finished`] and
/// [`Graph::finished`](crate::Graph::finished).
#[must_use = "a future does nothing unless it is awaited"]
pub struct Finished(Awaited);

/// The record of an event is reached: a future, from [`Event::reached`] and [`IpcEvent::reached`].
#[must_use = "a future does nothing unless it is awaited"]
pub struct Reached(Awaited);

/// A pinned buffer that comes back from its copy: what awaiting a [`Lent`] is.
///
/// Dropping it does not wait: the buffer is kept until the copy is done, then it is freed. A failure of such a copy, or of
/// work before it, the next wait for the stream tells, or the stream's drop. An error that names the copy comes with
/// [`Context::take_drop_errors`](crate::Context::take_drop_errors) when it is not done after as long as
/// [drops wait](crate::set_drop_limit).
#[must_use = "a future does nothing unless it is awaited"]
pub struct GivenBack<T: Pod> {
    /// None once it was given back.
    lent: Option<Lent<T>>,
    awaited: Awaited,
}

impl Stream {
    /// A future that is ready when everything submitted to the stream before this call is done, whether or not more is
    /// submitted later. Work submitted before a launch of a graph or a run of a plan that is followed by this counts
    /// as well, so `stream.finished().await?` stands behind each of them.
    ///
    /// It marks the point with an event of the context at once; what goes wrong with that comes when it is awaited.
    /// Any thread may poll it, with any executor. Polling does not block. Dropping it takes nothing back.
    ///
    /// # Errors
    ///
    /// Of the await: as [`Stream::synchronize`] for the work before the point; also the error of work behind it that has
    /// failed by then, which the library tells to whoever waits first. Of work that failed each future is told
    /// whose point is behind it, those that were made before anybody was told: as the library says it or, where it
    /// said so to another wait, as [`DeviceFault`](crate::ErrorKind::DeviceFault) with a text about that. What a future
    /// was told that was dropped, the next wait for the stream tells. The library tells each failure once: a
    /// synchronisation beside a future that waits may succeed where the future is told.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    /// use std::sync::Arc;
    /// use std::task::{Context, Poll, Wake};
    /// use std::thread::{self, Thread};
    ///
    /// // An executor of ten lines; those of any runtime do as well.
    /// struct Unpark(Thread);
    ///
    /// impl Wake for Unpark {
    ///     fn wake(self: Arc<Self>) {
    ///         self.0.unpark();
    ///     }
    /// }
    ///
    /// fn block_on<T>(work: impl Future<Output = T>) -> T {
    ///     let (mut work, waker) = (pin!(work), Arc::new(Unpark(thread::current())).into());
    ///     loop {
    ///         match work.as_mut().poll(&mut Context::from_waker(&waker)) {
    ///             Poll::Ready(done) => return done,
    ///             Poll::Pending => thread::park(),
    ///         }
    ///     }
    /// }
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut bytes = device.alloc::<u8>(64)?;
    /// block_on(async {
    ///     stream.fill_bytes(&mut bytes, 7)?;
    ///     stream.finished().await
    /// })?;
    /// assert_eq!(bytes.to_vec()?, [7; 64]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSynchronizeStream")]
    #[track_caller]
    pub fn finished(&self) -> Finished {
        Finished(Awaited::of(Point::mark(&self.0, Location::caller()).map(Some)))
    }
}

impl Finished {
    /// What the stream of this submission was given until now; ready where the stream is gone, which waited for it.
    pub(crate) fn behind(progress: &Arc<Progress>, number: u64, at: &'static Location<'static>) -> Self {
        let _pass = Pass::begin(progress);
        Self(Awaited::of(match StreamInner::of(progress) {
            Some(stream) => Point::mark(&stream, at).map(Some),
            None => retire::check_not_dropped(progress, number).map(|()| None),
        }))
    }

    /// Nothing.
    pub(crate) fn now() -> Self {
        Self(Awaited::Ready)
    }
}

impl Event {
    /// A future that is ready when the latest record is reached; at once for an event that was never recorded. The
    /// event is kept until then. When it is recorded anew meanwhile on the same stream, the future is ready by the later
    /// record at the latest. When that is on another stream or in a capture, the library forgets the record of before:
    /// the future is ready once the stream of that has done all that it was given until the future, or the thread that
    /// waits for it, asked next; and not while that stream captures.
    ///
    /// Any thread may poll it, with any executor. Polling does not block.
    ///
    /// # Errors
    ///
    /// Of the await: as [`Event::synchronize`], told as by [`Stream::finished`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// async fn halfway(stream: &racl::Stream) -> racl::Result<()> {
    ///     let event = Arc::new(stream.context().event()?);
    ///     event.record(stream)?;
    ///     // more work for the stream
    ///     event.reached().await
    /// }
    /// ```
    #[doc(alias = "aclrtSynchronizeEvent")]
    pub fn reached(self: &Arc<Self>) -> Reached {
        Reached(Awaited::of(Point::of(self)))
    }

    /// The same, which leaves panics of host functions before the record on its stream to others.
    pub(crate) fn outlasted(self: &Arc<Self>) -> Reached {
        Reached(Awaited::of(Point::of(self).map(|point| point.map(Point::without_panics))))
    }
}

impl<T: Pod + Send> IntoFuture for Lent<T> {
    type Output = Result<PinnedBuffer<T>, Refused<Self>>;
    type IntoFuture = GivenBack<T>;

    /// Awaits the copy, which gives the buffer back; as [`Lent::wait`], with the same errors.
    fn into_future(mut self) -> GivenBack<T> {
        let point = self.share_done().and_then(|done| Point::of(&done));
        GivenBack { lent: Some(self), awaited: Awaited::of(point) }
    }
}

/// How far a future is.
enum Awaited {
    Refused(Error),
    Begun(Point),
    /// An event that other processes have.
    Elsewhere(Arc<IpcEvent>),
    /// A thread waits for it.
    Waits(Waits),
    /// There is nothing to wait for.
    Ready,
    Over,
}

impl Awaited {
    fn of(point: Result<Option<Point>>) -> Self {
        match point {
            Ok(Some(point)) => Self::Begun(point),
            Ok(None) => Self::Ready,
            Err(error) => Self::Refused(error),
        }
    }

    fn poll(&mut self, waker: &Waker) -> Poll<Result<()>> {
        match std::mem::replace(self, Self::Over) {
            Self::Refused(error) => Poll::Ready(Err(error)),
            Self::Begun(point) => {
                if let Some(ended) = point.ask() {
                    return Poll::Ready(ended);
                }
                let (place, unheard) = (Place::new(waker), Unheard::Work(point.untold()));
                self.wait(waiter::tell(point, &place), Waits { place, unheard })
            }
            Self::Elsewhere(event) => {
                if let Some(ended) = between::ask(&event) {
                    return Poll::Ready(ended);
                }
                let place = Place::new(waker);
                self.wait(between::tell(&event, &place), Waits { place, unheard: Unheard::Elsewhere(event) })
            }
            Self::Waits(waits) => {
                let told = waits.place.poll(waker);
                if told.is_pending() {
                    *self = Self::Waits(waits);
                }
                told
            }
            Self::Ready => Poll::Ready(Ok(())),
            Self::Over => Poll::Ready(Err(Error::invalid("a future that was ready is polled again"))),
        }
    }

    /// A thread waits for it, unless there is none.
    fn wait(&mut self, begun: Result<()>, waits: Waits) -> Poll<Result<()>> {
        match begun {
            Ok(()) => *self = Self::Waits(waits),
            Err(error) => return Poll::Ready(Err(error)),
        }
        Poll::Pending
    }
}

/// Of one future.
struct Waits {
    place: Arc<Place>,
    unheard: Unheard,
}

/// Where it goes what a future was told that was dropped.
enum Unheard {
    Work(Untold),
    /// The future keeps the event.
    Elsewhere(Arc<IpcEvent>),
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Err(error) = self.place.leave() {
            match &self.unheard {
                Unheard::Work(untold) => untold.keep(error),
                Unheard::Elsewhere(event) => between::keep(event, error),
            }
        }
    }
}

impl Future for Finished {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Result<()>> {
        self.0.poll(task.waker())
    }
}

impl Future for Reached {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Result<()>> {
        self.0.poll(task.waker())
    }
}

impl<T: Pod> Unpin for GivenBack<T> {}

impl<T: Pod> Future for GivenBack<T> {
    type Output = Result<PinnedBuffer<T>, Refused<Lent<T>>>;

    /// # Panics
    ///
    /// When it was ready before: there is no buffer to give.
    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Self::Output> {
        match self.awaited.poll(task.waker()) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(ended) => {
                let lent = self.lent.take().expect("a future that was ready is polled again");
                Poll::Ready(lent.ended(ended))
            }
        }
    }
}

impl<T: Pod> Drop for GivenBack<T> {
    fn drop(&mut self) {
        let Some(mut lent) = self.lent.take() else { return };
        // One that is over, or that cannot be asked, does not wait in its own drop.
        let over = !closure::is_running() && lent.is_over().unwrap_or(true);
        if !over && let Ok(Some(point)) = lent.share_done().and_then(|done| Point::of(&done)) {
            waiter::keep(point.without_panics(), lent.into_bytes());
        }
    }
}

impl fmt::Debug for Awaited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Refused(_) => "refused",
            Self::Begun(_) | Self::Elsewhere(_) => "not polled",
            Self::Waits(_) => "waits",
            Self::Ready => "not polled",
            Self::Over => "ready",
        })
    }
}

impl fmt::Debug for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Finished").field(&self.0).finish()
    }
}

impl fmt::Debug for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reached").field(&self.0).finish()
    }
}

impl<T: Pod> fmt::Debug for GivenBack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GivenBack").field(&self.awaited).finish()
    }
}
