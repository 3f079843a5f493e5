//! Runs that are not done: what they use stays, and what fails is told.

use std::sync::Barrier;

use racl::{Allocator, Context, ErrorKind, Model, ModelOptions, Tensor, op};

use crate::common::{self, assert_says, mock};
use crate::{affine, affine_of, alone, alone_then, twice};

#[test]
fn a_model_that_is_dropped_is_unloaded_after_its_runs() {
    let test = |context: &Context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let x = context.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let mut y = context.zeros::<f32>([2]).unwrap();
        mock::hold(&stream).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        drop((model, x));
        assert_eq!(mock::calls("aclmdlUnload"), 0);
        assert_eq!(mock::calls("aclmdlDestroyDataset"), 0);
        mock::release(&stream).unwrap();
        assert_eq!(y.to_vec().unwrap(), [2.0, 4.0]);
    };
    // The end of the context waits for the thread that has it.
    alone_then(test, || assert_eq!(mock::calls("aclmdlUnload"), 1));
}

#[test]
fn an_idle_model_is_unloaded_at_once() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let (x, mut y) = (context.zeros::<f32>([2]).unwrap(), context.zeros::<f32>([2]).unwrap());
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        stream.synchronize().unwrap();
        drop(model);
        assert_eq!(mock::calls("aclmdlUnload"), 1);
        let model = context.load_model_bytes(twice()).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        model.unload().unwrap(); // waits
        assert_eq!(mock::calls("aclmdlUnload"), 2);
        assert!(stream.is_complete().unwrap());
    });
}

#[test]
fn a_model_that_cannot_be_unloaded_comes_back() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        mock::fail("aclmdlUnload", 1, 507_000).unwrap();
        let refused = model.unload().unwrap_err();
        assert_says(refused.error(), ErrorKind::Internal, &["aclmdlUnload"]);
        let model = refused.into_value();
        let (x, mut y) = (context.upload_tensor(&[4.0_f32], [1]).unwrap(), context.zeros::<f32>([1]).unwrap());
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().wait().unwrap();
        assert_eq!(y.to_vec().unwrap(), [8.0]);
        model.unload().unwrap();
    });
}

#[test]
fn a_run_that_fails_on_the_device_is_told_by_the_stream_and_by_unload() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let (x, mut y) = (context.zeros::<f32>([2]).unwrap(), context.zeros::<f32>([2]).unwrap());
        mock::fail_task("aclmdlExecuteAsync", 1, 507_015).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        assert_eq!(stream.synchronize().unwrap_err().kind(), ErrorKind::DeviceFault);
        mock::fail_task("aclmdlExecuteAsync", 1, 507_015).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        let refused = model.unload().unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::DeviceFault);
        refused.into_value().unload().unwrap();
        mock::fail_task("aclmdlExecuteAsync", 1, 507_015).unwrap();
        let model = context.load_model_bytes(twice()).unwrap();
        let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
        assert_eq!(run.wait().unwrap_err().kind(), ErrorKind::DeviceFault);
    });
}

#[test]
fn a_run_that_the_library_refuses_leaves_the_model_as_it_was() {
    alone(|context| {
        let model = context.load_model_bytes(affine().bytes().unwrap()).unwrap();
        let stream = context.stream().unwrap();
        let rows = [1.0_f32, 2.0, 3.0];
        let x = context.upload_tensor(&rows, [1, 3]).unwrap();
        let mut y = context.zeros::<f32>([1, 2]).unwrap();
        let calls = [
            "aclmdlCreateDataset",
            "aclCreateDataBuffer",
            "aclmdlAddDatasetBuffer",
            "aclmdlSetDynamicBatchSize",
            "aclmdlGetCurOutputDims",
            "aclmdlExecuteAsync",
        ];
        for call in calls {
            mock::fail(call, 1, 507_000).unwrap();
            let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
            let refused = run.submit(&stream).unwrap_err();
            assert!(refused.to_string().starts_with(&format!("{call} failed")), "{refused}");
            mock::clear_failures();
        }
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        assert_eq!(y.to_vec().unwrap(), affine_of(&rows));
    });
}

#[test]
fn memory_of_a_run_is_freed_after_it() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let x = context.zeros::<f32>([100]).unwrap();
        let mut y = context.zeros::<f32>([100]).unwrap();
        let before = mock::live_handles().device_allocations;
        mock::hold(&stream).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        drop((x, y));
        assert!(mock::live_handles().device_allocations >= before);
        mock::release(&stream).unwrap();
        stream.synchronize().unwrap();
        assert_eq!(mock::live_handles().device_allocations, before - 2);
    });
}

#[test]
fn many_runs_do_not_pile_up() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let (x, mut y) = (context.zeros::<f32>([2]).unwrap(), context.zeros::<f32>([2]).unwrap());
        for _ in 0..500 {
            model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
            if !stream.is_complete().unwrap() {
                stream.synchronize().unwrap();
            }
            let open = mock::calls("aclmdlCreateDataset") - mock::calls("aclmdlDestroyDataset");
            assert!(open <= 4, "{open} lists are kept");
        }
    });
}

#[test]
fn two_threads_take_turns() {
    alone(|context| {
        let model = context.load_model_bytes(affine().bytes().unwrap()).unwrap();
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            for blocking in [false, true] {
                let (model, barrier) = (&model, &barrier);
                scope.spawn(move || {
                    let stream = context.stream().unwrap();
                    barrier.wait();
                    for turn in 0..100 {
                        let batch = [1, 2, 4][turn % 3];
                        one_run(context, model, (!blocking).then_some(&stream), batch, turn as f32);
                    }
                });
            }
        });
    });
}

