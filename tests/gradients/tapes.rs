//! Tapes.

use std::collections::HashMap;

use kernlink::gradient::{IntoTraced as _, Traced, TracedGradient};
use kernlink::graph::{NodeBuilder, NodeClass};
use kernlink::prelude::*;

use super::cases::{Case, agree, dense, each_case};

/// Every case as ops that are run.
#[test]
fn gradients_of_tapes_are_those_of_tensorflow() {
    each_case(|case| {
        let context = EagerContext::new(&case.registry).map_err(|error| error.to_string())?;
        let found = on_a_tape(&context, case).map_err(|error| error.to_string())?;
        agree(&found, &case.expected)
    });
}

fn on_a_tape(context: &EagerContext, case: &Case) -> Result<Vec<Option<Tensor>>> {
    let mut tape = GradientTape::new(context);
    let xs = case.values.iter().map(|value| tape.watch(value.clone())).collect::<Result<Vec<_>>>()?;
    let found = gradients(&mut tape, case, &xs)?;
    let mut context = context.clone();
    let found = found.into_iter().map(|found| match found {
        Some(TracedGradient::Dense(gradient)) => Ok(Some(gradient.into_tensor())),
        Some(TracedGradient::Slices { values, indices, dense_shape }) => {
            dense(&mut context, values.into_tensor(), indices.into_tensor(), dense_shape.into_tensor()).map(Some)
        }
        None => Ok(None),
    });
    found.collect()
}

/// Runs a case for these `xs`.
pub(super) fn gradients(
    tape: &mut GradientTape<'_>,
    case: &Case,
    xs: &[Traced],
) -> Result<Vec<Option<TracedGradient>>> {
    let mut known: HashMap<Output, Traced> = case.xs.iter().copied().zip(xs.iter().cloned()).collect();
    for id in case.graph.ids() {
        let node = case.graph.node(id);
        // What TensorFlow imports leaves placeholders behind that nobody takes.
        if case.xs.iter().any(|x| x.node == id) || node.class == NodeClass::Placeholder {
            continue;
        }
        let mut builder = NodeBuilder::new(tape, node.op.def);
        for (argument, range) in node.op.def.inputs.iter().zip(&node.signature.input_ranges) {
            let inputs = range.clone().map(|index| known[&node.inputs[index]].clone());
            match argument.is_list() {
                true => builder.input_list(inputs.collect::<Vec<_>>()),
                false => inputs.fold(&mut builder, |builder, input| builder.input(input)),
            };
        }
        node.attrs.iter().for_each(|(name, value)| _ = builder.attr(name, value.clone()));
        for (index, output) in builder.build_outputs()?.into_vec().into_iter().enumerate() {
            known.insert(Output { node: id, index }, output);
        }
    }
    let of = |outputs: &[Output]| outputs.iter().map(|output| known[output].clone()).collect::<Vec<_>>();
    tape.gradients(&of(&case.ys), xs, &of(&case.flows))
}

pub(super) fn one(found: Vec<Option<TracedGradient>>) -> Traced {
    found.into_iter().next().flatten().and_then(TracedGradient::dense).unwrap()
}

#[test]
fn a_tape_is_used_once_unless_it_is_persistent() {
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut tape = GradientTape::new(&context);
    let x = tape.watch(3.0f32).unwrap();
    let y = ops::mul(&mut tape, &x, &x).build().unwrap();
    assert_eq!(one(tape.gradient(&y, [&x]).unwrap()).to_scalar::<f32>().unwrap(), 6.0);
    assert_eq!(tape.gradient(&y, [&x]).unwrap_err().code(), Code::FailedPrecondition);
    let mut tape = GradientTape::new(&context).persistent();
    let x = tape.watch(3.0f32).unwrap();
    let y = ops::mul(&mut tape, &x, &x).build().unwrap();
    let z = ops::mul(&mut tape, &y, &x).build().unwrap();
    assert_eq!(one(tape.gradient(&y, [&x]).unwrap()).to_scalar::<f32>().unwrap(), 6.0);
    assert_eq!(one(tape.gradient(&z, [&x]).unwrap()).to_scalar::<f32>().unwrap(), 27.0);
}

#[test]
fn tapes_are_nested_for_higher_orders() {
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut outer = GradientTape::new(&context);
    let x = outer.watch(2.0f64).unwrap();
    let first = {
        let mut inner = outer.nested();
        let x = inner.watch(&x).unwrap();
        let square = ops::mul(&mut inner, &x, &x).build().unwrap();
        let cube = ops::mul(&mut inner, &square, &x).build().unwrap();
        one(inner.gradient(&cube, [&x]).unwrap())
    };
    assert_eq!(first.to_scalar::<f64>().unwrap(), 12.0);
    assert_eq!(one(outer.gradient(&first, [&x]).unwrap()).to_scalar::<f64>().unwrap(), 12.0);
}

