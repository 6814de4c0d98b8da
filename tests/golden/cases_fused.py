"""Products and normalisations with what follows them in one node, as TensorFlow's kernels take it without oneDNN."""
import itertools

import numpy as np

from cases_nn import EXPLICIT, WIDE, conv_attrs
from golden import R, T, bad, f32, one

CONV = ("Relu", "Relu6", "Elu", "LeakyRelu")
PRODUCT = (*CONV, "Sigmoid", "Tanh")


def channels(d, n, seed=7):
    return R(d, (n,), seed, scale=2)


def norm(d, n):
    """Scale, offset, mean and variance."""
    return [*[R(d, (n,), seed, scale=1) for seed in (11, 12, 13)], T(d, np.linspace(0.5, 2, n))]


def conv(tag, xs, ws, ops, d="float", tolerance=None, args=None, alpha=0.2, epsilon=1e-4, **kw):
    if args is None:
        args = norm(d, ws[3]) if ops[0] == "FusedBatchNorm" else [channels(d, ws[3])]
    return one("_FusedConv2D", d, "-".join([tag, *ops]).lower(), [R(d, xs, 1, scale=2), R(d, ws, 2, scale=1), args, []], tolerance or WIDE[d], risky=True,
               num_args=len(args), fused_ops=list(ops), leakyrelu_alpha=alpha, epsilon=epsilon, **conv_attrs(**kw))


def convolutions():
    X, W = (2, 6, 5, 3), (3, 2, 3, 4)
    loose = (1e-5, 1e-4)
    for d, first in itertools.product(("float", "double"), ("BiasAdd", "FusedBatchNorm")):
        for ops in ((first,), *((first, a) for a in CONV)):
            for padding, s in itertools.product(("SAME", "VALID"), ((1, 1), (2, 1))):
                yield conv(f"{padding.lower()}-{s[0]}{s[1]}", X, W, ops, d, strides=s, padding=padding)
            yield conv("pointwise", X, (1, 1, 3, 5), ops, d)
            yield conv("explicit", X, W, ops, d, padding="EXPLICIT", explicit=(1, 2, 0, 1))
            yield conv("dilated", (1, 9, 8, 3), W, ops, d, dilations=(2, 2))
    for first in ("BiasAdd", "FusedBatchNorm"):
        for n, explicit in enumerate(EXPLICIT):
            yield conv(f"explicit{n}", X, W, (first, "Relu"), strides=(2, 3), padding="EXPLICIT", explicit=explicit)
        for tag, xs, ws, kw in (("medium", (1, 17, 19, 5), (3, 3, 5, 7), {}), ("medium-strided", (1, 17, 19, 5), (5, 3, 5, 17), {"strides": (2, 2)}), ("wide", (2, 8, 8, 33), (1, 1, 33, 70), {}),
                                ("stem", (1, 23, 21, 3), (3, 3, 3, 32), {"strides": (2, 2)}), ("whole-image", (2, 6, 5, 3), (6, 5, 3, 2), {"padding": "VALID"}), ("one-pixel", (3, 1, 1, 4), (3, 3, 4, 2), {}),
                                ("one-channel", (1, 7, 6, 1), (3, 3, 1, 1), {}), ("no-batch", (0, 6, 5, 3), (3, 2, 3, 4), {}), ("no-filters", (1, 4, 4, 2), (2, 2, 2, 0), {}), ("no-rows", (1, 0, 4, 3), (3, 2, 3, 4), {})):
            for activation in ("Relu6", "Elu"):
                yield conv(tag, xs, ws, (first, activation), tolerance=loose, **kw)
        yield conv("slope-negative", X, W, (first, "LeakyRelu"), alpha=-0.5)
        yield conv("slope-two", X, W, (first, "LeakyRelu"), alpha=2)
    yield conv("epsilon", X, W, ("FusedBatchNorm",), epsilon=0.25)
    one_pixel = T("float", np.array([np.nan, np.inf, -np.inf, 7, 6, -3, 0.5, 0]).reshape(8, 1, 1, 1))
    for a in CONV:
        yield one("_FusedConv2D", "float", "not-finite-" + a.lower(), [one_pixel, T("float", [[[[1]]]]), [f32([0])], []], WIDE["float"], num_args=1, fused_ops=["BiasAdd", a], **conv_attrs())
    x, w, b, ok = R("float", X), R("float", W), channels("float", 4), {"num_args": 1, "fused_ops": ["BiasAdd"], **conv_attrs()}
    for tag, args, kw in (("no-ops", [b], {"fused_ops": []}), ("unknown", [b], {"fused_ops": ["Bias"]}), ("relu-alone", [b], {"fused_ops": ["Relu"]}), ("bias-after", [b], {"fused_ops": ["Relu", "BiasAdd"]}),
                          ("two-activations", [b], {"fused_ops": ["BiasAdd", "Relu", "Relu"]}), ("exp", [b], {"fused_ops": ["BiasAdd", "Exp"]}), ("count-2", [b], {"num_args": 2}), ("count-0", [b], {"num_args": 0}), ("two-biases", [b, b], {"num_args": 2}),
                          ("bias-rank", [R("float", (1, 4))], {}), ("bias-scalar", [R("float", ())], {}), ("norm-three", [b] * 3, {"num_args": 3, "fused_ops": ["FusedBatchNorm"]}), ("norm-five", [b] * 5, {"num_args": 5, "fused_ops": ["FusedBatchNorm"]}),
                          ("norm-rank", [b] * 3 + [R("float", (4, 1))], {"num_args": 4, "fused_ops": ["FusedBatchNorm"]}), ("no-args", [], {"num_args": 0}), ("strides", [b], {"strides": [1, 0, 1, 1]}), ("strides-batch", [b], {"strides": [2, 1, 1, 1]}),
                          ("filter-format", [b], {"filter_format": "OIHW"})):
        yield from bad("_FusedConv2D", "float", tag, [x, w, args, []], risky=True, **{**ok, **kw})
    yield from bad("_FusedConv2D", "float", "depth", [x, R("float", (3, 2, 2, 4)), [b], []], risky=True, **ok)
    yield from bad("_FusedConv2D", "float", "no-output", [R("float", (1, 1, 4, 3)), w, [b], []], risky=True, **{**ok, **conv_attrs(padding="VALID")})


