"""Parts of tensors by number: gradients of slices, stitching, scattering."""
import numpy as np

import golden
from golden import T, dtypes, f32, i32, many, one, R, some

def bad(*args, static=None, **attrs):
    """As golden.bad, but at run time only: the tests of shape functions have the other half."""
    return golden.bad(*args, static=False, **attrs)


def index(kind, values):
    return T(kind, np.array(values, np.int64))


def shapes():
    for d in ("int32", "int64"):
        yield many("BroadcastGradientArgs", d, "values", [[index(d, a), index(d, b)] for a, b in (
            ([2, 1, 3], [2, 1, 3]), ([2, 1, 3], [1, 3]), ([1, 1], [1]), ([1, 2], [2]), ([], []), ([], [1]), ([0, 1], [1, 3]),
            ([3, 1], [1, 3]), ([5], [4, 3, 1]), ([7, 1, 5], [8, 1, 6, 1]))])
        for tag, a, b in (("different", [2], [3]), ("zero", [0], [3]), ("scalar", 2, [2]), ("matrix", [[2]], [2])):
            yield from bad("BroadcastGradientArgs", d, tag, [index(d, a), index(d, b)])
        yield many("ConcatOffset", d, "values", [[i32(k), [index(d, s) for s in rows]] for k, rows in (
            (1, ([2, 3, 4], [2, 5, 4], [2, 0, 4])), (-1, ([2, 3], [2, 4])), (0, ([2], [3], [4], [5])))])
        for tag, k, rows in (("dims", 1, ([2, 3], [3, 4])), ("ranks", 0, ([2, 3], [2])), ("axis", 2, ([2, 3], [2, 3])),
                             ("axis-low", -3, ([2, 3], [2, 3])), ("axis-vector", [1], ([2, 3], [2, 3])), ("scalars", 0, (2, 3)),
                             ("empty", 0, ([], []))):
            yield from bad("ConcatOffset", d, tag, [i32(k), [index(d, s) for s in rows]], static=False)


