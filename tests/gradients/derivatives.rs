//! Jacobians, Hessians and products of a Jacobian with a vector.

use kernlink::ops::builders::{hessian, jacobian, jvp};
use kernlink::prelude::*;

use super::cases::run;

fn input(graph: &mut Graph, shape: &[usize]) -> Output {
    let shape = PartialShape::from_known(shape.iter().copied().map(Some));
    ops::placeholder(graph, DataType::Double).shape(shape).build().unwrap()
}

#[test]
fn a_jacobian_has_a_row_for_each_element() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let (x, w) = (input(&mut graph, &[3]), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let w = ops::constant(&mut graph, w).unwrap();
    let square = ops::square(&mut graph, x).build().unwrap();
    let column = ops::expand_dims(&mut graph, square, -1).build().unwrap();
    let y = ops::mat_mul(&mut graph, w, column).build().unwrap();
    let found = jacobian(&mut graph, y, x).unwrap().unwrap();
    assert_eq!(graph.shape(found).to_string(), "[2,1,3]");
    let other = input(&mut graph, &[2]);
    let nodes = graph.nodes().len();
    assert_eq!(jacobian(&mut graph, y, other).unwrap(), None);
    assert_eq!(graph.nodes().len(), nodes);
    let fed = Tensor::vector(&[1.0, -2.0, 0.5]).unwrap();
    let answers = run(graph, &[(x, fed)], &[found]).unwrap();
    // 2 w x
    assert_eq!(answers[0].as_slice::<f64>().unwrap(), [2.0, -8.0, 3.0, 8.0, -20.0, 6.0]);
}

#[test]
fn a_hessian_has_all_second_derivatives() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = input(&mut graph, &[2]);
    let parts = ops::unpack(&mut graph, x, 2).build().unwrap();
    let square = ops::square(&mut graph, parts[0]).build().unwrap();
    let y = ops::mul(&mut graph, square, parts[1]).build().unwrap();
    let found = hessian(&mut graph, y, x).unwrap().unwrap();
    let answers = run(graph, &[(x, Tensor::vector(&[3.0, 5.0]).unwrap())], &[found]).unwrap();
    assert_eq!(answers[0].as_slice::<f64>().unwrap(), [10.0, 6.0, 6.0, 0.0]);
}

#[test]
fn a_derivative_along_a_direction_is_linear_in_it() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let (x, z) = (input(&mut graph, &[2]), input(&mut graph, &[2]));
    let product = ops::mul(&mut graph, x, z).build().unwrap();
    let y = ops::exp(&mut graph, product).build().unwrap();
    let along = [[1.0, 0.0], [0.0, 2.0]].map(|along| ops::constant(&mut graph, along).unwrap());
    let found = jvp(&mut graph, y, &[x, z], &along).unwrap().unwrap();
    assert!(jvp(&mut graph, y, &[x, z], &along[..1]).is_err());
    let vector = |values: [f64; 2]| Tensor::vector(&values).unwrap();
    let answers = run(graph, &[(x, vector([0.5, 1.0])), (z, vector([2.0, 0.0]))], &[found]).unwrap();
    let expected = [2.0 * f64::exp(1.0), 2.0];
    for (found, expected) in answers[0].as_slice::<f64>().unwrap().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}

/// A TensorArray has one array of gradients for each call that computes some, and a Jacobian is computed by one call: TensorFlow
/// fails as the graph runs.
#[test]
fn a_jacobian_through_an_array_is_refused() {
    let squares = |graph: &mut Graph, x: Output, count: i32| {
        let array = ops::tensor_array_v3(graph, count, DataType::Double).build()?;
        let indices = ops::range(graph, 0, count, 1).build()?;
        let flow = ops::tensor_array_scatter_v3(graph, array.handle, indices, x, array.flow).build()?;
        let read = ops::tensor_array_gather_v3(graph, array.handle, indices, flow, DataType::Double).build()?;
        ops::square(graph, read).build()
    };
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = input(&mut graph, &[3]);
    let y = squares(&mut graph, x, 3).unwrap();
    let before = graph.to_def().unwrap();
    let check = |graph: &mut Graph, y: Output, x: Output| {
        let error = jacobian(graph, y, x).unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented, "{error}");
        for words in ["TensorArrayGradV3", "lists of tensors"] {
            assert!(error.message().contains(words), "`{words}` is not in: {error}");
        }
    };
    check(&mut graph, y, x);
    assert_eq!(graph.to_def().unwrap(), before);
    // Within a function.
    let function = kernlink::graph::FunctionBuilder::new("squares", [DataType::Double]);
    let function = function.build(&mut graph, |graph, [x]| Ok([squares(graph, x, 3)?])).unwrap();
    let y = ops::builders::call(&mut graph, &function, [x]).build().unwrap()[0];
    check(&mut graph, y, x);
    // One element is gone back from once.
    let x = input(&mut graph, &[1]);
    let y = squares(&mut graph, x, 1).unwrap();
    let y = ops::reshape(&mut graph, y, [1]).build().unwrap();
    let found = jacobian(&mut graph, y, x).unwrap().unwrap();
    let answers = run(graph, &[(x, Tensor::vector(&[3.0]).unwrap())], &[found]).unwrap();
    assert_eq!(answers[0].as_slice::<f64>().unwrap(), [6.0]);
}

/// As TensorFlow's, which makes lists of TensorArrays.
#[test]
fn a_jacobian_goes_through_lists() {
    let mut graph = Graph::new(&kernlink::registry().unwrap());
    let x = input(&mut graph, &[3]);
    let list = ops::tensor_list_from_tensor(&mut graph, x, &[] as &[i32]).build().unwrap();
    let stacked = ops::tensor_list_stack(&mut graph, list, &[] as &[i32], DataType::Double).build().unwrap();
    let y = ops::square(&mut graph, stacked).build().unwrap();
    let found = jacobian(&mut graph, y, x).unwrap().unwrap();
    let answers = run(graph, &[(x, Tensor::vector(&[1.0, 2.0, 3.0]).unwrap())], &[found]).unwrap();
    assert_eq!(answers[0].as_slice::<f64>().unwrap(), [2.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 6.0]);
}
