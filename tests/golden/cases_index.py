"""Places: bounds in sorted rows, coordinates, dimensions in other formats, squares and batches, rows that are joined."""
import numpy as np

from golden import INTS, R, T, bad, dtypes, f32, i32, i64, limits, many, one, some


def bounds():
    for op in ("LowerBound", "UpperBound"):
        for d in dtypes(op):
            low, high = limits(d) if d in INTS else (-np.inf, np.inf)
            rows = np.sort(R(d, (3, 9), ints=5).array.astype(np.float64), 1)
            for out in ("int32", "int64"):
                yield one(op, d, f"values-{out}", [T(d, rows), R(d, (3, 7), 1, ints=6)], out_type=out)
            extremes = np.array([[low, 0, high]]) if d not in INTS else np.array([[low, 1, high]], dtype=object).astype(np.int64 if low else np.uint64)
            yield one(op, d, "extremes", [T(d, extremes), T(d, extremes)])
        for k, (n, m) in enumerate((((1, 0), (1, 3)), ((0, 4), (0, 3)), ((2, 3), (2, 0)), ((1, 1), (1, 1)), ((5, 200), (5, 33)), ((1, 4000), (1, 5)))):
            yield one(op, "float", f"shape-{k}", [T("float", np.sort(R("float", n).array, 1)), R("float", m, 1)])
        yield one(op, "float", "nan", [f32([[1, 2, 2, 3]]), f32([[np.nan, 2, np.inf, -np.inf]])])
        yield one(op, "double", "unsorted", [T("double", [[3, 1, 2, np.nan, 0, 5, 4]]), T("double", [[0, 1, 2, 3, 4, 5, np.nan, -np.inf]])])
        yield one(op, "float", "zeros", [f32([[-1, -0.0, 0, -0.0, 1]]), f32([[0, -0.0]])])
        for tag, rows, values in (("rows-vector", (3,), (1, 3)), ("values-vector", (1, 3), (3,)), ("rows-3", (1, 2, 3), (1, 2)), ("values-3", (1, 3), (1, 2, 3)), ("rows-scalar", (), (1, 3)), ("batch", (2, 3), (3, 3))):
            yield from bad(op, "float", tag, [R("float", rows), R("float", values)], static=tag != "batch")


def coordinates():
    op = "UnravelIndex"
    for d in ("int32", "int64"):
        yield many(op, d, "values", [[T(d, i), T(d, n)] for i, n in (([22, 3, 7, 0, 29], [5, 6]), (22, [5, 6]), (np.arange(24), [2, 3, 4]), ([5], [9]), (119, [1, 2, 3, 4, 5]), ([0], [1, 1]), ([7, 7], [8, 1]))])
        yield many(op, d, "negative", [[T(d, i), T(d, n)] for i, n in (([-1, -30, -31, -1000], [5, 6]), (-7, [5, 6]), ([-5], [2, 3, 4]))])
        yield many(op, d, "no-dims", [[T(d, 0), T(d, np.zeros(0))], [T(d, [0, -1]), T(d, np.zeros(0))]])
        yield many(op, d, "many-dims", [[T(d, [100, 200, 300]), T(d, [2] * 9)], [T(d, 3), T(d, [1] * 20 + [4])]])
        yield one(op, d, "large", [T(d, [2 ** 30, 2 ** 31 - 2]), T(d, [2 ** 31 - 1])])
        for tag, i, n in (("beyond", [30], [5, 6]), ("beyond-scalar", 30, [5, 6]), ("zero", [1], [0, 6]), ("negative-dim", [1], [-5, 6]), ("overflow", [1], [2 ** 31 - 1, 2 ** 31 - 1, 3, 3]), ("matrix", [[1, 2]], [3, 3]), ("dims-matrix", [1], [[3, 3]]), ("dims-scalar", [1], 6)):
            yield from bad(op, d, tag, [T(d, i), T(d, n)], static=tag == "dims-scalar" or tag == "dims-matrix")
        yield from bad(op, d, "none", [T(d, np.zeros(0)), T(d, [5, 6])], static=False)
    yield one(op, "int64", "huge", [i64([2 ** 40 + 5, 2 ** 62]), i64([2 ** 31, 2 ** 31 + 1])])


FORMATS = (("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NHWC", "HWNC"), ("NHWC", "WHCN"), ("ABCD", "DCBA"), ("NHWC", "NHWC"), ("NDHWC", "NCDHW"), ("NCDHW", "NDHWC"), ("NDHWC", "WHDCN"), ("ABCDE", "CAEBD"))
NO_FORMATS = (("short", "NHW", "NWH"), ("short-to", "NHWC", "NHW"), ("long", "NHWCDE", "NHWCDE"), ("letters", "NHWC", "NHWX"), ("twice", "NHHC", "NHHC"), ("sizes", "NHWC", "NCDHW"), ("empty", "", ""))


