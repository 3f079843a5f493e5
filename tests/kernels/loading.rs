//! Binaries: loaded, looked into, refused.

use std::fs;
use std::process::Command;

use racl::{BinaryCore, BinaryOptions, CpuKernels, ErrorKind, KernelCores, KernelKind, Schedule};

use crate::common::{assert_says, compiled_kernels, mock};
use crate::{alone, load, sample};

#[test]
fn a_file_and_its_bytes_give_the_same_kernels() {
    alone(|context| {
        let bytes = fs::read(sample()).unwrap();
        let options = BinaryOptions::new().lazy().core(BinaryCore::Vector);
        // SAFETY: kernels of this repository, or no kernels at all.
        let from_bytes = unsafe { context.load_kernels_from(&bytes, options) }.unwrap();
        drop(bytes);
        for binary in [load(context), from_bytes] {
            let add = binary.kernel("add").unwrap();
            assert_eq!((add.name(), add.kind().unwrap()), ("add", KernelKind::Vector));
            assert_eq!(binary.kernel_by_entry(11).unwrap().name(), "add");
            let sizes: Vec<_> = add.parameters().unwrap().iter().map(|one| (one.offset(), one.size())).collect();
            assert_eq!(sizes, [(0, 8), (8, 8), (16, 8), (24, 8)]);
            assert!(binary.kernel("scale").unwrap().parameters().is_none(), "its table says nothing of them");
            assert_eq!(binary.kernel("count").unwrap().parameters(), Some(&[][..]));
            let (address, bytes) = binary.device_code().unwrap();
            assert!(!address.is_null() && bytes > 0);
            drop(add);
            binary.close().unwrap();
        }
    });
}

#[test]
fn kernels_say_what_they_run_on() {
    alone(|context| {
        let binary = load(context);
        for (name, kind, cube, vector) in [
            ("fail", KernelKind::Vector, 0, 1),
            ("fail_cube", KernelKind::Cube, 1, 0),
            ("fail_any", KernelKind::AiCore, 1, 0),
            ("fail_mix", KernelKind::Mix, 1, 2),
            ("fail_mix_0_1", KernelKind::Mix, 0, 1),
        ] {
            let kernel = binary.kernel(name).unwrap();
            assert_eq!(kernel.kind().unwrap(), kind, "{name}");
            assert_eq!(kernel.cores_per_block().unwrap(), KernelCores { cube, vector }, "{name}");
            let ((code_cube, code_vector), (at_cube, at_vector)) =
                (kernel.code_bytes().unwrap(), kernel.code_addresses().unwrap());
            // The mock has no cores for kernels of threads.
            assert_eq!(kernel.dynamic_memory_per_block().unwrap(), 0);
            assert_eq!((code_cube > 0, code_vector > 0), (cube > 0, vector > 0), "{name}");
            assert_eq!((!at_cube.is_null(), !at_vector.is_null()), (cube > 0, vector > 0), "{name}");
        }
        assert_eq!(binary.kernel("report").unwrap().schedule().unwrap(), Schedule::Normal);
        assert_eq!(binary.kernel("report_1_1").unwrap().schedule().unwrap(), Schedule::Batch);
        let cpu = binary.kernel("cpu_poke").unwrap();
        assert_eq!(cpu.kind().unwrap(), KernelKind::AiCpu);
        assert_eq!(cpu.cores_per_block().unwrap_err().kind(), ErrorKind::InvalidArgument);
    });
}

#[test]
fn what_is_no_kernel_file_is_refused_with_what_it_is() {
    alone(|context| {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let refused = |name: &str, kind, parts: &[&str]| {
            // SAFETY: kernels of this repository, or no kernels at all.
            let error = unsafe { context.load_kernels(at(name)) }.unwrap_err();
            assert_says(&error, kind, parts);
            assert!(format!("{error:#}").contains(name), "{error:#}");
        };
        refused("missing.o", ErrorKind::File, &["No such file"]);
        refused(".", ErrorKind::File, &["it is a folder"]);
        fs::write(at("empty.o"), "").unwrap();
        refused("empty.o", ErrorKind::File, &["it is empty"]);
        let pipe = Command::new("mkfifo").arg(at("pipe.o")).status();
        assert!(pipe.is_ok_and(|status| status.success()));
        refused("pipe.o", ErrorKind::File, &["no file with content"]);
        fs::write(at("text.o"), "no code at all\n").unwrap();
        refused("text.o", ErrorKind::InvalidArgument, &["aclrtBinaryLoadFromFile", "107000"]);
        let whole = fs::read(sample()).unwrap();
        fs::write(at("cut.o"), &whole[..whole.len() / 2]).unwrap();
        refused("cut.o", ErrorKind::InvalidArgument, &["107000"]);
        // Code of another machine: the number of it is at byte 18.
        let mut other = whole.clone();
        other[18..20].copy_from_slice(&[0x29, 0x10]);
        fs::write(at("other.o"), &other).unwrap();
        refused("other.o", ErrorKind::InvalidArgument, &["107000"]);
        // SAFETY: kernels of this repository, or no kernels at all.
        let error = unsafe { context.load_kernels("a\0b") }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["a zero byte"]);
        // SAFETY: kernels of this repository, or no kernels at all.
        let error = unsafe { context.load_kernels_from(&[], BinaryOptions::new()) }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["no bytes"]);
        // SAFETY: kernels of this repository, or no kernels at all.
        let error = unsafe { context.load_kernels_from(&other, BinaryOptions::new()) }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["aclrtBinaryLoadFromData"]);
        assert_eq!(mock::live_handles().binaries, 0);
    });
}

