//! The safetensors file: its header is checked as a whole, its tensors are read one at a time.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use racl::bytemuck;
use racl::half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use crate::error::Error;

/// The format starts with the length of its header.
const LENGTH_BYTES: u64 = 8;
/// The format's own limit.
const MAX_HEADER_BYTES: u64 = 100_000_000;

/// An open safetensors file.
#[derive(Debug)]
pub struct WeightsFile {
    path: PathBuf,
    file: File,
    header: Metadata,
    /// Where the bytes of the tensors begin.
    start: u64,
}

/// The type of an element in a safetensors file.
pub trait Stored: bytemuck::Pod {
    /// Its name there.
    const DTYPE: Dtype;
}

impl Stored for f32 {
    const DTYPE: Dtype = Dtype::F32;
}

impl Stored for f16 {
    const DTYPE: Dtype = Dtype::F16;
}

impl Stored for bf16 {
    const DTYPE: Dtype = Dtype::BF16;
}

impl WeightsFile {
    /// Opens the file and checks that it is complete.
    ///
    /// # Errors
    ///
    /// [`Error::Read`], [`Error::NotSafetensors`] and [`Error::Size`] for a file that cannot be used.
    pub fn open(path: &Path) -> Result<Self, Error> {
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

    fn info(&self, name: &str) -> Result<&TensorInfo, Error> {
        let missing = || Error::MissingTensor { path: self.path.clone(), name: name.to_owned() };
        self.header.info(name).ok_or_else(missing)
    }

    /// The element type of the tensor `name`.
    ///
    /// # Errors
    ///
    /// [`Error::MissingTensor`].
    pub fn dtype(&self, name: &str) -> Result<Dtype, Error> {
        self.info(name).map(|info| info.dtype)
    }

    /// The numbers of the tensor `name`, which has the shape `expected` and the type `T`.
    ///
    /// # Errors
    ///
    /// [`Error::MissingTensor`], [`Error::TensorShape`] and [`Error::TensorType`] for another tensor; [`Error::Read`].
    pub fn read<T: Stored>(&mut self, name: &str, expected: &[usize]) -> Result<Vec<T>, Error> {
        let path = || self.path.clone();
        let info = self.info(name)?;
        if info.shape != expected {
            let (expected, found) = (expected.to_owned(), info.shape.clone());
            return Err(Error::TensorShape { path: path(), name: name.to_owned(), expected, found });
        }
        if info.dtype != T::DTYPE {
            let found = format!("{:?}", info.dtype);
            return Err(Error::TensorType { path: path(), name: name.to_owned(), found });
        }
        let mut numbers = vec![T::zeroed(); expected.iter().product()];
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
