"""Random numbers: what TensorFlow draws for given seeds, in the first run of a session.

Numbers that do not come from a double's logarithm, sine or power must be equal to the bit: they have the tolerance EXACT.
"""
import numpy as np

from golden import Case, T, bad, dtypes, f32, i32, i64, many, one, R, some, tol

EXACT = (0.0, 0.0)
# Devices have logarithms and sines of their own.
ON_DEVICES = {"float": (1e-6, 2e-6), "half": (2e-3, 2e-3), "bfloat16": (1e-2, 1e-2)}
SEEDS = [(1, 0), (0, 1), (87654321, 7), (-1, 2**40), (2**63 - 1, -2**63)]
SHAPES = [[6], [2, 3, 5], [0], [1], [3, 0, 2], [1] * 9, [61]]
KEYS = [(0, 0, 0), (1, 2, 3), (2**64 - 1, 2**64 - 1, 2**64 - 1), (0xdeadbeefcafebabe, 2**64 - 2, 5)]
TRUNCATED = [(0, 1, -1, 1), (1, 2, -np.inf, 3), (-1, .5, -1, np.inf), (0, 1, 3, 4), (0, 1, -4, -3.5), (0, 1, 2, np.inf), (5, 3, 5, 5.5), (0, 1, -1.5, 9),
             (2, .25, 2.1, 2.2), (0, 2, -9, 1), (0, 1, -np.inf, -2.5)]


def exact(d):
    """The tolerance of normal numbers of a dtype: doubles come from the platform's functions."""
    return tol(d) if d == "double" else (*EXACT, *ON_DEVICES[d])


def vector(shape, kind="int32"):
    return T(kind, np.array(shape, np.int64))


def u64(values):
    return T("uint64", np.array(values, np.uint64))


def keyed(key):
    return [u64([key[0]]), u64(key[1:]), i32(1)]


