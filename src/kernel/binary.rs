//! Binaries of kernels: loaded, asked, unloaded.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_void};
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use acl_sys::{aclrtBinHandle, aclrtBinaryLoadOption, aclrtBinaryLoadOptions, aclrtFuncHandle};
use bytemuck::Pod;

use super::failure;
use super::function::Kernel;
use super::options::BinaryOptions;
use crate::allocation::Allocation;
use crate::call::{call, non_null};
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::lock::Lock;
use crate::memory::SharedBuffer;
use crate::stream::{Destroy, Handle};

/// The code of kernels on a device: an object file that the compiler of Ascend C made for the chip, loaded from a file
/// or from memory.
///
/// It gives [`Kernel`]s by their names, and variables of the code. Clones stand for the same binary. It is unloaded
/// once it, its kernels and its variables are gone, no graph holds one of its launches, and no such work is under way;
/// until then a drop leaves the waiting to a thread of this crate. Any thread may use it. Explicit:
/// [`KernelBinary::close`].
///
/// On the mock a binary is a shared object for the host with functions in C, which runs in the process; the host
/// program stays as it is. See the chapter on kernels of the book, and `mock-acl/docs/kernels.md`.
///
/// C calls: `aclrtBinaryLoadFromFile`, `aclrtBinaryLoadFromData`, `aclrtBinaryGetFunction` and its like,
/// `aclrtBinaryGetGlobal`, `aclrtBinarySetExceptionCallback`, `aclrtBinaryUnLoad`.
///
/// # Examples
///
/// ```
/// use racl::ErrorKind;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// // SAFETY: there is no such file.
/// let error = unsafe { device.context().load_kernels("kernels/scale.o") }.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::File); // there is none
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "aclrtBinary")]
#[doc(alias = "aclrtBinHandle")]
pub struct KernelBinary(pub(super) Arc<BinaryInner>);

pub(super) struct BinaryInner {
    /// Its variables that were asked for: every handle counts work on the same memory.
    globals: Lock<BTreeMap<CString, Arc<Allocation>>>,
    pub(super) handle: Arc<Handle>,
}

impl Context {
    /// Loads the kernels of an object file. Returns when they are loaded.
    ///
    /// What is loaded is code: on a card it is for the device, where it runs when it is launched, but for [kernels of the
    /// device's own processor](BinaryOptions::cpu); the mock's kernels are libraries of the host, whose initialisers run
    /// at once, in this process.
    ///
    /// # Safety
    ///
    /// The file holds kernels whose initialisers, where it has some, may run in this process, as for
    /// [`Acl::init_from`](crate::Acl::init_from). A file that holds no code at all is refused.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`] for a file that cannot be opened, and an empty one; [`ErrorKind::InvalidArgument`] for one
    /// that holds something else, code for another chip for instance; [`ErrorKind::OutOfMemory`] when the device has no
    /// room; [`ErrorKind::MissingSymbol`] on a library that cannot.
    #[doc(alias = "aclrtBinaryLoadFromFile")]
    pub unsafe fn load_kernels(&self, path: impl AsRef<Path>) -> Result<KernelBinary> {
        // SAFETY: as the caller promises.
        unsafe { self.load_kernels_with(path, BinaryOptions::new()) }
    }

