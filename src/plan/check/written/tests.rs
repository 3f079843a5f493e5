//! Memory that is written in part before it is read.

use crate::error::Result;
use crate::op::{
    DataType::{F32, I64, U8},
    aclnn,
};
use crate::plan::builder::tests::generate::Dice;
use crate::plan::check;
use crate::plan::order::Order;
use crate::plan::recipe::uses::Uses;
use crate::plan::recipe::{Mode, Recipe, StorageKind};
use crate::plan::simulate::tests::brute::bytes_of;
use crate::plan::{Builder, Dim, Finding, FindingKind, Foreign, Fork, Inferred, Input, Options, Plan, Scope, Value};

mod handed_on;

fn nothing() -> Foreign {
    Foreign::new("nothing", 1, |_| Ok(()))
}

fn findings(plan: Result<Plan>) -> Vec<(FindingKind, String)> {
    let all = match &plan {
        Ok(plan) => plan.lints().to_vec(),
        Err(error) => error.findings().to_vec(),
    };
    all.into_iter().map(|finding| (finding.kind, finding.message)).collect()
}

fn fill(g: &Builder, value: Value) -> Result<()> {
    g.fill(value, 1.0_f32)
}

/// The readers of a byte that nothing has written, byte by byte; `None` is the caller, who reads the outputs.
fn unwritten(recipe: &Recipe) -> Vec<Option<u32>> {
    let mut written = vec![0_u128; recipe.storages.len()];
    let checked = |storage: u32| {
        matches!(recipe.storages[storage as usize].kind, StorageKind::Temporary | StorageKind::Output(_))
    };
    let mut found = Vec::new();
    for (index, node) in recipe.nodes.iter().enumerate() {
        let accesses = recipe.accesses_of(node);
        for one in accesses.iter().filter(|one| one.mode.reads()) {
            let storage = recipe.storage_of(one.value);
            if checked(storage) && bytes_of(recipe, one.value) & !written[storage as usize] != 0 {
                found.push((storage, Some(index as u32)));
            }
        }
        for one in accesses.iter().filter(|one| one.mode.writes()) {
            let (written, bytes) = (&mut written[recipe.storage_of(one.value) as usize], bytes_of(recipe, one.value));
            *written = if one.mode == Mode::Clobber { *written & !bytes } else { *written | bytes };
        }
    }
    for output in &recipe.outputs {
        let storage = recipe.storage_of(output.value);
        if bytes_of(recipe, output.value) & !written[storage as usize] != 0 {
            found.push((storage, None));
        }
    }
    let mut found: Vec<_> = found.into_iter().map(|(_, reader)| reader).collect();
    found.sort_unstable();
    found
}

fn random_part(g: &Builder, dice: &mut Dice, mut value: Value) -> Result<Value> {
    for dim in 0..g.dims(value)?.len() {
        let size = g.dims(value)?[dim].as_fixed().unwrap();
        if dice.chance(500) {
            let from = dice.index(size);
            let to = from + 1 + dice.index(size - from);
            value = g.narrow(value, dim, from..to)?;
        }
    }
    Ok(value)
}

/// Random parts of two values, of which one is an output, written and read on one or two streams in order.
fn random(g: &Builder, seed: u64) -> Result<()> {
    let mut dice = Dice(seed);
    let shapes: [&[usize]; 4] = [&[128], &[8, 16], &[4, 4, 8], &[3, 40]];
    let wholes = [g.empty(shapes[dice.index(4)], U8)?, g.empty(shapes[dice.index(4)], U8)?];
    for _ in 0..4 + dice.below(14) {
        let whole = wholes[dice.index(2)];
        let mut value = random_part(g, &mut dice, whole)?;
        if dice.chance(200) {
            let elements = g.dims(whole)?.iter().map(|dim| dim.as_fixed().unwrap()).product::<usize>();
            let flat = g.reshape(whole, [elements])?;
            value = random_part(g, &mut dice, flat)?;
        }
        let (reads, writes): (&[Value], &[Value]) = match dice.below(8) {
            0 => (&[value], &[value]),
            1..3 => (&[value], &[]),
            _ => (&[], &[value]),
        };
        match dice.below(4) {
            0 => {
                g.scope("side", |g| g.foreign(&nothing(), reads, writes))?;
                g.join("side")?;
            }
            _ => g.foreign(&nothing(), reads, writes)?,
        }
    }
    g.output("y", wholes[1])
}

