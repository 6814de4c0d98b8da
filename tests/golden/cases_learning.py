"""Clusters, isotonic regression, dual coordinate ascent, Sobol sequences."""
import numpy as np

from golden import R, T, bad, f32, i32, i64, one


def points(seed, count, width, scale=20):
    return f32(np.random.RandomState(seed).randint(-scale, scale + 1, (count, width)))


def clusters():
    for k, (count, width) in enumerate(((1, 1), (5, 2), (12, 3), (30, 1), (40, 8))):
        for wanted in sorted({1, min(3, count), min(count, 6)}):
            for retries in (-1, 0, 2):
                x = f32(np.random.RandomState(k).permutation(count * 50)[:count * width].reshape(count, width))
                yield one("KmeansPlusPlusInitialization", "float", f"{k}-{wanted}-{retries}", [x, i64(wanted), i64(7 * k + wanted), i64(retries)])
    ok = [points(1, 4, 2), i64(2), i64(3), i64(1)]
    for tag, k, v in (("points", 0, f32([1, 2])), ("none", 0, f32(np.zeros((0, 2)))), ("too-many", 1, i64(5)), ("zero", 1, i64(0)), ("number", 1, i64([2])), ("seed", 2, i64([3])), ("retries", 3, i64([1]))):
        yield from bad("KmeansPlusPlusInitialization", "float", tag, [*ok[:k], v, *ok[k + 1:]], static=False)
    for k in range(8):
        x = f32(np.abs(np.random.RandomState(k).randn(1 + 5 * k)))
        yield one("KMC2ChainInitialization", "float", f"{k}", [x, i64(k - 3)])
    yield from bad("KMC2ChainInitialization", "float", "none", [f32([]), i64(1)], static=False)
    yield from bad("KMC2ChainInitialization", "float", "matrix", [f32([[1]]), i64(1)], static=False)
    yield from bad("KMC2ChainInitialization", "float", "seed", [f32([1]), i64([1])], static=False)
    for k, (count, width, centers) in enumerate(((1, 1, 1), (4, 2, 3), (7, 5, 6), (3, 9, 12), (2, 0, 3), (5, 17, 1100))):
        for wanted in (0, 1, 2, 5, 2000):
            yield one("NearestNeighbors", "float", f"{k}-{wanted}", [points(k, count, width), points(k + 50, centers, width), i64(wanted)], (1e-5, 1e-4))
    yield one("NearestNeighbors", "float", "no-centers", [points(1, 3, 2), f32(np.zeros((0, 2))), i64(2)])
    ok = [points(1, 4, 2), points(2, 3, 2), i64(1)]
    for tag, k, v in (("points", 0, f32([1, 2])), ("centers", 1, f32([1, 2])), ("none", 0, f32(np.zeros((0, 2)))), ("width", 1, points(2, 3, 3)), ("k", 2, i64([1]))):
        yield from bad("NearestNeighbors", "float", tag, [*ok[:k], v, *ok[k + 1:]], static=False)


def isotonic():
    for d, out in (("half", "half"), ("bfloat16", "bfloat16"), ("float", "float"), ("double", "double"), ("int8", "float"), ("int16", "float"), ("int32", "double"), ("int64", "double")):
        tolerance = {"half": (2e-3, 2e-3), "bfloat16": (2e-2, 2e-2), "float": (1e-6, 1e-6), "double": (1e-12, 1e-12)}[out]
        for k, shape in enumerate(((5,), (), (0,), (3, 6), (2, 3, 7), (2, 0), (0, 3), (1, 40))):
            yield one("IsotonicRegression", d, f"{k}", [R(d, shape, k, ints=9)], tolerance, output_dtype=out)
    yield one("IsotonicRegression", "float", "falling", [f32([5, 4, 3, 3, 1])])
    yield one("IsotonicRegression", "float", "rising", [f32([1, 2, 3, 4, 5])])
    yield one("IsotonicRegression", "float", "odd", [f32([1, np.inf, 2, -np.inf, np.nan, 3])])


def fingerprints():
    for n in (0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 128, 143, 144, 145, 175, 176, 200, 255, 256, 257, 271, 272, 273, 400, 1000):
        text = np.random.RandomState(n).randint(0, 256, n).astype(np.uint8).tobytes()
        yield one("SdcaFprint", "string", f"{n}", [T("string", [text])])
    yield one("SdcaFprint", "string", "several", [T("string", [b"a", b"", b"b", b"a"])])
    yield one("SdcaFprint", "string", "none", [T("string", [], (0,))])
    yield from bad("SdcaFprint", "string", "scalar", [T("string", np.array(b"a", object))])
    yield from bad("SdcaFprint", "string", "matrix", [T("string", [[b"a"]])])


