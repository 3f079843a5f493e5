//! Options of communicators, as types.

use std::ffi::c_char;
use std::time::Duration;

use acl_sys::{HCCL_COMM_CONFIG_MAGIC_WORD, HcclCommConfig, HcclCommConfigCapability, HcclConfig, HcclConfigValue};

use super::{Communicator, RootInfo};
use crate::call::{Caller as _, collective};
use crate::context::{Context, ContextInner};
use crate::error::{Error, ErrorKind, Result};

/// Which order sums are added in.
#[doc(alias = "HCCL_DETERMINISTIC")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Determinism {
    /// Whichever is fastest; two runs may differ in the last bits. What the library begins with.
    Off,
    /// The same in each run with the same ranks.
    On,
    /// The same for each element as well, whatever its place in the buffer.
    Strict,
}

impl Determinism {
    fn raw(self) -> u32 {
        match self {
            Self::Off => 0,
            Self::On => 1,
            Self::Strict => 2,
        }
    }
}

/// What turns an operation into tasks of the card.
#[doc(alias = "hcclOpExpansionMode")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Expansion {
    /// The host.
    Host,
    /// The card's own processor.
    AiCpu,
    /// Vector cores, which the operations take from other work.
    Vector,
}

/// Options of a communicator. What is not set is as the library has it, or the variables of its environment
/// (`HCCL_BUFFSIZE`, `HCCL_EXEC_TIMEOUT` and their like).
///
/// The library says which of them it takes; others are refused before anything is made. All ranks give the same. On the
/// mock the name and the time limit have an effect.
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
///
/// use racl::collective::{CommunicatorOptions, Determinism, RootInfo};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let root = RootInfo::new(&device)?;
/// let ranks = CommunicatorOptions::new()
///     .name("tensor-parallel")
///     .buffer_mib(64)
///     .deterministic(Determinism::On)
///     .time_limit(Duration::from_secs(60))
///     .init(&device, &root, 0, 1)?;
/// assert_eq!(ranks.name(), "tensor-parallel");
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "HcclCommConfig")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommunicatorOptions {
    buffer_mib: Option<u32>,
    deterministic: Option<Determinism>,
    name: Option<String>,
    expansion: Option<Expansion>,
    traffic_class: Option<u32>,
    service_level: Option<u32>,
    zero_copy: Option<bool>,
    time_limit: Option<Duration>,
    algorithm: Option<String>,
    buffer_name: Option<String>,
}

impl CommunicatorOptions {
    /// None are set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The memory for data on its way, in MiB, of which a communicator has two. At least 1.
    #[doc(alias = "hcclBufferSize")]
    #[must_use]
    pub fn buffer_mib(self, mib: u32) -> Self {
        Self { buffer_mib: Some(mib), ..self }
    }

    /// Which order sums are added in.
    #[must_use]
    pub fn deterministic(self, determinism: Determinism) -> Self {
        Self { deterministic: Some(determinism), ..self }
    }

    /// A name, of at most 127 bytes, which no other communicator of the process has.
    #[doc(alias = "hcclCommName")]
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// What turns operations into tasks.
    #[must_use]
    pub fn expansion(self, expansion: Expansion) -> Self {
        Self { expansion: Some(expansion), ..self }
    }

    /// The traffic class of RDMA packets, up to 255, a multiple of 4.
    #[doc(alias = "hcclRdmaTrafficClass")]
    #[must_use]
    pub fn traffic_class(self, class: u32) -> Self {
        Self { traffic_class: Some(class), ..self }
    }

    /// The service level of RDMA packets, up to 7.
    #[doc(alias = "hcclRdmaServiceLevel")]
    #[must_use]
    pub fn service_level(self, level: u32) -> Self {
        Self { service_level: Some(level), ..self }
    }

    /// Whether operations of captured graphs work on the memory of the program instead of copies of it.
    #[doc(alias = "aclGraphZeroCopyEnable")]
    #[must_use]
    pub fn zero_copy_in_graphs(self, on: bool) -> Self {
        Self { zero_copy: Some(on), ..self }
    }

