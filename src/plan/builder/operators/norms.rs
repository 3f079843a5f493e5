//! Normalisations, gates, rotary embeddings, and the loss of classes.

use crate::error::Result;
use crate::op::DataType::{Bf16, F16, F32};
use crate::op::{GeluForm, Operand, RotaryForm, aclnn};
use crate::plan::builder::{Builder, Inferred, Value};
use crate::plan::symbols::dim::Dim;

use super::found::elements;
use super::{operators, pairs};

/// An operand that may be left out.
pub(super) fn optional(value: &Option<Value>) -> Option<&dyn Operand> {
    value.as_ref().map(|value| value as &dyn Operand)
}

operators! {
    log_softmax(a: Value, dim: i64) => |g, y| aclnn::log_softmax(g, &a, dim, &mut y);
    swiglu(a: Value, dim: i64) => |g, y| aclnn::swi_glu(g, &a, dim, &mut y);
    rotary_embedding(a: Value, cos: Value, sin: Value, form: RotaryForm) => |g, y| {
        let mode = match form {
            RotaryForm::Halves => 0,
            RotaryForm::Neighbours => 1,
        };
        aclnn::rotary_position_embedding(g, &a, &cos, &sin, mode, &mut y)
    };
}

pairs! {
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let tokens = g.symbol("tokens", 1..=16)?;
    ///     let x = g.input("x", [tokens, 4.into()], F32, Input::Copied)?;
    ///     let weight = g.constant(&[1.0_f32; 4], [4])?;
    ///     let (y, _) = g.rms_norm(x, weight, 1e-6)?; // [tokens, 4] and [tokens, 1]
    ///     let y = g.swiglu(y, -1)?; // [tokens, 2]
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = device.upload_tensor(&[0.0_f32, 2.0, 1.0, 0.0], [1, 4])?;
    /// let mut bind = exe.bindings();
    /// exe.run(&device.stream()?, bind.set(exe.input("x")?, &x))?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [0.0, 0.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    rms_norm(a: Value, weight: Value, eps: f64) => |g, y, z| aclnn::rms_norm(g, &a, &weight, eps, &mut y, &mut z);
    geglu(a: Value, dim: i64, form: GeluForm) => |g, y, z| aclnn::ge_glu(g, &a, dim, form.raw(), &mut y, &mut z);
    cross_entropy(logits: Value, target: Value, ignore: i64) => |g, y, z| {
        aclnn::cross_entropy_loss(
            g, &logits, &target, None, Some("mean"), ignore, 0.0, 0.0, false, &mut y, &mut z, None, None,
        )
    };
}

impl Builder {
    /// [`op::add_rms_norm`](crate::op::add_rms_norm()); gives the normalised sum, the sum, and the scale.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    #[track_caller]
    pub fn add_rms_norm(&self, a: Value, b: Value, weight: Value, eps: f64) -> Result<(Value, Value, Value)> {
        let (mut y, mut scale, mut sum) = (Inferred::new(), Inferred::new(), Inferred::new());
        aclnn::add_rms_norm(self, &a, &b, &weight, eps, &mut y, &mut scale, &mut sum)?;
        Ok((y.value()?, sum.value()?, scale.value()?))
    }

    /// [`op::group_norm`](crate::op::group_norm()); gives the normalised channels, means and scales.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`]; also for sizes behind the channels whose product plans cannot express.
    #[track_caller]
    pub fn group_norm(
        &self,
        a: Value,
        groups: i64,
        weight: Option<Value>,
        bias: Option<Value>,
        eps: f64,
    ) -> Result<(Value, Value, Value)> {
        let dims = self.dims(a)?;
        let size = |at: usize| dims.get(at).copied().unwrap_or(Dim::from(0)); // which the operator refuses
        let rest = elements(dims.get(2..).unwrap_or_default());
        let (on, [n, c, rest]) = self.sizes_told([("n", size(0)), ("c", size(1)), ("hx_w", rest)]);
        let (mut y, mut mean, mut scale) = (Inferred::new(), Inferred::new(), Inferred::new());
        let (weight, bias) = (optional(&weight), optional(&bias));
        aclnn::group_norm(&on, &a, weight, bias, n, c, rest, groups, eps, &mut y, &mut mean, &mut scale)?;
        Ok((y.value()?, mean.value()?, scale.value()?))
    }

    /// [`op::batch_norm`](crate::op::batch_norm()) with statistics that are read: `mean` and `variance` may be frozen
    /// inputs or constants. Those of f16 and bf16 are converted to f32 first, which has the inverse of small variances.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`].
    #[doc(alias = "aclnnBatchNormElemt")]
    #[track_caller]
    pub fn batch_norm(
        &self,
        a: Value,
        (weight, bias): (Option<Value>, Option<Value>),
        (mean, variance): (Value, Value),
        eps: f64,
    ) -> Result<Value> {
        let (mut shifted, mut inverse, mut y) = (Inferred::new(), Inferred::new(), Inferred::new());
        // The library's operator squares the inverse in its type: of f16 that is infinite for variances below 1.5e-5.
        let (mean, variance) = (self.in_f32(mean)?, self.in_f32(variance)?);
        aclnn::adds(self, &variance, eps, 1_i64, &mut shifted)?;
        aclnn::rsqrt(self, &shifted, &mut inverse)?;
        let (weight, bias) = (optional(&weight), optional(&bias));
        aclnn::batch_norm_elemt(self, &a, weight, bias, &mean, &inverse, eps, &mut y)?;
        y.value()
    }

    #[track_caller]
    fn in_f32(&self, value: Value) -> Result<Value> {
        if !matches!(self.dtype(value)?, F16 | Bf16) {
            return Ok(value);
        }
        let mut wide = Inferred::new();
        aclnn::cast(self, &value, F32, &mut wide)?;
        wide.value()
    }
}
