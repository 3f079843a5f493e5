//! Operators that the host does not compute: the mock does, where the feature `mock` has it.

#[cfg(feature = "mock")]
use std::cell::OnceCell;
#[cfg(feature = "mock")]
use std::rc::Rc;

use crate::error::{Error, ErrorKind, Result};
use crate::op::{DataType, Recorded, Shape};

/// A tensor of an operator.
#[cfg_attr(not(feature = "mock"), allow(dead_code, reason = "nothing computes them"))]
pub(super) struct Given {
    pub(super) dtype: DataType,
    pub(super) dims: Shape,
    /// The first tensor that is the same memory: often itself.
    pub(super) first: usize,
    /// Its elements in order; empty when another one is the same memory.
    pub(super) bytes: Vec<u8>,
}

/// A context of the mock, made when the first operator needs it.
#[derive(Clone, Default)]
pub(super) struct OnMock {
    #[cfg(feature = "mock")]
    side: Rc<OnceCell<side::Side>>,
}

impl OnMock {
    /// The elements of each tensor after the operator.
    #[cfg(feature = "mock")]
    pub(super) fn run(&self, recorded: &Recorded, given: Vec<Given>) -> Result<Vec<Vec<u8>>> {
        let side = match self.side.get() {
            Some(side) => side,
            None => {
                let made = side::Side::new()?;
                self.side.get_or_init(|| made)
            }
        };
        side.run(recorded, &given)
    }

    #[cfg(not(feature = "mock"))]
    pub(super) fn run(&self, recorded: &Recorded, _: Vec<Given>) -> Result<Vec<Vec<u8>>> {
        let name = recorded.name();
        let text = format!("{name} cannot be computed on the host without the feature mock of this crate");
        Err(Error::new(ErrorKind::NotSupported, text))
    }
}

#[cfg(feature = "mock")]
mod side {
    use std::panic::Location;

    use super::{Error, ErrorKind, Given, Recorded, Result};
    use crate::acl::Acl;
    use crate::context::Context;
    use crate::memory::{DeviceBuffer, DeviceRead as _};
    use crate::op::{MAX_RANK, Shape, View};
    use crate::stream::Stream;

    pub(super) struct Side {
        context: Context,
        stream: Stream,
    }

    impl Side {
        pub(super) fn new() -> Result<Self> {
            let context = Acl::mock()?.device(0)?.context().create_context()?;
            let stream = context.stream()?;
            Ok(Self { context, stream })
        }

        pub(super) fn run(&self, recorded: &Recorded, given: &[Given]) -> Result<Vec<Vec<u8>>> {
            let mut memory: Vec<DeviceBuffer<u8>> = Vec::with_capacity(given.len());
            for one in given {
                // What is the same memory as another one, and a tensor without elements, has an address at least.
                memory.push(if one.bytes.is_empty() {
                    self.context.alloc(1)?
                } else {
                    self.context.upload(&one.bytes)?
                });
            }
            let views: Vec<View<'_>> = given.iter().map(|one| view(one, &memory[one.first])).collect();
            recorded.launch(&self.stream, &views, Location::caller()).map_err(named)?;
            drop(views);
            self.stream.synchronize().map_err(named)?;
            let bytes = |one: &Given| {
                let elements: usize = one.dims.iter().product();
                memory[one.first].slice(..elements * one.dtype.size())?.to_vec()
            };
            given.iter().map(bytes).collect()
        }
    }

    /// What the mock does not compute is not supported, whatever code it says so with.
    fn named(error: Error) -> Error {
        if error.kind() == ErrorKind::NotSupported {
            return error;
        }
        error.context("computed by the mock")
    }

    fn view<'a>(given: &Given, memory: &'a DeviceBuffer<u8>) -> View<'a> {
        View {
            allocation: memory.as_slice().allocation(),
            start: memory.address(),
            len: memory.len() / given.dtype.size(),
            dtype: given.dtype,
            dims: given.dims,
            strides: dense(&given.dims),
            offset: 0,
            form: None,
        }
    }

    fn dense(dims: &Shape) -> [usize; MAX_RANK] {
        let mut strides = [0; MAX_RANK];
        let mut step = 1;
        for (stride, size) in strides.iter_mut().zip(dims.iter()).take(dims.rank()).rev() {
            *stride = step;
            step *= size;
        }
        strides
    }
}
