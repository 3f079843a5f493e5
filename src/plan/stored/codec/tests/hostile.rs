//! Files that someone made by hand.

use std::sync::Arc;

use crate::op::DataType::{self, F32};
use crate::op::{Token, aclnn, recorded};
use crate::plan::check::finding::{Finding, FindingKind};
use crate::plan::recipe::callable::CallInfo;
use crate::plan::recipe::info::Parts;
use crate::plan::recipe::layout::{Extent, Layout};
use crate::plan::recipe::quantity::Form;
use crate::plan::recipe::{EventInfo, FunctionInfo, FunctionKind, Input, Mode, NodeKind, Recipe, StorageKind};
use crate::plan::stored::Code;
use crate::plan::stored::codec::{DecodeError, MAGIC, VERSION, decode, encode};
use crate::plan::symbols::dim::{Dim, MAX_SYMBOLS};
use crate::plan::symbols::poly::Poly;
use crate::plan::{Foreign, HostFunction, NotLoaded, Plan, Value};

use super::sealed;

/// A varint that says `u64::MAX`.
const HUGE: [u8; 10] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];

#[test]
fn what_is_no_plan_at_all_is_named() {
    assert_eq!(decode(&[]), Err(DecodeError::Magic));
    assert_eq!(decode(b"r"), Err(DecodeError::Magic));
    assert_eq!(decode(&[0; 200]), Err(DecodeError::Magic));
    assert_eq!(decode(&MAGIC), Err(DecodeError::Short(8)));
    assert!(matches!(decode(&sealed(&[])), Err(DecodeError::Unreadable { .. })));
    let mut other = sealed(&[]);
    other[8] = VERSION as u8 + 1;
    assert_eq!(decode(&other), Err(DecodeError::Version(VERSION + 1)));
    assert_eq!(DecodeError::Version(12).to_string(), "format version 12; this version of the crate reads 11");
}

#[test]
fn counts_beyond_the_file_are_refused_before_room_is_taken() {
    let text = |content: &[u8]| decode(&sealed(content)).unwrap_err().to_string();
    assert_eq!(text(&HUGE), "18446744073709551615 times plan that is called in 0 bytes");
    // No plans that are called, by nobody; no symbols, then more tags than two bytes each allow.
    assert_eq!(text(&[0, 0, 0, 2, 0, 0, 0]), "2 times tag in 3 bytes");
    // One tag, whose name is longer than the file.
    assert!(text(&[&[0, 0, 0, 1][..], &HUGE].concat()).starts_with("tag 0 cannot be read"));
    // No symbol, one tag "", no events, externals or storages, one layout of F32 with that many dimensions.
    assert!(text(&[&[0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0][..], &HUGE].concat()).starts_with("layout 0 cannot be read"));
}

/// Two inputs, one of the host, an event, a constant, functions, a view, symbols and an output.
fn sound() -> Recipe {
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n, Dim::from(4)], F32, Input::Copied)?;
        let h = g.input("h", [4_usize], F32, Input::Host)?;
        let c = g.constant(&[1.0_f32; 4], [4])?;
        let event = g.event("event")?;
        let side = g.scope("side", |g| {
            let side = g.add(x, h)?;
            g.record(&event)?;
            Ok(side)
        })?;
        g.wait(&event)?;
        let part = g.narrow(side, 1, 0..2)?;
        let part = g.tanh(part)?;
        g.record_stream(x, "side")?;
        g.foreign(&Foreign::new("f", 1, |_| Ok(())), &[c], &[h])?;
        g.host_function(&HostFunction::new("g", 1, |_| {}))?;
        let gate = g.external("gate")?;
        g.record_external(gate)?;
        g.prefetch(c, crate::Prefetch::all(), crate::plan::After::Start)?;
        g.output_to_host("y", part)
    });
    plan.unwrap().0.recipe.clone()
}

