//! The safetensors file: its header is checked as a whole, its tensors are read one at a time.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use racl::bytemuck;
use safetensors::Dtype;
use safetensors::tensor::Metadata;

use crate::error::{Error, Result};
use crate::number::Number;

/// The format starts with the length of its header.
const LENGTH_BYTES: u64 = 8;
/// The format's own limit.
const MAX_HEADER_BYTES: u64 = 100_000_000;
/// A tensor that every model has.
const FIRST: &str = "model.embed_tokens.weight";

/// An open safetensors file.
#[derive(Debug)]
pub(crate) struct WeightsFile {
    path: PathBuf,
    file: File,
    header: Metadata,
    /// Where the bytes of the tensors begin.
    start: u64,
}

/// The element type of the model in a safetensors file: that of its token embedding.
///
/// # Errors
///
/// [`Error::Read`], [`Error::NotSafetensors`] and [`Error::Size`] for a file that cannot be used;
/// [`Error::MissingTensor`] when it has no token embedding.
pub fn dtype_of(path: &Path) -> Result<Dtype> {
    let file = WeightsFile::open(path)?;
    let info = file.header.info(FIRST);
    info.map(|info| info.dtype).ok_or_else(|| Error::MissingTensor { path: path.to_owned(), name: FIRST.to_owned() })
}

impl WeightsFile {
    /// Opens the file and checks that it is complete.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let unreadable = |source| Error::Read { path: path.to_owned(), source };
        let foreign = |reason: String| Error::NotSafetensors { path: path.to_owned(), reason };
        let mut file = File::open(path).map_err(unreadable)?;
        let found = file.metadata().map_err(unreadable)?.len();
        if found < LENGTH_BYTES {
            return Err(foreign(format!("{found} bytes do not even hold the length of a header")));
        }
        let mut length = [0; LENGTH_BYTES as usize];
        file.read_exact(&mut length).map_err(unreadable)?;
        let length = u64::from_le_bytes(length);
        if length > MAX_HEADER_BYTES {
            return Err(foreign(format!("its first bytes give a header of {length} bytes")));
        }
        let start = LENGTH_BYTES + length;
        if found < start {
            return Err(Error::Size { path: path.to_owned(), expected: start, found });
        }
        let mut header = String::new();
        let read = (&mut file).take(length).read_to_string(&mut header);
        read.map_err(|error| foreign(format!("its header is not text: {error}")))?;
        let header: Metadata =
            serde_json::from_str(&header).map_err(|error| foreign(format!("its header is not valid: {error}")))?;
        let expected = start + header.data_len() as u64;
        if expected != found {
            return Err(Error::Size { path: path.to_owned(), expected, found });
        }
        Ok(Self { path: path.to_owned(), file, header, start })
    }

    /// The numbers of the tensor `name`, which has the shape `expected` and the type `T`.
    pub(crate) fn read<T: Number>(&mut self, name: &str, expected: &[usize]) -> Result<Vec<T>> {
        let path = || self.path.clone();
        let info = self.header.info(name);
        let info = info.ok_or_else(|| Error::MissingTensor { path: path(), name: name.to_owned() })?;
        if info.shape != expected {
            let (expected, found) = (expected.to_owned(), info.shape.clone());
            return Err(Error::TensorShape { path: path(), name: name.to_owned(), expected, found });
        }
        if info.dtype != T::DTYPE {
            let found = format!("{:?}", info.dtype);
            return Err(Error::TensorType { path: path(), name: name.to_owned(), found });
        }
        let mut numbers = vec![T::of(0.0); expected.iter().product()];
        let place = SeekFrom::Start(self.start + info.data_offsets.0 as u64);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut numbers);
        let read = self.file.seek(place).and_then(|_| self.file.read_exact(bytes));
        read.map_err(|source| Error::Read { path: self.path.clone(), source })?;
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
        }
        Ok(numbers)
    }
}
