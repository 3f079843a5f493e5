//! A plan of matrices run both ways, eagerly and as a captured graph, against the operators in order.

use std::error::Error;

use racl::half::f16;
use racl::plan::{Frozen, Plan};
use racl::{Device, Result, Stream, Tensor};

use crate::compare::same;

/// Rows and columns of each matrix.
pub(crate) const N: usize = 500;
/// The inputs of the plan.
pub(crate) const INPUTS: [&str; 4] = ["a", "b", "c", "d"];

/// Matrices for the inputs, the same ones for each seed.
pub(crate) fn given(device: &Device, seed: u64) -> Result<[Tensor<f16>; 4]> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut next = || {
        let data: Vec<f16> = (0..N * N).map(|_| f16::from_f32(random.f32() - 0.5)).collect();
        device.upload_tensor(&data, [N, N])
    };
    Ok([next()?, next()?, next()?, next()?])
}

/// Fails unless both ways give exactly `expected` for the outputs.
pub(crate) fn equal(
    plan: &Plan,
    (device, stream): (&Device, &Stream),
    given: &[Tensor<f16>; 4],
    expected: &[(&str, Tensor<f16>)],
) -> std::result::Result<(), Box<dyn Error>> {
    for (how, mut exe) in
        [("eager", plan.eager(device, Frozen::new())?), ("replay", plan.capture(device, Frozen::new())?)]
    {
        let mut bind = exe.bindings();
        for (name, tensor) in INPUTS.iter().zip(given) {
            bind.set(exe.input(name)?, tensor);
        }
        exe.run(stream, &mut bind)?;
        for (name, expected) in expected {
            let found = exe.output::<f16>(exe.output_id(name)?)?.to_vec()?;
            same(&format!("{how}, {name}"), &found, &expected.to_vec()?)?;
        }
        println!("{how:<7} equals the operators in order");
    }
    Ok(())
}
