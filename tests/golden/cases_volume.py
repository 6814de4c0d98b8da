"""Convolutions, pooling and patches of volumes, with their gradients."""
import numpy as np

from golden import R, T, bad, dtypes, f32, i32, i64, many, one, some, tol

ONES = [1, 1, 1, 1, 1]
# Volumes, filters, strides.
CONVOLUTIONS = [((1, 4, 5, 6, 3), (2, 3, 2, 3, 4), ONES), ((2, 5, 4, 3, 2), (3, 3, 3, 2, 5), [1, 2, 1, 2, 1]), ((2, 3, 3, 3, 4), (1, 1, 1, 4, 3), ONES), ((1, 6, 7, 5, 1), (2, 2, 3, 1, 2), [1, 3, 2, 1, 1]),
                ((1, 3, 4, 5, 2), (1, 1, 1, 2, 2), [1, 2, 2, 2, 1]), ((3, 2, 9, 2, 2), (2, 5, 2, 2, 1), ONES), ((1, 1, 1, 1, 7), (3, 3, 3, 7, 2), ONES), ((1, 8, 9, 10, 6), (3, 3, 3, 6, 9), ONES),
                ((2, 7, 9, 8, 2), (1, 1, 2, 2, 5), [1, 4, 3, 5, 1]), ((1, 3, 4, 5, 3), (1, 3, 1, 3, 17), [1, 3, 2, 5, 1])]
EMPTY = [((0, 3, 3, 3, 2), (2, 2, 2, 2, 3), ONES), ((1, 3, 0, 3, 2), (1, 1, 1, 2, 3), ONES)]


def fits(x, w, padding):
    return padding == "SAME" or all(a >= b for a, b in zip(x[1:4], w[:3]))


