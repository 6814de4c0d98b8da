//! Rewrites that fuse: what they make of a graph, what keeps them from it, and that the result is that of the graph as it
//! was, to the bit where they say so.

use std::sync::Arc;

use kernlink::device::{CpuDevice, Device};
use kernlink::optimize::Optimizer;
use kernlink::prelude::*;
use kernlink::testing::{graph_from_lines, rewritten};

use super::rewrite_examples::EXAMPLES;
use super::rewrites::{leaves, makes};

const IMAGE: &str = "x = Placeholder() dtype=float";
const FILTER: &str = "w = Const() dtype=float value=[[[[1.0, 2.0], [3.0, 4.0]]]]";
const CONV: &str = "conv = Conv2D(x, w) strides=[1, 1, 1, 1] padding=SAME";
const BIAS: &str = "b = Const() dtype=float value=[1.0, 2.0]";

/// The node of a fused convolution among the lines of a graph.
#[track_caller]
fn fused(graph: &str) -> &str {
    let fused: Vec<&str> = graph.lines().filter(|line| line.contains("= _Fused")).collect();
    assert_eq!(fused.len(), 1, "{graph}");
    fused[0]
}

#[test]
fn a_product_takes_what_follows_it() {
    let graph = |rest: &str| format!("{IMAGE}\n{FILTER}\n{BIAS}\n{CONV}\n{rest}");
    for (rewrite, rest, op) in [
        ("fuse-bias", "y = BiasAdd(conv, b)", "BiasAdd"),
        ("fuse-bias-vector", "y = AddV2(conv, b)", "BiasAdd"),
        ("fuse-bias-vector", "y = AddV2(b, conv)", "BiasAdd"),
        ("fuse-scale", "y = Mul(conv, b)", "Mul"),
    ] {
        let after = rewritten(rewrite, &graph(rest));
        let node = fused(&after);
        assert!(node.contains("_FusedConv2D(x, w, [") && node.contains(&format!("fused_ops=[{op}]")), "{after}");
        assert!(
            !after.contains("= Conv2D")
                && !after.contains("y = Add")
                && !after.contains("y = Mul")
                && !after.contains("y = Bias"),
            "{after}"
        );
    }
    for rest in [
        // Another order of dimensions.
        "y = BiasAdd(conv, b) data_format=NCHW",
        // Others need the product.
        "y = BiasAdd(conv, b)\nz = Neg(conv)",
        "y = BiasAdd(conv, b)\nfetch y, conv",
        "y = BiasAdd(conv, b, ^conv)",
    ] {
        leaves("fuse-bias", &graph(rest));
    }
    for constant in ["1", "[[1], [2]]", "[[[[[1, 2]]]]]"] {
        let text = format!(
            "{IMAGE}\n{FILTER}\nb = Const() dtype=float value={constant}\n{CONV}\ny = AddV2(conv, b)\nz = Neg(y)"
        );
        assert!(!rewritten("fuse-bias-vector", &text).contains("_Fused"), "{constant}");
    }
    let halves = graph("y = BiasAdd(conv, b)").replace("dtype=float", "dtype=half");
    assert!(!rewritten("fuse-bias", &halves).contains("_Fused"));
}

const NORM: &str = "s = Const() dtype=float value=[0.5, 2]
    m = Const() dtype=float value=[0.25, -1]
    v = Const() dtype=float value=[1, 3]";

#[test]
fn a_convolution_takes_its_normalisation() {
    let graph = |attrs: &str| {
        format!(
            "{IMAGE}\n{FILTER}\n{BIAS}\n{NORM}\n{CONV}\ny = FusedBatchNormV3(conv, s, b, m, v) is_training={attrs}\nz = Neg(y)"
        )
    };
    let after = rewritten("fuse-batch-norm", &graph("false epsilon=0.5"));
    assert!(fused(&after).contains("fused_ops=[FusedBatchNorm]") && fused(&after).contains("epsilon=0.5"), "{after}");
    for attrs in ["true", "false data_format=NCHW"] {
        assert!(!rewritten("fuse-batch-norm", &graph(attrs)).contains("_Fused"), "{attrs}");
    }
    let mean = graph("false").replace("z = Neg(y)", "z = AddV2(y, y:1)");
    assert!(!rewritten("fuse-batch-norm", &mean).contains("_Fused"));
}

