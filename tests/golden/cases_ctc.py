"""Labels without places in time: losses, and what is decoded."""
import itertools

import numpy as np

from golden import T, bad, dtypes, i32, i64, one, R

# Logarithms of probabilities lose what they are large; TensorFlow adds those of doubles as floats, too.
LOSS = (1e-4, 2e-5)


def logits(d, time, batch, classes, seed=1, scale=2.0, step=0.0):
    values = R("double", (time, batch, classes), seed, scale).array
    return T(d, np.round(values / step) * step if step else values)


def labels(rows):
    """Indices and values of a sparse matrix with these rows."""
    indices = [[row, k] for row, values in enumerate(rows) for k in range(len(values))]
    return [i64(np.array(indices, np.int64).reshape(-1, 2)), i32([v for values in rows for v in values])]


def loss_inputs(d, time, rows, lengths, classes, seed=1, scale=2.0):
    return [logits(d, time, len(rows), classes, seed, scale), *labels(rows), i32(lengths)]


def losses():
    op = "CTCLoss"
    shapes = [(1, [[0]], [1], 2), (4, [[0], [1, 1], [0, 1]], [4, 3, 2], 3), (6, [[2, 2, 2], [0, 1, 2], [1]], [6, 5, 1], 4), (9, [[0, 1, 0, 1], [3, 3, 0]], [9, 7], 5),
              (20, [[k % 6 for k in range(8)], [1, 1, 2, 2], [5]], [20, 13, 8], 7), (5, [[0, 0, 0]], [5], 2), (3, [[0, 1, 2]], [3], 4)]
    for d in dtypes(op):
        for k, (time, rows, lengths, classes) in enumerate(shapes):
            given = loss_inputs(d, time, rows, lengths, classes, k)
            for collapses, merges in itertools.product((False, True), repeat=2):
                yield one(op, d, f"{k}-{'collapse' if collapses else 'keep'}-{'merge' if merges else 'repeat'}", given, LOSS,
                          preprocess_collapse_repeated=collapses, ctc_merge_repeated=merges)
        yield one(op, d, "longer", loss_inputs(d, 5, [[0, 1, 2], [1], [0, 1, 0, 1, 0]], [2, 3, 4], 4), LOSS, ignore_longer_outputs_than_inputs=True)
        yield one(op, d, "no-steps", loss_inputs(d, 5, [[0], [1]], [0, 3], 4), LOSS, ignore_longer_outputs_than_inputs=True)
        yield one(op, d, "blank-ends", loss_inputs(d, 6, [[0, 1, 3, 3], [2, 3]], [6, 5], 4), LOSS)
        yield one(op, d, "beyond-blank-ends", loss_inputs(d, 6, [[0, 1, 9], [2, 4]], [6, 5], 4), LOSS)
        yield one(op, d, "no-path", loss_inputs(d, 4, [[0, 0, 0], [1]], [4, 4], 3), LOSS)
        yield one(op, d, "large", loss_inputs(d, 6, [[0, 1], [2]], [6, 4], 4, 3, 60.0), LOSS)
        yield one(op, d, "equal", [T(d, np.zeros((6, 2, 4))), *labels([[0, 1], [2, 2]]), i32([6, 4])], LOSS)
    d = "float"
    good = loss_inputs(d, 4, [[0, 1], [2]], [4, 3], 4)
    x, indices, values, lengths = good
    for tag, given in (("length", [x, indices, values, i32([5, 3])]), ("negative-length", [x, indices, values, i32([-1, 3])]), ("short-lengths", [x, indices, values, i32([4])]),
                       ("no-time", [logits(d, 0, 2, 4), indices, values, i32([0, 0])]), ("no-batch", [logits(d, 4, 0, 4), *labels([]), i32([])]),
                       ("no-labels", [x, *labels([[0], []]), lengths]), ("negative-label", [x, *labels([[0, -1], [2]]), lengths]), ("after-blank", [x, *labels([[3, 1], [2]]), lengths]),
                       ("too-many", [x, *labels([[0, 1], [2, 1, 0, 1]]), lengths]), ("order", [x, i64([[0, 1], [0, 0], [1, 0]]), values, lengths]),
                       ("repeated", [x, i64([[0, 0], [0, 0], [1, 0]]), values, lengths]), ("batch-out", [x, i64([[0, 0], [0, 1], [2, 0]]), values, lengths]),
                       ("negative-place", [x, i64([[0, -1], [0, 1], [1, 0]]), values, lengths]), ("negative-batch", [x, i64([[-1, 0], [0, 1], [1, 0]]), values, lengths]),
                       ("columns", [x, i64([[0, 0, 0], [0, 1, 0], [1, 0, 0]]), values, lengths]), ("values", [x, indices, i32([0, 1]), lengths]),
                       ("inputs-rank", [R(d, (4, 2)), indices, values, lengths]), ("indices-rank", [x, i64([0, 1, 2]), values, lengths]),
                       ("values-rank", [x, indices, i32([[0], [1], [2]]), lengths]), ("lengths-rank", [x, indices, values, i32([[4], [3]])])):
        yield from bad(op, d, tag, given, risky=True)


