//! The same for what is loaded, or comes from elsewhere: kernels, models, communicators, memory that grows, that hosts
//! and devices share, and that another part of the program exports.

use crate::common::{compiled_kernels, mock};
use crate::orders::in_every_order;
use mock::ModelFile;
use racl::collective::{Communicator, Reduction, RootInfo};
use racl::{CaptureMode, Context, DeviceBuffer, GrowableBuffer, MemoryExport};

#[test]
fn binaries_their_kernels_and_variables_and_a_graph_that_has_them() {
    let calls = ["aclrtBinaryUnLoad", "aclrtBinaryGetFunction", "aclmdlRIDestroy"];
    let sample = compiled_kernels("sample");
    in_every_order(&calls, |context| {
        // SAFETY: kernels of this repository.
        let binary = unsafe { context.load_kernels(&sample) }.unwrap();
        let (kernel, other) = (binary.kernel("fail").unwrap(), binary.kernel("fail").unwrap());
        let (stream, recorder) = (context.stream().unwrap(), context.stream().unwrap());
        // SAFETY: the one parameter of the kernel; 0 is no failure.
        unsafe { kernel.launch(&stream).arg(0_i32).submit() }.unwrap();
        // SAFETY: as above.
        let record = |s: &racl::Stream| unsafe { other.launch(s).arg(0_i32).submit() };
        let mut graph = recorder.capture(CaptureMode::ThreadLocal, record).unwrap();
        graph.launch(&stream).unwrap();
        drop((other, recorder));
        vec![Box::new(binary), Box::new(kernel), Box::new(stream), Box::new(graph)]
    });
}

#[test]
fn variables_of_a_binary() {
    let sample = compiled_kernels("sample");
    in_every_order(&["aclrtBinaryUnLoad", "aclrtBinaryGetGlobal"], |context| {
        // SAFETY: kernels of this repository.
        let binary = unsafe { context.load_kernels(&sample) }.unwrap();
        let mut counter = binary.global::<i32>("counter").unwrap();
        let stream = context.stream().unwrap();
        stream.fill_bytes(&mut counter, 0).unwrap();
        vec![Box::new(binary), Box::new(counter), Box::new(stream)]
    });
}

#[test]
fn models_and_what_they_run_on() {
    let file = ModelFile::new().input::<f32>("x", &[2]).output::<f32>("y", &[2]);
    let bytes = file.operator("twice", "Muls", &["x"], "y").float("value", 2.0).bytes().unwrap();
    in_every_order(&["aclmdlUnload", "aclmdlExecuteAsync"], |context| {
        let model = context.load_model_bytes(bytes.clone()).unwrap();
        let stream = context.stream().unwrap();
        let x = context.upload_tensor(&[1.0_f32, 2.0], [2]).unwrap();
        let mut y = context.zeros::<f32>([2]).unwrap();
        model.run().input("x", &x).unwrap().output("y", &mut y).unwrap().submit(&stream).unwrap();
        vec![Box::new(model), Box::new(stream), Box::new(x), Box::new(y)]
    });
}

#[test]
fn communicators_and_what_they_reduce() {
    in_every_order(&["HcclCommDestroy", "HcclAllReduce"], |context| {
        let root = RootInfo::new(context).unwrap();
        let ranks = Communicator::new(context, &root, 0, 1).unwrap();
        let stream = context.stream().unwrap();
        let (from, mut to) = (context.upload(&[1.0_f32]).unwrap(), context.alloc::<f32>(1).unwrap());
        ranks.all_reduce(&stream, &from, &mut to, Reduction::Sum).unwrap();
        vec![Box::new(ranks), Box::new(stream), Box::new(from), Box::new(to)]
    });
}

#[test]
fn memory_that_grows_and_what_is_mapped_in_it() {
    let calls = ["aclrtReleaseMemAddress", "aclrtUnmapMem", "aclrtFreePhysical"];
    in_every_order(&calls, |context| {
        let stream = context.stream().unwrap();
        let mut buffer: GrowableBuffer<u8> = context.reserve(8 << 20).unwrap();
        buffer.grow(1).unwrap();
        let memory = context.physical_memory(2 << 20).unwrap();
        buffer.map(&memory).unwrap();
        stream.fill_bytes(&mut buffer, 1).unwrap();
        let shared = buffer.shared();
        vec![Box::new(stream), Box::new(buffer), Box::new(memory), Box::new(shared)]
    });
}

#[test]
fn memory_that_host_and_device_share() {
    in_every_order(&["aclrtMemAllocManaged", "aclrtFreeHost"], |context| {
        let stream = context.stream().unwrap();
        let (managed, mapped) = (context.managed::<u8>(64).unwrap(), context.mapped::<u8>(64).unwrap());
        let mut shared = managed.shared();
        stream.fill_bytes(&mut shared, 1).unwrap();
        vec![Box::new(stream), Box::new(managed), Box::new(shared), Box::new(mapped)]
    });
}

/// An import, whose export stays until the work that uses it is done.
struct Imported {
    import: Option<DeviceBuffer<u8>>,
    context: Context,
    _export: MemoryExport,
}

impl Drop for Imported {
    fn drop(&mut self) {
        self.import = None;
        self.context.synchronize().unwrap();
    }
}

#[test]
fn memory_that_is_exported_and_imported() {
    in_every_order(&["aclrtIpcMemImportByKey", "aclrtIpcMemClose"], |context| {
        let stream = context.stream().unwrap();
        let memory = context.alloc_direct::<u8>(64).unwrap().into_shared();
        let export = memory.export(&[]).unwrap();
        // SAFETY: the export stays while this is used.
        let mut import = unsafe { context.import_memory::<u8>(export.key()) }.unwrap();
        stream.fill_bytes(&mut import, 1).unwrap();
        let import = Imported { import: Some(import), context: context.clone(), _export: export };
        vec![Box::new(stream), Box::new(memory), Box::new(import)]
    });
}
