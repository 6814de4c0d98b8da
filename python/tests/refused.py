"""What mypy and pyright must refuse: each line that is marked so."""

from __future__ import annotations

import kernlink
from kernlink import ops, raw_ops

raw_ops.MatMul(a=[[1.0]])  # refused: `b` is missing
raw_ops.MatMul([[1.0]], [[1.0]])  # refused: arguments have names
raw_ops.MatMul(a=[[1.0]], b=[[1.0]], transpose="yes")  # refused: no such argument
ops.mat_mul([[1.0]], [[1.0]], transpose_a="yes")  # refused: a bool
ops.conv2d([1.0], [1.0], [1, 1, 1, 1], "ALL")  # refused: no such padding
ops.cast(1.0, 1.5)  # refused: no dtype
ops.mat_mul(object(), [[1.0]])  # refused: no tensor
name: str = raw_ops.Abs(x=1.0)  # refused: a tensor
raw_ops.TopKV2(input=[1.0], k=1).nothing  # refused: no such output
raw_ops.Nothing()  # refused: no such op
kernlink.Nothing()  # refused: no such function
