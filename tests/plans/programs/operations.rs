//! The statements of random plans.

use racl::op::{DataType, GeluForm, Scalar, aclnn};
use racl::plan::{Builder, Dim, Number, Value};
use racl::{ErrorKind, Result};

use super::{Known, Writer, numbers, typed};

impl Writer {
    /// One piece of work on stream `tag`.
    pub(super) fn statement(&mut self, g: &Builder, tag: usize) -> Result<()> {
        match self.dice.below(100) {
            0..18 => self.pair(g, tag),
            18..33 => self.single(g, tag),
            33..43 => self.product(g, tag),
            43..47 => self.normalised(g, tag),
            47..55 => self.reduced(g, tag),
            55..60 => self.casts(g, tag),
            60..64 => self.permuted(g, tag),
            64..73 => self.view(g),
            73..82 => self.in_place(g, tag),
            82..86 => self.copied(g, tag),
            86..90 => self.filled(g, tag),
            90..94 => self.embedded(g, tag),
            94..97 => {
                self.prefetch(g);
                Ok(())
            }
            _ => self.wait_value(g),
        }
    }

    /// Issues an operator on `reads`, if it takes them; gives its result.
    fn issue(
        &mut self,
        g: &Builder,
        tag: usize,
        reads: &[&Known],
        work: impl FnOnce(&Builder, &[Value]) -> Result<Value>,
    ) -> Result<Option<Known>> {
        let reads: Vec<Known> = reads.iter().map(|one| (*one).clone()).collect();
        self.order(g, tag, &reads, &[])?;
        let values: Vec<Value> = reads.iter().map(|one| one.value).collect();
        let value = match work(g, &values) {
            // Shapes that do not fit.
            Err(error) if error.kind() == ErrorKind::InvalidPlan => return Ok(None),
            done => done?,
        };
        let one = self.root(g, value, true)?;
        self.note(tag, &reads, std::slice::from_ref(&one));
        Ok(Some(one))
    }

    /// A value of this type and shape: one that there is, a constant or a new one.
    fn matching(&mut self, g: &Builder, tag: usize, dims: &[Dim], dtype: DataType) -> Result<Known> {
        let fits: Vec<Known> =
            self.known.iter().filter(|one| one.dims == dims && one.dtype == dtype).cloned().collect();
        if !fits.is_empty() && self.dice.chance(700) {
            return Ok(fits[self.dice.index(fits.len())].clone());
        }
        let fixed: Option<Vec<usize>> = dims.iter().map(|dim| dim.as_fixed()).collect();
        if let Some(count) = fixed.map(|sizes| sizes.iter().product::<usize>())
            && self.dice.chance(700)
        {
            let value = typed!(dtype, T => g.constant(&numbers::<T>(&mut self.dice, count), dims)?);
            return self.root(g, value, false);
        }
        let value = g.full(dims, dtype, self.number())?;
        let one = self.root(g, value, true)?;
        self.note(tag, &[], std::slice::from_ref(&one));
        Ok(one)
    }

    fn number(&mut self) -> Number {
        match self.dice.below(4) {
            0 => Number::Int(i64::from(self.dice.below(7)) - 3),
            _ => Number::Float(f64::from(self.dice.below(4000)) / 1000.0 - 2.0),
        }
    }

    fn arithmetic(&mut self) -> Arithmetic {
        match self.dice.below(6) {
            0 => Arithmetic::Add,
            1 => Arithmetic::Sub,
            2 => Arithmetic::Mul,
            3 => Arithmetic::Div,
            4 => Arithmetic::AddScaled(self.number()),
            _ => Arithmetic::Maximum,
        }
    }

    fn pair(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let (a, mut b) = (self.pick_float(), self.pick_float());
        if b.dtype != a.dtype || self.dice.chance(300) {
            b = self.matching(g, tag, &a.dims, a.dtype)?;
        }
        let operator = self.arithmetic();
        if self.issue(g, tag, &[&a, &b], |g, values| operator.of(g, values))?.is_none() {
            let b = self.matching(g, tag, &a.dims, a.dtype)?;
            self.issue(g, tag, &[&a, &b], |g, values| operator.of(g, values))?;
        }
        Ok(())
    }

