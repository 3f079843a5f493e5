//! Weights that products alone read: brought into FRACTAL_NZ once, when an executable is made.

use std::collections::HashMap;

use crate::error::Result;
use crate::op::DataType::{Bf16, F16, I8};
use crate::op::{BLOCK_ROWS, Operand, aclnn, block_columns};
use crate::plan::builder::Value;
use crate::plan::recipe::Access;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::symbols::dim::Dim;

use super::called::Called;
use super::edit::Edit;
use super::elements::exact;
use super::facts::{Facts, MOST_USES};
use super::group::{dims, dtype};
use super::products::rows;
use super::relaid::{Budget, is_given};
use super::replacing::{Replacing, value};

pub(super) const NAME: &str = "blocked_weights";

const DONE: (&str, &str) = (NAME, "its weight is brought into FRACTAL_NZ once, when an executable is made");

/// Whether a card has the products that read such weights, by the name of its SoC: Atlas A2 and A3, as the library's
/// pages of `aclnnMatmulWeightNz` and `aclnnQuantMatmulWeightNz` say.
pub(super) fn has_products(soc: &str) -> bool {
    // Atlas A2 has a digit there; without one it is a card from before.
    let is_a2 = soc.strip_prefix("Ascend910B").is_some_and(|model| model.starts_with(|c: char| c.is_ascii_digit()));
    is_a2 || soc.starts_with("Ascend910_93")
}

/// Lets products read their weights in blocks, in which cards multiply them.
#[inline(never)]
pub(super) fn run(facts: &Facts<'_>, most: u64) -> Result<Edit> {
    let recipe = facts.recipe;
    let (mut edit, mut budget) = (Edit::of(recipe), Budget::of(recipe, most));
    let written = recipe.written();
    // By memory, where each weight is in blocks; none where it stays as it is.
    let mut blocks: HashMap<u32, Option<u32>> = HashMap::new();
    for node in 0..recipe.nodes.len() as u32 {
        let Some(product) = facts.called(node).and_then(|call| Product::of(facts, &call)) else { continue };
        let weight = product.weight.value;
        let memory = recipe.storage_of(weight);
        let known = match blocks.get(&memory) {
            Some(known) => *known,
            None => {
                let fits = is_given(facts, &written, weight) && read_by_products(facts, &product, node);
                let made = if fits { lay(&mut edit, facts, &product, node, &mut budget)? } else { None };
                blocks.insert(memory, made);
                made
            }
        };
        let Some(known) = known else { continue };
        let replacing = product.with_blocks(&mut edit, facts, known)?;
        edit.call(recipe, node, replacing);
        edit.tell(recipe, DONE, node);
    }
    Ok(edit)
}

/// A product that can read its weight in blocks.
struct Product {
    x: Access,
    weight: Access,
    out: Access,
    /// Whether the weight is told to be turned.
    turned: bool,
    form: Form,
}

enum Form {
    /// Of two matrices; the kind of mathematics.
    Matrices(i8),
    /// Of rows in several dimensions and a matrix, seen with the rows in one.
    Rows(i8, Box<[Layout; 2]>),
    /// Of as many matrices on both sides.
    Batches(i8),
    /// To which something is added: what, and the numbers in front of it and of the product.
    Added(i8, Access, [f32; 2]),
    /// Of 8 bits: the numbers of rows and of columns, what is added, and whether the rows are turned.
    Quantised { rows: Option<Access>, columns: Access, bias: Option<Access>, turned: bool },
}

impl Product {
    fn of(facts: &Facts<'_>, call: &Called<'_>) -> Option<Self> {
        let product = match call.name {
            "aclnnMatmul" | "aclnnMm" | "aclnnBatchMatMul" => Self::plain(facts, call),
            "aclnnAddmm" => Self::added(call),
            "aclnnQuantMatmulV4" | "aclnnQuantMatmulV5" => Self::quantised(call),
            _ => None,
        }?;
        (product.fits(facts) && !facts.lacking.has(product.becomes())).then_some(product)
    }

