//! What a plan looks like: a decoder layer on three streams, written as text, JSON, Graphviz and a picture.
//!
//! `cargo run --example 09_plan_dump [FOLDER]` writes `plan.txt`, `plan.json`, `plan.dot` and `plan.svg`, and
//! `plan-bytes.svg` with operators as wide as the bytes that they touch. Without a folder it makes one for temporary
//! files. No device is used: a plan is data.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};

use racl::op::{DataType, GeluForm};
use racl::plan::{After, Builder, Dim, HostFunction, Input, Plan, Scope, Value, Width};
use racl::{Prefetch, Result};

const WIDTH: usize = 256;
const TOKENS: usize = 64;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os()
        .nth(1)
        .map_or_else(|| std::env::temp_dir().join(format!("racl-plan-{}", std::process::id())), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let plan = Plan::build(layer)?;
    let symbols = [TOKENS];
    write(&folder, "plan.txt", &plan.to_text())?;
    write(&folder, "plan.json", &plan.to_json(&symbols)?)?;
    write(&folder, "plan.dot", &plan.to_dot())?;
    write(&folder, "plan.svg", &plan.to_svg(&symbols, Width::Equal)?)?;
    write(&folder, "plan-bytes.svg", &plan.to_svg(&symbols, Width::Bytes)?)?;
    let memory = plan.memory(&symbols)?;
    println!("{plan:?}; for {TOKENS} tokens {memory}");
    Ok(())
}

fn write(folder: &Path, name: &str, content: &str) -> std::io::Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, content)?;
    println!("{:>8} bytes in {}", content.len(), path.display());
    Ok(())
}

fn weight(g: &Builder, name: &str, rows: usize, columns: usize) -> Result<Value> {
    g.input(name, [rows, columns], DataType::F16, Input::Frozen)
}

/// Attention with keys and values on side streams, then the two products of the feed-forward part, whose weights are
/// prefetched while the attention runs.
fn layer(g: &Builder) -> Result<()> {
    let tokens = g.symbol("tokens", 1..=512)?;
    let x = g.input("x", [tokens, Dim::from(WIDTH)], DataType::F16, Input::Copied)?;
    let scale = g.input("norm.weight", [WIDTH], DataType::F16, Input::Frozen)?;
    let shift = g.input("norm.bias", [WIDTH], DataType::F16, Input::Frozen)?;
    let up = weight(g, "mlp.up", WIDTH, 4 * WIDTH)?;
    let down = weight(g, "mlp.down", 4 * WIDTH, WIDTH)?;

    let normed = g.layer_norm(x, scale, shift, 1e-5)?;
    g.prefetch(up, Prefetch::all(), After::Value(normed))?;
    let attended = attention(g, normed)?;
    let x = g.add(x, attended)?;

    let normed = g.layer_norm(x, scale, shift, 1e-5)?;
    g.prefetch(down, Prefetch::bytes(1 << 18), After::Value(normed))?;
    let wide = g.mm(normed, up)?;
    let wide = g.gelu(wide, GeluForm::Tanh)?;
    let out = g.mm(wide, down)?;
    let out = g.add(x, out)?;
    g.host_function(&HostFunction::new("layer.done", 1, |_| {}))?;
    g.output("y", out)
}

fn attention(g: &Builder, normed: Value) -> Result<Value> {
    let (keys_ready, values_ready) = (g.event("keys ready")?, g.event("values ready")?);
    let (wq, wk, wv, wo) = (
        weight(g, "attention.q", WIDTH, WIDTH)?,
        weight(g, "attention.k", WIDTH, WIDTH)?,
        weight(g, "attention.v", WIDTH, WIDTH)?,
        weight(g, "attention.o", WIDTH, WIDTH)?,
    );
    let keys = g.scope_with("keys", Scope::new().priority(1), |g| {
        let keys = g.mm(normed, wk)?;
        let keys = g.permute(keys, &[1, 0])?;
        g.record(&keys_ready)?;
        Ok(keys)
    })?;
    let values = g.scope_with("values", Scope::new().priority(2), |g| {
        let values = g.mm(normed, wv)?;
        g.record(&values_ready)?;
        Ok(values)
    })?;
    let queries = g.mm(normed, wq)?;
    let queries = g.muls(queries, 1.0 / (WIDTH as f32).sqrt())?;
    g.wait(&keys_ready)?;
    let scores = g.mm(queries, keys)?;
    let shares = g.softmax(scores, -1)?;
    g.wait(&values_ready)?;
    let mixed = g.mm(shares, values)?;
    g.mm(mixed, wo)
}
