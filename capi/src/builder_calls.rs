//! Calls of plans, choices among them and loops over them, in builders.

use std::ffi::c_char;

use racl::plan::{Choice, Dim, Plan, Value};

use crate::arguments::{list, list_mut, text};
use crate::failure::{Failure, Result, guard};
use crate::handles::{Use, get};
use crate::objects::{racl_builder, racl_plan};
use crate::recording::{Recording, issuing, racl_dim, racl_value};

/// What a symbol of a plan that is called is.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_told {
    /// Its name.
    pub name: *const c_char,
    /// A size, or a dimension of the builder that calls.
    pub dim: racl_dim,
}

/// Names and dimensions of the caller.
///
/// # Safety
///
/// As [`list`], and the names are texts.
unsafe fn told<'a>(recording: &Recording, told: *const racl_told, count: usize) -> Result<Vec<(&'a str, Dim)>> {
    let one = |one: &racl_told| {
        // SAFETY: as here.
        let name = unsafe { text(one.name, "the name of a symbol") }?;
        Ok((name, recording.dim(one.dim)?))
    };
    // SAFETY: as here.
    unsafe { list(told, count, "values of symbols") }?.iter().map(one).collect()
}

/// Values of the builder.
///
/// # Safety
///
/// As [`list`].
unsafe fn values(recording: &Recording, values: *const racl_value, count: usize) -> Result<Vec<Value>> {
    // SAFETY: as here.
    recording.values(unsafe { list(values, count, "values") }?)
}

/// Records work that gives `count` values, whose places are emptied where it fails, unless there cannot be so many. What
/// `work` reads may be there: a loop carries values to the places that they come from.
///
/// # Safety
///
/// `results` is null, or has so many places that nobody else touches meanwhile.
unsafe fn giving(
    builder: *const racl_builder,
    (results, count): (*mut racl_value, usize),
    work: impl FnOnce(&mut Recording) -> Result<Vec<Value>>,
) -> Result<()> {
    // SAFETY: as here; only looked at, and nobody has the places while the work reads.
    unsafe { list_mut(results, count, "the places of results") }?;
    let made = issuing(builder, |recording| {
        let made = work(recording)?;
        Ok(made.into_iter().map(|value| recording.add(value)).collect::<Vec<_>>())
    });
    // SAFETY: as here; the work is over.
    let places = unsafe { list_mut(results, count, "the places of results") }?;
    places.fill(0);
    places.iter_mut().zip(made?).for_each(|(place, value)| *place = value);
    Ok(())
}

/// That a plan gives as many results as there are places, before anything is recorded.
fn check_results(plan: &Plan, beside: usize, count: usize) -> Result<()> {
    match plan.outputs().len() {
        outputs if outputs == count + beside => Ok(()),
        outputs => {
            let text = format!("{count} results of a plan of {outputs} outputs");
            Err(Failure::own(crate::status::RACL_INVALID_PLAN, text))
        }
    }
}

/// Does the work of another plan, which was recorded once, on these values: its inputs in the order in which it declares
/// them, whatever their class is there. `results` gets a new value for each of its outputs, and `result_count` is how
/// many it has. Symbols of `plan` are what the shapes of the values say; `told` has those that no shape tells.
///
/// All of `plan` comes behind the work before the call on its stream, and before the work behind it. `plan` is kept, may
/// be called any number of times, and its handle may be given back. One with updatable inputs, inputs or outputs in host
/// memory or gates cannot be called: RACL_INVALID_PLAN, as for values that do not fit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_call(
    builder: *const racl_builder,
    plan: *const racl_plan,
    operands: *const racl_value,
    operand_count: usize,
    told: *const racl_told,
    told_count: usize,
    results: *mut racl_value,
    result_count: usize,
) -> i32 {
    guard(|| {
        let work = |recording: &mut Recording| {
            let plan = get(plan)?;
            check_results(&plan, 0, result_count)?;
            // SAFETY: by the header.
            let operands = unsafe { values(recording, operands, operand_count) }?;
            // SAFETY: by the header.
            let told = unsafe { self::told(recording, told, told_count) }?;
            Ok(recording.builder.call_with(&plan, &operands, &told)?)
        };
        // SAFETY: by the header.
        unsafe { giving(builder, (results, result_count), work) }
    })
}

/// Does the work of another plan so often, one time behind the other. The first inputs of `plan` are what is carried, and
/// its outputs, as many, are what the next step is given for them; further inputs are `others`, the same for each step.
/// `results` has `carried_count` places, for what the last step gives, or what was given where there is no step. What is
/// carried stays as it was, also where `plan` writes such an input. Otherwise as racl_builder_call().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_call_times(
    builder: *const racl_builder,
    plan: *const racl_plan,
    steps: usize,
    carried: *const racl_value,
    carried_count: usize,
    others: *const racl_value,
    other_count: usize,
    results: *mut racl_value,
) -> i32 {
    guard(|| {
        let work = |recording: &mut Recording| {
            let plan = get(plan)?;
            // SAFETY: by the header.
            let carried = unsafe { values(recording, carried, carried_count) }?;
            // SAFETY: by the header.
            let others = unsafe { values(recording, others, other_count) }?;
            Ok(recording.builder.call_times_with(steps, &plan, &carried, &others, &[])?)
        };
        // SAFETY: by the header.
        unsafe { giving(builder, (results, carried_count), work) }
    })
}

