//! The network of `examples/17_training.rs`: that it learns, and what it does with device memory, for the benches of the
//! allocator.

mod common;
#[path = "common/recorder.rs"]
mod recorder;
#[path = "../examples/17_training.rs"]
mod training;

use std::collections::HashMap;

use common::{device, mock};
use racl::{Allocator, Context};
use training::{Sizes, Training, train};

fn small(steps: usize) -> Sizes {
    Sizes { widths: vec![8, 16, 3], rows: (20, 60), steps }
}

fn context() -> Context {
    device().context().create_context().unwrap()
}

/// The trace of a training on a device that is far behind the host: work runs when somebody looks at the losses.
fn recorded(context: &Context, sizes: &Sizes) -> String {
    recorder::record(context, || {
        let mut training = Training::new(context, sizes).unwrap();
        for _ in 0..sizes.steps / 4 {
            [&training.stream, &training.copies].iter().for_each(|stream| mock::hold(stream).unwrap());
            (0..4).for_each(|_| training.step().unwrap());
            [&training.stream, &training.copies].iter().for_each(|stream| mock::release(stream).unwrap());
            assert_eq!(training.losses().unwrap().len(), 4);
        }
    })
}

#[test]
fn the_loss_falls_and_is_the_same_whatever_memory_it_is_trained_in() {
    let _alone = mock::exclusive();
    let losses = |allocator: Allocator| {
        let context = context();
        context.set_allocator(allocator);
        let losses = train(&context, &small(60)).unwrap();
        context.close().unwrap();
        losses
    };
    let pooled = losses(Allocator::Pool);
    assert!(pooled[59] < 0.7 * pooled[0], "{pooled:?}");
    assert_eq!(losses(Allocator::Direct), pooled);
    assert_eq!(losses(Allocator::Growing), pooled);
}

#[test]
fn what_is_recorded_is_whole() {
    common::needs_mock("the work of its streams runs when somebody waits");
    let _alone = mock::exclusive();
    let context = context();
    let text = recorded(&context, &small(8));
    #[derive(PartialEq, Debug)]
    enum Is {
        Held,
        GivenUp,
    }
    let (mut all, mut of_two, mut for_a_stream) = (HashMap::new(), 0, 0);
    for line in text.lines() {
        let mut words = line.split(' ');
        let kind = words.next().unwrap();
        let numbers: Vec<usize> = words.map(|word| word.parse().unwrap()).collect();
        let now = match (kind, numbers.len()) {
            ("a", 2 | 3) => {
                for_a_stream += numbers.len() - 2;
                assert_eq!(all.insert(numbers[0], Is::Held), None, "{line}");
                continue;
            }
            ("g", 2..) => {
                of_two += usize::from(numbers.len() == 3);
                all.insert(numbers[0], Is::GivenUp)
            }
            ("f", 1) => all.remove(&numbers[0]),
            _ => panic!("{line}"),
        };
        assert!(matches!((kind, now), ("g", Some(Is::Held)) | ("f", Some(_))), "{line}");
    }
    assert!(all.is_empty(), "{all:?} are held at the end");
    // Rows and classes of each batch that was trained with are of the copies and of the training.
    assert!(of_two >= 16, "{of_two} in:\n{text}");
    assert!(for_a_stream > 100, "{for_a_stream} in:\n{text}");
    context.close().unwrap();
}

#[test]
#[ignore = "writes the trace to the file RECORD_ALLOCATIONS"]
fn record() {
    let _alone = mock::exclusive();
    let Some(file) = std::env::var_os("RECORD_ALLOCATIONS") else { panic!("RECORD_ALLOCATIONS names no file") };
    let context = context();
    let sizes = Sizes { widths: vec![256, 1024, 1024, 512, 64], rows: (64, 1600), steps: 24 };
    let text = recorded(&context, &sizes);
    std::fs::write(file, text).unwrap();
}
