//! Operators that take indices in a tensor, on every way to the device: by name on a stream, captured, in a plan, and
//! simulated. An index that no element has is a fault, which names the operator in a simulation; nothing around the
//! operands changes, and the next run is as if it had not been.

use racl::op::{self, Argument, DataType, Operand, Scalar, Submit};
use racl::plan::{Frozen, Input, Mode, Plan, RunOptions, Simulated};
use racl::{CaptureMode, Context, Device, ErrorKind, Result, Stream, Tensor};

use crate::common::{assert_says, device, mock};

/// Beyond any dimension here, and any number of elements, from both ends.
const FAR: [i64; 5] = [8, 1 << 40, -9, i64::MAX, i64::MIN];
/// What lies before and behind the operands.
const AROUND: f32 = -5.0;
const MARGIN: usize = 16;

/// Data, indices, and values to write, or room for a second result.
type Operands<'a> = (&'a dyn Operand, &'a dyn Operand, &'a dyn Operand);

pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Shape of the data. Every one of them has six elements.
    data: &'static [usize],
    index: &'static [usize],
    /// Shape of the values, where the operator takes some, or of its second result.
    values: &'static [usize],
    /// Shape of the result; nothing where the data are changed.
    out: Option<&'static [usize]>,
    call: fn(&dyn Submit, &str, Operands<'_>, &dyn Operand) -> Result<()>,
}

