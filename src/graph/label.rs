//! Labels in graphs that are built by hand, and lists of them to jump by.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use acl_sys::{aclrtLabel, aclrtLabelList};

use super::steer::building;
use crate::allocation::{Allocation, Touch};
use crate::call::{call, non_null};
use crate::context::{Context, ContextInner};
use crate::error::{Error, Refused, Result};
use crate::memory::DeviceRead;
use crate::stream::{Destroy, Handle, Named, Place, Stream};

/// More than the runtime has (guide: label management).
const MOST_LABELS: usize = 65_535;

/// A place in a stream of a graph that is [built by hand](crate::GraphBuilder), where streams of that graph
/// [jump](Stream::jump) to. It may be jumped to before it is [set](Stream::set_label), and stands in one place of one
/// graph, for good.
///
/// The graph keeps it. Any thread may use it.
///
/// C calls: `aclrtCreateLabel`, `aclrtSetLabel`, `aclrtDestroyLabel`.
///
/// # Examples
///
/// A loop: as long as the number on the device is below 100, it is tripled.
///
/// ```
/// use racl::{Comparison, op};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// let (x, limit) = (device.upload(&[1_i64])?.into_shared(), device.upload(&[100_i64])?);
/// let mut number = racl::Tensor::over(x.clone(), [1])?;
/// let mut builder = device.context().build_graph()?;
/// let (first, body) = (builder.first().clone(), builder.stream("body")?);
/// let again = device.context().label()?;
/// first.set_label(&again)?;
/// first.switch_if(&x, Comparison::Less, &limit, &body)?; // else goes on behind it
/// op::muls_inplace(&body, &mut number, 3)?;
/// body.jump(&again)?;
/// let mut graph = builder.finish()?;
///
/// graph.launch(&device.stream()?)?;
/// assert_eq!(x.to_vec()?, [243]);
/// # Ok::<(), racl::Error>(())
/// ```
#[doc(alias = "aclrtLabel")]
pub struct Label {
    handle: Arc<Handle>,
    place: Place,
}

/// Labels to choose among by a number in device memory: see [`Stream::jump_by`].
///
/// Graphs that use it keep it, and it keeps its labels. Any thread may use it.
///
/// C calls: `aclrtCreateLabelList`, `aclrtDestroyLabelList`.
#[doc(alias = "aclrtLabelList")]
pub struct LabelList {
    /// Goes before the labels.
    handle: Arc<Handle>,
    labels: Arc<[(Arc<Handle>, Place)]>,
}

impl Context {
    /// A new label, which stands nowhere. See [`Label`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`](crate::ErrorKind::Internal) (507000) when there are 65,535;
    /// [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without them.
    #[doc(alias = "aclrtCreateLabel")]
    pub fn label(&self) -> Result<Label> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is a place for one handle.
        unsafe { call!(&**self.inner(), aclrtCreateLabel(&raw mut raw)) }?;
        let raw = non_null(raw, "aclrtCreateLabel")?;
        // SAFETY: the owner's only destroy, of a handle that no graph uses any more.
        let destroy: Destroy = |context, raw| unsafe { call!(context, aclrtDestroyLabel(raw)) };
        Ok(Label { handle: Handle::new(raw, "a label", destroy, self.inner()), place: Place::default() })
    }
}

impl Label {
    /// The raw handle. Valid as long as this value; what it is used for beside this crate is not tracked.
    #[must_use]
    pub fn as_raw(&self) -> aclrtLabel {
        self.handle.raw()
    }

    /// Destroys the label now.
    ///
    /// # Errors
    ///
    /// The label and why: [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) while a graph, a builder
    /// or a list has it; otherwise what the library says.
    #[doc(alias = "aclrtDestroyLabel")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        let Self { handle, place } = self;
        Handle::close(handle).map_err(|refused| refused.map(|handle| Self { handle, place }))
    }
}

