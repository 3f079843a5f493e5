//! Fused attention.

use crate::error::Result;
use crate::op::{Attention, aclnn};
use crate::plan::builder::{Builder, Inferred, Value};

use super::norms::optional;

impl Builder {
    /// [`op::prompt_attention`](crate::op::prompt_attention()); gives the result. `mask` has 1 where a row does not
    /// see a key; with `causal` it is the tile of 2048 by 2048 that
    /// [`Mask::Causal`](crate::op::Mask::Causal) takes.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`]; also for a number of heads with symbols.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{Attention, DataType::F32};
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let rows = g.symbol("rows", 1..=16)?;
    ///     let v = g.input("v", [1.into(), rows, 1.into(), 2.into()], F32, Input::Copied)?;
    ///     let y = g.prompt_attention(v, v, v, None, false, &Attention::new(0.0))?; // all keys count alike
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let v = device.upload_tensor(&[1.0_f32, 2.0, 3.0, 4.0], [1, 2, 1, 2])?;
    /// let mut bind = exe.bindings();
    /// exe.run(&device.stream()?, bind.set(exe.input("v")?, &v))?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [2.0, 3.0, 2.0, 3.0]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    #[track_caller]
    pub fn prompt_attention(
        &self,
        q: Value,
        k: Value,
        v: Value,
        mask: Option<Value>,
        causal: bool,
        attention: &Attention<'_>,
    ) -> Result<Value> {
        let (heads, groups) = (self.told(q, 2..3)?[0], self.told(k, 2..3)?[0]);
        let Attention { scale, rows, key_rows } = *attention;
        // How far a row sees to either side, where the mode asks for it: everywhere.
        let (mode, far) = (if causal { 2 } else { 0 }, i64::from(i32::MAX));
        let (mask, mut y) = (optional(&mask), Inferred::new());
        aclnn::prompt_flash_attention_v3(
            self, &q, &k, &v, None, mask, rows, key_rows, None, None, None, None, None, heads, scale, far, far,
            "BSND", groups, mode, 0, &mut y,
        )?;
        y.value()
    }

    /// [`op::incremental_attention`](crate::op::incremental_attention()); gives the result.
    ///
    /// # Errors
    ///
    /// As [`Builder::add`]; also for a number of heads with symbols.
    #[track_caller]
    pub fn incremental_attention(
        &self,
        q: Value,
        k: Value,
        v: Value,
        mask: Option<Value>,
        attention: &Attention<'_>,
    ) -> Result<Value> {
        let (heads, groups) = (self.told(q, 2..3)?[0], self.told(k, 2..3)?[0]);
        let Attention { scale, key_rows, .. } = *attention;
        let (mask, mut y) = (optional(&mask), Inferred::new());
        aclnn::incre_flash_attention(
            self,
            &q,
            &[&k],
            &[&v],
            None,
            mask,
            key_rows,
            heads,
            scale,
            "BSND",
            groups,
            &mut y,
        )?;
        y.value()
    }
}
