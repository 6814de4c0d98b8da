"""Images in other sizes by areas, cubic functions and kernels; images seen through projective transforms."""
import numpy as np

from golden import R, T, bad, dtypes, f32, i32, many, one, some, tol

SIZES = [((1, 3, 4, 2), [5, 6]), ((2, 4, 4, 1), [2, 3]), ((1, 2, 2, 3), [2, 2]), ((1, 5, 3, 1), [1, 7]), ((1, 1, 1, 1), [3, 3]), ((0, 2, 3, 1), [3, 3]), ((1, 7, 9, 3), [10, 4]), ((2, 10, 4, 4), [7, 9]), ((1, 20, 21, 3), [3, 2]), ((1, 4, 40, 5), [9, 3])]


def faulty(op, others=(), resizes=True):
    x = R("float", (1, 2, 3, 1))
    for name, v, z in (("zero", x, [0, 3]), ("negative", x, [3, -3]), ("one", x, [3]), ("three", x, [3, 3, 3]), ("matrix", x, [[3, 3]]), ("rank", R("float", (2, 3, 1)), [3, 3]),
                       ("empty", R("float", (1, 0, 3, 1)), [3, 3]), ("channels", R("float", (1, 2, 3, 0)), [3, 3])):
        yield from bad(op, "float", name, [v, i32(z), *others])


def areas():
    op = "ResizeArea"
    for d in dtypes(op):
        yield many(op, d, "values", [([R(d, s, ints=5), i32(z)], {"align_corners": a}) for a in (False, True) for s, z in some(d, SIZES, 3)], tol("float", 4))
    yield one(op, "float", "row", [R("float", (1, 1, 5, 2)), i32([4, 3])], tol("float"), align_corners=True)
    yield one(op, "float", "to-pixel", [R("float", (1, 13, 11, 3)), i32([1, 1])], tol("float", 4))
    yield from faulty(op)


def cubics():
    op = "ResizeBicubic"
    ways = ({}, {"align_corners": True}, {"half_pixel_centers": True})
    for d in dtypes(op):
        yield many(op, d, "values", [([R(d, s, ints=5), i32(z)], way) for way in ways for s, z in some(d, SIZES, 3)], tol("float", 10))
    yield from bad(op, "float", "both", [R("float", (1, 2, 3, 1)), i32([3, 3])], align_corners=True, half_pixel_centers=True)
    yield from faulty(op)
    op = "ResizeBicubicGrad"
    for d in dtypes(op):
        yield many(op, d, "values", [([R("float", (s[0], *z, s[3]), ints=5), R(d, s)], way) for way in ways for s, z in SIZES], tol("float", 20))
    for name, a, b in (("rank", (2, 3, 1), (1, 3, 4, 1)), ("original", (1, 2, 3, 1), (3, 4, 1)), ("empty", (1, 0, 3, 1), (1, 3, 4, 1)), ("empty-original", (1, 2, 3, 1), (1, 0, 4, 1))):
        yield from bad(op, "float", name, [R("float", a), R("float", b)])
    yield from bad(op, "float", "both", [R("float", (1, 3, 3, 1)), R("float", (1, 2, 3, 1))], align_corners=True, half_pixel_centers=True)


KERNELS = ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic")
MOVES = [([1, 1], [0, 0]), ([2, 1.5], [0, 0]), ([0.5, 0.3], [0, 0]), ([1, 1], [0.5, -1.25]), ([0.7, 2.5], [2, -3]), ([1, 1], [100, 0]), ([1e-3, 1], [0, 0]), ([1e3, 1], [-50, 0])]


