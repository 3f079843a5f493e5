//! Plans on host memory, where racl has no mock that could compute for it. Numbers are worked out by hand.

use racl::op::DataType::{F16, F32, I32, I64};
use racl::op::{DataType, aclnn};
use racl::plan::{Builder, Foreign, Inferred, Input, PassMode, Passes, Plan, Simulated, Simulation, Value};
use racl::{ErrorKind, Result};

fn build(work: impl FnOnce(&Builder) -> Result<()>) -> Plan {
    Plan::build(work).unwrap()
}

fn input(g: &Builder, name: &str, dims: &[usize], dtype: DataType) -> Result<Value> {
    g.input(name, dims, dtype, Input::Copied)
}

fn run(plan: &Plan, given: &Simulated) -> Simulation {
    plan.simulate(1, given).unwrap()
}

/// The numbers of the one output, `y`.
fn numbers(plan: &Plan, given: &Simulated) -> Vec<f32> {
    run(plan, given).to_vec("y").unwrap()
}

#[test]
fn products_and_what_is_added() {
    let plan = build(|g| {
        let (a, b) = (input(g, "a", &[2, 3], F32)?, input(g, "b", &[3, 2], F32)?);
        let bias = g.constant(&[100.0_f32, 200.0], [2])?;
        g.output("y", g.addmm(bias, a, b)?)?;
        g.output("turned", g.mm(g.transpose(b, 0, 1)?, g.transpose(a, 0, 1)?)?)
    });
    let given = Simulated::new().tensor("a", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]).tensor(
        "b",
        &[1.0_f32, 0.0, 0.0, 1.0, 2.0, -1.0],
        [3, 2],
    );
    // a · b is [[1 + 6, 2 - 3], [4 + 12, 5 - 6]].
    let run = run(&plan, &given);
    assert_eq!(run.to_vec::<f32>("y").unwrap(), [107.0, 199.0, 116.0, 199.0]);
    assert_eq!(run.to_vec::<f32>("turned").unwrap(), [7.0, 16.0, -1.0, -1.0]);
}

#[test]
fn work_on_elements_with_broadcasts_and_views() {
    let plan = build(|g| {
        let x = input(g, "x", &[2, 4], F32)?;
        let row = g.narrow(x, 0, 1..2)?;
        let odd = g.muls(g.sub(x, row)?, 0.5)?; // [[-2, -2, -2, -2], [0, 0, 0, 0]]
        let root = g.sqrt(g.abs(g.mul(x, x)?)?)?; // the amounts of x
        g.output("y", g.maximum(g.adds(odd, 3.0)?, root)?)
    });
    let given = Simulated::new().tensor("x", &[1.0_f32, -2.0, 0.5, 4.0, 5.0, 2.0, 4.5, 8.0], [2, 4]);
    assert_eq!(numbers(&plan, &given), [1.0, 2.0, 1.0, 4.0, 5.0, 3.0, 4.5, 8.0]);
}

#[test]
fn rows_are_folded_and_normalised() {
    let plan = build(|g| {
        let x = input(g, "x", &[2, 2], F32)?;
        g.output("y", g.softmax(x, -1)?)?;
        g.output("mean", g.mean(x, &[1], true)?)?;
        g.output("sum", g.reduce_sum(x, &[0], false)?)
    });
    let given = Simulated::new().tensor("x", &[7.0_f32, 7.0, -1.0, -1.0], [2, 2]);
    let run = run(&plan, &given);
    assert_eq!(run.to_vec::<f32>("y").unwrap(), [0.5; 4]);
    assert_eq!(run.to_vec::<f32>("mean").unwrap(), [7.0, -1.0]);
    assert_eq!(run.to_vec::<f32>("sum").unwrap(), [6.0, 6.0]);
}

