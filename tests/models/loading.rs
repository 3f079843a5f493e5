//! From files and memory, with and without memory of the program.

use std::sync::Arc;

use crate::common::mock::{self, ModelFile};
use racl::{Context, ErrorKind, Model, ModelOptions};

use crate::common::assert_says;
use crate::{affine, affine_of, alone, twice};

/// That the model is [`affine`].
#[track_caller]
fn check(context: &Context, model: &Model) {
    let x = [1.0_f32, 2.0, 3.0, -4.0, 5.0, 0.5];
    let (input, mut y) = (context.upload_tensor(&x, [2, 3]).unwrap(), context.zeros::<f32>([2, 2]).unwrap());
    model.run().input("x", &input).unwrap().output("y", &mut y).unwrap().wait().unwrap();
    assert_eq!(y.to_vec().unwrap(), affine_of(&x));
}

#[test]
fn every_way_to_load_gives_the_same_model() {
    alone(|context| {
        let file = affine().bytes().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("affine.om");
        std::fs::write(&path, &file).unwrap();
        let size = context.model_size(&path).unwrap();
        let work = context.alloc::<u8>(size.work).unwrap().into_shared();
        let own = || {
            let weights = context.alloc(size.weights).unwrap();
            ModelOptions::new().work_memory(work.clone()).weight_memory(weights)
        };
        check(context, &context.load_model(&path).unwrap());
        check(context, &context.load_model_bytes(file.clone()).unwrap());
        check(context, &context.load_model_bytes(Arc::<[u8]>::from(file.clone())).unwrap());
        let options = [
            ("aclmdlLoadFromFileWithMem", own()),
            ("aclmdlLoadFromFileWithMem", ModelOptions::new().pooled_memory()),
            ("aclmdlLoadFromFileWithMem", ModelOptions::new().work_memory(work.clone())),
            ("aclmdlLoadWithConfig", ModelOptions::new().priority(2)),
            ("aclmdlLoadWithConfig", own().priority(7)),
        ];
        for (call, options) in options {
            let before = mock::calls(call);
            check(context, &options.load(context, &path).unwrap());
            assert_eq!(mock::calls(call), before + 1, "{call}");
        }
        let options = [
            ("aclmdlLoadFromMemWithMem", own()),
            ("aclmdlLoadFromMemWithMem", ModelOptions::new().pooled_memory()),
            ("aclmdlLoadWithConfig", own().priority(0)),
        ];
        for (call, options) in options {
            let before = mock::calls(call);
            check(context, &options.load_bytes(context, file.clone()).unwrap());
            assert_eq!(mock::calls(call), before + 1, "{call}");
        }
    });
}

#[test]
fn pooled_memory_counts_with_the_context_and_comes_back() {
    alone(|context| {
        let file = affine().bytes().unwrap();
        let size = context.model_size_of_bytes(&file).unwrap();
        let before = context.memory_stats().allocated.now;
        let model = ModelOptions::new().pooled_memory().load_bytes(context, file.clone()).unwrap();
        assert!(context.memory_stats().allocated.now >= before + size.work + size.weights);
        check(context, &model);
        model.unload().unwrap();
        assert_eq!(context.memory_stats().allocated.now, before);
        context.set_memory_limit(Some(before + 32));
        let refused = ModelOptions::new().pooled_memory().load_bytes(context, file).unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::OutOfMemory);
        context.set_memory_limit(None);
    });
}

#[test]
fn weights_outside_of_the_model_are_found() {
    alone(|context| {
        let file = ModelFile::new()
            .input::<f32>("x", &[4])
            .external::<f32>("v", &[4], "v.bin", 64)
            .output::<f32>("y", &[4])
            .operator("product", "Mul", &["x", "v"], "y")
            .bytes()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("outside.om");
        std::fs::write(&path, &file).unwrap();
        let values: Vec<f32> = (0..32).map(|number| number as f32).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let check = |model: &Model| {
            let (x, mut y) = (context.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap(), context.alloc::<f32>(4).unwrap());
            model.run().input(0, &x).unwrap().output(0, &mut y).unwrap().wait().unwrap();
            // From byte 64 on: 16, 17, 18, 19.
            assert_eq!(y.to_vec().unwrap(), [16.0, 34.0, 54.0, 76.0]);
        };
        let missing = context.load_model(&path).unwrap_err();
        assert_says(&missing, ErrorKind::File, &["aclmdlLoadFromFile", "outside.om"]);
        let on_device = context.upload(&bytes).unwrap().into_shared();
        let placed = || ModelOptions::new().external_weights("v.bin", on_device.clone());
        check(&placed().load(context, &path).unwrap());
        check(&placed().load_bytes(context, file.clone()).unwrap());
        std::fs::write(folder.path().join("v.bin"), &bytes).unwrap();
        check(&context.load_model(&path).unwrap());
        check(&ModelOptions::new().weight_folder(folder.path()).load_bytes(context, file.clone()).unwrap());
        let refused = ModelOptions::new().weight_folder(folder.path()).load(context, &path).unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["a folder of weights"]);
        let uneven = context.alloc::<u8>(48).unwrap().into_shared();
        let refused = ModelOptions::new().external_weights("v.bin", uneven).load(context, &path).unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["48 bytes for v.bin: a multiple of 32"]);
        let refused = placed().external_weights("v\0", on_device.clone()).load(context, &path).unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["zero byte"]);
    });
}

