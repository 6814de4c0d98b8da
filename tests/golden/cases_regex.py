"""Regular expressions, in the syntax of RE2."""
import numpy as np

from golden import bad, many, one
from cases_string import S, empty

MATCHES = [
    ("^s3://.*", ["s3://bucket", "s3://", "x s3://", "s3://a\nb"]), ("a|ab", ["a", "ab", "abc", ""]), ("", ["", "a"]), (".", ["a", "\u00e9", "\n", b"\xff", b"\xe9", b"\xed\xa0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xf4\x8f\xbf\xbf"]),
    ("[^a]", ["a", "\u00e9", "\n", b"\xff", b"\xed\xa0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80"]), ("[^a\u00e9]", ["a", "\u00e8", "\n", b"\xff", b"\xed\xa0\x80", b"\xe0\x80\x80", b"\xf4\x90\x80\x80"]),
    (r"[\x{d7f0}-\x{e010}]", [b"\xed\xa0\x80", b"\xed\xbf\xbf", "\ue010", "\ue011", "\ud7f0", "\ud7ef"]), (r"[\x{d855}-\x{daaa}]", [b"\xed\xa1\x94", b"\xed\xa1\x95", b"\xed\xaa\xaa", b"\xed\xaa\xab", b"\xed\xa9\x80"]), (r"\x{d800}", [b"\xed\xa0\x80", b"\xed\xa0\x81"]),
    (r"\W", [b"\xed\xa0\x80", "a", "\u00e9", "-"]), (r"\s", [" ", "\x0b", "\x85", "\u00a0", "\t", "\f"]), ("[[:space:]]", ["\x0b", " ", "x"]), (r"\S+", ["ab", "a b", "\x0b"]), (r"\d+", ["123", "12a", "\u0661"]), (r"[\d_]+", ["1_2", "a"]), (r"[\D]", ["1", "x"]),
    ("(?i)k", ["K", "k", "\u212a", "j"]), ("(?i)[k-m]+", ["KLM", "\u212al", "n"]), ("(?i)\u00df", ["\u1e9e", "SS", "\u00df"]), (r"(?i)\W", ["\u212a", "k", "-"]), ("(?i)[^k]", ["\u212a", "k", "x"]), (r"(?i)\p{Lu}", ["a", "A", "1"]), (r"(?i)\P{Lu}", ["a", "A", "1"]), (r"(?i)[^\P{Lu}]", ["a", "A", "1"]),
    ("(?i)\u03c3+", ["\u03c2\u03a3\u03c3"]), ("(?i)\u0131", ["I", "i", "\u0131"]), ("(?i:a)b", ["Ab", "AB"]), ("(?i)a(?-i)b", ["Ab", "AB"]), ("a(?i)b", ["aB", "AB"]), ("(a(?i)b)c", ["aBc", "aBC"]), ("(?m)a$\n^b", ["a\nb"]), ("a$", ["a", "a\n"]), ("(?s).*", ["a\nb", b"\xff"]), ("(?s).", ["\n"]), ("(?U)a+", ["aaa"]),
    (r"\Ba", ["a"]), (r"\bab\b", ["ab"]), (r"\Aab\z", ["ab"]), (r"\C\C", ["\u00e9", "ab", b"\xff\xff", "a"]), (r"\Qa*b\E+", ["a*b", "a*bb", "aab"]), (r"\Qa.b", ["a.b", "axb"]), (r"a{2}", ["aa", "a"]), ("a{2,}", ["aaaa", "a"]), ("a{2,3}?", ["aa", "aaaa"]), ("a{,2}", ["a{,2}", "aa"]), ("a{", ["a{"]), ("a{02}", ["a{02}", "aa"]), ("{", ["{"]), ("x{2}{", ["xx{"]),
    ("(ab)*?c", ["ababc", "c"]), ("(?:ab)+", ["abab", "aba"]), ("(?P<n>a)(?P<m>b)", ["ab"]), ("(?P<n>a)(?P<n>b)", ["ab", "a"]), ("x*", ["", "xx"]), ("[]a]", ["]", "a", "b"]), ("[^]a]", ["]", "b"]), ("[a-]", ["-", "a"]), ("[-a]", ["-"]), ("[[a]", ["[", "a"]), ("[a&&b]", ["&", "a"]), (r"[\]\\]", ["]", "\\"]), (r"[\x41-\x{43}]", ["B", "D"]), (r"\x41\101\n\t\a\f\r\v", ["AA\n\t\a\f\r\v"]), (r"\0\01\012", ["\x00\x01\n"]), (r"\12", ["\n"]),
    (r"\pN", ["1", "a", "\u00b2"]), (r"\p{Greek}+", ["\u03b1\u03b2", "ab"]), (r"\p{^Lu}", ["a", "A"]), (r"\P{^Lu}", ["a", "A"]), (r"[\p{Han}a]+", ["\u65e5a", "b"]), (r"\p{Any}", ["a", b"\xed\xa0\x80"]), (r"\pZ", [" ", "\u2028"]), (r"\p{Cs}", [b"\xed\xa0\x80"]), (r"\p{Yi}", ["\ua000"]), (r"\p{Braille}", ["\u2800"]), (r"[^\pL]", ["1", "a", "\n"]),
    ("[[:alpha:]]+", ["abc", "a1"]), ("[[:^alpha:]]", ["1", "a", "\n"]), ("[[:word:][:punct:]]+", ["a_!", " "]), ("[[:xdigit:]]+", ["aF0", "g"]), ("[[:ascii:]]", ["\x7f", "\u0080"]), ("[[:cntrl:]]", ["\x7f", "a"]), ("[[:graph:]]", ["!", " "]), ("[[:print:]]", [" ", "\n"]), ("[[:blank:]]", ["\t", "\n"]), ("[[:upper:]]", ["A", "a"]), ("(?i)[[:upper:]]", ["A", "a", "\u017f"]), ("[[:lower:]]", ["a"]), ("[[:alnum:]]", ["0"]), ("[[:digit:]]", ["9"]),
    ("^*", [""]), (r"\b+a", ["a"]), ("b(?i)*", ["b", "bbb"]), (r"\<\>\_\-", ["<>_-"]), ("(|a)*", ["aa", ""]), ("(a*)*", ["aaa", ""]), ("(a*)+", ["aaa", ""]), ("(a|b)*abb", ["aababb", "ab"]), ("\u65e5.\u8a9e", ["\u65e5\u672c\u8a9e"]), ("a||b", ["", "a", "b"]), ("()", [""]), ("(?:)", [""]), (".{1000}", ["x" * 1000, "x" * 999]), ("(" * 200 + "a" + ")" * 200, ["a"]), ("(a{100}){10}", ["a" * 1000, "a" * 100]),
]
REFUSED = ["a**", "a{2}{3}", "a*+", "*a", "a|*", "(*)", "(?i)*", "a{1001}", "(a{100}){11}", "((a{100}){100}){100}", "a{2,1}", "[a", "[", "[]", "[^", "(a", "(?:a", "a)", ")", "\\", r"\q", r"\8", r"\1", r"\x4", r"\x{110000}", r"\x{", r"\x{}", r"\x{41", r"\x", r"\h", r"\Z", r"\E",
           "[b-a]", r"[a-\d]", r"\p{Foo}", r"\p{greek}", r"\p{Grek}", r"\p{Letter}", r"\p{Cn}", r"\p{", r"\p", r"\pq", "[[:foo:]]", "(?x)a", "(?i", "(?", "(?-)", "(?i-)", "(?--i)", "(?=a)", "(?P=n)", "(?<n>a)", "(?P<n", "(?P<>a)", "(?P<n!>a)", r"[\b]", r"[\z]", "a(?i", "\\Qa\\E*\\E"]
