//! The harness in which op authors test their ops: what it accepts, and what it says of what is wrong.

use std::sync::atomic::{AtomicUsize, Ordering};

use kernlink::dtype::Wrapping;
use kernlink::prelude::*;
use kernlink::testing::{self, Tolerance, infer_ok};

use super::eager::{Counter, counter};

/// The elements before and after the middle, and how many there are. The shape function is wrong for `[7]`, and panics for `[8]`.
#[register_op(
    attr("T: {int32, float}"),
    attr("N: int >= 1 = 2"),
    input("x: T"),
    output("parts: N * T"),
    output("length: int64"),
    shape_fn = |c| {
        c.with_rank(c.input(0), 1)?;
        assert_ne!(c.value(c.dim(c.input(0), 0)), Some(8), "as asked");
        c.set_output(2, if c.value(c.dim(c.input(0), 0)) == Some(7) { c.vector(7) } else { c.scalar() });
        Ok(())
    }
)]
pub(crate) struct Halve;

#[register_kernel(device = Cpu, T = [i32, f32])]
async fn cut<T: Number>(ctx: &mut KernelContext<'_, Halve>) -> Result<()> {
    let x = ctx.input(Halve::X)?.clone();
    let elements = x.as_slice::<Wrapping<T>>()?;
    ensure!(elements.len() != 5, InvalidArgument, "5 elements have no middle");
    let halves = [&elements[..elements.len() / 2], &elements[elements.len() / 2..]];
    for (index, half) in halves.into_iter().enumerate() {
        ctx.set_output_at(index, Tensor::vector(half)?)?;
    }
    ctx.set_output(Halve::LENGTH, Tensor::scalar(elements.len() as i64))
}

#[test]
fn outputs_lists_shapes_and_errors() {
    let mut test = testing::cpu();
    test.run(|op| halve(op, [1, 2, 3]).build())
        .expect_list(Halve::PARTS, [&[1][..], &[2, 3]])
        .expect(Halve::LENGTH, 3)
        .expect_shape(Halve::LENGTH, []);
    test.run(|op| halve(op, [0.5f32; 5]).build()).expect_error(Code::InvalidArgument, "no middle");
    test.run(|op| halve(op, "text").build()).expect_error(Code::InvalidArgument, "must be one of");
    let kept = test.run(|op| halve(op, [1.0f32, 2.0]).build());
    assert_eq!(kept.outputs(Halve::PARTS).len(), 2);
    assert_eq!(kept.output(Halve::LENGTH).to_scalar::<i64>().unwrap(), 2);
    test.run(|op| ops::sqrt(op, [3.0f32, f32::NAN]).build()).expect_close(ops::Sqrt::Y, [1.73205, f32::NAN], 1e-5);
    let loose = Tolerance { relative: 0.0, absolute: 0.5 };
    test.run(|op| ops::sqrt(op, 2.0f32).build()).expect_close(ops::Sqrt::Y, 1.0, loose);
    infer_ok(&testing::shapes::<ops::MatMul>(), "[2,?];[?,3]", "[d0_0,d1_1]");
}

#[test]
fn state_is_kept_from_run_to_run() {
    let mut test = testing::cpu();
    for count in 1..4 {
        test.run(|op| counter(op).step(2).build()).expect(Counter::COUNT, 2 * count);
    }
    testing::cpu().run(|op| counter(op).step(2).build()).expect(Counter::COUNT, 2);

    // Several ops of one run, and a resource that the next one finds.
    let table = test
        .run(|op| {
            let dtypes = ops::MutableHashTableV2Required { key_dtype: DataType::String, value_dtype: DataType::Int64 };
            let table = ops::mutable_hash_table_v2(op, dtypes).build()?;
            ops::lookup_table_insert_v2(op, &table, ["a", "b"], [1i64, 2]).build()?;
            Ok(table)
        })
        .unwrap();
    test.run(|op| ops::lookup_table_find_v2(op, &table, ["b", "c"], -1i64).build())
        .expect(ops::LookupTableFindV2::VALUES, [2, -1]);
}

#[test]
#[should_panic(expected = "the shape function of Halve gives [7] for output 2, and the kernel []")]
fn a_shape_function_that_the_kernel_contradicts() {
    testing::cpu().run(|op| halve(op, [0; 7]).build()).unwrap();
}

