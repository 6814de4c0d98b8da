"""Quantized numbers by scales and zero points."""
import numpy as np

from tensorflow.core.util.quantization import uniform_quant_ops_attr_pb2

from golden import R, T, bad, f32, i32, limits, many, one

BOUNDS = {"qint8": (-128, 127), "quint8": (0, 255), "qint32": (-(2 ** 31), 2 ** 31 - 1)}
scalar = lambda v: f32(np.float32(v))
whole = lambda v: i32(np.int32(v))


def numbers(d, shape, seed=0, high=None):
    low, top = (-high, high) if high else limits(d)
    return T(d, np.random.RandomState(seed + 17).randint(low, top + 1, shape, dtype=np.int64))


def scales(n, seed=0):
    """Scales and zero points, one or `n` of each."""
    if n is None:
        return [scalar(0.05), whole(seed - 3)]
    r = np.random.RandomState(seed)
    return [f32(r.rand(n) * 0.1 + 0.01), i32(r.randint(-20, 20, n))]


def attrs(d, prefix="", **more):
    low, high = BOUNDS[d]
    return {f"{prefix}quantization_min_val": low, f"{prefix}quantization_max_val": high, **more}


def conversions():
    shapes = (((5, 7), -1), ((), -1), ((0, 2), -1), ((4, 3), 0), ((4, 3), 1), ((2, 3, 4), 1), ((2, 2, 3, 2), 2), ((1, 6), 0), ((1, 2, 1, 2, 3), 4))
    for shape, axis in shapes:
        n = None if axis < 0 else shape[axis]
        tag = f"axis{axis}of{'x'.join(map(str, shape))}"
        for d in BOUNDS:
            yield one("UniformQuantize", "float", f"{d}-{tag}", [R("float", shape), *scales(n, 1)], Tout=d, quantization_axis=axis, **attrs(d))
            yield one("UniformDequantize", d, tag, [numbers(d, shape), *scales(n, 2)], Tout="float", quantization_axis=axis, **attrs(d))
        for d in ("qint8", "qint32"):
            for to in {axis, -1}:
                for own in {axis, -1}:
                    yield one("UniformRequantize", d, f"{tag}-{own}to{to}", [numbers(d, shape, high=None if d == "qint8" else 10000), *scales(n if own >= 0 else None, 3), *scales(n if to >= 0 else None, 4)],
                              Tout="qint8", input_quantization_axis=own, output_quantization_axis=to, **attrs(d, "input_"), **attrs("qint8", "output_"))
        ends = scales(n)[1].array
        yield one("UniformQuantizedClipByValue", "qint32", tag, [numbers("qint32", shape, high=100), T("qint32", ends - 10), T("qint32", ends + 30), *scales(n, 5)], quantization_axis=axis, **attrs("qint32"))
    halves = f32((np.arange(-600, 600) + 0.5) * 0.25)
    for d in ("qint8", "quint8", "qint32"):
        yield one("UniformQuantize", "float", f"{d}-halves", [halves, scalar(0.25), whole(3)], Tout=d, **attrs(d))
        yield one("UniformQuantize", "float", f"{d}-narrow", [halves, scalar(0.5), whole(0)], Tout=d, quantization_min_val=max(BOUNDS[d][0], -20), quantization_max_val=33)
    for k, (a, b) in enumerate(((1e-12, 1.0), (1.0, 1e-12), (0.1, 0.3), (0.5, 0.25), (3.0, 3.0))):
        for d in ("qint8", "qint32"):
            yield one("UniformRequantize", d, f"factor{k}", [numbers(d, 50), scalar(a), whole(1), scalar(b), whole(-2)], Tout="qint8", **attrs(d, "input_"), **attrs("qint8", "output_"))
    x, q = R("float", (2, 3)), numbers("qint8", (2, 3))
    wrong = (("vector", [f32([0.1]), i32([0])], -1), ("axis", [f32([0.1, 1]), i32([0, 1])], 2), ("minus", [scalar(1), whole(0)], -2), ("size", [f32([0.1, 1]), i32([0, 1])], 1), ("shapes", [f32([0.1, 1]), i32([0])], 0))
    for name, pair, axis in wrong:
        yield from bad("UniformQuantize", "float", name, [x, *pair], static=False, Tout="qint8", quantization_axis=axis, **attrs("qint8"))
        yield from bad("UniformDequantize", "qint8", name, [q, *pair], static=False, Tout="float", quantization_axis=axis, **attrs("qint8"))
        yield from bad("UniformRequantize", "qint8", name, [q, *pair, scalar(1), whole(0)], static=False, Tout="qint8", input_quantization_axis=axis, **attrs("qint8", "input_"), **attrs("qint8", "output_"))
    yield from bad("UniformDequantize", "qint8", "scale", [q, scalar(0), whole(0)], static=False, Tout="float", **attrs("qint8"))
    for name, a, b in (("zero", 0, 1), ("below", 1, -1)):
        yield from bad("UniformRequantize", "qint8", name, [q, scalar(a), whole(0), scalar(b), whole(0)], static=False, Tout="qint8", **attrs("qint8", "input_"), **attrs("qint8", "output_"))
    yield from bad("UniformRequantize", "qint8", "axes", [q, *scales(2), *scales(3)], static=False, Tout="qint8", input_quantization_axis=0, output_quantization_axis=1, **attrs("qint8", "input_"), **attrs("qint8", "output_"))
    yield from bad("UniformQuantizedClipByValue", "qint32", "ends", [numbers("qint32", 3), T("qint32", [1]), T("qint32", 2), *scales(None)], static=False, **attrs("qint32"))


