//! How a model is loaded.

use std::any::Any;
use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use acl_sys::{aclmdlConfigAttr, aclmdlConfigHandle};

use super::description::{ModelDescription, ModelSize};
use super::loaded::Loaded;
use super::read::Desc;
use super::{Model, TOKEN};
use crate::call::{call, pointer};
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::memory::{DeviceBuffer, DeviceRead as _, DeviceSlice, SharedBuffer};

/// What the addresses of work and weights are multiples of.
const ALIGN: usize = 64;

/// How a model is loaded. Without options the library takes the memory that the model needs by itself.
///
/// Memory that is given here is waited for before the model is loaded, and kept until it is unloaded.
///
/// # Examples
///
/// ```
/// # let file = racl::mock::ModelFile::example();
/// use racl::ModelOptions;
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let context = device.context();
/// let need = context.model_size_of_bytes(&file)?;
/// let work = device.alloc(need.work.max(1))?.into_shared(); // models that take turns may share it
/// let weights = device.alloc(need.weights.max(1))?;
/// let options = ModelOptions::new().work_memory(work.clone()).weight_memory(weights).priority(1);
/// let model = options.load_bytes(context, file)?;
/// assert_eq!(model.description().inputs().len(), 1);
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Default)]
#[doc(alias = "aclmdlConfigHandle")]
pub struct ModelOptions {
    priority: Option<i32>,
    pooled: bool,
    work: Option<SharedBuffer<u8>>,
    weights: Option<DeviceBuffer<u8>>,
    folder: Option<PathBuf>,
    external: Vec<(String, SharedBuffer<u8>)>,
}

impl ModelOptions {
    /// Those of the library.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Memory of weights and of work comes from the context, as that of buffers does, and counts there: its
    /// [limit](Context::set_memory_limit) holds, and errors say who has how much. The model is read twice.
    #[must_use]
    #[doc(alias = "aclmdlQuerySize")]
    pub fn pooled_memory(mut self) -> Self {
        self.pooled = true;
        self
    }

    /// Memory for what the operators of the model give to each other. It may be that of other models as well: runs that
    /// share it are [ordered](crate::Stream#order-between-streams).
    #[must_use]
    #[doc(alias = "aclmdlLoadFromFileWithMem")]
    pub fn work_memory(mut self, memory: SharedBuffer<u8>) -> Self {
        self.work = Some(memory);
        self
    }

    /// Memory for the weights of the model, and for nothing else.
    #[must_use]
    #[doc(alias = "aclmdlLoadFromFileWithMem")]
    pub fn weight_memory(mut self, memory: DeviceBuffer<u8>) -> Self {
        self.weights = Some(memory);
        self
    }

    /// How the device chooses among models: 0, the first, to 7.
    #[must_use]
    #[doc(alias = "ACL_MDL_PRIORITY_INT32")]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Where the files of weights are that stand outside of a model in memory. Those of a model from a file are beside
    /// it.
    #[must_use]
    #[doc(alias = "ACL_MDL_WEIGHT_PATH_PTR")]
    pub fn weight_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The content of a file of weights that stands outside of the model, on the device already: `name` is that of the
    /// file. Several models may read it. Its size is a multiple of 32 bytes.
    #[must_use]
    #[doc(alias = "aclmdlSetExternalWeightAddress")]
    pub fn external_weights(mut self, name: impl Into<String>, memory: SharedBuffer<u8>) -> Self {
        self.external.push((name.into(), memory));
        self
    }

    /// Loads the model in the file `path` onto the device of `context`. Blocks until it is there.
    ///
    /// # Errors
    ///
    /// With the options back: [`ErrorKind::File`] for a file that is missing or no model that this library runs;
    /// [`ErrorKind::InvalidArgument`] for too little memory, memory of another device or addresses that are no multiple
    /// of 64, and for options that do not go together; [`ErrorKind::OutOfMemory`]. The options lack all memory where the
    /// model was loaded, could not be described and could not be unloaded: the library has it.
    #[doc(alias = "aclmdlLoadFromFile")]
    #[doc(alias = "aclmdlLoadWithConfig")]
    #[track_caller]
    pub fn load(self, context: impl AsRef<Context>, path: impl AsRef<Path>) -> Result<Model, Refused<Self>> {
        match path_of(path.as_ref()) {
            Ok(path) => self.load_from(context.as_ref(), &Source::File(path), None),
            Err(error) => Err(Refused::new(self, error)),
        }
    }

