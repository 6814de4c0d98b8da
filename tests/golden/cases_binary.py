"""Element-wise functions of two arguments, comparisons and bit operations."""
import math

import numpy as np

from cases_unary import int_edges
from golden import CORE, COMPLEX, INTS, NUMPY, REAL, SIGNED, T, bad, dtypes, limits, many, one, R, tol

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 0.3, -7.5, 100.25, math.inf, -math.inf, math.nan, 1e4]
HUGE = {"float": [3e38, -3e38, 1.2e-38], "double": [1.7e308, -1.7e308, 2.3e-308], "half": [65504.0, -65504.0, 6.2e-5],
        "bfloat16": [3.3e38, -3.3e38, 1.2e-38]}

ARITHMETIC = ["Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod",
              "DivNoNan", "MulNoNan", "Pow", "Maximum", "Minimum", "SquaredDifference", "Atan2", "Xlogy", "Xdivy"]
COMPARE = ["Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"]
BITS = ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"]
LOGICAL = ["LogicalAnd", "LogicalOr"]
DIVIDES = {"Div", "FloorDiv", "FloorMod", "Mod", "TruncateDiv", "TruncateMod"}
INEXACT = {"Pow", "Atan2", "Xlogy", "Xdivy"}

SHAPES = [((), ()), ((3,), (3,)), ((), (5,)), ((5,), ()), ((0,), (1,)), ((2, 0, 3), (1, 1, 3)), ((2, 3), (3,)),
          ((3,), (2, 3)), ((4, 1, 3), (2, 1)), ((1,), (1, 1, 1)), ((2, 1, 3, 1, 2), (1, 2, 1, 2, 1)),
          ((2, 3, 4, 5), (2, 3, 4, 5)), ((7, 1), (1, 9)), ((1, 0), (3, 1)),
          ((1,) * 8 + (2, 3), (1,) * 8 + (2, 3)), ((1,) * 11 + (2,), (2,)), ((2, 3) * 2, (1, 3) * 2), ((2, 1, 1) * 2, (1, 3, 3) * 2)]
# More than five alternations of who broadcasts: TensorFlow has no kernel for it.
RANKS = [((2, 1) * 3, (1, 2) * 3), ((2, 1) * 3 + (2,), (1, 2) * 3 + (1,)), ((2, 1) * 4, (1, 2) * 4), ((2, 1) * 5, (1, 2) * 5)]
FEW = [((), ()), ((4, 1, 3), (2, 1)), ((0, 3), (1, 3)), ((2, 1, 3, 1, 2), (1, 2, 1, 2, 1))]


def edges(op, d):
    """Two vectors whose cross product makes the `edges` case."""
    if d == "string":
        v = ["", "a", "b", "ab", b"\\xff\\x00z", "longer than a small string buffer holds"]
        return v, v
    if d == "bool":
        return [True, False], [True, False]
    if d in REAL:
        v = EDGES + HUGE[d] if d == "float" else EDGES[:5] + EDGES[6:7] + EDGES[9:10] + EDGES[11:16] + HUGE[d][:2]
        if op == "FloorDiv":  # TensorFlow flushes denormals, so the floor of a tiny negative quotient would be -0
            v = [x for x in v if x not in HUGE[d]]
        return v, v
    if d in COMPLEX:
        v = [1 + 0j, -1.5 + 2j, 0.5j, -2j, 3 - 4j, 0.25 + 0.75j]
        return v + ([0j] if op not in ("Pow", "Xlogy", "Div", "RealDiv") else []), v + ([0j] if op in (
            "DivNoNan", "MulNoNan", "Add", "AddV2", "Sub", "Mul", "Equal", "NotEqual", "SquaredDifference") else [])
    x = [v for v in int_edges(QUANTIZED_BASE.get(d, d)) if v not in (5, 6, 11, 12, -100, 3) and abs(v) not in near_half(d)]
    if op in ("LeftShift", "RightShift"):
        width = np.iinfo(d).bits
        return x, [v for v in (0, 1, 3, width - 1, width, width + 5, -1, -8) if limits(d)[0] <= v <= limits(d)[1]]
    if op == "Pow":
        return x, [0, 1, 2, 3, 5, 7, 31, 64]
    if op in DIVIDES:  # the smallest number by -1 stands in a case of its own
        return [v for v in x if d not in SIGNED or v != limits(d)[0]], [v for v in x if v != 0]
    return x, x


def near_half(d):
    """Half the range: an edge that adds little to the ends themselves."""
    low, high = limits(QUANTIZED_BASE.get(d, d))
    return high // 2, -(low // 2)


QUANTIZED_BASE = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}


def tolerance(op, d):
    if d in COMPLEX and op not in ("Equal", "NotEqual", "Add", "AddV2", "Sub"):
        return tol(d)
    if op == "SquaredDifference" and d in ("half", "bfloat16"):  # the difference may or may not be rounded first
        return tol(d)
    return tol(d) if op in INEXACT else None


