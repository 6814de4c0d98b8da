"""Quantised numbers, simulated and real, as items of the comparison."""

from operands import item, sizes, tensor, value

MILLION = 1_000_000


def number(content):
    return value(content, "float32")


def quantized(shape, dtype="quint8"):
    low, high = {"quint8": (0, 256), "qint8": (-128, 128), "quint16": (0, 1 << 16), "qint16": (-(1 << 15), 1 << 15),
                 "qint32": (-1_000_000, 1_000_000)}[dtype]
    return tensor(shape, dtype, low, high)


def named(**dtypes):
    return {name: {"dtype": dtype} for name, dtype in dtypes.items()}


def simulated():
    million = tensor(1_000_000, "float32", -8, 8)
    rows, channels = tensor([10_000, 100], "float32", -8, 8), {"min": tensor(100, "float32", -7, -5), "max":
                                                               tensor(100, "float32", 5, 7)}
    ends = {"min": number(-6.0), "max": number(6.0)}
    yield item("FakeQuantWithMinMaxArgs", "1,000,000", {"inputs": million})
    yield item("FakeQuantWithMinMaxArgsGradient", "1,000,000", {"gradients": million, "inputs": million})
    yield item("FakeQuantWithMinMaxVars", "1,000,000", {"inputs": million, **ends})
    yield item("FakeQuantWithMinMaxVarsGradient", "1,000,000", {"gradients": million, "inputs": million, **ends})
    yield item("FakeQuantWithMinMaxVarsPerChannel", "10000x100", {"inputs": rows, **channels})
    yield item("FakeQuantWithMinMaxVarsPerChannelGradient", "10000x100", {"gradients": rows, "inputs": rows, **channels})
    ends = {"input_min": number(-6.0), "input_max": number(6.0)}
    yield item("QuantizeAndDequantizeV2", "1,000,000", {"input": million, **ends}, range_given=True)
    yield item("QuantizeAndDequantizeV2", "1,000,000", {"input": million, **ends}, note="half up", round_mode="HALF_UP")
    yield item("QuantizeAndDequantizeV3", "1,000,000", {"input": million, **ends, "num_bits": value(8)}, range_given=False)
    yield item("QuantizeAndDequantizeV4", "1,000,000", {"input": million, **ends}, range_given=True)
    yield item("QuantizeAndDequantizeV4Grad", "1,000,000", {"gradients": million, "input": million, **ends})


