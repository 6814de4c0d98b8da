"""Text: parts, numbers, bytes, what tensors look like in print."""
import numpy as np

from golden import NUMPY, T, bad, dtypes, f32, i32, i64, many, one, R
from cases_string import S, TEXTS, empty


def texts():
    rows = S(TEXTS)
    for unit in ("BYTE", "UTF8_CHAR"):
        yield many("StringLength", "string", unit.lower(), [[rows], [S("\u00e9")], [empty(2, 0)], [S([b"\x80\x80a", b"\xf0\x9f"])]], unit=unit)
    cased = S(["", "aBc", "\u00c0\u00c9\u00df", "\u0391\u03a3 \u039f\u0394\u039f\u03a3", "\u0130I\u0131i", b"\xffA\xe2\x82", b"\xed\xa0\x80aB", b"\xf0\x9f\x98Z", "\u0149\u01f0", "\u01c4\u01c5\u01c6", "\ufb01", "\u1e9e", "\U0001e900",
               "\u03ac\u0390", "\u0345", "\u03a3", "a\u03a3", "a\u03a3.", "a\u03a3b", b"\x00aB", b"aB\x00cD", "\ufeffA", "\u1fb3", "\u10a0\u10d0", "\u0561\u0587", "Stra\u00dfe"])
    for op in ("StringLower", "StringUpper"):
        for encoding in ("", "utf-8"):
            yield many(op, "string", encoding or "bytes", [[cased], [S("Abc")], [empty(0, 2)], [rows]], encoding=encoding)
        yield from bad(op, "string", "encoding", [S("a")], runtime=False, encoding="UTF-8")
    yield many("StringStrip", "string", "values", [[S(["", " ", "a", " a b\t\n", "\v\f\r x", "\u00a0x\u00a0", "\x1cx", b" \x00 "])], [S(" a ")], [empty(0)]])


def parts():
    short = lambda kind: [(1, 3), (-3, 2), (5, 1), (0, 0), (1, -1), (-2, -1), (-5, 9), (0, 100)]
    for kind in ("int32", "int64"):
        yield many("Substr", kind, "byte", [[S("hello"), T(kind, p), T(kind, n)] for p, n in short(kind)])
        yield many("Substr", kind, "char", [[S(s), T(kind, p), T(kind, n)] for s in ("\u00e9a\u00fc", b"\x80\x80a", "\U0001f600")
                                            for p, n in ((0, 1), (1, 1), (-1, 1), (0, -1), (0, 9), (-1, 5))][:15], unit="UTF8_CHAR")
        yield many("Substr", kind, "broadcast", [[S(s), T(kind, p), T(kind, n)] for s, p, n in (
            (["abc", "def"], [0, 1], [1, 2]), (["abc", "def"], [[0], [1]], [[1], [2]]), ([["abc", "def"]], [0, 1], [1, 2]), ("abc", [0, 1], [1, 2]), ([[["abc"]]], [[[0]]], [[[1]]]), ([["ab", "cd"], ["ef", "gh"]], 1, 1), ([["ab"], ["cd"]], [[0, 1]], [[1, 1]]))])
        yield many("Substr", kind, "empty", [[empty(0), T(kind, 0), T(kind, 1)], [empty(0), T(kind, np.zeros(0)), T(kind, np.zeros(0))], [S("abc"), T(kind, np.zeros(0)), T(kind, np.zeros(0))], [empty(2, 0), T(kind, [[0], [1]]), T(kind, [[0], [1]])]])
        for tag, s, p, n, unit in (("high", "hello", 6, 1, "BYTE"), ("low", "hello", -6, 1, "BYTE"), ("char-high", "\u00e9a", 3, 1, "UTF8_CHAR"), ("char-low", "\u00e9a", -3, 1, "UTF8_CHAR"), ("char-length", "\u00e9a", -1, -1, "UTF8_CHAR"), ("second", ["abc", "d"], 2, 1, "BYTE")):
            yield from bad("Substr", kind, tag, [S(s), T(kind, p), T(kind, n)], unit=unit)
        yield from bad("Substr", kind, "lengths", [S(["abc"]), T(kind, [0, 1]), T(kind, [1])])
        yield from bad("Substr", kind, "shapes", [S(["a", "b", "c"]), T(kind, [0, 0]), T(kind, [1, 1])])
        yield from bad("Substr", kind, "rank3", [S([[["abc"]]]), T(kind, [0, 1]), T(kind, [1, 2])])
    for p, n in ((-2**63, 1), (2**63 - 1, 1)):
        for unit in ("BYTE", "UTF8_CHAR"):
            yield from bad("Substr", "int64", f"extreme{p}-{unit}".replace("-9", "m9"), [S("abc"), i64(p), i64(n)], unit=unit)
    yield many("Substr", "int64", "longest", [([S("abc"), i64(1), i64(2**63 - 1)], {"unit": u}) for u in ("BYTE", "UTF8_CHAR")])


