//! What findings about accesses say.

use crate::plan::overlap::ranges::{Common, common};
use crate::plan::recipe::uses::Use;
use crate::plan::recipe::{ORIGIN, Recipe, StorageKind};

/// Two accesses in no order.
pub(super) fn unordered(recipe: &Recipe, earlier: &Use, later: &Use) -> String {
    let verb = |one: &Use| if recipe.access(one).mode.writes() { "writes" } else { "reads" };
    let (was, is) = (recipe.access(earlier).value, recipe.access(later).value);
    let (bytes, perhaps) = shared(recipe, was, is);
    let stream = |node: u32| match recipe.nodes[node as usize].tag {
        ORIGIN => "the origin stream".to_owned(),
        tag => format!("stream {:?}", recipe.tags[usize::from(tag)].name),
    };
    format!(
        "{} {} {bytes} of {} that {} {}, in no order{perhaps}: record an event after the former on {} and wait for \
         it before the latter on {}",
        recipe.describe(earlier.node),
        verb(earlier),
        memory(recipe, recipe.storage_of(is)),
        recipe.describe(later.node),
        verb(later),
        stream(earlier.node),
        stream(later.node),
    )
}

/// The bytes that two values have in common, and why they may have none where that cannot be told.
fn shared(recipe: &Recipe, a: u32, b: u32) -> (String, String) {
    let perhaps = |why: &str| ("bytes".to_owned(), format!(" (they may overlap: {why})"));
    match common(recipe, a, b, &[]) {
        Common::Bytes { start, end } => (format!("bytes {start}..{end}"), String::new()),
        Common::TooMany => perhaps("they have too many pieces to compare"),
        Common::Nothing | Common::Symbols => {
            let at = |symbols: &[u64]| match common(recipe, a, b, symbols) {
                Common::Bytes { start, end } => Some(format!("bytes {start}..{end} ({})", recipe.when(symbols))),
                _ => None,
            };
            let found = examples(recipe).iter().find_map(|symbols| at(symbols));
            found.map_or_else(|| perhaps("their places depend on symbols"), |bytes| (bytes, String::new()))
        }
    }
}

/// Values of the symbols to try: the greatest and the least.
pub(super) fn examples(recipe: &Recipe) -> [Vec<u64>; 2] {
    let symbols = &recipe.symbols;
    [symbols.iter().map(|one| one.greatest).collect(), symbols.iter().map(|one| one.least).collect()]
}

/// What a storage is called.
pub(super) fn memory(recipe: &Recipe, storage: u32) -> String {
    let storage = &recipe.storages[storage as usize];
    match storage.kind {
        StorageKind::Input(input) => format!("input {:?}", recipe.inputs[input as usize].name),
        StorageKind::Output(output) => format!("output {:?}", recipe.outputs[output as usize].name),
        StorageKind::Temporary | StorageKind::Constant(_) | StorageKind::Once => {
            format!("the value of {} bytes", storage.bytes.show())
        }
    }
}
