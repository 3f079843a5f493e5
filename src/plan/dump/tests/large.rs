//! Plans of many operators.

use super::*;

#[test]
fn ten_thousand_operators_have_all_forms_of_bounded_size() {
    let plan = layers(10_000 / 7 + 1);
    assert!(plan.operators() >= 10_000);
    let (text, dot, json) = (plan.to_text(), plan.to_dot(), plan.to_json(&[]).unwrap());
    let svg = plan.to_svg(&[], Width::Equal).unwrap();
    assert!(text.lines().count() >= plan.operators());
    assert!(dot.len() < 8 << 20 && json.len() < 16 << 20, "{} {}", dot.len(), json.len());
    assert!(svg.len() < 4 << 20, "{}", svg.len());
    roxmltree::Document::parse(&svg).unwrap();
    serde_json::from_str::<serde_json::Value>(&json).unwrap();
}

#[test]
fn longer_plans_share_boxes() {
    let plan = layers(2500);
    let svg = plan.to_svg(&[], Width::Equal).unwrap();
    assert!(svg.contains("operators of a stream share a box."));
    let boxes = svg.matches("<rect class=").count();
    // Two operators a box, two areas a layer, the legend.
    assert!(boxes < plan.operators() / 2 + 2 * 2500 + 20, "{boxes}");
    assert!(svg.len() < 6 << 20, "{}", svg.len());
}
