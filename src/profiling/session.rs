//! Profiles: what is recorded, from when to when.

use std::ffi::CString;
use std::fmt;
use std::path::PathBuf;

use acl_sys::{aclprofConfig, aclprofConfigType};

use super::marks::{end_ranges, forget_ranges};
use crate::acl::{Acl, CoreMetrics};
use crate::call::{call, check_not_locked, pointer};
use crate::error::{Error, ErrorKind, Refused, Result};
use crate::lock::{Lock, say};
use crate::retire;

/// Whether this process has a profile of this crate.
static RUNS: Lock<bool> = Lock::new(false);

/// Kinds of things that a profile records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProfileData {
    /// When tasks ran on the device, with what is known of their operators.
    TaskTime,
    /// When tasks ran on the device, alone: costs less.
    TaskTimeBrief,
    /// Calls of AscendCL.
    Calls,
    /// Calls of the runtime below it.
    RuntimeCalls,
    /// The counters that [`ProfileOptions::metrics`] chooses.
    CoreMetrics,
    /// Operators on the CPUs of the device.
    CpuOperators,
    /// How often the L2 cache had what was asked for.
    L2Cache,
    /// Communication between cards.
    Communication,
    /// Iterations of training.
    Training,
    /// Marks and ranges of the program.
    Marks,
    /// Memory of operators.
    TaskMemory,
    /// Attributes of operators.
    OperatorAttributes,
}

impl ProfileData {
    fn bit(self) -> u64 {
        let bit = match self {
            Self::TaskTime => acl_sys::ACL_PROF_TASK_TIME,
            Self::TaskTimeBrief => acl_sys::ACL_PROF_TASK_TIME_L0,
            Self::Calls => acl_sys::ACL_PROF_ACL_API,
            Self::RuntimeCalls => acl_sys::ACL_PROF_RUNTIME_API,
            Self::CoreMetrics => acl_sys::ACL_PROF_AICORE_METRICS,
            Self::CpuOperators => acl_sys::ACL_PROF_AICPU,
            Self::L2Cache => acl_sys::ACL_PROF_L2CACHE,
            Self::Communication => acl_sys::ACL_PROF_HCCL_TRACE,
            Self::Training => acl_sys::ACL_PROF_TRAINING_TRACE,
            Self::Marks => acl_sys::ACL_PROF_MSPROFTX,
            Self::TaskMemory => acl_sys::ACL_PROF_TASK_MEMORY,
            Self::OperatorAttributes => acl_sys::ACL_PROF_OP_ATTR,
        };
        u64::from(bit)
    }
}

/// Settings of a profile that are texts for the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclprofConfigType")]
pub enum ProfileSetting {
    /// How large the files may become together, such as `200MB`; the oldest go first.
    StorageLimit,
    /// How often memory of the device is sampled, in Hz.
    MemoryFrequency,
    /// Which side of the last-level cache is counted: `read` or `write`.
    CacheMode,
    /// How often network ports are sampled, in Hz.
    NetworkFrequency,
    /// How often links between chips are sampled, in Hz.
    LinkFrequency,
    /// What of the host is sampled: `cpu`, `mem`, or both with a comma.
    Host,
}

impl ProfileSetting {
    fn raw(self) -> aclprofConfigType {
        match self {
            Self::StorageLimit => aclprofConfigType::ACL_PROF_STORAGE_LIMIT,
            Self::MemoryFrequency => aclprofConfigType::ACL_PROF_SYS_HARDWARE_MEM_FREQ,
            Self::CacheMode => aclprofConfigType::ACL_PROF_LLC_MODE,
            Self::NetworkFrequency => aclprofConfigType::ACL_PROF_SYS_IO_FREQ,
            Self::LinkFrequency => aclprofConfigType::ACL_PROF_SYS_INTERCONNECTION_FREQ,
            Self::Host => aclprofConfigType::ACL_PROF_HOST_SYS,
        }
    }
}

/// What a profile records, and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct ProfileOptions {
    folder: PathBuf,
    devices: Vec<u32>,
    data: Vec<ProfileData>,
    metrics: CoreMetrics,
    settings: Vec<(ProfileSetting, String)>,
}

