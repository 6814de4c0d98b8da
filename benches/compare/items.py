"""Single ops of all families, as items of the comparison: what tensorflow_side.py calls kind `op`.

An operand is described rather than given: `shape` and `dtype`, with numbers drawn from `range` (`sorted` if asked for, of
strings so many different `words`), or its `value`. Inputs that are `constant` are constants of the graph, such as axes;
those that are a `variable` are resources with that value; all others are not known when a graph is optimised.
"""

import items_input
import items_models
import items_quantized
from operands import INTEGERS, MILLION, binary, item, sizes, tensor, unary, update, value


def element_wise():
    for op in ("Abs Neg Sign Square Exp Expm1 Sin Cos Tan Atan Sinh Cosh Tanh Asinh Sigmoid Erf Erfc Floor Ceil Round "
               "Rint IsNan").split():
        yield unary(op)
    for op in ("Sqrt", "Rsqrt", "Reciprocal", "Log", "Log1p", "Lgamma", "Digamma"):
        yield unary(op, low=0.1, high=5)
    for op in ("Asin", "Acos", "Atanh", "Erfinv"):
        yield unary(op, low=-0.9, high=0.9)
    yield unary("Ndtri", low=0.1, high=0.9)
    for op in ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1",
               "BesselK1e", "BesselY0", "BesselY1", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence"):
        yield unary(op, low=0.1, high=20)
    yield unary("Acosh", low=1, high=9)
    for op in ("Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Softplus", "Softsign"):
        yield unary(op, argument="features")
    for dtype in ("float16", "bfloat16"):
        for op in ("Abs", "Exp", "Tanh", "Sigmoid", "Erf", "Floor"):
            yield unary(op, dtype)
        yield unary("Sqrt", dtype, low=0.1, high=5)
        yield unary("Log", dtype, low=0.1, high=5)
        yield unary("Relu", dtype, argument="features")
        for op in ("AddV2", "Mul", "RealDiv", "Maximum", "SquaredDifference"):
            yield binary(op, dtype)
    for op in ("Abs", "Exp", "Sin", "Tanh", "Sigmoid", "Erf"):
        yield unary(op, "float64")
    yield unary("Log", "float64", low=0.1, high=5)
    for op in ("Exp", "Sqrt", "Log", "Neg", "Reciprocal"):
        yield unary(op, "complex64", 100_000)
    for dtype in ("int32", "int64"):
        for op in ("Abs", "Sign"):
            yield unary(op, dtype)
        for op in ("AddV2", "Mul", "FloorDiv", "Maximum"):
            yield binary(op, dtype)
    for op in ("AddV2", "Sub", "Mul", "RealDiv", "Maximum", "SquaredDifference", "FloorDiv", "FloorMod", "Atan2",
               "DivNoNan"):
        yield binary(op)
    yield binary("Pow", low=0.1, high=3)
    yield binary("Xlogy", low=0.1, high=3)
    for op in ("AddV2", "Mul", "Pow"):
        yield binary(op, "float64", low=0.1, high=3)
    for op in ("AddV2", "Mul", "RealDiv"):
        yield binary(op, "complex64", 100_000)
    yield binary("AddV2", "uint8", low=0, high=100)
    for op, size in (("AddV2", 1000), ("Mul", 1000), ("AddV2", 100_000), ("RealDiv", 100_000)):
        yield binary(op, first=size)
    for op, size in (("Tanh", 1000), ("Exp", 1000), ("Tanh", 100_000), ("Sigmoid", 100_000)):
        yield unary(op, shape=size)
    for dtype in ("float32", "float16", "float64"):
        for second in ([1000], [1000, 1], []):
            yield binary("Mul", dtype, [1000, 1000], second)
    yield binary("AddV2", "float32", [64, 1, 128], [1, 100, 128])
    for op in ("Less", "Equal", "GreaterEqual"):
        yield binary(op)
    yield binary("Less", "int64")
    yield binary("Equal", "uint8")
    yield binary("LogicalAnd", "bool")
    yield unary("LogicalNot", "bool")
    yield binary("BitwiseAnd", "int32")
    yield binary("LeftShift", "int32", low=0, high=8)
    yield binary("RightShift", "int64", low=0, high=8)
    yield binary("BitwiseXor", "uint8")
    yield unary("Invert", "int32")
    yield unary("PopulationCount", "int32")
    yield binary("LogicalOr", "bool")
    yield binary("LessEqual", "float16")
    yield binary("NotEqual", "int32")
    yield binary("TruncateDiv", "int32")
    yield binary("FloorMod", "int32")
    yield binary("MulNoNan")
    yield binary("Minimum", "bfloat16")
    yield binary("Sub", "float16")
    yield unary("Square", "bfloat16")
    yield unary("Rsqrt", "float16", low=0.1, high=5)
    for op in ("Sqrt", "Rsqrt", "Log1p"):
        yield unary(op, "float64", low=0.1, high=5)
    for op in ("Igamma", "Igammac", "Zeta"):
        names = ("x", "q") if op == "Zeta" else ("a", "x")
        yield binary(op, "float32", 10_000, low=1.1, high=5, names=names)
    yield binary("Polygamma", "float32", 10_000, low=1, high=3, names=("a", "x"))
    yield item("Betainc", "10,000", {name: tensor(10_000, low=0.1, high=0.9) for name in "abx"})
    yield unary("ComplexAbs", "complex64")
    yield unary("Conj", "complex64", argument="input")
    yield unary("Real", "complex64", argument="input")
    yield item("Complex", "1,000,000", {"real": tensor(MILLION), "imag": tensor(MILLION)})
    for dtype in ("float32", "int64"):
        yield item("SelectV2", "1,000,000", {"condition": tensor(MILLION, "bool"), "t": tensor(MILLION, dtype),
                                             "e": tensor(MILLION, dtype)}, dtype)
    yield item("AddN", "4 of 1,000,000", {"inputs": [tensor(MILLION) for _ in range(4)]})
    yield item("ClipByValue", "1,000,000", {"t": tensor(MILLION), "clip_value_min": tensor([], low=-1, high=-0.5),
                                            "clip_value_max": tensor([], low=0.5, high=1)})
    for op in ("ReluGrad", "EluGrad", "SoftplusGrad"):
        names = ("gradients", "outputs" if op == "EluGrad" else "features")
        yield binary(op, names=names)
    for op in ("Relu6Grad", "SeluGrad", "LeakyReluGrad", "SoftsignGrad"):
        yield binary(op, names=("gradients", "outputs" if op == "SeluGrad" else "features"))
    for op in ("SigmoidGrad", "TanhGrad", "RsqrtGrad", "SqrtGrad", "ReciprocalGrad"):
        yield binary(op, low=0.1, high=0.9, names=("y", "dy"))


