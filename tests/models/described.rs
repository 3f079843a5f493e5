//! What is known of a model, loaded or not.

use crate::common::mock::ModelFile;
use racl::op::DataType;
use racl::{ErrorKind, ModelFormat, ModelGears, ModelSize};

use crate::common::assert_says;
use crate::{affine, alone, twice};

#[test]
fn a_model_says_what_it_takes_and_gives() {
    alone(|context| {
        let file = affine().bytes().unwrap();
        let model = context.load_model_bytes(file.clone()).unwrap();
        let about = model.description();
        assert_eq!(*about, context.describe_model_bytes(&file).unwrap());
        let names: Vec<_> = about.inputs().iter().chain(about.outputs()).map(|tensor| tensor.name()).collect();
        assert_eq!(names, ["x", "y"], "the input for the choice is this crate's own");
        let (x, y) = (about.input("x").unwrap(), about.output("y").unwrap());
        assert_eq!((x.sizes(), y.sizes()), (&[None, Some(3)][..], &[None, Some(2)][..]));
        assert_eq!((x.data_type(), x.format()), (Some(DataType::F32), ModelFormat::Nd));
        assert_eq!((x.size_bytes(), y.size_bytes()), (Some(4 * 3 * 4), Some(4 * 2 * 4)), "of the greatest batch");
        assert_eq!(*about.gears(), ModelGears::Batch(vec![1, 2, 4]));
        assert!(about.input("y").is_none() && about.output("p").is_none());
        assert!(model.id().unwrap() > 0);
    });
}

#[test]
fn sizes_ranges_types_and_formats_are_those_of_the_file() {
    alone(|context| {
        let file = ModelFile::new()
            .input::<f32>("image", &[1, -1, -1])
            .input::<i64>("fixed", &[2, 5])
            .output::<f32>("out", &[1, -1, -1])
            .output::<i64>("same", &[2, 5])
            .image_sizes(&[(8, 9), (16, 4)])
            .operator("a", "Abs", &["image"], "out")
            .operator("b", "Copy", &["fixed"], "same");
        let about = context.describe_model_bytes(file.bytes().unwrap()).unwrap();
        assert_eq!(*about.gears(), ModelGears::ImageSize(vec![(8, 9), (16, 4)]));
        assert_eq!(about.input("fixed").unwrap().shape(), Some(vec![2, 5]));
        assert_eq!(about.input("image").unwrap().shape(), None);
        assert_eq!(about.output("same").unwrap().size_bytes(), Some(80));

        let about = context.describe_model_bytes(twice()).unwrap();
        assert_eq!(*about.gears(), ModelGears::None);
        assert_eq!(about.inputs()[0].ranges(), [(1, Some(1000))]);
        assert_eq!(about.inputs()[0].size_bytes(), Some(4000));

        let rows: [&[u64]; 2] = [&[2, 6], &[3, 7]];
        let file = ModelFile::new()
            .input::<f32>("a", &[-1, 4])
            .input::<f32>("b", &[-1])
            .output::<f32>("c", &[-1, 4])
            .output::<f32>("d", &[-1])
            .open_sizes(&rows)
            .operator("a", "Abs", &["a"], "c")
            .operator("b", "Abs", &["b"], "d");
        let about = context.describe_model_bytes(file.bytes().unwrap()).unwrap();
        assert_eq!(*about.gears(), ModelGears::Dims(vec![vec![2, 4, 6], vec![3, 4, 7]]));
    });
}

#[test]
fn a_type_without_a_name_here_is_a_number() {
    alone(|context| {
        // A model of strings, whose number is 13, would not run; one of formats does.
        let file = ModelFile::new()
            .input::<f32>("x", &[1, 2, 2, 2])
            .raw_type(0, 0)
            .output::<f32>("y", &[1, 2, 2, 2])
            .raw_type(0, 47)
            .operator("a", "Abs", &["x"], "y");
        let about = context.describe_model_bytes(file.bytes().unwrap()).unwrap();
        assert_eq!(about.input("x").unwrap().format(), ModelFormat::Nchw);
        assert_eq!(about.output("y").unwrap().format(), ModelFormat::Ncl);
        assert_eq!(about.output("y").unwrap().raw_data_type(), 0);
    });
}

#[test]
fn sizes_of_memory_are_known_before_loading() {
    alone(|context| {
        let file = affine().bytes().unwrap();
        let size = context.model_size_of_bytes(&file).unwrap();
        // 24 bytes and 8, each at a multiple of 64.
        assert!(size.weights >= 64 + 8 && size.work >= 4 * 2 * 4, "{size}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("affine.om");
        std::fs::write(&path, &file).unwrap();
        assert_eq!(context.model_size(&path).unwrap(), size);
        assert_eq!(context.describe_model(&path).unwrap(), context.describe_model_bytes(&file).unwrap());
        let text = ModelSize { work: 1, weights: 2 }.to_string();
        assert_eq!(text, "2 bytes of weights and 1 of work memory");
        let missing = context.model_size(folder.path().join("none")).unwrap_err();
        assert_says(&missing, ErrorKind::File, &["aclmdlQuerySize", "/none"]);
        let missing = context.describe_model(folder.path().join("none")).unwrap_err();
        assert_says(&missing, ErrorKind::File, &["aclmdlGetDescFromFile", "/none"]);
    });
}

#[test]
fn an_operator_says_what_it_was_made_of() {
    alone(|context| {
        let file = ModelFile::new()
            .input::<f32>("x", &[2])
            .output::<f32>("y", &[2])
            .operator("both", "Abs", &["x"], "y")
            .text("_datadump_original_op_names", "[3]abc[2]de");
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let attribute = "_datadump_original_op_names";
        let found = model.operator_attribute("both", attribute).unwrap();
        assert_eq!(found.as_deref(), Some("[3]abc[2]de"));
        assert_eq!(model.operator_attribute("other", attribute).unwrap(), None);
        assert_eq!(model.operator_attribute("both", "other").unwrap(), None);
        let refused = model.operator_attribute("bo\0th", attribute).unwrap_err();
        assert_says(&refused, ErrorKind::InvalidArgument, &["zero byte"]);
    });
}
