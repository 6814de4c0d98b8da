"""Losses, what ranks predictions, and normalisation: across channels, and the gradients of both kinds."""
import numpy as np

from cases_nn_grad import LOOSE
from golden import R, T, bad, dtypes, f32, many, one, tol


def norms():
    for op in ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"):
        third = [f32([0.0])] if op.endswith("V3") else []
        ps = [T("float", v) for v in ([1, 0.5, -2, 1.5], [0.5, -0.5, 0, 1], [1, 0.25, 2, 4])]
        for d in dtypes(op):
            for layout, shape in (("NHWC", (2, 3, 2, 4)), ("NCHW", (2, 4, 3, 2))):
                dy, x = R(d, shape, 1), R(d, shape, 2)
                yield one(op, d, "training-" + layout.lower(), [dy, x, *ps, *third], LOOSE[d], data_format=layout)
                if layout == "NHWC":
                    yield one(op, d, "inference", [dy, x, *ps, *third], LOOSE[d], is_training=False)
        d = "float"
        dy, x = R(d, (2, 3, 2, 4), 1), R(d, (2, 3, 2, 4), 2)
        yield one(op, d, "epsilon", [dy, x, *ps, *third], LOOSE[d], epsilon=0.5)
        large = [R(d, (3, 7, 6, 5), k) for k in (1, 2)] + [R(d, (5,), 3), R(d, (5,), 4), f32([1, 2, 3, 0.5, 0.01])]
        for training in (True, False):
            yield one(op, d, f"large-{training}", large + third, (1e-4, 1e-3), is_training=training)
            yield one(op, d, f"empty-{training}", [R(d, (0, 3, 2, 4)), R(d, (0, 3, 2, 4)), *ps, *third], is_training=training, risky=True)
        yield one(op, d, "one-value", [R(d, (1, 1, 1, 4), 1), R(d, (1, 1, 1, 4), 2), *ps, *third], (1e-5, 1e-5))
        yield one(op, d, "long", [R(d, (2, 9, 11, 3), 1), R(d, (2, 9, 11, 3), 2), R(d, (3,), 3), R(d, (3,), 4), f32([1, 2, 3]), *third], (1e-4, 1e-3), keep=[1, 2, 3, 4])
        if third:
            for layout, s in (("NDHWC", (2, 2, 2, 3, 4)), ("NCDHW", (2, 4, 2, 3, 2))):
                yield one(op, d, "training-" + layout.lower(), [R(d, s, 1), R(d, s, 2), *ps, *third], LOOSE[d], data_format=layout)
            yield one(op, d, "inference-ndhwc", [R(d, (2, 2, 2, 3, 4), 1), R(d, (2, 2, 2, 3, 4), 2), *ps, *third], LOOSE[d], data_format="NDHWC", is_training=False)
        short = R(d, (3,))
        for tag, inputs, kw in (("x-rank", [R(d, (2, 4)), R(d, (2, 4)), *ps], {}), ("shapes", [dy, R(d, (2, 3, 3, 4)), *ps], {}), ("scale-length", [dy, x, short, *ps[1:]], {}), ("scale-rank", [dy, x, R(d, (1, 4)), *ps[1:]], {}),
                                ("mean-length", [dy, x, ps[0], short, ps[2]], {}), ("variance-length", [dy, x, *ps[:2], short], {})):
            yield from bad(op, d, tag, inputs + third, risky=True, **kw)