def casts():
    pairs = ("float32 float16, float16 float32, float32 bfloat16, bfloat16 float32, float32 int32, int32 float32, "
             "float32 float64, float64 float32, uint8 float32, int64 int32, int32 int64, float32 bool, float32 uint8, "
             "float32 int64, float32 uint32, float16 int32, bfloat16 float16")
    for pair in pairs.split(", "):
        source, target = pair.split()
        yield item("Cast", "1,000,000", {"x": tensor(MILLION, source, 0, 100)}, source, f"to {target}",
                   DstT={"dtype": target})
    yield item("Bitcast", "1,000,000", {"input": tensor(MILLION)}, note="to int32", type={"dtype": "int32"})


def reductions():
    shape = [1000, 1000]
    for op in ("Sum", "Mean", "Max", "Prod"):
        for axis in ([0, 1], [0], [1]):
            yield item(op, sizes(shape), {"input": tensor(shape), "axis": value(axis)}, note=f"axis {axis}")
    for op, dtype in (("Sum", "float16"), ("Mean", "bfloat16"), ("Sum", "float64"), ("Sum", "int32"), ("Max", "int64"),
                      ("Sum", "complex64"), ("Min", "uint8"), ("EuclideanNorm", "float32")):
        for axis in ([0], [1]):
            yield item(op, sizes(shape), {"input": tensor(shape, dtype), "axis": value(axis)}, dtype, f"axis {axis}")
    yield item("Mean", "32x56x56x64", {"input": tensor([32, 56, 56, 64]), "axis": value([1, 2])}, note="axis 1, 2")
    for op in ("All", "Any"):
        yield item(op, sizes(shape), {"input": tensor(shape, "bool", 1, 2), "axis": value([1])}, "bool")
    for op in ("ArgMax", "ArgMin"):
        for axis in (0, 1):
            yield item(op, sizes(shape), {"input": tensor(shape), "dimension": value(axis)}, note=f"axis {axis}")
    for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp"):
        for axis in (0, 1):
            yield item(op, sizes(shape), {"x": tensor(shape), "axis": value(axis)}, note=f"axis {axis}")
    yield item("Cumsum", sizes(shape), {"x": tensor(shape, "int64"), "axis": value(1)}, "int64", "axis 1")
    for op, dtype in (("Sum", "float32"), ("Max", "float16"), ("Mean", "float64")):
        yield item(op, "100x100x100", {"input": tensor([100, 100, 100], dtype), "axis": value([1])}, dtype, "axis 1")
    yield item("Sum", "100x100x100", {"input": tensor([100, 100, 100]), "axis": value([0, 2])}, note="axis 0, 2")
    yield item("ArgMax", sizes(shape), {"input": tensor(shape, "int32"), "dimension": value(1)}, "int32", "axis 1")


def products():
    for m, k, n in ((64, 64, 64), (256, 256, 256), (512, 512, 512), (1024, 1024, 1024), (2048, 2048, 2048), (1, 1024, 1000),
                    (8, 4096, 1000), (128, 768, 3072), (3136, 64, 256), (49, 512, 2048), (1000, 1000, 1)):
        yield item("MatMul", f"{m}x{k}x{n}", {"a": tensor([m, k]), "b": tensor([k, n])})
    for dtype, n in (("float64", 512), ("float16", 256), ("bfloat16", 512), ("bfloat16", 1024),
                     ("bfloat16", 2048), ("int32", 256), ("complex64", 256)):
        yield item("MatMul", f"{n}x{n}x{n}", {"a": tensor([n, n], dtype), "b": tensor([n, n], dtype)}, dtype)
    yield item("MatMul", "32x1024x1024", {"a": tensor([32, 1024], "bfloat16"), "b": tensor([1024, 1024], "bfloat16")},
               "bfloat16")
    yield item("MatMul", "256x256x256", {"a": tensor([256, 256]), "b": tensor([256, 256])}, note="transposed",
               transpose_a=True, transpose_b=True)
    for left, right in (("int8", "int8"), ("uint8", "int8")):
        yield item("BatchMatMulV3", f"512x512x512 by {right}", {"x": tensor([512, 512], left), "y": tensor([512, 512], right)},
                   left, Tout={"dtype": "int32"})
    yield item("BatchMatMulV2", "12x128x64x128", {"x": tensor([12, 128, 64]), "y": tensor([12, 64, 128])})
    yield item("BatchMatMulV2", "12x128x64x128", {"x": tensor([12, 128, 64]), "y": tensor([12, 128, 64])},
               note="second transposed", adj_y=True)
    yield item("BatchMatMulV2", "100x16x16x16", {"x": tensor([100, 16, 16]), "y": tensor([100, 16, 16])}, "float64")
    yield item("Einsum", "8x64x64", {"inputs": [tensor([8, 64, 64]), tensor([8, 64, 64])]}, equation="bij,bkj->bik")
    yield item("Cross", "100000x3", {"a": tensor([100_000, 3]), "b": tensor([100_000, 3])})


def linear_algebra():
    yield item("Cholesky", "64x32x32", {"input": {**tensor([64, 32, 32]), "definite": True}})
    yield item("MatrixInverse", "64x32x32", {"input": {**tensor([64, 32, 32]), "definite": True}})
    yield item("MatrixSolve", "200x200", {"matrix": {**tensor([200, 200]), "definite": True},
                                          "rhs": tensor([200, 10])})
    yield item("MatrixTriangularSolve", "200x200", {"matrix": {**tensor([200, 200]), "definite": True},
                                                    "rhs": tensor([200, 100])})
    yield item("MatrixDeterminant", "64x32x32", {"input": {**tensor([64, 32, 32]), "definite": True}})
    yield item("Qr", "16x32x32", {"input": tensor([16, 32, 32])})
    yield item("SelfAdjointEigV2", "8x32x32", {"input": {**tensor([8, 32, 32]), "definite": True}})
    yield item("FFT2D", "8x128x128", {"input": tensor([8, 128, 128], "complex64")}, "complex64")
    yield item("IRFFT", "64x513", {"input": tensor([64, 513], "complex64"), "fft_length": value([1024])}, "complex64")
    yield item("Lu", "16x64x64", {"input": {**tensor([16, 64, 64]), "definite": True}})
    yield item("Svd", "8x32x32", {"input": tensor([8, 32, 32])})
    yield item("Cholesky", "256x256", {"input": {**tensor([256, 256]), "definite": True}})
    yield item("MatrixBandPart", "1000x1000", {"input": tensor([1000, 1000]), "num_lower": value(5, "int64"),
                                               "num_upper": value(5, "int64")})


