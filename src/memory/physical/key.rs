//! Physical memory between processes.

use std::fmt;
use std::str::FromStr;

use acl_sys::{aclrtDrvMemHandle, aclrtMemHandleType, aclrtMemSharedHandleType};

use super::PhysicalMemory;
use crate::call::{call, non_null};
use crate::context::{Context, process_numbers};
use crate::error::{Error, Result};

/// Bytes of a handle between servers (header: aclrtMemFabricHandle).
const FABRIC_BYTES: usize = 128;

/// What another process imports [`PhysicalMemory`] with: a text to send there.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PhysicalKey {
    handle: Handle,
    bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Handle {
    /// Of processes of one server.
    Server(u64),
    Fabric(Box<[u8; FABRIC_BYTES]>),
}

impl PhysicalKey {
    /// Bytes of the memory.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Display for PhysicalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.handle {
            Handle::Server(number) => write!(f, "server:{number:016x}")?,
            Handle::Fabric(bytes) => {
                f.write_str("fabric:")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            }
        }
        write!(f, ":{}", self.bytes)
    }
}

/// A handle from its digits.
fn handle_of(kind: &str, digits: &str) -> Option<Handle> {
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    match (kind, digits.len()) {
        ("server", 16) => u64::from_str_radix(digits, 16).ok().map(Handle::Server),
        ("fabric", length) if length == 2 * FABRIC_BYTES => {
            let mut bytes = Box::new([0; FABRIC_BYTES]);
            for (at, byte) in bytes.iter_mut().enumerate() {
                *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
            }
            Some(Handle::Fabric(bytes))
        }
        _ => None,
    }
}

impl FromStr for PhysicalKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split(':');
        let key = (|| {
            let handle = handle_of(parts.next()?, parts.next()?)?;
            let bytes = parts.next()?.parse().ok().filter(|bytes| (1..=isize::MAX as usize).contains(bytes))?;
            parts.next().is_none().then_some(Self { handle, bytes })
        })();
        key.ok_or_else(|| {
            Error::invalid(format!("a key as PhysicalMemory::export makes it, \"server:…:bytes\": {text:?}"))
        })
    }
}

impl PhysicalMemory {
    /// Lets the processes of these numbers ([`Acl::process_id`](crate::Acl::process_id)), on the same server, import
    /// the memory; with no number at all, any process that has the key. It stays as long as any of them has it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for memory that was imported itself, and a
    /// number above 2,147,483,647; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without;
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) where the driver cannot.
    ///
    /// # Examples
    ///
    /// ```
    /// let acl = racl::Acl::mock()?;
    /// let device = acl.device(0)?;
    /// let context = device.context();
    /// let memory = context.physical_memory(2 << 20)?;
    /// let text = memory.export(&[acl.process_id()?])?.to_string(); // to be sent to another process
    /// // There:
    /// let same = context.import_physical(&text.parse()?)?;
    /// let mut buffer = context.reserve::<u8>(2 << 20)?;
    /// buffer.map(&same)?;
    /// assert_eq!(buffer.len(), 2 << 20);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemExportToShareableHandle")]
    #[doc(alias = "aclrtMemSetPidToShareableHandle")]
    #[doc(alias = "cuMemExportToShareableHandle")]
    pub fn export(&self, processes: &[u32]) -> Result<PhysicalKey> {
        let mut processes = process_numbers(processes)?;
        let (context, flags, mut number) = (&*self.context, flags(&processes), 0);
        let kind = aclrtMemHandleType::ACL_MEM_HANDLE_TYPE_NONE;
        // SAFETY: a live handle, and a place for one number.
        unsafe { call!(context, aclrtMemExportToShareableHandle(self.raw, kind, flags, &raw mut number)) }?;
        if !processes.is_empty() {
            let (list, count) = (processes.as_mut_ptr(), processes.len());
            // SAFETY: a handle of this process, and a list of so many numbers.
            unsafe { call!(context, aclrtMemSetPidToShareableHandle(number, list, count)) }?;
        }
        Ok(PhysicalKey { handle: Handle::Server(number), bytes: self.bytes })
    }

    /// As [`export`](Self::export), to processes of other servers too, where these are linked.
    ///
    /// # Errors
    ///
    /// As [`export`](Self::export); [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) up to CANN 9.1.
    #[doc(alias = "aclrtMemExportToShareableHandleV2")]
    #[doc(alias = "aclrtMemSetPidToShareableHandleV2")]
    #[doc(alias = "aclrtMemFabricHandle")]
    pub fn export_fabric(&self, processes: &[u32]) -> Result<PhysicalKey> {
        let mut processes = process_numbers(processes)?;
        let (context, flags, mut bytes) = (&*self.context, flags(&processes), Box::new([0_u8; FABRIC_BYTES]));
        let (kind, place) = (aclrtMemSharedHandleType::ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, bytes.as_mut_ptr().cast());
        // SAFETY: a live handle, and room for a handle of this type.
        unsafe { call!(context, aclrtMemExportToShareableHandleV2(self.raw, flags, kind, place)) }?;
        if !processes.is_empty() {
            let (list, count) = (processes.as_mut_ptr(), processes.len());
            // SAFETY: a handle of this process, and a list of so many numbers.
            unsafe { call!(context, aclrtMemSetPidToShareableHandleV2(place, kind, list, count)) }?;
        }
        Ok(PhysicalKey { handle: Handle::Fabric(bytes), bytes: self.bytes })
    }
}

