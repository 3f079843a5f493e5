//! Each chapter of the book is in its summary, and its code is run.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_chapter_is_listed_and_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chapters: BTreeSet<String> = fs::read_dir(root.join("docs/book/src"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "SUMMARY.md")
        .collect();
    assert!(chapters.len() >= 13, "{chapters:?}");
    let (summary, run) = (read(root, "docs/book/src/SUMMARY.md"), read(root, "src/book.rs"));
    for chapter in &chapters {
        assert!(summary.contains(&format!("({chapter})")), "{chapter} is not in the summary");
        assert!(run.contains(&format!("src/{chapter}\"")), "the code of {chapter} is not run");
        let text = read(root, &format!("docs/book/src/{chapter}"));
        // The programs of C are files, which the tests of `capi` and its installation run.
        assert!(text.contains("```rust") || chapter == "c.md", "{chapter} has no code");
        for line in text.lines().filter(|line| line.starts_with("```rust")) {
            let kept = ["ignore", "no_run", "compile_fail", "should_panic"].iter().any(|word| line.contains(word));
            assert!(!kept, "{chapter} has code that is not run: {line}");
        }
    }
    assert_eq!(summary.matches("](").count(), chapters.len());
    assert_eq!(run.matches("include_str!").count(), chapters.len());
}

fn read(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(name)).unwrap()
}
