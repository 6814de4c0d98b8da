"""Convolutions, pooling, biases, batch normalisation and softmax."""
import itertools

import numpy as np

from golden import T, bad, dtypes, f32, many, one, R, tol

WIDE = {"float": (1e-5, 1e-5), "double": (1e-12, 1e-12), "half": (4e-3, 1e-2), "bfloat16": (3e-2, 5e-2)}


def conv_attrs(strides=(1, 1), dilations=(1, 1), padding="SAME", explicit=(), layout="NHWC"):
    """Attrs of a convolution from its two spatial numbers."""
    spread = (lambda v: [1, *v, 1]) if layout == "NHWC" else (lambda v: [1, 1, *v])
    pads = []
    if explicit:
        top, bottom, left, right = explicit
        pads = [0, 0, top, bottom, left, right, 0, 0] if layout == "NHWC" else [0, 0, 0, 0, top, bottom, left, right]
    return dict(strides=spread(strides), dilations=spread(dilations), padding=padding, explicit_paddings=pads, data_format=layout)


EXPLICIT = [(1, 1, 1, 1), (0, 2, 1, 0), (2, 0, 0, 3)]


def conv2d():
    op = "Conv2D"
    for d in dtypes(op):
        x, w = R(d, (2, 6, 5, 3), 1, ints=2), R(d, (3, 2, 3, 4), 2, ints=2)
        yield many(op, d, "strides", [([x, w], conv_attrs(strides, padding=padding))
                                      for padding in ("SAME", "VALID") for strides in ((1, 1), (2, 2))])
        yield one(op, d, "explicit", [x, w], **conv_attrs((2, 1), padding="EXPLICIT", explicit=(1, 2, 0, 1)))
        yield one(op, d, "pointwise", [x, R(d, (1, 1, 3, 5), 3, ints=2)], **conv_attrs())
        yield one(op, d, "groups", [R(d, (1, 4, 4, 4), 1, ints=2), R(d, (2, 2, 2, 6), 2, ints=2)], **conv_attrs(padding="VALID"))
        yield one(op, d, "whole-image", [x, R(d, (6, 5, 3, 2), 3, ints=2)], **conv_attrs(padding="VALID"))
        yield one(op, d, "dilated", [x, w], **conv_attrs(dilations=(2, 2)))
        if d != "int32":
            yield one(op, d, "fractions", [R(d, (1, 5, 5, 4), 1, scale=1), R(d, (3, 3, 4, 3), 2, scale=0.3)], WIDE[d], **conv_attrs())
    d = "float"
    x, w = R(d, (2, 9, 8, 3), 1), R(d, (3, 2, 3, 4), 2)
    for padding in ("SAME", "VALID"):
        grid = [(s, r) for s in ((1, 1), (2, 2), (1, 3), (3, 1)) for r in ((1, 1), (2, 1), (1, 3)) if (1, 1) in (s, r) or s == (2, 2)]
        yield many(op, d, "grid-" + padding.lower(), [([x, w], conv_attrs(s, r, padding)) for s, r in grid], WIDE[d])
    yield many(op, d, "grid-explicit", [([x, w], conv_attrs(s, padding="EXPLICIT", explicit=p)) for p in EXPLICIT for s in ((1, 1), (2, 3))], WIDE[d])
    yield one(op, d, "explicit-dilated", [x, w], WIDE[d], **conv_attrs(dilations=(2, 2), padding="EXPLICIT", explicit=(1, 2, 2, 0)))
    for tag, xs, ws, kw in (
            ("medium", (1, 17, 19, 5), (3, 3, 5, 7), {}), ("medium-strided", (1, 17, 19, 5), (5, 3, 5, 7), {"strides": (2, 2)}),
            ("even-filter", (1, 5, 6, 2), (4, 4, 2, 3), {"strides": (2, 2)}), ("stride-over-filter", (1, 7, 7, 2), (1, 1, 2, 3), {"strides": (3, 3)}),
            ("stride-over-filter-same", (1, 8, 5, 1), (2, 2, 1, 2), {"strides": (4, 3)}), ("one-pixel", (3, 1, 1, 4), (3, 3, 4, 2), {}),
            ("row", (1, 1, 9, 2), (1, 3, 2, 2), {}), ("depthwise-as-groups", (1, 5, 5, 6), (3, 3, 1, 6), {}), ("groups3", (2, 5, 4, 6), (3, 3, 2, 9), {"strides": (2, 1)}),
            ("pointwise-strided", (1, 6, 6, 8), (1, 1, 8, 5), {"strides": (2, 2)}), ("filter-over-image", (1, 2, 3, 2), (5, 5, 2, 2), {}),
            ("large-channels", (1, 3, 3, 33), (2, 2, 33, 17), {"padding": "VALID"})):
        yield one(op, d, tag, [R(d, xs, 1), R(d, ws, 2, scale=1)], (1e-5, 1e-4), **conv_attrs(**kw))
    for tag, xs, ws in (("no-batch", (0, 4, 4, 2), (2, 2, 2, 3)), ("no-filters", (1, 4, 4, 2), (2, 2, 2, 0)), ("no-rows", (1, 0, 4, 2), (2, 2, 2, 3))):
        yield one(op, d, tag, [R(d, xs), R(d, ws)], risky=True, **conv_attrs())
    yield one(op, d, "no-output-runtime", [R(d, (1, 1, 4, 2)), R(d, (2, 2, 2, 3))], dynamic=True, **conv_attrs(padding="VALID"))
    yield one(op, "int32", "wrap", [T("int32", [[[[2**31 - 1], [2**30]]]]), T("int32", [[[[3]], [[5]]]])], **conv_attrs())
    ok = conv_attrs()
    X, W = (1, 4, 4, 2), (2, 2, 2, 3)
    errors = [("input-rank", (4, 4, 2), W, ok), ("filter-rank", X, (2, 2, 2), ok), ("depth", X, (2, 2, 3, 3), ok), ("groups", (1, 4, 4, 4), (2, 2, 2, 3), ok),
              ("strides-length", X, W, {**ok, "strides": [1, 1]}), ("strides-batch", X, W, {**ok, "strides": [2, 1, 1, 1]}),
              ("strides-depth", X, W, {**ok, "strides": [1, 1, 1, 2]}), ("strides-zero", X, W, {**ok, "strides": [1, 0, 1, 1]}),
              ("strides-negative", X, W, {**ok, "strides": [1, -1, 1, 1]}), ("dilations-length", X, W, {**ok, "dilations": [1, 1]}),
              ("dilations-batch", X, W, {**ok, "dilations": [2, 1, 1, 1]}), ("dilations-zero", X, W, {**ok, "dilations": [1, 0, 1, 1]}),
              ("too-large", X, (7, 7, 2, 3), conv_attrs(padding="VALID")), ("no-output", (1, 1, 4, 2), (3, 2, 2, 3), conv_attrs(padding="VALID")), ("no-channels", (1, 4, 4, 0), (2, 2, 0, 3), ok), ("explicit-missing", X, W, conv_attrs(padding="EXPLICIT")),
              ("explicit-unwanted", X, W, {**ok, "explicit_paddings": [0, 0, 1, 1, 1, 1, 0, 0]}), ("explicit-negative", X, W, conv_attrs(padding="EXPLICIT", explicit=(-1, 0, 0, 0))),
              ("explicit-batch", X, W, {**conv_attrs(padding="EXPLICIT"), "explicit_paddings": [1, 0, 1, 1, 1, 1, 0, 0]}),
              ("explicit-length", X, W, {**conv_attrs(padding="EXPLICIT"), "explicit_paddings": [1, 1]}), ("padding-name", X, W, {**ok, "padding": "FULL"}),
              ("empty-filter", X, (0, 2, 2, 3), ok)]
    for tag, xs, ws, kw in errors:
        yield from bad(op, d, tag, [R(d, xs), R(d, ws)], risky=True, **kw)


