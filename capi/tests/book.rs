//! The programs of the book in C and C++ do what they say: each ends with 0.

use std::fs;
use std::path::PathBuf;

mod support;

use support::{C, SANITIZED, compiled, here, run};

/// Where a program stands, in which language it is, and its text.
struct Block {
    place: String,
    kind: String,
    text: String,
}

/// The programs of a chapter. What `tests/book.rs` of racl lets into the book besides is no code in C or C++.
fn blocks(chapter: &str, text: &str) -> Vec<Block> {
    let (mut found, mut open): (Vec<Block>, Option<Block>) = (Vec::new(), None);
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(kind), None) => {
                let place = format!("{chapter}:{}", number + 1);
                open = Some(Block { place, kind: kind.to_owned(), text: String::new() });
            }
            (None, Some(block)) => block.text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    found.retain(|block| ["c", "cpp"].contains(&block.kind.as_str()));
    found
}

fn book() -> Vec<Block> {
    let folder = here().join("../docs/book/src");
    let mut chapters: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    chapters.sort_unstable();
    let of = |path: &PathBuf| blocks(path.file_name().unwrap().to_str().unwrap(), &fs::read_to_string(path).unwrap());
    chapters.iter().flat_map(of).collect()
}

#[test]
fn every_program_of_the_book_in_c_and_c_plus_plus_does_what_it_says() {
    let book = book();
    for kind in ["c", "cpp"] {
        assert!(book.iter().any(|block| block.kind == kind), "none of kind {kind}");
    }
    for Block { place, kind, text } in book {
        let compiler = if kind == "c" { C } else { ("c++", "-std=c++17") };
        for flags in [&[][..], SANITIZED] {
            let folder = tempfile::tempdir().unwrap();
            let source = folder.path().join("block").with_extension(&kind);
            // What a compiler says has the place in the book.
            let line: usize = place.rsplit(':').next().unwrap().parse().unwrap();
            fs::write(&source, format!("#line {} \"{place}\"\n{text}", line + 1)).unwrap();
            assert_eq!(run(&mut compiled(folder.path(), compiler, &source, flags)), "", "{place}");
        }
    }
}

#[test]
fn programs_are_found_by_their_kind() {
    let found = blocks("x.md", "a\n```c\nint x;\n```\n```text\nno\n```\n```cpp\nint y;\nint z;\n```\n");
    let found: Vec<_> = found.iter().map(|block| (block.place.as_str(), block.text.as_str())).collect();
    assert_eq!(found, [("x.md:2", "int x;\n"), ("x.md:8", "int y;\nint z;\n")]);
}