def gradients():
    for d in dtypes("MirrorPadGrad"):
        yield many("MirrorPadGrad", d, "values", [([R(d, (4, 5), ints=9), index(kind, p)], {"mode": m}) for kind, m, p in some(d, [
            ("int32", "REFLECT", [[1, 0], [0, 2]]), ("int64", "SYMMETRIC", [[1, 0], [2, 1]]), ("int64", "REFLECT", [[1, 1], [0, 1]]), ("int32", "REFLECT", [[0, 0], [0, 0]])], 2)])
    for k, (s, p) in enumerate((((4,), [[1, 1]]), ((), np.zeros((0, 2))), ((2, 7, 3), [[0, 0], [2, 2], [0, 0]]), ((5, 4, 3), [[1, 2], [0, 0], [1, 0]]),
                                ((3, 3, 3, 3), [[1, 0]] * 4), ((3, 1, 4, 2, 3), [[0, 1], [0, 0], [1, 1], [0, 0], [1, 0]]), ((9, 40), [[4, 1], [3, 15]]))):
        for m in ("REFLECT", "SYMMETRIC")[k in (3, 6):]:
            yield one("MirrorPadGrad", "float", f"{m.lower()}-{k}", [R("float", s, ints=9), index("int32", p)], mode=m)
    for m in ("REFLECT", "SYMMETRIC"):
        for tag, s, p in (("negative", (5,), [[-1, 1]]), ("rows", (5,), [[1, 1], [0, 0]]), ("columns", (5,), [[1], [1]]), ("too-wide", (5,), [[4, 0]]),
                          ("total", (5,), [[3, 3]]), ("all", (5,), [[3, 2]]), ("empty", (0, 3), [[0, 0], [1, 0]])):
            yield from bad("MirrorPadGrad", "float", f"{m.lower()}-{tag}", [R("float", s), i32(p)], static=tag not in ("all", "empty", "too-wide"), mode=m)
        yield from bad("MirrorPadGrad", "float", f"{m.lower()}-rank6", [R("float", (1,) * 6), T("int32", np.zeros((6, 2)))], static=False, mode=m)
    slices = [([3, 4], [0, 1], [2, 3], [1, 1], (2, 2), {}), ([3, 4], [2], [0], [-1], (2, 4), {}), ([3, 4], [1], [0], [1], (4,), {"shrink_axis_mask": 1}),
              ([5, 6], [4, -1], [0, 0], [-2, -3], (2, 2), {"begin_mask": 1}), ([2, 3, 4], [0, 1], [0, 3], [1, 1], (2, 3, 2), {"ellipsis_mask": 1}),
              ([3, 4], [0, 1, 0], [0, 2, 0], [1, 1, 1], (1, 1, 4), {"new_axis_mask": 1, "end_mask": 4}), ([3, 4], [5], [6], [1], (0, 4), {}),
              ([3], [0], [3], [1], (3,), {}), ([0, 2], [0], [0], [1], (0, 2), {}), ([3, 4], [-1, 3], [9, -9], [1, -2], (1, 2), {})]
    for d in dtypes("StridedSliceGrad"):
        yield many("StridedSliceGrad", d, "values", [([index(kind, s), index(kind, b), index(kind, e), index(kind, st), R(d, dy)], kw)
                                                     for n, (s, b, e, st, dy, kw) in enumerate(some(d, slices, 2)) for kind in ("int32", "int64")[n % 2:]])
        if d.startswith(("q", "float8")):
            continue  # TensorFlow has such kernels, which always fail
        yield many("TensorStridedSliceUpdate", d, "values", [([R(d, tuple(s), 1), i32(b), i32(e), i32(st), R(d, dy)], kw)
                                                             for s, b, e, st, dy, kw in some(d, slices, 2)])
    yield one("StridedSliceGrad", "float", "scalar", [index("int32", [])] * 4 + [f32(2)])
    for tag, s, b, e, st, dy in (("shape", [3, 4], [2], [0], [-1], (2, 3)), ("negative", [3, -4], [2], [0], [-1], (2, 3)), ("rank", [3, 4], [1], [0], [1], (4,)),
                                 ("matrix", [[3, 4]], [1], [0], [1], (4,)), ("stride", [3, 4], [1], [0], [0], (0, 4)), ("lengths", [3, 4], [1, 0], [0], [1], (0, 4)),
                                 ("huge", [2**31 - 1, 2**31 - 1, 2**31 - 1], [1], [0], [1], (0, 4))):
        yield from bad("StridedSliceGrad", "float", tag, [i32(s), i32(b), i32(e), i32(st), R("float", dy)], static=tag in ("negative", "matrix"))
    x = R("float", (3, 4))
    for k, (b, e, st, v) in enumerate((([0, 1], [2, 3], [1, 1], ()), ([0, 1], [2, 3], [1, 1], (2,)), ([0, 1], [2, 3], [1, 1], (2, 1)), ([0, 3], [2, 0], [1, -1], (3,)),
                                       ([2, 3], [-9, 0], [-2, -1], (2, 1)), ([3], [3], [1], (3,)))):
        yield one("TensorStridedSliceUpdate", "float", f"broadcast{k}", [x, i32(b), i32(e), i32(st), R("float", v)])
    for tag, b, e, v in (("shape", [0, 1], [2, 3], (3,)), ("rank", [1], [3], (2, 4, 1)), ("column", [1], [3], (3, 4))):
        yield from bad("TensorStridedSliceUpdate", "float", tag, [x, i32(b), i32(e), i32([1] * len(b)), R("float", v)], static=False)


