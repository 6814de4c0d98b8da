"""Draws random pipelines of tf.data and runs them in TensorFlow and in Kernlink: the elements must be equal, in order.

    python tests/datasets/pipelines.py [--count 200] [--seed 0] [--save DIR]

Each runs twice: as a whole, and by an iterator that is saved amid it, goes on, and is restored.

The pipelines are traced in `tf.function`s and saved as a SavedModel, so that what Kernlink runs is what TensorFlow exports. Each
gives its elements as strings: shapes and values of the components. It needs TensorFlow, and `kernlink` on the path.
"""

import argparse
import os
import random
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow.python.data.experimental.ops import global_shuffle_op, testing

D = tf.data.Dataset


def told(*components):
    """An element as a string."""
    parts = []
    for component in tf.nest.flatten(components, expand_composites=True):
        values = component if component.dtype == tf.string else tf.strings.as_string(component)
        shape = tf.strings.reduce_join(tf.strings.as_string(tf.shape(component)), separator=",")
        parts.append(tf.strings.join(["[", shape, "]", tf.strings.reduce_join(tf.reshape(values, [-1]), separator=",")]))
    return tf.strings.join(parts, separator=";")


def first(*components):
    """The first component."""
    return tf.nest.flatten(components)[0]


def failing(k):
    """A function that fails for some numbers."""
    def check(x):
        with tf.control_dependencies([tf.debugging.assert_none_equal(tf.math.floormod(x, k), tf.constant(k - 1, tf.int64))]):
            return tf.identity(x)
    return check


