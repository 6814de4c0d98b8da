"""Messages and text: Examples, SequenceExamples, other messages, tensors, CSV, JSON, compressed bytes."""
import gzip
import random
import struct
import zlib

import numpy as np
import tensorflow as tf
from google.protobuf import descriptor_pb2

import golden
from golden import NUMPY, R, T, bad, dtypes, f32, i32, i64, many, one

TYPES = ("float", "int64", "string")
TF_TYPES = {"float": tf.float32, "int64": tf.int64, "string": tf.string, "double": tf.float64, "int32": tf.int32}


def S(values):
    """A tensor of strings; texts become UTF-8."""
    if isinstance(values, (bytes, str)):
        values = np.array(values.encode() if isinstance(values, str) else values, object)
    return T("string", np.array([v.encode() if isinstance(v, str) else v for v in np.ravel(np.array(values, object))], object).reshape(np.shape(np.array(values, object))))


def empty(dtype="string", shape=(0,)):
    return T(dtype, np.zeros(shape, object if dtype == "string" else {"float": np.float32, "int64": np.int64, "double": np.float64, "int32": np.int32}[dtype]))


# ---------------------------------------------------------------- the wire format, by hand

def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def floats(values, packed=True):
    if packed:
        return field(1, b"".join(struct.pack("<f", v) for v in values))
    return b"".join(b"\x0d" + struct.pack("<f", v) for v in values)


def ints(values, packed=True):
    if packed:
        return field(1, b"".join(varint(v) for v in values))
    return b"".join(b"\x08" + varint(v) for v in values)


def feature(dtype, values, packed=True):
    if dtype == "float":
        return field(2, floats(values, packed))
    if dtype == "int64":
        return field(3, ints(values, packed))
    return field(1, b"".join(field(1, v) for v in values))


def entry(key, value):
    return field(1, field(1, key) + field(2, value))


def example(**features):
    return field(1, b"".join(entry(k.encode(), v) for k, v in features.items()))


def values(dtype, n, seed=0):
    rng = random.Random(f"{dtype}{n}{seed}")
    if dtype == "float":
        return [struct.unpack("<f", struct.pack("<f", rng.uniform(-9, 9)))[0] for _ in range(n)]
    if dtype == "int64":
        return [rng.choice([0, -1, 5, 127, 128, 300, 2**31, -2**63, 2**63 - 1, rng.randint(-999, 999)]) for _ in range(n)]
    return [bytes(rng.randrange(256) for _ in range(rng.choice([0, 1, 5, 30]))) for _ in range(n)]


def default(dtype, shape):
    n = int(np.prod(shape, dtype=int))
    kind = {"float": np.float32, "int64": np.int64, "string": object}[dtype]
    return T(dtype, np.array(values(dtype, n, 9) if n else np.zeros(0), dtype=kind).reshape(shape))


# ---------------------------------------------------------------- Examples

class Config:
    """The features that are wanted: (key, dtype), of dense ones with shape and default."""

    def __init__(self, dense=(), sparse=(), ragged=()):
        self.dense, self.sparse, self.ragged = list(dense), list(sparse), list(ragged)

    def defaults(self):
        return [d for _, _, _, d in self.dense]

    def shapes(self):
        return [s for _, _, s, _ in self.dense]


def scalars(keys):
    return [S(k) for k in keys]


def keys_of(features):
    return [f[0] for f in features]


def vector(keys):
    return S(keys) if keys else empty()


def parse_v1(config, serialized, names=None):
    inputs = [serialized, names or empty(), scalars(keys_of(config.sparse)), scalars(keys_of(config.dense)), config.defaults()]
    return inputs, {"sparse_types": [f[1] for f in config.sparse], "dense_shapes": config.shapes()}


def parse_v2(config, serialized, names=None, splits="int64"):
    inputs = [serialized, names or empty(), vector(keys_of(config.sparse)), vector(keys_of(config.dense)), vector(keys_of(config.ragged)), config.defaults()]
    return inputs, {"num_sparse": len(config.sparse), "sparse_types": [f[1] for f in config.sparse], "ragged_value_types": [f[1] for f in config.ragged],
                    "ragged_split_types": [splits] * len(config.ragged), "dense_shapes": config.shapes()}


def parse_single(config, serialized):
    return [serialized, config.defaults()], {"num_sparse": len(config.sparse), "sparse_keys": keys_of(config.sparse), "dense_keys": keys_of(config.dense),
                                             "sparse_types": [f[1] for f in config.sparse], "dense_shapes": config.shapes()}


def examples():
    for d in TYPES:
        v = lambda n, seed=0, d=d: feature(d, values(d, n, seed))
        dense = [("a", d, [2], default(d, (2,)))]
        required = [("a", d, [2], empty(d))]
        every = Config(dense, [("b", d)], [("c", d)])
        full = example(a=v(2), b=v(3), c=v(1), other=v(4))
        rows = [full, example(b=v(1), c=v(5)), example(), b"", example(a=v(2, 1)), example(c=v(0), b=v(0))]
        for tag, batch in (("one", rows[:1]), ("rows", rows), ("many", rows * 7)):
            inputs, attrs = parse_v1(Config(dense, [("b", d), ("c", d)]), S(batch))
            yield one("ParseExample", d, tag, inputs, **attrs)
            for splits in ("int32", "int64"):
                inputs, attrs = parse_v2(every, S(batch), splits=splits)
                yield one("ParseExampleV2", d, f"{tag}-{splits}", inputs, **attrs)
        for k, row in enumerate(rows):
            inputs, attrs = parse_single(Config(dense, [("b", d), ("c", d)]), S(row))
            yield one("ParseSingleExample", d, f"row{k}", inputs, **attrs)
            inputs, attrs = parse_v2(every, S(row))
            yield one("ParseExampleV2", d, f"scalar{k}", inputs, **attrs)
        for op, form in (("ParseExample", parse_v1), ("ParseExampleV2", parse_v2)):
            inputs, attrs = form(Config(dense, [("b", d)]), empty())
            yield one(op, d, "no-rows", inputs, **attrs)
            inputs, attrs = form(Config(dense, [("b", d)]), S(rows[:2]), S(["first", "second"]))
            yield one(op, d, "names", inputs, **attrs)
            inputs, attrs = form(Config(dense, [("b", d)]), S(rows))
            yield one(op, d, "dynamic", inputs, dynamic=True, **attrs)
            for tag, shape in (("scalar", []), ("matrix", [2, 2]), ("deep", [1, 2, 1, 2])):
                n = int(np.prod(shape, dtype=int))
                batch = S([example(a=v(n)), example(), example(a=v(n, 2))])
                inputs, attrs = form(Config([("a", d, shape, default(d, shape))]), batch)
                yield one(op, d, f"dense-{tag}", inputs, **attrs)
            for tag, shape, counts in (("vector", [-1], (3, 0, 5)), ("matrix", [-1, 2], (2, 6, 0)), ("cube", [-1, 1, 3], (3, 3, 9)), ("none", [-1], (0, 0))):
                batch = S([example(a=v(n)) if n else example() for n in counts])
                inputs, attrs = form(Config([("a", d, shape, default(d, (1,) if tag == "vector" else ()))]), batch)
                yield one(op, d, f"variable-{tag}", inputs, **attrs)
            wrong = {
                "missing": (required, example(b=v(1))), "too-few": (dense, example(a=v(1))), "too-many": (dense, example(a=v(3))), "none": (dense, example(a=v(0))),
                "other-dtype": (dense, example(a=feature(TYPES[TYPES.index(d) - 1], values(TYPES[TYPES.index(d) - 1], 2)))),
                "default-shape": ([("a", d, [2], default(d, (3,)))], full), "unknown-rank": ([("a", d, None, empty(d))], full), "unknown-inner": ([("a", d, [2, -1], empty(d))], full),
                "variable-default": ([("a", d, [-1], empty(d))], full), "not-a-multiple": ([("a", d, [-1, 2], default(d, ()))], example(a=v(3))), "cut": (dense, full[:-3]),
                "kind": (dense, example(a=b"\x22\x00")),
            }
            for tag, (features, data) in wrong.items():
                inputs, attrs = form(Config(features), S([data]))
                yield from bad(op, d, tag, inputs, static=tag.startswith("unknown"), **attrs)
            other = TYPES[TYPES.index(d) - 1]
            inputs, attrs = form(Config([], [("b", other)]), S([full]))
            yield from bad(op, d, "sparse-dtype", inputs, static=False, **attrs)
            inputs, attrs = form(Config(dense, [("b", d)]), S(full if op == "ParseExample" else [[full]]))
            yield from bad(op, d, "rank", inputs, **attrs)
            inputs, attrs = form(Config(dense), S([full]), S(["a", "b"]))
            yield from bad(op, d, "names", inputs, static=False, **attrs)
        for tag, shape, n in (("vector", [-1], 3), ("matrix", [-1, 2], 6), ("absent", [-1, 2], None), ("empty", [-1], 0), ("scalar", [], 1), ("deep", [1, 2, 1, 2], 4)):
            features = {} if n is None else {"a": v(n)}
            variable = -1 in shape
            inputs, attrs = parse_single(Config([("a", d, shape, default(d, () if variable else shape))]), S(example(**features)))
            yield one("ParseSingleExample", d, f"dense-{tag}", inputs, **attrs)
        for tag, features, data in (("missing", required, example()), ("too-few", dense, example(a=v(1))), ("cut", dense, full[:-2]), ("not-a-multiple", [("a", d, [-1, 2], default(d, ()))], example(a=v(3)))):
            inputs, attrs = parse_single(Config(features), S(data))
            yield from bad("ParseSingleExample", d, tag, inputs, static=False, **attrs)
        inputs, attrs = parse_single(Config(dense), S([full]))
        yield from bad("ParseSingleExample", d, "rank", inputs, **attrs)


