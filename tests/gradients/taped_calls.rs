//! Tapes through calls of functions, branches and loops.

use kernlink::graph::{Function, FunctionBuilder, TensorSpec};
use kernlink::ops::builders::cond;
use kernlink::prelude::*;

use super::cases::{Case, agree, each_control_flow_case};
use super::tapes::{gradients, one};

/// Every case that needs no graph, with the gradients of its gradients where TensorFlow has some.
#[test]
fn tapes_through_functions_are_those_of_tensorflow() {
    let count = std::cell::Cell::new(0);
    each_control_flow_case(|case| {
        if case
            .graph
            .nodes()
            .iter()
            .any(|node| node.class.is_control_flow() || node.op.def.name.starts_with("TensorArray"))
        {
            return Ok(());
        }
        count.set(count.get() + 1);
        check(case).map_err(|error| format!("{error:?}")).and_then(|result| result)
    });
    assert!(count.get() > 40, "{} cases", count.get());
}

fn check(case: &Case) -> Result<std::result::Result<(), String>> {
    let context = EagerContext::new(&case.registry)?.with_functions(&case.graph);
    let mut outer = GradientTape::new(&context);
    let xs = case.values.iter().map(|value| outer.watch(value.clone())).collect::<Result<Vec<_>>>()?;
    let mut inner = outer.nested();
    let xs = xs.iter().map(|x| inner.watch(x)).collect::<Result<Vec<_>>>()?;
    let first = gradients(&mut inner, case, &xs)?;
    let first: Vec<_> = first.into_iter().map(|found| found.and_then(|found| found.dense())).collect();
    let tensors = |found: &[Option<kernlink::gradient::Traced>]| -> Vec<Option<Tensor>> {
        found.iter().map(|found| found.as_ref().map(|found| found.tensor().clone())).collect()
    };
    let mut compared = tensors(&first);
    for (found, expected) in compared.iter_mut().zip(&case.expected) {
        // To what nothing flows back from a call, zeros do.
        if expected.is_none()
            && found.as_ref().is_some_and(|found| found.as_slice::<f64>().unwrap().iter().all(|x| *x == 0.0))
        {
            *found = None;
        }
    }
    if let Err(error) = agree(&compared, &case.expected) {
        return Ok(Err(error));
    }
    let Some(second) = &case.second else { return Ok(Ok(())) };
    let ys: Vec<_> = first.into_iter().flatten().collect();
    let found = outer.gradients(&ys, &xs, &[])?;
    let found: Vec<_> = found.into_iter().map(|found| found.and_then(|found| found.dense())).collect();
    Ok(agree(&tensors(&found), second).map_err(|error| format!("second order: {error}")))
}

fn function<const N: usize>(
    arguments: [TensorSpec; N],
    build: impl FnOnce(&mut Graph, [Output; N]) -> Result<Vec<Output>>,
) -> (EagerContext, Function) {
    let registry = kernlink::registry().unwrap();
    let mut graph = Graph::new(&registry);
    let function = FunctionBuilder::new("function", arguments).build(&mut graph, build).unwrap();
    (EagerContext::new(&registry).unwrap().with_functions(&graph), function)
}

fn cube() -> (EagerContext, Function) {
    function([TensorSpec::new(DataType::Double)], |graph, [a]| {
        let square = ops::mul(graph, a, a).build()?;
        let positive = ops::greater(graph, a, 0.0).build()?;
        let cube = cond(graph, positive, |graph| ops::mul(graph, square, a).build(), |_| Ok(a)).build()?;
        Ok(vec![cube, square])
    })
}

#[test]
fn a_persistent_tape_keeps_what_its_calls_need() {
    let (context, cube) = cube();
    let mut tape = GradientTape::new(&context).persistent();
    let x = tape.watch(2.0f64).unwrap();
    let results = tape.call(&cube, [&x]).unwrap();
    assert_eq!(results.len(), 2);
    let again = tape.call(&cube, [&results[0]]).unwrap();
    for _ in 0..2 {
        assert_eq!(one(tape.gradient(&results[0], [&x]).unwrap()).to_scalar::<f64>().unwrap(), 12.0);
        assert_eq!(one(tape.gradient(&results[1], [&x]).unwrap()).to_scalar::<f64>().unwrap(), 4.0);
        // The ninth power.
        assert_eq!(one(tape.gradient(&again[0], [&x]).unwrap()).to_scalar::<f64>().unwrap(), 9.0 * 256.0);
        let both = tape.gradients(&results, [&x], &[]).unwrap();
        assert_eq!(one(both).to_scalar::<f64>().unwrap(), 16.0);
    }
    let apart = tape.watch(-2.0f64).unwrap();
    let results = tape.call(&cube, [&apart]).unwrap();
    assert_eq!(one(tape.gradient(&results[0], [&apart]).unwrap()).to_scalar::<f64>().unwrap(), 1.0);
}

