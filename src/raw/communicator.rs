//! Communicators from and to other code.

use acl_sys::HcclComm;

use super::not_null;
use crate::collective::Communicator;
use crate::context::Context;
use crate::error::{Refused, Result};

impl Communicator {
    /// Takes over a communicator that other code made for the device of `context`; it is destroyed with the last that
    /// has it, as one of this crate.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or a communicator of the libhccl of `context`, made for its device.
    /// 2. No other code uses it, or destroys it, from now on; what it was given before is done.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a null pointer;
    /// [`ErrorKind::UnknownValue`](crate::ErrorKind::UnknownValue) where the library tells a rank that is none;
    /// otherwise what the library says when it is asked for rank, size and name. Nothing is destroyed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let root = RootInfo::new(device.context())?;
    /// let raw = Communicator::new(device.context(), &root, 0, 1)?.into_raw()?;
    /// // SAFETY: the handle was just given away, and has no other owner.
    /// let ranks = unsafe { Communicator::from_raw(raw, &device) }?;
    /// assert_eq!((ranks.rank(), ranks.size()), (0, 1));
    /// ranks.close()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclComm")]
    pub unsafe fn from_raw(raw: HcclComm, context: impl AsRef<Context>) -> Result<Self> {
        not_null(raw, "a null communicator")?;
        Self::adopt(raw, context.as_ref(), None)
    }

    /// A communicator that stays with other code, such as another framework in the process: it is not destroyed here.
    /// `owner` is kept until neither this value, nor a graph, nor work that is not done has it, and dropped then, by
    /// whatever thread; a panic of that is caught and told in the log. [`Communicator::abort`] drops the work of this
    /// crate's streams, and leaves the communicator as it is.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or a communicator of the libhccl of `context`, made for its device, which lasts until `owner` is
    ///    dropped.
    /// 2. Other code makes no call with it while this crate makes one, and its operations are in the same order with
    ///    those of this crate on all ranks, and ordered on the device by the caller: this crate knows nothing of them.
    ///
    /// # Errors
    ///
    /// As [`Communicator::from_raw`]. The owner is dropped then.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::collective::{Communicator, RootInfo};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let root = RootInfo::new(device.context())?;
    /// let theirs = Communicator::new(device.context(), &root, 0, 1)?; // stands for one of another framework
    /// // SAFETY: a live communicator of this device, which the value keeps as its owner; nothing else uses it.
    /// let ranks = unsafe { Communicator::from_raw_shared(theirs.as_raw(), &device, theirs) }?;
    /// ranks.barrier(&device.stream()?)?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclComm")]
    pub unsafe fn from_raw_shared(
        raw: HcclComm,
        context: impl AsRef<Context>,
        owner: impl Send + Sync + 'static,
    ) -> Result<Self> {
        not_null(raw, "a null communicator")?;
        Self::adopt(raw, context.as_ref(), Some(Box::new(owner)))
    }

    /// Gives the handle away: the caller destroys the communicator.
    ///
    /// # Errors
    ///
    /// The communicator and [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while work that is not
    /// done or a graph uses it; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for one that
    /// [stays with other code](Self::from_raw_shared); [`ErrorKind::Aborted`](crate::ErrorKind::Aborted) for one that was
    /// aborted.
    #[doc(alias = "HcclComm")]
    pub fn into_raw(self) -> Result<HcclComm, Refused<Self>> {
        self.give_away()
    }
}
