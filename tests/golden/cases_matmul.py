"""MatMul and the BatchMatMul family."""
import itertools

import numpy as np

from golden import COMPLEX, REAL, T, bad, cpu_kernels, dtypes, many, one, R, tol

BOTH = list(itertools.product((False, True), repeat=2))


def operand(d, rows, cols, turned, seed, batch=(), ints=4):
    shape = (cols, rows) if turned else (rows, cols)
    return R(d, batch + shape, seed, ints=ints)


def d_is_common(d):
    return d in ("float", "int32", "complex64")


def loose(d, factor=1.0):
    return tol(d, factor) if d in REAL or d in COMPLEX else None


def cases():
    for d in dtypes("MatMul"):
        for a, b in BOTH:
            rows = [[operand(d, m, k, a, 1), operand(d, k, n, b, 2)] for m, k, n in (
                (2, 3, 4), (1, 5, 1), (5, 1, 3), (1, 3, 7), (7, 3, 1), (2, 0, 3), (0, 3, 2), (2, 3, 0), (5, 5, 5))[: 9 if d == "float" else 1 + 3 * (a and not b)]]
            yield many("MatMul", d, f"t{int(a)}{int(b)}", rows, transpose_a=a, transpose_b=b)
        if d in REAL or d in COMPLEX:
            yield one("MatMul", d, "fractions", [R(d, (9, 17), 1, scale=1), R(d, (17, 7), 2, scale=1)], loose(d, 4))
    for a, b in BOTH:
        yield one("MatMul", "float", f"medium{int(a)}{int(b)}", [operand("float", 33, 65, a, 1, ints=None), operand("float", 65, 17, b, 2, ints=None)],
                  (1e-5, 1e-4), transpose_a=a, transpose_b=b)
    yield one("MatMul", "float", "vector-matrix", [R("float", (1, 130), 1), R("float", (130, 9), 2)], (1e-5, 1e-4))
    yield one("MatMul", "float", "matrix-vector", [R("float", (33, 65), 1), R("float", (65, 1), 2)], (1e-5, 1e-4))
    yield one("MatMul", "float", "not-finite", [T("float", [[1, np.inf], [0, np.nan], [2, 3]]), T("float", [[1, 2], [3, 4]])])
    yield one("MatMul", "int32", "wrap", [T("int32", [[2**31 - 1, 2], [-2**31, 5]]), T("int32", [[3, 1], [7, -1]])])
    yield from bad("MatMul", "float", "inner", [R("float", (2, 3)), R("float", (2, 3))])
    yield from bad("MatMul", "float", "inner-transposed", [R("float", (2, 3)), R("float", (3, 2))], transpose_a=True)
    yield from bad("MatMul", "float", "rank-a", [R("float", (3,)), R("float", (3, 2))])
    yield from bad("MatMul", "float", "rank-b", [R("float", (2, 3)), R("float", (1, 3, 2))])
    yield from bad("MatMul", "float", "scalar", [R("float", ()), R("float", (3, 2))])

    for op in ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"):
        triples = [(d, d, d) for d in (dtypes(op) if op != "BatchMatMulV3" else [])]
        if op == "BatchMatMulV3":
            triples = sorted({tuple(next(iter(c[n])) for n in ("Ta", "Tb", "Tout")) for _, c in cpu_kernels(op)})
        for ta, tb, tout in triples:
            extra = {"Tout": tout} if op == "BatchMatMulV3" else {}
            label = ta if ta == tb == tout else f"{ta}-{tb}-{tout}"
            for a, b in BOTH:
                rows = [[operand(ta, m, k, a, 1, batch), operand(tb, k, n, b, 2, batch)] for batch, m, k, n in (
                    ((2,), 2, 3, 2), ((3, 2), 1, 4, 2), ((), 2, 3, 4))[:3 if d_is_common(ta) else 1]]
                yield many(op, label, f"adj{int(a)}{int(b)}", rows, loose(tout) if tout in COMPLEX else None, adj_x=a, adj_y=b, **extra)
        d = "float"
        extra = {"Tout": d} if op == "BatchMatMulV3" else {}
        yield many(op, d, "holes", [[R(d, x, 1), R(d, y, 2)] for x, y in (
            ((0, 2, 3), (0, 3, 4)), ((2, 0, 3), (2, 3, 4)), ((2, 2, 0), (2, 0, 3)), ((2, 2, 3), (2, 3, 0)))], **extra)
        yield one(op, d, "medium", [R(d, (3, 9, 33), 1), R(d, (3, 33, 17), 2)], (1e-5, 1e-4), **extra)
        yield from bad(op, d, "inner", [R(d, (2, 2, 3)), R(d, (2, 4, 2))], **extra)
        yield from bad(op, d, "batch", [R(d, (2, 2, 3)), R(d, (3, 3, 2))], **extra)
        yield from bad(op, d, "vector", [R(d, (3,)), R(d, (3, 2))], **extra)
        if op == "BatchMatMul":
            yield from bad(op, d, "batch-rank", [R(d, (2, 2, 3)), R(d, (3, 2))])
            yield from bad(op, d, "batch-broadcast", [R(d, (1, 2, 3)), R(d, (2, 3, 2))])
            continue
        for d in ("float", "int32", "complex64", "bfloat16"):
            extra = {"Tout": d} if op == "BatchMatMulV3" else {}
            yield many(op, d, "broadcast", [[R(d, x, 1, ints=3), R(d, y, 2, ints=3)] for x, y in (
                ((2, 3), (4, 3, 2)), ((4, 2, 3), (3, 2)), ((1, 2, 3), (4, 3, 2)), ((2, 1, 2, 3), (3, 3, 2)), ((3, 2, 3), (2, 1, 3, 1)),
                ((0, 2, 3), (3, 2)), ((2, 1, 1, 2, 1, 2), (1, 2, 2, 1, 2, 2)))], loose(d) if d in COMPLEX else None, **extra)
