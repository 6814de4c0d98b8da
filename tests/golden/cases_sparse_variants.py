"""Ragged tensors and sparse matrices as variants, sparse tensors in maps: every case is a chain of nodes."""
import numpy as np

from cases_list import Chain
from golden import R, T, dtypes, f32, i32, i64, tol

MATRICES = ("float", "double", "complex64", "complex128")


def chain(op, dtype, tag, fails=False, tolerance=None):
    return Chain(f"{op}/{dtype}/{'error-' if fails else ''}{tag}", fails, tolerance)


def s(kind, values):
    return T(kind, np.array(values, np.int64))


def ragged():
    for d in dtypes("RaggedTensorToVariant", "Tvalues"):
        for k in ("int32", "int64"):
            c = chain("RaggedTensorToVariant", d, f"rows-{k}")
            v = c.do("RaggedTensorToVariant", [s(k, [0, 2, 2, 3]), s(k, [0, 1, 3, 4])], R(d, (4, 2)), batched_input=True)
            c.see("RaggedTensorFromVariant", v, input_ragged_rank=1, output_ragged_rank=2, Tvalues=d, Tsplits=k)
            c.see("RaggedTensorFromVariant", v, input_ragged_rank=-1, output_ragged_rank=2, Tvalues=d, Tsplits=k)
            c.see("RaggedTensorToVariantGradient", v, s(k, [0, 2, 2, 3]), i32([4, 2]), Tvalues=d)
            whole = c.do("RaggedTensorToVariant", [s(k, [0, 2, 2, 3])], R(d, 3), batched_input=False)
            c.see("RaggedTensorFromVariant", whole, input_ragged_rank=1, output_ragged_rank=1, Tvalues=d, Tsplits=k)
            yield c.case
    for d in ("float", "string"):
        for k in ("int32", "int64"):
            c = chain("RaggedTensorFromVariant", d, f"stacked-{k}")
            v = c.do("RaggedTensorToVariant", [s(k, [0, 1, 1]), s(k, [0, 2])], R(d, (2, 3), 1), batched_input=True)
            w = c.do("RaggedTensorToVariant", [s(k, [0, 2, 3]), s(k, [0, 0, 1, 4])], R(d, (4, 3), 2), batched_input=True)
            p = c.do("Pack", [(v, "variant"), (w, "variant")], axis=0)
            c.see("RaggedTensorFromVariant", p, input_ragged_rank=1, output_ragged_rank=3, Tvalues=d, Tsplits=k)
            yield c.case
        c = chain("RaggedTensorFromVariant", d, "values")
        v = c.do("RaggedTensorToVariant", [s("int64", [0, 2, 2, 3])], R(d, (3, 0, 2)), batched_input=True)
        c.see("RaggedTensorFromVariant", v, input_ragged_rank=0, output_ragged_rank=1, Tvalues=d)
        yield c.case
        c = chain("RaggedTensorFromVariant", d, "nothing")
        v = c.do("RaggedTensorToVariant", [s("int64", [0])], R(d, 0), batched_input=True)
        c.see("RaggedTensorFromVariant", v, input_ragged_rank=0, output_ragged_rank=1, Tvalues=d)
        yield c.case
    for d in dtypes("RaggedTensorToVariant", "Tvalues"):
        if d in ("string", "bool") or d.startswith("q"):
            continue
        c = chain("AddN", d, "ragged-variants")
        v = c.do("RaggedTensorToVariant", [s("int64", [0, 2, 3])], R(d, 3, 1, ints=3), batched_input=False)
        w = c.do("RaggedTensorToVariant", [s("int64", [0, 2, 3])], R(d, 3, 2, ints=3), batched_input=False)
        z = c.do("ZerosLike", v)
        p = c.do("AddN", [(v, "variant"), (w, "variant"), (z, "variant")])
        c.see("RaggedTensorFromVariant", p, input_ragged_rank=1, output_ragged_rank=1, Tvalues=d)
        yield c.case
    for tag, splits, x in (("first", [[1, 2]], 2), ("last", [[0, 2]], 3), ("falling", [[0, 3, 2]], 2), ("inner", [[0, 2], [0, 1]], 1), ("empty", [[]], 0)):
        for batched in (False, True):
            c = chain("RaggedTensorToVariant", "float", f"{tag}-{batched}", fails=True)
            v = c.do("RaggedTensorToVariant", [s("int64", row) for row in splits], R("float", x), batched_input=batched, dynamic=True)
            rank = len(splits)
            c.see("RaggedTensorFromVariant", v, input_ragged_rank=rank - batched, output_ragged_rank=rank, Tvalues="float")
            yield c.case
    for tag, attrs in (("rank", dict(input_ragged_rank=1, output_ragged_rank=2)), ("dtype", dict(input_ragged_rank=0, output_ragged_rank=1, Tvalues="double")),
                       ("output", dict(input_ragged_rank=0, output_ragged_rank=3)), ("inferred", dict(input_ragged_rank=-1, output_ragged_rank=0))):
        c = chain("RaggedTensorFromVariant", "float", tag, fails=True)
        v = c.do("RaggedTensorToVariant", [s("int64", [0, 2, 3])], f32([1, 2, 3]), batched_input=True)
        c.see("RaggedTensorFromVariant", v, **{"Tvalues": "float", **attrs})
        yield c.case
    c = chain("RaggedTensorFromVariant", "float", "values-rank", fails=True)
    v = c.do("RaggedTensorToVariant", [s("int64", [0, 1])], R("float", (1, 2)), batched_input=False)
    w = c.do("RaggedTensorToVariant", [s("int64", [0, 1])], R("float", 1), batched_input=False)
    p = c.do("Pack", [(v, "variant"), (w, "variant")], axis=0)
    c.see("RaggedTensorFromVariant", p, input_ragged_rank=1, output_ragged_rank=2, Tvalues="float")
    yield c.case


