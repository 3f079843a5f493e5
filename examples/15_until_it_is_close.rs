//! A loop that the device ends by itself: Newton's method for square roots, until the worst of them is close enough.
//!
//! Without conditions in graphs the host looks at the residual after each round, which costs a wait and a transfer. Here
//! the loop is captured once, and one launch runs as many rounds as its numbers need. Prints how many those were. Then
//! the same as a plan, whose loop is a plan of its own with a limit of rounds: captured, on any library, and eagerly. How
//! often the host looked is printed, too.
#![allow(clippy::print_stdout)]

use racl::op::DataType::{Bool, F32};
use racl::op::aclnn;
use racl::plan::{Frozen, Input, Plan};
use racl::{Acl, CaptureMode, Device, ErrorKind, Result, Stream, Tensor, op};

const COUNT: usize = 8;
const CLOSE: f32 = 1e-5;

fn main() -> Result<()> {
    let acl = Acl::init_or_mock()?;
    println!("library: {acl}");
    let device = acl.device(0)?;
    let stream = device.stream()?;
    let squares = device.zeros::<f32>([COUNT])?;
    let (mut x, mut rounds) = (device.zeros::<f32>([COUNT])?, device.zeros::<i64>([1])?);
    let (mut next, mut off) = (device.empty::<f32>([COUNT])?, device.empty::<f32>([COUNT])?);
    let mut worst = device.empty::<f32>([1])?;

    let captured = stream.capture(CaptureMode::ThreadLocal, |s| {
        let condition = s.condition(Some(1))?;
        let mut more = Tensor::over(condition.cell::<u8>()?, [1])?;
        op::fill(s, &mut rounds, 0)?;
        op::copy(s, &squares, &mut x)?; // a first guess
        s.repeat_while(&condition, |s| {
            // x = (x + a / x) / 2
            op::div(s, &squares, &x, &mut next)?;
            op::add_inplace(s, &mut x, &next)?;
            op::muls_inplace(s, &mut x, 0.5)?;
            op::adds_inplace(s, &mut rounds, 1)?;
            // The greatest |x² / a - 1| decides.
            op::mul(s, &x, &x, &mut next)?;
            op::div_inplace(s, &mut next, &squares)?;
            op::adds_inplace(s, &mut next, -1.0)?;
            op::abs(s, &next, &mut off)?;
            op::amax(s, &off, &[0], true, &mut worst)?;
            op::greater_than(s, &worst, CLOSE, &mut more)
        })
    });
    let mut graph = match captured {
        Err(error) if error.kind() == ErrorKind::MissingSymbol => {
            println!("no conditions in graphs: {error}");
            return as_a_plan(&device, &stream, None);
        }
        captured => captured?,
    };
    for scale in [1.0, 100.0, 10_000.0] {
        let given: Vec<f32> = (1..=COUNT).map(|at| at as f32 * scale).collect();
        squares.buffer()?.write(&given)?;
        graph.launch(&stream)?;
        let found = x.to_vec()?;
        let far = found.iter().zip(&given).find(|(x, a)| (**x * **x / **a - 1.0).abs() > CLOSE);
        assert_eq!(far, None, "a root that is not close");
        println!("{scale}: {} rounds in one launch, the last root is {}", rounds.to_vec()?[0], found[COUNT - 1]);
    }
    as_a_plan(&device, &stream, Some(&x.to_vec()?))
}

/// The same for the last numbers, as a plan.
fn as_a_plan(device: &Device, stream: &Stream, expected: Option<&[f32]>) -> Result<()> {
    let round = Plan::build(|g| {
        let x = g.input("x", [COUNT], F32, Input::Copied)?;
        let squares = g.input("squares", [COUNT], F32, Input::Copied)?;
        let x = g.muls(g.add(x, g.div(squares, x)?)?, 0.5)?;
        let off = g.abs(g.adds(g.div(g.mul(x, x)?, squares)?, -1.0)?)?;
        let (mut worst, mut more) = (g.empty([1], F32)?, g.empty([1], Bool)?);
        aclnn::amax(g, &off, &[0], true, &mut worst)?;
        aclnn::gt_scalar(g, &worst, CLOSE, &mut more)?;
        g.output("more", more)?;
        g.output("x", x)
    })?;
    let plan = Plan::build(|g| {
        let squares = g.input("squares", [COUNT], F32, Input::Host)?;
        let first = g.full([1], Bool, 1)?;
        let ([x], more) = g.repeat_at_most(50, first, &round, [squares], &[squares])?;
        g.output_to_host("more", more)?;
        g.output_to_host("x", x)
    })?;
    let given: Vec<f32> = (1..=COUNT).map(|at| at as f32 * 10_000.0).collect();
    for (way, mut exe) in
        [("captured", plan.capture(device, Frozen::new())?), ("eager", plan.eager(device, Frozen::new())?)]
    {
        let mut bind = exe.bindings();
        exe.run(stream, bind.host(exe.input("squares")?, &given, [COUNT]))?;
        let found: Vec<f32> = exe.host_output(exe.output_id("x")?)?;
        assert!(expected.is_none_or(|expected| found == expected), "another root than that of the graph");
        assert_eq!(exe.host_output::<u8>(exe.output_id("more")?)?, [0], "50 rounds were not enough");
        println!("{way}, as a plan: the host looked {} times", exe.counters().decided_by_host);
    }
    Ok(())
}
