//! The form for programs.

use serde_json::Value as Json;

use super::*;

fn parse(plan: &Plan, symbols: &[usize]) -> Json {
    let text = plan.to_json(symbols).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn array<'a>(json: &'a Json, key: &str) -> &'a Vec<Json> {
    json[key].as_array().unwrap_or_else(|| panic!("{key} is no array: {json}"))
}

#[test]
fn json_agrees_with_the_plan() {
    let plan = everything();
    let (json, recipe) = (parse(&plan, &[8]), &plan.0.recipe);
    let counts = [
        ("symbols", recipe.symbols.len()),
        ("inputs", recipe.inputs.len()),
        ("outputs", recipe.outputs.len()),
        ("streams", recipe.tags.len()),
        ("events", recipe.events.len()),
        ("gates", recipe.externals.len()),
        ("constants", recipe.constants.len()),
        ("functions", recipe.functions.len()),
        ("storages", recipe.storages.len()),
        ("values", recipe.values.len()),
        ("nodes", recipe.nodes.len()),
        ("reserved", recipe.reserved.len()),
    ];
    for (key, count) in counts {
        assert_eq!(array(&json, key).len(), count, "{key}");
    }
    assert_eq!((&json["format"], &json["version"]), (&Json::from("racl.plan"), &Json::from(1)));
    assert_eq!(json["symbols"][0], serde_json::json!({"name": "n", "least": 1, "greatest": 8, "value": 8}));
    assert_eq!(json["prefetch_cap"], 0.25);
    let x = &json["values"][0];
    assert_eq!((&x["shape"], &x["strides"]), (&serde_json::json!(["n", 4]), &serde_json::json!([4, 1])));
    assert_eq!(json["storages"][0]["bytes"], "16*n");
    let matmul = array(&json, "nodes").iter().find(|node| node["name"] == "aclnnMatmul").unwrap();
    assert_eq!(matmul["attributes"], serde_json::json!({"cube_math_type": 0, "limit_cube": 2}));
    let columns = &json["values"][matmul["accesses"][1]["value"].as_u64().unwrap() as usize];
    assert_eq!((&columns["offset"], &columns["dense"]), (&Json::from(8), &Json::from(false)));
    let muls = array(&json, "nodes").iter().find(|node| node["name"] == "aclnnMuls").unwrap();
    assert_eq!(muls["attributes"]["other"], "-inf");
    let log = array(&json, "functions").iter().find(|function| function["name"] == "log").unwrap();
    assert_eq!(log["attributes"], "0102ff");
}

#[test]
fn json_events_lead_to_their_records_and_waits() {
    let json = parse(&everything(), &[3]);
    let nodes = array(&json, "nodes");
    let mut waits = 0;
    for (index, event) in array(&json, "events").iter().enumerate() {
        let record = &nodes[event["record"].as_u64().unwrap() as usize];
        assert_eq!((&record["kind"], &record["of"]), (&Json::from("record"), &Json::from(index)));
        for wait in array(event, "waits") {
            let wait = &nodes[wait.as_u64().unwrap() as usize];
            assert_eq!((&wait["kind"], &wait["of"]), (&Json::from("wait"), &Json::from(index)));
            waits += 1;
        }
    }
    assert_eq!(nodes.iter().filter(|node| node["kind"] == "wait").count(), waits);
}

#[test]
fn json_has_the_memory_plan_of_the_symbols() {
    let plan = everything();
    for n in [1, 8] {
        let (json, memory) = (parse(&plan, &[n]), plan.memory(&[n]).unwrap());
        assert_eq!(json["memory"]["arena"], memory.peak);
        assert_eq!(json["memory"]["lower_bound"], memory.lower_bound);
        let temporaries = array(&json, "temporaries");
        let padded = |one: &Json| one["padded_bytes"].as_u64().unwrap();
        assert_eq!(temporaries.iter().map(padded).sum::<u64>(), memory.sum);
        assert_eq!(
            temporaries.iter().map(|one| one["offset"].as_u64().unwrap() + padded(one)).max(),
            Some(memory.peak)
        );
        // The product [n, 3] in 32-bit floats, from the matmul to the addition.
        let product = temporaries.iter().find(|one| one["bytes"] == 12 * n && one["first"] == 5).unwrap();
        assert_eq!(product["last"], 11);
    }
    assert!(plan.to_json(&[]).is_err() && plan.to_json(&[9]).is_err() && empty().to_json(&[1]).is_err());
}

#[test]
fn json_keeps_names_as_they_are() {
    let plan = oddly_named();
    let json = parse(&plan, &[]);
    assert_eq!(json["inputs"][0]["name"], ODD);
    assert_eq!(json["streams"][1]["name"], ODD);
    assert_eq!(json["gates"][0], ODD);
    assert!(array(&json, "functions").iter().any(|function| function["name"] == ODD));
    assert!(array(&json, "events").iter().any(|event| event["name"] == ODD));
}

#[test]
fn json_sizes_are_numbers_or_have_symbols() {
    let plan = Plan::build(|g| {
        let (n, odd) = (g.symbol("n", 2..=8)?, g.symbol("a b", 1..=2)?);
        let x = g.input("x", [n + 3, odd, Dim::from(2)], F32, Input::Copied)?;
        let y = g.tanh(x)?;
        g.output("y", y)
    })
    .unwrap();
    let json = parse(&plan, &[5, 2]);
    assert_eq!(json["storages"][0]["bytes"], r#"8*n*"a b"+24*"a b""#);
    assert_eq!(json["values"][0]["shape"], serde_json::json!(["n+3", "\"a b\"", 2]));
}

#[test]
fn json_of_an_empty_plan_has_every_field() {
    let json = parse(&empty(), &[]);
    assert_eq!(json["nodes"], serde_json::json!([]));
    assert_eq!(json["memory"]["arena"], 0);
}
