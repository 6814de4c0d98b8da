"""What TensorFlow computes with oneDNN alone, which it does by default: images with channels first, and gradients of
convolutions that are dilated or in groups. It does so for `float` and `bfloat16`; Kernlink has no such limit."""
import itertools

from cases_conv_grad import output_size
from cases_nn import conv_attrs, pool_attrs
from golden import Case, R, T, bad, i32, one

DTYPES = ("float", "bfloat16")
LOOSE = {"float": (1e-5, 1e-4), "bfloat16": (3e-2, 2e-1)}


def first(shape, layout):
    """The shape of images in a layout, from that with channels last."""
    return shape if layout == "NHWC" else (shape[0], shape[3], *shape[1:3])


def conv(op, d, tag, xs, ws, tolerance=None, layout="NCHW", strides=(1, 1), dilations=(1, 1), padding="SAME", explicit=(), whole=2, two=False):
    """A convolution or one of its gradients, of images whose shape is stated with channels last."""
    depthwise = op.startswith("Depthwise")
    pads = ((explicit[0], explicit[1]), (explicit[2], explicit[3])) if explicit else ((0, 0), (0, 0))
    sizes = [output_size(xs[k + 1], (ws[k] - 1) * dilations[k] + 1, strides[k], padding, pads[k]) for k in (0, 1)]
    ys = first((xs[0], *sizes, ws[2] * ws[3] if depthwise else ws[3]), layout)
    kw = conv_attrs(strides, dilations, padding, explicit, layout)
    shape = first(xs, layout)
    if "Input" in op:
        inputs = [i32(xs[1:3] if two else shape), R(d, ws, 1, ints=whole), R(d, ys, 2, ints=whole)]
    elif "Filter" in op:
        inputs = [R(d, shape, 1, ints=whole), i32(ws), R(d, ys, 2, ints=whole)]
    else:
        inputs = [R(d, shape, 1, ints=whole), R(d, ws, 2, ints=whole)]
    return one(op, d, tag, inputs, tolerance, risky=True, **kw)


def convolutions():
    X, W = (2, 6, 5, 4), (3, 2, 4, 6)
    for op, d in itertools.product(("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"), DTYPES):
        for padding in ("SAME", "VALID"):
            for s in ((1, 1), (2, 2), (2, 3)):
                yield conv(op, d, f"nchw-{padding.lower()}-{s[0]}{s[1]}", X, W, strides=s, padding=padding)
                yield conv(op, d, f"nchw-groups-{padding.lower()}-{s[0]}{s[1]}", X, (3, 2, 2, 6), strides=s, padding=padding)
            for s, r in (((1, 1), (2, 2)), ((1, 1), (1, 3)), ((2, 1), (2, 2))):
                yield conv(op, d, f"nchw-dilated-{padding.lower()}-{s[0]}{s[1]}-{r[0]}{r[1]}", (2, 9, 8, 4), W, strides=s, dilations=r, padding=padding)
        yield conv(op, d, "nchw-pointwise", X, (1, 1, 4, 5))
        yield conv(op, d, "nchw-whole-image", X, (6, 5, 4, 3), padding="VALID")
        yield conv(op, d, "nchw-fractions", (1, 5, 5, 4), (3, 3, 4, 3), LOOSE[d], whole=None)
        if op == "Conv2D":
            yield conv(op, d, "nchw-explicit", X, W, strides=(2, 1), padding="EXPLICIT", explicit=(1, 2, 0, 1))
    for op in ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"):
        d = "float"
        for tag, xs, ws, kw in (("medium", (1, 17, 19, 5), (3, 3, 5, 7), {}), ("one-pixel", (3, 1, 1, 4), (3, 3, 4, 2), {}), ("one-channel", (2, 7, 6, 1), (3, 3, 1, 2), {}),
                                ("large-channels", (1, 3, 3, 33), (2, 2, 33, 17), {"padding": "VALID"}), ("depthwise-as-groups", (1, 5, 5, 6), (3, 3, 1, 6), {}), ("groups-of-16", (1, 5, 4, 32), (3, 3, 16, 32), {}), ("no-batch", (0, 4, 4, 2), (2, 2, 2, 3), {})):
            if (op, tag) == ("Conv2D", "no-batch"):  # TensorFlow gives it the input's channels
                continue
            yield conv(op, d, "nchw-" + tag, xs, ws, LOOSE[d], **kw)
    for op, d in itertools.product(("Conv2DBackpropInput", "Conv2DBackpropFilter"), DTYPES):
        for padding in ("SAME", "VALID"):
            for s in ((1, 1), (2, 2), (3, 1)):
                yield conv(op, d, f"groups-{padding.lower()}-{s[0]}{s[1]}", X, (3, 2, 2, 6), layout="NHWC", strides=s, padding=padding)
            for s, r in (((1, 1), (2, 2)), ((1, 1), (1, 3)), ((2, 1), (2, 2)), ((3, 2), (2, 3))):
                yield conv(op, d, f"dilated-{padding.lower()}-{s[0]}{s[1]}-{r[0]}{r[1]}", (2, 9, 8, 4), W, layout="NHWC", strides=s, dilations=r, padding=padding)
                yield conv(op, d, f"dilated-groups-{padding.lower()}-{s[0]}{s[1]}-{r[0]}{r[1]}", (2, 9, 8, 4), (3, 2, 2, 6), layout="NHWC", strides=s, dilations=r, padding=padding)
        for groups, depth in ((3, 1), (2, 5), (4, 4)):
            yield conv(op, d, f"groups{groups}x{depth}", (1, 5, 4, groups * depth), (2, 3, depth, groups * 3), layout="NHWC")


