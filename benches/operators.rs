//! Cost of operators on tiny tensors, on the mock: with kept executors, without, and the raw calls beneath.
//!
//! One line a figure, tab-separated: name, value, unit, target, met or missed. Each value is the median of rounds.
//! The stream is waited for outside of the times.
#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use racl::op::{self, aclnn};
use racl::{Acl, Context, Result, Stream, Tensor, sys};

const ROUNDS: usize = 301;
const CALLS: u32 = 500;

/// Median nanoseconds a call.
fn median(stream: &Stream, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        times.push(start.elapsed().as_nanos() as f64 / f64::from(CALLS));
        stream.synchronize()?;
    }
    times.sort_by(f64::total_cmp);
    Ok(times[ROUNDS / 2])
}

fn report(name: &str, value: f64, most: Option<f64>) {
    match most {
        Some(most) => {
            let met = if value <= most { "met" } else { "missed" };
            println!("{name}\t{value:.1}\tns\tat most {most}\t{met}");
        }
        None => println!("{name}\t{value:.1}\tns\tnone\tmet"),
    }
}

/// The second phase of one repeatable executor again and again: the mock's share of a call with a kept executor.
fn second_phase(context: &Context, stream: &Stream, [a, b, out]: [&Tensor<f32>; 3]) -> Result<f64> {
    let acl = context.acl().clone();
    let table = acl.table();
    let describe = |tensor: &Tensor<f32>| -> Result<*mut sys::aclTensor> {
        let (dims, strides) = ([16_i64], [1_i64]);
        let (kind, format) = (sys::aclDataType::ACL_FLOAT, sys::aclFormat::ACL_FORMAT_ND);
        let (create, data) = (table.aclCreateTensor()?, tensor.address());
        let (dims, strides) = (dims.as_ptr(), strides.as_ptr());
        // SAFETY: arrays of one number each, which are copied; the address is only stored.
        Ok(unsafe { create(dims, 1, kind, strides, 0, format, dims, 1, data) })
    };
    let [a, b, out] = [describe(a)?, describe(b)?, describe(out)?];
    let (mut bytes, mut executor) = (0, std::ptr::null_mut());
    let plan = table.aclnnMulGetWorkspaceSize()?;
    // SAFETY: three live descriptions, and places for the two results.
    assert_eq!(unsafe { plan(a, b, out, &raw mut bytes, &raw mut executor) }, 0);
    let repeat = table.aclSetAclOpExecutorRepeatable()?;
    // SAFETY: a live executor.
    assert_eq!(unsafe { repeat(executor) }, 0);
    assert_eq!(bytes, 0);
    let (launch, raw) = (table.aclnnMul()?, stream.as_raw());
    let time = median(stream, || {
        // SAFETY: the executor is repeatable and needs no workspace; the memory lives until the stream is waited for.
        assert_eq!(unsafe { launch(std::ptr::null_mut(), 0, executor, raw) }, 0);
        Ok(())
    })?;
    let (end, destroy) = (table.aclDestroyAclOpExecutor()?, table.aclDestroyTensor()?);
    // SAFETY: live, and not used again.
    assert_eq!(unsafe { end(executor) }, 0);
    for tensor in [a, b, out] {
        // SAFETY: as above.
        assert_eq!(unsafe { destroy(tensor) }, 0);
    }
    Ok(time)
}

fn main() -> Result<()> {
    let acl = Acl::mock()?;
    println!("# {acl}; median of {ROUNDS} rounds of {CALLS} calls; f32 tensors of 16 elements");
    let context = acl.device(0)?.context().create_context()?;
    let stream = context.stream()?;
    let tensor = |value: f32| context.upload_tensor(&[value; 16], [16]);
    let (a, b, mut out) = (tensor(1.0)?, tensor(2.0)?, tensor(0.0)?);
    let raw = second_phase(&context, &stream, [&a, &b, &out])?;
    report("second phase of mul, raw", raw, None);
    let kept = median(&stream, || op::mul(&stream, &a, &b, &mut out))?;
    report("op::mul, kept executor", kept, Some(300.0));
    report("op::mul, kept executor, over raw", kept - raw, None);
    let by_name = median(&stream, || aclnn::mul(&stream, &a, &b, &mut out))?;
    report("op::aclnn::mul, kept executor", by_name, Some(300.0));
    let (mut other, mut turn) = (tensor(0.0)?, false);
    let moved = median(&stream, || {
        turn = !turn;
        op::mul(&stream, &a, &b, if turn { &mut other } else { &mut out })
    })?;
    report("op::mul, kept executor, one tensor moved", moved, Some(300.0));
    context.set_operator_cache(0);
    let anew = median(&stream, || op::mul(&stream, &a, &b, &mut out))?;
    report("op::mul, planned anew", anew, None);
    Ok(())
}