const fn case(
    name: &'static str,
    (data, index, values): (&'static [usize], &'static [usize], &'static [usize]),
    out: Option<&'static [usize]>,
    call: fn(&dyn Submit, &str, Operands<'_>, &dyn Operand) -> Result<()>,
) -> Case {
    Case { name, data, index, values, out, call }
}

use Argument::{Bool, Int, Tensor as T, Tensors};

const fn one() -> Argument<'static> {
    Argument::Int(1)
}

const MATRIX: &[usize] = &[3, 2];
const CELL: &[usize] = &[1, 1];
const ROW: &[usize] = &[1, 2];
const ONE: &[usize] = &[1];

pub(crate) fn cases() -> Vec<Case> {
    let same = Some(MATRIX);
    vec![
        case("aclnnGather", (MATRIX, CELL, &[]), Some(CELL), |s, n, (x, i, _), y| {
            op::call(s, n, &[T(x), Int(0), T(i), T(y)])
        }),
        case("aclnnGatherNd", (MATRIX, CELL, &[]), Some(ROW), |s, n, (x, i, _), y| {
            op::call(s, n, &[T(x), T(i), Bool(true), T(y)])
        }),
        case("aclnnGatherV2", (MATRIX, ONE, &[]), Some(ROW), |s, n, (x, i, _), y| {
            op::call(s, n, &[T(x), Int(0), T(i), T(y)])
        }),
        case("aclnnIndex", (MATRIX, ONE, &[]), Some(ROW), |s, n, (x, i, _), y| {
            op::call(s, n, &[T(x), Tensors(&[i]), T(y)])
        }),
        case("aclnnIndexSelect", (MATRIX, ONE, &[]), Some(ROW), |s, n, (x, i, _), y| {
            op::call(s, n, &[T(x), Int(0), T(i), T(y)])
        }),
        case("aclnnTake", (MATRIX, ONE, &[]), Some(ONE), |s, n, (x, i, _), y| op::call(s, n, &[T(x), T(i), T(y)])),
        case("aclnnEmbedding", (MATRIX, ONE, &[]), Some(ROW), |s, n, (x, i, _), y| {
            op::call(s, n, &[T(x), T(i), T(y)])
        }),
        case("aclnnEmbeddingDenseBackward", (&[1, 6], ONE, &[]), Some(&[3, 6]), |s, n, (x, i, _), y| {
            op::call(s, n, &[T(x), T(i), Int(3), Int(2), Bool(false), T(y)])
        }),
        case("aclnnIndexAdd", (MATRIX, ONE, ROW), same, |s, n, (x, i, v), y| {
            op::call(s, n, &[T(x), Int(0), T(i), T(v), one(), T(y)])
        }),
        case("aclnnInplaceIndexCopy", (MATRIX, ONE, ROW), None, |s, n, (x, i, v), _| {
            op::call(s, n, &[T(x), Int(0), T(i), T(v)])
        }),
        case("aclnnIndexPutImpl", (MATRIX, ONE, ROW), None, |s, n, (x, i, v), _| {
            op::call(s, n, &[T(x), Tensors(&[i]), T(v), Bool(true), Bool(false)])
        }),
        case("aclnnInplacePut", (MATRIX, ONE, ONE), None, |s, n, (x, i, v), _| {
            op::call(s, n, &[T(x), T(i), T(v), Bool(false)])
        }),
        case("aclnnScatter", (MATRIX, CELL, CELL), same, |s, n, (x, i, v), y| {
            op::call(s, n, &[T(x), Int(0), T(i), T(v), Int(0), T(y)])
        }),
        case("aclnnScatterAdd", (MATRIX, CELL, CELL), same, |s, n, (x, i, v), y| {
            op::call(s, n, &[T(x), Int(0), T(i), T(v), T(y)])
        }),
        case("aclnnScatterValue", (MATRIX, CELL, &[]), same, |s, n, (x, i, _), y| {
            op::call(s, n, &[T(x), Int(0), T(i), Argument::Scalar(Scalar::from(7.0_f32)), Int(0), T(y)])
        }),
        case("aclnnInplaceScatter", (MATRIX, CELL, CELL), None, |s, n, (x, i, v), _| {
            op::call(s, n, &[T(x), Int(0), T(i), T(v), Int(1)])
        }),
        case("aclnnInplaceScatterValue", (MATRIX, CELL, &[]), None, |s, n, (x, i, _), _| {
            op::call(s, n, &[T(x), Int(0), T(i), Argument::Scalar(Scalar::from(7.0_f32)), Int(2)])
        }),
        case("aclnnInplaceScatterUpdate", (&[1, 3, 2], ONE, &[1, 1, 2]), None, |s, n, (x, i, v), _| {
            op::call(s, n, &[T(x), T(i), T(v), Int(1)])
        }),
        case("aclnnScatterNd", (MATRIX, CELL, ROW), same, |s, n, (x, i, v), y| {
            op::call(s, n, &[T(x), T(i), T(v), T(y)])
        }),
        case("aclnnScatterNdUpdate", (MATRIX, CELL, ROW), None, |s, n, (x, i, v), _| {
            op::call(s, n, &[T(x), T(i), T(v)])
        }),
        case("aclnnCrossEntropyLoss", (&[1, 6], ONE, &[1, 6]), Some(ONE), |s, n, (x, i, v), y| {
            let (zero, none) = (|| Argument::Float(0.0), || Argument::None);
            let told = [Argument::Text("mean"), Int(-100), zero(), zero(), Bool(false)];
            let [mean, ignored, smooth, scale, zloss] = told;
            let all = [T(x), T(i), none(), mean, ignored, smooth, scale, zloss, T(y), T(v), none(), none()];
            op::call(s, n, &all)
        }),
    ]
}

/// An operand in the middle of a larger buffer.
struct Window {
    all: Tensor<f32>,
    part: Tensor<f32>,
}

impl Window {
    fn new(device: &Context, numbers: &[f32], shape: &[usize]) -> Result<Self> {
        let around = [AROUND; MARGIN];
        let all = [&around[..], numbers, &around].concat();
        let all = device.upload_tensor(&all, [all.len()])?;
        let part = all.narrow(0, MARGIN..MARGIN + numbers.len())?.reshaped(shape)?;
        Ok(Self { all, part })
    }

    #[track_caller]
    fn check_around(&self, what: &str) {
        let all = self.all.to_vec().unwrap();
        let (before, after) = (&all[..MARGIN], &all[all.len() - MARGIN..]);
        assert!(before.iter().chain(after).all(|number| *number == AROUND), "{what}: {all:?}");
    }
}

const DATA: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

fn count(shape: &[usize]) -> usize {
    shape.iter().product()
}

impl Case {
    fn values(&self) -> Vec<f32> {
        vec![0.5; count(self.values)]
    }

    /// What `run` leaves in the result, of an index on a stream; the error of the wait.
    pub(crate) fn on_stream(
        &self,
        device: &Context,
        index: i64,
        run: impl FnOnce(&Stream, &dyn Fn(&Stream) -> Result<()>) -> Result<()>,
    ) -> Result<Vec<f32>> {
        let stream = device.stream()?;
        let data = Window::new(device, &DATA, self.data)?;
        let values = Window::new(device, &self.values(), self.values)?;
        let out = self.out.unwrap_or(ONE);
        let out = Window::new(device, &vec![0.0; count(out)], out)?;
        let index = device.upload_tensor(&vec![index; count(self.index)], self.index)?;
        let done = run(&stream, &|s| (self.call)(s, self.name, (&data.part, &index, &values.part), &out.part));
        let done = done.and_then(|()| stream.synchronize());
        [&data, &values, &out].iter().for_each(|window| window.check_around(self.name));
        done?;
        if self.out.is_some() { out.part.to_vec() } else { data.part.to_vec() }
    }

    fn plan(&self) -> Plan {
        Plan::build(|g| {
            let given = g.input("x", self.data, DataType::F32, Input::Copied)?;
            let index = g.input("index", self.index, DataType::I64, Input::Copied)?;
            let values = match self.values {
                [] => None,
                shape => Some(g.input("values", shape, DataType::F32, Input::Copied)?),
            };
            let data = g.muls(given, 1.0)?;
            let out = self.out.map(|shape| g.empty(shape, DataType::F32)).transpose()?;
            let (unused, result) = (values.unwrap_or(given), out.unwrap_or(data));
            (self.call)(g, self.name, (&data, &index, &unused), &result)?;
            g.output("y", result)
        })
        .unwrap_or_else(|error| panic!("{}: {error:#}", self.name))
    }

    fn simulated(&self, plan: &Plan, index: i64) -> Result<Vec<f32>> {
        let given = Simulated::new().tensor("x", &DATA, self.data);
        let given = given.tensor("index", &vec![index; count(self.index)], self.index);
        let given = if self.values.is_empty() { given } else { given.tensor("values", &self.values(), self.values) };
        plan.simulate(3, &given)?.to_vec("y")
    }
}

/// The result for an index that is there: by name, and the same on every other way.
fn expected(case: &Case, device: &Device) -> Vec<f32> {
    let got = case.on_stream(device.context(), 1, |stream, call| call(stream));
    got.unwrap_or_else(|error| panic!("{}: {error:#}", case.name))
}

#[test]
fn by_name_on_a_stream_and_captured() {
    let _alone = mock::exclusive();
    let device = device();
    for case in cases() {
        let expected = expected(&case, &device);
        assert_ne!(expected, vec![0.0; expected.len()], "{}", case.name);
        let replayed = |index| {
            case.on_stream(device.context(), index, |stream, call| {
                let mut graph = stream.capture(CaptureMode::ThreadLocal, |s| call(s))?;
                graph.launch(stream)?;
                graph.wait()
            })
        };
        assert_eq!(replayed(1).unwrap(), expected, "{}", case.name);
        for far in FAR {
            for error in [case.on_stream(device.context(), far, |stream, call| call(stream)), replayed(far)] {
                let error = error.expect_err(case.name);
                assert_eq!(error.kind(), ErrorKind::DeviceFault, "{} {far}: {error}", case.name);
            }
        }
    }
}

#[test]
fn in_plans_that_are_captured_or_run_eagerly() {
    let _alone = mock::exclusive();
    let device = device();
    for (case, mode) in cases().iter().flat_map(|case| [(case, Mode::Captured), (case, Mode::Eager)]) {
        let (plan, stream) = (case.plan(), device.stream().unwrap());
        let mut exe = plan.executable(&device, &RunOptions::new().mode(mode), Frozen::new()).unwrap();
        let (x, index, y) = (exe.input("x").unwrap(), exe.input("index").unwrap(), exe.output_id("y").unwrap());
        let data = device.upload_tensor(&DATA, case.data).unwrap();
        let values = device.upload_tensor(&case.values(), case.values).unwrap();
        let given = exe.input("values").ok();
        let mut run = |number: i64| {
            let indices = device.upload_tensor(&vec![number; count(case.index)], case.index)?;
            let mut bind = exe.bindings();
            bind.set(x, &data).set(index, &indices);
            if let Some(given) = given {
                bind.set(given, &values);
            }
            exe.run(&stream, &mut bind)?;
            exe.output::<f32>(y)?.to_vec()
        };
        let expected = expected(case, &device);
        for far in FAR {
            let error = run(far).expect_err(case.name);
            assert_eq!(error.kind(), ErrorKind::DeviceFault, "{} {mode:?} {far}: {error}", case.name);
            // The run after it.
            assert_eq!(run(1).unwrap(), expected, "{} {mode:?}", case.name);
        }
    }
}

#[test]
fn in_simulations() {
    let _alone = mock::exclusive();
    let device = device();
    for case in cases() {
        let plan = case.plan();
        let expected = expected(&case, &device);
        for far in FAR {
            let error = case.simulated(&plan, far).expect_err(case.name);
            assert_says(&error, ErrorKind::DeviceFault, &[case.name, "(#"]);
            assert_eq!(case.simulated(&plan, 1).unwrap(), expected, "{}", case.name);
        }
    }
}
