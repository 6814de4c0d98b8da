"""Writes the graphs of `tests/datasets/main.rs`: `python tests/datasets/generate.py`. It needs TensorFlow."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

v1 = tf.compat.v1
HERE = pathlib.Path(__file__).parent / "data"


def write(name, build):
    with v1.Graph().as_default() as graph:
        build()
    (HERE / f"{name}.pb").write_bytes(graph.as_graph_def(add_shapes=False).SerializeToString(deterministic=True))


def waiting():
    """Elements that are made of those of a queue, at once and ahead."""
    queue = v1.FIFOQueue(100, tf.int64, shapes=[[]], shared_name="queue")
    queue.enqueue(v1.placeholder(tf.int64, [], name="value"), name="enqueue")
    tf.identity(queue.size(), name="size")
    numbers = tf.data.Dataset.range(1000)
    for name, ahead in (("plain", None), ("ahead", 2)):
        ds = numbers.map(lambda x: x * 100 + queue.dequeue())
        iterator = v1.data.make_initializable_iterator(ds.prefetch(ahead) if ahead else ds)
        tf.group(iterator.initializer, name=f"{name}_begin")
        tf.identity(iterator.get_next(), name=name)


def saved():
    """A pipeline with all kinds of things that are under way, its state, and how it is taken up."""
    ds = tf.data.Dataset.range(60).shuffle(20, seed=3).map(lambda x: x * 2, num_parallel_calls=4)
    ds = ds.interleave(lambda x: tf.data.Dataset.range(x, x + 3), 3, 2, num_parallel_calls=2).filter(lambda x: x % 5 != 0)
    ds = ds.batch(4).prefetch(2).unbatch().window(3, 2).flat_map(lambda w: w.batch(3, drop_remainder=True)).repeat(2)
    iterator = v1.data.make_initializable_iterator(ds)
    tf.group(iterator.initializer, name="begin")
    tf.identity(iterator.get_next(), name="next")
    resource = iterator._iterator_resource
    tf.identity(tf.raw_ops.SerializeIterator(resource_handle=resource), name="state")
    tf.group(tf.raw_ops.DeserializeIterator(resource_handle=resource, serialized=v1.placeholder(tf.variant, [1], name="given")), name="go_back")


def readers():
    """A reader of lines and one of wholes with one queue of names."""
    queue = v1.FIFOQueue(100, tf.string, shapes=[[]], shared_name="names", name="queue")
    queue.enqueue(v1.placeholder(tf.string, [], name="name"), name="enqueue")
    queue.close(name="close")
    lines = tf.raw_ops.TextLineReaderV2(shared_name="lines", name="lines")
    for name, reader in (("line", lines), ("whole", tf.raw_ops.WholeFileReaderV2(name="wholes"))):
        tf.raw_ops.ReaderReadV2(reader_handle=reader, queue_handle=queue.queue_ref, name=name)
    tf.raw_ops.ReaderReadUpToV2(reader_handle=lines, queue_handle=queue.queue_ref, num_records=v1.placeholder(tf.int64, [], name="n"), name="several")
    tf.raw_ops.ReaderNumRecordsProducedV2(reader_handle=lines, name="count")
    tf.raw_ops.ReaderResetV2(reader_handle=lines, name="reset")


def nested(depth):
    def build():
        ds = tf.data.Dataset.range(3)
        for _ in range(depth):
            ds = ds.take(2)
        tf.identity(ds.batch(5).get_single_element(), name="all")
    return build


HERE.mkdir(exist_ok=True)
write("waiting", waiting)
write("saved", saved)
write("readers", readers)
write("nested", nested(490))
write("too_nested", nested(600))
