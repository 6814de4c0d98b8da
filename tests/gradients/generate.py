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
        self.skipped = []
        self.nodes = graph_pb2.GraphDef()

    def values(self, dtype, shape, low=-2.0, high=2.0):
        real = self.random.uniform(low, high, shape)
        if dtype.startswith("complex"):
            real = real + 1j * self.random.uniform(low, high, shape)
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


def binary(file):
    """Functions of two elements: equal shapes, and shapes that broadcast."""
    shapes = [((2, 3), (2, 3)), ((2, 3), ()), ((), (3,)), ((2, 1, 3), (4, 1)), ((1, 3), (2, 1)), ((0, 3), (1, 3))]
    of_all = ("Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "DivNoNan", "MulNoNan", "SquaredDifference", "Pow", "Xlogy",
              "Xdivy")
    of_floats = ("Maximum", "Minimum", "Atan2", "FloorMod", "FloorDiv")
    positive = {"Pow", "RealDiv", "Div", "DivNoNan", "Xlogy", "Xdivy", "FloorMod", "FloorDiv"}
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
    for op in ("Pow", "DivNoNan", "MulNoNan", "Xlogy", "Xdivy"):
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


def main():
    parser = argparse.ArgumentParser(description="Writes gradients that TensorFlow computes; see the top of the file.")
    parser.add_argument("-o", "--output", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "data"))
    parser.add_argument("families", nargs="*", metavar="FAMILY")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    for family in (unary, binary, products, reductions, moves, networks):
        if arguments.families and family.__name__ not in arguments.families:
            continue
        file = File(os.path.join(arguments.output, f"{family.__name__}.pb"))
        family(file)
        file.write()


if __name__ == "__main__":
    main()