REPLACEMENTS = [
    ("a*", "X", ["baac", "", "\u00e9", b"\xe9\xe9", b"\xff\xc3", b"a\xf4\x90\x80\x80", b"a\xed\xa0\x80", b"a\xe0\x80\x80", b"a\xf0\x80\x80\x80", "a\U0001f600"]), ("", "-", ["abc", "\u00e9", b"\xed\xa0\x80", ""]), ("(a)(b)?", r"[\0|\1|\2]", ["abaa", "b"]), ("(a)", r"\2", ["ab"]), ("a", "x\\", ["a", "b", "aa"]),
    ("a", r"x\q", ["aba", "b"]), ("(a)", r"x\qy\1", ["aba"]), ("(a)", r"x\q\2", ["aba"]), ("a", r"\\", ["a"]), ("b", "X", ["abab", "b"]), ("^", "X", ["ab\ncd"]), ("(?m)^", "X", ["ab\ncd", "\n"]), ("$", "X", ["ab\ncd"]), ("(?m)$", "X", ["ab\ncd"]), (r"\b", "|", ["ab cd"]), ("^a", "X", ["aaa"]), (".*", "X", ["abc", "a\nb"]), ("(?:a|b)*?", "X", ["ab"]),
    ("(" + ")(".join("abcdefghijkl") + ")", r"\9\0\1", ["abcdefghijklm"]), (r"(\w+)@(\w+)", r"\2 at \1", ["me@home, you@work"]), ("[[:punct:]]", "", ["a.b,c!"]), ("\u00e9", "e", ["\u00e9t\u00e9"]), ("(?i)the", "a", ["The the tHe"]), ("", "", ["abc"]), ("(a|ab)(c|bcd)(d*)", r"<\1,\2,\3>", ["abcd"]), ("x", r"\0\0", ["axb"]), ("(a+?)(a*)", r"[\1,\2]", ["aaa"]), ("(?U)(a+)(a*)", r"[\1,\2]", ["aaa"]),
    ("a.b", "-", ["a\u00e9b a\nb a b"]), ("(a)|(b)", r"<\1\2>", ["abc"]), (r"\C", ".", ["\u00e9a"]),
]


