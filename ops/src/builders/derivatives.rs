//! Derivatives that are more than one gradient: Jacobians, Hessians, and products of a Jacobian with a vector.

use kernlink::gradient::Gradients;
use kernlink::graph::{Graph, Output};
use kernlink::shape::PartialShape;
use kernlink::{Error, Result, ensure};

use super::{dtype_of, while_loop};

/// The derivatives of all elements of `y` by all of `x`: of the shape of `y` followed by that of `x`. `None` if `y` does not depend on
/// `x`. A loop computes a gradient for each element of `y`, and can be
/// differentiated in turn.
///
/// For complex numbers a row is the gradient that `tf.gradients` has: the conjugate of the derivative where the function is holomorphic.
///
/// # Errors
/// INVALID_ARGUMENT if an output is not the graph's, or is no float or complex tensor; UNIMPLEMENTED if the way leads through a
/// TensorArray, unless `y` is known to have one element at most; and those of gradients.
pub fn jacobian(graph: &mut Graph, y: Output, x: Output) -> Result<Option<Output>> {
    for (what, output) in [("y", y), ("x", x)] {
        let dtype = dtype_of(graph, output)?;
        let message = "the Jacobian is of floats and complex numbers";
        ensure!(dtype.is_floating() || dtype.is_complex(), InvalidArgument, "{what} is {dtype}: {message}");
    }
    all_or_none(graph, |graph| rows(graph, y, x))
}

/// What `build` adds, if there is something that it finds.
fn all_or_none(graph: &mut Graph, build: impl FnOnce(&mut Graph) -> Result<Option<Output>>) -> Result<Option<Output>> {
    let before = graph.savepoint();
    let found = build(graph);
    if !matches!(found, Ok(Some(_))) {
        graph.roll_back(before);
    }
    found
}

fn rows(graph: &mut Graph, y: Output, x: Output) -> Result<Option<Output>> {
    let (y_dtype, x_dtype) = (dtype_of(graph, y)?, dtype_of(graph, x)?);
    let y_dims = crate::shape(graph, y).build()?;
    let x_dims = crate::shape(graph, x).build()?;
    let count = crate::size(graph, y).build()?;
    let empty = crate::tensor_list_reserve(graph, x_dims, count, x_dtype).build()?;
    let elements = |dims: &[Option<usize>]| dims.iter().try_fold(1usize, |count, dim| count.checked_mul((*dim)?));
    let is_several = graph.shape(y).dims().and_then(elements).is_none_or(|count| count > 1);
    let before = graph.function_names().len();
    let mut is_connected = true;
    let looped = while_loop(
        graph,
        [count, empty],
        |graph, [left, _]| crate::greater(graph, left, 0).build(),
        |graph, [left, rows]| {
            let index = crate::sub(graph, left, 1).build()?;
            let one = crate::cast(graph, 1i32, y_dtype).build()?;
            let zero = crate::cast(graph, 0i32, y_dtype).build()?;
            let seed = crate::one_hot(graph, index, count, one, zero).build()?;
            let seed = crate::reshape(graph, seed, y_dims).build()?;
            let found = Gradients::of([y]).with_respect_to([x]).grad_ys([Some(seed)]).add_to(graph)?;
            let row = match found.first().copied().flatten() {
                Some(found) => found.dense(graph)?,
                None => {
                    is_connected = false;
                    crate::zeros_like(graph, x).build()?
                }
            };
            Ok([index, crate::tensor_list_set_item(graph, rows, index, row).build()?])
        },
    );
    let [_, rows] = looped.build()?;
    if !is_connected {
        return Ok(None);
    }
    if is_several {
        check_repeatable(graph, graph.function_names().into_iter().skip(before))?;
    }
    let stacked = crate::tensor_list_stack(graph, rows, x_dims, x_dtype).build()?;
    let dims = crate::concat_v2(graph, [y_dims, x_dims], 0).build()?;
    let jacobian = crate::reshape(graph, stacked, dims).build()?;
    if let (Some(of_y), Some(of_x)) = (graph.shape(y).dims(), graph.shape(x).dims()) {
        let dims = PartialShape::from_known(of_y.iter().chain(of_x).copied());
        graph.set_shape(jacobian, &dims)?;
    }
    Ok(Some(jacobian))
}

/// Checks that a gradient can be computed several times, which functions are made of.
fn check_repeatable<'n>(graph: &Graph, functions: impl Iterator<Item = &'n str>) -> Result<()> {
    let mut ops = functions.flat_map(|function| graph.function_ops(function));
    match ops.find(|op| op.starts_with("TensorArrayGrad")) {
        Some(op) => Err(Error::unimplemented(format!(
            "the Jacobian goes back through a TensorArray for each element of y, and the array of its gradients ({op}) is there for \
             one way back: lists of tensors, which TensorFlow 2 makes of them, can be gone back through again and again"
        ))),
        None => Ok(()),
    }
}

/// The second derivatives of the sum of `y` by all pairs of elements of `x`: of the shape of `x` twice. `None` if the first do not
/// depend on `x`.
///
/// # Errors
/// As [`jacobian`].
pub fn hessian(graph: &mut Graph, y: Output, x: Output) -> Result<Option<Output>> {
    all_or_none(graph, |graph| {
        let found = Gradients::of([y]).with_respect_to([x]).add_to(graph)?;
        let Some(found) = found.first().copied().flatten() else { return Ok(None) };
        let first = found.dense(graph)?;
        jacobian(graph, first, x)
    })
}

/// The derivative of `y` along `tangents`, which say how each of `xs` changes: of the shape of `y`. `None` if `y` depends on none of
/// `xs`. It is the gradient of a gradient, which is linear in what flows back.
///
/// # Errors
/// INVALID_ARGUMENT if there is not one tangent for each x, of its dtype and shape; and those of gradients.
pub fn jvp(graph: &mut Graph, y: Output, xs: &[Output], tangents: &[Output]) -> Result<Option<Output>> {
    ensure!(
        xs.len() == tangents.len(),
        InvalidArgument,
        "there are {} tangents for {} xs: give one for each",
        tangents.len(),
        xs.len()
    );
    all_or_none(graph, |graph| along(graph, y, xs, tangents))
}

fn along(graph: &mut Graph, y: Output, xs: &[Output], tangents: &[Output]) -> Result<Option<Output>> {
    // Anything does for what flows back: the gradient is linear in it, and its own gradient depends on it no more.
    let flow = crate::zeros_like(graph, y).build()?;
    let found = Gradients::of([y]).with_respect_to(xs.iter().copied()).grad_ys([Some(flow)]).add_to(graph)?;
    let (mut first, mut along) = (Vec::new(), Vec::new());
    for (found, &tangent) in found.into_iter().zip(tangents) {
        if let Some(found) = found {
            first.push(found.dense(graph)?);
            along.push(Some(tangent));
        }
    }
    if first.is_empty() {
        return Ok(None);
    }
    let found = Gradients::of(first).with_respect_to([flow]).grad_ys(along).add_to(graph)?;
    found.first().copied().flatten().map(|found| found.dense(graph)).transpose()
}