    /// Loads a model from memory. `bytes` are kept until it is unloaded, whatever the library does with them.
    ///
    /// # Errors
    ///
    /// As [`ModelOptions::load`].
    #[doc(alias = "aclmdlLoadFromMem")]
    #[track_caller]
    pub fn load_bytes(
        self,
        context: impl AsRef<Context>,
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Result<Model, Refused<Self>> {
        // On the heap first: they may lie in the value itself, which stays where it is from here on.
        let bytes = Arc::new(bytes);
        let kept: Kept = Box::new(Arc::clone(&bytes));
        self.load_from(context.as_ref(), &Source::Bytes((*bytes).as_ref()), Some(kept))
    }

    #[track_caller]
    fn load_from(
        mut self,
        context: &Context,
        source: &Source<'_>,
        bytes: Option<Kept>,
    ) -> Result<Model, Refused<Self>> {
        let inner = context.inner();
        let token = |places: &Places| match &places.work {
            Some(work) => Ok(work.clone()),
            None => context.alloc(TOKEN).map(DeviceBuffer::into_shared),
        };
        let with_token = |places: Places| token(&places).map(|work| (places, work));
        let (places, work) = match self.places(context, source).and_then(with_token) {
            Ok(both) => both,
            Err(error) => return Err(Refused::new(self, error)),
        };
        let told = |error: Error| error.context(format!("loading a model {}", source.describe()));
        let mut loaded = match self.load_c(inner, source, &places) {
            Ok(id) => Loaded::own(id, inner),
            Err(error) => return Err(Refused::new(self, told(of_file(error)))),
        };
        let reads: Vec<_> = self.external.iter().map(|(_, memory)| memory.clone()).collect();
        // The library has them until it has unloaded the model, which may be long after its value has gone.
        loaded.keep(Box::new((bytes, places.own_weights, work.clone(), reads.clone())));
        loaded.keep_weights(self.weights.take());
        match loaded.describe().and_then(Desc::read) {
            Ok(about) => Ok(Model::new(loaded, about, work, reads)),
            Err(error) => {
                if !loaded.undo(&mut self.weights) {
                    (self.work, self.external) = (None, Vec::new());
                }
                Err(Refused::new(self, told(error)))
            }
        }
    }

    /// Sees that all memory fits the model, and that nothing uses it any more.
    #[track_caller]
    fn places(&self, context: &Context, source: &Source<'_>) -> Result<Places> {
        source.check()?;
        let mut places = Places { work: self.work.clone(), own_weights: None, given: [NOWHERE; 2] };
        if self.pooled || self.work.is_some() || self.weights.is_some() {
            let need = source.size(context.inner())?;
            let more =
                |given: bool, bytes: usize| (self.pooled && !given).then(|| context.alloc(bytes.max(1))).transpose();
            let work = more(self.work.is_some() || need.work == 0, need.work)?;
            places.own_weights = more(self.weights.is_some(), need.weights)?;
            places.work = places.work.or(work.map(DeviceBuffer::into_shared));
            let weights = self.weights.as_ref().or(places.own_weights.as_ref()).map(|memory| memory.as_slice());
            let work = places.work.as_ref().map(|memory| memory.as_slice());
            for (place, memory, need, what) in
                [(0, work, need.work, "work memory"), (1, weights, need.weights, "memory for weights")]
            {
                let Some(memory) = memory else { continue };
                if memory.size_bytes() < need {
                    let text = format!("{} bytes of {what}, where the model needs {need}", memory.size_bytes());
                    return Err(Error::invalid(text));
                }
                check_place(context, &memory, what)?;
                places.given[place] = (memory.address(), memory.size_bytes());
            }
        }
        for (name, memory) in &self.external {
            if memory.is_empty() || !memory.len().is_multiple_of(EXTERNAL_ALIGN) {
                let text = format!("{} bytes for {name}: a multiple of {EXTERNAL_ALIGN}, and not 0", memory.len());
                return Err(Error::invalid(text));
            }
            check_place(context, &memory.as_slice(), name)?;
        }
        Ok(places)
    }

    fn load_c(&self, context: &ContextInner, source: &Source<'_>, places: &Places) -> Result<u32> {
        let [(work, work_size), (weights, weight_size)] = places.given;
        let with_memory = !work.is_null() || !weights.is_null();
        if self.priority.is_some() || self.folder.is_some() || !self.external.is_empty() {
            return self.load_configured(context, source, places);
        }
        let mut id = 0;
        let to = &raw mut id;
        match (source, with_memory) {
            // SAFETY: a path that ends with a zero, and a place for the id.
            (Source::File(path), false) => unsafe { call!(context, aclmdlLoadFromFile(path.as_ptr(), to)) },
            // SAFETY: as above; the memory was checked and is kept with the model, or is null.
            (Source::File(path), true) => unsafe {
                call!(context, aclmdlLoadFromFileWithMem(path.as_ptr(), to, work, work_size, weights, weight_size))
            },
            // SAFETY: bytes that are kept with the model, and a place for the id.
            (Source::Bytes(bytes), false) => unsafe {
                call!(context, aclmdlLoadFromMem(bytes.as_ptr().cast(), bytes.len(), to))
            },
            // SAFETY: as in both above.
            (Source::Bytes(bytes), true) => unsafe {
                let (bytes, count) = (bytes.as_ptr().cast(), bytes.len());
                call!(context, aclmdlLoadFromMemWithMem(bytes, count, to, work, work_size, weights, weight_size))
            },
        }?;
        Ok(id)
    }

    fn load_configured(&self, context: &ContextInner, source: &Source<'_>, places: &Places) -> Result<u32> {
        let [(work, work_size), (weights, weight_size)] = places.given;
        let with_memory = !work.is_null() || !weights.is_null();
        if self.folder.is_some() && (with_memory || matches!(source, Source::File(_))) {
            let text = "a folder of weights goes with a model from memory, and without memory of its own";
            return Err(Error::invalid(text));
        }
        let folder = self.folder.as_deref().map(path_of).transpose()?;
        let config = Config::new(context)?;
        let kind = match (source, with_memory) {
            (Source::File(_), false) => acl_sys::ACL_MDL_LOAD_FROM_FILE,
            (Source::File(_), true) => acl_sys::ACL_MDL_LOAD_FROM_FILE_WITH_MEM,
            (Source::Bytes(_), false) => acl_sys::ACL_MDL_LOAD_FROM_MEM,
            (Source::Bytes(_), true) => acl_sys::ACL_MDL_LOAD_FROM_MEM_WITH_MEM,
        };
        config.set(aclmdlConfigAttr::ACL_MDL_LOAD_TYPE_SIZET, &(kind as usize))?;
        match source {
            Source::File(path) => config.set(aclmdlConfigAttr::ACL_MDL_PATH_PTR, &path.as_ptr())?,
            Source::Bytes(bytes) => {
                config.set(aclmdlConfigAttr::ACL_MDL_MEM_ADDR_PTR, &bytes.as_ptr())?;
                config.set(aclmdlConfigAttr::ACL_MDL_MEM_SIZET, &bytes.len())?;
            }
        }
        if with_memory {
            config.set(aclmdlConfigAttr::ACL_MDL_WORKSPACE_ADDR_PTR, &work)?;
            config.set(aclmdlConfigAttr::ACL_MDL_WORKSPACE_SIZET, &work_size)?;
            config.set(aclmdlConfigAttr::ACL_MDL_WEIGHT_ADDR_PTR, &weights)?;
            config.set(aclmdlConfigAttr::ACL_MDL_WEIGHT_SIZET, &weight_size)?;
        }
        if let Some(priority) = self.priority {
            config.set(aclmdlConfigAttr::ACL_MDL_PRIORITY_INT32, &priority)?;
        }
        if let Some(folder) = &folder {
            config.set(aclmdlConfigAttr::ACL_MDL_WEIGHT_PATH_PTR, &folder.as_ptr())?;
        }
        for (name, memory) in &self.external {
            let name = CString::new(name.as_str())
                .map_err(|error| Error::invalid("the name of a file with a zero byte").with_source(error))?;
            let (address, size) = (memory.address(), memory.size_bytes());
            // SAFETY: a live configuration, a name that ends with a zero, and memory that is kept with the model.
            unsafe { call!(context, aclmdlSetExternalWeightAddress(config.raw, name.as_ptr(), address, size)) }?;
        }
        let mut id = 0;
        // SAFETY: a live configuration, all of whose pointers are there, and a place for the id.
        unsafe { call!(context, aclmdlLoadWithConfig(config.raw, &raw mut id)) }?;
        Ok(id)
    }
}

const EXTERNAL_ALIGN: usize = 32;
const NOWHERE: (*mut c_void, usize) = (std::ptr::null_mut(), 0);

/// Something that the library has as long as the model.
type Kept = Box<dyn Any + Send + Sync>;

/// Memory that a model is loaded with.
struct Places {
    /// Of work: what runs of the model have one after another.
    work: Option<SharedBuffer<u8>>,
    own_weights: Option<DeviceBuffer<u8>>,
    /// Work and weights, null for what the library takes by itself.
    given: [(*mut c_void, usize); 2],
}

fn check_place(context: &Context, memory: &DeviceSlice<'_, u8>, what: &str) -> Result<()> {
    context.inner().check_memory(memory.context_inner(), || what.to_owned())?;
    if !memory.address().addr().is_multiple_of(ALIGN) {
        return Err(Error::invalid(format!("{what} at {:p}, no multiple of {ALIGN} bytes", memory.address())));
    }
    memory.allocation().wait_idle()
}

/// What a model is loaded from, or described by.
pub(super) enum Source<'a> {
    File(CString),
    Bytes(&'a [u8]),
}

impl Source<'_> {
    pub(super) fn file(path: &Path) -> Result<Self> {
        path_of(path).map(Self::File)
    }

