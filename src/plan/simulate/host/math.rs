//! Functions of f32, step by step as the mock computes them, so that the bits are the same.

#![allow(clippy::excessive_precision, reason = "the coefficients as the mock has them")]

/// The exponential function.
pub(super) fn exp(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0;
    if x.is_nan() {
        return x;
    }
    let c = x.clamp(-104.0, 89.0);
    let shifted = c * std::f32::consts::LOG2_E + MAGIC;
    let n = shifted - MAGIC;
    let r = (c - n * 0.693359375) + n * 2.12194440e-4;
    let mut q = r * 0.001395166964 + 0.008369602986;
    q = q * r + 0.04166618795;
    q = q * r + 0.1666651284;
    q = q * r + 0.5000000101;
    let e = (q * (r * r) + r) + 1.0;
    // Two powers of two, so that subnormal and infinite results come out of the last product.
    let k = shifted.to_bits().wrapping_sub(0x4b40_0000);
    let half = (k.cast_signed() >> 1).cast_unsigned();
    let low = half.wrapping_add(127) << 23;
    let high = k.wrapping_sub(half).wrapping_add(127) << 23;
    e * f32::from_bits(low) * f32::from_bits(high)
}

pub(super) fn tanh(x: f32) -> f32 {
    let magnitude = x.abs();
    let value = if magnitude < 0.625 {
        let s = x * x;
        let mut q = s * -0.005693314922 + 0.02063020943;
        q = q * s - 0.05373754367;
        q = q * s + 0.1333142384;
        q = q * s - 0.333332816;
        magnitude + magnitude * (s * q)
    } else {
        1.0 - 2.0 / (exp(magnitude + magnitude) + 1.0)
    };
    f32::from_bits(value.to_bits() | (x.to_bits() & 0x8000_0000))
}

/// The distribution function of the standard normal.
fn normal(x: f32) -> f32 {
    let t = 1.0 / (x.abs() * 0.24748737 + 1.0);
    let mut q = t * 0.03908945321 - 0.162772341;
    q = q * t + 0.1907808511;
    q = q * t - 0.04055868264;
    q = q * t + 0.09811098771;
    q = q * t + 0.1398415945;
    q = q * t + 0.1534273173;
    q = q * t + 0.1873982027;
    q = q * t + 0.197202331;
    q = q * t + 0.1974802937;
    let tail = (q * t) * (exp(x * x * -0.5) * 0.5);
    if x < 0.0 { tail } else { 1.0 - tail }
}

pub(super) fn gelu_exact(x: f32) -> f32 {
    x * normal(x)
}

pub(super) fn gelu_tanh(x: f32) -> f32 {
    let u = x * (x * x * 0.07135481283 + 1.595769122);
    x / (exp(-u) + 1.0)
}

/// The greater one; NaN when one is NaN. Of equal numbers, zeros of both signs too, the second.
pub(super) fn maximum(x: f32, y: f32) -> f32 {
    if x > y || x.is_nan() { x } else { y }
}

/// The sum of a function of the numbers, in four parts.
pub(super) fn sum(numbers: &[f32], term: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, rest) = numbers.as_chunks::<4>();
    for four in fours {
        for (sum, number) in sums.iter_mut().zip(four) {
            *sum += term(f64::from(*number));
        }
    }
    for number in rest {
        sums[0] += term(f64::from(*number));
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}
