"""Datasets and iterators: pipelines whose elements are fetched all at once, or one after the other."""
import numpy as np
import tensorflow as tf
from tensorflow import raw_ops
from golden import R, Traced

D = tf.data.Dataset
DTYPES = ["bfloat16", "bool", "complex128", "complex64", "double", "float", "half", "int16", "int32", "int64", "int8", "string",
          "uint16", "uint32", "uint64", "uint8"]
NUMBERS = [d for d in DTYPES if d not in ("bool", "string", "complex64", "complex128")]


def value(dtype, shape, seed=0):
    """A constant of any dtype."""
    return tf.constant(tf.make_ndarray(R(dtype, shape, seed).proto()), dtype=tf.as_dtype(dtype))


def whole(ds, n=100):
    """The components of all elements, stacked."""
    return tf.nest.flatten(ds.take(n).batch(n).get_single_element())


def told(*components):
    """An element as a string."""
    parts = []
    for component in tf.nest.flatten(components):
        values = component if component.dtype == tf.string else tf.strings.as_string(component)
        shape = tf.strings.reduce_join(tf.strings.as_string(tf.shape(component)), separator=",")
        parts.append(tf.strings.join(["[", shape, "]", tf.strings.reduce_join(tf.reshape(values, [-1]), separator=",")]))
    return tf.strings.join(parts, separator=";")


def texts(ds, n=100):
    """All elements as strings, which may have several shapes, and the cardinality."""
    return [ds.cardinality()] + whole(ds.map(told).concatenate(D.from_tensors("end")), n)


def variant(ds):
    return ds._variant_tensor


def case(op, dtype, tag, build):
    return Traced(f"{op}/{dtype}/{tag}", build, v2=True)


def error(op, tag, build):
    return Traced(f"{op}/int64/error-{tag}", build, v2=True, fails=True)


def by_dtype(dtype):
    """What moves elements of any dtype."""
    pairs = lambda: D.from_tensor_slices((value(dtype, (7, 2)), value(dtype, (7,), 1)))
    yield case("TensorSliceDataset", dtype, "pairs", lambda: whole(pairs()))
    yield case("TensorSliceDataset", dtype, "rank-4", lambda: whole(D.from_tensor_slices(value(dtype, (2, 3, 1, 2)))))
    yield case("TensorSliceDataset", dtype, "no-elements", lambda: D.from_tensor_slices(value(dtype, (2, 0))).batch(3).get_single_element())
    yield case("TensorDataset", dtype, "scalar", lambda: D.from_tensors(value(dtype, ())).get_single_element())
    yield case("TensorDataset", dtype, "several", lambda: D.from_tensors((value(dtype, (2, 3)), value(dtype, (0,)))).get_single_element())
    yield case("BatchDatasetV2", dtype, "remainder", lambda: pairs().batch(3).skip(2).get_single_element())
    yield case("BatchDatasetV2", dtype, "twice", lambda: pairs().batch(3, True).batch(2).get_single_element())
    yield case("ParallelBatchDataset", dtype, "pairs", lambda: whole(pairs().batch(2, num_parallel_calls=2).unbatch()))
    yield case("UnbatchDataset", dtype, "rank-3", lambda: whole(D.from_tensors(value(dtype, (2, 3, 2))).unbatch().unbatch()))
    yield case("RebatchDatasetV2", dtype, "sizes", lambda: [t for k in range(3) for t in pairs().batch(3).rebatch([2, 1]).skip(k).take(1).get_single_element()])
    yield case("ShuffleDataset", dtype, "seeded", lambda: whole(pairs().shuffle(4, seed=7)))
    yield case("ConcatenateDataset", dtype, "pairs", lambda: whole(pairs().concatenate(pairs())))
    yield case("ZipDataset", dtype, "nested", lambda: whole(D.zip((pairs(), pairs().skip(2)))))
    yield case("CacheDataset", dtype, "repeated", lambda: whole(pairs().cache().repeat(2)))
    yield case("PrefetchDataset", dtype, "pairs", lambda: whole(pairs().prefetch(2)))
    yield case("WindowDataset", dtype, "batched", lambda: whole(pairs().map(lambda a, b: b).window(3, 2, 1, True).flat_map(lambda w: w.batch(3))))
    yield case("MapDataset", dtype, "swapped", lambda: whole(pairs().map(lambda a, b: (b, a))))
    def padded(dims, shape=None):
        def build():
            rows = [D.from_tensors(value(dtype, d, k)) for k, d in enumerate(dims)]
            ds = rows[0].map(lambda x: x)
            for row in rows[1:]:
                ds = ds.concatenate(row)
            return ds.padded_batch(len(dims), padded_shapes=shape or [None] * len(dims[0]), padding_values=value(dtype, (), 9)).get_single_element()
        return build
    yield case("PaddedBatchDatasetV2", dtype, "vectors", padded([(2,), (0,), (3,)]))
    yield case("PaddedBatchDatasetV2", dtype, "matrices", padded([(2, 1), (1, 3)]))
    yield case("PaddedBatchDatasetV2", dtype, "rank-3", padded([(2, 1, 2), (1, 3, 1)], [4, None, 3]))
    yield case("PaddedBatchDatasetV2", dtype, "scalars", padded([(), ()]))


