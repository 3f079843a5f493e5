//! That everything is written before it is read: the bytes of temporaries, and those of outputs, which the caller
//! reads as a whole. What operators are told to leave has to be written again, also in inputs.

use std::collections::HashSet;

use crate::plan::calls;
use crate::plan::overlap::ranges::may_overlap;
use crate::plan::overlap::steps::Steps;
use crate::plan::recipe::callable::Behind;
use crate::plan::recipe::finds::writes_what_it_finds;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::unread::is_unread;
use crate::plan::recipe::uses::{Use, Uses};
use crate::plan::recipe::{Mode, NodeKind, Recipe, StorageKind, count_of};

use super::MOST;
use super::cover::Cover;
use super::finding::{Finding, FindingKind};
use super::symbolic;
use super::text::{examples, memory};

/// Writers that a message names.
const MOST_NAMED: usize = 2;

/// Who reads: a use, or the caller, who reads outputs at the end.
pub(super) type Reader = Option<Use>;

/// What happens to a storage, in the order of issue; of one operator the reads come first.
pub(super) enum Event {
    Read(Reader, u32),
    Write(u32),
    /// It holds anything from here on.
    Leave(u32),
}

impl Event {
    pub(super) fn value(&self) -> u32 {
        let (Self::Read(_, value) | Self::Write(value) | Self::Leave(value)) = self;
        *value
    }
}

/// Who uses a storage.
#[derive(Clone, Copy)]
pub(super) struct Life<'a> {
    pub(super) all: &'a [Use],
    /// What all of it is when it is there before the plan.
    pub(super) given: Option<u32>,
    /// What of it the caller reads at the end.
    pub(super) output: Option<u32>,
    /// Whether all counts as written of which it is not sure how much is: what is found, and what plans that are called
    /// leave in part.
    pub(super) sure: bool,
}

/// Bytes that nothing has written, or none when that cannot be told.
type Gap = Option<(u64, u64)>;

pub(super) fn check(recipe: &Recipe, uses: &Uses, storage: u32, findings: &mut Vec<Finding>) {
    let all = uses.storage(storage);
    let in_part = calls_plans(recipe) && all.iter().any(|one| leaves_in_part(recipe, one));
    let leaves = in_part || all.iter().any(|one| is_left(recipe, one));
    let (given, output) = match recipe.storages[storage as usize].kind {
        StorageKind::Temporary | StorageKind::Once => (None, None),
        StorageKind::Output(output) => (None, Some(recipe.outputs[output as usize].value)),
        StorageKind::Input(input) if leaves => (Some(recipe.inputs[input as usize].value), None),
        StorageKind::Input(_) | StorageKind::Constant(_) => return,
    };
    let first = all.first().map(|one| recipe.access(one)).filter(|first| first.mode == Mode::Write);
    let finds = all.iter().any(|one| finds(recipe, one));
    if !leaves && !finds && first.is_some_and(|first| is_whole(recipe, storage, first.value)) {
        return;
    }
    let life = Life { all, given, output, sure: true };
    let before = findings.len();
    find(recipe, life, storage, findings);
    if (finds || in_part) && findings.len() == before {
        findings.extend(first_unsure(recipe, life, storage).map(|reader| unsure(recipe, life, storage, reader)));
    }
}

/// Who reads first what may not be written, of what counts as written. Who reads no more of it than what came is told how
/// much that is.
fn first_unsure(recipe: &Recipe, life: Life<'_>, storage: u32) -> Option<Reader> {
    let output = life.output.filter(|value| !is_counted(recipe, *value));
    let life = Life { output, sure: false, ..life };
    open(recipe, life, storage).0.into_iter().map(|(reader, ..)| reader).next()
}

/// What a plan that has passed does not write of an input's memory.
pub(super) fn behind_input(recipe: &Recipe, uses: &Uses, value: u32) -> Behind {
    let storage = recipe.storage_of(value);
    let all = uses.storage(storage);
    let leaves = all.iter().any(|one| is_left(recipe, one) || leaves_in_part(recipe, one));
    let finds = all.iter().any(|one| finds(recipe, one));
    let is_open = |given: Option<u32>| {
        let life = Life { all, given, output: Some(value), sure: false };
        open(recipe, life, storage).0.iter().any(|(reader, ..)| reader.is_none())
    };
    Behind { found: finds && is_open(None), in_part: leaves && is_open(Some(value)) }
}

