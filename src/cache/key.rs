//! The key of an entry: everything that is known without building, as named parts.

use std::collections::BTreeMap;

/// Version of the layout on disk and of the key.
pub(super) const FORMAT: u32 = 1;

/// A part that differs: its name, its value here, its value there.
pub(super) type Difference = (String, String, String);

/// A strong hash.
pub(super) type Hash = [u8; 32];

/// Named parts in a fixed order, and their hash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Key {
    parts: Vec<(String, String)>,
}

impl Key {
    pub(super) fn push(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.parts.push((name.into(), value.into()));
    }

    pub(super) fn parts(&self) -> &[(String, String)] {
        &self.parts
    }

    pub(super) fn hash(&self) -> Hash {
        self.hash_without(&[])
    }

    /// The value of a part.
    pub(super) fn part(&self, name: &str) -> Option<&str> {
        self.parts.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The hash of all parts but some.
    pub(super) fn hash_without(&self, left_out: &[&str]) -> Hash {
        let mut hash = blake3::Hasher::new();
        for (name, value) in self.parts.iter().filter(|(name, _)| !left_out.contains(&name.as_str())) {
            for text in [name, value] {
                hash.update(&(text.len() as u64).to_le_bytes());
                hash.update(text.as_bytes());
            }
        }
        hash.finalize().into()
    }

    /// The parts that differ from `other`.
    pub(super) fn differences(&self, other: &BTreeMap<String, String>) -> Vec<Difference> {
        let none = || "nothing".to_owned();
        let mut found = Vec::new();
        for (name, here) in &self.parts {
            if other.get(name) != Some(here) {
                found.push((name.clone(), here.clone(), other.get(name).cloned().unwrap_or_else(none)));
            }
        }
        for (name, there) in other.iter().filter(|(name, _)| !self.parts.iter().any(|(known, _)| known == *name)) {
            found.push((name.clone(), none(), there.clone()));
        }
        found
    }
}

pub(super) fn hash_of(bytes: &[u8]) -> Hash {
    *blake3::hash(bytes).as_bytes()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[(&str, &str)]) -> Key {
        let mut key = Key::default();
        parts.iter().for_each(|(name, value)| key.push(*name, *value));
        key
    }

    #[test]
    fn names_and_values_cannot_run_into_each_other() {
        assert_ne!(key(&[("a", "bc")]).hash(), key(&[("ab", "c")]).hash());
        assert_ne!(key(&[("a", "b"), ("c", "")]).hash(), key(&[("a", ""), ("b", "c")]).hash());
        assert_eq!(
            key(&[("a", "1"), ("b", "2")]).hash_without(&["b"]),
            key(&[("a", "1"), ("b", "3")]).hash_without(&["b"])
        );
    }

    #[test]
    fn differences_name_the_part_and_both_values() {
        let there = [("a", "1"), ("c", "4")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let found = key(&[("a", "2"), ("b", "3")]).differences(&there);
        let text = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(found, [text("a", "2", "1"), text("b", "3", "nothing"), text("c", "nothing", "4")]);
    }
}
