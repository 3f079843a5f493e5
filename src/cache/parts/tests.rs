use std::collections::BTreeSet;

use super::*;
use crate::Acl;
use crate::cache::CompileCache;
use crate::op::DataType::F32;
use crate::plan::{Decompositions, Foreign, HostFunction, Input, Options};

fn sample() -> Parts {
    let text = |text: &str| text.to_owned();
    let facts = Facts {
        library: text("library"),
        packages: ["toolkit", "runtime", "operators", "kernels", "driver"].map(text),
        chip: text("chip"),
        cores: text("cores"),
        limits: text("limits"),
    };
    Parts {
        format: 1,
        version: text("0.1.0"),
        features: text("cache"),
        headers: text("CANN 9.0"),
        machine: text("x86_64 linux"),
        name: text("Model"),
        shapes: text("dynamic"),
        options: text("none"),
        streams: text("None"),
        op_cache: false,
        decompositions: text("gelu 1"),
        closure: text("main::{{closure}}"),
        registry: String::new(),
        inputs: text("x F32 [2]"),
        given: vec![(text("layers"), text("12"))],
        facts,
        salt: text("build id 00"),
    }
}

type Change = fn(&mut Parts);

/// A change of each part, by the part's name in the key.
const CHANGES: [(&str, Change); 25] = [
    ("format", |parts| parts.format += 1),
    ("crate", |parts| parts.version.push('1')),
    ("features", |parts| parts.features.push('1')),
    ("headers", |parts| parts.headers.push('1')),
    ("machine", |parts| parts.machine.push('1')),
    ("name", |parts| parts.name.push('1')),
    ("shapes", |parts| parts.shapes.push('1')),
    ("options", |parts| parts.options.push('1')),
    ("streams of dynamic plans", |parts| parts.streams.push('1')),
    ("operator cache", |parts| parts.op_cache = true),
    ("decompositions", |parts| parts.decompositions.push('1')),
    ("closure", |parts| parts.closure.push('1')),
    ("registry", |parts| parts.registry.push('1')),
    ("inputs", |parts| parts.inputs.push('1')),
    ("part \"layers\"", |parts| parts.given[0].1.push('1')),
    ("library", |parts| parts.facts.library.push('1')),
    ("version of the toolkit", |parts| parts.facts.packages[0].push('1')),
    ("version of the runtime", |parts| parts.facts.packages[1].push('1')),
    ("version of the operators", |parts| parts.facts.packages[2].push('1')),
    ("version of the kernels", |parts| parts.facts.packages[3].push('1')),
    ("version of the driver", |parts| parts.facts.packages[4].push('1')),
    ("chip", |parts| parts.facts.chip.push('1')),
    ("cores", |parts| parts.facts.cores.push('1')),
    ("core limits", |parts| parts.facts.limits.push('1')),
    ("salt", |parts| parts.salt.push('1')),
];

/// Names of the parts in which two keys differ.
fn differing(a: &Key, b: &Key) -> Vec<String> {
    a.differences(&b.parts().iter().cloned().collect()).into_iter().map(|(name, ..)| name).collect()
}

#[test]
fn each_part_makes_another_key_and_the_log_names_just_it() {
    let plain = sample().key();
    let names: Vec<&str> = plain.parts().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, CHANGES.map(|(name, _)| name), "a part of the key has no row in CHANGES");
    let mut hashes = BTreeSet::from([plain.hash()]);
    for (name, change) in CHANGES {
        let mut changed = sample();
        change(&mut changed);
        let key = changed.key();
        assert!(hashes.insert(key.hash()), "{name}");
        assert_eq!(differing(&key, &plain), [name]);
        assert_eq!(key.hash_without(&[INPUTS]) == plain.hash_without(&[INPUTS]), name == INPUTS, "{name}");
    }
}

#[test]
fn the_table_in_the_documentation_has_each_part() {
    let docs = include_str!("../../cache.rs");
    let rows = docs.lines().filter_map(|line| line.strip_prefix("/// | `")?.split('|').next());
    let named: BTreeSet<&str> = rows.flat_map(|cell| cell.trim().trim_end_matches('`').split("`, `")).collect();
    let parts = CHANGES.map(|(name, _)| if name.starts_with("part ") { "part \"…\"" } else { name });
    assert_eq!(named, parts.into());
}

fn func(settings: impl FnOnce(crate::cache::CacheBuilder) -> crate::cache::CacheBuilder) -> Func {
    settings(CompileCache::builder("Model").cache_dir("/nowhere").world_size(1)).build().unwrap().func("decode")
}

/// The parts as a compilation has them, where device and salt do not matter.
fn parts_of(func: &Func, closure: &Closure) -> Parts {
    func.parts(closure, sample().facts, "salt".to_owned())
}