def integers():
    def ranges(*names):
        return {f"{end}_{name}": number(-1.0 if end == "min" else 1.0) for name in names for end in ("min", "max")}

    ends = {"min_range": number(-1.0), "max_range": number(1.0)}
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
        yield item("QuantizeV2", "1,000,000", {"input": tensor(1_000_000), **ends}, note=mode, mode=mode, T={"dtype":
                   "qint8" if mode == "SCALED" else "quint8"})
        yield item("Dequantize", "1,000,000", {"input": quantized(1_000_000, "qint8" if mode == "SCALED" else "quint8"), **ends},
                   "quint8", note=mode, mode=mode)
    yield item("QuantizedMatMul", "256x512x256", {"a": quantized([256, 512]), "b": quantized([512, 256]), **ranges("a", "b")},
               "quint8")
    yield item("QuantizedConv2D", "1x56x56x64", {"input": quantized([1, 56, 56, 64]), "filter": quantized([3, 3, 64, 64]),
               **ranges("input", "filter")}, "quint8", strides=[1, 1, 1, 1], padding="SAME")
    pooling = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    for op in ("QuantizedMaxPool", "QuantizedAvgPool"):
        yield item(op, "8x112x112x32", {"input": quantized([8, 112, 112, 32]), **ranges("input")}, "quint8", **pooling)
    for op in ("QuantizedRelu", "QuantizedRelu6"):
        yield item(op, "1,000,000", {"features": quantized(1_000_000), **ranges("features")}, "quint8")
    for op in ("QuantizedAdd", "QuantizedMul"):
        yield item(op, "1,000,000", {"x": quantized(1_000_000), "y": quantized(1_000_000), **ranges("x", "y")}, "quint8")
    yield item("QuantizedBiasAdd", "8x112x112x32", {"input": quantized([8, 112, 112, 32]), "bias": quantized(32),
               **ranges("input", "bias")}, "quint8", out_type={"dtype": "qint32"})
    yield item("QuantizedInstanceNorm", "4x64x64x32", {"x": quantized([4, 64, 64, 32]), "x_min": number(-1.0), "x_max": number(1.0)},
               "quint8")
    yield item("QuantizedResizeBilinear", "4x64x64x3 to 128x128", {"images": quantized([4, 64, 64, 3]), "size": value([128, 128]),
               "min": number(-1.0), "max": number(1.0)}, "quint8")
    yield item("QuantizedConcat", "2 of 1000x500", {"concat_dim": value(1), "values": [quantized([1000, 500])] * 2, "input_mins":
               [number(-1.0), number(-2.0)], "input_maxes": [number(1.0), number(2.0)]}, "quint8")
    wide = {"input": quantized(1_000_000, "qint32"), "input_min": number(-1.0), "input_max": number(1.0)}
    yield item("Requantize", "1,000,000", {**wide, "requested_output_min": number(-0.1), "requested_output_max": number(0.1)},
               "qint32", out_type={"dtype": "quint8"})
    yield item("RequantizationRange", "1,000,000", wide, "qint32")
    yield item("QuantizeDownAndShrinkRange", "1,000,000", wide, "qint32", out_type={"dtype": "quint8"})
    limits = {"quantization_min_val": -128, "quantization_max_val": 127}
    scale = {"scales": number(0.01), "zero_points": value(3)}
    yield item("UniformQuantize", "1,000,000", {"input": tensor(1_000_000), **scale}, Tout={"dtype": "qint8"}, **limits)
    yield item("UniformDequantize", "1,000,000", {"input": quantized(1_000_000, "qint8"), **scale}, "qint8",
               Tout={"dtype": "float32"}, **limits)
    of = {f"{side}_{what}": content for side in ("lhs", "rhs", "output") for what, content in scale.items()}
    ends = {f"{side}_quantization_{end}_val": limit for side in ("lhs", "rhs", "output")
            for end, limit in (("min", -128), ("max", 127))}
    both = {**of, "output_scales": number(0.1)}
    wide_ends = {**ends, "output_quantization_min_val": -(1 << 31), "output_quantization_max_val": (1 << 31) - 1}
    yield item("UniformQuantizedDot", "128x256x128", {"lhs": quantized([128, 256], "qint8"), "rhs": quantized([256, 128], "qint8"),
               **both}, "qint8", Tout={"dtype": "qint32"}, **wide_ends)
    yield item("UniformQuantizedConvolution", "1x64x28x28", {"lhs": quantized([1, 64, 28, 28], "qint8"), "rhs":
               quantized([64, 64, 3, 3], "qint8"), **both}, "qint8", Tout={"dtype": "qint32"}, padding="SAME", **wide_ends)
    yield item("UniformQuantizedAdd", "1000x1000", {"lhs": quantized([1000, 1000], "qint32"), "rhs":
               quantized([1000, 1000], "qint32"), **of}, "qint32",
               **{name: -(1 << 31) if "min" in name else (1 << 31) - 1 for name in ends})


# A million elements with channels last, and first.
SLICED = (([10_000, 100], 1), ([100, 10_000], 0), ([330_000, 3], 1))


def ends(names, count, low=-6.0, high=6.0):
    """Tensors of the lower ends of so many ranges, and of the upper."""
    return {names[0]: tensor(count, "float32", low, low + 1), names[1]: tensor(count, "float32", high - 1, high)}


def simulated_by_channel():
    rows = tensor([330_000, 3], "float32", -8, 8)
    channels = ends(("min", "max"), 3)
    yield item("FakeQuantWithMinMaxVarsPerChannel", "330000x3", {"inputs": rows, **channels})
    yield item("FakeQuantWithMinMaxVarsPerChannelGradient", "330000x3", {"gradients": rows, "inputs": rows, **channels})
    for shape, axis in SLICED:
        xs, note = tensor(shape, "float32", -8, 8), f"axis {axis}"
        of = ends(("input_min", "input_max"), shape[axis])
        yield item("QuantizeAndDequantizeV4", sizes(shape), {"input": xs, **of}, note=note, axis=axis, range_given=False)
        yield item("QuantizeAndDequantizeV4Grad", sizes(shape), {"gradients": xs, "input": xs, **of}, note=note, axis=axis)
    million = tensor(MILLION, "float64", -8, 8)
    of = {"input_min": value(-6.0, "float64"), "input_max": value(6.0, "float64")}
    for is_given in (True, False):
        yield item("QuantizeAndDequantizeV2", "1,000,000", {"input": million, **of}, "float64", "given" if is_given else "",
                   range_given=is_given)
    yield item("QuantizeAndDequantizeV4Grad", "1,000,000", {"gradients": million, "input": million, **of}, "float64")


