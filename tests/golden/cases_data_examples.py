"""Datasets of parsed Examples and of CSV files."""
import tensorflow as tf
from tensorflow import raw_ops
from cases_data import D, case, error, value, variant
from cases_data_more import I, r


def cases():
    def serialized(*features):
        out = []
        for f in features:
            e = tf.train.Example()
            for key, values in f.items():
                feature = e.features.feature[key]
                if not values:
                    feature.int64_list.SetInParent()
                for v in values:
                    (feature.bytes_list if isinstance(v, bytes) else feature.float_list if isinstance(v, float) else feature.int64_list).value.append(v)
            out.append(e.SerializeToString())
        return tf.constant(out, tf.string)
    good = lambda: serialized({"i": [1, 2], "f": [0.5, 1.5], "b": [b"x", b"yy"]}, {"i": [3, 4], "f": [2.5, 3.5], "b": [b"", b"z"]}, {"i": [5, 6], "f": [4.5, 5.5], "b": [b"q", b"r"]})
    kinds = {"i": tf.int64, "f": tf.float32, "b": tf.string}
    fill = {"i": 7, "f": 0.25, "b": b"d"}
    def parsed(data, op="ParseExampleDatasetV2", dense={}, sparse=(), ragged=(), calls=1, required=(), splits=tf.int64, batch=2, take=2, **more):
        types = [kinds[k] if k in dense else tf.variant for k in sorted([*dense, *sparse, *ragged])]
        ds = D.from_tensor_slices(data).batch(batch)
        if op != "ExperimentalParseExampleDataset":
            more.update(ragged_keys=list(ragged), ragged_value_types=[kinds[k] for k in ragged], ragged_split_types=[splits] * len(ragged))
        default = lambda k: tf.constant(fill[k], kinds[k], [0] if k in required else [1 if d is None else d for d in dense[k]])
        out = getattr(raw_ops, op)(input_dataset=variant(ds), num_parallel_calls=I(calls), dense_defaults=[default(k) for k in dense], sparse_keys=list(sparse), dense_keys=list(dense),
                                   sparse_types=[kinds[k] for k in sparse], dense_shapes=[tf.TensorShape(s) for s in dense.values()], output_types=types, output_shapes=[None] * len(types), **more)
        ds = tf.data.experimental.from_variant(out, tuple(tf.TensorSpec(None, t) for t in types))
        found = [ds.cardinality()]
        for n in range(take):
            element = ds.skip(n).take(1).get_single_element()
            for key, component in zip(sorted([*dense, *sparse, *ragged]), element):
                if key in sparse:
                    found += list(raw_ops.DeserializeSparse(serialized_sparse=tf.ensure_shape(component, [3]), dtype=kinds[key]))
                elif key in ragged:
                    found += tf.nest.flatten(list(raw_ops.RaggedTensorFromVariant(encoded_ragged=component, input_ragged_rank=1, output_ragged_rank=1, Tvalues=kinds[key], Tsplits=splits)))
                else:
                    found.append(component)
        return found
    for op in ("ParseExampleDataset", "ParseExampleDatasetV2", "ExperimentalParseExampleDataset"):
        yield case(op, "int64", "dense", lambda: parsed(good(), op, dense={"i": [2], "f": [2, 1], "b": [2]}))
        yield case(op, "int64", "sparse", lambda: parsed(good(), op, sparse=["f", "b", "i"]))
        yield case(op, "int64", "mixed", lambda: parsed(good(), op, dense={"i": [None]}, sparse=["b"], calls=3))
        yield error(op, "calls-0", lambda: parsed(good(), op, dense={"i": [2]}, calls=0))
        yield error(op, "another-dtype", lambda: parsed(serialized({"i": [1.5, 2.5]}), op, dense={"i": [2]}, take=1)[::-1])
        yield error(op, "missing", lambda: parsed(serialized({"f": [1.5]}), op, dense={"i": [2]}, required=["i"], take=1)[::-1])
        yield error(op, "twice", lambda: parsed(good(), op, sparse=["f", "f"]))
        yield error(op, "broken", lambda: parsed(tf.constant([b"\x0a\xff"]), op, dense={"i": [2]}, take=1)[::-1])
    for op in ("ParseExampleDataset", "ParseExampleDatasetV2"):
        for splits in (tf.int32, tf.int64):
            yield case(op, splits.name, "ragged", lambda: parsed(serialized({"i": [1]}, {"i": []}, {"i": [2, 3]}, {"f": [1.0]}), op, ragged=["i", "f"], splits=splits))
    yield case("ParseExampleDatasetV2", "int64", "defaults", lambda: parsed(serialized({"i": [1, 2]}, {}, {"b": [b"x"]}, {"i": [3, 4]}), dense={"i": [2], "b": [1], "f": []}))
    yield case("ParseExampleDatasetV2", "int64", "one", lambda: parsed(good(), dense={"i": [2]}, batch=1, take=3, deterministic="false"))
    yield error("ParseExampleDatasetV2", "deterministic", lambda: parsed(good(), dense={"i": [2]}, deterministic="perhaps"))
