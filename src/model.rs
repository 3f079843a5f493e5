//! Offline models: programs for the device that a compiler wrote into a file (`.om`), loaded, described and run.

use std::fmt;
use std::path::Path;

use crate::context::Context;
use crate::error::{Refused, Result};
use crate::memory::SharedBuffer;

mod awaited;
mod bind;
mod dataset;
mod description;
mod loaded;
mod options;
mod preprocessing;
mod read;
mod run;
mod shapes;

pub use awaited::ModelFinished;
pub use bind::{ModelInput, ModelKey, ModelOutput};
pub use description::{ModelDescription, ModelFormat, ModelGears, ModelSize, ModelTensor};
pub use options::ModelOptions;
pub use preprocessing::{ColorConversion, ImageFormat, ImageSteps, Preprocessing};
pub use run::{ModelRun, OutputShapes};

use loaded::{Loaded, Turns};
use options::Source;

/// An offline model on a device: a network that the compiler of CANN (`atc`, or TorchAir's export) wrote into a file,
/// with its weights.
///
/// [`Model::description`] says what it takes and gives; [`Model::run`] begins a run. Runs of one model come one after
/// another, on whichever streams and threads they are asked for, since they share its work memory: load it twice to run
/// it twice at once. Any thread may use it.
///
/// Dropping it never blocks: it is unloaded once its runs are done. Explicit: [`Model::unload`]. Models do not go into
/// captured graphs; they run beside them, ordered by the memory that both use.
///
/// Not supported, with an error that says so where it matters: models that wait at queues, bundles of models, and outputs
/// whose memory the library takes.
///
/// C calls: `aclmdlLoadFromFile` and its like, `aclmdlUnload`, `aclmdlGetDesc`, `aclmdlExecuteAsync`.
///
/// # Examples
///
/// ```
/// # let file = racl::mock::ModelFile::example();
/// let device = racl::Acl::mock()?.device(0)?;
/// let stream = device.stream()?;
/// let model = device.context().load_model_bytes(file)?; // y = 2 * x, for 1, 2 or 4 rows of three
/// let x = device.upload(&[1.0_f32, 2.0, 3.0])?;
/// let mut y = device.alloc::<f32>(3)?;
/// model.run().input("x", &x)?.output(0, &mut y)?.batch(1).submit(&stream)?;
/// assert_eq!(y.to_vec()?, [2.0, 4.0, 6.0]);
/// model.unload()?;
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "modelId")]
pub struct Model {
    loaded: Loaded,
    about: ModelDescription,
    /// What runs have one after another: memory for their work, or a few bytes that stand for that of the library.
    work: SharedBuffer<u8>,
    /// Weights outside of the model.
    reads: Vec<SharedBuffer<u8>>,
    turns: Turns,
}

/// Bytes that stand for work memory of the library.
const TOKEN: usize = 64;

impl Context {
    /// Loads the offline model in the file `path`; blocks until it is on the device. With options:
    /// [`ModelOptions::load`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::File`](crate::ErrorKind::File) for a file that is missing or no model that this library runs;
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory).
    #[doc(alias = "aclmdlLoadFromFile")]
    #[track_caller]
    pub fn load_model(&self, path: impl AsRef<Path>) -> Result<Model> {
        ModelOptions::new().load(self, path).map_err(Refused::into_error)
    }

    /// As [`Context::load_model`], of a model in memory, which is kept until it is unloaded.
    ///
    /// # Errors
    ///
    /// As [`Context::load_model`].
    #[doc(alias = "aclmdlLoadFromMem")]
    #[track_caller]
    pub fn load_model_bytes(&self, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Model> {
        ModelOptions::new().load_bytes(self, bytes).map_err(Refused::into_error)
    }

    /// What the model in the file `path` needs on the device, without loading it.
    ///
    /// # Errors
    ///
    /// As [`Context::load_model`].
    #[doc(alias = "aclmdlQuerySize")]
    pub fn model_size(&self, path: impl AsRef<Path>) -> Result<ModelSize> {
        Source::file(path.as_ref())?.size(self.inner())
    }

    /// As [`Context::model_size`], of a model in memory.
    ///
    /// # Errors
    ///
    /// As [`Context::load_model`].
    #[doc(alias = "aclmdlQuerySizeFromMem")]
    pub fn model_size_of_bytes(&self, bytes: impl AsRef<[u8]>) -> Result<ModelSize> {
        Source::Bytes(bytes.as_ref()).size(self.inner())
    }

    /// What the model in the file `path` takes and gives, without loading it.
    ///
    /// # Errors
    ///
    /// As [`Context::load_model`].
    #[doc(alias = "aclmdlGetDescFromFile")]
    pub fn describe_model(&self, path: impl AsRef<Path>) -> Result<ModelDescription> {
        Source::file(path.as_ref())?.description(self.inner())
    }

    /// As [`Context::describe_model`], of a model in memory.
    ///
    /// # Errors
    ///
    /// As [`Context::load_model`].
    #[doc(alias = "aclmdlGetDescFromMem")]
    pub fn describe_model_bytes(&self, bytes: impl AsRef<[u8]>) -> Result<ModelDescription> {
        Source::Bytes(bytes.as_ref()).description(self.inner())
    }
}

impl Model {
    fn new(loaded: Loaded, about: ModelDescription, work: SharedBuffer<u8>, reads: Vec<SharedBuffer<u8>>) -> Self {
        Self { loaded, about, work, reads, turns: Turns::default() }
    }

    /// What it takes and gives.
    #[must_use]
    #[doc(alias = "aclmdlGetDesc")]
    pub fn description(&self) -> &ModelDescription {
        &self.about
    }

    /// The context that it was loaded in.
    #[must_use]
    pub fn context(&self) -> Context {
        Context::from_inner(self.loaded.context())
    }

    /// The library's number of the model, as in its logs and profiles. Valid as long as this value; runs that are made
    /// beside this crate are not tracked by it.
    ///
    /// # Errors
    ///
    /// None in practice: a model that is unloaded cannot be asked.
    pub fn id(&self) -> Result<u32> {
        self.loaded.id()
    }

    /// A run, to be given its inputs and outputs.
    pub fn run(&self) -> ModelRun<'_> {
        ModelRun::new(self)
    }

    /// The text of an attribute of an operator of the model; none where it has none, or an empty one. The library knows
    /// `_datadump_original_op_names`: the operators that this one was made of.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for names with a zero byte.
    #[doc(alias = "aclmdlGetOpAttr")]
    pub fn operator_attribute(&self, operator: &str, attribute: &str) -> Result<Option<String>> {
        self.loaded.desc()?.attribute(operator, attribute)
    }

    /// Waits for its runs and unloads it now.
    ///
    /// # Errors
    ///
    /// The model and why: the error of a run, which is told once, so that a second try goes on; otherwise what the
    /// library says.
    #[doc(alias = "aclmdlUnload")]
    pub fn unload(mut self) -> Result<(), Refused<Self>> {
        match self.loaded.wait().and_then(|()| self.loaded.end()) {
            Ok(()) => Ok(()),
            Err(error) => Err(Refused::new(self, error)),
        }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("id", &self.loaded.id().ok()).finish_non_exhaustive()
    }
}