    /// How long an operation waits for other ranks, in whole seconds, rounded up: at least one. An operation that takes
    /// longer fails.
    #[doc(alias = "hcclExecTimeOut")]
    #[must_use]
    pub fn time_limit(self, limit: Duration) -> Self {
        Self { time_limit: Some(limit), ..self }
    }

    /// The algorithms, in the words of `HCCL_ALGO`.
    #[doc(alias = "hcclAlgo")]
    #[must_use]
    pub fn algorithm(self, words: impl Into<String>) -> Self {
        Self { algorithm: Some(words.into()), ..self }
    }

    /// Communicators of one device whose buffers have the same name share the memory for data on its way; their
    /// operations must not run at the same time.
    #[doc(alias = "hcclBufferName")]
    #[must_use]
    pub fn buffer_name(self, name: impl Into<String>) -> Self {
        Self { buffer_name: Some(name.into()), ..self }
    }

    /// As [`Communicator::new`], with these options.
    ///
    /// # Errors
    ///
    /// As [`Communicator::new`]; [`ErrorKind::InvalidArgument`] for a value outside of its range, or a text that is too
    /// long or has a zero byte; [`ErrorKind::NotSupported`] for an option that the library does not take.
    #[doc(alias = "HcclCommInitRootInfoConfig")]
    pub fn init(&self, context: impl AsRef<Context>, root: &RootInfo, rank: u32, size: u32) -> Result<Communicator> {
        Communicator::by_root(context.as_ref(), root, rank, size, self)
    }

    /// As [`Communicator::from_rank_table`], with these options.
    ///
    /// # Errors
    ///
    /// As [`Communicator::from_rank_table`] and [`CommunicatorOptions::init`].
    #[doc(alias = "HcclCommInitClusterInfoConfig")]
    pub fn init_from_rank_table(
        &self,
        context: impl AsRef<Context>,
        path: impl AsRef<std::path::Path>,
        rank: u32,
    ) -> Result<Communicator> {
        Communicator::by_table(context.as_ref(), path.as_ref(), rank, self)
    }

    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The structure of the C interface: values that stand for nothing, and those that are set. The library copies as
    /// many bytes as the structure says it has, and reads what the version says: both go as far as what is set, so that
    /// a library which knows less sees nothing new, and one which knows more reads nothing that is not there.
    pub(super) fn raw(&self, context: &ContextInner) -> Result<HcclCommConfig> {
        self.check(context)?;
        let mut raw = unset();
        raw.hcclBufferSize = self.buffer_mib.unwrap_or(NOT_SET);
        raw.hcclDeterministic = self.deterministic.map_or(NOT_SET, Determinism::raw);
        raw.hcclOpExpansionMode = self.expansion.map_or(0, |expansion| match expansion {
            Expansion::Host => 1,
            Expansion::AiCpu => 2,
            Expansion::Vector => 3,
        });
        raw.hcclRdmaTrafficClass = self.traffic_class.unwrap_or(NOT_SET);
        raw.hcclRdmaServiceLevel = self.service_level.unwrap_or(NOT_SET);
        put("name", self.name.as_deref(), &mut raw.hcclCommName)?;
        raw.aclGraphZeroCopyEnable = u8::from(self.zero_copy == Some(true));
        if let Some(limit) = self.time_limit {
            raw.hcclExecTimeOut = seconds(limit)?;
        }
        put("algorithm", self.algorithm.as_deref(), &mut raw.hcclAlgo)?;
        put("name of a buffer", self.buffer_name.as_deref(), &mut raw.hcclBufferName)?;
        head(&mut raw, self.version());
        Ok(raw)
    }

    /// The first version of the structure with all that is set.
    fn version(&self) -> u32 {
        if self.buffer_name.is_some() {
            9
        } else if self.time_limit.is_some() || self.algorithm.is_some() {
            8
        } else if self.zero_copy.is_some() {
            7
        } else {
            5
        }
    }