def strange_examples():
    """What parsers of protocol buffers read otherwise, or refuse."""
    a = lambda d, n=2: feature(d, values(d, n))
    config = {d: Config([("a", d, [2], default(d, (2,)))], [("b", d)]) for d in TYPES}
    whole = {
        "unpacked": {"float": feature("float", [1, 2], False), "int64": feature("int64", [1, -2], False)},
        "two-chunks": {"float": field(2, floats([1]) + floats([2])), "int64": field(3, ints([1]) + ints([2]))},
        "mixed": {"float": field(2, floats([1], False) + floats([2])), "int64": field(3, ints([1], False) + ints([2]))},
        "two-lists": {d: a(d) + a(d, 1) for d in TYPES},
        "empty-packed": {"float": field(2, floats([])), "int64": field(3, ints([]))},
        "list-too-long": {d: a(d)[:1] + b"\x7f" + a(d)[2:] for d in TYPES},
        "odd-floats": {"float": field(2, field(1, b"\0" * 7))},
        "long-varint": {"int64": field(3, field(1, b"\xff" * 9 + b"\x7f" + b"\x01")), },
        "endless-varint": {"int64": field(3, field(1, b"\xff" * 10 + b"\x01"))},
        "behind-list": {d: a(d) + b"\x48\x05" for d in TYPES},
        "before-list": {d: b"\x48\x05" + a(d) for d in TYPES},
        "string-cut": {"string": field(1, field(1, b"ab") + b"\x0a\x05ab")},
    }
    for tag, by_dtype in whole.items():
        for d, value in by_dtype.items():
            yield from both(d, tag, config[d], example(a=value))
            yield from both(d, tag + "-sparse", config[d], example(b=value))
    for d in TYPES:
        for tag, c in (("key-twice", Config([("b", d, [2], default(d, (2,)))], [("a", d), ("a", d)])), ("key-of-two-kinds", Config([("a", d, [2], default(d, (2,)))], [("a", d)]))):
            yield from both(d, tag, c, example(a=a(d), b=a(d)))
    d = "int64"
    x, y = example(a=a(d)), example(a=feature(d, [7, 8]), b=a(d, 1))
    entries = {
        "concatenated": x + y, "concatenated-back": y + x, "twice": field(1, entry(b"a", a(d)) + entry(b"a", feature(d, [5, 6]))),
        "twice-sparse": field(1, entry(b"b", a(d)) + entry(b"b", feature(d, [5]))), "twice-empty-last": field(1, entry(b"a", a(d)) + entry(b"a", b"")),
        "twice-empty-last-sparse": field(1, entry(b"b", a(d)) + entry(b"b", b"")), "twice-other-dtype-first": field(1, entry(b"a", a("float")) + entry(b"a", a(d))),
        "value-first": field(1, field(1, field(2, a(d)) + field(1, b"a"))), "no-value": field(1, field(1, field(1, b"a"))), "no-key": field(1, field(1, field(2, a(d)))),
        "more-in-entry": field(1, field(1, field(1, b"a") + field(2, a(d)) + b"\x18\x01")), "unknown-varint": b"\x38\x05" + x, "unknown-string": x + field(9, b"xyz"),
        "unknown-fixed": b"\x25abcd\x21abcdefgh" + x, "unknown-group": b"\x1b\x1c" + x, "unknown-cut": x + b"\x4a\x7fabc", "zero-key": b"\x00\x05" + x, "features-too-long": b"\x0a\x7f" + x[2:],
        "entry-too-long": x[:3] + b"\x7f" + x[4:], "unknown-in-features": field(1, b"\x38\x05" + x[2:]), "not-a-message": b"\xff\xff\xff", "text": b"features { }",
    }
    for tag, data in entries.items():
        yield from both(d, tag, config[d], data)


def outcome(op, inputs, attrs):
    """Whether TensorFlow takes a call. Only kernels are asked, as shapes never refuse these."""
    convert = lambda v: [convert(x) for x in v] if isinstance(v, list) else tf.constant(v.array, dtype=TF_TYPES.get(v.dtype) or getattr(tf, v.dtype))
    named = dict(zip(ARGUMENTS[op], map(convert, inputs)))
    kind = lambda v: [TF_TYPES[x] for x in v] if isinstance(v, list) and v and all(isinstance(x, str) and x in TF_TYPES for x in v) else v
    typed = {k: kind(v) if "types" in k else v for k, v in attrs.items()}
    try:
        getattr(tf.raw_ops, op)(**named, **typed)
        return True
    except (tf.errors.OpError, UnicodeDecodeError):  # whose message may hold bytes
        return False


