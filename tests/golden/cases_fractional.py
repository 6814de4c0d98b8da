"""Pooling with windows of random sizes, in the first run of a session."""
import itertools

import numpy as np

from golden import T, bad, dtypes, f32, i64, one, R, tol

SEEDS = [(1, 0), (0, 1), (87654321, 7), (-1, 2**40)]
RATIOS = [(1.0, 1.0), (1.5, 1.7), (1.41, 2.0), (2.5, 3.3), (1.0, 1.9)]
SIZES = [(1, 6, 7, 2), (2, 9, 5, 1), (1, 13, 11, 3)]


def values(d, shape, seed=1):
    return T(d, np.round(R("double", shape, seed, 20).array)) if d.startswith("int") else R(d, shape, seed)


def pools():
    for op in ("FractionalMaxPool", "FractionalAvgPool"):
        exact = op == "FractionalMaxPool"
        for d in dtypes(op):
            count = 0
            for (rows, columns), pseudo, overlaps in itertools.product(RATIOS, (False, True), (False, True)):
                shape, (seed, seed2) = SIZES[count % 3], SEEDS[count % 4]
                count += 1
                yield one(op, d, f"{shape[1]}by{rows}-{shape[2]}by{columns}" + "-pseudo" * pseudo + "-overlapping" * overlaps, [values(d, shape)], None if exact else tol(d),
                          pooling_ratio=[1.0, rows, columns, 1.0], pseudo_random=pseudo, overlapping=overlaps, deterministic=True, seed=seed, seed2=seed2)
        d = "float"
        good = dict(pooling_ratio=[1.0, 1.5, 1.7, 1.0], deterministic=True, seed=3, seed2=4)
        for tag, shape, attrs in (("small-ratio", SIZES[0], {"pooling_ratio": [1.0, 0.5, 1.7, 1.0]}), ("no-ratio", SIZES[0], {"pooling_ratio": [1.0, 0.0, 1.7, 1.0]}),
                                  ("negative-ratio", SIZES[0], {"pooling_ratio": [1.0, -2.0, 1.7, 1.0]}), ("nan-ratio", SIZES[0], {"pooling_ratio": [1.0, np.nan, 1.7, 1.0]}),
                                  ("large-ratio", SIZES[0], {"pooling_ratio": [1.0, 6.5, 1.7, 1.0]}), ("batch-ratio", (4, 6, 7, 2), {"pooling_ratio": [2.0, 1.5, 1.7, 1.0]}),
                                  ("channel-ratio", SIZES[0], {"pooling_ratio": [1.0, 1.5, 1.7, 2.0]}), ("ratio-length", SIZES[0], {"pooling_ratio": [1.0, 1.5, 1.7, 1.0, 1.0]}),
                                  ("short-ratio", SIZES[0], {"pooling_ratio": [1.0, 1.5, 1.7]}), ("seed", SIZES[0], {"deterministic": False}), ("rank", (6, 7, 2), {}),
                                  ("no-batch", (0, 6, 7, 2), {}), ("no-rows", (1, 0, 7, 2), {}), ("no-channels", (1, 6, 7, 0), {})):
            yield from bad(op, d, tag, [values(d, shape)], risky=True, **{**good, **attrs})


def sequence(size, windows, seed):
    """Where windows of two sizes begin, in some order."""
    widths = [size // windows + (k < size % windows) for k in range(windows)]
    return np.concatenate([[0], np.cumsum(np.random.RandomState(seed).permutation(widths))])


def greatest(x, rows, columns, overlaps):
    out = np.empty((x.shape[0], len(rows) - 1, len(columns) - 1, x.shape[3]), x.dtype)
    for r, c in itertools.product(range(out.shape[1]), range(out.shape[2])):
        out[:, r, c] = x[:, rows[r]:rows[r + 1] + overlaps, columns[c]:columns[c + 1] + overlaps].max((1, 2))
    return out


def gradients():
    for k, (shape, windows) in enumerate([((1, 6, 7, 2), (4, 4)), ((2, 9, 5, 1), (6, 5)), ((1, 13, 11, 3), (5, 6)), ((3, 1, 4, 2), (1, 2)), ((1, 8, 8, 1), (4, 4)), ((2, 10, 6, 2), (7, 4))]):
        rows, columns = sequence(shape[1], windows[0], k), sequence(shape[2], windows[1], k + 50)
        for overlaps in (False, True):
            tag = f"{shape[1]}to{windows[0]}-{shape[2]}to{windows[1]}" + "-overlapping" * overlaps
            for d in dtypes("FractionalMaxPoolGrad"):
                x = values(d, shape, k)
                out = greatest(x.array, rows, columns, overlaps)
                flow = values(d, out.shape, k + 9)
                yield one("FractionalMaxPoolGrad", d, tag, [x, T(d, out), flow, i64(rows), i64(columns)], tol(d), risky=True, overlapping=overlaps)
                yield one("FractionalAvgPoolGrad", d, tag, [i64(shape), flow, i64(rows), i64(columns)], tol(d), overlapping=overlaps)
    d = "float"
    x, rows, columns = values(d, (1, 6, 7, 2)), i64([0, 2, 4, 6]), i64([0, 3, 7])
    out = greatest(x.array, rows.array, columns.array, False)
    flow = values(d, out.shape, 3)
    yield from bad("FractionalMaxPoolGrad", d, "output-differs", [x, T(d, out + 1), flow, rows, columns], risky=True)
    # What is pooled may begin behind the first row and end before the last sequence does, which may be longer than the output.
    for tag, r, c in (("late", [1, 2, 4], [2, 3, 4]), ("beyond", [0, 2, 9], [0, 3, 8]), ("longer", [1, 2, 4, 4], [0, 2, 4, 4, 4])):
        for overlaps in (False, True):
            yield one("FractionalAvgPoolGrad", d, tag + "-overlapping" * overlaps, [i64([1, 4, 4, 2]), values(d, (1, 2, 2, 2)), i64(r), i64(c)], tol(d), overlapping=overlaps)
    for tag, shape in (("no-batch", (0, 4, 4, 2)), ("no-rows", (1, 0, 4, 2)), ("no-channels", (1, 4, 4, 0))):
        none, out = f32(np.zeros(shape)), f32(np.zeros((shape[0], min(shape[1], 2), 2, shape[3])))
        yield from bad("FractionalAvgPoolGrad", d, tag, [i64(shape), out, i64([0, 2, 4]), i64([0, 2, 4])], risky=True)
        yield from bad("FractionalMaxPoolGrad", d, tag, [none, out, out, i64([0, 2, 4]), i64([0, 2, 4])], risky=True)
    for tag, r in (("negative", [-1, 2, 4]), ("short", [0, 2]), ("first-empty", [0, 0, 4])):
        yield from bad("FractionalAvgPoolGrad", d, tag, [i64([1, 4, 4, 2]), values(d, (1, 2, 2, 2)), i64(r), i64([0, 2, 4])], risky=True)
    for tag, given in (("shape-length", [i64([1, 6, 7]), flow, rows, columns]), ("shape-rank", [i64([[1, 6, 7, 2]]), flow, rows, columns])):
        yield from bad("FractionalAvgPoolGrad", d, tag, given, risky=True)


def cases():
    for part in (pools, gradients):
        yield from part()