    fn check(&self, context: &ContextInner) -> Result<()> {
        let ranges = [
            ("a buffer in MiB", self.buffer_mib, 1..=u32::MAX - 1),
            ("a traffic class", self.traffic_class, 0..=255),
            ("a service level", self.service_level, 0..=7),
        ];
        for (what, value, range) in ranges {
            if let Some(value) = value.filter(|value| !range.contains(value)) {
                let (least, most) = range.into_inner();
                return Err(Error::invalid(format!("{what} of {value}: from {least} to {most}")));
            }
        }
        if self.traffic_class.is_some_and(|class| class % 4 != 0) {
            return Err(Error::invalid("a traffic class that is no multiple of 4"));
        }
        self.check_taken(context)
    }

    /// That the library takes what is set.
    fn check_taken(&self, context: &ContextInner) -> Result<()> {
        type Which = HcclCommConfigCapability;
        let set = [
            ("buffer_mib", self.buffer_mib.is_some(), Which::HCCL_COMM_CONFIG_BUFFER_SIZE),
            ("deterministic", self.deterministic.is_some(), Which::HCCL_COMM_CONFIG_DETERMINISTIC),
            ("name", self.name.is_some(), Which::HCCL_COMM_CONFIG_COMM_NAME),
            ("expansion", self.expansion.is_some(), Which::HCCL_COMM_CONFIG_OP_EXPANSION_MODE),
            ("zero_copy_in_graphs", self.zero_copy.is_some(), Which::HCCL_COMM_CONFIG_ACLGRAPH_ZEROCOPY_ENABLE),
            ("time_limit", self.time_limit.is_some(), Which::HCCL_COMM_CONFIG_EXEC_TIMEOUT),
            ("algorithm", self.algorithm.is_some(), Which::HCCL_COMM_CONFIG_ALGO),
            ("buffer_name", self.buffer_name.is_some(), Which::HCCL_COMM_CONFIG_BUFFER_NAME),
        ];
        // Without the question there is no list to look at, and the library takes what it knows.
        let Ok(function) = context.table().HcclGetCommConfigCapability() else { return Ok(()) };
        // SAFETY: takes nothing.
        let first_unknown = unsafe { function() };
        match set.iter().find(|(_, set, which)| *set && which.0 >= first_unknown) {
            None => Ok(()),
            Some((option, ..)) => {
                let text = format!("the option {option} of communicators, which this libhccl does not take");
                Err(Error::new(ErrorKind::NotSupported, text))
            }
        }
    }
}

/// What stands for a number that is not set (header: hccl).
const NOT_SET: u32 = u32::MAX;

fn unset() -> HcclCommConfig {
    HcclCommConfig {
        reserved: [0; 24],
        hcclBufferSize: NOT_SET,
        hcclDeterministic: NOT_SET,
        hcclCommName: [0; 128],
        hcclUdi: [0; 128],
        hcclOpExpansionMode: 0,
        hcclRdmaTrafficClass: NOT_SET,
        hcclRdmaServiceLevel: NOT_SET,
        hcclWorldRankID: 0,
        hcclJobID: 0,
        aclGraphZeroCopyEnable: 0,
        hcclExecTimeOut: -1,
        hcclAlgo: [0; 1600],
        hcclRetryEnable: [0; 50],
        hcclRetryParams: [0; 128],
        hcclBufferName: [0; 128],
        hcclQos: NOT_SET,
    }
}

/// Where the members of a version end. Those of version 10 are not all among ours, and none of it is set.
fn size_of(version: u32) -> usize {
    match version {
        ..=5 => std::mem::offset_of!(HcclCommConfig, hcclWorldRankID),
        6 => std::mem::offset_of!(HcclCommConfig, aclGraphZeroCopyEnable),
        7 => std::mem::offset_of!(HcclCommConfig, hcclExecTimeOut),
        8 => std::mem::offset_of!(HcclCommConfig, hcclBufferName),
        _ => std::mem::offset_of!(HcclCommConfig, hcclQos),
    }
}

/// The structure begins with the size that the program knows, the magic word and the version.
fn head(raw: &mut HcclCommConfig, version: u32) {
    let (size, magic) = (size_of(version).to_ne_bytes(), HCCL_COMM_CONFIG_MAGIC_WORD.to_ne_bytes());
    let parts = [size.as_slice(), &magic, &version.to_ne_bytes()].concat();
    raw.reserved[..parts.len()].copy_from_slice(bytemuck::cast_slice(&parts));
}