ARGUMENTS = {
    "ParseExample": ("serialized", "names", "sparse_keys", "dense_keys", "dense_defaults"),
    "ParseExampleV2": ("serialized", "names", "sparse_keys", "dense_keys", "ragged_keys", "dense_defaults"),
    "ParseSingleExample": ("serialized", "dense_defaults"),
    "ParseSequenceExampleV2": ("serialized", "debug_name", "context_sparse_keys", "context_dense_keys", "context_ragged_keys", "feature_list_sparse_keys", "feature_list_dense_keys",
                               "feature_list_ragged_keys", "feature_list_dense_missing_assumed_empty", "context_dense_defaults"),
    "ParseSingleSequenceExample": ("serialized", "feature_list_dense_missing_assumed_empty", "context_sparse_keys", "context_dense_keys", "feature_list_sparse_keys", "feature_list_dense_keys",
                                   "context_dense_defaults", "debug_name"),
    "DecodeCSV": ("records", "record_defaults"), "DecodeCompressed": ("bytes",), "DecodeJSONExample": ("json_examples",), "DecodeProtoV2": ("bytes",), "EncodeProto": ("sizes", "values"),
}


# What TensorFlow says of the calls of `either`, in order: asked in a process of its own, as one that has run ops may not fork.
OUTCOMES = None
ASKED = []


def either(op, d, tag, inputs, attrs):
    """A case of values, or of an error that the kernel gives: what TensorFlow says."""
    if OUTCOMES.pop(0) if OUTCOMES is not None else ASKED.append(outcome(op, inputs, attrs)) or ASKED[-1]:
        yield one(op, d, tag, inputs, **attrs)
    else:
        yield from bad(op, d, tag, inputs, static=False, **attrs)


def both(d, tag, config, data):
    """One message, by the parser of one Example and by that of several."""
    inputs, attrs = parse_single(config, S(data))
    yield from either("ParseSingleExample", d, tag, inputs, attrs)
    inputs, attrs = parse_v1(config, S([data, data]))
    yield from either("ParseExample", d, tag, inputs, attrs)


# ---------------------------------------------------------------- SequenceExamples

def feature_list(rows):
    return b"".join(field(1, row) for row in rows)


def sequence(context=None, lists=None):
    data = b""
    if context is not None:
        data += field(1, b"".join(entry(k.encode(), v) for k, v in context.items()))
    if lists is not None:
        data += field(2, b"".join(entry(k.encode(), feature_list(v)) for k, v in lists.items()))
    return data


def sequence_v1(context, lists, serialized, may_miss=()):
    return [serialized, empty(), context.defaults()], {
        "feature_list_dense_missing_assumed_empty": list(may_miss), "context_sparse_keys": keys_of(context.sparse), "context_dense_keys": keys_of(context.dense),
        "feature_list_sparse_keys": keys_of(lists.sparse), "feature_list_dense_keys": keys_of(lists.dense), "Ncontext_sparse": len(context.sparse), "Ncontext_dense": len(context.dense),
        "Nfeature_list_sparse": len(lists.sparse), "Nfeature_list_dense": len(lists.dense), "context_sparse_types": [f[1] for f in context.sparse],
        "feature_list_dense_types": [f[1] for f in lists.dense], "context_dense_shapes": context.shapes(), "feature_list_sparse_types": [f[1] for f in lists.sparse],
        "feature_list_dense_shapes": lists.shapes()}


def sequence_v2(context, lists, serialized, may_miss=(), splits="int64"):
    inputs = [serialized, empty(), vector(keys_of(context.sparse)), vector(keys_of(context.dense)), vector(keys_of(context.ragged)), vector(keys_of(lists.sparse)), vector(keys_of(lists.dense)),
              vector(keys_of(lists.ragged)), T("bool", np.array([f[0] in may_miss for f in lists.dense], bool)), context.defaults()]
    return inputs, {"Ncontext_sparse": len(context.sparse), "context_sparse_types": [f[1] for f in context.sparse], "context_ragged_value_types": [f[1] for f in context.ragged],
                    "context_ragged_split_types": [splits] * len(context.ragged), "context_dense_shapes": context.shapes(), "Nfeature_list_sparse": len(lists.sparse),
                    "Nfeature_list_dense": len(lists.dense), "feature_list_dense_types": [f[1] for f in lists.dense], "feature_list_sparse_types": [f[1] for f in lists.sparse],
                    "feature_list_ragged_value_types": [f[1] for f in lists.ragged], "feature_list_ragged_split_types": [splits] * len(lists.ragged), "feature_list_dense_shapes": lists.shapes()}


def sequence_single(context, lists, serialized, may_miss=()):
    inputs = [serialized, vector(list(may_miss)), scalars(keys_of(context.sparse)), scalars(keys_of(context.dense)), scalars(keys_of(lists.sparse)), scalars(keys_of(lists.dense)), context.defaults(), S("name")]
    return inputs, {"context_sparse_types": [f[1] for f in context.sparse], "feature_list_dense_types": [f[1] for f in lists.dense], "context_dense_shapes": context.shapes(),
                    "feature_list_sparse_types": [f[1] for f in lists.sparse], "feature_list_dense_shapes": lists.shapes()}


SEQUENCE_FORMS = (("ParseSequenceExample", sequence_v1), ("ParseSequenceExampleV2", sequence_v2), ("ParseSingleSequenceExample", sequence_single))


