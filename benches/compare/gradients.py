#!/usr/bin/env python3
"""Holds the gradients of whole models with respect to all their weights against TensorFlow's.

Usage: gradients.py --kernlink COMMAND --models DIR [--second] [NAME...]
Needs: requirements.txt, in a virtual environment of its own, and what export_models.py has written to DIR.

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


def compare(kernlink, folder, name, second):
    with open(os.path.join(folder, name + ".json")) as file:
        about = json.load(file)
    graph_def = read(os.path.join(folder, name + ".pb"))
    y_name = before_softmax(graph_def, about["fetch"][0])
    feeds = {feed: np.load(os.path.join(folder, path)) for feed, path in about["feeds"].items()}
    weights = [node.name for node in graph_def.node if node.op == "Const" and node.attr["dtype"].type == 1
               and int(np.prod([dim.size for dim in node.attr["value"].tensor.tensor_shape.dim] or [1])) > 1]
    v1.experimental.output_all_intermediates(True)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
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
    parser.add_argument("--models", required=True)
    parser.add_argument("--second", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    names = arguments.names or sorted(path[:-3] for path in os.listdir(arguments.models) if path.endswith(".pb"))
    for name in names:
        compare(os.path.abspath(arguments.kernlink), arguments.models, name, arguments.second)


if __name__ == "__main__":
    sys.exit(main())
