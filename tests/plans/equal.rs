//! One plan, run in every way there is: simulated, eagerly and captured.

use racl::Tensor;
use racl::op::{DataType, Element};
use racl::plan::{Executable, Frozen, Input, Mode, Plan, RunOptions, Simulated, Simulation};
use racl::{Device, Stream};

/// Interleavings that are simulated.
const SIMULATED: u64 = 3;

/// `typed!(dtype, T => expression)`: the expression with the type of the elements.
macro_rules! typed {
    ($dtype:expr, $element:ident => $body:expr) => {
        match $dtype {
            DataType::U8 => {
                type $element = u8;
                $body
            }
            DataType::I16 => {
                type $element = i16;
                $body
            }
            DataType::I64 => {
                type $element = i64;
                $body
            }
            DataType::F16 => {
                type $element = half::f16;
                $body
            }
            DataType::Bf16 => {
                type $element = half::bf16;
                $body
            }
            DataType::F32 => {
                type $element = f32;
                $body
            }
            other => panic!("no random plan has elements of type {other:?}"),
        }
    };
}

pub(crate) use typed;

/// An input and its content.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) name: String,
    pub(crate) class: Input,
    pub(crate) dtype: DataType,
    pub(crate) dims: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl Given {
    pub(crate) fn elements<T: bytemuck::Pod>(&self) -> Vec<T> {
        self.bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
    }
}

/// A plan and the inputs of the runs that follow one another. Frozen inputs are those of the first.
pub(crate) struct Case<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) turns: &'a [Vec<Given>],
    pub(crate) outputs: &'a [(String, DataType)],
}

/// What a run left in one memory: what memory it is, and its bytes, with one NaN for all.
type Left = (String, Vec<u8>);

/// Reads the memory of an input back.
type ReadBack = Box<dyn FnOnce() -> Vec<u8>>;

