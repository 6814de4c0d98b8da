"""What `files.py` and `readers.py` share: files drawn at random, and cases that Kernlink and TensorFlow run side by side."""
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

COMPRESS = {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}


def lines(rng):
    """The bytes of a file of lines, which end in all ways."""
    parts = [b"a", b"\n", b"\r\n", b"\r", b"bc d", b"\0", b"\xff"]
    return b"".join(rng.choice(parts) for _ in range(rng.randint(0, 30)))


def records(rng, folder):
    """The bytes of a file of TFRecords, some of which are cut or changed."""
    file = folder / "written"
    with tf.io.TFRecordWriter(str(file)) as writer:
        for _ in range(rng.randint(0, 5)):
            writer.write(rng.randbytes(rng.randint(0, 20)))
    content = file.read_bytes()
    if content and rng.random() < 0.3:
        at = rng.randrange(len(content))
        content = content[:at] if rng.random() < 0.5 else content[:at] + bytes([content[at] ^ 1]) + content[at + 1:]
    return content


def written(rng, file, content, compression):
    """Writes a file, compressed, and some cut or changed; its name, and whether compressed bytes were changed: TensorFlow
    decompresses ahead, and so meets the damage before the records in front of it."""
    content, changed = COMPRESS[compression](content), False
    if content and rng.random() < 0.1:
        content = content[: rng.randrange(len(content))]
    elif content and compression and rng.random() < 0.05:
        at = rng.randrange(len(content))
        content, changed = content[:at] + bytes([content[at] ^ 4]) + content[at + 1:], True
    file.write_bytes(content)
    return str(file), changed


def compare(description, draw, play, tell):
    """Draws cases in a folder and plays each in both packages; of those that differ prints what `tell` makes of what both gave, if
    it is anything."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    rng, different = random.Random(arguments.seed), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            case = draw(rng, pathlib.Path(folder))
            expected, found = (play(package, number, case) for package in (tf, kernlink))
            text = tell(case, expected, found) if expected != found else None
            if text is not None:
                different += 1
                print(f"case {number}, {text}")
    print(f"{arguments.count} cases, {different} differ")
    sys.exit(different > 0)