def ranges():
    for dtype in NUMBERS:
        yield case("RangeDataset", dtype, "step", lambda: whole(D.range(-3 if not dtype.startswith("u") else 3, 12, 4, output_type=tf.as_dtype(dtype))))
    for tag, start, stop, step in (("down", 5, -6, -3), ("empty", 3, 3, 1), ("away", 3, 9, -1), ("large", 2**62, 2**62 + 5, 2), ("one", 0, 1, 100)):
        yield case("RangeDataset", "int64", tag, lambda: texts(D.range(start, stop, step)))
    yield error("RangeDataset", "step-0", lambda: D.range(0, 3, tf.constant(0, tf.int64)).cardinality())


def orders():
    r = lambda n=10: D.range(n)
    for n in (-1, 0, 1, 4, 10, 12):
        yield case("TakeDataset", "int64", f"{n}".replace("-", "minus-"), lambda: texts(r().take(n)))
        yield case("SkipDataset", "int64", f"{n}".replace("-", "minus-"), lambda: texts(r().skip(n)))
    for n in (-2, -1, 0, 1, 3):
        yield case("RepeatDataset", "int64", f"{n}".replace("-", "minus-"), lambda: texts(r(3).repeat(n).take(8)))
        yield case("RepeatDataset", "int64", f"empty-{n}".replace("--", "-minus-"), lambda: texts(r(0).repeat(n).take(8)))
    for n, i in ((1, 0), (3, 0), (3, 2), (12, 11)):
        yield case("ShardDataset", "int64", f"{i}-of-{n}", lambda: texts(r().shard(n, i)))
    for n, i in ((0, 0), (-2, 0), (3, 3), (3, -1)):
        yield error("ShardDataset", f"{i}-of-{n}".replace("--", "-minus-").lstrip("-"), lambda: raw_ops.DatasetCardinality(input_dataset=shard(r(), n, i)))
    yield error("ShardDataset", "hint", lambda: whole(wrap(r(), shard(r(), -1, -1))))
    yield error("ShardDataset", "non-empty", lambda: whole(wrap(r(), shard(r(2), 3, 0, True))))
    for ds, tag in ((lambda: r().filter(lambda x: x > 3), "filter"), (lambda: r().repeat().shard(3, 1), "infinite-shard"),
                    (lambda: r().flat_map(lambda x: D.range(x)), "flat-map"), (lambda: r().map(lambda x: x).batch(3, True), "map-batch"),
                    (lambda: D.zip((r(), r().repeat(), r(4))), "zip"), (lambda: r().concatenate(r().repeat()), "concatenate"),
                    (lambda: r().batch(2).unbatch(), "unbatch"), (lambda: r().batch(2, True).unbatch(), "unbatch-known"),
                    (lambda: r().window(3, 2), "window"), (lambda: r().window(3, 2, 2, True), "window-remainder"),
                    (lambda: r().shuffle(3).repeat(2), "shuffle-repeat"), (lambda: r().enumerate(), "enumerate"),
                    (lambda: r().interleave(lambda x: D.range(x), 2), "interleave"), (lambda: r().cache().prefetch(1), "cache")):
        yield case("DatasetCardinality", "int64", tag, lambda: ds().cardinality())
    for n in (3, 10, -1, -2, 12):
        build = lambda: whole(r().apply(tf.data.experimental.assert_cardinality(n)))
        tag = f"{n}".replace("-", "minus-")
        yield case("AssertCardinalityDataset", "int64", tag, build) if n == 10 else error("AssertCardinalityDataset", tag, build)
    for dtype in ("int32", "int64", "string"):
        as_dtype = (lambda x: tf.strings.as_string(x % 4)) if dtype == "string" else (lambda x: tf.cast(x % 4, tf.as_dtype(dtype)))
        yield case("UniqueDataset", dtype, "rest-4", lambda: whole(r().map(as_dtype).unique()))
    for d in (3, 10):
        yield case("DirectedInterleaveDataset", "int64", f"choose-{d}", lambda: texts(D.choose_from_datasets([r(4), D.range(50, 53)], D.range(2).repeat(d), stop_on_empty_dataset=d == 3)))
    yield error("DirectedInterleaveDataset", "out-of-range", lambda: whole(D.choose_from_datasets([r(4), r(4)], D.range(3))))
    yield case("SamplingDataset", "int64", "half", lambda: whole(wrap(r(40), raw_ops.SamplingDataset(input_dataset=variant(r(40)), rate=0.5, seed=3, seed2=4, output_types=[tf.int64], output_shapes=[[]]))))