def depthwise():
    for op, d in itertools.product(("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"), DTYPES):
        for m, padding in itertools.product((1, 2), ("SAME", "VALID")):
            for s in ((1, 1), (2, 2), (2, 3)):
                yield conv(op, d, f"nchw-m{m}-{padding.lower()}-{s[0]}{s[1]}", (2, 6, 5, 3), (3, 2, 3, m), strides=s, padding=padding)
            yield conv(op, d, f"uneven-m{m}-{padding.lower()}", (2, 6, 7, 3), (3, 2, 3, m), layout="NHWC", strides=(2, 3), padding=padding)
    for d, m, padding, layout in itertools.product(DTYPES, (1, 2), ("SAME", "VALID"), ("NHWC", "NCHW")):
        for s, r in (((1, 1), (2, 2)), ((1, 1), (1, 3)), ((2, 2), (2, 2)), ((3, 1), (2, 3))):
            yield conv("DepthwiseConv2dNative", d, f"dilated-{layout.lower()}-m{m}-{padding.lower()}-{s[0]}{s[1]}-{r[0]}{r[1]}", (2, 9, 8, 3), (3, 2, 3, m), layout=layout, strides=s, dilations=r, padding=padding)
    yield conv("DepthwiseConv2dNative", "float", "dilated-explicit", (2, 9, 8, 3), (3, 2, 3, 1), layout="NHWC", dilations=(2, 2), padding="EXPLICIT", explicit=(1, 2, 0, 1))
    yield conv("DepthwiseConv2dNative", "float", "nchw-explicit", (2, 9, 8, 3), (3, 2, 3, 1), padding="EXPLICIT", explicit=(1, 2, 0, 1))
    yield conv("DepthwiseConv2dNative", "float", "dilated-deep", (1, 9, 8, 20), (3, 3, 20, 1), LOOSE["float"], layout="NHWC", dilations=(2, 2), whole=None)


