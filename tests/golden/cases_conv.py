"""Convolutions over any dimensions of space, and of images that are resized and padded on the way."""
import itertools

import numpy as np

from golden import T, bad, dtypes, i32, one, R

TOLERANCE = {"float": (1e-5, 1e-4), "double": (1e-12, 1e-11), "half": (1e-2, 3e-2), "bfloat16": (5e-2, 0.2), "int32": None}


def conv():
    op = "Conv"
    for d in dtypes(op):
        x, w = R(d, (2, 6, 5, 3), 1, ints=2), R(d, (3, 2, 3, 4), 2, ints=2)
        for padding, stride in itertools.product(("SAME", "VALID"), (1, 2)):
            yield one(op, d, f"plane-{padding.lower()}-by{stride}", [x, w], TOLERANCE[d], strides=[1, stride, stride, 1], padding=padding)
        yield one(op, d, "explicit", [x, w], TOLERANCE[d], strides=[1, 2, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
        yield one(op, d, "batches", [R(d, (2, 3, 4, 5, 3), 1, ints=2), w], TOLERANCE[d], strides=[1] * 4, padding="SAME", batch_dims=2)
        yield one(op, d, "many-batches", [R(d, (2, 1, 2, 4, 5, 3), 1, ints=2), w], TOLERANCE[d], strides=[1] * 4, padding="VALID", batch_dims=3)
        volume, filters = R(d, (2, 4, 5, 6, 3), 3, ints=2), R(d, (2, 3, 2, 3, 4), 4, ints=2)
        for padding, stride in itertools.product(("SAME", "VALID"), (1, 2)):
            yield one(op, d, f"volume-{padding.lower()}-by{stride}", [volume, filters], TOLERANCE[d], strides=[1, stride, stride, stride, 1], padding=padding)
        yield one(op, d, "volume-batches", [R(d, (2, 2, 3, 4, 3, 3), 3, ints=2), filters], TOLERANCE[d], strides=[1] * 5, padding="SAME", batch_dims=2)
    d = "float"
    x, w = R(d, (1, 9, 8, 3), 1), R(d, (3, 2, 3, 4), 2)
    for dilations in ([1, 2, 1, 1], [1, 1, 3, 1], [1, 2, 2, 1]):
        yield one(op, d, f"dilated{dilations[1]}{dilations[2]}", [x, w], TOLERANCE[d], strides=[1] * 4, padding="SAME", dilations=dilations)
    yield one(op, d, "pointwise", [x, R(d, (1, 1, 3, 5), 3)], TOLERANCE[d], strides=[1] * 4, padding="SAME")
    yield one(op, d, "no-batch", [R(d, (0, 9, 8, 3)), w], strides=[1] * 4, padding="SAME", risky=True)
    ok = dict(strides=[1] * 4, padding="SAME")
    for tag, xs, ws, attrs in (("rank", (9, 8, 3), (3, 2, 3, 4), {}), ("filter-rank", (1, 9, 8, 3), (2, 3, 2, 3, 4), {}), ("depth", (1, 9, 8, 4), (3, 2, 3, 4), {}),
                               ("no-filter", (1, 9, 8, 3), (3, 2, 3, 0), {}), ("strides-length", (1, 9, 8, 3), (3, 2, 3, 4), {"strides": [1, 1, 1]}),
                               ("strides-zero", (1, 9, 8, 3), (3, 2, 3, 4), {"strides": [1, 0, 1, 1]}), ("strides-batch", (1, 9, 8, 3), (3, 2, 3, 4), {"strides": [2, 1, 1, 1]}),
                               ("dilations-length", (1, 9, 8, 3), (3, 2, 3, 4), {"dilations": [1, 1]}), ("dilations-zero", (1, 9, 8, 3), (3, 2, 3, 4), {"dilations": [1, 0, 1, 1]}),
                               ("explicit-missing", (1, 9, 8, 3), (3, 2, 3, 4), {"padding": "EXPLICIT"}), ("volume-dilations", (1, 4, 4, 4, 3), (2, 2, 2, 3, 4), {"strides": [1] * 5, "dilations": [1, 2, 1, 1, 1]}),
                               ("batch-dims", (1, 9, 8, 3), (3, 2, 3, 4), {"batch_dims": 2}), ("groups", (1, 9, 8, 4), (3, 2, 2, 4), {})):
        static = tag not in ("volume-dilations", "no-filter")
        yield from bad(op, d, tag, [R(d, xs), R(d, ws)], static=static, risky=True, **{**ok, **attrs})


# TensorFlow's kernels take later images of a batch for the first one.
PADDINGS = [[[0, 0]] * 4, [[0, 0], [1, 2], [2, 1], [0, 0]], [[0, 0], [3, 0], [0, 3], [0, 0]]]


def padded():
    op = "FusedPadConv2D"
    for d in dtypes(op):
        x = R(d, (1, 6, 5, 3), 1, ints=2)
        for k, (paddings, mode) in enumerate(itertools.product(PADDINGS, ("REFLECT", "SYMMETRIC"))):
            for padding in ("SAME", "VALID"):
                yield one(op, d, f"{k}-{padding.lower()}", [x, i32(paddings), R(d, (3, 2, 3, 4), 2, ints=2)], TOLERANCE[d], mode=mode, strides=[1, 1 + k % 2, 1 + k // 3, 1], padding=padding)
        yield one(op, d, "pointwise", [x, i32(PADDINGS[1]), R(d, (1, 1, 3, 2), 2, ints=2)], TOLERANCE[d], mode="REFLECT", strides=[1] * 4, padding="VALID")
    d = "float"
    x = R(d, (1, 11, 12, 2), 1)
    for stride, window, padding in itertools.product((3, 4, 5, 7), (1, 2, 3), ("SAME", "VALID")):
        yield one(op, d, f"by{stride}-window{window}-{padding.lower()}", [x, i32(PADDINGS[0]), R(d, (window, window, 2, 2), 2)], TOLERANCE[d], mode="SYMMETRIC", strides=[1, stride, stride, 1], padding=padding)
    yield from errors(op, d, [])
    op = "FusedResizeAndPadConv2D"
    for d in dtypes(op):
        x = R(d, (1, 6, 5, 3), 1, scale=1)
        for k, (size, paddings) in enumerate(itertools.product(([7, 9], [3, 4], [6, 5], [12, 4]), PADDINGS[:2])):
            for aligned in (False, True):
                yield one(op, d, f"{size[0]}x{size[1]}-{k}" + "-aligned" * aligned, [x, i32(size), i32(paddings), R(d, (2, 3, 3, 2), 2, scale=1)], TOLERANCE[d], resize_align_corners=aligned,
                          mode=("REFLECT", "SYMMETRIC")[k % 2], strides=[1, 1 + k % 2, 1, 1], padding=("SAME", "VALID")[k // 2 % 2])
    yield one(op, "float", "one-pixel", [R("float", (1, 1, 1, 2), 1), i32([4, 3]), i32(PADDINGS[1]), R("float", (2, 2, 2, 1), 2)], TOLERANCE["float"], mode="SYMMETRIC", strides=[1] * 4, padding="SAME")
    yield from errors(op, "float", [i32([6, 5])])
    x, w = R("float", (1, 6, 5, 3), 1), R("float", (2, 3, 3, 2), 2)
    for tag, size in (("no-rows", [0, 3]), ("size-length", [1, 2, 3]), ("size-rank", [[1, 2]])):
        yield from bad(op, "float", tag, [x, i32(size), i32(PADDINGS[0]), w], risky=True, mode="REFLECT", strides=[1] * 4, padding="SAME")


def errors(op, d, size):
    ok = dict(mode="REFLECT", strides=[1] * 4, padding="VALID")
    x, w, none = R(d, (1, 6, 5, 3), 1), R(d, (2, 3, 3, 2), 2), PADDINGS[0]
    for tag, given, paddings, filters, attrs in (("paddings-batch", x, [[1, 0], [0, 0], [0, 0], [0, 0]], w, {"mode": "SYMMETRIC"}), ("paddings-channels", x, [[0, 0], [0, 0], [0, 0], [1, 0]], w, {}),
                                                 ("paddings-negative", x, [[0, 0], [-1, 0], [0, 0], [0, 0]], w, {}), ("paddings-large", x, [[0, 0], [6, 0], [0, 0], [0, 0]], w, {}),
                                                 ("paddings-rows", x, none[:3], w, {}), ("depth", x, none, R(d, (2, 3, 4, 2)), {}), ("filter-rank", x, none, R(d, (2, 3, 3)), {}),
                                                 ("no-batch", R(d, (0, 6, 5, 3)), none, w, {}), ("large-window", x, none, R(d, (7, 3, 3, 2)), {}), ("no-filters", x, none, R(d, (2, 3, 3, 0)), {}),
                                                 ("strides-length", x, none, w, {"strides": [1, 1, 1]}), ("strides-batch", x, none, w, {"strides": [2, 1, 1, 1]}), ("strides-zero", x, none, w, {"strides": [1, 0, 1, 1]})):
        static = tag in ("paddings-negative", "paddings-rows", "depth", "filter-rank", "large-window", "strides-length", "strides-zero")
        yield from bad(op, d, tag, [given, *size, i32(paddings), filters], static=static, risky=True, **{**ok, **attrs})


def cases():
    for part in (conv, padded):
        yield from part()
