"""Crops of boxes, with gradients; outlines of boxes; boxes by lot; glimpses."""
import numpy as np

from golden import R, T, bad, dtypes, f32, i32, i64, many, one, some, tol

INSIDE = [[0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.5, 0.5, 0.5, 0.5], [0.8, 0.9, 0.2, 0.1]]
OUTSIDE = [[-0.5, -0.25, 1.5, 1.25], [1.1, 1.1, 2, 2], [-1, 0, 0, 1], [0.3, -0.2, 0.9, 0.4], [0, 0, 1.0001, 1]]
# Images, boxes of each, their images, the size of the crops.
SHAPES = [((1, 4, 5, 2), INSIDE, [0, 0, 0, 0], [3, 4]), ((3, 6, 3, 3), OUTSIDE, [2, 0, 1, 2, 2], [4, 2]), ((2, 5, 5, 1), INSIDE[:2], [1, 0], [1, 1]), ((1, 1, 1, 4), OUTSIDE[:1], [0], [2, 2]),
          ((2, 3, 4, 5), INSIDE, [1, 0, 1, 1], [1, 7]), ((1, 8, 7, 3), OUTSIDE, [0] * 5, [9, 1]), ((1, 2, 2, 17), INSIDE[:2], [0, 0], [5, 5])]
SINGLE = SHAPES[0]


# Corners in eighths, of which many lines of a crop lie on lines of the image, or just beside them.
EIGHTHS = [[y0 / 8, x0 / 8, y1 / 8, x1 / 8] for y0, x0, y1, x1 in ((7, 1, 0, 8), (3, 2, 0, 8), (6, 7, 0, 4), (1, 3, 8, 0), (5, 8, 2, 1), (0, 0, 8, 8))]
CROPS = [((1, rows, columns, 1), EIGHTHS, [0] * 6, [n, n + 1]) for n in range(7, 15) for rows, columns in ((9, 8), (7, 5))]


def none(*shape):
    return np.zeros(shape)


def crops():
    op = "CropAndResize"
    for d in dtypes(op):
        for method in ("bilinear", "nearest"):
            yield many(op, d, method, [[R(d, s), f32(b), i32(i), i32(n)] for s, b, i, n in some(d, SHAPES, 2)], tol("float"), method=method, extrapolation_value=-7.5)
    yield many(op, "float", "eighths", [[R("float", s), f32(b), i32(i), i32(n)] for s, b, i, n in CROPS], tol("float"))
    image = R("float", (2, 4, 4, 3))
    yield one(op, "float", "default", [image, f32(OUTSIDE), i32([0] * 5), i32([3, 3])], tol("float"))
    yield one(op, "float", "no-boxes", [image, f32(none(0, 4)), i32(none(0)), i32([3, 3])])
    yield one(op, "float", "no-channels", [R("float", (2, 4, 4, 0)), f32(INSIDE), i32([0] * 4), i32([3, 3])])
    yield one(op, "float", "no-images-no-boxes", [R("float", (0, 4, 4, 2)), f32(none(0, 4)), i32(none(0)), i32([3, 3])])
    odd = R("float", (1, 3, 3, 1)).array.copy()
    odd[0, 1, 1, 0], odd[0, 0, 0, 0] = np.inf, np.nan
    yield many(op, "float", "odd", [([f32(odd), f32(INSIDE[:3]), i32([0] * 3), i32([3, 4])], {"method": m}) for m in ("bilinear", "nearest")], tol("float"))
    good = [image, f32(INSIDE), i32([0, 1, 0, 1]), i32([2, 2])]
    faults = {"image-rank": {0: R("float", (4, 4, 3))}, "image-empty": {0: R("float", (2, 0, 4, 3))}, "boxes-rank": {1: f32([1, 2, 3, 4])}, "boxes-columns": {1: f32(none(4, 3))}, "indices-rank": {2: i32([[0, 0, 0, 0]])},
              "indices-count": {2: i32([0, 1])}, "index-high": {2: i32([0, 1, 2, 0])}, "index-negative": {2: i32([0, -1, 0, 0])}, "size-rank": {3: i32([[2, 2]])}, "size-count": {3: i32([2, 2, 2])}, "size-0": {3: i32([0, 2])},
              "size-negative": {3: i32([2, -1])}, "boxes-nan": {1: f32([[0, 0, np.nan, 1]] * 4)}, "boxes-infinite": {1: f32([[0, 0, np.inf, 1]] * 4)}, "index-and-nan": {1: f32([[0, 0, np.nan, 1]] * 4), 2: i32([0, 9, 0, 0])}}
    for name, fault in faults.items():
        yield from bad(op, "float", name, [fault.get(k, v) for k, v in enumerate(good)])
    yield from bad(op, "float", "method", good, method="cubic")


