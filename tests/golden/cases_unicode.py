"""Characters and their encodings."""
import pathlib
import re
import sys

import numpy as np

from golden import T, bad, i32, i64, many, one
from cases_string import S, empty

BYTES = [b"a\xffb", b"\xe2\x82", b"\xe2\x82a", b"\xf0\x9f\x98", b"\xf0\x9f\x98a", b"\xc0\x80", b"\xed\xa0\x80", b"\xed\xa0", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xe0\x80\x80", b"\x80\x80", b"\xc3", b"a\xc3", b"\xef\xbb\xbfa", b"\xef\xbf\xbd",
         b"\xef\xbf\xbe", b"\x00\x01\n\x1f \x7f\xc2\x80", b"\xe2\xe2\x82\xac", b"\xf0\x80\x80\x80", b"\xf0\x9f", "\U0001f600\U0010ffff", ""]
WIDE = [b"\0a\0b", b"\0a\0", b"\xd8\x3d\xde\x00", b"\xd8\x3d\0a", b"\xde\x00\0a", b"\xd8\x3d", b"\xd8\x3d\xde", b"\xfe\xff\0a", b"\xff\xfea\0", b"a\0", b"", b"\0", b"\x3d\xd8\x00\xde", b"\0\0\0a", b"\0\0\0a\0", b"\0\0\xd8\0\0\0\0a", b"\0\x11\0\0", b"\xff\xff\xff\xff", b"\0\0\xfe\xff\0\0\0a", b"\xff\xfe\0\0a\0\0\0", b"a\0\0\0"]


