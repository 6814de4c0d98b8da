"""The gradients of convolutions."""
from cases_nn import EXPLICIT, WIDE, conv_attrs
from golden import R, T, bad, dtypes, i32, one

LOOSE = {**WIDE, "half": (4e-3, 2e-2), "bfloat16": (3e-2, 2e-1)}


def output_size(size, window, stride, padding, explicit=(0, 0)):
    if padding == "SAME":
        return -(-size // stride)
    return (size + sum(explicit) - window) // stride + 1


def conv_case(op, d, tag, xs, ws, tolerance=None, strides=(1, 1), padding="SAME", explicit=(), whole=3, risky=False, two=False, depthwise=False):
    """Both gradients take the shape of what they are the gradient of, and the other operand."""
    pads = ((explicit[0], explicit[1]), (explicit[2], explicit[3])) if explicit else ((0, 0), (0, 0))
    sizes = [output_size(xs[k + 1], ws[k], strides[k], padding, pads[k]) for k in (0, 1)]
    ys = (xs[0], *sizes, ws[2] * ws[3] if depthwise else ws[3])
    kw = conv_attrs(strides, padding=padding, explicit=explicit)
    if "Input" in op:
        inputs = [i32(xs[1:3] if two else xs), R(d, ws, 1, ints=whole), R(d, ys, 2, ints=whole)]
    else:
        inputs = [R(d, xs, 1, ints=whole), i32(ws), R(d, ys, 2, ints=whole)]
    return one(op, d, tag, inputs, tolerance, risky=risky, **kw)


def convolutions():
    for op in ("Conv2DBackpropInput", "Conv2DBackpropFilter"):
        for d in dtypes(op):
            for padding in ("SAME", "VALID"):
                for strides in ((1, 1), (2, 2)):
                    yield conv_case(op, d, f"{padding.lower()}-s{strides[0]}", (2, 6, 5, 3), (3, 2, 3, 4), strides=strides, padding=padding, whole=2)
            yield conv_case(op, d, "explicit", (2, 6, 5, 3), (3, 2, 3, 4), strides=(2, 1), padding="EXPLICIT", explicit=(1, 2, 0, 1), whole=2)
            yield conv_case(op, d, "pointwise", (2, 6, 5, 3), (1, 1, 3, 5), whole=2)
            if d != "int32":
                yield conv_case(op, d, "fractions", (1, 5, 5, 4), (3, 3, 4, 3), LOOSE[d], whole=None)
        d = "float"
        for padding in ("SAME", "VALID"):
            for s in ((1, 1), (2, 2), (1, 3), (3, 1), (3, 3), (4, 2)):
                yield conv_case(op, d, f"grid-{padding.lower()}-{s[0]}{s[1]}", (2, 9, 8, 3), (3, 2, 3, 4), strides=s, padding=padding)
        for k, p in enumerate(EXPLICIT + [(5, 6, 4, 7)]):
            for s in ((1, 1), (2, 3)):
                yield conv_case(op, d, f"explicit{k}-{s[0]}{s[1]}", (2, 9, 8, 3), (3, 2, 3, 4), strides=s, padding="EXPLICIT", explicit=p)
        for tag, xs, ws, kw in (
                ("medium", (1, 17, 19, 5), (3, 3, 5, 7), {}), ("medium-strided", (1, 17, 19, 5), (5, 3, 5, 7), {"strides": (2, 2)}),
                ("even-filter", (1, 5, 6, 2), (4, 4, 2, 3), {"strides": (2, 2)}), ("stride-over-filter", (1, 7, 7, 2), (1, 1, 2, 3), {"strides": (3, 3)}),
                ("stride-over-filter-same", (1, 8, 5, 1), (2, 2, 1, 2), {"strides": (4, 3)}), ("one-pixel", (3, 1, 1, 4), (3, 3, 4, 2), {}),
                ("row", (1, 1, 9, 2), (1, 3, 2, 2), {}), ("pointwise-strided", (1, 6, 6, 8), (1, 1, 8, 5), {"strides": (2, 2)}),
                ("filter-over-image", (1, 2, 3, 2), (5, 5, 2, 2), {}), ("large-channels", (1, 3, 3, 33), (2, 2, 33, 17), {"padding": "VALID"}),
                ("whole-image", (2, 6, 5, 3), (6, 5, 3, 2), {"padding": "VALID"}), ("many-images", (20, 8, 8, 2), (3, 3, 2, 3), {})):
            yield conv_case(op, d, tag, xs, ws, **kw)
        for tag, xs, ws in (("no-batch", (0, 4, 4, 2), (2, 2, 2, 3)), ("no-filters", (1, 4, 4, 2), (2, 2, 2, 0)), ("no-rows", (1, 0, 4, 2), (2, 2, 2, 3))):
            yield conv_case(op, d, tag, xs, ws, risky=True)
        ok, X, W, Y = conv_attrs(), (1, 4, 4, 2), (2, 2, 2, 3), (1, 4, 4, 3)
        errors = [("sizes-short", X[:3], W, Y, ok) if "Input" in op else ("sizes-short", X, W[:3], Y, ok), ("sizes-negative", (1, -4, 4, 2), W, Y, ok) if "Input" in op else ("sizes-negative", X, (2, -2, 2, 3), Y, ok),
                  ("gradient-rank", X, W, (4, 4, 3), ok), ("gradient-size", X, W, (1, 3, 4, 3), ok), ("gradient-batch", X, W, (2, 4, 4, 3), ok), ("gradient-depth", X, W, (1, 4, 4, 4), ok),
                  ("filter-depth", X, (2, 2, 3, 3), Y, ok), ("no-depth", (1, 4, 4, 0), (2, 2, 0, 3), Y, ok), ("groups-uneven", (1, 4, 4, 4), (2, 2, 2, 3), (1, 4, 4, 3), ok),
                  ("strides-length", X, W, Y, {**ok, "strides": [1, 1]}), ("strides-batch", X, W, Y, {**ok, "strides": [2, 1, 1, 1]}), ("strides-depth", X, W, Y, {**ok, "strides": [1, 1, 1, 2]}),
                  ("strides-zero", X, W, Y, {**ok, "strides": [1, 0, 1, 1]}), ("strides-negative", X, W, Y, {**ok, "strides": [1, -1, 1, 1]}), ("dilations-length", X, W, Y, {**ok, "dilations": [1, 1]}),
                  ("dilations-batch", X, W, Y, {**ok, "dilations": [2, 1, 1, 1]}), ("dilations-zero", X, W, Y, {**ok, "dilations": [1, 0, 1, 1]}),
                  ("explicit-missing", X, W, Y, conv_attrs(padding="EXPLICIT")), ("explicit-unwanted", X, W, Y, {**ok, "explicit_paddings": [0, 0, 1, 1, 1, 1, 0, 0]}),
                  ("explicit-negative", X, W, Y, conv_attrs(padding="EXPLICIT", explicit=(-1, 0, 0, 0))), ("explicit-batch", X, W, Y, {**conv_attrs(padding="EXPLICIT"), "explicit_paddings": [1, 0, 1, 1, 1, 1, 0, 0]}),
                  ("padding-name", X, W, Y, {**ok, "padding": "FULL"})]
        for tag, xs, ws, ys, kw in errors:
            first = [i32(xs), R(d, ws)] if "Input" in op else [R(d, xs), i32(ws)]
            yield from bad(op, d, tag, [*first, R(d, ys)], risky=True, **kw)
    op = "Conv2DBackpropInput"
    yield conv_case(op, "float", "two-sizes", (2, 6, 5, 3), (3, 2, 3, 4), two=True)
    yield from bad(op, "float", "two-sizes-negative", [i32([-4, 4]), R("float", (2, 2, 2, 3)), R("float", (1, 4, 4, 3))], risky=True, **conv_attrs())
    yield from bad(op, "float", "sizes-scalar", [i32(4), R("float", (2, 2, 2, 3)), R("float", (1, 4, 4, 3))], risky=True, **conv_attrs())
    yield one(op, "int32", "wrap", [i32([1, 1, 2, 1]), T("int32", [[[[3]]]]), T("int32", [[[[2**31 - 1], [2**30]]]])], **conv_attrs())


def cases():
    yield from convolutions()