def image_gradients():
    op = "CropAndResizeGradImage"

    def rows(d, shapes):
        return [[R("float", (len(b), *n, s[3])), f32(b), i32(i), i32(s)] for s, b, i, n in shapes]

    for d in dtypes(op):
        for method in ("bilinear", "nearest"):
            yield many(op, d, method, rows(d, some(d, SHAPES, 3)), tol("half" if d == "half" else "float", 4), T=d, method=method)
    for d in ("float",):
        yield one(op, d, "no-boxes", [R("float", (0, 2, 2, 3)), f32(none(0, 4)), i32(none(0)), i32([2, 4, 4, 3])], T=d)
        yield one(op, d, "no-channels", [R("float", (1, 2, 2, 0)), f32(INSIDE[:1]), i32([0]), i32([2, 4, 4, 0])], T=d)
        yield one(op, d, "no-images", [R("float", (0, 2, 2, 3)), f32(none(0, 4)), i32(none(0)), i32([0, 4, 4, 3])], T=d)
        many_on_one = [[0.2, 0.2, 0.3, 0.3]] * 30
        yield one(op, d, "one-place", [R("float", (30, 3, 3, 2)), f32(many_on_one), i32([0] * 30), i32([1, 3, 3, 2])], tol("float", 8), T=d)
    good = [R("float", (4, 2, 2, 3)), f32(INSIDE), i32([0, 1, 0, 1]), i32([2, 4, 4, 3])]
    faults = {"grads-rank": {0: R("float", (2, 2, 3))}, "grads-empty": {0: R("float", (4, 0, 2, 3))}, "grads-count": {0: R("float", (3, 2, 2, 3))}, "grads-channels": {0: R("float", (4, 2, 2, 1))}, "boxes-rank": {1: f32([1, 2, 3, 4])},
              "boxes-columns": {1: f32(none(4, 3))}, "indices-rank": {2: i32([[0, 0, 0, 0]])}, "indices-count": {2: i32([0, 1])}, "index-high": {2: i32([0, 1, 2, 0])}, "size-rank": {3: i32([[2, 4, 4, 3]])},
              "size-count": {3: i32([2, 4, 4])}, "size-0": {3: i32([2, 0, 4, 3])}, "size-negative": {3: i32([2, 4, -4, 3])}}
    for name, fault in faults.items():
        yield from bad(op, "float", name, [fault.get(k, v) for k, v in enumerate(good)], T="float")


