//! Whether a call fits the plan that it calls.

use crate::op::DataType;
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::recipe::callable::{CallInfo, Callee, Facts, Param};
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::sound::Sizes;
use crate::plan::recipe::{Access, Recipe, StorageKind, is_updatable};
use crate::plan::symbols::dim::{Dim, show_dims};

use super::facts::facts;
use super::params::params_of_call;
use super::{MOST_DEPTH, MOST_PIECES, sizes};

pub(super) type Fits = Result<(), String>;

/// Byte copies begin at addresses of so many bytes.
const BLOCK: u64 = 64;

/// That a plan can be called like this, whatever the operands are.
pub(crate) fn check_info(recipe: &Recipe, info: &CallInfo) -> Fits {
    let callee = callee(recipe, info)?;
    let (facts, called) = (callee.0.facts(), callee.0.recorded());
    if let Some(why) = &facts.refused {
        return Err(format!("a plan that cannot be called: {why}"));
    }
    if facts.depth >= MOST_DEPTH {
        return Err(format!("calls that go deeper than {MOST_DEPTH}"));
    }
    if info.times == 0 {
        return Err("a plan that is called no times".to_owned());
    }
    check_symbols(recipe, called, info)?;
    if !info.symbols.is_empty() {
        check_sizes(callee.0.written_out().0, &info.symbols, &Sizes::of(recipe))?;
        check_arms(callee.0.inlined().0, &info.symbols)?;
    }
    check_carried(recipe, called, info)
}

/// That the plan is not too large with its calls written out; `pieces` is how large it is.
pub(crate) fn check_pieces(pieces: u64) -> Fits {
    if pieces <= MOST_PIECES {
        return Ok(());
    }
    Err(format!("a plan of {pieces} pieces with its calls written out, more than {MOST_PIECES}"))
}

/// That the plan, with those that it calls, has no more streams, core limits and pieces than it can have.
pub(crate) fn check_whole(recipe: &Recipe) -> Fits {
    let facts = facts(recipe, Vec::new());
    let streams = recipe.called.iter().map(|callee| callee.0.facts().tags.len()).sum::<usize>() + recipe.tags.len();
    if streams > usize::from(u16::MAX) || facts.cores > usize::from(u16::MAX) {
        return Err("more streams or core limits than can be numbered, with those of plans that it calls".to_owned());
    }
    check_pieces(facts.pieces)
}

fn callee<'a>(recipe: &'a Recipe, info: &CallInfo) -> Result<&'a Callee, String> {
    recipe.called.get(info.callee as usize).ok_or_else(|| "a call of a plan that is not there".to_owned())
}

/// That the symbols of the plan that is called are numbers that it was checked for.
fn check_symbols(recipe: &Recipe, called: &Recipe, info: &CallInfo) -> Fits {
    if info.symbols.len() != called.symbols.len() {
        return Err(format!("{} sizes for {} symbols", info.symbols.len(), called.symbols.len()));
    }
    let (of_each_run, names) = (Sizes::of_each_run(recipe), recipe.symbol_names());
    let bounds = &of_each_run.bounds;
    for (symbol, dim) in called.symbols.iter().zip(&info.symbols) {
        let (name, shown) = (&symbol.name, dim.show(&names));
        let used = dim.parts().2.into_iter().enumerate().filter(|(_, power)| *power != 0);
        for (index, _) in used {
            match recipe.symbols.get(index) {
                None => return Err(format!("{shown} for its symbol {name:?}, with a symbol that is not there")),
                Some(of_run) if of_run.each_run && !symbol.each_run => {
                    return Err(format!("{shown} for its symbol {name:?}: each run gives it anew"));
                }
                Some(_) => {}
            }
        }
        let size = dim.poly();
        let inside = |least: i128, greatest: i128| {
            of_each_run.is_sound_dim(*dim)
                && least >= i128::from(symbol.least)
                && greatest <= i128::from(symbol.greatest)
        };
        if !size.least(bounds).zip(size.greatest(bounds)).is_some_and(|(least, most)| inside(least, most)) {
            let (least, greatest) = (symbol.least, symbol.greatest);
            return Err(format!("{shown} for its symbol {name:?}, which is {least} to {greatest}"));
        }
    }
    Ok(())
}

