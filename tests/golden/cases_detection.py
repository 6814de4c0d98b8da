"""Non-maximum suppression of boxes: its versions, by a matrix of overlaps, and of several classes."""
import numpy as np

from golden import T, bad, f32, i32, many, one, tol

FLOATS = ("float", "half")


def boxes(count, seed=0, spread=10.0):
    """Corners of boxes of which many overlap, some of them the other way round."""
    r = np.random.RandomState(seed)
    middle, size = r.uniform(0, spread, (count, 2)), r.uniform(0.5, 4, (count, 2))
    corners = np.concatenate([middle - size / 2, middle + size / 2], 1)
    turned = r.rand(count) < 0.2
    corners[turned] = corners[turned][:, [2, 3, 0, 1]]
    return corners


def scores(count, seed=0, levels=None):
    """From 0 to 1; of so many different ones."""
    r = np.random.RandomState(seed + 100)
    return r.rand(count) if levels is None else r.randint(0, levels, count) / levels


def size(n):
    return i32(np.int32(n))


def scalar(d, v):
    return T(d, np.array(v))


def versions(d, b, s, n, overlap=0.5, score=0.0, sigma=0.0):
    """(op, inputs) of all versions whose scores are of dtype `d`."""
    b, s = T(d, b), T(d, s)
    if d == "float":
        yield "NonMaxSuppression", [b, s, size(n)], {"iou_threshold": overlap}
    yield "NonMaxSuppressionV2", [b, s, size(n), scalar(d, overlap)], {}
    yield "NonMaxSuppressionV3", [b, s, size(n), scalar(d, overlap), scalar(d, score)], {}
    for pads in (False, True):
        yield "NonMaxSuppressionV4", [b, s, size(n), scalar(d, overlap), scalar(d, score)], {"pad_to_max_output_size": pads}
        yield "NonMaxSuppressionV5", [b, s, size(n), scalar(d, overlap), scalar(d, score), scalar(d, sigma)], {"pad_to_max_output_size": pads}