def ix(rows, width=2):
    return T("int64", np.array(rows, np.int64).reshape(len(rows), width))


def maps():
    for d in dtypes("TakeManySparseFromTensorsMap", "dtype"):
        c = chain("TakeManySparseFromTensorsMap", d, "one-by-one")
        a = c.do("AddSparseToTensorsMap", ix([[0, 1], [2, 0]]), R(d, 2, 1), i64([3, 4]), shared_name=f"map1-{d}")
        b = c.do("AddSparseToTensorsMap", ix([[1, 5]]), R(d, 1, 2), i64([2, 6]), control=[a], shared_name=f"map1-{d}")
        p = c.do("Pack", [(a, "int64"), (b, "int64")], axis=0)
        c.see("TakeManySparseFromTensorsMap", (p, "int64"), dtype=d, shared_name=f"map1-{d}")
        yield c.case
        c = chain("AddManySparseToTensorsMap", d, "rows")
        a = c.see("AddManySparseToTensorsMap", ix([[0, 1], [2, 0], [2, 3]]), R(d, 3), i64([4, 4]), shared_name=f"map2-{d}")
        c.see("TakeManySparseFromTensorsMap", (a, "int64"), dtype=d, shared_name=f"map2-{d}")
        yield c.case
    ok = [ix([[0, 1], [2, 0]]), f32([1, 2]), i64([3, 4])]
    for op in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        wrong = [("indices", 0, i64([0, 1])), ("values", 1, f32([[1, 2]])), ("count", 1, f32([1])), ("shape", 2, i64([[3, 4]])), ("rank", 2, i64([3, 4, 5])), ("negative", 2, i64([-3, 4]))]
        if "Many" in op:
            wrong += [("row", 2, i64([2, 4])), ("order", 0, ix([[2, 0], [0, 1]])), ("column", 2, i64([3, 1]))]
        for tag, k, v in wrong:
            c = chain(op, "float", tag, fails=True)
            c.see(op, *[(x, True) for x in [*ok[:k], v, *ok[k + 1:]]])
            yield c.case
    for tag, handles in (("missing", i64([7])), ("none", i64(np.zeros(0))), ("scalar", i64(0))):
        c = chain("TakeManySparseFromTensorsMap", "float", tag, fails=True)
        c.see("TakeManySparseFromTensorsMap", handles, dtype="float", shared_name="nothing-here")
        yield c.case
    c = chain("TakeManySparseFromTensorsMap", "float", "dtype", fails=True)
    a = c.do("AddManySparseToTensorsMap", *ok, shared_name="map3")
    c.see("TakeManySparseFromTensorsMap", (a, "int64"), dtype="double", shared_name="map3")
    yield c.case


def picks(shape, seed, share=0.5):
    cells = np.argwhere(np.random.RandomState(seed).rand(*shape) < share)
    return T("int64", cells)


def show(c, matrix, d, count=1):
    c.see("CSRSparseMatrixToDense", matrix, type=d)
    c.see("CSRSparseMatrixToSparseTensor", matrix, type=d)
    c.see("SparseMatrixNNZ", matrix)
    for k in range(count):
        c.see("CSRSparseMatrixComponents", matrix, i32(k), type=d)


