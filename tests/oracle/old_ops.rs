//! Ops that TensorFlow keeps for old graphs alone: no golden case can hold them, because its graphs are new.

use crate::support::{constant, graph, node};
use kernlink::attr::AttrValue;
use kernlink::dtype::DataType;
use kernlink::gradient::{Gradients, OutputGradient};
use kernlink::graph::{Graph, Output};
use kernlink::proto::{GraphDef, NodeDef, VersionDef};
use kernlink::runtime::Session;
use kernlink::shape::PartialShape;
use kernlink::tensor::Tensor;
use kernlink::{Code, Result};

/// The outputs of a node of a graph that a program of version `producer` made.
fn run(producer: i32, nodes: Vec<NodeDef>, fetches: &[&str]) -> Result<Vec<Tensor>> {
    let versions = Some(VersionDef { producer, min_consumer: 0, bad_consumers: Vec::new() });
    let def = GraphDef { versions, ..graph(nodes) };
    Session::new(Graph::import(&def, &kernlink::registry()?)?)?.run(&[], fetches, &[])
}

fn float() -> AttrValue {
    AttrValue::Type(DataType::Float)
}

/// The op itself, for which TensorFlow puts others before it runs a graph.
#[test]
fn parallel_concat_joins_rows() {
    let nodes = |rows: i64| {
        let row = |name: &str, elements: &[i32]| constant(name, Tensor::from_elements([1, 2], elements).unwrap());
        let attrs = [
            ("T", AttrValue::Type(DataType::Int32)),
            ("N", AttrValue::Int(3)),
            ("shape", AttrValue::Shape(PartialShape::from_dims(&[rows, 2]).unwrap())),
        ];
        let rows = [row("a", &[1, 2]), row("b", &[3, 4]), row("c", &[5, 6])];
        rows.into_iter().chain([node("y", "ParallelConcat", &["a", "b", "c"], &attrs)]).collect::<Vec<_>>()
    };
    let found = run(1000, nodes(3), &["y"]).unwrap();
    assert_eq!(found[0].shape().as_ref(), [3, 2]);
    assert_eq!(found[0].as_slice::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(run(1000, nodes(4), &["y"]).unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn top_k_takes_k_as_an_attr() {
    let nodes = |k: i64| {
        let input = Tensor::from_elements([2, 4], &[3.0f32, 9.0, 1.0, 9.0, -1.0, -4.0, -3.0, -2.0]).unwrap();
        let attrs = [("T", float()), ("k", AttrValue::Int(k)), ("sorted", AttrValue::Bool(true))];
        vec![constant("x", input), node("top", "TopK", &["x"], &attrs)]
    };
    let found = run(6, nodes(2), &["top", "top:1"]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [9.0, 9.0, -1.0, -2.0]);
    assert_eq!(found[1].as_slice::<i32>().unwrap(), [1, 3, 0, 3]);
    assert_eq!(run(6, nodes(5), &["top"]).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(run(7, nodes(2), &["top"]).unwrap_err().code(), Code::Unimplemented);
}

/// To the elements that were chosen.
#[test]
fn gradient_of_top_k() {
    let input = Tensor::from_elements([2, 4], &[3.0f32, 9.0, 1.0, 8.0, -1.0, -4.0, -3.0, -2.0]).unwrap();
    let flow = Tensor::from_elements([2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
    let attrs = [("T", float()), ("k", AttrValue::Int(2)), ("sorted", AttrValue::Bool(true))];
    let nodes = vec![constant("x", input), constant("flow", flow), node("top", "TopK", &["x"], &attrs)];
    let versions = Some(VersionDef { producer: 6, min_consumer: 0, bad_consumers: Vec::new() });
    let def = GraphDef { versions, ..graph(nodes) };
    let mut graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
    let output = |name: &str| Output { node: graph.find(name).unwrap(), index: 0 };
    let (x, flow, y) = (output("x"), output("flow"), output("top"));
    let found = Gradients::of([y]).with_respect_to([x]).grad_ys([Some(flow)]).add_to(&mut graph).unwrap();
    let Some(OutputGradient::Dense(found)) = found[0] else { panic!("{found:?}") };
    let name = graph.output_name(found);
    let found = Session::new(graph).unwrap().run(&[], &[&name], &[]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [0.0, 1.0, 0.0, 2.0, 3.0, 0.0, 0.0, 4.0]);
}

#[test]
fn batch_norm_with_global_normalization() {
    let nodes = |scale: bool, channels: usize| {
        let vector = |name: &str, values: [f32; 2]| constant(name, Tensor::vector(&values[..channels]).unwrap());
        let attrs = [
            ("T", float()),
            ("variance_epsilon", AttrValue::Float(0.5)),
            ("scale_after_normalization", AttrValue::Bool(scale)),
        ];
        let input = Tensor::from_elements([1, 1, 2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap();
        vec![
            constant("t", input),
            vector("m", [1.0, -1.0]),
            vector("v", [3.5, 0.5]),
            vector("beta", [10.0, 20.0]),
            vector("gamma", [2.0, -3.0]),
            node("y", "BatchNormWithGlobalNormalization", &["t", "m", "v", "beta", "gamma"], &attrs),
        ]
    };
    let found = run(8, nodes(true, 2), &["y"]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [10.0, 11.0, 12.0, 5.0]);
    let found = run(8, nodes(false, 2), &["y"]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [10.0, 23.0, 11.0, 25.0]);
    assert_eq!(run(8, nodes(true, 1), &["y"]).unwrap_err().code(), Code::InvalidArgument);
}

/// What TensorFlow's gradient of the same function, `tf.nn.batch_normalization`, gives.
#[test]
fn gradient_of_batch_norm_with_global_normalization() {
    let found = |scale: bool| -> Vec<Vec<f32>> {
        let vector = |name: &str, values: [f32; 2]| constant(name, Tensor::vector(&values).unwrap());
        let attrs = [
            ("T", float()),
            ("variance_epsilon", AttrValue::Float(0.5)),
            ("scale_after_normalization", AttrValue::Bool(scale)),
        ];
        let image = |values: [f32; 4]| Tensor::from_elements([1, 1, 2, 2], &values).unwrap();
        let nodes = vec![
            constant("t", image([1.0, 2.0, 3.0, -1.0])),
            vector("m", [1.0, 0.5]),
            vector("v", [3.5, 0.5]),
            vector("beta", [10.0, 20.0]),
            vector("gamma", [2.0, -3.0]),
            constant("flow", image([1.0, -2.0, 0.5, 3.0])),
            node("y", "BatchNormWithGlobalNormalization", &["t", "m", "v", "beta", "gamma"], &attrs),
        ];
        let versions = Some(VersionDef { producer: 8, min_consumer: 0, bad_consumers: Vec::new() });
        let def = GraphDef { versions, ..graph(nodes) };
        let mut graph = Graph::import(&def, &kernlink::registry().unwrap()).unwrap();
        let output = |name: &str| Output { node: graph.find(name).unwrap(), index: 0 };
        let (y, flow, xs) = (output("y"), output("flow"), ["t", "m", "v", "beta", "gamma"].map(output));
        let found = Gradients::of([y]).with_respect_to(xs).grad_ys([Some(flow)]).add_to(&mut graph).unwrap();
        let fetches: Vec<String> = found
            .into_iter()
            .map(|found| match found {
                Some(OutputGradient::Dense(output)) => graph.output_name(output),
                found => panic!("{found:?}"),
            })
            .collect();
        let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
        let found = Session::new(graph).unwrap().run(&[], &fetches, &[]).unwrap();
        found.iter().map(|found| found.as_slice::<f32>().unwrap().to_vec()).collect()
    };
    let expected: [&[f32]; 5] = [&[1.0, 6.0, 0.5, -9.0], &[-1.5, 3.0], &[-0.125, -11.25], &[1.5, 1.0], &[0.5, -7.5]];
    assert_eq!(found(true), expected);
    let expected: [&[f32]; 5] = [&[0.5, -2.0, 0.25, 3.0], &[-0.75, -1.0], &[-0.0625, 3.75], &[1.5, 1.0], &[0.0, 0.0]];
    assert_eq!(found(false), expected);
}

/// What TensorFlow computes for graphs of version 1; in later ones it refuses the op.
#[test]
fn adjust_contrast_clips() {
    let nodes = |input: Tensor| {
        let attrs = [("T", AttrValue::Type(input.dtype()))];
        vec![
            constant("x", input),
            constant("factor", Tensor::scalar(1.5f32)),
            constant("least", Tensor::scalar(-1.0f32)),
            constant("greatest", Tensor::scalar(12.0f32)),
            node("y", "AdjustContrast", &["x", "factor", "least", "greatest"], &attrs),
        ]
    };
    fn image<T: kernlink::dtype::Number>() -> Tensor {
        let elements = [1, 2, 3, 4, 5, 10, 0, 13].map(T::from_i64);
        Tensor::from_elements([1, 2, 2, 2], &elements).unwrap()
    }
    let images = [image::<f32>(), image::<f64>(), image::<u8>(), image::<i8>(), image::<i16>(), image::<i32>()];
    for image in images {
        let dtype = image.dtype();
        let found = run(1, nodes(image), &["y"]).unwrap();
        let expected = [0.375, -0.625, 3.375, 2.375, 6.375, 11.375, -1.0, 12.0];
        assert_eq!(found[0].as_slice::<f32>().unwrap(), expected, "{dtype}");
    }
    assert_eq!(run(2, nodes(image::<f32>()), &["y"]).unwrap_err().code(), Code::Unimplemented);
    let flat = Tensor::from_elements([2, 2], &[1.0f32; 4]).unwrap();
    assert_eq!(run(1, nodes(flat), &["y"]).unwrap_err().code(), Code::InvalidArgument);
}

/// As TensorFlow has it: NaN in an image makes its mean NaN, and so all of it; a limit that is NaN is none.
#[test]
fn adjust_contrast_of_nan() {
    let found = |image: [f32; 4], [least, greatest]: [f32; 2]| -> Vec<f32> {
        let nodes = vec![
            constant("x", Tensor::from_elements([2, 1, 2, 1], &image).unwrap()),
            constant("factor", Tensor::scalar(2.0f32)),
            constant("least", Tensor::scalar(least)),
            constant("greatest", Tensor::scalar(greatest)),
            node("y", "AdjustContrast", &["x", "factor", "least", "greatest"], &[("T", float())]),
        ];
        run(1, nodes, &["y"]).unwrap()[0].as_slice::<f32>().unwrap().to_vec()
    };
    let of_nan = found([1.0, f32::NAN, 2.0, 6.0], [1.0, 7.0]);
    assert!(of_nan[..2].iter().all(|element| element.is_nan()), "{of_nan:?}");
    assert_eq!(of_nan[2..], [1.0, 7.0]);
    let image = [1.0, 3.0, 2.0, 6.0];
    assert_eq!(found(image, [f32::NAN, 7.0]), [0.0, 4.0, 0.0, 7.0]);
    assert_eq!(found(image, [1.0, f32::NAN]), [1.0, 4.0, 1.0, 8.0]);
    assert_eq!(found(image, [f32::NAN, f32::NAN]), [0.0, 4.0, 0.0, 8.0]);
}

/// The parts that TensorFlow takes with the same seeds, in the first two runs.
#[test]
fn random_crop_takes_tensorflows_parts() {
    let session = |size: [i64; 2], seeds: [i64; 2]| {
        let numbers: Vec<i32> = (0..60).collect();
        let image = Tensor::from_elements([5, 6, 2], &numbers).unwrap();
        let attrs = [("T", AttrValue::Type(DataType::Int32)), ("seed", seeds[0].into()), ("seed2", seeds[1].into())];
        let nodes = vec![
            constant("x", image),
            constant("size", Tensor::vector(&size).unwrap()),
            node("y", "RandomCrop", &["x", "size"], &attrs),
        ];
        let versions = Some(VersionDef { producer: 7, min_consumer: 0, bad_consumers: Vec::new() });
        let def = GraphDef { versions, ..graph(nodes) };
        Graph::import(&def, &kernlink::registry().unwrap()).and_then(Session::new)
    };
    let parts = |size: [i64; 2], seeds: [i64; 2]| -> Vec<Vec<i32>> {
        let session = session(size, seeds).unwrap();
        let run = || session.run(&[], &["y"], &[]).unwrap()[0].as_slice::<i32>().unwrap().to_vec();
        (0..2).map(|_| run()).collect()
    };
    let expected: [&[i32]; 2] =
        [&[2, 3, 4, 5, 6, 7, 14, 15, 16, 17, 18, 19], &[6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23]];
    assert_eq!(parts([2, 3], [3, 4]), expected);
    let column = [4, 5, 6, 7, 16, 17, 18, 19, 28, 29, 30, 31, 40, 41, 42, 43, 52, 53, 54, 55];
    assert_eq!(parts([5, 2], [1, 0]), [column, column]);
    assert_eq!(parts([5, 6], [1, 0])[0], (0..60).collect::<Vec<_>>());
    for size in [[6, 2], [2, 7]] {
        let error = session(size, [1, 0]).unwrap().run(&[], &["y"], &[]).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition, "{size:?}");
    }
    let error = session([-1, 2], [1, 0]).and_then(|session| session.run(&[], &["y"], &[])).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
}

#[test]
fn quantize_and_dequantize_takes_its_range_as_attrs() {
    let nodes = |least: f32, greatest: f32, bits: i64, given: bool| {
        let attrs = [
            ("T", float()),
            ("signed_input", AttrValue::Bool(true)),
            ("num_bits", AttrValue::Int(bits)),
            ("range_given", AttrValue::Bool(given)),
            ("input_min", AttrValue::Float(least)),
            ("input_max", AttrValue::Float(greatest)),
        ];
        let input = Tensor::vector(&[-5.0f32, -0.4, 0.5, 1.5, 2.6, 9.0]).unwrap();
        vec![constant("x", input), node("y", "QuantizeAndDequantize", &["x"], &attrs)]
    };
    let found = run(21, nodes(-4.0, 3.0, 3, true), &["y"]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [-4.0, 0.0, 0.0, 2.0, 3.0, 3.0]);
    let found = run(21, nodes(0.0, 0.0, 3, false), &["y"]).unwrap();
    assert_eq!(found[0].as_slice::<f32>().unwrap(), [-6.0, 0.0, 0.0, 0.0, 3.0, 9.0]);
    for bad in [nodes(3.0, -4.0, 3, true), nodes(-4.0, 3.0, 62, true), nodes(-4.0, 3.0, 0, false)] {
        assert_eq!(run(21, bad, &["y"]).unwrap_err().code(), Code::InvalidArgument);
    }
    assert_eq!(run(22, nodes(-4.0, 3.0, 3, true), &["y"]).unwrap_err().code(), Code::Unimplemented);
}

/// They equal the gradients that took their place, which take shapes.
#[test]
fn gradients_of_volumes_take_tensors_for_their_shapes() {
    let volume = |shape: [usize; 5], by: usize| {
        let elements: Vec<f32> = (0..shape.iter().product()).map(|k| (k * by % 13) as f32 - 6.0).collect();
        Tensor::from_elements(shape, &elements).unwrap()
    };
    let (input, filter) = ([2usize, 4, 3, 5, 2], [2usize, 3, 2, 2, 3]);
    let sizes = |shape: [usize; 5]| Tensor::vector(&shape.map(|size| size as i32)).unwrap();
    for (padding, back) in [("SAME", [2, 2, 3, 3, 3]), ("VALID", [2, 2, 1, 2, 3])] {
        let attrs = [
            ("T", float()),
            ("strides", AttrValue::from(vec![1i64, 2, 1, 2, 1])),
            ("padding", AttrValue::from(padding)),
        ];
        let nodes = || {
            vec![
                constant("x", volume(input, 7)),
                constant("w", volume(filter, 5)),
                constant("y", volume(back, 11)),
                constant("x_sizes", sizes(input)),
                constant("w_sizes", sizes(filter)),
                node("old_x", "Conv3DBackpropInput", &["x", "w", "y"], &attrs),
                node("old_w", "Conv3DBackpropFilter", &["x", "w", "y"], &attrs),
                node("new_x", "Conv3DBackpropInputV2", &["x_sizes", "w", "y"], &attrs),
                node("new_w", "Conv3DBackpropFilterV2", &["x", "w_sizes", "y"], &attrs),
            ]
        };
        let found = run(9, nodes(), &["old_x", "new_x", "old_w", "new_w"]).unwrap();
        for pair in found.chunks(2) {
            assert_eq!(pair[0].shape(), pair[1].shape());
            assert_eq!(pair[0].as_slice::<f32>().unwrap(), pair[1].as_slice::<f32>().unwrap(), "{padding}");
            assert!(pair[0].as_slice::<f32>().unwrap().iter().any(|&x| x != 0.0));
        }
        assert_eq!(run(10, nodes(), &["old_x"]).unwrap_err().code(), Code::Unimplemented);
    }
}
