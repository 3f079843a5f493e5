//! The text form.

use crate::plan::dump::checksum;

use super::*;

#[test]
fn the_text_says_everything_once_and_by_name() {
    let text = "\
racl plan 1
symbol n 1..=8
stream origin priority 0
stream side priority 3
stream prefetch priority 0
gate \"go on\"
prefetch_cap 0.25
input in:x f32[n, 4] copied
input in:w f32[4, 6] frozen
input in:t f16[2] tracked fail
input in:h f32[3] host
constant const:0 f32[3] 12 bytes 1de40d89811fe258
output out:small f16[2]
output out:y f32[n, 3] to_host

origin: record @origin:start
origin: in:h f32[3] = upload.0()
origin: wait_external.0 \"go on\"
origin: record @wait_external.0
side: wait @wait_external.0
side: %aclnnMatmul.0 f32[n, 3] = aclnnMatmul.0(in:x f32[n, 4], in:w+8B f32[4, 3] strides [6, 1]) {cube_math_type=0, limit_cube=2}
side: record \"ready\"
origin: %aclnnAdd.0 f32[3] = aclnnAdd.0(in:h f32[3], const:0 f32[3]) {alpha=1.0}
origin: wait \"ready\"
prefetch: wait @origin:start
prefetch: prefetch.0(in:w f32[4, 6]) {offset=8, max_bytes=64}
origin: out:y f32[n, 3] = aclnnAdd.1(%aclnnMatmul.0 f32[n, 3], %aclnnAdd.0 f32[3]) {alpha=1.0}
origin: host.0() {function=\"log\", version=2, attributes=3 bytes d0ab0e18672e19ef}
origin: out:small f16[2] = foreign.0(in:t f16[2], out:y f32[n, 3]) {function=\"k\", version=7, needs_vector=5}
origin: out:small f16[2] = aclnnMuls.0(out:small f16[2]) {other=-inf}
origin: download.0(out:y f32[n, 3])
side: record @aclnnMatmul.0
origin: wait @aclnnMatmul.0
prefetch: record @prefetch.0
origin: wait @prefetch.0
reserve out:y until record @aclnnMatmul.0
";
    assert_eq!(everything().to_text(), text);
}

#[test]
fn the_checksum_is_the_published_one() {
    assert_eq!(checksum(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(checksum(b"a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(checksum(b"foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn one_operator_more_changes_few_lines() {
    let plan = |more: bool| {
        Plan::build(|g| {
            let x = g.input("x", [4, 4], F32, Input::Copied)?;
            let y = if more { g.gelu(x, Default::default())? } else { x };
            let y = g.scope("side", |g| {
                let y = g.matmul(y, x)?;
                g.tanh(y)
            })?;
            let z = g.matmul(x, x)?;
            g.join("side")?;
            let y = g.add(y, z)?;
            g.output("y", y)
        })
        .unwrap()
        .to_text()
    };
    let (before, after) = (plan(false), plan(true));
    let gone: Vec<_> = before.lines().filter(|line| !after.contains(line)).collect();
    // The side stream starts after the new operator, and its first operator reads the result.
    assert_eq!(gone.len(), 3, "{gone:?}");
}

#[test]
fn names_that_come_again_have_numbers() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [2], F32, Input::Copied)?;
        let (a, b) = (g.empty([2], F32)?, g.empty([2], F32)?);
        g.foreign(&Foreign::unnamed(|_| Ok(())), &[x], &[a, b])?;
        let event = g.event("e")?;
        g.record(&event)?;
        g.rerecord(&event)?;
        g.scope("side", |g| g.wait(&event))?;
        let y = g.sub(b, a)?;
        g.output("y", y)
    })
    .unwrap();
    let text = plan.to_text();
    let work: Vec<_> = text.split("\n\n").nth(1).unwrap().lines().collect();
    let before = [
        "origin: %foreign.0 f32[2], %foreign.0#1 f32[2] = foreign.0(in:x f32[2])",
        "origin: record \"e\"",
        "origin: record \"e\"#1",
    ];
    assert_eq!(work[..3], before);
    assert!(work.contains(&"side: wait \"e\"#1"), "{text}");
    assert!(
        work.contains(&"origin: out:y f32[2] = aclnnSub.0(%foreign.0#1 f32[2], %foreign.0 f32[2]) {alpha=1.0}"),
        "{text}"
    );
}

#[test]
fn sizes_have_the_names_of_symbols() {
    let plan = Plan::build(|g| {
        let (n, odd) = (g.symbol("n", 2..=8)?, g.symbol("a b", 1..=2)?);
        let x = g.input("x", [n + 3, odd, Dim::from(2)], F32, Input::Copied)?;
        let part = g.narrow(x, 0, Dim::from(1)..n)?;
        let y = g.tanh(part)?;
        g.output("y", y)
    })
    .unwrap();
    let text = plan.to_text();
    let line = r#"origin: out:y f32[n-1, "a b", 2] = aclnnTanh.0(in:x+(8*"a b")B f32[n-1, "a b", 2])"#;
    assert_eq!(text.lines().last(), Some(line));
}

#[test]
fn source_lines_come_on_request_only() {
    let plan = layers(1);
    assert!(!plan.to_text().contains(".rs"));
    let lines = plan.to_text_with_lines();
    let work: Vec<_> = lines.split("\n\n").nth(1).unwrap().lines().collect();
    assert!(work.iter().all(|line| line.contains("  // src/plan/dump/tests.rs:")), "{lines}");
}

#[test]
fn odd_names_stay_on_one_line_of_text() {
    let plan = oddly_named();
    let text = plan.to_text();
    assert_eq!(text.chars().filter(|c| c.is_control() && *c != '\n').count(), 0);
    assert_eq!(text.lines().filter(|line| line.contains("aclnnTanh")).count(), 1);
    let heading = 1 + plan.0.recipe.tags.len() + 1 + 1 + 1 + 1;
    assert_eq!(text.lines().count(), heading + plan.0.recipe.nodes.len(), "{text}");
    assert!(text.contains(r#"gate "a \"b\" <c> & 'd'\n\u{1}\u{7f}\\n ü 名 ]]> --> \u{2028}""#), "{text}");
}

#[test]
fn an_empty_plan_is_a_stream() {
    assert_eq!(empty().to_text(), "racl plan 1\nstream origin priority 0\n");
}
