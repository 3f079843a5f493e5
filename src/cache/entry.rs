//! What the files of an entry hold: a header that names the key, the stored plan, and what people read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::key::{FORMAT, Hash, Key, hash_of, hex};

/// The stored plan; an entry is there when this file is.
pub(super) const RECIPE: &str = "recipe.bin";
/// What is known about it, for people and for messages.
pub(super) const META: &str = "meta.json";

const MAGIC: [u8; 8] = *b"raclentr";
/// Magic bytes, format, length of the whole, hash of the key, hash of the recipe.
const HEADER: usize = 8 + 4 + 8 + 32 + 32;
/// The start of a hash of the header.
const CHECK: usize = 8;

/// The parts of a file.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) key: Hash,
    /// Of operators, attributes and plan, without source lines.
    pub(super) recipe: Hash,
    pub(super) plan: &'a [u8],
}

pub(super) fn join(key: &Hash, recipe: &Hash, plan: &[u8]) -> Vec<u8> {
    let length = HEADER + CHECK + plan.len();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend((length as u64).to_le_bytes());
    bytes.extend(key);
    bytes.extend(recipe);
    let check = hash_of(&bytes);
    bytes.extend(&check[..CHECK]);
    bytes.extend(plan);
    bytes
}

/// Checks the header at the start of `bytes`, of a file of `size` bytes.
fn check_header(bytes: &[u8], size: u64) -> Result<(), String> {
    if !bytes.starts_with(&MAGIC) {
        return Err("it is no stored plan: its first bytes are others".to_owned());
    }
    let Some((header, check)) = bytes.get(..HEADER + CHECK).map(|head| head.split_at(HEADER)) else {
        return Err(format!("it ends after {} bytes", bytes.len()));
    };
    let field = |at: usize| header[at..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let format = field(8) as u32;
    if format != FORMAT {
        return Err(format!("its format is {format}; this library reads {FORMAT}"));
    }
    if hash_of(header)[..CHECK] != *check {
        return Err("its header is damaged".to_owned());
    }
    let length = field(12);
    match length == size {
        true => Ok(()),
        false => Err(format!("it has {size} bytes, not {length}")),
    }
}

/// Most bytes of a stored plan. What is larger is neither written nor read.
pub(super) const MOST_PLAN: u64 = 1 << 32;

/// Whether a file begins as a stored plan does, whatever follows.
pub(super) fn is_marked(file: &File, _: u64) -> io::Result<bool> {
    let mut start = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// Reads a file of `size` bytes, unless its header tells that it is no stored plan of this size.
pub(super) fn read_plan(file: &File, size: u64) -> io::Result<Result<Vec<u8>, String>> {
    let mut bytes = Vec::new();
    file.take(size.min((HEADER + CHECK) as u64)).read_to_end(&mut bytes)?;
    if let Err(why) = check_header(&bytes, size) {
        return Ok(Err(why));
    }
    let rest = size - bytes.len() as u64;
    let room = |bytes: &mut Vec<u8>| bytes.try_reserve_exact(usize::try_from(rest).ok()?).ok();
    if size > MOST_PLAN || room(&mut bytes).is_none() {
        return Ok(Err(format!("its {size} bytes are too many")));
    }
    file.take(rest).read_to_end(&mut bytes)?;
    Ok(Ok(bytes))
}

/// Takes a file apart. The plan has a checksum of its own.
pub(super) fn split(bytes: &[u8]) -> Result<Parts<'_>, String> {
    check_header(bytes, bytes.len() as u64)?;
    let (header, plan) = bytes.split_at(HEADER + CHECK);
    let hash = |at: usize| header[at..].first_chunk::<32>().copied().unwrap_or_default();
    Ok(Parts { key: hash(20), recipe: hash(52), plan })
}

/// Numbers that go into the readable file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) operators: usize,
    pub(super) streams: usize,
    pub(super) bytes: usize,
    pub(super) build: Duration,
}