#[test]
fn activations_are_written_with_few_nodes() {
    let x = "x = Placeholder() dtype=float";
    makes(
        "fuse-swish",
        &format!("{x}\ns = Sigmoid(x)\ny = Mul(s, x)\nz = Neg(y)"),
        &format!("{x}\ny = _Swish(x)\nz = Neg(y)"),
    );
    leaves("fuse-swish", &format!("{x}\nw = Placeholder() dtype=float\ns = Sigmoid(w)\ny = Mul(s, x)\nz = Neg(y)"));
    leaves("fuse-swish", "x = Placeholder() dtype=half\ns = Sigmoid(x)\ny = Mul(s, x)\nz = Neg(y)");
    let hard = |three: f64| {
        format!(
            "{x}\nthree = Const() dtype=float value={three}\nsix = Const() dtype=float value=6\na = AddV2(x, three)
             r = Relu6(a)\nd = RealDiv(r, six)\ny = Mul(x, d)\nz = Neg(y)"
        )
    };
    assert!(rewritten("fuse-hard-swish", &hard(3.0)).contains("y = _HardSwish(x)"));
    assert!(!rewritten("fuse-hard-swish", &hard(2.5)).contains("_HardSwish"));
    for (rewrite, graph, wrong) in [("fuse-gelu", GELU, "Erf("), ("fuse-gelu-approximate", GELU_APPROXIMATE, "Tan(")] {
        let right = if rewrite == "fuse-gelu" { "Erfc(" } else { "Tanh(" };
        assert!(rewritten(rewrite, graph).contains("= _Gelu"), "{}", rewritten(rewrite, graph));
        assert!(!rewritten(rewrite, &graph.replace(right, wrong)).contains("= _Gelu"));
    }
}

const GELU: &str = "x = Placeholder() dtype=float
    half = Const() dtype=float value=0.5
    root = Const() dtype=float value=0.70710677
    h = Mul(half, x)
    n = Neg(x)
    r = Mul(n, root)
    e = Erfc(r)
    y = Mul(h, e)
    z = Neg(y)";

const GELU_APPROXIMATE: &str = "x = Placeholder() dtype=float
    half = Const() dtype=float value=0.5
    one = Const() dtype=float value=1
    slope = Const() dtype=float value=0.7978846
    cubic = Const() dtype=float value=0.044715
    three = Const() dtype=float value=3
    h = Mul(half, x)
    p = Pow(x, three)
    c = Mul(cubic, p)
    a = AddV2(x, c)
    s = Mul(slope, a)
    t = Tanh(s)
    o = AddV2(one, t)
    y = Mul(h, o)
    z = Neg(y)";

/// As Keras writes it, of what has a last dimension of 4 whatever is fed.
const LAYER_NORM: &str = "w = Placeholder() dtype=float shape=[?,4]
    k = Const() dtype=float value=[1, -2, 0.5, 3]
    x = BiasAdd(w, k)
    axes = Const() dtype=int32 value=[-1]
    eps = Const() dtype=float value=0.001
    gamma = Const() dtype=float value=[[1, 2, 0.5, -1]]
    beta = Const() dtype=float value=[[0, 1, -1, 0.25]]
    mean = Mean(x, axes) keep_dims=true
    d = SquaredDifference(x, mean)
    v = Mean(d, axes) keep_dims=true
    a = AddV2(v, eps)
    r = Rsqrt(a)
    i = Mul(r, gamma)
    xi = Mul(x, i)
    n = Neg(mean)
    ni = Mul(n, i)
    o = AddV2(ni, beta)
    y = AddV2(xi, o)
    z = Neg(y)";

