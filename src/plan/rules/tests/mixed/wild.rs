//! What random plans are given beside plain numbers in dense memory: floats of both signs, zeros, infinities and NaN, and
//! operands that are views.

use super::super::random::Random;
use super::*;

/// How the memory of an input lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lies {
    Dense,
    /// Behind a row that is not part of it.
    Behind,
    /// With a column that is not part of it.
    Gaps,
    /// With its first and its last dimension changed round.
    Turned,
}

impl Lies {
    /// The shape of the memory.
    pub(super) fn shape(self, dims: &[usize]) -> Vec<usize> {
        let (mut all, last) = (dims.to_vec(), dims.len().saturating_sub(1));
        match self {
            Self::Dense => {}
            Self::Behind => all[0] += 1,
            Self::Gaps => all[last] += 1,
            Self::Turned => all.swap(0, last),
        }
        all
    }

    /// The operand, of the memory.
    pub(super) fn value(self, g: &Builder, memory: Value, dims: &[usize]) -> Result<Value> {
        let last = dims.len().saturating_sub(1);
        match self {
            Self::Dense => Ok(memory),
            Self::Behind => g.narrow(memory, 0, 1..dims[0] + 1),
            Self::Gaps => g.narrow(memory, last, 0..dims[last]),
            Self::Turned => g.transpose(memory, 0, last),
        }
    }

    /// The memory in which these elements lie.
    pub(super) fn memory(self, elements: Vec<u8>, dims: &[usize], size: usize) -> Vec<u8> {
        let last = dims.len().saturating_sub(1);
        match self {
            Self::Dense => elements,
            Self::Behind => [vec![0x7f; dims[1..].iter().product::<usize>() * size], elements].concat(),
            Self::Gaps => {
                let rows = elements.chunks(dims[last] * size);
                rows.flat_map(|row| [row, &vec![0x7f; size]].concat()).collect()
            }
            Self::Turned => {
                let (middle, columns) = (dims[1..last].iter().product::<usize>(), dims[last]);
                let mut turned = Vec::with_capacity(elements.len());
                for column in 0..columns {
                    for between in 0..middle {
                        for row in 0..dims[0] {
                            let at = ((row * middle + between) * columns + column) * size;
                            turned.extend_from_slice(&elements[at..at + size]);
                        }
                    }
                }
                turned
            }
        }
    }

    /// The view of the memory that the library is given.
    fn view<'a>(self, memory: View<'a>, dims: &[usize]) -> View<'a> {
        let (mut strides, last) = (memory.strides, dims.len().saturating_sub(1));
        let offset = if self == Self::Behind { strides[0] } else { 0 };
        if self == Self::Turned {
            strides.swap(0, last);
        }
        View { dims: crate::op::Shape::new(dims).unwrap(), strides, offset, ..memory }
    }

    fn of(random: &mut Random, dims: &[usize]) -> Self {
        match dims.len() {
            _ if dims.contains(&0) || random.chance(60) => Self::Dense,
            0 => Self::Dense,
            1 => random.one_of(&[Self::Behind, Self::Gaps]),
            _ => random.one_of(&[Self::Behind, Self::Gaps, Self::Turned]),
        }
    }
}

/// How odd the floats are that an operator is given, and which.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Data {
    seed: u64,
    /// Signs and zeros, then infinities, then NaN.
    kinds: usize,
}

impl Data {
    /// A number in place of a plain one.
    fn number(random: &mut Random, kinds: usize, plain: f32) -> f32 {
        match random.below(16) {
            0..=5 => -plain,
            6 => 0.0,
            7 => -0.0,
            8 if kinds > 1 => f32::INFINITY,
            9 if kinds > 1 => f32::NEG_INFINITY,
            10 if kinds > 2 => f32::NAN,
            _ => plain,
        }
    }

