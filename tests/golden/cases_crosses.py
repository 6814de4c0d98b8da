"""Edit distances, crosses of features, counts."""
import numpy as np

from golden import R, T, bad, dtypes, f32, i32, i64, many, one

TEXTS = [b"", b"a", b"bb", b"a longer text of more than sixteen bytes", b"x" * 40, b"y" * 100, "grün".encode()]


def ix(rows, width=2):
    return T("int64", np.array(rows, np.int64).reshape(len(rows), width))


def texts(*numbers, shape=None):
    return T("string", [TEXTS[n % len(TEXTS)] for n in numbers], shape)


def flag(value):
    return T("bool", np.array(value))


def edit():
    a, b = ix([[0, 0], [0, 1], [1, 0], [3, 0], [3, 1], [3, 2]]), ix([[0, 0], [1, 0], [1, 1], [2, 0], [3, 0], [3, 1]])
    for d in dtypes("EditDistance"):
        for normalize in (False, True):
            yield one("EditDistance", d, f"values-{normalize}", [a, R(d, 6, 1, ints=1), i64([4, 3]), b, R(d, 6, 2, ints=1), i64([4, 2])], normalize=normalize)
    for normalize in (False, True):
        n = f"-{normalize}"
        cube = ix([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 2], [1, 1, 0]], 3)
        yield one("EditDistance", "int32", "cube" + n, [cube, i32([1, 2, 3, 4, 5]), i64([2, 2, 3]), cube, i32([1, 3, 3, 5, 5]), i64([2, 3, 3])], normalize=normalize)
        yield one("EditDistance", "int32", "no-hypothesis" + n, [ix([]), i32(np.zeros(0)), i64([3, 0]), b, i32([1] * 6), i64([4, 2])], normalize=normalize)
        yield one("EditDistance", "int32", "no-truth" + n, [a, i32([1] * 6), i64([4, 3]), ix([]), i32(np.zeros(0)), i64([1, 0])], normalize=normalize)
        yield one("EditDistance", "int32", "nothing" + n, [ix([]), i32(np.zeros(0)), i64([2, 0]), ix([]), i32(np.zeros(0)), i64([3, 4])], normalize=normalize)
        long = ix([[0, k] for k in range(60)])
        yield one("EditDistance", "int64", "long" + n, [long, R("int64", 60, 1, ints=3), i64([1, 60]), long, R("int64", 60, 2, ints=3), i64([1, 60])], normalize=normalize)
    nan = f32([np.nan, -0.0, 0.0, np.inf, 1, 2])
    yield one("EditDistance", "float", "odd", [a, nan, i64([4, 3]), a, nan, i64([4, 3])])
    ok = [a, i32([1, 2, 3, 4, 5, 6]), i64([4, 3]), b, i32([1, 2, 3, 4, 5, 6]), i64([4, 2])]
    for tag, k, v in (("indices", 0, i64([0, 1])), ("values", 1, i32([[1]])), ("count", 1, i32([1, 2])), ("shape", 2, i64([[4, 3]])), ("rank", 2, i64([4, 3, 1])),
                      ("truth-indices", 3, i64([0, 1])), ("truth-values", 4, i32(1)), ("truth-count", 4, i32([1])), ("truth-rank", 5, i64([4, 2, 2])),
                      ("negative", 2, i64([-4, 3])), ("empty", 2, i64([0, 3]))):
        if tag == "empty":
            yield from bad("EditDistance", "int32", tag, [ix([]), i32(np.zeros(0)), i64([0, 3]), ix([]), i32(np.zeros(0)), i64([0, 2])], static=False)
        else:
            yield from bad("EditDistance", "int32", tag, [*ok[:k], v, *ok[k + 1:]])
    vector = [ix([[0]], 1), i32([1]), i64([3])]
    yield from bad("EditDistance", "int32", "vectors", [*vector, *vector], static=False)
    yield from bad("EditDistance", "int32", "out-of-range", [ix([[9, 0]]), i32([1]), i64([4, 3]), *ok[3:]], static=False)


