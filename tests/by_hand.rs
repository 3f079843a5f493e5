//! Plans without closures and without types of Rust: what bindings to other languages are made of.

mod common;

use common::mock;
use racl::op::{AnyTensor, DataType, ElementType};
use racl::plan::{Foreign, Frozen, HostFunction, Input, Options, Plan, Scope, Simulated};
use racl::{ErrorKind, Result};

const F32: DataType = DataType::F32;

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}

#[test]
fn scopes_by_hand_end_where_they_began() {
    let g = Plan::builder(Options::new());
    assert_eq!(g.close_scope().unwrap_err().kind(), ErrorKind::InvalidPlan);
    g.open_scope("outer", Scope::new()).unwrap();
    // A closure's scope is not ended by hand, neither from inside nor by what is opened in it.
    let inside: Result<()> = g.scope("closure", |g| {
        assert!(g.close_scope().unwrap_err().to_string().contains("none is open"));
        g.open_scope("left open", Scope::new())
    });
    inside.unwrap();
    let x = g.input("x", [4], F32, Input::Copied).unwrap();
    let y = g.muls(x, 2.0).unwrap();
    g.close_scope().unwrap();
    assert!(g.close_scope().is_err());
    g.output("y", y).unwrap();
    let plan = Plan::finish(g).unwrap();
    let text = plan.to_text();
    assert!(plan.streams() == 2 && text.contains("outer: out:y f32[4] = aclnnMuls.0"), "{text}");

    let open = Plan::builder(Options::new());
    open.open_scope("forgotten", Scope::new()).unwrap();
    let refused = Plan::finish(open).unwrap_err();
    assert!(refused.kind() == ErrorKind::InvalidPlan && refused.to_string().contains("\"forgotten\""), "{refused}");
}

#[test]
fn places_that_are_told_are_those_of_errors_lints_and_dumps() {
    let g = Plan::builder(Options::new());
    g.set_place("net.txt", 1);
    let x = g.input("x", [4], F32, Input::Copied).unwrap();
    g.host_function(&HostFunction::unnamed(|_| {})).unwrap();
    g.set_place("net.txt", 2);
    let y = g.scope("side", |g| g.muls(x, 2.0)).unwrap();
    g.set_place("other.txt", 7);
    let refused = g.reshape(x, [3]).unwrap_err();
    assert!(refused.to_string().contains("other.txt:7)"), "{refused}");
    g.output("y", y).unwrap();
    let plan = Plan::finish(g).unwrap();
    let text = plan.to_text_with_lines();
    assert!(text.contains("// net.txt:1") && text.contains("// net.txt:2") && !text.contains(".rs:"), "{text}");
    assert!(plan.lints().iter().any(|lint| lint.message.contains("net.txt:1")), "{:?}", plan.lints());

    let other = Plan::build(|g| {
        let here = g.reshape(g.input("x", [4], F32, Input::Copied)?, [3]).unwrap_err();
        assert!(here.to_string().contains("by_hand.rs:"), "{here}"); // another builder was told nothing
        Ok(())
    });
    other.unwrap();
}

#[test]
fn a_builder_that_was_swapped_away_is_as_it_was() {
    let (a, b) = (Plan::builder(Options::new()), Plan::builder(Options::new()));
    let x = a.input("x", [4], F32, Input::Copied).unwrap();
    a.swap(&a);
    a.swap(&b);
    assert!(a.abs(x).unwrap_err().to_string().contains("another plan"));
    b.output("y", b.abs(x).unwrap()).unwrap();
    // In a scope: what ends with the closure finds nothing of its own to end, and ends nothing else.
    let kept: Result<()> = a.scope("gone", |a| {
        a.swap(&b);
        Ok(())
    });
    kept.unwrap();
    assert_eq!(Plan::finish(a).unwrap().operators(), 1);
    assert_eq!(Plan::finish(b).unwrap().operators(), 0);
}

