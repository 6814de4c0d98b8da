"""Bessel functions, integrals that no elementary function is, the incomplete beta function, and bits that are counted."""
import numpy as np

import golden
from golden import COMPLEX, T, dtypes, limits, many, one, R, some, tol

BESSEL = ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1")
INTEGRALS = ("Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence")


def bad(*args, **attrs):
    """As golden.bad, but at run time only: the tests of shape functions have the other half."""
    return golden.bad(*args, static=False, **attrs)


def functions():
    for op in BESSEL + INTEGRALS:
        for d in dtypes(op):
            factor = 4 if d != "half" else 2
            # Each side of every bound between approximations.
            bounds = [0.5, 1, 1.5, 2, 3.25, 4, 5, 6.25, 8, 16, 32, 64]
            yield one(op, d, "bounds", [T(d, [v * f for v in bounds for f in (0.998, 1, 1.002)])], tol(d, factor))
            yield one(op, d, "near", [T(d, np.linspace(0.02, 2, 67))], tol(d, factor))
            yield one(op, d, "middle", [T(d, np.linspace(2, 9, 71))], tol(d, factor))
            yield one(op, d, "far", [T(d, np.linspace(9, 80 if d != "half" else 11, 73))], tol(d, factor))
            yield one(op, d, "small", [T(d, 10.0 ** -np.arange(1, 5 if d == "half" else 10))], tol(d, factor))
            yield one(op, d, "negative", [T(d, [-0.001, -0.5, -1, -2, -3, -5.5, -8, -10.25])], tol(d, factor))
            # The float variant of Y1 has no limit at zero.
            special = [np.nan, np.inf, -np.inf] + ([0, -0.0] if op != "BesselY1" or d == "double" else [])
            yield one(op, d, "special", [T(d, special)], tol(d, factor))
            yield many(op, d, "shapes", [[R(d, s)] for s in ((), (0,), (2, 3), (1, 2, 1, 3, 1, 2))], tol(d, factor))
            if d != "half" and op not in ("BesselI0", "BesselI1", "Expint"):
                yield one(op, d, "large", [T(d, [100.5, 1234.5, 36973.5, 36974.5, 1e6, 1e10, -1e3] if op != "Dawsn" else [100.5, 1234.5, 1e6, 0.99e9, 1e10, -1e3])], tol(d, factor))


def betas():
    a = [0.5, 1, 2, 3.5, 10, 0.1, 30, 5, 1, 2, 80, 0.01, 3]
    b = [0.5, 1, 3, 0.5, 12, 0.2, 40, 1, 5, 20, 3, 5, 90]
    x = [0.1, 0.3, 0.9, 0.5, 0.45, 0.99, 0.4, 0.8, 0.2, 0.03, 0.98, 0.5, 0.05]
    for d in dtypes("Betainc"):
        # TensorFlow's logarithms of the gamma function cost digits.
        near = tol(d, 16)
        yield one("Betainc", d, "values", [T(d, a), T(d, b), T(d, x)], near)
        for k, p in enumerate((0.02, 0.25, 0.5, 0.75, 0.97)):
            yield one("Betainc", d, f"at-{k}", [T(d, a), T(d, b), T(d, p)], near)
        yield one("Betainc", d, "symmetric", [T(d, a), T(d, a), T(d, 0.5)], near)
        yield one("Betainc", d, "edges", [T(d, [1, 2, 0, -1, 1, 1, 2, 2, 2, np.nan]), T(d, [3, 2, 1, 1, 0, -2, 1, 1, 1, 1]), T(d, [0, 1, 0.5, 0.5, 0.5, 0.5, -0.1, 1.1, np.inf, 0.5])], near)
        yield one("Betainc", d, "nan", [T(d, [1, 1.5]), T(d, [2, 2]), T(d, [np.nan, np.nan])], near)
        p, q, r = T(d, [[0.5, 2], [3, 7]]), T(d, [[1.5, 4], [0.3, 2]]), T(d, [[0.2, 0.4], [0.6, 0.8]])
        s = [T(d, 1.5), T(d, 2.5), T(d, 0.3)]
        yield many("Betainc", d, "scalars", [[p, q, r], [p, q, s[2]], [p, s[1], r], [s[0], q, r], [p, s[1], s[2]], [s[0], q, s[2]], [s[0], s[1], r], s], near)
        yield many("Betainc", d, "shapes", [[T(d, np.full(n, 2.0)), T(d, np.full(n, 3.0)), T(d, np.full(n, 0.25))] for n in ((0,), (1,), (3, 0), (1, 2, 1, 2, 1, 2))], near)
        yield one("Betainc", d, "one-element", [T(d, [2.0]), T(d, [3.0]), T(d, 0.25)], near)
        for tag, shapes in (("ab", ((2,), (3,), (2,))), ("ax", ((2,), (), (3,))), ("bx", ((), (2,), (1,))), ("rank", ((2, 1), (2,), ()))):
            yield from bad("Betainc", d, tag, [T(d, np.full(n, 0.5)) for n in shapes])


def logarithms():
    for d in dtypes("Xlog1py"):
        shapes = [((2, 3), (2, 3)), ((2, 1), (3,)), ((), (4,)), ((0,), (1,)), ((1, 2, 1, 2), (3, 1, 2, 1)), ((), ())]
        if d in COMPLEX:
            yield many("Xlog1py", d, "values", [[R(d, p), R(d, q, 1)] for p, q in shapes], tol(d, 2))
            yield one("Xlog1py", d, "zero", [T(d, [0, 0, 0]), T(d, [-1, complex(np.nan, 1), 3j])])
            continue
        yield many("Xlog1py", d, "values", [[R(d, p), T(d, np.abs(R(d, q, 1).array))] for p, q in shapes], tol(d))
        yield one("Xlog1py", d, "edges", [T(d, [0, 0, 0, -0.0, 1, 1, 1, -1, 2, np.inf, np.nan, np.inf]), T(d, [-1, np.nan, np.inf, -5, -1, -2, np.inf, -1, np.nan, 0, 0, -0.5])], tol(d))
        if d in ("float", "double"):
            yield one("Xlog1py", d, "small", [T(d, 3.0), T(d, 10.0 ** -np.arange(1, 16))], (1e-5, 0) if d == "float" else (1e-12, 0))
        yield from bad("Xlog1py", d, "shapes", [R(d, (2,)), R(d, (3,))])


def counts():
    for d in dtypes("PopulationCount"):
        low, high = limits(d)
        yield one("PopulationCount", d, "values", [T(d, np.array([low, high, 0, 1, 2, 3, 85, low // 2, high // 3, *([-1, -2, -85] if low else [])], golden.NUMPY[d]))])
        yield many("PopulationCount", d, "shapes", [[R(d, s)] for s in ((), (0,), (2, 3), (1, 2, 1, 3, 1, 2))])


def cases():
    for part in (functions, betas, logarithms, counts):
        yield from part()
