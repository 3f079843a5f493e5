//! Offline models: loaded, described, run, and given wrongly. Counts calls of the mock and lets some fail, so one test
//! at a time.

#[path = "../common/mod.rs"]
mod common;

mod described;
mod flight;
mod loading;
mod plain;
mod preprocessing;
mod refused;
mod runs;

use common::mock::{self, ModelFile};
use racl::{Allocator, Context};

/// On a context of its own, whose every allocation is one of the library; nothing is left afterwards.
pub(crate) fn alone(test: impl FnOnce(&Context)) {
    alone_then(test, || ());
}

/// As [`alone`]; `after` looks at what was done once the context has gone.
pub(crate) fn alone_then(test: impl FnOnce(&Context), after: impl FnOnce()) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let before = mock::live_handles();
    let device = common::device();
    let context = device.context().create_context().unwrap();
    context.set_allocator(Allocator::Direct);
    test(&context);
    mock::clear_failures();
    let errors = context.take_drop_errors();
    assert!(errors.is_empty(), "{errors:?}");
    context.close().unwrap();
    let live = mock::live_handles();
    assert_eq!(live.library_objects, before.library_objects, "models, descriptions, lists and their like");
    assert_eq!((live.device_allocations, live.device_bytes), (before.device_allocations, before.device_bytes));
    after();
}

/// The product of rows of three with a matrix, and one added: `y = x · w + b`, for batches of 1, 2 and 4.
pub(crate) fn affine() -> ModelFile {
    ModelFile::new()
        .input::<f32>("x", &[-1, 3])
        .weight("w", &[3, 2], &[1.0_f32, 0.0, 0.0, 1.0, 1.0, 1.0])
        .weight("b", &[2], &[10.0_f32, -10.0])
        .inner::<f32>("p", &[-1, 2])
        .output::<f32>("y", &[-1, 2])
        .batches(&[1, 2, 4])
        .operator("product", "MatMul", &["x", "w"], "p")
        .operator("sum", "Add", &["p", "b"], "y")
}

/// What [`affine`] gives for rows `x`, by hand.
pub(crate) fn affine_of(x: &[f32]) -> Vec<f32> {
    x.chunks(3).flat_map(|row| [row[0] + row[2] + 10.0, row[1] + row[2] - 10.0]).collect()
}

/// Twice what is given, of any length from 1 to 1000.
pub(crate) fn twice() -> Vec<u8> {
    let file = ModelFile::new().input::<f32>("x", &[-1]).ranges(&[(1, 1000)]).output::<f32>("y", &[-1]);
    file.operator("twice", "Muls", &["x"], "y").float("value", 2.0).bytes().unwrap()
}

/// `sum = a + b` and `product = a * b` of eight numbers each.
pub(crate) fn two_by_two() -> Vec<u8> {
    ModelFile::new()
        .input::<f32>("a", &[8])
        .input::<f32>("b", &[8])
        .output::<f32>("sum", &[8])
        .output::<f32>("product", &[8])
        .operator("sum", "Add", &["a", "b"], "sum")
        .operator("product", "Mul", &["a", "b"], "product")
        .bytes()
        .unwrap()
}
