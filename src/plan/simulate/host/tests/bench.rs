//! What the comparisons share: operands with any values and layouts, and both ways to run an operator.

use std::panic::Location;

use fastrand::Rng;
use half::{bf16, f16};

use crate::memory::SharedBuffer;
use crate::op::{Access, DataType, Recorded, Shape, Told, View};
use crate::plan::recipe::element::{Class, with_type};
use crate::plan::simulate::host::{self, HostLayout, HostView, HostViewMut};
use crate::{Acl, Stream};

/// How the elements of an operand lie in its storage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Dense,
    /// Each dimension with a gap, after an offset.
    Gaps,
    /// The first dimension fastest.
    Reversed,
    /// The first dimension repeats its elements.
    Repeated,
}

pub(super) const LAYOUTS: [Kind; 4] = [Kind::Dense, Kind::Gaps, Kind::Reversed, Kind::Repeated];

/// Values of an operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Values {
    /// Floats around zero, small integers.
    Tame,
    /// Floats so far apart that a sum depends on its order; where the large ones cancel, it shows.
    Steep,
    /// Any bits, infinities, NaN, zeros of both signs and subnormals among them.
    Wild,
}

/// An operand in a storage of its own.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) bytes: Vec<u8>,
    pub(super) layout: HostLayout,
}

impl Memory {
    /// Elements of the storage.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.layout.dtype.size()
    }
}

pub(super) struct Bench {
    stream: Stream,
    pub(super) rng: Rng,
}

/// A dense operand with these elements.
pub(super) fn dense(dtype: DataType, dims: &[usize], bytes: Vec<u8>) -> Memory {
    let dims = Shape::new(dims).unwrap();
    Memory { bytes, layout: HostLayout { dtype, dims, strides: dims.dense_strides(), offset: 0 } }
}

impl Bench {
    pub(super) fn new(seed: u64) -> Self {
        let acl = Acl::mock().unwrap();
        let stream = acl.device(0).unwrap().stream().unwrap();
        Self { stream, rng: Rng::with_seed(seed) }
    }

    pub(super) fn memory(&mut self, dtype: DataType, dims: &[usize], kind: Kind, values: Values) -> Memory {
        let dims = Shape::new(dims).unwrap();
        let (gap, offset) = if kind == Kind::Gaps { (1, 3) } else { (0, 0) };
        let (mut strides, mut step) = (dims.dense_strides(), 1);
        let mut order: Vec<usize> = (0..dims.rank()).rev().collect();
        if kind == Kind::Reversed {
            order.reverse();
        }
        for dim in order {
            step += gap;
            strides[dim] = step;
            step *= dims[dim];
        }
        if kind == Kind::Repeated && dims.rank() > 1 {
            strides[0] = 0;
        }
        let count = offset + step + 5;
        let bytes = (0..count).flat_map(|_| self.element(dtype, values)).collect();
        Memory { bytes, layout: HostLayout { dtype, dims, strides, offset: offset * dtype.size() } }
    }

    /// In any layout.
    pub(super) fn any(&mut self, dtype: DataType, dims: &[usize], values: Values) -> Memory {
        let kind = LAYOUTS[self.rng.usize(..LAYOUTS.len())];
        self.memory(dtype, dims, kind, values)
    }

    /// A result, so in any layout that repeats nothing.
    pub(super) fn out(&mut self, dtype: DataType, dims: &[usize]) -> Memory {
        let kind = LAYOUTS[self.rng.usize(..3)];
        self.memory(dtype, dims, kind, Values::Wild)
    }

