#!/usr/bin/env python3
"""Writes runs.pb: graphs of stateful random ops, and what TensorFlow draws in each run of a session.

A GraphDef. `NAME/op` is a node under test, `length` a placeholder on which the shapes of some depend, and the Const
`NAME/run/K` what `NAME/op` gave in run K, for the runs that fetched it: run K feeds `length` with LENGTHS[K], and leaves
out every third node if K is odd. Those of many elements are only in runs 0 and 2. Needs TensorFlow; see ../golden/README.md.

    python tests/random/generate.py
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "golden"))
import numpy as np  # noqa: E402

import golden  # noqa: E402
from golden import T, Case, i32  # noqa: E402

LENGTHS = [5, 1, 0, 17, 4, 4]


class Runs:
    def __init__(self):
        self.cases = []
        placeholder = Case("length")
        placeholder.nodes.append(golden.node_def_pb2.NodeDef(name="length", op="Placeholder"))
        placeholder.nodes[0].attr["dtype"].type = golden.enum("int32")
        placeholder.nodes[0].attr["shape"].shape.dim.add(size=1)
        self.nodes = placeholder.nodes

    def add(self, op, dtype, inputs, /, **attrs):
        case = Case(f"{op}/{dtype}/{len(self.cases)}")
        case.apply(op, inputs, **attrs)
        self.cases.append(case)
        self.nodes.extend(case.nodes)


def main():
    runs = Runs()
    add = runs.add
    length = ("length:0", "int32")
    for d in ("float", "double", "half", "bfloat16"):
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
            add(op, d, [i32([3, 3])], dtype=d, seed=7, seed2=8)
            add(op, d, [length], dtype=d, seed=2**62, seed2=-3)
    for d in ("int32", "int64"):
        add("RandomUniformInt", d, [length, T(d, -5), T(d, 1000)], seed=1)
    for d in ("float", "double", "half"):
        own = [T(d, v) for v in (0, 1, -1, 2)]
        add("ParameterizedTruncatedNormal", d, [length, *own], dtype=d, seed=4)
        add("ParameterizedTruncatedNormal", d, [i32([3, 2]), T(d, [0, 1, 2]), *own[1:]], dtype=d, seed=4)
        add("RandomGamma", d, [length, T(d, [.5, 1, 3])], seed=1)
        add("Multinomial", d, [golden.R(d, (3, 5), 1), i32(3)], seed=1)
        add("RandomPoissonV2", d, [length, T(d, [.5, 30])], dtype="int64", seed=1)
    # The reserve of these is computed with 32 bits.
    first_long = len(runs.cases)
    add("ParameterizedTruncatedNormal", "half", [i32([1100000]), *(T("half", v) for v in (0, 1, -1, 2))], dtype="half", seed=4)
    add("ParameterizedTruncatedNormal", "half", [i32([1050000, 2]), *(T("half", v) for v in (0, 1, -1, 2))], dtype="half", seed=4)
    long = {case.name for case in runs.cases[first_long:]}
    for n in (2, 5, 6, 9):
        add("RandomShuffle", "int32", [i32(np.arange(n))], seed=3)
    add("RandomShuffle", "string", [T("string", [["a", "b"], ["c", "d"], ["e", "f"]])], seed=3)
    true = T("int64", [[0, 3], [7, 3], [1, 1]])
    for unique in (False, True):
        drawn = dict(num_true=2, num_sampled=6, unique=unique, seed=5, seed2=6)
        # Those that learn draw otherwise in each run.
        for op in ("UniformCandidateSampler", "LogUniformCandidateSampler", "LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler"):
            add(op, "int64", [true], range_max=20, **drawn)
        add("FixedUnigramCandidateSampler", "int64", [true], range_max=9, unigrams=[1.0, 2.0, 0.5, 4.0, 1.0, 1.0, 8.0, 3.0, 1.0], **drawn)
    # Their windows are the same in each run.
    for op in ("FractionalMaxPool", "FractionalAvgPool"):
        for pseudo in (False, True):
            add(op, "float", [golden.R("float", (1, 9, 7, 2), 1)], pooling_ratio=[1.0, 1.7, 1.5, 1.0], pseudo_random=pseudo, deterministic=True, seed=2)
    with golden.v1.Graph().as_default() as graph:
        golden.tf.import_graph_def(golden._graph_def(runs.nodes, []), name="")
        with golden.session(graph) as session:
            for k, size in enumerate(LENGTHS):
                fetched = [c for i, c in enumerate(runs.cases) if (k in (0, 2) if c.name in long else k % 2 == 0 or i % 3)]
                values = session.run([c.name + "/op:0" for c in fetched], {"length:0": [size]})
                for case, value in zip(fetched, values, strict=True):
                    value = np.asarray(value)
                    # Of long ones the ends are enough.
                    value = np.concatenate([value.ravel()[:20], value.ravel()[-20:]]) if value.size > 100 else value
                    proto = Case(case.name)
                    proto.const(f"run/{k}", T(case.values[0][1], value))
                    runs.nodes.extend(proto.nodes)
    data = golden._graph_def(runs.nodes, []).SerializeToString(deterministic=True)
    (HERE / "runs.pb").write_bytes(data)
    print(f"{len(runs.cases)} nodes, {len(LENGTHS)} runs, {len(data)} bytes")


main()
