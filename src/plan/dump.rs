//! What a plan is, for people and programs: as text, JSON, a Graphviz graph and a picture. Uses checked plans; stored
//! ones are shown with it too.

use crate::op::DataType;
use crate::sort;

#[cfg(feature = "cache")]
use super::recipe::function::Body;
use super::recipe::layout::Extent;
use super::recipe::{Input, Mode, Node, NodeKind, OnMove, Recipe};
use super::symbols::poly::Poly;

mod arena;
mod attributes;
mod dot;
mod edges;
mod json;
mod names;
mod picture;
mod schedule;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod writer;

pub use schedule::Width;

#[cfg(feature = "cache")]
pub(crate) use attributes::told_text;
use names::Names;

/// A recipe as [`Plan::to_text_with_lines`](super::Plan::to_text_with_lines) has it.
#[cfg(feature = "cache")]
pub(crate) fn text_of(recipe: &Recipe, bodies: &[Body]) -> String {
    text::Text::of(recipe, bodies, true)
}

/// FNV-1a, 64 bits: tells constants apart in a diff.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn dtype_name(dtype: DataType) -> &'static str {
    match dtype {
        DataType::F32 => "f32",
        DataType::F16 => "f16",
        DataType::Bf16 => "bf16",
        DataType::F64 => "f64",
        DataType::I8 => "i8",
        DataType::I16 => "i16",
        DataType::I32 => "i32",
        DataType::I64 => "i64",
        DataType::U8 => "u8",
        DataType::Bool => "bool",
        DataType::U16 => "u16",
        DataType::U32 => "u32",
        DataType::U64 => "u64",
        DataType::Complex32 => "complex32",
        DataType::Complex64 => "complex64",
        DataType::Complex128 => "complex128",
    }
}

fn class_name(class: Input) -> &'static str {
    match class {
        Input::Frozen => "frozen",
        Input::Static => "static",
        Input::Copied => "copied",
        Input::Tracked(OnMove::Recapture) => "tracked recapture",
        Input::Tracked(OnMove::Fail) => "tracked fail",
        Input::Updatable => "updatable",
        Input::Host => "host",
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Read => "read",
        Mode::Write => "write",
        Mode::ReadWrite => "read_write",
        Mode::Touch => "touch",
        Mode::Clobber => "clobber",
    }
}

fn kind_name(recipe: &Recipe, node: &Node) -> &'static str {
    match node.kind {
        NodeKind::Foreign(_) if recipe.operator(node).is_some() => "op",
        NodeKind::Foreign(_) => "foreign",
        NodeKind::Host(_) => "host",
        NodeKind::Copy => "copy_bytes",
        NodeKind::FillBytes(_) => "fill_bytes",
        NodeKind::Prefetch(_) => "prefetch",
        NodeKind::Record(_) => "record",
        NodeKind::Wait(_) => "wait",
        NodeKind::ExternalWait(_) => "wait_external",
        NodeKind::ExternalRecord(_) => "record_external",
        NodeKind::Upload(_) => "upload",
        NodeKind::Download(_) => "download",
        NodeKind::Call(_) => "call",
        NodeKind::Choose(_) => "choice",
        NodeKind::Begin(kind) => kind.name(),
        NodeKind::Case => "case",
        NodeKind::End => "end",
    }
}

/// What a node computes: the name of its operator in C, else its kind.
fn what<'a>(recipe: &'a Recipe, node: &Node) -> &'a str {
    recipe.operator(node).unwrap_or_else(|| kind_name(recipe, node))
}

/// Records and waits are no work of their own.
fn is_sync(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::Record(_) | NodeKind::Wait(_))
}

/// The nodes of each stream.
fn by_stream(recipe: &Recipe) -> Vec<Vec<usize>> {
    let mut streams = vec![Vec::new(); recipe.tags.len()];
    for (index, node) in recipe.nodes.iter().enumerate() {
        streams[usize::from(node.tag)].push(index);
    }
    streams
}

/// A size with the names of the symbols, the term of highest degree first.
fn show_extent(extent: &Extent, symbols: &[String]) -> String {
    match extent {
        Extent::Fixed(value) => value.to_string(),
        Extent::Symbolic(poly) => show_poly(poly, symbols),
    }
}

fn show_poly(poly: &Poly, symbols: &[String]) -> String {
    let mut terms: Vec<_> = poly.terms().collect();
    sort::by_key(&mut terms, |(powers, _)| {
        let degree: u32 = powers.iter().map(|power| u32::from(*power)).sum();
        (std::cmp::Reverse(degree), std::cmp::Reverse(**powers))
    });
    let mut text = String::new();
    for (powers, coefficient) in terms {
        let mut factors: Vec<String> = Vec::new();
        for (power, name) in powers.iter().zip(symbols) {
            factors.extend(std::iter::repeat_n(name.clone(), usize::from(*power)));
        }
        let size = coefficient.unsigned_abs();
        if size != 1 || factors.is_empty() {
            factors.insert(0, size.to_string());
        }
        text.push_str(match (*coefficient < 0, text.is_empty()) {
            (true, _) => "-",
            (false, true) => "",
            (false, false) => "+",
        });
        text.push_str(&factors.join("*"));
    }
    text
}

/// A value where it is used: its memory, type and shape; offset and strides where they are not the usual ones.
fn show_value(recipe: &Recipe, names: &Names, value: u32) -> String {
    let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
    let offset = match &info.offset {
        Extent::Fixed(0) => String::new(),
        Extent::Fixed(bytes) => format!("+{bytes}B"),
        Extent::Symbolic(poly) => format!("+({})B", show_poly(poly, &names.symbols)),
    };
    let strides = if layout.is_dense() {
        String::new()
    } else {
        format!(" strides {}", list(layout.strides.iter().map(|stride| show_extent(stride, &names.symbols))))
    };
    let dims = list(layout.dims.iter().map(|dim| dim.show(&names.symbols)));
    format!("{}{offset} {}{dims}{strides}", names.storages[info.storage as usize], dtype_name(layout.dtype))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}
