"""Datasets as the graphs of which they were made, and what is rewritten in these."""
import tensorflow as tf
from tensorflow import raw_ops
from cases_data import D, case, error, texts, variant, wrap
from cases_data_more import r
from golden import isolated


def pipelines():
    """Datasets of many kinds, by name."""
    seven = lambda: tf.constant(7, tf.int64)
    yield "range", r
    yield "slices", lambda: D.from_tensor_slices((tf.constant(["a", "bc", ""]), tf.constant([1.5, 2, 3])))
    yield "tensors", lambda: D.from_tensors((tf.constant([True, False]), tf.constant(3, tf.int8), tf.constant([], tf.float32)))
    yield "batch", lambda: r().batch(3)
    yield "batch-without-end", lambda: r().repeat().batch(3).take(4)
    yield "padded", lambda: r(5).map(lambda x: tf.range(x)).padded_batch(2, padding_values=seven())
    yield "captured", lambda: r().map(lambda x: x + seven())
    yield "filter", lambda: r().filter(lambda x: x % 3 != 0)
    yield "take-while", lambda: r().take_while(lambda x: x < 5)
    yield "flat-map", lambda: r(4).flat_map(lambda x: D.range(x).map(lambda y: x * y))
    yield "interleave", lambda: r(4).interleave(lambda x: D.from_tensors(x).repeat(3), cycle_length=2, block_length=2)
    yield "parallel", lambda: r(6).map(lambda x: x * x, num_parallel_calls=2, deterministic=True).prefetch(2)
    yield "branches", lambda: r(6).map(lambda x: tf.cond(x > 3, lambda: x * 2, lambda: x + 1))
    yield "loop", lambda: r(4).map(lambda x: tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [tf.constant(0, tf.int64), x])[1])
    yield "scan", lambda: r().scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))
    yield "window", lambda: r().window(3, shift=2).flat_map(lambda w: w.batch(3))
    yield "group", lambda: r(9).group_by_window(lambda x: x % 2, lambda key, w: w.batch(2), window_size=2)
    yield "zip", lambda: D.zip((r(3), r(5).batch(2)))
    yield "zip-of-one", lambda: (lambda ds: D.zip((ds, ds)))(r(3).skip(1))
    yield "concatenate", lambda: r(3).concatenate(r(2).shard(2, 1))
    yield "chosen", lambda: D.choose_from_datasets([r(3), r(9)], D.from_tensor_slices([0, 1, 1, 0]).map(lambda x: tf.cast(x, tf.int64)))
    yield "options", lambda: r(3).with_options(tf.data.Options())
    yield "unbatch", lambda: r().batch(4).unbatch().unique()
    yield "rebatch", lambda: r().batch(4).rebatch([3, 2], drop_remainder=True)
    replicas = lambda ds: raw_ops.RebatchDataset(input_dataset=variant(ds), num_replicas=2, output_types=[tf.int64], output_shapes=[[None]])
    rewritten = lambda ds, name: wrap(ds, raw_ops.RewriteDataset(input_dataset=variant(ds), rewrite_name=name, output_types=[tf.int64], output_shapes=[[]]))
    yield "enumerated", lambda: r().skip(1).enumerate(5)
    yield "replicated", lambda: D.zip((rewritten(r().map(lambda x: x + 1).shuffle(3, seed=1), "replicate_on_split"), r(), D.from_tensor_slices([1, 2])))
    yield "replicated-joined", lambda: rewritten(D.from_tensor_slices(tf.constant([1, 2], tf.int64)).concatenate(r(2)), "replicate_on_split")
    yield "rewritten-otherwise", lambda: rewritten(r(), "other")
    yield "replicas", lambda: wrap(r().batch(4), replicas(r().batch(4)))


def cases():
    to_graph = lambda ds, **kind: raw_ops.DatasetToGraphV2(input_dataset=variant(ds), **kind)
    from_graph = lambda ds, graph: texts(wrap(ds, raw_ops.DatasetFromGraph(graph_def=graph)))

    def theirs(make):
        """The graph of a dataset of another graph."""

        def run():
            with tf.Graph().as_default() as graph:
                text = to_graph(make())
                with tf.compat.v1.Session(graph=graph) as session:
                    return session.run(text)

        # In a process of its own: whoever has run a session hangs in those that are forked for the answers.
        return tf.constant(isolated(run))

    for tag, make in pipelines():
        yield case("DatasetToGraphV2", "string", f"{tag}-and-back", lambda: from_graph(make(), to_graph(make())))
        # Of several functions TensorFlow's own number is not that of the same graph another time.
        if tag not in ("branches", "chosen", "group"):
            yield case("DatasetFingerprint", "uint64", tag, lambda: [tf.bitcast(raw_ops.DatasetFingerprint(input_dataset=variant(make())), tf.int64)])
        yield case("ComputeBatchSize", "int64", tag, lambda: [raw_ops.ComputeBatchSize(input_dataset=variant(make()))])

        yield case("DatasetFromGraph", "string", tag, lambda: from_graph(make(), theirs(make)))

    def element():
        dataset = raw_ops.DatasetFromGraph(graph_def=theirs(lambda: r(1).map(lambda x: r(5).map(lambda y: x + 3 * y))))
        return raw_ops.DatasetToSingleElement(dataset=dataset, output_types=[tf.variant], output_shapes=[[]])[0]

    # Its functions came with the graph, and it outlives the dataset that it is an element of.
    yield case("DatasetFromGraph", "string", "element", lambda: texts(wrap(r(), element())))
    yield case("DatasetToGraph", "string", "and-back", lambda: from_graph(r(), raw_ops.DatasetToGraph(input_dataset=variant(r().map(lambda x: -x)))))
    stateful = lambda: r(3).map(lambda x: x + tf.random.uniform([], 0, 1, tf.int64))
    yield case("DatasetToGraph", "string", "stateful", lambda: from_graph(r(), raw_ops.DatasetToGraph(input_dataset=variant(stateful()), allow_stateful=True, strip_device_assignment=True)))
    yield error("DatasetToGraph", "stateful", lambda: raw_ops.DatasetToGraph(input_dataset=variant(stateful())))
    yield error("DatasetToGraphV2", "stateful", lambda: to_graph(stateful(), external_state_policy=2))
    for policy in (0, 1):
        yield case("DatasetToGraphV2", "string", f"stateful-policy-{policy}", lambda: from_graph(r(), to_graph(stateful(), external_state_policy=policy)))
    for op in ("DatasetToGraphV2", "DatasetFingerprint", "ComputeBatchSize"):
        yield error(op, "no-dataset", lambda: getattr(raw_ops, op)(input_dataset=raw_ops.OptionalNone()))
    yield error("DatasetFromGraph", "no-graph", lambda: raw_ops.DatasetFromGraph(graph_def=tf.constant(b"\xff\xff")))
    yield error("DatasetFromGraph", "not-scalar", lambda: raw_ops.DatasetFromGraph(graph_def=tf.constant(["", ""])))