    fn change(self, which: usize, dtype: DataType, bytes: &mut [u8]) {
        let mut random = Random::new(&format!("{} {which}", self.seed));
        let mut number = |plain: f32| Self::number(&mut random, self.kinds, plain);
        for element in bytes.chunks_exact_mut(dtype.size()) {
            match dtype {
                DataType::F32 => {
                    let plain = f32::from_ne_bytes(element.try_into().unwrap());
                    element.copy_from_slice(&number(plain).to_ne_bytes());
                }
                DataType::F64 => {
                    let plain = f64::from_ne_bytes(element.try_into().unwrap());
                    element.copy_from_slice(&f64::from(number(plain as f32)).to_ne_bytes());
                }
                DataType::F16 => {
                    let plain = crate::half::f16::from_ne_bytes(element.try_into().unwrap());
                    let odd = crate::half::f16::from_f32(number(plain.to_f32()));
                    element.copy_from_slice(&odd.to_ne_bytes());
                }
                DataType::Bf16 => {
                    let plain = crate::half::bf16::from_ne_bytes(element.try_into().unwrap());
                    let odd = crate::half::bf16::from_f32(number(plain.to_f32()));
                    element.copy_from_slice(&odd.to_ne_bytes());
                }
                _ => return,
            }
        }
    }
}

impl Step {
    /// The elements of an operand before the operator, in order.
    pub(super) fn elements(&self, which: usize) -> Vec<u8> {
        let mut elements = bytes(&self.case, which);
        if let Some(data) = self.data {
            data.change(which, self.case.operands[which].as_ref().unwrap().0, &mut elements);
        }
        elements
    }

    /// Whether the library takes the views, with these data.
    fn takes_views(&self, library: &Library) -> bool {
        let operands = self.case.operands.iter().flatten().zip(&self.lies).enumerate();
        let tensors: Vec<AnyTensor> = operands
            .map(|(which, ((dtype, dims), lies))| {
                let memory = lies.memory(self.elements(which), dims, dtype.size());
                AnyTensor::over(uploaded(library, &memory), *dtype, lies.shape(dims).as_slice()).unwrap()
            })
            .collect();
        let operands = self.case.operands.iter().flatten().zip(&self.lies).zip(&tensors);
        let views: Vec<View<'_>> =
            operands.map(|(((_, dims), lies), tensor)| lies.view(Described::view(tensor).unwrap(), dims)).collect();
        let recorded = Recorded::from_told(&self.case.name, self.case.told.clone()).unwrap();
        let launched = recorded.launch(&library.stream, &views, std::panic::Location::caller());
        launched.and_then(|()| library.stream.synchronize()).is_ok()
    }
}

/// Whether both hold the same: of floats that are no numbers also with another sign, where the host makes them.
pub(super) fn alike(dtype: DataType, a: &[u8], b: &[u8]) -> bool {
    let is_nan = |element: &[u8]| match dtype {
        DataType::F32 => f32::from_ne_bytes(element.try_into().unwrap()).is_nan(),
        DataType::F64 => f64::from_ne_bytes(element.try_into().unwrap()).is_nan(),
        DataType::F16 => crate::half::f16::from_ne_bytes(element.try_into().unwrap()).is_nan(),
        DataType::Bf16 => crate::half::bf16::from_ne_bytes(element.try_into().unwrap()).is_nan(),
        _ => false,
    };
    let each = a.chunks(dtype.size()).zip(b.chunks(dtype.size()));
    a.len() == b.len() && each.into_iter().all(|(a, b)| a == b || (is_nan(a) && is_nan(b)))
}

/// Gives a program other data and views, as far as its operators take them.
pub(super) fn make(library: &Library, steps: &mut [Step], seed: u64) {
    let mut random = Random::new(&format!("wild {seed}"));
    for (number, step) in steps.iter_mut().enumerate() {
        let kinds = random.below(4);
        if kinds > 0 && !draws(&step.case) {
            step.data = Some(Data { seed: seed << 8 | number as u64, kinds });
        }
        let accesses = step.case.accesses();
        for (which, from) in step.from.iter().enumerate() {
            if *from == From::Input && accesses[which] == Access::Read {
                step.lies[which] = Lies::of(&mut random, &step.case.operands[which].as_ref().unwrap().1);
            }
        }
        if step.lies.iter().any(|lies| *lies != Lies::Dense) && !step.takes_views(library) {
            step.lies.fill(Lies::Dense);
        }
    }
}

/// As before: where the odd numbers of an operator are none that one behind it takes.
pub(super) fn tame(steps: &mut [Step]) {
    steps.iter_mut().for_each(|step| step.data = None);
}