class Pipeline:
    """A random pipeline: what `draw` draws is told the same way each time that `build` is called."""

    def __init__(self, seed):
        self.seed = seed
        self.ops = []

    def build(self):
        r = random.Random(self.seed)
        self.ops = []
        self.fails_at_end = False
        ds = self.source(r)
        for _ in range(r.randint(1, 6)):
            ds = self.transform(r, ds)
        return ds.take(r.choice([10, 40, 100]))

    def note(self, name, *arguments):
        self.ops.append(f"{name}({', '.join(map(str, arguments))})")

    def source(self, r):
        kind = r.choice(["range", "range", "slices", "pairs", "strings", "tensors", "random", "zip", "concatenate", "sample"])
        n = r.choice([0, 3, 7, 12, 20, 20])
        self.note(kind, n)
        if kind == "range":
            return D.range(r.randint(-3, 3), r.randint(-3, 25), r.choice([1, 2, 3]))
        if kind == "slices":
            return D.from_tensor_slices(np.arange(n * 2, dtype=np.int64).reshape(n, 2))
        if kind == "pairs":
            return D.from_tensor_slices((np.arange(n, dtype=np.int64), np.linspace(0, 1, n).astype(np.float32)))
        if kind == "strings":
            return D.from_tensor_slices(np.array([f"s{i % 5}" for i in range(n)], dtype=object).astype("S") if n else np.zeros([0], "S1"))
        if kind == "tensors":
            return D.from_tensors(np.arange(n, dtype=np.int64))
        if kind == "random":
            return D.random(seed=r.randint(1, 99), rerandomize_each_iteration=r.choice([True, False])).take(n)
        if kind == "zip":
            return D.zip((D.range(n), D.range(5, 25)))
        if kind == "concatenate":
            return D.range(n).concatenate(D.range(100, 100 + r.randint(0, 5)))
        return D.sample_from_datasets([D.range(n), D.range(50, 60)], weights=[0.6, 0.4], seed=r.randint(1, 99), stop_on_empty_dataset=r.choice([True, False]))

    def integer(self, ds):
        """The dataset with elements that are one scalar int64 each."""
        spec = tf.nest.flatten(ds.element_spec)
        if len(spec) == 1 and spec[0].dtype == tf.int64 and spec[0].shape.rank == 0:
            return ds
        def number(*components):
            c = first(*components)
            if c.dtype == tf.string:
                return tf.strings.to_hash_bucket_fast(tf.strings.reduce_join(tf.reshape(c, [-1])), 17)
            return tf.reduce_sum(tf.cast(tf.reshape(c, [-1]), tf.int64))
        return ds.map(number)

    def transform(self, r, ds):
        kind = r.choice(KINDS)
        self.note(kind)
        return getattr(self, "do_" + kind)(r, ds)

    def ignoring(self, ds):
        """The elements without those that fail."""
        if self.fails_at_end:
            raise ValueError("TensorFlow would ask again for ever, as the error of an assertion comes with the end")
        return ds.ignore_errors()

    def do_map(self, r, ds):
        k = r.randint(1, 5)
        return self.integer(ds).map(lambda x: x * k + 1)

    def do_capture(self, r, ds):
        table = tf.constant(np.arange(10, dtype=np.int64) ** 2)
        return self.integer(ds).map(lambda x: tf.gather(table, tf.math.floormod(x, 10)))

    def do_parallel_map(self, r, ds):
        k = r.randint(1, 5)
        calls = r.choice([1, 2, 4, tf.data.AUTOTUNE])
        return self.integer(ds).map(lambda x: (x + k, tf.cast(x, tf.float32) / 2), num_parallel_calls=calls, deterministic=r.choice([None, True]))

    def do_filter(self, r, ds):
        k = r.randint(2, 4)
        return self.integer(ds).filter(lambda x: tf.not_equal(tf.math.floormod(x, k), 0))

    def do_batch(self, r, ds):
        kw = {"num_parallel_calls": 2} if r.random() < 0.3 else {}
        return self.integer(ds).batch(r.choice([1, 2, 3, 5]), drop_remainder=r.choice([True, False]), **kw)

    def do_padded_batch(self, r, ds):
        ds = self.integer(ds).map(lambda x: tf.fill([tf.math.floormod(x, 4)], x))
        value = tf.constant(r.randint(-2, 2), tf.int64)
        shape = r.choice([[None], [5]])
        return ds.padded_batch(r.choice([1, 2, 4]), padded_shapes=shape, padding_values=value, drop_remainder=r.choice([True, False]))

    def do_unbatch(self, r, ds):
        return self.integer(ds).batch(r.choice([2, 3])).unbatch()

    def do_rebatch(self, r, ds):
        sizes = r.choice([2, 3, [1, 2], [3, 1, 2]])
        return self.integer(ds).batch(r.choice([2, 4])).rebatch(sizes, drop_remainder=r.choice([True, False]))

    def do_shuffle(self, r, ds):
        return ds.shuffle(r.choice([1, 2, 5, 50]), seed=r.randint(1, 99), reshuffle_each_iteration=r.choice([None, True, False]))

    def do_shuffle_repeat(self, r, ds):
        return ds.shuffle(r.choice([2, 5, 50]), seed=r.randint(1, 99), reshuffle_each_iteration=r.choice([True, False])).repeat(r.choice([2, 3]))

    def do_repeat(self, r, ds):
        return ds.repeat(r.choice([1, 2, 3, 3, None, 0] if r.random() < 0.3 else [1, 2, 3]))

    def do_take(self, r, ds):
        return ds.take(r.choice([-1, 2, 5, 100, 100]))

    def do_skip(self, r, ds):
        return ds.skip(r.choice([0, 1, 1, 2]))

    def do_shard(self, r, ds):
        n = r.randint(1, 3)
        return ds.shard(n, r.randrange(n))

    def do_window(self, r, ds):
        size, shift, stride = r.randint(1, 4), r.randint(1, 4), r.randint(1, 2)
        windows = self.integer(ds).window(size, shift, stride, r.choice([True, False]))
        return windows.flat_map(lambda w: w.batch(size))

    def do_window_pairs(self, r, ds):
        ds = self.integer(ds).map(lambda x: (x, -x))
        windows = ds.window(r.randint(1, 3), drop_remainder=r.choice([True, False]))
        return windows.flat_map(lambda a, b: D.zip((a, b)))

    def do_flat_map(self, r, ds):
        return self.integer(ds).flat_map(lambda x: D.range(tf.math.floormod(x, 3)).map(lambda y: y + x * 10))

    def do_interleave(self, r, ds):
        cycle, block = r.randint(1, 4), r.randint(1, 3)
        kw = r.choice([{}, {"num_parallel_calls": 2}, {"num_parallel_calls": 4, "deterministic": True}])
        return self.integer(ds).interleave(lambda x: D.range(tf.math.floormod(x, 5)).map(lambda y: y + x * 10), cycle, block, **kw)

    def do_prefetch(self, r, ds):
        return ds.prefetch(r.choice([0, 1, 3, tf.data.AUTOTUNE]))

    def do_cache(self, r, ds):
        return ds.take(50).cache().repeat(r.choice([1, 2]))

    def do_scan(self, r, ds):
        start = tf.constant(r.randint(0, 9), tf.int64)
        return self.integer(ds).scan(start, lambda s, x: (s + x, (s, x)))

    def do_take_while(self, r, ds):
        k = r.randint(3, 40)
        return self.integer(ds).take_while(lambda x: x < k)

    def do_unique(self, r, ds):
        k = r.randint(2, 6)
        return self.integer(ds).map(lambda x: tf.math.floormod(x, k)).take(60).unique()

    def do_enumerate(self, r, ds):
        return ds.enumerate(start=r.randint(0, 3))

    def do_zip(self, r, ds):
        return D.zip((self.integer(ds), D.range(r.randint(0, 9)).repeat(2)))

    def do_concatenate(self, r, ds):
        return self.integer(ds).concatenate(D.range(r.randint(0, 4)))

    def do_ignore_errors(self, r, ds):
        k = r.randint(2, 4)
        def check(x):
            with tf.control_dependencies([tf.debugging.assert_none_equal(tf.math.floormod(x, k), tf.constant(0, tf.int64))]):
                return tf.identity(x)
        return self.ignoring(self.integer(ds).take(60).map(check))

    def do_group_by_window(self, r, ds):
        k, size = r.randint(1, 4), r.randint(1, 5)
        return self.integer(ds).take(60).group_by_window(lambda x: tf.math.floormod(x, k), lambda key, w: w.batch(size), window_size=size)

    def do_bucket(self, r, ds):
        ds = self.integer(ds).take(60).map(lambda x: tf.fill([tf.math.floormod(x, 6)], x))
        return ds.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 3, 2])

    def do_group_by_reducer(self, r, ds):
        k = tf.constant(r.randint(1, 4), tf.int64)
        reducer = tf.data.experimental.Reducer(lambda key: key, lambda s, x: s + x, lambda s: (s, -s))
        return self.integer(ds).take(60).apply(tf.data.experimental.group_by_reducer(lambda x: tf.math.floormod(x, k), reducer))

    def do_choose(self, r, ds):
        choice = D.range(3).repeat(r.randint(1, 5))
        return D.choose_from_datasets([self.integer(ds), D.range(100, 103), D.range(7).repeat()], choice, stop_on_empty_dataset=r.choice([True, False]))

    def do_sparse_batch(self, r, ds):
        ds = self.integer(ds).map(lambda x: tf.fill([tf.math.floormod(x, 4)], x))
        ds = ds.apply(tf.data.experimental.dense_to_sparse_batch(r.choice([2, 3]), [5]))
        return ds.map(lambda s: tf.sparse.to_dense(s))

    def do_ragged_batch(self, r, ds):
        ds = self.integer(ds).map(lambda x: tf.fill([tf.math.floormod(x, 4)], x))
        return ds.ragged_batch(r.choice([2, 3])).map(lambda t: (t.values, t.row_splits))

    def do_sleep(self, r, ds):
        return ds.take(20).apply(testing.sleep(r.choice([0, 10])))

    def do_global_shuffle(self, r, ds):
        # Only what gives elements by their places can be in front of it.
        ds = D.range(r.choice([1, 5, 30])).map(lambda x: x * 3)
        return global_shuffle_op._global_shuffle(ds, seed=r.randint(1, 99), reshuffle_each_iteration=r.choice([True, False])).repeat(r.choice([1, 2]))

    def do_map_and_batch(self, r, ds):
        return self.integer(ds).apply(tf.data.experimental.map_and_batch(lambda x: (x, x * 2), r.choice([2, 3]), num_parallel_calls=2, drop_remainder=r.choice([True, False])))

    def do_legacy_interleave(self, r, ds):
        apply = tf.data.experimental.parallel_interleave(lambda x: D.range(tf.math.floormod(x, 4)).map(lambda y: y + x * 10), cycle_length=r.randint(1, 3), block_length=r.randint(1, 3), sloppy=False)
        return self.integer(ds).take(60).apply(apply)

    def do_repeat_twice(self, r, ds):
        ds = self.integer(ds).take(20).shuffle(r.choice([1, 4, 30]), seed=r.randint(1, 99), reshuffle_each_iteration=r.choice([None, True, False]))
        return ds.repeat(r.randint(1, 2)).repeat(r.randint(1, 3))

    def do_itself(self, r, ds):
        ds = ds.take(12)
        return r.choice([ds.concatenate(ds), ds.shuffle(5, seed=r.randint(1, 99)).concatenate(ds)])

    def do_parallel_filter(self, r, ds):
        k = r.randint(2, 4)
        options = tf.data.Options()
        options.experimental_optimization.filter_parallelization = True
        return self.integer(ds).filter(lambda x: tf.not_equal(tf.math.floormod(x, k), 1)).with_options(options)

    def do_parallel_interleave(self, r, ds):
        """Datasets that have a state of their own, each with elements that are made ahead."""
        cycle, block, seed = r.randint(1, 5), r.randint(1, 4), r.randint(1, 99)
        inner = r.choice([
            lambda x: D.range(tf.math.floormod(x, 6)).shuffle(3, seed=seed).map(lambda y: y + x * 10),
            lambda x: D.range(x, x + 5).batch(2).unbatch(),
            lambda x: D.range(tf.math.floormod(x, 4)).flat_map(lambda y: D.range(y)).map(lambda y: y + x),
        ])
        return self.integer(ds).take(40).interleave(inner, cycle, block, num_parallel_calls=r.randint(1, cycle))

    def do_failing_map_and_batch(self, r, ds):
        k, size = r.randint(2, 5), r.choice([1, 2, 3])
        apply = tf.data.experimental.map_and_batch(failing(k), size, num_parallel_calls=r.choice([1, 3]), drop_remainder=r.choice([True, False]))
        return self.ignoring(self.integer(ds).take(40).apply(apply))

    def do_failing_parallel_map(self, r, ds):
        k = r.randint(2, 5)
        return self.ignoring(self.integer(ds).take(40).map(failing(k), num_parallel_calls=r.choice([1, 3])))

    def do_failing_window(self, r, ds):
        windows = self.integer(ds).take(40).map(failing(r.randint(3, 6))).window(r.randint(1, 3), r.randint(1, 3), drop_remainder=r.choice([True, False]))
        return self.ignoring(windows).flat_map(lambda w: w.batch(3))

    def do_scan_elements(self, r, ds):
        start = (tf.constant(r.randint(0, 9), tf.int64), tf.zeros([3], tf.int64))
        def step(state, x):
            total, kept = state
            kept = tf.concat([kept[1:], [x]], 0)
            return (total * 3 + x, kept), (total, kept)
        return self.integer(ds).take(40).scan(start, step)

    def do_options(self, r, ds):
        options = tf.data.Options()
        options.deterministic = True
        options.experimental_optimization.map_parallelization = True
        return ds.with_options(options)

    def do_assert_cardinality(self, r, ds):
        count = r.choice([6, 6, 6, 5, 7])
        self.fails_at_end |= count != 6
        return self.integer(ds).take(5).repeat(2).take(6).apply(tf.data.experimental.assert_cardinality(count))