#[test]
fn memory_that_does_not_fit_is_given_back() {
    alone(|context| {
        let file = affine().bytes().unwrap();
        let size = context.model_size_of_bytes(&file).unwrap();
        let weights = context.alloc(size.weights - 1).unwrap();
        let refused = ModelOptions::new().weight_memory(weights).load_bytes(context, file.clone()).unwrap_err();
        let need = format!("where the model needs {}", size.weights);
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["memory for weights", &need]);
        let options = refused.into_value();
        let work = context.alloc(size.work + 64).unwrap().into_shared();
        let moved = work.slice(1..).unwrap();
        let options = options.weight_memory(context.alloc(size.weights).unwrap()).work_memory(moved);
        let refused = options.load_bytes(context, file.clone()).unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["work memory at", "no multiple of 64"]);
        let short = work.slice(..size.work - 1).unwrap();
        let refused = ModelOptions::new().work_memory(short).load_bytes(context, file.clone()).unwrap_err();
        assert_says(refused.error(), ErrorKind::InvalidArgument, &["bytes of work memory"]);
        check(context, &refused.into_value().work_memory(work).load_bytes(context, file.clone()).unwrap());
        for priority in [-1, 8] {
            let refused = ModelOptions::new().priority(priority).load_bytes(context, file.clone()).unwrap_err();
            assert_says(refused.error(), ErrorKind::InvalidArgument, &["aclmdlSetConfigOpt", "priority"]);
        }
    });
}

#[test]
fn no_file_and_no_model_is_told_as_such() {
    alone(|context| {
        let folder = tempfile::tempdir().unwrap();
        let missing = context.load_model(folder.path().join("none.om")).unwrap_err();
        assert_says(&missing, ErrorKind::File, &["aclmdlLoadFromFile", "none.om"]);
        assert_eq!(context.load_model(folder.path()).unwrap_err().kind(), ErrorKind::File);
        let zero = context.load_model("a\0b").unwrap_err();
        assert_says(&zero, ErrorKind::InvalidArgument, &["a path with a zero byte"]);
        let real = context.load_model_bytes(*b"IMOD and what else such a file holds").unwrap_err();
        assert_says(&real, ErrorKind::File, &["545001", "a real offline model"]);
        assert_says(&context.load_model_bytes(Vec::new()).unwrap_err(), ErrorKind::File, &["no bytes"]);
        assert_says(&context.model_size_of_bytes([]).unwrap_err(), ErrorKind::File, &["no bytes"]);
        assert_says(&context.describe_model_bytes([]).unwrap_err(), ErrorKind::File, &["no bytes"]);
        for bytes in [&b"M"[..], &[7; 100]] {
            let error = context.load_model_bytes(bytes).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::File | ErrorKind::InvalidArgument), "{error}");
        }
    });
}

#[test]
fn whatever_bytes_a_file_has_there_is_an_error_or_a_model() {
    alone(|context| {
        let good = affine().bytes().unwrap();
        for length in 0..good.len() {
            let error = context.load_model_bytes(good[..length].to_vec()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::File | ErrorKind::InvalidArgument), "{length}: {error}");
            assert!(context.describe_model_bytes(&good[..length]).is_err());
        }
        for place in 0..good.len() {
            let mut bytes = good.clone();
            bytes[place] ^= 0x41;
            // Eight bytes of the header say nothing.
            match context.load_model_bytes(bytes) {
                Ok(model) => assert!((56..64).contains(&place) && model.unload().is_ok(), "{place}"),
                Err(error) => assert!(!matches!(error.kind(), ErrorKind::Other), "{place}: {error}"),
            }
        }
    });
}

#[test]
fn a_model_loaded_twice_runs_twice_and_its_bytes_stay() {
    alone(|context| {
        let (one, two) = (context.load_model_bytes(twice()).unwrap(), context.load_model_bytes(twice()).unwrap());
        assert_ne!(one.id().unwrap(), two.id().unwrap());
        one.unload().unwrap();
        let (x, mut y) = (context.upload_tensor(&[1.5_f32], [1]).unwrap(), context.zeros::<f32>([1]).unwrap());
        two.run().input("x", &x).unwrap().output("y", &mut y).unwrap().wait().unwrap();
        assert_eq!(y.to_vec().unwrap(), [3.0]);
        assert_eq!(format!("{two:?}"), format!("Model {{ id: Some({}), .. }}", two.id().unwrap()));
    });
}

#[test]
fn a_load_that_fails_half_way_leaves_nothing() {
    alone(|context| {
        let file = affine().bytes().unwrap();
        let load = || ModelOptions::new().pooled_memory().priority(1).load_bytes(context, file.clone());
        let calls = [
            "aclmdlQuerySizeFromMem",
            "aclmdlCreateConfigHandle",
            "aclmdlSetConfigOpt",
            "aclmdlLoadWithConfig",
            "aclmdlCreateDesc",
            "aclmdlGetDesc",
            "aclmdlGetInputNameByIndex",
            "aclmdlGetInputDims",
            "aclmdlGetOutputDims",
            "aclmdlGetInputDataType",
            "aclmdlGetInputDimsRange",
            "aclmdlGetDynamicBatch",
        ];
        for call in calls {
            let live = mock::live_handles();
            mock::fail(call, 1, 507_000).unwrap();
            let refused = load().map(drop).unwrap_err();
            assert!(!refused.error().to_string().is_empty());
            drop(refused);
            mock::clear_failures();
            assert_eq!(mock::live_handles(), live, "{call}");
        }
        load().unwrap().unload().unwrap();
    });
}
