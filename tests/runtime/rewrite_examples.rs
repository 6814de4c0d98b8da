//! For each rewrite of Kernlink's own a graph in which it applies, and changes of that graph after which it must not. Random
//! graphs are made of them, too.

use std::collections::BTreeSet;

use kernlink::optimize::rewrite::rewrites;
use kernlink::testing::{graph_from_lines, graph_to_lines, rewritten};

/// A graph, and what to replace in its text so that the rewrite leaves it alone.
pub(super) struct Example {
    pub(super) rewrite: &'static str,
    pub(super) text: &'static str,
    refusals: &'static [[&'static str; 2]],
}

const fn example(rewrite: &'static str, text: &'static str, refusals: &'static [[&'static str; 2]]) -> Example {
    Example { rewrite, text, refusals }
}

/// `x`, and then some lines.
macro_rules! of_any {
    ($rest:literal) => {
        concat!("x = Placeholder() dtype=float\n", $rest, "\nz = Neg(y)")
    };
}

/// `x`, whose rank is certain, and then some lines.
macro_rules! of_matrix {
    ($rest:literal) => {
        concat!(
            "p = Placeholder() dtype=float\ns = Const() dtype=int32 value=[-1, 2]\nx = Reshape(p, s)\n",
            $rest,
            "\nz = Neg(y)"
        )
    };
}

/// A convolution `p` and vectors of its two channels, and then some lines.
macro_rules! of_conv {
    ($conv:literal, $rest:literal) => {
        concat!(
            "x = Placeholder() dtype=float shape=[1,2,3,2]\n",
            "w = Const() dtype=float value=[[[[1.5, -2], [0.25, 3]]]]\n",
            "b = Const() dtype=float value=[0.5, -1]\n",
            "s = Const() dtype=float value=[2, 0.75]\n",
            "v = Const() dtype=float value=[1, 3]\n",
            "p = ",
            $conv,
            " strides=[1, 1, 1, 1] padding=SAME\n",
            $rest,
            "\nz = Neg(y)"
        )
    };
}

/// A product of matrices `p` in the shape `[?,2,2]`, and then some lines.
macro_rules! of_reshaped {
    ($product:literal, $rest:literal) => {
        concat!(
            "x = Placeholder() dtype=float shape=[4,3]\n",
            "w = Const() dtype=float value=[[1, -2], [0.25, 3], [0.5, 1]]\n",
            "b = Const() dtype=float value=[0.5, -1]\n",
            "to = Const() dtype=int32 value=[-1, 2, 2]\n",
            "p = ",
            $product,
            "\nr = Reshape(p, to)\n",
            $rest,
            "\nz = Neg(y)"
        )
    };
}

/// A stack of products of matrices `p`, and then some lines.
macro_rules! of_batch {
    ($product:literal, $rest:literal) => {
        concat!(
            "x = Placeholder() dtype=float shape=[2,2,3]\n",
            "w = Const() dtype=float value=[[1, -2], [0.25, 3], [0.5, 1]]\n",
            "b = Const() dtype=float value=[0.5, -1]\n",
            "p = ",
            $product,
            "\n",
            $rest,
            "\nz = Neg(y)"
        )
    };
}

/// Images of two channels, padded as `q`, and a depthwise filter `w`, and then some lines.
macro_rules! of_padded {
    ($conv:literal) => {
        concat!(
            "x = Placeholder() dtype=float\n",
            "w = Const() dtype=float value=[[[[1.5], [-2]], [[0.25], [3]]], [[[1], [-4]], [[0.75], [2]]]]\n",
            "p = Const() dtype=int32 value=[[0, 0], [1, 0], [0, 1], [0, 0]]\n",
            "l = Const() dtype=int32 value=[1, -1, 3, 2]\n",
            "t = Reshape(x, l)\n",
            "q = Pad(t, p)\n",
            $conv,
            "\nz = Neg(y)"
        )
    };
}

/// The normalisation of `x`, whose last dimension is 2, with `inner` for what is added to the scaled `x`.
macro_rules! of_norm {
    ($inner:literal) => {
        concat!(
            "p = Placeholder() dtype=float shape=[3,2]\n",
            "k = Const() dtype=float value=[1, -2]\n",
            "x = BiasAdd(p, k)\n",
            "axes = Const() dtype=int32 value=[-1]\n",
            "eps = Const() dtype=float value=0.001\n",
            "gamma = Const() dtype=float value=[1, 0.5]\n",
            "beta = Const() dtype=float value=[-1, 0.25]\n",
            "mean = Mean(x, axes) keep_dims=true\n",
            "d = SquaredDifference(x, mean)\n",
            "v = Mean(d, axes) keep_dims=true\n",
            "a = AddV2(v, eps)\n",
            "r = Rsqrt(a)\n",
            "i = Mul(r, gamma)\n",
            "xi = Mul(x, i)\n",
            $inner,
            "\ny = AddV2(xi, o)\nz = Neg(y)"
        )
    };
}