#[test]
fn options_that_do_not_fit_are_refused_before_the_call() {
    alone(|context| {
        let new = BinaryOptions::new;
        for options in [new().core(BinaryCore::Ai), new().cpu(CpuKernels::InData)] {
            // SAFETY: kernels of this repository, or no kernels at all.
            let error = unsafe { context.load_kernels_with(sample(), options) }.unwrap_err();
            assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidArgument, None), "{error}");
        }
        for options in [new().cpu(CpuKernels::Beside), new().cpu(CpuKernels::Installed)] {
            // SAFETY: kernels of this repository, or no kernels at all.
            let error = unsafe { context.load_kernels_from(&[1], options) }.unwrap_err();
            assert_eq!((error.kind(), error.code()), (ErrorKind::InvalidArgument, None), "{error}");
        }
        // The mock's device has no such kernels of its own.
        // SAFETY: kernels of this repository, or no kernels at all.
        let installed = unsafe { context.load_kernels_with(sample(), new().cpu(CpuKernels::Installed)) }.unwrap_err();
        assert_eq!(installed.kind(), ErrorKind::NotSupported);
    });
}

#[test]
fn names_and_entries_that_are_not_there_are_refused() {
    alone(|context| {
        let binary = load(context);
        let error = binary.kernel("nothing").unwrap_err();
        assert_says(
            &error,
            ErrorKind::InvalidArgument,
            &["aclrtBinaryGetFunction", "looking for the kernel \"nothing\""],
        );
        assert_says(&binary.kernel_by_entry(9999).unwrap_err(), ErrorKind::InvalidArgument, &["entry 9999"]);
        assert_says(&binary.kernel("a\0b").unwrap_err(), ErrorKind::InvalidArgument, &["a zero byte"]);
        assert_says(&binary.cpu_kernel("cpu_poke", "mine").unwrap_err(), ErrorKind::InvalidArgument, &["cpu_poke"]);
        assert_says(&binary.global::<u8>("nothing").unwrap_err(), ErrorKind::InvalidArgument, &["nothing"]);
        let error = binary.global::<[u8; 3]>("counter").unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["4 bytes", "elements of 3 bytes"]);
        assert_says(&binary.global::<()>("counter").unwrap_err(), ErrorKind::InvalidArgument, &["0 bytes"]);
    });
}

#[test]
fn kernels_of_the_ai_cpu_come_by_the_name_of_their_function() {
    alone(|context| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.json"), "{}").unwrap();
        fs::copy(sample(), folder.path().join("mine.so")).unwrap();
        let options = BinaryOptions::new().cpu(CpuKernels::Beside);
        // SAFETY: kernels of this repository, or no kernels at all.
        let beside = unsafe { context.load_kernels_with(folder.path().join("mine.json"), options) }.unwrap();
        let in_data = BinaryOptions::new().cpu(CpuKernels::InData);
        // SAFETY: kernels of this repository, or no kernels at all.
        let in_data = unsafe { context.load_kernels_from(&fs::read(sample()).unwrap(), in_data) }.unwrap();
        let stream = context.stream().unwrap();
        for binary in [beside, in_data] {
            let poke = binary.cpu_kernel("cpu_poke", "mine").unwrap();
            assert_eq!((poke.name(), poke.parameters()), ("mine", None));
            let mut byte = context.upload(&[1_u8]).unwrap();
            // SAFETY: the one parameter of the kernel, which writes one byte.
            unsafe { poke.launch(&stream).arg(&mut byte).submit() }.unwrap();
            assert_eq!(byte.to_vec().unwrap(), [7]);
            assert_says(&binary.cpu_kernel("add", "mine too").unwrap_err(), ErrorKind::InvalidArgument, &["add"]);
        }
    });
}

#[test]
fn variables_of_a_binary_are_memory_as_any() {
    alone(|context| {
        let (first, second) = (load(context), load(context));
        let stream = context.stream().unwrap();
        let mut counter = first.global::<i32>("counter").unwrap();
        assert_eq!(counter.to_vec().unwrap(), [40]);
        let count = first.kernel("count").unwrap();
        for _ in 0..2 {
            // SAFETY: a kernel without parameters that writes its own variable.
            unsafe { count.launch(&stream).also_writes(&mut counter).submit() }.unwrap();
        }
        assert_eq!(first.global::<u32>("counter").unwrap().to_vec().unwrap(), [42], "another type, the same memory");
        counter.write(&[-1]).unwrap();
        // SAFETY: as above.
        unsafe { count.launch(&stream).also_writes(&mut counter).submit() }.unwrap();
        assert_eq!(counter.to_vec().unwrap(), [0]);
        assert_eq!(second.global::<i32>("counter").unwrap().to_vec().unwrap(), [40], "each load has its own");
        assert_eq!(first.global::<u64>("table").unwrap().len(), 125);
        assert_eq!(first.global::<f32>("table").unwrap().to_vec().unwrap(), [0.0; 250]);
    });
}

#[test]
fn a_file_of_another_interface_is_refused() {
    alone(|context| {
        // SAFETY: kernels of this repository, or no kernels at all.
        let error = unsafe { context.load_kernels(compiled_kernels("other")) }.unwrap_err();
        assert_says(&error, ErrorKind::InvalidArgument, &["107000"]);
    });
}
