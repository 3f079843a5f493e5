//! What a run is given wrongly: told before the library sees it, and the model goes on.

use crate::common::mock::{self, ModelFile};
use racl::{Acl, CaptureMode, Context, ErrorKind, ModelOptions, op};

use crate::common::assert_says;
use crate::{affine, affine_of, alone, twice, two_by_two};

const WRONG: ErrorKind = ErrorKind::InvalidArgument;

/// No run of any test here reached the library.
fn nothing_ran(test: impl FnOnce(&Context)) {
    alone(|context| {
        test(context);
        assert_eq!(mock::calls("aclmdlExecuteAsync"), 0);
    });
}

#[test]
fn names_numbers_and_missing_memory() {
    nothing_ran(|context| {
        let model = context.load_model_bytes(two_by_two()).unwrap();
        let stream = context.stream().unwrap();
        let (a, mut out) = (context.alloc::<f32>(8).unwrap(), context.alloc::<f32>(8).unwrap());
        let refused = model.run().input("c", &a).unwrap_err();
        assert_says(&refused, WRONG, &["no input \"c\"", "[\"a\", \"b\"]"]);
        assert_says(&model.run().input(2, &a).unwrap_err(), WRONG, &["no input number 2"]);
        assert_says(&model.run().output("a", &mut out).unwrap_err(), WRONG, &["no output \"a\""]);
        assert_says(&model.run().submit(&stream).unwrap_err(), WRONG, &["without input \"a\", \"b\""]);
        let run = model.run().input("a", &a).unwrap().input("b", &a).unwrap().output("sum", &mut out).unwrap();
        assert_says(&run.wait().unwrap_err(), WRONG, &["a run without output \"product\""]);
        let refused = model.run().input_shape("a", &[8]).unwrap_err();
        assert_says(&refused, WRONG, &["a shape for \"a\", which was not given yet"]);
    });
}

#[test]
fn types_sizes_and_shapes() {
    nothing_ran(|context| {
        let model = context.load_model_bytes(two_by_two()).unwrap();
        let says = |error: racl::Error, parts: &[&str]| assert_says(&error, WRONG, parts);
        let ints = context.alloc::<i32>(8).unwrap();
        says(model.run().input("a", &ints).unwrap_err(), &["memory of I32, where the model has F32"]);
        let short = context.alloc::<f32>(7).unwrap();
        says(model.run().input("a", &short).unwrap_err(), &["28 bytes, where 32 are needed"]);
        let mut short = context.alloc::<u8>(31).unwrap();
        says(model.run().input_bytes("a", &short).unwrap_err(), &["31 bytes, where 32 are needed"]);
        says(model.run().output_bytes("sum", &mut short).unwrap_err(), &["31 bytes"]);
        let square = context.zeros::<f32>([2, 4]).unwrap();
        says(model.run().input("a", &square).unwrap_err(), &["2 sizes, where the model has 1"]);
        let mut long = context.zeros::<f32>([9]).unwrap();
        says(model.run().output("sum", &mut long).unwrap_err(), &["size 0 is 9, where the model has 8"]);
        let gaps = context.zeros::<f32>([8, 2]).unwrap().narrow(1, 0..1).unwrap();
        says(model.run().input("a", &gaps).unwrap_err(), &["a view with gaps"]);
    });
}

#[test]
fn memory_that_overlaps() {
    nothing_ran(|context| {
        let model = context.load_model_bytes(two_by_two()).unwrap();
        let shared = context.alloc::<f32>(24).unwrap().into_shared();
        let part = |range: std::ops::Range<usize>| shared.slice(range).unwrap();
        let run = |a, sum, product| {
            let run = model.run().input("a", &part(a)).unwrap().input("b", &part(0..8)).unwrap();
            run.output("sum", &mut part(sum)).unwrap().output("product", &mut part(product)).unwrap()
        };
        let refused = run(0..8, 8..16, 15..23).wait().unwrap_err();
        assert_says(&refused, WRONG, &["output \"product\" of the model overlaps output \"sum\""]);
        let refused = run(0..8, 8..16, 15..23).aliased().wait().unwrap_err();
        assert_says(&refused, WRONG, &["overlaps output"]);
        let refused = run(0..8, 7..15, 16..24).wait().unwrap_err();
        assert_says(&refused, WRONG, &["output \"sum\" of the model overlaps input \"a\""]);
        let work = context.alloc::<u8>(4096).unwrap().into_shared();
        let options = ModelOptions::new().work_memory(work.clone());
        let model = options.load_bytes(context, two_by_two()).unwrap();
        let run = model.run().input("a", &part(0..8)).unwrap().input("b", &part(0..8)).unwrap();
        let run = run.output("sum", &mut part(8..16)).unwrap();
        let run = run.output_bytes("product", &mut work.slice(4000..).unwrap()).unwrap();
        assert_says(&run.wait().unwrap_err(), WRONG, &["overlaps the work memory"]);
    });
}