def box_gradients():
    op = "CropAndResizeGradBoxes"
    for d in dtypes(op):
        yield many(op, d, "values", [[R("float", (len(b), *n, s[3])), R(d, s), f32(b), i32(i)] for s, b, i, n in some(d, SHAPES, 3)], tol("float", 20))
    yield many(op, "float", "eighths", [[R("float", (len(b), *n, s[3])), R("float", s), f32(b), i32(i)] for s, b, i, n in CROPS], tol("float", 20))
    yield one(op, "float", "no-boxes", [R("float", (0, 2, 2, 3)), R("float", (2, 4, 4, 3)), f32(none(0, 4)), i32(none(0))])
    yield one(op, "float", "no-channels", [R("float", (2, 2, 2, 0)), R("float", (2, 4, 4, 0)), f32(INSIDE[:2]), i32([0, 1])])
    good = [R("float", (4, 2, 2, 3)), R("float", (2, 4, 4, 3)), f32(INSIDE), i32([0, 1, 0, 1])]
    faults = {"grads-rank": {0: R("float", (2, 2, 3))}, "grads-empty": {0: R("float", (4, 0, 2, 3))}, "grads-count": {0: R("float", (3, 2, 2, 3))}, "channels": {0: R("float", (4, 2, 2, 1))}, "image-rank": {1: R("float", (4, 4, 3))},
              "image-empty": {1: R("float", (2, 4, 0, 3))}, "boxes-columns": {2: f32(none(4, 3))}, "indices-rank": {3: i32([[0, 0, 0, 0]])}, "indices-count": {3: i32([0, 1])}, "index-high": {3: i32([0, 1, 2, 0])},
              "index-negative": {3: i32([0, 1, -2, 0])}}
    for name, fault in faults.items():
        yield from bad(op, "float", name, [fault.get(k, v) for k, v in enumerate(good)])


def outlines():
    boxes = [INSIDE, [[-0.5, -0.5, 0.5, 0.5], [0.2, 0.6, 1.5, 2], [1.2, 1.2, 1.5, 1.5], [-2, -2, -1, -1]], [[0.1, 0.1, 0.1, 0.9], [0.0, 0.5, 1, 0.5], [np.nan, 0, 1, 1], [0, 0, np.inf, 1]]]
    for op in ("DrawBoundingBoxes", "DrawBoundingBoxesV2"):
        def colors(channels, count=3, op=op):
            return [R("float", (count, channels), 5)] if op.endswith("V2") else []

        for d in dtypes(op):
            yield many(op, d, "values", [[R(d, (1, 7, 9, c)), f32([b]), *colors(c)] for c in (1, 3, 4) for b in boxes])
        yield one(op, "float", "batch", [R("float", (3, 6, 5, 3)), f32(boxes), *colors(3)])
        yield one(op, "float", "many", [R("float", (1, 16, 16, 3)), f32(np.random.RandomState(1).uniform(-0.2, 1.2, (1, 23, 4))), *colors(3, 4)])
        yield one(op, "float", "pixel", [R("float", (1, 1, 1, 3)), f32([INSIDE]), *colors(3)])
        yield one(op, "float", "no-boxes", [R("float", (2, 4, 4, 3)), f32(none(2, 0, 4)), *colors(3)])
        yield one(op, "float", "no-images", [R("float", (0, 4, 4, 3)), f32(none(0, 2, 4)), *colors(3)])
        yield one(op, "float", "far", [R("float", (1, 4, 4, 1)), f32([[[-1e30, 0, 1e30, 1], [0, -1e30, 1, 0.5], [0, 0, 1e10, 1e10]]]), *colors(1)])
        good = [R("float", (2, 4, 4, 3)), f32([INSIDE, INSIDE]), *colors(3)]
        faults = {"images-rank": {0: R("float", (4, 4, 3))}, "channels": {0: R("float", (2, 4, 4, 2))}, "boxes-rank": {1: f32(INSIDE)}, "boxes-columns": {1: f32(none(2, 4, 3))}, "batch": {1: f32([INSIDE])}}
        if op.endswith("V2"):
            faults |= {"colors-rank": {2: f32([1, 0, 0])}, "colors-channels": {2: f32([[1, 0]])}, "images-rank2": {0: R("float", (4, 3))}}
        for name, fault in faults.items():
            yield from bad(op, "float", name, [fault.get(k, v) for k, v in enumerate(good)], static=name not in ("batch",))
    yield one("DrawBoundingBoxesV2", "float", "no-colors", [R("float", (1, 6, 6, 3)), f32([INSIDE]), f32(none(0, 3))])
    yield one("DrawBoundingBoxesV2", "float", "wide-colors", [R("float", (1, 6, 6, 1)), f32([INSIDE]), f32([[1, 2, 3, 4], [5, 6, 7, 8]])])


