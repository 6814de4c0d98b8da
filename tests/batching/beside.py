"""Batches in Kernlink beside TensorFlow: SavedModels with a BatchFunction whose attrs are drawn at random, called by one thread and by
several at once. What a run gets tells of how many rows its batch was.

    python tests/batching/beside.py [--seed S] [--count N]

Needs TensorFlow, and the Python package of Kernlink on the path.
"""
import argparse
import os
import pathlib
import random
import sys
import tempfile
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import kernlink  # noqa: E402


def draw(rng):
    """The attrs of a node, what its function does, and the rows of the calls, in groups that are made at once."""
    attrs = dict(
        num_batch_threads=rng.choice([1, 1, 1, 2, 0, -1]), max_batch_size=rng.choice([1, 2, 4, 6, 6, 0, -1]), batch_timeout_micros=rng.choice([0, 0, 1000, -1]),
        max_enqueued_batches=rng.choice([10, 10, 10, 1, 2, 0, -1]), enable_large_batch_splitting=rng.random() < 0.4,
        batch_padding_policy=rng.choice(["PAD_UP", "PAD_UP", "BATCH_DOWN", "MINIMIZE_TPU_COST_PER_REQUEST"]),
        allowed_batch_sizes=rng.choice([[], [], [2, 4], [4], [6], [1, 3, 6], [6, 3], [2, 2], [3], [5, 6], [-1, 4], [4, 7]]))
    kind = rng.choice(["rows"] * 8 + ["scalar", "fewer", "fails"])
    groups = [[rng.choice([1, 2, 3, 4, 5, 6, 7, 12, 0, None])] for _ in range(rng.randint(1, 6))]
    if rng.random() < 0.3:
        # These fill one batch exactly, whichever comes first.
        size = rng.choice([2, 3, 4])
        attrs.update(num_batch_threads=1, max_batch_size=2 * size, batch_timeout_micros=20_000_000, max_enqueued_batches=10, allowed_batch_sizes=[],
                     enable_large_batch_splitting=rng.random() < 0.3)
        kind = "rows"
        groups = [rng.choice([[size] * 2, [2 * size], [1] * (2 * size), [1, 2 * size - 1]]) for _ in range(rng.randint(1, 3))]
    return attrs, kind, groups


def module(attrs, kind):
    """A module whose function calls a BatchFunction."""

    def batched(x, y, captured):
        count = tf.shape(x)[0]
        if kind == "fails":
            with tf.control_dependencies([tf.debugging.Assert(count < 0, ["no"])]):
                count = tf.identity(count)
        if kind == "fewer":
            return x[1:], y
        first = tf.reduce_sum(x) if kind == "scalar" else x * captured
        return first, tf.fill([count], count) + 0 * y

    inner = tf.function(batched).get_concrete_function(
        tf.TensorSpec([None, 2], tf.float32), tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.float32))
    model = tf.Module()

    def call(x, y):
        return dict(zip("ab", tf.raw_ops.BatchFunction(
            in_tensors=[x, y], captured_tensors=[tf.constant(3.0)], f=inner, Tout=[tf.float32, tf.int32], low_priority_max_batch_size=0, **attrs)))

    model.call = tf.function(call, input_signature=[tf.TensorSpec(None, tf.float32), tf.TensorSpec(None, tf.int32)])
    model.inner = inner
    return model


def outcome(call, rows):
    """What a call gives, or the name of its error."""
    shape = () if rows is None else (rows, 2)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    y = np.zeros(() if rows is None else (rows,), np.int32)
    try:
        results = call(x, y)
        return [np.asarray(results[name].numpy()).tolist() for name in "ab"]
    except Exception as error:  # noqa: BLE001
        return type(error).__name__


def play(call, groups):
    found = []
    for group in groups:
        results = [None] * len(group)

        def run(index):
            results[index] = outcome(call, group[index])

        threads = [threading.Thread(target=run, args=(index,)) for index in range(len(group))]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        found.append(results)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    rng, different = random.Random(arguments.seed), 0
    for case in range(arguments.count):
        attrs, kind, groups = draw(rng)
        with tempfile.TemporaryDirectory() as folder:
            try:
                model = module(attrs, kind)
                tf.saved_model.save(model, folder, signatures=model.call)
            except Exception as error:  # noqa: BLE001
                print(f"case {case}: TensorFlow does not save {attrs}: {type(error).__name__}")
                continue
            theirs = tf.saved_model.load(folder).signatures["serving_default"]
            expected = play(lambda x, y: theirs(x=tf.constant(x), y=tf.constant(y)), groups)
            ours = kernlink.saved_model.load(folder).signatures["serving_default"]
            found = play(lambda x, y: ours(x=x, y=y), groups)
        if expected != found:
            different += 1
            at = next(k for k, (a, b) in enumerate(zip(expected, found)) if a != b)
            print(f"case {case}: {kind} {attrs} {groups[at]}\n  TensorFlow {expected[at]}\n  Kernlink   {found[at]}")
    print(f"{arguments.count} cases, {different} differ")
    sys.exit(different > 0)


main()
