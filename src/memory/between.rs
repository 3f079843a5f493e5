//! Device memory that several processes have.

use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use acl_sys::aclrtIpcMemAttrType;
use bytemuck::Pod;

use super::{Allocation, DeviceBuffer, SharedBuffer};
use crate::call::{Caller as _, call};
use crate::context::{Context, ContextInner, GiveBack, process_numbers};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::retire;

/// Bytes of a key of the library with its end (guide: memory management, aclrtIpcMemGetExportKey).
const KEY_BYTES: usize = 65;

/// What another process imports device memory with: a text to send there, of the library's key and the number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemoryKey {
    key: CString,
    bytes: usize,
}

impl MemoryKey {
    /// Bytes of the memory.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Display for MemoryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Made of a text, or of characters that the library gave; what is no text there is none for it either.
        write!(f, "{}:{}", self.key.to_str().unwrap_or_default(), self.bytes)
    }
}

impl FromStr for MemoryKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let parts = text.rsplit_once(':').filter(|(key, _)| (1..KEY_BYTES).contains(&key.len()));
        let key = parts.and_then(|(key, bytes)| {
            let bytes = bytes.parse().ok().filter(|bytes| (1..=isize::MAX as usize).contains(bytes))?;
            Some(Self { key: CString::new(key).ok()?, bytes })
        });
        key.ok_or_else(|| {
            Error::invalid(format!("a key of 1 to 64 bytes without a zero, a colon and a number of bytes: {text:?}"))
        })
    }
}

/// A link between cards, over which other processes reach memory ([`MemoryExport::set_link`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryLink {
    /// SIO, between the dies of one card.
    #[doc(alias = "ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO")]
    Sio,
    /// HCCS, between cards of a server.
    #[doc(alias = "ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS")]
    Hccs,
    /// One port of UB.
    #[doc(alias = "ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH")]
    UbOnePort,
    /// Several ports of UB.
    #[doc(alias = "ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH")]
    UbSeveralPorts,
}

/// Device memory that other processes may import, as long as this value lives. It keeps the memory.
///
/// What other processes do with the memory is in no order with work here, and this crate knows nothing of it: an
/// [`IpcEvent`](crate::IpcEvent) or a [`Notify`](crate::Notify) makes one. Processes that imported it give it up before
/// this value goes (guide: memory management, aclrtIpcMemClose); send word of that. Any thread may use it. Dropping it
/// does not block.
///
/// C calls: `aclrtIpcMemGetExportKey`, `aclrtIpcMemSetImportPid`, `aclrtIpcMemSetAttr`, `aclrtIpcMemClose`.
///
/// # Examples
///
/// ```
/// let acl = racl::Acl::mock()?;
/// let device = acl.device(0)?;
/// let mut memory = device.context().alloc_direct::<u32>(2)?.into_shared();
/// memory.write(&[1, 2])?;
/// let export = memory.export(&[acl.process_id()?])?;
/// let text = export.key().to_string(); // to be sent to another process, which imports it
/// // SAFETY: the key of the export above, which is closed after this memory.
/// let mut same = unsafe { device.context().import_memory::<u32>(&text.parse()?) }?;
/// same.write(&[3, 4])?;
/// assert_eq!(memory.to_vec()?, [3, 4]);
/// same.close()?; // before the export
/// export.close()?;
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtIpcMemGetExportKey")]
pub struct MemoryExport {
    key: MemoryKey,
    memory: Arc<Allocation>,
    closed: bool,
}

impl<T: Pod> SharedBuffer<T> {
    /// Lets the processes of these numbers ([`Acl::process_id`](crate::Acl::process_id)) import the memory; with no
    /// number at all, any process that has the key. All of it, which must be an allocation by itself, as
    /// [`Context::alloc_direct`] makes it: what lies beside it in a segment would be shared too.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`] for memory that is no allocation by itself; [`ErrorKind::InvalidArgument`] for a
    /// part of one, and a number above 2,147,483,647; [`ErrorKind::MissingSymbol`] on a library without;
    /// [`ErrorKind::Driver`] where the driver cannot.
    ///
    /// # Examples
    ///
    /// See [`MemoryExport`].
    #[doc(alias = "aclrtIpcMemGetExportKey")]
    #[doc(alias = "aclrtIpcMemSetImportPid")]
    #[doc(alias = "cudaIpcGetMemHandle")]
    pub fn export(&self, processes: &[u32]) -> Result<MemoryExport> {
        let memory = self.allocation();
        let mut processes = process_numbers(processes)?;
        memory.check_own_call()?;
        let (address, bytes) = (self.address(), self.size_bytes());
        if address != memory.address() || bytes != memory.bytes() {
            return Err(Error::invalid("a part of memory, of which only all can be exported"));
        }
        let flags = if processes.is_empty() {
            acl_sys::ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION
        } else {
            acl_sys::ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT
        };
        let (context, mut key) = (&**memory.context(), [0 as c_char; KEY_BYTES + 1]);
        let text = key.as_mut_ptr();
        // SAFETY: the memory has as many bytes, and `key` room for a key; a zero stays behind it.
        unsafe { call!(context, aclrtIpcMemGetExportKey(address, bytes, text, KEY_BYTES, flags.into())) }?;
        // SAFETY: the last byte is zero.
        let key = MemoryKey { key: unsafe { CStr::from_ptr(key.as_ptr()) }.to_owned(), bytes };
        let export = MemoryExport { key, memory: Arc::clone(memory), closed: false };
        if !processes.is_empty() {
            let (list, count) = (processes.as_mut_ptr(), processes.len());
            // SAFETY: a key of this process, and a list of so many numbers.
            unsafe { call!(context, aclrtIpcMemSetImportPid(export.raw(), list, count)) }?;
        }
        Ok(export)
    }
}