/// What a plan that has passed does not write of an output.
pub(super) fn behind_output(recipe: &Recipe, uses: &Uses, value: u32) -> Behind {
    let storage = recipe.storage_of(value);
    let all = uses.storage(storage);
    let has_own = matches!(recipe.storages[storage as usize].kind, StorageKind::Output(_));
    let is_unsure = has_own && all.iter().any(|one| finds(recipe, one) || leaves_in_part(recipe, one));
    let life =
        Life { all, given: None, output: Some(value).filter(|value| !is_counted(recipe, *value)), sure: false };
    let is_open = || open(recipe, life, storage).0.iter().any(|(reader, ..)| reader.is_none());
    Behind { found: is_unsure && is_open(), in_part: false }
}

fn find(recipe: &Recipe, life: Life<'_>, storage: u32, findings: &mut Vec<Finding>) {
    let (open, why) = open(recipe, life, storage);
    let mut told = false;
    for (reader, gap, when) in open {
        if findings.len() >= MOST {
            return;
        }
        match gap {
            Some(bytes) => findings.push(unwritten(recipe, life, storage, reader, bytes, &when)),
            None if told => {}
            None => findings.push(unknown(recipe, storage, reader, why)),
        }
        told |= gap.is_none();
    }
}

/// The readers of what is not certainly written, with when that is; and why it cannot be told, where it cannot.
fn open(recipe: &Recipe, life: Life<'_>, storage: u32) -> (Vec<(Reader, Gap, String)>, &'static str) {
    let (mut all, why) = if is_fixed(recipe, storage, life.all) {
        let gaps = gaps(recipe, life, &[]);
        let all: Vec<_> = gaps.into_iter().map(|(reader, gap)| (reader, gap, String::new())).collect();
        (all, "they have too many pieces")
    } else {
        (symbolic_gaps(recipe, life), "their places depend on symbols")
    };
    // Asked here, for few are.
    all.retain(|(reader, ..)| !reader.is_some_and(|one| is_unread(recipe, &one)));
    (all, why)
}

/// Whether an output says how many of its rows came.
fn is_counted(recipe: &Recipe, value: u32) -> bool {
    let mut named = recipe.outputs.iter().filter(|output| output.value == value).map(|output| count_of(&output.name));
    named.any(|count| recipe.outputs.iter().any(|output| output.counts && output.name == count))
}

/// Whether a value is certainly all of its storage.
fn is_whole(recipe: &Recipe, storage: u32, value: u32) -> bool {
    let layout = recipe.layout_of(value);
    recipe.values[value as usize].offset == Extent::Fixed(0)
        && layout.is_dense()
        && layout.bytes().as_ref() == Some(&recipe.storages[storage as usize].bytes)
}

fn is_fixed(recipe: &Recipe, storage: u32, all: &[Use]) -> bool {
    let fixed = |one: &Use| Steps::of(recipe, recipe.access(one).value, &[]).is_some();
    recipe.symbols.is_empty()
        || (recipe.storages[storage as usize].bytes.as_fixed().is_some() && all.iter().all(fixed))
}

/// Whether nobody knows what is there after a use.
fn is_left(recipe: &Recipe, one: &Use) -> bool {
    let node = &recipe.nodes[one.node as usize];
    recipe.access(one).mode == Mode::Clobber
        || (calls_plans(recipe) && calls::leaves(recipe, node, (one.access - node.first) as usize))
}

/// Few plans do, and then nothing has to be asked about each use.
#[inline]
fn calls_plans(recipe: &Recipe) -> bool {
    !recipe.called.is_empty()
}

/// What of an access a call or a choice does not write, though it counts as written.
fn behind(recipe: &Recipe, one: &Use) -> Behind {
    let node = &recipe.nodes[one.node as usize];
    calls::behind(recipe, node, (one.access - node.first) as usize)
}

/// Whether no more may be written than the device finds.
fn finds(recipe: &Recipe, one: &Use) -> bool {
    writes_what_it_finds(recipe, one) || (calls_plans(recipe) && behind(recipe, one).found)
}

/// Whether a plan that is called leaves some of it, which holds anything then.
fn leaves_in_part(recipe: &Recipe, one: &Use) -> bool {
    calls_plans(recipe) && behind(recipe, one).in_part
}

