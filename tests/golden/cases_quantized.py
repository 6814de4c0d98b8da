"""Quantized numbers in ranges: conversions, arithmetic, images."""
import numpy as np

from golden import R, T, bad, dtypes, f32, i32, i64, limits, many, one

RANGES = ((-1, 1), (0, 6), (-6, 0), (-10, 3.3), (0.5, 2), (-3, -1))
SHAPES = ((), (0,), (1,), (33,), (3, 0, 2), (2, 3, 4, 5), (1, 2, 1, 3, 2, 2))
scalar = lambda v: f32(np.float32(v))


def numbers(d, shape, seed=0):
    """Numbers all over a dtype."""
    low, high = limits(d)
    return T(d, np.random.RandomState(seed + 17).randint(low, high + 1, shape, dtype=np.int64))


def small(shape, seed=0, high=1 << 20):
    """Numbers of 32 bits as sums of products are."""
    return T("qint32", np.random.RandomState(seed + 17).randint(-high, high, shape, dtype=np.int64))


def every(d):
    """All numbers of 8 bits, or many of a wider dtype."""
    low, high = limits(d)
    return T(d, np.arange(low, high + 1) if high - low < 256 else np.unique(np.linspace(low, high, 300).astype(np.int64)))


def conversions():
    op = "QuantizeV2"
    for d in dtypes(op):
        steps = 2 ** (min(limits(d)[1].bit_length(), 12)) - 1
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            manners = [{}]
            if mode == "SCALED":
                manners = [{"round_mode": r, "narrow_range": n} for r in ("HALF_TO_EVEN", "HALF_AWAY_FROM_ZERO") for n in (False, True)]
            for k, manner in enumerate(manners):
                for least, greatest in RANGES:
                    x = np.concatenate([np.linspace(least - 0.5, greatest + 0.5, 61), (np.arange(-30, 30) + 0.5) * (greatest - least) / steps, [0, -0.0, 1e9, -1e9]])
                    yield one(op, d, f"{mode}{k}of{least}to{greatest}", [f32(x), scalar(least), scalar(greatest)], T=d, mode=mode, **manner)
            for k, (least, greatest, length) in enumerate(((0, 0, 0.01), (1, 1, 0.01), (0, 1e-6, 0.01), (-1, 1, 0), (5, 5.0001, 0.1), (-2, -2, 0.5))):
                yield one(op, d, f"{mode}-short{k}", [f32(np.linspace(-3, 6, 20)), scalar(least), scalar(greatest)], T=d, mode=mode, ensure_minimum_range=length)
            yield many(op, d, f"{mode}-shapes", [[R("float", s), scalar(-2), scalar(3)] for s in SHAPES], T=d, mode=mode)
        for mode in ("MIN_COMBINED", "SCALED"):
            for shape, axis in (((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 2, 3, 2), 2), ((0, 3), 1), ((1, 5), 1)):
                n = shape[axis]
                least, greatest = -np.abs(R("float", n, 5).array), np.abs(R("float", n, 6).array) + 0.1
                yield one(op, d, f"{mode}-axis{axis}of{'x'.join(map(str, shape))}", [R("float", shape), f32(least), f32(greatest)], T=d, mode=mode, axis=axis)
    good = [R("float", (2, 3)), scalar(-1), scalar(1)]
    yield from bad(op, "float", "turned", [good[0], scalar(1), scalar(-1)], static=False, T="quint8")
    yield from bad(op, "float", "round", good, static=False, T="quint8", round_mode="HALF_TO_EVEN")
    yield from bad(op, "float", "vector", [good[0], f32([-1, -2]), scalar(1)], runtime=False, T="quint8")
    yield from bad(op, "float", "axis", [good[0], f32([-1, -2]), f32([1, 2])], T="quint8", axis=2)
    yield from bad(op, "float", "first", [good[0], f32([-1, -2]), f32([1, 2])], static=False, T="quint8", axis=0, mode="MIN_FIRST")
    yield from bad(op, "float", "size", [good[0], f32([-1, -2]), f32([1, 2])], T="quint8", axis=1)

    op = "Dequantize"
    for d in dtypes(op):
        for kind in ("float", "bfloat16"):
            for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED") if kind == "float" else ("MIN_COMBINED",):
                for least, greatest in RANGES:
                    for narrow in (False, True) if mode == "SCALED" else (False,):
                        yield one(op, d, f"{kind}-{mode}of{least}to{greatest}{'n' if narrow else ''}", [every(d), scalar(least), scalar(greatest)],
                                  dtype=kind, mode=mode, narrow_range=narrow)
                yield many(op, d, f"{kind}-{mode}-shapes", [[numbers(d, s), scalar(-2), scalar(3)] for s in SHAPES], dtype=kind, mode=mode)
                yield one(op, d, f"{kind}-{mode}-equal", [every(d), scalar(2), scalar(2)], dtype=kind, mode=mode)
        for mode in ("MIN_COMBINED", "SCALED"):
            for shape, axis in (((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 2, 3, 2), 2), ((1, 5), 1), ((1, 5), 0)):
                n = shape[axis]
                least, greatest = -np.abs(R("float", n, 5).array), np.abs(R("float", n, 6).array) + 0.1
                yield one(op, d, f"{mode}-axis{axis}of{'x'.join(map(str, shape))}", [numbers(d, shape), f32(least), f32(greatest)], mode=mode, axis=axis)
    good = [numbers("quint8", (2, 3)), scalar(-1), scalar(1)]
    yield from bad(op, "quint8", "bfloat16", good, static=False, dtype="bfloat16", mode="SCALED")
    yield from bad(op, "quint8", "vector", [good[0], f32([-1, -2]), scalar(1)])
    yield from bad(op, "quint8", "axis", [good[0], f32([-1, -2]), f32([1, 2])], axis=2)
    yield from bad(op, "quint8", "size", [good[0], f32([-1, -2]), f32([1, 2])], axis=1)


