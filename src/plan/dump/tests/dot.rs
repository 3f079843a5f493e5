//! The form for Graphviz.

use crate::op::aclnn;
use crate::plan::dump::edges;
use crate::plan::recipe::{Node, NodeKind};

use super::*;

/// The tokens of a graph; panics where a string has no end.
fn tokens(dot: &str) -> Vec<String> {
    let (mut all, mut rest) = (Vec::new(), dot.chars().peekable());
    while let Some(c) = rest.next() {
        if c == '"' {
            let mut text = String::from('"');
            loop {
                match rest.next().expect("the end of a string") {
                    '"' => break,
                    '\\' => text.extend(['\\', rest.next().unwrap()]),
                    '\n' => panic!("a line feed in a string"),
                    c => text.push(c),
                }
            }
            all.push(text);
        } else if c.is_alphanumeric() || c == '_' {
            let mut word = String::from(c);
            while let Some(c) = rest.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(c);
            }
            all.push(word);
        } else if !c.is_whitespace() {
            all.push(c.to_string());
        }
    }
    all
}

#[test]
fn graphs_have_a_cluster_for_each_stream_and_an_edge_for_each_wait() {
    for plan in [everything(), oddly_named(), layers(3), random(1)] {
        let (dot, recipe) = (plan.to_dot(), &plan.0.recipe);
        let tokens = tokens(&dot);
        let count = |word: &str| tokens.iter().filter(|token| *token == word).count();
        assert_eq!(count("{"), count("}"));
        assert_eq!(count("subgraph"), recipe.tags.len());
        for (index, node) in recipe.nodes.iter().enumerate() {
            let NodeKind::Wait(event) = node.kind else { continue };
            let is_record = |node: &Node| node.kind == NodeKind::Record(event);
            let record = recipe.nodes.iter().position(is_record).unwrap();
            let edge = format!("  n{record} -> n{index} [label=");
            assert_eq!(dot.lines().filter(|line| line.starts_with(&edge)).count(), 1, "{edge}\n{dot}");
        }
    }
}

#[test]
fn graphs_escape_names() {
    let dot = oddly_named().to_dot();
    assert!(dot.contains(r#"a \\\"b\\\" <c> &amp; 'd'\\n\\u{1}\\u{7f}\\\\n ü 名"#), "{dot}");
}

#[test]
fn data_comes_from_the_last_that_wrote_each_byte() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let both = g.empty([8], F32)?;
        let (low, high) = (g.narrow(both, 0, 0..4)?, g.narrow(both, 0, 4..8)?);
        g.fill_bytes(both, 0)?; // 0: hidden by the next two
        aclnn::tanh(g, &x, &mut { low })?; // 1
        aclnn::abs(g, &x, &mut { high })?; // 2
        aclnn::muls(g, &high, 2.0_f32, &mut { high })?; // 3
        let y = g.adds(low, 1.0)?; // 4
        let z = g.adds(both, 1.0)?; // 5
        g.output("y", y)?;
        g.output("z", z)
    })
    .unwrap();
    let flows = edges::data(&plan.0.recipe);
    let into = |node: u32| -> Vec<_> {
        let flows = flows.iter().filter(|(_, to)| *to == node);
        flows
            .map(|(source, _)| match source {
                edges::Source::Node(from) => i64::from(*from),
                edges::Source::Storage(_) => -1,
            })
            .collect()
    };
    assert_eq!([into(0), into(1), into(2)], [vec![], vec![-1], vec![-1]]);
    assert_eq!([into(3), into(4)], [vec![2], vec![1]]);
    assert_eq!(into(5), [1, 3]);
}

#[test]
fn the_graph_of_an_empty_plan_has_its_stream() {
    let dot = empty().to_dot();
    assert!(dot.contains("subgraph cluster_0") && dot.ends_with("}\n"), "{dot}");
}