def pools():
    grid = (("k32-s21", (2, 6, 5, 3), (3, 2), (2, 1)), ("k3s2", (2, 7, 9, 4), (3, 3), (2, 2)), ("k2", (1, 8, 8, 16), (2, 2), (2, 2)), ("one-channel", (2, 6, 5, 1), (2, 2), (1, 1)), ("one-pixel", (3, 1, 1, 2), (3, 3), (2, 2)))
    for d, padding, (tag, xs, k, s) in itertools.product(DTYPES, ("SAME", "VALID"), grid):
        if padding == "VALID" and tag == "one-pixel":
            continue
        attrs = pool_attrs(k, s, padding, "NCHW")
        shape = first(xs, "NCHW")
        ys = first((xs[0], *[output_size(xs[n + 1], k[n], s[n], padding) for n in (0, 1)], xs[3]), "NCHW")
        tag = f"nchw-{tag}-{padding.lower()}"
        yield one("MaxPool", d, tag, [R(d, shape, 1, ints=6)], risky=True, **attrs)
        yield one("AvgPool", d, tag, [R(d, shape, 1, ints=6)], LOOSE[d], risky=True, **attrs)
        yield one("AvgPoolGrad", d, tag, [i32(shape), R(d, ys, 3)], LOOSE[d], risky=True, **attrs)
        # TensorFlow takes the gradient together with the pooling that it is of.
        case = Case(f"MaxPoolGrad/{d}/{tag}", risky=True)
        x = R(d, shape, 1)
        pooled = case.apply("MaxPool", [x], name="pooled", **attrs)
        case.apply("MaxPoolGrad", [x, (pooled, d), R(d, ys, 3, ints=3)], **attrs)
        yield case


def norms():
    for op, d in itertools.product(("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"), DTYPES):
        if op == "FusedBatchNormGrad" and d != "float":
            continue
        third = [T("float", [0])] if op.endswith("V3") else []
        for tag, s in (("", (2, 4, 3, 2)), ("-large", (3, 4, 7, 9)), ("-one-pixel", (3, 4, 1, 1))):
            vectors = [T("float", v) for v in ([1, 0.5, -2, 1.5], [0.5, -0.5, 0, 1], [1, 0.25, 2, 4])]
            yield one(op, d, "inference-nchw" + tag, [R(d, s, 1), R(d, s, 2), *vectors, *third], LOOSE[d], risky=True, keep=[0, 1, 2], is_training=False, data_format="NCHW")


