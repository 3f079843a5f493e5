//! Windows over images and signals.

use crate::error::Result;
use crate::op::{CubeMath, Window, aclnn};
use crate::plan::builder::{Builder, Value};

use super::norms::optional;
use super::{operators, pairs};

operators! {
    conv1d(a: Value, kernel: Value, bias: Option<Value>, window: Window<1>, groups: i64) => |g, y| {
        let (stride, padding, dilation) = (&window.stride, &window.padding, &window.dilation);
        let math = CubeMath::KeepType.raw();
        aclnn::convolution(
            g, &a, &kernel, optional(&bias), stride, padding, dilation, false, &[0], groups, &mut y, math,
        )
    };
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::{DataType::F32, Window};
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let images = g.symbol("images", 1..=8)?;
    ///     let x = g.input("x", [images, 1.into(), 4.into(), 4.into()], F32, Input::Copied)?;
    ///     let kernel = g.constant(&[1.0_f32; 9], [1, 1, 3, 3])?;
    ///     let same = Window { padding: [1, 1], ..Window::default() };
    ///     let y = g.relu(g.conv2d(x, kernel, None, same, 1)?)?;
    ///     let halves = Window { stride: [2, 2], ..Window::default() };
    ///     let (y, _) = g.max_pool2d(y, [2, 2], halves)?; // [images, 1, 2, 2]
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// let x = device.upload_tensor(&[1.0_f32; 16], [1, 1, 4, 4])?;
    /// let mut bind = exe.bindings();
    /// exe.run(&device.stream()?, bind.set(exe.input("x")?, &x))?;
    /// assert_eq!(exe.output::<f32>(exe.output_id("y")?)?.to_vec()?, [9.0; 4]);
    /// # Ok::<(), racl::Error>(())
    /// ```
    conv2d(a: Value, kernel: Value, bias: Option<Value>, window: Window<2>, groups: i64) => |g, y| {
        let (stride, padding, dilation) = (&window.stride, &window.padding, &window.dilation);
        let math = CubeMath::KeepType.raw();
        aclnn::convolution(
            g, &a, &kernel, optional(&bias), stride, padding, dilation, false, &[0, 0], groups, &mut y, math,
        )
    };
    im2col(a: Value, kernel: [i64; 2], window: Window<2>) => |g, y| {
        aclnn::im2col(g, &a, &kernel, &window.dilation, &window.padding, &window.stride, &mut y)
    };
    avg_pool2d(a: Value, kernel: [i64; 2], window: Window<2>, count_padding: bool) => |g, y| {
        let math = CubeMath::KeepType.raw();
        aclnn::avg_pool2d(g, &a, &kernel, &window.stride, &window.padding, false, count_padding, 0, math, &mut y)
    };
    upsample_nearest2d(a: Value, size: [i64; 2]) => |g, y| aclnn::upsample_nearest2d(g, &a, &size, &mut y);
}

pairs! {
    max_pool2d(a: Value, kernel: [i64; 2], window: Window<2>) => |g, y, z| {
        let (stride, padding, dilation) = (&window.stride, &window.padding, &window.dilation);
        aclnn::max_pool2d_with_indices(g, &a, &kernel, stride, padding, dilation, false, &mut y, &mut z)
    };
}
