//! Libraries that say that something was made, and give nothing, or numbers that cannot be.

use racl::collective::{Communicator, RootInfo};
use racl::mock::{self, ModelFile};
use racl::{CaptureMode, Device, ErrorKind, LabelList, NotifyKey, Result};

use super::{assert_says, load};
use crate::build::libraries;

struct Wrong {
    /// C code of the function that is wrong.
    code: &'static str,
    asks: fn(&Device) -> Result<()>,
    kind: ErrorKind,
    says: &'static str,
}

const fn nothing(code: &'static str, asks: fn(&Device) -> Result<()>, says: &'static str) -> Wrong {
    Wrong { code, asks, kind: ErrorKind::Internal, says }
}

const fn number(code: &'static str, asks: fn(&Device) -> Result<()>, says: &'static str) -> Wrong {
    Wrong { code, asks, kind: ErrorKind::UnknownValue, says }
}

fn list(device: &Device) -> Result<()> {
    LabelList::new([&device.context().label()?]).map(drop)
}

fn import(device: &Device) -> Result<()> {
    device.context().import_notify(&"a key".parse::<NotifyKey>()?).map(drop)
}

fn condition(device: &Device) -> Result<()> {
    let capture = device.stream()?.begin_capture(CaptureMode::ThreadLocal)?;
    capture.stream().condition(Some(1)).map(drop)
}

fn kernels(device: &Device) -> Result<()> {
    // SAFETY: kernels of this repository.
    let binary = unsafe { device.context().load_kernels(crate::common::compiled_kernels("sample")) }?;
    binary.kernel("add").map(drop)
}

fn gears(device: &Device) -> Result<()> {
    let file = ModelFile::new().input::<f32>("x", &[-1, -1]).output::<f32>("y", &[-1, -1]);
    let file = file.open_sizes(&[&[1, 2], &[3, 4]]).operator("copy", "Add", &["x", "x"], "y");
    device.context().load_model_bytes(file.bytes()?).map(drop)
}

fn ranks(device: &Device) -> Result<()> {
    Communicator::new(device, &RootInfo::new(device)?, 0, 1).map(drop)
}

/// Twice what is given, of two numbers.
fn run(device: &Device) -> Result<()> {
    let file = ModelFile::new().input::<f32>("x", &[2]).output::<f32>("y", &[2]);
    let file = file.operator("twice", "Muls", &["x"], "y").float("value", 2.0);
    let model = device.context().load_model_bytes(file.bytes()?)?;
    let (x, mut y) = (device.upload_tensor(&[1.0_f32, 2.0], [2])?, device.zeros::<f32>([2])?);
    let stream = device.stream()?;
    model.run().input("x", &x)?.output("y", &mut y)?.submit(&stream)?;
    stream.synchronize()
}

const ALL: [Wrong; 15] = [
    nothing(
        "int aclrtCreateLabel(void **label) { *label = 0; return 0; }",
        |device| device.context().label().map(drop),
        "aclrtCreateLabel ",
    ),
    nothing(
        "int aclrtCreateLabelList(void **labels, unsigned long n, void **list) { *list = 0; return 0; }",
        list,
        "aclrtCreateLabelList",
    ),
    nothing(
        "int aclrtNotifyImportByKey(void **n, const char *key, unsigned long flags) { *n = 0; return 0; }",
        import,
        "aclrtNotifyImportByKey",
    ),
    nothing(
        "int aclmdlRIBuildBegin(void **graph, unsigned flags) { *graph = 0; return 0; }",
        |device| device.context().build_graph().map(drop),
        "aclmdlRIBuildBegin",
    ),
    nothing(
        "int aclmdlRICondHandleCreate(void *g, unsigned n, unsigned f, void **h) { *h = 0; return 0; }",
        condition,
        "aclmdlRICondHandleCreate",
    ),
    nothing(
        "int aclmdlRICondHandleGetCondPtr(void *handle, void **cell) { *cell = 0; return 0; }",
        condition,
        "aclmdlRICondHandleGetCondPtr",
    ),
    nothing(
        "int aclrtBinaryLoadFromFile(const char *p, void *o, void **binary) { *binary = 0; return 0; }",
        kernels,
        "a load of a kernel binary",
    ),
    nothing(
        "int aclrtBinaryGetFunction(void *b, const char *n, void **function) { *function = 0; return 0; }",
        kernels,
        "a search for a kernel",
    ),
    number(
        "int aclmdlGetInputDynamicGearCount(void *d, unsigned long i, unsigned long *n) { *n = 1ul << 60; return 0; }",
        gears,
        "1152921504606846976 choices",
    ),
    Wrong {
        code: "unsigned long aclmdlGetOutputSizeByIndex(void *d, unsigned long i) { return 1ul << 40; }",
        asks: run,
        kind: ErrorKind::InvalidArgument,
        says: "\"y\" of the model: 8 bytes, where 1099511627776 are needed",
    },
    Wrong {
        code: "unsigned long aclmdlGetInputSizeByIndex(void *d, unsigned long i) { return 12; }",
        asks: run,
        kind: ErrorKind::InvalidArgument,
        says: "\"x\" of the model: 8 bytes, where 12 are needed",
    },
    number(
        "const char *aclmdlGetOutputNameByIndex(void *d, unsigned long i) { return \"\"; }",
        run,
        "what output 0 of the model is called",
    ),
    number(
        "int aclmdlGetOutputDataType(void *d, unsigned long i) { return -1; }",
        run,
        "no type is known of \"y\" of the model",
    ),
    number("int HcclGetRankSize(void *c, unsigned *size) { *size = 0; return 0; }", ranks, "rank 0 of 0"),
    number("int HcclGetRankId(void *c, unsigned *rank) { *rank = 7; return 0; }", ranks, "rank 7 of 1"),
];

#[test]
fn what_a_library_says_it_gave_is_looked_at() {
    let _alone = mock::exclusive();
    for (index, wrong) in ALL.iter().enumerate() {
        let acl = load(&libraries().in_front(&format!("wrong{index}.so"), wrong.code)).unwrap();
        let device = acl.device(0).unwrap();
        assert_says(&(wrong.asks)(&device).unwrap_err(), wrong.kind, &[wrong.says]);
        assert!(device.context().take_drop_errors().is_empty(), "{}", wrong.says);
    }
}
