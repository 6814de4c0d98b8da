"""Writes what TensorFlow knows of encodings: kernels/string/src/encoding/{tables.bin,names.rs}.

Each name that its ICU has is asked for all single bytes, all pairs and some longer texts. Names with the same answers are
names of one encoding. Needs TensorFlow for Linux (tests/golden/requirements.txt says which version).

    python tests/tensorflow/encodings_of_icu.py
"""
import hashlib
import pathlib
import re

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parent / "../../kernels/string/src/encoding"
FAULT = 0x10FFFF
# Encodings of several bytes, by what encoding.rs calls them, and the name that is asked.
PAIRS = {"ShiftJis": "Shift_JIS", "EucJp": "EUC-JP", "EucKr": "EUC-KR", "Windows949": "windows-949", "Big5": "Big5", "Gbk": "GBK", "Gb2312": "GB2312", "Gb18030": "GB18030"}
# Encodings that are read by code of their own, likewise.
CODED = {"Utf8": "UTF-8", "Utf16(None)": "UTF-16", "Utf16(Some(Order::Big))": "UTF-16BE", "Utf16(Some(Order::Little))": "UTF-16LE",
         "Utf32(None)": "UTF-32", "Utf32(Some(Order::Big))": "UTF-32BE", "Utf32(Some(Order::Little))": "UTF-32LE", "Ascii": "US-ASCII", "Latin1": "ISO-8859-1"}
SINGLES = tf.constant([bytes([byte]) for byte in range(256)])
ALL = tf.constant([bytes([first, second]) for first in range(256) for second in range(256)])
# What tells apart encodings that read single bytes and pairs alike: longer characters, escapes, marks of the byte order.
LONGER = [bytes(text) for text in np.random.default_rng(1).integers(0x80, 0x100, (20000, 4), np.uint8)]
LONGER += [text[:3] for text in LONGER[:8000]] + [b"\x8f" + text[:2] for text in LONGER[:8000]]
LONGER += [bytes([text[0], text[1] & 0x37 | 0x30, text[2], text[3] & 0x37 | 0x30]) for text in LONGER[:8000]]
LONGER += [b"\x1b$B0!", b"\x1b$)A\x0e0!", b"\x1b$)C\x0e0!", b"\x1b(J\\~", b"~{0!~}", b"+AGE-", b"&AGE-", b"\0\0\0A", b"A\0\0\0"]
MARKED = [b"\xfe\xff\0A", b"\xff\xfeA\0", b"\0\0\xfe\xff\0\0\0A", b"\xff\xfe\0\0A\0\0\0", b"\xef\xbb\xbfA"]


def aliases():
    """All names that TensorFlow's ICU has, known to it or not: the strings of its table of aliases, which end with zeros."""
    for library in pathlib.Path(tf.__file__).parent.glob("libtensorflow_cc.so.*"):
        data = library.read_bytes()
        place = data.index(b"\0csISOLatin1\0")
        table = max(re.finditer(rb"[\0\x21-\x7e]+", data[place - 50000:place + 50000]), key=lambda run: len(run[0]))
        # A comma sets off options.
        return sorted({name.decode() for name in table[0].split(b"\0") if len(name) > 1 and b"," not in name})
    raise FileNotFoundError("libtensorflow_cc")


def plain(name):
    """The name as ICU compares them: small letters and digits, without zeros in front of other digits of a number."""
    name, letters, after = name.lower(), "", False
    for letter, following in zip(name, name[1:] + " "):
        if not re.match("[a-z0-9]", letter):
            after = False
        elif letter != "0" or after or not following.isdigit():
            letters += letter
            after = letter.isdigit() and (after or letter != "0")
    return letters


def varint(number):
    """A number in base 128, the least digits first."""
    digits = []
    while number >= 0x80:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(digits + [number])


def decode(name, texts):
    """What the texts are: row splits, characters, where they begin."""
    found = tf.raw_ops.UnicodeDecodeWithOffsets(input=texts, input_encoding=name, errors="replace", replacement_char=FAULT, Tsplits=tf.int64)
    return [part.numpy() for part in found]


def runs(table):
    """Runs of characters that follow each other: how long, and the first, more by one; 0 for what is none."""
    parts = []
    for character in table:
        if parts and (character == parts[-1][1] + parts[-1][0] if parts[-1][1] != FAULT else character == FAULT):
            parts[-1][0] += 1
        else:
            parts.append([1, character])
    return b"".join(varint(length) + varint(0 if first == FAULT else first + 1) for length, first in parts)


def main():
    known = {}  # answers -> what it is
    tables, names = [], {}
    for which, name in CODED.items():
        known[fingerprint(name)] = f"Encoding::{which}"
    for which, name in PAIRS.items():
        known[fingerprint(name)] = f"Encoding::Pairs(Pairs::{which})"
    for name in aliases():
        if plain(name) in names:
            continue
        try:
            found = fingerprint(name)
        except tf.errors.InvalidArgumentError:
            continue
        if found not in known:
            characters = decode(name, SINGLES)[1]
            if not all(is_by_bytes(name, texts, characters) for texts in (SINGLES, ALL, LONGER)):
                continue
            known[found] = f"Encoding::Single({len(tables)})"
            tables.append(characters.tolist())
        names[plain(name)] = known[found]
    write_names(names)
    OUT.joinpath("tables.bin").write_bytes(b"".join(map(runs, tables)))
    print(len(tables), "tables", len(names), "names")


def write_names(names):
    """Writes names.rs: each encoding with its names."""
    encodings = {}
    for name, which in sorted(names.items()):
        encodings.setdefault(which, []).append(name)
    rows = [f'    ({which}, "{" ".join(names)}"),' for which, names in encodings.items()]
    OUT.joinpath("names.rs").write_text(
        "//! Written by tests/tensorflow/encodings_of_icu.py.\n\nuse super::pairs::Pairs;\nuse super::{Encoding, Order};\n\n"
        "/// Encodings with their names, as [`Encoding::from_name`] reduces them.\n#[rustfmt::skip]\n"
        f"pub(super) static NAMES: [(Encoding, &str); {len(rows)}] = [\n" + "\n".join(rows) + "\n];\n", encoding="utf-8")


def is_by_bytes(name, texts, characters):
    """Whether the characters of texts are those of their bytes, one by one."""
    splits, found, _ = decode(name, texts)
    texts = texts.numpy().tolist() if isinstance(texts, tf.Tensor) else texts
    return np.diff(splits).tolist() == [len(text) for text in texts] and found.tolist() == [characters[byte] for byte in b"".join(texts)]


def fingerprint(name):
    """What tells an encoding from others."""
    digest = hashlib.sha256()
    for texts in (SINGLES, ALL, LONGER, *([text] for text in MARKED)):
        for part in decode(name, texts):
            digest.update(part.tobytes())
    return digest.digest()


if __name__ == "__main__":
    main()