def losses():
    op = "SoftmaxCrossEntropyWithLogits"
    for d in dtypes(op):
        t = {"half": (5e-3, 1e-2), "bfloat16": (4e-2, 6e-2)}.get(d, tol(d, 4))
        labels = np.array([[0.2, 0.3, 0, 0.5, 0], [1, 0, 0, 0, 0], [0.2] * 5])
        yield one(op, d, "values", [R(d, (3, 5), 1), T(d, labels)], t)
        yield one(op, d, "any-labels", [R(d, (3, 5), 1), R(d, (3, 5), 2)], t)
        yield many(op, d, "broadcast", [[R(d, a, 1), R(d, b, 2)] for a, b in (((2, 3), (3,)), ((2, 3), (1, 3)), ((2, 3), (2, 1)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((), (2, 3)), ((2, 3), ()), ((1, 1), (2, 3)), ((1,), (2, 3)))], t)
        yield one(op, d, "large", [T(d, [[1000, 999, -1000], [60000, 0, 1], [-1e4, -1e4, -1e4]]), T(d, [[0.5, 0.5, 0], [1, 0, 0], [0, 0, 1]])], t)
    d = "float"
    yield many(op, d, "sizes", [[R(d, s, 1), R(d, s, 2)] for s in ((0, 3), (2, 0), (1, 1), (5, 1), (2, 33), (3, 100), (40, 10))], (1e-5, 2e-5))
    yield one(op, d, "not-finite", [T(d, [[1, 2, -np.inf], [1, 2, -np.inf], [np.inf, 0, 0], [np.nan, 1, 2], [-np.inf] * 3]), T(d, [[0.5, 0.5, 0.1], [0.5, 0.5, 0], [1, 0, 0], [1, 0, 0], [1, 0, 0]])], tol(d))
    for tag, a, b in (("rank1", (3,), (3,)), ("rank3", (2, 2, 3), (2, 2, 3)), ("shapes", (2, 3), (3, 2)), ("rank3-2", (1, 2, 3), (2, 3)), ("scalars", (), ())):
        yield from bad(op, d, tag, [R(d, a), R(d, b)], risky=True)
    op = "SparseSoftmaxCrossEntropyWithLogits"
    for d in dtypes(op):
        t = {"half": (5e-3, 1e-2), "bfloat16": (4e-2, 6e-2)}.get(d, tol(d, 4))
        for kind in ("int32", "int64"):
            yield one(op, d, kind, [R(d, (3, 5), 1), T(kind, [0, 4, 2])], t)
        yield one(op, d, "large", [T(d, [[1000, 999, -1000], [60000, 0, 1], [-1e4, -1e4, -1e4]]), T("int64", [0, 1, 2])], t)
    d = "float"
    yield many(op, d, "sizes", [[R(d, s, 1), T("int32", np.arange(s[0]) * 7 % max(s[1], 1), (s[0],))] for s in ((0, 3), (1, 1), (5, 1), (2, 33), (3, 100), (40, 10))], (1e-5, 2e-5))
    yield one(op, d, "not-finite", [T(d, [[1, 2, -np.inf], [1, 2, -np.inf], [np.inf, 0, 0], [np.nan, 1, 2]]), T("int32", [0, 2, 0, 1])], tol(d))
    for tag, s, labels in (("label-great", (2, 3), [0, 3]), ("label-negative", (2, 3), [-1, 0]), ("labels-rank", (2, 3), [[0], [1]]), ("length", (2, 3), [0]), ("no-classes", (2, 0), [0, 0]), ("no-classes-no-rows", (0, 0), []),
                           ("rank1", (6,), [1]), ("rank3", (1, 2, 3), [0]), ("label-greatest", (1, 3), [2**31 - 1])):
        yield from bad(op, d, tag, [R(d, s), T("int32", np.array(labels, np.int32))], risky=True)


def responses():
    for d in dtypes("LRN"):
        t = {"half": (1e-2, 1e-2)}.get(d, (1e-5, 1e-5))
        x = R(d, (2, 3, 2, 9), 1)
        for tag, kw in (("defaults", {}), ("narrow", {"depth_radius": 2, "bias": 2.0, "alpha": 0.5, "beta": 0.75}), ("beta1", {"depth_radius": 1, "beta": 1.0}), ("wide", {"depth_radius": 20}), ("alone", {"depth_radius": 0})):
            yield one("LRN", d, tag, [x], t, **kw)
            yield one("LRNGrad", d, tag, [R(d, (2, 3, 2, 9), 2), x, R(d, (2, 3, 2, 9), 3)], t, **kw)
    d = "float"
    for s in ((0, 2, 2, 3), (1, 1, 1, 1), (1, 2, 2, 40)):
        tag = "x".join(map(str, s))
        yield one("LRN", d, tag, [R(d, s, 1)], (1e-5, 1e-5), risky=True)
        yield one("LRNGrad", d, tag, [R(d, s, 1), R(d, s, 2), R(d, s, 3)], (1e-4, 1e-5), risky=True)
    yield from bad("LRN", d, "rank", [R(d, (2, 3))], risky=True)
    yield from bad("LRN", d, "radius", [R(d, (1, 1, 1, 2))], risky=True, depth_radius=2**40)
    X = R(d, (1, 2, 2, 3))
    for tag, inputs in (("rank", [R(d, (2, 3))] * 3), ("image", [X, R(d, (1, 2, 2, 4)), X]), ("output", [X, X, R(d, (1, 2, 1, 3))])):
        yield from bad("LRNGrad", d, tag, inputs, risky=True)


def ranks():
    rows = [[0.1, 0.9, 0.5, 0.5], [0.1, 0.9, 0.5, 0.5], [np.inf, 1, 2, 3], [np.nan, 1, 2, 3], [-np.inf, 1, 2, 3], [3, 2, np.inf, 1], [1, 1, 1, 1], [5, 1, 2, 3], [5, 1, 2, 3]]
    targets = [1, 2, 0, 0, 0, 0, 3, 4, -1]
    for kind in ("int32", "int64"):
        for k in (0, 1, 2, 3, 4, 9, -1):
            yield one("InTopK", "float", f"{kind}-k{k}", [f32(rows), T(kind, targets)], k=k)
            yield one("InTopKV2", "float", f"{kind}-k{k}", [f32(rows), T(kind, targets), T(kind, k)])
    for op in ("InTopK", "InTopKV2"):
        def tail(k=1, shape=None):
            return ([], {"k": k}) if op == "InTopK" else ([T("int32", np.full(shape or (), k))], {})
        for tag, a, b in (("no-rows", (0, 3), (0,)), ("no-classes", (2, 0), (2,))):
            more, kw = tail()
            yield one(op, "float", tag, [R("float", a), T("int32", np.zeros(b, np.int32)), *more], risky=True, **kw)
        for tag, a, b in (("predictions-rank", (3,), (3,)), ("targets-rank", (2, 3), (2, 1)), ("length", (2, 3), (3,))):
            more, kw = tail()
            yield from bad(op, "float", tag, [R("float", a), T("int32", np.zeros(b, np.int32)), *more], risky=True, **kw)
    yield from bad("InTopKV2", "float", "k-rank", [R("float", (2, 3)), T("int32", [0, 1]), T("int32", [1])], risky=True)
    op = "NthElement"
    for d in dtypes(op):
        x = R(d, (3, 7), 1, ints=5)
        for n in (0, 3, 6):
            yield one(op, d, f"n{n}", [x, T("int32", n)])
            yield one(op, d, f"n{n}-reverse", [x, T("int32", n)], reverse=True)
    for s, n in (((1,), 0), ((2, 3, 4), 2), ((0, 3), 1), ((2, 100), 50)):
        yield one(op, "float", "x".join(map(str, s)), [R("float", s, 1), T("int32", n)], risky=True)
    for tag, s, n in (("scalar", (), 0), ("n-great", (2, 3), 3), ("n-negative", (2, 3), -1), ("n-rank", (2, 3), [1]), ("no-columns", (2, 0), 0)):
        yield from bad(op, "float", tag, [R("float", s), T("int32", n)], risky=True)


def cases():
    for part in (norms, losses, responses, ranks):
        yield from part()