def suppressions():
    inf, nan = np.inf, np.nan
    for d in FLOATS:
        rows = {}
        for count, n, overlap, score, levels in ((1, 3, 0.5, 0.0, None), (12, 5, 0.5, 0.3, None), (60, 60, 0.3, 0.1, None), (60, 20, 0.0, 0.0, 6), (200, 40, 0.7, 0.2, 20), (40, 40, 1.0, -1.0, 3), (9, 0, 0.5, 0.0, None), (0, 4, 0.5, 0.0, None)):
            for op, inputs, attrs in versions(d, boxes(count, count), scores(count, count, levels), n, overlap, score):
                rows.setdefault(op, []).append((inputs, attrs))
        for op, found in rows.items():
            yield many(op, d, "values", found, tol(d) if op.endswith("V5") else None)
        # Overlaps that fall exactly on the limit, boxes without area, turned boxes, equal boxes.
        steps = [[0, 0, 1, 1], [0, 0.5, 1, 1.5], [0, 0, 1, 2], [1, 1, 0, 0], [0.25, 0.25, 0.25, 0.75], [0, 0, 1, 1], [3, 3, 4, 4]]
        for overlap in (0.0, 0.25, 1 / 3, 0.5, 1.0):
            for op, inputs, attrs in versions(d, steps, [.9, .8, .8, .7, .6, .5, .5], 7, overlap, 0.5):
                if op.endswith(("V3", "V5")):
                    yield one(op, d, f"limit-{overlap:.2f}-{len(attrs) and attrs['pad_to_max_output_size']}", inputs, tol(d) if op.endswith("V5") else None, **attrs)
        # Scores and corners that are no numbers.
        odd = boxes(10, 5)
        odd[2, 1], odd[5, 2], odd[7, 0], odd[8] = nan, inf, -inf, [0, 0, 0, 0]
        for name, b, s in (("scores", boxes(10, 5), [0.5, nan, inf, -inf, 0.4, nan, 0.0, -0.0, inf, 0.5]), ("corners", odd, scores(10, 5))):
            for op, inputs, attrs in versions(d, b, s, 10, 0.4, -inf):
                yield one(op, d, f"odd-{name}-{len(attrs) and attrs.get('pad_to_max_output_size', 0)}", inputs, tol(d) if op.endswith("V5") else None, **attrs)
        # Scores that become smaller.
        rows = []
        for sigma in (0.1, 0.5, 2.0):
            for score in (0.0, 0.3):
                rows += [(inputs, attrs) for op, inputs, attrs in versions(d, boxes(30, 9), scores(30, 9), 20, 0.5, score, sigma) if op.endswith("V5")]
        yield many("NonMaxSuppressionV5", d, "soft", rows, tol(d, 4))
        # The other dtype for the thresholds.
        other = "half" if d == "float" else "float"
        for op in ("NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4"):
            limits = [scalar(other, 0.3), scalar(other, 0.2)][:1 if op.endswith("V2") else 2]
            yield one(op, d, "mixed", [T(d, boxes(30, 3)), T(d, scores(30, 3)), size(10), *limits])
    for d in FLOATS:
        b, s = T(d, boxes(3)), T(d, scores(3))
        for op, inputs, attrs in versions(d, boxes(3), scores(3), 3):
            if attrs.get("pad_to_max_output_size"):
                continue
            faults = {"boxes-rank": {0: T(d, np.ones(4))}, "boxes-columns": {0: T(d, np.ones((3, 5)))}, "scores-rank": {1: T(d, np.ones((3, 1)))},
                      "scores-count": {1: T(d, np.ones(2))}, "size-vector": {2: i32([3])}, "size-negative": {2: size(-1)}}
            if len(inputs) > 3:
                faults |= {"overlap-vector": {3: T(d, [0.5])}, "overlap-low": {3: scalar(d, -0.1)}, "overlap-high": {3: scalar(d, 1.1)}, "overlap-nan": {3: scalar(d, np.nan)}}
            if len(inputs) > 4:
                faults |= {"score-vector": {4: T(d, [0.5])}}
            if len(inputs) > 5:
                faults |= {"sigma-vector": {5: T(d, [0.5])}, "sigma-low": {5: scalar(d, -0.5)}}
            for name, fault in faults.items() if d == "float" else list(faults.items())[:2]:
                yield from bad(op, d, name, [fault.get(k, v) for k, v in enumerate(inputs)], **attrs)
    for overlap in (-0.5, 1.5, np.nan):
        yield from bad("NonMaxSuppression", "float", f"overlap{overlap}", [f32(boxes(2)), f32(scores(2)), size(2)], iou_threshold=overlap)
    for n in (-1,):
        yield from bad("NonMaxSuppressionV4", "float", "padded-negative", [f32(boxes(2)), f32(scores(2)), size(n), scalar("float", 0.5), scalar("float", 0.5)], pad_to_max_output_size=True)


def overlaps():
    op = "NonMaxSuppressionWithOverlaps"
    r = np.random.RandomState(3)
    for count, n, limit, score in ((1, 1, 0.5, 0.0), (20, 10, 0.8, 0.2), (40, 40, 0.95, 0.0), (10, 10, -1.0, 0.0), (10, 4, 2.0, -1.0), (0, 3, 0.5, 0.0)):
        yield one(op, "float", f"values-{count}-{n}", [f32(r.rand(count, count)), f32(scores(count, count)), size(n), scalar("float", limit), scalar("float", score)])
    yield one(op, "float", "ties", [f32(r.rand(30, 30)), f32(scores(30, 1, 4)), size(30), scalar("float", 0.9), scalar("float", 0)])
    odd = r.rand(8, 8)
    odd[1, 0], odd[4, 2], odd[5, 1], odd[6] = np.nan, np.inf, -np.inf, -1
    yield one(op, "float", "odd", [f32(odd), f32(scores(8, 2)), size(8), scalar("float", 0.5), scalar("float", 0)])
    for score in (-1.0, 0.0):
        yield one(op, "float", f"odd-scores{score}", [f32(r.rand(8, 8)), f32([.5, -.5, np.inf, np.nan, -np.inf, 0, .5, .2]), size(8), scalar("float", 0.5), scalar("float", score)])
    good = [f32(r.rand(3, 3)), f32(scores(3)), size(3), scalar("float", 0.5), scalar("float", 0)]
    for name, k, v in (("rank", 0, f32(r.rand(3))), ("square", 0, f32(r.rand(3, 4))), ("scores-rank", 1, f32([[1, 2, 3]])), ("scores-count", 1, f32([1, 2])), ("size", 2, i32([1])),
                       ("negative", 2, size(-2)), ("overlap", 3, f32([1])), ("score", 4, f32([1]))):
        yield from bad(op, "float", name, [v if k == at else x for at, x in enumerate(good)])