#[test]
fn reads_of_unwritten_bytes_are_found_exactly() {
    let (mut fine, mut wrong) = (0, 0);
    for seed in 0..6000 {
        let g = Builder::new(Options::new());
        random(&g, seed).unwrap();
        let (mut recipe, mut dice) = (g.finish().unwrap().recipe, Dice(seed ^ 1 << 40));
        for one in recipe.accesses.iter_mut().filter(|one| one.mode == Mode::Write) {
            if seed % 2 == 1 && dice.chance(200) {
                one.mode = Mode::Clobber;
            }
        }
        let (order, uses) = (Order::of(&recipe).unwrap(), Uses::of(&recipe));
        let found: Vec<Finding> = check::check(&recipe, &order, &uses);
        assert!(found.iter().all(|one| one.kind == FindingKind::ReadBeforeWrite), "seed {seed}: {found:?}");
        let mut readers: Vec<_> = found.iter().map(|one| one.positions.first().copied()).collect();
        readers.sort_unstable();
        assert_eq!(readers, unwritten(&recipe), "seed {seed}: {found:?}");
        *(if readers.is_empty() { &mut fine } else { &mut wrong }) += 1;
    }
    assert!(fine > 200 && wrong > 1000, "{fine} {wrong}");
}

#[test]
fn a_read_of_bytes_that_nothing_wrote_names_them_and_who_wrote_the_rest() {
    let found = findings(Plan::build(|g| {
        let x = g.empty([4, 4], F32)?;
        let rows = g.narrow(x, 0, 0..3)?;
        fill(g, rows)?;
        let y = g.tanh(x)?;
        g.output("y", y)
    }));
    let [(FindingKind::ReadBeforeWrite, text)] = &found[..] else { panic!("{found:?}") };
    assert!(text.starts_with("aclnnTanh (#1, the origin stream, src/plan/check/written/tests.rs:"), "{text}");
    let rest = "reads bytes 48..64 of the value of 64 bytes, which nothing has written; others are, by aclnnInplaceFillScalar (#0";
    assert!(text.contains(rest), "{text}");
    let found = findings(Plan::build(|g| {
        let y = g.empty([4, 4], F32)?;
        let column = g.narrow(y, 1, 1..4)?;
        fill(g, column)?;
        g.output("y", y)
    }));
    let [(FindingKind::ReadBeforeWrite, text)] = &found[..] else { panic!("{found:?}") };
    assert!(
        text.starts_with("bytes 0..4 of output \"y\" are written by nothing; others are, by aclnnInplaceFillScalar"),
        "{text}"
    );
}

#[test]
fn parts_that_make_up_the_whole_are_enough() {
    let plan = Plan::build(|g| {
        let (x, y) = (g.empty([4, 6], F32)?, g.empty([4, 6], F32)?);
        for (from, to) in [(0, 2), (4, 6), (1, 5)] {
            let columns = g.narrow(x, 1, from..to)?;
            g.scope_with("side", Scope::new().fork(Fork::AtStart), |g| fill(g, columns))?;
        }
        g.join("side")?;
        let upper = g.narrow(y, 0, 0..2)?;
        fill(g, upper)?;
        aclnn::tanh(g, &upper, &mut { upper })?; // in place, of a part
        let lower = g.narrow(y, 0, 2..4)?;
        fill(g, lower)?;
        let sum = g.add(x, y)?;
        g.output("sum", sum)?;
        g.output("x", x)
    });
    assert_eq!(findings(plan), []);
}

/// A value of `tokens` rows and 8 columns, of which these parts are written; all of it is an output.
fn symbolic(parts: impl Fn(&Builder, Dim, Value) -> Result<()>) -> Vec<(FindingKind, String)> {
    findings(Plan::build(|g| {
        let tokens = g.symbol("tokens", 1..=16)?;
        let x = g.empty([tokens * 2, Dim::from(8)], F32)?;
        parts(g, tokens, x)?;
        g.output("x", x)
    }))
}

#[test]
fn slices_with_symbols_that_meet_are_enough() {
    let rows = |g: &Builder, tokens: Dim, x: Value| {
        let lower = g.narrow(x, 0, tokens..tokens * 2)?;
        fill(g, lower)?;
        let upper = g.narrow(x, 0, Dim::from(0)..tokens)?;
        fill(g, upper)
    };
    assert_eq!(symbolic(rows), []);
    let columns = |g: &Builder, _: Dim, x: Value| {
        for (from, to) in [(5, 8), (0, 2), (2, 5)] {
            let part = g.narrow(x, 1, from..to)?;
            fill(g, part)?;
        }
        Ok(())
    };
    assert_eq!(symbolic(columns), []);
}

