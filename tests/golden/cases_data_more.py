"""Datasets that no function of tf.data makes, or makes no more: shares, sparse batches, random order without a buffer, Examples."""
import numpy as np
import tensorflow as tf
from tensorflow import raw_ops
from golden import Traced
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


def choices():
    for op in ("ChooseFastestDataset", "ExperimentalChooseFastestDataset"):
        make = lambda *inputs, n=2: wrap(inputs[0], getattr(raw_ops, op)(input_datasets=[variant(ds) for ds in inputs], num_experiments=n, **spec([])))
        for n in (1, 3, 50):
            yield case(op, "int64", f"experiments-{n}", lambda: texts(make(r(), r().map(lambda x: x), n=n)))
        yield case(op, "int64", "unknown", lambda: texts(make(r().filter(lambda x: x >= 0), r(), r())))
        yield error(op, "cardinality", lambda: make(r(), r(9)).cardinality())
        yield error(op, "dtypes", lambda: make(r(), r().map(lambda x: tf.cast(x, tf.int32))).cardinality())
        yield error(op, "shapes", lambda: make(r(), r().batch(1)).cardinality())
    def branch(n, numerator, denominator, lengths=(0, 0)):
        function = lambda k: tf.function(lambda v: variant(tf.data.experimental.from_variant(v, tf.TensorSpec([], tf.int64)).map(lambda x: x * k)), input_signature=[tf.TensorSpec([], tf.variant)])
        found = []
        for _ in range(2):
            g = function(3).get_concrete_function()
            g.add_to_graph(tf.compat.v1.get_default_graph())
            found.append(g)
        return wrap(r(20), raw_ops.ChooseFastestBranchDataset(input_dataset=variant(r(20)), ratio_numerator=I(numerator), ratio_denominator=I(denominator), other_arguments=[],
                                                           num_elements_per_branch=n, branches=found, other_arguments_lengths=list(lengths), **spec([])))
    for n in (1, 4, 50):
        yield case("ChooseFastestBranchDataset", "int64", f"elements-{n}", lambda: texts(branch(n, 1, 1)))
    yield error("ChooseFastestBranchDataset", "numerator", lambda: branch(2, 0, 1).cardinality())
    yield error("ChooseFastestBranchDataset", "denominator", lambda: branch(2, 1, 0).cardinality())
    yield error("ChooseFastestBranchDataset", "not-divisible", lambda: branch(3, 1, 2).cardinality())
    def shuffled(ds, seed=3, again=True, shapes=([],)):
        out = raw_ops.GlobalShuffleDataset(input_dataset=variant(ds), seed=I(seed), seed2=I(12345678901), seed_generator=raw_ops.DummySeedGenerator(), reshuffle_each_iteration=again, **spec(*shapes))
        return wrap(ds, out)
    for n in (1, 2, 3, 10, 257, 5000):
        for seed in (0, 7):
            yield case("GlobalShuffleDataset", "int64", f"{n}-seed-{seed}", lambda: texts(shuffled(r(n), seed), 400))
    for tag, ds in (("map", lambda: r().map(lambda x: x * x)), ("batch", lambda: r(11).batch(3, True)), ("take", lambda: r().take(4)), ("skip", lambda: r().skip(3)),
                    ("repeat", lambda: r().repeat(2)), ("concatenate", lambda: r().concatenate(D.range(50, 53))), ("shard", lambda: r().shard(3, 1)), ("cache", lambda: r().cache()),
                    ("prefetch", lambda: r().prefetch(2)), ("slices", lambda: D.from_tensor_slices(tf.range(8, dtype=tf.int64)))):
        yield case("GlobalShuffleDataset", "int64", tag, lambda: texts(shuffled(ds(), shapes=(None,)).map(told)))
    yield case("GlobalShuffleDataset", "int64", "zip", lambda: texts(shuffled(D.zip((r(), r(7))), shapes=([], [])).map(told)))
    for again in (True, False):
        yield case("GlobalShuffleDataset", "int64", f"repeated-{again}".lower(), lambda: texts(shuffled(r(), again=again).repeat(3)))
    for tag, ds in (("empty", lambda: r(0)), ("infinite", lambda: r().repeat()), ("filter", lambda: r().filter(lambda x: x > 2)), ("unbatch", lambda: r().batch(2).unbatch())):
        yield error("GlobalShuffleDataset", tag, lambda: shuffled(ds()).cardinality())
    def weighted(counts, weights):
        inputs = [D.range(100 * k, 100 * k + n) if n >= 0 else r().repeat() for k, n in enumerate(counts)]
        return wrap(r(), raw_ops.WeightedFlatMapDataset(input_datasets=[variant(ds) for ds in inputs], weights=[tf.constant(w, tf.float64) for w in weights], **spec([])))
    for counts, weights in (((10, 10), (0.5, 0.5)), ((10, 10, 4), (0.2, 0.3, 0.5)), ((3, 9), (1.0, 0.1)), ((0, 5), (1.0, 1.0)), ((20, 7), (0.3, 0.7))):
        yield case("WeightedFlatMapDataset", "int64", "-".join(map(str, counts)), lambda: texts(weighted(counts, weights)))
    for tag, counts, weights in (("weight-0", (3, 3), (1.0, 0.0)), ("minus", (3, 3), (1.0, -1.0)), ("infinite", (3, -1), (1.0, 1.0)), ("sizes", (3, 3), (1.0, 1.0, 1.0))):
        yield error("WeightedFlatMapDataset", tag, lambda: weighted(counts, weights).cardinality())
    def flat(index_map, map_f=lambda x: tf.stack([x, x + 100, x + 200]), n=4, cardinality=12, shuffle=False):
        functions = [tf.function(f, input_signature=[tf.TensorSpec([], tf.int64)]).get_concrete_function() for f in (map_f, index_map)]
        for g in functions:
            g.add_to_graph(tf.compat.v1.get_default_graph())
        ds = wrap(r(), raw_ops.IndexFlatMapDataset(input_dataset=variant(r(n)), map_func_other_args=[], index_map_func_other_args=[], output_cardinality=I(cardinality),
                                                 map_func=functions[0], index_map_func=functions[1], **spec([])))
        return texts((shuffled(ds) if shuffle else ds).take(12))
    three = lambda i: (i // 3, i % 3)
    yield case("IndexFlatMapDataset", "int64", "threes", lambda: flat(three))
    yield case("IndexFlatMapDataset", "int64", "unknown", lambda: flat(three, cardinality=-2))
    yield case("IndexFlatMapDataset", "int64", "scalars", lambda: flat(lambda i: (i, tf.zeros([], tf.int64)), map_f=lambda x: x, n=12))
    yield case("IndexFlatMapDataset", "int64", "int32", lambda: flat(lambda i: (tf.cast(i // 3, tf.int32), tf.cast(i % 3, tf.int32))))
    yield case("IndexFlatMapDataset", "int64", "shuffled", lambda: flat(three, shuffle=True))
    yield error("IndexFlatMapDataset", "one-result", lambda: flat(lambda i: i))
    yield error("IndexFlatMapDataset", "floats", lambda: flat(lambda i: (tf.cast(i, tf.float32), i)))


def examples():
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
        yield error(op, "another-dtype", lambda: parsed(serialized({"i": [1.5, 2.5]}), op, dense={"i": [2]}, take=1))
        yield error(op, "missing", lambda: parsed(serialized({"f": [1.5]}), op, dense={"i": [2]}, required=["i"], take=1))
        yield error(op, "twice", lambda: parsed(good(), op, sparse=["f", "f"]))
        yield error(op, "broken", lambda: parsed(tf.constant([b"\x0a\xff"]), op, dense={"i": [2]}, take=1))
    for op in ("ParseExampleDataset", "ParseExampleDatasetV2"):
        for splits in (tf.int32, tf.int64):
            yield case(op, splits.name, "ragged", lambda: parsed(serialized({"i": [1]}, {"i": []}, {"i": [2, 3]}, {"f": [1.0]}), op, ragged=["i", "f"], splits=splits))
    yield case("ParseExampleDatasetV2", "int64", "defaults", lambda: parsed(serialized({"i": [1, 2]}, {}, {"b": [b"x"]}, {"i": [3, 4]}), dense={"i": [2], "b": [1], "f": []}))
    yield case("ParseExampleDatasetV2", "int64", "one", lambda: parsed(good(), dense={"i": [2]}, batch=1, take=3, deterministic="false"))
    yield error("ParseExampleDatasetV2", "deterministic", lambda: parsed(good(), dense={"i": [2]}, deterministic="perhaps"))


def wholes():
    yield error("IteratorGetModelProto", "uninitialized", lambda: raw_ops.IteratorGetModelProto(iterator=raw_ops.AnonymousIteratorV3(**spec([]))))
    def counted():
        handle = raw_ops.DummyIterationCounter()
        return tf.shape(tf.stack([raw_ops.VarIsInitializedOp(resource=handle)]))
    yield case("DummyIterationCounter", "resource", "names-nothing", counted)
    for tag in ("", "t"):
        def told_of(op):
            def build():
                aggregator = getattr(raw_ops, op.replace("Summary", "Handle"))(shared_name=f"{op}{tag}")
                ds = r(7).batch(3)
                prefix = "Experimental" if op.startswith("Experimental") else ""
                ds = wrap(ds, getattr(raw_ops, f"{prefix}BytesProducedStatsDataset")(input_dataset=variant(ds), tag="bytes", **spec([None])))
                ds = wrap(ds, getattr(raw_ops, f"{prefix}SetStatsAggregatorDataset")(input_dataset=variant(ds), stats_aggregator=aggregator, tag=tag, counter_prefix="c", **spec([None])))
                found = whole(ds.unbatch())
                with tf.control_dependencies(found):
                    return [*found, getattr(raw_ops, op)(iterator=aggregator)]
            return build
        for op in ("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"):
            yield case(op, "string", f"tag-{tag}" if tag else "no-tag", told_of(op))
    def table(keys, values, dtype=tf.int64, twice=False):
        handle = raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=dtype, shared_name=f"table{keys}{values}{twice}")
        ds = D.from_tensor_slices((tf.constant(keys, tf.int64), tf.constant(values, dtype)))
        last = raw_ops.InitializeTableFromDataset(table_handle=handle, dataset=variant(ds))
        if twice:
            with tf.control_dependencies([last]):
                last = raw_ops.InitializeTableFromDataset(table_handle=handle, dataset=variant(ds.skip(1)))
        with tf.control_dependencies([last]):
            return [raw_ops.LookupTableFindV2(table_handle=handle, keys=I([1, 2, 3, 4]), default_value=tf.constant("none" if dtype == tf.string else -1, dtype)),
                    raw_ops.LookupTableSizeV2(table_handle=handle)]
    # One that ends TensorFlow's process must not end the others'.
    for tag, build in (("three", lambda: table([1, 3, 4], [10, 30, 40])), ("same-twice", lambda: table([1, 3, 1], [10, 30, 10])),
                       ("strings", lambda: table([2, 4], ["b", "d"], tf.string)), ("again", lambda: table([2, 4], [5, 6], twice=True))):
        yield Traced(f"InitializeTableFromDataset/int64/{tag}", build, v2=True, risky=True)
    # Of other dtypes, or keys that are twice there, TensorFlow's process may end.
    for tag, keys, values in (("other-value", [1, 1], [10, 11]), ("empty", [], [])):
        yield Traced(f"InitializeTableFromDataset/int64/error-{tag}", lambda: table(keys, values), v2=True, fails=True, risky=True)
    def defun(f, arguments, shapes, captured=(), types=(tf.int64,)):
        g = f.get_concrete_function()
        g.add_to_graph(tf.compat.v1.get_default_graph())
        return raw_ops.MapDefun(arguments=arguments, captured_inputs=list(captured), output_types=list(types), output_shapes=list(shapes), f=g)
    signature = lambda *shapes: [tf.TensorSpec(s, tf.int64) for s in shapes]
    add = tf.function(lambda a, b: a + b, input_signature=signature([], []))
    yield case("MapDefun", "int64", "two-arguments", lambda: defun(add, [I([1, 2, 3]), I([10, 20, 30])], [[]]))
    yield case("MapDefun", "int64", "captured", lambda: defun(add, [I([1, 2, 3])], [[]], captured=[I(5)]))
    yield case("MapDefun", "int64", "unknown-shape", lambda: defun(tf.function(lambda a: tf.range(3, dtype=tf.int64) + a, input_signature=signature([])), [I([1, 2])], [[None]]))
    yield case("MapDefun", "int64", "no-rows", lambda: defun(add, [I(np.zeros([0])), I(np.zeros([0]))], [[]]))
    yield error("MapDefun", "shapes-differ", lambda: defun(tf.function(lambda a: tf.range(a), input_signature=signature([])), [I([1, 2])], [[None]]))
    yield error("MapDefun", "another-shape", lambda: defun(tf.function(lambda a: tf.fill([a], a), input_signature=signature([])), [I([2, 2])], [[3]]))


def cases():
    for dtype in DTYPES:
        yield from by_dtype(dtype)
    for family in (shares, choices, examples, wholes):
        yield from family()
