"""Matrices: diagonals, bands, sums of products, cross products."""
import numpy as np

import golden
from golden import T, dtypes, f32, i32, i64, many, one, R, some, tol

def bad(*args, static=None, **attrs):
    """As golden.bad, but at run time only: the tests of shape functions have the other half."""
    return golden.bad(*args, static=False, **attrs)


def diagonals():
    for d in dtypes("Diag"):
        yield many("Diag", d, "values", [[R(d, s)] for s in ((3,), (2, 2))])
        yield many("DiagPart", d, "values", [[R(d, s)] for s in ((3, 3), (2, 3, 2, 3))])
    yield many("Diag", "float", "shapes", [[R("float", s)] for s in ((0,), (2, 0), (1, 2, 3), (2, 1, 2))])
    yield many("DiagPart", "float", "shapes", [[R("float", s)] for s in ((0, 0), (2, 0, 2, 0), (1, 2, 2, 1, 2, 2), (1, 1))])
    yield from bad("Diag", "float", "scalar", [f32(1)])
    for tag, s in (("odd", (2, 2, 2)), ("different", (2, 3))):
        yield from bad("DiagPart", "float", tag, [R("float", s)])
    for d in dtypes("MatrixDiag"):
        yield many("MatrixDiag", d, "values", [[R(d, s)] for s in ((3,), (2, 2))])
        yield many("MatrixDiagPart", d, "values", [[R(d, s)] for s in ((2, 3), (2, 3, 2))])
        yield many("MatrixSetDiag", d, "values", [[R(d, s), R(d, t, 1)] for s, t in (((2, 3), (2,)), ((2, 3, 2), (2, 2)))])
        yield many("MatrixBandPart", d, "values", [[R(d, (2, 3, 4)), i64(a), i64(b)] for a, b in some(d, ((1, 0), (0, 1), (-1, 2), (2, -1), (0, 0)), 2)])
        pad = R(d, (), 7)
        yield many("MatrixDiagV2", d, "values", [[R(d, s), i32(k), i32(m), i32(n), pad] for s, k, m, n in some(d, (((2, 3), [-1, 0], 3, 4), ((3,), 1, -1, -1)))])
        yield many("MatrixDiagPartV2", d, "values", [[R(d, (2, 3, 4)), i32(k), pad] for k in some(d, ([-1, 1], 1, [0, 2]), 2)])
        yield many("MatrixSetDiagV2", d, "values", [[R(d, (2, 3, 4)), R(d, s, 1), i32(k)] for s, k in some(d, (((2, 2, 3), [-1, 0]), ((2, 2), 2)), 2)])
        for align in some(d, ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")):
            tag = align.lower().replace("_", "-")
            yield many("MatrixDiagV3", d, tag, [[R(d, (5, 4)), i32([-2, 2]), i32(4), i32(4), pad]], align=align)
            yield many("MatrixDiagPartV3", d, tag, [[R(d, (3, 4)), i32([-2, 3]), pad]], align=align)
            yield many("MatrixSetDiagV3", d, tag, [[R(d, (3, 4)), R(d, (4, 3), 1), i32([-1, 2])]], align=align)
    yield many("MatrixDiag", "float", "shapes", [[R("float", s)] for s in ((0,), (2, 0), (0, 2), (1, 1))])
    yield many("MatrixDiagPart", "float", "shapes", [[R("float", s)] for s in ((0, 3), (3, 0), (2, 0, 3), (1, 2, 3, 4), (1, 1))])
    yield many("MatrixSetDiag", "float", "shapes", [[R("float", s), R("float", t, 1)] for s, t in (((0, 3), (0,)), ((3, 0), (0,)), ((2, 4, 3), (2, 3)))])
    for kind in (i32, i64):
        yield many("MatrixBandPart", "float", "index-" + kind([0]).dtype, [[R("float", s), kind(a), kind(b)] for s, a, b in (
            ((3, 3), 1, 1), ((3, 3), 3, 3), ((5, 2), 2, 0), ((2, 5), 0, 3), ((0, 3), 0, 0), ((2, 3, 0), -1, 0), ((2, 1, 3, 3), -1, 0), ((7, 7), 0, -1))])
    for tag, s, a, b in (("vector", (3,), 0, 0), ("lower", (3, 4), 4, 0), ("upper", (3, 4), 0, 5), ("lower-vector", (3, 4), [1], 0), ("upper-vector", (3, 4), 1, [0])):
        yield from bad("MatrixBandPart", "float", tag, [R("float", s), i64(a), i64(b)], static=False)
    zero = f32(0)
    for v, extra in (("V2", [{}]), ("V3", [{"align": a} for a in ("RIGHT_LEFT", "LEFT_RIGHT")])):
        for n, kw in enumerate(extra):
            x = R("float", (4, 3))
            for tag, k, filler in (("several", 0, [1, 2]), ("none", 0, np.zeros((0,))), ("matrix", [0], [[1, 2], [3, 4]]), ("several-band", [-1, 0], [1, 2])):
                yield from bad("MatrixDiagPart" + v, "float", f"padding-{tag}{n}", [x, i32(k), f32(filler)], static=False, **kw)
            yield many("MatrixDiagPart" + v, "float", f"k{n}", [[x, i32(k), f32(9)] for k in (0, 2, -3, [0], [-3, 2], [1, 2], [-3, -1], [0, 0], [-1, 1])], **kw)
            yield many("MatrixDiagPart" + v, "float", f"shapes{n}", [[R("float", s), i32(k), f32(9)] for s, k in (((0, 3), 0), ((0, 3), [0, 1]), ((3, 0), 0), ((2, 0, 2, 2), [0, 1]), ((1, 5), [0, 4]), ((5, 1), [-4, 0]))], **kw)
            yield many("MatrixDiag" + v, "float", f"sizes{n}", [[R("float", s), i32(k), i32(r), i32(c), f32(9)] for s, k, r, c in (
                ((3,), 0, -1, -1), ((3,), -1, -1, -1), ((3,), 2, -1, -1), ((3,), 0, 5, -1), ((3,), 0, -1, 5), ((3,), 1, 3, 6), ((3,), 1, 7, 4), ((3, 3), [-1, 1], 3, 3), ((2, 3), [0, 1], 3, 4),
                ((2, 3), [-1, 0], -1, -1), ((2, 2, 3), [1, 2], -1, -1), ((0,), 0, -1, -1), ((2, 0, 3), 0, -1, -1), ((1, 3), [0, 0], 3, 3))], **kw)
            yield many("MatrixSetDiag" + v, "float", f"k{n}", [[x, R("float", s, 1), i32(k)] for s, k in (((3,), 0), ((1,), 2), ((1,), -3), ((3,), [0]), ((6, 3), [-3, 2]), ((2, 2), [1, 2]), ((3, 3), [-3, -1]))], **kw)
        for tag, k in (("low", -4), ("high", 3), ("order", [1, 0]), ("three", [0, 1, 2]), ("matrix", [[0]]), ("none", [])):
            k = T("int32", np.array(k, int))
            yield from bad("MatrixDiagPart" + v, "float", tag, [R("float", (4, 3)), k, zero])
            yield from bad("MatrixSetDiag" + v, "float", tag, [R("float", (4, 3)), R("float", (3,)), k])
        yield from bad("MatrixDiagPart" + v, "float", "vector", [R("float", (4,)), i32(0), zero])
        for tag, s, k in (("length", (2,), 0), ("count", (3, 3), [0, 1]), ("rank", (2, 3), 0), ("single", (1, 3), [0, 0])):
            yield from bad("MatrixSetDiag" + v, "float", tag, [R("float", (4, 3)), R("float", s), i32(k)], static=tag == "rank")
        for tag, s, k, r, c in (("rows", (3,), 0, 2, -1), ("columns", (3,), 1, -1, 3), ("both", (3,), 0, 4, 4), ("count", (3, 3), [0, 1], -1, -1), ("scalar", (), 0, -1, -1),
                                ("no-rows", (3,), [0, 1], -1, -1), ("order", (2, 3), [1, 0], -1, -1)):
            yield from bad("MatrixDiag" + v, "float", tag, [R("float", s), i32(k), i32(r), i32(c), zero])
        yield from bad("MatrixDiag" + v, "float", "rows-vector", [R("float", (3,)), i32(0), i32([3]), i32(3), zero])
    for tag, s, t in (("length", (2, 3), (3,)), ("rank", (2, 3), (1, 2)), ("vector", (3,), (3,))):
        yield from bad("MatrixSetDiag", "float", tag, [R("float", s), R("float", t)])
    yield from bad("MatrixDiag", "float", "scalar", [f32(1)])
    yield from bad("MatrixDiagPart", "float", "vector", [f32([1])])


EQUATIONS = [
    ("ab->ab", (2, 3)), ("ab->ba", (2, 3)), ("ab->a", (2, 3)), ("ab->b", (2, 3)), ("ab->", (2, 3)), ("->", ()), ("aa->a", (3, 3)), ("aa->", (3, 3)),
    ("aab->b", (2, 2, 3)), ("aab->ab", (2, 2, 3)), ("aba->ba", (2, 3, 2)), ("a->aa", (3,)), ("ab->bab", (2, 3)), ("aab->baa", (2, 2, 3)), ("abcd->dbca", (2, 3, 4, 5)),
    ("...->...", (2, 3)), ("a...->...a", (2, 3, 4)), ("...a->a", (3,)), ("a...b->b...", (2, 3, 4, 5)), ("ab->ba...", (2, 3)), ("ab->b", (0, 2)), ("ab->a", (2, 0)), ("aB->Ba", (2, 3)), ("a1->1a", (2, 3)),
    ("ab,bc->ac", (2, 3), (3, 4)), ("ab,bc->ca", (2, 3), (3, 4)), ("ba,bc->ac", (3, 2), (3, 4)), ("ab,cb->ac", (2, 3), (4, 3)), ("ba,cb->ac", (3, 2), (4, 3)),
    ("ab,ab->", (2, 3), (2, 3)), ("ab,ab->ab", (2, 3), (2, 3)), ("ab,ab->a", (2, 3), (2, 3)), ("a,b->ab", (2,), (3,)), ("a,b->ba", (2,), (3,)), ("a,a->", (4,), (4,)), (",->", (), ()), (",ab->ab", (), (2, 3)),
    ("ab,b->a", (2, 3), (3,)), ("b,ab->a", (3,), (2, 3)), ("ab,ac->abc", (2, 3), (2, 4)), ("abc,cd->abd", (2, 3, 4), (4, 5)), ("abc,cde->abde", (2, 3, 4), (4, 2, 3)), ("abcd,cde->abe", (2, 3, 4, 2), (4, 2, 5)),
    ("aecd,abcd->acbe", (2, 3, 2, 4), (2, 5, 2, 4)), ("acbe,aecd->abcd", (2, 2, 5, 3), (2, 3, 2, 4)), ("abc,abd->cd", (2, 3, 4), (2, 3, 5)), ("abc,ad->bcd", (2, 3, 4), (2, 5)), ("abc,bcd->d", (2, 3, 4), (3, 4, 5)),
    ("abc,cd->ad", (2, 3, 4), (4, 5)), ("ab,cd->", (2, 3), (4, 5)), ("ab,bc->aca", (3, 4), (4, 2)), ("aab,bc->ac", (2, 2, 3), (3, 4)), ("ab,cc->ab", (2, 3), (4, 4)), ("abc,acd->abd", (2, 3, 4), (2, 4, 5)), ("abc,adc->abd", (2, 3, 4), (2, 5, 4)),
    ("bac,bcd->abd", (2, 3, 4), (2, 4, 5)), ("abc,dbc->adb", (2, 3, 4), (5, 3, 4)), ("abcd,bd->ac", (2, 3, 4, 5), (3, 5)), ("abcd,abde->abce", (2, 3, 4, 2), (2, 3, 2, 5)),
    ("...ab,...bc->...ac", (2, 3), (3, 4)), ("...ab,...bc->...ac", (2, 2, 3), (3, 4)), ("...ab,...bc->...ac", (2, 2, 3), (5, 1, 3, 4)), ("...ab,bc->...ac", (2, 3, 2, 3), (3, 4)), ("...a,ab->...b", (2, 2, 3), (3, 4)),
    ("...,...->...", (2, 3), (1, 3)), ("...,...->...", (2, 3), (3,)), ("...,...->...", (2, 1), (1, 3)), ("a...,a...->...", (2, 3), (2, 4, 1)), ("...a,...a->...", (2, 3), (2, 3)), ("a...b,b->...a", (2, 3, 4), (4,)),
    ("...,a->...a", (), (2,)), ("ab,ac->a", (0, 3), (0, 2)), ("ab,bc->ac", (2, 0), (0, 2)), ("ab,bc->ac", (0, 3), (3, 2)), ("...ab,...bc->...ac", (2, 1, 2, 0), (3, 0, 2)), ("...ab,...bc->...ac", (0, 2, 3), (1, 3, 2)), ("ab,bc->ac", (17, 33), (33, 20)),
]


def sums():
    for d in dtypes("Einsum"):
        for k in (0, 1, 2, 3, 4, 5):
            chosen = EQUATIONS[k::6] if d in ("float", "int32") else EQUATIONS[k::18]
            yield many("Einsum", d, f"values{k}", [([[R(d, s, n, ints=3) for n, s in enumerate(shapes)]], {"equation": e}) for e, *shapes in chosen], tol(d))
    for tag, equation, *inputs in (("arrow", "ab", (3, 4)), ("arrows", "ab->a->b", (3, 4)), ("sizes", "ab,bc->ac", (3, 4), (3, 4)), ("output", "ab->c", (3, 4)), ("periods", "ab->ab..", (3, 4)),
                                   ("no-ellipsis", "a...b,b->a", (1, 2, 4), (4,)), ("broadcast", "...,...->...", (2, 3), (4, 3)), ("named-one", "ab,ab->ab", (3, 4), (1, 4)), ("three", "ab,b,b->a", (3, 4), (4,), (4,)),
                                   ("rank", "abc->a", (3, 4)), ("rank-low", "ab...c->a", (3, 4)), ("diagonal", "aa->a", (3, 4)), ("count", "ab,b->a", (3, 4)), ("count-more", "ab->a", (3, 4), (4,)), ("space", "a b->ba", (3, 4)),
                                   ("two-ellipses", "......->...", (3, 4)), ("broken-ellipsis", "a.b..->a", (3, 4)), ("empty", "", (3, 4))):
        yield from bad("Einsum", "float", tag, [[R("float", s, n) for n, s in enumerate(inputs)]], equation=equation)


def crosses():
    for d in dtypes("Cross"):
        yield many("Cross", d, "values", [[R(d, s, 1, ints=9), R(d, s, 2, ints=9)] for s in ((3,), (2, 2, 3))])
    yield many("Cross", "float", "shapes", [[R("float", s, 1, ints=9), R("float", s, 2, ints=9)] for s in ((0, 3), (2, 0, 3), (1, 3))])
    for tag, a, b in (("two", (2,), (2,)), ("shapes", (3,), (1, 3)), ("scalar", (), ()), ("batch", (2, 3), (3, 3))):
        yield from bad("Cross", "float", tag, [R("float", a), R("float", b)])


def cases():
    for part in (diagonals, sums, crosses):
        yield from part()
