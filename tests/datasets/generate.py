"""Writes the graphs of `tests/datasets/main.rs`: `python tests/datasets/generate.py`. It needs TensorFlow."""

import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import error_codes_pb2 as code_pb2
from tensorflow.python.data.ops import dataset_ops, from_generator_op

D = tf.data.Dataset
v1 = tf.compat.v1
HERE = pathlib.Path(__file__).parent / "data"


def write(name, build):
    with v1.Graph().as_default() as graph:
        build()
    (HERE / f"{name}.pb").write_bytes(graph.as_graph_def(add_shapes=False).SerializeToString(deterministic=True))


def waiting():
    """Elements that are made of those of a queue, at once and ahead."""
    queue = queue_of()
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
    with_state(ds)


def with_state(ds):
    """An iterator, its state, and how it is taken up."""
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


def saved_interleaved():
    """Datasets whose elements are made ahead, and which are not taken up by a number."""
    inner = lambda x: D.range(x, x + 4).flat_map(lambda y: D.range(y * 10, y * 10 + 3)).batch(1)
    with_state(D.range(6).interleave(inner, 3, 2, num_parallel_calls=2))


def saved_cache():
    """A cache, which is filled on the way."""
    with_state(D.range(40).shuffle(9, seed=3).cache().repeat(2).batch(1))


def queue_of():
    queue = v1.FIFOQueue(100, tf.int64, shapes=[[]], shared_name="queue")
    queue.enqueue(v1.placeholder(tf.int64, [], name="value"), name="enqueue")
    tf.identity(queue.size(), name="size")
    return queue


def parallel():
    """Elements of a queue, through what works on several at a time, and a generator that puts one there when it ends."""
    queue = queue_of()
    inputs = D.range(1000).map(lambda x: queue.dequeue())
    cases = {
        "map": inputs.map(lambda x: x + 1, num_parallel_calls=4),
        "filter": inputs.apply(parallel_filter),
        "map_and_batch": inputs.apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 1, num_parallel_calls=4)),
        "prefetch": inputs.prefetch(2).map(lambda x: x + 1).prefetch(1),
        "generator": from_generator_op._GeneratorDataset(
            tf.constant(5, tf.int64), lambda x: x, lambda x: x + 2, lambda x: finalized(queue, x), tf.TensorSpec([], tf.int64)),
    }
    for name, ds in cases.items():
        iterator = v1.data.make_initializable_iterator(ds)
        tf.group(iterator.initializer, name=f"{name}_begin")
        tf.identity(tf.reshape(iterator.get_next(), []), name=name)
        if name == "prefetch":
            tf.identity(tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource), name="state")


def finalized(queue, x):
    with tf.control_dependencies([queue.enqueue(x)]):
        return tf.identity(x)


def parallel_filter(ds, of=lambda x: x > 0):
    filtered = ds.filter(of)
    predicate = filtered._predicate.function
    variant = tf.raw_ops.ParallelFilterDataset(
        input_dataset=ds._variant_tensor, other_arguments=predicate.captured_inputs, num_parallel_calls=4, predicate=predicate,
        output_types=[tf.int64], output_shapes=[[]])
    return dataset_ops._VariantDataset(variant, ds.element_spec)