impl ProfileOptions {
    /// Task times, calls and marks of device 0, into a new folder inside of `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let data = vec![ProfileData::TaskTime, ProfileData::Calls, ProfileData::Marks];
        Self { folder: folder.into(), devices: vec![0], data, metrics: CoreMetrics::None, settings: Vec::new() }
    }

    /// Other devices than the first one. None for the [marks](ProfileData::Marks) of the host and nothing else.
    pub fn devices(mut self, ids: &[u32]) -> Self {
        self.devices = ids.to_vec();
        self
    }

    /// Other things than those of [`ProfileOptions::new`].
    pub fn data(mut self, data: &[ProfileData]) -> Self {
        self.data = data.to_vec();
        self
    }

    /// Counters of the cores.
    pub fn metrics(mut self, metrics: CoreMetrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// A setting, as the library's documentation writes it.
    #[doc(alias = "aclprofSetConfig")]
    pub fn setting(mut self, setting: ProfileSetting, value: impl Into<String>) -> Self {
        self.settings.push((setting, value.into()));
        self
    }
}

/// A profile that is being recorded, from [`Acl::profile`]. It ends with [`Profile::stop`], or when it is dropped.
///
/// Synchronise before the end: work that is still queued then is not in it. Any thread may end it.
///
/// C calls: `aclprofInit`, `aclprofCreateConfig`, `aclprofStart`, `aclprofStop`, `aclprofFinalize`.
///
/// # Examples
///
/// ```standalone_crate
/// use racl::profiling::ProfileOptions;
/// use racl::{Acl, op};
///
/// let acl = Acl::mock()?;
/// let device = acl.device(0)?;
/// let stream = device.stream()?;
/// let mut x = device.upload_tensor(&[1.0_f32, 2.0], [2])?;
/// let folder = std::env::temp_dir().join(format!("racl-profile-{}", std::process::id()));
/// let profile = acl.profile(&ProfileOptions::new(&folder))?;
/// stream.marked("twice", |s| op::muls_inplace(s, &mut x, 2.0))?;
/// stream.synchronize()?;
/// profile.stop()?;
/// assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclprofConfig")]
pub struct Profile {
    /// Null before it is there.
    config: *mut aclprofConfig,
    started: bool,
    /// The library has ended it.
    ended: bool,
    acl: Acl,
}

// SAFETY: the configuration is memory of the host that belongs to no thread.
unsafe impl Send for Profile {}
// SAFETY: nothing is done with a shared one.
unsafe impl Sync for Profile {}

impl Acl {
    /// Begins a profile.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyInitialized`] while the process has another one, of this crate or of other code;
    /// [`ErrorKind::InvalidArgument`] for devices that there are not, none for other data than marks, no data, and settings that the library does not
    /// take; [`ErrorKind::File`] for a folder that cannot be made; [`ErrorKind::NotSupported`] for data that the chip
    /// does not have; [`ErrorKind::MissingSymbol`] on a library without profiles.
    #[doc(alias = "aclprofInit")]
    #[doc(alias = "aclprofStart")]
    pub fn profile(&self, options: &ProfileOptions) -> Result<Profile> {
        // The library takes it where there are marks among the data, and leaves the rest out.
        if options.devices.is_empty() && options.data.iter().any(|data| *data != ProfileData::Marks) {
            return Err(Error::invalid("a profile of no devices, for which there are marks and nothing else"));
        }
        let bytes = options.folder.as_os_str().as_encoded_bytes();
        let folder = text_of(bytes, "the folder of a profile")?;
        let values = options.settings.iter().map(|(_, value)| text_of(value.as_bytes(), "a setting of a profile"));
        let values = values.collect::<Result<Vec<_>>>()?;
        if std::mem::replace(&mut *RUNS.lock(), true) {
            let text = "the process has a profile already, and the library makes one at a time";
            return Err(Error::new(ErrorKind::AlreadyInitialized, text));
        }
        // SAFETY: a path that ends with a zero, and its length.
        if let Err(error) = unsafe { call!(self, aclprofInit(folder.as_ptr(), folder.count_bytes())) } {
            *RUNS.lock() = false;
            return Err(error);
        }
        forget_ranges(self);
        let mut profile = Profile { config: std::ptr::null_mut(), started: false, ended: false, acl: self.clone() };
        match profile.start(options, &values) {
            Ok(()) => Ok(profile),
            Err(error) => {
                // The first error is the one that counts.
                let _ = profile.end_somehow();
                Err(error)
            }
        }
    }
}

