#!/usr/bin/env python3
"""Holds the gradients of whole models with respect to all their weights against TensorFlow's.

Usage: gradients.py --kernlink COMMAND [--models DIR] [--second] [NAME...]
Needs: requirements.txt, in a virtual environment of its own, and what export_models.py has written to DIR, but for seq2seq and
dynamic-rnn, whose loops are those of TensorFlow 1 with TensorArrays: TensorFlow cannot differentiate these when they come from a file.

Of each model the last output is differentiated, before a Softmax if that is last, with random numbers that flow back, with respect
to every constant of floats that has more than one element. Told is the largest difference, relative to the largest element of the
gradient. With --second, the gradient of the sum of all gradients with respect to the inputs is compared, too.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2

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
    return np.abs(found - expected).max() / size if size else np.abs(found).max()


def from_file(folder, name):
    """Adds a model to the graph; the name of its output, and what is fed."""
    with open(os.path.join(folder, name + ".json")) as file:
        about = json.load(file)
    graph_def = read(os.path.join(folder, name + ".pb"))
    tf.import_graph_def(graph_def, name="")
    feeds = {feed: np.load(os.path.join(folder, path)) for feed, path in about["feeds"].items()}
    return before_softmax(graph_def, about["fetch"][0]), feeds


WIDTH, TOKENS = 64, 50
RANDOM = np.random.default_rng(2)


def weight(*shape):
    return tf.constant((RANDOM.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))


def gated(inputs):
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
    taken = tf.TensorArray(tf.float32, length).unstack(xs)

    def body(time, state, given):
        state = step(taken.read(time), state)
        return time + 1, state, given.write(time, state)

    given = tf.TensorArray(tf.float32, length)
    _, state, given = tf.while_loop(lambda time, *_: time < length, body, [tf.constant(0), state, given])
    return given.stack(), state


def seq2seq():
    """An encoder and a decoder that looks at all that the encoder gave."""
    source, target = v1.placeholder(tf.int32, [4, 12], "source"), v1.placeholder(tf.int32, [4, 10], "target")
    words = weight(TOKENS, WIDTH)
    embedded = [tf.transpose(tf.gather(words, tokens), [1, 0, 2]) for tokens in (source, target)]
    encoded, state = loop(gated(WIDTH), embedded[0], tf.zeros([4, WIDTH]), 12)
    encoded, unit, scores = tf.transpose(encoded, [1, 0, 2]), gated(2 * WIDTH), weight(WIDTH, WIDTH)

    def step(x, state):
        shares = tf.nn.softmax(tf.matmul(tf.expand_dims(tf.matmul(state, scores), 1), encoded, transpose_b=True))
        return unit(tf.concat([x, tf.squeeze(tf.matmul(shares, encoded), 1)], 1), state)

    decoded, _ = loop(step, embedded[1], state, 10)
    logits = tf.nn.bias_add(tf.matmul(tf.reshape(decoded, [-1, WIDTH]), weight(WIDTH, TOKENS)), weight(TOKENS))
    feeds = {"source": RANDOM.integers(0, TOKENS, [4, 12], np.int32), "target": RANDOM.integers(0, TOKENS, [4, 10], np.int32)}
    return logits.name, feeds


class Unit:
    """A cell as `dynamic_rnn` takes it."""

    state_size = output_size = WIDTH

    def __init__(self):
        self.step = gated(WIDTH)

    def zero_state(self, batch, dtype):
        return tf.zeros([batch, WIDTH], dtype)

    def __call__(self, inputs, state, scope=None):
        state = self.step(inputs, state)
        return state, state


def dynamic_rnn():
    """Sequences of several lengths."""
    x, lengths = v1.placeholder(tf.float32, [5, 20, WIDTH], "x"), tf.constant([20, 7, 13, 1, 16])
    outputs, state = v1.nn.dynamic_rnn(Unit(), x, lengths, dtype=tf.float32)
    y = tf.concat([tf.reshape(outputs, [-1, WIDTH]), state], 0)
    return y.name, {"x": RANDOM.standard_normal([5, 20, WIDTH]).astype(np.float32)}


BUILT = {"seq2seq": seq2seq, "dynamic-rnn": dynamic_rnn}


def compare(kernlink, folder, name, second):
    v1.experimental.output_all_intermediates(True)
    with tf.Graph().as_default() as graph:
        y_name, feeds = BUILT[name]() if name in BUILT else from_file(folder, name)
        weights = [node.name for node in graph.as_graph_def().node if node.op == "Const" and node.attr["dtype"].type == 1
                   and int(np.prod([dim.size for dim in node.attr["value"].tensor.tensor_shape.dim] or [1])) > 1]
        y = graph.get_tensor_by_name(tensor(y_name))
        feed_dict = {graph.get_tensor_by_name(tensor(feed)): value for feed, value in feeds.items()}
        with v1.Session(graph=graph) as session:
            shape = session.run(y, feed_dict).shape
        flow = tf.constant(np.random.default_rng(1).standard_normal(shape).astype(np.float32), name="flow")
        xs = [graph.get_tensor_by_name(weight + ":0") for weight in weights]
        forward = graph.as_graph_def()
        gradients = tf.gradients([y], xs, [flow])
        first = {k: tf.convert_to_tensor(g) for k, g in enumerate(gradients) if g is not None}
        inputs = [x for x in feed_dict if x.dtype.is_floating]
        again = tf.gradients(list(first.values()), inputs) if second else []
        with v1.Session(graph=graph) as session:
            expected, expected_second = session.run([first, again], feed_dict)
    with tempfile.TemporaryDirectory() as scratch:
        ours = lambda name: os.path.join(scratch, name)  # noqa: E731
        with open(ours("model.pb"), "wb") as file:
            file.write(forward.SerializeToString())

        def add(model, out, ys, xs, flows=()):
            command = [kernlink, "gradients", ours(model), "-o", ours(out)]
            command += [part for name in ys for part in ("--y", name)] + [part for name in xs for part in ("--x", name)]
            subprocess.run(command + [part for name in flows for part in ("--grad-y", name)], check=True,
                           stdout=subprocess.DEVNULL)

        def run(model, fetches):
            command = [kernlink, "run", ours(model), "--save", ours("answers")]
            command += [part for feed in feeds for part in ("--input", f"{feed}=@{ours(feed + '.npy')}")]
            subprocess.run(command + [part for name in fetches for part in ("--output", name)], check=True,
                           stdout=subprocess.DEVNULL)
            return [np.load(ours(f"answers/{name.replace('/', '_')}.npy")) for name in fetches]

        for feed, value in feeds.items():
            np.save(ours(feed + ".npy"), value)
        add("model.pb", "first.pb", [y_name], weights, ["flow"])
        names = {k: f"gradients/{k}" for k in expected}
        found = dict(zip(names, run("first.pb", names.values())))
        # A gradient that is zero but for rounding, as that of the bias of keys is, says nothing.
        largest = max(np.abs(gradient).max() for gradient in expected.values())
        zeros = [k for k in expected if max(np.abs(found[k]).max(), np.abs(expected[k]).max()) < 1e-7 * largest]
        told = [k for k in expected if k not in zeros]
        worst = max(told, key=lambda k: relative(found[k], expected[k]))
        print(f"{name}: {len(told)} of {len(weights)} weights, at most {relative(found[worst], expected[worst]):.1e} of the "
              f"largest element ({weights[worst]}); {len(zeros)} are zero but for rounding", flush=True)
        if second:
            add("first.pb", "second.pb", list(names.values()), list(feeds))
            for (feed, _), answer in zip(feeds.items(), expected_second):
                (found,) = run("second.pb", [f"gradients_1/{list(feeds).index(feed)}"])
                print(f"{name}: second order with respect to {feed}, {relative(found, answer):.1e} of the largest element", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Compares gradients of whole models; see the top of the file.")
    parser.add_argument("--kernlink", required=True)
    parser.add_argument("--models")
    parser.add_argument("--second", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    files = sorted(path[:-3] for path in os.listdir(arguments.models) if path.endswith(".pb")) if arguments.models else []
    names = arguments.names or [*files, *BUILT]
    if missing := [name for name in names if name not in files and name not in BUILT]:
        parser.error(f"there is no model {missing[0]}: {', '.join([*files, *BUILT])}")
    for name in names:
        # Gradients, too, are made in the form of the loops.
        (v1.disable_control_flow_v2 if name in BUILT else v1.enable_control_flow_v2)()
        compare(os.path.abspath(arguments.kernlink), arguments.models, name, arguments.second)


if __name__ == "__main__":
    sys.exit(main())