/// Writes a text with its end; false when there is none.
fn put(what: &str, text: Option<&str>, to: &mut [c_char]) -> Result<bool> {
    let Some(text) = text else { return Ok(false) };
    if text.is_empty() || text.len() >= to.len() || text.contains('\0') {
        let most = to.len() - 1;
        return Err(Error::invalid(format!("the {what} {text:?}: from 1 to {most} bytes, none of them zero")));
    }
    to[..text.len()].copy_from_slice(bytemuck::cast_slice(text.as_bytes()));
    Ok(true)
}

fn seconds(limit: Duration) -> Result<i32> {
    match i32::try_from(limit.as_nanos().div_ceil(1_000_000_000)) {
        Ok(seconds) if seconds > 0 => Ok(seconds),
        _ => Err(Error::invalid(format!("a time limit of {limit:?}: more than zero and at most 68 years"))),
    }
}

impl Context {
    /// Which order sums are added in by communicators that do not say it themselves, of the whole process. It counts
    /// for those that are made afterwards.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LibraryNotFound`] without libhccl; [`ErrorKind::InvalidArgument`] or [`ErrorKind::NotSupported`] for
    /// what the library does not have.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::collective::Determinism;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// device.context().set_collective_determinism(Determinism::Strict)?;
    /// assert_eq!(device.context().collective_determinism()?, Determinism::Strict);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "HcclSetConfig")]
    pub fn set_collective_determinism(&self, determinism: Determinism) -> Result<()> {
        let value = HcclConfigValue { value: determinism.raw() as i32 };
        // SAFETY: takes numbers.
        unsafe { collective!(&**self.inner(), HcclSetConfig(HcclConfig::HCCL_DETERMINISTIC, value)) }
    }

    /// What [`Context::set_collective_determinism`] set last.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LibraryNotFound`] without libhccl; [`ErrorKind::UnknownValue`] for a setting that this crate does not
    /// know.
    #[doc(alias = "HcclGetConfig")]
    pub fn collective_determinism(&self) -> Result<Determinism> {
        let mut value = HcclConfigValue { value: 0 };
        // SAFETY: a place for one value.
        unsafe { collective!(&**self.inner(), HcclGetConfig(HcclConfig::HCCL_DETERMINISTIC, &raw mut value)) }?;
        // SAFETY: the union has this one member.
        match unsafe { value.value } {
            0 => Ok(Determinism::Off),
            1 => Ok(Determinism::On),
            2 => Ok(Determinism::Strict),
            other => Err(Error::new(ErrorKind::UnknownValue, format!("the determinism {other} of communicators"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_room_for_their_end() {
        let mut room = [7; 4];
        assert!(put("x", Some("abc"), &mut room).unwrap());
        assert_eq!(room.map(|c| c as u8), [b'a', b'b', b'c', 7]);
        for text in ["", "abcd", "a\0"] {
            assert!(put("x", Some(text), &mut room).is_err(), "{text:?}");
        }
        assert!(!put("x", None, &mut room).unwrap());
    }

    #[test]
    fn the_version_goes_as_far_as_what_is_set_and_the_size_with_it() {
        let new = CommunicatorOptions::new;
        // Ends of the members, from the layout of the header.
        for (options, version, size) in [
            (new(), 5, 300),
            (new().name("x").service_level(1), 5, 300),
            (new().zero_copy_in_graphs(false), 7, 316),
            (new().time_limit(Duration::from_secs(1)), 8, 2098),
            (new().algorithm("level0:ring").zero_copy_in_graphs(true), 8, 2098),
            (new().buffer_name("x"), 9, 2228),
        ] {
            assert_eq!((options.version(), size_of(options.version())), (version, size), "{options:?}");
        }
    }

    #[test]
    fn seconds_are_rounded_up() {
        assert_eq!(seconds(Duration::from_millis(1)).unwrap(), 1);
        assert_eq!(seconds(Duration::from_secs(3)).unwrap(), 3);
        assert!(seconds(Duration::ZERO).is_err() && seconds(Duration::MAX).is_err());
    }
}
