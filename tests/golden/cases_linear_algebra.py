"""Linear algebra: decompositions, inverses, determinants, equations.

What a decomposition is free to choose is not compared: its columns may have other signs. Such a case compares what it promises,
products of its parts, built as nodes behind it.
"""
import numpy as np

import golden
from golden import NUMPY, Case, R, T, attr_value, dtypes, f32, i32, many, one

BATCHES = ((), (1,), (3,), (2, 1, 2))
SIZES = (1, 2, 3, 5, 8, 17, 36)
LESS = (1, 3, 17)  # where another attr, or the longer dtype, goes the same way
PART = {"float": "float", "double": "double", "complex64": "float", "complex128": "double", "half": "half"}


def bad(*args, **attrs):
    """As golden.bad, but at run time only: the tests of shape functions have the other half."""
    return golden.bad(*args, static=False, **attrs)


def close(d, n=4, factor=1.0):
    """Sums of `n` products, of numbers of the size of 1."""
    eps = {"float": 3e-6, "complex64": 3e-6, "double": 5e-15, "complex128": 5e-15, "half": 2e-2}[d]
    return (factor * eps * max(n, 4), factor * eps * max(n, 4))


def square(d, n, batch=(), seed=0):
    """Matrices far from singular ones: near a multiple of a unitary one."""
    r = np.random.RandomState(100 * n + seed)
    a = r.normal(0, 1, (*batch, n, n))
    if d.startswith("complex"):
        a = a + 1j * r.normal(0, 1, a.shape)
    if n:
        q, _ = np.linalg.qr(a)
        a = 2 * q + 0.3 * a / n ** 0.5
    return T(d, a.astype(NUMPY[d]))


def hermitian(d, n, batch=(), seed=0, positive=False):
    """Hermitian matrices, whose eigenvalues lie apart."""
    r = np.random.RandomState(100 * n + seed + 7)
    a = r.normal(0, 1, (*batch, n, n))
    if d.startswith("complex"):
        a = a + 1j * r.normal(0, 1, a.shape)
    if n:
        q, _ = np.linalg.qr(a)
        e = np.arange(1, n + 1) if positive else np.where(np.arange(n) % 2, -1, 1) * np.arange(1, n + 1)
        a = (q * (e / 2.0)) @ np.conj(np.swapaxes(q, -1, -2))
        a = (a + np.conj(np.swapaxes(a, -1, -2))) / 2
    return T(d, a.astype(NUMPY[d]))


def oblong(d, m, n, batch=(), seed=0):
    r = np.random.RandomState(1000 * m + 10 * n + seed)
    a = r.normal(0, 1, (*batch, m, n))
    if d.startswith("complex"):
        a = a + 1j * r.normal(0, 1, a.shape)
    return T(d, a.astype(NUMPY[d]))


def of_square(op, d, make, tolerance, keep=None, rows=lambda a: [a], sizes=None, **attrs):
    """An op of one square matrix: all sizes, all batches, what is empty."""
    for n in sizes or (SIZES if PART[d] == "float" else LESS):
        yield many(op, d, f"size-{n}", [rows(make(d, n)), rows(make(d, n, (2,), 1))] if n < 17 else [rows(make(d, n))], tolerance(n), keep=keep, **attrs)
    yield many(op, d, "batches", [rows(make(d, 3, batch)) for batch in BATCHES], tolerance(3), keep=keep, **attrs)
    yield many(op, d, "empty", [rows(make(d, n, batch)) for n, batch in ((0, ()), (0, (2,)), (3, (0,)), (2, (2, 0)))], tolerance(1), keep=keep, **attrs)
    yield one(op, d, "dynamic", rows(make(d, 2)), tolerance(2), keep=keep, dynamic=True, **attrs)


def wrong_squares(op, d, more=(), **attrs):
    for tag, s in (("vector", (2,)), ("wide", (2, 3)), ("tall", (3, 2)), ("none", (0, 3))):
        yield from bad(op, d, tag, [R(d, s), *more], **attrs)


