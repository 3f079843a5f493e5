//! Results in words and in JSON.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One JSON object a line: text, tokens (their ids), embedding, and similarity if asked for.
    Jsonl,
    /// For people: the start of each embedding, or a table of similarities.
    Plain,
}

/// A text with its embedding. As JSON, numbers have the shortest digits that give the same 32-bit float back.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Item {
    /// The text as given.
    pub text: String,
    /// Its token ids, after a truncation.
    pub tokens: Vec<u32>,
    /// Its embedding.
    pub embedding: Vec<f32>,
    /// Cosines with every text, in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<Vec<f32>>,
}

/// The cosine of the angle between two embeddings, which have norm 1.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let product: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    product as f32
}

/// Gives every item its cosines with all items.
pub fn compare(items: &mut [Item]) {
    let rows: Vec<Vec<f32>> = items
        .iter()
        .map(|item| items.iter().map(|other| cosine(&item.embedding, &other.embedding)).collect())
        .collect();
    items.iter_mut().zip(rows).for_each(|(item, row)| item.similarity = Some(row));
}

/// Writes one item.
///
/// # Errors
///
/// Those of `out`.
pub fn write_item(out: &mut dyn Write, format: Format, item: &Item) -> io::Result<()> {
    match format {
        Format::Jsonl => {
            serde_json::to_writer(&mut *out, item)?;
            writeln!(out)
        }
        Format::Plain => writeln!(out, "{}\n    {}", shown(item), Summary(item)),
    }
}

/// Writes the table of similarities that [`compare`] found.
///
/// # Errors
///
/// Those of `out`.
pub fn write_table(out: &mut dyn Write, items: &[Item]) -> io::Result<()> {
    let digits = items.len().to_string().len();
    write!(out, "{:digits$}", "")?;
    for column in 1..=items.len() {
        write!(out, "  {column:>6}")?;
    }
    writeln!(out)?;
    for (index, item) in items.iter().enumerate() {
        write!(out, "{:>digits$}", index + 1)?;
        for value in item.similarity.iter().flatten() {
            write!(out, "  {value:>6.3}")?;
        }
        writeln!(out, "  {}", shown(item))?;
    }
    Ok(())
}

fn shown(item: &Item) -> &str {
    if item.text.is_empty() { "(the empty text)" } else { &item.text }
}

/// An embedding in one line.
struct Summary<'a>(&'a Item);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 6;
        let Item { tokens, embedding, .. } = self.0;
        write!(f, "{} tokens, {} numbers:", tokens.len(), embedding.len())?;
        for number in embedding.iter().take(SHOWN) {
            write!(f, " {number:.6}")?;
        }
        if embedding.len() > SHOWN { write!(f, " …") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str, embedding: &[f32]) -> Item {
        Item { text: text.to_owned(), tokens: vec![101, 102], embedding: embedding.to_vec(), similarity: None }
    }

    fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_numbers_have_the_shortest_digits_that_come_back() {
        let numbers = [0.1_f32, -0.033_242_34, 1.0 / 3.0, f32::MIN_POSITIVE, 1.0];
        let line = written(|out| write_item(out, Format::Jsonl, &item("a \"b\"\n", &numbers)));
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.contains("[0.1,-0.03324234,0.33333334,"), "{line}");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        let back: Vec<f32> = serde_json::from_value(value["embedding"].clone()).unwrap();
        assert_eq!(back, numbers);
        assert_eq!(value["text"], "a \"b\"\n");
        assert!(value.get("similarity").is_none());
    }

    #[test]
    fn the_table_has_a_row_and_a_column_for_each_text() {
        let mut items = [item("east", &[1.0, 0.0]), item("north", &[0.0, 1.0]), item("north-east", &[0.6, 0.8])];
        compare(&mut items);
        let table = written(|out| write_table(out, &items));
        let expected = "        1       2       3\n\
                        1   1.000   0.000   0.600  east\n\
                        2   0.000   1.000   0.800  north\n\
                        3   0.600   0.800   1.000  north-east\n";
        assert_eq!(table, expected);
    }
}