def samples():
    ways = [{}, {"aspect_ratio_range": [0.5, 2.0], "area_range": [0.2, 0.9]}, {"aspect_ratio_range": [1.0, 1.0]}, {"area_range": [0.9, 1.0], "max_attempts": 3}, {"aspect_ratio_range": [4.0, 9.0], "area_range": [0.3, 0.3], "max_attempts": 5},
            {"area_range": [0.5, 0.1]}]
    sizes = [[40, 60, 3], [7, 100, 1], [1, 1, 3], [100, 9, 3]]
    boxes = f32([[[0.1, 0.2, 0.5, 0.6], [0, 0, 1, 1]]])

    def inputs(op, d, n, b, covered, seed):
        yield T(d, n)
        yield b
        if op != "SampleDistortedBoundingBox":
            yield f32(np.float32(covered))
        if op.startswith("Stateless"):
            yield seed

    for op in ("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", "StatelessSampleDistortedBoundingBox"):
        def attrs(k, way, covered=0.3, op=op):
            seeds = {} if op.startswith("Stateless") else {"seed": 7 + k, "seed2": 3 * k}
            return {**way, **seeds, **({"min_object_covered": covered} if op == "SampleDistortedBoundingBox" else {})}

        for d in dtypes(op):
            yield many(op, d, "values", [([*inputs(op, d, n, boxes, 0.3, i64([k, 5]))], attrs(k, way)) for k, (n, way) in enumerate((n, way) for n in some(d, sizes, 2) for way in some(d, ways, 2))])
        for k, covered in enumerate((0.0, 0.1, 0.9, 1.0, 5.0)):
            yield many(op, "int32", f"covered-{covered}", [([*inputs(op, "int32", [30, 40, 3], f32([[[0.3, 0.3, 0.7, 0.8]]]), covered, i32([k, at]))], attrs(k + 10 * at, {}, covered)) for at in range(6)])
        yield many(op, "int32", "no-boxes", [([*inputs(op, "int32", [30, 40, 3], f32(none(1, 0, 4)), 0.3, i64([k, -1]))], attrs(k, {"use_image_if_no_bounding_boxes": True})) for k in range(3)])
        yield many(op, "int32", "large", [([*inputs(op, "int32", [2000, 3001, 3], boxes, 0.5, i64([k, 2 ** 40]))], attrs(k, {"use_image_if_no_bounding_boxes": True})) for k in range(4)])
        vast = ([2 ** 31 - 2, 2 ** 31 - 2, 3], [2 ** 31 - 2, 5, 3], [5, 2 ** 31 - 2, 3], [70000, 70000, 3])
        for power in (-30, -10, -3, 0, 3, 10, 30):
            yield many(op, "int32", f"vast{power}", [([*inputs(op, "int32", n, boxes, covered, i64([k, 3]))], attrs(k, {"aspect_ratio_range": [10.0 ** power, 2 * 10.0 ** power], "max_attempts": 20}, covered)) for k, n in enumerate(vast) for covered in (0.0, 0.4)], risky=True)
        yield one(op, "int64", "empty-image", [*inputs(op, "int64", [0, 5, 3], boxes, 0.5, i64([1, 2]))], **attrs(1, {}))
        good = [*inputs(op, "int32", [30, 40, 3], boxes, 0.3, i64([1, 2]))]
        faults = {"size-rank": {0: i32([[30, 40, 3]])}, "size-count": {0: i32([30, 40])}, "size-negative": {0: i32([-30, 40, 3])}, "boxes-rank": {1: f32([[0, 0, 1, 1]])}, "boxes-columns": {1: f32([[[0, 0, 1]]])},
                  "boxes-low": {1: f32([[[-0.1, 0, 1, 1]]])}, "boxes-high": {1: f32([[[0, 0, 1, 1.1]]])}, "boxes-nan": {1: f32([[[0, 0, 1, np.nan]]])}, "boxes-none": {1: f32(none(1, 0, 4))}}
        if op != "SampleDistortedBoundingBox":
            faults |= {"covered-rank": {2: f32([0.3])}, "covered-negative": {2: f32(np.float32(-0.3))}}
        if op.startswith("Stateless"):
            faults |= {"seed-rank": {3: i64([[1, 2]])}, "seed-count": {3: i64([1, 2, 3])}}
        for name, fault in faults.items():
            yield from bad(op, "int32", name, [fault.get(k, v) for k, v in enumerate(good)], **attrs(0, {}))
        for name, way in (("aspect-count", {"aspect_ratio_range": [1.0]}), ("aspect-0", {"aspect_ratio_range": [0.0, 1.0]}), ("area-count", {"area_range": [0.1, 0.2, 0.3]}), ("area-0", {"area_range": [0.0, 1.0]}), ("area-high", {"area_range": [0.1, 1.1]}),
                          ("attempts-0", {"max_attempts": 0}), ("attempts-negative", {"max_attempts": -1})):
            yield from bad(op, "int32", name, good, **attrs(0, way))
    yield from bad("SampleDistortedBoundingBox", "int32", "covered-negative", [i32([30, 40, 3]), boxes], min_object_covered=-0.1, seed=1)