def csr(c, d, shape, seed, share=0.5):
    return c.do("DenseToCSRSparseMatrix", R(d, shape, seed, ints=4), picks(shape, seed, share))


def conversions():
    for d in MATRICES:
        for k, shape in enumerate(((3, 4), (1, 1), (5, 2), (2, 3, 4), (1, 2, 2), (3, 1, 5), (4, 6))):
            count = shape[0] if len(shape) == 3 else 1
            for share in (0.0, 0.4, 1.0):
                c = chain("DenseToCSRSparseMatrix", d, f"{k}-{share}")
                show(c, csr(c, d, shape, k, share), d, count)
                yield c.case
            c = chain("SparseTensorToCSRSparseMatrix", d, f"{k}")
            at = picks(shape, k)
            show(c, c.do("SparseTensorToCSRSparseMatrix", at, R(d, len(at.array)), i64(shape)), d, count)
            yield c.case
            for conjugate in (False, True):
                c = chain("SparseMatrixTranspose", d, f"{k}-{conjugate}")
                show(c, c.do("SparseMatrixTranspose", csr(c, d, shape, k), conjugate=conjugate, type=d), d, count)
                yield c.case
    for tag, at, values, shape in (("out-of-range", [[0, 4]], 1, [3, 4]), ("negative", [[-1, 0]], 1, [3, 4]), ("count", [[0, 0]], 2, [3, 4]), ("rank", [[0]], 1, [3]),
                                   ("rank-4", [[0, 0, 0, 0]], 1, [1, 2, 3, 4]), ("shape", [[0, 0]], 1, [3, 4, 5]), ("many-rows", [[0, 0]], 1, [2**31, 4])):
        c = chain("SparseTensorToCSRSparseMatrix", "float", tag, fails=True)
        m = c.do("SparseTensorToCSRSparseMatrix", T("int64", np.array(at)), R("float", values), i64(shape))
        c.see("SparseMatrixNNZ", m)
        yield c.case
    for tag, shape, at in (("out-of-range", (3, 4), [[3, 0]]), ("rank", (3,), [[0]]), ("columns", (3, 4), [[0, 0, 0]]), ("vector", (3, 4), [0, 1])):
        c = chain("DenseToCSRSparseMatrix", "float", tag, fails=True)
        c.see("SparseMatrixNNZ", c.do("DenseToCSRSparseMatrix", R("float", shape), T("int64", np.array(at))))
        yield c.case
    for tag, index in (("high", 1), ("negative", -1)):
        c = chain("CSRSparseMatrixComponents", "float", tag, fails=True)
        c.see("CSRSparseMatrixComponents", csr(c, "float", (3, 4), 1), i32(index), type="float")
        yield c.case
    for op in ("CSRSparseMatrixToDense", "CSRSparseMatrixToSparseTensor", "SparseMatrixTranspose"):
        c = chain(op, "double", "dtype", fails=True)
        m = c.do(op, csr(c, "float", (3, 4), 1), type="double")
        if op == "SparseMatrixTranspose":
            c.see("SparseMatrixNNZ", m)
        else:
            c.case.values.append((m, "double" if op.endswith("Dense") else "int64"))
        yield c.case


FORMS = [(a, b) for a in ("", "transpose", "adjoint") for b in ("", "transpose", "adjoint")]


def products():
    for d in MATRICES:
        for batch in ((), (2,)):
            for a, b in FORMS:
                attrs = {**({f"{a}_a": True} if a else {}), **({f"{b}_b": True} if b else {})}
                left, right = (*batch, *((4, 3) if a else (3, 4))), (*batch, *((2, 4) if b else (4, 2)))
                tag = f"{len(batch)}-{a or 'plain'}-{b or 'plain'}"
                c = chain("SparseMatrixMatMul", d, tag, tolerance=tol(d, 4))
                m = csr(c, d, left, 1)
                for output in ({}, {"transpose_output": True}, {"conjugate_output": True}, {"transpose_output": True, "conjugate_output": True}):
                    c.see("SparseMatrixMatMul", m, R(d, right, 2, ints=4), **attrs, **output)
                yield c.case
                c = chain("SparseMatrixSparseMatMul", d, tag, tolerance=tol(d, 4))
                m, n = csr(c, d, left, 1), csr(c, d, right, 3)
                show(c, c.do("SparseMatrixSparseMatMul", m, n, type=d, **attrs), d, batch[0] if batch else 1)
                yield c.case
    for tag, shape, attrs in (("inner", (3, 2), {}), ("rank", (2, 4, 2), {}), ("both", (4, 2), dict(transpose_a=True, adjoint_a=True)), ("both-b", (4, 2), dict(transpose_b=True, adjoint_b=True))):
        c = chain("SparseMatrixMatMul", "float", tag, fails=True)
        c.see("SparseMatrixMatMul", csr(c, "float", (3, 4), 1), R("float", shape), **attrs)
        yield c.case
        if tag != "rank":
            c = chain("SparseMatrixSparseMatMul", "float", tag, fails=True)
            m = c.do("SparseMatrixSparseMatMul", csr(c, "float", (3, 4), 1), csr(c, "float", shape, 2), type="float", **attrs)
            c.see("SparseMatrixNNZ", m)
            yield c.case
    c = chain("SparseMatrixMatMul", "double", "dtype", fails=True)
    c.see("SparseMatrixMatMul", csr(c, "float", (3, 4), 1), R("double", (4, 2)))
    yield c.case


