"""Complex parts, special functions, norms and scans of few dtypes."""
import numpy as np

import golden
from golden import COMPLEX, INTS, REAL, T, dtypes, f32, i32, i64, many, one, R, some, tol


def bad(*args, **attrs):
    """As golden.bad, but at run time only: the tests of shape functions have the other half."""
    return golden.bad(*args, static=False, **attrs)


def parts():
    real = {"complex64": "float", "complex128": "double"}
    for d in COMPLEX:
        edges = T(d, [0, 3 + 4j, -1, -1j, 2 - 5j, complex(np.inf, 1), complex(-1, -np.inf), complex(np.nan, 2), complex(-0.0, -0.0), complex(0.0, -0.0)])
        for op in ("Real", "Imag", "Angle", "ComplexAbs"):
            yield many(op, d, "values", [[R(d, s)] for s in ((2, 3), (), (0,))] + [[edges]], tol(d), Tout=real[d])
        yield many("Conj", d, "values", [[R(d, s)] for s in ((2, 3), (), (0,))] + [[edges]])
        r = real[d]
        yield many("Complex", r, "values", [[R(r, a), R(r, b, 1)] for a, b in (((2, 3), (2, 3)), ((2, 1), (3,)), ((), ()), ((0,), (1,)))], Tout=d)
        yield from bad("Complex", r, "shapes", [R(r, (2,)), R(r, (3,))], Tout=d)
    for d in ("float", "double"):
        x, y = [1, 1, 1, np.nan, np.inf, -np.inf, 5, 1e30, -2, 7], [2, 0, 1, 1, 0, 1, np.nan, np.inf, -np.inf, 7]
        yield one("NextAfter", d, "values", [T(d, x), T(d, y)])
        yield one("NextAfter", d, "broadcast", [R(d, (2, 1)), R(d, (3,), 1)])
        yield many("ApproximateEqual", d, "values", [([T(d, [1, 2, np.nan, np.inf, 0.5]), T(d, [1.000001, 2.1, np.nan, np.inf, 0.6])], {"tolerance": t}) for t in (1e-5, 0.2)])
        yield from bad("ApproximateEqual", d, "shapes", [T(d, [1, 2]), T(d, 1)])


def functions():
    for d in dtypes("Lgamma"):
        x = [0.1, 0.5, 1, 1.5, 2, 3.7, 10, 50.5, -0.5, -1.5, -3.2, np.nan, np.inf, 170]
        yield one("Lgamma", d, "values", [T(d, x)], tol(d))
        yield one("Digamma", d, "close", [T(d, [-7.66e-5, 7.66e-5, -1.5e-6, -1.00390625, -0.99609375, -2.998046875, -0.5])], tol(d, 4))
        yield one("Digamma", d, "values", [T(d, [v for v in x if v == v and v < 200])], tol(d, 4))
    for d in dtypes("Ndtri"):
        p = [0, 1, 0.5, 0.025, 0.975, 0.1, 0.9, 0.8, 0.2, 1e-3, 1e-10, 1e-30, -0.5, 1.5, np.nan, 0.999]
        yield one("Ndtri", d, "values", [T(d, p)], tol(d, 4))
        yield one("Erfinv", d, "values", [T(d, [0.5, -0.5, 0.1, 0.9, -0.99, 1, -1, 0.25, 0.999, 2])], tol(d, 4))
    for d in dtypes("Igamma"):
        a = [0.5, 1, 2, 3.5, 10, 0.1, 30, 5, 1, 2, -1, 1, 3]
        x = [0.1, 2, 1, 10, 9, 0.01, 31, 5, 0, 50, 1, -1, 1e-3]
        yield many("Igamma", d, "values", [[T(d, a), T(d, x)], [T(d, [[1], [2]]), T(d, [0.5, 1.5, 4])]], tol(d, 4))
        yield many("Igammac", d, "values", [[T(d, a), T(d, x)], [T(d, [[1], [2]]), T(d, [0.5, 1.5, 4])]], tol(d, 4))
        a, x = [0.5, 1, 2, 3.5, 10, 0.1, 30, 5, 1, 2, 3], [0.1, 2, 1, 10, 9, 0.01, 31, 5, 0, 20, 1e-3]
        for op in ("IgammaGradA", "RandomGammaGrad"):
            yield many(op, d, "values", [[T(d, a), T(d, x)], [T(d, [[1], [2]]), T(d, [0.5, 1.5, 4])]], tol(d, 64))
        yield many("Zeta", d, "values", [[T(d, [2, 3, 1.5, 4, 10, 1, 0.5, 2.5]), T(d, [1, 0.5, 2, 10, 0.1, 3, 1, 100])], [T(d, [[2], [3]]), T(d, [0.5, 1.5, 4])]], tol(d, 4))
        yield many("Polygamma", d, "values", [[T(d, [0, 1, 2, 3, 1, 5, 0.5, -1]), T(d, [1.5, 1, 0.5, 2, 10, 3, 1, 1])], [T(d, [[1], [2]]), T(d, [0.5, 1.5, 4])]], tol(d, 4))