impl LabelList {
    /// A list of these labels, which need not be set yet. Returns when it is made.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no labels, more than 65,535, and labels of
    /// several contexts; [`ErrorKind::MissingSymbol`](crate::ErrorKind::MissingSymbol) on a library without lists.
    #[doc(alias = "aclrtCreateLabelList")]
    pub fn new<'a>(labels: impl IntoIterator<Item = &'a Label>) -> Result<Self> {
        let labels: Arc<[_]> =
            labels.into_iter().map(|label| (Arc::clone(&label.handle), Arc::clone(&label.place))).collect();
        let context = match labels.first() {
            Some((first, _)) if labels.len() <= MOST_LABELS => Arc::clone(first.context()),
            _ => return Err(Error::invalid(format!("a list of {} labels: 1 to {MOST_LABELS}", labels.len()))),
        };
        if labels.iter().any(|(label, _)| !Arc::ptr_eq(label.context(), &context)) {
            return Err(Error::invalid("a list of labels of several contexts"));
        }
        let mut handles: Vec<aclrtLabel> = labels.iter().map(|(label, _)| label.raw()).collect();
        let mut raw = std::ptr::null_mut();
        // SAFETY: live handles, as many as is said, and a place for one.
        unsafe { call!(&*context, aclrtCreateLabelList(handles.as_mut_ptr(), handles.len(), &raw mut raw)) }?;
        let raw = non_null(raw, "aclrtCreateLabelList")?;
        // SAFETY: the owner's only destroy, of a handle that no graph uses any more.
        let destroy: Destroy = |context, raw| unsafe { call!(context, aclrtDestroyLabelList(raw)) };
        Ok(Self { handle: Handle::new(raw, "a list of labels", destroy, &context), labels })
    }

    /// How many labels it has.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The raw handle. Valid as long as this value; what it is used for beside this crate is not tracked.
    #[must_use]
    pub fn as_raw(&self) -> aclrtLabelList {
        self.handle.raw()
    }

    /// Destroys the list now.
    ///
    /// # Errors
    ///
    /// As [`Label::close`].
    #[doc(alias = "aclrtDestroyLabelList")]
    pub fn close(self) -> Result<(), Refused<Self>> {
        let Self { handle, labels } = self;
        Handle::close(handle).map_err(|refused| refused.map(|handle| Self { handle, labels }))
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        self.labels.iter().map(|(_, place)| place)
    }
}

/// That a handle is of the stream's context.
fn check_context(handle: &Handle, stream: &Stream, what: &str) -> Result<()> {
    let context = stream.0.context();
    if Arc::ptr_eq(handle.context(), context) {
        return Ok(());
    }
    context.check_memory(handle.context(), || what.to_owned())?;
    Err(Error::invalid(format!("{what} of another context")))
}

impl Stream {
    /// Places `label` here: a jump to it goes on with what this stream, of a graph that is built by hand, is given
    /// next. Returns when that is stored.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for a label that stands somewhere already, or
    /// of another context, device or library; [`ErrorKind::NotCapturing`](crate::ErrorKind::NotCapturing) for a stream
    /// of no such graph. The builder gives no graph after any but the last.
    #[doc(alias = "aclrtSetLabel")]
    #[track_caller]
    pub fn set_label(&self, label: &Label) -> Result<()> {
        let named = ("label", Location::caller());
        let build = building(self, named)?;
        check_context(&label.handle, self, "a label").map_err(|error| self.refuse(named, error))?;
        if let Some(capture) = self.0.lock().capture.clone() {
            capture.may_come_back();
        }
        label.handle.submit(self, named, &[], |context, raw| {
            build.steer(&self.0, |flow, line| flow.label(line, &label.place))?;
            // SAFETY: both handles are live, and the graph keeps the label.
            let set = unsafe { call!(context, aclrtSetLabel(label.as_raw(), raw)) };
            // This graph is spoiled, and another one may have the label.
            set.inspect_err(|_| *label.place.lock() = None)
        })
    }