    /// The operator that reads its weight in blocks.
    fn becomes(&self) -> &'static str {
        match self.form {
            Form::Matrices(_) | Form::Rows(..) => "aclnnMatmulWeightNz",
            Form::Batches(_) => "aclnnBatchMatMulWeightNz",
            Form::Added(..) => "aclnnAddmmWeightNz",
            Form::Quantised { .. } => "aclnnQuantMatmulWeightNz",
        }
    }

    fn plain(facts: &Facts<'_>, call: &Called<'_>) -> Option<Self> {
        let (x, weight, out) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
        let math = i8::try_from(call.int(3)?).ok()?;
        let layout = |one: Access| facts.recipe.layout_of(one.value);
        let form = match (dims(facts, x.value), dims(facts, weight.value)) {
            ([_, _], [_, _]) => Form::Matrices(math),
            ([batch, _, _], [same, _, _]) if batch == same => Form::Batches(math),
            ([_, _, _, ..], [_, _]) => Form::Rows(math, Box::new([rows(layout(x))?, rows(layout(out))?])),
            _ => return None,
        };
        Some(Self { x, weight, out, turned: false, form })
    }

    fn added(call: &Called<'_>) -> Option<Self> {
        let (own, x, weight, out) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?, call.tensor(5)?);
        let numbers = [exact(call.scalar(3)?)?, exact(call.scalar(4)?)?];
        let form = Form::Added(i8::try_from(call.int(6)?).ok()?, own, numbers);
        Some(Self { x, weight, out, turned: false, form })
    }

    fn quantised(call: &Called<'_>) -> Option<Self> {
        let (x, weight) = (call.tensor(0)?, call.tensor(1)?);
        let later = call.is(&["aclnnQuantMatmulV5"]);
        let (rows, columns, bias, turns, out) = if later { (2, 3, 8, 9, 12) } else { (4, 2, 5, 6, 8) };
        let others: &[usize] = if later { &[4, 5, 6, 7] } else { &[3] };
        let plain = others.iter().all(|other| call.tensors(*other).is_empty()) && (!later || call.int(11) == Some(0));
        let [first, second] = [call.int(turns)? != 0, call.int(turns + 1)? != 0];
        let (rows, columns, bias) = (call.tensor(rows), call.tensor(columns)?, call.tensor(bias));
        let form = Form::Quantised { rows, columns, bias, turned: first };
        plain.then_some(Self { x, weight, out: call.tensor(out)?, turned: second, form })
    }

    /// Whether types and sizes are those that the blocks are for, and nothing is read and written at once.
    fn fits(&self, facts: &Facts<'_>) -> bool {
        let one = dtype(facts, self.weight.value);
        let alike = match self.form {
            Form::Quantised { .. } => one == I8 && dims(facts, self.x.value).len() == 2,
            Form::Added(_, own, _) => [self.x, own, self.out].iter().all(|other| dtype(facts, other.value) == one),
            _ => [self.x, self.out].iter().all(|other| dtype(facts, other.value) == one),
        };
        let rank = if matches!(self.form, Form::Batches(_)) { 3 } else { 2 };
        let matrix = self.matrix(facts);
        let whole = |dim: usize, block: usize| {
            matrix.dims[dim].as_fixed().is_some_and(|size| size > 0 && size.is_multiple_of(block))
        };
        let storage = |other: Access| facts.recipe.storage_of(other.value);
        alike
            && [F16, Bf16, I8].contains(&one)
            && (one == I8) == matches!(self.form, Form::Quantised { .. })
            && matrix.dims.len() == rank
            && matrix.dims.iter().all(|size| size.as_fixed().is_some_and(|size| size > 0))
            && whole(rank - 2, BLOCK_ROWS)
            && whole(rank - 1, block_columns(one))
            && storage(self.x) != storage(self.weight)
            && storage(self.out) != storage(self.weight)
    }

    /// The weight as the product reads it.
    fn matrix(&self, facts: &Facts<'_>) -> Layout {
        let mut matrix = facts.recipe.layout_of(self.weight.value).clone();
        if let (true, rank @ 2..) = (self.turned, matrix.dims.len()) {
            matrix.dims.swap(rank - 2, rank - 1);
            matrix.strides.swap(rank - 2, rank - 1);
        }
        matrix
    }

    /// What else it reads.
    fn others(&self) -> Vec<u32> {
        let more = match &self.form {
            Form::Added(_, own, _) => vec![Some(*own)],
            Form::Quantised { rows, columns, bias, .. } => vec![*rows, Some(*columns), *bias],
            _ => Vec::new(),
        };
        more.into_iter().flatten().map(|one| one.value).collect()
    }

    fn with_blocks(&self, edit: &mut Edit, facts: &Facts<'_>, blocks: u32) -> Result<Replacing> {
        let recipe = facts.recipe;
        let mut view = |one: Access, layout: &Layout| {
            let info = &recipe.values[one.value as usize];
            value(edit.value(recipe, info.storage, info.offset.clone(), layout.clone()))
        };
        let (x, w, mut out) = (value(self.x.value), value(blocks), value(self.out.value));
        match &self.form {
            Form::Matrices(math) => Replacing::of(|to| aclnn::matmul_weight_nz(to, &x, &w, &mut out, *math)),
            Form::Rows(math, layouts) => {
                let (x, mut out) = (view(self.x, &layouts[0]), view(self.out, &layouts[1]));
                Replacing::of(|to| aclnn::matmul_weight_nz(to, &x, &w, &mut out, *math))
            }
            Form::Batches(math) => Replacing::of(|to| aclnn::batch_mat_mul_weight_nz(to, &x, &w, &mut out, *math)),
            Form::Added(math, own, [beta, alpha]) => {
                let own = value(own.value);
                Replacing::of(|to| aclnn::addmm_weight_nz(to, &own, &x, &w, *beta, *alpha, &mut out, *math))
            }
            Form::Quantised { rows, columns, bias, turned } => {
                let [rows, bias] = [rows, bias].map(|one| one.map(|one| value(one.value)));
                let columns = value(columns.value);
                let (rows, bias) = (rows.as_ref().map(operand), bias.as_ref().map(operand));
                Replacing::of(|to| {
                    aclnn::quant_matmul_weight_nz(
                        to, &x, &w, rows, &columns, None, None, None, None, bias, *turned, false, 0, &mut out,
                    )
                })
            }
        }
    }
}