/// All of them.
pub(super) const EXAMPLES: &[Example] = &[
    example(
        "multiply-by-one",
        of_any!("c = Const() dtype=float value=1\ny = Mul(x, c)"),
        &[["value=1", "value=2"], ["value=1", "value=[1]"]],
    ),
    example(
        "divide-by-one",
        of_any!("c = Const() dtype=float value=1\ny = RealDiv(x, c)"),
        &[["value=1", "value=-1"], ["(x, c)", "(c, x)"]],
    ),
    example("add-zero", of_any!("c = Const() dtype=float value=-0\ny = AddV2(x, c)"), &[["value=-0", "value=0"]]),
    example("subtract-zero", of_any!("c = Const() dtype=float value=0\ny = Sub(x, c)"), &[["value=0", "value=-0"]]),
    example("power-of-one", of_any!("c = Const() dtype=float value=1\ny = Pow(x, c)"), &[["value=1", "value=2"]]),
    example("undo-twice", of_any!("a = Neg(x)\ny = Neg(a)"), &[["y = Neg", "y = Abs"]]),
    example("repeat-once", of_any!("a = Floor(x)\ny = Floor(a)"), &[["a = Floor", "a = Ceil"]]),
    example("same-operands", of_any!("w = Abs(x)\ny = Maximum(w, w)"), &[["(w, w)", "(w, x)"]]),
    example(
        "subtract-negative",
        of_any!("v = Abs(x)\nn = Neg(v)\ny = Sub(x, n)"),
        &[["Sub(x, n)", "Sub(n, x)"], ["z = Neg(y)", "z = AddV2(y, n)"]],
    ),
    example(
        "add-negative",
        of_any!("v = Abs(x)\nn = Neg(v)\ny = AddV2(n, x)"),
        &[["n = Neg", "n = Abs"], ["z = Neg(y)", "z = AddV2(y, n)"]],
    ),
    example(
        "drop-sign",
        of_any!("n = Neg(x)\ny = Square(n)"),
        &[["Neg(x)", "Exp(x)"], ["Square(n)", "Exp(n)"], ["float", "complex64"]],
    ),
    example(
        "negate-equality",
        "x = Placeholder() dtype=float\nv = Neg(x)\na = Equal(x, v)\ny = LogicalNot(a)\nz = Cast(y) DstT=float",
        &[["a = Equal", "a = Less"], ["z = Cast(y)", "b = LogicalAnd(y, a)\nz = Cast(b)"]],
    ),
    example(
        "negate-order",
        "x = Placeholder() dtype=int32\nv = Neg(x)\na = Less(x, v)\ny = LogicalNot(a)\nz = Cast(y) DstT=float",
        &[["dtype=int32", "dtype=float"], ["a = Less", "a = Equal"]],
    ),
    example(
        "merge-expand-reshape",
        of_any!(
            "d = Const() dtype=int32 value=-1\nl = Const() dtype=int32 value=[-1]\ne = ExpandDims(x, d)\ny = Reshape(e, l)"
        ),
        &[["value=-1", "value=1"], ["z = Neg(y)", "z = Neg(y)\nfeed d"]],
    ),
    example(
        "merge-squeeze-reshape",
        of_any!(
            "q = Const() dtype=int32 value=[1, -1]\nr = Reshape(x, q)\nl = Const() dtype=int32 value=[-1, 1]\ne = Squeeze(r) squeeze_dims=[0]\ny = Reshape(e, l)"
        ),
        &[["value=[1, -1]", "value=[-1, 1]"], ["squeeze_dims=[0]", "squeeze_dims=[1]"]],
    ),
    example(
        "drop-squeeze-expand",
        of_any!(
            "q = Const() dtype=int32 value=[-1, 1]\nr = Reshape(x, q)\nd = Const() dtype=int32 value=-1\ne = Squeeze(r) squeeze_dims=[1]\ny = ExpandDims(e, d)"
        ),
        &[
            ["value=[-1, 1]", "value=[1, -1]"],
            ["dtype=int32 value=-1", "dtype=int32 value=0"],
            [" squeeze_dims=[1]", ""],
        ],
    ),
    example(
        "merge-reshape-expand",
        of_any!(
            "q = Const() dtype=int32 value=[-1, 1]\nr = Reshape(x, q)\nd = Const() dtype=int32 value=1\ny = ExpandDims(r, d)"
        ),
        &[["z = Neg(y)", "z = Neg(y)\nfeed d"], ["z = Neg(y)", "z = Neg(y)\nfeed q"]],
    ),
    example(
        "merge-reshape-squeeze",
        of_any!("q = Const() dtype=int32 value=[1, -1, 1]\nr = Reshape(x, q)\ny = Squeeze(r) squeeze_dims=[0]"),
        &[["squeeze_dims=[0]", "squeeze_dims=[1]"], [" squeeze_dims=[0]", ""]],
    ),
    example(
        "merge-casts",
        "x = Placeholder() dtype=int32\na = Cast(x) DstT=int64\ny = Cast(a) DstT=uint8\nz = Cast(y) DstT=float",
        &[
            ["DstT=int64", "DstT=int8"],
            ["DstT=int64", "DstT=double"],
            ["DstT=uint8", "DstT=float"],
            ["DstT=uint8", "DstT=uint8 Truncate=true"],
            ["y = Cast(a) DstT=uint8", "y = Cast(a) DstT=int32"],
        ],
    ),
    example(
        "merge-transposes-around",
        of_matrix!("c = Const() dtype=int32 value=[1, 0]\nt = Transpose(x, c)\nu = Tanh(t)\ny = Transpose(u, c)"),
        &[["u = Tanh(t)", "u = Softmax(t)"], ["z = Neg(y)", "z = AddV2(y, u)"], ["z = Neg(y)", "z = Neg(y)\nfeed c"]],
    ),
    example(
        "merge-transposes-around-activation",
        of_matrix!("c = Const() dtype=int32 value=[1, 0]\nt = Transpose(x, c)\nu = Relu6(t)\ny = Transpose(u, c)"),
        &[["Relu6(t)", "Softplus(t)"], ["z = Neg(y)", "z = AddV2(y, t)"], ["z = Neg(y)", "z = Neg(y)\nfeed c"]],
    ),
    example(
        "merge-transposes-around-scalar",
        of_matrix!(
            "k = Const() dtype=float value=3\nc = Const() dtype=int32 value=[1, 0]\nt = Transpose(x, c)\nu = Mul(k, t)\ny = Transpose(u, c)"
        ),
        &[["value=3", "value=[3]"], ["u = Mul", "u = Sub"], ["z = Neg(y)", "z = AddV2(y, u)"]],
    ),
    example(
        "drop-transposes-around-bias",
        of_any!(
            "q = Const() dtype=int32 value=[1, 2, -1, 1]\nr = Reshape(x, q)\nb = Const() dtype=float value=[1, -2]\nto = Const() dtype=int32 value=[0, 2, 3, 1]\nback = Const() dtype=int32 value=[0, 3, 1, 2]\nt = Transpose(r, to)\nu = BiasAdd(t, b)\ny = Transpose(u, back)"
        ),
        &[
            ["BiasAdd(t, b)", "BiasAdd(t, b) data_format=NCHW"],
            ["Transpose(u, back)", "Transpose(u, to)"],
            ["Transpose(r", "Transpose(x"],
            ["z = Neg(y)", "z = AddV2(y, u)"],
        ],
    ),
    example(
        "merge-scales",
        of_any!("a = Const() dtype=float value=3\nb = Const() dtype=float value=1.7\nm = Mul(x, a)\ny = Mul(m, b)"),
        &[
            ["value=1.7", "value=0.7"],
            ["value=3", "value=[3]"],
            ["value=3", "value=3e38"],
            ["z = Neg(y)", "z = AddV2(y, m)"],
        ],
    ),
    example(
        "merge-offsets",
        of_any!("a = Const() dtype=float value=3\nb = Const() dtype=float value=1.5\nm = AddV2(x, a)\ny = AddV2(m, b)"),
        &[
            ["value=1.5", "value=-1.5"],
            ["value=1.5", "value=0.1"],
            ["value=3", "value=[3]"],
            ["z = Neg(y)", "z = AddV2(y, m)"],
        ],
    ),
    example(
        "divide-by-power-of-two",
        of_any!("c = Const() dtype=float value=-8\ny = RealDiv(x, c)"),
        &[
            ["value=-8", "value=6"],
            ["(x, c)", "(c, x)"],
            ["value=-8", "value=[8]"],
            ["value=-8", "value=0"],
            ["float", "half"],
        ],
    ),
    example(
        "multiply-by-inverse",
        of_any!("c = Const() dtype=float value=3\ny = RealDiv(x, c)"),
        &[["value=3", "value=4"], ["(x, c)", "(c, x)"], ["value=3", "value=0"], ["value=3", "value=3e38"]],
    ),
    example(
        "divide-by-root",
        of_any!("v = Abs(x)\ns = Sqrt(v)\ny = RealDiv(x, s)"),
        &[["(x, s)", "(s, x)"], ["float", "half"], ["z = Neg(y)", "z = AddV2(y, s)"]],
    ),
    example(
        "invert-root",
        of_any!("s = Sqrt(x)\ny = Reciprocal(s)"),
        &[["float", "half"], ["z = Neg(y)", "z = AddV2(y, s)"]],
    ),
    example(
        "square-power",
        of_any!("c = Const() dtype=float value=2\ny = Pow(x, c)"),
        &[["value=2", "value=3"], ["value=2", "value=[2]"], ["(x, c)", "(c, x)"]],
    ),
    example(
        "square-integer-power",
        "x = Placeholder() dtype=int32\nc = Const() dtype=int32 value=2\ny = Pow(x, c)\nz = Neg(y)",
        &[["value=2", "value=3"], ["(x, c)", "(c, x)"]],
    ),
    example(
        "drop-transpose",
        of_matrix!("c = Const() dtype=int32 value=[0, 1]\ny = Transpose(x, c)"),
        &[["[0, 1]", "[1, 0]"], ["Transpose(x", "Transpose(p"]],
    ),
    example(
        "merge-transposes",
        of_matrix!("c = Const() dtype=int32 value=[1, 0]\nt = Transpose(x, c)\ny = Transpose(t, c)"),
        &[["z = Neg(y)", "z = Neg(y)\nfeed c"]],
    ),
    example(
        "drop-reversals",
        of_matrix!(
            "c = Const() dtype=int32 value=[1]\nd = Const() dtype=int32 value=[-1]\nt = ReverseV2(x, c)\ny = ReverseV2(t, d)"
        ),
        &[["value=[-1]", "value=[0]"], ["t = ReverseV2(x", "t = ReverseV2(p"]],
    ),
    example(
        "drop-tile",
        of_matrix!("c = Const() dtype=int32 value=[1, 1]\ny = Tile(x, c)"),
        &[["[1, 1]", "[1, 2]"], ["Tile(x", "Tile(p"]],
    ),
    example(
        "drop-pad",
        of_matrix!("c = Const() dtype=int32 value=[[0, 0], [0, 0]]\ny = Pad(x, c)"),
        &[["[[0, 0], [0, 0]]", "[[0, 0], [0, 1]]"], ["Pad(x", "Pad(p"]],
    ),
    example(
        "drop-slice",
        of_matrix!("b = Const() dtype=int32 value=[0, 0]\nc = Const() dtype=int32 value=[-1, 2]\ny = Slice(x, b, c)"),
        &[["[0, 0]", "[1, 0]"], ["Slice(x", "Slice(p"]],
    ),
    example(
        "drop-reshape",
        of_matrix!("c = Const() dtype=int32 value=[-1, 2]\ny = Reshape(x, c)"),
        &[
            ["c = Const() dtype=int32 value=[-1, 2]", "c = Const() dtype=int32 value=[2, -1]"],
            ["y = Reshape(x", "y = Reshape(p"],
        ],
    ),
    example(
        "constant-shape",
        of_matrix!("q = Const() dtype=int32 value=[3, 2]\nr = Reshape(p, q)\ny = Shape(r)"),
        &[["[3, 2]", "[-1, 2]"], ["Shape(r)", "Shape(p)"]],
    ),
    example(
        "constant-shapes",
        of_matrix!("q = Const() dtype=int32 value=[3, 2]\nr = Reshape(p, q)\nn = ShapeN([r, r])\ny = AddV2(n, n:1)"),
        &[["[3, 2]", "[-1, 2]"], ["ShapeN([r, r])", "ShapeN([r, p])"]],
    ),
    example(
        "constant-size",
        of_matrix!("q = Const() dtype=int32 value=[3, 2]\nr = Reshape(p, q)\ny = Size(r)"),
        &[["[3, 2]", "[-1, 2]"], ["Size(r)", "Size(p)"]],
    ),
    example("constant-rank", of_matrix!("y = Rank(x)"), &[["Rank(x)", "Rank(p)"]]),
    example(
        "merge-reshapes",
        of_any!(
            "a = Const() dtype=int32 value=[-1]\nb = Const() dtype=int32 value=[3, 2]\nf = Reshape(x, a)\ny = Reshape(f, b)"
        ),
        &[["[-1]", "[6]"], ["[3, 2]", "[0, -1]"], ["[3, 2]", "[2, 0, -1]"]],
    ),
    example(
        "drop-expand-squeeze",
        of_any!("d = Const() dtype=int32 value=-1\ne = ExpandDims(x, d)\ny = Squeeze(e) squeeze_dims=[-1]"),
        &[["squeeze_dims=[-1]", "squeeze_dims=[0]"]],
    ),
    example(
        "drop-reduction",
        of_any!("c = Const() dtype=int32 value=[]\ny = Mean(x, c)"),
        &[["value=[]", "value=[0]"]],
    ),
    example(
        "merge-packs",
        of_any!("q = Neg(x)\na = Pack([x, q])\nb = Pack([q, x]) axis=0\ny = Pack([a, b]) axis=1"),
        &[["axis=0", "axis=1"], ["axis=1", "axis=2"], ["Pack([a, b])", "Pack([a, b, a])"]],
    ),
    example("drop-sum-of-one", of_any!("y = AddN([x])"), &[["[x]", "[x, x]"]]),
    example("drop-cast", of_any!("y = Cast(x) DstT=float"), &[["DstT=float", "DstT=double"]]),
    example("drop-casts", of_any!("a = Cast(x) DstT=double\ny = Cast(a) DstT=float"), &[["DstT=double", "DstT=half"]]),
    example("fuse-swish", of_any!("s = Sigmoid(x)\ny = Mul(s, x)"), &[["Mul(s, x)", "Mul(s, s)"], ["float", "half"]]),
    example(
        "fuse-hard-swish",
        of_any!(
            "three = Const() dtype=float value=3\nsix = Const() dtype=float value=6\na = AddV2(x, three)\nr = Relu6(a)\nd = RealDiv(r, six)\ny = Mul(x, d)"
        ),
        &[["value=3", "value=2.5"], ["value=6", "value=5"]],
    ),
    example(
        "fuse-gelu",
        of_any!(
            "half = Const() dtype=float value=0.5\nroot = Const() dtype=float value=0.70710677\nh = Mul(half, x)\nn = Neg(x)\nr = Mul(n, root)\ne = Erfc(r)\ny = Mul(h, e)"
        ),
        &[["value=0.70710677", "value=0.7071"], ["Erfc", "Erf"]],
    ),
    example(
        "fuse-gelu-approximate",
        of_any!(
            "half = Const() dtype=float value=0.5\none = Const() dtype=float value=1\nslope = Const() dtype=float value=0.7978846\ncubic = Const() dtype=float value=0.044715\nthree = Const() dtype=float value=3\nh = Mul(half, x)\nq = Pow(x, three)\nc = Mul(cubic, q)\na = AddV2(x, c)\ns = Mul(slope, a)\nt = Tanh(s)\no = AddV2(one, t)\ny = Mul(h, o)"
        ),
        &[["value=3", "value=2"], ["value=0.044715", "value=0.0447"]],
    ),
    example(
        "fuse-bias",
        of_conv!("Conv2D(x, w)", "y = BiasAdd(p, b)"),
        &[["BiasAdd(p, b)", "BiasAdd(p, b) data_format=NCHW"], ["z = Neg(y)", "z = AddV2(y, p)"]],
    ),
    example("fuse-bias-vector", of_conv!("Conv2D(x, w)", "y = AddV2(p, b)"), &[["value=[0.5, -1]", "value=0.5"]]),
    example("fuse-scale", of_conv!("Conv2D(x, w)", "y = Mul(p, s)"), &[["value=[2, 0.75]", "value=0.5"]]),
    example(
        "scale-filter",
        of_conv!("Conv2D(x, w)", "y = Mul(s, p)"),
        &[
            ["value=[2, 0.75]", "value=[[2], [0.75], [1]]"],
            ["value=[2, 0.75]", "value=[2, 1e-39]"],
            ["value=[2, 0.75]", "value=[2, 3e38]"],
            ["z = Neg(y)", "z = AddV2(y, p)"],
            ["z = Neg(y)", "z = Neg(y)\nu = Abs(w)"],
        ],
    ),
    example(
        "scale-matrix",
        "x = Placeholder() dtype=float shape=[4,3]\nw = Const() dtype=float value=[[1, -2], [0.25, 3], [0.5, 1]]\nk = Const() dtype=float value=[2, -0.5]\np = MatMul(x, w)\ny = Mul(p, k)\nz = Neg(y)",
        &[
            ["value=[2, -0.5]", "value=[[2], [1], [3], [-0.5]]"],
            ["value=[2, -0.5]", "value=[2, 3e38]"],
            ["z = Neg(y)", "z = AddV2(y, p)"],
            ["z = Neg(y)", "z = Neg(y)\nu = Abs(w)"],
        ],
    ),
    example(
        "fuse-second-bias",
        of_conv!("_FusedConv2D(x, w, [b], []) num_args=1 fused_ops=[BiasAdd]", "y = AddV2(p, s)"),
        &[["value=[2, 0.75]", "value=0.5"], ["[BiasAdd]", "[BiasAdd, Relu]"]],
    ),
    example(
        "fuse-batch-norm",
        of_conv!("Conv2D(x, w)", "y = FusedBatchNormV3(p, s, b, b, v) is_training=false"),
        &[["is_training=false", "is_training=true"], ["z = Neg(y)", "z = BiasAdd(y, y:1)"]],
    ),
    example(
        "fuse-second-batch-norm",
        of_conv!(
            "_FusedConv2D(x, w, [b], []) num_args=1 fused_ops=[BiasAdd]",
            "y = FusedBatchNormV3(p, s, b, b, v) is_training=false"
        ),
        &[["is_training=false", "is_training=true"], ["[BiasAdd]", "[BiasAdd, Relu]"]],
    ),
    example(
        "fuse-activation",
        of_conv!("_FusedConv2D(x, w, [b], []) num_args=1 fused_ops=[BiasAdd]", "y = Relu(p)"),
        &[["[BiasAdd]", "[BiasAdd, Relu]"], ["Relu(p)", "Abs(p)"]],
    ),
    example(
        "fuse-smooth-activation",
        of_conv!("_FusedConv2D(x, w, [b], []) num_args=1 fused_ops=[BiasAdd]", "y = _Swish(p)"),
        &[["[BiasAdd]", "[BiasAdd, Relu]"], ["z = Neg(y)", "z = AddV2(y, p)"]],
    ),
    example(
        "fuse-sigmoid",
        of_conv!("_FusedConv2D(x, w, [b], []) num_args=1 fused_ops=[BiasAdd]", "y = Sigmoid(p)"),
        &[["[BiasAdd]", "[BiasAdd, Relu]"], ["z = Neg(y)", "z = AddV2(y, p)"]],
    ),
    example(
        "fuse-reshaped-bias",
        of_reshaped!("MatMul(x, w)", "y = BiasAdd(r, b)"),
        &[["[-1, 2, 2]", "[2, 2, -1]"], ["BiasAdd(r, b)", "BiasAdd(r, b) data_format=NCHW"]],
    ),
    example(
        "fuse-reshaped-activation",
        of_reshaped!("_FusedMatMul(x, w, [b]) fused_ops=[BiasAdd]", "y = Relu(r)"),
        &[["[BiasAdd]", "[BiasAdd, Relu]"], ["z = Neg(y)", "z = AddV2(y, r)"]],
    ),
    example(
        "fuse-layer-norm",
        of_norm!("n = Neg(mean)\nni = Mul(n, i)\no = AddV2(ni, beta)"),
        &[["value=[-1]", "value=[0]"], ["(x, mean)", "(mean, mean)"], ["value=[1, 0.5]", "value=[[2]]"]],
    ),
    example(
        "fuse-moments-norm",
        of_norm!("ni = Mul(mean, i)\no = Sub(beta, ni)"),
        &[["value=[-1]", "value=[0]"], ["(x, mean)", "(mean, mean)"], ["Sub(beta, ni)", "Sub(ni, beta)"]],
    ),
    example(
        "fuse-gelu-erf",
        of_any!(
            "half = Const() dtype=float value=0.5\none = Const() dtype=float value=1\nroot = Const() dtype=float value=1.4142135\nh = Mul(half, x)\nr = RealDiv(x, root)\ne = Erf(r)\na = AddV2(e, one)\ny = Mul(h, a)"
        ),
        &[["value=0.5", "value=0.25"], ["1.4142135", "1.41"], ["RealDiv(x, root)", "RealDiv(root, x)"]],
    ),
    example(
        "fuse-gelu-distribution",
        of_any!(
            "half = Const() dtype=float value=0.5\none = Const() dtype=float value=1\nroot = Const() dtype=float value=0.70710677\nr = Mul(x, root)\ne = Erf(r)\na = AddV2(one, e)\nd = Mul(a, half)\ny = Mul(x, d)"
        ),
        &[["value=0.5", "value=0.25"], ["0.70710677", "1.4142135"], ["y = Mul(x, d)", "y = Mul(r, d)"]],
    ),
    example(
        "fuse-half-gelu",
        of_any!(
            "half = Const() dtype=float value=0.5\none = Const() dtype=float value=1\nroot = Const() dtype=float value=1.4142135\nr = RealDiv(x, root)\ne = Erf(r)\na = AddV2(one, e)\nd = Mul(x, a)\ny = Mul(d, half)"
        ),
        &[["value=0.5", "value=0.25"], ["value=1\n", "value=2\n"]],
    ),
    example(
        "fuse-hard-swish-sixth",
        of_any!(
            "three = Const() dtype=float value=3\nsixth = Const() dtype=float value=0.16666667\na = AddV2(x, three)\nr = Relu6(a)\nd = Mul(r, sixth)\ny = Mul(x, d)"
        ),
        &[["value=3", "value=2.5"], ["value=0.16666667", "value=0.2"]],
    ),
    example(
        "fuse-residual",
        of_conv!("_FusedConv2D(x, w, [b], []) num_args=1 fused_ops=[BiasAdd]", "v1 = BiasAdd(x, b)\ny = AddV2(p, v1)"),
        &[["[BiasAdd]", "[BiasAdd, Relu]"], ["BiasAdd(x, b)", "AddV2(x, b)"], ["z = Neg(y)", "z = AddV2(y, p)"]],
    ),
    example(
        "fuse-pad",
        of_any!(
            "w = Const() dtype=float value=[[[[1.5, -2], [0.25, 3]], [[1, 2], [-1, 0.5]]], [[[0, 1], [2, 3]], [[-4, 0.75], [1, 1]]]]\np = Const() dtype=int32 value=[[0, 0], [1, 0], [0, 1], [0, 0]]\nl = Const() dtype=int32 value=[1, -1, 3, 2]\nt = Reshape(x, l)\nq = Pad(t, p)\ny = Conv2D(q, w) strides=[1, 1, 1, 1] padding=VALID"
        ),
        &[
            ["padding=VALID", "padding=SAME"],
            ["[1, 0], [0, 1]", "[2, 0], [0, 1]"],
            ["[[0, 0], [1, 0]", "[[0, 1], [1, 0]"],
            ["value=[[[[1.5", "value=[[[[NaN"],
            ["z = Neg(y)", "z = Neg(y)\nfetch z, q"],
        ],
    ),
    example(
        "fuse-depthwise-pad",
        of_padded!("y = DepthwiseConv2dNative(q, w) strides=[1, 1, 1, 1] padding=VALID"),
        &[
            ["padding=VALID", "padding=SAME"],
            ["[1, 0], [0, 1]", "[2, 0], [0, 1]"],
            ["[[0, 0], [1, 0]", "[[0, 1], [1, 0]"],
            ["value=[[[[1.5", "value=[[[[NaN"],
            ["z = Neg(y)", "z = Neg(y)\nfetch z, q"],
        ],
    ),
    example(
        "fuse-fused-depthwise-pad",
        of_padded!(
            "b = Const() dtype=float value=[0.5, -1]\ny = _FusedDepthwiseConv2dNative(q, w, [b]) strides=[1, 1, 1, 1] padding=VALID fused_ops=[BiasAdd]"
        ),
        &[
            ["padding=VALID", "padding=SAME"],
            ["[1, 0], [0, 1]", "[2, 0], [0, 1]"],
            ["value=[[[[1.5", "value=[[[[NaN"],
            ["z = Neg(y)", "z = Neg(y)\nfetch z, q"],
        ],
    ),
    example(
        "fuse-max-pool-pad",
        of_any!(
            "p = Const() dtype=int32 value=[[0, 0], [1, 0], [0, 1], [0, 0]]\nl = Const() dtype=int32 value=[1, -1, 3, 2]\nt = Reshape(x, l)\nq = Pad(t, p)\ny = MaxPool(q) ksize=[1, 2, 2, 1] strides=[1, 2, 1, 1] padding=VALID"
        ),
        &[
            ["padding=VALID", "padding=SAME"],
            ["[1, 0], [0, 1]", "[2, 0], [0, 1]"],
            ["[[0, 0], [1, 0]", "[[0, 1], [1, 0]"],
            ["ksize=[1, 2, 2, 1] strides=[1, 2, 1, 1]", "ksize=[1, 1, 1, 2] strides=[1, 1, 1, 2]"],
            ["padding=VALID", "padding=VALID data_format=NCHW"],
            ["z = Neg(y)", "z = Neg(y)\nfetch z, q"],
        ],
    ),
    example(
        "fuse-avg-pool-pad",
        of_any!(
            "p = Const() dtype=int32 value=[[0, 0], [1, 0], [0, 1], [0, 0]]\nl = Const() dtype=int32 value=[1, -1, 3, 2]\nt = Reshape(x, l)\nq = Pad(t, p)\ny = AvgPool(q) ksize=[1, 2, 2, 1] strides=[1, 2, 1, 1] padding=VALID"
        ),
        &[
            ["padding=VALID", "padding=SAME"],
            ["[1, 0], [0, 1]", "[2, 0], [0, 1]"],
            ["[[0, 0], [1, 0]", "[[0, 1], [1, 0]"],
            ["padding=VALID", "padding=VALID data_format=NCHW"],
            ["z = Neg(y)", "z = Neg(y)\nfetch z, q"],
        ],
    ),
    example(
        "fuse-batch-norm-relu",
        of_any!(
            "l = Const() dtype=int32 value=[1, 3, -1, 4]\nt = Reshape(x, l)\ns = Const() dtype=float value=[2, 0.75, -1, 1]\nv = Const() dtype=float value=[1, 3, 2, 0.5]\nn = FusedBatchNormV3(t, s, s, v, v) is_training=false\ny = Relu(n)"
        ),
        &[["Relu(n)", "Relu6(n)"], ["z = Neg(y)", "z = AddV2(y, n)"], ["(t, s, s, v, v)", "(t, x, s, v, v)"]],
    ),
    example(
        "fuse-batched-bias",
        of_batch!("BatchMatMulV2(x, w)", "y = BiasAdd(p, b)"),
        &[["BiasAdd(p, b)", "BiasAdd(p, b) data_format=NCHW"], ["z = Neg(y)", "z = AddV2(y, p)"]],
    ),
    example(
        "fuse-masked-softmax",
        of_matrix!(
            "k = Const() dtype=float value=0.125\nm = Const() dtype=float value=[[0, -10000]]\na = Mul(x, k)\nb = AddV2(a, m)\ny = Softmax(b)"
        ),
        &[["value=0.125", "value=[0.125, 0.125]"], ["z = Neg(y)", "z = AddV2(y, a)"], ["Mul(x, k)", "RealDiv(k, x)"]],
    ),
    example(
        "fuse-scaled-softmax",
        of_matrix!("k = Const() dtype=float value=8\na = RealDiv(x, k)\ny = Softmax(a)"),
        &[["value=8", "value=7"], ["z = Neg(y)", "z = AddV2(y, a)"], ["RealDiv(x, k)", "RealDiv(k, x)"]],
    ),
    example(
        "fuse-centred-norm",
        "p = Placeholder() dtype=float shape=[3,2]\nk = Const() dtype=float value=[1, -2]\nx = BiasAdd(p, k)\naxes = Const() dtype=int32 value=[-1]\neps = Const() dtype=float value=0.001\ngamma = Const() dtype=float value=[1, 0.5]\nbeta = Const() dtype=float value=[-1, 0.25]\ntwo = Const() dtype=float value=2\nmean = Mean(x, axes) keep_dims=true\nc = Sub(x, mean)\nd = Pow(c, two)\nv = Mean(d, axes) keep_dims=true\na = AddV2(v, eps)\nr = Sqrt(a)\nq = RealDiv(c, r)\ng = Mul(q, gamma)\ny = AddV2(g, beta)\nz = Neg(y)",
        &[
            ["value=[-1]", "value=[0]"],
            ["value=2", "value=3"],
            ["Sub(x, mean)", "Sub(mean, x)"],
            ["value=[1, 0.5]", "value=[[2]]"],
        ],
    ),
];