#[test]
fn bytes_are_checked_as_elements_are() {
    let _alone = mock::exclusive();
    let device = common::device();
    let stream = device.stream().unwrap();
    let plan = Plan::build(|g| {
        let w = g.constant_bytes(&bytes(&[1.0, 2.0]), [2], F32)?;
        for (data, dims) in [(&[0_u8; 7][..], 2), (&[0; 8], 3), (&[], 2)] {
            assert_eq!(g.constant_bytes(data, [dims], F32).unwrap_err().kind(), ErrorKind::InvalidPlan);
        }
        let (x, h) = (g.input("x", [2], F32, Input::Copied)?, g.input("h", [2], F32, Input::Host)?);
        let y = g.add(g.mul(x, w)?, h)?;
        g.output("y", y)?;
        g.output_to_host("z", g.adds(y, 1.0)?)
    })
    .unwrap();
    let mut exe = plan.capture(&device, Frozen::new()).unwrap();
    let names: Vec<_> = exe.inputs().map(|(_, name)| name.to_owned()).collect();
    assert_eq!(names, ["x", "h"]);
    let (x, h, y, z) =
        (exe.input("x").unwrap(), exe.input("h").unwrap(), exe.output_id("y").unwrap(), exe.output_id("z").unwrap());
    let mut bind = exe.bindings();
    let given = AnyTensor::from(device.upload_tensor(&[3.0_f32, 4.0, 5.0, 6.0], [2, 2]).unwrap());
    // Bytes that are none of two floats, memory of the device for the host, gaps, and other types.
    assert!(bind.host_bytes(h, &[0; 7], F32, [2]).check().is_err());
    assert!(bind.host_bytes(h, &[0; 8], DataType::I32, [2]).check().is_err());
    assert!(bind.host_bytes(x, &[0; 8], F32, [2]).check().is_err());
    assert!(bind.set(x, &given).check().is_err());
    let buffer = device.upload(&[0_u8; 16]).unwrap().into_shared();
    let gaps = AnyTensor::over_strided(buffer.clone(), F32, [2], Some(&[2]), 0).unwrap();
    assert!(bind.set(x, &gaps).check().unwrap_err().to_string().contains("gaps"));
    assert!(gaps.bytes().is_err());
    let small = AnyTensor::over(buffer.clone(), ElementType::I4, [2]).unwrap();
    assert!(bind.set(x, &small).check().is_err() && small.bytes().is_err());
    let whole = AnyTensor::over(buffer, DataType::I32, [2]).unwrap();
    assert!(bind.set(x, &whole).check().is_err());

    // A part of a tensor, from its third element on.
    let part = given.bytes().unwrap().slice(8..16).unwrap();
    let part = AnyTensor::over(part, F32, [2]).unwrap();
    bind.host_bytes(h, &bytes(&[0.5, 0.25]), F32, [2]).set(x, &part).check().unwrap();
    // The address is no multiple of 64 bytes, which copies need.
    assert_eq!(exe.run(&stream, &mut bind).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let own = AnyTensor::from(device.upload_tensor(&[5.0_f32, 6.0], [2]).unwrap());
    exe.run(&stream, bind.set(x, &own)).unwrap();
    let (mut on_device, mut on_host, mut short) = ([0; 8], [0; 8], [0; 4]);
    exe.output_any(y).unwrap().read_into(&mut on_device).unwrap();
    exe.host_output_bytes(z, &mut on_host).unwrap();
    assert_eq!((on_device[..].to_vec(), on_host[..].to_vec()), (bytes(&[5.5, 12.25]), bytes(&[6.5, 13.25])));
    assert!(exe.output_any(y).unwrap().read_into(&mut short).is_err());
    assert!(exe.host_output_bytes(z, &mut short).is_err());
    assert!(exe.host_output_bytes(y, &mut on_host).is_err());
    let mut to = AnyTensor::from(device.upload_tensor(&[0.0_f32; 2], [2]).unwrap());
    exe.output_any(y).unwrap().copy_to(&stream, &mut to).unwrap();
    assert_eq!(to.typed::<f32>().unwrap().to_vec().unwrap(), [5.5, 12.25]);
    assert!(exe.output_any(y).unwrap().copy_to(&stream, &mut given.clone()).is_err());
    assert!(exe.output_any(y).unwrap().copy_to(&stream, &mut whole.clone()).is_err());
    let memory = exe.copied_input_any(x).unwrap();
    memory.typed::<f32>().unwrap().write(&[1.0, 1.0]).unwrap();
    exe.run(&stream, bind.set(x, &memory)).unwrap();
    assert_eq!(exe.output::<f32>(y).unwrap().to_vec().unwrap(), [1.5, 2.25]);
    assert!(exe.static_input_any(x).is_err());
}

#[test]
fn a_launch_may_say_what_is_wrong() {
    let _alone = mock::exclusive();
    let device = common::device();
    let odd = Foreign::new("mine.odd", 1, |launch| Err(launch.error(ErrorKind::NotSupported, "an odd size")));
    let plan = Plan::build(|g| g.foreign(&odd, &[], &[])).unwrap();
    for _ in 0..2 {
        let refused = plan.capture(&device, Frozen::new()).unwrap_err();
        assert!(
            refused.kind() == ErrorKind::NotSupported && refused.to_string().contains("an odd size"),
            "{refused}"
        );
    }
}

#[cfg(feature = "cache")]
#[test]
fn stored_plans_are_loaded_with_the_code_they_need() {
    use racl::plan::Registry;

    let twice = Foreign::new("mine.twice", 2, |_| Ok(())).simulated(|reads, writes| {
        for (to, from) in writes[0].chunks_exact_mut(4).zip(reads[0].chunks_exact(4)) {
            let number = f32::from_ne_bytes(from.try_into().unwrap());
            to.copy_from_slice(&(2.0 * number).to_ne_bytes());
        }
    });
    let build = |foreign: &Foreign| {
        Plan::build(|g| {
            let (x, y) = (g.input("x", [2], F32, Input::Copied)?, g.empty([2], F32)?);
            g.foreign(foreign, &[x], &[y])?;
            g.output("y", y)
        })
    };
    let stored = build(&twice).unwrap().store().unwrap();
    let older = Foreign::new("mine.twice", 1, |_| Ok(()));
    for registry in [Registry::new(), Registry::new().foreign(&older)] {
        let refused = Plan::load(&stored, &registry).unwrap_err();
        assert!(refused.kind() == ErrorKind::InvalidPlan && refused.to_string().contains("mine.twice"), "{refused}");
    }
    let registry = Registry::new().foreign(&twice);
    let given = Simulated::new().tensor("x", &[1.0_f32, 3.0], [2]);
    let loaded = Plan::load(&stored, &registry).unwrap();
    assert_eq!(loaded.simulate(0, &given).unwrap().to_vec::<f32>("y").unwrap(), [2.0, 6.0]);

    for end in [0, 8, stored.len() - 1] {
        assert_eq!(Plan::load(&stored[..end], &registry).unwrap_err().kind(), ErrorKind::File);
    }
    let twisted = Registry::new().foreign(&twice).foreign(&older);
    assert_eq!(Plan::load(&stored, &twisted).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let unnamed = build(&Foreign::unnamed(|_| Ok(()))).unwrap();
    assert_eq!(unnamed.store().unwrap_err().kind(), ErrorKind::InvalidPlan);
}
