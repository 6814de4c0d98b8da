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
    yield error("ShardDataset", "hint", lambda: texts(r().shard(hint, hint)))
    batches = lambda: r(12).batch(4)
    rebatched = lambda: wrap(batches(), raw_ops.RebatchDatasetV2(input_dataset=variant(batches()), batch_sizes=I([2, 2]), drop_remainder=False, **spec(None)))
    for n, i in ((1, 0), (2, 1)):
        yield case("AutoShardDataset", "int64", f"rebatch-{i}-of-{n}", lambda: texts(wrap(batches(), of(rebatched(), 2, n, i, 2))))
    yield error("AutoShardDataset", "rebatch-no-replicas", lambda: of(rebatched(), 2, 2, 1))