def sums():
    op = "UniformQuantizedAdd"
    three = {**attrs("qint32", "lhs_"), **attrs("qint32", "rhs_"), **attrs("qint32", "output_")}
    for k, (x, y, axes) in enumerate((((2, 3), (2, 3), (-1, -1, -1)), ((2, 3), (), (-1, -1, -1)), ((4, 1), (3,), (-1, -1, -1)), ((2, 3), (2, 3), (0, 0, 0)), ((2, 3), (2, 3), (1, 1, 1)), ((2, 3, 4), (2, 3, 4), (1, -1, 1)), ((2, 3), (3,), (-1, -1, -1)), ((0, 3), (1, 3), (-1, -1, -1)), ((2, 3), (2, 3), (0, 1, -1)))):
        shape = np.broadcast_shapes(x, y)
        of = lambda s, axis, seed: scales(None if axis < 0 else s[axis], seed)
        yield one(op, "qint32", f"{k}", [numbers("qint32", x, 1, 10000), numbers("qint32", y, 2, 10000), *of(x, axes[0], 1), *of(y, axes[1], 2), *of(shape, axes[2], 3)],
                  lhs_quantization_axis=axes[0], rhs_quantization_axis=axes[1], output_quantization_axis=axes[2], **three)
    cut = {**three, "output_quantization_min_val": -50, "output_quantization_max_val": 70}
    yield one(op, "qint32", "cut", [numbers("qint32", (3, 5), 1, 100), numbers("qint32", (3, 5), 2, 100), *scales(None, 1), *scales(None, 2), *scales(None, 3)], **cut)
    good = [numbers("qint32", (2, 3)), numbers("qint32", (2, 3)), *scales(None), *scales(None), *scales(None)]
    for name, k, v in (("shapes", 1, numbers("qint32", (2, 2))), ("scale", 2, scalar(0)), ("zeros", 5, i32([1]))):
        yield from bad(op, "qint32", name, [v if at == k else x for at, x in enumerate(good)], static=False, **three)


def products():
    three = {**attrs("qint8", "lhs_"), **attrs("qint8", "rhs_"), **attrs("qint32", "output_")}
    for k, (m, inner, n) in enumerate(((2, 3, 4), (1, 1, 1), (5, 17, 3), (33, 64, 65), (4, 300, 20), (0, 2, 3), (3, 2, 0))):
        for own, to in ((-1, -1), (1, -1), (1, 1)):
            yield one("UniformQuantizedDot", "qint8", f"{m}x{inner}x{n}-{own}to{to}", [numbers("qint8", (m, inner), 1), numbers("qint8", (inner, n), 2), *scales(None, 1), *scales(n if own > 0 else None, 2), *scales(n if to > 0 else None, 3)],
                      Tout="qint32", rhs_quantization_axis=own, output_quantization_axis=to, **three)
        for own in (-1, 1):
            yield one("UniformQuantizedDotHybrid", "float", f"{m}x{inner}x{n}-{own}", [R("float", (m, inner), 1), numbers("qint8", (inner, n), 2), *scales(n if own > 0 else None, 2)], (1e-6, 1e-6),
                      Tout="float", rhs_quantization_axis=own, **attrs("qint8", "rhs_"))
    yield one("UniformQuantizedDotHybrid", "float", "rows", [f32([[0, 0, 0], [1, 2, 3], [-1, -2, -3], [-5, 0, 2]]), numbers("qint8", (3, 2)), *scales(None)], (1e-6, 1e-6), Tout="float", **attrs("qint8", "rhs_"))
    good = [numbers("qint8", (2, 3)), numbers("qint8", (3, 2)), *scales(None), *scales(None), *scales(None)]
    for name, k, v in (("inner", 1, numbers("qint8", (2, 2))), ("rank", 0, numbers("qint8", 3)), ("vector", 2, f32([0.1])), ("scale", 4, scalar(0)), ("below", 6, scalar(-1))):
        yield from bad("UniformQuantizedDot", "qint8", name, [v if at == k else x for at, x in enumerate(good)], static=name in ("inner", "rank", "vector"), Tout="qint32", **three)
    for name, more in (("lhs", {"lhs_quantization_axis": 0}), ("rhs", {"rhs_quantization_axis": 0}), ("output", {"output_quantization_axis": 0})):
        yield from bad("UniformQuantizedDot", "qint8", name, good, static=False, Tout="qint32", **three, **more)
    for name, k, v in (("inner", 1, numbers("qint8", (2, 2))), ("scale", 2, scalar(0)), ("zeros", 3, i32([1, 2, 3]))):
        inputs = [R("float", (2, 3)), numbers("qint8", (3, 2)), *scales(None)]
        inputs[k] = v
        yield from bad("UniformQuantizedDotHybrid", "float", name, inputs, static=name == "inner", Tout="float", **attrs("qint8", "rhs_"))


