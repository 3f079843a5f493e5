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
        assert!(text.contains("```rust") || text.contains("```cpp"), "{chapter} has no code");
        for line in text.lines().filter(|line| line.starts_with("```rust")) {
            let kept = ["ignore", "no_run", "compile_fail", "should_panic"].iter().any(|word| line.contains(word));
            assert!(!kept, "{chapter} has code that is not run: {line}");
        }
        check_kinds(chapter, &text);
    }
    assert_eq!(summary.matches("](").count(), chapters.len());
    assert_eq!(run.matches("include_str!").count(), chapters.len());
}

/// Rust runs with the documentation, C and C++ in `capi/tests/book.rs`. What is here besides is no code of racl: commands,
/// what they print, files, and a module of PyTorch.
const RUN: [&str; 3] = ["rust", "c", "cpp"];
const SHOWN: [&str; 5] = ["text", "sh", "console", "toml", "python"];

fn check_kinds(chapter: &str, text: &str) {
    let mut within = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), within) {
            (Some(kind), None) => {
                let kind = kind.split(',').next().unwrap_or_default();
                assert!(RUN.contains(&kind) || SHOWN.contains(&kind), "{chapter} has code of a kind {kind:?}");
                within = Some(kind);
            }
            (Some(rest), Some(_)) => {
                assert_eq!(rest, "", "{chapter} begins code within code");
                within = None;
            }
            (None, Some("text")) => assert!(!line.ends_with(';'), "{chapter} has code as text: {line}"),
            (None, _) => {}
        }
    }
    assert_eq!(within, None, "{chapter} ends within code");
}

#[test]
#[should_panic(expected = "x.md has code of a kind \"\"")]
fn code_of_no_kind_is_refused() {
    check_kinds("x.md", "```rust\nfn f() {}\n```\n```\nint f(void);\n```\n");
}

#[test]
#[should_panic(expected = "x.md has code as text: int f(void);")]
fn code_as_text_is_refused() {
    check_kinds("x.md", "```text\nint f(void);\n```\n");
}

fn read(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(name)).unwrap()
}