    /// For no bytes the library has the code of a null pointer.
    fn check(&self) -> Result<()> {
        match self {
            Self::Bytes([]) => Err(Error::new(ErrorKind::File, "no bytes are no model")),
            _ => Ok(()),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::File(path) => format!("from {}", path.to_string_lossy()),
            Self::Bytes(bytes) => format!("of {} bytes", bytes.len()),
        }
    }

    pub(super) fn size(&self, context: &ContextInner) -> Result<ModelSize> {
        self.check()?;
        let mut size = ModelSize { work: 0, weights: 0 };
        let (work, weights) = (&raw mut size.work, &raw mut size.weights);
        match self {
            // SAFETY: a path that ends with a zero, and places for two numbers.
            Self::File(path) => unsafe { call!(context, aclmdlQuerySize(path.as_ptr(), work, weights)) },
            // SAFETY: bytes that are there for the call, of which nothing is asked for later, and places as above.
            Self::Bytes(bytes) => unsafe {
                call!(context, aclmdlQuerySizeFromMem(bytes.as_ptr().cast(), bytes.len(), work, weights))
            },
        }
        .map_err(|error| of_file(error).context(format!("measuring a model {}", self.describe())))?;
        Ok(size)
    }

    pub(super) fn description(&self, context: &Arc<ContextInner>) -> Result<ModelDescription> {
        self.check()?;
        let desc = match self {
            Self::File(path) => Desc::of_file(context, path),
            Self::Bytes(bytes) => Desc::of_bytes(context, bytes),
        };
        desc.map_err(of_file)
            .and_then(|desc| desc.read())
            .map_err(|error| error.context(format!("describing a model {}", self.describe())))
    }
}