def bounds(d, kinds):
    low, high = {"int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1)}[d]
    return [[T(kinds, a), T(kinds, b)] for a, b in ((0, 10), (-5, 1), (3, 4), (low, high), (low, low + 1), (-7, high), (0, high // 3 * 2))]


def stateful():
    for op, allowed in (("RandomUniform", lambda d: EXACT), ("RandomStandardNormal", exact), ("TruncatedNormal", exact)):
        for d in dtypes(op, "dtype"):
            rows = [([vector(s)], {"seed": 3}) for s in some(d, SHAPES, 2)]
            rows += [([vector([9], kind)], {"seed": a, "seed2": b}) for a, b in some(d, SEEDS) for kind in ("int32", "int64")]
            yield many(op, d, "seeds", rows, allowed(d), dtype=d)
        yield one(op, "float", "large", [i32([3, 555])], allowed("float"), dtype="float", seed=5)
        yield one(op, "float", "scalar", [vector([])], allowed("float"), dtype="float", seed=5)
        if op != "RandomUniform":
            continue
        for tag, s in (("negative", [-1]), ("matrix", [[1, 2]]), ("of-scalar", 3), ("huge", [2**31 - 1] * 3)):
            yield from bad(op, "float", tag, [i32(s)], dtype="float", seed=1)
    for d in dtypes("RandomUniformInt", "Tout"):
        rows = [([vector([5]), *b], {"seed": 1, "seed2": 5}) for b in bounds(d, d)]
        rows += [([vector(s, "int64"), T(d, 0), T(d, 100)], {"seed": 3}) for s in some(d, SHAPES + [[]])]
        yield many("RandomUniformInt", d, "bounds", rows)
        yield one("RandomUniformInt", d, "empty-range-of-nothing", [i32([0]), T(d, 5), T(d, 5)], seed=1)
        yield from bad("RandomUniformInt", d, "empty-range", [i32([2]), T(d, 5), T(d, 5)], seed=1)
        yield from bad("RandomUniformInt", d, "turned-range", [i32([2]), T(d, 5), T(d, -5)], seed=1)
    yield from bad("RandomUniformInt", "int32", "low-vector", [i32([0]), i32([5]), i32(6)], seed=1)
    yield from bad("RandomUniformInt", "int32", "high-vector", [i32([2]), i32(5), i32([6])], seed=1)


def stateless():
    for op, allowed in (("StatelessRandomUniform", lambda d: EXACT), ("StatelessRandomNormal", exact), ("StatelessTruncatedNormal", exact)):
        for d in dtypes(op, "dtype"):
            rows = [[vector(s), T(kind, [5, -7])] for s in some(d, SHAPES + [[]]) for kind in ("int32", "int64")]
            rows += [[vector([9], "int64"), i64(s)] for s in some(d, SEEDS)]
            yield many(op, d, "seeds", rows, allowed(d), dtype=d)
            yield many(op + "V2", d, "keys", [[vector([9], kind), *keyed(k)] for k in some(d, KEYS, 2) for kind in ("int32", "int64")]
                       + [[vector(s), *keyed(KEYS[1])] for s in some(d, SHAPES + [[]])], allowed(d), dtype=d)
        yield one(op, "float", "large", [i32([3, 555]), i32([1, 2])], allowed("float"), dtype="float")
        if op != "StatelessRandomUniform":
            continue
        yield from bad(op, "float", "seed-long", [i32([2]), i32([1, 2, 3])], dtype="float")
        yield from bad(op, "float", "seed-scalar", [i32([0]), i32(1)], dtype="float")
        yield from bad(op, "float", "negative", [i32([-2]), i32([1, 2])], dtype="float")
    for d in dtypes("StatelessRandomUniformInt", "dtype"):
        yield many("StatelessRandomUniformInt", d, "bounds", [[vector([5]), i64(SEEDS[2]), *b] for b in bounds(d, d)]
                   + [[vector(s, "int64"), i32([3, 4]), T(d, -50), T(d, 50)] for s in some(d, SHAPES)])
        yield many("StatelessRandomUniformIntV2", d, "bounds", [[vector([5]), *keyed(KEYS[2]), *b] for b in bounds(d, d)]
                   + [[vector(s, "int64"), *keyed(KEYS[1]), T(d, -50), T(d, 50)] for s in some(d, SHAPES)])
        for op, where in (("StatelessRandomUniformInt", [i32([1, 2])]), ("StatelessRandomUniformIntV2", keyed(KEYS[0]))):
            yield from bad(op, d, "empty-range", [i32([2]), *where, T(d, 5), T(d, 5)])
            yield from bad(op, d, "low-vector", [i32([2]), *where, T(d, [5]), T(d, 6)], static=d == "int32")
            yield one(op, d, "empty-range-of-nothing", [i32([0]), *where, T(d, 5), T(d, 5)])
            yield one(op, d, "low-vector-of-nothing-runtime", [i32([0]), *where, T(d, [5, 6]), T(d, 5)], dynamic=True)
    for d in dtypes("StatelessRandomUniformFullInt", "dtype"):
        yield many("StatelessRandomUniformFullInt", d, "seeds", [[vector(s), T(kind, [5, -7])] for s in some(d, SHAPES, 2) for kind in ("int32", "int64")], dtype=d)
        yield many("StatelessRandomUniformFullIntV2", d, "keys", [[vector(s), *keyed(k)] for s in ([9], [0]) for k in some(d, KEYS, 2)], dtype=d)
    for kind in ("uint32", "uint64"):
        yield from bad("StatelessRandomUniformFullInt", "int32", "seed-" + kind, [i32([2]), T(kind, [1, 2])], dtype="int32")
    yield from algorithms("StatelessRandomUniformV2", "float", [i32([3])], [i32([0])], dtype="float")
    yield from algorithms("StatelessShuffle", "int32", [i32([1, 2, 3])], None)


def algorithms(op, d, some_output, no_output, **attrs):
    key, counter = u64([1]), u64([2, 3])
    yield many(op, d, "auto-select", [[*some_output, key, counter, i32(3)], [*some_output, key, u64([2, 3, 4]), i32(1)]], EXACT, **attrs)
    for alg in (0, 2, -1, 4):
        yield from bad(op, d, f"algorithm-{alg}".replace("--", "-m"), [*some_output, key, counter, i32(alg)], **attrs)
        if no_output and alg != 4:
            yield one(op, d, f"algorithm-{alg}-of-nothing".replace("--", "-m"), [*no_output, key, counter, i32(alg)], **attrs)
    if no_output:
        yield one(op, d, "counter-short-of-nothing", [*no_output, key, u64([2]), i32(1)], **attrs)
        yield from bad(op, d, "counter-short", [*no_output, key, u64([2]), i32(2)], **attrs)
    yield from bad(op, d, "key-long", [*some_output, counter, counter, i32(1)], **attrs)
    yield from bad(op, d, "key-scalar", [*some_output, u64(1), counter, i32(1)], **attrs)
    yield from bad(op, d, "counter-matrix", [*some_output, key, u64([[2, 3]]), i32(1)], **attrs)
    yield from bad(op, d, "algorithm-vector", [*some_output, key, counter, i32([1])], **attrs)


def keys():
    for op in ("StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"):
        yield many(op, "int64", "seeds", [[i64(s)] for s in SEEDS])
        yield many(op, "int32", "seeds", [[i32(s)] for s in ((0, 0), (1, 2), (-1, -2**31))])
        yield from bad(op, "int32", "long", [i32([1, 2, 3])])
    yield one("StatelessRandomGetAlg", "", "value", [])


def truncated():
    for d in dtypes("ParameterizedTruncatedNormal", "dtype"):
        allowed = exact(d)
        for op, where, own in (("ParameterizedTruncatedNormal", [], [{"seed": s} for s in (1, 2)]),
                               ("StatelessParameterizedTruncatedNormal", [i64([3, 4])], [{}])):
            stateless = op.startswith("Stateless")
            yield many(op, d, "parameters", [([vector(s), *where, *(T(d, p) for p in row)], attrs) for row in some(d, TRUNCATED, 5)
                                             for s in some(d, [[9], [3, 2]]) for attrs in own[:1 + (d == "float")]], allowed)
            yield one(op, d, "long", [vector([500 if d == "float" else 150]), *where, T(d, 0), T(d, 1), T(d, -1), T(d, 2)], allowed, **own[0])
            columns = [T(d, [row[k] for row in TRUNCATED[:5]]) for k in range(4)]
            yield many(op, d, "vectors", [([vector([4, 5] if stateless else [5, 4], kind), *where, *columns], own[0]) for kind in ("int32", "int64")]
                       + [([vector([2, 5] if stateless else [5, 2]), *where, columns[0], T(d, 1), T(d, -20), columns[3]], own[0])], allowed)
            yield many(op, d, "empty", [([vector(s), *where, *(T(d, p) for p in TRUNCATED[0])], own[0]) for s in ([0], [2, 0])], allowed)
            if d != "float":
                continue
            for tag, row in (("deviation", (0, -1, 0, 1)), ("turned", (0, 1, 1, 0)), ("endless", (0, 1, -np.inf, np.inf)), ("nan", (0, np.nan, 0, 1)),
                             ("mean-nan", (np.nan, 1, 0, 1))):
                yield from bad(op, d, tag, [vector([5]), *where, *(T(d, p) for p in row)], **own[0])
            one_each = [T(d, p) for p in TRUNCATED[0]]
            yield from bad(op, d, "no-broadcast", [vector([5]), *where, T(d, [0, 0]), *one_each[1:]], **own[0])
            yield from bad(op, d, "shape-matrix", [i32([[5]]), *where, *one_each], **own[0])
    d = "float"
    yield many("StatelessParameterizedTruncatedNormal", d, "broadcast", [
        [vector([2, 3, 2, 4]), i32([1, 2]), R(d, (3, 1, 1), scale=1), T(d, np.ones((2, 1))), T(d, np.full((3, 1, 4), -9.0)), T(d, 9)],
        [vector([]), i32([1, 2]), *(T(d, p) for p in TRUNCATED[0])]], EXACT)
    yield from bad("ParameterizedTruncatedNormal", d, "matrix", [vector([2, 2]), T(d, np.zeros((2, 2))), T(d, 1), T(d, -1), T(d, 1)], seed=1)
    yield from bad("ParameterizedTruncatedNormal", d, "shape-empty", [vector([]), T(d, 0), T(d, 1), T(d, -1), T(d, 1)], seed=1)


def rows():
    for d in dtypes("RandomShuffle"):
        values = [R(d, s, 1) for s in some(d, [(5, 3), (7,), (4, 1, 2)], 2)]
        yield many("RandomShuffle", d, "values", [([v], {"seed": 3, "seed2": 4}) for v in values])
        yield many("StatelessShuffle", d, "values", [[v, *keyed(KEYS[1])] for v in values])
    for s in ((), (0,), (1, 5), (4, 0), (50,), (2, 1, 1, 1, 1, 3)):
        tag = "shape" + "x".join(map(str, s))
        yield many("RandomShuffle", "int32", tag, [([R("int32", s, 2, ints=10**6)], {"seed": a, "seed2": b}) for a, b in SEEDS[:2]])
        yield many("StatelessShuffle", "int32", tag, [[R("int32", s, 2, ints=10**6), *keyed(k)] for k in KEYS[1:3]])
    for d in dtypes("Multinomial"):
        logits = R(d, (3, 5), 1)
        for out in ("int32", "int64"):
            yield many("Multinomial", d, "to-" + out, [([logits, i32(n)], {"seed": a, "seed2": b}) for n in some(d, (6, 0, 1)) for a, b in SEEDS[:2]], output_dtype=out)
            yield many("StatelessMultinomial", d, "to-" + out, [[logits, i32(n), T(kind, [1, 2])] for n in some(d, (6, 0, 1)) for kind in ("int32", "int64")],
                       output_dtype=out)
    edges = [f32([[np.nan, 1, 2], [-np.inf] * 3, [np.inf, 1, 2], [700, -700, 699], [0, 0, 0]]), f32([[5]]), f32(np.zeros((0, 3))), R("float", (12, 9), 3)]
    for op, more, attrs in (("Multinomial", [], {"seed": 9}), ("StatelessMultinomial", [i32([4, 5])], {})):
        yield many(op, "float", "edges", [([v, i32(n), *more], attrs) for v in edges for n in (1, 9)])
        yield from bad(op, "float", "negative", [edges[1], i32(-1), *more], **attrs)
        yield from bad(op, "float", "vector", [f32([1, 2]), i32(1), *more], **attrs)
        yield from bad(op, "float", "samples-vector", [edges[1], i32([1]), *more], **attrs)
        yield from bad(op, "float", "no-classes", [f32(np.zeros((2, 0))), i32(1), *more], static=False, **attrs)
    yield from bad("StatelessMultinomial", "float", "seed", [edges[1], i32(1), i32([1])])


def gammas():
    alphas = [.1, .9, 1, 1.5, 20, 1e4, 1e-3, 0]
    for d in dtypes("RandomGamma"):
        yield many("RandomGamma", d, "alphas", [([vector(s, kind), T(d, alphas)], {"seed": a, "seed2": b})
                                                for s in ([], [2, 3]) for a, b in SEEDS[1:2] for kind in ("int32", "int64")], tol(d))
        yield many("StatelessRandomGammaV2", d, "alphas", [[vector(s), T(kind, [3, 4]), T(d, alphas)] for s in ([8], [2, 2, 8])
                                                           for kind in ("int32", "int64")], tol(d))
        yield many("StatelessRandomGammaV3", d, "alphas", [[vector(s, kind), *keyed(KEYS[1]), T(d, alphas)] for s in ([8], [2, 2, 8])
                                                           for kind in ("int32", "int64")], tol(d))
        yield one("RandomGamma", d, "long", [i32([300]), T(d, 2.5)], tol(d), seed=1)
    edges = T("double", [np.nan, np.inf, -1, 1e-300])
    yield one("RandomGamma", "double", "edges", [i32([4]), edges], tol("double"), seed=1)
    yield many("RandomGamma", "float", "empty", [([vector(s), a], {"seed": 1}) for s, a in (([0], f32([1, 2])), ([2], f32([])))])
    yield many("StatelessRandomGammaV2", "float", "shapes", [[vector(s), i32([1, 2]), f32(a)] for s, a in (
        ([], 2.0), ([3], 2.0), ([0], 2.0), ([3, 0], np.zeros(0)), ([2, 2], [[1, 2], [3, 4]]))], tol("float"))
    yield from bad("RandomGamma", "float", "shape-scalar", [i32(2), f32(1)], seed=1)
    yield from bad("StatelessRandomGammaV2", "float", "end", [i32([3, 2]), i32([1, 2]), f32([1, 2, 3])])
    yield from bad("StatelessRandomGammaV3", "float", "end", [i32([3, 2]), *keyed(KEYS[0]), f32([1, 2, 3])])
    yield from bad("StatelessRandomGammaV3", "float", "algorithm", [i32([3]), u64([1]), u64([1, 2]), i32(2), f32(1)])


def poissons():
    rates = [0, .5, 3, 9.5, 10, 11.5, 100, 5e4]
    for r in dtypes("RandomPoissonV2", "R"):
        for d in dtypes("RandomPoissonV2", "dtype"):
            rate = T(r, rates[:-1])
            yield many("RandomPoissonV2", f"{r}-{d}", "rates", [([vector(s), rate], {"seed": a, "seed2": b}) for s in ([3],) for a, b in SEEDS[:1]],
                       EXACT, R=r, dtype=d)
            yield many("StatelessRandomPoisson", f"{r}-{d}", "rates", [[vector(s), i64([5, 6]), rate] for s in ([3, 7],)], EXACT, Rtype=r, dtype=d)
    edges = T("double", [np.inf, -np.inf, -1, 1e9, 1e5, 9.999999999])
    for d in ("double", "int64", "float"):
        yield one("RandomPoissonV2", "double-" + d, "edges", [i32([5]), edges], EXACT, dtype=d, seed=3)
    yield one("RandomPoissonV2", "double-half", "highest", [i32([40]), T("double", [65504, 65000, np.inf])], EXACT, dtype="half", seed=3)
    yield one("RandomPoissonV2", "double-int32", "highest", [i32([40]), T("double", [2147483647.0, 2147480000.0])], dtype="int32", seed=3)
    yield one("RandomPoissonV2", "float-int64", "long", [i32([700]), f32([4, 40])], seed=3)
    yield many("RandomPoissonV2", "float-int64", "empty", [([vector(s), f32(a)], {"seed": 1}) for s, a in (([0], [1]), ([2], []))])
    yield many("StatelessRandomPoisson", "float-int64", "empty", [[vector(s), i32([1, 2]), f32(a)] for s, a in (([0, 1], [1]), ([2, 0], []))], dtype="int64")
    yield from bad("StatelessRandomPoisson", "float-int64", "end", [i32([3, 2]), i32([1, 2]), f32([1, 2, 3])], dtype="int64")
    yield from bad("StatelessRandomPoisson", "float-int64", "seed", [i32([3]), i32([1]), f32([1, 2, 3])], dtype="int64")


def binomials():
    counts, probs = [0, -3, 5, 10, 40, 1000, 60000, 12, 40, 1000], [.5, .5, .3, .9, .1, .37, .5001, 1, .5, 2]
    for t in ("half", "float", "double"):
        for d in dtypes("StatelessRandomBinomial", "dtype"):
            some = 10 if d != "half" else 6
            c, p = T(t, counts[:some]), T(t, probs[:some])
            yield many("StatelessRandomBinomial", f"{t}-{d}", "values", [[vector(s + [some], kind), T(kind, [5, 6]), c, p] for s in ([4],)
                                                                       for kind in ("int32", "int64")[:1 + (t == "float")]], EXACT, T=t, dtype=d)
    yield many("StatelessRandomBinomial", "float-int64", "broadcast", [
        [vector([2, 3, 2]), i32([1, 2]), f32([[5], [50], [500]]), f32([.2, .7])], [vector([9]), i32([1, 2]), f32(30), f32(.5)],
        [vector([]), i32([1, 2]), f32(30), f32(.5)], [vector([0]), i32([1, 2]), f32(30), f32(.5)], [vector([3, 0]), i32([1, 2]), f32([]), f32(.5)]], dtype="int64")
    yield one("StatelessRandomBinomial", "double-double", "edges", [i32([3, 6]), i32([1, 2]), T("double", [np.inf, 10, 1e300, 1e15, 1e9, 4]),
                                                                    T("double", [.5, np.nan, .5, 1e-14, .25, 1e-320])], EXACT, dtype="double")
    yield one("StatelessRandomBinomial", "double-int32", "edges", [i32([3, 3]), i32([1, 2]), T("double", [np.inf, 1e10, 2**31]), T("double", [.5, .3, 1])], dtype="int32")
    yield from bad("StatelessRandomBinomial", "float-int64", "no-broadcast", [i32([3]), i32([1, 2]), f32([1, 2]), f32([.1, .2, .3])], dtype="int64")
    yield from bad("StatelessRandomBinomial", "float-int64", "end", [i32([3, 2]), i32([1, 2]), f32([1, 2, 3]), f32(.5)], dtype="int64")
    yield from bad("StatelessRandomBinomial", "float-int64", "seed", [i32([3]), i32([1, 2, 3]), f32(1), f32(.5)], dtype="int64")


def indices():
    op = "RandomIndexShuffle"
    for d in dtypes(op, "dtype"):
        for kind in ("int32", "int64", "uint32", "uint64") if d == "int32" else (d,):
            yield many(op, d, "seed-" + kind, [([T(d, list(range(9))), T(kind, [1, 2, 3]), T(d, 8)], {"rounds": r}) for r in (4, 24)])
        high = {"int32": 2**31 - 1, "uint32": 2**32 - 1, "int64": 2**63 - 1, "uint64": 2**64 - 1}[d]
        yield many(op, d, "greatest", [[T(d, [0, min(1, m), m // 2, m]), i32([-1, 7, 9]), T(d, m)] for m in
                                       some(d, (high, high - 1, high // 2, 65536, 0, 1, 2, 255, 256, 65535, 65537, 10**6, 2**30), 3)])
    many_seeds = T("uint64", np.array([[1, 2, 3], [2**40, 5, 6], [7, 8, 2**64 - 1]], np.uint64))
    yield many(op, "int32", "batches", [[i32(5), i32([1, 2, 3]), i32(9)], [i32(5), many_seeds, i32(9)], [i32([1, 2, 3]), many_seeds, i32([9, 99, 999])],
                                        [i32(5), i32([1, 2, 3]), i32([9, 99, 5])]])
    for tag, row in (("beyond", [i32(10), i32([1, 2, 3]), i32(9)]), ("negative", [i32(-1), i32([1, 2, 3]), i32(9)]),
                     ("negative-greatest", [i32(1), i32([1, 2, 3]), i32(-9)]), ("lengths", [i32([1, 2]), i32([1, 2, 3]), i32([5, 6, 7])]),
                     ("seed-short", [i32(1), i32([1, 2]), i32(9)]), ("seed-rows", [i32([1, 2, 3]), i32([[1, 2, 3]] * 2), i32(9)]),
                     ("matrix", [i32([[1]]), i32([1, 2, 3]), i32(9)])):
        yield from bad(op, "int32", tag, row)


def variable(op, d, tag, state, inputs, tolerance=None, fails=False, assigned=True, **attrs):
    """Draws twice from a generator that is a variable; the state comes last."""
    case = Case(f"{op}/{d}/{tag}", tolerance, fails=fails)
    handle = case.apply("VarHandleOp", [], name="var", keep=[], dtype=state.dtype, shape=state.array.shape, shared_name=case.name)
    last = [case.apply("AssignVariableOp", [(handle, "resource"), state], name="assign", keep=[])] if assigned else []
    if op == "StatefulRandomBinomial":
        # TensorFlow's kernel updates a tensor that is shared, such as one just assigned, beside the variable.
        last = [case.apply("RngSkip", [(handle, "resource"), i64(1), i64(0)], name="own", control=last)]
    for k in range(1 if fails else 2):
        last = [case.apply(op, [(handle, "resource"), *inputs], name=f"op{k}", control=last, **attrs)]
    if not fails or op == "RngSkip":
        case.apply("ReadVariableOp", [(handle, "resource")], name="read", control=last, dtype="int64")
    return case


def variables():
    alg = i64(1)
    state = i64([2**62, -3, 77])
    for op, allowed in (("StatefulUniform", lambda d: EXACT), ("StatefulStandardNormalV2", exact), ("StatefulTruncatedNormal", exact)):
        for d in dtypes(op, "dtype"):
            yield variable(op, d, "values", state, [alg, i64([2, 3])], allowed(d), dtype=d)
        yield variable(op, "float", "empty", i64([1, 2, 3, 4]), [i64(3), i32([0])], EXACT, dtype="float")
    for d in dtypes("StatefulUniformFullInt", "dtype"):
        yield variable("StatefulUniformFullInt", d, "values", i64([-1, -1, 5]), [alg, i64([5])], dtype=d)
    for d in dtypes("StatefulUniformInt", "dtype"):
        yield variable("StatefulUniformInt", d, "values", state, [alg, i64([5]), T(d, -9), T(d, 9)], dtype=d)
        for tag, row in (("range", (5, 5)), ("low-vector", ([1], 5))):
            yield variable("StatefulUniformInt", d, "error-" + tag, state, [alg, i64([0]), *(T(d, v) for v in row)], fails=True, dtype=d)
    for t in ("half", "float", "double"):
        for d in dtypes("StatefulRandomBinomial", "dtype"):
            yield variable("StatefulRandomBinomial", f"{t}-{d}", "values", state, [alg, i32([2, 3]), T(t, [5, 100, 30]), T(t, [.5, .7, .1])], EXACT,
                           T=t, dtype=d)
    for alg_id, tag in ((2, "threefry"), (3, "auto-select"), (9, "unknown")):
        yield variable("StatefulRandomBinomial", "float-int32", "error-" + tag, state, [i64(alg_id), i32([3]), f32(5), f32(.5)], fails=True, T="float", dtype="int32")
    yield variable("StatefulRandomBinomial", "float-int32", "empty", state, [alg, i32([0]), f32(5), f32(.5)], T="float", dtype="int32")
    for delta in (0, 1, 2**62, -1):
        yield variable("RngSkip", "", f"by{delta}".replace("-", "m"), state, [alg, i64(delta)])
        yield variable("RngReadAndSkip", "", f"by{delta}".replace("-", "m"), state, [i32(3), u64(delta % 2**64)])
    for tag, bad_state, bad_alg in (("short", i64([1, 2]), alg), ("matrix", i64([[1, 2, 3]]), alg), ("float", f32([1, 2, 3]), alg), ("threefry", state, i64(2)),
                                    ("unknown", state, i64(7)), ("algorithm-vector", state, i64([1]))):
        yield variable("StatefulUniform", "float", "error-" + tag, bad_state, [bad_alg, i64([2])], fails=True, dtype="float")
        yield variable("RngSkip", "", "error-" + tag, bad_state, [bad_alg, i64(5)], fails=True)
        yield variable("RngReadAndSkip", "", "error-" + tag, bad_state, [i32(bad_alg.array), u64(5)], fails=True)
    yield variable("StatefulUniform", "float", "error-uninitialized", state, [alg, i64([2])], fails=True, assigned=False, dtype="float")
    yield variable("StatefulUniform", "float", "error-shape-float", state, [alg, f32([2])], fails=True, dtype="float")
    for d in dtypes("NonDeterministicInts", "dtype"):
        yield many("NonDeterministicInts", d, "empty", [[vector(s, kind)] for s in ([0], [2, 0]) for kind in ("int32", "int64")], dtype=d)
        yield from bad("NonDeterministicInts", d, "shape-float", [f32([1])], dtype=d)


def rounded():
    op = "StochasticCastToInt"
    edges = [0.5, -0.5, 1.25, -1.75, 2.0, -3.0, 126.5, 127.0, 127.5, -128.5, 300.0, -300.0, 32766.5, 4e4, 2147483520.0, 3e9, -3e9, np.inf, -np.inf, np.nan, 0.0, 1e-3, -1e-3]
    for d in ("float", "half", "bfloat16", "double"):
        for to in ("int8", "int16", "int32"):
            for key, counter in ((1, [0, 0]), (2**64 - 1, [5, 2**63])):
                k = [u64([key]), u64(counter), i32(1)]
                with np.errstate(over="ignore"):
                    yield one(op, d, f"{to}-edges-{key}", [T(d, edges), *k], Tin=d, Tout=to)
                for shape in ((), (0,), (1,), (7,), (8,), (9,), (33,), (4, 5, 6)):
                    yield one(op, d, f"{to}-{'x'.join(map(str, shape))}-{key}", [R(d, shape, scale=20.0), *k], Tin=d, Tout=to)
        yield one(op, d, "automatic", [R(d, (9,), scale=20.0), u64([3]), u64([1, 2, 3]), i32(3)], Tin=d, Tout="int16")
    good = [f32([0.5]), u64([1]), u64([0, 0]), i32(1)]
    for name, place, value in (("key", 1, u64([1, 2])), ("key-scalar", 1, u64(1)), ("counter", 2, u64(1)), ("alg", 3, i32([1]))):
        yield from bad(op, "float", name, [value if k == place else x for k, x in enumerate(good)], Tin="float", Tout="int8")
    for alg in (0, 2):
        yield from bad(op, "float", f"algorithm{alg}", [*good[:3], i32(alg)], static=False, Tin="float", Tout="int8")


def cases():
    for part in (rounded, stateful, stateless, keys, truncated, rows, gammas, poissons, binomials, indices, variables):
        yield from part()
