"""What mypy and pyright must accept; `test_stubs.py` shows it to them."""

from __future__ import annotations

import numpy as np

import kernlink
from kernlink import ops, raw_ops

x = np.ones((2, 2), np.float32)
product: kernlink.Tensor = raw_ops.MatMul(a=x, b=[[1.0, 2.0], [3.0, 4.0]], transpose_b=True)
again: kernlink.Tensor = ops.mat_mul(product, product, False, True, name="again")
sums: kernlink.Tensor = product @ again + 1.0
cast: kernlink.Tensor = ops.cast(sums, kernlink.int32)
by_name: kernlink.Tensor = raw_ops.Cast(x=sums, DstT="int64")
of_numpy: kernlink.Tensor = raw_ops.Cast(x=sums, DstT=np.float64)
of_dtype: kernlink.Tensor = raw_ops.Cast(x=sums, DstT=np.dtype("float64"))
top = raw_ops.TopKV2(input=x, k=1, index_type=kernlink.int64)
values: kernlink.Tensor = top.values
_, indices = ops.top_kv2(x, k=1)
rows: list[kernlink.Tensor] = raw_ops.Unpack(value=x, num=2)
joined: kernlink.Tensor = raw_ops.ConcatV2(values=rows, axis=np.int32(0))
unique = raw_ops.UniqueWithCounts(x=[1, 1, 2])
count: kernlink.Tensor = unique.count
image = np.ones((1, 1, 1, 1), np.float32)
convolved: kernlink.Tensor = raw_ops.Conv2D(input=image, filter=image, strides=[1, 1, 1, 1], padding="SAME")
variable = kernlink.Variable([[1.0, 2.0], [3.0, 4.0]])
computed: kernlink.Tensor = (2 ** variable - np.float64(1)) / sums + (1.0 - variable) @ x
compared: kernlink.Tensor = (variable < 2.0) & (sums >= x) | ~(product > 1.0) ^ True
some: kernlink.Tensor = variable[:, ::-1] + sums[..., None, 0, 1:]
masked: kernlink.Tensor = sums[sums > 0.0]
scalars: list[float] = [float(row[0]) for row in sums] + [float(variable[0, 0])]
stacked: kernlink.Tensor = kernlink.as_tensor([product, x])
text: kernlink.Tensor = raw_ops.StringLower(input=[b"A", "B"])
raw_ops.NoOp()


def in_graphs() -> kernlink.Tensor:
    placeholder = raw_ops.Placeholder(dtype=kernlink.float32, shape=[None, 2])
    return ops.add_v2(placeholder, 1.0)