#[test]
fn layer_normalisation_is_one_node() {
    let after = rewritten("fuse-layer-norm", LAYER_NORM);
    assert!(after.contains("= _LayerNorm(x, ") && !after.contains("Rsqrt"), "{after}");
    let moments = LAYER_NORM
        .replace("n = Neg(mean)\n", "")
        .replace("ni = Mul(n, i)", "ni = Mul(mean, i)")
        .replace("o = AddV2(ni, beta)", "o = Sub(beta, ni)");
    let after = rewritten("fuse-moments-norm", &moments);
    assert!(after.contains("= _LayerNorm(x, ") && !after.contains("Rsqrt"), "{after}");
    for (from, to) in [
        ("value=[-1]", "value=[0]"),
        ("v = Mean(d, axes) keep_dims=true", "v = Mean(d, axes) keep_dims=true\n w2 = Neg(d)"),
        ("SquaredDifference(x, mean)", "SquaredDifference(mean, mean)"),
        ("value=[[1, 2, 0.5, -1]]", "value=[[2]]"),
    ] {
        let graph = LAYER_NORM.replace(from, to);
        let expected = from.starts_with("v =");
        assert_eq!(rewritten("fuse-layer-norm", &graph).contains("= _LayerNorm"), expected, "{to}");
    }
}

/// Runs a graph with and without rewrites. The results are those of the first and then of the second.
#[track_caller]
fn both(text: &str, feed: &Tensor) -> [Vec<f32>; 2] {
    let text: String = text.lines().map(|line| format!("{}\n", line.trim())).collect();
    let (graph, _) = graph_from_lines(&text, &kernlink::registry().unwrap()).unwrap();
    [SessionOptions::new(), SessionOptions::new().without_pass("rewrite")].map(|options| {
        let session = Session::with_options(graph.clone(), &options).unwrap();
        let name = if text.starts_with('w') { "w" } else { "x" };
        let values = session.run(&[(name, feed.clone())], &["z"], &[]).unwrap();
        values[0].as_slice::<f32>().unwrap().to_vec()
    })
}

fn numbers(shape: &[usize]) -> Tensor {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 37 + 11) % 181) as f32 / 20.0 - 4.3).collect();
    Tensor::vector(&values).unwrap().reshaped(shape).unwrap()
}

/// A constant in text, of numbers from -2 to 2.
fn constant(name: &str, shape: &[usize]) -> String {
    fn nested(shape: &[usize], next: &mut impl FnMut() -> f32) -> String {
        match shape {
            [] => next().to_string(),
            [size, rest @ ..] => {
                let parts: Vec<String> = (0..*size).map(|_| nested(rest, next)).collect();
                format!("[{}]", parts.join(", "))
            }
        }
    }
    let mut i = 3;
    let mut next = || {
        i = (i * 29 + 7) % 97;
        i as f32 / 24.0 - 2.0
    };
    format!("{name} = Const() dtype=float value={}", nested(shape, &mut next))
}

const ACTIVATIONS: [(&str, &str); 9] = [
    ("none", "z = Neg(a)"),
    ("Relu", "r = Relu(a)\nz = Neg(r)"),
    ("Relu6", "r = Relu6(a)\nz = Neg(r)"),
    ("Elu", "r = Elu(a)\nz = Neg(r)"),
    ("LeakyRelu", "r = LeakyRelu(a) alpha=0.3\nz = Neg(r)"),
    ("Sigmoid", "r = Sigmoid(a)\nz = Neg(r)"),
    ("Tanh", "r = Tanh(a)\nz = Neg(r)"),
    ("_MklSwish", "g = Sigmoid(a)\nr = Mul(a, g)\nz = Neg(r)"),
    (
        "GeluExact",
        "half = Const() dtype=float value=0.5\nroot = Const() dtype=float value=0.70710677\nh = Mul(half, a)\nn = Neg(a)
         q = Mul(n, root)\ne = Erfc(q)\nr = Mul(h, e)\nz = Neg(r)",
    ),
];

