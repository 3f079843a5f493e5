//! Whatever the bytes are: a warning, the right result, and a good entry afterwards.

use std::fs;

use racl::ErrorKind;
use racl::cache::{Verdict, entries, readable_cache};
use racl::plan::{Plan, Registry};

use crate::{Root, assert_hit, assert_miss, assert_rebuilt, assert_uncached, decode};

#[track_caller]
fn assert_repaired(root: &Root, part: &str) {
    assert_rebuilt(root.cache(), part);
    root.assert_logged(&["warn: ", "clearing broken cache ", part]);
    assert_hit(root.cache());
}

#[test]
fn a_plan_that_is_cut_at_any_length_is_built_again() {
    let root = Root::new();
    assert_miss(root.cache());
    let (path, whole) = (root.recipe(), fs::read(root.recipe()).unwrap());
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(readable_cache(&path).is_err(), "{length} bytes");
        // Each length where the reasons differ, and a sample of the rest.
        if length < 100 || length % 37 == 0 || length + 2 > whole.len() {
            assert_repaired(&root, "");
            assert_eq!(fs::read(&path).unwrap(), whole);
        }
    }
    fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
    assert_repaired(&root, " bytes, not ");
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let root = Root::new();
    assert_miss(root.cache());
    let (path, whole) = (root.recipe(), fs::read(root.recipe()).unwrap());
    for at in 0..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 1 << (at % 8);
        fs::write(&path, &broken).unwrap();
        assert!(readable_cache(&path).is_err(), "byte {at}");
        assert!(entries(root.path()).unwrap()[0].verify().is_err(), "byte {at}");
        if at % 29 == 0 {
            assert_repaired(&root, "");
        }
    }
}

#[test]
fn another_version_of_the_format_is_built_again() {
    let root = Root::new();
    assert_miss(root.cache());
    let mut bytes = fs::read(root.recipe()).unwrap();
    bytes[8] = 77;
    fs::write(root.recipe(), bytes).unwrap();
    assert_repaired(&root, "its format is 77; this library reads 1");
}

/// Bytes of the header of an entry; the stored plan stands behind it.
const HEADER: usize = 92;

/// A stored plan as the format before this one would begin, sealed as it was. Gives its version and that of today.
fn as_of_the_version_before(plan: &mut [u8]) -> (u16, u16) {
    let now = u16::from_le_bytes([plan[8], plan[9]]);
    let before = now - 1;
    plan[8..10].copy_from_slice(&before.to_le_bytes());
    let end = plan.len() - 32;
    let seal = blake3::hash(&plan[..end]);
    plan[end..].copy_from_slice(seal.as_bytes());
    (before, now)
}

#[test]
fn a_plan_of_the_version_before_is_built_again_and_the_log_names_the_version() {
    let root = Root::new();
    assert_miss(root.cache());
    let whole = fs::read(root.recipe()).unwrap();
    let mut bytes = whole.clone();
    assert_eq!(&bytes[HEADER..HEADER + 8], b"raclplan");
    let (before, now) = as_of_the_version_before(&mut bytes[HEADER..]);
    // The hash of the recipe was another one then, too.
    let recipe = blake3::hash(&bytes[HEADER..]);
    bytes[52..84].copy_from_slice(recipe.as_bytes());
    let check = blake3::hash(&bytes[..84]);
    bytes[84..HEADER].copy_from_slice(&check.as_bytes()[..8]);
    let names = format!("format version {before}; this version of the crate reads {now}");
    fs::write(root.recipe(), &bytes).unwrap();
    let error = entries(root.path()).unwrap()[0].verify().unwrap_err();
    assert!(error.to_string().contains(&names), "{error}");
    assert_repaired(&root, &names);
    assert_eq!(fs::read(root.recipe()).unwrap(), whole);
    // So it is where nothing would be compared.
    fs::write(root.recipe(), &bytes).unwrap();
    assert_rebuilt(root.cache().verify(false), &names);
    assert_hit(root.cache());
}

#[test]
fn bytes_of_the_version_before_are_no_plan() {
    let plan = Plan::build(decode).unwrap();
    let mut bytes = plan.store().unwrap();
    assert_eq!(Plan::load(&bytes, &Registry::new()).unwrap().to_text(), plan.to_text());
    let (before, now) = as_of_the_version_before(&mut bytes);
    let error = Plan::load(&bytes, &Registry::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File, "{error}");
    let names = format!("format version {before}; this version of the crate reads {now}");
    assert!(error.to_string().contains(&names), "{error}");
}