def fused():
    """What TensorFlow's own kernels do not take behind a product, or not at all."""
    X, W = (2, 6, 5, 3), (3, 2, 3, 4)
    bias = lambda d, n: R(d, (n,), 7, scale=2)
    for ops, kw in itertools.product((("BiasAdd", "Add"), ("BiasAdd", "Add", "Relu"), ("BiasAdd", "_FusedHardSwish"), ("FusedBatchNorm", "_MklSwish")), ({}, {"strides": (2, 1), "padding": "VALID"})):
        sizes = [output_size(X[k + 1], W[k], kw.get("strides", (1, 1))[k], kw.get("padding", "SAME"), (0, 0)) for k in (0, 1)]
        args = [bias("float", 4)] if ops[0] == "BiasAdd" else [*[R("float", (4,), seed, scale=1) for seed in (11, 12, 13)], T("float", [0.5, 1, 1.5, 2])]
        args += [R("float", (2, *sizes, 4), 9)] if "Add" in ops else []
        yield one("_FusedConv2D", "float", "-".join((*ops, *kw.get("padding", "same").split())).lower(), [R("float", X, 1, scale=2), R("float", W, 2, scale=1), args, []], LOOSE["float"], risky=True, num_args=len(args), fused_ops=list(ops), **conv_attrs(**kw))
    for ops in (("BiasAdd",), ("BiasAdd", "Relu"), ("BiasAdd", "Relu6")):
        yield one("_FusedConv2D", "float", "nchw-" + "-".join(ops).lower(), [R("float", (2, 3, 6, 5), 1, scale=2), R("float", W, 2, scale=1), [bias("float", 4)], []], LOOSE["float"], risky=True, num_args=1, fused_ops=list(ops), **conv_attrs(layout="NCHW"))
    for d, ops, m in itertools.product(DTYPES, (("BiasAdd",), ("BiasAdd", "Relu"), ("BiasAdd", "Relu6"), ("BiasAdd", "Elu"), ("BiasAdd", "_FusedHardSwish")), (1, 2)):
        for tag, layout, kw in (("same", "NHWC", {}), ("strided", "NHWC", {"strides": (2, 2), "padding": "VALID"}), ("dilated", "NHWC", {"dilations": (2, 2)}), ("nchw", "NCHW", {})):
            attrs = conv_attrs(layout=layout, **kw)
            del attrs["explicit_paddings"]
            shape = first((2, 9, 8, 3), layout)
            yield one("_FusedDepthwiseConv2dNative", d, f"m{m}-{tag}-" + "-".join(ops).lower(), [R(d, shape, 1, scale=2), R(d, (3, 2, 3, m), 2, scale=1), [bias(d, 3 * m)]], LOOSE[d], risky=True, fused_ops=list(ops), **attrs)
    for tag, xs, c in (("wide", (1, 6, 7, 20), 20), ("no-batch", (0, 6, 5, 3), 3)):
        attrs = conv_attrs()
        del attrs["explicit_paddings"]
        yield one("_FusedDepthwiseConv2dNative", "float", tag, [R("float", xs, 1, scale=2), R("float", (3, 3, c, 1), 2, scale=1), [bias("float", c)]], LOOSE["float"], risky=True, fused_ops=["BiasAdd", "Relu6"], **attrs)
    for d in DTYPES:
        for ops in (("BiasAdd", "GeluExact"), ("BiasAdd", "GeluApproximate"), ("BiasAdd", "Add")):
            args = [bias(d, 5)] + ([R(d, (3, 5), 9)] if "Add" in ops else [])
            yield one("_FusedMatMul", d, "-".join(ops).lower(), [R(d, (3, 4), 1, scale=1), R(d, (4, 5), 2, scale=1), args], LOOSE[d], risky=True, fused_ops=list(ops))
        for layout, shape in (("NHWC", (2, 3, 2, 4)), ("NCHW", (2, 4, 3, 2)), ("NHWC", (2, 5, 3, 8))):
            n = shape[1] if layout == "NCHW" else shape[3]
            scale, offset, mean = (R("float", (n,), seed, scale=1) for seed in (11, 12, 13))
            variance = T("float", [0.5 + k / 2 for k in range(n)])
            none = T("float", [])
            name = f"{layout.lower()}{n}"
            x = R(d, shape, 1)
            yield one("_FusedBatchNormEx", d, "inference-" + name, [x, scale, offset, mean, variance, []], LOOSE[d], risky=True, keep=[0, 1, 2], activation_mode="Relu", is_training=False, data_format=layout)
            yield one("_FusedBatchNormEx", d, "training-" + name, [x, scale, offset, none, none, []], LOOSE[d], risky=True, keep=[0, 1, 2], activation_mode="Relu", is_training=True, data_format=layout)
            yield one("_FusedBatchNormEx", d, "epsilon-" + name, [x, scale, offset, mean, variance, []], LOOSE[d], risky=True, keep=[0], activation_mode="Relu", is_training=False, data_format=layout, epsilon=0.25)
    v = [R("float", (3,), seed) for seed in range(4)]
    yield from bad("_FusedBatchNormEx", "float", "channels", [R("float", (2, 3, 2, 3)), *v, []], runtime=False, activation_mode="Relu", is_training=False)
    v = [R("float", (4,), seed) for seed in range(4)]
    yield from bad("_FusedBatchNormEx", "float", "rank", [R("float", (2, 4)), *v, []], runtime=False, activation_mode="Relu", is_training=False)
    yield from bad("_FusedBatchNormEx", "float", "scale", [R("float", (2, 3, 2, 4)), R("float", (3,)), *v[1:], []], runtime=False, activation_mode="Relu", is_training=False)


def cases():
    for part in (convolutions, depthwise, pools, norms, fused):
        yield from part()