#[test]
fn fused_products_give_the_same_to_the_bit() {
    let steps = |channels: usize| {
        let vectors: String = ["b", "s", "m"].iter().map(|name| constant(name, &[channels]) + "\n").collect();
        let variance = format!("v = Const() dtype=float value=[{}]\n", vec!["1.5"; channels].join(", "));
        [
            ("bias", "a = BiasAdd(p, b)"),
            ("sum", "a = AddV2(p, b)"),
            ("scale", "a1 = Mul(p, s)\na = AddV2(a1, b)"),
            ("three", "a1 = BiasAdd(p, b)\na2 = Mul(a1, s)\na = AddV2(a2, m)"),
            ("norm", "a = FusedBatchNormV3(p, s, b, m, v) is_training=false"),
            ("norm of bias", "a1 = BiasAdd(p, b)\na = FusedBatchNormV3(a1, s, b, m, v) is_training=false"),
        ]
        .map(|(name, text)| (name, format!("{vectors}{variance}{text}")))
    };
    let products = [
        (
            "3x3",
            vec![2, 7, 9, 5],
            constant("w", &[3, 3, 5, 21]),
            "p = Conv2D(x, w) strides=[1, 1, 1, 1] padding=SAME",
            21,
        ),
        (
            "1x1",
            vec![1, 5, 6, 16],
            constant("w", &[1, 1, 16, 33]),
            "p = Conv2D(x, w) strides=[1, 2, 2, 1] padding=VALID",
            33,
        ),
        (
            "depthwise",
            vec![2, 9, 8, 18],
            constant("w", &[3, 3, 18, 1]),
            "p = DepthwiseConv2dNative(x, w) strides=[1, 1, 1, 1] padding=SAME",
            18,
        ),
        ("product", vec![7, 30], constant("w", &[30, 19]), "p = MatMul(x, w)", 19),
        ("row", vec![1, 30], constant("w", &[19, 30]), "p = MatMul(x, w) transpose_b=true", 19),
        ("stack", vec![3, 5, 30], constant("w", &[30, 19]), "p = BatchMatMulV2(x, w)", 19),
        ("stacks", vec![2, 1, 4, 6], constant("w", &[3, 7, 6]), "p = BatchMatMulV2(x, w) adj_y=true", 7),
    ];
    for (product, shape, filter, node, channels) in products {
        for (step, text) in steps(channels) {
            if node.contains("MatMul") && step.starts_with("norm") {
                continue;
            }
            for (activation, end) in ACTIVATIONS {
                let graph = format!("x = Placeholder() dtype=float\n{filter}\n{node}\n{text}\n{end}");
                let [with, without] = both(&graph, &numbers(&shape));
                let same = with.iter().map(|x| x.to_bits()).eq(without.iter().map(|x| x.to_bits()));
                assert!(same, "{product} {step} {activation}: {:?} {:?}", &with[..4], &without[..4]);
            }
        }
    }
}

/// What fails goes on to fail.
#[test]
fn fused_nodes_that_no_kernel_runs_take_in_nothing() {
    let w = constant("w", &[1, 1, 2, 2]);
    let rest = "m = Const() dtype=float value=[1, 2]\nv = Const() dtype=float value=[3, 4]";
    for (rewrite, node, next) in [
        ("fuse-activation", "_FusedConv2D(x, w, [m], []) num_args=1 fused_ops=[]", "Relu(p)"),
        (
            "fuse-second-batch-norm",
            "_FusedConv2D(x, w, [m], []) num_args=1 fused_ops=[]",
            "FusedBatchNormV3(p, m, m, m, v) is_training=false",
        ),
        ("fuse-activation", "_FusedConv2D(x, w, [m], [h]) num_args=1 num_host_args=1 fused_ops=[BiasAdd]", "Relu(p)"),
        ("fuse-activation", "_FusedDepthwiseConv2dNative(x, w, []) num_args=0 fused_ops=[]", "Relu(p)"),
    ] {
        let graph = format!(
            "x = Placeholder() dtype=float\nh = Placeholder() dtype=float\n{w}\n{rest}
             p = {node} strides=[1, 1, 1, 1] padding=SAME\ny = {next}\nz = Neg(y)\nfetch z"
        );
        let after = rewritten(rewrite, &graph);
        let next = next.split_inclusive(')').next().unwrap();
        assert!(after.contains(&format!("y = {next}")), "{after}");
    }
}