/// The position of the first node for which `wanted` holds.
fn find(recipe: &Recipe, wanted: impl Fn(NodeKind) -> bool) -> usize {
    recipe.nodes.iter().position(|node| wanted(node.kind)).unwrap()
}

/// The sum, and the function that it is.
const ADD: u32 = 0;
const TANH: u32 = 1;
/// The foreign operator, and the host function.
const FOREIGN: u32 = 2;
const HOST: u32 = 3;

fn is_op(kind: NodeKind) -> bool {
    kind == NodeKind::Foreign(ADD)
}

#[test]
fn operators_by_name_have_the_arguments_and_the_tensors_that_they_take() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], DataType::F32, Input::Copied)?;
        let (mut values, mut order) = (g.empty([4], DataType::F32)?, g.empty([4], DataType::I64)?);
        aclnn::sort(g, &x, true, 0, false, &mut values, &mut order)?;
        g.output("y", values)
    });
    let whole = plan.unwrap().0.recipe.clone();
    let load = |change: &dyn Fn(&mut Recipe)| {
        let mut recipe = whole.clone();
        change(&mut recipe);
        Plan::from_bytes(&encode(&recipe, &[]), Code::None).map(|(plan, _)| plan.0.recipe.clone())
    };
    assert_eq!(load(&|_| {}).as_ref(), Ok(&whole));
    let broken = |change: &dyn Fn(&mut Recipe), says: &str| match load(change) {
        Err(NotLoaded::Broken(why)) => assert!(why.contains(says), "{why}"),
        other => panic!("{says}: {other:?}"),
    };
    broken(&|r| r.functions[0].change(|one| one.attributes = one.attributes[..20].into()), "function 0");
    broken(
        &|r| r.functions[0].change(|one| one.attributes = [&*one.attributes, &[0]].concat().into()),
        "behind the last argument",
    );
    // A tensor where a number belongs.
    broken(&|r| r.functions[0].change(|one| one.attributes[2] = 0), "it takes Number");
    broken(&|r| r.functions[0].change(|one| one.name = Some("aclnnAbs".into())), "function 0");
    broken(&|r| r.accesses[1].mode = Mode::Read, "other accesses");
    broken(&|r| r.nodes[0].count = 2, "other accesses");
    // A result of another shape, and of a type that places are not stored as.
    broken(
        &|r| {
            r.layouts.push(Layout::dense(DataType::F32, &[Dim::from(2), Dim::from(2)]).unwrap());
            r.values[1].layout = r.layouts.len() as u32 - 1;
        },
        "aclnnSort: F32 [4] into F32 [2, 2]",
    );
    broken(
        &|r| {
            r.layouts.push(Layout::dense(DataType::F64, &[Dim::from(4)]).unwrap());
            r.values[2].layout = r.layouts.len() as u32 - 1;
        },
        "aclnnSort: I64 [4] into F64 [4]",
    );
    match load(&|r| r.functions[0].change(|one| one.name = Some("aclnnSortOfTomorrow".into()))) {
        Err(NotLoaded::Unbound(why)) => assert!(why.contains("aclnnSortOfTomorrow"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_that_are_told_later_are_ones_that_the_operator_takes() {
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=8)?;
        let x = g.input("x", [n * 2], F32, Input::Copied)?;
        let mut y = g.empty([n], F32)?;
        aclnn::slice(&g.telling("end", n), &x, 0, 0, 0, 1, &mut y)?;
        g.output("y", y)
    });
    let whole = plan.unwrap().0.recipe.clone();
    assert_eq!(decode(&encode(&whole, &[])).unwrap().recipe, whole);
    let broken = |change: &dyn Fn(&mut Recipe), says: &str| {
        let mut recipe = whole.clone();
        change(&mut recipe);
        let error = decode(&encode(&recipe, &[])).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
    };
    let beyond = Dim::symbol(1);
    broken(&|r| r.functions[0].later_mut()[0].parameter = "self_".to_owned(), "no number that can be told");
    broken(&|r| r.functions[0].later_mut()[0].parameter = "ende".to_owned(), "\"ende\"");
    broken(&|r| r.functions[0].later_mut()[0].numbers.push(Form::Whole(1)), "2 numbers for end");
    broken(&|r| r.functions[0].later_mut()[0].numbers.clear(), "0 numbers for end");
    broken(&|r| r.functions[0].later_mut()[0].numbers[0] = Form::Size(beyond), "a symbol that is not there");
    broken(&|r| r.functions[0].later_mut()[0].numbers[0] = Form::Power(0, Dim::symbol(0), 0), "no integer for end");
    broken(&|r| r.functions[0].later_mut()[0].each_run = true, "unlike its symbols");
    broken(&|r| r.symbols[0].each_run = true, "layout 0: the dimension");
    broken(&|r| r.functions[0].change(|one| one.kind = FunctionKind::Foreign), "function 0");
}