#[test]
fn tapes_are_nested_around_calls() {
    let (context, cube) = cube();
    let mut outermost = GradientTape::new(&context);
    let x = outermost.watch(2.0f64).unwrap();
    let mut outer = outermost.nested();
    let x = outer.watch(&x).unwrap();
    let first = {
        let mut inner = outer.nested();
        let x = inner.watch(&x).unwrap();
        let y = inner.call(&cube, [&x]).unwrap();
        one(inner.gradient(&y[0], [&x]).unwrap())
    };
    assert_eq!(first.to_scalar::<f64>().unwrap(), 12.0);
    let second = one(outer.gradient(&first, [&x]).unwrap());
    assert_eq!(second.to_scalar::<f64>().unwrap(), 12.0);
    assert_eq!(one(outermost.gradient(&second, [&x]).unwrap()).to_scalar::<f64>().unwrap(), 6.0);
}

/// A call is recorded only if it takes what is known, and asked for a gradient only if something flows back to it.
#[test]
fn calls_without_a_gradient_run() {
    let (context, copies) =
        function([TensorSpec::new(DataType::Float)], |graph, [a]| Ok(vec![ops::deep_copy(graph, a).build()?]));
    let mut tape = GradientTape::new(&context).persistent();
    tape.call(&copies, [1.0f32]).unwrap();
    assert!(tape.is_empty());
    let x = tape.watch(3.0f32).unwrap();
    let copied = tape.call(&copies, [&x]).unwrap();
    assert_eq!(copied[0].to_scalar::<f32>().unwrap(), 3.0);
    let y = ops::square(&mut tape, &x).build().unwrap();
    assert_eq!(one(tape.gradient(&y, [&x]).unwrap()).to_scalar::<f32>().unwrap(), 6.0);
    let error = tape.gradient(&copied[0], [&x]).unwrap_err();
    assert!(error.code() == Code::NotFound && error.to_string().contains("DeepCopy"), "{error}");
}

/// Variables whose handles a function is given are known to a tape.
#[test]
fn gradients_flow_to_variables_that_functions_are_given() {
    let specs = [TensorSpec::new(DataType::Resource), TensorSpec::new(DataType::Float)];
    let (mut context, product) = function(specs, |graph, [handle, a]| {
        let value = ops::read_variable_op(graph, handle, DataType::Float).build()?;
        Ok(vec![ops::mul(graph, value, a).build()?])
    });
    let variable =
        ops::var_handle_op(&mut context, DataType::Float, PartialShape::of_rank(0)).shared_name("v").build().unwrap();
    ops::assign_variable_op(&mut context, variable.clone(), 5.0f32).build().unwrap();
    let mut tape = GradientTape::new(&context);
    let variable = tape.watch(variable).unwrap();
    let x = tape.watch(2.0f32).unwrap();
    let y = tape.call(&product, [&variable, &x]).unwrap();
    let found = tape.gradient(&y[0], [&variable, &x]).unwrap();
    let found: Vec<f32> =
        found.into_iter().map(|found| found.unwrap().dense().unwrap().to_scalar::<f32>().unwrap()).collect();
    assert_eq!(found, [2.0, 5.0]);
}

