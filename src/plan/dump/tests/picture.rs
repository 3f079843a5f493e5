//! The picture, and the model behind it.

use roxmltree::{Document, Node};

use crate::plan::dump::arena::temporaries;
use crate::plan::dump::schedule::{Schedule, live};
use crate::plan::recipe::NodeKind;

use super::*;

fn symbols(plan: &Plan) -> Vec<usize> {
    vec![2; plan.0.recipe.symbols.len()]
}

fn svg(plan: &Plan, widths: Width) -> String {
    plan.to_svg(&symbols(plan), widths).unwrap()
}

fn with_class<'a>(document: &'a Document<'a>, classes: &[&str]) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| {
        let class = node.attribute("class").unwrap_or_default();
        class.split(' ').any(|class| classes.contains(&class))
    };
    document.descendants().filter(has).collect()
}

fn titles(document: &Document<'_>) -> Vec<String> {
    let titles = document.descendants().filter(|node| node.has_tag_name("title"));
    titles.filter_map(|node| node.text().map(str::to_owned)).collect()
}

#[test]
fn pictures_are_xml_with_a_box_for_each_operator_and_an_arrow_for_each_wait() {
    for plan in [everything(), oddly_named(), layers(3), random(1), random(2), empty()] {
        for widths in [Width::Equal, Width::Bytes] {
            let text = svg(&plan, widths);
            let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let boxes = with_class(&document, &["m", "o", "c", "f", "p", "host", "g"]);
            let boxes = boxes.iter().filter(|node| node.has_tag_name("rect") || node.has_tag_name("polygon"));
            // The legend has one of each class.
            assert_eq!(boxes.count(), plan.operators() + gates(&plan) + 7);
            let waits = plan.0.recipe.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Wait(_))).count();
            assert_eq!(with_class(&document, &["ev"]).len(), waits);
            assert_eq!(with_class(&document, &["stream"]).len(), plan.streams());
        }
    }
}

fn gates(plan: &Plan) -> usize {
    let is_gate = |kind| matches!(kind, NodeKind::ExternalWait(_) | NodeKind::ExternalRecord(_));
    plan.0.recipe.nodes.iter().filter(|node| is_gate(node.kind)).count()
}

#[test]
fn pictures_run_and_load_nothing() {
    for plan in [everything(), oddly_named()] {
        let text = svg(&plan, Width::Equal);
        let document = Document::parse(&text).unwrap();
        for node in document.descendants().filter(Node::is_element) {
            let name = node.tag_name().name();
            assert!(!matches!(name, "script" | "image" | "foreignObject" | "use" | "a"), "{name}");
            for attribute in node.attributes() {
                let (name, value) = (attribute.name(), attribute.value());
                assert!(!name.starts_with("on") && !name.contains("href"), "{name}");
                assert!(!value.contains("url(") || value == "url(#a)", "{value}");
            }
        }
        // Its own background, for dark viewers.
        let background = document.root_element().children().find(|node| node.has_tag_name("rect")).unwrap();
        assert_eq!(background.attribute("width"), document.root_element().attribute("width"));
        assert_eq!(background.attribute("fill"), Some("#ffffff"));
    }
}

#[test]
fn tooltips_hold_the_text_of_each_operator() {
    let plan = layers(2);
    let picture = svg(&plan, Width::Equal);
    let titles = titles(&Document::parse(&picture).unwrap());
    let text = plan.to_text();
    let work = text.split("\n\n").nth(1).unwrap().lines();
    for line in work.filter(|line| line.contains('=')) {
        assert!(titles.iter().any(|title| title == line), "{line}");
    }
}

#[test]
fn streams_wait_in_logical_time() {
    // origin: tanh, [fork] abs, sqrt, [join] add; side: muls
    let plan = Plan::build(|g| {
        let x = g.input("x", [16], F32, Input::Copied)?;
        let x = g.tanh(x)?;
        let side = g.scope("side", |g| g.muls(x, 2.0))?;
        let a = g.abs(x)?;
        let b = g.sqrt(a)?;
        g.join("side")?;
        let y = g.add(side, b)?;
        g.output("y", y)
    })
    .unwrap();
    let recipe = &plan.0.recipe;
    let schedule = Schedule::of(recipe, Width::Equal);
    let of = |name: &str| {
        let is = |node: &crate::plan::recipe::Node| recipe.label(node) == name;
        schedule.spans[recipe.nodes.iter().position(is).unwrap()]
    };
    let spans = ["aclnnTanh", "aclnnMuls", "aclnnAbs", "aclnnSqrt", "aclnnAdd"].map(of);
    assert_eq!(spans, [(0.0, 1.0), (1.0, 2.0), (1.0, 2.0), (2.0, 3.0), (3.0, 4.0)]);
    assert_eq!((schedule.end, schedule.work), (4.0, 5.0));
    // 64 bytes each, 128 with padding. Live: x; x, side, a; side, a, b; side, b; y is an output.
    let (fixed, memory) = plan.specialise(&[]).unwrap();
    let temporaries = temporaries(&fixed, &plan.0.uses, &memory);
    let curve = [(0.0, 128), (1.0, 384), (2.0, 384), (3.0, 256), (4.0, 0)];
    assert_eq!(live(&temporaries, &schedule.spans), curve);
}

#[test]
fn widths_by_bytes_are_shares_of_the_widest() {
    let plan = Plan::build(|g| {
        let big = g.input("big", [600], F32, Input::Copied)?;
        let half = g.input("half", [300], F32, Input::Copied)?;
        let tiny = g.input("tiny", [1], F32, Input::Copied)?;
        for (name, value) in [("a", big), ("b", half), ("c", tiny)] {
            let out = g.tanh(value)?;
            g.output(name, out)?;
        }
        Ok(())
    })
    .unwrap();
    let schedule = Schedule::of(&plan.0.recipe, Width::Bytes);
    assert_eq!(schedule.spans, [(0.0, 12.0), (12.0, 18.0), (18.0, 19.0)]);
}

#[test]
fn what_is_live_at_once_fits_the_arena() {
    for seed in 0..40 {
        let plan = random(seed);
        let (recipe, memory) = plan.specialise(&[]).unwrap();
        let temporaries = temporaries(&recipe, &plan.0.uses, &memory);
        assert_eq!(temporaries.iter().map(|one| one.bytes).sum::<u64>(), memory.sum);
        for widths in [Width::Equal, Width::Bytes] {
            let schedule = Schedule::of(&recipe, widths);
            let curve = live(&temporaries, &schedule.spans);
            let most = curve.iter().map(|(_, bytes)| *bytes).max().unwrap();
            assert!(most <= memory.peak, "{seed}: {most} of {}", memory.peak);
            assert_eq!(curve.last().unwrap().1, 0);
        }
    }
}

#[test]
fn pictures_of_dynamic_plans_need_values() {
    let plan = everything();
    assert!(plan.to_svg(&[], Width::Equal).is_err());
    assert!(plan.to_svg(&[9], Width::Equal).is_err());
    assert!(svg(&plan, Width::Equal).contains("f32[2, 3]"));
}
