"""Cells and layers of recurrent networks."""
import numpy as np

from golden import T, bad, dtypes, f32, i64, one, R

TOLERANCE = {"float": (2e-5, 2e-5), "half": (2e-2, 2e-2)}
# What sums over entries and steps.
SUMS = {"float": (5e-5, 5e-5), "half": (6e-2, 6e-2)}
SIZES = [(1, 1, 1), (2, 3, 4), (3, 1, 5), (1, 6, 2), (5, 2, 3), (4, 9, 17)]
STEPS = ("i", "cs", "f", "o", "ci", "co", "h")


def part(d, shape, seed):
    """Values of a gate: between 0 and 1."""
    return T(d, 1 / (1 + np.exp(-R("double", shape, seed).array)))


def weights(d, inputs, cell, scale=0.5):
    return [R(d, (inputs + cell, 4 * cell), 4, scale), *(R(d, (cell,), k, 1) for k in (5, 6, 7)), R(d, (4 * cell,), 8, 1)]


def cell_inputs(d, batch, inputs, cell):
    return [R(d, (batch, inputs), 1, 1), R(d, (batch, cell), 2, 1), R(d, (batch, cell), 3, 1), *weights(d, inputs, cell)]


def layer_inputs(d, steps, time, batch, inputs, cell):
    x, *rest = cell_inputs(d, batch, inputs, cell)
    return [T("int64", np.int64(steps)), R(d, (time, batch, inputs), 1, 1), *rest]


def cells():
    op = "LSTMBlockCell"
    for d in dtypes(op):
        for batch, inputs, cell in SIZES:
            tag = f"{batch}x{inputs}x{cell}"
            given = cell_inputs(d, batch, inputs, cell)
            yield one(op, d, tag, given, TOLERANCE[d])
            yield one(op, d, tag + "-peephole", given, TOLERANCE[d], use_peephole=True)
        given = cell_inputs(d, 3, 4, 5)
        for tag, attrs in (("no-bias", {"forget_bias": 0.0}), ("negative-bias", {"forget_bias": -1.5}), ("clip", {"cell_clip": 0.25}),
                           ("no-clip", {"cell_clip": 0.0}), ("negative-clip", {"cell_clip": -1.0}), ("clip-peephole", {"cell_clip": 0.5, "use_peephole": True})):
            yield one(op, d, tag, given, TOLERANCE[d], **attrs)
        yield one(op, d, "large", [T(d, g.array * 4) for g in given], SUMS[d])
        yield one(op, d, "no-inputs", cell_inputs(d, 2, 0, 3), TOLERANCE[d], risky=True)
    d = "float"
    x, cs, h, w, wci, wcf, wco, b = good = cell_inputs(d, 2, 3, 4)
    other = R(d, (3, 4), 9)
    for tag, given in (("empty-batch", cell_inputs(d, 0, 3, 4)), ("empty-cell", cell_inputs(d, 2, 3, 0)), ("cs-batch", [x, other, *good[2:]]),
                       ("h-batch", [x, cs, other, *good[3:]]), ("h-cell", [x, cs, R(d, (2, 5)), *good[3:]]), ("w-rows", [*good[:3], R(d, (8, 16)), *good[4:]]),
                       ("w-columns", [*good[:3], R(d, (7, 12)), *good[4:]]), ("b-size", [*good[:7], R(d, (12,))]), ("x-rank", [R(d, (2, 3, 1)), *good[1:]]),
                       ("w-rank", [*good[:3], R(d, (7, 16, 1)), *good[4:]]), ("b-rank", [*good[:7], R(d, (16, 1))]), ("wci-rank", [*good[:4], R(d, (4, 1)), *good[5:]])):
        yield from bad(op, d, tag, given, risky=True)
    op = "LSTMBlockCellGrad"
    for d in dtypes(op):
        for batch, inputs, cell in SIZES:
            shape = (batch, cell)
            given = [*cell_inputs(d, batch, inputs, cell), part(d, shape, 10), R(d, shape, 11, 1), part(d, shape, 12), part(d, shape, 13),
                     R(d, shape, 14, 0.5), R(d, shape, 15, 0.5), R(d, shape, 16, 1), R(d, shape, 17, 1)]
            for peephole in (False, True):
                yield one(op, d, f"{batch}x{inputs}x{cell}" + "-peephole" * peephole, given, SUMS[d], use_peephole=peephole)
            if d == "float":
                good = given
    d = "float"
    for k, name in enumerate(("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b", *STEPS[:6], "cs_grad", "h_grad")):
        if name in ("x", "cs_prev", "wci", "wcf", "wco"):
            continue  # ranks and sizes that TensorFlow does not check
        wrong = list(good)
        wrong[k] = T(d, np.concatenate([good[k].array] * 2))
        yield from bad(op, d, name, wrong, risky=True, use_peephole=False)