    /// As [`load_kernels`](Self::load_kernels), with options.
    ///
    /// # Safety
    ///
    /// That of [`load_kernels`](Self::load_kernels).
    ///
    /// # Errors
    ///
    /// As [`load_kernels`](Self::load_kernels); [`ErrorKind::InvalidArgument`] for options that a file does not take;
    /// [`ErrorKind::NotSupported`] for what the device or the library does not have.
    #[doc(alias = "aclrtBinaryLoadFromFile")]
    pub unsafe fn load_kernels_with(&self, path: impl AsRef<Path>, options: BinaryOptions) -> Result<KernelBinary> {
        let path = path.as_ref();
        let what = || format!("loading the kernels of {}", path.display());
        let text = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|error| Error::invalid("a path with a zero byte").with_source(error).context(what()))?;
        check_file(path).map_err(|error| error.context(what()))?;
        let options = options.raw(true).map_err(|error| error.context(what()))?;
        let loaded = KernelBinary::load(self, options, Vec::new(), |context, options, _, raw| {
            // SAFETY: a NUL-terminated string, options that outlive the call, and a place for one handle.
            unsafe { call!(context, aclrtBinaryLoadFromFile(text.as_ptr(), options, raw)) }
        });
        loaded.map_err(|error| error.context(what()))
    }

    /// Loads kernels from the bytes of an object file, which need not stay: the binary keeps a copy. Returns when they
    /// are loaded.
    ///
    /// # Safety
    ///
    /// That of [`load_kernels`](Self::load_kernels).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no bytes, bytes that are something else, and options that bytes do not take;
    /// otherwise as [`load_kernels`](Self::load_kernels).
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::{BinaryCore, BinaryOptions, ErrorKind};
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let options = BinaryOptions::new().core(BinaryCore::Vector);
    /// // SAFETY: no code at all.
    /// let error = unsafe { device.context().load_kernels_from(b"no code", options) }.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtBinaryLoadFromData")]
    pub unsafe fn load_kernels_from(&self, data: &[u8], options: BinaryOptions) -> Result<KernelBinary> {
        let what = || format!("loading kernels from {} bytes", data.len());
        if data.is_empty() {
            return Err(Error::invalid("no bytes").context(what()));
        }
        let options = options.raw(false).map_err(|error| error.context(what()))?;
        // The library does not say that it reads them now, of code that is loaded at its first use least of all.
        let loaded = KernelBinary::load(self, options, data.to_vec(), |context, options, data, raw| {
            let bytes = data.as_ptr().cast::<c_void>();
            // SAFETY: `bytes` has as many initialised bytes, options outlive the call, and a place for one handle.
            unsafe { call!(context, aclrtBinaryLoadFromData(bytes, data.len(), options, raw)) }
        });
        loaded.map_err(|error| error.context(what()))
    }
}

/// That it can be read and has content; the library says the same of all that it cannot load.
fn check_file(path: &Path) -> Result<()> {
    let refused = |error: std::io::Error| Error::new(ErrorKind::File, error.to_string()).with_source(error);
    // Before it is opened: who opens a pipe waits for its other end.
    let facts = std::fs::metadata(path).map_err(refused)?;
    let text = match () {
        () if facts.is_dir() => "it is a folder",
        () if !facts.is_file() => "it is no file with content of its own",
        () if facts.len() == 0 => "it is empty",
        () => return File::open(path).map(drop).map_err(refused),
    };
    Err(Error::new(ErrorKind::File, text))
}

impl KernelBinary {
    fn load(
        context: &Context,
        mut list: Vec<aclrtBinaryLoadOption>,
        data: Vec<u8>,
        load: impl FnOnce(&ContextInner, *mut aclrtBinaryLoadOptions, &[u8], *mut aclrtBinHandle) -> Result<()>,
    ) -> Result<Self> {
        let context = context.inner();
        let mut raw = std::ptr::null_mut();
        let mut options = aclrtBinaryLoadOptions { options: list.as_mut_ptr(), numOpt: list.len() };
        let options = if list.is_empty() { std::ptr::null_mut() } else { &raw mut options };
        load(context, options, &data, &raw mut raw)?;
        let raw = non_null(raw, "a load of a kernel binary")?;
        let unload: Destroy = |context, raw| {
            // Before the call, after which another binary may have the handle.
            let number = failure::number_of(context, raw);
            // SAFETY: the owner's only destroy, of a handle that no work uses any more.
            let unloaded = unsafe { call!(context, aclrtBinaryUnLoad(raw)) };
            // One that is still loaded may be used, and fail.
            if unloaded.as_ref().map_or_else(|error| error.kind() == ErrorKind::InvalidHandle, |()| true) {
                failure::forget(number);
            }
            unloaded
        };
        let handle = Handle::with_data(raw, "a kernel binary", unload, data, context);
        failure::watch(context, raw)?;
        Ok(Self(Arc::new(BinaryInner { globals: Lock::default(), handle })))
    }