def formats():
    op = "DataFormatDimMap"
    for d in ("int32", "int64"):
        for a, b in FORMATS:
            n = len(a)
            yield many(op, d, f"{a}-{b}".lower(), [([T(d, x)], {}) for x in (np.arange(-n, n), np.arange(-3 * n, 3 * n).reshape(2, -1), 2, [], [[[1]], [[0]]])], src_format=a, dst_format=b)
        for tag, a, b in NO_FORMATS:
            yield from bad(op, d, tag, [T(d, [0, 1])], static=False, src_format=a, dst_format=b)
    op = "DataFormatVecPermute"
    for d in ("int32", "int64"):
        for a, b in FORMATS:
            n = len(a)
            sizes = [n] if "H" not in a else [n, n - 2]
            yield many(op, d, f"{a}-{b}".lower(), [([T(d, x)], {}) for k in sizes for x in (np.arange(k) + 5, np.arange(2 * k).reshape(k, 2))], src_format=a, dst_format=b)
        for tag, a, b in NO_FORMATS:
            yield from bad(op, d, tag, [T(d, [0, 1, 2, 3])], static=False, src_format=a, dst_format=b)
        yield from bad(op, d, "no-space", [T(d, [0, 1])], static=False, src_format="ABCD", dst_format="DCBA")
        yield from bad(op, d, "no-space-3", [T(d, [0, 1, 2])], static=False, src_format="NHWCE", dst_format="NEHWC")
        for tag, x in (("scalar", 3), ("3", [1, 2, 3]), ("5", [1, 2, 3, 4, 5]), ("none", []), ("rank-3", [[[1]]]), ("width", [[1, 2, 3], [4, 5, 6]]), ("rows", [[1, 2], [3, 4], [5, 6]])):
            yield from bad(op, d, tag, [T(d, x)], static=False)


def squares():
    for op, s, attr in (("SpaceToBatch", (2, 4, 6, 3), "Tpaddings"), ("BatchToSpace", (8, 2, 3, 3), "Tidx")):
        for d in dtypes(op):
            for index in some(d, ("int32", "int64")):
                yield one(op, d, f"values-{index}", [R(d, s), T(index, [[0, 0], [0, 0]])], block_size=2)
            yield one(op, d, "borders", [R(d, s), i32([[1, 1], [0, 2]])], block_size=2)
        x = (1, 6, 9, 2) if op == "SpaceToBatch" else (9, 2, 3, 2)
        yield many(op, "float", "three", [[R("float", x), i64(e)] for e in ([[0, 0], [0, 0]], [[3, 0], [0, 3]], [[1, 2], [2, 1]])], block_size=3)
        yield many(op, "float", "empty", [[R("float", e), i32([[0, 0], [0, 0]])] for e in ((0, 4, 4, 1), (4, 2, 2, 0), (4, 0, 2, 1))], block_size=2)
        for tag, e, size in (("negative", [[-1, 1], [0, 0]], 2), ("one-row", [[0, 0]], 2), ("vector", [0, 0], 2), ("three", [[0, 0]] * 3, 2), ("rest", [[0, 1], [0, 0]] if op == "SpaceToBatch" else [[9, 1], [0, 0]], 2), ("block", [[0, 0], [0, 0]], 5)):
            yield from bad(op, "float", tag, [R("float", s), i32(e)], block_size=size)
        for tag, e in (("rank-3", (4, 4, 4)), ("rank-5", (4, 2, 2, 2, 2))):
            yield from bad(op, "float", tag, [R("float", e), i32([[0, 0], [0, 0]])], block_size=2)
        yield from bad(op, "float", "one", [R("float", s), i32([[0, 0], [0, 0]])], runtime=False, block_size=1)


def greatest():
    op = "ApproxTopK"
    for d in ("float", "half", "bfloat16"):
        yield many(op, d, "values", [([R(d, s, ints=9)], {"k": k}) for s, k in (((7,), 3), ((2, 9), 4), ((2, 3, 5), 5), ((4,), 0), ((3, 1), 1), ((40,), 17), ((0, 4), 2))])
        yield many(op, d, "ties", [([T(d, [3, 3, 2, 3, 1, 2])], {"k": k}) for k in (1, 2, 4, 6)])
        yield one(op, d, "infinite", [T(d, [1, np.inf, -np.inf, 3])], k=3)
        yield one(op, d, "recall", [R(d, (2, 30))], k=5, recall_target=0.5)
        yield one(op, d, "whole", [R(d, (2, 30))], k=5, aggregate_to_topk=True, reduction_input_size_override=100)
        yield from bad(op, d, "k", [R(d, (2, 5))], k=7)
        yield from bad(op, d, "scalar", [R(d, ())], k=0)
    yield from bad(op, "float", "negative", [R("float", (5,))], runtime=False, k=-1)


def constants():
    for d in dtypes("ParallelConcat"):
        # TensorFlow's own kernel always fails: its passes put others in its place.
        yield from ()
    op = "GuaranteeConst"
    for d in ("float", "double", "half", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128", "string"):
        yield many(op, d, "values", [[R(d, s)] for s in ((), (0,), (2, 3))])


def cases():
    for part in (bounds, coordinates, formats, squares, greatest, constants):
        yield from part()
