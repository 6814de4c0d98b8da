//! The test of gradients by differences: it passes right ones, and finds wrong ones.

use kernlink::dtype::Complex64;
use kernlink::prelude::*;
use kernlink::testing;

#[register_op(
    attr("T: {float, double, complex64, complex128}"),
    input("x: T"),
    input("y: T"),
    output("z: T"),
    shape_fn = shape::unchanged
)]
pub enum Products {
    /// `x * y`, of which the second gradient is wrong in one element.
    WrongProduct,
    /// `x * y`, of which the gradients are those of the other input.
    SwappedProduct,
    /// `x * y`, of which the first gradient has another shape.
    MisshapenProduct,
    /// `x * y`, without a gradient.
    PlainProduct,
}

fn product<T: Number>(x: &[T], y: &[T], z: &mut [T]) {
    z.iter_mut().zip(x.iter().zip(y)).for_each(|(z, (&x, &y))| *z = x.wrapping_mul(y));
}

macro_rules! kernels {
    ($($op:ident $compute:ident;)*) => {$(
        #[register_kernel(device = Cpu, T = [f32, f64, Complex32, Complex64])]
        fn $compute<T: Number>(ctx: &mut KernelContext<'_, $op>) -> Result<()> {
            let (x, y) = (ctx.input($op::X)?, ctx.input($op::Y)?);
            let mut z = ctx.allocate_output($op::Z, x.shape())?;
            product(x.as_slice::<T>()?, y.as_slice::<T>()?, z.as_mut_slice::<T>()?);
            ctx.set_output($op::Z, z)
        }
    )*};
}

kernels! {
    WrongProduct wrong;
    SwappedProduct swapped;
    MisshapenProduct misshapen;
    PlainProduct plain;
}

#[register_gradient(op = WrongProduct)]
fn wrong_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<[Value; 2]> {
    let d_x = ops::mul(g, d_z, y).build()?;
    let d_y = ops::mul(g, d_z, x).build()?;
    // A tenth too much at [1, 0].
    let tenth = ops::cast(g, &[[1.0f64, 1.0], [1.1, 1.0]], DataType::Double).build()?;
    Ok([d_x, ops::mul(g, d_y, tenth).build()?])
}

#[register_gradient(op = SwappedProduct)]
fn swapped_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<[Value; 2]> {
    Ok([ops::mul(g, d_z, x).build()?, ops::mul(g, d_z, y).build()?])
}

#[register_gradient(op = MisshapenProduct)]
fn misshapen_gradient(g: &mut GradientScope<'_>, x: Value, y: Value, d_z: Value) -> Result<[Value; 2]> {
    let d_x = ops::mul(g, d_z, y).build()?;
    Ok([ops::sum(g, d_x, 0).build()?, ops::mul(g, d_z, x).build()?])
}

fn matrices() -> [Tensor; 2] {
    [Tensor::new([[1.0f64, -2.0], [3.0, 0.5]]).unwrap(), Tensor::new([[0.25f64, 4.0], [-1.5, 2.0]]).unwrap()]
}

/// What a test says that fails.
fn failure(test: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)).expect_err("the test should fail");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn right_gradients_pass() {
    let mut test = testing::cpu();
    test.compute_gradient(matrices(), |op, [x, y]| ops::mat_mul(op, x, y).build()).expect_close(1e-8);
    let floats = matrices()
        .map(|x| Tensor::new(x.as_slice::<f64>().unwrap().iter().map(|&x| x as f32).collect::<Vec<_>>()).unwrap());
    test.compute_gradient(floats, |op, [x, y]| {
        let product = ops::mul(op, x, y).build()?;
        ops::tanh(op, product).build()
    })
    .expect_close(2e-3);
    // Rows that are gathered twice, and a scalar.
    let [x, _] = matrices();
    let jacobians = test.compute_gradient([x, Tensor::scalar(3.0f64)], |op, [x, y]| {
        let rows = ops::gather_nd(op, x, [[1], [0], [1]]).build()?;
        ops::mul(op, rows, y).build()
    });
    let jacobians = jacobians.expect_close(1e-8).unwrap();
    assert_eq!(jacobians[0].theoretical.shape().dims(), [6, 4]);
    assert_eq!(jacobians[1].numerical.shape().dims(), [6, 1]);
    assert!(jacobians[0].max_error() < 1e-8);
    // An input that is not used has the derivative 0.
    test.compute_gradient(matrices(), |op, [x, _]| ops::exp(op, x).build()).expect_close(1e-8);
}

