//! Offline models, loaded in every way and run in every way, with each call failing once. Apart from the other scenario:
//! the mock's own models call operators, whose failures are none of the program's calls.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::catch_unwind;
use std::path::Path;

use crate::common::mock::{self, LiveHandles, ModelFile};
use racl::sys::Table;
use racl::{
    Acl, Allocator, ColorConversion, Context, Error, ImageFormat, ImageSteps, Model, ModelOptions, Preprocessing,
    Refused, Result,
};

use crate::injected::{leaks, read_words};
use crate::{collect_log, nothing};

const INTERNAL: i32 = 507_000;

/// Functions that only models use.
pub(crate) fn is_of_models(name: &str) -> bool {
    (name.starts_with("aclmdl") && !name.starts_with("aclmdlRI") && !name.ends_with("Dump"))
        || ["TensorDesc", "DataBuffer"].iter().any(|part| name.starts_with("acl") && name.contains(part))
}

/// Functions that give what is asked for, or nothing; what a model is told to have then is refused where it is used.
fn gives_no_code(name: &str) -> bool {
    let asked = ["Num", "Name", "SizeByIndex", "DataType", "Format", "OpAttr", "TensorDesc"];
    (name.starts_with("aclmdlGet") && asked.iter().any(|part| name.contains(part)))
        || matches!(name, "aclGetTensorDescNumDims" | "aclDestroyTensorDesc")
}

/// What the failed call itself was to free. A model has memory that the library took for it.
fn may_leak(name: &str, found: &[(&str, u64)]) -> bool {
    let destroys = name.contains("Destroy") || name == "aclmdlUnload";
    let of_models = |(kind, count): &(&str, u64)| match *kind {
        "library object" => *count <= 2,
        "device memory" => *count <= 4,
        // Memory that is leaked belongs to its context.
        "context" | "stream" => *count <= 1 && name == "aclmdlUnload",
        _ => false,
    };
    found.is_empty() || destroys && found.iter().all(of_models)
}

struct Outcome {
    result: Result<()>,
    drop_errors: Vec<Error>,
    live: LiveHandles,
}

impl Outcome {
    fn text(&self) -> String {
        let errors = self.result.iter_err().chain(&self.drop_errors);
        errors.map(|error| format!("{error:#}")).collect::<Vec<_>>().join("\n    ")
    }
}

trait IterErr {
    fn iter_err(&self) -> impl Iterator<Item = &Error>;
}

impl IterErr for Result<()> {
    fn iter_err(&self) -> impl Iterator<Item = &Error> {
        self.as_ref().err().into_iter()
    }
}

fn outcome() -> std::result::Result<Outcome, String> {
    let run = || {
        let device = Acl::mock().and_then(|acl| acl.device(0)).unwrap();
        let context = device.context().create_context().unwrap();
        context.set_allocator(Allocator::Direct);
        let result = run(&context);
        mock::clear_failures();
        let drop_errors = context.take_drop_errors();
        // What a model that is still loaded may use is leaked, and belongs to the context.
        let unloaded = !drop_errors.iter().any(|error| error.to_string().contains("aclmdlUnload"));
        let closed = context.close();
        assert!(closed.is_ok() || !unloaded, "{closed:?}");
        (result, drop_errors)
    };
    let ran = catch_unwind(run);
    mock::clear_failures();
    let (result, drop_errors) = ran.map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    })?;
    Ok(Outcome { result, drop_errors, live: mock::live_handles() })
}

