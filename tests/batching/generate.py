"""Writes the graphs of `tests/batching/main.rs`: `python tests/batching/generate.py`. It needs TensorFlow."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from tensorflow.python.ops import gen_batch_ops

v1 = tf.compat.v1
HERE = pathlib.Path(__file__).parent / "data"


def write(name, build):
    with v1.Graph().as_default() as graph:
        build()
    (HERE / f"{name}.pb").write_bytes(graph.as_graph_def(add_shapes=False).SerializeToString(deterministic=True))


def function():
    """Batches of up to four rows, of which two are computed at a time and two wait; the function waits for a queue."""
    queue = v1.FIFOQueue(100, tf.int64, shapes=[[]], shared_name="queue")
    queue.enqueue(v1.placeholder(tf.int64, [], name="value"), name="enqueue")
    tf.identity(queue.size(), name="size")

    @tf.function(autograph=False)
    def batched(x, handle):
        value = tf.raw_ops.QueueDequeueV2(handle=handle, component_types=[tf.int64])[0]
        return x * value, tf.fill([tf.shape(x)[0]], tf.shape(x)[0])

    x = v1.placeholder(tf.int64, [None], name="x")
    f = batched.get_concrete_function(tf.TensorSpec([None], tf.int64), tf.TensorSpec([], tf.resource))
    f.add_to_graph(v1.get_default_graph())
    for name, timeout in (("now", 0), ("late", 20_000_000), ("soon", 100_000)):
        gen_batch_ops.batch_function(
            in_tensors=[x], captured_tensors=[queue.queue_ref], f=f, num_batch_threads=2, max_batch_size=4, batch_timeout_micros=timeout, max_enqueued_batches=2,
            Tout=[tf.int64, tf.int32], name=name)


def tensors():
    """Batches that one of their runs gets, and hands out again, with the gradient of that."""
    x = v1.placeholder(tf.int64, [None, 2], name="x")
    batched, index, own = gen_batch_ops.batch(
        in_tensors=[x], num_batch_threads=1, max_batch_size=6, batch_timeout_micros=20_000_000, grad_timeout_micros=0, name="batch")
    part = gen_batch_ops.unbatch(batched[0] * 10, index, own, timeout_micros=20_000_000, name="part")
    gen_batch_ops.unbatch_grad(batched[0], index, part + 1, own, name="gradient")
    tensor, index, own = v1.placeholder(tf.float32, name="tensor"), v1.placeholder(tf.int64, name="index"), v1.placeholder(tf.int64, name="id")
    gen_batch_ops.unbatch(tensor, index, own, timeout_micros=500_000, name="given")


HERE.mkdir(exist_ok=True)
write("function", function)
write("tensors", tensors)