FLOATS = [0.0, -0.0, 1.5, -123456.789, 1e-10, 3e20, 0.1, 100000, 1e6, 1e16, 0.0001, 0.00001, 2.5, 999999.5, 1 / 3, np.nan, np.inf, -np.inf]


def as_text():
    for d in ("float", "double", "half", "bfloat16", "complex64", "complex128"):
        x = T(d, np.array(FLOATS)) if not d.startswith("complex") else T(d, np.array(FLOATS[:15]) * (1 - 2j))
        yield many("AsString", d, "forms", [([x], a) for a in ({}, {"scientific": True}, {"shortest": True}, {"precision": 2}, {"precision": 0}, {"precision": 3, "shortest": True}, {"precision": 0, "scientific": True}, {"precision": 20}, {"precision": 0, "shortest": True}, {"precision": 17, "shortest": True}, {"precision": -5})])
        if d in ("half", "bfloat16", "complex128"):
            continue
        yield many("AsString", d, "fills", [([x], {"width": 12, "precision": 2, "fill": f, **a}) for f in ("", "0", "-", "+", " ", "#") for a in ({}, {"shortest": True}, {"scientific": True})])
    yield many("AsString", "double", "extreme", [([T("double", [1e-300, 1.7976931348623157e308, 2.2250738585072014e-308])], a) for a in ({}, {"precision": 1200}, {"shortest": True, "precision": 1200}, {"scientific": True, "precision": 1200}, {"width": 700, "fill": "0"})])
    yield many("AsString", "float", "sharp", [([f32(FLOATS)], {"width": 12, "fill": "#", **a}) for a in ({"precision": 0}, {"shortest": True}, {"scientific": True, "precision": 0}, {"shortest": True, "precision": 0})])
    for d in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
        low, high = np.iinfo(NUMPY[d]).min, np.iinfo(NUMPY[d]).max
        yield many("AsString", d, "fills", [([T(d, np.array([0, 5, low, high], NUMPY[d]))], {"width": w, "fill": f}) for w, f in ((-1, ""), (-1, "0"), (0, "0"), (5, ""), (5, "0"), (5, "-"), (5, "+"), (5, " "), (5, "#"), (25, "0"))])
        yield from bad("AsString", d, "precision", [T(d, 1)], runtime=False, precision=1)
    yield many("AsString", "bool", "values", [([T("bool", [True, False])], a) for a in ({}, {"width": 8}, {"width": 8, "fill": "0"})])
    yield many("AsString", "string", "values", [([S(TEXTS)], a) for a in ({}, {"width": 4}, {"width": 4, "fill": "-"}, {"width": 4, "fill": "0"}, {"precision": 2}, {"scientific": True}, {"shortest": True, "precision": 1})])
    yield many("AsString", "string", "precision", [([S(TEXTS)], {"width": w, "precision": p, "fill": f}) for w in (-1, 0, 3, 9) for p in (0, 1, 4) for f in ("", "-")])
    yield many("AsString", "float", "shapes", [[f32(1)], [f32(np.zeros((2, 0)))], [R("float", (2, 1, 3))]])
    for tag, d, attrs in (("scientific", "int32", {"scientific": True}), ("shortest", "bool", {"shortest": True}), ("both", "float", {"scientific": True, "shortest": True}), ("fill", "float", {"width": 4, "fill": "x"}), ("fill-long", "float", {"fill": "00"}), ("fill-without-width", "float", {"fill": "x"}), ("bool-precision", "bool", {"precision": 1})):
        yield from bad("AsString", d, tag, [S("1") if d == "string" else T(d, 1)], runtime=False, **attrs)


GOOD = ["1", "1.5", " 2 ", "\t3\n", "1e5", "1E5", "1e400", "-1e400", "1e-400", "0x1A", "0x1p3", "-0x1P-2", "0x1.8", "0X.8", "0x123456789abcdef01234", "0x1p-1075", "inf", "-inf", "+inf", "Infinity", "INF", "nan", "NaN", "nan(1)", "1.", ".5", "+1", "3.4028236e38", "1.17549435e-38", "1e-45", "7e-46", "0.1", "16777217", "9007199254740993", "-0", "1e99999999999", "00012"]
WRONG = ["", " ", ".", "abc", "--1", "+-1", "- 1", "1 2", "1f", "1_0", "0b1", "1e", "1e+", "e5", "1,5", "+", "-", "0x", "0xg", "in", "infi", "nan(", "nan(-)", "\u0661", b"1\x00", b"\xff"]


