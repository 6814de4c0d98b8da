"""Strings: hashing, joining, cutting."""
import numpy as np

from golden import NUMPY, T, bad, dtypes, f32, i32, i64, many, one, R


def S(values):
    """A tensor of strings; texts become UTF-8."""
    encode = lambda v: [encode(x) for x in v] if isinstance(v, list) else v.encode() if isinstance(v, str) else v
    return T("string", np.array(encode(values), object))


TEXTS = ["", "a", "ab", " ", "a b", "Hello, World!", "\u00e9t\u00e9", "\u65e5\u672c\u8a9e", "\U0001f600 x", b"\xff\xfe", b"a\x00b", "x" * 100]


def empty(*shape):
    return T("string", np.zeros(shape, object))


def hashes():
    texts = S(["".join(chr(33 + (7 * k + n) % 90) for k in range(n)) for n in [*range(0, 70), 95, 96, 127, 128, 129, 191, 192, 193, 1000]])
    for op in ("StringToHashBucketFast", "StringToHashBucket"):
        for buckets in (1, 10, 2**31 - 1, 2**62):
            yield many(op, "string", f"buckets{buckets}", [[texts], [S(TEXTS)]], num_buckets=buckets)
        yield many(op, "string", "shapes", [[S("scalar")], [empty(0)], [empty(2, 0, 3)], [R("string", (2, 1, 2, 3))]], num_buckets=97)
    for key in ([0, 0], [1, 2], [-1, 2**62], [2**63 - 1, -2**63]):
        yield many("StringToHashBucketStrong", "string", "key" + "_".join(map(str, key)).replace("-", "m"), [[texts], [S(TEXTS)], [empty(0)]], num_buckets=2**62, key=key)
    for key in ([], [1], [1, 2, 3]):
        yield from bad("StringToHashBucketStrong", "string", f"key{len(key)}", [S("a")], num_buckets=3, key=key)
    method = S("farmhash64")
    for d in dtypes("Fingerprint") or NUMPY:
        if d in NUMPY and d != "string":
            yield many("Fingerprint", d, "rows", [[R(d, (3, 5)), method], [R(d, (4,)), method], [R(d, (0, 3)), method]])
    yield many("Fingerprint", "string", "rows", [[S([["a", "b"], ["", "cde"]]), method], [S(TEXTS), method], [empty(0, 2), method], [R("string", (2, 3, 4)), method], [S([["a"], ["b"]]), method]])
    yield many("Fingerprint", "float", "shapes", [[R("float", (2, 3, 4, 5)), method], [R("float", (2, 0)), method], [R("float", (3, 1)), method]])
    yield from bad("Fingerprint", "float", "method", [f32([1]), S("md5")])
    yield from bad("Fingerprint", "float", "method-vector", [f32([1]), S(["farmhash64"])])
    yield from bad("Fingerprint", "float", "scalar", [f32(1), method])


def joins():
    yield many("StringJoin", "string", "shapes", [[[S("a"), S("b")]], [[S(["a", "b"]), S("-"), S(["c", "d"])]], [[S("x"), S([["a", "b"]])]], [[empty(0), S("a")]],
                                                  [[R("string", (2, 1, 3)), R("string", (2, 1, 3), 1)]], [[S(TEXTS)]], [[S(["a"]), S("b")]]])
    yield many("StringJoin", "string", "separator", [[[S("a"), S("b"), S("")]], [[S(TEXTS), S(TEXTS)]], [[S("a")]]], separator=", ")
    yield one("StringJoin", "string", "separator-utf8", [[S("a"), S("b")]], separator="\u2192")
    yield one("StringJoin", "string", "separator-bytes", [[S("a"), S("b")]], separator=b"\xff\x00\xe9")
    yield one("StringJoin", "string", "none", [[]])
    yield from bad("StringJoin", "string", "shapes", [[S(["a"]), S(["b", "c"])]])
    yield from bad("StringJoin", "string", "ranks", [[S(["a"]), S([["b"]])]])


def cuts():
    rows = S(["a,b;;c", " x ", "", ",", "aa,,b,", "\u00e9;\u00e8", b"\xff,\x00", ";,;", "a b\tc"])
    for skip in (True, False):
        yield many("StringSplit", "string", f"skip-{skip}".lower(), [[rows, S(d)] for d in (",", ",;", "", " ", "\u00e9", b"\xff", "zz")]
                   + [[empty(0), S(",")], [S([""]), S("")]], skip_empty=skip)
    yield from bad("StringSplit", "string", "matrix", [S([["a"]]), S(",")])
    yield from bad("StringSplit", "string", "scalar", [S("a"), S(",")])
    yield from bad("StringSplit", "string", "delimiters", [S(["a"]), S([","])])
    rows = S(["aaab\t c \x0b d  ", "", " ", "a,,b,", b"\xc3\xa9x\xc3\xa9\xa0\x85y\x1c z", ",a,,", "\r\n x \f", "aaaa", "one"])
    for limit in (-1, 0, 1, 2, 5, -7):
        yield many("StringSplitV2", "string", f"maxsplit{limit}".replace("-", "m"), [[rows, S(s)] for s in ("", "aa", ",", "\u00e9", ",,", "z", " ")] + [[empty(0), S("")], [empty(0), S(",")]], maxsplit=limit)
    yield from bad("StringSplitV2", "string", "matrix", [S([["a"]]), S(",")])
    yield from bad("StringSplitV2", "string", "separators", [S(["a"]), S([","])])