KINDS = [name[3:] for name in dir(Pipeline) if name.startswith("do_")]


def functions(pipeline):
    """What is run of a pipeline: all elements at once, and the cardinality."""

    @tf.function(input_signature=[])
    def elements():
        ds = pipeline.build()
        return {"count": ds.cardinality(), "elements": ds.map(told).concatenate(D.from_tensors("end")).batch(1000).get_single_element()}

    return elements


def saved_and_restored(pipeline, taken):
    """The elements of an iterator, which is saved after some of them, and once more from there on: what Kernlink gives must be
    the same twice, and TensorFlow's."""
    raw, kind = tf.raw_ops, {"output_types": [tf.string], "output_shapes": [[]]}

    @tf.function(input_signature=[])
    def elements():
        # TensorFlow's optimiser of datasets makes one of a shuffle and the repetition behind it, whose order is another.
        options = tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False
        ds = pipeline.build().map(told).concatenate(D.from_tensors("end").repeat()).with_options(options)
        iterator = raw.AnonymousIteratorV3(**kind)
        steps = [raw.MakeIterator(dataset=ds._variant_tensor, iterator=iterator)]
        def take(count):
            found = []
            for _ in range(count):
                with tf.control_dependencies(steps):
                    found.append(raw.IteratorGetNext(iterator=iterator, **kind)[0])
                steps[:] = [found[-1]]
            return tf.stack(found) if found else tf.zeros([0], tf.string)
        first = take(taken)
        with tf.control_dependencies(steps):
            state = raw.SerializeIterator(resource_handle=iterator)
        steps[:] = [state]
        then = take(25)
        with tf.control_dependencies(steps):
            steps[:] = [raw.DeserializeIterator(resource_handle=iterator, serialized=state)]
        return {"first": first, "then": then, "again": take(25)}

    return elements


