//! Products and what follows them in one node, on the GPU beside the CPU: by all ways that a product goes, in sizes that are
//! no multiples of anything; and that sessions with a GPU fuse.

use std::collections::BTreeSet;

use kernlink::attr::{AttrMap, AttrValue};
use kernlink::device::{CpuDevice, Device};
use kernlink::dtype::{DataType, f16};
use kernlink::prelude::*;
use kernlink::runtime::{RunMetadata, RunOptions};
use kernlink::testing::graph_from_lines;

use super::networks::{Both, attrs, four, numbers};

/// Attr `fused_ops`, and the arguments for a product of this shape.
fn ending(ops: &[&str], shape: &[usize]) -> (Vec<(&'static str, AttrValue)>, Vec<Tensor>) {
    let channels = &shape[shape.len() - 1..];
    let mut arguments = Vec::new();
    for (place, op) in ops.iter().enumerate() {
        let seed = 10 * place as u64;
        match *op {
            "BiasAdd" | "Mul" => arguments.push(numbers(channels, seed)),
            "FusedBatchNorm" => {
                arguments.extend([1, 2, 3].map(|more| numbers(channels, seed + more)));
                let variances = numbers(channels, seed + 4);
                let variances: Vec<f32> = variances.as_slice::<f32>().unwrap().iter().map(|x| x.abs() + 0.5).collect();
                arguments.push(Tensor::vector(&variances).unwrap());
            }
            "Add" => arguments.push(numbers(shape, seed)),
            _ => {}
        }
    }
    let ops: Vec<String> = ops.iter().map(|op| (*op).to_owned()).collect();
    let attrs = vec![
        ("fused_ops", ops.into()),
        ("num_args", (arguments.len() as i64).into()),
        ("TArgs", AttrValue::ListType(vec![DataType::Float; arguments.len()])),
        ("epsilon", 0.01f32.into()),
        ("leakyrelu_alpha", 0.3f32.into()),
    ];
    (attrs, arguments)
}

/// With and without each kind of step, of summand and of activation; the last ones need several dispatches.
const ENDINGS: [&[&str]; 13] = [
    &["BiasAdd"],
    &["BiasAdd", "Relu"],
    &["Mul", "Relu6"],
    &["BiasAdd", "Add", "Elu"],
    &["BiasAdd", "LeakyRelu"],
    &["Mul", "BiasAdd", "Sigmoid"],
    &["BiasAdd", "Tanh"],
    &["BiasAdd", "GeluExact"],
    &["BiasAdd", "GeluApproximate"],
    &["BiasAdd", "_MklSwish"],
    &["BiasAdd", "_FusedHardSwish"],
    &["Mul", "BiasAdd", "Mul", "BiasAdd", "Mul", "BiasAdd", "Add"],
    &["BiasAdd", "Mul", "BiasAdd", "Mul", "BiasAdd", "Add", "Relu"],
];

/// Likewise for convolutions, which may normalise.
const NORMALISED: [&[&str]; 4] = [
    &["FusedBatchNorm"],
    &["FusedBatchNorm", "Add", "Relu"],
    &["BiasAdd", "FusedBatchNorm", "Relu"],
    &["Mul", "FusedBatchNorm", "BiasAdd", "Add", "_MklSwish"],
];

fn with(mut all: Vec<(&'static str, AttrValue)>, more: &[(&'static str, AttrValue)]) -> AttrMap {
    all.extend_from_slice(more);
    attrs(&all)
}

/// With channels first.
fn turned(images: &Tensor) -> Tensor {
    let [batch, rows, columns, channels] = images.shape()[..] else {
        panic!("{} is no shape of images", images.shape())
    };
    let values = images.as_slice::<f32>().unwrap();
    let pixels = rows * columns;
    let at = |i: usize| values[(i / pixels / channels * pixels + i % pixels) * channels + i / pixels % channels];
    let turned: Vec<f32> = (0..values.len()).map(at).collect();
    Tensor::from_elements([batch, channels, rows, columns], &turned).unwrap()
}

