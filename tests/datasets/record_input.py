"""RecordInput, drawn at random, in Kernlink beside TensorFlow, where its order does not depend on how fast TensorFlow's threads are: one
file is read at a time, and the buffer holds more than twice all records.

    python tests/datasets/record_input.py [--seed S] [--count N]

Needs TensorFlow, and the Python package of Kernlink on the path.
"""
import argparse
import gzip
import os
import pathlib
import random
import sys
import tempfile
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

import kernlink  # noqa: E402


def draw(rng, folder):
    """The attrs of a case whose files are there."""
    compression = rng.choice(["", "", "GZIP", "ZLIB"])
    pack = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    names, total = [], 0
    for index in range(rng.choice([1, 2, 3, 4, 5, 8, 9, 30])):
        count = rng.choice([0, 1, 3, 15, 16, 17, 40])
        with tf.io.TFRecordWriter(str(folder / "written")) as writer:
            for record in range(count):
                writer.write(f"{index}.{record}".encode())
        content = (folder / "written").read_bytes()
        if content and rng.random() < 0.03:
            content = content[:-1] + bytes([content[-1] ^ 1])
        (folder / f"{index}.x").write_bytes(pack(content))
        names.append(str(folder / f"{index}.x"))
        total += count
    if rng.random() < 0.05:
        names = [str(folder / "missing*")]
    if not total:
        return None
    return dict(
        file_pattern=",".join(names), file_random_seed=rng.choice([0, 1, 301, -5, rng.randrange(2**62)]), file_shuffle_shift_ratio=rng.choice([0, 0, 0.3, 0.5, 0.99, 1, -1]),
        file_buffer_size=2 * total + rng.randint(2, 50), file_parallelism=1, batch_size=total, compression_type=compression)


def records(raw, attrs):
    """All records in their order, or the name of the error."""
    try:
        return [bytes(record).decode() for record in raw.RecordInput(**attrs).numpy()]
    except Exception as error:  # noqa: BLE001
        return type(error).__name__


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=200)
    arguments = parser.parse_args()
    rng, different = random.Random(arguments.seed), 0
    for case in range(arguments.count):
        # The names are attrs, and each op with its attrs goes on where it was.
        with tempfile.TemporaryDirectory() as folder:
            attrs = draw(rng, pathlib.Path(folder))
            if attrs is None:
                continue
            expected, found = (records(raw, attrs) for raw in (tf.raw_ops, kernlink.raw_ops))
        if expected != found:
            different += 1
            print(f"case {case}: {attrs}\n  TensorFlow {expected}\n  Kernlink   {found}")
    print(f"{arguments.count} cases, {different} differ")
    sys.exit(different > 0)


main()
