//! Operators in a plan.

use std::panic::Location;

use crate::error::Result;
use crate::op::{CubeMath, DataType, GeluForm, MAX_RANK};
use crate::plan::check::finding::FindingKind;
use crate::plan::recipe::element::{element_in_range, element_of};
use crate::plan::recipe::operator::{Number, Operator, Order, Reduction};
use crate::plan::recipe::{NodeKind, StorageKind};
use crate::plan::symbols::dim::{IntoDims, name_symbols};

use super::{At, Builder, Value};

impl Builder {
    /// Issues an operator; its result is a new value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for operands that do not fit the operator, or of
    /// another plan.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Operator, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.op(Operator::Abs, &[x])?; // or g.abs(x)
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, -4.0], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn op(&mut self, operator: Operator, operands: &[Value]) -> Result<Value> {
        self.op_at(operator, operands, Location::caller())
    }

    fn op_at(&mut self, operator: Operator, operands: &[Value], at: At) -> Result<Value> {
        let (dtype, dims) = self.infer(&operator, operands, at)?;
        if let Some(rewrite) = self.rewrite_of(&operator, at)? {
            return self.rewritten(operator, operands, rewrite, &(dtype, dims), at);
        }
        let (storages, values) = (self.recipe.storages.len(), self.recipe.values.len());
        let out = self.memory(StorageKind::Temporary, &dims, dtype, at)?;
        let issued = self.op_into_at(operator, operands, out, at);
        if issued.is_err() {
            self.recipe.storages.truncate(storages);
            self.recipe.values.truncate(values);
            self.producers.truncate(values);
        }
        issued.map(|()| out)
    }

    fn infer(&self, operator: &Operator, operands: &[Value], at: At) -> Result<(DataType, Vec<crate::plan::Dim>)> {
        for value in operands {
            self.check(*value, operator.name(), at)?;
        }
        let views: Vec<_> = operands.iter().map(|value| self.operand(*value)).collect();
        match operator.infer(&views) {
            Ok(result) => self.check_number(operator, views[0].dtype, at).map(|()| result),
            Err(text) => {
                let text = name_symbols(&text, &self.recipe.symbol_names());
                self.wrong(FindingKind::Operand, at, format_args!("{}: {text}", operator.name()))
            }
        }
    }

    /// Issues an operator that writes its result to `out`. For an operator that works element by element that may be
    /// an operand itself, which is then computed in place.
    ///
    /// # Errors
    ///
    /// As [`Builder::op`]; also for a result of another shape or type than `out`, one that overlaps an operand in
    /// another way, and for a constant.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Operator, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.adds(x, 1.0)?;
    ///     g.op_into(Operator::Mul, &[y, x], y)?; // in place
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.0, 20.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn op_into(&mut self, operator: Operator, operands: &[Value], out: Value) -> Result<()> {
        let at = Location::caller();
        self.check(out, operator.name(), at)?;
        let layout = self.recipe.layout_of(out.index);
        let mut rewrite = None;
        if matches!(operator, Operator::Fill { .. }) {
            if !operands.is_empty() {
                let text = format!("fill: {} operands; it takes none", operands.len());
                return self.wrong(FindingKind::Operand, at, text);
            }
            self.check_number(&operator, layout.dtype, at)?;
        } else {
            let (dtype, dims) = self.infer(&operator, operands, at)?;
            rewrite = self.rewrite_of(&operator, at)?.map(|rewrite| (rewrite, (dtype, dims.clone())));
            let same = layout.dims == dims
                || (operator == Operator::Copy
                    && crate::plan::recipe::operator::broadcast(&dims, &layout.dims).as_ref() == Ok(&layout.dims));
            if !same || (layout.dtype != dtype && operator != Operator::Copy) {
                let name = operator.name();
                let (dims, into) = (self.show(&dims), self.show(&layout.dims));
                let text = format!("{name}: {dtype:?} {dims} into {:?} {into}", layout.dtype);
                return self.wrong(FindingKind::Operand, at, text);
            }
        }
        self.check_target(&operator, operands, out, at)?;
        match rewrite {
            None => self.op_into_at(operator, operands, out, at),
            Some((rewrite, expected)) => {
                let value = self.rewritten(operator, operands, rewrite, &expected, at)?;
                self.op_into_at(Operator::Copy, &[value], out, at)
            }
        }
    }

    /// That the number of an operator is one of the type that it computes in. An operand may take a factor past its
    /// range to infinity, as its own products do; a fill has no such reason.
    fn check_number(&self, operator: &Operator, dtype: DataType, at: At) -> Result<()> {
        let element = match *operator {
            Operator::Fill { value } => element_in_range(value, dtype),
            Operator::Adds { value } | Operator::Muls { value } | Operator::Divs { value } => {
                element_of(value, dtype)
            }
            Operator::AddScaled { alpha: value } | Operator::ClampMin { least: value } => element_of(value, dtype),
            _ => return Ok(()),
        };
        match element {
            Ok(_) => Ok(()),
            Err(text) => {
                let name = operator.name();
                self.wrong(FindingKind::Operand, at, format_args!("the number of {name}: {text}"))
            }
        }
    }

    /// That the result does not run into an operand.
    fn check_target(&self, operator: &Operator, operands: &[Value], out: Value, at: At) -> Result<()> {
        let info = |value: Value| &self.recipe.values[value.index as usize];
        let target = info(out);
        let storage = &self.recipe.storages[target.storage as usize];
        if let StorageKind::Constant(_) = storage.kind {
            return self.wrong(FindingKind::Operand, at, format_args!("{} into a constant", operator.name()));
        }
        let bounds = self.recipe.bounds();
        for operand in operands {
            let same = info(*operand) == target;
            if same && operator.works_in_place() {
                continue;
            }
            if crate::plan::overlap::ranges::may_overlap(&self.recipe, operand.index, out.index, &bounds) {
                let how = if same { "which it cannot compute in place" } else { "which overlaps its result" };
                let text = format!("{}: an operand {how}", operator.name());
                return self.wrong(FindingKind::Operand, at, text);
            }
        }
        Ok(())
    }

    fn op_into_at(&mut self, operator: Operator, operands: &[Value], out: Value, at: At) -> Result<()> {
        let mut uses = [Self::write(out); 4];
        for (one, operand) in uses.iter_mut().zip(operands) {
            *one = Self::read(*operand);
        }
        uses[operands.len()] = Self::write(out);
        self.emit(NodeKind::Op(operator), &uses[..=operands.len()], at).map(drop)
    }

    /// Copies the bytes of `from` to `to`, which are dense and of one size; [`Builder::op_into`] with
    /// [`Operator::Copy`] takes any views.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for values with gaps, of different sizes, that
    /// overlap, or of another plan, for a copy into a constant, for an [updatable](crate::plan::Input::Updatable)
    /// input, and for views with symbols that differ in type or shape.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], F32, Input::Copied)?;
    ///     let y = g.empty([2], F32)?;
    ///     g.copy(x, y)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyAsync")]
    #[track_caller]
    pub fn copy(&mut self, from: Value, to: Value) -> Result<()> {
        let at = Location::caller();
        self.check(from, "copy", at)?;
        self.check(to, "copy", at)?;
        let (a, b) = (self.recipe.layout_of(from.index), self.recipe.layout_of(to.index));
        if !a.is_dense() || !b.is_dense() || a.bytes() != b.bytes() {
            let (from, to) = (self.show(&a.dims), self.show(&b.dims));
            let text = format!("copy of {:?} {from} to {:?} {to}", a.dtype, b.dtype);
            return self.wrong(FindingKind::Operand, at, text);
        }
        self.check_target(&Operator::Copy, &[from], to, at)?;
        let (a, b) = (self.recipe.layout_of(from.index), self.recipe.layout_of(to.index));
        if a == b || self.is_plain_copy(from, to) {
            return self.copy_at(from, to, at);
        }
        // The copy operator would convert the elements, or refuse the shapes.
        let Some(bytes) = a.bytes().and_then(|bytes| bytes.as_fixed()) else {
            let text = "copy of a view with symbols to another type or shape";
            return self.wrong(FindingKind::Operand, at, text);
        };
        let (source, target) = (self.bytes(from, 0..bytes as usize)?, self.bytes(to, 0..bytes as usize)?);
        self.copy_at(source, target, at)?;
        Ok(())
    }

    /// A byte copy between dense values, the copy operator for others.
    pub(super) fn copy_at(&mut self, from: Value, to: Value, at: At) -> Result<()> {
        let uses = [Self::read(from), Self::write(to)];
        if !self.is_plain_copy(from, to) {
            return self.emit(NodeKind::Op(Operator::Copy), &uses, at).map(drop);
        }
        self.check_updates("copy", &[from, to], at)?;
        self.emit(NodeKind::Copy, &uses, at).map(drop)
    }

    /// Whether the runtime's copies take it: dense, and at addresses of whole blocks.
    pub(super) fn is_plain_copy(&self, from: Value, to: Value) -> bool {
        let aligned = |value: Value| {
            let offset = &self.recipe.values[value.index as usize].offset;
            offset.as_fixed().is_some_and(|offset| offset.is_multiple_of(64))
        };
        self.recipe.layout_of(from.index).is_dense() && aligned(from) && aligned(to)
    }

    /// Sets every byte of `value`, which is dense.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) for a value with gaps or of another plan, for a
    /// constant, and for an [updatable](crate::plan::Input::Updatable) input.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Input, Operator, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], I32, Input::Copied)?;
    ///     let y = g.empty([2], I32)?;
    ///     g.fill_bytes(y, 0xff)?;
    ///     g.op_into(Operator::Add, &[y, x], y)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1_i32, 4], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<i32>("y")?, [0, 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemsetAsync")]
    #[track_caller]
    pub fn fill_bytes(&mut self, value: Value, byte: u8) -> Result<()> {
        let at = Location::caller();
        self.check(value, "fill_bytes", at)?;
        if !self.recipe.layout_of(value.index).is_dense() {
            return self.wrong(FindingKind::Operand, at, "fill_bytes of a value with gaps");
        }
        self.check_target(&Operator::Fill { value: Number::Int(0) }, &[], value, at)?;
        self.check_updates("fill_bytes", &[value], at)?;
        self.emit(NodeKind::FillBytes(byte), &[Self::write(value)], at).map(drop)
    }

    /// A new value whose elements are all `number`, which is rounded to one of the type, as `torch.full` does: -0.0
    /// keeps its sign, infinities and NaN are what they are. Integer types take integers only.
    ///
    /// # Errors
    ///
    /// As [`Builder::empty`]; also for a number that the type cannot hold, such as 300 in [`DataType::U8`], 0.5 in
    /// [`DataType::I32`], and 1e10 in [`DataType::F16`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::I32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2], I32, Input::Copied)?;
    ///     assert!(g.full([2], I32, 0.5).is_err());
    ///     let five = g.full([2], I32, 5)?;
    ///     let y = g.add(x, five)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1_i32, 4], [2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<i32>("y")?, [6, 9]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn full(&mut self, dims: impl IntoDims, dtype: DataType, number: impl Into<Number>) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dims_of(dims, at)?;
        let fill = Operator::Fill { value: number.into() };
        self.check_number(&fill, dtype, at)?;
        let out = self.memory(StorageKind::Temporary, &dims, dtype, at)?;
        self.op_into_at(fill, &[], out, at)?;
        Ok(out)
    }

    /// [`op::permute`](crate::op::permute): dimension `i` of the result is dimension `order[i]` of `a`.
    ///
    /// # Errors
    ///
    /// As [`Builder::op`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [1, 2, 3], F32, Input::Copied)?;
    ///     let y = g.permute(x, &[2, 0, 1])?; // [3, 1, 2]
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 2, 3])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn permute(&mut self, a: Value, order: &[usize]) -> Result<Value> {
        let at = Location::caller();
        let mut dims = [0; MAX_RANK];
        if order.len() > MAX_RANK || order.iter().any(|dim| *dim >= MAX_RANK) {
            return self.wrong(FindingKind::Operand, at, format_args!("permute: the order {order:?}"));
        }
        dims.iter_mut().zip(order).for_each(|(to, from)| *to = *from as u8);
        self.op_at(Operator::Permute { order: Order { rank: order.len() as u8, dims } }, &[a], at)
    }

    /// [`op::softmax`](crate::op::softmax) over dimension `dim`, negative ones counted from the end.
    ///
    /// # Errors
    ///
    /// As [`Builder::op`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 2], F32, Input::Copied)?;
    ///     let y = g.softmax(x, -1)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 1.0, 7.0, 7.0], [2, 2])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [0.5; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn softmax(&mut self, a: Value, dim: i64) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dim_bits("softmax", a, &[dim], at)?;
        self.op_at(Operator::Softmax { dim: dims.trailing_zeros() as u8 }, &[a], at)
    }

    /// [`op::reduce_sum`](crate::op::reduce_sum) over `dims`, all of them when there is none.
    ///
    /// # Errors
    ///
    /// As [`Builder::op`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 3], F32, Input::Copied)?;
    ///     let y = g.reduce_sum(x, &[1], false)?; // [2]; [2, 1] with `true`
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [6.0, 15.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_sum(&mut self, a: Value, dims: &[i64], keep: bool) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dim_bits("reduce_sum", a, dims, at)?;
        self.op_at(Operator::ReduceSum { over: Reduction { dims, keep } }, &[a], at)
    }

    /// [`op::mean`](crate::op::mean) over `dims`, all of them when there is none.
    ///
    /// # Errors
    ///
    /// As [`Builder::op`].
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, Plan, Simulated};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [2, 3], F32, Input::Copied)?;
    ///     let y = g.mean(x, &[0], false)?;
    ///     g.output("y", y)
    /// })?;
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.5, 3.5, 4.5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn mean(&mut self, a: Value, dims: &[i64], keep: bool) -> Result<Value> {
        let at = Location::caller();
        let dims = self.dim_bits("mean", a, dims, at)?;
        self.op_at(Operator::Mean { over: Reduction { dims, keep } }, &[a], at)
    }

    fn dim_bits(&self, what: &str, a: Value, dims: &[i64], at: At) -> Result<u8> {
        self.check(a, what, at)?;
        let rank = self.recipe.layout_of(a.index).dims.len() as i64;
        let mut bits = 0_u8;
        for dim in dims {
            let index = if *dim < 0 { dim + rank } else { *dim };
            if !(0..rank).contains(&index) || bits & (1 << index) != 0 {
                let text = format!("{what}: dimension {dim} of {rank}, which is not there or named twice");
                return self.wrong(FindingKind::Operand, at, text);
            }
            bits |= 1 << index;
        }
        Ok(bits)
    }
}

