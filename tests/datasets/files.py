"""Datasets of files, drawn at random, in Kernlink beside TensorFlow: lines, records of one length, TFRecords and names; plain and
compressed, whole, cut and changed.

    python tests/datasets/files.py [--seed S] [--count N]

Needs TensorFlow, and the Python package of Kernlink on the path. Of compressed bytes that were changed only the code of the error is
compared: TensorFlow decompresses ahead, and so meets it before the records in front of it.
"""
from sides import compare, lines, records, written


def elements(package, _, case):
    """The elements of a dataset, and how it ends."""
    dataset, found, raw = case[2], [], package.raw_ops
    kind = {"output_types": [package.string], "output_shapes": [[]]}
    try:
        iterator = raw.AnonymousIteratorV3(**kind)
        raw.MakeIterator(dataset=dataset(raw), iterator=iterator)
        while len(found) < 60:
            value = raw.IteratorGetNext(iterator=iterator, **kind)[0].numpy()
            found.append(value if isinstance(value, bytes) else value.item())
    except Exception as error:  # noqa: BLE001
        return found, type(error).__name__
    return found, "more"


def draw(rng, folder):
    """The files of a case and its dataset, by the functions of either package."""
    kind = rng.choice(["line", "fixed", "record", "match"])
    compression = rng.choice(["", "", "GZIP", "ZLIB"])
    files, changed = [], False
    for index in range(rng.randint(1, 3)):
        content = lines(rng) if kind == "line" else records(rng, folder) if kind == "record" else rng.randbytes(rng.randint(0, 40))
        file, is_changed = written(rng, folder / f"{kind}{index}.x", content, compression)
        files.append(file)
        changed |= is_changed
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


def tell(case, expected, found):
    kind, changed, _ = case
    # What TensorFlow's optimiser of datasets makes of some of them is no graph.
    if expected[1] == "InternalError" or (changed and expected[1] == found[1]):
        return None
    return f"{kind}:\n  TensorFlow {expected}\n  Kernlink   {found}"


compare(__doc__, draw, elements, tell)