def stitches():
    for op in ("DynamicStitch", "ParallelDynamicStitch"):
        for d in dtypes(op):
            yield one(op, d, "rows", [[i32([0, 2]), i32(3), i32([[1], [4]])], [R(d, (2, 3), 1), R(d, (3,), 2), R(d, (2, 1, 3), 3)]])
        yield one(op, "float", "scalars", [[i32([3, 0]), i32([1, 2, 4])], [f32([1, 2]), f32([3, 4, 5])]])
        yield many(op, "float", "empty", [[[i32([])], [f32([])]], [[i32([])], [R("float", (0, 3))]], [[i32([0, 1])], [R("float", (2, 0))]], [[i32([]), i32([1, 0])], [f32([]), f32([1, 2])]]])
        for tag, a, b in (("negative", ([0, -2], [3]), ((2,), (1,))), ("rest", ([0, 2], [3]), ((2,), (1, 1))), ("prefix", ([0, 2], [3]), ((3,), (1,)))):
            yield from bad(op, "float", tag, [[i32(v) for v in a], [R("float", s) for s in b]], static=tag != "negative")
    yield one("DynamicStitch", "float", "repeated", [[i32([0, 1, 0]), i32([1, 2])], [f32([1, 2, 3]), f32([4, 5])]])
    yield one("DynamicStitch", "string", "repeated", [[i32([0, 1, 0]), i32([1, 2])], [T("string", ["a", "b", "c"]), T("string", ["d", "e"])]])
    for d in dtypes("DynamicPartition"):
        yield one("DynamicPartition", d, "rows", [R(d, (5, 2)), i32([2, 0, 2, 1, 0])], num_partitions=4)
    yield one("DynamicPartition", "float", "one", [R("float", (3, 2)), i32([0, 0, 0])], num_partitions=1)
    yield one("DynamicPartition", "float", "scalar", [R("float", (3, 2)), i32(1)], num_partitions=2)
    yield one("DynamicPartition", "float", "scalars", [f32(3), i32(1)], num_partitions=2)
    yield one("DynamicPartition", "float", "matrix", [R("float", (2, 3, 2)), i32([[0, 1, 2], [2, 1, 0]])], num_partitions=3)
    yield one("DynamicPartition", "float", "elements", [R("float", (2, 3)), i32([[0, 1, 1], [1, 1, 0]])], num_partitions=2)
    yield one("DynamicPartition", "float", "empty", [R("float", (0, 3)), i32([])], num_partitions=2)
    for tag, s, p in (("high", (3, 2), [0, 2, 1]), ("negative", (3, 2), [0, -1, 1]), ("prefix", (3, 2), [0, 1]), ("rank", (3,), [[0], [1], [1]])):
        yield from bad("DynamicPartition", "float", tag, [R("float", s), i32(p)], static=tag in ("prefix", "rank"), num_partitions=2)


TENSOR = ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin", "ScatterNdNonAliasingAdd")