def converted():
    """To numbers and back, of dtypes and forms that `integers` has not."""
    one = {"min_range": number(-1.0), "max_range": number(1.0)}
    for dtype in ("qint8", "quint16", "qint16", "qint32"):
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            if mode == "SCALED" and dtype == "qint8":
                continue
            yield item("QuantizeV2", "1,000,000", {"input": tensor(MILLION), **one}, dtype, mode, mode=mode, **named(T=dtype))
            if (dtype, mode) != ("qint32", "SCALED"):  # TensorFlow looks for a kernel of oneDNN, which it has not.
                yield item("Dequantize", "1,000,000", {"input": quantized(MILLION, dtype), **one}, dtype, mode, mode=mode)
    yield item("QuantizeV2", "1,000,000", {"input": tensor(MILLION), **one}, "qint8", "SCALED, to even", mode="SCALED",
               round_mode="HALF_TO_EVEN", **named(T="qint8"))
    yield item("Dequantize", "1,000,000", {"input": quantized(MILLION), **one}, "quint8", "to bfloat16", **named(dtype="bfloat16"))
    for shape, axis in SLICED:
        of = ends(("min_range", "max_range"), shape[axis])
        for mode, dtype in (("MIN_COMBINED", "quint8"), ("SCALED", "qint8"), ("SCALED", "qint32")):
            note = f"{mode} axis {axis}"
            yield item("QuantizeV2", sizes(shape), {"input": tensor(shape), **of}, dtype, note, mode=mode, axis=axis,
                       **named(T=dtype))
            yield item("Dequantize", sizes(shape), {"input": quantized(shape, dtype), **of}, dtype, note, mode=mode, axis=axis)