def unicode():
    for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
        # With offsets and Tsplits int32 TensorFlow writes beyond its buffers.
        for kind in ("int32", "int64") if op == "UnicodeDecode" else ("int64",):
            yield many(op, kind, "utf8", [[S(BYTES)], [S("\u00e9")], [empty(0)], [S([["a", "bc"], ["", "d"]])]], input_encoding="UTF-8", Tsplits=kind)
        yield many(op, "int64", "policies", [([S(BYTES)], {"errors": e, "replace_control_characters": c, "replacement_char": r}) for e in ("replace", "ignore") for c in (False, True) for r in (65533, 0x1F600, 0, 0xD800)], input_encoding="UTF-8")
        yield one(op, "int64", "strict", [S(["a\n", "\u00e9\x1f"])], input_encoding="UTF-8", errors="strict", replace_control_characters=True, replacement_char=63)
        for encoding in ("UTF-16-BE", "UTF-16-LE", "UTF-16LE", "UTF-32-BE", "UTF-32LE"):
            yield one(op, "int64", encoding.lower(), [S(WIDE)], input_encoding=encoding)
        # One string each: TensorFlow may read the next in the byte order of the last.
        for encoding in ("UTF-16", "UTF-32"):
            yield many(op, "int64", encoding.lower(), [[S(text)] for text in WIDE], input_encoding=encoding)
        for encoding in ("utf8", "UTF_8", "utf 8", "latin1", "ISO-8859-1", "US-ASCII", "ascii", "windows-1252", "cp1252"):
            yield one(op, "int64", "named-" + encoding.lower().replace(" ", "."), [S([bytes(range(128, 256)), "a\u00e9"])], input_encoding=encoding)
        for k, text in enumerate(BYTES[:15:2]):
            yield from bad(op, "int64", f"strict{k}", [S(text)], runtime=False, input_encoding="UTF-8", errors="strict")
        yield from bad(op, "int64", "strict-second", [S(["a", b"\xff"])], input_encoding="UTF-8", errors="strict")
        yield from bad(op, "int64", "utf16", [S(b"\0a\0")], runtime=False, input_encoding="UTF-16-BE", errors="strict")
        for tag, attrs in (("encoding", {"input_encoding": "foo"}), ("encoding-empty", {"input_encoding": ""}), ("replacement", {"input_encoding": "UTF-8", "replacement_char": 0x110000}), ("replacement-negative", {"input_encoding": "UTF-8", "replacement_char": -1})):
            yield from bad(op, "int64", tag, [S("a")], runtime=False, **attrs)
    for output in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        yield many("UnicodeTranscode", "string", "to-" + output.lower(), [([S(BYTES)], {"errors": e, "replace_control_characters": c, "replacement_char": r}) for e, c, r in (
            ("replace", False, 65533), ("replace", True, 0x1F600), ("ignore", False, 65533), ("ignore", True, 0), ("replace", False, 0xD800))] + [[S("\u00e9")], [empty(2, 0)]], input_encoding="UTF-8", output_encoding=output)
        yield many("UnicodeTranscode", "string", "from-wide-to-" + output.lower(), [([S(WIDE)], {"input_encoding": e}) for e in ("UTF-16-BE", "UTF-16-LE", "UTF-32-BE")], output_encoding=output)
        for kind in ("int32", "int64"):
            yield many("UnicodeEncode", kind, "to-" + output.lower(), [([T("int32", v), T(kind, s)], {"errors": e, "replacement_char": r}) for v, s in (
                ([97, 233, 0x1F600], [0, 1, 3]), ([0xD83D, 0xDE00], [0, 2]), ([0xD83D], [0, 1]), ([-1, 97, 0x110000], [0, 0, 3]), ([0, 0x10FFFF], [0, 1, 1, 2])) for e, r in (("replace", 65533), ("replace", 0x1F600), ("ignore", 65533))], output_encoding=output)
    yield many("UnicodeEncode", "int64", "empty", [[T("int32", np.zeros(0)), i64([0])], [T("int32", np.zeros(0)), i64([0, 0])]], output_encoding="UTF-8")
    for k, text in enumerate(BYTES[:4]):
        yield from bad("UnicodeTranscode", "string", f"strict{k}", [S(text)], input_encoding="UTF-8", output_encoding="UTF-8", errors="strict")
    yield from bad("UnicodeTranscode", "string", "strict-control", [S("a\n")], input_encoding="UTF-8", output_encoding="UTF-8", errors="strict", replace_control_characters=True)
    yield from bad("UnicodeTranscode", "string", "encoding", [S("a")], runtime=False, input_encoding="bar", output_encoding="UTF-8")
    for tag, v, s, e in (("strict", [0x110000], [0, 1], "strict"), ("strict-surrogate", [0xD800], [0, 1], "strict"), ("short", [97, 98], [0, 1], "replace"), ("first", [97, 98], [1, 2], "replace"), ("beyond", [97, 98], [0, 3], "replace"), ("falls", [97, 98], [0, 2, 1, 2], "replace"),
                         ("negative", [97], [0, -1], "replace"), ("none", [97], [], "replace")):
        yield from bad("UnicodeEncode", "int64", tag, [i32(v), T("int64", np.array(s, int))], output_encoding="UTF-8", errors=e)
    r = np.random.RandomState(3)
    points = np.concatenate([np.arange(0, 0x3000, 7), r.randint(0, 0x110000, 2000), [-1, 0x110000, 2**31 - 1, -2**31, 0xD800, 0x10FFFF]])
    yield many("UnicodeScript", "int32", "values", [[i32(points)], [i32(97)], [i32(np.zeros((0, 2)))]])


SOURCES = pathlib.Path(__file__).parent / "../../kernels/string/src/encoding/names.rs"
PAIRS = ("Shift_JIS", "EUC-JP", "EUC-KR", "windows-949", "Big5", "GBK", "GB2312", "GB18030")


