//! What the environment changes, in a process of its own each time.

use std::process::Command;

use racl::Result;
use racl::op::DataType::F32;
use racl::plan::{Builder, Dim, Input, Options, Plan};

const VARIABLE: &str = "ENABLE_DYNAMIC_SHAPE_MULTI_STREAM";
/// Marks the process that looks.
const CHILD: &str = "RACL_TEST_CHILD";

fn heads(g: &Builder, rows: Dim, tag: Option<&str>) -> Result<()> {
    let x = g.input("x", [rows, Dim::from(4)], F32, Input::Copied)?;
    let (a, b) = match tag {
        None => (g.muls(x, 2.0)?, g.tanh(x)?),
        Some(tag) => {
            let a = g.scope(tag, |g| g.muls(x, 2.0))?;
            g.join(tag)?;
            (a, g.tanh(x)?)
        }
    };
    let y = g.add(a, b)?;
    g.output("y", y)
}

/// Streams of a dynamic plan, of a static one, of a dynamic one with a tag, and with the option single_stream.
fn streams() -> [usize; 4] {
    let dynamic = |tag| move |g: &Builder| g.symbol("n", 1..=8).and_then(|n| heads(g, n, tag));
    let single = Options::new().single_stream();
    [
        Plan::build(dynamic(None)).unwrap(),
        Plan::build(|g| heads(g, Dim::from(8), None)).unwrap(),
        Plan::build(dynamic(Some("mine"))).unwrap(),
        Plan::build_with(single, dynamic(None)).unwrap(),
    ]
    .map(|plan| plan.streams())
}

#[test]
fn child() {
    let expected = match std::env::var(CHILD).as_deref() {
        Ok("on") => [2, 1, 2, 1],
        Ok("off") => [1, 1, 2, 1],
        _ => return,
    };
    assert_eq!(streams(), expected);
}

#[test]
fn the_variable_spreads_dynamic_plans_without_tags() {
    for (value, child) in [(Some("1"), "on"), (Some("0"), "off"), (None, "off")] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "environment::child"]).env(CHILD, child).env_remove(VARIABLE);
        if let Some(value) = value {
            command.env(VARIABLE, value);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{value:?}: {text}");
    }
}