def requantized():
    wide = T("qint32", np.concatenate([np.linspace(-(2 ** 31), 2 ** 31 - 1, 200).astype(np.int64), np.arange(-20, 20) * 1000003]))
    for k, data in enumerate((wide, small((4, 5)), small((3, 2, 2), 1, 300), T("qint32", [5]), T("qint32", -7), T("qint32", [9, 3]))):
        for least, greatest in ((-1, 1), (-1000, 1000), (-300, 200), (0, 5)):
            ends = [scalar(least), scalar(greatest)]
            tag = f"{k}of{least}to{greatest}"
            yield one("QuantizeDownAndShrinkRange", "qint32", tag, [data, *ends], out_type="quint8")
            yield one("RequantizationRange", "qint32", tag, [data, *ends])
            for d in ("quint8", "qint8"):
                for low, high in ((-1, 1), (0, 0.5), (-20, 3), (0, 0)):
                    yield one("Requantize", "qint32", f"{tag}-{d}in{low}to{high}", [data, *ends, scalar(low), scalar(high)], out_type=d)
    empty = [T("qint32", np.zeros((0, 3))), scalar(-1), scalar(1)]
    yield one("QuantizeDownAndShrinkRange", "qint32", "empty", empty, out_type="quint8")
    yield one("RequantizationRange", "qint32", "empty", empty)
    yield one("Requantize", "qint32", "empty", [*empty, scalar(-1), scalar(1)], out_type="quint8")
    for op, rest, attrs in (("QuantizeDownAndShrinkRange", [], {"out_type": "quint8"}), ("RequantizationRange", [], {}), ("Requantize", [scalar(-1), scalar(1)], {"out_type": "quint8"})):
        for k in (1, 2):
            inputs = [small((2, 2)), scalar(-1), scalar(1), *rest]
            inputs[k] = f32([1.0, 2.0])
            yield from bad(op, "qint32", f"vector{k}", inputs, runtime=op != "RequantizationRange", **attrs)
    for name, ends in (("above", (0.5, 1)), ("below", (-0.5, -1))):
        yield from bad("Requantize", "qint32", name, [small((2, 2)), scalar(-1), scalar(1), *map(scalar, ends)], static=False, out_type="quint8")
    for shape in ((2, 3, 2, 4), (1, 1, 1, 1), (1, 5, 5, 17)):
        n = shape[-1]
        ends = [f32(-np.abs(R("float", n, 1).array) - 1), f32(np.abs(R("float", n, 2).array) + 1)]
        tag = "x".join(map(str, shape))
        for low in (1 << 31, 1 << 24):
            data = small(shape, 3, low)
            for limit in (1000.0, 0.7, 0.0001):
                yield one("RequantizationRangePerChannel", "qint32", f"{tag}-{low}-{limit}", [data, *ends], clip_value_max=limit)
            for d in ("qint8", "quint8"):
                for least, greatest in ((-1, 1), (-0.01, 0.02), (-5, 0)):
                    yield one("RequantizePerChannel", "qint32", f"{tag}-{low}-{d}in{least}to{greatest}", [data, *ends, scalar(least), scalar(greatest)], out_type=d)
    positive = T("qint32", np.abs(small((1, 2, 2, 3)).array.astype(np.int64)))
    three = [f32([-1.0] * 3), f32([1.0, 2.0, 3.0])]
    yield one("RequantizationRangePerChannel", "qint32", "positive", [positive, *three], clip_value_max=1000.0)
    yield from bad("RequantizePerChannel", "qint32", "rank", [small((1, 2, 1, 2, 3), 1, 1 << 31), *three, scalar(-1), scalar(1)], static=False, out_type="qint8")
    for name, inputs in (("size", [positive, f32([1.0]), three[1]]), ("channels", [positive, f32([1.0] * 2), f32([1.0] * 2)]), ("rank", [small((2, 3)), *three]), ("empty", [T("qint32", np.zeros((0, 1, 1, 3))), *three])):
        yield from bad("RequantizationRangePerChannel", "qint32", name, inputs, static=False, clip_value_max=1.0)
    yield from bad("RequantizePerChannel", "qint32", "size", [positive, f32([1.0]), three[1], scalar(-1), scalar(1)], static=False, out_type="qint8")
    yield from bad("RequantizePerChannel", "qint32", "above", [positive, *three, scalar(0), scalar(1)], static=False, out_type="qint8")


