//! What a graph is called, by the program and by the library.

use std::ffi::{CStr, CString, c_char};

use super::captured::Graph;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};

/// What the runtime keeps of a name; the rest it cuts off (guide: model runtime instance, aclmdlRISetName).
const MOST_BYTES: usize = 512;

impl Graph {
    /// Gives the graph a name, which the library's logs and profiles use: up to 512 bytes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a longer name, or one with a zero byte; [`ErrorKind::MissingSymbol`] on a
    /// library without names.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::CaptureMode;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut buffer = device.alloc::<u8>(4)?;
    /// let mut graph = device.stream()?.capture(CaptureMode::ThreadLocal, |s| s.fill_bytes(&mut buffer, 1))?;
    /// assert_eq!(graph.name()?, "");
    /// graph.set_name("decode")?;
    /// assert_eq!(graph.name()?, "decode");
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclmdlRISetName")]
    pub fn set_name(&mut self, name: &str) -> Result<()> {
        if name.len() > MOST_BYTES {
            let bytes = name.len();
            return Err(Error::invalid(format!("a name of {bytes} bytes for a graph, which has up to {MOST_BYTES}")));
        }
        let text = CString::new(name)
            .map_err(|error| Error::invalid(format!("a name with a zero byte: {name:?}")).with_source(error))?;
        // SAFETY: a live graph, and a NUL-terminated string that outlives the call.
        unsafe { call!(&**self.context_inner(), aclmdlRISetName(self.as_raw(), text.as_ptr())) }
    }

    /// The name of the graph, empty when it has none. Bytes that are no text are replaced.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library without names; [`ErrorKind::UnknownValue`] for a name without an end.
    #[doc(alias = "aclmdlRIGetName")]
    pub fn name(&self) -> Result<String> {
        let mut bytes = [0_u8; MOST_BYTES + 1];
        let (room, place) = (bytes.len() as u32, bytes.as_mut_ptr().cast::<c_char>());
        // SAFETY: a live graph, and `room` bytes.
        unsafe { call!(&**self.context_inner(), aclmdlRIGetName(self.as_raw(), room, place)) }?;
        let name = CStr::from_bytes_until_nul(&bytes)
            .map_err(|error| Error::new(ErrorKind::UnknownValue, "the name of a graph").with_source(error))?;
        Ok(name.to_string_lossy().into_owned())
    }

    /// The runtime's number of the graph, as in its logs and profiles.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library that does not tell.
    #[doc(alias = "aclmdlRIGetId")]
    pub fn id(&self) -> Result<u32> {
        let mut id = 0;
        // SAFETY: a live graph, and a place for one number.
        unsafe { call!(&**self.context_inner(), aclmdlRIGetId(self.as_raw(), &raw mut id)) }?;
        Ok(id)
    }

    /// Writes the streams and tasks of the graph to the library's log. For a file, see
    /// [`write_trace`](Self::write_trace).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidHandle`] for a graph destroyed beside this crate.
    #[doc(alias = "aclmdlRIDebugPrint")]
    pub fn log(&self) -> Result<()> {
        // SAFETY: a live graph.
        unsafe { call!(&**self.context_inner(), aclmdlRIDebugPrint(self.as_raw())) }
    }
}