#[test]
fn fused_ops_agree_on_both_devices() {
    let both = Both::open();
    convolutions(&both);
    depthwise_convolutions(&both);
    products(&both);
    batches_of_products(&both);
    normalisations(&both);
    attention(&both);
}

fn convolutions(both: &Both) {
    // Images, depth, output's depth, window, stride, groups: no images, single pixels, one channel, sums in parts.
    type Case = (&'static [usize], usize, usize, usize, i64, usize);
    let cases: [Case; 10] = [
        (&[2, 9, 7], 8, 20, 3, 1, 1),
        (&[1, 10, 11], 3, 7, 3, 2, 1),
        (&[2, 6, 5], 12, 36, 1, 1, 1),
        (&[3, 1, 1], 5, 3, 1, 1, 1),
        (&[1, 1, 1], 4, 4, 3, 1, 1),
        (&[1, 5, 5], 1, 1, 2, 1, 1),
        (&[0, 5, 5], 3, 4, 3, 1, 1),
        (&[1, 4, 4], 512, 8, 3, 1, 1),
        (&[2, 6, 6], 8, 24, 3, 1, 2),
        (&[1, 6, 6], 6, 9, 3, 1, 3),
    ];
    for (place, (images, depth, out_depth, window, stride, groups)) in cases.into_iter().enumerate() {
        let x = numbers(&[images, &[depth]].concat(), 1);
        let filter = numbers(&[window, window, depth / groups, out_depth], 2);
        let out = |size: usize| size.div_ceil(stride as usize);
        let shape = [images[0], out(images[1]), out(images[2]), out_depth];
        let all = ENDINGS.iter().chain(&NORMALISED).enumerate();
        // All endings where sizes are usual, and some of them elsewhere.
        for (_, ops) in all.filter(|(ending, _)| place < 2 || (ending + place) % 4 == 0) {
            let (ending, mut arguments) = ending(ops, &shape);
            let mut attrs = with(ending, &[("strides", four([stride; 2])), ("padding", "SAME".into())]);
            let inputs = [vec![x.clone(), filter.clone()], arguments.clone()].concat();
            both.compare("_FusedConv2D", &attrs, &inputs);
            if place < 2 {
                both.compare_halves("_FusedConv2D", &attrs, &inputs);
                attrs.insert("data_format", "NCHW");
                attrs.insert("strides", vec![1, 1, stride, stride]);
                if ops.contains(&"Add") {
                    let summand = arguments.pop().unwrap();
                    arguments.push(turned(&summand));
                }
                both.compare("_FusedConv2D", &attrs, &[vec![turned(&x), filter.clone()], arguments].concat());
            }
        }
    }
}

fn depthwise_convolutions(both: &Both) {
    let cases: [(&[usize], usize, usize, i64); 5] = [
        (&[2, 9, 7], 8, 1, 1),
        (&[1, 10, 11], 5, 3, 2),
        (&[2, 1, 1], 3, 1, 1),
        (&[0, 4, 4], 4, 1, 1),
        (&[1, 1, 6], 4, 2, 1),
    ];
    for (place, (images, depth, multiplier, stride)) in cases.into_iter().enumerate() {
        let (x, filter) = (numbers(&[images, &[depth]].concat(), 1), numbers(&[3, 3, depth, multiplier], 2));
        let out = |size: usize| size.div_ceil(stride as usize);
        let shape = [images[0], out(images[1]), out(images[2]), depth * multiplier];
        for (_, ops) in
            ENDINGS.iter().chain(&NORMALISED).enumerate().filter(|(ending, _)| place < 2 || (ending + place) % 4 == 0)
        {
            let (ending, arguments) = ending(ops, &shape);
            let mut attrs = with(ending, &[("strides", four([stride; 2])), ("padding", "SAME".into())]);
            let inputs = [vec![x.clone(), filter.clone()], arguments].concat();
            both.compare("_FusedDepthwiseConv2dNative", &attrs, &inputs);
            if place == 0 {
                both.compare_halves("_FusedDepthwiseConv2dNative", &attrs, &inputs);
                attrs.insert("padding", "EXPLICIT");
                attrs.insert("explicit_paddings", vec![0i64, 0, 0, 2, 2, 0, 0, 0]);
                both.compare("_FusedPaddedDepthwiseConv2dNative", &attrs, &inputs);
            }
        }
    }
}

fn products(both: &Both) {
    // By tiles, with a vector, in parts, and of nothing.
    let sizes = [
        [5, 7, 9],
        [64, 30, 68],
        [1, 300, 70],
        [70, 31, 1],
        [1, 3, 1],
        [1, 9000, 8],
        [6, 4000, 12],
        [3, 0, 5],
        [0, 3, 5],
    ];
    for (place, [rows, inner, columns]) in sizes.into_iter().enumerate() {
        let wanted = |(ending, ops): &(usize, &&[&str])| {
            // A factor leaves of nothing what it was.
            (place < 2 || (ending + place) % 3 == 0) && (inner > 0 || ops[0] == "BiasAdd")
        };
        for (number, ops) in ENDINGS.iter().enumerate().filter(wanted) {
            let turned = [number % 2 == 1, number / 2 % 2 == 1];
            let (ending, arguments) = ending(ops, &[rows, columns]);
            let attrs = with(ending, &[("transpose_a", turned[0].into()), ("transpose_b", turned[1].into())]);
            let a = numbers(&if turned[0] { [inner, rows] } else { [rows, inner] }, 1);
            let b = numbers(&if turned[1] { [columns, inner] } else { [inner, columns] }, 2);
            let inputs = [vec![a, b], arguments].concat();
            both.compare("_FusedMatMul", &attrs, &inputs);
            if place == 0 {
                both.compare_halves("_FusedMatMul", &attrs, &inputs);
            }
        }
    }
}

fn batches_of_products(both: &Both) {
    let shapes: [[&[usize]; 3]; 4] = [
        [&[3, 5, 7], &[3, 7, 9], &[3, 5, 9]],
        [&[2, 1, 4, 8], &[3, 8, 12], &[2, 3, 4, 12]],
        [&[2, 1, 300], &[2, 300, 6], &[2, 1, 6]],
        // Four dimensions that do not merge.
        [&[2, 1, 2, 1, 3, 5], &[1, 2, 1, 2, 5, 4], &[2, 2, 2, 2, 3, 4]],
    ];
    for [x, y, shape] in shapes {
        for ops in ENDINGS.iter().step_by(2) {
            let (ending, arguments) = ending(ops, shape);
            let inputs = [vec![numbers(x, 1), numbers(y, 2)], arguments].concat();
            both.compare("_FusedBatchMatMulV2", &with(ending, &[]), &inputs);
        }
    }
}

fn normalisations(both: &Both) {
    for (shape, format) in [([2, 5, 7, 8], "NHWC"), ([2, 4, 5, 3], "NCHW"), ([1, 1, 1, 4], "NHWC")] {
        let channels = [if format == "NHWC" { shape[3] } else { shape[1] }];
        let variances: Vec<f32> =
            numbers(&channels, 5).as_slice::<f32>().unwrap().iter().map(|x| x.abs() + 0.5).collect();
        let inputs = [
            numbers(&shape, 1),
            numbers(&channels, 2),
            numbers(&channels, 3),
            numbers(&channels, 4),
            Tensor::vector(&variances).unwrap(),
        ];
        for (side, mode, training) in [
            (false, "Relu", false),
            (true, "Relu", false),
            (true, "Identity", false),
            (true, "Relu", true),
            (false, "Identity", true),
        ] {
            let attrs = attrs(&[
                ("U", DataType::Float.into()),
                ("num_side_inputs", i64::from(side).into()),
                ("activation_mode", mode.into()),
                ("is_training", (training && shape[1] > 1).into()),
                ("data_format", format.into()),
            ]);
            let side = side.then(|| numbers(&shape, 6));
            let inputs: Vec<Tensor> = inputs.iter().cloned().chain(side).collect();
            both.compare("_FusedBatchNormEx", &attrs, &inputs);
        }
    }
    for shape in [&[3, 5, 40][..], &[7], &[2, 300], &[4, 1], &[0, 6], &[2, 0]] {
        let length = &shape[shape.len() - 1..];
        let inputs = [numbers(shape, 1), numbers(length, 2), numbers(length, 3)];
        let attrs = attrs(&[("epsilon", 0.01f32.into())]);
        both.compare("_LayerNorm", &attrs, &inputs);
        both.compare_halves("_LayerNorm", &attrs, &inputs);
    }
}

fn attention(both: &Both) {
    let cases: [(&[usize], Option<&[usize]>); 10] = [
        (&[2, 3, 5, 40], None),
        (&[2, 3, 5, 40], Some(&[2, 1, 1, 40])),
        (&[2, 3, 5, 7], Some(&[5, 7])),
        (&[2, 3, 5, 7], Some(&[2, 3, 5, 7])),
        (&[2, 3, 5, 7], Some(&[2, 3, 5, 1])),
        (&[2, 3, 5, 300], Some(&[])),
        (&[2, 1], Some(&[3, 1, 4])),
        (&[1, 5], Some(&[3, 2, 5])),
        (&[6], None),
        (&[0, 6], Some(&[6])),
    ];
    for (logits, mask) in cases {
        let attrs = attrs(&[("num_masks", i64::from(mask.is_some()).into()), ("scale", 0.125f32.into())]);
        let inputs: Vec<Tensor> =
            [Some(logits), mask].into_iter().flatten().zip(1..).map(|(shape, seed)| numbers(shape, seed)).collect();
        both.compare("_ScaledMaskedSoftmax", &attrs, &inputs);
    }
}

/// A convolution, a depthwise one and a product, each with what follows it, and what stands by itself.
const NETWORK: &str = "x = Placeholder() dtype=float shape=[?,9,7,3]
    w = Const() dtype=float value=FILTER
    b = Const() dtype=float value=[0.5, -0.25, 0.125, 1]
    c = Conv2D(x, w) strides=[1, 2, 2, 1] padding=SAME
    cb = BiasAdd(c, b)
    cr = Relu(cb)
    d = Const() dtype=float value=DEPTHWISE
    dc = DepthwiseConv2dNative(cr, d) strides=[1, 1, 1, 1] padding=SAME
    s = Const() dtype=float value=[0.5, 2, -1, 1]
    m = Const() dtype=float value=[0.25, -1, 0, 0.5]
    v = Const() dtype=float value=[1, 3, 0.5, 2]
    dn = FusedBatchNormV3(dc, s, b, m, v) is_training=false
    dr = Relu6(dn)
    axes = Const() dtype=int32 value=[1, 2]
    p = Mean(dr, axes)
    k = Const() dtype=float value=[[1, -2], [0.5, 3], [2, 1], [-1, 1]]
    kb = Const() dtype=float value=[0.25, -0.5]
    f = MatMul(p, k)
    fb = BiasAdd(f, kb)
    y = Tanh(fb)";

#[test]
fn a_network_is_fused_and_gives_what_it_gave() {
    let list = |shape: &[usize]| {
        let values = numbers(shape, 7).as_slice::<f32>().unwrap().iter().map(|x| x.to_string()).collect::<Vec<_>>();
        shape
            .iter()
            .rev()
            .fold(values, |values, &size| values.chunks(size).map(|row| format!("[{}]", row.join(", "))).collect())
    };
    let text: String = NETWORK.lines().map(|line| format!("{}\n", line.trim())).collect();
    let text = text.replace("FILTER", &list(&[3, 3, 3, 4])[0]).replace("DEPTHWISE", &list(&[3, 3, 4, 1])[0]);
    let (graph, _) = graph_from_lines(&text, &kernlink::registry().unwrap()).unwrap();
    let opened = super::open();
    let run = |options: &SessionOptions, batch: usize| {
        let cpu: std::sync::Arc<dyn Device> = std::sync::Arc::new(CpuDevice::on_caller());
        let session = Session::on_devices(graph.clone(), [opened.gpu.clone() as _, cpu], options);
        let mut metadata = RunMetadata::default();
        let feeds = [("x", numbers(&[batch, 9, 7, 3], 3))];
        let traced = RunOptions::new().trace(true);
        let found = session.run_with_metadata(&feeds, &["y"], &[], &traced, &mut metadata).unwrap();
        let on_gpu = metadata.step_stats.iter().filter(|stats| stats.device == "/device:GPU:0");
        let ops: BTreeSet<String> = on_gpu.map(|stats| stats.op.to_string()).collect();
        (found[0].clone(), ops, super::count(&metadata, "dispatches"))
    };
    for batch in [1, 3, 0] {
        let (fused, ops, fused_dispatches) = run(&SessionOptions::new(), batch);
        for op in ["_FusedConv2D", "_FusedDepthwiseConv2dNative", "_FusedMatMul"] {
            assert!(ops.contains(op), "{op} is not among {ops:?}");
        }
        for op in ["Conv2D", "BiasAdd", "Relu", "Relu6", "FusedBatchNormV3", "MatMul", "Tanh"] {
            assert!(!ops.contains(op), "{op} is among {ops:?}");
        }
        let (plain, ops, dispatches) = run(&SessionOptions::new().without_pass("rewrite"), batch);
        assert!(ops.contains("Conv2D") && ops.contains("Tanh"), "{ops:?}");
        // What follows is no dispatch of its own.
        assert_eq!(fused_dispatches + if batch > 0 { 6 } else { 0 }, dispatches);
        assert_eq!(fused.shape(), plain.shape());
        assert_eq!(fused.num_elements(), 2 * batch);
        for (fused, plain) in fused.as_slice::<f32>().unwrap().iter().zip(plain.as_slice::<f32>().unwrap()) {
            assert!((fused - plain).abs() <= 1e-6, "{fused}, not {plain}");
        }
    }
}

#[test]
fn what_does_not_fit_has_the_codes_of_the_cpu() {
    let both = Both::open();
    let conv = |ops: &[&str], arguments: &[&[usize]], more: &[(&'static str, AttrValue)]| {
        let ops: Vec<String> = ops.iter().map(|op| (*op).to_owned()).collect();
        let own = vec![
            ("fused_ops", ops.into()),
            ("num_args", (arguments.len() as i64).into()),
            ("TArgs", AttrValue::ListType(vec![DataType::Float; arguments.len()])),
            ("strides", four([1; 2])),
            ("padding", "SAME".into()),
        ];
        let arguments = arguments.iter().map(|shape| numbers(shape, 5));
        let inputs = [numbers(&[1, 4, 4, 2], 1), numbers(&[1, 1, 2, 3], 2)].into_iter().chain(arguments).collect();
        (with(own, more), inputs)
    };
    let cases: [(AttrMap, Vec<Tensor>); 7] = [
        conv(&[], &[&[3]], &[]),
        conv(&["Relu"], &[&[3]], &[]),
        conv(&["BiasAdd", "Exp"], &[&[3]], &[]),
        conv(&["BiasAdd"], &[&[2]], &[]),
        conv(&["BiasAdd", "Add"], &[&[3], &[1, 4, 4, 1]], &[]),
        conv(&["BiasAdd", "Add"], &[&[3]], &[]),
        conv(&["BiasAdd"], &[&[3]], &[("filter_format", "OIHW".into())]),
    ];
    for (attrs, inputs) in cases {
        both.refuse("_FusedConv2D", &attrs, &inputs);
    }
    let halves = numbers(&[3], 5).as_slice::<f32>().unwrap().iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>();
    let (mut attrs, mut inputs) = conv(&["BiasAdd"], &[&[3]], &[]);
    inputs[2] = Tensor::vector(&halves).unwrap();
    attrs.insert("TArgs", AttrValue::ListType(vec![DataType::Half]));
    both.refuse("_FusedConv2D", &attrs, &inputs);
}
