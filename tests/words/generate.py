#!/usr/bin/env python3
"""Writes runs.pb: Skipgram and NegTrain in graphs of their time, and what TensorFlow computes in each run of a session.

A GraphDef. `NAME/op` is a node under test. The Const `NAME/text` is what the file of a Skipgram holds, whose attr says no
name; `NAME/assign` of a NegTrain gives its variables their values. The Const `NAME/run/K/I` is output I, or variable I, after
run K; `NAME/error` the code with which a run fails. Which words NegTrain draws nobody knows, but where there is one that
has a count. Needs TensorFlow; see ../golden/README.md.

    python tests/words/generate.py
"""
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "golden"))
import numpy as np  # noqa: E402

import golden  # noqa: E402
from golden import v1  # noqa: E402

# Both ops may stand in graphs of versions before 19.
PRODUCER = 18


def text(seed, words, vocabulary, spaces=b" "):
    """Words of which the first are the most frequent."""
    r = np.random.RandomState(seed)
    ranks = np.minimum(r.zipf(1.4, words), vocabulary)
    return b"".join(b"w%d" % rank + spaces[k % len(spaces):k % len(spaces) + 1] for k, rank in enumerate(ranks))


class File:
    def __init__(self):
        self.graph = golden.graph_pb2.GraphDef()
        self.graph.versions.producer = PRODUCER

    def const(self, name, array):
        dtype = "string" if isinstance(array, bytes) or array.dtype == object else golden.tf.as_dtype(array.dtype).name.replace("float32", "float")
        node = self.graph.node.add(name=name, op="Const")
        node.attr["dtype"].type = golden.enum(dtype)
        node.attr["value"].tensor.CopyFrom(golden.tf.make_tensor_proto(array))

    def run(self, nodes, before, targets, fetches, count):
        """What is fetched after each run, or the error."""
        graph_def = golden.graph_pb2.GraphDef(versions=self.graph.versions)
        graph_def.node.extend(nodes)
        with v1.Graph().as_default() as graph:
            golden.tf.import_graph_def(graph_def, name="")
            with golden.session(graph) as session:
                session.run(before)
                runs = []
                for _ in range(count):
                    session.run(targets)
                    runs.append(session.run(fetches))
                return runs

    def answers(self, name, *args):
        try:
            for k, run in enumerate(self.run(*args)):
                for i, value in enumerate(run):
                    self.const(f"{name}/run/{k}/{i}", np.asarray(value))
        except golden.errors.OpError as error:
            print(name, error.message.splitlines()[-3:])
            self.const(f"{name}/error", golden._code(error).encode())

    def skipgram(self, tag, contents, runs=3, **attrs):
        name = f"Skipgram/{tag}"
        self.const(f"{name}/text", contents)
        node = self.graph.node.add(name=f"{name}/op", op="Skipgram")
        for key, value in {"batch_size": 7, "window_size": 5, "min_count": 5, "subsample": 1e-3, **attrs}.items():
            setattr(node.attr[key], "f" if key == "subsample" else "i", value)
        node.attr["filename"].s = b""
        with tempfile.NamedTemporaryFile() as file:
            file.write(contents)
            file.flush()
            own = golden.node_def_pb2.NodeDef()
            own.CopyFrom(node)
            own.attr["filename"].s = file.name.encode()
            self.answers(name, [own], [], [], [f"{name}/op:{k}" for k in range(7)], runs)

    def neg_train(self, tag, inner, outer, examples, labels, rate, counts, samples, runs=2):
        name = f"NegTrain/{tag}"
        first = len(self.graph.node)
        for variable, value in (("w_in", inner), ("w_out", outer)):
            node = self.graph.node.add(name=f"{name}/{variable}", op="VariableV2")
            node.attr["dtype"].type = golden.enum("float")
            node.attr["shape"].shape.CopyFrom(golden.tf.TensorShape(value.shape).as_proto())
            self.const(f"{name}/{variable}/value", value)
            node = self.graph.node.add(name=f"{name}/{variable}/assign", op="Assign", input=[f"{name}/{variable}", f"{name}/{variable}/value"])
            node.attr["T"].type = golden.enum("float")
        self.graph.node.add(name=f"{name}/assign", op="NoOp", input=[f"^{name}/w_in/assign", f"^{name}/w_out/assign"])
        for key, value in (("examples", np.int32(examples)), ("labels", np.int32(labels)), ("rate", np.float32(rate))):
            self.const(f"{name}/{key}", value)
        node = self.graph.node.add(name=f"{name}/op", op="NegTrain", input=[f"{name}/{key}" for key in ("w_in", "w_out", "examples", "labels", "rate")])
        node.attr["vocab_count"].list.i.extend(counts)
        node.attr["num_negative_samples"].i = samples
        nodes = list(self.graph.node)[first:]
        self.answers(name, nodes, [f"{name}/assign"], [f"{name}/op"], [f"{name}/w_in:0", f"{name}/w_out:0"], runs)


