//! Notifies between processes.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::str::FromStr;

use super::Notify;
use crate::call::{call, non_null};
use crate::context::{Context, process_numbers};
use crate::error::{Error, Result};

/// Bytes of a key with its end (guide: notify, aclrtNotifyGetExportKey).
const KEY_BYTES: usize = 65;

/// What another process imports a [`Notify`] with: a text to send there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NotifyKey(CString);

impl NotifyKey {
    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Made of a text, or of characters that the library gave; what is no text there is none for it either.
        self.0.to_str().unwrap_or_default()
    }
}

impl fmt::Display for NotifyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for NotifyKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fits = (1..KEY_BYTES).contains(&text.len());
        let key = CString::new(text).ok().filter(|_| fits);
        key.map(Self).ok_or_else(|| Error::invalid(format!("a key of 1 to 64 bytes without a zero: {text:?}")))
    }
}

impl Notify {
    /// A key with which the processes of these numbers ([`Acl::process_id`](crate::Acl::process_id)) can import the
    /// notify; with no number at all, any process that has the key. The notify must live as long as they use it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a notify that was imported itself;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on a chip without;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let notify = device.context().notify()?;
    /// let key = notify.export(&[acl.process_id()?])?.to_string();
    /// // In the other process, which the key was sent to:
    /// let same = device.context().import_notify(&key.parse()?)?;
    /// let stream = device.stream()?;
    /// notify.record(&stream)?;
    /// stream.wait_notify(&same, None)?;
    /// stream.synchronize()?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtNotifyGetExportKey")]
    #[doc(alias = "aclrtNotifySetImportPid")]
    pub fn export(&self, processes: &[u32]) -> Result<NotifyKey> {
        let mut processes = process_numbers(processes)?;
        let flags = if processes.is_empty() {
            acl_sys::ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION
        } else {
            acl_sys::ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT
        };
        let context = &**self.0.context();
        let mut key = [0 as c_char; KEY_BYTES + 1];
        // SAFETY: a live handle, and room for the key; a zero stays behind it.
        unsafe { call!(context, aclrtNotifyGetExportKey(self.as_raw(), key.as_mut_ptr(), KEY_BYTES, flags.into())) }?;
        if !processes.is_empty() {
            let (list, count) = (processes.as_mut_ptr(), processes.len());
            // SAFETY: a live handle, and a list of so many numbers.
            unsafe { call!(context, aclrtNotifySetImportPid(self.as_raw(), list, count)) }?;
        }
        // SAFETY: the last byte is zero.
        Ok(NotifyKey(unsafe { CStr::from_ptr(key.as_ptr()) }.to_owned()))
    }
}

impl Context {
    /// The notify that another process exported, or this one. See [`Notify::export`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a key that nobody exported;
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) for one that is not for this process;
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) when its process is gone;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without.
    #[doc(alias = "aclrtNotifyImportByKey")]
    pub fn import_notify(&self, key: &NotifyKey) -> Result<Notify> {
        let mut raw = std::ptr::null_mut();
        let flags = u64::from(acl_sys::ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT);
        // SAFETY: a place for one handle, and a NUL-terminated string.
        unsafe { call!(&**self.inner(), aclrtNotifyImportByKey(&raw mut raw, key.0.as_ptr(), flags)) }?;
        Ok(Notify::own(non_null(raw, "aclrtNotifyImportByKey")?, self.inner()))
    }
}