/// That everything in the plan has a size, of those that a plan can have.
fn check_sizes(called: &Recipe, by: &[Dim], sizes: &Sizes) -> Fits {
    let sound = |layout: &Layout| sizes::layout(layout, by).is_some_and(|layout| sizes.is_sound_layout(&layout));
    if let Some(layout) = called.layouts.iter().find(|layout| !sound(layout)) {
        let shape = show_dims(&layout.dims, &called.symbol_names());
        return Err(format!("its value of shape {shape}, which has none here that a plan can have"));
    }
    let offset = |size: &Extent| sizes::extent(size, by).is_some_and(|size| sizes.is_sound(&size));
    let bytes = |size: &Extent| sizes::extent(size, by).is_some_and(|size| sizes.most(&size).is_some());
    let mut numbers = called.functions.iter().flat_map(|info| info.later()).flat_map(|later| &later.numbers);
    match called.values.iter().all(|value| offset(&value.offset))
        && called.storages.iter().all(|storage| bytes(&storage.bytes))
        && numbers.all(|one| sizes::number(one, by).is_some())
    {
        true => Ok(()),
        false => Err("a size in it, which is none here that a plan can have".to_owned()),
    }
}

/// That the symbols of the arms of its choices are sizes.
fn check_arms(called: &Recipe, by: &[Dim]) -> Fits {
    let mut symbols = called.calls.iter().flat_map(|call| &call.symbols);
    match symbols.all(|size| sizes::dim(*size, by).is_some()) {
        true => Ok(()),
        false => Err("a size of a choice in it, which is none here that a plan can have".to_owned()),
    }
}

/// That what is carried has the type and shape that it is taken with.
fn check_carried(recipe: &Recipe, called: &Recipe, info: &CallInfo) -> Fits {
    let carried = usize::from(info.carried);
    if carried > called.inputs.len() || carried > called.outputs.len() {
        let (inputs, outputs) = (called.inputs.len(), called.outputs.len());
        return Err(format!("{carried} values that are carried by a plan of {inputs} inputs and {outputs} outputs"));
    }
    for (input, output) in called.inputs.iter().zip(&called.outputs).take(carried) {
        let shape = |value| shape_of(recipe, called.layout_of(value), info);
        let ((taken, want), (given, got)) = (shape(input.value), shape(output.value));
        if called.layout_of(input.value).dtype != called.layout_of(output.value).dtype || taken != given {
            let (input, output) = (&input.name, &output.name);
            return Err(format!("its output {output:?}, {got}, is carried to its input {input:?}, {want}"));
        }
    }
    Ok(())
}

/// Dimensions of a value of the plan that is called, and how they are shown with the type.
fn shape_of(recipe: &Recipe, layout: &Layout, info: &CallInfo) -> (Option<Vec<Dim>>, String) {
    let dims: Option<Vec<Dim>> = layout.dims.iter().map(|size| sizes::dim(*size, &info.symbols)).collect();
    let shown = dims.as_ref().map_or_else(|| "?".to_owned(), |dims| show_dims(dims, &recipe.symbol_names()));
    (dims, format!("{:?} {shown}", layout.dtype))
}

/// Type and shape of a result.
pub(crate) fn dims_of_result(recipe: &Recipe, info: &CallInfo, output: usize) -> Option<(DataType, Vec<Dim>)> {
    let called = recipe.called.get(info.callee as usize)?.0.recorded();
    let layout = called.layout_of(called.outputs.get(output)?.value);
    Some((layout.dtype, layout.dims.iter().map(|size| sizes::dim(*size, &info.symbols)).collect::<Option<_>>()?))
}

