"""Datasets of files, drawn at random, in Kernlink beside TensorFlow: lines, records of one length, TFRecords and names; plain and
compressed, whole, cut and changed.

    python tests/datasets/files.py [--seed S] [--count N]

Needs TensorFlow, and the Python package of Kernlink on the path. Of compressed bytes that were changed only the code of the error is
compared: TensorFlow decompresses ahead, and so meets it before the records in front of it.
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


def elements(raw, string, dataset):
    """The elements of a dataset, and how it ends."""
    found = []
    try:
        iterator = raw.AnonymousIterator(output_types=[string], output_shapes=[[]])
        raw.MakeIterator(dataset=dataset(raw), iterator=iterator)
        while len(found) < 60:
            value = raw.IteratorGetNext(iterator=iterator, output_types=[string], output_shapes=[[]])[0].numpy()
            found.append(value if isinstance(value, bytes) else value.item())
    except Exception as error:  # noqa: BLE001
        return found, type(error).__name__
    return found, "more"


def draw(rng, folder):
    """The files of a case and its dataset, by the functions of either package."""
    kind = rng.choice(["line", "fixed", "record", "match"])
    compression = rng.choice(["", "", "GZIP", "ZLIB"])
    bytes_of = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression]
    files, changed = [], False
    for index in range(rng.randint(1, 3)):
        if kind == "line":
            parts = [b"a", b"\n", b"\r\n", b"\r", b"bc d", b"\0", b"\xff"]
            content = b"".join(rng.choice(parts) for _ in range(rng.randint(0, 30)))
        elif kind == "record":
            file = folder / "written"
            with tf.io.TFRecordWriter(str(file)) as writer:
                for _ in range(rng.randint(0, 5)):
                    writer.write(rng.randbytes(rng.randint(0, 20)))
            content = file.read_bytes()
            if content and rng.random() < 0.3:
                at = rng.randrange(len(content))
                content = content[:at] if rng.random() < 0.5 else content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]
        else:
            content = rng.randbytes(rng.randint(0, 40))
        content = bytes_of(content)
        if content and rng.random() < 0.1:
            content = content[: rng.randrange(len(content))]
        elif content and compression and rng.random() < 0.05:
            at = rng.randrange(len(content))
            content, changed = content[:at] + bytes([content[at] ^ 4]) + content[at + 1:], True
        (folder / f"{kind}{index}.x").write_bytes(content)
        files.append(str(folder / f"{kind}{index}.x"))
    if rng.random() < 0.05:
        files.append(str(folder / "missing"))
    buffer = rng.choice([0, 1, 7, 1000, -1, -2])
    header, record, footer = rng.choice([(0, 3, 0), (2, 4, 1), (0, 5, 2), (1, 1, 0), (0, 0, 0), (-1, 2, 0), (50, 1, 0)])
    named = compression if rng.random() < 0.95 else "OTHER"
    patterns = [f"{folder}/{rng.choice(['*', 'line*.x', 'f*[01].x', 'nothing*', '*.?', 're?*'])}" for _ in range(rng.randint(1, 2))]
    makers = {
        "line": lambda raw: raw.TextLineDataset(filenames=files, compression_type=named, buffer_size=buffer),
        "record": lambda raw: raw.TFRecordDataset(filenames=files, compression_type=named, buffer_size=buffer),
        "fixed": lambda raw: raw.FixedLengthRecordDatasetV2(
            filenames=files, header_bytes=header, record_bytes=record, footer_bytes=footer, buffer_size=buffer, compression_type=named),
        "match": lambda raw: raw.MatchingFilesDataset(patterns=patterns),
    }
    return kind, changed, makers[kind]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    rng, different = random.Random(arguments.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        for case in range(arguments.count):
            kind, changed, dataset = draw(rng, pathlib.Path(folder))
            expected = elements(tf.raw_ops, tf.string, dataset)
            found = elements(kernlink.raw_ops, kernlink.string, dataset)
            # What TensorFlow's optimiser of datasets makes of some of them is no graph.
            if expected[1] == "InternalError":
                continue
            if expected != found and not (changed and expected[1] == found[1]):
                different += 1
                print(f"case {case}, {kind}:\n  TensorFlow {expected}\n  Kernlink   {found}")
    print(f"{arguments.count} cases, {different} differ")
    sys.exit(different > 0)


main()
