//! Device memory that an executable uses, and untyped work on it.

use std::ffi::c_void;
use std::panic::Location;
use std::sync::Arc;

use crate::context::ContextInner;
use crate::error::{Error, Result};
use crate::memory::{Allocation, SharedBuffer};
use crate::op::{DataType, MAX_RANK, Shape, View};
use crate::plan::recipe::Recipe;
use crate::stream::Stream;

/// A part of an allocation.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) allocation: Arc<Allocation>,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

type At = &'static Location<'static>;

impl Piece {
    /// Memory of its own; a piece without bytes has one that nobody uses.
    pub(crate) fn new(context: &Arc<ContextInner>, bytes: u64) -> Result<Self> {
        Self::for_run(context, bytes, None)
    }

    /// As [`Self::new`], for a run on the stream, whose earlier work may use the memory still.
    pub(crate) fn for_run(context: &Arc<ContextInner>, bytes: u64, stream: Option<&Stream>) -> Result<Self> {
        let bytes = usize::try_from(bytes).map_err(|_| Error::invalid(format!("{bytes} bytes for one value")))?;
        let allocation = match stream {
            Some(stream) => stream.0.allocate_for_all(context, bytes.max(1)),
            None => Allocation::new(context, bytes.max(1)),
        };
        Ok(Self { allocation: allocation?, offset: 0, bytes })
    }

    pub(crate) fn address(&self) -> *mut c_void {
        self.allocation.address().wrapping_byte_add(self.offset)
    }

    /// The bytes as a buffer, for copies with the host.
    pub(crate) fn buffer(&self) -> SharedBuffer<u8> {
        SharedBuffer::within(&self.allocation, self.offset, self.bytes)
    }

    /// Copies all bytes of `self` to `to`, which has as many.
    pub(crate) fn copy_to(&self, stream: &Stream, to: &Self, location: At) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        let sides = [(&self.allocation, self.address()), (&to.allocation, to.address())];
        stream.copy_bytes(sides, self.bytes, location)
    }

    pub(crate) fn fill(&self, stream: &Stream, byte: u8, location: At) -> Result<()> {
        if self.bytes == 0 {
            return Ok(());
        }
        stream.set_bytes((&self.allocation, self.address()), byte, self.bytes, location)
    }
}

/// The pieces of the storages of a recipe; none where a run has to bring one.
pub(crate) type Pieces = Vec<Option<Piece>>;

/// A value of a recipe without symbols.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) storage: u32,
    /// Bytes from the start of the storage.
    pub(crate) offset: usize,
    /// Bytes from the first to the last element.
    pub(crate) span: usize,
    pub(crate) dtype: DataType,
    pub(crate) dims: Shape,
    pub(crate) strides: [usize; MAX_RANK],
}

/// Where the values of a recipe without symbols lie.
pub(crate) fn places(recipe: &Recipe) -> Result<Vec<Place>> {
    recipe.values.iter().enumerate().map(|(index, _)| place(recipe, index as u32)).collect()
}

fn place(recipe: &Recipe, value: u32) -> Result<Place> {
    let unknown = || Error::invalid("a value whose size is not known");
    let info = &recipe.values[value as usize];
    let layout = recipe.layout_of(value);
    let dims: Option<Vec<usize>> = layout.dims.iter().map(|dim| dim.as_fixed()).collect();
    let mut strides = [0; MAX_RANK];
    for (to, from) in strides.iter_mut().zip(&layout.strides) {
        *to = usize::try_from(from.as_fixed().ok_or_else(unknown)?).map_err(|_| unknown())?;
    }
    let fixed = |extent: Option<u64>| usize::try_from(extent.ok_or_else(unknown)?).map_err(|_| unknown());
    let offset = fixed(info.offset.as_fixed())?;
    if !offset.is_multiple_of(layout.dtype.size()) {
        return Err(Error::invalid("a value whose first element is not aligned for its type"));
    }
    Ok(Place {
        storage: info.storage,
        offset,
        span: fixed(layout.span().and_then(|span| span.as_fixed()))?,
        dtype: layout.dtype,
        dims: Shape::new(&dims.ok_or_else(unknown)?)?,
        strides,
    })
}

impl Place {
    pub(crate) fn view<'a>(&self, piece: &'a Piece) -> View<'a> {
        let size = self.dtype.size();
        View {
            allocation: &piece.allocation,
            start: piece.address(),
            len: piece.bytes / size,
            dtype: self.dtype,
            dims: self.dims,
            strides: self.strides,
            offset: self.offset / size,
            form: None,
        }
    }

    /// The part of the storage's memory that the value spans.
    pub(crate) fn piece(&self, storage: &Piece) -> Piece {
        Piece { allocation: Arc::clone(&storage.allocation), offset: storage.offset + self.offset, bytes: self.span }
    }
}
