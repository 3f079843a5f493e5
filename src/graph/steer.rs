//! Streams of graphs that are built by hand: how one starts another, and how one gives way to another.

use std::panic::Location;
use std::sync::Arc;

use acl_sys::{aclrtCompareDataType, aclrtCondition};

use super::build::flag_for;
use crate::allocation::Touch;
use crate::call::call;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::{DeviceRead, DeviceSlice};
use crate::stream::{CaptureState, Named, Stream, Task};

/// How two numbers are compared by [`Stream::switch_if`]: the left one with the right one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[doc(alias = "aclrtCondition")]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
}

impl Comparison {
    fn raw(self) -> aclrtCondition {
        match self {
            Self::Equal => aclrtCondition::ACL_RT_EQUAL,
            Self::NotEqual => aclrtCondition::ACL_RT_NOT_EQUAL,
            Self::Greater => aclrtCondition::ACL_RT_GREATER,
            Self::GreaterOrEqual => aclrtCondition::ACL_RT_GREATER_OR_EQUAL,
            Self::Less => aclrtCondition::ACL_RT_LESS,
            Self::LessOrEqual => aclrtCondition::ACL_RT_LESS_OR_EQUAL,
        }
    }
}

mod sealed {
    use acl_sys::aclrtCompareDataType;

    pub trait Sealed: bytemuck::Pod {
        const TYPE: aclrtCompareDataType;
    }

    impl Sealed for i32 {
        const TYPE: aclrtCompareDataType = aclrtCompareDataType::ACL_RT_SWITCH_INT32;
    }

    impl Sealed for i64 {
        const TYPE: aclrtCompareDataType = aclrtCompareDataType::ACL_RT_SWITCH_INT64;
    }
}

/// Numbers that a stream can compare: `i32` and `i64`.
#[diagnostic::on_unimplemented(
    message = "a stream does not compare `{Self}`",
    note = "`i32` and `i64` can be compared"
)]
#[doc(alias = "aclrtCompareDataType")]
pub trait Comparable: sealed::Sealed {}

impl Comparable for i32 {}
impl Comparable for i64 {}

/// The graph that the stream is being built into.
pub(super) fn building(stream: &Stream, (label, _): Named) -> Result<Arc<CaptureState>> {
    stream.0.check_thread()?;
    let state = stream.0.lock();
    match &state.capture {
        Some(capture) if capture.is_by_hand() => Ok(Arc::clone(capture)),
        _ => {
            drop(state);
            let text = format!("a {label} on {}, which is of no graph that is being built by hand", stream.name());
            Err(Error::new(ErrorKind::NotCapturing, text))
        }
    }
}

impl Stream {
    /// Starts `other` when this stream gets here: it runs beside this one from then on. Both are of one graph that is
    /// [built by hand](crate::GraphBuilder). At its end this stream waits for the other one. Returns when that is
    /// stored.
    ///
    /// A stream is started once, by the first one or one that was started before, in front of all labels, switches and
    /// jumps of that: so it runs once at each launch.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a stream of another graph, and for anything else than what is said above;
    /// [`ErrorKind::NotCapturing`] for a stream of no such graph; [`ErrorKind::OutOfMemory`] when the device has no
    /// room for a number of 8 bytes. The builder gives no graph after any but the second.
    #[doc(alias = "aclrtActiveStream")]
    #[track_caller]
    pub fn start(&self, other: &Self) -> Result<()> {
        let named = ("stream start", Location::caller());
        let build = building(self, named)?;
        let flag = flag_for(self.0.context()).map_err(|error| self.refuse(named, error))?;
        let (context, other) = (&**self.0.context(), &other.0);
        self.submit_steering(named, &[Touch::kept(&flag)], |raw| {
            build.steer_to((&self.0, other), |flow, from, to| flow.start(from, to, &flag))?;
            // What an earlier launch left, or one that was aborted.
            // SAFETY: eight aligned bytes of device memory, which the graph keeps.
            unsafe { call!(context, aclrtValueWrite(flag.address(), 0, 0, raw)) }?;
            // SAFETY: live streams of one graph.
            unsafe { call!(context, aclrtActiveStream(other.raw(), raw)) }
        })
    }

    /// Goes on with `other`, from its begin, if the comparison of two numbers in device memory holds when this stream
    /// gets here; else with what this stream is given next. Both are of one graph that is
    /// [built by hand](crate::GraphBuilder); of each memory the first element is read, on the device. Returns when that
    /// is stored.
    ///
    /// The other stream has to end with a [jump](Stream::jump) that leads back. Any number of switches may lead to it,
    /// and no [start](Stream::start).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for a stream of another graph or one that is started, for memory without an
    /// element, and for memory of another device or library; [`ErrorKind::NotCapturing`] for a stream of no such
    /// graph. The builder gives no graph after any but the last.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::Comparison;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let (mut left, right) = (device.upload(&[1_i32])?, device.upload(&[2_i32])?);
    /// let mut out = device.alloc_zeroed::<u8>(1)?;
    /// let mut builder = device.context().build_graph()?;
    /// let (first, other) = (builder.first().clone(), builder.stream("greater")?);
    /// let end = device.context().label()?;
    /// first.switch_if(&left, Comparison::Greater, &right, &other)?;
    /// first.fill_bytes(&mut out, 1)?;
    /// first.set_label(&end)?;
    /// other.fill_bytes(&mut out, 9)?;
    /// other.jump(&end)?;
    /// let mut graph = builder.finish()?;
    /// for (number, expected) in [(2, 1), (3, 9)] {
    ///     left.write(&[number])?;
    ///     graph.launch(&stream)?;
    ///     assert_eq!(out.to_vec()?, [expected]);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSwitchStream")]
    #[track_caller]
    pub fn switch_if<T: Comparable>(
        &self,
        left: &impl DeviceRead<Element = T>,
        comparison: Comparison,
        right: &impl DeviceRead<Element = T>,
        other: &Self,
    ) -> Result<()> {
        let named = ("switch", Location::caller());
        let build = building(self, named)?;
        let (left, right) = (left.as_slice(), right.as_slice());
        let checked = self.check_number(&left).and_then(|()| self.check_number(&right));
        checked.map_err(|error| self.refuse(named, error))?;
        let (context, other) = (&**self.0.context(), &other.0);
        let uses = [Touch::read(left.allocation()), Touch::read(right.allocation())];
        self.submit_steering(named, &uses, |raw| {
            build.steer_to((&self.0, other), |flow, from, to| flow.switch(from, to))?;
            let (left, right, condition, none) =
                (left.address(), right.address(), comparison.raw(), std::ptr::null_mut());
            let (to, kind): (_, aclrtCompareDataType) = (other.raw(), T::TYPE);
            // SAFETY: live streams of one graph, and an aligned number on each side, which the graph keeps.
            unsafe { call!(context, aclrtSwitchStream(left, condition, right, kind, to, none, raw)) }
        })
    }

    fn check_number<T: Comparable>(&self, number: &DeviceSlice<'_, T>) -> Result<()> {
        self.check_device(number.context_inner())?;
        if number.is_empty() { Err(Error::invalid("a switch by no number")) } else { Ok(()) }
    }

    fn submit_steering(
        &self,
        (label, location): Named,
        uses: &[Touch<'_>],
        call: impl FnOnce(acl_sys::aclrtStream) -> Result<()>,
    ) -> Result<()> {
        self.0.submit(&Task { label, location, uses, scratch: None }, call).map(drop)
    }
}
