//! Calls of plans by plans: what a caller has to know of a plan, which calls fit it, and the plan with its calls
//! written out. Uses recipes and their overlaps; the builder, checked plans and stored ones use it.
//!
//! A call is one piece of work on its stream: all that the called plan does comes behind what that stream did before,
//! and before what it does later, since each plan joins its streams. So the plan that is called and the one that calls
//! are checked by themselves, once each, and what is written out is in order without a check of its own. A choice among
//! plans is one piece of work likewise, whose arms are calls that do all their work on its stream.

mod choices;
mod facts;
mod fits;
mod params;
mod sizes;
mod written_out;

pub(crate) use choices::{check_choice, check_choice_operands, pieces_of_choice, wrong_limit};
pub(crate) use facts::facts;
pub(crate) use fits::{check_info, check_operands, check_pieces, check_whole, dims_of_result, wrong_count};
pub(crate) use params::{behind, leaves, params_of_call, params_of_choice, pieces_of_call, repeats};
pub(crate) use sizes::bind;
pub(crate) use written_out::{begins, inlined, written_out};

/// Most nodes, accesses, values, storages and events of a plan with its calls written out.
const MOST_PIECES: u64 = 1 << 24;
/// How deep calls go at most.
const MOST_DEPTH: u32 = 64;