fn operand(value: &Value) -> &dyn Operand {
    value
}

/// Whether all that reads the memory of a weight are such products of it, behind the first one, which see it alike.
fn read_by_products(facts: &Facts<'_>, first: &Product, node: u32) -> bool {
    let weight = first.weight.value;
    let uses = facts.plan.uses.storage(facts.recipe.storage_of(weight));
    let reads = |other: u32| {
        let product = facts.called(other).and_then(|call| Product::of(facts, &call));
        product.is_some_and(|product| {
            facts.is_same(product.weight.value, weight)
                && product.turned == first.turned
                && product.others().iter().all(|one| facts.recipe.storage_of(*one) != facts.recipe.storage_of(weight))
        }) && (other == node || facts.plan.order.before(node, other))
    };
    uses.len() <= MOST_USES && !facts.is_touched(weight) && uses.iter().all(|one| reads(one.node))
}

/// The weight in blocks `[n / n0, k / 16, 16, n0]`, laid by an operator before a node; none where there is no room.
fn lay(edit: &mut Edit, facts: &Facts<'_>, product: &Product, node: u32, budget: &mut Budget) -> Result<Option<u32>> {
    let (recipe, info) = (facts.recipe, &facts.recipe.values[product.weight.value as usize]);
    let Some([split, laid]) = layouts(&product.matrix(facts)) else { return Ok(None) };
    let Some(bytes) = laid.bytes().filter(|bytes| bytes.as_fixed().is_some_and(|bytes| budget.take(bytes))) else {
        return Ok(None);
    };
    let order: &[i64] = if laid.dims.len() == 4 { &[2, 0, 1, 3] } else { &[0, 3, 1, 2, 4] };
    let split = edit.value(recipe, info.storage, info.offset.clone(), split);
    let storage = edit.memory(recipe, bytes);
    let laid = edit.value(recipe, storage, Extent::Fixed(0), laid);
    let laying = Replacing::of(|to| aclnn::permute(to, &value(split), order, &mut value(laid)))?;
    edit.call_once(recipe, node, storage, laying);
    Ok(Some(laid))
}

/// Matrices seen in blocks, `[…, k / 16, 16, n / n0, n0]`, and the storage of FRACTAL_NZ.
fn layouts(matrix: &Layout) -> Option<[Layout; 2]> {
    let (rows, columns) = (BLOCK_ROWS, block_columns(matrix.dtype));
    let [lead @ .., k, n] = &matrix.dims[..] else { return None };
    let [lead_steps @ .., down, right] = &matrix.strides[..] else { return None };
    let [k, n] = [k.as_fixed()? / rows, n.as_fixed()? / columns].map(Dim::from);
    let far = |step: &Extent, by: usize| step.times(&Extent::Fixed(by as u64));
    let strides = [far(down, rows)?, down.clone(), far(right, columns)?, right.clone()];
    let strides = [lead_steps, &strides].concat();
    let split = Layout { dtype: matrix.dtype, dims: [lead, &[k, rows.into(), n, columns.into()]].concat(), strides };
    Some([split, Layout::dense(matrix.dtype, &[lead, &[n, k, rows.into(), columns.into()]].concat())?])
}