    fn single(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick_float();
        let operator = match self.dice.below(9) {
            0 => Arithmetic::Muls(self.number()),
            1 => Arithmetic::Adds(self.number()),
            2 => Arithmetic::Divs(self.number()),
            3 => Arithmetic::ClampMin(self.number()),
            4 => Arithmetic::Tanh,
            5 => Arithmetic::Gelu(GeluForm::Exact),
            6 => Arithmetic::Gelu(GeluForm::Tanh),
            kind => {
                let Some(positive) = self.issue(g, tag, &[&a], |g, values| g.abs(values[0]))? else { return Ok(()) };
                let root = if kind == 7 { Arithmetic::Sqrt } else { Arithmetic::Rsqrt };
                return self.issue(g, tag, &[&positive], |g, values| root.of(g, values)).map(drop);
            }
        };
        self.issue(g, tag, &[&a], |g, values| operator.of(g, values)).map(drop)
    }

    fn product(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick_float();
        let Some(k) = a.dims.last().copied() else { return Ok(()) };
        let rank = a.dims.len();
        let width = if self.dice.chance(500) { k } else { Dim::from(1 + self.dice.index(4)) };
        let b = match self.dice.below(3) {
            0 if rank >= 2 => {
                let value = g.transpose(a.value, rank - 1, rank - 2)?;
                self.view_of(g, value, a.root)?
            }
            _ => self.matching(g, tag, &[k, width], a.dtype)?,
        };
        match self.dice.below(3) {
            0 if rank == 2 => self.issue(g, tag, &[&a, &b], |g, values| g.mm(values[0], values[1])).map(drop),
            1 if rank == 2 => {
                let columns = b.dims[1];
                let bias = self.matching(g, tag, &[columns], a.dtype)?;
                self.issue(g, tag, &[&bias, &a, &b], |g, values| g.addmm(values[0], values[1], values[2])).map(drop)
            }
            0 if rank == 3 => {
                self.issue(g, tag, &[&a, &b], |g, values| g.batch_matmul(values[0], values[1])).map(drop)
            }
            _ => self.issue(g, tag, &[&a, &b], |g, values| g.matmul(values[0], values[1])).map(drop),
        }
    }

    fn normalised(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick_float();
        let rank = a.dims.len();
        if rank == 0 {
            return Ok(());
        }
        if self.dice.chance(500) {
            let dim = self.dice.index(rank) as i64;
            return self.issue(g, tag, &[&a], |g, values| g.softmax(values[0], dim)).map(drop);
        }
        let over = self.dice.index(rank);
        let (weight, bias) =
            (self.matching(g, tag, &a.dims[over..], a.dtype)?, self.matching(g, tag, &a.dims[over..], a.dtype)?);
        self.issue(g, tag, &[&a, &weight, &bias], |g, v| g.layer_norm(v[0], v[1], v[2], 1e-5)).map(drop)
    }

    fn reduced(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick_float();
        let dims: Vec<i64> = (0..a.dims.len() as i64).filter(|_| self.dice.chance(500)).collect();
        let (mean, keep) = (self.dice.chance(500), self.dice.chance(500));
        let work = |g: &Builder, values: &[Value]| match mean {
            true => g.mean(values[0], &dims, keep),
            false => g.reduce_sum(values[0], &dims, keep),
        };
        self.issue(g, tag, &[&a], work).map(drop)
    }

    fn casts(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick_float();
        let types = [DataType::F16, DataType::Bf16, DataType::F32];
        let there = types[self.dice.index(types.len())];
        let cast = self.issue(g, tag, &[&a], |g, values| g.cast(values[0], there))?;
        if let (Some(cast), true) = (cast, self.dice.chance(600)) {
            self.issue(g, tag, &[&cast], |g, values| g.cast(values[0], a.dtype))?;
        }
        Ok(())
    }

    fn permuted(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick();
        let mut order: Vec<usize> = (0..a.dims.len()).collect();
        for index in 1..order.len() {
            order.swap(index, self.dice.index(index + 1));
        }
        self.issue(g, tag, &[&a], |g, values| g.permute(values[0], &order)).map(drop)
    }