def wrap(like, variant_tensor):
    """A dataset of Python around a tensor."""
    return tf.data.experimental.from_variant(variant_tensor, like.element_spec)


def shard(ds, n, i, require_non_empty=False):
    return raw_ops.ShardDataset(input_dataset=variant(ds), num_shards=tf.constant(n, tf.int64), index=tf.constant(i, tf.int64),
                                output_types=[tf.int64], output_shapes=[[]], require_non_empty=require_non_empty)


def copies():
    """Generators, which TensorFlow copies datasets to another device by."""
    copied = lambda ds: ds.apply(tf.data.experimental.copy_to_device("/cpu:0"))
    for tag, build in {
        "range": lambda: copied(D.range(5)), "none": lambda: copied(D.range(0)), "twice": lambda: copied(copied(D.range(4))).repeat(2), "taken": lambda: copied(D.range(9)).take(3).repeat(3),
        "pairs": lambda: copied(D.range(5).map(lambda x: (x, tf.strings.as_string(x)))), "ahead": lambda: D.range(7).batch(3).apply(tf.data.experimental.prefetch_to_device("/cpu:0")),
        "captured": lambda: copied(D.range(5).map(lambda x, y=tf.constant(7, tf.int64): x * y)), "flat": lambda: D.range(3).flat_map(lambda x: D.range(x, x + 2)).apply(tf.data.experimental.copy_to_device("/cpu:0")).batch(2),
    }.items():
        yield case("GeneratorDataset", "int64", tag, lambda: texts(build()))
    def refuse(x):
        with tf.control_dependencies([tf.debugging.assert_less(x, tf.constant(3, tf.int64))]):
            return tf.identity(x)
    yield error("GeneratorDataset", "fails", lambda: whole(copied(D.range(5).map(refuse))))


def functions():
    r = lambda n=10: D.range(n)
    table = lambda: tf.constant([1, 4, 9, 16], tf.int64)
    def captured():
        t = table()
        return whole(r().map(lambda x: tf.gather(t, x % 4)))
    yield case("MapDataset", "int64", "captures", captured)
    yield case("MapDataset", "int64", "several-results", lambda: whole(r().map(lambda x: (x, tf.cast(x, tf.float32) / 2, tf.strings.as_string(x)))))
    for calls in (1, 2, 7, -1):
        yield case("ParallelMapDatasetV2", "int64", f"calls-{calls}".replace("--", "-minus-"), lambda: whole(r(20).map(lambda x: x * x, num_parallel_calls=calls)))
    yield error("ParallelMapDatasetV2", "calls-0", lambda: whole(r().map(lambda x: x, num_parallel_calls=tf.constant(0, tf.int64))))
    def refuse(x):
        with tf.control_dependencies([tf.debugging.assert_less(x, tf.constant(4, tf.int64))]):
            return tf.identity(x)
    for op, ds in (("MapDataset", lambda: r().map(refuse)), ("ParallelMapDatasetV2", lambda: r().map(refuse, num_parallel_calls=3)),
                   ("FlatMapDataset", lambda: r().flat_map(lambda x: D.from_tensors(refuse(x)))),
                   ("FilterDataset", lambda: r().filter(lambda x: refuse(x) >= 0)), ("ScanDataset", lambda: r().scan(tf.constant(0, tf.int64), lambda s, x: (s + refuse(x), x)))):
        yield error(op, "refused", lambda: whole(ds()))
        yield case(op, "int64", "refused-later", lambda: whole(ds().take(4)))
        yield case("IgnoreErrorsDataset", "int64", op, lambda: whole(ds().take(6).ignore_errors()))
    for k in (1, 2, 3):
        yield case("FlatMapDataset", "int64", f"rest-{k}", lambda: texts(r().flat_map(lambda x: D.range(x % k).map(lambda y: y + 10 * x))))
        yield case("FilterDataset", "int64", f"rest-{k}", lambda: texts(r().filter(lambda x: x % k == 0)))
        yield case("TakeWhileDataset", "int64", f"less-{k}", lambda: texts(r().take_while(lambda x: x < k * 4)))
        yield case("ScanDataset", "int64", f"sums-{k}", lambda: whole(r().scan(tf.constant(k, tf.int64), lambda s, x: (s + x, (s, x)))))
    for cycle in (1, 2, 3, 20):
        for block in (1, 2, 3):
            for calls in (None, 1):
                ds = lambda: r(8).interleave(lambda x: D.range(x % 4).map(lambda y: y + 10 * x), cycle, block, num_parallel_calls=calls)
                op = "ParallelInterleaveDatasetV4" if calls else "InterleaveDataset"
                yield case(op, "int64", f"cycle-{cycle}-block-{block}", lambda: texts(ds()))
    for cycle, block in ((0, 1), (1, 0), (-2, 1)):
        yield error("InterleaveDataset", f"cycle-{cycle}-block-{block}".replace("--", "-minus-"), lambda: r(8).interleave(
            lambda x: D.range(x % 4), tf.constant(cycle, tf.int64), tf.constant(block, tf.int64)).cardinality())
    for size in (1, 3, 30):
        yield case("GroupByWindowDataset", "int64", f"size-{size}", lambda: texts(r(14).group_by_window(lambda x: x % 3, lambda k, w: w.batch(9), window_size=size)))
    reducer = lambda: tf.data.experimental.Reducer(lambda k: k * 10, lambda s, x: s + x, lambda s: (s, -s))
    yield case("GroupByReducerDataset", "int64", "sums", lambda: texts(r(14).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, reducer()))))
    yield case("ReduceDataset", "int64", "sum", lambda: r().reduce(tf.constant(3, tf.int64), lambda s, x: s + x))
    yield case("ReduceDataset", "int64", "empty", lambda: r(0).reduce((tf.constant(3, tf.int64), "a"), lambda s, x: (s[0] + x, s[1])))
    yield error("ReduceDataset", "refused", lambda: r().reduce(tf.constant(3, tf.int64), lambda s, x: s + refuse(x)))
    yield case("MapAndBatchDataset", "int64", "pairs", lambda: whole(r(9).apply(tf.data.experimental.map_and_batch(lambda x: (x, x * 2), 4, num_parallel_calls=2, drop_remainder=True))))


