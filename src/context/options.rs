//! Settings of the library that kernels and waits follow: of a context, or of the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use acl_sys::aclSysParamOpt;

use super::Context;
use crate::acl::Acl;
use crate::call::call;
use crate::error::{Error, Result};

/// Whether a limit of waits was set in this process.
static WAITS_MAY_END: AtomicBool = AtomicBool::new(false);

/// Whether a stream may go on though what it waits for is not done.
pub(crate) fn waits_may_end() -> bool {
    WAITS_MAY_END.load(Ordering::Acquire)
}

/// How operators compute, for [`Context::set_option`] and [`Acl::set_option`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SystemOption {
    /// The same numbers at each run; slower where the order of sums is free otherwise.
    Deterministic,
    /// Kernels that check themselves, for debugging.
    DebugKernels,
    /// The same numbers whatever the sizes beside; deprecated by the library.
    StrongConsistency,
    /// Kernels start before the one in front has ended. Of the process only.
    EarlyStart,
}

impl SystemOption {
    fn raw(self) -> aclSysParamOpt {
        match self {
            Self::Deterministic => aclSysParamOpt::ACL_OPT_DETERMINISTIC,
            Self::DebugKernels => aclSysParamOpt::ACL_OPT_ENABLE_DEBUG_KERNEL,
            Self::StrongConsistency => aclSysParamOpt::ACL_OPT_STRONG_CONSISTENCY,
            Self::EarlyStart => aclSysParamOpt::ACL_OPT_ENABLE_KERNEL_EARLY_START,
        }
    }
}

impl Context {
    /// Sets an option for operators of this context that are planned from now on. It comes before that of the process.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for [`SystemOption::EarlyStart`], which contexts do not have, and for options that
    /// the library does not know.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::SystemOption;
    ///
    /// let context = racl::Acl::mock()?.device(0)?.context().create_context()?;
    /// assert_eq!(context.option(SystemOption::Deterministic)?, None);
    /// context.set_option(SystemOption::Deterministic, true)?;
    /// assert_eq!(context.option(SystemOption::Deterministic)?, Some(true));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtCtxSetSysParamOpt")]
    pub fn set_option(&self, option: SystemOption, on: bool) -> Result<()> {
        // SAFETY: takes values.
        unsafe { call!(&**self.inner(), aclrtCtxSetSysParamOpt(option.raw(), i64::from(on))) }?;
        self.forget_operators();
        Ok(())
    }

    /// What was set for this context; none where nothing was.
    ///
    /// # Errors
    ///
    /// As [`Context::set_option`].
    #[doc(alias = "aclrtCtxGetSysParamOpt")]
    pub fn option(&self, option: SystemOption) -> Result<Option<bool>> {
        let mut value = 0;
        // SAFETY: `value` is a place for one number.
        match unsafe { call!(&**self.inner(), aclrtCtxGetSysParamOpt(option.raw(), &raw mut value)) } {
            Err(error) if error.code() == Some(acl_sys::ACL_ERROR_RT_SYSPARAMOPT_NOT_SET) => Ok(None),
            asked => asked.map(|()| Some(value != 0)),
        }
    }

    /// Limits how long one operator may run on the device, for all work that the process submits from now on; one that
    /// takes longer fails. Gives the limit that the device has for it, which is a multiple of its own step. None is the
    /// longest there is. In whole microseconds.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no time at all; [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on a chip without;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without the call.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::time::Duration;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let limit = device.context().set_operator_limit(Some(Duration::from_secs(20)))?;
    /// assert!(limit >= Duration::from_secs(20));
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetOpExecuteTimeOutV2")]
    #[doc(alias = "aclrtSetOpExecuteTimeOut")]
    pub fn set_operator_limit(&self, limit: Option<Duration>) -> Result<Duration> {
        let us = match limit {
            None => 0,
            Some(limit) => u64::try_from(limit.as_micros()).ok().filter(|us| *us > 0).ok_or_else(|| {
                Error::invalid(format!("a time limit of {limit:?} for operators: at least a microsecond"))
            })?,
        };
        let mut actual = 0;
        // SAFETY: takes a number, and a place for one.
        unsafe { call!(&**self.inner(), aclrtSetOpExecuteTimeOutV2(us, &raw mut actual)) }?;
        Ok(Duration::from_micros(actual))
    }

    fn forget_operators(&self) {
        self.inner().operators.forget(self.inner());
    }
}

impl Acl {
    /// Sets an option for operators of the process that are planned from now on, in contexts without one of their own.
    /// Executors that this crate keeps for later calls stay as they are;
    /// [`Context::clear_operator_cache`] lets them go.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for options that the library does not know.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use racl::{Acl, SystemOption};
    ///
    /// let acl = Acl::mock()?;
    /// acl.set_option(SystemOption::EarlyStart, true)?;
    /// assert!(acl.option(SystemOption::EarlyStart)?);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetSysParamOpt")]
    pub fn set_option(&self, option: SystemOption, on: bool) -> Result<()> {
        // SAFETY: takes values.
        unsafe { call!(self, aclrtSetSysParamOpt(option.raw(), i64::from(on))) }
    }

    /// What was set for the process.
    ///
    /// # Errors
    ///
    /// As [`Acl::set_option`].
    #[doc(alias = "aclrtGetSysParamOpt")]
    pub fn option(&self, option: SystemOption) -> Result<bool> {
        let mut value = 0;
        // SAFETY: `value` is a place for one number.
        unsafe { call!(self, aclrtGetSysParamOpt(option.raw(), &raw mut value)) }?;
        Ok(value != 0)
    }

    /// Limits how long streams of the process wait for events, of waits that are submitted from now on, in whole
    /// seconds, rounded up; none is as long as it takes, as at first. A wait that takes longer is an error of its
    /// stream's work, of kind [`ErrorKind::Timeout`](crate::ErrorKind::Timeout), and what is behind it goes on: in no
    /// order with what it was to wait for, also where that uses the same memory. Waits that this crate makes for the
    /// [order between streams](crate::Stream#order-between-streams) end as others do. From the first limit of a process
    /// on no stream has memory that another one gave up and may use still: the host waits for that.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no time at all or more than 136 years.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::time::Duration;
    ///
    /// let acl = racl::Acl::mock()?;
    /// acl.set_wait_limit(Some(Duration::from_secs(300)))?;
    /// acl.set_wait_limit(None)?;
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSetOpWaitTimeout")]
    pub fn set_wait_limit(&self, limit: Option<Duration>) -> Result<()> {
        let seconds = match limit {
            None => 0,
            Some(limit) => {
                u32::try_from(limit.as_nanos().div_ceil(1_000_000_000)).ok().filter(|s| *s > 0).ok_or_else(|| {
                    Error::invalid(format!("a time limit of {limit:?} for waits: more than zero, at most 136 years"))
                })?
            }
        };
        if limit.is_some() {
            WAITS_MAY_END.store(true, Ordering::Release);
        }
        // SAFETY: takes a number.
        unsafe { call!(self, aclrtSetOpWaitTimeout(seconds)) }
    }
}