/// Methods for operators, each named like its function in `racl::op`.
macro_rules! operators {
    ($($name:ident($($operand:ident),+ $(; $attribute:ident: $kind:ty)?) = $operator:expr;)*) => {
        impl Builder {$(
            #[doc = concat!("[`op::", stringify!($name), "`](crate::op::", stringify!($name), "()); gives the result.")]
            /// [`Builder`] has an example.
            ///
            /// # Errors
            ///
            /// As [`Builder::op`].
            #[track_caller]
            pub fn $name(&mut self, $($operand: Value,)+ $($attribute: $kind)?) -> Result<Value> {
                self.op_at($operator, &[$($operand),+], Location::caller())
            }
        )*}
    };
}

operators! {
    add(a, b) = Operator::Add;
    add_scaled(a, b; alpha: impl Into<Number>) = Operator::AddScaled { alpha: alpha.into() };
    sub(a, b) = Operator::Sub;
    mul(a, b) = Operator::Mul;
    div(a, b) = Operator::Div;
    maximum(a, b) = Operator::Maximum;
    adds(a; value: impl Into<Number>) = Operator::Adds { value: value.into() };
    muls(a; value: impl Into<Number>) = Operator::Muls { value: value.into() };
    divs(a; value: impl Into<Number>) = Operator::Divs { value: value.into() };
    clamp_min(a; least: impl Into<Number>) = Operator::ClampMin { least: least.into() };
    abs(a) = Operator::Abs;
    sqrt(a) = Operator::Sqrt;
    rsqrt(a) = Operator::Rsqrt;
    tanh(a) = Operator::Tanh;
    gelu(a; form: GeluForm) = Operator::Gelu { form };
    layer_norm(a, weight, bias; eps: f64) = Operator::LayerNorm { eps };
    cast(a; to: DataType) = Operator::Cast { to };
    embedding(table, indices) = Operator::Embedding;
    matmul(a, b) = Operator::Matmul { math: CubeMath::default() };
    matmul_with(a, b; math: CubeMath) = Operator::Matmul { math };
    mm(a, b) = Operator::Mm;
    batch_matmul(a, b) = Operator::BatchMatmul;
    addmm(bias, a, b) = Operator::Addmm;
}
