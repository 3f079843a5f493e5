//! Memory of one library for an offline model of the other.

use racl::mock::ModelFile;
use racl::{ModelOptions, SharedBuffer};

use super::both_ways;

/// `y = x * v` of four numbers, with `v` inside the file or beside it.
fn product(outside: bool) -> Vec<u8> {
    let file = ModelFile::new().input::<f32>("x", &[4]);
    let file = match outside {
        true => file.external::<f32>("v", &[4], "v.bin", 0),
        false => file.weight("v", &[4], &[1.0_f32, 2.0, 3.0, 4.0]),
    };
    file.output::<f32>("y", &[4]).operator("product", "Mul", &["x", "v"], "y").bytes().unwrap()
}

#[test]
fn inputs_and_outputs() {
    both_ways(|two, own, other| {
        let model = own.context().load_model_bytes(product(false)).unwrap();
        let (x, mut y) = (own.upload(&[1.0_f32; 4]).unwrap(), own.alloc_zeroed::<f32>(4).unwrap());
        let (far, mut out) = (other.upload(&[1.0_f32; 4]).unwrap(), other.alloc_zeroed::<f32>(4).unwrap());
        let (bytes, mut room) = (other.upload(&[0_u8; 16]).unwrap(), other.alloc_zeroed::<u8>(16).unwrap());
        let (tensor, mut result) = (other.zeros::<f32>([4]).unwrap(), other.zeros::<f32>([4]).unwrap());
        two.refuses_some("memory", model.run().input("x", &far));
        two.refuses_some("memory", model.run().input(0, &tensor));
        two.refuses_some("memory", model.run().input_bytes("x", &bytes));
        two.refuses_some("memory", model.run().output("y", &mut out));
        two.refuses_some("memory", model.run().output("y", &mut result));
        two.refuses_some("memory", model.run().output_bytes(0, &mut room));
        let run = model.run().input("x", &x).unwrap().output("y", &mut y).unwrap();
        two.refuses_some("a model", run.submit(&other.stream().unwrap()));
        let stream = own.stream().unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!((out.to_vec().unwrap(), room.to_vec().unwrap()), (vec![0.0; 4], vec![0; 16]));
    });
}

#[test]
fn memory_to_load_into() {
    both_ways(|two, own, other| {
        let (inside, outside) = (product(false), product(true));
        let size = own.context().model_size_of_bytes(&inside).unwrap();
        let shared = |device: &racl::Device, bytes: usize| -> SharedBuffer<u8> {
            device.alloc_zeroed::<u8>(bytes.max(64)).unwrap().into_shared()
        };
        let work = || ModelOptions::new().work_memory(shared(other, size.work));
        let weights = || ModelOptions::new().weight_memory(other.alloc_zeroed(size.weights.max(64)).unwrap());
        let beside = || ModelOptions::new().external_weights("v.bin", shared(other, 64));
        let cases = [("work memory", work(), &inside), ("memory for weights", weights(), &inside)];
        for (what, options, file) in cases.into_iter().chain([("v.bin", beside(), &outside)]) {
            let refused = options.load_bytes(own, file.clone()).unwrap_err();
            let (options, error) = refused.into_parts();
            two.refuses_some(what, Err::<(), racl::Error>(error));
            // What is given back still has the memory, for a model of the other library.
            options.load_bytes(other, file.clone()).unwrap().unload().unwrap();
        }
    });
}
