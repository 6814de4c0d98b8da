"""Element-wise functions of one argument."""
import math

import numpy as np

from golden import COMPLEX, INTS, REAL, T, dtypes, limits, many, one, R, tol

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.1, -0.1, 1e-3, -1e-3, 1e-4, 3.0, -3.0, 6.0, 7.25, -7.25,
         0.999, -0.999, 1.001, 10.0, -10.0, 20.0, -20.0, 60.0, -60.0, 100.0, -100.0, math.inf, -math.inf, math.nan,
         1e4, -1e4, 6.5e4, 3.14159265, -1.57079633]
LARGE = {"float": [1e10, -1e10, 3.4e38, -3.4e38, 1.2e-38, 2097151.5, 8388609.0, 88.0, -87.0, 89.0],
         "double": [1e10, -1e10, 1.7e308, -1.7e308, 2.3e-308, 4503599627370495.5, 709.0, -708.0, 710.0, 88.0],
         "half": [65504.0, -65504.0, 6.2e-5, 1023.5, 11.0, -9.0, 12.0],
         "bfloat16": [3.3e38, -3.3e38, 1.2e-38, 127.5, 88.0, -87.0, 89.0]}

# Exact everywhere: no tolerance needed.
EXACT = {"Abs", "Neg", "Sign", "Relu", "Relu6", "Floor", "Ceil", "Round", "Rint", "IsNan", "IsInf", "IsFinite", "Invert"}

ERF = np.vectorize(math.erf, otypes=[np.float64])
ERFC = np.vectorize(math.erfc, otypes=[np.float64])

# Functions in extended precision: the tolerance grows where TensorFlow's own approximation is further off than it.
REFERENCE = {
    "Sqrt": np.sqrt, "Rsqrt": lambda x: 1 / np.sqrt(x), "Reciprocal": lambda x: 1 / x, "Inv": lambda x: 1 / x,
    "Square": lambda x: x * x, "Exp": np.exp, "Expm1": np.expm1, "Log": np.log, "Log1p": np.log1p, "Sin": np.sin, "Cos": np.cos,
    "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan, "Sinh": np.sinh, "Cosh": np.cosh,
    "Tanh": np.tanh, "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "LeakyRelu": lambda x: np.where(x > 0, x, x * float(np.float32(0.2))),
    "Elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "Selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "Softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))), "Softsign": lambda x: x / (1 + np.abs(x)),
    "Erf": lambda x: ERF(x.astype(np.float64)), "Erfc": lambda x: ERFC(x.astype(np.float64)),
}

OPS = """Abs Neg Sign Square Sqrt Rsqrt Reciprocal Inv Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh
Acosh Atanh Sigmoid Relu Relu6 LeakyRelu Elu Selu Softplus Softsign Erf Erfc Floor Ceil Round Rint IsNan IsInf IsFinite
Invert""".split()

# Functions of complex numbers whose values at infinity are those of C99; the others' differ between vector and scalar code.
ANNEX_G = set("""Sqrt Rsqrt Exp Log Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh Sigmoid""".split())
INFINITY = [complex(a, b) for a, b in ((math.inf, 0), (-math.inf, 0), (0, math.inf), (math.inf, math.inf), (3, -math.inf), (math.inf, 2),
                                       (-math.inf, -2), (math.inf, math.nan), (0, math.nan), (math.nan, 0))]

SHAPES = [(), (0,), (1,), (2, 0, 3), (3, 5, 7), (1, 2, 1, 3, 1, 1, 2, 1), (2, 1, 2, 1, 2, 1, 2, 1, 2)]


def int_edges(dtype):
    """Whole numbers that overflow, wrap and change sign."""
    low, high = limits(dtype)
    wanted = [0, 1, 2, 3, 5, 6, 7, 11, 12, 100, high, high - 1, high // 2, low, low + 1, low // 2, -1, -2, -5, -7, -100]
    return [v for v in wanted if low <= v <= high]


def values(op, dtype):
    """The inputs of the `values` case."""
    if dtype in REAL:
        if op == "Erf" and dtype == "double":  # TensorFlow gives NaN for those beyond 1e154, where 1 is right
            return T(dtype, [v for v in EDGES if math.isfinite(v)])
        return T(dtype, np.concatenate([EDGES, LARGE[dtype], R("double", 18, 1).array]))
    if dtype in COMPLEX:
        v = R(dtype, 13, 1).array
        return T(dtype, np.concatenate([v, [1, -1.5, 2j, -0.5j, 0.25 + 0.25j, 3 - 4j, -3 + 4j]]))
    if op == "Acos":  # of an int: only these have an answer
        return T(dtype, [-1, 0, 1, 1, 0, -1, 0])
    return T(dtype, int_edges(dtype))


def cases():
    for op in OPS:
        exact = op in EXACT
        for d in dtypes(op):
            tolerance = None if exact and d not in COMPLEX else tol(d)
            reference = REFERENCE.get(op) if d in REAL else None
            yield one(op, d, "values", [values(op, d)], tolerance, reference=reference)
            if d in COMPLEX and op not in ("Neg",):
                zero = 0.0
                cut = [complex(a, b) for a in (-2.0, 2.0, -0.5, 0.5, zero) for b in (zero, -zero)]
                cut += [complex(b, a) for a in (-2.0, 2.0, -0.5) for b in (zero, -zero)]
                if op in ("Rsqrt", "Reciprocal", "Inv", "Log"):
                    cut = [c for c in cut if c != 0]
                if op == "Rsqrt":  # TensorFlow loses the sign of a zero imaginary part below the cut
                    cut = [c for c in cut if not (c.real < 0 and c.imag == 0 and np.signbit(c.imag))]
                if op in ("Sqrt", "Sign", "Square", "Exp", "Sin", "Cos", "Sinh", "Cosh", "Log", "Rsqrt", "Reciprocal"):
                    yield one(op, d, "axes", [T(d, np.array(cut))], tolerance)
            if d in COMPLEX and op in ANNEX_G:
                # Of the root of -inf-2i TensorFlow's vector code loses the sign, which its scalar code keeps.
                infinity = [c for c in INFINITY if op != "Sqrt" or c != complex(-math.inf, -2)]
                yield one(op, d, "infinity", [T(d, infinity + [0j] * (op == "Rsqrt"))], tolerance)
        if "float" in dtypes(op):
            yield many(op, "float", "shapes", [[R("float", s, 3)] for s in SHAPES], None if exact else tol("float"))
    for d in REAL + INTS:
        for alpha in (0.0, 0.5, -0.25, 2.0):
            if d in dtypes("LeakyRelu"):
                tag = f"alpha{alpha}".replace(".", "_").replace("-", "minus")
                yield one("LeakyRelu", d, tag, [values("LeakyRelu", d)], tol(d), alpha=alpha)
    yield many("LogicalNot", "bool", "shapes", [[R("bool", s, 3)] for s in SHAPES])
    for d in ("half", "bfloat16", "double"):
        for op in ("Tanh", "Sigmoid", "Exp", "Erf"):
            yield one(op, d, "random", [R(d, 65, 5)], tol(d), reference=REFERENCE[op])
    for d in ("float", "double"):
        for op in ("Tanh", "Sigmoid", "Exp", "Log", "Sin", "Erf", "Expm1", "Log1p"):
            yield one(op, d, "fine", [T(d, np.linspace(0.001, 9.0, 201))], tol(d), reference=REFERENCE[op])