#[test]
fn types_tables_and_what_no_number_is() {
    let plan = build(|g| {
        let (table, rows) = (input(g, "table", &[3, 2], F16)?, input(g, "rows", &[2], I64)?);
        let found = g.cast(g.embedding(table, rows)?, F32)?;
        g.output("y", g.div(found, g.constant(&[0.0_f32], [1])?)?)?;
        g.output("whole", g.cast(found, I32)?)
    });
    // 1, -2, 0, 0.5, -0.5 and 4 in half precision.
    let table = [0x3c00_u16, 0xc000, 0x0000, 0x3800, 0xb800, 0x4400].map(u16::to_ne_bytes).concat();
    let given = Simulated::new().bytes("table", table).tensor("rows", &[2_i64, 1], [2]);
    let run = run(&plan, &given);
    let y = run.to_vec::<f32>("y").unwrap();
    assert_eq!((y[0], y[1], y[3]), (f32::NEG_INFINITY, f32::INFINITY, f32::INFINITY));
    assert!(y[2].is_nan(), "nothing by nothing: {y:?}");
    assert_eq!(run.to_vec::<i32>("whole").unwrap(), [0, 4, 0, 0]);
}

#[test]
fn sizes_of_a_run_streams_copies_and_the_host() {
    let plan = build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let (x, host) = (g.input("x", [n], F32, Input::Copied)?, g.input("host", [1], F32, Input::Host)?);
        let side = g.scope("side", |g| g.muls(x, 10.0))?;
        let kept = g.empty([n], F32)?;
        g.copy(x, kept)?;
        g.join("side")?;
        g.output_to_host("y", g.add(g.add(side, kept)?, host)?)
    });
    let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0], [3]).tensor("host", &[0.5_f32], [1]);
    for seed in 0..20 {
        let run = plan.simulate(seed, &given).unwrap();
        assert_eq!(run.to_vec::<f32>("y").unwrap(), [11.5, 22.5, 33.5]);
        assert_eq!(run.host_bytes("y").unwrap(), run.bytes("y").unwrap());
    }
}

#[test]
fn foreign_operators_choices_and_rounds() {
    let reversed = Foreign::new("mine.reversed", 1, |_| Ok(())).simulated(|reads, writes| {
        for (to, from) in writes[0].chunks_mut(4).zip(reads[0].rchunks(4)) {
            to.copy_from_slice(from);
        }
    });
    let turned = build(|g| {
        let (x, y) = (input(g, "x", &[2], F32)?, g.empty([2], F32)?);
        g.foreign(&reversed, &[x], &[y])?;
        g.output("y", y)
    });
    let doubled = build(|g| g.output("y", g.muls(input(g, "x", &[2], F32)?, 2.0)?));
    let plan = build(|g| {
        let (x, wanted) = (input(g, "x", &[2], F32)?, input(g, "wanted", &[1], I32)?);
        let [y] = g.if_else(wanted, &turned, &doubled, &[x])?;
        g.output("y", g.adds(y, 1.0)?)
    });
    let given = |wanted: i32| Simulated::new().tensor("x", &[3.0_f32, 4.0], [2]).tensor("wanted", &[wanted], [1]);
    assert_eq!(numbers(&plan, &given(1)), [5.0, 4.0]);
    assert_eq!(numbers(&plan, &given(0)), [7.0, 9.0]);
}

#[test]
fn an_operator_that_the_host_does_not_compute_is_named() {
    let plan = build(|g| {
        let mut y = Inferred::new();
        aclnn::sin(g, &input(g, "x", &[2], F32)?, &mut y)?;
        g.output("y", y.value()?)
    });
    let error = plan.simulate(1, &Simulated::new().tensor("x", &[0.0_f32, 1.0], [2])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotSupported);
    assert!(
        error.to_string().contains("aclnnSin cannot be computed on the host without the feature mock"),
        "{error}"
    );
}

/// Passes compare the plan before with the plan behind by such runs.
#[test]
fn passes_are_verified_on_the_host() {
    let plan = build(|g| {
        let x = input(g, "x", &[4], F32)?;
        g.muls(x, 5.0)?; // nobody reads it
        let (a, b) = (g.abs(x)?, g.abs(x)?);
        g.output("y", g.add(a, b)?)
    });
    let better = plan.optimise(&Passes::all(PassMode::Verified)).unwrap().plan;
    assert!(better.operators() < plan.operators());
    let given = Simulated::new().tensor("x", &[1.0_f32, -2.0, 3.0, -4.0], [4]);
    assert_eq!(numbers(&better, &given), [2.0, 4.0, 6.0, 8.0]);
}