def columns(k):
    """Three rows: sparse and dense columns in several combinations."""
    first = (ix([[0, 0], [1, 0], [1, 1], [2, 0]]), texts(k, k + 1, k + 2, k + 3), i64([3, 2]))
    second = (ix([[0, 0], [0, 2], [2, 0], [2, 1]]), i64([k, -k, 10 ** 12 + k, 7]), i64([3, 4]))
    third = (ix([[1, 1], [2, 0]]), texts(k + 5, k), i64([3, 2]))
    dense = [texts(k, k + 1, k + 2, k + 3, k + 4, k + 5, shape=(3, 2)), i64([[k], [2], [-3]])]
    for tag, sparse, use in (("one", [first], []), ("two", [first, second], []), ("three", [first, second, third], []), ("mixed", [second, first], dense),
                             ("dense", [], dense), ("text", [first, third], dense[:1]), ("number", [second], dense[1:])):
        yield tag, [[s[0] for s in sparse], [s[1] for s in sparse], [s[2] for s in sparse], use]


def cross():
    for k in range(3):
        for tag, inputs in columns(k):
            has_numbers = any(t.dtype == "int64" for t in inputs[1] + inputs[3])
            for out in ("int64", "string"):
                for internal in ("int64", "string"):
                    if internal == "string" and has_numbers:
                        continue
                    for buckets, key in ((0, 956888297470), (100, 1), (7, -5))[:1 if out == "string" else 3]:
                        yield one("SparseCross", out, f"{internal}-{tag}-{k}-{buckets}", inputs, hashed_output=out == "int64", num_buckets=buckets, hash_key=key,
                                  out_type=out, internal_type=internal)
            for sep in ("_X_", "", "--"):
                yield one("SparseCrossV2", "string", f"{tag}-{k}-{sep.strip('_') or 'none'}", [*inputs, T("string", np.array(sep.encode(), object))])
            for buckets in (0, 100):
                for strong in (False, True):
                    # TensorFlow crashes on strong hashes of dense integers.
                    if strong and any(t.dtype == "int64" for t in inputs[3]):
                        continue
                    yield one("SparseCrossHashed", "int64", f"{tag}-{k}-{buckets}-{strong}", [*inputs, i64(buckets), flag(strong), i64([k, 137])])
    nothing = [[], [], [], []]
    for out in ("int64", "string"):
        yield one("SparseCross", out, "nothing", nothing, hashed_output=out == "int64", num_buckets=0, hash_key=0, out_type=out, internal_type="int64", sparse_types=[], dense_types=[])
    first = next(iter(columns(0)))[1]
    attrs = dict(hashed_output=True, num_buckets=10, hash_key=3, out_type="int64", internal_type="int64")
    order = [[ix([[1, 0], [0, 0], [2, 0]])], [texts(1, 2, 3)], [i64([3, 1])], []]
    yield one("SparseCross", "int64", "out-of-order", order, **attrs)
    far = [[ix([[0, 0], [5, 0]])], [texts(1, 2)], [i64([3, 1])], [i64([[1], [2], [3]])]]
    yield one("SparseCross", "int64", "out-of-range", far, **attrs)
    ok = [[first[0][0]], [first[1][0]], [first[2][0]], [i64([[1], [2], [3]])]]
    for tag, k, v in (("indices", 0, i64([1, 2, 3, 4])), ("columns", 0, ix([[0, 0, 0]] * 4, 3)), ("values", 1, texts(1, 2, 3, 4, shape=(2, 2))), ("count", 1, texts(1)),
                      ("shape", 2, i64([[3, 2]])), ("rank", 2, i64([3, 2, 1])), ("rows", 2, i64([4, 2])), ("dense", 3, i64([1, 2, 3])), ("dense-rows", 3, i64([[1], [2]]))):
        wrong = [*ok[:k], [v], *ok[k + 1:]]
        yield from bad("SparseCross", "int64", tag, wrong, static=False, **attrs)
        yield from bad("SparseCrossV2", "string", tag, [*wrong, T("string", np.array(b"-", object))], static=False)
        yield from bad("SparseCrossHashed", "int64", tag, [*wrong, i64(0), flag(False), i64([1, 2])], static=False)
    yield from bad("SparseCross", "int64", "numbers", ok, static=False, **{**attrs, "internal_type": "string"})
    yield from bad("SparseCrossV2", "string", "sep", [*ok, T("string", [b"-"])], static=False)
    yield from bad("SparseCrossHashed", "int64", "salt", [*ok, i64(0), flag(False), i64([1, 2, 3])], static=False)


