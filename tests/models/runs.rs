//! What runs compute.

use crate::common::mock::{self, ModelFile};
use racl::half::f16;
use racl::{ErrorKind, op};

use crate::common::assert_says;
use crate::{affine, affine_of, alone, twice, two_by_two};

const A: [f32; 8] = [1.0, -2.0, 3.0, 0.5, 0.25, -8.0, 100.0, 7.0];
const B: [f32; 8] = [2.0, 5.0, -1.0, 4.0, 8.0, 0.5, 0.01, 3.0];

fn sums() -> Vec<f32> {
    A.iter().zip(B).map(|(a, b)| a + b).collect()
}

fn products() -> Vec<f32> {
    A.iter().zip(B).map(|(a, b)| a * b).collect()
}

#[test]
fn every_output_is_written_blocking_and_on_a_stream() {
    alone(|context| {
        let model = context.load_model_bytes(two_by_two()).unwrap();
        let stream = context.stream().unwrap();
        let (a, b) = (context.upload(&A).unwrap(), context.upload_tensor(&B, [8]).unwrap());
        let mut both = context.alloc_zeroed::<f32>(16).unwrap();
        let (mut sum, mut product) = both.split_at_mut(8).unwrap();
        let run = model.run().input("a", &a).unwrap().input(1, &b).unwrap();
        let shapes = run.output("product", &mut product).unwrap().output("sum", &mut sum).unwrap().wait().unwrap();
        assert_eq!((shapes.of("sum"), shapes.of(1), shapes.of("none")), (Some(&[8][..]), Some(&[8][..]), None));
        assert_eq!(both.to_vec().unwrap(), [sums(), products()].concat());

        let (mut sum, mut product) = (context.zeros::<f32>([8]).unwrap(), context.alloc::<f32>(8).unwrap());
        let run = model.run().input("a", &a.slice(..).unwrap()).unwrap().input("b", &b).unwrap();
        run.output(0, &mut sum).unwrap().output(1, &mut product).unwrap().submit(&stream).unwrap();
        assert_eq!((sum.to_vec().unwrap(), product.to_vec().unwrap()), (sums(), products()));
    });
}

#[test]
fn a_batch_is_chosen_or_told_by_a_tensor() {
    alone(|context| {
        let model = context.load_model_bytes(affine().bytes().unwrap()).unwrap();
        let stream = context.stream().unwrap();
        let rows: Vec<f32> = (0..12).map(|number| number as f32 * 0.5 - 2.0).collect();
        let memory = context.upload(&rows).unwrap();
        for batch in [4, 1, 2, 4] {
            let mut y = context.alloc_zeroed::<f32>(8).unwrap();
            let run = model.run().input("x", &memory).unwrap().output("y", &mut y).unwrap();
            let shapes = run.batch(batch).submit(&stream).unwrap();
            assert_eq!(shapes.of("y"), Some(&[batch, 2][..]));
            let mut want = affine_of(&rows[..3 * batch]);
            want.resize(8, 0.0);
            assert_eq!(y.to_vec().unwrap(), want, "a batch of {batch}");

            let x = context.upload_tensor(&rows[..3 * batch], [batch, 3]).unwrap();
            let mut y = context.zeros::<f32>([batch, 2]).unwrap();
            model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
            assert_eq!(y.to_vec().unwrap(), affine_of(&rows[..3 * batch]));
        }
    });
}

#[test]
fn runs_that_are_not_done_keep_their_own_choice() {
    alone(|context| {
        let model = context.load_model_bytes(affine().bytes().unwrap()).unwrap();
        let stream = context.stream().unwrap();
        let rows: Vec<f32> = (0..12).map(|number| number as f32).collect();
        let memory = context.upload(&rows).unwrap();
        mock::hold(&stream).unwrap();
        let mut all = Vec::new();
        for batch in [4, 1, 2] {
            let mut y = context.alloc_zeroed::<f32>(8).unwrap();
            let run = model.run().input("x", &memory).unwrap().output("y", &mut y).unwrap();
            run.batch(batch).submit(&stream).unwrap();
            all.push((batch, y));
        }
        mock::release(&stream).unwrap();
        for (batch, y) in all {
            assert_eq!(y.to_vec().unwrap()[..2 * batch], affine_of(&rows[..3 * batch]));
        }
    });
}

