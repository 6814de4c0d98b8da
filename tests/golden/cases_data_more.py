"""Datasets that no function of tf.data makes, or makes no more: sparse batches, compressed elements, shares."""
import tensorflow as tf
from tensorflow import raw_ops
from cases_data import D, DTYPES, case, error, texts, told, value, variant, whole, wrap

I = lambda n: tf.constant(n, tf.int64)


def spec(*shapes, dtype=tf.int64):
    return {"output_types": [dtype] * len(shapes), "output_shapes": list(shapes)}


def r(n=10):
    return D.range(n)


def sparse_of(variant_tensor, dtype):
    """The sparse tensors of all elements of a dataset of variants, one after the other."""
    like = D.from_tensors(tf.zeros([3], tf.int64)).map(lambda x: x)
    ds = tf.data.experimental.from_variant(variant_tensor, tf.TensorSpec([3], tf.variant))
    del like
    return [t for k in range(3) for t in raw_ops.DeserializeSparse(serialized_sparse=ds.skip(k).take(1).get_single_element(), dtype=dtype)]


def by_dtype(dtype):
    """What moves elements of any dtype."""
    as_dtype = tf.as_dtype(dtype)
    rows = lambda *shape: D.from_tensor_slices(value(dtype, shape))
    for op in ("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"):
        for tag, shape, row in (("vectors", (7, 2), [3]), ("matrices", (7, 2, 1), [-1, 2]), ("scalars", (7,), []), ("empty", (7, 0), [-1])):
            batch = lambda: getattr(raw_ops, op)(input_dataset=variant(rows(*shape)), batch_size=I(3), row_shape=tf.constant(row, tf.int64), output_types=[tf.variant], output_shapes=[None])
            yield case(op, dtype, tag, lambda: sparse_of(batch(), as_dtype))
    for op in ("RebatchDataset", "ExperimentalRebatchDataset"):
        for n in (1, 2, 5):
            yield case(op, dtype, f"to-{n}", lambda: texts(wrap(rows(7, 2).map(told), getattr(raw_ops, op)(
                input_dataset=variant(rows(7, 2).map(told).batch(3)), num_replicas=I(n), output_types=[tf.string], output_shapes=[None])).map(told)))
    def uncompressed():
        parts = [value(dtype, (2, 3)), value(dtype, (), 1), value(dtype, (0, 2), 2), tf.constant(["a", "", "long" * 20])]
        packed = raw_ops.CompressElement(components=parts)
        return raw_ops.UncompressElement(compressed=packed, output_types=[p.dtype for p in parts], output_shapes=[p.shape for p in parts])
    yield case("UncompressElement", dtype, "four", uncompressed)
    def through_variants():
        st = tf.sparse.from_dense(tf.constant([[1, 0], [0, 3]]))
        values = value(dtype, (2,))
        one = raw_ops.SerializeSparse(sparse_indices=st.indices, sparse_values=values, sparse_shape=st.dense_shape, out_type=tf.variant)
        many = raw_ops.SerializeManySparse(sparse_indices=st.indices, sparse_values=values, sparse_shape=st.dense_shape, out_type=tf.variant)
        return [t for s in (one, many, many[:1]) for t in raw_ops.DeserializeSparse(serialized_sparse=s, dtype=as_dtype)]
    yield case("DeserializeSparse", dtype, "variants", through_variants)
    for tag, f in (("identity", lambda x: x), ("twice", lambda x: tf.stack([x, x]))):
        concrete = tf.function(f, input_signature=[tf.TensorSpec([2], as_dtype)]).get_concrete_function
        def mapped():
            g = concrete()
            g.add_to_graph(tf.compat.v1.get_default_graph())
            return raw_ops.MapDefun(arguments=[value(dtype, (5, 2))], captured_inputs=[], output_types=[as_dtype], output_shapes=[g.outputs[0].shape], f=g)
        yield case("MapDefun", dtype, tag, mapped)