#[test]
fn every_rule_is_checked() {
    type Case = (&'static str, fn(&mut Recipe));
    let cases: &[Case] = &[
        ("symbol 0: the bounds 5 to 4", |r| r.symbols[0].least = 5),
        ("symbol 0: the bounds 1 to 2147483649", |r| r.symbols[0].greatest = (1 << 31) + 1),
        ("symbol 0: the name \"\" is empty or taken", |r| r.symbols[0].name.clear()),
        ("symbol 8: more than 8", |r| r.symbols = vec![r.symbols[0].clone(); 9]),
        ("tag 0: not that of the origin", |r| r.tags.clear()),
        ("tag 0: not that of the origin", |r| r.tags[0].name.push('2')),
        ("tag 1: a priority above 7", |r| r.tags[1].priority = 8),
        ("tag 2: the name \"side\" is empty or taken", |r| r.tags[2].name = "side".to_owned()),
        ("event 5: nothing records it", |r| r.events.push(EventInfo { name: None })),
        ("external gate 0: the name \"\" is empty or taken", |r| r.externals[0].clear()),
        ("input 1: the name \"x\" is empty or taken", |r| r.inputs[1].name = "x".to_owned()),
        ("output 0: the name \"\" is empty or taken", |r| r.outputs[0].name.clear()),
        ("function 1: an empty name", |r| r.functions[1].change(|one| one.name = Some("".into()))),
        ("source place 0: a source file that is not there", |r| r.places.all[0].0 = 9),
        ("prefetch cap 0: 1001 thousandths", |r| r.prefetch_cap = 1001),
        ("layout 0: 9 dimensions and 9 strides", |r| {
            r.layouts[0].dims = vec![Dim::fixed(1); 9];
            r.layouts[0].strides = vec![Extent::Fixed(1); 9];
        }),
        ("layout 0: 2 dimensions and 1 strides", |r| drop(r.layouts[0].strides.pop())),
        ("layout 0: the dimension s0-5", |r| {
            r.layouts[0].dims[0] = Dim::from_parts(1, -5, r.layouts[0].dims[0].parts().2);
        }),
        ("layout 0: the dimension s1", |r| r.layouts[0].dims[0] = Dim::symbol(1)),
        ("layout 0: the dimension ?", |r| r.layouts[0].dims[0] = Dim::fixed(u64::MAX)),
        ("layout 0: a stride that memory cannot have", |r| r.layouts[0].strides[0] = Extent::Fixed(1 << 62)),
        ("storage 0: more bytes than memory can have", |r| r.storages[0].bytes = Extent::Fixed(1 << 62)),
        ("storage 2: Input(7) is not there or has one already", |r| {
            r.storages[2].kind = StorageKind::Input(7);
        }),
        ("value 0: a storage or layout that is not there", |r| r.values[0].storage = 99),
        ("value 0: a storage or layout that is not there", |r| r.values[0].layout = 99),
        ("value 0: an offset that its type cannot have", |r| r.values[0].offset = Extent::Fixed(2)),
        ("value 0: it is not inside its storage", |r| r.values[0].offset = Extent::Fixed(4)),
        ("value 0: it is not inside its storage", |r| r.layouts[0].strides[0] = Extent::Fixed(5)),
        ("constant 0: other bytes than its storage has", |r| r.constants[0].push(0)),
        ("constant 1: no storage has it", |r| r.constants.push(Vec::new())),
        ("input 0: its value is not all of its memory", |r| r.inputs[0].value = 1),
        ("input 0: its value is not all of its memory", |r| r.inputs[0].value = u32::MAX),
        ("input 0: a frozen input whose shape has symbols", |r| r.inputs[0].class = Input::Frozen),
        ("input 0: nothing uploads it", |r| r.inputs[0].class = Input::Host),
        ("output 0: its value is not all of its memory", |r| r.outputs[0].value = 0),
        ("access 1: a value that is not there", |r| r.accesses[1].value = 99),
        ("node 0: a source place that is not there", |r| r.nodes[0].place = 99),
        ("node 0: a core limit that is not there", |r| r.nodes[0].cores = 1),
        ("node 0: a stream that is not there", |r| r.nodes[0].tag = 9),
        ("node 0: accesses that are not there", |r| r.nodes[0].first = u32::MAX),
        ("reservation 0: a storage or node that is not there", |r| r.reserved[0].0 = 99),
        ("reservation 0: a storage or node that is not there", |r| r.reserved[0].1 = 99),
    ];
    assert_eq!(decode(&encode(&sound(), &[])).map(drop), Ok(()));
    for (text, change) in cases {
        let mut recipe = sound();
        change(&mut recipe);
        let error = decode(&encode(&recipe, &[])).expect_err(text);
        assert_eq!(error.to_string(), *text);
    }
}

/// Makes the input "x" updatable, and an access of a node one to it.
fn updatable(recipe: &mut Recipe, node: usize, access: usize) {
    recipe.inputs[0].class = Input::Updatable;
    let first = recipe.nodes[node].first as usize;
    recipe.accesses[first + access].value = recipe.inputs[0].value;
}

#[test]
fn nodes_have_the_accesses_of_their_kind() {
    type Case = (&'static str, fn(NodeKind) -> bool, fn(&mut Recipe, usize));
    let is_foreign = |kind| kind == NodeKind::Foreign(FOREIGN);
    let is_wait = |kind| matches!(kind, NodeKind::Wait(_));
    let is_record = |kind| matches!(kind, NodeKind::Record(_));
    let is_prefetch = |kind| matches!(kind, NodeKind::Prefetch(_));
    let cases: &[Case] = &[
        ("aclnnAdd with other accesses than it was told of", is_op, |r, i| r.nodes[i].count = 2),
        ("aclnnAdd with other accesses than it was told of", is_op, |r, i| r.nodes[i].count = 0),
        ("accesses that are not there", is_op, |r, i| r.nodes[i].count = u16::MAX),
        ("aclnnAdd with other accesses than it was told of", is_op, |r, i| {
            let first = r.nodes[i].first as usize;
            r.accesses[first].mode = Mode::ReadWrite;
        }),
        (
            "aclnnTanh: an operand overlaps its result",
            |kind| kind == NodeKind::Foreign(TANH),
            |r, i| {
                let first = r.nodes[i].first as usize;
                let mut value = r.values[r.accesses[first].value as usize].clone();
                value.offset = Extent::Fixed(4);
                r.values.push(value);
                r.accesses[first + 1].value = r.values.len() as u32 - 1;
            },
        ),
        ("it writes to a constant", is_foreign, |r, i| {
            let constant = r.accesses[r.nodes[i].first as usize].value;
            let from = r.nodes[i].first as usize;
            r.nodes[i].kind = NodeKind::FillBytes(0);
            (r.nodes[i].first, r.nodes[i].count) = (from as u32 + 1, 1);
            r.accesses[from + 1].value = constant;
        }),
        ("Foreign(3) does not fit the rest of the plan", is_foreign, |r, i| {
            r.nodes[i].kind = NodeKind::Foreign(HOST);
        }),
        ("Foreign(9) does not fit the rest of the plan", is_foreign, |r, i| {
            r.nodes[i].kind = NodeKind::Foreign(9);
        }),
        ("Foreign(2) does not fit the rest of the plan", is_foreign, |r, i| {
            let first = r.nodes[i].first as usize;
            r.accesses.swap(first, first + 1);
        }),
        ("Host(2) does not fit the rest of the plan", is_foreign, |r, i| r.nodes[i].kind = NodeKind::Host(FOREIGN)),
        ("Copy does not fit the rest of the plan", is_foreign, |r, i| {
            r.nodes[i].kind = NodeKind::Copy;
            r.nodes[i].count = 1;
        }),
        ("Prefetch(0) of an updatable input, which only operators can use", is_prefetch, |r, i| updatable(r, i, 0)),
        ("Copy of an updatable input, which only operators can use", is_foreign, |r, i| {
            r.nodes[i].kind = NodeKind::Copy;
            updatable(r, i, 0);
        }),
        ("Copy of an updatable input, which only operators can use", is_foreign, |r, i| {
            r.nodes[i].kind = NodeKind::Copy;
            updatable(r, i, 1);
        }),
        ("FillBytes(7) of an updatable input, which only operators can use", is_foreign, |r, i| {
            r.nodes[i].kind = NodeKind::FillBytes(7);
            r.nodes[i].count = 1;
            updatable(r, i, 0);
        }),
        ("Wait(9) does not fit the rest of the plan", is_wait, |r, i| r.nodes[i].kind = NodeKind::Wait(9)),
        ("Record(9) does not fit the rest of the plan", is_record, |r, i| {
            r.nodes[i].kind = NodeKind::Record(9);
        }),
        ("ExternalWait(1) does not fit the rest of the plan", is_wait, |r, i| {
            r.nodes[i].tag = 0;
            r.nodes[i].kind = NodeKind::ExternalWait(1);
        }),
        ("Prefetch(99) does not fit the rest of the plan", is_prefetch, |r, i| {
            r.nodes[i].kind = NodeKind::Prefetch(99);
        }),
        ("Prefetch(0) does not fit the rest of the plan", is_prefetch, |r, _| {
            r.prefetches[0].offset = 16;
        }),
        ("Prefetch(0) does not fit the rest of the plan", is_prefetch, |r, _| {
            r.prefetches[0].max_bytes = 0;
        }),
        ("the first work of its stream, which waits for nothing", is_wait, |r, i| {
            r.nodes.remove(i);
            r.nodes.insert(0, r.nodes[0]);
            (r.nodes[0].kind, r.nodes[0].tag) = (NodeKind::Host(HOST), 1);
            r.nodes[0].count = 0;
        }),
    ];
    for (text, wanted, change) in cases {
        let mut recipe = sound();
        let index = find(&recipe, wanted);
        change(&mut recipe, index);
        let error = decode(&encode(&recipe, &[])).expect_err(text);
        assert!(error.to_string().ends_with(text), "{error} instead of {text}");
    }
}

#[test]
fn a_wait_before_its_record_is_refused() {
    let mut recipe = sound();
    let record = find(&recipe, |kind| matches!(kind, NodeKind::Record(_)));
    let NodeKind::Record(event) = recipe.nodes[record].kind else { unreachable!() };
    let wait = find(&recipe, |kind| kind == NodeKind::Wait(event));
    recipe.nodes.swap(record, wait);
    assert!(matches!(decode(&encode(&recipe, &[])), Err(DecodeError::Invalid { .. })));
}

#[test]
fn a_stream_that_is_not_joined_is_refused() {
    let mut recipe = sound();
    let last = recipe.nodes.iter().rposition(|node| node.tag == 0 && matches!(node.kind, NodeKind::Wait(_)));
    recipe.nodes.remove(last.unwrap());
    recipe.reserved.clear();
    let decoded = decode(&encode(&recipe, &[])).unwrap();
    let registry = crate::plan::Registry::new()
        .foreign(&Foreign::new("f", 1, |_| Ok(())))
        .host_function(&HostFunction::new("g", 1, |_| {}));
    let bodies = registry.bodies(&decoded.recipe).unwrap();
    let error = Plan::from_decoded(decoded.recipe, decoded.lints, bodies).unwrap_err().to_string();
    assert!(error.contains("is joined by nothing"), "{error}");
}

#[test]
fn code_of_another_kind_is_refused() {
    let recipe = decode(&encode(&sound(), &[])).unwrap().recipe;
    assert!(Plan::from_decoded(recipe.clone(), Vec::new(), Vec::new()).is_err());
    let host = crate::plan::recipe::function::Code::Host(HostFunction::new("g", 1, |_| {}).body);
    assert!(Plan::from_decoded(recipe, Vec::new(), vec![host.into(); 4]).is_err());
}

#[test]
fn an_operator_of_the_library_has_no_version_and_no_cores() {
    let plan = Plan::build(|g| g.output("y", g.abs(g.input("x", [2], F32, Input::Copied)?)?)).unwrap();
    let read = |change: fn(&mut Parts)| {
        let mut recipe = plan.0.recipe.clone();
        recipe.functions[0].change(change);
        decode(&encode(&recipe, &[])).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(read(|_| {}), Ok(()));
    let changes: [fn(&mut Parts); 2] = [|parts| parts.version = 1, |parts| parts.needs.cube = 1];
    for change in changes {
        let error = read(change).unwrap_err();
        assert!(error.contains("operator \"aclnnAbs\" with a version or cores of its own"), "{error}");
    }
}

#[test]
fn attributes_that_index_are_checked_and_numbers_may_be_none() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [2, 2], F32, Input::Copied)?;
        let y = g.muls(x, f64::NAN)?;
        let y = g.permute(y, &[1, 0])?;
        g.output("y", y)
    });
    let sound = plan.unwrap().0.recipe.clone();
    assert!(decode(&encode(&sound, &[])).is_ok());
    let value = Value::from(Token { owner: 0, index: 0, version: 0 });
    let orders: [&[i64]; 7] = [&[0; 9], &[0; 255], &[200, 0], &[i64::MIN, 0], &[1, 1], &[1], &[]];
    for order in orders {
        let mut recipe = sound.clone();
        let (recorded, _) = recorded(|to| aclnn::permute(to, &value, order, &mut { value })).unwrap();
        recipe.functions[1] = FunctionInfo::of_operator(Arc::new(recorded), Vec::new());
        let error = decode(&encode(&recipe, &[])).unwrap_err().to_string();
        assert!(error.starts_with("node 1: aclnnPermute: "), "{error}");
    }
}