pub(super) fn meta(name: &str, function: &str, key: &Key, recipe: &Hash, figures: Figures) -> String {
    let parts: serde_json::Map<String, Value> =
        key.parts().iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    let written = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let meta = json!({
        "format": FORMAT,
        "name": name,
        "function": function,
        "key": hex(&key.hash()),
        "parts": parts,
        "recipe": hex(recipe),
        "operators": figures.operators,
        "streams": figures.streams,
        "bytes": figures.bytes,
        "build_seconds": figures.build.as_secs_f64(),
        "written": written,
    });
    format!("{meta:#}\n")
}

/// What is read back of the readable file. Whatever is missing or of another type is empty.
#[derive(Debug, Clone, Default)]
pub(super) struct Meta {
    pub(super) parts: BTreeMap<String, String>,
    pub(super) written: Option<SystemTime>,
    pub(super) operators: Option<u64>,
    pub(super) key: Option<String>,
}

/// Most bytes of a readable file.
const MOST_META: u64 = 1 << 20;

/// Reads the readable file, unless it is too large for one; nothing is known from one that is broken.
pub(super) fn read_meta_file(file: &File, size: u64) -> io::Result<Option<Meta>> {
    if size > MOST_META {
        return Err(io::Error::other(format!("its {size} bytes are more than {MOST_META}")));
    }
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes)?;
    Ok(read_meta(&bytes))
}

fn read_meta(bytes: &[u8]) -> Option<Meta> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let parts = value.get("parts").and_then(Value::as_object);
    let texts = parts.into_iter().flatten();
    let parts = texts.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
    let written = value.get("written").and_then(Value::as_u64);
    let written = written.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    let key = value.get("key").and_then(Value::as_str).map(str::to_owned);
    Some(Meta { parts, written, operators: value.get("operators").and_then(Value::as_u64), key })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_or_missing_byte_of_the_header_is_noticed() {
        let whole = join(&[1; 32], &[2; 32], b"plan");
        let parts = split(&whole).unwrap();
        assert_eq!((parts.key, parts.recipe, parts.plan), ([1; 32], [2; 32], &b"plan"[..]));
        for end in 0..whole.len() {
            assert!(split(&whole[..end]).is_err(), "{end}");
        }
        for at in 0..HEADER + CHECK {
            for bit in 0..8 {
                let mut broken = whole.clone();
                broken[at] ^= 1 << bit;
                assert!(split(&broken).is_err(), "bit {bit} of byte {at}");
            }
        }
        assert!(split(&[&whole[..], b"!"].concat()).unwrap_err().contains("it has 97 bytes, not 96"));
    }

    #[test]
    fn a_file_of_another_length_is_not_read_to_its_end() {
        let path = std::env::temp_dir().join(format!("racl-entry-{}", std::process::id()));
        std::fs::write(&path, join(&[1; 32], &[2; 32], b"plan")).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read_plan(&file, 96).unwrap().unwrap().len(), 96);
        // A hole of this size neither fits memory nor could be read in time.
        let size = 1 << 42;
        file.set_len(size).unwrap();
        io::Seek::rewind(&mut &file).unwrap();
        assert!(read_plan(&file, size).unwrap().unwrap_err().contains("bytes, not 96"));
        assert_eq!(io::Seek::stream_position(&mut &file).unwrap(), 92);
        assert!(read_meta_file(&file, size).unwrap_err().to_string().contains("are more than 1048576"));
    }

    #[test]
    fn what_people_read_is_read_back() {
        let mut key = Key::default();
        key.push("salt", "given: \"a\"");
        let figures = Figures { operators: 3, streams: 1, bytes: 96, build: Duration::from_millis(5) };
        let text = meta("Model", "decode", &key, &[2; 32], figures);
        let meta = read_meta(text.as_bytes()).unwrap();
        assert_eq!(meta.parts.get("salt").map(String::as_str), Some("given: \"a\""));
        assert_eq!((meta.operators, meta.key), (Some(3), Some(hex(&key.hash()))));
        assert!(meta.written.is_some());
        assert!(read_meta(b"[1]").unwrap().parts.is_empty());
        assert!(read_meta(b"{").is_none());
    }
}