def as_numbers():
    for d in ("float", "double"):
        yield one("StringToNumber", d, "values", [S(GOOD)], out_type=d)
        for k, text in enumerate(WRONG):
            yield from bad("StringToNumber", d, f"text{k}", [S(text)], runtime=False, out_type=d)
    for d in ("int32", "int64", "uint32", "uint64"):
        low, high = np.iinfo(NUMPY[d]).min, np.iinfo(NUMPY[d]).max
        yield many("StringToNumber", d, "values", [[S(["1", " 2 ", "\t3\n", "\v4", "+1", "00012", str(low) if low else "0", str(high)])], [S("7")], [empty(0, 2)]], out_type=d)
        for k, text in enumerate(["", "abc", "1.5", "1e5", "0x1A", "- 1", "1 2", "+", "-", str(high + 1), str(low - 1), "99999999999999999999"] + ([] if low else ["-0"])):
            yield from bad("StringToNumber", d, f"text{k}", [S(text)], runtime=False, out_type=d)
    yield from bad("StringToNumber", "int32", "second", [S(["1", "x", "y"])], out_type="int32")


def raw():
    data = bytes(range(1, 49))
    for d in dtypes("DecodeRaw", "out_type"):
        for little in (True, False):
            yield many("DecodeRaw", d, "little" if little else "big", [[S([data, data[::-1]])], [S(data)], [empty(0, 2)], [S(["", ""])], [S([[b"\0" * 16], [b"\0\1" * 8]])]], out_type=d, little_endian=little)
        if np.dtype(NUMPY[d]).itemsize > 1:
            yield from bad("DecodeRaw", d, "size", [S(b"abc")], runtime=False, out_type=d)
    yield from bad("DecodeRaw", "uint8", "sizes", [S(["ab", "abc"])], out_type="uint8")
    for d in dtypes("DecodePaddedRaw", "out_type"):
        yield many("DecodePaddedRaw", d, "little", [[S(["abc", "defghijklmnopqrst", "", "0123456789abcdef"]), i32(16)], [S("a"), i32(8)], [empty(0), i32(8)], [S([["a"], ["b"]]), i32(24)]], out_type=d)
        # Big-endian strings that are too short TensorFlow reads beyond their end.
        yield many("DecodePaddedRaw", d, "big", [[S(["0123456789abcdef", "0123456789abcdefgh"]), i32(16)]], out_type=d, little_endian=False)
    for tag, n in (("multiple", 3), ("zero", 0), ("negative", -2), ("vector", [2])):
        yield from bad("DecodePaddedRaw", "int16", tag, [S(["a"]), i32(n)], out_type="int16")


def base64():
    values = S([bytes(range(n)) for n in range(12)] + [b"\xff\xfe\xfd", b"\xfb\xef", "x" * 100])
    for pad in (True, False):
        yield many("EncodeBase64", "string", f"pad-{pad}".lower(), [[values], [S("a")], [empty(0, 2)]], pad=pad)
    yield many("DecodeBase64", "string", "values", [[S(["YWI", "YWI=", "YQ==", "YQ", "", "-_-_", "YWJj", "YWJjZA", "ab", "YR", "YWK", "YWJjZGVm", "YWJjZGU="])], [S("YQ")], [empty(0)]])
    for k, text in enumerate(["Y", "+/", "YQ=", "Y===", "YQ=a", "YW=j", "====", "=", "YW J", "YWI=YWI=", b"Y\x80JJ", "YWJjZ", "YQ==\n", "YQ==YQ"]):
        yield from bad("DecodeBase64", "string", f"text{k}", [S(text)], runtime=False)