def ragged():
    for k in range(2):
        for splits in ("int32", "int64"):
            r1 = (texts(k, k + 1, k + 2, k + 3), T(splits, np.array([0, 1, 3, 4])))
            r2 = (i64([k, 5, -6]), T(splits, np.array([0, 2, 2, 3])))
            s1 = (ix([[0, 0], [1, 0], [1, 1], [2, 0]]), i64([4, 5, 6 + k, 7]), i64([3, 2]))
            s2 = (ix([[0, 0], [2, 1]]), texts(k, 6), i64([3, 2]))
            d1, d2 = texts(k, 1, 2, 3, 4, 5, shape=(3, 2)), i64([[1], [k], [3]])
            for order, rag, sp, de in (("R", [r1], [], []), ("RR", [r1, r2], [], []), ("S", [], [s1], []), ("SD", [], [s1], [d1]), ("DSR", [r1], [s1], [d2]),
                                       ("RDS", [r1], [s2], [d1]), ("DD", [], [], [d1, d2]), ("", [], [], [])):
                inputs = [[r[0] for r in rag], [r[1] for r in rag], [s[0] for s in sp], [s[1] for s in sp], [s[2] for s in sp], de]
                for out, buckets in (("string", 0), ("int64", 0), ("int64", 50)):
                    yield one("RaggedCross", out, f"{splits}-{order or 'nothing'}-{k}-{buckets}", inputs, input_order=order, hashed_output=out == "int64", num_buckets=buckets,
                              hash_key=k, out_values_type=out, out_row_splits_type=splits, ragged_values_types=[r[0].dtype for r in rag],
                              ragged_splits_types=[splits] * len(rag), sparse_values_types=[s[1].dtype for s in sp], dense_types=[d.dtype for d in de])
    attrs = dict(hashed_output=True, num_buckets=9, hash_key=1, out_values_type="int64", out_row_splits_type="int64")
    ok = [[i64([1, 2, 3])], [i64([0, 1, 3])], [ix([[0, 0], [1, 0]])], [i64([4, 5])], [i64([2, 1])], [i64([[1], [2]])]]
    for tag, k, v in (("values", 0, i64([[1, 2, 3]])), ("first", 1, i64([1, 1, 3])), ("last", 1, i64([0, 1, 2])), ("falling", 1, i64([0, 4, 3])), ("no-splits", 1, i64(np.zeros(0))),
                      ("splits-rows", 1, i64([0, 1, 2, 3])), ("indices", 2, i64([0, 1])), ("sparse-values", 3, i64([[4, 5]])), ("shape", 4, i64([2, 1, 1])),
                      ("sparse-rows", 4, i64([3, 1])), ("dense", 5, i64([1, 2])), ("dense-rows", 5, i64([[1]]))):
        yield from bad("RaggedCross", "int64", tag, [*ok[:k], [v], *ok[k + 1:]], static=False, input_order="RSD", **attrs)
    for tag, order in (("order", "RSX"), ("order-length", "RS"), ("order-count", "RRS")):
        yield from bad("RaggedCross", "int64", tag, ok, static=False, input_order=order, **attrs)