def sequences():
    for d in TYPES:
        other = TYPES[TYPES.index(d) - 1]
        v = lambda n, seed=0, d=d: feature(d, values(d, n, seed))
        context = Config([("a", d, [2], default(d, (2,)))], [("b", d)], [("c", d)])
        lists = Config([("x", d, [2], None)], [("y", d)], [("z", d)])
        plain, plain_lists = Config(context.dense, context.sparse), Config(lists.dense, lists.sparse)
        rows = [sequence({"a": v(2), "b": v(3), "c": v(1)}, {"x": [v(2), v(2, 1)], "y": [v(1), v(0), v(3)], "z": [v(2), b"", v(1)]}), sequence({"b": v(1)}, {"x": [v(2)], "z": []}),
                sequence({}, {"x": []}), sequence(None, {"x": [v(2)] * 4, "y": [v(5)]}), sequence({"c": v(4)}, {"x": [v(2)], "y": [], "z": [v(0), v(0)]})]
        for tag, batch in (("one", rows[:1]), ("rows", rows), ("many", rows * 4)):
            inputs, attrs = sequence_v1(plain, plain_lists, S(batch))
            yield one("ParseSequenceExample", d, tag, inputs, **attrs)
            for splits in ("int32", "int64"):
                inputs, attrs = sequence_v2(context, lists, S(batch), splits=splits)
                yield one("ParseSequenceExampleV2", d, f"{tag}-{splits}", inputs, **attrs)
        inputs, attrs = sequence_v1(plain, plain_lists, empty())
        yield one("ParseSequenceExample", d, "no-rows", inputs, **attrs)
        inputs, attrs = sequence_v1(plain, plain_lists, S(rows))
        yield one("ParseSequenceExample", d, "dynamic", inputs, dynamic=True, **attrs)
        for k, row in enumerate(rows):
            inputs, attrs = sequence_single(plain, plain_lists, S(row))
            yield one("ParseSingleSequenceExample", d, f"row{k}", inputs, **attrs)
            inputs, attrs = sequence_v2(plain, plain_lists, S(row))
            yield one("ParseSequenceExampleV2", d, f"scalar{k}", inputs, **attrs)
        for op, form in SEQUENCE_FORMS:
            wrap = S if op == "ParseSingleSequenceExample" else lambda data: S([data])
            inputs, attrs = form(plain, plain_lists, wrap(sequence({}, {})), may_miss=["x"])
            yield one(op, d, "may-miss", inputs, **attrs)
            for tag, shape in (("scalar", []), ("matrix", [2, 2]), ("one", [1])):
                n = int(np.prod(shape, dtype=int))
                inputs, attrs = form(Config([("a", d, shape, default(d, shape))]), Config([("x", d, shape, None)]), wrap(sequence({"a": v(n)}, {"x": [v(n), v(n, 4)]})))
                yield one(op, d, f"dense-{tag}", inputs, **attrs)
            wrong = {
                "missing-list": (plain, plain_lists, sequence({}, {})), "too-few": (plain, plain_lists, sequence({"a": v(1)}, {"x": []})), "list-too-few": (plain, plain_lists, sequence({}, {"x": [v(2), v(1)]})),
                "list-empty-row": (plain, plain_lists, sequence({}, {"x": [v(2), v(0)]})), "other-dtype": (plain, plain_lists, sequence({"a": feature(other, values(other, 2))}, {"x": []})),
                "list-other-dtype": (plain, plain_lists, sequence({}, {"x": [feature(other, values(other, 2))]})), "sparse-other-dtype": (plain, plain_lists, sequence({}, {"x": [], "y": [feature(other, values(other, 2))]})),
                "missing": (Config([("a", d, [2], empty(d))]), Config(), sequence({}, {})), "default-shape": (Config([("a", d, [2], default(d, (3,)))]), Config(), sequence({"a": v(2)}, {})),
                "cut": (plain, plain_lists, rows[0][:-2]), "unknown-shape": (Config([("a", d, [-1], empty(d))]), Config(), sequence({"a": v(2)}, {})),
            }
            for tag, (c, l, data) in wrong.items():
                inputs, attrs = form(c, l, wrap(data))
                yield from bad(op, d, tag, inputs, static=tag == "unknown-shape", **attrs)
    d = "int64"
    a = lambda *v: feature(d, v)
    context, lists = Config([("a", d, [2], default(d, (2,)))], [("b", d)]), Config([("x", d, [1], None)], [("y", d)])
    strange = {
        "concatenated": sequence({"a": a(1, 2)}, {"x": [a(1)]}) + sequence({"b": a(3)}, {"y": [a(4), a(5)], "x": []}), "lists-first": field(2, entry(b"x", feature_list([a(1)]))) + field(1, entry(b"a", a(7, 8))),
        "unknown": b"\x38\x05" + sequence({"a": a(1, 2)}, {"x": [a(1)]}) + field(9, b"abc"), "group": b"\x1b\x1c" + sequence({}, {"x": []}),
        "twice": field(1, entry(b"a", a(1, 2)) + entry(b"a", a(3, 4))) + field(2, entry(b"x", feature_list([a(1)])) + entry(b"x", feature_list([a(2), a(3)]))),
        "unpacked": sequence({"a": feature(d, [1, 2], False)}, {"x": [feature(d, [3], False)], "y": [feature(d, [1, 2, 3], False)]}),
        "two-chunks": sequence({"a": field(3, ints([1]) + ints([2]))}, {"x": []}), "value-first": field(1, field(1, field(2, a(1, 2)) + field(1, b"a"))) + field(2, entry(b"x", b"")),
        "two-lists": sequence({"a": a(1, 2) + a(3)}, {"x": []}), "other-list-first": sequence({"a": feature("float", [1]) + a(1, 2)}, {"x": []}), "row-of-one-byte": sequence({}, {"x": [], "y": [b"\x1a"]}),
        "row-of-two-bytes": sequence({}, {"x": [], "y": [b"\x1a\x00", b"\x1a\x00"]}), "row-of-two-bytes-other": sequence({}, {"x": [], "y": [b"\x12\x00"]}), "behind-row": sequence({}, {"x": [], "y": [a(1) + b"\x48\x01"]}),
        "name-no-utf8": field(1, field(1, field(1, b"\xff") + field(2, a(1)))) + field(2, entry(b"x", b"")),
    }
    for tag, data in strange.items():
        for op, form in SEQUENCE_FORMS[1:]:
            inputs, attrs = form(context, lists, S(data) if op == "ParseSingleSequenceExample" else S([data]))
            yield from either(op, d, f"strange-{tag}", inputs, attrs)


# ---------------------------------------------------------------- tensors, bytes, text

def tensors():
    for d in dtypes("SerializeTensor"):
        yield many("SerializeTensor", d, "shapes", [[R(d, s)] for s in ((), (1,), (3,), (2, 3), (0,), (2, 0, 3), (1, 2, 1, 2))])
        protos = [R(d, s).proto().SerializeToString() for s in ((), (1,), (3,), (2, 3), (0,), (2, 0, 3), (1, 2, 1, 2))]
        yield many("ParseTensor", d, "shapes", [[S(p)] for p in protos], out_type=d)
        yield from bad("ParseTensor", d, "rank", [S(protos[:1])], static=False, out_type=d)
        yield from bad("ParseTensor", d, "other-dtype", [S(protos[2])], static=False, out_type="int32" if d != "int32" else "float")
        yield from bad("ParseTensor", d, "cut", [S(protos[3][:-1])], static=False, out_type=d)
    proto = lambda **kw: tf.compat.v1.make_tensor_proto(1.0).__class__(**kw)
    shape = lambda *dims: {"dim": [{"size": n} for n in dims]}
    for tag, p, d in (("repeated", proto(dtype=1, tensor_shape=shape(3), float_val=[1.5]), "float"), ("fewer", proto(dtype=3, tensor_shape=shape(4), int_val=[1, 2]), "int32"),
                      ("none", proto(dtype=9, tensor_shape=shape(2, 2)), "int64"), ("strings", proto(dtype=7, tensor_shape=shape(2), string_val=[b"a", b"\xff"]), "string"),
                      ("no-shape", proto(dtype=2, double_val=[2.5]), "double"), ("half", proto(dtype=19, tensor_shape=shape(2), half_val=[0x3C00, 0xC000]), "half")):
        yield one("ParseTensor", d, tag, [S(p.SerializeToString())], out_type=d)
    for tag, p in (("no-dtype", proto()), ("unknown-dtype", proto(dtype=99)), ("negative-size", proto(dtype=1, tensor_shape=shape(-1))), ("content-length", proto(dtype=1, tensor_shape=shape(2), tensor_content=b"abc"))):
        yield from bad("ParseTensor", "float", tag, [S(p.SerializeToString())], static=False, out_type="float")
    yield from bad("ParseTensor", "float", "garbage", [S(b"\xff\xff\xff\xff")], static=False, out_type="float")


