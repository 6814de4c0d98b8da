"""Colours: hue, saturation and value; contrast."""
import numpy as np

from golden import R, T, bad, dtypes, f32, i32, many, one, some, tol

GRID = np.array([[r, g, b] for r in (0, 0.2, 0.5, 1) for g in (0, 0.2, 0.5, 1) for b in (0, 0.2, 0.5, 1)])

# Denormal ranges, which TensorFlow flushes to 0, and what is no number.
ODD = [[0, 3e-40, 1e-40], [1e-40, 1e-40, 5e-41], [1, 0, 1e-40], [0, 1e-38, 2e-38], [np.inf, 0, 0], [np.inf, np.inf, 0], [-np.inf, 0, 1], [np.nan, 0, 1], [1, np.nan, 0], [0, 1, np.nan], [np.nan] * 3]


def colors(seed, *shape):
    return np.random.RandomState(seed).rand(*shape, 3)


def spaces():
    for op in ("RGBToHSV", "HSVToRGB"):
        for d in dtypes(op):
            limit = tol(d, 4)
            yield many(op, d, "values", [[T(d, GRID)], [T(d, colors(1, 2, 9, 7))], [T(d, colors(2, 40))]], limit)
            yield many(op, d, "shapes", [[T(d, colors(3))], [T(d, colors(3, 0))], [T(d, colors(3, 2, 0, 4))], [T(d, colors(4, 1, 2, 1, 3, 2))]], limit)
            yield many(op, d, "outside", [[T(d, colors(5, 30) * 4 - 2)], [T(d, GRID * 255)], [T(d, -GRID)]], tol(d, 20))
            nan, inf = np.nan, np.inf
            odd = [[nan, 0, 1], [1, nan, 0], [0, 1, nan], [nan, nan, 1], [nan, 1, nan], [1, nan, nan], [nan] * 3, [inf, 0, 1], [1, -inf, 0], [inf, inf, 0], [0.25, nan, 0.5], [nan, 0.5, 0.5]]
            yield many(op, d, "odd", [[T(d, odd)], [T(d, odd * 5)]], limit)
        for name, x in (("scalar", R("float", ())), ("two", R("float", (4, 2))), ("four", R("float", (2, 2, 4))), ("none", R("float", (3, 0)))):
            yield from bad(op, "float", name, [x])


def adjustments():
    scalar = lambda v: f32(np.float32(v))
    for op, values in (("AdjustHue", (0, 0.1, -0.3, 0.5, 1, -1, 2.7, -5.3, 1234.5, -1e5)), ("AdjustSaturation", (0, 0.5, 1, 1.7, 10, -1, 0.01))):
        for v in values:
            yield many(op, "float", f"by{v}", [[f32(x), scalar(v)] for x in (GRID.reshape(4, 16, 3), colors(6, 2, 5, 7))], tol("float", 10))
        yield many(op, "float", "shapes", [[f32(x), scalar(0.3)] for x in (colors(7, 1, 1), colors(7, 0, 4), colors(7, 2, 0, 3, 1), colors(7, 2, 1, 3, 2))], tol("float", 10))
        yield many(op, "float", "outside", [[f32(x), scalar(0.4)] for x in (colors(8, 6, 6) * 4 - 2, GRID.reshape(8, 8, 3) * 255, -GRID.reshape(8, 8, 3))], tol("float", 20))
        for v in (np.nan,):
            yield one(op, "float", f"by{v}", [f32(GRID.reshape(4, 16, 3)), scalar(v)], tol("float", 10))
        good = [f32(colors(1, 2, 2)), scalar(0.3)]
        for name, k, x in (("rank", 0, f32(colors(1, 2))), ("channels", 0, R("float", (2, 2, 4))), ("channel", 0, R("float", (2, 2, 1))), ("vector", 1, f32([0.3]))):
            yield from bad(op, "float", name, [x if k == at else y for at, y in enumerate(good)], static=name == "rank")
        yield many(op, "float", "odd", [[f32([[x]]), scalar(v)] for x in ODD for v in (0.5, -0.2)], tol("float", 10))
    op = "AdjustContrastv2"
    for v in (0, 0.5, 1, 2, -1, 1e3):
        yield many(op, "float", f"by{v}", [[R("float", s), scalar(v)] for s in ((3, 5, 3), (2, 4, 4, 1), (1, 1, 2), (2, 3, 7, 9, 4), (17, 1, 5))], tol("float", 20))
    yield many(op, "float", "shapes", [[R("float", s), scalar(0.5)] for s in ((0, 2, 3), (2, 0, 3), (2, 2, 0), (0, 2, 2, 1), (32, 33, 3), (1, 1, 1), (2, 9, 7, 70))], tol("float", 20))
    odd = R("float", (1, 4, 4, 2)).array.copy()
    odd[0, 1, 1, 0] = np.inf
    yield one(op, "float", "odd", [f32(odd), scalar(0.5)], tol("float", 10))
    for name, inputs in (("rank", [R("float", (2, 3)), scalar(1)]), ("vector", [R("float", (2, 2, 3)), f32([1])])):
        yield from bad(op, "float", name, inputs)


def cases():
    for part in (spaces, adjustments):
        yield from part()
