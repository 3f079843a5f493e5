//! Random plans through the builder, with everything that a file can hold.

use crate::error::Result;
use crate::op::{CubeMath, DataType, GeluForm, aclnn};
use crate::plan::recipe::Cores;
use crate::plan::{
    After, Builder, Dim, Foreign, Fork, HostFunction, Inferred, Input, OnMove, Options, Plan, Quantity, Registry,
    Scope, Value,
};
use crate::prefetch::Prefetch;

/// The code of the functions of all plans here.
pub(super) fn foreign() -> Foreign {
    Foreign::new("test.foreign", 2, |_| Ok(())).needs(Cores { cube: 1, vector: 2 })
}

pub(super) fn host() -> HostFunction {
    HostFunction::new("test.host", 7, |_| {})
}

pub(super) fn registry() -> Registry {
    Registry::new().foreign(&foreign()).host_function(&host())
}

/// A plan of about `size` steps; the same for the same seed.
pub(super) fn plan(seed: u64, size: usize) -> Plan {
    let mut random = fastrand::Rng::with_seed(seed);
    let cap = if random.bool() { 0.5 } else { 1.0 };
    let options = Options::default().prefetch_cap(cap);
    let built = Plan::build_with(options, |g| Random { g, random: &mut random, ready: Vec::new() }.all(size));
    built.unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

struct Random<'a> {
    g: &'a Builder,
    random: &'a mut fastrand::Rng,
    /// Values that all work of the origin may read.
    ready: Vec<Value>,
}

const WIDTH: usize = 8;

