"""The gradients of depthwise convolutions, and grey-scale dilation with its gradients."""
from cases_conv_grad import LOOSE, conv_case, output_size
from cases_nn import conv_attrs
from golden import R, bad, dtypes, i32, one


def depthwise():
    for op in ("DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"):
        for d in dtypes(op):
            for m in (1, 2):
                for padding in ("SAME", "VALID"):
                    yield conv_case(op, d, f"m{m}-{padding.lower()}", (2, 6, 5, 3), (3, 2, 3, m), padding=padding, whole=2, depthwise=True)
            yield conv_case(op, d, "explicit", (2, 6, 5, 3), (3, 2, 3, 2), padding="EXPLICIT", explicit=(1, 2, 0, 1), whole=2, depthwise=True)
            yield conv_case(op, d, "strided", (2, 6, 5, 3), (3, 3, 3, 1), strides=(2, 2), whole=2, depthwise=True)
            yield conv_case(op, d, "fractions", (1, 5, 5, 4), (3, 3, 4, 1), LOOSE[d], whole=None, depthwise=True)
        d = "float"
        for tag, xs, ws, kw in (
                ("medium", (1, 17, 9, 5), (3, 3, 5, 2), {}), ("medium-strided", (1, 9, 19, 9), (5, 5, 9, 1), {"strides": (2, 2)}), ("m3", (1, 5, 5, 2), (2, 3, 2, 3), {"strides": (2, 2), "padding": "VALID"}),
                ("one-channel", (2, 5, 5, 1), (3, 3, 1, 4), {}), ("channels16", (1, 4, 4, 16), (3, 3, 16, 1), {}), ("channels17", (1, 4, 4, 17), (3, 3, 17, 1), {"strides": (2, 2)}), ("one-pixel", (1, 1, 1, 4), (3, 3, 4, 1), {}),
                ("stride-over-filter", (1, 7, 8, 3), (2, 1, 3, 1), {"strides": (3, 3)}), ("explicit-strided", (1, 6, 7, 3), (3, 3, 3, 1), {"strides": (2, 2), "padding": "EXPLICIT", "explicit": (0, 1, 0, 1)}),
                ("explicit-far", (1, 6, 7, 3), (3, 3, 3, 1), {"padding": "EXPLICIT", "explicit": (5, 4, 0, 6)}), ("explicit-far-m2", (1, 6, 7, 3), (3, 3, 3, 2), {"padding": "EXPLICIT", "explicit": (5, 4, 0, 6)}), ("many-images", (20, 4, 5, 2), (3, 3, 2, 1), {})):
            yield conv_case(op, d, tag, xs, ws, (1e-5, 2e-5), risky=True, depthwise=True, **kw)
        if "Input" in op:  # of no images TensorFlow leaves the filter's gradient as it finds it
            yield conv_case(op, d, "no-batch", (0, 4, 4, 2), (2, 2, 2, 1), risky=True, depthwise=True)
        ok, X, W, Y = conv_attrs(), (1, 4, 4, 2), (2, 2, 2, 2), (1, 4, 4, 4)
        errors = [("sizes-short", X[:3], W, Y, ok) if "Input" in op else ("sizes-short", X, W[:3], Y, ok), ("sizes-negative", (1, -4, 4, 2), W, Y, ok) if "Input" in op else ("sizes-negative", X, (2, -2, 2, 2), Y, ok),
                  ("gradient-rank", X, W, (4, 4, 4), ok), ("gradient-size", X, W, (1, 3, 4, 4), ok), ("gradient-batch", X, W, (2, 4, 4, 4), ok), ("gradient-depth", X, W, (1, 4, 4, 5), ok), ("filter-depth", X, (2, 2, 3, 2), Y, ok),
                  ("strides-length", X, W, Y, {**ok, "strides": [1, 1]}), ("strides-batch", X, W, Y, {**ok, "strides": [2, 1, 1, 1]}), ("strides-zero", X, W, Y, {**ok, "strides": [1, 0, 0, 1]}),
                  ("explicit-missing", X, W, Y, conv_attrs(padding="EXPLICIT"))]
        for tag, xs, ws, ys, kw in errors:
            first = [i32(xs), R(d, ws)] if "Input" in op else [R(d, xs), i32(ws)]
            yield from bad(op, d, tag, [*first, R(d, ys)], risky=True, **kw)


def dilations():
    def attrs(strides=(1, 1), rates=(1, 1), padding="SAME"):
        return dict(strides=[1, *strides, 1], rates=[1, *rates, 1], padding=padding)

    def size(n, w, s, r, padding):
        return output_size(n, (w - 1) * r + 1, s, padding)

    for op in ("Dilation2D", "Dilation2DBackpropInput", "Dilation2DBackpropFilter"):
        def case(d, tag, xs, ws, strides=(1, 1), rates=(1, 1), padding="SAME", ints=3):
            ys = (xs[0], *[size(xs[k + 1], ws[k], strides[k], rates[k], padding) for k in (0, 1)], xs[3])
            gradient = [] if op == "Dilation2D" else [R(d, ys, 3, ints=2)]
            return one(op, d, tag, [R(d, xs, 1, ints=ints), R(d, ws, 2, ints=ints), *gradient], risky=True, **attrs(strides, rates, padding))

        for d in dtypes(op):
            yield case(d, "same", (2, 5, 4, 3), (3, 2, 3))
            yield case(d, "valid", (2, 5, 4, 3), (2, 2, 3), (2, 1), (1, 2), "VALID")
        d = "float"
        for tag, xs, ws, kw in (("rates", (1, 9, 8, 2), (3, 2, 2), {"rates": (2, 3)}), ("strides", (1, 9, 8, 2), (3, 3, 2), {"strides": (2, 3)}), ("both", (1, 9, 8, 2), (3, 2, 2), {"strides": (2, 3), "rates": (2, 2)}),
                                ("one-pixel", (2, 1, 1, 3), (3, 3, 3), {}), ("no-batch", (0, 4, 4, 2), (2, 2, 2), {}), ("larger", (1, 2, 3, 1), (5, 5, 1), {})):
            yield case(d, tag, xs, ws, ints=None, **kw)
        X, W, Y, ok = (1, 4, 4, 2), (2, 2, 2), (1, 4, 4, 2), attrs()
        for tag, xs, ws, ys, kw in (("input-rank", (4, 4, 2), W, Y, ok), ("filter-rank", X, (2, 2, 2, 1), Y, ok), ("depth", X, (2, 2, 3), Y, ok), ("strides-length", X, W, Y, {**ok, "strides": [1, 1]}), ("rates-length", X, W, Y, {**ok, "rates": [1, 1]}),
                                    ("strides-batch", X, W, Y, {**ok, "strides": [2, 1, 1, 1]}), ("rates-depth", X, W, Y, {**ok, "rates": [1, 1, 1, 2]}), ("strides-zero", X, W, Y, {**ok, "strides": [1, 0, 1, 1]}), ("too-large", X, (6, 2, 2), Y, attrs(padding="VALID")),
                                    ("gradient-shape", X, W, (1, 3, 4, 2), ok)):
            if tag != "gradient-shape" or op != "Dilation2D":
                yield from bad(op, d, tag, [R(d, xs), R(d, ws)] + ([] if op == "Dilation2D" else [R(d, ys)]), risky=True, **kw)


def cases():
    for part in (depthwise, dilations):
        yield from part()
