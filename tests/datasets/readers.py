"""Readers, drawn at random, in Kernlink beside TensorFlow: wholes, lines, records of one length, TFRecords, names; plain and
compressed, whole, cut and changed; read by one and by several, counted, saved, restored and reset.

    python tests/datasets/readers.py [--seed S] [--count N]

Needs TensorFlow, and the Python package of Kernlink on the path. Of compressed bytes that were changed only what comes after the
first difference is not compared: TensorFlow decompresses ahead, and so meets the damage before the records in front of it.
"""
from sides import compare, lines, records, written

from tensorflow.core.framework.reader_base_pb2 import ReaderBaseState


def content_of(rng, kind, folder):
    """The bytes of a file before they are compressed."""
    if kind == "TextLineReaderV2":
        return lines(rng)
    return records(rng, folder) if kind == "TFRecordReaderV2" else rng.randbytes(rng.randint(0, 40))


def draw(rng, folder):
    """A reader with its attrs, the names that its queue holds, and what is done with it, in order."""
    kind = rng.choice(["WholeFileReaderV2", "IdentityReaderV2"] + 2 * ["TextLineReaderV2", "FixedLengthRecordReaderV2", "TFRecordReaderV2"])
    compression = rng.choice(["", "", "GZIP", "ZLIB"]) if kind[0] in "FT" and kind[1] != "e" else ""
    attrs = {}
    if kind == "TextLineReaderV2":
        attrs["skip_header_lines"] = rng.choice([0, 0, 0, 1, 3, 100, -1])
    elif kind == "TFRecordReaderV2":
        attrs["compression_type"] = compression if rng.random() < 0.95 else "OTHER"
    elif kind == "FixedLengthRecordReaderV2":
        header, record, footer, hop = rng.choice(
            [(0, 3, 0, 0), (2, 4, 1, 0), (0, 5, 2, 3), (1, 1, 0, 2), (0, 0, 0, 0), (-1, 2, 0, 0), (50, 1, 0, 0), (0, 4, 3, 9), (0, 3, 5, 1),
             (0, 2, 0, -1), (0, 2, -1, 0), (0, -2, 1, 0)])
        attrs.update(header_bytes=header, record_bytes=record, footer_bytes=footer, hop_bytes=hop)
        attrs["encoding"] = compression if rng.random() < 0.95 else "OTHER"
    names, changed = [], False
    for index in range(rng.randint(0, 4)):
        file, is_changed = written(rng, folder / f"{index}.x", content_of(rng, kind, folder), compression)
        names.append(file)
        changed |= is_changed
        if rng.random() < 0.1:
            names.append(str(folder / "missing"))
    steps = []
    for _ in range(rng.randint(1, 25)):
        step = rng.choice(["read"] * 6 + ["several"] * 3 + ["records", "works", "save", "restore", "reset", "given"])
        argument = rng.choice([0, 1, 2, 3, 10]) if step == "several" else None
        if step == "given":
            argument = ReaderBaseState(
                work_started=rng.choice([0, 1, 5, -1]), work_finished=rng.choice([0, 1, 5]), num_records_produced=rng.choice([0, 3, -1]),
                current_work=rng.choice([b"", b"w"])).SerializeToString()
            argument = rng.choice([argument, argument[:-1] or b"\x08", b"", b"\xff"])
        steps.append((step, argument))
    return kind, attrs, names, steps, changed


def play(library, number, case):
    """What each step gives."""
    kind, attrs, names, steps, _ = case
    raw, found = library.raw_ops, []
    try:
        reader = getattr(raw, kind)(shared_name=f"reader{number}", container="", **attrs)
        queue = raw.FIFOQueueV2(component_types=[library.string], shapes=[[]], capacity=-1, shared_name=f"queue{number}")
        for name in names:
            raw.QueueEnqueueV2(handle=queue, components=[library.constant(name)])
        raw.QueueCloseV2(handle=queue)
    except Exception as error:  # noqa: BLE001
        return [type(error).__name__]
    saved = b""
    for step, argument in steps:
        try:
            if step == "read":
                given = [part.numpy() for part in raw.ReaderReadV2(reader_handle=reader, queue_handle=queue)]
            elif step == "several":
                given = raw.ReaderReadUpToV2(reader_handle=reader, queue_handle=queue, num_records=library.constant(argument, library.int64))
                given = [list(part.numpy()) for part in given]
            elif step == "records":
                given = int(raw.ReaderNumRecordsProducedV2(reader_handle=reader).numpy())
            elif step == "works":
                given = int(raw.ReaderNumWorkUnitsCompletedV2(reader_handle=reader).numpy())
            elif step == "save":
                given = saved = raw.ReaderSerializeStateV2(reader_handle=reader).numpy()
            elif step == "reset":
                given = raw.ReaderResetV2(reader_handle=reader)
                given = None
            else:
                raw.ReaderRestoreStateV2(reader_handle=reader, state=library.constant(saved if step == "restore" else argument))
                given = None
            found.append((step, given))
        except Exception as error:  # noqa: BLE001
            found.append((step, type(error).__name__))
    return found


def tell(case, expected, found):
    kind, attrs, _, steps, changed = case
    if changed:
        return None
    at = next((k for k, (a, b) in enumerate(zip(expected, found)) if a != b), -1)
    return f"{kind} {attrs}, step {at}:\n  TensorFlow {expected[at]}\n  Kernlink   {found[at]}\n {steps} {expected}"


compare(__doc__, draw, play, tell)