def convolutions():
    for shape, kernel, stride in (([1, 224, 224, 3], [7, 7, 3, 64], 2), ([1, 56, 56, 64], [3, 3, 64, 64], 1),
                                  ([1, 56, 56, 64], [1, 1, 64, 256], 1), ([8, 14, 14, 256], [3, 3, 256, 256], 1),
                                  ([1, 28, 28, 128], [3, 3, 4, 128], 1), ([1, 7, 7, 512], [1, 1, 512, 2048], 1)):
        strides = {"strides": [1, stride, stride, 1], "padding": "SAME"}
        name = f"{sizes(shape)} by {sizes(kernel)} /{stride}"
        yield item("Conv2D", name, {"input": tensor(shape), "filter": tensor(kernel)}, note="variable", **strides)
    strides = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    kernel = [3, 3, 64, 64]
    yield item("Conv2D", "1x56x56x64 by 3x3x64x64 /1",
               {"input": tensor([1, 56, 56, 64], "float16"), "filter": tensor(kernel, "float16")}, "float16", **strides)
    yield item("Conv2DBackpropInput", "8x28x28x64 by 3x3x64x64",
               {"input_sizes": value([8, 28, 28, 64]), "filter": tensor(kernel),
                "out_backprop": tensor([8, 28, 28, 64])}, **strides)
    yield item("Conv2DBackpropFilter", "8x28x28x64 by 3x3x64x64",
               {"input": tensor([8, 28, 28, 64]), "filter_sizes": value(kernel),
                "out_backprop": tensor([8, 28, 28, 64])}, **strides)
    for stride in (1, 2):
        yield item("DepthwiseConv2dNative", f"1x112x112x64 by 3x3 /{stride}",
                   {"input": tensor([1, 112, 112, 64]), "filter": tensor([3, 3, 64, 1])},
                   strides=[1, stride, stride, 1], padding="SAME")
    yield item("DepthwiseConv2dNative", "32x14x14x256 by 5x5 /1",
               {"input": tensor([32, 14, 14, 256]), "filter": tensor([5, 5, 256, 1])}, **strides)
    yield item("DepthwiseConv2dNativeBackpropInput", "8x28x28x64 by 3x3",
               {"input_sizes": value([8, 28, 28, 64]), "filter": tensor([3, 3, 64, 1]),
                "out_backprop": tensor([8, 28, 28, 64])}, **strides)
    yield item("DepthwiseConv2dNativeBackpropFilter", "8x28x28x64 by 3x3",
               {"input": tensor([8, 28, 28, 64]), "filter_sizes": value([3, 3, 64, 1]),
                "out_backprop": tensor([8, 28, 28, 64])}, **strides)
    yield item("Conv3D", "1x16x28x28x16 by 3x3x3x16x16",
               {"input": tensor([1, 16, 28, 28, 16]), "filter": tensor([3, 3, 3, 16, 16])},
               strides=[1, 1, 1, 1, 1], padding="SAME")
    volume, cube = [1, 16, 28, 28, 16], [3, 3, 3, 16, 16]
    ones = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
    for stride in (1, 2):
        moves = {"strides": [1, stride, stride, stride, 1], "padding": "SAME"}
        back = [1, 16 // stride, 28 // stride, 28 // stride, 16]
        yield item("Conv3DBackpropInputV2", f"1x16x28x28x16 by 3x3x3x16x16 /{stride}",
                   {"input_sizes": value(volume), "filter": tensor(cube), "out_backprop": tensor(back)}, **moves)
        yield item("Conv3DBackpropFilterV2", f"1x16x28x28x16 by 3x3x3x16x16 /{stride}",
                   {"input": tensor(volume), "filter_sizes": value(cube), "out_backprop": tensor(back)}, **moves)
    windows = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "SAME"}
    half = [1, 8, 14, 14, 16]
    for op in ("MaxPool3D", "AvgPool3D"):
        yield item(op, "1x16x28x28x16 by 2x2x2", {"input": tensor(volume)}, **windows)
    for op, back in (("MaxPool3DGrad", half), ("MaxPool3DGradGrad", volume)):
        yield item(op, "1x16x28x28x16 by 2x2x2", {"orig_input": tensor(volume), "orig_output": tensor(half), "grad": tensor(back)},
                   **windows)
    yield item("AvgPool3DGrad", "1x16x28x28x16 by 2x2x2", {"orig_input_shape": value(volume), "grad": tensor(half)}, **windows)
    yield item("ExtractVolumePatches", "1x16x28x28x16 by 3x3x3", {"input": tensor(volume)}, ksizes=[1, 3, 3, 3, 1], **ones)
    yield item("Dilation2D", "1x56x56x32 by 3x3", {"input": tensor([1, 56, 56, 32]), "filter": tensor([3, 3, 32])},
               strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME")
    for side in ("Input", "Filter"):
        yield item(f"Dilation2DBackprop{side}", "1x56x56x32 by 3x3",
                   {"input": tensor([1, 56, 56, 32]), "filter": tensor([3, 3, 32]),
                    "out_backprop": tensor([1, 56, 56, 32])},
                   strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME")
    yield item("Conv2D", "1x56x56x64 by 3x3x64x64 dilated", {"input": tensor([1, 56, 56, 64]), "filter": tensor(kernel)},
               dilations=[1, 2, 2, 1], **strides)
    yield item("Conv2D", "4x14x14x256 by 3x3x8x256",
               {"input": tensor([4, 14, 14, 256]), "filter": tensor([3, 3, 8, 256])}, **strides)
    yield item("Conv2D", "1x56x56x64 by 3x3x64x64 /1",
               {"input": tensor([1, 56, 56, 64], "bfloat16"), "filter": tensor(kernel, "bfloat16")}, "bfloat16", **strides)
    yield item("Conv2D", "1x28x28x32 by 3x3x32x32 /1",
               {"input": tensor([1, 28, 28, 32], "float64"), "filter": tensor([3, 3, 32, 32], "float64")}, "float64",
               **strides)
    yield item("DepthwiseConv2dNative", "1x56x56x64 by 3x3x64x2 /1",
               {"input": tensor([1, 56, 56, 64]), "filter": tensor([3, 3, 64, 2])}, **strides)
    volume = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
    yield item("Conv3DBackpropInputV2", "1x8x28x28x16 by 3x3x3x16x16",
               {"input_sizes": value([1, 8, 28, 28, 16]), "filter": tensor([3, 3, 3, 16, 16]),
                "out_backprop": tensor([1, 8, 28, 28, 16])}, **volume)
    yield item("Conv3DBackpropFilterV2", "1x8x28x28x16 by 3x3x3x16x16",
               {"input": tensor([1, 8, 28, 28, 16]), "filter_sizes": value([3, 3, 3, 16, 16]),
                "out_backprop": tensor([1, 8, 28, 28, 16])}, **volume)


def pooling():
    for op, argument in (("MaxPool", "input"), ("AvgPool", "value")):
        for shape, size, stride in (([1, 112, 112, 64], 3, 2), ([8, 56, 56, 64], 2, 2), ([1, 35, 35, 192], 3, 1)):
            yield item(op, f"{sizes(shape)} by {size} /{stride}", {argument: tensor(shape)},
                       ksize=[1, size, size, 1], strides=[1, stride, stride, 1], padding="SAME")
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    yield item("MaxPoolGrad", "8x56x56x64 by 2 /2",
               {"orig_input": tensor([8, 56, 56, 64]), "orig_output": tensor([8, 28, 28, 64]),
                "grad": tensor([8, 28, 28, 64])}, **window)
    yield item("AvgPoolGrad", "8x56x56x64 by 2 /2",
               {"orig_input_shape": value([8, 56, 56, 64]), "grad": tensor([8, 28, 28, 64])}, **window)
    yield item("MaxPool3D", "1x16x56x56x16 by 2 /2", {"input": tensor([1, 16, 56, 56, 16])},
               ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME")
    yield item("MaxPoolWithArgmax", "8x56x56x64 by 2 /2", {"input": tensor([8, 56, 56, 64])}, **window)
    for op, argument, dtype in (("MaxPool", "input", "float16"), ("AvgPool", "value", "bfloat16"),
                                ("MaxPool", "input", "float64")):
        yield item(op, "8x56x56x64 by 2 /2", {argument: tensor([8, 56, 56, 64], dtype)}, dtype, **window)
    yield item("AvgPool3D", "1x16x56x56x16 by 2 /2", {"input": tensor([1, 16, 56, 56, 16])},
               ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME")


def normalisation():
    shape = [32, 28, 28, 64]
    channels = {name: tensor(64, low=0.5, high=1) for name in ("scale", "offset", "mean", "variance")}
    for training in (True, False):
        yield item("FusedBatchNormV3", sizes(shape), {"x": tensor(shape), **channels}, note=f"training {training}",
                   is_training=training)
    yield item("FusedBatchNormGradV3", sizes(shape),
               {"y_backprop": tensor(shape), "x": tensor(shape), "scale": tensor(64),
                **{f"reserve_space_{i}": tensor(64, low=0.5, high=1) for i in (1, 2, 3)}})
    yield item("LRN", "8x28x28x64", {"input": tensor([8, 28, 28, 64])})
    yield item("LRNGrad", "8x28x28x64",
               {name: tensor([8, 28, 28, 64]) for name in ("input_grads", "input_image", "output_image")})
    yield item("L2Loss", "1,000,000", {"t": tensor(MILLION)})
    for dtype in ("float32", "float16"):
        yield item("BiasAdd", sizes(shape), {"value": tensor(shape, dtype), "bias": tensor(64, dtype)}, dtype)
    yield item("BiasAddGrad", sizes(shape), {"out_backprop": tensor(shape)})
    for rows, columns in ((1, 1000), (1000, 1000), (10_000, 10), (1536, 128)):
        yield item("Softmax", f"{rows}x{columns}", {"logits": tensor([rows, columns], "float32", -5, 5)})
    for dtype in ("float16", "bfloat16", "float64"):
        yield item("Softmax", "1000x1000", {"logits": tensor([1000, 1000], dtype, -5, 5)}, dtype)
    for dtype in ("float32", "float16"):
        yield item("LogSoftmax", "1000x1000", {"logits": tensor([1000, 1000], dtype, -5, 5)}, dtype)
    yield item("SoftmaxCrossEntropyWithLogits", "1000x1000",
               {"features": tensor([1000, 1000]), "labels": tensor([1000, 1000], low=0, high=1)})
    yield item("SparseSoftmaxCrossEntropyWithLogits", "1000x1000",
               {"features": tensor([1000, 1000]), "labels": tensor(1000, "int64", 0, 1000)})
    yield item("BiasAdd", "8x64x56x56", {"value": tensor([8, 64, 56, 56]), "bias": tensor(64)}, data_format="NCHW")
    yield item("SoftmaxCrossEntropyWithLogits", "10000x10",
               {"features": tensor([10_000, 10]), "labels": tensor([10_000, 10], low=0, high=1)})


def arrays():
    for shape, order, dtype in (([4096, 4096], [1, 0], "float32"), ([1000, 1000], [1, 0], "float16"),
                                ([1000, 1000], [1, 0], "float64"), ([32, 128, 12, 64], [0, 2, 1, 3], "float32"),
                                ([8, 56, 56, 64], [0, 3, 1, 2], "float32"), ([8, 64, 56, 56], [0, 2, 3, 1], "float32"),
                                ([100, 100, 100], [2, 1, 0], "uint8"), ([500, 500], [1, 0], "complex64"),
                                ([16, 16, 16, 16, 16], [4, 2, 0, 3, 1], "int32")):
        yield item("Transpose", sizes(shape), {"x": tensor(shape, dtype), "perm": value(order)}, dtype, f"to {order}")
    for dtype in ("float32", "uint8"):
        yield item("GatherV2", "10000 rows of 128", {"params": tensor([50_000, 128], dtype), "indices":
                   tensor(10_000, "int32", 0, 50_000), "axis": value(0)}, dtype)
    yield item("GatherV2", "500 columns of 1000x1000", {"params": tensor([1000, 1000]), "indices":
               tensor(500, "int64", 0, 1000), "axis": value(1)})
    yield item("GatherV2", "100,000 elements", {"params": tensor(MILLION), "indices":
               tensor(100_000, "int32", 0, MILLION), "axis": value(0)})
    yield item("GatherNd", "100,000 of 1000x1000",
               {"params": tensor([1000, 1000]), "indices": tensor([100_000, 2], "int32", 0, 1000)})
    for axis in (0, 1):
        yield item("ConcatV2", "4 of 500x500", {"values": [tensor([500, 500]) for _ in range(4)], "axis": value(axis)},
                   note=f"axis {axis}")
        yield item("Split", "1000x1000 in 4", {"axis": value(axis), "value": tensor([1000, 1000])}, note=f"axis {axis}",
                   num_split=4)
        yield item("Pack", "4 of 500x500", {"values": [tensor([500, 500]) for _ in range(4)]}, note=f"axis {axis}",
                   axis=axis)
        yield item("Unpack", "4x500x500" if axis == 0 else "500x4x500",
                   {"value": tensor([4, 500, 500] if axis == 0 else [500, 4, 500])}, note=f"axis {axis}", num=4,
                   axis=axis)
        yield item("ReverseV2", "1000x1000", {"tensor": tensor([1000, 1000]), "axis": value([axis])},
                   note=f"axis {axis}")
        yield item("Roll", "1000x1000", {"input": tensor([1000, 1000]), "shift": value([3]), "axis": value([axis])},
                   note=f"axis {axis}")
    yield item("Slice", "500x500 of 1000x1000", {"input": tensor([1000, 1000]), "begin": value([100, 100]),
                                                 "size": value([500, 500])})
    yield item("StridedSlice", "every second of 1000x1000",
               {"input": tensor([1000, 1000]), "begin": value([0, 0]), "end": value([1000, 1000]),
                "strides": value([2, 2])})
    yield item("PadV2", "8x56x56x64 by 1", {"input": tensor([8, 56, 56, 64]), "paddings":
               value([[0, 0], [1, 1], [1, 1], [0, 0]]), "constant_values": value(0.0, "float32")})
    yield item("MirrorPad", "8x56x56x64 by 1", {"input": tensor([8, 56, 56, 64]), "paddings":
               value([[0, 0], [1, 1], [1, 1], [0, 0]])}, mode="REFLECT")
    yield item("Tile", "100x100 by 10x10", {"input": tensor([100, 100]), "multiples": value([10, 10])})
    yield item("BroadcastTo", "1000 to 1000x1000", {"input": tensor(1000), "shape": value([1000, 1000])})
    yield item("OneHot", "10,000 of 100", {"indices": tensor(10_000, "int32", 0, 100), "depth": value(100),
               "on_value": value(1.0, "float32"), "off_value": value(0.0, "float32")})
    yield item("Fill", "1,000,000", {"dims": {**value([MILLION]), "constant": False}, "value": tensor([])})
    yield item("Range", "1,000,000", {"start": tensor([], "int32", 0, 1), "delta": tensor([], "int32", 1, 2),
                                      "limit": tensor([], "int32", MILLION, MILLION + 1)}, "int32")
    yield item("Where", "1,000,000", {"condition": tensor(MILLION, "bool")}, "bool")
    for op in ("SpaceToDepth", "DepthToSpace"):
        yield item(op, "8x56x56x64", {"input": tensor([8, 56, 56, 64])}, block_size=2)
    yield item("SpaceToBatchND", "8x56x56x64", {"input": tensor([8, 56, 56, 64]), "block_shape": value([2, 2]),
                                                "paddings": value([[0, 0], [0, 0]])})
    yield item("BatchToSpaceND", "8x56x56x64", {"input": tensor([8, 56, 56, 64]), "block_shape": value([2, 2]),
                                                "crops": value([[0, 0], [0, 0]])})
    yield item("MatrixDiagPartV3", "100x100x100", {"input": tensor([100, 100, 100]), "k": value(0),
                                                   "padding_value": value(0.0, "float32")})
    yield item("MatrixSetDiagV3", "100x100x100", {"input": tensor([100, 100, 100]), "diagonal": tensor([100, 100]),
                                                  "k": value(0)})
    yield item("StridedSliceGrad", "every second of 1000x1000",
               {"shape": value([1000, 1000]), "begin": value([0, 0]), "end": value([1000, 1000]),
                "strides": value([2, 2]), "dy": tensor([500, 500])})
    yield item("LinSpace", "1,000,000", {"start": tensor([]), "stop": tensor([], low=2, high=3), "num": value(MILLION)})
    yield item("TensorScatterMax", "10,000 rows of 64", {"tensor": tensor([10_000, 64]), "indices":
               tensor([10_000, 1], "int32", 0, 10_000), "updates": tensor([10_000, 64])})
    yield item("ScatterNd", "100,000 of 1,000,000", {"indices": tensor([100_000, 1], "int32", 0, MILLION),
               "updates": tensor(100_000), "shape": value([MILLION])})
    yield item("GatherNd", "10,000 rows of 64", {"params": tensor([1000, 64]), "indices":
               tensor([10_000, 1], "int32", 0, 1000)})
    yield item("GatherV2", "100,000 elements", {"params": tensor(MILLION, "int64"), "indices":
               tensor(100_000, "int64", 0, MILLION), "axis": value(0)}, "int64")
    yield item("DynamicPartition", "10,000 rows of 64 in 8", {"data": tensor([10_000, 64]), "partitions":
               tensor(10_000, "int32", 0, 8)}, num_partitions=8)
    yield item("DynamicStitch", "2 of 10,000 rows of 64",
               {"indices": [{**tensor(10_000, "int32"), "permutation": True} for _ in range(2)],
                "data": [tensor([10_000, 64]) for _ in range(2)]})
    yield item("MatrixDiagV3", "1000", {"diagonal": tensor(1000), "k": value(0), "num_rows": value(-1),
               "num_cols": value(-1), "padding_value": value(0.0, "float32")})
    yield item("InvertPermutation", "1,000,000", {"x": {**tensor(MILLION, "int32"), "permutation": True}}, "int32")
    yield item("ScatterNd", "10,000 rows of 64", {"indices": tensor([10_000, 1], "int32", 0, 10_000),
               "updates": tensor([10_000, 64]), "shape": value([10_000, 64])})
    yield item("TensorScatterUpdate", "1000 rows of 64", {"tensor": tensor([10_000, 64]), "indices":
               tensor([1000, 1], "int32", 0, 10_000), "updates": tensor([1000, 64])})
    yield item("TensorScatterAdd", "10,000 rows of 64", {"tensor": tensor([10_000, 64]), "indices":
               tensor([10_000, 1], "int32", 0, 10_000), "updates": tensor([10_000, 64])})
    yield item("ReverseSequence", "64x100x64", {"input": tensor([64, 100, 64]), "seq_lengths":
               tensor(64, "int64", 1, 100)}, seq_dim=1, batch_dim=0)
    yield item("ExtractImagePatches", "1x56x56x32 by 3x3", {"images": tensor([1, 56, 56, 32])}, ksizes=[1, 3, 3, 1],
               strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME")


def search():
    for dtype in ("int32", "int64", "float32"):
        yield item("Unique", "1,000,000", {"x": tensor(MILLION, dtype, 0, 100_000)}, dtype)
    yield item("UniqueWithCounts", "100,000", {"x": tensor(100_000, "int64", 0, 1000)}, "int64")
    yield item("Unique", "100,000", {"x": tensor(100_000, "string", words=10_000)}, "string")
    for k in (1, 10, 500):
        yield item("TopKV2", "1000x1000", {"input": tensor([1000, 1000]), "k": value(k)}, note=f"k {k}")
    yield item("UpperBound", "100x1000", {"sorted_inputs": tensor([100, 1000], sorted=True),
                                          "values": tensor([100, 1000])})
    yield item("Bucketize", "1,000,000 in 5", {"input": tensor(MILLION)}, boundaries=[-0.5, -0.1, 0.1, 0.5])
    yield item("HistogramFixedWidth", "1,000,000", {"values": tensor(MILLION), "value_range":
               value([-1.0, 1.0], "float32"), "nbins": value(100)})
    yield item("TopKV2", "1000x1000", {"input": tensor([1000, 1000], "int32"), "k": value(10)}, "int32", "k 10")
    yield item("InTopKV2", "1000x1000", {"predictions": tensor([1000, 1000]), "targets": tensor(1000, "int32", 0, 1000),
                                         "k": value(5)})
    yield item("Bincount", "1,000,000", {"arr": tensor(MILLION, "int32", 0, 1000), "size": value(1000),
               "weights": value([], "float32")}, "int32")
    yield item("DenseBincount", "1,000,000", {"input": tensor(MILLION, "int32", 0, 1000), "size": value(1000),
               "weights": value([], "float32")}, "int32")
    yield item("NonMaxSuppressionV3", "1000 boxes",
               {"boxes": tensor([1000, 4], "float32", 0, 1), "scores": tensor(1000, "float32", 0, 1),
                "max_output_size": value(100), "iou_threshold": value(0.5, "float32"),
                "score_threshold": value(0.1, "float32")})
    yield item("ListDiff", "100,000", {"x": tensor(100_000, "int32", 0, 200_000),
                                       "y": tensor(10_000, "int32", 0, 200_000)}, "int32")
    for dtype in ("int64", "string"):
        keys = tensor(10_000, dtype, 0, 100_000, words=10_000)
        yield item("LookupTableFindV2", "100,000 of 10,000", {"keys": {**keys, "shape": [100_000]},
                   "default_value": value(-1, "int64")}, dtype) | {"table": {**keys, "distinct": True}, "init": True}


def segments():
    rows, ids = tensor([10_000, 64]), tensor(10_000, "int32", 0, 1000)
    yield item("SegmentSum", "10,000 rows of 64", {"data": rows, "segment_ids": {**ids, "sorted": True}})
    yield item("SegmentMax", "10,000 rows of 64", {"data": rows, "segment_ids": {**ids, "sorted": True}})
    for op in ("UnsortedSegmentSum", "UnsortedSegmentMax"):
        yield item(op, "10,000 rows of 64", {"data": rows, "segment_ids": ids, "num_segments": value(1000)})
    yield item("SparseSegmentMean", "10,000 rows of 64", {"data": tensor([5000, 64]), "indices":
               tensor(10_000, "int32", 0, 5000), "segment_ids": {**ids, "sorted": True}})
    places = {**tensor([50_000, 2], "int64", 0, 1000), "sorted": True, "distinct": True}
    yield item("SparseTensorDenseMatMul", "50,000 of 1000x1000 by 1000x64",
               {"a_indices": places, "a_values": tensor(50_000), "a_shape": value([1000, 1000], "int64"),
                "b": tensor([1000, 64])})
    yield item("SparseReorder", "50,000", {"input_indices": {**places, "sorted": False}, "input_values": tensor(50_000),
                                           "input_shape": value([1000, 1000], "int64")})
    yield item("SparseToDense", "50,000 of 1000x1000", {"sparse_indices": places, "output_shape":
               value([1000, 1000], "int64"), "sparse_values": tensor(50_000), "default_value": value(0.0, "float32")})
    yield item("SparseReduceSum", "50,000 of 1000x1000", {"input_indices": places, "input_values": tensor(50_000),
               "input_shape": value([1000, 1000], "int64"), "reduction_axes": value([1])})
    whole = value([1000, 1000], "int64")
    yield item("SparseAdd", "50,000 of 1000x1000",
               {"a_indices": places, "a_values": tensor(50_000), "a_shape": whole, "b_indices": places,
                "b_values": tensor(50_000), "b_shape": whole, "thresh": value(0.0, "float32")})
    yield item("SparseSoftmax", "50,000 of 1000x1000",
               {"sp_indices": places, "sp_values": tensor(50_000), "sp_shape": whole})
    yield item("SparseDenseCwiseMul", "50,000 of 1000x1000",
               {"sp_indices": places, "sp_values": tensor(50_000), "sp_shape": whole, "dense": tensor([1000, 1000])})
    yield item("SparseSlice", "50,000 of 1000x1000", {"indices": places, "values": tensor(50_000), "shape": whole,
               "start": value([100, 100], "int64"), "size": value([500, 500], "int64")})
    yield item("SparseFillEmptyRows", "50,000 of 1000x1000", {"indices": places, "values": tensor(50_000),
               "dense_shape": whole, "default_value": value(0.0, "float32")})
    for op in ("SparseSegmentSum", "SparseSegmentSqrtN"):
        yield item(op, "10,000 rows of 64", {"data": tensor([5000, 64]), "indices": tensor(10_000, "int32", 0, 5000),
                                             "segment_ids": {**ids, "sorted": True}})
    yield item("SegmentMean", "10,000 rows of 64", {"data": rows, "segment_ids": {**ids, "sorted": True}})
    yield item("UnsortedSegmentSum", "1,000,000 in 1000", {"data": tensor(MILLION), "segment_ids":
               tensor(MILLION, "int32", 0, 1000), "num_segments": value(1000)})


def random():
    shape = {"shape": {**value([MILLION]), "constant": False}}
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        yield item(op, "1,000,000", shape, dtype={"dtype": "float32"}, seed=1)
    yield item("RandomUniformInt", "1,000,000", {**shape, "minval": value(0), "maxval": value(100)}, "int32", seed=1)
    yield item("RandomShuffle", "100,000", {"value": tensor(100_000)}, seed=1)
    yield item("RandomShuffle", "10,000 rows of 64", {"value": tensor([10_000, 64])}, seed=1)
    yield item("Multinomial", "100 of 100x1000", {"logits": tensor([100, 1000]), "num_samples": value(100)}, seed=1)
    yield item("RandomGamma", "100,000", {"shape": {**value([100]), "constant": False}, "alpha":
               tensor(1000, "float32", 0.5, 3)}, seed=1)
    seed = {"key": value([1], "uint64"), "counter": value([1, 2], "uint64"), "alg": value(1)}
    for op in ("StatelessRandomUniformV2", "StatelessRandomNormalV2"):
        yield item(op, "1,000,000", {**shape, **seed}, dtype={"dtype": "float32"})
    yield item("StatelessTruncatedNormalV2", "1,000,000", {**shape, **seed}, dtype={"dtype": "float32"})
    yield item("StatelessRandomUniformIntV2", "1,000,000", {**shape, **seed, "minval": value(0), "maxval": value(100)},
               "int32")
    for dtype in ("float16", "float64"):
        yield item("RandomUniform", "1,000,000", shape, dtype, dtype={"dtype": dtype}, seed=1)
    yield item("RandomPoissonV2", "100 of 1000", {"shape": {**value([100]), "constant": False}, "rate":
               tensor(1000, "float32", 0.5, 20)}, seed=1)


def images():
    for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea"):
        yield item(op, "8x128x128x3 to 224x224", {"images": tensor([8, 128, 128, 3]), "size": value([224, 224])})
    yield item("ResizeBilinear", "1x56x56x64 to 112x112", {"images": tensor([1, 56, 56, 64]),
                                                           "size": value([112, 112])})
    yield item("CropAndResize", "64 of 8x128x128x3", {"image": tensor([8, 128, 128, 3]), "boxes":
               tensor([64, 4], "float32", 0, 1), "box_ind": tensor(64, "int32", 0, 8), "crop_size": value([64, 64])})
    for op in ("RGBToHSV", "HSVToRGB"):
        yield item(op, "256x256x3", {"images": tensor([256, 256, 3], "float32", 0, 1)})
    yield item("AdjustContrastv2", "8x128x128x3", {"images": tensor([8, 128, 128, 3]), "contrast_factor":
               tensor([], "float32", 1, 2)})
    yield item("AdjustSaturation", "8x128x128x3", {"images": tensor([8, 128, 128, 3], "float32", 0, 1), "scale":
               tensor([], "float32", 1, 2)})
    yield item("AdjustHue", "8x128x128x3", {"images": tensor([8, 128, 128, 3], "float32", 0, 1), "delta":
               tensor([], "float32", 0.1, 0.2)})
    yield item("ResizeBilinear", "8x128x128x3 to 224x224", {"images": tensor([8, 128, 128, 3], "uint8"),
                                                            "size": value([224, 224])}, "uint8")
    yield item("ResizeBilinearGrad", "8x224x224x3 to 128x128", {"grads": tensor([8, 224, 224, 3]),
                                                                "original_image": tensor([8, 128, 128, 3])})
    yield item("ResizeNearestNeighborGrad", "8x224x224x3 to 128x128", {"grads": tensor([8, 224, 224, 3]),
                                                                       "size": value([128, 128])})
    yield item("ImageProjectiveTransformV3", "8x128x128x3",
               {"images": tensor([8, 128, 128, 3]), "transforms": value([[0.9, 0.1, 2, -0.1, 0.9, 3, 0, 0]], "float32"),
                "output_shape": value([128, 128]), "fill_value": value(0.0, "float32")}, interpolation="BILINEAR")
    yield item("DrawBoundingBoxes", "8x128x128x3", {"images": tensor([8, 128, 128, 3]), "boxes":
               tensor([8, 10, 4], "float32", 0, 1)})
    crops = {"grads": tensor([64, 64, 64, 3]), "boxes": tensor([64, 4], "float32", 0, 1), "box_ind": tensor(64, "int32", 0, 8)}
    yield item("CropAndResizeGradImage", "64 of 8x128x128x3", {"grads": crops["grads"], "boxes": crops["boxes"],
               "box_ind": crops["box_ind"], "image_size": value([8, 128, 128, 3])}, T={"dtype": "float32"})
    yield item("CropAndResizeGradBoxes", "64 of 8x128x128x3", {"grads": crops["grads"], "image": tensor([8, 128, 128, 3]),
               "boxes": crops["boxes"], "box_ind": crops["box_ind"]})
    yield item("CropAndResize", "100 of 1x50x50x256", {"image": tensor([1, 50, 50, 256]), "boxes":
               tensor([100, 4], "float32", 0, 1), "box_ind": value([0] * 100), "crop_size": value([14, 14])})
    yield item("ResizeBicubicGrad", "8x224x224x3 to 128x128", {"grads": tensor([8, 224, 224, 3]),
                                                               "original_image": tensor([8, 128, 128, 3])})
    yield item("ResizeArea", "8x224x224x3 to 100x100", {"images": tensor([8, 224, 224, 3], "uint8"), "size": value([100, 100])},
               "uint8")
    for dtype in ("float32", "uint8"):
        move = {"scale": value([0.5, 0.6], "float32"), "translation": value([1.0, -2.0], "float32")}
        yield item("ScaleAndTranslate", "8x224x224x3 to 128x128", {"images": tensor([8, 224, 224, 3], dtype), "size":
                   value([128, 128]), **move}, dtype)
    yield item("ScaleAndTranslateGrad", "8x128x128x3 to 224x224", {"grads": tensor([8, 128, 128, 3]), "original_image":
               tensor([8, 224, 224, 3]), **move})
    for dtype in ("uint8", "float16"):
        yield item("ImageProjectiveTransformV3", "8x128x128x3",
                   {"images": tensor([8, 128, 128, 3], dtype), "transforms": value([[0.9, 0.1, 2, -0.1, 0.9, 3, 0, 0]], "float32"),
                    "output_shape": value([128, 128]), "fill_value": value(0.0, "float32")}, dtype, interpolation="NEAREST")
    for dtype in ("float16", "float64"):
        yield item("RGBToHSV", "256x256x3", {"images": tensor([256, 256, 3], dtype, 0, 1)}, dtype)
    yield item("ExtractGlimpse", "8x128x128x3", {"input": tensor([8, 128, 128, 3]), "size": value([64, 64]), "offsets":
               tensor([8, 2], "float32", -0.3, 0.3)})
    yield item("SampleDistortedBoundingBoxV2", "1 box", {"image_size": value([224, 224, 3]), "bounding_boxes":
               tensor([1, 1, 4], "float32", 0, 0), "min_object_covered": value(0.1, "float32")}, "int32", seed=1)


def detection():
    boxes = {"boxes": tensor([1000, 4], "float32", 0, 1), "scores": tensor(1000, "float32", 0, 1), "max_output_size": value(100)}
    limits = {"iou_threshold": value(0.5, "float32"), "score_threshold": value(0.1, "float32")}
    yield item("NonMaxSuppression", "1000 boxes", boxes, iou_threshold=0.5)
    yield item("NonMaxSuppressionV2", "1000 boxes", {**boxes, "iou_threshold": limits["iou_threshold"]})
    yield item("NonMaxSuppressionV4", "1000 boxes", {**boxes, **limits})
    for sigma in (0.0, 0.5):
        yield item("NonMaxSuppressionV5", "1000 boxes", {**boxes, **limits, "soft_nms_sigma": value(sigma, "float32")},
                   note=f"sigma {sigma}")
    yield item("NonMaxSuppressionV3", "1000 boxes", {"boxes": tensor([1000, 4], "float16", 0, 1), "scores":
               tensor(1000, "float16", 0, 1), "max_output_size": value(100), **limits}, "float16")
    yield item("NonMaxSuppressionWithOverlaps", "1000 boxes", {"overlaps": tensor([1000, 1000], "float32", 0, 1), "scores":
               tensor(1000, "float32", 0, 1), "max_output_size": value(100), "overlap_threshold": value(0.9, "float32"),
               "score_threshold": value(0.1, "float32")})
    # A head of SSD, with scores as they come from an image, and one of a few classes.
    for count, classes, limit in ((1917, 90, 0.9), (300, 5, 0.3)):
        yield item("CombinedNonMaxSuppression", f"{count} boxes of {classes} classes",
                   {"boxes": tensor([1, count, 1, 4], "float32", 0, 1), "scores": tensor([1, count, classes], "float32", 0, 1),
                    "max_output_size_per_class": value(100), "max_total_size": value(100), "iou_threshold":
                    value(0.6, "float32"), "score_threshold": value(limit, "float32")})


def strings():
    words = tensor(100_000, "string", words=50_000)
    for op in ("StringLength", "StringLower", "StringStrip"):
        yield item(op, "100,000", {"input": words}, "string")
    yield item("StringJoin", "2 of 100,000", {"inputs": [words, words]}, "string", separator=" ")
    for op in ("StringToHashBucketFast", "StringToHashBucketStrong"):
        attrs = {"key": [1, 2]} if op.endswith("Strong") else {}
        yield item(op, "100,000", {"input": words}, "string", num_buckets=1000, **attrs)
    yield item("Substr", "100,000", {"input": words, "pos": value(1), "len": value(3)}, "string")
    yield item("GatherV2", "100,000 elements", {"params": words, "indices": tensor(100_000, "int32", 0, 100_000),
                                                "axis": value(0)}, "string")
    yield item("RegexReplace", "10,000", {"input": tensor(10_000, "string", words=5000), "pattern":
               value("[0-4]+", "string"), "rewrite": value("_", "string")}, "string")
    yield item("StringSplitV2", "10,000", {"input": tensor(10_000, "string", words=5000), "sep": value("1", "string")},
               "string")
    yield item("Equal", "100,000", {"x": words, "y": words}, "string")
    yield item("AsString", "100,000", {"input": tensor(100_000, "int64", 0, MILLION)}, "int64")
    yield item("AsString", "100,000", {"input": tensor(100_000)})
    yield item("StringToNumber", "100,000", {"string_tensor": {**words, "digits": True}}, "string")
    yield item("EncodeBase64", "100,000", {"input": words}, "string")
    yield item("StringUpper", "100,000", {"input": words}, "string")
    yield item("RegexFullMatch", "10,000", {"input": tensor(10_000, "string", words=5000), "pattern":
               value("Word [0-4]+", "string")}, "string")
    yield item("ReduceJoin", "1000x100", {"inputs": tensor([1000, 100], "string", words=5000), "reduction_indices":
               value([1])}, "string", separator=" ")
    yield item("StringToHashBucket", "100,000", {"string_tensor": words}, "string", num_buckets=1000)
    yield item("UnicodeTranscode", "100,000", {"input": words}, "string", input_encoding="UTF-8",
               output_encoding="UTF-16-BE")


def sequences():
    cell = {name: tensor([32, 128]) for name in ("cs_prev", "h_prev")}
    peepholes = {name: tensor(128) for name in ("wci", "wcf", "wco")}
    yield item("LSTMBlockCell", "32x128", {"x": tensor([32, 64]), **cell, "w": tensor([192, 512]), **peepholes,
                                           "b": tensor(512)})
    yield item("GRUBlockCell", "32x128", {"x": tensor([32, 64]), "h_prev": tensor([32, 128]), "w_ru":
               tensor([192, 256]), "w_c": tensor([192, 128]), "b_ru": tensor(256), "b_c": tensor(128)})
    yield item("CTCGreedyDecoder", "100x16x30", {"inputs": tensor([100, 16, 30]), "sequence_length":
               tensor(16, "int32", 50, 100)})
    yield item("AudioSpectrogram", "16000x1", {"input": tensor([16_000, 1])}, window_size=512, stride=256)


def training():
    state = [1000, 1000]

    def scalars(**values):
        return {name: value(number, "float32") for name, number in values.items()}

    yield update("ResourceApplyGradientDescent", sizes(state), {"var": tensor(state), "delta": tensor(state),
                                                                **scalars(alpha=0.001)})
    yield update("ResourceApplyMomentum", sizes(state),
                 {"var": tensor(state), "accum": tensor(state), "grad": tensor(state),
                  **scalars(lr=0.001, momentum=0.9)}, variables=("var", "accum"))
    yield update("ResourceApplyAdam", sizes(state),
                 {"var": tensor(state), "m": tensor(state), "v": tensor(state, low=0, high=1), "grad": tensor(state),
                  **scalars(beta1_power=0.9, beta2_power=0.99, lr=0.001, beta1=0.9, beta2=0.99, epsilon=1e-7)},
                 variables=("var", "m", "v"))
    yield update("ResourceApplyAdagradV2", sizes(state),
                 {"var": tensor(state), "accum": tensor(state, low=0.1, high=1), "grad": tensor(state),
                  **scalars(lr=0.001, epsilon=1e-7)}, variables=("var", "accum"))
    yield update("ResourceApplyRMSProp", sizes(state),
                 {"var": tensor(state), "ms": tensor(state, low=0.1, high=1), "mom": tensor(state), "grad": tensor(state),
                  **scalars(lr=0.001, rho=0.9, momentum=0.9, epsilon=1e-7)}, variables=("var", "ms", "mom"))
    yield update("ResourceApplyFtrl", sizes(state),
                 {"var": tensor(state), "accum": tensor(state, low=0.1, high=1), "linear": tensor(state),
                  "grad": tensor(state), **scalars(lr=0.001, l1=0.001, l2=0.001, lr_power=-0.5)},
                 variables=("var", "accum", "linear"))
    yield update("ResourceSparseApplyMomentum", "1,000 rows of 64",
                 {"var": tensor([10_000, 64]), "accum": tensor([10_000, 64]), "grad": tensor([1000, 64]),
                  "indices": tensor(1000, "int32", 0, 10_000), **scalars(lr=0.001, momentum=0.9)},
                 variables=("var", "accum"))
    yield update("AssignAddVariableOp", sizes(state), {"resource": tensor(state), "value": tensor(state)},
                 variables=("resource",))
    yield update("ResourceScatterAdd", "10,000 rows of 64",
                 {"resource": tensor([10_000, 64]), "indices": tensor(10_000, "int32", 0, 10_000),
                  "updates": tensor([10_000, 64])}, variables=("resource",))
    gather = item("ResourceGather", "10,000 rows of 128",
                  {"resource": {**tensor([50_000, 128]), "variable": True},
                   "indices": tensor(10_000, "int32", 0, 50_000)}, dtype={"dtype": "float32"})
    yield {**gather, "init": True}


FAMILIES = (element_wise, casts, reductions, products, linear_algebra, convolutions, pooling, normalisation, arrays,
            search, segments, random, images, detection, strings, sequences, training, *items_input.FAMILIES,
            *items_models.FAMILIES, *items_quantized.FAMILIES)


def items():
    names = set()
    for family in FAMILIES:
        for one in family():
            assert one["name"] not in names, f"{one['name']} stands twice in the items"
            names.add(one["name"])
            yield {**one, "family": family.__name__.replace("_", " ")}
