//! The parameters of all operators, as the generated functions say them.

use std::fs;
use std::path::Path;

#[derive(Debug, Clone)]
pub(super) struct Signature {
    /// The name in C.
    pub(super) name: String,
    pub(super) on_mock: bool,
    /// Names and kinds.
    pub(super) parameters: Vec<(String, String)>,
}

/// All of them, by name.
pub(super) fn signatures() -> Vec<Signature> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/op/aclnn");
    let mut all = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let blocks = text.split(");\n").filter(|block| block.contains("GetWorkspaceSize("));
        all.extend(blocks.map(of_block));
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    assert_eq!(all.len(), 940);
    all
}

fn of_block(block: &str) -> Signature {
    let (comment, code): (Vec<&str>, Vec<&str>) =
        block.lines().map(str::trim).partition(|line| line.starts_with("//"));
    let words: String = comment.iter().map(|line| line.trim_start_matches('/')).collect();
    let code = code.join(" ");
    let (head, parameters) = code.split_once("GetWorkspaceSize(").unwrap();
    let name = head.rsplit(' ').next().unwrap().to_owned();
    let parameters = parameters.split(", ").filter(|one| !one.is_empty()).map(|one| {
        let (name, kind) = one.trim().split_once(": ").unwrap();
        (name.to_owned(), kind.trim_end_matches(',').to_owned())
    });
    let on_mock = words.contains("On the mock");
    Signature { name, on_mock, parameters: parameters.collect() }
}