/// Whether the numbers of processes are looked at.
fn flags(processes: &[i32]) -> u64 {
    u64::from(if processes.is_empty() {
        acl_sys::ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION
    } else {
        acl_sys::ACL_RT_VMM_EXPORT_FLAG_DEFAULT
    })
}

impl Context {
    /// The physical memory that another process exported, or this one, for the device of this context.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Driver`](crate::ErrorKind::Driver) for a key that nobody gave out or that this process may not use,
    /// and when the other one is gone; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library
    /// without. A wrong number of bytes is told when the memory is mapped.
    ///
    /// # Examples
    ///
    /// See [`PhysicalMemory::export`].
    #[doc(alias = "aclrtMemImportFromShareableHandle")]
    #[doc(alias = "aclrtMemImportFromShareableHandleV2")]
    pub fn import_physical(&self, key: &PhysicalKey) -> Result<PhysicalMemory> {
        let (context, mut raw): (_, aclrtDrvMemHandle) = (&**self.inner(), std::ptr::null_mut());
        let name = match &key.handle {
            Handle::Server(number) => {
                let device = context.device();
                // SAFETY: a place for one handle; a number that nobody gave out gives a code.
                unsafe { call!(context, aclrtMemImportFromShareableHandle(*number, device, &raw mut raw)) }?;
                "aclrtMemImportFromShareableHandle"
            }
            Handle::Fabric(bytes) => {
                let (kind, mut bytes) = (aclrtMemSharedHandleType::ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, bytes.clone());
                let handle = bytes.as_mut_ptr().cast();
                // SAFETY: a copy of a handle of this type, and a place for one handle.
                unsafe { call!(context, aclrtMemImportFromShareableHandleV2(handle, kind, 0, &raw mut raw)) }?;
                "aclrtMemImportFromShareableHandleV2"
            }
        };
        non_null(raw, name).map(|raw| PhysicalMemory::own(raw, key.bytes, self.inner()))
    }
}

#[cfg(test)]
mod tests {
    use super::PhysicalKey;

    #[test]
    fn a_key_is_a_text() {
        for text in ["server:00000000000000ff:64".to_owned(), format!("fabric:{}:1", "0a".repeat(128))] {
            let key: PhysicalKey = text.parse().unwrap();
            assert_eq!(key.to_string(), text);
        }
        let short = format!("fabric:{}:1", "0a".repeat(127));
        let signed = format!("server:+{}:1", "0".repeat(15));
        let server = "server:00000000000000ff";
        let sizes = ["", ":", ":0", ":x", ":1:", ":-1"].map(|size| format!("{server}{size}"));
        for bad in
            sizes.iter().map(String::as_str).chain(["", "server", "server:ff:1", "other:00:1", &short, &signed])
        {
            assert!(bad.parse::<PhysicalKey>().is_err(), "{bad:?}");
        }
    }
}