def depthwise():
    op = "DepthwiseConv2dNative"
    for d in dtypes(op):
        x = R(d, (2, 6, 5, 3), 1, ints=2)
        for m in (1, 2):
            for padding in ("SAME", "VALID"):
                yield one(op, d, f"m{m}-{padding.lower()}", [x, R(d, (3, 2, 3, m), 2, ints=2)], **conv_attrs(padding=padding))
        yield one(op, d, "explicit", [x, R(d, (3, 2, 3, 2), 2, ints=2)], **conv_attrs(padding="EXPLICIT", explicit=(1, 2, 0, 1)))
        yield one(op, d, "strided", [x, R(d, (3, 3, 3, 1), 2, ints=2)], **conv_attrs((2, 2)))
        yield one(op, d, "fractions", [R(d, (1, 5, 5, 4), 1, scale=1), R(d, (3, 3, 4, 1), 2, scale=0.3)], WIDE[d], **conv_attrs())
    d = "float"
    for tag, xs, ws, kw in (
            ("medium", (1, 17, 19, 5), (3, 3, 5, 2), {}), ("medium-strided", (1, 17, 19, 9), (5, 5, 9, 1), {"strides": (2, 2)}), ("m3", (1, 5, 5, 2), (2, 3, 2, 3), {"strides": (2, 2), "padding": "VALID"}),
            ("one-channel", (2, 5, 5, 1), (3, 3, 1, 4), {}), ("channels16", (1, 4, 4, 16), (3, 3, 16, 1), {}), ("channels17", (1, 4, 4, 17), (3, 3, 17, 1), {"strides": (2, 2)}), ("one-pixel", (1, 1, 1, 4), (3, 3, 4, 1), {}),
            ("no-batch", (0, 4, 4, 2), (2, 2, 2, 1), {}), ("explicit-strided", (1, 6, 7, 3), (3, 3, 3, 1), {"strides": (2, 2), "padding": "EXPLICIT", "explicit": (0, 1, 0, 1)})):
        yield one(op, d, tag, [R(d, xs, 1), R(d, ws, 2, scale=1)], (1e-5, 2e-5), risky=True, **conv_attrs(**kw))
    ok, X, W = conv_attrs(), (1, 4, 4, 2), (2, 2, 2, 1)
    for tag, xs, ws, kw in (("input-rank", (4, 4, 2), W, ok), ("filter-rank", X, (2, 2, 2), ok), ("depth", X, (2, 2, 3, 1), ok), 
                            ("strides-length", X, W, {**ok, "strides": [1, 1]}), ("strides-batch", X, W, {**ok, "strides": [2, 1, 1, 1]}), ("too-large", X, (7, 7, 2, 1), conv_attrs(padding="VALID")),
                            ("strides-zero", X, W, {**ok, "strides": [1, 0, 0, 1]}), ("explicit-missing", X, W, conv_attrs(padding="EXPLICIT"))):
        yield from bad(op, d, tag, [R(d, xs), R(d, ws)], risky=True, **kw)