#[test]
fn slices_with_symbols_that_leave_bytes_are_refused_with_an_example() {
    let found = symbolic(|g, tokens, x| {
        let upper = g.narrow(x, 0, Dim::from(0)..tokens)?;
        fill(g, upper)
    });
    let [(FindingKind::ReadBeforeWrite, text)] = &found[..] else { panic!("{found:?}") };
    assert!(text.starts_with("bytes 512..1024 of output \"x\" when tokens = 16 are written by nothing"), "{text}");
    let found = symbolic(|g, _, x| {
        let part = g.narrow(x, 1, 0..7)?;
        fill(g, part)
    });
    let [(FindingKind::ReadBeforeWrite, text)] = &found[..] else { panic!("{found:?}") };
    assert!(text.starts_with("bytes 28..32 of output \"x\" when tokens = 16 are written by nothing"), "{text}");
}

/// A sum with a norm that is told to leave the sum.
fn leave(g: &Builder, x: Value, sum: Value) -> Result<()> {
    let w = g.full([4], F32, 1.0)?;
    let [mut y, mut mean, mut rstd] = [(); 3].map(|()| Inferred::new());
    aclnn::add_layer_norm(g, &x, &x, &w, &w, None, 1e-5, false, &mut y, &mut mean, &mut rstd, &mut { sum })
}

fn read(g: &Builder, value: Value) -> Result<()> {
    g.foreign(&nothing(), &[value], &[])
}

/// What is read before it is written in work on the rows `x`, twice as many, and the upper and the lower half of those.
fn in_halves(symbolic: bool, given: bool, work: impl Fn(&Builder, [Value; 4]) -> Result<()>) -> Vec<String> {
    let found = findings(Plan::build(|g| {
        let rows = if symbolic { g.symbol("rows", 1..=16)? } else { Dim::from(3) };
        let x = g.input("x", [rows, 4.into()], F32, Input::Copied)?;
        let whole = if given {
            g.input("whole", [rows * 2, 4.into()], F32, Input::Copied)?
        } else {
            g.empty([rows * 2, 4.into()], F32)?
        };
        let upper = g.narrow(whole, 0, Dim::from(0)..rows)?;
        let lower = g.narrow(whole, 0, rows..rows * 2)?;
        work(g, [x, whole, upper, lower])
    }));
    assert!(found.iter().all(|(kind, _)| *kind != FindingKind::MaybeUnwritten), "{found:?}");
    found.into_iter().filter(|(kind, _)| *kind == FindingKind::ReadBeforeWrite).map(|(_, text)| text).collect()
}

#[test]
fn what_an_operator_leaves_is_written_again_before_it_is_read() {
    for (symbolic, given) in [(false, false), (true, false), (false, true), (true, true)] {
        let found = |work: fn(&Builder, [Value; 4]) -> Result<()>| {
            in_halves(symbolic, given, |g, [x, whole, upper, lower]| {
                if !given {
                    fill(g, whole)?;
                }
                leave(g, x, upper)?;
                work(g, [x, whole, upper, lower])
            })
        };
        for wrong in [
            found(|g, [_, whole, ..]| read(g, whole)),
            found(|g, [.., upper, _]| read(g, upper)),
            found(|g, [x, _, upper, lower]| {
                fill(g, upper)?;
                leave(g, x, upper)?;
                fill(g, lower)?;
                read(g, upper)
            }),
            found(|g, [x, _, upper, lower]| {
                leave(g, x, lower)?;
                fill(g, upper)?;
                read(g, lower)
            }),
        ] {
            let [text] = &wrong[..] else { panic!("{symbolic} {given}: {wrong:?}") };
            assert!(text.contains("nothing has written since"), "{text}");
            assert!(text.contains("aclnnAddLayerNorm (#") && text.contains("is told to leave it"), "{text}");
        }
        let right = [
            found(|_, _| Ok(())),
            found(|g, [.., lower]| read(g, lower)),
            found(|g, [_, whole, upper, _]| fill(g, upper).and_then(|()| read(g, whole))),
            found(|g, [_, whole, ..]| fill(g, whole).and_then(|()| read(g, whole))),
            found(|g, [x, whole, upper, lower]| {
                leave(g, x, lower)?;
                fill(g, lower)?;
                fill(g, upper)?;
                read(g, whole)
            }),
        ];
        assert!(right.iter().all(Vec::is_empty), "{symbolic} {given}: {right:?}");
    }
    let output = |g: &Builder, [x, whole, upper, _]: [Value; 4]| {
        fill(g, whole)?;
        leave(g, x, upper)?;
        g.output("whole", whole)
    };
    for symbolic in [false, true] {
        let found = in_halves(symbolic, false, output);
        let [text] = &found[..] else { panic!("{found:?}") };
        assert!(text.contains("written by nothing since") && text.contains("is told to leave it"), "{text}");
    }
}