def encodings():
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "../tensorflow"))
    from encodings_of_icu import plain
    # A few names are others when they are reduced again.
    encoding_of = dict(re.findall(r'\("(\w+)", (.*)\),', SOURCES.read_text(encoding="utf-8")))
    encoding_of = {name: encoding for name, encoding in encoding_of.items() if plain(name) == name}
    all_bytes, few_bytes = bytes(range(256)), b"A\xc1\xb0\xa1\x80\xff\x15\x25"
    one_of_each = {encoding: name for name, encoding in encoding_of.items()}.values()
    yield many("UnicodeTranscode", "string", "encodings", [([S(all_bytes)], {"input_encoding": name}) for name in one_of_each], output_encoding="UTF-16-BE")
    yield many("UnicodeTranscode", "string", "names", [([S(few_bytes)], {"input_encoding": name}) for name in encoding_of], output_encoding="UTF-16-BE")
    for name in ("ISO_8859-01", "x-csISOLatin1", "iso 8859.1", "cp1200", "windows-1200", "x-UTF-16BE", "macos-0_2-10.2"):
        yield one("UnicodeTranscode", "string", "named-" + name.lower().replace(" ", "."), [S(few_bytes)], input_encoding=name, output_encoding="UTF-8")
    for name in ("ISO-885901", "x-x-csISOLatin1", "X-csISOLatin1", "ISO-8859-0"):
        yield from bad("UnicodeTranscode", "string", "named-" + name, [S(few_bytes)], runtime=False, input_encoding=name, output_encoding="UTF-8")
    r = np.random.RandomState(7)
    noise = [bytes(r.choice(np.array([0x20, 0x41, 0x30, 0x39, 0x7F, 0x80, 0x81, 0x8E, 0x8F, 0xA0, 0xA1, 0xC9, 0xFE, 0xFF]), 200).astype(np.uint8)) for _ in range(6)]
    for name in PAIRS:
        # Pairs whose first byte may be one of several, each in front of a letter.
        pairs = [b"".join(bytes([lead, trail]) + b"A" for trail in range(0x2F, 0x100)) for lead in range(0x80, 0x100)]
        yield one("UnicodeTranscode", "string", "pairs-" + name.lower(), [S(pairs)], input_encoding=name, output_encoding="UTF-8")
        if name == "EUC-JP":
            triples = [b"".join(bytes([0x8F, second, third]) + b"A" for third in (0x41, *range(0xA0, 0x100))) for second in (0x41, 0x8E, 0x8F, *range(0xA0, 0x100))]
            yield one("UnicodeTranscode", "string", "triples", [S(triples)], input_encoding=name, output_encoding="UTF-8")
        if name == "GB18030":
            number = np.arange(0, 126 * 10 * 126 * 10, 61)
            fours = np.stack([number // 12600 + 0x81, number // 1260 % 10 + 0x30, number // 10 % 126 + 0x81, number % 10 + 0x30], 1).astype(np.uint8)
            yield one("UnicodeTranscode", "string", "fours", [S([bytes(fours.ravel())])], input_encoding=name, output_encoding="UTF-8")
        # What follows a cut string must not go on where that was cut.
        ends = [bytes([0x8F]), bytes([0x81]), bytes([0xA1]), b"\x8f\xa1", b"\x8f\xa0", b"\x81\x30", b"\x81\x30\x81", b"A", b"\xb0\xa1", b"", b"\x81\x30\x81\x41", b"\x8f\xa1\xa1"]
        rows = [([S(noise)], {"errors": e, "replace_control_characters": c, "replacement_char": p}) for e in ("replace", "ignore") for c in (False, True) for p in (65533, 63)]
        lead = b"\x81" if name == "Shift_JIS" else b"\xa1"
        for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
            yield many(op, "int64", "noise-" + name.lower(), rows + [[S(end)] for end in ends], input_encoding=name)
            yield one(op, "int64", "strict-" + name.lower(), [S(["abc", b"\xb0\xa1\xb0\xa2", "a\n"])], input_encoding=name, errors="strict")
            for tag, text in (("lead", lead), ("pair", b"a" + lead + b" b"), ("byte", b"\xfe\xffa")):
                yield from bad(op, "int64", f"{tag}-{name.lower()}", [S(text)], input_encoding=name, errors="strict")
        yield from bad("UnicodeTranscode", "string", "strict-" + name.lower(), [S(b"a" + lead)], input_encoding=name, output_encoding="UTF-8", errors="strict")
    for name in ("KOI8-R", "ISO-8859-7", "windows-1253"):
        yield many("UnicodeDecodeWithOffsets", "int64", "single-" + name.lower(), [([S([all_bytes, "a"])], {"errors": e, "replace_control_characters": c}) for e in ("replace", "ignore") for c in (False, True)], input_encoding=name)
    yield from bad("UnicodeDecode", "int64", "unmapped", [S(b"\xd2")], input_encoding="ISO-8859-7", errors="strict")


def cases():
    for part in (unicode, encodings):
        yield from part()