#[test]
fn sizes_with_symbols_stay_numbers() {
    let cases: &[(&[(u8, i128)], &str)] = &[
        (&[(1, i128::MAX)], "storage 0: more bytes than memory can have"),
        (&[(1, i128::MIN)], "storage 0: more bytes than memory can have"),
        (&[(200, 1)], "storage 0: more bytes than memory can have"),
        (&[(1, 12), (0, 3)], "value 0: it is not inside its storage"),
    ];
    for (terms, text) in cases {
        let mut poly = Poly::default();
        for (power, by) in *terms {
            let mut powers = [0; MAX_SYMBOLS];
            powers[0] = *power;
            poly.add_term(powers, *by);
        }
        let mut recipe = sound();
        recipe.storages[0].bytes = Extent::Symbolic(Arc::new(poly));
        assert_eq!(decode(&encode(&recipe, &[])).unwrap_err().to_string(), *text);
    }
}

#[test]
fn work_that_is_done_once_depends_on_no_run() {
    let mut recipe = sound();
    let temporary = recipe.storages.iter().position(|storage| storage.kind == StorageKind::Temporary).unwrap();
    recipe.storages[temporary].kind = StorageKind::Once;
    let error = decode(&encode(&recipe, &[])).unwrap_err().to_string();
    assert!(error.contains("it is done once"), "{error}");
}

