"""Numbers as keys: sets, segments, counts."""
import numpy as np

import golden
from golden import REAL, T, dtypes, f32, i32, i64, many, one, R, tol

def bad(*args, static=None, **attrs):
    """As golden.bad, but at run time only: the tests of shape functions have the other half."""
    return golden.bad(*args, static=False, **attrs)


def index(kind, values):
    return T(kind, np.array(values, np.int64))


def sets():
    for op in ("Unique", "UniqueWithCounts", "UniqueV2", "UniqueWithCountsV2"):
        v2 = op.endswith("V2")
        for d in dtypes(op):
            x = R(d, (9,), 1, ints=2)
            yield many(op, d, "values", [([x] + ([index("int64", [])] if v2 else []), {"out_idx": out}) for out in ("int32", "int64")])
            if v2:
                yield many(op, d, "axis", [[R(d, (4, 2), 2, ints=1), i32([0])], [R(d, (2, 5), 3, ints=1), i64([1])]])
        extra = [i64([])] if v2 else []
        for d in REAL:
            yield one(op, d, "zeros-and-nans", [T(d, [0.0, -0.0, np.nan, np.nan, np.inf, 1, np.inf])] + extra)
        yield one(op, "float", "empty", [f32([])] + extra)
        yield from bad(op, "float", "matrix", [R("float", (2, 3))] + extra, static=v2)
        yield from bad(op, "float", "scalar", [f32(1)] + extra, static=v2)
        if v2:
            yield many(op, "float", "middle", [[R("float", (2, 4, 2), 2, ints=1), i64([a])] for a in (0, 1, 2, -1)])
            yield one(op, "float", "columns", [f32([[1, 2, 1], [3, 4, 3]]), i64([1])])
            yield one(op, "float", "nan-rows", [f32([[1, np.nan], [1, np.nan], [0.0, 2], [-0.0, 2]]), i64([0])])
            yield one(op, "string", "rows", [T("string", [["a", "b"], ["ab", ""], ["a", "b"]]), i64([0])])
            yield many(op, "float", "empty-axis", [[R("float", s), i64([a])] for s, a in (((0, 3), 0), ((0, 3), 1), ((3, 0), 0), ((2, 0, 3), 2))])
            for tag, s, a in (("high", (2, 3), [2]), ("low", (2, 3), [-3]), ("two", (2, 3), [0, 1]), ("axis-scalar", (2, 3), 0), ("of-scalar", (), [0])):
                yield from bad(op, "float", tag, [R("float", s), i64(a)])
    for d in dtypes("ListDiff"):
        yield many("ListDiff", d, "values", [([R(d, (9,), 1, ints=3), R(d, (4,), 2, ints=3)], {"out_idx": out}) for out in ("int32", "int64")])
    yield many("ListDiff", "float", "shapes", [[f32(a), f32(b)] for a, b in (([], []), ([1, 2], []), ([], [1]), ([1, np.nan, 0.0, 2], [np.nan, -0.0]))])
    yield from bad("ListDiff", "float", "x", [f32([[1]]), f32([1])])
    yield from bad("ListDiff", "float", "y", [f32([1]), f32(1)])