class Promise(Case):
    """A case of one op whose outputs are not compared, but what other nodes make of them."""

    def __init__(self, op, d, tag, inputs, tolerance, **attrs):
        super().__init__(f"{op}/{d}/{tag}", tolerance)
        self.dtype, self.made = d, 0
        self.given = [self.input(f"in{k}", t) for k, t in enumerate(inputs)]
        self.out = self.apply(op, [(e, t.dtype) for e, t in zip(self.given, inputs)], name="op", keep=[], **attrs)

    def output(self, k):
        return f"{self.out}:{k}" if k else self.out

    def then(self, op, inputs, **attrs):
        self.made += 1
        name = f"then{self.made}"
        tested = self.under_test
        node = self.apply(op, inputs, name=name, keep=[], **attrs)
        self.under_test = tested[:1]
        return node

    def product(self, x, y, d, **attrs):
        return self.then("BatchMatMulV2", [(x, d), (y, d)], **attrs)

    def promise(self, edge, d):
        self.values.append((edge, d))
        return self


def choleskys():
    for d in dtypes("Cholesky"):
        positive = lambda d, n, batch=(), seed=0: hermitian(d, n, batch, seed, True)  # noqa: E731
        yield from of_square("Cholesky", d, positive, lambda n: close(d, n, 4))
        yield from wrong_squares("Cholesky", d)
        # What is above the diagonal, and imaginary parts on it, do not count.
        a = positive(d, 4).array + np.triu(np.ones((4, 4)), 1)
        yield one("Cholesky", d, "lower", [T(d, a)], close(d, 4, 4))
        if not d.startswith("complex"):  # there TensorFlow gives zeros, as its complex numbers have no NaN
            case = Promise("Cholesky", d, "not-definite", [T(d, np.diag([1, -1, 2]))], None)
            # What is above the diagonal it leaves as it was.
            band = case.then("MatrixBandPart", [(case.out, d), golden.i64(-1), golden.i64(0)])
            yield case.promise(case.then("IsNan", [(band, d)]), "bool")
    for d in dtypes("CholeskyGrad"):
        lower = lambda d, n, batch=(), seed=0: T(d, np.tril(square(d, n, batch, seed).array) + 2 * np.eye(n))  # noqa: E731
        yield from of_square("CholeskyGrad", d, lower, lambda n: close(d, n, 40), rows=lambda l: [l, R(d, l.array.shape, 3)])
        yield one("CholeskyGrad", d, "lower", [square(d, 4), square(d, 4, (), 1)], close(d, 4, 40))
        yield from wrong_squares("CholeskyGrad", d, [R(d, (2, 2))])
        yield from bad("CholeskyGrad", d, "different", [square(d, 2), square(d, 3)])
        yield from bad("CholeskyGrad", d, "batch", [square(d, 2, (2,)), square(d, 2, (3,))])


def inverses():
    for d in dtypes("MatrixInverse"):
        yield from of_square("MatrixInverse", d, square, lambda n: close(d, n, 4))
        for case in of_square("MatrixInverse", d, square, lambda n: close(d, n, 4), sizes=LESS, adjoint=True):
            yield renamed(case, "adjoint")
        for name, a in (("singular", [[1, 2], [2, 4]]), ("zero", [[0, 0], [0, 0]]), ("nan", [[np.nan, 1], [1, 2]])):
            yield from bad("MatrixInverse", d, name, [T(d, a)])
        yield from wrong_squares("MatrixInverse", d)
    for d in dtypes("MatrixDeterminant"):
        for op in ("MatrixDeterminant", "LogMatrixDeterminant"):
            yield from of_square(op, d, square, lambda n: close(d, 4 * n, 4))
            yield many(op, d, "special", [[T(d, a)] for a in ([[1, 2], [2, 4]], [[0, 0], [0, 0]], [[-1, 0], [0, 1]], [[0, 1], [1, 0]], [[2]], [[-3]])], close(d))
            yield from wrong_squares(op, d)
    for d in dtypes("Lu"):
        yield from of_square("Lu", d, square, lambda n: close(d, n, 4))
        for case in of_square("Lu", d, square, lambda n: close(d, n, 4), sizes=LESS, output_idx_type="int64"):
            yield renamed(case, "int64")
        for name, a in (("singular", [[1, 2], [2, 4]]), ("zero", [[0, 0], [0, 0]]), ("nan", [[np.nan, 1], [1, 2]])):
            yield from bad("Lu", d, name, [T(d, a)])
        yield from wrong_squares("Lu", d)


