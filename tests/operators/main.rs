//! Every operator against a plain reference on the host, eagerly and captured.

#[path = "../common/mod.rs"]
mod common;

mod arithmetic;
mod by_name;
mod called;
mod host;
mod index_checks;
mod index_routes;
mod indices;
mod moves;
mod normalise;
mod products;
mod reduce;
mod refused;
mod select;
mod transformer;
mod unary;

use racl::op::Element;
use racl::{CaptureMode, Result, Stream, Tensor, bytemuck};

/// The bytes of a tensor's elements, so that comparing them distinguishes every value.
fn bits<T: Element>(tensor: &Tensor<T>) -> Vec<u8> {
    bytemuck::cast_slice(&tensor.to_vec().unwrap()).to_vec()
}

/// Runs `operator` eagerly and, on a second result of `make`, captured and replayed; twice each, so that operators
/// which read their result are compared too. Asserts equal bits and gives the result of the first run.
#[track_caller]
fn run<T: Element>(
    stream: &Stream,
    make: impl Fn() -> Tensor<T>,
    operator: impl Fn(&Stream, &mut Tensor<T>) -> Result<()>,
) -> Vec<T> {
    let (mut eager, mut replayed) = (make(), make());
    let untouched = bits(&replayed);
    let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| operator(s, &mut replayed)).unwrap();
    assert_eq!(bits(&replayed), untouched, "recording executed something");
    let mut first = None;
    for turn in 1..=2 {
        operator(stream, &mut eager).unwrap();
        graph.launch(stream).unwrap();
        assert_eq!(bits(&replayed), bits(&eager), "run {turn}: the replay differs from the eager result");
        first.get_or_insert_with(|| eager.to_vec().unwrap());
    }
    first.unwrap()
}