/// Two convolutions of what a third one gives, whose sum goes through an activation, as in a residual block; `strides` are
/// those of the second.
fn residual(strides: &str) -> String {
    let (first, second, third) =
        (constant("w1", &[3, 3, 4, 6]), constant("w2", &[3, 3, 6, 6]), constant("w3", &[1, 1, 6, 6]));
    format!(
        "x = Placeholder() dtype=float\n{first}\n{second}\n{third}\n{bias}
         c1 = Conv2D(x, w1) strides=[1, 2, 2, 1] padding=SAME\na1 = BiasAdd(c1, b)\nr1 = Relu(a1)
         c2 = Conv2D(r1, w2) strides={strides} padding=SAME\na2 = BiasAdd(c2, b)\nr2 = Relu(a2)
         c3 = Conv2D(r2, w3) strides=[1, 1, 1, 1] padding=VALID\na3 = BiasAdd(c3, b)
         s = AddV2(r1, a3)\nr = Relu(s)\nz = Neg(r)",
        bias = constant("b", &[6]),
    )
}

#[test]
fn residuals_of_one_shape_are_added_in_the_convolution() {
    let graph = residual("[1, 1, 1, 1]");
    let registry = kernlink::registry().unwrap();
    let applied = |text: &str| {
        let (mut graph, mut ends) = graph_from_lines(text, &registry).unwrap();
        ends.run_on(&[Arc::new(CpuDevice::new(1).unwrap()) as Arc<dyn Device>]);
        let reports = Optimizer::default().optimize(&mut graph, &mut ends).unwrap();
        reports.iter().flat_map(|report| &report.parts).any(|(name, _)| *name == "fuse-residual")
    };
    let lines = |text: String| text.lines().map(|line| format!("{}\n", line.trim())).collect::<String>();
    assert!(applied(&lines(graph.clone())));
    // One position is added to all where the image is that small: it is no error, and nothing is fused.
    let broadcast = residual("[1, 4, 4, 1]");
    assert!(!applied(&lines(broadcast.clone())));
    for (graph, shape) in [(&graph, [2, 9, 7, 4]), (&graph, [0, 5, 5, 4]), (&broadcast, [2, 8, 8, 4])] {
        let [with, without] = both(graph, &numbers(&shape));
        assert!(with.iter().map(|x| x.to_bits()).eq(without.iter().map(|x| x.to_bits())), "{shape:?}");
        assert_eq!(with.is_empty(), shape[0] == 0);
    }
}

#[test]
fn products_in_another_shape_are_fused() {
    let weights = constant("w", &[6, 4]);
    let bias = constant("b", &[4]);
    let graph = format!(
        "x = Placeholder() dtype=float\n{weights}\n{bias}\nto = Const() dtype=int32 value=[-1, 3, 4]
         p = MatMul(x, w)\nq = Reshape(p, to)\na = BiasAdd(q, b)\nr = Relu(a)\nz = Neg(r)"
    );
    let after = rewritten("fuse-reshaped-bias", &graph);
    assert!(fused(&after).contains("fused_ops=[BiasAdd]") && !after.contains("= BiasAdd"), "{after}");
    // There may be 4 in all.
    let other = graph.replace("[-1, 3, 4]", "[2, 3, -1]");
    assert!(!rewritten("fuse-reshaped-bias", &other).contains("_Fused"));
    let [with, without] = both(&graph, &numbers(&[6, 6]));
    assert_eq!(with, without);
}