#[test]
#[should_panic(
    expected = "the shape function of Halve refuses what the kernel computes: INVALID_ARGUMENT: Shape must be rank 1"
)]
fn a_shape_function_that_refuses_too_much() {
    testing::cpu().run(|op| halve(op, [[0], [1]]).build()).unwrap();
}

#[test]
fn a_shape_function_that_panics() {
    testing::cpu().run(|op| halve(op, [0; 8]).build()).expect_error(Code::Internal, "the shape function panicked");
}

#[test]
fn a_shape_function_that_only_promises() {
    let mut test = testing::cpu();
    // TensorFlow's says `[2]`, and handles are scalars.
    test.run(|op| ops::tensor_array_v3(op, 3, DataType::Float).build()).expect_shape(ops::TensorArrayV3::HANDLE, []);
    // TensorFlow's counts the depth of the window, and its kernel does not.
    let image = Tensor::from_elements([1, 2, 2, 4], &[1f32; 16]).unwrap();
    let window = ops::MaxPoolWithArgmaxRequired { ksize: &[1, 1, 1, 2], strides: &[1, 1, 1, 2], padding: "VALID" };
    test.run(|op| ops::max_pool_with_argmax(op, &image, window).build())
        .expect_shape(ops::MaxPoolWithArgmax::OUTPUT, [1, 2, 2, 4]);
}

#[test]
#[should_panic(expected = "Halve: `parts:1`: 1 of 2 elements differ; the first is element [1]: 3 instead of 4\n  \
                           expected: int32 [2] [2 4]\n  computed: int32 [2] [2 3]")]
fn the_element_that_differs() {
    testing::cpu().run(|op| halve(op, [1, 2, 3]).build()).expect_list(Halve::PARTS, [&[1][..], &[2, 4]]);
}

#[test]
#[should_panic(expected = "Halve: `length`: shape [] instead of [1]")]
fn the_shape_that_differs() {
    testing::cpu().run(|op| halve(op, [1]).build()).expect(Halve::LENGTH, [1]);
}

#[test]
#[should_panic(expected = "Halve: `length` has shape [] instead of [3]: int64 [] 1")]
fn the_shape_alone() {
    testing::cpu().run(|op| halve(op, [1]).build()).expect_shape(Halve::LENGTH, [3]);
}

#[test]
#[should_panic(
    expected = "Halve should give `length`, but the run failed: INVALID_ARGUMENT: 5 elements have no middle"
)]
fn an_error_in_place_of_an_output() {
    testing::cpu().run(|op| halve(op, [0; 5]).build()).expect(Halve::LENGTH, 5);
}

#[test]
#[should_panic(expected = "\n  raised at tests/runtime/op_test.rs:")]
fn an_error_tells_its_line() {
    testing::cpu().run(|op| halve(op, [0; 5]).build()).unwrap();
}

/// Panics.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct Panics;

/// How often [`Panics`] ran.
static PANICS: AtomicUsize = AtomicUsize::new(0);

#[register_kernel(device = Cpu)]
fn panics(_: &mut KernelContext<'_, Panics>) -> Result<()> {
    PANICS.fetch_add(1, Ordering::Relaxed);
    panic!("on purpose")
}

#[test]
fn a_kernel_that_panics_runs_once() {
    testing::cpu().run(|op| panics(op, 1.0).build()).expect_error(Code::Internal, "on purpose");
    assert_eq!(PANICS.load(Ordering::Relaxed), 1);
}

#[test]
#[should_panic(expected = "no Halve ran, but Sqrt")]
fn another_op() {
    testing::cpu().run(|op| ops::sqrt(op, 4.0f32).build()).expect(Halve::LENGTH, 5);
}

#[test]
#[should_panic(expected = "should fail with NOT_FOUND and `middle`, not with INVALID_ARGUMENT: 5 elements")]
fn another_error() {
    testing::cpu().run(|op| halve(op, [0; 5]).build()).expect_error(Code::NotFound, "middle");
}

#[test]
#[should_panic(expected = "should fail with NOT_FOUND and `middle`, but it gave\n  Sqrt: float [] 2.0")]
fn no_error() {
    testing::cpu().run(|op| ops::sqrt(op, 4.0f32).build()).expect_error(Code::NotFound, "middle");
}

/// Sets the first element to zero, in a tensor that may not be its own.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct FirstToZero;