def renamed(case, suffix):
    """A case under another name, which all of its nodes begin with."""
    old, new = case.name, f"{case.name}-{suffix}"
    for node in case.nodes:
        node.name = new + node.name.removeprefix(old)
        node.input[:] = [i.replace(old + "/", new + "/", 1) for i in node.input]
    case.values = [(e.replace(old + "/", new + "/", 1), k) for e, k in case.values]
    case.name = new
    return case


def functions():
    for d in dtypes("MatrixSquareRoot"):
        positive = lambda d, n, batch=(), seed=0: hermitian(d, n, batch, seed, True)  # noqa: E731
        yield from of_square("MatrixSquareRoot", d, positive, lambda n: close(d, n, 40))
        turned = [[0.6, -0.8, 0.1], [0.8, 0.6, 0.3], [0, 0.2, 2]]
        yield many("MatrixSquareRoot", d, "special", [[T(d, a)] for a in (turned, [[4, 1], [0, 9]], [[1, 2], [2, 4]], [[0, 0], [0, 0]], [[0]])][:3], close(d, 4, 400))
        yield from wrong_squares("MatrixSquareRoot", d)
    yield many("MatrixSquareRoot", "double", "not-real", [[T("double", a)] for a in ([[-1, 0], [0, 1]], [[-4]], [[0, 0], [0, 0]])])
    for d in dtypes("MatrixLogarithm"):
        positive = lambda d, n, batch=(), seed=0: hermitian(d, n, batch, seed, True)  # noqa: E731
        yield from of_square("MatrixLogarithm", d, positive, lambda n: close(d, n, 40))
        yield from of_general("MatrixLogarithm", d)
        yield from wrong_squares("MatrixLogarithm", d)


def of_general(op, d):
    """Eigenvalues that are not real, near to each other, of all sizes."""
    for n in (2, 4, 7):
        for scale in (0.01, 1.0, 30.0):
            a = square(d, n, (), 5).array * scale + 3 * scale * np.eye(n)
            yield one(op, d, f"general-{n}-{scale}", [T(d, a)], close(d, n, 100))
    yield one(op, d, "repeated", [T(d, [[2, 1, 0], [0, 2, 1], [0, 0, 2]])], close(d, 4, 100))