def compressed():
    raw = [b"", b"a", b"hello " * 50, bytes(range(256)) * 20, b"\0" * 70000]
    deflated = {"ZLIB": [zlib.compress(r, k % 10) for k, r in enumerate(raw)], "GZIP": [gzip.compress(r, k % 10, mtime=0) for k, r in enumerate(raw)], "": raw}
    for kind, data in deflated.items():
        name = kind.lower() or "none"
        yield many("DecodeCompressed", "string", name, [[S(data)], [S(data[2])], [S([data[:2], data[1:3]])], [empty()], [empty(shape=(2, 0))]], compression_type=kind)
    for kind in ("ZLIB", "GZIP"):
        name, whole = kind.lower(), deflated[kind][2]
        for n in sorted({0, 1, 2, 3, 9, 10, 11, 12, len(whole) - 9, len(whole) - 5, len(whole) - 4, len(whole) - 1}):
            yield from either("DecodeCompressed", "string", f"{name}-cut{n}", [S(whole[:n])], {"compression_type": kind})
        for tag, data in (("behind", whole + b"xyz"), ("zeros-behind", whole + b"\0\0\0"), ("twice", whole + whole), ("wrong-sum", whole[:-6] + b"\x99" + whole[-5:]), ("wrong-end", whole[:-1] + b"\x99"),
                          ("garbage", b"garbage"), ("other", deflated["GZIP" if kind == "ZLIB" else "ZLIB"][2]), ("wrong-block", whole[:10 if kind == "GZIP" else 2] + b"\x07" + whole[11:]),
                          ("dictionary", b"\x78\xbb\0\0\0\1" + whole[2:])):
            yield from either("DecodeCompressed", "string", f"{name}-{tag}", [S(data)], {"compression_type": kind})
    body = deflated["GZIP"][2][10:]
    for flags, extra in ((1, b""), (4, b"\x03\0abc"), (8, b"name\0"), (16, b"comment\0"), (28, b"\x01\0xname\0comment\0"), (0x20, b""), (0x80, b"")):
        yield from either("DecodeCompressed", "string", f"gzip-flags{flags}", [S(b"\x1f\x8b\x08" + bytes([flags]) + b"\0\0\0\0\0\x03" + extra + body)], {"compression_type": "GZIP"})
    head = b"\x1f\x8b\x08\x02\0\0\0\0\0\x03"
    for tag, check in (("right", zlib.crc32(head) & 0xFFFF), ("wrong", 1)):
        yield from either("DecodeCompressed", "string", f"gzip-head-{tag}", [S(head + struct.pack("<H", check) + body)], {"compression_type": "GZIP"})
    for kind in ("ZSTD", "gzip", "x"):
        yield from either("DecodeCompressed", "string", f"kind-{kind}", [S(b"a")], {"compression_type": kind})


def csv():
    op = "DecodeCSV"
    numbers = {"float": ["1.5", "-2e3", "inf", "-inf", "0x1p3", "1e400", ".5", "+3", "12345678901234567890", "0"], "double": ["1.5", "-2e3", "inf", "1e308", "1e400", "0x1.8p1", "5.", "3.4028236e38"],
               "int32": ["0", "-1", "2147483647", "-2147483648", " 7 ", "+5", "007"], "int64": ["0", "-1", "9223372036854775807", "-9223372036854775808", "\t9"], "string": ["a", "", "a b", "\u00e9", "'x'"]}
    wrong = {"float": ["x", "1.5x", "--1", "1 2", "0x"], "double": ["x", "1e", "nanx"], "int32": ["2147483648", "1.5", "x", "1e3", "0x10", "- 1"], "int64": ["9223372036854775808", "1.0", ""], "string": []}
    filler = {"float": f32([1.25]), "double": T("double", [2.5]), "int32": i32([-7]), "int64": i64([8]), "string": S(["dflt"])}
    for d in numbers:
        columns = [numbers[d], numbers[d][::-1]]
        records = [f"{x},{y}" for x, y in zip(*columns)]
        yield many(op, d, "values", [[S(records), [filler[d]] * 2], [S(records[0]), [filler[d]] * 2], [S([records[:2], records[2:4]]), [filler[d]] * 2], [empty(), [filler[d]] * 2], [empty(shape=(0, 3)), [filler[d]] * 2]])
        yield one(op, d, "defaults", [S([",", f"{numbers[d][0]},", f",{numbers[d][1]}"]), [filler[d]] * 2])
        yield one(op, d, "default-scalar", [S([","]), [T(d, filler[d].array[0], ()), filler[d]]])
        yield one(op, d, "na", [S(["NA,NA", f"{numbers[d][0]},NA"]), [filler[d]] * 2], na_value="NA")
        yield one(op, d, "quoted", [S([f'"{x}","{x}"' for x in numbers[d] if x] + ['"",""']), [filler[d]] * 2])
        yield one(op, d, "dynamic", [S(records), [filler[d]] * 2], dynamic=True)
        yield from either(op, d, "required", [S([","]), [empty(d)] * 2], {})
        for k, shape in enumerate(((1, 1), (0, 1), (1, 0), (0, 0))):
            yield from either(op, d, f"default-rank{k}", [S(["1,1"]), [T(d, np.resize(filler[d].array, shape)), filler[d]]], {})
        yield from bad(op, d, "two-defaults", [S([","]), [T(d, np.repeat(filler[d].array, 2)), filler[d]]])
        for k, x in enumerate(wrong[d]):
            yield from either(op, d, f"wrong{k}", [S([f"{x},{numbers[d][0]}"]), [empty(d)] * 2], {})
    s, i = filler["string"], filler["int32"]
    rules = ['a,b', '"a","b"', '"a,b",c', '"a""b",c', '"a"b,c', 'a"b,c', '"a', '"a,', 'a,"b', 'a,b\n', 'a,b\r\n', '\na,b', 'a,\nb', 'a,\n', 'a\n,b', '"a\nb",c', '"",""', '"""",""""', '""a,b', '"a" ,b', ' "a",b', ',', ',,', '', 'a', 'a,b,c', 'a,b,',
             '"a","b",', '"a",""', '"a","', '"a",b"', '""","b"', 'a,b\nc', '"a\r\n",b', '\n', '\n\n,\n', 'a, b', '"a,""b""",""']
    for k, rule in enumerate(rules):
        yield from either(op, "string", f"rule{k}", [S([rule]), [s, s]], {})
        yield from either(op, "string", f"rule{k}-no-quotes", [S([rule]), [s, s]], {"use_quote_delim": False})
    for delim in (";", "\t", " ", "|"):
        name = {";": "semicolon", "\t": "tab", " ": "space", "|": "bar"}[delim]
        yield from either(op, "string", f"delim-{name}", [S([f"a{delim}b", f'"x{delim}"{delim}', f"{delim}"]), [s, s]], {"field_delim": delim})
    for delim in ("", "ab", "\u00e9"):
        yield from bad(op, "string", f"delim{len(delim)}-{len(delim.encode())}", [S(["a,b"]), [s, s]], field_delim=delim, static=False)
    for k, columns in enumerate(([0, 2], [1, 3], [0, 4], [3, 4], [4, 5], [2, 1], [-1, 0], [1], [0, 1, 2], [1, 1])):
        yield from either(op, "string", f"select{k}", [S(["a,b,c,d,e", '"a",b,"c,",,'] if k != 4 else ["a,b,c,d,"]), [s, s]], {"select_cols": columns})
    yield from either(op, "string", "select-skips-wrong", [S(["a,x\"y,3"]), [s, i]], {"select_cols": [0, 2]})
    yield one(op, "int32", "mixed", [S(["1,2.5,x,9,7", ",,,,", "3,,\"q\"\"\",,-1"]), [i, filler["float"], s, filler["int64"], filler["double"]]])


