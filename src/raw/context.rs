//! Contexts from and to other code.

use acl_sys::aclrtContext;

use super::not_null;
use crate::acl::Acl;
use crate::context::{Context, Lender};
use crate::error::{Refused, Result};

impl Context {
    /// A context that other code made and keeps, such as that of another framework in the process: what is made in it
    /// belongs to it, and nothing of this crate resets its device or destroys it. It is current on this thread
    /// afterwards. When the value goes, what this crate kept in it for later use is given back, and the context is left
    /// as it is.
    ///
    /// Of one context several values may be made; each has memory, order between streams and errors of its own, and
    /// memory of one is memory of the device for the others.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or a context of the library of `acl`.
    /// 2. Other code neither destroys it, nor resets its device, before this value and all that was made in it are
    ///    gone.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`](crate::ErrorKind::InvalidHandle) for a null pointer;
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext) or
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for one that is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Context;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let theirs = acl.device(0)?.context().create_context()?; // stands for a context of another framework
    /// // SAFETY: a context of this library, which outlives the value.
    /// let context = unsafe { Context::from_raw(&acl, theirs.as_raw()) }?;
    /// assert_eq!(context.upload(&[1_u8, 2])?.to_vec()?, [1, 2]);
    /// context.close()?;
    /// theirs.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDevice")]
    #[doc(alias = "aclrtSetCurrentContext")]
    pub unsafe fn from_raw(acl: &Acl, raw: aclrtContext) -> Result<Self> {
        not_null(raw, "a null context")?;
        Self::adopt(acl, raw, Lender::default())
    }

    /// As [`Context::from_raw`], for a context that `owner` keeps: it is dropped, by whatever thread, when the value and
    /// all that was made in it are gone and what this crate kept in the context is given back. It may destroy the context
    /// then. A panic of that is caught and told in the log; where the log tells that the context could not be ended, the
    /// owner stays as long as the process.
    ///
    /// # Safety
    ///
    /// 1. `raw` is null or a context of the library of `acl`.
    /// 2. Other code neither destroys it, nor resets its device, before `owner` is dropped.
    ///
    /// # Errors
    ///
    /// As [`Context::from_raw`]. The owner is dropped then.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Context;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let theirs = acl.device(0)?.context().create_context()?; // stands for a context of another framework
    /// // SAFETY: a context of this library, which the value keeps as its owner.
    /// let context = unsafe { Context::from_raw_shared(&acl, theirs.as_raw(), theirs) }?;
    /// assert_eq!(context.upload(&[1_u8, 2])?.to_vec()?, [1, 2]);
    /// context.close()?; // and so that of the other framework
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetDevice")]
    #[doc(alias = "aclrtSetCurrentContext")]
    pub unsafe fn from_raw_shared(acl: &Acl, raw: aclrtContext, owner: impl Send + 'static) -> Result<Self> {
        let lender = Lender::of(owner);
        not_null(raw, "a null context")?;
        Self::adopt(acl, raw, lender)
    }

    /// Gives the handle away: the caller destroys a [created](Self::create_context) context, resets the device of a
    /// primary one, and leaves one [of others](Self::from_raw) to those. What this crate kept in it for later use is
    /// given back before.
    ///
    /// # Errors
    ///
    /// The context and why: [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while clones, or objects
    /// that belong to it, are alive; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for one that
    /// [an owner keeps](Self::from_raw_shared); otherwise as [`Context::close`].
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let raw = device.context().create_context()?.into_raw()?;
    /// // SAFETY: the context is this program's, and nothing belongs to it.
    /// assert_eq!(unsafe { acl.table().aclrtDestroyContext()?(raw) }, 0);
    /// # device.context().bind()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn into_raw(self) -> Result<aclrtContext, Refused<Self>> {
        self.give_away()
    }

    /// Gives the handle of a context that is never ended by this crate: it stays as long as the process, unless other
    /// code ends it. Clones, and objects that belong to it, may be used still.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Context;
    ///
    /// let acl = racl::Acl::mock()?;
    /// let raw = acl.device(0)?.context().create_context()?.leak();
    /// // SAFETY: a context of this library, which nothing ends.
    /// let context = unsafe { Context::from_raw(&acl, raw) }?;
    /// assert_eq!(context.upload(&[1_u8, 2])?.to_vec()?, [1, 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[must_use = "the context cannot be reached otherwise"]
    pub fn leak(self) -> aclrtContext {
        let raw = self.as_raw();
        std::mem::forget(self);
        raw
    }
}
