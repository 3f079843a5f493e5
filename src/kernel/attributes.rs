//! What a launch is told beside its arguments.

use std::time::Duration;

use acl_sys::{
    aclrtEngineType, aclrtLaunchKernelAttr, aclrtLaunchKernelAttrId as Id, aclrtLaunchKernelAttrValue as Value,
    aclrtTimeoutUs,
};

use crate::error::{Error, ErrorKind, Result};

/// How the blocks of a launch start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// As cores become free.
    Normal,
    /// All together, which blocks that wait for each other need; there must be a core for each.
    Batch,
}

/// The cores of a launch whose kernel runs on either kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "aclrtEngineType")]
pub enum KernelEngine {
    /// Cube cores.
    Cube,
    /// Vector cores.
    Vector,
}

/// Each at most once, as the library wants it.
#[derive(Default)]
pub(super) struct Attributes(Vec<aclrtLaunchKernelAttr>);

impl Attributes {
    pub(super) fn list(&mut self) -> &mut [aclrtLaunchKernelAttr] {
        &mut self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn set(&mut self, id: Id, value: Value) {
        self.0.retain(|known| known.id != id);
        self.0.push(aclrtLaunchKernelAttr { id, value });
    }

    pub(super) fn schedule(&mut self, schedule: Schedule) {
        let mode = match schedule {
            Schedule::Normal => 0,
            Schedule::Batch => 1,
        };
        self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, small(mode));
    }

    pub(super) fn engine(&mut self, engine: KernelEngine) {
        let engine = match engine {
            KernelEngine::Cube => aclrtEngineType::ACL_RT_ENGINE_TYPE_AIC,
            KernelEngine::Vector => aclrtEngineType::ACL_RT_ENGINE_TYPE_AIV,
        };
        self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE, word(engine.0));
    }

    pub(super) fn block_offset(&mut self, offset: u32) {
        self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET, word(offset));
    }

    pub(super) fn task_prefetch(&mut self, on: bool) {
        // The number says that it is not to be.
        self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH, small(u8::from(!on)));
    }

    pub(super) fn dump(&mut self, on: bool) {
        self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP, small(u8::from(on)));
    }

    pub(super) fn profile(&mut self, on: bool) {
        self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING, small(u8::from(on)));
    }

    pub(super) fn dynamic_memory(&mut self, bytes: u32) {
        self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE, word(bytes));
    }

    /// Whole seconds where that is exact, which every release takes, and where the library has nothing finer; zero
    /// stands for no limit.
    pub(super) fn limit(&mut self, limit: Option<Duration>, fine: bool) -> Result<()> {
        let mut us = limit.map_or(Ok(0), |limit| match u64::try_from(limit.as_nanos().div_ceil(1000)) {
            Ok(us) if us > 0 => Ok(us),
            _ => Err(Error::invalid(format!("a time limit of {limit:?} of a launch"))),
        })?;
        if !fine {
            let seconds = us.div_ceil(1_000_000);
            if u16::try_from(seconds).is_err() {
                let text = format!("a time limit of {seconds} seconds of a launch; this release takes up to 65,535");
                return Err(Error::new(ErrorKind::NotSupported, text));
            }
            us = seconds * 1_000_000;
        }
        // A launch has one of the two.
        self.0.retain(|known| {
            known.id != Id::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT && known.id != Id::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US
        });
        match u16::try_from(us / 1_000_000) {
            Ok(seconds) if us % 1_000_000 == 0 => {
                let mut value = word(0);
                value.timeout = seconds;
                self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT, value);
            }
            _ => {
                let timeout = aclrtTimeoutUs { timeoutLow: us as u32, timeoutHigh: (us >> 32) as u32 };
                let mut value = word(0);
                value.timeoutUs = timeout;
                self.set(Id::ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US, value);
            }
        }
        Ok(())
    }
}

/// A number of one byte; all bytes of the value are set.
fn small(number: u8) -> Value {
    let mut value = word(0);
    value.schemMode = number;
    value
}

fn word(number: u32) -> Value {
    Value { rsv: [number, 0, 0, 0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(attributes: &mut Attributes) -> Vec<u32> {
        attributes.list().iter().map(|attribute| attribute.id.0).collect()
    }

    #[test]
    fn a_launch_has_one_of_each_and_one_limit() {
        let mut all = Attributes::default();
        all.schedule(Schedule::Batch);
        all.limit(Some(Duration::from_secs(3)), true).unwrap();
        all.schedule(Schedule::Normal);
        assert_eq!(ids(&mut all), [7, 1]);
        all.limit(Some(Duration::from_micros(1_500_000)), true).unwrap();
        assert_eq!(ids(&mut all), [1, 8]);
        all.limit(None, true).unwrap();
        assert_eq!(ids(&mut all), [1, 7]);
    }

    #[test]
    fn limits_are_rounded_up_and_none_is_too_small() {
        let mut all = Attributes::default();
        assert!(all.limit(Some(Duration::ZERO), true).is_err() && all.limit(Some(Duration::MAX), true).is_err());
        for (limit, low, high) in [(Duration::from_nanos(1), 1, 0), (Duration::from_secs(70_000), 1_280_523_264, 16)]
        {
            all.limit(Some(limit), true).unwrap();
            // SAFETY: every byte of the value is set.
            let told = unsafe { all.list()[0].value.timeoutUs };
            assert_eq!((told.timeoutLow, told.timeoutHigh), (low, high), "{limit:?}");
        }
    }

    #[test]
    fn without_a_finer_limit_whole_seconds_are_rounded_up() {
        let mut all = Attributes::default();
        for (limit, seconds) in [(1, 1), (1_000_000, 1), (1_000_001, 2), (65_534_000_001, 65_535)] {
            all.limit(Some(Duration::from_micros(limit)), false).unwrap();
            assert_eq!(ids(&mut all), [7]);
            // SAFETY: every byte of the value is set.
            assert_eq!(unsafe { all.list()[0].value.timeout }, seconds, "{limit} µs");
        }
        let error = all.limit(Some(Duration::from_micros(65_535_000_001)), false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSupported);
    }
}