def definite(d, size, seed, share):
    """A positive definite matrix with few elements."""
    r = np.random.RandomState(seed)
    low = np.tril(r.randint(-2, 3, (size, size)) * (r.rand(size, size) < share), -1).astype(np.complex128)
    if d.startswith("complex"):
        low += 1j * np.tril(r.randint(-2, 3, (size, size)) * (r.rand(size, size) < share), -1)
    x = low @ low.conj().T + size * np.eye(size) * 2
    return x if d.startswith("complex") else x.real


def factors():
    for d in MATRICES:
        for k, (size, share) in enumerate(((1, 0), (2, 1), (3, 0.5), (5, 0.3), (8, 0.2), (8, 0.6), (12, 0.1), (20, 0.1), (20, 0.03))):
            x = definite(d, size, k, share)
            at = T("int64", np.argwhere(x != 0))
            order = np.random.RandomState(k).permutation(size).astype(np.int32)
            c = chain("SparseMatrixSparseCholesky", d, f"{k}", tolerance=tol(d, 20))
            m = c.do("DenseToCSRSparseMatrix", T(d, x), at)
            p = c.do("SparseMatrixOrderingAMD", m)
            for permutation in ((p, "int32"), i32(order), i32(np.arange(size))):
                show(c, c.do("SparseMatrixSparseCholesky", m, permutation, type=d), d)
            yield c.case
        both = np.stack([definite(d, 5, 1, 0.3), definite(d, 5, 2, 0.5)])
        c = chain("SparseMatrixSparseCholesky", d, "batch", tolerance=tol(d, 20))
        m = c.do("DenseToCSRSparseMatrix", T(d, both), T("int64", np.argwhere(both != 0)))
        p = c.see("SparseMatrixOrderingAMD", m)
        show(c, c.do("SparseMatrixSparseCholesky", m, (p, "int32"), type=d), d, 2)
        yield c.case
    for tag, x, order in (("indefinite", [[1, 2], [2, 1]], [0, 1]), ("shape", [[1, 2, 0], [2, 5, 0]], [0, 1]), ("length", [[1, 0], [0, 1]], [0, 1, 2]), ("rank", [[1, 0], [0, 1]], [[0, 1]])):
        c = chain("SparseMatrixSparseCholesky", "float", tag, fails=True)
        m = c.do("DenseToCSRSparseMatrix", f32(x), T("int64", np.argwhere(np.array(x) != 0)))
        c.see("SparseMatrixNNZ", c.do("SparseMatrixSparseCholesky", m, i32(order), type="float"))
        yield c.case
    for k in range(40):
        r = np.random.RandomState(100 + k)
        size = int(r.choice([2, 5, 10, 30, 60, 120]))
        x = r.rand(size, size) < r.choice([0.01, 0.03, 0.1, 0.4])
        if k % 4 == 1:  # a grid
            step = max(int(size ** 0.5), 2)
            x = np.eye(size, k=1, dtype=bool) | np.eye(size, k=step, dtype=bool)
        if k % 4 == 2:  # a node next to all others
            x[0] = True
        x = x | x.T | np.eye(size, dtype=bool)
        if k % 5 == 4:  # some have no diagonal element
            x[np.diag_indices(size)] = r.rand(size) < 0.8
        c = chain("SparseMatrixOrderingAMD", "float", f"{k}")
        c.see("SparseMatrixOrderingAMD", c.do("DenseToCSRSparseMatrix", f32(x), T("int64", np.argwhere(x))))
        yield c.case
    c = chain("SparseMatrixOrderingAMD", "float", "shape", fails=True)
    c.see("SparseMatrixOrderingAMD", csr(c, "float", (3, 4), 1))
    yield c.case


def cases():
    for group in (ragged, maps, conversions, products, factors):
        yield from group()
