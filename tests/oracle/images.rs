//! What TensorFlow computes in no dtype or not in all, by way of what it does: images with channels first, which oneDNN has
//! for `float` and `bfloat16`, and gradients of dilated depthwise convolutions, in which TensorFlow forgets the dilation.

use kernlink::attr::AttrValue;
use kernlink::dtype::{bf16, f16};
use kernlink::prelude::*;
use kernlink::proto::NodeDef;

use crate::support::{constant, graph, node};

type Attrs = Vec<(&'static str, AttrValue)>;

const DTYPES: [DataType; 5] = [DataType::Float, DataType::Double, DataType::Half, DataType::Bfloat16, DataType::Int32];

/// Small whole numbers, whose sums no dtype rounds.
fn values(dtype: DataType, shape: &[usize], seed: usize) -> Tensor {
    let count: usize = shape.iter().product();
    let each = || (0..count).map(|i| ((i * 7 + seed * 5) % 5) as f32 - 2.0);
    match dtype {
        DataType::Float => Tensor::from_elements(shape, &each().collect::<Vec<f32>>()),
        DataType::Double => Tensor::from_elements(shape, &each().map(f64::from).collect::<Vec<_>>()),
        DataType::Half => Tensor::from_elements(shape, &each().map(f16::from_f32).collect::<Vec<_>>()),
        DataType::Bfloat16 => Tensor::from_elements(shape, &each().map(bf16::from_f32).collect::<Vec<_>>()),
        _ => Tensor::from_elements(shape, &each().map(|value| value as i32).collect::<Vec<_>>()),
    }
    .unwrap()
}

fn sizes(values: &[usize]) -> Tensor {
    Tensor::vector(&values.iter().map(|&value| value as i32).collect::<Vec<_>>()).unwrap()
}

/// The values of some nodes.
fn run(nodes: Vec<NodeDef>, fetches: &[&str]) -> Vec<Tensor> {
    let graph = Graph::import(&graph(nodes), &kernlink::registry().unwrap()).unwrap();
    Session::new(graph).unwrap().run(&[], fetches, &[]).unwrap()
}

fn assert_equal(found: &Tensor, expected: &Tensor, what: &str) {
    assert_eq!(found.shape(), expected.shape(), "{what}");
    assert!(found.bytes().unwrap() == expected.bytes().unwrap(), "{what}");
}

/// Attrs of windows in a format.
fn window(format: &str, named: &[(&'static str, [i64; 2])], dtype: DataType) -> Attrs {
    let spread = |[rows, columns]: [i64; 2]| match format {
        "NHWC" => vec![1, rows, columns, 1],
        _ => vec![1, 1, rows, columns],
    };
    let mut attrs: Attrs = named.iter().map(|&(name, sizes)| (name, spread(sizes).into())).collect();
    attrs.extend([("T", AttrValue::Type(dtype)), ("data_format", format.into()), ("padding", "SAME".into())]);
    attrs
}

/// An op whose images are turned, and turned back, beside the same op with channels last.
fn both_ways(
    op: &str,
    dtype: DataType,
    named: &[(&'static str, [i64; 2])],
    inputs: &[(Tensor, bool)],
    turn_back: bool,
) {
    let turned = [("T", AttrValue::Type(dtype)), ("Tperm", AttrValue::Type(DataType::Int32))];
    let mut nodes = vec![constant("there", sizes(&[0, 3, 1, 2])), constant("back", sizes(&[0, 2, 3, 1]))];
    let (mut last, mut first) = (Vec::new(), Vec::new());
    for (index, (tensor, is_image)) in inputs.iter().enumerate() {
        let name = format!("x{index}");
        // What says an image's sizes says them in the order of the format.
        let is_sizes = tensor.rank() == 1;
        nodes.push(constant(&name, tensor.clone()));
        first.push(if *is_image { format!("{name}_first") } else { name.clone() });
        if *is_image && is_sizes {
            let sizes = tensor.as_slice::<i32>().unwrap();
            let sizes = Tensor::vector(&[sizes[0], sizes[3], sizes[1], sizes[2]]).unwrap();
            nodes.push(constant(&format!("{name}_first"), sizes));
        } else if *is_image {
            nodes.push(node(&format!("{name}_first"), "Transpose", &[&name, "there"], &turned));
        }
        last.push(name);
    }
    let names = |names: &[String]| names.to_vec();
    let refs = |names: &'static [String]| names.iter().map(String::as_str).collect::<Vec<_>>();
    let (last, first) = (names(&last).leak(), names(&first).leak());
    nodes.push(node("last", op, &refs(last), &window("NHWC", named, dtype)));
    nodes.push(node("first", op, &refs(first), &window("NCHW", named, dtype)));
    let output = if turn_back { "turned" } else { "first" };
    if turn_back {
        nodes.push(node("turned", "Transpose", &["first", "back"], &turned));
    }
    let values = run(nodes, &["last", output]);
    assert_equal(&values[1], &values[0], &format!("{op} of {dtype}"));
}

#[test]
fn channels_may_be_first_in_every_dtype() {
    let steps: [(&'static str, [i64; 2]); 2] = [("strides", [2, 1]), ("dilations", [1, 2])];
    let pool: [(&'static str, [i64; 2]); 2] = [("ksize", [3, 2]), ("strides", [2, 1])];
    let images = [2, 7, 6, 4];
    let (pixels, pooled) = ([2, 4, 6, 6], [2, 4, 6, 4]);
    for dtype in DTYPES {
        let x = (values(dtype, &images, 1), true);
        let flow = (values(dtype, &pixels, 3), true);
        // In two groups.
        let filter = (values(dtype, &[3, 2, 2, 6], 2), false);
        both_ways("Conv2D", dtype, &steps, &[x.clone(), filter.clone()], true);
        let input_sizes = (sizes(&images), true);
        both_ways("Conv2DBackpropInput", dtype, &steps, &[input_sizes.clone(), filter, flow.clone()], true);
        let down = (values(dtype, &pooled, 4), true);
        both_ways("MaxPool", dtype, &pool, std::slice::from_ref(&x), true);
        both_ways("MaxPoolGrad", dtype, &pool, &[x.clone(), down.clone(), down.clone()], true);
        if dtype == DataType::Int32 {
            continue;
        }
        let filter_sizes = (sizes(&[3, 2, 2, 6]), false);
        both_ways("Conv2DBackpropFilter", dtype, &steps, &[x.clone(), filter_sizes, flow], false);
        both_ways("AvgPool", dtype, &pool, std::slice::from_ref(&x), true);
        both_ways("AvgPoolGrad", dtype, &pool, &[input_sizes.clone(), down.clone()], true);
        for multiplier in [1, 2] {
            let filter = (values(dtype, &[3, 2, 4, multiplier], 2), false);
            let flow = (values(dtype, &[2, 4, 6, 4 * multiplier], 3), true);
            both_ways("DepthwiseConv2dNative", dtype, &steps, &[x.clone(), filter.clone()], true);
            let op = "DepthwiseConv2dNativeBackpropInput";
            both_ways(op, dtype, &steps, &[input_sizes.clone(), filter, flow.clone()], true);
            let filter_sizes = (sizes(&[3, 2, 4, multiplier]), false);
            let op = "DepthwiseConv2dNativeBackpropFilter";
            both_ways(op, dtype, &steps, &[x.clone(), filter_sizes, flow], false);
        }
    }
}

#[test]
fn gradients_of_dilated_depthwise_convolutions_are_those_of_as_many_groups() {
    let images = [2, 9, 8, 3];
    for (multiplier, strides, dilations) in
        [(1, [1, 1], [2, 2]), (2, [1, 1], [2, 3]), (1, [2, 2], [2, 1]), (2, [3, 2], [2, 3]), (1, [2, 1], [2, 2])]
    {
        for dtype in [DataType::Float, DataType::Double, DataType::Half, DataType::Bfloat16] {
            let (depthwise, groups) = ([3, 2, 3, multiplier], [3, 2, 1, 3 * multiplier]);
            let outputs =
                [2, 9usize.div_ceil(strides[0] as usize), 8usize.div_ceil(strides[1] as usize), 3 * multiplier];
            let filter = values(dtype, &depthwise, 2);
            let attrs = window("NHWC", &[("strides", strides), ("dilations", dilations)], dtype);
            let nodes = vec![
                constant("x", values(dtype, &images, 1)),
                constant("dy", values(dtype, &outputs, 3)),
                constant("filter", filter.clone()),
                constant("grouped_filter", filter.reshaped(groups).unwrap()),
                constant("image_sizes", sizes(&images)),
                constant("filter_sizes", sizes(&depthwise)),
                constant("grouped_sizes", sizes(&groups)),
                node("dx", "DepthwiseConv2dNativeBackpropInput", &["image_sizes", "filter", "dy"], &attrs),
                node("of_input", "Conv2DBackpropInput", &["image_sizes", "grouped_filter", "dy"], &attrs),
                node("dw", "DepthwiseConv2dNativeBackpropFilter", &["x", "filter_sizes", "dy"], &attrs),
                node("of_filter", "Conv2DBackpropFilter", &["x", "grouped_sizes", "dy"], &attrs),
            ];
            let found = run(nodes, &["dx", "of_input", "dw", "of_filter"]);
            let what = format!("{dtype}, {multiplier} filters, strides {strides:?}, dilations {dilations:?}");
            assert_equal(&found[0], &found[1], &what);
            assert_equal(&found[2].clone().reshaped(groups).unwrap(), &found[3], &what);
        }
    }
}
