"""Images in other sizes; reversed dimensions; rows that are changed; tensors made on purpose."""
import numpy as np

import golden
from golden import T, dtypes, f32, i32, i64, many, one, R, some, tol


def bad(*args, **attrs):
    """As golden.bad, but at run time only: the tests of shape functions have the other half."""
    return golden.bad(*args, static=False, **attrs)


WAYS = ({}, {"align_corners": True}, {"half_pixel_centers": True})
SIZES = [((1, 3, 4, 2), [5, 6]), ((2, 4, 4, 1), [2, 3]), ((1, 2, 2, 3), [2, 2]), ((1, 5, 3, 1), [1, 7]), ((1, 1, 1, 1), [3, 3]), ((0, 2, 3, 1), [3, 3]), ((1, 7, 9, 1), [10, 4]), ((1, 10, 4, 1), [7, 9])]


def tag(way):
    return "-".join(way) or "plain"


def resizes():
    for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad"):
        for d in dtypes(op):
            exact = tol("float") if op == "ResizeBilinear" else tol(d) if op.endswith("Grad") else None
            yield many(op, d, "values", [([R(d, s, ints=5), i32(z)], way) for way in WAYS for s, z in SIZES[:1]], exact)
        for way in WAYS:
            yield many(op, "float", tag(way), [[R("float", s, ints=5), i32(z)] for s, z in SIZES], tol("float"), **way)
        x = R("float", (1, 2, 3, 1))
        for name, v, z in (("zero", x, [0, 3]), ("negative", x, [3, -3]), ("one", x, [3]), ("three", x, [3, 3, 3]), ("matrix", x, [[3, 3]]), ("rank", R("float", (2, 3, 1)), [3, 3])):
            yield from bad(op, "float", name, [v, i32(z)])
        if op.endswith("Grad"):
            yield one(op, "float", "both", [x, i32([3, 3])], align_corners=True, half_pixel_centers=True)
        else:
            yield from bad(op, "float", "both", [x, i32([3, 3])], align_corners=True, half_pixel_centers=True)
            yield from bad(op, "float", "empty", [R("float", (1, 0, 3, 1)), i32([3, 3])])
            yield from bad(op, "float", "channels", [R("float", (1, 2, 3, 0)), i32([3, 3])])
    for d in dtypes("ResizeBilinearGrad"):
        yield many("ResizeBilinearGrad", d, "values", [([R("float", (1, 5, 6, 2), ints=5), R(d, (1, 3, 4, 2))], way) for way in WAYS], tol(d, 2))
    for way in WAYS:
        yield many("ResizeBilinearGrad", "float", tag(way), [[R("float", (s[0], *z, s[3]), ints=5), R("float", s)] for s, z in SIZES], tol("float", 4), **way)
    for name, a, b in (("rank", (2, 3, 1), (1, 3, 4, 1)), ("original", (1, 2, 3, 1), (3, 4, 1)), ("empty", (1, 0, 3, 1), (1, 3, 4, 1)), ("empty-original", (1, 2, 3, 1), (1, 0, 4, 1))):
        yield from bad("ResizeBilinearGrad", "float", name, [R("float", a), R("float", b)])