def arithmetic():
    for op in ("QuantizedAdd", "QuantizedMul"):
        for k, (x, y) in enumerate((((256,), (256,)), ((2, 3), ()), ((), (4,)), ((3, 1, 4), (4,)), ((5,), (2, 3, 5)), ((2, 3), (2, 3)), ((1,), (1,)), ((7, 1), (1,)), ((0,), (0,)), ((2, 3, 4), (3, 4)))):
            for ranges in ((-1, 1, -1, 1), (0, 6, -3, 2), (1, 2, -5, -1), (0, 100, 0, 0.1)):
                yield one(op, "quint8", f"{k}of{'to'.join(map(str, ranges))}", [numbers("quint8", x, 1), numbers("quint8", y, 2), *map(scalar, ranges)], Toutput="qint32")
        good = [numbers("quint8", (2, 3)), numbers("quint8", (2, 3)), scalar(0), scalar(1), scalar(0), scalar(1)]
        for name, k, v in (("shapes", 1, numbers("quint8", (2, 2))), ("vector", 2, f32([0.0, 1.0])), ("one", 5, f32([1.0])), ("equal", 3, scalar(0)), ("turned", 5, scalar(-1))):
            yield from bad(op, "quint8", name, [v if at == k else x for at, x in enumerate(good)], static=name == "shapes", Toutput="qint32")
    op = "QuantizedBiasAdd"
    for d in ("quint8", "qint8"):
        for shape in ((4, 64), (1, 1), (2, 3, 5), (2, 2, 2, 7), (0, 3)):
            for ranges in ((-1, 1, -1, 1), (0, 6, -3, 2), (1, 2, -5, -1), (0, 100, 0, 0.1)):
                yield one(op, d, f"{'x'.join(map(str, shape))}of{'to'.join(map(str, ranges))}", [numbers(d, shape, 1), numbers(d, shape[-1], 2), *map(scalar, ranges)], out_type="qint32")
    good = [numbers("quint8", (2, 3)), numbers("quint8", 3), scalar(0), scalar(1), scalar(0), scalar(1)]
    for name, k, v in (("rank", 0, numbers("quint8", 3)), ("matrix", 1, numbers("quint8", (1, 3))), ("size", 1, numbers("quint8", 2)), ("vector", 2, f32([0.0, 1.0]))):
        yield from bad(op, "quint8", name, [v if at == k else x for at, x in enumerate(good)], out_type="qint32")
    for op in ("QuantizedRelu", "QuantizedRelu6"):
        for d in ("quint8", "qint32"):
            for least, greatest in RANGES + ((-100, 100), (0, 0)):
                yield one(op, d, f"of{least}to{greatest}", [every(d), scalar(least), scalar(greatest)], out_type=d)
            yield many(op, d, "shapes", [[numbers(d, s), scalar(-2), scalar(3)] for s in SHAPES], out_type=d)
        yield from bad(op, "quint8", "vector", [numbers("quint8", 3), f32([0.0]), scalar(1)], out_type="quint8")
    op = "QuantizedReshape"
    for d in dtypes(op):
        for k, (x, to) in enumerate((((2, 3), [6]), ((2, 3), [-1, 2]), ((), [1, 1]), ((0, 2), [0]), ((4,), [2, 2]))):
            yield one(op, d, f"{k}", [numbers(d, x), i32(to), scalar(-1), scalar(1)])
        yield one(op, d, "long", [numbers(d, 4), i64([2, -1]), scalar(-1), scalar(1)])
    for name, inputs in (("size", [numbers("quint8", 4), i32([3]), scalar(0), scalar(1)]), ("vector", [numbers("quint8", 4), i32([4]), f32([0.0, 1.0]), scalar(1)])):
        yield from bad(op, "quint8", name, inputs)
    op = "QuantizedConcat"
    for d in dtypes(op):
        for k, (shapes, axis) in enumerate((([(2, 3), (2, 1)], 1), ([(2,), (3,), (1,)], 0), ([(1, 2, 2), (3, 2, 2)], 0), ([(2, 0), (2, 3)], 1), ([(2, 2, 3), (2, 1, 3)], 1), ([(0, 2), (0, 2)], 0))):
            for m, ends in enumerate(((-1, 1, -1, 1), (0, 1, -3, 2), (-8, 4, -1, 9), (1, 2, 3, 4), (-4, -3, -2, -1))):
                if k == 3 and m:
                    continue  # TensorFlow takes the range of the empty tensor for that of the next
                n = len(shapes)
                least, greatest = [scalar(ends[2 * (j % 2)]) for j in range(n)], [scalar(ends[2 * (j % 2) + 1]) for j in range(n)]
                yield one(op, d, f"{k}-{m}", [i32(axis), [numbers(d, s, j) for j, s in enumerate(shapes)], least, greatest])
    two = [scalar(0)] * 2
    for name, axis, shapes in (("axis", 2, [(2, 2), (2, 2)]), ("rank", 0, [(2,), (2, 2)]), ("size", 0, [(2, 2), (2, 3)]), ("scalars", 0, [(), ()])):
        yield from bad(op, "quint8", name, [i32(axis), [numbers("quint8", s) for s in shapes], two, two])
    pair = [numbers("quint8", (2, 2)), numbers("quint8", (2, 2))]
    yield from bad(op, "quint8", "negative", [i32(-1), pair, two, two], static=False)
    yield from bad(op, "quint8", "vector", [i32([0]), pair, two, two])
    op = "QuantizedMatMul"
    for k, (m, inner, n) in enumerate(((2, 3, 4), (1, 1, 1), (5, 17, 3), (33, 64, 65), (1, 300, 20), (4, 8, 1))):
        for ta in (False, True):
            for tb in (False, True):
                a, b = (inner, m) if ta else (m, inner), (n, inner) if tb else (inner, n)
                ranges = ((-1, 1, -1, 1), (0, 6, -3, 2), (0, 255, 0, 255), (1, 2, -5, -1))[(k + ta + 2 * tb) % 4]
                yield one(op, "quint8", f"{m}x{inner}x{n}{'t' if ta else ''}{'T' if tb else ''}", [numbers("quint8", a, 1), numbers("quint8", b, 2), *map(scalar, ranges)], Toutput="qint32", transpose_a=ta, transpose_b=tb)
    good = [numbers("quint8", (2, 3)), numbers("quint8", (3, 2)), scalar(0), scalar(1), scalar(0), scalar(1)]
    for name, k, v in (("inner", 1, numbers("quint8", (2, 2))), ("rank", 0, numbers("quint8", 3)), ("vector", 2, f32([0.0, 1.0])), ("equal", 3, scalar(0)), ("turned", 5, scalar(-1))):
        yield from bad(op, "quint8", name, [v if at == k else x for at, x in enumerate(good)], static=name not in ("equal", "turned"), Toutput="qint32")