    /// The kernel with this name, which in Ascend C is that of its function.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when there is none, and for a name with a zero byte.
    #[doc(alias = "aclrtBinaryGetFunction")]
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let text = c_name(name)?;
        self.find(|context, raw| {
            // SAFETY: a live handle, a NUL-terminated string, and a place for one handle.
            unsafe { call!(context, aclrtBinaryGetFunction(self.as_raw(), text.as_ptr(), raw)) }
        })
        .and_then(|raw| Kernel::new(raw, name.to_owned(), &self.0))
        .map_err(|error| error.context(format!("looking for the kernel {name:?}")))
    }

    /// The kernel with this entry, by which versions of one function are told apart: a tiling key.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when there is none.
    #[doc(alias = "aclrtBinaryGetFunctionByEntry")]
    #[doc(alias = "aclrtGetFunctionName")]
    pub fn kernel_by_entry(&self, entry: u64) -> Result<Kernel> {
        self.find(|context, raw| {
            // SAFETY: a live handle, a number, and a place for one handle.
            unsafe { call!(context, aclrtBinaryGetFunctionByEntry(self.as_raw(), entry, raw)) }
        })
        .and_then(|raw| Kernel::new(raw, name_of(self.context_inner(), raw)?, &self.0))
        .map_err(|error| error.context(format!("looking for the kernel with entry {entry}")))
    }

    /// A kernel of the AI CPU from a binary that was loaded with [`BinaryOptions::cpu`]: `function` of its code, which
    /// is called `name` from now on.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a binary that was loaded otherwise, a function that it does not have, and
    /// names with a zero byte.
    #[doc(alias = "aclrtRegisterCpuFunc")]
    pub fn cpu_kernel(&self, function: &str, name: &str) -> Result<Kernel> {
        let (code, text) = (c_name(function)?, c_name(name)?);
        self.find(|context, raw| {
            // SAFETY: a live handle, two NUL-terminated strings, and a place for one handle.
            unsafe { call!(context, aclrtRegisterCpuFunc(self.as_raw(), code.as_ptr(), text.as_ptr(), raw)) }
        })
        .and_then(|raw| Kernel::new(raw, name.to_owned(), &self.0))
        .map_err(|error| error.context(format!("looking for the AI CPU function {function:?}")))
    }

    fn find(&self, ask: impl FnOnce(&ContextInner, *mut aclrtFuncHandle) -> Result<()>) -> Result<aclrtFuncHandle> {
        let mut raw = std::ptr::null_mut();
        ask(self.context_inner(), &raw mut raw)?;
        non_null(raw, "a search for a kernel")
    }

    /// A variable of the code in device memory, as elements of `T`: read and written from the host and on streams as
    /// any memory is. All handles of it, of whatever type, are the same memory, and keep the binary loaded.
    ///
    /// Launches use the variables of their binary without telling. One that does is told of it by
    /// [`KernelLaunch::also_reads`](crate::KernelLaunch::also_reads) or `also_writes`; only then work of other streams
    /// on the variable is ordered with it, and reads of the host wait for it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] when there is no variable with this name, or its size or address is none of whole
    /// elements; [`ErrorKind::MissingSymbol`] on a library that does not tell.
    #[doc(alias = "aclrtBinaryGetGlobal")]
    pub fn global<T: Pod>(&self, name: &str) -> Result<SharedBuffer<T>> {
        let text = c_name(name)?;
        let what = |error: Error| error.context(format!("the variable {name:?} of a kernel binary"));
        let known = self.0.globals.lock().get(&text).cloned();
        let memory = match known {
            Some(known) => known,
            None => self.find_global(text).map_err(what)?,
        };
        let (bytes, element) = (memory.bytes(), size_of::<T>());
        if element == 0 || bytes % element != 0 || !memory.address().cast::<T>().is_aligned() {
            let text = format!("{bytes} bytes at {:p} are no whole elements of {element} bytes", memory.address());
            return Err(what(Error::invalid(text)));
        }
        Ok(SharedBuffer::within(&memory, 0, bytes / element))
    }

    fn find_global(&self, name: CString) -> Result<Arc<Allocation>> {
        let context = self.0.handle.context();
        let (mut address, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: a live handle, a NUL-terminated string, and places for an address and a number.
        unsafe {
            call!(&**context, aclrtBinaryGetGlobal(self.as_raw(), name.as_ptr(), &raw mut address, &raw mut bytes))
        }?;
        if address.is_null() || bytes == 0 || bytes > isize::MAX as usize {
            return Err(Error::new(ErrorKind::UnknownValue, format!("{bytes} bytes at {address:p}")));
        }
        // The memory keeps the handle, and not what keeps the memory.
        let made = Allocation::of_others(context, address, bytes, Arc::clone(&self.0.handle));
        // Another thread may have been first.
        let first = Arc::clone(self.0.globals.lock().entry(name).or_insert_with(|| Arc::clone(&made)));
        Ok(first)
    }

    /// Where the code is on the device, and its bytes. It must not be dereferenced on the host.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingSymbol`] on a library that does not tell.
    #[doc(alias = "aclrtBinaryGetDevAddress")]
    pub fn device_code(&self) -> Result<(*mut c_void, usize)> {
        let (mut address, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: a live handle, and places for an address and a number.
        unsafe {
            call!(self.context_inner(), aclrtBinaryGetDevAddress(self.as_raw(), &raw mut address, &raw mut bytes))
        }?;
        Ok((address, bytes))
    }

    /// The context that the binary is loaded in.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(self.0.handle.context())
    }

    fn context_inner(&self) -> &ContextInner {
        self.0.handle.context()
    }

    /// The raw handle. Valid as long as this value; work with it beside this crate is not tracked.
    #[must_use]
    pub fn as_raw(&self) -> aclrtBinHandle {
        self.0.handle.raw()
    }

    /// Unloads the binary now.
    ///
    /// # Errors
    ///
    /// The binary and why: [`ErrorKind::InvalidArgument`] while its kernels, clones, handles of its variables, work or
    /// a graph use it; otherwise what the library says.
    #[doc(alias = "aclrtBinaryUnLoad")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        match Arc::try_unwrap(self.0) {
            Ok(inner) => inner.close().map_err(|refused| refused.map(|inner| Self(Arc::new(inner)))),
            Err(shared) => {
                let text = format!("{} kernels or clones hold the binary", Arc::strong_count(&shared) - 1);
                Err(Refused::new(Self(shared), Error::invalid(text)))
            }
        }
    }
}