def pair(op, d, shapes, seed=0):
    """Two random tensors; divisors are never zero."""
    x, y = R(d, shapes[0], seed), R(d, shapes[1], seed + 1)
    if d in INTS:
        y = T(d, np.where(y.array == 0, 1, y.array))
        if op == "Pow" or op in ("LeftShift", "RightShift"):
            y = T(d, np.abs(y.array.astype(np.int64)) % 4)
    elif op in ("Pow", "Xlogy") and d in REAL:
        x, y = T(d, np.abs(x.array)), T(d, np.abs(y.array))
    return [x, y]


def cases():
    for op in ARITHMETIC + COMPARE + BITS:
        for d in dtypes(op):
            x, y = edges(op, d)
            yield one(op, d, "edges", [T(d, T(d, x).array[:, None]), T(d, y)], tolerance(op, d))
            yield one(op, d, "same", pair(op, d, [(19,), (19,)]), tolerance(op, d))
            if d in ("float", "int32", "half"):
                yield one(op, d, "right-scalar", pair(op, d, [(13,), ()]), tolerance(op, d))
                yield one(op, d, "left-scalar", pair(op, d, [(), (13,)]), tolerance(op, d))
        main = "float" if "float" in dtypes(op) else "int32"
        yield many(op, main, "shapes", [pair(op, main, s, 3) for s in (SHAPES if op in ("AddV2", "Equal") else FEW)],
                   tolerance(op, main))
        for tag, s in (("shape", [(2,), (3,)]), ("shape-rank", [(4, 2), (3, 1, 3)])):
            yield from bad(op, main, tag, pair(op, main, s))
    for op in ("AddV2", "Mul", "Less", "LogicalAnd"):
        for x, y in RANKS:
            d = "bool" if op in LOGICAL else "float"
            yield from bad(op, d, f"rank{len(x)}", pair(op, d, (x, y)), runtime=False)
    for op in LOGICAL:
        yield one(op, "bool", "edges", [T("bool", [[True], [False]]), T("bool", [True, False])])
        yield many(op, "bool", "shapes", [pair(op, "bool", s) for s in SHAPES])
        yield from bad(op, "bool", "shape", pair(op, "bool", [(2,), (3,)]))
    for op in sorted(DIVIDES):
        for d in (d for d in dtypes(op) if d in INTS):
            yield from bad(op, d, "by-zero", [T(d, [1, 2, 3]), T(d, [1, 0, 2])], runtime=d in CORE)
            if d in CORE:
                yield from bad(op, d, "by-zero-scalar", [T(d, [1, 2, 3]), T(d, 0)], runtime=False)
                yield one(op, d, "empty-by-zero", [T(d, np.zeros(0)), T(d, 0)])
            if d in SIGNED:
                yield one(op, d, "lowest-by-minus-one", [T(d, [limits(d)[0], 5]), T(d, [-1, -1])], risky=True)
    for d in (d for d in dtypes("Pow") if d in SIGNED):
        yield from bad("Pow", d, "negative-exponent", [T(d, [1, 2, 3]), T(d, [1, -1, 2])])
        yield from bad("Pow", d, "negative-scalar-exponent", [T(d, [1, 1]), T(d, -1)], runtime=False)
    for op in ("Equal", "NotEqual"):
        for d in ("float", "int32", "string", "bool"):
            yield many(op, d, "compatible", [pair(op, d, s) for s in ([(2,), (3,)], [(4, 2), (3, 1, 3)], [(2, 1), (3,)])],
                       incompatible_shape_error=False)
    for op, d in (("FloorDiv", "float"), ("FloorMod", "float"), ("FloorDiv", "double"), ("FloorMod", "double"),
                  ("Mod", "float"), ("TruncateMod", "double"), ("TruncateDiv", "half"), ("FloorDiv", "half"),
                  ("FloorMod", "bfloat16"), ("FloorMod", "half")):
        v = np.array([-7.5, -7, -0.5, -0.0, 0.0, 0.5, 1, 6.5, 7, 9])
        yield one(op, d, "signs", [T(d, v[:, None]), T(d, [-3.0, -0.75, 0.75, 2.0, 3.0])])
    for d in ("float", "double"):
        yield one("Pow", d, "grid", [T(d, np.linspace(0.1, 9, 15)[:, None]), T(d, np.linspace(-5, 5, 13))], tol(d, 2))
        most = float(np.finfo(NUMPY[d]).max)
        yield one("Pow", d, "greatest", [T(d, [most, -most, most, -most, 1 / most, most, 2]), T(d, [1, 1, -1, -1, -1, 0.5, 127.99999])], tol(d))
        yield one("Pow", d, "whole", [T(d, [[-3.0], [-1.5], [2.0], [-0.0]]), T(d, [0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5])], tol(d))
        yield one("Atan2", d, "grid", [T(d, np.linspace(-3, 3, 11)[:, None]), T(d, np.linspace(-2, 2, 9))], tol(d))
