"""Values that are quantized and turned back at once: FakeQuant and QuantizeAndDequantize, and the gradients that are ops."""
import numpy as np

from golden import R, T, bad, dtypes, f32, i32, many, one, tol

SHAPES = ((), (0,), (1,), (7,), (3, 5), (2, 0, 3), (2, 3, 4, 5), (1, 2, 1, 3, 2, 2), (300,))
RANGES = ((-6, 6), (0, 6), (-1, 0), (-0.1, 0.9), (-10, 0.05), (1, 3), (-7, -2))
scalar = lambda v: f32(np.float32(v))


def around(least, greatest, count=64, bits=8):
    """Values in and beside a range, and halfway between its numbers."""
    step = (greatest - least) / (2 ** bits - 1)
    inside = least + step * (np.arange(count) * (2 ** bits - 1) / count)
    return np.concatenate([inside, inside + step / 2, [least, greatest, least - 1, greatest + 1, 0, -0.0]])


def args():
    for op, count in (("FakeQuantWithMinMaxArgs", 1), ("FakeQuantWithMinMaxArgsGradient", 2)):
        data = lambda x: [R("float", np.shape(x), 3)] * (count - 1) + [f32(x)]
        for least, greatest in RANGES:
            for bits, narrow in ((8, False), (8, True), (2, False), (3, True), (12, False), (16, True)):
                yield one(op, "float", f"{least}to{greatest}-{bits}{'n' if narrow else ''}", data(around(least, greatest, bits=bits)),
                          min=least, max=greatest, num_bits=bits, narrow_range=narrow)
        yield many(op, "float", "shapes", [data(R("float", s, 1, 4).array) for s in SHAPES])
        yield one(op, "float", "odd", data([np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-30]))
        for name, attrs in (("equal", {"min": 1, "max": 1}), ("turned", {"min": 2, "max": 1}), ("nan", {"min": np.nan}), ("bit", {"num_bits": 1}), ("bits", {"num_bits": 17}), ("none", {"num_bits": -3})):
            yield from bad(op, "float", name, data([1.0]), static=False, **attrs)
        if count == 2:
            yield from bad(op, "float", "sizes", [R("float", 3), R("float", 4)])


SUBNORMAL = ((-1e-42, 1e-40), (0.0, 1e-40), (-1e-40, 0.0), (1e-41, 2e-41), (0.0, 0.0), (-1.0, 1e-40))


def variables():
    for op, count in (("FakeQuantWithMinMaxVars", 1), ("FakeQuantWithMinMaxVarsGradient", 2)):
        data = lambda x, least, greatest: [R("float", np.shape(x), 3)] * (count - 1) + [f32(x), scalar(least), scalar(greatest)]
        limit = tol("float", 4) if count == 2 else None
        for least, greatest in RANGES:
            for bits, narrow in ((8, False), (8, True), (4, False), (16, False)):
                yield one(op, "float", f"{least}to{greatest}-{bits}{'n' if narrow else ''}",
                          data(around(least, greatest, bits=bits), least, greatest), limit, num_bits=bits, narrow_range=narrow)
        yield many(op, "float", "shapes", [data(R("float", s, 1, 4).array, -1.5, 2) for s in SHAPES], limit)
        yield one(op, "float", "odd", data([np.inf, -np.inf, np.nan, 1e30, -1e30], -1, 1), keep=[0])
        yield many(op, "float", "narrow", [data([0, 0.5, 1, -1], *r) for r in ((0, 0), (1, 1), (-1, -1))], limit)
        # TensorFlow takes subnormal ends for zero.
        for least, greatest in SUBNORMAL:
            yield one(op, "float", f"subnormal-{least}to{greatest}", data([-4, -1, 0, 1, np.nan, np.inf, -0.0], least, greatest))
        for name, k, x in (("min", -2, f32([0.0])), ("max", -1, f32([1.0, 2.0]))):
            inputs = data([1.0, 2.0], 0, 1)
            inputs[k] = x
            yield from bad(op, "float", name, inputs)
        for name, attrs in (("bit", {"num_bits": 1}), ("bits", {"num_bits": 17})):
            yield from bad(op, "float", name, data([1.0], 0, 1), static=False, **attrs)
        if count == 2:
            yield from bad(op, "float", "sizes", [R("float", 3), *data([1.0, 2.0], 0, 1)[1:]])


def channels():
    for op, count in (("FakeQuantWithMinMaxVarsPerChannel", 1), ("FakeQuantWithMinMaxVarsPerChannelGradient", 2)):
        limit = tol("float", 4) if count == 2 else None

        def data(shape, seed=0):
            n = shape[-1]
            least = f32(-np.abs(R("float", n, seed).array) - 0.1)
            return [R("float", shape, 3)] * (count - 1) + [R("float", shape, seed, 3), least, f32(np.abs(R("float", n, seed + 1).array) + 0.1)]

        for shape in ((1,), (7,), (0,), (0, 4), (5, 1), (3, 4), (9, 33), (2, 3, 4), (2, 2, 3, 5), (64, 17)):
            for bits, narrow in ((8, False), (4, True), (16, False)):
                yield one(op, "float", f"{'x'.join(map(str, shape))}-{bits}{'n' if narrow else ''}", data(shape), limit, num_bits=bits, narrow_range=narrow)
        for least, greatest in SUBNORMAL:
            ends = [f32([least, -1.0]), f32([greatest, 1.0])]
            yield one(op, "float", f"subnormal-{least}to{greatest}", [R("float", (3, 2), 3)] * (count - 1) + [f32([[-4, 1], [np.nan, 0], [0, 2]])] + ends)
        good = data((2, 3))
        for name, k, x in (("min", -2, f32([0.0])), ("max", -1, f32([1.0, 2.0])), ("scalar", -1, scalar(1)), ("rank", -3, scalar(1))):
            inputs = list(good)
            inputs[k] = x
            yield from bad(op, "float", name, inputs, runtime=name in ("min", "max"))
        yield from bad(op, "float", "bits", good, static=False, num_bits=17)
        if count == 2:
            yield from bad(op, "float", "sizes", [R("float", (3, 3)), *good[1:]])


