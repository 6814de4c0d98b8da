"""Writes functions.pb.gz: graphs that call functions, branch and loop, and what TensorFlow infers of their nodes.

A GraphDef, compressed, with a library. What is tested of a case are its nodes with an attr `_shapes`, what TensorFlow
made of them when it imported the case, or `_error` if TensorFlow refused it. Needs TensorFlow.

    python tests/shapes/functions.py
"""
import gzip
import os
import pathlib
import random

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402
from tensorflow.core.framework import graph_pb2  # noqa: E402

HERE = pathlib.Path(__file__).parent
R = random.Random(20)
raw = tf.raw_ops
CALLS = ["PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf", "Case", "StatelessCase", "While",
         "StatelessWhile", "Enter", "Merge", "Switch", "NextIteration", "Exit", "LoopCond", "Reshape", "MatMul", "Fill"]


def function(body, *specs):
    specs = [tf.TensorSpec(None, spec) if isinstance(spec, (tf.DType, str)) else spec for spec in specs]
    return tf.function(body, input_signature=specs, autograph=False).get_concrete_function()


f32, i32 = tf.float32, tf.int32
FLATTEN = function(lambda x: raw.Reshape(tensor=x, shape=raw.Pack(values=[tf.shape(x)[0], -1])), f32)
PRODUCT = function(lambda x, y: raw.MatMul(a=x, b=y), f32, f32)
TO = function(lambda x, s: raw.Reshape(tensor=x, shape=s), f32, i32)
DOUBLE = function(lambda s: raw.AddV2(x=s, y=s), i32)
FILL = function(lambda s: (raw.Fill(dims=s, value=0.5), raw.Identity(input=s)), i32)
JOIN = function(lambda x, y: raw.ConcatV2(values=[x, y], axis=0), f32, f32)
SAME = function(lambda x: raw.Identity(input=x), f32)
TRANSPOSED = function(lambda x: raw.Transpose(x=x, perm=[1, 0]), f32)
GROWN = function(lambda x: raw.ConcatV2(values=[x, x], axis=1), f32)
ROWS = function(lambda x: raw.Slice(input=x, begin=[0, 0], size=[2, -1]), f32)
NEST = function(lambda x, y: PRODUCT(FLATTEN(x), y), f32, f32)
DEEP = function(lambda x, s: TO(x, DOUBLE(s)), f32, i32)
LESS = function(lambda n, x: raw.Less(x=n, y=3), tf.TensorSpec([], i32), f32)
STEP = function(lambda n, x: (raw.AddV2(x=n, y=1), raw.Relu(features=x)), tf.TensorSpec([], i32), f32)
GROW = function(lambda n, x: (raw.AddV2(x=n, y=1), raw.ConcatV2(values=[x, x], axis=0)), tf.TensorSpec([], i32), f32)
SWAP = function(lambda n, x: (raw.AddV2(x=n, y=1), raw.Transpose(x=x, perm=[1, 0])), tf.TensorSpec([], i32), f32)
READ = function(lambda v: raw.ReadVariableOp(resource=v, dtype=f32), tf.TensorSpec([], tf.resource))


def p(dtype=f32):
    return tf.compat.v1.placeholder(dtype)


def const(values):
    return tf.constant(values, i32)


def sizes():
    return R.choice([const([2, 3]), const([6, -1]), const([4]), p(i32), tf.shape(p()), const([3, 4])])




def shapes_attr():
    return R.choice([[], [], [[None, 3]], [[2, 3]], [None]])


def branch(stateful):
    branches = R.choice([(SAME, TRANSPOSED), (SAME, SAME), (GROWN, SAME), (ROWS, SAME), (TRANSPOSED, GROWN)])
    for f in branches:
        f.add_to_graph()
    op = raw.If if stateful else raw.StatelessIf
    op(cond=p(tf.bool), input=[p()], Tout=[f32], then_branch=branches[0], else_branch=branches[1],
       output_shapes=shapes_attr())


def choice():
    branches = R.choice([[SAME, TRANSPOSED, SAME], [SAME], [ROWS, SAME, GROWN]])
    for f in branches:
        f.add_to_graph()
    op = R.choice([raw.Case, raw.StatelessCase])
    op(branch_index=p(i32), input=[p()], Tout=[f32], branches=branches, output_shapes=shapes_attr())


def loop():
    body = R.choice([STEP, STEP, GROW, SWAP])
    body.add_to_graph()
    LESS.add_to_graph()
    op = R.choice([raw.While, raw.StatelessWhile])
    op(input=[const(0), p()], cond=LESS, body=body, output_shapes=R.choice([[], [], [[], [None, 3]]]))