def shares():
    for op in ("AutoShardDataset", "ExperimentalAutoShardDataset"):
        make = lambda policy, n, i: wrap(r(), getattr(raw_ops, op)(input_dataset=variant(r()), num_workers=I(n), index=I(i), auto_shard_policy=policy, **spec([])))
        for policy in (-1, 0, 2, 3):
            for n, i in ((1, 0), (3, 0), (3, 2)):
                yield case(op, "int64", f"policy-{policy}-{i}-of-{n}".replace("--", "-minus-"), lambda: texts(make(policy, n, i)))
        yield case(op, "int64", "policy-1-alone", lambda: texts(make(1, 1, 0)))
        for policy, n, i in ((1, 2, 0), (4, 2, 0), (-2, 2, 0), (0, 0, 0), (0, 2, 2), (0, 2, -1)):
            yield error(op, f"policy-{policy}-{i}-of-{n}".replace("--", "-minus-"), lambda: make(policy, n, i).cardinality())
    for op in ("SleepDataset", "ExperimentalSleepDataset"):
        make = lambda time: wrap(r(4), getattr(raw_ops, op)(input_dataset=variant(r(4)), sleep_microseconds=I(time), **spec([])))
        for time in (0, 300):
            yield case(op, "int64", f"{time}", lambda: texts(make(time)))
        yield error(op, "minus-1", lambda: make(-1).cardinality())
    for prefix in ("", "Experimental"):
        def pooled(n):
            pool = getattr(raw_ops, f"{prefix}ThreadPoolHandle")(num_threads=n, display_name="pool")
            return wrap(r(), getattr(raw_ops, f"{prefix}ThreadPoolDataset")(input_dataset=variant(r()), thread_pool=pool, **spec([])))
        yield case(f"{prefix}ThreadPoolDataset", "int64", "two", lambda: texts(pooled(2)))
        yield error(f"{prefix}ThreadPoolHandle", "minus-1", lambda: pooled(-1).cardinality())
    for op in ("RebatchDataset", "ExperimentalRebatchDataset"):
        make = lambda ds, n: wrap(r(), getattr(raw_ops, op)(input_dataset=variant(ds), num_replicas=I(n), **spec(None)))
        yield error(op, "to-0", lambda: make(r().batch(3), 0).cardinality())
        yield error(op, "scalars", lambda: whole(make(r(), 2)))
    for op in ("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"):
        make = lambda ds, n, row: getattr(raw_ops, op)(input_dataset=variant(ds), batch_size=I(n), row_shape=tf.constant(row, tf.int64), output_types=[tf.variant], output_shapes=[None])
        yield error(op, "batch-0", lambda: raw_ops.DatasetCardinality(input_dataset=make(r(), 0, [])))
        yield error(op, "two-components", lambda: raw_ops.DatasetCardinality(input_dataset=make(D.zip((r(), r())), 2, [])))
        yield error(op, "rank", lambda: sparse_of(make(r().batch(2), 2, []), tf.int64))
        yield error(op, "too-large", lambda: sparse_of(make(r().batch(2), 2, [1]), tf.int64))
        yield case(op, "int64", "cardinality", lambda: [raw_ops.DatasetCardinality(input_dataset=make(ds, 3, [])) for ds in (r(), r().repeat(), r().filter(lambda x: x > 2))])
    yield error("UncompressElement", "no-element", lambda: raw_ops.UncompressElement(compressed=variant(r()), output_types=[tf.int64], output_shapes=[None]))
    for tag, dtypes in (("dtypes", [tf.int32]), ("count", [tf.int64, tf.int64])):
        yield error("UncompressElement", tag, lambda: raw_ops.UncompressElement(
            compressed=raw_ops.CompressElement(components=[I(3)]), output_types=dtypes, output_shapes=[None] * len(dtypes)))


def cases():
    for dtype in DTYPES:
        yield from by_dtype(dtype)
    yield from shares()