impl MemoryExport {
    fn raw(&self) -> *const c_char {
        self.key.key.as_ptr()
    }

    /// What other processes import the memory with.
    #[must_use]
    pub fn key(&self) -> &MemoryKey {
        &self.key
    }

    /// Over which link other processes reach the memory, before they import it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without; [`ErrorKind::NotSupported`] or [`ErrorKind::Driver`] for a
    /// link that the card does not have.
    #[doc(alias = "aclrtIpcMemSetAttr")]
    pub fn set_link(&self, link: MemoryLink) -> Result<()> {
        let (kind, link) = (
            aclrtIpcMemAttrType::ACL_RT_IPC_MEM_ATTR_ACCESS_LINK,
            match link {
                MemoryLink::Sio => acl_sys::ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO,
                MemoryLink::Hccs => acl_sys::ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS,
                MemoryLink::UbOnePort => acl_sys::ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH,
                MemoryLink::UbSeveralPorts => acl_sys::ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH,
            },
        );
        // SAFETY: a key of this process, and two numbers.
        unsafe { call!(&**self.memory.context(), aclrtIpcMemSetAttr(self.raw(), kind, link.into())) }
    }

    /// Ends the export now: the memory cannot be imported any more.
    ///
    /// # Errors
    ///
    /// This value and what the library says, such as [`ErrorKind::InvalidArgument`] for a key that it does not know.
    #[doc(alias = "aclrtIpcMemClose")]
    pub fn close(mut self) -> Result<(), Refused<Self>> {
        match self.end() {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    fn end(&mut self) -> Result<()> {
        if !self.closed {
            close(self.memory.context(), &self.key.key)?;
            self.closed = true;
        }
        Ok(())
    }
}

impl Drop for MemoryExport {
    fn drop(&mut self) {
        if !self.closed && retire::must_leave() {
            self.closed = true;
            let heir = Self { key: self.key.clone(), memory: Arc::clone(&self.memory), closed: false };
            return retire::on_thread(heir, drop);
        }
        if let Err(error) = self.end() {
            self.memory.context().record_drop_error("ending an export of device memory", error);
        }
    }
}

/// Memory of another process, by its key.
struct Imported(CString);

impl GiveBack for Imported {
    fn give_back(&self, context: &ContextInner) -> Result<()> {
        close(context, &self.0)
    }
}

/// Closes a key that was opened or made here, once.
fn close(context: &ContextInner, key: &CStr) -> Result<()> {
    // SAFETY: a NUL-terminated string; a key that is not open gives a code, and what was imported with this one is used
    // by no submitted work any more.
    unsafe { call!(context, aclrtIpcMemClose(key.as_ptr())) }
}

impl Context {
    /// The device memory that another process [exports](SharedBuffer::export), of the device of this context. It is a
    /// buffer like others, but that work of the other process on it is in no order with work here, and that its content
    /// changes when that writes it. Imported again, also by another context, it is other memory for the order between
    /// streams. It counts as memory by itself among the [statistics](Self::memory_stats).
    ///
    /// # Safety
    ///
    /// 1. The key is one that an export gave, with its number of bytes: a text from elsewhere may say more than there
    ///    is, which is found only where the library knows its allocations, after CANN 9.1.
    /// 2. The export lives until this memory is closed, or dropped and no work uses it; also one of this process, since
    ///    the end of an export ends its imports here (guide: memory management, aclrtIpcMemClose).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a key that nobody exported, and memory that is no whole number of elements or
    /// not aligned for them; [`ErrorKind::Driver`] when this process may not import it, or the other one is gone;
    /// [`ErrorKind::MissingSymbol`] on a library without.
    ///
    /// # Examples
    ///
    /// See [`MemoryExport`].
    #[doc(alias = "aclrtIpcMemImportByKey")]
    #[doc(alias = "cudaIpcOpenMemHandle")]
    pub unsafe fn import_memory<T: Pod>(&self, key: &MemoryKey) -> Result<DeviceBuffer<T>> {
        self.import(key, acl_sys::ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT)
    }

    /// As [`import_memory`](Self::import_memory), memory of another device than that of this context, to which its
    /// device gets access.
    ///
    /// # Safety
    ///
    /// As [`import_memory`](Self::import_memory).
    ///
    /// # Errors
    ///
    /// As [`import_memory`](Self::import_memory); [`ErrorKind::Driver`] for devices without a link.
    #[doc(alias = "ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS")]
    pub unsafe fn import_peer_memory<T: Pod>(&self, key: &MemoryKey) -> Result<DeviceBuffer<T>> {
        self.import(key, acl_sys::ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS)
    }

    fn import<T: Pod>(&self, key: &MemoryKey, flags: u32) -> Result<DeviceBuffer<T>> {
        let (bytes, size) = (key.bytes, size_of::<T>());
        if size == 0 || !bytes.is_multiple_of(size) {
            return Err(Error::invalid(format!("{bytes} bytes of memory for elements of {size} bytes")));
        }
        let mut address: *mut c_void = std::ptr::null_mut();
        let text = key.key.as_ptr();
        // SAFETY: a place for one address, and a NUL-terminated string.
        unsafe { call!(&**self.inner(), aclrtIpcMemImportByKey(&raw mut address, text, flags.into())) }?;
        let owner = Arc::new(Imported(key.key.clone()));
        let memory = Allocation::of_calls(self.inner(), address, bytes, bytes, owner);
        if address.is_null() {
            return Err(Error::new(ErrorKind::Internal, "aclrtIpcMemImportByKey succeeded and gave no memory"));
        }
        if !address.cast::<T>().is_aligned() {
            let text = format!("device memory at {address:p}, for elements aligned to {}", align_of::<T>());
            return Err(Error::invalid(text));
        }
        self.check_imported(address, bytes)?;
        Ok(DeviceBuffer::over(memory, bytes / size))
    }

    /// That there are as many bytes as the key says, where the library can tell: keys come as text.
    fn check_imported(&self, address: *mut c_void, bytes: usize) -> Result<()> {
        if !self.inner().table().has("aclrtMemGetAddressRange") {
            return Ok(());
        }
        let (base, all) = match self.allocation_of(address) {
            Ok(found) => found,
            // The library need not know memory of another process by its address.
            Err(error) if matches!(error.kind(), ErrorKind::InvalidArgument | ErrorKind::NotSupported) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let before = address.addr().wrapping_sub(base.addr());
        if before <= all && bytes <= all - before {
            return Ok(());
        }
        Err(Error::invalid(format!("a key for {bytes} bytes of memory that has {all}")))
    }

    /// Where the allocation of device memory begins that has this address, and its bytes: what the library knows, such
    /// as a whole segment of which a buffer is a part. The address is looked up, and not followed.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for an address outside of device memory; [`ErrorKind::MissingSymbol`] up to CANN
    /// 9.1.
    ///
    /// # Examples
    ///
    /// ```
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let memory = device.context().alloc_direct::<u8>(64)?;
    /// let (start, bytes) = device.context().allocation_of(memory.slice(10..)?.address())?;
    /// assert_eq!(start, memory.address());
    /// assert!(bytes >= 64);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemGetAddressRange")]
    #[expect(clippy::not_unsafe_ptr_arg_deref, reason = "the library looks the address up and does not follow it")]
    pub fn allocation_of(&self, address: *mut c_void) -> Result<(*mut c_void, usize)> {
        let (mut base, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: places for an address and a number.
        unsafe { call!(&**self.inner(), aclrtMemGetAddressRange(address, &raw mut base, &raw mut bytes)) }?;
        Ok((base, bytes))
    }
}

impl fmt::Debug for MemoryExport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryExport").field("memory", &self.memory).field("key", &self.key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::MemoryKey;

    #[test]
    fn a_key_is_a_text_with_the_number_of_bytes() {
        let key: MemoryKey = "a:b:64".parse().unwrap();
        assert_eq!((key.size_bytes(), key.to_string().as_str()), (64, "a:b:64"));
        let long = "k".repeat(65) + ":1";
        for bad in ["", ":", "a", "a:", ":1", "a:0", "a:-1", "a:x", "a\0b:1", &long, "a:99999999999999999999"] {
            assert!(bad.parse::<MemoryKey>().is_err(), "{bad:?}");
        }
    }
}