def layers():
    for version in ("", "V2"):
        op = "BlockLSTM" + version
        for d in dtypes(op):
            for k, (batch, inputs, cell) in enumerate(SIZES):
                time = k + 1
                for steps in sorted({time, time // 2, 0}):
                    # Of steps that are left out only states and outputs are zero.
                    keep = None if steps == time else [1, 6]
                    yield one(op, d, f"{steps}of{time}x{batch}x{inputs}x{cell}", layer_inputs(d, steps, time, batch, inputs, cell), SUMS[d], keep=keep,
                              use_peephole=bool(k % 2))
            given = layer_inputs(d, 3, 3, 2, 4, 5)
            bias = {} if version else {"forget_bias": -0.5}
            for tag, attrs in (("clip", {"cell_clip": 0.2}), ("clip-peephole", {"cell_clip": 0.4, "use_peephole": True}), ("no-clip", {"cell_clip": 0.0, **bias})):
                yield one(op, d, tag, given, SUMS[d], **attrs)
        d = "float"
        good = layer_inputs(d, 2, 3, 2, 3, 4)
        yield one(op, d, "no-time", layer_inputs(d, 0, 0, 2, 3, 4), risky=True)
        yield one(op, d, "no-batch", layer_inputs(d, 2, 3, 0, 3, 4), risky=True, keep=[1, 6])
        shapes = [(1,), (3, 6), (3, 4), (3, 4), (7, 12), (5,), (5,), (5,), (12,)]
        for k, (name, shape) in enumerate(zip(("seq_len_max", "x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"), shapes)):
            wrong = list(good)
            wrong[k] = i64([2]) if k == 0 else R(d, shape, 9)
            yield from bad(op, d, name, wrong, risky=True)
        for k, name in ((2, "cs_prev"), (3, "h_prev"), (4, "w"), (5, "wci"), (8, "b")):
            wrong = list(good)
            wrong[k] = T(d, good[k].array[..., None])
            yield from bad(op, d, name + "-rank", wrong, risky=True)


def layer_gradients():
    for version in ("", "V2"):
        op = "BlockLSTMGrad" + version
        for d in dtypes(op):
            for k, (batch, inputs, cell) in enumerate(SIZES):
                time = k + 1
                shape = (time, batch, cell)
                for steps in sorted({time, time // 2, 0}):
                    given = [*layer_inputs(d, steps, time, batch, inputs, cell), part(d, shape, 10), R(d, shape, 11, 1), part(d, shape, 12), part(d, shape, 13),
                             R(d, shape, 14, 0.5), R(d, shape, 15, 0.5), R(d, shape, 16, 0.5), R(d, shape, 17, 1), R(d, shape, 18, 1)]
                    tolerance = SUMS[d] if d == "float" else (0.1, 0.15)
                    yield one(op, d, f"{steps}of{time}x{batch}x{inputs}x{cell}", given, tolerance, use_peephole=bool(k % 2))
                    if d == "float":
                        good = given
        d = "float"
        names = ("seq_len_max", "x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b", *STEPS)
        for k, name in enumerate(names):
            wrong = list(good)
            if name == "h_prev" or name.startswith("wc"):
                continue
            wrong[k] = i64([0]) if k == 0 else R(d, (2,) * (1 + good[k].array.ndim), 9)
            yield from bad(op, d, name, wrong, risky=True, use_peephole=False)


def gated():
    d = "float"
    for batch, inputs, cell in SIZES:
        tag = f"{batch}x{inputs}x{cell}"
        given = [R(d, (batch, inputs), 1, 1), R(d, (batch, cell), 2, 1), R(d, (inputs + cell, 2 * cell), 3, 0.5), R(d, (inputs + cell, cell), 4, 0.5),
                 R(d, (2 * cell,), 5, 1), R(d, (cell,), 6, 1)]
        shape = (batch, cell)
        back = [*given, part(d, shape, 7), part(d, shape, 8), R(d, shape, 9, 0.5), R(d, shape, 10, 1)]
        yield one("GRUBlockCell", d, tag, given, TOLERANCE[d])
        yield one("GRUBlockCellGrad", d, tag, back, SUMS[d])
    names = ("x", "h_prev", "w_ru", "w_c", "b_ru", "b_c", "r", "u", "c", "d_h")
    for k, name in enumerate(names):
        for tag, change in (("rows", lambda a: np.concatenate([a, a[:1]])), ("rank", lambda a: a[None])):
            wrong = list(back)
            wrong[k] = T(d, change(back[k].array))
            yield from bad("GRUBlockCellGrad", d, f"{name}-{tag}", wrong, risky=True)
            if k < 6:
                yield from bad("GRUBlockCell", d, f"{name}-{tag}", wrong[:6], risky=True)
    yield one("GRUBlockCell", d, "zeros", [f32(np.zeros_like(g.array)) for g in given], TOLERANCE[d])


def cases():
    for group in (cells, layers, layer_gradients, gated):
        yield from group()