#[test]
fn what_is_not_watched_is_not_recorded() {
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut tape = GradientTape::new(&context);
    let y = ops::exp(&mut tape, 1.0f32).build().unwrap();
    assert!(tape.is_empty());
    let x = tape.watch(1.0f32).unwrap();
    let z = tape.stop_recording(|tape| ops::exp(tape, &x).build()).unwrap();
    assert!(tape.is_empty());
    let w = ops::add_v2(&mut tape, &x, &z).build().unwrap();
    let w = ops::add_v2(&mut tape, &w, &y).build().unwrap();
    assert_eq!(tape.len(), 2);
    let found = tape.gradient(&w, [&x, &y]).unwrap();
    assert!(found[1].is_none());
    assert_eq!(one(found).to_scalar::<f32>().unwrap(), 1.0);
    assert!(tape.watch(1i32).is_err());
}

#[test]
fn literals_are_kept_in_the_dtype_that_their_op_gives_them() {
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut tape = GradientTape::new(&context);
    let x = tape.watch(3.0f32).unwrap();
    let y = ops::mul(&mut tape, &x, 2.0).build().unwrap();
    let z = ops::pow(&mut tape, &y, 2).build().unwrap();
    assert_eq!(one(tape.gradient(&z, [&x]).unwrap()).to_scalar::<f32>().unwrap(), 24.0);
}

/// Tapes within tapes run their ops where the outermost does, which may change.
#[test]
fn tapes_run_in_a_context_that_is_cancelled() -> Result<()> {
    let context = EagerContext::new(&kernlink::registry()?)?;
    let mut outer = GradientTape::new(&context);
    let mut tape = outer.nested();
    let x = tape.watch(3.0f32)?;
    let cancellation = kernlink::step::Cancellation::new();
    tape.run_in(&context.cancelled_by(&cancellation));
    let y = ops::square(&mut tape, &x).build()?;
    cancellation.cancel(kernlink::Error::new(Code::Aborted, "enough"));
    assert_eq!(ops::neg(&mut tape, &x).build().unwrap_err().code(), Code::Aborted);
    tape.run_in(&context);
    let gradient = tape.gradients(&[y], &[x], &[])?.remove(0).and_then(|found| found.dense());
    assert_eq!(gradient.map(|found| found.tensor().to_scalar::<f32>()).transpose()?, Some(6.0));
    Ok(())
}

#[test]
fn a_tape_without_variables_records_those_that_are_watched() {
    let mut context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut handle = |name: &str| {
        let handle = ops::var_handle_op(&mut context, DataType::Float, PartialShape::of_rank(0))
            .shared_name(name)
            .build()
            .unwrap();
        ops::assign_variable_op(&mut context, &handle, 3.0f32).build().unwrap();
        handle
    };
    let (watched, other) = (handle("watched"), handle("other"));
    let mut tape = GradientTape::new(&context).without_variables();
    let read =
        |tape: &mut GradientTape<'_>, handle: &Tensor| ops::read_variable_op(tape, handle, DataType::Float).build();
    read(&mut tape, &watched).unwrap();
    assert!(tape.is_empty());
    let known = tape.watch(watched.clone()).unwrap();
    let unknown = other.clone().into_traced().unwrap();
    let (x, y) = (read(&mut tape, &watched).unwrap(), read(&mut tape, &other).unwrap());
    let product = ops::mul(&mut tape, &x, &y).build().unwrap();
    let found = tape.gradient(&product, [&known, &unknown]).unwrap();
    assert!(found[1].is_none());
    assert_eq!(one(found).to_scalar::<f32>().unwrap(), 3.0);
}

#[test]
fn a_tensor_that_is_made_unique_is_the_same_to_a_tape() {
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut tape = GradientTape::new(&context);
    let x = tape.watch(Tensor::vector(&[2.0f32; 100]).unwrap()).unwrap();
    let mut copy = x.clone();
    copy.make_unique().unwrap();
    assert_ne!(copy.bytes().unwrap().as_ptr(), x.bytes().unwrap().as_ptr());
    let y = ops::mul(&mut tape, &copy, 3.0f32).build().unwrap();
    assert_eq!(one(tape.gradient(&y, [&x]).unwrap()).as_slice::<f32>().unwrap(), [3.0; 100]);
}

#[test]
fn a_tape_can_record_its_own_gradients() {
    let context = EagerContext::new(&kernlink::registry().unwrap()).unwrap();
    let mut tape = GradientTape::new(&context);
    let x = tape.watch(3.0f32).unwrap();
    let square = ops::mul(&mut tape, &x, &x).build().unwrap();
    let cube = ops::mul(&mut tape, &square, &x).build().unwrap();
    let first = one(tape.recorded_gradients(std::slice::from_ref(&cube), [&x], &[]).unwrap());
    let second = one(tape.recorded_gradients(std::slice::from_ref(&first), [&x], &[]).unwrap());
    let third = one(tape.gradient(&second, [&x]).unwrap());
    assert_eq!([first, second, third].map(|found| found.to_scalar::<f32>().unwrap()), [27.0, 18.0, 6.0]);
    assert!(tape.recorded_gradients(std::slice::from_ref(&cube), [&x], &[]).is_err());
}