/// The code for wrong parameters, where all of them were seen to, is about what the file holds.
fn of_file(error: Error) -> Error {
    if error.code() == Some(PARAM_INVALID) { error.with_kind(ErrorKind::File) } else { error }
}

const PARAM_INVALID: i32 = 145_000;

fn path_of(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_encoded_bytes())
        .map_err(|error| Error::invalid("a path with a zero byte").with_source(error))
}

/// A configuration of the library.
struct Config<'a> {
    raw: *mut aclmdlConfigHandle,
    context: &'a ContextInner,
}

impl<'a> Config<'a> {
    fn new(context: &'a ContextInner) -> Result<Self> {
        // SAFETY: the call takes nothing.
        let raw = unsafe { pointer!(context, aclmdlCreateConfigHandle()) }?;
        Ok(Self { raw, context })
    }

    fn set<T: Copy>(&self, option: aclmdlConfigAttr, value: &T) -> Result<()> {
        let from = std::ptr::from_ref(value).cast();
        // SAFETY: a live configuration; the value has the size that is given, and is copied.
        unsafe { call!(self.context, aclmdlSetConfigOpt(self.raw, option, from, size_of::<T>())) }
    }
}

impl Drop for Config<'_> {
    fn drop(&mut self) {
        // SAFETY: the configuration is this value's own and destroyed once.
        if let Err(error) = unsafe { call!(self.context, aclmdlDestroyConfigHandle(self.raw)) } {
            self.context.record_drop_error("destroying the configuration of a model", error);
        }
    }
}