impl Random<'_> {
    fn all(&mut self, size: usize) -> Result<()> {
        let rows = match self.random.u8(..3) {
            0 => Dim::from(4),
            1 => self.g.symbol("rows", 0..=16)?,
            _ => {
                self.g.symbol("other", 1..=2)?;
                self.g.symbol("rows", 1..=64)? * 2 + 1
            }
        };
        let classes = [
            Input::Static,
            Input::Copied,
            Input::Tracked(OnMove::Recapture),
            Input::Tracked(OnMove::Fail),
            Input::Updatable,
            Input::Host,
        ];
        for index in 0..self.random.usize(1..3) {
            // The memory of a static input is made once, so it cannot have symbols.
            let first = usize::from(rows.as_fixed().is_none());
            let class = classes[self.random.usize(first..classes.len())];
            let dims = [rows, Dim::from(WIDTH)];
            let input = self.g.input(&format!("in{index}"), dims, DataType::F32, class)?;
            self.ready.push(input);
        }
        let weight = self.g.input("weight", [WIDTH, WIDTH], DataType::F32, Input::Frozen)?;
        let bias = self.g.constant(&[0.5_f32; WIDTH], [WIDTH])?;
        let gate = self.g.external("gate")?;
        for step in 0..size {
            self.step(step, weight, bias)?;
        }
        if self.random.bool() {
            self.g.record_external(gate)?;
        }
        if self.random.bool() {
            self.g.wait_external(gate)?;
        }
        for (index, value) in std::mem::take(&mut self.ready).into_iter().rev().take(2).enumerate() {
            let name = format!("out{index}");
            let output = if self.random.bool() { Builder::output_to_host } else { Builder::output };
            // Refused for an updatable input itself.
            if output(self.g, &name, value).is_err() {
                let value = self.g.abs(value)?;
                output(self.g, &name, value)?;
            }
        }
        Ok(())
    }

    fn any(&mut self) -> Value {
        self.ready[self.random.usize(..self.ready.len())]
    }

    fn step(&mut self, step: usize, weight: Value, bias: Value) -> Result<()> {
        let a = self.any();
        match self.random.u8(..13) {
            0 => self.side(step, a)?,
            1 => self.event(step, a)?,
            2 => self.waited(step, a)?,
            3 => self.views(a)?,
            4 => self.functions(step, a)?,
            5 => {
                let after = if self.random.bool() { After::Value(a) } else { After::Start };
                self.g.prefetch(weight, Prefetch::bytes(1 + step), after)?;
            }
            6 => {
                let product = self.g.matmul_with(a, weight, CubeMath::UseHf32)?;
                let sum = self.g.add(product, bias)?;
                self.ready.push(sum);
            }
            7 => {
                let math = self.g.gelu(a, GeluForm::Tanh)?;
                let sum = self.g.layer_norm(math, bias, bias, 1e-5)?;
                self.ready.push(sum);
            }
            8 => {
                let dims = self.g.dims(a)?.to_vec();
                let out = self.g.empty(dims, DataType::F32)?;
                match self.random.bool() {
                    // Refused for an updatable input.
                    true => self.g.copy(a, out).or_else(|_| aclnn::inplace_copy(self.g, &mut { out }, &a))?,
                    false => self.g.fill_bytes(out, 7)?,
                }
                aclnn::muls(self.g, &out, 0.5_f32, &mut { out })?;
                self.ready.push(out);
            }
            9 => {
                let back = self.g.cast(a, DataType::F16)?;
                let sum = self.g.softmax(back, -1)?;
                let sum = self.g.cast(sum, DataType::F32)?;
                self.ready.push(sum);
            }
            10 => {
                let all = self.g.reduce_sum(a, &[-1], true)?;
                let turned = self.g.permute(a, &[1, 0])?;
                let turned = self.g.permute(turned, &[1, 0])?;
                let value = self.g.sub(turned, all)?;
                self.ready.push(value);
            }
            11 => self.by_name(a)?,
            _ => {
                let b = self.any();
                let value = self.g.add_scaled(a, b, f64::NAN)?;
                self.ready.push(value);
            }
        }
        Ok(())
    }

    /// Operators by their C names, with arguments of several kinds.
    fn by_name(&mut self, a: Value) -> Result<()> {
        let dims = self.g.dims(a)?;
        let mut out = self.g.empty(dims.clone(), DataType::F32)?;
        match self.random.u8(..4) {
            0 => {
                let mut order = self.g.empty(dims, DataType::I64)?;
                aclnn::sort(self.g, &a, true, -1, false, &mut out, &mut order)?;
            }
            1 => {
                let both = dims.into_iter().enumerate().map(|(i, dim)| if i == 0 { dim * 2 } else { dim });
                let mut both = self.g.empty(both.collect::<Vec<_>>(), DataType::F32)?;
                let b = self.g.abs(a)?;
                aclnn::cat(self.g, &[&a, &b], 0, &mut both)?;
                aclnn::relu(self.g, &a, &mut out)?;
            }
            2 => aclnn::gelu_backward_v2(self.g, &a, &a, "tanh", &mut out)?,
            _ => {
                aclnn::relu(self.g, &a, &mut out)?;
                let alpha = Quantity::from(dims[0]).times(0.5);
                aclnn::inplace_adds(&self.g.telling("alpha", alpha), &mut out, 0.5_f32, 1.0_f32)?;
            }
        }
        self.ready.push(out);
        Ok(())
    }

    /// Work on another stream, joined.
    fn side(&mut self, step: usize, a: Value) -> Result<()> {
        let tag = format!("side{}", self.random.u8(..3));
        let mut scope = Scope::new();
        if self.random.bool() {
            scope = scope.cores(Cores { cube: self.random.u32(..3), vector: 1 });
        }
        let value = self.g.scope_with(&tag, scope, |g| {
            let first = g.muls(a, step as i64)?;
            g.scope("inner", |g| g.tanh(first))
        })?;
        self.g.record_stream(a, &tag)?;
        self.g.join("inner")?;
        self.g.join(&tag)?;
        self.ready.push(value);
        Ok(())
    }

    /// Work on another stream that an event orders; the builder joins it at the end.
    fn event(&mut self, step: usize, a: Value) -> Result<()> {
        let event = self.g.event(&format!("event{step}"))?;
        let scope = Scope::new().fork(Fork::Here).priority(3);
        let value = self.g.scope_with("events", scope, |g| {
            let value = g.abs(a)?;
            g.record(&event)?;
            Ok(value)
        })?;
        self.g.wait(&event)?;
        self.ready.push(value);
        Ok(())
    }

    fn waited(&mut self, step: usize, a: Value) -> Result<()> {
        let side = self.g.scope(&format!("values{}", step % 2), |g| g.adds(a, 1.0))?;
        let later = self.g.wait_value(a, side)?;
        let value = self.g.maximum(later, side)?;
        self.ready.push(value);
        Ok(())
    }

    fn views(&mut self, a: Value) -> Result<()> {
        let turned = self.g.transpose(a, 0, 1)?;
        let part = self.g.narrow(turned, 0, 2..4)?;
        let mut value = Inferred::new();
        aclnn::inplace_copy(self.g, &mut value, &part)?;
        let value = value.value()?;
        let flat = self.g.dims(value)?.iter().fold(Dim::from(1), |product, dim| product * *dim);
        let flat = self.g.reshape(value, [flat])?;
        self.g.tanh(flat)?;
        Ok(())
    }

    fn functions(&mut self, step: usize, a: Value) -> Result<()> {
        let out = self.g.empty([4, WIDTH], DataType::I16)?;
        let part = self.g.bytes(out, 2..10)?;
        let mut foreign = foreign();
        if self.random.bool() {
            foreign = foreign.attributes([step as u8, 1]);
        }
        self.g.foreign(&foreign, &[a], &[part, out])?;
        self.g.host_function(&host().attributes([9_u8; 3]))
    }
}
