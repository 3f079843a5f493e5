//! That everything is written before it is read: the bytes of temporaries, and those of outputs, which the caller
//! reads as a whole.

use std::collections::HashSet;

use crate::plan::overlap::steps::Steps;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::uses::{Use, Uses};
use crate::plan::recipe::{Mode, Recipe, StorageKind};

use super::MOST;
use super::cover::Cover;
use super::finding::{Finding, FindingKind};
use super::symbolic;
use super::text::{examples, memory, with};

/// Writers that a message names.
const MOST_NAMED: usize = 2;

/// Who reads: a use, or the caller, who reads outputs at the end.
pub(super) type Reader = Option<Use>;

/// What happens to a storage, in the order of issue; of one operator the reads come first.
pub(super) enum Event {
    Read(Reader, u32),
    Write(u32),
}

/// Bytes that nothing has written, or none when that cannot be told.
type Gap = Option<(u64, u64)>;

pub(super) fn check(recipe: &Recipe, uses: &Uses, storage: u32, findings: &mut Vec<Finding>) {
    let output = match recipe.storages[storage as usize].kind {
        StorageKind::Temporary | StorageKind::Once => None,
        StorageKind::Output(output) => Some(recipe.outputs[output as usize].value),
        StorageKind::Input(_) | StorageKind::Constant(_) => return,
    };
    let all = uses.storage(storage);
    let first =
        all.first().map(|one| recipe.access(one)).filter(|first| first.mode.only_writes() && first.mode.gives());
    if first.is_some_and(|first| is_whole(recipe, storage, first.value)) {
        return;
    }
    let (open, why) = if is_fixed(recipe, storage, all) {
        let gaps = gaps(recipe, all, output, &[]);
        (gaps.into_iter().map(|(reader, gap)| (reader, gap, String::new())).collect(), "they have too many pieces")
    } else {
        (symbolic_gaps(recipe, all, output), "their places depend on symbols")
    };
    let mut told = false;
    for (reader, gap, when) in open {
        if findings.len() >= MOST {
            return;
        }
        match gap {
            Some(bytes) => findings.push(unwritten(recipe, all, storage, reader, bytes, &when)),
            None if told => {}
            None => findings.push(unknown(recipe, storage, reader, why)),
        }
        told |= gap.is_none();
    }
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

/// Calls `see` for what happens to the storage.
pub(super) fn each(recipe: &Recipe, all: &[Use], output: Option<u32>, mut see: impl FnMut(Event)) {
    for of_node in all.chunk_by(|a, b| a.node == b.node) {
        let with_value = || of_node.iter().map(|one| (one, recipe.access(one)));
        for (one, access) in with_value().filter(|(_, access)| access.mode.reads()) {
            see(Event::Read(Some(*one), access.value));
        }
        with_value()
            .filter(|(_, access)| access.mode.gives())
            .for_each(|(_, access)| see(Event::Write(access.value)));
    }
    if let Some(value) = output {
        see(Event::Read(None, value));
    }
}

/// The readers of bytes that nothing has written, for these values of the symbols.
fn gaps(recipe: &Recipe, all: &[Use], output: Option<u32>, symbols: &[u64]) -> Vec<(Reader, Gap)> {
    let mut strides: Vec<u64> = Vec::new();
    each(recipe, all, output, |event| {
        let (Event::Read(_, value) | Event::Write(value)) = event;
        let axes = Steps::of(recipe, value, symbols).map_or_else(Vec::new, |steps| steps.axes);
        let new = axes.iter().map(|axis| axis.0).filter(|stride| !strides.contains(stride));
        let new: Vec<u64> = new.take(64 - strides.len().min(64)).collect();
        strides.extend(new);
    });
    let mut cover = Cover::new(strides);
    // Values with gaps, of which all is written.
    let mut known = HashSet::new();
    let (mut given_up, mut found) = (false, Vec::new());
    each(recipe, all, output, |event| {
        let (Event::Read(_, value) | Event::Write(value)) = event;
        let info = &recipe.values[value as usize];
        let Some(steps) = Steps::of(recipe, value, symbols).filter(|steps| !steps.is_empty()) else { return };
        let place = (info.layout, &info.offset);
        if !steps.axes.is_empty() && known.contains(&place) {
            return;
        }
        match event {
            Event::Write(_) => given_up |= given_up || cover.add(&steps).is_err(),
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
fn symbolic_gaps(recipe: &Recipe, all: &[Use], output: Option<u32>) -> Vec<(Reader, Gap, String)> {
    let open = symbolic::open(recipe, all, output);
    if open.is_empty() {
        return Vec::new();
    }
    let tried = examples(recipe).map(|symbols| (gaps(recipe, all, output, &symbols), with(recipe, &symbols)));
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

fn who(recipe: &Recipe, reader: Reader) -> String {
    reader.map_or_else(|| "the caller".to_owned(), |one| recipe.describe(one.node))
}

fn unwritten(
    recipe: &Recipe,
    all: &[Use],
    storage: u32,
    reader: Reader,
    (start, end): (u64, u64),
    when: &str,
) -> Finding {
    let before = all.iter().take_while(|one| reader.is_none_or(|reader| one.node < reader.node));
    let (mut writers, mut left) = (Vec::new(), None);
    for one in before {
        let mode = recipe.access(one).mode;
        if mode.gives() && writers.last() != Some(&one.node) {
            writers.push(one.node);
        } else if mode == Mode::Clobber {
            left = Some(one.node);
        }
    }
    let left = left.map_or_else(String::new, |node| {
        format!("; {} is told to leave it, so that it holds anything", recipe.describe(node))
    });
    let memory = memory(recipe, storage);
    let text = match (reader, writers.is_empty()) {
        (Some(one), true) => {
            format!(
                "{} reads bytes {start}..{end} of {memory}{when}, memory that nothing has written",
                recipe.describe(one.node)
            )
        }
        (None, true) => format!("{memory} is written by nothing"),
        (Some(one), false) => format!(
            "{} reads bytes {start}..{end} of {memory}{when}, which nothing has written; others are, by {}",
            recipe.describe(one.node),
            names(recipe, &writers)
        ),
        (None, false) => format!(
            "bytes {start}..{end} of {memory}{when} are written by nothing; others are, by {}",
            names(recipe, &writers)
        ),
    };
    let node = reader.map(|one| one.node);
    Finding::new(FindingKind::ReadBeforeWrite, text + &left).at(node.as_slice())
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