#[test]
fn what_a_plan_leaves_of_an_operand_is_written_again_before_it_is_read() {
    let body = |reads: bool| {
        Plan::build(|g| {
            let [x, sum] = ["x", "sum"].map(|name| g.input(name, [3, 4], F32, Input::Copied));
            let (x, sum) = (x?, sum?);
            if reads {
                read(g, sum)?;
            }
            leave(g, x, sum)?;
            g.output("x", g.abs(x)?)
        })
        .unwrap()
    };
    let (leaves, reads) = (body(false), body(true));
    let outer = Plan::build(|g| {
        let [x, sum] = ["x", "sum"].map(|name| g.input(name, [3, 4], F32, Input::Copied));
        let [x] = g.call(&leaves, &[x?, sum?])?;
        g.output("x", x)
    })
    .unwrap();
    let work = |filled: bool, behind: bool, call: &dyn Fn(&Builder, Value, Value) -> Result<Value>| {
        let found = findings(Plan::build(|g| {
            let x = g.input("x", [3, 4], F32, Input::Copied)?;
            let sum = g.empty([3, 4], F32)?;
            if filled {
                fill(g, sum)?;
            }
            let x = call(g, x, sum)?;
            g.output("x", x)?;
            if behind { read(g, sum) } else { Ok(()) }
        }));
        let found: Vec<_> = found.into_iter().filter(|(kind, _)| *kind == FindingKind::ReadBeforeWrite).collect();
        found.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
    };
    for plan in [&leaves, &outer] {
        let once = |g: &Builder, x: Value, sum: Value| g.call(plan, &[x, sum]).map(|[x]: [Value; 1]| x);
        // It may be memory that nothing has written.
        assert_eq!((work(true, false, &once), work(false, false, &once)), (vec![], vec![]));
        let wrong = work(true, true, &once);
        assert!(wrong.len() == 1 && wrong[0].contains("leaves it, so that it holds anything"), "{wrong:?}");
    }
    let times = |steps: usize| {
        let reads = &reads;
        move |g: &Builder, x: Value, sum: Value| g.call_times(steps, reads, [x], &[sum]).map(|[x]| x)
    };
    assert_eq!(work(true, false, &times(1)), Vec::<String>::new());
    // The second step reads what the first one left.
    let wrong = work(true, false, &times(2));
    assert!(wrong.len() == 1 && wrong[0].contains("leaves it, so that it holds anything"), "{wrong:?}");
    let chosen = |g: &Builder, x: Value, sum: Value| {
        g.if_then(g.full([1], U8, 1)?, &leaves, &[x, sum]).map(|[x]: [Value; 1]| x)
    };
    assert_eq!((work(true, false, &chosen).len(), work(true, true, &chosen).len()), (0, 1));
}

#[test]
fn what_cannot_be_told_is_a_lint() {
    // Five parts around one another: complete, but no two of them make up one.
    let found = findings(Plan::build(|g| {
        let n = g.symbol("n", 1..=16)?;
        let x = g.empty([n * 3, Dim::from(8)], F32)?;
        let zero = Dim::from(0);
        let parts = [(zero..n, 0..5), (zero..n * 2, 5..8), (n * 2..n * 3, 3..8), (n..n * 3, 0..3), (n..n * 2, 3..5)];
        for (rows, columns) in parts {
            let rows = g.narrow(x, 0, rows)?;
            let part = g.narrow(rows, 1, columns)?;
            fill(g, part)?;
        }
        g.output("x", x)
    }));
    let [(FindingKind::MaybeUnwritten, text)] = &found[..] else { panic!("{found:?}") };
    let expected = "it cannot be told whether all bytes of output \"x\" that the caller reads are written before: \
                    their places depend on symbols";
    assert_eq!(text, expected);
}