def convolutions():
    three = {**attrs("qint8", "lhs_"), **attrs("qint8", "rhs_"), **attrs("qint32", "output_")}
    last = uniform_quant_ops_attr_pb2.UniformQuantizedConvolutionDimensionNumbersAttr(
        input_batch_dimension=0, input_feature_dimension=3, input_spatial_dimensions=[1, 2], kernel_output_feature_dimension=3, kernel_input_feature_dimension=2,
        kernel_spatial_dimensions=[0, 1], output_batch_dimension=0, output_feature_dimension=3, output_spatial_dimensions=[1, 2]).SerializeToString()
    forms = (
        ((1, 2, 5, 6), (3, 2, 2, 3), {}), ((2, 3, 7), (4, 3, 3), {}), ((1, 1, 4, 4, 3), (2, 1, 2, 2, 1), {}),
        ((1, 2, 5, 6), (3, 2, 2, 3), {"window_strides": [2, 3]}), ((1, 2, 5, 6), (3, 2, 2, 3), {"lhs_dilation": [2, 1]}), ((1, 2, 7, 8), (3, 2, 2, 3), {"rhs_dilation": [2, 2]}),
        ((1, 4, 5, 5), (6, 2, 3, 3), {"feature_group_count": 2}), ((4, 2, 5, 5), (6, 2, 3, 3), {"batch_group_count": 2}), ((2, 5, 6, 3), (2, 2, 3, 4), {"dimension_numbers": last}),
        ((1, 3, 5, 5), (3, 1, 3, 3), {"feature_group_count": 3}), ((1, 8, 9, 9), (40, 8, 3, 3), {}),
    )
    for k, (x, f, more) in enumerate(forms):
        by_last = "dimension_numbers" in more
        features, own_axis, out_axis = (f[3], 3, 3) if by_last else (f[0], 0, 1)
        for padding in ("SAME", "VALID", "EXPLICIT"):
            pad = {"padding": padding, **({"explicit_padding": [1, 2] * (len(x) - 2)} if padding == "EXPLICIT" else {})}
            for own, to in ((-1, -1), (own_axis, -1), (own_axis, out_axis)):
                yield one("UniformQuantizedConvolution", "qint8", f"{k}{padding}{own}to{to}", [numbers("qint8", x, 1), numbers("qint8", f, 2), *scales(None, 1), *scales(features if own >= 0 else None, 2), *scales(features if to >= 0 else None, 3)],
                          Tout="qint32", rhs_quantization_axis=own, output_quantization_axis=to, **three, **more, **pad)
            for own in (-1, own_axis):
                yield one("UniformQuantizedConvolutionHybrid", "float", f"{k}{padding}{own}", [R("float", x, 1), numbers("qint8", f, 2), *scales(features if own >= 0 else None, 2)], (1e-6, 1e-6),
                          Tout="float", rhs_quantization_axis=own, **attrs("qint8", "rhs_"), **more, **pad)
    good = [numbers("qint8", (1, 2, 5, 5)), numbers("qint8", (3, 2, 2, 2)), *scales(None), *scales(None), *scales(None)]
    for name, k, v in (("rank", 1, numbers("qint8", (3, 2, 2))), ("depth", 0, numbers("qint8", (1, 3, 5, 5))), ("matrix", 0, numbers("qint8", (2, 5))), ("scale", 4, scalar(0))):
        yield from bad("UniformQuantizedConvolution", "qint8", name, [v if at == k else x for at, x in enumerate(good)], static=name != "scale", Tout="qint32", padding="SAME", **three)
    for name, more in (("padding", {"padding": "FULL"}), ("explicit", {"padding": "SAME", "explicit_padding": [1, 1, 1, 1]}), ("pads", {"padding": "EXPLICIT", "explicit_padding": [1]}), ("below", {"padding": "EXPLICIT", "explicit_padding": [-1, 0, 0, 0]}),
                       ("strides", {"padding": "SAME", "window_strides": [0, 1]}), ("steps", {"padding": "SAME", "rhs_dilation": [1]}), ("groups", {"padding": "SAME", "feature_group_count": 2}), ("batches", {"padding": "SAME", "batch_group_count": 2}), ("numbers", {"padding": "SAME", "dimension_numbers": "zz"})):
        yield from bad("UniformQuantizedConvolution", "qint8", name, good, Tout="qint32", **three, **more)
    for name, more in (("lhs", {"lhs_quantization_axis": 0}), ("rhs", {"rhs_quantization_axis": 1}), ("output", {"output_quantization_axis": 2})):
        yield from bad("UniformQuantizedConvolution", "qint8", name, good, static=False, Tout="qint32", padding="SAME", **three, **more)


def cases():
    for part in (conversions, sums, products, convolutions):
        yield from part()