def json():
    op = "DecodeJSONExample"
    inside = lambda v: '{"features":{"feature":{"a":%s}}}' % v
    ints_, floats_, bytes_ = (lambda v, k=k: inside('{"%sList":{"value":[%s]}}' % (k, v)) for k in ("int64", "float", "bytes"))
    texts = {
        "object": ["{}", " { } ", '{"features":null}', '{"features":{}}', '{"features":{"feature":{}}}', '{"features":{"feature":null}}', inside("null"), inside("{}"), inside('{"int64List":null}'), inside('{"int64List":{}}'),
                   inside('{"int64List":{"value":null}}'), inside('{"int64List":{"value":[]}}'), '\n{\r"features"\t:{}}\n'],
        "lenient": ["{'features':{}}", "{features:{}}", '{"features":{},}', ints_("1,"), inside('{"int64_list":{"value":[1]}}'), inside('{"int64List":{"value":7}}'), ints_("[1,[2,[3]],null]"), inside('{"int64List":{"value":[1],"value":[2]}}'),
                    '{"features":{},"features":{"feature":{"a":{}}}}', '{"features":{"feature":{"a":{}},"feature":{"a":{},"b":{}}}}'],
        "ints": [ints_(v) for v in ("1,2,300", "-1", "0", "-0", '"5","-7"', "1.0,2e2,10e-1", "9223372036854775807,-9223372036854775808", '"1e3","1.0","01","+1"', "9007199254740992.0", "null", "12345678901234567")],
        "floats": [floats_(v) for v in ("1,2.5,-0.1", '"NaN","Infinity","-Infinity"', '"1.5"," 2","3 "', "1e38,3.4028235e38", '"1e400"', "null", "1E5,1e+2,1e-2", "16777217", '"inf","nan","0x10"', "-0.0")],
        "bytes": [bytes_(v) for v in ('"aGVsbG8="', '"aGVsbG8"', '"_-8","+/8="', '""', '"YQ==","YQ","YWI=","YWI","YWJj"', "null", '"YR=="', '"\\u0059Q=="', '"-_+/"')],
        "keys": ['{"features":{"feature":{%s:{}}}}' % k for k in ('""', "a", "_a1", '"\\"\\\'\\/\\\\"', '"\\b\\f\\n\\r\\t"', '"\\u00e9"', '"\\ud83d\\ude00"', "'a\"b'", '"a\tb"', '"\\u0000"', '"\u00e9"')],
        "several": ['{"features":{"feature":{"a":{"int64List":{"value":[1]}},"b":{"floatList":{"value":[2]}},"c":{"bytesList":{"value":["YQ"]}}}}}'],
    }
    for tag, rows in texts.items():
        for k, text in enumerate(rows):
            yield one(op, "string", f"{tag}{k}", [S(text)])
        yield many(op, "string", f"{tag}-shapes", [[S(rows)], [S([rows[:1]])], [empty()], [empty(shape=(2, 0))]])
    wrong = ["", " ", "null", "[]", "1", '"a"', "true", "{", '{"features"', '{"features":', '{"features":{}', "{}x", "{}{}", '{"foo":1}', '{"Features":{}}', '{"features":[]}', '{"features":1}', '{"features":{"x":1}}', "{,}", '{"features":{},,}',
             '{"features" {}}', "{1a:1}", "{null:1}", inside("[]"), inside("1"), inside('{"int64List":[]}'), inside('{"kind":1}'), inside('{"int64List":{"value":[1]},"floatList":{"value":[1]}}'), inside('{"int64List":{"Value":[1]}}'),
             inside('{"int64List":{},"int64_list":{}}'), '{"features":{"feature":{"a":{},"a":{}}}}', '{"features":{"feature":[]}}', "// c\n{}", "{/* c */}", b'{"features":{"feature":{"\xff":{}}}}', b"{}\x00"]
    wrong += [ints_(v) for v in ("1.5", "9223372036854775808", '"9223372036854775808"', "true", "01", "1 2", "1,,2", ",", '"x"', '""', '"1 "', "- 1", "1e", "0x10", "{}", "9223372036854775807.0", "12345678901234567.0", "nul")]
    wrong += [floats_(v) for v in ("1e40", "1e400", "true", ".5", "5.", "+1", "NaN", "Infinity", '"x"', '""', '"1e40"', "3.4028236e38", "{}")]
    wrong += [bytes_(v) for v in ("1", '"!!"', '"a"', '"YQ="', '"YQ==="', '"Y Q=="', '"="', '"YWJ=="', "true", "{}")]
    wrong += ['{"features":{"feature":{%s:{}}}}' % k for k in ('"\\x41"', '"\\a"', '"\\u12"', '"\\ud83d"', '"\\ude00"', '"\\ud83d\\u0041"', "a-b", "a.b", "$a", "12", '"a')]
    for k, text in enumerate(wrong):
        yield from bad(op, "string", f"wrong{k}", [S(text)], static=False)
    for depth in (80, 200):
        yield from either(op, "string", f"depth{depth}", [S(ints_("[" * depth + "]" * depth))], {})


# ---------------------------------------------------------------- messages of other types

FIELD = descriptor_pb2.FieldDescriptorProto
KINDS = {"double": ["double"], "float": ["float", "double"], "int64": ["int64"], "uint64": ["uint64"], "int32": ["int32", "int64"], "fixed64": ["uint64"], "fixed32": ["uint32", "uint64"], "bool": ["bool"],
         "string": ["string"], "bytes": ["string"], "uint32": ["uint32", "uint64"], "sfixed32": ["int32", "int64"], "sfixed64": ["int64"], "sint32": ["int32", "int64"], "sint64": ["int64"], "enum": ["int32"],
         "message": ["string"]}


def declared(syntax):
    """A file with a message that has fields of all kinds: optional (`o_`), repeated (`r_`), packed (`p_`), with defaults (`d_`)."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{syntax}.proto", package="t", syntax=syntax)
    enum = file.enum_type.add(name="E")
    for n in (0, 3, 7) if syntax == "proto3" else (3, 7, 0):
        enum.value.add(name=f"V{n}", number=n)
    message = file.message_type.add(name="M")

    def add(name, kind, label="OPTIONAL", **more):
        number = len(message.field) + 1
        return message.field.add(name=name, number=number, type=getattr(FIELD, "TYPE_" + kind.upper()), label=getattr(FIELD, "LABEL_" + label),
                                 type_name={"enum": ".t.E", "message": ".t.M", "group": ".t.M.G"}.get(kind), **more)

    for kind in KINDS:
        add("o_" + kind, kind)
        add("r_" + kind, kind, "REPEATED")
        if kind not in ("string", "bytes", "message"):
            add("p_" + kind, kind, "REPEATED").options.packed = True
    if syntax == "proto2":
        group = message.nested_type.add(name="G")
        group.field.add(name="x", number=1, type=FIELD.TYPE_INT32, label=FIELD.LABEL_OPTIONAL)
        add("g", "group")
        add("rg", "group", "REPEATED")
        for kind, value in (("int32", "-5"), ("string", "hello"), ("double", "inf"), ("float", "1.5"), ("bool", "true"), ("enum", "V7"), ("uint64", "18446744073709551615"), ("bytes", "a\\001b"), ("uint32", "4000000000"),
                            ("int64", "-9"), ("sint32", "-3"), ("fixed32", "6"), ("sfixed64", "-8")):
            add("d_" + kind, kind, default_value=value)
        message.extension_range.add(start=200, end=300)
        file.extension.add(name="ext", number=200, type=FIELD.TYPE_INT32, label=FIELD.LABEL_OPTIONAL, extendee=".t.M")
        needy = file.message_type.add(name="Needy")
        needy.field.add(name="must", number=1, type=FIELD.TYPE_INT32, label=FIELD.LABEL_REQUIRED)
        needy.field.add(name="other", number=2, type=FIELD.TYPE_INT32, label=FIELD.LABEL_OPTIONAL)
    return file


FILES = {syntax: declared(syntax) for syntax in ("proto2", "proto3")}
SOURCES = {syntax: b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString() for syntax, file in FILES.items()}
NUMBERS = {syntax: {f.name: f.number for f in file.message_type[0].field} for syntax, file in FILES.items()}
BITS = {"double": lambda v: struct.pack("<d", v), "float": lambda v: struct.pack("<f", v), "fixed64": lambda v: struct.pack("<Q", v), "fixed32": lambda v: struct.pack("<I", v),
        "sfixed64": lambda v: struct.pack("<q", v), "sfixed32": lambda v: struct.pack("<i", v), "sint32": lambda v: varint((v << 1 ^ v >> 31) & 0xFFFFFFFF), "sint64": lambda v: varint(v << 1 ^ v >> 63)}
WIRE = {"double": 1, "fixed64": 1, "sfixed64": 1, "float": 5, "fixed32": 5, "sfixed32": 5}
SAMPLES = {"double": [1.5, -2.25, 0.0], "float": [1.5, -2.25, 0.0], "bool": [1, 0, 1], "string": [b"a", b"", b"\xc3\xa9"], "bytes": [b"\xff", b"", b"abc"], "message": [b"\x08\x01", b"", b"\x10\x02"], "enum": [3, 7, 12],
           "uint64": [1, 2**64 - 1, 0], "fixed64": [1, 2**64 - 1, 0], "uint32": [1, 2**32 - 1, 0], "fixed32": [1, 2**32 - 1, 0], "int64": [1, -1, 2**63 - 1], "sint64": [1, -1, -2**63], "sfixed64": [1, -1, 2**40],
           "int32": [1, -1, 2**31 - 1], "sint32": [1, -1, -2**31], "sfixed32": [1, -1, 5]}


def scalar(kind, value):
    return BITS.get(kind, varint)(value)


def tag(syntax, name, wire):
    return varint(NUMBERS[syntax][name] << 3 | wire)


def written(syntax, name, values_):
    """A field's values, one by one."""
    kind = name[2:]
    if kind in ("string", "bytes", "message"):
        return b"".join(tag(syntax, name, 2) + varint(len(v)) + v for v in values_)
    return b"".join(tag(syntax, name, WIRE.get(kind, 0)) + scalar(kind, v) for v in values_)