    fn view(&mut self, g: &Builder) -> Result<()> {
        let a = self.pick_float();
        let rank = a.dims.len();
        if rank == 0 {
            return Ok(());
        }
        let (dim, other) = (self.dice.index(rank), self.dice.index(rank));
        let view = match self.dice.below(4) {
            0 => g.transpose(a.value, dim, other),
            1 => {
                let whole = a.dims.iter().fold(Dim::from(1), |product, dim| product * *dim);
                g.reshape(a.value, [whole])
            }
            2 => {
                let mut dims = a.dims.clone();
                dims.insert(dim, Dim::from(1));
                g.reshape(a.value, dims)
            }
            _ => match a.dims[dim].as_fixed() {
                Some(size) => {
                    let start = self.dice.index(size);
                    let end = start + 1 + self.dice.index(size - start);
                    g.narrow(a.value, dim, start..end)
                }
                // At least one of a size that nobody knows.
                None if self.dice.chance(500) => g.narrow(a.value, dim, 0..1),
                None => g.narrow(a.value, dim, Dim::from(0)..a.dims[dim]),
            },
        };
        // Refused for a value with gaps.
        if let Ok(view) = view {
            self.view_of(g, view, a.root)?;
        }
        Ok(())
    }

    fn in_place(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick_float();
        if !self.roots[a.root].writable {
            return Ok(());
        }
        let mut reads = vec![a.clone()];
        let operator = match self.dice.below(4) {
            0 => Arithmetic::Adds(self.number()),
            1 => Arithmetic::Muls(self.number()),
            2 => Arithmetic::Tanh,
            _ => {
                reads.push(self.matching(g, tag, &a.dims, a.dtype)?);
                self.arithmetic()
            }
        };
        if self.dice.chance(200) {
            // Of something else, in its place.
            reads[0] = self.matching(g, tag, &a.dims, a.dtype)?;
        }
        self.order(g, tag, &reads, std::slice::from_ref(&a))?;
        let values: Vec<Value> = reads.iter().map(|one| one.value).collect();
        // Refused for an operand that overlaps the result in another way.
        if operator.into(g, &values, a.value).is_ok() {
            self.roots[a.root].rewritten = true;
            self.note(tag, &reads, &[a]);
        }
        Ok(())
    }

    fn copied(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick();
        if self.roots[a.root].updatable {
            return Ok(());
        }
        self.order(g, tag, std::slice::from_ref(&a), &[])?;
        let value = g.empty(a.dims.as_slice(), a.dtype)?;
        if self.dice.chance(300) || g.copy(a.value, value).is_err() {
            aclnn::inplace_copy(g, &mut { value }, &a.value)?;
        }
        let one = self.root(g, value, a.dtype != DataType::I64)?;
        self.note(tag, &[a], &[one]);
        Ok(())
    }

    fn filled(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let a = self.pick_float();
        let byte = [0, 0x3c, 0xbf, 0xff][self.dice.index(4)];
        if self.dice.chance(500) && self.roots[a.root].writable && !self.roots[a.root].updatable {
            self.order(g, tag, &[], std::slice::from_ref(&a))?;
            // Refused for a value with gaps.
            if g.fill_bytes(a.value, byte).is_ok() {
                self.roots[a.root].rewritten = true;
                self.note(tag, &[], &[a]);
            }
            return Ok(());
        }
        let value = if self.dice.chance(500) {
            let value = g.empty(a.dims.as_slice(), a.dtype)?;
            g.fill_bytes(value, byte)?;
            value
        } else {
            g.full(a.dims.as_slice(), a.dtype, self.number())?
        };
        let one = self.root(g, value, true)?;
        self.note(tag, &[], &[one]);
        Ok(())
    }

    fn embedded(&mut self, g: &Builder, tag: usize) -> Result<()> {
        let tables: Vec<Known> =
            self.known.iter().filter(|one| one.is_float() && one.dims.len() == 2).cloned().collect();
        if tables.is_empty() {
            return Ok(());
        }
        let table = tables[self.dice.index(tables.len())].clone();
        let inputs: Vec<Known> = self.known.iter().filter(|one| !one.is_float()).cloned().collect();
        let rows = table.dims[0].as_fixed().unwrap_or(1);
        // Indices that are inputs are 0 or 1.
        let indices = if !inputs.is_empty() && rows >= 2 && self.dice.chance(700) {
            inputs[self.dice.index(inputs.len())].clone()
        } else {
            let indices: Vec<i64> = (0..1 + self.dice.index(3)).map(|_| self.dice.index(rows) as i64).collect();
            let value = g.constant(&indices, [indices.len()])?;
            let one = self.root(g, value, false)?;
            // Not for other tables, which have other rows.
            self.known.retain(|other| other.root != one.root);
            one
        };
        self.issue(g, tag, &[&table, &indices], |g, values| g.embedding(values[0], values[1])).map(drop)
    }