#[test]
fn orders_that_take_too_much_memory_are_refused() {
    let mut recipe = sound();
    let wait = recipe.nodes[find(&recipe, |kind| matches!(kind, NodeKind::Wait(_)))];
    let NodeKind::Wait(event) = wait.kind else { unreachable!() };
    let tag = recipe.tags[1].clone();
    for index in 0..8192 {
        recipe.tags.push(crate::plan::recipe::Tag { name: format!("t{index}"), ..tag.clone() });
    }
    recipe.nodes.extend(std::iter::repeat_n(crate::plan::recipe::Node { kind: NodeKind::Wait(event), ..wait }, 5000));
    let error = decode(&encode(&recipe, &[])).unwrap_err().to_string();
    assert!(error.contains("streams are too many"), "{error}");
}

#[test]
fn lints_are_lints_of_work_that_is_there() {
    let recipe = sound();
    let lint = |kind, at: usize| encode(&recipe, &[Finding::new(kind, "x").at(&[at as u32])]);
    let count = recipe.nodes.len();
    decode(&lint(FindingKind::NeverWaited, count - 1)).unwrap();
    let text = |bytes: Vec<u8>| decode(&bytes).unwrap_err().to_string();
    let beyond = text(lint(FindingKind::NeverWaited, count));
    assert!(beyond.contains("lint 0") && beyond.contains(&format!("work {count}, of {count}")), "{beyond}");
    assert!(text(lint(FindingKind::UnorderedAccess, 0)).contains("which is none"));
}

