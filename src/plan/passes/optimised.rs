//! A plan after its passes.

use std::fmt;

use crate::error::Result;
use crate::plan::Plan;
use crate::plan::checked::change::Change;

use super::{PassMode, Passes, arms};

/// A plan after its passes. From [`Plan::optimise`], which has an example.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Optimised {
    /// The new plan.
    pub plan: Plan,
    /// What the passes changed, in that order. [`Plan::changes`] also has what passes before them did.
    pub changes: Vec<Change>,
    /// How many operators the plan had before, counted as [`Plan::operators`] does.
    pub before: usize,
}

impl fmt::Display for Optimised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} operators, before {}", self.plan.operators(), self.before)?;
        self.changes.iter().try_for_each(|change| writeln!(f, "{change}"))
    }
}

impl Plan {
    /// A plan that computes the same with less work, and what was changed. This one stays as it is. Where
    /// something changes, plans that this one calls are written out in the new one. Those of choices and loops stay, and
    /// go through the passes by themselves, but for [`Passes::relaid_weights`] and [`Passes::blocked_weights`], as far as
    /// each uses its operands as before; their changes come last, with positions in those plans. What is
    /// [verified](PassMode::Verified) of them is so whatever is chosen.
    ///
    /// Names, inputs, outputs, streams, events and the source lines of what is left are the same, and so is the order
    /// of what is left. [`Plan::to_text`] of the new plan begins with the changes. The passes take turns until none of
    /// them finds anything, [`Passes::blocked_weights`], [`Passes::relaid_weights`], [`Passes::needless_moves`], [`Passes::fused_elements`] and
    /// [`Passes::direct_results`] last.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPlan`](crate::ErrorKind::InvalidPlan) when a plan behind a [`PassMode::Verified`] gives
    /// other numbers, with the first one that differs; the errors of [`Plan::simulate`] when it cannot be compared.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Input, PassMode, Passes, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Copied)?;
    ///     let half = g.constant(&[0.5_f32], [1])?;
    ///     let scale = g.sqrt(half)?; // of a constant
    ///     let a = g.mul(g.abs(x)?, scale)?;
    ///     let b = g.mul(g.abs(x)?, scale)?; // again
    ///     g.tanh(b)?; // for nobody
    ///     g.output("y", g.add(a, b)?)
    /// })?;
    /// let better = plan.optimise(&Passes::all(PassMode::Verified))?;
    /// assert_eq!((plan.operators(), better.plan.operators()), (7, 3)); // abs, mul and add
    /// println!("{better}"); // what is gone, with the lines above
    /// # let text = better.to_string();
    /// # assert!(text.contains("folded_constants: aclnnSqrt (#0, "), "{text}");
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn optimise(&self, passes: &Passes) -> Result<Optimised> {
        let mut plan = self.clone();
        loop {
            let before = plan.0.changes.len();
            for late in [false, true] {
                for (pass, mode) in passes.all_modes() {
                    if mode != PassMode::Off
                        && pass.is_late() == late
                        && let Some(changed) = passes.apply(&plan, pass, mode)?
                    {
                        plan = changed;
                    }
                }
                if plan.0.changes.len() > before {
                    break;
                }
            }
            if plan.0.changes.len() == before {
                break;
            }
        }
        if let Some(changed) = arms::run(&plan, passes)? {
            plan = changed;
        }
        let changes = plan.0.changes[self.0.changes.len()..].to_vec();
        Ok(Optimised { plan, changes, before: self.operators() })
    }
}