def solves():
    for d in dtypes("MatrixSolve"):
        for adjoint in (False, True):
            tag = "adjoint" if adjoint else "plain"
            for n, k in ((1, 1), (2, 3), (3, 1), (5, 8), (17, 2), (40, 9)) + (((70, 12),) if d == "float" else ()):
                yield one("MatrixSolve", d, f"{tag}-{n}-{k}", [square(d, n), oblong(d, n, k)], close(d, n, 8), adjoint=adjoint)
            yield many("MatrixSolve", d, tag + "-batches", [[square(d, 3, b), oblong(d, 3, 2, b)] for b in BATCHES], close(d, 3, 8), adjoint=adjoint)
        yield many("MatrixSolve", d, "empty", [[T(d, np.zeros(a)), T(d, np.zeros(b))] for a, b in (((0, 0), (0, 2)), ((2, 2), (2, 0)), ((0, 2, 2), (0, 2, 1)), ((2, 0, 0), (2, 0, 3)))])
        for tag, a, b in (("singular", np.ones((2, 2)), np.ones((2, 1))), ("rows", np.eye(2), np.ones((3, 1))), ("batch", np.ones((1, 2, 2)), np.ones((2, 2, 1))),
                          ("rank", np.ones((1, 2, 2)), np.ones((2, 1))), ("wide", np.ones((2, 3)), np.ones((2, 1))), ("vector", np.ones((2,)), np.ones((2, 1))), ("rhs", np.eye(2), np.ones((2,)))):
            yield from bad("MatrixSolve", d, tag, [T(d, a), T(d, b)])
    zero = T("double", 0.0)
    for d in dtypes("MatrixSolveLs"):
        for fast in (True, False):
            tag = "fast" if fast else "slow"
            for m, n, k in ((1, 1, 1), (3, 2, 2), (2, 4, 1), (5, 5, 3), (20, 7, 2), (6, 19, 10), (40, 30, 4)):
                for weight in (0.0, 0.7) if fast else (0.0,):
                    factor = 1e3 if fast and not weight else 40
                    a = square(d, max(m, n)).array[:m, :n]
                    yield one("MatrixSolveLs", d, f"{tag}-{m}-{n}-{k}-{weight}", [T(d, a), oblong(d, m, k), T("double", weight)], close(d, max(m, n), factor), fast=fast)
            yield many("MatrixSolveLs", d, tag + "-batches", [[T(d, square(d, 4, b).array[..., :2]), oblong(d, 4, 2, b), zero] for b in BATCHES], close(d, 4, 40), fast=fast)
            yield many("MatrixSolveLs", d, tag + "-empty", [[T(d, np.zeros(a)), T(d, np.zeros(b)), zero] for a, b in (((2, 0), (2, 2)), ((2, 2), (2, 0)), ((0, 2, 2), (0, 2, 1)))], fast=fast)
            for name, a, b, w in (("negative", np.eye(2), np.ones((2, 1)), -1.0), ("vector", np.eye(2), np.ones((2, 1)), [0.0]), ("rows", np.eye(2), np.ones((3, 1)), 0.0), ("batch", np.ones((1, 2, 2)), np.ones((2, 2, 1)), 0.0)):
                yield from bad("MatrixSolveLs", d, f"{tag}-{name}", [T(d, a), T(d, b), T("double", w)], fast=fast)
        yield from bad("MatrixSolveLs", d, "singular", [T(d, np.zeros((2, 2))), T(d, np.ones((2, 1))), zero])
        # The shortest of many solutions.
        low = oblong(d, 5, 2).array @ oblong(d, 2, 4, (), 1).array
        yield many("MatrixSolveLs", d, "deficient", [[T(d, low), oblong(d, 5, 2), zero], [T(d, low.T), oblong(d, 4, 2), zero], [T(d, np.zeros((3, 2))), oblong(d, 3, 1), zero]], close(d, 5, 40), fast=False)
    for d in dtypes("MatrixTriangularSolve"):
        for lower in (False, True):
            for adjoint in (False, True):
                tag = f"{'lower' if lower else 'upper'}{'-adjoint' if adjoint else ''}"
                rows = [(square(d, n).array / 4 + 2 * np.eye(n), oblong(d, n, k)) for n, k in ((1, 1), (3, 2), (5, 9), (20, 1))]
                yield many("MatrixTriangularSolve", d, tag, [[T(d, a), b] for a, b in rows], close(d, 20, 8), lower=lower, adjoint=adjoint)
                if d in ("float", "complex128"):
                    big = T(d, square(d, 70).array / 8 + 2 * np.eye(70))
                    yield one("MatrixTriangularSolve", d, tag + "-70", [big, oblong(d, 70, 8)], close(d, 20, 8), lower=lower, adjoint=adjoint)
        for k, (a, b) in enumerate((((), (3,)), ((3,), ()), ((2, 1), (1, 3)), ((2,), (2,)), ((1, 2), (3, 1, 1)))):
            yield one("MatrixTriangularSolve", d, f"broadcast-{k}", [T(d, square(d, 3, a).array + 3 * np.eye(3)), oblong(d, 3, 2, b)], close(d, 3, 8))
        yield many("MatrixTriangularSolve", d, "empty", [[T(d, np.zeros(a)), T(d, np.zeros(b))] for a, b in (((0, 0), (0, 2)), ((2, 2), (2, 0)), ((0, 2, 2), (2, 1)))])
        for tag, a, b in (("rows", np.eye(2), np.ones((3, 1))), ("batch", np.ones((3, 2, 2)), np.ones((2, 2, 1))), ("wide", np.ones((2, 3)), np.ones((2, 1))), ("vector", np.ones((2,)), np.ones((2, 1))), ("rhs", np.eye(2), np.ones((2,)))):
            yield from bad("MatrixTriangularSolve", d, tag, [T(d, a), T(d, b)])
    yield one("MatrixTriangularSolve", "float", "zero", [f32([[0, 0], [1, 2]]), f32([[1], [1]])])