#[test]
fn what_has_no_bytes_for_any_value_of_the_symbols_needs_nobody_to_write_it() {
    let found = |most: usize| {
        findings(Plan::build(|g| {
            let tokens = g.symbol("tokens", 4..=most)?;
            let x = g.input("x", [tokens, Dim::from(8)], F32, Input::Copied)?;
            let rest = g.narrow(x, 0, Dim::from(4)..tokens)?;
            let dims = g.dims(rest)?.to_vec();
            let rest = g.empty(dims, F32)?;
            let part = g.narrow(rest, 1, 0..3)?;
            for value in [rest, part] {
                g.foreign(&nothing(), &[value], &[])?;
            }
            g.output("rest", rest)
        }))
    };
    assert_eq!(found(4), []);
    // Four and five tokens: of the latter there is a row.
    assert!(found(5).iter().any(|(kind, _)| *kind == FindingKind::ReadBeforeWrite), "{:?}", found(5));
}

#[test]
fn unordered_columns_with_symbols_are_no_race_and_rows_are_one_with_an_example() {
    let build = |apart: bool| {
        findings(Plan::build(|g| {
            let tokens = g.symbol("tokens", 1..=16)?;
            let x = g.input("x", [tokens, Dim::from(8)], F32, Input::Copied)?;
            let parts = if apart { [(0, 4), (4, 8)] } else { [(0, 5), (4, 8)] };
            for (tag, (from, to)) in ["1", "2"].into_iter().zip(parts) {
                let part = g.narrow(x, 1, from..to)?;
                g.scope_with(tag, Scope::new().fork(Fork::AtStart), |g| fill(g, part))?;
            }
            Ok(())
        }))
    };
    assert_eq!(build(true), []);
    let found = build(false);
    let [(FindingKind::UnorderedAccess, text)] = &found[..] else { panic!("{found:?}") };
    assert!(text.contains("writes bytes 16..20 (when tokens = 16) of input \"x\""), "{text}");
}

#[test]
fn operators_of_too_many_values_are_refused_as_such() {
    let refused = Plan::build(|g| {
        let x = g.input("x", [4], U8, Input::Copied)?;
        g.foreign(&nothing(), &vec![x; 65_536], &[])
    });
    let error = refused.unwrap_err();
    assert!(error.to_string().contains("an operator of 65536 values; it can have 65535 at most"), "{error}");
}

#[test]
fn scopes_without_work_cost_no_stream() {
    let plan = Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        g.scope("empty", |_| Ok(()))?;
        let y = g.scope("side", |g| g.abs(x))?;
        g.join("side")?;
        g.output("y", y)
    });
    let plan = plan.unwrap();
    let names: Vec<_> = plan.0.recipe.tags.iter().map(|tag| tag.name.as_str()).collect();
    assert_eq!((plan.streams(), names), (2, vec!["origin", "side"]));
}

#[test]
fn what_is_read_behind_what_was_found_is_a_lint() {
    let readers = |fills: bool, read: &dyn Fn(&Builder, Value) -> Result<()>| {
        findings(Plan::build(|g| {
            let x = g.input("x", [4], F32, Input::Copied)?;
            let room = g.empty([4, 1], I64)?;
            if fills {
                g.fill(room, 0_i64)?;
            }
            aclnn::nonzero(g, &x, &mut { room })?;
            read(g, room)
        }))
    };
    let computes = |g: &Builder, room| g.output("twice", g.muls(room, 2_i64)?);
    let [(FindingKind::MaybeUnwritten, text)] = &readers(false, &computes)[..] else { panic!("no lint") };
    assert!(text.contains("aclnnMuls") && text.contains("behind what is found by"), "{text}");
    assert!(text.contains("aclnnNonzero") && text.ends_with("fill it before"), "{text}");
    let [(FindingKind::MaybeUnwritten, text)] = &readers(false, &|g, room| g.output("room", room))[..] else {
        panic!("no lint")
    };
    assert!(text.starts_with("the caller reads output \"room\""), "{text}");
    assert_eq!(readers(true, &computes), []);
    assert_eq!(readers(false, &|_, _| Ok(())), []);
}

#[test]
fn results_that_are_as_large_as_known_are_written_as_a_whole() {
    let found = findings(Plan::build(|g| {
        let x = g.input("x", [4], F32, Input::Copied)?;
        let (values, places, counts) = (g.empty([4], F32)?, g.empty([4], I64)?, g.empty([4], I64)?);
        aclnn::unique2(g, &x, true, true, true, &mut { values }, &mut { places }, &mut { counts })?;
        g.output("places", places)?;
        g.output_found("found", g.masked_select(x, g.greater_than(x, 2.0_f32)?)?)
    }));
    assert_eq!(found, []);
}
