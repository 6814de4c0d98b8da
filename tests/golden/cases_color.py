"""Colours: hue, saturation and value; contrast."""
import numpy as np

from golden import R, T, bad, dtypes, f32, i32, many, one, some, tol

GRID = np.array([[r, g, b] for r in (0, 0.2, 0.5, 1) for g in (0, 0.2, 0.5, 1) for b in (0, 0.2, 0.5, 1)])


def colors(seed, *shape):
    return np.random.RandomState(seed).rand(*shape, 3)


def spaces():
    for op in ("RGBToHSV", "HSVToRGB"):
        for d in dtypes(op):
            limit = tol(d, 4)
            yield many(op, d, "values", [[T(d, GRID)], [T(d, colors(1, 2, 9, 7))], [T(d, colors(2, 40))]], limit)
            yield many(op, d, "shapes", [[T(d, colors(3))], [T(d, colors(3, 0))], [T(d, colors(3, 2, 0, 4))], [T(d, colors(4, 1, 2, 1, 3, 2))]], limit)
            yield many(op, d, "outside", [[T(d, colors(5, 30) * 4 - 2)], [T(d, GRID * 255)], [T(d, -GRID)]], tol(d, 20))
        for name, x in (("scalar", R("float", ())), ("two", R("float", (4, 2))), ("four", R("float", (2, 2, 4))), ("none", R("float", (3, 0)))):
            yield from bad(op, "float", name, [x])


def adjustments():
    scalar = lambda v: f32(np.float32(v))
    for op, values in (("AdjustHue", (0, 0.1, -0.3, 0.5, 1, -1, 2.7, -5.3)), ("AdjustSaturation", (0, 0.5, 1, 1.7, 10, -1, 0.01))):
        for v in values:
            yield many(op, "float", f"by{v}", [[f32(x), scalar(v)] for x in (GRID.reshape(4, 16, 3), colors(6, 2, 5, 7))], tol("float", 10))
        yield many(op, "float", "shapes", [[f32(x), scalar(0.3)] for x in (colors(7, 1, 1), colors(7, 0, 4), colors(7, 2, 0, 3, 1), colors(7, 2, 1, 3, 2))], tol("float", 10))
        yield many(op, "float", "outside", [[f32(x), scalar(0.4)] for x in (colors(8, 6, 6) * 4 - 2, GRID.reshape(8, 8, 3) * 255, -GRID.reshape(8, 8, 3))], tol("float", 20))
        for v in (np.nan,):
            yield one(op, "float", f"by{v}", [f32(GRID.reshape(4, 16, 3)), scalar(v)], tol("float", 10))
        good = [f32(colors(1, 2, 2)), scalar(0.3)]
        for name, k, x in (("rank", 0, f32(colors(1, 2))), ("channels", 0, R("float", (2, 2, 4))), ("channel", 0, R("float", (2, 2, 1))), ("vector", 1, f32([0.3]))):
            yield from bad(op, "float", name, [x if k == at else y for at, y in enumerate(good)], static=name == "rank")
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