/// A few bytes say that a plan is called millions of times; that is written out to see whether its sizes fit.
#[test]
fn plans_that_grow_out_of_a_few_bytes_are_refused_as_a_whole() {
    let step = Plan::build(|g| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let y = g.abs(x)?;
        g.output("y", y)
    });
    let step = step.unwrap();
    let long = |times: usize| {
        let plan = Plan::build(|g| {
            let n = g.symbol("n", 1..=4)?;
            let x = g.input("x", [n], F32, Input::Copied)?;
            let [y] = g.call_times(times, &step, [x], &[])?;
            g.output("y", y)
        });
        plan.unwrap()
    };
    // Each has some hundred thousand pieces; all of them are more than a plan may have.
    let all: Vec<Plan> = (0..64_usize).map(|more| long(100_000 + more)).collect();
    let plan = Plan::build(|g| {
        let n = g.symbol("n", 1..=4)?;
        let x = g.input("x", [n], F32, Input::Copied)?;
        let [y] = g.call(&all[0], &[x])?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    let mut recipe = plan.0.recorded.recipe.clone();
    Plan::from_bytes(&encode(&recipe, &[]), Code::None).unwrap();
    let info = recipe.calls[0].clone();
    recipe.called = all.iter().map(Plan::callee).collect();
    recipe.calls = (0..all.len() as u32).map(|callee| CallInfo { callee, ..info.clone() }).collect();
    let bytes = encode(&recipe, &[]);
    assert!(bytes.len() < 64 << 10, "{}", bytes.len());
    let refused = Plan::from_bytes(&bytes, Code::None).map(drop);
    assert!(matches!(&refused, Err(NotLoaded::Broken(why)) if why.contains("pieces")), "{refused:?}");
}