#[test]
fn complex_numbers_are_pairs() {
    let mut test = testing::cpu();
    let z = |numbers: &[(f64, f64)]| {
        Tensor::vector(&numbers.iter().map(|&(re, im)| Complex64::new(re, im)).collect::<Vec<_>>()).unwrap()
    };
    let (x, y) = (z(&[(1.0, 2.0), (-0.5, 1.5)]), z(&[(0.25, -1.0), (2.0, 0.5)]));
    test.compute_gradient([x.clone(), y.clone()], |op, [x, y]| ops::mul(op, x, y).build()).expect_close(1e-8);
    test.compute_gradient([x.clone()], |op, [x]| ops::exp(op, x).build()).expect_close(1e-7);
    // Not holomorphic.
    test.compute_gradient([x.clone()], |op, [x]| ops::conj(op, x).build()).expect_close(1e-8);
    test.compute_gradient([x.clone()], |op, [x]| ops::complex_abs(op, x).tout(DataType::Double).build())
        .expect_close(1e-8);
    let real = Tensor::vector(&[0.5f64, -1.5]).unwrap();
    test.compute_gradient([real.clone(), real], |op, [x, y]| ops::complex(op, x, y).tout(DataType::Complex128).build())
        .expect_close(1e-8);
    let message = failure(|| {
        testing::cpu().compute_gradient([x, y], |op, [x, y]| swapped_product(op, x, y).build()).expect_close(1e-6);
    });
    assert!(message.contains("SwappedProduct") && message.contains("part)"), "{message}");
}

#[test]
fn wrong_gradients_are_named() {
    let message = failure(|| {
        testing::cpu().compute_gradient(matrices(), |op, [x, y]| wrong_product(op, x, y).build()).expect_close(1e-6);
    });
    assert!(message.contains("the gradient of WrongProduct with respect to input 1 is wrong: 1 of 16"), "{message}");
    assert!(message.contains("element [1, 0] of the result by element [1, 0] of the input"), "{message}");
    assert!(
        message.contains("says 3.3") && message.contains("say 2.99999") || message.contains("say 3.0"),
        "{message}"
    );
    let message = failure(|| {
        testing::cpu()
            .compute_gradient(matrices(), |op, [x, y]| misshapen_product(op, x, y).build())
            .expect_close(1e-6);
    });
    assert!(message.contains("MisshapenProduct") && message.contains("with respect to input 0"), "{message}");
    assert!(message.contains("[2]") && message.contains("[2, 2]"), "{message}");
}

#[test]
fn what_has_no_gradient_is_named() {
    let mut test = testing::cpu();
    test.compute_gradient(matrices(), |op, [x, y]| plain_product(op, x, y).build())
        .expect_error(Code::NotFound, "op PlainProduct has no registered gradient");
    let half = Tensor::vector(&[f16::from_f32(1.0)]).unwrap();
    test.compute_gradient([half], |op, [x]| ops::exp(op, x).build()).expect_error(Code::InvalidArgument, "half");
    // How many rows there are depends on the numbers.
    let x = Tensor::vector(&[0.0f64, 1.0]).unwrap();
    test.compute_gradient([x], |op, [x]| {
        let is_positive = ops::greater(op, x, 0.0).build()?;
        let places = ops::where_(op, is_positive).build()?;
        ops::gather_nd(op, x, places).build()
    })
    .expect_error(Code::InvalidArgument, "depends on its inputs for its shape");
}
