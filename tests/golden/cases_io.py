"""Names of files, and what saving and restoring refuse. What they write and read: tests/oracle/checkpoint.rs."""
from golden import T, bad, i32, one

NOWHERE = "/nonexistent/kernlink/model"


def s(*values):
    return T("string", [v if isinstance(v, bytes) else v.encode() for v in values])


def name(value=NOWHERE):
    return T("string", [value if isinstance(value, bytes) else value.encode()], ())


def n(value):
    return T("int32", [value], ())


def cases():
    for tag, base, shard, shards in [("plain", "model", 3, 16), ("wide", "", 123456, 1234567), ("negative", "a", -3, -99999), ("nul", b"a\0b", 0, 1), ("bytes", b"\xff/", 0, 0)]:
        yield one("ShardedFilename", "string", tag, [name(base), n(shard), n(shards)])
        yield one("ShardedFilespec", "string", tag, [name(base), n(shards)])
    yield from bad("ShardedFilename", "string", "vector", [s("a", "b"), n(1), n(2)])
    yield from bad("ShardedFilename", "string", "shards", [name("a"), n(1), i32([1, 2])])
    yield from bad("ShardedFilespec", "string", "vector", [s("a"), n(2)])
    yield one("MatchingFiles", "string", "none", [name("/nonexistent/*/x?")])
    yield one("MatchingFiles", "string", "no-patterns", [T("string", [], (0,))])
    yield one("MatchingFiles", "string", "several", [s("/nonexistent/a", "/nonexistent/[b-c]*", "")])
    yield from bad("MatchingFiles", "string", "matrix", [T("string", [b"a"], (1, 1))])
    yield from bad("ReadFile", "string", "missing", [name()])
    yield from bad("ReadFile", "string", "folder", [name("/")])
    yield from bad("ReadFile", "string", "vector", [s("a", "b")])
    restore = lambda tag, prefix, names, parts, dtypes=("float",): bad(  # noqa: E731
        "RestoreV2", "float", tag, [prefix, names, parts], dtypes=list(dtypes))
    yield from restore("missing", name(), s("a"), s(""))
    yield from restore("names", name(), s("a", "b"), s("", ""))
    yield from restore("parts", name(), s("a"), s("", ""))
    yield from restore("prefixes", s("a", "b"), s("a"), s(""))
    yield from restore("matrix", name(), T("string", [b"a"], (1, 1)), T("string", [b""], (1, 1)))
    yield from restore("part-one-word", name(), s("a"), s("4"))
    yield from restore("part-words", name(), s("a"), s("4 x -:-"))
    yield from restore("part-rank", name(), s("a"), s("4 3 -"))
    yield from restore("part-bounds", name(), s("a"), s("4 2,3"))
    yield from restore("part-negative", name(), s("a"), s("4 -1,3"))
    yield from restore("part-empty", name(), s("a"), s("4 1,0"))
    for tag, prefix, tensor, part in [("missing", name(), name("a"), name("")), ("names", name(), s("a", "b"), name("")), ("part", name(), name("a"), name("4 0,5"))]:
        yield from bad("RestoreSlice", "float", tag, [prefix, tensor, part], dt="float")
        if tag != "part":
            yield from bad("Restore", "float", tag, [prefix, tensor], dt="float")
    yield from bad("Restore", "float", "shard", [name(), name("a")], dt="float", preferred_shard=-2)
