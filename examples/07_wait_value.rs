//! Streams by tags and waits by values: no event has a name.
//!
//! `wait_value(v, dependency)` gives a later version of `v`: what is given it starts after `dependency` is there. The
//! product on stream "1" takes part in nothing that the main stream computes, and yet comes after the addition there,
//! because it is given `c` as of that; so does the addition on stream "2" with the product of the main stream.
#![allow(clippy::print_stdout)]

mod both_ways;
mod compare;

use std::error::Error;

use both_ways::{INPUTS, N};
use racl::half::f16;
use racl::op::DataType::F16;
use racl::plan::{Builder, Fork, Input, Plan, Scope};
use racl::{Acl, Device, Result, Stream, Tensor, op};

const OUTPUTS: [&str; 5] = ["a + b", "c · d", "a · b", "c + d", "1 + 2"];

/// The operators one after the other on one stream, in the order of [`OUTPUTS`].
fn in_order(device: &Device, stream: &Stream, [a, b, c, d]: &[Tensor<f16>; 4]) -> Result<Vec<Tensor<f16>>> {
    let zeros = || device.zeros([N, N]);
    let mut out = [zeros()?, zeros()?, zeros()?, zeros()?, zeros()?];
    let [sum, product_1, product, sum_2, three] = &mut out;
    op::add(stream, a, b, sum)?;
    op::mm(stream, c, d, product_1)?;
    op::mm(stream, a, b, product)?;
    op::add(stream, c, d, sum_2)?;
    let mut ones = zeros()?;
    op::fill(stream, &mut ones, f16::ONE)?;
    op::adds(stream, &ones, f16::from_f32(2.0), three)?;
    Ok(out.into())
}

fn in_streams(g: &Builder) -> Result<()> {
    let input = |index: usize| g.input(INPUTS[index], [N, N], F16, Input::Copied);
    let (a, b, c, d) = (input(0)?, input(1)?, input(2)?, input(3)?);
    let at_start = Scope::new().fork(Fork::AtStart);

    let sum = g.add(a, b)?;
    let c = g.wait_value(c, sum)?;
    let product_1 = g.scope_with("1", at_start, |g| g.mm(c, d))?;
    let product = g.mm(a, b)?;
    let c = g.wait_value(c, product)?;
    let sum_2 = g.scope_with("2", at_start, |g| g.add(c, d))?;
    let ones = g.full([N, N], F16, 1.0)?;
    let three = g.adds(ones, 2.0)?;

    let values = [sum, product_1, product, sum_2, three];
    OUTPUTS.iter().zip(values).try_for_each(|(name, value)| g.output(name, value))
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let device = acl.device(0)?;
    let main = device.stream()?;
    let given = both_ways::given(&device, 7)?;

    let expected = in_order(&device, &main, &given)?;
    let plan = Plan::build(in_streams)?;
    println!("a plan of {} operators on {} streams, with {} events", plan.operators(), plan.streams(), plan.events());
    plan.lints().iter().for_each(|lint| println!("lint: {lint}"));
    let expected: Vec<_> = OUTPUTS.into_iter().zip(expected).collect();
    both_ways::equal(&plan, (&device, &main), &given, &expected)?;
    Ok(())
}
