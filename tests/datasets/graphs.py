"""Draws random pipelines of tf.data and compares what TensorFlow and Kernlink say of the graphs that they were made of.

    python tests/datasets/graphs.py [--count 100] [--seed 0] [--save DIR]

Of each: the nodes and functions of DatasetToGraphV2, the number of DatasetFingerprint and of ComputeBatchSize, the elements of the
dataset that DatasetFromGraph makes of the graph of either, and the shares of files and elements by AutoShardDataset. It needs
TensorFlow, and `kernlink` on the path.
"""

import argparse
import os
import pathlib
import random
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2

from pipelines import D, Pipeline, outcome, told

# It rewrites constants in functions, and so what fingerprints are of.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})

RAW, KIND = tf.raw_ops, {"output_types": [tf.string], "output_shapes": [[]]}


def strings(variant):
    """The elements of a dataset of strings."""
    ds = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.string))
    return ds.take(200).concatenate(D.from_tensors("end")).batch(1000).get_single_element()


def of_graph(seed):
    """What is said of the graph of a pipeline."""

    @tf.function(input_signature=[])
    def said():
        ds = Pipeline(seed).build().map(told)
        made = ds._variant_tensor
        graph = RAW.DatasetToGraphV2(input_dataset=made)
        return {
            "graph": graph,
            "fingerprint": tf.bitcast(RAW.DatasetFingerprint(input_dataset=made), tf.int64),
            "batch": RAW.ComputeBatchSize(input_dataset=made),
        }

    return said


def loaded():
    """The elements of what a graph makes."""

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def elements(graph):
        return {"elements": strings(RAW.DatasetFromGraph(graph_def=graph))}

    return elements


READERS = {"tfrecord": tf.data.TFRecordDataset, "lines": tf.data.TextLineDataset, "fixed": lambda f: tf.data.FixedLengthRecordDataset(f, 2)}


def of_shares(seed, folder):
    """A worker's share of what is read from files."""
    r = random.Random(seed)
    kind, count = r.choice(list(READERS)), r.choice([0, 1, 2, 3, 5])
    files, reader = [str(folder / f"{kind}{index}") for index in range(count)], READERS[kind]
    how = r.choice(["reader", "flat_map", "interleave", "parallel", "list", "map", "range", "several", "zip", "direct", "hint", "nested", "rebatch"])
    workers = r.choice([1, 2, 2, 3])
    index, policy, replicas = r.randrange(workers), r.choice([-1, 0, 0, 1, 1, 1, 2, 3, 4]), r.choice([0, 1, 2])
    then = [r.choice(["map", "filter", "batch", "shuffle", "repeat", "take", "skip", "prefetch", "cache", "options", "cardinality", "unique", "enumerate"]) for _ in range(r.randint(0, 3))]
    before = r.choice(["none", "none", "shuffle", "map", "take"])

    def build():
        names = D.from_tensor_slices(tf.constant(files, tf.string))
        if before == "shuffle":
            names = names.shuffle(7, seed=seed % 3 + 1)
        elif before == "map":
            names = names.map(lambda name: tf.strings.join([name, ""]))
        elif before == "take":
            names = names.take(4)
        if how in ("reader", "rebatch"):
            ds = reader(files)
        elif how == "flat_map":
            ds = names.flat_map(reader)
        elif how == "interleave":
            ds = names.interleave(reader, cycle_length=2)
        elif how == "parallel":
            ds = names.interleave(reader, cycle_length=2, block_length=2, num_parallel_calls=2, deterministic=True)
        elif how == "list":
            ds = D.list_files(str(folder / f"{kind}*"), shuffle=before == "shuffle", seed=4).flat_map(reader)
        elif how == "map":
            ds = names.map(reader).flat_map(lambda ds: ds)
        elif how == "range":
            ds = D.range(9).map(tf.strings.as_string)
        elif how == "several":
            ds = reader(files).concatenate(names.flat_map(reader))
        elif how == "zip":
            ds = D.zip((reader(files), names.flat_map(reader))).map(lambda a, b: a + b)
        elif how == "nested":
            ds = D.from_tensor_slices([0, 1]).flat_map(lambda x: D.range(3)).interleave(lambda x: D.range(2).map(tf.strings.as_string))
        elif how == "hint":
            ds = names.flat_map(reader).shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT)
        else:
            variant = RAW.TextLineDataset(filenames=tf.constant(files, tf.string), compression_type="", buffer_size=0)
            ds = tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.string))
        for what in then:
            if what == "map":
                ds = ds.map(lambda x: tf.strings.join([x, "!"]))
            elif what == "filter":
                ds = ds.filter(lambda x: tf.strings.length(x) < 30)
            elif what == "batch":
                ds = ds.batch(2).map(tf.strings.reduce_join)
            elif what == "shuffle":
                ds = ds.shuffle(3, seed=5)
            elif what == "cardinality":
                ds = ds.take(3).apply(tf.data.experimental.assert_cardinality(3))
            elif what == "enumerate":
                ds = ds.enumerate().map(lambda number, x: tf.strings.as_string(number) + x)
            elif what == "options":
                ds = ds.with_options(tf.data.Options())
            elif what == "cache":
                ds = ds.cache()
            elif what == "unique":
                ds = ds.unique()
            else:
                ds = getattr(ds, what)(*{"repeat": [2], "take": [9], "skip": [1], "prefetch": [1]}[what])
        if how == "rebatch":
            variant = RAW.RebatchDatasetV2(input_dataset=ds.batch(4)._variant_tensor, batch_sizes=tf.constant([2, 2], tf.int64), drop_remainder=False, output_types=[tf.string], output_shapes=[[None]])
            return variant, [None]
        return ds._variant_tensor, []

    @tf.function(input_signature=[])
    def share():
        variant, shape = build()
        variant = RAW.AutoShardDataset(input_dataset=variant, num_workers=workers, index=index, auto_shard_policy=policy, num_replicas=replicas, output_types=[tf.string], output_shapes=[shape])
        ds = tf.data.experimental.from_variant(variant, tf.TensorSpec(shape, tf.string)).map(tf.strings.reduce_join if shape else tf.identity)
        return {"elements": strings(ds._variant_tensor)}

    return share, f"{how} {kind} x{count} before={before} then={then} workers={workers} index={index} policy={policy} replicas={replicas}"


