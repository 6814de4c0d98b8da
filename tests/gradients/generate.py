#!/usr/bin/env python3
"""Writes gradients that TensorFlow computes, and the graphs that they are of, for the tests beside this file.

Usage: generate.py [-o DIR]
Needs: ../golden/requirements.txt, in a virtual environment of its own.

Each file is a GraphDef. Of a case NAME it has the placeholders NAME/x/K, the outputs that are differentiated NAME/y/K, and
as constants what is fed, NAME/value/K, what flows back, NAME/flow/K, and the gradient with respect to each x,
NAME/expected/K, which is absent where TensorFlow's is None. In a
case whose name says `unknown` the shapes of the placeholders are.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

import golden  # noqa: F401  (sets what TensorFlow reads from the environment)
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2

v1 = tf.compat.v1
raw = tf.raw_ops
FLOATS = ("float", "double", "half", "bfloat16")
ALL = FLOATS + ("complex64", "complex128")
DTYPES = {"float": tf.float32, "double": tf.float64, "half": tf.float16, "bfloat16": tf.bfloat16,
          "complex64": tf.complex64, "complex128": tf.complex128, "int32": tf.int32, "bool": tf.bool}


NAMES = {dtype: name for name, dtype in DTYPES.items()}


class File:
    """The cases of one file."""

    def __init__(self, path):
        self.path, self.random, self.count = path, np.random.default_rng(7), 0
        # What all values are multiples of, if that is not 0: their sums are then exact in few bits.
        self.step = 0
        self.skipped = []
        self.nodes = graph_pb2.GraphDef()

    def values(self, dtype, shape, low=-2.0, high=2.0):
        real = self.random.uniform(low, high, shape)
        if dtype.startswith("complex"):
            real = real + 1j * self.random.uniform(low, high, shape)
        if self.step:
            real = np.round(real / self.step) * self.step
        return np.asarray(real).astype(DTYPES[dtype].as_numpy_dtype)

    def case(self, name, function, values, unknown=True):
        """`function` of placeholders for `values`: of known shapes, and of unknown ones unless the op needs them."""
        for suffix, is_known in (("", True), ("_unknown", False))[:2 if unknown else 1]:
            before = len(self.nodes.node)
            try:
                self.one(name + suffix, function, values, is_known)
            except tf.errors.OpError as error:
                # What TensorFlow has no kernel for has no answer.
                if "No OpKernel was registered" not in str(error):
                    raise
                del self.nodes.node[before:]
                self.skipped.append(name + suffix)

    def one(self, name, function, values, is_known):
        name = f"{name}_{self.count}"
        self.count += 1
        with tf.Graph().as_default() as graph:
            xs = [v1.placeholder(value.dtype, value.shape if is_known else None, name=f"{name}/x/{k}")
                  for k, value in enumerate(values)]
            with v1.name_scope(name + "/of"):
                ys = function(*xs)
            ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
            ys = [y for y in ys if y.dtype.is_floating or y.dtype.is_complex]
            ys = [tf.identity(y, name=f"{name}/y/{k}") for k, y in enumerate(ys)]
            for k, value in enumerate(values):
                tf.constant(value, name=f"{name}/value/{k}")
            feed = dict(zip(xs, values))
            with v1.Session(graph=graph) as session:
                flows = [self.values(NAMES[y.dtype], np.shape(run)) for y, run in zip(ys, session.run(ys, feed))]
                seeds = [tf.constant(flow, name=f"{name}/flow/{k}") for k, flow in enumerate(flows)]
                # The nodes of the gradient stay out of the file.
                self.nodes.MergeFrom(graph.as_graph_def())
                gradients = tf.gradients(ys, xs, seeds) if ys else [None] * len(xs)
                gradients = {k: tf.convert_to_tensor(g) for k, g in enumerate(gradients) if g is not None}
                answers = session.run(gradients, feed)
        with tf.Graph().as_default() as graph:
            for k, answer in answers.items():
                tf.constant(answer, name=f"{name}/expected/{k}")
            self.nodes.MergeFrom(graph.as_graph_def())

    def write(self):
        with open(self.path, "wb") as file:
            file.write(self.nodes.SerializeToString(deterministic=True))
        print(f"{self.path}: {self.count} cases, {os.path.getsize(self.path)} bytes; no kernel for {' '.join(self.skipped) or 'none'}")


def unary(file):
    """Functions of each element, each in the range where it has a slope, and at the points where it has none."""
    inside, positive, above_one = (-0.9, 0.9), (0.2, 3.0), (1.1, 3.0)
    of_all = {
        "Neg": None, "Square": None, "Sqrt": positive, "Rsqrt": positive, "Exp": None, "Expm1": None, "Log": positive,
        "Log1p": positive, "Sin": None, "Cos": None, "Tan": (-1.0, 1.0), "Asin": inside, "Acos": inside, "Atan": None,
        "Sinh": None, "Cosh": None, "Tanh": None, "Asinh": None, "Acosh": above_one, "Atanh": inside, "Sigmoid": None,
        "Reciprocal": positive, "Inv": positive,
    }
    of_floats = {
        "Abs": None, "Erf": None, "Erfc": None, "Lgamma": positive, "Digamma": positive, "Sign": None, "Floor": None,
        "Ceil": None, "Round": None, "Rint": None, "Relu": None, "Relu6": (-1.0, 8.0), "Elu": None, "Selu": None,
        "Softplus": None, "Softsign": None, "LeakyRelu": None,
    }
    features = {"Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu"}
    for op, limits in {**of_all, **of_floats}.items():
        for dtype in ALL if op in of_all else FLOATS:
            if op in ("Lgamma", "Digamma", "Erf", "Erfc") and dtype in ("bfloat16", "half"):
                continue
            argument = "features" if op in features else "x"
            function = getattr(raw, op)
            file.case(f"{op}_{dtype}", lambda x, f=function, a=argument: f(**{a: x}),
                      [file.values(dtype, (2, 3), *(limits or (-2.0, 2.0)))])
            edges = np.array([0.0, 1.0, 6.0, -0.0]).astype(DTYPES[dtype].as_numpy_dtype)
            if op in ("Abs", "Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Sign", "Sqrt", "Softsign", "Softplus"):
                file.case(f"{op}_{dtype}_edges", lambda x, f=function, a=argument: f(**{a: x}), [edges], False)
    for dtype in ("complex64", "complex128"):
        for op in ("Conj", "Real", "Imag", "ComplexAbs"):
            argument = "x" if op == "ComplexAbs" else "input"
            out = {} if op == "Conj" else {"Tout": tf.float32 if dtype == "complex64" else tf.float64}
            file.case(f"{op}_{dtype}", lambda x, f=getattr(raw, op), a=argument, o=out: f(**{a: x}, **o),
                      [file.values(dtype, (2, 3))])
    for source in ALL:
        for target in ALL:
            file.case(f"Cast_{source}_{target}", lambda x, t=target: tf.cast(tf.identity(x), DTYPES[t]),
                      [file.values(source, (3,))], False)
    for dtype in ("float", "double"):
        file.case(f"Erfinv_{dtype}", lambda x: raw.Erfinv(x=x), [file.values(dtype, (4,), -0.9, 0.9)])
        file.case(f"Ndtri_{dtype}", lambda x: raw.Ndtri(x=x), [file.values(dtype, (4,), 0.1, 0.9)])
        for op in ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "Dawsn", "FresnelCos", "FresnelSin"):
            for low, high in ((-1.5, 1.5), (2.0, 12.0)):
                file.case(f"{op}_{dtype}", lambda x, f=getattr(raw, op): f(x=x), [file.values(dtype, (2, 3), low, high)])
        for op in ("BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Expint", "Spence"):
            for low, high in ((0.2, 1.5), (2.0, 12.0)):
                file.case(f"{op}_{dtype}", lambda x, f=getattr(raw, op): f(x=x), [file.values(dtype, (2, 3), low, high)])
        zeros = np.zeros(2, DTYPES[dtype].as_numpy_dtype)
        for op in ("BesselI0e", "BesselI1", "BesselI1e", "BesselJ1"):
            file.case(f"{op}_{dtype}_zero", lambda x, f=getattr(raw, op): f(x=x), [zeros], False)
        file.case(f"Spence_{dtype}_one", lambda x: raw.Spence(x=x), [zeros + 1], False)


def binary(file):
    """Functions of two elements: equal shapes, and shapes that broadcast."""
    shapes = [((2, 3), (2, 3)), ((2, 3), ()), ((), (3,)), ((2, 1, 3), (4, 1)), ((1, 3), (2, 1)), ((0, 3), (1, 3))]
    of_all = ("Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "DivNoNan", "Pow")
    # Of complex numbers TensorFlow does not take the conjugate of the slope of MulNoNan, Xlogy and Xdivy, and lets the
    # imaginary part of what flows back to the real SquaredDifference flow on.
    of_floats = ("Maximum", "Minimum", "Atan2", "FloorMod", "FloorDiv", "MulNoNan", "SquaredDifference", "Xlogy",
                 "Xlog1py", "Xdivy")
    positive = {"Pow", "RealDiv", "Div", "DivNoNan", "Xlogy", "Xlog1py", "Xdivy", "FloorMod", "FloorDiv"}
    for op in of_all + of_floats:
        for dtype in ALL if op in of_all else FLOATS:
            if op == "Atan2" and dtype in ("half", "bfloat16"):
                continue
            for index, (a, b) in enumerate(shapes if dtype in ("float", "complex64") else shapes[3:4]):
                low, high = (0.3, 2.0) if op in positive else (-2.0, 2.0)
                names = ("y", "x") if op == "Atan2" else ("x", "y")
                file.case(f"{op}_{dtype}_{index}",
                          lambda x, y, f=getattr(raw, op), n=names: f(**{n[0]: x, n[1]: y}),
                          [file.values(dtype, a, low, high), file.values(dtype, b, low, high)])
    ties = [np.array([1.0, 2.0, 3.0, np.nan, 0.0], np.float32), np.array([1.0, 3.0, 2.0, 1.0, np.nan], np.float32)]
    zeros = [np.array([0.0, 0.0, 2.0, -1.0], np.float32), np.array([0.0, 1.0, 0.0, 2.0], np.float32)]
    for op in ("Maximum", "Minimum", "SquaredDifference"):
        file.case(f"{op}_ties", lambda x, y, f=getattr(raw, op): f(x=x, y=y), ties)
    for op in ("Pow", "DivNoNan", "MulNoNan", "Xlogy", "Xlog1py", "Xdivy"):
        file.case(f"{op}_zeros", lambda x, y, f=getattr(raw, op): f(x=x, y=y), zeros)
    for dtype in FLOATS:
        condition = np.array([[True], [False]])
        file.case(f"SelectV2_{dtype}", lambda t, e: raw.SelectV2(condition=tf.constant(condition), t=t, e=e),
                  [file.values(dtype, (2, 3)), file.values(dtype, (3,))])
        file.case(f"Select_{dtype}", lambda t, e: raw.Select(condition=tf.constant([True, False]), x=t, y=e),
                  [file.values(dtype, (2, 3)), file.values(dtype, (2, 3))])
    file.case("ClipByValue", lambda t, a, b: raw.ClipByValue(t=t, clip_value_min=a, clip_value_max=b),
              [np.array([-3.0, -1.0, 0.0, 1.0, 2.0], np.float32), np.float32(-1.0), np.float32(1.0)])
    for dtype in ("float", "double"):
        file.case(f"Complex_{dtype}", lambda x, y: raw.Complex(
            real=x, imag=y, Tout=tf.complex64 if x.dtype == tf.float32 else tf.complex128),
            [file.values(dtype, (2, 3)), file.values(dtype, (3,))])
    for dtype in ALL:
        file.case(f"AddN_{dtype}", lambda x, y: raw.AddN(inputs=[x, y, x]),
                  [file.values(dtype, (2,)), file.values(dtype, (2,))])


def products(file):
    """Products of matrices, turned in every way."""
    for dtype in ALL:
        for a in (False, True):
            for b in (False, True):
                x, y = ((3, 2) if a else (2, 3)), ((4, 3) if b else (3, 4))
                file.case(f"MatMul_{dtype}_{int(a)}{int(b)}",
                          lambda x, y, a=a, b=b: raw.MatMul(a=x, b=y, transpose_a=a, transpose_b=b),
                          [file.values(dtype, x), file.values(dtype, y)])
                file.case(f"BatchMatMul_{dtype}_{int(a)}{int(b)}",
                          lambda x, y, a=a, b=b: raw.BatchMatMul(x=x, y=y, adj_x=a, adj_y=b),
                          [file.values(dtype, (2, *x)), file.values(dtype, (2, *y))])
                file.case(f"BatchMatMulV2_{dtype}_{int(a)}{int(b)}",
                          lambda x, y, a=a, b=b: raw.BatchMatMulV2(x=x, y=y, adj_x=a, adj_y=b),
                          [file.values(dtype, (2, 1, *x)), file.values(dtype, (3, *y))])


def reductions(file):
    """Reductions: over one dimension, several, all, none; kept or not; ties."""
    for op in ("Sum", "Mean", "Max", "Min", "EuclideanNorm"):
        for dtype in FLOATS + (("complex64", "complex128") if op in ("Sum", "Mean") else ()):
            for keep in (False, True):
                for axes in ([1], [0, -1], [0, 1, 2], []) if dtype == "float" else ([0, -1],):
                    file.case(f"{op}_{dtype}_{len(axes)}{int(keep)}",
                              lambda x, f=getattr(raw, op), axes=axes, keep=keep: f(
                                  input=x, axis=tf.constant(axes, tf.int32), keep_dims=keep),
                              [file.values(dtype, (2, 3, 2))])
    ties = np.array([[1.0, 1.0, 0.0], [2.0, 3.0, 3.0], [np.nan, 1.0, 2.0]], np.float32)
    for op in ("Max", "Min"):
        file.case(f"{op}_ties", lambda x, f=getattr(raw, op): f(input=x, axis=1), [ties])
    for exclusive in (False, True):
        for reverse in (False, True):
            file.case("Cumsum", lambda x, e=exclusive, r=reverse: raw.Cumsum(x=x, axis=1, exclusive=e, reverse=r),
                      [file.values("float", (2, 3))])
    for dtype in FLOATS:
        file.case(f"L2Loss_{dtype}", lambda x: raw.L2Loss(t=x), [file.values(dtype, (2, 3))])


def moves(file):
    """What hands on, cuts, joins and moves."""
    for dtype in ("float", "double", "half", "bfloat16", "complex64", "complex128"):
        x = lambda *shape: file.values(dtype, shape)
        file.case(f"Identity_{dtype}", lambda x: raw.Identity(input=x), [x(2, 3)])
        file.case(f"IdentityN_{dtype}", lambda x, y: raw.IdentityN(input=[x, y]), [x(2), x(3)])
        file.case(f"Reshape_{dtype}", lambda x: raw.Reshape(tensor=x, shape=[3, 2]), [x(2, 3)])
        file.case(f"ExpandDims_{dtype}", lambda x: raw.ExpandDims(input=x, axis=-1), [x(2, 3)])
        file.case(f"Squeeze_{dtype}", lambda x: raw.Squeeze(input=x, axis=[1]), [x(2, 1, 3)])
        file.case(f"Transpose_{dtype}", lambda x: raw.Transpose(x=x, perm=[2, 0, 1]), [x(2, 3, 4)])
        file.case(f"Pack_{dtype}", lambda x, y: raw.Pack(values=[x, y], axis=1), [x(2, 3), x(2, 3)])
        file.case(f"Unpack_{dtype}", lambda x: raw.Unpack(value=x, num=3, axis=-1), [x(2, 3)])
        file.case(f"ConcatV2_{dtype}", lambda x, y: raw.ConcatV2(values=[x, y], axis=-1), [x(2, 3), x(2, 1)])
        file.case(f"Split_{dtype}", lambda x: raw.Split(axis=1, value=x, num_split=2), [x(2, 4)])
        file.case(f"Split_{dtype}_one", lambda x: raw.Split(axis=1, value=x, num_split=1), [x(2, 4)])
        file.case(f"SplitV_{dtype}", lambda x: raw.SplitV(value=x, size_splits=[1, 3], axis=1, num_split=2), [x(2, 4)])
        file.case(f"Slice_{dtype}", lambda x: raw.Slice(input=x, begin=[0, 1], size=[-1, 2]), [x(2, 4)])
        file.case(f"StridedSlice_{dtype}", lambda x: x[1, ::-2, tf.newaxis], [x(2, 5)], False)
        file.case(f"Pad_{dtype}", lambda x: raw.Pad(input=x, paddings=[[1, 0], [2, 1]]), [x(2, 3)])
        file.case(f"Tile_{dtype}", lambda x: raw.Tile(input=x, multiples=[2, 3]), [x(2, 2)])
        file.case(f"BroadcastTo_{dtype}", lambda x: raw.BroadcastTo(input=x, shape=[4, 2, 3]), [x(2, 1)])
        file.case(f"Fill_{dtype}", lambda x: raw.Fill(dims=[2, 3], value=x), [x()])
        file.case(f"ReverseV2_{dtype}", lambda x: raw.ReverseV2(tensor=x, axis=[1]), [x(2, 3)])
        file.case(f"Roll_{dtype}", lambda x: raw.Roll(input=x, shift=[1], axis=[1]), [x(2, 3)])
        file.case(f"Gather_{dtype}", lambda x: raw.Gather(params=x, indices=[[2, 0], [2, 1]]), [x(3, 2)])
        file.case(f"GatherNd_{dtype}", lambda x: raw.GatherNd(params=x, indices=[[2, 0], [2, 0], [1, 1]]), [x(3, 2)])
        file.case(f"MatrixBandPart_{dtype}", lambda x: raw.MatrixBandPart(input=x, num_lower=1, num_upper=0), [x(3, 3)])
        file.case(f"Diag_{dtype}", lambda x: raw.Diag(diagonal=x), [x(3)])
        file.case(f"DiagPart_{dtype}", lambda x: raw.DiagPart(input=x), [x(3, 3)])
        file.case(f"SpaceToDepth_{dtype}", lambda x: raw.SpaceToDepth(input=x, block_size=2), [x(1, 2, 4, 1)])
        file.case(f"DepthToSpace_{dtype}", lambda x: raw.DepthToSpace(input=x, block_size=2), [x(1, 1, 2, 4)])


def networks(file):
    """Neural networks, and gradients of whole expressions: several consumers, constants on the way, unused inputs."""
    for dtype in FLOATS:
        x = lambda *shape: file.values(dtype, shape)
        file.case(f"Softmax_{dtype}", lambda x: raw.Softmax(logits=x), [x(2, 3)])
        file.case(f"LogSoftmax_{dtype}", lambda x: raw.LogSoftmax(logits=x), [x(2, 3)])
        for form in ("NHWC", "NCHW"):
            file.case(f"BiasAdd_{dtype}_{form}", lambda x, b, f=form: raw.BiasAdd(value=x, bias=b, data_format=f),
                      [x(2, 3, 2, 3), x(3)])
        file.case(f"CrossEntropy_{dtype}", lambda x, y: raw.SoftmaxCrossEntropyWithLogits(features=x, labels=y).loss,
                  [x(2, 3), x(2, 3)])
        file.case(f"SparseCrossEntropy_{dtype}", lambda x: raw.SparseSoftmaxCrossEntropyWithLogits(
            features=x, labels=tf.constant([2, 0])).loss, [x(2, 3)])
        file.case(f"Conv2D_{dtype}", lambda x, w: raw.Conv2D(input=x, filter=w, strides=[1, 2, 1, 1], padding="SAME"),
                  [x(1, 4, 3, 2), x(3, 2, 2, 3)])
        file.case(f"AvgPool_{dtype}", lambda x: raw.AvgPool(value=x, ksize=[1, 2, 2, 1], strides=[1, 1, 2, 1],
                                                            padding="SAME"), [x(1, 3, 4, 2)])
        file.case(f"MaxPool_{dtype}", lambda x: raw.MaxPool(input=x, ksize=[1, 2, 2, 1], strides=[1, 1, 2, 1],
                                                            padding="SAME"), [x(1, 3, 4, 2)])
    for training in (False, True):
        file.case(f"FusedBatchNormV3_{int(training)}", lambda x, s, o, m, v, t=training: raw.FusedBatchNormV3(
            x=x, scale=s, offset=o, mean=m, variance=v, is_training=t).y,
            [file.values("float", (2, 3, 2, 4)), file.values("float", (4,)), file.values("float", (4,)),
             file.values("float", (4,)), file.values("float", (4,), 0.5, 2.0)])
    x = lambda *shape: file.values("double", shape)
    file.case("dense", lambda x, w, b: tf.nn.tanh(tf.matmul(x, w) + b) * tf.reduce_mean(x), [x(2, 3), x(3, 4), x(4)])
    file.case("twice", lambda x, y: x * x * y + tf.stop_gradient(x) * y + tf.cast(tf.shape(x)[0], tf.float64) * x,
              [x(2, 3), x(2, 3)])
    file.case("unused", lambda x, y: tf.exp(x), [x(2), x(2)])
    file.case("self", lambda x: x, [x(2)])
    file.case("several", lambda x, y: [x * y, tf.sin(x), y], [x(2), x(2)])
    file.case("sparse", lambda p, q: tf.matmul(raw.Gather(params=p, indices=[0, 2, 0]), q) +
              raw.Gather(params=tf.identity(p), indices=[1, 1, 2]), [x(3, 2), x(2, 2)])
    file.case("steps", lambda x: tf.floor(x) + tf.cast(tf.cast(x, tf.int32), tf.float64) + x, [x(4)])


def rows(file):
    """Rows and elements that are picked, written and reduced by their indices."""
    for dtype in ALL:
        x = lambda *shape: file.values(dtype, shape)
        for axis, batch, params, indices in ((0, 0, (3, 2), [[2, 0], [2, 1]]), (1, 0, (2, 3, 2), [2, 0, 2]),
                                             (-1, 0, (2, 3), [[1, 1], [0, 2]]), (1, 1, (2, 3, 2), [[2, 0], [2, 2]]),
                                             (2, 1, (2, 2, 3), [[2, 0], [2, 2]]), (-1, -1, (2, 3), [[2, 0], [2, 2]])):
            for known in (True, False) if dtype == "float" else (True,):
                place = lambda axis=axis, known=known: tf.constant(axis) if known else tf.identity(tf.constant(axis))
                if batch < 0 and not known:
                    continue
                file.case(f"GatherV2_{dtype}_{axis}_{batch}", lambda x, p=place, i=indices, b=batch: raw.GatherV2(
                    params=x, indices=tf.constant(i, tf.int64), axis=p(), batch_dims=b), [x(*params)])
        file.case(f"GatherNd_{dtype}_rows", lambda x: raw.GatherNd(params=x, indices=[[2], [0], [2]]), [x(4, 2)])
        file.case(f"ScatterNd_{dtype}", lambda x: raw.ScatterNd(indices=[[2], [0], [2]], updates=x, shape=[4, 2]), [x(3, 2)])
        file.case(f"ScatterNdNonAliasingAdd_{dtype}", lambda x, y: raw.ScatterNdNonAliasingAdd(
            input=x, indices=[[2], [0], [2]], updates=y), [x(4, 2), x(3, 2)])
        for op in ("TensorScatterAdd", "TensorScatterSub", "TensorScatterUpdate"):
            file.case(f"{op}_{dtype}", lambda x, y, f=getattr(raw, op): f(tensor=x, indices=[[2], [0]], updates=y),
                      [x(4, 2), x(2, 2)])
        file.case(f"SegmentSum_{dtype}", lambda x: raw.SegmentSum(data=x, segment_ids=[0, 0, 2]), [x(3, 2)])
        file.case(f"UnsortedSegmentSum_{dtype}", lambda x: raw.UnsortedSegmentSum(
            data=x, segment_ids=[[2, 0], [-1, 2]], num_segments=3), [x(2, 2, 3)])
    for dtype in FLOATS:
        x = lambda *shape: file.values(dtype, shape)
        for op in ("TensorScatterMax", "TensorScatterMin"):
            file.case(f"{op}_{dtype}", lambda x, y, f=getattr(raw, op): f(tensor=x, indices=[[2], [0], [2]], updates=y),
                      [x(4, 2), x(3, 2)])
        for op in ("SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd"):
            file.case(f"{op}_{dtype}", lambda x, f=getattr(raw, op): f(data=x, segment_ids=tf.constant([0, 0, 2], tf.int64)),
                      [x(3, 2)])
        for op in ("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"):
            file.case(f"{op}_{dtype}", lambda x, f=getattr(raw, op): f(
                data=x, segment_ids=[2, 0, -1, 2], num_segments=3), [x(4, 2)])
        file.case(f"TopKV2_{dtype}", lambda x: raw.TopKV2(input=x, k=2).values, [x(2, 2, 3)])
        file.case(f"NthElement_{dtype}", lambda x: raw.NthElement(input=x, n=1), [x(2, 3)])
    ties = np.array([[1.0, 0.0], [1.0, 2.0], [3.0, np.nan], [0.0, 3.0], [0.0, 0.0]], np.float32)
    for op in ("SegmentMax", "SegmentMin", "SegmentProd", "SegmentMean"):
        file.case(f"{op}_ties", lambda x, f=getattr(raw, op): f(data=x, segment_ids=[0, 0, 1, 2, 2]), [ties])
    for op in ("UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd"):
        file.case(f"{op}_ties", lambda x, f=getattr(raw, op): f(data=x, segment_ids=[1, 1, 0, 2, 2], num_segments=4), [ties])
    file.case("TensorScatterMax_ties", lambda x, y: raw.TensorScatterMax(tensor=x, indices=[[0], [2], [0]], updates=y),
              [np.array([1.0, 2.0, 0.0], np.float32), np.array([1.0, 0.0, 1.0], np.float32)])
    file.case("NthElement_ties", lambda x: raw.NthElement(input=x, n=1, reverse=True), [ties])
    file.case("GatherV2_joined", lambda p, q: tf.matmul(tf.gather(p, [0, 2, 0]), q) + tf.gather(tf.identity(p), [1, 1, 2]),
              [file.values("double", (3, 2)), file.values("double", (2, 2))])


def scans(file):
    """Products, products and sums step by step, Einsum."""
    for dtype in ALL:
        for axes in ([1], [0, -1], [0, 1, 2], []) if dtype in ("float", "complex64") else ([0, -1],):
            file.case(f"Prod_{dtype}", lambda x, a=axes: raw.Prod(input=x, axis=tf.constant(a, tf.int32), keep_dims=len(a) == 1),
                      [file.values(dtype, (2, 3, 2))])
        for exclusive in (False, True):
            for reverse in (False, True):
                # Of complex numbers TensorFlow does not take the conjugate of the slope.
                if dtype in FLOATS:
                    file.case(f"Cumprod_{dtype}", lambda x, e=exclusive, r=reverse: raw.Cumprod(
                        x=x, axis=-1, exclusive=e, reverse=r), [file.values(dtype, (2, 3), 0.5, 2.0)])
                if dtype in FLOATS:
                    file.case(f"CumulativeLogsumexp_{dtype}", lambda x, e=exclusive, r=reverse: raw.CumulativeLogsumexp(
                        x=x, axis=-1, exclusive=e, reverse=r), [file.values(dtype, (2, 3))])
    zeros = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [1.0, 2.0, 0.0]], np.float32)
    file.case("Prod_zeros", lambda x: raw.Prod(input=x, axis=1), [zeros])
    file.case("Prod_none", lambda x: raw.Prod(input=x, axis=1), [file.values("float", (2, 0, 3))])
    sizes = {"a": 2, "b": 3, "c": 2, "d": 4}
    shape = lambda labels, lead=(): tuple(
        size for part in labels.replace("...", ".") for size in (lead if part == "." else (sizes[part],)))
    for equation in ("ab->ba", "ab->a", "ab->", "aab->ab", "aa->", "...ab->...b", "a...b->b...", "a->aa", "...->..."):
        source = equation.split("->")[0]
        file.case("Einsum", lambda x, e=equation: raw.Einsum(inputs=[x], equation=e), [file.values("float", shape(source, (2, 3)))])
    for equation, leads in (("ab,bd->ad", ((), ())), ("ab,b->a", ((), ())), ("ab,ab->", ((), ())), ("ab,cd->abcd", ((), ())),
                            ("abd,bd->a", ((), ())), ("ab,cd->a", ((), ())), ("aab,bc->ac", ((), ())),
                            ("...ab,...bd->...ad", ((2, 1), (3,))), ("a...b,b...->...a", ((3,), (2, 1))),
                            ("ab,...bd->...ad", ((), (2,))), ("...a,a->...", ((2, 3), ())), ("ab,bd->aad", ((), ())),
                            ("a...,b...->...", ((1,), (3,)))):
        a, b = equation.split("->")[0].split(",")
        for dtype in ("float", "complex64") if equation != "ab,bd->ad" else ALL:
            file.case(f"Einsum_{dtype}", lambda x, y, e=equation: raw.Einsum(inputs=[x, y], equation=e),
                      [file.values(dtype, shape(a, leads[0])), file.values(dtype, shape(b, leads[1]))])
    for dtype in ("float", "bfloat16", "complex128"):
        file.case(f"BatchMatMulV3_{dtype}", lambda x, y: raw.BatchMatMulV3(x=x, y=y, Tout=x.dtype, adj_y=True),
                  [file.values(dtype, (2, 1, 2, 3)), file.values(dtype, (3, 4, 3))])
    for a in (False, True):
        for b in (False, True):
            for dtypes in (("float", "float"), ("float", "bfloat16")):
                file.case("SparseMatMul", lambda x, y, a=a, b=b: raw.SparseMatMul(
                    a=x, b=y, transpose_a=a, transpose_b=b, a_is_sparse=True, b_is_sparse=True),
                    [file.values(dtypes[0], (3, 2) if a else (2, 3)), file.values(dtypes[1], (4, 3) if b else (3, 4))])


def images(file):
    """Convolutions, pools and normalisation, and the gradients of their gradients."""
    strides, ksize = [1, 2, 2, 1], [1, 2, 2, 1]
    for dtype in FLOATS:
        x = lambda *shape: file.values(dtype, shape)
        window = {"strides": strides, "padding": "SAME"}
        file.case(f"DepthwiseConv2dNative_{dtype}", lambda x, w: raw.DepthwiseConv2dNative(input=x, filter=w, **window),
                  [x(1, 4, 3, 2), x(3, 2, 2, 2)])
        for op, kernel in (("Conv2D", (3, 2, 2, 3)), ("DepthwiseConv2dNative", (3, 2, 2, 2))):
            out = (1, 2, 2, kernel[3] if op == "Conv2D" else 4)
            file.case(f"{op}BackpropInput_{dtype}", lambda w, y, f=getattr(raw, op + "BackpropInput"): f(
                input_sizes=[1, 4, 3, 2], filter=w, out_backprop=y, **window), [x(*kernel), x(*out)])
            file.case(f"{op}BackpropFilter_{dtype}", lambda x, y, f=getattr(raw, op + "BackpropFilter"), k=kernel: f(
                input=x, filter_sizes=list(k), out_backprop=y, **window), [x(1, 4, 3, 2), x(*out)])
        pool = {"ksize": ksize, "strides": [1, 1, 2, 1], "padding": "SAME"}
        file.case(f"AvgPoolGrad_{dtype}", lambda y: raw.AvgPoolGrad(orig_input_shape=[1, 3, 4, 2], grad=y, **pool), [x(1, 3, 2, 2)])
        file.case(f"MaxPoolV2_{dtype}", lambda x: raw.MaxPoolV2(input=x, **pool), [x(1, 3, 4, 2)])
        file.case(f"MaxPoolWithArgmax_{dtype}", lambda x: raw.MaxPoolWithArgmax(input=x, **pool).output, [x(2, 3, 4, 2)])
        file.case(f"MaxPoolGrad_{dtype}", lambda x, y: tf.gradients(raw.MaxPool(input=x, **pool), x, y)[0],
                  [x(1, 3, 4, 2), x(1, 3, 2, 2)])
        file.case(f"MaxPoolGradV2_{dtype}", lambda x, y: tf.gradients(raw.MaxPoolV2(input=x, **pool), x, y)[0],
                  [x(1, 3, 4, 2), x(1, 3, 2, 2)])
        file.case(f"MaxPoolGradGrad_{dtype}", lambda x, y, z: raw.MaxPoolGradGrad(
            orig_input=x, orig_output=raw.MaxPool(input=x, **pool), grad=y, **pool), [x(1, 3, 4, 2), x(1, 3, 4, 2), x(1)])
        file.case(f"Dilation2D_{dtype}", lambda x, w: raw.Dilation2D(
            input=x, filter=w, strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME"), [x(1, 3, 3, 2), x(2, 2, 2)])
        if dtype != "double":
            file.case(f"LRN_{dtype}", lambda x: raw.LRN(input=x, depth_radius=1, bias=1.5, alpha=0.5,
                                                                beta=0.75), [x(1, 2, 2, 3)])
        file.case(f"BiasAddV1_{dtype}", lambda x, b: raw.BiasAddV1(value=x, bias=b), [x(2, 3, 2), x(2)])
        for form in ("NHWC", "NCHW"):
            file.case(f"BiasAddGrad_{dtype}", lambda x, f=form: raw.BiasAddGrad(out_backprop=x, data_format=f), [x(2, 3, 2, 2)])
        for align, half in ((False, False), (True, False), (False, True)):
            file.case(f"ResizeBilinear_{dtype}", lambda x, a=align, h=half: raw.ResizeBilinear(
                images=x, size=[3, 5], align_corners=a, half_pixel_centers=h), [x(1, 2, 3, 2)])
            file.case(f"ResizeNearestNeighbor_{dtype}", lambda x, a=align, h=half: raw.ResizeNearestNeighbor(
                images=x, size=[3, 5], align_corners=a, half_pixel_centers=h), [x(1, 2, 3, 2)])
        for padding in ("SAME", "VALID"):
            file.case(f"ExtractImagePatches_{dtype}", lambda x, p=padding: raw.ExtractImagePatches(
                images=x, ksizes=[1, 2, 2, 1], strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding=p), [x(2, 3, 4, 2)], False)
    for padding, strides in (("VALID", [1, 1, 1, 1]), ("EXPLICIT", [1, 2, 2, 1])):
        window = {"strides": strides, "padding": padding,
                  "explicit_paddings": [0, 0, 1, 0, 0, 2, 0, 0] if padding == "EXPLICIT" else []}
        file.case(f"Conv2D_{padding}", lambda x, w: raw.Conv2D(input=x, filter=w, **window),
                  [file.values("double", (1, 4, 3, 2)), file.values("double", (3, 2, 2, 3))])
        file.case(f"DepthwiseConv2dNative_{padding}", lambda x, w: raw.DepthwiseConv2dNative(input=x, filter=w, **window),
                  [file.values("double", (1, 4, 3, 2)), file.values("double", (3, 2, 2, 2))])
    for training in (False, True):
        names = ("x", "scale", "offset", "mean", "variance")
        shapes = [(2, 3, 2, 4), (4,), (4,), (4,), (4,)]
        for op, dtype in (("FusedBatchNorm", "float"), ("FusedBatchNormV2", "float"), ("FusedBatchNormV2", "half"),
                          ("FusedBatchNormV3", "half"), ("FusedBatchNormV3", "bfloat16")):
            values = [file.values(dtype if k == 0 else "float", shape, *((0.5, 2.0) if k == 4 else ()))
                      for k, shape in enumerate(shapes)]
            if training:
                values[3:] = []
            empty = np.zeros((0,), np.float32)
            function = lambda *xs, f=getattr(raw, op), t=training: f(
                **dict(zip(names, [*xs, *([empty, empty] if t else [])])), is_training=t).y
            file.case(f"{op}_{dtype}_{int(training)}", function, values)
        for op in ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"):
            extra = {"reserve_space_3": np.zeros((0,), np.float32)} if op.endswith("3") else {}
            for dtype in ("float", "half") if op.endswith("3") else ("float",):
                mean, variance = np.float32([0.5, -0.5]), np.float32([0.7, 1.5])
                for outputs in ((0,), (0, 1, 2)):
                    file.case(f"{op}_{int(training)}", lambda g, x, s, f=getattr(raw, op), t=training, e=extra, o=outputs: [
                        f(y_backprop=g, x=x, scale=s, reserve_space_1=mean, reserve_space_2=variance, is_training=t,
                          epsilon=0.01, **e)[k] for k in o],
                        [file.values(dtype, (2, 2, 2, 2)), file.values(dtype, (2, 2, 2, 2)), file.values("float", (2,))])


def volumes(file):
    """Convolutions and pools of volumes."""
    for dtype in FLOATS:
        x = lambda *shape: file.values(dtype, shape)
        # TensorFlow adds up in 16 bits unless oneDNN does, Kernlink in 32.
        file.step = 0.5 if dtype in ("half", "bfloat16") else 0
        for padding, strides, out in (("SAME", [1, 1, 2, 1, 1], (1, 3, 2, 4, 2)), ("VALID", [1, 2, 1, 1, 1], (1, 1, 3, 3, 2))):
            common = {"strides": strides, "padding": padding}
            sizes, filters = (1, 3, 4, 4, 2), (2, 2, 2, 2, 2)
            file.case(f"Conv3D_{dtype}_{padding}", lambda x, w, c=common: raw.Conv3D(input=x, filter=w, **c), [x(*sizes), x(*filters)])
            file.case(f"Conv3DBackpropInputV2_{dtype}_{padding}", lambda w, d, c=common, n=sizes: raw.Conv3DBackpropInputV2(
                input_sizes=n, filter=w, out_backprop=d, **c), [x(*filters), x(*out)])
            file.case(f"Conv3DBackpropFilterV2_{dtype}_{padding}", lambda x, d, c=common, n=filters: raw.Conv3DBackpropFilterV2(
                input=x, filter_sizes=n, out_backprop=d, **c), [x(*sizes), x(*out)])
        file.step = 0
        if dtype not in ("float", "bfloat16"):
            continue
        for padding, out in (("SAME", (1, 2, 4, 2, 2)), ("VALID", (1, 1, 3, 2, 2))):
            common = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 1, 2, 1], "padding": padding}
            volume = x(1, 3, 4, 4, 2)
            file.case(f"AvgPool3D_{dtype}_{padding}", lambda x, c=common: raw.AvgPool3D(input=x, **c), [volume])
            file.case(f"AvgPool3DGrad_{dtype}_{padding}", lambda d, c=common: raw.AvgPool3DGrad(
                orig_input_shape=[1, 3, 4, 4, 2], grad=d, **c), [x(*out)])
            file.case(f"MaxPool3D_{dtype}_{padding}", lambda x, c=common: raw.MaxPool3D(input=x, **c), [volume])
            if dtype == "float":
                file.case(f"MaxPool3DGrad_{padding}", lambda x, d, c=common: raw.MaxPool3DGrad(
                    orig_input=x, orig_output=raw.MaxPool3D(input=x, **c), grad=d, **c), [volume, x(*out)])
                file.case(f"MaxPool3DGradGrad_{padding}", lambda x, d, c=common: raw.MaxPool3DGradGrad(
                    orig_input=x, orig_output=raw.MaxPool3D(input=x, **c), grad=d, **c), [volume, x(1, 3, 4, 4, 2)])


def pictures(file):
    """Images that are cropped, resized by cubic functions, scaled, transformed, or given in other colours."""
    ways = ((False, False), (True, False), (False, True))
    for dtype in FLOATS:
        x = lambda *shape: file.values(dtype, shape)
        for align, half in ways:
            file.case(f"ResizeBicubic_{dtype}", lambda x, a=align, h=half: raw.ResizeBicubic(
                images=x, size=[3, 5], align_corners=a, half_pixel_centers=h), [x(2, 4, 3, 2)])
        if dtype != "bfloat16":
            boxes = np.float32([[0, 0.1, 0.9, 1], [0.2, -0.3, 1.2, 0.6], [0.8, 0.7, 0.1, 0.2]])
            for method in ("bilinear", "nearest"):
                for size in ([3, 2], [1, 4]):
                    file.case(f"CropAndResize_{dtype}_{method}", lambda x, b, m=method, n=size: raw.CropAndResize(
                        image=x, boxes=b, box_ind=[1, 0, 1], crop_size=n, method=m), [x(2, 4, 5, 2), boxes])
        colors = file.random.uniform(0.05, 1.0, (2, 7, 3)).astype(DTYPES[dtype].as_numpy_dtype)
        file.case(f"RGBToHSV_{dtype}", lambda x: raw.RGBToHSV(images=x), [colors])
        ties = np.array([[r, g, b] for r in (0, 0.5, 1) for g in (0, 0.5, 1) for b in (0, 0.5, 1)])
        file.case(f"RGBToHSV_{dtype}_ties", lambda x: raw.RGBToHSV(images=x), [ties.astype(DTYPES[dtype].as_numpy_dtype)])
        # TensorFlow refuses gradients of transformed images of bfloat16.
        for interpolation in ("NEAREST", "BILINEAR") if dtype != "bfloat16" else ():
            for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
                # Their inverses are rounded in ways of which a double shows more than a float, unless they are exact.
                transforms = np.float32([[2, 0, -0.5, 0, 0.5, 1.25, 0, 0], [0, 1, 0.25, -1, 0, 3, 0, 0]] if dtype == "double" else [
                    [1.1, 0.2, -0.6, -0.1, 0.9, 0.7, 0.01, -0.02], [0.8, 0, 0.3, 0, 1.2, -1.1, 0, 0]])
                common = {"output_shape": [3, 4], "interpolation": interpolation, "fill_mode": mode, "transforms": transforms}
                file.case(f"ImageProjectiveTransformV2_{dtype}_{interpolation}_{mode}",
                          lambda x, c=common: raw.ImageProjectiveTransformV2(images=x, **c), [x(2, 4, 5, 2)], False)
                file.case(f"ImageProjectiveTransformV3_{dtype}_{interpolation}_{mode}",
                          lambda x, c=common: raw.ImageProjectiveTransformV3(images=x, fill_value=1.5, **c), [x(2, 4, 5, 2)], False)
    for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
        for antialias in (False, True):
            file.case(f"ScaleAndTranslate_{kernel}", lambda x, k=kernel, a=antialias: raw.ScaleAndTranslate(
                images=x, size=[3, 5], scale=[0.6, 1.3], translation=[0.2, -0.7], kernel_type=k, antialias=a),
                [file.values("float", (2, 4, 3, 2))])


def quantized(file):
    """Values that are quantized and turned back."""
    x = lambda dtype, *shape: (file.values(dtype, shape) * 3).astype(DTYPES[dtype].as_numpy_dtype)
    for bits, narrow in ((8, False), (4, True)):
        common = {"num_bits": bits, "narrow_range": narrow}
        file.case(f"FakeQuantWithMinMaxArgs_{bits}", lambda x, c=common: raw.FakeQuantWithMinMaxArgs(inputs=x, min=-1.5, max=2, **c), [x("float", 3, 7)])
        file.case(f"FakeQuantWithMinMaxVars_{bits}", lambda x, a, b, c=common: raw.FakeQuantWithMinMaxVars(inputs=x, min=a, max=b, **c),
                  [x("float", 3, 7), np.float32(-1.5), np.float32(2)])
        file.case(f"FakeQuantWithMinMaxVarsPerChannel_{bits}", lambda x, a, b, c=common: raw.FakeQuantWithMinMaxVarsPerChannel(
            inputs=x, min=a, max=b, **c), [x("float", 5, 3), np.float32([-1.5, -1, -2]), np.float32([2, 0.5, 1])])
    for dtype in ("float", "double"):
        kind = DTYPES[dtype].as_numpy_dtype
        ends = [np.array(-1.5, kind), np.array(2, kind)]
        file.case(f"QuantizeAndDequantizeV2_{dtype}", lambda x, e=ends: raw.QuantizeAndDequantizeV2(
            input=x, input_min=e[0], input_max=e[1], range_given=True), [x(dtype, 3, 7)])
        file.case(f"QuantizeAndDequantizeV3_{dtype}", lambda x, e=ends: raw.QuantizeAndDequantizeV3(
            input=x, input_min=e[0], input_max=e[1], num_bits=4), [x(dtype, 3, 7)])
        file.case(f"QuantizeAndDequantizeV4_{dtype}", lambda x, a, b: raw.QuantizeAndDequantizeV4(
            input=x, input_min=a, input_max=b, range_given=True), [x(dtype, 3, 7), *ends])


def seconds(file):
    """Gradients of the gradients that are ops; functions of two elements that are rarely used."""
    for op in ("ReciprocalGrad", "InvGrad", "SqrtGrad", "RsqrtGrad", "TanhGrad", "SigmoidGrad"):
        for dtype in ALL:
            file.case(f"{op}_{dtype}", lambda y, d, f=getattr(raw, op): f(y=y, dy=d),
                      [file.values(dtype, (2, 3), 0.3, 2.0), file.values(dtype, (2, 3))])
    for op, second in (("EluGrad", "outputs"), ("SeluGrad", "outputs"), ("LeakyReluGrad", "features"), ("ReluGrad", "features"),
                       ("Relu6Grad", "features"), ("SoftplusGrad", "features")):
        for dtype in FLOATS:
            file.case(f"{op}_{dtype}", lambda d, y, f=getattr(raw, op), s=second: f(gradients=d, **{s: y}),
                      [file.values(dtype, (2, 3)), file.values(dtype, (2, 3))])
        edges = np.array([0.0, 1.0, 6.0, -0.0]).astype(np.float32)
        file.case(f"{op}_edges", lambda d, y, f=getattr(raw, op), s=second: f(gradients=d, **{s: y}),
                  [file.values("float", (4,)), edges], False)
    shapes = [((2, 3), (2, 3)), ((2, 1, 3), (4, 1)), ((), (3,))]
    for dtype in ("float", "double"):
        for a, b in shapes:
            file.case(f"Zeta_{dtype}", lambda x, q: raw.Zeta(x=x, q=q), [file.values(dtype, a, 1.5, 3.0), file.values(dtype, b, 0.5, 3.0)])
            for op in ("Igamma", "Igammac"):
                file.case(f"{op}_{dtype}", lambda a, x, f=getattr(raw, op): f(a=a, x=x),
                          [file.values(dtype, a, 0.5, 4.0), file.values(dtype, b, 0.2, 6.0)])
            if a == b or b == () or a == ():
                file.case(f"Betainc_{dtype}", lambda x, a, b: raw.Betainc(a=a, b=b, x=x), [
                    file.values(dtype, b, 0.1, 0.9), file.values(dtype, a, 0.5, 4.0), file.values(dtype, a, 0.5, 4.0)])
            order = file.random.integers(1, 4, a).astype(DTYPES[dtype].as_numpy_dtype)
            file.case(f"Polygamma_{dtype}", lambda a, x: raw.Polygamma(a=a, x=x), [order, file.values(dtype, b, 0.5, 3.0)])
            if len(a) == len(b):
                file.case(f"NextAfter_{dtype}", lambda x, y: raw.NextAfter(x1=x, x2=y), [file.values(dtype, a), file.values(dtype, b)])
    for dtype in ("complex64", "complex128"):
        file.case(f"Angle_{dtype}", lambda x: raw.Angle(input=x, Tout=tf.float32 if x.dtype == tf.complex64 else tf.float64),
                  [file.values(dtype, (2, 3))])
    for dtype in FLOATS:
        file.case(f"Cross_{dtype}", lambda x, y: raw.Cross(a=x, b=y), [file.values(dtype, (2, 3)), file.values(dtype, (2, 3))])
        file.case(f"AccumulateNV2_{dtype}", lambda x, y: raw.AccumulateNV2(inputs=[x, y, x], shape=[2]),
                  [file.values(dtype, (2,)), file.values(dtype, (2,))], False)


def places(file):
    """What moves elements, by further ops: matrices and their diagonals, padding, blocks, partitions."""
    for dtype in ALL:
        x = lambda *shape: file.values(dtype, shape)
        file.case(f"Concat_{dtype}", lambda x, y: raw.Concat(concat_dim=1, values=[x, y]), [x(2, 3), x(2, 1)])
        file.case(f"ConcatV2_{dtype}_unsaid", lambda x, y: raw.ConcatV2(values=[x, y], axis=tf.identity(tf.constant(-1))),
                  [x(2, 3), x(2, 1)])
        file.case(f"PadV2_{dtype}", lambda x, v: raw.PadV2(input=x, paddings=[[1, 0], [2, 1]], constant_values=v), [x(2, 3), x()])
        for mode in ("REFLECT", "SYMMETRIC"):
            file.case(f"MirrorPad_{dtype}", lambda x, m=mode: raw.MirrorPad(input=x, paddings=[[1, 0], [1, 2]], mode=m), [x(2, 3)])
            file.case(f"MirrorPadGrad_{dtype}", lambda x, m=mode: raw.MirrorPadGrad(
                input=x, paddings=[[1, 0], [1, 2]], mode=m), [x(3, 6)])
        file.case(f"Reverse_{dtype}", lambda x: raw.Reverse(tensor=x, dims=[False, True]), [x(2, 3)])
        file.case(f"ReverseSequence_{dtype}", lambda x: raw.ReverseSequence(
            input=x, seq_lengths=[2, 3], seq_dim=1, batch_dim=0), [x(2, 3, 2)])
        file.case(f"SpaceToBatchND_{dtype}", lambda x: raw.SpaceToBatchND(
            input=x, block_shape=[2], paddings=[[1, 0]]), [x(2, 3, 2)])
        if dtype in FLOATS:
            file.case(f"SpaceToBatch_{dtype}", lambda x: raw.SpaceToBatch(
                input=x, paddings=[[1, 0], [0, 1]], block_size=2), [x(1, 3, 5, 2)])
            file.case(f"BatchToSpace_{dtype}", lambda x: raw.BatchToSpace(
                input=x, crops=[[1, 0], [0, 1]], block_size=2), [x(4, 2, 3, 1)])
        if dtype in ("float", "half", "bfloat16"):
            file.case(f"ApproxTopK_{dtype}", lambda x: raw.ApproxTopK(input=x, k=2)[0], [x(2, 5)], False)
        file.case(f"BatchToSpaceND_{dtype}", lambda x: raw.BatchToSpaceND(input=x, block_shape=[2], crops=[[1, 0]]), [x(2, 2, 2)])
        file.case(f"StridedSliceGrad_{dtype}", lambda x: raw.StridedSliceGrad(
            shape=[3, 5], begin=[1, 4], end=[2, 0], strides=[1, -2], dy=x, shrink_axis_mask=1), [x(2)])
        for value in ((2,), ()):
            file.case(f"TensorStridedSliceUpdate_{dtype}", lambda x, v: raw.TensorStridedSliceUpdate(
                input=x, begin=[1, 4], end=[2, 0], strides=[1, -2], value=v, shrink_axis_mask=1), [x(3, 5), x(*value)])
        file.case(f"MatrixDiag_{dtype}", lambda x: raw.MatrixDiag(diagonal=x), [x(2, 3)])
        file.case(f"MatrixDiagPart_{dtype}", lambda x: raw.MatrixDiagPart(input=x), [x(2, 3, 2)])
        file.case(f"MatrixSetDiag_{dtype}", lambda x, d: raw.MatrixSetDiag(input=x, diagonal=d), [x(2, 3, 2), x(2, 2)])
        for k, diagonal in ((1, (2, 2)), ([-1, 1], (2, 3, 3))) if dtype in ("float", "complex64") else ((-1, (2, 2)),):
            for align in ("RIGHT_LEFT", "LEFT_LEFT") if dtype == "float" else ("RIGHT_LEFT",):
                # With bands, TensorFlow's gradient of MatrixDiagV2 aligns otherwise than the op does.
                file.case(f"MatrixDiagV3_{dtype}", lambda x, k=k, a=align: raw.MatrixDiagV3(
                    diagonal=x, k=k, num_rows=-1, num_cols=-1, padding_value=tf.constant(0, x.dtype), align=a), [x(*diagonal)])
                file.case(f"MatrixDiagPartV3_{dtype}", lambda x, k=k, a=align: raw.MatrixDiagPartV3(
                    input=x, k=k, padding_value=tf.constant(2, x.dtype), align=a), [x(2, 3, 3)])
                file.case(f"MatrixSetDiagV3_{dtype}", lambda x, d, k=k, a=align: raw.MatrixSetDiagV3(
                    input=x, diagonal=d, k=k, align=a), [x(2, 3, 3), x(*diagonal)], False)
            if not isinstance(k, list):
                file.case(f"MatrixDiagV2_{dtype}", lambda x, k=k: raw.MatrixDiagV2(
                    diagonal=x, k=k, num_rows=-1, num_cols=-1, padding_value=tf.constant(0, x.dtype)), [x(*diagonal)])
                file.case(f"MatrixDiagPartV2_{dtype}", lambda x, k=k: raw.MatrixDiagPartV2(
                    input=x, k=k, padding_value=tf.constant(0, x.dtype)), [x(2, 3, 3)])
                file.case(f"MatrixSetDiagV2_{dtype}", lambda x, d, k=k: raw.MatrixSetDiagV2(input=x, diagonal=d, k=k),
                          [x(2, 3, 3), x(*diagonal)], False)
        file.case(f"DynamicPartition_{dtype}", lambda x: raw.DynamicPartition(
            data=x, partitions=[[1, 0], [1, 1]], num_partitions=3), [x(2, 2, 2)])
        for op in ("DynamicStitch", "ParallelDynamicStitch"):
            file.case(f"{op}_{dtype}", lambda x, y, f=getattr(raw, op): f(indices=[[4, 0], [[1, 2]]], data=[x, y]),
                      [x(2, 2), x(1, 2, 2)])
    for dtype in FLOATS:
        for op in ("CheckNumerics", "CheckNumericsV2"):
            file.case(f"{op}_{dtype}", lambda x, f=getattr(raw, op): f(tensor=x, message="here"), [file.values(dtype, (2,))])


def sparse(file):
    """Sparse tensors, whose values are differentiated, and sums of picked rows."""
    indices, shape = np.int64([[0, 1], [1, 0], [1, 2]]), np.int64([2, 3])
    others = np.int64([[0, 0], [1, 0]])
    for dtype in ALL:
        x = lambda *shape: file.values(dtype, shape)
        file.case(f"SparseReorder_{dtype}", lambda x: raw.SparseReorder(
            input_indices=indices[[2, 0, 1]], input_values=x, input_shape=shape).output_values, [x(3)])
        file.case(f"SparseAdd_{dtype}", lambda x, y: raw.SparseAdd(
            a_indices=indices, a_values=x, a_shape=shape, b_indices=others, b_values=y, b_shape=shape,
            thresh=tf.constant(0, {"complex64": tf.float32, "complex128": tf.float64}.get(dtype, x.dtype))).sum_values, [x(3), x(2)])
        file.case(f"SparseTensorDenseAdd_{dtype}", lambda x, y: raw.SparseTensorDenseAdd(
            a_indices=indices, a_values=x, a_shape=shape, b=y), [x(3), x(2, 3)])
        for axes, keep in (([1], False), ([0, -1], True), ([-2], True)):
            file.case(f"SparseReduceSum_{dtype}", lambda x, a=axes, k=keep: raw.SparseReduceSum(
                input_indices=indices, input_values=x, input_shape=shape, reduction_axes=a, keep_dims=k), [x(3)])
        file.case(f"SparseSlice_{dtype}", lambda x: raw.SparseSlice(
            indices=indices, values=x, shape=shape, start=np.int64([0, 1]), size=np.int64([2, 2])).output_values, [x(3)])
        for a in (False, True):
            for b in (False, True):
                inner = 2 if a else 3
                file.case(f"SparseTensorDenseMatMul_{dtype}_{int(a)}{int(b)}", lambda x, y, a=a, b=b: raw.SparseTensorDenseMatMul(
                    a_indices=indices, a_values=x, a_shape=shape, b=y, adjoint_a=a, adjoint_b=b),
                    [x(3), x(4, inner) if b else x(inner, 4)])
        for dense in ((2, 3), (2, 1), (3,), (1,)) if dtype == "float" else ((3,),):
            for op in ("SparseDenseCwiseMul", "SparseDenseCwiseDiv"):
                file.case(f"{op}_{dtype}", lambda x, y, f=getattr(raw, op): f(
                    sp_indices=indices, sp_values=x, sp_shape=shape, dense=y), [x(3), file.values(dtype, dense, 0.5, 2.0)])
        if dtype in ("float", "double", "half"):
            file.case(f"SparseSoftmax_{dtype}", lambda x: raw.SparseSoftmax(sp_indices=indices, sp_values=x, sp_shape=shape), [x(3)])
        file.case(f"SparseFillEmptyRows_{dtype}", lambda x, d: raw.SparseFillEmptyRows(
            indices=np.int64([[0, 1], [2, 0], [2, 2]]), values=x, dense_shape=np.int64([4, 3]), default_value=d).output_values,
            [x(3), x()])
        file.case(f"SparseToDense_{dtype}", lambda x, d: raw.SparseToDense(
            sparse_indices=indices, output_shape=shape, sparse_values=x, default_value=d), [x(3), x()])
    for dtype in FLOATS:
        for op in ("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"):
            for slices in (False, True):
                file.case(f"{op}_{dtype}", lambda x, f=getattr(raw, op), s=slices: f(
                    data=x, indices=[2, 0, 2, 1], segment_ids=[0, 0, 2, 2], sparse_gradient=s), [file.values(dtype, (4, 2))])
                file.case(f"{op}WithNumSegments_{dtype}", lambda x, f=getattr(raw, op + "WithNumSegments"), s=slices: f(
                    data=x, indices=[2, 0, 2, 1], segment_ids=[0, 0, 2, 2], num_segments=4, sparse_gradient=s),
                    [file.values(dtype, (4, 2))])


def sparse_matrices(file):
    """Sparse matrices in rows, of which the elements are differentiated."""
    left, right = np.int64([[0, 1], [1, 0], [1, 2], [2, 1]]), np.int64([[0, 0], [0, 3], [1, 1], [2, 0], [2, 2]])
    for dtype in ("float", "double", "complex64", "complex128"):
        x = lambda *shape: file.values(dtype, shape)
        kind = tf.as_dtype({"float": "float32", "double": "float64"}.get(dtype, dtype))
        csr = lambda x, at: raw.DenseToCSRSparseMatrix(dense_input=x, indices=at)
        dense = lambda m, kind=kind: raw.CSRSparseMatrixToDense(sparse_input=m, type=kind)
        file.case(f"CSRSparseMatrixToDense_{dtype}", lambda x: dense(csr(x, left)), [x(3, 3)], False)
        file.case(f"SparseTensorToCSRSparseMatrix_{dtype}", lambda x: dense(raw.SparseTensorToCSRSparseMatrix(
            indices=left, values=x, dense_shape=np.int64([3, 3]))), [x(4)], False)
        file.case(f"CSRSparseMatrixToSparseTensor_{dtype}", lambda x, kind=kind: raw.CSRSparseMatrixToSparseTensor(
            sparse_matrix=csr(x, left), type=kind).values, [x(3, 3)], False)
        for conjugate in (False, True):
            file.case(f"SparseMatrixTranspose_{dtype}_{int(conjugate)}", lambda x, kind=kind, c=conjugate: dense(
                raw.SparseMatrixTranspose(input=csr(x, right), conjugate=c, type=kind)), [x(3, 4)], False)
        forms = ({}, {"transpose": True}, {"adjoint": True})
        for a, form_a in enumerate(forms):
            for b, form_b in enumerate(forms):
                attrs = {**{k + "_a": v for k, v in form_a.items()}, **{k + "_b": v for k, v in form_b.items()}}
                for output in ({}, {"transpose_output": True}, {"conjugate_output": True}) if dtype in ("double", "complex128") else ({},):
                    file.case(f"SparseMatrixMatMul_{dtype}_{a}{b}", lambda x, y, attrs=attrs, o=output: raw.SparseMatrixMatMul(
                        a=csr(x, left), b=y, **attrs, **o), [x(3, 3), x(2, 3) if b else x(3, 2)], False)
                at = right[:, ::-1] if b else right
                at = at[np.lexsort((at[:, 1], at[:, 0]))]
                file.case(f"SparseMatrixSparseMatMul_{dtype}_{a}{b}", lambda x, y, attrs=attrs, at=at, kind=kind: dense(
                    raw.SparseMatrixSparseMatMul(a=csr(x, left), b=csr(y, at), type=kind, **attrs)), [x(3, 3), x(4, 3) if b else x(3, 4)], False)


def others(file):
    """Ragged tensors, whose values are differentiated, and random numbers, whose distributions' parameters are."""
    splits = [np.int64([0, 2, 2, 3]), np.int64([0, 2, 3, 5])]
    for dtype in ALL:
        x = lambda *shape: file.values(dtype, shape)
        for default in ((), (1,), (2,)):
            file.case(f"RaggedTensorToTensor_{dtype}", lambda x, d: raw.RaggedTensorToTensor(
                shape=np.int64([-1, 2, 1, 2]), values=x, default_value=d, row_partition_tensors=splits,
                row_partition_types=["ROW_SPLITS", "ROW_SPLITS"]), [x(5, 2), x(*default)])
        file.case(f"RaggedTensorToTensor_{dtype}", lambda x, d: raw.RaggedTensorToTensor(
            shape=np.int64([-1, -1]), values=x, default_value=d, row_partition_tensors=[np.int64(4), np.int64([0, 0, 2, 3, 3])],
            row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"]), [x(5), x()])
        file.case(f"RaggedTensorToSparse_{dtype}", lambda x: raw.RaggedTensorToSparse(
            rt_nested_splits=splits, rt_dense_values=x).sparse_values, [x(5)])
        file.case(f"RaggedGather_{dtype}", lambda x: raw.RaggedGather(
            params_nested_splits=splits, params_dense_values=x, indices=[[2, 0], [2, 1]], OUTPUT_RAGGED_RANK=3)[1], [x(5, 2)])
        kind = tf.as_dtype({"float": "float32", "double": "float64", "half": "float16"}.get(dtype, dtype))
        for batched in (False, True):
            file.case(f"RaggedTensorToVariant_{dtype}_{int(batched)}", lambda x, b=batched, kind=kind: raw.RaggedTensorFromVariant(
                encoded_ragged=raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=x, batched_input=b),
                input_ragged_rank=2 - b, output_ragged_rank=2, Tvalues=kind, Tsplits=tf.int64)[1], [x(5, 2)])
        if dtype in FLOATS:
            file.case(f"IsotonicRegression_{dtype}", lambda x, kind=kind: raw.IsotonicRegression(input=x, output_dtype=kind)[0], [x(2, 5)], False)
    for dtype in ("float", "double"):
        x = lambda *shape: file.values(dtype, shape, 0.3, 5.0)
        for alpha in ((3,), ()):
            file.case(f"StatelessRandomGammaV2_{dtype}", lambda a: raw.StatelessRandomGammaV2(
                shape=[4, 3], seed=[1, 2], alpha=a), [x(*alpha)])
            file.case(f"StatelessRandomGammaV3_{dtype}", lambda a: raw.StatelessRandomGammaV3(
                shape=[4, 3], key=np.uint64([7]), counter=np.uint64([1, 2]), alg=1, alpha=a), [x(*alpha)])
        normal = lambda *xs: raw.StatelessParameterizedTruncatedNormal(
            shape=[4, 2], seed=[1, 2], means=xs[0], stddevs=xs[1], minvals=xs[2], maxvals=xs[3])
        file.case(f"StatelessParameterizedTruncatedNormal_{dtype}", normal,
                  [file.values(dtype, (2,), -1.0, 1.0), file.values(dtype, (1,), 0.5, 2.0), file.values(dtype, (), -3.0, -1.5),
                   file.values(dtype, (2,), 0.5, 3.0)])


def signal(file):
    """Fourier transforms, of all elements and of the first ones."""
    for dtype in ("complex64", "complex128"):
        x = lambda *shape: file.values(dtype, shape)
        real_name = "float" if dtype == "complex64" else "double"
        real, parts = DTYPES[real_name], lambda *shape: file.values(real_name, shape)
        for rank, suffix in ((1, ""), (2, "2D"), (3, "3D")):
            for op in ("FFT", "IFFT"):
                file.case(f"{op}{suffix}_{dtype}", lambda x, f=getattr(raw, op + suffix): f(input=x), [x(2, *(3, 2, 4)[-rank:])])
            if rank == 3:
                continue  # TensorFlow has no gradient of these
            for last in (4, 5, 1, 2):
                shape = (3, last)[-rank:]
                file.case(f"RFFT{suffix}_{dtype}", lambda x, f=getattr(raw, "RFFT" + suffix), n=shape: f(input=x, fft_length=n, Tcomplex=DTYPES[dtype]), [parts(2, *shape)])
                half = (*shape[:-1], last // 2 + 1)
                file.case(f"IRFFT{suffix}_{dtype}", lambda x, f=getattr(raw, "IRFFT" + suffix), n=shape: f(input=x, fft_length=n, Treal=real), [x(2, *half)])


def linear_algebra(file):
    """Decompositions, inverses, determinants, equations. What a decomposition is free to choose is made to count for nothing."""
    for dtype in ("double", "complex128", "float"):
        is_complex = dtype == "complex128"
        x = lambda *shape: file.values(dtype, shape, -1.0, 1.0)
        # Far from singular.
        a = lambda n, *batch: x(*batch, n, n) / 2 + 2 * np.eye(n).astype(DTYPES[dtype].as_numpy_dtype)
        spread = lambda n: a(n) + np.diag(np.arange(n)).astype(DTYPES[dtype].as_numpy_dtype)

        def positive(n, *batch):
            b = x(*batch, n, n)
            return b @ np.conj(np.swapaxes(b, -1, -2)) / n + np.diag(np.arange(1, n + 1)).astype(b.dtype)
        for adjoint in (False, True):
            file.case(f"MatrixInverse_{dtype}_{int(adjoint)}", lambda x, j=adjoint: raw.MatrixInverse(input=x, adjoint=j), [a(3, 2)])
            file.case(f"MatrixSolve_{dtype}_{int(adjoint)}", lambda x, y, j=adjoint: raw.MatrixSolve(matrix=x, rhs=y, adjoint=j), [a(3, 2), x(2, 3, 2)])
            for lower in (False, True):
                name = f"{dtype}_{int(adjoint)}{int(lower)}"
                for left, right in (((2,), (2,)), ((2, 1), (3,))) if dtype != "float" else (((), (2,)),):
                    file.case(f"MatrixTriangularSolve_{name}", lambda x, y, j=adjoint, l=lower: raw.MatrixTriangularSolve(matrix=x, rhs=y, adjoint=j, lower=l), [a(3, *left), x(*right, 3, 2)])
                    for bands in (3,):  # of one, TensorFlow loses the dimension
                        band = x(*left, bands, 4) / 2
                        band[..., 0 if lower else -1, :] += 2
                        file.case(f"BandedTriangularSolve_{name}_{bands}", lambda x, y, j=adjoint, l=lower: raw.BandedTriangularSolve(matrix=x, rhs=y, adjoint=j, lower=l), [band, x(*right, 4, 2)])
        file.case(f"LogMatrixDeterminant_{dtype}", lambda x: tf.math.real(raw.LogMatrixDeterminant(input=x)[1]), [a(3, 2)])
        file.case(f"Cholesky_{dtype}", lambda x: raw.Cholesky(input=(x + tf.linalg.adjoint(x)) / 2), [positive(3, 2)])
        file.case(f"Cholesky_{dtype}", lambda x: raw.Cholesky(input=(x + tf.linalg.adjoint(x)) / 2), [positive(1)])
        weight = np.float64(0.3)
        for m, n in ((3, 3), (4, 2), (2, 4)) if not is_complex else ((4, 2), (2, 4)):
            if is_complex and m > n:
                continue  # a transpose of TensorFlow's is not conjugated
            file.case(f"MatrixSolveLs_{dtype}_{m}{n}", lambda x, y: raw.MatrixSolveLs(matrix=x, rhs=y, l2_regularizer=weight, fast=True), [x(2, m, n), x(2, m, 2)], False)
        for m, n in ((3, 3), (4, 2), (2, 4), (1, 1)):
            file.case(f"Qr_{dtype}_{m}{n}", lambda x: raw.Qr(input=x), [x(m, n)], False)
            if m <= n:
                file.case(f"Qr_{dtype}_{m}{n}_full", lambda x: raw.Qr(input=x, full_matrices=True), [x(m, n)], False)

        def svd(x, full=False):
            s, u, v = raw.Svd(input=x, full_matrices=full)
            k = min(x.shape[-2:])
            return tf.math.real(s), tf.matmul(u[..., :k], v[..., :k], adjoint_b=True)
        for m, n in ((3, 3), (4, 2), (2, 4), (3, 4)):
            file.case(f"Svd_{dtype}_{m}{n}", svd, [x(m, n)], False)
            if abs(m - n) < 2:
                file.case(f"Svd_{dtype}_{m}{n}_full", lambda x: svd(x, True), [x(m, n)], False)
            file.case(f"Svd_{dtype}_{m}{n}_values", lambda x: tf.math.real(raw.Svd(input=x, compute_uv=False)[0]), [x(m, n)], False)

        def of_eigenvectors(e, v):
            return e, tf.matmul(v * tf.exp(e)[..., tf.newaxis, :], v, adjoint_b=True)
        file.case(f"SelfAdjointEigV2_{dtype}", lambda x: of_eigenvectors(*raw.SelfAdjointEigV2(input=x)), [positive(3, 2)])
        file.case(f"SelfAdjointEigV2_{dtype}_values", lambda x: raw.SelfAdjointEigV2(input=x, compute_v=False)[0], [positive(3, 2)])
        out = DTYPES["complex64" if dtype == "float" else "complex128"]

        def exponential(x):
            e, v = raw.Eig(input=x, Tout=out)
            return tf.reduce_sum(e * e), tf.matmul(v * tf.exp(e)[..., tf.newaxis, :], tf.linalg.inv(v))
        file.case(f"Eig_{dtype}", exponential, [spread(3)])
        file.case(f"Eig_{dtype}_values", lambda x: tf.reduce_sum(tf.exp(raw.Eig(input=x, Tout=out, compute_v=False)[0])), [spread(3)])
        if not is_complex:
            # Of complex numbers TensorFlow's lack conjugates.
            file.case(f"MatrixDeterminant_{dtype}", lambda x: raw.MatrixDeterminant(input=x), [a(3, 2)])
            file.case(f"MatrixSquareRoot_{dtype}", lambda x: raw.MatrixSquareRoot(input=x), [positive(3, 2)])
            for pivoting in (False, True):
                diagonals = x(2, 3, 4)
                diagonals[..., 1, :] += 3
                file.case(f"TridiagonalSolve_{dtype}_{int(pivoting)}", lambda x, y, p=pivoting: raw.TridiagonalSolve(diagonals=x, rhs=y, partial_pivoting=p), [diagonals, x(2, 4, 2)])
        file.case(f"TridiagonalMatMul_{dtype}", lambda a, b, c, y: raw.TridiagonalMatMul(superdiag=a, maindiag=b, subdiag=c, rhs=y), [x(2, 1, 4), x(2, 1, 4), x(2, 1, 4), x(2, 4, 3)])


def recurrent(file):
    """Recurrent layers, labels without places in time, pools of random windows."""
    x = lambda *shape: file.values("float", shape, -0.7, 0.7)
    for peephole in (False, True):
        for steps in (3, 2):
            values = [x(3, 2, 4), x(2, 3), x(2, 3), x(7, 12), x(3), x(3), x(3), x(12)]

            def layer(x, cs, h, w, wci, wcf, wco, b):
                found = raw.BlockLSTM(seq_len_max=np.int64(steps), x=x, cs_prev=cs, h_prev=h, w=w, wci=wci, wcf=wcf, wco=wco, b=b, use_peephole=peephole, cell_clip=0.0)
                return found.cs, found.h
            file.case(f"BlockLSTM_{steps}_{int(peephole)}", layer, values)
    for merges in (False, True):
        # TensorFlow computes those of doubles as floats.
        file.case(f"CTCLoss_{int(merges)}", lambda x: raw.CTCLoss(inputs=x, labels_indices=np.array([[0, 0], [0, 1], [1, 0]]), labels_values=np.int32([1, 1, 0]),
                                                                  sequence_length=np.int32([5, 3]), ctc_merge_repeated=merges)[0], [x(5, 2, 4)])
    for dtype in ("float", "double"):
        for overlaps in (False, True):
            attrs = dict(pooling_ratio=[1.0, 1.6, 1.3, 1.0], deterministic=True, seed=1, overlapping=overlaps)
            file.case(f"FractionalMaxPool_{dtype}_{int(overlaps)}", lambda x: raw.FractionalMaxPool(value=x, **attrs)[0], [file.values(dtype, (2, 7, 6, 2))])
            # Of unknown shapes TensorFlow has no gradient.
            file.case(f"FractionalAvgPool_{dtype}_{int(overlaps)}", lambda x: raw.FractionalAvgPool(value=x, **attrs)[0], [file.values(dtype, (2, 7, 6, 2))], unknown=False)


def main():
    parser = argparse.ArgumentParser(description="Writes gradients that TensorFlow computes; see the top of the file.")
    parser.add_argument("-o", "--output", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "data"))
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    for family in (unary, binary, products, reductions, moves, networks, rows, scans, images, volumes, pictures, quantized,
                   seconds, places, sparse, sparse_matrices, others, signal, linear_algebra, recurrent):
        if arguments.families and family.__name__ not in arguments.families:
            continue
        file = File(os.path.join(arguments.output, f"{family.__name__}.pb"))
        family(file)
        file.write()


if __name__ == "__main__":
    main()