def sobol():
    for d in ("float", "double"):
        for dim in (1, 2, 3, 7, 40, 1111, 21200):
            for skip in (0, 1, 6, 1000, 2**20 + 5):
                yield one("SobolSample", d, f"{dim}-{skip}", [i32(dim), i32(2 if dim > 100 else 20), i32(skip)], (0, 0), dtype=d)
        yield one("SobolSample", d, "many", [i32(3), i32(3000), i32(7)], (0, 0), dtype=d)
    for tag, dim, count, skip in (("no-dim", 0, 1, 0), ("dims", 21201, 1, 0), ("no-points", 1, 0, 0), ("skip", 1, 1, -1), ("last", 1, 1, 2**31 - 2)):
        yield from bad("SobolSample", "float", tag, [i32(dim), i32(count), i32(skip)], static=False, dtype="float")
    yield from bad("SobolSample", "float", "vector", [i32([1]), i32(1), i32(0)], runtime=False, dtype="float")


def ascent():
    """Examples whose features differ, so that their order does not matter, which is random."""
    for op, name in (("SdcaOptimizer", "adaptative"), ("SdcaOptimizerV2", "adaptive")):
        for loss in ("logistic_loss", "squared_loss", "hinge_loss", "smooth_hinge_loss", "poisson_loss"):
            for k, (examples, l1, l2, parts, adaptive) in enumerate(((1, 0, 1, 1, False), (1, 0.2, 0.5, 3, True), (3, 0.1, 2, 1, False), (2, 0, 1, 2, False), (0, 0, 1, 1, False))):
                r = np.random.RandomState(k)
                owner = np.repeat(np.arange(examples), 2)
                feature = 10 + np.arange(2 * examples)
                ids = i64(10 + np.arange(2 * max(examples, 1)))
                weights = f32(r.randn(len(ids.array)) * 0.3)
                wide = np.zeros((examples, 2 * max(examples, 1)), np.float32)
                for n in range(examples):
                    wide[n, 2 * n:2 * n + 2] = r.randn(2)
                labels = f32(np.abs(r.randn(examples))) if loss in ("squared_loss", "poisson_loss") else f32(np.arange(examples) % 2)
                inputs = [[i64(owner), i64(owner)], [i64(feature), i64(feature)], [f32(r.randn(len(feature)))], [f32(wide)], f32(np.abs(r.randn(examples)) + 0.1), labels,
                          [ids, ids], [weights, weights], [f32(r.randn(wide.shape[1]) * 0.3)], f32(np.abs(r.randn(examples, 4)) * 0.2)]
                yield one(op, "float", f"{loss}-{k}", inputs, (2e-4, 2e-5), loss_type=loss, l1=l1, l2=l2, num_loss_partitions=parts, num_inner_iterations=1, **{name: adaptive})
    attrs = dict(loss_type="logistic_loss", l1=0, l2=1, num_loss_partitions=1, num_inner_iterations=1)
    ok = [[i64([0, 0])], [i64([3, 5])], [f32([1, 2])], [f32([[1, 2]])], f32([1]), f32([1]), [i64([3, 5])], [f32([0.1, 0.2])], [f32([0.3, 0.4])], f32([[0, 0, 0, 0]])]
    for tag, k, v in (("owners", 0, [i64([0])]), ("feature", 1, [i64([3, 4])]), ("repeated", 1, [i64([3, 3])]), ("dense", 3, [f32([1, 2])]), ("too-wide", 3, [f32([[1, 2, 3]])]),
                      ("labels", 5, f32([1, 0])), ("label", 5, f32([0.5])), ("state", 9, f32([[0, 0, 0]])), ("state-rank", 9, f32([0, 0, 0, 0]))):
        yield from bad("SdcaOptimizerV2", "float", tag, [*ok[:k], v, *ok[k + 1:]], static=False, **attrs)
    yield from bad("SdcaOptimizer", "float", "nothing", [[], [], [], [], f32([1]), f32([1]), [], [], [], f32([[0, 0, 0, 0]])], static=False, **attrs)


def cases():
    for group in (clusters, isotonic, fingerprints, sobol, ascent):
        yield from group()