impl BinaryInner {
    fn close(self) -> Result<(), Refused<Self>> {
        let Self { globals, handle } = self;
        let mut all = std::mem::take(&mut *globals.lock());
        let check = |(name, memory): (&CString, &Arc<Allocation>)| match memory.is_used() {
            _ if Arc::strong_count(memory) > 1 => Err(Error::invalid(format!("the variable {name:?} is in use"))),
            true => Err(Error::invalid(format!("work that is not done uses the variable {name:?}"))),
            false => Ok(()),
        };
        let mut ended = all.iter().try_for_each(check);
        while ended.is_ok()
            && let Some(first) = all.first_entry()
        {
            // One that does not end keeps what it knows of its users.
            ended = first.get().end().map(|()| drop(first.remove()));
        }
        if let Err(error) = ended {
            *globals.lock() = all;
            return Err(Refused::new(Self { globals, handle }, error));
        }
        Handle::close(handle).map_err(|refused| refused.map(|handle| Self { globals, handle }))
    }
}

/// A name as the library takes it.
fn c_name(name: &str) -> Result<CString> {
    CString::new(name)
        .map_err(|error| Error::invalid(format!("a name with a zero byte: {name:?}")).with_source(error))
}

/// The name of a function, of which the library does not tell the length.
fn name_of(context: &ContextInner, function: aclrtFuncHandle) -> Result<String> {
    let mut buffer = [0_u8; 4096];
    // SAFETY: a live handle, and room for as many bytes as are said.
    unsafe { call!(context, aclrtGetFunctionName(function, buffer.len() as u32, buffer.as_mut_ptr().cast())) }?;
    let name = CStr::from_bytes_until_nul(&buffer).ok();
    let name = name.ok_or_else(|| Error::new(ErrorKind::UnknownValue, "the name of a kernel without an end"))?;
    Ok(name.to_string_lossy().into_owned())
}

impl fmt::Debug for KernelBinary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelBinary").field("raw", &self.as_raw()).finish_non_exhaustive()
    }
}