def reductions():
    for d in dtypes("EuclideanNorm"):
        x = R(d, (2, 3, 4), 1, ints=3)
        exact = None if d in INTS else tol(d)
        yield many("EuclideanNorm", d, "axes", [([x, kind(a)], {"keep_dims": k}) for kind, a, k in some(d, [
            (i32, [1], False), (i64, [0, 2], True), (i32, [-1], True), (i32, [0, 1, 2], False), (i32, [], False)], 2)], exact)
        yield many("EuclideanNorm", d, "kept", [[T(d, [[3], [-2 if d not in ("uint8", "uint16", "uint32", "uint64") else 5]]), i32([1])]], exact)
    yield many("EuclideanNorm", "float", "shapes", [[R("float", s, 1), i32(a)] for s, a in (((0,), [0]), ((0, 3), [0]), ((), []), ((40, 7), [0]), ((7, 300), [1]), ((2, 1, 3, 2), [0, 2]))], tol("float", 4))
    for d in ("int16", "int32", "int64"):
        x = {"int16": 200, "int32": 32768, "int64": 2 ** 31}[d]
        yield one("EuclideanNorm", d, "negative", [T(d, [[x, x], [x, 1]]), i32([1])])
    yield one("EuclideanNorm", "int8", "wrap", [T("int8", [100, 100]), i32([0])])
    for tag, a in (("axis", [3]), ("low", [-4]), ("repeated", [1, 1])):
        yield from bad("EuclideanNorm", "float", tag, [R("float", (2, 3, 4)), i32(a)])
    for d in dtypes("CumulativeLogsumexp"):
        x = R(d, (3, 4, 2), 1)
        yield many("CumulativeLogsumexp", d, "values", [([x, kind(a)], {"exclusive": e, "reverse": r}) for kind, a, e, r in (
            (i32, 0, False, False), (i64, 1, False, True), (i32, -1, True, False), (i32, 1, True, True))], tol(d, 2))
    for r in (False, True):
        yield one("CumulativeLogsumexp", "float", f"edges-{r}".lower(), [f32([1, -np.inf, 2, 100, -100, 88, -np.inf]), i32(0)], tol("float"), reverse=r)
    yield one("CumulativeLogsumexp", "float", "infinite", [f32([-np.inf, -np.inf, 1, np.inf, 2, -np.inf, np.nan, 1]), i32(0)], tol("float"))
    yield many("CumulativeLogsumexp", "float", "shapes", [[R("float", s), i32(a)] for s, a in (((0,), 0), ((1,), 0), ((2, 0, 3), 1), ((33, 3), 0), ((40,), -1))], tol("float", 2))
    for tag, s, a in (("axis", (2, 3), 2), ("axis-low", (2, 3), -3), ("axis-vector", (2, 3), [0]), ("scalar", (), 0)):
        yield from bad("CumulativeLogsumexp", "float", tag, [R("float", s), i32(a)])
    for d in ("float", "int32", "half"):
        yield many("AccumulateNV2", d, "values", [([[R(d, (2, 3), k, ints=9) for k in range(n)]], {"shape": [2, 3]}) for n in (1, 2, 5)])


def cases():
    for part in (parts, functions, reductions):
        yield from part()