/// Calls `see` for what happens to the storage.
pub(super) fn each(recipe: &Recipe, life: Life<'_>, mut see: impl FnMut(Event)) {
    if let Some(value) = life.given {
        see(Event::Write(value));
    }
    for of_node in life.all.chunk_by(|a, b| a.node == b.node) {
        let with_value = || of_node.iter().map(|one| (one, recipe.access(one)));
        for (one, access) in with_value().filter(|(_, access)| access.mode.reads()) {
            see(Event::Read(Some(*one), access.value));
        }
        with_value()
            .filter(|(one, access)| access.mode.gives() && (life.sure || !finds(recipe, one)))
            .for_each(|(_, access)| see(Event::Write(access.value)));
        let leaves = |one: &Use| is_left(recipe, one) || (!life.sure && leaves_in_part(recipe, one));
        for (one, access) in with_value().filter(|(one, _)| leaves(one)) {
            see(Event::Leave(access.value));
            // The next round finds what this one left.
            if access.mode.reads() && calls::repeats(recipe, &recipe.nodes[one.node as usize]) {
                see(Event::Read(Some(*one), access.value));
            }
        }
    }
    if let Some(value) = life.output {
        see(Event::Read(None, value));
    }
}

/// The readers of bytes that nothing has written, for these values of the symbols.
fn gaps(recipe: &Recipe, life: Life<'_>, symbols: &[u64]) -> Vec<(Reader, Gap)> {
    let mut strides: Vec<u64> = Vec::new();
    each(recipe, life, |event| {
        let axes = Steps::of(recipe, event.value(), symbols).map_or_else(Vec::new, |steps| steps.axes);
        let new = axes.iter().map(|axis| axis.0).filter(|stride| !strides.contains(stride));
        let new: Vec<u64> = new.take(64 - strides.len().min(64)).collect();
        strides.extend(new);
    });
    let mut cover = Cover::new(strides);
    // Values with gaps, of which all is written.
    let mut known = HashSet::new();
    let (mut given_up, mut found) = (false, Vec::new());
    each(recipe, life, |event| {
        let (value, leaves) = (event.value(), matches!(event, Event::Leave(_)));
        let info = &recipe.values[value as usize];
        let Some(steps) = Steps::of(recipe, value, symbols) else { return given_up |= leaves };
        let place = (info.layout, &info.offset);
        if steps.is_empty() || (!leaves && !steps.axes.is_empty() && known.contains(&place)) {
            return;
        }
        match event {
            Event::Write(_) => given_up |= given_up || cover.add(&steps).is_err(),
            Event::Leave(_) => {
                known.clear();
                given_up |= given_up || cover.remove(&steps).is_err();
                return;
            }
            Event::Read(reader, _) => match if given_up { Err(()) } else { cover.missing(&steps).map_err(|_| ()) } {
                Ok(None) => {}
                Ok(gap) => return found.push((reader, gap)),
                Err(()) => return found.push((reader, None)),
            },
        }
        if !steps.axes.is_empty() {
            known.insert(place);
        }
    });
    found
}

/// The same where symbols take part: what cannot be shown for all of their values is tried with some.
fn symbolic_gaps(recipe: &Recipe, life: Life<'_>) -> Vec<(Reader, Gap, String)> {
    let open = symbolic::open(recipe, life);
    if open.is_empty() {
        return Vec::new();
    }
    let tried = examples(recipe).map(|symbols| (gaps(recipe, life, &symbols), recipe.when(&symbols)));
    let of = |reader: Reader| {
        let gaps = tried.iter().flat_map(|(gaps, when)| gaps.iter().map(move |gap| (gap, when)));
        let found = gaps.filter(|(gap, _)| gap.0 == reader).find_map(|(gap, when)| Some((gap.1?, when)));
        match found {
            Some((bytes, when)) => (reader, Some(bytes), format!(" {when}")),
            None => (reader, None, String::new()),
        }
    };
    open.into_iter().take(MOST).map(of).collect()
}

/// What happened to a storage before it is read.
#[derive(Default)]
struct Before {
    /// Who wrote what is still there.
    writers: Vec<u32>,
    /// Who was told to leave something last.
    left: Option<u32>,
    /// Says that what is read was written before that.
    since: &'static str,
}

