"""Candidates for losses over few of many classes, in the first run of a session; ../random has those of later runs."""
import numpy as np

from golden import T, bad, i64, one, R

# Counts come from logarithms of floats.
COUNTS = (1e-6, 0.0)
SEEDS = [(1, 0), (0, 1), (87654321, 7), (-1, 2**40), (2**63 - 1, -2**63)]
LEARNED = ("LearnedUnigramCandidateSampler", "ThreadUnsafeUnigramCandidateSampler")


def classes(rows, columns, limit, seed=1):
    r = np.random.RandomState(seed)
    return i64(r.randint(0, limit, (rows, columns)))


def samplers():
    for op in ("UniformCandidateSampler", "LogUniformCandidateSampler", *LEARNED):
        for k, (rows, columns, limit, count, unique) in enumerate([(2, 1, 10, 5, False), (2, 1, 10, 5, True), (3, 2, 64, 20, True), (1, 3, 7, 7, True), (0, 2, 5, 4, False),
                                                                   (4, 1, 1, 3, False), (1, 1, 1, 1, True), (2, 2, 1000, 50, True), (3, 1, 100000, 64, False), (2, 1, 65536, 30, True)]):
            for seed, seed2 in SEEDS[:2 + k % 3]:
                yield one(op, "int64", f"{k}-seed{seed}-{seed2}", [classes(rows, columns, limit)], COUNTS, num_true=columns, num_sampled=count, unique=unique, range_max=limit,
                          seed=seed, seed2=seed2)
        if op not in LEARNED:
            yield one(op, "int64", "wide", [classes(2, 2, 2**40)], COUNTS, num_true=2, num_sampled=20, unique=True, range_max=2**45, seed=3)
        good = dict(num_true=1, num_sampled=5, unique=True, range_max=10, seed=1)
        for tag, given, attrs in (("class-out", i64([[0], [10]]), {}), ("negative-class", i64([[0], [-1]]), {}), ("columns", i64([[0, 1]]), {}), ("rank", i64([0]), {}),
                                  ("too-many", i64([[0]]), {"num_sampled": 11}), ("no-range", i64([[0]]), {"range_max": 0}), ("no-true", i64([[0]]), {"num_true": 0}),
                                  ("no-sampled", i64([[0]]), {"num_sampled": 0}), ("sampled", i64([[0]]), {"num_sampled": 2**40, "unique": False})):
            yield from bad(op, "int64", tag, [given], static=tag != "columns", **{**good, **attrs})


def all_classes():
    op = "AllCandidateSampler"
    for rows, columns, count in ((2, 1, 4), (0, 3, 2), (3, 2, 1)):
        yield one(op, "int64", f"{rows}x{columns}-{count}", [classes(rows, columns, count)], num_true=columns, num_sampled=count, unique=True, seed=1)
    for tag, given in (("class-out", [[4]]), ("negative-class", [[-1]]), ("columns", [[0, 1]]), ("rank", [0])):
        yield from bad(op, "int64", tag, [i64(given)], num_true=1, num_sampled=4, unique=False, seed=1)


def fixed():
    op = "FixedUnigramCandidateSampler"
    weights = [1.0, 2.0, 3.0, 4.0, 0.5, 8.0]
    for k, (seed, seed2) in enumerate(SEEDS):
        for unique in (False, True):
            yield one(op, "int64", f"seed{k}" + "-unique" * unique, [classes(2, 2, 6)], COUNTS, num_true=2, num_sampled=4, unique=unique, range_max=6, unigrams=weights, seed=seed, seed2=seed2)
    for distortion in (0.0, 0.5, 0.75, 2.0, -1.0):
        yield one(op, "int64", f"distortion{distortion}", [classes(3, 1, 6)], COUNTS, num_true=1, num_sampled=9, unique=False, range_max=6, unigrams=weights, distortion=distortion, seed=5)
    for reserved in (1, 3, -2):
        size = 6 + max(reserved, 0)
        yield one(op, "int64", f"reserved{reserved}", [classes(3, 1, size)], COUNTS, num_true=1, num_sampled=5, unique=False, range_max=size, unigrams=weights, num_reserved_ids=reserved, seed=5)
    for shards in (2, 3):
        for shard in range(shards):
            yield one(op, "int64", f"shard{shard}of{shards}", [classes(2, 1, 6 // shards)], COUNTS, num_true=1, num_sampled=6, unique=False, range_max=6 // shards, unigrams=weights,
                      num_shards=shards, shard=shard, seed=6)
    for tag, unigrams in (("zeros", [0.0] * 5), ("one", [0.0, 0.0, 1.0, 0.0, 0.0]), ("negative", [-1.0, 2.0, 3.0, 4.0, 5.0]), ("equal", [0.25] * 5), ("infinite", [np.inf, 1.0, 1.0, 1.0, 1.0]),
                          ("nan", [np.nan, 1.0, 1.0, 1.0, 1.0])):
        yield one(op, "int64", tag, [classes(2, 1, 5)], COUNTS, num_true=1, num_sampled=8, unique=False, range_max=5, unigrams=unigrams, seed=7)
    long = [float(1 + k * 7919 % 101) for k in range(1000)]
    yield one(op, "int64", "long", [classes(3, 3, 1000)], COUNTS, num_true=3, num_sampled=100, unique=True, range_max=1000, unigrams=long, seed=8)
    good = dict(num_true=1, num_sampled=3, unique=False, range_max=6, unigrams=weights, seed=1)
    for tag, attrs in (("range", {"range_max": 5}), ("nothing", {"unigrams": []}), ("both", {"vocab_file": "x"}), ("no-file", {"unigrams": [], "vocab_file": "/nonexistent/vocabulary"}),
                       ("shard", {"num_shards": 2, "shard": 2}), ("no-shards", {"num_shards": 0}), ("negative-shard", {"shard": -1}), ("too-many", {"unique": True, "num_sampled": 7})):
        yield from bad(op, "int64", tag, [i64([[0]])], **{**good, **attrs})
    for tag, given in (("class-out", [[6]]), ("negative-class", [[-1]]), ("columns", [[0, 1]]), ("rank", [0])):
        yield from bad(op, "int64", tag, [i64(given)], **good)


def hits():
    op = "ComputeAccidentalHits"
    for k, (rows, columns, count) in enumerate([(3, 2, 6), (1, 1, 1), (4, 3, 10), (0, 2, 3), (2, 2, 0)]):
        yield one(op, "int64", str(k), [classes(rows, columns, 8, k), T("int64", R("int64", (count,), k, ints=7).array)], num_true=columns)
    yield one(op, "int64", "repeated", [i64([[1, 2], [2, 1]]), i64([2, 1, 2, 1])], num_true=2)
    yield one(op, "int64", "none", [i64([[1, 2], [2, 1]]), i64([3, 4])], num_true=2)
    for tag, given, columns in (("columns", [i64([[1, 2]]), i64([1])], 3), ("rank", [i64([1, 2]), i64([1])], 2), ("candidates-rank", [i64([[1, 2]]), i64([[1]])], 2)):
        yield from bad(op, "int64", tag, given, num_true=columns)


def cases():
    for part in (samplers, all_classes, fixed, hits):
        yield from part()