def banded():
    for d in dtypes("BandedTriangularSolve"):
        for lower in (False, True):
            for adjoint in (False, True):
                tag = f"{'lower' if lower else 'upper'}{'-adjoint' if adjoint else ''}"
                rows = []
                for bands, n, k in ((1, 1, 1), (1, 3, 2), (2, 3, 1), (3, 3, 2), (4, 9, 5)):
                    a = oblong(d, bands, n).array / 3
                    a[0 if lower else -1] += 2
                    rows.append([T(d, a), oblong(d, n, k)])
                yield many("BandedTriangularSolve", d, tag, rows, close(d, 9, 8), lower=lower, adjoint=adjoint)
                # The kernel takes more diagonals than rows, which the shape function refuses.
                for bands, n in ((3, 2), (5, 2), (2, 1)):
                    a = oblong(d, bands, n).array / 3
                    a[0 if lower else -1] += 2
                    case = Case(f"BandedTriangularSolve/{d}/{tag}-{bands}of{n}-runtime", close(d, 3, 8))
                    case.apply("BandedTriangularSolve", [T(d, a), oblong(d, n, 2)], dynamic=True, lower=lower, adjoint=adjoint)
                    yield case
        for k, (a, b) in enumerate((((), (3,)), ((3,), ()), ((2, 1), (1, 3)), ((2,), (2,)))):
            yield one("BandedTriangularSolve", d, f"broadcast-{k}", [T(d, oblong(d, 2, 3, a).array / 4 + 2), oblong(d, 3, 2, b)], close(d, 3, 8))
        for tag, a, b in (("zero", np.zeros((2, 3)), np.ones((3, 1))), ("none", np.ones((0, 3)), np.ones((3, 1))), ("no-rhs", np.ones((2, 3)), np.ones((3, 0))), ("rows", np.ones((2, 3)), np.ones((2, 1))),
                          ("batch", np.ones((3, 1, 2)), np.ones((2, 2, 2))), ("vector", np.ones((3,)), np.ones((3, 1)))):
            yield from bad("BandedTriangularSolve", d, tag, [T(d, a), T(d, b)])
    for d in dtypes("TridiagonalSolve"):
        for pivoting in (False, True):
            tag = "pivots" if pivoting else "in-order"
            rows = []
            for n, k in ((1, 1), (2, 3), (3, 1), (10, 4), (50, 2)):
                a = oblong(d, 3, n).array
                if not pivoting:
                    a[1] += 5
                rows.append([T(d, a), oblong(d, n, k)])
            yield many("TridiagonalSolve", d, tag, rows, close(d, 10, 100), partial_pivoting=pivoting)
            yield many("TridiagonalSolve", d, tag + "-batches", [[T(d, oblong(d, 3, 4, b).array + [[0], [5], [0]]), oblong(d, 4, 2, b)] for b in BATCHES], close(d, 4, 8), partial_pivoting=pivoting)
            yield many("TridiagonalSolve", d, tag + "-empty", [[T(d, np.zeros(a)), T(d, np.zeros(b))] for a, b in (((3, 0), (0, 2)), ((3, 2), (2, 0)), ((0, 3, 2), (0, 2, 1)))], partial_pivoting=pivoting)
            singular = [T(d, np.zeros((3, 3))), T(d, [[1, 0], [1, 1], [0, 1]]), T(d, [[1], [0], [1]]), T(d, [[1, 2, 3], [0, 5, 6], [7, 8, 9]])]
            if not d.startswith("complex"):
                yield many("TridiagonalSolve", d, tag + "-singular", [[a, T(d, np.ones((a.array.shape[1], 1)))] for a in singular], close(d, 4, 8), partial_pivoting=pivoting)
        for tag, a, b in (("rows", np.ones((2, 3)), np.ones((3, 1))), ("rhs", np.ones((3, 3)), np.ones((2, 1))), ("batch", np.ones((1, 3, 2)), np.ones((2, 2, 1))), ("rank", np.ones((1, 3, 2)), np.ones((2, 1)))):
            yield from bad("TridiagonalSolve", d, tag, [T(d, a), T(d, b)])
        yield from bad("TridiagonalSolve", d, "perturbed", [T(d, np.ones((3, 3))), T(d, np.ones((3, 1)))], partial_pivoting=False, perturb_singular=True)
        yield many("TridiagonalMatMul", d, "values", [[oblong(d, 1, n, b, s) for s in range(3)] + [oblong(d, n, k, b)] for n, k, b in ((1, 1, ()), (2, 3, ()), (9, 4, ()), (3, 2, (2,)), (3, 1, (2, 1, 2)), (0, 2, ()), (3, 0, ()), (3, 2, (0,)))], close(d))
        for tag, s in (("rows", (2, 3)), ("columns", (1, 2)), ("vector", (3,)), ("batch", (2, 1, 3))):
            yield from bad("TridiagonalMatMul", d, tag, [R(d, s), R(d, (1, 3)), R(d, (1, 3)), R(d, (3, 2))])
    for d in ("float", "double"):
        zeros = lambda n: [0] * n  # noqa: E731
        diagonals = [[zeros(1), [0], zeros(1)], [zeros(2), [8, 0], zeros(2)], [zeros(3), [1, 4, 0], zeros(3)], [zeros(5), [1, 4, 64, 16, 0], zeros(5)], [[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[16, 0], [1, 0], [0, 0]],
                     [[1, 2, 0], [4, 5, 6], [0, 8, 9]]]
        yield many("TridiagonalSolve", d, "perturbed", [[T(d, a), T(d, np.ones((len(a[0]), 2)))] for a in diagonals], close(d, 4, 8), perturb_singular=True)
        yield one("TridiagonalSolve", d, "perturbed-until-finite", [T(d, [[0, 0], [0, 1], [0, 0]]), T(d, [[1e33 if d == "float" else 1e300], [1]])], close(d, 4, 8), perturb_singular=True)


SHAPES = ((1, 1), (2, 2), (3, 2), (2, 3), (5, 5), (7, 3), (3, 7), (12, 12), (20, 6), (34, 34), (6, 30))


def qrs():
    for d in dtypes("Qr"):
        for full in (False, True):
            tag = "full" if full else "thin"
            for m, n in SHAPES if d != "half" else SHAPES[:5]:
                # The same reflections have the same signs.
                yield one("Qr", d, f"{tag}-{m}-{n}", [oblong(d, m, n)], close(d, m + n, 8), full_matrices=full)
                case = Promise("Qr", d, f"{tag}-{m}-{n}-product", [oblong(d, m, n)], close(d, m + n, 8), full_matrices=full)
                if d != "half":
                    case.promise(case.product(case.out, case.output(1), d), d)
                    yield case.promise(case.product(case.out, case.out, d, adj_x=True), d)
            yield many("Qr", d, tag + "-batches", [[oblong(d, 3, 2, b)] for b in BATCHES], close(d, 4, 8), full_matrices=full)
            yield many("Qr", d, tag + "-empty", [[T(d, np.zeros(s))] for s in ((0, 0), (0, 3), (3, 0), (2, 0, 2), (0, 2, 2))], full_matrices=full)
            yield many("Qr", d, tag + "-special", [[T(d, a)] for a in ([[0, 0], [0, 0]], [[-1, 0], [0, 1]], [[np.nan, 1], [1, 2]], [[3]], [[-3]], [[0, 2], [0, 1]])], close(d), full_matrices=full)
        yield from bad("Qr", d, "vector", [R(d, (3,))])


def self_adjoint():
    for d in dtypes("SelfAdjointEigV2"):
        yield from of_square("SelfAdjointEigV2", d, hermitian, lambda n: close(d, n, 40), keep=[0])
        for n in (1, 2, 3, 6, 12, 33):
            a = hermitian(d, n)
            # The same steps have the same signs, while rounding errors are small.
            if n <= 12:
                yield one("SelfAdjointEigV2", d, f"vectors-{n}", [a], close(d, n, 100))
            case = Promise("SelfAdjointEigV2", d, f"product-{n}", [a], close(d, n, 40))
            case.promise(case.product(case.output(1), case.output(1), d, adj_x=True), d)
            scaled = case.then("Mul", [(case.output(1), d), (case.then("ExpandDims", [(case.out, d), i32(-2)]), d)])
            yield case.promise(case.product(scaled, case.output(1), d, adj_y=True), d)
            yield one("SelfAdjointEigV2", d, f"values-{n}", [a], close(d, n, 40), keep=[0], compute_v=False)
        yield many("SelfAdjointEigV2", d, "special", [[T(d, a)] for a in ([[0, 0], [0, 0]], [[1, 0], [0, 1]], [[1, 2], [2, 4]], [[3]], np.diag([3, 1, 2]), np.ones((4, 4)))], close(d), keep=[0])
        yield one("SelfAdjointEigV2", d, "lower", [T(d, hermitian(d, 4).array + np.triu(np.ones((4, 4)), 1))], close(d, 4, 40), keep=[0])
        yield from bad("SelfAdjointEigV2", d, "nan", [T(d, [[np.nan, 1], [1, 2]])])
        yield from wrong_squares("SelfAdjointEigV2", d)


def svds():
    for d in dtypes("Svd"):
        for full in (False, True):
            tag = "full" if full else "thin"
            for m, n in SHAPES:
                a = oblong(d, m, n)
                # The same rotations have the same signs, where columns are few. The phases of complex numbers come of rounding errors.
                if n < 8 and not full and d == PART[d]:
                    yield one("Svd", d, f"vectors-{m}-{n}", [a], close(d, m + n, 40))
                case = Promise("Svd", d, f"{tag}-{m}-{n}", [a], close(d, m + n, 20), full_matrices=full)
                size = min(m, n)
                case.promise(case.out, d)
                for k in (1, 2):
                    case.promise(case.product(case.output(k), case.output(k), d, adj_x=True), d)
                u, v = (case.then("Slice", [(case.output(k), d), i32([0, 0]), i32([-1, size])]) for k in (1, 2))
                scaled = case.then("Mul", [(u, d), (case.then("ExpandDims", [(case.out, d), i32(-2)]), d)])
                yield case.promise(case.product(scaled, v, d, adj_y=True), d)
            yield many("Svd", d, tag + "-empty", [[T(d, np.zeros(s))] for s in ((0, 0), (0, 3), (3, 0), (2, 0, 2), (0, 2, 2))], full_matrices=full)
        for m, n in SHAPES:
            yield one("Svd", d, f"values-{m}-{n}", [oblong(d, m, n)], close(d, m + n, 20), keep=[0], compute_uv=False)
        yield many("Svd", d, "batches", [[oblong(d, 3, 2, b)] for b in BATCHES], close(d, 4, 20), keep=[0])
        low = oblong(d, 5, 2).array @ oblong(d, 2, 4, (), 1).array
        yield many("Svd", d, "special", [[T(d, a)] for a in ([[0, 0], [0, 0]], [[-1, 0], [0, 1]], [[1, 2], [2, 4]], [[3]], [[-3]], low) + (([[np.nan, 1], [1, 2]], [[np.inf, 1], [1, 2]]) if d == PART[d] else ())], close(d, 8, 20), keep=[0])
        yield from bad("Svd", d, "vector", [R(d, (3,))])


def eigs():
    for d in dtypes("Eig"):
        out = d if d.startswith("complex") else {"float": "complex64", "double": "complex128"}[d]
        part = PART[d]
        for n in (1, 2, 3, 4, 6, 9, 15, 24):
            a = T(d, square(d, n, (), 2).array + np.diag(np.arange(n)))
            for compute_v in (True, False):
                # Which eigenvalue comes first, and the phases of vectors, come of rounding errors.
                case = Promise("Eig", d, f"{'product' if compute_v else 'values'}-{n}", [a], close(d, n, 100), Tout=out, compute_v=compute_v)
                for op, attrs in (("ComplexAbs", {}), ("Real", {}), ("Imag", {})):
                    real = case.then(op, [(case.out, out)], Tout=part, **attrs)
                    case.promise(case.then("TopKV2", [(real, part), i32(n)]), part)
                if compute_v:
                    wide = case.then("Cast", [(case.given[0], d)], DstT=out) if d != out else case.given[0]
                    left = case.product(wide, case.output(1), out)
                    right = case.then("Mul", [(case.output(1), out), (case.then("ExpandDims", [(case.out, out), i32(-2)]), out)])
                    case.promise(case.then("Sub", [(left, out), (right, out)]), out)
                    size = case.then("ComplexAbs", [(case.output(1), out)], Tout=part)
                    squares = case.then("Mul", [(size, part), (size, part)])
                    case.promise(case.then("Sum", [(squares, part), i32([0])]), part)
                yield case
            if n <= 6 and d == "complex128":
                # The same steps have the same order and phases.
                yield one("Eig", d, f"vectors-{n}", [a], close(d, n, 400), Tout=out)
        yield many("Eig", d, "special", [[T(d, a)] for a in ([[0, 0], [0, 0]], [[1, 0], [0, 1]], np.diag([3, 1, 2]), [[0, 1], [-1, 0]], [[1, 2], [3, 4]])], close(d, 4, 40), keep=[0], Tout=out)
        yield many("Eig", d, "batches", [[T(d, hermitian(d, 3, b).array + np.diag([1, 2, 3]))] for b in BATCHES], close(d, 4, 400), keep=[0], Tout=out)
        yield many("Eig", d, "empty", [[T(d, np.zeros(s))] for s in ((0, 0), (2, 0, 0), (0, 3, 3))], Tout=out)
        yield from bad("Eig", d, "nan", [T(d, [[np.nan, 1], [1, 2]])], Tout=out)
        yield from bad("Eig", d, "types", [T(d, [[1, 1], [1, 2]])], Tout="complex64" if out == "complex128" else "complex128")
        yield from wrong_squares("Eig", d, Tout=out)


def scales():
    """Matrices of numbers whose squares no float holds, and some whose greatest part is a multiple of the others."""
    for d, power in (("float", 25), ("double", 200), ("complex64", 25), ("complex128", 200)):
        eps = close(d, 4, 8)[0]
        for tag, scale in (("small", 10.0 ** -power), ("large", 10.0 ** power)):
            a, b = (T(d, m.array * NUMPY[d](scale)) for m in (square(d, 3), square(d, 3, (), 1)))
            for op, inputs, atol, attrs in (
                ("MatrixInverse", [a], eps / scale, {}),
                ("MatrixSolve", [a, b], eps, {}),
                ("MatrixTriangularSolve", [a, b], eps, {}),
                ("Lu", [a], eps * scale, {}),
                ("LogMatrixDeterminant", [a], eps, {}),
                ("Svd", [a], eps * scale, {"compute_uv": False, "keep": [0]}),
                ("TridiagonalSolve", [a, b], eps, {}),
                ("BandedTriangularSolve", [a, b], eps, {}),
            ):
                if d in dtypes(op):
                    yield one(op, d, "scale-" + tag, inputs, (eps, atol), **attrs)
        diagonal = T(d, np.diag([1e-30, 1, 1e30]))
        yield one("MatrixTriangularSolve", d, "scales", [diagonal, diagonal], (eps, eps))
        zeros = [[T(d, np.zeros((3, 4))), T(d, np.outer(np.ones(4), np.arange(1, k + 1)))] for k in (1, 2, 3)]
        yield many("TridiagonalSolve", d, "perturbed-zeros", zeros, (eps, eps), perturb_singular=True)
    for d in dtypes("CholeskyGrad"):
        # An ill-conditioned triangle: its own gradient is half of the identity.
        r = np.random.RandomState(3)
        lower = T(d, np.tril(r.normal(0, 1, (20, 20))))
        yield one("CholeskyGrad", d, "itself", [lower, lower], close(d, 20, 4))


def cases():
    for part in (choleskys, inverses, functions, solves, banded, qrs, self_adjoint, svds, eigs, scales):
        yield from part()
