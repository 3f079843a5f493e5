use crate::op::DataType::F32;
use crate::plan::{Input, MemoryReport, Plan};

/// Layers of a product on the origin stream with a chain of one to four operators beside it.
fn layers(count: usize) -> MemoryReport {
    let plan = Plan::build(|g| {
        let input = g.input("x", [64, 64], F32, Input::Static)?;
        let w = g.input("w", [64, 64], F32, Input::Frozen)?;
        let mut x = g.adds(input, 1.0)?;
        for layer in 0..count {
            let beside = g.scope("side", |g| {
                let first = g.muls(x, 2.0)?;
                (0..layer % 4).try_fold(first, |last, _| g.tanh(last))
            })?;
            let product = g.matmul(x, w)?;
            let moved = g.adds(product, 1.0)?;
            let root = g.sqrt(moved)?;
            g.join("side")?;
            x = g.add(root, beside)?;
        }
        g.output("y", x)
    })
    .unwrap();
    plan.memory(&[]).unwrap()
}

#[test]
fn the_arena_does_not_grow_with_the_length_of_the_plan() {
    // Of 16 KiB each: x, what is computed beside it, and two for a chain where one is read and the next written, on
    // each of the two streams: five at most.
    let each = 64 * 64 * 4 + 64;
    for count in [8, 100, 2000] {
        let report = layers(count);
        assert!(report.peak <= 5 * each, "{count} layers: {report}");
    }
}