    /// Goes on at `label` when this stream gets here; what it is given next runs only if a label leads there. Returns
    /// when that is stored.
    ///
    /// # Errors
    ///
    /// As [`Stream::jump_by`].
    #[doc(alias = "aclrtSwitchLabelByIndex")]
    #[track_caller]
    pub fn jump(&self, label: &Label) -> Result<()> {
        let named = ("jump", Location::caller());
        building(self, named)?;
        let made =
            LabelList::new([label]).and_then(|list| Ok((list, Allocation::new(self.0.context(), size_of::<u64>())?)));
        let (list, cell) = made.map_err(|error| self.refuse(named, error))?;
        self.jump_among(named, &list, Touch::kept(&cell), |context, raw| {
            // SAFETY: eight aligned bytes of device memory, which the graph keeps.
            unsafe { call!(context, aclrtValueWrite(cell.address(), 0, 0, raw)) }.map(|()| cell.address())
        })
    }

    /// Goes on at the label of `labels` whose number, from 0, is in `index` when this stream gets here; the last one
    /// for greater numbers. The first element is read, on the device. Otherwise as [`Stream::jump`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) for no element, and for memory or labels of
    /// another device or library, labels also of another context;
    /// [`ErrorKind::NotCapturing`](crate::ErrorKind::NotCapturing) for a stream of no graph that is built by hand. The
    /// builder gives no graph after any but the last; [`GraphBuilder::finish`](crate::GraphBuilder::finish) sees to it
    /// that the labels stand in the graph.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::LabelList;
    ///
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let (context, stream) = (device.context(), device.stream()?);
    /// let (mut index, mut out) = (device.upload(&[0_u32])?, device.alloc_zeroed::<u8>(2)?);
    /// let mut builder = context.build_graph()?;
    /// let first = builder.first().clone();
    /// let (one, two, end) = (context.label()?, context.label()?, context.label()?);
    /// first.jump_by(&LabelList::new([&one, &two, &end])?, &index)?;
    /// first.set_label(&one)?;
    /// first.fill_bytes(&mut out.slice_mut(..1)?, 1)?;
    /// first.set_label(&two)?;
    /// first.fill_bytes(&mut out.slice_mut(1..)?, 2)?;
    /// first.set_label(&end)?;
    /// let mut graph = builder.finish()?;
    /// for (number, expected) in [(7, [0, 0]), (1, [0, 2]), (0, [1, 2])] {
    ///     index.write(&[number])?;
    ///     graph.launch(&stream)?;
    ///     assert_eq!(out.to_vec()?, expected);
    /// }
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtSwitchLabelByIndex")]
    #[track_caller]
    pub fn jump_by(&self, labels: &LabelList, index: &impl DeviceRead<Element = u32>) -> Result<()> {
        let named = ("jump", Location::caller());
        building(self, named)?;
        let index = index.as_slice();
        let checked = self.check_device(index.context_inner()).and_then(|()| match index.is_empty() {
            true => Err(Error::invalid("a jump by no number")),
            false => Ok(()),
        });
        checked.map_err(|error| self.refuse(named, error))?;
        self.jump_among(named, labels, Touch::read(index.allocation()), |_, _| Ok(index.address()))
    }

    fn jump_among(
        &self,
        named: Named,
        list: &LabelList,
        memory: Touch<'_>,
        index: impl FnOnce(&ContextInner, acl_sys::aclrtStream) -> Result<*mut std::ffi::c_void>,
    ) -> Result<()> {
        let build = building(self, named)?;
        check_context(&list.handle, self, "a list of labels").map_err(|error| self.refuse(named, error))?;
        let count = u32::try_from(list.len()).map_err(|_| Error::invalid("too many labels"))?;
        // The labels stay with the graph by themselves: each stands in it.
        list.handle.submit(self, named, &[memory], |context, raw| {
            build.steer(&self.0, |flow, line| {
                flow.jump(line, list.places());
                Ok(())
            })?;
            let index = index(context, raw)?;
            // SAFETY: live handles, and four aligned bytes of device memory; the graph keeps all of them.
            unsafe { call!(context, aclrtSwitchLabelByIndex(index, count, list.as_raw(), raw)) }
        })
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Label").field("raw", &self.as_raw()).field("is_set", &self.place.lock().is_some()).finish()
    }
}

impl fmt::Debug for LabelList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LabelList").field("raw", &self.as_raw()).field("labels", &self.len()).finish()
    }
}
