"""Readers of TensorFlow 1, of what needs no file: names, states, counts, and what is refused. Files: tests/datasets/readers.py."""
from cases_data_flow import Flow, error
from cases_queue import Queue
from golden import T, i64
from tensorflow.core.framework.reader_base_pb2 import ReaderBaseState


def s(text, shape=()):
    return T("string", [text if isinstance(text, bytes) else text.encode()], shape)


class Reader:
    """A reader in a case, with its queue, which is closed."""

    def __init__(self, f, op, names=(), types=("string",), components=None, **attrs):
        self.f, self.suffix = f, "V2" if op.endswith("V2") else ""
        kind = "resource" if self.suffix else "string"
        self.handle = (f.do(op, [], **attrs), kind)
        queue = Queue(f, "FIFOQueue" + self.suffix, list(types))
        for component in components or [[s(name)] for name in names]:
            queue.put(*component)
        queue.op("Close")
        self.queue = queue.handle

    def read(self):
        return self.f.do("ReaderRead" + self.suffix, [self.handle, self.queue], keep=[0, 1])

    def read_up_to(self, n, **kw):
        return self.f.do("ReaderReadUpTo" + self.suffix, [self.handle, self.queue, n], keep=[0, 1], **kw)

    def op(self, name, *inputs, keep=(), **kw):
        return self.f.do("Reader" + name + self.suffix, [self.handle, *inputs], keep=keep, **kw)

    def counts(self):
        self.op("NumRecordsProduced", keep=[0])
        self.op("NumWorkUnitsCompleted", keep=[0])


def state(started, finished, produced, work=b""):
    return s(ReaderBaseState(work_started=started, work_finished=finished, num_records_produced=produced, current_work=work).SerializeToString())


READERS = {
    "IdentityReaderV2": {}, "WholeFileReader": {}, "WholeFileReaderV2": {}, "TextLineReaderV2": {},
    "FixedLengthRecordReaderV2": {"record_bytes": 3}, "TFRecordReaderV2": {},
}


def cases():
    f = Flow("IdentityReaderV2/string/names")
    r = Reader(f, "IdentityReaderV2", ["a", "", b"\xff\0b", "c" * 40, "d", "e"])
    r.counts()
    r.op("SerializeState", keep=[0])
    r.read()
    r.read()
    r.read_up_to(i64(0))
    r.read_up_to(i64(5))
    r.counts()
    r.op("SerializeState", keep=[0])
    r.op("Reset")
    r.counts()
    r.read()
    r.op("RestoreState", state(3, 4, 5, b"w"))
    r.op("SerializeState", keep=[0])
    r.counts()
    r.read()
    r.counts()
    r.read()
    r.op("SerializeState", keep=[0])
    yield f.case

    f = Flow("IdentityReaderV2/string/saved")
    r = Reader(f, "IdentityReaderV2", ["a", "b", "c"])
    r.read()
    saved = r.op("SerializeState", keep=[0])
    r.read()
    r.op("RestoreState", (saved, "string"))
    r.counts()
    r.read()
    r.op("SerializeState", keep=[0])
    yield f.case

    f = Flow("IdentityReaderV2/string/one-element-runtime")
    r = Reader(f, "IdentityReaderV2", components=[[s("a", (1, 1, 1))], [s("b")]])
    r.read()
    r.read_up_to(i64([1]), dynamic=True)
    yield f.case

    f = Flow("IdentityReaderV2/string/shared")
    first = Reader(f, "IdentityReaderV2", ["a", "b", "c"], shared_name="reader-that-is-shared", container="readers")
    other = Reader(f, "TextLineReaderV2", ["d"], shared_name="reader-that-is-shared", container="readers", skip_header_lines=7)
    first.read()
    other.read()  # which reads names, as what was made first is shared
    first.counts()
    other.counts()
    other.op("Reset")
    first.counts()
    yield f.case

    f = Flow("WholeFileReader/string/states")
    r = Reader(f, "WholeFileReader")
    r.counts()
    r.op("SerializeState", keep=[0])
    r.op("RestoreState", state(1, 1, 2, b"w"))
    r.counts()
    r.op("SerializeState", keep=[0])
    r.op("Reset")
    r.read_up_to(i64(0))
    r.counts()
    yield f.case

    for op, attrs in READERS.items():
        if op == "IdentityReaderV2":
            continue
        yield error(op, "missing", lambda f: Reader(f, op, ["/nonexistent/kernlink/a"], **attrs).read(), "string")
        yield error(op, "missing-several", lambda f: Reader(f, op, ["/nonexistent/kernlink/a"], **attrs).read_up_to(i64(2)), "string")
    for op, attrs in READERS.items():
        yield error(op, "closed", lambda f: Reader(f, op, **attrs).read(), "string")
        yield error(op, "closed-several", lambda f: Reader(f, op, **attrs).read_up_to(i64(2)), "string")
        if op[0] in "FT":
            yield error(op, "saved", lambda f: Reader(f, op, **attrs).op("SerializeState", keep=[0]), "string")

            def restored(f):
                r = Reader(f, op, **attrs)
                r.op("RestoreState", state(0, 0, 0))
                r.counts()
            yield error(op, "restored", restored, "string")

    for tag, attrs in (("header", {"header_bytes": -1}), ("record", {"record_bytes": -1}), ("footer", {"footer_bytes": -1}), ("hop", {"hop_bytes": -1})):
        yield error("FixedLengthRecordReaderV2", tag, lambda f: Reader(f, "FixedLengthRecordReaderV2", ["x"], **{"record_bytes": 3, **attrs}).read(), "string")
    for skipped in (-1, 2**31):
        yield error("TextLineReaderV2", f"skips{skipped}", lambda f: Reader(f, "TextLineReaderV2", ["x"], skip_header_lines=skipped).read(), "string")

    def restores(given, **kw):
        def build(f):
            r = Reader(f, "IdentityReaderV2", ["a"])
            r.op("RestoreState", given, **kw)
            r.counts()
        return build

    for tag, given in (("started", state(-1, 0, 0)), ("finished", state(0, -1, 0)), ("produced", state(0, 0, -1)), ("amid", state(2, 1, 0)),
                       ("bytes", s(b"\xff")), ("cut", s(state(1, 1, 1, b"abc").array.item()[:-1]))):
        yield error("ReaderRestoreStateV2", tag, restores(given), "string")
    yield error("ReaderRestoreStateV2", "vector", restores(s("", (1,))), "string")
    yield error("ReaderRestoreStateV2", "vector-runtime", restores(s("", (1,)), dynamic=True), "string")

    for tag, types, components in (
            ("components", ("string", "string"), [[s("a"), s("b")]]), ("dtype", ("int64",), [[i64(1)]]), ("elements", ("string",), [[T("string", ["a", "b"])]]),
            ("empty", ("string",), [[T("string", [], (0,))]])):
        yield error("ReaderReadV2", tag, lambda f: Reader(f, "IdentityReaderV2", types=types, components=components).read(), "string")
    yield error("ReaderReadUpToV2", "rank", lambda f: Reader(f, "IdentityReaderV2", ["a"]).read_up_to(i64([1])), "string")

    def swapped(f):
        r = Reader(f, "IdentityReaderV2", ["a"])
        r.handle, r.queue = r.queue, r.handle
        r.read()
    yield error("ReaderReadV2", "handles", swapped, "string")