def simulated():
    for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4"):
        third = op.endswith("3")
        for d in dtypes(op):
            def case(tag, x, least, greatest, bits=8, **attrs):
                inputs = [T(d, x), T(d, np.asarray(least, float)), T(d, np.asarray(greatest, float))]
                return one(op, d, tag, inputs + [i32(bits)], **attrs) if third else one(op, d, tag, inputs, num_bits=bits, **attrs)

            rounding = ({},) if third else ({"round_mode": "HALF_UP"}, {})
            for least, greatest in RANGES[:5]:
                for bits, signed, narrow in ((8, True, False), (8, False, False), (8, True, True), (3, True, False), (16, True, False)):
                    tag = f"{least}to{greatest}-{bits}{'s' if signed else 'u'}{'n' if narrow else ''}"
                    for mode in rounding:
                        yield case(tag + ("-up" if mode else ""), around(least, greatest, 32, bits), least, greatest, bits,
                                   signed_input=signed, narrow_range=narrow, range_given=True, **mode)
            for signed in (True, False):
                for shape in ((1,), (5, 7), (2, 3, 2, 2), (500,)):
                    for mode in rounding:
                        yield case(f"own{'s' if signed else 'u'}{'x'.join(map(str, shape))}{'-up' if mode else ''}", R(d, shape, 2).array, 0, 0,
                                   signed_input=signed, range_given=False, **mode)
            halves = np.arange(-9, 10) / 2
            yield case("halves", halves, -128, 127, range_given=True)
            yield case("empty", np.zeros((0, 3)), -1, 1, range_given=True)
            if not third:  # TensorFlow's kernel refuses a scalar there, with any axis
                yield case("scalar", 0.3, -1, 1, range_given=True)
            yield case("zeros", np.zeros(4), 0, 0, range_given=False)
            yield case("one", [0.1, 1.0], 1, 1, range_given=True)
            # TensorFlow takes subnormal numbers for zero: ends, and what is computed of ends that are not.
            least, most = (1e-38, 3e38) if d == "float" else (2e-308, 1.6e308)
            for tag, end in (("subnormal", least / 100), ("small", least * 100), ("large", most)):
                for given, bits in ((True, 8), (False, 8), (True, 2), (False, 2)):
                    yield case(f"{tag}{bits}{'g' if given else ''}", end * np.array([0, 1, -1, 0.5, -0.3, 0.9]), -end, end, bits, range_given=given)
            for bits in (1, 2, 31, 61):
                yield case(f"bits{bits}", halves, -4, 4, bits, range_given=True)
            for shape, axis in (((4, 3), 0), ((4, 3), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((1, 5), 0), ((0, 3), 1), ((2, 2, 3, 2), 3)):
                n = shape[axis]
                least, greatest = -np.abs(R(d, n, 5).array.astype(float)), np.abs(R(d, n, 6).array.astype(float)) + 0.1
                for given in (True, False) if third else (False,):  # with ranges given, V2 and V4 ask for scalars, and their shapes for vectors
                    yield case(f"axis{axis}of{'x'.join(map(str, shape))}{'g' if given else ''}", R(d, shape, 7).array, least, greatest, axis=axis, range_given=given)
            if d != "float":
                continue

            def wrong(tag, x, least, greatest, bits=8, **attrs):
                static = attrs.pop("static", True)
                inputs = [f32(x), f32(least), f32(greatest)]
                if third:
                    yield from bad(op, d, tag, inputs + [i32(bits)], static=static, **attrs)
                else:
                    yield from bad(op, d, tag, inputs, static=static, num_bits=bits, **attrs)

            for bits, signed in ((0, True), (62, True), (63, False), (-1, False)):
                yield from wrong(f"bits{bits}", [1.0], 0, 1, bits, signed_input=signed, range_given=True, static=False)
            yield from wrong("turned", [1.0], 2, 1, range_given=True, static=False)
            yield from wrong("axis", [[1.0]], [0], [1], axis=2, range_given=True)
            if third:
                yield from wrong("scalar", 1.0, 0, 1, range_given=True, static=False)
            yield from wrong("size", [[1.0, 2.0]], [0], [1], axis=1, range_given=True)
    op = "QuantizeAndDequantizeV4Grad"
    for d in dtypes(op):
        for shape, axis in (((), -1), ((5,), -1), ((3, 4), -1), ((0, 2), -1), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 2, 3), 2)):
            ends = () if axis == -1 else shape[axis]
            least, greatest = (s * np.abs(R(d, ends, k).array.astype(float)) for s, k in ((-1, 5), (1, 6)))
            yield one(op, d, f"axis{axis}of{'x'.join(map(str, shape))}", [R(d, shape, 1), R(d, shape, 2), T(d, least), T(d, greatest)], axis=axis)
        yield one(op, d, "ends", [T(d, [1, 2, 3, 4, np.inf]), T(d, [-1, 1, -1.5, 1.5, 0]), T(d, -1), T(d, 1)])
    yield from bad(op, "float", "sizes", [R("float", 3), R("float", 4), scalar(0), scalar(1)])
    yield from bad(op, "float", "ends", [R("float", (2, 3)), R("float", (2, 3)), f32([0.0, 0.0]), f32([1.0, 1.0])], axis=1)


def cases():
    for part in (args, variables, channels, simulated):
        yield from part()
