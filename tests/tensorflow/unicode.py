"""Writes what TensorFlow knows of characters: kernels/string/src/unicode/{categories,scripts,orbits}.bin and scripts.rs.

TensorFlow holds two versions of Unicode: ICU's for UnicodeScript, RE2's for regular expressions. Both are asked. Needs
TensorFlow (tests/golden/requirements.txt says which version) and the names of scripts, from Unicode's Scripts.txt or
any text that has them, one word each.

    python tests/tensorflow/unicode.py NAMES
"""
import pathlib
import re
import sys

import numpy as np
import tensorflow as tf

OUT = pathlib.Path(__file__).parent / "../../kernels/string/src/unicode"
COUNT = 0x110000
CATEGORIES = "Cc Cf Co Cs Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs".split()


def encode(character):
    """A character in UTF-8, surrogates like any other."""
    return chr(character).encode("utf-8", "surrogatepass")


ALL = tf.constant(np.array([encode(c) for c in range(COUNT)], object))


def members(pattern, texts=ALL):
    """Which of the texts RE2 matches; None if it refuses the pattern."""
    try:
        return tf.raw_ops.StaticRegexFullMatch(input=texts, pattern=pattern).numpy()
    except tf.errors.InvalidArgumentError:
        return None


def varint(number):
    """A number in base 128, the least digits first."""
    digits = []
    while number >= 0x80:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(digits + [number])


def runs(values):
    """Pairs of a length and a value."""
    starts = np.flatnonzero(np.diff(values, prepend=-1))
    lengths = np.diff(np.append(starts, len(values)))
    return b"".join(varint(int(n)) + varint(int(values[s])) for s, n in zip(starts, lengths))


def categories():
    """The category of each character, 0 for none."""
    values = np.zeros(COUNT, int)
    for number, name in enumerate(CATEGORIES, 1):
        values[members(f"\\p{{{name}}}")] = number
    return runs(values)


def scripts(names):
    """The script of each character as a number of a pair of RE2's name and ICU's number, and the pairs."""
    icu = tf.raw_ops.UnicodeScript(input=tf.range(COUNT)).numpy()
    named = np.full(COUNT, "", object)
    for name in names:
        found = members(f"\\p{{{name}}}")
        if found is not None:
            named[found] = name
    pairs = sorted(set(zip(named, icu.tolist())))
    number = {pair: k for k, pair in enumerate(pairs)}
    return runs(np.array([number[pair] for pair in zip(named, icu.tolist())])), pairs


def orbits():
    """The sets of characters that RE2 takes for one another if case does not count: sizes, then distances."""
    cased = [c for c in range(COUNT) if not 0xD800 <= c < 0xE000
             and any(f(chr(c)) != chr(c) for f in (str.lower, str.upper, str.title, str.casefold))]
    texts = tf.constant(np.array([encode(c) for c in cased], object))
    data, seen = b"", set()
    for c in cased:
        if c in seen:
            continue
        orbit = [cased[k] for k in np.flatnonzero(members(f"(?i)\\x{{{c:x}}}", texts))]
        seen.update(orbit)
        if len(orbit) > 1:
            data += varint(len(orbit)) + varint(orbit[0]) + b"".join(varint(b - a) for a, b in zip(orbit, orbit[1:]))
    return data


def main():
    names = sorted(set(re.findall(r"\b[A-Z][A-Za-z_]+\b", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))))
    OUT.mkdir(exist_ok=True)
    (OUT / "categories.bin").write_bytes(categories())
    data, pairs = scripts(names)
    (OUT / "scripts.bin").write_bytes(data)
    lines = "".join(f'    ("{name}", {number}),\n' for name, number in pairs)
    (OUT / "scripts.rs").write_text(
        "//! Written by tests/tensorflow/unicode.py.\n\n"
        "/// Scripts: what RE2 calls them, and their numbers in ICU, whose Unicode is older.\n"
        f"pub(super) const SCRIPTS: [(&str, i32); {len(pairs)}] = [\n{lines}];\n")
    (OUT / "orbits.bin").write_bytes(orbits())


if __name__ == "__main__":
    main()