@tf.function(input_signature=[])
def nothing():
    return {"x": tf.constant(0)}


def draw(seeds, where):
    """Saves pipelines as signatures of one model; those that TensorFlow cannot build are left out."""
    module = tf.Module()
    signatures, texts = {}, {}
    for seed in seeds:
        pipeline = Pipeline(seed)
        try:
            made = {f"p{seed}": functions(pipeline)}
            made[f"s{seed}"] = saved_and_restored(pipeline, seed % 8)
            for name, f in made.items():
                signatures[name] = f.get_concrete_function()
                setattr(module, name, f)
                texts[name] = " ".join(pipeline.ops)
        except (ValueError, TypeError, tf.errors.OpError) as error:
            print(f"p{seed} is left out: {str(error)[:200]}", file=sys.stderr)
    tf.saved_model.save(module, where, signatures=signatures)
    return texts


def outcome(run):
    try:
        result = run()
        return {name: np.asarray(value) for name, value in result.items()}
    except Exception as error:  # noqa: BLE001
        code = getattr(error, "code", None)
        return type(error).__name__, code, str(error)[:300]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save")
    arguments = parser.parse_args()
    import kernlink

    where = arguments.save or tempfile.mkdtemp()
    texts = draw(range(arguments.seed, arguments.seed + arguments.count), where)
    theirs = tf.saved_model.load(where).signatures
    ours = kernlink.saved_model.load(where)
    wrong = errors = elements = 0
    for name, text in texts.items():
        a = outcome(lambda: {k: v.numpy() for k, v in theirs[name]().items()})
        b = outcome(lambda: {k: v.numpy() for k, v in ours.signatures[name]().items()})
        if isinstance(a, tuple) or isinstance(b, tuple):
            errors += 1
            same = isinstance(a, tuple) and isinstance(b, tuple) and a[0] == b[0]
        else:
            # What TensorFlow does not give twice, as numbers whose generator it does not save, is to be what it gave first.
            expected = {**a, "again": a["then"]} if "then" in a else a
            same = all(np.array_equal(expected[k], b[k]) for k in a)
            elements += len(a["elements"]) - 1 if "elements" in a else sum(map(len, a.values()))
        if not same:
            wrong += 1
            print(f"{name}: {text}\n  TensorFlow {a}\n  Kernlink   {b}")
    print(f"{len(texts)} runs of pipelines, {elements} elements, {errors} that fail, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
