#!/usr/bin/env python3
"""Writes runs.pb: CalibrationStatisticsSaver, and the files that TensorFlow writes when a session ends.

A GraphDef. `NAME/op` is a node under test, whose attr says no file; the Const `NAME/run/K/I` is what run K feeds to its input
I, a placeholder of the name `NAME/I`. The Const `NAME/file` is what the file then holds, with ids in order, as TensorFlow's
have none; `NAME/error` the code with which a run fails. Needs TensorFlow; see ../golden/README.md.

    python tests/calibration/generate.py
"""
import gc
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "golden"))
import numpy as np  # noqa: E402
from tensorflow.compiler.mlir.quantization.tensorflow.calibrator import calibration_statistics_pb2  # noqa: E402

import golden  # noqa: E402
from golden import v1  # noqa: E402

DTYPES = {"float": np.float32, "int64": np.int64}


def const(graph, name, value):
    node = graph.node.add(name=name, op="Const")
    node.attr["value"].tensor.CopyFrom(golden.tf.make_tensor_proto(value))
    node.attr["dtype"].type = node.attr["value"].tensor.dtype


def add(graph, name, ids, methods, runs, dtypes=None):
    dtypes = dtypes or ["float", "float", "int64"] * len(ids)
    own = golden.graph_pb2.GraphDef()
    for k, dtype in enumerate(dtypes):
        own.node.add(name=f"{name}/{k}", op="Placeholder").attr["dtype"].type = golden.enum(dtype)
    node = own.node.add(name=f"{name}/op", op="CalibrationStatisticsSaver", input=[f"{name}/{k}" for k in range(len(dtypes))])
    node.attr["Tin"].list.type.extend(golden.enum(dtype) for dtype in dtypes)
    node.attr["ids"].list.s.extend(id.encode() for id in ids)
    node.attr["calibration_methods"].list.i.extend(methods)
    node.attr["output_file_path"].s = b""
    graph.node.extend(own.node)
    values = [[DTYPES[dtype](value) for dtype, value in zip(dtypes, run)] for run in runs]
    for k, run in enumerate(values):
        for i, value in enumerate(run):
            const(graph, f"{name}/run/{k}/{i}", value)
    with tempfile.NamedTemporaryFile() as file:
        node.attr["output_file_path"].s = file.name.encode()
        try:
            with v1.Graph().as_default() as g:
                golden.tf.import_graph_def(own, name="")
                with golden.session(g) as session:
                    for run in values:
                        session.run(f"{name}/op", {f"{name}/{i}:0": value for i, value in enumerate(run)})
            del g, session
            gc.collect()
            written = calibration_statistics_pb2.CalibrationStatisticsMap.FromString(pathlib.Path(file.name).read_bytes())
            const(graph, f"{name}/file", written.SerializeToString(deterministic=True))
        except golden.errors.OpError as error:
            const(graph, f"{name}/error", golden._code(error).encode())


def main():
    graph = golden.graph_pb2.GraphDef()
    graph.versions.producer = v1.GRAPH_DEF_VERSION if hasattr(v1, "GRAPH_DEF_VERSION") else golden.tf.version.GRAPH_DEF_VERSION
    nan, inf = np.nan, np.inf
    ranges = {
        "two": [[1, 5, []], [-1, 2, [1]]], "zeros": [[0, 0, []]], "negative-zeros": [[-0.0, -0.0, []]], "turned": [[2, 1, []]],
        "nan": [[nan, 1, []], [0, nan, []]], "nan-first": [[nan, 1, []]], "nan-last": [[1, nan, []]], "infinite": [[-inf, inf, []]],
        "nothing": [[inf, -inf, []]], "vectors": [[[1], [[2]], [[1, 2], [3, 4]]]],
    }
    for method in (-1, 0, 1, 2, 7):
        for tag, runs in ranges.items():
            add(graph, f"{tag}-{method}", ["x"], [method], runs)
    r = np.random.RandomState(0)
    batches = lambda count, scale, bins: [[*np.sort(r.randn(2) * scale), r.randint(0, 50, bins)] for _ in range(count)]
    histograms = {
        "one": [[1, 5, [1, 4, 6, 7, 3, 2, 1, 0]]], "none": [[1, 5, []]], "zeros": [[1, 5, [0, 0]]], "negative": [[1, 5, [-3, 2]]],
        "matrix": [[0, 1, [[1, 2], [3, 4]]]], "wider": [[1, 5, [1, 4, 6, 7, 3, 2, 1, 0]], [-1, 2, [1, 2, 3]], [0, 20, [5, 6, 7, 8]]],
        "narrower": [[0, 10, [3, 4]], [0, 1, [1, 2, 3, 4, 5, 6, 7, 8]]], "apart": [[100, 101, [1, 2]], [-50, -40, [3, 4, 5]]],
        "more": batches(5, 1, 8), "small": batches(3, 1e-3, 33), "large": batches(4, 1e4, 64), "many": batches(20, 3, 5),
    }
    for k, (tag, runs) in enumerate(histograms.items()):
        add(graph, f"histogram-{tag}", ["x"], [3 + k % 4], runs)
    add(graph, "several", ["b", "a", "b", "c"], [0, 2, 2, 4], [[1, 5, [], 2, 3, [], 7, 8, [], 0, 4, [1, 2]]] * 2)
    add(graph, "error-methods", ["x", "y"], [1], [[0, 0, [], 0, 0, []]])
    add(graph, "error-count", ["x"], [1], [[0, 0]], ["float", "float"])
    add(graph, "error-min", ["x"], [1], [[0, 0, []]], ["int64", "float", "int64"])
    add(graph, "error-max", ["x"], [1], [[0, 0, []]], ["float", "int64", "int64"])
    add(graph, "error-histogram", ["x"], [1], [[0, 0, []]], ["float", "float", "float"])
    add(graph, "error-method", ["x"], [2**31], [[0, 0, []]])
    (HERE / "runs.pb").write_bytes(graph.SerializeToString(deterministic=True))
    print(sum(node.name.endswith("/op") for node in graph.node), "nodes")


if __name__ == "__main__":
    main()