def arithmetic():
    """Quantized* ops of forms that `integers` has not."""
    def ranges(*names):
        return {f"{end}_{name}": number(-1.0 if end == "min" else 1.0) for name in names for end in ("min", "max")}

    for op in ("QuantizedAdd", "QuantizedMul"):
        for second in ([1000], []):
            yield item(op, f"1000x1000 and {sizes(second) or 'scalar'}", {"x": quantized([1000, 1000]), "y": quantized(second),
                       **ranges("x", "y")}, "quint8")
    for op in ("QuantizedRelu", "QuantizedRelu6"):
        yield item(op, "1,000,000", {"features": quantized(MILLION, "qint32"), **ranges("features")}, "qint32",
                   **named(out_type="qint32"))
    yield item("QuantizedBiasAdd", "8x112x112x32", {"input": quantized([8, 112, 112, 32], "qint8"), "bias": quantized(32, "qint8"),
               **ranges("input", "bias")}, "qint8", **named(out_type="qint32"))
    yield item("QuantizedBiasAdd", "330000x3", {"input": quantized([330_000, 3]), "bias": quantized(3), **ranges("input", "bias")},
               "quint8", **named(out_type="qint32"))
    yield item("QuantizedReshape", "1,000,000", {"tensor": quantized(MILLION), "shape": value([1000, 1000]), "input_min":
               number(-1.0), "input_max": number(1.0)}, "quint8")
    for dtype, dim, shape, note in (("quint8", 1, [1000, 500], "one range"), ("quint8", 0, [1000, 500], ""),
                                    ("qint32", 1, [1000, 500], ""), ("quint8", 1, [100_000, 5], "")):
        other = 1.0 if note else 2.0
        yield item("QuantizedConcat", f"2 of {sizes(shape)}", {"concat_dim": value(dim), "values": [quantized(shape, dtype)] * 2,
                   "input_mins": [number(-1.0), number(-other)], "input_maxes": [number(1.0), number(other)]}, dtype,
                   note or f"along {dim}")
    small = {"ksize": [1, 3, 3, 1], "strides": [1, 1, 1, 1], "padding": "SAME"}
    for op in ("QuantizedMaxPool", "QuantizedAvgPool"):
        for shape in ([1, 56, 56, 64], [8, 112, 112, 3]):
            yield item(op, f"{sizes(shape)} by 3x3", {"input": quantized(shape), **ranges("input")}, "quint8", **small)
    yield item("QuantizedMatMul", "256x512x256", {"a": quantized([512, 256]), "b": quantized([256, 512]), **ranges("a", "b")},
               "quint8", "both transposed", transpose_a=True, transpose_b=True)
    yield item("QuantizedMatMul", "1x1024x1000", {"a": quantized([1, 1024]), "b": quantized([1024, 1000]), **ranges("a", "b")},
               "quint8")
    for shape, window, stride in (([1, 56, 56, 64], [1, 1, 64, 128], 1), ([1, 224, 224, 3], [3, 3, 3, 32], 2)):
        yield item("QuantizedConv2D", f"{sizes(shape)} by {sizes(window)}", {"input": quantized(shape), "filter":
                   quantized(window), **ranges("input", "filter")}, "quint8", strides=[1, stride, stride, 1], padding="SAME")
    norm = {f"{name}{end}": number(-1.0 if end == "_min" else 1.0) for name in ("t", "m", "v", "beta", "gamma")
            for end in ("_min", "_max")}
    vectors = {name: quantized(32) for name in ("m", "v", "beta", "gamma")}
    yield item("QuantizedBatchNormWithGlobalNormalization", "8x56x56x32", {"t": quantized([8, 56, 56, 32]), **vectors, **norm,
               "v_min": number(0.1)}, "quint8", variance_epsilon=0.001, scale_after_normalization=True, **named(out_type="qint32"))
    for shape, dtype, note in (([4, 64, 64, 3], "qint32", ""), ([1, 64, 64, 64], "quint8", ""), ([4, 64, 64, 3], "quint8", "centres")):
        yield item("QuantizedResizeBilinear", f"{sizes(shape)} to 128x128", {"images": quantized(shape, dtype), "size":
                   value([128, 128]), "min": number(-1.0), "max": number(1.0)}, dtype, note, half_pixel_centers=bool(note))
    yield item("QuantizedInstanceNorm", "4x64x64x32", {"x": quantized([4, 64, 64, 32]), "x_min": number(-1.0), "x_max": number(1.0)},
               "quint8", "given", output_range_given=True, given_y_min=-2.0, given_y_max=2.0)
    wide = {"input": quantized([1, 112, 112, 64], "qint32")}
    channels = ends(("input_min", "input_max"), 64)
    requested = {"requested_output_min": number(-0.1), "requested_output_max": number(0.1)}
    for dtype in ("qint8", "quint8"):
        yield item("RequantizePerChannel", "1x112x112x64", {**wide, **channels, **requested}, "qint32", f"to {dtype}",
                   **named(out_type=dtype))
    yield item("RequantizationRangePerChannel", "1x112x112x64", {**wide, **channels}, "qint32", clip_value_max=1e3)
    yield item("Requantize", "1,000,000", {"input": quantized(MILLION, "qint32"), "input_min": number(-1.0), "input_max": number(1.0),
               **requested}, "qint32", "to qint8", **named(out_type="qint8"))


