//! Graphs that are built by hand, and what is in graphs. Counts calls of the mock and lets some fail, so one test at a
//! time.

mod built;
mod changes;
#[path = "../common/mod.rs"]
mod common;
mod kept;
mod modes;
mod refused;
mod steered;
mod tasks;

use common::mock;
use racl::{Context, Graph, GraphBuilder, Result, Stream};

/// Runs `test` in a context of its own, and sees that nothing is left of it and that no destructor failed.
#[track_caller]
fn alone(test: impl FnOnce(&Context)) {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let device = common::direct_device();
    let before = mock::live_handles();
    let context = device.context().create_context().unwrap();
    test(&context);
    mock::clear_failures();
    let told = context.take_drop_errors();
    assert!(told.is_empty(), "{told:?}");
    context.close().unwrap();
    assert_eq!(mock::live_handles(), before);
}

/// A graph of what `work` gives to the first stream, and to others that it makes.
fn build(context: &Context, work: impl FnOnce(&mut GraphBuilder, &Stream) -> Result<()>) -> Result<Graph> {
    let mut builder = context.build_graph()?;
    let first = builder.first().clone();
    work(&mut builder, &first)?;
    drop(first);
    builder.finish()
}