#[test]
fn each_applies_to_its_example_and_to_none_of_the_changed_ones() {
    let registry = kernlink::registry().unwrap();
    let mut faults = Vec::new();
    for Example { rewrite, text, refusals } in EXAMPLES {
        let lines = |text: &str| {
            let read = graph_from_lines(text, &registry).unwrap_or_else(|error| panic!("{rewrite}: {error}\n{text}"));
            graph_to_lines(&read.0)
        };
        let after = rewritten(rewrite, text);
        if after == lines(text) {
            faults.push(format!("{rewrite} leaves its example"));
        }
        for [from, to] in *refusals {
            let changed = text.replacen(from, to, if *from == "float" { usize::MAX } else { 1 });
            assert_ne!(changed, *text, "{rewrite}: there is no {from}");
            if rewritten(rewrite, &changed) != lines(&changed) {
                faults.push(format!("{rewrite} applies with {to}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn each_rewrite_has_an_example_and_what_it_refuses() {
    let own = rewrites().iter().filter(|rewrite| rewrite.provider.name.starts_with("kernlink-"));
    let own: BTreeSet<&str> = own.map(|rewrite| rewrite.name).collect();
    let with_examples: BTreeSet<&str> =
        EXAMPLES.iter().filter(|example| !example.refusals.is_empty()).map(|example| example.rewrite).collect();
    assert!(!own.is_empty());
    assert_eq!(own.difference(&with_examples).collect::<Vec<_>>(), Vec::<&&str>::new(), "rewrites without examples");
    assert_eq!(with_examples.difference(&own).collect::<Vec<_>>(), Vec::<&&str>::new(), "examples of no rewrite");
}
