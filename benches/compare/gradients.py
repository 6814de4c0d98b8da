#!/usr/bin/env python3
"""Holds the gradients of whole models with respect to all their weights against TensorFlow's.

Usage: gradients.py --kernlink COMMAND [--models DIR] [--second] [--double] [--each] [NAME...]
Needs: requirements.txt, in a virtual environment of its own, and what export_models.py has written to DIR, but for seq2seq and
dynamic-rnn, whose loops are those of TensorFlow 1 with TensorArrays: TensorFlow cannot differentiate these when they come from a file.

Of each model the last output is differentiated, before a Softmax if that is last, with random numbers that flow back, with respect
to every constant of floats that has more than one element. Told is the largest difference, relative to the largest element of the
gradient. With --second, the gradient of the sum of all gradients with respect to the inputs is compared, too. With --double, Kernlink
and TensorFlow are both held against what TensorFlow computes when all floats of the same graph are doubles. --each tells the
difference of every weight.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2, node_def_pb2

v1 = tf.compat.v1


def read(path):
    graph = graph_pb2.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    return graph


def before_softmax(graph, name):
    nodes = {node.name: node for node in graph.node}
    node = nodes[name.split(":")[0]]
    while node.op == "Identity":
        node = nodes[node.input[0].split(":")[0]]
    return node.input[0] if node.op == "Softmax" else name


def tensor(name):
    return name if ":" in name else name + ":0"


def relative(found, expected):
    size = np.abs(expected).max()
    difference = np.nan_to_num(np.abs(found - expected).max(), nan=np.inf)
    return difference / size if size else difference


def from_file(folder, name):
    """Adds a model to the graph; the name of its output, and what is fed."""
    with open(os.path.join(folder, name + ".json")) as file:
        about = json.load(file)
    graph_def = read(os.path.join(folder, name + ".pb"))
    tf.import_graph_def(graph_def, name="")
    feeds = {feed: np.load(os.path.join(folder, path)) for feed, path in about["feeds"].items()}
    return before_softmax(graph_def, about["fetch"][0]), feeds


WIDTH, TOKENS = 64, 50


class Weights:
    """Makes the same random weights for each dtype."""

    def __init__(self, dtype):
        self.dtype, self.random = dtype, np.random.default_rng(2)

    def __call__(self, *shape):
        return tf.constant((self.random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32), self.dtype)


def gated(weight, inputs):
    """A gated recurrent unit, of inputs of so many elements."""
    gates, bias = weight(inputs + WIDTH, 2 * WIDTH), weight(2 * WIDTH)
    candidate, candidate_bias = weight(inputs + WIDTH, WIDTH), weight(WIDTH)

    def step(x, state):
        reset, update = tf.split(tf.sigmoid(tf.nn.bias_add(tf.matmul(tf.concat([x, state], 1), gates), bias)), 2, 1)
        new = tf.matmul(tf.concat([x, reset * state], 1), candidate)
        return update * state + (1 - update) * tf.tanh(tf.nn.bias_add(new, candidate_bias))

    return step


def loop(step, xs, state, length):
    """What a unit makes of each of `xs`, in TensorArrays."""
    taken = tf.TensorArray(xs.dtype, length).unstack(xs)

    def body(time, state, given):
        state = step(taken.read(time), state)
        return time + 1, state, given.write(time, state)

    given = tf.TensorArray(xs.dtype, length)
    _, state, given = tf.while_loop(lambda time, *_: time < length, body, [tf.constant(0), state, given])
    return given.stack(), state


def seq2seq(weight):
    """An encoder and a decoder that looks at all that the encoder gave."""
    source, target = v1.placeholder(tf.int32, [4, 12], "source"), v1.placeholder(tf.int32, [4, 10], "target")
    words = weight(TOKENS, WIDTH)
    embedded = [tf.transpose(tf.gather(words, tokens), [1, 0, 2]) for tokens in (source, target)]
    encoded, state = loop(gated(weight, WIDTH), embedded[0], tf.zeros([4, WIDTH], weight.dtype), 12)
    encoded, unit, scores = tf.transpose(encoded, [1, 0, 2]), gated(weight, 2 * WIDTH), weight(WIDTH, WIDTH)

    def step(x, state):
        shares = tf.nn.softmax(tf.matmul(tf.expand_dims(tf.matmul(state, scores), 1), encoded, transpose_b=True))
        return unit(tf.concat([x, tf.squeeze(tf.matmul(shares, encoded), 1)], 1), state)

    decoded, _ = loop(step, embedded[1], state, 10)
    logits = tf.nn.bias_add(tf.matmul(tf.reshape(decoded, [-1, WIDTH]), weight(WIDTH, TOKENS)), weight(TOKENS))
    feeds = {name: weight.random.integers(0, TOKENS, [4, size], np.int32) for name, size in (("source", 12), ("target", 10))}
    return logits.name, feeds


class Unit:
    """A cell as `dynamic_rnn` takes it."""

    state_size = output_size = WIDTH

    def __init__(self, weight):
        self.step = gated(weight, WIDTH)

    def zero_state(self, batch, dtype):
        return tf.zeros([batch, WIDTH], dtype)

    def __call__(self, inputs, state, scope=None):
        state = self.step(inputs, state)
        return state, state


def dynamic_rnn(weight):
    """Sequences of several lengths."""
    x, lengths = v1.placeholder(weight.dtype, [5, 20, WIDTH], "x"), tf.constant([20, 7, 13, 1, 16])
    outputs, state = v1.nn.dynamic_rnn(Unit(weight), x, lengths, dtype=weight.dtype)
    y = tf.concat([tf.reshape(outputs, [-1, WIDTH]), state], 0)
    return y.name, {"x": weight.random.standard_normal([5, 20, WIDTH]).astype(np.float32)}


BUILT = {"seq2seq": seq2seq, "dynamic-rnn": dynamic_rnn}
FLOAT, DOUBLE = tf.float32.as_datatype_enum, tf.float64.as_datatype_enum


def widen(nodes):
    """Makes doubles of all floats of nodes."""
    for value in [value for node in nodes for value in node.attr.values()]:
        if value.type == FLOAT:
            value.type = DOUBLE
        if value.HasField("list"):
            value.list.type[:] = [DOUBLE if dtype == FLOAT else dtype for dtype in value.list.type]
        if value.HasField("func"):
            value.func.name += "_double"
        if value.HasField("tensor") and value.tensor.dtype == FLOAT:
            value.tensor.CopyFrom(tf.make_tensor_proto(tf.make_ndarray(value.tensor).astype(np.float64)))


def normalisation(node):
    """What makes up a FusedBatchNorm with given statistics, of which TensorFlow has no kernel for doubles."""
    if node.attr["is_training"].b:
        sys.exit(f"{node.name}: statistics of batches are not known in double")
    x, scale, offset, mean, variance = node.input
    made = []

    def step(op, *inputs, name=None):
        made.append(node_def_pb2.NodeDef(name=name or f"{node.name}/{op}{len(made)}", op=op, input=inputs))
        made[-1].attr["T"].type = DOUBLE
        return made[-1].name

    epsilon = node_def_pb2.NodeDef(name=node.name + "/epsilon", op="Const")
    epsilon.attr["dtype"].type = DOUBLE
    epsilon.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.float64(node.attr["epsilon"].f)))
    factor = step("Mul", scale, step("Rsqrt", step("AddV2", variance, epsilon.name)))
    step("AddV2", step("Mul", step("Sub", x, mean), factor), offset, name=node.name)
    return [epsilon, *made]


def in_double(graph_def):
    """The same graph with doubles for floats, and functions of other names."""
    nodes = [made for node in graph_def.node for made in (normalisation(node) if node.op.startswith("FusedBatchNorm") else [node])]
    double = graph_pb2.GraphDef(node=nodes, library=graph_def.library, versions=graph_def.versions)
    widen(double.node)
    for function in double.library.function:
        function.signature.name += "_double"
        widen(function.node_def)
        for argument in [*function.signature.input_arg, *function.signature.output_arg]:
            argument.type = DOUBLE if argument.type == FLOAT else argument.type
    return double


def differentiate(graph, y, weights, feeds, second):
    """TensorFlow's gradients, by the weight's number, and those of their sum with respect to inputs."""
    named = lambda name: graph.get_tensor_by_name(tensor(name))  # noqa: E731
    with graph.as_default(), v1.Session(graph=graph) as session:
        gradients = tf.gradients([named(y)], [named(weight) for weight in weights], [named("flow")])
        first = {k: tf.convert_to_tensor(g) for k, g in enumerate(gradients) if g is not None}
        again = dict(zip(second, tf.gradients(list(first.values()), [named(x) for x in second]))) if second else {}
        return session.run([first, again], {named(feed): value for feed, value in feeds.items()})


def kernlinks(kernlink, graph_def, y, weights, feeds, second, wanted):
    """Kernlink's gradients: those of the weights `wanted`, and those of their sum with respect to inputs."""
    with tempfile.TemporaryDirectory() as scratch:
        ours = lambda name: os.path.join(scratch, name)  # noqa: E731
        with open(ours("model.pb"), "wb") as file:
            file.write(graph_def.SerializeToString())

        def add(model, out, ys, xs, flows=()):
            command = [kernlink, "gradients", ours(model), "-o", ours(out)]
            command += [part for name in ys for part in ("--y", name)] + [part for name in xs for part in ("--x", name)]
            subprocess.run(command + [part for name in flows for part in ("--grad-y", name)], check=True,
                           stdout=subprocess.DEVNULL)

        def run(model, fetches):
            command = [kernlink, "run", ours(model), "--save", ours("answers")]
            command += [part for feed in feeds for part in ("--input", f"{feed}=@{ours(feed + '.npy')}")]
            subprocess.run(command + [part for name in fetches.values() for part in ("--output", name)], check=True,
                           stdout=subprocess.DEVNULL)
            return {key: np.load(ours(f"answers/{name.replace('/', '_')}.npy")) for key, name in fetches.items()}

        for feed, value in feeds.items():
            np.save(ours(feed + ".npy"), value)
        add("model.pb", "first.pb", [y], weights, ["flow"])
        names = {k: f"gradients/{k}" for k in wanted}
        first, again = run("first.pb", names), {}
        if second:
            add("first.pb", "second.pb", names.values(), second)
            again = run("second.pb", {x: f"gradients_1/{k}" for k, x in enumerate(second)})
        return first, again


