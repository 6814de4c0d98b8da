"""Assertions, printing, summaries."""
import numpy as np

from golden import Case, T, bad, dtypes, f32, i32, many, one, R


def S(values):
    """A tensor of strings; texts become UTF-8."""
    encode = lambda v: [encode(x) for x in v] if isinstance(v, list) else v.encode() if isinstance(v, str) else v
    return T("string", np.array(encode(values), object))



def then(op, dtype, tag, inputs, fails, dynamic=False, **attrs):
    """A case of an op without outputs: what runs after it."""
    case = Case(f"{op}/{dtype}/{tag}", fails=fails)
    node = case.apply(op, inputs, dynamic=dynamic, keep=[], **attrs)
    case.apply("Identity", [f32(1)], name="after", control=[node])
    return case


def assertions():
    for tag, condition, data, limit in (("values", False, [f32([1.5, 2, 3, 4]), S("abc"), i32([[1, 2], [3, 4]])], 3), ("none", False, [f32(np.zeros(0))], -1), ("vector", [False], [i32(1)], 3), ("true-vector", [True], [i32(1)], 3)):
        for dynamic in (False, True):
            yield then("Assert", "float", f"error-{tag}" + "-runtime" * dynamic, [T("bool", condition), data], True, dynamic, summarize=limit)
    yield then("Assert", "float", "holds", [T("bool", True), [f32([1]), S("a")]], False)


def summaries():
    for d in dtypes("ScalarSummary"):
        yield many("ScalarSummary", d, "values", [[S(["a", "", "loss/x"]), R(d, (3,))], [S("t"), R(d, ())]])
        yield many("HistogramSummary", d, "values", [[S("h"), R(d, (50,))], [S(""), R(d, (3, 2))], [S("e"), R(d, (0,))], [S("s"), R(d, ())]])
    yield many("ScalarSummary", "float", "odd", [[S(["a", "b", "c", "d"]), f32([np.nan, np.inf, -0.0, 0.0])], [T("string", np.zeros((0,), object)), f32(np.zeros(0))], [S([["a"], [b"\xff"]]), f32([[1], [2]])]])
    yield one("ScalarSummary", "double", "large", [S(["a", "b"]), T("double", [1e300, 1 / 3])])
    yield one("ScalarSummary", "int64", "large", [S(["a", "b", "c"]), T("int64", [2**62 + 2**38 + 1, 2**24 + 1, -2**63])])
    yield one("HistogramSummary", "double", "range", [S("a"), T("double", [1e300, -1e300, 1.79e308, 1e-300, -1e-13, 0.0, -0.0, 1e-12, 1.1e-12, 1e20, -1e20])])
    yield one("HistogramSummary", "float", "many", [S("a"), R("float", (1000,), 3, 1e3)])
    yield from bad("ScalarSummary", "float", "shapes", [S(["a"]), f32([1, 2])])
    yield from bad("ScalarSummary", "float", "ranks", [S(["a"]), f32(1)])
    yield from bad("HistogramSummary", "float", "tags", [S(["a"]), f32([1])])
    yield from bad("HistogramSummary", "float", "nan", [S("a"), f32([1, np.nan])])
    yield from bad("HistogramSummary", "float", "infinity", [S("a"), f32([-np.inf])])
    a, b = S(b"\n\x08\n\x01a\x15\x00\x00\x80?"), S([b"\n\x05\x15\x00\x00\x00\x00\n\t\n\x02\xc3\xbf\x15\x00\x00\x00\x80", b""])
    yield many("MergeSummary", "string", "values", [[[a, b]], [[b]], [[b, b, S(b"\n\x05\x15\x00\x00\x00\x00")]][:1] and [[S(b"\n\x05\x15\x00\x00\x00\x00"), S(b"\n\x05\x15\x00\x00\x00\x00")]], [[T("string", np.zeros((0, 2), object))]]])
    yield from bad("MergeSummary", "string", "duplicate", [[a, a]])
    yield from bad("MergeSummary", "string", "malformed", [[S(b"\n\xff")]])
    yield from bad("MergeSummary", "string", "malformed-value", [[S(b"\n\x02\n\x05")]])


def passing():
    for d in ("float", "string", "int32"):
        for op, attrs in (("Print", {"first_n": 0, "message": "m"}), ("Print", {"first_n": 0})):
            yield one(op, d, "silent" + str(len(attrs)), [R(d, (2, 3)), [f32(1), S("a")]], **attrs)
    for stream in ("nowhere", "", "file://"):
        yield then("PrintV2", "string", "error-stream-" + stream.replace(":", "").replace("/", ""), [S("a")], True, output_stream=stream)
    for dynamic in (False, True):
        yield then("PrintV2", "string", "error-vector" + "-runtime" * dynamic, [S(["a"])], True, dynamic)
    yield then("PrintV2", "string", "nothing", [S("")], False, end="")
    case = Case("Timestamp/double/later")
    case.apply("Greater", [(case.apply("Timestamp", [], keep=[]), "double"), T("double", 1.7e9)], name="later")
    yield case
    for op in ("CheckNumerics", "CheckNumericsV2"):
        for d in dtypes(op):
            yield many(op, d, "values", [[R(d, (2, 3))], [R(d, ())], [R(d, (0,))]], message="m")
            for tag, v in (("nan", np.nan), ("inf", np.inf), ("negative", -np.inf)):
                yield from bad(op, d, tag, [T(d, np.array([1, v]))], static=False, message="m")


