//! Images whose preprocessing each run tells. Expected numbers are worked out by hand from the formulas of the guide.

use half::f16;
use racl::{ColorConversion, Context, ErrorKind, ImageFormat, ImageSteps, Model, Preprocessing};

use super::alone;
use super::common::assert_says;
use super::common::mock::{self, ModelFile};

/// Images of up to 48 bytes become three channels of 2 x 2 numbers, which are doubled.
fn doubled(context: &Context) -> Model {
    let file = ModelFile::new()
        .input::<u8>("image", &[1, 48])
        .inner::<f16>("numbers", &[1, 3, 2, 2])
        .output::<f16>("y", &[1, 3, 2, 2])
        .preprocess("image", 1, "numbers")
        .operator("twice", "Muls", &["numbers"], "y")
        .float("value", 2.0);
    context.load_model_bytes(file.bytes().unwrap()).unwrap()
}

fn halves(numbers: &[f32]) -> Vec<f16> {
    numbers.iter().copied().map(f16::from_f32).collect()
}

#[test]
fn a_part_of_an_image_becomes_numbers() {
    alone(|context| {
        let model = doubled(context);
        assert!(model.description().takes_preprocessing());
        assert_eq!(model.description().inputs().len(), 1, "parameters are this crate's own input");
        let bytes: Vec<u8> = (0..48).collect();
        let (image, mut y) = (context.upload(&bytes).unwrap(), context.zeros::<f16>([1, 3, 2, 2]).unwrap());
        let steps = ImageSteps::default().crop(1, 1, 2, 2).normalise([1, 2, 3], [0.5, 0.0, 0.0], [2.0, 1.0, 0.5]);
        let told = Preprocessing::new(ImageFormat::Rgb888, 4, 4).steps(steps).swap_channels(true);
        let run = model.run().input("image", &image).unwrap().preprocessing("image", told).unwrap();
        run.output("y", &mut y).unwrap().wait().unwrap();
        // The pixels start at 15, 18, 27 and 30; blue comes first.
        let wanted =
            [31.0, 37.0, 55.0, 61.0, 14.0, 17.0, 26.0, 29.0, 6.0, 7.5, 12.0, 13.5].map(|number| 2.0 * number);
        assert_eq!(y.to_vec().unwrap(), halves(&wanted));
    });
}

#[test]
fn colours_are_converted_and_margins_are_zeros() {
    alone(|context| {
        let file = ModelFile::new()
            .input::<u8>("image", &[6])
            .output::<u8>("y", &[1, 3, 3, 3])
            .preprocess("image", 1, "y")
            .integer("channels_last", 1);
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let image = context.upload(&[100_u8, 110, 120, 130, 140, 120]).unwrap();
        let mut y = context.zeros::<u8>([1, 3, 3, 3]).unwrap();
        let told = Preprocessing::new(ImageFormat::Yuv420Sp, 2, 2)
            .convert(ColorConversion::JPEG_TO_RGB)
            .steps(ImageSteps::default().margin(1, 0, 1, 0));
        let run = model.run().input(0, &image).unwrap().output(0, &mut y).unwrap();
        run.preprocessing(0, told).unwrap().wait().unwrap();
        // R = Y + 1.402 (V - 128), G = Y - 0.344 (U - 128) - 0.714 (V - 128), B = Y + 1.772 (U - 128).
        #[rustfmt::skip]
        let wanted = [
            0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 89, 102, 121, 99, 112, 131,
            0, 0, 0, 109, 122, 141, 119, 132, 151,
        ];
        assert_eq!(y.to_vec().unwrap(), wanted);
    });
}

#[test]
fn one_of_four_channels_is_left_out() {
    alone(|context| {
        let file =
            ModelFile::new().input::<u8>("x", &[1, 8]).output::<u8>("y", &[1, 3, 1, 2]).preprocess("x", 1, "y");
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let image = context.upload(&[1_u8, 10, 20, 30, 2, 40, 50, 60]).unwrap();
        let mut y = context.zeros::<u8>([1, 3, 1, 2]).unwrap();
        for (skip, wanted) in [(false, [1, 2, 10, 40, 20, 50]), (true, [10, 40, 20, 50, 30, 60])] {
            let told = Preprocessing::new(ImageFormat::Xrgb8888, 2, 1).skip_first_channel(skip);
            let run = model.run().input("x", &image).unwrap().output("y", &mut y).unwrap();
            run.preprocessing("x", told).unwrap().wait().unwrap();
            assert_eq!(y.to_vec().unwrap(), wanted);
        }
    });
}