#[test]
fn images_and_all_sizes_are_chosen_too() {
    alone(|context| {
        let file = ModelFile::new()
            .input::<f32>("image", &[1, -1, -1])
            .output::<f32>("out", &[1, -1, -1])
            .image_sizes(&[(2, 3), (1, 4)])
            .operator("a", "Abs", &["image"], "out");
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let x = context.upload(&[-1.0_f32, 2.0, -3.0, 4.0, -5.0, 6.0]).unwrap();
        let mut y = context.alloc_zeroed::<f32>(6).unwrap();
        let run = model.run().input(0, &x).unwrap().output(0, &mut y).unwrap();
        assert_eq!(run.image_size(1, 4).wait().unwrap().of(0), Some(&[1, 1, 4][..]));
        assert_eq!(y.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
        let run = model.run().input(0, &x).unwrap().output(0, &mut y).unwrap();
        run.image_size(2, 3).wait().unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);

        let rows: [&[u64]; 2] = [&[2, 3], &[1, 2]];
        let file = ModelFile::new()
            .input::<f32>("a", &[-1, 2])
            .input::<f32>("b", &[-1])
            .output::<f32>("c", &[-1, 2])
            .output::<f32>("d", &[-1])
            .open_sizes(&rows)
            .operator("a", "Abs", &["a"], "c")
            .operator("b", "Abs", &["b"], "d");
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let (mut c, mut d) = (context.alloc_zeroed::<f32>(4).unwrap(), context.alloc_zeroed::<f32>(3).unwrap());
        let run = model.run().input("a", &x).unwrap().input("b", &x).unwrap();
        let run = run.output("c", &mut c).unwrap().output("d", &mut d).unwrap();
        let shapes = run.dims(&[1, 2, 2]).wait().unwrap();
        assert_eq!((shapes.of("c"), shapes.of("d")), (Some(&[1, 2][..]), Some(&[2][..])));
        assert_eq!((c.to_vec().unwrap(), d.to_vec().unwrap()), (vec![1.0, 2.0, 0.0, 0.0], vec![1.0, 2.0, 0.0]));
    });
}

#[test]
fn open_shapes_come_with_tensors_or_are_said() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let memory = context.upload(&A).unwrap();
        for length in [8, 1, 5] {
            let x = context.upload_tensor(&A[..length], [length]).unwrap();
            let want: Vec<f32> = A[..length].iter().map(|value| 2.0 * value).collect();
            let mut y = context.alloc::<f32>(length).unwrap();
            let shapes = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
            assert_eq!(shapes.of("y"), Some(&[length][..]));
            assert_eq!(y.to_vec().unwrap(), want);
            let run = model.run().input("x", &memory).unwrap().input_shape("x", &[length]).unwrap();
            assert_eq!(run.output("y", &mut y).unwrap().wait().unwrap().of("y"), Some(&[length][..]));
            assert_eq!(y.to_vec().unwrap(), want);
        }
    });
}

#[test]
fn a_tensor_for_an_open_output_has_the_shape_that_the_run_gives() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let stream = context.stream().unwrap();
        let x = context.upload_tensor(&A[..4], [4]).unwrap();
        for length in [5, 8] {
            let mut y = context.zeros::<f32>([length]).unwrap();
            let text = format!("\"y\" of the model: the shape [{length}], where the run gives [4]");
            let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
            assert_says(&run.submit(&stream).unwrap_err(), ErrorKind::InvalidArgument, &[&text]);
            let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
            assert_says(&run.wait().unwrap_err(), ErrorKind::InvalidArgument, &[&text]);
        }
        let mut y = context.zeros::<f32>([4]).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().wait().unwrap();
        assert_eq!(y.to_vec().unwrap(), A[..4].iter().map(|value| 2.0 * value).collect::<Vec<_>>());
    });
}