def main():
    file = File()
    file.skipgram("few", text(1, 60, 9), min_count=1)
    file.skipgram("spaces", b"\n\n" + text(2, 200, 20, b" \t\n\v\f\r") + b"end")
    file.skipgram("all", text(3, 500, 40), min_count=-3, subsample=0.0)
    file.skipgram("none", text(4, 500, 40), min_count=1000)
    file.skipgram("wide", text(5, 900, 60), window_size=64, batch_size=50)
    file.skipgram("rare", text(6, 3000, 300), subsample=1e-6)
    file.skipgram("often", text(7, 3000, 300), subsample=0.5, window_size=1)
    file.skipgram("many", text(8, 5000, 100), batch_size=4001, min_count=2, window_size=3)
    file.skipgram("no-window", text(9, 30, 10), window_size=0)
    file.skipgram("no-pairs", text(10, 60, 10), batch_size=0)
    file.skipgram("bytes", bytes(range(256)) * 3 + b" \xff\xfe x" * 40)
    file.skipgram("error-short", text(11, 49, 10))
    file.skipgram("error-batch", text(12, 60, 10), batch_size=2**31)

    r = np.random.RandomState(0)
    matrix = lambda words, size: np.float32(r.randn(words, size))
    for size in (1, 3, 8, 16, 21, 40, 100):
        words = 6
        pairs = r.randint(0, words, (2, 11))
        for samples in (0, 3):
            file.neg_train(f"{size}-{samples}", matrix(words, size) / size, matrix(words, size), *pairs, 0.3, [0, 0, 0, 5, 0, 0], samples)
    file.neg_train("long", matrix(1, 8200) / 100, matrix(1, 8200), [0], [0], 0.1, [1], 0, runs=1)
    file.neg_train("no-pairs", matrix(2, 3), matrix(2, 3), [], [], 1, [1, 2], 2)
    file.neg_train("no-size", matrix(2, 0), matrix(2, 0), [0], [1], 1, [0, 2], 2)
    file.neg_train("large", matrix(2, 3) * 1e3, matrix(2, 3) * 1e3, [0, 1], [1, 0], 1, [0, 2], 2)
    file.neg_train("less-than-none", matrix(2, 3), matrix(2, 3), [0], [1], 1, [0, 2], -2)
    ok = [matrix(2, 3), matrix(2, 3), [0, 1], [1, 0], 1, [0, 2], 2]
    for tag, k, value in (("vector", 0, np.float32([1, 2])), ("shape", 1, matrix(2, 4)), ("examples", 2, [[0, 1]]), ("labels", 3, [0]), ("rate", 4, [1]), ("words", 5, [1]), ("count", 5, [1, 2**31]), ("samples", 6, 2**31)):
        file.neg_train(f"error-{tag}", *ok[:k], value, *ok[k + 1:])
    (HERE / "runs.pb").write_bytes(file.graph.SerializeToString(deterministic=True))
    print(len([node for node in file.graph.node if node.name.endswith("/op")]), "nodes")


if __name__ == "__main__":
    main()
