"""Runs what the tests of this folder built in TensorFlow, and compares.

    mkdir out
    KERNLINK_EXPORT=$PWD/out cargo test --features cli --test runtime control_flow
    python compare.py out
"""

import pathlib
import sys

import tensorflow as tf

v1 = tf.compat.v1
runs = failures = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.pb")):
    def_ = v1.GraphDef.FromString(path.read_bytes())
    if any(function.signature.name == "Factorial" for function in def_.library.function):
        continue  # TensorFlow overflows its stack where a PartitionedCall leads back to its own function.
    for node in [*def_.node, *(node for function in def_.library.function for node in function.node_def)]:
        if node.op == "Picky":  # An op of the tests, which gives what it takes: here nothing below zero.
            node.op = "Abs"
            node.attr["T"].type = tf.float32.as_datatype_enum
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(def_, name="")
    lines = path.with_suffix(".txt").read_text().splitlines()
    fetches = [name if ":" in name else name + ":0" for name in lines[0].split()[1:]]
    for line in lines[1:]:
        given, expected = line.removeprefix("run ").split("->")
        feeds = dict(feed.split("=") for feed in given.split())
        # Variables keep their values within a session.
        with v1.Session(graph=graph) as session:
            tensors = {graph.get_tensor_by_name(name + ":0"): float(value) for name, value in feeds.items()}
            feeds = {tensor: tensor.dtype.as_numpy_dtype(value) for tensor, value in tensors.items()}
            values = [float(value) for value in session.run(fetches, feeds)]
        runs += 1
        if values != [float(value) for value in expected.split()]:
            failures += 1
            print(f"{path.name}: {given}gives {values} and not {expected}")
print(f"{runs} runs, {failures} failures")
sys.exit(failures > 0)
