"""The gradients of pooling, and pooling that says where the greatest element stood."""
import numpy as np

from cases_conv_grad import output_size
from cases_nn import WIDE, pool_attrs
from golden import R, T, allowed_dtypes, bad, dtypes, i32, one

LOOSE = {**WIDE, "half": (4e-3, 2e-2)}


def pools():
    op = "MaxPoolGrad"
    for d in dtypes(op):
        x = R(d, (2, 6, 5, 3), 1, ints=6)
        for padding in ("SAME", "VALID"):
            ys = (2, *[output_size(n, w, s, padding) for n, w, s in ((6, 3, 2), (5, 2, 1))], 3)
            y, g = R(d, ys, 2, ints=6), R(d, ys, 3, ints=3)
            yield one(op, d, "k32-s21-" + padding.lower(), [x, y, g], **pool_attrs((3, 2), (2, 1), padding))
            yield one("MaxPoolGradV2", d, "k32-s21-" + padding.lower(), [x, y, g, i32([1, 3, 2, 1]), i32([1, 2, 1, 1])], padding=padding)
            yield one("MaxPoolGradGrad", d, "k32-s21-" + padding.lower(), [x, y, R(d, (2, 6, 5, 3), 4, ints=3)], **pool_attrs((3, 2), (2, 1), padding))
            yield one("MaxPoolGradGradV2", d, "k32-s21-" + padding.lower(), [x, y, R(d, (2, 6, 5, 3), 4, ints=3), i32([1, 3, 2, 1]), i32([1, 2, 1, 1])], padding=padding)
        ys = (2, output_size(6, 3, 2, "EXPLICIT", (1, 1)), output_size(5, 3, 2, "EXPLICIT", (0, 1)), 3)
        yield one(op, d, "explicit", [x, R(d, ys, 2), R(d, ys, 3, ints=3)], **pool_attrs((3, 3), (2, 2), "EXPLICIT", explicit=(1, 1, 0, 1)))
    d = "float"
    for op, ties in (("MaxPoolGrad", None), ("MaxPoolGrad", 1), ("AvgPoolGrad", None), ("MaxPoolGradGrad", 1)):
        for tag, xs, k, s, padding in (
                ("k2", (1, 8, 8, 4), (2, 2), (2, 2), "VALID"), ("k3s2", (2, 7, 9, 2), (3, 3), (2, 2), "SAME"), ("k3s1", (1, 7, 9, 2), (3, 3), (1, 1), "SAME"), ("k25s31", (1, 7, 9, 2), (2, 5), (3, 1), "VALID"),
                ("whole", (2, 5, 4, 3), (5, 4), (1, 1), "VALID"), ("larger", (1, 2, 3, 2), (5, 5), (1, 1), "SAME"), ("no-batch", (0, 4, 4, 2), (2, 2), (2, 2), "VALID"),
                ("medium", (1, 17, 19, 5), (3, 3), (2, 2), "SAME"), ("one-pixel", (3, 1, 1, 2), (3, 3), (2, 2), "SAME"), ("gaps", (2, 7, 7, 2), (1, 2), (3, 3), "VALID"), ("deep", (1, 6, 6, 40), (3, 3), (2, 2), "SAME")):
            ys = (xs[0], *[output_size(xs[n + 1], k[n], s[n], padding) for n in (0, 1)], xs[3])
            x, y, g = R(d, xs, 1, ints=ties), R(d, ys, 2, ints=ties), R(d, xs if op == "MaxPoolGradGrad" else ys, 3, ints=3)
            inputs = [i32(xs), g] if op == "AvgPoolGrad" else [x, y, g]
            yield one(op, d, tag + ("-ties" if ties else ""), inputs, (1e-5, 1e-6), risky=True, **pool_attrs(k, s, padding))
    nan = T(d, np.array([np.nan, 1, 2, np.nan, 3, 3, -np.inf, -np.inf]).reshape(1, 1, 8, 1))
    y = T(d, np.array([1, 2, 3, -np.inf]).reshape(1, 1, 4, 1))
    yield one("MaxPoolGrad", d, "not-finite", [nan, y, R(d, (1, 1, 4, 1))], **pool_attrs((1, 2), (1, 2)))
    yield one("MaxPoolGradGrad", d, "not-finite", [nan, y, R(d, (1, 1, 8, 1))], **pool_attrs((1, 2), (1, 2)))
    for op, d in [("AvgPoolGrad", d) for d in dtypes("AvgPoolGrad")]:
        for padding in ("SAME", "VALID"):
            ys = (2, *[output_size(n, w, s, padding) for n, w, s in ((6, 3, 2), (5, 2, 1))], 3)
            yield one(op, d, "k32-s21-" + padding.lower(), [i32([2, 6, 5, 3]), R(d, ys, 3)], LOOSE[d], **pool_attrs((3, 2), (2, 1), padding))
    d = "float"
    X, Y, ok = (1, 4, 4, 2), (1, 2, 2, 2), pool_attrs()
    same = {**ok, "padding": "SAME"}
    shared = [("ksize-length", X, Y, Y, {**ok, "ksize": [2, 2]}), ("strides-length", X, Y, Y, {**ok, "strides": [1, 2]}), ("ksize-batch", X, Y, Y, {**ok, "ksize": [2, 2, 2, 1]}), ("strides-batch", X, Y, Y, {**ok, "strides": [2, 1, 1, 1]}),
              ("ksize-depth", X, Y, Y, {**ok, "ksize": [1, 2, 2, 2]}), ("strides-zero", X, Y, Y, {**ok, "strides": [1, 0, 1, 1]}), ("strides-negative", X, Y, Y, {**ok, "strides": [1, -1, 1, 1]}),
              ("padding-name", X, Y, Y, {**ok, "padding": "FULL"})]
    nchw = ("nchw", (1, 2, 4, 4), (1, 2, 2, 2), (1, 2, 2, 2), pool_attrs(layout="NCHW"))
    max_errors = shared + [("input-rank", (4, 4, 2), Y, Y, ok), ("output-shape", X, (1, 2, 3, 2), Y, ok), ("gradient-shape", X, Y, (1, 2, 3, 2), ok), ("too-large", X, Y, Y, pool_attrs((8, 8))), ("ksize-zero", X, Y, Y, {**ok, "ksize": [1, 0, 1, 1]}),
                           ("strides-depth", X, Y, Y, {**ok, "strides": [1, 2, 2, 2]}), ("depth-alone", X, Y, Y, {**ok, "ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2]}), ("same-shape", X, Y, (1, 3, 2, 2), same)]
    explicit = [("explicit-missing", X, Y, Y, {**ok, "padding": "EXPLICIT"}), ("explicit-negative", X, Y, Y, pool_attrs(padding="EXPLICIT", explicit=(-1, 0, 0, 0))), ("explicit-over-window", X, Y, Y, pool_attrs(padding="EXPLICIT", explicit=(2, 0, 0, 0)))]
    for tag, xs, ys, gs, kw in max_errors + explicit:
        yield from bad("MaxPoolGrad", d, tag, [R(d, xs), R(d, ys), R(d, gs)], risky=True, **kw)
    for tag, xs, ys, gs, kw in [*max_errors, nchw]:
        gs = {Y: X}.get(gs, gs) if tag != "input-rank" else (4, 4, 2)
        yield from bad("MaxPoolGradGrad", d, tag, [R(d, xs), R(d, ys), R(d, gs)], risky=True, **kw)
    for tag, k, s in (("ksize-length", [2, 2], [1, 2, 2, 1]), ("strides-length", [1, 2, 2, 1], [2, 2]), ("strides-zero", [1, 2, 2, 1], [1, 0, 2, 1]), ("ksize-batch", [2, 2, 2, 1], [1, 2, 2, 1]), ("ksize-depth", [1, 2, 2, 2], [1, 2, 2, 2])):
        yield from bad("MaxPoolGradV2", d, tag, [R(d, X), R(d, Y), R(d, Y), i32(k), i32(s)], risky=True, padding="VALID")
        yield from bad("MaxPoolGradGradV2", d, tag, [R(d, X), R(d, Y), R(d, X), i32(k), i32(s)], risky=True, padding="VALID")
    for tag, xs, ys, gs, kw in shared + [("sizes-short", (4, 4, 2), Y, Y, ok), ("sizes-negative", (1, -4, 4, 2), Y, Y, ok), ("gradient-rank", X, Y, (2, 2, 2), ok)]:
        yield from bad("AvgPoolGrad", d, tag, [i32(xs), R(d, gs)], risky=True, **kw)


def inputs_as_window():
    op = "MaxPoolV2"
    k, s = i32([1, 3, 2, 1]), i32([1, 2, 1, 1])
    for d in dtypes(op):
        if d in allowed_dtypes(op, "T"):
            yield one(op, d, "same", [R(d, (2, 6, 5, 3), 1, ints=6), k, s], padding="SAME")
    d, X = "float", (1, 4, 4, 2)
    yield one(op, d, "valid", [R(d, (2, 6, 5, 3), 1), k, s], padding="VALID")
    yield one(op, d, "depth", [R(d, (1, 2, 2, 6)), i32([1, 1, 1, 3]), i32([1, 1, 1, 3])], padding="VALID")
    for tag, xs, k, s in (("rank", (4, 4, 2), [1, 2, 2, 1], [1, 2, 2, 1]), ("ksize-length", X, [2, 2], [1, 2, 2, 1]), ("strides-length", X, [1, 2, 2, 1], [2, 2]), ("strides-zero", X, [1, 2, 2, 1], [1, 0, 2, 1]), ("ksize-batch", X, [2, 2, 2, 1], [1, 2, 2, 1]),
                          ("depth-and-space", X, [1, 2, 2, 2], [1, 2, 2, 2]), ("too-large", X, [1, 6, 2, 1], [1, 2, 2, 1])):
        yield from bad(op, d, tag, [R(d, xs), i32(k), i32(s)], runtime=tag != "too-large", risky=True, padding="VALID")
    yield from bad(op, d, "nchw", [R(d, (1, 2, 4, 4)), i32([1, 1, 2, 2]), i32([1, 1, 2, 2])], risky=True, padding="VALID", data_format="NCHW")


def argmaxes():
    def attrs(k=(2, 2), s=(2, 2), padding="VALID", **more):
        return dict(ksize=[1, *k, 1], strides=[1, *s, 1], padding=padding, **more)

    op = "MaxPoolWithArgmax"
    for d in dtypes(op):
        for kind in ("int32", "int64"):
            yield one(op, d, f"k32-{kind}", [R(d, (2, 6, 5, 3), 1, ints=3)], Targmax=kind, **attrs((3, 2), (2, 1), "SAME"))
    d = "float"
    for tag, xs, kw in (("batch", (3, 4, 4, 2), {"include_batch_in_index": True}), ("no-batch-in-index", (3, 4, 4, 2), {}), ("larger", (1, 2, 3, 2), {"k": (5, 5), "s": (1, 1), "padding": "SAME"}), ("overlap", (2, 7, 9, 5), {"k": (3, 3), "padding": "SAME"})):
        yield one(op, d, tag, [R(d, xs, 1)], risky=True, **attrs(**kw))
    yield one(op, d, "not-finite", [T(d, np.array([np.nan, 1, 2, np.nan, 3, 3, -np.inf, -np.inf]).reshape(1, 1, 8, 1))], **attrs((1, 2), (1, 2)))
    # Over depth TensorFlow gives each element and its own place; shape functions say otherwise.
    deep = dict(ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2])
    for d, kind in (("float", "int64"), ("float", "int32"), ("half", "int64"), ("int32", "int64"), ("uint8", "int64"), ("double", "int64")):
        for tag, kw in (("", {}), ("-batch", {"include_batch_in_index": True}), ("-same", {"padding": "SAME"}), ("-strided", {"strides": [1, 2, 1, 2]})):
            yield one(op, d, f"depth-{kind}{tag}", [R(d, (2, 3, 2, 4), 1)], dynamic=True, risky=True, Targmax=kind, **{"padding": "VALID", **deep, **kw})
    d = "float"
    yield from bad(op, d, "depth-uneven", [R(d, (1, 2, 2, 3))], risky=True, padding="VALID", **deep)
    yield from bad(op, d, "depth-stride", [R(d, (1, 2, 2, 4))], risky=True, padding="VALID", ksize=[1, 1, 1, 2], strides=[1, 1, 1, 1])
    X, ok = (1, 4, 4, 2), attrs()
    errors = [("rank", (4, 4, 2), ok), ("empty", (0, 4, 4, 2), ok), ("ksize-length", X, {**ok, "ksize": [2, 2]}), ("ksize-batch", X, {**ok, "ksize": [2, 2, 2, 1]}), ("strides-batch", X, {**ok, "strides": [2, 1, 1, 1]}), ("ksize-zero", X, {**ok, "ksize": [1, 0, 1, 1]}),
              ("strides-zero", X, {**ok, "strides": [1, 0, 1, 1]}), ("depth-and-space", X, {**ok, "ksize": [1, 2, 2, 2]})]
    for tag, xs, kw in errors:
        yield from bad(op, d, tag, [R(d, xs)], risky=True, static=tag != "empty", **kw)
    op = "MaxPoolGradWithArgmax"
    for d in dtypes(op):
        x, g = R(d, (2, 6, 5, 3), 1), R(d, (2, 3, 5, 3), 2, ints=3)
        places = np.random.RandomState(5).randint(0, 90, (2, 3, 5, 3))
        yield one(op, d, "k32", [x, g, T("int64", places)], **attrs((3, 2), (2, 1), "SAME"))
    d = "float"
    x, g = R(d, (2, 6, 5, 3), 1), R(d, (2, 3, 5, 3), 2, ints=3)
    yield one(op, d, "batch", [x, g, T("int64", places + np.array([0, 90]).reshape(2, 1, 1, 1))], include_batch_in_index=True, **attrs((3, 2), (2, 1), "SAME"))
    yield one(op, d, "empty", [R(d, (0, 4, 4, 2)), R(d, (0, 2, 2, 2)), T("int64", np.zeros((0, 2, 2, 2), np.int64))], risky=True, **ok)
    halves = (2, 3, 2, 2)
    for across in (False, True):
        places = np.random.RandomState(6).randint(0, 24, halves) + (np.array([0, 24]).reshape(2, 1, 1, 1) if across else 0)
        yield one(op, d, "depth" + ("-batch" if across else ""), [R(d, (2, 3, 2, 4), 1), R(d, halves, 2, ints=3), T("int64", places)], padding="VALID", include_batch_in_index=across, **deep)
    yield from bad(op, d, "depth-shape", [R(d, (2, 3, 2, 4)), R(d, (2, 3, 2, 4)), T("int64", np.zeros((2, 3, 2, 4), np.int64))], risky=True, padding="VALID", **deep)
    zero = lambda s: T("int64", np.zeros(s, np.int64))  # noqa: E731
    Y = (1, 2, 2, 2)
    for tag, xs, gs, ps, kw in (("input-rank", (4, 4, 2), Y, Y, ok), ("gradient-rank", X, (2, 2, 2), Y, ok), ("gradient-shape", X, (1, 2, 3, 2), Y, ok), ("argmax-shape", X, Y, (1, 2, 3, 2), ok), ("argmax-rank", X, Y, (8,), ok), ("ksize-length", X, Y, Y, {**ok, "ksize": [2, 2]}),
                                ("ksize-batch", X, Y, Y, {**ok, "ksize": [2, 2, 2, 1]}), ("strides-zero", X, Y, Y, {**ok, "strides": [1, 0, 1, 1]})):
        yield from bad(op, d, tag, [R(d, xs), R(d, gs), zero(ps)], risky=True, **kw)


def cases():
    for part in (pools, inputs_as_window, argmaxes):
        yield from part()
