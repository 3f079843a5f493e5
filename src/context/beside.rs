//! The context of a thread that this crate and other code take turns on.

use acl_sys::{Table, aclrtContext};

use super::Context;
use crate::acl::Acl;
use crate::call::{Scope as _, believed, bind_anew, current_of, restore};
use crate::error::{Error, Result};
use crate::lock::{say, theirs};

/// What was current on this thread; made current again when this goes, also by a panic.
struct Restores<'a> {
    table: &'a Table,
    current: aclrtContext,
    believed: u64,
    done: bool,
}

impl<'a> Restores<'a> {
    fn new(table: &'a Table) -> Self {
        Self { table, current: current_of(table), believed: believed(), done: false }
    }

    fn restore(mut self) -> Result<()> {
        self.done = true;
        restore(self.table, self.current, self.believed)
    }
}

impl Drop for Restores<'_> {
    fn drop(&mut self) {
        if !self.done
            && let Err(error) = restore(self.table, self.current, self.believed)
        {
            say!(Error, "making the context current that was so before: {error:#}");
        }
    }
}

impl Acl {
    /// Runs code that may make other contexts current on this thread beside this crate, such as a call into PyTorch.
    /// Afterwards the context is current again that was so before, which calls of this crate rely on; where none was,
    /// this crate makes its own current at its next call. Two C calls beside those of `other`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext) when the former context is gone meanwhile, with
    /// what `other` gave lost. Calls of this crate bind anew then.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let stream = acl.device(0)?.context().create_context()?.stream()?;
    /// let set = acl.table().aclrtSetDevice()?;
    /// // SAFETY: takes a number.
    /// let code = acl.beside(|| unsafe { set(0) })?; // as foreign code does
    /// assert_eq!(code, 0);
    /// stream.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetCurrentContext")]
    #[doc(alias = "aclrtSetCurrentContext")]
    pub fn beside<T>(&self, other: impl FnOnce() -> T) -> Result<T> {
        let mut before = Restores::new(self.table());
        if before.current.is_null() {
            before.believed = 0;
        }
        let given = theirs(other);
        before.restore().map(|()| given)
    }
}

impl Context {
    /// Runs `work` with this context current on the thread, in code that other code has called: what that had made
    /// current is so again afterwards, for it. A thread that had no context keeps this one, since the library cannot
    /// take it away. Three C calls beside those of `work`.
    ///
    /// # Errors
    ///
    /// That of `work`; [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) or
    /// [`ErrorKind::WrongContext`](crate::ErrorKind::WrongContext) when this context, or the former one, is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// // In a function that a framework calls, on its thread:
    /// let sum = device.context().within(|| device.upload(&[1_u8, 2])?.to_vec())?;
    /// assert_eq!(sum, [1, 2]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtGetCurrentContext")]
    #[doc(alias = "aclrtSetCurrentContext")]
    pub fn within<T, E: From<Error>>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let inner = &*self.0;
        let mut before = Restores::new(inner.acl.table());
        if before.current != inner.raw() {
            // What this crate believed is not sure: the code around may have changed it.
            before.believed = 0;
        }
        bind_anew(inner)?;
        let done = theirs(work);
        let restored = if before.current.is_null() {
            before.done = true;
            Ok(())
        } else {
            before.restore()
        };
        let given = done?;
        restored?;
        Ok(given)
    }
}