impl Profile {
    fn start(&mut self, options: &ProfileOptions, values: &[CString]) -> Result<()> {
        for ((setting, _), value) in options.settings.iter().zip(values) {
            let (text, length) = (value.as_ptr(), value.count_bytes());
            // SAFETY: a text that ends with a zero, and its length.
            unsafe { call!(&self.acl, aclprofSetConfig(setting.raw(), text, length)) }?;
        }
        let mut ids = options.devices.clone();
        let (first, count) = (ids.as_mut_ptr(), ids.len() as u32);
        let data = options.data.iter().fold(0, |bits, data| bits | data.bit());
        let (metrics, events) = (options.metrics.raw(), std::ptr::null());
        // SAFETY: `count` numbers, which are copied; no events of the program's own.
        let config = unsafe { pointer!(&self.acl, aclprofCreateConfig(first, count, metrics, events, data)) };
        self.config = config.map_err(|error| error.with_kind(ErrorKind::InvalidArgument))?;
        // SAFETY: a live configuration.
        unsafe { call!(&self.acl, aclprofStart(self.config)) }?;
        self.started = true;
        Ok(())
    }

    /// Ends the profile, with ranges of the host that are open, and writes it.
    ///
    /// # Errors
    ///
    /// The profile and why: [`ErrorKind::File`] when it cannot be written; what the library says. Another stop goes on
    /// where this one failed, and the drop of the profile tries once more, after the unlock where this thread has the
    /// [process locked](Acl::lock_process), [`ErrorKind::NotSupported`].
    #[doc(alias = "aclprofStop")]
    #[doc(alias = "aclprofFinalize")]
    pub fn stop(mut self) -> Result<(), Refused<Self>> {
        let ended = check_not_locked().and_then(|()| self.stop_recording());
        let ended = ended.and_then(|()| self.destroy_config()).and_then(|()| self.finalize());
        ended.map_err(|error| Refused::new(self, error))
    }

    fn stop_recording(&mut self) -> Result<()> {
        if self.started {
            end_ranges(&self.acl, || {
                // SAFETY: a live configuration that was started.
                unsafe { call!(&self.acl, aclprofStop(self.config)) }
            })?;
            self.started = false;
        }
        Ok(())
    }

    fn destroy_config(&mut self) -> Result<()> {
        if !self.config.is_null() {
            // SAFETY: the configuration is this value's own, and forgotten once it is destroyed.
            unsafe { call!(&self.acl, aclprofDestroyConfig(self.config)) }?;
            self.config = std::ptr::null_mut();
        }
        Ok(())
    }

    fn finalize(&mut self) -> Result<()> {
        if !self.ended {
            // SAFETY: takes nothing; this value began the profile.
            unsafe { call!(&self.acl, aclprofFinalize()) }?;
            self.ended = true;
            *RUNS.lock() = false;
        }
        Ok(())
    }

    /// Every step of the end, whatever becomes of the others; the first error. The next profile may be tried then.
    fn end_somehow(&mut self) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        let done = self.stop_recording().and(self.destroy_config()).and(self.finalize());
        if !std::mem::replace(&mut self.ended, true) {
            *RUNS.lock() = false;
        }
        done
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if retire::must_leave() {
            self.ended = true;
            let config = std::mem::replace(&mut self.config, std::ptr::null_mut());
            let heir = Self { config, started: self.started, ended: false, acl: self.acl.clone() };
            return retire::on_thread(heir, drop);
        }
        if let Err(error) = self.end_somehow() {
            say!(Error, "ending a profile: {error:#}");
        }
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile").finish_non_exhaustive()
    }
}

/// For the library.
pub(super) fn text_of(bytes: &[u8], what: &str) -> Result<CString> {
    CString::new(bytes).map_err(|error| Error::invalid(format!("{what} with a zero byte")).with_source(error))
}