/// Does the work of `then` if the condition is not 0, else that of `otherwise`, on the same values; each run decides, on
/// the device. The condition is one integer of any type or a truth value, and is read before anything else. The values
/// are the inputs of both plans, and `results` gets a new value for each output, of which both have `result_count`, of
/// the same types and shapes. `otherwise` may be NULL: nothing is done then, and the results are the first values as they
/// were.
///
/// A choice is one piece of work, on the current stream whatever scopes the plans have. In a captured graph the device
/// chooses, on a library with conditional graphs; on an older one a run is in parts, and waits for each condition.
/// Otherwise as racl_builder_call().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_if(
    builder: *const racl_builder,
    condition: racl_value,
    then: *const racl_plan,
    otherwise: *const racl_plan,
    operands: *const racl_value,
    operand_count: usize,
    results: *mut racl_value,
    result_count: usize,
) -> i32 {
    guard(|| {
        let work = |recording: &mut Recording| {
            let then = get(then)?;
            let otherwise = if otherwise.is_null() { None } else { Some(get(otherwise)?) };
            check_results(&then, 0, result_count)?;
            // SAFETY: by the header.
            let operands = &unsafe { values(recording, operands, operand_count) }?;
            let (condition, otherwise) = (recording.value(condition)?, otherwise.as_deref());
            Ok(recording.builder.choose(&Choice::If { condition, then: &then, otherwise, operands })?)
        };
        // SAFETY: by the header.
        unsafe { giving(builder, (results, result_count), work) }
    })
}

/// Does the work of the case whose number the value `number` is, from 0, and that of `otherwise` for all other numbers;
/// there are 1 to 1023 cases. Otherwise as racl_builder_if() with two plans.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_switch(
    builder: *const racl_builder,
    number: racl_value,
    cases: *const *const racl_plan,
    case_count: usize,
    otherwise: *const racl_plan,
    operands: *const racl_value,
    operand_count: usize,
    results: *mut racl_value,
    result_count: usize,
) -> i32 {
    guard(|| {
        let work = |recording: &mut Recording| {
            let otherwise = get(otherwise)?;
            check_results(&otherwise, 0, result_count)?;
            // SAFETY: by the header.
            let cases = unsafe { list(cases, case_count, "cases") }?;
            let cases: Vec<Use<racl_plan>> = cases.iter().map(|case| get(*case)).collect::<Result<_>>()?;
            let cases: &[&Plan] = &cases.iter().map(|case| &**case).collect::<Vec<_>>();
            // SAFETY: by the header.
            let operands = &unsafe { values(recording, operands, operand_count) }?;
            let number = recording.value(number)?;
            Ok(recording.builder.choose(&Choice::Switch { number, cases, otherwise: &otherwise, operands })?)
        };
        // SAFETY: by the header.
        unsafe { giving(builder, (results, result_count), work) }
    })
}

/// Does the work of `body` while the condition is not 0, one round behind the other: `condition` says whether there is a
/// first round, and the first output of `body` whether there is one more. Its other outputs, `carried_count` of them,
/// are what the next round is given for its first inputs; further inputs are `others`, the same for each round. `results`
/// has `carried_count` places, for what the last round gives, or what was given where there was no round.
///
/// There are at most `rounds` rounds; 0 for no limit. `more`, which may be NULL, gets a value that is the condition behind
/// the last round: it is not 0 where the limit ended the loop. Otherwise as racl_builder_if().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_builder_repeat(
    builder: *const racl_builder,
    rounds: u32,
    condition: racl_value,
    body: *const racl_plan,
    carried: *const racl_value,
    carried_count: usize,
    others: *const racl_value,
    other_count: usize,
    results: *mut racl_value,
    more: *mut racl_value,
) -> i32 {
    guard(|| {
        let places = usize::from(!more.is_null());
        // SAFETY: by the header; only looked at.
        let looked_at = unsafe { list_mut(more, places, "the place of a condition") }.map(drop);
        let mut left = 0;
        let work = |recording: &mut Recording| {
            looked_at?;
            let body = get(body)?;
            check_results(&body, 1, carried_count)?;
            // SAFETY: by the header.
            let carried = &unsafe { values(recording, carried, carried_count) }?;
            // SAFETY: by the header.
            let others = &unsafe { values(recording, others, other_count) }?;
            let (condition, most) = (recording.value(condition)?, (rounds != 0).then_some(rounds));
            let choice = Choice::Repeat { condition, body: &body, most, carried, others };
            let mut made = recording.builder.choose(&choice)?;
            left = made.pop().filter(|_| places != 0).map_or(0, |value| recording.add(value));
            Ok(made)
        };
        // SAFETY: by the header.
        let given = unsafe { giving(builder, (results, carried_count), work) };
        // SAFETY: by the header; the work is over.
        unsafe { list_mut(more, places, "the place of a condition") }?.fill(left);
        given
    })
}