def endless():
    """Iterators that give 0, 1 and 2, and then go through numbers, or call a function, without end."""
    numbers, mab = D.range(2**62), tf.data.experimental.map_and_batch
    few = numbers.filter(lambda x: x < 3)
    # It adds 0 as long as the number is above 2.
    stuck = lambda x: tf.while_loop(lambda y: tf.greater(y, 2), lambda y: [y + 0], [x])[0]
    cases = {
        "filter": few,
        "prefetch": few.prefetch(16),
        "map": few.map(lambda x: x + 0, num_parallel_calls=4),
        "stuck": numbers.map(stuck, num_parallel_calls=4),
        "parallel_filter": numbers.apply(lambda ds: parallel_filter(ds, lambda x: x < 3)),
        "map_and_batch": few.apply(mab(lambda x: x + 0, 1, num_parallel_calls=4)),
        "interleave": numbers.interleave(lambda x: D.range(x, x + 1).filter(lambda y: y < 3), 2, num_parallel_calls=2),
        "interleaved": D.range(1).interleave(lambda x: few, 1, num_parallel_calls=1),
        "legacy": numbers.apply(tf.data.experimental.parallel_interleave(lambda x: D.range(x, x + 1).filter(lambda y: y < 3), 2)),
        "unique": numbers.map(lambda x: x % 3).unique().prefetch(16),
        "rows": D.range(3).concatenate(D.from_tensors(np.zeros([0], np.int64)).repeat().unbatch()).prefetch(16),
    }
    for name, ds in cases.items():
        iterator = v1.data.make_initializable_iterator(ds.with_options(unchanged()))
        tf.group(iterator.initializer, name=f"{name}_begin")
        tf.identity(tf.reshape(iterator.get_next(), []), name=name)
    raw, kind = tf.raw_ops, {"output_types": [tf.int64], "output_shapes": [[]]}
    several = raw.MultiDeviceIterator(devices=["/cpu:0"], shared_name="several", container="", **kind)
    raw.MultiDeviceIteratorInit(dataset=few._variant_tensor, multi_device_iterator=several, max_buffer_size=4, name="several_begin")
    next_one = raw.MultiDeviceIteratorGetNextFromShard(multi_device_iterator=several, shard_num=0, incarnation_id=tf.constant(1, tf.int64), **kind)
    tf.identity(next_one[0], name="several")
    generator = from_generator_op._GeneratorDataset(
        tf.constant(5, tf.int64), lambda x: x, lambda x: x + 2, lambda x: stuck(tf.constant(3, tf.int64)), tf.TensorSpec([], tf.int64))
    iterator = v1.data.make_initializable_iterator(generator)
    tf.group(iterator.initializer, name="generator_begin")
    tf.identity(iterator.get_next(), name="generator")


def fails(every):
    def check(x):
        with tf.control_dependencies([v1.assert_none_equal(x % every, tf.constant(every - 1, tf.int64))]):
            return tf.identity(x)
    return check