impl Case<'_> {
    /// Simulates every turn in several interleavings, runs them eagerly and captured, and compares.
    pub(crate) fn check(&self, device: &Device, seed: u64) {
        let expected: Vec<Vec<Left>> = self.turns.iter().map(|given| self.simulate(given, seed)).collect();
        let stream = device.stream().unwrap();
        for way in ["eagerly", "captured"] {
            let mode = if way == "eagerly" { Mode::Eager } else { Mode::Captured };
            let options = RunOptions::new().mode(mode).host_output_buffers(1 + (seed % 3) as usize);
            let mut exe = self.plan.executable(device, &options, self.frozen(device)).unwrap();
            for (turn, (given, expected)) in self.turns.iter().zip(&expected).enumerate() {
                let left = self.run(&mut exe, device, &stream, given);
                compare(expected, &left, &format!("{way}, run {turn}"));
            }
        }
    }

    fn simulate(&self, given: &[Given], seed: u64) -> Vec<Left> {
        let frozen = self.turns[0].iter().filter(|one| one.class == Input::Frozen);
        let others = given.iter().filter(|one| one.class != Input::Frozen);
        let inputs = frozen.chain(others).fold(
            Simulated::new(),
            |all, one| typed!(one.dtype, T => all.tensor(&one.name, &one.elements::<T>(), &one.dims[..])),
        );
        let run = |turn| self.left_simulated(&self.plan.simulate(seed ^ turn, &inputs).unwrap(), given);
        let first = run(0);
        (1..SIMULATED).for_each(|turn| compare(&first, &run(turn), &format!("simulated, interleaving {turn}")));
        first
    }

    fn left_simulated(&self, run: &Simulation, given: &[Given]) -> Vec<Left> {
        let mut left = Vec::new();
        for (name, dtype) in self.outputs {
            left.push((format!("output {name:?}"), one_nan(run.bytes(name).unwrap().to_vec(), *dtype)));
            if let Ok(bytes) = run.host_bytes(name) {
                left.push((format!("host memory of output {name:?}"), one_nan(bytes.to_vec(), *dtype)));
            }
        }
        for one in given.iter().filter(|one| stays_with_caller(one.class)) {
            let bytes = run.input_bytes(&one.name).unwrap().to_vec();
            left.push((format!("input {:?}", one.name), one_nan(bytes, one.dtype)));
        }
        left
    }

    fn frozen(&self, device: &Device) -> Frozen {
        let frozen = self.turns[0].iter().filter(|one| one.class == Input::Frozen);
        frozen.fold(Frozen::new(), |all, one| typed!(one.dtype, T => all.with(&one.name, &upload::<T>(device, one))))
    }

    fn run(&self, exe: &mut Executable, device: &Device, stream: &Stream, given: &[Given]) -> Vec<Left> {
        let mut bind = exe.bindings();
        let mut inputs: Vec<(Left, DataType, ReadBack)> = Vec::new();
        for one in given {
            let id = exe.input(&one.name).unwrap();
            let read_back: Option<ReadBack> = typed!(one.dtype, T => match one.class {
                Input::Frozen => None,
                Input::Host => {
                    bind.host(id, &one.elements::<T>(), &one.dims[..]);
                    None
                }
                Input::Static => {
                    let mut memory = exe.static_input::<T>(id).unwrap();
                    memory.write(&one.elements::<T>()).unwrap();
                    Some(Box::new(move || bytes_of(memory.to_vec())))
                }
                _ => {
                    let memory = upload::<T>(device, one);
                    bind.set(id, &memory);
                    Some(Box::new(move || bytes_of(memory.to_vec())))
                }
            });
            if let Some(read_back) = read_back.filter(|_| stays_with_caller(one.class)) {
                inputs.push(((format!("input {:?}", one.name), Vec::new()), one.dtype, read_back));
            }
        }
        exe.run(stream, &mut bind).unwrap();
        let mut left = Vec::new();
        for (name, dtype) in self.outputs {
            let id = exe.output_id(name).unwrap();
            typed!(*dtype, T => {
                let bytes = bytes_of(exe.output::<T>(id).unwrap().to_vec());
                left.push((format!("output {name:?}"), one_nan(bytes, *dtype)));
                if let Ok(data) = exe.host_output::<T>(id) {
                    left.push((format!("host memory of output {name:?}"), one_nan(bytes_of(Ok(data)), *dtype)));
                }
            });
        }
        stream.synchronize().unwrap();
        left.extend(inputs.into_iter().map(|((name, _), dtype, read_back)| (name, one_nan(read_back(), dtype))));
        left
    }
}

/// Whether a run works in memory that can be seen from outside. Of copied and host inputs it is the executable's.
fn stays_with_caller(class: Input) -> bool {
    matches!(class, Input::Static | Input::Tracked(_) | Input::Updatable)
}

fn upload<T: Element>(device: &Device, given: &Given) -> Tensor<T> {
    device.upload_tensor(&given.elements::<T>(), &given.dims[..]).unwrap()
}

fn bytes_of<T: Element>(data: racl::Result<Vec<T>>) -> Vec<u8> {
    bytemuck::cast_slice(&data.unwrap()).to_vec()
}

/// The bytes with every NaN as the same one: operators need not keep their signs and payloads.
fn one_nan(mut bytes: Vec<u8>, dtype: DataType) -> Vec<u8> {
    let is_nan: fn(&[u8]) -> bool = match dtype {
        DataType::F32 => |one| f32::from_le_bytes(one.try_into().unwrap()).is_nan(),
        DataType::F16 => |one| half::f16::from_le_bytes(one.try_into().unwrap()).is_nan(),
        DataType::Bf16 => |one| half::bf16::from_le_bytes(one.try_into().unwrap()).is_nan(),
        _ => return bytes,
    };
    bytes.chunks_exact_mut(dtype.size()).filter(|one| is_nan(one)).for_each(|one| one.fill(0xff));
    bytes
}

#[track_caller]
fn compare(expected: &[Left], left: &[Left], how: &str) {
    assert_eq!(expected.len(), left.len(), "{how}");
    for ((name, expected), (other, bytes)) in expected.iter().zip(left) {
        assert_eq!(name, other, "{how}");
        assert_eq!(expected, bytes, "{how}: {name}");
    }
}