def reverses():
    for d in dtypes("Reverse"):
        yield many("Reverse", d, "values", [[R(d, (2, 3)), T("bool", m)] for m in some(d, ([1, 0], [0, 1], [1, 1], [0, 0]), 2)])
    yield many("Reverse", "float", "shapes", [[R("float", s), T("bool", m)] for s, m in (((), []), ((5,), [1]), ((2, 3, 2, 2), [1, 0, 0, 1]), ((1, 2) * 4, [0, 1] * 4))])
    yield one("Reverse", "float", "empty-rows", [R("float", (3, 0)), T("bool", [1, 1])])
    for name, s, m in (("no-rows", (0, 3), [1, 0]), ("nothing", (0,), [0]), ("count", (2, 3), [1]), ("scalar", (2, 3), 1), ("rank9", (1,) * 9, [1] * 9)):
        yield from bad("Reverse", "float", name, [R("float", s), T("bool", m)])
    for d in dtypes("ReverseSequence"):
        yield many("ReverseSequence", d, "values", [([R(d, (2, 4, 3)), kind(n)], {"seq_dim": q, "batch_dim": b}) for kind, n, q, b in some(d, (
            (i64, [2, 4], 1, 0), (i32, [0, 2, 1], 0, 2), (i32, [1, 2, 2, 0], 0, 1), (i64, [3, 2, 4], 1, 2)), 2)])
    yield many("ReverseSequence", "float", "shapes", [([R("float", s), i32(n)], {"seq_dim": q, "batch_dim": b}) for s, n, q, b in (
        ((2, 3), [3, 0], 1, 0), ((0, 3), np.zeros(0, int), 1, 0), ((2, 0), [0, 0], 1, 0), ((2, 3, 0), [1, 2], 1, 0), ((2, 1, 3, 2, 2), [1, 3], 2, 3), ((2, 1, 3, 2, 2), [1, 2], 4, 0))])
    for name, s, n, q, b in (("long", (2, 3), [1, 4], 1, 0), ("negative", (2, 3), [1, -1], 1, 0), ("count", (2, 3), [1], 1, 0), ("same", (2, 3), [1, 1], 0, 0), ("seq", (2, 3), [1, 1], 2, 0),
                             ("batch", (2, 3), [1, 1], 1, 2), ("matrix", (2, 3), [[1, 1]], 1, 0), ("seq-negative", (2, 3), [1, 1], -1, 0), ("rank6", (1, 2, 1, 1, 1, 1), [1], 1, 0)):
        yield from bad("ReverseSequence", "float", name, [R("float", s), i32(n)], seq_dim=q, batch_dim=b)


def rows():
    for op in ("InplaceUpdate", "InplaceAdd", "InplaceSub"):
        kinds = [d for d in dtypes("AddN")] + (["bool", "string"] if op == "InplaceUpdate" else [])
        for d in kinds:  # TensorFlow changes the Const itself: one node a case
            yield one(op, d, "values", [R(d, (3, 2), ints=9), i32([2, 0]), R(d, (2, 2), 1, ints=9)], optional=True)
        yield one(op, "float", "wrapped", [R("float", (3, 2), ints=9), i32([-1, 4]), R("float", (2, 2), 1, ints=9)])
        yield one(op, "float", "repeated", [R("float", (3,), ints=9), i32([1, 1]), R("float", (2,), 1, ints=9)])
        yield one(op, "float", "none", [R("float", (3, 2), ints=9), T("int32", np.zeros(0)), R("float", (0, 2))])
        yield one(op, "float", "empty", [R("float", (0, 2)), T("int32", np.zeros(0)), R("float", (0, 2))])
        for name, s, i, v in (("scalar-index", (3, 2), 1, (1, 2)), ("row", (3, 2), [1], (1, 3)), ("rank", (3, 2), [1], (2,)), ("count", (3, 2), [1], (2, 2)), ("scalar", (), [1], (1,))):
            yield from bad(op, "float", name, [R("float", s), i32(i), R("float", v)])
    for d in dtypes("Empty", "dtype"):
        yield many("Empty", d, "values", [[i32(s)] for s in ([2, 3], [0], np.zeros(0, int))], dtype=d, init=True)
    for name, s in (("negative", [2, -3]), ("matrix", [[2]]), ("scalar", 2)):
        yield from bad("Empty", "float", name, [i32(s)], dtype="float", init=True)
    for d in ("float", "int8", "complex128", "bool", "string", "half"):
        yield one("DeepCopy", d, "values", [R(d, (2, 3))])


def cases():
    for part in (resizes, reverses, rows):
        yield from part()
