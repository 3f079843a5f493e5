//! Kernels as operators of plans.

use racl::op::DataType::F32;
use racl::plan::{Foreign, Frozen, Input, Plan, Simulated};
use racl::{Context, Kernel};

use crate::{alone, kernel};

/// `aclnn`-like addition by a kernel of one's own.
fn sum(kernel: Kernel) -> Foreign {
    Foreign::new("test.sum", 1, move |launch| {
        let count = (launch.bytes(2) / 4) as u64;
        let [a, b, out] = [0, 1, 2].map(|index| launch.address(index));
        let kernel = kernel.launch(launch.stream()).blocks(4).address(a).address(b).address(out).arg(count);
        // SAFETY: the parameters of `add`; the plan keeps and orders the memory of its values.
        unsafe { kernel.submit() }
    })
    .simulated(|reads, writes| {
        let floats = |bytes: &[u8]| -> Vec<f32> {
            bytes.chunks_exact(4).map(|one| f32::from_ne_bytes([one[0], one[1], one[2], one[3]])).collect()
        };
        let sums: Vec<f32> = floats(&reads[0]).iter().zip(floats(&reads[1])).map(|(a, b)| a + b).collect();
        writes[0].copy_from_slice(racl::bytemuck::cast_slice(&sums));
    })
}

fn plan(context: &Context, class: Input) -> Plan {
    let sum = sum(kernel(context, "add"));
    Plan::build(|g| {
        let x = g.input("x", [4], F32, class)?;
        let doubled = g.muls(x, 2.0)?;
        let y = g.empty([4], F32)?;
        g.foreign(&sum, &[doubled, x], &[y])?;
        g.output("y", g.muls(y, 10.0)?)
    })
    .unwrap()
}

#[test]
fn a_plan_runs_the_kernel_captured_and_simulated() {
    alone(|context| {
        let stream = context.stream().unwrap();
        for class in [Input::Copied, Input::Updatable] {
            let plan = plan(context, class);
            let simulated = plan.simulate(0, &Simulated::new().tensor("x", &[1.0_f32; 4], [4])).unwrap();
            assert_eq!(simulated.to_vec::<f32>("y").unwrap(), [30.0; 4]);
            let mut exe = plan.capture(context, Frozen::new()).unwrap();
            let (x, y, mut bindings) = (exe.input("x").unwrap(), exe.output_id("y").unwrap(), exe.bindings());
            for factor in [1.0, 2.0] {
                let given = context.upload_tensor(&[factor; 4], [4]).unwrap();
                exe.run(&stream, bindings.set(x, &given)).unwrap();
                assert_eq!(exe.output::<f32>(y).unwrap().to_vec().unwrap(), [30.0 * factor; 4], "{class:?}");
            }
        }
    });
}
