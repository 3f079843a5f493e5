//! Options of communicators.

use std::time::Duration;

use crate::common::mock;
use racl::collective::{Communicator, CommunicatorOptions, Determinism, Expansion, RootInfo};
use racl::{ErrorKind, Result};

use crate::alone;

#[test]
fn options_are_taken_or_refused_with_their_name() {
    let (acl, _alone) = alone();
    let context = acl.device(0).unwrap().context().clone();
    let make = |options: CommunicatorOptions| -> Result<Communicator> {
        options.init(&context, &RootInfo::new(&context)?, 0, 1)
    };
    let new = CommunicatorOptions::new;
    let all = new()
        .buffer_mib(1)
        .deterministic(Determinism::Strict)
        .name("n".repeat(127))
        .expansion(Expansion::Vector)
        .traffic_class(132)
        .service_level(4)
        .zero_copy_in_graphs(true)
        .time_limit(Duration::from_millis(1))
        .algorithm("level0:ring")
        .buffer_name("shared");
    let made = make(all.clone()).unwrap();
    assert_eq!(made.name(), "n".repeat(127));
    let table = mock::calls("HcclCommInitRootInfoConfig");
    make(new()).unwrap();
    assert_eq!(mock::calls("HcclCommInitRootInfoConfig"), table);
    let named = made.subgroup_with(&[0], 3, &new().name("part")).unwrap().unwrap();
    assert_eq!(named.name(), "part");

    for bad in [
        new().buffer_mib(0),
        new().traffic_class(256),
        new().traffic_class(3),
        new().service_level(8),
        new().name(""),
        new().name("n".repeat(128)),
        new().name("a\0b"),
        new().time_limit(Duration::ZERO),
        new().time_limit(Duration::MAX),
        new().algorithm("x".repeat(1600)),
        new().buffer_name("x".repeat(128)),
    ] {
        let error = make(bad.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{bad:?}");
    }
}

#[test]
fn determinism_is_a_setting_of_the_process() {
    let (acl, _alone) = alone();
    let context = acl.device(0).unwrap().context().clone();
    for setting in [Determinism::Strict, Determinism::On, Determinism::Off] {
        context.set_collective_determinism(setting).unwrap();
        assert_eq!(context.collective_determinism().unwrap(), setting);
    }
}