def scales():
    op = "ScaleAndTranslate"
    for d in dtypes(op):
        for antialias in (True, False):
            yield many(op, d, f"values-{antialias}", [([R(d, s, ints=5), i32(z), f32(scale), f32(move)], {"kernel_type": k, "antialias": antialias}) for k in some(d, KERNELS, 2) for (s, z), (scale, move) in some(d, list(zip(SIZES, MOVES[1:] + MOVES)), 2)], tol("float", 20))
    for k in KERNELS:
        yield many(op, "float", k, [([R("float", (1, 6, 7, 2)), i32([5, 8]), f32(scale), f32(move)], {"antialias": a}) for scale, move in MOVES for a in (True, False)], tol("float", 20), kernel_type=k)
    yield one(op, "float", "upper-case", [R("float", (1, 4, 4, 1)), i32([3, 3]), f32([1, 1]), f32([0, 0])], tol("float", 10), kernel_type="LANCZOS3")
    others = [f32([1, 1]), f32([0, 0])]
    yield from faulty(op, others)
    good = [R("float", (1, 4, 4, 1)), i32([3, 3]), *others]
    faults = {"scale-rank": {2: f32([[1, 1]])}, "scale-count": {2: f32([1])}, "scale-0": {2: f32([0, 1])}, "scale-negative": {2: f32([1, -1])}, "scale-nan": {2: f32([np.nan, 1])}, "move-rank": {3: f32([[1, 1]])}, "move-count": {3: f32([1, 1, 1])}}
    for name, fault in faults.items():
        yield from bad(op, "float", name, [fault.get(k, v) for k, v in enumerate(good)])
    yield from bad(op, "float", "kernel", good, kernel_type="nearest")
    yield many(op, "float", "odd-moves", [[good[0], good[1], good[2], f32(m)] for m in ([np.nan, 0], [np.inf, 0], [0, -np.inf])], tol("float"))
    # Weights that are 0 make NaN of what is not finite, in lines and columns that have no others, too.
    odd = R("float", (1, 6, 5, 2)).array.copy()
    odd[0, 1, 3, 0], odd[0, 5, 0, 1] = np.nan, np.inf
    yield many(op, "float", "odd", [([f32(odd), i32([7, 4]), f32(scale), f32(move)], {"antialias": a}) for scale, move in MOVES for a in (True, False)], tol("float", 20), kernel_type="triangle")
    op = "ScaleAndTranslateGrad"
    for k in KERNELS:
        for antialias in (True, False):
            yield many(op, "float", f"{k}-{antialias}", [[R("float", (s[0], *z, s[3])), R("float", s), f32(scale), f32(move)] for (s, z), (scale, move) in zip(SIZES, MOVES[1:] + MOVES)], tol("float", 20), kernel_type=k, antialias=antialias)
    yield many(op, "float", "odd", [([f32(odd), R("float", (1, 7, 4, 2)), f32(scale), f32(move)], {"antialias": a}) for scale, move in MOVES for a in (True, False)], tol("float", 20), kernel_type="triangle")
    yield one(op, "float", "no-grads", [R("float", (1, 0, 3, 2)), R("float", (1, 4, 4, 2)), f32([0.8, 0.7]), f32([0, 0])], tol("float", 10), risky=True)
    good = [R("float", (1, 3, 3, 1)), R("float", (1, 4, 4, 1)), *others]
    faults |= {"grads-rank": {0: R("float", (3, 3, 1))}, "original-rank": {1: R("float", (4, 4, 1))}}
    for name, fault in faults.items():
        yield from bad(op, "float", name, [fault.get(k, v) for k, v in enumerate(good)])
    yield from bad(op, "float", "kernel", good, kernel_type="nearest")


