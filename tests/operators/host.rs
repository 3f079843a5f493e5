//! Tensors of the reference: dense, of `f64`, on the host.

use racl::op::Element;
use racl::{Device, Tensor, half};

use half::{bf16, f16};

/// Element types of the tests: how they come from and go to the `f64` of the reference.
pub(crate) trait Value: Element {
    /// Largest relative error of one rounding to the type, with a margin; 0 for integers.
    const ROUNDING: f64;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
}

macro_rules! values {
    ($($type:ty, $rounding:expr, $of:expr, $wide:expr;)*) => {$(
        impl Value for $type {
            const ROUNDING: f64 = $rounding;
            fn of(value: f64) -> Self {
                $of(value)
            }
            fn wide(self) -> f64 {
                $wide(self)
            }
        }
    )*};
}

values! {
    f32, 1e-6, |v| v as f32, f64::from;
    f64, 1e-12, |v| v, |v| v;
    f16, 6e-4, f16::from_f64, f16::to_f64;
    bf16, 5e-3, bf16::from_f64, bf16::to_f64;
    i32, 0.0, |v| v as i32, f64::from;
    i64, 0.0, |v| v as i64, |v| v as f64;
}

/// A dense tensor of the reference.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

/// Every index of `shape`, the last dimension fastest.
pub(crate) fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..shape.iter().product()).map(move |mut flat: usize| {
        let mut index = vec![0; shape.len()];
        for (place, size) in index.iter_mut().zip(shape).rev() {
            *place = flat % size;
            flat /= size;
        }
        index
    })
}

impl Host {
    pub(crate) fn build(shape: &[usize], element: impl FnMut(Vec<usize>) -> f64) -> Self {
        Self { shape: shape.to_vec(), values: indices(shape).map(element).collect() }
    }

    /// Random values of type `T` between `low` and `high`; the same ones at each run.
    pub(crate) fn random<T: Value>(seed: u64, shape: &[usize], low: f64, high: f64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        Self::build(shape, |_| T::of(low + (high - low) * random.f64()).wide())
    }

    /// The element at `index`, which may have more dimensions than this tensor: as broadcasting reads it.
    pub(crate) fn at(&self, index: &[usize]) -> f64 {
        let index = &index[index.len() - self.shape.len()..];
        let flat =
            index.iter().zip(&self.shape).fold(0, |flat, (i, size)| flat * size + if *size == 1 { 0 } else { *i });
        self.values[flat]
    }

    pub(crate) fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self { shape: self.shape.clone(), values: self.values.iter().map(|v| f(*v)).collect() }
    }

    /// Element by element, both broadcast to the common shape.
    pub(crate) fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let rank = self.shape.len().max(other.shape.len());
        let size = |shape: &[usize], i: usize| (i + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
        let shape: Vec<_> = (0..rank)
            .map(|i| match (size(&self.shape, i), size(&other.shape, i)) {
                (1, n) | (n, _) => n,
            })
            .collect();
        Self::build(&shape, |index| f(self.at(&index), other.at(&index)))
    }

    /// Dimension `i` of the result is dimension `order[i]` of this one.
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        let shape: Vec<_> = order.iter().map(|dim| self.shape[*dim]).collect();
        Self::build(&shape, |index| {
            let mut from = vec![0; index.len()];
            for (i, dim) in index.iter().zip(order) {
                from[*dim] = *i;
            }
            self.at(&from)
        })
    }

    pub(crate) fn narrowed(&self, dim: usize, range: std::ops::Range<usize>) -> Self {
        let mut shape = self.shape.clone();
        shape[dim] = range.len();
        Self::build(&shape, |mut index| {
            index[dim] += range.start;
            self.at(&index)
        })
    }

    pub(crate) fn upload<T: Value>(&self, device: &Device) -> Tensor<T> {
        let data: Vec<T> = self.values.iter().map(|v| T::of(*v)).collect();
        device.upload_tensor(&data, self.shape.as_slice()).unwrap()
    }

    /// That `got` are these values, rounded once to `T` after a computation in f32 with numbers up to `scale`.
    #[track_caller]
    pub(crate) fn assert_close<T: Value>(&self, got: &[T], scale: f64) {
        assert_eq!(got.len(), self.values.len(), "{:?}", self.shape);
        let computing = if T::ROUNDING == 0.0 { 0.0 } else { 2e-7 * scale };
        for ((index, got), want) in indices(&self.shape).zip(got).zip(&self.values) {
            let (got, bound) = (got.wide(), T::ROUNDING * want.abs() + computing);
            assert!((got - want).abs() <= bound, "{:?} at {index:?}: {got}, expected {want} ± {bound:e}", T::TYPE);
        }
    }

    #[track_caller]
    pub(crate) fn assert_equal<T: Value>(&self, got: &[T]) {
        let want: Vec<T> = self.values.iter().map(|v| T::of(*v)).collect();
        assert_eq!(got, want, "shape {:?}", self.shape);
    }
}