#[test]
fn images_of_a_batch_have_steps_of_their_own_and_runs_keep_theirs() {
    alone(|context| {
        let file = ModelFile::new()
            .input::<u8>("x", &[-1, 2])
            .output::<f16>("y", &[-1, 1, 1, 2])
            .batches(&[1, 2])
            .preprocess("x", 2, "y");
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let stream = context.stream().unwrap();
        let image = context.upload(&[1_u8, 2, 3, 4]).unwrap();
        mock::hold(&stream).unwrap();
        let mut all = Vec::new();
        for mean in [3_u8, 1] {
            let mut y = context.zeros::<f16>([2, 1, 1, 2]).unwrap();
            let second = ImageSteps::default().normalise([mean, 0, 0], [0.0; 3], [1.0; 3]);
            let told = Preprocessing::new(ImageFormat::Yuv400, 2, 1).images(2).steps_of(1, second);
            let run = model.run().input("x", &image).unwrap().preprocessing("x", told).unwrap();
            run.output("y", &mut y).unwrap().batch(2).submit(&stream).unwrap();
            all.push((mean, y));
        }
        mock::release(&stream).unwrap();
        for (mean, y) in all {
            let mean = f32::from(mean);
            assert_eq!(y.to_vec().unwrap(), halves(&[1.0, 2.0, 3.0 - mean, 4.0 - mean]));
        }
    });
}

#[test]
fn each_of_two_images_is_told_its_own() {
    alone(|context| {
        let file = ModelFile::new()
            .input::<u8>("a", &[1, 2])
            .output::<u8>("left", &[1, 1, 1, 2])
            .preprocess("a", 1, "left")
            .input::<f32>("number", &[1])
            .output::<f32>("same", &[1])
            .operator("copy", "Copy", &["number"], "same")
            .input::<u8>("b", &[1, 6])
            .output::<u8>("right", &[1, 3, 1, 2])
            .preprocess("b", 1, "right");
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let (a, b) = (context.upload(&[7_u8, 8]).unwrap(), context.upload(&[1_u8, 2, 3, 4, 5, 6]).unwrap());
        let number = context.upload(&[1.5_f32]).unwrap();
        let mut left = context.zeros::<u8>([1, 1, 1, 2]).unwrap();
        let mut right = context.zeros::<u8>([1, 3, 1, 2]).unwrap();
        let mut same = context.alloc_zeroed::<f32>(1).unwrap();
        let run = model.run().input("a", &a).unwrap().input("b", &b).unwrap().input("number", &number).unwrap();
        let run = run.preprocessing("b", Preprocessing::new(ImageFormat::Rgb888, 2, 1).swap_channels(true)).unwrap();
        let run = run.preprocessing("a", Preprocessing::new(ImageFormat::Yuv400, 2, 1)).unwrap();
        let run = run.output("left", &mut left).unwrap().output("right", &mut right).unwrap();
        run.output("same", &mut same).unwrap().wait().unwrap();
        assert_eq!(left.to_vec().unwrap(), [7, 8]);
        assert_eq!(right.to_vec().unwrap(), [3, 6, 2, 5, 1, 4]);
        assert_eq!(same.to_vec().unwrap(), [1.5]);
    });
}