#[test]
fn convolutions_pad_for_themselves_to_the_bit() {
    for (strides, paddings, filter) in [
        ("[1, 1, 1, 1]", "[[0, 0], [1, 1], [1, 1], [0, 0]]", [3, 3, 4, 17]),
        ("[1, 2, 2, 1]", "[[0, 0], [3, 3], [3, 3], [0, 0]]", [7, 7, 4, 16]),
        ("[1, 2, 1, 1]", "[[0, 0], [0, 1], [2, 0], [0, 0]]", [2, 3, 4, 5]),
        ("[1, 1, 1, 1]", "[[0, 0], [0, 0], [0, 4], [0, 0]]", [1, 5, 4, 1]),
    ] {
        let graph = format!(
            "x = Placeholder() dtype=float\n{}\n{}\npads = Const() dtype=int32 value={paddings}\nq = Pad(x, pads)
             c = Conv2D(q, w) strides={strides} padding=VALID\na = BiasAdd(c, b)\nr = Relu(a)\nz = Neg(r)",
            constant("w", &filter),
            constant("b", &filter[3..]),
        );
        let lines: String = graph.lines().map(|line| format!("{}\n", line.trim())).collect();
        let after = rewritten("fuse-pad", &lines);
        assert!(after.contains("padding=EXPLICIT") && !after.contains("Pad("), "{after}");
        for shape in [[2, 9, 8, 4], [1, 1, 2, 4], [0, 3, 3, 4]] {
            let mut x = numbers(&shape);
            if shape[1] > 1 && shape[0] > 0 {
                x.as_mut_slice::<f32>().unwrap()[5] = f32::INFINITY;
            }
            let [with, without] = both(&graph, &x);
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&with), bits(&without), "{paddings} {shape:?}");
        }
    }
}

#[test]
fn depthwise_convolutions_pad_for_themselves_to_the_bit() {
    let pads = "[[0, 0], [0, 1], [2, 1], [0, 0]]";
    let of = |multiplier: usize, rest: &str| {
        format!(
            "x = Placeholder() dtype=float\n{}\n{}\npads = Const() dtype=int32 value={pads}\nq = Pad(x, pads)
             c = DepthwiseConv2dNative(q, w) strides=[1, 2, 2, 1] padding=VALID\n{rest}",
            constant("w", &[3, 3, 18, multiplier]),
            constant("b", &[18 * multiplier]),
        )
    };
    for multiplier in [1, 2] {
        let plain = of(multiplier, "z = Neg(c)");
        let fused = of(multiplier, "a = BiasAdd(c, b)\nr = Relu6(a)\nz = Neg(r)");
        let lines = |text: &str| text.lines().map(|line| format!("{}\n", line.trim())).collect::<String>();
        assert!(rewritten("fuse-depthwise-pad", &lines(&plain)).contains("padding=EXPLICIT"));
        for graph in [&plain, &fused] {
            for shape in [[2, 9, 8, 18], [1, 3, 2, 18], [0, 4, 4, 18]] {
                let mut x = numbers(&shape);
                if shape[0] > 0 {
                    x.as_mut_slice::<f32>().unwrap()[5] = f32::INFINITY;
                }
                let [with, without] = both(graph, &x);
                let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&with), bits(&without), "{multiplier} {shape:?}");
            }
        }
    }
}

