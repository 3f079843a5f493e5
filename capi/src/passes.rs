//! Passes over plans: the same results with less work.

use std::ffi::c_char;

use racl::plan::{PassMode, Passes};

use crate::arguments::{Sized_, list, null, sized, text};
use crate::callback::with_callbacks;
use crate::cancel::Uncancelled;
use crate::errors::Entry;
use crate::failure::{Failure, Result};
use crate::handles::get;
use crate::objects::{racl_errors, racl_library, racl_plan};
use crate::results::make;
use crate::status;

/// A pass is not used.
pub const RACL_PASS_OFF: i32 = 0;
/// It changes the plan.
pub const RACL_PASS_ON: i32 = 1;
/// It changes the plan, and what it made is compared with what it was given, on random numbers on the host.
pub const RACL_PASS_VERIFIED: i32 = 2;

/// Foreign operators and host functions only compute: work around them may be put together.
pub const RACL_PASSES_FOREIGN_ONLY_COMPUTES: u32 = 1;

/// How one pass is used.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_pass {
    /// "folded_constants", "needless_copies", "common_values", "needless_transposes", "needless_moves",
    /// "fused_attention", "fused_norms", "fused_gates", "fused_rotations", "fused_products", "fused_elements",
    /// "direct_results" or "dead_values"; or, where weights stay what they are, "relaid_weights" or "blocked_weights".
    pub name: *const c_char,
    /// RACL_PASS_...
    pub mode: i32,
}

/// Which passes a plan goes through.
#[derive(Debug, Clone, Copy)]
#[allow(non_camel_case_types)]
#[repr(C)]
pub struct racl_passes {
    /// sizeof(racl_passes).
    pub size: usize,
    /// RACL_PASS_... of all that `passes` does not name, but for those of weights, which are off then.
    pub all: i32,
    /// RACL_PASSES_... put together.
    pub flags: u32,
    /// Those that are used in another way.
    pub passes: *const racl_pass,
    /// How many.
    pub pass_count: usize,
    /// The bytes of constants that one folded operator may make; 0 for 1 MiB.
    pub most_folded: usize,
    /// The bytes of weights that may be laid anew, which the executable keeps; 0 for no limit.
    pub most_relaid: u64,
    /// The SoC that the plan will run on, as aclrtGetSocName() tells it: weights are brought into blocks only for those
    /// whose library has such products, Atlas A2 and A3. NULL: for every one.
    pub soc: *const c_char,
    /// The library that the plan will run with: passes make only operators that it has. NULL: all that they know.
    pub library: *const racl_library,
}

// SAFETY: integers and pointers alone, the first of them a size.
unsafe impl Sized_ for racl_passes {
    // Without where it runs.
    const FORMER: &'static [usize] = &[std::mem::offset_of!(Self, soc)];
    const WHAT: &'static str = "racl_passes";
    const ZERO: Self = Self {
        size: 0,
        all: 0,
        flags: 0,
        passes: std::ptr::null(),
        pass_count: 0,
        most_folded: 0,
        most_relaid: 0,
        soc: std::ptr::null(),
        library: std::ptr::null(),
    };
}

fn mode(number: i32) -> Result<PassMode> {
    Ok(match number {
        RACL_PASS_OFF => PassMode::Off,
        RACL_PASS_ON => PassMode::On,
        RACL_PASS_VERIFIED => PassMode::Verified,
        other => return Err(Failure::invalid(format!("{other} for how a pass is used"))),
    })
}

fn with(passes: Passes, name: &str, mode: PassMode) -> Result<Passes> {
    Ok(match name {
        "folded_constants" => passes.folded_constants(mode),
        "needless_copies" => passes.needless_copies(mode),
        "common_values" => passes.common_values(mode),
        "needless_transposes" => passes.needless_transposes(mode),
        "needless_moves" => passes.needless_moves(mode),
        "fused_attention" => passes.fused_attention(mode),
        "fused_norms" => passes.fused_norms(mode),
        "fused_gates" => passes.fused_gates(mode),
        "fused_rotations" => passes.fused_rotations(mode),
        "fused_products" => passes.fused_products(mode),
        "fused_elements" => passes.fused_elements(mode),
        "direct_results" => passes.direct_results(mode),
        "dead_values" => passes.dead_values(mode),
        "relaid_weights" => passes.relaid_weights(mode),
        "blocked_weights" => passes.blocked_weights(mode),
        other => return Err(Failure::invalid(format!("no pass {other:?}"))),
    })
}

/// # Safety
///
/// As [`sized`], and what the struct names is there.
unsafe fn passes(place: *const racl_passes) -> Result<Passes> {
    // SAFETY: as here.
    let given = unsafe { sized(place) }?.ok_or_else(|| null(racl_passes::WHAT))?;
    let mut passes = Passes::all(mode(given.all)?);
    // SAFETY: as here.
    for pass in unsafe { list(given.passes, given.pass_count, "passes") }? {
        // SAFETY: as here.
        passes = with(passes, unsafe { text(pass.name, "the name of a pass") }?, mode(pass.mode)?)?;
    }
    if given.flags & !RACL_PASSES_FOREIGN_ONLY_COMPUTES != 0 {
        return Err(Failure::invalid(format!("unknown flags {:#x} of passes", given.flags)));
    }
    if given.flags & RACL_PASSES_FOREIGN_ONLY_COMPUTES != 0 {
        passes = passes.foreign_only_computes();
    }
    if given.most_folded != 0 {
        passes = passes.most_folded(given.most_folded);
    }
    if given.most_relaid != 0 {
        passes = passes.most_relaid(given.most_relaid);
    }
    if !given.soc.is_null() {
        // SAFETY: as here.
        passes = passes.on_soc(unsafe { text(given.soc, "the name of a SoC") }?);
    }
    if !given.library.is_null() {
        passes = passes.for_library(&*get(given.library)?);
    }
    Ok(passes)
}

/// A plan that computes the same with less work; `plan` stays as it is. Names, inputs, outputs, streams, events, and
/// the order of what is left are the same. racl_plan_changes() has what was changed.
///
/// RACL_INVALID_PLAN when a pass that is verified gives other numbers. Such a pass calls host functions, on this thread:
/// RACL_CALLBACK_PANICKED when one fails; and needs a computation on the host of every operator: RACL_NOT_SUPPORTED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_plan_optimise(
    plan: *const racl_plan,
    passes: *const racl_passes,
    optimised: *mut *mut racl_plan,
) -> i32 {
    let _uncancelled = Uncancelled::new();
    let work = || {
        let plan = get(plan)?;
        // SAFETY: by the header.
        let passes = unsafe { self::passes(passes) }?;
        with_callbacks(|| Ok(plan.optimise(&passes)?.plan))
    };
    // SAFETY: by the header.
    unsafe { make(optimised, work) }
}

/// What passes changed since the plan was recorded, in that order: RACL_OK for the status of each, and for the message
/// the pass, the work that is gone, why, and what is there instead. Nothing for a plan that was stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn racl_plan_changes(plan: *const racl_plan, changes: *mut *mut racl_errors) -> i32 {
    let work = || {
        let plan = get(plan)?;
        let entry = |change: &racl::plan::Change| Entry::from(Failure::own(status::RACL_OK, change.to_string()));
        Ok(plan.changes().iter().map(entry).collect())
    };
    // SAFETY: by the header.
    unsafe { make(changes, work) }
}