def transforms():
    identity = [1, 0, 0, 0, 1, 0, 0, 0]
    ways = [[0.9, 0.2, 1.3, -0.1, 1.1, -0.6, 0, 0], [1, 0, -2.5, 0, 1, 3.25, 0, 0], [0, 1, 0, 1, 0, 0, 0, 0], [1, 0.1, 0, 0.1, 1, 0, 0.02, -0.05], [-1, 0, 5, 0, -1, 4, 0, 0], [2, 0, -20, 0, 2, 30, 0, 0], [1, 0, 0, 0, 1, 0, -0.5, 0]]
    modes = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
    for op in ("ImageProjectiveTransformV2", "ImageProjectiveTransformV3"):
        def rest(v=2.5, op=op):
            return [f32(np.float32(v))] if op.endswith("V3") else []

        for d in dtypes(op, "dtype"):
            for interpolation in ("NEAREST", "BILINEAR"):
                for mode in some(d, modes, 2):
                    yield many(op, d, f"{interpolation}-{mode}".lower(), [[R(d, (1, 5, 6, 2)), f32([w]), i32([5, 6]), *rest()] for w in some(d, [identity, *ways], 4)], tol(d, 4), interpolation=interpolation, fill_mode=mode)
        for interpolation in ("NEAREST", "BILINEAR"):
            for mode in modes:
                yield many(op, "float", f"shapes-{interpolation}-{mode}".lower(), [[R("float", s), f32(w), i32(z), *rest(-1)] for s, w, z in (((3, 4, 5, 1), ways[:3], [4, 5]), ((2, 4, 5, 3), ways[3:4], [7, 2]), ((1, 1, 1, 2), ways[:1], [3, 3]),
                           ((1, 1, 4, 1), ways[:1], [2, 6]), ((0, 4, 4, 1), ways[:1], [2, 2]), ((2, 3, 3, 0), ways[:1], [2, 2]), ((1, 8, 9, 20), ways[4:5], [3, 3]))], tol("float", 4), interpolation=interpolation, fill_mode=mode)
                far = [[1, 0, 1e6, 0, 1, -1e6, 0, 0], [1e3, 0, -500, 0, 1e3, 500, 0, 0], [1, 0, -7.5, 0, 1, 12.5, 0, 0], [1, 0, 0.5, 0, 1, 0.5, 0, 0]]
                yield many(op, "float", f"far-{interpolation}-{mode}".lower(), [[R("float", (1, 4, 5, 1)), f32([w]), i32([4, 5]), *rest()] for w in far], tol("float", 40), interpolation=interpolation, fill_mode=mode)
                beyond = [[1, 0, x, 0, 1, y, 0, 0] for place in (1e9, 1e19, 3e19, 5e19, 1e30, np.inf) for x, y in ((place, 0), (-place, 0), (1, place), (1, -place))]
                if mode in ("REFLECT", "WRAP"):
                    yield many(op, "float", f"beyond-{interpolation}-{mode}".lower(), [[R("float", (1, 4, 5, 1)), f32([w]), i32([3, 2]), *rest()] for w in beyond], tol("float", 4), interpolation=interpolation, fill_mode=mode)
        good = [R("float", (2, 4, 4, 3)), f32([identity]), i32([3, 3]), *rest()]
        faults = {"images-rank": {0: R("float", (4, 4, 3))}, "transforms-rank": {1: f32(identity)}, "transforms-columns": {1: f32([identity[:7]])}, "transforms-batch": {1: f32([identity] * 3)}, "size-rank": {2: i32([[3, 3]])}, "size-count": {2: i32([3])},
                  "size-0": {2: i32([0, 3])}, "size-negative": {2: i32([3, -3])}}
        if op.endswith("V3"):
            faults["fill-vector"] = {3: f32([1])}
            yield one(op, "uint8", "fill", [R("uint8", (1, 3, 3, 1)), f32([ways[1]]), i32([4, 4]), f32(np.float32(200.7))], interpolation="NEAREST")
            yield one(op, "half", "fill", [R("half", (1, 3, 3, 1)), f32([ways[1]]), i32([4, 4]), f32(np.float32(0.1))], interpolation="NEAREST")
        for name, fault in faults.items():
            yield from bad(op, "float", name, [fault.get(k, v) for k, v in enumerate(good)], static=not name.startswith(("transforms", "fill", "size-0")), interpolation="NEAREST")


def cases():
    for part in (areas, cubics, scales, transforms):
        yield from part()