def segments():
    for name in ("Sum", "Mean", "Prod", "Max", "Min"):
        op = "Segment" + name
        for d in dtypes(op):
            loose = tol(d) if name in ("Mean", "Prod") else None
            yield many(op, d, "values", [[R(d, s, ints=3), index(kind, ids)] for kind, s, ids in (("int32", (6, 2), [0, 0, 2, 2, 2, 5]), ("int64", (4,), [1, 1, 1, 3]))], loose)
        yield many(op, "float", "shapes", [[R("float", s, ints=3), i32(ids)] for s, ids in (
            ((0, 3), []), ((0,), []), ((2, 0), [0, 3]), ((3, 2, 2), [0, 1, 1]), ((1,), [0]), ((5, 9), [0, 1, 1, 1, 2]), ((40, 3), [k // 7 for k in range(40)]))], tol("float"))
        yield one(op, "float", "infinite", [f32([-np.inf, np.inf, -np.inf]), i32([0, 1, 2])])
        x = R("float", (2, 3))
        for tag, v, ids in (("order", x, [1, 0]), ("negative", x, [-1, 0]), ("last-negative", x, [-2, -1]), ("size", x, [0]), ("matrix", x, [[0, 1]]), ("scalar", f32(1), [0]), ("scalar-ids", x, 0)):
            yield from bad(op, "float", tag, [v, i32(ids)], static=tag in ("matrix", "scalar", "scalar-ids"))
    for name in ("Sum", "Prod", "Max", "Min"):
        op = "UnsortedSegment" + name
        for d in dtypes(op):
            loose = tol(d) if name == "Prod" else None
            yield many(op, d, "values", [[R(d, s, ints=3), index(kind, ids), i32(n)] for kind, s, ids, n in (
                ("int32", (6, 2), [2, 0, -1, 2, 2, 0], 4), ("int64", (2, 3), [[1, 0, 1], [1, 0, 3]], 4), ("int16", (3,), [1, 1, 0], 2))[:3 if name == "Sum" else 2]], loose)
        yield many(op, "float", "shapes", [[R("float", s, ints=3), i32(ids), i64(n)] for s, ids, n in (
            ((0, 3), [], 2), ((0,), [], 0), ((2, 0), [0, 9], 1), ((3, 2, 2), [1, 0, 1], 2), ((), 1, 3), ((2, 3), 2, 3), ((3, 2), [-1, -1, -1], 1),
            ((40, 3), [k * 7 % 5 for k in range(40)], 9), ((3,), [9000, 0, 9000], 10000))], tol("float"))
        x = R("float", (2, 3))
        for tag, ids, n in (("high", [0, 3], 3), ("count", [0, 1], -1), ("count-vector", [0, 1], [3]), ("prefix", [1], 3), ("rank", np.zeros((2, 3, 1)), 3)):
            yield from bad(op, "float", tag, [x, i32(ids), i32(n)], static=tag != "high")
        yield from bad(op, "float", "none", [x, i32([0, 1]), i32(0)], static=False)
    yield one("UnsortedSegmentMax", "float", "infinite", [f32([-np.inf, np.inf, -5]), i32([0, 1, 1]), i32(2)])
    yield one("UnsortedSegmentMin", "float", "infinite", [f32([-np.inf, np.inf, -5]), i32([0, 1, 2]), i32(3)])


def counts():
    for d in dtypes("Bincount"):
        yield many("Bincount", d, "values", [[i32(a), i32(n), T(d, w)] for a, n, w in (([1, 1, 5, 0], 3, []), ([[1, 1], [5, 0]], 3, [[1, 2], [3, 4]]), ([], 3, []), ([1, 2], 0, []), (2, 3, 7))])
        for kind in ("int32", "int64"):
            for binary in (False, True):
                yield many("DenseBincount", d, kind + ("-binary" if binary else ""), [[index(kind, a), index(kind, n), T(d, w)] for a, n, w in (
                    ([1, 1, 5, 0], 3, []), ([1, 1, 5, 0], 3, [1, 2, 3, 4]), ([[1, 1, 5], [0, 2, 0]], 3, []), ([[1, 1, 5], [0, 2, 0]], 3, [[1, 2, 3], [4, 5, 6]]),
                    (np.zeros((0, 3)), 2, []), (np.zeros((2, 0)), 2, []), ([[1, 2]], 0, []))], binary_output=binary)
    for tag, a, n, w in (("negative", [-1, 2], 3, []), ("size", [1], -3, []), ("size-vector", [1], [3], []), ("weights", [1, 2], 3, [1])):
        yield from bad("Bincount", "float", tag, [i32(a), i32(n), T("float", w)], static=tag not in ("negative", "weights"))
        yield from bad("DenseBincount", "float", tag, [i32(a), i32(n), T("float", w)], static=tag not in ("negative", "weights"))
    for tag, a, w in (("rank3", [[[1]]], []), ("matrix-weights", [[1, 2]], [1, 2]), ("matrix-negative", [[1, -2]], [])):
        yield from bad("DenseBincount", "float", tag, [i32(a), i32(3), T("float", w)], static=tag == "rank3")
    for d in dtypes("HistogramFixedWidth"):
        for out in ("int32", "int64"):
            yield many("HistogramFixedWidth", d, "to-" + out, [[T(d, v), T(d, r), i32(n)] for v, r, n in (
                ([0, -1, 2, 5, 3, 100], [0, 5], 5), ([[1, 2], [3, 4]], [1, 3], 4), ([], [0, 5], 3), ([7], [-3, 9], 1))], dtype=out)
    yield one("HistogramFixedWidth", "float", "edges", [f32([0, 0.5, 1, 1.5, 2, -np.inf, np.inf, 0.1, 0.3, 0.7]), f32([0, 2]), i32(20)])
    for d in dtypes("HistogramFixedWidth"):
        yield many("HistogramFixedWidth", d, "on-edges", [[T(d, np.linspace(*r, n + 1)), T(d, r), i32(n)] for r, n in (
            ([-3, 3], 15), ([-1, 1], 5), ([-1, 5], 7), ([-2, 54], 20), ([-9, 37], 10), ([0.1, 9.1], 12))])
    yield one("HistogramFixedWidth", "float", "one-bin", [f32([np.nan, -1, 9]), f32([0, 5]), i32(1)])
    yield one("HistogramFixedWidth", "int32", "far", [i32([-2**31, 2**31 - 1, 0]), i32([-2**31, 2**31 - 1]), i32(4)])
    for tag, v, r, n in (("nan", [np.nan], [0, 5], 5), ("range", [1], [5, 0], 5), ("same", [1], [5, 5], 5), ("bins", [1], [0, 5], 0), ("range-size", [1], [0, 5, 6], 3),
                         ("range-matrix", [1], [[0, 5]], 3), ("bins-vector", [1], [0, 5], [3])):
        yield from bad("HistogramFixedWidth", "float", tag, [f32(v), f32(r), i32(n)], static=tag not in ("nan", "range", "same"))
    for d in dtypes("Bucketize"):
        yield many("Bucketize", d, "values", [([T(d, v)], {"boundaries": b}) for v, b in (
            ([-5, 1, 10, 2, 11], [1, 2.5, 10]), ([[1, 2], [3, 4]], []), ([], [1]), (3, [3]), ([0, 1, 2], [1, 1, 1]))])
    yield one("Bucketize", "float", "edges", [f32([np.nan, np.inf, -np.inf, -0.0, 0.0])], boundaries=[-np.inf, 0, np.inf])
    yield from bad("Bucketize", "float", "unsorted", [f32([1])], static=False, boundaries=[1, 0.5])


def cases():
    for part in (sets, segments, counts):
        yield from part()