#[test]
fn what_goes_against_itself_is_refused() {
    alone(|context| {
        let model = doubled(context);
        let rgb = || Preprocessing::new(ImageFormat::Rgb888, 4, 4);
        let yuv = || Preprocessing::new(ImageFormat::Yuv420Sp, 4, 4);
        let steps = ImageSteps::default;
        let mut matrix = ColorConversion::JPEG_TO_RGB;
        matrix.matrix[2][1] = i16::MAX;
        let wrong = [
            (Preprocessing::new(ImageFormat::Rgb888, 1, 4), "1 x 4 pixels: 2 to 4096 wide"),
            (Preprocessing::new(ImageFormat::Rgb888, 4, u32::MAX), "1 to 4096 high"),
            (Preprocessing::new(ImageFormat::Yuv420Sp, 4, 3), "to be even"),
            (Preprocessing::new(ImageFormat::Yuv400, 4, 4).convert(ColorConversion::JPEG_TO_RGB), "no colours"),
            (rgb().convert(matrix), "32767 in a matrix"),
            (rgb().images(0), "no image, or over 127"),
            (rgb().images(usize::MAX), "no image, or over 127"),
            (rgb().steps(steps().crop(3, 0, 2, 2)), "image 0: a crop of 2 x 2 at 3, 0 of 4 x 4"),
            (rgb().steps(steps().crop(0, u32::MAX, 2, 2)), "a crop of"),
            (rgb().steps(steps().crop(0, 0, 0, 2)), "a crop of 0 x 2"),
            (yuv().steps(steps().crop(1, 0, 2, 2)), "to be even"),
            (rgb().steps(steps().margin(0, 33, 0, 0)), "a margin of over 32"),
            (rgb().steps(steps().normalise([0; 3], [0.0, f32::NAN, 0.0], [1.0; 3])), "minima are"),
            (rgb().steps(steps().normalise([0; 3], [0.0; 3], [f32::INFINITY; 3])), "factors"),
            (rgb().images(2).steps_of(1, steps().crop(0, 0, 3, 4)), "image 1 becomes 3 x 4, the first 4 x 4"),
        ];
        for (told, text) in wrong {
            let error = model.run().preprocessing("image", told).unwrap_err();
            assert_says(&error, ErrorKind::InvalidArgument, &[r#""image" of the model"#, text]);
        }
    });
}

#[test]
fn what_goes_against_the_model_is_refused() {
    alone(|context| {
        let model = doubled(context);
        let (image, mut y) = (context.alloc_zeroed::<u8>(48).unwrap(), context.zeros::<f16>([1, 3, 2, 2]).unwrap());
        let error = model.run().input(0, &image).unwrap().output(0, &mut y).unwrap().wait().unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["does not say what is made of images", "`preprocessing`"]);
        let rgb = |width, height| Preprocessing::new(ImageFormat::Rgb888, width, height);
        let cropped = ImageSteps::default().crop(0, 0, 2, 2);
        // Another size of the result, too large an image, too many of them.
        for told in [rgb(3, 2), rgb(5, 4).steps(cropped), rgb(2, 2).images(2)] {
            let run = model.run().input(0, &image).unwrap().output(0, &mut y).unwrap();
            let error = run.preprocessing(0, told).unwrap().wait().unwrap_err();
            assert_says(&error, ErrorKind::InvalidArgument, &["aclmdlSetInputAIPP"]);
        }
        let error = model.run().preprocessing("y", rgb(2, 2)).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &[r#"no input "y""#]);

        let plain = ModelFile::new().input::<f32>("x", &[2]).output::<f32>("y", &[2]);
        let plain = plain.operator("a", "Abs", &["x"], "y").bytes().unwrap();
        let plain = context.load_model_bytes(plain).unwrap();
        assert!(!plain.description().takes_preprocessing());
        let error = plain.run().preprocessing("x", rgb(2, 2)).unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &[r#""x" of the model: it takes no parameters"#]);
    });
}

#[test]
fn every_call_of_it_may_fail() {
    let calls = [
        "aclmdlGetAippType",
        "aclmdlCreateAIPP",
        "aclmdlSetAIPPInputFormat",
        "aclmdlSetAIPPSrcImageSize",
        "aclmdlSetAIPPRbuvSwapSwitch",
        "aclmdlSetAIPPAxSwapSwitch",
        "aclmdlSetAIPPCscParams",
        "aclmdlSetAIPPCropParams",
        "aclmdlSetAIPPPaddingParams",
        "aclmdlSetAIPPDtcPixelMean",
        "aclmdlSetAIPPDtcPixelMin",
        "aclmdlSetAIPPPixelVarReci",
        "aclmdlSetInputAIPP",
    ];
    alone(|context| {
        let file = ModelFile::new().input::<u8>("x", &[64]).output::<u8>("y", &[1, 3, 2, 2]).preprocess("x", 1, "y");
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let (x, mut y) = (context.alloc_zeroed::<u8>(64).unwrap(), context.zeros::<u8>([1, 3, 2, 2]).unwrap());
        let conversion = ColorConversion { output_bias: [5; 3], ..ColorConversion::BT709_NARROW_TO_RGB };
        let told = Preprocessing::new(ImageFormat::Xrgb8888, 4, 4)
            .swap_channels(true)
            .skip_first_channel(true)
            .convert(conversion)
            .steps(ImageSteps::default().crop(1, 1, 1, 2).margin(0, 0, 0, 1));
        for call in calls {
            mock::fail(call, 1, 507_899).unwrap();
            let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
            let error = run.preprocessing("x", told.clone()).and_then(racl::ModelRun::wait).unwrap_err();
            assert!(error.to_string().contains(call), "{call}: {error}");
        }
        let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
        run.preprocessing("x", told).unwrap().wait().unwrap();
        // The pixel is 0, and the margin stays 0.
        assert_eq!(y.to_vec().unwrap(), [5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0]);
    });
}