def scatters():
    places = [[1, 0], [3, 2], [1, 0], [0, 1]]
    for d in dtypes("ScatterNd"):
        yield many("ScatterNd", d, "values", [[index(kind, i), R(d, u, 1, ints=9), index(kind, s)] for kind, i, u, s in some(d, [
            ("int32", places, (4,), [4, 3]), ("int64", [[2], [0], [2]], (3, 2), [3, 2]), ("int64", places, (4,), [4, 3]),
            ("int32", [[[0], [2]], [[2], [1]]], (2, 2, 3), [3, 3])], 2)])
    for op in TENSOR:
        for d in dtypes(op):
            rows = [("int32", (4, 3), places, (4,)), ("int64", (3, 2), [[2], [0], [2]], (3, 2)), ("int32", (3, 2, 2), [[[0, 1]], [[2, 1]]], (2, 1, 2))]
            yield many(op, d, "values", [[R(d, s, ints=9), index(kind, i), R(d, u, 1, ints=9)] for kind, s, i, u in some(d, rows, 2)])
    for op in ("ScatterNd",) + TENSOR:
        def form(s, i, u, kind=i32):
            return [kind(i), R("float", u, 1, ints=9), index("int32", s)] if op == "ScatterNd" else [R("float", tuple(s), ints=9), kind(i), R("float", u, 1, ints=9)]
        yield one(op, "float", "none", form([3, 2], np.zeros((0, 1)), (0, 2)))
        yield one(op, "float", "none-of-nothing", form([0, 2], np.zeros((0, 1)), (0, 2)))
        yield one(op, "float", "deep", form([2, 1, 2, 1, 2, 1, 2], [[1, 0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 0, 0, 1]], (2,)))
        yield one(op, "float", "whole-row-index", form([2, 3], [[1], [0]], (2, 3)))
        for tag, s, i, u in (("high", [3], [[1], [3]], (2,)), ("negative", [3], [[-1]], (1,)), ("second", [2, 2], [[0, 2]], (1,)), ("count", [3], [[0], [1]], (3,)),
                             ("inner", [3, 2], [[0], [1]], (2, 3)), ("depth", [3], [[0, 0]], (1,)), ("empty", [0], [[0]], (1,)), ("scalar-indices", [3], 0, (1,)),
                             ("scalar-updates", [3], [[0]], ()), ("rank", [3, 2], [[0]], (1,)), ("empty-row", [3, 0], [[0]], (1, 0))):
            yield from bad(op, "float", tag, form(s, i, u), static=tag not in ("high", "negative", "second", "empty-row"))
        for tag, s, i, u in (("vector", [4, 3], [1], (3,)), ("vector-one", [6, 1], [1], (1,)), ("vector-of-none", [3, 0], [], (3, 0)), ("vector-of-all", [4], [], (4,))):
            yield from bad(op, "float", tag, form(s, np.array(i, int), u), static=False)
        yield one(op, "float", "vector-of-nothing", form([0, 3], np.zeros(0), (0, 3)))
        yield one(op, "float", "ignore", form([3, 2], [[1], [7], [-1], [2]], (4, 2)), bad_indices_policy="IGNORE")
        yield from bad(op, "float", "strict", form([3, 2], [[1], [7]], (2, 2)), static=False, bad_indices_policy="ERROR")
        yield from bad(op, "float", "policy", form([3, 2], [[1]], (1, 2)), static=False, bad_indices_policy="OTHER")
    yield one("ScatterNd", "string", "joined", [i32([[1], [1], [0]]), T("string", ["a", "b", "c"]), i32([3])])
    yield one("ScatterNd", "bool", "any", [i32([[1], [1], [0]]), T("bool", [1, 0, 0]), i32([3])])
    for tag, s in (("negative-shape", [-1]), ("matrix-shape", [[3]]), ("scalar-output", [])):
        yield from bad("ScatterNd", "float", tag, [i32([[0]]), f32([1]), T("int32", np.array(s, int))], static=tag != "scalar-output")
    for op in ("TensorScatterMax", "TensorScatterMin"):
        yield one(op, "float", "infinite", [f32([1, -np.inf, np.inf, 4]), i32([[0], [1], [2], [3]]), f32([np.inf, 2, 3, -np.inf])])


def rolls():
    for d in dtypes("Roll"):
        yield many("Roll", d, "values", [[R(d, (3, 4)), index(k, s), index(m, a)] for k, m, s, a in some(d, [
            ("int32", "int32", [1, -1], [0, 1]), ("int64", "int32", 2, 1), ("int32", "int64", [1, 1], [0, 0]), ("int64", "int64", [], [])], 4)])
    yield many("Roll", "float", "shapes", [[R("float", s), i32(k), i32(a)] for s, k, a in (
        ((5,), 7, 0), ((5,), -7, -1), ((0, 3), 1, 0), ((2, 0), 1, 0), ((2, 3, 4), [1, 2, 3], [0, 1, 2]), ((2, 3, 2, 3), [-1, 5], [3, 1]), ((1, 3), [4], [0]),
        ((7,), 2**31 - 1, 0), ((7,), -2**31, 0))])
    for tag, s, k, a in (("high", (3,), 1, 1), ("low", (3,), 1, -2), ("sizes", (3, 4), [1, 2], [0]), ("scalar", (), 1, 0), ("matrix", (3, 4), [[1]], [[0]]),
                         ("mixed", (3, 4), [1], 0)):
        yield from bad("Roll", "float", tag, [R("float", s), i32(k), i32(a)], static=tag in ("scalar", "matrix"))


def cases():
    for part in (shapes, gradients, stitches, scatters, rolls):
        yield from part()