def expected_of():
    """Pipelines whose elements, errors, cardinality or element in some place are compared with TensorFlow's."""
    shuffled = D.range(4).shuffle(4, seed=3)
    rerandomized = D.random(seed=4, rerandomize_each_iteration=True).take(2)
    numbers = D.range(7)
    calls = v1.Variable(tf.constant(0, tf.int64), use_resource=True, name="calls")
    counted = lambda n: D.range(n).map(lambda x: calls.assign_add(1, read_value=True))
    doubled = shuffled
    for _ in range(6):
        doubled = doubled.concatenate(doubled)
    mab = tf.data.experimental.map_and_batch
    pipelines = {
        "zip_ends_all": D.zip((D.range(3), counted(3).cache())).repeat(2),
        "zip_takes_one_more": D.zip((D.range(3), counted(6))).concatenate(D.zip((D.range(1), counted(1)))),
        "repeat_in_repeat": shuffled.repeat(2).repeat(2),
        "repeat": shuffled.repeat(4),
        "repeat_once": shuffled.repeat(1).concatenate(D.range(100, 101)).repeat(3),
        "concatenated_with_itself": shuffled.concatenate(shuffled).repeat(2),
        "doubled": doubled.repeat(2),
        "shuffled_twice": shuffled.shuffle(2, seed=5).repeat(2),
        "numbers": rerandomized.shuffle(3, seed=4).concatenate(rerandomized).repeat(2),
        "forever": shuffled.repeat(2).repeat().take(20),
        "empty_rounds": D.range(3).filter(lambda x: x > 5).repeat(3).concatenate(D.range(2)),
        "map_and_batch_fails": D.range(14).apply(mab(fails(5), 4)),
        "map_and_batch_of_two": D.range(14).apply(mab(fails(5), 2, num_parallel_calls=3)),
        "map_and_batch_input_fails": D.range(14).map(fails(5)).apply(mab(lambda x: x, 4)),
        "batch_fails": D.range(14).map(fails(5)).batch(4),
        "rebatch": D.range(29).batch(7).rebatch([3, 1, 4]),
        "rebatch_larger": D.range(29).batch(2).rebatch(9, drop_remainder=True),
        "interleave_fails": D.range(9).map(fails(4)).interleave(lambda x: D.range(x, x + 3), 2, 2, num_parallel_calls=2),
        "interleaved_fail": D.range(5).interleave(lambda x: D.range(x, x + 4).map(fails(4)), 2, 2, num_parallel_calls=2),
    }
    for name, ds in pipelines.items():
        iterator = v1.data.make_initializable_iterator(ds.with_options(unchanged()))
        tf.group(iterator.initializer, name=f"elements/{name}_begin")
        text = [tf.strings.reduce_join(tf.strings.as_string(tf.reshape(c, [-1])), separator=",") for c in tf.nest.flatten(iterator.get_next())]
        tf.strings.join(text, separator=";", name=f"elements/{name}")
    empty = D.from_tensors(np.zeros([0, 2]))
    cardinalities = {
        "none": D.range(0).batch(3).unbatch(), "none_dropped": D.range(0).batch(3, drop_remainder=True).unbatch(),
        "known": numbers.batch(3, drop_remainder=True).unbatch(), "unknown": numbers.batch(3).unbatch(),
        "infinite": numbers.repeat().batch(3).unbatch(), "no_rows": empty.unbatch(),
    }
    for name, ds in cardinalities.items():
        tf.strings.as_string(ds.cardinality(), name=f"values/cardinality_{name}")
    sure = tf.data.experimental.assert_cardinality
    places = {
        "batch": numbers.batch(3), "dropped": numbers.batch(3, drop_remainder=True), "asserted": numbers.apply(sure(9)),
        "fewer": numbers.apply(sure(4)), "filtered": numbers.filter(lambda x: x >= 0).apply(sure(7)),
        "batch_of_filtered": numbers.filter(lambda x: x >= 0).apply(sure(7)).batch(2), "padded": numbers.padded_batch(2),
        "parallel": numbers.batch(2, num_parallel_calls=2), "unbatched": D.range(6).batch(2, drop_remainder=True).unbatch(),
        "mapped": numbers.batch(2).map(lambda x: x + 1), "repeated": numbers.batch(2).repeat(2), "twice": numbers.batch(2).batch(2, drop_remainder=True).take(1),
        "rebatched": numbers.batch(2).rebatch(3),
    }
    for name, ds in places.items():
        for index in (-1, 0, 1, 2, 4, 5, 7, 9):
            value = tf.raw_ops.GetElementAtIndex(dataset=ds._variant_tensor, index=index, output_types=[tf.int64], output_shapes=[None])[0]
            text = tf.strings.reduce_join(tf.strings.as_string(tf.reshape(value, [-1])), separator=",")
            tf.identity(text, name=f"values/{name}_at_{index}".replace("-", "minus_"))


def unchanged():
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.autotune.enabled = False
    return options


def outcome(run):
    try:
        return run().decode()
    except tf.errors.OutOfRangeError as error:
        return "END" if "End of sequence" in str(error) else "OUT_OF_RANGE"
    except tf.errors.OpError as error:
        return code_pb2.Code.Name(error.error_code)


def write_expected(name):
    """What TensorFlow makes of the nodes of a graph: lines of a name and a text, elements one after the other."""
    with v1.Graph().as_default() as graph:
        expected_of()
        lines = []
        names = [op.name for op in graph.get_operations() if op.name.count("/") == 1 and op.name.split("/")[0] in ("elements", "values")]
        for node in names:
            if node.endswith("_begin") or graph.get_operation_by_name(node).outputs[0].dtype != tf.string:
                continue
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                if node.startswith("values"):
                    lines.append(f"{node}\t{outcome(lambda: session.run(node + ':0'))}")
                    continue
                session.run(node + "_begin")
                for _ in range(300):
                    lines.append(f"{node}\t{outcome(lambda: session.run(node + ':0'))}")
                    if lines[-1].endswith("END"):
                        break
        tf.group(v1.global_variables_initializer(), name="init_all")
    (HERE / f"{name}.pb").write_bytes(graph.as_graph_def(add_shapes=False).SerializeToString(deterministic=True))
    (HERE / f"{name}.txt").write_text("\n".join(lines) + "\n")


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
write("saved_interleaved", saved_interleaved)
write("parallel", parallel)
write_expected("expected")
write("endless", endless)
write("saved_cache", saved_cache)
