//! What is another key: one test for each row of the table in the documentation. Library, chip and executable are in
//! `child`.

use racl::cache::{CacheBuilder, Signature, Status};
use racl::op::DataType::{F16, F32};
use racl::plan::{Builder, Decompositions, Input, Options};

use crate::{Root, assert_hit, assert_miss, device, inputs, square};

/// That `changed` is another key than the plain cache, which the log explains, and that both stay.
#[track_caller]
fn assert_other(part: &str, changed: impl Fn(CacheBuilder) -> CacheBuilder) {
    let root = Root::new();
    assert_miss(root.cache());
    assert_miss(changed(root.cache()));
    root.assert_logged(&["info: ", &format!("differs in {part}: ")]);
    let others = root.log().into_iter().filter(|line| line.contains(" differs in ")).count();
    assert_eq!(others, 1, "{:#?}", root.log());
    root.assert_logged(&[" here, ", " there"]);
    assert_hit(changed(root.cache()));
    assert_hit(root.cache());
}

#[test]
fn changed_options_are_another_key() {
    assert_other("options", |cache| cache.options(Options::new().drop_repeated_prefetches()));
}

#[test]
fn another_salt_is_another_key() {
    let root = Root::new();
    assert_miss(root.cache());
    assert_miss(root.cache().salt("other"));
    let entry = |salt: &str| {
        let mut entries = racl::cache::entries(root.path()).unwrap().into_iter();
        let given = ("salt".to_owned(), format!("given: {salt:?}"));
        entries.find(|entry| entry.parts.contains(&given)).unwrap().path.display().to_string()
    };
    let line = format!(
        "info: compile cache: {} differs in salt: given: \"other\" here, given: \"tests\" there",
        entry("tests")
    );
    assert!(root.log().contains(&line), "{line} in {:#?}", root.log());
    assert_other("salt", |cache| cache.salt("other"));
    // Not what a user could give to look like a build id.
    assert_other("salt", |cache| cache.salt("\"tests\""));
}

#[test]
fn the_operator_cache_is_part_of_the_key() {
    assert_other("operator cache", |cache| cache.op_cache(true));
}

#[test]
fn decompositions_are_part_of_the_key() {
    let table = |version| {
        let tanh = |g: &Builder, _: &racl::plan::Operation, operands: &[racl::plan::Value]| g.muls(operands[0], 1.0);
        Decompositions::new().with("aclnnTanh", version, tanh).unwrap()
    };
    assert_other("decompositions", |cache| cache.decompositions(&table(1)));
    let root = Root::new();
    assert_miss(root.cache().decompositions(&table(1)));
    assert_miss(root.cache().decompositions(&table(2)));
    assert_hit(root.cache().decompositions(&table(1)));
}

#[test]
fn static_and_dynamic_caches_are_apart() {
    let root = Root::new();
    assert_miss(root.cache());
    assert_miss(root.cache().dynamic(false));
    assert_hit(root.cache().dynamic(true));
}

#[test]
fn caches_of_other_names_are_apart() {
    let root = Root::new();
    assert_miss(root.cache());
    let other = || racl::cache::CompileCache::builder("Other").cache_dir(root.path()).salt("tests");
    assert_miss(other());
    root.assert_logged(&["info: ", "differs in name: Other here, Model there"]);
    assert_hit(other());
    assert_hit(root.cache());
}

#[test]
fn other_inputs_in_another_process_are_another_key() {
    let (root, device) = (Root::new(), device());
    let compile = |inputs: Option<&Signature>, work: &dyn Fn(&Builder) -> racl::Result<()>| {
        let cache = root.cache().build().unwrap();
        let func = cache.func("decode");
        let func = if let Some(inputs) = inputs { func.inputs(inputs) } else { func };
        func.compile(&device, work).unwrap();
        func.status().unwrap()
    };
    let one = |dtype, class, size: usize| {
        let mut one = Signature::new();
        one.input("x", [size], dtype, class).unwrap();
        let work = move |g: &Builder| {
            let x = g.input("x", [size], dtype, class)?;
            let y = g.abs(x)?;
            g.output("y", y)
        };
        (one, work)
    };
    let cases = [(F32, Input::Copied, 4), (F16, Input::Copied, 4), (F32, Input::Frozen, 4), (F32, Input::Copied, 5)];
    for want in [Status::Miss, Status::Hit] {
        for (dtype, class, size) in cases {
            let (signature, work) = one(dtype, class, size);
            assert_eq!(compile(Some(&signature), &work), want, "{dtype:?} {class:?} {size}");
        }
        assert_eq!(compile(Some(&inputs(2)), &|g| square(g, 2)), want);
        assert_eq!(compile(None, &|g| square(g, 2)), want);
    }
    root.assert_logged(&["differs in inputs: ", "[5]", "here"]);
}

#[test]
fn symbols_and_their_bounds_are_part_of_the_key() {
    let (root, device) = (Root::new(), device());
    let compile = |greatest: usize| {
        let cache = root.cache().build().unwrap();
        let mut inputs = Signature::new();
        let n = inputs.symbol("n", 1..=greatest).unwrap();
        inputs.input("x", [n], F32, Input::Copied).unwrap();
        let plan = cache.func("decode").inputs(&inputs).compile(&device, |g| {
            let n = g.symbol("n", 1..=greatest)?;
            let x = g.input("x", [n], F32, Input::Copied)?;
            let y = g.abs(x)?;
            g.output("y", y)
        });
        assert!(plan.unwrap().is_dynamic());
        cache.status("decode").unwrap()
    };
    assert_eq!((compile(8), compile(9)), (Status::Miss, Status::Miss));
    assert_eq!((compile(8), compile(9)), (Status::Hit, Status::Hit));
}