#[test]
fn each_call_of_models_that_fails_is_told_and_leaks_nothing() {
    let _alone = mock::exclusive();
    collect_log();
    let clean = nothing();
    let first = outcome().expect("no panic");
    assert!(first.text().is_empty() && leaks(first.live, clean).is_empty(), "{}", first.text());
    let of_models = Table::names().map(|(name, _)| name).filter(|name| is_of_models(name));
    let calls: BTreeMap<_, _> =
        of_models.map(|name| (name, mock::calls(name))).filter(|(_, calls)| *calls > 0).collect();
    let mut words = BTreeSet::new();
    read_words(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut words);
    let missing = words.iter().filter(|word| is_of_models(word) && Table::names().any(|(name, _)| name == *word));
    let missing: Vec<_> = missing.filter(|word| !calls.contains_key(word.as_str())).collect();
    // Names in documentation.
    let named =
        ["aclmdlExecute", "aclmdlGetInputIndexByName", "aclmdlGetOutputIndexByName", "aclmdlSetAIPPByInputIndex"];
    assert_eq!(missing, named);
    let mut problems = Vec::new();
    for (&name, &count) in &calls {
        for nth in 1..=count {
            nothing();
            mock::fail(name, nth, INTERNAL).unwrap();
            let what = format!("call {nth} of {name}");
            match outcome() {
                Err(panic) => problems.push(format!("{what}: panic: {panic}")),
                Ok(outcome) => {
                    let (text, left) = (outcome.text(), leaks(outcome.live, clean));
                    if !gives_no_code(name) && !text.contains(name) {
                        problems.push(format!("{what}: not told: {text}"));
                    }
                    if !may_leak(name, &left) {
                        problems.push(format!("{what}: leaks {left:?}\n    {text}"));
                    }
                }
            }
        }
    }
    nothing();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

fn run(context: &Context) -> Result<()> {
    let tensors = ModelFile::new().input::<f32>("x", &[-1, 3]).output::<f32>("y", &[-1, 3]).batches(&[1, 2]);
    let file = tensors.operator("root", "Sqrt", &["x"], "y").bytes()?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("example.om");
    std::fs::write(&path, &file).unwrap();
    context.describe_model(&path)?;
    context.describe_model_bytes(&file)?;
    let own = || ModelOptions::new().pooled_memory();
    let (from_file, from_bytes) = (own().load(context, &path), own().load_bytes(context, file.clone()));
    let (from_file, from_bytes) = (from_file.map_err(Refused::into_error)?, from_bytes.map_err(Refused::into_error)?);
    let (plain, model) = (context.load_model(&path)?, context.load_model_bytes(file)?);
    for model in [from_file, from_bytes, plain] {
        batches(context, &model)?;
        model.unload().map_err(Refused::into_error)?;
    }
    batches(context, &model)?;
    drop(model);
    images_and_sizes(context)?;
    preprocessed(context)?;
    open(context)
}

/// What is told of images with a run.
fn preprocessed(context: &Context) -> Result<()> {
    let file = ModelFile::new().input::<u8>("x", &[64]).output::<u8>("y", &[1, 3, 2, 2]).preprocess("x", 1, "y");
    let model = context.load_model_bytes(file.bytes()?)?;
    let (x, mut y) = (context.alloc_zeroed::<u8>(64)?, context.zeros::<u8>([1, 3, 2, 2])?);
    let told = Preprocessing::new(ImageFormat::Xrgb8888, 4, 4)
        .swap_channels(true)
        .skip_first_channel(true)
        .convert(ColorConversion { output_bias: [5; 3], ..ColorConversion::JPEG_TO_RGB })
        .steps(ImageSteps::default().crop(1, 1, 1, 2).margin(0, 0, 0, 1));
    model.run().input("x", &x)?.preprocessing("x", told)?.output("y", &mut y)?.wait()?;
    assert_eq!(y.to_vec()?, [5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0]);
    Ok(())
}

fn batches(context: &Context, model: &Model) -> Result<()> {
    let stream = context.stream()?;
    let x = context.upload_tensor(&[1.0_f32, 4.0, 9.0], [1, 3])?;
    let mut y = context.zeros::<f32>([1, 3])?;
    model.run().input(0, &x)?.output(0, &mut y)?.submit(&stream)?;
    stream.synchronize()?;
    assert_eq!(y.to_vec()?, [1.0, 2.0, 3.0]);
    Ok(())
}

fn images_and_sizes(context: &Context) -> Result<()> {
    let tensors = || ModelFile::new().input::<f32>("x", &[-1, -1]).output::<f32>("y", &[-1, -1]);
    let name = "_datadump_original_op_names";
    let built = |file: ModelFile| file.operator("a", "Sqrt", &["x"], "y").text(name, "a").bytes();
    let rows: [&[u64]; 1] = [&[1, 2]];
    let (images, sizes) = (built(tensors().image_sizes(&[(1, 2)]))?, built(tensors().open_sizes(&rows))?);
    let x = context.upload(&[1.0_f32, 4.0])?;
    for (model, is_images) in [(context.load_model_bytes(images)?, true), (context.load_model_bytes(sizes)?, false)] {
        let mut y = context.alloc_zeroed::<f32>(2)?;
        let run = model.run().input("x", &x)?.output("y", &mut y)?;
        let run = if is_images { run.image_size(1, 2) } else { run.dims(&[1, 2]) };
        run.wait()?;
        assert_eq!(y.to_vec()?, [1.0, 2.0]);
        model.operator_attribute("a", name)?;
    }
    Ok(())
}

/// With an open shape, and weights outside.
fn open(context: &Context) -> Result<()> {
    let file = ModelFile::new()
        .input::<f32>("x", &[-1])
        .ranges(&[(1, 4)])
        .external::<f32>("v", &[1], "v.bin", 0)
        .output::<f32>("y", &[-1])
        .operator("part", "Div", &["x", "v"], "y")
        .bytes()?;
    let weights = context.upload(&[0_u8, 0, 64, 64, 0, 0, 0, 0].repeat(4))?.into_shared();
    let options = ModelOptions::new().priority(1).external_weights("v.bin", weights);
    let model = options.load_bytes(context, file).map_err(Refused::into_error)?;
    let x = context.upload_tensor(&[3.0_f32, 6.0], [2])?;
    let mut y = context.zeros::<f32>([2])?;
    let shapes = model.run().input("x", &x)?.output("y", &mut y)?.wait()?;
    assert!(shapes.of("y").is_none_or(|shape| shape == [2] || shape.is_empty()));
    assert_eq!(y.to_vec()?, [1.0, 2.0]);
    Ok(())
}
