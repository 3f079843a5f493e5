//! Operators in a plan.

use std::panic::Location;

use crate::error::Result;
use crate::op::{CubeMath, DataType, GeluForm};
use crate::plan::recipe::operator::{Number, Operator};
use crate::plan::symbols::dim::IntoDims;

use super::state::{At, Issued};
use super::{Builder, Value};

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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, -4.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn op(&self, operator: Operator, operands: &[Value]) -> Result<Value> {
        self.op_at(operator, operands, Location::caller())
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.0, 20.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn op_into(&self, operator: Operator, operands: &[Value], out: Value) -> Result<()> {
        let at = Location::caller();
        let issued = self.state().op_into(operator, operands, out, at)?;
        match issued {
            Issued::Done(()) => Ok(()),
            Issued::Rewrite(rewrite, expected) => {
                let value = self.rewritten(operator, operands, rewrite, &expected, at)?;
                self.state().op_into_at(Operator::Copy, &[value], out, at)
            }
        }
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 4.0], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemcpyAsync")]
    #[track_caller]
    pub fn copy(&self, from: Value, to: Value) -> Result<()> {
        self.state().copy(from, to)
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
    /// let given = Simulated::new().tensor("x", &[1_i32, 4], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<i32>("y")?, [0, 3]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[doc(alias = "aclrtMemsetAsync")]
    #[track_caller]
    pub fn fill_bytes(&self, value: Value, byte: u8) -> Result<()> {
        self.state().fill_bytes(value, byte)
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
    /// let given = Simulated::new().tensor("x", &[1_i32, 4], [2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<i32>("y")?, [6, 9]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn full(&self, dims: impl IntoDims, dtype: DataType, number: impl Into<Number>) -> Result<Value> {
        let dims = dims.into_dims();
        let number = number.into();
        self.state().full(dims, dtype, number)
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn permute(&self, a: Value, order: &[usize]) -> Result<Value> {
        let at = Location::caller();
        let operator = self.state().permute(order, at)?;
        self.op_at(operator, &[a], at)
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 1.0, 7.0, 7.0], [2, 2]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [0.5; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn softmax(&self, a: Value, dim: i64) -> Result<Value> {
        let at = Location::caller();
        let dims = self.state().dim_bits("softmax", a, &[dim], at)?;
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [6.0, 15.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn reduce_sum(&self, a: Value, dims: &[i64], keep: bool) -> Result<Value> {
        let at = Location::caller();
        let over = self.state().reduction("reduce_sum", a, (dims, keep), at)?;
        self.op_at(Operator::ReduceSum { over }, &[a], at)
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
    /// let given = Simulated::new().tensor("x", &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
    /// assert_eq!(plan.simulate(0, &given)?.to_vec::<f32>("y")?, [2.5, 3.5, 4.5]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn mean(&self, a: Value, dims: &[i64], keep: bool) -> Result<Value> {
        let at = Location::caller();
        let over = self.state().reduction("mean", a, (dims, keep), at)?;
        self.op_at(Operator::Mean { over }, &[a], at)
    }

    fn op_at(&self, operator: Operator, operands: &[Value], at: At) -> Result<Value> {
        let issued = self.state().op(operator, operands, at)?;
        match issued {
            Issued::Done(value) => Ok(value),
            Issued::Rewrite(rewrite, expected) => self.rewritten(operator, operands, rewrite, &expected, at),
        }
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
            pub fn $name(&self, $($operand: Value,)+ $($attribute: $kind)?) -> Result<Value> {
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