fn before(recipe: &Recipe, life: Life<'_>, reader: Reader) -> Before {
    let (mut written, mut found) = (Vec::<(u32, u32)>::new(), Before::default());
    let bounds = recipe.bounds();
    let given = life.given.is_some();
    // What repeats finds what it left itself.
    let is_before = |one: &&Use| {
        reader.is_none_or(|reader| one.node < reader.node || calls::repeats(recipe, &recipe.nodes[one.node as usize]))
    };
    for one in life.all.iter().take_while(|one| reader.is_none_or(|reader| one.node <= reader.node)).filter(is_before)
    {
        let (access, count) = (recipe.access(one), written.len());
        if is_left(recipe, one) {
            written.retain(|(_, value)| !may_overlap(recipe, *value, access.value, &bounds));
            found.left = Some(one.node);
            found.since = if given || written.len() < count { " since" } else { found.since };
        } else if access.mode.gives() && written.last().is_none_or(|last| last.0 != one.node) {
            written.push((one.node, access.value));
        }
    }
    found.writers = written.into_iter().map(|(node, _)| node).collect();
    found
}

fn who(recipe: &Recipe, reader: Reader) -> String {
    reader.map_or_else(|| "the caller".to_owned(), |one| recipe.describe(one.node))
}

fn unwritten(
    recipe: &Recipe,
    life: Life<'_>,
    storage: u32,
    reader: Reader,
    (start, end): (u64, u64),
    when: &str,
) -> Finding {
    let Before { writers, left, since } = before(recipe, life, reader);
    let left = left.map_or_else(String::new, |node| {
        let what = if matches!(recipe.nodes[node as usize].kind, NodeKind::Foreign(_)) {
            "is told to leave"
        } else {
            "leaves"
        };
        format!("; {} {what} it, so that it holds anything", recipe.describe(node))
    });
    let memory = memory(recipe, storage);
    let text = match (reader, writers.is_empty()) {
        (Some(one), true) => {
            format!(
                "{} reads bytes {start}..{end} of {memory}{when}, memory that nothing has written{since}",
                recipe.describe(one.node)
            )
        }
        (None, true) => format!("{memory} is written by nothing{since}"),
        (Some(one), false) => format!(
            "{} reads bytes {start}..{end} of {memory}{when}, which nothing has written{since}; others are, by {}",
            recipe.describe(one.node),
            names(recipe, &writers)
        ),
        (None, false) => format!(
            "bytes {start}..{end} of {memory}{when} are written by nothing{since}; others are, by {}",
            names(recipe, &writers)
        ),
    };
    let node = reader.map(|one| one.node);
    Finding::new(FindingKind::ReadBeforeWrite, text + &left).at(node.as_slice())
}

fn unsure(recipe: &Recipe, life: Life<'_>, storage: u32, reader: Reader) -> Finding {
    let all = |is: fn(&Recipe, &Use) -> bool| {
        let mut nodes: Vec<u32> = life.all.iter().filter(|one| is(recipe, one)).map(|one| one.node).collect();
        nodes.dedup();
        nodes
    };
    let (finders, leavers) = (all(finds), all(leaves_in_part));
    let reads = format!("{} reads {}", who(recipe, reader), memory(recipe, storage));
    let text = if finders.is_empty() {
        format!("{reads}, of which {} leaves a part, so that it may hold anything", names(recipe, &leavers))
    } else {
        let is_called = |node: &u32| !matches!(recipe.nodes[*node as usize].kind, NodeKind::Foreign(_));
        let place = if finders.iter().any(is_called) { "in the plan that is called" } else { "before" };
        let names = names(recipe, &finders);
        format!("{reads}, which nothing has written behind what is found by {names}: fill it {place}")
    };
    let node = reader.map(|one| one.node);
    Finding::new(FindingKind::MaybeUnwritten, text).at(node.as_slice())
}

fn names(recipe: &Recipe, writers: &[u32]) -> String {
    let named: Vec<_> = writers.iter().take(MOST_NAMED).map(|node| recipe.describe(*node)).collect();
    match writers.len().saturating_sub(MOST_NAMED) {
        0 => named.join(" and "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn unknown(recipe: &Recipe, storage: u32, reader: Reader, why: &str) -> Finding {
    let text = format!(
        "it cannot be told whether all bytes of {} that {} reads are written before: {why}",
        memory(recipe, storage),
        who(recipe, reader)
    );
    let node = reader.map(|one| one.node);
    Finding::new(FindingKind::MaybeUnwritten, text).at(node.as_slice())
}

#[cfg(test)]
mod tests;
