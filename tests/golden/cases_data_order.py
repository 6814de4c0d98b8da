"""Datasets that are gone through in another order, or in the fastest of several ways."""
import tensorflow as tf
from tensorflow import raw_ops
from cases_data import D, case, error, texts, told, variant, wrap
from cases_data_more import I, r, spec


def cases():
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