def counts():
    ranges = ((-1, -1), (8, -1), (-1, 3), (2, 4), (0, 0))
    v, m = [1, 0, 5, 1, 1, 2, 0], [[1, 0, 5], [2, 2, 0], [4, 4, 4]]
    rows, splits = ix([[0, 0], [0, 3], [1, 1], [1, 2], [2, 0], [2, 4]]), i64([0, 2, 2, 5, 6])
    for d in ("int32", "int64"):
        for o in ("int32", "int64", "float", "double"):
            for k, (low, high) in enumerate(ranges):
                for binary in (False, True):
                    attrs = dict(minlength=low, maxlength=high, binary_output=binary, output_type=o)
                    tag = f"{o}-{k}-{binary}"
                    none = T(o, np.zeros(0))
                    yield many("DenseCountSparseOutput", d, tag, [[T(d, v), none], [T(d, v), R(o, 7, ints=4)], [T(d, m), none], [T(d, m), R(o, (3, 3), ints=4)]], **attrs)
                    if k < 3:
                        s = [T(d, [1, 0, 5, 5, 2, 2])]
                        yield many("SparseCountSparseOutput", d, tag, [[rows, *s, i64([3, 5]), none], [rows, *s, i64([4, 6]), R(o, 6, ints=4)],
                                                                       [ix([[0], [2], [3], [4], [5], [9]], 1), *s, i64([10]), none]], **attrs)
                        yield many("RaggedCountSparseOutput", d, tag, [[splits, *s, none], [splits, *s, R(o, 6, ints=4)]], **attrs)
    attrs = dict(binary_output=False, output_type="float")
    none = f32(np.zeros(0))
    yield many("DenseCountSparseOutput", "int32", "empty", [[i32(np.zeros(0)), none], [i32(np.zeros((2, 0))), none]], **attrs)
    yield many("SparseCountSparseOutput", "int32", "empty", [[ix([]), i32(np.zeros(0)), i64([3, 4]), none], [ix([], 1), i32(np.zeros(0)), i64([0]), none]], **attrs)
    yield one("RaggedCountSparseOutput", "int32", "empty", [i64([0, 0, 0]), i32(np.zeros(0)), none], **attrs)
    dense = lambda tag, *inputs, **options: bad("DenseCountSparseOutput", "int32", tag, list(inputs), **options, **attrs)  # noqa: E731
    yield from dense("scalar", i32(1), none, static=False)
    yield from dense("cube", i32([[[1]]]), none, static=False)
    yield from dense("no-rows", i32(np.zeros((0, 3))), none, static=False)
    yield from dense("weights", i32([1, 2]), f32([1]))
    yield from dense("negative", i32([1, -2]), none, static=False)
    ok = [rows, i32([1, 0, 5, 5, 2, 2]), i64([3, 5]), none]
    for tag, k, x in (("indices", 0, i64([1, 2])), ("values", 1, i32([[1] * 6])), ("count", 1, i32([1])), ("shape", 2, i64([[3, 5]])), ("rank", 2, i64([3])), ("rows", 2, i64([2, 5])),
                      ("columns", 2, i64([3, 4])), ("weights", 3, f32([1])), ("negative", 1, i32([1, 0, 5, -5, 2, 2])), ("no-batch", 2, i64([0, 5]))):
        yield from bad("SparseCountSparseOutput", "int32", tag, [*ok[:k], x, *ok[k + 1:]], static=False, runtime=tag != "indices", **attrs)
    for tag, s, x, w in (("one-split", [0], 0, None), ("first", [1, 2], 2, None), ("last", [0, 1], 2, None), ("weights", [0, 2], 2, [1.0]), ("negative", [0, 2], -2, None), ("none", [], 0, None)):
        values = i32([1, -1]) if x < 0 else i32(np.ones(x))
        yield from bad("RaggedCountSparseOutput", "int32", tag, [i64(np.array(s)), values, f32(w) if w else none], static=False, **attrs)


def cases():
    for group in (edit, cross, ragged, counts):
        yield from group()