#[test]
fn a_plan_from_another_folder_is_not_used() {
    let root = Root::new();
    assert_miss(root.cache());
    let (path, bytes) = (root.recipe(), fs::read(root.recipe()).unwrap());
    assert_miss(root.cache().salt("other"));
    for file in root.files().iter().filter(|file| file.ends_with("recipe.bin") && **file != path) {
        fs::write(file, &bytes).unwrap();
        let misplaced = entries(root.path()).unwrap().into_iter().find(|entry| file.starts_with(&entry.path));
        let error = misplaced.unwrap().verify().unwrap_err();
        assert!(error.to_string().contains("it was stored under the key "), "{error}");
    }
    assert_rebuilt(root.cache().salt("other"), "it was stored under the key ");
    assert_hit(root.cache());
}

#[test]
fn a_header_with_the_hash_of_another_plan_is_not_believed() {
    let root = Root::new();
    assert_miss(root.cache());
    // Magic bytes, format, length and the hash of the key; then that of the recipe, and the start of a hash of both.
    let mut bytes = fs::read(root.recipe()).unwrap();
    bytes[52] ^= 1;
    let check = blake3::hash(&bytes[..84]);
    bytes[84..92].copy_from_slice(&check.as_bytes()[..8]);
    fs::write(root.recipe(), &bytes).unwrap();
    let error = entries(root.path()).unwrap()[0].verify().unwrap_err();
    assert!(error.to_string().contains("its hash is that of another plan"), "{error}");
    assert_repaired(&root, "its hash is that of another plan");
}

#[test]
fn nonsense_of_any_size_is_built_again() {
    let root = Root::new();
    assert_miss(root.cache());
    for bytes in [vec![], vec![0], vec![0xff; 1 << 20], b"raclentr".repeat(100), b"raclplan".to_vec()] {
        fs::write(root.recipe(), &bytes).unwrap();
        assert_repaired(&root, "");
    }
}

#[test]
fn a_readable_file_that_is_broken_or_missing_does_not_matter() {
    let root = Root::new();
    assert_miss(root.cache());
    let meta = root.recipe().with_file_name("meta.json");
    for bytes in [&b""[..], b"{\"parts\": 3}", b"\xff"] {
        fs::write(&meta, bytes).unwrap();
        assert_hit(root.cache());
        assert_miss(root.cache().salt(format!("{bytes:?}")));
        assert!(entries(root.path()).unwrap().iter().all(|entry| entry.verify().is_ok()));
    }
    fs::remove_file(meta).unwrap();
    assert_hit(root.cache());
}

#[test]
fn files_of_the_users_with_our_names_are_neither_replaced_nor_cleared() {
    for name in ["recipe.bin", "meta.json", ".lock"] {
        let root = Root::new();
        assert_miss(root.cache());
        let folder = root.recipe().parent().unwrap().to_owned();
        for entry in fs::read_dir(&folder).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        let mine = folder.join(name);
        fs::write(&mine, "my notes").unwrap();
        fs::set_permissions(&mine, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let why = format!("{name}: no cache has written it, so it stays");
        assert_uncached(root.cache(), &why);
        assert_uncached(root.cache().verify(false), &why);
        assert_eq!(fs::read(&mine).unwrap(), b"my notes", "{name}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{name}");
        let entry = entries(root.path()).unwrap().remove(0);
        assert!(matches!(entry.verdict(), Verdict::Refuse(text) if text.contains(&why)), "{:?}", entry.verdict());
        assert!(entry.remove().unwrap_err().to_string().contains(&why));
        fs::remove_file(&mine).unwrap();
        assert_miss(root.cache());
    }
}

#[test]
fn what_the_user_has_put_there_stays() {
    let root = Root::new();
    assert_miss(root.cache());
    let folder = root.recipe().parent().unwrap().to_owned();
    let kept = [folder.join("notes.txt"), root.path().join("notes.txt"), folder.join(".recipe.bin.x.tmp")];
    for path in &kept {
        fs::write(path, "mine").unwrap();
    }
    fs::create_dir(folder.join("mine")).unwrap();
    // What a dead process has left goes.
    let left = folder.join(".recipe.bin.4194999.tmp");
    fs::write(&left, "half").unwrap();
    fs::write(root.recipe(), "broken").unwrap();
    assert_repaired(&root, "");
    assert!(!left.exists());
    let entry = entries(root.path()).unwrap().remove(0);
    entry.remove().unwrap();
    for path in kept.iter().chain([&folder.join("mine")]) {
        assert!(path.exists(), "{}", path.display());
    }
    assert!(!folder.join("recipe.bin").exists() && !folder.join("meta.json").exists());
}