def more_joins():
    x = S([["a", "b", "c"], ["d", "e", "f"]])
    cube = R("string", (2, 3, 2))
    for keep in (False, True):
        yield many("ReduceJoin", "string", f"keep-{keep}".lower(), [[x, i32(k)] for k in (0, 1, [0], [-1], [0, 1], [1, 0], np.zeros(0), [-2, 1])] + [[cube, i32(k)] for k in ([2, 0], [1], [0, 1, 2], [2, 1, 0])]
                   + [[S("a"), i32(np.zeros(0))], [empty(0, 2), i32([0])], [empty(0, 2), i32([1])], [empty(2, 0), i32([1])]], keep_dims=keep, separator="-")
    yield one("ReduceJoin", "string", "no-separator", [x, i32([0, 1])])
    yield one("ReduceJoin", "string", "separator-bytes", [x, i32([0, 1])], separator=b"\xff\xe9")
    for tag, k in (("high", 2), ("low", -3), ("twice", [0, 0]), ("twice-negative", [1, -1])):
        yield from bad("ReduceJoin", "string", tag, [x, i32(k)])
    for ids in ("int32", "int64"):
        for count in ("int32", "int64"):
            yield many("UnsortedSegmentJoin", ids + "-" + count, "values", [[S(["a", "", "b", "c", "", "d"]), T(ids, [1, 0, 1, 0, 0, 3]), T(count, 5)], [x, T(ids, [1, 1]), T(count, 2)], [x, T(ids, [[0, 1, 0], [2, 2, 0]]), T(count, 3)], [S([["x", "y"], ["z", "w"], ["u", "v"]]), T(ids, [2, 0, 2]), T(count, 3)],
                                                                            [empty(0), T(ids, np.zeros(0)), T(count, 2)], [empty(0), T(ids, np.zeros(0)), T(count, 0)]], separator=":")
    for tag, v, k, n in (("high", ["a", "b"], [0, 2], 2), ("negative", ["a", "b"], [0, -1], 2), ("scalar", "a", 0, 1), ("rank", ["a"], [[0]], 1), ("shape", ["a", "b"], [0], 1)):
        yield from bad("UnsortedSegmentJoin", "int32-int32", tag, [S(v), i32(k), i32(n)])
    yield one("UnsortedSegmentJoin", "int32-int32", "separator-bytes", [S(["a", "b", "c"]), i32([0, 0, 0]), i32(1)], separator=b"\xff")


def formats():
    show = [[1, 2], [3, 4]]
    for d in ("float", "double", "half", "bfloat16", "int8", "int32", "int64", "uint8", "uint64", "bool", "string", "complex64", "qint8", "quint8", "qint16", "quint16", "qint32", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"):
        x = R(d, (2, 7), 1)
        yield many("StringFormat", d, "limits", [([[x]], {"summarize": n}) for n in ((3, 1, 0, -1, 100) if d in ("float", "string", "int32") else (1,))] + [[[R(d, ())]], [[R(d, (0,))]], [[R(d, (2, 0, 3))]]])
    for d in ("float", "double", "half", "bfloat16"):
        yield one("StringFormat", d, "numbers", [[T(d, np.array([*FLOATS, 123456789.0, 1e-7, 16777217, 0.3, 1e300 if d == "double" else 1e30, 12345.678]))]], summarize=-1)
    for tag, n, t, p in (("template-bytes", 2, b"\xff\xe9{}\x00{}\xc3", "{}"), ("placeholder-bytes", 2, b"a\xffb\xffc", b"\xff"), ("no-placeholder-bytes", 1, b"\xc3\xa9", "")):
        yield one("StringFormat", "int32", tag, [[i32(k) for k in range(n)]], template=t, placeholder=p)
    yield one("StringFormat", "string", "escapes", [[S(["a\n\t\r", "\"'\\", b"\x00\x01\x7f\xff", "\u00e9"])]], summarize=-1)
    yield many("StringFormat", "int32", "ranks", [([[T("int32", np.arange(np.prod(s)).reshape(s))]], {"summarize": n}) for s in ((3, 4), (2, 3, 4), (1, 1, 1), (5, 5, 5), (2, 2, 2, 2)) for n in (1, 2, 3)])
    yield many("StringFormat", "int32", "templates", [([[i32(k) for k in range(n)]], {"template": t, "placeholder": p}) for n, t, p in (
        (0, "", "%s"), (0, "none", "%s"), (1, "%s", "%s"), (2, "a%sb%sc", "%s"), (2, "{}{}", "{}"), (1, "aaa", "aa"), (2, "abc", ""), (0, "", ""), (2, "\u00e9%s%s\u00e9", "%s"))])
    for tag, n, t in (("few", 1, "%s %s"), ("many", 2, "%s"), ("none", 1, "x")):
        yield from bad("StringFormat", "int32", tag, [[i32(k) for k in range(n)]], runtime=False, template=t)


def cases():
    for part in (texts, parts, as_text, as_numbers, raw, base64, more_joins, formats):
        yield from part()