def random():
    r = lambda n=10: D.range(n)
    for size in (1, 2, 5, 10, 100):
        for seed in (1, 12345678901):
            yield case("ShuffleDataset", "int64", f"size-{size}-seed-{seed}", lambda: whole(r().shuffle(size, seed=seed)))
        for again in (True, False):
            tag = f"size-{size}-repeat-{again}".lower()
            yield case("ShuffleDataset", "int64", tag, lambda: whole(r().shuffle(size, seed=5, reshuffle_each_iteration=again).repeat(3)))
            def fused():
                one = lambda n: tf.constant(n, tf.int64)
                return whole(wrap(r(), raw_ops.ShuffleAndRepeatDataset(input_dataset=variant(r()), buffer_size=one(size), seed=one(3), seed2=one(4), count=one(3),
                                                                     output_types=[tf.int64], output_shapes=[[]], reshuffle_each_iteration=again)))
            yield case("ShuffleAndRepeatDataset", "int64", tag, fused)
    for n in (0, -1):
        yield error("ShuffleDataset", f"size-{n}".replace("--", "-minus-"), lambda: r().shuffle(tf.constant(n, tf.int64), seed=1).cardinality())
    yield case("ShuffleDataset", "int64", "size-unknown", lambda: whole(r().shuffle(tf.constant(-2, tf.int64), seed=1)))
    for again in (True, False):
        yield case("RandomDatasetV2", "int64", f"repeat-{again}".lower(), lambda: whole(D.random(seed=4, rerandomize_each_iteration=again).take(5).repeat(2)))
    yield case("RandomDataset", "int64", "seeded", lambda: whole(D.random(seed=4).take(9)))
    yield case("DirectedInterleaveDataset", "int64", "sample", lambda: whole(D.sample_from_datasets([r(), D.range(50, 60)], [0.3, 0.7], seed=3)))


def older_interleaving():
    """A block goes on with the next dataset where one ends that no other takes the place of."""
    for n, modulus, cycle, block, factor, first in ((9, 4, 4, 4, 3, 1), (7, 4, 3, 4, 3, 3), (7, 6, 4, 2, 4, 3), (9, 5, 3, 3, 1, 0), (6, 3, 2, 2, 2, 1), (5, 6, 1, 3, 1, 0), (3, 4, 4, 2, 1, 2), (0, 4, 2, 1, 1, 1)):
        of = lambda x: D.range((x * factor + first) % modulus).map(lambda y: y + x * 10)
        apply = tf.data.experimental.parallel_interleave(of, cycle_length=cycle, block_length=block, sloppy=False)
        yield case("LegacyParallelInterleaveDatasetV2", "int64", f"{n}-{modulus}-{cycle}-{block}-{factor}-{first}", lambda: texts(D.range(n).apply(apply)))


