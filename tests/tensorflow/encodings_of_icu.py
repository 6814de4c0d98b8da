"""Writes what TensorFlow knows of encodings by bytes: kernels/string/src/encoding/{tables.bin,names.rs}.

Each name below is asked for all single bytes and all pairs. Names with the same answers are names of one encoding. Needs
TensorFlow (tests/golden/requirements.txt says which version).

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
NAMES = """
Shift_JIS MS_Kanji csShiftJIS windows-31j csWindows31J x-sjis x-ms-cp932 cp932 windows-932 cp943c IBM-943C ms932 pck sjis ibm-943_P15A-2003 shiftjis
EUC-JP Extended_UNIX_Code_Packed_Format_for_Japanese csEUCPkdFmtJapanese X-EUC-JP eucjis ujis ibm-954 ibm-33722 eucjp
EUC-KR KS_C_5601-1987 windows-51949 csEUCKR ibm-970 euckr korean ksc_5601 ksc5601 KS_C_5601-1989 ks_x_1001:1992 windows-949 cp949 ms949 ibm-1363 csKSC56011987 iso-ir-149 cp1363 windows-20949 5601
Big5 csBig5 windows-950 x-windows-950 x-big5 ms950 cp950 ibm-1373 ibm-950 Big5-HKSCS big5hk cn-big5 x-x-big5
GBK CP936 MS936 windows-936 ibm-1386 GB2312 csGB2312 gb2312-1980 EUC-CN ibm-1383 ibm-eucCN hp15CN euccn chinese gb_2312-80 iso-ir-58 csISO58GB231280 GB18030 gb18030-2000 ibm-1392 windows-54936 x-gbk csgbk
ISO-8859-2 latin2 csISOLatin2 iso-ir-101 l2 8859_2 cp912 912 ibm-912 ISO_8859-2:1987
ISO-8859-3 latin3 csISOLatin3 iso-ir-109 l3 8859_3 cp913 913 ibm-913 ISO_8859-3:1988
ISO-8859-4 latin4 csISOLatin4 iso-ir-110 l4 8859_4 cp914 914 ibm-914 ISO_8859-4:1988
ISO-8859-5 cyrillic csISOLatinCyrillic iso-ir-144 8859_5 cp915 915 ibm-915 ISO_8859-5:1988
ISO-8859-6 arabic csISOLatinArabic iso-ir-127 ECMA-114 ASMO-708 8859_6 cp1089 1089 ibm-1089 ISO_8859-6:1987 ISO-8859-6-I ISO-8859-6-E
ISO-8859-7 greek greek8 ELOT_928 ECMA-118 csISOLatinGreek iso-ir-126 8859_7 cp813 813 ibm-813 ibm-9005 ISO_8859-7:1987 sun_eu_greek
ISO-8859-8 hebrew hebrew8 csISOLatinHebrew iso-ir-138 ISO-8859-8-I ISO-8859-8-E 8859_8 cp916 916 ibm-916 ibm-5012 ISO_8859-8:1988 logical visual
ISO-8859-9 latin5 csISOLatin5 iso-ir-148 l5 8859_9 cp920 920 ibm-920 ECMA-128 turkish turkish8 ISO_8859-9:1989
ISO-8859-10 iso-ir-157 l6 csISOLatin6 latin6 ISO_8859-10:1992 ISO-8859-11 thai8 x-iso-8859-11 ISO-8859-13 8859_13 cp921 921 ibm-921 latin7 ISO-8859-14 iso-ir-199 latin8 iso-celtic l8 ISO_8859-14:1998
ISO-8859-15 Latin-9 l9 8859_15 latin0 csisolatin0 csisolatin9 iso8859_15_fdis cp923 923 ibm-923 latin9 csISO885915
windows-874 TIS-620 MS874 cp874 windows-874-2000 ibm-874 ibm-9066 tis620.2533 eucTH cp9066
windows-1250 cp1250 ibm-5346 ibm-1250 windows-1251 cp1251 ANSI1251 ibm-5347 ibm-1251 windows-1253 cp1253 ibm-5349 ibm-1253 windows-1254 cp1254 ibm-5350 ibm-1254 windows-1255 cp1255 ibm-9447 ibm-1255 windows-1256 cp1256 ibm-9448 ibm-1256 windows-1257 cp1257 ibm-9449 ibm-1257 windows-1258 cp1258 ibm-5354 ibm-1258 ibm-5348 ibm-1252
KOI8-R koi8 csKOI8R cp878 ibm-878 koi8r KOI8-U koi8u ibm-1168
macintosh mac csMacintosh x-macroman windows-10000 x-mac-roman macroman x-mac-greek macgr windows-10006 x-mac-cyrillic mac-cyrillic maccy windows-10007 x-mac-ce macce windows-10029 x-mac-centraleurroman x-mac-turkish mactr windows-10081
IBM437 cp437 437 csPC8CodePage437 windows-437 IBM850 cp850 850 csPC850Multilingual windows-850 IBM851 cp851 IBM852 cp852 852 csPCp852 windows-852 IBM855 cp855 855 csIBM855 windows-855 csPCp855 IBM856 cp856 IBM857 cp857 857 csIBM857 windows-857
IBM00858 CCSID00858 CP00858 PC-Multilingual-850+euro cp858 IBM858 windows-858 ibm-858 IBM860 cp860 860 csIBM860 IBM861 cp861 861 cp-is csIBM861 windows-861 IBM862 cp862 862 csPC862LatinHebrew DOS-862 windows-862
IBM863 cp863 863 csIBM863 IBM864 cp864 csIBM864 IBM865 cp865 865 csIBM865 IBM866 cp866 866 csIBM866 windows-866 IBM867 IBM868 CP868 cp-ar csIBM868 IBM869 cp869 869 cp-gr csIBM869 windows-869 ibm-720 windows-720 DOS-720 ibm-737 IBM737 cp737 737 windows-737 ibm-775 IBM775 cp775 775 csPC775Baltic windows-775 ibm-922 cp922 922 ibm-1098 cp1098 ibm-1124 cp1124 ibm-1125 cp1125 ibm-1129 ibm-1131 cp1131 ibm-1133
hp-roman8 roman8 r8 csHPRoman8 ibm-1051 x-roman8 VISCII TCVN ibm-4909 ibm-901 ibm-902 ibm-1162 ibm-1163 ibm-1164 ibm-5351 ibm-5352 ibm-5353
IBM037 cp037 ebcdic-cp-us ebcdic-cp-ca ebcdic-cp-wt ebcdic-cp-nl csIBM037 037 cpibm37 IBM273 cp273 IBM277 IBM278 IBM280 IBM284 IBM285 IBM297 IBM420 IBM424 IBM500 cp500 ebcdic-cp-be ebcdic-cp-ch csIBM500 500 IBM870 cp870 IBM871 IBM1026 cp1026 ibm-1047 IBM1047 cp1047 1047 IBM01140 cp1140 IBM01141 IBM01142 IBM01143 IBM01144 IBM01145 IBM01146 IBM01147 IBM01148 IBM01149
""".split()
SINGLES = tf.constant([bytes([byte]) for byte in range(256)])
ALL = tf.constant([bytes([first, second]) for first in range(256) for second in range(256)])


def plain(name):
    """The name as encodings are looked up: small letters and digits, without zeros in front of numbers."""
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    return re.sub(r"(?<![0-9])0+", "", letters)


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
    for which, name in PAIRS.items():
        known[fingerprint(name)] = f"Encoding::Pairs(Pairs::{which})"
    for name in NAMES:
        try:
            found = fingerprint(name)
        except tf.errors.InvalidArgumentError:
            print("unknown:", name)
            continue
        if found not in known:
            splits, characters, _ = decode(name, SINGLES)
            pairs, all_characters, _ = decode(name, ALL)
            single = (np.diff(splits) == 1).all() and (np.diff(pairs) == 2).all()
            if not single or (all_characters.reshape(-1, 2)[:, 1].reshape(256, 256) != characters).any():
                print("of several bytes, and none of those that are known:", name)
                continue
            known[found] = f"Encoding::Single({len(tables)})"
            tables.append(characters.tolist())
        names[plain(name)] = known[found]
    lines = [f'    ("{name}", {which}),' for name, which in sorted(names.items())]
    OUT.joinpath("names.rs").write_text(
        "//! Written by tests/tensorflow/encodings_of_icu.py.\n\nuse super::Encoding;\nuse super::pairs::Pairs;\n\n"
        "/// The names of encodings by bytes, as [`Encoding::from_name`] reduces them, in order.\n"
        f"pub(super) static NAMES: [(&str, Encoding); {len(lines)}] = [\n" + "\n".join(lines) + "\n];\n", encoding="utf-8")
    OUT.joinpath("tables.bin").write_bytes(b"".join(map(runs, tables)))
    print(len(tables), "tables", len(lines), "names")


def fingerprint(name):
    """What tells an encoding from others."""
    digest = hashlib.sha256()
    for texts in (SINGLES, ALL):
        for part in decode(name, texts):
            digest.update(part.tobytes())
    return digest.digest()


if __name__ == "__main__":
    main()