def combined():
    op = "CombinedNonMaxSuppression"

    def inputs(batch, count, kinds, classes, per_class, total, overlap=0.5, score=0.1, levels=None, seed=0):
        b = np.stack([np.stack([boxes(count, seed + 7 * i + k, 4) / 4 for k in range(kinds)], 1) for i in range(batch)]) if batch else np.zeros((0, count, kinds, 4))
        s = scores(batch * count * classes, seed, levels).reshape(batch, count, classes)
        return [f32(b), f32(s), size(per_class), size(total), scalar("float", overlap), scalar("float", score)]

    ways = [{}, {"pad_per_class": True}, {"clip_boxes": False}, {"pad_per_class": True, "clip_boxes": False}]
    for k, shape in enumerate(((1, 1, 1, 1, 1, 1), (2, 20, 1, 3, 5, 10), (2, 20, 3, 3, 5, 10), (1, 40, 1, 2, 40, 100), (3, 12, 4, 4, 2, 50), (1, 30, 1, 8, 30, 7), (0, 5, 1, 2, 2, 3), (1, 0, 1, 2, 2, 3), (2, 6, 1, 0, 2, 3))):
        yield many(op, "float", f"values-{k}", [(inputs(*shape, seed=k), way) for way in ways])
    # Equal scores: what is kept depends on heap and sort.
    for k, (shape, levels) in enumerate((((1, 50, 1, 2, 10, 20), 3), ((2, 100, 2, 2, 50, 40), 5), ((1, 300, 1, 5, 100, 100), 10), ((1, 64, 1, 1, 64, 64), 1), ((1, 200, 1, 20, 20, 50), 2), ((1, 500, 1, 3, 400, 600), 4))):
        yield many(op, "float", f"ties-{k}", [(inputs(*shape, overlap=o, score=-1.0, levels=levels, seed=k), way) for o, way in ((0.5, {}), (1.0, {}), (0.2, {"pad_per_class": True}))])
    odd = inputs(1, 10, 1, 2, 10, 20)
    corners, values = odd[0].array.copy(), odd[1].array.copy()
    corners[0, 1, 0, 2], corners[0, 3, 0, 0], corners[0, 6, 0] = np.nan, np.inf, 0
    values[0, 2, 0], values[0, 4, 1], values[0, 5, 0], values[0, 7, 1] = np.nan, np.inf, -np.inf, 0
    yield many(op, "float", "odd", [([f32(corners), f32(values), *odd[2:5], scalar("float", s)], way) for s in (0.0, -np.inf) for way in ways[::2]])
    good = inputs(1, 4, 1, 2, 2, 3)
    for name, k, v in (("boxes-rank", 0, f32(np.ones((1, 4, 4)))), ("scores-rank", 1, f32(np.ones((4, 2)))), ("kinds", 0, f32(np.ones((1, 4, 3, 4)))), ("columns", 0, f32(np.ones((1, 4, 1, 5)))),
                       ("count", 1, f32(np.ones((1, 5, 2)))), ("batch", 1, f32(np.ones((2, 4, 2)))), ("per-class-vector", 2, i32([1])), ("total-vector", 3, i32([1])), ("total-0", 3, size(0)),
                       ("total-negative", 3, size(-1)), ("overlap-vector", 4, f32([.5])), ("overlap-high", 4, scalar("float", 1.5)), ("overlap-low", 4, scalar("float", -0.5)), ("score-vector", 5, f32([.5]))):
        yield from bad(op, "float", name, [v if k == at else x for at, x in enumerate(good)])
    for name, v in (("0", 0), ("negative", -3)):
        yield from bad(op, "float", "per-class-" + name, [*good[:2], size(v), *good[3:]], pad_per_class=True)
        yield from bad(op, "float", "per-class-total-" + name, [*good[:2], size(v), *good[3:]])


def cases():
    for part in (suppressions, overlaps, combined):
        yield from part()
