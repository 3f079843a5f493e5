//! Offline models, loaded in every way and run in every way.

use racl::mock::ModelFile;
use racl::{Context, Model, ModelOptions, Refused, Result};

pub(crate) fn run(context: &Context) -> Result<()> {
    // Operators of models are the mock's own calls; nothing else here uses these.
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
    open(context)
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