def structure(text):
    """What counts of a graph: nodes without the names that TensorFlow makes up, functions by name."""
    graph = graph_pb2.GraphDef.FromString(text)

    def node(n):
        attrs = {k: v.SerializeToString(deterministic=True) for k, v in n.attr.items() if k != "metadata"}
        # Who holds a resource has names of its own for it.
        if n.op == "Const" and n.attr["dtype"].type == tf.resource.as_datatype_enum:
            del attrs["value"]
        return n.name, n.op, tuple(n.input), tuple(sorted(attrs.items()))

    return [node(n) for n in graph.node], sorted(f.signature.name for f in graph.library.function)


def differing(a, b):
    if a is b or a == b:
        return None
    for one, other in zip(a[0], b[0]):
        if one != other:
            return f"TensorFlow {one}\n    Kernlink   {other}"
    return f"{len(a[0])} {len(b[0])} nodes, functions {a[1]} {b[1]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    for index in range(5):
        (folder / f"lines{index}").write_text("".join(f"l{index}{line}\n" for line in range(index)))
        (folder / f"fixed{index}").write_text("".join(f"{index}{line}" for line in range(4)))
        with tf.io.TFRecordWriter(str(folder / f"tfrecord{index}")) as writer:
            for line in range(index + 1):
                writer.write(f"r{index}{line}")
    module, signatures, texts = tf.Module(), {"loaded": loaded()}, {}
    for seed in range(arguments.seed, arguments.seed + arguments.count):
        pipeline = Pipeline(seed)
        made = {f"g{seed}": of_graph(seed)}
        made[f"a{seed}"], texts[f"a{seed}"] = of_shares(seed, folder)
        for name, f in made.items():
            try:
                f.get_concrete_function()
            except (ValueError, TypeError, tf.errors.OpError) as error:
                print(f"{name} is left out: {str(error)[:200]}", file=sys.stderr)
                continue
            signatures[name] = f
        texts[f"g{seed}"] = " ".join(pipeline.ops)
    for name, f in signatures.items():
        signatures[name] = f.get_concrete_function()
        setattr(module, name, f)
    where = arguments.save or tempfile.mkdtemp()
    tf.saved_model.save(module, where, signatures=signatures)
    import kernlink

    # TensorFlow gives the functions of what it loads other names.
    theirs, ours = signatures, kernlink.saved_model.load(where).signatures
    counts = dict.fromkeys(["graphs", "graphs differ", "fingerprints differ", "batch sizes differ", "loaded", "loaded differ", "shares", "shares fail", "shares differ"], 0)

    def told_of(signature, *values):
        return outcome(lambda: {k: v.numpy() for k, v in signature(*values).items()})

    def differ(what, name, a, b):
        counts[f"{what} differ"] += 1
        print(f"{what} {name}: {texts.get(name, '')}\n    TensorFlow {a}\n    Kernlink   {b}")

    def equal(a, b):
        if isinstance(a, tuple) or isinstance(b, tuple):
            return isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0]
        return all(np.array_equal(a[k], b[k]) for k in a)

    for name in signatures:
        if name == "loaded":
            continue
        a, b = told_of(theirs[name]), told_of(ours[name])
        if name[0] == "a":
            counts["shares"] += 1
            counts["shares fail"] += isinstance(a, tuple)
            if not equal(a, b):
                differ("shares", name, a, b)
            continue
        counts["graphs"] += 1
        if isinstance(a, tuple) or isinstance(b, tuple):
            if not equal(a, b):
                differ("graphs", name, a, b)
            continue
        why = differing(structure(a["graph"].item()), structure(b["graph"].item()))
        if why:
            differ("graphs", name, "", why)
        if a["fingerprint"] != b["fingerprint"]:
            differ("fingerprints", name, a["fingerprint"], b["fingerprint"])
        if a["batch"] != b["batch"]:
            differ("batch sizes", name, a["batch"], b["batch"])
        # The elements by each of what each has written.
        expected = outcome(lambda: {"elements": theirs["loaded"](graph=tf.constant(a["graph"].item()))["elements"].numpy()})
        for by, found in [
            ("TensorFlow's by Kernlink", outcome(lambda: {"elements": ours["loaded"](graph=kernlink.constant(a["graph"].item()))["elements"].numpy()})),
            ("Kernlink's by TensorFlow", outcome(lambda: {"elements": theirs["loaded"](graph=tf.constant(b["graph"].item()))["elements"].numpy()})),
            ("Kernlink's by Kernlink", outcome(lambda: {"elements": ours["loaded"](graph=kernlink.constant(b["graph"].item()))["elements"].numpy()})),
        ]:
            counts["loaded"] += 1
            if not equal(expected, found):
                differ("loaded", name, expected, f"{by}: {found}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if any(count for what, count in counts.items() if what.endswith("differ")) else 0


if __name__ == "__main__":
    sys.exit(main())