#[test]
fn memory_of_the_model_itself() {
    nothing_ran(|context| {
        let work = context.alloc_zeroed::<u8>(4096).unwrap().into_shared();
        let options = ModelOptions::new().work_memory(work.clone());
        let model = options.load_bytes(context, two_by_two()).unwrap();
        let (a, mut out) = (context.alloc::<f32>(8).unwrap(), context.alloc::<f32>(16).unwrap());
        let (mut sum, mut product) = out.split_at_mut(8).unwrap();
        let run = model.run().input("a", &a).unwrap().input_bytes("b", &work.slice(64..96).unwrap()).unwrap();
        let run = run.output("sum", &mut sum).unwrap().output("product", &mut product).unwrap();
        let text = "input \"b\" of the model overlaps the work memory of the model";
        assert_says(&run.wait().unwrap_err(), WRONG, &[text]);

        let file = ModelFile::new()
            .input::<f32>("x", &[4])
            .external::<f32>("v", &[4], "v.bin", 0)
            .output::<f32>("y", &[4])
            .operator("product", "Mul", &["x", "v"], "y");
        let weights = context.alloc_zeroed::<u8>(64).unwrap().into_shared();
        let options = ModelOptions::new().external_weights("v.bin", weights.clone());
        let model = options.load_bytes(context, file.bytes().unwrap()).unwrap();
        let run = model.run().input("x", &a).unwrap().output_bytes("y", &mut weights.slice(48..).unwrap()).unwrap();
        assert_says(&run.wait().unwrap_err(), WRONG, &["output \"y\" of the model overlaps weights of the model"]);
    });
}

#[test]
fn choices_that_the_model_does_not_have() {
    nothing_ran(|context| {
        let model = context.load_model_bytes(affine().bytes().unwrap()).unwrap();
        let (x, mut y) = (context.alloc::<f32>(12).unwrap(), context.alloc::<f32>(8).unwrap());
        let mut run = || model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
        assert_says(&run().wait().unwrap_err(), WRONG, &["which size is meant", "[1, 2, 4]"]);
        for batch in [0, 3, usize::MAX] {
            let text = format!("a batch of {batch}: the model was built for batches of [1, 2, 4]");
            assert_says(&run().batch(batch).wait().unwrap_err(), WRONG, &[&text]);
        }
        assert_says(&run().image_size(1, 2).wait().unwrap_err(), WRONG, &["images of 1 by 2"]);
        assert_says(&run().dims(&[1, 3]).wait().unwrap_err(), WRONG, &["sizes [1, 3]"]);
        let two = context.zeros::<f32>([2, 3]).unwrap();
        let run = model.run().input("x", &two).unwrap().output("y", &mut y).unwrap();
        assert_says(&run.batch(4).wait().unwrap_err(), WRONG, &["the shape [2, 3], where the choice means [4, 3]"]);
        let three = context.zeros::<f32>([3, 3]).unwrap();
        let run = model.run().input("x", &three).unwrap().output("y", &mut y).unwrap();
        assert_says(&run.wait().unwrap_err(), WRONG, &["no gear has the shapes"]);
        let short = context.alloc::<f32>(11).unwrap();
        let run = model.run().input("x", &short).unwrap().output("y", &mut y).unwrap();
        assert_says(&run.batch(4).wait().unwrap_err(), WRONG, &["44 bytes, where 48 are needed"]);
        let mut small = context.alloc::<f32>(7).unwrap();
        let run = model.run().input("x", &x).unwrap().output("y", &mut small).unwrap();
        assert_says(&run.batch(4).wait().unwrap_err(), WRONG, &["28 bytes, where 32 are needed"]);
        let mut other = context.zeros::<f32>([2, 2]).unwrap();
        let run = model.run().input("x", &x).unwrap().output("y", &mut other).unwrap();
        assert_says(&run.batch(4).wait().unwrap_err(), WRONG, &["the shape [2, 2], where the run gives [4, 2]"]);
        let fixed = context.load_model_bytes(two_by_two()).unwrap();
        let mut all = context.alloc::<f32>(16).unwrap();
        let (mut sum, mut product) = all.split_at_mut(8).unwrap();
        let run = fixed.run().input("a", &x).unwrap().input("b", &x).unwrap();
        let run = run.output("sum", &mut sum).unwrap().output("product", &mut product).unwrap();
        assert_says(&run.batch(1).wait().unwrap_err(), WRONG, &["a batch of 1: the model has no sizes"]);
    });
}