def old_loop():
    body = R.choice([lambda n, x: (n + 1, tf.nn.relu(x)), lambda n, x: (n + 1, tf.concat([x, x], 0)),
                     lambda n, x: (n + 1, tf.transpose(x)), lambda n, x: (n + 1, tf.reshape(x, [2, 3]))])
    invariants = [tf.TensorShape([]), tf.TensorShape(None)]
    n, x = tf.compat.v1.while_loop(lambda n, x: n < 3, body, [const(0), p()], shape_invariants=invariants)
    raw.Fill(dims=raw.Pack(values=[n, n]), value=0.5)


def nested_loop():
    def body(n, x):
        _, y = tf.compat.v1.while_loop(lambda m, y: m < 2, lambda m, y: (m + 1, tf.nn.relu(y)), [n, x],
                                       shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])
        return n + 1, y
    tf.compat.v1.while_loop(lambda n, x: n < 3, body, [const(0), p()],
                            shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)])


def conditional():
    x = p()
    tf.compat.v1.cond(p(tf.bool), lambda: tf.nn.relu(x), lambda: R.choice([tf.identity, tf.transpose])(x))


def variable():
    shape = R.choice([[2, 3], [None, 4], None])
    handle = raw.VarHandleOp(dtype=f32, shape=tf.TensorShape(shape), shared_name="v")
    READ(handle)


MAKERS = {
    "flatten": lambda: FLATTEN(p()),
    "product": lambda: PRODUCT(p(), p()),
    "to": lambda: TO(p(), sizes()),
    "double": lambda: raw.Reshape(tensor=p(), shape=DOUBLE(sizes())),
    "fill": lambda: FILL(sizes()),
    "join": lambda: JOIN(p(), p()),
    "nest": lambda: NEST(p(), p()),
    "deep": lambda: DEEP(p(), sizes()),
    "chain": lambda: PRODUCT(SAME(p()), TRANSPOSED(p())),
    "if": lambda: branch(True),
    "stateless if": lambda: branch(False),
    "case": choice,
    "while": loop,
    "old loop": old_loop,
    "nested loop": nested_loop,
    "cond": conditional,
    "variable": variable,
}


def some_shape():
    return R.choice([None, [2, 3], [2, 3], [None, 3], [3, 3], [3, 4], [6, None], [4, 3, 2], [3], [None, None]])


def make(name, maker):
    with tf.Graph().as_default() as graph:
        with graph.name_scope(name):
            maker()
        gd = graph.as_graph_def()
    for node in gd.node:
        if node.op == "Placeholder":
            shape = some_shape()
            if node.attr["dtype"].type == tf.bool.as_datatype_enum:
                shape = []
            if node.attr["dtype"].type == i32.as_datatype_enum:
                shape = R.choice([[], [2], None])
            node.attr["shape"].shape.CopyFrom(tf.TensorShape(shape).as_proto())
    return gd


def main():
    tf.compat.v1.disable_control_flow_v2()
    whole, functions, refused, tested = graph_pb2.GraphDef(), {}, 0, 0
    cases = [(f"c{i}", maker) for i, maker in enumerate(m for m in MAKERS.values() for _ in range(14))]
    for name, maker in cases:
        gd = None
        while gd is None:
            try:
                gd = make(name, maker)
            except ValueError:
                pass  # Refused by Python already: draw again.
        with tf.Graph().as_default() as graph:
            try:
                tf.graph_util.import_graph_def(gd, name="")
                error = None
            except (ValueError, tf.errors.OpError) as e:
                error = str(e)
            for node in gd.node:
                if error is None and (node.op in CALLS):
                    tested += 1
                    outputs = graph.get_operation_by_name(node.name).outputs
                    node.attr["_shapes"].list.SetInParent()
                    node.attr["_shapes"].list.shape.extend(out.shape.as_proto() for out in outputs)
        if error is not None:
            refused += 1
            gd.node[-1].attr["_error"].s = error.encode()[:100]
        functions.update((f.signature.name, f) for f in getattr(gd, "library").function)
        whole.node.extend(gd.node)
        whole.versions.CopyFrom(gd.versions)
    whole.MergeFrom(graph_pb2.GraphDef(library={"function": functions.values()}))
    out = HERE / "functions.pb.gz"
    out.write_bytes(gzip.compress(whole.SerializeToString(deterministic=True), mtime=0))
    print(f"{len(cases)} graphs, {refused} of them refused, {tested} nodes, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