fn one_run(context: &Context, model: &Model, stream: Option<&racl::Stream>, batch: usize, from: f32) {
    let rows: Vec<f32> = (0..3 * batch).map(|number| number as f32 + from).collect();
    let x: Tensor<f32> = context.upload_tensor(&rows, [batch, 3]).unwrap();
    let mut y = context.zeros::<f32>([batch, 2]).unwrap();
    let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
    let shapes = match stream {
        Some(stream) => run.submit(stream),
        None => run.wait(),
    };
    assert_eq!(shapes.unwrap().of("y"), Some(&[batch, 2][..]));
    assert_eq!(y.to_vec().unwrap(), affine_of(&rows));
}

#[test]
fn a_model_that_could_not_be_unloaded_is_tried_again_and_keeps_its_memory_until_then() {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let context = common::device().context().create_context().unwrap();
    context.set_allocator(Allocator::Direct);
    let work = context.alloc::<u8>(4096).unwrap().into_shared();
    let options = ModelOptions::new().work_memory(work.clone());
    let model = options.load_bytes(&context, affine().bytes().unwrap()).unwrap();
    let before = mock::live_handles().device_allocations;
    mock::fail("aclmdlUnload", 1, 507_000).unwrap();
    drop((model, work));
    mock::clear_failures();
    assert_eq!(mock::live_handles().device_allocations, before, "the device may use it");
    let errors = context.take_drop_errors();
    assert!(errors.len() == 1 && errors[0].to_string().contains("aclmdlUnload"), "{errors:?}");
    assert!(mock::live_handles().device_allocations < before, "later calls unload it");
    context.close().unwrap();
}

/// Bytes that say when they are freed.
struct Told(Vec<u8>, std::sync::Arc<std::sync::atomic::AtomicBool>);

impl AsRef<[u8]> for Told {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.1.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn a_model_that_was_loaded_and_not_described_keeps_all_that_it_has_until_it_is_unloaded() {
    alone(|context| {
        let freed = std::sync::Arc::<std::sync::atomic::AtomicBool>::default();
        let is_freed = || freed.load(std::sync::atomic::Ordering::Relaxed);
        let file = affine().bytes().unwrap();
        let need = context.model_size_of_bytes(&file).unwrap();
        let options = || {
            let work = context.alloc(need.work.max(1)).unwrap().into_shared();
            ModelOptions::new().work_memory(work).weight_memory(context.alloc(need.weights.max(1)).unwrap())
        };
        let load = |options: ModelOptions| {
            mock::fail("aclmdlGetDesc", 1, 507_000).unwrap();
            options.load_bytes(context, Told(file.clone(), std::sync::Arc::clone(&freed))).unwrap_err().into_value()
        };
        let given = options();
        let before = mock::live_handles().device_allocations;
        mock::fail("aclmdlUnload", 1, 507_000).unwrap();
        drop(load(given));
        assert!(!is_freed(), "the library reads the bytes");
        assert_eq!(mock::live_handles().device_allocations, before, "the model has the memory");
        let errors = context.take_drop_errors();
        assert!(errors.len() == 1 && errors[0].to_string().contains("aclmdlUnload"), "{errors:?}");
        context.take_drop_errors();
        assert!(is_freed() && mock::live_handles().device_allocations < before, "later calls unload it");
        // Where it is unloaded at once, all comes back.
        let again = load(options());
        assert_eq!(mock::live_handles().device_allocations, before);
        mock::clear_failures();
        drop(again.load_bytes(context, file.clone()).unwrap());
    });
}

#[test]
fn a_model_that_is_never_unloaded_leaks_its_memory_in_the_end() {
    let _alone = mock::exclusive();
    mock::reset().unwrap();
    let context = common::device().context().create_context().unwrap();
    context.set_allocator(Allocator::Direct);
    let work = context.alloc::<u8>(4096).unwrap().into_shared();
    let options = ModelOptions::new().work_memory(work.clone());
    let model = options.load_bytes(&context, affine().bytes().unwrap()).unwrap();
    let id = model.id().unwrap();
    let before = mock::live_handles().device_allocations;
    (1..=4).for_each(|nth| mock::fail("aclmdlUnload", nth, 507_000).unwrap());
    drop((model, work));
    let tries: Vec<_> = (0..6).map(|_| context.take_drop_errors().len()).collect();
    mock::clear_failures();
    assert_eq!(tries, [2, 1, 1, 0, 0, 0], "the drop and three tries");
    assert_eq!(mock::live_handles().device_allocations, before, "the device may use it");
    let unload = context.acl().table().aclmdlUnload().unwrap();
    // SAFETY: the id of a model that nothing uses.
    assert_eq!(unsafe { unload(id) }, 0);
}

#[test]
fn a_run_that_waits_for_its_memory_leaves_the_model_to_others() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let (before, runs) = (context.stream().unwrap(), context.stream().unwrap());
        let mut x = context.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let (mut y, mut z) = (context.zeros::<f32>([2]).unwrap(), context.zeros::<f32>([2]).unwrap());
        let other = context.upload_tensor(&[5.0_f32, 6.0], [2]).unwrap();
        mock::hold(&before).unwrap();
        op::adds_inplace(&before, &mut x, 2.0).unwrap();
        std::thread::scope(|scope| {
            let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
            let waits = scope.spawn(move || run.wait());
            // Whether or not that thread has begun to wait: it cannot be done.
            for _ in 0..100 {
                model.run().input("x", &other).unwrap().output("y", &mut z).unwrap().submit(&runs).unwrap();
                std::thread::yield_now();
            }
            assert_eq!(z.to_vec().unwrap(), [10.0, 12.0]);
            assert!(!waits.is_finished());
            mock::release(&before).unwrap();
            waits.join().unwrap().unwrap();
        });
        assert_eq!(y.to_vec().unwrap(), [6.0, 8.0]);
    });
}
