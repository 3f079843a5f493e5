//! Numbers, shapes, and small changes of cases.

use crate::op::{DataType, Told};

use super::{Case, Shaped};

pub(super) struct Random(u64);

const TYPES: [DataType; 10] = [
    DataType::F32,
    DataType::F16,
    DataType::Bf16,
    DataType::F64,
    DataType::I8,
    DataType::U8,
    DataType::I16,
    DataType::I32,
    DataType::I64,
    DataType::Bool,
];

impl Random {
    /// Another row of numbers for each text.
    pub(super) fn new(seed: &str) -> Self {
        let step = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, step) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        ((self.next() >> 16) % end as u64) as usize
    }

    pub(super) fn from(&mut self, least: i64, most: i64) -> i64 {
        least + self.below((most - least + 1) as usize) as i64
    }

    /// With a chance in percent.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    pub(super) fn size(&mut self) -> usize {
        self.one_of(&[0, 1, 1, 2, 2, 3, 4, 5])
    }

    /// Not empty.
    pub(super) fn some(&mut self) -> usize {
        self.one_of(&[1, 2, 2, 3, 4])
    }

    pub(super) fn dims(&mut self, rank: usize) -> Vec<usize> {
        let empty = self.chance(15);
        (0..rank).map(|_| if empty { self.size() } else { self.some() }).collect()
    }

    pub(super) fn shape(&mut self) -> Vec<usize> {
        let rank = self.one_of(&[0, 1, 1, 2, 2, 2, 3, 3, 4, 5]);
        self.dims(rank)
    }

    pub(super) fn dtype(&mut self) -> DataType {
        if self.chance(60) { self.narrow() } else { self.one_of(&TYPES) }
    }

    pub(super) fn narrow(&mut self) -> DataType {
        self.one_of(&[DataType::F32, DataType::F16, DataType::Bf16])
    }

    /// A shape that may be broadcast with another one.
    pub(super) fn spread(&mut self, dims: &[usize]) -> Vec<usize> {
        let first = if dims.is_empty() { 0 } else { self.below(dims.len() + 1) };
        dims[first..].iter().map(|dim| if self.chance(30) { 1 } else { *dim }).collect()
    }

    /// Something close to it.
    pub(super) fn changed_shape(&mut self, (dtype, dims): &Shaped) -> Shaped {
        let mut dims = dims.clone();
        match self.below(6) {
            0 => return (self.one_of(&TYPES), dims),
            1 if dims.len() < 8 => {
                let at = self.below(dims.len() + 1);
                dims.insert(at, 1);
            }
            2 if !dims.is_empty() => {
                let at = self.below(dims.len());
                dims.remove(at);
            }
            _ if !dims.is_empty() => {
                let at = self.below(dims.len());
                dims[at] = self.size();
            }
            _ => dims.push(self.some()),
        }
        (*dtype, dims)
    }

    /// The case with one thing changed.
    pub(super) fn changed(&mut self, case: &Case) -> Case {
        let mut case = case.clone();
        let tensors = case.operands.len();
        let told: Vec<usize> = (0..case.told.len()).filter(|at| case.told[*at].tensors().is_none()).collect();
        if tensors > 0 && (told.is_empty() || self.chance(75)) {
            let at = self.below(tensors);
            let changed = self.changed_shape(case.operands[at].as_ref().unwrap());
            case.operands[at] = Some(changed);
        } else if !told.is_empty() {
            let at = self.one_of(&told);
            match &mut case.told[at] {
                Told::Ints(numbers) if !numbers.is_empty() => {
                    let which = self.below(numbers.len());
                    numbers[which] = self.from(-2, 4);
                }
                Told::Ints(numbers) => *numbers = [self.from(-2, 4)].into(),
                Told::Number(bits) if *bits < 8 => *bits = self.below(8) as u64,
                _ => {}
            }
        }
        case
    }
}