#[test]
fn each_setting_changes_its_part() {
    let closure = Closure::of::<u8>();
    let plain = || func(|cache| cache.dynamic(false));
    let key = |func: &Func| parts_of(func, &closure).key();
    let before = key(&plain());
    let mut inputs = Signature::new();
    inputs.input("x", [2], F32, Input::Copied).unwrap();
    let table = |version| {
        let same =
            |_: &crate::plan::Builder, _: &crate::plan::Operation, operands: &[crate::plan::Value]| Ok(operands[0]);
        Decompositions::new().with("aclnnGeluV2", version, same).unwrap()
    };
    let with = |change: fn(crate::cache::CacheBuilder) -> crate::cache::CacheBuilder| {
        func(|cache| change(cache.dynamic(false)))
    };
    let cases = [
        ("shapes", func(|cache| cache)),
        ("options", with(|cache| cache.options(Options::new().single_stream()))),
        ("operator cache", with(|cache| cache.op_cache(true))),
        ("decompositions", func(|cache| cache.dynamic(false).decompositions(&table(1)))),
        ("registry", plain().registry(&Registry::new().host_function(&HostFunction::new("log", 1, |_| {})))),
        ("inputs", plain().inputs(&inputs)),
        ("part \"layers\"", plain().part("layers", 12)),
    ];
    for (name, func) in cases {
        assert_eq!(differing(&key(&func), &before), [name]);
    }
    let other = CompileCache::builder("Other").cache_dir("/nowhere").world_size(1).dynamic(false).build().unwrap();
    assert_eq!(differing(&key(&other.func("decode")), &before), ["name"]);
    let (one, two) = (key(&with(|cache| cache)), parts_of(&plain(), &Closure::of::<u16>()).key());
    assert_eq!((differing(&one, &before), differing(&two, &before)), (vec![], vec!["closure".to_owned()]));
    let versions = [1, 2].map(|version| key(&func(|cache| cache.dynamic(false).decompositions(&table(version)))));
    assert_eq!(differing(&versions[0], &versions[1]), ["decompositions"]);
    let streams = [2, 3].map(|count| {
        let options = Options::new().auto_streams(count);
        key(&func(|cache| cache.options(options)))
    });
    assert_eq!(differing(&streams[0], &streams[1]), ["options", "streams of dynamic plans"]);
}

#[test]
fn what_is_registered_is_told_by_name_version_attributes_and_cores() {
    let closure = Closure::of::<u8>();
    let foreign = |version, attributes: &[u8]| Foreign::new("scale", version, |_| Ok(())).attributes(attributes);
    let key = |operator: &Foreign| {
        let registry = Registry::new().foreign(operator);
        parts_of(&func(|cache| cache).registry(&registry), &closure).key()
    };
    let plain = key(&foreign(1, b"ab"));
    assert_eq!(plain, key(&foreign(1, b"ab")));
    let needy = foreign(1, b"ab").needs(crate::plan::Cores { cube: 1, vector: 0 });
    let unlike = [foreign(2, b"ab"), foreign(1, b"ac"), foreign(1, b""), needy];
    for other in unlike {
        assert_eq!(differing(&key(&other), &plain), ["registry"], "{other:?}");
    }
    let host = HostFunction::new("scale", 1, |_| {});
    let registry = Registry::new().host_function(&host);
    let host = parts_of(&func(|cache| cache).registry(&registry), &closure).key();
    assert_eq!(differing(&host, &key(&foreign(1, b""))), ["registry"]);
    // The order does not matter.
    let (a, b) = (foreign(1, b""), HostFunction::new("log", 1, |_| {}));
    assert_eq!(
        Registry::new().foreign(&a).host_function(&b).text(),
        Registry::new().host_function(&b).foreign(&a).text()
    );
}

#[test]
fn what_nobody_sets_is_what_runs() {
    let parts = parts_of(&func(|cache| cache), &Closure::of::<u8>());
    assert_eq!((parts.format, parts.version.as_str()), (FORMAT, env!("CARGO_PKG_VERSION")));
    assert_eq!(parts.features.split(", ").collect::<Vec<_>>(), crate::BUILD.features);
    assert_eq!(parts.headers, crate::BUILD.headers);
    assert_eq!(parts.machine, format!("{} {}", std::env::consts::ARCH, std::env::consts::OS));
    let device = Acl::mock().unwrap().device(0).unwrap();
    let salt = |func: &Func| {
        let key = func.key(device.context(), &Closure::of::<u8>()).unwrap();
        key.parts().last().unwrap().clone()
    };
    let own = salt::of_code(0).unwrap();
    assert_eq!(salt(&func(|cache| cache)), ("salt".to_owned(), own.clone()));
    // What a user gives never looks like a build id.
    assert_eq!(salt(&func(|cache| cache.salt(own.clone()))), ("salt".to_owned(), format!("given: {own:?}")));
    let key = func(|cache| cache).key(device.context(), &Closure::of::<u8>()).unwrap();
    let soc = device.acl().soc_name().unwrap();
    assert!(key.parts().contains(&("chip".to_owned(), soc)), "{key:?}");
}