def greedy():
    op = "CTCGreedyDecoder"
    for d in dtypes(op):
        for k, (time, lengths, classes) in enumerate([(1, [1], 1), (4, [4, 2, 0], 3), (7, [7, 5, 6, 1], 4), (12, [12, 3], 6), (3, [-1, 2], 3), (5, [0, 0], 2)]):
            for step in (0.0, 1.0):
                x = logits(d, time, len(lengths), classes, k, step=step)
                for merges in (False, True):
                    yield one(op, d, f"{k}-{'merge' if merges else 'keep'}" + "-equal" * (step > 0), [x, i32(lengths)], (1e-6, 1e-6), merge_repeated=merges)
        x = logits(d, 8, 2, 4, 9)
        for blank in (-4, -2, 0, 1, 3):
            yield one(op, d, f"blank{blank}", [x, i32([8, 5])], (1e-6, 1e-6), blank_index=blank, merge_repeated=blank % 2 == 0)
    d = "float"
    yield from decoder_errors(op, d)
    for blank in (-5, 4, 2**40, -2**31 - 1):
        yield from bad(op, d, f"blank{blank}", [logits(d, 4, 2, 4), i32([4, 3])], blank_index=blank)


def decoder_errors(op, d, **attrs):
    x, lengths = logits(d, 4, 2, 4), i32([4, 3])
    for tag, given in (("no-time", [logits(d, 0, 2, 4), i32([0, 0])]), ("no-batch", [logits(d, 4, 0, 4), i32([])]), ("no-classes", [logits(d, 4, 2, 0), lengths]),
                       ("length", [x, i32([5, 3])]), ("short-lengths", [x, i32([4])]), ("inputs-rank", [R(d, (4, 2)), lengths]), ("lengths-rank", [x, i32([[4], [3]])])):
        yield from bad(op, d, tag, given, risky=True, **attrs)


def beams():
    op = "CTCBeamSearchDecoder"
    for d in dtypes(op):
        for k, (time, lengths, classes) in enumerate([(2, [2], 2), (4, [4, 2, 3], 3), (7, [7, 5, 6, 4], 4), (12, [12, 9], 6)]):
            for width, paths in ((1, 1), (2, 2), (3, 1), (5, 3), (40, 2)):
                if (k, paths) == (0, 3):
                    continue  # there are fewer results
                for step in (0.0, 1.0):
                    x = logits(d, time, len(lengths), classes, k, step=step)
                    yield one(op, d, f"{k}-width{width}-paths{paths}" + "-equal" * (step > 0), [x, i32(lengths)], (1e-6, 1e-6), beam_width=width, top_paths=paths,
                              merge_repeated=bool((k + width) % 2))
        yield one(op, d, "no-steps", [logits(d, 3, 2, 3), i32([0, 2])], (1e-6, 1e-6), beam_width=4, top_paths=1)
        yield one(op, d, "negative-length", [logits(d, 3, 2, 3), i32([-3, 2])], (1e-6, 1e-6), beam_width=4, top_paths=1)
        yield one(op, d, "all-equal", [T(d, np.zeros((5, 2, 4))), i32([5, 4])], (1e-6, 1e-6), beam_width=20, top_paths=4, merge_repeated=False)
    d = "float"
    yield from decoder_errors(op, d, beam_width=3, top_paths=1)
    x = [logits(d, 4, 2, 4), i32([4, 0])]
    yield from bad(op, d, "paths-over-width", x, beam_width=2, top_paths=3)
    yield from bad(op, d, "few-results", x, beam_width=9, top_paths=2)
    yield from bad(op, d, "width", x, beam_width=2**40, top_paths=1)
    yield from bad(op, d, "no-width", x, beam_width=0, top_paths=1)
    yield from bad(op, d, "no-paths", x, beam_width=1, top_paths=0)


def cases():
    for part in (losses, greedy, beams):
        yield from part()