#[test]
fn shapes_that_are_not_said_or_out_of_range() {
    nothing_ran(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let (x, mut y) = (context.alloc::<f32>(2000).unwrap(), context.alloc::<f32>(2000).unwrap());
        let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
        assert_says(&run.wait().unwrap_err(), WRONG, &["\"x\" of the model: its shape is open", "input_shape"]);
        for length in [0, 1001, usize::MAX] {
            let refused = model.run().input("x", &x).unwrap().input_shape("x", &[length]).unwrap_err();
            assert_says(&refused, WRONG, &[&format!("size 0 is {length}, where the model takes 1 to 1000")]);
        }
        let refused = model.run().input("x", &x).unwrap().input_shape("x", &[]).unwrap_err();
        assert_says(&refused, WRONG, &["0 sizes, where the model has 1"]);
        let file = ModelFile::new().input::<f32>("x", &[-1, 4]).output::<f32>("y", &[-1, 4]);
        let file = file.operator("a", "Abs", &["x"], "y").bytes().unwrap();
        let model = context.load_model_bytes(file).unwrap();
        let refused = model.run().input("x", &x).unwrap().input_shape("x", &[1 << 62, 4]).unwrap_err();
        assert_says(&refused, WRONG, &["\"x\" of the model: the shape [4611686018427387904, 4] is larger than any"]);
    });
}

#[test]
fn another_device_or_library_and_a_host_function() {
    nothing_ran(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let (x, mut y) = (context.zeros::<f32>([4]).unwrap(), context.zeros::<f32>([4]).unwrap());
        let told = std::sync::Arc::new(std::sync::Mutex::new(None));
        let (inside, model) = (std::sync::Arc::clone(&told), std::sync::Arc::new(model));
        let same = std::sync::Arc::clone(&model);
        stream
            .host_function(move || {
                let run = same.run().input("x", &x).and_then(|run| run.output("y", &mut y));
                *inside.lock().unwrap() = Some(run.and_then(|run| run.wait()).unwrap_err());
            })
            .unwrap();
        stream.synchronize().unwrap();
        let told = told.lock().unwrap().take().unwrap();
        assert_says(&told, ErrorKind::NotSupported, &["a host function runs a model"]);
        assert!(Acl::mock().is_ok() && std::sync::Arc::strong_count(&model) == 1);
    });
}

#[test]
fn a_capture_takes_no_model_and_gives_no_graph() {
    nothing_ran(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let (x, mut y) = (context.zeros::<f32>([4]).unwrap(), context.zeros::<f32>([4]).unwrap());
        let mut told = None;
        let captured = stream.capture(CaptureMode::ThreadLocal, |s| {
            told = model.run().input("x", &x)?.output("y", &mut y)?.submit(s).err();
            op::adds_inplace(s, &mut y, 1.0)
        });
        assert_says(&told.unwrap(), ErrorKind::NotSupported, &["a stream that records a graph"]);
        assert_says(&captured.map(drop).unwrap_err(), ErrorKind::CaptureInvalidated, &["model at tests/models"]);
        stream.synchronize().unwrap();
    });
}

#[test]
fn a_run_that_tells_sizes_blocks_and_is_refused_beside_a_capture() {
    alone(|context| {
        let model = context.load_model_bytes(affine().bytes().unwrap()).unwrap();
        let [recorded, beside] = [(); 2].map(|()| context.stream().unwrap());
        let (x, mut y) = (context.upload(&[1.0_f32; 3]).unwrap(), context.alloc_zeroed::<f32>(2).unwrap());
        let capture = recorded.begin_capture(CaptureMode::ThreadLocal).unwrap();
        let before = mock::calls("aclmdlSetDynamicBatchSize");
        let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
        let told = run.batch(1).submit(&beside).unwrap_err();
        assert_says(
            &told,
            ErrorKind::CaptureForbidden,
            &["a run of a model that tells sizes", "tests/models/refused.rs"],
        );
        assert_eq!(mock::calls("aclmdlSetDynamicBatchSize"), before);
        assert_says(&capture.finish().unwrap_err(), ErrorKind::CaptureInvalidated, &["tests/models/refused.rs"]);
        let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
        run.batch(1).submit(&beside).unwrap();
        assert_eq!(y.to_vec().unwrap(), affine_of(&[1.0; 3]));
    });
}
