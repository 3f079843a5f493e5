//! What models compute, with nothing of the mock but their files: it runs with every library that takes those.

use racl::Model;

use crate::common::{device, mock, needs_models_of_the_mock};
use crate::{affine, affine_of};

fn load(file: &mock::ModelFile) -> Model {
    needs_models_of_the_mock();
    device().context().load_model_bytes(file.bytes().unwrap()).unwrap()
}

#[test]
fn each_batch_has_its_own_rows() {
    let _alone = mock::exclusive();
    let model = load(&affine());
    let (device, rows) = (device(), (0..12).map(|number| number as f32 * 0.5 - 2.0).collect::<Vec<_>>());
    let (stream, x) = (device.stream().unwrap(), device.upload(&rows).unwrap());
    for batch in [2, 4, 1] {
        let mut y = device.alloc_zeroed::<f32>(8).unwrap();
        let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().batch(batch);
        assert_eq!(run.submit(&stream).unwrap().of("y"), Some(&[batch, 2][..]));
        stream.synchronize().unwrap();
        let mut want = affine_of(&rows[..3 * batch]);
        want.resize(8, 0.0);
        assert_eq!(y.to_vec().unwrap(), want, "a batch of {batch}");
    }
}

/// Neither of them is the other one's: the first is a row, the second a column.
#[test]
fn each_input_is_its_own_by_name_and_by_place() {
    let _alone = mock::exclusive();
    let file = mock::ModelFile::new().input::<f32>("row", &[1, 2]).input::<f32>("other", &[2, 1]);
    let file = file.output::<f32>("y", &[2, 2]).operator("product", "MatMul", &["other", "row"], "y");
    let (device, model) = (device(), load(&file));
    let (row, other) = (device.upload(&[1.0_f32, 2.0]).unwrap(), device.upload(&[10.0_f32, 30.0]).unwrap());
    for by_name in [true, false] {
        let mut y = device.alloc_zeroed::<f32>(4).unwrap();
        let run = model.run();
        let run = if by_name { run.input("other", &other) } else { run.input(1, &other) }.unwrap();
        let run = if by_name { run.input("row", &row) } else { run.input(0, &row) }.unwrap();
        run.output("y", &mut y).unwrap().wait().unwrap();
        assert_eq!(y.to_vec().unwrap(), [10.0, 20.0, 30.0, 60.0]);
    }
}