/// A tape through a function that two ops without a gradient are in: which they are, where, and what can be done.
#[test]
fn functions_without_a_gradient_say_which_op_has_none() {
    let registry = kernlink::registry().unwrap();
    let mut graph = Graph::new(&registry);
    let inner = FunctionBuilder::new("inner", [DataType::Float])
        .build(&mut graph, |graph, [a]| Ok([ops::deep_copy(graph, a).name("copied").build()?]))
        .unwrap();
    let outer = FunctionBuilder::new("outer", [DataType::Float]).build(&mut graph, |graph, [a]| {
        let b = ops::sin(graph, a).build()?;
        Ok([ops::builders::call(graph, &inner, [b]).build()?[0]])
    });
    let outer = outer.unwrap();
    let sine = FunctionBuilder::new("sine", [DataType::Float])
        .build(&mut graph, |graph, [a]| Ok([ops::sin(graph, a).build()?]))
        .unwrap();
    let context = EagerContext::new(&registry).unwrap().with_functions(&graph);
    // What is kept of the failure says the same again.
    for _ in 0..2 {
        let mut tape = GradientTape::new(&context).persistent();
        let x = tape.watch(0.5f32).unwrap();
        let y = tape.call(&outer, [&x]).unwrap();
        assert_eq!(y[0].to_scalar::<f32>().unwrap(), 0.5f32.sin());
        let error = tape.gradient(&y[0], [&x]).unwrap_err();
        assert_eq!(error.code(), Code::NotFound, "{error}");
        for words in [
            "in function `outer`",
            "in function `inner`",
            "op DeepCopy has no registered gradient",
            "`copied`",
            "#[register_gradient(op = DeepCopy)]",
            "not_differentiable!",
        ] {
            assert!(error.to_string().contains(words), "`{words}` is not in: {error}");
        }
        // Other functions, which are derived after it, are not touched.
        let z = tape.call(&sine, [&x]).unwrap();
        assert_eq!(one(tape.gradient(&z[0], [&x]).unwrap()).to_scalar::<f32>().unwrap(), 0.5f32.cos());
    }
}

/// A function that fails as it runs, and one whose gradient does.
#[test]
fn calls_that_fail_are_not_recorded() {
    let specs = [TensorSpec::new(DataType::Float), TensorSpec::new(DataType::Int32)];
    let (context, reshaped) = function(specs, |graph, [a, shape]| {
        let b = ops::reshape(graph, a, shape).name("reshaped").build()?;
        Ok(vec![ops::square(graph, b).build()?])
    });
    let mut tape = GradientTape::new(&context).persistent();
    let x = tape.watch(&[1.0f32, 2.0, 3.0][..]).unwrap();
    let dims = |tape: &mut GradientTape<'_>, dims: &[i32]| ops::identity(tape, dims).build().unwrap();
    let [wrong, right] = [[2, 2], [3, 1]].map(|shape| dims(&mut tape, &shape));
    let error = tape.call(&reshaped, [&x, &wrong]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(error.to_string().contains("`reshaped`"), "{error}");
    assert!(tape.is_empty());
    // A call with another number of arguments.
    let error = tape.call(&reshaped, [&x]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(tape.is_empty());
    let y = tape.call(&reshaped, [&x, &right]).unwrap();
    assert_eq!(tape.len(), 1);
    let found = one(tape.gradient(&y[0], [&x]).unwrap());
    assert_eq!(found.as_slice::<f32>().unwrap(), [2.0, 4.0, 6.0]);
}

/// What flows back must suit what it flows back to.
#[test]
fn flows_that_do_not_suit_a_call_are_refused() {
    let (context, cube) = cube();
    let mut tape = GradientTape::new(&context).persistent();
    let x = tape.watch(&[2.0f64][..]).unwrap();
    let x = ops::reshape(&mut tape, &x, &[] as &[i32]).build().unwrap();
    let y = tape.call(&cube, [&x]).unwrap();
    let flow = |tape: &mut GradientTape<'_>, value: Tensor| tape.watch(value).unwrap();
    let one_of_float = flow(&mut tape, Tensor::scalar(1.0f32));
    let two = flow(&mut tape, Tensor::vector(&[1.0f64, 2.0]).unwrap());
    let fits = flow(&mut tape, Tensor::scalar(2.0f64));
    for (flows, words) in [
        (vec![one_of_float], "float"),
        (vec![two], "[2]"),
        (vec![fits.clone(), fits.clone()], "2 tensors flow back to 1 ys"),
    ] {
        let error = tape.gradients(&y[..1], [&x], &flows).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.to_string().contains(words), "`{words}` is not in: {error}");
    }
    let found = tape.gradients(&y[..1], [&x], &[fits]).unwrap();
    assert_eq!(one(found).to_scalar::<f64>().unwrap(), 24.0);
}