def uniform():
    """UniformQuantized* ops of forms that `integers` has not."""
    bytes_ = {"quantization_min_val": -128, "quantization_max_val": 127}
    words = {"quantization_min_val": -(1 << 31), "quantization_max_val": (1 << 31) - 1}
    limits = {"qint8": bytes_, "quint8": {"quantization_min_val": 0, "quantization_max_val": 255}, "qint32": words}
    one = {"scales": number(0.01), "zero_points": value(3)}

    def scales(count, prefix=""):
        return {f"{prefix}scales": tensor(count, "float32", 0.01, 0.02), f"{prefix}zero_points": tensor(count, "int32", -5, 5)}

    for dtype in ("quint8", "qint32"):
        yield item("UniformQuantize", "1,000,000", {"input": tensor(MILLION), **one}, dtype, **named(Tout=dtype), **limits[dtype])
        yield item("UniformDequantize", "1,000,000", {"input": quantized(MILLION, dtype), **one}, dtype, **named(Tout="float32"),
                   **limits[dtype])
    for shape, axis in SLICED:
        of, note = scales(shape[axis]), f"axis {axis}"
        yield item("UniformQuantize", sizes(shape), {"input": tensor(shape), **of}, "qint8", note, quantization_axis=axis,
                   **named(Tout="qint8"), **bytes_)
        yield item("UniformDequantize", sizes(shape), {"input": quantized(shape, "qint8"), **of}, "qint8", note,
                   quantization_axis=axis, **named(Tout="float32"), **bytes_)
        yield item("UniformQuantizedClipByValue", sizes(shape), {"operand": quantized(shape, "qint32"), "min":
                   tensor(shape[axis], "qint32", -1000, 0), "max": tensor(shape[axis], "qint32", 0, 1000), **of}, "qint32", note,
                   quantization_axis=axis, **words)
        for dtype in ("qint8", "qint32"):
            yield item("UniformRequantize", sizes(shape), {"input": quantized(shape, dtype), **scales(shape[axis], "input_"),
                       **scales(shape[axis], "output_")}, dtype, note, input_quantization_axis=axis, output_quantization_axis=axis,
                       **named(Tout="qint8"), **prefixed("input", limits[dtype]), **prefixed("output", bytes_))
        yield item("UniformQuantizedAdd", sizes(shape), {"lhs": quantized(shape, "qint32"), "rhs": quantized(shape, "qint32"),
                   **{name: content for side in ("lhs_", "rhs_", "output_") for name, content in scales(shape[axis], side).items()}},
                   "qint32", note, **{f"{side}_quantization_axis": axis for side in ("lhs", "rhs", "output")},
                   **prefixed("lhs", words), **prefixed("rhs", words), **prefixed("output", words))
    single = {f"{side}_{name}": content for side in ("input", "output") for name, content in one.items()}
    for dtype in ("qint8", "qint32"):
        yield item("UniformRequantize", "1,000,000", {"input": quantized(MILLION, dtype), **single, "output_scales": number(0.02)},
                   dtype, **named(Tout="qint8"), **prefixed("input", limits[dtype]), **prefixed("output", bytes_))
    yield item("UniformQuantizedClipByValue", "1,000,000", {"operand": quantized(MILLION, "qint32"), "min": quantized([], "qint32"),
               "max": quantized([], "qint32"), **one}, "qint32", **words)
    three = {f"{side}_{name}": content for side in ("lhs", "rhs", "output") for name, content in one.items()}
    yield item("UniformQuantizedAdd", "1000x1000 and 1000", {"lhs": quantized([1000, 1000], "qint32"), "rhs":
               quantized([1000], "qint32"), **three}, "qint32", **prefixed("lhs", words), **prefixed("rhs", words),
               **prefixed("output", words))
    right = {"rhs": quantized([256, 128], "qint8"), **scales(128, "rhs_")}
    yield item("UniformQuantizedDot", "128x256x128", {**three, "lhs": quantized([128, 256], "qint8"), **right, **scales(128, "output_")},
               "qint8", "by column", rhs_quantization_axis=1, output_quantization_axis=1, **named(Tout="qint32"),
               **prefixed("lhs", bytes_), **prefixed("rhs", bytes_), **prefixed("output", words))
    yield item("UniformQuantizedDotHybrid", "128x256x128", {"lhs": tensor([128, 256]), **right}, "qint8", "by column",
               rhs_quantization_axis=1, **named(Tout="float32"), **prefixed("rhs", bytes_))
    yield item("UniformQuantizedConvolutionHybrid", "1x64x28x28", {"lhs": tensor([1, 64, 28, 28]), "rhs":
               quantized([64, 64, 3, 3], "qint8"), "rhs_scales": number(0.01), "rhs_zero_points": value(3)}, "qint8",
               padding="SAME", **named(Tout="float32"), **prefixed("rhs", bytes_))


def prefixed(side, limits):
    return {f"{side}_{name}": limit for name, limit in limits.items()}


FAMILIES = (simulated, integers, simulated_by_channel, converted, arithmetic, uniform)