def compare(kernlink, folder, name, second, double, each):
    v1.experimental.output_all_intermediates(True)
    with tf.Graph().as_default() as graph:
        y, feeds = BUILT[name](Weights(tf.float32)) if name in BUILT else from_file(folder, name)
        weights = [node.name for node in graph.as_graph_def().node if node.op == "Const" and node.attr["dtype"].type == FLOAT
                   and int(np.prod([dim.size for dim in node.attr["value"].tensor.tensor_shape.dim] or [1])) > 1]
        with v1.Session(graph=graph) as session:
            shape = session.run(tensor(y), {tensor(feed): value for feed, value in feeds.items()}).shape
        flow = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        tf.constant(flow, name="flow")
    forward = graph.as_graph_def()
    inputs = [feed for feed, value in feeds.items() if second and value.dtype == np.float32]
    theirs = differentiate(graph, y, weights, feeds, inputs)
    ours = kernlinks(kernlink, forward, y, weights, feeds, inputs, theirs[0])
    sides, truth, rounding = {"Kernlink": ours}, theirs, 1e-7
    if double:
        with tf.Graph().as_default() as graph:
            # TensorFlow cannot differentiate what is built when it comes from a file.
            if name in BUILT:
                BUILT[name](Weights(tf.float64))
                tf.constant(flow, tf.float64, name="flow")
            else:
                tf.import_graph_def(in_double(forward), name="")
        sides, truth, rounding = {"Kernlink": ours, "TensorFlow": theirs}, differentiate(graph, y, weights, feeds, inputs), 1e-14
    # A gradient that is zero but for rounding, as that of the bias of keys is, says nothing.
    largest = max(np.abs(gradient).max() for gradient in truth[0].values())
    limits = [(truth[0], rounding * largest), *((first, 1e-7 * largest) for first, _ in sides.values())]
    told = [k for k in truth[0] if not all(np.abs(gradients[k]).max() < limit for gradients, limit in limits)]
    print(f"{name}: {len(told)} of {len(weights)} weights, {len(truth[0]) - len(told)} are zero but for rounding")
    differences = {side: {k: relative(first[k], truth[0][k]) for k in told} for side, (first, _) in sides.items()}
    for side, (_, again) in sides.items():
        worst = max(told, key=differences[side].get)
        print(f"  {side} differs by {differences[side][worst]:.1e} at most ({weights[worst]})", flush=True)
        for x, answer in again.items():
            print(f"  {side}'s second order with respect to {x} by {relative(answer, truth[1][x]):.1e}", flush=True)
    for k in told if each else []:
        print("", *(f"{difference[k]:.1e}" for difference in differences.values()), weights[k], flush=True)


def main():
    parser = argparse.ArgumentParser(description="Compares gradients of whole models; see the top of the file.")
    parser.add_argument("--kernlink", required=True)
    parser.add_argument("--models")
    parser.add_argument("--second", action="store_true")
    parser.add_argument("--double", action="store_true")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    files = sorted(path[:-3] for path in os.listdir(arguments.models) if path.endswith(".pb")) if arguments.models else []
    names = arguments.names or [*files, *BUILT]
    if missing := [name for name in names if name not in files and name not in BUILT]:
        parser.error(f"there is no model {missing[0]}: {', '.join([*files, *BUILT])}")
    for name in names:
        # Gradients, too, are made in the form of the loops.
        (v1.disable_control_flow_v2 if name in BUILT else v1.enable_control_flow_v2)()
        compare(os.path.abspath(arguments.kernlink), arguments.models, name, arguments.second, arguments.double, arguments.each)


if __name__ == "__main__":
    sys.exit(main())