def patterns():
    for k, (pattern, texts) in enumerate(MATCHES):
        yield one("StaticRegexFullMatch", "string", f"form{k}", [S(texts)], pattern=pattern)
        if k % 8 == 0:
            yield one("RegexFullMatch", "string", f"form{k}", [S(texts), S(pattern)])
    for k, pattern in enumerate(REFUSED):
        yield from bad("StaticRegexFullMatch", "string", f"pattern{k}", [S("a")], runtime=False, pattern=pattern)
    yield from bad("RegexFullMatch", "string", "pattern", [S("a"), S("(")])
    yield from bad("RegexFullMatch", "string", "pattern-bytes", [S("a"), S(b"\xff")])
    yield from bad("StaticRegexFullMatch", "string", "pattern-bytes", [S("a")], runtime=False, pattern=b"\xff")
    yield from bad("StaticRegexReplace", "string", "pattern-bytes", [S("a")], runtime=False, pattern=b"\xff", rewrite="")
    yield one("StaticRegexReplace", "string", "rewrite-bytes", [S(["abab", "b"])], pattern="(a)", rewrite=b"\xff\\1")
    yield from bad("RegexFullMatch", "string", "pattern-vector", [S("a"), S(["a"])])
    yield many("RegexFullMatch", "string", "shapes", [[empty(0, 3), S("a")], [S("a"), S("a")], [S([["a", "b"], ["c", "a"]]), S("a|c")]])
    yield many("StaticRegexFullMatch", "string", "shapes", [[empty(0, 3)], [S("a")], [S([["a", "b"], ["c", "a"]])]], pattern="a|c")
    for k, (pattern, rewrite, texts) in enumerate(REPLACEMENTS):
        for every in (True, False):
            yield one("StaticRegexReplace", "string", f"form{k}-{'all' if every else 'first'}", [S(texts)], pattern=pattern, rewrite=rewrite, replace_global=every)
        if k % 4 == 0:
            yield one("RegexReplace", "string", f"form{k}", [S(texts), S(pattern), S(rewrite)])
    yield one("RegexReplace", "string", "first", [S(["aaa", "b"]), S("a"), S("x")], replace_global=False)
    yield many("RegexReplace", "string", "shapes", [[empty(0, 3), S("a"), S("b")], [S("a"), S("a"), S("b")], [S([["a", "b"], ["c", "a"]]), S("a|c"), S("-")]])
    yield from bad("StaticRegexReplace", "string", "pattern", [S("a")], runtime=False, pattern="(", rewrite="")
    yield from bad("RegexReplace", "string", "pattern", [S("a"), S("["), S("")])
    yield from bad("RegexReplace", "string", "pattern-vector", [S("a"), S(["a"]), S("")])
    yield from bad("RegexReplace", "string", "rewrite-vector", [S("a"), S("a"), S(["b"])])


def cases():
    yield from patterns()