#[test]
fn other_types_and_bytes_go_as_well() {
    alone(|context| {
        let file = ModelFile::new()
            .input::<f16>("x", &[4])
            .inner::<f32>("wide", &[4])
            .output::<f32>("y", &[4])
            .operator("wider", "Cast", &["x"], "y");
        // A tensor that nothing writes is refused by the mock.
        assert!(context.load_model_bytes(file.bytes().unwrap()).is_err());
        let file =
            ModelFile::new().input::<f16>("x", &[4]).output::<f32>("y", &[4]).operator("wider", "Cast", &["x"], "y");
        let model = context.load_model_bytes(file.bytes().unwrap()).unwrap();
        let values = [0.5, -1.5, 1024.0, 0.0];
        let x = context.upload(&values.map(f16::from_f32)).unwrap();
        let mut y = context.alloc::<f32>(4).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().wait().unwrap();
        assert_eq!(y.to_vec().unwrap(), values);
        let bytes: Vec<u8> = values.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect();
        let (x, mut y) = (context.upload(&bytes).unwrap(), context.alloc::<u8>(16).unwrap());
        model.run().input_bytes("x", &x).unwrap().output_bytes("y", &mut y).unwrap().wait().unwrap();
        let want: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!(y.to_vec().unwrap(), want);
    });
}

#[test]
fn a_run_follows_work_of_other_streams_and_is_followed() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let (before, runs, after) = (context.stream().unwrap(), context.stream().unwrap(), context.stream().unwrap());
        let (mut x, mut y) = (context.upload_tensor(&[1.0_f32; 4], [4]).unwrap(), context.zeros::<f32>([4]).unwrap());
        let mut z = context.zeros::<f32>([4]).unwrap();
        mock::hold(&before).unwrap();
        op::adds_inplace(&before, &mut x, 2.0).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&runs).unwrap();
        // The same model again, on another stream, from what the first run gives.
        model.run().input("x", &y).unwrap().output("y", &mut z).unwrap().submit(&after).unwrap();
        assert!(!runs.is_complete().unwrap() && !after.is_complete().unwrap());
        mock::release(&before).unwrap();
        assert_eq!((y.to_vec().unwrap(), z.to_vec().unwrap()), (vec![6.0; 4], vec![12.0; 4]));
        // A blocking run waits for the memory first.
        mock::hold(&before).unwrap();
        let done = std::thread::scope(|scope| {
            op::adds_inplace(&before, &mut x, 1.0).unwrap();
            let run = model.run().input("x", &x).unwrap().output("y", &mut z).unwrap();
            let waits = scope.spawn(move || run.wait());
            mock::release(&before).unwrap();
            waits.join().unwrap()
        });
        done.unwrap();
        assert_eq!(z.to_vec().unwrap(), [8.0; 4]);
    });
}

#[test]
fn a_run_may_update_what_it_is_given_where_that_is_said() {
    alone(|context| {
        let model = context.load_model_bytes(twice()).unwrap();
        let shared = context.upload(&A).unwrap().into_shared();
        let mut same = shared.clone();
        let run = model.run().input("x", &shared).unwrap().input_shape("x", &[8]).unwrap();
        let refused = run.output("y", &mut same).unwrap().wait().unwrap_err();
        assert_says(&refused, ErrorKind::InvalidArgument, &["output \"y\" of the model overlaps input \"x\""]);
        let run = model.run().input("x", &shared).unwrap().input_shape("x", &[8]).unwrap();
        run.output("y", &mut same).unwrap().aliased().wait().unwrap();
        assert_eq!(shared.as_vec(), A.map(|value| 2.0 * value));
    });
}

trait AsVec {
    fn as_vec(&self) -> Vec<f32>;
}

impl AsVec for racl::SharedBuffer<f32> {
    fn as_vec(&self) -> Vec<f32> {
        racl::DeviceRead::as_slice(self).to_vec().unwrap()
    }
}