def sizes(x, w, strides, padding):
    """The shape of a convolution's output."""
    return (x[0], *((-(-n // s) if padding == "SAME" else (n - k + s) // s) for n, k, s in zip(x[1:4], w, strides[1:4])), w[4])


def convolutions():
    for d in dtypes("Conv3D"):
        for padding in ("SAME", "VALID"):
            rows = [row for row in some(d, CONVOLUTIONS, 3) if fits(*row[:2], padding)]
            attrs = {"padding": padding}
            for k, (x, w, s) in enumerate(rows):
                out = sizes(x, w, s, padding)
                close = tol(d, 4)
                yield one("Conv3D", d, f"{padding}-{k}".lower(), [R(d, x, ints=3), R(d, w, 1, ints=2)], close, strides=s, **attrs)
                yield one("Conv3DBackpropInputV2", d, f"{padding}-{k}".lower(), [i32(x), R(d, w, ints=2), R(d, out, 1, ints=2)], close, strides=s, **attrs)
                yield one("Conv3DBackpropFilterV2", d, f"{padding}-{k}".lower(), [R(d, x, ints=2), i32(w), R(d, out, 1, ints=2)], close, strides=s, **attrs)
    for k, (x, w, s) in enumerate(EMPTY):
        yield one("Conv3D", "float", f"empty-{k}", [R("float", x), R("float", w)], strides=s, padding="SAME")
    x, w, s = EMPTY[0]
    out = sizes(x, w, s, "SAME")
    yield one("Conv3DBackpropInputV2", "float", "empty", [i32(x), R("float", w), R("float", out)], strides=s, padding="SAME")
    yield one("Conv3DBackpropFilterV2", "float", "empty", [R("float", x), i32(w), R("float", out)], strides=s, padding="SAME")
    x, w, s = CONVOLUTIONS[0]
    out = sizes(x, w, s, "SAME")
    yield one("Conv3D", "float", "real", [R("float", x), R("float", w)], tol("float", 4), strides=s, padding="SAME")
    yield one("Conv3DBackpropInputV2", "float", "int64", [i64(x), R("float", w), R("float", out)], tol("float", 8), strides=s, padding="SAME")
    faults = {"dilations": {"dilations": [1, 2, 1, 1, 1]}, "batch": {"strides": [2, 1, 1, 1, 1]}, "channels": {"strides": [1, 1, 1, 1, 2]}, "stride-0": {"strides": [1, 0, 1, 1, 1]}}
    for op, inputs in (("Conv3D", [R("float", x), R("float", w)]), ("Conv3DBackpropInputV2", [i32(x), R("float", w), R("float", out)]), ("Conv3DBackpropFilterV2", [R("float", x), i32(w), R("float", out)])):
        for tag, fault in faults.items():
            yield from bad(op, "float", tag, inputs, static=op == "Conv3D" and tag == "stride-0", **{"strides": s, "padding": "SAME", **fault})
        yield from bad(op, "float", "few-strides", inputs, runtime=False, strides=[1, 1, 1, 1], padding="SAME")
        yield from bad(op, "float", "channels-first", inputs, static=False, strides=s, padding="SAME", data_format="NCDHW")
    for tag, a, b in (("rank", x[1:], w), ("filter-rank", x, w[1:]), ("depth", x, (2, 3, 2, 2, 4)), ("empty-filter", x, (2, 3, 2, 3, 0))):
        yield from bad("Conv3D", "float", tag, [R("float", a), R("float", b)], static=tag != "empty-filter", strides=s, padding="SAME")
    for tag, z, b, g in (("rank", x[1:], w, out), ("filter-rank", x, w[1:], out), ("back-rank", x, w, out[1:]), ("depth", (1, 4, 5, 6, 2), w, out), ("batch-size", (2, 4, 5, 6, 3), w, out), ("size", (1, 4, 5, 7, 3), w, out), ("back-depth", x, w, (*out[:4], 5))):
        yield from bad("Conv3DBackpropInputV2", "float", tag, [i32(z), R("float", b), R("float", g)], static=tag == "rank", strides=s, padding="SAME")
    for tag, a, z, g in (("rank", x[1:], w, out), ("filter-rank", x, w[1:], out), ("back-rank", x, w, out[1:]), ("depth", x, (2, 3, 2, 2, 4), out), ("batch-size", x, w, (2, *out[1:])), ("size", x, w, (1, 2, *out[2:])), ("back-depth", x, (2, 3, 2, 3, 5), out)):
        yield from bad("Conv3DBackpropFilterV2", "float", tag, [R("float", a), i32(z), R("float", g)], static=tag == "filter-rank", strides=s, padding="SAME")


# Volumes, windows, strides.
POOLS = [((2, 4, 5, 6, 3), [1, 2, 2, 2, 1], [1, 2, 1, 2, 1]), ((1, 3, 3, 3, 2), [1, 3, 3, 3, 1], ONES), ((1, 7, 6, 5, 1), [1, 1, 3, 2, 1], [1, 3, 3, 3, 1]), ((1, 2, 2, 2, 5), ONES, ONES), ((2, 5, 5, 5, 2), [1, 2, 3, 1, 1], [1, 1, 2, 1, 1]), ((1, 5, 5, 5, 1), ONES, [1, 2, 2, 2, 1]),
         ((0, 3, 3, 3, 2), [1, 2, 2, 2, 1], ONES), ((1, 3, 3, 3, 0), [1, 2, 2, 2, 1], ONES)]
# Of as many channels as vectors have elements and more; windows side by side, one over the other, and apart.
WIDE_POOLS = [((2, 4, 5, 6, 35), [1, 2, 2, 2, 1], [1, 2, 2, 2, 1]), ((1, 3, 4, 5, 35), [1, 3, 2, 3, 1], [1, 1, 2, 1, 1]),
              ((1, 5, 4, 5, 17), [1, 2, 1, 2, 1], [1, 3, 2, 2, 1]), ((1, 3, 1, 6, 33), [1, 1, 3, 3, 1], [1, 3, 2, 3, 1]),
              ((2, 7, 9, 8, 2), [1, 1, 1, 2, 1], [1, 4, 3, 5, 1])]


def pooled(x, k, s, padding):
    return sizes(x, (*k[1:4], 0, x[4]), s, padding)


def greatest(x, k, s, padding):
    """What MaxPool3D makes of a volume."""
    out = np.full(pooled(x.shape, k, s, padding), -np.inf, np.float64)
    for place in np.ndindex(out.shape):
        spans = []
        for a in range(3):
            n, w, t = x.shape[a + 1], k[a + 1], s[a + 1]
            before = max((out.shape[a + 1] - 1) * t + w - n, 0) // 2 if padding == "SAME" else 0
            low = place[a + 1] * t - before
            spans.append(slice(max(low, 0), max(low + w, 0)))
        seen = x[place[0], spans[0], spans[1], spans[2], place[4]]
        out[place] = seen.max() if seen.size else -np.inf
    return out


def pools():
    for d in ("float", "bfloat16"):
        for padding in ("SAME", "VALID"):
            for n, (x, k, s) in (*enumerate(some(d, POOLS, 4)), *enumerate(WIDE_POOLS, len(POOLS))):
                if x[0] and not fits(x, k[1:4], padding):
                    continue
                tag = f"{padding}-{n}".lower()
                attrs = {"ksize": k, "strides": s, "padding": padding}
                v, out = R(d, x, ints=9), pooled(x, k, s, padding)
                yield one("MaxPool3D", d, tag, [v], **attrs)
                yield one("AvgPool3D", d, tag, [v], tol(d, 4), **attrs)
                result, back = T(d, greatest(v.array.astype(np.float64), k, s, padding)), R(d, out, 1, ints=3)
                yield one("MaxPool3DGrad", d, tag, [v, result, back], None, **attrs)
                twice = [v, result, R(d, x, 1, ints=3)]
                if np.prod(x):
                    yield one("MaxPool3DGradGrad", d, tag, twice, None, **attrs)
                else:
                    yield from bad("MaxPool3DGradGrad", d, f"empty-{tag}", twice, static=False, **attrs)
                yield one("AvgPool3DGrad", d, tag, [i32(x), back], tol(d, 4), **attrs)
    attrs = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 1, 2, 1], "padding": "SAME"}
    x = (2, 4, 5, 6, 3)
    out = pooled(x, attrs["ksize"], attrs["strides"], "SAME")
    v = T("float", np.zeros(x))
    yield one("MaxPool3DGrad", "float", "ties", [v, T("float", np.zeros(out)), R("float", out, ints=5)], **attrs)
    yield one("MaxPool3DGradGrad", "float", "ties", [v, T("float", np.zeros(out)), R("float", x, ints=5)], **attrs)
    yield one("MaxPool3DGrad", "float", "none", [v, T("float", np.ones(out)), R("float", out, ints=5)], **attrs)
    yield one("MaxPool3DGradGrad", "float", "none", [v, T("float", np.ones(out)), R("float", x, ints=5)], **attrs)
    yield from bad("MaxPool3DGradGrad", "float", "no-result", [T("float", np.zeros((1, 1, 2, 2, 1))), T("float", np.zeros((1, 0, 1, 1, 1))), T("float", np.zeros((1, 1, 2, 2, 1)))], static=False, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")
    # What is near the greatest is as good; what is infinite never is.
    near = np.random.default_rng(5).integers(0, 20, x)
    for d in ("float", "bfloat16"):
        for tag, values in (("near", near * 1e-6), ("far", near * 1e-4), ("infinite", np.where(near < 3, np.inf, near)), ("minus-infinite", np.where(near < 18, -np.inf, near))):
            xs = T(d, values)
            result = T(d, greatest(xs.array.astype(np.float64), attrs["ksize"], attrs["strides"], "SAME"))
            yield one("MaxPool3DGrad", d, tag, [xs, result, R(d, out, 1, ints=3)], **attrs)
            yield one("MaxPool3DGradGrad", d, tag, [xs, result, R(d, x, 1, ints=3)], **attrs)
    # Of NaN, TensorFlow makes what the width of its registers decides, unless they are full: of 8 channels in `float`, 16 in `bfloat16`.
    for d in ("float", "bfloat16"):
        for padding in ("SAME", "VALID"):
            for channels in (1, 3, 16):
                infinite = T(d, np.full((1, 2, 3, 4, channels), -np.inf))
                yield one("MaxPool3D", d, f"infinite-{padding}-{channels}".lower(), [infinite], **{**attrs, "padding": padding})
            rows = np.array([-np.inf, np.nan, 2.5, np.nan, np.nan, -1.5, np.nan, -np.inf]).repeat(16)
            yield one("MaxPool3D", d, f"nan-{padding}".lower(), [T(d, np.resize(rows, (1, 2, 3, 7, 16)))], **{**attrs, "padding": padding})
    faults = {"batch": {"ksize": [2, 1, 1, 1, 1]}, "channels": {"ksize": [1, 2, 2, 2, 2]}, "batch-stride": {"strides": [2, 1, 1, 1, 1]}, "size-0": {"ksize": [1, 0, 1, 1, 1]}, "stride-0": {"strides": [1, 0, 1, 1, 1]}, "channels-first": {"data_format": "NCDHW"},
              "too-large": {"ksize": [1, 9, 1, 1, 1], "padding": "VALID"}}
    for op in ("MaxPool3D", "AvgPool3D"):
        for tag, fault in faults.items():
            yield from bad(op, "float", tag, [v], static=False, **{**attrs, **fault})
        yield from bad(op, "float", "few", [v], runtime=False, **{**attrs, "ksize": [1, 2, 2]})
        yield from bad(op, "float", "rank", [R("float", x[1:])], **attrs)
    y, g = R("float", out), R("float", out, 1)
    for tag, row in (("output", [v, R("float", (1, *out[1:])), g]), ("grad", [v, y, R("float", (1, *out[1:]))]), ("grad-size", [v, y, R("float", (2, 1, *out[2:]))]), ("rank", [R("float", x[1:]), y, g]), ("output-rank", [v, R("float", out[1:]), g])):
        yield from bad("MaxPool3DGrad", "float", tag, row, static=tag == "rank", **attrs)
    for tag, row in (("output", [v, R("float", (1, *out[1:])), v]), ("grad", [v, y, R("float", (1, *x[1:]))]), ("grad-size", [v, y, y])):
        yield from bad("MaxPool3DGradGrad", "float", tag, row, **attrs)
    for tag, z, b in (("rank", x[1:], out), ("batch", (1, *x[1:]), out), ("back-rank", x, out[1:]), ("negative", (2, 4, 5, 6, -3), out)):
        yield from bad("AvgPool3DGrad", "float", tag, [i32(z), R("float", b)], static=tag in ("rank", "negative"), **attrs)


def patches():
    op = "ExtractVolumePatches"
    for d in dtypes(op):
        for padding in ("SAME", "VALID"):
            rows = [row for row in some(d, POOLS[:7], 2) if fits(row[0], row[1][1:4], padding) or not row[0][0]]
            yield many(op, d, padding.lower(), [([R(d, x)], {"ksizes": k, "strides": s}) for x, k, s in rows], padding=padding)
    # Windows that are shorter than the strides are centred with padding SAME.
    rows = [((2, 7, 9, 8, 2), [1, 1, 1, 2, 1], [1, 4, 3, 5, 1]), ((1, 12, 7, 4, 1), [1, 2, 1, 1, 1], [1, 5, 4, 3, 1])]
    for padding in ("SAME", "VALID"):
        yield many(op, "float", f"apart-{padding.lower()}", [([R("float", x)], {"ksizes": k, "strides": s}) for x, k, s in rows], padding=padding)
    x = R("float", (2, 4, 5, 6, 3))
    attrs = {"ksizes": [1, 2, 2, 2, 1], "strides": [1, 1, 1, 2, 1], "padding": "SAME"}
    for tag, fault in (("batch", {"ksizes": [2, 2, 2, 2, 1]}), ("channels", {"strides": [1, 1, 1, 1, 2]}), ("too-large", {"ksizes": [1, 9, 1, 1, 1], "padding": "VALID"}), ("stride-0", {"strides": [1, 0, 1, 1, 1]}), ("size-0", {"ksizes": [1, 0, 1, 1, 1]})):
        yield from bad(op, "float", tag, [x], static=False, **{**attrs, **fault})
    yield from bad(op, "float", "few", [x], runtime=False, **{**attrs, "ksizes": [1, 2, 2]})
    yield from bad(op, "float", "rank", [R("float", (4, 5, 6, 3))], **attrs)


def cases():
    for part in (convolutions, pools, patches):
        yield from part()