#[test]
fn poolings_count_the_zeros_around_their_images_to_the_bit() {
    for (window, strides, pads) in [
        ([3, 3], [2, 2], [[1, 1], [1, 1]]),
        ([2, 3], [1, 1], [[0, 1], [2, 0]]),
        ([3, 2], [1, 2], [[0, 0], [0, 1]]),
        ([2, 2], [3, 1], [[1, 0], [0, 0]]),
        ([2, 2], [1, 1], [[1, 1], [1, 1]]),
    ] {
        for (op, dtype, channels_first) in [
            ("Max", "float", false),
            ("Max", "float", true),
            ("Max", "half", false),
            ("Max", "int32", false),
            ("Avg", "float", false),
            ("Avg", "double", true),
            ("Avg", "bfloat16", false),
        ] {
            let (format, arranged) = if channels_first { ("NCHW", [0, 3, 1, 2]) } else { ("NHWC", [0, 1, 2, 3]) };
            let of = |[rows, columns]: [&str; 2], one: &str| match channels_first {
                true => format!("[{one}, {one}, {rows}, {columns}]"),
                false => format!("[{one}, {rows}, {columns}, {one}]"),
            };
            let sizes = |[rows, columns]: [usize; 2]| of([&rows.to_string(), &columns.to_string()], "1");
            let pads = of(pads.map(|pads| format!("{pads:?}")).each_ref().map(|pads| &**pads), "[0, 0]");
            let graph = format!(
                "x = Placeholder() dtype=float\nto = Const() dtype=int32 value={arranged:?}\nt = Transpose(x, to)
                 c = Cast(t) DstT={dtype}\npads = Const() dtype=int32 value={pads}\nq = Pad(c, pads)
                 p = {op}Pool(q) ksize={} strides={} padding=VALID data_format={format}\nz = Cast(p) DstT=float",
                sizes(window),
                sizes(strides)
            );
            let lines: String = graph.lines().map(|line| format!("{}\n", line.trim())).collect();
            let rewrite = format!("fuse-{}-pool-pad", op.to_lowercase());
            let after = rewritten(&rewrite, &lines);
            assert!(after.contains(&format!("_Padded{op}Pool(c)")) && !after.contains("Pad("), "{after}");
            // There may be zeros alone.
            let none = (window == [2, 2] && strides == [1, 1]).then_some([1, 0, 3, 2]);
            for shape in [[2, 7, 6, 3], [1, 5, 5, 35], [1, 2, 2, 2], [0, 4, 4, 2]].into_iter().chain(none) {
                let mut x = numbers(&shape);
                let special = [-0.0, -3.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0];
                let elements = x.as_mut_slice::<f32>().unwrap();
                elements.iter_mut().step_by(3).for_each(|x| *x = -x.abs());
                if dtype != "int32" {
                    let others = elements.iter_mut().skip(1).step_by(2);
                    others.zip(special.iter().cycle()).for_each(|(x, &special)| *x = special);
                }
                let [with, without] = both(&graph, &x);
                let bits = |values: &[f32]| {
                    values.iter().map(|&x| if x.is_nan() { 1 } else { x.to_bits() }).collect::<Vec<_>>()
                };
                assert_eq!(bits(&with), bits(&without), "{graph} {shape:?}");
            }
        }
    }
}

#[test]
fn factors_of_channels_go_into_filters_and_matrices() {
    let channels = "k = Const() dtype=float value=[-4, 0.5, 0, 2, 1, 8]";
    for (shape, product, weights) in [
        (&[2, 4, 5, 3][..], "Conv2D(x, w) strides=[1, 1, 1, 1] padding=SAME", &[2, 3, 3, 6][..]),
        (&[2, 4, 5, 3], "DepthwiseConv2dNative(x, w) strides=[1, 2, 2, 1] padding=VALID", &[3, 2, 3, 2]),
        (&[7, 5], "MatMul(x, w)", &[5, 6]),
        (&[7, 5], "MatMul(x, w) transpose_b=true", &[6, 5]),
        (&[2, 7, 5], "BatchMatMulV2(x, w)", &[5, 6]),
        (&[2, 7, 5], "BatchMatMulV2(x, w) adj_y=true", &[6, 5]),
    ] {
        for factors in [channels, "k = Const() dtype=float value=-0.25"] {
            // Powers of two, with which nothing is rounded.
            let weights = constant("w", weights);
            let text = format!("x = Placeholder() dtype=float\n{weights}\n{factors}\np = {product}\nz = Mul(k, p)\n");
            let (mut graph, mut ends) = graph_from_lines(&text, &kernlink::registry().unwrap()).unwrap();
            let run = |graph: &Graph, fetch: &str| {
                let session = Session::with_options(graph.clone(), &SessionOptions::new().without_pass("rewrite"));
                let values = session.unwrap().run(&[("x", numbers(shape))], &[fetch], &[]).unwrap();
                values[0].as_slice::<f32>().unwrap().iter().map(|x| x + 0.0).collect::<Vec<f32>>()
            };
            let before = run(&graph, "z");
            ends.run_on(&[Arc::new(CpuDevice::on_caller()) as Arc<dyn Device>]);
            Optimizer::default().with_inexact(true).optimize(&mut graph, &mut ends).unwrap();
            assert!(graph.nodes().iter().all(|node| node.op.def.name != "Mul"), "{product}");
            assert_eq!(run(&graph, "z"), before, "{product}");
        }
    }
}