/// That operands and results fit a call that [`check_info`] has passed.
pub(crate) fn check_operands(recipe: &Recipe, info: &CallInfo, accesses: &[Access]) -> Fits {
    let callee = callee(recipe, info)?;
    let (facts, called) = (callee.0.facts(), callee.0.recorded());
    let Some((operands, results)) = accesses.split_at_checked(called.inputs.len()) else {
        return Err(wrong_count(called, accesses.len()));
    };
    if results.len() != called.outputs.len() {
        return Err(format!("{} results of a plan that has {}", results.len(), called.outputs.len()));
    }
    for ((input, param), operand) in called.inputs.iter().zip(params_of_call(recipe, info).iter()).zip(operands) {
        check_operand(recipe, operand, *param, || format!("its input {:?}", input.name))?;
        check_shape(recipe, called, info, (input.value, &input.name), operand.value)?;
    }
    for (output, result) in called.outputs.iter().zip(results) {
        check_operand(recipe, result, Param::RESULT, || format!("its output {:?}", output.name))?;
        check_shape(recipe, called, info, (output.value, &output.name), result.value)?;
    }
    check_apart(recipe, facts, called, accesses)
}

/// A wrong number of operands, with the names of those that there are.
pub(crate) fn wrong_count(called: &Recipe, count: usize) -> String {
    let names: Vec<String> = called.inputs.iter().map(|input| format!("{:?}", input.name)).collect();
    let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!("{count} operands for a plan of {} inputs: {known}", called.inputs.len())
}

pub(super) fn check_operand(recipe: &Recipe, operand: &Access, param: Param, what: impl Fn() -> String) -> Fits {
    let value = operand.value;
    if operand.mode != param.mode {
        return Err(format!("{} is for {:?} and not for {:?}", what(), param.mode, operand.mode));
    }
    let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
    if !layout.is_dense() {
        return Err(format!("{} is given a view with gaps, which a plan does not take; copy it before", what()));
    }
    if let StorageKind::Constant(_) = recipe.storages[info.storage as usize].kind
        && param.mode.writes()
    {
        return Err(format!("{} is written, and given a constant", what()));
    }
    if param.stays && is_updatable(recipe, value) {
        return Err(format!(
            "{} is given an updatable input, and used by work that cannot be updated inside a captured graph: byte              copies, byte fills and prefetches",
            what()
        ));
    }
    if param.aligned && !info.offset.as_fixed().is_some_and(|offset| offset.is_multiple_of(BLOCK)) {
        return Err(format!(
            "{} is copied byte by byte, and given a view that begins at no multiple of {BLOCK} bytes; copy it before",
            what()
        ));
    }
    Ok(())
}

pub(super) fn check_shape(
    recipe: &Recipe,
    called: &Recipe,
    info: &CallInfo,
    (wanted, name): (u32, &str),
    value: u32,
) -> Fits {
    let (want, got) = (called.layout_of(wanted), recipe.layout_of(value));
    let same = |(want, got): (&Dim, &Dim)| sizes::dim(*want, &info.symbols).as_ref() == Some(got);
    let rank = want.dims.len() == got.dims.len();
    if want.dtype == got.dtype && rank && want.dims.iter().zip(&got.dims).all(same) {
        return Ok(());
    }
    let (_, shown) = shape_of(recipe, want, info);
    let given = show_dims(&got.dims, &recipe.symbol_names());
    let own = show_dims(&want.dims, &called.symbol_names());
    let own =
        if want.dims.iter().all(|dim| dim.as_fixed().is_some()) { String::new() } else { format!(", its {own}") };
    Err(format!("{:?} {given} for {name:?}, which is {shown} here{own}", got.dtype))
}

/// That nothing which is written shares memory with anything else: the plan was checked as if each input had memory
/// of its own.
fn check_apart(recipe: &Recipe, facts: &Facts, called: &Recipe, accesses: &[Access]) -> Fits {
    let bounds = recipe.bounds();
    let name = |place: usize| match called.inputs.get(place) {
        Some(input) => format!("input {:?}", input.name),
        None => format!("output {:?}", called.outputs[place - facts.params.len()].name),
    };
    for (place, written) in accesses.iter().enumerate().filter(|(_, access)| access.mode.writes()) {
        let shares = |(other, access): (usize, &Access)| {
            other != place && may_overlap(recipe, access.value, written.value, &bounds)
        };
        if let Some(other) = accesses.iter().enumerate().position(shares) {
            return Err(format!("its {}, which it writes, shares memory with its {}", name(place), name(other)));
        }
    }
    Ok(())
}
