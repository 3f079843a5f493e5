//! The device that work is overlapped for.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::plan::recipe::Cores;

/// What is known of a device: its L2 cache, its cores, and the [rates](Rates) of the model.
///
/// # Examples
///
/// ```
/// use racl::plan::auto::{Rates, Target};
///
/// let by_hand = Target::new(192 << 20, 24, 48)?; // to build where there is no device
/// let device = racl::Acl::mock()?.device(0)?;
/// assert_eq!(Target::of(&device)?.l2_bytes(), device.l2_cache_bytes()?);
/// let mut rates = Rates::default();
/// rates.memory = 1_500_000; // as measured on this card: 1.5 TB/s
/// let measured = by_hand.rates(rates)?;
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    pub(super) l2_bytes: u64,
    pub(super) cores: Cores,
    pub(super) rates: Rates,
}

/// How fast a device is, for the model of [`plan::auto`](super). The defaults are round figures, not measured on any
/// card: set those of yours. None is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rates {
    /// Bytes a microsecond between device memory and all cores together.
    pub memory: u64,
    /// Bytes a microsecond between L2 and one core.
    pub core: u64,
    /// Bytes a microsecond between host and device.
    pub host: u64,
    /// Products that a matrix core sums up a microsecond, for elements of two bytes; for larger ones fewer in
    /// proportion, for smaller ones more.
    pub product: u64,
    /// Nanoseconds that the shortest operator takes.
    pub start: u64,
    /// Nanoseconds from the record of an event to the start of what waits for it.
    pub event: u64,
}

/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

impl Default for Rates {
    fn default() -> Self {
        Self { memory: 1_000_000, core: 100_000, host: 20_000, product: 10_000_000, start: 2_000, event: 1_000 }
    }
}

impl Target {
    /// A device that is described by hand: bytes of its L2 cache, numbers of matrix and of vector cores.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when one of them is 0.
    pub fn new(l2_bytes: u64, cube_cores: u32, vector_cores: u32) -> Result<Self> {
        if l2_bytes == 0 {
            return Err(Error::invalid("an L2 cache of 0 bytes; nothing could be prefetched into it"));
        }
        for (what, cores) in [("matrix", cube_cores), ("vector", vector_cores)] {
            if cores == 0 {
                return Err(Error::invalid(format!("a device with 0 {what} cores; there must be one")));
            }
        }
        let cores = Cores { cube: cube_cores, vector: vector_cores };
        Ok(Self { l2_bytes, cores, rates: Rates::default() })
    }

    /// What the device of a context says of itself; the [rates](Rates) are the defaults. Blocks for as long as the
    /// queries take.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) or
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) where the library or the chip does not tell;
    /// [`Target::new`] takes the numbers then, and has the errors for a device that answers 0.
    #[doc(alias = "aclrtGetDeviceInfo")]
    #[doc(alias = "aclrtGetDeviceResLimit")]
    pub fn of(context: impl AsRef<Context>) -> Result<Self> {
        let context = context.as_ref();
        let cores = crate::stream::device_cores(context)?;
        Self::new(context.l2_cache_bytes()?, cores.cube, cores.vector)
    }

    /// The same device with these rates.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a rate of 0, and for a `start` or an `event`
    /// of more than a second.
    pub fn rates(self, rates: Rates) -> Result<Self> {
        let Rates { memory, core, host, product, start, event } = rates;
        let all = [
            ("memory", memory),
            ("core", core),
            ("host", host),
            ("product", product),
            ("start", start),
            ("event", event),
        ];
        if let Some((name, _)) = all.iter().find(|(_, rate)| *rate == 0) {
            return Err(Error::invalid(format!("the rate {name:?} is 0; the model would divide by it")));
        }
        if let Some((name, time)) = all[4..].iter().find(|(_, time)| *time > SECOND) {
            return Err(Error::invalid(format!(
                "the rate {name:?} is {time} nanoseconds, which is more than a second"
            )));
        }
        Ok(Self { rates, ..self })
    }

    /// Bytes of the L2 cache.
    #[must_use]
    pub fn l2_bytes(&self) -> u64 {
        self.l2_bytes
    }

    /// Matrix and vector cores.
    #[must_use]
    pub fn cores(&self) -> Cores {
        self.cores
    }
}