#[register_kernel(device = Cpu)]
fn first_to_zero_in_place(ctx: &mut KernelContext<'_, FirstToZero>) -> Result<()> {
    let mut y = ctx.input(FirstToZero::X)?.clone();
    y.as_mut_slice::<f32>()?[0] = 0.0;
    ctx.set_output(FirstToZero::Y, y)
}

#[test]
#[should_panic(expected = "with inputs that others share, as nodes of a graph do: the elements are shared")]
fn a_kernel_that_changes_what_others_share_fails_with_few_elements_too() {
    testing::cpu().run(|op| first_to_zero(op, [1.0f32]).build()).expect(FirstToZero::Y, [0.0]);
}

/// Negates its input, in place if it owns it; otherwise it forgets to.
#[register_op(input("x: float"), output("y: float"), shape_fn = shape::unchanged)]
pub(crate) struct NegateOwn;

#[register_kernel(device = Cpu)]
fn negate_own(ctx: &mut KernelContext<'_, NegateOwn>) -> Result<()> {
    let mut x = ctx.take_input(NegateOwn::X)?;
    if x.is_unique() {
        x.as_mut_slice::<f32>()?.iter_mut().for_each(|x| *x = -*x);
    }
    ctx.set_output(NegateOwn::Y, x)
}

#[test]
fn a_kernel_that_gives_something_else_for_inputs_that_others_share() {
    let said = "with inputs that others share, as nodes of a graph do, the kernel of NegateOwn gives something else";
    // Also where the test itself holds on to them.
    for input in [Tensor::new([1.0f32]).unwrap(), Tensor::vector(&[0f32; 100]).unwrap()] {
        testing::cpu().run(|op| negate_own(op, &input).build()).expect_error(Code::Internal, said);
        testing::cpu().run(|op| negate_own(op, input).build()).expect_error(Code::Internal, said);
    }
    testing::cpu().run(|op| negate_own(op, [f32::NAN]).build()).expect(NegateOwn::Y, [f32::NAN]);
}

#[test]
#[should_panic(expected = "Sqrt: `y` is float instead of double: float [] 2.0")]
fn the_dtype_alone() {
    let ran = testing::cpu().run(|op| ops::sqrt(op, 4.0f32).build());
    ran.expect_dtype(ops::Sqrt::Y, DataType::Float)
        .expect(ops::Sqrt::Y, 2.0)
        .expect_dtype(ops::Sqrt::Y, DataType::Double);
}

#[test]
#[should_panic(expected = "Sqrt: `y`: dtype float instead of double")]
fn what_is_no_literal_has_a_dtype() {
    testing::cpu().run(|op| ops::sqrt(op, [4.0f32]).build()).expect(ops::Sqrt::Y, [2.0f64].as_slice());
}

#[test]
#[should_panic(expected = "Sqrt: `y`: dtype float instead of double")]
fn a_literal_too_large_for_the_dtype_is_not_infinity() {
    testing::cpu().run(|op| ops::sqrt(op, f32::INFINITY).build()).expect(ops::Sqrt::Y, 1e300);
}

#[cfg(debug_assertions)]
#[test]
fn graphs_hold_kernels_against_shape_functions_too() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = ops::placeholder(&mut graph, DataType::Float).name("x").build().unwrap();
    halve(&mut graph, x).name("halve").build().unwrap();
    let session = Session::new(graph).unwrap();
    let run = |n| session.run(&[("x", Tensor::zeros(DataType::Float, [n]).unwrap())], &["halve", "halve:2"], &[]);
    run(6).unwrap();
    let error = run(7).unwrap_err();
    assert_eq!((error.code(), error.node().map(|node| &*node.node)), (Code::Internal, Some("halve")));
    let said = "the shape function of Halve gives [7] for output 2, and the kernel []";
    assert!(error.message().contains(said), "{error}");
    let mut eager = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    assert!(halve(&mut eager, [0.0f32; 7]).build().unwrap_err().message().contains(said));
    let panicked = [run(8).unwrap_err(), halve(&mut eager, [0.0f32; 8]).name("halve").build().unwrap_err()];
    for error in panicked {
        assert_eq!((error.code(), error.node().map(|node| &*node.node)), (Code::Internal, Some("halve")), "{error}");
        let message = error.message();
        assert!(message.contains("the shape function panicked") && message.contains("as asked"), "{error}");
    }
}