def pool_attrs(k=(2, 2), s=(2, 2), padding="VALID", layout="NHWC", explicit=()):
    """Attrs of a pool from its two spatial numbers."""
    spread = (lambda v: [1, *v, 1]) if layout == "NHWC" else (lambda v: [1, 1, *v])
    found = dict(ksize=spread(k), strides=spread(s), padding=padding, data_format=layout)
    if explicit:
        found["explicit_paddings"] = [0, 0, *explicit, 0, 0]
    return found


def pools():
    for op in ("MaxPool", "AvgPool"):
        exact = op == "MaxPool"
        for d in dtypes(op):
            x = R(d, (2, 6, 5, 3), 1, ints=6)
            yield many(op, d, "k32-s21", [([x], pool_attrs((3, 2), (2, 1), padding)) for padding in ("SAME", "VALID")], None if exact else tol(d))
            if exact:
                yield one(op, d, "explicit", [x], **pool_attrs((3, 3), (2, 2), "EXPLICIT", explicit=(1, 1, 0, 1)))
        d = "float"
        x = R(d, (1, 7, 9, 2), 1)
        for padding, k in itertools.product(("SAME", "VALID"), ((1, 1), (2, 2), (3, 3), (2, 5))):
            yield many(op, d, f"grid-k{k[0]}{k[1]}-{padding.lower()}", [([x], pool_attrs(k, s, padding)) for s in ((1, 1), (2, 2), (3, 1))], None if exact else tol(d))
        for tag, s, kw in (("whole", (2, 5, 4, 3), {"k": (5, 4), "s": (1, 1)}), ("larger-than-image", (1, 2, 3, 2), {"k": (5, 5), "s": (1, 1), "padding": "SAME"}),
                           ("no-batch", (0, 4, 4, 2), {}), ("medium", (1, 17, 19, 5), {"k": (3, 3), "padding": "SAME"}), ("one-pixel", (3, 1, 1, 2), {"k": (3, 3), "padding": "SAME"})):
            yield one(op, d, tag, [R(d, s, 2)], None if exact else tol(d), risky=True, **pool_attrs(**kw))
        yield one(op, d, "not-finite", [T(d, np.array([7 if exact else np.nan, 1, 2, np.inf, -np.inf, 3, 4, 5, -np.inf, -np.inf, -np.inf, -np.inf]).reshape(1, 2, 6, 1))], **pool_attrs())
        X = (1, 4, 4, 2)
        ok = pool_attrs()
        errors = [("rank", (4, 4, 2), ok), ("ksize-length", X, {**ok, "ksize": [2, 2]}), ("strides-length", X, {**ok, "strides": [1, 2]}), ("ksize-batch", X, {**ok, "ksize": [2, 2, 2, 1]}),
                  ("strides-batch", X, {**ok, "strides": [2, 1, 1, 1]}), ("ksize-zero", X, {**ok, "ksize": [1, 0, 1, 1]}), ("strides-zero", X, {**ok, "strides": [1, 0, 1, 1]}),
                  ("too-large", X, pool_attrs((8, 8))), ("strides-negative", X, {**ok, "strides": [1, -1, 1, 1]}), ("padding-name", X, {**ok, "padding": "FULL"})]
        if exact:
            errors += [("explicit-missing", X, {**ok, "padding": "EXPLICIT"}), ("explicit-unwanted", X, {**ok, "explicit_paddings": [0, 0, 1, 1, 1, 1, 0, 0]}),
                       ("explicit-negative", X, pool_attrs(padding="EXPLICIT", explicit=(-1, 0, 0, 0))), ("explicit-over-window", X, pool_attrs(padding="EXPLICIT", explicit=(2, 0, 0, 0)))]
        else:
            errors += [("explicit", X, {**ok, "padding": "EXPLICIT"})]
        for tag, s, kw in errors:
            yield from bad(op, d, tag, [R(d, s)], risky=True, **kw)
    for k, pads in enumerate(((1, 1, 1, 1), (0, 1, 1, 0), (2, 0, 0, 2))):
        yield one("MaxPool", "float", f"explicit{k}", [R("float", (2, 6, 7, 2), 3)], **pool_attrs((3, 3), (1 + k, 2), "EXPLICIT", explicit=pads))
    yield from bad("MaxPool", "float", "depth-uneven", [R("float", (1, 4, 4, 3))], ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID")
    yield one("MaxPool", "float", "depth", [R("float", (1, 2, 2, 6))], ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
    yield from bad("MaxPool", "float", "depth-and-space", [R("float", (1, 4, 4, 4))], ksize=[1, 2, 2, 2], strides=[1, 2, 2, 2], padding="VALID")


def biases():
    for d in dtypes("BiasAdd"):
        yield one("BiasAdd", d, "nhwc", [R(d, (2, 3, 2, 4), 1), R(d, (4,), 2)])
        yield one("BiasAdd", d, "nchw", [R(d, (2, 4, 3, 2), 1), R(d, (4,), 2)], data_format="NCHW")
    for layout in ("NHWC", "NCHW"):
        if layout == "NCHW":  # the kernel takes a matrix, the shape function does not
            yield one("BiasAdd", "float", "nchw-matrix-runtime", [R("float", (2, 3)), R("float", (3,), 3)], dynamic=True, data_format=layout)
            yield from bad("BiasAdd", "float", "nchw-matrix", [R("float", (2, 3)), R("float", (3,), 3)], runtime=False, data_format=layout)
        for s in ((2, 3), (2, 3, 4), (2, 3, 1, 5), (2, 3, 2, 2, 4), (0, 3, 2), (3, 0), (1, 3, 17), (2, 3, 1, 2, 1, 2)):
            if layout == "NCHW" and len(s) == 2:
                continue
            c = s[1] if layout == "NCHW" else s[-1]
            yield one("BiasAdd", "float", f"{layout.lower()}-" + "x".join(map(str, s)), [R("float", s), R("float", (c,), 3)], data_format=layout)
        yield from bad("BiasAdd", "float", "length-" + layout.lower(), [R("float", (2, 3, 4)), R("float", (5,))], data_format=layout)
        yield from bad("BiasAdd", "float", "rank1-" + layout.lower(), [R("float", (3,)), R("float", (3,))], data_format=layout)
        yield from bad("BiasAdd", "float", "bias-rank-" + layout.lower(), [R("float", (2, 3)), R("float", (1, 3))], data_format=layout)


def norms():
    for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        for d in dtypes(op):
            for layout, shape in (("NHWC", (2, 3, 2, 4)), ("NCHW", (2, 4, 3, 2))):
                x = R(d, shape, 1)
                ps = [T("float", v) for v in ([1, 0.5, -2, 1.5], [0.1, 0, -1, 2], [0.5, -0.5, 0, 1], [1, 0.25, 2, 4])]
                none = [ps[0], ps[1], f32([]), f32([])]
                for tag, inputs, kw, keep in (
                        ("inference", [x, *ps], {"is_training": False}, [0, 1, 2]), ("epsilon", [x, *ps], {"is_training": False, "epsilon": 0.01}, [0]),
                        ("training", [x, *none], {"is_training": True}, [0, 1, 2, 3, 4]),
                        ("training-average", [x, *ps], {"is_training": True, "exponential_avg_factor": 0.25}, [0, 1, 2])):
                    if layout == "NCHW" and tag not in ("inference", "training"):
                        continue
                    yield one(op, d, f"{tag}-{layout.lower()}", inputs, tol(d, 2), keep=keep, data_format=layout, **kw)
        x = R("float", (2, 3, 2, 4), 1)
        ps = [R("float", (4,), k) for k in range(3)] + [f32([1, 2, 3, 4])]
        none = [ps[0], ps[1], f32([]), f32([])]
        yield one(op, "float", "empty-inference", [R("float", (0, 3, 2, 4)), *ps], keep=[0, 1, 2], is_training=False)
        yield one(op, "float", "empty-training", [R("float", (0, 3, 2, 4)), *none], keep=[0, 1, 2], is_training=True, risky=True)
        yield one(op, "float", "one-value-training", [R("float", (1, 1, 1, 4)), *none], tol("float", 2), keep=[0, 1, 2], is_training=True)
        yield one(op, "float", "large", [R("float", (2, 7, 6, 5), 1), *[R("float", (5,), k) for k in range(2)], f32([]), f32([])], (1e-5, 1e-5), keep=[0, 1, 2], is_training=True)
        if op == "FusedBatchNormV3":
            x5 = R("float", (2, 2, 2, 3, 4), 1)
            yield one(op, "float", "ndhwc", [x5, *ps], tol("float"), keep=[0], is_training=False, data_format="NDHWC", risky=True)
            yield one(op, "float", "ncdhw", [R("float", (2, 4, 2, 3, 2), 1), *ps], tol("float"), keep=[0], is_training=False, data_format="NCDHW", risky=True)
            yield one(op, "float", "ndhwc-training", [x5, *none], tol("float", 2), keep=[0, 1, 2], is_training=True, data_format="NDHWC", risky=True)
        short = R("float", (3,))
        for tag, inputs in (("x-rank", [R("float", (2, 4)), *ps]), ("scale-length", [x, short, *ps[1:]]), ("offset-length", [x, ps[0], short, *ps[2:]]), ("scale-rank", [x, R("float", (1, 4)), *ps[1:]]),
                            ("mean-length", [x, *ps[:2], short, ps[3]]), ("variance-length", [x, *ps[:3], short])):
            yield from bad(op, "float", tag, inputs, risky=True, is_training=False)
        yield from bad(op, "float", "mean-empty", [x, *none], risky=True, is_training=False)


def softmaxes():
    for op in ("Softmax", "LogSoftmax"):
        for d in dtypes(op):
            t = tol(d) if d != "bfloat16" else (3e-2, 3e-2)
            yield many(op, d, "values", [[R(d, s, 1)] for s in ((3, 5), (7,), (2, 3, 4), (1, 1))], t)
            yield one(op, d, "edges", [T(d, [[1000, 999, -1000], [-np.inf, 0, 1], [0, 0, 0], [-1e4, -1e4, -1e4], [np.nan, 1, 2], [np.inf, 1, 2], [60000, 0, 1]])], t)
        yield many(op, "float", "shapes", [[R("float", s, 2)] for s in ((0,), (0, 3), (3, 0), (2, 0, 3), (1, 2, 1, 2, 3), (2, 33), (5, 1), (3, 1000)[:1] + (100,))], tol("float"))
        yield from bad(op, "float", "scalar", [R("float", ())])


def cases():
    for part in (conv2d, depthwise, pools, biases, norms, softmaxes):
        yield from part()