def media():
    yield many("AudioSummaryV2", "float", "values", [([S("a"), f32(np.linspace(-1.5, 1.5, 24).reshape(s)), f32(r)], {"max_outputs": m}) for s in ((4, 6), (2, 6, 2), (1, 24, 1), (1, 2, 12)) for r in (44100, 0.3, 8000.5) for m in (1, 3)])
    yield one("AudioSummaryV2", "float", "none", [S("a"), f32(np.zeros((0, 5))), f32(1)])
    yield many("AudioSummaryV2", "float", "odd", [[S("a"), f32([[1.0]]), f32([8000])], [S("a"), f32(np.zeros((2, 0))), f32(8000)], [S(""), f32([[0.5, np.inf, -np.inf]]), f32(1e9)]])
    for tag, t, x, r in (("tag", ["a"], [[1.0]], 1), ("rank", "a", [1.0], 1), ("rate", "a", [[1.0]], 0), ("rate-32", "a", [[1.0]], 2.0 ** 32), ("rate-large", "a", [[1.0]], 1e30), ("channels", "a", np.zeros((1, 1, 0)), 1)):
        yield from bad("AudioSummaryV2", "float", tag, [S(t), f32(x), f32(r)])
    for tag, t, s in (("tag", ["a"], (1, 2, 2, 1)), ("rank", "a", (2, 2, 1)), ("channels", "a", (1, 2, 2, 2))):
        yield from bad("ImageSummary", "float", tag, [S(t), R("float", s)])
    for d in dtypes("TensorSummary"):
        for op, inputs in (("TensorSummary", lambda x: [x]), ("TensorSummaryV2", lambda x: [S("tag"), x, S(b"\n\x03\n\x01p")])):
            yield many(op, d, "values", [inputs(R(d, s)) for s in ((2, 3), (), (0, 2), (1, 1, 4))])
    yield one("TensorSummaryV2", "float", "no-metadata", [S(""), f32([1, 2]), S("")])
    yield from bad("TensorSummaryV2", "float", "tag", [S(["a"]), f32(1), S("")])
    yield from bad("TensorSummaryV2", "float", "metadata", [S("a"), f32(1), S([""])])


def writers():
    """Ops that write summaries to a folder where nothing can be made, or for a writer that nobody made; then with one that is there."""
    u8, i64 = (lambda v: T("uint8", v)), (lambda v: T("int64", v))
    color, image = u8([255, 0, 0, 255]), f32(np.linspace(-1, 1, 12).reshape((1, 2, 2, 3)))
    create = [S("/dev/null"), i32(1), i32(1), S(".x")]
    adding = [
        ("FlushSummaryWriter", []), ("CloseSummaryWriter", []), ("ImportEvent", [S(b"")]), ("ImportEvent", [S(b"\xff")]),
        ("WriteSummary", [i64(1), f32([1, 2]), S("t"), S("")]), ("WriteRawProtoSummary", [i64(1), S([b"", b""])]),
        ("WriteRawProtoSummary", [i64(1), S(b"\xff")]), ("WriteScalarSummary", [i64(1), S("t"), f32(1)]),
        ("WriteScalarSummary", [i64(1), S("t"), T("bfloat16", 1)]), ("WriteHistogramSummary", [i64(1), S("t"), f32([1, 2])]),
        ("WriteHistogramSummary", [i64(1), S("t"), f32([1, np.nan])]), ("WriteHistogramSummary", [i64(1), S("t"), T("bfloat16", [1])]),
        ("WriteImageSummary", [i64(1), S("t"), image, color]), ("WriteImageSummary", [i64(1), S("t"), image, u8([1])]),
        ("WriteImageSummary", [i64(1), S("t"), image, u8([[1]])]), ("WriteImageSummary", [i64(1), S("t"), f32(np.zeros((1, 2, 2, 2))), color]),
        ("WriteImageSummary", [i64(1), S("t"), f32(np.zeros((2, 2, 3))), color]), ("WriteAudioSummary", [i64(1), S("t"), f32([[1, 0]]), f32(8)]),
        ("WriteAudioSummary", [i64(1), S("t"), f32([[1, 0]]), f32(0)]),
        ("WriteGraphSummary", [i64(1), S(b"")]), ("WriteGraphSummary", [i64(1), S(b"\xff")]),
    ]
    failing = {3, 6, 8, 10, 11, 13, 14, 15, 16, 18, 20}
    for k, (op, inputs) in enumerate(adding):
        for made in (False, True):
            fails = not made or k in failing
            case = Case(f"{op}/string/{'writes' if made else 'error-no-writer'}-{k}" if not fails or not made else f"{op}/string/error-{k}", fails=fails)
            handle = case.apply("SummaryWriter", [], name="writer", keep=[], shared_name=f"{op}{k}{made}")
            control = []
            if made:
                folder = S(f"/tmp/kernlink-summaries/{op}")
                control = [case.apply("CreateSummaryFileWriter", [(handle, "resource"), folder, i32(1), i32(100000), S(".x")], name="create", keep=[])]
            node = case.apply(op, [(handle, "resource"), *inputs], keep=[], control=control)
            case.apply("Identity", [f32(1)], name="after", control=[node])
            yield case
    case = Case("CreateSummaryFileWriter/string/error-no-folder", fails=True)
    handle = case.apply("SummaryWriter", [], name="writer", keep=[], shared_name="none")
    node = case.apply("CreateSummaryFileWriter", [(handle, "resource"), *create], keep=[])
    case.apply("Identity", [f32(1)], name="after", control=[node])
    yield case


def cases():
    for part in (assertions, summaries, passing, media, writers):
        yield from part()
