"""Shares of datasets for workers, by their files or by their elements."""
import tensorflow as tf
from tensorflow import raw_ops
from cases_data import D, case, error, texts, variant, wrap
from cases_data_more import I, r, spec


def cases():
    def of(ds, policy, n, i, replicas=0):
        return raw_ops.AutoShardDataset(input_dataset=variant(ds), num_workers=I(n), index=I(i), auto_shard_policy=policy, num_replicas=replicas, **ds._flat_structure)
    hint = tf.data.experimental.SHARD_HINT
    made = {
        "datasets-in-tensors": lambda: D.from_tensor_slices([0, 1]).flat_map(lambda x: D.range(3)).interleave(lambda x: D.range(x, x + 2)),
        "hint": lambda: r().shard(hint, hint).map(lambda x: x * 2),
        "prefetch": lambda: r().prefetch(2).with_options(tf.data.Options()),
        "cardinality": lambda: D.from_tensor_slices([0, 1]).flat_map(lambda x: D.range(3)).interleave(lambda x: D.range(2)).apply(tf.data.experimental.assert_cardinality(12)),
        "without-files": lambda: r().map(lambda x: x * 3),
        "unique": lambda: r().unique(),
    }
    for tag, make in made.items():
        for policy in (0, 1, 2, 3):
            for n, i in ((2, 0), (3, 1)):
                fails = policy == 1 and tag in ("hint", "prefetch", "without-files", "unique") or policy != 3 and tag == "hint"
                build = (lambda: of(make(), policy, n, i)) if policy == 1 else (lambda: texts(wrap(make(), of(make(), policy, n, i))))
                name = f"{tag}-policy-{policy}-{i}-of-{n}"
                if fails:
                    yield error("AutoShardDataset", name, build)
                else:
                    yield case("AutoShardDataset", "int64", name, lambda: texts(wrap(make(), of(make(), policy, n, i))))
    # What options say counts before the attr.
    kinds = tf.data.experimental.AutoShardPolicy
    for kind in (kinds.OFF, kinds.AUTO, kinds.DATA, kinds.FILE, kinds.HINT):
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = kind
        made = {"range": lambda: r(7).with_options(options), "below": lambda: r(7).with_options(options).map(lambda x: x + 1), "zip": lambda: D.zip(r(7).with_options(options), r(7)).map(lambda x, y: x + y)}
        for tag, make in made.items():
            for policy in (-1, 0, 2, 7) if tag == "range" else (0, 2):
                name = f"options-{kind.name.lower()}-{tag}-policy-{policy}"
                if kind == kinds.FILE or (policy == 7 and kind == kinds.AUTO):
                    yield error("AutoShardDataset", name, lambda: of(make(), policy, 2, 1))
                else:
                    yield case("AutoShardDataset", "int64", name, lambda: texts(wrap(make(), of(make(), policy, 2, 1))))
    # A source that does not say what its elements are.
    rows = lambda: tf.sparse.from_dense([[1.5, 0, 2], [0, 0, 0], [3, 4, 0], [0, 0, 5]])
    elements = (tf.TensorSpec([None, 1], tf.int64), tf.TensorSpec([None]), tf.TensorSpec([1], tf.int64))
    source = lambda: raw_ops.SparseTensorSliceDataset(indices=rows().indices, values=rows().values, dense_shape=rows().dense_shape)
    structure = {"output_types": [tf.int64, tf.float32, tf.int64], "output_shapes": [[None, 1], [None], [1]]}
    for policy in (0, 2):
        share = lambda: raw_ops.AutoShardDataset(input_dataset=source(), num_workers=I(2), index=I(0), auto_shard_policy=policy, **structure)
        yield case("AutoShardDataset", "int64", f"sparse-policy-{policy}", lambda: texts(tf.data.experimental.from_variant(share(), elements)))
    yield error("ShardDataset", "hint", lambda: texts(r().shard(hint, hint))[1:])
    batches = lambda: r(12).batch(4)
    rebatched = lambda: wrap(batches(), raw_ops.RebatchDatasetV2(input_dataset=variant(batches()), batch_sizes=I([2, 2]), drop_remainder=False, **spec(None)))
    for n, i in ((1, 0), (2, 1)):
        yield case("AutoShardDataset", "int64", f"rebatch-{i}-of-{n}", lambda: texts(wrap(batches(), of(rebatched(), 2, n, i, 2))))
    yield error("AutoShardDataset", "rebatch-no-replicas", lambda: of(rebatched(), 2, 2, 1))