#[test]
fn scaled_and_masked_softmaxes_give_the_same_to_the_bit() {
    let with_mask = |shape: &[usize], scale: &str| {
        format!(
            "x = Placeholder() dtype=float\n{}\ns = Const() dtype=float value={scale}\na = Mul(x, s)\nb = AddV2(m, a)
             y = Softmax(b)\nz = Neg(y)",
            constant("m", shape)
        )
    };
    let divided = "x = Placeholder() dtype=float\ns = Const() dtype=float value=8\na = RealDiv(x, s)\ny = Softmax(a)
        z = Neg(y)";
    let masks: [&[usize]; 7] = [&[2, 3, 4, 21], &[2, 1, 1, 21], &[4, 1], &[21], &[], &[5, 2, 1, 4, 21], &[2, 1, 4, 1]];
    let graphs = masks.iter().map(|mask| with_mask(mask, "0.3"));
    for graph in graphs.chain([divided.to_owned(), with_mask(&[4, 21], "NaN"), with_mask(&[4, 21], "inf")]) {
        let none = (!graph.contains(']')).then_some([2, 0, 4, 21]);
        for shape in [[2, 3, 4, 21], [2, 1, 1, 1]].into_iter().chain(none) {
            let [with, without] = both(&graph, &numbers(&shape));
            let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&with), bits(&without), "{graph} {shape:?}");
        }
    }
}

#[test]
fn normalisations_are_rectified_to_the_bit() {
    let graph = |attrs: &str| {
        format!(
            "x = Placeholder() dtype=float\n{}\n{}\nv = Const() dtype=float value=[1, 3, 0, 0.5]
             n = FusedBatchNormV3(x, s, b, b, v) {attrs}\nr = Relu(n)\nz = Neg(r)",
            constant("s", &[4]),
            constant("b", &[4]),
        )
    };
    for (attrs, shape) in [
        ("is_training=false", [2, 3, 5, 4]),
        ("is_training=false data_format=NCHW", [2, 4, 3, 5]),
        ("is_training=true", [2, 3, 5, 4]),
        ("is_training=false", [0, 3, 5, 4]),
    ] {
        let mut x = numbers(&shape);
        if let [first, second, ..] = x.as_mut_slice::<f32>().unwrap() {
            (*first, *second) = (f32::NAN, -0.0);
        }
        let [with, without] = both(&graph(attrs), &x);
        let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&with), bits(&without), "{attrs}");
    }
}

#[test]
fn fused_activations_and_norms_give_the_same() {
    let example = |name: &str| EXAMPLES.iter().find(|example| example.rewrite == name).unwrap().text;
    let close = ["fuse-gelu-erf", "fuse-gelu-distribution", "fuse-half-gelu", "fuse-hard-swish-sixth"];
    let close = close.map(|name| (example(name), 2e-6));
    let norm = example("fuse-centred-norm").replacen("p = ", "w = ", 1).replace("BiasAdd(p, k)", "BiasAdd(w, k)");
    let exact = [(GELU, 0.0), (GELU_APPROXIMATE, 0.0), (LAYER_NORM, 2e-6), (&*norm, 2e-6)];
    for (graph, tolerance) in exact.into_iter().chain(close) {
        let width = if graph == norm { 2 } else { 4 };
        let [with, without] = both(graph, &numbers(&[50, width]));
        assert!(with.iter().all(|value| value.is_finite()), "{graph}");
        for (with, without) in with.iter().zip(&without) {
            assert!((with - without).abs() <= tolerance * (1.0 + without.abs()), "{graph}: {with} {without}");
        }
    }
}
