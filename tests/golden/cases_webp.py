"""Lossy WebP files: what encoders do not write, and what is cut off."""
import random

import numpy as np
from tensorflow import raw_ops

import vp8
from golden import T, bad, isolated, one


def cases():
    op, d = "DecodeWebP", "uint8"
    source = random.Random(19)
    for index in range(150):
        columns, rows = source.choice([(1, 1), (17, 33), (source.randint(1, 48), source.randint(1, 48))])
        cut = index >= 100
        data = vp8.file(vp8.lossy(source, columns, rows, cut))
        inputs = [T("string", np.array(data, dtype=object), ())]
        name = f"{'cut' if cut else 'any'}-{index}-{rows}x{columns}"
        if cut and isolated(lambda: raw_ops.DecodeWebP(contents=data).numpy().shape) is None:
            yield from bad(op, d, name, inputs)
        else:
            yield one(op, d, name, inputs, channels=3 * (index % 2))