def images():
    op = "QuantizedConv2D"
    for k, (x, f) in enumerate((((1, 5, 6, 2), (3, 3, 2, 4)), ((2, 4, 4, 1), (1, 1, 1, 3)), ((1, 7, 5, 3), (2, 3, 3, 1)), ((1, 3, 3, 8), (3, 3, 8, 16)), ((1, 9, 9, 1), (5, 2, 1, 2)))):
        for stride in (1, 2, 3):
            for padding in ("SAME", "VALID"):
                for m, ranges in enumerate(((-1, 1, -1, 1), (0, 6, -3, 2), (1, 2, -5, 1))):
                    yield one(op, "quint8", f"{k}by{stride}{padding}{m}", [numbers("quint8", x, 1), numbers("quint8", f, 2), *map(scalar, ranges)], strides=[1, stride, stride, 1], padding=padding, out_type="qint32")
    good = [numbers("quint8", (1, 4, 4, 2)), numbers("quint8", (2, 2, 2, 3)), scalar(0), scalar(1), scalar(0), scalar(1)]
    for name, k, v in (("depth", 0, numbers("quint8", (1, 4, 4, 3))), ("rank", 0, numbers("quint8", (4, 4, 2))), ("filter", 1, numbers("quint8", (2, 2, 2)))):
        yield from bad(op, "quint8", name, [v if at == k else x for at, x in enumerate(good)], strides=[1, 1, 1, 1], padding="SAME", out_type="qint32")
    for strides in ([1, 1, 2, 1], [2, 1, 1, 1], [1, 1, 1, 2]):
        yield from bad(op, "quint8", f"strides{''.join(map(str, strides))}", good, static=False, strides=strides, padding="SAME", out_type="qint32")
    for op in ("QuantizedAvgPool", "QuantizedMaxPool"):
        for d in dtypes(op):
            for k, (x, window, stride) in enumerate((((1, 5, 6, 2), 2, 1), ((2, 7, 7, 3), 3, 2), ((1, 4, 4, 70), 2, 2), ((1, 3, 3, 1), 3, 1), ((1, 6, 6, 16), 1, 2))):
                for padding in ("SAME", "VALID"):
                    yield one(op, d, f"{k}{padding}", [numbers(d, x), scalar(-1), scalar(2)], ksize=[1, window, window, 1], strides=[1, stride, stride, 1], padding=padding)
        good = [numbers("quint8", (1, 4, 4, 2)), scalar(0), scalar(1)]
        yield from bad(op, "quint8", "rank", [numbers("quint8", (4, 4, 2)), *good[1:]], ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
        yield from bad(op, "quint8", "batch", good, static=False, ksize=[2, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME")
    yield one("QuantizedMaxPool", "quint8", "depth", [numbers("quint8", (1, 3, 3, 6)), scalar(0), scalar(1)], ksize=[1, 1, 1, 3], strides=[1, 1, 1, 3], padding="VALID")
    op = "QuantizedInstanceNorm"
    for k, x in enumerate(((1, 4, 5, 3), (2, 3, 3, 1), (1, 8, 8, 16), (3, 2, 2, 5))):
        for m, (ends, attrs) in enumerate((((0, 1), {}), ((-3, 5), {"output_range_given": True, "given_y_min": -2.0, "given_y_max": 2.0}), ((-1, 1), {"variance_epsilon": 0.1}), ((0, 1), {"min_separation": 30.0}))):
            yield one(op, "quint8", f"{k}-{m}", [numbers("quint8", x), *map(scalar, ends)], (1e-5, 1e-5), **attrs)
    yield from bad(op, "quint8", "turned", [numbers("quint8", (1, 2, 2, 1)), scalar(1), scalar(0)], static=False)
    yield from bad(op, "quint8", "given", [numbers("quint8", (1, 2, 2, 1)), scalar(0), scalar(1)], static=False, output_range_given=True)
    yield from bad(op, "quint8", "vector", [numbers("quint8", (1, 2, 2, 1)), f32([0.0]), scalar(1)])
    op = "QuantizedBatchNormWithGlobalNormalization"
    for k, x in enumerate(((1, 2, 3, 4), (2, 3, 3, 2), (1, 1, 1, 9))):
        for scaled in (False, True):
            for m, ends in enumerate(((0, 1), (-4, 4), (0.5, 9))):
                vector = lambda seed, low, high: [numbers("quint8", x[3], seed), scalar(low), scalar(high)]
                inputs = [numbers("quint8", x), *map(scalar, ends), *vector(1, -1, 1), *vector(2, 0.1, 2), *vector(3, -1, 1), *vector(4, 0, 3)]
                yield one(op, "quint8", f"{k}-{m}{'s' if scaled else ''}", inputs, out_type="qint32", variance_epsilon=0.001, scale_after_normalization=scaled)
    inputs[3] = numbers("quint8", 2)
    yield from bad(op, "quint8", "size", inputs, runtime=False, out_type="qint32", variance_epsilon=0.001, scale_after_normalization=True)
    op = "QuantizedResizeBilinear"
    for d in ("quint8", "qint32"):
        for k, (x, to) in enumerate((((1, 4, 5, 1), [7, 9]), ((2, 3, 3, 3), [5, 2]), ((1, 6, 6, 2), [6, 6]), ((1, 1, 1, 4), [3, 3]), ((1, 8, 9, 3), [20, 21]))):
            for align, half in ((False, False), (True, False), (False, True)):
                yield one(op, d, f"{k}{'a' if align else ''}{'h' if half else ''}", [numbers(d, x), i32(to), scalar(-1), scalar(1)], align_corners=align, half_pixel_centers=half)
    for k, (x, to) in enumerate((((1, 4, 5, 1), [7, 9]), ((2, 3, 3, 3), [5, 2]), ((1, 6, 6, 2), [6, 6]), ((1, 1, 1, 4), [3, 3]), ((1, 8, 9, 5), [20, 21]), ((1, 1, 2, 1), [1, 4]))):
        for align, half in ((False, False), (True, False), (False, True)):
            yield one(op, "float", f"{k}{'a' if align else ''}{'h' if half else ''}", [R("float", x, k, 3), i32(to), scalar(-1), scalar(1)], align_corners=align, half_pixel_centers=half)
    yield one(op, "float", "special", [f32([[[[np.inf], [np.nan], [-np.inf]], [[1], [0], [3e38]]]]), i32([3, 5]), scalar(-1), scalar(1)])
    for name, inputs in (("rank", [numbers("quint8", (4, 4, 2)), i32([2, 2]), scalar(0), scalar(1)]), ("size", [numbers("quint8", (1, 4, 4, 2)), i32([2]), scalar(0), scalar(1)]), ("zero", [numbers("quint8", (1, 4, 4, 2)), i32([2, 0]), scalar(0), scalar(1)])):
        yield from bad(op, "quint8", name, inputs, static=name != "zero")


def calibrated():
    op = "CustomAggregator"
    for bins in (0, 1, 2, 4, 16, 512):
        for k, shape in enumerate(((5,), (3, 4), (), (0,), (1000,))):
            for scale in (1.0, 300.0, 1e-3):
                yield one(op, "float", f"{k}-{bins}-{scale}", [R("float", shape, k, scale)], id="x", calibration_method=1, num_bins=bins)
    for name, values in (("same", [3, 3]), ("zeros", [0, 0]), ("below", [-3]), ("whole", [0, 1, 2, 3, 4]), ("infinite", [np.inf, 1]), ("far", [1e38, -1e38, 3e38, -3e38]), ("powers", [1, 2, 4, 8, 16, 32])):
        for bins in (3, 4, 5):
            yield one(op, "float", f"{name}-{bins}", [f32(values)], id="y", calibration_method=5, num_bins=bins, min_percentile=1.0, max_percentile=99.0)
    yield from bad(op, "float", "method", [f32([1])], static=False, id="x", calibration_method=0, num_bins=4)


def cases():
    for part in (calibrated, conversions, requantized, arithmetic, images):
        yield from part()
