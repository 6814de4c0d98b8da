"""Writes graphs.txt: graphs of datasets as TensorFlow serializes them, its fingerprints of them and of workers' shares, and sizes of
batches, for the tests of ../../src/graphs.rs. A line each: name, fingerprint, size of batches, graph in hex; and for shares name of
the graph, policy, number of workers, index, fingerprint or the error's code.

    python kernels/data/tests/data/graphs.py
"""
import os
import pathlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

D, RAW = tf.data.Dataset, tf.raw_ops
READER, FILES = tf.data.TFRecordDataset, ["/none/a", "/none/b", "/none/c"]
HINT = tf.data.experimental.SHARD_HINT


def pipelines():
    r = D.range(10)
    yield "range", r
    yield "batch", r.batch(3)
    yield "no-end", r.repeat().batch(3).take(2).skip(1)
    yield "strings", D.from_tensor_slices((["a", "bc", ""], [1.5, 2, 3], [[True], [False], [True]]))
    yield "tensors", D.from_tensors((tf.constant([], tf.int64), tf.constant(3, tf.int8)))
    yield "shuffle", r.shuffle(3, seed=5).prefetch(2)
    yield "padded", r.padded_batch(4, padding_values=tf.constant(7, tf.int64))
    yield "map", r.map(lambda x: x * 2 + 1).batch(4)
    yield "captured", r.map(lambda x, y=tf.constant(3, tf.int64): x + y)
    yield "filter", r.filter(lambda x: x < 5).take_while(lambda x: x < 4)
    yield "two-results", r.map(lambda x: (x + 1, x * 2))
    yield "interleave", r.interleave(lambda x: D.range(x).map(lambda y: y * 2), cycle_length=2)
    yield "zip", D.zip((r.batch(2), r.batch(2)))
    yield "zip-of-one", D.zip((r, r))
    yield "concatenate", r.batch(2).concatenate(r.batch(3))
    yield "window", r.window(2, shift=3).options() and r.window(2, shift=3)
    yield "options", r.with_options(tf.data.Options())
    yield "assert", r.apply(tf.data.experimental.assert_cardinality(10))
    yield "scan", r.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s))
    yield "group", r.group_by_window(lambda x: x % 2, lambda key, w: w.batch(2), window_size=2)
    yield "unbatch", r.batch(4).unbatch().unique()
    yield "nested", D.from_tensor_slices([0, 1]).flat_map(lambda x: D.range(3)).interleave(lambda x: D.range(2), cycle_length=2)
    yield "reader", READER(FILES)
    yield "reader-map", READER(FILES).map(lambda x: x).batch(2).shuffle(3, seed=1).repeat(2)
    yield "names", D.from_tensor_slices(FILES).shuffle(3, seed=2).map(lambda x: x).flat_map(READER)
    yield "lines", D.from_tensor_slices(FILES).interleave(tf.data.TextLineDataset, cycle_length=2, num_parallel_calls=2)
    yield "reader-twice", READER(FILES).concatenate(READER(FILES[:2]))
    yield "reader-and-range", D.zip((READER(FILES), r))
    yield "reader-unique", READER(FILES).unique()
    yield "reader-cardinality", READER(FILES).apply(tf.data.experimental.assert_cardinality(10)).prefetch(1)
    yield "hint", r.shard(HINT, HINT).batch(2)
    yield "ahead", r.prefetch(2).with_options(tf.data.Options())
    yield "rebatch", tf.data.experimental.from_variant(RAW.RebatchDatasetV2(input_dataset=r.batch(4)._variant_tensor, batch_sizes=tf.constant([2, 2], tf.int64), drop_remainder=False, output_types=[tf.int64], output_shapes=[[None]]), tf.TensorSpec([None], tf.int64))


def fingerprint(variant):
    return int(RAW.DatasetFingerprint(input_dataset=variant).numpy())


def main():
    lines, shares = [], []
    for name, ds in pipelines():
        variant = ds._variant_tensor
        graph = RAW.DatasetToGraphV2(input_dataset=variant).numpy()
        # As it is read again.
        variant = RAW.DatasetFromGraph(graph_def=graph)
        lines.append(f"{name} {fingerprint(variant)} {RAW.ComputeBatchSize(input_dataset=variant).numpy()} {graph.hex()}")
        for policy in range(4):
            for workers, index in ((2, 1), (3, 0)):
                try:
                    share = RAW.AutoShardDataset(input_dataset=variant, num_workers=workers, index=index, auto_shard_policy=policy, num_replicas=2, **ds._flat_structure)
                    found = fingerprint(share)
                except tf.errors.OpError as error:
                    found = type(error).__name__.removesuffix("Error")
                shares.append(f"{name} {policy} {workers} {index} {found}")
    pathlib.Path(__file__).with_name("graphs.txt").write_text("\n".join(lines + [""] + shares) + "\n")


if __name__ == "__main__":
    main()
