//! The network in 64-bit floats, written to be obviously right.

use super::Small;

type Matrix = Vec<Vec<f64>>;

/// The embedding that the model gives for these tokens, without any padding.
pub(crate) fn embedding(model: &Small, ids: &[u32]) -> Vec<f64> {
    let size = |key: &str| model.config[key].as_u64().unwrap() as usize;
    let (hidden, heads) = (size("hidden_size"), size("num_attention_heads"));
    let words = matrix(model, "embeddings.word_embeddings.weight");
    let positions = matrix(model, "embeddings.position_embeddings.weight");
    let kinds = matrix(model, "embeddings.token_type_embeddings.weight");
    let tokens = ids.iter().enumerate().map(|(position, id)| {
        (0..hidden).map(|i| words[*id as usize][i] + positions[position][i] + kinds[0][i]).collect()
    });
    let mut x = norm(model, "embeddings.LayerNorm", tokens.collect());
    for layer in 0..size("num_hidden_layers") {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let [q, k, v] =
            ["query", "key", "value"].map(|part| linear(model, &name(&format!("attention.self.{part}")), &x));
        let attended = attention(&q, &k, &v, heads);
        let out = linear(model, &name("attention.output.dense"), &attended);
        x = norm(model, &name("attention.output.LayerNorm"), sum(&out, &x));
        let mut up = linear(model, &name("intermediate.dense"), &x);
        up.iter_mut().flatten().for_each(|x| *x = gelu(*x));
        let down = linear(model, &name("output.dense"), &up);
        x = norm(model, &name("output.LayerNorm"), sum(&down, &x));
    }
    let mean: Vec<f64> = (0..hidden).map(|i| x.iter().map(|row| row[i]).sum::<f64>() / x.len() as f64).collect();
    let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
    mean.iter().map(|x| x / length).collect()
}

fn vector(model: &Small, name: &str) -> Vec<f64> {
    model.tensors[name].to_f64()
}

fn matrix(model: &Small, name: &str) -> Matrix {
    vector(model, name).chunks(model.tensors[name].shape[1]).map(<[f64]>::to_vec).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn sum(a: &Matrix, b: &Matrix) -> Matrix {
    a.iter().zip(b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
}

fn linear(model: &Small, name: &str, x: &Matrix) -> Matrix {
    let (weight, bias) = (matrix(model, &format!("{name}.weight")), vector(model, &format!("{name}.bias")));
    x.iter().map(|row| weight.iter().zip(&bias).map(|(weight, bias)| dot(row, weight) + bias).collect()).collect()
}

fn norm(model: &Small, name: &str, x: Matrix) -> Matrix {
    let (weight, bias) = (vector(model, &format!("{name}.weight")), vector(model, &format!("{name}.bias")));
    let row = |row: Vec<f64>| {
        let count = row.len() as f64;
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let scaled = row.iter().map(|x| (x - mean) / (variance + 1e-12).sqrt());
        scaled.zip(weight.iter().zip(&bias)).map(|(x, (weight, bias))| x * weight + bias).collect()
    };
    x.into_iter().map(row).collect()
}

fn attention(q: &Matrix, k: &Matrix, v: &Matrix, heads: usize) -> Matrix {
    let width = q[0].len() / heads;
    let mut out = vec![vec![0.0; q[0].len()]; q.len()];
    for head in 0..heads {
        let part = head * width..(head + 1) * width;
        for (q, out) in q.iter().zip(&mut out) {
            let scores = k.iter().map(|k| dot(&q[part.clone()], &k[part.clone()]) / (width as f64).sqrt());
            let weights: Vec<f64> = scores.map(f64::exp).collect();
            let total: f64 = weights.iter().sum();
            for (weight, v) in weights.iter().zip(v) {
                part.clone().for_each(|i| out[i] += weight / total * v[i]);
            }
        }
    }
    out
}

fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + erf(x / std::f64::consts::SQRT_2))
}

/// By its power series, or the limit where that is exact to the last digit.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return x.signum();
    }
    let (mut term, mut total) = (x, x);
    for n in 1..200 {
        let n = f64::from(n);
        term *= -x * x / n;
        total += term / (2.0 * n + 1.0);
    }
    total * 2.0 / std::f64::consts::PI.sqrt()
}
