"""Cast: every pair of dtypes that TensorFlow converts."""
import numpy as np

from golden import COMPLEX, FLOAT8, INTS, NUMPY, REAL, SMALL, T, bad, is_float, limits, many, one, R

FLOATS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, 3.99, -3.99, 7.0, -8.0, 15.0, 100.0, -100.0, 127.0, -128.0, 240.0,
          255.0, 256.5, 448.0, 1000.0, 1001.5, -32768.0, 32767.0, 65535.0, 65520.0, 1e5, 16777217.0, 1.00390625, 1.01171875,
          2147483520.0, -2147483648.0, 1e15, -1e15, 9.2e18, 1.8e19, 1e-3, 1e-5, 3.1415926535897931, 3.4e38, 1e39, -1e39, 57344.0]
BASE = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}
NOT_FINITE = [np.inf, -np.inf, np.nan]


def sources(src):
    """Values of the source dtype that say something."""
    if src == "bool":
        return [True, False]
    src = BASE.get(src, src)
    if src in SMALL or src in INTS:
        low, high = limits(src)
        wanted = [0, 1, 2, 3, 7, 8, 15, 100, 127, 128, 255, 256, 1000, 65535, 65536, 2**24 + 1, 2**31 - 1, 2**31, 2**32 + 5, 2**53 + 1,
                  2**63 - 1, 2**63, 2**64 - 1, -1, -2, -5, -8, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**53) - 1, -(2**63)]
        return [v for v in wanted if low <= v <= high]
    with np.errstate(all="ignore"):
        v = np.array(FLOATS + NOT_FINITE).astype(NUMPY[src] if src not in COMPLEX else np.float64)
    if src in COMPLEX:
        with np.errstate(all="ignore"):
            return v.astype(NUMPY[src]).real + 1j * np.linspace(-2, 2, len(v))
    return v


def fits(src, dst, values):
    """Keeps what has one answer: a float outside an integer's range has none in C++."""
    v, dst = np.asarray(values), BASE.get(dst, dst)
    if dst not in INTS and dst not in SMALL or not is_float(src):
        return v
    low, high = limits(dst)
    with np.errstate(all="ignore"):
        real = np.real(v.astype(np.complex128)) if src in COMPLEX else v.astype(np.float64)
        keep = np.isfinite(real) & (np.trunc(real) >= low) & (np.trunc(real) <= high) & (real < float(high) + (high < 2**53))
    return v[keep]


def cases():
    kinds = [d for d in NUMPY if d != "string"]
    for src in kinds:
        for dst in kinds:
            if (src in BASE or dst in BASE) and not {src, dst} & {"float", "int32", "half", "bool"}:
                continue
            v = fits(src, dst, sources(src))
            yield one("Cast", src, "to-" + dst, [T(src, v)], DstT=dst, optional=True)
    for src in ("float", "double", "half", "bfloat16", "complex64", "complex128"):
        for dst in REAL + FLOAT8 + ("complex64", "complex128"):
            v = fits(src, dst, sources(src))
            yield one("Cast", src, "truncate-to-" + dst, [T(src, v)], DstT=dst, Truncate=True, optional=True)
    for d in ("float", "int32"):
        yield many("Cast", d, "shapes", [[R(d, s)] for s in ((), (0,), (2, 0, 3), (3, 5, 7), (1, 2, 1, 2, 1, 2, 1, 2))],
                   DstT="double" if d == "float" else "float")
    for d in ("string", "qint8", "qint16"):
        yield one("Cast", d, "to-itself", [R(d, (3,))], DstT=d)
    for src, dst in (("string", "int32"), ("int32", "string"), ("int32", "float8_e5m2"),
                     ("float", "int4"), ("int4", "float"), ("bool", "float8_e4m3fn")):
        yield from bad("Cast", src, "to-" + dst, [R(src, (3,))], DstT=dst)
