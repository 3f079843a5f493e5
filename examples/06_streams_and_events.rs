//! Streams and events by tags, as captured graphs have them: dependencies between streams are the caller's.
//!
//! The streams "1" and "2" start with the plan. Stream "1" waits by a tagged event for the addition on the main
//! stream, stream "2" for the product there. At the end a temporary of the main stream is read on stream "1", and
//! `record_stream` keeps its memory from what the main stream allocates next; the plan would know without. Leaving
//! out a wait that is needed is an error when the plan is built, which the program shows.
#![allow(clippy::print_stdout)]

mod both_ways;
mod compare;

use std::error::Error;

use both_ways::{INPUTS, N};
use racl::half::f16;
use racl::op::DataType::F16;
use racl::plan::{Builder, Fork, Input, Plan, Scope};
use racl::{Acl, Device, Result, Stream, Tensor, op};

const OUTPUTS: [&str; 6] = ["a + b", "c · d", "a · b", "c + d", "(a + b) + 1", "1 + 100"];

/// The operators one after the other on one stream, in the order of [`OUTPUTS`].
fn in_order(device: &Device, stream: &Stream, [a, b, c, d]: &[Tensor<f16>; 4]) -> Result<Vec<Tensor<f16>>> {
    let zeros = || device.zeros([N, N]);
    let mut out = [zeros()?, zeros()?, zeros()?, zeros()?, zeros()?, zeros()?];
    let [sum, product_1, product, sum_2, more, hundred] = &mut out;
    op::add(stream, a, b, sum)?;
    op::mm(stream, c, d, product_1)?;
    op::mm(stream, a, b, product)?;
    op::add(stream, c, d, sum_2)?;
    op::adds(stream, sum, f16::ONE, more)?;
    let mut ones = zeros()?;
    op::fill(stream, &mut ones, f16::ONE)?;
    op::adds(stream, &ones, f16::from_f32(100.0), hundred)?;
    Ok(out.into())
}

fn in_streams(g: &Builder) -> Result<()> {
    let [a, b, c, d] = inputs(g)?;
    let at_start = Scope::new().fork(Fork::AtStart);
    let (added, multiplied) = (g.event("added")?, g.event("multiplied")?);

    let sum = g.add(a, b)?;
    g.record(&added)?;
    let product_1 = g.scope_with("1", at_start, |g| {
        g.wait(&added)?;
        g.mm(c, d)
    })?;
    let product = g.mm(a, b)?;
    g.record(&multiplied)?;
    let sum_2 = g.scope_with("2", at_start, |g| {
        g.wait(&multiplied)?;
        g.add(c, d)
    })?;

    // A copy that nothing but stream "1" reads: it could go as soon as the main stream has written it.
    let temporary = g.adds(sum, 0.0)?;
    let more = g.scope("1", |g| g.adds(temporary, 1.0))?;
    g.record_stream(temporary, "1")?;
    let ones = g.full([N, N], F16, 1.0)?;
    let hundred = g.adds(ones, 100.0)?;

    let values = [sum, product_1, product, sum_2, more, hundred];
    OUTPUTS.iter().zip(values).try_for_each(|(name, value)| g.output(name, value))
}

/// The mistake: stream "2" reads what the main stream writes, and waits for nothing but the start.
fn without_a_wait(g: &Builder) -> Result<()> {
    let [a, b, ..] = inputs(g)?;
    let sum = g.add(a, b)?;
    let twice = g.scope_with("2", Scope::new().fork(Fork::AtStart), |g| g.muls(sum, 2.0))?;
    g.output("twice", twice)
}

fn inputs(g: &Builder) -> Result<[racl::plan::Value; 4]> {
    let input = |index: usize| g.input(INPUTS[index], [N, N], F16, Input::Copied);
    Ok([input(0)?, input(1)?, input(2)?, input(3)?])
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let device = acl.device(0)?;
    let main = device.stream()?;
    let given = both_ways::given(&device, 6)?;

    let expected = in_order(&device, &main, &given)?;
    let plan = Plan::build(in_streams)?;
    println!("a plan of {} operators on {} streams, with {} events", plan.operators(), plan.streams(), plan.events());
    let expected: Vec<_> = OUTPUTS.into_iter().zip(expected).collect();
    both_ways::equal(&plan, (&device, &main), &given, &expected)?;
    match Plan::build(without_a_wait) {
        Err(refused) => println!("without a wait: {refused}"),
        Ok(_) => return Err("a plan without a wait that it needs was built".into()),
    }
    Ok(())
}