    fn wait_value(&mut self, g: &Builder) -> Result<()> {
        let (from, dependency) = (self.pick(), self.pick());
        let value = g.wait_value(from.value, dependency.value)?;
        self.view_of(g, value, from.root).map(drop)
    }
}

/// Operators that work element by element.
#[derive(Debug, Clone, Copy)]
enum Arithmetic {
    Add,
    AddScaled(Number),
    Sub,
    Mul,
    Div,
    Maximum,
    Adds(Number),
    Muls(Number),
    Divs(Number),
    ClampMin(Number),
    Tanh,
    Sqrt,
    Rsqrt,
    Gelu(GeluForm),
}

impl Arithmetic {
    /// A new value.
    fn of(self, g: &Builder, x: &[Value]) -> Result<Value> {
        match self {
            Self::Add => g.add(x[0], x[1]),
            Self::AddScaled(alpha) => g.add_scaled(x[0], x[1], alpha),
            Self::Sub => g.sub(x[0], x[1]),
            Self::Mul => g.mul(x[0], x[1]),
            Self::Div => g.div(x[0], x[1]),
            Self::Maximum => g.maximum(x[0], x[1]),
            Self::Adds(value) => g.adds(x[0], value),
            Self::Muls(value) => g.muls(x[0], value),
            Self::Divs(value) => g.divs(x[0], value),
            Self::ClampMin(least) => g.clamp_min(x[0], least),
            Self::Tanh => g.tanh(x[0]),
            Self::Sqrt => g.sqrt(x[0]),
            Self::Rsqrt => g.rsqrt(x[0]),
            Self::Gelu(form) => g.gelu(x[0], form),
        }
    }

    /// Into a value that there is.
    fn into(self, g: &Builder, x: &[Value], mut out: Value) -> Result<()> {
        let (dtype, out) = (g.dtype(out)?, &mut out);
        let scalar = |number: Number| scalar(number, dtype);
        let one = scalar(Number::Int(1));
        match self {
            Self::Add => aclnn::add(g, &x[0], &x[1], one, out),
            Self::AddScaled(alpha) => aclnn::add(g, &x[0], &x[1], scalar(alpha), out),
            Self::Sub => aclnn::sub(g, &x[0], &x[1], one, out),
            Self::Mul => aclnn::mul(g, &x[0], &x[1], out),
            Self::Div => aclnn::div(g, &x[0], &x[1], out),
            Self::Maximum => aclnn::maximum(g, &x[0], &x[1], out),
            Self::Adds(value) => aclnn::adds(g, &x[0], scalar(value), one, out),
            Self::Muls(value) => aclnn::muls(g, &x[0], scalar(value), out),
            Self::Divs(value) => aclnn::divs(g, &x[0], scalar(value), out),
            Self::ClampMin(least) => aclnn::clamp_min(g, &x[0], scalar(least), out),
            Self::Tanh => aclnn::tanh(g, &x[0], out),
            Self::Sqrt => aclnn::sqrt(g, &x[0], out),
            Self::Rsqrt => aclnn::rsqrt(g, &x[0], out),
            Self::Gelu(form) => aclnn::gelu_v2(g, &x[0], i64::from(form == GeluForm::Tanh), out),
        }
    }
}

/// A number of a type of floats.
fn scalar(number: Number, dtype: DataType) -> Scalar {
    let number = match number {
        Number::Float(number) => number,
        Number::Int(number) => number as f64,
    };
    match dtype {
        DataType::F16 => racl::half::f16::from_f64(number).into(),
        DataType::Bf16 => racl::half::bf16::from_f64(number).into(),
        _ => (number as f32).into(),
    }
}