def products():
    op = "_FusedMatMul"
    for d in ("float", "half", "bfloat16"):
        for ops in (("BiasAdd",), *(("BiasAdd", a) for a in PRODUCT)):
            for a, b in itertools.product((False, True), repeat=2):
                if d != "float" and a != b:
                    continue
                x, y = R(d, (4, 3) if a else (3, 4), 1, scale=1), R(d, (5, 4) if b else (4, 5), 2, scale=1)
                yield one(op, d, f"t{int(a)}{int(b)}-" + "-".join(ops).lower(), [x, y, [channels(d, 5)]], WIDE[d], transpose_a=a, transpose_b=b, fused_ops=list(ops))
    d = "float"
    for tag, m, k, n in (("vector", 1, 130, 9), ("one-column", 33, 65, 1), ("medium", 33, 65, 17), ("wide", 7, 33, 130), ("no-rows", 0, 3, 4), ("no-columns", 2, 3, 0)):
        for a in ("Relu", "Tanh"):
            yield one(op, d, f"{tag}-{a.lower()}", [R(d, (m, k), 1, scale=1), R(d, (k, n), 2, scale=1), [channels(d, n)]], (1e-5, 1e-4), fused_ops=["BiasAdd", a])
    for alpha in (0.5, -0.5, 2):
        yield one(op, d, f"slope{alpha}", [R(d, (3, 4), 1), R(d, (4, 5), 2), [channels(d, 5)]], WIDE[d], fused_ops=["BiasAdd", "LeakyRelu"], leakyrelu_alpha=alpha)
    edges = T(d, [[np.nan], [np.inf], [-np.inf], [7], [-3], [0.5], [0]])
    for a in PRODUCT:
        yield one(op, d, "not-finite-" + a.lower(), [edges, T(d, [[1]]), [f32([0])]], WIDE[d], fused_ops=["BiasAdd", a])
    x, y, b = R(d, (2, 3)), R(d, (3, 4)), channels(d, 4)
    for tag, inputs, ops in (("no-ops", [x, y, [b]], []), ("unknown", [x, y, [b]], ["Bias"]), ("norm", [x, y, [b] * 4], ["FusedBatchNorm"]), ("relu-alone", [x, y, [b]], ["Relu"]), ("two", [x, y, [b, b]], ["BiasAdd"]), ("none", [x, y, []], ["BiasAdd"]),
                             ("bias-rank", [x, y, [R(d, (1, 4))]], ["BiasAdd"]), ("bias-scalar", [x, y, [R(d, ())]], ["BiasAdd"]), ("exp", [x, y, [b]], ["BiasAdd", "Exp"]), ("inner", [x, R(d, (2, 4)), [b]], ["BiasAdd"]), ("rank", [R(d, (3,)), y, [b]], ["BiasAdd"]),
                             ("two-activations", [x, y, [b]], ["BiasAdd", "Relu", "Relu"])):
        yield from bad(op, d, tag, inputs, risky=True, fused_ops=ops)


def cases():
    for part in (convolutions, products):
        yield from part()