def ngrams():
    attrs = dict(separator="|", left_pad="LP", right_pad="RP", pad_width=0, preserve_short_sequences=False)
    data = S(["a", "b", "c", "d", "e", "f", "", "hh"])
    for kind in ("int32", "int64"):
        splits = T(kind, np.array([0, 4, 4, 5, 8]))
        for widths in ([1], [2], [3], [2, 3], [3, 1], [5], [], [9, 2]):
            for pad in (0, 1, -1, 4):
                for short in (False, True):
                    if kind == "int32" and (short or pad == 4):
                        continue
                    if short and pad < 0 and not widths:
                        yield from bad("StringNGrams", kind, "short-pad", [data, splits], static=False, ngram_widths=widths, **{**attrs, "pad_width": pad, "preserve_short_sequences": short})
                        continue
                    tag = f"widths{'-'.join(map(str, widths))}-pad{pad}-short{int(short)}".replace("pad-", "padm")
                    yield one("StringNGrams", kind, tag, [data, splits], ngram_widths=widths, **{**attrs, "pad_width": pad, "preserve_short_sequences": short})
        for tag, d, s in (("no-data", empty(0), [0, 0, 0]), ("no-rows", empty(0), []), ("only-zero", empty(0), [0])):
            yield one("StringNGrams", kind, tag, [d, T(kind, np.array(s, int))], ngram_widths=[2], **{**attrs, "pad_width": -1})
        yield one("StringNGrams", kind, "rows-without-splits", [data, T(kind, np.array([], int))], ngram_widths=[2], **attrs)
        for tag, s in (("first", [1, 8]), ("falls", [0, 5, 3, 8]), ("beyond", [0, 9]), ("short", [0, 7]), ("negative", [0, -1, 8])):
            yield from bad("StringNGrams", kind, "splits-" + tag, [data, T(kind, np.array(s))], ngram_widths=[2], **attrs)
    yield one("StringNGrams", "int64", "empty-separator", [data, i64([0, 8])], ngram_widths=[2], **{**attrs, "separator": "", "left_pad": "", "right_pad": "", "pad_width": 1})
    yield one("StringNGrams", "int64", "bytes", [data, i64([0, 4, 8])], ngram_widths=[2], **{**attrs, "separator": b"\xff", "left_pad": b"\xc3(", "right_pad": b"\xed\xa0\x80", "pad_width": 1})
    for width in (0, -1):
        yield from bad("StringNGrams", "int64", f"width{width}".replace("-", "m"), [data, i64([0, 8])], ngram_widths=[2, width], **attrs)
    # TensorFlow counts in 32 bits; what just fits is more than there is memory for.
    for tag, row, widths, pad in (("width", 3, [2**31 - 1], -1), ("second", 3, [1, 2**31 - 1], -1), ("pad", 3, [2**30], 2**31 - 1), ("least-of-three", 3, [2**31 - 1], 2**30 - 3), ("least-of-two", 2, [2**31 - 1], 2**30 - 2), ("least-of-none", 0, [2**31 - 1], 2**30 - 1)):
        yield from bad("StringNGrams", "int64", f"overflow-{tag}", [S(["a"] * 3), i64([0, row, 3])], static=False, ngram_widths=widths, **{**attrs, "pad_width": pad})
    yield one("StringNGrams", "int64", "overflow-of-nothing", [S([]), i64([0, 0])], ngram_widths=[2**31 - 1], **{**attrs, "pad_width": -1})
    yield one("StringNGrams", "int64", "width-beyond-rows", [S(["a"] * 3), i64([0, 3])], ngram_widths=[2**31 - 1], **{**attrs, "pad_width": 5})
    yield from bad("StringNGrams", "int64", "matrix", [S([["a"]]), i64([0, 1])], runtime=False, ngram_widths=[2], **attrs)
    yield from bad("StringNGrams", "int64", "splits-matrix", [S(["a"]), i64([[0, 1]])], runtime=False, ngram_widths=[2], **attrs)


def cases():
    for part in (hashes, joins, cuts, ngrams):
        yield from part()