def glimpses():
    offsets = [[[0, 0], [0.3, -0.2]], [[1, 1], [-1, -1]], [[0.5, 0.5], [0.25, 0.9]], [[2, 1], [0, 3]], [[-3, 1], [9, 9]], [[-1.5, 0.5], [1.2, -0.4]], [[np.nan, 0], [np.inf, 0]]]
    ways = [{"centered": c, "normalized": n} for c in (True, False) for n in (True, False)]
    for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
        for size in ([3, 4], [1, 1], [2, 9], [12, 10], [5, 6]):
            yield many(op, "float", f"zero-{size[0]}-{size[1]}", [([R("float", (2, 5, 6, 3)), i32(size), f32(o)], way) for o in offsets for way in ways], noise="zero", uniform_noise=False)
        # Glimpses that are inside have no noise.
        yield many(op, "float", "inside", [([R("float", (2, 9, 8, c)), i32([3, 2]), f32([[0.1, -0.1], [0.2, 0.3]])], {**n}) for c in (1, 4) for n in ({}, {"noise": "gaussian", "uniform_noise": False}, {"noise": "", "uniform_noise": False}, {"noise": ""})])
        yield one(op, "float", "equal-image", [T("float", np.full((1, 4, 4, 2), 2.5)), i32([6, 6]), f32([[0, 0]])])
        yield one(op, "float", "equal-image-gaussian", [T("float", np.full((1, 4, 4, 2), 2.5)), i32([6, 6]), f32([[0.7, -0.9]])], noise="gaussian", uniform_noise=False)
        yield one(op, "float", "no-images", [R("float", (0, 4, 4, 2)), i32([3, 3]), f32(none(0, 2))])
        yield one(op, "float", "empty", [R("float", (1, 4, 4, 2)), i32([0, 3]), f32([[0, 0]])])
        good = [R("float", (2, 4, 4, 2)), i32([3, 3]), f32([[0, 0], [0, 0]])]
        faults = {"input-rank": {0: R("float", (4, 4, 2))}, "size-rank": {1: i32([[3, 3]])}, "size-count": {1: i32([3])}, "size-negative": {1: i32([-3, 3])}, "offsets-rank": {2: f32([0, 0])}, "offsets-batch": {2: f32([[0, 0]])},
                  "offsets-columns": {2: f32([[0, 0, 0], [0, 0, 0]])}}
        for name, fault in faults.items():
            yield from bad(op, "float", name, [fault.get(k, v) for k, v in enumerate(good)])
        for name, way in (("both", {"noise": "gaussian"}), ("both-zero", {"noise": "zero"}), ("noise", {"noise": "pink", "uniform_noise": False})):
            yield from bad(op, "float", name, good, **way)


def cases():
    for part in (crops, image_gradients, box_gradients, outlines, samples, glimpses):
        yield from part()