def windows():
    r = lambda n=10: D.range(n)
    for size, shift, stride in ((1, 1, 1), (3, 1, 1), (2, 3, 1), (3, 2, 2), (2, 5, 3), (20, 1, 1)):
        for drop in (True, False):
            yield case("WindowDataset", "int64", f"{size}-{shift}-{stride}-{drop}".lower(), lambda: texts(r().window(size, shift, stride, drop).flat_map(lambda w: w.batch(30))))
    # An error that comes with the end is nothing but the end.
    for count in (5, 6, 7):
        for size, shift, drop in ((2, 2, False), (4, 4, True), (3, 1, True), (5, 7, False), (4, 5, False)):
            asserted = lambda: D.range(6).apply(tf.data.experimental.assert_cardinality(count)).map(lambda x: x + 1)
            yield case("WindowDataset", "int64", f"of-{count}-{size}-{shift}-{drop}".lower(), lambda: texts(asserted().window(size, shift, 1, drop).flat_map(lambda w: w.batch(30)).ignore_errors()))
    sure = tf.data.experimental.assert_cardinality
    for name, f in {"twice": lambda ds: ds.apply(sure(7)), "filter": lambda ds: ds.filter(lambda x: x > 1), "batch": lambda ds: ds.batch(2).map(tf.reduce_sum), "scan": lambda ds: ds.scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s + x))}.items():
        yield case("WindowDataset", "int64", f"of-7-{name}", lambda: texts(f(D.range(6).apply(sure(7))).window(4, 4).flat_map(lambda w: w.batch(30)).ignore_errors()))
    e = tf.data.experimental
    sums = lambda ds: ds.map(tf.reduce_sum)
    pair = lambda x: D.range(x, x + 2)
    passes = {
        "flat-map": lambda ds: ds.flat_map(pair), "take": lambda ds: ds.take(9), "skip": lambda ds: ds.skip(1), "repeat": lambda ds: ds.repeat(2),
        "concatenate-first": lambda ds: ds.concatenate(D.range(2)), "concatenate-second": lambda ds: D.range(2).concatenate(ds), "unbatch": lambda ds: ds.batch(2).unbatch(),
        "parallel-map": lambda ds: ds.map(lambda x: x + 1, num_parallel_calls=2, deterministic=True), "cache": lambda ds: ds.cache(), "zip-first": lambda ds: D.zip(ds, D.range(9)).map(lambda a, b: a + b),
        "zip-second": lambda ds: D.zip(D.range(9), ds).map(lambda a, b: a + b), "drop": lambda ds: sums(ds.batch(4, drop_remainder=True)), "padded": lambda ds: sums(ds.padded_batch(4)), "take-while": lambda ds: ds.take_while(lambda x: x < 9),
        "unique": lambda ds: ds.unique(), "window": lambda ds: sums(ds.window(2).flat_map(lambda w: w.batch(2))), "selector": lambda ds: D.choose_from_datasets([D.range(100, 120), D.range(200, 220)], ds.map(lambda x: x % 2)),
        "shard": lambda ds: ds.shard(2, 0), "legacy-interleave": lambda ds: ds.apply(e.parallel_interleave(pair, 2, 1, sloppy=False)), "sparse": lambda ds: ds.map(lambda x: tf.reshape(x, [1])).apply(e.dense_to_sparse_batch(4, [3])).map(lambda w: tf.reduce_sum(w.values)),
    }
    holds = {
        "shuffle": lambda ds: ds.shuffle(3, seed=1), "interleave": lambda ds: ds.interleave(pair, 2, 1), "parallel-interleave": lambda ds: ds.interleave(pair, 2, 1, num_parallel_calls=2, deterministic=True),
        "group-by-window": lambda ds: sums(ds.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), window_size=2)), "group-by-reducer": lambda ds: ds.apply(e.group_by_reducer(lambda x: x % 2, e.Reducer(lambda k: k, lambda s, x: s + x, lambda s: s))),
        "prefetch": lambda ds: ds.prefetch(2), "copied": lambda ds: ds.apply(e.copy_to_device("/cpu:0")), "parallel-batch": lambda ds: sums(ds.batch(4, num_parallel_calls=2)), "rebatch": lambda ds: sums(ds.batch(2).rebatch(3)), "map-and-batch": lambda ds: sums(ds.apply(e.map_and_batch(lambda x: x + 1, 4))),
        "selected": lambda ds: D.choose_from_datasets([ds, D.range(100, 130)], D.range(20).map(lambda x: x // 8), stop_on_empty_dataset=True), "in-flat-map": lambda ds: D.range(2).flat_map(lambda _: ds), "in-interleave": lambda ds: D.range(2).interleave(lambda _: ds, 2, 1),
        "in-function": lambda ds: D.range(2).map(lambda _: ds.reduce(np.int64(0), lambda a, b: a + b)),
    }
    slid = lambda ds, size, shift, shape: wrap(ds, raw_ops.SlidingWindowDataset(input_dataset=variant(ds), window_size=size, window_shift=shift, window_stride=1, output_types=[tf.int64], output_shapes=[shape]))
    uneven = lambda n: D.range(n).map(lambda x: tf.fill([x // 7 + 1], x))
    passes |= {
        "repeat-forever": lambda ds: ds.repeat(-1), "prefetch-0": lambda ds: wrap(ds, raw_ops.PrefetchDataset(input_dataset=variant(ds), buffer_size=0, output_types=[tf.int64], output_shapes=[[]])), "options": lambda ds: ds.with_options(tf.data.Options()),
        "legacy-interleaved": lambda ds: D.range(2).apply(e.parallel_interleave(lambda _: ds, 2, 1, sloppy=False)), "legacy-one": lambda ds: D.range(2).apply(e.parallel_interleave(lambda x: ds.map(lambda y: y + 10 * x), 1, 2, sloppy=False)),
        "shard-of-few": lambda ds: wrap(ds, shard(D.range(2), 3, 0, True)), "shard-of-few-with-an-end": lambda ds: wrap(ds, shard(ds, 8, 0, True)), "last-batch": lambda ds: sums(uneven(8).batch(3)), "last-padded": lambda ds: sums(uneven(8).padded_batch(3, padded_shapes=[1])),
        "window-of-windows": lambda ds: sums(D.range(6).map(refuse).window(4, 4).flat_map(lambda w: w.batch(9)).window(3, 3).flat_map(lambda w: w.batch(9))), "zip-fails-and-ends": lambda ds: D.zip(D.range(9).map(refuse), D.range(4)).map(lambda a, b: a + b),
        "zip-fails-and-ends-wrong": lambda ds: D.zip(D.range(9).map(refuse), D.range(4).apply(sure(7))).map(lambda a, b: a + b), "zip-ends-wrong-and-fails": lambda ds: D.zip(D.range(4).apply(sure(7)), D.range(9).map(refuse)).map(lambda a, b: a + b),
    }
    def refuse(x):
        with tf.control_dependencies([tf.debugging.assert_less(x, tf.constant(4, tf.int64))]):
            return tf.identity(x)
    holds |= {"slide": lambda ds: sums(slid(ds, 4, 4, [None])), "full-batch": lambda ds: sums(uneven(8).batch(8)), "weighted": lambda ds: D.sample_from_datasets([ds, D.range(100, 130)], seed=3, stop_on_empty_dataset=True)}
    # After such an error some go on, and come to an end.
    goes_on = {"interleave": lambda ds: ds.interleave(pair, 2, 1), "interleave-blocks": lambda ds: ds.interleave(lambda x: D.range(10 * x, 10 * x + 3), 2, 2), "zip-first": passes["zip-first"], "zip-second": passes["zip-second"],
               "parallel-interleave": holds["parallel-interleave"], "group-by-window": lambda ds: sums(ds.group_by_window(lambda x: x % 2, lambda k, w: w.batch(4), window_size=4)), "group-by-reducer": holds["group-by-reducer"],
               "rebatch": lambda ds: sums(ds.batch(2).rebatch(5)), "shard-of-few": passes["shard-of-few"], "last-batch": passes["last-batch"], "full-batch": holds["full-batch"],
               "last-padded": passes["last-padded"], "zip-fails-and-ends": passes["zip-fails-and-ends"], "zip-fails-and-ends-wrong": passes["zip-fails-and-ends-wrong"], "legacy-interleave": passes["legacy-interleave"]}
    for count in (5, 6):
        for name, f in goes_on.items():
            yield case("IgnoreErrorsDataset", "int64", f"end-{count}-of-{name}", lambda: texts(f(D.range(count).apply(sure(7))).ignore_errors()))
    for size, shift in ((3, 1), (2, 2), (2, 3), (1, 4), (3, 5)):
        yield case("SlidingWindowDataset", "int64", f"refused-{size}-{shift}", lambda: texts(slid(D.range(12).map(lambda x: (x * 5) % 12 - 6).map(refuse), size, shift, [None]).ignore_errors()))
    # Of all functions, that which reduces windows fails otherwise.
    for n, size in ((4, 2), (3, 9)):
        yield error("GroupByWindowDataset", f"reduce-{n}-{size}", lambda: whole(D.range(n).group_by_window(lambda x: x % 2, lambda k, w: w.take(tf.gather(tf.constant([1], tf.int64), k + 5)), window_size=size)))
        yield error("GroupByWindowDataset", f"in-reduced-{n}-{size}", lambda: whole(D.range(n).group_by_window(lambda x: x % 2, lambda k, w: w.map(lambda x: tf.gather(tf.constant([1], tf.int64), k + 5)), window_size=size)))
        yield error("GroupByWindowDataset", f"key-{n}-{size}", lambda: whole(D.range(n).group_by_window(lambda x: tf.gather(tf.constant([1], tf.int64), x + 5), lambda k, w: w, window_size=size)))
        yield error("GroupByWindowDataset", f"size-{n}-{size}", lambda: whole(D.range(n).group_by_window(lambda x: x % 2, lambda k, w: w, window_size_func=lambda k: tf.gather(tf.constant([1], tf.int64), k + 5))))
    over = lambda f: f(D.range(6).apply(sure(7))).window(4, 4).flat_map(lambda w: w.batch(30))
    for name, f in passes.items():
        yield case("WindowDataset", "int64", f"end-of-{name}", lambda: texts(over(f)))
    for name, f in holds.items():
        yield error("WindowDataset", f"end-of-{name}", lambda: whole(over(f).map(told)))
    for size, shift, stride in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        yield error("WindowDataset", f"{size}-{shift}-{stride}", lambda: r().window(*[tf.constant(n, tf.int64) for n in (size, shift, stride)]).cardinality())
    for size in (1, 3, 4, 10, 11):
        for drop in (True, False):
            yield case("BatchDatasetV2", "int64", f"{size}-{drop}".lower(), lambda: texts(r().batch(size, drop)))
    for size in (0, -1):
        yield error("BatchDatasetV2", f"size-{size}".replace("--", "-minus-"), lambda: r().batch(tf.constant(size, tf.int64)).cardinality())
        yield error("PaddedBatchDatasetV2", f"size-{size}".replace("--", "-minus-"), lambda: r().padded_batch(tf.constant(size, tf.int64)).cardinality())
    grow = lambda: r(4).map(lambda x: tf.fill([x], x))
    yield error("BatchDatasetV2", "shapes", lambda: whole(grow().batch(2)))
    yield error("PaddedBatchDatasetV2", "too-large", lambda: whole(grow().padded_batch(2, padded_shapes=[2])))
    yield error("UnbatchDataset", "sizes", lambda: whole(D.from_tensors((tf.range(3), tf.range(2))).map(lambda a, b: (a[a > -1], b[b > -1])).unbatch()))
    for sizes in ([1], [2, 3], [5, 1]):
        for drop in (True, False):
            yield case("RebatchDatasetV2", "int64", f"{sizes}-{drop}".lower().replace("[", "").replace("]", "").replace(", ", "-"), lambda: texts(r(11).batch(4).rebatch(sizes, drop)))


def wholes():
    r = lambda n=10: D.range(n)
    yield error("DatasetToSingleElement", "empty", lambda: r(0).get_single_element())
    yield error("DatasetToSingleElement", "several", lambda: r(2).get_single_element())
    at = lambda ds, i, dtype=tf.int64: raw_ops.GetElementAtIndex(dataset=variant(ds), index=tf.constant(i, tf.int64), output_types=[dtype], output_shapes=[tf.TensorShape(None)])
    for tag, ds in (("range", r), ("map", lambda: r().map(lambda x: x * 3)), ("take", lambda: r().skip(2).take(6)), ("shard", lambda: r().shard(2, 1).take(5)),
                    ("concatenate", lambda: r(2).concatenate(D.range(50, 55))), ("repeat", lambda: r(3).repeat(2))):
        for i in (0, 4):
            yield case("GetElementAtIndex", "int64", f"{tag}-{i}", lambda: at(ds(), i))
        yield error("GetElementAtIndex", f"{tag}-out-of-range", lambda: at(ds(), 10))
    def options():
        o = tf.data.Options()
        o.deterministic = False
        return raw_ops.GetOptions(input_dataset=variant(r().with_options(o)))
    yield case("GetOptions", "string", "one", options)
    yield case("GetOptions", "string", "none", lambda: raw_ops.GetOptions(input_dataset=variant(r())))
    yield case("WrapDatasetVariant", "variant", "and-back", lambda: whole(wrap(r(), raw_ops.UnwrapDatasetVariant(input_handle=raw_ops.WrapDatasetVariant(input_handle=variant(r()))))))
    yield case("ListDataset", "int64", "pairs", lambda: whole(wrap(D.zip((r(), r())), raw_ops.ListDataset(tensors=[tf.constant(k, tf.int64) for k in range(6)], output_types=[tf.int64] * 2, output_shapes=[[], []]))))
    st = lambda: tf.sparse.from_dense([[1, 0, 2], [0, 0, 0], [3, 4, 0]])
    # What graphs and messages hold of values in variants.
    many = lambda: raw_ops.SerializeManySparse(sparse_indices=st().indices, sparse_values=st().values, sparse_shape=st().dense_shape, out_type=tf.variant)
    ragged = lambda batched: raw_ops.RaggedTensorToVariant(rt_nested_splits=[tf.constant([0, 2, 3], tf.int64)], rt_dense_values=tf.constant(["a", "b", "c"]), batched_input=batched)
    some = lambda: raw_ops.OptionalFromValue(components=[tf.constant([1.0, 2.0, 3.0]), tf.constant("a"), raw_ops.OptionalNone(), tf.constant([True, False]), tf.constant([1 + 2j]), tf.constant([1, 2], tf.bfloat16)])
    for tag, build in {"sparse": many, "ragged": lambda: ragged(False), "ragged-rows": lambda: ragged(True), "optional": some, "none": raw_ops.OptionalNone, "no-elements": lambda: many()[:0]}.items():
        yield case("SerializeTensor", "variant", tag, lambda: raw_ops.SerializeTensor(tensor=build()))
    for tag, ds in {"sparse": lambda: D.from_tensor_slices(st()), "ragged": lambda: D.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])), "one-sparse": lambda: D.from_tensors(st()), "optional": lambda: D.from_tensors(tf.experimental.Optional.from_value(tf.constant(3)))}.items():
        yield case("DatasetFingerprint", "variant", tag, lambda: raw_ops.DatasetFingerprint(input_dataset=variant(ds())))
    yield case("SparseTensorSliceDataset", "int32", "rows", lambda: texts(wrap(D.zip((r().map(lambda x: [[x]]), r().map(lambda x: [tf.cast(x, tf.int32)]), r().map(lambda x: [x]))),
               raw_ops.SparseTensorSliceDataset(indices=st().indices, values=st().values, dense_shape=st().dense_shape))))


def iterators():
    spec = {"output_types": [tf.int64], "output_shapes": [[]]}
    make = {"IteratorV2": lambda: raw_ops.IteratorV2(shared_name="", container="", **spec), "Iterator": lambda: raw_ops.Iterator(shared_name="", container="", **spec),
            "AnonymousIterator": lambda: raw_ops.AnonymousIterator(**spec), "AnonymousIteratorV2": lambda: raw_ops.AnonymousIteratorV2(**spec)[0],
            "AnonymousIteratorV3": lambda: raw_ops.AnonymousIteratorV3(**spec)}
    def in_order(iterator, ds, n, again=0, op=raw_ops.IteratorGetNext):
        """`n` elements, one after the other; then `again` from the beginning."""
        found, last = [], None
        for count in (n, again):
            if count:
                with tf.control_dependencies([last] if last is not None else []):
                    last = raw_ops.MakeIterator(dataset=variant(ds), iterator=iterator)
            for _ in range(count):
                with tf.control_dependencies([last]):
                    last = op(iterator=iterator, **spec)[0]
                found.append(last)
        return found
    for name, iterator in make.items():
        yield case(name, "int64", "in-order", lambda: in_order(iterator(), D.range(3, 30), 4, 2))
        yield error(name, "end", lambda: in_order(iterator(), D.range(2), 3)[-1])
        yield error(name, "uninitialized", lambda: raw_ops.IteratorGetNext(iterator=iterator(), **spec)[0])
    yield case("IteratorGetNextSync", "int64", "in-order", lambda: in_order(make["IteratorV2"](), D.range(5), 3, op=raw_ops.IteratorGetNextSync))
    def optionals():
        iterator = make["AnonymousIteratorV3"]()
        found, last = [], raw_ops.MakeIterator(dataset=variant(D.range(2)), iterator=iterator)
        for _ in range(4):
            with tf.control_dependencies([last]):
                last = raw_ops.IteratorGetNextAsOptional(iterator=iterator, **spec)
            found.append(raw_ops.OptionalHasValue(optional=last))
        return found
    yield case("IteratorGetNextAsOptional", "variant", "to-the-end", optionals)
    yield error("MakeIterator", "dtypes", lambda: in_order(make["AnonymousIteratorV3"](), D.range(4).map(lambda x: tf.cast(x, tf.int32)), 1))
    yield error("MakeIterator", "shapes", lambda: in_order(make["AnonymousIteratorV3"](), D.range(4).batch(2), 1))
    def restored():
        iterator = make["IteratorV2"]()
        first = in_order(iterator, D.range(9).shuffle(4, seed=2).prefetch(2), 3)
        with tf.control_dependencies(first[-1:]):
            state = raw_ops.SerializeIterator(resource_handle=iterator)
        with tf.control_dependencies([state]):
            second = raw_ops.IteratorGetNext(iterator=iterator, **spec)[0]
        with tf.control_dependencies([second]):
            back = raw_ops.DeserializeIterator(resource_handle=iterator, serialized=state)
        with tf.control_dependencies([back]):
            return [second, raw_ops.IteratorGetNext(iterator=iterator, **spec)[0]]
    yield case("DeserializeIterator", "int64", "shuffled", restored)
    def one_shot():
        iterator = tf.compat.v1.data.make_one_shot_iterator(D.range(4, 9))
        first = iterator.get_next()
        with tf.control_dependencies([first]):
            return [first, iterator.get_next()]
    yield case("OneShotIterator", "int64", "in-order", one_shot)


def cases():
    for dtype in DTYPES:
        yield from by_dtype(dtype)
    for family in (ranges, orders, copies, functions, random, older_interleaving, windows, wholes, iterators):
        yield from family()