    fn element(&mut self, dtype: DataType, values: Values) -> Vec<u8> {
        let rng = &mut self.rng;
        let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-40, -6e-8, 1.0, 88.8, -104.5];
        let class = if values == Values::Wild { rng.u8(1..4) } else { 0 };
        let bits = rng.u64(..);
        let float = match class {
            0 if values == Values::Steep && rng.u8(..8) == 0 => f64::powi(2.0, 60) * f64::from(rng.i8(-1..2)),
            0 => rng.f64() * 8.0 - 4.0,
            1 => special[rng.usize(..special.len())],
            _ => rng.f64() * 60.0 - 30.0,
        };
        with_type!(dtype, S => {
            let element: S = match (class, dtype.is_floating()) {
                (3, _) | (1 | 2, false) => return bits.to_ne_bytes()[..size_of::<S>()].to_vec(),
                (_, true) => float.store(),
                _ => i64::from(rng.i8(-9..10)).store(),
            };
            bytemuck::bytes_of(&element).to_vec()
        })
    }

    /// Runs `operator` on the device and on the host, and compares the storages of the result.
    #[track_caller]
    pub(super) fn compare(&self, operator: &Recorded, operands: &[&Memory], out: &Memory) {
        let told = || {
            let layouts: Vec<HostLayout> = operands.iter().map(|memory| memory.layout).collect();
            format!("{operator:?} of {layouts:?} into {:?}", out.layout)
        };
        let uploaded: Vec<_> = operands.iter().map(|memory| self.upload(memory)).collect();
        let result = self.upload(out);
        let views: Vec<_> = operands.iter().zip(&uploaded).map(|(memory, buffer)| view(memory, buffer)).collect();
        operator
            .launch(&self.stream, &in_order(operator, &views, view(out, &result)), Location::caller())
            .unwrap_or_else(|error| panic!("{error:?}: {}", told()));
        let device = result.to_vec().unwrap();

        let shifted: Vec<_> = operands.iter().map(|memory| shift(memory)).collect();
        let views: Vec<_> =
            shifted.iter().map(|memory| HostView { bytes: &memory.bytes, layout: memory.layout }).collect();
        let mut host = shift(out);
        let mut target = HostViewMut { bytes: &mut host.bytes, layout: host.layout };
        host::run(operator, &views, &mut target).unwrap_or_else(|error| panic!("{error}: {}", told()));
        assert_same(out.layout.dtype, &device, &host.bytes[1..], &told);
    }

    /// The same with the first operand as the result.
    #[track_caller]
    pub(super) fn compare_in_place(&self, operator: &Recorded, operands: &[&Memory]) {
        let told = || format!("{operator:?} in place of {:?}", operands[0].layout);
        let uploaded: Vec<_> = operands.iter().map(|memory| self.upload(memory)).collect();
        let views: Vec<_> = operands.iter().zip(&uploaded).map(|(memory, buffer)| view(memory, buffer)).collect();
        operator
            .launch(&self.stream, &in_order(operator, &views, views[0]), Location::caller())
            .unwrap_or_else(|error| panic!("{error:?}: {}", told()));
        let device = uploaded[0].to_vec().unwrap();

        let mut storage = operands[0].bytes.clone();
        let views: Vec<_> = operands
            .iter()
            .enumerate()
            .map(|(i, memory)| HostView {
                bytes: if i == 0 { &storage } else { &memory.bytes },
                layout: memory.layout,
            })
            .collect();
        let layout = operands[0].layout;
        let elements = host::compute(operator, &views, &layout).unwrap_or_else(|| panic!("not here: {}", told()));
        let elements = elements.unwrap_or_else(|error| panic!("{error}: {}", told()));
        layout.write(&elements, &mut storage).unwrap();
        assert_same(layout.dtype, &device, &storage, &told);
    }

    fn upload(&self, memory: &Memory) -> SharedBuffer<u8> {
        self.stream.context().upload(&memory.bytes).unwrap().into_shared()
    }
}

/// The views of an operator in the order of its parameters.
fn in_order<'a>(operator: &Recorded, operands: &[View<'a>], out: View<'a>) -> Vec<View<'a>> {
    let mut operands = operands.iter().copied();
    let of = |told: &Told| match told {
        Told::Tensor(Access::Write) => Some(out),
        Told::Tensor(_) => Some(operands.next().unwrap()),
        _ => None,
    };
    operator.told().iter().filter_map(of).collect()
}

fn view<'a>(memory: &Memory, buffer: &'a SharedBuffer<u8>) -> View<'a> {
    let HostLayout { dtype, dims, strides, offset } = memory.layout;
    View {
        allocation: buffer.allocation(),
        start: buffer.address(),
        len: memory.len(),
        dtype,
        dims,
        strides,
        offset: offset / dtype.size(),
        form: None,
    }
}

/// The same one byte further, so that nothing is aligned.
fn shift(memory: &Memory) -> Memory {
    let bytes = [&[0xaa], &*memory.bytes].concat();
    Memory { bytes, layout: HostLayout { offset: memory.layout.offset + 1, ..memory.layout } }
}

fn is_nan(dtype: DataType, element: &[u8]) -> bool {
    match dtype {
        DataType::F32 => bytemuck::pod_read_unaligned::<f32>(element).is_nan(),
        DataType::F64 => bytemuck::pod_read_unaligned::<f64>(element).is_nan(),
        DataType::F16 => bytemuck::pod_read_unaligned::<f16>(element).is_nan(),
        DataType::Bf16 => bytemuck::pod_read_unaligned::<bf16>(element).is_nan(),
        _ => false,
    }
}

/// Equal bytes, where every NaN is like every other.
#[track_caller]
fn assert_same(dtype: DataType, device: &[u8], host: &[u8], told: &dyn Fn() -> String) {
    assert_eq!(device.len(), host.len());
    let size = dtype.size();
    let pairs = device.chunks_exact(size).zip(host.chunks_exact(size));
    for (i, (device, host)) in pairs.enumerate() {
        let same = device == host || (is_nan(dtype, device) && is_nan(dtype, host));
        assert!(same, "element {i} is {device:02x?} on the device, {host:02x?} on the host: {}", told());
    }
}