def packed(syntax, name, values_):
    data = b"".join(scalar(name[2:], v) for v in values_)
    return tag(syntax, name, 2) + varint(len(data)) + data


def messages():
    for syntax, source in SOURCES.items():
        attrs = {"message_type": "t.M", "descriptor_source": source}

        def decode(d, name, data, fields, types, **more):
            yield from either("DecodeProtoV2", d, f"{syntax}-{name}", [data], {**attrs, "field_names": fields, "output_types": types, **more})

        for kind, allowed in KINDS.items():
            sample = SAMPLES[kind]
            for d in allowed:
                fields = ["o_" + kind, "r_" + kind] + (["p_" + kind] if "p_" + kind in NUMBERS[syntax] else [])
                rows = [b"", written(syntax, "o_" + kind, sample[:1]), written(syntax, "o_" + kind, sample), written(syntax, "r_" + kind, sample), written(syntax, "r_" + kind, sample[:1]) + written(syntax, "o_" + kind, sample[1:2])]
                if len(fields) == 3:
                    rows += [packed(syntax, "p_" + kind, sample), packed(syntax, "r_" + kind, sample), written(syntax, "p_" + kind, sample), packed(syntax, "p_" + kind, sample[:1]) + written(syntax, "p_" + kind, sample[1:]), packed(syntax, "o_" + kind, sample)]
                yield from decode(d, f"{kind}-rows", S(rows), fields, [d] * len(fields))
                yield from decode(d, f"{kind}-one", S(rows[3]), fields[::-1], [d] * len(fields))
                yield from decode(d, f"{kind}-sanitized", S(rows), fields, [d] * len(fields), sanitize=True)
                for name in fields:
                    array = T(d, np.array([sample, sample[::-1]], dtype=object) if d == "string" else np.array([sample, sample[::-1]], NUMPY[d]))
                    yield one("EncodeProto", d, f"{syntax}-{name}", [i32([[3], [1 if name.startswith("o_") else 2]]), [array]], message_type="t.M", descriptor_source=source, field_names=[name])
            other = "string" if allowed != ["string"] else "int32"
            yield from bad("DecodeProtoV2", other, f"{syntax}-{kind}-dtype", [S([b""])], static=False, **attrs, field_names=["o_" + kind], output_types=[other])
        n = lambda name, *v: written(syntax, name, v)
        order = n("o_int32", 5) + n("o_string", b"x") + n("o_int32", 6) + n("o_double", 2.5)
        yield from decode("int32", "order", S([order, b""]), ["o_double", "o_string", "o_int32"], ["double", "string", "int32"])
        yield from decode("int32", "matrix", S([[order], [b""]]), ["o_int32"], ["int32"])
        yield from decode("int32", "no-messages", empty(), ["o_int32"], ["int32"])
        yield from decode("int32", "unknown-field", S([b""]), ["zz"], ["int32"])
        yield from decode("int32", "lengths", S([b""]), ["o_int32", "o_bool"], ["int32"])
        for name, data in {"cut-key": b"\x80", "cut-varint": tag(syntax, "o_int32", 0) + b"\x80", "cut-string": tag(syntax, "o_string", 2) + b"\x05ab", "cut-unknown": b"\xfa\x3f\x05ab", "end-group": b"\x0c", "zero": b"\x00",
                           "field-zero": b"\x02\x00", "wire-seven": b"\x0f", "cut-fixed": tag(syntax, "o_double", 1) + b"abc", "other-wire": tag(syntax, "o_int32", 5) + b"abcd" + n("o_int32", 4),
                           "string-as-varint": tag(syntax, "o_string", 0) + b"\x05", "unknown-group": b"\xfb\x3f\x08\x01\xfc\x3f", "unknown-group-cut": b"\xfb\x3f\x08\x01", "empty-packed": packed(syntax, "r_int32", []),
                           "empty-packed-behind": packed(syntax, "r_int32", [1]) + packed(syntax, "r_int32", []), "packed-cut": tag(syntax, "r_int32", 2) + b"\x05\x01", "packed-cut-varint": tag(syntax, "r_int32", 2) + b"\x02\x01\x80",
                           "packed-fixed-cut": tag(syntax, "r_fixed32", 2) + b"\x03abc", "bool-great": tag(syntax, "o_bool", 0) + varint(1 << 40), "int32-great": tag(syntax, "o_int32", 0) + varint(1 << 40 | 7), "no-utf8": tag(syntax, "o_string", 2) + b"\x01\xff",
                           **{f"key-of-{bit // 7 + 1}": varint(NUMBERS[syntax]["o_int32"] << 3 | 1 << bit) + b"\x05" for bit in (32, 36, 63)}}.items():
            fields = ["o_int32", "o_string", "o_double", "r_int32", "r_fixed32", "o_bool"]
            types = ["int32", "string", "double", "int32", "uint32", "bool"]
            yield from decode("int32", f"wire-{name}", S([data]), fields, types)
            if name not in ("field-zero",):
                yield from decode("int32", f"wire-{name}-sanitized", S([data]), fields, types, sanitize=True)
        texts = ['o_int32: 5 o_string: "a" r_int32: [1, 2] r_int32: 3', "o_message { o_int64: -1 o_message { } } r_string: 'x\\n\\x41' # comment", "o_double: 1.5e3 o_bool: true o_enum: V7 o_message: <>", "", "o_int32: 0x10; o_double: inf, o_bool: t"]
        for k, text in enumerate(texts):
            yield from decode("int32", f"text{k}", S([text]), ["o_int32", "o_string", "r_int32", "o_message", "r_string", "o_double", "o_bool", "o_enum"], ["int32", "string", "int32", "string", "string", "double", "bool", "int32"], message_format="text")
        for k, text in enumerate(["zz: 5", "o_int32: ", "o_int32: x", "o_message {", "}", "o_int32: 99999999999", "o_enum: NONE", "{", "o_message { o_message { } }}", "o_enum: 12345", b'o_bytes: "\xff\\\\\xfe" o_int32: 7 # \xfd', b'o_bytes: "\\\xff"', b"\xff"]):
            yield from decode("int32", f"text-wrong{k}", S([text]), ["o_int32"], ["int32"], message_format="text")
        yield from decode("int32", "format", S([b""]), ["o_int32"], ["int32"], message_format="json")
        merged = written(syntax, "o_message", [written(syntax, "o_int32", [5])]) + written(syntax, "o_message", [written(syntax, "o_int64", [6])])
        for sanitize in (False, True):
            yield from decode("string", f"merged-{sanitize}".lower(), S([merged]), ["o_message"], ["string"], sanitize=sanitize)

        def encode(name, sizes, values_, fields, **more):
            yield from either("EncodeProto", "int32", f"{syntax}-{name}", [sizes, values_], {**attrs, "field_names": fields, **more})

        pair = [i32([[1, 2]]), S([["x"]])]
        yield from encode("order", i32([[2, 1]]), pair, ["r_int32", "o_double"])
        yield from encode("two", i32([[2, 1]]), pair, ["r_int32", "o_bytes"])
        yield from encode("sizes-zero", i32([[0, 0]]), pair, ["r_int32", "o_bytes"])
        yield from encode("sizes-negative", i32([[-1, 1]]), pair, ["p_int32", "o_bytes"])
        yield from encode("sizes-great", i32([[3, 1]]), pair, ["r_int32", "o_bytes"])
        yield from encode("sizes-rank", i32([2, 1]), pair, ["r_int32", "o_bytes"])
        yield from encode("sizes-shape", i32([[2]]), pair, ["r_int32", "o_bytes"])
        yield from encode("batches", i32([[1, 1], [1, 1]]), [i32([[1], [2]]), S([["x"]])], ["r_int32", "o_bytes"])
        yield from encode("unknown", i32([[1]]), [i32([[1]])], ["zz"])
        yield from encode("names", i32([[1]]), [i32([[1]])], ["r_int32", "o_int32"])
        yield from encode("deep", i32([[[1], [2]]]), [i32([[[1, 2], [3, 4]]])], ["r_int32"])
        yield from encode("none", i32(np.zeros((0, 1))), [i32(np.zeros((0, 3)))], ["r_int32"])
        yield from encode("vector", i32([[1]]), [i32([1])], ["r_int32"])
        yield from encode("type", i32([[1]]), [i32([[1]])], ["r_int32"], message_type="t.Other")
    source = SOURCES["proto2"]
    attrs = {"message_type": "t.M", "descriptor_source": source}
    number = NUMBERS["proto2"]
    group = lambda name, data: varint(number[name] << 3 | 3) + data + varint(number[name] << 3 | 4)
    yield one("DecodeProtoV2", "string", "groups", [S([group("g", b"\x08\x05") + group("rg", b"") + group("rg", b"\x08\x01"), b""])], **attrs, field_names=["g", "rg"], output_types=["string", "string"])
    yield one("EncodeProto", "string", "groups", [i32([[1, 2]]), [S([[b"\x08\x05", b""]]), S([[b"", b"\x08\x01"]])]], **attrs, field_names=["g", "rg"])
    defaults = {k: v for k, v in number.items() if k.startswith("d_")}
    for wide in (0, -1):
        yield one("DecodeProtoV2", "int32", f"defaults{wide}", [S([b"", varint(defaults["d_int32"] << 3) + b"\x09"])], **attrs, field_names=list(defaults), output_types=[KINDS[k[2:]][wide] for k in defaults])
    yield one("DecodeProtoV2", "int32", "extension", [S([varint(200 << 3) + b"\x05", b""])], **attrs, field_names=["t.ext", "o_int32"], output_types=["int32", "int32"])
    yield from bad("EncodeProto", "int32", "extension", [i32([[1]]), [i32([[5]])]], static=False, **attrs, field_names=["t.ext"])
    for sanitize in (False, True):
        for k, data in enumerate((b"\x08\x05", b"\x10\x05", b"")):
            yield from either("DecodeProtoV2", "int32", f"required{k}-{sanitize}".lower(), [S([data])], {"descriptor_source": source, "message_type": "t.Needy", "field_names": ["must", "other"], "output_types": ["int32", "int32"], "sanitize": sanitize})
    for k, src in enumerate((b"bytes://\xff", "/nonexistent/file", "", "remote://x", b"bytes://", "local:/")):
        yield from bad("DecodeProtoV2", "int32", f"source{k}", [S([b""])], static=False, message_type="t.M", descriptor_source=src, field_names=["o_int32"], output_types=["int32"])
    for kind, fields, types, data in (("tensorflow.Example", ["features"], ["string"], example(a=feature("int64", [1]))), ("tensorflow.TensorProto", ["dtype", "tensor_shape", "float_val", "string_val"], ["int32", "string", "float", "string"], R("float", (2, 2)).proto().SerializeToString()),
                                      ("tensorflow.SequenceExample", ["context", "feature_lists"], ["string", "string"], b"\x0a\x00"), ("tensorflow.NodeDef", ["name", "op", "input", "device"], ["string"] * 4, b"\x0a\x01n\x12\x02Op\x1a\x01x\x1a\x01y"),
                                      ("google.protobuf.Timestamp", ["seconds", "nanos"], ["int64", "int32"], b"\x08\x05\x10\x07"), ("google.protobuf.DoubleValue", ["value"], ["double"], b""), ("tensorflow.SavedModel", ["saved_model_schema_version", "meta_graphs"], ["int64", "string"], b"\x08\x01"),
                                      ("tensorflow.Event", ["wall_time", "step", "file_version"], ["double", "int64", "string"], b"\x10\x05"), ("google.protobuf.FieldDescriptorProto", ["name", "number", "label", "type"], ["string", "int32", "int32", "int32"], b"\x0a\x01x")):
        yield one("DecodeProtoV2", types[0], f"local-{kind.lower()}", [S([data, b""])], message_type=kind, field_names=fields, output_types=types)
    yield one("EncodeProto", "string", "local", [i32([[1, 2]]), [S([["n"]]), S([["x", "y"]])]], message_type="tensorflow.NodeDef", field_names=["name", "input"])
    yield from bad("DecodeProtoV2", "int32", "local-unknown", [S([b""])], static=False, message_type="foo.Bar", field_names=["x"], output_types=["int32"])


def every():
    yield from examples()
    yield from strange_examples()
    yield from sequences()
    yield from tensors()
    yield from compressed()
    yield from csv()
    yield from json()
    yield from messages()


def ask():
    """The outcomes of all calls of `either`."""
    for _ in every():
        pass
    return ASKED


def cases():
    global OUTCOMES
    OUTCOMES = golden.isolated(ask)
    yield from every()
