//! Operators whose one parameter beside single tensors is a list of them.

use racl::Result;
use racl::op::DataType::F32;
use racl::op::{Operand, aclnn};
use racl::plan::{Frozen, Input, Plan, Simulated};

use crate::{Alone, give, result};

/// Columns 1, 2 and 0: the first dimension is whole.
fn columns(out: [usize; 2]) -> Result<Plan> {
    Plan::build(|g| {
        let x = g.input("x", [2, 4], F32, Input::Copied)?;
        let whole = g.constant::<i64>(&[], [0])?;
        let some = g.constant(&[1_i64, 2, 0], [3])?;
        let mut out = g.empty(out, F32)?;
        aclnn::index(g, &x, &[&whole, &some], &mut out)?;
        g.output("y", out)
    })
}

#[test]
fn each_tensor_of_a_list_counts_where_the_operator_is_checked_and_run() {
    let plan = columns([2, 3]).unwrap();
    let (numbers, expected) = ([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [2.0, 3.0, 1.0, 6.0, 7.0, 5.0]);
    let given = Simulated::new().tensor("x", &numbers, [2, 4]);
    assert_eq!(plan.simulate(0, &given).unwrap().to_vec::<f32>("y").unwrap(), expected);
    let alone = Alone::new();
    let (stream, x) = (alone.stream(), alone.device.upload_tensor(&numbers, [2, 4]).unwrap());
    let mut exe = plan.capture(&alone.device, Frozen::new()).unwrap();
    exe.run(&stream, &mut give(&exe, "x", &x)).unwrap();
    assert_eq!(result(&exe, "y"), expected);
    let wrong = columns([3, 2]).unwrap_err();
    assert!(wrong.to_string().contains("aclnnIndex") && wrong.to_string().contains("lists.rs:"), "{wrong:#}");
}

#[test]
fn tensors_behind_a_list_are_found() {
    for count in [1, 2] {
        let plan = Plan::build(|g| {
            let mut grads = (0..count).map(|_| g.full([4], F32, 1.0)).collect::<Result<Vec<_>>>()?;
            let (mut found, scale) = (g.full([1], F32, 0.0)?, g.full([1], F32, 0.5)?);
            let mut list: Vec<&mut dyn Operand> = grads.iter_mut().map(|one| one as _).collect();
            aclnn::foreach_non_finite_check_and_unscale(g, &mut list, &mut found, &scale)?;
            g.output("y", grads[0])
        });
        assert_eq!(plan.map(|plan| plan.streams()).unwrap(), 1, "{count}");
    }
}
